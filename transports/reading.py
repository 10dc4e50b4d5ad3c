"""Reading a mailbox: head, listing, records (docs/formats.md section 4, "Order at reading"; CYB-17).

The medium is taken to be hostile. A head is bound to its signer, group and drop; runs are bound to the head
by their digests; a record is bound to its own hash. So nothing can be swapped between mailboxes, and damage
costs the records that it hit and nothing else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from itertools import compress, takewhile
from typing import BinaryIO, NamedTuple, cast

from blake3 import blake3

from transports.bundles.bundle import Bases, BundleIndex, BundleReader, Fetched
from transports.errors import BadRun, BadSnapshot, FalseRun
from transports.index.runfile import decode_run
from transports.index.runs import ENTRY, Run, RunRef
from transports.layout import MIB, RUN_RAW_LIMIT, RUN_TABLES_LIMIT, group_directory
from transports.listing import BundleReads, Listing
from transports.mailbox import Mailbox, MailboxMedium
from transports.positioned import Expecting
from transports.proven import Proven
from transports.snapshot import SnapshotHead
from vault.errors import Cancelled, DataError
from vault.frames import MAX_BASES, MAX_DEPTH
from vault.records.errors import RecordError
from vault.records.hashes import RecordHash, Verifier
from vault.records.model import Seal
from vault.records.parse import parse_record

__all__ = ["BasesFrom", "SeenHead", "check_bundle", "fetch", "newest_runs", "read_head", "read_listing", "read_run"]

_MAX_DEPTH = 16  # frames read for one record; a writer's chains are half as long
_KNOWN_BYTES = 8 << 20  # records read last that are kept, for those that rest on them
_REACH_BYTES = MAX_DEPTH * MAX_BASES * MIB  # frames read at most for one that is wanted; a writer closes them at a MiB
_LOOK_BYTES = MIB // 2  # a smaller read is counted as so much, for each is a look at the medium
_HEADS = 64  # heads read last that are not taken apart again, since a visit looks at one several times
_KEPT_HEAD_BYTES = 16 << 10  # of such a head: that of a mailbox has a kilobyte or two
_RUNS = 16  # small runs read last, which a visit looks at to list, to refer to and to fold what they hold
_SMALL_RUN_BYTES, _SMALL_RUN_RAW_BYTES = 16 << 10, 256 << 10  # a hostile one holds a thousand times what it takes
NOT_LISTED = "The mailbox does not list it."


class SeenHead(NamedTuple):
    """A head as it lies on a medium.

    Args:
        head: what it says.
        seal: the sealed record; its hash and number are what `check_number` compares.
    """

    head: SnapshotHead
    seal: Seal

    @property
    def mark(self) -> tuple[int, RecordHash]:
        """Number and hash, for `check_number` and for the settings that remember them."""
        return self.head.number, self.seal.hash


def read_head(mailbox: Mailbox) -> SeenHead | None:
    """Return the verified head of a mailbox, or None if it has none.

    Whether its node is a member, and whether the number rose, is for the caller to say.

    Raises:
        BadSnapshot: it is damaged, or not that node's head for this group and this place.
        FalseSnapshot: it is that node's, and breaks the format.
        PlaceError: the medium is gone.
    """
    place, group, node = mailbox
    data = place.read_head(group, node)
    if data is None:
        return None
    read = _head_of if len(data) <= _KEPT_HEAD_BYTES else _head_of.__wrapped__
    seen = read(data, group, node)
    if seen.head.drop != place.place_id:
        room, key = group_directory(group), node.key.hex()
        where = {"drop": f"the folder {room}/{key}", "git": f"the branch lace/{room}{key}"}.get(place.kind)
        raise _elsewhere(node, hint=_COPIED.format(where) if where is not None else "")
    return seen


_COPIED = "If it was copied here from another place, whoever keeps this one may delete {}."


@lru_cache(maxsize=_HEADS)
def _head_of(data: bytes, group: str, node: Verifier) -> SeenHead:
    """Return what the bytes of a head say, whose signature and form were verified."""
    try:
        record = parse_record(data)
        if not isinstance(record, Seal):
            raise BadSnapshot(f"The head of {node.text} is not sealed.")
        if record.signer != node:
            raise _elsewhere(node)
        return SeenHead(SnapshotHead.read(record, group), record)
    except RecordError as error:
        raise BadSnapshot(f"The head of the mailbox is damaged: {error.message}.") from error


def _elsewhere(node: Verifier, hint: str = "") -> BadSnapshot:
    return BadSnapshot(f"The head in the mailbox of {node.text} belongs to another mailbox or place.", hint=hint)


def read_run(mailbox: Mailbox, ref: RunRef) -> Run:
    """Return one index run of a mailbox after checking its size, digest, form and number of entries.

    Raises:
        MissingFile: it is not there.
        BadRun: it is not the one that the head names.
        FalseRun: it is, and breaks the format.
        PlaceError: the medium is gone.
    """
    with mailbox.open_file(ref.name) as file:
        data = file.read(ref.size + 1)
    if len(data) != ref.size or blake3(data).digest() != ref.digest:
        raise BadRun(f"The index run {ref.name} is damaged: its bytes do not match its digest.")
    with mailbox.place.reveal(cast(BinaryIO, BytesIO(data))) as plain:
        data = plain.read()
    limit = min(RUN_RAW_LIMIT, ref.entries * ENTRY.size + RUN_TABLES_LIMIT)
    try:
        run = _run_of(data, limit)
    except BadRun as error:
        raise FalseRun(error.message) from error
    if len(run) != ref.entries:
        raise FalseRun(f"The index run {ref.name} has another number of entries than its head says.")
    return run


def _run_of(data: bytes, limit: int) -> Run:
    if len(data) <= _SMALL_RUN_BYTES:
        with suppress(BadRun):  # it holds more than is kept; or else it is said below what is wrong
            return _small_run(data, min(limit, _SMALL_RUN_RAW_BYTES))
    return decode_run(data, limit=limit)


@lru_cache(maxsize=_RUNS)
def _small_run(data: bytes, limit: int) -> Run:
    return decode_run(data, limit=limit)


def newest_runs(mailbox: Mailbox, refs: Sequence[RunRef], most: int) -> list[Run]:
    """Return the runs of a mailbox from the newest one back to the first that is larger than `most` bytes.

    None between is left out: what an older run lists may be withdrawn by a newer one.

    Raises:
        MissingFile, BadRun, PlaceError: as `read_run`.
    """
    return [read_run(mailbox, ref) for ref in takewhile(lambda ref: ref.size <= most, reversed(refs))]


def check_bundle(medium: MailboxMedium, file: BinaryIO) -> BundleIndex:
    """Read a whole bundle and return what it holds, with digest and size of the file as it is stored.

    Raises:
        BadBundle, BadRun, BadEnvelope: a byte is not what the writer stored, or the format is broken.
        SealedToOthers: it is encrypted, and its key is not known here.
    """
    plain = medium.reveal(file)
    index = BundleReader(plain).verify_all()
    if plain is file:
        return index
    hasher, size = blake3(), 0
    file.seek(0)
    while piece := file.read(MIB):
        hasher.update(piece)
        size += len(piece)
    return index._replace(digest=hasher.digest(), size=size)


def read_listing(mailbox: Mailbox, head: SnapshotHead, *, seen: Collection[str] = ()) -> Listing:
    """Return everything a mailbox advertises: the unfiltered listing.

    Args:
        mailbox: which one.
        head: its verified head.
        seen: names of runs that the reader dealt with at an earlier visit. They are not read again, so the
            listing then holds what is new, at a cost that follows what changed.

    Raises:
        DataError: a run is missing or damaged; without it the listing would be another one.
        PlaceError: the medium is gone.
    """
    return Listing([read_run(mailbox, ref) for ref in head.runs if ref.name not in seen])


class BasesFrom(NamedTuple):
    """Where the records are found that frames rest on.

    Args:
        here: records the reader has; asked first.
        whole: reads the full listing, asked when such a record is neither here nor in that which is read from.
        most: bytes of frames, stored and raw together, that are read because others rest on them; no bound but that of
            each frame when there is none.
    """

    here: Bases = lambda _record: None
    whole: Callable[[], Listing] | None = None
    most: int | None = None


def fetch(
    medium: MailboxMedium,
    group: str,
    listing: Listing,
    wanted: Collection[RecordHash],
    *,
    cancel: Callable[[], bool] | None = None,
    bases: BasesFrom = BasesFrom(),
    proven: Proven | None = None,
    located: Sequence[BundleReads] | None = None,
) -> Iterator[Fetched]:
    """Yield every wanted record once, in the order in which the medium holds them.

    Memory is bounded by one frame and what is wanted of it, and so is what is read for what that frame rests on
    (faults.md row 13). What is missing or damaged comes as None with a reason, and the rest goes on. Each record
    returned carries its hash rightfully; signatures are for the vault to check.

    Args:
        medium: where its mailboxes lie.
        group: the group id.
        listing: of the mailbox; it may name bundles of other mailboxes here.
        wanted: hashes of records.
        cancel: asked before each frame, also of those that others rest on.
        bases: where it finds what frames were compressed against.
        proven: remembers what was good, and where.
        located: what `listing.locate(wanted)` gives, if the caller asked already.

    Raises:
        PlaceError: the medium went away; what was yielded before is good.
        Cancelled: `cancel` returned True.
    """
    chosen = set(wanted)
    bundles = _Bundles(medium, group, cancel)
    reach = _Reach(bundles, listing, bases)
    for reads in listing.locate(chosen) if located is None else located:
        for found in bundles.read(reads, reach, proven):
            reach.next_frame()
            chosen.difference_update([one.hash for one in found])
            yield from found
    for record in sorted(chosen):
        yield Fetched(record, None, NOT_LISTED)


class _Bundles:
    """The bundles of a group at a medium, read frame by frame.

    Args:
        medium: where they lie.
        group: the group id.
        cancel: asked before each frame.
    """

    def __init__(self, medium: MailboxMedium, group: str, cancel: Callable[[], bool] | None) -> None:
        self._medium = medium
        self._group = group
        self._cancel = cancel

    def read(self, reads: BundleReads, bases: Bases, proven: Proven | None = None) -> Iterator[list[Fetched]]:
        """Yield what is wanted of each frame of a bundle.

        Raises:
            PlaceError, Cancelled: as `fetch`.
        """
        mailbox, name = reads.bundle.mailbox, reads.bundle.name
        try:
            file = self._medium.reveal(self._medium.open_file(self._group, mailbox, name))
        except DataError as error:
            for frame in reads.frames:
                yield [Fetched(wanted.hash, None, error.message, error.code) for wanted in frame.slices]
            return
        with file:
            if isinstance(file, Expecting):
                file.expect((frame.offset, frame.offset + frame.stored) for frame in reads.frames)
            reader = BundleReader(file, bases)
            of_frames = reader.read_frames(reads.frames)
            for frame in reads.frames:
                if self._cancel is not None and self._cancel():
                    raise Cancelled("The transfer was stopped.")
                found = next(of_frames)
                if proven is not None:
                    is_good = [one.record is not None for one in found]
                    proven.add(reads.bundle, frame._replace(slices=tuple(compress(frame.slices, is_good))))
                yield found


class _Reach:
    """Finds records that frames rest on: in the vault, else on the medium, one after the other and never for ever.

    Frames that rest on several others each would otherwise make millions of reads of a small mailbox. What is over the
    bounds is out of reach, which is the damage of the frame that rests on it.
    """

    def __init__(self, bundles: _Bundles, listing: Listing, bases: BasesFrom) -> None:
        self._bundles = bundles
        self._listing = listing
        self._here, self._whole, self._left_of_all = bases
        self._depth = 0
        self._left = _REACH_BYTES  # for the frame that is being read
        self._known: OrderedDict[RecordHash, bytes] = OrderedDict()
        self._bytes = 0

    def next_frame(self) -> None:
        """Let another wanted frame have as much as the one before."""
        self._left = _REACH_BYTES

    def __call__(self, record: RecordHash) -> bytes | None:
        found = self._known.get(record)
        if found is not None:
            self._known.move_to_end(record)
            return found
        found = self._here(record)
        if found is None and self._depth < _MAX_DEPTH:
            self._depth += 1
            try:
                found = self._read(record)
            finally:
                self._depth -= 1
        if found is not None:
            self._known[record] = found
            self._bytes += len(found)
            while self._bytes > _KNOWN_BYTES:
                self._bytes -= len(self._known.popitem(last=False)[1])
        return found

    def _read(self, record: RecordHash) -> bytes | None:
        if record not in self._listing and self._whole is not None:
            self._listing, self._whole = self._whole(), None
        for reads in self._listing.locate({record}):
            if not self._may_read(reads):
                return None
            for (fetched,) in self._bundles.read(reads, self):
                return fetched.record
        return None

    def _may_read(self, reads: BundleReads) -> bool:
        """Tell whether the bounds allow to read a frame, and count it."""
        size = max(sum(frame.stored + frame.raw for frame in reads.frames), _LOOK_BYTES)
        if size > self._left or (self._left_of_all is not None and size > self._left_of_all):
            return False
        self._left -= size
        if self._left_of_all is not None:
            self._left_of_all -= size
        return True
