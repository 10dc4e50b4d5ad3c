"""Copies of one medium as places of their own, such as a stick and what was copied of it to a web server (CYB-18).

What was read of a medium is remembered by its id, so that of copies each is read for what is new there alone. Which
state each place showed is remembered by its name: one that lags behind was not set back, and one that showed a newer
state before was, also once the others are forgotten.
"""

from __future__ import annotations

import json
from typing import cast

from lazy.places.known import COPIED, SHOWN, places
from lazy.places.seen import seen_before
from lazy.results import noted_summary
from vault.records import Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Copies"]


class Copies:
    """What one place showed, of a medium that may be several places.

    Args:
        vault: whose places they are.
        place_id: of the medium.
        name: of the place that is visited.
    """

    def __init__(self, vault: Vault, place_id: str, name: str) -> None:
        self._vault = vault
        self._key, self._place_id = f"{SHOWN}{name}", place_id
        are_many = sum(place.place_id == place_id for place in places(vault)) > 1
        self._has_copies = are_many or bool(vault.store.meta(f"{COPIED}{place_id}"))
        told = noted_summary(vault.store.meta(self._key))
        self._shown = _numbers(told.get("numbers")) if told.get("medium") == place_id else {}
        self._before = dict(self._shown)

    def lags(self, node: Verifier, number: int) -> bool:
        """Tell whether a head that is older than the newest one known may be so: this place showed no newer one.

        Where nothing is known of what it showed, another place did, if the medium ever had copies.
        """
        shown = self._shown.get(node.text)
        return self._has_copies if shown is None else number >= shown

    def has_shown(self, node: Verifier) -> bool:
        """Tell whether this place showed a head of a node before."""
        if self._has_copies or node.text in self._shown:
            return node.text in self._shown
        return seen_before(self._vault, self._place_id, node) is not None

    def show(self, node: Verifier, number: int) -> None:
        """Take the number of a head that this place shows."""
        self._shown[node.text] = max(number, self._shown.get(node.text, 0))

    def note(self, w: Writer) -> None:
        """Remember what was shown."""
        if self._shown != self._before:
            w.store.set_meta(self._key, json.dumps({"medium": self._place_id, "numbers": self._shown}, sort_keys=True))
            self._before = dict(self._shown)


def _numbers(told: object) -> dict[str, int]:
    """Return the numbers of heads that were noted; none of a note that rotted, as the next visit writes it anew."""
    is_whole = isinstance(told, dict) and all(type(number) is int for number in told.values())
    return cast("dict[str, int]", told) if is_whole else {}
