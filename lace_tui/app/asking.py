"""What the app asks a person: a line to type, and pages that were made ready behind the screen.

A key counts for what was in front when it was pressed. So a page opens over nothing that somebody does meanwhile, a
question is there before it is known what it asks, and an answer that the work refuses stands in its question again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lace_tui.keys.actions import Scope, action_named
from lace_tui.keys.keymap import shown_keys
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Offer, Question
from lace_tui.screens.home import Home
from lace_tui.screens.host import Answered, Refused
from lace_tui.screens.marks import GOOD, QUIET, mark
from lazy.noted_visits import sync_command, synced

if TYPE_CHECKING:
    from textual.screen import Screen

    from lace_tui.app.front import Front
    from lace_tui.app.showing import Showing
    from lace_tui.app.working import Working
    from vault.vault import Vault

__all__ = ["Asking"]


class Asking:
    """What asks a person; what it asks about is the business of the places.

    Args:
        front: the app.
        working: reads what has to be known first.
        showing: knows Home.
        tell: keeps a card that says something is ready.
    """

    def __init__(self, front: Front, working: Working, showing: Showing, tell: Callable[[Card], None]) -> None:
        self._front = front
        self._working = working
        self._showing = showing
        self._tell = tell

    def put(self, question: Question, then: Answered) -> None:
        """Ask a question, and again with what was typed where the work refuses the answer.

        Args:
            question: it.
            then: called with the answer.
        """
        asker = self._front.screen

        def answered(text: str | None) -> None:
            then(text, self._asks_again(asker, question, text or "", then))

        self._front.push_screen(question, answered)

    def _asks_again(self, asker: Screen[Any], question: Question, text: str, then: Answered) -> Refused:
        def refused(why: str) -> bool:
            if self._front.screen is not asker:  # keys that are typed for something else would go there
                return False
            self.put(question.again(text, why), then)
            return True

        return refused

    def put_when_read(
        self,
        title: str,
        do: Callable[[Vault], Any],
        made: Callable[[Any], Question | None],
        then: Callable[[Any, str | None, Refused], None],
        asked: str,
    ) -> None:
        """Ask a question that has to be read first; it is in front at once, and takes what is typed meanwhile.

        Args:
            title: of the question.
            do: reads what it is about, in a thread.
            made: returns the question, or None where there is nothing to ask, which it tells.
            then: called with what was read, the answer, and what asks again; not where nothing was read.
            asked: what the person asked for.
        """
        if not self._working.can_start:
            return
        question = Question(title, "Reading ...", is_ready=False)
        found: list[Any] = []

        def read(value: Any) -> None:
            if not question.is_attached:  # they left it
                return
            asks = made(value)
            if asks is None:
                question.dismiss(None)
                return
            found.append(value)
            question.become(asks)

        def failed(_why: str) -> bool:
            if question.is_attached:
                question.dismiss(None)
            return False

        def answered(text: str | None, refused: Refused) -> None:
            if found:
                then(found[0], text, refused)

        self.put(question, answered)
        self._working.ask(do, read, asked, asked=asked, refused=failed)

    def open_page(
        self,
        asker: Screen[Any],
        action_id: str,
        page: Screen[Any],
        then: Callable[[Any], None] | None = None,
    ) -> None:
        """Show a page that was made ready meanwhile; where its asker is not in front any more, say that it is ready.

        Keys that are typed for something else never reach it, and so never agree to it.

        Args:
            asker: the place that the page was asked for in.
            action_id: what asks for it.
            page: the page.
            then: called with what it was left with.
        """
        if asker.is_active:
            self._front.push_screen(page, then)
            return
        key = shown_keys(action_named(action_id), self._front.taste.keys).split()[0]
        self._tell(Card(page.title or "", (mark(f"It is ready, and nothing was done: {key} shows it."),)))

    def offer_sync(self, following: str) -> None:
        """Offer a sync once everything is decided; the place that is here first.

        Args:
            following: the command that lets friends know of it; empty when they need none.
        """
        if not (named := synced(following)):
            said = f"Next: {following}" if following else "Nothing is left to send."
            self._front.notify(f"0 conflicts. {said}", title="All is decided", markup=False)
            return
        seen = [
            (place, self._front.reach.get(place.place.name))
            for place in (self._front.view.places if self._front.view else ())
        ]
        seen.sort(key=lambda one: bool(one[0].trouble_at(one[1])))
        target = next((place.place.name for place, at in seen if at is not None and at.is_here), named)

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                self._front.switch_mode(str(Scope.HOME))
                if isinstance(home := self._showing.shown(Scope.HOME), Home):
                    home.sync_with(target)

        lines = [
            mark("0 conflicts. What you decided is new to your friends.", GOOD),
            mark(f"Press {self._front.key_of('sync-now')} to sync {target} now."),
            mark(sync_command(target), QUIET),
        ]
        self._front.push_screen(Offer("All is decided", lines), decided)
