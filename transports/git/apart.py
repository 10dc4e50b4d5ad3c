"""What is asked of the remote of a private repository, or pushed to it, by somebody who has nothing (decision 7a).

Who fetches from a private repository tells the host what lies in it, and the host sends nothing of that; and git pushes
nothing of what the host shows. So both are done from an empty one beside it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence

from transports.errors import PlaceUnreachable, UnreadableFile
from transports.git import upkeep
from transports.git.command import GitRunner
from transports.git.repository import Repository
from transports.git.talks import SLACK, Absent, HungUp, Stumbled, Talks, Unadvertised
from transports.layout import MIB
from transports.mailbox import ByteCount
from vault.errors import PlaceError

__all__ = ["Apart"]

_ASKING = "lace-apart"
_BLAMED = 4  # objects that lie here and are asked for to find out over what the host stumbles


class Apart:
    """Talks with the remote of a private repository from another one, in which nothing lies.

    Args:
        here: the private repository.
        git: runs git in it.
        count: takes the bytes moved.
    """

    def __init__(self, here: Repository, git: GitRunner, count: ByteCount) -> None:
        self._here = here
        self._git = git
        self._count = count

    def is_refused(self, oid: str, *, is_piece: bool = False) -> bool:
        """Tell whether the far side is known not to give an object; as `_refuses`."""
        return bool(self._refuses(oid, is_piece=is_piece))

    def _refuses(self, oid: str, *, is_piece: bool = False) -> bool | None:
        """Ask the far side for an object as somebody who has nothing; tell whether it does not give it.

        None where nobody will ever know: it speaks an old protocol.

        Args:
            oid: its id.
            is_piece: whether it is a piece; a commit or tree is nothing without what lies in it.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        try:
            with self._lent() as (_, talks):
                if is_piece:
                    talks.fetch_objects([oid], MIB)
                else:
                    talks.fetch_commit(oid)
        except UnreadableFile:
            return True
        except Unadvertised:
            return None
        return False

    def refused_of(self, oids: Sequence[str]) -> set[str] | None:
        """Return those of some small blobs that the far side does not give; None where it cannot be asked so.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        refused: set[str] = set()
        left = [list(oids)] if oids else []
        try:
            with self._lent() as (_, talks):
                while left:
                    some = left.pop()
                    if _are_given(talks, some):
                        continue
                    if half := len(some) // 2:
                        left += [some[:half], some[half:]]
                    else:
                        refused.update(some)
        except Unadvertised:
            return None
        return refused

    def is_to_blame(self, stumbled: Stumbled) -> bool | None:
        """Tell whether the host stumbles because it lost what lies here; else what was asked for names it amiss.

        None where nobody can say.
        """
        try:
            answers = {self._refuses(oid) for oid in sorted(stumbled.oids)[:_BLAMED]}
        except (PlaceError, OSError):
            return True
        return True if True in answers else None if None in answers else False

    def push(self, oid: str, name: str, tip: str, expected: str) -> None:
        """Push a commit with all in its tree, though the remote shows a tip that has some of it; as `Talks.push`.

        Git sends nothing that lies in what the remote shows, whether it is still there or not. So it is pushed from
        where that tip lies, and the commits behind it, with nothing that is in them.
        """
        here = self._here
        here.flush()
        with self._lent() as (other, talks):
            given = here.with_tree(oid)
            size = here.give(other, list(dict.fromkeys([*given, *here.behind(oid), *here.behind(tip)])))
            talks.push(oid, name, size, len(given), expected=expected, asks_first=True)
        here.note(name, oid)

    def lacks_commit(self, oid: str) -> bool:
        """Tell whether the remote is known to lack a commit itself, and not what lies in its tree.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        try:
            with self._lent() as (_, talks):
                talks.fetch_commit(oid)
        except UnreadableFile as error:
            return isinstance(error.__cause__, Absent) and oid in error.__cause__.oids
        except Unadvertised:
            return False
        return False

    @contextlib.contextmanager
    def _lent(self) -> Iterator[tuple[Repository, Talks]]:
        """Lend a private repository in which nothing lies, and its talks; it goes afterwards."""
        path = self._here.path.with_name(f"{self._here.path.stem}-apart.git")
        with upkeep.turn(self._here.path / _ASKING, f"is asking {self._git.remote.shown}", self._git.patience):
            shutil.rmtree(path, ignore_errors=True)
            git = self._git.at(path)
            other = Repository(git)
            talks = Talks(other, git, self._count)
            other.begin(path)
            try:
                yield other, talks
            finally:
                talks.close()
                other.close()
                shutil.rmtree(path, ignore_errors=True)


def _are_given(talks: Talks, oids: list[str]) -> bool:
    """Tell whether the far side gives small blobs to a repository in which nothing lies, all of them at once.

    Raises:
        PlaceUnreachable: it cannot be asked for them, and for one of them alone no sooner.
        Unadvertised: it gives out nothing but what its branches point at.
    """
    try:
        talks.fetch_objects(oids, SLACK)
    except UnreadableFile:
        return False
    except PlaceUnreachable as error:  # or git there ended without a word, at one that is empty
        if len(oids) == 1 or not isinstance(error.__cause__, HungUp):
            raise
        return False
    return True
