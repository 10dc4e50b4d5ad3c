"""Media: a place opened with its keys, so that encrypted mailboxes are read and mine is written as I wish.

The keys are kept by `lazy.places.sealing` (decision 5).
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lazy.people import label_of
from lazy.places.registry import Place, is_encrypted, note_encrypted, places
from lazy.places.roads import open_place
from lazy.places.sealing import VaultKeys, has_keys, want_rebase
from vault.commands import as_option, as_typed
from vault.errors import PlaceError
from vault.records import Verifier
from vault.vault import Vault

if TYPE_CHECKING:
    from transports.drop.place import Drop
    from transports.errors import PlaceUnreachable
    from transports.mailbox import MailboxMedium

__all__ = ["add_command", "is_found_encrypted", "mailboxes_of_mine", "open_medium", "set_encrypted"]


def mailboxes_of_mine(vault: Vault, drop: Drop, medium: MailboxMedium) -> list[Path]:
    """Return the directories on a drop where a mailbox of mine lies or would lie: where it is encrypted, another one.

    Args:
        vault: whose.
        drop: as it lies there.
        medium: the same, opened with the vault's keys.
    """
    from transports.encrypted.sealed import SealedPlace

    found = [drop.mailbox_path(vault.group, vault.node)]
    if isinstance(medium, SealedPlace) and medium.is_sealed(vault.group):
        found.append(drop.mailbox_path(medium.boxes.room(vault.group), medium.boxes.keys.alias()))
    return found


def open_medium(vault: Vault, place: Place, *, mends: bool = False) -> MailboxMedium:
    """Open a place so that its encrypted mailboxes are read too, and mine is written as I wish; as `open_place`.

    Raises:
        PlaceError, Cancelled: as `open_place`.
    """
    from transports.encrypted.sealed import SealedPlace  # to keep notes opens no road
    from transports.errors import DropEmptied, PlaceUnmarked, PlaceUnreachable, WrongDrop

    try:
        inner = open_place(place, vault.around.patience, mends=mends)
    except DropEmptied as error:
        hint = f"Plug the stick in. To begin anew where it was emptied: {_anew(vault, place)}"
        raise DropEmptied(error.message, hint=hint) from error
    except WrongDrop as error:
        first = "Plug in the right stick" if place.kind == "drop" else "Ask its owner what happened to it"
        if isinstance(error, PlaceUnmarked) and not error.is_emptied:
            first = f"{error.hint} - or {first[0].lower()}{first[1:]}"
        raise type(error)(error.message, hint=f"{first}. To go on with this one: {_anew(vault, place)}") from error
    except PlaceUnreachable as error:
        inner = open_place(_mounted_elsewhere(vault, place, error), vault.around.patience, mends=mends)
    keys = VaultKeys(vault, inner.place_id, is_on=is_encrypted(vault, place))
    if inner.is_read_only:
        return _copied(vault, place, inner, keys)
    return SealedPlace(inner, vault.node, keys)


def _copied(vault: Vault, place: Place, inner: MailboxMedium, keys: VaultKeys) -> MailboxMedium:
    """Return a copy behind a web server, with the encrypted mailboxes in it that were opened elsewhere.

    A web server lists nothing, and nobody but who opened such a mailbox knows its name (INT-122, CYB-17). To ask it for
    a plain one tells it a member's key, so that is asked for only where it was seen.
    """
    from lazy.places.copies import seen_in_plain  # whoever keeps notes only reads no mailbox
    from transports.encrypted.sealed import SealedPlace
    from transports.http.static import StaticMailbox  # the web is needed for one kind only

    if not has_keys(vault, inner.place_id) or not isinstance(inner, StaticMailbox):
        return inner
    known, owners = set(place.known()), keys.mailboxes()
    names = [name for name, owner in owners.items() if owner in known]
    seen = seen_in_plain(vault, inner.place_id, place.name, owners.values())
    sealed = SealedPlace(inner, vault.node, keys, plain={node for node in known if node.text in seen})
    inner.look_for(sealed.boxes.room(vault.group), names)
    return sealed


def is_found_encrypted(vault: Vault, place: Place) -> bool:
    """Tell whether a drop that is here holds encrypted mailboxes of the group, beside which mine is encrypted too."""
    from transports.encrypted.sealed import SealedPlace  # whoever keeps notes only opens no road

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


def _mounted_elsewhere(vault: Vault, place: Place, error: PlaceUnreachable) -> Place:
    """Return a stick that was never met, as it is mounted here.

    An invitation names the inviter's path, and a stick is mounted under the name of whoever is logged in. It is the one
    drop on which somebody known shares with the group and that is no other place of this vault.

    Raises:
        PlaceUnreachable: there is none, or which one is for a person to say; or it is no drop, or was met before.
    """
    if place.kind != "drop":
        raise error
    from transports.drop.media import drops_below  # only where the drop is not where it was

    if not place.place_id:
        taken, known = {one.place_id for one in places(vault)}, set(place.known())
        here = [drop for drop in drops_below(place.media) if drop.drop_id not in taken]
        here = [drop for drop in here if not known.isdisjoint(_sharing(drop, vault.group))]
        if len(here) == 1:
            return replace(place, uri=here[0].path.absolute().as_uri())
    joint = " If" if error.hint.endswith(".") else " - if"  # a command ends where another word would be typed with it
    error.hint = f"{error.hint}{joint} it lies elsewhere here: {_anew(vault, place, 'DIR')}"
    raise error


def _sharing(drop: Drop, group: str) -> list[Verifier]:
    """Return who has a mailbox of the group on a drop; nobody where that cannot be read."""
    with suppress(PlaceError):
        return drop.nodes(group)
    return []


def _anew(vault: Vault, place: Place, where: str = "") -> str:
    """Return the way on where what a place was is not there, in commands that can be typed."""
    from transports.address import parse_stored

    folder = where or parse_stored(place.uri).path
    return f"{as_typed('place remove', place.name)}; {add_command(vault, place, str(folder or place.uri))}"


def add_command(vault: Vault, place: Place, uri: str = "") -> str:
    """Return the command that adds a place as it is, for the one it is for and as encrypted; or at another address."""
    options = [as_option("--for", label_of(vault, place.peer))] if place.peer else []
    options += ["--encrypt"] if is_encrypted(vault, place) else []
    return as_typed("place add", place.name, uri or place.uri, options=" ".join(options))
