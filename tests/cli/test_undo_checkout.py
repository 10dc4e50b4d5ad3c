"""`undo` after a checkout, of the whole folder or of one path (APP-4, CLAY-24)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lace_tui.redoing import again, redo
from lazy.folder.last_act import last_act
from tests.circle.world import open_vault
from tests.cli.looking import tree_of
from tests.cli.undoable import begin, begin_together
from tests.people import Person
from vault.commands import words_of
from vault.watch import Watch


@pytest.mark.parametrize("words", [("main",), ("main", "deep"), ("main@2", "deep/b.txt")])
def test_what_came_back_as_it_was_stands_in_no_undo_s_way(alice: Person, words: tuple[str, ...]) -> None:
    """APP-4: the refusal said to bring it back, and that was then the last act, which is not taken back."""
    begin(alice)
    alice.write("deep/b.txt", "the only copy\n")
    alice.lace("commit", "-m", "second")
    (alice.folder / "deep/b.txt").unlink()
    alice.lace("undo", expect=2)
    assert alice.lace("checkout", *words)["written"] == ["deep/b.txt"]
    assert alice.lace("undo", "--dry-run")["revision"] == 2
    assert alice.lace("undo")["revision"] == 2
    assert (alice.folder / "deep/b.txt").read_text() == "the only copy\n"
    assert alice.lace("audit", "verify")["ok"]


def test_a_checkout_that_changed_nothing_stands_in_no_undo_s_way(alice: Person) -> None:
    """APP-4: the commit before it is the last act still; one that changed the folder is answered."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    for words in (("main",), ("main@2",), ("main", "a.txt")):
        assert "already" in alice.text("checkout", *words)
    assert alice.lace("undo", "--dry-run")["revision"] == 2
    alice.lace("checkout", "main@1")
    assert alice.lace("undo", expect=2)["error"]["message"].startswith("The last act was the checkout of self/main@1")


def test_a_path_that_was_brought_goes_back_to_what_it_was(alice: Person) -> None:
    """APP-4, CLAY-24: a file of an old state that was brought by mistake is taken away again, and others stay."""
    alice.write("deep/old.txt", "old\n")
    begin(alice)
    (alice.folder / "deep/old.txt").unlink()
    for path in ("a.txt", "deep/new.txt"):
        alice.write(path, "two\n")
    alice.lace("commit", "-m", "second")
    alice.write("b.txt", "not committed\n")
    had = tree_of(alice.folder)
    for path, written in (("a.txt", ["a.txt"]), ("deep", ["deep/new.txt"])):
        alice.lace("checkout", "main@1", path)
        with open_vault(alice) as vault:
            one = again(vault)
        planned = alice.lace("undo", "--dry-run")
        assert planned["would_undo"] == f"{path} would be as it was before it was brought"
        done = alice.lace("undo")
        assert (done["written"], done["deleted"]) == (planned["written"], planned["deleted"])
        assert (done["undone"], done["written"]) == (f"{path} is as it was before it was brought", written)
        assert tree_of(alice.folder) == had
        assert one is not None
        with open_vault(alice) as vault:
            assert redo(vault, last_act(vault), one, Watch()) == f"{path} is as in self/main@1 again"
        assert tree_of(alice.folder) != had
        alice.lace("undo")
    assert alice.lace("undo")["revision"] == 2, "what was done before it is the last act again"
    assert alice.lace("audit", "verify")["ok"]


def test_a_path_that_was_edited_after_it_was_brought_is_not_taken_back(alice: Person) -> None:
    """APP-4, CLAY-24: nothing is lost by an undo, and the way out that it names loses nothing either."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    alice.lace("checkout", "main@1", "a.txt")
    alice.write("a.txt", "one, and more\n")
    for option in (("--dry-run",), ()):
        told = alice.lace("undo", *option, expect=2)["error"]
        assert (alice.folder / "a.txt").read_text() == "one, and more\n"
    alice.lace(*words_of(told["hint"].partition(": ")[2])[1:])
    assert (alice.folder / "a.txt").read_text() == "two\n"
    assert alice.text("cat", "main@3", "a.txt") == "one, and more\n"


def test_what_was_brought_over_work_that_is_not_committed_is_answered(alice: Person) -> None:
    """APP-4: what stood there before is in no state that an undo could bring back; only gone, it is no such work."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    (alice.folder / "a.txt").unlink()
    alice.lace("checkout", "main@1", "a.txt")
    assert "lace checkout" in alice.lace("undo", expect=2)["error"]["hint"], "it is not as the line has it"
    alice.lace("checkout", "main", "a.txt")
    assert "lace checkout" in alice.lace("undo", expect=2)["error"]["hint"], "another state was written over"


def test_a_path_that_was_brought_and_is_as_it_was_again_is_taken_back(alice: Person) -> None:
    """APP-4, CLAY-24: the file was deleted and came back as the line has it, so there is nothing to write."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    alice.lace("checkout", "main@1", "a.txt")
    (alice.folder / "a.txt").unlink()
    alice.lace("checkout", "main", "a.txt")
    assert alice.lace("undo")["undone"] == "a.txt is as it was before it was brought"
    assert (alice.folder / "a.txt").read_text() == "two\n"
    assert alice.lace("undo")["revision"] == 2


def test_a_friend_s_file_that_was_taken_back_comes_with_an_update(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-4, CLAY-73: the part is none any more, and all of the release comes as to anybody."""
    begin_together(alice, bob, tmp_path)
    alice.write("a.txt", "alice's\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("checkout", "alice/main", "a.txt")
    bob.lace("undo")
    assert (bob.folder / "a.txt").read_text() == "one\n"
    assert bob.lace("update")["written"] == ["a.txt"]
    assert tree_of(bob.folder) == tree_of(alice.folder)
