"""Records carried by hand: taken out as a stream of stored records, and put in as carefully as a sync does.

A file put in is read several times, since evidence decides what else may be stored: sealed records first, then
trees that they reach, then content that those reach. What nothing reaches is not stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from lazy.address import several_revisions
from lazy.belonging.forks import forks
from lazy.conflicts import note_version_conflicts
from lazy.people import node_of
from lazy.problems import damaged_here
from lazy.receiving.receive import Receiver
from lazy.receiving.refusals import Refusal
from vault.audit.entries import read_audit
from vault.audit.trail import gaps, way_back
from vault.desks.pages import listed
from vault.errors import CallerError, DataError
from vault.files import FileMissing, Unreadable, reason_of
from vault.names import BadVersion, Version
from vault.nodelog import reaches
from vault.profile import DATA_APP, TREE_APP, AuditRecord, read
from vault.records import Plex, Record, RecordHash, Seal, iter_records, parse_record
from vault.records.errors import RecordError
from vault.revisions.candidates import candidates, parse_record_address
from vault.revisions.cases import Address, parse_address
from vault.revisions.history import Head, line_head, releases, revision_of, revisions
from vault.revisions.ranges import range_answer
from vault.store.packread import PackDamaged
from vault.typed import shown
from vault.vault import Vault
from vault.watch import Watch

__all__ = [
    "NoSuchRecord",
    "PutResult",
    "SelectsNothing",
    "SeveralRecords",
    "TooManyEntries",
    "export",
    "named",
    "put",
    "show",
]

_END = r"[0-9]{1,10}|S\.[^.@]+\.H3"  # a number, or a commit where several revisions have it
_RANGE = re.compile(rf"([^@]+)@({_END})\.\.({_END})", re.ASCII)

_ENTRIES_MORE = 1_000  # audit entries in a file beside two for each that is missing, as copies of a vault have them
_BATCH_RECORDS = 500
_BATCH_BYTES = 2 << 20


class SeveralRecords(CallerError):
    """A coordinate names several records, and one was asked for."""

    code = "several-records"
    exit_code = 2
    hint = "Add [0] for the newest, [1] for the one before, or ask for all of them: lace record export ADDRESS"


class NoSuchRecord(CallerError):
    """No record of that name is here."""

    code = "no-such-record"
    exit_code = 2
    hint = "Name it by its whole hash text: lace log -v shows those of commits and releases."


class SelectsNothing(CallerError):
    """A selector that no record here answers to."""

    code = "selects-nothing"
    exit_code = 2
    hint = "Name `shared`, `forks`, an App such as lace/release, a release such as main@1.0.0, or a hash."


class TooManyEntries(CallerError):
    """A file with many more audit entries than are missing in the trail here."""

    code = "too-many-entries"
    exit_code = 2
    hint = "Nothing was put in. Take what a backup of this very vault has: there lace record export lace/audit > FILE"


class PutResult(NamedTuple):
    """What became of a stream of records.

    Args:
        received: stored and new here.
        known: were here before.
        refused: broke a rule, or come from a stranger.
        unreached: valid, and nothing that counts here reaches them.
    """

    received: tuple[RecordHash, ...]
    known: int
    refused: tuple[Refusal, ...]
    unreached: int


def show(vault: Vault, text: str) -> bytes:
    """Return the stored bytes of a record; a Plex may also be named that rests inside its Seal.

    Args:
        vault: where from.
        text: a hash text, or an address: `////HASH` or `//GROUP//APP//NAME[selector]` (FAC-26, FAC-27).

    Raises:
        NoSuchRecord: the text names nothing, or it is not here.
        SeveralRecords: a coordinate with several candidates; none of them is chosen for the person.
        BadAddress: the text starts like an address and is none.
    """
    record = named(vault, text)
    stored = vault.store.stored(record)
    if stored is None and record.kind == "P":
        rows = vault.store.rows("SELECT b.bytes FROM rec r JOIN body b USING (p) WHERE r.plex = ?", record.digest)
        sealed = parse_record(bytes(rows[0][0]), verify=False) if rows else None
        stored = sealed.plex.encode() if isinstance(sealed, Seal) else None
    if stored is None:
        raise NoSuchRecord(f"The record {record} is not here.")
    return stored


def named(vault: Vault, text: str) -> RecordHash:
    """Return the record that a hash text or an address names, here or not.

    Raises:
        NoSuchRecord: the text is no hash, or no record here stands at the address.
        SeveralRecords: a coordinate with several candidates.
        BadAddress: the text starts like an address and is none.
    """
    if text.startswith("//"):
        return _at(vault, text)
    try:
        return RecordHash.parse(text)
    except RecordError as error:
        raise NoSuchRecord(f"{shown(text)} is not a record's hash text.") from error


def _at(vault: Vault, text: str) -> RecordHash:
    """Return the one record that an address names."""
    address = parse_record_address(text)
    if isinstance(address, RecordHash):
        return address
    found = candidates(vault.store, address)
    if not found:
        raise NoSuchRecord(f"No record here stands at {text[:200]}.")
    if len(found) > 1:
        raise SeveralRecords(f"{len(found)} records stand at {text[:200]}.")
    return found[0]


def export(vault: Vault, selector: str) -> Iterator[bytes]:
    """Yield the stored bytes of what a selector names, evidence before what it reaches.

    Args:
        vault: where from.
        selector: `shared` (all that friends get), an App such as `lace/release`, `[PEER/]DESK@A..B` for what is new
            between two revisions of a line, each a number or the hash of its commit, `DESK@VERSION` or a record's hash,
            the last two with everything they reach; `forks` or `PEER/forks` for the proofs of forked logs;
            `//GROUP//APP//NAME[selector]` for the records at a coordinate, the newest first (FAC-29).

    Raises:
        SelectsNothing: no record here answers to it.
        BadAddress: it starts like an address and is none.
        SeveralRevisions: an end of a range is a number that several revisions have; the hint names each.
        PackDamaged: after all the others, where some are not whole here (REC-5).
    """
    if selector == "forks" or selector.endswith("/forks"):
        proofs = forks(vault, node_of(vault, selector.removesuffix("/forks")) if "/" in selector else None)
        if not proofs:
            raise SelectsNothing("No log that is known here forked.")
        yield from (proof.encode() for proof in proofs)
        return
    positions = list(_positions(vault, selector))
    if not positions:
        raise SelectsNothing(f"Nothing here answers to {selector!r}.")
    damaged: set[RecordHash] = set()
    for p in positions:
        for kind, digest in vault.store.rows("SELECT kind, digest FROM body WHERE p = ?", p):
            stored = vault.store.stored_or_none(record := RecordHash(str(kind), bytes(digest)))
            if stored is not None:
                yield stored
            elif vault.store.position(record) is not None:  # or it was let go meanwhile
                damaged.add(record)
    if damaged:
        raise PackDamaged(damaged_here(damaged).message)


def _positions(vault: Vault, selector: str) -> Iterable[int]:
    if selector.startswith("//"):
        return _addressed(vault, selector)
    if (span := _RANGE.fullmatch(selector)) is not None:
        return _between(vault, parse_address(span[1]), span[2], span[3])
    if selector == "shared":
        rows = vault.store.rows("SELECT p FROM shared ORDER BY p")
        return [int(str(row[0])) for row in rows]
    if "/" in selector and "@" not in selector:
        rows = vault.store.rows("SELECT r.p FROM rec r JOIN sym s ON s.id = r.app WHERE s.s = ? ORDER BY r.p", selector)
        return [int(str(row[0])) for row in rows]
    return _closure(vault, _roots(vault, selector))


def _addressed(vault: Vault, text: str) -> list[int]:
    address = parse_record_address(text)
    if isinstance(address, RecordHash):
        return _closure(vault, [address])
    found = (vault.store.position(record) for record in candidates(vault.store, address))
    return [position for position in found if position is not None]


def _between(vault: Vault, address: Address, start: str, end: str) -> list[int]:
    """Return the positions of what is new between two revisions of a line (CLAY-54)."""
    node = node_of(vault, address.peer) if address.peer else vault.node.text
    head = line_head(vault.store, node, address.desk)
    top = head.number if head else 0
    ends: list[int | Head] = []
    for word, range_with in ((start, f"{address}@{{}}..{end}"), (end, f"{address}@{start}..{{}}")):
        if not word.isdecimal():
            ends.append(_commit_on(vault, node, address, word))
            continue
        found = revisions(vault.store, node, address.desk, min(int(word), top))
        if len(found) > 1:
            raise several_revisions(f"{address}@{found[0].number}", [range_with.format(one.commit) for one in found])
        ends.append(int(word))
    first, last = (one if isinstance(one, int) else one.number for one in ends)
    named = [one for one in ends if isinstance(one, Head)]
    answer = range_answer(vault.store, node, address.desk, first, last, named=named)
    positions = (vault.store.position(record) for record in answer.records())
    return [position for position in positions if position is not None]


def _commit_on(vault: Vault, node: str, address: Address, text: str) -> Head:
    """Return the revision of a line that is a commit.

    Raises:
        NoSuchRecord: none is.
    """
    try:
        found = revision_of(vault.store, node, address.desk, RecordHash.parse(text))
    except RecordError:
        found = None
    if found is None:
        raise NoSuchRecord(f"{address} has no revision that is the commit {text[:60]}.")
    return found


def _roots(vault: Vault, selector: str) -> list[RecordHash]:
    desk, at, text = selector.rpartition("@")
    if at:
        try:
            version = Version.parse(text)
        except BadVersion:
            return []
        return [release.hash for release in releases(vault.store, desk, version=version)]
    try:
        return [RecordHash.parse(selector)]
    except RecordError:
        return []


def _closure(vault: Vault, roots: list[RecordHash]) -> list[int]:
    """Return the positions of records and everything they reach, as far as it is here."""
    found: dict[int, None] = {}
    seen: set[tuple[RecordHash, bool]] = set()
    frontier = [(root, True) for root in roots]
    while frontier:
        following: list[tuple[RecordHash, bool]] = []
        for want in frontier:
            p = vault.store.position(want[0])
            if want in seen or p is None:
                continue
            seen.add(want)
            found[p] = None
            following += _reached(vault, *want)
        frontier = following
    return list(found)


def _reached(vault: Vault, record: RecordHash, with_content: bool) -> list[tuple[RecordHash, bool]]:
    stored = vault.store.stored_or_none(record)
    value = parse_record(stored, verify=False) if stored is not None else None
    if isinstance(value, Plex) and value.app == TREE_APP:
        return [(child, True) for child in listed(value.blob.data)]
    profile = read(value) if isinstance(value, Seal | Plex) else None
    return [] if profile is None else list(reaches(profile, with_content=with_content))


def put(vault: Vault, path: Path, watch: Watch = Watch()) -> PutResult:
    """Put the records of a file in, each validated whole and only if somebody who belongs vouches for it (LAZ-63).

    Of audit entries those are taken that the trail here lost: a backup of this vault has them, and nobody else.

    Raises:
        RecordError: the file holds something else; nothing was stored.
        TooManyEntries: it holds many more audit entries than are missing; nothing was stored.
        FileMissing, Unreadable: it cannot be read.
        Cancelled: the person stopped it; what was stored stays.
    """
    everything = {record.hash for record in _records(path)}
    known = len(vault.store.have(everything))
    regained = _regain(vault, path, watch)
    receiver = Receiver(vault, path.name)
    _pass(receiver, path, watch, lambda record: _app(record) not in {DATA_APP, TREE_APP})
    _pass(receiver, path, watch, lambda record: _app(record) == TREE_APP and receiver.wants(record.hash, TREE_APP))
    while holes := receiver.holes.all() & everything:
        _pass(receiver, path, watch, lambda record, holes=holes: record.hash in holes)  # type: ignore[misc]
        if holes & receiver.holes.all():
            break  # what was refused stays a hole
    receiver.gather(watch)
    with vault.store.proofs.by(lambda _read: watch.cancelled()), vault.writing() as w:
        receiver.finish(w)
        w.store.settle(vault.node.text, vault.founding)
        note_version_conflicts(w, vault)
        w.audit("lazy-pull", path.name, {"received": str(len(receiver.received) + len(regained))})
    received, refused = (*regained, *receiver.received), tuple(receiver.refusals)
    left = everything - {refusal.hash for refusal in refused} - vault.store.have(everything)
    return PutResult(received, known, refused, len(left))


def _regain(vault: Vault, path: Path, watch: Watch) -> list[RecordHash]:
    """Store the audit entries of a file that lead on where the trail here has a gap; return which.

    Raises:
        TooManyEntries: it has many more than can be missing.
    """
    missing = gaps(vault)
    count = sum(last - first + 1 for first, last, _ in missing)
    most = _ENTRIES_MORE + 2 * count
    offered: dict[RecordHash, RecordHash | None] = {}
    for record in _records(path) if missing else ():
        watch.cancelled()
        if not isinstance(record, Seal) or record.plex.app != AuditRecord.APP or not record.plex.name.isdecimal():
            continue
        if any(first <= int(record.plex.name) <= last for first, last, _ in missing):
            with suppress(DataError):
                offered[record.hash] = read_audit(record).parent
        if len(offered) > most:
            raise TooManyEntries(f"{path.name} offers more than {most} entries for the {count} missing in the trail.")
    found = way_back(vault, offered)
    wanted = set(found)
    records = (record for record in _records(path) if isinstance(record, Seal) and record.hash in wanted)
    while batch := list(islice(records, _BATCH_RECORDS if wanted else 0)):
        with vault.writing(receiving=True) as w:
            w.put(batch)
    return found


def _pass(receiver: Receiver, path: Path, watch: Watch, wanted: Callable[[Record], bool]) -> None:
    """Hand those records of the file over that are wanted and not here, in batches."""
    batch: list[tuple[RecordHash, bytes]] = []
    size = done = 0
    for record in _records(path):
        watch.cancelled()
        if not wanted(record) or receiver.vault.store.position(record.hash) is not None:
            continue
        stored = record.encode()
        batch.append((record.hash, stored))
        size += len(stored)
        done += 1
        watch.progress(done, 0, "put")
        if len(batch) >= _BATCH_RECORDS or size >= _BATCH_BYTES:
            receiver.take(batch)
            batch, size = [], 0
    receiver.take(batch)


def _app(record: Record) -> str:
    """Return the App of an unsigned record; a Seal or a bare Blob has none here."""
    return record.app if isinstance(record, Plex) else ""


def _records(path: Path) -> Iterator[Record]:
    try:
        with path.open("rb") as file:
            yield from iter_records(file)
    except FileNotFoundError as error:
        raise FileMissing(f"{path} does not exist.") from error
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {reason_of(error)}.") from error
