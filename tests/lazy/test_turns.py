"""One visit of a vault at a place at a time: two at once took the other's files for damage (APP-13)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.endings import Queued
from lazy.places.adding import add_place
from lazy.places.registry import place_named
from lazy.places.turns import PlaceBusy, turn
from lazy.results import PlaceResult
from lazy.sync import move, prepare, sync
from tests.faults.circle import PLACE, befriend, found, visit, write
from tests.shelf import Shelf
from vault.errors import Cancelled
from vault.releasing import release
from vault.vault import Vault
from vault.watch import Watch


@pytest.fixture
def alice(tmp_path: Path, shelf: Shelf) -> Iterator[Vault]:
    """Alice with a friend on a stick, and a release that she has not synced yet."""
    vault = shelf.lay(found)
    befriend(tmp_path, vault, "bob").close()
    write(vault, "a.txt", "second\n")
    release(vault, None, "second")
    yield vault
    vault.close()


class _Other:
    """A second process of the same person, as far as the vault can tell: it syncs, or waits to."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._is_waiting_or_done = threading.Event()
        self._thread = threading.Thread(target=self._sync)
        self.results: list[PlaceResult] = []
        self.waited: list[str] = []

    def begin(self) -> None:
        """Begin, and return when it waits or is through."""
        self._thread.start()
        assert self._is_waiting_or_done.wait(60)

    def end(self) -> PlaceResult:
        self._thread.join(60)
        (result,) = self.results
        return result

    def _sync(self) -> None:
        def progress(_done: int, _total: int, what: str) -> None:
            if "wait" in what:
                self.waited.append(what)
                self._is_waiting_or_done.set()

        try:
            with Vault(self._vault.folder, self._vault.around) as vault:
                self.results += sync(vault, [PLACE], watch=Watch(progress))
        finally:
            self._is_waiting_or_done.set()


def test_two_syncs_of_one_person_at_once_find_no_damage(alice: Vault) -> None:
    # APP-13, LAZ-24: the second began while the first was writing, and one of them was told of a damaged stick
    # DWN-79: how far the stick has my log never goes back; what the first put there is not put there again
    other = _Other(alice)
    begun: list[bool] = []

    def sending(*_: object) -> None:
        if not begun:
            begun.append(True)
            other.begin()

    (mine,) = sync(alice, [PLACE], watch=Watch(moved=sending))
    theirs = other.end()
    assert begun
    assert other.waited
    assert [(result.queued, result.refusal, result.problems) for result in (mine, theirs)] == [(False, None, [])] * 2
    assert (mine.sent > 0, theirs.sent) == (True, 0)  # the second found all of it said
    assert visit(alice).traffic.bytes_written == 0


def test_a_visit_that_was_shown_goes_on_from_where_another_one_left_the_place(alice: Vault) -> None:
    # LAZ-13: what was settled before another process wrote there would be written once more, under the head before
    prepared = prepare(alice, [PLACE])
    other = _Other(alice)
    other.begin()
    assert other.end().sent > 0
    (done,) = move(alice, prepared)
    assert (done.sent, done.traffic.bytes_written, done.problems) == (0, 0, [])


def test_whoever_waits_for_a_turn_may_give_up(alice: Vault) -> None:
    # APP-13: the turn is kept by a process that lives, and who waits is asked at each look
    place = place_named(alice, PLACE)
    asked: list[bool] = []

    def cancelled() -> None:
        asked.append(True)
        if len(asked) == 3:
            raise Cancelled("Stopped as you asked.")

    with turn(alice, place):
        with pytest.raises(Cancelled), turn(alice, place, Watch(cancelled=cancelled)):
            pytest.fail("two have the turn")
        with turn(alice, replace(place, place_id="f" * 32)):
            pass  # another place waits for nobody


def test_a_visit_that_does_not_end_keeps_nobody_from_the_other_places(alice: Vault, tmp_path: Path) -> None:
    # APP-13, LAZ-24: a sync that was stopped, or that a network mount lets hang, kept every later one without limit
    add_place(alice, "other", str(tmp_path / "other"), cwd=tmp_path)
    holder = f"process {os.getpid()}"
    told: list[str] = []
    with turn(alice, place_named(alice, PLACE)), _hurried(alice) as later:
        busy, other = sync(later, [PLACE, "other"], watch=Watch(lambda _done, _total, what: told.append(what)))
        assert (busy.ending, other.queued) == (Queued(can_wait=True), False)
        (problem,) = busy.problems
        assert problem.code == PlaceBusy.code
        assert holder in problem.message
        assert PLACE in problem.message
        with pytest.raises(PlaceBusy, match=holder):
            sync(later, [PLACE])
        with pytest.raises(PlaceBusy, match=holder):
            move(later, prepare(later, [PLACE]))
    assert told.count(f"wait for {holder} at {PLACE}") == 1
    assert visit(alice).sent > 0


def test_who_waits_for_another_visit_hears_so_without_progress_too(alice: Vault) -> None:
    """APP-13: a sync whose talk goes into a file waited ten minutes without a word."""
    place = place_named(alice, PLACE)
    said: list[tuple[str, str]] = []
    around = replace(alice.around, sleep=lambda _seconds: None, waits=lambda who, doing: said.append((who, doing)))
    with turn(alice, place), Vault(alice.folder, around) as later:
        with pytest.raises(PlaceBusy), turn(later, place):
            pytest.fail("two have the turn")
        assert said == [(f"process {os.getpid()}", f"which is visiting {PLACE}")]
        with pytest.raises(PlaceBusy), turn(later, place, seconds=0):
            pytest.fail("two have the turn")
    assert len(said) == 1


def test_who_only_looks_whether_a_place_is_free_waits_for_nobody(alice: Vault) -> None:
    # APP-13: nor does it say that it waits
    place = place_named(alice, PLACE)
    told: list[str] = []
    watch = Watch(lambda _done, _total, what: told.append(what))
    with turn(alice, place, watch, seconds=0), pytest.raises(PlaceBusy), turn(alice, place, watch, seconds=0):
        pytest.fail("two have the turn")
    assert told == []


def _hurried(vault: Vault) -> Vault:
    """Open it once more, where waiting takes no time."""
    return Vault(vault.folder, replace(vault.around, sleep=lambda _seconds: None))
