"""The directory of a drop: which drop it is, where each mailbox lies in it, and who is to blame for a fault.

Whatever the system reports becomes an error that says whether the medium is gone, full, write-protected or damaged:
the marker file tells the first from the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blake3 import blake3

from transports.drop.marker import Marker, read_marker
from transports.errors import WrongDrop
from transports.filecache import FileCache
from transports.layout import group_directory
from transports.mailbox import ByteCount
from transports.medium import fault_of
from vault.errors import EnvironmentFault, LaceError
from vault.records.hashes import Verifier

__all__ = ["DropDirectory"]


class DropDirectory:
    """What reading a drop and writing a mailbox in it share.

    Args:
        path: the directory that holds the marker file.
        drop_id: 32 hex characters that were read from it.
    """

    def __init__(self, path: Path, drop_id: str) -> None:
        self.path = path
        self.drop_id = drop_id
        self.count = ByteCount()
        self.cache: FileCache | None = None
        """The small files as they lay here last, where that is remembered."""
        self._marker: Marker | None = None
        self._rooms: dict[str, Path] = {}
        self._mailboxes: dict[tuple[str, Verifier], Path] = {}

    def remember(self, home: Path, copy: str = "") -> None:
        """Keep what was read of small files below a directory of the vault, from one visit to the next.

        Args:
            home: that directory.
            copy: the address of this one where other places are copies of it; each is another medium here.
        """
        which = f"-{blake3(copy.encode()).hexdigest()[:16]}" if copy else ""
        self.cache = FileCache(home, self.drop_id + which)

    @property
    def place_id(self) -> str:
        """The drop's id: 32 hex characters."""
        return self.drop_id

    def describe(self) -> str:
        """Return the path of the directory."""
        return str(self.path)

    def check(self) -> None:
        """Refuse to go on if the medium went away or another one took its place.

        Raises:
            PlaceUnreachable: it is gone.
            WrongDrop: another drop is there.
        """
        if self._marker is None or not self._marker.lies_in(self.path):
            self._read_marker(self.drop_id)

    def room_path(self, group: str) -> Path:
        """Return the directory of a group's mailboxes."""
        path = self._rooms.get(group)
        if path is None:
            path = self._rooms[group] = self.path / group_directory(group)
        return path

    def mailbox_path(self, group: str, node: Verifier) -> Path:
        """Return the directory of a node's mailbox."""
        path = self._mailboxes.get((group, node))
        if path is None:
            path = self._mailboxes[group, node] = self.room_path(group) / node.key.hex()
        return path

    @contextmanager
    def translated(self, what: str, *, is_write: bool = False) -> Iterator[None]:
        """Turn what the system reports about `what` into the error that says who or what is to blame."""
        try:
            yield
        except (OSError, EnvironmentFault) as error:
            named = f"{what} on {self.path}"
            raise fault_of(error, named, is_here=self._is_here(), is_write=is_write) from error

    def _read_marker(self, expected_id: str | None) -> str:
        """Read the marker, whatever is known of it; return the id in it."""
        self._marker = None
        found = read_marker(self.path, is_known=expected_id is not None)
        self.count.read += found.size
        if expected_id is not None and found.drop_id != expected_id:
            raise WrongDrop(f"{self.path} holds the drop {found.drop_id}, and {expected_id} was expected there.")
        self._marker = found
        return found.drop_id

    def _is_here(self) -> bool:
        try:
            self._read_marker(self.drop_id)
        except LaceError:
            return False
        return True
