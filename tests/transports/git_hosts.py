"""Git hosts for tests: bare repositories on this machine and a daemon on the loopback."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["PLAIN", "bare_repository", "daemon", "git"]

# What a person's machine may hold does not reach the repositories that tests make.
PLAIN = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Tester",
    "GIT_AUTHOR_EMAIL": "tester@example.org",
    "GIT_COMMITTER_NAME": "Tester",
    "GIT_COMMITTER_EMAIL": "tester@example.org",
    "LC_ALL": "C",
}


def git(repository: Path, *words: str, stdin: bytes = b"") -> str:
    """Run git on a repository as a person would, and return its output."""
    done = subprocess.run(
        ["git", f"--git-dir={repository}", *words], input=stdin, capture_output=True, env=PLAIN, check=True
    )
    return done.stdout.decode("utf-8", "replace").strip()


def bare_repository(path: Path) -> Path:
    """Make an empty bare repository."""
    git(path, "init", "--quiet", "--bare", str(path))
    return path


@contextmanager
def daemon(root: Path) -> Iterator[str]:
    """Serve the repositories below a directory on the loopback; yield the address to put before a name."""
    words = ["git", "daemon", "--reuseaddr", "--listen=127.0.0.1", "--export-all", "--enable=receive-pack"]
    for port in range(29418, 29518):
        process = subprocess.Popen(
            [*words, "--verbose", f"--port={port}", f"--base-path={root}", str(root)],
            env=PLAIN,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stderr is not None
        if b"Ready to rumble" in process.stderr.readline():
            break
        process.wait()
    try:
        yield f"git://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.communicate()
