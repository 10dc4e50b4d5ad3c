"""A group, small builders and a reader of folders for the tests of desks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import strategies as st

from vault.desks.checkout import CheckoutResult, apply_plan, apply_tree
from vault.desks.choosing import Problem
from vault.desks.cutting import add_content
from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryCache, MemoryObjects
from vault.desks.pages import Entry
from vault.desks.plan import plan_checkout
from vault.desks.scan import Ports, Scanning
from vault.desks.tree import build_directory, read_entry, walk
from vault.desks.worktree import Snapshot, snapshot
from vault.records import RecordHash

GROUP = "friends/0123456789abcdef"
LATER = 4_000_000_000_000_000_000  # ns; later than any file made by a test, so nothing is racy

Model = Mapping[str, bytes]


def file(objects: MemoryObjects, content: bytes, *, mode: str = "-", kind: str = "f") -> Entry:
    """Add a content and return an entry for it, named later by its path."""
    return Entry(kind, mode, len(content), add_content(GROUP, content, objects), "x")


def tree_of(objects: MemoryObjects, files: Model) -> RecordHash:
    """Return the root of a tree with these files."""
    return apply_changes(objects.of(GROUP), None, {path: file(objects, content) for path, content in files.items()})


def model_of(objects: MemoryObjects, root: RecordHash) -> dict[str, bytes]:
    """Return the files and links of a tree by path."""
    return {path: read_entry(objects, entry) for path, entry in walk(objects, root) if not entry.is_dir}


def empty(objects: MemoryObjects) -> RecordHash:
    """Return the root of a tree without entries."""
    return build_directory(GROUP, (), objects)[0]


def on_disk(root: Path) -> dict[str, bytes]:
    """Return files, and links as their target, below a directory by path; an empty directory ends with a slash."""
    found: dict[str, bytes] = {}
    for here, directories, files in os.walk(root):
        where = Path(here).relative_to(root)
        links = [name for name in directories if (Path(here) / name).is_symlink()]
        for name in [*files, *links]:
            path = Path(here) / name
            found[str(where / name)] = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        if not directories and not files and here != str(root):
            found[f"{where}/"] = b""
    return found


class ManyObjects(MemoryObjects):
    """Objects that are asked for many at once, as a store is."""

    def lengths(self, records: Sequence[RecordHash], /) -> dict[RecordHash, int]:
        """Return the lengths of those that are here."""
        found = {record: self.length(record) for record in records}
        return {record: length for record, length in found.items() if length is not None}

    def small_parts(self, records: Sequence[RecordHash], /) -> dict[RecordHash, bytes]:
        """Return the bytes of those that are here."""
        found = {record: self.part(record) for record in records}
        return {record: part for record, part in found.items() if isinstance(part, bytes) and part}


class Desk:
    """A folder with its objects and cache."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.objects = MemoryObjects()
        self.cache = MemoryCache()

    def scan(self, base: RecordHash | None = None, now_ns: int = LATER, how: Scanning = Scanning()) -> Snapshot:
        """Take a snapshot."""
        ports = Ports(self.objects.of(GROUP), self.cache, lambda: now_ns)
        return snapshot(self.root, ports, base, how)


def check_out(
    desk: Desk, before: RecordHash | None, after: RecordHash, *, force: bool = False, durable: bool = False
) -> CheckoutResult:
    """Bring a desk from one tree to another; with `force` as far as that goes though something is in the way."""
    if force:
        plan = plan_checkout(desk.root, before=before, after=after, source=desk.objects)
        return apply_plan(desk.root, plan, source=desk.objects, cache=desk.cache, durable=durable)
    return apply_tree(desk.root, before=before, after=after, source=desk.objects, cache=desk.cache, durable=durable)


def started(desk: Desk, model: Model) -> RecordHash:
    """Check out the first tree of a desk, and return it."""
    root = tree_of(desk.objects, model)
    assert check_out(desk, None, root).skipped == ()
    return root


def models(max_size: int = 8) -> st.SearchStrategy[dict[str, bytes]]:
    """Return a strategy of small folders: files by path, no path below another file."""
    names = st.sampled_from(["a", "b", "c", "é", "d.txt"])
    paths = st.lists(names, min_size=1, max_size=3).map("/".join)
    content = st.sampled_from([b"", b"1\n", b"1\n2\n", b"0\n1\n", b"\0", b"2\n"])
    return st.dictionaries(paths, content, max_size=max_size).filter(_is_folder)


def _is_folder(model: Model) -> bool:
    return not any(other.startswith(path + "/") for path in model for other in model)


def write(desk: Desk, path: str, content: bytes = b"1") -> Path:
    """Write a file of a desk, with the directories above it."""
    target = desk.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def skipped(problems: tuple[Problem, ...]) -> dict[str, str]:
    """Return why each path was left out."""
    return {problem.path: problem.reason for problem in problems if problem.kind == "skipped"}
