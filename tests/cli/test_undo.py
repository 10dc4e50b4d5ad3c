"""`undo`: the last act is taken back where nobody else can have it, else what would answer it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy import undo as undoing
from lazy.undo import NothingToUndo, undo
from tests.people import Person
from tests.vault.vaults import found, write
from vault.history import line_head
from vault.vault import Vault
from vault.work import Watch, commit, release


def _begin(alice: Person) -> None:
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("commit", "-m", "first")


def test_a_commit_becomes_uncommitted_work_again(alice: Person) -> None:
    _begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    alice.write("a.txt", "three\n")
    alice.lace("commit", "-m", "third")
    planned = alice.lace("undo", "--dry-run")
    assert (planned["undone"], planned["revision"]) == (None, 3)
    assert alice.lace("undo")["revision"] == 3
    assert (alice.folder / "a.txt").read_text() == "three\n"
    assert alice.lace("changes")["changed"] == ["a.txt"]
    assert alice.lace("undo")["revision"] == 2
    assert alice.text("cat", "main", "a.txt") == "one\n"
    assert alice.lace("undo", expect=2)["error"]["code"] == "nothing-to-undo"
    checked = alice.lace("fsck")
    assert checked["ok"], checked
    assert alice.lace("audit", "verify")["ok"]
    again = alice.lace("commit", "-m", "again")
    assert again["revision"] == 2
    assert alice.lace("release", "1.0.0")["version"] == "1.0.0"


def test_what_was_shared_is_answered_and_not_taken_back(alice: Person) -> None:
    _begin(alice)
    alice.lace("release", "1.0.0")
    told = alice.lace("undo", expect=2)["error"]
    assert (told["code"], "lace release" in told["hint"]) == ("nothing-to-undo", True)
    assert told["message"] == "The last act was the release main@1.0.0, which is not taken back."
    alice.lace("label", "draft")
    assert "label" in alice.lace("undo", expect=2)["error"]["hint"]


def test_a_release_that_comes_first_keeps_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody releases in another window while `undo` waits for the vault: what was shared is never taken back."""
    vault = found(tmp_path)
    for text in ("one", "two"):
        write(vault, "a.txt", text)
        commit(vault, text)

    def released(_vault: Vault, _watch: Watch) -> None:
        with Vault(vault.folder, vault.around) as other:
            release(other, None, "")

    monkeypatch.setattr(undoing, "finish_checkouts", released)
    with pytest.raises(NothingToUndo):
        undo(vault)
    head = line_head(vault.store, vault.node.text, "main")
    assert head is not None
    assert head.number == 2
    assert vault.store.position(head.commit) is not None
    vault.close()


def test_an_update_goes_back_with_the_folder(alice: Person, bob: Person, tmp_path: Path) -> None:
    _begin(alice)
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (bob, alice, bob):
        person.run("sync", "stick")
    bob.lace("update")
    bob.write("b.txt", "bob\n")
    bob.lace("commit", "-m", "mine")
    alice.write("c.txt", "alice\n")
    alice.lace("release", "1.1.0")
    alice.run("sync", "stick")
    bob.run("sync", "stick")
    merged = bob.lace("update")
    assert (bob.folder / "c.txt").exists()
    bob.write("c.txt", "edited\n")
    assert "lose" in bob.lace("undo", expect=2)["error"]["message"]
    bob.write("c.txt", "alice\n")
    undone = bob.lace("undo")
    assert (undone["revision"], undone["written"]) == (merged["revision"], ["c.txt"])
    assert not (bob.folder / "c.txt").exists()
    assert (bob.folder / "b.txt").read_text() == "bob\n"
    assert bob.lace("fsck")["ok"]
    assert bob.lace("update")["revision"] == merged["revision"]
    assert (bob.folder / "c.txt").read_text() == "alice\n"


def test_places_come_and_go(alice: Person, tmp_path: Path) -> None:
    _begin(alice)
    stick = tmp_path / "stick"
    alice.lace("place", "add", "stick", str(stick))
    alice.lace("place", "remove", "stick")
    assert "place again" in alice.lace("undo")["undone"]
    assert [place["place"] for place in alice.lace("places")["places"]] == ["stick"]
    assert "no place any more" in alice.lace("undo")["undone"]
    assert alice.lace("places")["places"] == []
    assert alice.lace("undo", expect=2)["error"]["code"] == "nothing-to-undo"
