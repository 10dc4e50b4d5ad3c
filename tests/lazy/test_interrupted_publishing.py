"""A publishing that is cut off before its head: what it wrote is used, and shown by nothing until then (LAZ-10)."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from lazy.places.adding import add_place
from lazy.places.registry import serving
from lazy.places.roads import open_place
from lazy.visits.publish import publish_mine
from tests.transports.git_hosts import bare_repository
from tests.vault.vaults import found
from transports.drop.writer import DropWriter
from transports.errors import PlaceUnreachable
from transports.git.writer import GitWriter
from transports.mailbox import Mailbox, MailboxMedium
from transports.publishing import unnamed_files
from transports.reading import fetch, read_head, read_listing
from vault.records.hashes import RecordHash
from vault.releasing import release
from vault.vault import Vault

BELONGING = 2  # records that say who belongs; each mailbox that begins holds them itself


@pytest.fixture
def alice(tmp_path: Path) -> Iterator[Vault]:
    with found(tmp_path) as vault:
        yield vault


def opened(vault: Vault, name: str) -> MailboxMedium:
    """Open a place as each command does."""
    (place,) = serving(vault, name)
    return open_place(place)


def released(vault: Vault, path: str, size: int) -> None:
    """Release noise, which takes as much room in a bundle as in the folder."""
    (vault.folder / path).write_bytes(random.Random(path).randbytes(size))
    release(vault, None, path)


def shown(vault: Vault, place: MailboxMedium) -> dict[RecordHash, bytes | None]:
    """Return what a friend finds in the vault's mailbox; nothing where no head lies."""
    mailbox = Mailbox(place, vault.group, vault.node)
    seen = read_head(mailbox)
    if seen is None:
        return {}
    listing = read_listing(mailbox, seen.head)
    return {item.hash: item.record for item in fetch(place, vault.group, listing, {one for one, _ in listing.items()})}


def cut_off(vault: Vault, place: MailboxMedium, writer: type[DropWriter | GitWriter]) -> None:
    """Publish, and lose the place when all is written but the head."""

    def lost(_writer: object, _record: bytes, _runs: Collection[str] | None = None) -> None:
        raise PlaceUnreachable("It was pulled out.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "publish_head", lost)
        with pytest.raises(PlaceUnreachable):
            publish_mine(vault, place, name="stick" if writer is DropWriter else "host")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_publishing_that_a_stick_lost_changes_nothing_and_is_used(
    alice: Vault, tmp_path: Path, is_first: bool
) -> None:
    """LAZ-10, faults.md row 5: the former state stays valid, and what was written is not written again."""
    add_place(alice, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    if not is_first:
        released(alice, "old.bin", 100_000)
        publish_mine(alice, opened(alice, "stick"), name="stick")
    before = shown(alice, opened(alice, "stick"))
    released(alice, "new.bin", 400_000)
    cut_off(alice, opened(alice, "stick"), DropWriter)
    assert shown(alice, opened(alice, "stick")) == before
    assert None not in before.values()

    again = opened(alice, "stick")
    done = publish_mine(alice, again, name="stick")
    assert done.copied == (BELONGING if is_first else 0)
    assert again.count.written < 50_000
    after = shown(alice, again)
    assert len(after) == len(before) + done.records
    assert after == {one: alice.store.stored(one) for one in after}

    mailbox = Mailbox(again, alice.group, alice.node)
    seen = read_head(mailbox)
    assert seen is not None
    unnamed = unnamed_files(mailbox, runs=seen.head.runs, listing=read_listing(mailbox, seen.head))
    assert all(name.endswith(".run") for name in unnamed)
    mailbox.writer().discard(unnamed)
    assert shown(alice, again) == after


def test_a_finished_bundle_that_a_host_has_is_used(alice: Vault, tmp_path: Path) -> None:
    """LAZ-10, faults.md row 5: as on a stick."""
    add_place(alice, "host", str(bare_repository(tmp_path / "remote.git")), cwd=tmp_path)
    released(alice, "new.bin", 20_000_000)
    cut_off(alice, opened(alice, "host"), GitWriter)
    again = opened(alice, "host")
    assert shown(alice, again) == {}
    done = publish_mine(alice, again, name="host")
    assert done.copied == BELONGING
    assert again.count.written < 500_000
    after = shown(alice, again)
    assert len(after) == done.records
    assert after == {one: alice.store.stored(one) for one in after}
