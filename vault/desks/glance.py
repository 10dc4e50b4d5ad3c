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
import sys

from blake3 import blake3

TYPE_CHECKING = False  # `typing` takes longer to load than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vault.desks.folder import Signature

    Load = Callable[[str], bytes | None]

__all__ = [
    "LOOKS",
    "LOOKS_OF",
    "MAX_LOOKS",
    "Look",
    "encode_look",
    "is_as_scanned",
    "is_unchanged",
    "parse_look",
    "survey",
    "told_by",
]

LOOKS = "//"  # no path begins so: the key of a directory's look is this and its path
# Of one desk, by key, as many as are asked for; the second end stands right behind all of them.
LOOKS_OF = "SELECT dir, blob FROM dircache WHERE desk = ? AND dir >= '//' AND dir < '/0' LIMIT ?"
MAX_LOOKS = 200_000  # of one desk that are held at once, some 300 bytes each
# As in `paths` and `folder`, which take long to load.
_DOT_VAULT = ".vault"
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 200  # directories below each other; deeper ones are the scan's
# Magic, context, tree digest, tree size, names, digest of the look, digest of the directories' tree digests. Then the
# names of directories, parted by NUL, a slash, and the names left out likewise.
_HEAD = struct.Struct("<4s16s32sQI32s32s")
_MAGIC = b"LSL2"
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
        below: the digest of the tree digests that its directories had.
        directories: names of those that are looked into, in the order of the disk: the tree lacks hollow ones.
        left_out: names that the ignore rules leave out, likewise.
    """

    __slots__ = ("below", "count", "digest", "directories", "left_out", "size", "tree")

    def __init__(
        self,
        tree: bytes,
        size: int,
        count: int,
        digest: bytes,
        below: bytes,
        directories: list[str],
        left_out: list[str],
    ) -> None:
        self.tree = tree
        self.size = size
        self.count = count
        self.digest = digest
        self.below = below
        self.directories = directories
        self.left_out = left_out

    @property
    def files(self) -> int:
        """How many of the names are files and links in the tree."""
        return self.count - len(self.directories) - len(self.left_out)


_Step = tuple[str, int, Look]
"""A directory's path, how deep it lies, and its look; above it in a list stand all those on the way to it."""


def encode_look(
    context: bytes,
    tree: bytes,
    size: int,
    names: Sequence[str],
    directories: Mapping[str, bytes],
    signatures: Iterable[Signature],
    left_out: Mapping[str, bool],
) -> bytes:
    """Return the look of a directory as it is kept.

    Args:
        context: as `vault.desks.scancache.context_of` gives it.
        tree: the digest of its root page.
        size: of its tree.
        names: everything in it, in the order of the disk, as are all that follow.
        directories: those of the names that are directories and looked into, with the digests of their root pages.
        signatures: of the files and links in the tree.
        left_out: the other names, and whether each is a directory: it may decide whether a rule is about it.
    """
    numbers = [number for signature in signatures for number in signature]
    digest = _digest(names, [*numbers, *left_out.values()])
    head = _HEAD.pack(_MAGIC, context, tree, size, len(names), digest, _joined(directories.values()))
    return head + os.fsencode("\0".join(directories) + "/" + "\0".join(left_out))


def parse_look(kept: bytes | None, context: bytes) -> Look | None:
    """Return what was kept; None when there is none, it is of another context, or it is damaged."""
    if kept is None or len(kept) <= _HEAD.size:
        return None
    magic, found, tree, size, count, digest, below = _HEAD.unpack_from(kept)
    if magic != _MAGIC or found != context:
        return None
    directories, _, left_out = os.fsdecode(kept[_HEAD.size :]).partition("/")
    return Look(
        tree,
        size,
        count,
        digest,
        below,
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
    add, ask = numbers.extend, os.lstat  # each word less that it is asked by is felt for thousands of files
    for name in files:
        seen = ask(name, dir_fd=fd)
        add((seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_mode))  # as `signature` has them
    numbers += [stat.S_ISDIR(ask(name, dir_fd=fd).st_mode) for name in look.left_out]
    return _digest(names, numbers) == look.digest


def _digest(names: Sequence[str], numbers: list[int]) -> bytes:
    listed = os.fsencode("\0".join(names))
    try:
        packed = struct.pack(f"<{len(numbers)}q", *numbers)
    except struct.error:  # some disks count inodes from the far end
        packed = struct.pack(f"<{len(numbers)}Q", *[number & _MASK for number in numbers])
    return blake3(struct.pack("<Q", len(listed)) + listed + packed).digest()


def _joined(trees: Iterable[bytes]) -> bytes:
    return blake3(b"".join(trees)).digest()


def is_as_scanned(fd: int, context: bytes, load: Load, processes: int = 1) -> bool:
    """Tell whether no name and no file below an open directory differs from what a scan kept.

    Args:
        fd: the desk's directory.
        context: as `vault.desks.scancache.context_of` gives it.
        load: returns what was kept under a key; see `LOOKS`.
        processes: how many may look at once, where there is enough to look at. Above one, the caller has no threads.
    """
    steps, is_all = _steps(context, load)
    looks = {where: look for where, _, look in steps}
    return (
        is_all
        and all(_is_bound(where, looks) for where in looks)
        and all(_looked(fd, steps, processes, is_first_enough=True))
    )


def survey(
    fd: int, context: bytes, load: Load, processes: int = 1, tick: Callable[[str, int], object] | None = None
) -> tuple[dict[str, Look], dict[str, int]]:
    """Return the directories that are as a scan left them, and those of them below which all else is too.

    Args:
        fd: the desk's directory.
        context: as `vault.desks.scancache.context_of` gives it.
        load: returns what was kept under a key; see `LOOKS`.
        processes: how many may look at once, where there is enough to look at. Above one, the caller has no threads.
        tick: called with the path and the number of names of a directory; what it raises ends the survey.

    Returns:
        Looks by path, and by path how many files and links lie in and below a directory.
    """
    steps, _ = _steps(context, load)
    same: dict[str, Look] = {}
    whole: dict[str, int] = {}
    found = _looked(fd, steps, processes, tick)
    for (where, _, look), is_same in zip(reversed(steps), reversed(found), strict=True):  # what is below comes first
        if is_same:
            same[where] = look
            if _is_bound(where, same) and all(path in whole for path in _below(where, look)):
                whole[where] = look.files + sum(whole[path] for path in _below(where, look))
    return same, whole


def _below(where: str, look: Look) -> list[str]:
    front = where + "/" if where else ""
    return [front + name for name in look.directories]


def _is_bound(where: str, looks: Mapping[str, Look]) -> bool:
    """Tell whether a directory's tree was made of the trees that the looks of its directories name.

    Looks may have been kept by several scans that ran at once.
    """
    look = looks[where]
    below = [looks.get(path) for path in _below(where, look)]
    return _joined(one.tree for one in below if one is not None) == look.below


def _steps(context: bytes, load: Load) -> tuple[list[_Step], bool]:
    """Return the directories that are known, each before what is below it, and whether they make up the tree."""
    steps: list[_Step] = []
    is_all = True
    ahead = [("", 0)]
    while ahead:
        where, depth = ahead.pop()
        look = parse_look(load(LOOKS + where), context)
        if look is None or depth > _DEEPEST:
            is_all = False
            continue
        steps.append((where, depth, look))
        ahead += [(path, depth + 1) for path in _below(where, look)]
    return steps, is_all


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


def _looked(
    fd: int,
    steps: list[_Step],
    processes: int,
    tick: Callable[[str, int], object] | None = None,
    *,
    is_first_enough: bool = False,
) -> bytes:
    """Return for each step whether it is unchanged; with `is_first_enough` nobody looks on behind one that is not."""
    first, *others = _shares(steps, processes)
    helpers: list[tuple[int, int]] = []
    is_done = False
    try:
        for share in others:
            helper = _helper(fd, share, is_first_enough)
            if helper is None:
                break  # what has no process of its own is looked at here
            helpers.append(helper)
        found = [_go_through(fd, first, tick, is_first_enough)]
        if not (is_first_enough and not all(found[0])):
            found += [_told(pipe, share) for (_, pipe), share in zip(helpers, others, strict=False)]
            found += [_go_through(fd, share, tick, is_first_enough) for share in others[len(helpers) :]]
            is_done = True
    finally:
        for number, pipe in helpers:
            os.close(pipe)
            if not is_done:
                os.kill(number, _SIGKILL)  # it stays until it is waited for, so the number is its own
            os.waitpid(number, 0)
    return b"".join(found)


def _go_through(
    fd: int, steps: Sequence[_Step], tick: Callable[[str, int], object] | None, is_first_enough: bool
) -> bytes:
    """Look at directories in their order, with those on the way held open; no link is followed."""
    held = [fd]
    found = bytearray(len(steps))
    blocked = _DEEPEST + 1  # below a directory that cannot be opened there is nothing to be seen
    try:
        for name in steps[0][0].split("/")[:-1] if steps else ():
            held.append(os.open(name, _FLAGS, dir_fd=held[-1]))
        for at, (where, depth, look) in enumerate(steps):
            if tick is not None:
                tick(where, look.count)
            if depth > blocked:
                continue
            blocked = depth
            while len(held) > max(depth, 1):
                os.close(held.pop())
            try:
                if depth:
                    held.append(os.open(where[where.rfind("/") + 1 :], _FLAGS, dir_fd=held[-1]))
                blocked = _DEEPEST + 1
                found[at] = is_unchanged(held[-1], look, where)
            except OSError:
                found[at] = False  # the scan finds out why
            if is_first_enough and not found[at]:
                break
    except OSError:
        return bytes(found)  # a directory on the way is gone
    finally:
        for open_one in held[1:]:
            os.close(open_one)
    return bytes(found)


def _helper(fd: int, steps: Sequence[_Step], is_first_enough: bool) -> tuple[int, int] | None:
    """Start a process that looks at directories; return its number, and the descriptor where it tells what it saw.

    None when the system has no room for another.
    """
    ends: tuple[int, ...] = ()
    try:
        told, tell = ends = os.pipe()
        number = os.fork()
    except OSError:
        for end in ends:
            os.close(end)
        return None
    if number:
        os.close(tell)
        return number, told
    try:
        signals = sys.modules.get("signal")
        if signals is not None:
            signals.signal(signals.SIGINT, signals.SIG_DFL)  # the words for it are the other's
        left = memoryview(_go_through(fd, steps, None, is_first_enough))
        while left:
            left = left[os.write(tell, left) :]
    finally:
        os._exit(0)  # at once: what else is open or buffered here is the other's


def _told(pipe: int, steps: Sequence[_Step]) -> bytes:
    """Return what a helper saw; nothing is unchanged for one that did not come to its end."""
    parts = []
    while part := os.read(pipe, 1 << 16):
        parts.append(part)
    found = b"".join(parts)
    return found if len(found) == len(steps) else bytes(len(steps))
