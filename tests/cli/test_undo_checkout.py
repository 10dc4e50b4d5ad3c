"""`undo` after a checkout, of the whole folder or of one path (APP-4, CLAY-24)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lace_tui.model.redoing import again, redo
from lazy.folder.last_act import last_act
from tests.circle.world import open_vault
from tests.cli.looking import error_of, tree_of
from tests.cli.undoable import begin, begin_together
from tests.people import Person
from tests.rows import put_text
from vault.commands import words_of
from vault.notes.revisions import KEPT_STATES, MOST_KEPT
from vault.records import RecordHash
from vault.revisions.kept_states import keep_state, kept_states, let_go_of_states
from vault.watch import Watch


@pytest.mark.parametrize("words", [("main",), ("main", "deep"), ("main@2", "deep/b.txt")])
def test_what_came_back_as_it_was_stands_in_no_undo_s_way(alice: Person, words: tuple[str, ...]) -> None:
    """APP-4: who brought back what an undo would have to keep met that as the last act, which is not taken back."""
    begin(alice)
    alice.write("deep/b.txt", "the only copy\n")
    alice.lace("commit", "-m", "second")
    (alice.folder / "deep/b.txt").unlink()
    assert alice.lace("undo", "--dry-run")["lone"] == ["deep/b.txt"]
    assert alice.lace("checkout", *words)["written"] == ["deep/b.txt"]
    assert alice.lace("undo", "--dry-run")["revision"] == 2
    assert alice.lace("undo")["revision"] == 2
    assert (alice.folder / "deep/b.txt").read_text() == "the only copy\n"
    assert alice.lace("audit", "verify")["ok"]


@pytest.mark.parametrize("words", [("main",), ("main", "a.txt"), ("main@1", "new.txt"), ("main@2", ".")])
def test_what_an_undone_commit_held_is_written_over_by_no_checkout(alice: Person, words: tuple[str, ...]) -> None:
    """APP-4, CLAY-24: it is uncommitted work that nothing else holds, and a checkout took it away without a word."""
    alice.write("new.txt", "one\n")
    begin(alice)
    (alice.folder / "new.txt").unlink()
    alice.lace("commit", "-m", "second")
    alice.write("a.txt", "the only copy\n")
    alice.write("new.txt", "the only copy\n")
    alice.lace("commit", "-m", "third")
    alice.lace("undo")
    error_of(alice.run("--json", "checkout", *words), "uncommitted-changes")
    assert {(alice.folder / name).read_text() for name in ("a.txt", "new.txt")} == {"the only copy\n"}


def test_what_an_undone_commit_added_stays_beside_what_comes_back(alice: Person) -> None:
    """APP-4, CLAY-24: it was taken for what a look had brought, and went."""
    alice.write("b.txt", "one\n")
    begin(alice)
    alice.write("new.txt", "the only copy\n")
    alice.lace("commit", "-m", "second")
    alice.lace("undo")
    for name in ("a.txt", "b.txt"):
        (alice.folder / name).unlink()
    alice.lace("checkout", "main")
    assert (alice.folder / "a.txt").read_text() == "one\n"
    assert (alice.folder / "new.txt").read_text() == "the only copy\n"


def test_a_look_at_another_state_goes_back(alice: Person) -> None:
    """APP-4, CLAY-24: who looked and went back could never take back the commit before it; an edit is not lost."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.write("b.txt", "two\n")
    alice.lace("commit", "-m", "second")
    had = []
    for what in ("main@1", "main", "main@1", "main@2"):
        had.append(tree_of(alice.folder))
        alice.lace("checkout", what)
    for there in reversed(had):
        with open_vault(alice) as vault:
            one = again(vault)
        planned, done = alice.lace("undo", "--dry-run"), alice.lace("undo")
        assert planned["would_undo"] == "The folder would be as it was before that checkout"
        assert (planned["written"], planned["deleted"]) == (done["written"], done["deleted"])
        assert tree_of(alice.folder) == there
        assert one is not None
        with open_vault(alice) as vault:
            assert redo(vault, last_act(vault), one, Watch()).startswith("The folder is as in self/main@")
        alice.lace("undo")
    assert alice.lace("changes")["changed"] == []
    alice.lace("checkout", "main@1")
    alice.lace("undo")
    assert alice.lace("undo")["revision"] == 2
    assert alice.lace("fsck")["ok"]


def test_what_was_edited_after_a_look_is_kept_by_its_undo(alice: Person) -> None:
    """APP-4, CYB-8, CLAY-24: it was refused, and its way out were commands that nobody can type as they stand."""
    alice.write("sub/c.txt", "one\n")
    alice.write("b.txt", "one\n")
    begin(alice)
    (alice.folder / "b.txt").unlink()
    for path in ("a.txt", "sub/c.txt", "sub/new.txt"):
        alice.write(path, "two\n")
    alice.lace("commit", "-m", "second")
    had = tree_of(alice.folder)
    alice.lace("checkout", "main@1")
    (alice.folder / "sub/c.txt").unlink()
    for path, text in (("a.txt", "edited\n"), ("sub/c.txt/in.txt", "a folder\n"), ("beside.txt", "stays\n")):
        alice.write(path, text)
    planned, done = alice.lace("undo", "--dry-run"), alice.lace("undo")
    assert planned["lone"] == done["lone"] == ["a.txt", "sub/c.txt/in.txt"]
    assert (planned["written"], planned["deleted"]) == (done["written"], done["deleted"])
    assert tree_of(alice.folder) == {**had, "beside.txt": b"stays\n"}
    assert alice.text("cat", "main@kept-1", "a.txt") == "edited\n"
    assert alice.text("cat", "main@kept-1", "sub/c.txt/in.txt") == "a folder\n"
    assert alice.lace("changes")["added"] == ["beside.txt"], "it looks at no other state any more"
    assert alice.lace("undo")["revision"] == 2
    assert alice.lace("fsck")["ok"]
    assert alice.lace("audit", "verify")["ok"]


def test_what_was_edited_between_two_looks_is_kept_too(alice: Person) -> None:
    """APP-4, CLAY-24: what another revision has is not kept anew, and the folder looks at the state before again."""
    begin(alice)
    for text in ("two\n", "three\n"):
        alice.write("a.txt", text)
        alice.lace("commit", "-m", text)
    alice.lace("checkout", "main@1")
    alice.lace("checkout", "main@2")
    alice.write("a.txt", "three\n")
    assert alice.lace("undo")["kept_as"] is None, "revision 3 has it"
    assert (alice.folder / "a.txt").read_text() == "one\n"
    alice.write("a.txt", "one, and more\n")
    assert alice.lace("undo")["kept_as"] == "main@kept-1"
    assert (alice.folder / "a.txt").read_text() == "three\n"
    alice.lace("checkout", "main@1")
    (alice.folder / "a.txt").unlink()
    assert alice.lace("undo")["lone"] == []
    assert (alice.folder / "a.txt").read_text() == "three\n"
    assert alice.lace("undo")["revision"] == 3


def test_a_look_from_another_state_goes_back_to_it(alice: Person) -> None:
    """APP-4, CLAY-24: it looks at that state again, so an update or a release takes nothing back by itself."""
    begin(alice)
    for text in ("two\n", "three\n"):
        alice.write("a.txt", text)
        alice.lace("commit", "-m", text)
    alice.lace("checkout", "main@1")
    alice.lace("checkout", "main@2")
    alice.lace("undo")
    assert (alice.folder / "a.txt").read_text() == "one\n"
    alice.lace("undo")
    assert (alice.folder / "a.txt").read_text() == "three\n"
    assert alice.lace("undo")["revision"] == 3


def test_hundreds_of_visits_hide_no_act(alice: Person) -> None:
    """APP-4: after as many syncs it was said that nothing was done here yet."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    with open_vault(alice) as vault, vault.writing() as w:
        for _ in range(401):
            w.audit("lazy-sync", "stick")
    assert alice.lace("undo", "--dry-run")["revision"] == 2


def test_a_checkout_that_changed_nothing_stands_in_no_undo_s_way(alice: Person) -> None:
    """APP-4: the commit before it is the last act still; one that changed the folder is answered."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    for words in (("main",), ("main@2",), ("main", "a.txt")):
        assert "already" in alice.text("checkout", *words)
    assert alice.lace("undo", "--dry-run")["revision"] == 2
    alice.lace("checkout", "main@1")
    assert alice.lace("undo")["undone"] == "The folder is as it was before that checkout"
    assert alice.lace("undo")["revision"] == 2


@pytest.mark.parametrize(("path", "but"), [("same.txt", ", but for what was edited since"), ("a.txt", "")])
def test_an_undo_of_a_checkout_tells_that_an_edit_beside_it_stays(alice: Person, path: str, but: str) -> None:
    """APP-4: the folder was said to be as before, and what was edited where both states are the same was not."""
    alice.write("same.txt", "same\n")
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    alice.lace("checkout", "main@1")
    alice.write(path, "edited since\n")
    assert alice.lace("undo", "--dry-run")["would_undo"] == f"The folder would be as it was before that checkout{but}"
    assert alice.lace("undo")["undone"] == f"The folder is as it was before that checkout{but}"
    assert (alice.folder / "a.txt").read_text() == "two\n"
    assert (alice.folder / "same.txt").read_text() == ("edited since\n" if but else "same\n")


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


def test_undo_goes_back_edit_by_edit_and_keeps_each(alice: Person) -> None:
    """APP-4, CYB-8: the second one was refused, as the text between was nowhere else, and its way out led back."""
    begin(alice)
    for text in ("two\n", "three\n"):
        alice.write("a.txt", text)
        alice.lace("commit", "-m", text)
    alice.lace("checkout", "main@1", "a.txt")
    alice.write("a.txt", "one, and more\n")
    alice.lace("checkout", "main@2", "a.txt", "--keep-edits")
    alice.write("a.txt", "two, and more\n")
    steps = (("one, and more\n", "main@kept-1"), ("one, and more\n", None), ("three\n", "main@kept-2"))
    for text, label in steps:
        planned, done = alice.lace("undo", "--dry-run"), alice.lace("undo")
        assert (done["kept_as"], planned["lone"]) == (label, done["lone"])
        assert (planned["written"], planned["deleted"]) == (done["written"], done["deleted"])
        assert (alice.folder / "a.txt").read_text() == text
    assert alice.text("cat", "main@kept-1", "a.txt") == "two, and more\n"
    assert alice.lace("undo")["revision"] == 3
    alice.lace("commit", "-m", "three again")
    assert alice.lace("checkout", "main@kept-2", "a.txt")["written"] == ["a.txt"]
    assert (alice.folder / "a.txt").read_text() == "one, and more\n"
    assert alice.lace("undo")["kept_as"] is None, "it is kept already"
    assert (alice.folder / "a.txt").read_text() == "three\n"
    assert alice.lace("fsck")["ok"]
    assert alice.lace("audit", "verify")["ok"]


def test_what_was_brought_over_what_was_brought_is_taken_back_one_by_one(alice: Person) -> None:
    """APP-4: of a path that was not as the line has it nothing was taken back; a folder and what was gone, too."""
    alice.write("deep/b.txt", "one\n")
    begin(alice)
    alice.write("deep/b.txt", "two\n")
    alice.write("deep/new.txt", "two\n")
    alice.lace("commit", "-m", "second")
    had = [tree_of(alice.folder)]
    (alice.folder / "deep/b.txt").unlink()
    for words in (("main@1", "deep/b.txt"), ("main@1", "deep"), ("main@2", "deep")):
        had.append(tree_of(alice.folder))
        alice.lace("checkout", *words)
    for there in reversed(had[1:]):
        assert alice.lace("undo")["lone"] == []
        assert tree_of(alice.folder) == there
    assert alice.lace("undo")["revision"] == 2


def test_an_edit_that_a_revision_has_is_not_kept_anew(alice: Person) -> None:
    """APP-4: it was said that nothing else holds it."""
    begin(alice)
    for text in ("two\n", "three\n"):
        alice.write("a.txt", text)
        alice.lace("commit", "-m", text)
    alice.lace("checkout", "main@1", "a.txt")
    alice.write("a.txt", "two\n")
    assert alice.lace("undo")["lone"] == []
    assert (alice.folder / "a.txt").read_text() == "three\n"


def test_what_is_kept_goes_with_a_prune_that_says_so(alice: Person) -> None:
    """APP-4, CLAY-79: the newest stays, as of revisions; a name is given once, and what it was is said."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    for text in ("x\n", "y\n"):
        alice.lace("checkout", "main@1", "a.txt")
        alice.write("a.txt", text)
        alice.lace("undo")
    assert alice.lace("prune", "--dry-run", "--keep", "2")["kept_states"] == []
    assert alice.lace("prune", "--dry-run")["kept_states"] == ["main@kept-1"]
    assert "  main@kept-1" in alice.text("prune", "--yes").splitlines()
    assert alice.text("cat", "main@kept-2", "a.txt") == "y\n"
    told = alice.lace("checkout", "main@kept-1", "a.txt", expect=2)["error"]
    assert (told["code"], told["message"]) == ("pruned", "What was kept as main@kept-1 is kept no more.")
    assert alice.lace("checkout", "main@kept-3", "a.txt", expect=2)["error"]["code"] == "not-yet"
    assert alice.lace("fsck")["ok"]


def test_what_a_prune_let_go_of_is_not_gone_back_to(alice: Person) -> None:
    """APP-4: or what newer states pushed out; the way out is one that can be typed."""
    begin(alice)
    for text in ("two\n", "three\n"):
        alice.write("a.txt", text)
        alice.lace("commit", "-m", text)
    alice.lace("checkout", "main@1", "a.txt")
    alice.lace("checkout", "main@2", "a.txt")
    with open_vault(alice) as vault, vault.writing() as w:
        keep_state(w.store, vault.node.text, "main", RecordHash.parse("P." + "0" * 43 + ".H3"))
        let_go_of_states(w.store, "main", 1)
    told = alice.lace("undo", expect=2)["error"]
    assert told["message"].startswith("What a.txt held before it was brought is kept no more")
    alice.lace(*words_of(told["hint"].partition(": ")[2])[1:])
    assert (alice.folder / "a.txt").read_text() == "three\n"


def test_the_last_states_are_kept_and_a_label_keeps_its_name(alice: Person) -> None:
    """APP-4: of one desk as many as is said, the oldest go first, and no name is given twice."""
    begin(alice)
    alice.lace("label", "kept-2")
    trees = [RecordHash.parse(f"P.{number:042d}0.H3") for number in range(MOST_KEPT + 2)]
    with open_vault(alice) as vault, vault.writing() as w:
        node = vault.node.text
        for tree in trees:
            keep_state(w.store, node, "main", tree)
        kept = kept_states(w.store, "main")
        assert [one.number for one in kept] == list(range(4, MOST_KEPT + 4))
        again = keep_state(w.store, node, "main", kept[0].tree)
        assert (again, kept_states(w.store, "main")[-1]) == (kept[0], kept[0])
        put_text(w.store, KEPT_STATES.key("main"), "rotten")
        assert kept_states(w.store, "main") == ()
        w.store.drop_note(KEPT_STATES, "main")


@pytest.mark.parametrize("at", range(0, 160, 3))
def test_no_name_is_given_twice_where_the_note_of_states_rotted(alice: Person, at: int) -> None:
    """APP-4, APP-13: numbers began at 1 again, and kept-1 was another state than the one that somebody wrote down."""
    begin(alice)
    trees = [RecordHash.parse(f"P.{number:042d}0.H3") for number in range(4)]
    with open_vault(alice) as vault, vault.writing() as w:
        node = vault.node.text
        named = {keep_state(w.store, node, "main", tree).label: tree for tree in trees[:3]}
        text = KEPT_STATES.write(w.store.note(KEPT_STATES, "main"))
        put_text(w.store, KEPT_STATES.key("main"), f"{text[:at]}\0{text[at + 1 :]}")
        found = kept_states(w.store, "main")
        assert len(found) >= 2
        assert all(named[one.label] == one.tree for one in found)
        assert keep_state(w.store, node, "main", trees[3]).label not in named


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
