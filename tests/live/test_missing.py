"""What is missing here is asked for at whoever is visited, whatever of it nobody has (LAZ-63, INT-118)."""

from __future__ import annotations

from pathlib import Path

import pytest

import lazy.live.visiting
from lazy.places.adding import add_place
from lazy.sync import sync
from tests.vault.vaults import gathered, write
from vault.records import RecordHash
from vault.releasing import release
from vault.vault import Vault

_CONTENTS = """
SELECT b.p, b.kind, b.digest FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE s.s = 'lace/data'"""


def _contents(vault: Vault) -> dict[RecordHash, int]:
    return {RecordHash(str(kind), bytes(digest)): int(p) for p, kind, digest in vault.store.rows(_CONTENTS)}


def _missing(vault: Vault) -> set[RecordHash]:
    return {RecordHash.parse(str(want)) for (want,) in vault.store.rows("SELECT DISTINCT want FROM hole")}


def test_what_nobody_there_has_holds_up_nothing_that_they_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-63, INT-118: more is missing than one trip asks for, and they have nothing of what is asked for first."""
    monkeypatch.setattr(lazy.live.visiting, "_HOLES", 8)
    alice, bob = gathered(tmp_path, "bob")
    for number in range(60):
        write(alice, f"{number}.txt", f"content {number}\n")
    release(alice)
    sync(alice, ["stick"])
    sync(bob, ["stick"])
    add_place(bob, "beside", str(alice.folder), cwd=tmp_path)
    sync(bob, ["beside"])
    lost = _contents(bob)
    with bob.writing(receiving=True) as w:
        for name, at in lost.items():
            w.store.forget(at)
            w.store.run("INSERT OR IGNORE INTO hole VALUES (?, 1)", name.text)
    bob.store.holes.forget()
    nowhere = set(sorted(lost)[:12])
    with alice.writing(receiving=True) as w:
        for name, at in _contents(alice).items():
            if name in nowhere:
                w.store.run("DELETE FROM shared WHERE p = ?", at)
    (came,) = sync(bob, ["beside"])
    assert _missing(bob) == nowhere
    assert not came.came.exchanges[0].fixed_point, "what is missing is told all the same"
    assert came.traffic.round_trips < 16
    alice.close()
    bob.close()
