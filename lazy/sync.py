"""Sync: one visit to a place, made of publishing and of reading everybody's mailbox there (architecture, decision 4).

A visit publishes what is mine to share, reads all mailboxes until a pass brings nothing new, and publishes again when
reading changed my vector. Push and pull are the halves (LAZ-23 to LAZ-27, INT-135). A mailbox whose head is the one
last read costs one small read. What one mailbox gets wrong is named, and the rest of the visit goes on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from lazy.circle import consider, leave_request, requests
from lazy.conflicts import conflicts, note_version_conflicts
from lazy.exchange import MailboxReader
from lazy.files import write_lazy_files
from lazy.people import label_of
from lazy.places import Place, serving
from lazy.publish import pending, publish_mine
from lazy.receive import Receiver
from lazy.results import NewRelease, PlaceResult, Problem
from lazy.sealing import open_medium
from transports.address import AddressKind
from transports.errors import SealedToOthers
from transports.mailbox import MailboxPlace
from transports.onefile import OneFile
from transports.sealed import SealedPlace
from vault.errors import DataError, LaceError, PeerError, PlaceError
from vault.history import ReleaseInfo, changed_paths, releases
from vault.mark import MarkMissing, OtherMachine, OtherNode, VaultBehindMark, VaultForked
from vault.records import RecordHash, Verifier, parse_record
from vault.vault import Vault
from vault.work import Watch

__all__ = ["sync", "visit"]

MAX_PASSES = 16  # a pass that brings nothing new ends it long before


def sync(
    vault: Vault,
    names: Sequence[str],
    *,
    push: bool = True,
    pull: bool = True,
    dry_run: bool = False,
    watch: Watch = Watch(),
) -> list[PlaceResult]:
    """Visit the places that the names stand for, each once however many peers use it.

    Args:
        vault: whose sync it is.
        names: peers or places.
        push: publish what is mine to share.
        pull: read the others.
        dry_run: say what would move and change nothing, here or there.
        watch: progress and cancel.

    Returns:
        One result a place. A place that cannot be reached leaves its result `queued`.

    Raises:
        NoSuchPeer, NoSuchPlace: a name is neither.
        PlaceError: no place could be reached and something was to be read.
        Cancelled: the person stopped it; what was stored stays.
    """
    wanted: dict[str, Place] = {place.name: place for name in names for place in serving(vault, name)}
    results = []
    unreachable: PlaceError | None = None
    for place in wanted.values():
        try:
            results.append(_visit(vault, place, push=push, pull=pull, dry_run=dry_run, watch=watch))
        except PlaceError as error:
            unreachable = error
            results.append(_queued(vault, place, error, dry_run=dry_run))
    if unreachable is not None and pull and all(result.queued for result in results):
        raise unreachable
    return results


def _queued(vault: Vault, place: Place, error: PlaceError, *, dry_run: bool) -> PlaceResult:
    """Note a place that could not be reached; what waits stays queued (LAZ-24, LAZ-47)."""
    result = PlaceResult(place.name, place.kind, planned=dry_run, queued=True)
    result.problems.append(Problem(error.code, error.message))
    result.vector_before = result.vector_after = _vector(vault)
    result.next = f"lace sync {place.name}"
    if not dry_run:
        with vault.writing() as w:
            w.audit("lazy-push", place.name, {"result": "queued", "code": error.code}, motivation=error.message)
    return result


def _visit(vault: Vault, place: Place, *, push: bool, pull: bool, dry_run: bool, watch: Watch) -> PlaceResult:
    return visit(vault, place, open_medium(vault, place), push=push, pull=pull, dry_run=dry_run, watch=watch)


def visit(
    vault: Vault,
    place: Place,
    medium: MailboxPlace,
    *,
    push: bool = True,
    pull: bool = True,
    dry_run: bool = False,
    watch: Watch = Watch(),
) -> PlaceResult:
    """Visit one opened place, as `sync` does each.

    Raises:
        PlaceError: the medium refuses or went away; what was stored stays.
        Cancelled: the person stopped it.
    """
    if medium.is_read_only:
        if not pull:
            medium.writer(vault.group, vault.node)  # says why not
        push = False
    result = PlaceResult(place.name, place.kind, planned=dry_run)
    result.vector_before = _vector(vault)
    before = {release.hash for release in releases(vault.store)}
    if dry_run:
        _plan(vault, place, medium, result, push=push, pull=pull)
        return result
    held_back = _held_back(vault)
    if held_back is None:
        if not medium.is_read_only:
            leave_request(vault, medium)
    elif not pull:
        raise held_back
    receiver = Receiver(vault, place.name)
    try:
        if push and held_back is None:
            result.sent += publish_mine(vault, medium, watch).records
        if pull:
            _read_all(vault, place, medium, receiver, result, watch, may_sign=held_back is None)
    finally:
        _close(vault, place, receiver, result, before)
    if push and pull:
        result.sent += publish_mine(vault, medium, watch).records
    _finish(vault, place, medium, result, push=push, pull=pull)
    return result


def _held_back(vault: Vault) -> LaceError | None:
    """Return why this vault may sign nothing yet: it is restored or a copy, and reads before it says anything.

    What is missing may lie on the place; when it does not, the end of the visit says so again.
    """
    try:
        vault.check_mark()
    except (VaultBehindMark, VaultForked, MarkMissing, OtherMachine, OtherNode) as error:
        return error
    return None


def _read_all(
    vault: Vault,
    place: Place,
    medium: MailboxPlace,
    receiver: Receiver,
    result: PlaceResult,
    watch: Watch,
    *,
    may_sign: bool,
) -> None:
    """Read every mailbox until a pass brings nothing new: no record, and nobody admitted."""
    reader = MailboxReader(vault, medium, receiver, watch)
    for number in range(1, MAX_PASSES + 1):
        result.passes = number
        result.problems.clear()
        progress = False
        for node in medium.nodes(vault.group):
            watch.cancelled()
            if node != vault.node and may_sign:
                progress |= _admit(vault, place, medium, node, result)
            progress |= _read_one(vault, reader, node, result)
        if not progress:
            return


def _admit(vault: Vault, place: Place, medium: MailboxPlace, node: Verifier, result: PlaceResult) -> bool:
    """Look at a node's request; tell whether somebody was admitted."""
    try:
        stored = medium.read_request(vault.group, node)
        if stored is None:
            return False
        name = consider(vault, place.name, parse_record(stored), node)
    except (DataError, PeerError) as error:
        result.problems.append(Problem(error.code, error.message, label_of(vault, node.text)))
        return False
    if name is None:
        return False
    result.admitted.append(name)
    return True


def _read_one(vault: Vault, reader: MailboxReader, node: Verifier, result: PlaceResult) -> bool:
    """Run the exchange with one mailbox; tell whether it brought anything new."""
    try:
        exchange = reader.read(node)
    except PlaceError:
        raise
    except (DataError, PeerError) as error:
        result.problems.append(Problem(error.code, error.message, label_of(vault, node.text)))
        return False
    if exchange is None:
        return False
    if exchange.not_available:
        first, reason = next(iter(reader.unread.items()))
        what = f"{len(exchange.not_available)} records that it lists could not be read here. {reason}"
        result.problems.append(Problem("not-available", f"{what} ({first})", label_of(vault, node.text)))
    old = next((e for e in result.exchanges if e.peer_verifier == exchange.peer_verifier), None)
    if old is None:
        result.exchanges.append(exchange)
    else:
        result.exchanges[result.exchanges.index(old)] = replace(
            exchange,
            received=(*old.received, *exchange.received),
            rejected=(*old.rejected, *exchange.rejected),
            rounds=old.rounds + exchange.rounds,
            advertised=max(old.advertised, exchange.advertised),
        )
    return bool(exchange.received)


def _close(vault: Vault, place: Place, receiver: Receiver, result: PlaceResult, before: set[RecordHash]) -> None:
    """End the round, also when it was cut off: refusals, visible releases, conflicts, in one transaction."""
    with vault.writing() as w:
        receiver.finish(w)
        w.store.settle(vault.node.text, vault.founding)
        w.store.run("DELETE FROM request WHERE node IN (SELECT node FROM member)")
        result.new_conflicts = note_version_conflicts(w, vault)
    _spread_refusals(receiver, result)
    for release in releases(vault.store):
        if release.hash not in before and release.node != vault.node.text:
            result.releases.append(_new_release(vault, release))
    result.vector_after = _vector(vault)


def _spread_refusals(receiver: Receiver, result: PlaceResult) -> None:
    """Show refusals judged at the round's end with the exchange they came in, and none that was taken back."""
    lasting = {refusal.hash for refusal in receiver.refusals}
    result.exchanges = [
        replace(exchange, rejected=tuple(entry for entry in exchange.rejected if entry[0] in lasting))
        for exchange in result.exchanges
    ]
    shown = {record for exchange in result.exchanges for record, _, _ in exchange.rejected}
    late = [r for r in receiver.refusals if r.hash not in shown]
    for refusal in late:
        entry = (refusal.hash, refusal.code, refusal.reason)
        if result.exchanges:
            last = result.exchanges[-1]
            result.exchanges[-1] = replace(last, rejected=(*last.rejected, entry))


def _new_release(vault: Vault, release: ReleaseInfo) -> NewRelease:
    name, files = label_of(vault, release.node), len(changed_paths(vault.store, release.commit))
    return NewRelease(release.hash, release.desk, release.version, release.node, name, files)


def _note_closed(medium: MailboxPlace, result: PlaceResult) -> None:
    """Say that there are mailboxes here which are encrypted to others."""
    closed = len(medium.closed) if isinstance(medium, SealedPlace) else 0
    if closed:
        what = "1 mailbox here is" if closed == 1 else f"{closed} mailboxes here are"
        text = f"{what} encrypted to others: somebody new who asked another member, or a friend who must sync first."
        result.problems.append(Problem(SealedToOthers.code, text))


def _finish(vault: Vault, place: Place, medium: MailboxPlace, result: PlaceResult, *, push: bool, pull: bool) -> None:
    if pull:
        _note_closed(medium, result)
    result.bytes_read, result.bytes_written = medium.count.read, medium.count.written
    result.round_trips = medium.count.trips
    result.safe_to_remove = push and place.kind == AddressKind.DROP
    result.vector_after = _vector(vault)
    result.next = _next(vault, result)
    for node, count in vault.store.rows(
        "SELECT node, unreleased FROM met WHERE unreleased > 0 AND place = ?", place.name
    ):
        result.unreleased[label_of(vault, str(node))] = int(count)
    verb = "lazy-sync" if push and pull else "lazy-push" if push else "lazy-pull"
    with vault.writing() as w:
        if not place.place_id:
            w.store.run("UPDATE place SET place_id = ? WHERE name = ?", medium.place_id, place.name)
        if place.kind != OneFile.kind:
            w.store.run(
                "INSERT OR REPLACE INTO last_sync VALUES (?, ?, ?)",
                place.name,
                w.tai().text,
                json.dumps(_summary(result), sort_keys=True),
            )
        w.audit(
            verb,
            place.name,
            {
                "road": place.kind,
                "received": str(len(result.received)),
                "rejected": str(len(result.rejected)),
                "sent": str(result.sent),
                "admitted": ", ".join(result.admitted) or "nobody",
                **_troubles(result),
            },
        )
    write_lazy_files(vault)


def _troubles(result: PlaceResult) -> dict[str, str]:
    """Return what the audit trail says of mailboxes that could not be read, or not whole (CYB-11)."""
    told = sorted({f"{problem.peer}: {problem.code}" if problem.peer else problem.code for problem in result.problems})
    return {"problems": ", ".join(told)} if told else {}


def _summary(result: PlaceResult) -> dict[str, object]:
    return {
        "sent": result.sent,
        "received": len(result.received),
        "rejected": len(result.rejected),
        "bytes_read": result.bytes_read,
        "bytes_written": result.bytes_written,
        "admitted": result.admitted,
        "releases": [f"{r.name} {r.desk} {r.version}" for r in result.releases],
        "conflicts": result.new_conflicts,
        "problems": [asdict(problem) for problem in result.problems],
        "safe_to_remove": result.safe_to_remove,
    }


def _next(vault: Vault, result: PlaceResult) -> str:
    """Name the command a person wants next."""
    still_open = conflicts(vault)
    if len(still_open) == 1 and still_open[0].proposals:
        return f"lace resolve {still_open[0].id} --accept"
    if still_open:
        return f"lace resolve {still_open[0].id} --prefer local|remote" if len(still_open) == 1 else "lace conflicts"
    if result.releases:
        return "lace update"
    if requests(vault):
        return "lace requests"
    return ""


def _plan(vault: Vault, place: Place, medium: MailboxPlace, result: PlaceResult, *, push: bool, pull: bool) -> None:
    """Fill in what a visit would move, from listings alone; nothing is written."""
    del place
    if push:
        outgoing = pending(vault, medium)
        result.sent, result.bytes_to_send = outgoing.records, outgoing.bytes
    if pull:
        reader = MailboxReader(vault, medium, Receiver(vault, result.name), Watch())
        for node in medium.nodes(vault.group):
            try:
                result.records_to_receive += reader.missing(node)
            except (DataError, PeerError) as error:
                result.problems.append(Problem(error.code, error.message, label_of(vault, node.text)))
    result.bytes_read = medium.count.read
    result.vector_after = result.vector_before


def _vector(vault: Vault) -> dict[str, int]:
    return {str(node): int(seq) for node, seq in vault.store.rows("SELECT node, seq FROM vector ORDER BY node")}
