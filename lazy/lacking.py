"""Lacking: which releases count here and are not shown, as something that they reach is missing, and what that is.

Nothing is kept of it: it follows from what is shared and what is not here, and is asked for by whoever wants to know.
"""

from __future__ import annotations

from dataclasses import dataclass

from vault.records import RecordHash
from vault.store.sharing import Sharing
from vault.vault import Vault

__all__ = ["Lacking", "lacking_of", "lacking_releases"]

_EVIDENCE, _CONTENT = "evidence", "content"
_LOOKED_AT = 20  # hidden releases of one node: one of them is enough to know that something is to be fetched
_HIDDEN = """SELECT r.hash, r.desk, r.version FROM release r JOIN vector v ON v.node = r.node
    JOIN shared s ON s.p = r.p WHERE r.visible = 0 AND r.seq <= v.seq AND r.node = ? ORDER BY r.p LIMIT ?"""


@dataclass(frozen=True, slots=True)
class Lacking:
    """A release that waits, and one record that it waits for.

    Args:
        release: the release.
        desk: its desk.
        version: its version.
        missing: a record that it reaches and that is not here.
    """

    release: RecordHash
    desk: str
    version: str
    missing: RecordHash

    @property
    def kind(self) -> str:
        """What is missing: `evidence` is sealed, `content` is a directory, a file or a part of one."""
        return _EVIDENCE if self.missing.kind == "S" else _CONTENT

    @property
    def code(self) -> str:
        """The code of the failure."""
        return f"{self.kind}-missing"


def lacking_releases(vault: Vault, node: str) -> tuple[Lacking, ...]:
    """Return the releases of a node that wait for something; the oldest ones, if many do.

    A release that was not proven yet, or whose content is another than it says, waits for nothing.
    """
    sharing = Sharing(vault.store.db)
    if sharing.is_whole():
        return ()
    stuck: dict[RecordHash, RecordHash] = {}
    found = []
    for text, desk, version in vault.store.rows(_HIDDEN, node, _LOOKED_AT):
        release = RecordHash.parse(str(text))
        missing = sharing.lacking(release, stuck)
        if missing is not None:
            found.append(Lacking(release, str(desk), str(version), missing))
    return tuple(found)


def lacking_of(vault: Vault, release: RecordHash) -> Lacking | None:
    """Return what a release waits for; None where it is shown, waits for nothing, or is no release."""
    rows = vault.store.rows("SELECT desk, version FROM release WHERE hash = ? AND visible = 0", release.text)
    missing = Sharing(vault.store.db).lacking(release) if rows else None
    if missing is None:
        return None
    return Lacking(release, str(rows[0][0]), str(rows[0][1]), missing)
