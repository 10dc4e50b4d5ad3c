"""A git place as those know it who write there (decision 7a): what was fetched, where branches stand, what is lost.

`transports.git.place.GitPlace` is one. Who writes knows this alone, so that the place can know its writers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from transports.git.pieces import PieceSource
    from transports.git.private import PrivateRepository
    from transports.git.remote import GitRemote
    from transports.git.tree import MailboxTree
    from vault.errors import LaceError
    from vault.records.hashes import Verifier

__all__ = ["WritablePlace"]


class WritablePlace(Protocol):
    """A git place, as its writers know it: its port for them. Names of branches are those below lace/."""

    private: PrivateRepository
    pieces: PieceSource
    remote: GitRemote

    def describe(self) -> str:
        """Return the address without user names."""

    def check(self) -> None:
        """Ask the remote anew, and refuse to go on if it went away or another one took its place."""

    def mailbox(self, group: str, node: Verifier) -> MailboxTree | None:
        """Return a node's mailbox as the remote holds it, or None."""

    def private_box(self, name: str) -> MailboxTree:
        """Return the mailbox behind a branch that this place has read or pushed."""

    def ref(self, group: str, node: Verifier) -> str:
        """Return the name of a node's branch: of several generations the youngest."""

    def youngest(self, name: str) -> str:
        """Return the youngest generation of a branch."""

    def generations(self, name: str) -> list[str]:
        """Return the branches of all generations of a mailbox, by the name of any, the oldest first."""

    def tip(self, name: str) -> str | None:
        """Return the commit a branch stood at when the remote was last asked."""

    def took(self, name: str, commit: str, box: MailboxTree, *, is_whole: bool = True) -> None:
        """Take note of a push; one that is not whole is to be followed by others."""

    def warn(self, error: LaceError) -> None:
        """Let the person know of something that keeps nothing from going on."""

    def gone(self, name: str) -> None:
        """Take note that a branch was deleted."""

    def gone_pieces(self, group: str, box: MailboxTree) -> set[str]:
        """Return pieces of a mailbox that the host does not give: one at least of each file that lacks some."""

    def losses(self) -> tuple[str, ...]:
        """Return the pieces and tips that the host did not give in this visit."""

    def finish(self, group: str, node: Verifier) -> None:
        """See to it that what is written next into a mailbox of my own leaves nothing behind."""
