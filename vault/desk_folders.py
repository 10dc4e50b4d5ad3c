"""Which folder each desk has: `main` is the shared folder itself, others are sub-folders mapped to a name (CLAY-3).

A mapped sub-folder is no part of `main` any more: what `main` had there stays in its history as it was, and neither a
commit nor an update of `main` touches it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault.commands import as_typed
from vault.desks.paths import DOT_VAULT, BadPath, split_path
from vault.errors import CallerError, EnvironmentFault
from vault.files import make_directory
from vault.names import check_name
from vault.typed import shown
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.permits import Permit
    from vault.writer import Writer

__all__ = [
    "MAIN",
    "Desk",
    "DeskTaken",
    "FolderGone",
    "NoSuchDesk",
    "add_desk",
    "desk_at",
    "desks",
    "folder_of",
    "known_desk",
    "mapped_folder",
    "no_path_words",
    "no_paths",
    "scanned_folder",
    "unmapped",
    "within",
]

MAIN = "main"


class NoSuchDesk(CallerError):
    """There is no desk of that name here."""

    code = "no-such-desk"
    hint = "See: lace desks - and map a sub-folder with: lace desk add NAME DIR"


class DeskTaken(CallerError):
    """A desk's name or folder is used already, or the folder cannot be one."""

    code = "desk-taken"
    hint = "See: lace desks"


class FolderGone(EnvironmentFault):
    """The folder of a desk is not there: it was moved or deleted, or its disk is not mounted."""

    code = "desk-folder-gone"
    exit_code = 13
    hint = "Move it back, or have it written again as it was last: lace checkout DESK"


class Desk(NamedTuple):
    """One desk of this vault.

    Args:
        name: its name; friends who map the same name share it.
        dir: its folder relative to the shared one; empty for `main`.
        already: of one that was to be added, whether it was mapped so before.
        held_around: of one that was added, the desk around it, where its rules hold on for what lies there.
        along: of one that was moved, the desks whose folders were moved with it.
        permits: of one that was added, the rules about who may write and read that it, or one moved along, has from the
            desk around it now, each with whose it is.
    """

    name: str
    dir: str
    already: bool = False
    held_around: str = ""
    along: tuple[str, ...] = ()
    permits: tuple[tuple[str, Permit], ...] = ()


def desks(vault: Vault) -> list[Desk]:
    """Return every desk, `main` first, then by name."""
    return [*vault.store.answer("desks", lambda: _desks(vault))]


def _desks(vault: Vault) -> list[Desk]:
    rows = vault.store.rows("SELECT name, dir FROM desk ORDER BY name")
    return [Desk(MAIN, ""), *(Desk(str(name), str(folder)) for name, folder in rows)]


def unmapped(vault: Vault) -> list[str]:
    """Return the desks that somebody released and that have no folder here, by name."""
    here = {desk.name for desk in desks(vault)}
    rows = vault.store.rows("SELECT DISTINCT desk FROM release WHERE visible = 1 ORDER BY desk")
    return [name for (name,) in rows if name not in here]


def known_desk(vault: Vault, name: str) -> str:
    """Return the name of a desk that this vault has.

    Raises:
        NoSuchDesk: it has none of that name.
    """
    if name not in {desk.name for desk in desks(vault)}:
        raise NoSuchDesk(f"There is no desk {shown(name)} here.")
    return name


def desk_at(vault: Vault, folder: Path) -> str:
    """Return the desk that a folder belongs to: the innermost whose folder it is or lies in, else `main`."""
    inside = [(len(found.dir), found.name) for found in desks(vault) if folder.is_relative_to(vault.folder / found.dir)]
    return max(inside, default=(0, MAIN))[1]


def folder_of(vault: Vault, desk: str) -> Path:
    """Return the folder of a desk, which need not be there.

    Raises:
        NoSuchDesk: it is not mapped here.
        FolderGone: a link stands on the way to it: a friend's may lead to what the rules of `main` keep out (APP-12);
            or what the store says of it is no path (APP-13).
    """
    if desk == MAIN:
        return vault.folder
    for found in no_paths(vault):
        if found.name == desk:
            raise _unreadable(found)
    folder = mapped_folder(vault, desk)
    link = _link_on_the_way(vault, folder)
    if link is not None:
        at = link.relative_to(vault.folder)
        way = f"Name where it lies now: {_moved(desk)} - or move that link away"
        raise FolderGone(f"The folder of the desk {desk} is not reached through a link: {at} is one.", hint=way)
    return folder


def mapped_folder(vault: Vault, desk: str) -> Path:
    """Return the path of a desk's folder as it is mapped, to be shown or compared; `folder_of` is what is opened.

    Raises:
        NoSuchDesk: it is not mapped here.
    """
    if desk == MAIN:
        return vault.folder
    for found in desks(vault):
        if found.name == desk:
            return vault.folder / found.dir
    raise NoSuchDesk(f"There is no desk {shown(desk)} here.")


def scanned_folder(vault: Vault, desk: str) -> Path:
    """Return the folder of a desk that is about to be looked at.

    Raises:
        NoSuchDesk: it is not mapped here.
        FolderGone: as `folder_of`, or it is no longer there; it is not taken for a folder whose files somebody deleted.
    """
    folder = folder_of(vault, desk)
    if desk == MAIN or _is_folder(folder):
        return folder
    again = as_typed("checkout", desk)
    if os.path.lexists(folder):
        way = f"Move that away, and the folder back, or have it written again as it was last: {again}"
        raise FolderGone(f"The folder of the desk {desk} is gone: something else stands at {folder}.", hint=way)
    way = f"Move it back, have it written again as it was last: {again} - or name where it lies now: {_moved(desk)}"
    if not vault.store.rows("SELECT 1 FROM checkout WHERE desk = ?", desk):
        way = f"Move it back, or make it again: nothing of it was committed yet. Where it lies now: {_moved(desk)}"
    raise FolderGone(f"The folder of the desk {desk} is gone: {folder}.", hint=way)


def _moved(desk: str) -> str:
    return f"{as_typed('desk add', desk)} DIR"


def no_paths(vault: Vault) -> list[Desk]:
    """Return the desks of which the store says a folder that is no path below the shared one: it rotted (APP-13)."""
    return [found for found in desks(vault) if found.name != MAIN and not _is_path(found.dir)]


def no_path_words(desk: Desk) -> tuple[str, str]:
    """Return what is wrong with such a desk, and the way out."""
    what = f"The folder of the desk {desk.name} is noted as {shown(desk.dir)}, which is no path below the shared one."
    return what, f"Name where it lies: {_moved(desk.name)}"


def _unreadable(desk: Desk) -> FolderGone:
    what, way = no_path_words(desk)
    return FolderGone(what, hint=way)


def _is_path(folder: str) -> bool:
    try:
        names = split_path(folder)
    except BadPath:
        return False
    return bool(names) and names[0] != DOT_VAULT


def within(vault: Vault, desk: str) -> frozenset[str]:
    """Return the folders of other desks that lie inside a desk's folder, relative to it.

    Raises:
        FolderGone: of one nobody can tell where it lies, so that this desk would take what it holds for its own.
    """
    for rotten in no_paths(vault):
        raise _unreadable(rotten)
    found = desks(vault)
    own = next((entry.dir for entry in found if entry.name == desk), "")
    prefix = f"{own}/" if own else ""
    inner = (entry.dir for entry in found if entry.name != desk and entry.dir.startswith(prefix) and entry.dir)
    return frozenset(path[len(prefix) :] for path in inner)


def add_desk(vault: Vault, name: str, folder: str) -> Desk:
    """Map a sub-folder of the shared folder to a desk; it is made when it is not there.

    What is mapped so already stays: so a command that was killed before it answered may be given again (APP-13). A desk
    whose folder was moved is mapped to where it lies now; never to an empty folder, where all would look deleted. The
    desks in it that were moved along go with it, so that what they hold is never taken for its own. What the desk
    around it says of who may write and read there goes on to hold (CLAY-80).

    Raises:
        BadName, BadPath: name or folder cannot be one.
        BadPermit: with the rules of the desk around it, it would have too many.
        RulesDamaged: what is noted of who may read there rotted; nothing was changed.
        DeskTaken: the name is used, or the folder is one already, holds a vault, or is reached through a link.
        Unreadable: what the desk around it keeps out of it cannot be told; that stays out.
        NotWritable: the folder cannot be made.
        FormerRulesFull: too many rules around it keep something out of it; nothing was changed.
        TooManyAbsent: what lay where it was moved from cannot be remembered; nothing was changed.
    """
    from vault.desks.cursor import as_it_stands  # most commands add no desk
    from vault.folder.desk_moves import keep_left_behind
    from vault.folder.desks_around import note_around

    check_name(name, "desk")
    # By a folder's name in another case, `main` would go on to take in what the desk holds.
    path = "/".join(as_it_stands(vault.folder, tuple(split_path(folder))))
    if path == DOT_VAULT or path.startswith(DOT_VAULT + "/"):
        raise DeskTaken(f"{folder} belongs to the vault itself.")
    target = vault.folder / path
    with vault.writing() as w:
        if path and (mapped_so := next((desk for desk in desks(vault) if desk == Desk(name, path)), None)):
            return mapped_so._replace(already=True)
        _refuse_taken(vault, name, path)
        # Of a folder that was no path nothing can have been moved.
        before = {desk.name: desk.dir for desk in desks(vault)}
        before |= {desk.name: path for desk in no_paths(vault) if desk.name == name}
        along = _moved_along(vault, before, name, path)
        keep_left_behind(vault, before, before | {name: path} | along)
        around = desk_at(vault, target)
        if name not in before:
            note_around(w, name, path, before)
        mapped = {**along, name: path}
        for desk_name, folder_now in mapped.items():
            w.store.run("INSERT OR REPLACE INTO desk VALUES (?, ?)", desk_name, folder_now)
        held, ruled = _hold_on(w, vault, (name, *along))
        for desk_name, folder_now in mapped.items():  # the one that was named is the last act (APP-4)
            w.audit("lace-desk", desk_name, {"folder": folder_now})
        make_directory(target)
    return Desk(name, path, held_around=around if name in held else "", along=tuple(along), permits=ruled)


def _refuse_taken(vault: Vault, name: str, path: str) -> None:
    """Refuse a name or folder that cannot be a desk's.

    Raises:
        DeskTaken: as `add_desk`.
    """
    target = vault.folder / path
    for desk in desks(vault):
        if desk.name == name and not _was_moved(vault, desk, target):
            raise DeskTaken(f"The desk {name!r} is mapped to {desk.dir or 'the whole shared folder'} already.")
        if desk.name != name and (desk.dir == path or _is_same(vault.folder / desk.dir, target)):
            what = path or "The whole shared folder"
            raise DeskTaken(f"{what} is the desk {desk.name!r} already.", hint="Name another sub-folder.")
    if target.resolve() != vault.folder.resolve() / path or (target.exists() and not target.is_dir()):
        raise DeskTaken(f"{path} is not a plain folder of this vault.")
    if os.path.lexists(target / DOT_VAULT):
        raise DeskTaken(f"{path} holds a vault of its own.")


def _hold_on(w: Writer, vault: Vault, mapped: Sequence[str]) -> tuple[set[str], tuple[tuple[str, Permit], ...]]:
    """Let hold on, in desks that are mapped now, what the desks around them keep out and say of who may read and write.

    Returns:
        The desks that something is kept out of, and the rules that each has from around it.

    Raises:
        BadPermit, Unreadable: as `add_desk`.
    """
    from vault.folder.held_rules import hold_around  # most commands add no desk
    from vault.permits import permit_around

    held: set[str] = set()
    ruled: list[tuple[str, Permit]] = []
    for name in sorted(mapped, key=lambda each: len(mapped_folder(vault, each).parts)):  # what is around comes first
        folder = mapped_folder(vault, name)
        around = desk_at(vault, folder.parent)
        root = mapped_folder(vault, around)
        below = folder.relative_to(root).as_posix()
        if hold_around(w, vault, name, around, root, below):
            held.add(name)
        # Of one that moved together with the desk around it, the rest was settled where both lay before.
        if name == mapped[0] or around in {owner for owner, _ in ruled}:
            ruled += ((name, rule) for rule in permit_around(w, name, around, below))
    return held, tuple(ruled)


def _link_on_the_way(vault: Vault, folder: Path) -> Path | None:
    """Return the first link from the shared folder, whose own path is the person's, down to a desk's; mostly None."""
    if folder is vault.folder:
        return None
    below = folder.relative_to(vault.folder).parts
    ways = (vault.folder.joinpath(*below[:depth]) for depth in range(1, len(below) + 1))
    return next((way for way in ways if os.path.islink(way)), None)  # noqa: PTH114 - never raises


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # what is above it cannot be looked into
        return False


def _was_moved(vault: Vault, desk: Desk, target: Path) -> bool:
    """Tell whether a desk's folder is gone from its place, and something lies where it is said to be now."""
    former = vault.folder / desk.dir
    if desk.name != MAIN and not _is_path(desk.dir):
        return _is_folder(target) and any(target.iterdir())
    is_gone = bool(desk.dir) and (not os.path.lexists(former) or _link_on_the_way(vault, former) is not None)
    return is_gone and _is_folder(target) and any(target.iterdir())


def _moved_along(vault: Vault, before: Mapping[str, str], name: str, path: str) -> dict[str, str]:
    """Return the desks in the former folder of a desk that lie in its new one now, each with its new folder."""
    former = before.get(name)
    if not former:
        return {}
    inner = {desk: folder for desk, folder in before.items() if folder.startswith(f"{former}/")}
    moved = {desk: path + folder[len(former) :] for desk, folder in inner.items()}
    return {desk: folder for desk, folder in moved.items() if _lies_now(vault, before, before[desk], folder)}


def _lies_now(vault: Vault, before: Mapping[str, str], former: str, folder: str) -> bool:
    """Tell whether the folder of a desk is gone from its place, and one that is no desk's stands in another."""
    is_gone = not os.path.lexists(vault.folder / former)
    target = vault.folder / folder
    is_free = folder not in before.values() and _link_on_the_way(vault, target) is None
    return is_gone and is_free and _is_folder(target)


def _is_same(folder: Path, other: Path) -> bool:
    """Tell whether two paths lead to one folder, as on a disk that takes upper and lower case for the same."""
    try:
        return folder.samefile(other)
    except OSError:
        return False
