"""Files of a desk whose folder was moved: by no other desk they are given away (CLAY-3, CLAY-80).

Where the folder of a desk is gone, nobody can tell whether what is new elsewhere was in it. Its own rules say who may
read that, and the desk that would take it in knows them not; so it waits for a word.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from vault.desk_folders import FolderGone, desks, mapped_folder, scanned_folder
from vault.desks.paths import is_at_or_below

if TYPE_CHECKING:
    from vault.desks.choosing import Problem
    from vault.desks.diff import Change
    from vault.vault import Vault

__all__ = ["notices_of_gone", "refuse_gone"]


def refuse_gone(vault: Vault, desk: str, found: Iterable[Change], named: Collection[str] = ()) -> None:
    """Refuse to take in new files that nobody named while the folder of another desk is gone.

    Args:
        vault: whose folder.
        desk: the desk that would take them in.
        found: what is about to be committed.
        named: paths that a person named, for what is below them too; an empty one for all.

    Raises:
        FolderGone: there are such files.
    """
    gone = _gone_beside(vault, desk)
    fresh = [path for path in _new_files(found) if not is_at_or_below(path, named)] if gone else []
    for error in gone.values() if fresh else ():
        from vault.plural import few  # hardly any folder is gone

        raise FolderGone(
            f"{error.message} These files are new, and may be what was in it: {few(fresh)}.",
            hint=f"{error.hint} - or take those files in by name: lace commit -m TEXT PATH... - then run the same"
            " command again; nothing was changed.",
        )


def notices_of_gone(vault: Vault, desk: str, found: Iterable[Change]) -> tuple[Problem, ...]:
    """Return what to say of new files of a desk while the folder of another is gone: a notice for each of these."""
    gone = _gone_beside(vault, desk) if _new_files(found) else {}
    if not gone:
        return ()
    from vault.desks.choosing import Problem  # hardly any folder is gone

    here = mapped_folder(vault, desk)
    paths = {name: os.path.relpath(mapped_folder(vault, name), here).replace(os.sep, "/") for name in gone}
    why = "cannot be looked at, and what is new may be what was in it"
    return tuple(
        Problem(paths[name], f"is the folder of the desk {name}: it {why}. {error.hint}", "notice")
        for name, error in gone.items()
    )


def _new_files(found: Iterable[Change]) -> list[str]:
    return [one.path for one in found if one.kind == "added" and one.after is not None and not one.after.is_dir]


def _gone_beside(vault: Vault, desk: str) -> dict[str, FolderGone]:
    """Return the other desks whose folders are gone, each with what there is to say: any may hold what was moved."""
    gone = {}
    for other in desks(vault):
        if other.name == desk:
            continue
        try:
            scanned_folder(vault, other.name)
        except FolderGone as error:
            gone[other.name] = error
    return gone
