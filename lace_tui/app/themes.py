"""Colours, as a second hint beside sign, word and place: five themes that people choose by need.

Every pair of text and ground reaches a contrast of 4.5 to 1 (7 to 1 in the high-contrast theme); a test computes it.
The colour-blind theme says good in blue and bad in orange, which nobody confuses. `ansi` takes the terminal's own 16
colours, whatever they are.
"""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

__all__ = ["THEMES"]

THEMES: Final = (
    Theme(
        name="lace-dark",
        primary="#7fb4e6",
        secondary="#b8a1d9",
        accent="#7fb4e6",
        success="#77c8a6",
        warning="#f0b866",
        error="#f28b82",
        foreground="#e3e5e8",
        background="#14171b",
        surface="#1b1f24",
        panel="#232931",
        dark=True,
    ),
    Theme(
        name="lace-light",
        primary="#1d5a96",
        secondary="#5b4a8a",
        accent="#1d5a96",
        success="#1b6b4c",
        warning="#8a4b00",
        error="#a3231c",
        foreground="#1c2127",
        background="#fbfaf7",
        surface="#f2f0ea",
        panel="#e6e3db",
        dark=False,
    ),
    Theme(
        name="lace-contrast",
        primary="#9fd2ff",
        secondary="#e0c8ff",
        accent="#ffff66",
        success="#7dffb0",
        warning="#ffd24d",
        error="#ff9d9d",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1a1a1a",
        dark=True,
    ),
    Theme(
        name="lace-colour-blind",
        primary="#8ab8ff",
        secondary="#cfcfcf",
        accent="#8ab8ff",
        success="#6fb1ff",
        warning="#ffab40",
        error="#ffab40",
        foreground="#e8e8e8",
        background="#15171a",
        surface="#1c1f23",
        panel="#25292e",
        dark=True,
    ),
)
"""The themes of lace beside Textual's `ansi-dark`, which `theme = "ansi"` chooses."""
