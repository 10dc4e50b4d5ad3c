"""`lace sync --follow`: two people at work at once, each of whom has at once what the other shares (INT-127).

A friend who serves says when there is news; other places are looked at every few seconds. What is shared here goes out
as soon as it is written. A place that goes away is looked for again, and said once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.words.inert import inert
from lazy.live.news import NewsLines
from lazy.live.own_news import OwnNews
from lazy.results import PlaceResult
from lazy.sync import sync
from transports.address import AddressKind
from vault.errors import PeerError, PlaceError
from vault.vault import Vault
from vault.watch import Watch

if TYPE_CHECKING:
    from lace_tui.acts.stopping import CancelToken
    from lazy.interlace.scope import Scope

__all__ = ["follow"]

# Seconds between two visits, by what a visit costs and whether anybody would say that one is due.
_LOOK_NEAR, _LOOK_FAR, _LOOK_TOLD = 2.0, 30.0, 60.0
_STEP = 0.2  # seconds
_NEAR = frozenset({AddressKind.LIVE, AddressKind.DROP})

Said = Callable[[Sequence[PlaceResult]], Answer]


def follow(context: Context, vault: Vault, names: Sequence[str], scope: Scope | None, said: Said) -> int:
    """Visit again and again, and say so whenever a visit moved something, until the person stops it.

    Where it turns out that this vault may sign nothing, what came is told with the way out, and that is the end.

    Args:
        context: of the command.
        vault: who follows.
        names: peers or places.
        scope: what is fetched of content; everything when there is none.
        said: makes the answer of visits.

    Returns:
        The exit code.

    Raises:
        PlaceError, PeerError: no place could be reached at the first visit, or something is to be mended.
        Cancelled: the person stopped it.
    """
    is_told = has_begun = False
    own = OwnNews(vault)
    with context.cancellable() as token, closing(NewsLines(vault)) as lines:
        while True:
            own.begin()
            try:
                watch = Watch(cancelled=token.check)
                results = sync(vault, names, watch=watch, scope=scope, is_again=has_begun, tells_held=True)
                own.end()
            except (PlaceError, PeerError) as error:
                if not has_begun or not error.can_wait:
                    raise
                if is_told:
                    _say_gone(context, error)
                is_told = False
                own.end()
                _wait(context, own, token, lines, _LOOK_NEAR, _LOOK_NEAR)
                continue
            if any(result.held is not None for result in results):  # nor may it at the next visit
                return context.output.answer(said(results))
            has_moved = any(_has_moved(result) for result in results)
            if not is_told or has_moved:
                answer = said(results)
                text = answer.text(context.output.paint) if callable(answer.text) else answer.text
                context.emit(answer.data, text)
            is_told = has_begun = True
            if not lines.keep(results):
                # Whoever says again and again that there is news, and has none, is believed every other second.
                _wait(context, own, token, lines, _pause(results, lines), 0.0 if has_moved else _LOOK_NEAR)


def _has_moved(result: PlaceResult) -> bool:
    came = result.came
    return bool(result.sent or came.received or came.admitted or came.membership)


def _say_gone(context: Context, error: PlaceError | PeerError) -> None:
    data = {"code": error.code, "message": error.message}
    why = error.message if isinstance(error, PlaceError) else f"{error.message} {error.hint}"
    context.emit(data, f"! {inert(why)} It is looked for again until you stop this.")


def _pause(results: Sequence[PlaceResult], lines: NewsLines) -> float:
    kinds = {result.kind for result in results if result.name not in lines.names}
    if not kinds:
        return _LOOK_TOLD
    return _LOOK_NEAR if kinds <= _NEAR else _LOOK_FAR


def _wait(
    context: Context, own: OwnNews, token: CancelToken, lines: NewsLines, longest: float, news_after: float
) -> None:
    """Wait until somebody shared something in this vault, until a friend has news, or until it is time to look."""
    now = context.world.monotonic
    began = now()
    is_news = False
    while now() < began + longest and not own.is_there():
        token.check()
        if lines.names:
            is_news |= lines.heard(_STEP)
        if is_news or not lines.names:
            if is_news and now() >= began + news_after:
                return
            context.world.sleep(_STEP)
