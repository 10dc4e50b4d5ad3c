"""`conflicts` and `resolve` after two friends released one version, as people run them (LAZ-35 to LAZ-39)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import lazy.conflicts
from lazy.contested import Conflict
from tests.cli.befriended import befriend, release
from tests.people import Person, person_in
from tests.shelf import Shelf
from vault.vault import Vault


@pytest.fixture
def three(shelf: Shelf, alice: Person, bob: Person, cara: Person) -> tuple[Person, Person, Person]:
    """Alice, bob and cara, who know each other over a stick."""
    shelf.lay(befriend, "bob", "cara")
    return alice, bob, cara


@pytest.fixture
def contested(shelf: Shelf, alice: Person, bob: Person) -> tuple[Person, Person]:
    """Both released 2.0.0 with other content; both know."""
    shelf.lay(_contested)
    return alice, bob


def _contested(root: Path) -> None:
    befriend(root, "bob")
    alice, bob = person_in(root, "alice"), person_in(root, "bob")
    release(alice, "1.0.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("update")
    release(alice, "2.0.0", text="alice's\n")
    release(bob, "2.0.0", text="bob's\n")
    alice.lace("sync", "stick")
    assert bob.lace("sync", "stick", expect=1)["conflicts"]
    assert alice.lace("sync", "stick", expect=1)["conflicts"]


def _in_step(three: tuple[Person, Person, Person]) -> tuple[Person, Person, Person]:
    """Let all three have a first release of alice's."""
    alice, *friends = three
    release(alice, "1.0.0")
    alice.lace("sync", "stick")
    for friend in friends:
        friend.lace("sync", "stick")
        friend.lace("update")
    return three


def test_a_conflict_is_told_with_all_its_sides(contested: tuple[Person, Person]) -> None:
    """LAZ-35, LAZ-36, LAZ-38."""
    alice, bob = contested
    (conflict,) = alice.lace("conflicts")["conflicts"]
    assert set(conflict) >= {"id", "desk", "version", "sides", "ancestor", "detected", "status", "paths"}
    assert (conflict["desk"], conflict["version"], conflict["status"]) == ("main", "2.0.0", "pending")
    assert (conflict["ancestor"], conflict["paths"]) == ("1.0.0", ["notes.txt"])
    assert {side["name"] for side in conflict["sides"]} == {"alice", "bob"}
    assert all({"release", "node", "content_sha512", "tai"} <= set(side) for side in conflict["sides"])
    assert conflict["id"] == bob.lace("conflicts")["conflicts"][0]["id"]
    assert "! conflict" in alice.run("sync", "stick").text
    text = alice.text("conflicts")
    assert "notes.txt" in text
    assert f"lace resolve {conflict['id']} --prefer local or remote" in text
    following = alice.lace("sync", "stick", expect=1)["next"]
    assert following == "lace conflicts", "a line with a choice in it is no command, and a shell chooses nothing"
    assert alice.lace(*shlex.split(following)[1:])["conflicts"]
    told = alice.text("sync", "stick", expect=1)
    assert f"  Decide: lace resolve {conflict['id']} --prefer local or remote\n" in told
    assert told.endswith("\nNext: lace conflicts\n")
    assert alice.lace("status")["conflicts"] == 1


def test_a_side_is_told_by_its_word_and_by_its_hash_where_all_is_asked_for(contested: tuple[Person, Person]) -> None:
    """LAZ-34, LAZ-36: the hash of each side ran over the edge of a terminal of 60 columns, and no decision needs it."""
    alice, _ = contested
    alice.environ["COLUMNS"] = "60"
    (conflict,) = alice.lace("conflicts")["conflicts"]
    hashes = [side[key] for side in conflict["sides"] for key in ("release", "content_sha512")]
    for _ in range(2):
        assert not any(text in alice.text("conflicts") for text in hashes)
        assert all(text in alice.text("-v", "conflicts") for text in hashes)


def test_records_that_are_refused_for_one_reason_are_told_in_one_line(pair: tuple[Person, Person]) -> None:
    """LAZ-71, APP-14: one release of somebody revoked was five lines of hashes, and again whenever somebody joined."""
    alice, bob = pair
    alice.lace("revoke", "bob", "--yes")
    bob.write("list.md", "bread\n")
    bob.lace("release", "1.0.1")
    bob.lace("push", "stick")
    done = alice.run("sync", "stick")
    (line,) = [line for line in done.text.splitlines() if "refused" in line]
    assert line.startswith("  ! refused 5 records: it is sealed by bob, whose log was cut after entry ")
    assert line.endswith(" (after-cut); named by: lace quarantine")
    assert alice.text("quarantine").count("(after-cut)") == 5


def test_who_decides_sees_which_side_is_local_and_what_each_release_was_for(pair: tuple[Person, Person]) -> None:
    """LAZ-36, LAZ-39: two releases of one person differed in their hashes alone, and no side was called local."""
    alice, bob = pair
    for person, words in ((alice, ("-m", "from the old laptop")), (bob, ())):
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "2.0.0", *words)
    alice.lace("sync", "stick")
    bob.run("sync", "stick")
    of_alice, of_bob = sorted(line for line in bob.text("conflicts").splitlines() if " 2.0.0  20" in line)
    assert of_alice.endswith(" UTC  from the old laptop")
    assert of_bob.startswith("    bob 2.0.0  20")
    assert of_bob.endswith(" UTC  (local)"), "a message that only repeats the version tells nothing"


def test_many_differing_paths_are_counted_and_the_sides_stay_in_sight(pair: tuple[Person, Person]) -> None:
    """LAZ-35: a folder of thousands that one side added pushed everything else off the screen."""
    alice, bob = pair
    for number in range(50):
        alice.write(f"notes/{number:02}.md", "new\n")
    alice.lace("release", "2.0.0")
    bob.write("list.md", "bread\n")
    bob.lace("release", "2.0.0")
    alice.lace("sync", "stick")
    bob.run("sync", "stick")
    lines = bob.text("conflicts").splitlines()
    assert len(lines) < 30
    assert "    and 31 more: lace --json conflicts names all" in lines
    assert len(bob.lace("conflicts")["conflicts"][0]["paths"]) == 51


def test_what_sides_of_three_have_in_common_is_told(three: tuple[Person, Person, Person]) -> None:
    """LAZ-34: of all sides, or of those that have a release in common where all of them have none."""
    alice, bob, cara = three
    release(alice, "1.0.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("update")
    for person in (alice, bob, cara):  # cara never took what alice released
        release(person, "2.0.0", text=f"{person.name}'s\n")
        person.run("sync", "stick")
    (conflict,) = cara.lace("conflicts")["conflicts"]
    assert (len(conflict["sides"]), conflict["ancestor"]) == (3, None)
    word = [side["word"] for side in conflict["sides"] if side["word"] != "cara"]
    assert f"last in common: none of all; 1.0.0 of {word[0]} and {word[1]}\n" in cara.text("conflicts")


def test_what_all_sides_were_built_upon_is_what_they_have_in_common(three: tuple[Person, Person, Person]) -> None:
    """LAZ-34, LAZ-35: two friends went on from where I stand, each in another way: that is no side of theirs."""
    alice, bob, cara = _in_step(three)
    for person, version in ((bob, "1.1.0"), (cara, "1.2.0")):
        release(person, version, text=f"{person.name}'s\n")
        person.run("sync", "stick")
    alice.run("sync", "stick")
    alice.run("update")
    (conflict,) = alice.lace("conflicts")["conflicts"]
    assert (sorted(side["word"] for side in conflict["sides"]), conflict["ancestor"]) == (["bob", "cara"], "1.0.0")
    assert "last in common: 1.0.0\n" in alice.text("conflicts")


@pytest.mark.parametrize(
    ("side", "content", "status"), [("local", "alice's\n", "resolved-local"), ("bob", "bob's\n", "resolved-remote")]
)
def test_prefer_keeps_one_side(contested: tuple[Person, Person], side: str, content: str, status: str) -> None:
    """LAZ-39: the words local and remote are the viewer's."""
    alice, bob = contested
    done = alice.lace("resolve", "2.0.0", "--prefer", side, "-m", "we agreed")
    assert done["status"] == status
    assert done["resolution"].startswith("S.")
    assert done["next"] == "lace sync stick"
    assert (alice.folder / "notes.txt").read_text() == content
    assert alice.lace("conflicts") == {"conflicts": []}
    assert alice.lace("conflicts", "--all")["conflicts"][0]["status"] == status
    alice.lace("sync", "stick")
    assert bob.lace("sync", "stick", expect=1)["conflicts"][0]["proposals"][0]["name"] == "alice"
    assert f"alice proposes the side of {'alice' if side == 'local' else side}: lace resolve" in bob.text("conflicts")
    assert bob.lace("update", expect=1)["next"] == f"lace resolve {done['conflict']} --accept"
    accepted = bob.lace("resolve", "2.0.0", "--accept")
    assert accepted["next"] is None  # an acceptance stays here, and everything else is on the stick
    chosen = "alice" if side == "local" else side
    assert f"  alice decided main 2.0.0 for the side of {chosen}: we agreed\n" in bob.text("log")
    assert accepted["resolution"] == done["resolution"]
    assert (bob.folder / "notes.txt").read_text() == content
    assert bob.text("conflicts") == "no conflicts\n"


def test_merged_releases_a_merge_with_chosen_paths(contested: tuple[Person, Person]) -> None:
    """LAZ-40: a merged release under a version of its own."""
    alice, _ = contested
    (conflict,) = alice.lace("conflicts")["conflicts"]
    done = alice.lace(
        "resolve", conflict["id"], "--merged", "2.0.1", "--path", "notes.txt", "--take", "remote", "-m", "his"
    )
    assert (done["status"], done["conflicts"]) == ("merged", [])
    assert (alice.folder / "notes.txt").read_text() == "bob's\n"
    assert alice.lace("status")["desks"][0]["version"] == "2.0.1"
    assert alice.lace("sync", "stick")["conflicts"] == []


def test_a_proposed_merge_is_told_by_the_version_it_is_released_under(contested: tuple[Person, Person]) -> None:
    """LAZ-39: it was told by a hash of 47 letters, by which nobody can choose."""
    alice, bob = contested
    done = alice.lace("resolve", "2.0.0", "--merged", "2.0.1", "--yes")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    told = f"alice proposes a merge, released as 2.0.1: lace resolve {done['conflict']} --accept\n"
    assert told in bob.text("conflicts")


def test_wrong_decisions_are_refused(contested: tuple[Person, Person]) -> None:
    """LAZ-43: nothing is decided that was not said."""
    alice, _ = contested
    for words, code in (
        (["9.9.9", "--prefer", "local"], "no-such-conflict"),
        (["2.0.0", "--prefer", "zoe"], "no-such-side"),
        (["2.0.0", "--merged", "1.0.0"], "version-taken"),
        (["2.0.0", "--accept"], "no-such-conflict"),
        (["2.0.0"], "bad-arguments"),
        (["2.0.0", "--prefer", "local", "--merged", "3.0.0"], "bad-arguments"),
        (["2.0.0", "--merged", "3.0.0", "--path", "notes.txt"], "bad-arguments"),
        (["2.0.0", "--prefer", "local", "--path", "a", "--take", "bob"], "bad-arguments"),
    ):
        assert alice.lace("resolve", *words, expect=2)["error"]["code"] == code, words
    (conflict,) = alice.lace("conflicts")["conflicts"]
    short = alice.run("resolve", conflict["id"][:3], "--prefer", "local")
    assert "is too short for the id of a conflict" in short.err
    assert "lace resolve: say one of --prefer, --merged, --accept." in alice.run("resolve", "2.0.0").err
    assert "lace accept: INVITE is missing." in alice.run("accept").err


def test_a_decision_is_told_in_words(contested: tuple[Person, Person], cara: Person) -> None:
    """LAZ-39, LAZ-43: what counts now, and for a reader who has no side of the two, their names."""
    alice, bob = contested
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    alice.lace("sync", "stick", expect=1)
    cara.lace("sync", "stick", expect=1)
    (conflict,) = cara.lace("conflicts")["conflicts"]
    names = " or ".join(side["name"] for side in conflict["sides"])
    assert f"lace resolve {conflict['id']} --prefer {names}" in cara.text("conflicts")
    told = bob.text("resolve", "2.0.0", "--prefer", "alice")
    assert "main 2.0.0 is decided: the side of alice counts. 1 file written in your folder:\n  notes.txt" in told


def test_a_decision_that_moves_many_files_names_the_first(pair: tuple[Person, Person]) -> None:
    """LAZ-39: a folder renamed by a friend was hundreds of lines, with what is next below them."""
    alice, bob = pair
    for number in range(30):
        alice.write(f"photos/{number}", f"{number}\n")
    bob.write("notes.md", "mine\n")
    for person in (alice, bob):
        person.lace("release", "2.0.0")
        person.run("sync", "stick")
    told = bob.text("resolve", "2.0.0", "--prefer", "alice")
    assert "31 files written in your folder:\n  notes.md\n" in told
    assert "  and 11 more\n" in told
    assert len(told.splitlines()) < 30


def test_a_release_that_the_folder_holds_already_names_no_update(pair: tuple[Person, Person]) -> None:
    """APP-14: a friend gave an older state a version; the update that was named next brought nothing."""
    alice, bob = pair
    alice.write("list.md", "bread\n")
    alice.lace("release", "1.1.0")
    bob.lace("release", "2.0.0")
    bob.lace("sync", "stick")
    done = alice.lace("sync", "stick")
    assert ([release["version"] for release in done["releases"]], done["next"]) == (["2.0.0"], "")
    assert bob.lace("sync", "stick")["next"] == "lace update"


def test_a_friends_side_of_a_merge_that_was_made_is_not_called_mine(pair: tuple[Person, Person]) -> None:
    """LAZ-35: once my line held it, it was listed as the local one, beside which there was none."""
    alice, bob = pair
    for person, version in ((alice, "2.0.0"), (bob, "3.0.0")):
        person.write("list.md", f"{person.name}\n")
        person.lace("release", version)
        person.lace("sync", "stick")
    bob.run("update")
    (row,) = bob.lace("conflicts")["conflicts"]
    assert bob.text("conflicts").count("(local)") == 1
    bob.lace("resolve", row["id"], "--merged", "3.0.1", "--path", "list.md", "--take", "both")
    assert bob.text("conflicts") == "no conflicts\n"
    told = bob.text("conflicts", "--all")
    assert "= merged" in told
    assert "(local)" not in told


def test_all_are_decided_without_a_look_at_all_for_each(
    contested: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-39: of 2,000 each looked at all the others anew, and that took hours."""
    alice, bob = contested
    for number in range(1, 5):
        release(alice, f"2.0.{number}", text=f"alice's {number}\n")
        release(bob, f"2.0.{number}", text=f"bob's {number}\n")
    bob.lace("sync", "stick", expect=1)
    alice.lace("sync", "stick", expect=1)
    looks: list[object] = []
    real = lazy.conflicts._version_conflicts

    def counted(vault: Vault) -> list[Conflict]:
        looks.append(vault)
        return real(vault)

    monkeypatch.setattr(lazy.conflicts, "_version_conflicts", counted)
    planned = alice.lace("resolve", "--all", "--prefer", "local", "--dry-run")["resolved"]
    assert len(planned) == 5
    assert len(looks) == 1
    assert len(alice.lace("resolve", "--all", "--prefer", "local")["resolved"]) == 5
    assert alice.lace("conflicts")["conflicts"] == []


def test_a_side_that_my_line_was_built_upon_can_still_be_kept(three: tuple[Person, Person, Person]) -> None:
    """LAZ-39, LAZ-42: what the folder has beside it was compared with the newest heads alone, which was a fault."""
    alice, bob, cara = _in_step(three)
    cara.write("new.txt", "cara's\n")
    for person, version in ((alice, "1.1.0"), (cara, "1.2.0")):
        release(person, version, text=f"{person.name}'s\n")
        person.run("sync", "stick")
    bob.write("notes.txt", "bob's\n")
    bob.lace("commit", "-m", "own")
    bob.run("sync", "stick")
    met = bob.lace("update", expect=1)["conflict"]
    bob.lace("merge", "main", "--from", "alice/main", "--strategy", "only-that")
    bob.write("new.txt", "bob's\n")
    told = bob.text("resolve", met, "--prefer", "alice", "--dry-run")
    assert "no file would change" in told
    assert "! new.txt: yours as it stands; cara's is not in it" in told
    assert (bob.folder / "notes.txt").read_text() == "alice's\n"
