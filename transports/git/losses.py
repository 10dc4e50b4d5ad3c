"""What readers of a git place say that the host lost, and whether it did (decision 7a).

Who cannot get a piece or a tip says so in their own mailbox. Whoever it concerns asks the host for it as somebody who
has nothing, so that nobody is made to write anew what lies there whole; what is whole is not asked for again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress

from blake3 import blake3

from transports.git.apart import Apart
from transports.git.repository import Repository
from transports.layout import MIB
from vault.errors import LaceError, PlaceError
from vault.files import read_bounded, write_atomic

__all__ = ["Losses"]

_WHOLE_ASKED = 16  # losses in one visit that turn out to be none; each costs a fetch of 1 MiB
_ASKED = 256  # objects that are asked for in one visit; what is said of others waits for the next
_WHOLE = "told"  # a file of the private repository: what was whole, and a digest of the commits that said it is not
_MARK_BYTES = 8
_LINES = 16_384  # kept, one an object, below 1 MiB: so a liar makes nobody fetch the same again and again


class Losses:
    """Asks a host for what it is said to have lost.

    Args:
        here: the private repository, where it is remembered what was whole.
        apart: asks the host.
    """

    def __init__(self, here: Repository, apart: Apart) -> None:
        self._here = here
        self._apart = apart
        self._known: dict[str, bool] = {}
        self._marks: dict[str, str] | None = None
        self._is_over = False

    def in_turn(self, oids: Iterable[str]) -> list[str]:
        """Return objects in the order in which to ask for them: those first that never were whole, or the longest ago.

        Whoever says much of what is whole, anew at each visit, keeps nobody from finding what is lost.
        """
        turns = {oid: number for number, oid in enumerate(self._whole())}
        return sorted(oids, key=lambda oid: turns.get(oid, -1))

    def is_gone(self, oid: str, told_by: Collection[str], *, is_tip: bool = False, anew: bool = False) -> bool:
        """Tell whether the host does not give an object.

        Args:
            oid: its id.
            told_by: the commits that say so.
            is_tip: whether it is a commit, which is nothing without what lies in its tree.
            anew: ask for it also where it was whole when it was asked for.
        """
        if oid not in self._known:
            mark = blake3("".join(sorted(told_by)).encode()).hexdigest(_MARK_BYTES)
            whole = self._whole()
            if (whole.get(oid) == mark and not anew) or self._is_enough():
                return False
            try:
                self._known[oid] = self._apart.is_refused(oid, is_piece=not is_tip)
            except (PlaceError, OSError):
                self._is_over = True  # nobody knows: the next visit asks for it
                return False
            if not self._known[oid]:
                whole.pop(oid, None)
                whole[oid] = mark
                lines = [f"{oid} {mark}" for oid, mark in whole.items()][-_LINES:]
                with suppress(LaceError, OSError):  # it is asked for once more then
                    write_atomic(self._here.path / _WHOLE, "\n".join(lines).encode(), durable=False)
        return self._known[oid]

    def _is_enough(self) -> bool:
        """Tell whether nothing more is to be asked for in this visit."""
        found_whole = sum(not is_gone for is_gone in self._known.values())
        return self._is_over or len(self._known) >= _ASKED or found_whole >= _WHOLE_ASKED

    def _whole(self) -> dict[str, str]:
        if self._marks is None:
            try:
                text = read_bounded(self._here.path / _WHOLE, MIB).decode("ascii", "replace")
            except (OSError, LaceError):
                text = ""
            self._marks = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
        return self._marks
