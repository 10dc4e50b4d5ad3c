"""What a check does once and no more; that it finds what is wrong, `test_fsck.py` proves."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator

import pytest
from blake3 import blake3

from tests.shelf import Shelf
from tests.vault.vaults import lived_in
from vault.fsck.bodies import Proven
from vault.fsck.check import check
from vault.fsck.scratch import scratch
from vault.records import Plex, RecordHash, Seal, parse
from vault.store.at_hand import FEW
from vault.store.compare import differences
from vault.store.schema import DERIVED_TABLES
from vault.suite import Ed25519
from vault.vault import Vault


@pytest.fixture
def alice(shelf: Shelf) -> Iterator[Vault]:
    vaults = shelf.lay(lived_in)
    yield vaults[0]
    for vault in vaults:
        vault.close()


def test_a_check_verifies_each_signature_once(alice: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """CYB-10: the walk along the trail believes the pass over the records, which takes most of its time for that."""
    verified: list[bytes] = []
    verify = Ed25519.verify

    def noted(self: Ed25519, key: bytes, message: bytes, signature: bytes) -> bool:
        verified.append(signature)
        return verify(self, key, message, signature)

    monkeypatch.setattr(Ed25519, "verify", noted)
    assert check(alice).ok
    assert len(verified) == alice.store.rows("SELECT count(*) FROM body WHERE kind = 'S'")[0][0]
    assert len(set(verified)) == len(verified)


def test_a_check_reads_a_revision_twice_and_an_entry_of_the_trail_once_more(
    alice: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: to prove it, and to build the views from it; who sealed it and what it stands on are asked together."""
    read: Counter[str] = Counter()
    plainly = parse._plainly()

    def noted(data: bytes, end: int) -> Plex | Seal | None:
        found = plainly(data, end)
        if isinstance(found, Seal):
            read[found.plex.app] += 1
        return found

    monkeypatch.setattr(parse, "_plainly", lambda: noted)
    assert check(alice).ok
    kept = dict(alice.store.rows("SELECT s, records FROM counts JOIN sym ON id = app"))
    for app, times in (("lace/commit", 2), ("lace/rev", 2), ("lace/log", 2), ("lace/audit", 3)):
        assert kept[app] > 1
        assert read[app] - times * kept[app] in {0, 1}, "one of all tells that the node sealed something"


def test_a_check_of_a_little_vault_writes_no_views(alice: Vault) -> None:
    """APP-14: they are built in memory, and beside them is nothing that the vault itself has."""
    with scratch(alice) as built:
        assert differences(built, alice.node.text, alice.founding, lambda: None) == []
        tables = built.rows("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        assert {name for (name,) in tables} == {*DERIVED_TABLES, "exposure"}
        assert [(file.name, file.stat().st_size) for file in alice.dot.glob("fsck.db*")] == [("fsck.db", 0)]
    assert not list(alice.dot.glob("fsck.db*"))


@pytest.mark.parametrize("count", [10, FEW + 10])
def test_what_is_proven_once_is_told_from_all_else(count: int) -> None:
    """CYB-10: a Plex under the digest of a Seal was proven by nobody, and many take hardly more than their digests."""
    digests = [blake3(b"%d" % number).digest() for number in range(count)]
    proven = Proven()
    tracemalloc.start()
    try:
        for digest in digests:
            proven.add(RecordHash("S", digest))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert all(RecordHash("S", digest) in proven for digest in digests)
    assert RecordHash("P", digests[0]) not in proven
    assert RecordHash("S", blake3(b"other").digest()) not in proven
    assert count < FEW or held < 64 * count
