"""What a road must offer to carry mailboxes (architecture decision 4, H-11).

A mailbox belongs to one node of one group; only that node writes it. A place holds mailboxes of many nodes
and groups. Every method raises `PlaceError` when the medium is gone, full or write-protected, and `DataError`
when a file is missing or damaged; no other exception leaves a place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

from blake3 import blake3

from transports.bundles.bundling import BundleWriter, ByteSink
from transports.index.runs import Run, RunRef
from transports.layout import BUNDLE_LIMIT
from vault.errors import LaceError
from vault.records.hashes import Verifier

__all__ = [
    "BEACON_FILE_LIMIT",
    "HEAD_FILE_LIMIT",
    "REQUEST_FILE_LIMIT",
    "ByteCount",
    "Cover",
    "CoveringSink",
    "HidesPlain",
    "KeepsHistory",
    "Mailbox",
    "MailboxMedium",
    "MailboxWriter",
    "covered",
]

HEAD_FILE_LIMIT = (1 << 20) + 64 * 1024  # bytes: the largest body and the headers of its record
BEACON_FILE_LIMIT = 64 * 1024  # bytes: a record of at most 4 KiB, in an envelope to some hundred members
REQUEST_FILE_LIMIT = 64 * 1024  # bytes: a request has an empty body and four short headers


@dataclass(slots=True)
class ByteCount:
    """Bytes that went over a road, so that a sync can print its cost.

    Args:
        read: bytes taken from the medium.
        written: bytes handed to it.
        trips: questions asked over a network and answered before the next one.
    """

    read: int = 0
    written: int = 0
    trips: int = 0


class CoveringSink(Protocol):
    """Takes plain bytes and writes what it makes of them elsewhere, such as a `SealingSink`."""

    def write(self, data: bytes | memoryview, /) -> object:
        """Take plain bytes."""

    def finish(self) -> tuple[bytes, int]:
        """End the file; return its BLAKE3 and its size in bytes."""


Cover = Callable[[ByteSink], CoveringSink]


class MailboxWriter(Protocol):
    """Writes one node's mailbox. The head comes last: until then readers see the state before."""

    @property
    def is_interrupted(self) -> bool:
        """Whether an earlier publishing left whole bundles that no head names, as far as this road can tell."""

    def add_bundle(
        self, *, limit: int = BUNDLE_LIMIT, cover: Cover | None = None, are_copies: bool = False
    ) -> AbstractContextManager[BundleWriter]:
        """Begin a bundle; leaving the context finishes it under its digest's name, an exception drops it.

        With a `cover` the file holds what that makes of the bundle, and is named and described by it. Where all in it
        `are_copies` of what was shared before, who has that is told so before they fetch it.
        """

    def add_run(self, run: Run, cover: Cover | None = None) -> RunRef:
        """Write an index run and return how a head names it."""

    def put_request(self, record: bytes) -> None:
        """Leave a request to be admitted."""

    def remove_request(self) -> None:
        """Take the request away; nothing happens if there is none."""

    def put_beacon(self, record: bytes, *, with_head: bool) -> None:
        """Leave a beacon, or take it away when the record is empty.

        Args:
            record: its bytes.
            with_head: whether a head is published next, which takes it along where writing costs a trip.
        """

    def publish_head(self, record: bytes, runs: Collection[str] | None = None) -> None:
        """Make everything written so far the mailbox's state.

        Args:
            record: the file: a head, or an envelope around one.
            runs: names of the runs that the head names, where the file does not say so to everybody.
        """

    def discard(self, names: Collection[str]) -> None:
        """Delete runs and bundles that no head names any more, for good; missing ones are passed over."""

    def withdraw(self) -> None:
        """Take the whole mailbox away, its head before what that names; nothing happens if there is none."""

    def leave_plain(self) -> None:
        """Take the plain mailbox of the same node away, where this one is encrypted and shows all that it did."""

    def verify_written(self) -> None:
        """Read back every file written by this writer, past the system's cache where it can be told to.

        Where it wrote nothing, what lies there survives a power cut once this returns. It comes before anything is
        deleted that what was written takes the place of.

        Raises:
            WriteNotKept: the medium returns other bytes than were written.
        """

    def tell_lost(self) -> None:
        """Say to the others which parts of theirs could not be got here, where nobody but a reader notices."""


class MailboxMedium(Protocol):
    """A medium with mailboxes."""

    @property
    def kind(self) -> str:
        """The kind of address it is reached by, such as `drop`."""

    @property
    def is_read_only(self) -> bool:
        """Whether nobody can publish over this road; then a sync only reads."""

    @property
    def tells_room(self) -> bool:
        """Whether `free_bytes` is what the place itself has; else it is what this machine has on the way there."""

    @property
    def place_id(self) -> str:
        """What tells this medium from others; settings remember it."""

    @property
    def count(self) -> ByteCount:
        """The bytes moved since the place was opened."""

    @property
    def warnings(self) -> Sequence[LaceError]:
        """What a person should know of the place, though it kept nothing from going on."""

    def describe(self) -> str:
        """Return the place as a person knows it."""

    def check(self) -> None:
        """Refuse to go on if the medium went away or another one took its place.

        Raises:
            PlaceUnreachable: it is gone.
            WrongDrop: another one is there.
        """

    def close(self) -> None:
        """Let go of what a visit keeps open, such as processes; a place that is asked again starts them anew."""

    def nodes(self, group: str) -> list[Verifier]:
        """Return the nodes that have a mailbox for this group id, sorted."""

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's snapshot head, or None if there is none."""

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's request, or None if there is none."""

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's beacon, or None if there is none."""

    def open_file(self, group: str, node: Verifier, name: str) -> BinaryIO:
        """Open a run or bundle for reading; close it after use.

        Raises:
            MissingFile: there is no such file.
            UnreadableFile: the name is not that of a run or bundle, or not a plain file.
        """

    def reveal(self, file: BinaryIO) -> BinaryIO:
        """Return what an opened file holds: the file itself, or its plain bytes where it is encrypted.

        Raises:
            BadEnvelope: it is damaged.
            SealedToOthers: its key is not known here.
        """

    def files(self, group: str, node: Verifier) -> dict[str, int]:
        """Return name and size in bytes of the runs and bundles in a mailbox."""

    def free_bytes(self, group: str, node: Verifier) -> int | None:
        """Return how many bytes fit into a mailbox still, or None where nobody can tell; makes nothing there."""

    def writer(self, group: str, node: Verifier) -> MailboxWriter:
        """Open this node's own mailbox for writing, making it if needed."""


@runtime_checkable
class KeepsHistory(Protocol):
    """A medium that may show what was taken away, and a mailbox in which nothing is left."""

    def is_withdrawn(self, group: str, node: Verifier) -> bool:
        """Tell whether nothing is left in a plain mailbox of mine, also of what a cut publishing left there.

        Raises:
            DataError: it is damaged.
            PlaceError: the medium is gone.
        """

    def tell_left(self, group: str, node: Verifier) -> None:
        """Warn of a plain mailbox of mine that was taken away and can be read still."""


@runtime_checkable
class HidesPlain(Protocol):
    """A medium on which an encrypted mailbox takes the place of a plain one of the same node."""

    def plain_beside(self, group: str) -> MailboxMedium | None:
        """Return where the plain mailbox of mine lies that `MailboxWriter.leave_plain` takes away; None for none.

        Raises:
            PlaceError: the medium is gone.
        """


class Mailbox(NamedTuple):
    """One mailbox: that of a node for a group, as it lies at one place.

    Args:
        place: where it lies.
        group: the group id.
        node: whose it is.
    """

    place: MailboxMedium
    group: str
    node: Verifier

    def open_file(self, name: str) -> BinaryIO:
        """Open one of its runs or bundles for reading; as `MailboxMedium.open_file`."""
        return self.place.open_file(self.group, self.node, name)

    def files(self) -> dict[str, int]:
        """Return name and size in bytes of its runs and bundles."""
        return self.place.files(self.group, self.node)

    def writer(self) -> MailboxWriter:
        """Open it for writing, making it if needed; only its own node may."""
        return self.place.writer(self.group, self.node)


def covered(data: bytes, cover: Cover | None) -> tuple[bytes, bytes]:
    """Return a small file as a cover makes it, and its BLAKE3."""
    if cover is None:
        return data, blake3(data).digest()
    parts: list[bytes] = []
    sink = cover(_Parts(parts))
    sink.write(data)
    digest, _ = sink.finish()
    return b"".join(parts), digest


class _Parts:
    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts

    def write(self, data: bytes | memoryview, /) -> None:
        self._parts.append(bytes(data))
