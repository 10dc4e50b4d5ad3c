"""The README's first page: two people from nothing to a shared folder, with the real output of each command.

Clock and randomness are fixed, so that the same code always prints the same text and a test can compare it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from blake3 import blake3

from lace_tui.cli.context import World
from lace_tui.demo import Story
from lazy.belonging.invitations import PREFIX

__all__ = ["BEGIN", "END", "text", "weave"]

BEGIN = "<!-- tour: written by `python -m lace_tui.docs` -->"
END = "<!-- /tour -->"
_START_NS = 1_795_000_000_000_000_000
_STEP_NS = 1_000_000
_SHOWN_ROOT = "/friends"


class _Fixed:
    """A clock that steps and randomness that repeats."""

    def __init__(self) -> None:
        self._time = _START_NS
        self._draws = 0

    def now_ns(self) -> int:
        self._time += _STEP_NS
        return self._time

    def entropy(self, count: int) -> bytes:
        self._draws += 1
        return blake3(b"lace-tour" + self._draws.to_bytes(8, "little")).digest(count)


def text() -> str:
    """Run the tour in a temporary directory and return it as a console block.

    Raises:
        DemoFailed: a step did not end as told.
    """
    with tempfile.TemporaryDirectory(prefix="lace-tour-") as name:
        root = Path(name).resolve()
        lines = [line.replace(str(root), _SHOWN_ROOT) for line in _tell(root)]
    return "```console\n" + "\n".join(line.rstrip() for line in lines) + "\n```"


def weave(readme: str) -> str:
    """Return the README with its tour replaced by today's output.

    Raises:
        ValueError: the README has no place for it.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the README has no place for the tour")
    return f"{before}{BEGIN}\n{text()}\n{END}{after}"


def _tell(root: Path) -> Iterator[str]:
    fixed = _Fixed()
    said: list[str] = []
    world = World(environ={}, cwd=root, now_ns=fixed.now_ns, entropy=fixed.entropy)
    story = Story(root, world, said.append, shared="recipes")
    story.write("alice", "soup.md", "# Soup\n\nPumpkin, one.\n")
    story.write("alice", "cake.md", "# Cake\n\nFlour, eggs.\n")
    (root / "stick").mkdir()  # it is plugged in: of one that is not, more would be said
    story.lace("alice", "init", "--name", "alice")
    story.lace("alice", "place", "add", "stick", "../../stick")
    story.lace("alice", "release", "1.0.0", "-m", "our recipes")
    answer = story.lace("alice", "invite", "bob").splitlines()
    line = next(text for text in answer if text.startswith(PREFIX))
    story.lace("alice", "sync", "stick")
    story.lace("bob", "accept", line, secret=True)
    story.lace("bob", "sync", "stick")
    story.lace("alice", "sync", "stick")
    story.lace("bob", "sync", "stick")
    story.lace("bob", "update")
    story.edit("bob", "soup.md", "Pumpkin, one.", "Pumpkin, two.")
    story.lace("bob", "release", "--yes", "-m", "more pumpkin")
    story.lace("bob", "sync", "stick")
    story.lace("alice", "sync", "stick")
    story.lace("alice", "update")
    for line in said:
        yield _shown(line)


def _shown(line: str) -> str:
    """Turn a line of the story into a line of a console."""
    if line.startswith("      "):
        return f"{line[6:60]}..." if line.startswith(f"      {PREFIX}") else line[6:]
    stripped = line.strip()
    return stripped if "$ lace" in stripped else f"# {stripped}"
