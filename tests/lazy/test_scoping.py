"""A sync about some desks or paths: the same on every road, and the rest comes later (INT-136, FAC-15, FAC-20)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import lazy.visits.scoping
from lazy.interlace.scope import Scope
from lazy.people import formers, peers
from lazy.sync import sync
from lazy.visits import listing_parts
from lazy.visits.scoping import scoped
from tests.cli.looking import error_of
from tests.lazy.three import cut, three
from tests.live.servers import serving
from tests.live.test_live_sync import records
from tests.people import Person
from tests.shelf import Shelf
from tests.vault import vaults
from tests.vault.vaults import befriend, write
from vault.desks.tree import lookup
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import release
from vault.store.store import Store
from vault.vault import Vault

ROADS = ["stick", "live"]  # git reads as a stick does, another vault as a live line
FILES = {
    "lyrics/2024/one.txt": "one\n",
    "lyrics/2024/deep/er/two.txt": "two\n",
    "lyrics/2023.txt": "old\n",
    "music/big.txt": "noise\n" * 40,
    "readme": "hello\n",
}


def contents(person: Person) -> set[str]:
    """What the files of a vault say."""
    with Store(person.folder / ".vault" / "store.db") as store:
        rows = store.rows(
            "SELECT b.kind, b.digest FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app"
            " WHERE s.s = 'lace/data'"
        )
        return {(store.content(RecordHash(kind, bytes(digest))) or b"").decode() for kind, digest in rows}


@contextmanager
def a_place(road: str, alice: Person, tmp_path: Path) -> Iterator[str]:
    """Where alice's friends find what she shares."""
    if road == "live":
        with serving(alice) as server:
            yield server.uri
    else:
        yield str(tmp_path / "stick")


def test_who_releases_beside_a_part_takes_no_version_of_friends(alice: Person, bob: Person, tmp_path: Path) -> None:
    """CYB-5, INT-136: whoever fetched one folder alone released 1.0.0 beside the friends' 1.0.0, and they clashed."""
    for path, content in FILES.items():
        alice.write(path, content)
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("place", "add", "there", str(tmp_path / "there"))
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob, alice):
        person.lace("sync", "there", "--path", "lyrics")
    bob.lace("sync", "there", "--path", "lyrics")
    bob.write("own.txt", "bob\n")
    for words in (["--dry-run"], []):
        error_of(bob.run("--json", "release", "1.0.0", *words), "version-taken")
    told = bob.text("release", "--yes")
    assert told.startswith("Released main 1.0.1.")
    assert "! 1 release of friends is not all here, and is not in this one: lace links\n" in told
    bob.run("sync", "there")
    assert bob.lace("conflicts")["conflicts"] == []
    bob.write("own.txt", "bob two\n")
    assert "is not all here" not in bob.text("release", "--yes")


@pytest.mark.parametrize("road", ROADS)
def test_only_what_lies_below_the_paths_comes(alice: Person, bob: Person, tmp_path: Path, road: str) -> None:
    """INT-136, INT-169, LAZ-25: evidence first, then what leads to the paths; later everything else."""
    for path, content in FILES.items():
        alice.write(path, content)
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("release", "1.0.0")
    with a_place(road, alice, tmp_path) as uri:
        bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
        for person in (alice, bob):
            if road != "live" or person is bob:
                person.lace("place", "add", "there", uri)
        for person in (alice, bob, alice) if road == "stick" else (bob,):  # bob asks to be let in, and is
            person.run("sync", "there", "--path", "nothing/at/all")
        came = bob.lace("sync", "there", "--path", "lyrics/2024", "--path", "readme/", "--desk", "main")
        assert came["scope"]["paths"] == ["lyrics/2024", "readme"]
        assert came["scope"]["id"].startswith("R.")
        assert (came["scope"]["left_out"], came["fixed_point"], came["rejected_hashes"]) == (True, True, [])
        assert contents(bob) == {"one\n", "two\n", "hello\n"}
        assert (came["releases"], came["problems"]) == ([], [])
        (told,) = bob.lace("sync", "there", "--path", "lyrics/2025", "--path", "readme")["problems"]
        assert (told["code"], "lyrics/2025" in told["message"]) == ("no-such-path", True), "a slip said nothing"
        shown = bob.run("cat", "alice/main@1", "lyrics/2024/one.txt")
        assert (shown.code, shown.text) == (0, "one\n")
        assert bob.run("--json", "fsck").code == 0
        (bob.folder / "lyrics").mkdir()  # a path is named from where one stands
        again = bob.lace("-C", "lyrics", "sync", "there", "--path", "2024", "--path", "../readme")
        assert (again["received"], again["scope"]["paths"]) == (0, ["lyrics/2024", "readme"])
        said = bob.run("sync", "there", "--path", "readme").text
        assert "lace update waits for it" in said, "update said that nothing is new, and nothing how to have the part"
        parts = ["lace checkout alice/main lyrics/2024", "lace checkout alice/main readme"]
        assert bob.lace("update")["parts"] == again["scope"]["parts"] == parts
        assert all(f"  what is here of it comes with: {command}\n" in said for command in parts)
        assert bob.lace("checkout", "alice/main@1", "readme")["written"] == ["readme"]
        (bob.folder / "readme").unlink()
        more = bob.lace("pull", "there", "--path", "lyrics")
        assert (more["received"], contents(bob)) == (1, {"one\n", "two\n", "hello\n", "old\n"})
        rest = bob.lace("sync", "there")
        assert [release["version"] for release in rest["releases"]] == ["1.0.0"]
        assert contents(bob) == set(FILES.values())
        assert records(bob) >= records(alice)
        assert bob.lace("sync", "there", "--path", "lyrics")["scope"]["left_out"] is False


def test_a_large_listing_is_read_in_parts(
    alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INT-136, INT-169: a directory may be listed before the one above it; each level comes once the way is here."""
    monkeypatch.setattr(listing_parts, "_PART_RECORDS", 3)
    monkeypatch.setattr(listing_parts, "_LOOK_RECORDS", 2)
    for path, content in FILES.items():
        alice.write(path, content)
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob, alice):
        person.run("sync", "stick", "--path", "nothing/at/all")
    came = bob.lace("pull", "stick", "--path", "lyrics/2024")
    assert (came["scope"]["left_out"], came["fixed_point"]) == (True, True)
    assert contents(bob) == {"one\n", "two\n"}
    bob.lace("pull", "stick")
    assert contents(bob) == set(FILES.values())


def sealed(vault: Vault) -> dict[RecordHash, str]:
    """Return the sealed records that a vault shares, each with its App."""
    rows = vault.store.rows(
        "SELECT b.digest, s.s FROM shared JOIN body b USING (p) JOIN rec r USING (p) JOIN sym s ON s.id = r.app"
        " WHERE b.kind = 'S'"
    )
    return {RecordHash("S", bytes(digest)): str(app) for digest, app in rows}


def test_a_part_comes_with_all_that_says_who_may_and_what_was_before(tmp_path: Path, shelf: Shelf) -> None:
    """CLO-10, CLO-13..16, CLO-53, CLO-54, DWN-71, DWN-84: whoever fetches a part judges as who has the whole.

    DWN-35: of its classes, authorization and ancestry; definitions, floors and keys are no records of a desk.
    DEL-9: he asks nobody; of erin, and of dan who let her in, he knows by their records alone.
    """
    alice, bob, carol = shelf.lay(three)
    dan = befriend(tmp_path, alice, "dan")
    erin = befriend(tmp_path, dan, "erin")
    write(erin, "docs/e.txt", "docs/e.txt of erin\n")
    new = release(erin, Version(1, 0, 9), "hers")
    sync(erin, ["stick"], pull=False)
    cut(alice, "carol")
    for path in ("docs/a.txt", "other.txt"):
        write(alice, path, f"{path} of alice\n")
    made = release(alice, None, "more")
    sync(alice, ["stick"], pull=False)
    docs = Scope(paths=frozenset({"docs"}))
    (result,) = sync(bob, ["stick"], scope=docs)
    assert (result.came.left_out, [one.name for one in result.came.releases], result.came.rejected) == (
        True,
        ["erin"],
        [],
    )
    write(carol, "docs/c.txt", "too late\n")
    late = release(carol, None, "after the cut")  # she has not heard of it
    sync(carol, ["stick"], pull=False)
    (result,) = sync(bob, ["stick"], scope=docs)
    assert {code for _, code, _ in result.came.rejected} == {"after-cut"}
    assert sealed(bob).items() >= sealed(alice).items()
    assert {"lace/member", "lace/revocation", "lace/commit", "lace/rev"} <= set(sealed(bob).values())
    assert {made.release, new.release} <= sealed(bob).keys()
    assert {"dan", "erin"} <= {friend.name for friend in peers(bob)}
    assert late.release not in sealed(bob)
    assert [gone.name for gone in formers(bob)] == ["carol"]
    said = {(bob.store.content(record) or b"").decode() for record in contents_of(bob)}
    assert {"docs/a.txt of alice\n", "docs/e.txt of erin\n"} <= said
    assert not {"other.txt of alice\n", "too late\n"} & said
    for person in (alice, bob, carol, dan, erin):
        person.close()


def test_a_part_is_fetched_without_a_sum_of_all_that_was_left(shelf: Shelf) -> None:
    """INT-136: for each mailbox with something new everything was summed twice that no sync about a part fetches."""
    alice, bob, carol = shelf.lay(three)
    docs = Scope(paths=frozenset({"docs"}))
    asked: list[str] = []
    for number in range(3):
        write(alice, f"other{number}.txt", "of alice\n")
        release(alice, None, "more")
        sync(alice, ["stick"], pull=False)
        bob.store.db.set_trace_callback(lambda text: asked.append(text) if "FROM hole ORDER" in text else None)
        (result,) = sync(bob, ["stick"], scope=docs)
        bob.store.db.set_trace_callback(None)
        assert (result.came.left_out, asked) == (True, [])
    (result,) = sync(bob, ["stick"])
    assert len(result.came.releases) == 3
    for person in (alice, bob, carol):
        person.close()


def contents_of(vault: Vault) -> list[RecordHash]:
    rows = vault.store.rows(
        "SELECT digest FROM body JOIN rec USING (p) JOIN sym s ON s.id = app WHERE s.s = 'lace/data'"
    )
    return [RecordHash("P", bytes(digest)) for (digest,) in rows]


def test_what_makes_no_sense_is_said(alice: Person, tmp_path: Path) -> None:
    """LAZ-23, INT-146: a scope is the reader's, and known only as far as directories are here."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.lace("sync", "stick")
    for words, part in (
        (("push", "stick", "--path", "a.txt"), "sent whole"),
        (("sync", "stick", "--path", "a", "--dry-run"), "without --dry-run"),
        (("pull", "stick", "--path", "a/../../b"), "outside the shared folder"),
        (("pull", "stick", "--path", "/"), "outside the shared folder"),
        (("pull", "stick", "--desk", "a/b"), "a/b"),
    ):
        said = alice.run(*words)
        assert (said.code, part in said.err) == (2, True), said.err
    alice.lace("desk", "add", "songs", "songs")
    alice.write("songs/one.md", "one\n")
    alice.lace("release", "1.0.0", "--desk", "songs")
    for path, paths in ((".", []), ("one.md", ["one.md"])):  # from a desk's folder it is one of that desk
        scope = alice.lace("-C", "songs", "pull", "stick", "--path", path)["scope"]
        assert (scope["desks"], scope["paths"]) == (["songs"], paths)
    told = alice.run("--json", "pull", "stick", "--desk", "lyrics").json
    assert "called lyrics" in told["problems"][0]["message"]


def test_a_path_that_nothing_shared_has_is_looked_for_in_what_is_new_alone(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INT-136: each sync about a mistyped path looked into every revision that was ever shared."""
    alice, bob, carol = shelf.lay(three)
    for number in range(12):
        write(alice, f"docs/{number % 3}.txt", f"{number}\n")
        release(alice, None, "more")
    looked: list[str] = []

    def looked_at(source: Any, tree: RecordHash, path: str) -> Any:
        looked.append(path)
        return lookup(source, tree, path)

    monkeypatch.setattr(lazy.visits.scoping, "lookup", looked_at)
    slip, docs = Scope(paths=frozenset({"dosc/1.txt"})), Scope(paths=frozenset({"docs/1.txt"}))

    def told(scope: Scope) -> tuple[list[str], int]:
        looked.clear()
        (result,) = sync(alice, ["stick"], scope=scope)
        return [problem.code for problem in result.problems], len(looked)

    codes, first = told(slip)
    assert (codes, first > 10) == (["no-such-path"], True)
    assert told(slip) == (["no-such-path"], 0)
    assert told(docs) == ([], 1)
    write(alice, "docs/new.txt", "new\n")
    release(alice, None, "of something else")
    assert told(slip) == (["no-such-path"], 1)
    write(alice, "dosc/1.txt", "so it is called\n")
    release(alice, None, "no slip")
    assert told(slip) == ([], 1)
    assert told(slip)[0] == []
    for person in (alice, bob, carol):
        person.close()


def test_a_path_that_the_newest_has_is_found_whatever_was_shared_before(tmp_path: Path) -> None:
    """INT-136: each sync about a path went three times through the whole log of what became shared."""
    alice = vaults.found(tmp_path)
    write(alice, "docs/1.txt", "one\n")
    release(alice, None, "one")
    about, asked = scoped(alice, Scope(paths=frozenset({"docs/1.txt"}))), [0]
    assert about is not None

    def count() -> int:
        asked[0] += 1
        return 0

    rows = "WITH RECURSIVE n(p) AS (SELECT max(p) + 1 FROM exposure UNION ALL SELECT p + 1 FROM n LIMIT 20000)"
    alice.store.db.execute(f"{rows} INSERT INTO exposure(p) SELECT p FROM n")
    alice.store.db.set_progress_handler(count, 100)
    assert about.unknown_paths(alice) == []
    alice.store.db.set_progress_handler(None, 0)
    assert asked[0] < 100, "to go through it takes thousands"
    alice.close()
