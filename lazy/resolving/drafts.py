"""Drafts of decisions: what a person chose so far, kept in `.vault/drafts` until it is written or thrown away.

A draft is one JSON file per conflict, read strictly and within a limit. Each file's choices name the contents they were
made for; where those have changed meanwhile, the choices are left out and said to be (LAZ-39, LAZ-42). So they count
still where the same contents clash under another id, as once a friend released something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

from lazy.conflicts import conflict_of, conflicts
from lazy.contested import Status
from lazy.resolving.deciding import CHOICES, Choice, Pick
from lazy.resolving.draft_files import DraftFile, drop_draft, former_drafts, read_draft, write_draft
from lazy.resolving.kept_texts import KeptText, edited_text, keep_unused
from lazy.resolving.opening import Opened, OpenFile
from vault.errors import LaceError
from vault.names import BadVersion, Version
from vault.vault import Vault

__all__ = ["Draft", "Saved", "load_draft", "save_draft"]


class Draft(NamedTuple):
    """What a person chose so far.

    Args:
        picks: by path.
        stale: paths whose choices no longer fit, because their contents changed.
        version: named for the release of the result; None where none was.
    """

    picks: dict[str, Pick]
    stale: tuple[str, ...] = ()
    version: Version | None = None


class Saved(NamedTuple):
    """What became of choices.

    Args:
        is_kept: whether they are in the draft: not where the conflict was decided meanwhile.
        texts: that somebody edited before, and that have no place in the draft any more.
    """

    is_kept: bool
    texts: tuple[KeptText, ...] = ()


def save_draft(vault: Vault, opened: Opened, changed: Mapping[str, Pick], version: Version | None = None) -> Saved:
    """Keep what was chosen, beside what the draft has for other files; nothing chosen keeps nothing (LAZ-39, LAZ-42).

    A text that was edited for other contents, and gives its place to what is chosen now, is in a file of its own before
    it goes from the draft (APP-13).

    Args:
        vault: whose decision it will be.
        opened: the conflict.
        changed: what was chosen since, by path; an empty pick takes a choice away.
        version: named for the release of the result; None leaves the one that the draft has.

    Raises:
        NotWritable, DiskFull: it cannot be kept.
    """
    is_begun = read_draft(vault, opened.conflict.id) is not None
    draft = _draft(vault, opened)
    taken, entries = dict(draft.entries), draft.entries
    for file in opened.files:
        pick = changed.get(file.path)
        if pick is not None and pick.is_empty:
            entries.pop(file.path, None)
        elif pick is not None:
            entries[file.path] = _plain(opened, file, pick)
    texts = keep_unused(vault, _for_other_contents(opened, taken, changed), None)
    write_draft(vault, draft._replace(version=str(version) if version else draft.version))
    if _is_decided(vault, opened.conflict.id):  # asked behind it: a decision that comes later forgets the draft itself
        texts += keep_unused(vault, {path: taken[path] for path in taken.keys() - changed.keys()}, None)
        drop_draft(vault, opened.conflict.id)
        return Saved(is_kept=False, texts=tuple(texts))
    if not is_begun:  # only then was something taken over
        texts += _let_go(vault, opened, taken)
    return Saved(is_kept=True, texts=tuple(texts))


def _for_other_contents(opened: Opened, entries: Mapping[str, Any], changed: Mapping[str, Pick]) -> dict[str, Any]:
    """Return the entries whose place something else takes now, and that nobody saw as the choice that it was."""
    files = [file for file in opened.files if file.path in changed and file.path in entries]
    return {file.path: entries[file.path] for file in files if _pick(opened, file, entries[file.path]) is None}


def _is_decided(vault: Vault, conflict_id: str) -> bool:
    try:
        return conflict_of(vault, conflict_id).status is not Status.PENDING
    except LaceError:  # its heads count no more, or it cannot be told: what was chosen does no harm
        return False


def _draft(vault: Vault, opened: Opened) -> DraftFile:
    """Return what was chosen as the draft has it, else as those have it that the conflict can take over."""
    conflict, version = opened.conflict, ""
    draft = read_draft(vault, conflict.id)
    if draft is not None:
        return draft._replace(desk=conflict.desk)
    found: dict[str, Any] = {}
    others: dict[str, Any] = {}  # of other contents, which is to be told
    for former in former_drafts(vault, conflict.desk, conflict.id):
        version = version or (former.version if former.is_asked else "")
        for file in opened.files:
            entry = former.entries.get(file.path)
            if entry is not None and _pick(opened, file, entry) is not None:
                found.setdefault(file.path, entry)
            elif entry is not None and former.is_asked:
                others.setdefault(file.path, entry)
    return DraftFile(conflict.id, conflict.desk, others | found, version)


def _let_go(vault: Vault, opened: Opened, taken: Mapping[str, Any]) -> list[KeptText]:
    """Forget of former drafts what was taken over, and all of them where no other conflict could take from them.

    Returns:
        The edited texts among the rest, each in a file. Where that fails their draft stays, and does no harm.
    """
    desk, files = opened.conflict.desk, {file.path: file for file in opened.files}
    formers = former_drafts(vault, desk, opened.conflict.id)
    is_alone = not formers or all(one.desk != desk or one.id == opened.conflict.id for one in conflicts(vault))
    texts: list[KeptText] = []
    for former in formers:
        left = {
            path: entry
            for path, entry in former.entries.items()
            if not is_alone and (path not in files or _pick(opened, files[path], entry) is None)
        }
        if left == former.entries and left:
            continue
        gone = {path: former.entries[path] for path in former.entries.keys() - left.keys()}
        with suppress(LaceError):
            texts += keep_unused(vault, {path: one for path, one in gone.items() if one != taken.get(path)}, None)
            write_draft(vault, former._replace(entries=left, version=former.version if left else ""))
    return texts


def _plain(opened: Opened, file: OpenFile, pick: Pick) -> dict[str, Any]:
    value: dict[str, Any] = {"key": file.key}
    if pick.edited is not None:
        value["edited"] = pick.edited.decode("utf-8", "surrogateescape")
    elif pick.side is not None:
        value |= {"side": opened.sides[pick.side].commit.text, "at": pick.side}
    else:
        value["regions"] = {str(number): choice for number, choice in pick.regions.items()}
    return value


def load_draft(vault: Vault, opened: Opened) -> Draft:
    """Return what was chosen so far."""
    draft = _draft(vault, opened)
    entries = draft.entries
    found: dict[str, Pick] = {}
    stale = []
    for file in opened.files:
        entry = entries.get(file.path)
        pick = _pick(opened, file, entry)
        if pick is not None:
            found[file.path] = pick
        elif entry is not None:
            stale.append(file.path)
    return Draft(found, tuple(stale), _version(draft.version))


def _version(text: str) -> Version | None:
    try:
        return Version.parse(text) if text else None
    except BadVersion:
        return None


def _pick(opened: Opened, file: OpenFile, entry: object) -> Pick | None:
    """Return what an entry chose; None where it was made for other contents, or is none."""
    if not isinstance(entry, dict) or entry.get("key") != file.key:
        return None
    match entry:
        case {"edited": str()}:
            content = edited_text(entry)
            return Pick(edited=content) if content is not None else None
        case {"side": str(commit)}:
            commits = [side.commit.text for side in opened.sides]
            at = commits.index(commit) if commit in commits else entry.get("at")  # what was released since has it too
            return Pick(side=at) if isinstance(at, int) and 0 <= at < len(commits) else None
        case {"regions": dict(regions)}:
            if all(n.isascii() and n.isdigit() and len(n) < 8 and choice in CHOICES for n, choice in regions.items()):
                return Pick(regions={int(number): cast("Choice", choice) for number, choice in regions.items()})
    return None
