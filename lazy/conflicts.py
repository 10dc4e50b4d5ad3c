"""Conflicts: two kinds, both derived from records, never decided by lace (architecture, Deciding).

A *version conflict* is one desk and version released with different content, not settled by a resolution that counts
here. A *head conflict* is two heads that do not merge cleanly (`head_conflicts`); the decision on a version comes
first, and may take it in. Only when something was first seen, and which proposals I accepted, is local.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from blake3 import blake3

from lazy.conflict_sides import InCommon, in_line, release_side, with_words
from lazy.conflict_words import deciding_command, other_side
from lazy.contested import Conflict, ConflictKind, Proposal, Status, status_of, worded
from lazy.decided_above import is_undecided, with_ended
from lazy.head_conflicts import head_conflicts, is_asked_by, is_built_upon
from lazy.member_limits import counted
from lazy.overtaken import is_overtaken, later_states
from lazy.people import label_of
from vault.errors import CallerError
from vault.names import BadVersion, Version
from vault.records import RecordHash
from vault.revisions.graph import json_texts
from vault.revisions.history import ReleaseInfo, commit_info, releases, releases_of
from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from lazy.decisions import Decisions
    from vault.profile import Resolution

__all__ = [
    "NoSuchConflict",
    "conflict_named",
    "conflict_of",
    "conflicts",
    "is_still_open",
    "note_head_conflict",
    "note_version_conflicts",
]

_LEAST_ID = 4  # characters of an id that may stand for it
_RESULTS = """
SELECT DISTINCT result FROM resolution WHERE desk = ? AND version IN (SELECT value FROM json_each(?))"""


class NoSuchConflict(CallerError):
    """There is no such open conflict (LAZ-43)."""

    code = "no-such-conflict"
    exit_code = 2
    hint = "See the open ones with: lace conflicts"


def conflicts(vault: Vault, *, include_settled: bool = False) -> list[Conflict]:
    """Return the open conflicts, or all there ever were, in (desk, version, id) order."""
    found = _version_conflicts(vault)
    found += head_conflicts(vault, [c for c in found if c.is_open])
    return [c for c in found if include_settled or c.is_open]


def conflict_named(vault: Vault, text: str) -> Conflict:
    """Return the open conflict that an id, its beginning, or `[DESK@]VERSION` names.

    Raises:
        NoSuchConflict: none or several fit.
    """
    exact = _version_named(vault, text)
    if exact is not None and exact.is_open:
        return exact
    everything = conflicts(vault, include_settled=True)
    desk, _, version_text = text.rpartition("@")
    try:
        version = Version.parse(version_text)
    except BadVersion:
        version = None
    fitting = [
        c
        for c in everything
        if c.id == text
        or (len(text) >= _LEAST_ID and c.id.startswith(text))
        or (version is not None and c.version == version and desk in {"", c.desk})
    ]
    still_open = [c for c in fitting if c.is_open]
    if len(still_open) == 1:
        return still_open[0]
    if still_open:
        raise NoSuchConflict(f"Several open conflicts fit {text!r}.", hint="Name one by its id: lace conflicts")
    if fitting and (other := fitting[0].asked_with):
        way = deciding_command(vault, next(c for c in everything if c.id == other))
        raise NoSuchConflict(f"The conflict {text!r} is decided with {other} now.", hint=f"Decide that: {way}")
    if fitting:
        decided = fitting[0]
        raise NoSuchConflict(
            f"The conflict {text!r} is resolved already ({decided.status}), and a decision is not made twice.",
            hint=other_side(decided),
        )
    if text and any(c.id.startswith(text) for c in everything):
        raise NoSuchConflict(
            f"{text!r} is too short for the id of a conflict.", hint=f"Give {_LEAST_ID} characters of it or more."
        )
    raise NoSuchConflict(f"There is no conflict {text!r}.")


def conflict_of(vault: Vault, conflict_id: str) -> Conflict:
    """Return the conflict with exactly this id, settled or not.

    Raises:
        NoSuchConflict: there never was one.
    """
    if (exact := _version_named(vault, conflict_id)) is not None:
        return exact
    for conflict in conflicts(vault, include_settled=True):
        if conflict.id == conflict_id:
            return conflict
    raise NoSuchConflict(f"There is no conflict {conflict_id!r}.")


def is_still_open(vault: Vault, conflict_id: str) -> bool:
    """Tell whether the conflict with exactly this id is open; others are looked at only where they say so."""
    try:
        return conflict_of(vault, conflict_id).is_open
    except NoSuchConflict:  # what it was about was taken back since
        return False


def _version_named(vault: Vault, conflict_id: str) -> Conflict | None:
    """Return the version conflict with exactly this id; the others are looked at where decisions on it disagree."""
    for desk, version in _contested(vault):
        if _id(vault, desk, str(version)) == conflict_id:
            group = _released_as(vault, desk, version)
            found = _version_conflict(vault, desk, version, group, _lines(vault, desk, [group]))
            if not is_undecided(found):
                return found
            return next(one for one in _version_conflicts(vault) if one.id == conflict_id)
    return None


def note_version_conflicts(w: Writer, vault: Vault) -> list[str]:
    """Note when version conflicts were first seen; return the ids of new ones (LAZ-38)."""
    fresh = []
    for desk, version in _contested(vault):
        conflict_id = _id(vault, desk, str(version))
        seen = (conflict_id, desk, str(version), w.tai().text)
        row = w.store.run("INSERT OR IGNORE INTO conflict VALUES (?, ?, ?, ?, '', '')", *seen)
        if row.rowcount:
            fresh.append(conflict_id)
            w.audit("lace-conflict", f"{desk}@{version}", {"id": conflict_id})
    return fresh


def note_head_conflict(w: Writer, vault: Vault, desk: str, commits: list[RecordHash]) -> str:
    """Note that these foreign heads do not merge cleanly with mine; return the id of the conflict to decide.

    It is another one where heads that were built on all of these clash already, or where each side of a contested
    version was: who decides that decides both.
    """
    for found in conflicts(vault):
        if found.desk != desk:
            continue
        if found.kind is ConflictKind.HEAD and is_built_upon(vault, commits, _foreign(vault, found.id)):
            return found.id
        if found.kind is ConflictKind.VERSION and all(is_asked_by(vault, found, commit) for commit in commits):
            return found.id
    texts = sorted(commit.text for commit in commits)
    conflict_id = _id(vault, desk, *texts)
    row = w.store.run(
        "INSERT INTO conflict VALUES (?, ?, '', ?, '', ?) ON CONFLICT(id) DO UPDATE"
        " SET desk = excluded.desk, version = '', heads = excluded.heads"
        " WHERE (desk, version, heads) <> (excluded.desk, '', excluded.heads)",  # where it rotted (APP-13)
        conflict_id,
        desk,
        w.tai().text,
        " ".join(texts),
    )
    if row.rowcount:
        w.audit("lace-conflict", desk, {"id": conflict_id}, relates_to=texts)
    return conflict_id


def _foreign(vault: Vault, conflict_id: str) -> list[RecordHash]:
    """Return the heads that a noted conflict is about."""
    rows = vault.store.rows("SELECT heads FROM conflict WHERE id = ?", conflict_id)
    return [RecordHash.parse(text) for (heads,) in rows for text in str(heads).split()]


def _id(vault: Vault, *parts: str) -> str:
    text = "\n".join(("lace-conflict/v1", vault.group, *parts))
    return blake3(text.encode()).hexdigest()[:12]


def _contested(vault: Vault) -> list[tuple[str, Version]]:
    """Return every (desk, version) that visible releases give different content, sorted (H-17)."""
    # Few versions have several releases: the index alone tells which, and of these only is the content asked.
    rows = vault.store.rows(
        "SELECT desk, version FROM (SELECT desk, version FROM release GROUP BY desk, version HAVING count(*) > 1) s"
        " WHERE (SELECT count(DISTINCT sha512) FROM release r WHERE r.desk = s.desk AND r.version = s.version"
        " AND visible = 1) > 1"
    )
    return sorted((str(desk), Version.parse(str(version))) for desk, version in rows)  # as text, 2.10.0 is below 2.9.0


def _released_as(vault: Vault, desk: str, version: Version) -> list[ReleaseInfo]:
    """Return the releases of a contested version that count."""
    return counted(releases(vault.store, desk, version=version))


class _Lines(NamedTuple):
    """What decisions on a desk's versions are measured by, as hash texts of their sides and results.

    Args:
        line: those in my line.
        mine: the same, and those in what my next commit will name beside it.
        later: as `later_states`.
        in_common: what the sides were built upon.
    """

    line: set[str]
    mine: set[str]
    later: list[set[str]]
    in_common: InCommon


def _lines(vault: Vault, desk: str, groups: Sequence[Sequence[ReleaseInfo]]) -> _Lines:
    sides = {release.commit for group in groups for release in group}
    versions = json_texts({str(release.version) for group in groups for release in group})
    results = vault.store.rows(_RESULTS, desk, versions)
    asked = {*(side.text for side in sides), *(str(result) for (result,) in results)}
    line, mine = in_line(vault, desk, asked)
    return _Lines(line, mine, later_states(vault, desk, mine, asked), InCommon(vault.store, desk, sides))


def _version_conflicts(vault: Vault) -> list[Conflict]:
    """Return all contested versions, settled or not, each judged once, in (desk, version) order."""
    contested = [(desk, version, _released_as(vault, desk, version)) for desk, version in _contested(vault)]
    groups: dict[str, list[list[ReleaseInfo]]] = {}
    for desk, _, group in contested:
        groups.setdefault(desk, []).append(group)
    lines = {desk: _lines(vault, desk, of_desk) for desk, of_desk in groups.items()}
    found = [_version_conflict(vault, desk, version, group, lines[desk]) for desk, version, group in contested]
    return with_ended(vault.store, found, {desk: measure.mine for desk, measure in lines.items()})


class _Weighed(NamedTuple):
    """What decisions on a contested version come to here.

    Args:
        decided: the last of those that count: mine, those I accepted, and those that my line was built on.
        contents: their trees; where they are one, the version is decided.
        proposals: the last decisions of friends that come to something else.
    """

    decided: list[Resolution]
    contents: set[RecordHash]
    proposals: tuple[Proposal, ...]


def _weighed(vault: Vault, known: Decisions, accepted: str, mine: set[str]) -> _Weighed:
    counting = [
        r for r in known.found if r.signer == vault.node or r.hash.text in accepted.split() or r.result.text in mine
    ]
    decided = known.last(counting)
    contents = {commit_info(vault.store, r.result).tree for r in decided}
    hashes = {r.hash for r in counting}
    proposals = worded(
        Proposal(
            resolution=r.hash,
            node=r.signer.text,
            name=label_of(vault, r.signer.text),
            result=r.result,
            content=tree,
            chosen=r.chosen,
            release=r.release,
            version=_version(vault, r),
        )
        for r in known.last(known.found)
        if r.signer is not None and r.hash not in hashes
        for tree in (commit_info(vault.store, r.result).tree,)
        if tree not in contents
    )
    return _Weighed(decided, contents, proposals)


def _version(vault: Vault, resolution: Resolution) -> Version | None:
    """Return under which version the merge of a resolution is released; None where that is not here."""
    found = releases_of(vault.store, [resolution.result]) if resolution.release is not None else ()
    return next((one.version for one in found if one.hash == resolution.release), None)


def _version_conflict(vault: Vault, desk: str, version: Version, group: list[ReleaseInfo], lines: _Lines) -> Conflict:
    """Return one contested version, as if a decision on another one said nothing of it (`with_ended`)."""
    conflict_id = _id(vault, desk, str(version))
    row = vault.store.rows("SELECT detected, accepted FROM conflict WHERE id = ?", conflict_id)
    detected, accepted = (str(row[0][0]), str(row[0][1])) if row else ("", "")
    from lazy.decisions import decisions  # most versions were released once

    known = decisions(vault, desk, version, group)
    sides = with_words(vault, [release_side(vault, release) for release in group], lines.line)
    decided, contents, proposals = _weighed(vault, known, accepted, lines.mine)
    status = Status.PENDING
    if len(contents) == 1 and not proposals:
        status = status_of(sides, decided[0].chosen, vault.node.text)
        decided = known.last([*decided, *known.agreeing(decided)])
    commits = [release.commit for release in group]
    return Conflict(
        id=conflict_id,
        kind=ConflictKind.VERSION,
        desk=desk,
        version=version,
        sides=sides,
        in_common=lines.in_common.of(commits),
        detected=detected,
        status=status,
        proposals=proposals,
        results=tuple(r.result for r in decided),
        is_overtaken=is_overtaken(lines.later, commits, [r.result for r in known.found]),
    )
