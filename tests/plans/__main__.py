"""Every command with a dry run in every state: python -m tests.plans [STATE...]."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.people import person_in
from tests.plans.comparing import COMMANDS, differences, put_back, typed
from tests.plans.states import STATES, made


def main(names: list[str]) -> int:
    """Compare in some states, or in all; return 1 if anything differs."""
    bad = 0
    with tempfile.TemporaryDirectory(prefix="plans-") as base:
        root, saved = Path(base) / "now", Path(base) / "saved"
        for name in names or list(STATES):
            _print(f"{name}")
            root.mkdir()
            made(root, name)
            shutil.copytree(root, saved, symlinks=True)
            for command in COMMANDS:
                put_back(saved, root)
                bob = person_in(root, "bob")
                for found in differences(words, bob) if (words := typed(command, bob)) else ():
                    bad += 1
                    _print(f"  lace {command}: {found}")
            shutil.rmtree(root)
            shutil.rmtree(saved)
    _print(f"{bad} differences")
    return 1 if bad else 0


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
