"""What the app tells of work that ended, and of a vault that cannot be read: on Home, and where Home is not in sight.

A card of work stays until the next one; what is said of a vault that cannot be read stands below it until it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from lace_tui.screens.cards import Card, failed_card
from lace_tui.screens.home import Home
from lace_tui.screens.place import PlaceScreen, place_in
from lace_tui.words.inert import inert

if TYPE_CHECKING:
    from lace_tui.app.front import Front
    from lace_tui.app.looking import Looking
    from lace_tui.app.working import Working
    from lace_tui.screens.messages import DidFail

__all__ = ["Telling"]

_UNREAD = "The vault cannot be read"
_NO_ANSWERS = {"cancelled", "key-locked", "extra-missing", "bug"}  # no other answer to a question helps against these
_TOLD = 3  # lines of a card that are told where the card itself is not in sight


def _below(worked: Card | None, unread: Card) -> Card:
    """Return what work came to with what is said of a vault that cannot be read, unless it says that itself."""
    if worked is None:
        return unread
    said = {line.plain for line in worked.lines}
    lines = tuple(line for line in unread.lines if line.plain not in said)
    return worked._replace(lines=(*worked.lines, *lines), is_bad=True)


class Telling:
    """What keeps the card of work that ended, and tells what failed.

    Args:
        front: the app, which shows the card.
        working: knows when it ended.
        looking: reads again what work changed.
    """

    def __init__(self, front: Front, working: Working, looking: Looking) -> None:
        self._front = front
        self._working = working
        self._looking = looking
        self._worked: Card | None = None  # what work came to, until the vault is read after it
        self._unread: Card | None = None  # says that the vault cannot be read, until it can
        self._is_unread_told = False  # whether that was told beside the card, which is on Home

    def keep(self, card: Card) -> None:
        """Show a card on Home until the next one."""
        self._front.card = self._worked = card._replace(ended=self._working.now_iso)
        self._front.refresh_places()

    def answer_again(self) -> None:
        """Tell a person who asks whether the vault can be read, though they were told before."""
        self._is_unread_told = False

    def end_unread(self) -> None:
        """Take away what was said of a vault that could not be read: it was read."""
        if self._unread is not None and self._front.card is self._unread:
            self._front.card = self._worked
            self._forget_unread()
        self._unread, self._is_unread_told = None, False  # work that failed meanwhile has its card in that place
        self._worked = None

    def _forget_unread(self) -> None:
        """Take away what was told of a vault that could not be read: what else failed meanwhile failed of the same."""
        if self._unread is not None:
            self._unread, self._is_unread_told = None, False
            self._front.clear_notifications()

    def fail(self, message: DidFail) -> None:
        """Show what went wrong, and keep it."""
        if message.job is not None:
            self._working.end(message.job)
            card = failed_card(f"{message.job.what}: ended early", message.trouble, self._front.taste.keys)
            self.keep(card)  # told below, once
            self._looking.read_all()
        elif message.asked:
            card = failed_card(message.asked, message.trouble, self._front.taste.keys)
        else:
            self._looking.end()
            card = failed_card(_UNREAD if self._front.folder else "Not begun", message.trouble, self._front.taste.keys)
            self._front.card = self._unread = _below(self._worked, card)
            self._front.refresh_places()
            if self._is_told_already(card):
                return
        sentence = f"{message.trouble.message} ({message.trouble.code}) {message.trouble.hint}"
        is_answer = message.trouble.code not in _NO_ANSWERS
        if message.refused is not None and is_answer and message.refused(sentence):
            return
        if not isinstance(self._front.screen, Home) or message.asked:
            self._front.notify(inert(sentence), title=inert(card.title), severity="error", timeout=30, markup=False)

    def _is_told_already(self, unread: Card) -> bool:
        """Return whether it is seen that the vault cannot be read: in the place in front, or told before."""
        place = place_in(self._front.screen_stack)
        if (place is not None and place.show_unread(unread.lines)) or isinstance(self._front.screen, ModalScreen):
            return True  # over a page it would hide what is asked there; Home has it
        was_told, self._is_unread_told = self._is_unread_told, True
        return was_told

    def after_work(self, card: Card | None) -> None:
        """Keep the card of work that ended, and read again what is shown."""
        if card is not None:
            self._forget_unread()  # what is still so, the reading says again
            self.keep(card)
            screen = self._front.screen
            if isinstance(screen, PlaceScreen) and not isinstance(screen, Home):  # the card itself is on Home
                told = "\n".join(line.plain for line in card.lines[:_TOLD])
                self._front.notify(
                    told, title=card.title, severity="warning" if card.is_bad else "information", markup=False
                )
        self._looking.read_all()
