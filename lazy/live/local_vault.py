"""Another vault's directory as a place: both sides in this process, or only reading (decision 6; INT-164).

Where the keys of both vaults lie on this machine and may sign here, their person may let them exchange as over a line.
Else the other vault is read and never written: nobody there has said that I may, so it is an unproven source, and
evidence decides.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lazy.live.answering import speak
from lazy.live.serving import Service
from lazy.places.media import add_command
from lazy.places.registry import Place
from lazy.places.roads import ONE_GOES_ON, is_itself
from transports.address import AddressKind, parse_stored
from transports.errors import PlaceNotWritable, PlaceUnreachable, RefusedThere, WrongDrop
from transports.http.paths import REQUEST_PATH, TAKEN, WAITS
from transports.mailbox import ByteCount
from vault.commands import as_typed
from vault.errors import EnvironmentFault, LaceError
from vault.identity.keys import KeyStore
from vault.identity.mark import OtherMachine
from vault.records import Verifier
from vault.store.schema import StoreTooNew
from vault.suite import SigningKey
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["LocalConnection", "open_local_vault", "refusal_there"]

_IN_MEMORY = 8 << 20  # bytes of one body; above it, a temporary file
_Spool = tempfile.SpooledTemporaryFile[bytes]


def open_local_vault(vault: Vault, place: Place) -> tuple[Vault, bool]:
    """Open the vault at a place; tell also whether its key lies on this machine.

    Raises:
        PlaceUnreachable: there is none, or it cannot be opened.
        WrongDrop: another one lies there, one of another group, mine itself, or a copy of it, which signs as I do.
    """
    address = parse_stored(place.uri)
    if address.kind is not AddressKind.VAULT or address.path is None:
        way = f"{as_typed('place remove', place.name)}; {add_command(vault, place, 'DIR')}"
        raise PlaceUnreachable(f"There is no vault at {place.uri}.", hint=f"Mount it. If it lies elsewhere here: {way}")
    try:
        other = Vault(address.path, vault.around)
    except LaceError as error:  # it is there, so nothing is to be plugged in
        hint = error.hint if isinstance(error, StoreTooNew) else f"In that folder: {error.hint}"
        what = f"The vault at {place.uri} cannot be opened: {error.message}"
        raise PlaceUnreachable(what, hint=hint) from error
    if other.node == vault.node:
        other.close()
        if is_itself(vault, address.path):
            way = f"Nothing is to be exchanged there; to forget the place: {as_typed('place remove', place.name)}"
            raise WrongDrop(f"What lies at {place.uri} is this vault itself.", hint=way)
        raise WrongDrop(f"The vault at {place.uri} is a copy of this one: both sign as one node.", hint=ONE_GOES_ON)
    if other.group != vault.group or place.place_id not in {"", other.node.text}:
        other.close()
        way = f"{as_typed('place remove', place.name)}; {add_command(vault, place, str(address.path))}"
        raise WrongDrop(
            f"The vault at {place.uri} is another one than this place was.", hint=f"If it is of your group: {way}"
        )
    return other, other.node in KeyStore(vault.around.data_root).list()


def refusal_there(other: Vault) -> PlaceNotWritable | None:
    """Return why a vault whose key lies here may sign nothing from here: before it takes a part in, and then fails.

    Its key may have come here in a copied home, and its own home lets it sign still.
    """
    try:
        other.check_plan()
    except OtherMachine as error:
        error.hint = f"Where its key was made, a sync from there can fetch what is yours. Else: {error.hint}"
        return _of_there(other.folder, error, "takes nothing in from here")
    except EnvironmentFault as error:
        return _of_there(other.folder, error, "takes nothing in from here")
    return None


class LocalConnection:
    """The `Connection` of a visit to a vault on this machine: nothing goes over a line.

    Args:
        other: the vault that lies there.
        visitor: who visits.
        count: counts bytes and turns.
        may_write: whether the other side takes anything in.
        watch: stops the other side too, and is told what it proves.
    """

    def __init__(
        self, other: Vault, visitor: Verifier, count: ByteCount, *, may_write: bool, watch: Watch = Watch()
    ) -> None:
        self._other, self._visitor, self._count, self._may_write = other, visitor, count, may_write
        self._watch = watch

    def post(self, path: str, key: SigningKey | None, body: Iterable[bytes]) -> _Spool:
        """Hand one body over and return the answer.

        Raises:
            RefusedThere: the visitor is no member there.
            PlaceNotWritable: the other vault may not write, or cannot.
            BadStream: the body breaks the format.
            Cancelled: the person stopped it; what the other vault took in before stays.
        """
        del key  # whose process this is, is proven by the files it may read
        self._count.trips += 1
        sent = _Spool(_IN_MEMORY)
        for piece in body:
            sent.write(piece)
            self._count.written += len(piece)
        sent.seek(0)
        answer = _Spool(_IN_MEMORY)
        with closing(sent):
            self._answered(path, sent, answer)
        self._count.read += answer.tell()
        answer.seek(0)
        return answer

    def _answered(self, path: str, sent: _Spool, answer: _Spool) -> None:
        folder, around = self._other.folder, self._other.around
        service = Service(lambda: Vault(folder, around), lambda _served: None, self._watch)
        if path == REQUEST_PATH:
            with _said_of(folder):
                granted = service.request(sent.read()) if self._may_write else None
            if granted is None:
                raise RefusedThere("The vault there cannot let you in.")
            answer.write(TAKEN if granted else WAITS)
        elif not self._may_write:
            speak(self._other, self._visitor, sent, answer.write, self._watch)
        elif service.admits(self._visitor):
            with _said_of(folder):
                service.exchange(self._visitor, sent, answer.write)
        elif service.was_revoked(self._visitor):
            raise RefusedThere(f"In the vault of {self._other.name} you were revoked from the group.")
        else:
            raise RefusedThere(f"You are not a member in the vault of {self._other.name}.")


@contextmanager
def _said_of(folder: Path) -> Iterator[None]:
    """Say of the other vault what it says of «this vault», which is not the one that the reader sits at.

    Raises:
        PlaceNotWritable: it cannot be written, or its key is locked; what it took in before stays there.
    """
    try:
        yield
    except EnvironmentFault as error:
        raise _of_there(folder, error, "does not take everything in") from error


def _of_there(folder: Path, error: EnvironmentFault, what: str) -> PlaceNotWritable:
    return PlaceNotWritable(
        f"The vault in {folder} {what}. There lace says: {error.message}",
        hint=f"Nothing is wrong with your own vault. For the one in {folder}: {error.hint}",
    )
