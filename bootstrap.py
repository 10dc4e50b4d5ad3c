#!/usr/bin/env python3
"""Set lace up from a checkout: one command to see it, one to check it. Needs nothing but Python.

    python3 bootstrap.py demo            three people, one shared folder, the whole story
    python3 bootstrap.py test            the complete check
    python3 bootstrap.py test -- ARGS    the same, with arguments for pytest

Both make `.venv` beside this file on the first run and reuse it afterwards.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STAMP = VENV / "lace-stamp"
PACKAGES = ("lace_tui", "lazy", "spark_export", "transports", "vault")
OLDEST = (3, 11)
MEMORY = Path("/dev/shm")  # noqa: S108 - a directory is made in it, under a name that nobody knows
ROOM = 8 << 30  # bytes
CHECKS = (
    ("style", ["ruff", "check", "."]),
    ("format", ["ruff", "format", "--check", "."]),
    ("types", ["mypy"]),
    ("floors", ["lint-imports"]),
)


class SetUpFailed(Exception):
    """What the person reads when the set-up cannot go on."""


def main(argv: list[str]) -> int:
    """Do what the first word says and return an exit code."""
    if sys.version_info < OLDEST:
        return _say(
            "lace needs Python {}.{} or newer; this is {}.{}. Run this file with a newer one, "
            "for example: python3.12 bootstrap.py demo".format(*OLDEST, *sys.version_info[:2]),
            2,
        )
    command, rest = (argv[0], argv[1:]) if argv else ("", [])
    if rest[:1] == ["--"]:
        rest = rest[1:]
    try:
        if command == "demo":
            _prepare("demo")
            return _run([_tool("lace"), "demo", *rest])
        if command == "test":
            _prepare("test")
            return _check(rest)
    except SetUpFailed as error:
        return _say(str(error), 10)
    except KeyboardInterrupt:
        return _say("Stopped. The next run goes on from here.", 130)
    is_help = command in {"", "help", "-h", "--help"}
    sys.stderr.write("" if is_help else f"There is no command {command!r}.\n\n")
    return _say((__doc__ or "").strip(), 0 if is_help and command else 2)


def _check(arguments: list[str]) -> int:
    """Run every check even when one fails, the tests beside the others; what pytest says is shown last, as it comes."""
    colour = ["--color=yes"] if sys.stdout.isatty() else []
    # Two more than there are processors: tests of the app and of servers wait for a third of their time.
    workers = (os.cpu_count() or 1) + 2
    pytest = ["pytest", "-q", "-n", str(workers), "--dist", "loadgroup", *arguments]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="lace-", dir=_memory(), ignore_cleanup_errors=True) as scratch:
        Path(scratch).chmod(0o1777)  # as such directories are: some tests act as somebody else
        with _begin([_tool("python"), "-m", *pytest, *colour], TMPDIR=scratch) as tests:
            try:
                failed = _others()
                _say(f"--- tests: {' '.join(pytest)}")
                while said := os.read(tests.stdout.fileno(), 1 << 16):  # type: ignore[union-attr]
                    sys.stdout.buffer.write(said)
                    sys.stdout.buffer.flush()
            except BaseException:  # nothing may write into a directory that goes away now
                tests.terminate()
                raise
        code = tests.returncode
    return code or (1 if failed else 0)


def _others() -> list[str]:
    """Run every check but the tests, and return the names of those that failed."""
    failed = []
    for name, command in CHECKS:
        _say(f"--- {name}: {' '.join(command)}")
        if _run([_tool(command[0]), *command[1:]]):
            failed.append(name)
    if failed:
        _say(f"--- not clean: {', '.join(failed)}")
    return failed


def _memory() -> Path | None:
    """Return a directory in memory with room for all that tests write, if there is one.

    Tests flush what they write, as lace does, and would wait for a disk each time.
    """
    try:
        there = os.statvfs(MEMORY)
    except (AttributeError, OSError):  # Windows cannot be asked, and others have none
        return None
    can_run = not there.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
    return MEMORY if can_run and there.f_bavail * there.f_frsize >= ROOM and "TMPDIR" not in os.environ else None


def _prepare(mode: str) -> None:
    """Make `.venv` hold what the mode needs; does nothing when it already does."""
    stamps = {name: _stamp(name) for name in ("demo", "test")}
    have = STAMP.read_text("utf-8").strip() if STAMP.is_file() else ""
    # The set-up for tests runs the checkout itself, so it serves the demo too.
    if have == stamps["test"] or have == stamps[mode]:
        return
    if not _venv_fits():
        _make_venv()
    STAMP.unlink(missing_ok=True)
    _say("Installing lace and what it needs into .venv; this takes a minute the first time.")
    target = ["--editable", f"{ROOT}[test]"] if mode == "test" else [str(ROOT)]
    pip = [_tool("python"), "-m", "pip", "install", "-qq", "--no-input", "--disable-pip-version-check"]
    if not sys.dont_write_bytecode:  # Python compiles what it runs when it does; all of it takes half a minute
        pip.append("--no-compile")
    # Spark comes as source, and what pip packs of it for a moment is packed already: that took another half a minute.
    build = VENV / "lace-build.cfg"
    build.write_text("[bdist_wheel]\ncompression = stored\n", "utf-8")
    if _run([*pip, *target], DIST_EXTRA_CONFIG=str(build)):
        raise SetUpFailed(
            "Installing into .venv failed; pip's own words are above. If they speak of a connection, "
            "go online and run the same command again."
        )
    STAMP.write_text(stamps[mode] + "\n", "utf-8")


def _venv_fits() -> bool:
    """Whether `.venv` is there, works and belongs to this very Python."""
    try:
        found = subprocess.run(  # noqa: S603 - our own interpreter
            [_tool("python"), "-c", "import pip, sys; sys.stdout.write(sys.version)"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return False
    return found.returncode == 0 and found.stdout == sys.version


def _make_venv() -> None:
    if VENV.exists():
        if not (VENV / "pyvenv.cfg").is_file():
            raise SetUpFailed(f"{VENV} is in the way: it is not a virtual environment. Move it and run this again.")
        shutil.rmtree(VENV)
    _say(f"Making .venv with Python {sys.version.split()[0]}.")
    made = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "venv", str(VENV)],
        capture_output=True,
        text=True,
        check=False,
        env=_environment(),
    )
    if made.returncode:
        words = (made.stdout + made.stderr).strip()
        raise SetUpFailed(
            f"{words}\n\nThis Python cannot make a virtual environment. On Debian or Ubuntu install "
            "its missing part with: sudo apt install python3-venv"
        )


def _stamp(mode: str) -> str:
    """Return what `.venv` was made from: Python, pyproject.toml, and for the demo the copied sources."""
    digest = hashlib.sha256(f"{mode}\n{sys.version}\n{ROOT}\n".encode())
    files = [ROOT / "pyproject.toml"]
    if mode == "demo":
        for package in PACKAGES:
            files += sorted(path for path in (ROOT / package).rglob("*") if path.suffix != ".pyc" and path.is_file())
    for file in files:
        digest.update(f"{file.relative_to(ROOT)}\n".encode() + hashlib.sha256(file.read_bytes()).digest())
    return f"{mode} {digest.hexdigest()}"


def _tool(name: str) -> str:
    return str(BIN / (name + ".exe" if os.name == "nt" else name))


def _environment() -> dict[str, str]:
    """Return the environment without what would mix another Python's packages in."""
    unwanted = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    path = os.pathsep.join([str(BIN), kept.get("PATH", os.defpath)])
    return {**kept, "PATH": path, "PYTHONNOUSERSITE": "1"}


def _run(command: list[str], **variables: str) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    environment = {**_environment(), **variables}
    try:
        return subprocess.call(command, cwd=ROOT, env=environment)  # noqa: S603 - names from this file
    except OSError as error:
        raise _not_run(command, error) from error


def _begin(command: list[str], **variables: str) -> subprocess.Popen[bytes]:
    """Start a command whose output is read by and by."""
    try:
        return subprocess.Popen(  # noqa: S603 - names from this file
            command, cwd=ROOT, env={**_environment(), **variables}, stdout=subprocess.PIPE
        )
    except OSError as error:
        raise _not_run(command, error) from error


def _not_run(command: list[str], error: OSError) -> SetUpFailed:
    return SetUpFailed(f"{command[0]} cannot be run ({error.strerror}). Delete .venv and run this again.")


def _say(text: str, code: int = 0) -> int:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
