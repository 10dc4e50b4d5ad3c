"""What a person typed: paths, from where they stand, and the key of a node (CLAY-3)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

from lace_tui.errors import BadArguments
from vault.desk_folders import MAIN, desk_at, desks, known_desk, mapped_folder, within
from vault.desks.paths import BadPath, split_path
from vault.errors import CallerError
from vault.records import RecordError, Verifier
from vault.vault import Vault

__all__ = [
    "OutsideFolder",
    "Way",
    "desk_from",
    "desk_path_from",
    "expanded",
    "node_key",
    "place_from",
    "refuse_other_desk",
]

Way = Callable[[str, str], str]
"""Gives a command from the name of a desk and what was typed."""


class OutsideFolder(CallerError):
    """A path leads out of the shared folder."""

    code = "outside-folder"
    hint = "Name files in the shared folder."


def desk_from(here: Path, vault: Vault, name: str | None) -> str:
    """Return the desk of a name, else the one in whose folder somebody stands.

    Args:
        here: where they stand, an absolute path.
        vault: whose desks.
        name: as it was typed; None or empty where it was not.

    Raises:
        NoSuchDesk: there is none of that name.
    """
    return known_desk(vault, name) if name else desk_at(vault, here)


def desk_path_from(here: Path, vault: Vault, text: str, desk: str = MAIN, *, is_on_disk: bool = False) -> str:
    """Return a path that a person typed, relative to the desk's folder; empty for the folder itself.

    It is typed from where the person stands, as a shell has it. Where that leads out of the desk, and the person stands
    elsewhere, it is as the desk calls it: so is every path of a friend's desk that has no folder here.

    Some disks spell an accent as a letter of its own, and so does a shell that completes their names: a tree does not.

    Args:
        here: where it was typed, an absolute path.
        vault: whose folder.
        text: as typed.
        desk: the desk.
        is_on_disk: what stands there is meant by its very spelling.

    Raises:
        OutsideFolder: it leads out of it.
        BadArguments: no file in a desk can be called so.
    """
    is_mapped = desk == MAIN or any(known.name == desk for known in desks(vault))
    folder = (mapped_folder(vault, desk) if is_mapped else vault.folder).absolute()
    # Text alone decides: a link in the folder is an entry of its own and must not be followed.
    path = os.path.normpath(os.path.join(here, text))  # noqa: PTH118
    relative = os.path.relpath(path, folder)
    if not is_mapped or (_leads_out(relative) and _leads_out(os.path.relpath(here, folder))):
        path = os.path.normpath(os.path.join(folder, text))  # noqa: PTH118
        relative = os.path.relpath(path, folder)
    if _leads_out(relative):
        if desk == MAIN:
            raise OutsideFolder(f"{text} lies outside the shared folder {folder}.")
        way = "Name files in the folder of that desk."
        raise OutsideFolder(f"{text} lies outside the folder of {desk}, {folder}.", hint=way)
    relative = "" if relative == os.curdir else relative.replace(os.sep, "/")
    if not (is_on_disk and os.path.lexists(path)):
        relative = normalize("NFC", relative)
    try:
        split_path(relative)
    except BadPath as error:
        raise BadArguments(error.message, hint=error.hint) from error
    return relative


def refuse_other_desk(vault: Vault, desk: str, path: str, text: str, way: Way) -> None:
    """Refuse a path of a desk that lies in the folder of another one.

    Args:
        vault: whose folder.
        desk: the desk.
        path: relative to its folder.
        text: the same as typed.
        way: what gives the command about another desk, from its name and what was typed.

    Raises:
        OutsideFolder: it does.
    """
    if not any(f"{path}/".startswith(f"{folder}/") for folder in within(vault, desk)):
        return
    other = desk_at(vault, mapped_folder(vault, desk) / path)
    again = f"Name that desk: {way(other, text)} - or go to its folder."
    raise OutsideFolder(f"{text} lies in the desk {other}.", hint=again)


def _leads_out(relative: str) -> bool:
    return relative == os.pardir or relative.startswith(os.pardir + os.sep)


def expanded(text: str) -> Path:
    """Return a path that a person typed, with `~` as a home where it is somebody's, as a shell has it."""
    path = Path(text)
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def place_from(here: str | os.PathLike[str], text: str) -> Path:
    """Return a file or folder, in the shared one or not, that a person typed.

    Args:
        here: the folder they stand in; absolute.
        text: what they typed.
    """
    return Path(os.path.normpath(Path(here) / expanded(text)))


def node_key(text: str) -> Verifier:
    """Return the key of a node as it was typed.

    Raises:
        BadArguments: it is none.
    """
    try:
        return Verifier.parse(text)
    except RecordError as error:
        raise BadArguments(
            f"{text!r} is not the key of a node.", hint="A key starts with V. and is printed by: lace id"
        ) from error
