"""Words that mean nothing are told as that, and what to type instead is what works (APP-14)."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.looking import error_of
from tests.people import ROOT, Person
from vault.names import check_name

_KEY = "V.4uZrB6pQHNmHjbeBNoryBrcxfJ8M8Os8bNu1Qy5y_xd.H3"


@pytest.mark.parametrize("words", [("init", "--name", ""), ("adopt", "--name", ""), ("accept", "x", "--name", "")])
def test_an_empty_name_is_no_name(alice: Person, words: tuple[str, ...]) -> None:
    """CYB-9: as of a variable that is not set; the login name was taken, for good."""
    alice.environ["USER"] = "alice"
    if words[0] == "adopt":
        alice.lace("init")
    error = error_of(alice.run("--json", *words), "bad-name")
    assert "'' is empty" in error["message"]
    assert (alice.folder / ".vault").exists() == (words[0] == "adopt")


def test_an_empty_label_is_refused_as_a_word(ann: Person) -> None:
    """CLAY-9: it was called a damaged record, with exit code 41, and the way out led to nobody."""
    ann.write("a.txt", "a\n")
    ann.lace("commit", "-m", "first")
    error_of(ann.run("--json", "label", ""), "bad-name")
    assert ann.lace("label", "draft")["label"] == "draft"


def test_a_day_before_the_first_revision_says_when_it_begins(ann: Person) -> None:
    """CLAY-16: it said that there was no revision on the day on which there was one."""
    ann.write("a.txt", "a\n")
    ann.lace("commit", "-m", "first")
    day = ann.lace("log")["entries"][0]["time"][:10]
    error = error_of(ann.run("--json", "cat", f"main@{day}", "a.txt"), "never")
    assert f"had no revision on {day} at 00:00 UTC." in error["message"]
    assert "18:30Z" in error["hint"]


def test_numbers_of_a_version_that_are_too_high_are_told_as_that(ann: Person) -> None:
    error = error_of(ann.run("--json", "release", "9999999999.0.0"), "bad-version")
    assert error["message"].endswith("a number in it is higher than 2147483647.")


def test_ways_out_of_a_conflict_can_be_typed(pair: tuple[Person, Person]) -> None:
    """LAZ-39: it said to leave the version out, which `--merged` needs, and to type `lace resolve` alone."""
    for person in pair:
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
    alice, bob = pair
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    taken = error_of(alice.run("--json", "resolve", "2.0.0", "--merged", "2.0.0"), "version-taken")
    assert taken["hint"] == "The next free version is 2.0.1."
    nothing = error_of(alice.run("--json", "resolve", "2.0.0", "--accept"), "no-such-conflict")
    (conflict,) = alice.lace("conflicts")["conflicts"]
    assert nothing["hint"] == f"Decide it with: lace resolve {conflict['id']} --prefer local or remote"


def test_an_update_before_the_first_sync_names_it(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-14: it said that the folder has everything that was released, of which nothing was known."""
    alice.write("a.txt", "a\n")
    alice.lace("init", "--name", "alice")
    assert alice.text("update") == "Nothing of main was released yet, as far as is known here.\n"
    alice.lace("release", "1.0.0")
    assert alice.text("update").startswith("Nothing new: your line has everything that was released.")
    alone = alice.lace("invite", "cara")["invite"]
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for words in (("update",), ("update", "--dry-run")):
        told = bob.text(*words).splitlines()
        assert told == ["Nothing of main was released yet, as far as is known here.", "Next: lace sync stick"]
    assert bob.lace("update")["next"] == "lace sync stick"
    (tmp_path / "cara").mkdir()
    assert bob.run("accept", alone, cwd=tmp_path / "cara").code == 0
    assert "Next: lace place add NAME DIR, then lace sync" in bob.run("update", cwd=tmp_path / "cara").text


def test_an_empty_word_too_much_is_told_as_one(ann: Person) -> None:
    """APP-14: it said `unrecognized arguments: .`, which is how another program says nothing."""
    error = error_of(ann.run("--json", "label", "add", ""), "bad-arguments")
    assert error["message"] == "lace label: too much is said: ''."


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_help_of_a_verb_fits_the_terminal(ann: Person, columns: int) -> None:
    """The line that says how a verb is used ran out of a narrow terminal, as only its options were wrapped."""
    ann.environ["COLUMNS"] = str(columns)
    for verb in ann.lace("help")["verbs"]:
        told = ann.text("help", *verb["name"].split())
        usage = told.partition("\n\n")[0]
        assert " ".join(usage.split()) == f"usage: lace {verb['name']} {verb['arguments']}".rstrip()
        assert max(map(len, told.partition("\nexamples:")[0].splitlines())) <= columns, told


def test_a_release_on_a_pipe_says_that_nothing_changed_before_it_asks_for_a_version(ann: Person) -> None:
    """APP-14: it named the next version, and said that there is nothing to release once that was typed."""
    ann.write("a.txt", "a\n")
    ann.lace("release", "1.0.0")
    error_of(ann.run("--json", "release"), "nothing-to-release")
    (ann.folder / "a.txt").write_text("b\n")
    assert "1.0.1" in error_of(ann.run("--json", "release"), "version-needed")["message"]


def test_a_release_on_a_pipe_of_an_empty_folder_says_so(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    error_of(alice.run("--json", "release"), "nothing-to-release")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("checkout", "main@1", "--to", ""), "--to"),
        (("checkout", "main@1", "--to="), "--to"),
        (("checkout", "main@1", ""), "PATH"),
        (("update", ""), "DESK"),
        (("update", "--from", ""), "--from"),
        (("changes", ""), "DESK"),
        (("commit", "-m", "x", ""), "PATH"),
        (("commit", "-m", "x", "--desk", ""), "--desk"),
        (("release", "", "--yes"), "VERSION"),
        (("release", "--yes", "--desk", ""), "--desk"),
        (("invite", ""), "NAME"),
        (("log", "--node", ""), "--node"),
        (("archive", "main", ""), "FILE"),
        (("bundle", "create", ""), "FILE"),
        (("bundle", "create", "x", "--for", ""), "--for"),
        (("conflicts", "--drafts", ""), "--drafts"),
        (("resolve", "x", "--merged", "1.0.0", "--files", ""), "--files"),
        (("sync", "--path", ""), "--path"),
        (("export", ""), "DIR"),
        (("audit", "list", "--actor", ""), "--actor"),
        (("watch", "main", "--to", ""), "--to"),
        (("-C", "", "status"), "-C"),
        (("status", "-C", ""), "-C"),
    ],
)
def test_an_empty_word_is_no_word_left_out(ann: Person, words: tuple[str, ...], what: str) -> None:
    """APP-14: as of a variable that is not set: the folder went back where a copy was asked for, `.` was taken in."""
    ann.write("a.txt", "a\n")
    ann.lace("commit", "-m", "first")
    ann.write("a.txt", "b\n")
    ann.lace("commit", "-m", "second")
    before = ann.lace("desks"), ann.lace("places"), (ann.folder / "a.txt").read_text()
    error = error_of(ann.run("--json", *words), "bad-arguments")
    assert f"{what} is empty" in error["message"]
    assert "variable" in error["hint"]
    assert (ann.lace("desks"), ann.lace("places"), (ann.folder / "a.txt").read_text()) == before


def test_an_empty_text_is_one_where_texts_are_free(ann: Person) -> None:
    """A setting, a message and a motivation may be empty."""
    ann.write("a.txt", "a\n")
    assert ann.lace("release", "1.0.0", "-m", "")["version"] == "1.0.0"
    error_of(ann.run("--json", "commit", "-m", ""), "message-needed")


@pytest.mark.parametrize("number", ["9223372036854775808", "9" * 400, "-" + "9" * 400])
def test_a_number_beyond_all_there_is_is_no_fault_of_lace(ann: Person, number: str) -> None:
    """APP-14: it ended with 70, as a fault to report."""
    for words in (("log", "-n"), ("revoke", "alice", "--last"), ("audit", "-n"), ("prune", "--dry-run", "--keep")):
        assert ann.run(*words, number).code in {0, 2}, words
    assert ann.lace("log", "-n", "9223372036854775808")["entries"]


def test_what_is_repeated_of_a_word_is_cut_short(ann: Person) -> None:
    told = error_of(ann.run("--json", "cat", "main@" + "9" * 400, "a.txt"), "bad-case")["message"]
    assert len(told) < 150


def test_a_file_that_is_no_record_is_named(ann: Person) -> None:
    """APP-14: it said `the bytes do not start with a markline`."""
    ann.write("a.txt", "a\n")
    told = error_of(ann.run("--json", "record", "put", "a.txt"), "record-markline", 40)["message"]
    assert told == "a.txt cannot be put in: the bytes do not start with a markline."


def test_a_label_says_which_letters_it_begins_with(ann: Person) -> None:
    """CLAY-15: it said that `étude` does not start with a letter, and the way out spoke of bytes."""
    ann.write("a.txt", "a\n")
    ann.lace("commit", "-m", "first")
    error = error_of(ann.run("--json", "label", "étude"), "bad-name")
    assert error["message"] == "The label 'étude' does not start with a letter from A to Z."
    assert "for example: v-étude" in error["hint"]


def test_a_name_in_single_letters_says_how_it_is_typed(alice: Person) -> None:
    """APP-14: as some systems complete names; it spoke of NFC alone."""
    error = error_of(alice.run("--json", "init", "--name", "e\u0301mile"), "bad-name")
    assert error["hint"].endswith("'émile'")
    assert alice.lace("init", "--name", "émile")["name"] == "émile"


def test_who_knows_nobody_is_told_how_to_meet_somebody(ann: Person) -> None:
    error = error_of(ann.run("--json", "cat", "bob/main", "a.txt"), "no-such-peer")
    assert "lace invite" in error["hint"]


def test_a_desk_that_nobody_has_is_told_once_and_is_no_fault_of_the_place(pair: tuple[Person, Person]) -> None:
    """APP-14, LAZ-56: status went on to warn of the mistyped word until the next whole visit."""
    alice, bob = pair
    for option, code in (("--desk", 1), ("--path", 0)):
        (problem,) = bob.lace("sync", "stick", option, "nope", expect=code)["problems"]
        assert "nope" in problem["message"]
        assert problem["hint"]
        assert "nope" not in bob.text("status")
        assert all(not place["problems"] for place in bob.lace("status")["places"])
    for word in ("nope", "self/nope", "alice/nope"):
        for care in ("v", "w", "x", "y", "z"):
            error_of(bob.run("--json", "read", care, word), "no-such-desk")
    assert bob.lace("read", "v", "main")["value"]["head"] == 1
    alice.lace("desk", "add", "songs", "songs")
    assert alice.lace("read", "v", "songs")["value"]["head"] == 0, "it is there, and nothing in it yet"
    assert bob.lace("read", "v", "nope@1", expect=1)["outcome"] == "not-yet"


def test_drafts_that_are_not_written_lie_nowhere(ann: Person) -> None:
    told = ann.run("conflicts", "--drafts", "drafts")
    assert (told.code, told.text, told.err) == (0, "no conflicts\n", "")
    assert not (ann.folder / "drafts").exists()


def test_ways_out_of_a_name_that_is_taken_can_be_typed(ann: Person, tmp_path: Path) -> None:
    """APP-14: they were to remove the old one, by no command."""
    words = ("join", "eve", "../eve", "--key", _KEY)
    ann.lace(*words)
    hint = error_of(ann.run("--json", *words), "name-taken")["hint"]
    place, leave = (way.partition(": lace ")[2] for way in hint.split(" - "))
    more = [{"NAME": "more", "URI": str(tmp_path / "more")}.get(word, word) for word in shlex.split(place)]
    assert ann.lace(*more)["peer"] == _KEY
    ann.lace(*shlex.split(leave))
    ann.lace("place", "add", "fay", "../fay")
    hint = error_of(ann.run("--json", "join", "fay", "../x", "--key", _KEY), "name-taken")["hint"]
    ann.lace(*shlex.split(hint.partition(": lace ")[2]))
    ann.lace("join", "fay", "../x", "--key", _KEY)


@pytest.mark.parametrize(("named", "code"), [(False, 2), (True, 0)])
def test_who_stands_in_a_folder_that_is_gone_can_name_another_after_c(
    ann: Person, tmp_path: Path, named: bool, code: int
) -> None:
    """APP-14: the way out that was named was refused for the same reason."""
    gone = tmp_path / "gone"
    gone.mkdir()
    lace = [sys.executable, "-m", "lace_tui", *(["-C", str(ann.folder)] if named else []), "status"]
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *lace],
        cwd=gone,
        env={**ann.variables, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert ("Name an existing folder after -C" in done.stderr) is not named


def test_a_reserved_name_and_a_file_in_the_way_are_told_as_that(alice: Person) -> None:
    refused = error_of(alice.run("--json", "init", "--name", "self"), "bad-name")
    assert "bytes" not in refused["hint"]
    alice.write(".vault", "mine\n")
    refused = error_of(alice.run("--json", "init", "--name", "alice"), "folder-missing")
    assert refused["message"] == f"{alice.folder / '.vault'} is there already, and is not a directory."
    assert refused["hint"].startswith("Move it away")
    assert (alice.folder / ".vault").read_text() == "mine\n"


def test_a_vault_inside_is_left_out_in_one_sentence(ann: Person) -> None:
    ann.run("-C", "sub", "init", "--name", "alice")
    assert ann.run("changes").err == "sub holds a vault of its own; it was left out.\n"


def test_a_copy_of_the_vault_in_the_folder_is_shared_with_nobody(ann: Person) -> None:
    """CLAY-71: under another name it was committed, with all that was released to nobody."""
    ann.write("secret.md", "for nobody yet\n")
    ann.lace("commit", "-m", "Kept to myself")
    shutil.copytree(ann.folder / ".vault", ann.folder / "sub" / "vault before the trip")
    said = ann.run("changes")
    assert said.err == "sub/vault before the trip is a copy of a vault; it was left out.\n"
    assert "store.db" not in said.out.decode()
    ann.lace("release", "1.0.0")
    assert "store.db" not in ann.text("read", "z", "main@1.0.0")


def test_a_name_with_a_line_feed_stands_in_one_line_of_an_error(ann: Person) -> None:
    """APP-14, LAZ-71: what a file is called is no line of lace's own."""
    ann.write("a.md", "a\n")
    ann.lace("release", "1.0.0")
    ann.write("b\nNext: lace undo", "b\n")
    refused = error_of(ann.run("--json", "release", "--yes"), "nothing-to-release")
    assert "\n" not in refused["hint"]
    assert r"'b\nNext: lace undo' holds a control character." in refused["hint"]


@pytest.mark.parametrize("word", ["local", "remote", "both"])
def test_nobody_is_called_as_a_side_of_a_conflict_is(ann: Person, bob: Person, word: str) -> None:
    """LAZ-39, LAZ-51: `--prefer local` of a friend who is called local kept one's own side."""
    line = ann.lace("invite")["invite"]
    for person, words in (
        (bob, ("init", "--name", word)),
        (bob, ("accept", line, "--name", word)),
        (ann, ("invite", word)),
        (ann, ("join", word, "../there", "--key", _KEY)),
        (ann, ("admit", word, "--key", _KEY)),
        (ann, ("adopt", "--name", word, "--yes")),
    ):
        refused = error_of(person.run("--json", *words), "bad-name")
        assert f"lace resolve --prefer {word}" in refused["message"] or word == "both"
        assert f"{word}-1" in refused["hint"], words
    bob.environ["USER"] = word
    error_of(bob.run("--json", "init"), "name-needed")
    assert not (bob.folder / ".vault").exists()


def _older(patch: pytest.MonkeyPatch) -> None:
    """Let names be given as an older lace gives them."""
    for module in ("vault.beginning", "lazy.belonging.circle", "lace_tui.verbs.begin"):
        patch.setattr(f"{module}.check_person", check_name, raising=False)


def test_who_is_called_as_a_side_of_a_conflict_already_has_another_word(
    ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """LAZ-39: friends see the beginning of their key with the name, and they a number; the words stay a viewer's."""
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    with monkeypatch.context() as patched:
        _older(patched)
        bob.lace("accept", ann.lace("invite", "remote")["invite"])
    for person in (ann, bob, ann):
        person.lace("sync", "stick")
    for person in (ann, bob):
        person.write("a.md", f"{person.home}\n")
        person.lace("release", "1.0.0")
    for person in (ann, bob, ann):
        person.run("sync", "stick")
    name = f"remote-{bob.lace('id')['node'][2:8]}"
    assert [peer["peer"] for peer in ann.lace("peers")["peers"]] == [name]
    assert sorted(side["word"] for side in ann.lace("conflicts")["conflicts"][0]["sides"]) == ["alice", name]
    assert sorted(side["word"] for side in bob.lace("conflicts")["conflicts"][0]["sides"]) == ["alice", "remote:1"]
    theirs = (ann.folder / "a.md").read_text()
    bob.lace("resolve", "1.0.0", "--prefer", "remote")
    assert (bob.folder / "a.md").read_text() == theirs
    ann.lace("resolve", "1.0.0", "--prefer", name)
    assert (ann.folder / "a.md").read_text() == f"{bob.home}\n"


def test_who_asks_under_the_name_of_a_side_is_let_in_under_another(
    ann: Person, bob: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    line = ann.lace("invite")["invite"]
    bob.lace("accept", line, "--name", "bob")
    ann.lace("sync", "stick")
    other = Person("other", tmp_path / "other home", tmp_path / "other")
    with monkeypatch.context() as patched:
        _older(patched)
        other.lace("accept", line, "--name", "local")
    ann.lace("sync", "stick")
    refused = error_of(ann.run("--json", "admit", "local"), "bad-name")
    way = refused["hint"].rpartition(": lace ")[2]
    assert ann.lace(*shlex.split(way))["node"] == other.lace("id")["node"]
    assert {member["name"] for member in ann.lace("members")["members"]} == {"alice", "bob", "local-1"}


def test_a_file_for_somebody_else_is_told_as_that(pair: tuple[Person, Person], cara: Person, tmp_path: Path) -> None:
    """APP-14: whoever wrote it was to sync once more, which changes no file."""
    alice, bob = pair
    cara.lace("accept", alice.lace("invite", "cara")["invite"])
    for person in (alice, cara, alice, bob, alice):
        person.lace("sync", "stick")
    alice.write("list.md", "bread\n")
    alice.lace("release", "--yes")
    alice.lace("bundle", "create", str(tmp_path / "post"), "--for", "bob", "--encrypt")
    refused = error_of(cara.run("--json", "bundle", "apply", str(tmp_path / "post")), "sealed-to-others", 43)
    way = shlex.split(refused["hint"].rpartition(": lace ")[2])
    alice.lace(*[str(tmp_path / "other") if word == "FILE" else word for word in way])
    cara.lace("bundle", "apply", str(tmp_path / "other"))
    bob.lace("bundle", "apply", str(tmp_path / "post"))


def test_a_word_that_is_needed_cannot_be_left_out(alice: Person) -> None:
    """APP-14: an empty invitation was to be said, or left out."""
    error = error_of(alice.run("--json", "accept", ""), "bad-arguments")
    assert error["hint"] == "Say it: perhaps a variable of your shell is not set."
    error = error_of(alice.run("--json", "init", "--group", ""), "bad-arguments")
    assert error["hint"] == "Say it, or leave it out: perhaps a variable of your shell is not set."
