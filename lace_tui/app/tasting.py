"""Colours and keys by a person's taste: lived by at once, and kept for the next time (APP-1, APP-2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lace_tui.keys.actions import Scope, action_named
from lace_tui.keys.keymap import keys_of
from lace_tui.keys.taste import Taste, keep_theme
from lace_tui.words.inert import inert
from vault.errors import LaceError

if TYPE_CHECKING:
    from lace_tui.app.front import Front
    from lace_tui.app.looking import Looking
    from lace_tui.app.showing import Showing

__all__ = ["Tasting"]


class Tasting:
    """What has the app live by a person's taste.

    Args:
        front: the app.
        looking: reads the settings anew.
        showing: knows whether they are shown.
    """

    def __init__(self, front: Front, looking: Looking, showing: Showing) -> None:
        self._front = front
        self._looking = looking
        self._showing = showing

    def choose_theme(self, name: str) -> None:
        """Take other colours from now on, wherever they were chosen."""
        self.live_by(replace(self._front.taste, theme=name), lambda config: keep_theme(config, name))
        if (settings := self._showing.shown(Scope.SETTINGS)) is not None and settings.is_mounted:
            self._looking.read_place(settings)  # it marks the one there is

    def live_by(self, taste: Taste, keep: Callable[[Path], None]) -> None:
        """Live by another taste from now on, and keep what changed for the next time."""
        self._front.taste = taste
        self._front.theme = taste.textual_theme
        self._front.set_keymap({key: ",".join(keys_of(action_named(key), taste.keys)) for key in taste.keys})
        if self._front.config is not None:
            try:
                keep(self._front.config)
            except (LaceError, OSError, ValueError) as error:
                told = f"It holds for this sitting only. {inert(str(error))}"
                self._front.notify(told, severity="error", timeout=30, markup=False)
