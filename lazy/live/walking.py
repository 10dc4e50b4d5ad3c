"""What a visitor without a cursor does first: predict the other side's state, and ask only where it is wrong (INT-99).

Whatever goes wrong with it is no harm: the visit goes on with the names of everything, as with a peer that knows no
tiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.tiers import Asks, Difference, TierReader, pack_asks, read_offer
from lazy.live.cursors import ExposureCursor, place_of
from lazy.live.offering import HINTS_FROM
from lazy.live.presumed import has_some
from lazy.live.shelves import VaultShelf
from lazy.live.standing import Standing
from transports.http.stream import StreamWriter
from vault.records import RecordHash, Verifier
from vault.store.database import select_in
from vault.vault import Vault

__all__ = ["Walk", "Walks"]

_PLACES = "SELECT e.at, b.kind, b.digest FROM body b JOIN exposure e USING (p) WHERE b.digest IN"
_SIZES = "SELECT ifnull(k.size, length(b.bytes)) FROM body b LEFT JOIN packed k USING (p) WHERE b.digest IN"


class Walk:
    """Learns what a peer shares.

    Args:
        vault: whose visit it is.
        peer: who is visited.
        here: the top of my own log, which the prediction is as of.
    """

    def __init__(self, vault: Vault, peer: Verifier, here: ExposureCursor) -> None:
        shelf = VaultShelf(vault, peer.text, here.at)
        self._vault = vault
        self._reader = TierReader([shelf])
        self.here = here
        self.hints = self._reader.begin() + shelf.state()
        self.as_of: ExposureCursor | None = None
        self._asks = Asks()
        self.difference: Difference | None = None

    @property
    def asks(self) -> bytes:
        """What to ask next; nothing at first."""
        return pack_asks(self._asks) if self._asks else b""

    def take(self, data: bytes, here: ExposureCursor) -> bool:
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


class Walks:
    """Whether a visit takes a walk, and how far it is: where neither side has a cursor of the other.

    Args:
        vault: whose visit it is.
        peer: who is visited.

    Attributes:
        walk: the one that was begun, as long as its answers can be used.
        is_walking: whether the next trip goes on with it, or begins it.
        knows_tiers: whether tiers are asked for; no more once an answer was wrong.
    """

    def __init__(self, vault: Vault, peer: Verifier) -> None:
        self._vault, self._peer = vault, peer
        self.walk: Walk | None = None
        self.is_walking = False
        self.knows_tiers = True
        self._is_unanswered = False  # what was told in tiers was wrong, and is asked for by names
        self._begun = 0

    @property
    def goes_on(self) -> bool:
        """Whether something is still to be learned of what they have."""
        return self.is_walking or self._is_unanswered

    def begin(self, cursor: ExposureCursor | None) -> None:
        """Begin to learn what they have, unless I have a place in their log, or hardly anything that they could."""
        self.is_walking = cursor is None and self._vault.store.exposed() >= HINTS_FROM

    def should_begin(self, theirs: Standing, came: Set[RecordHash], *, is_likely: bool = False) -> bool:
        """Tell whether to learn what they have before I send much: they have no place in my log, or some of it anyway.

        Args:
            theirs: how they stand.
            came: what they gave or listed in this visit.
            is_likely: whether a visit before this one sent them what follows their place.
        """
        if self.walk is not None or not (theirs.tiers and self.knows_tiers):
            return False
        place = place_of(self._vault, theirs.cursor)
        if place is not None:
            return not self._begun and (is_likely or has_some(self._vault, self._peer, theirs, place, came))
        return self._begun <= 1 and self._vault.store.exposed() - len(came) >= HINTS_FROM

    def said_in(self, standing: Standing) -> Standing:
        """Add to my standing what the walk says next."""
        if not self.is_walking:
            return standing
        if self.walk is None:
            self._begun += 1
            self.walk = Walk(self._vault, self._peer, standing.here)
        if self.walk.as_of is None:
            return standing._replace(hints=self.walk.hints)
        return standing._replace(as_of=self.walk.as_of)

    def asking(self, writer: StreamWriter) -> Iterator[int]:
        """Write what the walk asks next."""
        if self.is_walking and self.walk is not None and self.walk.asks:
            writer.tier(self.walk.asks)
        yield 0

    def take(self, tier: bytearray, theirs: Standing) -> list[RecordHash] | None:
        """Take what the other side says in tiers; return the names of what I may lack once all of them are known."""
        self._is_unanswered = False
        if self.walk is None:
            self.is_walking = theirs.asks_hints and self.knows_tiers
        if not self.is_walking or self.walk is None:
            return None
        self.is_walking = False
        if not tier:
            self.walk = None  # it sends names, or records: it knows no tiers, or I have little of what it has
        elif not self.walk.take(bytes(tier), theirs.here):
            self.walk, self.knows_tiers, self._is_unanswered = None, False, True
        elif self.walk.difference is None:
            self.is_walking = True
        else:
            return [record for record, _ in self.walk.difference.added]
        return None
