"""`why` says what was decided about any record, by which rule, and what leads to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from lazy.receiving.receive import Receiver
from lazy.visits.parcels import NoSuchRecord
from lazy.why import Decision, why
from tests.lazy.test_quarantine import EVE, card, take
from tests.people import Person
from tests.vault.vaults import around, lived_in, write
from vault.folder.work import commit
from vault.records import RecordHash
from vault.releasing import release
from vault.vault import Vault


@pytest.fixture(scope="module")
def alice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """A vault that was lived in, with a large file below a directory."""
    root = tmp_path_factory.mktemp("why")
    alice, bob = lived_in(root)
    bob.close()
    (alice.folder / "films").mkdir()
    (alice.folder / "films" / "noise.bin").write_bytes(Random(1).randbytes(5_000_000))
    release(alice, None, "a film")
    alice.close()
    with Vault(root / "alice", around(root, "alice")) as vault:
        yield vault


def _all(vault: Vault, where: str) -> list[tuple[RecordHash, str]]:
    rows = vault.store.rows(
        "SELECT b.kind, b.digest, s.s FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app"
        f" WHERE {where} ORDER BY p"
    )
    return [(RecordHash(str(kind), bytes(digest)), str(app)) for kind, digest, app in rows]


def test_every_shared_record_has_a_way_from_a_log_entry_down_to_it(alice: Vault) -> None:
    """Each step names the next: by a link, or as a tree or a manifest that lists it."""
    shared = _all(alice, "p IN (SELECT p FROM shared)")
    assert {app for _, app in shared} >= {"lace/log", "lace/release", "lace/commit", "lace/tree", "lace/data"}
    for record, app in Random(3).sample(shared, 60) + shared[-40:]:
        answer = why(alice, record)
        assert answer.decision is Decision.SHARED, app
        assert "Shared(V0)" in answer.rule
        assert (answer.path[0].what.startswith("log entry"), answer.path[-1].hash) == (True, record), app
        for upper, lower in zip(answer.path, answer.path[1:], strict=False):
            stored = alice.store.stored(upper.hash) or b""
            assert lower.hash.text.encode() in stored, (upper, lower)


def test_a_file_is_told_by_its_path_and_a_chunk_by_its_file(alice: Vault) -> None:
    chunk = next(record for record, app in reversed(_all(alice, "p IN (SELECT p FROM packed)")) if app == "lace/data")
    path = why(alice, chunk).path
    assert "films/noise.bin" in {step.what for step in path}


def test_what_stays_here_says_so(alice: Vault) -> None:
    """A commit that was not released, and an entry of the trail."""
    write(alice, "draft.txt", "not yet\n")
    made = commit(alice, "a draft")
    assert made
    kept = why(alice, made.commit)
    assert (kept.decision, kept.path) == (Decision.KEPT, ())
    [(entry, _), *_] = _all(alice, "s.s = 'lace/audit'")
    assert why(alice, entry).decision is Decision.PRIVATE


def test_a_plex_is_told_by_its_seal_and_what_nobody_names_is_an_error(alice: Vault) -> None:
    row = alice.store.rows("SELECT r.plex, b.digest FROM rec r JOIN body b USING (p) WHERE r.plex IS NOT NULL LIMIT 1")
    assert why(alice, RecordHash("P", bytes(row[0][0]))).record == RecordHash("S", bytes(row[0][1]))
    with pytest.raises(NoSuchRecord):
        why(alice, RecordHash("S", bytes(32)))


def test_a_refused_and_a_missing_record(alice: Vault) -> None:
    """LAZ-71: the refusal's own code is the rule."""
    stranger = card(alice, "eve", EVE)
    receiver: Receiver = take(alice, (stranger.hash, stranger.encode()))
    assert receiver.refusals
    answer = why(alice, stranger.hash)
    assert (answer.decision, answer.rule) == (Decision.REFUSED, "stranger")
    record = next(record for record, app in _all(alice, "p IN (SELECT p FROM shared)") if app == "lace/tree")
    with alice.store.transaction():
        p = alice.store.position(record)
        for table in ("shared", "exposure", "rec", "body"):
            alice.store.run(f"DELETE FROM {table} WHERE p = ?", p)
        alice.store.holes.add([(record, True)])
    answer = why(alice, record)
    assert (answer.decision, answer.path[-1].hash) == (Decision.MISSING, record)


def test_the_verb_answers_in_words_and_in_json(alice_person: Person) -> None:
    alice_person.write("docs/a.txt", "one\n")
    alice_person.lace("init", "--name", "alice", "--group", "friends")
    made = alice_person.lace("release", "1.0.0")
    told = alice_person.lace("why", made["release"])
    assert (told["decision"], told["path"][0]["what"]) == ("shared", "log entry 2 of alice")
    text = alice_person.text("why", made["release"])
    assert "here, and shared with the group" in text
    assert "release main 1.0.0" in text
    alice_person.lace("why", "S.nonsense", expect=2)


@pytest.fixture
def alice_person(tmp_path: Path) -> Person:
    """Alice at her command line."""
    return Person("alice", tmp_path / "home", tmp_path / "alice")
