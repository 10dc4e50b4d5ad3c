"""The cut sweep: a sync loses its road after byte b, for random b, on the way there and on the way back.

    python -m tests.faults.cuts [--road NAME] [--cuts 200] [--seed N]

After every cut both vaults open without a manual step, `fsck` is clean and what lies on the medium is whole; the same
command run again ends well, both sides then hold what they hold undisturbed, and what was moved twice is counted
(faults.md row 5). On a stick and over a live line that is less than one record and 64 KiB; on git at most one push.
"""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from lazy.places.media import open_medium
from lazy.places.registry import places
from tests.faults.scenes import Stage, check_mailboxes, check_medium
from tests.live.proxies import Line, line_to
from tests.live.servers import serving
from tests.people import Person
from tests.transports.git_hosts import bare_repository, daemon, git
from tests.transports.web_hosts import plain_server
from vault.fsck.check import check
from vault.records import RecordHash, Verifier
from vault.vault import Vault

__all__ = ["ROADS", "WAYS", "Swept", "main", "narrow", "sweep"]

WAYS = ("up", "down")
_SLACK = 64 * 1024
_LARGE = 1_500_000  # bytes of one large file: it travels in chunks
_TRIES = 4
_GIT_PUSH = 128 << 20


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep of one road, one way, saw.

    Args:
        road: which.
        way: `up` for sending, `down` for reading.
        cuts: how often it was cut.
        total: bytes that the undisturbed command moves that way.
        record: bytes of the largest record.
        again: most bytes that were moved twice.
        allowed: what they must stay below.
        faults: the byte of a cut and what was wrong.
    """

    road: str
    way: str
    cuts: int
    total: int
    record: int
    again: int
    allowed: int
    faults: tuple[tuple[int, str], ...]


class _Road:
    """A road that can be cut: alice and bob have met on it, and one of them has a release for the other."""

    name = ""
    options: tuple[str, ...] = ()
    ways: tuple[str, ...] = WAYS

    def __init__(self, stage: Stage, stack: ExitStack, way: str) -> None:
        self.stage, self.stack, self.way = stage, stack, way
        self.alice, self.bob = stage.person("alice"), stage.person("bob")

    @property
    def sender(self) -> Person:
        """Who has something new."""
        return self.alice

    @property
    def who(self) -> Person:
        """Whose command is cut."""
        return self.alice if self.way == "up" else self.bob

    def words(self) -> list[str]:
        """Return the command that is cut."""
        return ["push" if self.way == "up" else "pull", "road"]

    def uri(self) -> str:
        """Return the address, once alice has founded."""
        raise NotImplementedError

    def run(self, cut: int | None) -> tuple[int, str, int]:
        """Run the command; return its code, what it said and the bytes moved. Everything ends after byte `cut`."""
        raise NotImplementedError

    def check(self) -> None:
        """Refuse a medium that is not whole."""

    def prepare(self, seed: int) -> None:
        """Let both meet, and let the sender have something new."""
        alice, bob = self.alice, self.bob
        alice.write("menu.md", "one\n")
        alice.lace("init", "--name", "alice", "--group", "friends")
        alice.lace("release", "1.0.0")
        alice.lace("place", "add", "road", self.uri(), *self.options)
        bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
        for person in (bob, alice, bob, alice, bob):
            self.visit(person)
        bob.lace("update")
        fill(self.sender, Random(seed))
        self.sender.lace("release", "2.0.0")
        if self.way == "down":
            self.visit(self.alice)
        self.stage.keep()

    def visit(self, person: Person) -> None:
        """Let somebody sync undisturbed."""
        done = person.run("sync", "road")
        assert done.code == 0, (done.err, done.text)

    def back(self) -> None:
        """Put everything back to the moment before the command."""
        self.stage.back()

    def sound(self) -> None:
        """Check both vaults and the medium as they lie there."""
        for name in ("alice", "bob"):
            self.as_seen_by(name, [], self._check_vault)
        self.check()

    def as_seen_by(self, name: str, media: list[Path], look: Callable[[Vault], None]) -> None:
        """Let somebody's vault have a look at itself and at media; once for all that lies there."""

        def ask() -> None:
            vault = self.stage.vault(name)
            assert vault is not None
            with vault:
                look(vault)

        person = self.stage.person(name)
        self.stage.once((name, bool(media)), [person.folder, person.home, *media], ask)

    def _check_vault(self, vault: Vault) -> None:
        vault.check_mark()
        report = check(vault)
        assert report.ok, (vault.name, report.bad)

    def shared(self, name: str) -> set[RecordHash]:
        """Return what somebody shares."""
        vault = self.stage.vault(name)
        assert vault is not None
        with vault:
            rows = vault.store.rows("SELECT b.kind, b.digest FROM shared JOIN body b USING (p)")
            return {RecordHash(str(kind), bytes(digest)) for kind, digest in rows}

    def largest(self) -> int:
        """Return the bytes of the largest record that the sender shares."""
        vault = self.stage.vault(self.sender.name)
        assert vault is not None
        with vault:
            return max(len(vault.store.stored(record) or b"") for record in self.shared(self.sender.name))


def fill(person: Person, chance: Random) -> None:
    """Write small, middling and one large file of noise."""
    for number in range(30):
        person.write(f"{number}.bin", chance.randbytes(chance.randrange(100, 60_000)))
    person.write("large.bin", chance.randbytes(_LARGE))


class _Stick(_Road):
    """A stick that is pulled out: its directory is gone and every open file fails."""

    name = "stick"

    def uri(self) -> str:
        return str(self.stage.stick)

    def check(self) -> None:
        for name in ("alice", "bob"):
            self.as_seen_by(name, [self.stage.stick], self._check_stick)

    def _check_stick(self, vault: Vault) -> None:
        check_medium(self.stage.stick, vault)

    def run(self, cut: int | None) -> tuple[int, str, int]:
        report, away = self.stage.root / "report", self.stage.root / "away"
        report.unlink(missing_ok=True)
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            try:
                moved = _pull_out(self.stage.stick, away, cut, is_write=self.way == "up")
                done = self.who.run("--json", *self.words())
                report.write_text(f"{done.code}\n{moved()}\n{done.err}")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        if away.exists():
            away.rename(self.stage.stick)
        code, moved_bytes, said = report.read_text().split("\n", 2)
        return int(code), said, int(moved_bytes)


def _pull_out(stick: Path, away: Path, cut: int | None, *, is_write: bool) -> Callable[[], int]:
    """Count what this process moves on a stick, which goes away after byte `cut`; for the rest of the process."""
    real_open, real_write, real_read, real_close = os.open, os.write, os.read, os.close
    real_readv = os.readv
    ours: set[int] = set()
    moved, is_gone = [0], [False]

    def opening(path: Any, flags: int, mode: int = 0o777, **named: Any) -> int:
        fd = real_open(path, flags, mode, **named)
        if isinstance(path, str | Path) and Path(path).is_relative_to(stick):
            ours.add(fd)
        return fd

    def closing(fd: int) -> None:
        ours.discard(fd)
        real_close(fd)

    def check_gone() -> None:
        if is_gone[0]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def left(size: int) -> int:
        return size if cut is None else min(size, cut - moved[0])

    def go() -> None:
        stick.rename(away)
        is_gone[0] = True
        check_gone()

    def writing(fd: int, data: Any) -> int:
        if fd not in ours:
            return real_write(fd, data)
        check_gone()
        if not is_write:
            return real_write(fd, data)
        room = left(len(data))
        done = real_write(fd, bytes(data)[:room]) if room else 0
        moved[0] += done
        if room < len(data):
            go()
        return done

    def reading(fd: int, size: int) -> bytes:
        if fd not in ours:
            return real_read(fd, size)
        check_gone()
        if is_write:
            return real_read(fd, size)
        room = left(size)
        if not room:
            go()
        data = real_read(fd, room)
        moved[0] += len(data)
        return data

    def reading_into(fd: int, buffers: list[memoryview]) -> int:
        if fd not in ours:
            return real_readv(fd, buffers)
        (buffer,) = buffers
        data = reading(fd, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    os.open, os.write, os.read, os.close = opening, writing, reading, closing
    os.readv = reading_into  # type: ignore[assignment]
    return lambda: moved[0]


class _Lined(_Road):
    """A road behind a line that is cut."""

    line: Line

    def run(self, cut: int | None) -> tuple[int, str, int]:
        line, is_up = self.line, self.way == "up"
        line.came = line.went = 0
        line.cut_up_after, line.cut_after = (cut, None) if is_up else (None, cut)
        try:
            done = self.who.run("--json", *self.words())
        finally:
            line.cut_up_after = line.cut_after = None
        return done.code, done.err, line.went if is_up else line.came


class _Git(_Lined):
    """A bare repository behind a git daemon."""

    name = "git"

    def uri(self) -> str:
        self._bare = bare_repository(self.stage.now / "host.git")
        address = self.stack.enter_context(daemon(self.stage.now))
        port = int(address.rstrip("/").rsplit(":", 1)[1])
        self.line = self.stack.enter_context(line_to(port))
        return f"git://127.0.0.1:{self.line.port}/host.git"

    def is_done(self) -> bool:
        """Tell whether nothing waits to be sent."""
        return self.way == "down" or not self.alice.lace("queue")["entries"]

    def check(self) -> None:
        self.stage.once("git", [self._bare], lambda: git(self._bare, "fsck", "--full", "--no-dangling"))


class _Live(_Lined):
    """A friend who serves; bob sends there, or reads from there."""

    name = "live"

    @property
    def sender(self) -> Person:
        return self.bob if self.way == "up" else self.alice

    @property
    def who(self) -> Person:
        return self.bob

    def uri(self) -> str:
        server = self.stack.enter_context(serving(self.alice))
        self.line = self.stack.enter_context(line_to(server.port))
        return server.uri.replace(str(server.port), str(self.line.port))

    def visit(self, person: Person) -> None:
        if person is self.bob:
            super().visit(person)

    def back(self) -> None:
        """Put the vaults back in place: the server stands in alice's folder."""
        kept = self.stage.root / "ready"
        for name in ("alice", "bob"):
            for where in (Path(name), Path("homes") / name):
                for entry in (self.stage.now / where).iterdir():
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
                shutil.copytree(kept / where, self.stage.now / where, symlinks=True, dirs_exist_ok=True)


class _SealedStick(_Stick):
    """A stick on which everything is encrypted to the members."""

    name = "sealed-stick"
    options = ("--encrypt",)

    def _check_stick(self, vault: Vault) -> None:
        check_mailboxes(open_medium(vault, places(vault)[0]), vault, self.whole())

    def whole(self) -> list[Verifier] | None:
        """Return whose mailboxes must be whole; None for all."""
        return None


class _SealedGit(_Git):
    """A git repository in which everything is encrypted to the members."""

    name = "sealed-git"
    options = ("--encrypt",)


class _Rebased(_SealedStick):
    """The same when all of a mailbox is to be written under a new key."""

    name = "rebased-stick"

    def whole(self) -> list[Verifier]:
        """Pass over what rests on bundles under the old key: it is read where those lie who wrote them anew."""
        vault = self.stage.vault("alice")
        assert vault is not None
        with vault:
            return [vault.node]

    def prepare(self, seed: int) -> None:
        super().prepare(seed)
        self.alice.lace("place", "set", "road", "--rebase")
        if self.way == "down":
            self.visit(self.alice)
        self.stage.keep()


class _Static(_Lined):
    """A drop behind a plain web server: bob reads it there, and nobody writes over this road."""

    name = "static"
    ways: tuple[str, ...] = ("down",)

    def uri(self) -> str:
        return str(self.stage.stick)

    def prepare(self, seed: int) -> None:
        super().prepare(seed)
        address, _ = self.stack.enter_context(plain_server(self.stage.stick.parent))
        port = int(address.rstrip("/").rsplit(":", 1)[1])
        self.line = self.stack.enter_context(line_to(port))
        self.bob.lace("place", "remove", "road")
        self.bob.lace("place", "add", "road", f"http://127.0.0.1:{self.line.port}/{self.stage.stick.name}")
        self.stage.keep()


_EVERY = (_Stick, _Git, _Live, _SealedStick, _SealedGit, _Rebased, _Static)
ROADS: dict[str, type[_Road]] = {road.name: road for road in _EVERY}


def sweep(root: Path, road: str, way: str, cuts: int, seed: int) -> Swept:
    """Cut one road, one way, so often."""
    chance = Random(f"{road} {way} {seed}")
    faults: list[tuple[int, str]] = []
    most = 0
    with ExitStack() as stack:
        scene = ROADS[road](Stage(root), stack, way)
        scene.prepare(seed)
        code, said, total = scene.run(None)
        assert code == 0, said
        goal = {name: scene.shared(name) for name in ("alice", "bob")}
        record = scene.largest()
        allowed = min(total, _GIT_PUSH) + _SLACK if "git" in road else record + _SLACK
        ends = (1, total - 1)  # before anything, and when all but the last byte is there
        for cut in sorted((*ends, *(chance.randrange(1, total) for _ in range(cuts - len(ends))))):
            scene.back()
            try:
                code, said, first = scene.run(cut)
                assert first <= cut, (first, cut)
                assert code == 0 or code // 10 in {2, 4}, (code, said)  # of the place, or of what came
                assert "Traceback" not in said, said
                scene.sound()
                code, said, second = scene.run(None)
                assert code == 0, said
                scene.sound()
                found = {name: scene.shared(name) for name in ("alice", "bob")}
                assert found == goal, "other records than undisturbed"
                again = first + second - total
                most = max(most, again)
                assert again < allowed, f"{again} bytes were moved twice, of {total}"
            except Exception:
                faults.append((cut, traceback.format_exc(limit=-3)))
    return Swept(road, way, cuts, total, record, most, allowed, tuple(faults))


def narrow(root: Path, way: str, each: int = 3 << 19) -> tuple[int, int, int]:
    """Sync over git where each connection is cut after so many bytes: no push or fetch of all that waits can pass.

    A host that is slow to see that a talk was cut may hold its ref until the next visit, so some are made.

    Returns:
        The exit code of the last visit, the bytes that all moved, and those of the undisturbed command.
    """
    with ExitStack() as stack:
        scene = _Git(Stage(root), stack, way)
        scene.prepare(7)
        _, _, total = scene.run(None)
        scene.back()
        scene.line.each = each
        code, moved, tries = 1, 0, 0
        while (code or not scene.is_done()) and tries < _TRIES:
            code, _, more = scene.run(None)
            moved, tries = moved + more, tries + 1
        scene.line.each = None
        scene.sound()
        return code, moved, total


def _all(roads: list[str]) -> Iterator[tuple[str, str]]:
    return ((road, way) for road in roads for way in ROADS[road].ways)


def main(words: list[str]) -> int:
    """Cut the roads named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.cuts", description=__doc__)
    parser.add_argument("--road", choices=[*ROADS, "all"], default="all")
    parser.add_argument("--cuts", type=int, default=200, help="on each road, half of them each way if it has both")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(words)
    top = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    bad = 0
    try:
        for road, way in _all(list(ROADS) if args.road == "all" else [args.road]):
            done = sweep(top / f"{road}-{way}", road, way, args.cuts // len(ROADS[road].ways), args.seed)
            bad += len(done.faults)
            print(  # noqa: T201
                f"{road} {way}: {done.cuts} cuts of {done.total} bytes, {len(done.faults)} faults;"
                f" moved twice at most {done.again} bytes, allowed {done.allowed} (largest record {done.record})",
                flush=True,
            )
            for cut, what in done.faults[:5]:
                print(f"  after byte {cut}: {what}"[:1500], flush=True)  # noqa: T201
            shutil.rmtree(top / f"{road}-{way}", ignore_errors=True)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
