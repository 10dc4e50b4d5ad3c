"""Prepared moments before a command, for sweeps of faults: what is done, by whom, and what must be true afterwards."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from blake3 import blake3

from lazy.sealing import VaultKeys
from tests.people import Person, Result
from transports.drop import Drop
from transports.errors import MissingFile, NotADrop
from transports.mailbox import MailboxPlace
from transports.onefile import OneFile
from transports.reading import fetch, read_head, read_mailbox
from transports.sealed import SealedPlace
from vault.errors import LaceError
from vault.fsck import check
from vault.history import releases
from vault.records import Verifier
from vault.surroundings import Surroundings
from vault.vault import NoVault, Vault, VaultUnfinished

__all__ = ["COMMANDS", "Command", "Scene", "Stage", "check_medium", "prepared"]

LINES = "".join(f"line {number}\n" for number in range(30))


class Stage:
    """Three friends and a stick below one directory, which can be put back to how it was.

    Args:
        root: an empty directory; paths inside stay the same all the time.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.now = root / "now"
        self._ready = root / "ready"
        self.now.mkdir(parents=True, exist_ok=True)

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

    @property
    def stick(self) -> Path:
        """Where the stick lies."""
        return self.now / "stick"

    @property
    def post(self) -> Path:
        """Where a bundle file is mailed to."""
        return self.now / "post.lace"

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
            was not done.
        mends: whether something is damaged until it is done.
    """

    name: str
    who: str
    prepare: Callable[[Stage], list[str]]
    again: frozenset[int] = frozenset({0})
    settle: tuple[str, ...] = ()
    repeats: bool = True
    mends: bool = False


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

    def run(self) -> Result:
        """Run the command in this process."""
        return self.stage.person(self.command.who).run(*self.words)

    def finish(self) -> None:
        """Run the same command until it says that it is done, and let friends visit the stick."""
        command = self.command
        if command.repeats or self.node() == self.before:
            done = self.run()
            assert done.code in command.again, f"again: {done.code}\n{done.err}\n{done.text}"
            assert "Traceback" not in done.err, done.err
        self.visit()

    def visit(self) -> None:
        """Let friends visit the stick."""
        for name in self.command.settle:
            done = self.stage.person(name).run("sync", "stick")
            assert done.code in {0, 1}, f"{name}'s sync: {done.code}\n{done.err}"

    def sound(self, *, medium: bool = True, done: bool = False) -> int:
        """Check every vault and the medium as they lie there; return the records looked at.

        Args:
            medium: whether the medium is sound too.
            done: whether the command was done meanwhile, so that what it mends is mended.
        """
        records = 0
        if self.stage.post.exists():
            OneFile.open(self.stage.post)
        for name in ("alice", "bob"):
            if (vault := self.stage.vault(name)) is None:
                continue
            with vault:
                vault.check_mark()
                report = check(vault)
                assert report.ok or (self.command.mends and not done), (name, report.bad)
                records += report.records
                if medium:
                    check_medium(self.stage.stick, vault)
        return records

    def state(self) -> dict[str, Any]:
        """Return what counts of everything, without what no two runs share (keys, times, signatures)."""
        found: dict[str, Any] = {}
        for name in ("alice", "bob"):
            folder = self.stage.person(name).folder
            found[f"{name} folder"] = {
                str(path.relative_to(folder)): blake3(path.read_bytes()).hexdigest()[:8]
                for path in sorted(folder.rglob("*"))
                if path.is_file() and ".vault" not in path.parts
            }
            if (vault := self.stage.vault(name)) is None:
                continue
            with vault:
                found[name] = _vault_state(vault)
                found.setdefault("stick", {})[name] = _listed(self.stage.stick, vault)
        found["post"] = self.stage.post.exists()
        return found


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


def check_mailboxes(place: MailboxPlace, vault: Vault, only: Collection[Verifier] | None = None) -> None:
    """Read every mailbox of a place whole, or those named: each record that a head leads to is there and valid."""
    for node in place.nodes(vault.group) if only is None else only:
        head = read_head(place, vault.group, node)
        if head is None:
            continue
        listing = read_mailbox(place, vault.group, node, head.head)
        for fetched in fetch(place, vault.group, listing, [record for record, _ in listing.items()]):
            assert fetched.record is not None, fetched


def _listed(stick: Path, vault: Vault) -> list[int]:
    found = []
    place = _opened(stick, vault)
    if place is None:
        return []
    for node in place.nodes(vault.group):
        head = read_head(place, vault.group, node)
        if head is not None:
            found.append(len(read_mailbox(place, vault.group, node, head.head)))
    return sorted(found)


# The moments


def _begun(stage: Stage, *options: str) -> tuple[Person, Person]:
    """Alice with a release and a stick, and bob who has it."""
    alice, bob = stage.person("alice"), stage.person("bob")
    alice.write("menu.md", LINES)
    alice.write("deep/er/wine.md", LINES)
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stage.stick), *options)
    alice.lace("release", "1.0.0", "-m", "first")
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", line)
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")
    return alice, bob


def _edited(person: Person, word: str = "new") -> None:
    person.write("menu.md", LINES.replace("line 3\n", f"line 3 {word}\n"))
    for number in range(5):
        person.write(f"notes/{number}.md", f"{word} {number}\n")
    (person.folder / "deep/er/wine.md").unlink(missing_ok=True)
    person.write("big.bin", Random(5).randbytes(700_000))  # chunks under a manifest, in frames of a pack


def _commit(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    return ["commit", "-m", "more"]


def _release(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    return ["release", "--yes", "-m", "more"]


def _push(stage: Stage, options: tuple[str, ...] = ()) -> list[str]:
    alice, _ = _begun(stage, *options)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    return ["push", "stick"]


def _pull(stage: Stage, options: tuple[str, ...] = ()) -> list[str]:
    alice, _ = _begun(stage, *options)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    alice.lace("push", "stick")
    return ["pull", "stick"]


def _update(stage: Stage) -> list[str]:
    alice, bob = _begun(stage)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    alice.lace("push", "stick")
    bob.lace("pull", "stick")
    bob.write("menu.md", LINES.replace("line 25\n", "line 25 of bob\n"))
    bob.write("bob.md", "bob\n")
    return ["update"]


def _conflict(stage: Stage) -> tuple[Person, Person]:
    alice, bob = _begun(stage)
    _edited(alice)
    alice.lace("release", "2.0.0", "-m", "more")
    bob.write("menu.md", LINES.replace("line 3\n", "line 3 of bob\n"))
    bob.lace("release", "2.0.0", "-m", "mine")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    return alice, bob


def _resolve(stage: Stage) -> list[str]:
    _conflict(stage)
    return ["resolve", "2.0.0", "--prefer", "alice"]


def _merged(stage: Stage) -> list[str]:
    _conflict(stage)
    return ["resolve", "2.0.0", "--merged", "2.0.1", "-m", "both"]


def _adopt(stage: Stage) -> list[str]:
    _begun(stage)
    return ["adopt"]


def _init(stage: Stage) -> list[str]:
    stage.person("alice").write("menu.md", LINES)
    return ["init", "--name", "alice"]


def _accept(stage: Stage) -> list[str]:
    alice = stage.person("alice")
    alice.write("menu.md", LINES)
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stage.stick))
    alice.lace("release", "1.0.0", "-m", "first")
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    stage.person("bob").write("own.md", "own\n")
    return ["accept", line]


def _checkout(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    return ["checkout", "main@1.0.0"]


def _prune(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    draw = Random(7)
    for number in range(4):
        alice.write("big.bin", draw.randbytes(300_000))
        alice.write("small.txt", f"{number}\n")
        alice.lace("commit", "-m", f"draft {number}")
    return ["prune", "--yes"]


def _undo(stage: Stage) -> list[str]:
    words = _update(stage)
    bob = stage.person("bob")
    (bob.folder / "bob.md").unlink()
    bob.write("menu.md", LINES)
    bob.lace(*words)
    return ["undo"]


def _create(stage: Stage) -> list[str]:
    _push(stage)
    return ["bundle", "create", str(stage.post)]


def _apply(stage: Stage) -> list[str]:
    stage.person("alice").lace(*_create(stage))
    return ["bundle", "apply", str(stage.post)]


def _repair(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    alice.lace("push", "stick")
    path = max((alice.folder / ".vault/packs").iterdir())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return ["fsck", "--repair"]


_BOTH = ("alice", "bob", "alice")
_DONE = frozenset({0, 2})  # 2: it is done already, and there is nothing left to do
COMMANDS = {
    command.name: command
    for command in (
        Command("init", "alice", _init, _DONE),
        Command("commit", "alice", _commit),
        Command("release", "alice", _release, _DONE, settle=_BOTH),
        Command("push", "alice", _push, settle=_BOTH),
        Command("pull", "bob", _pull, settle=_BOTH),
        Command("sealed-push", "alice", partial(_push, options=("--encrypt",)), settle=_BOTH),
        Command("sealed-pull", "bob", partial(_pull, options=("--encrypt",)), settle=_BOTH),
        Command("update", "bob", _update),
        Command("checkout", "alice", _checkout),
        Command("resolve", "bob", _resolve, _DONE, settle=_BOTH),
        Command("merged", "bob", _merged, _DONE, settle=_BOTH),
        Command("prune", "alice", _prune),
        Command("undo", "bob", _undo, _DONE),
        Command("create", "alice", _create, _DONE),
        Command("apply", "bob", _apply, settle=_BOTH),
        Command("repair", "alice", _repair, mends=True),
        Command("adopt", "alice", _adopt, settle=_BOTH, repeats=False),
        Command("accept", "bob", _accept, _DONE, settle=(*_BOTH, "bob")),
    )
}


def prepared(root: Path, name: str) -> Scene:
    """Bring a stage to the moment before a command, and find out where the undisturbed command leads."""
    stage = Stage(root)
    command = COMMANDS[name]
    scene = Scene(stage, command, command.prepare(stage))
    stage.keep()
    scene.before = scene.node()
    done = scene.run()
    assert done.code == 0, f"{name}: {done.code}\n{done.err}"
    scene.visit()
    scene.goal = scene.state()
    stage.back()
    return scene
