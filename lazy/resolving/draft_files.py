"""The files of drafts in `.vault/drafts`, also of conflicts that are asked about no more (LAZ-39, LAZ-42).

A clash has another id as soon as a friend releases anything at all. What was chosen in it lies under the former id
then, until the conflict it is decided with takes it over.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from lazy.conflicts import conflicts
from lazy.contested import Status
from lazy.resolving.kept_texts import KeptText, edited_text, keep_unused
from vault.errors import LaceError
from vault.files import make_directory, read_bounded, write_atomic
from vault.records import RecordHash
from vault.revisions.history import commit_info
from vault.vault import Vault

__all__ = ["DraftFile", "drop_draft", "edited_paths", "forget_drafts", "former_drafts", "is_drafted", "read_draft"]
__all__ += ["write_draft"]

_FORMAT = 1
_LIMIT = 64 << 20  # bytes


class DraftFile(NamedTuple):
    """What a draft has.

    Args:
        conflict: id of its conflict.
        desk: the conflict's desk; empty where an earlier version wrote it.
        entries: what was chosen, by path, as it is written.
        version: named for the release of the result, as text; empty where none was.
        is_asked: whether its conflict is asked about no more by itself, but with another one.
    """

    conflict: str
    desk: str
    entries: dict[str, Any]
    version: str = ""
    is_asked: bool = False


def _path(dot: Path, conflict_id: str) -> Path:
    return dot / "drafts" / f"{conflict_id}.json"


def is_drafted(dot: Path, path: str, key: str) -> bool:
    """Tell whether some draft has a choice for a file, under whatever id its conflict has by now; opens no vault.

    Args:
        dot: the directory of the vault.
        path: the file's.
        key: names its contents.
    """
    drafts = (_read(dot, file.stem) for file in (dot / "drafts").glob("*.json"))
    entries = (draft.entries.get(path) for draft in drafts if draft is not None)
    return any(isinstance(entry, dict) and entry.get("key") == key for entry in entries)


def edited_paths(dot: Path, conflict_id: str) -> list[str]:
    """Return the paths whose result somebody edited in the draft of a conflict; opens no vault.

    Args:
        dot: the directory of the vault.
        conflict_id: the conflict's id.
    """
    draft = _read(dot, conflict_id)
    return sorted(path for path, entry in draft.entries.items() if edited_text(entry) is not None) if draft else []


def read_draft(vault: Vault, conflict_id: str) -> DraftFile | None:
    """Return the draft of a conflict; None where there is none.

    A file that is no draft counts as none: choosing again costs less than trusting it.
    """
    return _read(vault.dot, conflict_id)


def _read(dot: Path, conflict_id: str) -> DraftFile | None:
    try:
        value = json.loads(read_bounded(_path(dot, conflict_id), _LIMIT))
    except (LaceError, ValueError, RecursionError):
        return None
    match value:
        case {"format": 1, "files": dict(files)}:
            desk, version = (text if isinstance(text := value.get(key), str) else "" for key in ("desk", "version"))
            return DraftFile(conflict_id, desk, files, version)
    return None


def write_draft(vault: Vault, draft: DraftFile) -> None:
    """Write a draft; one that has nothing goes.

    Raises:
        NotWritable, DiskFull: it cannot be kept.
    """
    if not draft.entries and not draft.version:
        drop_draft(vault, draft.conflict)
        return
    path = _path(vault.dot, draft.conflict)
    make_directory(path.parent)
    value = {"format": _FORMAT, "conflict": draft.conflict, "desk": draft.desk, "files": draft.entries}
    if draft.version:
        value["version"] = draft.version
    write_atomic(path, json.dumps(value, sort_keys=True, ensure_ascii=True).encode() + b"\n")


def drop_draft(vault: Vault, conflict_id: str) -> None:
    """Forget what was chosen; what was written or thrown away needs no draft."""
    with contextlib.suppress(OSError):
        _path(vault.dot, conflict_id).unlink(missing_ok=True)


def former_drafts(vault: Vault, desk: str, but: str = "") -> list[DraftFile]:
    """Return the drafts of a desk whose conflicts are not open, the one that was written last first.

    Args:
        vault: where they lie.
        desk: theirs.
        but: id of a conflict that is open, which need not be looked for.
    """
    others = [path for path in (vault.dot / "drafts").glob("*.json") if path.stem != but]
    if not others:  # as a rule, and then nothing has to be read
        return []
    known = {conflict.id: conflict for conflict in conflicts(vault, include_settled=True)}
    found = []
    for path in sorted(others, key=_written, reverse=True):
        conflict = known.get(path.stem)
        draft = None if conflict is not None and conflict.is_open else read_draft(vault, path.stem)
        if draft is not None and draft.desk in {"", desk}:
            found.append(draft._replace(is_asked=conflict is not None and conflict.status is Status.PENDING))
    return found


def _written(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, path.name
    except OSError:
        return 0, path.name


def forget_drafts(vault: Vault, decided: str, result: RecordHash) -> tuple[KeptText, ...]:
    """Forget the draft of a conflict that was decided, and those that no open conflict of their desk could take over.

    A text that somebody wrote and that did not become the result is in a file of its own before its draft goes. Where
    it cannot be, the draft stays: the decision is made, and the next one tries again (APP-13, LAZ-39).

    Args:
        vault: where they lie.
        decided: the conflict's id.
        result: the commit that it was decided for.

    Returns:
        Those texts.
    """
    draft = read_draft(vault, decided)
    kept = _forget(vault, draft, result) if draft is not None else []
    if draft is None:
        drop_draft(vault, decided)
    if not any((vault.dot / "drafts").glob("*.json")):
        return tuple(kept)
    still = {conflict.desk for conflict in conflicts(vault)}
    desk = commit_info(vault.store, result).desk
    for path in (vault.dot / "drafts").glob("*.json"):
        draft = read_draft(vault, path.stem)
        if draft is not None and draft.conflict != decided and not (draft.desk in still or (still and not draft.desk)):
            kept += _forget(vault, draft, result if draft.desk in {"", desk} else None)
    return tuple(kept)


def _forget(vault: Vault, draft: DraftFile, result: RecordHash | None) -> list[KeptText]:
    try:
        kept = keep_unused(vault, draft.entries, result)
    except LaceError:
        texts = (path for path, entry in sorted(draft.entries.items()) if edited_text(entry) is not None)
        return [KeptText(path, _path(vault.dot, draft.conflict)) for path in texts]
    drop_draft(vault, draft.conflict)
    return kept
