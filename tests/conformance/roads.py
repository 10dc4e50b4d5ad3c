"""The roads of the conformance suite.

How a road joins: write a class with the methods of `Road`, whose constructor takes an empty directory, and add it to
`ROADS`. A road that needs a server starts it in `__enter__` and stops it in `__exit__`. Nothing else is to be done:
every scenario in `test_roads.py` then runs over it. A slow road also goes into `_LONG`: of it the first meeting is run
always, and all when `LACE_TEST_PROFILE` is set, as continuous integration does. A file to mail is no road one syncs on:
what it brings is in `test_one_file.py`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol, Self

from tests.live.servers import serving
from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository, certified, daemon, web_host
from tests.transports.web_hosts import plain_server

__all__ = [
    "ROADS",
    "Copy",
    "Road",
    "chosen_roads",
    "mediums",
    "meet",
    "meet_anew",
    "open_to_newcomers",
    "road_in",
    "written",
]


class Road(Protocol):
    """A medium between people, as they meet it: an address, and bytes that somebody may spoil.

    Attributes:
        uri: what a person names with `lace place add`.
        options: what they add to it.
        medium: the directory in which everything that rests on the road lies.
        kind: what results call it.
        shelf: has what people begin with who met on it before, and servers; without it all of it is made anew.
    """

    uri: str
    options: tuple[str, ...]
    medium: Path
    kind: str
    shelf: Shelf | None

    def __enter__(self) -> Self:
        """Be there."""

    def __exit__(self, *reason: object) -> None:
        """Be gone, with every process that was started."""

    def equip(self, *people: Person) -> None:
        """Give people what they need to use it, before they do anything."""

    def prepare(self, host: Person) -> None:
        """Make the road ready for a group that its host has just founded."""

    def met(self) -> None:
        """Everybody whom a host invited belongs now."""

    def sync(self, person: Person, expect: int = 0) -> dict[str, Any]:
        """Let somebody sync; return the answer."""

    def stop(self, person: Person) -> int:
        """Let somebody sync who is stopped on the way; return the exit code."""

    def victims(self) -> list[Path]:
        """Return the files at rest that a byte may rot in, at least one of each kind."""


class _Directory:
    """What roads have in common whose bytes rest in a directory of this machine."""

    options: tuple[str, ...] = ()
    kind: str = ""
    shelf: Shelf | None = None

    def __init__(self, root: Path) -> None:
        self.medium = root / "medium"
        self.uri = str(self.medium)
        self.stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.stack.close()

    def equip(self, *people: Person) -> None:
        del people

    def prepare(self, host: Person) -> None:
        del host

    def met(self) -> None:
        """Nothing is done otherwise."""

    def sync(self, person: Person, expect: int = 0) -> dict[str, Any]:
        return person.lace("sync", "road", expect=expect)

    def stop(self, person: Person) -> int:
        return person.run("sync", "road").code

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
        root = self.medium.parent
        address = self.shelf.stands(daemon) if self.shelf is not None else self.stack.enter_context(daemon(root))
        self.uri = address + self.medium.name
        return self


class _FarRoad(BareRoad):
    """A road on which git needs to be told something by the environment."""

    needs: Mapping[str, str]

    def equip(self, *people: Person) -> None:
        """Tell it in commands that are processes of their own."""
        for person in people:
            person.environ |= self.needs


class WebRoad(_FarRoad):
    """The same repository behind a web server, over TLS."""

    def __enter__(self) -> Self:
        root = self.medium.parent
        host = self.shelf.stands(_tls_host) if self.shelf is not None else self.stack.enter_context(_tls_host(root))
        address, certificate = host
        # Else git's TLS also reads every certificate of this machine, for each connection: 60 ms, most of a talk.
        self.needs = {"GIT_SSL_CAINFO": str(certificate), "GIT_SSL_CAPATH": str(certificate.parent)}
        self.stack.enter_context(variables(self.needs))
        self.uri = address + self.medium.name
        return self


@contextmanager
def _tls_host(root: Path) -> Iterator[tuple[str, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        certificate = certified(Path(folder) / "tls")
        with web_host(root, certificate=certificate) as address:
            yield address, certificate


class SshRoad(_FarRoad):
    """The same repository over what stands for ssh: it runs here what would run there."""

    def __enter__(self) -> Self:
        program = self.medium.parent / "ssh"
        program.write_text('#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n')
        program.chmod(0o755)
        self.needs = {"GIT_SSH_COMMAND": str(program), "GIT_SSH_VARIANT": "ssh"}
        self.stack.enter_context(variables(self.needs))
        self.uri = f"git@example.org:{self.medium}"
        return self


class StaticRoad(_Directory):
    """A drop behind a plain web server: everybody brings their own mailbox there, and reads the others' over HTTP."""

    kind = "http"
    _is_meeting = True

    def __enter__(self) -> Self:
        address, _ = self.stack.enter_context(plain_server(self.medium.parent))
        self.uri = address + self.medium.name
        return self

    def prepare(self, host: Person) -> None:
        """Make the drop: there is nothing to read before somebody brought something."""
        host.lace("place", "add", "desk", str(self.medium))
        host.lace("push", "desk")

    def sync(self, person: Person, expect: int = 0) -> dict[str, Any]:
        """Bring, then read; what both did is one answer."""
        if self._is_meeting:  # a request can neither be left at a web server nor be seen there
            return person.lace("sync", "desk", expect=expect)
        knows(person, "desk", str(self.medium))
        brought = person.run("--json", "push", "desk").json
        read = person.lace("pull", "road", expect=expect)
        if read["received"]:
            person.run("push", "desk")
        return read | {name: brought[name] for name in ("sent", "bytes_sent", "queued")}

    def stop(self, person: Person) -> int:
        return person.run("pull", "road").code

    def met(self) -> None:
        """From now on nothing is read from the directory."""
        self._is_meeting = False


class SealedStaticRoad(StaticRoad):
    """The same, and only members can read what lies there."""

    def prepare(self, host: Person) -> None:
        """Make the drop, with nothing in the clear."""
        host.lace("place", "add", "desk", str(self.medium), "--encrypt")
        host.lace("push", "desk")


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


class BesideRoad(_Directory):
    """Another vault of the same account, in whose folder everybody meets."""

    kind = "vault"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._home = Person("home", root / "homes" / "home", root / "home")
        self.medium = self._home.folder / ".vault"
        self.uri = str(self._home.folder)

    def equip(self, *people: Person) -> None:
        """Let all keys lie on one machine."""
        for person in people:
            person.environ |= {name: self._home.variables[name] for name in ("HOME", "LACE_HOME")}

    def prepare(self, host: Person) -> None:
        """Let the vault in the middle join."""
        self._home.lace("accept", host.lace("invite", "home")["invite"], "--name", "home")
        self._home.lace("place", "add", "host", str(host.folder))
        for _ in range(2):
            self._home.lace("sync", "host")
        self._home.lace("place", "remove", "host")

    def sync(self, person: Person, expect: int = 0) -> dict[str, Any]:
        """Name the folder first: where it lies on this machine is in no invitation."""
        knows(person, "road", self.uri)
        return super().sync(person, expect)

    def victims(self) -> list[Path]:
        """Nothing, as with a friend who serves."""
        return []


ROADS: dict[str, Callable[[Path], Road]] = {
    "drop": DropRoad,
    "bare": BareRoad,
    "daemon": DaemonRoad,
    "web": WebRoad,
    "ssh": SshRoad,
    "sealed-drop": SealedDropRoad,
    "sealed-bare": SealedBareRoad,
    "live": LiveRoad,
    "static": StaticRoad,
    "sealed-static": SealedStaticRoad,
    "beside": BesideRoad,
}


_LONG = frozenset({"daemon", "web", "ssh", "sealed-bare", "static", "sealed-static", "beside"})
# All that is on them lies in files, at addresses that are the same for the next test.
_LYING = frozenset({"drop", "bare", "daemon", "web", "ssh", "sealed-drop", "sealed-bare", "beside"})
_STATIC = frozenset({"static", "sealed-static"})
_ANSWERING = frozenset({"live", "beside"})  # somebody answers there; nothing lies on a medium


def chosen_roads() -> list[str]:
    """Return the names of the roads that this run takes."""
    return sorted(set(ROADS) - (_LONG if "LACE_TEST_PROFILE" not in os.environ else frozenset()))


def mediums() -> list[str]:
    """Return the chosen roads whose bytes rest on a medium; what a server does in these cases: `tests/live`."""
    return [name for name in chosen_roads() if name not in _ANSWERING]


def written() -> list[str]:
    """Return those mediums that are written over the road itself; the static one is a drop where it is written."""
    return [name for name in mediums() if name not in _STATIC]


def open_to_newcomers() -> list[str]:
    """Return the chosen roads on which somebody can ask to be let in: a plain web server takes nothing in."""
    return [name for name in chosen_roads() if name not in _STATIC]


def knows(person: Person, place: str, uri: str) -> None:
    """Let somebody add a place unless they have it."""
    if place not in {known["place"] for known in person.lace("places")["places"]}:
        person.lace("place", "add", place, uri)


@contextmanager
def variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the block, for this process and those that it starts."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


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


def road_in(root: Path, name: str, shelf: Shelf) -> Road:
    """Return a road in a test's directory on which people meet once a session."""
    road = ROADS[name](root)
    road.shelf = shelf
    return road


def meet(road: Road, host: Person, *friends: Person) -> None:
    """Let a host found a group on the road and friends join it; afterwards everybody knows everybody.

    Where others of these names met on this road before, what came of that is laid out again: with empty folders only.
    """
    name = next(name for name, kind in ROADS.items() if kind is type(road))
    if road.shelf is not None and name in _LYING:
        assert not any(any(person.folder.iterdir()) for person in (host, *friends)), "write it after the meeting"
        road.shelf.lay(_met, road.shelf, name, host.name, *(friend.name for friend in friends))
        road.met()
    else:
        meet_anew(road, host, *friends)


def _met(root: Path, shelf: Shelf, name: str, *names: str) -> None:
    people = [person_in(root, one) for one in names]
    with road_in(root, name, shelf) as road:
        road.equip(*people)
        meet_anew(road, *people)


def meet_anew(road: Road, host: Person, *friends: Person) -> None:
    """Let them meet for the first time, with whatever lies in their folders."""
    host.lace("init", "--name", host.name)
    road.prepare(host)
    host.lace("place", "add", "road", road.uri, *road.options)
    for friend in friends:
        friend.lace("accept", host.lace("invite", friend.name)["invite"], "--name", friend.name)
        road.sync(friend)
    for person in (host, *friends, host):
        road.sync(person)
    road.met()
