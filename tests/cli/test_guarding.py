"""A key that opens with a passphrase only, from the first command to a new key (APP-11)."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.jobs import JOB_SHELL
from tests.people import ROOT, Person
from vault.identity.keys import KeyStore
from vault.records import Verifier

_QUESTION = b"Passphrase of your key: "


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real argon2id, with the least it takes."""
    made = KeyStore.__init__

    def light(self: KeyStore, root: Path) -> None:
        made(self, root, ops=1, memory=8 << 20)

    monkeypatch.setattr(KeyStore, "__init__", light)


@contextmanager
def knowing(person: Person, passphrase: str) -> Iterator[None]:
    """Let a person's commands read a passphrase from a descriptor."""
    path = person.home / "passphrase"
    path.write_text(f"{passphrase}\n" * 20)  # each command reads a line, or more, and goes on where it likes
    handle = os.open(path, os.O_RDONLY)
    person.environ["LACE_PASSPHRASE_FD"] = str(handle)
    try:
        yield
    finally:
        del person.environ["LACE_PASSPHRASE_FD"]
        os.close(handle)
        path.unlink()


def _key_file(person: Person) -> Path:
    node = Verifier.parse(person.lace("id")["node"])
    return KeyStore(person.home / "lace").path(node)


def test_a_protected_key_signs_only_with_its_passphrase(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    plain = _key_file(alice).read_bytes()
    assert b"\nseed " in plain
    assert alice.run("key", "protect").code != 0  # nobody can be asked
    assert _key_file(alice).read_bytes() == plain
    with knowing(alice, "four words of mine"):
        assert alice.lace("key", "protect")["protected"] is True
    sealed = _key_file(alice).read_bytes()
    assert b"\nsealed argon2id " in sealed
    assert b"\nseed " not in sealed
    assert _key_file(alice).stat().st_mode & 0o077 == 0
    alice.write("a.txt", "one\n")
    locked = alice.run("release", "1.0.0")
    assert 10 <= locked.code < 20
    assert "passphrase" in locked.err
    assert alice.lace("status")["desks"][0]["version"] is None  # reading needs no key
    with knowing(alice, "four words of yours"):
        assert 10 <= alice.run("release", "1.0.0").code < 20
        assert alice.run("key", "unprotect").code != 0
    assert _key_file(alice).read_bytes() == sealed
    with knowing(alice, "four words of mine"):
        assert alice.lace("release", "1.0.0")["version"] == "1.0.0"
        again = alice.run("key", "protect")
        assert (again.code, "already" in again.err) == (2, True)
    with knowing(alice, "four words of mine"):
        assert alice.lace("key", "unprotect")["protected"] is False
    assert _key_file(alice).read_bytes() == plain
    assert "no passphrase" in alice.text("key", "unprotect")


def test_a_new_key_is_protected_as_the_old_one_was(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    with knowing(alice, "four words"):
        alice.lace("key", "protect")
    with knowing(alice, "four words"):
        assert alice.lace("adopt", "--yes")["admitted"] is True
    assert b"\nsealed argon2id " in _key_file(alice).read_bytes()
    with knowing(alice, "four words"):
        alice.write("a.txt", "one\n")
        assert alice.lace("release", "1.0.0")["version"] == "1.0.0"


def test_a_passphrase_is_typed_twice(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    alice.lace("init", "--name", "alice")
    typed = iter(["one", "two", "same", "same", ""])
    monkeypatch.setattr("getpass.getpass", lambda _prompt, stream: typed.__next__() if stream else "")
    differ = alice.run("key", "protect", tty=True)
    assert (differ.code, "differ" in differ.err) == (2, True)
    assert b"\nseed " in _key_file(alice).read_bytes()
    assert alice.run("key", "protect", tty=True).code == 0
    assert b"\nsealed " in _key_file(alice).read_bytes()


def test_ctrl_c_leaves_the_question_for_a_passphrase_at_once(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-3: nothing is under way while somebody is asked, so that one Ctrl-C is enough also amid a release."""

    def asked(_prompt: str, stream: object) -> str:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("it went on asking")

    alice.lace("init", "--name", "alice")
    with knowing(alice, "four words"):
        alice.lace("key", "protect")
    alice.write("a.txt", "one\n")
    monkeypatch.setattr("getpass.getpass", asked)
    stopped = alice.run("release", "1.0.0", tty=True)
    assert (stopped.code, stopped.err.splitlines()[:2]) == (130, ["", "Stopped."]), "not behind the question"
    with knowing(alice, "four words"):
        assert alice.lace("release", "1.0.0")["version"] == "1.0.0"


@pytest.mark.parametrize("shell", [[sys.executable, "-c", JOB_SHELL], []], ids=["shell", "none"])
def test_a_passphrase_stays_hidden_after_a_pause(alice: Person, shell: list[str]) -> None:
    """APP-11: after Ctrl-Z and `fg` the terminal showed what was typed. Where no shell can wake it, it goes on."""
    alice.lace("init", "--name", "alice")
    words = [*shell, sys.executable, "-m", "lace_tui", "key", "protect"]
    process, terminal = pty.fork()
    if not process:
        os.chdir(alice.folder)
        os.execve(words[0], words, {**alice.variables, "TERM": "xterm", "PYTHONPATH": str(ROOT)})
    shown = b""

    def read_until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            assert is_said(60), f"{text!r} did not come: {shown!r}"
            shown += os.read(terminal, 4096)

    def is_said(within: float) -> bool:
        return bool(select.select([terminal], [], [], within)[0])

    try:
        read_until(_QUESTION)
        shown = b""
        for _ in range(60):
            os.write(terminal, b"\x1a")  # Ctrl-Z; one that comes just before it listens is heard with the next
            if is_said(1):
                break
        if shell:
            read_until(b"woken")
        read_until(_QUESTION)
        os.write(terminal, b"four words\n")
        read_until(b"Once more")
        os.write(terminal, b"\x03")  # Ctrl-C
        read_until(b"Stopped.")
        assert b"four words" not in shown
    finally:
        os.kill(process, signal.SIGCONT)  # where a shell is needed, it stands still
        os.close(terminal)
        os.waitpid(process, 0)


def test_the_end_of_input_is_no_passphrase(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-14: Ctrl-D at the question was reported as a fault of lace, with exit code 70."""

    def asked(_prompt: str, stream: object) -> str:
        raise EOFError

    alice.lace("init", "--name", "alice")
    monkeypatch.setattr("getpass.getpass", asked)
    ended = alice.run("key", "protect", tty=True)
    assert (ended.code, ended.err.splitlines()[-2:][0]) == (16, "No passphrase was typed.")
    assert b"\nseed " in _key_file(alice).read_bytes()


def test_an_empty_passphrase_is_none(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    with knowing(alice, ""):
        assert alice.run("key", "protect").code != 0
    assert b"\nseed " in _key_file(alice).read_bytes()
