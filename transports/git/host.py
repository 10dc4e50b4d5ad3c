"""A repository in a directory of this machine, read where it lies, as `git clone --local` reads one (decision 7a).

A fetch from there starts six processes, and a question for refs three: most of what a small sync by git takes. So refs
and objects are read from their files, each object proven by its name. Whatever is not as plain as what lace writes is
left to git's own talk, which also says what is wrong with it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import IO, NamedTuple

from transports.git.branches import REFS
from transports.git.command import GitRunner
from transports.git.local import far_options, own_directory
from transports.git.object_files import Info, object_id
from transports.git.objects import Objects
from transports.git.pipes import impatient_pipes
from transports.layout import MIB
from vault.errors import LaceError
from vault.files import read_bounded

__all__ = ["HostRepository", "NotPlain", "Receiving", "batches", "packed_refs"]

_LOOSE = re.compile(r"([0-9a-f]{40})\n", re.ASCII)
_LOOSE_BYTES = 41
_PACKED = re.compile(r"(?:#[^\n]*|\^[0-9a-f]{40}|([0-9a-f]{40}) (refs/[!-~]+))", re.ASCII)
_PACKED_BYTES = 4 * MIB
_NAME = re.compile(r"[0-9a-z-]+", re.ASCII)
_OBJECT_BYTES = MIB  # of one object: a piece, or a long list
_PATIENCE = 5.0  # seconds that a git whose push was cut off gets to tidy up
_ASKED = 100  # objects in memory at once
_ASKED_BYTES = MIB  # ... and their bytes


class NotPlain(Exception):  # never leaves this package
    """Something there is lost, damaged, or not as lace writes it: git is to talk about it."""


class _Opened(NamedTuple):
    path: Path
    git: GitRunner
    objects: Objects


class Receiving(NamedTuple):
    """A git that takes in a push: it, what it reads, and what it says; all as `impatient_pipes`."""

    process: subprocess.Popen[bytes]
    questions: IO[bytes]
    answers: BufferedReader


class HostRepository:
    """The repository of a git place, where that is a directory of this machine.

    Args:
        git: runs git for the private repository of that place.
    """

    def __init__(self, git: GitRunner) -> None:
        self._git = git
        self._there: _Opened | None = None

    def refs(self, names: Collection[str] | None = None) -> dict[str, str]:
        """Return the refs below lace/, all or those of some names, with where they stand. Check the directory first.

        As git does, it names those too whose commits are gone.

        Raises:
            NotPlain: it is no such directory, a name is missing, or a ref is none that lace writes.
        """
        if names is None:
            self.close()  # who is asked anew does not hold a pack open that is gone
        inner = self._opened().path
        found = _loose(inner / REFS, names)  # first: a ref that is packed meanwhile is in either
        for name, oid in packed_refs(inner / "packed-refs").items():
            if names is None or name in names:
                found.setdefault(name, oid)
        if names is not None and len(found) < len(set(names)):
            raise NotPlain
        if not all(map(_NAME.fullmatch, found)):
            raise NotPlain
        return found

    def info(self, oids: Sequence[str]) -> list[Info]:
        """Return what objects are, in the order given.

        Raises:
            NotPlain: one of them is not there, or larger than what lace writes.
        """
        infos = [info for info in self._opened().objects.info(oids, anew=True) if info is not None]
        if len(infos) < len(oids) or any(info.size > _OBJECT_BYTES for info in infos):
            raise NotPlain
        return infos

    @contextmanager
    def receives(self) -> Iterator[Receiving]:
        """Lend the git that takes in a push there, as it would answer one: no hook of that repository is run."""
        git = self._opened().git
        # By the path that was checked: git looks for another repository in any that it is given.
        with git.beside(*far_options(), "receive-pack", str(git.remote.path)) as process:
            there = Receiving(process, *self._pipes(process))
            try:
                yield there
            except BaseException:
                there.questions.close()
                with suppress(subprocess.TimeoutExpired):  # ended by a signal, it may leave there what came
                    process.wait(_PATIENCE)
                raise

    def read(self, infos: Iterable[Info]) -> Iterator[tuple[Info, bytes]]:
        """Yield objects with their bytes, which are what their names say.

        Raises:
            NotPlain: one is not.
            Cancelled: the person would not wait any longer.
        """
        for some in batches(infos):
            self._git.patience.sleep(0)
            for info, data in zip(some, self._opened().objects.read([info.oid for info in some]), strict=True):
                if object_id(info.kind, data) != info.oid:
                    raise NotPlain
                yield info, data

    def close(self) -> None:
        """Let the git that stays go; what is asked next starts another."""
        if self._there is not None:
            self._there.objects.close()
            self._there = None

    def _pipes(self, process: subprocess.Popen[bytes]) -> tuple[IO[bytes], BufferedReader]:
        return impatient_pipes(process, self._git.remote.shown, self._git.patience)

    def _opened(self) -> _Opened:
        if self._there is None:
            path = self._git.remote.path
            try:
                inner = own_directory(path) if path is not None else None
            except (OSError, LaceError) as error:
                raise NotPlain from error
            if inner is None:
                raise NotPlain
            git = self._git.at(inner)
            self._there = _Opened(inner, git, Objects(git, lambda *_: NotPlain(), self._pipes))
        return self._there


def _loose(folder: Path, names: Collection[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        there = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 - names alone are wanted
        for name in there:
            if name.endswith(".lock") or (names is not None and name not in names):
                continue
            match = _LOOSE.fullmatch(read_bounded(folder / name, _LOOSE_BYTES).decode("ascii", "replace"))
            if match is None:
                raise NotPlain
            found[name] = match[1]
    except (OSError, LaceError) as error:
        raise NotPlain from error
    return found


def packed_refs(file: Path) -> dict[str, str]:
    """Return the refs below lace/ in a file in which git packs refs, with where they stand.

    Raises:
        NotPlain: it is damaged, or not as git writes it.
    """
    found: dict[str, str] = {}
    try:
        text = read_bounded(file, _PACKED_BYTES).decode("ascii", "replace") if file.exists() else ""
    except (OSError, LaceError) as error:
        raise NotPlain from error
    for line in text.splitlines():
        match = _PACKED.fullmatch(line)
        if match is None:
            raise NotPlain
        if match[2] is not None and match[2].startswith(REFS):
            found[match[2].removeprefix(REFS)] = match[1]
    return found


def batches(infos: Iterable[Info]) -> Iterator[list[Info]]:
    """Yield what is in memory at once of objects."""
    some: list[Info] = []
    size = 0
    for info in infos:
        if some and (len(some) == _ASKED or size + info.size > _ASKED_BYTES):
            yield some
            some, size = [], 0
        some.append(info)
        size += info.size
    if some:
        yield some
