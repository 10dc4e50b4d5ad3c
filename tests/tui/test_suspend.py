"""Ctrl-Z: the terminal goes back to the shell, and `fg` to the same screen; and one that goes for good (APP-3)."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path

import pytest

from lace_tui.app.lace import LaceApp
from lace_tui.cli.message import edit_file
from lace_tui.screenshots import Story
from tests.jobs import JOB_SHELL
from tests.people import ROOT, Person
from tests.tui.conftest import press, settle

_ALTERNATE, _FORMER = b"\x1b[?1049h", b"\x1b[?1049l"  # the screen of a program, and that of the shell


_TOLD = "at.txt"  # where a program writes every ten seconds what each of its threads is at
_LACE = f"""
import faulthandler, runpy, sys
faulthandler.dump_traceback_later(10, repeat=True, file=open(sys.argv.pop(1) + "/{_TOLD}", "w"))
runpy.run_module("lace_tui", run_name="__main__", alter_sys=True)
"""


def _lace(tmp_path: Path, *words: str) -> list[str]:
    """Return the command that begins lace, and tells in a directory where it is if it stands still."""
    return [sys.executable, "-c", _LACE, str(tmp_path), *words]


def _at(tmp_path: Path) -> str:
    told = tmp_path / _TOLD
    return told.read_text() if told.exists() else "nothing was told"


def _reader(terminal: int, tmp_path: Path) -> Callable[[bytes], None]:
    """Give a terminal its size; return what reads on until some bytes came, or says where the program stands still."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    shown = b""

    def read_until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            is_there = select.select([terminal], [], [], 20)[0]
            assert is_there, f"{text!r} did not come: {shown[-500:]!r}\n{_at(tmp_path)}"
            shown += os.read(terminal, 65536)
        shown = shown.partition(text)[2]

    return read_until


def _open_conflict(terminal: int, read_until: Callable[[bytes], None]) -> None:
    """Go from Home to the first conflict, in Resolve."""
    read_until(b"Places and peers")
    os.write(terminal, b"2")
    read_until(b"lace resolve")
    os.write(terminal, b"\r")
    read_until(b"RESULT")


@pytest.mark.parametrize("shell", [[sys.executable, "-c", JOB_SHELL], []], ids=["shell", "none"])
def test_the_app_pauses_where_a_shell_can_wake_it_and_goes_on_where_none_can(
    alice: Person, shell: list[str], tmp_path: Path
) -> None:
    """APP-3: the key did nothing. Where no shell can wake it, it must not stand still for good."""
    alice.lace("init", "--name", "alice")
    words = [*shell, *_lace(tmp_path)]
    process, terminal = pty.fork()
    if not process:
        os.chdir(alice.folder)
        os.execve(words[0], words, {**alice.variables, "TERM": "xterm", "PYTHONPATH": str(ROOT)})
    read_until = _reader(terminal, tmp_path)
    try:
        read_until(_ALTERNATE)
        read_until(b"Places and peers")
        os.write(terminal, b"\x1a")
        read_until(_FORMER)
        if shell:
            read_until(b"woken")
        read_until(_ALTERNATE)
        read_until(b"Places and peers")
        os.write(terminal, b"q")
        read_until(_FORMER)
        with suppress(OSError):  # the end of the last one that has this terminal
            while select.select([terminal], [], [], 20)[0] and os.read(terminal, 65536):
                pass
    finally:
        with suppress(OSError):
            if (group := os.tcgetpgrp(terminal)) > 0:  # none where all have ended
                os.killpg(group, signal.SIGKILL)
        os.kill(process, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(process, 0)


def test_the_app_takes_its_terminal_back_from_an_editor_that_fails(story: Story, tmp_path: Path) -> None:
    """APP-3: the app was gone from sight and answered no key after it, nor after one that cannot be started."""
    home = story.root / "homes" / "alice"
    variables = {"HOME": str(tmp_path), "LACE_HOME": str(home), "PATH": os.environ.get("PATH", os.defpath)}
    words = _lace(tmp_path)
    process, terminal = pty.fork()
    if not process:
        os.chdir(story.folder("alice"))
        os.execve(words[0], words, {**variables, "TERM": "xterm", "EDITOR": "false", "PYTHONPATH": str(ROOT)})
    read_until = _reader(terminal, tmp_path)
    try:
        _open_conflict(terminal, read_until)
        os.write(terminal, b"E")
        read_until(_FORMER)
        read_until(_ALTERNATE)
        read_until(b"ended with")
        os.write(terminal, b"q")
        read_until(_FORMER)
    finally:
        os.kill(process, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(process, 0)


async def test_an_editor_that_fails_leads_to_what_the_app_has(
    app: LaceApp, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: the way out was `lace commit -m TEXT`, which decides nothing; the app has a key to edit here."""
    app._edit = partial(edit_file, editor="false")
    monkeypatch.setattr(app, "suspend", nullcontext)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "2", "enter", "E")
        (note,) = app._notifications
    assert "The editor false ended with 1, so nothing was changed. Edit here with e" in note.message
    assert "lace commit" not in note.message


def test_the_app_ends_with_its_terminal_where_no_signal_says_that_it_is_gone(alice: Person, tmp_path: Path) -> None:
    """APP-3: started by what lets SIGHUP pass, as nohup does, it read a terminal that is gone on and on."""
    alice.lace("init", "--name", "alice")
    words = _lace(tmp_path)
    process, terminal = pty.fork()
    if not process:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.chdir(alice.folder)
        os.execve(words[0], words, {**alice.variables, "TERM": "xterm", "PYTHONPATH": str(ROOT)})
    try:
        shown = b""
        while _ALTERNATE not in shown or b"Places and peers" not in shown:
            assert select.select([terminal], [], [], 20)[0], _at(tmp_path)
            shown += os.read(terminal, 65536)
        os.close(terminal)
        ended, status = 0, 0
        for _ in range(200):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                break
            time.sleep(0.1)
        assert ended == process, _at(tmp_path)
        assert os.WIFEXITED(status)
    finally:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


_EDITOR = """
import signal, sys, time
heard = []
signal.signal(signal.SIGINT, lambda *_: heard.append(1))
print("in the editor", flush=True)
while not heard:
    time.sleep(0.05)
open(sys.argv[1], "a").write("edited to its end")
print("out of it", flush=True)
"""
"""An editor in which Ctrl-C means something of its own; it goes on until then."""


@pytest.fixture
def editor(tmp_path: Path) -> str:
    """Return the command of an editor that is used to Ctrl-C."""
    file = tmp_path / "editor.py"
    file.write_text(_EDITOR)
    return f"'{sys.executable}' '{file}'"


def _started(folder: Path, variables: dict[str, str], words: list[str]) -> tuple[int, int]:
    process, terminal = pty.fork()
    if not process:
        os.chdir(folder)
        os.execve(words[0], words, {**variables, "TERM": "xterm", "PYTHONPATH": str(ROOT)})
    return process, terminal


def _ended(process: int) -> int | None:
    """Return what a process ended with, once it did; None where it goes on."""
    for _ in range(200):
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    return None


def test_ctrl_c_in_an_editor_is_its_own_and_the_app_goes_on(story: Story, tmp_path: Path, editor: str) -> None:
    """APP-3: it came to the app too, which ended without a question as soon as the editor was left."""
    home = story.root / "homes" / "alice"
    variables = {"HOME": str(tmp_path), "LACE_HOME": str(home), "PATH": os.environ.get("PATH", os.defpath)}
    process, terminal = _started(story.folder("alice"), {**variables, "EDITOR": editor}, _lace(tmp_path))
    read_until = _reader(terminal, tmp_path)
    try:
        _open_conflict(terminal, read_until)
        os.write(terminal, b"rE")
        read_until(b"in the editor")
        os.write(terminal, b"\x03")
        read_until(b"out of it")
        read_until(_ALTERNATE)
        read_until(b"as edited")
        os.write(terminal, b"q")
        read_until(_FORMER)
        assert _ended(process) == 0, _at(tmp_path)
    finally:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        os.close(terminal)


def test_ctrl_c_in_the_editor_of_a_commit_is_its_own(alice: Person, tmp_path: Path, editor: str) -> None:
    """APP-3: it ended the commit, and its message was gone while the editor had it still."""
    alice.lace("init", "--name", "alice")
    (alice.folder / "soup.md").write_text("soup")
    process, terminal = _started(alice.folder, {**alice.variables, "EDITOR": editor}, _lace(tmp_path, "commit"))
    read_until = _reader(terminal, tmp_path)
    try:
        read_until(b"in the editor")
        os.write(terminal, b"\x03")
        read_until(b"out of it")
        assert _ended(process) == 0, _at(tmp_path)
    finally:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        os.close(terminal)
    assert "edited to its end" in str(alice.lace("log"))
