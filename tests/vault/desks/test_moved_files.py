"""What one side moved is in the merge whatever is chosen where it clashes (CLAY-74, LAZ-39)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.desks.support import GROUP, Model, model_of, tree_of
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome, merge_trees, resolve_with
from vault.desks.path_conflict import PathConflictKind
from vault.desks.paths import folders_above, twin_key

TEXT = b"".join(b"line %d\n" % number for number in range(9))


def _merged(base: Model, ours: Model, theirs: Model) -> tuple[MemoryObjects, MergeOutcome]:
    objects = MemoryObjects()
    trees = [tree_of(objects, side) for side in (base, ours, theirs)]
    return objects, merge_trees(objects.of(GROUP), trees[0], trees[1], trees[2])


def _chosen(base: Model, ours: Model, theirs: Model, choice: str) -> dict[str, bytes]:
    objects, outcome = _merged(base, ours, theirs)
    assert outcome.conflicts
    choices = dict.fromkeys((conflict.path for conflict in outcome.conflicts), choice)
    return model_of(objects, resolve_with(outcome, choices))  # type: ignore[arg-type]


@pytest.mark.parametrize("is_mine", [False, True])
def test_a_folder_spelt_otherwise_takes_along_what_the_other_side_did_in_it(is_mine: bool) -> None:
    """CLAY-74, APP-12: capitals of a folder were a conflict, and a choice in it lost whatever nobody had touched."""
    base = {"Trips/a": b"a\n", "Trips/b": TEXT, "Trips/Rome/c": b"c\n", "Trips/gone": b"gone\n", "t": b"t\n"}
    spelt = {"trips/a": b"a\n", "trips/b": TEXT, "trips/rome/c": b"c\n", "trips/gone": b"gone\n", "t": b"t\n"}
    worked = {**base, "Trips/b": TEXT + b"more\n", "Trips/new": b"new\n", "Trips/Rome/d": b"d\n"}
    del worked["Trips/gone"]
    objects, outcome = _merged(base, *((spelt, worked) if is_mine else (worked, spelt)))
    assert outcome.conflicts == ()
    assert outcome.root is not None
    assert model_of(objects, outcome.root) == {
        "trips/a": b"a\n",
        "trips/b": TEXT + b"more\n",
        "trips/new": b"new\n",
        "trips/rome/c": b"c\n",
        "trips/rome/d": b"d\n",
        "t": b"t\n",
    }


def test_each_side_may_spell_another_folder_otherwise() -> None:
    """CLAY-74: also one in the other."""
    base = {"a/b/x": b"x\n", "a/b/y": b"y\n", "c/z": b"z\n"}
    ours = {"A/b/x": b"x\n", "A/b/y": b"y\n", "c/z": b"z\n", "c/new": b"new\n"}
    theirs = {"a/B/x": b"x\n", "a/B/y": b"more\n", "C/z": b"z\n"}
    objects, outcome = _merged(base, ours, theirs)
    assert outcome.root is not None
    assert model_of(objects, outcome.root) == {"A/B/x": b"x\n", "A/B/y": b"more\n", "C/new": b"new\n", "C/z": b"z\n"}


def test_a_clash_in_a_folder_spelt_otherwise_is_known_by_its_old_name_too() -> None:
    """CLAY-74: so that each side is found by whatever name it has."""
    base = {"dir/a": b"a\n", "dir/b": b"b\n"}
    ours = {"dir/a": b"mine\n", "dir/b": b"b\n", "dir/e/in": b"in\n"}
    theirs = {"Dir/a": b"theirs\n", "Dir/b": b"b\n", "Dir/e": b"file\n"}
    _, outcome = _merged(base, ours, theirs)
    assert [(clash.path, clash.old) for clash in outcome.conflicts] == [("Dir/a", "dir/a"), ("Dir/e", "dir/e")]
    assert {("dir/a", "Dir/a"), ("dir/e", "Dir/e"), ("dir/e/in", "Dir/e/in")} == set(outcome.moved)


@pytest.mark.parametrize("choice", ["ours", "theirs"])
def test_a_folder_that_both_spell_otherwise_is_for_a_person_who_loses_nothing(choice: str) -> None:
    """LAZ-39: of two names one is chosen, and what nobody touched is in it."""
    base = {"dir/a": b"a\n", "dir/b": b"b\n"}
    ours = {"Dir/a": b"a\n", "Dir/b": b"b\n"}
    theirs = {"DIR/a": b"a\n", "DIR/b": b"b\n"}
    assert _chosen(base, ours, theirs, choice) == (ours if choice == "ours" else theirs)


@pytest.mark.parametrize("choice", ["ours", "theirs", "base"])
@pytest.mark.parametrize("is_mine", [False, True])
def test_what_was_moved_to_where_another_was_chosen_stays_where_it_was(choice: str, is_mine: bool) -> None:
    """LAZ-39: into a folder where the other side has a file, the deletion of the old name alone was left of it."""
    base = {"notes": TEXT, "t": b"t\n"}
    moved = {"e/notes": TEXT, "t": b"t\n"}
    other = {"notes": TEXT, "t": b"t\n", "e": b"file\n"}
    made = _chosen(base, *((moved, other) if is_mine else (other, moved)), choice)
    expected = {"base": base, "ours": moved if is_mine else other, "theirs": other if is_mine else moved}
    assert made == expected[choice]


def test_what_was_moved_and_edited_stays_too_and_what_is_made_of_both_does_not() -> None:
    """LAZ-39: a text that a person made of both has what was moved; the old name is not needed then."""
    base = {"notes": TEXT, "t": b"t\n"}
    theirs = {"e": TEXT + b"more\n", "t": b"t\n"}
    ours = {**base, "e": b"mine\n"}
    assert _chosen(base, ours, theirs, "ours") == ours
    objects, outcome = _merged(base, ours, theirs)
    assert model_of(objects, resolve_with(outcome, {"e": b"of both\n"})) == {"e": b"of both\n", "t": b"t\n"}


def test_what_was_moved_over_another_file_stays_too() -> None:
    """LAZ-39: the path that was chosen otherwise was no new one."""
    base = {"a": b"a\n", "b": b"b\n", "t": b"t\n"}
    assert _chosen(base, {"a": b"a\n", "t": b"t\n"}, {"b": b"a\n", "t": b"t\n"}, "ours") == {"a": b"a\n", "t": b"t\n"}


def test_files_of_one_content_stay_though_nobody_can_say_which_went_where() -> None:
    """LAZ-39: none of them is plainly the one that was moved."""
    base = {"a": b"same\n", "b": b"same\n", "t": b"t\n"}
    theirs = {"e/x": b"same\n", "e/y": b"same\n", "t": b"t\n"}
    ours = {**base, "e": b"file\n"}
    assert _chosen(base, ours, theirs, "ours") == ours


def test_what_was_deleted_and_not_moved_stays_deleted() -> None:
    """LAZ-39: a choice elsewhere brings nothing back."""
    base = {"a": b"a\n", "b": b"b\n", "c": b"c\n"}
    theirs = {"a": b"theirs\n", "new": b"theirs\n", "kept": b"c\n"}
    ours = {"a": b"mine\n", "b": b"b\n", "c": b"c\n", "new": b"mine\n"}
    assert _chosen(base, ours, theirs, "ours") == {"a": b"mine\n", "new": b"mine\n", "kept": b"c\n"}


def test_a_deleted_empty_file_is_not_taken_for_another_that_was_passed_over() -> None:
    """LAZ-39: empty files are all alike; by its name one is known again."""
    base = {"pkg/keep": b"", "t": b"t\n"}
    ours = {"t": b"t\n", "new": b""}
    theirs = {**base, "new": b"theirs\n"}
    assert _chosen(base, ours, theirs, "theirs") == {"t": b"t\n", "new": b"theirs\n"}
    moved = {"new/keep": b"", "t": b"t\n"}
    assert _chosen(base, moved, theirs, "theirs") == theirs


def test_of_two_copies_that_were_made_one_only_one_stays() -> None:
    """LAZ-39: no more comes back than was passed over."""
    base = {"a": b"same\n", "b": b"same\n", "t": b"t\n"}
    ours, theirs = {"n": b"same\n", "t": b"t\n"}, {**base, "n": b"theirs\n"}
    assert _chosen(base, ours, theirs, "theirs") == {"a": b"same\n", "n": b"theirs\n", "t": b"t\n"}


def test_what_both_names_stood_for_before_returns_as_its_folder_is_spelt_now() -> None:
    """LAZ-39, APP-12: the choice of the base ended in a clash of names."""
    base = {"straße/a": b"a\n", "t": b"t\n"}
    ours, theirs = {"STRASSE/b": b"new\n", "t": b"t\n"}, {"STRASSE/a": b"a\n", "t": b"t\n"}
    assert _chosen(base, ours, theirs, "base") == {"STRASSE/a": b"a\n", "STRASSE/b": b"new\n", "t": b"t\n"}


def test_a_folder_that_both_respell_in_turn_is_known_by_the_name_it_had_first() -> None:
    """CLAY-74: whatever the other side touched below it."""
    base = {"a/b/c/x": b"x\n", "a/b/c/y": b"y\n", "a/b/k": b"k\n"}
    ours = {"A/B/c": b"file\n", "A/B/k": b"k\n"}
    theirs = {"a/b/c/x": b"more\n", "a/b/c/y": b"more\n", "a/b/k": b"k\n"}
    _, outcome = _merged(base, ours, theirs)
    assert [(clash.path, clash.old) for clash in outcome.conflicts] == [("A/B/c", "a/b/c")]


def test_what_was_moved_returns_below_a_folder_as_it_is_spelt_now() -> None:
    """LAZ-39, APP-12: two names that some disks take for one cannot stand together."""
    base = {"dir/a": b"a\n", "dir/b": b"b\n"}
    ours = {"DIR/b": b"b\n", "e": b"a\n"}
    theirs = {**base, "e": b"theirs\n"}
    assert _chosen(base, ours, theirs, "theirs") == {"DIR/a": b"a\n", "DIR/b": b"b\n", "e": b"theirs\n"}


NAMES = ("dir/a", "dir/b", "dir/n", "Dir/a", "e", "e/a", "e/q", "E/q", "q", "Q", "t")


def _is_whole(model: Model) -> bool:
    """Tell whether the paths can stand in one tree."""
    spelt: dict[str, str] = {}
    for path in model:
        names = path.split("/")
        for depth in range(1, len(names) + 1):
            part = "/".join(names[:depth])
            if spelt.setdefault(twin_key(part), part) != part or (depth < len(names) and part in model):
                return False
    return True


def _worked(draw: random.Random, model: Model, who: str) -> Model:
    """Return what somebody made of some files: edited, deleted, added and moved ones."""
    for _ in range(draw.randint(1, 4)):
        now = dict(model)
        path = draw.choice(sorted(now))
        match draw.randrange(5):
            case 0:
                now[path] += f"{who} {draw.random()}\n".encode()
            case 1:
                del now[path]
            case 2:
                now[draw.choice(NAMES)] = f"{who} {draw.random()}\n".encode()
            case 3:
                now[draw.choice(NAMES)] = now.pop(path)
            case _:
                top = path.partition("/")[0]
                now = {(top.swapcase() + name[len(top) :] if name.startswith(top) else name): now[name] for name in now}
        if now and _is_whole(now):
            model = now
    return model


@given(st.integers(0, 1 << 32), st.sampled_from(["ours", "theirs"]))
def test_no_choice_of_a_side_loses_what_both_sides_have(seed: int, choice: str) -> None:
    """LAZ-39, CLAY-74: unless something stands where it was; and without a clash nothing is lost at all."""
    draw = random.Random(seed)
    base: Model = {name: f"{name}\n".encode() * 4 for name in ("dir/a", "dir/b", "e/y", "t", "x")}
    ours, theirs = _worked(draw, base, "mine"), _worked(draw, base, "theirs")
    objects, outcome = _merged(base, ours, theirs)
    choices = dict.fromkeys((clash.path for clash in outcome.conflicts), choice)
    made = model_of(objects, resolve_with(outcome, choices))  # type: ignore[arg-type]
    there = {twin_key(path) for path in made}
    for path, content in base.items():
        if content in ours.values() and content in theirs.values() and content not in made.values():
            old = twin_key(path)
            assert there & {old, *folders_above(old)} or any(one.startswith(f"{old}/") for one in there)
            assert outcome.conflicts


def test_a_clash_of_two_names_is_still_one() -> None:
    """APP-12: only what was there before and has a new name is followed."""
    _, outcome = _merged({"t": b"t\n"}, {"t": b"t\n", "dir/a": b"a\n"}, {"t": b"t\n", "Dir/b": b"b\n"})
    assert [clash.kind for clash in outcome.conflicts] == [PathConflictKind.TWIN]
