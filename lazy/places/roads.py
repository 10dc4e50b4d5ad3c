"""Roads: what lies at a place's address is made or proven when the place is named, and opened when it is visited.

`lazy.places.registry` remembers places and needs none of this; `lazy.places.adding` adds one, and `lazy.places.media`
reads and writes what is encrypted there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lazy.other_group import OtherGroup
from lazy.people import peers
from lazy.places.registry import NameTaken, NoSuchPlace, Place, home_of, refuse_taken
from vault.errors import PlaceError
from vault.lock import Patience
from vault.names import check_name
from vault.vault import Vault

if TYPE_CHECKING:
    from transports.mailbox import MailboxMedium

__all__ = ["ONE_GOES_ON", "NotAMailbox", "is_itself", "make_place", "open_place"]

ONE_GOES_ON = "In one of the two run: lace adopt - it goes on under a new key. Then they sync like any two vaults."

_SEEN_FIRST = (
    "It was not added: lace first looks which place it is, and whether only members may read what lies there. Add it"
    " once it can be reached; until then a stick, or any directory, needs no network."
)


class NotAMailbox(PlaceError):
    """A live server or another vault was to be read like a medium."""

    code = "not-a-mailbox"
    exit_code = 20
    hint = "Sync with it instead: lace sync NAME"


def make_place(vault: Vault, name: str, uri: str, *, cwd: Path, node: str | None = None, create: bool = True) -> Place:
    """Return a place that can be remembered, its drop made; the vault does not know it yet.

    Args:
        vault: whose place it becomes.
        name: what it is called here.
        uri: where it is, as a person names it.
        cwd: what a relative directory is relative to.
        node: of the peer that it is for alone, or None.
        create: whether what is to be there is made; else it was a place before, here or elsewhere.

    Raises:
        BadName, NameTaken: it cannot be called so.
        UnknownPlaceKind, NoSuchPlace: nothing that lies there can be a place.
        OtherGroup: a vault of another group lies there.
        PlaceError: what is to be there cannot be made.
    """
    check_name(name, "place name")
    refuse_taken(vault.store, name)
    if any(person.name == name for person in peers(vault)):
        raise NameTaken(f"There is a peer called {name!r} already, and places and people share their names.")
    from transports.address import AddressKind, parse_address, parse_stored  # naming a place opens no road

    address = parse_address(uri, cwd) if create else parse_stored(uri, cwd)  # or it was one already, here or there
    made = partial(Place, name, address.kind.value, address.uri)
    if address.kind is AddressKind.GIT:
        return made(_git_place_id(vault, address.uri) if create else "", node, home_of(vault, "git"))
    if address.kind is AddressKind.HTTP:
        return made(
            _web_place(address.uri, vault.around.patience).place_id if create else "", node, home_of(vault, "http")
        )
    if address.kind is AddressKind.LIVE:
        return made("", node)
    if address.kind is AddressKind.VAULT and address.path is not None:
        return made(_vault_beside(vault, address.path), node)
    if address.kind is not AddressKind.DROP or address.path is None:
        raise NoSuchPlace(f"{uri} is not a directory.")
    return made(_drop_id(vault, address.path, create=create), node)


def _drop_id(vault: Vault, path: Path, *, create: bool) -> str:
    """Return the id of the drop in a directory, made where it is to be; empty where none is there.

    Raises:
        InTheVault: it would lie in a `.vault`.
        PlaceError: it cannot be made.
    """
    from transports.drop.place import Drop  # naming a place opens no road
    from transports.errors import PlaceNotWritable
    from vault.outside import require_outside

    require_outside(vault.dot, path)
    if create:
        try:
            return Drop.create(path, entropy=vault.around.entropy).place_id
        except PlaceNotWritable as error:  # no place yet, so nothing can be pulled from it
            raise type(error)(error.message, hint="Name a directory that you may write to.") from error
    if path.is_dir():
        with suppress(PlaceError):  # the empty mount point of a stick that is not plugged in
            return Drop.open(path).place_id
    return ""


def is_itself(vault: Vault, folder: Path) -> bool:
    """Tell whether a path leads to the folder of this vault, however it is written: by a mount, or in capitals."""
    try:
        return folder.samefile(vault.folder)
    except OSError:
        return False


def _vault_beside(vault: Vault, folder: Path) -> str:
    """Return the node of another vault of this group in a folder.

    Raises:
        NoSuchPlace: it is this one, or a copy of it.
        OtherGroup: it is of another group.
    """
    if is_itself(vault, folder):
        raise NoSuchPlace("That is this vault itself.", hint="Name another vault of your group, or a new directory.")
    with Vault(folder, vault.around) as other:
        if other.group != vault.group:
            raise OtherGroup(
                f"The vault in {folder} belongs to another group.", hint="Name a directory beside it, for a drop."
            )
        if other.node == vault.node:
            raise NoSuchPlace(f"The vault in {folder} is a copy of this one: both sign as one node.", hint=ONE_GOES_ON)
        return other.node.text


@contextmanager
def _seen_first(uri: str) -> Iterator[None]:
    """Say why a place on the network is not added unseen: in plain it would be left where others encrypt.

    Raises:
        PlaceUnreachable: it cannot be reached now.
    """
    from transports.errors import CAN_BE_READ, CertificateUntrusted, PlaceUnreachable

    try:
        yield
    except PlaceUnreachable as error:
        if not uri.startswith("git+file:") and not isinstance(error, CertificateUntrusted):
            error.hint = _SEEN_FIRST
        raise
    except PlaceError as error:  # of a place that was not added nothing can be pulled
        error.hint = error.hint.removesuffix(f" {CAN_BE_READ}")
        raise


def _git_place_id(vault: Vault, uri: str) -> str:
    from transports.git.place import GitPlace  # git is looked for only where a place is one

    with _seen_first(uri):
        made = GitPlace.create(uri, home_of(vault, "git"), entropy=vault.around.entropy, patience=vault.around.patience)
    made.close()
    return made.place_id


def open_place(place: Place, patience: Patience = Patience(), *, mends: bool = False) -> MailboxMedium:
    """Open the place for reading and writing; a drop also where it is plugged in now, by its id, unless that is a copy.

    What a git host lost of my own mailbox is pushed there again if it `mends`.

    Raises:
        PlaceError, Cancelled: it is not there, it is another medium, or the person would not wait for it.
    """
    from transports.address import AddressKind, parse_stored
    from transports.drop.place import Drop

    address = parse_stored(place.uri)
    if address.kind is AddressKind.GIT and place.home is not None:
        from transports.git.place import GitPlace  # git is looked for only where a place is one

        known = place.place_id or None
        return GitPlace.open(
            address.uri, place.home, expected_id=known, patience=patience, mends=mends, beside=place.beside
        )
    if address.kind is AddressKind.HTTP:
        return _web_place(address.uri, patience, place)
    if address.kind in {AddressKind.LIVE, AddressKind.VAULT}:
        raise NotAMailbox(f"{place.name} answers as a vault, and holds no mailboxes.")
    if address.kind is not AddressKind.DROP or address.path is None:
        raise NoSuchPlace(f"{place.uri} is not a directory.")
    try:
        drop = Drop.open(address.path, expected_id=place.place_id or None)
    except PlaceError:
        from transports.drop.media import find_drop  # only where the drop is not where it was

        # At the address of another place lies a copy: taken for this one, it would speak for both (CYB-18).
        moved = find_drop(place.media, place.place_id, _directories(place.beside)) if place.place_id else None
        if moved is None:
            raise
        drop = moved
    if place.home is not None:
        drop.remember(place.home, place.uri if place.place_id and place.beside else "")
    return drop


def _directories(uris: Iterable[str]) -> list[Path]:
    """Return the directories among the addresses of places."""
    from transports.address import parse_stored  # as `open_place`

    found: list[Path] = []
    for uri in uris:
        with suppress(PlaceError):  # something else lies there now
            path = parse_stored(uri).path
            found += [path] if path is not None else []
    return found


def _web_place(uri: str, patience: Patience, place: Place | None = None) -> MailboxMedium:
    from transports.http.static import StaticMailbox  # the web is needed for one kind only

    if place is None:
        with _seen_first(uri):
            return StaticMailbox.open(uri, tuple, pause=patience.sleep)
    known = place.place_id or None
    return StaticMailbox.open(uri, place.known, expected_id=known, home=place.home, pause=patience.sleep)
