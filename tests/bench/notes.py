"""Small text files as people keep thousands of them: notes of about 530 bytes, each with something nobody can guess.

The content decides what both sides can compress, so every benchmark of small files (W1, W4, W5) draws it here: an
identifier of 32 random bytes, one of twenty authors, and a few dozen words of one language.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["fill", "note", "notes"]

_FOLDERS = 256
_AUTHORS = 20
_WORDS = 52  # of a note
_FIRST_DAY = 1_700_000_000


def fill(folder: Path, count: int, draw: random.Random) -> None:
    """Write so many notes, spread evenly over sub-folders."""
    for path, content in notes(count, draw):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def notes(count: int, draw: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield paths and contents."""
    for number in range(count):
        yield f"{number % _FOLDERS:02x}/{number:06}.json", note(number, draw)


def note(number: int, draw: random.Random) -> bytes:
    """Return one note."""
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
