"""What follows a damaged record, so that it is not moved at each visit until that is mended (REC-5, INT-152).

A cursor stays before such a record, on either side: it comes once it is whole. What follows it came all the same, and
would come again. So whoever visits remembers that, and the next visit compares by names or in tiers first. That says no
more than what is likely, as `lazy.live.presumed` does: what is whole by then is among what is lacking, and comes.
"""

from __future__ import annotations

from vault.notes.places import CAME_BEHIND, SENT_BEHIND
from vault.records import Verifier
from vault.vault import Vault

__all__ = ["Behind"]


class Behind:
    """Whether the last visit moved what follows a damaged record, each way.

    Args:
        vault: of the side that visits.
        peer: who is visited.

    Attributes:
        came: whether it came from there.
        went: whether it went there.
    """

    def __init__(self, vault: Vault, peer: Verifier) -> None:
        self._vault, self._peer = vault, peer
        self.came = vault.store.note(CAME_BEHIND, peer.text)
        self.went = vault.store.note(SENT_BEHIND, peer.text)

    def note(self, *, came: bool, went: bool) -> None:
        """Remember how it is after this visit."""
        if (came, went) == (self.came, self.went):
            return
        with self._vault.writing(receiving=True) as w:
            w.store.set_note(CAME_BEHIND, came, self._peer.text)
            w.store.set_note(SENT_BEHIND, went, self._peer.text)
        self.came, self.went = came, went
