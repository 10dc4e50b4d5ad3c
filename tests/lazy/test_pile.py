"""Records that wait in memory in a round, and how many bytes they have together (architecture, decision 11)."""

from __future__ import annotations

import time

from lazy.receiving.pile import Pile
from vault.records import Plex, RecordHash, Tai


def _plex(number: int) -> Plex:
    return Plex.build(group="friends", app="lace/data", name="P", tai=Tai(0), data=b"%d" % number)


def test_a_pile_counts_the_bytes_of_what_it_holds() -> None:
    pile: Pile[Plex] = Pile()
    plexes = [_plex(number) for number in range(4)]
    for plex in (*plexes, plexes[0]):
        pile.put(plex, plex.encode())
    assert pile.total == sum(len(plex.encode()) for plex in plexes)
    assert [plex for plex, _ in pile.take([plexes[2].hash, plexes[0].hash])] == [plexes[2], plexes[0]]
    assert (list(pile), pile.total) == ([plexes[1].hash, plexes[3].hash], sum(len(p.encode()) for p in plexes[1::2]))
    pile.clear()
    assert (len(pile), pile.total) == (0, 0)


def test_to_forget_much_costs_what_it_is_and_not_its_square() -> None:
    """FAC-30: a round ends at once, however much came that nothing reaches: 64 MiB are half a million small records."""
    pile: Pile[Plex] = Pile()
    pair = (_plex(0), b"")
    for number in range(200_000):
        pile[RecordHash("P", number.to_bytes(32))] = pair
    began = time.perf_counter()
    pile.clear()
    assert time.perf_counter() - began < 2
