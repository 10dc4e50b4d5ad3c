"""Make the pictures of the real app that the documentation shows: `python -m lace_tui.screenshots [DIR]`.

Three friends, a stick and one conflict are made anew in a temporary directory, with a clock and a randomness of their
own, so that the same program makes the same pictures. The app is the one people use; only its size is given.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from blake3 import blake3

from lace_tui.app import LaceApp
from lazy.circle import accept, invite
from lazy.places import add_place
from lazy.sync import sync
from lazy.update import update
from vault.names import Version
from vault.surroundings import Surroundings
from vault.vault import Vault
from vault.work import release

__all__ = ["SIZES", "Story", "app_of", "main", "make_story"]

SIZES = {"home": (100, 30), "home-narrow": (60, 20)}
_BEGAN = 1_790_000_000  # seconds since 1970; a September morning
_MINUTE = 60


@dataclass(slots=True)
class Story:
    """Friends with vaults, and what the world looks like to them.

    Args:
        root: where everything lies.
        seconds: the clock, seconds since 1970; moved by whoever tells the story.
    """

    root: Path
    seconds: int = _BEGAN
    vaults: dict[str, Vault] = field(default_factory=dict)
    _drawn: int = 0

    def around(self, name: str) -> Surroundings:
        """Return the world as one friend sees it."""
        return Surroundings(
            data_root=self.root / "homes" / name,
            machine=blake3(name.encode()).hexdigest()[:32],
            host=f"{name}-desk",
            now_ns=lambda: self.seconds * 1_000_000_000,
            entropy=self._entropy,
            sleep=lambda _seconds: None,
        )

    def _entropy(self, count: int) -> bytes:
        self._drawn += 1
        return blake3(f"story {self._drawn}".encode()).digest(length=count)

    @property
    def stick(self) -> Path:
        """The directory that stands for the stick."""
        return self.root / "stick"

    def folder(self, name: str) -> Path:
        """Return a friend's shared folder."""
        return self.root / name / "supper"

    def write(self, name: str, path: str, text: str) -> None:
        """Write a file in a friend's folder."""
        (self.folder(name) / path).write_text(text, "utf-8")

    def sync(self, name: str, minutes: int = 5) -> None:
        """Let a friend sync with the stick, some minutes later."""
        self.seconds += minutes * _MINUTE
        sync(self.vaults[name], ["stick"])

    def close(self) -> None:
        """Close all vaults."""
        for vault in self.vaults.values():
            vault.close()
        self.vaults.clear()


_MENU = "# Supper club\n\n## Soups\n\nTomato, 4.00\n\n## Mains\n\nRisotto, 9.50\n\n## Open\n\nFriday\n"


def make_story(root: Path) -> Story:
    """Return alice, bob and cara with a stick, two releases for alice, and one open conflict."""
    story = Story(root)
    story.folder("alice").mkdir(parents=True)
    alice = story.vaults["alice"] = Vault.found(
        story.folder("alice"), story.around("alice"), name="alice", group="supper-club"
    )
    add_place(alice, "stick", str(story.stick), cwd=root)
    story.write("alice", "menu.md", _MENU)
    story.write("alice", "guests.txt", "ada\nben\n")
    release(alice, None, "the first menu")
    for name in ("bob", "cara"):
        story.vaults[name], _ = accept(story.folder(name), story.around(name), invite(alice, name).encode())
    for name in ("alice", "bob", "cara", "alice"):
        story.sync(name)
    for name in ("bob", "cara"):
        update(story.vaults[name])
    story.seconds += 26 * 60 * _MINUTE
    story.write("cara", "prices.md", "Flour 1.10\nRice 2.40\n")
    release(story.vaults["cara"], Version.parse("1.0.1"), "prices for November")
    story.write("bob", "menu.md", _MENU.replace("Tomato, 4.00", "Leek, 4.20"))
    story.write("bob", "wine.md", "Rotgipfler\n")
    release(story.vaults["bob"], Version.parse("1.1.0"), "autumn menu")
    story.write("alice", "menu.md", _MENU.replace("Tomato, 4.00", "Pumpkin, 4.50"))
    release(alice, Version.parse("1.1.0"), "pumpkin soup")
    add_place(alice, "office", str(root / "office"), cwd=root, create=False)
    for name in ("cara", "bob", "alice"):
        story.sync(name, 40)
    story.seconds += 12 * _MINUTE
    return story


def app_of(story: Story, name: str) -> LaceApp:
    """Return the app as a friend of the story opens it."""
    folder = story.folder(name)
    return LaceApp(
        lambda: folder if (folder / ".vault").is_dir() else None,
        lambda: story.around(name),
        here=str(folder),
        monotonic=lambda: float(story.seconds),
        look_every=0,
    )


async def _picture(app: LaceApp, size: tuple[int, int], theme: str = "textual-dark") -> str:
    app.theme = theme
    async with app.run_test(size=size) as pilot:
        for _ in range(3):  # reading leads to looking, and looking to showing
            await pilot.pause()
            await app.workers.wait_for_complete()
        await pilot.pause()
        return app.export_screenshot(title="lace")


def _local_font(svg: str) -> str:
    """Name fonts of this machine instead of ones from the network."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"font-family: ?(Fira Code|arial)[^;]*;", 'font-family: "DejaVu Sans Mono", monospace;', svg)


def _png(svg: str, path: Path) -> None:
    import cairosvg  # noqa: PLC0415 - only who makes pictures has it

    cairosvg.svg2png(bytestring=svg.encode(), write_to=str(path), output_width=1400)


def main(target: Path) -> list[Path]:
    """Make all pictures and return their paths."""
    made = []
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as root:
        story = make_story(Path(root))
        story.close()
        for name, size in SIZES.items():
            svg = _local_font(asyncio.run(_picture(app_of(story, "alice"), size)))
            path = target / f"{name}.png"
            _png(svg, path)
            made.append(path)
    return made


if __name__ == "__main__":
    for picture in main(Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")):
        sys.stdout.write(f"{picture}\n")
