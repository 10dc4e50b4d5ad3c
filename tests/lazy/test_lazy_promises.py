"""What RFC-016 promises of files, clocks, queues and trails, each held against a real circle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lazy.files
from lazy.belonging.circle import join
from lazy.belonging.requests import requests
from lazy.conflicts import conflicts
from lazy.files import write_lazy_files
from lazy.people import members, peers
from lazy.places.adding import add_place
from lazy.queue import queue
from lazy.resolving.resolve import resolve_prefer
from lazy.status import status
from lazy.sync import sync
from lazy.vectors import my_vector
from lazy.visits.estimate import LINKS
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository
from tests.vault.vaults import befriended, found, gathered, trail, write
from transports.errors import PlaceUnreachable
from vault.audit.entries import read_audit
from vault.folder.work import commit
from vault.names import Version
from vault.records import RecordHash, Seal, parse_record
from vault.releasing import release
from vault.revisions.history import releases
from vault.sexp import Symbol, loads
from vault.suite import SigningKey
from vault.vault import Vault

Pair = tuple[Vault, Vault]


@pytest.fixture
def pair(shelf: Shelf) -> Iterator[Pair]:
    """Alice and bob, with a release of each under one version: a conflict that alice knows of."""
    alice, bob = shelf.lay(_pair)
    yield alice, bob
    bob.close()
    alice.close()


def _pair(root: Path) -> Pair:
    alice, bob = gathered(root, "bob")
    for vault, text in ((alice, "alice\n"), (bob, "bob\n")):
        write(vault, "a.txt", text)
        release(vault, Version(2, 0, 0), "second")
    sync(bob, ["stick"])
    sync(alice, ["stick"])
    return alice, bob


def _cut(*_args: object) -> None:
    raise OSError("cut")


def again(vault: Vault) -> Vault:
    """Close and open a vault, as a restart does."""
    vault.close()
    return Vault(vault.folder, vault.around)


def test_the_lazy_files_are_there_readable_and_made_anew(pair: Pair) -> None:
    """LAZ-75, LAZ-76, LAZ-77, LAZ-78: S-expressions for people; deleting or editing them changes nothing."""
    alice, bob = pair
    root = alice.dot / "lazy"
    before = {path.relative_to(root): path.read_bytes() for path in root.rglob("*.sexp")}
    assert {"peers.sexp", "vectors.sexp"} <= {str(name) for name in before}
    assert any(name.parent.name == "conflicts" for name in before)
    assert any(name.parent.name == "queue" for name in before)
    assert all(loads(text.decode(), 1 << 20) for text in before.values())
    assert bob.node.text.encode() in before[Path("peers.sexp")]
    stranger = b'(peers (peer (name "eve") (key "' + b"V." + b"0" * 43 + b'.H3") (places)))\n'
    (root / "peers.sexp").write_bytes(stranger)
    (root / "vectors.sexp").unlink()
    known = [person.node for person in peers(alice)], [member.node for member in members(alice)]
    opened = again(alice)
    assert ([person.node for person in peers(opened)], [member.node for member in members(opened)]) == known
    write_lazy_files(opened)
    assert {path.relative_to(root): path.read_bytes() for path in root.rglob("*.sexp")} == before
    opened.close()


def test_the_queue_is_per_peer_and_survives_restarts(pair: Pair) -> None:
    """LAZ-49: what waits for bob waits for bob, before and after."""
    alice, _ = pair
    waiting = queue(alice)
    assert {entry.peer for entry in waiting} == {"bob"}
    opened = again(alice)
    assert queue(opened) == waiting
    opened.close()


def test_a_long_queue_names_its_first_entries_and_that_there_are_more(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-78: the file holds pending pushes, and stays small however many there are."""
    alice, bob = pair
    file = alice.dot / "lazy" / "queue" / f"{bob.node.key.hex()[:16]}.sexp"
    release(alice, Version(3, 0, 0), "third")
    write_lazy_files(alice)
    whole = loads(file.read_text(), 1 << 20)
    assert isinstance(whole, tuple)
    assert len(whole) == 1 + len(queue(alice)) > 2
    last = queue(alice)[-1]
    said = (
        f'(entry (seq {last.seq}) (hash "{last.record}") (what "release main 3.0.0") (state queued) (places "stick"))'
    )
    assert whole[-1] == loads(said, 1_000)
    monkeypatch.setattr(lazy.files, "QUEUE_LINES", 1)
    write_lazy_files(alice)
    assert loads(file.read_text(), 1 << 20) == (*whole[:2], (Symbol("more"), "lace queue"))


def test_the_lamport_counter_survives_restarts(pair: Pair) -> None:
    """LAZ-15: it goes on from the largest it ever saw, its own or a friend's."""
    alice, bob = pair
    seen = int(alice.store.rows("SELECT max(lamport) FROM log")[0][0])
    opened = again(alice)
    made = release(opened, Version(3, 0, 0), "third")
    (lamport,) = opened.store.rows("SELECT lamport FROM log WHERE node = ? AND seq = ?", opened.node.text, made.seq)[0]
    assert lamport == seen + 1
    assert bob.node.text != opened.node.text
    opened.close()


def test_one_lamport_clock_counts_over_every_road(pair: Pair) -> None:
    """LAZ-17: stick, git remote and another vault's directory move one counter; whoever hears of a number goes on."""
    alice, bob = pair
    root = alice.folder.parent
    remote = bare_repository(root / "host.git")
    for vault in pair:
        add_place(vault, "host", f"git+file:{remote}", cwd=root)
    add_place(alice, "beside", str(bob.folder), cwd=root)
    add_place(bob, "beside", str(alice.folder), cwd=root)
    for number, road in enumerate(("stick", "host", "beside")):
        for speaker, hearer in (pair, pair[::-1]):
            before = max_lamport(speaker)
            release(speaker, Version(4 + number, int(speaker is bob), 0), "by this road")
            assert max_lamport(speaker) == before + 1
            for vault in pair * 2:
                sync(vault, [road])
            assert max_lamport(hearer) == max_lamport(speaker) == before + 1


def test_the_total_order_is_counter_then_node(pair: Pair) -> None:
    """CYB-24, LAZ-14: releases that knew nothing of each other have one counter and the same order at everybody's."""
    for vault in pair[::-1]:
        sync(vault, ["stick"])
    seen = [[(made.lamport, made.node, made.hash) for made in releases(vault.store)] for vault in pair]
    assert seen[0] == seen[1] == sorted(seen[0])
    (_, first, _), *_, (third, one, _), (fourth, other, _) = seen[0]
    assert (third, {one, other}) == (fourth, {vault.node.text for vault in pair})
    assert first == pair[0].node.text


def max_lamport(vault: Vault) -> int:
    return int(vault.store.rows("SELECT max(lamport) FROM log")[0][0])


def test_little_moves_where_little_changed_and_all_of_it_is_compressed(tmp_path: Path) -> None:
    """LAZ-9: a first text is a fraction of its size, a changed line the work of a second at 128 kbit/s."""
    alice = found(tmp_path)
    lines = [f"{number}: the song of verse {number * number}\n" for number in range(30_000)]
    write(alice, "song.txt", "".join(lines))
    release(alice, None, "first")
    add_place(alice, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    (first,) = sync(alice, ["stick"])
    size = sum(len(line) for line in lines)
    assert first.traffic.bytes_written < size / 3
    lines[15_000] = "15000: another line\n"
    write(alice, "song.txt", "".join(lines))
    release(alice, None, "second")
    (second,) = sync(alice, ["stick"])
    assert second.traffic.bytes_written < LINKS["isdn"].rate
    alice.close()


def test_vectors_move_only_with_what_was_stored(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-32, CLO-57: a sync that breaks in the middle of storing leaves the vector where the records are."""
    alice, bob = pair
    write(alice, "b.txt", "more\n")
    release(alice, Version(2, 1, 0), "more")
    sync(alice, ["stick"])
    before = my_vector(bob)
    monkeypatch.setattr("lazy.receiving.receive.Receiver._store", _cut)
    with pytest.raises(OSError, match="cut"):
        sync(bob, ["stick"])
    monkeypatch.undo()
    opened = again(bob)
    assert my_vector(opened) == before
    sync(opened, ["stick"])
    assert my_vector(opened)[alice.node.text].seq > before[alice.node.text].seq
    opened.close()


def test_everything_that_was_done_is_in_the_trail(pair: Pair) -> None:
    """LAZ-6, LAZ-44: sync, conflict and resolution; the resolution with who decided and why."""
    alice, bob = pair
    (conflict,) = conflicts(alice)
    resolve_prefer(alice, conflict.id, "bob", "bob asked first")
    entries = [read_audit(seal) for seal in trail(alice)]
    assert {"lazy-sync", "lace-conflict", "seal-release", "lazy-resolve"} <= {entry.verb for entry in entries}
    decided = next(entry for entry in entries if entry.verb == "lazy-resolve")
    assert (decided.actor, decided.name) == (alice.node, "alice")
    told = " ".join([decided.motivation, *(value for _, value in decided.parameters)])
    assert "bob asked first" in told
    assert requests(bob) == []


def test_what_is_shared_tells_nothing_of_the_machine_but_its_name(pair: Pair) -> None:
    """CYB-20: no path, no version of a program, nothing of the surroundings; the device's name in its card alone.

    CYB-19: of the three levels of metadata a commit has the least: its hash, its time, and a message.
    """
    alice, bob = pair
    shared = [
        (str(app), bob.store.stored(RecordHash(str(kind), bytes(digest))) or b"")
        for kind, digest, app in bob.store.rows(
            "SELECT b.kind, b.digest, s.s FROM exposure e JOIN body b USING (p) JOIN rec r USING (p)"
            " JOIN sym s ON s.id = r.app"
        )
    ]
    around = alice.around
    for word in (str(alice.folder), alice.folder.parent.name, around.machine, f"(lace {around.program})"):
        assert word
        assert not [app for app, stored in shared if word.encode() in stored]
    assert {app for app, stored in shared if around.host.encode() in stored} == {"lace/node"}
    commits = [parse_record(stored) for app, stored in shared if app == "lace/commit"]
    assert len(commits) == 2
    for made in commits:
        assert isinstance(made, Seal)
        assert {name for name, _ in made.plex.extras} == {"+Link"}
        assert made.plex.blob.data in {b"first", b"second"}


def test_each_peer_has_a_state_and_the_range_of_its_releases(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-54: synced, N behind, or not synced; "1.0.0-2.1.0", one version, or none; a date, or never."""
    alice, bob = shelf.lay(befriended, "bob")
    join(bob, "eve", str(tmp_path / "eves"), SigningKey.from_seed(b"\7" * 32).verifier.text, cwd=tmp_path)
    ranges = []
    for version in (None, Version(1, 0, 0), Version(2, 1, 0), Version(1, 9, 0)):
        if version is not None:
            write(alice, "a.txt", str(version))
            release(alice, version, "next")
        for vault in (alice, bob, alice, bob):
            sync(vault, ["stick"])
        met, unmet = status(bob).peers
        ranges.append(met.versions)
        assert (met.name, met.state, met.last_sync is None) == ("alice", "synced", False)
        assert (unmet.name, unmet.state, unmet.versions, unmet.last_sync) == ("eve", "not synced", "none", None)
    assert ranges == ["none", "1.0.0", "1.0.0-2.1.0", "1.0.0-2.1.0"]
    for difference, state in (((0, 2), "2 behind"), ((3, 0), "3 ahead"), ((3, 2), "2 behind"), ((0, 0), "synced")):
        monkeypatch.setattr("lazy.status.ahead_behind", lambda *_, told=difference: told)
        assert status(bob).peers[0].state == state
    alice.close()
    bob.close()


def test_nodes_work_alone_and_may_differ(pair: Pair) -> None:
    """LAZ-2, LAZ-3: with every place gone, both go on committing and releasing; nothing waits for the other."""
    alice, bob = pair
    for vault in pair:
        write(vault, "own.txt", vault.name)
        assert commit(vault, "alone")
        assert release(vault, Version(5, 0, 0), "alone").seq > 0
    assert my_vector(alice) != my_vector(bob)
    stick = alice.folder.parent / "stick"
    stick.rename(stick.with_name("elsewhere"))
    with pytest.raises(PlaceUnreachable):
        sync(alice, ["stick"], push=False)
    assert sync(alice, ["stick"], pull=False)[0].queued
