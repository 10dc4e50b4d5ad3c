"""A command to be disturbed, with everything around it: what is done, by whom, and what must be true afterwards."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from blake3 import blake3

from lazy.places.media import open_medium
from lazy.places.registry import places
from lazy.places.sealing import VaultKeys
from tests.people import Person, Result
from tests.rows import text_at
from tests.shelf import Shelf
from tests.transports.git_hosts import git
from transports.drop.place import Drop
from transports.encrypted.sealed import SealedPlace
from transports.errors import MissingFile, NotADrop
from transports.layout import group_directory
from transports.mailbox import Mailbox, MailboxMedium
from transports.onefile.place import OneFile
from transports.reading import fetch, read_head, read_listing
from vault.errors import LaceError
from vault.fsck.check import check
from vault.identity.keys import KeyStore
from vault.records import Verifier
from vault.revisions.history import releases
from vault.surroundings import Surroundings
from vault.vault import NoVault, Vault, VaultUnfinished

__all__ = ["Command", "Scene", "Stage", "check_mailboxes", "check_medium"]

T = TypeVar("T")


class Stage:
    """Three friends and a stick below one directory, which can be put back to how it was.

    Args:
        root: an empty directory; paths inside stay the same all the time.
        shelf: has what they begin with, if the directory is the shelf's.
    """

    def __init__(self, root: Path, shelf: Shelf | None = None) -> None:
        self.root = root
        self.shelf = shelf
        self.now = root / "now"
        self._ready = root / "ready"
        self._found: dict[tuple[Hashable, bytes], Any] = {}
        self.out.mkdir(parents=True, exist_ok=True)

    def person(self, name: str) -> Person:
        """Return somebody with a folder and a home of their own."""
        return Person(name, self.now / "homes" / name, self.now / name)

    def keep(self) -> None:
        """Remember everything as it is now."""
        shutil.rmtree(self._ready, ignore_errors=True)
        shutil.copytree(self.now, self._ready, symlinks=True)

    def back(self) -> None:
        """Put everything back to how it was kept."""
        shutil.rmtree(self.now, ignore_errors=True)
        shutil.copytree(self._ready, self.now, symlinks=True)

    def once(self, question: Hashable, tops: Iterable[Path], ask: Callable[[], T]) -> T:
        """Return what a check finds; it is made once for what lies there, byte by byte, and not where it fails.

        Most of what a command that was cut off had nothing to do with is as it was kept.

        Args:
            question: tells this check from others.
            tops: all that it reads.
            ask: makes it.
        """
        try:
            key = question, _seen(tops)
        except FileNotFoundError:  # the git of a host whose visitor was cut off still clears up
            return ask()
        if key not in self._found:
            self._found[key] = ask()
        found: T = self._found[key]
        return found

    @property
    def stick(self) -> Path:
        """Where the stick lies."""
        return self.now / "stick"

    @property
    def other(self) -> Path:
        """Where a second stick lies."""
        return self.now / "other"

    @property
    def road(self) -> Path:
        """Where a bare git repository lies."""
        return self.now / "road.git"

    @property
    def post(self) -> Path:
        """Where a bundle file is mailed to."""
        return self.now / "post.lace"

    @property
    def out(self) -> Path:
        """Where copies, archives and exports go."""
        return self.now / "out"

    def vault(self, name: str) -> Vault | None:
        """Open somebody's vault; None when there is none, or none that was finished."""
        person = self.person(name)
        marks = sorted((person.home / "lace" / "marks").glob("*.mark"))
        found = re.search(r"\nmachine ([0-9a-f]{32})\n", marks[0].read_text()) if marks else None
        text = found[1] if found else "00" * 16
        around = Surroundings(person.home / "lace", text, name, time.time_ns, os.urandom, lambda _seconds: None)
        try:
            return Vault(person.folder, around)
        except (NoVault, VaultUnfinished):
            return None


@dataclass(frozen=True)
class Command:
    """One command to be cut off.

    Args:
        name: how the sweep calls it.
        who: whose command it is.
        prepare: brings the stage to the moment before it and returns the words of the command.
        again: exit codes with which the same command may answer that it was done already.
        settle: who visits the stick before the states are compared, as names in order.
        repeats: whether the command run again after it was done changes nothing; else it is only run again when it
            was not done, or nobody was told.
        mends: whether something is damaged until it is done.
        passphrase: what answers when it asks for one.
        note: row of the store that is there until the answer is out; only without it may the same command end with 2.
        place: which place the visits are about: `stick` or `road`.
    """

    name: str
    who: str
    prepare: Callable[[Stage], list[str]]
    again: frozenset[int] = frozenset({0})
    settle: tuple[str, ...] = ()
    repeats: bool = True
    mends: bool = False
    passphrase: str = ""
    note: str = ""
    place: str = "stick"


@dataclass
class Scene:
    """A stage at the moment before a command.

    Args:
        stage: where.
        command: which.
        words: of the command.
        goal: the state that the undisturbed command leads to.
        before: the node of whose command it is, at that moment.
    """

    stage: Stage
    command: Command
    words: list[str]
    goal: dict[str, Any] = field(default_factory=dict)
    before: str = ""

    def node(self) -> str:
        """Return the node of whose command it is."""
        vault = self.stage.vault(self.command.who)
        if vault is None:
            return ""
        with vault:
            return vault.node.text

    def is_noted(self) -> bool:
        """Tell whether the command took effect and nobody was told of it."""
        vault = self.stage.vault(self.command.who)
        if vault is None:
            return False
        with vault:
            return bool(text_at(vault.store, self.command.note))

    def run(self) -> Result:
        """Run the command in this process."""
        person = self.stage.person(self.command.who)
        if not self.command.passphrase:
            return person.run(*self.words)
        with _light_keys(), _asked(person, self.command.passphrase):
            return person.run(*self.words)

    def foresee(self) -> None:
        """Find out where the undisturbed command leads."""
        self.stage.back()
        done = self.run()
        assert done.code == 0, f"{self.command.name}: {done.code}\n{done.err}"
        self.visit()
        self.goal = self.state()
        self.stage.back()

    def finish(self) -> None:
        """Run the same command until it says that it is done, and let friends visit the stick."""
        self.rerun()
        self.visit()

    def rerun(self) -> bool:
        """Run the same command again; return whether it says that it did it, and not that there was nothing to do."""
        command = self.command
        if not command.repeats and self.node() != self.before and not self.is_noted():
            return False
        may_end = command.again if not command.note or self.is_noted() else command.again | {2}
        done = self.run()
        assert done.code in may_end, f"again: {done.code}\n{done.err}\n{done.text}"
        assert "Traceback" not in done.err, done.err
        return done.code == 0

    def visit(self) -> None:
        """Let friends visit the place."""
        for name in self.command.settle:
            done = self.stage.person(name).run("sync", self.command.place)
            assert done.code in {0, 1}, f"{name}'s sync: {done.code}\n{done.err}"

    def sound(self, *, medium: bool = True, done: bool = False) -> int:
        """Check every vault and the medium as they lie there; return the records looked at.

        Args:
            medium: whether the medium is sound too.
            done: whether the command was done meanwhile, so that what it mends is mended.
        """
        stage = self.stage
        if stage.post.exists():
            OneFile.open(stage.post)
        if stage.road.exists():
            stage.once("git", [stage.road], lambda: git(stage.road, "fsck", "--strict"))
        records = 0
        for name in ("alice", "bob"):
            person = stage.person(name)
            read = [person.folder, person.home, *([stage.stick] if medium else []), *([stage.road] if done else [])]
            records += stage.once((name, medium, done), read, partial(self._sound_of, name, medium=medium, done=done))
        return records

    def _sound_of(self, name: str, *, medium: bool, done: bool) -> int:
        """Check somebody's vault, and the media as that vault reads them."""
        if (vault := self.stage.vault(name)) is None:
            return 0
        with vault:
            vault.check_mark()
            report = check(vault)
            assert report.ok or (self.command.mends and not done), (name, report.bad)
            if medium:
                check_medium(self.stage.stick, vault)
            for place in places(vault) if done else ():
                if place.name == "road":
                    check_mailboxes(open_medium(vault, place), vault)
        return report.records

    def state(self) -> dict[str, Any]:
        """Return what counts of everything, without what no two runs share (keys, times, signatures)."""
        found: dict[str, Any] = {}
        for name in ("alice", "bob"):
            found[f"{name} folder"] = _files(self.stage.person(name).folder)
            if (vault := self.stage.vault(name)) is None:
                continue
            with vault:
                found[name] = _vault_state(vault)
                found.setdefault("stick", {})[name] = _listed(self.stage.stick, vault)
                found.setdefault("in plain", {})[name] = _in_plain(self.stage, vault)
        found["post"] = self.stage.post.exists()
        found["out"] = _files(self.stage.out)
        found["other"] = sorted(path.name for path in self.stage.other.rglob("*") if path.suffix != ".tmp")
        return found


@contextmanager
def _asked(person: Person, passphrase: str) -> Iterator[None]:
    """Let a person's commands read a passphrase from a descriptor."""
    reading, writing = os.pipe()
    try:
        os.write(writing, f"{passphrase}\n".encode())
        person.environ["LACE_PASSPHRASE_FD"] = str(reading)
        yield
    finally:
        os.close(reading)
        os.close(writing)


@contextmanager
def _light_keys() -> Iterator[None]:
    """Protect keys with the real argon2id, with the least it takes."""
    given = KeyStore.__init__.__kwdefaults__
    with patch.dict(given, ops=1, memory=8192):
        yield


def _seen(tops: Iterable[Path]) -> bytes:
    """Return a digest of all that lies at some paths and below: names, kinds, rights and bytes."""
    total = blake3()
    for path in (path for top in tops for path in (top, *sorted(top.rglob("*")))):
        mode = path.lstat().st_mode if os.path.lexists(path) else 0
        data = os.readlink(path).encode() if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else b""  # noqa: PTH115
        total.update(f"{path}\0{mode}\0{len(data)}\0".encode() + data)
    return total.digest()


def _files(folder: Path) -> dict[str, str]:
    """Return the beginning of the digest of each file, but where no two runs write the same bytes, and directories."""
    return {
        str(path.relative_to(folder)): "" if path.is_dir() else _digest(path)
        for path in sorted(folder.rglob("*"))
        if ".vault" not in path.parts
    }


def _digest(path: Path) -> str:
    return "some" if path.suffix in {".json", ".parquet"} else blake3(path.read_bytes()).hexdigest()[:8]


def _vault_state(vault: Vault) -> dict[str, Any]:
    rows = vault.store.rows
    return {
        "line": rows(
            "SELECT r.number, (SELECT count(*) FROM parent WHERE child = r.commit_hash) FROM rev r WHERE r.node = ?"
            " ORDER BY r.number",
            vault.node.text,
        ),
        "stands": rows("SELECT count(*) FROM checkout"),
        "unfinished": rows("SELECT count(*) FROM unfinished"),
        "releases": sorted((str(r.version), r.content_sha512[-8:]) for r in releases(vault.store)),
        "log": sorted(
            rows("SELECT ifnull(m.label, ''), max(l.seq) FROM log l LEFT JOIN member m USING (node) GROUP BY node")
        ),
        "members": sorted(rows("SELECT label, depth FROM member")),
        "apps": sorted(
            rows("SELECT s.s, count(*) FROM rec r JOIN sym s ON s.id = r.app WHERE s.s <> 'lace/audit' GROUP BY s.s")
        ),
        "places": rows("SELECT name FROM place ORDER BY name"),
        "peers": rows("SELECT name FROM peer ORDER BY name"),
        "settings": vault.settings.encode(),
        "key": "protected" if vault.keys_here.is_protected(vault.node) else "plain",
        "refused": rows("SELECT count(*), (SELECT count(*) FROM quarantine) FROM refused"),
        "tree": rows("SELECT tree FROM checkout") if "friends" in vault.group else [],
    }


def _opened(stick: Path, vault: Vault) -> SealedPlace | None:
    """Return the drop as a vault sees it, with the encrypted mailboxes that it can open; None if there is no drop."""
    try:
        drop = Drop.open(stick)
    except (NotADrop, MissingFile, LaceError):
        return None
    return SealedPlace(drop, vault.node, VaultKeys(vault, drop.place_id, is_on=False))


def check_medium(stick: Path, vault: Vault) -> None:
    """Read every mailbox of a stick whole, if there is one: each record that a head leads to is there and valid."""
    place = _opened(stick, vault)
    if place is not None:
        check_mailboxes(place, vault)


def check_mailboxes(place: MailboxMedium, vault: Vault, only: Collection[Verifier] | None = None) -> None:
    """Read every mailbox of a place whole, or those named: each record that a head leads to is there and valid."""
    for node in place.nodes(vault.group) if only is None else only:
        head = read_head(Mailbox(place, vault.group, node))
        if head is None:
            continue
        listing = read_listing(Mailbox(place, vault.group, node), head.head)
        for fetched in fetch(place, vault.group, listing, [record for record, _ in listing.items()]):
            assert fetched.record is not None, fetched


def _in_plain(stage: Stage, vault: Vault) -> list[str]:
    """Return at which places something of somebody's plain mailbox lies."""
    room, key = group_directory(vault.group), vault.node.key.hex()
    found = ["stick"] if list(stage.stick.glob(f"{room}/{key}/*")) else []
    refs = git(stage.road, "for-each-ref", "--format=%(refname)").split() if stage.road.exists() else []
    mine = [ref for ref in refs if ref.startswith(f"refs/heads/lace/{room}{key}")]
    return [*found, "road"] if any(git(stage.road, "ls-tree", ref) for ref in mine) else found


def _listed(stick: Path, vault: Vault) -> list[int]:
    found = []
    place = _opened(stick, vault)
    if place is None:
        return []
    for node in place.nodes(vault.group):
        head = read_head(Mailbox(place, vault.group, node))
        if head is not None:
            found.append(len(read_listing(Mailbox(place, vault.group, node), head.head)))
    return sorted(found)
