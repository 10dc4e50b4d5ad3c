"""What the app knows of its vault: read by itself, after its own work, and when another process wrote (APP-3, LAZ-56).

Every two seconds somebody looks at the places; who does looks at the store's files too. Only where these changed is
the store asked for its generation, which every write raises, and only where that is another one is the vault read. It
is read, too, where the mark beside the key moved and the store did not: then another copy of the vault wrote; and
where the store went away or came back, as with a disk that is unplugged.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from lace_tui.keys.actions import Scope
from lace_tui.screens.host import Readable
from lace_tui.screens.messages import DidAsk, DidLook, DidRead
from lace_tui.screens.place import place_in
from vault.left_log import is_left

if TYPE_CHECKING:
    from textual.message import Message

    from lace_tui.app.front import Front
    from lace_tui.app.working import Working

__all__ = ["Looking", "StoreWatch"]

_LEFT = "left"  # no generation, which are numbers


class StoreWatch:
    """Tells the generation of a store that others write to.

    Args:
        store: its file.
    """

    def __init__(self, store: Path) -> None:
        self._files = (store, store.with_name(f"{store.name}-wal"))
        self._seen: object = None
        self._generation = ""
        self._mark: tuple[str, object] = "", None  # generation and mark at the look before
        self.is_there = True
        """Whether it was there when its generation was asked last."""
        self.asked = 0
        """How often the store itself was asked."""

    def generation(self) -> str:
        """Return it; empty when it cannot be told now. Where no file changed this is two looks at a directory."""
        seen = [_seen(file) for file in self._files]  # before the store is asked: what is written then is seen next
        self.is_there = seen[0] is not None
        if seen != self._seen:
            self.asked += 1
            # Beside a log that a killed process left the reading that it is told by looks first whether that rotted.
            self._generation = _LEFT if is_left(str(self._files[0])) else _generation(self._files[0])
            self._seen = seen
        return self._generation

    def was_copied(self, mark: str) -> bool:
        """Return whether another copy of this vault wrote since this was asked last: the mark moved without the store.

        Args:
            mark: the file beside the key that every copy on this machine moves.
        """
        before, self._mark = self._mark, (self._generation, _seen(Path(mark)))
        return before[1] is not None and before[0] == self._mark[0] and before[1] != self._mark[1]


def _seen(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else None  # a log without entries is none


def _generation(store: Path) -> str:
    import sqlite3  # no part of the first frame

    from lazy.remembered import GENERATION, opened

    try:
        with closing(opened(str(store))) as db:
            return str(db.execute(GENERATION).fetchone()[0])
    except (sqlite3.Error, TypeError):  # it is busy, or being made: the next look asks again, or the reading says why
        return ""


class Looking:
    """What reads the vault and looks at the places for the app.

    Args:
        front: the app, which shows what was read.
        working: reads, in threads.
    """

    def __init__(self, front: Front, working: Working) -> None:
        self._front = front
        self._working = working
        self._is_looking = False
        self.readings = 0
        """How many readings were begun."""
        self._last_read = 0  # number of the newest reading that came to its end
        self.store: StoreWatch | None = None
        self._noticed = ""  # generation that was noticed last; one that cannot be read is tried once
        self._is_there = True  # whether the store was, when that was noticed last

    def read(self) -> None:
        """Read the vault again, for Home and for the place that is shown."""
        self.readings += 1
        number = self.readings

        def do() -> Message:
            from lace_tui.model.reading import read_home  # the floors below are loaded behind the first frame

            with self._working.vault() as vault:
                return DidRead(number, read_home(vault))

        self._working.run("read", do)

    def read_place(self, place: Readable) -> None:
        """Read what a place shows."""
        if self._front.folder is not None and place.SCOPE is not Scope.HOME:
            self._working.ask(place.read, lambda value: place.show(value) if place.is_open else None, str(place.SCOPE))

    def read_all(self) -> None:
        """Read the vault again, and what the place shows that is in sight, perhaps below a page."""
        self.read()
        place = place_in(self._front.screen_stack)
        if place is not None:
            self.read_place(place)

    def look(self) -> None:
        """Look at the places and at the store, in a thread, unless somebody is looking."""
        view, folder = self._front.view, self._front.folder
        is_first = view is None and self._last_read < max(1, self.readings)  # reading, which the look is for
        if folder is None or self._is_looking or is_first:
            return
        self._is_looking = True
        watch = self.store = self.store or StoreWatch(folder / ".vault" / "store.db")

        def look() -> Message:
            from lace_tui.model.reading import look_at  # loaded by the reading before

            if view is None:  # it could not be read yet: nothing is known but whether that may be otherwise now
                return DidLook({}, watch.generation(), is_there=watch.is_there)
            reach = {place.place.name: look_at(place.place) for place in view.places}
            return DidLook(reach, watch.generation(), watch.was_copied(view.mark), watch.is_there)

        self._working.run("look", look)

    def end(self) -> None:
        """Take note that a look or a reading failed, so that the next one is not waited for."""
        self._is_looking = False
        self._last_read = self.readings

    def show_read(self, message: DidRead) -> None:
        """Show the reading, unless a newer one was begun."""
        if message.number < self.readings:
            return
        self._last_read = message.number
        if self._front.view is None:
            self._working.run("warm", _warm)
        self._front.view = message.view
        self._front.refresh_places()
        self.look()

    def show_looked(self, message: DidLook) -> None:
        """Show which places are there; read the vault again where somebody wrote that is none of this app's work."""
        self._is_looking = False
        if message.reach != self._front.reach:
            self._front.reach = message.reach
            self._front.refresh_places()
        is_at_rest = self._working.job is None and self._last_read == self.readings
        known = {"", self._noticed, self._front.view.generation if self._front.view else ""}
        came_or_went = message.is_there != self._is_there
        if is_at_rest and (message.generation not in known or message.is_copied or came_or_went):
            self._noticed, self._is_there = message.generation, message.is_there
            self.read_all()


def _warm() -> Message:
    """Load the other places and what Home does, so that the first key does not wait for them."""
    import lace_tui.app.places
    import lace_tui.model.deeds  # noqa: F401 - they are loaded, which is all

    return DidAsk(lambda _: None, None)
