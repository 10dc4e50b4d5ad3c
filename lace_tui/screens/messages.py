"""What work off the screen's thread says when it ends: one message, whatever came of it (APP-3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from lace_tui.model.job import Job
    from lace_tui.model.view import HomeView, Reach
    from lace_tui.screens.cards import Card, Trouble
    from lazy.live.answering import Served

__all__ = ["DidAsk", "DidFail", "DidLook", "DidRead", "DidServe", "DidWork"]


@dataclass
class DidRead(Message):
    """The vault was read."""

    number: int
    view: HomeView


@dataclass
class DidLook(Message):
    """The places were looked at, and the store.

    Args:
        reach: by the name of a place.
        generation: of the store; empty when that cannot be told.
        is_copied: whether another copy of the vault wrote since the last look.
        is_there: whether the store's file is there.
    """

    reach: dict[str, Reach]
    generation: str = ""
    is_copied: bool = False
    is_there: bool = True


@dataclass
class DidAsk(Message):
    """Something a screen asked for is here."""

    then: Callable[[Any], None]
    value: Any


@dataclass
class DidServe(Message):
    """A friend's request was answered."""

    served: Served


@dataclass
class DidWork(Message):
    """Work ended."""

    job: Job
    then: Callable[[Any], Card | None]
    value: Any


@dataclass
class DidFail(Message):
    """Work ended with an error; without a job it was a reading.

    Args:
        job: the work, if it was some.
        trouble: why.
        asked: what a person asked to see; nothing when the app read by itself.
        again: does it once more; given where a passphrase was missing.
        refused: takes a sentence that says why, where a person answered something, and returns whether it told it.
    """

    job: Job | None
    trouble: Trouble
    asked: str = ""
    again: Callable[[], None] | None = None
    refused: Callable[[str], bool] | None = None
