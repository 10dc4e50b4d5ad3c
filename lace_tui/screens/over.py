"""What lies over a place, and is left once: keys come faster than a screen goes."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType

__all__ = ["Over"]


class Over(ModalScreen[ScreenResultType]):
    """A screen over a place; whoever leaves it twice leaves nothing else."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Leave it with an answer; once it was left, no other answer counts."""
        if not self.is_active:  # Textual would take away whatever is in front, and end the app where that is a place
            return AwaitComplete()
        return super().dismiss(result)
