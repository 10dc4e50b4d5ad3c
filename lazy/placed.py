"""What a person should know of a place beside that it is one now: said once, by whoever adds it for them."""

from __future__ import annotations

from urllib.parse import unquote

from lazy.places import Place
from vault.desk_folders import desk_at, folder_of
from vault.errors import LaceError
from vault.files import read_bounded
from vault.vault import Vault

__all__ = ["worth_knowing"]

_INSIDE = "This place lies inside your shared folder, so it would be committed: name it in .laceignore."
_ALIAS = "It is found only where ssh knows {}: whose ssh does not adds it by its full address."


def worth_knowing(vault: Vault, place: Place) -> tuple[str, ...]:
    """Return sentences about a new place, none for most: that it lies in the folder, or that its host is an alias."""
    folder = vault.folder.absolute().as_uri()
    is_inside = place.uri == folder or place.uri.startswith(folder + "/")
    told = (_INSIDE,) if is_inside and not _is_kept_out(vault, unquote(place.uri[len(folder) + 1 :])) else ()
    if place.kind != "git":
        return told
    from transports.git.remote import is_alias  # noqa: PLC0415 - needed for one kind only

    return (*told, _ALIAS.format(place.uri.partition(":")[0])) if is_alias(place.uri) else told


def _is_kept_out(vault: Vault, path: str) -> bool:
    """Tell whether the rules of the desk in whose folder a directory lies leave it out."""
    from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES, Ignore  # noqa: PLC0415 - few places lie in a folder

    at = vault.folder / path
    folder = folder_of(vault, desk_at(vault, at))
    try:
        rules = Ignore(read_bounded(folder / IGNORE_FILE, MAX_IGNORE_BYTES))
    except LaceError:
        return False
    return at != folder and rules.matches(at.relative_to(folder).as_posix(), is_dir=True)
