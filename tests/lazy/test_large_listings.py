"""A listing too large for the machine is read in parts, and gives what the whole would (INT-158, architecture 11)."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lazy.receiving.judging
import lazy.visits.additions
import lazy.visits.exchange
import lazy.visits.listing_parts
import lazy.visits.transfer
import transports.index.merging
import transports.listing
from lazy.folder.update import update
from lazy.interlace.limits import Limits
from lazy.interlace.negotiate import HelloTerms
from lazy.sync import sync
from lazy.visits.terms import terms
from tests.vault.vaults import befriend, found, write
from transports.bundles.bundle import Fetched
from transports.reading import fetch
from vault.folder.work import commit
from vault.fsck.check import check
from vault.profile import DATA_APP, TREE_APP
from vault.records import RecordHash, Tai
from vault.releasing import release
from vault.store import Store


def test_small_contents_are_taken_in_as_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """INT-118, REC-5: what came as its content alone and is wanted was judged by making it; the vault is as whole."""
    alice = found(tmp_path)
    write(alice, "first.txt", "one\n")
    release(alice, None, "First")
    bob = befriend(tmp_path, alice, "bob")
    for number in range(30):
        write(alice, f"d{number % 4}/{number}.txt", f"{number}\n")
    write(alice, "none.txt", "")
    release(alice, None, "Many")
    sync(alice, ["stick"])
    judged: list[RecordHash] = []
    monkeypatch.setattr(lazy.receiving.judging, "known_data", lambda _group, record, *_, **_how: judged.append(record))
    (result,) = sync(bob, ["stick"])
    assert result.problems == []
    apps = bob.store.apps(judged)
    assert {apps[record][0] for record in judged} == {TREE_APP}
    update(bob)
    assert (bob.folder / "d1" / "29.txt").read_text() == "29\n"
    assert (bob.folder / "none.txt").read_bytes() == b""
    assert check(bob).ok
    alice.close()
    bob.close()


@pytest.mark.parametrize("size", [3, 40])
def test_a_listing_in_parts_gives_what_the_whole_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """INT-158, LAZ-24: evidence, then trees, then content with chunks below manifests; nothing is left out."""
    monkeypatch.setattr(lazy.visits.listing_parts, "_PART_RECORDS", size)
    monkeypatch.setattr(lazy.visits.listing_parts, "_LOOK_RECORDS", 2)
    monkeypatch.setattr(lazy.visits.additions, "_READ_TOGETHER", size)
    monkeypatch.setattr(transports.index.merging, "_PART_ENTRIES", 0)
    monkeypatch.setattr(transports.listing, "_FEW_FRAMES", size)
    alice = found(tmp_path)
    write(alice, "a.txt", "one\n")
    release(alice, None, "First")
    bob = befriend(tmp_path, alice, "bob")
    (alice.folder / "film.bin").write_bytes(random.Random(1).randbytes(900_000))
    for number in range(30):
        write(alice, f"d{number % 4}/{number}.txt", f"{number}\n")
        commit(alice, f"Step {number}")
    release(alice, None, "Many")
    sync(alice, ["stick"])
    (result,) = sync(bob, ["stick"])
    assert result.problems == []
    (exchange,) = (each for each in result.came.exchanges if each.received)
    assert exchange.fixed_point
    assert exchange.cursor_updated
    update(bob)
    assert (bob.folder / "film.bin").read_bytes() == (alice.folder / "film.bin").read_bytes()
    assert bob.store.rows("SELECT count(*) FROM hole") == [(0,)]
    shared = "SELECT b.digest FROM body b JOIN shared s USING (p) ORDER BY b.digest"
    assert bob.store.rows(shared) == alice.store.rows(shared)
    assert check(bob).ok
    # What alice's mailbox holds is named in bob's own, and not copied: his bundles hold none of the film.
    assert sum(path.stat().st_size for path in (tmp_path / "stick").rglob("*.bnd")) < 2 * 900_000
    (again,) = sync(bob, ["stick"])
    assert (again.problems, sum(len(each.received) for each in again.came.exchanges)) == ([], 0)
    alice.close()
    bob.close()


def test_what_is_reached_and_missing_is_not_looked_for_here_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-63: a hole is missing by its name; to ask the store of each of ten thousand took a second look at it all."""
    monkeypatch.setattr(lazy.visits.listing_parts, "_PART_RECORDS", 3)
    alice = found(tmp_path)
    write(alice, "a.txt", "one\n")
    release(alice, None, "First")
    bob = befriend(tmp_path, alice, "bob")
    for number in range(10):
        write(alice, f"{number}.txt", f"{number}\n")
    release(alice, None, "Many")
    sync(alice, ["stick"])
    asked: set[RecordHash] = set()
    have = Store.have

    def watched(store: Store, hashes: Collection[RecordHash]) -> set[RecordHash]:
        asked.update(hashes)
        return have(store, hashes)

    monkeypatch.setattr(Store, "have", watched)
    (result,) = sync(bob, ["stick"])
    received = {record for exchange in result.came.exchanges for record in exchange.received}
    apps = bob.store.apps(list(received))
    content = {record for record in received if apps[record][0] == DATA_APP}
    assert len(content) == 10
    assert asked & (received - content)
    assert not content & asked
    alice.close()
    bob.close()


@pytest.mark.parametrize("size", [3, 10_000])
def test_what_is_more_than_a_round_may_carry_comes_in_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """INT-152, INT-158: the next round about a part of much asked for all of it once more, and never came to an end."""
    monkeypatch.setattr(lazy.visits.listing_parts, "_PART_RECORDS", size)
    monkeypatch.setattr(lazy.visits.listing_parts, "_LOOK_RECORDS", 12)
    alice = found(tmp_path)
    write(alice, "first.txt", "one\n")
    release(alice, None, "First")
    bob = befriend(tmp_path, alice, "bob")
    (alice.folder / "film.bin").write_bytes(random.Random(1).randbytes(3_000_000))
    release(alice, None, "Large")
    sync(alice, ["stick"])

    def narrow(tai: Tai) -> HelloTerms:
        return replace(terms(tai), limits=Limits(max_total_transferred_bytes=800_000))

    fetched: list[RecordHash] = []

    def watched(*asked: Any, **how: Any) -> Iterator[Fetched]:
        for one in fetch(*asked, **how):
            fetched.append(one.hash)
            assert len(fetched) < 1_000, "it begins again and again"
            yield one

    monkeypatch.setattr(lazy.visits.exchange, "terms", narrow)
    monkeypatch.setattr(lazy.visits.transfer, "fetch", watched)
    (result,) = sync(bob, ["stick"])
    assert result.problems == []
    (exchange,) = (each for each in result.came.exchanges if each.received)
    assert exchange.rejected == ()
    assert exchange.rounds > 3
    assert len(fetched) < 1.5 * len(exchange.received)
    update(bob)
    assert (bob.folder / "film.bin").read_bytes() == (alice.folder / "film.bin").read_bytes()
    assert check(bob).ok
    alice.close()
    bob.close()
