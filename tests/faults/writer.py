"""One of many writers on one vault: commits its own file again and again, and prints what each commit was.

Run as `python -m tests.faults.writer FOLDER HOME NAME COUNT`. With COUNT 0 it takes the lock inside a write, says so,
and waits to be killed.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from vault.folder import work
from vault.surroundings import Surroundings
from vault.vault import Vault


def main(folder: Path, home: Path, name: str, count: int) -> None:
    around = Surroundings(home, "61" * 16, f"{name}-desk", time.time_ns, os.urandom, time.sleep)
    with Vault(folder, around) as vault:
        if not count:
            _hold(vault)
        for number in range(1, count + 1):
            (folder / f"{name}.txt").write_text(f"{name} {number}\n")
            made = work.commit(vault, f"{name} {number}", [f"{name}.txt"])
            assert made
            print(made.commit.text, made.revision, flush=True)  # noqa: T201 - its one way to answer


def _hold(vault: Vault) -> None:
    with vault.writing() as w:
        work.seal_commit(w, vault, "never finished")
        print("held", flush=True)  # noqa: T201 - its one way to answer
        sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
