"""A person's nodes: one key after another, each admitted by the one before as its owner's own."""

from __future__ import annotations

from vault.store import Store

__all__ = ["OWN_NODES", "linked"]

OWN_NODES = """SELECT DISTINCT a.signer, a.node FROM admission a JOIN field f ON f.p = a.p
    JOIN sym y ON y.id = f.name AND y.s = 'Person'"""


def linked(store: Store, node: str) -> set[str]:
    """Return all nodes of a person: this one, and those that one of them admitted as its own, one after the other."""
    pairs = [(str(signer), str(other)) for signer, other in store.rows(OWN_NODES)]
    found, before = {node}, 0
    while len(found) > before:
        before = len(found)
        found |= {one for pair in pairs if found & set(pair) for one in pair}
    return found
