"""Whoever asks to belong is judged, however many strangers ask before them (CYB-17, LAZ-70)."""

from __future__ import annotations

import http.client
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lazy.belonging.requests
import lazy.live.answering
import lazy.live.serving
from lazy.belonging.admitting import admit, consider, consider_passed_on
from lazy.belonging.circle import accept, invite, request_record
from lazy.belonging.invitations import invitation_id
from lazy.belonging.requests import drop_requests, requests
from lazy.live.answering import Served
from lazy.live.local_vault import LocalConnection
from lazy.live.serving import Service
from lazy.people import NoSuchPeer, is_member
from lazy.places.adding import add_place
from lazy.sync import sync
from tests.live.handlers import serving_with
from tests.live.test_slots import Door
from tests.vault import vaults
from transports.drop.place import Drop
from transports.errors import PlaceNotWritable
from transports.http.identity import client_context
from transports.http.paths import REQUEST_PATH
from transports.mailbox import ByteCount
from vault.identity.keys import KeyLocked
from vault.notes.people import DROPPED_REQUESTS
from vault.profile import Request
from vault.records import Seal, Tai
from vault.suite import SigningKey
from vault.vault import Vault

_KEPT = 4  # here, so that a crowd is cheap


@pytest.fixture
def alice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vault]:
    """The vault of somebody who is asked, with room for few requests."""
    monkeypatch.setattr(lazy.belonging.requests, "REQUESTS_KEPT", _KEPT)
    monkeypatch.setattr(lazy.live.answering, "REQUESTS_KEPT", _KEPT)
    vault = vaults.found(tmp_path)
    yield vault
    vault.close()


def junk(group: str, number: int) -> Seal:
    """Return a request that anybody can make who knows the group."""
    key = SigningKey.from_seed(bytes([number]) * 32)
    plex = Request.to_plex(
        group=group,
        node=key.verifier,
        invitation=invitation_id(bytes([number])),
        label=f"x{number}",
        proof=bytes(32),
        tai=Tai(2**33),
    )
    return Seal.sign(plex, key)


def invited(root: Path, alice: Vault, name: str) -> tuple[Vault, bytes]:
    """Return somebody whom alice invited, and their request."""
    vault, _ = accept(root / name, vaults.around(root, name), invite(alice, name).encode(), name=name)
    return vault, request_record(vault)


def waiting(alice: Vault) -> list[object]:
    return [row[0] for row in alice.store.rows("SELECT node FROM request ORDER BY node")]


def test_requests_of_strangers_are_kept_up_to_a_limit_by_every_road(alice: Vault) -> None:
    for number in range(3 * _KEPT):
        request = junk(alice.group, number)
        assert consider(alice, "stick", request, request.signer) is None
        assert request.signer.text in waiting(alice), "whoever asks last is listed"
    assert len(waiting(alice)) == _KEPT


def test_a_visit_makes_no_room_for_requests_of_strangers(alice: Vault, tmp_path: Path) -> None:
    """CYB-17: a medium on which more lie than are kept changes nothing at the second visit; who is invited comes in."""
    drop = Drop.create(tmp_path / "stick", entropy=os.urandom)
    add_place(alice, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    for number in range(_KEPT + 3):
        request = junk(alice.group, number)
        drop.writer(alice.group, request.signer).put_request(request.encode())
    sync(alice, ["stick"])
    before = waiting(alice)
    assert len(before) == _KEPT
    sync(alice, ["stick"])
    late = junk(alice.group, 30)
    assert consider_passed_on(alice, "live", late.encode()) is None
    assert waiting(alice) == before
    cara, asked = invited(tmp_path, alice, "cara")
    assert consider_passed_on(alice, "live", asked) == "cara"
    cara.close()


def test_a_crowd_of_strangers_keeps_nobody_out_who_was_invited(alice: Vault, tmp_path: Path) -> None:
    service = Service(lambda: Vault(alice.folder, alice.around), lambda _served: None)
    for number in range(_KEPT):
        assert service.request(junk(alice.group, number).encode()) is False, "it waits for another member"
    cara, asked = invited(tmp_path, alice, "cara")
    assert service.request(asked) is True
    assert is_member(alice, cara.node.text)
    cara.close()


def test_who_proves_an_invitation_of_mine_is_listed_before_strangers(alice: Vault, tmp_path: Path) -> None:
    """CYB-17, LAZ-70: what came too late is for a person to see, however many keys were made to keep it off."""
    for number in range(_KEPT):
        consider(alice, "stick", junk(alice.group, number), junk(alice.group, number).signer)
    cara, asked = invited(tmp_path, alice, "cara")
    with alice.writing() as w:
        w.store.run("UPDATE invitation SET expires = ?", Tai(1).text)
    assert consider_passed_on(alice, "live", asked) is None
    for number in range(_KEPT, 4 * _KEPT):
        consider(alice, "stick", junk(alice.group, number), junk(alice.group, number).signer)
        assert cara.node.text in waiting(alice)
    assert len(waiting(alice)) == _KEPT
    cara.close()


def test_who_only_knows_the_name_of_an_invitation_is_a_stranger(alice: Vault, tmp_path: Path) -> None:
    """CYB-17: whoever was let in says which invitation it was, to everybody who reads the stick."""
    cara, asked = invited(tmp_path, alice, "cara")
    assert consider_passed_on(alice, "live", asked) == "cara"
    (used,) = alice.store.rows("SELECT id FROM invitation")[0]
    key = SigningKey.from_seed(bytes(32))
    plex = Request.to_plex(
        group=alice.group, node=key.verifier, invitation=str(used), label="x", proof=bytes(32), tai=Tai(2**33)
    )
    consider(alice, "stick", Seal.sign(plex, key), key.verifier)
    assert [request.problem for request in requests(alice)] == ["its proof of the invitation is wrong"]
    cara.close()


def test_of_several_requests_by_one_name_none_goes_until_one_is_named(alice: Vault) -> None:
    """CYB-17: anybody may call themselves bob; a key, or its beginning, says which is meant."""
    keys = [SigningKey.from_seed(bytes([number]) * 32) for number in range(3)]
    for key in keys:
        label = keys[2].verifier.text[:9] if key is keys[0] else "bob"  # a name that looks like a key
        plex = Request.to_plex(
            group=alice.group,
            node=key.verifier,
            invitation=invitation_id(bytes(16)),
            label=label,
            proof=bytes(32),
            tai=Tai(2**33),
        )
        consider(alice, "stick", Seal.sign(plex, key), key.verifier)
    _, one, other = (key.verifier.text for key in keys)
    with pytest.raises(NoSuchPeer) as caught:
        drop_requests(alice, "bob")
    assert one in caught.value.message
    assert other in caught.value.message
    with pytest.raises(NoSuchPeer):
        drop_requests(alice, other[:9])
    assert len(waiting(alice)) == 3
    assert [request.node for request in drop_requests(alice, one[:9])] == [one]
    assert [request.node for request in drop_requests(alice, other)] == [other]


def test_requests_that_were_dropped_are_listed_no_more_and_make_room(alice: Vault, tmp_path: Path) -> None:
    """CYB-17: they lie on the stick as before; an invitation of mine, and a hand, let in whoever it was."""
    cara, asked = invited(tmp_path, alice, "cara")
    crowd = [junk(alice.group, number) for number in range(_KEPT)]
    for request in crowd:
        consider(alice, "stick", request, request.signer)
    with pytest.raises(NoSuchPeer):
        drop_requests(alice, "nobody")
    (one,) = drop_requests(alice, "x1")
    assert one.node == crowd[1].signer.text
    assert len(drop_requests(alice)) == _KEPT - 1
    assert drop_requests(alice) == []
    for request in crowd:
        assert consider(alice, "stick", request, request.signer) is None
    assert waiting(alice) == []
    late = junk(alice.group, 30)
    consider_passed_on(alice, "live", late.encode())
    assert waiting(alice) == [late.signer.text]
    drop_requests(alice, late.signer.text)
    with alice.writing() as w:
        w.store.set_note(DROPPED_REQUESTS, (*w.store.note(DROPPED_REQUESTS), cara.node.text))
    assert consider_passed_on(alice, "live", asked) == "cara"
    admit(alice, "late", late.signer.text)
    assert is_member(alice, late.signer.text)
    cara.close()


def test_whoever_is_invited_is_not_told_otherwise_while_the_key_is_locked(alice: Vault, tmp_path: Path) -> None:
    """LAZ-70, APP-11: nobody can seal their admission now; strangers learn nothing of it."""
    told: list[Served] = []
    cara, asked = invited(tmp_path, alice, "cara")
    alice.keys_here.protect(alice.node, b"pass")
    service = Service(lambda: Vault(alice.folder, alice.around), told.append)
    with pytest.raises(KeyLocked):
        service.request(asked)
    assert [(served.peer, served.admitted) for served in told] == [("cara", "")]
    assert "passphrase" in told[0].problem
    assert service.request(junk(alice.group, 1).encode()) is False, "it waits for another member"
    there = LocalConnection(alice, cara.node, ByteCount(), may_write=True)
    with pytest.raises(PlaceNotWritable, match="protected by a passphrase"):
        there.post(REQUEST_PATH, None, [asked])
    alice.keys_here.unprotect(alice.node, lambda: b"pass")
    assert service.request(asked) is True
    cara.close()


def test_a_server_that_cannot_judge_a_request_now_refuses_nobody() -> None:
    # LAZ-70: 503 is said of now, 403 of the invitation
    class Locked(Door):
        def request(self, record: bytes) -> bool | None:
            raise KeyLocked("The key is protected by a passphrase.")

    with serving_with(Locked()) as (port, _):
        line = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=client_context())
        line.request("POST", REQUEST_PATH, b"")
        assert line.getresponse().status == 503


def test_where_many_wait_strangers_keep_a_server_busy_no_longer(alice: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request for which another goes is a write of the vault: one in a minute."""
    now = [1000.0]
    monkeypatch.setattr(lazy.live.serving, "monotonic", lambda: now[0])
    service = Service(lambda: Vault(alice.folder, alice.around), lambda _served: None)
    for number in range(_KEPT):
        service.request(junk(alice.group, number).encode())
    assert service.request(junk(alice.group, 19).encode()) is False
    before = waiting(alice)
    assert service.request(junk(alice.group, 20).encode()) is None
    assert waiting(alice) == before
    now[0] += 61
    assert service.request(junk(alice.group, 21).encode()) is False
    assert service.request(junk(alice.group, 22).encode()) is None
    assert len(waiting(alice)) == _KEPT
    assert service.request(junk(alice.group, 21).encode()) is False, "whoever waits already waits on"
    now[0] += 61
    assert service.request(junk(alice.group, 21).encode()) is False
    assert service.request(b"x") is None
    assert service.request(junk(alice.group, 23).encode()) is False, "only who makes another go takes the minute"


def test_whoever_asks_twice_at_once_is_let_in_once_and_told_so_twice(
    alice: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-70: an answer that was lost is asked for again while the first request is judged."""
    told: list[str] = []
    service = Service(lambda: Vault(alice.folder, alice.around), lambda served: told.append(served.admitted))
    cara, asked = invited(tmp_path, alice, "cara")
    answers: list[bool | None] = []

    def overtaken(*args: Any, **options: Any) -> str | None:
        monkeypatch.undo()
        answers.append(service.request(asked))
        return consider(*args, **options)

    monkeypatch.setattr(lazy.live.serving, "consider", overtaken)
    answers.append(service.request(asked))
    assert (answers, told) == ([True, True], ["cara"])
    cara.close()
