"""Serving friends while the app is open: which server there is, and what it says (APP-1, APP-3).

The server itself stands in `lace_tui.acts.server`, and is loaded where somebody serves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from lace_tui.screens.cards import Card
from lace_tui.screens.marks import BAD, GOOD, mark
from lace_tui.screens.messages import DidAsk, DidServe
from lace_tui.words.inert import inert
from vault.errors import LaceError

if TYPE_CHECKING:
    from textual.content import Content
    from textual.message import Message

    from lace_tui.acts.server import Server
    from lace_tui.app.front import Front
    from lace_tui.app.working import Working
    from lazy.live.answering import Served
    from lazy.receiving.membership_news import MemberNews

__all__ = ["Serving"]


class Serving:
    """What looks after the server; how serving is asked for is the business of a place.

    Args:
        front: the app, which shows where friends reach this device.
        working: runs what takes long.
        tell: keeps a card that says that nobody is served any more.
    """

    def __init__(self, front: Front, working: Working, tell: Callable[[Card], None]) -> None:
        self._front = front
        self._working = working
        self._tell = tell
        self._is_renewing = False
        self._unrenewed = ""  # why it got no new certificate, as it was told

    def stop(self) -> None:
        """Answer nobody any more."""
        if self._front.server is not None:
            self._front.server.stop()

    def serve_by(self, server: Server | None) -> None:
        """Show that friends are served, or no longer."""
        self._front.server = server
        self._front.refresh_places()

    def tell_served(self, served: Served) -> None:
        """Tell of a request that was answered; called from any thread."""
        self._front.post_message(DidServe(served))

    def show_served(self, served: Served) -> None:
        """Say what a friend's visit came to, where it came to something."""
        who = inert(served.peer)
        if served.problem:
            self._front.notify(f"{who}: {inert(served.problem)}", title="Serving", severity="warning", markup=False)
        elif served.admitted:
            self._front.notify(f"{who} is a member now", title="Serving", markup=False)
        elif served.received or served.sent or served.refused:
            told = f"{who}: received {served.received}, sent {served.sent}, refused {served.refused}"
            self._front.notify(told, title="Serving", markup=False)
        for one in served.membership:
            severity: Literal["warning", "information"] = "warning" if one.is_gone else "information"
            self._front.notify(inert(one.sentence), title="Serving", severity=severity, markup=False)
        if served.membership:
            self._forget_told(served.membership)
        for release in served.releases:
            self._front.notify(inert(release.sentence), title="Serving", markup=False)

    def _forget_told(self, told: Collection[MemberNews]) -> None:
        """Take off the note, in a thread, of whom the person was told: the next sync would tell it as news again."""

        def forget() -> Message:
            from lazy.receiving.membership_news import forget_told  # hardly anybody comes or goes

            with suppress(LaceError), self._working.vault() as vault:  # what cannot be noted now is told twice
                forget_told(vault, told)
            return DidAsk(lambda _: None, None)

        self._working.run("told", forget)

    def parts(self) -> list[tuple[int, Content]]:
        """Return for a header where friends reach this device, or would; nothing while nobody is served."""
        if self._front.server is None:
            return []
        where = f"serving {self._front.server.where}"
        return [(2, mark(f"! not {where}", BAD) if self._front.server.is_over else mark(where, GOOD))]

    def look_after(self) -> None:
        """Say that nobody is served any more, where the server ended by itself."""
        server = self._front.server
        if server is None or self._is_renewing:
            return
        if server.is_due:
            self._renew(server)
            return
        if not server.is_over:
            return
        self.serve_by(None)
        server.stop()
        begins = f"{self._front.key_of('serve')} in Peers begins again"
        why = f"! nobody is served any more; {begins}"
        if server.is_adopted:  # or friends would wait for it at an address that is no more
            why = f"! this vault has another key now: {begins}, at another address, which friends add"
        self._tell(Card("Serving: ended", (mark(why, BAD),), is_bad=True))

    def _renew(self, server: Server) -> None:
        """Give the server a new certificate, in a thread; where that cannot be, it is said once, and tried again."""
        self._is_renewing = True

        def renew() -> Message:
            try:
                server.renew()
            finally:
                self._is_renewing = False
            return DidAsk(lambda _: self._renewed(""), None)

        def refused(why: str) -> bool:
            is_told = why == self._unrenewed
            self._renewed(why)
            return is_told

        self._working.run("serve", renew, asked="Serving: no new certificate", refused=refused)

    def _renewed(self, why: str) -> None:
        self._unrenewed = why
        self._front.refresh_places()
