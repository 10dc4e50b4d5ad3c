"""What a vault shares, as a shelf of advertisements; and its summaries, kept in a file until partitions change.

A shelf is as of a place in the exposure log, which grows at its end only, so whoever asks in two turns is answered by
one state. The file `.vault/roots` holds the summaries of my own shelf: some 150 kB, whatever the vault holds. It is a
view: lost, stale or damaged, it is made anew. Only the partitions that got a record since are hashed again; where
something was taken out of the log since, by a prune or a revocation, all of them are.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from blake3 import blake3

from lazy.interlace.ads import Fields, Summary
from lazy.interlace.tiers import Entry, Shelf
from lazy.interlace.tiers.shelf import span
from lazy.live.cursors import ExposureCursor, mark_at, place_of
from vault.errors import LaceError
from vault.files import AtomicFile, FileTooLarge, Unreadable, read_bounded
from vault.notes.own import EPOCH
from vault.records import RecordHash
from vault.records.b64a import ALPHABET
from vault.vault import Vault

__all__ = ["VaultShelf", "own_shelf"]

_FILE: Final = "roots"
_HEAD: Final = b"lace-roots/0\n"
_ROW = struct.Struct(">I32s")
_PLACE = struct.Struct(">Q8s")
_EPOCH_BYTES: Final = 32
_SUM_BYTES: Final = 32
_PREFIXES: Final = (*ALPHABET, *(one + other for one in ALPHABET for other in ALPHABET))
_BYTES: Final = len(_HEAD) + _EPOCH_BYTES + _PLACE.size + _ROW.size * len(_PREFIXES) + _SUM_BYTES
_TOP: Final = b"\xff" * 33

# The range of digests leads; a plan that began with the whole log would read it all for each partition.
_ENTRIES: Final = """
SELECT b.kind, b.digest, s.s FROM body b CROSS JOIN exposure e ON e.p = b.p CROSS JOIN rec r ON r.p = b.p
JOIN sym s ON s.id = r.app WHERE b.digest >= ? AND b.digest < ? AND e.at <= ? ORDER BY b.digest"""
_COUNT: Final = "SELECT count(*) FROM exposure WHERE at <= ?"
_SINCE: Final = "SELECT b.digest FROM exposure e JOIN body b USING (p) WHERE e.at > ? AND e.at <= ?"


class VaultShelf(Shelf):
    """What a vault shares, advertised by a source.

    Args:
        vault: whose records they are.
        source: in whose name: its own, or that of a peer whose state it predicts.
        top: the last place of the exposure log that counts.
    """

    def __init__(self, vault: Vault, source: str, top: int) -> None:
        super().__init__(source)
        self._vault = vault
        self.top = top
        self._fields: dict[str, Fields] = {}

    def entries(self, prefix: str) -> Sequence[Entry]:
        """Return what lies under a prefix."""
        low, high = span(prefix)
        rows = self._vault.store.rows(_ENTRIES, low, high or _TOP, self.top)
        fields = self._fields
        for app in {str(row[2]) for row in rows} - fields.keys():
            fields[app] = (("App", 0, app),)
        return [(RecordHash(str(kind), bytes(digest)), fields[str(app)]) for kind, digest, app in rows]


def own_shelf(vault: Vault, at: ExposureCursor | None = None, *, may_write: bool) -> VaultShelf | None:
    """Return the shelf of what a vault shares in its own name, with the summaries that are still right.

    Args:
        vault: whose shelf it is.
        at: the place of its log by which it is asked; None for now. Where it is of another log, the answer is None.
        may_write: whether the summaries may be kept for the next time.
    """
    newest = vault.store.exposed()
    top = newest if at is None else place_of(vault, at)
    if top is None or top > newest:
        return None
    shelf = VaultShelf(vault, vault.node.text, top)
    kept = _recall(vault, top)
    shelf.recall(kept)
    if may_write and top == newest and len(kept) < len(_PREFIXES):
        _keep(vault, shelf)
    return shelf


def _recall(vault: Vault, top: int) -> dict[str, Summary | None]:
    """Return the summaries that are kept and still right at a place."""
    try:
        data = read_bounded(vault.dot / _FILE, _BYTES)
    except (Unreadable, FileTooLarge):
        return {}
    if len(data) != _BYTES or not data.startswith(_HEAD) or blake3(data[:-_SUM_BYTES]).digest() != data[-_SUM_BYTES:]:
        return {}
    start = len(_HEAD) + _EPOCH_BYTES
    epoch = data[len(_HEAD) : start].decode("latin-1")
    at, mark = _PLACE.unpack_from(data, start)
    if at > top or place_of(vault, ExposureCursor(epoch, at, mark.hex() if at else "")) is None:
        return {}
    rows = zip(_PREFIXES, _ROW.iter_unpack(data[start + _PLACE.size : -_SUM_BYTES]), strict=True)
    found = {name: Summary(name, count, root) if count else None for name, (count, root) in rows}
    # Up to a place nothing is ever added, so as many records are the same ones.
    if sum(row.count for name in ALPHABET if (row := found[name])) != int(vault.store.rows(_COUNT, at)[0][0]):
        return {}
    for (digest,) in vault.store.rows(_SINCE, at, top):
        text = RecordHash("P", bytes(digest)).text[2:]
        found.pop(text[:1], None)
        found.pop(text[:2], None)
    return found


def _keep(vault: Vault, shelf: VaultShelf) -> None:
    """Keep the summaries of a shelf as of now; where that cannot be, the next time makes them again."""
    shelf.state()
    rows = [shelf.summary(name) for name in _PREFIXES]
    packed = b"".join(_ROW.pack(row.count, row.root) if row else _ROW.pack(0, bytes(32)) for row in rows)
    mark = mark_at(vault, shelf.top)
    place = _PLACE.pack(shelf.top, bytes.fromhex(mark).ljust(8, b"\0"))
    data = _HEAD + vault.store.note(EPOCH).encode("latin-1") + place + packed
    if len(data) + _SUM_BYTES == _BYTES:
        with suppress(OSError, LaceError), AtomicFile(vault.dot / _FILE, durable=False) as file:
            file.write(data + blake3(data).digest())
