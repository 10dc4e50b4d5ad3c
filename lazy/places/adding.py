"""Adding a place: it is made or proven at its address, looked at for encrypted mailboxes, and remembered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lazy.people import other_node
from lazy.places.media import is_found_encrypted
from lazy.places.registry import NameTaken, Place, keep_place, note_encrypted, places
from lazy.places.roads import make_place
from transports.address import AddressKind, parse_stored
from vault.commands import as_typed
from vault.errors import CallerError, PlaceError
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["PlaceKnown", "add_place"]

_DIRECTORIES = {AddressKind.DROP, AddressKind.VAULT}


class PlaceKnown(CallerError):
    """What is to become a place is one already, so that each sync would visit it twice."""

    code = "place-known"
    exit_code = 2
    hint = "Use the name it has, or forget that one first: lace place remove NAME"


def add_place(
    vault: Vault,
    name: str,
    uri: str,
    *,
    cwd: Path,
    peer: str | None = None,
    create: bool = True,
    also: Callable[[Writer, Place], None] | None = None,
) -> Place:
    """Remember a place. A new or empty directory becomes a drop, an empty git repository a git place.

    Args:
        vault: whose place it is.
        name: its name; no peer and no other place may have it.
        uri: a directory, or a URI.
        cwd: what a relative directory is relative to.
        peer: name of the one peer it is for.
        create: make the drop when the directory is new or empty; without it an absent medium is remembered as it is.
        also: notes in the same transaction how the place is to be used; what it raises leaves no place.

    Raises:
        NameTaken, BadName: the name cannot be used.
        NoSuchPeer: nobody else has the name of the one that it is for.
        UnknownPlaceKind: the URI is of no kind that lace knows.
        PlaceKnown: it is a place already, under another name.
        PlaceError, InTheVault: the directory is something else, or lies where only lace keeps files.
        EnvironmentFault: this vault cannot be written now; nothing was made.
    """
    if name == vault.name:
        raise NameTaken(f"The name {name!r} is yours, and places and people share their names.")
    vault.check_mark()  # else a drop is made that nothing here knows of
    place = make_place(vault, name, uri, cwd=cwd, node=other_node(vault, peer) if peer else None, create=create)
    is_sealed = is_found_encrypted(vault, place)
    with vault.writing() as w:
        for known in places(vault):
            if _is_same(known, place):
                way = f"Use the name it has, or forget that one first: {as_typed('place remove', known.name)}"
                raise PlaceKnown(f"{place.uri} is the place {known.name!r} already.", hint=way)
        keep_place(w, place)
        note_encrypted(w, name, is_on=is_sealed)
        if also is not None:
            also(w, place)
    return place


def _is_same(known: Place, place: Place) -> bool:
    """Tell whether both are one directory or address for the same friends; a friend's vault is theirs anyhow."""
    is_same_way = known.uri == place.uri
    if not is_same_way and known.kind == place.kind and place.kind in _DIRECTORIES:
        with suppress(OSError, PlaceError):  # one of them is not here now
            one, other = (parse_stored(each.uri).path for each in (known, place))
            is_same_way = one is not None and other is not None and one.samefile(other)  # by a link
    return is_same_way and (known.peer == place.peer or (place.kind == AddressKind.VAULT and place.peer is None))
