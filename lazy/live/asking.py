"""Single records from a friend who serves, or from a vault beside mine: what `lace fsck --repair` has lost (APP-13).

Neither cursor moves, and nothing is taken but the records that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from time import monotonic
from typing import Protocol

from lazy.live.beside import Beside, beside
from lazy.live.standing import Standing, agree, my_standing
from lazy.places import Place
from transports.address import AddressKind, parse_live
from transports.errors import BadStream
from transports.http.client import LiveConnection
from transports.http.pace import Pace
from transports.http.paths import SYNC_PATH
from transports.http.stream import FrameKind, Source, StreamReader, StreamWriter
from transports.mailbox import ByteCount
from vault.errors import DataError
from vault.records import Plex, RecordHash, Seal, Verifier, parse_record
from vault.suite import SigningKey
from vault.vault import Vault
from vault.work import Watch

__all__ = ["ask_for"]

_NAMES_AT_ONCE = 1000


class _Connection(Protocol):
    def post(self, path: str, key: SigningKey | None, body: Iterable[bytes], /) -> Source:
        """Send one body and return the answer's."""


def ask_for(vault: Vault, place: Place, wanted: Sequence[RecordHash], watch: Watch) -> Iterator[Seal | Plex]:
    """Yield those of the wanted records that the other side shares, each validated.

    Args:
        vault: whose they were.
        place: a live one, or another vault's directory.
        wanted: their names.
        watch: cancel.

    Raises:
        PlaceError: it cannot be reached, or went away.
        RefusedThere, WrongServer: somebody else answers there, or does not answer this node.
        BadStream: what it says breaks the format.
        Cancelled: the person stopped it.
    """
    with _reached(vault, place) as (connection, peer):
        for start in range(0, len(wanted), _NAMES_AT_ONCE):
            watch.cancelled()
            yield from _answered(vault, connection, peer, wanted[start : start + _NAMES_AT_ONCE])


@contextmanager
def _reached(vault: Vault, place: Place) -> Iterator[tuple[_Connection, Verifier]]:
    """Connect for the block."""
    count = ByteCount()
    if place.kind == AddressKind.VAULT:
        other, _ = beside(vault, place)
        with closing(other):
            yield Beside(other, vault.node, count, may_write=False), other.node
        return
    address = parse_live(place.uri)
    pace = Pace(None, monotonic, vault.around.sleep)
    with LiveConnection(address, vault.group, count, pace, vault.around.tai, vault.around.entropy) as connection:
        yield connection, address.node


def _answered(
    vault: Vault, connection: _Connection, peer: Verifier, wanted: Sequence[RecordHash]
) -> Iterator[Seal | Plex]:
    parts: list[bytes] = []
    writer = StreamWriter(parts.append)
    # Without a cursor and with names, the other side sends what is named and nothing else.
    writer.info(my_standing(vault, peer, cursor=None).encode())
    writer.names(wanted)
    writer.end()
    left = set(wanted)
    frames = iter(StreamReader(connection.post(SYNC_PATH, vault.key(), [b"".join(parts)])))
    first = next(frames, None)
    if first is None or first.kind is not FrameKind.INFO:
        raise BadStream("The server does not say where it stands.")
    agree(vault, peer, Standing.decode(first.data))
    for frame in frames:
        for stored in frame.records if frame.kind is FrameKind.RECORDS else ():
            try:
                record = parse_record(stored)
            except DataError:
                continue  # it rotted there too; another place may have it
            if isinstance(record, Seal | Plex) and record.hash in left:
                left.discard(record.hash)
                yield record
