"""A plain mailbox that is encrypted later, at hosts that let no branch go (decision 5, decision 7a)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.people import Person
from tests.shelf import Shelf
from tests.transports.git_hosts import git
from tests.transports.git_places import begun, make_met, refs


def deny(bare: Path, *what: str) -> None:
    for key in what:
        git(bare, "config", f"receive.{key}", "true")


def encrypt(person: Person) -> str:
    """Encrypt what lies at the host from now on; return what is said of it."""
    said = person.run("place", "set", "host", "--encrypt").out.decode()
    person.lace("sync", "host")
    return said


def told(person: Person) -> list[str]:
    return [problem["code"] for problem in person.lace("sync", "host")["problems"]]


def reachable(bare: Path) -> set[str]:
    return set(git(bare, "rev-list", "--all").split())


def test_nothing_plain_stays_behind_a_branch_that_is_not_deleted(alice: Person, bare: Path) -> None:
    """CYB-17: the empty mailbox that took its place lay on top of all that was left there in plain."""
    begun(alice, bare)
    alice.lace("sync", "host")
    deny(bare, "denyDeletes")
    ((branch, tip),) = ((name, tip) for name, tip in refs(bare).items() if not name.endswith("/place"))
    assert "the host may keep it until its owner runs git gc" in encrypt(alice)
    assert tip not in reachable(bare)
    assert branch in refs(bare)
    assert told(alice) == []


def test_of_what_was_never_there_in_plain_nothing_is_promised(alice: Person, bare: Path) -> None:
    """CYB-17, APP-14: asked again, it told of what the next sync takes away, and the sync took nothing."""
    begun(alice, bare)
    encrypt(alice)
    assert encrypt(alice) == (
        "Your mailbox on host is set to be encrypted to the members already.\n"
        "If something of it still lies there in plain, the next sync takes that away; the host may keep it until its"
        " owner runs git gc.\n"
        "Next: lace sync host\n"
    )


@pytest.mark.parametrize("times", [1, 2])
def test_what_lies_there_in_plain_until_a_sync_is_not_said_to_be_encrypted(
    alice: Person, bare: Path, times: int
) -> None:
    """CYB-17, APP-14: asked for twice before it, the second time said that it is, and that was all."""
    begun(alice, bare)
    alice.lace("sync", "host")
    said = [alice.text("place", "set", "host", "--encrypt") for _ in range(times)][-1]
    assert " is encrypted" not in said
    assert "in plain" in said
    assert "the next sync takes" in said


def test_what_a_host_keeps_in_plain_is_told_until_it_is_gone(bare: Path, alice: Person) -> None:
    """CYB-17, APP-14: at each visit, with the branch that its owner can delete; then it does not come back."""
    begun(alice, bare)
    alice.lace("sync", "host")
    deny(bare, "denyDeletes", "denyNonFastForwards")
    ((branch, tip),) = ((name, tip) for name, tip in refs(bare).items() if not name.endswith("/place"))
    alice.run("place", "set", "host", "--encrypt")
    done = alice.run("--json", "sync", "host")
    (problem,) = done.json["places"][0]["problems"] if "places" in done.json else done.json["problems"]
    assert (done.code, problem["code"]) == (0, "left-in-plain")
    assert branch.removeprefix("refs/heads/") in problem["message"]
    assert "git gc" in problem["hint"]
    assert tip in reachable(bare)
    assert told(alice) == ["left-in-plain"]
    alice.write("more.txt", "more\n")
    alice.lace("release", "1.1.0")
    assert told(alice) == ["left-in-plain"]
    git(bare, "update-ref", "-d", branch)
    alice.write("more.txt", "still more\n")
    alice.lace("release", "1.2.0")
    for _ in range(2):
        assert told(alice) == []
    assert branch not in refs(bare)
    assert tip not in reachable(bare)


@pytest.mark.parametrize("keys", [(), ("denyDeletes",), ("denyDeletes", "denyNonFastForwards")])
def test_a_friend_reads_what_is_encrypted_later_at_any_host(
    shelf: Shelf, bare: Path, alice: Person, bob: Person, keys: tuple[str, ...]
) -> None:
    """CYB-17, APP-7: what took the place of the plain mailbox hides nothing of the encrypted one."""
    shelf.lay(make_met)
    deny(bare, *keys)
    encrypt(alice)
    alice.write("notes.txt", "two\n")
    made = alice.lace("release", "1.1.0")["release"]
    alice.lace("sync", "host")
    assert made in [new["release"] for new in bob.lace("sync", "host")["releases"]]
    alice.lace("sync", "host")
    assert bob.lace("sync", "host")["fixed_point"]


def generations(bare: Path, alice: Person, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let alice begin her plain branch anew at a host that replaces and deletes none; return the branches, sorted."""
    monkeypatch.setattr("transports.git.compaction.COMMITS", 3)
    deny(bare, "denyDeletes", "denyNonFastForwards")
    begun(alice, bare)
    for number in range(8):
        alice.write("notes.txt", f"{number}\n")
        alice.lace("release", f"1.{number + 1}.0")
        alice.lace("sync", "host")
    found = sorted(name for name in refs(bare) if not name.endswith("/place"))
    assert len(found) > 2
    return found


def named(problem: dict[str, str]) -> list[str]:
    """Return the branches that a warning names."""
    return [f"refs/heads/{name}" for name in re.findall(r"lace/[0-9a-f]{80}(?:-[0-9]+)?", problem["message"])]


def shown(bare: Path, branches: list[str]) -> list[str]:
    """Return those of some branches in which a head lies for everybody to read."""
    return [name for name in branches if name in refs(bare) and "head.rec" in git(bare, "ls-tree", name)]


def test_every_generation_of_a_plain_branch_goes_at_once(
    bare: Path, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17: the youngest alone went, so the one before it came back into view with its head, and nobody said so."""
    plain = generations(bare, alice, monkeypatch)
    git(bare, "config", "receive.denyDeletes", "false")
    assert shown(bare, plain) == plain
    encrypt(alice)
    assert not set(plain) & set(refs(bare))
    assert told(alice) == []


@pytest.mark.parametrize("deleted", [0, -1])
def test_every_generation_that_a_host_keeps_is_told_in_one_warning(
    bare: Path, alice: Person, monkeypatch: pytest.MonkeyPatch, deleted: int
) -> None:
    """CYB-17, APP-14: two warnings named other branches, and nothing was told once the one in the first was deleted."""
    plain = generations(bare, alice, monkeypatch)
    alice.run("place", "set", "host", "--encrypt")
    for _ in range(2):
        (problem,) = alice.lace("sync", "host")["problems"]
        assert problem["code"] == "left-in-plain"
        assert named(problem) == plain
        assert shown(bare, plain) == []
    git(bare, "update-ref", "-d", plain.pop(deleted))
    (problem,) = alice.lace("sync", "host")["problems"]
    assert named(problem) == plain
    for name in plain:
        git(bare, "update-ref", "-d", name)
    for _ in range(2):
        assert told(alice) == []
    assert not set(plain) & set(refs(bare))


def test_a_generation_that_came_back_into_view_goes_with_the_next_sync(
    bare: Path, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17: also where the encrypted mailbox is up to date, and the private repository was begun anew meanwhile."""
    plain = generations(bare, alice, monkeypatch)
    tips = refs(bare)
    encrypt(alice)
    git(bare, "update-ref", "-d", plain.pop())
    for name in plain:
        git(bare, "update-ref", name, tips[name])
    for private in (alice.folder / ".vault" / "git").glob("*.git"):
        shutil.rmtree(private)
    (problem,) = alice.lace("sync", "host")["problems"]
    assert named(problem) == plain
    assert shown(bare, plain) == []
