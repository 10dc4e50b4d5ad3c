"""How things stand, in words that `status` and Home share (LAZ-54 to LAZ-56)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazy.problems import NO_PERSON_NEEDED
from lazy.queue import MANY
from lazy.status import PlaceStatus
from vault.plural import plural
from vault.records import Tai

if TYPE_CHECKING:
    from lazy.resolving.left_texts import LeftText

__all__ = ["CUT_OFF", "came_since_text", "place_problems", "records_text", "text_until", "waiting_text"]

CUT_OFF = "an update was cut off, or left files that were saved meanwhile"
_PROBLEMS = 3  # of one place that are told


def text_until(text: LeftText) -> str:
    """Return when a text that is in no draft goes (ISO 8601 UTC)."""
    return Tai.from_unix_ns(text.until * 10**9).to_utc_iso()


def place_problems(place: PlaceStatus) -> list[dict[str, str]]:
    """Return what the last visit found that somebody should know of the place, without what only waits for others."""
    told = place.last.get("problems")
    found = [problem for problem in told if isinstance(problem, dict)] if isinstance(told, list) else []
    known = place.fault.code if place.fault is not None else ""
    return [
        {key: str(problem.get(key, "")) for key in ("peer", "code", "message", "hint")}
        for problem in found
        if problem.get("code") not in {known, "log-gap", *NO_PERSON_NEEDED}
    ][:_PROBLEMS]


def records_text(count: int) -> str:
    """Return a number of records of which at most `MANY` were counted; empty for none."""
    if not count:
        return ""
    return f"{MANY:,} records or more" if count == MANY else plural(count, "record")


def waiting_text(count: int) -> str:
    """Return how many records wait, as the start of a phrase."""
    return f"{records_text(count)} {'waits' if count == 1 else 'wait'}"


def came_since_text(count: int) -> str:
    """Return what is said of records that came at another place after this one was visited."""
    return f"{waiting_text(count)} for it, for {'it' if count == 1 else 'they'} came elsewhere since"
