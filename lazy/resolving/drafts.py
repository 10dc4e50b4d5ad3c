"""Drafts of decisions: what a person chose so far, kept in `.vault/drafts` until it is written or thrown away.

A draft is one JSON file per conflict, read strictly and within a limit. Each file's choices name the contents they were
made for; where those have changed meanwhile, the choices are left out and said to be (LAZ-39, LAZ-42).
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from lazy.resolving.deciding import CHOICES, Choice, Pick
from lazy.resolving.opening import Opened, OpenFile
from vault.desks.diff import MAX_TEXT_BYTES
from vault.errors import LaceError
from vault.files import make_directory, read_bounded, write_atomic
from vault.vault import Vault

__all__ = ["drop_draft", "load_draft", "save_draft"]

_FORMAT = 1
_LIMIT = 64 << 20  # bytes


def _path(vault: Vault, conflict_id: str) -> Path:
    return vault.dot / "drafts" / f"{conflict_id}.json"


def save_draft(vault: Vault, opened: Opened, changed: Mapping[str, Pick]) -> None:
    """Keep what was chosen, beside what the draft has for other files; nothing chosen keeps nothing.

    Args:
        vault: whose decision it will be.
        opened: the conflict.
        changed: what was chosen since, by path; an empty pick takes a choice away.

    Raises:
        NotWritable, DiskFull: it cannot be kept.
    """
    files = _entries(vault, opened.conflict.id) or {}
    for file in opened.files:
        pick = changed.get(file.path)
        if pick is not None and pick.is_empty:
            files.pop(file.path, None)
        elif pick is not None:
            files[file.path] = _plain(opened, file, pick)
    if not files:
        drop_draft(vault, opened.conflict.id)
        return
    path = _path(vault, opened.conflict.id)
    make_directory(path.parent)
    value = {"format": _FORMAT, "conflict": opened.conflict.id, "files": files}
    write_atomic(path, json.dumps(value, sort_keys=True, ensure_ascii=True).encode() + b"\n")


def _entries(vault: Vault, conflict_id: str) -> dict[str, Any] | None:
    """Return what a draft has, by path; None where there is none, or it is none."""
    try:
        value = json.loads(read_bounded(_path(vault, conflict_id), _LIMIT))
    except (LaceError, ValueError, RecursionError):
        return None
    files = value.get("files") if isinstance(value, dict) and value.get("format") == _FORMAT else None
    return files if isinstance(files, dict) else None


def _plain(opened: Opened, file: OpenFile, pick: Pick) -> dict[str, Any]:
    value: dict[str, Any] = {"key": file.key}
    if pick.edited is not None:
        value["edited"] = pick.edited.decode("utf-8", "surrogateescape")
    elif pick.side is not None:
        value["side"] = opened.sides[pick.side].commit.text
    else:
        value["regions"] = {str(number): choice for number, choice in pick.regions.items()}
    return value


def load_draft(vault: Vault, opened: Opened) -> tuple[dict[str, Pick], tuple[str, ...]]:
    """Return what was chosen so far, and the paths whose choices no longer fit because their contents changed.

    A file that is no draft counts as none: choosing again costs less than trusting it.
    """
    entries = _entries(vault, opened.conflict.id) or {}
    found: dict[str, Pick] = {}
    stale = []
    for file in opened.files:
        entry = entries.get(file.path)
        pick = _pick(opened, file, entry) if isinstance(entry, dict) else None
        if pick is not None:
            found[file.path] = pick
        elif entry is not None:
            stale.append(file.path)
    return found, tuple(stale)


def _pick(opened: Opened, file: OpenFile, entry: dict[str, Any]) -> Pick | None:
    if entry.get("key") != file.key:
        return None
    match entry:
        case {"edited": str(text)}:
            content = _encoded(text)
            return Pick(edited=content) if content is not None and len(content) <= MAX_TEXT_BYTES else None
        case {"side": str(commit)}:
            numbers = [number for number, side in enumerate(opened.sides) if side.commit.text == commit]
            return Pick(side=numbers[0]) if numbers else None
        case {"regions": dict(regions)}:
            if all(n.isascii() and n.isdigit() and len(n) < 8 and choice in CHOICES for n, choice in regions.items()):
                return Pick(regions={int(number): cast("Choice", choice) for number, choice in regions.items()})
    return None


def _encoded(text: str) -> bytes | None:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None


def drop_draft(vault: Vault, conflict_id: str) -> None:
    """Forget what was chosen; what was written or thrown away needs no draft."""
    with contextlib.suppress(OSError):
        _path(vault, conflict_id).unlink(missing_ok=True)
