"""A reader's place in another vault's log: where it is kept, what moves it, and what happens when it is of no use."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lazy.live.visiting
from lazy.interlace.scope import Scope
from lazy.links import LinkState, links
from lazy.live.bookmark import Bookmark
from lazy.live.cursors import ExposureCursor, known, mark_at, note_cursors, place_of
from lazy.live.intake import Intake
from lazy.live.standing import my_standing
from lazy.places.adding import add_place
from lazy.receiving.receive import Receiver
from lazy.receiving.refusals import AFTER_CUT, ask_again
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault.vaults import around, found, gathered, write
from transports.http.stream import Frame, FrameKind
from vault.content.keeping import Keep, set_keep
from vault.content.prune import prune
from vault.desks.content import data_plex
from vault.errors import LaceError
from vault.fsck.repair import repair
from vault.notes.own import EPOCH
from vault.records import RecordHash
from vault.releasing import release
from vault.vault import Vault
from vault.watch import Watch

ROAD = "beside"


@pytest.fixture
def pair(shelf: Shelf) -> tuple[Vault, Vault]:
    """Alice, and bob, who reads her vault's log beside his own and has read all of it."""
    alice, bob = shelf.lay(_pair)
    return alice, bob


def _pair(root: Path) -> tuple[Vault, ...]:
    alice, bob = gathered(root, "bob")
    add_place(bob, ROAD, str(alice.folder), cwd=root)
    sync(bob, [ROAD])
    return alice, bob


def shared(vault: Vault, after: int = 0) -> set[RecordHash]:
    """Return what a vault shares, or what of it follows a place of its log."""
    rows = vault.store.rows("SELECT b.kind, b.digest FROM exposure e JOIN body b USING (p) WHERE e.at > ?", after)
    return {RecordHash(str(kind), bytes(digest)) for kind, digest in rows}


def end_of(vault: Vault) -> ExposureCursor:
    """Return the last place of a vault's own log."""
    top = vault.store.exposed()
    return ExposureCursor(vault.store.note(EPOCH), top, mark_at(vault, top))


def _mine(vault: Vault, peer: Vault) -> ExposureCursor:
    mine = known(vault, peer.node).mine
    assert mine is not None
    return mine


def more(vault: Vault, text: str) -> None:
    write(vault, "a.txt", text)
    release(vault)


def test_who_reads_goes_on_from_the_place_they_kept(pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch) -> None:
    """DWN-5, DWN-16, DWN-46, DWN-66, DWN-68, DWN-83: it outlasts a restart of both, and only what follows it comes."""
    alice, bob = pair
    kept = known(bob, alice.node).mine
    assert kept == end_of(alice)
    assert alice.store.rows("SELECT 1 FROM live") == []  # who is read keeps nothing of it
    more(alice, "two\n")
    told: list[Any] = []
    real = my_standing

    def telling(*args: Any, **words: Any) -> Any:
        told.append(words.get("cursor"))
        return real(*args, **words)

    monkeypatch.setattr(lazy.live.visiting, "my_standing", telling)
    for vault in pair:
        vault.close()
    with Vault(alice.folder, alice.around) as source, Vault(bob.folder, bob.around) as reader:
        (result,) = sync(reader, [ROAD])
        assert told[0] == kept
        assert set(result.came.received) == shared(source, kept.at)
        assert known(reader, source.node).mine == end_of(source)


@pytest.mark.parametrize("how", ["another epoch", "made anew", "another record", "beyond the end", "of another log"])
def test_a_place_that_is_of_no_use_is_repaired_and_never_guessed(pair: tuple[Vault, Vault], how: str) -> None:
    """DWN-19, DWN-22, DWN-43, DWN-57, DWN-58, DWN-85: all that lacks is found out, and then the place is right again.

    Had the reader jumped to the end of the log, or to the same number in it, the release before would never come.
    """
    alice, bob = pair
    kept = known(bob, alice.node).mine
    assert kept is not None
    more(alice, "two\n")
    if how == "made anew":
        assert repair(alice).ok  # it gets a new epoch
        wrong = kept
    else:
        wrong = {
            "another epoch": end_of(alice)._replace(epoch="0" * 32),
            "another record": end_of(alice)._replace(mark="0" * 16),
            "beyond the end": end_of(alice)._replace(at=alice.store.exposed() + 5),
            "of another log": end_of(bob),
        }[how]
        with bob.writing() as w:
            note_cursors(w, alice.node, mine=wrong)
    assert place_of(alice, wrong) is None
    assert shared(alice) - shared(bob)
    (result,) = sync(bob, [ROAD])
    assert result.problems == []
    assert shared(bob) >= shared(alice)
    assert known(bob, alice.node).mine == end_of(alice)
    (again,) = sync(bob, [ROAD])
    assert (len(again.came.received), again.traffic.round_trips) == (0, 1)


def test_a_place_moves_only_with_what_was_stored(pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch) -> None:
    """DWN-41, DWN-60, CLO-57: what came and could not be stored leaves it, and the next visit brings it.

    DWN-44: it is kept whole or not at all; that it only rises holds within one log, as tested below.
    """
    alice, bob = pair
    kept = known(bob, alice.node).mine
    more(alice, "two\n")

    def cut(*_: object) -> None:
        raise OSError("cut")

    monkeypatch.setattr("lazy.receiving.receive.Receiver._store", cut)
    with pytest.raises((OSError, LaceError)):
        sync(bob, [ROAD])
    monkeypatch.undo()
    assert known(bob, alice.node).mine == kept
    sync(bob, [ROAD])
    assert shared(bob) >= shared(alice)
    assert known(bob, alice.node).mine == end_of(alice)


def test_places_only_rise_and_need_not_follow_one_another(pair: tuple[Vault, Vault]) -> None:
    """DWN-14, DWN-18: what is taken out of the log, also at its end, leaves gaps in it; no number is given twice.

    DWN-61: it says where it ends, and is read from its beginning whatever was taken out of it there.
    """
    alice, bob = pair
    for text in ("two\n", "three\n"):
        more(alice, text)
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    top = alice.store.exposed()
    set_keep(alice, "main", Keep("", 1))
    assert prune(alice).files
    places = [int(row[0]) for row in alice.store.rows("SELECT at FROM exposure ORDER BY at")]
    assert len(places) < places[-1]
    with alice.store.transaction():
        alice.store.run("DELETE FROM exposure WHERE at = ?", places[0])
    assert my_standing(alice, bob.node, cursor=None).here == end_of(alice) == end_of(alice)._replace(at=places[-1])
    assert place_of(alice, ExposureCursor(alice.store.note(EPOCH), 0)) == 0
    with alice.store.transaction():  # as a revocation takes out what nothing reaches any more
        alice.store.run("DELETE FROM exposure WHERE at = ?", top)
    more(alice, "four\n")
    fresh = shared(alice) - shared(bob)
    assert fresh
    assert fresh == shared(alice, top)
    with bob.writing() as w:
        note_cursors(w, alice.node, mine=ExposureCursor(alice.store.note(EPOCH), places[2], mark_at(alice, places[2])))
    sync(bob, [ROAD])
    assert shared(bob) >= shared(alice)


def test_a_part_is_read_of_the_same_log_and_moves_no_place(pair: tuple[Vault, Vault]) -> None:
    """DWN-25: a scope is no log of its own, nor is a process (below): each vault has one, and so each group in it."""
    alice, bob = pair
    kept = known(bob, alice.node).mine
    write(alice, "docs/a.txt", "one\n")
    more(alice, "two\n")
    for _ in range(2):
        (result,) = sync(bob, [ROAD], scope=Scope(paths=frozenset({"docs"})))
        assert result.came.left_out
        assert known(bob, alice.node).mine == kept
    assert [str(row[0]) for row in bob.store.rows("SELECT node FROM live")] == [alice.node.text]
    sync(bob, [ROAD])
    assert shared(bob) >= shared(alice)
    assert known(bob, alice.node).mine == end_of(alice)


@pytest.mark.parametrize("is_repaired", [False, True])
def test_what_repair_brings_is_judged_as_what_a_visit_brings(pair: tuple[Vault, Vault], is_repaired: bool) -> None:
    """CLO-68: a release of which a file is lost is not shown, whether its records followed a place or were compared."""
    alice, bob = pair
    more(alice, "lost\n")
    lost = data_plex(alice.group, b"lost\n").hash
    with alice.store.transaction():
        for table in ("shared", "exposure", "rec", "body"):
            alice.store.run(f"DELETE FROM {table} WHERE p = ?", alice.store.position(lost))
    if is_repaired:
        with bob.writing() as w:
            note_cursors(w, alice.node, mine=end_of(alice)._replace(epoch="0" * 32))
    (result,) = sync(bob, [ROAD])
    assert result.came.releases == []
    [link] = links(bob)
    assert (link.state, link.waiting, [one.missing for one in link.missing]) == (LinkState.REPAIRING, 1, [lost])
    write(bob, "a copy.txt", "lost\n")
    release(bob)
    [link] = links(bob)
    assert (link.state, link.waiting) == (LinkState.LIVE, 0)


@pytest.mark.parametrize("is_repaired", [False, True])
def test_what_had_no_room_to_wait_comes_once_it_is_reached(
    pair: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch, is_repaired: bool
) -> None:
    """DWN-68: what waits is bounded; directories that came too early are asked for by name."""
    monkeypatch.setattr("lazy.receiving.receive.STASH_BYTES", 4000)
    monkeypatch.setattr("lazy.live.intake._FIRST_BATCH_BYTES", 2000)
    alice, bob = pair
    for number in range(60):
        write(alice, f"{number}/{number}.txt", "the same\n")
    more(alice, "two\n")
    if is_repaired:
        with bob.writing() as w:
            note_cursors(w, alice.node, mine=end_of(alice)._replace(epoch="0" * 32))
    visits = [sync(bob, [ROAD])[0] for _ in range(1 + is_repaired)]  # what was asked for by name once is not again
    assert sum(len(visit.came.releases) for visit in visits) == 1
    assert shared(bob) >= shared(alice)
    assert known(bob, alice.node).mine == end_of(alice)


def test_a_log_is_the_same_wherever_its_vault_lies(tmp_path: Path) -> None:
    """DWN-20, DWN-24, DWN-25: moved, and opened by another process on a machine of another name, it keeps its epoch.

    And nothing of the machine, the process or the folder goes into it.
    """
    epochs = set()
    for host in ("alices-box", "elsewhere"):
        (tmp_path / host).mkdir()
        with found(tmp_path / host) as vault:
            write(vault, "a.txt", "one\n")
            release(vault)
            there = end_of(vault)
        vault.folder.rename(tmp_path / host / "moved")
        world = replace(around(tmp_path / host, "alice"), host=host)
        with Vault(tmp_path / host / "moved", world) as moved:
            assert place_of(moved, there) == there.at
            epochs.add(there.epoch)
    assert len(epochs) == 1  # with the same randomness


def test_a_place_that_another_process_put_back_is_not_moved(pair: tuple[Vault, Vault]) -> None:
    """LAZ-71, DWN-13: a sync beside this one heard that somebody stands otherwise: all of that log comes again."""
    alice, bob = pair
    with bob.writing(receiving=True) as w:
        note_cursors(w, alice.node, mine=ExposureCursor("e" * 32, 100, "00" * 8))
        refused = (bytes(32), "S", AFTER_CUT, "after the cut", "alice", w.tai().text)
        w.store.run("INSERT INTO refused VALUES (?, ?, ?, ?, ?, ?)", *refused)
    receiver = Receiver(bob, "alice", keeps_content=True)
    bookmark = Bookmark(bob, receiver, alice.node)
    intake = Intake(bob, receiver, bookmark, "e" * 32, Watch())
    intake.take(Frame(FrameKind.REACHED, bytes(8), position=120))
    intake.flush()
    assert _mine(bob, alice).at == 120
    with closing(Vault(bob.folder, bob.around)) as other, other.writing(receiving=True) as w:
        assert ask_again(w)
    intake.take(Frame(FrameKind.REACHED, bytes(8), position=150))
    intake.flush()
    assert _mine(bob, alice).at == 0
    assert bookmark.look() == _mine(bob, alice), "this visit reads it from there too"
    bookmark.move(ExposureCursor("e" * 32, 160, "00" * 8))
    assert _mine(bob, alice).at == 0
