"""Two copies of one vault on one machine: they have locks of their own and one mark (APP-13, LAZ-65)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vault.vaults import around, found, write
from vault import writer
from vault.folder.checked_out import checkout_of
from vault.identity.mark import VaultBehindMark
from vault.lock import Locked
from vault.releasing import release
from vault.vault import Vault


@pytest.fixture
def copies(tmp_path: Path) -> Iterator[tuple[Vault, Vault]]:
    """A vault, and a copy of its folder that the same person opens."""
    with found(tmp_path) as one:
        write(one, "a.txt", "one\n")
        release(one)
    shutil.copytree(tmp_path / "alice", tmp_path / "copy")
    with Vault(tmp_path / "alice", around(tmp_path, "alice")) as one, Vault(tmp_path / "copy", one.around) as other:
        yield one, other


def _entries(vault: Vault) -> int:
    return int(vault.store.rows("SELECT max(seq) FROM log WHERE node = ?", vault.node.text)[0][0])


def test_a_copy_waits_while_the_other_one_signs_and_is_then_behind(
    copies: tuple[Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: no two entries under one number, whoever writes between an intent and what is done of it."""
    one, other = copies
    write(other, "a.txt", "other\n")
    before = _entries(one)
    monkeypatch.setattr(writer, "_MARK_SECONDS", 0.0)
    with one.writing() as w:
        standing = checkout_of(one)
        assert standing is not None
        w.log([standing.commit])
        with pytest.raises(Locked):
            release(other)
    assert (_entries(one), _entries(other)) == (before + 1, before)
    with pytest.raises(VaultBehindMark):
        release(other)
    write(one, "a.txt", "two\n")
    assert release(one).seq == before + 2


def test_a_copy_that_was_overtaken_signs_nothing(copies: tuple[Vault, Vault]) -> None:
    """APP-13: the mark was asked before, and is asked again once nobody else can write it."""
    one, other = copies
    write(other, "a.txt", "other\n")
    before = _entries(one)
    standing = checkout_of(one)
    assert standing is not None
    with pytest.raises(VaultBehindMark), one.writing() as w:  # noqa: PT012 - it is asked inside
        release(other)
        w.log([standing.commit])
    assert (_entries(one), _entries(other)) == (before, before + 1)
    state = one.mark.load()
    assert state is not None
    assert (state.done_seq, state.is_pending) == (before + 1, False)
