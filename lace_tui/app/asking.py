"""What the app asks a person: a line to type, and pages that were made ready behind the screen.

A key counts for what was in front when it was pressed. So a page opens over nothing that somebody does meanwhile, a
question is there before it is known what it asks, and an answer that the work refuses stands in its question again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lace_tui.app.looking import Looking
from lace_tui.keys.actions import action_named
from lace_tui.keys.keymap import shown_keys
from lace_tui.keys.taste import Taste
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Question
from lace_tui.screens.host import Answered, Refused
from lace_tui.screens.marks import mark
from lace_tui.screens.place import PlaceScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from lace_tui.model.deeds import TakenBack
    from vault.vault import Vault

__all__ = ["Asking"]


class Asking(Looking):
    """An app that asks; what it asks about is the business of its places."""

    taste: Taste
    taken_back: TakenBack | None = None
    """What `Z` would do again."""

    def action_changes(self) -> None:
        """Show what changed in the folder since the last commit."""
        from lace_tui.screens.files import show_changes  # noqa: PLC0415 - no part of the first frame

        if isinstance(self.screen, PlaceScreen):
            show_changes(self.screen)

    def action_undo(self) -> None:
        """Say what would be taken back, and ask."""
        from lace_tui.screens.plans import ask_undo  # noqa: PLC0415 - no part of the first frame

        if isinstance(self.screen, PlaceScreen):
            ask_undo(self.screen, self._keep_taken_back)

    def action_redo(self) -> None:
        """Say what would be done again that was taken back last, and ask."""
        from lace_tui.screens.plans import ask_redo  # noqa: PLC0415 - no part of the first frame

        if isinstance(self.screen, PlaceScreen):
            ask_redo(self.screen, self.taken_back, self._keep_taken_back)

    def _keep_taken_back(self, told: TakenBack | None) -> None:
        self.taken_back = told

    def put(self, question: Question, then: Answered) -> None:
        """Ask a question, and again with what was typed where the work refuses the answer.

        Args:
            question: it.
            then: called with the answer.
        """
        asker = self.screen

        def answered(text: str | None) -> None:
            then(text, self._asks_again(asker, question, text or "", then))

        self.push_screen(question, answered)

    def _asks_again(self, asker: Screen[Any], question: Question, text: str, then: Answered) -> Refused:
        def refused(why: str) -> bool:
            if self.screen is not asker:  # keys that are typed for something else would go there
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
        if not self.can_start:
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
        self.ask(do, read, asked, asked=asked, refused=failed)

    def pages(self) -> list[tuple[str, Screen[Any]]]:
        """Return every screen that is open, in front or not, with the mode that it is in."""
        return [(mode, screen) for mode, stack in self._screen_stacks.items() for screen in stack]

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
            self.push_screen(page, then)
            return
        key = shown_keys(action_named(action_id), self.taste.keys).split()[0]
        self.after_work(Card(page.title or "", (mark(f"It is ready, and nothing was done: {key} shows it."),)))
