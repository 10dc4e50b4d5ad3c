"""A folder that was restored from a backup, by command: what each says, and what it names to go on with."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from lazy.address import SeveralRevisions
from tests.people import Person
from vault.folder.divergence import OwnWorkApart


def test_commands_say_how_to_go_on_while_ones_own_content_is_not_here(
    pair: tuple[Person, Person], tmp_path: Path
) -> None:
    """LAZ-65, FAC-20: after a sync about a part, work is kept, and what lacks is named with what brings it."""
    ann, bob = pair
    shutil.copytree(ann.folder, tmp_path / "backup")
    ann.write("song.txt", "la la\n")
    ann.lace("release", "2.0.0")
    ann.lace("sync", "stick")
    shutil.rmtree(ann.folder)
    shutil.copytree(tmp_path / "backup", ann.folder)
    bob.write("bob.txt", "bob\n")
    bob.lace("release", "2.1.0")
    bob.lace("push", "stick")
    ann.lace("sync", "stick", "--path", "list.md")
    assert ann.text("update") == (
        "1 release is not all here: lace links\n"
        "! Not taken in, for its content is not here: main 2.0.0, which is yours: lace sync --all\n"
    )
    assert ann.lace("update")["away"] == "main 2.0.0"
    ann.write("list.md", "milk and honey\n")
    assert ann.lace("diff")["before"] == "main@1", "what the folder stands on, wherever the line is"
    ann.lace("commit", "-m", "kept")
    error = ann.lace("release", "--yes", expect=2)["error"]
    assert (error["code"], "main 2.0.0" in error["message"]) == (OwnWorkApart.code, True)
    assert "lace sync --all" in error["hint"]
    assert ann.lace("sync", "--all")["next"] == "lace update"
    done = ann.lace("update")
    assert (done["written"], done["next"]) == (["song.txt"], "lace update")
    assert ann.lace("update")["written"] == ["bob.txt"]
    assert ann.lace("release", "--yes")["version"] == "2.1.1"


def test_two_revisions_with_one_number_are_both_named(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """CLAY-13, CLAY-23: neither is taken for the other, by its number, label or date; log names what can be typed."""
    ann, bob = pair
    kept = (ann.folder, ann.home)
    for at, part in enumerate(kept):
        shutil.copytree(part, tmp_path / f"backup-{at}")
    ann.write("song.txt", "la la\n")
    ann.lace("release", "2.0.0", "-m", "before the backup came back")
    ann.lace("sync", "stick")
    for at, part in enumerate(kept):
        shutil.rmtree(part)
        shutil.copytree(tmp_path / f"backup-{at}", part)
    ann.write("new.txt", "new\n")
    ann.lace("commit", "-m", "after it")
    ann.lace("label", "after")
    ann.lace("sync", "stick")
    for words in (["cat", "main@2", "new.txt"], ["diff", "main@1", "main@2"], ["read", "y", "main@2"]):
        error = ann.lace(*words, expect=2)["error"]
        assert error["code"] == SeveralRevisions.code
    named = [word for word in shlex.split(error["hint"]) if word.startswith("main@S.")]
    held = {word: set(ann.lace("read", "y", word)["value"]["children"]) for word in named}
    assert sorted(min({"new.txt", "song.txt"} & files) for files in held.values()) == ["new.txt", "song.txt"]
    after, before = sorted(named, key=lambda word: "song.txt" in held[word])
    for word in named:  # CLAY-18: one of the two was listed, and not the one that was asked about
        state = ann.lace("read", "v", word)["value"]
        assert (f"main@{state['numbers']['2']}", set(state["doubled"])) == (word, {"2"})
        assert {f"main@{commit}" for commit in state["doubled"]["2"]} == set(named)
    assert "doubled" not in ann.lace("read", "v", "main@1")["value"]
    ranges = ann.lace("record", "export", "main@1..2", expect=2)["error"]
    assert ranges["code"] == ann.lace("watch", "main", "--at", "2", expect=2)["error"]["code"] == error["code"]
    spans = [word for word in shlex.split(ranges["hint"]) if word.startswith("main@1..S.")]
    exported = [ann.run("record", "export", span).out for span in spans]
    assert sorted((b"after it" in one, b"before the backup" in one) for one in exported) == [
        (False, True),
        (True, False),
    ]
    watched = ann.run("--json", "watch", "main", "--from", "1", "--to", "2")
    assert [(line["number"], sorted(line["several"])) for line in watched.lines] == [(1, []), (2, sorted(named))]
    assert "main@2 is 2 revisions" in watched.err
    for word, file in ((after, "new.txt"), (before, "song.txt")):
        (line,) = ann.run("--json", "watch", "main", "--at", word.partition("@")[2]).lines
        assert file in line["value"]["children"]
    assert ann.run("cat", after, "new.txt").out == b"new\n"
    assert ann.run("cat", before, "song.txt").out == b"la la\n"
    assert (ann.lace("diff", before, after)["added"], ann.lace("diff", "main@1", after)["added"]) == (
        ["new.txt"],
        ["new.txt"],
    )
    assert ann.run("cat", "main@after", "new.txt").out == b"new\n"
    log = ann.text("log")
    assert all(word in log for word in named)
    bob.lace("sync", "stick")
    assert bob.run("cat", "alice/main@2", "song.txt").out == b"la la\n", (
        "what is not shared doubles nothing for friends"
    )
    assert ann.lace("cat", f"main@{'S.' + 42 * 'A' + '0.H3'}", "song.txt", expect=2)["error"]["code"] == "not-yet"


def test_a_sync_that_may_sign_nothing_tells_what_came(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-27, APP-14: records came, and the answer was the error alone; the places after the first were not read."""
    ann, bob = pair
    ann.lace("place", "add", "a-first", str(tmp_path / "first"))
    ann.lace("sync", "a-first")
    for road, text in (("stick", "tea\n"), ("bobs", "milk\n")):
        bob.write("list.md", text)
        bob.lace("release", "--yes")
        if road == "stick":
            bob.lace("sync", "stick")
    ann.lace("place", "add", "zbobs", str(bob.folder))
    for mark in (ann.home / "lace" / "marks").glob("*.mark"):
        mark.unlink()
    seen = {row["name"]: row for row in ann.lace("sync", expect=19)["places"]}
    assert set(seen) == {"a-first", "stick", "zbobs"}
    assert seen["a-first"]["received"] == 0
    assert seen["stick"]["received"] > 0
    assert seen["zbobs"]["received"] > 0
    told = ann.lace("sync", "stick", expect=19)
    assert (told["error"]["code"], [one["code"] for one in told["problems"]]) == ("mark-missing", ["mark-missing"])
    assert "lace adopt" in told["error"]["hint"]
    assert "conflicts" in told
    text = ann.text("sync", expect=19)
    assert "stick: sent nothing, received nothing\n" in text
    assert text.count("this machine has no mark for it") == 1
    ann.lace("adopt")
    assert ann.lace("sync")["places"]
    assert "tea" not in ann.run("cat", "bob/main", "list.md").text


@pytest.mark.parametrize("road", ["follow", "file"])
def test_who_follows_or_takes_in_a_file_and_may_sign_nothing_hears_what_came(
    pair: tuple[Person, Person], tmp_path: Path, road: str
) -> None:
    """LAZ-27, APP-14: records came, and the answer was the error alone."""
    ann, bob = pair
    bob.write("list.md", "tea\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")
    bob.lace("bundle", "create", str(tmp_path / "file"))
    for mark in (ann.home / "lace" / "marks").glob("*.mark"):
        mark.unlink()
    words = ("sync", "stick", "--follow") if road == "follow" else ("bundle", "apply", str(tmp_path / "file"))
    told = ann.lace(*words, expect=19)
    assert (told["error"]["code"], [one["code"] for one in told["problems"]]) == ("mark-missing", ["mark-missing"])
    assert told["received"] > 0
    assert "lace adopt" in told["error"]["hint"]
    again = ann.text(*words, expect=19)
    assert "received nothing\n" in again
    assert again.count("this machine has no mark for it") == 1
    ann.lace("adopt")
    assert ann.lace("update")["written"] == ["list.md"]


def test_a_check_leads_to_no_repair_of_a_copy_that_may_not_sign(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """APP-13, APP-14: a repair said the same again; which copy goes on, its owner alone knows."""
    ann, _ = pair
    elsewhere = Person("ann", ann.home, ann.folder, ann.environ | {"HOME": str(tmp_path), "LACE_HOME": str(_lace(ann))})
    shutil.copytree(ann.folder, tmp_path / "backup")
    ann.write("song.txt", "la la\n")
    ann.lace("release", "2.0.0")
    shutil.rmtree(ann.folder)
    shutil.copytree(tmp_path / "backup", ann.folder)
    for person, code in ((ann, "vault-behind-mark"), (elsewhere, "other-machine")):
        for words in (("fsck",), ("fsck", "--repair")):
            (bad,) = person.lace(*words, expect=1)["bad"]
            assert (bad["kind"], bad["name"], bad["code"]) == ("setting", "mark", code)
            told = person.run(*words).text
            assert "lace sync" in told
            assert "fsck --repair" not in told
            assert "it says" not in told, "the sentence is that of the refusal"


def _lace(person: Person) -> Path:
    return Path(person.variables["LACE_HOME"])
