"""What says which place a medium is, found damaged or gone, and made anew where my mailbox proves it (CYB-15)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from lazy.places.registry import Place, clear_fault, is_encrypted, known_faults, places
from lazy.places.sealing import VaultKeys
from transports.address import AddressKind, parse_stored
from transports.drop.marker import MARKER, write_marker
from transports.drop.place import Drop
from transports.encrypted.sealed import SealedPlace
from transports.errors import NotADrop, PlaceUnmarked
from transports.mailbox import Mailbox, MailboxMedium
from transports.reading import read_head
from vault.errors import Cancelled, LaceError
from vault.fsck.report import BadThing
from vault.vault import Vault

__all__ = ["heal_git_ids", "heal_markers", "markers"]


class _Unmarked(Drop):
    """A drop whose marker is not looked at, to read what else says which one it is."""

    def check(self) -> None:
        """Take it as it is."""

    def _is_here(self) -> bool:
        return True


def markers(vault: Vault) -> Iterator[tuple[Path, BadThing]]:
    """Yield the sticks in reach whose marker is damaged or gone though my own mailbox proves which stick it is."""
    for place in places(vault):
        if place.kind != AddressKind.DROP or not place.place_id:
            continue
        with suppress(LaceError):
            path = parse_stored(place.uri).path
            if path is None or not _is_misread(path, place.place_id):
                continue
            keys = VaultKeys(vault, place.place_id, is_on=is_encrypted(vault, place))
            medium = SealedPlace(_Unmarked(path, place.place_id), vault.node, keys)
            head = read_head(Mailbox(medium, vault.group, vault.node))
            if head is not None and head.head.drop == place.place_id:
                what = "damaged" if (path / MARKER).exists() else "gone"
                message = f"The file {MARKER} on {place.name} is {what}; my mailbox there proves which stick it is."
                yield path, BadThing("place", f"{place.name}/{MARKER}", "marker-damaged", message)


def _is_misread(path: Path, place_id: str) -> bool:
    try:
        return Drop.open(path).place_id != place_id
    except NotADrop:
        return not (path / MARKER).exists() or (path / MARKER).is_file()


def heal_markers(vault: Vault) -> list[BadThing]:
    """Write marker files anew that are damaged or gone; return what is whole again."""
    known = {place.name: place.place_id for place in places(vault)}
    healed = []
    for path, bad in list(markers(vault)):
        with suppress(LaceError):
            write_marker(path, known[bad.name.removesuffix(f"/{MARKER}")])
            healed.append(bad)
    return healed


def heal_git_ids(vault: Vault) -> tuple[list[BadThing], list[BadThing]]:
    """Write anew at git hosts which place each is, where a visit missed that and my mailbox proves it.

    Returned is what is whole again, and of what is not why the host did not take it.

    Raises:
        NotWritable, DiskFull, and the like: that it is whole cannot be noted here.
    """
    healed, refused, faults = list[BadThing](), list[BadThing](), known_faults(vault)
    for place in places(vault):
        fault = faults.get(place.name)
        if place.kind != AddressKind.GIT or place.home is None or fault is None or fault.code != PlaceUnmarked.code:
            continue
        name = f"{place.name}/lace/place"
        try:
            is_whole = _renewed(vault, place, place.home)
        except Cancelled:
            raise
        except LaceError as error:
            message = f"The branch lace/place at {place.name} could not be written anew. {error.message}"
            refused.append(BadThing("place", name, error.code, message))
            continue
        if is_whole:
            with vault.writing(receiving=True) as w:
                clear_fault(w, place.name)
            message = f"The branch lace/place at {place.name} was gone; my mailbox there proves which place it is."
            healed.append(BadThing("place", name, "marker-damaged", message))
    return healed, refused


def _renewed(vault: Vault, place: Place, home: Path) -> bool:
    """Tell whether a git host says from now which place it is.

    Raises:
        LaceError: it cannot be asked, or does not take it.
    """
    from transports.git.place import GitPlace  # git is looked for only where a place is one

    with closing(GitPlace(parse_stored(place.uri).uri, home, place.place_id, patience=vault.around.patience)) as inner:
        keys = VaultKeys(vault, place.place_id, is_on=is_encrypted(vault, place))
        return inner.renew(place.place_id, partial(_is_proven, vault, inner, keys))


def _is_proven(vault: Vault, inner: MailboxMedium, keys: VaultKeys) -> bool:
    head = read_head(Mailbox(SealedPlace(inner, vault.node, keys), vault.group, vault.node))
    return head is not None and head.head.drop == inner.place_id
