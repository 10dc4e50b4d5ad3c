"""How a mailbox is left, and when it need not be read again (LAZ-63; decision 10)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lazy.receiving.mailbox_left import ALL_HERE, LOOKED_AT, UNREAD, Left
from lazy.receiving.receive import Receiver
from tests.faults.circle import befriended
from tests.shelf import Shelf
from vault.records import RecordHash
from vault.vault import Vault


@pytest.fixture
def vault(shelf: Shelf) -> Iterator[Vault]:
    alice, bob = shelf.lay(befriended, "bob")
    bob.close()
    yield alice
    alice.close()


def test_a_mailbox_need_not_be_read_again_while_the_same_is_missing(vault: Vault) -> None:
    """LAZ-63: a gap that nobody can fill costs one look at each mailbox; what else is missing is looked for anew."""
    store, holes = vault.store, Receiver(vault, "stick").holes
    ways = [Left.now(holes)]
    for at in range(2):
        with store.transaction():
            store.holes.add([(RecordHash("P", bytes([at] * 32)), True)])
        ways.append(Left.now(holes))
        assert [way.is_still(holes) for way in ways] == [way == ways[-1] for way in ways]
    assert ways[0] == ALL_HERE
    assert len(set(ways)) == len(ways)


@pytest.mark.parametrize("left", [UNREAD, LOOKED_AT])
def test_what_was_not_dealt_with_is_read_though_nothing_is_missing(vault: Vault, left: Left) -> None:
    """LAZ-63, LAZ-71: neither a mailbox that is not read to its end nor a stranger's counts as read."""
    holes = Receiver(vault, "stick").holes
    assert ALL_HERE.is_still(holes)
    assert not left.is_still(holes)


def test_what_is_missing_is_never_taken_for_another_word(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-63: whatever the sum over it comes to, it stands for no stranger, for nothing unread and for no whole vault.

    One sum in 2 to the 56 is 0, so it is put here.
    """
    store, holes = vault.store, Receiver(vault, "stick").holes
    with store.transaction():
        store.holes.add([(RecordHash("P", bytes(32)), True)])
    monkeypatch.setattr(type(holes), "sum_of_missing", lambda _holes: 0)
    assert Left.now(holes) not in {UNREAD, ALL_HERE, LOOKED_AT}
    assert Left.now(holes).is_still(holes)
