"""The former `.laceignore` of a desk, kept where a checkout took its rules away (CLAY-71); see `vault.desks.held`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vault.desks.held import HELD, Held, still_hold
from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES

if TYPE_CHECKING:
    from vault.desks.plan import CheckoutPlan
    from vault.desks.tree import Entry
    from vault.desks.worktree import Problem
    from vault.vault import Vault
    from vault.writer import Writer

__all__ = ["forget_idle", "held_by", "hold_on"]

_KEY = "former rules "  # setting of the store: rule files of one desk, NUL between them
_MOST = 8


def held_by(vault: Vault, desk: str, named: Sequence[str] = ()) -> Held:
    """Return the former rules that hold on in a desk, and the paths that a person names now."""
    kept = vault.store.meta(_KEY + desk)
    return Held(tuple(rules.encode() for rules in kept.split("\0")), tuple(named)) if kept else Held()


def hold_on(w: Writer, vault: Vault, desk: str, plan: CheckoutPlan) -> None:
    """Keep the rules that a checkout is about to take away; in the transaction that notes it, so none is lost."""
    step = next((step for step in (*plan.writes, *plan.deletes) if step.change.path == IGNORE_FILE), None)
    if step is None:
        return
    before, after = (_text(vault, entry) for entry in (step.change.before, step.change.after))
    former = [*held_by(vault, desk).rules, before.encode()]
    kept = dict.fromkeys(rules.decode() for rules in former if rules and not still_hold(rules, after.encode()))
    w.store.set_meta(_KEY + desk, "\0".join([*kept][-_MOST:]))


def forget_idle(w: Writer, desk: str, held: Held, problems: Iterable[Problem]) -> None:
    """Forget former rules that keep out nothing any more."""
    if held.rules and not any(problem.reason == HELD for problem in problems):
        w.store.set_meta(_KEY + desk, "")


def _text(vault: Vault, entry: Entry | None) -> str:
    """Return the rules of a versioned file, without what no rule may hold."""
    if entry is None or entry.kind != "f" or entry.size > MAX_IGNORE_BYTES:
        return ""
    return (vault.store.content(entry.hash) or b"").decode("utf-8", "replace").replace("\0", "")
