"""Where my line and my folder diverged: it holds what the folder does not, as after a backup was restored (LAZ-65).

A commit stands on what the folder stands on, and has the next number of my line. So long as the folder does not contain
the line, a release would leave out what I had released before, and friends who had not taken that would never get it.
"""

from __future__ import annotations

from collections.abc import Collection

from vault.commands import as_typed
from vault.desk_folders import MAIN
from vault.errors import CallerError
from vault.folder.checked_out import checkout_of, contained
from vault.notes.revisions import CROSSED, DOUBLED, PARTED
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor, newest, tree_is_here
from vault.revisions.history import Head, ReleaseInfo, line_head, revisions
from vault.store import Store
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["OwnWorkApart", "apart", "apart_here", "away", "check_apart", "note_doubled", "note_left_behind"]
__all__ += ["note_parted", "one_below", "parted", "refuse_apart"]

# From the number below the head, or from the first that two revisions have: a backup that was worked in.
_LINE = "SELECT DISTINCT commit_hash FROM rev WHERE node = ? AND desk = ? AND number >= ?"
_GAP_BELOW = """SELECT 1 FROM rev WHERE node = ? AND desk = ? AND number = ?
    AND NOT EXISTS (SELECT 1 FROM parent WHERE child = ? AND parent = commit_hash)"""
_FIRST_DOUBLED = """SELECT number FROM rev WHERE node = ? AND desk = ? GROUP BY number HAVING count(*) > 1
    ORDER BY number LIMIT 1"""
_VERSION = "SELECT version FROM release WHERE commit_hash = ? AND node = ? ORDER BY seq LIMIT 1"
_NUMBER = "SELECT 'revision ' || number FROM rev WHERE commit_hash = ? AND node = ? AND desk = ? ORDER BY number"
_MINE_CAME = "SELECT DISTINCT desk FROM rev WHERE node = ? AND p > ?"
_BEFORE = """SELECT commit_hash FROM release WHERE node = ? AND desk = ? AND visible = 1 AND seq < ?
    ORDER BY seq DESC LIMIT 1"""
_RELEASED = "SELECT commit_hash FROM release WHERE node = ? AND desk = ? AND visible = 1 ORDER BY seq DESC LIMIT 1"


class OwnWorkApart(CallerError):
    """My line of a desk holds work of mine that its folder does not have: it was restored, or a copy went on."""

    code = "own-work-apart"
    exit_code = 2
    hint = "Bring that into it first: lace update - what you changed here is kept. Then run the same again."


def apart(vault: Vault, desk: str = MAIN) -> list[RecordHash]:
    """Return the newest commits of my line that my folder does not contain, sorted by hash text; mostly none."""
    store, me = vault.store, vault.node.text
    head = line_head(store, me, desk)
    if head is None:
        return []
    base = checkout_of(vault, desk)
    has = contained(base)
    doubled = store.note(DOUBLED, desk)
    is_one_line = doubled is None and me not in parted(store, desk)
    if is_one_line and head.commit in has and not store.rows(_GAP_BELOW, me, desk, head.number - 1, head.commit.text):
        return []  # each revision contains the one before, so the head contains all
    rows = [
        *store.rows(_LINE, me, desk, head.number - 1 if doubled is None else doubled),
        *store.rows(_RELEASED, me, desk),
    ]
    mine = newest(store, {RecordHash.parse(str(text)) for (text,) in rows})
    return [one for one in mine if not is_ancestor(store, one, *has)]


def apart_here(vault: Vault, desk: str = MAIN) -> list[RecordHash]:
    """Return those of `apart` whose content is here: an update brings them in."""
    return [one for one in apart(vault, desk) if tree_is_here(vault.store, one)]


def away(vault: Vault, desk: str = MAIN) -> str:
    """Return in words what is `apart` while its content is not here, by versions or numbers; mostly nothing."""
    store, me = vault.store, vault.node.text
    named = []
    for one in apart(vault, desk):
        if not tree_is_here(store, one):
            found = store.rows(_VERSION, one.text, me) or store.rows(_NUMBER, one.text, me, desk)
            named.append(f"{desk} {found[0][0]}" if found else desk)
    return ", ".join(named)


def check_apart(vault: Vault, desk: str, *, is_unshared: bool = False) -> bool:
    """Refuse to lengthen my line on a folder that does not contain it; tell whether it contains all.

    Args:
        vault: whose line.
        desk: of the line.
        is_unshared: whether what comes stays here until a release: it goes on without what no update can bring in yet.

    Raises:
        OwnWorkApart: it does not.
    """
    if not (found := apart(vault, desk)):
        return True
    command = "lace update" if desk == MAIN else as_typed("update", desk)
    if any(tree_is_here(vault.store, one) for one in found):
        raise OwnWorkApart(
            f"You committed more in {desk} than its folder holds: it was restored, or a copy of it went on.",
            hint=f"Bring that into it first: {command} - it commits what you changed here before. Then run the same"
            " again. Where both changed the same, that is a conflict to decide first: lace conflicts",
        )
    if not is_unshared:
        raise OwnWorkApart(
            f"You released more than the folder of {desk} holds, and its content is not here: {away(vault, desk)}.",
            hint=f"Fetch it: lace sync --all - then: {command} - lace commit keeps your work meanwhile. Only if nobody"
            " has it any more: lace adopt - this folder goes on without it, under a new key.",
        )
    return False


def refuse_apart(w: Writer, vault: Vault, desk: str, *, is_unshared: bool = False) -> None:
    """Do as `check_apart` inside a write that lengthens the line: what comes now contains all that was looked at."""
    if not check_apart(vault, desk, is_unshared=is_unshared):
        return
    if w.store.has_note(DOUBLED, desk):
        w.store.drop_note(DOUBLED, desk)
    if not is_unshared and w.store.note(CROSSED, desk):
        w.store.set_note(CROSSED, value=False, about=desk)


def note_left_behind(w: Writer, desk: str, head: Head, heads: Collection[RecordHash]) -> None:
    """Note that a line goes on without its head: what was uncommitted is saved before an update brings that head in.

    Args:
        w: the write that lengthens the line.
        desk: of the line.
        head: its newest revision till now.
        heads: what the new revision stands on and is.
    """
    if head.commit not in heads and not is_ancestor(w.store, head.commit, *heads):
        known = w.store.note(DOUBLED, desk)
        _note(w, desk, head.number if known is None else min(known, head.number))


def note_doubled(w: Writer, me: str, after: int) -> None:
    """Note which numbers of my lines two revisions have, where revisions of mine may have come back (LAZ-65).

    Args:
        w: the write that took records in.
        me: whose lines.
        after: a position before the first of them.
    """
    for (desk,) in w.store.rows(_MINE_CAME, me, after):
        for (number,) in w.store.rows(_FIRST_DOUBLED, me, desk):
            _note(w, desk, int(number))


def _note(w: Writer, desk: str, number: int) -> None:
    w.store.set_note(DOUBLED, number, desk)
    w.store.set_note(CROSSED, value=True, about=desk)


def one_below(vault: Vault, head: Head) -> Head | None:
    """Return the newest revision that the head of my line was made on, or None: it may not contain the one before."""
    for number in range(head.number - 1, 0, -1):
        for one in revisions(vault.store, head.node, head.desk, number):
            if is_ancestor(vault.store, one.commit, head.commit):
                return one
    return None


# Others' lines


def parted(store: Store, desk: str) -> tuple[str, ...]:
    """Return the nodes of which a later release of a desk is known not to contain an earlier one, sorted."""
    return store.note(PARTED, desk)


def note_parted(w: Writer, came: Collection[ReleaseInfo]) -> None:
    """Note whose releases, of those that are visible from now, do not contain the one before (LAZ-64).

    An earlier version went on from a restored folder without what its owner had released before.
    """
    for node, desk in sorted({(release.node, release.desk) for release in came}):
        new = [release for release in came if (release.node, release.desk) == (node, desk)]
        rows = w.store.rows(_BEFORE, node, desk, min(release.seq for release in new))
        commits = {*(release.commit for release in new), *(RecordHash.parse(str(text)) for (text,) in rows)}
        known = parted(w.store, desk)
        if node not in known and len(newest(w.store, commits)) > 1:
            w.store.set_note(PARTED, tuple(sorted([*known, node])), desk)
