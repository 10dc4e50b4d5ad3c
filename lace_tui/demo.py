"""The demo: alice, bob and cara share one folder of real files over every road, through the real commands.

Each step runs one command as its person would type it, in that person's folder and with that person's own keys, and
shows what it printed. Nothing is played: the same code runs, on real files, and the end compares the three folders
byte for byte.
"""

from __future__ import annotations

import email
import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from lace_tui.cli.context import World
from lace_tui.cli.frame import run

__all__ = ["DemoFailed", "RanCommand", "Story", "tell"]

_PEOPLE = ("alice", "bob", "cara")


class DemoFailed(Exception):
    """A step ended otherwise than the story says; that is a fault in lace."""


class RanCommand(NamedTuple):
    """One command of the story: who, what they typed, what it printed, its exit code."""

    who: str
    command: str
    output: str
    code: int


@dataclass(slots=True)
class Story:
    """Three people and a stick under one new directory.

    Args:
        root: the directory.
        world: the real world; each person sees it with a home of their own.
        say: prints one line of the story.
        shared: name of everybody's shared folder.
        told: the commands so far.
    """

    root: Path
    world: World
    say: Callable[[str], None]
    shared: str = "email"
    told: list[RanCommand] = field(default_factory=list)

    def folder(self, who: str) -> Path:
        """Return a person's shared folder."""
        return self.root / who / self.shared

    def lace(self, who: str, *words: str, expect: int = 0, secret: bool = False) -> str:
        """Run one command as a person; return what it printed.

        Raises:
            DemoFailed: it ended with another exit code than the story expects.
        """
        out, code = self._run(who, words)
        shown = " ".join(f'"{word}"' if " " in word else word for word in words)
        if secret:
            shown = " ".join(word if len(word) < 60 else f"{word[:28]}..." for word in words)
        self.told.append(RanCommand(who, f"lace {shown}", out, code))
        self.say(f"  {who}$ lace {shown}")
        for line in out.rstrip("\n").split("\n") if out.strip() else []:
            self.say(f"      {line if len(line) < 240 else line[:100] + '...'}")
        if code != expect:
            raise DemoFailed(f"{who}: lace {shown} ended with {code} instead of {expect}:\n{out}")
        return out

    def ask(self, who: str, *words: str) -> dict[str, object]:
        """Run one command with --json, quietly; return what it answers.

        Raises:
            DemoFailed: it failed.
        """
        out, code = self._run(who, ("--json", *words))
        answer = json.loads(out.splitlines()[0])
        if "error" in answer or not isinstance(answer, dict):
            raise DemoFailed(f"{who}: lace {' '.join(words)} ended with {code}: {answer}")
        return answer

    def _run(self, who: str, words: tuple[str, ...]) -> tuple[str, int]:
        home = self.root / who / "home"
        home.mkdir(parents=True, exist_ok=True)
        self.folder(who).mkdir(parents=True, exist_ok=True)
        raw = io.BytesIO()
        out = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)
        world = World(
            environ=self.environ(who),
            cwd=self.folder(who),
            stdin=io.StringIO(),
            stdout=out,
            stderr=out if "--json" not in words else io.StringIO(),
            now_ns=self.world.now_ns,
            entropy=self.world.entropy,
            sleep=self.world.sleep,
        )
        code = run(list(words), world)
        out.flush()
        return raw.getvalue().decode(), code

    def environ(self, who: str) -> dict[str, str]:
        """Return a person's environment: a home of their own, and keys in it."""
        home = self.root / who / "home"
        return {"HOME": str(home), "LACE_HOME": str(home / "lace"), "TERM": "dumb", "USER": who}

    @contextmanager
    def serving(self, who: str) -> Iterator[str]:
        """Let a person serve friends on this machine for the block; give the address that friends add.

        Raises:
            DemoFailed: it does not listen.
        """
        path = {name: self.world.environ[name] for name in ("PATH", "PYTHONPATH") if name in self.world.environ}
        server = subprocess.Popen(
            [sys.executable, "-m", "lace_tui", "--json", "serve", "--listen", "127.0.0.1:0"],
            cwd=self.folder(who),
            env=self.environ(who) | path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            line = server.stdout.readline() if server.stdout else b""
            if not line:
                raise DemoFailed(f"{who} could not serve: {server.communicate()[1].decode(errors='replace')}")
            uri = str(json.loads(line)["listening"])
            self.say(f"  {who}$ lace serve")
            self.say(f"      Serving at {uri[:56]}...")
            yield uri
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=30)

    def write(self, who: str, name: str, content: str) -> None:
        """Write one file, as an editor would."""
        path = self.folder(who) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")

    def edit(self, who: str, name: str, old: str, new: str) -> None:
        """Change one text in one file, as an editor would.

        Raises:
            DemoFailed: the text is not in it.
        """
        path = self.folder(who) / name
        text = path.read_text("utf-8")
        if old not in text:
            raise DemoFailed(f"{name} of this Python does not hold {old!r}.")
        path.write_text(text.replace(old, new, 1), "utf-8")
        self.say(f"  {who} edits {name}")


def tell(root: Path, world: World, say: Callable[[str], None], *, every_road: bool = False) -> Story:
    """Tell the whole story under a new or empty directory; with `every_road` also by git and over the network.

    Raises:
        DemoFailed: a step did not do what the story says.
    """
    story = Story(root, world, say)
    for title, chapter in (*_CHAPTERS, *(_MORE_ROADS if every_road else ()), *_LAST):
        say("")
        say(title)
        chapter(story)
    say("")
    return story


def _begin(story: Story) -> None:
    source = Path(email.__file__).parent
    for path in sorted(source.rglob("*.py")):
        target = story.folder("alice") / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (story.root / "stick").mkdir(exist_ok=True)
    story.lace("alice", "init", "--name", "alice")
    story.lace("alice", "place", "add", "stick", str(story.root / "stick"))
    story.lace("alice", "release", "1.0.0", "-m", "the email package as it came")


def _invite(story: Story) -> None:
    for friend in ("bob", "cara"):
        line = str(story.ask("alice", "invite", friend)["invite"])
        story.say(f"  alice$ lace invite {friend}")
        story.say(f"      {line[:40]}...  (one line of text; alice sends it to {friend})")
        story.lace("alice", "sync", "stick")
        story.lace(friend, "accept", line, secret=True)
        story.lace("alice", "sync", "stick")
        story.lace(friend, "sync", "stick")
        story.lace(friend, "update")


def _merge(story: Story) -> None:
    story.edit("bob", "charset.py", "class Charset:", "class Charset:  # bob looked at this")
    story.lace("bob", "release", "1.1.0", "-m", "a note on charsets")
    story.edit("alice", "message.py", "class Message:", "class Message:  # alice looked at this")
    story.lace("alice", "release", "1.2.0", "-m", "a note on messages")
    story.lace("alice", "sync", "stick")
    story.lace("bob", "sync", "stick")
    story.lace("bob", "update")
    story.lace("bob", "release", "1.3.0", "-m", "both notes")
    story.lace("bob", "sync", "stick")
    for friend in ("alice", "cara"):
        story.lace(friend, "sync", "stick")
        story.lace(friend, "update")


def _conflict(story: Story) -> None:
    story.edit("alice", "header.py", "class Header:", "class Header:  # alice: keep this")
    story.edit("cara", "header.py", "class Header:", "class Header:  # cara: rename this")
    story.lace("alice", "release", "2.0.0", "-m", "header: keep")
    story.lace("cara", "release", "2.0.0", "-m", "header: rename")
    story.lace("alice", "sync", "stick")
    story.lace("cara", "sync", "stick", expect=1)
    story.lace("cara", "conflicts")


def _resolve(story: Story) -> None:
    story.lace("cara", "resolve", "2.0.0", "--prefer", "alice", "-m", "agreed on the phone")
    story.lace("cara", "sync", "stick")
    for friend in ("alice", "bob"):
        story.lace(friend, "sync", "stick", expect=1)
        story.lace(friend, "resolve", "2.0.0", "--accept")
        story.lace(friend, "sync", "stick")


def _by_git(story: Story) -> None:
    remote = story.root / "host.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)  # noqa: S603, S607 - a host for the demo
    story.say(f"  (a bare repository, {remote.name}, plays the host; people name theirs git@host:us/lace.git)")
    story.edit("bob", "utils.py", "import os", "import os  # bob was here")
    story.lace("bob", "release", "2.1.0", "-m", "by way of git")
    story.lace("bob", "place", "add", "host", str(remote))
    story.lace("bob", "sync", "host")
    story.lace("alice", "place", "add", "host", str(remote))
    story.lace("alice", "sync", "host")
    story.lace("alice", "update")


def _by_network(story: Story) -> None:
    with story.serving("alice") as uri:
        story.lace("cara", "place", "add", "alices", uri, secret=True)
        story.lace("cara", "sync", "alices")
        story.lace("cara", "update")
        story.lace("cara", "sync", "alices")


def _end(story: Story) -> None:
    for who in _PEOPLE:
        story.lace(who, "sync", "stick")
        story.lace(who, "update")
    trees = [dict(_files(story.folder(who))) for who in _PEOPLE]
    if not trees[0] or any(tree != trees[0] for tree in trees):
        raise DemoFailed("The three folders differ.")
    story.say(f"  The three folders are equal: {len(trees[0])} files, compared byte for byte.")
    story.lace("alice", "status")


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and relative.parts[0] != ".vault":
            yield str(relative), path.read_bytes()


_CHAPTERS: tuple[tuple[str, Callable[[Story], None]], ...] = (
    ("1. Alice shares a folder of real files: the email package of this Python.", _begin),
    ("2. She invites bob and cara. One line of text each; no server, no hash typed.", _invite),
    ("3. Bob and alice both work, and what they did merges by itself.", _merge),
    (
        "4. Alice and cara release one version with different content: a conflict, decided by nobody but people.",
        _conflict,
    ),
    ("5. Cara decides; the decision travels as a signed record, and the others accept it.", _resolve),
)
_MORE_ROADS: tuple[tuple[str, Callable[[Story], None]], ...] = (
    ("6. The stick lies at home. Bob and alice meet in a git remote instead.", _by_git),
    ("7. Alice serves from her own machine; cara syncs with her over the network, known by her key.", _by_network),
)
_LAST: tuple[tuple[str, Callable[[Story], None]], ...] = (
    ("Everybody syncs once more. Nobody has anything left to merge.", _end),
)
