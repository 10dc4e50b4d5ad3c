"""What a person should know of a place beside that it is one now: said once, by whoever adds it for them."""

from __future__ import annotations

from lazy.places import Place
from vault.vault import Vault

__all__ = ["worth_knowing"]

_INSIDE = "This place lies inside your shared folder, so it would be committed: name it in .laceignore."
_ALIAS = "It is found only where ssh knows {}: whose ssh does not adds it by its full address."


def worth_knowing(vault: Vault, place: Place) -> tuple[str, ...]:
    """Return sentences about a new place, none for most: that it lies in the folder, or that its host is an alias."""
    folder = vault.folder.absolute().as_uri()
    told = (_INSIDE,) if place.uri == folder or place.uri.startswith(folder + "/") else ()
    if place.kind != "git":
        return told
    from transports.git.remote import is_alias  # noqa: PLC0415 - needed for one kind only

    return (*told, _ALIAS.format(place.uri.partition(":")[0])) if is_alias(place.uri) else told
