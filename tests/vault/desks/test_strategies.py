"""The named strategies on trees, each against what Clay says of it (CLAY-74, CLAY-76, CLAY-77)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.desks.support import GROUP, Model, model_of, models, tree_of
from vault.desks.edit import PathInTheWay
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome, resolve_with
from vault.desks.pages import NamesClash
from vault.desks.strategies import Strategy, merge_by

BASE: Model = {"a": b"a\n", "b": b"b\n", "both": b"1\n2\n3\n4\n5\n", "gone": b"x\n"}
THIS: Model = {"a": b"A\n", "b": b"b\n", "both": b"1!\n2\n3\n4\n5\n", "mine": b"m\n"}
THAT: Model = {"a": b"a\n", "b": b"B\n", "both": b"1\n2\n3\n4\n5?\n", "gone": b"x\n", "yours": b"y\n"}
CLASH: Model = {**THAT, "both": b"1?\n2\n3\n4\n5?\n"}


def merged(strategy: Strategy, base: Model | None, this: Model, that: Model) -> tuple[MemoryObjects, MergeOutcome]:
    objects = MemoryObjects()
    trees = [tree_of(objects, model) if model is not None else None for model in (base, this, that)]
    assert trees[1] is not None
    assert trees[2] is not None
    return objects, merge_by(strategy, objects.of(GROUP), trees[0], trees[1], trees[2])


def content(strategy: Strategy, base: Model | None, this: Model, that: Model) -> dict[str, bytes]:
    objects, outcome = merged(strategy, base, this, that)
    assert outcome.root is not None, outcome.conflicts
    return model_of(objects, outcome.root)


def clashes(strategy: Strategy, that: Model = THAT) -> list[str]:
    _, outcome = merged(strategy, BASE, THIS, that)
    assert outcome.root is None
    return [clash.path for clash in outcome.conflicts]


def test_each_strategy_does_what_it_is_called() -> None:
    """CLAY-74: mate, meet, meld, only, take and meet-this/that on one example."""
    lines = {"a": b"A\n", "b": b"B\n", "both": b"1!\n2\n3\n4\n5?\n", "mine": b"m\n", "yours": b"y\n"}
    assert content(Strategy.MATE, BASE, THIS, THAT) == lines
    assert clashes(Strategy.MEET) == ["both"]
    assert clashes(Strategy.MATE, CLASH) == ["both"]
    assert content(Strategy.MELD, BASE, THIS, CLASH) == {**lines, "both": BASE["both"]}
    assert content(Strategy.MEET_THIS, BASE, THIS, THAT) == {**lines, "both": THIS["both"]}
    assert content(Strategy.MEET_THAT, BASE, THIS, THAT) == {**lines, "both": THAT["both"]}
    assert content(Strategy.ONLY_THIS, None, THIS, THAT) == THIS
    assert content(Strategy.ONLY_THAT, None, THIS, THAT) == THAT
    assert content(Strategy.TAKE_THIS, None, THIS, THAT) == {**THAT, **THIS}
    assert content(Strategy.TAKE_THAT, None, THIS, THAT) == {**THIS, **THAT}


def test_a_taken_side_leaves_what_only_the_other_has_below_a_folder_of_both() -> None:
    """CLAY-74: paths count, not folders; where one has a file and the other a folder, the taken one stays."""
    this = {"d/a": b"1\n", "d/e/mine": b"m\n", "x": b"file\n", "same/s": b"s\n"}
    that = {"d/a": b"2\n", "d/e/yours": b"y\n", "d/more": b"+\n", "x/below": b"no\n", "same/s": b"s\n"}
    assert content(Strategy.TAKE_THIS, None, this, that) == {
        **{path: text for path, text in that.items() if path != "x/below"},
        **this,
    }
    assert content(Strategy.TAKE_THAT, None, this, that) == {
        **{path: text for path, text in this.items() if path != "x"},
        **that,
    }


def test_meet_lets_equal_and_one_sided_changes_pass() -> None:
    """CLAY-74: meet asks that changed files differ, not that both sides stayed apart."""
    this, that = {**BASE, "a": b"same\n"}, {**BASE, "a": b"same\n", "b": b"B\n"}
    assert content(Strategy.MEET, BASE, this, that) == that


def test_names_that_no_disk_holds_together_are_decided_by_no_strategy() -> None:
    """CLAY-74: twins stay a conflict, or are refused by both names; nothing is lost silently."""
    this, that = {**BASE, "Read": b"1\n"}, {**BASE, "read": b"2\n"}
    for strategy in (Strategy.MATE, Strategy.MEET, Strategy.MELD, Strategy.MEET_THIS, Strategy.MEET_THAT):
        assert merged(strategy, BASE, this, that)[1].root is None
    for strategy in (Strategy.TAKE_THIS, Strategy.TAKE_THAT):
        with pytest.raises(NamesClash, match=r"'Read' and 'read'"):
            merged(strategy, BASE, this, that)


@pytest.mark.parametrize(
    ("base", "this", "that"),
    [
        ({"b/a": b"2\n"}, {"b": b"X\n"}, {"c/c": b"2\n", "b": b"X\n"}),
        ({"C/c": b"1\n2\n"}, {"c": b"X\n", "b/a": b"1\n2\n"}, {"C": b"2\n"}),
    ],
)
def test_what_cannot_be_as_in_the_base_is_left_to_a_person(base: Model, this: Model, that: Model) -> None:
    """CLAY-74: the merge ended with a sentence about a change set, which nobody had made."""
    objects, outcome = merged(Strategy.MELD, base, this, that)
    assert outcome.root is None
    root = resolve_with(outcome, {clash.path: "theirs" for clash in outcome.conflicts})
    assert that.items() <= model_of(objects, root).items()


@given(models(), models(), models(), st.sampled_from(sorted(set(Strategy) - {Strategy.INIT, Strategy.FINE})))
def test_no_strategy_invents_or_loses(base: Model, this: Model, that: Model, strategy: Strategy) -> None:
    """CLAY-74, CLAY-77: every path of a result is one side's or the base's; the only-* are exact, take-* complete."""
    try:
        objects, outcome = merged(strategy, base, this, that)
    except NamesClash:
        return
    if outcome.root is None:
        if strategy not in {Strategy.MATE, Strategy.MEET} and all(c.kind != "twin" for c in outcome.conflicts):
            assert strategy is Strategy.MELD
            with pytest.raises((NamesClash, PathInTheWay)):
                resolve_with(outcome, {clash.path: "base" for clash in outcome.conflicts})
        return
    found = model_of(objects, outcome.root)
    assert found.keys() <= base.keys() | this.keys() | that.keys()
    if strategy in {Strategy.ONLY_THIS, Strategy.TAKE_THIS}:
        assert this.items() <= found.items()
    if strategy in {Strategy.ONLY_THAT, Strategy.TAKE_THAT}:
        assert that.items() <= found.items()
