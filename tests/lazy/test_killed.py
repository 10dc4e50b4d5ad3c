"""A sync that is killed before its end: what it refused comes again once trust changes (LAZ-70 to LAZ-72).

What was read is never remembered sooner than the refusals that this rests on.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import lazy.live.reaching
import lazy.live.visiting
import lazy.visits.visit
from lazy.live.cursors import known
from lazy.places.adding import add_place
from lazy.receiving.refusals import AFTER_CUT
from lazy.sync import sync
from tests.lazy.three import cut, meet, released, sound, three
from tests.vault import vaults
from vault.identity.mark import VaultBehindMark
from vault.names import Version
from vault.releasing import release
from vault.vault import Vault


class _Killed(BaseException):
    """As a process ends that is killed: nobody takes it."""


class _People(NamedTuple):
    """Dan has heard that bob cut carol, and has not met what she released after it. Alice will say that bob lied.

    Args:
        alice: she founded the group.
        carol: her log was cut.
        dan: he visits.
        last: the entry of bob that counts last once alice cuts him: before he cut carol.
    """

    alice: Vault
    carol: Vault
    dan: Vault
    last: int

    def believe(self, place: str, *, times: int = 1) -> None:
        """Let the cut of carol fall, and dan hear of it; then he visits a place again."""
        cut(self.alice, "bob", last=self.last)
        sync(self.alice, ["stick"], pull=False)
        meet(self.dan)
        for _ in range(times):
            sync(self.dan, [place])

    def has_come(self) -> bool:
        return f"{self.carol.node} 2.0.0" in released(self.dan)


@pytest.fixture
def people(tmp_path: Path) -> _People:
    alice, bob, carol = three(tmp_path)
    dan = vaults.befriend(tmp_path, alice, "dan")
    meet(bob, carol, alice, dan)
    ((last,),) = alice.store.rows("SELECT seq FROM vector WHERE node = ?", bob.node.text)
    cut(bob, "carol")
    meet(bob, dan)
    vaults.write(carol, "carol.txt", "two\n")
    release(carol, Version(2, 0, 0), "after the cut")
    bob.close()
    return _People(alice, carol, dan, int(last))


def _kill(*_: object, **__: object) -> None:
    raise _Killed


def _late(vault: Vault) -> int:
    return len(vault.store.rows("SELECT 1 FROM refused WHERE code = ?", AFTER_CUT))


def _whole(vault: Vault, of: Vault) -> int:
    ((whole,),) = vault.store.rows("SELECT whole FROM seen WHERE node = ?", of.node.text)
    return int(whole)


@pytest.mark.parametrize("is_repeated", [False, True])
def test_a_mailbox_counts_as_read_with_the_refusals_it_brought(
    people: _People, monkeypatch: pytest.MonkeyPatch, is_repeated: bool
) -> None:
    """LAZ-71, LAZ-72: killed between the two, nobody asked for those records again, whatever was said of trust."""
    sync(people.carol, ["stick"], pull=False)
    with monkeypatch.context() as patched:
        patched.setattr(lazy.visits.visit, "close_round", _kill)
        with pytest.raises(_Killed):
            sync(people.dan, ["stick"])
    assert not _whole(people.dan, people.carol)
    if is_repeated:
        sync(people.dan, ["stick"])
        assert _late(people.dan)
        assert _whole(people.dan, people.carol), "and now it need not be read again"
    people.believe("stick")
    assert people.has_come()
    sound(people.dan)


def test_a_mailbox_that_refusals_came_from_is_read_once(people: _People) -> None:
    """LAZ-72, INT-120: a visit that ends as it should costs what it did, in that visit and the next."""
    sync(people.carol, ["stick"], pull=False)
    (first,) = sync(people.dan, ["stick"])
    assert [(found.peer, found.rounds) for found in first.came.exchanges] == [("carol", 1)]
    assert _late(people.dan)
    (second,) = sync(people.dan, ["stick"])
    assert second.came.exchanges == []


@pytest.mark.parametrize("is_repeated", [False, True])
def test_a_line_is_read_up_to_a_place_with_the_refusals_it_brought(
    people: _People, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_repeated: bool
) -> None:
    """LAZ-71, LAZ-72: the same on a line; what follows a place on it is sent once."""
    carol, dan = people.carol, people.dan
    add_place(dan, "carols", str(carol.folder), cwd=tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(lazy.live.visiting, "close_round", _kill)
        with pytest.raises(_Killed):
            sync(dan, ["carols"])
    assert known(dan, carol.node).mine is None
    if is_repeated:
        (again,) = sync(dan, ["carols"])
        mine = known(dan, carol.node).mine
        assert _late(dan)
        assert mine is not None
        assert mine.at == carol.store.exposed()
        trips = again.traffic.round_trips
        (last,) = sync(dan, ["carols"])
        assert last.traffic.bytes_read < again.traffic.bytes_read / 2
        assert last.traffic.round_trips <= trips
    people.believe("carols")
    assert people.has_come()
    sound(dan)


def test_what_was_refused_on_a_line_is_sent_once_a_visit(
    people: _People, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """LAZ-72, DWN-13: a later trip of the visit goes on from the place that is remembered at its end."""
    carol, dan = people.carol, people.dan
    # Two accounts are one here, so that the vault beside takes in what dan brings, as a server does.
    monkeypatch.setattr(lazy.live.reaching, "open_local_vault", lambda *_: (Vault(carol.folder, carol.around), True))
    add_place(dan, "carols", str(carol.folder), cwd=tmp_path)
    sync(dan, ["carols"])
    mine = known(dan, carol.node).mine
    assert mine is not None
    vaults.write(carol, "carol.txt", "three\n")
    release(carol, Version(2, 1, 0), "after the cut")
    fresh = carol.store.exposed() - mine.at
    vaults.write(dan, "dan.txt", "two\n")
    release(dan, None, "much to send" * 3000)
    (met,) = sync(dan, ["carols"])
    (exchange,) = met.came.exchanges
    assert met.sent
    assert met.traffic.round_trips > 1
    assert AFTER_CUT in {code for _, code, _ in exchange.rejected}
    assert exchange.advertised == fresh


def test_a_restored_vault_asks_again_for_what_it_may_not_remember_to_have_refused(
    people: _People, tmp_path: Path
) -> None:
    """LAZ-71, APP-13: it takes in and signs nothing, so its refusals are remembered nowhere, and its visits neither."""
    alice, carol, dan, last = people
    sync(carol, ["stick"], pull=False)
    folder, around = dan.folder, dan.around
    dan.close()
    shutil.copytree(dan.dot, tmp_path / "backup")
    with_more = Vault(folder, around)
    vaults.write(with_more, "dan.txt", "in no backup\n")
    release(with_more, Version(3, 0, 0), "lost")
    with_more.close()
    shutil.rmtree(dan.dot)
    shutil.copytree(tmp_path / "backup", dan.dot)
    dan = Vault(folder, around)
    for _ in range(2):
        with pytest.raises(VaultBehindMark):
            sync(dan, ["stick"])
    assert not _late(dan)
    cut(alice, "bob", last=last)
    sync(alice, ["stick"], pull=False)
    for _ in range(2):
        with pytest.raises(VaultBehindMark):
            sync(dan, ["stick"])
    rows = dan.store.rows("SELECT seq FROM vector WHERE node = ?", carol.node.text)
    assert rows == carol.store.rows("SELECT max(seq) FROM log WHERE node = ?", carol.node.text)
    dan.close()
