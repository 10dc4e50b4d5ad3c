"""What a file for somebody costs: what is new to them, however long the history is."""

from __future__ import annotations

from lazy.people import node_of
from lazy.visits.needs import left_out
from tests.faults.circle import befriended, visit
from tests.shelf import Shelf
from vault.records import Verifier
from vault.vault import Vault


def _steps(vault: Vault, node: Verifier) -> int:
    """Return how many hundred steps the database takes to tell what a peer has."""
    counted = [0]

    def count() -> int:
        counted[0] += 1
        return 0

    vault.store.db.set_progress_handler(count, 100)
    try:
        assert left_out(vault, node)[0] == vault.store.exposed()
    finally:
        vault.store.db.set_progress_handler(None, 0)
    return counted[0]


def test_a_file_for_somebody_does_not_read_the_trail(shelf: Shelf) -> None:
    """LAZ-47: all positions of audit entries were read for each file, 20,000 of them after some years."""
    alice, bob = shelf.lay(befriended, "bob")
    for vault in (alice, bob, alice):
        visit(vault)
    node = Verifier.parse(node_of(alice, "bob"))
    before = _steps(alice, node)
    alice.store.db.execute(
        "WITH RECURSIVE n(seq) AS (SELECT max(seq) + 1 FROM audit UNION ALL SELECT seq + 1 FROM n LIMIT 20000)"
        " INSERT INTO audit SELECT seq, 1000000 + seq, 'lazy-sync' FROM n"
    )
    assert _steps(alice, node) < before + 20, "to read them takes six hundred"
    for vault in (alice, bob):
        vault.close()
