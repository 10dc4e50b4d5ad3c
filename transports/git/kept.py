"""What is kept on the disk while a branch of one's own is away from a host, for it may lie nowhere else (LAZ-63)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from transports.errors import UnreadableFile
from transports.git import upkeep
from transports.git.private import PrivateRepository
from vault.errors import LaceError
from vault.files import read_bounded, write_atomic

__all__ = ["Job", "all_of", "drop", "keep", "noted", "opened"]

_NOTE = "again"  # a file of the directory that is kept: the branch, where it stood, and where it is to stand
_NOTED = re.compile(r"([0-9a-f]{80}(?:-[1-9][0-9]{0,3})?) ([0-9a-f]{40}) ([0-9a-f]{40})\n", re.ASCII)
_NOTE_BYTES = 256
_MAILBOX = 80  # characters of a branch's name that say whose it is


class Job(NamedTuple):
    """A branch that was to be deleted, where it stood, and where it is to stand."""

    name: str
    tip: str
    commit: str


def noted(private: PrivateRepository, name: str) -> Job | None:
    """Return what is to be finished of a mailbox, by any branch of it, or None."""
    try:
        match = _NOTED.fullmatch(read_bounded(_kept_at(private, name) / _NOTE, _NOTE_BYTES).decode("ascii", "replace"))
    except (OSError, LaceError):
        return None
    return Job(*match.groups()) if match else None


@contextmanager
def opened(private: PrivateRepository, name: str) -> Iterator[PrivateRepository]:
    """Lend the repository that is kept of a mailbox."""
    other = private.beside(_kept_at(private, name), tidies=False)
    try:
        yield other
    finally:
        other.close()


def keep(private: PrivateRepository, job: Job, there: Collection[str]) -> None:
    """Keep a commit, with all of it but what lies in commits that the host has, so that a power cut leaves it."""
    drop(private, job.name)
    with opened(private, job.name) as other:
        private.give(other, all_of(private, job.commit, there))
        upkeep.make_lasting(other.path)
        write_atomic(other.path / _NOTE, f"{job.name} {job.tip} {job.commit}\n".encode())


def all_of(private: PrivateRepository, commit: str, there: Collection[str] = ()) -> list[str]:
    """Return a commit and those behind it, with what lies in the tree of each that has it here and is not there."""
    commits = private.behind(commit)
    found = dict.fromkeys(commits)
    for oid in commits:
        with suppress(UnreadableFile):
            found |= dict.fromkeys(private.with_tree(oid) if oid not in there else ())
    return list(found)


def drop(private: PrivateRepository, name: str) -> None:
    """Keep nothing of a mailbox any more."""
    path = _kept_at(private, name)
    with suppress(OSError):
        (path / _NOTE).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def _kept_at(private: PrivateRepository, name: str) -> Path:
    return private.path.with_name(f"{private.path.stem}-again-{name[:_MAILBOX]}.git")
