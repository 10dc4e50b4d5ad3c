"""Conflicts: two kinds, both derived from records, never decided by lace (architecture, Deciding).

A *version conflict* is one desk and version released with different content, not settled by a resolution that counts
here. A *head conflict* is two heads that do not merge cleanly; it is noted when an update meets it and ends when my
line, or what my next commit will name beside it, contains both, or when the log of who sealed one of them ends before
it by a revocation. While a version is contested of which such a head is a side, or that all sides hold, nobody is asked
about the head: that decision comes first, and may take it in. Only when something was first seen, and which proposals I
accepted, is local.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from blake3 import blake3

from lazy.conflict_words import deciding_command, other_side
from lazy.contested import Conflict, ConflictKind, Proposal, Side, Status, worded
from lazy.decisions import agreeing, effective, resolutions
from lazy.overtaken import is_overtaken, later_states
from lazy.people import label_of, linked
from vault.errors import CallerError
from vault.folder.work import checkout_of
from vault.names import SIDE_WORDS, BadVersion, Version
from vault.profile import Resolution
from vault.records import RecordHash
from vault.revisions.graph import ancestors, is_ancestor, newest
from vault.revisions.history import ReleaseInfo, commit_info, releases, releases_of
from vault.store import Store
from vault.vault import Vault
from vault.writer import Writer

__all__ = [
    "NoSuchConflict",
    "conflict_named",
    "conflict_of",
    "conflicts",
    "note_head_conflict",
    "note_version_conflicts",
]

_LEAST_ID = 4  # characters of an id that may stand for it
_CUT_OFF = (
    "SELECT c.signer FROM commits c JOIN former f ON f.node = c.signer"
    " WHERE c.hash = ? AND NOT EXISTS (SELECT 1 FROM shared s WHERE s.p = c.p)"
)


class NoSuchConflict(CallerError):
    """There is no such open conflict (LAZ-43)."""

    code = "no-such-conflict"
    exit_code = 2
    hint = "See the open ones with: lace conflicts"


def conflicts(vault: Vault, *, include_settled: bool = False) -> list[Conflict]:
    """Return the open conflicts, or all there ever were, in (desk, version, id) order."""
    contested = _contested(vault)
    lines = {desk: _lines(vault, desk) for desk in {desk for desk, _, _ in contested}}
    found = [_version_conflict(vault, desk, version, group, lines[desk]) for desk, version, group in contested]
    found += _head_conflicts(vault, [c for c in found if c.is_open])
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


def _version_named(vault: Vault, conflict_id: str) -> Conflict | None:
    """Return the version conflict with exactly this id, settled or not; the others are not looked at."""
    for desk, version, group in _contested(vault):
        if _id(vault, desk, str(version)) == conflict_id:
            return _version_conflict(vault, desk, version, group, _lines(vault, desk))
    return None


def note_version_conflicts(w: Writer, vault: Vault) -> list[str]:
    """Note when version conflicts were first seen; return the ids of new ones (LAZ-38)."""
    fresh = []
    for desk, version, _ in _contested(vault):
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
        if found.kind is ConflictKind.HEAD and _is_built_upon(vault, commits, _foreign(vault, found.id)):
            return found.id
        if found.kind is ConflictKind.VERSION and all(_is_asked_by(vault, found, commit) for commit in commits):
            return found.id
    texts = sorted(commit.text for commit in commits)
    conflict_id = _id(vault, desk, *texts)
    row = w.store.run(
        "INSERT OR IGNORE INTO conflict VALUES (?, ?, '', ?, '', ?)",
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


def _contested(vault: Vault) -> list[tuple[str, Version, list[ReleaseInfo]]]:
    """Return every (desk, version) that visible releases give different content (H-17)."""
    # Few versions have several releases: the index alone tells which, and of these only is the content asked.
    rows = vault.store.rows(
        "SELECT desk, version FROM (SELECT desk, version FROM release GROUP BY desk, version HAVING count(*) > 1) s"
        " WHERE (SELECT count(DISTINCT sha512) FROM release r WHERE r.desk = s.desk AND r.version = s.version"
        " AND visible = 1) > 1"
    )
    found = sorted((str(desk), Version.parse(str(version))) for desk, version in rows)  # as text, 2.10.0 is below 2.9.0
    return [(desk, version, releases(vault.store, desk, version=version)) for desk, version in found]


class _Lines(NamedTuple):
    """What decisions on a desk's versions are measured by, as hash texts.

    Args:
        line: commits of my line.
        mine: the same, and what my next commit will name beside it.
        later: as `later_states`.
    """

    line: set[str]
    mine: set[str]
    later: list[set[str]]


def _lines(vault: Vault, desk: str) -> _Lines:
    line = _line(vault, desk)
    mine = line | _also(vault, desk)
    return _Lines(line, mine, later_states(vault, desk, mine))


def _version_conflict(vault: Vault, desk: str, version: Version, group: list[ReleaseInfo], lines: _Lines) -> Conflict:
    conflict_id = _id(vault, desk, str(version))
    row = vault.store.rows("SELECT detected, accepted FROM conflict WHERE id = ?", conflict_id)
    detected, accepted = (str(row[0][0]), str(row[0][1])) if row else ("", "")
    found = resolutions(vault, desk, version, {release.hash.text for release in group})
    sides = _worded(vault, [_release_side(vault, release) for release in group], lines.line)
    counting = [
        r
        for r in found
        if r.signer is not None
        and (r.signer == vault.node or r.hash.text in accepted.split() or r.result.text in lines.mine)
    ]
    decided = effective(vault, counting)
    contents = {commit_info(vault.store, r.result).tree for r in decided}
    settled = len(contents) == 1
    counting_hashes = {r.hash for r in counting}
    newest_results = {r.hash for r in effective(vault, found)}
    proposals = worded(
        Proposal(r.hash, r.signer.text, label_of(vault, r.signer.text), r.result, tree, r.chosen, r.release)
        for r in found
        for tree in (commit_info(vault.store, r.result).tree,)
        if r.signer is not None and r.hash not in counting_hashes and r.hash in newest_results and tree not in contents
    )
    status = Status.PENDING
    if settled and not proposals:
        status = _status(vault, decided[0], group)
        decided = effective(vault, [*decided, *agreeing(vault, decided, found)])
    return Conflict(
        id=conflict_id,
        kind=ConflictKind.VERSION,
        desk=desk,
        version=version,
        sides=sides,
        in_common=_last_in_common(vault.store, desk, [release.commit for release in group]),
        detected=detected,
        status=status,
        proposals=proposals,
        results=tuple(r.result for r in decided),
        is_overtaken=is_overtaken(lines.later, [release.commit for release in group], [r.result for r in found]),
    )


def _last_in_common(
    store: Store, desk: str, commits: Sequence[RecordHash]
) -> tuple[tuple[Version, tuple[int, ...]], ...]:
    """Return the highest releases that several of these commits were built upon, and which of them were (H-18).

    The highest stands first. After it stand those that others have in common, so that of three commits that have no
    release in common it is told which two of them have one.
    """
    below = [ancestors(store, commit) for commit in commits]
    shared = {RecordHash.parse(text) for one, other in combinations(below, 2) for text in one & other}
    found: list[tuple[Version, tuple[int, ...]]] = []
    for release in sorted(releases_of(store, shared, desk), key=lambda release: release.version, reverse=True):
        of = tuple(at for at, texts in enumerate(below) if release.commit.text in texts)
        if len(of) > 1 and not any(set(of) <= set(higher) for _, higher in found):
            found.append((release.version, of))
    return tuple(found)


def _status(vault: Vault, resolution: Resolution, group: list[ReleaseInfo]) -> Status:
    if resolution.chosen is None:
        return Status.MERGED
    owner = next((release.node for release in group if release.hash == resolution.chosen), "")
    return Status.RESOLVED_LOCAL if owner == vault.node.text else Status.RESOLVED_REMOTE


def _line(vault: Vault, desk: str) -> set[str]:
    base = checkout_of(vault, desk)
    return ancestors(vault.store, base.commit) if base else set()


def _also(vault: Vault, desk: str) -> set[str]:
    """Return what is in heads with my folder's content, which my next commit names beside my line."""
    base = checkout_of(vault, desk)
    return {text for head in base.also for text in ancestors(vault.store, head)} if base else set()


def _release_side(vault: Vault, release: ReleaseInfo) -> Side:
    return Side(
        release.commit,
        release.hash,
        release.node,
        label_of(vault, release.node),
        release.content_sha512,
        release.tai,
        release.version,
    )


def _head_conflicts(vault: Vault, contested: Sequence[Conflict]) -> list[Conflict]:
    """Return the noted head conflicts; `contested` are the versions that wait for a decision."""
    rows = vault.store.rows("SELECT id, desk, detected, heads FROM conflict WHERE version = '' ORDER BY desk, id")
    noted = {str(i): [RecordHash.parse(text) for text in str(heads).split()] for i, _, _, heads in rows}
    lines = {desk: _line(vault, desk) | _also(vault, desk) for desk in {str(row[1]) for row in rows}}
    still = {i for i, desk, _, _ in rows if not all(head.text in lines[desk] for head in noted[i])}
    nodes = linked(vault, vault.node.text) if still else set()
    over = {i for i in still if any(_counts_no_more(vault, head, nodes) for head in noted[i])}
    still -= over
    first = {str(i): _asked_first(vault, contested, str(desk), noted[i]) for i, desk, _, _ in rows if i in still}
    now = {i for i in first if not first[i]}
    found = []
    for conflict_id, desk, detected, _ in rows:
        if conflict_id in over:
            continue
        foreign = noted[conflict_id]
        others = {i: noted[i] for i in now - {conflict_id}} if conflict_id in now else {}
        asked_with = first.get(conflict_id, "") or _asked_with(vault, foreign, others)
        is_open = conflict_id in still and not asked_with
        mine = checkout_of(vault, str(desk))
        heads = [*([mine.commit] if mine and is_open else []), *foreign]
        found.append(
            Conflict(
                id=str(conflict_id),
                kind=ConflictKind.HEAD,
                desk=str(desk),
                version=None,
                sides=_worded(vault, [_head_side(vault, head) for head in heads], lines[str(desk)], owned=False),
                in_common=_last_in_common(vault.store, str(desk), heads),
                detected=str(detected),
                status=Status.PENDING if conflict_id in still else Status.MERGED,
                proposals=(),
                results=(),
                asked_with=asked_with,
            )
        )
    return found


def _asked_first(vault: Vault, contested: Sequence[Conflict], desk: str, foreign: Sequence[RecordHash]) -> str:
    """Return the contested version until whose decision an update leaves out some of these heads; empty for none."""
    of_desk = [one for one in contested if one.desk == desk]
    return next((one.id for one in of_desk if any(_is_asked_by(vault, one, head) for head in foreign)), "")


def _is_asked_by(vault: Vault, contested: Conflict, head: RecordHash) -> bool:
    """Tell whether a head is a side of a contested version, or is in all sides of it."""
    sides = [side.commit for side in contested.sides]
    return head in sides or all(is_ancestor(vault.store, head, side) for side in sides)


def _counts_no_more(vault: Vault, head: RecordHash, mine: set[str]) -> bool:
    """Tell whether a head came after the last entry that counts of somebody who was revoked; none of my own keys."""
    signer = next((str(text) for (text,) in vault.store.rows(_CUT_OFF, head.text)), None)
    return signer is not None and signer not in mine


def _asked_with(vault: Vault, foreign: list[RecordHash], others: Mapping[str, list[RecordHash]]) -> str:
    """Return another open head conflict about all of these heads, or about what was built on them; empty for none."""
    found = [i for i, heads in others.items() if _is_built_upon(vault, foreign, heads)]
    above = (i for i in found if not any(i != j and _is_built_upon(vault, others[i], others[j]) for j in found))
    return next(above, "")


def _is_built_upon(vault: Vault, lower: list[RecordHash], upper: list[RecordHash]) -> bool:
    """Tell whether these heads are among others, or others were built on them."""
    return set(newest(vault.store, [*lower, *upper])) <= set(upper)


def _worded(vault: Vault, sides: Sequence[Side], line: set[str], *, owned: bool = True) -> tuple[Side, ...]:
    """Give each side a word of its own, and say which are local.

    Args:
        vault: whose words they are.
        sides: of one conflict, in the order they are listed.
        line: commits of my line.
        owned: whether what I released is local, wherever my line went; else only my line counts.
    """
    contents: dict[str, set[str]] = {}
    for side in sides:
        contents.setdefault(side.name, set()).add(side.content_sha512 or side.commit.text)
    local = {side.commit for side in sides if owned and side.node == vault.node.text}
    if not local:
        held = [side.commit for side in sides if side.commit.text in line]
        local = set(held if owned else held[:1])  # of heads, mine stands first
    number: dict[str, int] = {}
    found = []
    for side in sides:
        number[side.name] = number.get(side.name, 0) + 1
        is_plain = len(contents[side.name]) == 1 and side.name not in SIDE_WORDS
        word = side.name if is_plain else f"{side.name}:{number[side.name]}"
        found.append(side._replace(word=word, is_local=side.commit in local))
    return tuple(found)


def _head_side(vault: Vault, commit: RecordHash) -> Side:
    info = commit_info(vault.store, commit)
    released = releases_of(vault.store, [commit], info.desk)
    content = f"{released[0].content_sha512}" if released else ""
    owner = released[0].node if released else info.signer
    return Side(
        commit,
        released[0].hash if released else None,
        owner,
        label_of(vault, owner),
        content,
        info.tai,
        released[0].version if released else None,
    )
