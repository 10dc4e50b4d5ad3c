"""Handing a push over to a repository in a directory of this machine (decision 7a).

What takes it in is git's own `receive-pack`, which proves what comes and moves the ref, as it answers any push. Three
processes stand before it where git pushes: git itself, a shell, and one that packs what lies here. Lace knows what it
wrote and packs that itself. Where it is not taken at once, for whatever reason, git pushes, and says why not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from io import BufferedReader

from transports.errors import UnreadableFile
from transports.git.branches import REFS
from transports.git.command import GitRunner
from transports.git.host import HostRepository, NotPlain, Receiving, batches
from transports.git.local import check_directory
from transports.git.object_files import Info
from transports.git.objects import rows_of
from transports.git.packs import packed
from transports.git.repository import TREE_ROWS, Repository
from transports.layout import MIB
from transports.mailbox import ByteCount

__all__ = ["Handover"]

_NOWHERE = "0" * 40
_LARGE = 16 * MIB  # bytes of a push that is worth the eyes that git has on how it gets on
_LINE_BYTES = 4  # in which a line says how long it is, in hex
_COMMITS = 100  # that one push brings at most


class Handover:
    """Pushes to the remote of a place where that is on this machine.

    Args:
        here: the private repository, in which lies what is pushed.
        git: runs git in it.
        host: the repository of the remote.
        count: takes the bytes moved.
    """

    def __init__(self, here: Repository, git: GitRunner, host: HostRepository, count: ByteCount) -> None:
        self._here = here
        self._git = git
        self._host = host
        self._count = count

    def bring(self, oid: str, name: str, size: int) -> bool:
        """Bring a ref of the remote from the first commit behind another to that one, or begin it there.

        Args:
            oid: the commit.
            name: the ref below lace/.
            size: bytes that are new there, about.

        Returns:
            Whether the remote says that the ref stands there now; where it does not, git is to push.

        Raises:
            PlaceError, PlaceNotWritable: the directory is none that may be used, or the disk here takes nothing.
            PlaceUnreachable: the git there hangs.
            Cancelled: the person would not wait any longer.
        """
        if self._git.remote.path is None or size > _LARGE:
            return False
        check_directory(self._git)
        self._here.hold_again()
        try:
            with self._host.receives() as there:
                self._here.flush()
                stood = self._here.seen().get(name, _NOWHERE)
                if stood not in (*self._here.parents(oid)[:1], _NOWHERE):
                    return False
                infos = self._beyond(oid, stood)  # all of it while it starts
                if _heard(there.answers).get(REFS + name, _NOWHERE) != stood:
                    return False
                return self._is_taken(there, f"{stood} {oid} {REFS}{name}", infos)
        except (NotPlain, UnreadableFile, BrokenPipeError):
            return False

    def _is_taken(self, there: Receiving, command: str, infos: Sequence[Info]) -> bool:
        line = f"{command}\0 report-status".encode()
        there.questions.write(b"%04x%s0000" % (len(line) + _LINE_BYTES, line))
        for part in packed(len(infos), self._contents_of(infos)):
            there.questions.write(part)
        there.questions.close()
        answer = there.answers.read()
        code = there.process.wait()
        self._count.read += len(answer)
        ref = command.rpartition(" ")[2]
        expected = (b"unpack ok\n", f"ok {ref}\n".encode())
        said = b"".join(b"%04x%s" % (len(line) + _LINE_BYTES, line) for line in expected) + b"0000"
        return code == 0 and answer == said

    def _contents_of(self, infos: Sequence[Info]) -> Iterator[tuple[str, bytes]]:
        for some in batches(infos):
            self._git.patience.sleep(0)
            for info, data in zip(some, self._here.contents([info.oid for info in some]), strict=True):
                yield info.kind, data

    def _beyond(self, commit: str, stood: str) -> list[Info]:
        """Return what lies in a commit and behind it, and not in the one at which its branch stands there.

        What else lies there is sent again, as git does: what no branch reaches may be rotten, or go at any moment.

        Raises:
            NotPlain: it is more than lace pushes at once.
            UnreadableFile: something of it does not lie here.
        """
        found: dict[str, Info] = {}
        if stood != _NOWHERE:
            self._walk({self._here.root_of(stood)}, found)
        known = {*found, stood}
        level, trees = {commit}, set[str]()
        while level := level - known - found.keys():
            infos = self._here.infos(sorted(level))
            found |= {info.oid: info for info in infos}
            if len(found) - len(known) > _COMMITS:
                raise NotPlain
            level = {parent for oid in level for parent in self._here.parents(oid)}
            trees |= {self._here.root_of(info.oid) for info in infos}
        self._walk(trees, found)
        return [info for oid, info in found.items() if oid not in known]

    def _walk(self, trees: Collection[str], found: dict[str, Info]) -> None:
        """Note some trees and what lies in them, but for what is noted."""
        blobs, level = set[str](), set(trees)
        while level := level - found.keys():
            infos = self._here.infos(sorted(level))
            found |= {info.oid: info for info in infos}
            rows = [rows_of(data, TREE_ROWS) for data in self._here.contents([info.oid for info in infos])]
            if any(row is None for row in rows):
                raise NotPlain
            level = {row.oid for some in rows for row in some or () if row.kind == "tree"}
            blobs |= {row.oid for some in rows for row in some or () if row.kind == "blob"}
        found |= {info.oid: info for info in self._here.infos(sorted(blobs - found.keys()))}


def _heard(answers: BufferedReader) -> dict[str, str]:
    """Return the refs that the remote names before a push.

    Raises:
        NotPlain: it says something else.
    """
    refs: dict[str, str] = {}
    while length := _number(answers.read(_LINE_BYTES)):
        line = answers.read(length - _LINE_BYTES).partition(b"\0")[0].decode("utf-8", "replace").rstrip("\n")
        oid, _, name = line.partition(" ")
        if len(oid) != len(_NOWHERE) or not name:
            raise NotPlain
        refs[name] = oid
    return refs


def _number(text: bytes) -> int:
    try:
        length = int(text, 16)
    except ValueError as error:
        raise NotPlain from error
    if length and length <= _LINE_BYTES:
        raise NotPlain
    return length
