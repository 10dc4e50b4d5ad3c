"""What a person should know of a place beside that it is one now: said once, by whoever adds it for them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from lazy.places.registry import Place
from vault.commands import as_typed
from vault.desk_folders import desk_at, folder_of
from vault.desks.paths import DOT_VAULT
from vault.errors import LaceError
from vault.files import read_bounded
from vault.vault import Vault

__all__ = ["is_missing", "worth_knowing"]

_INSIDE = "This place lies inside your shared folder, so it would be committed: name it in .laceignore."
_WITHIN = "This place lies inside the shared folder {}, so it would be committed there: choose another directory."
_ALIAS = "It is found only where ssh knows {}: whose ssh does not adds it by its full address."
_MADE = (
    "There was no such directory, so it was made now. If it is to be on a stick or a share that is not here yet: {},"
    " and add it again once it is."
)


def is_missing(uri: str, cwd: Path) -> bool:
    """Return whether an address means a directory that is not there, so that to add it as a place makes one.

    Args:
        uri: as a person typed it.
        cwd: what a relative directory is relative to.

    Raises:
        UnknownPlaceKind, PlaceUnreachable: it is none that can be added.
    """
    from transports.address import AddressKind, parse_address  # naming a place opens no road

    address = parse_address(uri, cwd)
    return address.kind is AddressKind.DROP and address.path is not None and not address.path.exists()


def worth_knowing(vault: Vault, place: Place, *, is_made: bool = False) -> tuple[str, ...]:
    """Return sentences about a new place, none for most: that it lies in the folder, or that its host is an alias.

    Args:
        vault: whose place it is.
        place: it.
        is_made: whether its directory was made for it.
    """
    folder = vault.folder.absolute().as_uri()
    told = [_MADE.format(as_typed("place remove", place.name))] if is_made else []
    is_inside = place.uri == folder or place.uri.startswith(folder + "/")
    told += [_INSIDE] if is_inside and not _is_kept_out(vault, unquote(place.uri[len(folder) + 1 :])) else []
    around = None if is_inside else _shared_around(place)
    told += [_WITHIN.format(around)] if around is not None else []
    if place.kind != "git":
        return tuple(told)
    from transports.git.remote import is_alias  # needed for one kind only

    return (*told, _ALIAS.format(place.uri.partition(":")[0])) if is_alias(place.uri) else tuple(told)


def _shared_around(place: Place) -> Path | None:
    """Return the folder of another vault that the directory of a drop lies in."""
    if place.kind != "drop":
        return None
    at = Path(unquote(place.uri.removeprefix("file://")))
    return next((folder for folder in at.parents if (folder / DOT_VAULT / "store.db").is_file()), None)


def _is_kept_out(vault: Vault, path: str) -> bool:
    """Tell whether the rules of the desk in whose folder a directory lies leave it out."""
    from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES, Ignore  # few places lie in a folder

    at = vault.folder / path
    try:
        folder = folder_of(vault, desk_at(vault, at))
        rules = Ignore(read_bounded(folder / IGNORE_FILE, MAX_IGNORE_BYTES))
    except LaceError:
        return False
    return at != folder and rules.matches(at.relative_to(folder).as_posix(), is_dir=True)
