"""What the history and its files read from a vault: old revisions, their files, and what differs (CLAY-13 to CLAY-16).

Plain code without a screen; each function runs in a thread.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lace_tui.model.lineage import Row, draw
from lace_tui.words.difftext import Difference, folder_differences, tree_differences
from lace_tui.words.inert import inert
from lace_tui.words.written import moved_text
from lazy.address import NotShared, ResolvedCommit, resolve
from lazy.folder.checkout_files import CheckedOut, Foreseen
from lazy.folder.going_back import check_out, plan_check_out
from lazy.log import LogLine
from lazy.people import label_of
from vault.commands import as_typed
from vault.desk_folders import desk_at, desks, mapped_folder
from vault.desks.chunks import check_here, entry_pieces
from vault.desks.pages import Entry
from vault.desks.tree import walk
from vault.errors import CallerError
from vault.folder.checked_out import checkout_of
from vault.folder.work import changes
from vault.names import SELF
from vault.plural import more_lines
from vault.profile import Release, read
from vault.records import RecordHash, Seal, parse_record
from vault.revisions.graph import nearest_below, parents_of
from vault.revisions.history import commit_info, revision_of, revisions_of
from vault.vault import Vault
from vault.watch import Watch

__all__ = [
    "Found",
    "NoFiles",
    "OldFiles",
    "as_planned",
    "between",
    "commits_of",
    "content_lines",
    "drawings",
    "entry_at",
    "files_at",
    "foreseen_lines",
    "in_folder",
    "latest",
    "what_changed",
]

DIFFERENCES = 500  # paths compared at once; the rest are counted in a sentence
READ_LIMIT = 16 << 20  # bytes of a file that is shown as text
_TITLE = 200  # cells of a message over what it changed
_SNIFFED = 64  # bytes shown of a file that is no text
_NAMED = 12  # paths of a plan


class NoFiles(CallerError):
    """A record that is not a commit has no files of its own."""

    code = "no-files"
    hint = "Select a commit, a release or a decision."


class OldFiles(NamedTuple):
    """A revision and the files in it, and where the folder of its desk is; empty where that has none here."""

    at: ResolvedCommit
    files: tuple[tuple[str, Entry], ...]
    folder: str


class Found(NamedTuple):
    """What differs, with a title, and the command that prints the same; empty when none does."""

    title: str
    lines: tuple[str, ...]
    command: str


def files_at(vault: Vault, address: str) -> OldFiles:
    """Return the files that an address `[PEER/]DESK[@CASE]` names.

    Raises:
        As `lazy.address.resolve`.
    """
    with vault.store.reading():
        at = resolve(vault, address)
        return OldFiles(at, _walk(vault, at), _folder(vault, at.desk))


def _folder(vault: Vault, desk: str) -> str:
    is_here = any(known.name == desk for known in desks(vault))
    return str(mapped_folder(vault, desk).absolute()) if is_here else ""


def entry_at(vault: Vault, key: str) -> OldFiles:
    """Return the files as they were at an entry of the log.

    Raises:
        NoFiles: it is no commit, release or decision.
        NotShared, NotYet, Pruned: they are not here.
    """
    with vault.store.reading():
        at = _of_entry(vault, key)
        return OldFiles(at, _walk(vault, at), _folder(vault, at.desk))


def _walk(vault: Vault, at: ResolvedCommit) -> tuple[tuple[str, Entry], ...]:
    return tuple((path, entry) for path, entry in walk(vault.store, at.tree) if not entry.is_dir)


def _of_entry(vault: Vault, key: str) -> ResolvedCommit:
    commit = commits_of(vault, key)
    if commit is None:
        raise NoFiles("This entry has no files of its own.")
    found = revisions_of(vault.store, commit)
    info = commit_info(vault.store, commit)
    if found:
        one = next((head for head in found if head.node == vault.node.text), found[0])
        owner = SELF if one.node == vault.node.text else label_of(vault, one.node)
        return resolve(vault, f"{owner}/{one.desk}@{commit}")
    if not vault.store.have([info.tree]):
        raise NotShared("The content of this commit is not shared: it was never released.")
    return ResolvedCommit(commit, info.tree, info.signer, info.desk, f"{info.desk}, a commit of its own", None)


def commits_of(vault: Vault, key: str) -> RecordHash | None:
    """Return the commit that an entry of the log is about, or None."""
    record = RecordHash.parse(key)
    stored = vault.store.stored(record)
    seal = parse_record(stored, verify=False) if stored else None
    if not isinstance(seal, Seal):
        return None
    value: Any = read(seal)
    if isinstance(value, Release):
        return value.commit
    return record if seal.plex.app == "lace/commit" else getattr(value, "result", None)


def latest(vault: Vault, at: ResolvedCommit, other: str) -> Found:
    """Return what differs from a revision to another time of its line: the newest one when none is named."""
    address = other or f"{at.what.partition('@')[0]}"
    with vault.store.reading():
        return _between(vault, at, resolve(vault, address))


def between(vault: Vault, one: str, other: str) -> Found:
    """Return what differs between two addresses."""
    with vault.store.reading():
        return _between(vault, resolve(vault, one), resolve(vault, other))


def _between(vault: Vault, before: ResolvedCommit, after: ResolvedCommit) -> Found:
    found = tree_differences(vault, before, after, limit=DIFFERENCES + 1)
    return Found(f"{before.what} to {after.what}", _told(found), as_typed("diff", before.what, after.what))


def what_changed(vault: Vault, keys: tuple[str, ...]) -> Found:
    """Return what differs from the older to the newer of two entries, or from an entry's parent to it.

    Raises:
        NoFiles: an entry is no commit, release or decision.
    """
    with vault.store.reading():
        if len(keys) == 2:
            return _between(vault, *(_of_entry(vault, key) for key in keys[::-1]))  # the list is newest first
        commit = commits_of(vault, keys[0])
        if commit is None:
            raise NoFiles("This entry has no files of its own.")
        info = commit_info(vault.store, commit)
        below = nearest_below(vault.store, commit)
        title = inert(info.message.partition("\n")[0], _TITLE) or "No message"
        new = ResolvedCommit(commit, info.tree, info.signer, info.desk, "after", None)
        if not below:
            entries = islice(walk(vault.store, info.tree), DIFFERENCES + 1)
            added = [
                Difference(path, "added", (f"+++ {path} ({entry.size} bytes)",))
                for path, entry in entries
                if not entry.is_dir
            ]
            return Found(title, _told(added), "")
        old = ResolvedCommit(commit, commit_info(vault.store, below[0]).tree, info.signer, info.desk, "before", None)
        return Found(title, _told(tree_differences(vault, old, new, limit=DIFFERENCES + 1)), "")


def in_folder(vault: Vault, here: str) -> Found:
    """Return what differs between a folder as it is and its last commit; the folder is that of the desk at a path."""
    found = changes(vault, desk_at(vault, Path(here)), is_dry=True)
    base = checkout_of(vault, found.desk)
    head = revision_of(vault.store, vault.node.text, found.desk, base.commit) if base is not None else None
    before = f"{found.desk}@{head.number}" if head is not None else "nothing"
    differing = folder_differences(vault, found, (before, "folder"), limit=DIFFERENCES + 1)
    nothing, more = f"Nothing changed in {found.desk} since the last commit.", "all are listed by: lace changes"
    return Found(f"{before} to your folder", _told(differing, nothing, more), "lace diff")


def _told(
    found: list[Difference], nothing: str = "No file differs.", more: str = "name one by command: lace diff A B PATH"
) -> tuple[str, ...]:
    if not found:
        return (nothing,)
    lines = [line for difference in found[:DIFFERENCES] for line in difference.lines]
    if len(found) > DIFFERENCES:
        lines += ["", f"More than {DIFFERENCES} files differ; {more}"]
    return tuple(lines)


def content_lines(vault: Vault, entry: Entry) -> tuple[str, ...]:
    """Return a file of a revision as lines; of one that is large or no text, what it is and how it begins.

    Raises:
        MissingObject: a part of it is not here.
    """
    if entry.kind == "l":
        return (f"A link to {b''.join(entry_pieces(vault.store, entry)).decode('utf-8', 'backslashreplace')}",)
    with vault.store.reading():
        check_here(vault.store, entry)
        pieces = entry_pieces(vault.store, entry)
        if entry.size <= READ_LIMIT:
            content = b"".join(pieces)
            if b"\0" not in content:
                try:
                    return tuple(line.decode() for line in content.splitlines()) or ("An empty file.",)
                except UnicodeDecodeError:
                    pass
        else:
            content = next(pieces)
    head = content[:_SNIFFED]
    return (
        "Not shown as text: it is binary, or large.",
        f"Size: {entry.size} bytes",
        f"Content: {entry.hash}",
        *(f"  {at:04x}  {head[at : at + 16].hex(' ')}" for at in range(0, len(head), 16)),
    )


def as_planned(vault: Vault, at: ResolvedCommit, plan: Foreseen, watch: Watch) -> CheckedOut | Foreseen:
    """Check out what was agreed to; where another plan would be done by now, return that one and do nothing.

    Raises:
        UncommittedChanges, FolderInTheWay: as `check_out`.
    """
    with vault.lock.held():
        now = plan_check_out(vault, at, watch)
        return check_out(vault, at, watch) if now == plan else now


def foreseen_lines(plan: Foreseen) -> list[str]:
    """Return what a checkout would change, for a person to agree to: a few paths, and of how many of each kind."""
    signs = {"added": "+", "changed": "~", "deleted": "-"}
    paths = [f"  {signs[kind]} {path}" for kind, path in plan.moved]
    if len(paths) <= _NAMED:
        return paths
    deleted = [path for kind, path in plan.moved if kind == "deleted"]
    written = [path for kind, path in plan.moved if kind != "deleted"]
    total = moved_text(written, deleted, planned=True)
    return [f"  {total}:", *paths[:_NAMED], *more_lines(len(paths), _NAMED)]


def drawings(vault: Vault, lines: list[LogLine]) -> list[str]:
    """Return the lineage of the commits of a log, one drawing a line."""
    parents = parents_of(vault.store, [line.hash.text for line in lines if line.app == "lace/commit"])
    return draw(
        Row(line.hash.text, parents.get(line.hash.text, ())) if line.app == "lace/commit" else Row(None)
        for line in lines
    )
