"""Copying from a repository in a directory of this machine what a fetch would bring from there (decision 7a).

What comes is a pack that is flushed as that of a fetch, and nothing is noted before it lies here. Each object is proven
by its name, and what holds others has the one form in which lace writes it, which is narrower than what git takes.
Where a copy does not go, for whatever reason, nothing is left of it, and git fetches.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from transports.git import upkeep
from transports.git.branches import REFS
from transports.git.command import GitRunner
from transports.git.host import HostRepository, NotPlain
from transports.git.local import check_directory
from transports.git.object_files import Info
from transports.git.objects import Row, rows_of, tree_of
from transports.git.packs import write_pack
from transports.git.repository import COMMIT_BYTES, TREE_ROWS, Repository
from transports.layout import MIB
from transports.mailbox import ByteCount
from vault.files import write_atomic

__all__ = ["FETCHING", "OBJECT_BYTES", "Copier"]

FETCHING = "lace-fetch"  # not named .lock, which is git's word
OBJECT_BYTES = 24  # what a pack adds to one uncompressed object, about
_LEVELS = 8  # of trees below a commit; a mailbox has two
_PACK_BYTES = 1024 * MIB  # of one pack, whose index says shortly where each object lies
_TREE_BYTES = 4 * MIB  # of all trees that are looked through at once
_SIGNED = rb"lace <lace> 1000000000 \+0000\n"
_COMMIT = re.compile(
    rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)"
    rb"author " + _SIGNED + rb"committer " + _SIGNED + rb"\nlace(?: again)*\n"
)
_NAME = re.compile(r"[0-9a-z][0-9a-z.-]{0,99}", re.ASCII)  # of a row: none that a git could take for more than a name


class Copier:
    """Reads the remote of a place where that lies on this machine, and copies from there.

    Args:
        here: the private repository, which takes what comes.
        git: runs git in it.
        host: the repository of the remote.
        count: takes the bytes moved.
    """

    def __init__(self, here: Repository, git: GitRunner, host: HostRepository, count: ByteCount) -> None:
        self._here = here
        self._git = git
        self._host = host
        self._count = count

    def refs_there(self) -> dict[str, str] | None:
        """Return the remote's refs below lace/ as their files say; None where git is to be asked."""
        if self._git.remote.path is None:
            return None
        check_directory(self._git)
        self._here.hold_again()
        try:
            refs = self._host.refs()
        except NotPlain:
            return None
        self._count.read += sum(_row_bytes(name) for name in refs)
        return refs

    def copy_refs(self, names: Sequence[str], limit: int) -> bool:
        """Copy the tips of refs, of at most so many bytes, and nothing that lies behind them; tell whether that went.

        Raises:
            PlaceError, PlaceNotWritable: the directory is none that may be used, or the disk here takes nothing.
        """
        if self._git.remote.path is None:
            return False
        with self._in_turn():
            try:
                tips = self._host.refs(names)
                infos, cuts = self._below(set(tips.values()))
                self._take(infos, limit, cuts)
            except NotPlain:
                return False
            for name, oid in tips.items():
                self._here.note(name, oid)
        self._count.read += sum(_row_bytes(name) for name in tips)
        return True

    def copy_pieces(self, oids: Sequence[str], limit: int) -> bool:
        """Copy blobs, as `copy_refs`."""
        if self._git.remote.path is None:
            return False
        with self._in_turn():
            try:
                infos = self._host.info(self._here.missing(oids))
                if any(info.kind != "blob" for info in infos):
                    return False
                pack = self._take(infos, limit)
            except NotPlain:
                return False
            if pack is not None:
                upkeep.mark_pieces(pack)
        return True

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        check_directory(self._git)
        self._here.hold_again()
        with upkeep.turn(self._here.path / FETCHING, f"is asking {self._git.remote.shown}", self._git.patience):
            yield

    def _below(self, tips: Collection[str]) -> tuple[list[Info], set[str]]:
        """Return what lies in commits and is not here, with those of them that others lie behind.

        Raises:
            NotPlain: something of it is not there, or not as lace writes it.
        """
        commits = self._host.info(sorted(tips))
        if any(info.kind != "commit" or info.size > COMMIT_BYTES for info in commits):
            raise NotPlain
        found = {info.oid: info for info in commits}
        level, cuts = set[str](), set[str]()
        for info, data in self._host.read(commits):
            match = _COMMIT.fullmatch(data)
            if match is None:
                raise NotPlain
            level.add(match[1].decode())
            cuts |= {info.oid} if match[2] else set()
        blobs = set[str]()
        for _ in range(_LEVELS):
            trees = self._host.info(sorted(level - found.keys()))
            found |= {info.oid: info for info in trees}
            if any(info.kind != "tree" for info in trees) or sum(info.size for info in found.values()) > _TREE_BYTES:
                raise NotPlain
            level = set()
            for _, data in self._host.read(trees):
                rows = rows_of(data, TREE_ROWS)
                if rows is None or not _is_plain(rows, data):
                    raise NotPlain
                level |= {row.oid for row in rows if row.kind == "tree"}
                blobs |= {row.oid for row in rows if row.kind == "blob"}
            if any(found[oid].kind != "tree" for oid in level & found.keys()):
                raise NotPlain
        if level - found.keys():
            raise NotPlain
        infos = [found[oid] for oid in self._here.missing([*found])]
        if not blobs.isdisjoint(found):
            raise NotPlain
        return infos + self._lacking(sorted(blobs)), cuts

    def _lacking(self, blobs: Sequence[str]) -> list[Info]:
        """Return those of some blobs that do not lie here; one that is no blob is found out wherever it lies."""
        here = self._here.found(blobs)
        there = self._host.info([oid for oid in blobs if oid not in here])
        if any(info.kind != "blob" for info in (*here.values(), *there)):
            raise NotPlain
        return there

    def _take(self, infos: Sequence[Info], limit: int, cuts: Collection[str] = ()) -> Path | None:
        """Take objects in as a pack, and return it; None where there is nothing to take.

        Args:
            infos: what they are.
            limit: the bytes that they may have together.
            cuts: commits of them behind which nothing is to lie here.

        Raises:
            NotPlain: they are more, or one is damaged.
            NotWritable, DiskFull: the disk here takes nothing.
        """
        size = sum(info.size for info in infos)
        if size > min(limit, _PACK_BYTES):
            raise NotPlain
        pack, path = None, self._here.path
        if infos:
            upkeep.clear_partial(path)
            some = sorted(infos)  # so that one name stands for one pack
            objects = ((info.kind, data) for info, data in self._host.read(some))
            pack = write_pack(path / "objects" / "pack", [info.oid for info in some], objects)
        known = upkeep.cuts(path)
        if not known.issuperset(cuts):
            write_atomic(path / "shallow", "".join(f"{oid}\n" for oid in sorted(known.union(cuts))).encode())
        self._count.read += size + len(infos) * OBJECT_BYTES
        return pack


def _is_plain(rows: Sequence[Row], tree: bytes) -> bool:
    """Tell whether a tree is as lace writes it: its rows in git's order and modes, no name twice."""
    names = {row.name for row in rows}
    return len(names) == len(rows) and all(map(_NAME.fullmatch, names)) and tree_of(rows) == tree


def _row_bytes(name: str) -> int:
    """Return the bytes in which a ref is told: its id, its name and what stands between."""
    return 40 + len(f"\t{REFS}\n") + len(name)
