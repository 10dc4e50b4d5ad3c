"""Make the pictures of the real app that the documentation shows: `python -m lace_tui.screenshots [DIR]`.

Three friends, a stick and one conflict are made anew in a temporary directory, with a clock and a randomness of their
own, so that the same program makes the same pictures. The app is the one people use; only its size is given.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import re
import struct
import sys
import tempfile
import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from lace_tui.app.lace import LaceApp
from lace_tui.keys.taste import Taste
from lazy.belonging.circle import accept, invite
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.resolving.resolve import accept_resolution, resolve_prefer
from lazy.sync import sync
from vault.beginning import found_vault
from vault.names import Version
from vault.releasing import release
from vault.surroundings import Surroundings
from vault.vault import Vault

__all__ = ["SHOTS", "Shot", "Story", "app_of", "begin_visit", "drawing_of", "main", "make_story", "picture"]


class Shot(NamedTuple):
    """One picture: the size of the window in cells, and the keys that lead there."""

    size: tuple[int, int]
    keys: str = ""


_WIDE, _NARROW = (100, 30), (60, 20)
SHOTS = {
    "home": Shot(_WIDE),
    "home-narrow": Shot(_NARROW),
    "conflicts": Shot(_WIDE, "2"),
    "resolve": Shot(_WIDE, "2 enter"),
    "resolve-narrow": Shot(_NARROW, "2 enter"),
    "resolve-decided": Shot(_WIDE, "2 enter o w"),
    "queue": Shot(_WIDE, "3"),
    "peers": Shot(_WIDE, "4"),
    "history": Shot(_WIDE, "5"),
    "files": Shot(_WIDE, "5 t enter"),
    "diff": Shot(_WIDE, "5 d"),
    "audit": Shot(_WIDE, "6"),
    "export": Shot(_WIDE, "7"),
    "settings": Shot(_WIDE, "8"),
    "help": Shot(_WIDE, "question_mark"),
}
_BEGAN = 1_790_000_000  # seconds since 1970; a September morning
_MINUTE = 60
_CELL = 12.2  # width of a cell in an exported picture
_MILLISECONDS = 1600  # of each picture of the animation
_END = 12  # bytes of the last chunk of a PNG


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

    def open(self, name: str) -> Vault:
        """Open a friend's vault."""
        return Vault(self.folder(name), self.around(name))

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
    alice = story.vaults["alice"] = found_vault(
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


def begin_visit(story: Story) -> None:
    """Let alice and bob release two versions each that clash; bob's are on the stick, alice has not met them."""
    with contextlib.ExitStack() as stack:
        alice, bob = (stack.enter_context(story.open(name)) for name in ("alice", "bob"))
        resolve_prefer(alice, "1.1.0", "local")
        for vault in (alice, bob):
            sync(vault, ["stick"])
        accept_resolution(bob, "1.1.0")
        update(alice)
        update(bob)
        for vault, soup in ((alice, b"Beet, 4.00"), (bob, b"Kale, 4.00")):
            menu = vault.folder / "menu.md"
            menu.write_bytes(menu.read_bytes().replace(b"Pumpkin, 4.50", soup))
            release(vault, Version.parse("2.0.0"), "winter")
            (vault.folder / "logo.png").write_bytes(b"\x89PNG\0" + soup)
            release(vault, Version.parse("2.1.0"), "a logo")
        sync(bob, ["stick"])


def app_of(story: Story, name: str, *, taste: Taste | None = None, here: Path | None = None) -> LaceApp:
    """Return the app as a friend of the story opens it."""
    folder = story.folder(name)
    return LaceApp(
        lambda: folder if (folder / ".vault").is_dir() else None,
        lambda: story.around(name),
        here=str(here or folder),
        monotonic=lambda: float(story.seconds),
        look_every=0,
        taste=taste,
    )


class _Camera:
    """The app at work, and pictures of what it shows."""

    def __init__(self, app: LaceApp, size: tuple[int, int], theme: str = "lace-dark") -> None:
        app.theme = theme
        self._app = app
        self._size = size

    async def run(self, *keys: str) -> AsyncIterator[str]:
        """Yield a picture at the start and one after each key, as SVG."""
        async with self._app.run_test(size=self._size) as pilot:
            for key in ("", *keys):
                if key:
                    await pilot.press(key)
                for _ in range(4):  # reading leads to looking, and looking to showing
                    await pilot.pause()
                    await self._app.workers.wait_for_complete()
                await pilot.pause()
                yield self._app.export_screenshot(title="lace")


async def _frames(story: Story, size: tuple[int, int]) -> list[str]:
    """Return the eleven-key visit, a picture for each key."""
    keys = ("s", "2", "enter", "l", "w", "y", "R", "w", "y", "s")
    return [svg async for svg in _Camera(app_of(story, "alice"), size).run(*keys)]


def _local_font(svg: str) -> str:
    """Name fonts of this machine instead of ones from the network."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    # The cells are 12.2 wide for a size of 20; this font's are 0.602 of its size. Widths of letters are rounded to
    # whole pixels, so a picture's scale makes the cell one of whole pixels too: else a line ends beside its corner.
    svg = svg.replace("font-size: 20px", "font-size: 20.265px")
    return re.sub(r"font-family: ?(Fira Code|arial)[^;]*;", 'font-family: "DejaVu Sans Mono", monospace;', svg)


def _png(svg: str, path: Path) -> None:
    import cairosvg  # only who makes pictures has it

    made = cairosvg.svg2png(bytestring=svg.encode(), scale=12 / _CELL)
    data = b"tEXt" + drawing_of(svg)
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    path.write_bytes(made[:-_END] + chunk + made[-_END:])


def drawing_of(svg: str) -> bytes:
    """Return what a picture holds of the drawing it was made from: fonts differ between machines, this does not."""
    return b"Drawing\0" + blake3(svg.encode()).hexdigest().encode()


def picture(app: LaceApp, shot: Shot, theme: str = "lace-dark") -> str:
    """Return the drawing of a picture, as SVG."""

    async def last() -> str:
        return [svg async for svg in _Camera(app, shot.size, theme).run(*shot.keys.split())][-1]

    return _local_font(asyncio.run(last()))


def _gif(svgs: Sequence[str], path: Path) -> None:
    """Write pictures one after the other as an animation."""
    import cairosvg  # only who makes pictures has it
    from PIL import Image  # comes with the other

    images = [Image.open(io.BytesIO(cairosvg.svg2png(bytestring=svg.encode(), scale=10 / _CELL))) for svg in svgs]
    flat = [image.convert("RGB").quantize(64, dither=Image.Dither.NONE) for image in images]
    flat[0].save(path, save_all=True, append_images=flat[1:], duration=_MILLISECONDS, loop=0, optimize=True)


def main(target: Path, themes: Sequence[str] = (), only: Sequence[str] = ()) -> list[Path]:
    """Make all pictures, and the visit as an animation, and return their paths.

    Args:
        target: directory.
        themes: make every picture in these themes too, below a directory of the theme's name; without the animation.
        only: names of the pictures to make; without them all, and the animation.
    """
    made = []
    for theme in themes or ("",):
        folder = target / theme
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as root:
            story = make_story(Path(root))
            story.close()
            for name, shot in SHOTS.items():
                if only and name not in only:
                    continue
                path = folder / f"{name}.png"
                _png(picture(app_of(story, "alice"), shot, theme or "lace-dark"), path)
                made.append(path)
    if not themes and not only:
        with tempfile.TemporaryDirectory() as root:
            story = make_story(Path(root))
            story.close()
            begin_visit(story)
            path = target / "visit.gif"
            _gif([_local_font(svg) for svg in asyncio.run(_frames(story, (100, 30)))], path)
            made.append(path)
    return made


if __name__ == "__main__":
    asked = argparse.ArgumentParser(prog="python -m lace_tui.screenshots", description="Make pictures of the app.")
    asked.add_argument("directory", nargs="?", type=Path, default=Path("screenshots"), help="where they go")
    asked.add_argument("themes", nargs="*", metavar="THEME", help="one directory below it each, as lace-light")
    words = asked.parse_args()
    for made in main(words.directory, words.themes):
        sys.stdout.write(f"{made}\n")
