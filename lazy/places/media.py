"""Media: a place opened with its keys, so that encrypted mailboxes are read and mine is written as I wish.

The keys are kept by `lazy.places.sealing` (decision 5).
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lazy.people import label_of
from lazy.places.known import Place, is_encrypted, note_encrypted
from lazy.places.roads import open_place
from lazy.places.sealing import VaultKeys, want_rebase
from vault.commands import as_option, as_typed
from vault.errors import PlaceError
from vault.vault import Vault

if TYPE_CHECKING:
    from transports.mailbox import MailboxPlace

__all__ = ["is_found_encrypted", "open_medium", "set_encrypted"]


def open_medium(vault: Vault, place: Place, *, mends: bool = False) -> MailboxPlace:
    """Open a place so that its encrypted mailboxes are read too, and mine is written as I wish; as `open_place`.

    Raises:
        PlaceError, Cancelled: as `open_place`.
    """
    from transports.encrypted.sealed import SealedPlace  # noqa: PLC0415
    from transports.errors import DropEmptied, WrongDrop  # noqa: PLC0415 - whoever keeps notes only opens no road

    try:
        inner = open_place(place, vault.around.patience, mends=mends)
    except DropEmptied as error:
        hint = f"Plug the stick in. To begin anew where it was emptied: {_anew(vault, place)}"
        raise DropEmptied(error.message, hint=hint) from error
    except WrongDrop as error:
        first = "Plug in the right stick" if place.kind == "drop" else "Ask its owner what happened to it"
        raise WrongDrop(error.message, hint=f"{first}. To go on with this one: {_anew(vault, place)}") from error
    if inner.is_read_only:
        return inner
    return SealedPlace(inner, vault.node, VaultKeys(vault, inner.place_id, is_on=is_encrypted(vault, place)))


def is_found_encrypted(vault: Vault, place: Place) -> bool:
    """Tell whether a drop that is here holds encrypted mailboxes of the group, beside which mine is encrypted too."""
    from transports.encrypted.sealed import SealedPlace  # noqa: PLC0415 - whoever keeps notes only opens no road

    if place.kind != "drop":  # another road is asked when it is visited
        return False
    try:
        with closing(open_medium(vault, place)) as medium:
            return isinstance(medium, SealedPlace) and medium.is_sealed(vault.group)
    except PlaceError:
        return False


def set_encrypted(vault: Vault, place: Place, *, rebase: bool = False) -> None:
    """Encrypt the own mailbox at a place from the next visit on; with `rebase` all of it anew, under a new key."""
    with vault.writing() as w:
        note_encrypted(w, place.name, is_on=True)
        if rebase:
            want_rebase(w, place.place_id)
        w.audit("lazy-encrypt", place.name, {"rebase": "yes"} if rebase else {})


def _anew(vault: Vault, place: Place) -> str:
    """Return the way on where what a place was is not there, in commands that can be typed."""
    from transports.address import parse_kept  # noqa: PLC0415

    folder = parse_kept(place.uri).path
    options = [as_option("--for", label_of(vault, place.peer))] if place.peer else []
    options += ["--encrypt"] if is_encrypted(vault, place) else []
    again = as_typed("place add", place.name, str(folder or place.uri), options=" ".join(options))
    return f"{as_typed('place remove', place.name)}; {again}"
