"""What a host means by not taking a push: it stands elsewhere by now, wants less at once, or will not (decision 7a)."""

from __future__ import annotations

import re

from transports.errors import CAN_BE_READ, PlaceDamaged, PlaceFull, PlaceNotWritable, PushRejected
from transports.git.complaints import complaint, fault_of_git, printable
from vault.errors import PlaceError

__all__ = ["Moved", "PushTooLarge", "damage", "refusal"]

_MOVED = re.compile(r"fetch first|non-fast-forward|stale info|already exists|cannot lock|failed to update ref")
_TOO_LARGE = re.compile(r"exceeds maximum allowed size")
_FILE_TOO_LARGE = re.compile(
    r"\blarge files? detected|\bfile[ -]?size\b"
    r"|\b(files?|blobs?|objects?)\b.{0,80}(\btoo (large|big)\b|\b(larger|bigger) than\b|\bexceeds?\b)",
    re.IGNORECASE,
)
_OF_BRANCHES = re.compile(r"branch|\brefs?\b|\bpush", re.IGNORECASE)
_SAYS = re.compile(r"^remote:[ \t]*((?:[^\W\d_]|['\"]).*)$", re.MULTILINE)
_LOUD = re.compile(r"(?:fatal|error): ", re.IGNORECASE)
_PROGRESS = re.compile(r"\d+%|, done\b")
_SAID = 400  # characters: a path at the host and the name of a mailbox's ref fit in
_REF = re.compile(r"cannot lock ref '[^']*': ")  # as long as all the rest, and nothing to a person
_LOCK = re.compile(r"\.lock': File exists")
_SPOILED = re.compile(
    r"missing necessary objects|did not receive expected object|object file \S+ is empty|bad object refs/"
    r"|loose object [0-9a-f]{40} \(stored in|unable to read [0-9a-f]{40}"
)
_BRANCH = re.compile(r"bad object refs/(?:heads/)?([!-~]+?)\.?(?:\s|$)")
_ITS_OWNER = (
    "The next sync of the one whose branch it is writes it anew, or one an hour later; or let whoever keeps the"
    f" repository delete it. {CAN_BE_READ}"
)
_FILES = f"Let the host accept files of 1 MiB: none of lace's there is larger. {CAN_BE_READ}"
_LOCKED = "Where no other git is at work there, a git that was killed left that file: let the owner delete it."


class Moved(Exception):  # never leaves this package
    """The far side's ref is not where it was when the push was made, or cannot be moved just now.

    Args:
        refusal: what to tell where it did not move.
    """

    def __init__(self, refusal: PushRejected) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class PushTooLarge(PushRejected):
    """A git host takes less at once than one push of lace's has."""

    code = "push-too-large"
    hint = f"Its owner can let it take larger pushes: 2 MiB are enough. {CAN_BE_READ}"


def refusal(answer: bytes, complaints: str, shown: str) -> Moved | PlaceError | None:
    """Return why a host did not take a ref, or None where it says nothing of one.

    Args:
        answer: of `git push --porcelain`.
        complaints: on standard error, with what the host itself says.
        shown: the place as a person may see it.
    """
    for line in answer.decode("utf-8", "replace").splitlines():
        if not line.startswith("!"):
            continue
        reason = line.rpartition("\t")[2]
        said = _said(complaints)
        told = f"The git place {shown} takes in no change: {printable(reason)}{f': {said}' if said else ''}."
        faults = [fault_of_git(text, shown) for text in (reason, complaints)]
        # What git here refuses is no matter of room, whatever a host greets with.
        full = next((fault for fault in faults if isinstance(fault, PlaceFull)), None)
        if (
            full is not None
            and not _is_of_files(reason, said)
            and not (reason.startswith("[rejected]") and _MOVED.search(reason))
        ):
            return full
        if _TOO_LARGE.search(complaints):
            return PushTooLarge(told)
        if _SPOILED.search(f"{reason}\n{complaints}"):
            return damage(complaints, shown, told)
        if "unpacker error" in reason and isinstance(faults[-1], PlaceNotWritable):
            return faults[-1]
        is_passing = _LOCK.search(complaints) is not None
        rejected = PushRejected(told, hint=_way_out(reason, said, complaints), is_passing=is_passing)
        # A host that refuses every replacement says so by the same word as one whose ref moved on.
        is_refused = "[remote rejected]" in reason and "non-fast-forward" in reason
        return Moved(rejected) if _MOVED.search(reason) and not is_refused else rejected
    return None


def _is_of_files(reason: str, said: str) -> bool:
    """Tell whether a host refuses the size of a file: no matter of room, though it speaks of a limit."""
    return _FILE_TOO_LARGE.search(f"{reason}\n{said}") is not None


def _way_out(reason: str, said: str, complaints: str) -> str:
    """Return what helps, as far as the host's words let one tell; empty for what helps where branches are refused."""
    if _LOCK.search(complaints):
        return _LOCKED
    if _is_of_files(reason, said):
        return _FILES
    return "" if _OF_BRANCHES.search(f"{reason}\n{said}") or _MOVED.search(reason) else CAN_BE_READ


def damage(complaints: str, shown: str, told: str = "") -> PlaceDamaged | None:
    """Return what to say where git at a host stumbles over its own repository; None where it does not say so.

    Args:
        complaints: on standard error.
        shown: the place as a person may see it.
        told: what is said where no branch is named.
    """
    branch = _BRANCH.search(complaints)
    if branch is not None:
        what = f"its branch {printable(branch[1])} needs an object that is not there"
        return PlaceDamaged(f"The git place {shown} takes in no change: {what}.", hint=_ITS_OWNER)
    if not told and not _SPOILED.search(complaints):
        return None
    return PlaceDamaged(told or f"The git place {shown} takes in no change: {complaint(complaints)}.")


def _said(complaints: str) -> str:
    """Return the line in which the host says most of why: whoever may push there can do little with git's own word."""
    lines = _SAYS.findall(_REF.sub("", complaints).replace("\r", "\n"))
    lines = [line for line in lines if not _PROGRESS.search(line)]
    return printable(next(filter(_LOUD.match, lines), lines[0] if lines else ""), _SAID)
