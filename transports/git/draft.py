"""What a mailbox of a git place is to be, while it is being written."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from transports.git.tree import Filed, MailboxTree, Stored
from transports.layout import RUN_NAME

__all__ = ["Draft"]


class Draft:
    """What was laid into a mailbox and taken out of it by one writer, over whatever the host holds of it.

    Attributes:
        head: the head that it will have; None for the one that it has.
        beacon: the one that it will have; True for the one that it has, False for none.
        lost: what it will say that the host lost; None for what it says.
    """

    def __init__(self) -> None:
        self.head: Stored | None = None
        self.beacon: Stored | bool = True
        self.lost: tuple[str, ...] | None = None
        self._request: Stored | None = None
        self._drops_request = False
        self._named: set[str] | None = None
        self._added: dict[str, Filed] = {}
        self._removed: set[str] = set()

    @property
    def pieces(self) -> set[str]:
        """What the files that were laid in are made of."""
        return {oid for filed in self._added.values() for oid in filed.pieces}

    def lay(self, name: str, filed: Filed) -> None:
        """Lay a run or bundle in."""
        self._added[name] = filed
        self._removed.discard(name)

    def take_out(self, names: Collection[str]) -> None:
        """Take runs and bundles out."""
        self._added = {name: filed for name, filed in self._added.items() if name not in names}
        self._removed |= set(names)

    def put_request(self, request: Stored | None) -> None:
        """Lay a request in, or take it away for None."""
        self._request, self._drops_request = request, request is None

    def put_head(self, head: Stored, runs: set[str] | None) -> None:
        """Lay a head in, with the names of its runs where they are known: no other run stays then."""
        self.head, self._named = head, runs

    def over(self, base: MailboxTree, there: set[str], *, with_head: bool) -> MailboxTree | None:
        """Return the mailbox that comes after `base`: files appear when all of their pieces are there.

        Args:
            base: the mailbox as the host holds it.
            there: the pieces that the host will hold.
            with_head: whether nothing more is to come, so that the head may name everything.

        Returns:
            None if the head would name a run that is not there.
        """
        box = replace(base, files=dict(base.files), data=dict(base.data))
        box.files = {name: filed for name, filed in box.files.items() if name not in self._removed}
        box.files |= {name: filed for name, filed in self._added.items() if there.issuperset(filed.pieces)}
        if self.head is not None and with_head:
            box.head = self.head
            if self._named is not None:
                if not self._named <= box.files.keys():
                    return None
                for name in [name for name in box.files if RUN_NAME.fullmatch(name) and name not in self._named]:
                    del box.files[name]
        box.request = None if self._drops_request else self._request or box.request
        if not isinstance(self.beacon, bool):
            box.beacon = self.beacon
        elif not self.beacon:
            box.beacon = None
        if self.lost is not None:
            box.lost = self.lost
        box.commits += 1
        return box
