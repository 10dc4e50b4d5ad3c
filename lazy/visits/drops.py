"""The drops that are plugged in now, by their ids: which places they are, and whether they may be pulled out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lazy.places.media import mailboxes_of_mine, open_medium
from lazy.places.published import published, wrote
from lazy.places.registry import Place, places
from lazy.visits.sending import pending
from transports.address import AddressKind, parse_stored
from transports.drop.media import drops_below
from transports.drop.partial import PARTIAL
from transports.drop.place import Drop
from transports.mailbox import Mailbox, MailboxMedium
from transports.reading import read_head
from vault.errors import LaceError, PlaceError
from vault.vault import Vault

__all__ = ["Plugged", "plugged_in"]


class Plugged(NamedTuple):
    """One drop that is plugged in.

    Args:
        path: where it is now.
        drop_id: its id.
        place: name of the place it is; empty for none of this vault's.
        waiting: records that the next sync would put there; 0 for a drop that is no place.
        is_safe: whether what this vault wrote there last is whole, so that it may be pulled out.
        problem: why it cannot be told, as a sentence; else empty.
    """

    path: Path
    drop_id: str
    place: str
    waiting: int = 0
    is_safe: bool = True
    problem: str = ""


def plugged_in(vault: Vault) -> list[Plugged]:
    """Return the drops below the media directories and at the drop places of this vault, by path; writes nothing."""
    known = [place for place in places(vault) if place.kind == AddressKind.DROP and place.place_id]
    paths = [path for place in known if (path := _path(place)) is not None]
    found = sorted(drops_below([*paths, *vault.around.media]), key=lambda drop: drop.path)
    named = _named(found, known)
    return [_told(vault, drop, named.get(drop.path)) for drop in found]


def _named(found: list[Drop], known: list[Place]) -> dict[Path, Place]:
    """Return by path which place each drop is: of several with its id the one that is there, else one found nowhere."""
    named: dict[Path, Place] = {}
    left = list(known)
    for is_there in (True, False):
        for drop in found:
            for place in [] if drop.path in named else left:
                if place.place_id == drop.drop_id and (not is_there or _lies_at(place, drop.path)):
                    named[drop.path] = place
                    left.remove(place)
                    break
    return named


def _lies_at(place: Place, path: Path) -> bool:
    with suppress(OSError):
        own = _path(place)
        return own is not None and own.samefile(path)
    return False


def _path(place: Place) -> Path | None:
    with suppress(PlaceError):  # something else lies there now
        return parse_stored(place.uri).path
    return None


def _told(vault: Vault, drop: Drop, place: Place | None) -> Plugged:
    if place is None:
        return Plugged(drop.path, drop.drop_id, "")
    try:
        medium = open_medium(vault, replace(place, uri=drop.path.absolute().as_uri()))
        is_whole = _is_whole(vault, place, medium) and not _is_unfinished(vault, drop, medium)
        return Plugged(drop.path, drop.drop_id, place.name, pending(vault, medium, place.name).records, is_whole)
    except LaceError as error:
        return Plugged(drop.path, drop.drop_id, place.name, is_safe=False, problem=error.message)


def _is_whole(vault: Vault, place: Place, medium: MailboxMedium) -> bool:
    """Tell whether my mailbox there is the one this vault left."""
    head = read_head(Mailbox(medium, vault.group, vault.node))
    if head is None:
        return published(vault, medium.place_id, place.name) is None
    return wrote(vault, medium.place_id, place.name, head)


def _is_unfinished(vault: Vault, drop: Drop, medium: MailboxMedium) -> bool:
    """Tell whether a write to my mailbox there was cut off, or is going on."""
    for directory in mailboxes_of_mine(vault, drop, medium):
        with suppress(OSError):
            if any(path.name == PARTIAL or path.suffix == ".tmp" for path in directory.iterdir()):
                return True
    return False
