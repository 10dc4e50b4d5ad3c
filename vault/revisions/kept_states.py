"""States that an act wrote over in a folder and that no revision has: named `kept-N` for a while (APP-4, CYB-8).

An undo goes back by them, and a person reads them and brings them back as any revision: `lace checkout main@kept-1`.
They are nobody's but mine, and stand in no line. The last ones of a desk stay; others, and those that a prune lets go
of, are named no more, and what they alone hold goes with a prune.
"""

from __future__ import annotations

from vault.notes.revisions import KEPT_STATES, MOST_KEPT, KeptState, KeptStates
from vault.records import RecordHash
from vault.revisions.labels import labels
from vault.store import Store

__all__ = ["falls_out", "keep_state", "kept_state", "kept_states", "let_go_of_states"]
__all__ += ["was_kept"]


def kept_states(store: Store, desk: str) -> tuple[KeptState, ...]:
    """Return the states of a desk that are kept, the oldest first; without what rotted of the note of them."""
    return store.note(KEPT_STATES, desk).states


def kept_state(store: Store, desk: str, label: str) -> KeptState | None:
    """Return the state of a desk that has a name, if it is kept still."""
    return next((one for one in kept_states(store, desk) if one.label == label), None)


def was_kept(store: Store, desk: str, label: str) -> bool:
    """Tell whether a name was given to a state of a desk once."""
    return store.note(KEPT_STATES, desk).was_given(label)


def keep_state(store: Store, node: str, desk: str, tree: RecordHash) -> KeptState:
    """Keep a state, inside a write that stores its tree and content; one that is kept already keeps its name.

    Args:
        store: where.
        node: mine, of whose labels none is taken for a name.
        desk: the desk.
        tree: as in `KeptState`.
    """
    last, kept = store.note(KEPT_STATES, desk)
    known = next((one for one in kept if one.tree == tree), None)
    taken = labels(store, node, desk) if known is None else {}
    while known is None:
        last += 1
        state = KeptState(last, tree)
        known = state if state.label not in taken else None
    store.set_note(KEPT_STATES, KeptStates(last, (*(one for one in kept if one != known), known)[-MOST_KEPT:]), desk)
    return known


def falls_out(store: Store, desk: str, tree: RecordHash) -> str:
    """Return the name of the state that goes where another one is kept now; empty where none does."""
    kept = kept_states(store, desk)
    is_full = len(kept) >= MOST_KEPT and all(one.tree != tree for one in kept)
    return kept[0].label if is_full else ""


def let_go_of_states(store: Store, desk: str, keep: int) -> None:
    """Name only the last states of a desk from now, inside a write."""
    last, kept = store.note(KEPT_STATES, desk)
    if len(kept) > keep:
        store.set_note(KEPT_STATES, KeptStates(last, kept[-keep:]), desk)
