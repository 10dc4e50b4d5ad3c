"""Single records from a friend who serves, or from a vault beside mine: what `lace fsck --repair` has lost (APP-13).

Neither cursor moves, and nothing is taken but the records that were asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lazy.live.reaching import Reached, reached
from lazy.live.standing import Standing, agree, my_standing
from lazy.live.terse import shared_words
from lazy.places.registry import Place
from transports.errors import BadStream
from transports.http.paths import SYNC_PATH
from transports.http.stream import FrameKind, StreamReader, StreamWriter
from vault.errors import DataError
from vault.records import Plex, RecordHash, Seal, parse_record
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["ask_for"]

_NAMES_AT_ONCE = 1000


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
    with reached(vault, place, only_reads=True, watch=watch) as there:
        for start in range(0, len(wanted), _NAMES_AT_ONCE):
            watch.cancelled()
            yield from _answered(vault, there, wanted[start : start + _NAMES_AT_ONCE])


def _answered(vault: Vault, there: Reached, wanted: Sequence[RecordHash]) -> Iterator[Seal | Plex]:
    parts: list[bytes] = []
    writer = StreamWriter(parts.append)
    # Without a cursor and with names, the other side sends what is named and nothing else.
    standing = my_standing(vault, there.peer, cursor=None)
    told = standing.encode()
    writer.info(told)
    writer.names(wanted)
    writer.end()
    left = set(wanted)
    source = there.connection.post(SYNC_PATH, vault.key(), [b"".join(parts)])
    frames = iter(StreamReader(source, shared=shared_words(vault, there.peer, tiers=standing.tiers, told=told)))
    first = next(frames, None)
    if first is None or first.kind is not FrameKind.INFO:
        raise BadStream("The server does not say where it stands.")
    agree(vault, there.peer, Standing.decode(first.data))
    for frame in frames:
        for stored in frame.records if frame.kind is FrameKind.RECORDS else ():
            try:
                record = parse_record(stored)
            except DataError:
                continue  # it rotted there too; another place may have it
            if isinstance(record, Seal | Plex) and record.hash in left:
                left.discard(record.hash)
                yield record
