"""The stash: pages and content that wait in memory until a record that counts reaches them (decision 1)."""

from __future__ import annotations

from lazy.receiving.judging import Sorted
from lazy.receiving.pile import Pile
from vault.desks.pages import listed
from vault.profile import TREE_APP
from vault.records import Plex, RecordHash
from vault.store.store import Store

__all__ = ["Stash"]


class Stash(Pile[Plex]):
    """Unsigned records that wait for evidence."""

    def holes(self, store: Store) -> list[RecordHash]:
        """Return what waits here and counted records reach."""
        if not self:
            return []
        wanted = store.holes.among(self.data.keys())
        return [record for record in self.data if record in wanted]

    def take_reached(self, store: Store) -> Sorted:
        """Take out what counted records reach, and the trees below it: however deep, in one step."""
        waiting = self.holes(store)
        reached: Sorted = []
        here = self.data
        while waiting:
            found = self.pop(waiting.pop(), None)
            if found is None:
                continue  # two trees list it
            reached.append(found)
            if found[0].app == TREE_APP:  # most of what it lists is not here
                listed_here = [child for child in listed(found[0].blob.data) if child in here]
                waiting += [child for child in listed_here if here[child][0].app == TREE_APP]
        return reached
