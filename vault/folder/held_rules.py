"""The former `.laceignore` of a desk, kept where a checkout took its rules away (CLAY-71); see `vault.desks.held`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from vault.desks.held import HELD, Held, still_hold
from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES
from vault.errors import CallerError
from vault.records import RecordHash

if TYPE_CHECKING:
    from vault.desks.diff import Change
    from vault.desks.plan import CheckoutPlan
    from vault.desks.tree import Entry
    from vault.desks.worktree import Problem
    from vault.vault import Vault
    from vault.writer import Writer

__all__ = ["LOOKED", "RulesUnclear", "begin_look", "end_look", "forget_idle", "held_by", "hold_on", "looked_at"]
__all__ += ["look_again", "note_committed", "refuse_unclear"]


class RulesUnclear(CallerError):
    """A rule of `.laceignore` cannot be used, and files are new that it may be meant to keep out."""

    code = "rules-unclear"
    hint = (
        "Put .laceignore right - or take those files in by name: lace commit -m TEXT PATH... - then run the same"
        " command again; nothing was changed."
    )


_KEY = "former rules "  # setting of the store: rule files of one desk, NUL between them
LOOKED = "looked at "
"""Setting of the store, with a desk: the tree of another state that its folder looks at; empty for none."""
_BEFORE = "former rules before the look at "  # setting of the store: those that hold again once it ended
_COMMITTED = "looked at until "  # setting of the store, with a commit: what the folder looked at until that was made
_MOST = 8  # former rules of one desk; the last ones stay


def held_by(vault: Vault, desk: str, named: Sequence[str] = ()) -> Held:
    """Return the former rules that hold on in a desk, and the paths that a person names now."""
    kept = vault.store.meta(_KEY + desk)
    if not kept:
        return Held((), tuple(named))
    return Held(tuple(rules.encode() for rules in kept.split("\0")), tuple(named), looked_at(vault, desk))


def looked_at(vault: Vault, desk: str) -> RecordHash | None:
    """Return the tree of another state that a desk's folder looks at, and somebody may have gone on in; mostly None."""
    tree = vault.store.meta(LOOKED + desk)
    return RecordHash.parse(tree) if tree else None


def hold_on(w: Writer, vault: Vault, desk: str, plan: CheckoutPlan) -> None:
    """Keep the rules that a checkout is about to take away; in the transaction that notes it, so none is lost."""
    step = next((step for step in (*plan.writes, *plan.deletes) if step.change.path == IGNORE_FILE), None)
    if step is None:
        return
    before, after = (_text(vault, entry) for entry in (step.change.before, step.change.after))
    former = [*held_by(vault, desk).rules, before.encode()]
    kept = dict.fromkeys(rules.decode() for rules in former if rules and not still_hold(rules, after.encode()))
    w.store.set_meta(_KEY + desk, "\0".join([*kept][-_MOST:]))


def begin_look(w: Writer, desk: str, tree: RecordHash) -> None:
    """Note which state the folder looks at from now, and which former rules held before the first of several looks.

    Before `hold_on`: what the state that is looked at lacks was dropped by nobody.
    """
    if not w.store.meta(LOOKED + desk):
        w.store.set_meta(_BEFORE + desk, w.store.meta(_KEY + desk))
    w.store.set_meta(LOOKED + desk, tree.text)


def end_look(w: Writer, desk: str) -> None:
    """Note that the folder is back on the tree that its line stands on: what held before the look holds, no more.

    After `hold_on`: of the state that was looked at no rule was dropped now.
    """
    if w.store.meta(LOOKED + desk):
        w.store.set_meta(_KEY + desk, w.store.meta(_BEFORE + desk, w.store.meta(_KEY + desk)))
        w.store.set_meta(LOOKED + desk, "")


def note_committed(w: Writer, desk: str, looked: RecordHash | None, commit: RecordHash) -> None:
    """Note with a commit of a look which state was looked at, where the look ended with it.

    Args:
        w: the write of the commit.
        desk: the desk.
        looked: what its folder looked at before; None for nothing.
        commit: what was made.
    """
    if looked is not None and not w.store.meta(LOOKED + desk):
        w.store.set_meta(_COMMITTED + commit.text, looked.text)


def look_again(w: Writer, desk: str, commit: RecordHash, tree: RecordHash) -> None:
    """Let the folder look at what it did before a commit that is taken back, else at what that commit held (APP-4).

    Of a look at an older state that goes on, an update would else take what is older for work of mine.
    """
    before = w.store.meta(_COMMITTED + commit.text)
    if before:
        w.store.set_meta(LOOKED + desk, before)
        w.store.drop_meta(_COMMITTED + commit.text)
    elif not w.store.meta(LOOKED + desk):
        begin_look(w, desk, tree)


def forget_idle(w: Writer, desk: str, held: Held, problems: Iterable[Problem], *, is_clean: bool) -> None:
    """Forget former rules that keep out nothing any more, and which state was looked at once all of it is committed.

    Args:
        w: the write of a commit.
        desk: the desk.
        held: the rules that its scan went by.
        problems: of that scan.
        is_clean: whether the folder is as the tree that its line stands on.
    """
    if is_clean and w.store.meta(LOOKED + desk):  # brought back by hand
        end_look(w, desk)
        return
    if not held.named and w.store.meta(LOOKED + desk):
        w.store.set_meta(LOOKED + desk, "")
    if held.rules and not any(problem.reason == HELD for problem in problems):
        w.store.set_meta(_KEY + desk, "")


def refuse_unclear(found: Iterable[Change], problems: Iterable[Problem], named: Collection[str] = ()) -> None:
    """Refuse to take in new files that nobody named while a rule is not understood.

    Args:
        found: what is about to be committed.
        problems: of the scan.
        named: paths that a person named, for what is below them too; an empty one for all.

    Raises:
        RulesUnclear: there are such files.
    """
    fault = next((one.reason for one in problems if one.path == IGNORE_FILE and one.kind == "notice"), "")
    if not fault:
        return
    added = (one for one in found if one.kind == "added" and one.after is not None and not one.after.is_dir)
    fresh = [one.path for one in added if one.path != IGNORE_FILE and not _is_at_or_below(one.path, named)]
    if fresh:
        from vault.plural import few  # noqa: PLC0415 - hardly any commit meets one

        raise RulesUnclear(f"{IGNORE_FILE}: {fault}, and these files are new: {few(fresh)}.")


def _is_at_or_below(path: str, named: Collection[str]) -> bool:
    return any(not name or path == name or path.startswith(name + "/") for name in named)


def _text(vault: Vault, entry: Entry | None) -> str:
    """Return the rules of a versioned file, without what no rule may hold."""
    if entry is None or entry.kind != "f" or entry.size > MAX_IGNORE_BYTES:
        return ""
    return (vault.store.content(entry.hash) or b"").decode("utf-8", "replace").replace("\0", "")
