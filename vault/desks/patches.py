"""Patches: how one content follows from another, verified when they are applied (CLAY-31 to CLAY-33).

Two kinds are made: the whole new content, and lines that are skipped and replaced. Applying the second looks at every
line it takes away; content that is not what the patch was made of is refused and stays as it is. How content becomes
the list that such a patch is about is said by the patch itself, its preprocessing (CLAY-36).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from vault.errors import DataError

__all__ = [
    "Lines",
    "Patch",
    "PatchMismatch",
    "PatchUnsupported",
    "Pre",
    "Replace",
    "Skip",
    "Step",
    "Whole",
    "apply_patch",
    "between",
    "parse",
    "values",
]

_STEPS_LIMIT: Final = 1_000_000  # of one patch


class PatchMismatch(DataError):
    """A patch was made of other content than it is applied to, or breaks its format."""

    code = "patch-mismatch"
    exit_code = 49
    hint = "Nothing was changed. Make the patch anew from the content as it is now."


class PatchUnsupported(DataError):
    """A patch, or its preprocessing, of a kind that is reserved and not applied by this version."""

    code = "patch-unsupported"
    exit_code = 49
    hint = "Send the whole content instead."


class Pre(StrEnum):
    """What is done to content before a list patch is applied, and undone after it (CLAY-36)."""

    NONE = "none"
    """Nothing: the content is a list of one piece."""
    LF = "lf"
    """LF text: a piece ends after each line feed, and nowhere else; what stands after the last is one more."""

    def pieces(self, content: bytes) -> list[bytes]:
        """Return the list that a content is; joined it is the content again, so nothing needs to be undone."""
        if self is Pre.NONE or not content:
            return [content] if content else []
        lines = content.split(b"\n")
        last = lines.pop()
        return [line + b"\n" for line in lines] + ([last] if last else [])


_RESERVED_PRE: Final = frozenset({"jam", "blocks"})


@dataclass(frozen=True, slots=True)
class Skip:
    """Lines that stay.

    Args:
        lines: how many, at least 1.
    """

    lines: int

    def __post_init__(self) -> None:
        if self.lines < 1:
            raise PatchMismatch("A patch skips no lines at all.")


@dataclass(frozen=True, slots=True)
class Replace:
    """Lines that give way to others; line ends are part of the lines.

    Args:
        old: what must stand there; empty to insert.
        new: what stands there from now; empty to delete.
    """

    old: tuple[bytes, ...]
    new: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if not self.old and not self.new:
            raise PatchMismatch("A patch replaces nothing by nothing.")


Step = Skip | Replace


class Whole(NamedTuple):
    """Kind `a`: the new content, whatever was there."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Lines:
    """Kind `c`: steps from the first piece on; what follows the last step stays.

    Args:
        steps: in order.
        pre: how the content is cut into pieces; lines, where nothing else is said.
    """

    steps: tuple[Step, ...]
    pre: Pre = Pre.LF


Patch = Whole | Lines


def between(old: bytes, new: bytes) -> Patch:
    """Return the patch that makes `new` of `old`: lines where both are text of a bearable length, else all of it."""
    from vault.desks.merge_text import can_merge  # content is looked at here only

    if not can_merge(old, new):
        return Whole(new)
    return Lines(tuple(_steps(Pre.LF.pieces(old), Pre.LF.pieces(new))))


def _steps(old: Sequence[bytes], new: Sequence[bytes]) -> list[Step]:
    from vault.desks.matching import EndMatcher  # only a patch between texts needs it

    found: list[Step] = []
    for tag, a, b, c, d in EndMatcher(old, new).get_opcodes():
        found.append(Skip(b - a) if tag == "equal" else Replace(tuple(old[a:b]), tuple(new[c:d])))
    while found and isinstance(found[-1], Skip):
        found.pop()
    return found


def apply_patch(patch: Patch, old: bytes) -> bytes:
    """Return what a patch makes of a content.

    Raises:
        PatchMismatch: it was made of another; the lines that it takes away are not there.
    """
    if isinstance(patch, Whole):
        return patch.content
    lines = patch.pre.pieces(old)
    made: list[bytes] = []
    at = 0
    for step in patch.steps:
        if isinstance(step, Skip):
            end = at + step.lines
            made += lines[at:end]
        else:
            end = at + len(step.old)
            if tuple(lines[at:end]) != step.old:
                raise PatchMismatch(f"Line {at + 1} is not what the patch takes away there.")
            made += step.new
        if end > len(lines):
            raise PatchMismatch(f"The patch goes on to line {end}, and there are {len(lines)}.")
        at = end
    return b"".join((*made, *lines[at:]))


# As plain values, for files that people and programs read


def values(patch: Patch) -> dict[str, object]:
    """Return a patch as JSON has it; text as text, other bytes in base64."""
    if isinstance(patch, Whole):
        return {"kind": "a", "pre": Pre.NONE.value, "content": _shown(patch.content)}
    steps: list[dict[str, object]] = []
    for step in patch.steps:
        if isinstance(step, Skip):
            steps.append({"skip": step.lines})
        else:
            steps.append({"old": [_shown(line) for line in step.old], "new": [_shown(line) for line in step.new]})
    return {"kind": "c", "pre": patch.pre.value, "steps": steps}


def parse(value: object) -> Patch:
    """Read a patch from plain values.

    Raises:
        PatchUnsupported: its kind is `b` or `d`, or its preprocessing is `jam` or `blocks`.
        PatchMismatch: it breaks the format.
    """
    if not isinstance(value, dict):
        raise PatchMismatch("A patch is an object with a kind.")
    kind = value.get("kind")
    if kind in ("b", "d"):
        raise PatchUnsupported(f"A patch of kind {kind} is not applied by this version.")
    pre = _pre(value.get("pre", Pre.LF if kind == "c" else Pre.NONE))
    if kind == "a" and pre is Pre.NONE:
        return Whole(_bytes(value.get("content")))
    steps = value.get("steps")
    if kind != "c" or not isinstance(steps, list) or len(steps) > _STEPS_LIMIT:
        raise PatchMismatch("A patch has the kind a, of content as it is, or the kind c, which has steps.")
    return Lines(tuple(_step(step) for step in steps), pre)


def _pre(name: object) -> Pre:
    if isinstance(name, str) and name in _RESERVED_PRE:
        raise PatchUnsupported(f"Content preprocessed as {name} is not patched by this version.")
    found = next((pre for pre in Pre if pre.value == name), None)
    if found is None:
        raise PatchMismatch("The preprocessing of a patch is none or lf.")
    return found


def _step(value: object) -> Step:
    if isinstance(value, dict) and set(value) == {"skip"} and type(value["skip"]) is int:
        return Skip(value["skip"])
    if isinstance(value, dict) and set(value) == {"old", "new"}:
        old, new = value["old"], value["new"]
        if isinstance(old, list) and isinstance(new, list):
            return Replace(tuple(map(_bytes, old)), tuple(map(_bytes, new)))
    raise PatchMismatch("A step of a patch skips a number of lines, or replaces old lines by new ones.")


def _shown(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _bytes(value: object) -> bytes:
    if isinstance(value, str):
        try:
            return value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise PatchMismatch("A patch holds text that is none.") from error
    if isinstance(value, dict) and set(value) == {"base64"} and isinstance(value["base64"], str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise PatchMismatch("A patch holds base64 that is none.") from error
    raise PatchMismatch("Content is text, or an object with base64.")
