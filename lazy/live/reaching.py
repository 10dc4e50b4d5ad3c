"""Getting through to a friend who serves, or to a vault beside mine: the one place where a connection begins.

Whoever visits or asks speaks to both in the same way, and so need not know which of the two a place is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from lazy.live.local_vault import LocalConnection, open_local_vault, refusal_there
from lazy.people import label_of
from lazy.places.registry import Place
from transports.address import AddressKind, parse_live
from transports.errors import PlaceNotWritable, WrongServer
from transports.http.client import LiveConnection
from transports.http.stream import Source
from transports.mailbox import ByteCount
from vault.records import Verifier
from vault.suite import SigningKey
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Connection", "Reached", "reached"]


class Connection(Protocol):
    """What carries bodies there and back."""

    def post(self, path: str, key: SigningKey | None, body: Iterable[bytes], /) -> Source:
        """Send one body and return the answer's."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The other side of a connection.

    Attributes:
        connection: carries bodies to it.
        peer: who it is.
        may_write: whether it takes anything in; a vault whose key is not on this machine, or may not sign here, is only
            read, and what it says of itself is not proven.
        count: the bytes and trips so far.
        refusal: why its key may not sign here.
    """

    connection: Connection
    peer: Verifier
    may_write: bool
    count: ByteCount
    refusal: PlaceNotWritable | None = None


@contextmanager
def reached(vault: Vault, place: Place, *, only_reads: bool = False, watch: Watch = Watch()) -> Iterator[Reached]:
    """Connect to a live server, or open a vault beside mine, for the block.

    Args:
        vault: who connects.
        place: a live one, or another vault's directory.
        only_reads: leave a vault beside mine as it is, also where its key lies on this machine.
        watch: stops what a vault beside mine does, which this process does for it.

    Raises:
        PlaceUnreachable: nobody answers, or there is no such vault.
        WrongServer: somebody else answers there; nothing was sent.
        WrongDrop: another vault lies there than before.
        Cancelled: the person would not wait any longer.
    """
    count = ByteCount()
    if place.kind == AddressKind.VAULT:
        other, has_key = open_local_vault(vault, place)
        with closing(other):
            refusal = refusal_there(other) if has_key and not only_reads else None
            may_write = has_key and not only_reads and refusal is None
            there = LocalConnection(other, vault.node, count, may_write=may_write, watch=watch)
            yield Reached(there, other.node, may_write, count, refusal)
        return
    address, around = parse_live(place.uri), vault.around
    try:
        with LiveConnection(
            address, vault.group, count, monotonic, around.tai, around.entropy, around.sleep
        ) as connection:
            yield Reached(connection, address.node, may_write=True, count=count)
    except WrongServer as error:
        if error.answered is None:
            raise
        who, friend = (label_of(vault, node.text) for node in (error.answered, address.node))
        raise WrongServer(f"{who} answers at {address.shown}, and not {friend}.") from error
