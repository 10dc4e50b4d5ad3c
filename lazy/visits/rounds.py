"""What every visit begins and ends with, whatever the road: judging, conflicts, what is visible now, the audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lazy.belonging.forks import note_forks, tell_forks
from lazy.belonging.reputation import note_evidence
from lazy.belonging.requests import forget_granted, requests
from lazy.belonging.revoking import waiting
from lazy.came import ExchangeResult, NewRelease
from lazy.conflict_words import next_to_decide, update_command, update_desk
from lazy.conflicts import conflicts, note_version_conflicts
from lazy.endings import Done, Held
from lazy.files import note_lazy_files, write_noted
from lazy.noted_visits import noted_problems, noted_summary, sync_command
from lazy.people import has_gone_on, is_member, label_of
from lazy.places.registry import Place, clear_fault, known_faults, note_fault
from lazy.problems import Problem
from lazy.receiving.closed import told_of_revoked
from lazy.receiving.receive import Receiver
from lazy.receiving.revoked import forget_revoked, revoked_unheard
from lazy.results import PlaceResult, Traffic
from lazy.visits.unheard import forget_unheard, note_unheard, note_unheard_conflicts, unheard_conflicts, unheard_since
from transports.address import AddressKind
from transports.layout import ONE_FILE
from transports.mailbox import ByteCount
from vault.commands import as_typed
from vault.desk_folders import MAIN, desks
from vault.desks.paths import FolderPath
from vault.errors import Cancelled, LaceError
from vault.folder.checked_out import checkout_of, contained
from vault.folder.divergence import apart_here, note_doubled, note_parted
from vault.identity.mark import MarkMissing, OtherMachine, OtherNode, VaultBehindMark, VaultForked
from vault.log_gap import GAP_HINT, first_missing, missing_entry
from vault.records import Verifier
from vault.revisions.graph import is_ancestor
from vault.revisions.history import ReleaseInfo, ReleasesShown, changed_paths, releases_since
from vault.store.sums import PutOff
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

if TYPE_CHECKING:
    from lazy.visits.scoping import ScopedSync

__all__ = ["HELD", "close_round", "finish", "held_back", "next_command", "note_held", "unknown_in", "unless_held"]
__all__ += ["vector_of"]

HELD = (VaultBehindMark, VaultForked, MarkMissing, OtherMachine, OtherNode)
"""Why a vault may sign nothing yet: it is restored or a copy, and reads before it says anything."""

_LITTLE = 16 << 20  # bytes: no more is proven once the person asked to stop, and no less is worth to be told
_OF_WORDS = frozenset({"no-such-desk", "no-such-path"})  # of what was typed once, and not of the place


def held_back(vault: Vault) -> LaceError | None:
    """Return why this vault may sign nothing yet: it is restored or a copy, and reads before it says anything.

    What is missing may lie on the place; when it does not, the end of the visit says so again.
    """
    try:
        vault.check_mark()
    except HELD as error:
        return error
    return None


def note_held(vault: Vault, count: ByteCount, result: PlaceResult, error: LaceError) -> None:
    """End a visit at whose end this vault may sign nothing still: it tells what came, and why no more is done."""
    result.ending = Held(error, result.refusal)
    result.traffic = Traffic.of(count)
    result.vector_after = vector_of(vault)


def unless_held(results: list[PlaceResult], *, tells_held: bool) -> list[PlaceResult]:
    """Return what visits came to; where this vault may sign nothing, tell that with the first or raise it.

    Raises:
        VaultBehindMark, VaultForked, MarkMissing, OtherMachine, OtherNode: it may sign nothing, and is not to tell so.
    """
    first = next((result for result in results if result.held is not None), None)
    if first is None or first.held is None:
        return results
    if not tells_held:
        raise first.held
    first.problems.append(Problem.of(first.held, first.name))
    return results


def close_round(
    vault: Vault,
    receiver: Receiver,
    result: PlaceResult,
    before: ReleasesShown,
    watch: Watch,
    *,
    also: Callable[[Writer], None] | None = None,
) -> None:
    """End the round, also when it was cut off: refusals, visible releases, conflicts, in one transaction.

    Args:
        vault: whose round it is.
        receiver: what took the records.
        result: filled in.
        before: what was visible.
        watch: progress and cancel, while what came is proven.
        also: notes what else belongs into that transaction.

    Raises:
        Cancelled: the person stopped it. The round has ended all the same, and what was not proven is not shown yet.
    """
    receiver.gather(watch)
    if held_back(vault) is not None:
        with vault.writing(receiving=True) as w:  # what came is shown once that is settled, which no visit does
            note_unheard(w, before)
    proving = _Proving(watch)
    with vault.store.proofs.by(proving.go_on), vault.writing() as w:
        if also is not None:
            also(w)
        receiver.finish(w)
        w.store.settle(vault.node.text, vault.founding)
        forget_granted(w)
        came = releases_since(vault.store, before)
        note_parted(w, came)
        if receiver.received:
            note_doubled(w, vault.node.text, before.top)
        result.came.new_conflicts = note_version_conflicts(w, vault)
        note_unheard_conflicts(w, result.came.new_conflicts)
        note_forks(w, vault)
        if came:
            note_unheard(w, before)
    result.came.awaited = frozenset(receiver.awaited & {refusal.hash for refusal in receiver.refusals})
    result.came.exchanges = _with_refusals(receiver, result.came.exchanges)
    if (missing := first_missing(vault)) is not None:
        result.problems.append(Problem("log-gap", missing_entry(missing), hint=GAP_HINT))
    for release in came:
        if release.node != vault.node.text:
            result.came.releases.append(_new_release(vault, release))
    note_evidence(vault, receiver, result)
    result.vector_after = vector_of(vault)
    if proving.wish is not None:
        raise proving.wish


class _Proving:
    """Tells how far the proof of what came is, and puts the rest of it off once the person asked to stop."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.wish: Cancelled | None = None
        """To stop, as the person said it."""

    def go_on(self, read: int) -> None:
        """Take the bytes that are read by now.

        Raises:
            PutOff: no more is to be proven in this round.
        """
        if read <= _LITTLE:
            return
        self._watch.travelled(0, 0, read, 0, "prove")
        try:
            self._watch.cancelled()
        except Cancelled as wish:
            self.wish = self.wish or wish
            raise PutOff from wish


def _forked(vault: Vault, node: Verifier, seq: int) -> Problem:
    """Return what is said of a log that forked after an entry."""
    name = label_of(vault, node.text)
    after = f"after entry {seq}" if seq else "at its first entry"
    goes_on = "went on under a new key." if has_gone_on(vault, node.text) else "goes on with: lace adopt"
    text = (
        f"The log of {name} forked {after}: two different entries were sealed under one number, by a copied or "
        f"restored device or on purpose. Both are kept; {name} {goes_on}"
    )
    return Problem("forked", text, name)


def unknown_in(vault: Vault, scope: ScopedSync) -> list[Problem]:
    """Return what is said of desks and paths that a sync was to be about and that nobody knows."""
    told = []
    for desk in scope.unknown_desks(vault):
        text = f"Nobody has shared anything of a desk called {desk}."
        told.append(Problem("no-such-desk", text, hint="The desks that there are: lace desks"))
    for path in scope.unknown_paths(vault):
        where = f" of {', '.join(sorted(scope.scope.desks))}" if scope.scope.desks else ""
        hint = "A friend's folder is listed by: lace read y PEER/DESK"
        told.append(Problem("no-such-path", f"Nothing shared{where} so far lies at {path}.", hint=hint))
    return told


def _with_refusals(receiver: Receiver, exchanges: Sequence[ExchangeResult]) -> list[ExchangeResult]:
    """Return exchanges with the refusals judged at the round's end that came in each, and none that was taken back."""
    lasting = {refusal.hash for refusal in receiver.refusals}
    found = [
        exchange._replace(rejected=tuple(entry for entry in exchange.rejected if entry[0] in lasting))
        for exchange in exchanges
    ]
    if not found:
        return found
    shown = {record for exchange in found for record, _, _ in exchange.rejected}
    came_in = {record: at for at, exchange in enumerate(found) for record in exchange.late}
    for refusal in receiver.refusals:
        if refusal.hash not in shown:
            at = came_in.get(refusal.hash, -1)
            entry = (refusal.hash, refusal.code, refusal.reason)
            found[at] = found[at]._replace(rejected=(*found[at].rejected, entry))
    return found


def _new_release(vault: Vault, release: ReleaseInfo) -> NewRelease:
    found = [kind for path, kind, *_ in changed_paths(vault.store, release.commit) if type(path) is not FolderPath]
    gone = found.count("deleted")
    name = label_of(vault, release.node)
    return NewRelease(release.hash, release.desk, release.version, release.node, name, len(found) - gone, gone)


def finish(
    vault: Vault,
    place: Place,
    count: ByteCount,
    place_id: str,
    result: PlaceResult,
    *,
    push: bool,
    pull: bool,
    is_again: bool = False,
) -> None:
    """End a visit: what it cost, what is next, what is remembered of the place, and the audit entry.

    Args:
        vault: whose visit it was.
        place: that was visited.
        count: bytes and trips.
        place_id: what was found there; kept when it was not known.
        result: filled in.
        push: whether something was to be sent.
        pull: whether something was to be read.
        is_again: one of the many visits of somebody who follows; that nothing came of it is told nobody.
    """
    result.traffic = Traffic.of(count)
    if result.refusal is None:
        result.ending = Done(safe_to_remove=push and place.kind == AddressKind.DROP)
    result.vector_after = vector_of(vault)
    result.came.revoked += revoked_unheard(vault)
    result.problems += told_of_revoked(vault, result.problems)
    result.unreleased |= _unreleased(vault, place)
    verb = "lazy-sync" if push and pull else "lazy-push" if push else "lazy-pull"
    _tell_unheard(vault, result)
    with vault.writing() as w:
        forget_unheard(w)
        forget_revoked(w)
        result.problems += [_forked(vault, node, seq) for node, seq in tell_forks(w, vault)]
        is_told = not is_again or _is_another_end(vault, place, result)
        if not place.place_id:
            w.store.run("UPDATE place SET place_id = ? WHERE name = ?", place_id, place.name)
        if place.kind != ONE_FILE:
            _note_end(w, place, result, has_written=push)
        if is_told:
            _tell_audit(w, verb, place, result)
        files = note_lazy_files(vault)
    result.next = next_command(vault, place, result)  # by what is remembered of the place now
    write_noted(vault, files)


def _tell_unheard(vault: Vault, result: PlaceResult) -> None:
    """Tell what came with earlier visits that were cut off, or with a friend's at my server, which told it there.

    What my folder contains by now is no news.
    """
    if earlier := [one for one in unheard_conflicts(vault.store) if one not in result.came.new_conflicts]:
        still_open = {conflict.id for conflict in conflicts(vault)}
        result.came.new_conflicts[:0] = [one for one in earlier if one in still_open]
    since = unheard_since(vault.store)
    if since is None:
        return
    told = {release.release for release in result.came.releases}
    came = releases_since(vault.store, since)
    others = [one for one in came if one.node != vault.node.text and one.hash not in told]
    fresh = [
        one for one in others if not is_ancestor(vault.store, one.commit, *contained(checkout_of(vault, one.desk)))
    ]
    result.came.releases[:0] = [_new_release(vault, release) for release in fresh]


def _unreleased(vault: Vault, place: Place) -> dict[str, int]:
    """Return how many commits those who were met at a place keep to themselves, by their names."""
    rows = vault.store.rows(
        "SELECT node, CAST(unreleased AS INTEGER) FROM met WHERE unreleased > 0 AND place = ?", place.name
    )
    return {label_of(vault, str(node)): int(commits) for node, commits in rows}


def _note_end(w: Writer, place: Place, result: PlaceResult, *, has_written: bool) -> None:
    """Remember of a place how the last visit to it ended."""
    if result.refusal is not None:
        note_fault(w, place.name, result.refusal)
    else:
        clear_fault(w, place.name, has_written=has_written)
    summary = json.dumps(_summary(result), sort_keys=True)
    w.store.run("INSERT OR REPLACE INTO last_sync VALUES (?, ?, ?)", place.name, w.tai().text, summary)


def _tell_audit(w: Writer, verb: str, place: Place, result: PlaceResult) -> None:
    w.audit(
        verb,
        place.name,
        {
            "road": place.kind,
            "received": str(len(result.came.received)),
            "rejected": str(len(result.came.rejected)),
            "sent": str(result.sent),
            "admitted": ", ".join(result.came.admitted) or "nobody",
            **_troubles(result),
        },
    )


def _is_another_end(vault: Vault, place: Place, result: PlaceResult) -> bool:
    """Tell whether a visit moved something, or ended otherwise than the one before it (CYB-11)."""
    now = _summary(result)
    if any(now[what] for what in ("sent", "received", "rejected", "admitted", "releases", "conflicts")):
        return True
    fault = known_faults(vault).get(place.name)
    rows = vault.store.rows("SELECT result FROM last_sync WHERE place = ?", place.name)
    if not rows or (fault and fault.code) != (result.refusal and result.refusal.code):
        return True
    return noted_problems(noted_summary(rows[0][0])) != noted_problems(now)


def _troubles(result: PlaceResult) -> dict[str, str]:
    """Return what the audit trail says of mailboxes that could not be read, or not whole (CYB-11)."""
    told = sorted({f"{problem.peer}: {problem.code}" if problem.peer else problem.code for problem in result.problems})
    return {"problems": ", ".join(told)} if told else {}


def _summary(result: PlaceResult) -> dict[str, Any]:
    return {
        "sent": result.sent,
        "received": len(result.came.received),
        "rejected": len(result.came.rejected),
        "bytes_read": result.traffic.bytes_read,
        "bytes_written": result.traffic.bytes_written,
        "admitted": result.came.admitted,
        "releases": [f"{r.name} {r.desk} {r.version}" for r in result.came.releases],
        "conflicts": result.came.new_conflicts,
        "problems": [problem.noted for problem in result.problems if problem.code not in _OF_WORDS],
        "safe_to_remove": result.safe_to_remove,
        "left_out": result.came.left_out,
        "only_read": result.only_read,
    }


def next_command(vault: Vault, place: Place, result: PlaceResult) -> str:
    """Name the command that a person wants after a visit, as things stand now; empty when there is none."""
    command = _next(vault, result)
    if command or result.refusal is not None:
        return command or sync_command(place.name)
    if place.kind != AddressKind.HTTP and not result.only_read:
        return ""
    from lazy.queue import next_sync  # noqa: PLC0415 - where nothing can be left, mine goes another way

    return next_sync(vault)


def _next(vault: Vault, result: PlaceResult) -> str:
    if still_open := conflicts(vault):
        from lazy.folder.heads import ending_releases  # noqa: PLC0415 - of conflicts there are mostly none

        ended = ending_releases(vault, still_open)
        if all(conflict.id in ended for conflict in still_open):  # as somebody new finds them
            return update_command(still_open[0])
        return "lace conflicts" if len(still_open) > 1 else next_to_decide(still_open[0])
    here = {desk.name for desk in desks(vault)}
    came = _brings(vault, result, here) | {desk for desk in here if apart_here(vault, desk)}
    if came:
        return _taking_in(came, here)
    if is_member(vault, vault.node.text) and (requests(vault) or any(one.mine for one in waiting(vault))):
        return "lace requests"
    return ""


def _brings(vault: Vault, result: PlaceResult, here: set[str]) -> set[str]:
    """Return the desks of which releases came; of one with a folder only where an update would bring something."""
    came = {release.desk for release in result.came.releases}
    if not came & here:
        return came
    from lazy.relation import desks_with_news  # noqa: PLC0415 - most visits bring nothing new

    return came - here | came.intersection(desks_with_news(vault))


def _taking_in(came: set[str], here: set[str]) -> str:
    """Name the command for the first desk of which something came; `main` and those with a folder go first."""
    desk = min(came, key=lambda name: (name != MAIN, name not in here, name))
    if desk not in here:
        return as_typed("desk add", desk, "DIR")
    return update_desk(desk)


def vector_of(vault: Vault) -> dict[str, int]:
    """Return the numbers of the vault's version vector by node."""
    return {str(node): int(seq) for node, seq in vault.store.rows("SELECT node, seq FROM vector ORDER BY node")}
