"""One visit to a medium, made of publishing and of reading everybody's mailbox there (architecture, decision 4).

A visit publishes what is mine to share, reads all mailboxes until a pass brings nothing new, and publishes again when
reading changed my vector. A mailbox whose head is the one last read costs one small read. What one mailbox gets wrong
is named, and the rest of the visit goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from lazy.belonging.beacon import read_beacons
from lazy.belonging.circle import leave_request
from lazy.endings import Refused
from lazy.noted_visits import sync_command
from lazy.places.published import published
from lazy.places.registry import Place
from lazy.problems import Problem, damaged_here
from lazy.receiving.closed import hear_notices, told_of_closed, told_of_revoked
from lazy.receiving.receive import Receiver
from lazy.results import PlaceResult, Planned, Traffic
from lazy.visits.errand import Errand
from lazy.visits.exchange import MailboxReader
from lazy.visits.my_mailbox import is_set_back, my_mailbox
from lazy.visits.own_copies import take_back
from lazy.visits.owners import gathered
from lazy.visits.passes import Passes
from lazy.visits.plans import VisitPlan, amount, plan_visit
from lazy.visits.publish import publish_mine
from lazy.visits.rounds import close_round, held_back, note_held, unknown_in, vector_of
from lazy.visits.sending import Outgoing, is_current
from lazy.visits.visit_end import finish
from transports.address import AddressKind
from transports.errors import WRITE_REFUSALS, MailboxSetBack
from transports.mailbox import MailboxMedium
from transports.proven import Proven
from vault.errors import DataError, PeerError, PlaceError
from vault.identity.mark import MayNotSign
from vault.plural import bytes_text
from vault.records import RecordHash
from vault.revisions.history import ReleasesShown, releases_shown
from vault.vault import Vault

__all__ = ["carry_out", "may_push", "show", "visit"]


def visit(vault: Vault, place: Place, medium: MailboxMedium, errand: Errand) -> PlaceResult:
    """Visit one opened place, as `sync` does each.

    Raises:
        PlaceError: the medium refuses or went away; what was stored stays.
        Cancelled: the person stopped it.
    """
    push = may_push(vault, medium, push=errand.push, pull=errand.pull)
    plan = plan_visit(vault, place.name, medium, push=push, pull=errand.pull)
    if errand.dry_run:
        return show(vault, place, medium, plan)
    return carry_out(vault, place, medium, plan, errand)


def may_push(vault: Vault, medium: MailboxMedium, *, push: bool, pull: bool) -> bool:
    """Tell whether something is sent to a medium: nothing to one that is only read.

    Raises:
        PlaceNotWritable: it is only read, and nothing is to be read.
    """
    if medium.is_read_only and not pull:
        medium.writer(vault.group, vault.node)  # says why not
    return push and not medium.is_read_only


def show(vault: Vault, place: Place, medium: MailboxMedium, plan: VisitPlan) -> PlaceResult:
    """Return what carrying out a plan would move, from listings alone; nothing is written.

    Raises:
        PlaceError: the medium is gone.
        MayNotSign: as `carry_out`, of a plan that only sends.
    """
    result = PlaceResult(place.name, place.kind)
    result.vector_before = result.vector_after = vector_of(vault)
    if plan.readings is None:
        vault.check_plan()  # a visit that reads too goes on, and says so at its end
    found = amount(vault, medium, plan)
    result.problems += gathered(vault, plan.nodes, found.problems)
    result.problems += told_of_revoked(vault, result.problems)
    result.sent, result.planned = found.sent.records, Planned(found.sent.bytes)
    if plan.readings is not None:
        result.planned = Planned(found.sent.bytes, found.received, found.bytes_received)
        if plan.sending is not None:
            result.sent += found.named  # where they lie already
    short = plan.sending.short_of_room(vault, medium, found.sent) if plan.sending is not None else None
    if short is not None:
        result.planned = result.planned._replace(bytes_free=short.free)
    result.traffic = Traffic(bytes_read=medium.count.read, round_trips=medium.count.trips)
    return result


def carry_out(
    vault: Vault,
    place: Place,
    medium: MailboxMedium,
    plan: VisitPlan,
    errand: Errand = Errand(),
) -> PlaceResult:
    """Do what a plan says: what came to the medium or the vault after it was made is no part of the first pass.

    What mailboxes bring may say that somebody else belongs, whose mailbox is then read too. When something was read,
    my mailbox is brought up to date once more, with all that is shared here by then. A medium that is full or
    write-protected is read all the same.

    Raises:
        PlaceError: the medium went away, or it refuses and nothing is to be read; what was stored stays.
        NoRoom: the disk has none for what is listed there, and nothing else came.
        Cancelled: the person stopped it.
    """
    result = PlaceResult(place.name, place.kind)
    result.vector_before = vector_of(vault)
    before = releases_shown(vault.store)
    reason = held_back(vault)
    if reason is not None and plan.readings is None:
        raise reason
    at = _Visit(vault, place, medium, plan, errand, Receiver(vault, place.name), result)
    try:
        _carry_out(at, before, may_sign=reason is None)
    except MayNotSign as error:
        if result.refusal is not None:
            result.note_refusal(result.refusal)
        note_held(vault, medium.count, result, error)
    return result


class _Visit(NamedTuple):
    """A visit that is carried out.

    Args:
        vault: who visits.
        place: where.
        medium: the same, opened.
        plan: what is done.
        errand: how, and of what; the plan says whether it sends and reads.
        receiver: takes what comes in.
        result: filled in.
    """

    vault: Vault
    place: Place
    medium: MailboxMedium
    plan: VisitPlan
    errand: Errand
    receiver: Receiver
    result: PlaceResult


def _carry_out(at: _Visit, before: ReleasesShown, *, may_sign: bool) -> None:
    vault, place, medium, plan, errand, receiver, result = at
    watch, scope = errand.watch, errand.scope
    push, pull = plan.sending is not None, plan.readings is not None
    reader = MailboxReader(vault, medium, receiver, watch, scope)
    put = _Put()
    went_back = _look_at_mine(at)
    try:
        if may_sign:
            put = _tried(lambda: _publish(at), pull=pull)
            result.sent = put.records
            if put.refusal is not None:
                result.ending = Refused(put.refusal)  # also where the end of the round finds that nothing may be signed
        if pull:
            is_known = push and put.refusal is None and not receiver.holes.is_anything_missing()
            _read(at, reader, may_sign=may_sign, is_mine_known=is_known)
            if scope is not None:
                result.came.left_out = vault.store.holes.any()
                result.problems += unknown_in(vault, scope)
    finally:
        close_round(vault, receiver, result, before, watch, also=reader.note_end)
    if push and pull:
        if put.refusal is None:
            put = put.and_then(_publish_again(at, reader.proven, may_sign=may_sign))
            result.sent = put.records
        if scope is None and medium.kind == AddressKind.GIT:
            _tell_lost(at, may_push=put.refusal is None and may_sign)
    if put.refusal is not None:
        result.note_refusal(put.refusal)
    is_mended = push and may_sign and put.refusal is None
    result.problems += _said_of_mine(at, put, went_back=went_back, is_mended=is_mended)
    if pull:
        result.problems = told_of_closed(vault, medium, place.kind, result.problems)
        if medium.kind != AddressKind.HTTP:  # there each would cost a trip: lace beacon NAME --ask
            read_beacons(vault, place.name, medium)
    finish(vault, place, medium.count, medium.place_id, result, replace(errand, push=push, pull=pull))


class _Put(NamedTuple):
    """What was put on a medium in a visit.

    Args:
        records: that were.
        waited: bytes of copies that a prune waits for and that it did not take.
        why: what it said of them, where it was not for want of room.
        damaged: what was left out, for its bytes here are not its own any more.
        refusal: why it took nothing, or nothing more.
    """

    records: int = 0
    waited: int = 0
    why: str = ""
    damaged: frozenset[RecordHash] = frozenset()
    refusal: PlaceError | None = None

    def and_then(self, later: _Put | None) -> _Put:
        """Return what was put there by both; None where there was nothing to do later."""
        if later is None:
            return self
        if later.refusal is not None:
            return self._replace(refusal=later.refusal)
        return later._replace(records=self.records + later.records, damaged=self.damaged | later.damaged)


def _said_of_mine(at: _Visit, put: _Put, *, went_back: bool, is_mended: bool) -> list[Problem]:
    """Return what is said of my mailbox: what is damaged here, copies that wait, warnings, and that it went back."""
    said = [damaged_here(put.damaged)] if put.damaged else []
    said += [_copies_wait(put)] if put.waited else []
    said += [Problem.of(warning, at.place.name) for warning in at.medium.warnings]
    return said + ([_set_back(at, is_mended=is_mended)] if went_back else [])


def _copies_wait(put: _Put) -> Problem:
    """Return what is said of copies that a place did not take."""
    what = f"{bytes_text(put.waited)} of copies that a prune waits for"
    if put.why:
        hint = "Sync with another place; this one is asked again within a day."
        return Problem("copies-wait", f"{what} were refused there; all else went. {put.why}", hint=hint)
    hint = "Free some space there, or sync with another place."
    return Problem("copies-wait", f"There is no room for {what}; all else went.", hint=hint)


def _look_at_mine(at: _Visit) -> bool:
    """Compare what was noted of my mailbox with what lies there, also where nothing is sent.

    Return whether it was set back (CYB-18). Of a git host, which may lose a part alone, that is told where it is asked.
    """
    vault, medium, name = at.vault, at.medium, at.place.name
    if at.plan.sending is not None:
        mine = at.plan.sending.mine
        if is_set_back(vault, medium, name, mine):  # or another process of mine wrote there after that was settled
            mine = my_mailbox(vault, medium, name)
    elif not medium.is_read_only and published(vault, medium.place_id, name) is not None:
        mine = my_mailbox(vault, medium, name)
    else:
        return False
    is_moving = at.plan.sending is not None and at.plan.sending.is_anew  # under another key it lies elsewhere
    went_back = medium.kind != AddressKind.GIT and not is_moving and is_set_back(vault, medium, name, mine)
    take_back(vault, medium, name, mine)
    return went_back


def _set_back(at: _Visit, *, is_mended: bool) -> Problem:
    """Say that my mailbox was set back, and what brings it forward where this visit did not."""
    what = f"Your mailbox on {at.medium.describe()} did not hold what was left there: it was set back or written over."
    way = "" if is_mended else f"What you share comes there again with: {sync_command(at.place.name)}"
    return Problem.of(MailboxSetBack(what, hint=way), at.place.name)


def _publish(at: _Visit) -> Outgoing | None:
    """Ask to be admitted, and put there what the plan says; return it, None where the plan puts nothing there."""
    if not at.medium.is_read_only:
        leave_request(at.vault, at.medium)
    if at.plan.sending is None:
        return None
    reader = MailboxReader(at.vault, at.medium, at.receiver, at.errand.watch)
    return publish_mine(
        at.vault,
        at.medium,
        at.errand.watch,
        name=at.place.name,
        planned=at.plan.sending,
        on_other=lambda: _read_myself(at.vault, reader, at.result),
    )


def _publish_again(at: _Visit, proven: Proven, *, may_sign: bool) -> _Put | None:
    """Put there what is mine to share by now, and return it; None where nothing came since the plan."""
    if may_sign and at.plan.sending is not None and is_current(at.vault, at.plan.sending):
        return None
    return _tried(
        lambda: publish_mine(at.vault, at.medium, at.errand.watch, name=at.place.name, proven=proven), pull=True
    )


def _tell_lost(at: _Visit, *, may_push: bool) -> None:
    """Leave word of what the host lost of others; where that cannot be, no way out says that it was."""
    try:
        if may_push:
            at.medium.writer(at.vault.group, at.vault.node).tell_lost()
            return
    except (PlaceError, DataError):
        pass  # the next visit tries it
    at.result.problems[:] = [problem.untold() for problem in at.result.problems]


def _tried(write: Callable[[], Outgoing | None], *, pull: bool) -> _Put:
    """Write to a medium; return what, or why it took nothing, where it is to be read all the same."""
    try:
        sent = write()
    except WRITE_REFUSALS as error:
        if not pull:
            raise
        return _Put(refusal=error)
    return _Put() if sent is None else _Put(sent.records, sent.waited, sent.why, sent.damaged)


def _read(at: _Visit, reader: MailboxReader, *, may_sign: bool, is_mine_known: bool) -> None:
    """Read the mailboxes of a medium, and what friends left word of there.

    My own is read too, where it was not looked at by publishing to it, for another may have written it under my key,
    and where content or an entry of my log is missing here, for it may lie there and nowhere else.
    """
    passes = Passes(at.vault, at.place, at.medium, reader, at.result.came, at.errand.watch)
    try:
        passes.read(at.plan, reads_mine=not (is_mine_known and may_sign), admits=may_sign)
    finally:  # what was met goes to the evidence too where the rest was cut off
        at.result.problems += passes.problems
        if not may_sign:  # the end of the round is refused then, and takes nothing with it
            with at.vault.writing(receiving=True) as w:
                reader.note_unchanged(w)
    hear_notices(at.vault, at.medium, at.receiver)


def _read_myself(vault: Vault, reader: MailboxReader, result: PlaceResult) -> None:
    """Read my own mailbox where another wrote it under my key: a copy of this vault, or it before it was restored."""
    try:
        reading = reader.look(vault.node)
        taken = reader.take(reading) if reading is not None else None
    except (DataError, PeerError):
        return  # it is damaged or went back in time: it is written anew
    if taken is not None:
        result.came.exchanges.append(taken.exchange)
