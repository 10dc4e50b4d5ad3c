"""What readers of a git place say that the host lost, and whether it did (decision 7a).

Who cannot get a piece or a tip says so in their own mailbox. Whoever it concerns asks the host for it as somebody who
has nothing, so that nobody is made to write anew what lies there whole; what is whole is not asked for again.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from transports.errors import UnreadableFile
from transports.git.private import PrivateRepository, Unadvertised
from transports.layout import MIB
from vault.errors import LaceError, PlaceError
from vault.files import read_bounded, write_atomic

__all__ = ["Losses"]

_ASKED = 16  # objects that are asked for in one visit; what is said of others waits for the next
_WHOLE = "told"  # a file of the private repository: what was whole, and which commit had said that it is not
_LINES = 512


class Losses:
    """Asks a host for what it is said to have lost.

    Args:
        private: where the talks with it begin.
    """

    def __init__(self, private: PrivateRepository) -> None:
        self._private = private
        self._known: dict[str, bool] = {}

    def is_gone(self, oid: str, told_by: Collection[str], *, is_tip: bool = False) -> bool:
        """Tell whether the host does not give an object.

        Args:
            oid: its id.
            told_by: the commits that say so.
            is_tip: whether it is a commit, which is nothing without what lies in its tree.
        """
        if oid not in self._known:
            lines = [f"{oid} {commit}" for commit in sorted(told_by)]
            whole = self._whole()
            if not set(lines) - set(whole) or len(self._known) >= _ASKED:
                return False
            self._known[oid] = self._is_refused(oid, is_tip=is_tip)
            if not self._known[oid]:
                kept = [line for line in whole if line not in lines][-_LINES:]
                with suppress(LaceError):  # it is asked for once more then
                    write_atomic(self._private.path / _WHOLE, "\n".join([*kept, *lines]).encode(), durable=False)
        return self._known[oid]

    def _whole(self) -> list[str]:
        try:
            return read_bounded(self._private.path / _WHOLE, MIB).decode("ascii", "replace").splitlines()
        except (OSError, LaceError):
            return []

    def _is_refused(self, oid: str, *, is_tip: bool) -> bool:
        try:
            with self._private.apart() as empty:
                if is_tip:
                    empty.fetch_commit(oid)
                else:
                    empty.fetch_objects([oid], MIB)
        except UnreadableFile:
            return True
        except (PlaceError, Unadvertised, OSError):
            return False  # nobody knows
        return False
