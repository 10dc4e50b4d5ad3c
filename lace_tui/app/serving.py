"""Serving friends while the app is open: which server there is, and what it says (APP-1, APP-3).

The server itself stands in `server`, and is loaded where somebody serves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lace_tui.app.asking import Asking
from lace_tui.keys.keymap import key_of
from lace_tui.screens.cards import Card
from lace_tui.screens.marks import BAD, GOOD, STRONG, mark
from lace_tui.screens.messages import DidAsk, DidServe
from lace_tui.words.inert import inert
from vault.errors import LaceError

if TYPE_CHECKING:
    from textual.content import Content
    from textual.message import Message

    from lace_tui.acts.server import Server
    from lazy.live.answering import Served
    from lazy.receiving.revoked import Revoked
    from vault.surroundings import Surroundings

__all__ = ["Serving"]

_LOOK = 30.0  # seconds between two looks whether the server answers still


class Serving(Asking):
    """An app that may serve friends; how that is asked for is the business of a place.

    Args:
        folder: the shared folder, or None while there is no vault.
        surroundings: the world as the vault sees it.
        monotonic: seconds of a clock that never goes back.
    """

    def __init__(
        self, folder: Path | None, surroundings: Callable[[], Surroundings], monotonic: Callable[[], float]
    ) -> None:
        super().__init__(folder, surroundings, monotonic)
        self.server: Server | None = None
        self._is_renewing = False
        self._unrenewed = ""  # why it got no new certificate, as it was told

    def on_mount(self) -> None:
        """Look now and then whether the server answers still."""
        self.set_interval(_LOOK, self.look_after_server)

    def on_unmount(self) -> None:
        """Answer nobody any more once the app is left."""
        if self.server is not None:
            self.server.stop()

    def serve_by(self, server: Server | None) -> None:
        """Show that friends are served, or no longer."""
        self.server = server
        self.refresh_places()

    def tell_served(self, served: Served) -> None:
        """Tell of a request that was answered; called from any thread."""
        self.post_message(DidServe(served))

    def on_did_serve(self, message: DidServe) -> None:
        """Say what a friend's visit came to, where it came to something."""
        served = message.served
        who = inert(served.peer)
        if served.problem:
            self.notify(f"{who}: {inert(served.problem)}", title="Serving", severity="warning", markup=False)
        elif served.admitted:
            self.notify(f"{who} is a member now", title="Serving", markup=False)
        elif served.received or served.sent or served.refused:
            told = f"{who}: received {served.received}, sent {served.sent}, refused {served.refused}"
            self.notify(told, title="Serving", markup=False)
        for one in served.revoked:
            self.notify(inert(one.sentence), title="Serving", severity="warning", markup=False)
        if served.revoked:
            self._forget_told(served.revoked)
        for release in served.releases:
            self.notify(inert(release.sentence), title="Serving", markup=False)

    def _forget_told(self, told: Collection[Revoked]) -> None:
        """Take off the note, in a thread, of whom the person was told: the next sync would tell it as news again."""

        def forget() -> Message:
            from lazy.receiving.revoked import forget_told  # noqa: PLC0415 - hardly anybody is revoked

            with suppress(LaceError), self._vault() as vault:  # what cannot be noted now is told twice
                forget_told(vault, told)
            return DidAsk(lambda _: None, None)

        self._work("told", forget)

    @property
    def running(self) -> list[Content]:
        """What leaving the app would end, in sentences; nothing where it ends nothing."""
        lines = []
        if self.job is not None:
            lines.append(mark(f"{self.job.what} is still running.", STRONG))
            lines.append(mark("To leave stops it at its next safe point. What is stored by then stays."))
        if self.server is not None:
            lines.append(mark(f"Friends reach you at {self.server.where}.", STRONG))
            now = " Somebody is being answered now; that may end, for some seconds." if self.server.is_busy else ""
            lines.append(mark(f"To leave ends that.{now}"))
        return lines

    def serving_parts(self) -> list[tuple[int, Content]]:
        """Return for a header where friends reach this device, or would; nothing while nobody is served."""
        if self.server is None:
            return []
        where = f"serving {self.server.where}"
        return [(2, mark(f"! not {where}", BAD) if self.server.is_over else mark(where, GOOD))]

    def look_after_server(self) -> None:
        """Say that nobody is served any more, where the server ended by itself."""
        server = self.server
        if server is None or self._is_renewing:
            return
        if server.is_due:
            self._renew(server)
            return
        if not server.is_over:
            return
        self.serve_by(None)
        server.stop()
        begins = f"{key_of('serve', self.taste.keys)} in Peers begins again"
        why = f"! nobody is served any more; {begins}"
        if server.is_adopted:  # or friends would wait for it at an address that is no more
            why = f"! this vault has another key now: {begins}, at another address, which friends add"
        self.after_work(Card("Serving: ended", (mark(why, BAD),), is_bad=True))

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

        self._work("serve", renew, asked="Serving: no new certificate", refused=refused)

    def _renewed(self, why: str) -> None:
        self._unrenewed = why
        self.refresh_places()
