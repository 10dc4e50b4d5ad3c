"""What lies in a private repository: objects, and where the refs of its remote stood (decision 7a).

It is a cache. Deleting it loses nothing: what a place holds is fetched again. Commits in it carry one fixed name
and one fixed date, so that nothing about the person or the machine leaves with them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from transports.errors import PlaceNotWritable, UnreadableFile
from transports.git import upkeep
from transports.git.branches import generation
from transports.git.command import GitRunner
from transports.git.complaints import way_out
from transports.git.folding import fold
from transports.git.notes import Notes
from transports.git.object_files import Info, is_oid
from transports.git.objects import Objects, Row, rows_of, tree_of
from transports.layout import MIB
from vault.errors import LaceError
from vault.files import read_bounded, refuse_write, write_atomic

__all__ = ["COMMIT_BYTES", "SEEN", "TREE_ROWS", "Entry", "Repository"]

SEEN = "refs/lace/seen/"
COMMIT_BYTES = 64 * 1024
TREE_ROWS = 100_000  # of one tree of a mailbox: files, or commits with pieces
_MINE = "mine"  # a directory; of what stands among refs, git tells the host
_CARRIED = 32 * MIB  # bytes of mailboxes written from here that outlive their private repository
_OID_LINE = 41  # bytes of a ref in a file: 40 hex characters and the end of the line
_SIGNATURE = "lace <lace> 1000000000 +0000"
_CUTS = 256  # tips that were fetched alone; every talk names them all to the host
_ROW_BYTES = 320  # of a row of a tree, name and all
_GIVEN = 16  # objects in memory at once, each a piece at most


class Entry(NamedTuple):
    """One row of a tree.

    Args:
        kind: `blob` or `tree`.
        oid: 40 hex characters.
        size: bytes of a blob, 0 for a tree.
    """

    kind: str
    oid: str
    size: int = 0


class Repository:
    """Objects of one place, and where the refs of its remote stood; it talks with nobody.

    Args:
        git: runs git here.

    Attributes:
        notes: what is remembered here.
    """

    def __init__(self, git: GitRunner) -> None:
        self._git = git
        self._held: BinaryIO | None = None
        self._objects = Objects(git)
        self._seen: dict[str, str] | None = None
        self.notes = Notes(lambda: git.repository)

    @property
    def path(self) -> Path:
        """The directory."""
        return self._git.repository

    def close(self) -> None:
        """Let the gits that stay go, and the directory; what is asked next starts others and holds it again."""
        self.let_gits_go()
        if self._held is not None:
            self._held.close()
            self._held = None

    def let_gits_go(self) -> None:
        """Let the gits that stay go, and what they said; the directory is held as before."""
        self._objects.close()

    def hold_again(self) -> None:
        """Hold the directory where it was let go, without clearing up: this has begun long ago."""
        if self._held is None:
            self._held = upkeep.hold(self.path, lambda: None)

    # Making and keeping

    def begin(self, path: Path, *, tidies: bool = True) -> None:
        """Use the repository at a path, making it if needed; whoever `tidies` clears up where nobody else uses it."""
        self.close()
        self.forget_seen()
        self._git.repository = path
        if not (path / "HEAD").is_file():
            shutil.rmtree(path, ignore_errors=True)
            # Made by hand: `git init` stumbles over variables such as GIT_WORK_TREE, which cannot be taken back.
            path.mkdir(parents=True)
        upkeep.lay_out(path)
        self._held = upkeep.hold(path, self._tidy if tidies else lambda: None)

    def _tidy(self) -> None:
        is_over = upkeep.is_over(self.path)
        own = self._own() if is_over else []
        upkeep.tidy(self.path, begins_anew=is_over)
        self.forget_seen()
        with contextlib.suppress(OSError, LaceError):
            for kind, data in own:
                self.store(data, kind)
            self.flush()
            fold(self.path, self._objects)
        cuts = upkeep.cuts(self.path)
        if len(cuts) > _CUTS:
            code, reached = self._git.try_run("rev-list", "--all")
            if not code:
                upkeep.keep_cuts(self.path, sorted(cuts.intersection(reached.decode().split())))

    def _own(self) -> list[tuple[str, bytes]]:
        """Return what the mailboxes written from here are made of, but for their pieces.

        It outlives what else lies here: where the host lost a part of it, it lies nowhere else.
        """
        found: dict[str, tuple[str, bytes]] = {}
        names: list[str] = []
        with contextlib.suppress(OSError):
            names = os.listdir(self.path / _MINE)  # noqa: PTH208 - names alone are wanted
        for name in names:
            with contextlib.suppress(OSError, LaceError):  # one that is damaged takes no other with it
                tip = self.mine(name)
                oids = [*self.behind(tip), *self.with_tree(tip)] if tip else []
                infos = self.infos(oids)
                if sum(info.size for info in infos) <= _CARRIED:
                    pairs = zip(infos, self.contents(oids), strict=True)
                    found |= {info.oid: (info.kind, data) for info, data in pairs}
        self.let_gits_go()
        return list(found.values())

    def move(self, path: Path) -> None:
        """Give the repository its lasting name, or let it go where there is one already."""
        old = self.path
        self.flush()
        self.let_gits_go()
        if (path / "HEAD").is_file():
            self.begin(path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            shutil.rmtree(path, ignore_errors=True)
            old.rename(path)
            self._git.repository = path

    def beside(self, path: Path) -> Repository:
        """Return another repository of the same place, where nothing is cleared up; whoever asks for it closes it."""
        other = Repository(self._git.at(path))
        other.begin(path, tidies=False)
        return other

    def is_own(self, tip: str) -> bool:
        """Tell whether a commit that was seen was pushed from here, so that its objects were not flushed.

        What is fetched comes in packs, which git flushes. What is pushed lies here as single files, which nobody
        needs once the far side has them; a power cut may empty them or take them away.
        """
        try:
            return not self.has(tip) or (self.path / "objects" / tip[:2] / tip[2:]).is_file()
        except PlaceNotWritable:
            return True

    def renew(self) -> bool:
        """Begin anew, with nothing, unless somebody else uses it; tell whether it was."""
        upkeep.mark_torn(self.path)
        self.begin(self.path)
        return not upkeep.is_torn(self.path)

    def forsake(self) -> None:
        """Let the next visit begin anew, with nothing: what lies here is more than what the far side has."""
        upkeep.mark_torn(self.path)

    def forget_pieces(self, oids: Iterable[str]) -> None:
        """Free the room of pieces that the far side holds now."""
        for oid in oids:
            self._objects.forget([oid])
            with contextlib.suppress(OSError):
                (self.path / "objects" / oid[:2] / oid[2:]).unlink(missing_ok=True)

    # Objects

    def store(self, data: bytes, kind: str = "blob") -> str:
        """Take an object and return its id; it is written at the latest before a push."""
        return self._objects.add(kind, data)

    def store_tree(self, entries: dict[str, tuple[str, str]]) -> str:
        """Take a tree of names with (kind, id) and return its id; nothing says that pieces must lie here."""
        return self._objects.add("tree", tree_of([Row(name, kind, oid) for name, (kind, oid) in entries.items()]))

    def store_commit(self, tree: str, parents: Sequence[str] = (), *, says: str = "lace") -> str:
        """Store a commit that says nothing but lace, as a rule, and return its id."""
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {_SIGNATURE}", f"committer {_SIGNATURE}", "", says, ""]
        return self.store("\n".join(lines).encode(), "commit")

    def store_root(self, tree: str) -> str:
        """Store a commit without parents that a host takes, and return its id.

        One that was fetched alone counts here as cut off from what was before it, and no host takes such a one: then
        the same tree gets another.
        """
        cut, again = upkeep.cuts(self.path), ""
        while (oid := self.store_commit(tree, says=f"lace{again}")) in cut:
            again += " again"
        return oid

    def flush(self) -> None:
        """Write what was taken where other gits find it."""
        self._objects.flush()

    def has(self, oid: str) -> bool:
        """Tell whether an object lies here."""
        return self._objects.info([oid], anew=True)[0] is not None

    def missing(self, oids: Sequence[str]) -> list[str]:
        """Return those of the objects that do not lie here, in the order given."""
        return [oid for oid, info in zip(oids, self._objects.info(oids, anew=True), strict=True) if info is None]

    def found(self, oids: Sequence[str]) -> dict[str, Info]:
        """Return what those of the objects are that lie here, by their ids."""
        infos = self._objects.info(oids, anew=True)
        return {oid: info for oid, info in zip(oids, infos, strict=True) if info is not None}

    def infos(self, oids: Sequence[str]) -> list[Info]:
        """Return what objects are, in the order given.

        Raises:
            UnreadableFile: one of them does not lie here.
        """
        infos = [info for info in self._objects.info(oids) if info is not None]
        if len(infos) < len(oids):
            raise UnreadableFile("A part of the mailbox is missing.", hint=way_out(self.path))
        return infos

    def contents(self, oids: Sequence[str]) -> list[bytes]:
        """Return the bytes of objects of any kind that `infos` knows, in the order given.

        Raises:
            PlaceNotWritable: git fails, or one of them is gone.
        """
        return self._objects.read(oids)

    def tree(self, name: str, limit: int, *, is_torn: bool = False) -> dict[str, Entry]:
        """Return the rows of one tree, or of a commit's.

        Args:
            name: its id, or the commit's.
            limit: rows it may have.
            is_torn: whether rows are left out whose blobs are missing.

        Raises:
            UnreadableFile: it is no tree, or has more rows than `limit`.
        """
        (info,) = self._objects.info([name])
        if info is not None and info.kind != "tree":
            name = self.root_of(name) if info.kind == "commit" else f"{name}^{{tree}}"
            (info,) = self._objects.info([name])
        rows = None
        if info is not None and info.kind == "tree" and info.size <= limit * _ROW_BYTES:
            rows = rows_of(self.contents([info.oid])[0], limit)
        if rows is None:
            raise UnreadableFile("What lies in the mailbox's place is not a mailbox.", hint=way_out(self.path))
        blobs = {row.oid for row in rows if row.kind == "blob"}
        sizes = dict(zip(blobs, self._objects.info(list(blobs)), strict=True))
        entries: dict[str, Entry] = {}
        for row in rows:
            known = sizes.get(row.oid)
            if row.oid in blobs and known is None:
                if is_torn:
                    continue
                raise UnreadableFile("What lies in the mailbox's place is not a mailbox.", hint=way_out(self.path))
            entries[row.name] = Entry(row.kind, row.oid, known.size if known else 0)
        return entries

    def read(self, oids: Sequence[str], limit: int) -> list[bytes]:
        """Return the bytes of blobs.

        Args:
            oids: their ids.
            limit: bytes they may have together.

        Raises:
            UnreadableFile: one is missing, no blob, or they are larger.
        """
        known = self._objects.info(oids)
        if any(info is None or info.kind != "blob" for info in known) or sum(i.size for i in known if i) > limit:
            raise UnreadableFile("A part of the mailbox is missing, or not what it should be.", hint=way_out(self.path))
        return self.contents(oids)

    def root_of(self, commit: str) -> str:
        """Return the id of the tree of a commit that lies here; as `parents`."""
        return self._lines_of(commit)[0].removeprefix("tree ")

    def parents(self, commit: str) -> list[str]:
        """Return the parents of a commit that lies here.

        Raises:
            UnreadableFile: it is none.
        """
        return [line.removeprefix("parent ") for line in self._lines_of(commit) if line.startswith("parent ")]

    def behind(self, commit: str) -> list[str]:
        """Return a commit and those behind it, as far as they lie here."""
        found: dict[str, None] = {}
        left = [commit]
        while left:
            oid = left.pop()
            if oid not in found and self.has(oid):
                found[oid] = None
                left += self.parents(oid)
        return list(found)

    def with_tree(self, commit: str) -> list[str]:
        """Return a commit and all that lies in its tree, which holds blobs, and trees of blobs; as `tree`."""
        self.flush()
        root = self.root_of(commit)
        found = dict.fromkeys((commit, root))
        for entry in self.tree(root, TREE_ROWS).values():
            found[entry.oid] = None
            if entry.kind == "tree":
                found |= dict.fromkeys(row.oid for row in self.tree(entry.oid, TREE_ROWS).values())
        return list(found)

    def give(self, other: Repository, oids: Sequence[str]) -> int:
        """Store objects that lie here in another repository too; return the bytes they have.

        Raises:
            UnreadableFile: one of them does not lie here.
        """
        size = 0
        for begin in range(0, len(oids), _GIVEN):
            some = oids[begin : begin + _GIVEN]
            infos = self.infos(some)
            for info, data in zip(infos, self.contents(some), strict=True):
                other.store(data, info.kind)
                size += info.size
        other.flush()
        return size

    def _lines_of(self, commit: str) -> list[str]:
        (info,) = self.infos([commit])
        if info.kind != "commit" or info.size > COMMIT_BYTES:
            raise UnreadableFile("What lies in the mailbox's place is not a mailbox.", hint=way_out(self.path))
        return self.contents([commit])[0].decode("utf-8", "replace").partition("\n\n")[0].splitlines()

    # Refs

    def seen(self) -> dict[str, str]:
        """Return the remote's refs below lace/ as they were last fetched or pushed here: name and id."""
        if self._seen is None:
            self._seen = self._single_refs()
        if self._seen is None:
            rows = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", SEEN).decode().splitlines()
            self._seen = {name.removeprefix(SEEN): oid for oid, _, name in (row.partition(" ") for row in rows)}
        return self._seen

    def forget_seen(self) -> None:
        """Remember no more where the refs stood: git moved them, and is asked once more."""
        self._seen = None

    def _single_refs(self) -> dict[str, str] | None:
        """Return the refs as git writes them, a file each; None when git has to be asked, which may pack them."""
        if (self.path / "packed-refs").exists():
            return None
        found: dict[str, str] = {}
        try:
            for name in os.listdir(self.path / SEEN):  # noqa: PTH208 - names alone are wanted
                if name.endswith(".lock"):
                    continue
                text = read_bounded(self.path / SEEN / name, _OID_LINE).decode("ascii", "replace")
                oid = text.removesuffix("\n")
                if is_oid(oid):
                    found[name] = oid
                else:  # torn by a power cut: git would fetch nothing into it any more
                    (self.path / SEEN / name).unlink(missing_ok=True)
        except FileNotFoundError:
            pass  # nothing was fetched yet
        except (OSError, LaceError):
            return None
        return found

    def note(self, name: str, oid: str) -> None:
        """Remember where a ref of the remote stands; one that a power cut empties is fetched again, as git's are."""
        path = self.path / SEEN / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, f"{oid}\n".encode(), durable=False)
        except OSError as error:
            refuse_write(path, error)
        if self._seen is not None:
            self._seen[name] = oid

    def note_mine(self, name: str, oid: str) -> None:
        """Remember where a mailbox written from here stood last, whatever the remote shows of it later."""
        with contextlib.suppress(OSError):
            (self.path / _MINE).mkdir(exist_ok=True)
            write_atomic(self.path / _MINE / name, f"{oid}\n".encode(), durable=False)

    def mine(self, name: str) -> str | None:
        """Return where a mailbox written from here stood last, as far as that is known."""
        if not self.notes.is_own(name):
            return None
        try:
            oid = read_bounded(self.path / _MINE / name, _OID_LINE).decode("ascii", "replace").removesuffix("\n")
        except (OSError, LaceError):
            oid = ""
        return oid if is_oid(oid) else self.seen().get(name)

    def generations(self, name: str) -> list[str]:
        """Return the names under which a mailbox was written from here, by any of them."""
        first = name.partition("-")[0]
        try:
            return [found for found in os.listdir(self.path / _MINE) if found.partition("-")[0] == first]  # noqa: PTH208
        except OSError:
            return []

    def last(self, name: str) -> str | None:
        """Return where a mailbox written from here stood last, of all its generations in the youngest; as `mine`."""
        return self.mine(max(self.generations(name), key=generation, default=name))

    def forget_own(self, name: str) -> None:
        """Remember no more that a mailbox is written from here: it was taken away."""
        self.forget_mine(name)
        self.notes.drop_own(name)

    def forget_mine(self, name: str) -> None:
        """Remember no more where a mailbox written from here stood."""
        with contextlib.suppress(OSError):
            (self.path / _MINE / name).unlink(missing_ok=True)
