"""`join`, `leave` and the places of a peer, through the real command line."""

from __future__ import annotations

import shlex
from pathlib import Path

from blake3 import blake3

from tests.cli.looking import error_of
from tests.people import Person
from transports.drop.marker import MARKER
from vault.records import Verifier

KEY = Verifier(blake3(b"a key that nobody has to use").digest()).text


def test_join_registers_a_peer_and_moves_nothing(alice: Person, tmp_path: Path) -> None:
    """LAZ-50: the place is made and nothing is put there."""
    alice.lace("init", "--name", "alice")
    data = alice.lace("join", "bob", "../meet", "--key", KEY)
    uri = (tmp_path / "meet").as_uri()
    assert (data["peer"], data["uri"], data["key"]) == ("bob", uri, KEY)
    assert alice.lace("peers") == {
        "peers": [
            {
                "peer": "bob",
                "uri": uri,
                "key": KEY,
                "trust": "trusted",
                "last_seen": None,
                "sync_state": "never",
                "beacon": None,
                "clock": None,
            }
        ],
        "revoked": [],
        "left": [],
    }
    assert f"bob  {uri}" in alice.text("peers")
    assert [m["name"] for m in alice.lace("members")["members"]] == ["alice", "bob"]
    assert [path.name for path in (tmp_path / "meet").rglob("*") if path.is_file()] == [MARKER]


def test_join_refuses_what_is_taken_or_missing(alice: Person, stick: Path) -> None:
    """LAZ-51: a name twice is refused, a missing name or key is an error."""
    me = alice.lace("init", "--name", "alice")["node"]
    alice.lace("join", "bob", str(stick), "--key", KEY)
    alice.lace("place", "add", "shelf", "../shelf")
    other = Verifier(blake3(b"another").digest()).text
    error_of(alice.run("--json", "join", "bob", "../x", "--key", other), "name-taken")
    error_of(alice.run("--json", "join", "shelf", "../x", "--key", other), "name-taken")
    error_of(alice.run("--json", "join", "me", "../x", "--key", me), "name-taken")
    error_of(alice.run("--json", "join", "cara", "../x"), "bad-arguments")
    error_of(alice.run("--json", "join", "--key", other), "bad-arguments")
    error_of(alice.run("--json", "join", "cara", "../x", "--key", "V.short"), "bad-arguments")
    error_of(alice.run("--json", "join", "a/b", "../x", "--key", other), "bad-name")
    assert not (alice.folder.parent / "x").exists()
    assert [row["peer"] for row in alice.lace("peers")["peers"]] == ["bob"]


def test_join_at_an_impossible_place_joins_nobody(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    file = alice.write("file", "x")
    for uri in (str(file), "gopher://x"):
        assert alice.run("join", "bob", uri, "--key", KEY).code != 0
    assert alice.lace("peers") == {"peers": [], "revoked": [], "left": []}
    assert len(alice.lace("members")["members"]) == 1


def test_join_by_another_name_says_what_they_were_called(alice: Person, stick: Path) -> None:
    """LAZ-50, LAZ-51: the name they had was gone without a word, and free for somebody else."""
    alice.lace("init", "--name", "alice")
    assert alice.lace("join", "bob", str(stick), "--key", KEY)["before"] is None
    told = alice.text("join", "ben", str(stick.with_name("other")), "--key", KEY)
    assert "Until now you called them bob" in told
    assert [row["peer"] for row in alice.lace("peers")["peers"]] == ["ben"]


def test_leave_drops_the_peer_and_its_place(alice: Person, stick: Path) -> None:
    """LAZ-53: it is off the list; it may be joined again."""
    alice.lace("init", "--name", "alice")
    alice.lace("join", "bob", str(stick), "--key", KEY)
    data = alice.lace("leave", "bob")
    assert data == {"peer": "bob", "uri": stick.as_uri(), "key": KEY, "already": False}
    peers = alice.lace("peers")
    assert (peers["peers"], [gone["peer"] for gone in peers["left"]]) == ([], ["bob"])
    assert alice.lace("peers", KEY)["left"]
    assert alice.lace("places") == {"places": []}
    assert "nobody yet" in alice.text("peers")
    error_of(alice.run("--json", "leave", "bob"), "no-such-peer")
    error_of(alice.run("--json", "leave", "self"), "no-such-peer")
    assert "Nothing was moved" in alice.text("join", "bob", str(stick), "--key", KEY)
    text = alice.text("leave", "bob")
    assert "no longer sync with bob" in text
    assert "bob-place is no longer a place" in text
    assert f"lace join bob {stick.as_uri()} --key {KEY}" in text


def test_who_was_left_is_read_no_more_and_comes_back_by_the_named_command(pair: tuple[Person, Person]) -> None:
    """LAZ-53: a shared place stays, their mailbox there is passed over, and what came stays."""
    ann, bob = pair
    said = ann.text("leave", "bob").splitlines()
    assert "bob is a member still" in "\n".join(said)
    assert "lace revoke bob" in "\n".join(said)
    bob.write("late.txt", "late\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync")
    for words in (["sync", "--dry-run"], ["sync"], ["pull", "stick"]):
        assert ann.lace(*words)["received"] == 0, words
    assert "Nothing new" in ann.text("update")
    back = said[-1].partition("again: ")[2]
    assert back in ann.text("peers")
    assert ann.lace("sync", "bob", expect=2)["error"]["hint"].endswith(back)
    ann.write("mine.txt", "mine\n")
    ann.lace("release", "1.2.0")
    ann.lace("sync")
    assert [release["version"] for release in bob.lace("sync")["releases"]] == ["1.2.0"], "they are no less a member"
    ann.lace(*shlex.split(back)[1:])
    assert [place["place"] for place in ann.lace("places")["places"]] == ["stick"], "it is met there already"
    assert [release["version"] for release in ann.lace("sync", "bob")["releases"]] == ["1.1.0"]


def test_a_place_for_one_peer(alice: Person, stick: Path) -> None:
    alice.lace("init", "--name", "alice")
    alice.lace("admit", "bob", "--key", KEY)
    assert alice.lace("place", "add", "p", str(stick), "--for", "bob")["peer"] == KEY
    assert "for bob" in alice.text("places")
    error_of(alice.run("--json", "place", "add", "q", "../q", "--for", "eve"), "no-such-peer")


def test_whoever_joins_at_a_directory_that_is_not_there_is_told(alice: Person) -> None:
    """LAZ-50, APP-14: a typing error made a directory without a word, and the name of a place one in the folder."""
    alice.lace("init", "--name", "alice")
    assert "There was no such directory" in alice.run("join", "bob", "../typo", "--key", KEY).err
    alice.lace("place", "add", "stick", "../stick")
    other = Verifier(blake3(b"another key").digest()).text
    said = error_of(alice.run("--json", "join", "cara", "stick", "--key", other), "bad-arguments")
    assert (alice.folder.parent / "stick").as_uri() in said["hint"]
    assert not (alice.folder / "stick").exists()
