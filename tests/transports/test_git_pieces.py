"""Pieces of files at a git place: what is asked about them before they are fetched (decision 7a)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.transports.git_hosts import bare_repository
from transports.git.command import GitRunner
from transports.git.pieces import PieceSource
from transports.git.private import PrivateRepository
from transports.git.remote import parse_remote
from transports.git.repository import Repository
from transports.git.talks import Talks
from transports.git.tree import PIECE, Filed, MailboxTree
from transports.mailbox import ByteCount


class _Here(Repository):
    """Pieces that lie here, and how many were asked about."""

    def __init__(self, git: GitRunner) -> None:
        super().__init__(git)
        self.pieces: set[str] = set()
        self.asked = 0

    def missing(self, oids: Sequence[str]) -> list[str]:
        self.asked += len(oids)
        return [oid for oid in oids if oid not in self.pieces]

    def read(self, oids: Sequence[str], limit: int) -> list[bytes]:
        return [b"x" * PIECE for _ in oids]


class _Talks(Talks):
    """Talks with a host that has every piece."""

    def __init__(self, here: _Here, git: GitRunner) -> None:
        super().__init__(here, git, ByteCount())
        self._pieces = here.pieces
        self.fetched: list[str] = []

    def fetch_objects(self, oids: Sequence[str], size: int) -> None:
        self.fetched += oids
        self._pieces.update(oids)

    def fetch_all(self, pieces: list[str]) -> None:
        raise AssertionError(pieces)


@pytest.mark.parametrize(("lacking", "asked", "fetched"), [(5000, 104, 4), (9, 104, 4), (8, 10_000, 8)])
def test_what_is_asked_of_a_large_mailbox_ends_where_it_is_known(
    tmp_path: Path, lacking: int, asked: int, fetched: int
) -> None:
    """A receiver keeps few pieces of it, and each of them was asked about before every fetch."""
    git = GitRunner(tmp_path / "home", parse_remote(f"git+file:{bare_repository(tmp_path / 'host.git')}"))
    private = PrivateRepository(git, ByteCount())
    private.here = here = _Here(git)
    private.talks = talks = _Talks(here, git)
    pieces = tuple(f"{number:040x}" for number in range(5000))
    here.pieces.update(pieces[lacking:])
    source = PieceSource(private, talks.fetch_all)
    box = MailboxTree(files={"a.bundle": Filed(len(pieces) * PIECE, pieces)})
    assert len(source.get(box, "a.bundle", 0)) == PIECE
    assert len(talks.fetched) == fetched
    assert here.asked == asked
