"""`lace status` asked again while nothing changed: the kept answer, without loading the program (LAZ-56).

What is not plainly this case goes the usual way, which also finds the words for everything that is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TextIO

from lace_tui import __version__

__all__ = ["kept_status", "stamp"]


def kept_status(argv: Sequence[str], environ: Mapping[str, str], stdout: TextIO) -> bool:
    """Print the kept answer and return True, or return False when the whole program is needed."""
    words, directory = list(argv), ""
    while len(words) > 2 and words[0] == "-C" and not words[1].startswith("~"):
        directory = os.path.join(directory, words[1])  # noqa: PTH118 - pathlib alone takes as long as the look-up
        del words[:2]
    if words not in (["status"], ["--json", "status"], ["status", "--json"]):
        return False
    try:
        folder = _vault_folder(os.path.join(os.getcwd(), directory) if directory else os.getcwd())  # noqa: PTH109, PTH118
        if folder is None:
            return False
        from lazy.remembered import recall  # noqa: PLC0415 - other verbs do not need it

        is_colour = stdout.isatty() and not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"
        form = "json" if "--json" in words else "colour" if is_colour else "text"
        answer = recall(f"{folder}/.vault/store.db", stamp(folder), form)
        if answer is None:
            return False
        stdout.write(answer + "\n")
        stdout.flush()
    except (OSError, ValueError):
        return False
    return True


def stamp(folder: str) -> str:
    """Return what a kept answer depends on besides the store."""
    return f"{__version__} {folder}"


def _vault_folder(start: str) -> str | None:
    here = start
    while True:
        if os.path.isdir(here + "/.vault"):  # noqa: PTH112
            return here if os.path.isfile(here + "/.vault/store.db") else None  # noqa: PTH113
        above = os.path.dirname(here)  # noqa: PTH120
        if above == here:
            return None
        here = above
