"""Lacking: which releases count here and are not shown, as something that they reach is missing, and what that is.

Nothing is kept of it: it follows from what is shared and what is not here, and is asked for by whoever wants to know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from lazy.people import linked
from lazy.receiving.refusals import AFTER_CUT, MAY_COUNT_YET, STRANGER
from vault.records import RecordHash
from vault.store.closure import Closure, Walked
from vault.store.sharing import Sharing
from vault.vault import Vault

__all__ = [
    "CONTENT_MISSING",
    "Lacking",
    "lacking_of",
    "lacking_releases",
    "no_sync_brings",
    "waiting_in",
    "waiting_of",
    "waiting_releases",
]

_CONTENT, _EVIDENCE = "content", "evidence"
CONTENT_MISSING = f"{_CONTENT}-missing"
_LOOKED_AT = 3  # releases of one node of which is told what they wait for: a large one is walked for seconds
_FROM = """FROM release r JOIN vector v ON v.node = r.node JOIN shared s ON s.p = r.p
    WHERE r.visible = 0 AND r.seq <= v.seq"""
_HIDDEN = f"SELECT r.p, r.hash, r.desk, r.version {_FROM} AND r.node = ? ORDER BY r.p LIMIT ?"
_COUNTS = f"SELECT r.node, r.desk, count(*) {_FROM} GROUP BY r.node, r.desk"


class Lacking(NamedTuple):
    """A release that waits, and one record that it waits for.

    Args:
        release: the release.
        desk: its desk.
        version: its version.
        missing: a record that it reaches and that is not here.
        refusal: why that was refused here, by code, so that no sync brings it; empty where it has not come.
    """

    release: RecordHash
    desk: str
    version: str
    missing: RecordHash
    refusal: str = ""

    @property
    def kind(self) -> str:
        """What is missing: `evidence` is sealed, `content` is a directory, a file or a part of one."""
        return _EVIDENCE if self.missing.kind == "S" else _CONTENT

    @property
    def code(self) -> str:
        """The code of the failure."""
        return f"{self.kind}-{'refused' if self.refusal else 'missing'}"


def waiting_releases(vault: Vault) -> dict[str, Counter[str]]:
    """Return of each node and desk how many releases count and are not shown, while something shared is missing here.

    Nothing is walked for it, so one that waits only to be proven is counted then too.
    """
    found: dict[str, Counter[str]] = {}
    if not Sharing(vault.store.db).is_whole():
        for node, desk, count in vault.store.rows(_COUNTS):
            found.setdefault(str(node), Counter())[str(desk)] = int(count)
    return found


def waiting_of(vault: Vault, waiting: Mapping[str, Counter[str]], node: str) -> int:
    """Return how many of the releases that wait are a person's, whatever key of theirs made them."""
    return sum(waiting[one].total() for one in linked(vault, node) & waiting.keys()) if waiting else 0


def waiting_in(vault: Vault, waiting: Mapping[str, Counter[str]], desk: str) -> int:
    """Return how many of the releases that wait are of a desk and by friends; mine tells `vault.folder.divergence`."""
    return sum(waiting[node][desk] for node in waiting.keys() - linked(vault, vault.node.text)) if waiting else 0


def lacking_releases(vault: Vault, node: str) -> tuple[Lacking, ...]:
    """Return what releases of a person wait for, by one of their nodes; of the oldest ones, if many do.

    A release that was not proven yet, or whose content is another than it says, waits for nothing.
    """
    sharing = Sharing(vault.store.db)
    if sharing.is_whole():
        return ()
    walked = Walked()
    found = []
    oldest = sorted(row for one in linked(vault, node) for row in vault.store.rows(_HIDDEN, one, _LOOKED_AT))
    for _, text, desk, version in oldest[:_LOOKED_AT]:
        release = RecordHash.parse(str(text))
        missing = sharing.lacking(release, walked)
        if missing is not None:
            found.append(Lacking(release, str(desk), str(version), missing, _refusal(vault, missing)))
    return tuple(found)


def lacking_of(vault: Vault, release: RecordHash) -> Lacking | None:
    """Return what a release waits for; None where it is shown, waits for nothing, or is no release."""
    rows = vault.store.rows("SELECT desk, version FROM release WHERE hash = ? AND visible = 0", release.text)
    missing = Closure(vault.store.db).lacking(release) if rows else None
    if missing is None:
        return None
    return Lacking(release, str(rows[0][0]), str(rows[0][1]), missing, _refusal(vault, missing))


def no_sync_brings(vault: Vault, waiting: Mapping[str, Counter[str]], desk: str) -> bool:
    """Tell whether all that friends' releases of a desk wait for was refused here, as far as is known (CLO-39)."""
    found = []
    for node in waiting.keys() - linked(vault, vault.node.text):
        told = [one for one in lacking_releases(vault, node) if one.desk == desk]
        count = sum(waiting[one][desk] for one in linked(vault, node) & waiting.keys())
        found += [bool(one.refusal) for one in told] if len(told) == count else [False]
    return bool(found) and all(found)


def _refusal(vault: Vault, record: RecordHash) -> str:
    """Return why a record is refused here and not asked for again though something reaches it; empty if it is not."""
    rows = vault.store.rows("SELECT code FROM refused WHERE digest = ? AND kind = ?", record.digest, record.kind)
    return next((str(code) for (code,) in rows if code not in {AFTER_CUT, STRANGER, *MAY_COUNT_YET}), "")
