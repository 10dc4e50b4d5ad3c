"""Reading the mailboxes of a view, and seeing to those of mine that the host lost, or that somebody took away (LAZ-63).

Nothing is written into a mailbox of my own before it is what it was: what was let go here may lie at the host alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from transports.errors import WRITE_REFUSALS, PlaceNotWritable, UnreadableFile
from transports.git.backup import SetAside
from transports.git.complaints import way_out
from transports.git.pace import SentTooMuch
from transports.git.refusals import Moved
from transports.git.repository import Repository
from transports.git.repush import bring_over, finish, push_again
from transports.git.setback import follows
from transports.git.talks import Unfetched
from transports.git.tree import Front, MailboxTree, load_front, load_mailbox
from transports.git.view import View
from vault.errors import DataError, PlaceError
from vault.lock import Patience
from vault.records.hashes import Verifier

__all__ = ["MailboxView"]

_T = TypeVar("_T")


class MailboxView(View):
    """Mailboxes of one git remote, those of mine put right first; as `View`.

    Args:
        uri, home, known_id, patience, beside: as `View`.
        mends: whether a mailbox of my own of which the host lost a part is pushed again; else it is only told.
    """

    def __init__(
        self,
        uri: str,
        home: Path,
        known_id: str | None,
        patience: Patience,
        *,
        mends: bool,
        beside: Collection[str] = (),
    ) -> None:
        super().__init__(uri, home, known_id, patience, beside=beside)
        self._mends = mends
        self._unmended: set[str] = set()  # of the broken, those of mine that the host does not take back now
        self._left: set[str] = set()  # mailboxes of mine that are damaged, and to be mended by whoever writes there
        self._pushed_again: set[str] = set()  # tips of mine that were, or were tried
        self._finished: set[str] = set()  # mailboxes of which nothing is left to bring back in this view

    def check(self) -> None:
        """Ask the remote where its branches stand now."""
        super().check()
        self._unmended.clear()
        self._finished.clear()

    def took(self, name: str, commit: str, box: MailboxTree, *, is_whole: bool = True) -> None:
        """Take note of a push of this place's own; one that is not whole is to be followed by others."""
        super().took(name, commit, box, is_whole=is_whole)
        self._unmended.discard(name)

    def begin_mending(self) -> None:
        """Mend from now on what is mine: it is to be written, and what only the host has would be written over."""
        self._mends = True
        for name in self._left:
            self._broken.pop(name, None)
        self._left.clear()

    def mailbox(self, group: str, node: Verifier) -> MailboxTree | None:
        """Return a node's mailbox as the remote holds it, or None.

        Raises:
            UnreadableFile: it is damaged; `Unfetched` where it only did not come, which says nothing of it.
            PlaceError: the remote cannot be asked.
        """
        return self._loaded(group, node, self._boxes, load_mailbox)

    def front(self, group: str, node: Verifier) -> Front | None:
        """Return what stands at the beginning of a node's mailbox; as `mailbox`."""
        return self._loaded(group, node, self._fronts, load_front)

    def _loaded(
        self,
        group: str,
        node: Verifier,
        known: MutableMapping[str, _T],
        load: Callable[[Repository, str], _T],
    ) -> _T | None:
        tip = self._arrived(group, node)
        if tip is None:
            return None
        if tip not in known:
            try:
                known[tip] = load(self.private.here, tip)
            except (DataError, PlaceNotWritable):
                if not (self.private.here.is_own(tip) and self._is_renewed()):
                    raise
                return self._loaded(group, node, known, load)
        return known[tip]

    def _arrived(self, group: str, node: Verifier) -> str | None:
        """Return the commit at which a node's mailbox stands, which is here; as `mailbox`."""
        if self._mends:
            self._finish_or_note(group, node)
        name = self.ref(group, node)
        if name not in self._refs and name not in self._unmended:
            return None
        self._fetch_group(group)
        if self._mends:
            self._finish_or_note(group, node)  # what came may be no mailbox of mine
        if name in self._broken and self._is_mended(name):
            return self._arrived(group, node)
        if name in self._broken:
            error = self._broken[name]
            is_unmended = name in self._unmended
            if isinstance(error, PlaceNotWritable) and not is_unmended and self._is_renewed():  # it blames what is here
                return self._arrived(group, node)
            told = f"The mailbox of {node.text} cannot be fetched: {error.message}"
            fault = UnreadableFile if isinstance(error, DataError | SentTooMuch) else Unfetched
            raise fault(told, hint=error.hint if is_unmended else way_out(self.private.here.path)) from error
        tip = self._refs.get(name)
        if tip is None:
            return None
        if self.private.here.notes.is_own(name) and self._is_lost(group, tip):
            self._broken[name] = UnreadableFile(f"{self.describe()} lost a part of it.")
            if self._mends:
                self._mend(name, tip)
            else:
                self._left.add(name)
            return self._arrived(group, node)
        return tip

    # What is mine

    def _fetch_group(self, group: str) -> None:
        """Fetch as `View`; what a copy of this vault wrote of mine meanwhile is how it stood last."""
        is_first = group not in self._ready
        mine = map(self.youngest, self.private.here.notes.own())
        fresh = [name for name in mine if is_first and self._is_fresh(name)]
        super()._fetch_group(group)
        for name in fresh:
            tip = self._refs.get(name)
            if tip is not None and name not in self._broken and self._is_written(name, tip):
                self.private.here.note_mine(name, tip)
            self._finished.discard(name.partition("-")[0])

    def _is_fresh(self, name: str) -> bool:
        tip = self._refs.get(name)
        return tip is not None and self.private.here.seen().get(name) != tip and not self.private.here.has(tip)

    def _is_written(self, name: str, tip: str) -> bool:
        """Tell whether a commit that came holds what may have been written after how it stood last."""
        mine = self.private.here.last(name)
        with suppress(DataError, PlaceNotWritable):
            return mine is None or not self.private.here.has(mine) or follows(self.private.here, tip, mine)
        return False

    def _is_lost(self, group: str, tip: str) -> bool:
        """Tell whether the host lost the tip of a mailbox of my own; asked where somebody says so, and now and then."""
        told_by = self._told(group).get(tip)
        if self._mends and self.private.here.notes.is_due():
            return self._losses.is_gone(tip, told_by or (), is_tip=True, anew=True)
        return told_by is not None and self._losses.is_gone(tip, told_by, is_tip=True)

    def finish(self, group: str, node: Verifier) -> None:
        """See to it that what is written next into a mailbox of my own leaves nothing behind; as `again.finish`."""
        name = self.ref(group, node)
        mine = name.partition("-")[0]
        if mine not in self._finished:
            try:
                with self._told_moved():
                    finish(self, name)
            except SetAside:
                self._finished.add(mine)  # it is told in this visit, and the next one writes
                raise
            self._finished.add(mine)
            if name in self._unmended and name not in self._refs:  # now there was nothing to bring back
                self._broken.pop(name, None)
                self._unmended.discard(name)

    def _finish_or_note(self, group: str, node: Verifier) -> None:
        """Finish it where the host takes something in; else the others are read all the same."""
        name = self.ref(group, node)
        if name not in self._unmended:
            try:
                self.finish(group, node)
            except WRITE_REFUSALS as error:
                self._broken[name] = error
                self._unmended.add(name)

    def _is_mended(self, name: str) -> bool:
        """Push a mailbox of my own once more that does not come, and lies here still; tell whether that was tried now.

        It stands here yet where it was beside it that git at the host stumbled over it, and all was begun anew.
        """
        tip = self._refs.get(name)
        is_final = isinstance(self._broken[name], DataError | SentTooMuch)
        if not self._mends or tip is None or tip in self._pushed_again or not is_final:
            return False
        if self.private.here.last(name) != tip:
            return self._is_brought_over(name, tip)
        if not self.private.here.has(tip) or not self._losses.is_gone(tip, (), is_tip=True):
            return False
        self._mend(name, tip)
        return True

    def _is_brought_over(self, name: str, tip: str) -> bool:
        """Put a mailbox of my own back over what nobody can take, and somebody pushed; tell whether that was tried."""
        self._pushed_again.add(tip)
        try:
            with self._told_moved():
                return bring_over(self, name, tip)
        except WRITE_REFUSALS as error:
            self._broken[name] = error
            self._unmended.add(name)
            return True

    def _mend(self, name: str, tip: str) -> None:
        """Push the own mailbox once more as it lies here; where that is nowhere, what is here is written anew."""
        self._pushed_again.add(tip)
        try:
            with self._told_moved():
                push_again(self, name, tip, load_mailbox(self.private.here, tip))
        except DataError as error:
            self._broken[name] = error  # it may have gone there, and be refused still
        except PlaceError as error:
            if name not in self._refs:
                raise  # the branch is gone: nothing is to be read or written over this line now
            self._broken[name] = error  # which may be over at the next visit: nothing is written anew for it
            self._unmended.add(name)
        else:
            self._broken.pop(name, None)

    @contextmanager
    def _told_moved(self) -> Iterator[None]:
        """Tell of a push that found its branch moved as of one that was refused: the next visit looks anew."""
        try:
            yield
        except Moved as error:
            raise error.refusal from error
