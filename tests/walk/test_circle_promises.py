"""What the seed says of the circle as a whole, each held against people who use it on every road."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha512
from pathlib import Path
from typing import Any

import pytest

from tests.live.servers import serving
from tests.people import ROOT, Person
from tests.transports.git_hosts import bare_repository
from vault.profile import Release, read
from vault.records import Seal, parse_record
from vault.suite import ED25519, Ed25519


@contextmanager
def road(kind: str, alice: Person, bob: Person, tmp_path: Path) -> Iterator[None]:
    """Alice and bob, who are members and meet at `meet`."""
    alice.lace("init", "--name", "alice")
    if kind == "http":
        with serving(alice) as server:
            alice.lace("place", "add", "meet", server.uri)
            bob.lace("accept", alice.lace("invite", "bob")["invite"])
            bob.lace("sync", "meet")
            yield
        return
    uri = str(tmp_path / "stick") if kind == "filesystem" else str(bare_repository(tmp_path / "host.git"))
    alice.lace("place", "add", "meet", uri)
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (bob, alice, bob, alice):
        person.lace("sync", "meet")
    yield


def _release(person: Person, version: str, path: str = "a.txt") -> dict[str, Any]:
    person.write(path, f"{person.name} {version}\n")
    return person.lace("release", version)


@pytest.mark.parametrize("kind", ["filesystem", "git", "http"])
def test_every_road_does_the_same(alice: Person, bob: Person, tmp_path: Path, kind: str) -> None:
    """LAZ-80, CYB-15: the same verbs, the same answer, the same files, whatever carries them."""
    with road(kind, alice, bob, tmp_path):
        made = _release(alice, "1.0.0")
        if kind != "http":
            alice.lace("sync", "meet")
        came = bob.lace("sync", "meet")
        assert [release["release"] for release in came["releases"]] == [made["release"]]
        assert (came["fixed_point"], came["next"], came["rejected_hashes"]) == (True, "lace update", [])
        bob.lace("update")
        assert (bob.folder / "a.txt").read_text() == "alice 1.0.0\n"
        back = _release(bob, "1.1.0", "b.txt")
        assert bob.lace("sync", "meet")["sent"] > 0
        if kind != "http":
            alice.lace("sync", "meet")
        alice.lace("update")
        assert (alice.folder / "b.txt").read_text() == "bob 1.1.0\n"
        shown = {entry["hash"] for entry in alice.lace("log", "-n", "50")["entries"]}
        assert {made["release"], back["release"]} <= shown
        again = bob.lace("sync", "meet")
        assert (again["received"], again["sent"]) == (0, 0)


def test_a_sync_streams_whatever_it_brings(alice: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-7, LAZ-8: ten releases take no more trips than one; lazy is when, not how fast."""
    with road("http", alice, bob, tmp_path):
        trips = []
        for count in (1, 10):
            for number in range(count):
                _release(alice, f"{count}.{number}.0")
            came = bob.lace("sync", "meet")
            assert len(came["releases"]) == count
            trips.append(came["round_trips"])
        assert trips[1] <= trips[0]


def test_sync_pushes_before_it_reads(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-26: mine is on the stick before anything is taken from another mailbox, so a cut there costs nobody."""
    with road("filesystem", alice, bob, tmp_path):
        _release(alice, "1.0.0")
        alice.lace("sync", "meet")
        made = _release(bob, "2.0.0", "b.txt")

        def cut(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("lazy.visits.exchange.MailboxReader.take", cut)
        assert bob.run("sync", "meet").code == 130
        monkeypatch.undo()
        assert [release["release"] for release in alice.lace("sync", "meet")["releases"]] == [made["release"]]
        assert bob.lace("sync", "meet")["received"] > 0


def test_a_signature_is_checked_once(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-11: what a sync verifies follows what is new: one check a sealed record, and none again for what is here."""
    checked: list[bytes] = []
    real = Ed25519.verify

    def counting(self: Ed25519, key: bytes, message: bytes, signature: bytes) -> bool:
        checked.append(signature)
        return real(self, key, message, signature)

    with road("filesystem", alice, bob, tmp_path):
        for number in range(5):
            _release(alice, f"1.{number}.0")
        alice.lace("sync", "meet")
        monkeypatch.setattr(Ed25519, "verify", counting)
        came = bob.lace("-v", "sync", "meet")
        seals = [text for text in came["received_hashes"] if text.startswith("S.")]
        assert len(seals) >= 20  # release, commit, revision and log entry each
        assert len(checked) <= len(seals) + 8  # and the heads of the mailboxes
        checked.clear()
        assert bob.lace("sync", "meet")["received"] == 0
        assert len(checked) <= 6  # heads alone
    assert isinstance(ED25519, Ed25519)


def test_who_is_parted_goes_on_and_who_meets_agrees(alice: Person, bob: Person, cara: Person, tmp_path: Path) -> None:
    """LAZ-68, LAZ-3: available while parted, the same records once everybody met, nothing decided meanwhile."""
    with road("filesystem", alice, bob, tmp_path):
        cara.lace("accept", bob.lace("invite", "cara")["invite"])
        for person in (cara, bob, alice, cara):
            person.lace("sync", "meet")
        away = tmp_path / "away"
        (tmp_path / "stick").rename(away)
        for person in (alice, bob, cara):
            _release(person, "2.0.0", f"{person.name}.txt")
            assert person.lace("status")["desks"][0]["version"] == "2.0.0"
        assert len({str(person.lace("vectors")["vectors"]["self"]) for person in (alice, bob, cara)}) == 3
        away.rename(tmp_path / "stick")
        for _ in range(2):
            for person in (alice, bob, cara):
                person.run("sync", "meet")
        assert len({str(person.lace("vectors")["vectors"]["self"]) for person in (alice, bob, cara)}) == 1
        shared = {
            person.run("record", "export", "shared").out.count(b"Content-SHA512") for person in (alice, bob, cara)
        }
        assert shared == {3}
        told = [sorted(c["id"] for c in person.lace("conflicts")["conflicts"]) for person in (alice, bob, cara)]
        assert told[0] == told[1] == told[2]
        assert len(told[0]) == 1


def test_the_readme_says_whom_it_is_for() -> None:
    """LAZ-74, LAZ-67: good faith is asked of members, and what it is not made for stands beside it."""
    text = " ".join((ROOT / "README.md").read_text("utf-8").split())
    part = text.partition("## What it promises, and what not")[2].partition("## The house")[0]
    for said in (
        "members are trusted not to plant bad releases",
        "Not for strangers or hostile surroundings",
        "not for secrets from your own members",
        "agree on one global order",
        "the same state everywhere at every moment",
    ):
        assert said in part


def test_each_sealing_verb_of_the_seed_has_its_verb(alice: Person, bob: Person, tmp_path: Path) -> None:
    """CYB-1, CYB-12: commit, release, verify, archive, publish, subscribe, synchronize."""
    alice.lace("init", "--name", "alice")
    alice.write("a.txt", "one\n")
    assert alice.lace("commit", "-m", "first")["revision"] == 1
    made = alice.lace("release", "1.0.0")
    (alice.folder.parent / "one.records").write_bytes(alice.run("record", "export", "main@1.0.0").out)
    verdicts = alice.stream("record", "verify", str(alice.folder.parent / "one.records"))
    assert made["release"] in {verdict["hash"] for verdict in verdicts}
    assert all(verdict["ok"] for verdict in verdicts)
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (bob, alice, bob):
        person.lace("sync", "stick")
    archive = tmp_path / "all.lace"
    counted = {node: mark["seq"] for node, mark in alice.lace("vectors")["vectors"]["self"].items()}
    made = alice.lace("bundle", "create", str(archive))
    assert made["vector_before"] == made["vector_after"] == counted  # as a push to a place says it
    assert archive.stat().st_size > 0
    assert alice.lace("push", "stick")["name"] == "stick"
    key = bob.lace("id")["node"]
    alice.lace("leave", "bob")
    assert alice.lace("join", "bob", str(tmp_path / "bobs"), "--key", key)["key"] == key
    assert alice.lace("sync", "stick")["fixed_point"] is True
    done = [entry["action"]["verb"] for entry in alice.lace("audit")["entries"]]
    assert {"seal-commit", "seal-release", "lazy-push", "lazy-join", "lazy-leave", "lazy-sync"} <= set(done)


def test_a_release_record_holds_what_the_seed_signs(alice: Person) -> None:
    """CYB-3, CYB-4: version, commit, content hash and signature in one record; anybody recomputes and checks both."""
    alice.lace("init", "--name", "alice")
    alice.write("b.txt", "two\n")
    alice.write("sub/a.txt", "one\n")
    made = alice.lace("release", "1.2.3", "-m", "autumn")
    stored = alice.run("record", "show", made["release"]).out
    seal = parse_record(stored)
    assert isinstance(seal, Seal)
    release = read(seal)
    assert isinstance(release, Release)
    assert (str(release.version), release.desk, release.message) == ("1.2.3", "main", "autumn")
    assert (release.commit.text, release.signer.text) == (made["commit"], alice.lace("id")["node"])

    def line(kind: str, size: int, value: str, name: str) -> bytes:
        return f"{kind} - {size} {value} {name}\n".encode()

    sub = sha512(line("f", 4, sha512(b"one\n").hexdigest(), "a.txt")).hexdigest()
    root = sha512(line("f", 4, sha512(b"two\n").hexdigest(), "b.txt") + line("d", 4, sub, "sub")).hexdigest()
    assert f"{release.content_sha512}" == made["content_sha512"] == f"sha512:{root}"
    assert ED25519.verify(release.signer.key, seal.plex.hash.digest, seal.signature)
    other = bytearray(stored)
    other[stored.index(b"autumn")] ^= 1
    (alice.folder.parent / "bad.records").write_bytes(other)
    result = alice.run("--json", "record", "verify", str(alice.folder.parent / "bad.records"))
    assert 40 <= result.code < 50
    assert result.lines[0]["ok"] is False


def test_the_trail_is_asked_by_actor_verb_and_time(alice: Person) -> None:
    """CYB-14: and the answers are the same entries."""
    start = 1_767_225_600 * 10**9  # 2026-01-01
    for day, act in enumerate((("init", "--name", "alice"), ("release", "1.0.0"), ("release", "1.1.0"))):
        alice.world["now_ns"] = lambda day=day: start + day * 86_400 * 10**9
        alice.write("a.txt", f"{day}\n")
        alice.lace(*act)

    def asked(*options: str) -> list[str]:
        return [entry["action"]["object"] for entry in alice.lace("audit", "list", *options)["entries"]]

    everything = asked()
    assert len(asked("--verb", "seal-release")) == 2
    assert (
        asked("--since", "2026-01-02", "--until", "2026-01-03", "--verb", "seal-release")
        == asked("--verb", "seal-release")[:1]
    )
    assert asked("--until", "2026-01-02") + asked("--since", "2026-01-02") == everything
    assert asked("--actor", "alice") == asked("--actor", alice.lace("id")["node"]) == everything
    assert asked("--actor", "mallory") == []
    assert alice.run("audit", "list", "--since", "1.0.0").code == 2
