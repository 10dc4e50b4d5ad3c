"""What the parts of the app may ask of the app that holds them (APP-3).

Each part has one duty and knows this and the parts it is given; the app alone knows all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from textual.message import Message
    from textual.screen import Screen
    from textual.worker_manager import WorkerManager

    from lace_tui.acts.server import Server
    from lace_tui.keys.taste import Taste
    from lace_tui.model.view import HomeView, Reach
    from lace_tui.screens.cards import Card

__all__ = ["Front"]


class Front(Protocol):
    """The app, as its parts know it."""

    folder: Path | None
    here: str
    taste: Taste
    config: Path | None
    theme: Any
    view: HomeView | None
    reach: dict[str, Reach]
    card: Card | None
    server: Server | None

    # What it shows

    def key_of(self, action_id: str) -> str:
        """Return the first key of an action, as this person has it."""

    def tell_working(self, *, is_working: bool) -> None:
        """Show that work began or ended."""

    def show_progress(self) -> None:
        """Show how far the work under way is."""

    def refresh_places(self) -> None:
        """Show what is known anew."""

    def note(self, command: str) -> None:
        """Write a command down on the activity page."""

    # What Textual does

    def set_keymap(self, keymap: Mapping[str, str], /) -> None:
        """Take other keys, by action id."""

    @property
    def screen(self) -> Screen[Any]:
        """The screen in front."""

    @property
    def screen_stack(self) -> list[Screen[Any]]:
        """The screens of this place, the one in front last."""

    @property
    def workers(self) -> WorkerManager:
        """What runs in threads."""

    def pages(self) -> list[tuple[str, Screen[Any]]]:
        """Return every screen that is open, in front or not, with the mode that it is in."""

    def push_screen(self, screen: Screen[Any], callback: Callable[[Any], None] | None = None, /) -> object:
        """Show a screen over the one in front; `callback` gets what it is left with."""

    @property
    def current_mode(self) -> str:
        """The place one is at."""

    def switch_mode(self, mode: str, /) -> object:
        """Go to a place."""

    def pop_screen(self) -> object:
        """Go back by a screen."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: Literal["information", "warning", "error"] = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Tell something for a while."""

    def clear_notifications(self) -> None:
        """Take away what is told."""

    def post_message(self, message: Message) -> bool:
        """Give a message to the screen's thread; called from any."""

    def run_worker(
        self, work: Callable[[], None], /, *, group: str, thread: bool, exit_on_error: bool, exclusive: bool
    ) -> object:
        """Run something in a thread."""

    def call_later(self, callback: Callable[..., Any], /, *args: Any) -> bool:
        """Call something once what came before is done."""

    def call_after_refresh(self, callback: Callable[..., Any], /) -> bool:
        """Call something once what there is was drawn."""

    def suspend(self) -> AbstractContextManager[None]:
        """Lend the terminal to what runs meanwhile.

        Raises:
            SuspendNotSupported: this terminal cannot be lent.
        """

    def exit(self, *, return_code: int = 0) -> None:
        """Leave."""
