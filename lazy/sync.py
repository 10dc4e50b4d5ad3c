"""Sync: a visit to each place that names stand for, or what each would move (architecture, decision 4).

Push and pull are the halves (LAZ-23 to LAZ-27, INT-135). A place that fails is told beside the others, and what waits
for it stays queued. `lazy.visits.visit` is one visit to a medium, `lazy.live.visiting` one to a friend who serves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, NamedTuple

from lazy.noted_visits import sync_command
from lazy.people import is_member, label_of
from lazy.places.media import open_medium
from lazy.places.published import published
from lazy.places.registry import NoSuchPlace, Place, is_encrypted, is_mine, known_faults, note_fault, serving
from lazy.places.turns import turn
from lazy.problems import at_place
from lazy.queue import next_sync
from lazy.results import PlaceResult, Planned
from lazy.visits.errand import Errand
from lazy.visits.next_command import next_command
from lazy.visits.rounds import held_back, unless_held, vector_of
from transports.address import AddressKind
from transports.errors import OnlyRead, PlaceCrowded, PlaceNotWritable
from transports.layout import group_directory
from transports.mailbox import MailboxMedium
from vault.errors import CallerError, DataError, LaceError, PeerError, PlaceError
from vault.records import Verifier
from vault.space import NoRoom
from vault.vault import Vault
from vault.watch import Watch

if TYPE_CHECKING:
    from lazy.interlace.scope import Scope
    from lazy.visits.plans import VisitPlan
    from lazy.visits.scoping import ScopedSync

__all__ = ["PlanOutdated", "Prepared", "move", "prepare", "sync"]

_NAMED = 20  # members that are told of where a place is crowded
_KEY = 12  # hex characters of a key, which tell people apart


class PlanOutdated(CallerError):
    """What was shown is no longer what would move."""

    code = "plan-outdated"
    exit_code = 2
    hint = "Run the same command again: it shows what would move now."


def sync(
    vault: Vault,
    names: Sequence[str],
    *,
    push: bool = True,
    pull: bool = True,
    dry_run: bool = False,
    watch: Watch = Watch(),
    scope: Scope | None = None,
    is_again: bool = False,
    tells_held: bool = False,
) -> list[PlaceResult]:
    """Visit the places that the names stand for, each once however many peers use it.

    Args:
        vault: whose sync it is.
        names: peers or places.
        push: publish what is mine to share.
        pull: read the others.
        dry_run: say what would move and change nothing, here or there.
        watch: progress and cancel.
        scope: desks and paths whose content is fetched; everything when there is none. What is sent is not narrowed.
        is_again: one of the many visits of somebody who follows: the audit trail tells of it where it came to something
            else than the one before.
        tells_held: where it turns out that this vault may sign nothing, return what came with why, and raise nothing.

    Returns:
        One result a place. A place where nothing could be done leaves its result `queued`; one that can be read and
        not written is read, and leaves its result with a `refusal`.

    Raises:
        NoSuchPeer, NoSuchPlace: a name is neither.
        PlaceError: nothing could be done at any place, and something was to be read or is to be mended there.
        PeerError, DataError: no place could be done, the last for this: what lies there, or here, breaks the format.
        NoRoom: no place could be done, the last for this: the disk has no room for what is listed there.
        MayNotSign: what all places have was read.
        Cancelled: the person stopped it; what was stored stays.
    """
    if dry_run:
        return list(prepare(vault, names, push=push, pull=pull, watch=watch).shown)

    errand = Errand(push, pull, watch=watch, scope=_ready(vault, scope), is_again=is_again)

    def act(place: Place) -> PlaceResult:
        return _visit(vault, place, errand)

    results = _each(vault, _places(vault, names), act, pull=pull, dry_run=False, is_again=is_again)
    _tell_waiting(vault, results, is_told=push and pull and not is_again)
    return unless_held(results, tells_held=tells_held)


def _ready(vault: Vault, scope: Scope | None) -> ScopedSync | None:
    if scope is None:
        return None
    from lazy.visits.scoping import scoped  # rules are read where they are used

    return scoped(vault, scope)


class Prepared(NamedTuple):
    """Visits that are settled and not begun.

    Args:
        shown: what each would move, one a place.
        push: whether something is to be sent.
        pull: whether something is to be read.
        plans: by place, the opened medium and the plan that was shown; a live server or another vault has none, since
            it answers with what is there when it is asked.
        places: to visit, without those that could not be looked at.
    """

    shown: tuple[PlaceResult, ...]
    push: bool
    pull: bool
    plans: Mapping[str, tuple[MailboxMedium, VisitPlan]]
    places: tuple[Place, ...]


def prepare(
    vault: Vault, names: Sequence[str], *, push: bool = True, pull: bool = True, watch: Watch = Watch()
) -> Prepared:
    """Settle what visits would move, and change nothing, here or there; `move` does it.

    Raises:
        As `sync`.
    """
    from lazy.visits.plans import plan_visit  # few syncs are shown first
    from lazy.visits.visit import may_push, show

    plans: dict[str, tuple[MailboxMedium, VisitPlan]] = {}

    def look(place: Place) -> PlaceResult:
        if place.kind in {AddressKind.LIVE, AddressKind.VAULT}:
            return _visit(vault, place, Errand(push, pull, dry_run=True, watch=watch))
        watch.progress(0, 0, f"ask {place.name}")
        with closing(open_medium(vault, place)) as medium:
            goes = may_push(vault, medium, push=push, pull=pull)
            plan = plan_visit(vault, place.name, medium, push=goes, pull=pull, is_shown=True)
            result = show(vault, place, medium, plan)
        if not _is_lost_there(vault, place, medium, plan):  # else the visit itself looks again, and mends it first
            plans[place.name] = (medium, plan)
        return result

    found = _places(vault, names)
    shown = _each(vault, found, look, pull=pull, dry_run=True)
    there = {result.name for result in shown if not result.queued}
    return Prepared(tuple(shown), push, pull, plans, tuple(place for place in found if place.name in there))


def _is_lost_there(vault: Vault, place: Place, medium: MailboxMedium, plan: VisitPlan) -> bool:
    """Tell whether a git host does not give my own mailbox, which was written there."""
    if medium.kind != AddressKind.GIT or plan.sending is None or plan.sending.mine.head is not None:
        return False
    return published(vault, medium.place_id, place.name) is not None


def move(vault: Vault, prepared: Prepared, watch: Watch = Watch(), *, tells_held: bool = False) -> list[PlaceResult]:
    """Carry out what was settled and shown; what one place brings goes on to the next, as in every sync.

    Raises:
        PlanOutdated: this vault shared something since; nothing was moved.
        PlaceError, Cancelled, and the like: as `sync`.
    """
    top = vault.store.exposed()
    for _, plan in prepared.plans.values():
        if plan.sending is not None and plan.sending.upto != top:
            raise PlanOutdated("Something was shared here after what would move was shown. Nothing was moved.")
    left = dict(prepared.plans)

    def act(place: Place) -> PlaceResult:
        if place.name not in left:
            return _visit(vault, place, Errand(prepared.push, prepared.pull, watch=watch))
        from lazy.visits.visit import carry_out  # few syncs are shown first

        medium, plan = left.pop(place.name)
        with closing(medium), turn(vault, place, watch):
            return carry_out(vault, place, medium, plan, Errand(watch=watch))

    results = _each(vault, prepared.places, act, pull=prepared.pull, dry_run=False)
    _tell_waiting(vault, results, is_told=prepared.push and prepared.pull)
    return unless_held(results, tells_held=tells_held)


def _places(vault: Vault, names: Sequence[str]) -> list[Place]:
    """Return the places that names stand for, each once, without this vault's own address."""
    wanted: dict[str, Place] = {place.name: place for name in names for place in serving(vault, name)}
    visited = [place for place in wanted.values() if not is_mine(vault, place)]
    if wanted and not visited:
        hint = "Friends visit it while this runs: lace serve"
        raise NoSuchPlace("That is the address of your own server: friends visit it, you do not.", hint=hint)
    return visited


def _each(
    vault: Vault,
    visited: Sequence[Place],
    act: Callable[[Place], PlaceResult],
    *,
    pull: bool,
    dry_run: bool,
    is_again: bool = False,
) -> list[PlaceResult]:
    """Visit each place; one that fails is told beside the others, unless it is all there is.

    A fault in lace that one place brings out is raised when the others were visited: what lies at one place must never
    keep a person from all of them.
    """
    results: list[PlaceResult] = []
    failed: list[LaceError] = []
    faults: list[Exception] = []
    was_member = is_member(vault, vault.node.text)
    for place in visited:
        try:
            result = act(place)
            result.came.joined = not was_member and is_member(vault, vault.node.text)
            was_member = was_member or result.came.joined
            results.append(result)
        except (PlaceError, PeerError, DataError, NoRoom) as error:
            # Damage too, even my own: what one place lacks of it is no reason to hear nothing from the others. And for
            # what one place lists there may be no room because somebody there lies.
            if isinstance(error, PlaceCrowded):
                error.hint = f"{_whose(vault, place)}{error.hint}"
            if pull or not (isinstance(error, PlaceError) and error.can_wait):
                failed.append(at_place(error, place.name))
            results.append(_queued(vault, place, error, dry_run=dry_run, is_again=is_again))
        except (LaceError, OSError, MemoryError, sqlite3.Error):
            raise  # it is no place that lacks something
        except Exception as fault:
            fault.add_note(f"It came out at the place {place.name}.")
            faults.append(fault)
    if faults:
        raise faults[0]
    if failed and len(failed) == len(results):
        raise _of_all(failed, [place.name for place in visited])
    if len(results) > 1 and not dry_run:  # what a place left to decide, a later one may have decided, or added to
        for place, result in zip(visited, results, strict=True):
            if not result.queued and result.held is None:
                result.next = next_command(vault, place, result)
    return results


def _tell_waiting(vault: Vault, results: Sequence[PlaceResult], *, is_told: bool) -> None:
    """Say of each place what came after it was visited and waits for it: whoever carries a stick would not know."""
    if not is_told or not any(result.came.received for result in results[1:]):
        return
    from lazy.queue import waiting_records  # most syncs are of one place, or bring nothing

    left = waiting_records(vault)
    for result in results[:-1]:
        if not result.queued and result.refusal is None and result.held is None:
            result.waiting = left.get(result.name, 0)
            result.next = result.next or (sync_command(result.name) if result.waiting else "")


def _of_all(failed: Sequence[LaceError], names: Sequence[str]) -> LaceError:
    """Return why nothing could be done at any place: the last error, which tells of each of several places."""
    last = failed[-1]
    if len(failed) > 1:
        last.message = " ".join(f"{name}: {error.message}" for name, error in zip(names, failed, strict=True))
        last.hint = f"{names[-1]}: {last.hint} The others: lace status"
    return last


def _whose(vault: Vault, place: Place) -> str:
    """Say which mailboxes of a crowded place are the members', so that its owner can tell them from the others."""
    if is_encrypted(vault, place):
        return ""  # there they bear names of their own
    room = group_directory(vault.group)
    begin = f"lace/{room}" if place.kind == AddressKind.GIT else f"{room}/"
    nodes = [str(row[0]) for row in vault.store.rows("SELECT node FROM member ORDER BY label, node")]
    told = [f"{label_of(vault, node)}: {begin}{Verifier.parse(node).key.hex()[:_KEY]}..." for node in nodes[:_NAMED]]
    rest = f", and {len(nodes) - len(told)} more" if len(nodes) > len(told) else ""
    what = "branches" if place.kind == AddressKind.GIT else "mailboxes"
    return f"The members' {what} there are {', '.join(told)}{rest}. " if told else ""


def _queued(vault: Vault, place: Place, error: LaceError, *, dry_run: bool, is_again: bool) -> PlaceResult:
    """Note a place where nothing could be moved; what waits stays queued (LAZ-24, LAZ-47)."""
    result = PlaceResult.undone(place.name, place.kind, error)
    result.planned = Planned() if dry_run else None
    result.vector_before = result.vector_after = vector_of(vault)
    result.next = next_sync(vault) if isinstance(error, OnlyRead) else sync_command(place.name)
    if not dry_run:
        before = known_faults(vault).get(place.name)
        with vault.writing() as w:
            note_fault(w, place.name, error)
            if is_again and before is not None and before.code == error.code:
                return result  # whoever follows tries every other second, and is told of it once
            w.audit("lazy-push", place.name, {"result": "queued", "code": error.code}, motivation=error.message)
    return result


def _visit(vault: Vault, place: Place, errand: Errand) -> PlaceResult:
    if place.kind in {AddressKind.LIVE, AddressKind.VAULT}:
        from lazy.live.visiting import visit_connected  # needed for these kinds only

        errand.watch.progress(0, 0, f"ask {place.name}")
        return visit_connected(vault, place, errand)
    first: PlaceResult | None = None
    try:
        first = _visit_medium(vault, place, errand)
        if not _begins_anew(first.refusal):
            return first
    except PlaceNotWritable as error:
        if not _begins_anew(error):
            raise
    # A power cut, say, left something here that git cannot work with: nobody has to ask a second time for that.
    again = _visit_medium(vault, place, errand)
    if first is not None:
        again.follow(first)
    return again


def _begins_anew(fault: LaceError | None) -> bool:
    return isinstance(fault, PlaceNotWritable) and fault.begins_anew


def _visit_medium(vault: Vault, place: Place, errand: Errand) -> PlaceResult:
    with ExitStack() as stack:
        if not errand.dry_run:
            stack.enter_context(turn(vault, place, errand.watch))
        errand.watch.progress(0, 0, f"ask {place.name}")
        mends = place.kind == AddressKind.GIT and errand.push and not errand.dry_run and held_back(vault) is None
        medium = stack.enter_context(closing(open_medium(vault, place, mends=mends)))
        from lazy.visits.visit import visit  # a friend who serves is no medium

        return visit(vault, place, medium, errand)
