"""`status` and `changes` asked again: what is kept is right or there is nothing; little is loaded (LAZ-54, LAZ-56)."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lace_tui import __version__
from lace_tui.cli.quick import kept_answer, stamp
from lazy.remembered import STATUS, opened, recall
from tests.people import ROOT, Person

_LOADED = (
    "import sys; from lace_tui.__main__ import main; code = main(['--json', 'status']);"
    " sys.stderr.write('\\n'.join(sorted(sys.modules))); sys.exit(code)"
)
# The whole program below the quick way: none of it may be loaded for an answer that is kept.
_HEAVY = {
    "argparse",
    "asyncio",
    "dataclasses",
    "git",
    "json",
    "logging",
    "pathlib",
    "platformdirs",
    "socket",
    "textual",
}
_OURS = {"lace_tui", "lace_tui.__main__", "lace_tui.cli", "lace_tui.cli.quick", "lazy", "lazy.remembered"}


class _Out(io.StringIO):
    """A stream that says what it is."""

    def __init__(self, *, tty: bool = False, broken: bool = False) -> None:
        super().__init__()
        self._tty, self._broken = tty, broken

    def isatty(self) -> bool:
        return self._tty

    def flush(self) -> None:
        if self._broken:
            raise BrokenPipeError


@pytest.fixture
def here(ann: Person, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Alice in her folder with one commit, so that there is something to be kept."""
    monkeypatch.chdir(ann.folder)
    ann.write("a.txt", "one\n")
    ann.lace("commit", "-m", "one")
    return ann


def _kept(person: Person, *words: str, tty: bool = False) -> str | None:
    out = _Out(tty=tty)
    environ = {**person.variables, "NO_COLOR": "", "TERM": "xterm"} if tty else person.variables
    return out.getvalue() if kept_answer(words, environ, out) else None


def test_a_kept_answer_is_what_status_says(here: Person) -> None:
    """LAZ-54: JSON, text and colour, all as the whole program gives them."""
    assert _kept(here, "status") is None
    as_json, as_text = here.run("--json", "status"), here.run("status")
    assert _kept(here, "--json", "status") == _kept(here, "status", "--json") == as_json.text
    assert _kept(here, "status") == as_text.text
    assert _kept(here, "status", tty=True) is not None
    assert _kept(here, "-C", "..", "-C", here.folder.name, "status") is None  # the way is spelled differently
    assert _kept(here, "-C", str(here.folder), "status") == as_text.text


def test_every_write_makes_it_out_of_date(here: Person, tmp_path: Path) -> None:
    """LAZ-54: no act changes the store without ending the answer kept before it."""
    acts: list[tuple[str, ...]] = [
        ("commit", "-m", "two"),
        ("release", "1.0.0"),
        ("place", "add", "stick", str(tmp_path / "stick")),
        ("sync", "stick"),
        ("invite", "bob"),
        ("place", "remove", "stick"),
    ]
    here.write("a.txt", "two\n")
    for words in acts:
        here.run("status")
        assert _kept(here, "status") is not None
        here.lace(*words)
        assert _kept(here, "status") is None, words
        fresh = here.run("--json", "status")
        assert _kept(here, "--json", "status") == fresh.text


@pytest.mark.parametrize("verb", ["queue", "conflicts", "vectors"])
def test_what_else_the_store_alone_answers_is_kept(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """LAZ-56: with a friend, something that waits and a conflict, in all forms; and every write ends it."""
    here, bob = pair
    monkeypatch.chdir(here.folder)
    for person in (bob, here):
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "1.5.0")
        person.run("sync", "stick")
    assert _kept(here, verb) is None
    as_json, as_text = here.run("--json", verb), here.run(verb)
    assert "bob" in as_text.text
    assert _kept(here, "--json", verb) == _kept(here, verb, "--json") == as_json.text
    assert _kept(here, verb) == as_text.text
    assert _kept(here, verb, tty=True) is not None
    here.write("b.txt", "new\n")
    here.lace("commit", "-m", "new")
    assert _kept(here, verb) is None
    before = here.run(verb)
    here.lace("release", "2.0.0")
    assert _kept(here, verb) is None
    assert here.run(verb).text == _kept(here, verb)
    if verb != "conflicts":
        assert here.run(verb).text != before.text


def test_what_is_not_plainly_this_case_goes_the_usual_way(here: Person, tmp_path: Path) -> None:
    here.run("status")
    for words in (["status", "--tree"], ["conflicts", "--all"], [], ["-C"], ["-C", "~", "status"], ["status", "main"]):
        assert _kept(here, *words) is None
    assert _kept(here, "-C", str(tmp_path / "nowhere"), "status") is None
    assert kept_answer(["status"], {}, _Out(broken=True)) is False
    db = opened(str(here.folder / ".vault" / "store.db"))
    assert recall(db, STATUS, lambda kept: kept, "text") is not None
    assert recall(db, STATUS, stamp(str(here.folder)), "text") is None
    assert recall(db, STATUS, lambda kept: kept.replace(__version__, "0.0.0", 1), "text") is None
    db.close()
    (tmp_path / "no.db").write_bytes(b"not a database" * 100)
    db = opened(str(tmp_path / "no.db"))
    assert recall(db, STATUS, stamp(str(here.folder)), "text") is None
    db.close()


def test_a_folder_that_is_none_has_no_kept_answer(here: Person) -> None:
    """APP-14: of the vault above it, or where one stands, the kept answer was given for it."""
    here.text("status")
    (here.folder / "sub").mkdir()
    assert _kept(here, "-C", "sub", "status") is not None
    for folder in ("nope", "a.txt", "sub/nope", ""):
        assert _kept(here, "-C", folder, "status") is None, folder
        error = here.run("--json", "-C", folder, "status").json["error"]
        assert error["code"] == ("folder-missing" if folder else "bad-arguments")


def _looked(person: Person) -> None:
    """Ask until the answer can be kept: right after a write, files are too young to be known by their stat."""
    for _ in range(40):
        person.run("changes")
        if _kept(person, "changes") is not None:
            return
        time.sleep(0.05)
    raise AssertionError("nothing was kept")


def test_kept_changes_are_what_changes_says(here: Person) -> None:
    here.write("deep/er/b.txt", "b\n")
    here.write(".laceignore", "*.o\n")
    here.lace("commit", "-m", "two")
    here.write("deep/er/b.o", "what the rules leave out does no harm")
    _looked(here)
    assert _kept(here, "changes") == here.run("changes").text == "Nothing changed.\n"
    assert _kept(here, "--json", "changes") == _kept(here, "changes", "--json") == here.run("--json", "changes").text
    assert _kept(here, "changes", tty=True) is not None
    assert _kept(here, "changes", "main") is None


def _edit(here: Person) -> None:
    here.write("deep/er/b.txt", "c\n")


def _touch_content_alone(here: Person) -> None:
    path = here.folder / "a.txt"
    seen = path.stat()
    path.write_text("two\n")  # as long as before, and its time put back
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def _delete(here: Person) -> None:
    (here.folder / "deep" / "er" / "b.txt").unlink()


def _add(here: Person) -> None:
    here.write("deep/new.txt", "n\n")


def _nest(here: Person) -> None:
    (here.folder / "deep" / ".vault").mkdir()


def _ignore(here: Person) -> None:
    here.write(".laceignore", "*.txt\n")


def _replace_by_a_link(here: Person) -> None:
    (here.folder / "deep").rename(here.folder.parent / "elsewhere")
    (here.folder / "deep").symlink_to(here.folder.parent / "elsewhere")


def _configure(here: Person) -> None:
    here.run("config", "set", "share", "commits")


def _commit(here: Person) -> None:
    here.write("a.txt", "three\n")
    here.lace("commit", "-m", "three")


_ACTS = [_edit, _touch_content_alone, _delete, _add, _nest, _ignore, _replace_by_a_link, _configure, _commit]


@pytest.mark.parametrize("act", _ACTS, ids=lambda act: act.__name__.strip("_"))
def test_whatever_changes_in_the_folder_ends_the_kept_answer(
    here: Person, act: Callable[[Person], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lace_tui.cli.quick.processors", lambda: 3)
    monkeypatch.setattr("vault.desks.glance._SHARE", 1)  # each directory in a process of its own
    here.write("deep/er/b.txt", "b\n")
    here.lace("commit", "-m", "two")
    _looked(here)
    act(here)
    assert _kept(here, "changes") is None


def test_a_copied_vault_has_no_kept_answer(here: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer names its folder; another folder asks anew."""
    here.run("status")
    moved = here.folder.rename(tmp_path / "moved")
    monkeypatch.chdir(moved)
    assert _kept(here, "status") is None


def _moved_to_another_machine(here: Person) -> str:
    here.environ["HOME"] = str(here.home / "elsewhere")  # which says, hashed with the system's own id, which it is
    return "other-machine"


def _copied_and_written_there(here: Person) -> str:
    copy = here.folder.with_name("copy")
    shutil.copytree(here.folder, copy, symlinks=True)
    (copy / "a.txt").write_text("three\n")
    assert here.run("-C", str(copy), "release", "1.0.0").code == 0
    return "vault-behind-mark"


def _parted_from_its_keys(here: Person) -> str:
    here.environ["LACE_HOME"] = str(here.home / "nothing here")
    return "mark-missing"


def _marked_by_hand(here: Person) -> str:
    (mark,) = (here.home / "lace" / "marks").glob("*.mark")
    mark.write_bytes(mark.read_bytes().upper())
    return "mark-damaged"


def _with_a_file_where_marks_lie(here: Person) -> str:
    (here.home / "lace" / "marks").rename(here.home / "lace" / "away")
    (here.home / "lace" / "marks").write_text("a file")
    return "mark-missing"


_HELD = [
    _moved_to_another_machine,
    _copied_and_written_there,
    _parted_from_its_keys,
    _marked_by_hand,
    _with_a_file_where_marks_lie,
]


@pytest.mark.parametrize("act", _HELD, ids=lambda act: act.__name__.strip("_"))
def test_status_says_that_the_vault_may_not_write(here: Person, act: Callable[[Person], str]) -> None:
    """APP-13, LAZ-54: it was silent until a write was refused, while the app told it; and no kept answer hides it."""
    here.lace("release", "0.9.0")
    assert here.lace("status")["held_back"] is None
    assert _kept(here, "status") is not None
    code = act(here)
    assert _kept(here, "status") is None
    held = here.lace("status")["held_back"]
    assert held["code"] == code
    text = here.text("status")
    assert f"! {held['message']}\n  {held['hint']}\n" in text
    assert _kept(here, "status") in {None, text}


def _status_loaded(person: Person) -> tuple[str, set[str]]:
    """Return what a status says in a process of its own, and the modules that it loaded for that."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED],
        cwd=person.folder,
        env={**person.variables, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, set(done.stderr.splitlines())


def test_status_loads_next_to_nothing(here: Person) -> None:
    """A kept answer is printed without the program: the modules that may be loaded are pinned."""
    here.run("--json", "status")
    said, loaded = _status_loaded(here)
    assert said == here.run("--json", "status").text
    assert not loaded & _HEAVY
    assert {name for name in loaded if name.split(".")[0] in {"vault", "transports", "lazy", "lace_tui"}} == _OURS


def test_a_status_made_anew_loads_no_transports(ann: Person, tmp_path: Path) -> None:
    """LAZ-54: it tells what is stored, and nothing of how bytes travel belongs to that."""
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    _, loaded = _status_loaded(ann)
    assert "lazy.status" in loaded
    assert not {name for name in loaded if name.split(".")[0] == "transports"}


def _loaded_by_a_commit(person: Person, after: str = "", **environ: str) -> set[str]:
    """Return the modules that a second commit loads in a process of its own, which then does something more."""
    person.write("a.txt", "two\n")
    code = (
        "import sys; from lace_tui.__main__ import main\nassert not main(['commit', '-m', 'two'])\n"
        f"print(*sys.modules, file=sys.stderr)\n{after}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=person.folder,
        env={**person.variables, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


def test_a_commit_loads_no_kinds_that_it_does_not_meet(here: Person) -> None:
    """APP-14: what belongs to members, logs, releases and conflicts stays away from a commit that stays here.

    What Python's modules were loaded without is there for whoever asks for it.
    """
    loaded = _loaded_by_a_commit(
        here,
        "import argparse, dataclasses, pathlib\n"
        "assert dataclasses.make_dataclass('Place', ['x']).__doc__.startswith('Place(x')\n"
        "assert dataclasses.asdict(dataclasses.make_dataclass('Place', ['x'])({1: [2]})) == {'x': {1: [2]}}\n"
        "assert pathlib.Path('/a b').as_uri() == 'file:///a%20b'\n"
        "assert pathlib.PureWindowsPath('C:/A/b') == pathlib.PureWindowsPath('c:/a', 'B')\n"
        "assert argparse.ngettext('one', 'several', 2) == 'several'\n"
        "import copy, gettext, inspect, ntpath, urllib.parse\n"
        "assert inspect.isfunction(copy.deepcopy) and gettext.gettext is not argparse._",
    )
    away = {"membership", "nodelog", "profile.people", "profile.releases", "audit_chain", "desks.edit"}
    away |= {"records.head", "records.parse", "records.thin", "revisions.versions", "store.batch_reads", "plural"}
    assert "vault.profile.lines" in loaded
    others = {"sexpdata", "json", "tomllib", "git", "textual", "copy", "gettext", "locale", "ntpath"}
    others |= {"lace_tui.verbs.updating", "lace_tui.words.written", "lace_tui.cli.keeping", "lazy.remembered"}
    if sys.version_info < (3, 13):  # `dataclasses` asks it about each class since
        others |= {"inspect", "urllib.parse", "weakref"}
    assert loaded & ({f"vault.{name}" for name in away} | others) == set()


def test_a_commit_loads_little_to_find_a_persons_keys(here: Person) -> None:
    """APP-14: without LACE_HOME they lie where the system has a person's data, and nothing is made or read for that."""
    data = here.home / "data"
    data.mkdir()
    (here.home / "lace").rename(data / "lace")
    loaded = _loaded_by_a_commit(here, LACE_HOME="", XDG_DATA_HOME=str(data))
    assert "platformdirs" in loaded
    assert not loaded & {"configparser", "random", "shutil", "tempfile"}
