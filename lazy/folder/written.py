"""What an act wrote in the folder, and which files it left as they are (APP-12, APP-13).

What the folder gets is planned inside a write, and done once that has committed; so only afterwards is it known which
files somebody saved between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, Self, TypeVar

from lazy.conflicts import conflict_of
from lazy.folder.left_out import Absent, absent_now, left_out
from vault.desks.causes import Cause
from vault.desks.checkout import CheckoutResult
from vault.desks.plan import Skip
from vault.errors import CallerError
from vault.folder.checkout_journal import left_as_they_are
from vault.folder.unfinished import checkout_tree
from vault.plural import few
from vault.records import RecordHash
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["FolderInTheWay", "as_written", "follow", "refuse_blocked", "tells_what_it_wrote"]


class Done(Protocol):
    """The answer of an act that the folder follows, a named tuple: paths that were written, deleted, and left."""

    @property
    def written(self) -> tuple[str, ...]:
        """Paths written in the folder."""

    @property
    def deleted(self) -> tuple[str, ...]:
        """Paths deleted in it."""

    @property
    def kept(self) -> tuple[str, ...]:
        """Paths left as they are, since they were saved while the folder was written."""

    @property
    def left_out(self) -> tuple[Skip, ...]:
        """Paths that came and were not written, since no disk or not this one may hold them."""

    def _replace(
        self,
        *,
        written: tuple[str, ...] = (),
        deleted: tuple[str, ...] = (),
        kept: tuple[str, ...] = (),
        left_out: tuple[Skip, ...] = (),
    ) -> Self:
        """Return the same with other paths; those that are not given stay."""


class Decided(Done, Protocol):
    """The same of a decision."""

    @property
    def conflict(self) -> str:
        """The conflict's id."""


_Given = ParamSpec("_Given")
_Done = TypeVar("_Done", bound=Done)
_Decided = TypeVar("_Decided", bound=Decided)
# Moved within the folder and not named, it would be taken for new files of the desk around it.
_MOVE_DESK = (
    "Move the folder of that desk, and say where it lies now: lace desk add DESK DIR - then run the same command again;"
    " nothing was changed."
)


class FolderInTheWay(CallerError):
    """Files in the folder stand where others have to be written."""

    code = "folder-in-the-way"
    exit_code = 2
    hint = (
        "Move those files away, or commit those that lace changes lists, then run the same command again; nothing was"
        " changed."
    )


def follow(
    w: Writer, vault: Vault, desk: str, before: RecordHash | None, after: RecordHash, watch: Watch = Watch()
) -> CheckoutResult:
    """Bring the folder to a tree once this write has committed, and say what that will change.

    Raises:
        FolderInTheWay: a file that is neither the old nor the new content stands in the way; nothing was changed.
        SavedMeanwhile: files of an earlier checkout wait for a person.
    """
    result = checkout_tree(w, vault, desk, before, after, watch)
    refuse_blocked(result.skipped)
    return result


def refuse_blocked(skipped: Sequence[Skip]) -> None:
    """Refuse to go on where something of the person's is in the way.

    Raises:
        FolderInTheWay: there is such a file.
    """
    blocking = [f"{skip.path} ({skip.reason})" for skip in skipped if skip.blocking]
    if blocking:
        is_held = any(skip.cause is Cause.HOLDS_DESK for skip in skipped)
        way = _MOVE_DESK if is_held else FolderInTheWay.hint
        raise FolderInTheWay(f"These files are in the way: {few(blocking)}.", hint=way)


def as_written(vault: Vault, desk: str, done: _Done, before: Absent) -> _Done:
    """Return what an act did, with the files that it left as they are apart from those that it wrote or deleted.

    Args:
        vault: whose folder.
        desk: the desk whose folder followed.
        done: the answer as it was planned, after the write ended.
        before: what the folder lacked before; what it lacks besides is said to be left out.
    """
    out = left_out(vault, desk, before)
    if out:
        stay = {skip.path for skip in out}
        done = done._replace(written=tuple(path for path in done.written if path not in stay), left_out=out)
    kept = left_as_they_are(vault, desk)
    if not kept:
        return done
    written, deleted = (tuple(path for path in paths if path not in kept) for paths in (done.written, done.deleted))
    return done._replace(written=written, deleted=deleted, kept=kept)


def tells_what_it_wrote(
    decide: Callable[Concatenate[Vault, _Given], _Decided],
) -> Callable[Concatenate[Vault, _Given], _Decided]:
    """Let the answer of a decision be `as_written`."""

    @wraps(decide)
    def told(vault: Vault, /, *given: _Given.args, **named: _Given.kwargs) -> _Decided:
        before = absent_now(vault)
        done = decide(vault, *given, **named)
        if not (done.written or done.deleted or absent_now(vault) != before):  # then the folder did not follow
            return done
        return as_written(vault, conflict_of(vault, done.conflict).desk, done, before)

    return told
