"""Questions about lines, commits and releases, answered from the views (architecture, section 2).

Nothing here reads a clock to decide anything: order is the commit graph, then Lamport, then node (H-26).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, Final, NamedTuple

from vault import profile
from vault.desk_folders import MAIN
from vault.desks.diff import Change, diff_trees
from vault.desks.differences import differences
from vault.errors import DataError, LaceError
from vault.names import Version
from vault.notes.own import NODE
from vault.notes.revisions import CROSSED
from vault.records import RecordHash, Seal
from vault.revisions.graph import ancestors, is_ancestor, json_array, json_texts, merge_bases, nearest_below
from vault.store import Store
from vault.vault import Vault

__all__ = [
    "CommitInfo",
    "Head",
    "Relation",
    "ReleaseInfo",
    "ReleasesShown",
    "as_head",
    "changes_of",
    "commit_info",
    "commit_time",
    "has_desk",
    "is_first",
    "last_shared",
    "line_head",
    "relation",
    "releases",
    "releases_of",
    "releases_shown",
    "releases_since",
    "revision",
    "revision_of",
    "revisions",
    "revisions_of",
    "sealed_record",
    "shared_before",
    "shown_version",
    "unreleased",
]


# The end of what is whole of a line, from its first revision on.
_BEFORE_GAP: Final = """
SELECT min(number) FROM rev r WHERE node = ?1 AND desk = ?2
AND EXISTS (SELECT 1 FROM rev n WHERE n.node = ?1 AND n.desk = ?2 AND n.number = 1)
AND NOT EXISTS (SELECT 1 FROM rev n WHERE n.node = ?1 AND n.desk = ?2 AND n.number = r.number + 1)"""


class CommitMissing(DataError):
    """A commit that something names is not in this vault."""

    code = "commit-missing"
    exit_code = 42
    hint = "Sync with a friend who has it, then try again. Whether it is lost for good: lace fsck"


class Relation(StrEnum):
    """How my head stands to another (architecture, One folder)."""

    SAME = "same"
    AHEAD = "ahead"
    BEHIND = "behind"
    MERGEABLE = "mergeable"
    CONFLICTING = "conflicting"
    UNRELATED = "unrelated"


class Head(NamedTuple):
    """The newest revision of one node's line of a desk."""

    node: str
    desk: str
    number: int
    rev: RecordHash
    commit: RecordHash


class CommitInfo(NamedTuple):
    """One commit: its root tree, parents (sorted by hash text), signer, time for display, message."""

    hash: RecordHash
    desk: str
    tree: RecordHash
    parents: tuple[RecordHash, ...]
    signer: str
    tai: str
    message: str


class ReleaseInfo(NamedTuple):
    """One visible release."""

    hash: RecordHash
    node: str
    desk: str
    version: Version
    commit: RecordHash
    content_sha512: str
    tai: str
    seq: int
    lamport: int


class ReleasesShown(NamedTuple):
    """Which releases are visible at one moment, told by the few that are not (`releases_since`).

    Args:
        top: the last position of a release.
        aside: positions up to it of those that are not visible and may become so.
    """

    top: int
    aside: frozenset[int]


def line_head(store: Store, node: str, desk: str) -> Head | None:
    """Return the newest revision of a node's line, or None when the line is empty (H-24).

    A friend's line ends where its numbers have a gap: they are whatever its owner sealed (CLAY-6).
    """
    return store.answer(("head", node, desk), lambda: _line_head(store, node, desk))


def _line_head(store: Store, node: str, desk: str) -> Head | None:
    row = store.rows(
        "SELECT number, hash, commit_hash FROM rev WHERE node = ?1 AND desk = ?2"
        " AND number = (SELECT max(number) FROM rev WHERE node = ?1 AND desk = ?2) ORDER BY hash LIMIT 1",
        node,
        desk,
    )
    if not row or node == store.note(NODE):
        return as_head(node, desk, row[0]) if row else None
    numbers = store.rows("SELECT count(DISTINCT number) FROM rev WHERE node = ? AND desk = ?", node, desk)
    if numbers == [(row[0][0],)]:
        return as_head(node, desk, row[0])
    last = store.rows(_BEFORE_GAP, node, desk)[0][0]
    return revision(store, node, desk, int(last)) if last else None


def revision(store: Store, node: str, desk: str, number: int) -> Head | None:
    """Return revision `number` of a node's line, or None; of several the first by hash."""
    return next(iter(revisions(store, node, desk, number)), None)


def revisions(store: Store, node: str, desk: str, number: int) -> list[Head]:
    """Return what has a number in a node's line, by hash: more than one where a restored backup was worked in."""
    query = "SELECT number, hash, commit_hash FROM rev WHERE node = ? AND desk = ? AND number = ? ORDER BY hash"
    return [as_head(node, desk, row) for row in store.rows(query, node, desk, number)]


def revision_of(store: Store, node: str, desk: str, commit: RecordHash) -> Head | None:
    """Return the first revision of a node's line that is a commit, or None."""
    query = "SELECT number, hash, commit_hash FROM rev WHERE node = ? AND desk = ? AND commit_hash = ? ORDER BY number"
    row = store.rows(query, node, desk, commit.text)
    return as_head(node, desk, row[0]) if row else None


def revisions_of(store: Store, commit: RecordHash) -> list[Head]:
    """Return each revision that is a commit, of whoever's line, by node, desk and number."""
    query = "SELECT node, desk, number, hash, commit_hash FROM rev WHERE commit_hash = ? ORDER BY node, desk, number"
    return [as_head(str(node), str(desk), row) for node, desk, *row in store.rows(query, commit.text)]


def has_desk(store: Store, desk: str) -> bool:
    """Tell whether anybody has a revision or a release of a desk of that name, as far as is known here."""
    query = "SELECT 1 FROM rev WHERE desk = ?1 UNION ALL SELECT 1 FROM release WHERE desk = ?1 LIMIT 1"
    return bool(store.rows(query, desk))


def as_head(node: str, desk: str, row: Sequence[Any]) -> Head:
    """Return a row of number, hash and commit hash as the revision of a line."""
    number, rev, commit = row
    return Head(node, desk, int(number), RecordHash.parse(str(rev)), RecordHash.parse(str(commit)))


def commit_info(store: Store, commit: RecordHash) -> CommitInfo:
    """Return one commit.

    Raises:
        CommitMissing: it is not here.
    """
    stored = store.stored(commit)
    if stored is None:
        raise CommitMissing(f"Commit {commit} is not in this vault.")
    value = profile.Commit.read(sealed_record(stored))
    return CommitInfo(commit, value.desk, value.tree, value.parents, value.signer.text, value.tai.text, value.message)


def commit_time(store: Store, commit: RecordHash) -> str:
    """Return the TAI text of one commit, for the next one to be later.

    Raises:
        CommitMissing: it is not here.
    """
    row = store.rows("SELECT tai FROM commits WHERE hash = ?", commit.text)
    return str(row[0][0]) if row else commit_info(store, commit).tai


def sealed_record(stored: bytes) -> Seal:
    """Return a stored sealed record that was verified when it came in.

    Raises:
        CommitMissing: it is not sealed.
    """
    from vault.records.parse import parse_record  # a commit reads no record back

    record = parse_record(stored, verify=False)
    if not isinstance(record, Seal):
        raise CommitMissing(f"The record {record.hash} is not sealed.")
    return record


def changes_of(store: Store, release: ReleaseInfo, *, limit: int | None = None) -> Sequence[Change]:
    """Return what a release changes against what was released before; for a merge, against the nearest side.

    What was committed in between may have the same tree as the release, and so seem to be here; and a commit that was
    released before, under another version or by somebody else, changes nothing. At most `limit` paths are looked at.
    A tree that did not come whole gives none: this is for people to read.
    """
    commit = release.commit
    if any(first.hash != release.hash for first in releases_of(store, [commit], release.desk)[:1]):
        return ()
    tree = commit_info(store, commit).tree
    before = nearest_below(store, commit, released=True)
    sides: list[RecordHash | None] = [commit_info(store, base).tree for base in before]
    try:
        found = [_differing(store, side, tree, limit) for side in sides or [None]]
    except LaceError:
        return ()
    return min(found, key=len)


def _differing(store: Store, before: RecordHash | None, after: RecordHash, limit: int | None) -> Sequence[Change]:
    if limit is None:
        return differences(store, before, after)
    return tuple(islice(diff_trees(store, before, after), limit))


def relation(store: Store, ours: RecordHash | None, theirs: RecordHash) -> Relation:
    """Return how my head stands to another, as far as the graph tells; MERGEABLE means: try.

    `CONFLICTING` is only known after a merge was tried (`lazy.folder.merge_analysis`).

    Raises:
        CommitMissing: one of the two is not here.
    """
    if ours is None:
        return Relation.BEHIND
    mine, other = commit_info(store, ours), commit_info(store, theirs)
    if ours == theirs or mine.tree == other.tree:
        return Relation.SAME
    if is_ancestor(store, theirs, ours):
        return Relation.AHEAD
    if is_ancestor(store, ours, theirs):
        return Relation.BEHIND
    return Relation.MERGEABLE if merge_bases(store, ours, theirs).commits else Relation.UNRELATED


def releases(
    store: Store, desk: str | None = None, *, version: Version | None = None, node: str | None = None
) -> list[ReleaseInfo]:
    """Return visible releases in (Lamport, node) order, optionally of one desk, version or node.

    Of a node that is named, also what it released after it was cut: that counts nowhere and stays readable.
    """
    given = {"desk": desk, "version": str(version) if version else None, "node": node}
    asked = {name: value for name, value in given.items() if value is not None}
    also = "".join(f" AND {name} = ?" for name in asked)  # only what is asked, so that an index can answer
    shown = "visible = 1" if node is None else "visible IN (1, 2)"
    return _found(store, shown + also, *asked.values())


def releases_of(store: Store, commits: Collection[RecordHash], desk: str | None = None) -> list[ReleaseInfo]:
    """Return the visible releases of certain commits, as `releases`; the others are not looked at."""
    # The plus keeps the desk's own index out: it would go through every release of the desk.
    of_them = "visible = 1 AND commit_hash IN (SELECT value FROM json_each(?1)) AND ifnull(+desk = ?2, 1)"
    return _found(store, of_them, json_texts(commit.text for commit in commits), desk)


def releases_shown(store: Store) -> ReleasesShown:
    """Return which releases are visible now, for `releases_since`."""
    top = int(store.rows("SELECT ifnull(max(p), 0) FROM release")[0][0])
    # Hidden, or of a node that was cut, which may belong again; what is not what it says never becomes visible.
    aside = store.rows("SELECT p FROM release WHERE visible = 0 UNION ALL SELECT p FROM release WHERE visible = 2")
    return ReleasesShown(top, frozenset(int(p) for (p,) in aside))


def releases_since(store: Store, before: ReleasesShown) -> list[ReleaseInfo]:
    """Return the releases that are visible and were not before, as `releases`."""
    aside = json_array(map(str, sorted(before.aside)))
    newly = "visible = 1 AND (p > ? OR p IN (SELECT value FROM json_each(?)))"
    return _found(store, newly, before.top, aside)


def _found(store: Store, condition: str, *values: object) -> list[ReleaseInfo]:
    columns = "hash, node, desk, version, commit_hash, sha512, tai, ifnull(seq, 0), ifnull(lamport, 0)"
    query = f"SELECT {columns} FROM release WHERE {condition} ORDER BY lamport, node, hash"  # noqa: S608 - ours
    rows = store.rows(query, *values)
    return [
        ReleaseInfo(
            hash=RecordHash.parse(str(r[0])),
            node=str(r[1]),
            desk=str(r[2]),
            version=Version.parse(str(r[3])),
            commit=RecordHash.parse(str(r[4])),
            content_sha512=str(r[5]),
            tai=str(r[6]),
            seq=int(r[7]),
            lamport=int(r[8]),
        )
        for r in rows
    ]


def _has_released(store: Store, desk: str, node: str) -> bool:
    """Tell whether a node has a visible release of a desk."""
    return bool(store.rows("SELECT 1 FROM release WHERE desk = ? AND node = ? AND visible = 1 LIMIT 1", desk, node))


# My own line


# Of my revisions, those whose commit anybody released, or that settled a conflict.
_SHARED: Final = """node = ?1 AND desk = ?2
 AND (EXISTS (SELECT 1 FROM release WHERE commit_hash = r.commit_hash AND visible <> 2)
 OR EXISTS (SELECT 1 FROM resolution WHERE result = r.commit_hash))"""
_LATER: Final = f"""SELECT count(*) FROM rev WHERE node = ?1 AND desk = ?2 AND number > ifnull((
 SELECT number FROM rev r WHERE {_SHARED} ORDER BY number DESC LIMIT 1), 0)"""  # noqa: S608 - ours
# Where two have one number, numbers do not tell what is contained in what.
_OUTSIDE: Final = f"""WITH RECURSIVE known(h) AS (SELECT commit_hash FROM rev r WHERE {_SHARED}
 UNION SELECT parent FROM parent JOIN known ON child = h)
 SELECT count(DISTINCT commit_hash) FROM rev WHERE node = ?1 AND desk = ?2
 AND commit_hash NOT IN (SELECT h FROM known)"""  # noqa: S608 - ours


def unreleased(vault: Vault, desk: str = MAIN) -> int:
    """Count my revisions after the last one that anybody released (advisory for friends, H-30).

    A release that counts for nobody releases nothing: after the cut of my old node it is released anew by the next.
    """
    query = _OUTSIDE if vault.store.note(CROSSED, desk) else _LATER
    return int(vault.store.rows(query, vault.node.text, desk)[0][0])


def last_shared(vault: Vault, desk: str = MAIN) -> RecordHash | None:
    """Return the last commit of my line that anybody released, or that settled a conflict; None where none was."""
    last = f"SELECT max(number), commit_hash FROM rev r WHERE {_SHARED}"  # noqa: S608 - ours
    base = vault.store.rows(last, vault.node.text, desk)[0][1]
    return None if base is None else RecordHash.parse(str(base))


def shared_before(vault: Vault, desk: str, commit: RecordHash) -> int | None:
    """Return the number of the last revision of my line before a commit of it that was shared as `last_shared` is.

    None where the commit is none of my line, and where none before it was.
    """
    head = revision_of(vault.store, vault.node.text, desk, commit)
    if head is None:
        return None
    last = f"SELECT max(number) FROM rev r WHERE {_SHARED} AND number < ?3"  # noqa: S608 - ours
    number = vault.store.rows(last, vault.node.text, desk, head.number)[0][0]
    return None if number is None else int(number)


def is_first(vault: Vault, desk: str, commit: RecordHash) -> bool:
    """Tell whether all of a commit would be new to friends: I released nothing, and nothing released is below it."""
    store = vault.store
    if _has_released(store, desk, vault.node.text):
        return False
    below = ancestors(store, commit)
    return not any(text in below for (text,) in store.rows("SELECT commit_hash FROM release WHERE desk = ?", desk))


def shown_version(vault: Vault, desk: str = MAIN) -> str:
    """Return where my line of a desk stands, for people: `1.2.0`, `1.2.0+3` three commits later, or `unversioned`.

    The version is that of the last commit of my line that anybody released, or that settled a conflict (CYB-7).
    """
    base = last_shared(vault, desk)
    if base is None:
        return "unversioned"
    found = vault.store.rows(
        "SELECT version FROM release WHERE commit_hash = ?1 UNION SELECT version FROM resolution WHERE result = ?1",
        base.text,
    )
    version, later = max(Version.parse(str(row[0])) for row in found), unreleased(vault, desk)
    return f"{version}+{later}" if later else str(version)
