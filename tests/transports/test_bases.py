"""What frames rest on is read within bounds, however a mailbox is made (faults.md row 13; CYB-17, CLAY-37)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.transports.helpers import APP, DROP_ID, GROUP, key, plex
from transports import reading
from transports.bundles.bundle import Fetched, Near
from transports.bundles.bundling import write_bundles
from transports.drop.place import Drop
from transports.listing import Listing
from transports.reading import BasesFrom, fetch
from vault.errors import Cancelled
from vault.frames import MAX_BASES, MAX_DEPTH
from vault.records.hashes import RecordHash

_Given = tuple[RecordHash, str, bytes, Near | None]


def resting(width: int, bases: int, depth: int, size: int) -> list[_Given]:
    """Records in levels: each rests on so many of the level before; the last level is one record."""
    noise = random.Random(depth)
    made: list[_Given] = []
    below: list[tuple[RecordHash, bytes]] = []
    for level in range(depth + 1):
        here: list[tuple[RecordHash, bytes]] = []
        for at in range(width if level < depth else 1):
            chosen = [below[(bases * at + number) % width] for number in range(bases)] if below else []
            near = Near(tuple(name for name, _ in chosen), b"".join(stored for _, stored in chosen)) if chosen else None
            like = chosen[0][1][-size:] if chosen else noise.randbytes(size)
            record = plex(b"%d/%d " % (level, at) + like)
            here.append((record.hash, record.encode()))
            made.append((record.hash, APP, record.encode(), near))
        below = here
    return made


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Count how often frames of a bundle are looked for."""
    count, read = itertools.count(), reading._Bundles.read

    def counted(*args: Any) -> Iterator[list[Fetched]]:
        next(count)
        return read(*args)

    monkeypatch.setattr(reading._Bundles, "read", counted)
    return count


def laid(root: Path, records: list[_Given]) -> tuple[Drop, Listing, RecordHash]:
    drop = Drop.create(root / "drop", entropy=lambda size: bytes.fromhex(DROP_ID)[:size])
    node = key(1).verifier
    (index,) = write_bundles(drop.writer(GROUP, node).add_bundle, records, set())
    return drop, Listing([index.run.placed(index.ref(node))]), records[-1][0]


def test_frames_that_rest_on_many_which_rest_on_many_cost_a_bounded_number_of_reads(
    tmp_path: Path, reads: Iterator[int]
) -> None:
    """CYB-17: 4 bases each and 7 deep were some 20,000 reads for one record; it is damaged, and what is sound comes."""
    records = resting(width=64, bases=4, depth=7, size=200_000)
    drop, listing, last = laid(tmp_path, records)
    alone = records[0][0]
    got = {item.hash: item.record for item in fetch(drop, GROUP, listing, {last, alone})}
    assert got[last] is None
    assert got[alone] == records[0][2]
    assert 100 < next(reads) < 2_000


def test_a_stop_is_heard_while_bases_are_read(tmp_path: Path, reads: Iterator[int]) -> None:
    """CYB-17: one record may make thousands of reads, so that asking between wanted frames is not enough."""
    drop, listing, last = laid(tmp_path, resting(width=2, bases=2, depth=4, size=2_000))
    asked = itertools.count()
    with pytest.raises(Cancelled):
        list(fetch(drop, GROUP, listing, {last}, cancel=lambda: next(asked) == 2))
    assert next(reads) == 3


def test_the_longest_chain_of_the_most_bases_is_read(tmp_path: Path) -> None:
    """CLAY-37: what a writer may make stays within the bounds, for a reader who has nothing."""
    records = resting(width=MAX_BASES, bases=MAX_BASES, depth=MAX_DEPTH, size=4_000)
    drop, listing, last = laid(tmp_path, records)
    (got,) = fetch(drop, GROUP, listing, {last})
    assert got.record == records[-1][2]


def test_what_frames_of_a_mailbox_rest_on_may_be_bounded_together(tmp_path: Path, reads: Iterator[int]) -> None:
    """LAZ-71: a stranger's mailbox costs no more than so many bytes, those that are read for others included."""
    records = [one for seed in range(1, 4) for one in resting(width=1, bases=1, depth=seed, size=9_000)]
    drop, listing, _ = laid(tmp_path, records)
    lasts = [name for number, (name, *_) in enumerate(records) if number in {1, 4, 8}]
    got = {item.hash: item.record for item in fetch(drop, GROUP, listing, lasts, bases=BasesFrom(most=3 << 19))}
    assert [got[name] is not None for name in lasts] == [True, True, False]
