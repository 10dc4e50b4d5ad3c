"""The last states that people released, and which contested versions they left behind (architecture, Deciding)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from vault.folder.divergence import parted
from vault.records import RecordHash
from vault.revisions.graph import covered_by, json_texts
from vault.vault import Vault

__all__ = ["is_overtaken", "last_released", "later_states"]


def last_released(vault: Vault, desk: str) -> set[RecordHash]:
    """Return the commit of everybody's last visible release: a line's later commit contains the earlier (CLAY-7).

    Of a line that forked, or of which a later release is known not to contain an earlier one, all are returned.
    """
    rows = vault.store.rows(
        "SELECT commit_hash, max(seq) FROM release WHERE visible = 1 AND desk = ? GROUP BY node,"
        " CASE WHEN node IN (SELECT node FROM vector WHERE forked UNION SELECT value FROM json_each(?)) THEN p END",
        desk,
        json_texts(parted(vault.store, desk)),
    )
    return {RecordHash.parse(str(commit)) for commit, _ in rows}


def later_states(vault: Vault, desk: str, mine: set[str], asked: Collection[str]) -> list[set[str]]:
    """Return what of some commits my folder and the last releases of a desk contain, one set of hash texts each.

    Args:
        vault: where they are.
        desk: the desk.
        mine: what of these my folder has.
        asked: the commits, of all contested versions of the desk.
    """
    return [mine, *covered_by(vault.store, asked, [[head.text] for head in last_released(vault, desk)])]


def is_overtaken(later: Iterable[Collection[str]], sides: Sequence[RecordHash], decided: Sequence[RecordHash]) -> bool:
    """Tell whether a state contains all sides of a version and was built on no decision of it (LAZ-42).

    Somebody made that state of the sides while the version was still contested, as by a decision on a higher one. A
    decision that comes now says which content counts under the version: merged once more, as if it were newer, it would
    take back what was made since.

    Args:
        later: as `later_states`.
        sides: the commits of the sides.
        decided: the results of the decisions on all of them, whoever made them.
    """
    return any(
        all(side.text in state for side in sides) and not any(result.text in state for result in decided)
        for state in later
    )
