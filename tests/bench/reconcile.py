"""What finding out costs: bytes and turns between two processes, each way, without the records themselves (issue 4).

Two parts. *line*: a friend visits `lace serve`, with real vaults of some hundred thousand records; what is counted is
everything in the bodies that the two processes exchange but the frames of records; HTTP's own heads are not in it.
*tiers*: two processes that hold nothing but advertisements, half of the differences on each side, as in the table of
the design; there LACE_BENCH_RECORDS sets another size, such as 1000000.

The figures of negentropy and of rateless IBLT beside them are not measured here: they are the published arithmetic of
exact message sizes, for as many records and differences that lie anywhere.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from blake3 import blake3

from lazy.interlace.limits import DEFAULT_LIMITS
from lazy.interlace.tiers import (
    MemoryShelf,
    TierReader,
    answer,
    answer_hints,
    pack_asks,
    pack_offer,
    read_asks,
    read_offer,
)
from tests.bench.table import Figure
from tests.live.servers import serving
from tests.people import Person
from transports.http.stream import FrameKind, StreamReader, StreamWriter
from vault.records import RecordHash
from vault.store.store import Store

__all__ = ["figures"]

_KB = 1000
_SOURCE = "V." + "0" * 43 + ".H3"
_DIFFERENCES = (10, 100, 1000)
_WITH_CURSOR = {10: 1.0, 100: 4.0, 1000: 36.0}  # kB
_WITHOUT = {10: 35.0, 100: 215.0, 1000: 950.0}
# kB, at 100,000 records whose differences lie anywhere; of 1,000,000 below.
_NEGENTROPY = {10: 14.3, 100: 111.5, 1000: 782.5}
_NEGENTROPY_LARGE = {10: 19.2, 100: 167.5, 1000: 1375.0}
_RATELESS = {10: 0.69, 100: 6.0, 1000: 56.0}  # of any size; 32 bytes of id, 8 of check, 1 of count a symbol
_REQUEST_BYTES = 33
_FILES_A_FOLDER = 100


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the figures of both parts."""
    count = 2000 if quick else 100_000
    differences = _DIFFERENCES[:1] if quick else _DIFFERENCES
    with tempfile.TemporaryDirectory() as root:
        yield from _on_the_line(Path(root), count, differences)
    yield from _tiers(2000 if quick else int(os.environ.get("LACE_BENCH_RECORDS", "100000")), differences)


# Real vaults


def _on_the_line(root: Path, count: int, differences: tuple[int, ...]) -> Iterator[Figure]:
    alice = Person("alice", root / "homes" / "alice", root / "alice")
    bob = Person("bob", root / "homes" / "bob", root / "bob")
    _write(alice, "first", count - count // _FILES_A_FOLDER)
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(root / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob, alice, bob, alice):
        person.run("sync", "stick")
    shared = len(_shared(bob))
    bob.lace("place", "remove", "stick")
    with serving(alice) as server:
        bob.lace("place", "add", "home", server.uri)
        for name in ("without a cursor", "with a cursor"):
            yield from _visit(f"{shared} records, equal, {name}", bob, limits=(1.0, 1))
        for number, some in enumerate(differences, 1):
            lacking = _release(alice, bob, f"1.{number}.0", some)
            yield from _visit(f"{lacking} new, with a cursor", bob, limits=(_WITH_CURSOR[some], 2))
        for number, some in enumerate(differences, 1):
            lacking = _release(alice, bob, f"2.{number}.0", some)
            for person in (alice, bob):
                _forget(person)
            yield from _visit(f"{lacking} new, without a cursor", bob, limits=(_WITHOUT[some], 4))


def _visit(what: str, bob: Person, *, limits: tuple[float, int]) -> Iterator[Figure]:
    with _counted() as (sent, came):
        said: dict[str, Any] = bob.lace("sync", "home")
    most, trips = limits
    for way, total, frames in (("up", said["bytes_sent"], sent), ("down", said["bytes_received"], came)):
        told = (total - _carried(frames)) / _KB
        yield Figure("line", f"{what}: {way}", told, "kB", "the promise", most, 1)
    yield Figure("line", f"{what}: turns", said["round_trips"], "trips", "the promise", trips, 1)
    if carried := _carried(came):
        yield Figure("line", f"{what}: the records themselves", carried / _KB, "kB")


def _carried(frames: Counter[FrameKind]) -> int:
    """Return the bytes of the frames that are records: what is said beside them is what finding out costs."""
    return frames[FrameKind.RECORDS] + frames[FrameKind.SHORT]


@contextmanager
def _counted() -> Iterator[tuple[Counter[FrameKind], Counter[FrameKind]]]:
    """Count the bytes of frames by kind that this process writes and reads."""
    sent: Counter[FrameKind] = Counter()
    came: Counter[FrameKind] = Counter()
    write, read = StreamWriter._frame, StreamReader._frame
    head = 5

    def writing(self: StreamWriter, kind: FrameKind, *data: bytes | memoryview) -> None:
        pieces = [bytes(piece) for piece in data]
        sent[kind] += head + sum(map(len, pieces))
        write(self, kind, *pieces)

    def reading(self: StreamReader, kind: FrameKind, data: memoryview) -> Any:
        came[kind] += head + len(data)
        return read(self, kind, data)

    StreamWriter._frame, StreamReader._frame = writing, reading  # type: ignore[method-assign]
    try:
        yield sent, came
    finally:
        StreamWriter._frame, StreamReader._frame = write, read  # type: ignore[method-assign]


def _write(person: Person, folder: str, count: int) -> None:
    for number in range(count):
        person.write(f"{folder}/{number // _FILES_A_FOLDER:04}/{number:06}.txt", f"{folder} {number}\n")


def _release(alice: Person, bob: Person, version: str, lacking: int) -> int:
    """Let alice release something; return how many records bob lacks, about as many as said."""
    # Beside the files: their folders, the root's pages, commit, revision, release, log entry.
    _write(alice, f"more-{version}", max(1, lacking - 7 - lacking // _FILES_A_FOLDER))
    alice.lace("release", version)
    return len(_shared(alice) - _shared(bob))


def _shared(person: Person) -> set[bytes]:
    with Store(person.folder / ".vault" / "store.db") as store:
        return {bytes(row[0]) for row in store.rows("SELECT b.digest FROM shared JOIN body b USING (p)")}


def _forget(person: Person) -> None:
    """Let somebody forget where the others' logs were read."""
    with Store(person.folder / ".vault" / "store.db") as store, store.transaction():
        store.run("DELETE FROM live")


# Advertisements alone


def _tiers(count: int, differences: tuple[int, ...]) -> Iterator[Figure]:
    is_large = count > 500_000
    for lacking in (0, *differences):
        here, there = multiprocessing.Pipe()
        source = multiprocessing.get_context("spawn").Process(target=_source, args=(there, count, lacking))
        source.start()
        try:
            up, down, trips = _learn(here, count, lacking)
        finally:
            here.send_bytes(b"")
            source.join()
        what = f"{count} records, {lacking} differ"
        told = (up + down) / _KB
        if not lacking:
            yield Figure("tiers", what, told, "kB", "the promise", 1, 1)
            yield Figure("tiers", f"{what}: turns", trips, "trips", "the promise", 1, 1)
            continue
        limit = None if is_large else 1  # the promise is of a hundred thousand
        yield Figure("tiers", f"{what}: up", up / _KB, "kB")
        yield Figure("tiers", f"{what}: both ways", told, "kB", "the promise", _WITHOUT[lacking], limit)
        yield Figure("tiers", f"{what}: turns, asking for them included", trips + 1, "trips", "the promise", 4, 1)
        negentropy = _NEGENTROPY_LARGE if is_large else _NEGENTROPY
        yield Figure("tiers", what, told, "kB", "negentropy, published arithmetic", negentropy[lacking])
        yield Figure("tiers", what, told, "kB", "rateless IBLT, published arithmetic", _RATELESS[lacking])


def _shelf(first: int, last: int) -> MemoryShelf:
    fields = (("App", 0, "lace/data"),)
    numbers = range(first, last)
    return MemoryShelf(_SOURCE, {RecordHash("P", blake3(b"%d" % number).digest()): fields for number in numbers})


def _source(line: Connection, count: int, lacking: int) -> None:
    """Be the process that answers; it has the half of what differs that the other lacks."""
    shelf = _shelf(lacking // 2, count + lacking // 2)
    line.send_bytes(pack_offer(answer_hints(shelf, line.recv_bytes(), DEFAULT_LIMITS)))
    while asks := line.recv_bytes():
        line.send_bytes(pack_offer(answer(shelf, read_asks(asks), DEFAULT_LIMITS)))


def _learn(line: Connection, count: int, lacking: int) -> tuple[int, int, int]:
    """Return the bytes up, with what would ask for the records, the bytes down, and the turns."""
    reader = TierReader([_shelf(0, count)])
    said = reader.begin()
    up = down = trips = 0
    while True:
        line.send_bytes(said)
        came = line.recv_bytes()
        up, down, trips = up + len(said), down + len(came), trips + 1
        asks = reader.take(read_offer(came))
        if not asks:
            break
        said = pack_asks(asks)
    difference = reader.difference()
    if (len(difference.added), len(difference.missing)) != (lacking // 2, lacking // 2):
        raise AssertionError("what was learned is not what differs")
    return up + _REQUEST_BYTES * len(difference.added), down, trips
