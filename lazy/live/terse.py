"""Saying shortly what the other side knows: a digest for an equal vector, infos that rest on what was said before.

A visit that finds nothing new costs a few hundred bytes however many belong. What is compared is the same as ever: a
digest stands for a vector only where both sides have it in full.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from blake3 import blake3

from lazy.live.standing import Standing, plan_with
from transports.mailbox import ByteCount
from transports.snapshot import LogReach
from vault.errors import LaceError
from vault.notes.places import WORDS
from vault.records import Verifier, b64a
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Words", "in_short", "shared_words", "taken_as", "takes_short"]

_TERSE: Final = 2  # the first version of `tiers` that takes a digest for a vector, and infos that rest on others
_SHORT: Final = 3  # the first one that takes content without its headers


def takes_short(tiers: int) -> bool:
    """Tell whether who speaks this version makes records anew of their bodies."""
    return tiers >= _SHORT


def in_short(standing: Standing) -> Standing:
    """Return the same with a digest in place of the vector: all that who has the same vector needs to be told."""
    return standing._replace(vector=None, digest=_digest(standing.vector or ()))


def taken_as(theirs: Standing, mine: tuple[LogReach, ...]) -> Standing:
    """Return what the other side says, with the vector that it means where it said a digest and has the same as I.

    Its vector stays unknown where it has another one: nothing is concluded from that.
    """
    if theirs.digest and theirs.digest == _digest(mine):
        return theirs._replace(vector=mine)
    return theirs


def shared_words(vault: Vault, peer: Verifier, *, tiers: int, told: bytes = b"") -> bytes:
    """Return what both sides know before an info: what was said to who speaks now, the plan of both, and their keys.

    Args:
        vault: of one side.
        peer: the other side.
        tiers: the version that is spoken; nothing is shared in one that is too old for it.
        told: what the client's standing said, for the answer to it.
    """
    if tiers < _TERSE:
        return b""
    sides = sorted((vault.node.text, peer.text))
    return told + "".join((plan_with(vault, peer).id, *sides)).encode()


def _digest(vector: tuple[LogReach, ...]) -> bytes:
    lines = (f"{e.node.text} {e.seq} {b64a.encode(e.digest)} {int(e.is_forked)}\n" for e in vector)
    return blake3("".join(("lace-vector/0\n", *lines)).encode()).digest()


class Words:
    """How shortly a peer may be spoken to, as it said itself when it was last met over a line.

    Args:
        vault: of the side that visits.
        peer: who is visited.
    """

    def __init__(self, vault: Vault, peer: Verifier) -> None:
        self._vault, self._peer = vault, peer
        self.version = vault.store.note(WORDS, peer.text) or 0

    def spoken(self) -> bytes:
        """Return what the info of a request rests on."""
        return shared_words(self._vault, self._peer, tiers=self.version)

    def answered(self, standing: Standing, told: bytes) -> bytes:
        """Return what the info of the answer may rest on."""
        return shared_words(self._vault, self._peer, tiers=standing.tiers, told=told)

    def may_shorten(self, standing: Standing) -> bool:
        """Tell whether a digest will do for my vector: they understand it, and last said that they have the same."""
        is_plain = not (standing.lists or standing.is_quiet or standing.hints or standing.as_of)
        is_understood = min(self.version, standing.tiers) >= _TERSE
        return is_plain and is_understood and standing.cursor is not None and self._is_likely(standing.vector or ())

    def note(self, w: Writer, version: int) -> None:
        """Keep which version they say they speak."""
        if version != self.version:
            self.version = version
            w.store.set_note(WORDS, version or None, self._peer.text)

    @contextmanager
    def doubted(self, count: ByteCount) -> Iterator[None]:
        """Speak plainly the next time when a body in short words got no answer: an older lace may run there now."""
        try:
            yield
        except LaceError:
            if self.version and count.written:
                with self._vault.writing(receiving=True) as w:
                    w.store.set_note(WORDS, None, self._peer.text)
            raise

    def _is_likely(self, mine: tuple[LogReach, ...]) -> bool:
        """Tell whether the peer last said that it has just the vector that I have now."""
        rows = self._vault.store.rows(
            "SELECT of_node, seq, plex, forked FROM peer_vector WHERE node = ?", self._peer.text
        )
        said = {(str(node), int(seq), bytes(plex), bool(forked)) for node, seq, plex, forked in rows if seq}
        return bool(mine) and said == {(e.node.text, e.seq, e.digest, e.is_forked) for e in mine}
