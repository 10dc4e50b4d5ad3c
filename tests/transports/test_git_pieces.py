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
from transports.git.tree import PIECE, Filed, MailboxTree
from transports.mailbox import ByteCount


class _Host(PrivateRepository):
    """A private repository whose host has every piece, and that counts what is asked about."""

    def __init__(self, root: Path) -> None:
        git = GitRunner(root / "home", parse_remote(f"git+file:{bare_repository(root / 'host.git')}"))
        super().__init__(git, ByteCount())
        self.here: set[str] = set()
        self.asked = 0
        self.fetched: list[str] = []

    def missing(self, oids: Sequence[str]) -> list[str]:
        self.asked += len(oids)
        return [oid for oid in oids if oid not in self.here]

    def fetch_objects(self, oids: Sequence[str], size: int) -> None:
        self.fetched += oids
        self.here.update(oids)

    def read(self, oids: Sequence[str], limit: int) -> list[bytes]:
        return [b"x" * PIECE for _ in oids]

    def fetch_all(self, pieces: list[str]) -> None:
        raise AssertionError(pieces)


@pytest.mark.parametrize(("lacking", "asked", "fetched"), [(5000, 104, 4), (9, 104, 4), (8, 10_000, 8)])
def test_what_is_asked_of_a_large_mailbox_ends_where_it_is_known(
    tmp_path: Path, lacking: int, asked: int, fetched: int
) -> None:
    """A receiver keeps few pieces of it, and each of them was asked about before every fetch."""
    host = _Host(tmp_path)
    pieces = tuple(f"{number:040x}" for number in range(5000))
    host.here.update(pieces[lacking:])
    source = PieceSource(host, host.fetch_all)
    box = MailboxTree(files={"a.bundle": Filed(len(pieces) * PIECE, pieces)})
    assert len(source.get(box, "a.bundle", 0)) == PIECE
    assert len(host.fetched) == fetched
    assert host.asked == asked
