"""Head conflicts: heads that do not merge cleanly with my line, noted when an update met them (architecture, Deciding).

One ends when my line, or what my next commit will name beside it, contains all of its heads, or when the log of who
sealed one of them ends before it by a revocation. Nobody is asked about it while another conflict asks the same: a
contested version of which such a head is a side, or that all sides hold, or a conflict of heads built upon these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lazy.conflict_sides import InCommon, in_line, with_words
from lazy.contested import Conflict, ConflictKind, Side, Status
from lazy.people import label_of, linked
from vault.folder.checked_out import checkout_of
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor, newest
from vault.revisions.history import commit_info, releases_of
from vault.vault import Vault

__all__ = ["head_conflicts", "is_asked_by", "is_built_upon"]

_CUT_OFF = (
    "SELECT c.signer FROM commits c JOIN former f ON f.node = c.signer"
    " WHERE c.hash = ? AND NOT EXISTS (SELECT 1 FROM shared s WHERE s.p = c.p)"
)


class _Noted(NamedTuple):
    """A head conflict as an update noted it.

    Args:
        id: of the conflict.
        desk: of the heads.
        detected: when it was met, as a TAI text.
        heads: the foreign ones that did not merge with mine.
    """

    id: str
    desk: str
    detected: str
    heads: list[RecordHash]


def head_conflicts(vault: Vault, contested: Sequence[Conflict]) -> list[Conflict]:
    """Return the noted head conflicts, in (desk, id) order, but for those whose heads count no more.

    Args:
        vault: whose conflicts they are.
        contested: the versions that wait for a decision.
    """
    noted = _all_noted(vault)
    lines = {desk: _line(vault, desk, noted) for desk in {one.desk for one in noted}}
    unsettled = [one for one in noted if not all(head.text in lines[one.desk].held for head in one.heads)]
    nodes = linked(vault, vault.node.text) if unsettled else set()
    gone = {one.id for one in unsettled if any(_counts_no_more(vault, head, nodes) for head in one.heads)}
    asking = {one.id: one for one in unsettled if one.id not in gone}
    elsewhere = _asked_elsewhere(vault, contested, asking.values())
    return [
        _conflict(vault, one, lines[one.desk], is_settled=one.id not in asking, asked_with=elsewhere.get(one.id, ""))
        for one in noted
        if one.id not in gone
    ]


class _Line(NamedTuple):
    """What of noted heads is in my line on a desk or beside it, as hash texts, and what they have in common with it."""

    held: set[str]
    in_common: InCommon


def _line(vault: Vault, desk: str, noted: Sequence[_Noted]) -> _Line:
    base = checkout_of(vault, desk)
    heads = {head for one in noted if one.desk == desk for head in one.heads}
    heads |= {base.commit} if base is not None else set()
    return _Line(in_line(vault, desk, {head.text for head in heads})[1], InCommon(vault.store, desk, heads))


def _all_noted(vault: Vault) -> list[_Noted]:
    """Return what updates noted, but for what rotted or whose heads are not here: the next update notes it (APP-13)."""
    rows = vault.store.rows("SELECT id, desk, detected, heads FROM conflict WHERE version = '' ORDER BY desk, id")
    noted = [(str(name), str(desk), str(detected), _here(vault, str(heads))) for name, desk, detected, heads in rows]
    return [_Noted(*one) for one in noted if one[-1]]


def _here(vault: Vault, heads: str) -> list[RecordHash]:
    """Return the commits that a noted conflict is about; none where not all of them can be read."""
    known = [bool(vault.store.rows("SELECT 1 FROM commits WHERE hash = ?", text)) for text in heads.split()]
    return [RecordHash.parse(text) for text in heads.split()] if all(known) else []


def _conflict(vault: Vault, one: _Noted, line: _Line, *, is_settled: bool, asked_with: str) -> Conflict:
    own = [] if is_settled or asked_with else _own_side(vault, one)
    heads = [*own, *one.heads]
    return Conflict(
        id=one.id,
        kind=ConflictKind.HEAD,
        desk=one.desk,
        version=None,
        sides=with_words(vault, [_head_side(vault, head) for head in heads], line.held, owned=False),
        in_common=line.in_common.of(heads),
        detected=one.detected,
        status=Status.MERGED if is_settled else Status.PENDING,
        proposals=(),
        results=(),
        asked_with=asked_with,
    )


def _own_side(vault: Vault, one: _Noted) -> list[RecordHash]:
    """Return what my folder stands on; nothing where several friends clash who all went on from there, or some did."""
    mine = checkout_of(vault, one.desk)
    if mine is None or (len(one.heads) > 1 and is_ancestor(vault.store, mine.commit, *one.heads)):
        return []
    return [mine.commit]


def _asked_elsewhere(vault: Vault, contested: Sequence[Conflict], asking: Collection[_Noted]) -> dict[str, str]:
    """Return, by id, which other conflict asks the same; empty where none does."""
    first = {one.id: _asked_first(vault, contested, one.desk, one.heads) for one in asking}
    rest = {one.id: one.heads for one in asking if not first[one.id]}
    return {
        name: found or _asked_with(vault, rest[name], {other: rest[other] for other in rest if other != name})
        for name, found in first.items()
    }


def _asked_first(vault: Vault, contested: Sequence[Conflict], desk: str, foreign: Sequence[RecordHash]) -> str:
    """Return the contested version until whose decision an update leaves out some of these heads; empty for none."""
    of_desk = [one for one in contested if one.desk == desk]
    return next((one.id for one in of_desk if any(is_asked_by(vault, one, head) for head in foreign)), "")


def _asked_with(vault: Vault, foreign: list[RecordHash], others: Mapping[str, list[RecordHash]]) -> str:
    """Return another open head conflict about all of these heads, or about what was built on them; empty for none."""
    found = [i for i, heads in others.items() if is_built_upon(vault, foreign, heads)]
    above = (i for i in found if not any(i != j and is_built_upon(vault, others[i], others[j]) for j in found))
    return next(above, "")


def is_asked_by(vault: Vault, contested: Conflict, head: RecordHash) -> bool:
    """Tell whether a head is a side of a contested version, or is in all sides of it."""
    sides = [side.commit for side in contested.sides]
    return head in sides or all(is_ancestor(vault.store, head, side) for side in sides)


def is_built_upon(vault: Vault, lower: list[RecordHash], upper: list[RecordHash]) -> bool:
    """Tell whether these heads are among others, or others were built on them."""
    return set(newest(vault.store, [*lower, *upper])) <= set(upper)


def _counts_no_more(vault: Vault, head: RecordHash, mine: set[str]) -> bool:
    """Tell whether a head came after the last entry that counts of somebody who was revoked; none of my own keys."""
    signer = next((str(text) for (text,) in vault.store.rows(_CUT_OFF, head.text)), None)
    return signer is not None and signer not in mine


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
