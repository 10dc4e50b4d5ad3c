"""The listing of a mailbox: the fold of its runs, with withdrawals gone (docs/formats.md section 4)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from io import BytesIO
from itertools import groupby
from math import isqrt
from operator import itemgetter
from struct import Struct
from typing import NamedTuple

from transports.bundles.bundle import FrameReads, Slice
from transports.index.merging import merge_runs
from transports.index.runs import ENTRY, FRAME, KINDS, BundleRef, Run, RunBuilder, RunEntry
from vault.records.hashes import RecordHash

__all__ = ["BundleReads", "Listing", "Read", "in_bundles"]

_new = tuple.__new__  # kind and digest of an entry were checked when the run was read
_DIGEST_AT = 16  # of an entry; its last field
_FRAME, _FRAME_AT = Struct("<I"), 4  # ... and the number of its frame
_BUCKET_FRAMES, _FEW_FRAMES = 64, 4_096
_SCAN_SHARE = 16  # above one wanted record in so many listed, one pass beats that many searches


class BundleReads(NamedTuple):
    """What is wanted of one bundle: its frames in the order of offsets."""

    bundle: BundleRef
    frames: tuple[FrameReads, ...]


Read = tuple[BundleRef, FrameReads]  # a frame of a bundle, and what is wanted of it


def in_bundles(reads: Iterable[Read]) -> list[BundleReads]:
    """Return what is wanted of frames, those of a bundle one after the other, by bundle."""
    return [
        BundleReads(bundle, tuple(frame for _, frame in part)) for bundle, part in groupby(reads, key=itemgetter(0))
    ]


class Listing:
    """Every record a mailbox advertises, and where it lies.

    Args:
        runs: in folding order: a later entry for a record wins over an earlier one.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._run = merge_runs(runs, covers=runs[0].covers if len(runs) == 1 else (), is_base=True)
        self._count = len(self._run)
        self._spread = isqrt(self._count)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, record: RecordHash) -> bool:
        return self._search(record) is not None

    def items(self) -> Iterator[tuple[RecordHash, str]]:
        """Yield hash and App of every record, sorted by digest and kind."""
        apps = self._run.apps
        for kind, _, app, _, _, _, digest in ENTRY.iter_unpack(self._run.entries):
            yield RecordHash(chr(kind), digest), apps[app]

    def by_place(
        self, belongs: Callable[[str, str], bool] = lambda _kind, _app: True
    ) -> Iterator[tuple[RecordHash, str]]:
        """Yield hash and App of every record in the order in which the medium holds them; four bytes a record.

        Args:
            belongs: tells by kind and App which records to yield.
        """
        entries, apps, size = self._run.entries, self._run.apps, ENTRY.size
        is_asked = {number: [belongs(kind, app) for app in apps] for number, kind in KINDS.items()}
        rows = enumerate(ENTRY.iter_unpack(entries))
        asked = ((index, frame) for index, (kind, _, app, frame, _, _, _) in rows if is_asked[kind][app])
        for _, indexes in self._by_frame(asked):
            for index in indexes:
                kind, _, app, _, _, _, digest = ENTRY.unpack_from(entries, index * size)
                yield _new(RecordHash, (KINDS[kind], digest)), apps[app]

    def entry(self, record: RecordHash) -> RunEntry | None:
        """Return App and location of a record, or None if it is not listed."""
        index = self._search(record)
        return None if index is None else self._run.entry(index)

    def bundles(self) -> tuple[BundleRef, ...]:
        """Return the bundles that hold at least one listed record, sorted by mailbox and name."""
        return tuple(bundle for bundle in self._run.bundles if bundle is not None)

    def of_bundles(self, bundles: Collection[BundleRef]) -> dict[RecordHash, str]:
        """Return hash and App of the records that lie in some bundles."""
        entries = (self._run.entry(index) for index in range(self._count)) if bundles else ()
        return {record: app for record, app, at in entries if at is not None and at.bundle in bundles}

    def without(self, records: Iterable[tuple[RecordHash, str]]) -> Listing:
        """Return what is listed besides some records, given by hash and App."""
        builder = RunBuilder()
        for record, app in records:
            builder.withdraw(record, app)
        return Listing([self._run, builder.build()])

    def reads(self, wanted: Collection[RecordHash]) -> Iterator[Read]:
        """Yield where wanted records lie, in reading order; what is not listed is left out."""
        entries, size, unpack = self._run.entries, ENTRY.size, ENTRY.unpack_from
        for number, indexes in self._by_frame(self._find(wanted)):
            bundle, start, stored, raw = FRAME.unpack_from(self._run.frames, number * FRAME.size)
            ref = self._run.bundles[bundle]
            if ref is None:
                continue
            slices = []
            for index in indexes:
                kind, _, _, _, offset, length, digest = unpack(entries, index * size)
                slices.append(_new(Slice, (_new(RecordHash, (KINDS[kind], digest)), offset, length)))
            yield ref, FrameReads(start, stored, raw, tuple(sorted(slices, key=itemgetter(1))))

    def locate(self, wanted: Collection[RecordHash]) -> list[BundleReads]:
        """Return where wanted records lie by bundle and frame, in reading order; what is not listed is left out."""
        return in_bundles(self.reads(wanted))

    def only(self, wanted: Collection[RecordHash]) -> Run:
        """Return a run of what is listed of the wanted records; its tables are those of all."""
        entries, size = memoryview(self._run.entries), ENTRY.size
        chosen = BytesIO()  # which gives out what was written without a copy
        for index, _ in self._find(wanted):
            chosen.write(entries[index * size : (index + 1) * size])
        return replace(self._run, covers=(), entries=chosen.getvalue())

    def _find(self, wanted: Collection[RecordHash]) -> Iterator[tuple[int, int]]:
        """Yield the number of the entry of each wanted record that is listed, with that of its frame, in order."""
        entries, size = self._run.entries, ENTRY.size
        if len(wanted) * _SCAN_SHARE > len(self):
            chosen: Container[object] = wanted if isinstance(wanted, Set) else set(wanted)
            for index, (kind, _, _, frame, _, _, digest) in enumerate(ENTRY.iter_unpack(entries)):
                if (KINDS[kind], digest) in chosen:
                    yield index, frame
            return
        for at in sorted(at for record in wanted if (at := self._search(record)) is not None):
            yield at, _FRAME.unpack_from(entries, at * size + _FRAME_AT)[0]

    def _by_frame(self, found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, Iterable[int]]]:
        """Yield each frame that some entries name, in order, with the numbers of these: four bytes an entry."""
        entries, size, frame_at = self._run.entries, ENTRY.size, _FRAME.unpack_from
        # Several of many frames share a bucket: a chunk of a large file has one of its own, and a bucket takes some
        # 160 bytes.
        share = _BUCKET_FRAMES if len(self._run.frames) > _FEW_FRAMES * FRAME.size else 1
        buckets: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
        for index, frame in found:
            buckets[frame // share].append(index)
        for bucket in sorted(buckets):
            if share == 1:
                yield bucket, buckets.pop(bucket)
                continue
            frames: defaultdict[int, list[int]] = defaultdict(list)
            for index in buckets.pop(bucket):
                frames[frame_at(entries, index * size + _FRAME_AT)[0]].append(index)
            yield from sorted(frames.items())

    def _search(self, record: RecordHash) -> int | None:
        if not self._count:
            return None
        entries, size = self._run.entries, ENTRY.size
        # Digests are spread evenly, so that a digest says about where it stands; where it does not, a search does.
        guess = int.from_bytes(record.digest[:4], "big") * self._count >> 32
        start = max(guess - self._spread, 0) * size
        at = entries.find(record.digest, start, (guess + self._spread + 1) * size)
        if at >= 0 and (at - _DIGEST_AT) % size == 0 and entries[at - _DIGEST_AT] == ord(record.kind):
            return (at - _DIGEST_AT) // size
        key = record.digest + record.kind.encode()

        def key_at(index: int) -> bytes:
            start = index * size
            return entries[start + _DIGEST_AT : start + size] + entries[start : start + 1]

        index = bisect_left(range(len(self)), key, key=key_at)
        return index if index < len(self) and key_at(index) == key else None
