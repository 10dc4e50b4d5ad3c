"""`undo`: the last act is taken back where nobody else can have it, else what would answer it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from lace_tui.model.deeds import plan_undo
from lazy.folder import undo as undoing
from lazy.folder.last_act import NothingToUndo
from lazy.folder.undo import undo
from tests.circle.world import open_vault
from tests.cli.undoable import begin, begin_together, files_of
from tests.people import Person
from tests.vault.vaults import found, write
from vault.commands import words_of
from vault.folder.work import commit
from vault.releasing import release
from vault.revisions.history import line_head
from vault.vault import Vault
from vault.watch import Watch


def test_a_commit_becomes_uncommitted_work_again(alice: Person) -> None:
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    alice.write("a.txt", "three\n")
    alice.lace("commit", "-m", "third")
    planned = alice.lace("undo", "--dry-run")
    assert (planned["undone"], planned["revision"]) == (None, 3)
    assert alice.lace("undo")["revision"] == 3
    assert (alice.folder / "a.txt").read_text() == "three\n"
    assert alice.lace("changes")["changed"] == ["a.txt"]
    alice.write("a.txt", "two\n")  # of which only the second revision tells
    assert alice.lace("undo")["revision"] == 2
    assert alice.text("cat", "main", "a.txt") == "one\n"
    assert alice.lace("undo", expect=2)["error"]["code"] == "nothing-to-undo"
    checked = alice.lace("fsck")
    assert checked["ok"], checked
    assert alice.lace("audit", "verify")["ok"]
    again = alice.lace("commit", "-m", "again")
    assert again["revision"] == 2
    assert alice.lace("release", "1.0.0")["version"] == "1.0.0"


def test_an_undo_loses_no_content_that_is_nowhere_else(alice: Person) -> None:
    """APP-4, APP-13: it said that a file was uncommitted work now which was deleted, and the only copy was lost."""
    begin(alice)
    alice.write("novel.txt", "the only copy\n")
    alice.write("same.txt", "one\n")  # as the first revision has it elsewhere
    alice.lace("commit", "-m", "novel")
    for name in ("novel.txt", "same.txt"):
        (alice.folder / name).unlink()
    with open_vault(alice) as vault:
        assert plan_undo(vault).undone.lone == ("novel.txt",)  # as the app shows it
    planned = alice.text("undo", "--dry-run").splitlines()
    assert planned[1] == "What nothing else here holds would be kept under a name: novel.txt."
    first, kept, until, back = alice.text("undo").splitlines()
    assert first == "main revision 2 is taken back; what it held is uncommitted work now."
    assert kept == "What nothing else here holds is kept as main@kept-1: novel.txt."
    assert until == "It stays until 32 others, or a prune, push it out."
    assert not (alice.folder / "novel.txt").exists()
    alice.lace(*words_of(back.partition(": ")[2])[1:])
    assert (alice.folder / "novel.txt").read_text() == "the only copy\n"
    assert alice.lace("changes")["added"] == ["novel.txt"]
    assert alice.lace("fsck")["ok"]


def test_what_was_edited_since_each_commit_is_kept_and_undo_goes_on(alice: Person) -> None:
    """APP-4, APP-13: what it was before the edit is nowhere else; what a name lost and another has is not lost."""
    begin(alice)
    alice.write("novel.txt", "the first wording\n")
    alice.write("moved.txt", "moved\n")
    alice.lace("commit", "-m", "novel")
    (alice.folder / "moved.txt").rename(alice.folder / "elsewhere.txt")
    alice.write("novel.txt", "another wording\n")
    alice.lace("commit", "-m", "another", "novel.txt")
    alice.write("novel.txt", "a third wording\n")
    for number, label in ((3, "main@kept-1"), (2, "main@kept-2")):
        planned, done = alice.lace("undo", "--dry-run"), alice.lace("undo")
        assert (planned["revision"], planned["lone"], planned["kept_as"]) == (number, ["novel.txt"], None)
        assert (done["revision"], done["lone"], done["kept_as"]) == (number, ["novel.txt"], label)
    assert alice.text("cat", "main@kept-1", "novel.txt") == "another wording\n"
    assert alice.text("cat", "main@kept-2", "novel.txt") == "the first wording\n"
    assert files_of(alice) == {"a.txt": "one\n", "novel.txt": "a third wording\n", "elsewhere.txt": "moved\n"}
    alice.lace("undo", expect=2)
    assert alice.lace("fsck")["ok"]


def test_what_another_commit_has_is_not_kept_by_an_undo(alice: Person) -> None:
    """APP-4: a desk of its own has it, or an earlier revision; a part that was committed is compared alone."""
    begin(alice)
    alice.lace("desk", "add", "songs", "songs")
    alice.write("songs/song.txt", "la\n")
    alice.lace("commit", "--desk", "songs", "-m", "song")
    for name, text in (("song.txt", "la\n"), ("a.txt", "two\n"), ("draft.txt", "not committed\n")):
        alice.write(name, text)
    alice.lace("commit", "-m", "part", "song.txt")
    (alice.folder / "song.txt").unlink()
    (alice.folder / "draft.txt").unlink()
    assert alice.lace("undo")["kept_as"] is None
    alice.lace("commit", "-m", "two")
    alice.write("a.txt", "one\n")
    alice.lace("commit", "-m", "one again")
    (alice.folder / "a.txt").unlink()
    assert alice.lace("undo")["kept_as"] is None
    assert alice.lace("undo")["lone"] == ["a.txt"]


def test_a_desk_whose_folder_is_gone_keeps_its_last_commit(alice: Person) -> None:
    """APP-4, CLAY-3: what it held was said to be uncommitted work, and there was no folder to hold it."""
    begin(alice)
    alice.lace("desk", "add", "songs", "songs")
    for text in ("la\n", "lala\n", "lalala\n"):
        alice.write("songs/song.txt", text)
        alice.lace("commit", "--desk", "songs", "-m", text)
    (alice.folder / "songs" / "song.txt").unlink()
    told = alice.run("undo", cwd=alice.folder / "songs").text
    assert told.endswith(": lace checkout songs@kept-1 song.txt\n")
    (alice.folder / "songs").rmdir()
    for words in (("undo", "--dry-run"), ("undo",)):
        assert alice.lace(*words, expect=13)["error"]["code"] == "desk-folder-gone"
    alice.lace("checkout", "songs")
    assert (alice.folder / "songs" / "song.txt").read_text() == "lala\n"
    alice.lace("checkout", "songs@kept-1", "songs/song.txt")
    assert (alice.folder / "songs" / "song.txt").read_text() == "lalala\n"


def test_what_was_shared_is_answered_and_not_taken_back(alice: Person) -> None:
    begin(alice)
    alice.lace("release", "1.0.0")
    told = alice.lace("undo", expect=2)["error"]
    assert (told["code"], "lace release" in told["hint"]) == ("nothing-to-undo", True)
    assert told["message"] == "The last act was the release main@1.0.0, which is not taken back."
    alice.lace("label", "draft")
    assert "label" in alice.lace("undo", expect=2)["error"]["hint"]


@pytest.mark.parametrize("desk", ["main", "songs"])
def test_the_answer_to_a_release_names_what_was_before_it(alice: Person, desk: str) -> None:
    """APP-4: it named no state, and the last revision is none that anybody got."""
    begin(alice)
    if desk == "songs":
        alice.lace("desk", "add", "songs", "songs")
    folder, option = ("", ()) if desk == "main" else ("songs/", ("--desk", "songs"))
    alice.write(f"{folder}a.txt", "good")
    first = alice.lace("release", "1.0.0", *option)["revision"]
    assert "checkout" not in alice.lace("undo", expect=2)["error"]["hint"], "there is none"
    alice.write(f"{folder}a.txt", "draft")
    alice.lace("commit", "-m", "draft", *option)
    alice.write(f"{folder}a.txt", "bad")
    alice.lace("release", "1.0.1", *option)
    hint = alice.lace("undo", expect=2)["error"]["hint"]
    checkout, release = hint.partition(": ")[2].split(" - then: ")
    assert checkout == f"lace checkout {desk}@{first}"
    assert release == " ".join(("lace release", *option))
    alice.lace(*checkout.split()[1:])
    assert alice.lace(*release.split()[1:], "--yes")["version"] == "1.0.2"
    assert alice.run("cat", f"{desk}@1.0.2", "a.txt").out == b"good"


def test_a_release_that_comes_first_keeps_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody releases in another window while `undo` waits for the vault: what was shared is never taken back."""
    vault = found(tmp_path)
    for text in ("one", "two"):
        write(vault, "a.txt", text)
        commit(vault, text)

    def released(_vault: Vault, _watch: Watch, _desk: str) -> None:
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


def test_a_commit_that_names_a_friends_equal_one_too_stays_in_the_folder(
    alice: Person, bob: Person, tmp_path: Path
) -> None:
    """APP-4, APP-13: it has two parents and is no merge; what it held is nowhere else."""
    begin_together(alice, bob, tmp_path)
    for person, version in ((alice, "1.0.1"), (bob, "1.0.2")):
        person.write("a.txt", "the same\n")
        person.lace("release", version)
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    assert alice.lace("update")["written"] == []
    alice.write("a.txt", "precious\n")
    alice.write("new.txt", "precious too\n")
    made = alice.lace("commit", "-m", "precious")
    assert alice.lace("undo", "--dry-run")["would_undo"].endswith("; what it held would be uncommitted work")
    assert (alice.lace("undo")["deleted"], alice.lace("changes")["added"]) == ([], ["new.txt"])
    assert files_of(alice) == {"a.txt": "precious\n", "new.txt": "precious too\n"}
    assert alice.lace("commit", "-m", "precious")["revision"] == made["revision"]
    assert alice.lace("update")["conflicts"] == []  # it names bob's again
    assert alice.lace("fsck")["ok"]


def test_a_decision_stays_and_what_is_named_instead_works(alice: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-43, LAZ-37, APP-4: a version is decided once; a side comes back with a checkout and is released anew."""
    begin_together(alice, bob, tmp_path)
    for person in (alice, bob):
        person.write("c.txt", f"{person.name}\n")
        person.lace("release", "2.0.0")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    alice.lace("resolve", "2.0.0", "--prefer", "local")
    error = alice.lace("undo", expect=2)["error"]
    assert (error["code"], error["hint"].startswith("A decision stays.")) == ("nothing-to-undo", True)
    again = alice.lace("resolve", "2.0.0", "--prefer", "remote", expect=2)["error"]
    assert again["code"] == "no-such-conflict"
    assert "lace checkout alice/main@2.0.0 or bob/main@2.0.0 - then: lace release" in again["hint"]
    alice.lace("checkout", "bob/main@2.0.0")
    assert alice.lace("release", "--yes")["version"] == "2.0.1"
    alice.lace("sync", "stick")
    assert bob.lace("sync", "stick", expect=1)["next"] == "lace update"
    assert bob.lace("update")["written"] == []  # the content that counts is in the folder already
    for person in (alice, bob):
        assert person.lace("conflicts")["conflicts"] == []
        assert (person.folder / "c.txt").read_text() == "bob\n"


def test_no_part_of_entering_a_group_is_taken_back(ann: Person, bob: Person, tmp_path: Path) -> None:
    """APP-4: the place was, which friends are met at, and the rest stayed."""
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", ann.lace("invite", "bob")["invite"])
    refused = bob.lace("undo", expect=2)["error"]
    assert refused["message"].startswith("The last act was entering friends/")
    assert "lace place remove" in refused["hint"]
    assert [place["place"] for place in bob.lace("places")["places"]] == ["stick"]


def test_a_desk_that_was_moved_is_no_new_one(pair: tuple[Person, Person]) -> None:
    """APP-4, CLAY-3: it was told as new, and in place of it a desk that moved along, or a rule that holds on there."""
    alice, _ = pair
    alice.write("p/y/song.txt", "la\n")
    alice.lace("desk", "permit", "p", "--read", "--not", "bob")
    alice.lace("desk", "add", "outer", "p")
    told = "The last act was the mapping of the desk {}, which is not taken back."
    assert alice.lace("undo", expect=2)["error"]["message"] == told.format("outer")
    alice.lace("desk", "add", "inner", "p/y")
    (alice.folder / "p").rename(alice.folder / "q")
    assert "inner was moved with it." in alice.text("desk", "add", "outer", "q")
    assert alice.lace("undo", expect=2)["error"]["message"] == told.format("outer")
