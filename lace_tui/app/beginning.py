"""How the app begins: at Home where there is a vault, else with the first run, until one is made (APP-1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lace_tui.keys.actions import Scope
from lace_tui.screens.dialogs import Page
from lace_tui.screens.messages import DidAsk

if TYPE_CHECKING:
    from textual.content import Content
    from textual.message import Message

    from lace_tui.app.front import Front
    from lace_tui.app.looking import Looking
    from lace_tui.app.working import Working
    from vault.surroundings import Surroundings
    from vault.vault import Vault

__all__ = ["Beginning"]


class Beginning:
    """What finds the vault, or has one made.

    Args:
        front: the app.
        working: makes it, in a thread.
        looking: reads it.
        find: returns the shared folder, or None while there is no vault.
        called: what the person is probably called.
    """

    def __init__(
        self, front: Front, working: Working, looking: Looking, find: Callable[[], Path | None], called: str
    ) -> None:
        self._front = front
        self._working = working
        self._looking = looking
        self._find = find
        self._called = called
        self._is_found = False  # whether there was a vault at the last look, where there was none at the beginning

    def begin(self) -> None:
        """Show Home, where there is a vault; else the first run."""
        self._front.folder = self._find()
        if self._front.folder is None:
            from lace_tui.screens.first import FirstRun  # the first time only

            if not isinstance(self._front.screen, FirstRun):
                self._front.push_screen(FirstRun(self._front.here, self._called))
            return
        if self._front.current_mode != Scope.HOME:
            self._front.pop_screen()  # the first run is over
            self._front.switch_mode(str(Scope.HOME))
        self._front.call_after_refresh(self._looking.read)

    def look(self) -> None:
        """Look, where there is no vault, whether another command made one here meanwhile."""
        if self._front.folder is None:
            from lace_tui.screens.first import FirstRun  # the first time only

            was_found, self._is_found = self._is_found, self._find() is not None
            # At the first look it may be half made; and nobody's question is taken away.
            if was_found and self._is_found and isinstance(self._front.screen, FirstRun):
                self.begin()

    def make_vault(
        self, do: Callable[[Path, Surroundings], tuple[Vault, list[Content]]], command: str, title: str
    ) -> None:
        """Make a vault in the folder it was started in, and go Home.

        Args:
            do: makes it, in a thread; returns it, and what a person has to read before anything else.
            command: the command with the same result.
            title: of the page on which that is read.
        """
        self._front.note(command)

        def work() -> Message:
            vault, told = do(Path(self._front.here), self._working.world())
            with vault:
                return DidAsk(partial(self._begin_with, title), told)

        self._working.run("begin", work)

    def _begin_with(self, title: str, told: list[Content]) -> None:
        self.begin()
        if told:
            self._front.push_screen(Page(title, told))
