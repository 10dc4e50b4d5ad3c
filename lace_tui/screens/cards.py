"""Cards: what the last work did, in a few lines that stay until the next one (APP-5).

Here are those of visits, places and releases, of work under way and of failures; those of what was written into the
folder stand in `written`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from textual.content import Content

from lace_tui.keys.keymap import key_of
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, mark
from lace_tui.words.times import duration_text
from vault.errors import Cancelled, LaceError
from vault.plural import bytes_text, more_lines, plural

if TYPE_CHECKING:
    from lace_tui.model.deeds import Shared
    from lace_tui.model.job import Far
    from lace_tui.model.view import HomeView
    from lazy.arrivals import ExchangeResult
    from lazy.places.registry import Place
    from lazy.results import PlaceResult

__all__ = [
    "KEY_LOCKED",
    "Card",
    "Trouble",
    "failed_card",
    "place_card",
    "planned_card",
    "released_card",
    "stored_card",
    "sync_card",
    "working_card",
    "working_parts",
]

KEY_LOCKED = "key-locked"  # the code of a key whose passphrase is absent or wrong
_KEY_HINT = "Do it again, and type the passphrase of your key."
_LONG = 2  # seconds of work after which it is told how long it lasts, unless it is known how long it will
_DOING = {  # what does the same here, by the beginning of a command
    "lace update": "update", "lace conflicts": "go-conflicts", "lace resolve": "go-conflicts", "lace sync": "sync",
}  # fmt: skip
_LISTED = 3  # releases, problems or exchanges named one by one on a card


class Card(NamedTuple):
    """A title, lines below it, whether they tell of trouble, and when the work ended (ISO 8601 UTC)."""

    title: str
    lines: tuple[Content, ...]
    is_bad: bool = False
    ended: str = ""


class Trouble(NamedTuple):
    """Why work ended early, as the table of errors says it.

    Args:
        code: of the table.
        message: what happened.
        hint: the way out.
        is_wish: whether the person asked for it.
    """

    code: str
    message: str
    hint: str
    is_wish: bool = False

    @classmethod
    def of(cls, error: LaceError) -> Self:
        """Return an error of the table, with the way out that there is in the app."""
        hint = _KEY_HINT if error.code == KEY_LOCKED else error.hint
        return cls(error.code, error.message, hint, isinstance(error, Cancelled))

    @classmethod
    def bug(cls, what: str) -> Self:
        """Return a fault of lace itself."""
        return cls("bug", f"lace has a fault ({what}).", "Please report it. What was stored before stays.")


def stored_card(view: HomeView, keys: Mapping[str, str]) -> Card:
    """Return the card of the newest visit as the vault remembers it; `keys` are those that the person changed."""
    last = view.last
    if last is None:
        names = f"press {key_of('new-place', keys)} and say where you and your friends meet"
        how = f"press {key_of('sync', keys)}" if view.places else names
        return Card("Last sync", (mark(f"No sync yet. To begin, {how}", QUIET),))
    summary = last.summary
    lines = [
        _counts(
            _number(summary, "sent"),
            _number(summary, "received"),
            _number(summary, "rejected"),
            len(_texts(summary, "conflicts")),
        )
    ]
    lines += [mark(f"v {text}", NOTE) for text in _texts(summary, "releases")[:_LISTED]]
    lines += _more(len(_texts(summary, "releases")))
    lines += [mark(f"+ {name} is a member now", GOOD) for name in _texts(summary, "admitted")[:_LISTED]]
    for sign, who in (("+", "newcomers"), ("-", "revoked")):
        lines += [mark(f"{sign} {text}", NOTE) for text in _texts(summary, who)[:_LISTED]]
        lines += _more(len(_texts(summary, who)))
    problems = summary.get("problems")
    for problem in problems[:_LISTED] if isinstance(problems, list) else []:
        if isinstance(problem, Mapping):
            lines += _problem(*(str(problem.get(key, "")) for key in ("peer", "message", "code", "hint")))
    lines += _more(len(problems) if isinstance(problems, list) else 0)
    return Card(f"Last sync: {last.place}", tuple(lines), bool(problems), last.when)


def sync_card(results: list[PlaceResult], seconds: float, keys: Mapping[str, str]) -> Card:
    """Return the card of a visit that just ended; `keys` are those that the person changed."""
    names = ", ".join(result.name for result in results)
    lines: list[Content] = []
    for result in results:
        lines += _result_lines(result, keys, is_named=len(results) > 1)
    is_bad = any(result.problems or result.came.disputed or result.queued or _damaged(result) for result in results)
    return Card(f"Last sync: {names}, {duration_text(seconds)}", tuple(lines), is_bad)


def planned_card(results: list[PlaceResult], keys: Mapping[str, str]) -> Card:
    """Return the card of a dry run: what a sync would move; `keys` are those that the person changed."""
    lines: list[Content] = []
    for result in results:
        if result.queued:
            lines.append(mark(f"o {result.name} is not reached", BAD))
            continue
        planned = result.planned
        free = planned.bytes_free if planned else None
        short = f", but only {bytes_text(free)} are free there" if free is not None else ""
        size = f" ({bytes_text(planned.bytes_to_send)}{short})" if planned and planned.bytes_to_send else ""
        text = f"{result.name}: would send {plural(result.sent, 'record')}{size}"
        lines.append(mark(f"{text}, and receive {plural(planned.records_to_receive if planned else 0, 'record')}"))
        for problem in result.problems[:_LISTED]:
            lines += _problem(problem.peer, problem.message, problem.code, problem.hint)
    lines.append(mark(f"Nothing was moved. {key_of('sync', keys)} syncs.", QUIET))
    return Card("What would move", tuple(lines), any(result.queued or result.problems for result in results))


def released_card(shared: Shared, keys: Mapping[str, str], *, has_place: bool) -> Card:
    """Return the card of a release: of a first one, that everything goes to friends; and what is to be known of it.

    Args:
        shared: what was released, and what became of it at the places.
        keys: those that the person changed.
        has_place: whether there is a place that it can be put on.
    """
    done, pushed = shared.made, shared.pushed
    what = f"{plural(done.files, 'file')}, {bytes_text(done.bytes)}"
    said = f"your first release: all of it goes to your friends, {what}" if done.first else f"{what} in all"
    following = (
        "sync, so that your friends get it"
        if has_place
        else f"{key_of('new-place', keys)} adds the place where your friends get it"
    )
    lines = [mark(f"= {done.desk} {done.version} is released", GOOD), mark(said)]
    lines += [mark(f"  pushed to {result.name}") for result in pushed if not result.queued]
    lines += [mark(f"  {result.name} is not reached; it stays in the queue", BAD) for result in pushed if result.queued]
    lines += [mark(_or_here(sentence, keys), BAD) for sentence in shared.told]
    if not pushed or any(result.queued for result in pushed):
        lines.append(mark(f"next: {following}"))
    return Card("Release: done", tuple(lines), bool(shared.told))


def _or_here(sentence: str, keys: Mapping[str, str]) -> str:
    """Return a sentence that ends with a command, or a command, with the key that does the same here."""
    typed = sentence.rpartition(": ")[2]
    doing = next((name for command, name in _DOING.items() if typed.startswith(command)), "")
    return f"{sentence}, or here {key_of(doing, keys)}" if doing else sentence


def place_card(
    place: Place, worth_knowing: Sequence[str], keys: Mapping[str, str], *, is_encrypted: bool = False
) -> Card:
    """Return the card of a new place, with what is to be known of it; `keys` are those that the person changed."""
    from transports.address import as_read  # no part of the first frame

    told = [mark("= what you put there only members can read", GOOD)] if is_encrypted else []
    told += [mark(f"! {sentence}", BAD) for sentence in worth_knowing]
    following = mark(
        f"next: {key_of('invite-friend', keys)} invites a friend, who learns of it; {key_of('sync', keys)} syncs it"
    )
    return Card("A place", (mark(f"= {place.name}: {as_read(place.uri)}"), *told, following))


def _result_lines(result: PlaceResult, keys: Mapping[str, str], *, is_named: bool) -> list[Content]:
    counts = _counts(result.sent, len(result.came.received), len(result.came.disputed), len(result.came.new_conflicts))
    if result.safe_to_remove:
        counts += Content("   ") + mark("= safe to remove", GOOD)
    lines = [mark(f"{result.name}: ") + counts if is_named else counts]
    if result.queued:
        lines.append(mark("o not reached; what waits for it stays in the queue", BAD))
    if result.waiting:
        from lace_tui.words.standing import came_since_text  # no part of the first frame

        lines.append(mark(f"^ {came_since_text(result.waiting)}: sync it again", NOTE))
    lines += [
        mark(f"v {release.name} {release.desk} {release.version}, {release.changed}", NOTE)
        for release in result.came.releases[:_LISTED]
    ]
    lines += _more(len(result.came.releases))
    lines += [mark("+ you are a member now", GOOD)] if result.came.joined else []
    lines += [mark(f"+ {name} is a member now", GOOD) for name in result.came.admitted]
    lines += [mark(f"{'-' if one.is_gone else '+'} {one.sentence}", NOTE) for one in result.came.membership]
    for problem in result.problems[:_LISTED]:
        lines += _problem(problem.peer, problem.message, problem.code, problem.hint)
    lines += _more(len(result.problems))
    lines += [mark(f"! refused: {reason} ({code})", BAD) for _, code, reason in result.came.disputed[:_LISTED]]
    lines += _more(len(result.came.disputed), f": {key_of('refused', keys)} in Audit")
    lines += _damaged(result)
    for name, count in sorted(result.unreleased.items()):
        lines.append(
            mark(f"  {name} has {plural(count, 'unreleased commit')} (not shared, none of our concern)", QUIET)
        )
    lines += [_exchange(exchange) for exchange in result.came.exchanges]
    if result.next:
        lines.append(mark(_or_here(f"next: {result.next}", keys)))
    return lines


def _more(count: int, where: str = "") -> list[Content]:
    """Return how many there are beside those that are named one by one, and where these are to be seen."""
    return [mark(line + where, QUIET) for line in more_lines(count, _LISTED)]


def _damaged(result: PlaceResult) -> list[Content]:
    """Return in whose mailboxes something lies that cannot be read there."""
    lost = ((exchange.peer, len(exchange.not_available)) for exchange in result.came.exchanges)
    return [
        mark(f"! damaged: {plural(count, 'record')} in {peer}'s mailbox cannot be read there", BAD)
        for peer, count in lost
        if count
    ]


def _exchange(exchange: ExchangeResult) -> Content:
    ended = "all that was offered is here" if exchange.fixed_point else exchange.closed_by
    text = (
        f"  {exchange.peer}: {len(exchange.received)} of {exchange.advertised} records"
        f" in {plural(exchange.rounds, 'round')}, {ended}"
    )
    return mark(text, QUIET if exchange.fixed_point else BAD)


def _counts(sent: int, received: int, refused: int, conflicts: int) -> Content:
    parts = [mark(f"sent {sent}"), mark(f"received {received}")]
    parts.append(mark(f"! refused {refused}", BAD) if refused else mark("refused 0", QUIET))
    parts.append(mark(f"! new conflicts {conflicts}", BAD) if conflicts else mark("new conflicts 0", QUIET))
    return Content("   ").join(parts)


def _problem(peer: str, message: str, code: str, hint: str) -> list[Content]:
    """Return what is wrong, and the way out of it."""
    told = mark(f"! {peer}: {message} ({code})" if peer else f"! {message} ({code})", BAD)
    return [told, mark(f"  {hint}", QUIET)] if hint else [told]


def failed_card(what: str, trouble: Trouble, keys: Mapping[str, str]) -> Card:
    """Return the card of work that ended early: the sentence, the way out and the code.

    `keys` are those that the person changed.
    """
    sign = "-" if trouble.is_wish else "!"
    lines = [mark(f"{sign} {trouble.message} ({trouble.code})", BAD)]
    if trouble.hint:
        lines.append(mark(trouble.hint))
    if "lace fsck" in trouble.hint:
        lines.append(mark(f"or here: {key_of('check', keys)} in Audit, place {key_of('go-audit', keys)}"))
    return Card(what, tuple(lines), is_bad=not trouble.is_wish)


def working_card(what: str, far: Far, stop: str) -> Card:
    """Return the card of work under way: its phase, how far it is, how fast, and which key stops it."""
    first = mark(f"{far.phase or 'beginning'}  {_count(far)}".rstrip())
    done, total = (far.size, far.total_size) if far.total_size else (far.done, far.total)
    if total:
        filled = min(20, 20 * done // total)
        first += mark(f"  [{'#' * filled}{'.' * (20 - filled)}]", NOTE)
    pace = Content("   ").join(part for _, part in _pace(far))
    second = "stopping at the next safe point" if far.is_stopping else f"{stop} stops at the next safe point"
    lines = (first, pace, mark(second, QUIET)) if pace.plain else (first, mark(second, QUIET))
    return Card(what, lines)


def working_parts(what: str, far: Far) -> list[tuple[int, Content]]:
    """Return work under way for a header: what, how far, and how fast as far as that is known."""
    state = "stopping" if far.is_stopping else far.phase or "beginning"
    return [(1, mark(f"{what}: {state} {_count(far)}".rstrip(), NOTE)), *_pace(far)]


def _count(far: Far) -> str:
    if far.total_size and far.total <= 1:  # the bytes of one thing say how far it is
        return ""
    return f"{far.done} of {far.total}" if far.total else str(far.done) if far.done else ""


def _pace(far: Far) -> list[tuple[int, Content]]:
    """Return bytes, pace and the time that is left, else was spent, each with how soon it may be left out."""
    parts = []
    if far.total_size:
        parts.append((3, mark(f"{bytes_text(far.size)} of {bytes_text(far.total_size)}", NOTE)))
    if far.rate and not far.is_stopping:
        if far.total_size:
            rate = f"{bytes_text(far.rate)}/s"
        else:
            rate = f"{far.rate:.0f}/s" if far.rate >= 10 else f"{far.rate:.1f}/s"
        parts.append((5, mark(rate, QUIET)))
        if far.left is not None:
            parts.append((2, mark(f"{duration_text(far.left)} left", NOTE)))
    if far.left is None and far.spent >= _LONG:
        parts.append((4, mark(duration_text(far.spent), QUIET)))
    return parts


def _number(summary: Mapping[str, object], key: str) -> int:
    value = summary.get(key)
    return value if isinstance(value, int) else 0


def _texts(summary: Mapping[str, object], key: str) -> list[str]:
    value = summary.get(key)
    return [str(item) for item in value] if isinstance(value, list) else []
