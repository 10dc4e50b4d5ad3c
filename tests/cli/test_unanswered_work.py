"""A command that took effect and was killed before it said so: the same command run again finishes (APP-13)."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cli.looking import error_of
from tests.people import Person
from vault.lock import VaultLock
from vault.store import guard


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def _release_killed(person: Person, patch: pytest.MonkeyPatch, *words: str) -> None:
    """Let a release take effect, and its command end before it answers."""
    with patch.context() as patched:
        patched.setattr("lazy.queue.takers", _killed)
        assert person.run("release", *words).code == 130
    assert "released" in person.text("status")


@pytest.mark.parametrize("words", [("--yes",), ("1.1.0",), ("--yes", "-m", "more")])
def test_a_release_that_nobody_was_told_of_is_told(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """APP-13: it said that nothing changed, or that the version is taken; once it is told, it says so again."""
    alice, _ = pair
    alice.write("list.md", "bread\n")
    _release_killed(alice, monkeypatch, *words)
    (made,) = [entry for entry in alice.lace("log")["entries"] if entry["app"] == "lace/release"][:1]
    done = alice.lace("release", *words)
    assert (done["release"], done["already"], done["files"]) == (made["hash"], True, 2)
    assert done["next"] == "lace sync stick"
    refused = alice.run("--json", "release", *words)
    error_of(refused, "version-taken" if "1.1.0" in words else "nothing-to-release")


def test_it_is_said_in_words(pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch) -> None:
    alice, _ = pair
    alice.write("list.md", "bread\n")
    _release_killed(alice, monkeypatch, "--yes")
    told = alice.text("release", "--yes")
    assert told.startswith("main 1.0.1 is released: the same command did it before, and was cut off. 2 files, 30 B in")
    assert "Next: lace sync stick" in told


@pytest.mark.parametrize("rotten", ["{", "[]", "4611", "replace(value, 'S.', 'S,')", "'[' || value"])
def test_a_note_of_a_release_that_rotted_is_none(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch, rotten: str
) -> None:
    """APP-13: each release ended as a fault of lace, for good."""
    alice, _ = pair
    alice.write("list.md", "bread\n")
    _release_killed(alice, monkeypatch, "--yes")
    _rot(alice, "unreported release", rotten)
    error_of(alice.run("--json", "release", "--yes"), "nothing-to-release")
    alice.write("list.md", "butter\n")
    assert alice.lace("release", "--yes")["already"] is False


def _rot(person: Person, key: str, value: str) -> None:
    """Let a setting rot past what watches it: to a text, or to what SQL makes of it."""
    db = sqlite3.connect(person.folder / ".vault" / "store.db")
    guard.install(db)
    with db:
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        made = value if "value" in value else f"'{value}'"
        assert db.execute(f"UPDATE meta SET value = {made} WHERE key = ?", (key,)).rowcount == 1
        for _, sql in triggers:
            db.execute(sql)
    db.close()


@pytest.mark.parametrize(
    "rotten", ["{", "[]", "4611", "'[' || value", '["x", [], {}, []]', "replace(value, '\"what', '\"whbt')"]
)
def test_where_it_is_not_known_whether_an_undo_was_done_nothing_is_undone(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch, rotten: str
) -> None:
    """APP-4, APP-13: each undo ended as a fault of lace, also after a repair."""
    alice, _ = pair
    for text in ("bread\n", "butter\n"):
        alice.write("list.md", text)
        alice.lace("commit", "-m", text)
    _killed_at(alice, monkeypatch, _AFTER_UNDO, "undo")
    _rot(alice, "unanswered undo", rotten)
    error_of(alice.run("--json", "undo"), "store-damaged", 41)
    assert alice.lace("desks")["desks"][0]["revision"] == 2
    alice.lace("fsck", "--repair")
    assert alice.run("undo").code == 2, "a repair was done last, and nothing takes that back"
    alice.lace("release", "--yes")
    alice.write("list.md", "beer\n")
    alice.lace("commit", "-m", "beer")
    assert alice.lace("undo")["already"] is False


def test_what_was_asked_otherwise_or_edited_since_is_another_release(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-5: the note answers the same words over the same files, and nothing else."""
    alice, _ = pair
    alice.write("list.md", "bread\n")
    _release_killed(alice, monkeypatch, "1.1.0", "-m", "more")
    error_of(alice.run("--json", "release", "1.1.0"), "version-taken")
    error_of(alice.run("--json", "release", "--yes"), "nothing-to-release")
    alice.write("list.md", "butter\n")
    error_of(alice.run("--json", "release", "1.1.0", "-m", "more"), "version-taken")
    assert alice.lace("release", "--yes")["already"] is False
    error_of(alice.run("--json", "release", "1.1.0", "-m", "more"), "version-taken")


# bundle create


def test_a_file_that_cannot_be_written_says_to_name_another(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """Its way out was to pull from there, as from a medium that is write-protected."""
    alice, _ = pair
    error = _create(alice, tmp_path / ("x" * 300), expect=23)["error"]
    assert (error["code"], error["hint"]) == (
        "place-not-writable",
        "Name another file, in a directory that you may write to.",
    )


def _create(person: Person, file: Path, *words: str, expect: int = 0) -> dict[str, Any]:
    return person.lace("bundle", "create", str(file), *words, expect=expect)


@pytest.mark.parametrize("words", [(), ("--for", "bob"), ("--encrypt",), ("--for", "bob", "--encrypt")])
def test_a_file_that_is_just_what_would_be_written_is_taken_for_made(
    pair: tuple[Person, Person], tmp_path: Path, words: tuple[str, ...]
) -> None:
    """APP-13: it exists already, and whoever was cut off could not tell whether it is whole."""
    alice, bob = pair
    alice.write("list.md", "bread\n")
    alice.lace("release", "--yes")
    file = tmp_path / "out.lace"
    made = _create(alice, file, *words)
    held = file.read_bytes()
    again = _create(alice, file, *words)
    assert (again["already"], made["already"], again["sent"], again["file"]) == (True, False, made["sent"], str(file))
    assert file.read_bytes() == held
    pushes = alice.lace("audit", "list", "--verb", "lazy-push")["entries"]
    assert sum(entry["action"]["object"] == "out.lace" for entry in pushes) == 1
    assert "lies there already" in alice.text("bundle", "create", str(file), *words)
    bob.lace("bundle", "apply", str(file))
    bob.lace("update")
    assert (bob.folder / "list.md").read_text() == "bread\n"


def test_any_other_file_stays_in_the_way(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """CYB-11: older, for others, not encrypted, damaged, another's, or none of lace's: none is what was asked for."""
    alice, bob = pair
    alice.write("list.md", "bread\n")
    alice.lace("release", "--yes")
    plain, sealed, for_bob = (tmp_path / name for name in ("plain", "sealed", "for-bob"))
    _create(alice, plain)
    _create(alice, sealed, "--encrypt")
    _create(alice, for_bob, "--for", "bob", "--encrypt")
    for file, words in (
        (plain, ("--encrypt",)),
        (plain, ("--for", "bob")),
        (sealed, ()),
        (sealed, ("--for", "bob", "--encrypt")),
        (for_bob, ("--encrypt",)),
        (for_bob, ("--for", "bob")),
    ):
        assert _create(alice, file, *words, expect=2)["error"]["code"] == "file-exists", (file.name, words)
    assert _create(bob, plain, expect=2)["error"]["code"] == "file-exists"
    torn = tmp_path / "torn"
    torn.write_bytes(plain.read_bytes()[:-1])
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("mine\n")
    (tmp_path / "link").symlink_to(tmp_path / "not there yet")  # of the person's, and it was replaced
    for name in ("torn", "folder", "text", "link"):
        assert _create(alice, tmp_path / name, expect=2)["error"]["code"] == "file-exists"
    assert (tmp_path / "link").is_symlink()
    alice.write("list.md", "butter\n")
    alice.lace("release", "--yes")
    assert _create(alice, plain, expect=2)["error"]["code"] == "file-exists"


# label, desk add


def test_the_same_label_once_more_is_given_already(pair: tuple[Person, Person]) -> None:
    """APP-13, CLAY-9: nothing is used twice by it; of any other revision the name stays refused."""
    alice, _ = pair
    made = alice.lace("label", "first")
    again = alice.lace("label", "first")
    assert (made["already"], again["already"]) == (False, True)
    assert {**again, "already": False} == made
    assert alice.text("label", "first") == "main revision 1 is first already.\n"
    alice.write("list.md", "bread\n")
    alice.lace("commit", "-m", "bread")
    error_of(alice.run("--json", "label", "first"), "label-taken")
    labelled = [entry for entry in alice.lace("audit", "list")["entries"] if entry["action"]["verb"] == "lace-label"]
    assert len(labelled) == 1


def test_the_same_folder_once_more_is_that_desk_already(pair: tuple[Person, Person]) -> None:
    """APP-13, CLAY-3: another folder, or another name, stays refused."""
    alice, _ = pair
    made = alice.lace("desk", "add", "songs", "music/songs")
    again = alice.lace("desk", "add", "songs", "music/songs")
    assert (made["already"], again["already"]) == (False, True)
    assert {**again, "already": False} == made
    assert alice.text("desk", "add", "songs", "music/songs").startswith("music/songs is the desk songs already.\n")
    error_of(alice.run("--json", "desk", "add", "songs", "other"), "desk-taken")
    error_of(alice.run("--json", "desk", "add", "other", "music/songs"), "desk-taken")


# undo, resolve


def _killed_at(person: Person, patch: pytest.MonkeyPatch, where: str, *words: str) -> None:
    """Let a command take effect, and end before it answers: what is called there comes right after."""
    with patch.context() as patched:
        patched.setattr(where, _killed)
        assert person.run(*words).code == 130


_AFTER_UNDO = "lace_tui.verbs.undoing.kept_lines"
_AFTER_RESOLVE = "lace_tui.verbs.deciding.write_lazy_files"


def test_an_undo_that_nobody_was_told_of_takes_nothing_else_back(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4, APP-13: the same command run again took back the act before, which nobody had asked for."""
    alice, _ = pair
    for text in ("bread\n", "butter\n"):
        alice.write("list.md", text)
        alice.lace("commit", "-m", text)
    _killed_at(alice, monkeypatch, _AFTER_UNDO, "undo")
    planned = alice.lace("undo", "--dry-run")
    assert (planned["already"], planned["would_undo"]) == (True, None)
    done = alice.lace("undo")
    assert (done["already"], done["desk"], done["revision"]) == (True, "main", 3)
    assert done["undone"] == "main revision 3 is taken back; what it held is uncommitted work now"
    assert alice.lace("desks")["desks"][0]["revision"] == 2
    alice.write("list.md", "bread\n")  # of which only the second revision tells
    again = alice.lace("undo")
    assert (again["already"], again["revision"]) == (False, 2)


def test_what_an_unanswered_undo_moved_is_told_and_what_was_done_since_ends_it(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = pair
    alice.write("list.md", "bread\n")
    alice.lace("release", "1.1.0")
    for person in pair:
        person.lace("sync", "stick")
    bob.lace("update")
    _killed_at(bob, monkeypatch, _AFTER_UNDO, "undo")
    told = bob.text("undo")
    assert told.startswith("main revision 2 is taken back; the folder is as it was before: 1 file written.\n")
    assert "The same command did it before, and was cut off.\n" in told
    assert "  list.md\n" in told
    bob.lace("update")
    _killed_at(bob, monkeypatch, _AFTER_UNDO, "undo")
    bob.write("own.txt", "mine\n")
    bob.lace("commit", "-m", "mine")
    assert bob.lace("undo")["already"] is False


def test_an_unanswered_undo_of_a_place_too(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alice, _ = pair
    alice.lace("place", "add", "other", str(tmp_path / "other"))
    _killed_at(alice, monkeypatch, _AFTER_UNDO, "undo")
    done = alice.lace("undo")
    assert (done["already"], done["undone"]) == (True, "other is no longer a place")


def _contest(pair: tuple[Person, Person]) -> tuple[Person, str]:
    """Let both release one version with other content; return bob, and the conflict."""
    for person in pair:
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
    alice, bob = pair
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    (conflict,) = bob.lace("conflicts")["conflicts"]
    return bob, conflict["id"]


@pytest.mark.parametrize(
    "words",
    [
        ("--prefer", "alice"),
        ("--prefer", "local", "-m", "mine"),
        ("--merged", "2.1.0", "--path", "list.md", "--take", "alice"),
        ("--merged", "2.1.0", "--files", "../merge"),
    ],
)
def test_a_decision_that_nobody_was_told_of_is_told(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """APP-13, LAZ-39: it said that a decision is not made twice, or that the version is taken."""
    bob, conflict = _contest(pair)
    (bob.folder.parent / "merge").mkdir()
    (bob.folder.parent / "merge/list.md").write_text("both\n")
    _killed_at(bob, monkeypatch, _AFTER_RESOLVE, "resolve", conflict, *words)
    held = (bob.folder / "list.md").read_text()
    done = bob.lace("resolve", conflict, *words)
    assert (done["already"], done["conflict"], (bob.folder / "list.md").read_text()) == (True, conflict, held)
    assert done["resolution"]
    assert done["release"]
    assert done["written"] == ([] if "local" in words else ["list.md"])
    assert done["next"] == "lace sync stick"
    assert bob.lace("resolve", conflict, *words, expect=2)["error"]["code"] in {"no-such-conflict", "version-taken"}


def test_a_settled_clash_that_nobody_was_told_of_is_told_in_words(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = pair
    for person, version in ((alice, "2.0.0"), (bob, "2.1.0")):
        person.write("list.md", f"{person.name}\n")
        person.lace("release", version)
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    conflict = bob.lace("update", expect=1)["conflict"]
    _killed_at(bob, monkeypatch, _AFTER_RESOLVE, "resolve", conflict, "--prefer", "alice")
    told = bob.text("resolve", conflict, "--prefer", "alice")
    assert told.startswith("= main is decided by a merge. 1 file written in your folder:\n  list.md\n")
    assert "The same command did it before, and was cut off.\n" in told
    assert "Next: lace release" in told


@pytest.mark.parametrize("since", ["other words", "edited", "files", "released"])
def test_a_decision_that_is_not_the_one_that_was_made_is_refused(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch, since: str
) -> None:
    """LAZ-39: the note answers the same words over the same files, and nothing else."""
    bob, conflict = _contest(pair)
    (bob.folder.parent / "merge").mkdir()
    merged = bob.folder.parent / "merge/list.md"
    merged.write_text("both\n")
    words = ["resolve", conflict, "--merged", "2.1.0", "--files", "../merge"]
    _killed_at(bob, monkeypatch, _AFTER_RESOLVE, *words)
    match since:
        case "other words":
            words += ["-m", "why"]
        case "edited":
            bob.write("list.md", "edited\n")
        case "files":
            merged.write_text("other\n")
        case _:
            bob.write("more.md", "more\n")
            bob.lace("release", "--yes")
    assert bob.lace(*words, expect=2)["error"]["code"] in {"no-such-conflict", "version-taken"}


def test_a_decision_by_a_path_as_typed_from_below_is_told_too(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: what was noted had the path as the desk calls it, so that the same words were others."""
    alice, bob = pair
    for person in pair:
        person.write("music/song.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    (conflict,) = bob.lace("conflicts")["conflicts"]
    words = ("resolve", conflict["id"], "--merged", "2.1.0", "--path", "song.md", "--take", "alice")
    below = bob.folder / "music"
    with monkeypatch.context() as patched:
        patched.setattr(_AFTER_RESOLVE, _killed)
        assert bob.run(*words, cwd=below).code == 130
    assert bob.lace(*words, cwd=below)["already"] is True


def test_a_decision_on_a_clash_that_came_open_again_is_made(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-39, LAZ-42: a friend decided otherwise since, and whoever stood by theirs was told that it is done."""
    bob, conflict = _contest(pair)
    alice, _ = pair
    bob.lace("sync", "stick", expect=1)
    alice.lace("sync", "stick", expect=1)
    words = ("resolve", conflict, "--prefer", "local")
    _killed_at(bob, monkeypatch, _AFTER_RESOLVE, *words)
    alice.lace("resolve", conflict, "--prefer", "local")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", expect=1)
    (again,) = bob.lace("conflicts")["conflicts"]
    assert again["id"] == conflict
    assert bob.lace(*words)["already"] is False
    assert bob.lace("conflicts")["conflicts"] == []


def test_an_undo_that_was_told_while_another_lace_wrote_is_forgotten(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-4, APP-13: its note stayed where the vault was busy, and the next undo took nothing back."""
    alice, _ = pair
    for text in ("bread\n", "butter\n"):
        alice.write("list.md", text)
        alice.lace("commit", "-m", text)
    other = VaultLock(alice.folder / ".vault/lock")
    busy = ExitStack()

    def begin(*_: object) -> tuple[str, ...]:
        busy.enter_context(other.held())
        return ()

    alice.world["sleep"] = lambda _seconds: busy.close()
    with monkeypatch.context() as patched, busy:
        patched.setattr(_AFTER_UNDO, begin)
        assert alice.lace("undo")["revision"] == 3
    alice.write("list.md", "bread\n")  # of which only the second revision tells
    done = alice.lace("undo")
    assert (done["already"], done["revision"]) == (False, 2)


def test_a_file_that_counts_other_unreleased_commits_stays_in_the_way(
    pair: tuple[Person, Person], tmp_path: Path
) -> None:
    """APP-13: it was taken for what would be written, and said what was so before."""
    alice, _ = pair
    file = tmp_path / "out.lace"
    alice.lace("config", "set", "announce-unreleased", "true")
    assert _create(alice, file)["already"] is False
    assert _create(alice, file)["already"] is True
    alice.write("list.md", "bread\n")
    alice.lace("commit", "-m", "bread")
    assert _create(alice, file, expect=2)["error"]["code"] == "file-exists"
    alice.lace("config", "set", "announce-unreleased", "false")
    assert _create(alice, file, expect=2)["error"]["code"] == "file-exists"
