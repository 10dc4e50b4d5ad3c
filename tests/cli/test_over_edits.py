"""A path is brought back over what was edited there: that is committed first, and nothing is lost."""

from __future__ import annotations

import random

import pytest

from lace_tui.model.redoing import again, redo
from lazy.folder.last_act import last_act
from tests.circle.world import open_vault
from tests.cli.looking import error_of, tree_of
from tests.people import Person
from vault.commands import words_of
from vault.watch import Watch

_OVER = ("checkout", "main", "soup.md", "--keep-edits")


def _edited(ann: Person) -> dict[str, bytes]:
    """Let ann commit two files, and edit both; return what the folder holds."""
    ann.write("soup.md", "pumpkin\n")
    ann.write("cake.md", "flour\n")
    ann.lace("commit", "-m", "good")
    ann.write("soup.md", "salt, salt\n")
    ann.write("cake.md", "flour, eggs\n")
    return tree_of(ann.folder)


def test_a_wrong_edit_is_taken_back_by_one_command(ann: Person) -> None:
    """CYB-8, CLAY-24: it took a commit first, and then the number of the revision before it."""
    _edited(ann)
    done = ann.lace(*_OVER)
    assert (done["written"], done["saved"], done["revision"], done["planned"]) == (["soup.md"], 2, 3, False)
    assert (ann.folder / "soup.md").read_text() == "pumpkin\n"
    assert ann.text("cat", "main@2", "soup.md") == "salt, salt\n", "the edit is kept"
    assert ann.text("cat", "main", "soup.md") == "pumpkin\n"
    assert ann.lace("changes")["changed"] == ["cake.md"], "of what was not named nothing is committed"
    assert "already" in ann.text(*_OVER), "said again it does nothing, and brings no edit back"
    messages = [one["message"] for one in ann.lace("log")["entries"] if one["app"] == "lace/commit"]
    assert messages == ["soup.md as in self/main@1", "before checkout", "good"]
    assert ann.lace("fsck")["ok"]
    assert ann.lace("audit", "verify")["ok"]


def test_it_is_said_where_the_edit_is(ann: Person) -> None:
    """CYB-8: the line that brings the edit back is one that can be typed."""
    _edited(ann)
    first, kept, now, back = ann.text(*_OVER).splitlines()
    assert first == "soup.md is as in self/main@1 now: 1 file changed."
    assert kept == "What was edited there is kept as main@2, 'before checkout'."
    assert now == "What is there now is committed: main revision 3."
    ann.lace(*words_of(back.partition(": ")[2])[1:])
    assert (ann.folder / "soup.md").read_text() == "salt, salt\n"


def test_the_refusal_names_the_way(ann: Person) -> None:
    """CLAY-24: without a word for it what was edited is written over by nothing; the word is in the way out."""
    ann.write("deep/our soup.md", "pumpkin\n")
    ann.lace("commit", "-m", "good")
    ann.write("deep/our soup.md", "salt\n")
    before = tree_of(ann.folder)
    inside = ann.folder / "deep"
    refused = error_of(ann.run("--json", "checkout", "main", "our soup.md", cwd=inside), "uncommitted-changes")
    assert tree_of(ann.folder) == before
    way = next(part for part in refused["hint"].split(" - ") if "--keep-edits" in part)
    ann.lace(*words_of(way.rpartition(": ")[2])[1:], cwd=inside)
    assert (inside / "our soup.md").read_text() == "pumpkin\n"


def test_a_dry_run_says_what_would_be_done_and_does_none_of_it(ann: Person) -> None:
    """CYB-8, CLAY-24: of all of a folder, of a path, and of one that is edited."""
    before = _edited(ann)
    log = ann.lace("log")
    planned = ann.lace(*_OVER, "--dry-run")
    said = ann.text(*_OVER, "--dry-run")
    assert said == (
        "soup.md would be as in self/main@1: 1 file would be written.\n  soup.md\n"
        "What was edited there would be committed first, as 'before checkout'.\nWhat comes there would be committed.\n"
    )
    refused = error_of(ann.run("--json", "checkout", "main", "soup.md", "--dry-run"), "uncommitted-changes")
    assert "--keep-edits" in refused["hint"]
    error_of(ann.run("--json", "checkout", "main", "--dry-run"), "uncommitted-changes")
    assert (tree_of(ann.folder), ann.lace("log")) == (before, log)
    done = ann.lace(*_OVER)
    assert planned["planned"]
    assert planned["written"] == done["written"]
    ann.lace("commit", "-m", "cake")
    assert ann.lace("checkout", "main@1", "--dry-run")["written"] == ["cake.md"]
    assert ann.lace("checkout", "main@1", "cake.md", "--dry-run")["written"] == ["cake.md"]
    assert ann.lace("changes")["changed"] == []


def test_a_dry_run_knows_a_large_edit_for_one(ann: Person) -> None:
    """CYB-8, CLAY-24: what is planned keeps no content of a large file, and took it for one that was changed since."""
    draw = random.Random(3)
    for step in ("good", "edit"):
        (ann.folder / "film.bin").write_bytes(draw.randbytes(3 << 20))
        if step == "good":
            ann.lace("commit", "-m", step)
    for option in ("--dry-run", "--json"):
        assert ann.lace("checkout", "main", "film.bin", "--keep-edits", option)["written"] == ["film.bin"]


def test_an_undo_brings_the_edit_back_and_then_takes_back_its_commit(ann: Person) -> None:
    """APP-4, CYB-8: each of the two commits is an act; of neither is anything lost, and it can be done again."""
    _edited(ann)
    ann.lace("commit", "-m", "cake", "cake.md")
    had = tree_of(ann.folder)
    ann.lace(*_OVER)
    with open_vault(ann) as vault:
        before = again(vault)
    assert before is not None
    assert before.command == "lace checkout self/main@2 soup.md --keep-edits"
    assert ann.lace("undo", "--dry-run")["written"] == ["soup.md"]
    assert ann.lace("undo")["written"] == ["soup.md"]
    assert tree_of(ann.folder) == had
    with open_vault(ann) as vault:
        said = redo(vault, last_act(vault), before, Watch())
    assert said == "soup.md is as in self/main@2 again: main@4"
    assert (ann.folder / "soup.md").read_text() == "pumpkin\n"
    assert ann.lace("changes")["changed"] == []
    ann.lace("undo")
    assert ann.lace("undo")["revision"] == 3
    assert tree_of(ann.folder) == had
    assert ann.lace("changes")["changed"] == ["soup.md"], "as it was before the first command"
    assert ann.lace("fsck")["ok"]


def test_an_undo_asks_only_for_what_was_brought(ann: Person) -> None:
    """APP-4, APP-13, CYB-8: an edit elsewhere kept it from being taken back, and the hint took that edit away."""
    _edited(ann)
    ann.write("notes.txt", "not committed\n")
    had = tree_of(ann.folder)
    ann.lace(*_OVER)
    planned = ann.lace("undo", "--dry-run")
    assert (planned["written"], planned["deleted"]) == (["soup.md"], [])
    assert ann.lace("undo")["written"] == ["soup.md"]
    assert tree_of(ann.folder) == had
    changed = ann.lace("changes")
    assert (changed["added"], changed["changed"]) == (["notes.txt"], ["cake.md"])
    assert ann.lace("undo")["revision"] == 2
    assert tree_of(ann.folder) == had
    assert ann.lace("fsck")["ok"]
    assert ann.lace("audit", "verify")["ok"]


def test_what_was_edited_after_it_was_brought_over_an_edit_is_kept(ann: Person) -> None:
    """APP-4, CYB-8: the undo brings back what was before there, and touches nothing else."""
    _edited(ann)
    ann.write("notes.txt", "not committed\n")
    had = tree_of(ann.folder)
    ann.lace(*_OVER)
    ann.write("soup.md", "pumpkin, ginger\n")
    planned, done = ann.lace("undo", "--dry-run"), ann.lace("undo")
    assert (planned["lone"], done["lone"], done["kept_as"]) == (["soup.md"], ["soup.md"], "main@kept-1")
    assert planned["written"] == done["written"] == ["soup.md"]
    assert tree_of(ann.folder) == had
    assert ann.text("cat", "main@kept-1", "soup.md") == "pumpkin, ginger\n"
    assert ann.text("cat", "main@kept-1", "cake.md") == "flour\n", "nothing else is in it that was edited"


@pytest.mark.parametrize("option", [(), ("--keep-edits",)])
def test_what_was_edited_where_nothing_was_before_is_kept(ann: Person, option: tuple[str, ...]) -> None:
    """APP-4: it goes from the folder, as it came by the act, and stays to be had."""
    _edited(ann)
    (ann.folder / "cake.md").unlink()
    ann.lace("commit", "-m", "no cake")
    ann.lace("checkout", "main@1", "cake.md", *option)
    ann.write("cake.md", "flour, milk\n")
    assert ann.lace("undo")["deleted"] == ["cake.md"]
    assert not (ann.folder / "cake.md").exists()
    assert ann.lace("checkout", "main@kept-1", "cake.md")["written"] == ["cake.md"]
    assert (ann.folder / "cake.md").read_text() == "flour, milk\n"
    (ann.folder / "cake.md").unlink()
    assert ann.lace("undo")["kept_as"] is None, "what is gone is nothing to keep"


def test_a_folder_is_brought_back_over_all_that_was_done_in_it(ann: Person) -> None:
    """CLAY-24, CLAY-71: files of mine in it are kept and go, others come back, and what no rule lets in stays."""
    ann.write(".laceignore", "*.secret\n")
    ann.write("deep/a.md", "a\n")
    ann.write("deep/gone.md", "gone\n")
    ann.lace("commit", "-m", "good")
    (ann.folder / "deep/gone.md").unlink()
    for name in ("a.md", "new/mine.md", "my.secret"):
        ann.write(f"deep/{name}", "mine\n")
    done = ann.lace("checkout", "main", "deep", "--keep-edits")
    assert (sorted(done["written"]), done["deleted"]) == (["deep/a.md", "deep/gone.md"], ["deep/new/mine.md"])
    assert tree_of(ann.folder / "deep") == {"a.md": b"a\n", "gone.md": b"gone\n", "my.secret": b"mine\n"}
    kept = ann.lace("read", "z", "main@2")["value"]
    assert "my.secret" not in str(kept)
    assert ann.text("cat", "main@2", "deep/new/mine.md") == "mine\n"
    (ann.folder / "deep/a.md").unlink()
    done = ann.lace("checkout", "main", "deep/a.md", "--keep-edits")
    assert (done["written"], done["saved"], done["revision"]) == (["deep/a.md"], None, None), "nothing was edited"


def test_it_is_of_one_path_and_in_the_folder(ann: Person) -> None:
    """APP-14: what does not fit together is refused, with what does."""
    _edited(ann)
    assert "commit" in error_of(ann.run("--json", "checkout", "main", "--keep-edits"), "bad-arguments")["hint"]
    for option in ("--keep-edits", "--dry-run"):
        error_of(ann.run("--json", "checkout", "main", option, "--to", "../copy"), "bad-arguments")


def test_friends_get_what_was_brought_back_and_an_update_goes_on(pair: tuple[Person, Person]) -> None:
    """CYB-8, LAZ-1: a state that a path went back to is no look at an older one."""
    ann, bob = pair
    bob.write("list.md", "a wrong edit\n")
    bob.lace("checkout", "main", "list.md", "--keep-edits")
    ann.write("notes.md", "new\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert bob.lace("update")["written"] == ["notes.md"]
    assert tree_of(bob.folder) == tree_of(ann.folder)


def test_a_friend_s_state_over_an_edit_is_known_to_be_theirs(pair: tuple[Person, Person]) -> None:
    """CLAY-73, FAC-20: what came over the edit was alice's, and all that she changed since would have clashed."""
    ann, bob = pair
    ann.write("list.md", "tea\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.write("list.md", "a wrong edit\n")
    done = bob.lace("checkout", "alice/main", "list.md", "--keep-edits")
    assert (done["saved"], done["revision"]) == (2, 3)
    ann.write("list.md", "tea, milk\n")
    ann.lace("release", "1.2.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert bob.lace("update")["written"] == ["list.md"]
    assert tree_of(bob.folder) == tree_of(ann.folder)
