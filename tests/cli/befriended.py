"""Friends who know each other over one stick, and what they release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.people import Person, person_in


def befriend(root: Path, *names: str) -> None:
    """Let alice begin a group and everybody know everybody over one stick."""
    first, *others = (person_in(root, name) for name in ("alice", *names))
    first.lace("init", "--name", first.name)
    first.lace("place", "add", "stick", str(root / "stick"))
    for other in others:
        other.lace("accept", first.lace("invite", other.name)["invite"], "--name", other.name)
        other.lace("sync", "stick")
    for person in (first, *others, first):
        person.lace("sync", "stick")


def release(person: Person, version: str, path: str = "notes.txt", text: str = "", **files: str) -> dict[str, Any]:
    person.write(path, text or f"{person.name} {version}\n")
    for name, content in files.items():
        person.write(name, content)
    return person.lace("release", version, "-m", f"{person.name} {version}")
