"""The listing of a mailbox: the fold of its runs, with withdrawals gone (docs/formats.md section 4)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from math import isqrt
from struct import Struct
from typing import NamedTuple

from transports.bundles.bundle import FrameReads, Slice
from transports.index.merging import merge_runs
from transports.index.runs import ENTRY, BundleRef, Run, RunBuilder, RunEntry
from vault.records.hashes import KINDS, RecordHash

__all__ = ["BundleReads", "Listing"]

_new = tuple.__new__  # kind and digest of an entry were checked when the run was read
_DIGEST_AT = 16  # of an entry; its last field
_FRAME, _FRAME_AT = Struct("<I"), 4  # ... and the number of its frame
_BUCKET_FRAMES = 64
_SCAN_SHARE = 16  # above one wanted record in so many listed, one pass beats that many searches


class BundleReads(NamedTuple):
    """What is wanted of one bundle: its frames in the order of offsets."""

    bundle: BundleRef
    frames: tuple[FrameReads, ...]


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
        frame_at = _FRAME.unpack_from
        kinds = {ord(kind): kind for kind in KINDS}
        is_asked = {number: [belongs(kind, app) for app in apps] for number, kind in kinds.items()}
        # Several frames share a bucket: a chunk of a large file has one of its own, and a bucket takes some 160 bytes.
        buckets: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
        for index, (kind, _, app, frame, _, _, _) in enumerate(ENTRY.iter_unpack(entries)):
            if is_asked[kind][app]:
                buckets[frame // _BUCKET_FRAMES].append(index)
        for bucket in sorted(buckets):
            for index in sorted(buckets.pop(bucket), key=lambda index: frame_at(entries, index * size + _FRAME_AT)):
                kind, _, app, _, _, _, digest = ENTRY.unpack_from(entries, index * size)
                yield _new(RecordHash, (kinds[kind], digest)), apps[app]

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

    def locate(self, wanted: Collection[RecordHash]) -> list[BundleReads]:
        """Group wanted records by bundle and frame, in reading order; what is not listed is left out."""
        frames: defaultdict[tuple[BundleRef, int, int, int], list[Slice]] = defaultdict(list)
        for _, (record, _, location) in self.find(wanted):
            if location is not None and location.bundle is not None:
                key = (location.bundle, location.frame_offset, location.frame_stored, location.frame_raw)
                frames[key].append(Slice(record, location.offset, location.length))
        bundles: defaultdict[BundleRef, list[FrameReads]] = defaultdict(list)
        for (bundle, offset, stored, raw), slices in sorted(frames.items()):
            ordered = tuple(sorted(slices, key=lambda wanted: wanted.offset))
            bundles[bundle].append(FrameReads(offset, stored, raw, ordered))
        return [BundleReads(bundle, tuple(reads)) for bundle, reads in bundles.items()]

    def batches(self, wanted: Collection[RecordHash], size: int) -> Iterator[Collection[RecordHash]]:
        """Yield what is listed of the wanted records, up to `size` at a time, in the order the medium holds them.

        A few are yielded as they are, so that they cost what they are and not what is listed.
        """
        if len(wanted) <= size:
            yield wanted
            return
        chosen = set(wanted)
        listed = (record for record, _ in self.by_place() if record in chosen)
        while part := list(islice(listed, size)):
            yield part

    def find(self, wanted: Collection[RecordHash]) -> Iterator[tuple[int, RunEntry]]:
        """Yield App and location of what is listed of the wanted records, each with its number for `only`."""
        if len(wanted) * _SCAN_SHARE > len(self):
            chosen = set(wanted)
            for index, (kind, _, _, _, _, _, digest) in enumerate(ENTRY.iter_unpack(self._run.entries)):
                if (chr(kind), digest) in chosen:
                    yield index, self._run.entry(index)
            return
        for record in wanted:
            if (at := self._search(record)) is not None:
                yield at, self._run.entry(at)

    def only(self, numbers: Iterable[int]) -> Run:
        """Return a run of some of what is listed, given by numbers of `find`."""
        entries, size = self._run.entries, ENTRY.size
        chosen = b"".join([entries[number * size : (number + 1) * size] for number in sorted(numbers)])
        return merge_runs([Run((), self._run.apps, self._run.bundles, self._run.frames, chosen)])

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
