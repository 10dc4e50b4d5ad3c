"""People who use lace in tests: each with a home, a folder and a way to run commands."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lace_tui.__main__ import main
from lace_tui.cli.context import World

__all__ = ["ROOT", "Person", "Result", "person_in", "run_in_process"]

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Result:
    """What one command did.

    Args:
        code: exit code.
        out: bytes on standard output.
        err: text on standard error.
    """

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode()

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on standard output; fails when there is not exactly one."""
        (line,) = self.lines
        return line

    @property
    def lines(self) -> list[dict[str, Any]]:
        """All JSON objects on standard output, one a line."""
        lines: list[dict[str, Any]] = [json.loads(line) for line in self.out.splitlines()]
        assert all(isinstance(line, dict) for line in lines)
        return lines


class _Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def run_in_process(
    words: list[str], environ: dict[str, str], cwd: Path, stdin: bytes = b"", tty: bool = False, **world: Any
) -> Result:
    """Run one command inside this process; `tty` makes all three streams terminals."""
    kind = _Terminal if tty else io.TextIOWrapper
    out, err = io.BytesIO(), io.BytesIO()
    streams = World(
        environ=environ,
        cwd=cwd,
        stdin=kind(io.BytesIO(stdin), encoding="utf-8"),
        stdout=kind(out, encoding="utf-8", errors="backslashreplace"),
        stderr=kind(err, encoding="utf-8", errors="backslashreplace", write_through=True),
        **world,
    )
    code = main(words, streams)
    streams.stdout.flush()
    return Result(code, out.getvalue(), err.getvalue().decode())


@dataclass
class Person:
    """Somebody with a machine account and a folder.

    Args:
        name: what friends call them.
        home: their home folder; keys lie under it.
        folder: the folder they work in, made on first use.
        environ: additional environment variables.
        world: replacements for parts of `World`, for example `now_ns`.
    """

    name: str
    home: Path
    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    world: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def variables(self) -> dict[str, str]:
        """The person's whole environment."""
        return {
            "HOME": str(self.home),
            "LACE_HOME": str(self.home / "lace"),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **self.environ,
        }

    def run(self, *words: str, stdin: bytes = b"", tty: bool = False, cwd: Path | None = None) -> Result:
        """Run one command in this process, whatever comes of it."""
        return run_in_process(list(words), self.variables, cwd or self.folder, stdin, tty, **self.world)

    def lace(
        self, *words: str, expect: int = 0, stdin: bytes = b"", cwd: Path | None = None, json: bool = True
    ) -> dict[str, Any]:
        """Run one command with --json, check its exit code and return its one object."""
        assert json, "for text use .text()"
        result = self.run("--json", *words, stdin=stdin, cwd=cwd)
        assert result.code == expect, f"lace {' '.join(words)} ended with {result.code}:\n{result.err}"
        return result.json

    def stream(self, *words: str, expect: int = 0, stdin: bytes = b"") -> list[dict[str, Any]]:
        """Run a streaming command with --json and return all its objects."""
        result = self.run("--json", *words, stdin=stdin)
        assert result.code == expect, f"lace {' '.join(words)} ended with {result.code}:\n{result.err}"
        return result.lines

    def text(self, *words: str, expect: int = 0) -> str:
        """Run one command as people do, check its exit code and return what it printed."""
        result = self.run(*words)
        assert result.code == expect, f"lace {' '.join(words)} ended with {result.code}:\n{result.err}"
        return result.text

    def real(self, *words: str, stdin: bytes = b"", cwd: Path | None = None, timeout: float = 120) -> Result:
        """Run one command as a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "lace_tui", *words],
            input=stdin,
            capture_output=True,
            cwd=cwd or self.folder,
            env={**self.variables, "PYTHONPATH": str(ROOT)},
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr.decode(errors="backslashreplace"))

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file in the folder, with its parent folders."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file


def person_in(root: Path, name: str) -> Person:
    """Return the person of that name below a test's directory."""
    return Person(name, root / "homes" / name, root / name)
