"""Nothing is decided by a hash or a clock: crossing histories and decisions, decisions over newer work (LAZ-4)."""

from __future__ import annotations

import pytest

from lazy.conflicts import conflicts
from lazy.resolving.picks import pick_side
from tests.circle.world import open_vault
from tests.people import Person
from tests.walk.meeting import differ, meet, text_of
from vault.desks.diff import diff_trees
from vault.revisions.history import commit_info


def _cross(alice: Person, bob: Person) -> None:
    """Both release another `a.txt`, and learn of it."""
    for person, version in ((alice, "1.1.0"), (bob, "1.2.0")):
        person.write("a.txt", f"{person.name}\n")
        person.lace("release", version)
    meet(alice, bob)


@pytest.mark.parametrize("attempt", range(4))
def test_criss_cross_is_a_conflict_and_not_a_choice(trio: tuple[Person, Person, Person], attempt: int) -> None:
    """CLAY-76, LAZ-4: both keep their own of two crossing heads; the next update asks instead of picking a base."""
    alice, bob, _ = trio
    del attempt  # keys differ each time, so hashes do too
    _cross(alice, bob)
    for person, version in ((alice, "1.3.0"), (bob, "1.4.0")):
        refused = person.lace("update", expect=1)
        assert refused["conflicts"]
        (conflict,) = person.lace("conflicts")["conflicts"]
        person.lace("resolve", conflict["id"], "--prefer", "local")
        person.lace("release", version)
    meet(alice, bob)
    answer = alice.lace("update", expect=1)
    assert [c["path"] if isinstance(c, dict) else c for c in answer["conflicts"]] == ["a.txt"]
    assert text_of(alice, "a.txt") == "alice\n"


def test_why_one_line_was_preferred_is_kept(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-44: of two lines that crossed the reason was asked for and dropped."""
    alice, bob, _ = trio
    _cross(alice, bob)
    alice.lace("update", expect=1)
    (conflict,) = alice.lace("conflicts")["conflicts"]
    alice.lace("resolve", conflict["id"], "--prefer", "bob", "-m", "his is newer")
    assert "his is newer" in alice.text("log")
    assert "his is newer" in alice.text("audit", "list", "--verb", "lazy-resolve")


def test_the_same_crossing_merge_is_a_base(trio: tuple[Person, Person, Person]) -> None:
    """CLAY-76: two people merge the same heads alike; further work of one is no conflict for the other."""
    alice, bob, _ = trio
    alice.write("a.txt", "alice\n")
    alice.lace("release", "1.1.0")
    bob.write("x.txt", "bob\n")
    bob.lace("release", "1.2.0")
    meet(alice, bob)
    alice.lace("update")
    bob.lace("update")
    alice.write("x.txt", "bob, then alice\n")
    alice.lace("release", "1.3.0")
    meet(alice, bob)
    assert bob.lace("update")["conflicts"] == []
    assert text_of(bob, "x.txt") == "bob, then alice\n"


def test_equal_edits_are_a_base(trio: tuple[Person, Person, Person]) -> None:
    """The same edit twice, then one goes on: the other did nothing and is asked nothing."""
    alice, bob, _ = trio
    for person, version in ((alice, "1.1.0"), (bob, "1.2.0")):
        person.write("a.txt", "same\n")
        person.lace("release", version)
    meet(alice, bob)
    assert bob.lace("update")["written"] == []
    alice.write("a.txt", "same, and more\n")
    alice.lace("release", "1.3.0")
    meet(alice, bob)
    assert bob.lace("update")["conflicts"] == []
    assert text_of(bob, "a.txt") == "same, and more\n"


@pytest.mark.parametrize("attempt", range(3))
def test_two_decisions_then_one_accepted_ends_the_conflict(trio: tuple[Person, Person, Person], attempt: int) -> None:
    """LAZ-39..41: two resolutions with different content are again a conflict; accepting one ends it for all."""
    alice, bob, cara = trio
    del attempt
    differ(alice, bob)
    meet(alice, bob)
    for person in (alice, bob):
        person.lace("resolve", "2.0.0", "--prefer", "local")
    meet(alice, bob, cara)
    (both,) = cara.lace("conflicts")["conflicts"]
    accept = f"lace resolve {both['id']} --accept"
    said = cara.text("conflicts")
    assert f"alice proposes the side of alice: {accept} alice\n" in said
    assert f"bob proposes the side of bob: {accept} bob\n" in said
    assert cara.lace("update", expect=1)["next"] == "lace conflicts"
    told = cara.text("update", expect=1)
    assert told.endswith((f"Next: {accept} alice or bob\n", f"Next: {accept} bob or alice\n"))
    assert "Name whose: " in cara.run("resolve", "2.0.0", "--accept").err
    assert alice.lace("conflicts")["conflicts"]
    assert alice.lace("resolve", "2.0.0", "--accept")["status"] == "resolved-remote"
    assert text_of(alice, "a.txt") == "bob\n"
    assert alice.lace("conflicts")["conflicts"] == []
    meet(alice, bob, cara)
    assert bob.lace("conflicts")["conflicts"] == []
    assert text_of(bob, "a.txt") == "bob\n"
    cara.lace("resolve", "2.0.0", "--accept")
    assert text_of(cara, "a.txt") == "bob\n"
    for person in (alice, bob, cara):
        assert person.lace("conflicts")["conflicts"] == []
        assert person.lace("update")["written"] == []


def test_accepting_a_merge_beside_another_decision_ends_the_conflict(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-39, LAZ-41, LAZ-42: what includes both is shared, so that it counts here and is proposed to the others."""
    alice, bob, cara = trio
    differ(alice, bob)
    meet(alice, bob, cara)
    alice.lace("resolve", "2.0.0", "--prefer", "bob")
    cara.write("a.txt", "both\n")
    cara.lace("resolve", "2.0.0", "--merged", "2.1.0")
    meet(alice, cara, bob)
    bob.lace("resolve", "2.0.0", "--accept", "cara")
    assert bob.lace("conflicts")["conflicts"] == []
    meet(bob, alice, cara)
    assert cara.lace("conflicts")["conflicts"] == []
    alice.lace("resolve", "2.0.0", "--accept")
    meet(alice, bob, cara)
    for person in trio:
        assert person.lace("conflicts")["conflicts"] == []
        assert text_of(person, "a.txt") == "both\n"


@pytest.mark.parametrize("how", [("--prefer", "bob"), ("--accept", "bob"), ("--merged", "2.1.0")])
def test_whoever_decides_between_two_decisions_has_decided(
    trio: tuple[Person, Person, Person], how: tuple[str, str]
) -> None:
    """LAZ-39, LAZ-41: a decision includes those its maker saw: it is not asked again, and ends it for all."""
    alice, bob, cara = trio
    differ(alice, bob)
    meet(alice, bob)
    for person in (alice, bob):
        person.lace("resolve", "2.0.0", "--prefer", "local")
    meet(alice, bob, cara)
    (conflict,) = cara.lace("conflicts")["conflicts"]
    takes = ("--path", "a.txt", "--take", "bob") if how[0] == "--merged" else ()
    cara.lace("resolve", conflict["id"], *how, *takes)
    assert cara.lace("conflicts")["conflicts"] == []
    meet(cara, alice, bob)
    assert cara.lace("conflicts")["conflicts"] == []
    for person in (alice, bob):
        person.run("resolve", conflict["id"], "--accept")
    meet(alice, bob, cara)
    for person in trio:
        person.run("update")
        assert person.lace("conflicts")["conflicts"] == []
        assert text_of(person, "a.txt") == "bob\n"


@pytest.mark.parametrize("how", [("--prefer", "local"), ("--accept", "bob")])
def test_a_decision_takes_nothing_of_a_merge_that_is_only_proposed(
    trio: tuple[Person, Person, Person], how: tuple[str, str]
) -> None:
    """LAZ-39, APP-13: what else a friend's merged release holds is neither said to be here nor deleted there."""
    alice, bob, cara = trio
    differ(alice, bob)
    meet(alice, bob, cara)
    cara.write("new.txt", "what nobody else has\n")
    cara.lace("resolve", "2.0.0", "--path", "a.txt", "--take", "bob", "--merged", "2.1.0")
    if how[0] == "--accept":
        bob.lace("resolve", "2.0.0", "--prefer", "local")
    meet(cara, bob, alice)
    alice.lace("resolve", "2.0.0", *how)
    assert b"Nothing new" not in alice.run("update").out
    alice.write("z.txt", "more\n")
    alice.lace("release", "2.2.0")
    meet(alice, cara)
    cara.run("update")
    assert text_of(cara, "new.txt") == "what nobody else has\n"


@pytest.mark.parametrize("how", ["--accept", "--prefer"])
@pytest.mark.parametrize("newer", ["nothing", "edited", "committed"])
def test_a_decision_leaves_what_else_my_own_merge_holds(
    trio: tuple[Person, Person, Person], how: str, newer: str
) -> None:
    """LAZ-40, APP-12: the decision has the side, and of an earlier decision what no side has an opinion about."""
    alice, bob, cara = trio
    alice.write("y.txt", "".join(f"{number}\n" for number in range(9)))
    alice.write("a.txt", "alice\n")
    bob.write("a.txt", "bob\n")
    bob.write("x.txt", "bob\n")
    bob.write("b.txt", "bob\n")
    bob.write("y.txt", text_of(alice, "y.txt"))
    for person in (alice, bob):
        person.lace("release", "2.0.0")
    meet(alice, bob, cara)
    cara.write("new.txt", "what nobody else has\n")
    cara.lace("resolve", "2.0.0", "--path", "a.txt", "--take", "bob", "--merged", "2.1.0")
    assert (text_of(cara, "x.txt"), text_of(cara, "b.txt")) == ("bob\n", "bob\n")
    if newer != "nothing":
        cara.write("y.txt", text_of(cara, "y.txt") + "from cara\n")
    if newer == "committed":
        cara.lace("commit", "-m", "newer")
    bob.lace("resolve", "2.0.0", "--prefer", "alice")
    meet(bob, cara, alice)
    words = ("--accept", "bob") if how == "--accept" else ("--prefer", "alice")
    planned = cara.lace("resolve", "2.0.0", "--prefer", "alice", "--dry-run")
    done = cara.lace("resolve", "2.0.0", *words)
    assert (done["written"], done["deleted"]) == (["a.txt", "x.txt"], ["b.txt"])
    assert (planned["written"], planned["deleted"]) == (done["written"], done["deleted"])
    assert (text_of(cara, "a.txt"), text_of(cara, "x.txt")) == ("alice\n", "base\n")
    assert text_of(cara, "new.txt") == "what nobody else has\n"
    assert text_of(cara, "y.txt").endswith("8\n" if newer == "nothing" else "8\nfrom cara\n")
    assert not (cara.folder / "b.txt").exists()
    with open_vault(cara) as vault:
        (conflict,) = conflicts(vault, include_settled=True)
        (result,) = conflict.results
        commits = (pick_side(conflict, "alice").commit, result)
        beside = diff_trees(vault.store, *(commit_info(vault.store, commit).tree for commit in commits))
        assert [(change.path, change.kind) for change in beside] == [("new.txt", "added")]
    cara.lace("release", "2.2.0", "--yes")
    meet(cara, alice, bob)
    for person in (alice, bob):
        person.run("update")
        assert text_of(person, "new.txt") == "what nobody else has\n"
    for person in trio:
        assert person.lace("conflicts")["conflicts"] == []
        assert person.lace("fsck")["ok"]


def test_a_decision_that_meets_newer_work_is_finished_by_update(trio: tuple[Person, Person, Person]) -> None:
    """A collision with my newer work leaves the folder; what is asked then is that collision and nothing decided."""
    alice, bob, cara = trio
    alice.write("a.txt", "alice\n")
    alice.lace("release", "2.0.0")
    bob.write("a.txt", "bob\n")
    bob.write("x.txt", "bob\n")
    bob.lace("release", "2.0.0")
    meet(alice, bob)
    alice.lace("resolve", "2.0.0", "--prefer", "bob")
    cara.write("x.txt", "cara\n")
    cara.lace("commit", "-m", "my own x")
    meet(alice, bob, cara)
    cara.run("resolve", "2.0.0", "--accept")
    assert text_of(cara, "x.txt") == "cara\n"
    (conflict,) = cara.lace("conflicts")["conflicts"]
    assert conflict["paths"] == ["x.txt"]
    cara.lace("resolve", conflict["id"], "--prefer", "local")
    assert text_of(cara, "a.txt") == "bob\n"  # the decision, not a side by chance
    assert text_of(cara, "x.txt") == "cara\n"
    assert cara.lace("conflicts")["conflicts"] == []


def test_an_update_from_an_older_release_can_be_resolved(trio: tuple[Person, Person, Person]) -> None:
    """A conflict with an older release of a friend is open until it is decided, and can be."""
    alice, bob, _ = trio
    bob.write("a.txt", "bob one\n")
    bob.lace("release", "1.1.0")
    bob.write("a.txt", "bob two\n")
    bob.lace("release", "1.2.0")
    meet(alice, bob)
    alice.write("a.txt", "alice\n")
    assert alice.lace("update", "--from", "bob@1.1.0", expect=1)["conflicts"]
    (conflict,) = alice.lace("conflicts")["conflicts"]
    alice.lace("resolve", conflict["id"], "--prefer", "remote")
    assert text_of(alice, "a.txt") == "bob one\n"
    assert alice.lace("conflicts")["conflicts"] == []


def test_a_side_is_taken_also_where_nothing_conflicts(trio: tuple[Person, Person, Person]) -> None:
    """`--path P --take SIDE` means that side's file; a path nobody has is an error and decides nothing (LAZ-42)."""
    alice, bob, _ = trio
    alice.write("a.txt", "alice\n")
    alice.lace("release", "2.0.0")
    bob.write("a.txt", "bob\n")
    bob.write("x.txt", "bob\n")
    bob.lace("release", "2.0.0")
    meet(alice, bob)
    for path in ("nowhere.txt", f"{alice.folder}/nowhere.txt"):
        wrong = alice.run("resolve", "2.0.0", "--merged", "2.1.0", "--path", path, "--take", "bob")
        assert (wrong.code, "See what disagrees with: lace conflicts" in wrong.err) == (2, True)
    outside = alice.run("--json", "resolve", "2.0.0", "--merged", "2.1.0", "--path", "../a.txt", "--take", "bob")
    assert outside.json["error"]["code"] == "outside-folder"
    assert alice.lace("conflicts")["conflicts"]
    (alice.folder / "sub").mkdir()  # a path is named from where one stands
    called = ("--path", "a.txt", "--take", "bob", "--dry-run")  # as the app writes it, whatever folder that began in
    assert alice.run("-C", "sub", "resolve", "2.0.0", "--merged", "2.1.0", *called).code == 0
    takes = ("--path", "../a.txt", "--take", "bob", "--path", f"{alice.folder}/x.txt", "--take", "alice")
    alice.lace("-C", "sub", "resolve", "2.0.0", "--merged", "2.1.0", *takes)
    assert text_of(alice, "a.txt") == "bob\n"
    assert text_of(alice, "x.txt") == "base\n"


@pytest.mark.parametrize(("word", "kept"), [("local", "mine, on top\n"), ("remote", "bob\n"), ("alice:2", "bob\n")])
def test_the_sides_of_me_against_me_can_be_told_apart(
    trio: tuple[Person, Person, Person], word: str, kept: str
) -> None:
    """LAZ-39: my own line and the decision that I accepted, which I sealed, are two sides with a word each."""
    alice, bob, _ = trio
    differ(alice, bob)
    meet(alice, bob)
    alice.lace("resolve", "2.0.0", "--merged", "2.0.0-merged")
    alice.write("a.txt", "mine, on top\n")
    meet(alice, bob)
    bob.lace("resolve", "2.0.0", "--prefer", "local")
    meet(bob, alice)
    alice.lace("resolve", "2.0.0", "--accept", "bob", expect=1)
    said = alice.text("update", expect=1)
    assert said.startswith("! The decision on 2.0.0 and you changed the same places")
    (conflict,) = alice.lace("conflicts")["conflicts"]
    assert [side["word"] for side in conflict["sides"]] == ["alice:1", "alice:2"]
    assert f"lace resolve {conflict['id']} --prefer local or remote, or edit" in said
    refused = alice.run("resolve", conflict["id"], "--prefer", "alice")
    assert "alice:1 (S." in refused.err
    alice.lace("resolve", conflict["id"], "--prefer", word)
    assert text_of(alice, "a.txt") == kept
    assert alice.lace("conflicts")["conflicts"] == []


@pytest.mark.parametrize("prefer", ["local", "remote"])
def test_what_is_named_next_ends_the_conflict_for_both(trio: tuple[Person, Person, Person], prefer: str) -> None:
    """LAZ-4, LAZ-39: a merge of clashing lines waits for a release; who gets that updates and decides nothing."""
    alice, bob, _ = trio
    (alice.folder / "a.txt").unlink()
    alice.lace("release", "1.1.0")
    bob.write("a.txt", "bob\n")
    bob.lace("release", "1.1.1")
    meet(alice, bob)
    for person in (alice, bob):
        person.lace("update", expect=1)
    (conflict,) = bob.lace("conflicts")["conflicts"]
    decided = bob.lace("resolve", conflict["id"], "--prefer", prefer)
    assert decided["next"] == "lace release"
    bob.lace("release", "--yes")
    bob.lace("sync", "stick")
    assert alice.lace("sync", "stick", expect=1)["next"] == "lace update"
    (still,) = alice.lace("conflicts")["conflicts"]
    assert (still["ended_by"]["name"], still["ended_by"]["version"]) == ("bob", "1.1.2")
    assert "    bob 1.1.2 ends it: lace update\n" in alice.text("conflicts")
    told = alice.run("sync", "stick").text
    assert f"! conflict {still['id']}  main, clashing changes: alice, bob; bob 1.1.2 ends it: lace update" in told
    alice.lace("update")
    for person in (alice, bob):
        assert person.lace("conflicts")["conflicts"] == []
        assert (person.folder / "a.txt").exists() is (prefer == "local")
    assert bob.lace("sync", "stick")["next"] in {"", None}


def test_a_merge_of_nothing_edited_says_whose_work_is_not_in_it(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-41, LAZ-42: each path is named with whose it is; a person at a terminal is asked before it is released."""
    alice, bob, _ = trio
    differ(alice, bob)
    meet(alice, bob)
    words = ("resolve", "2.0.0", "--merged", "2.0.0-merged")
    told = "! a.txt: yours as it stands; bob's is not in it\n"
    assert told in alice.text(*words, "--dry-run") + "\n"
    alice.environ["TERM"] = "xterm"
    asked = alice.run(*words, stdin=b"\n", tty=True)
    assert (asked.code, asked.text.startswith("Nothing was decided.")) == (1, True)
    assert told in asked.err
    assert alice.lace("conflicts")["conflicts"]
    alice.write("a.txt", "both\n")
    assert alice.lace(*words, "--dry-run")["unedited"] == []
    alice.write("a.txt", "alice\n")
    done = alice.lace(*words)
    assert done["unedited"] == [{"path": "a.txt", "side": "alice", "without": ["bob"]}]
    assert alice.lace("conflicts")["conflicts"] == []


def test_equal_heads_never_make_a_commit_impossible(trio: tuple[Person, Person, Person]) -> None:
    """Many releases with my content are remembered as few parents: a commit has at most 64."""
    alice, bob, _ = trio
    for number in range(12):
        for text in (f"{number}\n", "base\n"):
            bob.write("a.txt", text)
            bob.lace("release", "--yes")
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    alice.lace("update")
    alice.write("x.txt", "on\n")
    assert alice.lace("commit", "-m", "goes on")["commit"]


def test_an_older_release_that_clashes_is_decided_with_the_one_built_on_it(
    trio: tuple[Person, Person, Person],
) -> None:
    """LAZ-38, LAZ-41: an update names the conflict that is open, also where a newer release clashes already."""
    alice, bob, _ = trio
    for version in ("2.0.0", "3.0.0"):
        alice.write("a.txt", f"alice's {version}\n")
        alice.lace("release", version)
    alice.lace("sync", "stick")
    bob.write("a.txt", "bob's\n")
    bob.lace("sync", "stick")
    newer = bob.run("--json", "update")
    assert newer.code == 1
    older = bob.run("--json", "update", "--from", "alice@2.0.0")
    assert (older.code, older.json["next"]) == (1, newer.json["next"])
    assert len(bob.lace("conflicts")["conflicts"]) == 1
