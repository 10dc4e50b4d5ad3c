"""The registry of places, which are where bytes lie: each by its name, and what is remembered of it.

A place serves all members unless it is bound to one peer (architecture, section 2). Places and peers share their names.
A place's id is kept with it, so that another stick under its path is noticed. What lies there is made and opened in
`lazy.places.roads`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lazy.people import NoSuchPeer, left, node_of
from lazy.places.no_room import forget_without_room
from lazy.places.sealing import has_keys
from lazy.problems import hint_at
from vault.commands import as_typed
from vault.errors import CallerError, LaceError
from vault.notes.people import INVITER
from vault.notes.places import COPIED, PLACE_FAULT, SEALED, SHOWN, PlaceFault
from vault.records import Verifier
from vault.typed import shown
from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from vault.store import Store

__all__ = [
    "NameTaken",
    "NoSuchPlace",
    "Place",
    "clear_fault",
    "forget_place",
    "home_of",
    "hopeful",
    "is_encrypted",
    "is_mine",
    "keep_place",
    "known_faults",
    "note_encrypted",
    "note_fault",
    "place_named",
    "places",
    "places_of",
    "refuse_taken",
    "remove_place",
    "serving",
    "way_back",
]

_IS_COPIED = """
SELECT place_id FROM place p WHERE name = ? AND place_id <> ''
AND EXISTS (SELECT 1 FROM place o WHERE o.place_id = p.place_id AND o.name <> p.name)"""
_OF_ONE = frozenset({"live", "vault"})  # kinds of places where one node answers
_READ_ONLY = "http"  # the kind of a copy behind a web server
_GIT = "git"  # below .vault: the private repositories of git places
_HEADS = "heads"  # below .vault: the small files of drops as they lay there last
_WEB = "web"  # below .vault: the last heads of places behind web servers


class NoSuchPlace(CallerError):
    """A name that is not a place here."""

    code = "no-such-place"
    exit_code = 2
    hint = "Add one with: lace place add NAME DIR"


class NameTaken(CallerError):
    """Peers and places share one namespace."""

    code = "name-taken"
    exit_code = 2
    hint = "Choose another name, or remove the old one first."


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
        beside: addresses of the other places that are copies of it, or may be where an id is not known yet.
    """

    name: str
    kind: str
    uri: str
    place_id: str
    peer: str | None
    home: Path | None = None
    known: Callable[[], Iterable[Verifier]] = field(default=tuple, compare=False, repr=False)
    media: tuple[Path, ...] = field(default=(), compare=False, repr=False)
    beside: tuple[str, ...] = field(default=(), compare=False, repr=False)


def note_fault(w: Writer, name: str, error: LaceError) -> None:
    """Take note, inside a write, of what a place refused at this visit."""
    fault = PlaceFault(error.code, error.message, hint_at(error.hint, name), w.tai().text)
    w.store.set_note(PLACE_FAULT, fault, name)


def clear_fault(w: Writer, name: str, *, has_written: bool = True) -> None:
    """Take note, inside a write, that a place refused nothing; that it was only read says nothing about writing."""
    from transports.errors import WRITE_REFUSALS  # whoever looks at places opens no road

    fault = w.store.note(PLACE_FAULT, name)
    is_over = has_written or fault is None or fault.code not in {error.code for error in WRITE_REFUSALS}
    if is_over and w.store.has_note(PLACE_FAULT, name):
        w.store.drop_note(PLACE_FAULT, name)


def known_faults(vault: Vault) -> dict[str, PlaceFault]:
    """Return by name of a place what it refused at its last visit."""
    found = {place.name: vault.store.note(PLACE_FAULT, place.name) for place in places(vault)}
    return {name: fault for name, fault in found.items() if fault is not None}


def hopeful(vault: Vault, found: Sequence[Place]) -> list[Place]:
    """Return places with those that refused the last visit behind the others: one of the first is worth a sync."""
    faults = known_faults(vault)
    return sorted(found, key=lambda place: place.name in faults)


def places(vault: Vault) -> list[Place]:
    """Return the places, sorted by name."""
    rows = vault.store.rows("SELECT name, kind, uri, place_id, peer FROM place ORDER BY name")
    known, media = partial(_known_nodes, vault), vault.around.media
    return [
        Place(
            name=str(n),
            kind=str(k),
            uri=str(u),
            place_id=str(i),
            peer=str(p) if p else None,
            home=home_of(vault, str(k)),
            known=known,
            media=media,
            beside=tuple(
                str(uri)
                for _, kind, uri, other, _ in rows
                if kind == k and uri != u and (other == i or not (i and other))
            ),
        )
        for n, k, u, i, p in rows
    ]


def home_of(vault: Vault, kind: str) -> Path:
    """Return where this vault keeps what a road of that kind needs beside it."""
    return vault.dot / {"http": _WEB, "drop": _HEADS}.get(kind, _GIT)


def _known_nodes(vault: Vault) -> list[Verifier]:
    """Return everybody whose mailbox may count here: who is or was a member, and who invited me while I know none."""
    nodes = [str(row[0]) for row in vault.store.rows("SELECT node FROM member UNION ALL SELECT node FROM former")]
    inviter = vault.store.note(INVITER)
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


def refuse_taken(store: Store, name: str) -> None:
    """Refuse a name that a place has.

    Raises:
        NameTaken: it has.
    """
    for (uri,) in store.rows("SELECT uri FROM place WHERE name = ?", name):
        again = f"Choose another name, or forget that one first: {as_typed('place remove', name)}"
        raise NameTaken(f"There is a place called {name!r} already, at {uri}.", hint=again)


def keep_place(w: Writer, place: Place) -> None:
    """Remember a place inside a write.

    Raises:
        NameTaken: a place got this name since the place was made; nothing of the write stays.
    """
    refuse_taken(w.store, place.name)
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


def is_encrypted(vault: Vault, place: Place) -> bool:
    """Tell whether the own mailbox is encrypted at a place: it was asked for, or a medium was met that is.

    Where a copy is only read, there is none.
    """
    if place.kind == _READ_ONLY:
        return False
    return vault.store.note(SEALED, place.name) or has_keys(vault, place.place_id)


def note_encrypted(w: Writer, name: str, *, is_on: bool) -> None:
    """Take note, inside a write, whether the own mailbox is to be encrypted at the place of that name."""
    if is_on or w.store.note(SEALED, name):
        w.store.set_note(SEALED, is_on, name)


def forget_place(w: Writer, name: str) -> None:
    """Forget a place and what is remembered of it, inside a write; not that the others are copies of it (CYB-18)."""
    for (place_id,) in w.store.rows(_IS_COPIED, name):
        w.store.set_note(COPIED, value=True, about=str(place_id))
    w.store.drop_note(SHOWN, name)
    w.store.run("DELETE FROM place WHERE name = ?", name)
    w.store.run("DELETE FROM last_sync WHERE place = ?", name)
    w.store.run("DELETE FROM beacon WHERE place = ?", name)
    note_encrypted(w, name, is_on=False)
    clear_fault(w, name)
    forget_without_room(w, name)


def remove_place(vault: Vault, name: str, *, noted: Callable[[Writer], None] = lambda _w: None) -> Place:
    """Forget a place; what lies there and what came from it stays.

    Args:
        vault: whose place it was.
        name: of the place.
        noted: called at the end of the write.

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
        noted(w)
    return place
