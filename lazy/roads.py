"""Roads: what lies at a place's address is made or proven when the place is named, and opened when it is visited.

`lazy.places` remembers places and needs none of this; whoever adds or opens one comes here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lazy.people import node_of, peers
from lazy.places import NameTaken, NoSuchPlace, Place, home_of, keep_place, places, refuse_taken
from lazy.sealing import is_found_encrypted, note_encrypted, seen_first
from vault.commands import as_typed
from vault.errors import CallerError, PlaceError
from vault.files import keep_out
from vault.lock import Patience
from vault.names import check_name
from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from transports.mailbox import MailboxPlace

__all__ = ["NotAMailbox", "PlaceKnown", "add_place", "make_place", "open_place"]


class NotAMailbox(PlaceError):
    """A live server or another vault was to be read like a medium."""

    code = "not-a-mailbox"
    exit_code = 20
    hint = "Sync with it instead: lace sync NAME"


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
        PlaceKnown: it is a place already, under another name.
        PlaceError, InTheVault: the directory is something else, or lies where only lace keeps files.
        EnvironmentFault: this vault cannot be written now; nothing was made.
    """
    if name == vault.name:
        raise NameTaken(f"The name {name!r} is yours, and places and people share their names.")
    vault.check_mark()  # else a drop is made that nothing here knows of
    place = make_place(vault, name, uri, cwd=cwd, node=node_of(vault, peer) if peer else None, create=create)
    is_sealed = is_found_encrypted(vault, place)
    with vault.writing() as w:
        for known in places(vault):
            if (known.uri, known.peer) == (place.uri, place.peer):
                way = f"Use the name it has, or forget that one first: {as_typed('place remove', known.name)}"
                raise PlaceKnown(f"{place.uri} is the place {known.name!r} already.", hint=way)
        keep_place(w, place)
        note_encrypted(w, name, is_on=is_sealed)
        if also is not None:
            also(w, place)
    return place


def make_place(vault: Vault, name: str, uri: str, *, cwd: Path, node: str | None = None, create: bool = True) -> Place:
    """Return a place that can be remembered, its drop made; as `add_place`, but the vault does not know it yet."""
    check_name(name, "place name")
    refuse_taken(vault.store, name)
    if any(person.name == name for person in peers(vault)):
        raise NameTaken(f"There is a peer called {name!r} already, and places and people share their names.")
    from transports.address import AddressKind, parse_address, parse_kept  # noqa: PLC0415 - naming a place opens no road
    from transports.drop import Drop  # noqa: PLC0415
    from transports.errors import PlaceNotWritable  # noqa: PLC0415

    address = parse_address(uri, cwd) if create else parse_kept(uri, cwd)  # or it was one already, here or there
    made = partial(Place, name, address.kind.value, address.uri)
    if address.kind is AddressKind.GIT:
        return made(_git_place_id(vault, address.uri) if create else "", node, home_of(vault, "git"))
    if address.kind is AddressKind.HTTP:
        return made(_web_place(address.uri).place_id if create else "", node, home_of(vault, "http"))
    if address.kind is AddressKind.LIVE:
        return made("", node)
    if address.kind is AddressKind.VAULT and address.path is not None:
        return made(_vault_beside(vault, address.path), node)
    if address.kind is not AddressKind.DROP or address.path is None:
        raise NoSuchPlace(f"{uri} is not a directory.")
    keep_out(vault.dot, address.path)
    place_id = ""
    if create:
        try:
            place_id = Drop.create(address.path, entropy=vault.around.entropy).place_id
        except PlaceNotWritable as error:  # no place yet, so nothing can be pulled from it
            raise type(error)(error.message, hint="Name a directory that you may write.") from error
    elif address.path.is_dir():
        with suppress(PlaceError):  # the empty mount point of a stick that is not plugged in
            place_id = Drop.open(address.path).place_id
    return made(place_id, node)


def _vault_beside(vault: Vault, folder: Path) -> str:
    """Return the node of another vault of this group in a folder."""
    if folder.resolve() == vault.folder.resolve():
        raise NoSuchPlace("That is this vault itself.", hint="Name another vault of your group, or a new directory.")
    with Vault(folder, vault.around) as other:
        if other.group != vault.group:
            raise NoSuchPlace(
                f"The vault in {folder} belongs to another group.", hint="Name a directory beside it, for a drop."
            )
        return other.node.text


def _git_place_id(vault: Vault, uri: str) -> str:
    from transports.git.place import GitPlace  # noqa: PLC0415 - git is looked for only where a place is one

    with seen_first(uri):
        made = GitPlace.create(uri, home_of(vault, "git"), entropy=vault.around.entropy, patience=vault.around.patience)
    made.close()
    return made.place_id


def open_place(place: Place, patience: Patience = Patience(), *, mends: bool = False) -> MailboxPlace:
    """Open the place for reading and writing; a drop also where it is plugged in now, by its id.

    What a git host lost of my own mailbox is pushed there again if it `mends`.

    Raises:
        PlaceError, Cancelled: it is not there, it is another medium, or the person would not wait for it.
    """
    from transports.address import AddressKind, parse_kept  # noqa: PLC0415
    from transports.drop import Drop  # noqa: PLC0415

    address = parse_kept(place.uri)
    if address.kind is AddressKind.GIT and place.home is not None:
        from transports.git.place import GitPlace  # noqa: PLC0415 - git is looked for only where a place is one

        known = place.place_id or None
        return GitPlace.open(address.uri, place.home, expected_id=known, patience=patience, mends=mends)
    if address.kind is AddressKind.HTTP:
        return _web_place(address.uri, place)
    if address.kind in {AddressKind.LIVE, AddressKind.VAULT}:
        raise NotAMailbox(f"{place.name} answers as a vault, and holds no mailboxes.")
    if address.kind is not AddressKind.DROP or address.path is None:
        raise NoSuchPlace(f"{place.uri} is not a directory.")
    try:
        drop = Drop.open(address.path, expected_id=place.place_id or None)
    except PlaceError:
        from transports.media import find_drop  # noqa: PLC0415 - only where the drop is not where it was

        moved = find_drop(place.media, place.place_id) if place.place_id else None
        if moved is None:
            raise
        drop = moved
    if place.home is not None:
        drop.remember(place.home)
    return drop


def _web_place(uri: str, place: Place | None = None) -> MailboxPlace:
    from transports.http.static import StaticMailbox  # noqa: PLC0415 - the web is needed for one kind only

    if place is None:
        with seen_first(uri):
            return StaticMailbox.open(uri, tuple)
    return StaticMailbox.open(uri, place.known, expected_id=place.place_id or None, home=place.home)
