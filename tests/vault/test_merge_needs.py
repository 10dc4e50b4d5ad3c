"""What old releases keep for merges to come: no more than these can need, and no merge is wrong for it (CLAY-79)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.folder.update import update
from lazy.resolving.resolve import resolve_prefer
from lazy.sync import sync
from tests.vault.films import film, gone
from tests.vault.vaults import gathered, write
from vault.content import merge_needs
from vault.content.keeping import Keep, LetGo, fetch, set_keep
from vault.content.prune import plan_prune, prune
from vault.desks.tree import lookup
from vault.folder.checked_out import checkout_of
from vault.fsck.check import check
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions import graph
from vault.store import Store
from vault.vault import Vault
from vault.watch import Watch

LINES = [f"line {number}\n" for number in range(9)]


def meet(*vaults: Vault) -> None:
    """All sync until each has what the others shared."""
    for vault in (*vaults, *vaults):
        sync(vault, ["stick"])


def edit(vault: Vault, line: int, text: str) -> None:
    """Change one line of the text that all of them edit."""
    file = vault.folder / "a.txt"
    lines = file.read_text().splitlines(keepends=True)
    lines[line] = f"{text}\n"
    file.write_text("".join(lines))


def rounds(alice: Vault, bob: Vault, first: int, last: int) -> None:
    """Both release before they know of the other's, alice a film too, and both merge; again and again."""
    for number in range(first, last):
        (alice.folder / "film.bin").write_bytes(film(number))
        edit(alice, 0, f"alice {number}")
        release(alice, Version(number, 0, 0))
        edit(bob, 8, f"bob {number}")
        release(bob, Version(number, 5, 0))
        meet(alice, bob)
        for vault in (alice, bob):
            assert update(vault).conflict is None
    meet(alice, bob)


def let_go(vault: Vault) -> None:
    """Prune, also what has no copy of my own before."""
    prune(vault)
    sync(vault, ["stick"])
    prune(vault)


def begun(root: Path, *names: str) -> tuple[Vault, ...]:
    """Alice and friends with a text of nine lines."""
    alice, *friends = gathered(root, *names)
    write(alice, "a.txt", "".join(LINES))
    release(alice)
    meet(alice, *friends)
    for friend in friends:
        update(friend)
    return alice, *friends


def test_two_who_release_in_parallel_let_go_of_old_films(tmp_path: Path) -> None:
    """CLAY-79: every release of theirs is a fork point, and none but the last can be a base of a coming merge."""
    alice, bob = begun(tmp_path, "bob")
    rounds(alice, bob, 2, 8)
    set_keep(alice, "main", Keep("film.bin", 1))
    let_go(alice)
    assert [gone(alice, f"{number}.0.0", "film.bin") for number in range(2, 8)] == [True] * 4 + [False] * 2
    # bob's newest release was made on 6.0.0
    assert check(alice).bad == ()
    rounds(alice, bob, 8, 10)
    assert (alice.folder / "a.txt").read_text() == (bob.folder / "a.txt").read_text()
    assert (alice.folder / "film.bin").read_bytes() == film(9)


def test_a_criss_cross_keeps_what_its_virtual_base_reads(tmp_path: Path) -> None:
    """CLAY-73, CLAY-79: texts that both changed are merged again below, as far down as they cross; films are not."""
    alice, bob = begun(tmp_path, "bob")
    set_keep(alice, "main", Keep("", 1))
    rounds(alice, bob, 2, 6)
    for number in range(6, 10):
        let_go(alice)
        rounds(alice, bob, number, number + 1)
    texts = [(vault.folder / "a.txt").read_text() for vault in (alice, bob)]
    assert texts[0] == texts[1]
    assert texts[0].startswith("alice 9\n")
    assert texts[0].endswith("bob 9\n")
    assert gone(alice, "3.0.0", "film.bin")
    assert not gone(alice, "3.0.0", "a.txt")
    assert plan_prune(alice).needed > 0


def test_three_who_release_in_parallel_let_go_of_old_films(tmp_path: Path) -> None:
    """CLAY-73, CLAY-79: three lines that cross again and again, and all are merged in one go."""
    circle = begun(tmp_path, "bob", "cara")
    alice = circle[0]
    set_keep(alice, "main", Keep("", 1))
    for number in range(2, 7):
        (alice.folder / "film.bin").write_bytes(film(number))
        for at, vault in enumerate(circle):
            edit(vault, 4 * at, f"{at} {number}")
            release(vault, Version(number, at, 0))
        meet(*circle)
        for vault in circle:
            assert update(vault).conflict is None
        let_go(alice)
    # Bob and cara have only the round before the last in common, as far as alice knows: they have film 4.
    assert [gone(alice, f"{number}.0.0", "film.bin") for number in range(2, 7)] == [True] * 2 + [False] * 3
    assert {(vault.folder / "a.txt").read_text() for vault in circle} == {(alice.folder / "a.txt").read_text()}


def test_who_merges_what_another_merged_already_lacks_no_base(tmp_path: Path) -> None:
    """CLAY-73, CLAY-79: both releases are bases then, and are no heads here any more; what lies below them is read."""
    alice, bob, cara = begun(tmp_path, "bob", "cara")
    set_keep(alice, "main", Keep("", 1))
    for number in range(2, 4):
        edit(alice, 4, f"before {number}")
        release(alice, Version(number, 0, 0))
    meet(alice, bob, cara)
    for friend in (bob, cara):
        update(friend)
    edit(alice, 0, "alice")
    release(alice, Version(4, 0, 0))
    edit(cara, 8, "cara")
    release(cara, Version(4, 2, 0))
    meet(alice, bob, cara)
    assert update(bob).conflict is None
    release(bob, Version(5, 0, 0))
    for vault in (bob, alice):
        sync(vault, ["stick"])
    update(alice)
    let_go(alice)
    assert gone(alice, "2.0.0", "a.txt")
    assert update(cara).conflict is None  # she merges the same two by herself
    edit(cara, 7, "more")
    release(cara, Version(5, 2, 0))
    meet(cara, alice)
    assert update(alice).conflict is None
    assert (alice.folder / "a.txt").read_text() == (cara.folder / "a.txt").read_text()


def test_the_graph_is_gone_through_once_for_each_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-79: for every two last releases it was: of eight friends and 20,000 commits a hundred times in a prune."""
    alice, *friends = begun(tmp_path, "bob", "cara", "dave")
    for number, friend in enumerate(friends):
        write(friend, f"{number}.txt", "at once")
        release(friend, Version(2, number, 0))
    meet(*friends, alice)
    assert update(alice).conflict is None
    release(alice, Version(3, 0, 0))
    walked: list[str] = []
    compared: list[object] = []

    def walks(store: Store, commit: RecordHash) -> set[str]:
        walked.append(commit.text)
        return graph.ancestors(store, commit)

    def compares(store: Store, commits: Iterable[RecordHash]) -> list[RecordHash]:
        compared.append(commits)
        return graph.newest(store, commits)

    checkout = checkout_of(alice, "main")
    assert checkout is not None
    line = graph.ancestors(alice.store, checkout.commit)
    monkeypatch.setattr(merge_needs, "ancestors", walks)
    monkeypatch.setattr(merge_needs, "newest", compares)
    found = merge_needs.needs(alice, line, Watch())
    assert found.commits
    assert sorted(walked) == sorted(set(walked))
    assert len(compared) <= 2 * len(walked), "each as a head, and as a base"


def test_a_late_friend_is_merged_once_what_their_base_had_is_fetched(tmp_path: Path) -> None:
    """CLAY-79: of a line that nobody here knew of, what was let go is asked for by the release that has it."""
    alice, bob = begun(tmp_path, "bob")
    set_keep(alice, "main", Keep("", 1))
    rounds(alice, bob, 2, 5)
    for number in range(5, 8):  # bob knows 4.0.0, and none of these
        edit(alice, 4, f"between {number}")
        release(alice, Version(number, 0, 0))
        sync(alice, ["stick"])
    let_go(alice)
    edit(bob, 8, "late")
    release(bob, Version(4, 9, 0))
    sync(bob, ["stick"])
    sync(alice, ["stick"])
    before = (alice.folder / "a.txt").read_text()
    for _ in range(9):
        try:
            assert update(alice).conflict is None
            break
        except LetGo as error:
            assert (alice.folder / "a.txt").read_text() == before
            where = error.hint.split("lace fetch ")[1].split(" ")[0]
            assert fetch(alice, resolve(alice, where).tree, "")  # it is that release, and none that has all of it
            sync(alice, ["stick"])
    assert (alice.folder / "a.txt").read_text() == before.replace("bob 4", "late")


def test_a_conflict_that_was_decided_holds_nothing(tmp_path: Path) -> None:
    """CLAY-79, LAZ-39: what was noted of it names heads that my line contains; while it is open they stay."""
    alice, bob = begun(tmp_path, "bob")
    (bob.folder / "film.bin").write_bytes(film(1))
    for number, vault in enumerate((alice, bob)):
        edit(vault, 0, f"both {number}")
        release(vault, Version(2, number, 0))
    meet(alice, bob)
    conflict = update(alice).conflict
    assert conflict is not None
    resolve_prefer(alice, conflict.id, "bob")
    (alice.folder / "film.bin").write_bytes(film(2))
    release(alice, Version(3, 0, 0))
    meet(alice, bob)
    update(bob)
    (bob.folder / "film.bin").write_bytes(film(3))
    release(bob, Version(4, 0, 0))
    meet(alice, bob)
    update(alice)
    assert alice.store.rows("SELECT 1 FROM conflict WHERE heads <> ''")
    set_keep(alice, "main", Keep("film.bin", 1))
    let_go(alice)
    old = lookup(alice.store, resolve(alice, "bob/main@2.1.0").tree, "film.bin")
    assert old is not None
    assert alice.store.position(old.hash) is None
    assert check(alice).bad == ()
