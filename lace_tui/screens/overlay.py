"""What lies over a place, and is left once: keys come faster than a screen goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType

from lace_tui.keys.actions import action_named
from lace_tui.keys.keymap import keys_of

if TYPE_CHECKING:
    from lace_tui.keys.taste import HasTaste

__all__ = ["Overlay"]

_EVERYWHERE = ("suspend", "quit")  # actions whose keys count here too, but for those that one types


class Overlay(ModalScreen[ScreenResultType]):
    """A screen over a place; whoever leaves it twice leaves nothing else."""

    async def on_key(self, event: events.Key) -> None:
        """Suspend and leave as everywhere: Textual asks the app for no key of a screen that lies over another."""
        lace: HasTaste = self.app  # type: ignore[assignment]
        for action in map(action_named, _EVERYWHERE):
            if not event.is_printable and event.key in keys_of(action, lace.taste.keys):
                event.stop()
                await self.hand_over()
                await self.app.run_action(action.call)

    async def hand_over(self) -> None:
        """Have kept what was typed here, before the app is left; a question is asked again."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Leave it with an answer; once it was left, no other answer counts."""
        if not self.is_active:  # Textual would take away whatever is in front, and end the app where that is a place
            return AwaitComplete()
        return super().dismiss(result)
