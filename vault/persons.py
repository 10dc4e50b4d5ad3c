"""A person's nodes: one key after another, each admitted by the one before as its owner's own, and agreeing to it.

Anybody can seal that a friend's key is their own next one. So an admission says it only where the admitted key shares
it in its own log, as `lace adopt` does (CYB-21).
"""

from __future__ import annotations

from vault.store import Store

__all__ = ["OWN_NODES", "linked", "newer_keys"]

# From the admissions to the entries that link them: the other way would read whole logs.
OWN_NODES = """SELECT DISTINCT a.signer, a.node FROM sym y CROSS JOIN field f ON f.name = y.id
    CROSS JOIN admission a ON a.p = f.p CROSS JOIN body b ON b.p = a.p
    CROSS JOIN link k ON k.t = hash_text(b.kind, b.digest) CROSS JOIN sym s ON s.id = k.data AND s.s = 'entry'
    CROSS JOIN log g ON g.p = k.p AND +g.node = a.node WHERE y.s = 'Person'"""


def newer_keys(store: Store) -> dict[str, set[str]]:
    """Return, of each key under which its owner went on with another, that one and all that came after it."""
    pairs = [(str(older), str(newer)) for older, newer in store.rows(OWN_NODES)]
    found: dict[str, set[str]] = {}
    for older, newer in pairs:
        found.setdefault(older, set()).add(newer)
    for older, after in found.items():
        waiting = [*after]
        while waiting:
            further = found.get(waiting.pop(), set()) - after - {older}
            after.update(further)
            waiting += further
    return found


def linked(store: Store, node: str) -> set[str]:
    """Return all nodes of a person: this one, and those linked with it by an admission, one after the other."""
    pairs = [(str(signer), str(other)) for signer, other in store.rows(OWN_NODES)]
    found, before = {node}, 0
    while len(found) > before:
        before = len(found)
        found |= {one for pair in pairs if found & set(pair) for one in pair}
    return found
