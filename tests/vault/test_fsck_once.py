"""What a check does once and no more; that it finds what is wrong, `test_fsck.py` proves."""

from __future__ import annotations

import pytest

from tests.shelf import Shelf
from tests.vault.vaults import lived_in
from vault.fsck.check import check
from vault.suite import Ed25519


def test_a_check_verifies_each_signature_once(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """CYB-10: the walk along the trail believes the pass over the records, which takes most of its time for that."""
    vault, _ = shelf.lay(lived_in)
    verified: list[bytes] = []
    verify = Ed25519.verify

    def noted(self: Ed25519, key: bytes, message: bytes, signature: bytes) -> bool:
        verified.append(signature)
        return verify(self, key, message, signature)

    monkeypatch.setattr(Ed25519, "verify", noted)
    assert check(vault).ok
    assert len(verified) == vault.store.rows("SELECT count(*) FROM body WHERE kind = 'S'")[0][0]
    assert len(set(verified)) == len(verified)
