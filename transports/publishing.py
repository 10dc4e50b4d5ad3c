"""Publishing: bring a mailbox from the state its head names to a new one (architecture decision 4).

Bundles and runs only; the caller seals and publishes the head, and only then discards what became obsolete.
Nothing changed means nothing written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from transports.bundles.bundle import Near
from transports.bundles.bundling import Given, write_bundles
from transports.index.merging import MAX_RUN_ENTRIES, merge_runs, runs_to_merge
from transports.index.runs import BundleRef, Run, RunBuilder, RunRef
from transports.layout import BUNDLE_NAME, MIB
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxWriter
from transports.reading import check_bundle, read_run
from vault.errors import Cancelled, DataError
from vault.records.hashes import RecordHash, Verifier
from vault.store.at_hand import DigestTable

__all__ = ["Addition", "Gone", "Publication", "publish", "recover_bundles", "unnamed_files"]

_PUBLISH_LIMIT = 256 * MIB  # bytes a bundle reaches at publishing: what an interruption can cost at most
_BEGINNING = 24  # bytes: what kind of file it is, and under which key it is encrypted


class Addition(NamedTuple):
    """A record to copy into a mailbox.

    Args:
        hash: of the record.
        app: its App value.
        load: returns its stored bytes, or None where they are not its own any more; called when its turn comes. Short
            ones need not be proven: see `BundleWriter.add`.
        near: returns records of this mailbox that its bytes are like; called with `load`.
    """

    hash: RecordHash
    app: str
    load: Callable[[], bytes | memoryview | None]
    near: Callable[[], Near | None] | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """What of a mailbox is not on its medium any more, though its head names it.

    Args:
        records: App of each record that the runs list in a bundle that is gone, and the listing does not: what is no
            addition is withdrawn.
        runs: names of runs that are read from elsewhere, to be written anew.
        unreadable: names of runs that are replaced whole: a new one says so, and thus is never the same file, which
            git at a host that has it damaged would not take.
    """

    records: Mapping[RecordHash, str] = field(default_factory=dict)
    runs: Collection[str] = ()
    unreadable: Collection[str] = ()


class Publication(NamedTuple):
    """What publishing did.

    Args:
        runs: what the new head names, in folding order; equal to the old ones if nothing changed.
        bundles: bundles written.
        obsolete: run files that no head names once the new one is published.
        copied: records written.
        referenced: records that another bundle on the medium holds.
        damaged: records that were left out, for their bytes are not theirs any more.
    """

    runs: tuple[RunRef, ...]
    bundles: tuple[BundleRef, ...] = ()
    obsolete: tuple[str, ...] = ()
    copied: int = 0
    referenced: int = 0
    damaged: frozenset[RecordHash] = frozenset()


def publish(
    mailbox: Mailbox,
    writer: MailboxWriter,
    *,
    runs: Sequence[RunRef],
    listing: Listing | None,
    additions: Iterable[Addition],
    references: Sequence[Run] = (),
    gone: Gone = Gone(),
    are_copies: bool = False,
    cancel: Callable[[], bool] | None = None,
) -> Publication:
    """Write what a mailbox lacks and return the runs its next head names.

    Args:
        mailbox: my own; the runs that are merged are read from it.
        writer: of that mailbox.
        runs: what the present head names; empty if there is none.
        listing: their fold. An addition already listed is passed over, unless it replaces a reference by a
            copy. None takes the caller's word for every one of them.
        additions: what to copy.
        references: what to advertise where it lies in other bundles on this medium, or in those that an interrupted
            publishing left (`recover_bundles`); nothing of it is listed.
        gone: what is not there any more.
        are_copies: whether all additions were shared before, and lie elsewhere too.
        cancel: asked before each record.

    Raises:
        PlaceError: the medium refuses; the mailbox still shows its former state.
        DataError: a run to be merged is damaged. Publish again with no runs, no listing and everything.
        Cancelled: `cancel` returned True.
    """
    builder = RunBuilder()
    for record, app in gone.records.items():
        builder.withdraw(record, app)
    to_copy, damaged = _to_copy(additions, mailbox.node, listing, cancel), set[RecordHash]()
    indexes = write_bundles(lambda: writer.add_bundle(limit=_PUBLISH_LIMIT, are_copies=are_copies), to_copy, damaged)
    bundles = tuple(index.ref(mailbox.node) for index in indexes)
    placed = [index.run.placed(bundle) for index, bundle in zip(indexes, bundles, strict=True)]
    copied = sum(len(run) for run in placed)
    referenced = sum(map(len, references))
    if not copied and not referenced and not len(builder) and not gone.runs:
        return Publication(tuple(runs), damaged=frozenset(damaged))
    fresh = _gathered([builder.build(), *references, *placed])
    kept, obsolete = _write_runs(mailbox, writer=writer, runs=runs, fresh=fresh, gone=gone)
    return Publication(kept, bundles, obsolete, copied, referenced, frozenset(damaged))


def _to_copy(
    additions: Iterable[Addition], node: Verifier, listing: Listing | None, cancel: Callable[[], bool] | None
) -> Iterator[Given]:
    """Yield what a bundle takes of each addition that no bundle of the node is listed to hold."""
    listed = listing if listing is not None and len(listing) else None  # often there is nothing to look up
    taken = DigestTable(0)
    for record, app, load, near in additions:
        if cancel is not None and cancel():
            raise Cancelled("The publishing was stopped.")
        entry = listed.entry(record) if listed is not None else None
        bundle = entry.location.bundle if entry is not None and entry.location is not None else None
        if taken.get(record.digest) is not None or (bundle is not None and bundle.mailbox == node):
            continue
        taken.put(record.digest, b"")
        yield record, app, load(), near() if near else None


def _gathered(runs: list[Run]) -> list[list[Run]]:
    """Put neighbours together, as few groups as the entry limit allows; each becomes one run."""
    groups: list[list[Run]] = []
    total = 0
    for run in filter(len, runs):
        if not groups or total + len(run) > MAX_RUN_ENTRIES:
            groups.append([])
            total = 0
        groups[-1].append(run)
        total += len(run)
    return groups


def _write_runs(
    mailbox: Mailbox,
    *,
    writer: MailboxWriter,
    runs: Sequence[RunRef],
    fresh: list[list[Run]],
    gone: Gone,
) -> tuple[tuple[RunRef, ...], tuple[str, ...]]:
    sizes = [ref.entries for ref in runs] + [sum(map(len, each)) for each in fresh]
    whole = next((number for number, ref in enumerate(runs) if ref.name in gone.runs), len(sizes))
    count = max(runs_to_merge(sizes), len(sizes) - whole)
    old, apart = max(0, count - len(fresh)), max(0, len(fresh) - count)
    kept, replaced = list(runs[: len(runs) - old]), list(runs[len(runs) - old :])
    made = [merge_runs(each) for each in fresh[:apart]]
    if count:
        parts = [read_run(mailbox, ref) for ref in replaced]
        parts += [run for each in fresh[apart:] for run in each]
        made.append(merge_runs(parts, covers=[ref.name for ref in replaced], is_base=count == len(sizes)))
    if gone.unreadable:
        made[-1:] = [merge_runs([run], covers=[*run.covers, *gone.unreadable]) for run in made[-1:]]
    kept += [writer.add_run(run) for run in made if len(run)]
    names = {ref.name for ref in kept}
    return tuple(kept), tuple(name for name in (*(ref.name for ref in replaced), *gone.unreadable) if name not in names)


def recover_bundles(
    mailbox: Mailbox,
    listing: Listing | None,
    accept: Callable[[bytes], bool] = lambda _beginning: True,
) -> tuple[Run, ...]:
    """Return the indexes of whole, unlisted bundles in a mailbox, whose records `publish` may be given as references.

    An interrupted publishing leaves its finished bundles; reading them once is cheaper than writing them
    again.

    Args:
        mailbox: my own.
        listing: of that mailbox, or None to look at every bundle in it.
        accept: judges a bundle by the first bytes of its file.

    Raises:
        PlaceError: the medium is gone.
    """
    found = []
    for name in _unlisted_bundles(mailbox, listing):
        try:
            with mailbox.open_file(name) as file:
                if not accept(file.read(_BEGINNING)):
                    continue
                file.seek(0)
                index = check_bundle(mailbox.place, file)
        except DataError:
            continue
        if index.name == name:
            found.append(index.run.placed(index.ref(mailbox.node)))
    return tuple(found)


def unnamed_files(
    mailbox: Mailbox,
    *,
    runs: Sequence[RunRef],
    listing: Listing,
    referenced: Collection[BundleRef] = (),
) -> list[str]:
    """Return the files of a mailbox that nothing names, for `MailboxWriter.discard`.

    Args:
        mailbox: my own.
        runs: what its published head names.
        listing: their fold.
        referenced: bundles that the listings of other mailboxes on this medium name.

    Raises:
        PlaceError: the medium is gone.
    """
    used = {ref.name for ref in runs} | {bundle.name for bundle in referenced if bundle.mailbox == mailbox.node}
    used |= {bundle.name for bundle in listing.bundles() if bundle.mailbox == mailbox.node}
    return sorted(name for name in mailbox.files() if name not in used)


def _unlisted_bundles(mailbox: Mailbox, listing: Listing | None) -> list[str]:
    used = {bundle.name for bundle in listing.bundles()} if listing is not None else set()
    try:
        files = mailbox.files()
    except DataError:  # the mailbox is damaged as a whole: nothing of it is left to take up, and it is written anew
        return []
    return sorted(name for name in files if BUNDLE_NAME.fullmatch(name) and name not in used)
