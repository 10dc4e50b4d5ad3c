"""What a release brings friends, and what not, in words: for the verb, the app, and a decision that makes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lace_tui.words.inert import inert
from vault.by_kind import counted
from vault.commands import as_typed
from vault.content.totals import Since, desk_totals
from vault.desks.memory import MemoryObjects
from vault.folder.checked_out import checkout_of
from vault.folder.work import Changes, Committed, Unchanged
from vault.log_gap import GAP_HINT, first_missing, missing_entry
from vault.plural import plural
from vault.revisions.history import Relation, last_shared
from vault.since_release import SinceRelease, since_release
from vault.vault import Vault

if TYPE_CHECKING:
    from vault.releasing import Released

__all__ = [
    "doubt_lines",
    "gone_lines",
    "left_out_lines",
    "look_lines",
    "looked_text",
    "new_text",
    "since_after",
    "totals_after",
]

_GOES = "friends get that state, with what you changed in it, and nothing else of your line"


def new_text(found: Changes | Committed | Unchanged, earlier: int, since: SinceRelease | None) -> str:
    """Return what a release adds to the one before: all that differs, and the commits that it is from.

    Args:
        found: what changed since the last commit.
        earlier: how many commits of before were not released.
        since: what they changed with it, if that is known.
    """
    commits = plural(earlier, "earlier commit")
    if earlier and since is not None:
        return f"{counted(since)}, with {commits}"
    more = [commits] if earlier else []
    return " and ".join([*([counted(found)] if found and (found.items or not more) else []), *more])


def gone_lines(since: SinceRelease | None) -> list[str]:
    """Return what to say of a release that deletes most of what friends have from the one before."""
    if since is None or not since.is_mostly_gone:
        return []
    return [f"! It deletes {since.gone} of the {plural(since.of, 'file')} released before, in every friend's folder."]


def look_lines(vault: Vault, found: Changes) -> list[str]:
    """Return what to say before a release of a folder that looks at another state than the newest of its line.

    The second line is the way back, as a command.
    """
    from lazy.folder.other_state import other_state  # each verb loads what it needs

    state = other_state(vault, found)
    if state is None:
        return []
    looks = "looks" if state.newest is None or not found.items else "looked"
    told = f"! Your folder {looks} at {inert(state.address)}: {_GOES}."
    if state.newest is not None:
        return [told, _newest_back(found.desk, state.newest)]
    return [told, f"To go to the newest first: {inert(as_typed('checkout', found.desk))}"]


def looked_text(vault: Vault, made: Released) -> str:
    """Return what to say after a release of such a folder; empty where it was none."""
    from lazy.folder.other_state import committed_state  # each verb loads what it needs

    state = committed_state(vault, made.desk, made.commit)
    if state is None or state.newest is None:
        return ""
    back = _newest_back(made.desk, state.newest)
    return f"! Your folder looked at {inert(state.address)}: {_GOES}. {back}"


def _newest_back(desk: str, number: int) -> str:
    return f"To have what was the newest back: {inert(as_typed('checkout', f'{desk}@{number}'))}"


def left_out_lines(vault: Vault, desk: str, stands: Relation) -> list[str]:
    """Return what friends released and this release does not hold, with the command that deals with it."""
    from lazy.conflict_words import update_desk  # each verb loads what it needs
    from lazy.lacking import waiting_in, waiting_releases

    lines = []
    if lacking := waiting_in(vault, waiting_releases(vault), desk):
        one = lacking == 1
        what = "1 release of friends is" if one else f"{lacking} releases of friends are"
        lines.append(f"! {what} not all here, and {'is' if one else 'are'} not in this one: lace links")
    if stands is Relation.CONFLICTING:
        lines.append(f"! A conflict of {desk} stays open, and this release decides it for nobody: lace conflicts")
    elif stands not in {Relation.SAME, Relation.AHEAD}:
        lines.append(f"! It does not hold what friends released since: {update_desk(desk)}")
    return lines


def doubt_lines(vault: Vault) -> tuple[list[str], bool]:
    """Return why what is released here counts for nobody else, if it does not, and whether the key was revoked."""
    from lazy.people import former, is_member  # each verb loads what it needs

    if former(vault, vault.node.text) is not None:
        return ["! This device's key was revoked: it counts for nobody else, now or later."], True
    if not is_member(vault, vault.node.text):
        return ["! You are not a member yet: it counts for your friends once you are admitted."], False
    if (missing := first_missing(vault)) is not None:
        return [f"! {missing_entry(missing)} {GAP_HINT}"], False
    return [], False


def since_after(vault: Vault, desk: str, found: Changes, overlay: MemoryObjects) -> SinceRelease | None:
    """Return what a release of the folder as it is would bring; `overlay` has its tree."""
    base = checkout_of(vault, desk)
    if base is None:
        return None
    step = Since(base.tree, found.items)
    return since_release(vault, desk, last_shared(vault, desk), found.tree, overlay, base.commit, step=step)


def totals_after(vault: Vault, desk: str, found: Changes) -> tuple[int, int]:
    """Return files and bytes of the folder as it is, from what it stands on and what changed."""
    base = checkout_of(vault, desk)
    files, size = desk_totals(vault.store, desk, base.tree) if base else (0, 0)
    for item in found.items:
        for entry, factor in ((item.before, -1), (item.after, 1)):
            if entry is not None and not entry.is_dir:
                files += factor
                size += factor * entry.size
    return files, size
