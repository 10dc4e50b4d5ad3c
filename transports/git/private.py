"""The private repository of a git place: what lies in it, and the talks with its remote (decision 7a)."""

from __future__ import annotations

from pathlib import Path

from transports.git.apart import Apart
from transports.git.command import GitRunner
from transports.git.repository import Repository
from transports.git.talks import Talks
from transports.mailbox import ByteCount

__all__ = ["PrivateRepository"]


class PrivateRepository:
    """A private repository by its parts, which are the same for as long as it is used.

    Args:
        git: runs git in it; nobody else's.
        count: takes the bytes moved.

    Attributes:
        here: what lies in it, to be begun first.
        talks: lists, fetches and pushes.
        apart: asks and pushes as somebody who has nothing.
    """

    __slots__ = ("apart", "here", "talks")

    def __init__(self, git: GitRunner, count: ByteCount) -> None:
        self.here = Repository(git)
        self.talks = Talks(self.here, git, count)
        self.apart = Apart(self.here, git, count)

    def renew(self) -> bool:
        """Begin anew, with nothing, unless somebody else uses it; tell whether it was."""
        self.talks.close()
        return self.here.renew()

    def move(self, path: Path) -> None:
        """Give it its lasting name, or let it go where there is one already, and use that."""
        if (path / "HEAD").is_file():  # another one is begun then, as by `renew`
            self.talks.close()
        self.here.move(path)

    def close(self) -> None:
        """Let the gits that stay go, and the directory; what is asked next starts others and holds it again."""
        self.talks.close()
        self.here.close()
