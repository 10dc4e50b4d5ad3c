"""Deciding what was opened: nothing is decided that nobody saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from lace_tui.verbs.conflicts import proposal_lines
from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.head_conflicts import _asked_with
from lazy.relation import relation_of
from lazy.resolving.deciding import Pick, decide, worked_out
from lazy.resolving.opening import Opened, disagreeing, open_conflict
from lazy.resolving.picks import Choices, SidesChanged
from lazy.resolving.resolve import accept_resolution, resolve_merged, resolve_prefer
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault.vaults import found, gathered, write
from vault.folder.work import Committed, commit
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import Relation, line_head, releases
from vault.vault import Vault


def _refuse(vault: Vault, opened: Opened) -> None:
    before = [found.hash for found in releases(vault.store)]
    with pytest.raises(SidesChanged):
        decide(vault, opened, {"a.txt": Pick(edited=b"not all of it\n")}, Version(2, 1, 0))
    assert [found.hash for found in releases(vault.store)] == before


def test_a_side_that_came_while_it_was_decided_has_to_be_seen_first(shelf: Shelf) -> None:
    """LAZ-39, LAZ-42: the name of a conflict is the same with three sides; so is it when my own line goes on."""
    alice, bob, cara = shelf.lay(gathered, "bob", "cara")
    for vault in (alice, bob, cara):
        write(vault, "a.txt", f"{vault.name}\n")
        release(vault, Version(2, 0, 0), "second")
    for vault in (bob, alice):
        sync(vault, ["stick"])
    two = open_conflict(alice, "2.0.0")
    for vault in (cara, alice):
        sync(vault, ["stick"])
    three = open_conflict(alice, "2.0.0")
    assert (len(two.sides), len(three.sides)) == (2, 3)
    assert two.conflict.id == three.conflict.id
    _refuse(alice, two)
    write(alice, "a.txt", "alice again\n")
    commit(alice, "again")
    _refuse(alice, three)
    done = decide(alice, open_conflict(alice, "2.0.0"), {"a.txt": Pick(edited=b"all of it\n")}, Version(2, 1, 0))
    assert (done.status, conflicts(alice)) == ("merged", [])
    assert (alice.folder / "a.txt").read_text() == "all of it\n"
    for vault in (cara, bob, alice):
        vault.close()


@pytest.mark.parametrize("kind", ["head", "version"])
@pytest.mark.parametrize("what", ["the file", "a new clash"])
def test_a_file_that_was_edited_while_it_was_decided_has_to_be_seen_first(shelf: Shelf, kind: str, what: str) -> None:
    """LAZ-39, LAZ-42: another program saved it; what else was edited meanwhile is no part of the decision."""
    alice, bob = shelf.lay(gathered, "bob")
    for vault, version in ((alice, 0), (bob, 0 if kind == "version" else 1)):
        write(vault, "a.txt", f"{vault.name}\n")
        if vault is bob:
            write(vault, "b.txt", "bob\n")
        release(vault, Version(2, version, 0), "second")
        sync(vault, ["stick"])
    sync(alice, ["stick"])
    noted = update(alice).conflict
    name = noted.id if noted else "2.0.0"
    opened = open_conflict(alice, name)
    name = opened.conflict.id
    assert (opened.conflict.kind, [file.path for file in opened.files]) == (kind, ["a.txt"])
    edited = "a.txt" if what == "the file" else "b.txt"
    write(alice, edited, "by another program\n")
    before = line_head(alice.store, alice.node.text, "main")
    with pytest.raises(SidesChanged):
        decide(alice, opened, {"a.txt": Pick(edited=b"both\n")}, Version(3, 0, 0))
    assert (alice.folder / edited).read_text() == "by another program\n"
    assert line_head(alice.store, alice.node.text, "main") == before
    picks = {file.path: Pick(side=0) for file in open_conflict(alice, name).files}
    again = open_conflict(alice, name)
    write(alice, "c.txt", "beside it\n")
    decide(alice, again, picks, Version(3, 0, 0))
    assert (alice.folder / edited).read_text() == "by another program\n"
    assert conflicts(alice) == []
    for vault in (bob, alice):
        vault.close()


def _asked_nothing(people: Iterable[Vault], text: str) -> None:
    """Everybody knows everything, updates, and has the same without having been asked."""
    people = tuple(people)
    for vault in (*people, *people):
        sync(vault, ["stick"])
    for vault in (*people, *people):
        assert relation_of(vault, "main") is not Relation.CONFLICTING
        assert update(vault).conflict is None
        assert (conflicts(vault), (vault.folder / "a.txt").read_text()) == ([], text)
        assert relation_of(vault, "main") in {Relation.SAME, Relation.AHEAD}


@pytest.mark.parametrize("is_known", [True, False])
def test_who_took_the_same_side_is_no_head_against_who_goes_on(
    three: tuple[Vault, Vault, Vault], is_known: bool
) -> None:
    """LAZ-40, LAZ-43: two decisions of equal content are one, also of two people who did not know of each other."""
    alice, bob, _ = three
    for vault in (alice, bob):
        resolve_prefer(vault, "2.0.0", "bob")
    if is_known:
        _asked_nothing((alice, bob), "bob\n")
    write(bob, "a.txt", "bob goes on\n")
    release(bob, None, "on")
    _asked_nothing((alice, bob), "bob goes on\n")


@pytest.mark.parametrize("goes_on", [True, False])
def test_crossing_decisions_of_three_ask_nobody_about_what_was_given_up(
    three: tuple[Vault, Vault, Vault], goes_on: bool
) -> None:
    """LAZ-40, LAZ-43: alice gives up her merge for bob's decision; cara agreed with him, and knew of neither."""
    alice, bob, cara = three
    resolve_prefer(cara, "2.0.0", "bob")
    if goes_on:
        write(cara, "a.txt", "cara goes on\n")
        release(cara, None, "on")
    resolve_prefer(bob, "2.0.0", "local")
    resolve_merged(alice, "2.0.0", Version(2, 1, 0), Choices(edited={"a.txt": b"both\n"}.get))
    for vault in (bob, alice):
        sync(vault, ["stick"])
    accept_resolution(alice, "2.0.0")
    _asked_nothing(three, "cara goes on\n" if goes_on else "bob\n")


def test_two_decisions_of_equal_content_are_one_for_a_third(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-40, LAZ-43: cara accepts what alice and bob decided each by themselves, without having to say whose."""
    alice, bob, cara = three
    for vault in (alice, bob):
        resolve_prefer(vault, "2.0.0", "alice" if vault is bob else "local")
    for vault in (alice, bob, cara):
        sync(vault, ["stick"])
    (asked,) = conflicts(cara)
    assert [proposal.word for proposal in asked.proposals] == ["alice", "bob"]
    assert (asked.differ, asked.accept_words()) == (False, "--accept")
    (line,) = proposal_lines(asked)
    assert line.strip() == f"alice and bob propose the side of alice: lace resolve {asked.id} --accept"
    accept_resolution(cara, "2.0.0")
    _asked_nothing(three, "alice\n")


def test_who_decided_otherwise_since_agrees_with_nobody_any_more(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-40, LAZ-43: alice took bob's side, then cara's merge; what bob decided clashes with what she made of that."""
    alice, bob, cara = three
    for vault in (bob, cara):
        sync(vault, ["stick"])
    resolve_prefer(bob, "2.0.0", "local")
    resolve_merged(cara, "2.0.0", Version(2, 1, 0), Choices(edited={"a.txt": b"both\n"}.get))
    resolve_prefer(alice, "2.0.0", "bob")
    for vault in (cara, alice):
        sync(vault, ["stick"])
    accept_resolution(alice, "2.0.0")
    write(alice, "a.txt", "both, and alice goes on\n")
    for vault in (bob, alice):
        sync(vault, ["stick"])
    assert accept_resolution(alice, "2.0.0", "bob").conflicts
    done = update(alice)
    assert (done.relation, [one.path for one in done.clashes]) == (Relation.CONFLICTING, ["a.txt"])
    assert (alice.folder / "a.txt").read_text() == "both, and alice goes on\n"


def test_who_agreed_is_not_asked_about_what_the_other_gave_up(three: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-40, LAZ-43: alice released a merge, and then took bob's decision; her release is no head against him."""
    alice, bob, _ = three
    sync(bob, ["stick"])
    resolve_prefer(bob, "2.0.0", "local")
    resolve_merged(alice, "2.0.0", Version(2, 1, 0), Choices(edited={"a.txt": b"both\n"}.get))
    for vault in (bob, alice, bob):
        sync(vault, ["stick"])
    accept_resolution(alice, "2.0.0")
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    for vault in (alice, bob):
        for _ in range(2):
            done = update(vault)
            assert (done.conflict, done.moves.written, conflicts(vault)) == (None, (), [])
        assert (vault.folder / "a.txt").read_text() == "bob\n"
    write(bob, "a.txt", "bob goes on\n")
    release(bob, None, "on")
    assert (update(bob).conflict, conflicts(bob)) == (None, [])
    for vault in (bob, alice):
        sync(vault, ["stick"])
    assert update(alice).moves.written == ("a.txt",)


def test_who_has_a_line_of_their_own_takes_either_side_of_two_friends(shelf: Shelf) -> None:
    """LAZ-35, LAZ-39: what mine took in from one of them is theirs, and a whole file of mine is as mine has it."""
    alice, bob, cara = people = shelf.lay(gathered, "bob", "cara")
    bases = {"logo": b"\0one", "menu": b"a\none\nb\nc\nd\nlast\n", "text": b"one\n"}
    for path, content in bases.items():
        (alice.folder / path).write_bytes(content)
    release(alice, Version(1, 5, 0), "base")
    for vault in people:
        sync(vault, ["stick"])
    for vault in (bob, cara):
        update(vault)
        for path, content in bases.items():
            (vault.folder / path).write_bytes(content.replace(b"one", vault.name.encode()))
        release(vault, Version(2, 0, 0), "second")
    for vault in (bob, cara, alice):
        sync(vault, ["stick"])
    mine = bases["menu"].replace(b"last", b"alice")
    (alice.folder / "menu").write_bytes(mine)
    commit(alice, "my line goes on")
    opened = open_conflict(alice, "2.0.0")
    assert [file.path for file in opened.files] == ["logo", "menu", "text"]
    for file in opened.files:
        took = opened.sides[file.left].name
        left, right = (
            bases[file.path].replace(b"one", opened.sides[n].name.encode()) for n in (file.left, *file.rights)
        )
        shown = [content.head for content in file.sides if content is not None]
        assert (shown[file.left], shown[file.rights[0]]) == (left if file.path != "menu" else mine, right)
        assert took == (alice.name if file.path == "menu" else opened.sides[1].name)
    decide(alice, opened, {file.path: Pick(side=file.left) for file in opened.files}, Version(3, 0, 0))
    first = opened.sides[1].name.encode()
    assert [(alice.folder / path).read_bytes() for path in bases] == [b"\0" + first, mine, first + b"\n"]
    for vault in (cara, bob, alice):
        vault.close()


MENU = b"one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n"


def _given(people: tuple[Vault, ...], base: Mapping[str, bytes], *made: Mapping[str, bytes | None]) -> Vault:
    """Share a base, let alice commit and each friend release a 2.0.0 of the files they made; return alice's vault."""
    alice, *friends = people
    for vault, files in ((alice, base), *zip(friends, made[1:], strict=True), (alice, made[0])):
        for path, content in files.items():
            file = vault.folder / path
            file.unlink() if content is None else file.write_bytes(content)
        if files is base:
            release(alice, Version(1, 5, 0), "base")
            for one in (alice, *friends):
                sync(one, ["stick"])
            for friend in friends:
                update(friend)
        elif vault is not alice:
            release(vault, Version(2, 0, 0), "second")
            sync(vault, ["stick"])
    sync(alice, ["stick"])
    commit(alice, "my own line")
    return alice


@pytest.mark.parametrize("friends", [("bob", "cara"), ("cara", "bob")])  # in one of two orders the third comes last
@pytest.mark.parametrize("what", ["mine", "theirs", "edited"])
def test_what_is_shown_as_the_result_is_written_whatever_else_would_merge(
    shelf: Shelf, what: str, friends: tuple[str, str]
) -> None:
    """LAZ-39: the third side changed other lines of the file, which no whole side and no edited text gets."""
    people = shelf.lay(gathered, *friends)
    changed = [MENU.replace(b"one", b"alice"), MENU.replace(b"one", b"theirs"), MENU.replace(b"ten", b"third")]
    alice = _given(people, {"menu": MENU}, *({"menu": content} for content in changed))
    edited = MENU.replace(b"5", b"five")
    if what == "edited":  # then each of the others clashes with mine, and neither with the text
        write(alice, "menu", changed[0].replace(b"ten", b"alice").decode())
        commit(alice, "both")
    opened = open_conflict(alice, "2.0.0")
    number = next(
        n for n, side in enumerate(opened.sides) if side.name == (friends[0] if what == "theirs" else "alice")
    )
    pick = Pick(edited=edited) if what == "edited" else Pick(side=number)
    shown = worked_out(opened.files[0], pick).result
    assert shown == {"mine": changed[0], "theirs": changed[1], "edited": edited}[what]
    decide(alice, opened, {"menu": pick}, Version(3, 0, 0))
    assert (alice.folder / "menu").read_bytes() == shown
    for vault in people:
        vault.close()


@pytest.mark.parametrize("friends", [("bob", "cara", "dave"), ("cara", "dave", "bob"), ("dave", "bob", "cara")])
def test_a_side_is_whole_also_where_another_merged_with_it_before_the_third_clashes(
    shelf: Shelf, friends: tuple[str, str, str]
) -> None:
    """LAZ-39: of what two of three friends did to other lines, one side has its own alone."""
    people = shelf.lay(gathered, *friends)
    both = MENU.replace(b"one", b"3").replace(b"ten", b"3")
    of_friends = [{"menu": MENU.replace(b"one", b"1")}, {"menu": MENU.replace(b"ten", b"2")}, {"menu": both}]
    alice = _given(people, {"menu": MENU}, {}, *of_friends)
    opened = open_conflict(alice, "2.0.0")
    pick = Pick(side=0)
    decide(alice, opened, {"menu": pick}, Version(3, 0, 0))
    assert (alice.folder / "menu").read_bytes() == worked_out(opened.files[0], pick).result
    for vault in people:
        vault.close()


@pytest.mark.parametrize(
    ("of_bob", "of_cara"),
    [
        ({"Twin": b"bob\n"}, {"twin": b"cara\n"}),
        ({"menu": MENU.replace(b"one", b"bob")}, {"menu": None, "karte": MENU.replace(b"one", b"cara")}),
    ],
)
def test_a_file_of_a_friend_by_another_name_is_theirs_and_can_be_taken(
    shelf: Shelf, of_bob: dict[str, bytes], of_cara: dict[str, bytes]
) -> None:
    """LAZ-35, LAZ-39: who has a line of their own takes a friend's file as a friend's, and deletes nothing by it."""
    people = shelf.lay(gathered, "bob", "cara")
    alice = _given(people, {"menu": MENU}, {"mine": b"1\n"}, of_bob, of_cara)
    opened = open_conflict(alice, "2.0.0")
    (file,) = opened.files
    assert file.left > 0
    shown = file.sides[file.left]
    assert shown is not None
    if file.other_name:
        called = {"bob": "Twin", "cara": "twin"}
        assert [file.name_of(n) for n in range(3)] == [called.get(side.name, "") for side in opened.sides]
    decide(alice, opened, {file.path: Pick(side=file.left)}, Version(3, 0, 0))
    names = {"Twin", "twin", "karte"} & {path.name for path in alice.folder.iterdir()}
    (name,) = names or {"menu"}
    assert (alice.folder / name).read_bytes().startswith(shown.head)
    assert opened.sides[file.left].name.encode() in shown.head
    for vault in people:
        vault.close()


def test_all_paths_of_three_sides_are_named_as_a_decision_takes_them(shelf: Shelf) -> None:
    """LAZ-35, LAZ-39: also those on which the third clashes, where the first two clash on others already."""
    people = shelf.lay(gathered, "bob", "cara", "dave")
    made = (
        {"menu": b"bob\n", "Twin": b"b\n"},
        {"menu": b"cara\n", "twin": b"c\n"},
        {"menu": b"dave\n", "tWIN": b"d\n"},
    )
    alice = _given(people, {"menu": MENU}, {}, *made)
    opened = open_conflict(alice, "2.0.0")
    paths, _ = disagreeing(alice, opened.conflict)
    assert (paths, len(paths)) == ([file.path for file in opened.files], 3)
    resolve_merged(alice, "2.0.0", Version(3, 0, 0), Choices(dict.fromkeys(paths, opened.sides[0].word)))
    first = opened.sides[0].name[:1]
    kept = {path.name: path.read_text() for path in alice.folder.iterdir() if path.name.lower() in {"menu", "twin"}}
    assert sorted(kept.values()) == [f"{first}\n", f"{opened.sides[0].name}\n"]
    for vault in people:
        vault.close()


@pytest.mark.parametrize("turned", [False, True])
def test_a_clash_is_said_to_be_decided_with_the_one_that_is_asked(tmp_path: Path, turned: bool) -> None:
    """LAZ-43: not with one that is decided with yet another itself, in whatever order they were noted."""
    with found(tmp_path) as alice:
        first, second, third = (_commit(alice, str(number)) for number in range(3))
        others = {"second": [second], "third": [third]}
        assert _asked_with(alice, [first], dict(sorted(others.items(), reverse=turned))) == "third"
        assert _asked_with(alice, [third], {"second": [second]}) == ""


def _commit(vault: Vault, text: str) -> RecordHash:
    write(vault, "a.txt", text)
    made = commit(vault, text)
    assert isinstance(made, Committed)
    return made.commit
