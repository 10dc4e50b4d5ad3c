"""What anybody may lay beside encrypted mailboxes, and what it costs a reader: counted, never timed."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from lazy.places.media import set_encrypted
from lazy.places.registry import place_named
from lazy.places.sealing import VaultKeys
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault import vaults
from transports.drop.place import Drop
from transports.encrypted import boxes
from transports.encrypted.member_keys import EpochKey
from transports.encrypted.sealed import SealedPlace
from transports.encrypted.sealing import seal_envelope
from vault.records import Verifier
from vault.releasing import release
from vault.revisions.history import releases
from vault.suite import SigningKey
from vault.vault import Vault

_FULL = 4096  # boxes that an envelope may have


class Counting(VaultKeys):
    """The keys of a vault, and how often one was asked for."""

    boxes = finds = 0

    def open_box(self, box: bytes) -> bytes | None:
        self.boxes += 1
        return super().open_box(box)

    def find(self, identifier: bytes) -> list[EpochKey]:
        self.finds += 1
        return super().find(identifier)


@pytest.fixture
def alice(shelf: Shelf) -> Vault:
    return shelf.lay(_alice)


def _alice(root: Path) -> Vault:
    alice = vaults.found(root)
    vaults.befriend(root, alice, "bob").close()
    set_encrypted(alice, place_named(alice, "stick"))
    sync(alice, ["stick"])
    return alice


def opened(vault: Vault) -> tuple[SealedPlace, Counting]:
    """Open the stick as a visit does, with keys that count."""
    drop = Drop.open(vault.folder.parent / "stick")
    keys = Counting(vault, drop.place_id, is_on=True)
    return SealedPlace(drop, vault.node, keys), keys


def lay(medium: SealedPlace, group: str, alias: Verifier, head: bytes) -> int:
    """Put bytes where an encrypted mailbox lies; return how many."""
    drop = Drop.open(medium._inner.path)  # type: ignore[attr-defined]
    path = drop.mailbox_path(medium.boxes.room(group), alias)
    path.mkdir(parents=True, exist_ok=True)
    (path / "head.rec").write_bytes(head)
    return len(head)


def foreign(count: int) -> bytes:
    """Return an envelope with boxes that are sealed to nobody."""
    return b"LACEENV0" + count.to_bytes(2, "big") + os.urandom(80 * count) + b"LACESEA1" + os.urandom(80)


def test_foreign_boxes_are_read_and_tried_once_in_a_visit(alice: Vault) -> None:
    """CYB-17: they cost a visit what they are long, however often it looks at the medium."""
    medium, keys = opened(alice)
    laid = sum(lay(medium, alice.group, Verifier(bytes([n]) * 32), foreign(300)) for n in (1, 2, 3))
    mine = opened(alice)[0]
    mine.nodes(alice.group)
    for _ in range(3):
        medium.nodes(alice.group)
    assert len(medium.boxes.closed) == 3
    assert 900 <= keys.boxes < 950
    assert medium.count.read < laid + (64 << 10)
    medium.close()
    tried = keys.boxes
    lay(medium, alice.group, Verifier(bytes([1]) * 32), foreign(40))
    medium.nodes(alice.group)  # as after a look at the plan: what changed is tried, and nothing else
    assert keys.boxes == tried + 40


def test_a_mailbox_that_is_opened_later_in_a_visit_is_found(alice: Vault) -> None:
    """CYB-17: one whose owner seals it to me while I look at it, and one under a key that another one tells."""
    medium, _ = opened(alice)
    alias = Verifier(bytes(32))
    lay(medium, alice.group, alias, foreign(3))
    medium.nodes(alice.group)
    assert medium.boxes.closed == [alias]
    medium.close()
    stranger = SigningKey.from_seed(b"s" * 32)
    lay(medium, alice.group, alias, sealed(medium, stranger, alias, EpochKey(b"k" * 16, b"K" * 32), [alice.node]))
    assert stranger.verifier in medium.nodes(alice.group)
    assert medium.boxes.closed == []


def sealed(
    medium: SealedPlace,
    owner: SigningKey,
    alias: Verifier,
    key: EpochKey,
    recipients: list[Verifier],
    told: tuple[EpochKey, ...] = (),
) -> bytes:
    return seal_envelope(
        b"record",
        key,
        owner=owner.verifier,
        recipients=recipients,
        keys=told,
        sign=owner.sign_statement,
        entropy=os.urandom,
        context=medium.boxes.context(alias, b"head"),
    )


def test_mailboxes_that_open_one_another_are_tried_as_often_as_there_are(alice: Vault) -> None:
    """CYB-17: each is under a key that only one tells which lies behind it, so that every look opens one."""
    medium, keys = opened(alice)
    count = 60
    chain = [EpochKey(bytes([n]) * 16, bytes([n]) * 32) for n in range(count + 1)]
    for n, (key, following) in enumerate(itertools.pairwise(chain)):
        owner, alias = SigningKey.from_seed(bytes([n]) * 32), Verifier(bytes([200 - n]) * 32)
        recipients = [alice.node] if n == 0 else [SigningKey.from_seed(b"x" * 32).verifier]
        lay(medium, alice.group, alias, sealed(medium, owner, alias, key, recipients, (following,)))
    nodes = medium.nodes(alice.group)
    assert len(nodes) == count + 2  # and alice, and bob in plain
    assert medium.boxes.closed == []
    assert keys.boxes <= 2 * count
    assert keys.finds <= 4 * count


def test_what_is_tried_in_vain_has_a_limit_and_a_friend_is_read_beyond_it(
    alice: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17: what lies beyond counts as encrypted to others and is told; who was read before, is read."""
    monkeypatch.setattr(boxes, "_TRIES", 3 * _FULL)
    with Vault(tmp_path / "bob", vaults.around(tmp_path, "bob")) as bob:
        for vault in (bob, alice, bob, alice):
            sync(vault, ["stick"])
        medium, keys = opened(alice)
        for n in range(5):
            lay(medium, alice.group, Verifier(bytes([n]) * 32), foreign(_FULL))
        vaults.write(bob, "b.txt", "more\n")
        made = release(bob, None, "more")
        sync(bob, ["stick"])
        medium.nodes(alice.group)
        assert keys.boxes <= 3 * _FULL
        assert len(medium.boxes.closed) == 5
        (result,) = sync(alice, ["stick"])
        assert [problem.message for problem in result.problems if "5 mailboxes here are encrypted" in problem.message]
        assert made.release in {found.hash for found in releases(alice.store)}


def test_the_key_that_opens_boxes_is_made_once() -> None:
    """CYB-17: of a signing key one pair opens every box, and a wrong box as before nothing."""
    from vault.suite import seal_box

    mine, other = SigningKey.from_seed(b"m" * 32), SigningKey.from_seed(b"o" * 32)
    box = seal_box(mine.verifier, b"secret")
    assert box is not None
    assert [mine.open_box(box), other.open_box(box), mine.open_box(box)] == [b"secret", None, b"secret"]
    pair = mine._opens
    mine.open_box(box)
    assert mine._opens is pair
