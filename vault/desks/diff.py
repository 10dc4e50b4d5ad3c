"""What differs between two trees or two texts (CLAY-28, CLAY-70)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Literal, NamedTuple

from vault.desks.page_diff import differing_entries
from vault.desks.pages import Entry, TreeTooLarge, is_empty, level_of
from vault.desks.paths import MAX_DEPTH, MAX_PATH_BYTES, FolderPath, join
from vault.desks.ports import Source
from vault.desks.tree import MAX_TREE_ENTRIES, check_depth, page_body, read_directory
from vault.records import RecordHash

__all__ = ["MAX_TEXT_BYTES", "Change", "diff_trees", "is_text", "text_diff"]

MAX_TEXT_BYTES = 2 << 20  # above this neither a diff nor a merge of lines is tried
_MAX_LINES = 40_000
_SHORT = MAX_PATH_BYTES // 4  # characters of a path that is not too long in any case
_LONG = 200  # lines of a text of which `difflib` passes over those that stand often

Kind = Literal["added", "changed", "deleted"]
_new = tuple.__new__
_Pairs = Iterator["tuple[Entry | None, Entry | None]"]
_Bodies = tuple[bytes | None, bytes | None]


class Change(NamedTuple):
    """One path that differs.

    Files and links are listed. A directory is listed only where it is or becomes empty, because nothing in
    it could tell of it; else its files do.

    Args:
        path: relative to the desk; that of a directory is a `FolderPath`.
        kind: "added", "changed" or "deleted".
        before: the old entry, or None.
        after: the new entry, or None.
    """

    path: str
    kind: Kind
    before: Entry | None
    after: Entry | None


def diff_trees(source: Source, before: RecordHash | None, after: RecordHash | None) -> Iterator[Change]:
    """Yield what differs between two trees, sorted by name within each directory; None is no tree at all.

    Directories with equal hashes are not read (CLAY-28).

    Raises:
        MissingObject: a page is not here.
        TreeError: a page is broken; the walk is bounded as `walk` is.
    """
    if before == after:
        return
    count = 0
    stack = [("", _pairs(source, before, after))]
    while stack:
        prefix, pairs = stack[-1]
        is_deep = len(stack) > MAX_DEPTH
        for x, y in pairs:
            count += 1
            if count > MAX_TREE_ENTRIES:
                raise TreeTooLarge(f"Two trees differ in more than {MAX_TREE_ENTRIES} entries.")
            path = join(prefix, (x or y).name)  # type: ignore[union-attr]
            if is_deep or len(path) > _SHORT:
                check_depth(path, len(stack))
            if not ((x and x.kind == "d") or (y and y.kind == "d")):  # most are files, told of by the thousand
                yield _new(Change, (path, ("changed" if x else "added") if y else "deleted", x, y))
                continue
            bodies = _body(source, x), _body(source, y)
            holds = _holds(bodies[0]), _holds(bodies[1])
            change = _change(path, x, y, *holds)
            if change is not None:
                yield change
            if any(holds):
                stack.append((path, _below(source, x if holds[0] else None, y if holds[1] else None, bodies)))
                break
        else:
            stack.pop()


def _body(source: Source, entry: Entry | None) -> bytes | None:
    """Return the body of the root page of a directory; None for what is no directory."""
    return page_body(source, entry.hash) if entry is not None and entry.is_dir else None


def _holds(body: bytes | None) -> bool | None:
    """Tell whether a directory holds anything; None for what is no directory."""
    return None if body is None else not is_empty(body)


def _below(source: Source, x: Entry | None, y: Entry | None, bodies: _Bodies) -> _Pairs:
    return _pairs(source, x and x.hash, y and y.hash, (x and x.size, y and y.size), bodies)


def _pairs(
    source: Source,
    before: RecordHash | None,
    after: RecordHash | None,
    sizes: tuple[int | None, int | None] = (None, None),
    bodies: _Bodies = (None, None),
) -> _Pairs:
    """Return the entries of equal name that differ, sorted by name; `bodies` are those of root pages that were read."""

    def old(root: RecordHash) -> Sequence[Entry]:
        return read_directory(source, root, size=sizes[0], body=bodies[0])

    if after is None:
        return zip(old(before) if before is not None else (), repeat(None))
    body = bodies[1] or page_body(source, after)
    new = read_directory(source, after, size=sizes[1], body=body)
    if before is None:
        return zip(repeat(None), new)
    gone, fresh = _apart(source, before, bodies[0], body) or (old(before), new)
    left = {entry.name: entry for entry in gone}
    right = {entry.name: entry for entry in fresh}
    both = ((left.get(name), right.get(name)) for name in sorted(left.keys() | right.keys()))
    return (pair for pair in both if pair[0] != pair[1])


def _apart(
    source: Source, before: RecordHash, body: bytes | None, after: bytes
) -> tuple[Sequence[Entry], Sequence[Entry]] | None:
    """Return what only one of two directories says, if each is one page; the later one was read strictly.

    Of the earlier one nothing but that is read: whoever asks what became of it holds it, and takes nothing from it.

    Args:
        source: where both are read.
        before: the root page of the earlier one.
        body: the body of that, where it was read.
        after: the body of the later one's root page.
    """
    if level_of(after):
        return None
    body = body or page_body(source, before)
    return differing_entries(body, after) if not level_of(body) else None


def _change(
    path: str,
    x: Entry | None,
    y: Entry | None,
    x_holds: bool | None,
    y_holds: bool | None,
) -> Change | None:
    before = x if x_holds is None else None
    after = y if y_holds is None else None
    if y_holds is False:
        before, after = x, y
    elif x_holds is False and y_holds is None:
        before = x
    if before is None and after is None:
        return None
    kind: Kind = "changed" if before and after else "added" if after else "deleted"
    is_folder = after.is_dir if after is not None else before is not None and before.is_dir
    return Change(FolderPath(path) if is_folder else path, kind, before, after)


def is_text(content: bytes) -> bool:
    """Tell whether lines of it can be compared and merged: UTF-8, no NUL, at most 2 MiB."""
    if len(content) > MAX_TEXT_BYTES or b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def text_diff(before: bytes, after: bytes, *, names: tuple[str, str] = ("before", "after")) -> list[str]:
    """Return the unified diff of two texts as lines without line ends; binary content gives one sentence.

    Args:
        before: the old content.
        after: the new content.
        names: what the two are called in the head.
    """
    if before == after:
        return []
    if not (is_text(before) and is_text(after)):
        return [f"The content is binary or large: {len(before)} bytes before, {len(after)} bytes after."]
    old, new = _lines(before), _lines(after)
    if max(len(old), len(new)) > _MAX_LINES:
        return [f"The text is too long to compare: {len(old)} lines before, {len(new)} lines after."]
    lines = list(_unified(old, new))
    return [f"--- {names[0]}", f"+++ {names[1]}", *lines] if lines else ["Only line ends differ."]


def _lines(content: bytes) -> list[str]:
    """Return the lines of a text without their ends; as text, it would be split at form feeds and the like too."""
    return [line.decode() for line in content.splitlines()]


def _unified(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the hunks of a unified diff; that of `difflib` takes no other matcher."""
    from vault.desks.matching import EndMatcher  # most diffs are of trees

    for hunk in EndMatcher(old, new, _LONG).get_grouped_opcodes():
        (_, a, _, c, _), (_, _, b, _, d) = hunk[0], hunk[-1]
        yield f"@@ -{_range(a, b)} +{_range(c, d)} @@"
        for kind, a, b, c, d in hunk:
            if kind == "equal":
                yield from (f" {line}" for line in old[a:b])
            else:
                yield from (f"-{line}" for line in old[a:b])
                yield from (f"+{line}" for line in new[c:d])


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
