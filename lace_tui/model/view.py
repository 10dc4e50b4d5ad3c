"""What Home shows, as one immutable value read from a vault (LAZ-54 to LAZ-56).

Only values, and how old they are: what reads them is in `reading`, so that the first frame waits for none of it. Names
and messages of others are as they wrote them; whoever shows them makes them harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from lace_tui.words.times import duration_text
from vault.plural import plural

if TYPE_CHECKING:
    from lazy.places.registry import Place
    from lazy.status import PeerStatus

__all__ = [
    "CHOICES",
    "FILES_LIMIT",
    "ID_SHOWN",
    "Came",
    "HomeView",
    "LastSync",
    "Need",
    "NeedKind",
    "PeerView",
    "PlaceView",
    "Reach",
    "ago",
    "beginning",
]

CHOICES = "lace conflicts"  # names each choice of an open conflict, with its command
ID_SHOWN = 8  # characters of a conflict's id in a command; any beginning that fits one conflict will do
_MESSAGE_LIMIT = 4000  # characters of a message that a page shows
FILES_LIMIT = 1000  # differing files counted for one release; beyond it the number says nothing new


class NeedKind(StrEnum):
    """Why a person is needed."""

    HELD_BACK = "held-back"
    CONFLICT = "conflict"
    PROPOSAL = "proposal"
    REQUEST = "request"
    MEMBERSHIP = "membership"
    DESK = "desk"
    UNFINISHED = "unfinished"
    TEXT = "text"


class Reach(NamedTuple):
    """Whether a place can be reached now: yes, no, or None when only a sync can tell."""

    is_here: bool | None
    text: str


class PlaceView(NamedTuple):
    """One place.

    Args:
        place: it.
        serves: whom.
        waiting: things of mine that are on no place yet and would go there.
        last_sync: when it was last visited (ISO 8601 UTC).
        records: how many the next visit would put there, such as `3 records`; empty for none.
        trouble: what it refused last, or what was found there that somebody should know: a sentence and its way out.
        was_away: whether the first trouble is that it could not be reached then.
        is_encrypted: whether only members can read what is put there.
    """

    place: Place
    serves: tuple[str, ...]
    waiting: int
    last_sync: str | None
    records: str = ""
    trouble: tuple[tuple[str, str], ...] = ()
    was_away: bool = False
    is_encrypted: bool = False

    @property
    def to_send(self) -> str:
        """What the next visit would put there, as the command line counts it; empty for nothing (LAZ-46).

        Where no mailbox of mine lies, as on another vault's line, only the visit learns how many records that are.
        """
        return self.records or (plural(self.waiting, "entry", "entries") if self.waiting else "")

    def trouble_at(self, reach: Reach | None) -> tuple[tuple[str, str], ...]:
        """Return what there is of it still: a place that is here can be reached again."""
        return self.trouble[1:] if self.was_away and reach is not None and reach.is_here else self.trouble


class PeerView(NamedTuple):
    """One peer: how it stood when last read, and how many things of mine it has not confirmed."""

    status: PeerStatus
    waiting: int
    places: tuple[str, ...]


class Came(NamedTuple):
    """A friend's release that is not in my folder yet.

    Args:
        id: its hash text.
        who: the friend's name here.
        what: desk and version.
        message: of its commit; of a very long one the `beginning`.
        files: paths that differ from the release it follows; FILES_LIMIT or more count as FILES_LIMIT.
        paths: the first few of them.
        when: ISO 8601 UTC, for display.
        contested: whether an open conflict keeps it out.
        command: what brings it in.
        kept_out: whether my rules of who may write keep it out; the command lets it in then.
    """

    id: str
    who: str
    what: str
    message: str
    files: int
    paths: tuple[str, ...]
    when: str
    contested: bool
    command: str = "lace update"
    kept_out: bool = False


class Need(NamedTuple):
    """Something that waits for a person, with the command that deals with it.

    Args:
        id: stable between two readings.
        kind: why.
        title: one line.
        facts: one more line.
        command: what to type.
        detail: everything that is known, line by line.
        who: whom a request to belong is from, as they call themselves.
        runs: a command that runs as it is, where `command` leaves something open; empty where it does not.
    """

    id: str
    kind: NeedKind
    title: str
    facts: str
    command: str
    detail: tuple[str, ...] = ()
    who: str = ""
    runs: str = ""


@dataclass(frozen=True, slots=True)
class LastSync:
    """The newest visit that was finished, as stored."""

    place: str
    when: str
    summary: Mapping[str, object] = field(default_factory=dict)


class HomeView(NamedTuple):
    """Everything Home shows, at one moment.

    Args:
        folder: name of the shared folder.
        you: my name as friends see it.
        host: this machine's name.
        group: name of the group.
        conflicts: open ones.
        waiting: things of mine that some peer has not confirmed, each counted once.
        new: friends' releases that are not in my folder.
        now_ns: when it was read, nanoseconds since 1970 UTC.
        generation: the store's, which each write raises; empty when it is not known.
        mark: the file beside the key by which this machine knows a copy of the vault.
    """

    folder: str
    you: str
    host: str
    group: str
    conflicts: int
    waiting: int
    new: int
    places: tuple[PlaceView, ...]
    peers: tuple[PeerView, ...]
    came: tuple[Came, ...]
    needs: tuple[Need, ...]
    last: LastSync | None
    now_ns: int
    generation: str = ""
    mark: str = ""


def beginning(text: str) -> str:
    """Return a message, or the beginning of one that is very long, with how much more there is (LAZ-54)."""
    more = len(text) - _MESSAGE_LIMIT
    return text if more <= 0 else f"{text[:_MESSAGE_LIMIT]}\n... {more:,} more characters: its record holds them"


def ago(iso: str | None, now_ns: int) -> str:
    """Return how long ago a moment was, for people; clocks of friends may be ahead, which is shown as it is."""
    if not iso:
        return "never"
    whole = datetime.fromisoformat(iso[:19]).replace(tzinfo=UTC)
    seconds = now_ns / 1e9 - whole.timestamp()
    if seconds < -60:
        return f"{_coarse(-seconds)} ahead of your clock"
    if seconds < 60:
        return "just now"
    return f"{_coarse(seconds)} ago"


def _coarse(seconds: float) -> str:
    days = int(seconds // (24 * 3600))
    return f"{days} days" if days > 1 else " ".join(duration_text(seconds).split(" ")[:2])
