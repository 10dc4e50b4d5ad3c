"""What a person is told of a place or one mailbox there while the rest of a sync went on, and the way out of it."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import NamedTuple, Self

from vault.commands import as_typed
from vault.errors import LaceError
from vault.records import RecordHash
from vault.store.database import StoreDamaged
from vault.store.packread import PackDamaged

__all__ = ["DAMAGE", "NO_PERSON_NEEDED", "Problem", "at_place", "damaged_here", "hint_at", "written_anew"]

# Somebody who waits to be admitted, perhaps by another member, stops nothing of mine. What a path names may yet come.
# What went back of mine is brought forward by the visit that tells it. What a host keeps in plain is told at
# each visit, and keeps none from being done. Copies that a place has no room for wait for one that has. Nothing waits
# for a clock.
NO_PERSON_NEEDED = frozenset(
    {
        "branch-set-back",
        "clock-apart",
        "copies-wait",
        "left-in-plain",
        "mailbox-set-back",
        "no-such-path",
        "sealed-to-others",
        "stranger",
    }
)

# Their own way out fits a mailbox too.
_SAY_HOW = frozenset(
    {
        "closed-file",
        "closed-to-you",
        "false-index-run",
        "false-snapshot",
        "mailbox-gone",
        "no-room",
        "pack-damaged",
        "rolled-back",
        "two-states",
    }
)
_WEB = "http"
_COPIED = "Whoever keeps the copy behind that address makes it anew from a whole one; or sync where it lies whole."
_WRITTEN_ANEW = frozenset({"bad-index-run", "bad-bundle", "bad-envelope", "missing-file", "unreadable-file"})
DAMAGE = _WRITTEN_ANEW | {"bad-snapshot"}
"""Codes of what is wrong with a mailbox that its owner writes anew."""


def written_anew(peer: str, kind: str, *, is_mine: bool = False) -> tuple[str, str]:
    """Return the way out where files of a mailbox are damaged: a sync of its owner does not look at them.

    Beside it the one where nothing could be left at the place that tells its owner; empty where that is the same.

    Args:
        peer: whose mailbox it is.
        kind: of the place that it lies at.
        is_mine: whether that is who is told.
    """
    if kind == _WEB:
        return _COPIED, ""
    if is_mine:
        by = "Your next sync here writes" if kind == "git" else "lace fsck --repair writes"
        return f"{by} anew what of it is here; for the rest, sync where it lies whole.", ""
    if kind == "git":  # a repair does not look into it
        told = f"A sync of yours here tells {peer}, whose next sync here writes it anew."
        elsewhere = f"where it lies whole, or let {peer} bring it to another place: lace place add OTHER URI"
        return f"{told} Or sync {elsewhere}", f"Sync {elsewhere}"
    return f"{peer} writes it anew with lace fsck --repair while the place is there; or sync where it lies whole.", ""


def damaged_here(damaged: Set[RecordHash], so: str = " and cannot be given to anybody") -> Problem:
    """Return what is to be said of records that are not whole in this vault, and what comes of it (REC-5)."""
    what = "1 record is" if len(damaged) == 1 else f"{len(damaged)} records are"
    text = f"{what} damaged here{so}. ({min(damaged)})"
    return Problem(PackDamaged.code, text, hint=PackDamaged.hint)


def at_place(error: LaceError, place: str) -> LaceError:
    """Return an error whose way out names the place that it is about."""
    error.hint = hint_at(error.hint, place)
    return error


def hint_at(hint: str, place: str) -> str:
    """Return a way out with the commands about a place naming the one it is about."""
    for verb in ("pull", "place remove", "place add"):
        hint = hint.replace(f"lace {verb} NAME", as_typed(verb, place))
    return hint


class Problem(NamedTuple):
    """Something about a place or one mailbox there that a person should know; the rest of the sync went on.

    Args:
        code: of the table of errors, or another stable word.
        message: what happened, as a sentence.
        peer: whose mailbox it was; empty for the place itself.
        hint: the way out, if there is one besides the next sync.
        alone: the way out where nothing could be left at the place that tells its owner; empty where that is the same.
        stems_from: code and message of each error that it came from.
    """

    code: str
    message: str
    peer: str = ""
    hint: str = ""
    alone: str = ""
    stems_from: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, error: LaceError, place: str) -> Self:
        """Return what went wrong with a whole place; the way out names it."""
        return cls(error.code, error.message, hint=hint_at(error.hint, place))

    @classmethod
    def in_mailbox(cls, error: LaceError, peer: str, kind: str, *, is_mine: bool = False) -> Self:
        """Return what is wrong with one mailbox; of what its owner can mend the way out says how.

        Args:
            error: what is wrong.
            peer: whose mailbox it is.
            kind: of the place that it lies at.
            is_mine: whether it is my own.

        Raises:
            StoreDamaged: that is the error: it is my own store that cannot be read, and no mailbox.
        """
        if isinstance(error, StoreDamaged):
            raise error
        is_server = kind == _WEB and error.has_own_hint  # what answers, and no file
        way, alone = "", ""
        if error.code in _SAY_HOW or is_server:
            way = error.hint
        elif error.code == "bad-snapshot":
            whose = "Your next sync" if is_mine else f"The next sync of {peer}"
            copied = f" {error.hint}" if error.has_own_hint and not is_mine else ""
            way = _COPIED if kind == _WEB else f"{whose} here writes a new one.{copied}"
        elif error.code in _WRITTEN_ANEW:
            way, alone = written_anew(peer, kind, is_mine=is_mine)
        return cls(error.code, error.message, peer, way, alone, tuple(_causes(error)))

    @property
    def noted(self) -> dict[str, str]:
        """What is noted of it: how it came to be is of this visit alone."""
        return {"code": self.code, "message": self.message, "peer": self.peer, "hint": self.hint}

    def says(self, error: LaceError) -> bool:
        """Tell whether it is about this error, or about what came of it."""
        return (error.code, error.message) in ((self.code, self.message), *self.stems_from)

    def untold(self) -> Self:
        """Return the same where nothing could be left at the place that would tell the owner of the mailbox."""
        return self._replace(hint=self.alone or self.hint)


def _causes(error: LaceError) -> Iterator[tuple[str, str]]:
    cause = error.__cause__
    while isinstance(cause, LaceError):
        yield cause.code, cause.message
        cause = cause.__cause__
