"""A git place: mailboxes in a git remote (CYB-15 to CYB-18, APP-7; docs/formats.md section "Git remotes").

One ref a mailbox, below `refs/heads/lace/`; nothing else in the repository is read or changed. Opening asks the
remote once for its refs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, Self

from transports.errors import (
    BadSnapshot,
    MissingFile,
    NotAGitPlace,
    PlaceNotWritable,
    PlaceUnmarked,
    UnreadableFile,
    WrongDrop,
)
from transports.git.branches import Branches
from transports.git.homes import note_address, repository_of
from transports.git.mending import MailboxView
from transports.git.refusals import Moved
from transports.git.talks import Stumbled
from transports.git.tree import Stored
from transports.git.upkeep import turn
from transports.git.view import PLACE
from transports.git.withdrawal import is_empty, tell_readable
from transports.git.writer import GitWriter
from transports.layout import BUNDLE_NAME, DROP_ID, RUN_NAME
from transports.mailbox import BEACON_FILE_LIMIT, HEAD_FILE_LIMIT, REQUEST_FILE_LIMIT
from vault.errors import DataError
from vault.files import free_bytes
from vault.lock import Patience
from vault.records.hashes import Verifier

__all__ = ["GitPlace"]

_BEGIN = "lace-begin"  # whose turn it is to begin a private repository, which bears one name until it has its own
_BEGINS = "is asking a git place for the first time"
_PLACE_TEXT = re.compile(r"lace-place/0\nid ([0-9a-f]{32})\n", re.ASCII)
_PLACE_LIMIT = 256  # bytes
_OTHER = "Ask what happened to the repository, or add this one as a place of its own."


class GitPlace(MailboxView):
    """One git remote; it satisfies `MailboxMedium`. Use `create` or `open`.

    Args:
        uri: its address.
        home: the directory for private repositories.
        known_id: the id it had when it was last used.
        patience: how the person waits for a host, and for another process that asks there.
        mends, beside: as `MailboxView`.
    """

    kind = "git"
    is_read_only = False
    tells_room = False

    def __init__(
        self,
        uri: str,
        home: Path,
        known_id: str | None = None,
        *,
        patience: Patience = Patience(),
        mends: bool = False,
        beside: Collection[str] = (),
    ) -> None:
        super().__init__(uri, home, known_id, patience, mends=mends, beside=beside)
        self._uri = uri
        self._beside = beside
        self._place_id = ""

    @classmethod
    def create(cls, uri: str, home: Path, *, entropy: Callable[[int], bytes], patience: Patience = Patience()) -> Self:
        """Make a place of a repository, or open the place that is there; of two makers the first one wins.

        Args:
            uri: its address.
            home: the directory for private repositories.
            entropy: gives the id its randomness.
            patience: how the person waits.

        Raises:
            UnknownPlaceKind: the address is none that git may use.
            PlaceError: there is no such repository, or it cannot be pushed to.
        """
        with turn(home / _BEGIN, _BEGINS, patience):
            place = cls(uri, home, patience=patience)
            with place._ended_by_errors():
                place.make(entropy)
        return place

    @classmethod
    def open(
        cls,
        uri: str,
        home: Path,
        expected_id: str | None = None,
        *,
        patience: Patience = Patience(),
        mends: bool = False,
        beside: Collection[str] = (),
    ) -> Self:
        """Open a place.

        Args:
            uri: its address.
            home: the directory for private repositories.
            expected_id: the id it had when it was last used.
            patience: how the person waits.
            mends: whether a mailbox of my own of which the host lost a part is pushed again; else it is only told.
            beside: addresses of other places with that id, which are copies.

        Raises:
            NotAGitPlace: the repository holds no place, and none was expected.
            PlaceUnmarked: it holds none, and one was expected.
            WrongDrop: another one lies there than was expected.
            PlaceError: it cannot be reached.
        """
        known = repository_of(home, expected_id, uri, beside) if expected_id is not None else None
        is_begun = known is not None and (known / "HEAD").is_file()
        with nullcontext() if is_begun else turn(home / _BEGIN, _BEGINS, patience):
            place = cls(uri, home, expected_id, patience=patience, mends=mends, beside=beside)
            with place._ended_by_errors():
                place.settle(expected_id)
                note_address(place.private.here.path, uri)
        return place

    @contextmanager
    def _ended_by_errors(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def make(self, entropy: Callable[[int], bytes]) -> None:
        """Make a place of the repository unless it is one; as `create`."""
        if self._read_id() is None:
            self._write_id(entropy(16).hex())
        self.settle(None)

    def renew(self, place_id: str, proves: Callable[[], bool]) -> bool:
        """Write the branch anew that says which place this is, where it is gone; tell whether it says so from then.

        It does not where somebody else began a place there at that moment.

        Args:
            place_id: which one it was.
            proves: reads here whether it is that one.

        Raises:
            NotAGitPlace: what somebody else wrote there at that moment cannot be read.
            PlaceError: the remote cannot be asked, or takes in no change.
        """
        if PLACE in self._refs:
            return False
        self._place_id = place_id
        if not proves():
            return False
        self._write_id(place_id)
        return self._read_id() == place_id

    def _write_id(self, place_id: str) -> None:
        text = f"lace-place/0\nid {place_id}\n".encode()
        tree = self.private.here.store_tree({PLACE: ("blob", self.private.here.store(text))})
        refused = None
        try:
            self.private.talks.push(self.private.here.store_root(tree), PLACE, len(text), 3)
        except Moved as error:  # somebody else was first
            refused = error.refusal
        self._refs = Branches(self.private.talks.list_remote())
        if refused is not None and PLACE not in self._refs:
            raise refused

    def settle(self, expected_id: str | None) -> None:
        """Learn which place this is, and refuse another one than was expected.

        Args:
            expected_id: 32 hex characters, or None for whichever it is.

        Raises:
            WrongDrop: it is another place, and one was expected.
            PlaceUnmarked: it is none, and one was expected.
            NotAGitPlace: it is none.
            PlaceError: the remote cannot be asked.
        """
        found = self._read_id()
        if expected_id is not None and found is None:
            raise PlaceUnmarked(
                f"{self.describe()} holds no place, and {expected_id} was expected there.", is_emptied=not self._refs
            )
        if expected_id is not None and found != expected_id:
            raise WrongDrop(
                f"{self.describe()} holds the place {found}, and {expected_id} was expected there.", hint=_OTHER
            )
        if found is None:
            raise NotAGitPlace(f"{self.describe()} holds no place yet.")
        self._place_id = found
        path = repository_of(self._home, found, self._uri, self._beside)
        if self.private.here.path != path:
            self.private.move(path)

    @property
    def place_id(self) -> str:
        """The place's id: 32 hex characters."""
        return self._place_id

    def check(self) -> None:
        """Ask the remote anew, and refuse to go on if it went away or another one took its place.

        Raises:
            PlaceUnmarked: it says no more which place it is.
            WrongDrop: another place is there.
            PlaceError: it cannot be reached.
        """
        super().check()
        found = self._read_id()
        if found is None:
            raise PlaceUnmarked(f"{self.describe()} no longer says that it is the place {self._place_id}.")
        if found != self._place_id:
            raise WrongDrop(f"{self.describe()} is no longer the place {self._place_id}.", hint=_OTHER)

    def _read_id(self) -> str | None:
        tip = self._refs.get(PLACE)
        if tip is None:
            return None
        if self.private.here.seen().get(PLACE) != tip:
            try:
                self.private.talks.fetch_refs([PLACE])
            except DataError as error:  # or git there stumbles over what else lies here
                if isinstance(error.__cause__, Stumbled) and self._is_renewed():
                    return self._read_id()
                raise NotAGitPlace(f"What {self.describe()} says of itself cannot be read.") from error
            tip = self.private.here.seen()[PLACE]
        try:
            entry = self.private.here.tree(tip, _PLACE_LIMIT).get(PLACE)
            text = self.private.here.read([entry.oid], _PLACE_LIMIT)[0] if entry else b""
        except (DataError, PlaceNotWritable) as error:
            if self.private.here.is_own(tip) and self._is_renewed():
                return self._read_id()
            raise NotAGitPlace(f"What {self.describe()} says of itself cannot be read.") from error
        match = _PLACE_TEXT.fullmatch(text.decode("utf-8", "replace"))
        if match is None or DROP_ID.fullmatch(match[1]) is None:
            raise NotAGitPlace(f"What {self.describe()} says of itself is damaged, or of a newer lace.")
        return match[1]

    # Reading mailboxes

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's snapshot head, or None if there is none."""
        front = self.front(group, node)
        return self._small(front.head if front else None, HEAD_FILE_LIMIT, "head", node)

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's request, or None if there is none."""
        front = self.front(group, node)
        return self._small(front.request if front else None, REQUEST_FILE_LIMIT, "request", node)

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's beacon, or None if there is none."""
        front = self.front(group, node)
        return self._small(front.beacon if front else None, BEACON_FILE_LIMIT, "beacon", node)

    def open_file(self, group: str, node: Verifier, name: str) -> BinaryIO:
        """Open a run or bundle for reading; what of it is not here is fetched as it is read.

        Raises:
            MissingFile: there is no such file.
            UnreadableFile: the name is not that of a run or bundle, or the mailbox is damaged.
            PlaceError: the remote cannot be asked.
        """
        if RUN_NAME.fullmatch(name) is None and BUNDLE_NAME.fullmatch(name) is None:
            raise UnreadableFile(f"{name[:60]!r} is not the name of a run or bundle.")
        box = self.mailbox(group, node)
        if box is None or name not in box.files:
            raise MissingFile(f"The file {name} is missing.")
        return self.pieces.open(box, name)

    def reveal(self, file: BinaryIO) -> BinaryIO:
        """Return the file: nothing is encrypted by git itself."""
        return file

    def files(self, group: str, node: Verifier) -> dict[str, int]:
        """Return name and size in bytes of the runs and bundles in a mailbox, without those that the host lost."""
        box = self.mailbox(group, node)
        if box is None:
            return {}
        gone = self.gone_pieces(group, box)
        return {name: filed.size for name, filed in box.files.items() if gone.isdisjoint(filed.pieces)}

    def _small(self, stored: Stored | None, limit: int, what: str, node: Verifier) -> bytes | None:
        if stored is None:
            return None
        if stored.size > limit:
            raise BadSnapshot(f"The {what} of {node.text} has more than {limit} bytes.")
        return self.private.here.read([stored.oid], limit)[0]

    def is_withdrawn(self, group: str, node: Verifier) -> bool:
        """Tell whether a mailbox of mine is there and shows nothing; as `mailbox`."""
        box = self.mailbox(group, node)
        return box is not None and is_empty(box)

    def tell_left(self, group: str, node: Verifier) -> None:
        """Warn of a plain mailbox of mine that was taken away and stays readable at any of its branches (CYB-17)."""
        with suppress(DataError):
            if self.is_withdrawn(group, node):  # else it is not taken away yet
                tell_readable(self, self.ref(group, node))

    def free_bytes(self, group: str, node: Verifier) -> int | None:
        """Return the bytes that still fit beside the vault, where pieces lie until they are pushed."""
        del group, node
        return free_bytes(self.private.here.path)

    def writer(self, group: str, node: Verifier) -> GitWriter:
        """Open this node's own mailbox for writing; its ref is made by the first push."""
        self.begin_mending()
        return GitWriter(self, group, node)
