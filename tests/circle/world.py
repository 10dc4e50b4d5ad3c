"""Four people, two sticks and a git remote, with clocks in 2001, 2038, 2286 and backwards; and what people do there.

A step is a person, an act and a number that decides everything that is left open (which file, which place, whom), so a
list of steps replays byte for byte, and a step that makes no sense where it stands does nothing.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from lace_tui.cli.context import Context, World
from lazy.visits.rounds import held_back
from tests.people import Person
from tests.transports.git_hosts import bare_repository
from vault.vault import Vault

__all__ = ["ACTS", "NAMES", "PLACES", "Circle", "Step", "StepFailed", "open_vault"]

NAMES: Final = ("alice", "bob", "cara", "dave")
PLACES: Final = ("red", "blue", "remote")
_STICKS: Final = PLACES[:2]
_FILES: Final = ("a.txt", "b.txt", "sub/c.txt", "sub/d.txt", "notes")
_PARTS: Final = ("sub", "sub/c.txt", "notes", "new")
_SECOND: Final = 10**9
_CLOCKS: Final = {  # where a clock begins, and how far it goes at each look; all in seconds since 1970
    "alice": (978_307_200, 1),
    "bob": (2_147_483_000, 1),
    "cara": (9_999_990_000, 1),
    "dave": (1_700_000_000, -1),
}
# Acts that a person may see refused, by the code of the refusal; everything else that is refused is a fault.
_BEHIND: Final = frozenset({"vault-behind-mark", "vault-forked", "other-node", "mark-missing"})
_ALLOWED: Final[dict[str, frozenset[str]]] = {
    "commit": frozenset({"nothing-to-commit", "own-work-apart"}),
    "release": frozenset({"nothing-to-release", "own-work-apart", "version-taken"}),
    "resolve": frozenset({"no-such-side", "no-such-conflict", "own-work-apart", "path-undecided", "version-taken"}),
    "revoke": frozenset({"already-revoked", "no-such-entry", "no-such-peer", "revoker-not-member"}),
    "invite": frozenset({"not-member"}),
    "admit": frozenset({"already-member", "not-member", "no-such-peer", "already-revoked"}),
    "leave": frozenset({"no-such-peer"}),
    "join": frozenset({"name-taken", "already-revoked"}),
    "checkout": frozenset({"not-yet", "no-such-peer", "no-such-path", "uncommitted-changes", "folder-in-the-way"}),
    "undo": frozenset({"nothing-to-undo"}),
    "update": frozenset({"uncommitted-changes"}),
}


class StepFailed(AssertionError):
    """A command ended as it must not."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that somebody does.

    Args:
        who: one of `NAMES`.
        act: one of `ACTS`.
        number: decides what is left open.
    """

    who: str
    act: str
    number: int

    def __str__(self) -> str:
        return f"{self.who}:{self.act}:{self.number}"

    @classmethod
    def parse(cls, text: str) -> Step:
        """Return the step that a text such as `bob:sync:2` names."""
        who, act, number = text.split(":")
        return cls(who, act, int(number))


def open_vault(person: Person) -> Vault:
    """Open somebody's vault as their commands do."""
    return Context(World(environ=person.variables, cwd=person.folder, **person.world)).open_vault()


class Circle:
    """The circle in one directory; the person who founds it and the second one are there from the start.

    Args:
        root: an empty directory.
        seed: of all keys and other randomness.
        say: told of every command that is run and of what came of it.
    """

    def __init__(self, root: Path, seed: int = 0, say: Callable[[str], None] = lambda _line: None) -> None:
        self.root = root
        self.say = say
        self.people = {name: self._person(name, seed) for name in NAMES}
        self.count = 0
        self.begun = ["alice"]
        self.restored: set[str] = set()
        alice = self.people["alice"]
        self.run(alice, "init", "--name", "alice", "--group", "friends")
        bare_repository(root / "remote.git")
        for place in _STICKS:
            self.run(alice, "place", "add", place, str(root / place))
        self.run(alice, "place", "add", "remote", str(root / "remote.git"))
        for path in _FILES:
            alice.write(path, "".join(f"{path} {number}\n" for number in range(8)))
        self.run(alice, "release", "1.0.0", "-m", "first")
        self.welcome("bob", alice)

    def _person(self, name: str, seed: int) -> Person:
        begin, pace = _CLOCKS[name]
        looks, draws = itertools.count(), itertools.count()

        def entropy(size: int) -> bytes:
            drawn = b""
            while len(drawn) < size:
                drawn += blake2b(f"{seed} {name} {next(draws)}".encode()).digest()
            return drawn[:size]

        world: dict[str, Any] = {
            "now_ns": lambda: (begin + pace * next(looks)) * _SECOND,
            "entropy": entropy,
            "sleep": lambda _seconds: None,
        }
        return Person(name, self.root / "homes" / name, self.root / name, world=world)

    # Running commands

    def run(self, person: Person, *words: str) -> dict[str, Any]:
        """Run one command that must not be refused for any reason that its verb has not; return its answer.

        Raises:
            StepFailed: it was.
        """
        result = person.run("--json", *words)
        answer = result.json
        code = str(answer["error"]["code"]) if "error" in answer else ""
        self.say(f"  {person.name}$ lace {' '.join(words)}  [{result.code}{' ' + code if code else ''}]")
        if result.code in {0, 1} or code in _ALLOWED.get(words[0], ()) or code in _BEHIND:
            return answer
        raise StepFailed(f"{person.name}: lace {' '.join(words)} ended with {result.code}: {result.err}")

    def behind(self, person: Person) -> bool:
        """Tell whether a restored vault may sign nothing yet."""
        with open_vault(person) as vault:
            return held_back(vault) is not None

    # What people do

    def do(self, step: Step) -> None:
        """Let somebody do something, if they are there already."""
        self.count += 1
        person = self.people[step.who]
        if step.who not in self.begun:
            if step.act == "invite":
                self.welcome(step.who, self.people[self.begun[step.number % len(self.begun)]])
            return
        self.say(f"{step}")
        ACTS[step.act](self, person, step.number)

    def edit(self, person: Person, number: int) -> None:
        """Change, delete or write a file."""
        path = _FILES[number % len(_FILES)]
        file = person.folder / path
        word = f"{person.name} {self.count}"
        match (number // len(_FILES)) % 8:
            case 0:
                file.unlink(missing_ok=True)
            case 1:
                person.write(f"new/{person.name}{self.count % 7}.txt", f"{word}\n")
            case 2 | 3 if file.is_file():
                file.write_text(file.read_text() + f"{word}\n")
            case how if file.is_file() and (lines := file.read_text().splitlines(keepends=True)):
                lines[how * 3 % len(lines)] = f"{word}\n"
                file.write_text("".join(lines))
            case _:
                person.write(path, f"{word}\n")

    def commit(self, person: Person, number: int) -> None:
        """Commit what is changed."""
        self.run(person, "commit", "-m", f"step {self.count} {number}")

    def release(self, person: Person, number: int) -> None:
        """Release, mostly as what is proposed."""
        wish = ("--yes",) if number % 4 else (f"2.{number % 3}.{number % 5}",)
        self.run(person, "release", *wish, "-m", f"step {self.count}")

    def sync(self, person: Person, number: int) -> None:
        """Visit one place."""
        self.run(person, "sync", PLACES[number % len(PLACES)])

    def carry(self, person: Person, number: int) -> None:
        """Hand a stick to somebody; every other time they go on to a third with the other stick."""
        friends = [self.people[name] for name in self.begun if name != person.name]
        second = friends[number % len(friends)]
        first, other = _STICKS if number % 2 else _STICKS[::-1]
        self.run(person, "sync", first)
        self.run(second, "sync", first)
        if number % 4 < 2 and len(friends) > 1:
            third = friends[(number + 1) % len(friends)]
            self.run(second, "sync", other)
            self.run(third, "sync", other)

    def update(self, person: Person, number: int) -> None:
        """Take in what friends released."""
        del number
        self.bring(person)

    def bring(self, person: Person) -> None:
        """Update; where the folder is as an earlier state was, keep that first, as the refusal says.

        Raises:
            StepFailed: that did not help.
        """
        if "error" not in self.run(person, "update"):
            return
        self.run(person, "commit", "-m", f"as it is {self.count}")
        answer = self.run(person, "update")
        if "error" in answer and answer["error"]["code"] not in _BEHIND:
            raise StepFailed(f"{person.name}: lace update is refused after the commit that it asked for: {answer}")

    def part(self, person: Person, number: int) -> None:
        """Bring a part as a friend has it, perhaps after a sync about that part alone."""
        path = _PARTS[number // len(NAMES) % len(_PARTS)]
        if number % 2:
            self.run(person, "sync", PLACES[number % len(PLACES)], "--path", path)
        self.run(person, "checkout", f"{NAMES[number % len(NAMES)]}/main", path)

    def undo(self, person: Person, number: int) -> None:
        """Take back what was done last, if that can be."""
        del number
        self.run(person, "undo")

    def resolve(self, person: Person, number: int) -> None:
        """Decide an open conflict in one of the three ways."""
        found = self.run(person, "conflicts")["conflicts"]
        if not found:
            return
        conflict = found[number % len(found)]
        sides = [side["release"] or side["commit"] for side in conflict["sides"]]
        how = (
            ("--prefer", "local"),
            ("--prefer", "remote"),
            ("--merged", f"4.{self.count}.0"),
            ("--prefer", str(sides[number % len(sides)])),
        )[(number // 3) % 4]
        self.run(person, "resolve", conflict["id"], *how, "-m", f"step {self.count}")

    def accept(self, person: Person, number: int) -> None:
        """Take over what somebody decided."""
        found = [c for c in self.run(person, "conflicts")["conflicts"] if c["proposals"]]
        if found:
            conflict = found[number % len(found)]
            proposal = conflict["proposals"][number % len(conflict["proposals"])]
            self.run(person, "resolve", conflict["id"], "--accept", proposal["resolution"])

    def leave(self, person: Person, number: int) -> None:
        """Stop syncing with somebody."""
        friends = [peer["peer"] for peer in self.run(person, "peers")["peers"]]
        if friends:
            self.run(person, "leave", friends[number % len(friends)])

    def rejoin(self, person: Person, number: int) -> None:
        """Name somebody as a peer again, by their key."""
        friend = self.people[NAMES[number % len(NAMES)]]
        if friend is person or friend.name not in self.begun:
            return
        shared = self.root / "hands" / "-".join(sorted((person.name, friend.name)))
        shared.parent.mkdir(exist_ok=True)
        node = str(self.run(friend, "id")["node"])
        here = {str(member["node"]) for member in self.run(person, "members")["members"]}
        if node in here:  # else joining would admit a key that came back by no agreement
            self.run(person, "join", f"{friend.name}{self.count}", str(shared), "--key", node)

    def rejoin_all(self, person: Person) -> None:
        """Read everybody again whom this person had left: what they share is to come from somebody."""
        meet = (self.root / _STICKS[0]).as_uri()
        for link in self.run(person, "links")["links"]:
            if link["state"] == "paused":
                self.count += 1
                self.run(person, "join", f"{link['peer']}{self.count}", meet, "--key", str(link["node"]))

    def backup(self, person: Person, number: int) -> None:
        """Copy `.vault` aside."""
        del number
        copy = self.root / "backups" / person.name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(person.folder / ".vault", copy)

    def restore(self, person: Person, number: int) -> None:
        """Bring the last copy of `.vault` back and take in what it lacks; only if that is lost go on with a new key."""
        del number
        copy = self.root / "backups" / person.name
        if not copy.is_dir():
            return
        shutil.rmtree(person.folder / ".vault")
        shutil.copytree(copy, person.folder / ".vault")
        self.restored.add(person.name)
        for place in PLACES:
            self.run(person, "sync", place)
        if self.behind(person):
            self.run(person, "adopt")
        else:
            self.bring(person)

    def admit(self, person: Person, number: int) -> None:
        """Let in who asks."""
        found = self.run(person, "requests")["requests"]
        if found:
            request = found[number % len(found)]
            if "node" in request and "name" in request:
                self.run(person, "admit", str(request["name"]), "--key", str(request["node"]))

    def revoke(self, person: Person, number: int) -> None:
        """Revoke oneself, or somebody admitted below; who is revoked comes back with `comeback`."""
        if number % 3 == 0:
            if person.name != "alice":  # somebody has to be left who can let the others in again
                self.run(person, "revoke", "self", "--yes")
            return
        founder = str(self.run(self.people["alice"], "id")["node"])
        below = [m for m in self.run(person, "members")["members"] if m["node"] != founder and not m.get("me")]
        if below:
            self._cut(person, str(below[number % len(below)]["node"]), number // 3 % 4)

    def quarrel(self, person: Person, number: int) -> None:
        """Revoke somebody, while another who has not heard of it revokes them, or the first, at another entry."""
        nodes = {name: str(self.run(self.people[name], "id")["node"]) for name in self.begun}
        targets = [name for name in self.begun if name not in {"alice", person.name}]
        if not targets:
            return
        target = targets[number % len(targets)]
        others = [name for name in self.begun if name not in {person.name, target}]
        self._cut(person, nodes[target], number % 3)
        if others:
            other = others[number // 2 % len(others)]
            cut = person.name if number % 4 == 3 and person.name != "alice" else target
            self._cut(self.people[other], nodes[cut], number // 3 % 3)

    def _cut(self, person: Person, node: str, back: int) -> None:
        """Revoke a node so many entries before the last one that is known, if the word counts at once."""
        plan = self.run(person, "revoke", node, "--dry-run")
        if not plan.get("waits", True):
            self.run(person, "revoke", node, "--last", str(max(0, int(plan["last_seq"]) - back)), "--yes")

    def comeback(self, person: Person, number: int) -> None:
        """Come back with a new key after a revocation, let in by whom the others believe."""
        del number
        self.visit_all(person)
        node = str(self.run(person, "id")["node"])
        if node in self.members(person):
            return
        host = self.people["alice"]
        if node in {str(one["node"]) for one in self.run(person, "members").get("revoked", [])}:
            self.run(person, "adopt")
            node = str(self.run(person, "id")["node"])
        self.visit_all(host)
        if node not in self.members(host):
            self.run(host, "admit", person.name, "--key", node)
        for one in (host, person, host):
            self.visit_all(one)

    def invite(self, person: Person, number: int) -> None:
        """Invite whoever is not there yet."""
        absent = [name for name in NAMES if name not in self.begun]
        if absent:
            self.welcome(absent[number % len(absent)], person)

    # Several commands together

    def members(self, person: Person) -> set[str]:
        """Return the nodes that belong, as a person sees it."""
        return {str(member["node"]) for member in self.run(person, "members")["members"]}

    def visit_all(self, person: Person) -> int:
        """Visit every place; return how many records came from there or went there."""
        answers = [self.run(person, "sync", place) for place in PLACES]
        return sum(int(answer.get("received") or 0) + int(answer.get("sent") or 0) for answer in answers)

    def welcome(self, name: str, host: Person) -> None:
        """Invite somebody and let them in, whatever their clock says."""
        line = self.run(host, "invite", name)
        if "error" in line:
            return
        friend = self.people[name]
        self.run(friend, "accept", str(line["invite"]), "--name", name)
        self.begun.append(name)
        for one in (friend, host, friend):
            self.visit_all(one)


ACTS: Final[dict[str, Callable[[Circle, Person, int], None]]] = {
    name: getattr(Circle, name)
    for name in [
        "edit",
        "commit",
        "release",
        "sync",
        "carry",
        "update",
        "part",
        "undo",
        "resolve",
        "accept",
        "leave",
        "rejoin",
        "backup",
        "restore",
        "admit",
        "revoke",
        "quarrel",
        "comeback",
        "invite",
    ]
}
