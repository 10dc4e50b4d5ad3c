"""What stands in this vault that a visit would carry, and whether that changed: for friends and for who follows."""

from __future__ import annotations

from lazy.belonging.beacon import beacon_words
from lazy.belonging.requests import REQUESTS_KEPT
from vault.notes.own import EPOCH
from vault.store import Store
from vault.vault import Vault

__all__ = ["OwnNews", "what_goes"]


def what_goes(store: Store) -> str:
    """Return words that are others whenever somebody who visits this vault would be brought something else."""
    return repr(
        (
            store.note(EPOCH),
            store.rows("SELECT max(at) FROM exposure"),
            store.rows("SELECT node, tai FROM request ORDER BY node LIMIT ?", REQUESTS_KEPT),
            beacon_words(store),
        )
    )


class OwnNews:
    """Whether somebody wrote what the next visit of this vault has to do: more to send, to ask for or to go to.

    That it was written to is not enough: each visit is noted, so two who follow would wake each other without end.

    Args:
        vault: whose visits they are.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._version = -1
        self._known = ""

    def begin(self) -> None:
        """Take note of how things stand before a visit."""
        self._version = self._vault.store.data_version()
        self._known = self._now()

    def end(self) -> None:
        """Take note of what the visit itself wrote; what others wrote meanwhile it may have missed."""
        if self._vault.store.data_version() == self._version:
            self._known = self._now()
        else:
            self._version = -1

    def is_there(self) -> bool:
        """Tell whether there is more to do than the last visit did."""
        version = self._vault.store.data_version()
        if version == self._version:
            return False
        if self._now() != self._known:
            return True
        self._version = version
        return False

    def _now(self) -> str:
        store = self._vault.store
        with store.reading():
            wanted = store.rows("SELECT count(*), max(wanted) FROM tomb WHERE wanted > 0")
            places = store.rows("SELECT name, uri FROM place ORDER BY name")
            return f"{what_goes(store)}{wanted}{places}"
