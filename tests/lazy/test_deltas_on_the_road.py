"""A new version of a large file travels as what changed, and arrives as the same records everywhere (CLAY-37)."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lazy.visits.my_mailbox
from lazy.folder.update import update
from tests.faults.circle import befriend, befriended, found, open_stick, visit
from tests.shelf import Shelf
from transports import reading
from transports.bundles.bundle import BundleReader, Fetched, FrameReads, Near, Slice
from transports.bundles.bundling import BundleWriter, write_bundles
from transports.errors import BadBundle
from transports.listing import Listing
from transports.reading import fetch
from vault import releasing
from vault.desks.content import data_plex
from vault.frames import encode
from vault.fsck.check import check
from vault.vault import Vault

_GROUP = "friends/0123456789abcdef"
_OLD, _NEW = (data_plex(_GROUP, random.Random(1).randbytes(20_000) + word) for word in (b"old", b"new"))


def size_of(stick: Path) -> int:
    return sum(path.stat().st_size for path in stick.rglob("*.bnd"))


def releases_of_a_large_file(alice: Vault, stick: Path, count: int) -> list[int]:
    content = bytearray(random.Random(5).randbytes(3_000_000))
    sizes = []
    for number in range(count):
        content[1_000_000:1_000_020] = b"%20d" % number
        (alice.folder / "large").write_bytes(content)
        releasing.release(alice, None, f"version {number}")
        visit(alice)
        sizes.append(size_of(stick))
    return sizes


def test_versions_travel_as_deltas_and_a_late_friend_reads_the_whole_chain(tmp_path: Path, shelf: Shelf) -> None:
    """CLAY-37: who has the base reads one frame; who has nothing reads the chain; both have the same records."""
    alice, bob, carol = shelf.lay(befriended, "bob", "carol")
    sizes = releases_of_a_large_file(alice, tmp_path / "stick", 2)
    visit(bob)
    sizes += releases_of_a_large_file(alice, tmp_path / "stick", 12)[2:]
    added = sorted(after - before for before, after in itertools.pairwise(sizes))
    assert added[len(added) // 2] < 8_000
    for friend in (bob, carol):
        result = visit(friend)
        assert not result.problems
        assert not result.came.rejected
        update(friend)
        assert (friend.folder / "large").read_bytes() == (alice.folder / "large").read_bytes()
        assert check(friend).ok
    for vault in (alice, bob, carol):
        vault.close()


def test_what_a_change_may_rest_on_is_known_without_reading_a_run(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-37: what I copied into my mailbox is there, however large the run is that names it."""
    alice, bob = shelf.lay(befriended, "bob")
    monkeypatch.setattr(lazy.visits.my_mailbox, "newest_runs", lambda *_: [])
    before, after = releases_of_a_large_file(alice, tmp_path / "stick", 4)[-2:]
    assert after - before < 8_000
    visit(bob)
    update(bob)
    assert (bob.folder / "large").read_bytes() == (alice.folder / "large").read_bytes()
    alice.close()
    bob.close()


def test_a_friend_who_edits_in_turn_and_one_who_comes_later_have_everything(tmp_path: Path, shelf: Shelf) -> None:
    """CLAY-37: chains that go through two people's mailboxes end, for one who begins with nothing."""
    alice, bob = shelf.lay(befriended, "bob")
    (alice.folder / "large").write_bytes(random.Random(6).randbytes(2_000_000))
    releasing.release(alice, None, "first")
    visit(alice)
    for number in range(10):
        for person in (bob, alice):
            visit(person)
            update(person)
            content = bytearray((person.folder / "large").read_bytes())
            content[500_000:500_020] = b"%20d" % number
            content[1_500_000:1_500_006] = b"%6s" % person.name.encode()
            (person.folder / "large").write_bytes(content)
            releasing.release(person, None, f"{person.name} {number}")
            visit(person)
    carol = befriend(tmp_path, alice, "carol")
    visit(carol)
    update(carol)
    assert (carol.folder / "large").read_bytes() == (alice.folder / "large").read_bytes()
    assert not carol.store.rows("SELECT want FROM hole")
    for vault in (alice, bob, carol):
        vault.close()


def bundle() -> tuple[bytes, FrameReads]:
    sink = io.BytesIO()
    writer = BundleWriter(sink)
    writer.add(_NEW.hash, "lace/data", _NEW.encode(), Near((_OLD.hash,), _OLD.encode()))
    run = writer.finish().run
    (entry,) = run
    place = entry.location
    assert place is not None
    wanted = (Slice(_NEW.hash, place.offset, place.length),)
    return sink.getvalue(), FrameReads(place.frame_offset, place.frame_stored, place.frame_raw, wanted)


def test_a_frame_against_a_base_is_small_and_needs_exactly_that_base() -> None:
    data, frame = bundle()
    assert frame.stored < 400
    (got,) = BundleReader(io.BytesIO(data), {_OLD.hash: _OLD.encode()}.get).read_records(frame)
    assert got.record == _NEW.encode()
    (got,) = BundleReader(io.BytesIO(data)).read_records(frame)
    assert got.record is None
    assert _OLD.hash.text in got.reason
    (got,) = BundleReader(io.BytesIO(data), lambda _: b"something else").read_records(frame)
    assert got.record is None


@given(at=st.integers(0, 10_000), byte=st.integers(1, 255))
def test_no_changed_byte_of_a_delta_gives_another_record(at: int, byte: int) -> None:
    """REC-5: hostile bytes in the delta, its bases included, cost this record and nothing else."""
    data, frame = bundle()
    changed = bytearray(data)
    changed[frame.offset + at % frame.stored] ^= byte
    (got,) = BundleReader(io.BytesIO(bytes(changed)), {_OLD.hash: _OLD.encode()}.get).read_records(frame)
    assert got.record in {None, _NEW.encode()}


@pytest.mark.parametrize("head", [b"\x00", b"\x41", b"\x01Q" + bytes(32), b"\x02P" + bytes(32), b""])
def test_a_delta_that_does_not_say_what_it_rests_on_is_refused(head: bytes) -> None:
    stored = b"LACEDLT0" + head + (encode(_NEW.encode(), _OLD.encode())[1] if head else b"")
    reader = BundleReader(io.BytesIO(stored), lambda _: _OLD.encode())
    with pytest.raises(BadBundle):
        reader._undelta(stored, len(_NEW.encode()))


def test_a_delta_may_not_make_its_reader_hold_much() -> None:
    stored = b"LACEDLT0\x40" + (b"P" + bytes(32)) * 64 + b"x"
    with pytest.raises(BadBundle, match="more bytes"):
        BundleReader(io.BytesIO(stored), lambda _: bytes(100_000))._undelta(stored, 100)


def test_a_delta_that_rests_on_itself_ends(tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile mailbox whose frames rest on each other costs a bounded number of reads."""
    alice = shelf.lay(found)
    drop = open_stick(tmp_path)
    writer = drop.writer(alice.group, alice.node)
    a, b = (data_plex(alice.group, random.Random(seed).randbytes(9_000)) for seed in (3, 4))
    records = [  # what each is said to rest on is not what it was compressed with, so that it is small
        (a.hash, "lace/data", a.encode(), Near((b.hash,), a.encode())),
        (b.hash, "lace/data", b.encode(), Near((a.hash,), b.encode())),
    ]
    (index,) = write_bundles(writer.add_bundle, records, set())
    listing = Listing([index.run.placed(index.ref(alice.node))])
    visits, read = itertools.count(), reading._Bundles.read

    def counted(*args: Any) -> Iterator[list[Fetched]]:
        next(visits)
        return read(*args)

    monkeypatch.setattr(reading._Bundles, "read", counted)
    got = {item.hash: item.record for item in fetch(drop, alice.group, listing, [a.hash, b.hash])}
    assert got == {a.hash: None, b.hash: None}
    assert 16 < next(visits) <= 1 + 2 * 16  # at most 16 deep, from either record
    alice.close()
