"""Copies of one medium as places of their own, such as a stick and what was copied of it to a web server (CYB-18).

What was read of a medium is remembered by its id, so that of copies each is read for what is new there alone. Which
state each place showed is remembered by its name: one that lags behind was not set back, and one that showed a newer
state before was, also once the others are forgotten.
"""

from __future__ import annotations

from collections.abc import Collection

from lazy.places.registry import places
from lazy.places.seen import seen_before
from vault.notes.places import COPIED, SEEN_IN_PLAIN, SHOWN, Shown
from vault.records import Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Copies", "seen_in_plain"]


class Copies:
    """What one place showed, of a medium that may be several places.

    Args:
        vault: whose places they are.
        place_id: of the medium.
        name: of the place that is visited.
    """

    def __init__(self, vault: Vault, place_id: str, name: str) -> None:
        self._vault = vault
        self._name, self._place_id = name, place_id
        are_many = sum(place.place_id == place_id for place in places(vault)) > 1
        self.has_copies = are_many or vault.store.note(COPIED, place_id)
        """Whether the medium is, or ever was, several places."""
        told = vault.store.note(SHOWN, name)  # none of a note that rotted, as the next visit writes it anew
        self._shown = dict(told.numbers) if told is not None and told.medium == place_id else {}
        self._before = dict(self._shown)
        self._in_plain: set[str] = set()

    def lags(self, node: Verifier, number: int) -> bool:
        """Tell whether a head that is older than the newest one known may be so: this place showed no newer one.

        Where nothing is known of what it showed, another place did, if the medium ever had copies.
        """
        shown = self._shown.get(node.text)
        return self.has_copies if shown is None else number >= shown

    def has_shown(self, node: Verifier) -> bool:
        """Tell whether this place showed a head of a node before."""
        if self.has_copies or node.text in self._shown:
            return node.text in self._shown
        return seen_before(self._vault, self._place_id, node) is not None

    def shown(self) -> set[str]:
        """Return of whom this place showed a head, as verifier texts."""
        return set(self._shown)

    def show(self, node: Verifier, number: int, *, in_plain: bool) -> None:
        """Take the number of a head that this place shows, and whether it lies there in plain."""
        self._shown[node.text] = max(number, self._shown.get(node.text, 0))
        if in_plain:
            self._in_plain.add(node.text)

    def note(self, w: Writer) -> None:
        """Remember what was shown."""
        if self._shown != self._before:
            w.store.set_note(SHOWN, Shown(self._place_id, self._shown), self._name)
            self._before = dict(self._shown)
        known = w.store.note(SEEN_IN_PLAIN, self._place_id)
        before = set(known)
        if not self._in_plain <= before:
            w.store.set_note(SEEN_IN_PLAIN, tuple(sorted(before | self._in_plain)), self._place_id)


def seen_in_plain(vault: Vault, place_id: str, name: str, encrypted: Collection[Verifier]) -> set[str]:
    """Return whose mailboxes were read in plain on a medium, as verifier texts (CYB-17).

    Args:
        vault: who read them.
        place_id: of the medium.
        name: of the place that is visited. Earlier versions noted only what it showed.
        encrypted: whose encrypted mailboxes there were opened: what it showed of everybody else was plain.
    """
    shown = Copies(vault, place_id, name).shown() - {node.text for node in encrypted}
    before = vault.store.note(SEEN_IN_PLAIN, place_id)
    return shown.union(before)
