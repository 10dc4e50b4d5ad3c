"""A backup on the disk while a branch of one's own is away from a host, for it may lie nowhere else (LAZ-63).

It lies here as single objects, so one that a bad disk damaged takes none with it: what is left is taken back, with
what the private repository has of the rest, and what lies nowhere is set aside and named.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from transports.errors import PlaceNotWritable, UnreadableFile
from transports.git import upkeep
from transports.git.repository import Repository
from transports.git.tree import MailboxTree, load_mailbox
from vault.errors import DataError, LaceError
from vault.files import read_bounded, write_atomic

__all__ = ["Job", "SetAside", "TakenBack", "drop", "keep", "noted", "set_aside", "taken_back"]

_NOTE = "again"  # a file of the backup: the branch, where it stood, and where it is to stand
_NOTED = re.compile(r"([0-9a-f]{80}(?:-[1-9][0-9]{0,3})?) ([0-9a-f]{40}) ([0-9a-f]{40})\n", re.ASCII)
_NOTE_BYTES = 256
_MAILBOX = 80  # characters of a branch's name that say whose it is
_SPOILED = "spoiled"  # a directory of the backup: objects that are not what their names say


class Job(NamedTuple):
    """A branch that was to be deleted, where it stood, and where it is to stand."""

    name: str
    tip: str
    commit: str


class SetAside(PlaceNotWritable):
    """A part of a mailbox of yours that was kept here for a git host is damaged, and lies nowhere else."""

    code = "kept-damaged"
    hint = "Run the same command again: what your vault has of it is written anew."


class TakenBack(NamedTuple):
    """The backup of a mailbox, taken back.

    Args:
        box: the mailbox; an empty one where not even its beginning lies anywhere.
        is_listed: whether all of its lists are there.
        spoiled: the objects of the backup that are damaged.
    """

    box: MailboxTree
    is_listed: bool
    spoiled: tuple[str, ...]

    def is_here(self, here: Repository) -> bool:
        """Tell whether by now all of it lies in the private repository."""
        return self.is_listed and not here.missing(self.spoiled)


def noted(here: Repository, name: str) -> Job | None:
    """Return what is to be finished of a mailbox, by any branch of it, or None."""
    note = _backup_path(here, name) / _NOTE
    if not note.is_file():
        return None  # whoever kept it was cut off before the branch was touched
    try:
        match = _NOTED.fullmatch(read_bounded(note, _NOTE_BYTES).decode("ascii", "replace"))
    except (OSError, LaceError):
        match = None
    return Job(*match.groups()) if match else _guessed(here, name)


def _guessed(here: Repository, name: str) -> Job | None:
    """Return what a note that cannot be read must have said: in the backup, one commit alone stands behind none."""
    with _opened(here, name) as other:
        behind: set[str] = set()
        commits: set[str] = set()
        for oid in _whole(other):
            with suppress(UnreadableFile):
                behind.update(other.parents(oid))
                commits.add(oid)
    goals = commits - behind
    return Job(name, "", goals.pop()) if len(goals) == 1 else None


@contextmanager
def _opened(here: Repository, name: str) -> Iterator[Repository]:
    """Lend the repository that is the backup of a mailbox."""
    path = _backup_path(here, name)
    if path.is_dir():
        upkeep.lay_out(path)  # else it would be begun anew, with nothing
    other = here.beside(path)
    try:
        yield other
    finally:
        other.close()


def taken_back(here: Repository, job: Job) -> TakenBack:
    """Take the backup into the private repository."""
    with _opened(here, job.name) as other:
        other.give(here, _whole(other))
        spoiled = tuple(file.name for file in (other.path / _SPOILED).glob("*"))
    for commit in (job.commit, job.tip):
        with suppress(DataError):
            return TakenBack(load_mailbox(here, commit), commit == job.commit, spoiled)
        with suppress(DataError):
            return TakenBack(load_mailbox(here, commit, is_torn=True), is_listed=False, spoiled=spoiled)
    return TakenBack(MailboxTree(), is_listed=False, spoiled=spoiled)


def _whole(other: Repository) -> list[str]:
    """Return the objects that lie there and are what their names say; the others are put where git does not look."""
    for file in upkeep.torn_objects(other.path):
        (other.path / _SPOILED).mkdir(exist_ok=True)
        file.rename(other.path / _SPOILED / f"{file.parent.name}{file.name}")
    return upkeep.singles(other.path)


def set_aside(here: Repository, name: str, shown: str) -> SetAside:
    """Put the backup of a mailbox where lace does not look any more; return what to tell of it."""
    path = _backup_path(here, name)
    number = 1
    while (aside := path.with_name(f"{path.stem}-spoiled-{number}.git")).exists():
        number += 1
    path.rename(aside)
    return SetAside(
        f"What was kept here of your mailbox at {shown} while its branch was away is damaged, and a part of it lies"
        " nowhere else that lace knows.",
        hint=f"Run the same command again: what your vault has is written anew. What is left is kept in {aside}.",
    )


def keep(here: Repository, job: Job, there: Collection[str]) -> None:
    """Keep a commit, with all of it but what lies in commits that the host has, so that a power cut leaves it.

    Raises:
        PlaceNotWritable, NotWritable, DiskFull: it cannot be kept.
    """
    drop(here, job.name)
    with _opened(here, job.name) as other:
        here.give(other, _all_of(here, job.commit, there))
        upkeep.make_lasting(other.path)
        write_atomic(other.path / _NOTE, f"{job.name} {job.tip} {job.commit}\n".encode())


def _all_of(here: Repository, commit: str, there: Collection[str]) -> list[str]:
    """Return a commit and those behind it, with what lies in the tree of each that has it here and is not there."""
    commits = here.behind(commit)
    found = dict.fromkeys(commits)
    for oid in commits:
        with suppress(UnreadableFile):
            found |= dict.fromkeys(here.with_tree(oid) if oid not in there else ())
    return list(found)


def drop(here: Repository, name: str) -> None:
    """Keep nothing of a mailbox any more."""
    path = _backup_path(here, name)
    with suppress(OSError):
        (path / _NOTE).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def _backup_path(here: Repository, name: str) -> Path:
    return here.path.with_name(f"{here.path.stem}-again-{name[:_MAILBOX]}.git")
