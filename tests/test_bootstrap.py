"""The two set-up commands say clearly what is wrong and notice what changed."""

from __future__ import annotations

import signal
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

import bootstrap

Info = namedtuple("Info", "major minor micro releaselevel serial")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small checkout of its own, so that no test touches the real `.venv`; what ends a check is heard until then."""
    before = signal.getsignal(signal.SIGTERM)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.py").write_text("a = 1\n")
    for variable, path in {"ROOT": "", "VENV": ".venv", "BIN": ".venv/bin", "STAMP": ".venv/lace-stamp"}.items():
        monkeypatch.setattr(bootstrap, variable, tmp_path / path)
    yield tmp_path
    signal.signal(signal.SIGTERM, before)


def test_an_old_python_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", Info(3, 10, 4, "final", 0))
    assert bootstrap.main(["demo"]) == 2
    assert "lace needs Python 3.11 or newer; this is 3.10." in capsys.readouterr().err


@pytest.mark.parametrize(("words", "code"), [([], 2), (["help"], 0), (["demmo"], 2)])
def test_usage(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(words) == code
    err = capsys.readouterr().err
    assert "python3 bootstrap.py demo" in err
    assert ("demmo" in err) == (words == ["demmo"])


def test_stamps_notice_what_each_set_up_depends_on(checkout: Path) -> None:
    demo, test = bootstrap._stamp("demo"), bootstrap._stamp("test")
    assert (bootstrap._stamp("demo"), bootstrap._stamp("test")) == (demo, test)
    (checkout / "vault" / "a.py").write_text("a = 2\n")
    assert bootstrap._stamp("test") == test  # it runs the checkout itself
    changed = bootstrap._stamp("demo")
    assert changed != demo
    (checkout / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert bootstrap._stamp("test") != test
    assert bootstrap._stamp("demo") != changed


def test_a_folder_in_the_way_is_left_alone(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    precious = checkout / ".venv" / "precious"
    precious.parent.mkdir()
    precious.write_text("mine")
    assert bootstrap.main(["demo"]) == 10
    assert "is in the way" in capsys.readouterr().err
    assert precious.read_text() == "mine"


def test_a_second_run_starts_at_once(checkout: Path) -> None:
    """With a fitting stamp nothing is run: here there is not even an interpreter to run."""
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "lace-stamp").write_text(bootstrap._stamp("test") + "\n")
    bootstrap._prepare("test")
    bootstrap._prepare("demo")
    (checkout / ".venv" / "lace-stamp").write_text(bootstrap._stamp("demo") + "\n")
    bootstrap._prepare("demo")
    with pytest.raises(bootstrap.SetUpFailed):
        bootstrap._prepare("test")


def test_a_python_without_venv_is_told_what_to_install(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = checkout / "python"
    broken.write_text("#!/bin/sh\necho 'ensurepip is not available' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    assert bootstrap.main(["demo"]) == 10
    err = capsys.readouterr().err
    assert "ensurepip is not available" in err
    assert "sudo apt install python3-venv" in err


@pytest.mark.parametrize(("types", "tests", "code"), [(0, 0, 0), (1, 0, 1), (0, 3, 3), (1, 3, 3)])
def test_every_check_is_run_and_the_tests_have_the_last_word(
    checkout: Path, capfd: pytest.CaptureFixture[str], types: int, tests: int, code: int
) -> None:
    """The tests run beside the checks, and what they wrote is taken away."""
    bin_ = checkout / ".venv" / "bin"
    bin_.mkdir(parents=True)
    for tool, script in {
        "ruff": "exit 0",
        "mypy": f"exit {types}",
        "lint-imports": "echo all kept",
        "python": f'touch "$TMPDIR/left"\necho "wrote in $TMPDIR"\nexit {tests}',
    }.items():
        (bin_ / tool).write_text(f"#!/bin/sh\n{script}\n")
        (bin_ / tool).chmod(0o755)
    (checkout / ".venv" / "lace-stamp").write_text(bootstrap._stamp("test") + "\n")
    assert bootstrap.main(["test"]) == code
    said = capfd.readouterr()
    kept, wrote = said.out.splitlines()
    assert kept == "all kept"
    assert not Path(wrote.removeprefix("wrote in ")).exists()
    assert ("--- not clean: types" in said.err) == bool(types)


def test_tests_write_to_memory_only_where_there_is_plenty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(bootstrap, "MEMORY", tmp_path)
    monkeypatch.setattr(bootstrap, "ROOM", 1)
    assert bootstrap._memory() == tmp_path
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert bootstrap._memory() is None, "somebody chose another place"
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(bootstrap, "ROOM", 1 << 62)
    assert bootstrap._memory() is None
    monkeypatch.setattr(bootstrap, "MEMORY", tmp_path / "nowhere")
    assert bootstrap._memory() is None
