"""What a plan answers, beside what the doing answers then in the same state."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from tests.people import Person, person_in

__all__ = ["COMMANDS", "differences", "typed"]

_STORE: Final = "store.db"
_STRATEGIES = ("init", "fine", "meet", "mate", "meld", "only-this", "only-that", "take-that", "meet-this")
COMMANDS: Final[tuple[str, ...]] = (
    *(f"checkout {what}" for what in ("main", "main@1", "main@2", "main@3", "alice/main")),
    *(f"checkout {what} song.txt" for what in ("main", "main@1", "alice/main")),
    *(f"checkout {what} song.txt --keep-edits" for what in ("main", "main@1", "alice/main")),
    "checkout main@1 deep",
    "checkout main@1 deep --keep-edits",
    "checkout main@1 .",
    "checkout main@2 . --keep-edits",
    "checkout alice/main new.txt --keep-edits",
    "checkout alice/songs la.txt",
    "commit -m out --keep-out song.txt",
    "commit -m out --keep-out deep",
    *(f"merge main --from alice/main --strategy {name}" for name in _STRATEGIES),
    "merge main --from main@1 --strategy only-that",
    "merge songs --from alice/songs --strategy init",
    "release --yes",
    "release 9.0.0",
    "release 1.0.0",
    "release --yes --desk songs",
    "undo",
    "update",
    "update --from alice",
    "update --from alice@1.0.0",
    "update songs",
    "bundle apply BUNDLE",
    "sync stick",
    "sync --all",
    "push stick",
    "pull stick",
    "export EXPORT",
    "prune --yes",
    "prune --yes --keep 2",
    "revoke alice --yes",
    "resolve CONFLICT --prefer local",
    "resolve CONFLICT --prefer alice",
    "resolve CONFLICT --merged 9.0.0",
    "resolve CONFLICT --merged 9.0.0 --path song.txt --take alice",
    "resolve CONFLICT --merged 1.0.0",
    "resolve CONFLICT --accept",
    "resolve --all --prefer local",
)
"""Every command that has a dry run, without it; capitals stand for what a state has."""

_SAME = frozenset(
    [
        "added",
        "changed",
        "deleted",
        "written",
        "skipped",
        "kept",
        "lone",
        "pushed_out",
        "desk",
        "relation",
        "merged",
        "merge_base",
        "waiting",
        "refused",
        "away",
        "more",
        "ended",
        "lacking",
        "parts",
        "sources",
        "versions",
        "unmapped",
        "news",
        "version",
        "files",
        "bytes",
        "first",
        "earlier_commits",
        "since_release",
        "unedited",
        "own",
        "last_seq",
        "what",
        "strategy",
        "kept_states",
        "freed",
        "commits",
        "records",
        "tables",
        "problems",
    ]
)
"""What a plan and the answer both say of what is done, by its name in JSON; how a visit went is not planned."""


def typed(command: str, bob: Person) -> list[str]:
    """Return a command as it is typed in a state; nothing where the state lacks what it is about."""
    root = bob.folder.parent
    named = {"BUNDLE": str(root / "bundle"), "EXPORT": str(root / "export")}
    words = command.split()
    if "CONFLICT" in words:
        found = bob.run("--json", "conflicts").json.get("conflicts", [])
        if not found:
            return []
        named["CONFLICT"] = found[0]["id"]
    if "BUNDLE" in words:
        made = person_in(root, "alice").run("bundle", "create", named["BUNDLE"])
        assert made.code in {0, 1}, made.err  # 1 where she has to decide something
    return [named.get(word, word) for word in words]


def differences(words: list[str], bob: Person) -> Iterator[str]:
    """Yield in what a plan and the doing differ, and what the plan changed anywhere."""
    before = _lies(bob.folder.parent)
    plan = bob.run("--json", *words, "--dry-run")
    after = _lies(bob.folder.parent)
    for name in sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)):
        yield f"the plan changed {name}"
    done = bob.run("--json", *words)
    if plan.code != done.code:
        yield f"the plan ended with {plan.code}, and the doing with {done.code}"
    one, two = plan.json, done.json
    if one.get("error") != two.get("error"):
        yield f"the plan: {_short(one)}; the doing: {_short(two)}"
    for name in sorted(_SAME & one.keys() & two.keys()):
        if one[name] != two[name]:
            yield f"{name}: the plan {one[name]!r}, the doing {two[name]!r}"
    clashes = [[clash["path"] for clash in answer.get("conflicts", []) if "path" in clash] for answer in (one, two)]
    if clashes[0] != clashes[1]:
        yield f"conflicts: the plan {clashes[0]}, the doing {clashes[1]}"


def _lies(root: Path) -> dict[str, object]:
    """Return what lies below a directory: bytes by path, and the rows of each table of a store.

    But for what says of a folder or a stick which files need not be read again, the sum over that, and how often the
    store was written.
    """
    found: dict[str, object] = {}
    for path in (path for path in sorted(root.rglob("*")) if not path.name.startswith(f"{_STORE}-")):
        name = str(path.relative_to(root))
        if path.parent.name == "heads" and path.parent.parent.name == ".vault":
            continue
        if path.name != _STORE:
            found[name] = path.read_bytes() if path.is_file() and not path.is_symlink() else path.is_dir()
            continue
        with closing(sqlite3.connect(path)) as db:
            db.text_factory = bytes
            tables = {row[0].decode() for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for table in tables - {"dircache", "guard"}:
                rows = db.execute(f"SELECT * FROM {table}").fetchall()
                found[f"{name} {table}"] = sorted(repr(row) for row in rows if row[0] != b"generation")
    return found


def _short(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return f"{error['code']}, {error['message']} {error['hint']}" if error else "no error"


def put_back(saved: Path, root: Path) -> None:
    """Put a state where it was made: vaults know the ways to their places."""
    shutil.rmtree(root)
    shutil.copytree(saved, root, symlinks=True)
