"""The bookmark: how far one exchange has read a peer's log, and when that is remembered (DWN-13, LAZ-71)."""

from __future__ import annotations

from lazy.live.cursors import ExposureCursor, known, note_cursors
from lazy.receiving.receive import Receiver
from vault.records import Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Bookmark"]


class Bookmark:
    """My cursor on a peer's log, as an exchange moves it.

    It is moved only from where this exchange found it: another process may have put it back, so that what was refused
    comes again. And it is remembered no sooner than the refusals that it rests on: killed in between, nobody would ask
    for those records again once trust changes.

    Args:
        vault: the reader's.
        receiver: takes what is read.
        peer: whose log it is.
    """

    def __init__(self, vault: Vault, receiver: Receiver, peer: Verifier) -> None:
        self._vault, self._receiver, self._peer = vault, receiver, peer
        self._kept = known(vault, peer).mine
        self._ahead: ExposureCursor | None = None

    def look(self) -> ExposureCursor | None:
        """Return where to read on: as it is remembered, or how far this exchange came from there."""
        kept = known(self._vault, self._peer).mine
        if kept != self._kept or self._receiver.asks_again:
            self._ahead = None
        return self._ahead or kept

    def move(self, to: ExposureCursor) -> None:
        """Move it, unless something that was refused is to come again; `keep` may still have to be called."""
        if self._receiver.asks_again:
            return
        self._ahead = to
        if not self._receiver.owes:
            with self._vault.writing(receiving=True) as w:
                self.keep(w)

    def keep(self, w: Writer) -> None:
        """Remember how far it was moved: in the transaction that remembers what was refused."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or self._receiver.asks_again or known(self._vault, self._peer).mine != self._kept:
            return
        note_cursors(w, self._peer, mine=ahead)
        self._kept = ahead
