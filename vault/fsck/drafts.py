"""Drafts that stand on what is lost for good: revisions of mine that nobody else has, and of which a record is gone.

A lost record that was shared is a hole, and a friend or a place may fill it. One that was not is nowhere but in a
backup. So long as a line stands on it, none of its releases is whole at any friend, and where the folder stands on it
nothing can be told of it at all (APP-13). A person who has no backup asks once more for the repair: then such revisions
are let go of, and the folder keeps what it holds, as changes that are not committed. It is noted of which a report
told: a repair that was cut off told nobody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from vault.errors import DataError
from vault.folder.checked_out import Checkout, checkout_of, set_checkout
from vault.fsck.report import BadThing
from vault.notes.own import TOLD_DRAFTS
from vault.profile import Revision
from vault.records import RecordHash
from vault.revisions.graph import ancestors, newest
from vault.revisions.history import Head, as_head, commit_info, sealed_record
from vault.store import Store
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["let_go_of_drafts", "lost_drafts", "note_told", "told_of"]

_KIND = "line"
_LOST = (
    "Revision {0} of {1} was never shared, and what it is or stands on is lost. A backup of this vault may have that:"
    " there lace record export lace/commit > FILE, and here lace record put FILE. Without it: lace fsck --repair - the"
    " folder keeps what it holds, as changes that are not committed."
)
# What commits, my revisions and folders name, and is not here.
_GONE = """
SELECT parent FROM parent WHERE parent NOT IN (SELECT hash FROM commits)
UNION SELECT commit_hash FROM rev WHERE node = ?1 AND commit_hash NOT IN (SELECT hash FROM commits)
UNION SELECT commit_hash FROM checkout WHERE commit_hash NOT IN (SELECT hash FROM commits)"""
_WANTED = "SELECT want FROM hole UNION SELECT commit_hash FROM release"  # what somebody may have yet
# Of all revisions at once, since nearly always there is none.
_NONE_BEFORE = """
SELECT 1 FROM rev r JOIN link l USING (p) JOIN sym s ON s.id = l.data
WHERE r.node = ? AND s.s = 'prev' AND l.t NOT IN (SELECT hash FROM rev) LIMIT 1"""
_DESKS = "SELECT desk FROM rev WHERE node = ? UNION SELECT desk FROM checkout ORDER BY desk"
_SHARED = "SELECT ifnull(max(number), 0) FROM rev JOIN shared USING (p) WHERE node = ? AND desk = ?"
_DRAFTS = "SELECT number, hash, commit_hash FROM rev WHERE node = ? AND desk = ? AND number > ? ORDER BY number, hash"
_BELOW = "SELECT number, hash, commit_hash FROM rev WHERE node = ? AND desk = ? AND number < ? ORDER BY number DESC"
_LABELS = "SELECT hash FROM label WHERE rev = ?"


class _Broken(NamedTuple):
    """A line of mine of which revisions stand on what is lost.

    Args:
        desk: of the line.
        drafts: those revisions; none where only what the folder stands on is lost.
        number: the lowest of their numbers, or the one that the folder's had.
    """

    desk: str
    drafts: tuple[Head, ...]
    number: int


def lost_drafts(vault: Vault) -> list[BadThing]:
    """Name what of my lines was never shared and stands on what is lost; looks at views, which are whole."""
    store, lost = vault.store, _lost(vault)
    return [
        BadThing(_KIND, f"{one.desk}@{one.number}", "lost-draft", _LOST.format(one.number, one.desk))
        for one in _broken(store, vault.node.text, lost)
    ]


def told_of(vault: Vault, named: Collection[BadThing]) -> frozenset[str]:
    """Return what of the lost drafts that a check named the person was told before; none where that may have rotted."""
    found = {thing.name for thing in named if thing.kind == _KIND}
    if not found or any((thing.kind, thing.name) == ("local", "meta") for thing in named):
        return frozenset()
    before = vault.store.note(TOLD_DRAFTS)
    return frozenset(found.intersection(before))


def note_told(vault: Vault, told: Collection[BadThing]) -> None:
    """Note which lost drafts a report names, once it was shown.

    Raises:
        Locked, NotWritable, StoreUnwritable: it cannot be noted, and the next repair lets nothing go.
    """
    names = tuple(thing.name for thing in told if thing.kind == _KIND)
    if names != vault.store.note(TOLD_DRAFTS):
        with vault.writing(receiving=True) as w:
            w.store.set_note(TOLD_DRAFTS, names)


def let_go_of_drafts(vault: Vault, asked: Collection[str], watch: Watch) -> None:
    """Take revisions out that are lost drafts, as an undo does, and stand the folder on what is below.

    Args:
        vault: whose.
        asked: names of those of which the person was told, as `told_of` gives them.
        watch: for cancelling.

    Raises:
        Locked, StoreUnwritable: it cannot be written; nothing was changed.
        Cancelled: the person stopped it; nothing was changed.
    """
    if not asked:
        return
    with vault.writing(receiving=True) as w:
        w.store.set_note(TOLD_DRAFTS, ())  # their numbers are free for others
        store, me, lost = w.store, vault.node.text, _lost(vault)
        for one in _broken(store, me, lost):
            if f"{one.desk}@{one.number}" not in asked:
                continue
            base = checkout_of(vault, one.desk)
            if base is not None and _stands_on(store, base.commit, lost):
                below = _below(store, me, one, lost)
                if below is None:
                    store.run("DELETE FROM checkout WHERE desk = ?", one.desk)
                else:
                    named_too = [each.commit for each in one.drafts if store.position(each.commit) is not None]
                    parents = {parent for each in named_too for parent in commit_info(store, each).parents}
                    also = {each for each in (*parents, *base.also) if not _stands_on(store, each, lost)}
                    heads = newest(store, [below.commit, *also])
                    tree = commit_info(store, below.commit).tree
                    beside = tuple(each for each in heads if each != below.commit)
                    set_checkout(w, one.desk, Checkout(below.commit, tree, beside))
            for each in one.drafts:
                labels = (RecordHash.parse(str(text)) for (text,) in store.rows(_LABELS, each.rev.text))
                for record in (*labels, each.rev):
                    position = store.position(record)
                    if position is not None:
                        store.forget(position)
        # The numbers of names follow from all records in their order.
        store.rebuild(me, vault.founding, watch.cancelled)


def _lost(vault: Vault) -> set[str]:
    """Return the hash texts of commits that are not here, and that nobody else can have."""
    store = vault.store
    gone = {str(text) for (text,) in store.rows(_GONE, vault.node.text)}
    return gone - {str(text) for (text,) in store.rows(_WANTED)} if gone else gone


def _stands_on(store: Store, commit: RecordHash, lost: Collection[str]) -> bool:
    return bool(lost) and not ancestors(store, commit).isdisjoint(lost)


def _broken(store: Store, me: str, lost: Collection[str]) -> Iterator[_Broken]:
    if not lost and not store.rows(_NONE_BEFORE, me):
        return
    for (desk,) in store.rows(_DESKS, me):
        top = int(store.rows(_SHARED, me, desk)[0][0])
        drafts = [as_head(me, str(desk), row) for row in store.rows(_DRAFTS, me, desk, top)]
        found: dict[RecordHash, Head] = {}
        for one in drafts:
            prev = Revision.read(sealed_record(store.stored(one.rev) or b"")).prev
            if prev in found or _is_lost(store, prev) or _stands_on(store, one.commit, lost):
                found[one.rev] = one
        if found:
            yield _Broken(str(desk), tuple(found.values()), min(one.number for one in found.values()))
            continue
        row = store.rows("SELECT commit_hash FROM checkout WHERE desk = ?", desk)
        base = _commit_in(row)
        if base is not None and _stands_on(store, base, lost):  # its revision is lost as well
            yield _Broken(str(desk), (), (drafts[-1].number if drafts else top) + 1)


def _commit_in(row: list[tuple[object, ...]]) -> RecordHash | None:
    """Return the commit that a folder stands on; None also where that cannot be read, which is named by itself."""
    with suppress(DataError):
        return RecordHash.parse(str(row[0][0])) if row else None
    return None


def _is_lost(store: Store, record: RecordHash | None) -> bool:
    """Tell whether a record is not here, and nobody is known to have it."""
    if record is None or store.position(record) is not None:
        return False
    return not store.holes.among({record})


def _below(store: Store, me: str, one: _Broken, lost: Collection[str]) -> Head | None:
    """Return the newest revision below that is whole."""
    found = (as_head(me, one.desk, row) for row in store.rows(_BELOW, me, one.desk, one.number))
    return next((each for each in found if not _stands_on(store, each.commit, lost)), None)
