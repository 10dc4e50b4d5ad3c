"""The roads of the conformance suite.

How a road joins: write a class with the methods of `Road`, whose constructor takes an empty directory, and add it to
`ROADS`. A road that needs a server starts it in `__enter__` and stops it in `__exit__`. Nothing else is to be done:
every scenario in `test_roads.py` then runs over it. A slow road also goes into `_LONG`: it is run when
`LACE_TEST_PROFILE` is set, as continuous integration does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol, Self

from tests.live.servers import serving
from tests.people import Person
from tests.transports.git_hosts import bare_repository, daemon

__all__ = ["ROADS", "Copy", "Road", "chosen_roads", "meet"]


class Road(Protocol):
    """A medium between people, as they meet it: an address, and bytes that somebody may spoil.

    Attributes:
        uri: what a person names with `lace place add`.
        options: what they add to it.
        medium: the directory in which everything that rests on the road lies.
        kind: what results call it.
    """

    uri: str
    options: tuple[str, ...]
    medium: Path
    kind: str

    def __enter__(self) -> Self:
        """Be there."""

    def __exit__(self, *reason: object) -> None:
        """Be gone, with every process that was started."""

    def prepare(self, host: Person) -> None:
        """Make the road ready for a group that its host has just founded."""

    def victims(self) -> list[Path]:
        """Return the files at rest that a byte may rot in, at least one of each kind."""


class _Directory:
    """What roads have in common whose bytes rest in a directory of this machine."""

    options: tuple[str, ...] = ()
    kind: str = ""

    def __init__(self, root: Path) -> None:
        self.medium = root / "medium"
        self.uri = str(self.medium)
        self.stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stack.close()

    def prepare(self, host: Person) -> None:
        del host

    def victims(self) -> list[Path]:
        return sorted(path for path in self.medium.rglob("*") if path.is_file() and path.stat().st_size)


class DropRoad(_Directory):
    """A directory, as on a stick."""

    kind = "drop"


class BareRoad(_Directory):
    """A bare repository by its path."""

    kind = "git"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.medium = bare_repository(root / "medium.git")
        self.uri = str(self.medium)

    def victims(self) -> list[Path]:
        """Objects; what else lies in a repository belongs to git."""
        return sorted(path for path in (self.medium / "objects").rglob("*") if path.is_file() and path.stat().st_size)


class DaemonRoad(BareRoad):
    """The same repository behind a git daemon on the loopback."""

    def __enter__(self) -> Self:
        self.uri = self.stack.enter_context(daemon(self.medium.parent)) + self.medium.name
        return self


class SealedDropRoad(DropRoad):
    """A directory in which only members can read."""

    options: tuple[str, ...] = ("--encrypt",)


class SealedBareRoad(BareRoad):
    """A bare repository in which only members can read."""

    options: tuple[str, ...] = ("--encrypt",)


class LiveRoad(_Directory):
    """A friend at home who serves day and night; everybody else meets there."""

    kind = "live"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._stick = root / "handed-over"
        self._home = Person("home", root / "homes" / "home", root / "home")
        self.medium = self._home.folder / ".vault"

    def prepare(self, host: Person) -> None:
        """Let the friend at home join by a stick, and serve from then on."""
        host.lace("place", "add", "handed-over", str(self._stick))
        self._home.lace("accept", host.lace("invite", "home")["invite"], "--name", "home")
        for person in (self._home, host, self._home, host):
            person.lace("sync", "handed-over")
        host.lace("place", "remove", "handed-over")
        self._home.lace("place", "remove", "handed-over")
        self.uri = self.stack.enter_context(serving(self._home)).uri

    def victims(self) -> list[Path]:
        """Nothing: what rests there is a vault, and its owner's fsck looks after it."""
        return []


ROADS: dict[str, Callable[[Path], Road]] = {
    "drop": DropRoad,
    "bare": BareRoad,
    "daemon": DaemonRoad,
    "sealed-drop": SealedDropRoad,
    "sealed-bare": SealedBareRoad,
    "live": LiveRoad,
}


_LONG = frozenset({"daemon", "sealed-bare"})


def chosen_roads() -> list[str]:
    """Return the names of the roads that this run takes."""
    return sorted(set(ROADS) - (_LONG if "LACE_TEST_PROFILE" not in os.environ else frozenset()))


class Copy:
    """An older state of a medium, to bring it back to."""

    def __init__(self, road: Road, where: Path) -> None:
        self._road = road
        self._where = where
        shutil.copytree(road.medium, where, symlinks=True)

    def bring_back(self) -> None:
        """Let the medium be what it was."""
        for entry in self._road.medium.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.copytree(self._where, self._road.medium, symlinks=True, dirs_exist_ok=True)


def meet(road: Road, host: Person, *friends: Person) -> None:
    """Let a host found a group on the road and friends join it; afterwards everybody knows everybody."""
    host.lace("init", "--name", host.name)
    road.prepare(host)
    host.lace("place", "add", "road", road.uri, *road.options)
    for friend in friends:
        friend.lace("accept", host.lace("invite", friend.name)["invite"], "--name", friend.name)
        friend.lace("sync", "road")
    for person in (host, *friends, host):
        person.lace("sync", "road")
