"""Finding damage that only the places show, and healing what they can heal (`lace fsck`; APP-13, CYB-11).

`vault.fsck.repair` makes anew what follows from the records. What it had to put aside is fetched here from whichever
place has it, and taken only if its bytes are the very record that is missing. My own mailboxes are `lazy.visits.rot`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress

from lazy.files import write_lazy_files
from lazy.live.asking import ask_for
from lazy.places.media import open_medium
from lazy.places.registry import Place, places
from lazy.receiving.refusals import ask_again
from lazy.visits.markers import heal_git_ids, heal_markers, markers
from lazy.visits.rot import (
    as_far_as_it_goes,
    found_rotten,
    heal,
    not_looked_at,
    settle,
    tidy,
)
from transports.address import AddressKind
from transports.mailbox import Mailbox, MailboxMedium
from transports.reading import BasesFrom, fetch, read_head, read_listing
from vault.desk_folders import desks, folder_of, within
from vault.desks.ports import Objects
from vault.desks.scan import Ports, Scanning
from vault.desks.worktree import snapshot
from vault.errors import Cancelled, LaceError
from vault.fsck.bodies import INTEGRITY
from vault.fsck.check import WRONG_TYPE, check
from vault.fsck.repair import forget_put_aside, put_aside, repair, was_put_aside
from vault.fsck.report import BadThing, FsckReport
from vault.readable_files import was_noted
from vault.records import Plex, RecordHash, Seal, parse_record
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["examine", "mend"]

_NAME = re.compile(r"[BPS]\.[0-9A-Z_a-z~]{43}\.H3")  # of a record, in what is said of it
_CUT_OFF = "The record {} was put aside, and the repair was cut off before it was looked for: lace fsck --repair"
_NOWHERE = (
    "No place in reach has the record {}; sync when one has. What was never shared, such as an audit entry or a draft, "
    "only a backup of this vault has."
)


def examine(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Look at the vault, and at my own mailboxes on the sticks in reach, and change nothing.

    Raises:
        Locked, Cancelled: as `vault.fsck.check.check`.
    """
    report = check(vault, watch=watch)
    if any(bad.code in {WRONG_TYPE, INTEGRITY} for bad in report.bad):
        return report  # where the places are is among what cannot be read
    rotten = tuple(bad for _, _, found in found_rotten(vault, watch) for bad in found) + tuple(
        bad for _, bad in markers(vault)
    )
    rotten += tuple(BadThing("record", record.text, "lost", _CUT_OFF.format(record)) for record in put_aside(vault))
    notes = (*report.notes, *not_looked_at(vault))
    return report._replace(ok=report.ok and not rotten, bad=(*report.bad, *rotten), notes=notes)


def mend(vault: Vault, *, watch: Watch = Watch()) -> FsckReport:
    """Make anew what follows from the records, fetch records that were damaged, publish anew what rotted.

    What was done stands in the audit trail. What no place in reach has is named, and stays put aside. What was refused
    by who belonged is asked for again at the next sync: earlier versions did not where that had changed.

    Raises:
        Locked, Cancelled, StoreUnwritable, NotWritable, DiskFull, StoreDamaged: as `vault.fsck.repair.repair`.
    """
    done = repair(vault, watch=watch)
    with vault.writing(receiving=True) as w:
        ask_again(w)
    fetched = _fetch(vault, done.lost, watch)
    fetched |= _from_folder(vault, [record for record in done.lost if record not in fetched], watch)
    renewed, refused = heal_git_ids(vault)
    healed = [*heal_markers(vault), *renewed]
    published, rotten = heal(vault, watch)
    healed += published
    tidied = tidy(vault, watch)
    settle(vault, is_torn=bool(done.repaired))
    lost = [record for record in done.lost if record not in fetched]
    missing = tuple(BadThing("record", record.text, "lost", _NOWHERE.format(record)) for record in lost)
    if done.repaired or healed or tidied or was_put_aside(vault):
        with suppress(LaceError):  # a vault that may not sign yet says so at the next sync
            with vault.writing() as w:
                w.audit(
                    "lace-repair",
                    vault.name,
                    {
                        "repaired": str(len(done.repaired)),
                        "fetched": str(len(fetched)),
                        "lost": str(len(lost)),
                        "tidied": str(tidied),
                        "published": ", ".join(bad.name for bad in healed) or "nothing",
                    },
                    relates_to=[record.text for record in (*sorted(fetched, key=str), *lost)][:64],
                )
            forget_put_aside(vault)  # not before the trail names it: of its own last entry nothing else tells
    if was_noted(vault):
        with suppress(LaceError):  # a folder that cannot be written is named by the check
            write_lazy_files(vault)
    after = check(vault, watch=watch)
    rotten += [bad for _, bad in markers(vault)]
    bad = (*after.bad, *missing, *rotten)
    left = {(thing.kind, thing.name) for thing in bad}
    notes = (*after.notes, *not_looked_at(vault), *refused)
    gone = [thing for thing in (*done.repaired, *done.bad) if (thing.kind, thing.name) not in left]
    nowhere = {record.text for record in lost}
    repaired = [thing for thing in gone if nowhere.isdisjoint(_NAME.findall(thing.message))]
    return FsckReport(not bad, after.records, bad, (*repaired, *healed), done.lost, notes)


class _NoCache:
    """A directory cache that knows nothing, so that every file is read."""

    def load(self, directory: str, /) -> bytes | None:
        """Return nothing."""
        del directory
        return None

    def save(self, directory: str, blob: bytes, /) -> None:
        """Keep nothing."""

    def drop(self, directory: str, /) -> None:
        """Forget nothing."""


class _Wanted:
    """A sink that keeps nothing but the records that are missing."""

    def __init__(self, wanted: Iterable[RecordHash]) -> None:
        self._wanted = set(wanted)
        self.found: list[Plex] = []

    def add(self, plex: Plex, /) -> None:
        """Take a record."""
        if plex.hash in self._wanted:
            self.found.append(plex)


def _from_folder(vault: Vault, wanted: Sequence[RecordHash], watch: Watch) -> set[RecordHash]:
    """Make content anew that was never shared and whose files still lie in the folders as they were."""
    sink = _Wanted(wanted)
    ports = Ports(Objects(vault.store, sink, vault.group), _NoCache(), vault.around.now_ns)
    for desk in desks(vault) if wanted else ():
        with as_far_as_it_goes():
            without = within(vault, desk.name)
            how = Scanning(cancel=watch.cancelled, without=without, home=vault.dot)
            snapshot(folder_of(vault, desk.name), ports, how=how)
    if sink.found:
        with vault.writing(receiving=True) as w:
            w.put(sink.found)
    return {plex.hash for plex in sink.found}


def _fetch(vault: Vault, wanted: Sequence[RecordHash], watch: Watch) -> set[RecordHash]:
    """Fetch records from any place and any mailbox there; return those that are here again."""
    found: set[RecordHash] = set()
    for place in places(vault) if wanted else ():
        try:
            for record in _offered_at(vault, place, [r for r in wanted if r not in found], watch):
                with vault.writing(receiving=True) as w:
                    w.put([record])
                found.add(record.hash)
        except Cancelled:
            raise
        except LaceError:
            continue  # another place may have it
    return found


def _offered_at(vault: Vault, place: Place, wanted: Sequence[RecordHash], watch: Watch) -> Iterator[Seal | Plex]:
    """Yield verified records that a place has, of whatever kind it is."""
    if place.kind in {AddressKind.LIVE, AddressKind.VAULT}:
        yield from ask_for(vault, place, wanted, watch)
    else:
        with closing(open_medium(vault, place)) as medium:
            yield from _offered(vault, medium, wanted, watch)


def _offered(vault: Vault, medium: MailboxMedium, wanted: Sequence[RecordHash], watch: Watch) -> Iterator[Seal | Plex]:
    """Yield verified records that some mailbox of a place has."""
    left = set(wanted)
    for node in medium.nodes(vault.group) if left else ():
        watch.cancelled()
        try:
            mailbox = Mailbox(medium, vault.group, node)
            head = read_head(mailbox)
            if head is None:
                continue
            listing = read_listing(mailbox, head.head)
            for fetched in fetch(
                medium,
                vault.group,
                listing,
                [r for r in left if r in listing],
                cancel=watch.is_stopped,
                bases=BasesFrom(vault.store.stored),
            ):
                if fetched.record is None:
                    continue
                record = parse_record(fetched.record)
                if record.hash == fetched.hash and isinstance(record, Seal | Plex):
                    left.discard(record.hash)
                    yield record
        except Cancelled:
            raise
        except LaceError:
            continue  # another mailbox may have it
