"""Decisions on one version, as records: which there are, which of them are the last, which agree (LAZ-40 to LAZ-43)."""

from __future__ import annotations

from vault.names import Version
from vault.profile import Resolution
from vault.records import RecordHash
from vault.revisions.graph import ancestors
from vault.revisions.history import commit_info, sealed_record
from vault.vault import Vault

__all__ = ["agreeing", "effective", "resolutions"]


def resolutions(vault: Vault, desk: str, version: Version, sides: set[str]) -> list[Resolution]:
    """Return the visible resolutions of one version that name every side there is."""
    found = []
    for (hash_text,) in vault.store.rows(
        "SELECT hash FROM resolution WHERE desk = ? AND version = ? AND visible = 1 ORDER BY hash",
        desk,
        str(version),
    ):
        stored = vault.store.stored(RecordHash.parse(str(hash_text)))
        if stored is None:
            continue
        value = Resolution.read(sealed_record(stored))
        if sides <= {side.text for side in value.sides}:
            found.append(value)
    return found


def effective(vault: Vault, found: list[Resolution]) -> list[Resolution]:
    """Drop resolutions whose result is an ancestor of another one's: a later decision includes it."""
    covered: set[str] = set()
    for value in found:
        covered |= ancestors(vault.store, value.result) - {value.result.text}
    return [value for value in found if value.result.text not in covered]


def agreeing(vault: Vault, settled: list[Resolution], found: list[Resolution]) -> list[Resolution]:
    """Return the decisions for what is settled here: of the same content, whichever of them knew which.

    Decisions of equal content are one. The results of all of them hold what anybody gave up for it, which nobody has to
    be asked about again (LAZ-43).
    """
    tree = commit_info(vault.store, settled[0].result).tree
    results = {value.result for value in settled}
    return [
        value
        for value in found
        if value.signer is not None
        and value.result not in results
        and commit_info(vault.store, value.result).tree == tree
    ]
