"""`push`, `pull`, `sync`, `status`, `vectors`, `queue`, as people run them."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from lace_tui.cli.context import Context, World
from tests.cli.befriended import befriend, release
from tests.people import Person
from tests.shelf import Shelf
from vault.profile import NodeCard
from vault.records import Seal
from vault.suite import SigningKey

_SYNC_KEYS = {
    "name", "place", "transport", "link_id", "exchange_plan_id", "peer_verifier", "received", "sent",
    "received_hashes", "rejected_hashes", "not_available_hashes", "bytes_received", "bytes_sent", "round_trips",
    "rounds", "fixed_point", "cursor_updated", "conflicts", "releases", "vector_before", "vector_after", "closed_by",
    "next",
}  # fmt: skip


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    return tmp_path / "stick"


@pytest.fixture
def friends(shelf: Shelf, alice: Person, bob: Person) -> tuple[Person, Person]:
    """Alice and bob, who know each other over a stick."""
    shelf.lay(befriend, "bob")
    return alice, bob


@pytest.fixture
def three(shelf: Shelf, alice: Person, bob: Person, cara: Person) -> tuple[Person, Person, Person]:
    """Alice, bob and cara, who know each other over a stick."""
    shelf.lay(befriend, "bob", "cara")
    return alice, bob, cara


# Sync


def test_a_sync_answers_as_the_contract_says(friends: tuple[Person, Person]) -> None:
    """cli.md "Sync", INT-131: the same shape at the top and in each exchange."""
    alice, bob = friends
    made = release(alice, "1.0.0", a="x", b="y")
    sent = alice.lace("sync", "stick")
    assert sent["sent"] > 0
    assert (sent["received"], sent["name"], sent["place"], sent["transport"]) == (0, "stick", "stick", "drop")
    got = bob.lace("-v", "sync", "stick")
    assert set(got) >= _SYNC_KEYS | {"exchanges", "places", "queued", "planned"}
    (exchange,) = got["exchanges"]
    assert set(exchange) >= _SYNC_KEYS
    assert exchange["peer_verifier"] == got["peer_verifier"] == alice.lace("id")["node"]
    assert exchange["exchange_plan_id"] == got["exchange_plan_id"] is not None
    assert got["closed_by"] == exchange["closed_by"] is not None
    assert got["received"] == len(got["received_hashes"]) == sent["sent"]
    assert made["release"] in got["received_hashes"]
    assert got["fixed_point"]
    assert got["cursor_updated"]
    assert got["bytes_received"] > 0
    (new,) = got["releases"]
    assert (new["name"], new["version"], new["files"]) == ("alice", "1.0.0", 3)
    node = alice.lace("id")["node"]
    assert got["vector_after"][node] == got["vector_before"][node] + 1
    assert got["next"] == "lace update"
    counted = alice.lace("sync", "stick")
    assert counted["received_hashes"] == counted["not_available_hashes"] == 0


def test_what_a_whole_visit_knows_stands_in_no_exchange_of_several(three: tuple[Person, Person, Person]) -> None:
    """INT-131: round trips and conflicts of the visit were told with each exchange, and so counted twice in a sum."""
    alice, bob, cara = three
    for person, version in ((alice, "1.0.0"), (bob, "2.0.0")):
        release(person, version)
        person.lace("sync", "stick")
    got = cara.lace("sync", "stick")
    assert len(got["exchanges"]) > 1
    of_visit = ("bytes_received", "bytes_sent", "round_trips", "conflicts", "vector_before", "vector_after", "next")
    for exchange in got["exchanges"]:
        assert set(exchange) >= _SYNC_KEYS
        assert {exchange[key] for key in of_visit} == {None}
    assert got["received"] == sum(exchange["received"] for exchange in got["exchanges"])
    assert got["next"] == "lace update"


def test_commits_are_shared_from_when_they_are_to_be(friends: tuple[Person, Person]) -> None:
    """LAZ-57, APP-14: the setting spoke of each commit that a release builds on; those made before it stay here."""
    alice, bob = friends
    alice.write("a.txt", "before\n")
    alice.lace("commit", "-m", "before")
    alice.lace("config", "set", "share", "commits")
    alice.write("a.txt", "while\n")
    alice.lace("commit", "-m", "while")
    release(alice, "1.0.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert bob.run("cat", "alice/main@2", "a.txt").out == b"while\n"
    assert bob.run("--json", "cat", "alice/main@1", "a.txt").code != 0
    (setting,) = (one for one in alice.lace("config", "list")["settings"] if one["key"] == "share")
    assert "each commit that is made while this is set to commits" in setting["sentence"]


def test_text_tells_what_came_and_what_is_next(friends: tuple[Person, Person]) -> None:
    """LAZ-27: a conflict report, or "no conflicts"."""
    alice, bob = friends
    release(alice, "1.0.0")
    alice.lace("sync", "stick")
    text = bob.text("sync", "stick")
    for part in ("alice released 1.0.0: 1 file", "no conflicts", "safe to remove", " read, ", "Next: lace update"):
        assert part in text
    assert "received nothing" in bob.text("sync")


def test_admission_is_told(alice: Person, bob: Person, stick: Path) -> None:
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    bob.lace("sync", "stick")
    assert "bob is a member now" in alice.text("sync", "stick")
    joined = bob.run("sync", "stick")
    assert b"  you are a member now\n" in joined.out, "who was let in learns of it"
    assert not bob.lace("sync", "stick")["joined"]


def test_who_waits_to_be_let_in_alarms_nobody(alice: Person, bob: Person, cara: Person, stick: Path) -> None:
    """LAZ-63, LAZ-71: two who join at once meet on the stick; each is told of the other once, and nothing is wrong."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    alice.lace("sync", "stick")
    for person in (bob, cara):
        person.lace("accept", alice.lace("invite", person.name)["invite"], "--name", person.name)
    bob.lace("sync", "stick")
    met = cara.run("sync", "stick")
    assert met.code == 0
    assert met.text.count("not a member yet") == 1
    assert "refused" not in met.text
    told = cara.lace("sync", "stick")
    assert {problem["code"] for problem in told["problems"]} <= {"stranger"}
    alice.lace("sync", "stick")
    assert cara.lace("sync", "stick")["joined"]


def test_push_and_pull_are_the_halves(friends: tuple[Person, Person]) -> None:
    """LAZ-23, LAZ-25: push sends and reads nothing, pull reads and sends nothing."""
    alice, bob = friends
    release(alice, "1.0.0")
    release(bob, "1.1.0", "bob.txt")
    assert bob.lace("push", "stick")["received"] == 0
    pulled = alice.lace("pull", "stick")
    assert (pulled["sent"], [r["version"] for r in pulled["releases"]]) == (0, ["1.1.0"])
    assert bob.lace("pull", "stick")["received"] == 0
    assert alice.lace("push", "bob")["sent"] > 0
    assert [r["version"] for r in bob.lace("pull", "alice")["releases"]] == ["1.0.0"]


def test_a_dry_run_tells_and_changes_nothing(friends: tuple[Person, Person], stick: Path) -> None:
    alice, bob = friends
    release(alice, "1.0.0")
    before = sorted((p, p.stat().st_mtime_ns) for p in stick.rglob("*"))
    plan = alice.lace("sync", "stick", "--dry-run")
    assert plan["planned"]
    assert plan["next"] == "lace sync stick"
    assert sorted((p, p.stat().st_mtime_ns) for p in stick.rglob("*")) == before
    assert "nothing was changed" in alice.text("push", "stick", "--dry-run")
    assert alice.lace("sync", "stick")["sent"] == plan["sent"] > 0
    expected = bob.lace("pull", "stick", "--dry-run")
    assert bob.lace("status")["peers"][0]["versions"] == "none"
    assert bob.lace("pull", "stick")["received"] == expected["received"] > 0


def test_an_absent_stick_queues_a_push_and_stops_a_pull(friends: tuple[Person, Person], stick: Path) -> None:
    """LAZ-24, LAZ-47: offline is a state; what waits stays queued and goes with the next visit."""
    alice, _ = friends
    release(alice, "1.0.0")
    away = stick.rename(stick.with_name("elsewhere"))
    queued = alice.lace("push", "stick")
    assert (queued["queued"], queued["sent"], queued["next"]) == (True, 0, "lace sync stick")
    assert "stays queued" in alice.text("push", "stick")
    assert 20 <= alice.run("pull", "stick").code <= 29
    assert len(alice.lace("queue")["entries"]) == 1
    away.rename(stick)
    assert alice.lace("sync", "--all")["sent"] > 0


def test_several_places_are_summed(friends: tuple[Person, Person], tmp_path: Path) -> None:
    alice, _ = friends
    alice.lace("place", "add", "second", str(tmp_path / "second"))
    release(alice, "1.0.0")
    both = alice.lace("sync", "stick", "second")
    assert [place["place"] for place in both["places"]] == ["stick", "second"]
    assert both["sent"] == sum(place["sent"] for place in both["places"])
    assert (both["name"], both["place"], both["link_id"]) == (None, None, None)
    assert alice.lace("sync", "bob")["sent"] == 0


def test_damage_on_the_medium_is_told_and_heals(friends: tuple[Person, Person], stick: Path) -> None:
    """LAZ-63, LAZ-70: what cannot be read is counted and named, nothing of it counts, and the next good visit heals."""
    alice, bob = friends
    release(alice, "1.0.0")
    alice.lace("sync", "stick")
    bundles = {path: path.read_bytes() for path in stick.rglob("b-*.bnd")}
    for path, good in bundles.items():
        path.write_bytes(bytes(byte ^ 0x10 for byte in good))
    told = bob.lace("-v", "sync", "stick", expect=1)
    assert told["not_available_hashes"]
    assert not told["cursor_updated"]
    text = bob.run("sync", "stick")
    assert text.code == 1
    assert "in alice's mailbox cannot be read there" in text.text
    assert bob.lace("status")["peers"][0]["versions"] == "none"
    for path, good in bundles.items():
        path.write_bytes(good)
    assert [r["version"] for r in bob.lace("sync", "stick")["releases"]] == ["1.0.0"]


def test_a_refused_record_is_named_with_its_reason(friends: tuple[Person, Person]) -> None:
    """LAZ-63: a stranger's record on a friend's mailbox is refused by name; the exchange goes on."""
    alice, bob = friends
    release(alice, "1.0.0")
    world = World(environ=alice.variables, cwd=alice.folder)
    with Context(world).open_vault() as vault, vault.writing() as w:
        stranger = SigningKey.from_seed(bytes(32))
        plex = NodeCard.to_plex(group=vault.group, node=stranger.verifier, label="eve", machine="x", tai=w.tai())
        card = Seal.sign(plex, stranger)
        w.put([card])
        w.log([card.hash])
    alice.lace("sync", "stick")
    result = bob.lace("sync", "stick", expect=1)
    (refused,) = result["rejected_hashes"]
    assert refused["hash"] == card.hash.text
    assert "not a member" in refused["reason"]
    assert result["exchanges"][0]["rejected_hashes"] == [refused]


def test_wrong_names_are_refused(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    assert alice.lace("sync", expect=2)["error"]["code"] == "no-such-place"
    assert alice.lace("sync", "nobody", expect=2)["error"]["code"] == "no-such-peer"
    assert alice.lace("sync", "x", "--all", expect=2)["error"]["code"] == "bad-arguments"
    assert alice.lace("push", expect=2)["error"]["code"] == "bad-arguments"
    told = alice.lace("diff", "1", "2", expect=2)["error"]
    assert (told["code"], "Name a desk" in told["hint"], "main@1" in told["hint"]) == ("not-yet", True, True)
    told = alice.lace("bundle", "apply", "../nothing.lace", expect=13)["error"]
    assert told["message"] == f"There is no file {alice.folder.parent / 'nothing.lace'}."
    told = alice.lace("bundle", "apply", ".", expect=13)["error"]
    assert (told["message"], "lace place add" in told["hint"]) == (f"{alice.folder} is a folder.", True)
    (alice.folder / "link.lace").symlink_to(alice.write("hers.lace", ""))
    for odd in ("link.lace", "/dev/null"):
        told = alice.lace("bundle", "apply", odd, expect=13)["error"]
        assert told["hint"].startswith("Name the file itself"), "no sync brings it"


def test_what_is_named_next_can_be_typed_as_it_stands(alice: Person, bob: Person, stick: Path) -> None:
    """LAZ-27: a name that holds a space is quoted, a file is named as it was, a way out names its place."""
    alice.lace("init", "--name", "alice")
    alice.write("a.txt", "a\n")
    assert "Next: lace sync 'my stick'\n" in alice.text("place", "add", "my stick", str(stick))
    assert alice.lace("release", "1.0.0")["next"] == "lace sync 'my stick'"
    assert alice.lace("sync", "my stick", "--dry-run")["next"] == "lace sync 'my stick'"
    assert "lace sync 'my stick'" in alice.text("status")
    assert "lace sync 'my stick'" in alice.text("queue")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    alice.lace("bundle", "create", "../for bob.lace")
    there = str(alice.folder.parent / "for bob.lace")
    assert bob.lace("bundle", "apply", there, "--dry-run")["next"] == f"lace bundle apply '{there}'"


def test_a_name_with_a_space_or_a_quote_is_one_word_in_every_command_offered(
    alice: Person, bob: Person, cara: Person, stick: Path
) -> None:
    """LAZ-27, LAZ-54: what is offered is typed into a shell, which must read the same name, path or address in it."""
    alice.lace("init", "--name", "alice")
    alice.write("our takes/a.txt", "a\n")
    assert "lace release 1.0.0 --desk 'our takes'" in alice.text("desk", "add", "our takes", "our takes")
    alice.lace("place", "add", "stick", str(stick))
    alice.lace("release", "1.0.0", "--desk", "our takes")
    line = alice.lace("invite")["invite"]
    bob.lace("accept", line, "--name", "bob o'neil")
    alice.lace("sync", "stick")
    key = cara.lace("accept", line, "--name", "cara o'neil")["node"]
    alice.lace("sync", "stick")
    (offered,) = [text for text in alice.text("requests").splitlines() if "To admit: " in text]
    assert shlex.split(offered.partition(": ")[2]) == ["lace", "admit", "cara o'neil", "--key", key]
    for person in (bob, alice, bob):
        person.lace("sync", "stick")
    assert "lace desk add 'our takes' DIR" in bob.text("desks")
    assert "lace desk add 'our takes' DIR" in bob.text("update")
    assert "Ask for it: lace beacon alice --ask" in bob.text("beacon", "alice")
    asked = next(text for text in alice.text("beacon", "bob o'neil").splitlines() if text.startswith("Ask for it: "))
    assert shlex.split(asked.partition(": ")[2]) == ["lace", "beacon", "bob o'neil", "--ask"]
    left = alice.text("leave", "bob o'neil").splitlines()
    (end,) = [text.partition(": ")[2] for text in left if text.startswith("To end that for all of you: ")]
    assert shlex.split(end) == ["lace", "revoke", "bob o'neil"]
    told = alice.run("--json", "checkout", "our takes@1.0.0", "our takes/gone.txt").json["error"]
    assert told["hint"].startswith("See what it has: lace read y 'self/our takes@")


def test_a_place_has_one_name_and_none_of_a_person(alice: Person, stick: Path) -> None:
    """Peers and places share one namespace, mine included; a place under two names would be visited twice."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    assert alice.lace("place", "add", "alice", str(stick.parent / "x"), expect=2)["error"]["code"] == "name-taken"
    told = alice.lace("place", "add", "again", str(stick), expect=2)["error"]
    assert (told["code"], "'stick'" in told["message"]) == ("place-known", True)
    assert [place["place"] for place in alice.lace("places")["places"]] == ["stick"]


def test_the_story_of_three(three: tuple[Person, Person, Person]) -> None:
    """LAZ-81: unreleased commits of a friend are counted, not fetched, and none of our concern."""
    alice, bob, cara = three
    cara.lace("config", "set", "announce-unreleased", "true")
    for number in range(2):
        cara.write("draft.txt", f"{number}\n")
        cara.lace("commit", "-m", "draft")
    cara.lace("sync", "stick")
    for number in range(2):
        alice.write("song.txt", f"{number}\n")
        alice.lace("commit", "-m", "verse")
    release(alice, "2.3.0")
    text = alice.text("sync", "stick")
    assert "cara has 2 unreleased commits (not shared, none of our concern)" in text
    assert "no conflicts" in text
    assert [r["version"] for r in bob.lace("sync", "stick")["releases"]] == ["2.3.0"]
    got = cara.lace("sync", "stick")
    assert [r["version"] for r in got["releases"]] == ["2.3.0"]


# Where I stand, offline


def test_status_queue_and_vectors_need_no_place(friends: tuple[Person, Person], stick: Path) -> None:
    """LAZ-46, LAZ-54, LAZ-56: everything is answered from stored state."""
    alice, _ = friends
    release(alice, "1.0.0")
    shutil.rmtree(stick)
    status = alice.lace("status")
    assert (status["name"], status["ahead"], status["conflicts"]) == ("alice", 1, 0)
    (desk,) = status["desks"]
    assert (desk["desk"], desk["version"], desk["revision"]) == ("main", "1.0.0", 1)
    (peer,) = status["peers"]
    assert (peer["name"], peer["behind"]) == ("bob", 0)
    assert peer["ahead"] > 0
    assert "changes" not in status
    (entry,) = alice.lace("queue")["entries"]
    assert set(entry) >= {"peer", "seq", "hash", "what", "since", "state", "reason"}
    assert (entry["peer"], entry["what"], entry["state"]) == ("bob", "release main 1.0.0", "queued")
    assert "(local, not pushed) lace sync stick" in alice.text("queue")
    vectors = alice.lace("vectors")["vectors"]
    me = status["node"]
    assert vectors["self"][me]["seq"] == vectors["bob"][me]["seq"] + 1
    assert vectors["self"][me]["forked"] is False
    entry = vectors["self"][me]["hash"]
    assert alice.lace("why", entry)["path"][-1]["what"] == f"log entry {vectors['self'][me]['seq']} of alice"
    assert alice.lace("conflicts") == {"conflicts": []}
    assert "no conflicts" in alice.text("status")
    assert "bob  lacks 1 that you have, released nothing, last sync " in alice.text("status")


def test_status_can_look_at_the_folder(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    release(alice, "1.0.0")
    alice.write("new.txt", "x")
    alice.write("notes.txt", "other\n")
    changes = alice.lace("status", "--tree")["changes"]
    assert (changes["added"], changes["changed"], changes["deleted"]) == (["new.txt"], ["notes.txt"], [])
    assert "+ added new.txt" in alice.text("status", "--tree")


def test_the_queue_empties_when_the_friend_confirms(friends: tuple[Person, Person]) -> None:
    """LAZ-47: on the medium is not yet confirmed."""
    alice, bob = friends
    release(alice, "1.0.0")
    alice.lace("sync", "stick")
    (entry,) = alice.lace("queue")["entries"]
    assert entry["state"] == "on-medium"
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    assert alice.text("queue") == "Nothing waits.\n"


def test_the_queue_says_what_each_record_is(friends: tuple[Person, Person]) -> None:
    """LAZ-46: a label, and each commit where these are shared too, was called the founding of the group."""
    alice, _ = friends
    alice.lace("config", "set", "share", "commits")
    alice.write("notes.txt", "draft\n")
    alice.lace("commit", "-m", "draft")
    alice.lace("label", "spring")
    release(alice, "1.0.0")
    assert {entry["what"] for entry in alice.lace("queue")["entries"]} == {
        "commit main",
        "label spring of main",
        "release main 1.0.0",
        "revision 1 of main",
    }


def test_who_carries_between_two_sticks_is_told_what_came_after_the_first_was_visited(
    three: tuple[Person, Person, Person], tmp_path: Path
) -> None:
    """LAZ-24, LAZ-27: the first was safe to remove, and what the second brought for its reader did not lie on it."""
    alice, bob, cara = three
    for person in (bob, cara):
        person.lace("place", "add", "a-stick", str(tmp_path / "other"))
        person.lace("sync", "a-stick")
    release(alice, "1.0.0", a="x")
    alice.lace("sync", "stick")
    done = bob.lace("sync", "a-stick", "stick")
    assert [(one["place"], one["waiting"] > 0) for one in done["places"]] == [("a-stick", True), ("stick", False)]
    assert done["next"] == "lace update"
    assert cara.lace("sync", "a-stick")["received"] == 0
    release(alice, "1.1.0", b="y")
    alice.lace("sync", "stick")
    told = bob.text("sync", "a-stick", "stick")
    assert "came elsewhere since: lace sync a-stick" in told
    again = bob.text("sync", "a-stick", "stick")
    assert "elsewhere" not in again
    assert len(cara.lace("sync", "a-stick")["releases"]) == 2
