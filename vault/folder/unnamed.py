"""What a commit takes in or takes away only where a person named it (CLAY-3, APP-12).

Much is committed by itself: before an update, by a release, by a commit of all. Where the look of a folder speaks for
an accident rather than for work, that waits for a word, and nothing is changed until it is said.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from vault.commands import as_option, as_typed
from vault.desk_folders import MAIN, mapped_folder, within
from vault.desks.absent_paths import load_absent
from vault.desks.paths import is_at_or_below
from vault.desks.tree import walk
from vault.errors import CallerError
from vault.folder.dir_cache import StoredDirCache
from vault.folder.gone_desks import refuse_gone
from vault.folder.held_rules import refuse_unclear

if TYPE_CHECKING:
    from vault.desks.choosing import Problem
    from vault.desks.diff import Change
    from vault.desks.pages import Entry
    from vault.records import RecordHash
    from vault.vault import Vault

__all__ = ["FolderEmptied", "refuse_unnamed"]


class FolderEmptied(CallerError):
    """Every file of a desk is gone from its folder: a slip, or a disk that is not mounted, looks the same."""

    code = "folder-emptied"
    hint = "Have them back: lace checkout DESK - or let them go for everybody, named: lace commit -m TEXT ."


def refuse_unnamed(
    vault: Vault,
    desk: str,
    base: RecordHash | None,
    found: Collection[Change],
    problems: Collection[Problem],
    named: Collection[str] = (),
) -> None:
    """Refuse to commit by itself what looks like an accident.

    Args:
        vault: whose folder.
        desk: the desk.
        base: the tree that the folder stands on; None before the first commit.
        found: what is about to be committed.
        problems: of the scan.
        named: paths that a person named, for what is below them too; an empty one for all.

    Raises:
        RulesUnclear: files are new, and a rule cannot be used that may be meant to keep them out.
        FolderGone: files are new, and may be those of a desk whose folder is gone.
        FolderEmptied: no file is left of all that the folder held, neither edited nor under another name, and nothing
            is new but what is hidden or empty, as a file manager leaves it in an empty folder.
    """
    refuse_unclear(found, problems, named)
    refuse_gone(vault, desk, found, named)
    if base is not None and found and not named:
        _refuse_emptied(vault, desk, base, found)


def _refuse_emptied(vault: Vault, desk: str, base: RecordHash, found: Collection[Change]) -> None:
    gone = {one.path: one.before for one in found if one.before is not None and not one.before.is_dir}
    came = {one.path: one.after for one in found if one.after is not None and not one.after.is_dir}
    contents = {entry.hash for entry in gone.values() if entry.size}  # one empty file is like any other
    if any(path in gone or entry.hash in contents or _is_work(path, entry) for path, entry in came.items()):
        return
    if not gone or _holds_another(vault, desk, base, gone):
        return
    from vault.plural import few, plural  # hardly any folder is emptied

    folder, option = mapped_folder(vault, desk), "" if desk == MAIN else f" {as_option('--desk', desk)}"
    what = "The only file" if len(gone) == 1 else f"All {plural(len(gone), 'file')}"
    raise FolderEmptied(
        f"{what} of {desk} {'is' if len(gone) == 1 else 'are'} gone from {folder}: {few(sorted(gone))}.",
        hint=f"Have them back: {as_typed('checkout', desk)} - or let them go, for your friends too with the next"
        f" release, by naming the folder: {as_typed(f'commit -m TEXT{option}', str(folder))} - then run the same"
        " command again; nothing was changed.",
    )


def _is_work(path: str, entry: Entry) -> bool:
    """Tell whether a new file is one that a person made: neither empty nor hidden, nor in a hidden folder."""
    return bool(entry.size) and not any(name.startswith(".") for name in path.split("/"))


def _holds_another(vault: Vault, desk: str, base: RecordHash, gone: Collection[str]) -> bool:
    """Tell whether a folder still has a file of its tree; ends at the first, so all is read only where all are gone.

    What the tree has in the folder of another desk, and what the folder never had of it, is no file that is there.
    """
    elsewhere = {*within(vault, desk), *load_absent(StoredDirCache(vault, desk))}
    return any(
        not entry.is_dir and path not in gone and not is_at_or_below(path, elsewhere)
        for path, entry in walk(vault.store, base)
    )
