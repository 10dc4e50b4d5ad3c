"""The frame: verbs, global options, answers, errors, exit codes (APP-1, APP-14)."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lace_tui import __version__
from lace_tui.cli import frame, verbs
from lace_tui.cli.context import Context
from lace_tui.cli.foreign import FOREIGN
from lace_tui.cli.naming import find_verb, sub_verbs
from lace_tui.cli.output import Answer
from lace_tui.cli.verb import Verb
from tests.cli.looking import error_of
from tests.people import ROOT, Person
from vault.errors import PlaceError

Run = Callable[[Context, argparse.Namespace], Any]


class StickGone(PlaceError):
    """The stick was pulled out."""

    code = "test-stick-gone"
    exit_code = 21
    hint = "Put it back."


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Add a verb for one test: its name and its `run`."""
    added: list[str] = []

    def add(name: str, run: Run, configure: Callable[..., None] = lambda _parser, _verb: None) -> None:
        module = ModuleType(f"lace_test_verb_{len(added)}")
        module.__dict__.update(run=run, configure=configure)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        added.append(name)
        entry = Verb(name, module.__name__, "Work", "Does what a test wants.", "[X...]")
        monkeypatch.setattr(verbs, "VERBS", (*verbs.VERBS, entry))
        monkeypatch.setattr(frame, "VERBS", verbs.VERBS)

    return add


def test_version(alice: Person) -> None:
    assert alice.text("--version") == f"lace {__version__}\n"
    assert alice.lace("--version") == {"version": __version__}


def test_help_names_every_verb_once_with_its_sentence(alice: Person) -> None:
    text = alice.text("help")
    for entry in verbs.VERBS:
        assert len(re.findall(rf"^  {re.escape(entry.name)}  ", text, re.MULTILINE)) == 1
    assert alice.text("--help") == alice.text("-h") == text
    data = alice.lace("help")
    assert [row["name"] for row in data["verbs"]] == [entry.name for entry in verbs.VERBS]


@pytest.mark.parametrize("entry", verbs.VERBS, ids=lambda entry: entry.name)
def test_every_verb_is_explained(alice: Person, entry: Verb) -> None:
    words = entry.name.split()
    text = alice.text("help", *words)
    assert text.startswith(f"usage: lace {entry.name}")
    assert entry.sentence.split()[0] in text
    assert alice.text(*words, "--help") == alice.text(*words, "-h") == alice.text("--help", *words) == text
    assert alice.lace("help", *words)["help"] == text
    assert alice.lace(*words, "-h")["name"] == entry.name


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 200])
def test_help_fits_the_terminal(alice: Person, columns: int) -> None:
    alice.environ["COLUMNS"] = str(columns)
    lines = alice.text("help").splitlines()
    assert max(len(line) for line in lines) <= max(columns, 60)


def test_help_of_a_first_word_lists_what_may_follow(alice: Person) -> None:
    assert "config path" in alice.text("help", "config")
    assert alice.text("config", "--help") == alice.text("help", "config")


@pytest.mark.parametrize("words", [["revert"], ["help", "revert"], ["remote", "add"], ["restore", "a.md"], ["gc"]])
def test_a_verb_of_another_tool_is_told_as_what_it_is_here(alice: Person, words: list[str]) -> None:
    """APP-1: `revert` and `remote` were taken for `revoke`, which ends a membership; most words were told nothing."""
    told = error_of(alice.run("--json", *words), "unknown-verb")
    assert "Did you mean" not in told["message"]
    assert told["hint"] == f"In lace: {FOREIGN[words[words[0] == 'help']]}"


def test_what_is_said_of_other_tools_names_what_lace_has(alice: Person) -> None:
    """APP-1: each sentence names verbs that are there, and stands for a word that is none."""
    for word, sentence in FOREIGN.items():
        assert find_verb([word]) == (None, 0)
        assert not sub_verbs(word)
        for named in re.findall(r"\blace ([a-z]+(?: [a-z]+)?)", sentence):
            assert find_verb(named.split())[0] is not None, sentence


@pytest.mark.parametrize("word", ["revok", "revokee", "revo", "rev0ke", "Revoke"])
def test_to_revoke_somebody_is_never_guessed(alice: Person, word: str) -> None:
    """APP-1: whoever meant something else lost a friend by it."""
    assert "revoke" not in error_of(alice.run("--json", word), "unknown-verb")["message"].replace(word, "")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["erors"], "unknown-verb", "Did you mean 'errors'?"),
        (["config", "pth"], "unknown-verb", "needs one of: "),
        (["config"], "unknown-verb", "needs one of: "),
        (["confg", "path"], "unknown-verb", "Did you mean 'config path'?"),
        (["help", "erors"], "unknown-verb", "Did you mean 'errors'?"),
        (["zzz\x1b[2J"], "unknown-verb", "There is no verb 'zzz\\x1b[2J'."),
        (["--nope"], "bad-arguments", "there is no option --nope"),
        (["-C"], "bad-arguments", "a folder is missing"),
        (["errors", "more"], "bad-arguments", "lace errors: too much is said: more."),
        (["errors", "--jso"], "bad-arguments", "lace errors: there is no option --jso."),
        (["errors", "--jso", "more"], "bad-arguments", "there is no option --jso, and too much is said: more."),
        (["log", "-n"], "bad-arguments", "lace log: a value is missing behind -n."),
        (["log", "-n", "ten"], "bad-arguments", "lace log: -n is a whole number, and 'ten' is none."),
        (["audit", "lst"], "bad-arguments", "lace audit: list|verify is one of list, verify, and not 'lst'."),
        (["errors", "--json=x"], "bad-arguments", "lace errors: --json takes no value, and 'x' stands behind it."),
        (
            ["resolve", "1.0.0", "--prefer", "local", "--accept"],
            "bad-arguments",
            "lace resolve: --accept and --prefer do not go together.",
        ),
        (["cat", "main", "-x"], "bad-arguments", "a name or path such as -x goes behind two dashes: -- -x"),
        (["sync", "-x"], "bad-arguments", "goes behind two dashes: -- -x"),
        (["-C", "nowhere", "errors"], "folder-missing", "There is no folder"),
        (["errors", "-C", "nowhere"], "folder-missing", "There is no folder"),
        (["prune", "--keep", "0"], "bad-arguments", "See: lace help prune"),
    ],
)
def test_wrong_use_ends_with_2_a_sentence_and_a_hint(alice: Person, words: list[str], code: str, says: str) -> None:
    """APP-14: the same on both streams, in the promised shape."""
    plain = alice.run(*words)
    assert (plain.code, plain.out) == (2, b"")
    assert says in plain.err
    result = alice.run("--json", *words)
    assert result.code == 2
    error = result.json["error"]
    assert set(error) == {"code", "message", "hint"}
    assert error["code"] == code
    assert error["hint"]
    assert says.partition("\\x1b")[0] in f"{error['message']} {error['hint']}"
    assert result.err == plain.err


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "-q", "-C", "notes", "probe", "x"],
        ["probe", "--json", "-q", "-C", "notes", "x"],
        ["probe", "x", "-C", "notes", "-q", "--json"],
        ["-C", ".", "--json", "probe", "--quiet", "x", "-Cnotes"],
    ],
)
def test_global_options_stand_anywhere(alice: Person, verb: Callable[..., None], words: list[str]) -> None:
    (alice.folder / "notes").mkdir()

    def run(context: Context, args: argparse.Namespace) -> Answer:
        flags = [context.json, context.quiet, context.verbose]
        return Answer({"cwd": context.cwd.name, "flags": flags, "args": vars(args)})

    verb("probe", run, lambda parser, _: parser.add_argument("things", nargs="*"))
    assert alice.run(*words).json == {
        "cwd": "notes",
        "flags": [True, True, False],
        "args": {"things": ["x"]},
    }


def test_options_may_stand_between_arguments(alice: Person, verb: Callable[..., None]) -> None:
    def configure(parser: argparse.ArgumentParser, name: str) -> None:
        parser.add_argument("-m", required=True)
        parser.add_argument("paths", nargs="*")

    verb("probe", lambda _, args: Answer(vars(args)), configure)
    assert alice.lace("probe", "a", "-m", "why", "b") == {"m": "why", "paths": ["a", "b"]}
    assert alice.lace("probe", "-m", "why", "--", "-a") == {"m": "why", "paths": ["-a"]}


def test_two_words_win_over_one(alice: Person, verb: Callable[..., None]) -> None:
    def take(parser: argparse.ArgumentParser, _: str) -> None:
        parser.add_argument("-n", type=int)
        parser.add_argument("rest", nargs="*")

    def run(context: Context, args: argparse.Namespace) -> Answer:
        return Answer({"verb": context.verb, "rest": args.rest})

    verb("probe", run, take)
    verb("probe deep", run, take)
    assert alice.lace("probe", "deep", "x") == {"verb": "probe deep", "rest": ["x"]}
    assert alice.lace("probe", "x") == {"verb": "probe", "rest": ["x"]}
    assert alice.lace("probe") == {"verb": "probe", "rest": []}
    assert alice.lace("probe", "-v", "deep") == {"verb": "probe deep", "rest": []}
    assert alice.lace("probe", "--", "deep") == {"verb": "probe", "rest": ["deep"]}
    assert alice.lace("probe", "-n", "5", "deep") == {"verb": "probe", "rest": ["deep"]}


def test_answer_carries_its_exit_code(alice: Person, verb: Callable[..., None]) -> None:
    verb("probe", lambda _context, _args: Answer({"conflicts": 1}, "! 1 conflict", 1))
    assert alice.lace("probe", expect=1) == {"conflicts": 1}
    assert alice.text("probe", expect=1) == "! 1 conflict\n"


def test_streaming_verbs_print_one_object_a_line(alice: Person, verb: Callable[..., None]) -> None:
    def run(context: Context, _: argparse.Namespace) -> int:
        for number in range(3):
            context.emit({"n": number}, f"number {number}")
        raise StickGone("The stick is gone.")

    verb("probe", run)
    lines = alice.stream("probe", expect=21)
    assert lines[:3] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert lines[3] == {"error": {"code": "test-stick-gone", "message": "The stick is gone.", "hint": "Put it back."}}
    plain = alice.run("probe")
    assert plain.text == "number 0\nnumber 1\nnumber 2\n"
    assert plain.err == "The stick is gone.\nPut it back.\n"


def test_bytes_are_printed_as_they_are(alice: Person, verb: Callable[..., None]) -> None:
    def run(context: Context, _: argparse.Namespace) -> int:
        context.write_bytes(b"\xff\x00\r\n")
        return 0

    verb("probe", run)
    assert alice.run("probe").out == alice.run("--json", "probe").out == b"\xff\x00\r\n"


def test_talk_goes_to_stderr_and_quiet_silences_it(alice: Person, verb: Callable[..., None]) -> None:
    def run(context: Context, _: argparse.Namespace) -> Answer:
        context.say("Reading\x1b[2J the folder.")
        context.detail("3 files skipped.")
        return Answer({}, "done")

    verb("probe", run)
    assert alice.run("probe").err == "Reading\\x1b[2J the folder.\n"
    assert alice.run("-v", "probe").err == "Reading\\x1b[2J the folder.\n3 files skipped.\n"
    assert alice.run("-q", "probe").err == ""
    assert alice.run("-q", "probe").text == "done\n"


def test_quiet_leaves_out_that_all_went_well(alice: Person) -> None:
    """What was asked for is still answered, and so is what needs somebody."""
    assert alice.run("-q", "init", "--name", "alice").text == ""
    alice.write("a.txt", "one")
    assert alice.run("-q", "release", "1.0.0", "--dry-run").text
    assert alice.run("-q", "release", "1.0.0").text == ""
    assert alice.run("-q", "status").text
    assert alice.run("-q", "release", "1.0.0").err
    alice.write("a.txt", "two")
    assert alice.run("-q", "--json", "commit", "-m", "more").json["commit"]


def test_a_bug_is_one_sentence_and_a_traceback_only_on_demand(alice: Person, verb: Callable[..., None]) -> None:
    """APP-14: no raw traceback reaches a person."""

    def run(_context: Context, _args: argparse.Namespace) -> int:
        raise ValueError("3 is\nnot 4")

    verb("probe", run)
    result = alice.run("--json", "probe")
    assert (result.code, result.json["error"]["code"]) == (70, "bug")
    assert "has a fault and stopped (ValueError: 3 is not 4)" in result.err
    assert "Traceback" not in result.err
    assert "Traceback" in alice.run("probe", "-v").err
    alice.environ["LACE_DEBUG"] = "1"
    assert "Traceback" in alice.run("probe").err


def test_a_bug_that_cannot_say_what_it_is_is_told_all_the_same(alice: Person, verb: Callable[..., None]) -> None:
    """APP-14: an error of Spark asks Java what to say, and Java may have ended: a raw traceback, and 1."""

    class Silent(Exception):
        def __str__(self) -> str:
            raise ConnectionRefusedError

    def run(_context: Context, _args: argparse.Namespace) -> int:
        raise Silent

    verb("probe", run)
    for words in (("--json", "probe"), ("--json", "probe", "-v")):
        result = alice.run(*words)
        assert (result.code, result.json["error"]["code"]) == (70, "bug")
        assert "has a fault and stopped (Silent)" in result.err


def test_ctrl_c_ends_with_130(alice: Person, verb: Callable[..., None]) -> None:
    def run(_context: Context, _args: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    verb("probe", run)
    result = alice.run("--json", "probe")
    assert (result.code, result.json["error"]["code"]) == (130, "cancelled")
    assert result.err.startswith("Stopped.")


def test_ctrl_c_is_no_bug_where_python_makes_another_error_of_it(alice: Person, verb: Callable[..., None]) -> None:
    """APP-14: while a module is loaded, for example; it was told as a fault that is to be reported."""

    def run(_context: Context, _args: argparse.Namespace) -> int:
        raise RuntimeError("Error calling __set_name__ on 'Field' instance") from KeyboardInterrupt()

    verb("probe", run)
    result = alice.run("--json", "probe")
    assert (result.code, result.json["error"]["code"]) == (130, "cancelled")


_ASKED = """
import os, signal, sys
class Loading:
    def find_spec(self, name, *_):
        if name == {when!r}:
            os.kill(os.getpid(), signal.{name})
            os.kill(os.getpid(), signal.{name})
class Telling:
    def write(self, text):
        sys.__stderr__.write(text)
        if {when!r} in text:
            os.kill(os.getpid(), signal.SIGINT)
    def flush(self):
        pass
sys.meta_path.insert(0, Loading())
sys.stderr = Telling()
from lace_tui.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("when", "name", "code", "said"),
    [
        ("lace_tui.cli.frame", "SIGINT", -signal.SIGINT, ""),
        ("lace_tui.verbs.about", "SIGINT", 130, "Stopped.\nWhat was stored before stays.\n"),
        ("lace_tui.verbs.about", "SIGTERM", 130, "Stopped.\nWhat was stored before stays.\n"),
        ("lace_tui.verbs.about", "SIGHUP", 130, "Stopped.\nWhat was stored before stays.\n"),
        ("There is no", "SIGINT", 130, "There is no verb 'zzz'.\nSee: lace help\n"),
    ],
    ids=["before anything", "at work", "killed", "terminal closed", "again while it is told"],
)
def test_asked_to_end_at_any_time_it_never_shows_its_inside(
    alice: Person, when: str, name: str, code: int, said: str
) -> None:
    """APP-14: within the first tenth of a second Ctrl-C printed where in its modules it was."""
    words = ["zzz"] if "There" in when else ["errors"]
    done = subprocess.run(
        [sys.executable, "-c", _ASKED.format(when=when, name=name), *words],
        capture_output=True,
        text=True,
        env={**alice.variables, "PYTHONPATH": str(ROOT)},
        check=False,
        cwd=alice.folder,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


def test_first_ctrl_c_stops_at_a_safe_point(alice: Person, verb: Callable[..., None]) -> None:
    reached = []

    def run(context: Context, _: argparse.Namespace) -> int:
        with context.cancellable() as token:
            os.kill(os.getpid(), signal.SIGINT)
            reached.append("safe point")
            token.check()
        return 0

    verb("probe", run)
    before = signal.getsignal(signal.SIGINT)
    result = alice.run("--json", "probe")
    assert reached == ["safe point"]
    assert (result.code, result.json["error"]["code"]) == (130, "cancelled")
    assert "Press Ctrl-C again" in result.err
    assert signal.getsignal(signal.SIGINT) is before


def test_lace_alone_prints_help_until_there_is_a_status(
    alice: Person, verb: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs, "VERBS", tuple(v for v in verbs.VERBS if v.name not in {"status", "tui"}))
    monkeypatch.setattr(frame, "VERBS", verbs.VERBS)
    assert alice.text() == alice.text("help")
    verb("status", lambda _context, _args: Answer({"all": "well"}, "all well"))
    verb("tui", lambda _context, _args: Answer({}, "the app"))
    alice.environ["TERM"] = "xterm"
    assert alice.text() == "all well\n"
    assert alice.run(tty=True).text == "the app\n"
    assert alice.run("--json", tty=True).json == {"all": "well"}
    alice.environ["TERM"] = "dumb"
    assert alice.run(tty=True).text == "all well\n"


def test_colour_only_for_a_capable_terminal_that_did_not_say_no(alice: Person, verb: Callable[..., None]) -> None:
    verb("probe", lambda _context, _args: Answer({}, lambda paint: paint.bad("! broken")))
    alice.environ["TERM"] = "xterm"
    assert alice.run("probe", tty=True).text == "\x1b[1;31m! broken\x1b[0m\n"
    assert alice.run("probe").text == "! broken\n"
    alice.environ["NO_COLOR"] = "1"
    assert alice.run("probe", tty=True).text == "! broken\n"
    alice.environ.update(NO_COLOR="", TERM="dumb")
    assert alice.run("probe", tty=True).text == "! broken\n"


def test_real_process_says_the_same(alice: Person) -> None:
    for words in (["--version"], ["--json", "help"], ["--json", "nonsense"]):
        here, there = alice.run(*words), alice.real(*words)
        assert (here.code, here.out, here.err) == (there.code, there.out, there.err)


def test_a_reader_that_goes_away_is_no_drama(alice: Person) -> None:
    environ = {**alice.variables, "PYTHONPATH": str(ROOT)}
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "lace_tui", "help"],
        stdout=write,
        stderr=subprocess.PIPE,
        env=environ,
        check=False,
        cwd=alice.folder,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


_LEFT = {
    "nothing": "",
    "a callback": "import atexit; atexit.register(print, 'called', flush=True)",
    "a thread": "import threading; gate = threading.Event(); "
    "threading.Thread(target=lambda: (gate.wait(), print('called', flush=True))).start()",
}


@pytest.mark.parametrize("left", _LEFT)
def test_a_command_ends_with_its_code_after_all_that_is_left_to_do(alice: Person, left: str) -> None:
    """It ends at once where nothing is left, and still calls and waits for what Python would call and wait for."""
    environ = {**alice.variables, "PYTHONPATH": str(ROOT)}
    begun = f"import sys\n{_LEFT[left]}\nfrom lace_tui.__main__ import main\ncode = main()\n"
    for words, code in (["--version"], 0), (["no-such-verb"], 2):
        # Where it returns, somebody goes on: here it lets the thread end.
        script = begun + "print('returned')\nif 'gate' in globals():\n    gate.set()\nsys.exit(code)"
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True, env=environ, check=False
        )
        said = "" if left == "nothing" else "returned\ncalled\n"
        assert (done.returncode, done.stdout) == (code, (f"lace {__version__}\n" if not code else "") + said)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")  # noqa: PTH110
def test_a_full_disk_under_stdout_is_told(alice: Person) -> None:
    environ = {**alice.variables, "PYTHONPATH": str(ROOT)}
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "lace_tui", "help"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environ,
            check=False,
            cwd=alice.folder,
        )
    assert done.returncode == 19
    assert b"The answer cannot be written: no space left on device." in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 19), ("2>&-", 0), ("<&- >&- 2>&-", 19)])
def test_a_stream_that_the_caller_closed_is_no_bug(alice: Person, closed: str, code: int) -> None:
    """As some services start what they run: the first file that is opened must not get the number of a stream."""
    alice.lace("init", "--name", "alice")
    command = f"exec '{sys.executable}' -m lace_tui log {closed}"
    environ = {**alice.variables, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], env=environ, check=False, cwd=alice.folder, capture_output=True)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert (b"The answer cannot be written" in done.stderr) == (closed == ">&-")


def test_names_of_files_are_utf_8_whatever_the_language_of_the_shell(alice: Person) -> None:
    """APP-12: under Latin-1 a friend got `Ã©.md` for `é.md`, and under ASCII a name was told as damage."""
    alice.lace("init", "--name", "alice")
    alice.write("é.md", "x\n")
    environ = {**alice.variables, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONUTF8": "0", "COLUMNS": "60"}
    done = subprocess.run(
        [sys.executable, "-m", "lace_tui", "commit", "-m", "ünder"],
        env=environ,
        check=False,
        cwd=alice.folder,
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert alice.text("changes") == "Nothing changed.\n"
    assert alice.lace("read", "y", "main")["value"]["children"] == ["é.md"]
    assert alice.lace("log")["entries"][0]["message"] == "ünder"


def test_words_that_name_nothing_are_no_bug(alice: Person) -> None:
    """Bytes that are no UTF-8, names longer than a file's may be, nobody's home, numbers beyond the store's."""
    alice.lace("init", "--name", "alice")
    long = "x" * 300
    for words, code in (
        (("peers", "\udc80"), "bad-arguments"),
        (("sync", "\udcff"), "bad-arguments"),
        (("-C", long, "status"), "folder-missing"),
        (("-C", "~nobody-is-called-that", "status"), "folder-missing"),
        (("bundle", "apply", long), "file-missing"),
    ):
        result = alice.run("--json", *words)
        assert result.json["error"]["code"] == code, words
    assert alice.run("bundle", "create", long).code not in {0, 70}
    alice.lace("prune", "--keep", str(10**20), "--dry-run")


@pytest.mark.parametrize(
    "words",
    [
        ("commit", "-m", "bad\udcffbytes"),
        ("release", "1.0.0", "-m", "bad\udcffbytes"),
        ("revoke", "self", "-m", "bad\udcffbytes"),
        ("resolve", "x", "--prefer", "local", "-m", "bad\udcffbytes"),
        ("place", "add", "bad\udcffbytes", "../stick"),
        ("label", "bad\udcffbytes"),
        ("invite", "bad\udcffbytes"),
        ("desk", "add", "bad\udcffbytes", "songs"),
        ("init", "--name", "alice", "--group", "bad\udcffbytes"),
    ],
)
def test_a_text_in_another_encoding_is_told_as_that(alice: Person, words: tuple[str, ...]) -> None:
    """APP-5, APP-14: it was told as damaged data, with 47, or as a control character that it does not hold."""
    if words[0] != "init":
        alice.lace("init", "--name", "alice")
        alice.write("a.txt", "a\n")
    told = alice.lace(*words, expect=2)["error"]
    assert "is not text in UTF-8" in told["message"]
    assert "bad\\udcffbytes" in told["message"]


def test_an_answer_that_is_no_text_is_no(alice: Person, tmp_path: Path) -> None:
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    result = alice.run("sync", "stick", "--confirm", stdin=b"\xff\xfe\n")
    assert (result.code, "Nothing was moved" in result.text) == (1, True)


def test_errors_table_has_exit_codes_and_the_bug(alice: Person) -> None:
    data = alice.lace("errors")
    codes = {row["code"]: row["exit_code"] for row in data["errors"]}
    assert codes["unknown-verb"] == 2
    assert codes["disk-full"] in range(10, 20)
    assert codes["bug"] == 70
    assert codes["cancelled"] == 130
    assert {row["exit_code"] for row in data["exit_codes"]} >= {"0", "1", "2", "10-19", "70", "130"}
    text = alice.text("errors")
    assert all(code in text for code in codes if not code.startswith("test-"))


def test_config_path(alice: Person) -> None:
    data = alice.lace("config", "path")
    assert data["vault"] is None
    assert data["user"] == str(alice.home / "lace" / "config.toml")
    (alice.folder / ".vault").mkdir()
    (alice.folder / "deep" / "er").mkdir(parents=True)
    found = alice.lace("config", "path", cwd=alice.folder / "deep" / "er")
    assert found["vault"] == str(alice.folder / ".vault" / "config.toml")
    assert json.loads(alice.run("--json", "-C", "deep", "config", "path").out) == found


@pytest.mark.parametrize(("name", "shown"), [("not\udcffutf8", "not\\xffutf8"), ("red\x1b[31m", "red\\x1b[31m")])
def test_config_path_shows_any_name_as_every_command_does(alice: Person, name: str, shown: str) -> None:
    """APP-14: faults.md row 35."""
    alice.environ["LACE_HOME"] = str(alice.home / name)
    assert f"keys  {alice.home / shown / 'keys'}\n" in alice.text("config", "path")


@pytest.mark.parametrize("verb", ["sync", "why", "update", "release", "config get", "checkout", "pull"])
def test_an_address_where_another_word_was_asked_for_is_not_repeated_with_its_password(
    alice: Person, verb: str
) -> None:
    """CYB-15: it was pasted into the wrong command, and errors are pasted on."""
    alice.lace("init", "--name", "alice")
    told = alice.run(*verb.split(), "https://alice:geheim@host.example/v.git")
    assert told.code != 0
    assert "geheim" not in told.err + told.out.decode()
