"""The lines that clash in a conflict, and drafts of them for an editor (LAZ-39)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lace_tui.words.inert import inert
from lazy.contested import Conflict
from lazy.folder.written import FolderInTheWay
from lazy.resolving.regions import PathRegions, path_regions
from vault.commands import as_option
from vault.desks.memory import MemoryObjects
from vault.errors import LaceError
from vault.files import make_directory, read_bounded, remove_leftovers, write_atomic
from vault.folder.work import changes
from vault.plural import few
from vault.records import RecordHash
from vault.revisions.versions import next_version
from vault.vault import Vault

__all__ = ["Shown", "draft_lines", "drafted", "fault_line", "region_data", "region_lines", "regions_of_conflict"]
__all__ += ["write_drafts"]

_SHOWN_LINES = 20  # of one side of one region
_SHOWN_PATHS = 5
_MINE = "local"  # what `resolve` calls my line, where it is no side itself; it stands first
_DECIDED = "a decision"  # that counts here, and that my line does not hold
_WAY = "Nothing was written. Name a directory that does not exist yet, or move those files away."


class Shown(NamedTuple):
    """The conflicting paths of a conflict with their regions, or why there are none.

    Args:
        paths: numbered as `--region` counts them.
        fault: why they cannot be read, as where content is elsewhere; else None.
    """

    paths: list[PathRegions]
    fault: LaceError | None = None


def regions_of_conflict(vault: Vault, conflict: Conflict) -> Shown:
    """Return the conflicting paths with their regions, or why they cannot be read (LAZ-39)."""
    overlay, folder = MemoryObjects(fallback=vault.store), None
    with suppress(LaceError):  # of a folder that cannot be read, what was committed is shown
        folder = changes(vault, conflict.desk, overlay=overlay, is_dry=True).tree
    try:
        return Shown(path_regions(vault, conflict, folder, overlay))
    except LaceError as error:
        return Shown([], error)


def fault_line(fault: LaceError) -> str:
    """Return why the lines of a conflict are not shown, with the way out."""
    return f"    Its lines cannot be shown: {inert(f'{fault.message} {fault.hint}'.rstrip())}"


def region_data(conflict: Conflict, path: PathRegions) -> dict[str, Any]:
    """Return the clashing regions of a path as `--json` shows them; of more than two sides each has its own text."""
    whole = {"path": path.conflict.path, "with": None if path.sided else _word_of(conflict, path.head)}
    if path.sided is not None:
        words = _words_of(conflict, path.sided.heads)
        numbered = [
            {
                "number": region.number,
                "base": _shown(region.base),
                "sides": [
                    {"side": word, "text": _shown(lines), "changed": lines != region.base}
                    for word, lines in zip(words, region.sides, strict=True)
                ],
            }
            for region in path.sided.regions
            if region.number
        ]
        return {**whole, "regions": numbered}
    clashing = [region for region in path.regions if region.kind == "conflict"]
    return {
        **whole,
        "from": _word_of(conflict, path.first),
        "regions": [
            {
                "number": number,
                **{side: _shown(getattr(region, side)) for side in ("base", "ours", "theirs")},
            }
            for number, region in enumerate(clashing, 1)
        ],
    }


def _word_of(conflict: Conflict, head: RecordHash) -> str | None:
    """Return what `resolve` calls the side that a path clashes with; None where it is no side of the conflict."""
    return next((side.word for side in conflict.sides if side.commit == head), None)


def _words_of(conflict: Conflict, heads: Sequence[RecordHash]) -> list[str]:
    """Return what `resolve` calls each of the heads that are merged."""
    return [_word_of(conflict, head) or (_DECIDED if at else _MINE) for at, head in enumerate(heads)]


def _shown(lines: Sequence[bytes]) -> str:
    return b"".join(lines).decode("utf-8", "backslashreplace")


def region_lines(conflict: Conflict, path: PathRegions) -> list[str]:
    """Return the clashing regions of a path, numbered as `--region` counts them."""
    name = inert(path.conflict.path)
    if path.of > 2:
        return _sided_lines(conflict, path)
    lines = []
    left, right = _signs(conflict, path)
    clashing = [region for region in path.regions if region.kind == "conflict"]
    for number, region in enumerate(clashing, 1):
        lines.append(f"    {name} region {number}")
        for sign, side in ((" ", region.base), (left, region.ours), (right, region.theirs)):
            lines += _marked(f"      {sign} ", side)
    return lines


def _signs(conflict: Conflict, path: PathRegions) -> tuple[str, str]:
    """Return the marks of two sides; names where neither is mine, for which of them is first follows from a hash."""
    words = [side.word for head in (path.first, path.head) for side in conflict.sides if side.commit == head]
    if len(words) != 2 or any(side.is_local for side in conflict.sides if side.commit == path.first):
        return "<", ">"
    return f"{inert(words[0])}>", f"{inert(words[1])}>"


def _sided_lines(conflict: Conflict, path: PathRegions) -> list[str]:
    """Return the regions of a path that more than two sides may have changed, each with the sides that did."""
    name, lines = inert(path.conflict.path), []
    if path.sided is None:
        other = inert(_word_of(conflict, path.head) or _DECIDED)
        return [f"    {name} with {other}: no lines to choose ({path.conflict.kind}); take a side of it, or edit it"]
    words = [inert(word) for word in _words_of(conflict, path.sided.heads)]
    for region in path.sided.regions:
        if not region.number:
            continue
        lines += [f"    {name} region {region.number}", *_marked("        ", region.base)]
        for version in region.versions:
            whose = [word for word, made in zip(words, region.sides, strict=True) if made == version]
            lines += _marked(f"      {', '.join(whose)}> ", version) or [f"      {', '.join(whose)}> (nothing)"]
    return lines or [f"    {name}: each side changed other lines; to have what all did: --path P --take both"]


def _marked(sign: str, side: Sequence[bytes]) -> list[str]:
    return [f"{sign}{inert(_shown([line]).rstrip())}" for line in b"".join(side).splitlines()[:_SHOWN_LINES]]


def drafted(paths: Iterable[PathRegions]) -> list[str]:
    """Return the paths that have a draft."""
    return [path.conflict.path for path in paths if path.draft is not None]


def write_drafts(directory: Path, conflicts: Collection[Sequence[PathRegions]]) -> None:
    """Write the drafts of conflicts; what lies there stays, be it a draft that was edited or a file of the folder.

    Raises:
        FolderInTheWay: something else lies where a draft is to be; nothing was written.
        NotWritable: a file cannot be written there.
    """
    drafts: dict[str, list[bytes]] = {}
    for one in (one for paths in conflicts for one in paths):
        if one.draft is not None:
            drafts.setdefault(one.conflict.path, []).append(one.draft)
    others = [path for path, texts in drafts.items() if not _may_be_written(directory / path, texts)]
    if others:
        raise FolderInTheWay(f"{directory} holds {few(others, _SHOWN_PATHS)} already, with other content.", hint=_WAY)
    for path, texts in drafts.items():
        target = directory / path
        make_directory(target.parent)
        remove_leftovers(target.parent, target.name)  # of a run that was killed
        write_atomic(target, texts[-1])


def _may_be_written(target: Path, texts: Sequence[bytes]) -> bool:
    """Tell whether nothing is lost where a draft is written: nothing lies there, or a draft of this very path."""
    if not os.path.lexists(target):
        return True
    try:
        return not target.is_symlink() and read_bounded(target, max(map(len, texts))) in texts
    except LaceError:  # larger than any of them, or no plain file
        return False


def draft_lines(vault: Vault, conflict: Conflict, paths: Sequence[str], where: str) -> list[str]:
    """Return the lines that say which drafts of an open conflict lie where, and how they decide it."""
    if not conflict.is_open:
        return []
    if not paths:
        return ["    No text clashes in it, so there is no draft."]
    decide = (
        f"lace resolve {conflict.id} --merged {next_version(vault, conflict.desk)} {inert(as_option('--files', where))}"
    )
    return [f"    Drafts in {inert(where)}: {', '.join(map(inert, paths))}", f"    Edit them, then: {decide}"]
