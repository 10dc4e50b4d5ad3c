"""Small text files as people keep thousands of them: notes of about 530 bytes, each with something nobody can guess.

The content decides what both sides can compress, so every benchmark of small files (W1, W4, W5) draws it here: an
identifier of 32 random bytes, one of twenty authors, and a few dozen words of one language.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

__all__ = ["fill"]

_FOLDERS = 256
_AUTHORS = 20
_WORDS = 52  # of a note
_FIRST_DAY = 1_700_000_000


def fill(folders: Sequence[Path], count: int, draw: random.Random, start: int = 0) -> None:
    """Write so many notes into each of the folders, the same ones, spread evenly over sub-folders.

    Args:
        folders: where to.
        count: how many notes.
        draw: decides what is in them.
        start: the number of the first one.
    """
    for number in range(start, start + count):
        content = _note(number, draw)
        for folder in folders:
            file = folder / f"{number % _FOLDERS:02x}" / f"{number:06}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def _note(number: int, draw: random.Random) -> bytes:
    fields = {
        "id": draw.randbytes(32).hex(),
        "author": f"{draw.randrange(_AUTHORS):064x}",
        "number": number,
        "at": _FIRST_DAY + number,
        "body": " ".join(draw.choices(_language(), k=_WORDS)),
    }
    return json.dumps(fields).encode() + b"\n"


@cache
def _language() -> tuple[str, ...]:
    """Return the words of a text that every Python brings, as often as it uses them."""
    return tuple(re.findall(r"[a-z]{3,}", Path(argparse.__file__).read_text(encoding="utf-8")))
