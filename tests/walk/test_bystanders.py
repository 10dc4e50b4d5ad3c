"""Who was no side of a decision: what they are asked, and what reaches them (LAZ-4)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lazy.resolving.chosen import PathUndecided
from lazy.resolving.deciding import Pick, decide
from lazy.resolving.opening import open_conflict
from tests.circle.world import open_vault
from tests.people import Person
from tests.walk.meeting import differ, meet, text_of
from vault.names import Version


def test_a_newcomer_gets_what_is_agreed_while_the_newest_is_contested(
    trio: tuple[Person, Person, Person], people: object, tmp_path: Path
) -> None:
    """An open version conflict keeps its sides out and nothing else."""
    alice, bob, _ = trio
    differ(alice, bob)
    meet(alice, bob)
    assert callable(people)
    dave: Person = people("dave")
    line = alice.lace("invite", "dave")["invite"]
    alice.run("sync", "stick")
    dave.lace("accept", line)
    alice.run("sync", "stick")
    dave.run("sync", "stick")
    dave.run("update")
    assert text_of(dave, "a.txt") == "base\n"
    del tmp_path


def test_a_decision_that_somebody_released_on_needs_an_update_only(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-39, LAZ-42: taking the merged release in is taking the decision; with a decision of one's own it is not."""
    alice, bob, cara = trio
    differ(alice, bob)
    meet(alice, bob, cara)
    cara.lace("resolve", "2.0.0", "--prefer", "alice")
    bob.lace("resolve", "2.0.0", "--merged", "2.0.0-merged")
    bob.lace("sync", "stick")
    assert alice.lace("sync", "stick", expect=1)["next"] == "lace update"
    assert "--accept" in cara.lace("sync", "stick", expect=1)["next"]
    alice.lace("update")
    assert alice.lace("conflicts")["conflicts"] == []
    assert text_of(alice, "a.txt") == "bob\n"


def test_whoever_comes_after_several_decisions_needs_one_update(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-39, LAZ-42: conflicts that a release ended since are named with the update that ends them, also several."""
    alice, bob, cara = trio
    for version, merged in (("2.0.0", "2.0.1"), ("3.0.0", "3.0.1")):
        for person in (alice, bob):
            person.write("a.txt", f"{person.name} {version}\n")
            person.lace("release", version)
        meet(alice, bob)
        bob.write("a.txt", f"both {version}\n")
        bob.lace("resolve", version, "--merged", merged)
        bob.lace("sync", "stick")
        alice.run("sync", "stick")
        alice.lace("update")
    came = cara.lace("sync", "stick", expect=1)
    assert (len(came["conflicts"]), came["next"]) == (2, "lace update")
    cara.lace("update")
    assert cara.lace("conflicts")["conflicts"] == []
    assert text_of(cara, "a.txt") == "both 3.0.0\n"


def _merge_each_other(alice: Person, bob: Person) -> None:
    """Let two release what clashes, and each merge the other's, as one version."""
    for person, version in ((alice, "1.3.0"), (bob, "1.4.0")):
        person.write("a.txt", f"{person.name}\n")
        person.lace("release", version)
    meet(alice, bob)
    for person in (alice, bob):
        person.lace("update", expect=1)
        person.write("a.txt", f"{person.name} of both\n")
        (conflict,) = person.lace("conflicts")["conflicts"]
        person.lace("resolve", conflict["id"], "--merged", "1.5.0")


def test_a_bystander_is_not_asked_what_both_sides_merged_already(trio: tuple[Person, Person, Person]) -> None:
    """LAZ-39, CLAY-76: alice and bob each merged the other's release, as one version; cara was asked of both levels."""
    alice, bob, cara = trio
    _merge_each_other(alice, bob)
    meet(alice, bob, cara)
    for more in ((), ("--dry-run",)):
        refused = cara.lace("update", *more, expect=1)
        assert (refused["conflicts"], len(refused["waiting"])) == ([], 1)
        assert [one["version"] for one in cara.lace("conflicts")["conflicts"]] == ["1.5.0"]
    cara.lace("resolve", "1.5.0", "--prefer", "bob")
    assert text_of(cara, "a.txt") == "bob of both\n"
    assert cara.lace("conflicts")["conflicts"] == []


def test_a_bystander_is_told_of_own_work_that_clashes_with_what_both_sides_have(
    trio: tuple[Person, Person, Person],
) -> None:
    """LAZ-42: what both sides had merged was taken back for everybody without a word, where the bystander had other."""
    alice, bob, cara = trio
    alice.write("x.txt", "both have this\n")
    _merge_each_other(alice, bob)
    assert [text_of(person, "x.txt") for person in (alice, bob)] == ["both have this\n"] * 2
    cara.write("x.txt", "cara\n")
    cara.lace("commit", "-m", "mine")
    meet(alice, bob, cara)
    assert cara.lace("update", expect=1)["conflicts"] == []
    cara.write("a.txt", "cara of both\n")
    refused = cara.lace("resolve", "1.5.0", "--merged", "1.6.0", expect=2)["error"]  # it was released so for good
    assert (refused["code"], "x.txt is otherwise in your folder" in refused["message"]) == ("path-undecided", True)
    planned = cara.lace("resolve", "1.5.0", "--merged", "1.6.0", "--dry-run")
    assert [(one["path"], sorted(one["without"])) for one in planned["unedited"]] == [("x.txt", ["alice", "bob"])]
    assert planned["unasked"] == ["x.txt"]
    words = ("resolve", "1.5.0", "--merged", "1.6.0", "--dry-run")  # it promised what was refused then
    assert "! It is refused without --yes, for nobody was asked about x.txt\n" in cara.text(*words)
    assert "refused" not in cara.text(*words, "--yes")
    done = cara.lace("resolve", "1.5.0", "--merged", "1.6.0", "--path", "x.txt", "--take", "bob")
    assert done["unedited"] == []
    assert (text_of(cara, "a.txt"), text_of(cara, "x.txt")) == ("cara of both\n", "both have this\n")


def test_a_newcomer_is_told_of_files_that_both_sides_have_otherwise(
    trio: tuple[Person, Person, Person], people: Callable[[str], Person]
) -> None:
    """LAZ-39, LAZ-42: who joined with an old copy of a file took it back for everybody, and it was called theirs."""
    alice, bob, _ = trio
    alice.write("x.txt", "both have this\n")
    _merge_each_other(alice, bob)
    meet(alice, bob)
    dave = people("dave")
    dave.write("x.txt", "an old copy\n")
    dave.write("diary.md", "mine\n")
    line = alice.lace("invite", "dave")["invite"]
    alice.run("sync", "stick")
    dave.lace("accept", line)
    meet(dave, alice, dave)
    words = ("resolve", "1.5.0", "--merged", "1.6.0", "--path", "a.txt", "--take", "bob")
    assert dave.lace(*words, expect=2)["error"]["code"] == "path-undecided"
    assert "\nx.txt is otherwise in your folder than at the sides.\n" in f"\n{dave.run(*words).err}"
    assert [text_of(dave, name) for name in ("x.txt", "diary.md")] == ["an old copy\n", "mine\n"]
    with open_vault(dave) as vault:
        page = open_conflict(vault, "1.5.0")
        assert ([file.path for file in page.files], page.unasked, page.own) == (["a.txt"], ("x.txt",), ("diary.md",))
        with pytest.raises(PathUndecided, match=r"x\.txt"):
            decide(vault, page, {"a.txt": Pick(side=0)}, Version(1, 6, 0))
    planned = dave.lace(*words, "--dry-run")
    assert [(one["path"], sorted(one["without"])) for one in planned["unedited"]] == [("x.txt", ["alice", "bob"])]
    assert planned["own"] == ["diary.md"]
    assert "! It would release what was yours alone, too: diary.md\n" in dave.text(*words, "--dry-run")
    done = dave.lace(*words, "--path", "x.txt", "--take", "bob", "--dry-run")
    assert (done["unedited"], done["own"]) == ([], ["diary.md"])
    dave.lace("commit", "-m", "mine")
    with open_vault(dave) as vault:  # now it is a side that the app asks about
        page = open_conflict(vault, "1.5.0")
        assert ([file.path for file in page.files], page.unasked) == (["a.txt", "x.txt"], ())
    done = dave.lace(*words, "--path", "x.txt", "--take", "bob")
    assert (done["unedited"], done["own"]) == ([], ["diary.md"])
    assert text_of(dave, "x.txt") == "both have this\n"


@pytest.mark.parametrize("attempt", range(3))
def test_a_bystander_s_merge_is_never_chosen_by_a_hash(trio: tuple[Person, Person, Person], attempt: int) -> None:
    """LAZ-4, LAZ-42: who has neither side and edited nothing chooses, or nothing happens."""
    alice, bob, cara = trio
    # keys differ each time, so hashes do too
    differ(alice, bob)
    meet(alice, bob, cara)
    for more in ((), ("--dry-run",)):
        refused = cara.lace("resolve", "2.0.0", "--merged", "2.0.1", *more, expect=2)["error"]
        assert refused["code"] == "path-undecided"
        assert "a.txt" in refused["message"]
    assert text_of(cara, "a.txt") == "base\n"
    assert cara.lace("conflicts")["conflicts"]
    if attempt:
        cara.lace("resolve", "2.0.0", "--merged", "2.0.1", "--path", "a.txt", "--take", "bob")
    else:
        cara.write("a.txt", "bob\n")  # what one side has, and she too
        cara.lace("resolve", "2.0.0", "--merged", "2.0.1")
    assert text_of(cara, "a.txt") == "bob\n"
