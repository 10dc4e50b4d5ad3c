"""Whether directories are as a scan left them, by one look at names and stats (performance: scan).

A scan keeps, beside what it knows of a directory, a *look*: one digest of its names and of what `stat` said of its
files, and which names are directories. To compare costs a listing, a `stat` a file and a digest; no entry becomes an
object. Whatever is not plainly unchanged is left to the scan, which also finds the words for it. So this loads little,
and a person who asks twice waits only for the disk.

The looks of a desk stand side by side in the scan cache, under keys that no directory has, and are read at once.
"""

from __future__ import annotations

import os
import stat
import struct

from blake3 import blake3

TYPE_CHECKING = False  # `typing` takes longer to load than all the rest
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vault.desks.folder import Signature

__all__ = [
    "LOOKS",
    "LOOKS_OF",
    "MAX_LOOKS",
    "Look",
    "encode_look",
    "is_as_scanned",
    "is_unchanged",
    "parse_look",
    "told_by",
]

LOOKS = "//"  # no path begins so: the key of a directory's look is this and its path
# Of one desk, by key, as many as are asked for; the second end stands right behind all of them.
LOOKS_OF = "SELECT dir, blob FROM dircache WHERE desk = ? AND dir >= '//' AND dir < '/0' LIMIT ?"
MAX_LOOKS = 200_000  # of one desk that are held at once, some 300 bytes each
_DOT_VAULT = ".vault"
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  # `folder` has them too, and takes long to load
_DEEPEST = 200  # directories below each other; deeper ones are the scan's
# Magic, context, tree digest, tree size, names, digest of the look. Then the names of directories, parted by NUL, a
# slash, and the names left out likewise.
_HEAD = struct.Struct("<4s16s32sQI32s")
_MAGIC = b"LSL1"
_MASK = 0xFFFF_FFFF_FFFF_FFFF
_SIGKILL = 9  # `signal` takes long to load too
_DIRECTORY = 8  # what opening and listing a directory costs, in files
_SHARE = 4_000  # files that are worth a process of their own: starting one costs as much as a few hundred


class Look:
    """What a scan found in one directory.

    Args:
        tree: the digest of its root page.
        size: of its tree.
        count: of all names in it.
        digest: of the names and the stats.
        directories: names of those taken into the tree, in the order of the disk.
        left_out: names that the ignore rules leave out, likewise.
    """

    __slots__ = ("count", "digest", "directories", "left_out", "size", "tree")

    def __init__(
        self, tree: bytes, size: int, count: int, digest: bytes, directories: list[str], left_out: list[str]
    ) -> None:
        self.tree = tree
        self.size = size
        self.count = count
        self.digest = digest
        self.directories = directories
        self.left_out = left_out

    @property
    def files(self) -> int:
        """How many of the names are files and links in the tree."""
        return self.count - len(self.directories) - len(self.left_out)


def encode_look(
    context: bytes,
    tree: bytes,
    size: int,
    names: Sequence[str],
    directories: Sequence[str],
    signatures: Iterable[Signature],
    left_out: Mapping[str, bool],
) -> bytes:
    """Return the look of a directory as it is kept.

    Args:
        context: as `vault.desks.scancache.context_of` gives it.
        tree: the digest of its root page.
        size: of its tree.
        names: everything in it, in the order of the disk, as are all that follow.
        directories: those of the names that are directories in the tree.
        signatures: of the files and links in the tree.
        left_out: the other names, and whether each is a directory: it may decide whether a rule is about it.
    """
    numbers = [number for signature in signatures for number in signature]
    head = _HEAD.pack(_MAGIC, context, tree, size, len(names), _digest(names, [*numbers, *left_out.values()]))
    return head + os.fsencode("\0".join(directories) + "/" + "\0".join(left_out))


def parse_look(kept: bytes | None, context: bytes) -> Look | None:
    """Return what was kept; None when there is none, it is of another context, or it is damaged."""
    if kept is None or len(kept) <= _HEAD.size:
        return None
    magic, found, tree, size, count, digest = _HEAD.unpack_from(kept)
    if magic != _MAGIC or found != context:
        return None
    directories, _, left_out = os.fsdecode(kept[_HEAD.size :]).partition("/")
    return Look(
        tree,
        size,
        count,
        digest,
        directories.split("\0") if directories else [],
        left_out.split("\0") if left_out else [],
    )


def told_by(kept: bytes | None) -> tuple[bytes, bytes] | None:
    """Return the context and the tree digest that a kept look names; None when it is none."""
    if kept is None or len(kept) <= _HEAD.size or not kept.startswith(_MAGIC):
        return None
    return kept[4:20], kept[20:52]


def is_unchanged(fd: int, look: Look, where: str) -> bool:
    """Tell whether an open directory has the names of its look, and its files the stats.

    What its directories hold, and whether they are directories still, turns out when they are opened.

    Args:
        fd: the directory.
        look: what was kept for it.
        where: its path relative to the desk.

    Raises:
        OSError: something cannot be read, or is gone.
    """
    names = os.listdir(fd)
    if not where and _DOT_VAULT in names:
        names.remove(_DOT_VAULT)
    if len(names) != look.count:
        return False
    files = names
    if look.directories or look.left_out:
        others = {*look.directories, *look.left_out}
        files = [name for name in names if name not in others]
    numbers: list[int] = []
    add, ask = numbers.extend, os.stat
    for name in files:
        seen = ask(name, dir_fd=fd, follow_symlinks=False)
        add((seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_mode))  # as `signature` has them
    numbers += [stat.S_ISDIR(ask(name, dir_fd=fd, follow_symlinks=False).st_mode) for name in look.left_out]
    return _digest(names, numbers) == look.digest


def _digest(names: Sequence[str], numbers: list[int]) -> bytes:
    listed = os.fsencode("\0".join(names))
    try:
        packed = struct.pack(f"<{len(numbers)}q", *numbers)
    except struct.error:  # some disks count inodes from the far end
        packed = struct.pack(f"<{len(numbers)}Q", *[number & _MASK for number in numbers])
    return blake3(struct.pack("<Q", len(listed)) + listed + packed).digest()


def is_as_scanned(fd: int, context: bytes, looks: Mapping[str, bytes], processes: int = 1) -> bool:
    """Tell whether no name and no file below an open directory differs from what a scan kept.

    Args:
        fd: the desk's directory.
        context: as `vault.desks.scancache.context_of` gives it.
        looks: what was kept, by key; see `LOOKS`.
        processes: how many may look at once, where there is enough to look at. Above one, the caller has no threads.

    Raises:
        OSError: something cannot be read.
    """
    steps = _steps(context, looks)
    if steps is None:
        return False
    first, *others = _shares(steps, processes)
    helpers: list[int] = []
    is_same = False
    try:
        for share in others:
            helpers.append(_helper(fd, share))  # noqa: PERF401 - those already there are ended if one cannot start
        is_same = _is_same(fd, first)
    finally:
        for helper in helpers:
            if not is_same:
                os.kill(helper, _SIGKILL)  # it stays until it is waited for, so the number is its own
            is_same &= os.waitpid(helper, 0)[1] == 0
    return is_same


_Step = tuple[str, int, Look]
"""A directory's path, how deep it lies, and its look; above it in a list stand all those on the way to it."""


def _steps(context: bytes, looks: Mapping[str, bytes]) -> list[_Step] | None:
    """Return the directories that make up the tree, each before what is below it; None when one is not known."""
    steps: list[_Step] = []
    ahead = [("", 0)]
    while ahead:
        where, depth = ahead.pop()
        look = parse_look(looks.get(LOOKS + where), context)
        if look is None or depth > _DEEPEST:
            return None
        steps.append((where, depth, look))
        if look.directories:
            front = where + "/" if where else ""
            ahead += [(front + name, depth + 1) for name in look.directories]
    return steps


def _shares(steps: list[_Step], processes: int) -> list[list[_Step]]:
    """Return the steps in as many runs as are worth it, of about equal cost."""
    costs = [look.count + _DIRECTORY for _, _, look in steps]
    total = sum(costs)
    number = max(1, min(processes, total // _SHARE))
    shares: list[list[_Step]] = [[]]
    done = 0
    for step, cost in zip(steps, costs, strict=True):
        if done * number >= total * len(shares):
            shares.append([])
        shares[-1].append(step)
        done += cost
    return shares


def _is_same(fd: int, steps: Sequence[_Step]) -> bool:
    """Go through directories in their order, with those on the way held open; no link is followed."""
    held = [fd]
    try:
        for name in steps[0][0].split("/")[:-1]:
            held.append(os.open(name, _FLAGS, dir_fd=held[-1]))
        for where, depth, look in steps:
            while len(held) > max(depth, 1):
                os.close(held.pop())
            if depth:
                held.append(os.open(where[where.rfind("/") + 1 :], _FLAGS, dir_fd=held[-1]))
            if not is_unchanged(held[-1], look, where):
                return False
        return True
    finally:
        for open_one in held[1:]:
            os.close(open_one)


def _helper(fd: int, steps: Sequence[_Step]) -> int:
    """Start a process that goes through directories and ends with 0 if all are the same; return its number."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        if _is_same(fd, steps):
            code = 0
    finally:
        os._exit(code)  # at once: what is open or buffered here is the other's
