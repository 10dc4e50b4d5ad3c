"""What is noted as a copy lies in a bundle of mine, and making copies keeps nothing else back (CLAY-79)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.places.media import mailboxes_of_mine, open_medium
from lazy.places.no_room import note_without_room, without_room
from lazy.places.registry import place_named, remove_place
from lazy.problems import NO_PERSON_NEEDED
from lazy.sync import sync
from lazy.visits.my_mailbox import ANEW, MyListing
from lazy.visits.own_copies import Wanted, WantedRecord, refused_before
from tests.shelf import Shelf
from tests.vault.vaults import befriend, found
from transports.drop.place import Drop
from transports.proven import Proven
from vault.content.keeping import Keep, fetch, set_keep
from vault.content.prune import plan_prune, prune
from vault.errors import Cancelled
from vault.notes.places import WithoutRoom
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import commit_info, releases
from vault.vault import Vault
from vault.watch import Watch


@pytest.fixture
def pair(shelf: Shelf) -> tuple[Vault, Vault]:
    """Alice and bob with three releases of a file each, on two sticks where alice's mailbox names bob's bundles."""
    return shelf.lay(_pair)


def _pair(root: Path) -> tuple[Vault, Vault]:
    alice = found(root)
    (alice.folder / "alice.bin").write_bytes(song("alice", 0))
    release(alice)
    bob = befriend(root, alice, "bob")
    update(bob)
    for vault in (alice, bob):
        add_place(vault, "stick2", str(root / "stick2"), cwd=root)
    for number in (1, 2, 3):
        (alice.folder / "alice.bin").write_bytes(song("alice", number))
        release(alice)
    visited(alice, "stick", "stick2")
    visited(bob, "stick", "stick2")
    update(bob)
    for number in (1, 2, 3):
        (bob.folder / "bob.bin").write_bytes(song("bob", number))
        release(bob)
    for vault in (bob, alice, bob, alice):
        visited(vault, "stick", "stick2")
    update(alice)
    return alice, bob


def song(whose: str, number: int) -> bytes:
    """A file of which each version is wholly new."""
    return Random(f"{whose} {number}").randbytes(50_000)


def visited(vault: Vault, *names: str) -> None:
    """Sync with places that take and give all."""
    for result in sync(vault, names):
        assert not result.problems


def mailbox_of(vault: Vault, root: Path, name: str) -> Path:
    """Return the directory of a mailbox on a stick."""
    return mailboxes_of_mine(vault, Drop.open(root / name), open_medium(vault, place_named(vault, name)))[0]


def comes_back(vault: Vault, place: str) -> bool:
    """Ask for all that was let go, and tell whether a place brings it."""
    for each in releases(vault.store, "main"):
        fetch(vault, commit_info(vault.store, each.commit).tree, "")
    assert is_awaited(vault)
    visited(vault, place)
    return not is_awaited(vault)


def is_awaited(vault: Vault) -> bool:
    """Tell whether something that was asked for is not all here."""
    return bool(vault.store.rows("SELECT 1 FROM tomb WHERE wanted > 0"))


def test_what_came_back_from_a_friends_bundle_is_noted_as_no_copy(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79: one that came back beside some of my own was noted as lying in mine, and a prune let the last one go."""
    alice, bob = pair
    theirs = mailbox_of(bob, tmp_path, "stick2")
    set_keep(alice, "main", Keep("", 1))
    done = prune(alice)
    assert (done.files, done.unproven) == (3, 2)
    visited(alice, "stick")
    assert (prune(alice).files, plan_prune(alice).unproven) == (2, 0)
    assert comes_back(alice, "stick2")
    remove_place(alice, "stick")
    done = prune(alice)
    assert (done.files, done.unproven) == (3, 2)
    shutil.rmtree(theirs)
    assert comes_back(alice, "stick2")


def grown(stick: Path, mib: int, *, is_new: bool = False) -> None:
    """Let a stick be a disk of its own of some MiB."""
    what = ["-t", "tmpfs", "-o", f"size={mib}m", "tmpfs"] if is_new else ["-o", f"remount,size={mib}m"]
    if shutil.which("mount") is None:
        pytest.skip("no disk can be mounted here")
    if subprocess.run(["mount", *what, str(stick)], capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")


@pytest.fixture
def small_stick(tmp_path: Path) -> Iterator[Path]:
    """A stick of 17 MiB."""
    stick = tmp_path / "stick"
    stick.mkdir()
    grown(stick, 17, is_new=True)
    yield stick
    subprocess.run(["umount", "-l", str(stick)], check=True)


@pytest.fixture
def films(tmp_path: Path, small_stick: Path) -> Iterator[tuple[Vault, Vault]]:
    """Alice and bob, and two old films of bob's that a prune of alice's waits for: 6 MB of 12 MB on the stick."""
    assert small_stick.is_dir()
    alice = found(tmp_path)
    large(alice, "alice.bin", 3_000_000)
    bob = befriend(tmp_path, alice, "bob")
    update(bob)
    for _ in range(3):
        large(bob, "bob.bin", 3_000_000)
    for vault in (bob, alice, bob):
        visited(vault, "stick")
    update(alice)
    visited(alice, "stick")
    set_keep(alice, "main", Keep("bob.bin", 1))
    assert prune(alice).unproven == 2
    yield alice, bob
    for vault in (alice, bob):
        vault.close()


def large(vault: Vault, path: str, size: int) -> None:
    """Release a file that nothing makes smaller."""
    (vault.folder / path).write_bytes(Random(f"{path} {vault.around.now_ns()}").randbytes(size))
    release(vault)


@pytest.mark.parametrize("is_told", [True, False])
def test_copies_that_do_not_fit_keep_nothing_else_back(
    films: tuple[Vault, Vault], small_stick: Path, monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    """Fault 3, CLAY-79: nothing new of mine was published at any visit where what a prune waits for has no room."""
    alice, bob = films
    if not is_told:
        monkeypatch.setattr(shutil, "disk_usage", lambda _path: (0, 0, 0))  # a share that tells nothing
    large(alice, "alice.bin", 1_500_000)
    newest = releases(alice.store, "main")[0].version
    (dry,) = sync(alice, ["stick"], dry_run=True)
    (done,) = sync(alice, ["stick"])
    assert done.refusal is None
    assert dry.sent == done.sent or not is_told
    assert [problem.code for problem in done.problems] == ["copies-wait"]
    assert {problem.code for problem in done.problems} <= NO_PERSON_NEEDED
    visited(bob, "stick")
    assert newest in {each.version for each in releases(bob.store, "main")}
    some = prune(alice)  # where the place tells its room, what fits of them goes
    assert (some.files, some.unproven) == ((1, 1) if is_told else (0, 2))
    grown(small_stick, 34)
    if not is_told:
        a_day_later(alice, monkeypatch)
    visited(alice, "stick")
    assert prune(alice).files == some.unproven


def test_what_fits_of_more_that_waits_goes_at_once(films: tuple[Vault, Vault]) -> None:
    """CLAY-79: a small file that a prune waited for since then was tried no earlier than a day after a large one."""
    alice, bob = films
    (first,) = sync(alice, ["stick"])
    assert [problem.code for problem in first.problems] == ["copies-wait"]
    assert prune(alice).files == 1
    for size in (300_000, 200_000):
        large(bob, "bob.bin", size)
    visited(bob, "stick")
    sync(alice, ["stick"])
    update(alice)
    assert prune(alice).unproven == 3
    (dry,) = sync(alice, ["stick"], dry_run=True)
    (done,) = sync(alice, ["stick"])
    assert dry.sent == done.sent > 0
    assert prune(alice).files == 1
    assert sync(alice, ["stick"])[0].sent == 0


def a_day_later(vault: Vault, monkeypatch: pytest.MonkeyPatch, days: int = 1) -> None:
    """Let a vault's clock be some days ahead."""
    now = vault.around.now_ns
    monkeypatch.setattr(vault, "around", replace(vault.around, now_ns=lambda: now() + days * 86_400 * 10**9))


def written(vault: Vault) -> int:
    """Sync with a place where copies wait; return the bytes that were written there."""
    (done,) = sync(vault, ["stick"])
    assert [problem.code for problem in done.problems] == ["copies-wait"]
    return done.traffic.bytes_written


def test_copies_that_had_no_room_are_tried_again_once_something_changed(
    films: tuple[Vault, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 3, CLAY-79: a share that tells no room was written full, and emptied again, at each visit."""
    alice, _ = films
    tells = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (0, 0, 0))
    assert written(alice) > 3_000_000
    (dry,) = sync(alice, ["stick"], dry_run=True)
    assert (dry.sent, written(alice)) == (0, 0)
    a_day_later(alice, monkeypatch)
    assert written(alice) > 3_000_000
    a_day_later(alice, monkeypatch, -3)
    assert written(alice) > 3_000_000, "a clock that was put back"
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (1 << 40, 0, 1 << 40))
    assert written(alice) > 3_000_000, "it tells of room now"
    assert written(alice) == 0
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (1 << 40, 0, (1 << 40) + (1 << 19)))
    assert written(alice) == 0, "some comes and goes"
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (1 << 40, 0, (1 << 40) + (1 << 20)))
    assert written(alice) > 3_000_000
    monkeypatch.setattr(shutil, "disk_usage", tells)
    set_keep(alice, "main", Keep("bob.bin", 2))
    assert prune(alice).unproven == 1
    visited(alice, "stick")
    assert prune(alice).files == 1
    assert without_room(alice.store, "stick") is None


class _Attic(Drop):
    kind = "attic"


class _Host(Drop):
    tells_room = False  # what is free is what this machine has


def test_a_medium_tells_whether_its_room_is_its_own(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79: what is tried again went by the kind of a place, of which a new one would have been forgotten."""
    alice, _ = pair
    Drop.create(tmp_path / "attic", entropy=alice.around.entropy)
    film = RecordHash("P", bytes(32))
    more = Wanted((film,), {film: WantedRecord(1, "film", 2000, 2000)})
    known = WithoutRoom(1000, 1000, None, alice.around.now_ns())
    with alice.writing(receiving=True) as w:
        note_without_room(w, "full attic", known._replace(free=1 << 60))
        note_without_room(w, "full host", known)
    assert refused_before(alice, _Attic.open(tmp_path / "attic"), "full attic", more) is None
    assert refused_before(alice, _Host.open(tmp_path / "attic"), "full host", more) == known


def test_a_place_that_is_forgotten_is_tried_under_its_name(
    films: tuple[Vault, Vault], small_stick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-79: what had no room at one place says nothing of another."""
    alice, _ = films
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (0, 0, 0))
    assert written(alice) > 0
    assert without_room(alice.store, "stick") is not None
    remove_place(alice, "stick")
    assert without_room(alice.store, "stick") is None
    add_place(alice, "stick", str(small_stick), cwd=tmp_path)
    assert written(alice) > 3_000_000


def bundles_of(alice: Vault, root: Path) -> int:
    """Return the bytes of the bundles in a mailbox on the stick."""
    return sum(file.stat().st_size for file in mailbox_of(alice, root, "stick").glob("b-*.bnd"))


def test_whole_bundles_of_copies_take_no_room_for_good(
    films: tuple[Vault, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 3, CLAY-79: each whole bundle of copies stayed on the full place under no head, and nothing else fitted."""
    alice, bob = films
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (0, 0, 0))  # a share that tells nothing
    monkeypatch.setattr("transports.publishing._PUBLISH_LIMIT", 1 << 20)
    before = bundles_of(alice, tmp_path)
    for size in (500_000, 1_500_000, 500_000):
        large(alice, "alice.bin", size)
        for vault in films:
            a_day_later(vault, monkeypatch)
        (done,) = sync(alice, ["stick"])
        assert done.refusal is None
        assert [problem.code for problem in done.problems] == ["copies-wait"]
    assert bundles_of(alice, tmp_path) < before + 2_600_000
    visited(bob, "stick")
    assert len(releases(bob.store, "main")) == len(releases(alice.store, "main"))


@pytest.mark.parametrize("is_told", [True, False])
def test_copies_that_a_cut_visit_left_make_room_for_what_is_new(
    films: tuple[Vault, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    """Fault 3, CLAY-79: they lay under no head, and what was new had no room beside them at any visit."""
    alice, _ = films
    tells = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (0, 0, 0))
    monkeypatch.setattr("transports.publishing._PUBLISH_LIMIT", 1 << 20)
    before = bundles_of(alice, tmp_path)

    def cancelled() -> None:
        if bundles_of(alice, tmp_path) > before + 3_000_000:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        sync(alice, ["stick"], watch=Watch(cancelled=cancelled))
    if is_told:
        monkeypatch.setattr(shutil, "disk_usage", tells)
    large(alice, "alice.bin", 4_000_000)
    (done,) = sync(alice, ["stick"])
    assert done.refusal is None
    assert [problem.code for problem in done.problems] == ["copies-wait"]
    assert bundles_of(alice, tmp_path) < before + 4_100_000


def test_small_files_that_fit_are_not_refused(tmp_path: Path, small_stick: Path) -> None:
    """Fault 3: a third of what small files hold had to be free, and data as programs write it takes a tenth."""
    with found(tmp_path) as alice:
        for number in range(1_400):
            rows = [{"row": row, "value": number * row, "comment": "none"} for row in range(60)]
            (alice.folder / f"{number}.json").write_text(json.dumps(rows))
        release(alice)
        add_place(alice, "stick", str(small_stick), cwd=tmp_path)
        grown(small_stick, 1)
        visited(alice, "stick")


def test_copies_that_a_cut_visit_left_are_not_made_again(
    films: tuple[Vault, Vault], small_stick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INT-120, CLAY-79: they were written from the beginning, and after a release they lay there twice for good."""
    alice, _ = films
    grown(small_stick, 34)
    monkeypatch.setattr("transports.publishing._PUBLISH_LIMIT", 1 << 20)
    before = bundles_of(alice, tmp_path)

    def cancelled() -> None:
        if bundles_of(alice, tmp_path) > before + 4_000_000:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        sync(alice, ["stick"], watch=Watch(cancelled=cancelled))
    large(alice, "alice.bin", 100_000)
    visited(alice, "stick")
    assert bundles_of(alice, tmp_path) < before + 6_300_000
    assert prune(alice).files == 2
    assert comes_back(alice, "stick")


def test_many_copies_are_made_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-79: chosen by their hashes they were more parts of the log than a place notes, and asked for for ever."""
    monkeypatch.setattr("vault.content.copies.MOST_COPIES_WANTED", 10)
    monkeypatch.setattr("lazy.visits.my_mailbox._SPANS", 10)
    alice = found(tmp_path)
    bob = befriend(tmp_path, alice, "bob")
    for version in range(3):
        for number in range(40):
            (alice.folder / f"{number}.bin").write_bytes(Random(f"{version} {number}").randbytes(5_000))
        release(alice)
    for vault in (alice, bob):
        visited(vault, "stick")
    update(bob)
    visited(bob, "stick")
    set_keep(bob, "main", Keep("", 1))
    gone = 0
    for _ in range(8):
        gone += prune(bob).files
        visited(bob, "stick")
    assert (gone + prune(bob).files, plan_prune(bob).unproven) == (80, 0)
    for vault in (alice, bob):
        vault.close()


def test_numbers_of_what_was_let_go_keep_no_parts_of_the_log_apart(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: a place notes some thousand parts; what lies between two of them and is here no more makes none."""
    alice, _ = pair
    set_keep(alice, "main", Keep("", 1))
    assert prune(alice).files == 3
    numbers = {int(at) for (at,) in alice.store.rows("SELECT at FROM exposure")}
    top = max(numbers)
    away = min({*range(2, top)} - numbers)
    here = min(numbers - {1, top})
    known = MyListing(alice, open_medium(alice, place_named(alice, "stick")), ANEW, Proven())
    assert known.copied_with([(0, away - 1), (away, top)]) == ((0, top),)
    assert known.copied_with([(0, here - 1), (here, top)]) == ((0, here - 1), (here, top))


def test_a_rotten_index_keeps_no_copies_back(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79, APP-13: copies are told from what lies there already by the index, which is written anew then."""
    alice, _ = pair
    set_keep(alice, "main", Keep("bob.bin", 1))
    assert prune(alice).unproven == 2
    for run in mailbox_of(alice, tmp_path, "stick").glob("*.run"):
        data = bytearray(run.read_bytes())
        data[len(data) // 2] ^= 1
        run.write_bytes(data)
    for _ in range(3):
        visited(alice, "stick")
    assert prune(alice).files == 2
    assert comes_back(alice, "stick")
