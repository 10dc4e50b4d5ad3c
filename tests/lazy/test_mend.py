"""`fsck --repair` fetches what was damaged from a place that has it, and publishes anew what rotted there (APP-13)."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import lazy.visits.rot
from lazy.belonging.beacon import Presence, publish_beacon
from lazy.mend import examine, mend
from lazy.places.media import open_medium, set_encrypted
from lazy.places.registry import places
from lazy.places.turns import turn
from lazy.queue import waiting_records
from lazy.receiving.refusals import AFTER_CUT, Refusal, remember
from lazy.sync import sync
from tests.vault.test_showing import sealed_again
from tests.vault.vaults import around, lived_in, trail, write
from transports.drop.marker import MARKER
from transports.drop.place import Drop
from transports.encrypted.sealed import SealedPlace
from transports.errors import PlaceNotWritable
from transports.listing import Listing
from transports.mailbox import Mailbox
from transports.reading import read_listing
from transports.snapshot import SnapshotHead
from vault.audit.entries import read_audit
from vault.audit.trail import verify_trail
from vault.errors import Cancelled
from vault.folder.work import commit
from vault.fsck.check import check
from vault.fsck.report import FsckReport
from vault.records import RecordHash, Seal, parse_record
from vault.releasing import release
from vault.revisions.history import releases
from vault.vault import Vault
from vault.watch import Watch


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two friends' vaults and their stick."""
    root = tmp_path_factory.mktemp("mend")
    for vault in lived_in(root):
        vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        vault.close()
    return root


@pytest.fixture
def alice(tmp_path: Path, grown: Path) -> Iterator[Vault]:
    """A copy of alice's, with a copy of the stick."""
    root = tmp_path / "root"
    shutil.copytree(grown, root)
    with Vault(root / "alice", around(root, "alice")) as vault:
        with vault.store.transaction():
            vault.store.run("UPDATE place SET uri = ?", (root / "stick").as_uri())
        yield vault


def _flip(data: bytes, at: int) -> bytes:
    found = bytearray(data)
    found[at // 8] ^= 1 << at % 8
    return bytes(found)


def _shared(vault: Vault) -> list[tuple[int, RecordHash]]:
    rows = vault.store.rows("SELECT b.p, b.kind, b.digest FROM body b JOIN exposure e USING (p) ORDER BY b.p")
    return [(int(p), RecordHash(str(kind), bytes(digest))) for p, kind, digest in rows]


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_of_a_shared_record_is_named_and_its_good_copy_fetched(alice: Vault, seed: int) -> None:
    """APP-13, LAZ-24, CYB-11: verified bytes from the stick, and an entry in the trail."""
    rng = random.Random(seed)
    p, record = rng.choice(_shared(alice))
    stored = bytes(alice.store.rows("SELECT bytes FROM body WHERE p = ?", p)[0][0])
    with alice.store.transaction():
        alice.store.run("UPDATE body SET bytes = ? WHERE p = ?", _flip(stored, rng.randrange(len(stored) * 8)), p)
    assert ("record", record.text) in {(bad.kind, bad.name) for bad in examine(alice).bad}
    report = mend(alice)
    assert report.ok
    assert record.text in {bad.name for bad in report.repaired}
    assert alice.store.stored(record) == stored
    assert check(alice).ok
    newest = list(trail(alice))[-1]
    assert newest.plex.first("Verb") == "lace-repair"
    assert verify_trail(alice).ok
    (result,) = sync(alice, ["stick"])
    assert result.problems == []


def test_the_trail_names_its_last_entry_where_that_was_lost(alice: Vault) -> None:
    """CYB-10: the chain fits without it. A key that is away for the repair puts that off until the next one."""
    ((p, kind, digest, stored),) = alice.store.rows(
        "SELECT b.p, b.kind, b.digest, b.bytes FROM audit a JOIN body b USING (p) ORDER BY a.seq DESC LIMIT 1"
    )
    record = RecordHash(str(kind), bytes(digest))
    with alice.store.transaction():
        alice.store.run("UPDATE body SET bytes = ? WHERE p = ?", _flip(bytes(stored), 800), p)
    keys = alice.keys_here.path(alice.node)
    keys.rename(keys.with_suffix(".away"))
    assert not mend(alice).ok
    assert verify_trail(alice).ok
    keys.with_suffix(".away").rename(keys)
    assert ("record", record.text) in {(bad.kind, bad.name) for bad in examine(alice).bad}
    assert {bad.name for bad in mend(alice).bad} == {record.text}
    assert record.text in read_audit(list(trail(alice))[-1]).relates_to
    assert examine(alice).ok


def test_a_marker_that_is_gone_is_written_anew_where_my_mailbox_says_which_stick_it_is(alice: Vault) -> None:
    """APP-13, CYB-15: who deletes the file that nobody knows, or copies half of a stick, ends no meeting there."""
    marker = alice.folder.parent / "stick" / MARKER
    text = marker.read_bytes()
    marker.unlink()
    (bad,) = examine(alice).bad
    assert bad.message.startswith(f"The file {MARKER} on stick is gone")
    umask = os.umask(0o077)
    try:
        assert mend(alice).ok
    finally:
        os.umask(umask)
    assert marker.read_bytes() == text
    assert marker.stat().st_mode & 0o044 == marker.parent.stat().st_mode & 0o044  # a friend here reads it too
    (result,) = sync(alice, ["stick"])
    assert result.problems == []


@pytest.mark.parametrize("is_here", [True, False])
def test_what_the_stick_has_does_not_wait_for_it_after_a_repair(alice: Vault, is_here: bool) -> None:
    """LAZ-54, APP-13: a repair lets no cursor stand; what its stick has is known all the same, and next to nothing new.

    A stick that is away is taken at its last word: only what was made or fetched anew since may wait for it.
    """
    sync(alice, ["stick"])
    assert waiting_records(alice) == {}
    stick = alice.folder.parent / "stick"
    record = _shared(alice)[0][1]
    p, stored = alice.store.position(record), alice.store.stored(record)
    assert stored is not None
    with alice.store.transaction():
        alice.store.run("UPDATE body SET bytes = ? WHERE p = ?", _flip(stored, 80), p)
    if not is_here:
        stick.rename(stick.with_name("away"))
    mend(alice)
    if not is_here:
        assert waiting_records(alice).get("stick", 0) <= 1
        stick.with_name("away").rename(stick)
        mend(alice)  # the damaged record comes back from there
    assert waiting_records(alice) == {}
    (result,) = sync(alice, ["stick"], dry_run=True)
    assert result.sent == 0


def test_a_repair_asks_again_for_what_an_earlier_version_refused(alice: Vault) -> None:
    """APP-13, LAZ-71: what a cut kept out that was moved since was never asked for again by earlier versions."""
    root = alice.folder.parent
    with Vault(root / "bob", around(root, "bob")) as bob:
        with bob.store.transaction():
            bob.store.run("UPDATE place SET uri = ?", (root / "stick").as_uri())
        write(bob, "later.txt", "later\n")
        late = release(bob, None, "later").release
        ((entry,),) = bob.store.rows("SELECT hash FROM log WHERE node = ? ORDER BY seq DESC LIMIT 1", bob.node.text)
        sync(bob, ["stick"])
    with alice.writing() as w:
        remember(w, [Refusal(RecordHash.parse(str(entry)), AFTER_CUT, "it is sealed after the cut")], "stick")
    sync(alice, ["stick"])
    assert late not in {found.hash for found in releases(alice.store)}
    assert mend(alice).ok
    sync(alice, ["stick"])
    assert late in {found.hash for found in releases(alice.store)}


def test_entries_of_logs_that_are_gone_without_a_trace_come_back_with_the_next_sync(alice: Vault) -> None:
    """APP-13, LAZ-24: mine from my own mailbox where no friend read it yet; until then a repair names the gap."""
    for text in ("two", "three"):
        write(alice, "a.txt", text)
        release(alice, None, text)
        sync(alice, ["stick"])
    logs = alice.store.rows("SELECT node, max(seq) FROM log GROUP BY node ORDER BY node")
    gone = [int(top) - 1 if node == alice.node.text else 1 for node, top in logs]
    with alice.store.transaction():
        for (node, _), seq in zip(logs, gone, strict=True):
            alice.store.run("DELETE FROM body WHERE p = (SELECT p FROM log WHERE node = ? AND seq = ?)", node, seq)
    named = {(bad.kind, bad.name, bad.code) for bad in mend(alice).bad}
    assert named == {
        ("log", str(seq), "gap") for (node, _), seq in zip(logs, gone, strict=True) if node == alice.node.text
    }
    sync(alice, ["stick"])
    assert examine(alice).ok
    assert alice.store.rows("SELECT node, seq FROM vector ORDER BY node") == logs


def test_a_second_seal_that_an_earlier_version_did_not_share_is_shared_after_a_repair(alice: Vault) -> None:
    """APP-13, LAZ-64: two Seals over one log entry both travel."""
    with Vault(alice.folder.parent / "bob", around(alice.folder.parent, "bob")) as bob:
        ((entry,),) = alice.store.rows("SELECT hash FROM log WHERE node = ? AND seq = 1", bob.node.text)
        first = parse_record(alice.store.stored(RecordHash.parse(str(entry))) or b"")
        assert isinstance(first, Seal)
        again = sealed_again(first, bob.key())
    with alice.writing(receiving=True) as w:
        w.put([again])
    p = alice.store.position(again.hash)
    with alice.store.transaction():
        alice.store.run("DELETE FROM shared WHERE p = ?", p)
        alice.store.run("DELETE FROM exposure WHERE p = ?", p)
    sync(alice, ["stick"])
    assert {(bad.kind, bad.name) for bad in examine(alice).bad} == {("view", "shared")}
    assert mend(alice).ok
    (result,) = sync(alice, ["stick"])
    assert result.sent > 0
    assert alice.store.rows("SELECT 1 FROM exposure WHERE p = ?", p)


def test_files_that_nothing_names_go_and_a_bundle_only_at_the_second_look(alice: Vault) -> None:
    """Architecture, decision 4: what an interruption left on the stick does not stay for ever."""
    mailbox = next(path for path in (alice.folder.parent / "stick").rglob(alice.node.key.hex()))
    before = sorted(path.name for path in mailbox.iterdir())
    run, bundle = mailbox / f"r-{'0' * 32}.run", mailbox / f"b-{'0' * 32}.bnd"
    run.write_bytes(b"left")
    bundle.write_bytes(b"left")
    assert mend(alice).ok
    assert (run.exists(), bundle.exists()) == (False, True)
    assert mend(alice).ok
    assert sorted(path.name for path in mailbox.iterdir()) == before


def test_a_repair_waits_for_no_visit_to_delete_what_nothing_names(alice: Vault) -> None:
    """APP-3, APP-13: behind a visit that was stopped it waited for ever, said nothing, and could not be stopped."""
    (stick,) = places(alice)
    left = Drop.open(alice.folder.parent / "stick").mailbox_path(alice.group, alice.node) / f"r-{'0' * 32}.run"
    left.write_bytes(b"left")
    told: list[str] = []
    slept: list[float] = []
    with turn(alice, stick), Vault(alice.folder, replace(alice.around, sleep=slept.append)) as other:
        assert mend(other, watch=Watch(lambda _done, _total, what: told.append(what))).ok
    assert left.exists()
    assert (slept, [what for what in told if "wait" in what]) == ([], [])
    assert mend(alice).ok
    assert not left.exists()


def test_what_no_place_has_is_named(alice: Vault) -> None:
    """APP-14: a record that was never shared is lost, and nobody says otherwise."""
    row = alice.store.rows(
        "SELECT b.p, b.kind, b.digest, b.bytes FROM body b JOIN commits c USING (p)"
        " WHERE p NOT IN (SELECT p FROM exposure) ORDER BY p DESC LIMIT 1"
    )[0]
    record = RecordHash(str(row[1]), bytes(row[2]))
    with alice.store.transaction():
        alice.store.run("UPDATE body SET bytes = ? WHERE p = ?", _flip(bytes(row[3]), 900), row[0])
    report = mend(alice)
    assert not report.ok
    assert ("record", record.text, "lost") in {(bad.kind, bad.name, bad.code) for bad in report.bad}


def test_a_repair_of_much_does_not_compare_all_that_came_back_with_all_that_is_lost(
    alice: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: four thousand of each took minutes, in which nothing was shown and nothing could be stopped."""
    before = int(alice.store.rows("SELECT max(p) FROM body")[0][0])
    for end in ("shared", "own"):
        for number in range(100):
            write(alice, f"{end}/{number}.txt", f"{end} {number}\n")
        if end == "shared":
            release(alice)
            sync(alice, ["stick"])
        else:
            commit(alice, "not shared")
    shutil.rmtree(alice.folder / "own")
    rows = alice.store.rows(
        "SELECT p, bytes FROM body JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE s.s = 'lace/data' AND p > ?",
        before,
    )
    with alice.store.transaction():
        for p, stored in rows:
            alice.store.run("UPDATE body SET bytes = ? WHERE p = ?", _flip(bytes(stored), 900), p)
    asked, text = [0], RecordHash.text.fget  # type: ignore[attr-defined]

    def counted(record: RecordHash) -> str:
        asked[0] += 1
        return str(text(record))

    monkeypatch.setattr(RecordHash, "text", property(counted))
    report = mend(alice)
    lost = [bad for bad in report.bad if bad.code == "lost"]
    assert (len(rows), len(lost), len(report.repaired) >= 100) == (200, 100, True)
    assert asked[0] < 10_000
    assert not {bad.name for bad in lost} & {bad.name for bad in report.repaired}


@pytest.mark.parametrize("end", ["*.bnd", "*.run", "head.rec"])
def test_a_flipped_bit_in_my_mailbox_is_named_and_healed_by_me(alice: Vault, end: str) -> None:
    """APP-13, fault 7: same size, one bit, anywhere in each file of mine on the stick; everything readable after."""
    mailbox = next(path for path in (alice.folder.parent / "stick").rglob(alice.node.key.hex()))
    for number in range(1 if end == "*.bnd" else 3):  # a bundle that nothing rests on any more stays for a while
        files = sorted(mailbox.glob(end)) or sorted(path for path in mailbox.iterdir() if "head" in path.name)
        path = files[number % len(files)]  # healing may have written others
        whole = path.read_bytes()
        path.write_bytes(_flip(whole, random.Random(number).randrange(len(whole) * 8)))
        named = [bad for bad in examine(alice).bad if bad.kind == "place"]
        assert named, path.name
        report = mend(alice)
        assert report.ok
        assert {bad.name for bad in named} <= {bad.name for bad in report.repaired}
        assert examine(alice).ok
    with Vault(alice.folder.parent / "bob", around(alice.folder.parent, "bob")) as bob:
        with bob.store.transaction():
            bob.store.run("UPDATE place SET uri = ?", (alice.folder.parent / "stick").as_uri())
        (result,) = sync(bob, ["stick"])
        assert result.problems == []


@pytest.mark.parametrize("look", [examine, mend])
def test_a_sync_of_mine_that_goes_on_is_no_damage(
    alice: Vault, monkeypatch: pytest.MonkeyPatch, look: Callable[[Vault], FsckReport]
) -> None:
    """APP-13: between the head and its runs my own sync deleted these, and a sound stick was called damaged."""
    (mailbox,) = (path for path in (alice.folder.parent / "stick").rglob(alice.node.key.hex()))
    runs = set(mailbox.glob("*.run"))

    def late(mailbox: Mailbox, head: SnapshotHead) -> Listing:
        monkeypatch.undo()
        with Vault(alice.folder, alice.around) as other:
            while any(run.exists() for run in runs):
                write(other, "a.txt", str(other.around.now_ns()))
                release(other, None, "again")
                sync(other, ["stick"])
        return read_listing(mailbox, head)

    monkeypatch.setattr(lazy.visits.rot, "read_listing", late)
    report = look(alice)
    assert not any(run.exists() for run in runs)
    assert report.ok, report.bad
    assert not report.repaired


@pytest.mark.parametrize("what", ["head.rec", "*.run", "*.bnd"])
def test_a_directory_where_a_file_of_my_mailbox_belongs_is_set_aside(alice: Vault, what: str) -> None:
    """APP-13: it is named, the file is written anew, and what somebody put there is not deleted."""
    mailbox = next(path for path in (alice.folder.parent / "stick").rglob(alice.node.key.hex()))
    for _ in range(2):
        path = max(mailbox.glob(what), key=lambda path: path.stat().st_mtime_ns)
        path.unlink()
        path.mkdir()
        (path / "somebody's").write_text("keep me")
        named = [bad.name for bad in examine(alice).bad if bad.kind == "place"]
        assert named
        report = mend(alice)
        assert report.ok
        assert set(named) <= {bad.name for bad in report.repaired}
        assert examine(alice).ok
        assert not path.is_dir()
        (result,) = sync(alice, ["stick"])
        assert result.problems == []
    kept = [path.parent.name for path in mailbox.rglob("somebody's")]
    assert len(kept) == 2
    assert all(".aside" in name for name in kept)


@pytest.mark.parametrize("what", ["head.rec", "*.run", "*.bnd"])
def test_a_directory_in_my_encrypted_mailbox_is_set_aside_too(alice: Vault, what: str) -> None:
    """APP-13, CYB-17: no name there says whose it is, and meanwhile a friend reads everybody else's."""
    root = alice.folder.parent
    with Vault(root / "bob", around(root, "bob")) as bob:
        with bob.store.transaction():
            bob.store.run("UPDATE place SET uri = ?", (root / "stick").as_uri())
        for vault in (alice, bob):
            set_encrypted(vault, places(vault)[0])
        for vault in (alice, bob, alice, bob):
            sync(vault, ["stick"])
        medium = open_medium(alice, places(alice)[0])
        assert isinstance(medium, SealedPlace)
        mailbox = Drop.open(root / "stick").mailbox_path(medium.boxes.room(alice.group), medium.boxes.keys.alias())
        path = max(mailbox.glob(what), key=lambda path: path.stat().st_mtime_ns)
        path.unlink()
        path.mkdir()
        (path / "somebody's").write_text("keep me")
        (result,) = sync(bob, ["stick"])
        assert {problem.peer for problem in result.problems} <= {"alice"}
        named = [bad.name for bad in examine(alice).bad if bad.kind == "place"]
        assert named
        report = mend(alice)
        assert report.ok
        assert set(named) <= {bad.name for bad in report.repaired}
        assert not path.is_dir()
        assert [kept.parent.name for kept in mailbox.rglob("somebody's")] == [f"{path.name}.aside"]
        for vault in (alice, bob):
            (result,) = sync(vault, ["stick"])
            assert result.problems == []


@pytest.mark.parametrize("is_encrypted", [False, True])
@pytest.mark.parametrize("name", ["request.rec", "beacon.rec"])
def test_a_directory_beside_the_head_of_my_mailbox_stops_nothing(alice: Vault, name: str, is_encrypted: bool) -> None:
    """APP-13: it is damage of a file that nothing rests on; what somebody put there is not deleted."""
    drop = Drop.open(alice.folder.parent / "stick")
    mailboxes = [drop.mailbox_path(alice.group, alice.node)]
    if is_encrypted:
        set_encrypted(alice, places(alice)[0])
        sync(alice, ["stick"])
        medium = open_medium(alice, places(alice)[0])
        assert isinstance(medium, SealedPlace)
        mailboxes.append(drop.mailbox_path(medium.boxes.room(alice.group), medium.boxes.keys.alias()))
    for mailbox in mailboxes:
        (mailbox / name).mkdir(parents=True)
        (mailbox / name / "somebody's").write_text("keep me")
    for status in (Presence.BUSY, None):
        publish_beacon(alice, status)
        write(alice, "a.txt", f"{status}")
        release(alice, None, f"{status}")
        (result,) = sync(alice, ["stick"])
        assert (result.queued, result.refusal, result.problems) == (False, None, [])
        assert result.sent > 0
    kept = drop.path.rglob("somebody's")
    assert {path.parent.name for path in kept} <= {name, f"{name}.aside"}
    assert (mailboxes[-1] / f"{name}.aside" / "somebody's").read_text() == "keep me"


def test_a_repair_that_is_stopped_while_it_publishes_ends_there(alice: Vault) -> None:
    """APP-3, APP-13: nothing follows on what was stopped, and the next repair does all of it."""
    mailbox = next(path for path in (alice.folder.parent / "stick").rglob(alice.node.key.hex()))
    bundle, left = max(mailbox.glob("*.bnd")), mailbox / f"r-{'0' * 32}.run"
    bundle.write_bytes(_flip(bundle.read_bytes(), 800))
    left.write_bytes(b"left")
    trail_before = len(list(trail(alice)))

    def cancelled() -> None:
        if alice.store.rows("SELECT 1 FROM published WHERE head = x''"):
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        mend(alice, watch=Watch(cancelled=cancelled))
    assert left.exists(), "what nothing names is deleted after my mailbox is whole"
    assert len(list(trail(alice))) == trail_before
    assert mend(alice).ok
    assert not left.exists()


def test_what_could_not_be_published_anew_is_named_by_the_repair_too(
    alice: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-14: a repair does not say that all is well where the check before it found something."""
    (mailbox,) = (path for path in (alice.folder.parent / "stick").rglob(alice.node.key.hex()))
    head = mailbox / "head.rec"
    head.write_bytes(_flip(head.read_bytes(), 4000))

    def refused(*_: object) -> None:
        raise PlaceNotWritable("The stick is write-protected.")

    monkeypatch.setattr(Drop, "writer", refused)
    (named,) = examine(alice).bad
    report = mend(alice)
    assert not report.ok
    assert report.bad == (named,)
    assert not report.repaired
    monkeypatch.undo()
    assert mend(alice).ok
