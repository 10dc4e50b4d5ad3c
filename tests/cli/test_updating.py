"""`update`, through the real command line and real files: what friends released comes into the folder."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from tests.circle.world import open_vault
from tests.cli.looking import error_of, tree_of
from tests.lazy.by_hand import release_by_hand, tree_by_hand
from tests.people import Person
from vault.commands import words_of
from vault.folder.checked_out import checkout_of
from vault.names import Version
from vault.profile.lines import MAX_PARENTS


def test_update_brings_a_release_into_the_folder(pair: tuple[Person, Person]) -> None:
    """LAZ-1: update itself needs no place; the dry run writes nothing."""
    ann, bob = pair
    ann.write("notes.md", "changed\n")
    ann.write("sub/new.md", "new\n")
    (ann.folder / "list.md").unlink()
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    before = tree_of(bob.folder)
    planned = bob.lace("update", "--dry-run")
    assert (planned["planned"], planned["relation"]) == (True, "behind")
    assert tree_of(bob.folder) == before
    done = bob.lace("update")
    assert (done["relation"], done["revision"], done["conflicts"], done["merged"]) == ("behind", 2, [], [])
    assert sorted(done["written"]) == sorted(planned["written"]) == ["notes.md", "sub/new.md"]
    assert done["deleted"] == planned["deleted"] == ["list.md"]
    assert (done["sources"], done["versions"]) == (["alice"], ["1.1.0"])
    assert tree_of(bob.folder) == tree_of(ann.folder)
    assert "Nothing new" in bob.text("update")
    assert bob.lace("update")["relation"] == "same"


def test_update_ends_where_no_directory_can_be_flushed(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: FUSE, VirtualBox and network shares refuse it; each small update failed there, and kept the folder."""
    ann, bob = pair
    ann.write("notes.md", "changed\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    real = os.fsync

    def flush(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(fd)

    monkeypatch.setattr(os, "fsync", flush)
    assert bob.lace("update")["written"] == ["notes.md"]
    assert tree_of(bob.folder) == tree_of(ann.folder)


@pytest.mark.parametrize("is_released", [False, True])
def test_a_plan_that_brings_nothing_says_how_the_heads_stand_too(
    pair: tuple[Person, Person], is_released: bool
) -> None:
    """APP-12, LAZ-29: of a line that went on from all that friends released it said that both are the same."""
    _, bob = pair
    assert bob.lace("update", "--dry-run")["relation"] == bob.lace("update")["relation"] == "same"
    bob.write("list.md", "milk\nbread\n")
    bob.lace(*(("release", "1.1.0") if is_released else ("commit", "-m", "bread")))
    planned, done = bob.lace("update", "--dry-run"), bob.lace("update")
    assert planned["relation"] == done["relation"] == ("same" if is_released else "ahead")
    assert bob.text("update", "--dry-run") == bob.text("update")


@pytest.mark.parametrize(
    "words", [("update",), ("merge", "main", "--from", "ann/main", "--strategy", "mate")], ids=["update", "merge"]
)
def test_a_plan_says_what_is_committed_first(pair: tuple[Person, Person], words: tuple[str, ...]) -> None:
    """APP-12, LAZ-1: it said nothing of a commit that the update made of the folder before it."""
    ann, bob = pair
    ann.write("notes.md", "changed\n")
    ann.lace("release", "1.1.0")
    for who in (ann, bob):
        who.lace("sync", "stick")
    words = tuple(word.replace("ann/", f"{ann.name}/") for word in words)
    said = f"Your changes would be committed first, as 'before {words[0]}'."
    assert bob.lace(*words, "--dry-run")["saves"] is False
    assert said not in bob.text(*words, "--dry-run")
    bob.write("mine.md", "mine\n")
    planned = bob.lace(*words, "--dry-run")
    assert (planned["saves"], planned["saved"]) == (True, None)
    assert said in bob.text(*words, "--dry-run")
    done = bob.lace(*words)
    assert done["saved"]
    assert done["saves"] is False


def test_a_folder_that_only_becomes_empty_is_never_called_written(pair: tuple[Person, Person]) -> None:
    """CLAY-71: it stands there already; the plan named it, and the update did not."""
    ann, bob = pair
    ann.write("sub/deep/last.md", "last\n")
    ann.lace("release", "1.1.0")
    for who in (ann, bob):
        who.lace("sync", "stick")
    bob.lace("update")
    (ann.folder / "sub" / "deep" / "last.md").unlink()
    ann.lace("release", "1.2.0")
    for who in (ann, bob):
        who.lace("sync", "stick")
    for words in (("update", "--dry-run"), ("update",)):
        told = bob.lace(*words)
        assert (told["written"], told["deleted"]) == ([], ["sub/deep/last.md"])
    assert (bob.folder / "sub" / "deep").is_dir()


def test_what_is_deleted_is_never_called_written(pair: tuple[Person, Person]) -> None:
    """A moved folder is so many files and so many deleted, in the sync, the plan and the update."""
    ann, bob = pair
    (ann.folder / "notes.md").rename(ann.folder / "words.md")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    said = bob.text("sync", "stick")
    assert "alice released 1.1.0: 1 file, 1 deleted\n" in said
    paths = "  words.md\n- notes.md\n"
    assert bob.text("update", "--dry-run") == f"alice 1.1.0: 1 file would be written, 1 deleted.\n{paths}"
    assert bob.text("update") == f"alice 1.1.0: 1 file written, 1 deleted.\n{paths}"
    (ann.folder / "words.md").unlink()
    ann.lace("release", "1.2.0")
    ann.lace("sync", "stick")
    (came,) = bob.lace("sync", "stick")["releases"]
    assert (came["files"], came["deleted"]) == (0, 1)
    assert bob.text("update") == "alice 1.2.0: 1 file deleted.\n- words.md\n"


def test_an_empty_folder_that_goes_is_told_as_one_that_comes_is(pair: tuple[Person, Person]) -> None:
    """CLAY-71: what the plan says, what is answered and what becomes of the folder are one; what is in it stays."""
    ann, bob = pair
    (ann.folder / "songs" / "new").mkdir(parents=True)
    (ann.folder / "mixed").mkdir()
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert bob.lace("update")["written"] == ["mixed", "songs/new"]
    bob.write(".laceignore", "*.tmp\n")
    bob.write("mixed/notes.tmp", "mine\n")
    for folder in ("songs/new", "songs", "mixed"):
        (ann.folder / folder).rmdir()
    ann.lace("release", "1.2.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    done = bob.lace("update")
    assert (done["written"], done["deleted"]) == ([], ["songs/new"])
    assert not (bob.folder / "songs").exists()
    assert (bob.folder / "mixed/notes.tmp").read_text() == "mine\n"


def test_a_first_release_of_my_own_on_a_friend_s_work_is_not_all_mine(pair: tuple[Person, Person]) -> None:
    """All of it goes to friends only where nothing that somebody released is below it."""
    _, bob = pair
    bob.write("list.md", "one line more\n")
    assert bob.lace("release", "--dry-run")["first"] is False
    assert bob.text("release", "--yes").startswith("Released main 1.0.1: 1 changed; 2 files, ")


def test_update_merges_what_does_not_touch(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    ann.write("notes.md", "ONE\ntwo\nthree\nfour\nfive\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.write("notes.md", "one\ntwo\nthree\nfour\nFIVE\n")
    bob.lace("sync", "stick")
    text = bob.text("update")
    assert "committed first" in text
    assert "alice 1.1.0 merged with yours" in text
    assert "1 merged line by line" in text
    assert "Next: lace release" in text
    assert (bob.folder / "notes.md").read_text() == "ONE\ntwo\nthree\nfour\nFIVE\n"


def test_a_planned_merge_that_would_clash_names_what_notes_it(pair: tuple[Person, Person]) -> None:
    """CLAY-72, APP-13: it ended without a way on; what it names can be run as it stands."""
    ann, bob = pair
    for person, text in ((ann, "mine\n"), (bob, "theirs\n")):
        person.write("notes.md", text)
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")
    ann.lace("commit", "-m", "mine")
    ann.lace("sync", "stick")
    merge = ("merge", "main", "--from", "bob/main", "--strategy", "mate")
    planned = ann.lace(*merge, "--dry-run", expect=1)
    assert planned["next"] == f"lace {' '.join(merge)}"
    told = ann.text(*merge, "--dry-run", expect=1)
    assert told.endswith(f"Next: lace {' '.join(merge)}, which notes the conflict; then lace resolve\n")
    assert ann.lace("conflicts")["conflicts"] == []
    noted = ann.lace(*words_of(planned["next"])[1:], expect=1)
    assert [row["id"] for row in ann.lace("conflicts")["conflicts"]] == [noted["conflict"]]


def test_a_look_at_an_older_state_is_never_committed_by_an_update(pair: tuple[Person, Person]) -> None:
    """LAZ-1, CLAY-24: it would take back for everybody what came since; work that takes nothing back is committed."""
    ann, bob = pair
    ann.write("list.md", "milk\ntea\n")
    ann.lace("commit", "-m", "mine")
    bob.write("notes.md", "one\ntwo\nthree\nfour\nfive\nsix\n")
    bob.lace("release", "1.1.0")
    for person in (bob, ann):
        person.lace("sync", "stick")
    ann.lace("checkout", "main@1")
    looking = tree_of(ann.folder)
    merge = ["merge", "main", "--from", "bob/main", "--strategy", "meet"]
    for words in (["update", "--dry-run"], ["update"], [*merge, "--dry-run"], merge):
        told = ann.lace(*words, expect=2)["error"]
        assert told["code"] == "uncommitted-changes"
        assert "lace checkout main - or" in told["hint"]
        assert tree_of(ann.folder) == looking
    ann.lace("checkout", "main")
    ann.write("notes.md", (bob.folder / "notes.md").read_text())
    ann.write("list.md", "milk\n")
    ann.lace("update", "--dry-run", expect=2)  # bob's state, without what alice did
    ann.write("list.md", "milk\ntea\n")
    done = ann.lace("update")
    assert done["saved"]
    assert done["revision"] == 4, "nothing was committed by what was refused"


def test_a_look_at_an_older_state_is_not_committed_with_a_change_in_it(pair: tuple[Person, Person]) -> None:
    """CLAY-24, LAZ-1: a note made while looking took back all that came since, for everybody, without a word."""
    ann, bob = pair
    for number in (1, 2):
        ann.write(f"new{number}.md", "new\n")
        ann.lace("release", "--yes", "-m", str(number))
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("update")
    bob.write("bob.md", "bob\n")
    bob.lace("release", "--yes")
    bob.lace("sync", "stick")
    ann.lace("sync", "stick")
    ann.lace("checkout", "main@1")
    before = tree_of(ann.folder)
    note = ann.write("note.md", "an idea\n")
    for words in (("update", "--dry-run"), ("update",)):
        error = error_of(ann.run("--json", *words), "uncommitted-changes")
        assert "but for note.md;" in error["message"]
    assert tree_of(ann.folder) == {**before, "note.md": b"an idea\n"}
    (ann.folder / "new1.md").write_text("new\n")
    assert "but for note.md;" in error_of(ann.run("--json", "update"), "uncommitted-changes")["message"]
    (ann.folder / "new1.md").unlink()
    note.rename(ann.home / "note.md")
    ann.lace("checkout", "main")
    (ann.home / "note.md").rename(note)
    ann.lace("update")
    assert {"bob.md", "new1.md", "new2.md", "note.md"} < set(tree_of(ann.folder))


def test_what_an_undo_left_uncommitted_is_committed_by_an_update(pair: tuple[Person, Person]) -> None:
    """APP-4, LAZ-1: it is no look at a state that anybody has."""
    ann, bob = pair
    bob.write("bob.md", "bob\n")
    bob.lace("release", "--yes")
    bob.lace("sync", "stick")
    ann.lace("sync", "stick")
    ann.write("note.md", "an idea\n")
    ann.lace("commit", "-m", "too early")
    ann.lace("undo")
    ann.write("more.md", "another\n")
    assert ann.lace("update")["saved"]
    assert {"bob.md", "more.md", "note.md"} < set(tree_of(ann.folder))


@pytest.mark.parametrize("named", [["new.txt"], []])
def test_an_undo_in_a_look_at_an_older_state_leaves_it_a_look(pair: tuple[Person, Person], named: list[str]) -> None:
    """APP-4, CLAY-24: an update committed the older state after it, which took back what friends had released since."""
    ann, bob = pair
    ann.write("z.md", "new\n")
    ann.lace("release", "--yes")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("update")
    bob.write("y.md", "bob\n")
    bob.lace("commit", "-m", "mine")
    bob.lace("checkout", "main@1")
    bob.write("new.txt", "n\n")
    ann.write("q.md", "newer\n")
    ann.lace("release", "--yes")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    before = tree_of(bob.folder)
    for _ in range(2):
        bob.lace("commit", "-m", "p", *named)
        bob.write("more.txt", "n\n")
        bob.lace("commit", "-m", "q", "more.txt")
        for _ in range(2):
            bob.lace("undo")
        (bob.folder / "more.txt").unlink()
        for words in (("update", "--dry-run"), ("update",)):
            error = error_of(bob.run("--json", *words), "uncommitted-changes")
            assert "but for new.txt;" in error["message"]
        assert tree_of(bob.folder) == before
    (bob.folder / "new.txt").unlink()
    bob.lace("checkout", "main")
    bob.lace("update")
    assert {"q.md", "y.md", "z.md"} < set(tree_of(bob.folder))


def test_a_decision_commits_no_look_at_an_older_state_but_a_side_that_was_checked_out(
    pair: tuple[Person, Person],
) -> None:
    """LAZ-1, LAZ-39: what came since the older state would be gone for everybody, whoever's side was taken."""
    ann, bob = pair
    for person, text in ((ann, "tea\n"), (bob, "coffee\n")):
        person.write("list.md", text)
        person.lace("release", "1.1.0")
    for person in (ann, bob, ann):
        person.run("sync", "stick")
    (conflict,) = ann.lace("conflicts")["conflicts"]
    ann.lace("checkout", "main@1")
    looking = tree_of(ann.folder)
    for words in (["--prefer", "local", "--dry-run"], ["--prefer", "local"], ["--merged", "1.2.0"]):
        told = ann.lace("resolve", conflict["id"], *words, expect=2)["error"]
        assert told["code"] == "uncommitted-changes", words
        assert tree_of(ann.folder) == looking
    ann.lace("checkout", "bob/main@1.1.0")
    done = ann.lace("resolve", conflict["id"], "--prefer", "bob")
    assert done["status"] == "resolved-remote"
    assert (ann.folder / "list.md").read_text() == "coffee\n"


def test_update_that_clashes_changes_nothing_and_names_the_way(pair: tuple[Person, Person]) -> None:
    """Exit 1, the paths, and the next command; `changes` names the paths too."""
    ann, bob = pair
    ann.write("notes.md", "alice's\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.write("notes.md", "bob's\n")
    bob.lace("sync", "stick")
    before = tree_of(bob.folder)
    data = bob.lace("update", expect=1)
    assert tree_of(bob.folder) == before
    assert data["relation"] == "conflicting"
    clash = {"path": "notes.md", "kind": "content", "is_text": True, "renamed_from": None}
    assert data["conflicts"] == [clash]
    assert data["next"] == "lace conflicts", "the choices, which no shell takes, are in the words of a person"
    text = bob.text("update", expect=1)
    assert "  notes.md (content)" in text
    assert f"lace resolve {data['conflict']} --prefer" in text
    assert bob.lace("changes")["conflicted"] == ["notes.md"]
    assert "! notes.md" in bob.text("changes")
    bob.lace("resolve", data["conflict"], "--prefer", "remote")
    assert bob.lace("changes")["conflicted"] == []
    assert bob.lace("update")["conflicts"] == []


def test_update_waits_for_a_version_that_people_disagree_about(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    for person in pair:
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    data = bob.lace("update", expect=1)
    (waiting,) = data["waiting"]
    assert data["next"] == "lace conflicts"
    assert f"Next: lace resolve {waiting} --prefer" in bob.text("update", expect=1)
    assert "lace conflicts" in bob.text("update", expect=1)
    assert (bob.folder / "list.md").read_text() == "bob\n"


def test_update_from_one_friend(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    for version in ("1.1.0", "1.2.0"):
        ann.write("list.md", version)
        ann.lace("release", version)
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert bob.lace("update", "--from", "alice@1.1.0")["versions"] == ["1.1.0"]
    assert (bob.folder / "list.md").read_text() == "1.1.0"
    bob.lace("update", "main", "--from", "alice")
    assert (bob.folder / "list.md").read_text() == "1.2.0"
    error_of(bob.run("--json", "update", "--from", "alice@9.0.0"), "nothing-from-peer")
    error_of(bob.run("--json", "update", "--from", "alice@3"), "bad-arguments")
    error_of(bob.run("--json", "update", "--from", "eve"), "no-such-peer")
    error_of(bob.run("--json", "update", "songs"), "no-such-desk")


def test_a_friend_named_for_a_desk_is_told_as_one(pair: tuple[Person, Person]) -> None:
    """APP-14: sync takes a friend's name; of update it was said to make a desk of it."""
    ann, bob = pair
    ann.write("list.md", "longer")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    error = error_of(bob.run("--json", "update", "alice"), "no-such-desk")
    assert error["hint"] == "To have what alice released: lace update --from alice"
    assert bob.lace(*words_of(error["hint"].split(": ", 1)[1])[1:])["versions"] == ["1.1.0"]


def test_update_overwrites_no_file_that_was_never_committed(pair: tuple[Person, Person]) -> None:
    """A new file of the same name is committed first and then clashes; its bytes stay."""
    ann, bob = pair
    ann.write("new.md", "alice's\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.write("new.md", "bob's\n")
    assert bob.lace("update", expect=1)["conflicts"][0]["path"] == "new.md"
    assert (bob.folder / "new.md").read_text() == "bob's\n"


def test_one_clashing_file_says_what_comes_with_its_decision(pair: tuple[Person, Person]) -> None:
    """LAZ-39, APP-14: of five files one clashed, and nothing said that the others come whichever side is kept."""
    ann, bob = pair
    for name in ("list.md", "notes.md", "new/1.md", "new/2.md"):
        ann.write(name, f"alice's {name}\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.write("list.md", "bob's\n")
    bob.lace("sync", "stick")
    told = "3 other files wait for that, and come with the decision: --prefer counts for the paths above alone.\n"
    for words in (("update", "--dry-run"), ("update",)):
        assert told in bob.text(*words, expect=1)
    data = bob.lace("update", expect=1)
    assert data["held_back"] == 3
    assert len(bob.lace("resolve", data["conflict"], "--prefer", "local")["written"]) == 3
    assert tree_of(bob.folder) == {**tree_of(ann.folder), "list.md": tree_of(bob.folder)["list.md"]}
    assert (bob.folder / "list.md").read_text() == "bob's\n"
    assert bob.lace("update")["held_back"] == 0
    bob.lace("undo")
    assert (bob.folder / "notes.md").read_text().startswith("one\n")


def _one_clash(pair: tuple[Person, Person]) -> tuple[Person, Person]:
    """Let both release one version: they clash in one file, and one of them has another file, too."""
    ann, bob = pair
    ann.write("list.md", "alice's\n")
    ann.write("new.md", "alice's\n")
    bob.write("list.md", "bob's\n")
    for person in (ann, bob):
        person.lace("release", "1.1.0")
        person.run("sync", "stick")
    return pair


def test_one_clashing_file_of_a_version_says_how_to_have_what_both_did(pair: tuple[Person, Person]) -> None:
    """LAZ-37, LAZ-39: to keep one side, which was the next step, leaves out what the other one changed elsewhere."""
    _, bob = _one_clash(pair)
    (row,) = bob.lace("conflicts")["conflicts"]
    command = f"lace resolve {row['id']} --merged 1.1.1"
    assert (row["paths"], row["other_paths"], row["others"], row["both"]) == (["list.md"], ["new.md"], 1, command)
    told = "Clashing: list.md\n"
    more = f"1 other file differs (new.md), and --prefer has one side's of all; to have what each side did: {command}\n"
    for words, code in ((("conflicts",), 0), (("update", "--dry-run"), 1), (("update",), 1), (("sync", "stick"), 1)):
        assert more in bob.text(*words, expect=code), words
        assert told in bob.text(*words, expect=code) or words == ("conflicts",), words
    bob.lace(*command.split()[1:])
    assert ((bob.folder / "list.md").read_text(), (bob.folder / "new.md").read_text()) == ("bob's\n", "alice's\n")
    assert bob.lace("conflicts", "--all")["conflicts"][0]["both"] is None


def test_a_proposal_of_a_side_says_that_it_leaves_out_what_the_other_did(pair: tuple[Person, Person]) -> None:
    """LAZ-37, LAZ-41: once somebody had proposed a side, nothing told that accepting it leaves files out."""
    ann, bob = _one_clash(pair)
    bob.lace("resolve", "1.1.0", "--prefer", "local")
    for person in (bob, ann):
        person.run("sync", "stick")
    (row,) = ann.lace("conflicts")["conflicts"]
    command = f"lace resolve {row['id']} --merged 1.1.1"
    assert (len(row["proposals"]), row["others"], row["both"]) == (1, 1, command)
    told = "1 other file differs (new.md), and --prefer or --accept of a side has one side's of all; "
    for words, code in ((("conflicts",), 0), (("update",), 1), (("sync", "stick"), 1)):
        shown = ann.text(*words, expect=code)
        assert f"{told}to have what each side did: {command}\n" in shown, words
        assert f"bob proposes the side of bob: lace resolve {row['id']} --accept\n" in shown, words
    ann.lace(*command.split()[1:])
    assert ((ann.folder / "list.md").read_text(), (ann.folder / "new.md").read_text()) == ("alice's\n", "alice's\n")
    assert ann.lace("conflicts")["conflicts"] == []


def test_a_version_in_which_nothing_clashes_says_so(pair: tuple[Person, Person]) -> None:
    """LAZ-34: it called the files others, though there were none beside them."""
    ann, bob = pair
    ann.write("list.md", "alice's\n")
    bob.write("new.md", "bob's\n")
    for person in (ann, bob):
        person.lace("release", "1.1.0")
        person.run("sync", "stick")
    told = "Nothing clashes; 2 files differ (list.md, new.md), and --prefer has one side's of all; to have what"
    for words, code in ((("conflicts",), 0), (("update",), 1), (("sync", "stick"), 1)):
        shown = bob.text(*words, expect=code)
        assert told in shown, words
        assert "Clashing" not in shown, words


_LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


def _clashing(pair: tuple[Person, Person]) -> Person:
    """Return bob, whose committed work clashes with alice's release in one file, of the two that she changed."""
    ann, bob = pair
    for version, text in (("1.1.0", _LINES), ("1.2.0", _LINES.replace("four\n", "alice's\nfour\n"))):
        ann.write("song.md", text)
        ann.write("list.md", f"alice's {version}\n")
        ann.lace("release", version)
        ann.lace("sync", "stick")
        bob.run("sync", "stick")
        if version == "1.1.0":
            bob.lace("update")
            bob.write("list.md", "bob's\n")
            bob.lace("commit", "-m", "mine")
    return bob


def test_an_edit_that_clashes_beside_committed_work_is_asked_about(pair: tuple[Person, Person]) -> None:
    """LAZ-39, LAZ-42: it was no path of the clash, and the decision of the other one left alice's line out unsaid."""
    bob = _clashing(pair)
    bob.write("song.md", _LINES.replace("four\n", "bob's\nfour\n"))
    planned, done = bob.lace("update", "--dry-run", expect=1), bob.lace("update", expect=1)
    for data in (planned, done):
        assert ([clash["path"] for clash in data["conflicts"]], data["held_back"]) == (["list.md", "song.md"], 0)
    assert done["saved"]
    assert bob.lace("conflicts")["conflicts"][0]["paths"] == ["list.md", "song.md"]
    assert bob.lace("changes")["changed"] == []


def test_an_edit_that_clashes_after_the_clash_was_told_is_named(pair: tuple[Person, Person]) -> None:
    """LAZ-42: a file that nobody was told of was taken as it is here without a word; what was told is a decision."""
    bob = _clashing(pair)
    data = bob.lace("update", expect=1)
    assert ([clash["path"] for clash in data["conflicts"]], data["held_back"]) == (["list.md"], 1)
    bob.write("song.md", _LINES.replace("four\n", "bob's\nfour\n"))
    bob.write("list.md", "both\n")
    decide = ("resolve", data["conflict"], "--merged", "2.0.0")
    named = [{"path": "song.md", "side": "bob", "without": ["alice"]}]
    assert bob.lace(*decide, "--dry-run")["unedited"] == named
    assert bob.lace(*decide, expect=2)["error"]["code"] == "path-undecided"  # and nobody is here to be asked
    assert bob.lace(*decide, "--yes")["unedited"] == named


def test_releases_that_a_merge_has_no_room_for_are_told_with_the_way(pair: tuple[Person, Person]) -> None:
    """LAZ-1, CLAY-10: bob released more beside each other than a commit has parents; the rest is one command away."""
    alice, bob = pair
    with open_vault(bob) as vault:
        base = checkout_of(vault)
        assert base is not None
        for number in range(MAX_PARENTS + 6):
            tree = tree_by_hand(vault, base.tree, f"{number}.txt", like="list.md")
            release_by_hand(vault, Version(2, 0, number), tree, [base.commit])
    for person in (bob, alice):
        person.lace("sync", "stick")
    alice.write("mine.md", "mine\n")
    told = "! 7 more releases come with the next update: "
    planned, said = alice.text("update", "--dry-run"), alice.text("update", "--from", "bob")
    assert told in planned
    assert told in said
    assert said.endswith("Next: lace update main --from bob\n")
    assert alice.lace("update")["more"] == 0
    assert {path.name for path in alice.folder.glob("*.txt")} == {f"{number}.txt" for number in range(MAX_PARENTS + 6)}


def test_an_empty_folder_is_counted_nowhere_as_a_file(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """CLAY-71, CLAY-28: the maker of a release was told of one file, and the friend who took it of two."""
    ann, bob = pair
    ann.write("a.md", "a\n")
    (ann.folder / "empty" / "inner").mkdir(parents=True)
    assert "; 3 files, " in ann.text("release", "1.1.0")
    ann.lace("sync", "stick")
    told = bob.text("sync", "stick")
    assert "alice released 1.1.0: 1 file\n" in told
    assert "1 file would be written." in bob.text("update", "--dry-run")
    lines = bob.text("update").splitlines()
    assert lines[:3] == ["alice 1.1.0: 1 file written.", "  a.md", "  empty/inner/"]
    assert "3 files of " in bob.text("checkout", "main", "--to", str(tmp_path / "copy"))
    (ann.folder / "empty" / "inner").rmdir()
    (ann.folder / "empty").rmdir()
    ann.lace("release", "1.2.0")
    ann.lace("sync", "stick")
    assert "alice released 1.2.0: no file changed\n" in bob.text("sync", "stick")
    assert bob.text("update").splitlines() == ["alice 1.2.0: no file changed.", "- empty/inner/"]
    assert not (bob.folder / "empty").exists()


def test_a_release_that_a_commit_before_it_looked_like_is_told_by_what_it_changes(pair: tuple[Person, Person]) -> None:
    """CLAY-28: it was compared with that commit, which nobody else has, and friends read that no file changed."""
    ann, bob = pair
    ann.write("new.md", "new\n")
    ann.lace("commit", "-m", "one")
    ann.write("passing.md", "p\n")
    ann.lace("commit", "-m", "two")
    (ann.folder / "passing.md").unlink()
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    assert "alice released 1.1.0: 1 file\n" in bob.text("sync", "stick")
    assert "1 file would be written." in bob.text("update", "--dry-run")
