"""What a visitor without a cursor does first: predict the other side's state, and ask only where it is wrong (INT-99).

Whatever goes wrong with it is no harm: the visit goes on with the names of everything, as with a peer that knows no
tiers.
"""

from __future__ import annotations

from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.tiers import Asks, Difference, TierReader, pack_asks, read_offer
from lazy.live.shelves import VaultShelf
from lazy.live.standing import Cursor
from vault.records import RecordHash, Verifier
from vault.store.database import select_in
from vault.vault import Vault

__all__ = ["Walk"]

_PLACES = "SELECT e.at, b.kind, b.digest FROM body b JOIN exposure e USING (p) WHERE b.digest IN"
_SIZES = "SELECT ifnull(k.size, length(b.bytes)) FROM body b LEFT JOIN packed k USING (p) WHERE b.digest IN"


class Walk:
    """Learns what a peer shares.

    Args:
        vault: whose visit it is.
        peer: who is visited.
        here: the top of my own log, which the prediction is as of.
    """

    def __init__(self, vault: Vault, peer: Verifier, here: Cursor) -> None:
        shelf = VaultShelf(vault, peer.text, here.at)
        self._vault = vault
        self._reader = TierReader([shelf])
        self.here = here
        self.hints = self._reader.begin() + shelf.state()
        self.as_of: Cursor | None = None
        self._asks = Asks()
        self.difference: Difference | None = None

    @property
    def asks(self) -> bytes:
        """What to ask next; nothing at first."""
        return pack_asks(self._asks) if self._asks else b""

    def take(self, data: bytes, here: Cursor) -> bool:
        """Take an answer; tell whether it could be used.

        Args:
            data: as it came.
            here: the place of the peer's log that it is as of.
        """
        if self.as_of is None:
            self.as_of = here
        try:
            self._asks = self._reader.take(read_offer(data))
        except InterlaceAbort:
            return False
        if not self._asks:
            self.difference = self._reader.difference()
        return self.as_of == here

    def lacks(self) -> list[RecordHash]:
        """Return what I share and the peer does not, in the order in which it became shared."""
        missing = self.difference.missing if self.difference is not None else ()
        found = select_in(self._vault.store.db, _PLACES, [record.digest for record in missing])
        return [RecordHash(kind, bytes(digest)) for _, kind, digest in sorted(found)]

    def lacking_bytes(self) -> int:
        """Return the stored bytes of what the peer lacks."""
        missing = self.difference.missing if self.difference is not None else ()
        return sum(int(row[0]) for row in select_in(self._vault.store.db, _SIZES, [each.digest for each in missing]))
