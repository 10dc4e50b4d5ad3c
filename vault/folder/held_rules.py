"""The former `.laceignore` of a desk, kept where a checkout took its rules away, or where a folder became a desk.

See `vault.desks.former_ignore` (CLAY-71, CLAY-3).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from vault.desks.causes import Cause
from vault.desks.former_ignore import Former, Held, still_hold
from vault.desks.ignore import IGNORE_FILE, MAX_IGNORE_BYTES
from vault.desks.paths import is_at_or_below
from vault.errors import CallerError
from vault.files import Unreadable, reason_of
from vault.notes.folders import FORMER, FORMER_BEFORE, LOOKED, LOOKED_UNTIL

if TYPE_CHECKING:
    from pathlib import Path

    from vault.desks.choosing import Problem
    from vault.desks.diff import Change
    from vault.desks.pages import Entry
    from vault.desks.plan import CheckoutPlan
    from vault.desks.ports import Source
    from vault.records import RecordHash
    from vault.vault import Vault
    from vault.writer import Writer

__all__ = ["RulesUnclear", "begin_look", "end_look", "forget_idle", "held_by", "hold_around", "hold_on"]
__all__ += ["look_again", "looked_at", "looked_until", "note_committed", "refuse_unclear"]


class RulesUnclear(CallerError):
    """A rule of `.laceignore` cannot be used, and files are new that it may be meant to keep out."""

    code = "rules-unclear"
    hint = (
        "Put .laceignore right - or take those files in by name: lace commit -m TEXT PATH... - then run the same"
        " command again; nothing was changed."
    )


def held_by(vault: Vault, desk: str, named: Sequence[str] = ()) -> Held:
    """Return the former rules that hold on in a desk, and the paths that a person names now."""
    kept = vault.store.note(FORMER, desk)
    if not kept:
        return Held((), tuple(named))
    return Held(tuple(Former(rules.encode(), below) for rules, below in kept), tuple(named), looked_at(vault, desk))


def looked_at(vault: Vault, desk: str) -> RecordHash | None:
    """Return the tree of another state that a desk's folder looks at, and somebody may have gone on in; mostly None.

    Raises:
        StoreDamaged: that rotted (APP-13); what is older is never taken for work of the person's.
    """
    return vault.store.note(LOOKED, desk)


def looked_until(vault: Vault, commit: RecordHash) -> RecordHash | None:
    """Return the tree of another state that a folder looked at until a commit of all of it was made; mostly None."""
    return vault.store.note(LOOKED_UNTIL, commit.text)


def hold_on(vault: Vault, desk: str, plan: CheckoutPlan, source: Source, folder: Path, without: frozenset[str]) -> None:
    """Keep the rules that writing the folder takes away; in a transaction that ends before it, where it may be cut off.

    Args:
        vault: whose folder.
        desk: the desk.
        plan: what is about to be written.
        source: where its trees are read.
        folder: of the desk.
        without: sub-directories of it that are desks of their own.

    Raises:
        FormerRulesFull: too many that keep something out are kept already.
    """
    step = next((step for step in chain(plan.writes, plan.deletes) if step.change.path == IGNORE_FILE), None)
    if step is None:
        return
    from vault.folder.former_rules import still_needed  # hardly any checkout changes the rules

    before, after = (_text(source, entry) for entry in (step.change.before, step.change.after))
    former = [*held_by(vault, desk).rules, Former(before.encode())]
    # Of the folder around, a rule may mean another thing here.
    kept = [one for one in former if one.below or not still_hold(one.rules, after.encode())]
    needed = still_needed(kept, folder, source, plan.before, without)
    vault.store.set_note(FORMER, _kept(needed), desk)


def hold_around(w: Writer, vault: Vault, desk: str, around: str, root: Path, below: str) -> bool:
    """Keep what a desk keeps out of a folder in it that is about to become a desk of its own; tell whether it may.

    What it says of that folder as a whole is no reason: whoever makes a desk of it means it.

    Args:
        w: the write that maps the folder.
        vault: whose folder.
        desk: what the folder becomes.
        around: the desk around it.
        root: the folder of that desk.
        below: where the folder lies, relative to it.

    Raises:
        Unreadable: the rules around it cannot be told.
        FormerRulesFull: too many keep something out of it.
    """
    from vault.desks.choosing import rules_of  # most commands look at no folder
    from vault.desks.folder import open_root
    from vault.folder.former_rules import still_needed

    try:
        fd = open_root(root)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Unreadable(f"{root} cannot be read: {reason_of(error)}.") from error
    try:
        rules = rules_of(root, fd)
    finally:
        os.close(fd)
    outer = [*held_by(vault, around).rules, Former(rules)]
    moved = [Former(one.rules, f"{one.below}/{below}" if one.below else below) for one in outer if one.rules]
    former = [*held_by(vault, desk).rules, *moved]
    w.store.set_note(FORMER, _kept(still_needed(former, root / below, vault.store, None, frozenset())), desk)
    return bool(moved)


def begin_look(w: Writer, desk: str, tree: RecordHash) -> None:
    """Note which state the folder looks at from now, and which former rules held before the first of several looks.

    Before `hold_on`: what the state that is looked at lacks was dropped by nobody.
    """
    if w.store.note(LOOKED, desk) is None:
        w.store.set_note(FORMER_BEFORE, w.store.note(FORMER, desk), desk)
    w.store.set_note(LOOKED, tree, desk)


def end_look(w: Writer, desk: str) -> None:
    """Note that the folder is back on the tree that its line stands on: what held before the look holds, no more.

    After `hold_on`: of the state that was looked at no rule was dropped now.
    """
    if w.store.note(LOOKED, desk) is not None:
        if w.store.has_note(FORMER_BEFORE, desk):
            w.store.set_note(FORMER, w.store.note(FORMER_BEFORE, desk), desk)
        w.store.set_note(LOOKED, None, desk)


def note_committed(w: Writer, desk: str, looked: RecordHash | None, commit: RecordHash) -> None:
    """Note with a commit of a look which state was looked at, where the look ended with it.

    Args:
        w: the write of the commit.
        desk: the desk.
        looked: what its folder looked at before; None for nothing.
        commit: what was made.
    """
    if looked is not None and w.store.note(LOOKED, desk) is None:
        w.store.set_note(LOOKED_UNTIL, looked, commit.text)


def look_again(w: Writer, desk: str, commit: RecordHash, tree: RecordHash) -> None:
    """Let the folder look at what it did before a commit that is taken back, else at what that commit held (APP-4).

    Of a look at an older state that goes on, an update would else take what is older for work of mine.
    """
    before = w.store.note(LOOKED_UNTIL, commit.text)
    if before is not None:
        w.store.set_note(LOOKED, before, desk)
        w.store.drop_note(LOOKED_UNTIL, commit.text)
    elif w.store.note(LOOKED, desk) is None:
        begin_look(w, desk, tree)


def forget_idle(w: Writer, desk: str, held: Held, problems: Iterable[Problem], *, is_clean: bool, folder: Path) -> None:
    """Forget former rules that keep out nothing any more, and which state was looked at once all of it is committed.

    Args:
        w: the write of a commit.
        desk: the desk.
        held: the rules that its scan went by.
        problems: of that scan.
        is_clean: whether the folder is as the tree that its line stands on.
        folder: of the desk; until it has rules of its own, those of the folder around hold on.
    """
    if is_clean and w.store.note(LOOKED, desk) is not None:  # brought back by hand
        end_look(w, desk)
        return
    if not held.named and w.store.note(LOOKED, desk) is not None:
        w.store.set_note(LOOKED, None, desk)
    if held.rules and not any(problem.cause is Cause.HELD for problem in problems):
        has_rules = os.path.lexists(folder / IGNORE_FILE)
        w.store.set_note(FORMER, _kept(one for one in held.rules if one.below and not has_rules), desk)


def refuse_unclear(found: Iterable[Change], problems: Iterable[Problem], named: Collection[str] = ()) -> None:
    """Refuse to take in new files that nobody named while a rule is not understood.

    Args:
        found: what is about to be committed.
        problems: of the scan.
        named: paths that a person named, for what is below them too; an empty one for all.

    Raises:
        RulesUnclear: there are such files.
    """
    fault = next((one.reason for one in problems if one.cause is Cause.RULES), "")
    if not fault:
        return
    added = (one for one in found if one.kind == "added" and one.after is not None and not one.after.is_dir)
    fresh = [one.path for one in added if one.path != IGNORE_FILE and not is_at_or_below(one.path, named)]
    if fresh:
        from vault.plural import few  # hardly any commit meets one

        raise RulesUnclear(f"{IGNORE_FILE}: {fault}, and these files are new: {few(fresh)}.")


def _kept(former: Iterable[Former]) -> tuple[tuple[str, str], ...]:
    """Return former rules as they are noted; none hold NUL, and none are empty."""
    return tuple((rules.decode(), below) for rules, below in former)


def _text(source: Source, entry: Entry | None) -> str:
    """Return the rules of a versioned file, without what no rule may hold."""
    if entry is None or entry.kind != "f" or entry.size > MAX_IGNORE_BYTES:
        return ""
    return (source.content(entry.hash) or b"").decode("utf-8", "replace").replace("\0", "")
