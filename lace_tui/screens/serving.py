"""Beginning and ending to serve friends, with the address that they add (APP-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lace_tui.acts.server import Server, host_and_port
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Question, ServingPage
from lace_tui.screens.marks import GOOD, NOTE, QUIET, STRONG, mark
from vault.commands import as_option, as_typed

if TYPE_CHECKING:
    from textual.content import Content

    from lace_tui.screens.host import Refused
    from lace_tui.screens.place import PlaceScreen

__all__ = ["ask_serve"]

_USUAL = ":7433"


def ask_serve(asker: PlaceScreen) -> None:
    """Ask where to listen, and serve; where that is done already, say at which address; a key there ends it."""
    if asker.lace.server is not None:
        _show_serving(asker, asker.lace.server)
        return
    text = (
        "Friends sync with this device while the app is open, known by your key. Where to listen? HOST:PORT; without a"
    )
    text += " host everywhere, port 0 is any free one."

    def named(listen: str | None, refused: Refused) -> None:
        if listen:
            lace = asker.lace
            command = "lace serve" if listen == _USUAL else f"lace serve {as_option('--listen', listen)}"
            lace.begin(
                "Serve",
                lambda vault, _: Server(vault, listen, lace.tell_served, lace.monotonic),
                lambda made: _began(asker, made),
                command,
                refused,
            )

    asker.lace.put(Question("Serve", text, _USUAL, check=host_and_port), named)


def _address(serving: Server) -> list[Content]:
    return [mark("Friends add this place once:"), mark(as_typed("place add", "NAME", serving.uri), STRONG)]


def _began(asker: PlaceScreen, made: Server) -> Card:
    asker.lace.serve_by(made)
    asker.app.copy_to_clipboard(made.uri)
    copied = "It is in your clipboard too, where your terminal allows that."
    told = mark(f"{copied} {asker.key_of('serve')} in Peers shows it again.", QUIET)
    return Card("Serving", (mark(f"= friends reach you at {made.where}", GOOD), *_address(made), told))


def _show_serving(asker: PlaceScreen, serving: Server) -> None:
    lines = [mark(f"Friends reach you at {serving.where}.", STRONG), *_address(serving)]
    lines += [mark("Somebody is being answered now; that may end, for some seconds.", NOTE)] if serving.is_busy else []

    def stopped(_: object) -> Card:
        asker.lace.serve_by(None)
        return Card("Serving: ended", (mark("= nobody is served any more", GOOD),))

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            asker.lace.begin("Serve: ending", lambda _vault, _watch: serving.stop(), stopped)

    asker.app.push_screen(ServingPage("Serving", lines, as_typed("place add", "NAME", serving.uri)), decided)
