"""What visits came to, as data and as text: what came, what went, what was refused and what is next.

One visit can hold several exchanges. The answer has `exchanges[]` always; at the top, counts are summed, lists are
joined, and what belongs to one link is null unless there was exactly one exchange.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.words.inert import inert
from lazy.arrivals import ExchangeResult, NewRelease
from lazy.conflicts import conflicts
from lazy.contested import Conflict
from lazy.endings import Queued
from lazy.noted_visits import sync_command
from lazy.problems import NO_PERSON_NEEDED
from lazy.results import HasAll, PlaceResult
from transports.layout import ONE_FILE
from vault.desk_folders import desks
from vault.errors import LaceError
from vault.plural import bytes_text, plural
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.interlace.scope import Scope
    from lazy.receiving.membership_news import MemberNews
    from vault.records import RecordHash

__all__ = ["answer", "membership_data", "release_data"]

_SHOWN_REFUSALS = 20
_NAMED_BY = "; named by: lace quarantine"
_SUMMED = ("received", "sent", "bytes_received", "bytes_sent", "round_trips", "rounds")
_JOINED = ("rejected_hashes", "releases", "admitted", "newcomers", "revoked", "problems", "new_conflicts")
_STAYS = dict.fromkeys(("push", "sync", "due"), "; what waits for it stays queued")
_UNDONE = {"push": "put there", "pull": "read there"}


def answer(
    context: Context,
    vault: Vault,
    asked: Sequence[str],
    results: Sequence[PlaceResult],
    verb: str,
    scope: Scope | None = None,
) -> Answer:
    """Return what visits came to, as data and as text.

    Args:
        context: of the command.
        vault: whose visits they were, still open.
        asked: the names that were given.
        results: one a place.
        verb: `push`, `pull` or another; decides what the text speaks of.
        scope: what was fetched of content, if not everything.
    """
    still_open = conflicts(vault)
    data = _data(vault, asked, results, still_open, is_full=context.verbose)
    parts: list[str] = []
    if scope is not None:
        parts = _parts(vault, scope) if any(result.came.left_out for result in results) else []
        data["scope"] = {**_scope_data(scope, results), "parts": parts}
    person = bool(still_open) or any(_needs_person(result, verb) for result in results)
    labels = {result.name: _next(result) for result in results}
    me = vault.node.text

    def text(paint: Paint) -> str:
        blocks = [_place_text(result, paint, verb, parts) for result in results]
        return "\n".join([*blocks, *_closing(results, still_open, data["conflicts"], labels, me, paint, verb)])

    refusal = _refusal(results)
    if refusal is not None:
        data["error"] = {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}
        return Answer(data, text, exit_code=refusal.exit_code)
    return Answer(data, text, exit_code=1 if person else 0)


def _refusal(results: Sequence[PlaceResult]) -> LaceError | None:
    """Return why this vault may sign nothing, or why no place took what was to be put there, though one was read."""
    held = next((result.held for result in results if result.held is not None), None)
    if held is not None:
        return held
    if not all(result.queued or result.refusal for result in results):
        return None
    return next((result.refusal for result in results if result.refusal), None)


def _scope_data(scope: Scope, results: Sequence[PlaceResult]) -> dict[str, Any]:
    from lazy.interlace.scope import scope_text
    from vault.lacegram import module_id  # rules are read where they are used

    return {
        "desks": sorted(scope.desks),
        "paths": sorted(scope.paths),
        "id": module_id(scope_text(scope)),
        "left_out": any(result.came.left_out for result in results),
    }


def _parts(vault: Vault, scope: Scope) -> list[str]:
    from lazy.parts import parts_here  # only a sync about a part asks

    found = [desk.name for desk in desks(vault) if not scope.desks or desk.name in scope.desks]
    return [command for desk in found for command in parts_here(vault, desk)]


def _needs_person(result: PlaceResult, verb: str) -> bool:
    """Tell whether a visit left something that does not settle by itself: refusals, damage on the medium.

    What is pushed to a place that is away waits there and needs nobody (LAZ-24); what was to be read was not.
    """
    if isinstance(result.ending, Queued):
        return verb != "push" or not result.ending.can_wait
    if result.refusal is not None:
        return True
    told = any(problem.code not in NO_PERSON_NEEDED for problem in result.problems)
    return told or bool(result.came.disputed) or any(exchange.not_available for exchange in result.came.exchanges)


def _next(result: PlaceResult) -> str:
    if result.planned is None:
        return result.next
    again = result.next if result.kind == ONE_FILE else sync_command(result.name)
    return again if result.sent or result.planned.records_to_receive or result.queued else ""


# Data


def _data(
    vault: Vault, asked: Sequence[str], results: Sequence[PlaceResult], open_ones: Sequence[Conflict], *, is_full: bool
) -> dict[str, Any]:
    """Return the whole answer: the sum of all places, with each place and each exchange below it."""
    found = [_place_data(result, is_full=is_full) for result in results]
    exchanges = [exchange for place in found for exchange in place["exchanges"]]
    only = exchanges[0] if len(exchanges) == 1 else {}
    return {
        "name": asked[0] if len(asked) == 1 else None,
        "place": results[0].name if len(results) == 1 else None,
        "transport": _same(result.kind for result in results),
        **{key: only.get(key) for key in ("link_id", "exchange_plan_id", "peer_verifier", "closed_by")},
        **{key: sum(place[key] for place in found) for key in _SUMMED},
        **{key: [item for place in found for item in place[key]] for key in _JOINED},
        **{key: _joined(place[key] for place in found) for key in ("received_hashes", "not_available_hashes")},
        "unreleased": {name: count for result in results for name, count in result.unreleased.items()},
        "fixed_point": all(place["fixed_point"] for place in found),
        "cursor_updated": any(place["cursor_updated"] for place in found),
        "planned": any(result.planned is not None for result in results),
        "joined": any(result.came.joined for result in results),
        "queued": any(result.queued or result.refusal is not None for result in results),
        "safe_to_remove": all(result.safe_to_remove for result in results),
        "conflicts": _conflicts_data(vault, open_ones),
        "vector_before": results[0].vector_before,
        "vector_after": results[-1].vector_after,
        "next": next(iter(_steps(results, {result.name: _next(result) for result in results})), ""),
        "exchanges": exchanges,
        "places": found,
    }


def _conflicts_data(vault: Vault, open_ones: Sequence[Conflict]) -> list[dict[str, Any]]:
    if not open_ones:
        return []
    from lace_tui.verbs.conflicts import conflicts_data  # of conflicts there are mostly none

    return conflicts_data(vault, open_ones)


def _place_data(result: PlaceResult, *, is_full: bool) -> dict[str, Any]:
    """Return one place."""
    exchanges = [_exchange_data(result, exchange, is_full=is_full) for exchange in result.came.exchanges]
    not_available = [record for exchange in result.came.exchanges for record in exchange.not_available]
    planned = result.planned
    return {
        "name": result.name,
        "place": result.name,
        "transport": result.kind,
        "received": len(result.came.received) if planned is None else planned.records_to_receive,
        "sent": result.sent,
        "received_hashes": list(result.came.received) if is_full else len(result.came.received),
        "rejected_hashes": _rejected(result.came.rejected, result.came.told_before),
        "not_available_hashes": not_available if is_full else len(not_available),
        "bytes_received": result.traffic.bytes_read,
        "bytes_sent": result.traffic.bytes_written if planned is None else planned.bytes_to_send,
        "bytes_free": planned.bytes_free if planned is not None else None,
        "round_trips": result.traffic.round_trips,
        "rounds": sum(exchange.rounds for exchange in result.came.exchanges),
        "fixed_point": not result.queued
        and result.refusal is None
        and all(exchange.fixed_point for exchange in result.came.exchanges),
        "cursor_updated": any(exchange.cursor_updated for exchange in result.came.exchanges),
        "admitted": result.came.admitted,
        **membership_data(result.came.membership),
        "joined": result.came.joined,
        "releases": [release_data(release) for release in result.came.releases],
        "new_conflicts": result.came.new_conflicts,
        "problems": [
            {
                "place": result.name,
                "peer": problem.peer,
                "code": problem.code,
                "message": problem.message,
                "hint": problem.hint,
            }
            for problem in result.problems
        ],
        "unreleased": result.unreleased,
        "vector_before": result.vector_before,
        "vector_after": result.vector_after,
        "planned": planned is not None,
        "queued": result.queued or result.refusal is not None,
        "only_read": result.only_read,
        "waiting": result.waiting,
        "safe_to_remove": result.safe_to_remove,
        "next": _next(result),
        "exchanges": exchanges,
    }


def _exchange_data(result: PlaceResult, exchange: ExchangeResult, *, is_full: bool) -> dict[str, Any]:
    """Return one exchange; what only the whole visit knows is null unless it was the only one.

    That are bytes, round trips, conflicts, vectors and the next command: a sum over the exchanges counts nothing twice.
    """
    alone = len(result.came.exchanges) == 1
    return {
        "name": exchange.peer,
        "place": result.name,
        "transport": result.kind,
        "link_id": exchange.link_id,
        "exchange_plan_id": exchange.plan_id,
        "peer_verifier": exchange.peer_verifier,
        "received": len(exchange.received),
        "sent": exchange.sent,
        "received_hashes": list(exchange.received) if is_full else len(exchange.received),
        "rejected_hashes": _rejected(exchange.rejected, result.came.told_before),
        "not_available_hashes": exchange.not_available if is_full else len(exchange.not_available),
        "bytes_received": result.traffic.bytes_read if alone else None,
        "bytes_sent": result.traffic.bytes_written if alone else None,
        "round_trips": result.traffic.round_trips if alone else None,
        "rounds": exchange.rounds,
        "advertised": exchange.advertised,
        "fixed_point": exchange.fixed_point,
        "cursor_updated": exchange.cursor_updated,
        "conflicts": result.came.new_conflicts if alone else None,
        "releases": [
            release_data(release) for release in result.came.releases if release.node == exchange.peer_verifier
        ],
        "vector_before": result.vector_before if alone else None,
        "vector_after": result.vector_after if alone else None,
        "closed_by": exchange.closed_by,
        "next": _next(result) if alone else None,
    }


def _rejected(refused: Iterable[tuple[Any, str, str]], told_before: Collection[Any]) -> list[dict[str, Any]]:
    return [
        {"hash": record, "code": code, "reason": reason, "told_before": record in told_before}
        for record, code, reason in refused
    ]


def membership_data(news: Iterable[MemberNews]) -> dict[str, Any]:
    """Return whom others let in and who was revoked, as JSON has it."""
    said: dict[str, Any] = {"newcomers": [], "revoked": []}
    for one in news:
        said["revoked" if one.is_gone else "newcomers"].append({"name": one.name, "by": one.by})
    return said


def release_data(release: NewRelease) -> dict[str, Any]:
    """Return a friend's release that came, as JSON has it."""
    return {
        "release": release.release,
        "desk": release.desk,
        "version": release.version,
        "node": release.node,
        "name": release.name,
        "files": release.files,
        "deleted": release.deleted,
    }


def _same(values: Iterable[str]) -> str | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _joined(values: Iterable[Any]) -> Any:
    """Return counts summed, or lists joined."""
    found = list(values)
    if all(isinstance(value, int) for value in found):
        return sum(found)
    return [item for value in found for item in value]


# Text


def _place_text(result: PlaceResult, paint: Paint, verb: str, parts: Sequence[str] = ()) -> str:
    if isinstance(result.unmade, HasAll):
        said = f"{inert(result.unmade.peer)} has all that you share already, as they said last: no file was made."
        return f"{said}\n  Where something is missing there, make one without --for."
    lines = [paint.strong(inert(result.name)) + _moved(result, verb)]
    lines += ["  you are a member now"] if result.came.joined else []
    lines += [f"  {inert(name)} is a member now" for name in result.came.admitted]
    lines += [f"  {inert(one.sentence)}" for one in result.came.membership]
    lines += [f"  {inert(release.sentence)}" for release in result.came.releases]
    lines += _refusal_lines(result.came.disputed, paint)
    for exchange in result.came.exchanges:
        if exchange.not_available:
            lost = _records(len(exchange.not_available))
            lines.append(f"  {paint.bad('! damaged')} {lost} in {inert(exchange.peer)}'s mailbox cannot be read there")
    for problem in result.problems:
        who = f"{inert(problem.peer)}: " if problem.peer else ""
        lines.append(f"  {paint.warn('!')} {who}{inert(problem.message)}")
        lines += [f"    {inert(problem.hint)}"] if problem.hint else []
    for name, count in sorted(result.unreleased.items()):
        commits = "commit" if count == 1 else "commits"
        lines.append(f"  {inert(name)} has {count} unreleased {commits} (not shared, none of our concern)")
    if result.only_read and result.refusal is None and verb == "sync":
        lines.append("  only read, for its key is not on this machine: what is yours goes another way")
    if result.came.left_out:
        again = f"lace {verb} {inert(result.name)} fetches it, and lace update waits for it"
        lines.append(f"  the rest of what friends share is still there: {again}")
        lines += [f"  what is here of it comes with: {inert(command)}" for command in parts]
    if result.planned is None and not result.queued:
        read, written = bytes_text(result.traffic.bytes_read), bytes_text(result.traffic.bytes_written)
        asked = " to ask for it; nothing was written there" if result.only_read else " written"
        lines.append("  " + paint.faint(f"{read} read, {written}{asked}"))
        if result.waiting:
            from lace_tui.words.standing import came_since_text  # most syncs are of one place

            lines.append(f"  {came_since_text(result.waiting)}: {inert(sync_command(result.name))}")
        if result.safe_to_remove:
            lines.append("  " + paint.good("safe to remove"))
    return "\n".join(lines)


def _refusal_lines(refused: Sequence[tuple[RecordHash, str, str]], paint: Paint) -> list[str]:
    """Return what was refused and why, one line a reason: a release of somebody revoked is several records."""
    reasons: dict[tuple[str, str], list[RecordHash]] = {}
    for record, code, reason in refused:
        reasons.setdefault((code, reason), []).append(record)
    lines = []
    for (code, reason), records in list(reasons.items())[:_SHOWN_REFUSALS]:
        what, where = (str(records[0]), "") if len(records) == 1 else (_records(len(records)), _NAMED_BY)
        lines.append(f"  {paint.bad('! refused')} {what}: {inert(reason)} ({inert(code)}){where}")
    if len(reasons) > _SHOWN_REFUSALS:
        lines.append(f"  {paint.bad('! refused')} more for {len(reasons) - _SHOWN_REFUSALS} other reasons{_NAMED_BY}")
    return lines


def _moved(result: PlaceResult, verb: str) -> str:
    if result.queued:
        is_read = result.kind == "http" or any(one.code == "only-read" for one in result.problems)
        is_final = result.planned is not None or is_read  # what is only read takes nothing later
        return f": nothing could be {_UNDONE.get(verb, 'moved')}" + ("" if is_final else _STAYS.get(verb, ""))
    come, gone = len(result.came.received), result.sent
    if result.unmade is not None:
        return f": lies there already, with the {_records(gone)} that are to go"
    if result.planned is not None:
        free = result.planned.bytes_free
        short = f", but only {bytes_text(free)} are free there" if free is not None else ""
        size = f" ({bytes_text(result.planned.bytes_to_send)}{short})" if gone else ""
        parts = {
            "push": f"would send {_records(gone)}{size}",
            "pull": f"would receive {_records(result.planned.records_to_receive)}",
        }
        both = f"{parts['push']}, {parts['pull']}"
        return ": " + parts.get(verb, both) + "; nothing was changed"
    parts = {"push": f"sent {_records(gone)}", "pull": f"received {_records(come)}"}
    return ": " + parts.get(verb, f"{parts['push']}, {parts['pull']}")


def _records(count: int) -> str:
    return plural(count, "record") if count else "nothing"


def _closing(
    results: Sequence[PlaceResult],
    open_ones: Sequence[Conflict],
    rows: Sequence[dict[str, Any]],
    commands: dict[str, str],
    me: str,
    paint: Paint,
    verb: str,
) -> list[str]:
    """Return the conflict report and the next step (LAZ-27)."""
    lines = []
    steps = _steps(results, commands)
    if open_ones:
        from lace_tui.verbs.conflicts import asked_lines, conflict_line, ending_words  # mostly there is none
        from lazy.conflict_words import deciding_words

        endings = [ending_words(conflict, row) for conflict, row in zip(open_ones, rows, strict=True)]
        for conflict, row, ending in zip(open_ones, rows, endings, strict=True):
            lines.append(paint.warn("! conflict ") + conflict_line(conflict) + (f"; {ending}" if ending else ""))
            decide = f"lace resolve {conflict.id} {deciding_words(conflict, me)}"
            if endings.count("") == 1 and not ending and decide not in steps:
                lines.append(f"  Decide: {inert(decide)}")
            lines += asked_lines(conflict, row)
    elif verb != "push":
        lines.append("no conflicts")
    return lines + [f"Next: {inert(command)}" for command in steps]


def _steps(results: Sequence[PlaceResult], commands: dict[str, str]) -> list[str]:
    """Return the next commands, each once; what came is dealt with before a place that failed is tried again."""
    found = dict.fromkeys(commands[result.name] for result in results if commands[result.name])
    again = {sync_command(result.name) for result in results}
    return sorted(found, key=lambda command: command in again)
