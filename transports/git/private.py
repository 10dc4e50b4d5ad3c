"""A private repository of a git place, and what is asked of its remote: what it has and what it lost (decision 7a).

Who fetches from a private repository tells the host what lies in it, and the host sends nothing of that. So such a
question is put from an empty one beside it.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from transports.errors import PlaceUnreachable, UnreadableFile
from transports.git import upkeep
from transports.git.command import GitRunner
from transports.git.talks import HUNG_UP, ON_THE_WAY, SLACK, Absent, HungUp, Stumbled, Talks, Unadvertised
from transports.layout import MIB
from vault.errors import PlaceError

__all__ = ["PrivateRepository"]

_ASKING = "lace-apart"
_NOT_ALL = re.compile(r"expected 'acknowledgments', received 'packfile'")
_NO_QUESTION = re.compile(r"requires protocol v2|does not support (?:wait-for-done|--negotiate-only)|unknown option")
_BLAMED = 4  # objects that lie here and are asked for to find out over what the host stumbles


class PrivateRepository(Talks):
    """A private repository, as `Talks`, and what is asked of its remote from beside it."""

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
            with self._apart() as empty:
                if is_piece:
                    empty.fetch_objects([oid], MIB)
                else:
                    empty.fetch_commit(oid)
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
            with self._apart() as empty:
                while left:
                    some = left.pop()
                    if _are_given(empty, some):
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

    def push_beside(self, oid: str, name: str, tip: str, expected: str) -> None:
        """Push a commit with all that lies in its tree, though the remote shows a tip that has some of it; as `push`.

        Git sends nothing that lies in what the remote shows, whether it is still there or not. So it is pushed from
        where that tip lies, and the commits behind it, with nothing that is in them.
        """
        self.flush()
        with self._apart() as other:
            given = self.with_tree(oid)
            size = self.give(other, list(dict.fromkeys([*given, *self.behind(oid), *self.behind(tip)])))
            other.push(oid, name, size, len(given), expected=expected, asks_first=True)
        self.note(name, oid)

    def lacks_commit(self, oid: str) -> bool:
        """Tell whether the remote is known to lack a commit itself, and not what lies in its tree.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        try:
            with self._apart() as empty:
                empty.fetch_commit(oid)
        except UnreadableFile as error:
            return isinstance(error.__cause__, Absent) and oid in error.__cause__.oids
        except Unadvertised:
            return False
        return False

    def commits_there(self, commits: Collection[str]) -> set[str] | None:
        """Return those of some commits without parents that the remote has, whatever refs reach them.

        None where nobody can say so: it speaks an old protocol.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        self.flush()
        there: set[str] = set()
        left = [sorted(commits)] if commits else []
        while left:
            some = left.pop()
            self.hold_again()
            words = ["fetch", "--negotiate-only", *(f"--negotiation-tip={oid}" for oid in some)]
            code, answer, complaints = self._git.talk(*words, *self._far("upload-pack"), "--", self._git.remote.url)
            self._count.read += len(answer)
            if not code:
                there.update(answer.decode("ascii", "replace").split())
            elif _NO_QUESTION.search(complaints):
                return None
            elif _NOT_ALL.search(complaints) or self._is_hung_up(complaints):
                half = len(some) // 2  # the remote lacks one of them, or one is empty there: ask for fewer
                left += [some[:half], some[half:]] if half else []
            else:
                raise self._fault(complaints)
        return there

    def _is_hung_up(self, complaints: str) -> bool:
        """Tell whether the remote hung up and answers still.

        Raises:
            PlaceError: it does not.
        """
        if not HUNG_UP.search(complaints) or ON_THE_WAY.search(complaints):
            return False
        self.list_remote()
        return True

    def beside(self, path: Path, *, tidies: bool = True) -> PrivateRepository:
        """Return another private repository of the same place; as `begin`. Whoever asks for it closes it."""
        other = PrivateRepository(GitRunner(self._git.home, self._git.remote, self._git.patience), self._count)
        other.begin(path, tidies=tidies)
        return other

    @contextlib.contextmanager
    def _apart(self) -> Iterator[PrivateRepository]:
        """Lend a private repository in which nothing lies, to see what the far side gives; it goes afterwards."""
        path = self.path.with_name(f"{self.path.stem}-apart.git")
        with upkeep.turn(self.path / _ASKING, f"is asking {self._git.remote.shown}", self._git.patience):
            shutil.rmtree(path, ignore_errors=True)
            other = self.beside(path)
            try:
                yield other
            finally:
                other.close()
                shutil.rmtree(path, ignore_errors=True)


def _are_given(empty: PrivateRepository, oids: list[str]) -> bool:
    """Tell whether the far side gives small blobs to a repository in which nothing lies, all of them at once.

    Raises:
        PlaceUnreachable: it cannot be asked for them, and for one of them alone no sooner.
        Unadvertised: it gives out nothing but what its branches point at.
    """
    try:
        empty.fetch_objects(oids, SLACK)
    except UnreadableFile:
        return False
    except PlaceUnreachable as error:  # or git there ended without a word, at one that is empty
        if len(oids) == 1 or not isinstance(error.__cause__, HungUp):
            raise
        return False
    return True
