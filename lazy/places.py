"""Places: where bytes lie. A place serves all members unless it is bound to one peer (architecture, section 2).

Places and peers share their names. A place's id is kept with it, so that another stick under its path is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lazy.people import NoSuchPeer, left, node_of, peers
from lazy.results import hint_at
from lazy.sealing import is_encrypted, is_found_encrypted, note_encrypted, seen_first
from vault.commands import as_typed
from vault.errors import CallerError, LaceError, PlaceError
from vault.files import keep_out
from vault.lock import Patience
from vault.names import check_name
from vault.records import Verifier
from vault.typed import shown
from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from transports.mailbox import MailboxPlace
    from vault.store import Store

__all__ = [
    "NameTaken",
    "NoSuchPlace",
    "NotAMailbox",
    "Place",
    "PlaceFault",
    "PlaceKnown",
    "add_place",
    "clear_fault",
    "forget_place",
    "hopeful",
    "is_mine",
    "keep_place",
    "known_faults",
    "make_place",
    "note_fault",
    "open_place",
    "place_named",
    "places",
    "places_of",
    "remove_place",
    "serving",
    "way_back",
]

_FAULT = "place fault "  # setting of the store, followed by the name of a place
_OF_ONE = frozenset({"live", "vault"})  # kinds of places where one node answers
_GIT = "git"  # below .vault: the private repositories of git places
_HEADS = "heads"  # below .vault: the small files of drops as they lay there last
_WEB = "web"  # below .vault: the last heads of places behind web servers


class NoSuchPlace(CallerError):
    """A name that is no place here."""

    code = "no-such-place"
    exit_code = 2
    hint = "Add one with: lace place add NAME DIR"


class NotAMailbox(PlaceError):
    """A live server or another vault was to be read like a medium."""

    code = "not-a-mailbox"
    exit_code = 20
    hint = "Sync with it instead: lace sync NAME"


class NameTaken(CallerError):
    """Peers and places share one namespace."""

    code = "name-taken"
    exit_code = 2
    hint = "Choose another name, or remove the old one first."


class PlaceKnown(CallerError):
    """What is to become a place is one already, so that each sync would visit it twice."""

    code = "place-known"
    exit_code = 2
    hint = "Use the name it has, or forget that one first: lace place remove NAME"


@dataclass(frozen=True, slots=True)
class Place:
    """One place as configured.

    Args:
        name: its local name.
        kind: `drop`, `git`, `http`, `live` or `vault`.
        uri: where it lies.
        place_id: what lies there says it is; empty until first seen.
        peer: verifier text of the one peer it is for, or None for all members.
        home: where this vault keeps what a road needs beside it, such as private git repositories.
        known: returns the nodes whose mailboxes may lie at a place that lists none.
        media: directories below which a drop is looked for by its id when it is not where it was.
    """

    name: str
    kind: str
    uri: str
    place_id: str
    peer: str | None
    home: Path | None = None
    known: Callable[[], Iterable[Verifier]] = field(default=tuple, compare=False, repr=False)
    media: tuple[Path, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PlaceFault:
    """Why the last visit to a place could not be made, or could not write there.

    Args:
        code: of the table of errors.
        message: what happened.
        hint: the way out.
        when: TAI of that visit; display only.
    """

    code: str
    message: str
    hint: str
    when: str


def note_fault(w: Writer, name: str, error: LaceError) -> None:
    """Take note, inside a write, of what a place refused at this visit."""
    fault = PlaceFault(error.code, error.message, hint_at(error.hint, name), w.tai().text)
    w.store.set_meta(_FAULT + name, json.dumps(asdict(fault), sort_keys=True))


def clear_fault(w: Writer, name: str, *, has_written: bool = True) -> None:
    """Take note, inside a write, that a place refused nothing; that it was only read says nothing about writing."""
    from transports.errors import WRITE_REFUSALS  # noqa: PLC0415 - whoever looks at places opens no road

    text = w.store.meta(_FAULT + name)
    if text and (has_written or json.loads(text)["code"] not in {error.code for error in WRITE_REFUSALS}):
        w.store.set_meta(_FAULT + name, "")


def known_faults(vault: Vault) -> dict[str, PlaceFault]:
    """Return by name of a place what it refused at its last visit."""
    found = {place.name: vault.store.meta(_FAULT + place.name) for place in places(vault)}
    return {name: PlaceFault(**json.loads(text)) for name, text in found.items() if text}


def hopeful(vault: Vault, found: Sequence[Place]) -> list[Place]:
    """Return places with those that refused the last visit behind the others: one of the first is worth a sync."""
    faults = known_faults(vault)
    return sorted(found, key=lambda place: place.name in faults)


def places(vault: Vault) -> list[Place]:
    """Return the places, sorted by name."""
    rows = vault.store.rows("SELECT name, kind, uri, place_id, peer FROM place ORDER BY name")
    known, media = partial(_known_nodes, vault), vault.around.media
    return [
        Place(str(n), str(k), str(u), str(i), str(p) if p else None, _home(vault, str(k)), known, media)
        for n, k, u, i, p in rows
    ]


def _home(vault: Vault, kind: str) -> Path:
    return vault.dot / {"http": _WEB, "drop": _HEADS}.get(kind, _GIT)


def _known_nodes(vault: Vault) -> list[Verifier]:
    """Return everybody whose mailbox may count here: who is or was a member, and who invited me while I know none."""
    nodes = [str(row[0]) for row in vault.store.rows("SELECT node FROM member UNION ALL SELECT node FROM former")]
    inviter = vault.store.meta("inviter")
    return [Verifier.parse(node) for node in {*nodes, *([inviter] if inviter else [])}]


def is_mine(vault: Vault, place: Place) -> bool:
    """Tell whether a place is the address of this vault's own server: friends visit it, this vault does not."""
    return place.kind == "live" and place.uri.endswith(f"#{vault.node.text}")


def place_named(vault: Vault, name: str) -> Place:
    """Return the place of that name.

    Raises:
        NoSuchPlace: there is none.
    """
    for place in places(vault):
        if place.name == name:
            return place
    known = ", ".join(place.name for place in places(vault))
    way = f"I know: {known}." if known else NoSuchPlace.hint
    raise NoSuchPlace(f"There is no place called {shown(name)}.", hint=way)


def serving(vault: Vault, name: str) -> list[Place]:
    """Return the places a name of a place or a peer stands for; a peer's own places come first.

    Raises:
        NoSuchPeer, NoSuchPlace: the name is neither.
    """
    own = [place for place in places(vault) if place.name == name]
    if own:
        return own
    try:
        node = node_of(vault, name)
    except NoSuchPeer as error:
        known = ", ".join(place.name for place in places(vault)) or "no place yet"
        hint = f"Places: {known}. {error.hint}"
        raise NoSuchPeer(f"No place and nobody is called {shown(name)} here.", hint=hint) from error
    if node in left(vault):
        way = f"To begin again: {way_back(vault, name, node)}"
        raise NoSuchPlace(f"You left {name}, and sync with them no more.", hint=way)
    found = [place for place in places(vault) if place.peer in {None, node}]
    if not found:
        raise NoSuchPlace(f"No place serves {name!r} yet.")
    return sorted(found, key=lambda place: (place.peer != node, place.name))


def way_back(vault: Vault, name: str, node: str, uri: str = "") -> str:
    """Return the command by which somebody who was left is synced with again, at an address or at a shared place."""
    shared = [place.uri for place in hopeful(vault, places(vault)) if place.peer is None and place.kind not in _OF_ONE]
    return as_typed("join", name, uri or next(iter(shared), "URI"), options=f"--key {node}")


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
    """
    if name == vault.name:
        raise NameTaken(f"The name {name!r} is yours, and places and people share their names.")
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
    _refuse_taken(vault.store, name)
    if any(person.name == name for person in peers(vault)):
        raise NameTaken(f"There is a peer called {name!r} already, and places and people share their names.")
    from transports.address import AddressKind, parse_address, parse_kept  # noqa: PLC0415 - naming a place opens no road
    from transports.drop import Drop  # noqa: PLC0415
    from transports.errors import PlaceNotWritable  # noqa: PLC0415

    address = parse_address(uri, cwd) if create else parse_kept(uri, cwd)  # or it was one already, here or there
    made = partial(Place, name, address.kind.value, address.uri)
    if address.kind is AddressKind.GIT:
        return made(_git_place_id(vault, address.uri) if create else "", node, vault.dot / _GIT)
    if address.kind is AddressKind.HTTP:
        return made(_web_place(address.uri).place_id if create else "", node, vault.dot / _WEB)
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


def _refuse_taken(store: Store, name: str) -> None:
    """Refuse a name that a place has.

    Raises:
        NameTaken: it has.
    """
    for (uri,) in store.rows("SELECT uri FROM place WHERE name = ?", name):
        again = f"Choose another name, or forget that one first: {as_typed('place remove', name)}"
        raise NameTaken(f"There is a place called {name!r} already, at {uri}.", hint=again)


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
        made = GitPlace.create(uri, vault.dot / _GIT, entropy=vault.around.entropy, patience=vault.around.patience)
    made.close()
    return made.place_id


def keep_place(w: Writer, place: Place) -> None:
    """Remember a place inside a write.

    Raises:
        NameTaken: a place got this name since the place was made; nothing of the write stays.
    """
    _refuse_taken(w.store, place.name)
    row = place.name, place.kind, place.uri, place.place_id, place.peer
    w.store.run("INSERT INTO place VALUES (?, ?, ?, ?, ?)", *row)
    w.audit("lazy-join", place.name, {"uri": place.uri, "kind": place.kind})


def places_of(vault: Vault, node: str) -> list[Place]:
    """Return the places that are for one node alone: bound to it, its live server, or its vault's directory."""
    return [
        place
        for place in places(vault)
        if place.peer == node
        or (place.kind == "live" and place.uri.endswith(f"#{node}"))
        or (place.kind == "vault" and place.place_id == node)
    ]


def forget_place(w: Writer, name: str) -> None:
    """Forget a place and what is remembered of it, inside a write."""
    w.store.run("DELETE FROM place WHERE name = ?", name)
    w.store.run("DELETE FROM last_sync WHERE place = ?", name)
    w.store.run("DELETE FROM beacon WHERE place = ?", name)
    note_encrypted(w, name, is_on=False)
    clear_fault(w, name)


def remove_place(vault: Vault, name: str) -> Place:
    """Forget a place; what lies there and what came from it stays.

    Raises:
        NoSuchPlace: there is none of that name.
    """
    place = place_named(vault, name)
    encrypted = is_encrypted(vault, place)
    with vault.writing() as w:
        forget_place(w, name)
        told = {"uri": place.uri}  # all that an undo needs to make it the same place again
        told |= {"node": place.peer} if place.peer else {}
        told |= {"encrypted": "yes"} if encrypted else {}
        w.audit("lazy-leave", name, told)
    return place


def open_place(place: Place, patience: Patience = Patience()) -> MailboxPlace:
    """Open the place for reading and writing; a drop also where it is plugged in now, by its id.

    Raises:
        PlaceError, Cancelled: it is not there, it is another medium, or the person would not wait for it.
    """
    from transports.address import AddressKind, parse_kept  # noqa: PLC0415
    from transports.drop import Drop  # noqa: PLC0415

    address = parse_kept(place.uri)
    if address.kind is AddressKind.GIT and place.home is not None:
        from transports.git.place import GitPlace  # noqa: PLC0415 - git is looked for only where a place is one

        return GitPlace.open(address.uri, place.home, expected_id=place.place_id or None, patience=patience)
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
