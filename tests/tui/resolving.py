"""A conflict opened in Resolve, and clashes made for it: what several tests of that screen begin with."""

from __future__ import annotations

import contextlib

from textual.pilot import Pilot

from lace_tui.app.lace import LaceApp
from lace_tui.screens.pane import Pane
from lace_tui.screens.resolve import Resolve
from lace_tui.screenshots import Story
from lazy.conflicts import conflicts
from lazy.folder.update import update
from lazy.resolving.resolve import accept_resolution, resolve_prefer
from lazy.sync import sync
from tests.tui.conftest import press, settle
from vault.names import Version
from vault.releasing import release


def pane(app: LaceApp, name: str) -> str:
    """Return all that a pane shows."""
    return app.screen.query_one(f"#{name}", Pane).text


async def opened(pilot: Pilot[None]) -> None:
    """Go to the first conflict."""
    await settle(pilot)
    await press(pilot, "2")
    await press(pilot, "enter")
    assert isinstance(pilot.app.screen, Resolve)


def menu(story: Story) -> str:
    """Return alice's menu as it lies in her folder."""
    return (story.folder("alice") / "menu.md").read_text()


def clash(story: Story, mine: dict[str, bytes | None], theirs: dict[str, bytes | None], version: str = "2.0.0") -> None:
    """Let alice and bob both release a version with these files, after they agreed on everything before."""
    with contextlib.ExitStack() as stack:
        alice, bob = (stack.enter_context(story.open(n)) for n in ("alice", "bob"))
        for conflict in conflicts(alice):
            resolve_prefer(alice, conflict.id, "local")
        for name in ("alice", "bob", "alice", "bob"):
            sync(alice if name == "alice" else bob, ["stick"])
        accept_resolution(bob, "1.1.0")
        update(bob)
        update(alice)
        for vault, files in ((alice, mine), (bob, theirs)):
            for path, content in files.items():
                file = vault.folder / path
                if content is None:
                    file.unlink()
                else:
                    file.write_bytes(content)
            release(vault, Version.parse(version), "2")
        sync(bob, ["stick"])
        sync(alice, ["stick"])


def clash_twice(story: Story) -> None:
    """Let alice and bob both release 2.9.0 and 2.10.0, each with another file that differs."""
    clash(story, {"a.txt": b"mine"}, {"a.txt": b"bob"}, "2.9.0")
    with story.open("alice") as alice, story.open("bob") as bob:
        for vault in (alice, bob):
            (vault.folder / "b.txt").write_text(vault.name)
            release(vault, Version.parse("2.10.0"), "2")
        sync(bob, ["stick"])
        sync(alice, ["stick"])


def clash_with_cara(story: Story, path: str, content: bytes, version: str) -> None:
    """Let cara release a third content under a version that alice and bob have released, and alice meet it."""
    with story.open("alice") as alice, story.open("cara") as cara:
        (cara.folder / path).write_bytes(content)
        release(cara, Version.parse(version), "a third")
        sync(cara, ["stick"])
        sync(alice, ["stick"])
