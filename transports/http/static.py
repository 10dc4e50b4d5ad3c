"""A static mailbox: a drop behind any plain web server, for reading only (INT-122, CYB-16, CYB-17).

The server is trusted with nothing: the same heads, runs and bundles are read and verified as on a stick. A web server
lists no directory, so the mailboxes of those nodes are looked for that the reader knows, and the encrypted ones that
the reader opened elsewhere. A head that did not change
costs one small answer. Its last form is kept beside the vault, because an unchanged head is still verified.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from time import sleep
from typing import BinaryIO, Self, cast

from blake3 import blake3

from transports.drop.marker import MARKER, parse_marker
from transports.errors import (
    BadSnapshot,
    CertificateUntrusted,
    MissingFile,
    NotADrop,
    OnlyRead,
    UnreadableFile,
    WrongDrop,
)
from transports.http.web import SILENCE, RangeAnswer, Web, WebAddress, parse_web
from transports.layout import BUNDLE_NAME, RUN_NAME, group_directory
from transports.mailbox import BEACON_FILE_LIMIT, HEAD_FILE_LIMIT, ByteCount, MailboxWriter
from transports.positioned import PositionedFile
from vault.errors import EnvironmentFault, LaceError, PlaceError
from vault.files import AtomicFile
from vault.records.hashes import Verifier

__all__ = ["StaticMailbox"]

_MARKER_LIMIT = 256  # bytes
_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,200}"', re.ASCII)
_SUM = 32  # bytes of the BLAKE3 digest after a head that is kept
_BUFFER = 64 * 1024  # bytes read ahead
_SKIP = 256 * 1024  # bytes: a gap that is cheaper to read over than to ask anew for
_FIRST = 32 * 1024  # bytes asked for at first, which also says how long the file is
_GROWTH, _MOST = 8, 16 << 20  # each further read asks for so many times as much, up to so many bytes
_REST = 64 * 1024  # bytes that are taken rather than begin a new connection


class StaticMailbox:
    """A drop on a web server; it satisfies `MailboxMedium`.

    Use `open`.

    Args:
        address: where it lies.
        known: returns the nodes whose mailboxes are looked for.
        home: directory for the last heads, or None to keep none.
        silence: seconds to wait for a byte.
        pause: waits that many seconds; raises `Cancelled` when the person asked to stop, with no second to wait too.
    """

    kind = "http"
    is_read_only = True
    tells_room = False
    warnings: Sequence[LaceError] = ()

    def __init__(
        self,
        address: WebAddress,
        known: Callable[[], Iterable[Verifier]],
        *,
        home: Path | None = None,
        silence: float = SILENCE,
        pause: Callable[[float], None] = sleep,
    ) -> None:
        self.count = ByteCount()
        self.address = address
        self._web = Web(address, self.count, silence=silence, pause=pause)
        self._known = known
        self._home = home
        self._place_id = ""
        self._looked_for: dict[str, list[Verifier]] = {}

    @classmethod
    def open(
        cls,
        uri: str,
        known: Callable[[], Iterable[Verifier]],
        *,
        expected_id: str | None = None,
        home: Path | None = None,
        silence: float = SILENCE,
        pause: Callable[[float], None] = sleep,
    ) -> Self:
        """Open a drop behind a web server.

        Raises:
            UnknownPlaceKind: the address is none.
            NotADrop: nothing like a drop lies there.
            WrongDrop: another drop lies there.
            PlaceError: the server cannot be reached or lets nobody in.
            Cancelled: the person would not wait any longer.
        """
        place = cls(parse_web(uri), known, home=home, silence=silence, pause=pause)
        try:
            place._place_id = place._marker()
        except (NotADrop, CertificateUntrusted) as error:
            if expected_id is not None:
                error.hint = _NOT_AS_BEFORE
            raise
        if expected_id is not None and place.place_id != expected_id:
            raise WrongDrop(f"{place.describe()} holds the drop {place.place_id}, and {expected_id} was expected.")
        return place

    @property
    def place_id(self) -> str:
        """The drop's id: 32 hex characters."""
        return self._place_id

    def describe(self) -> str:
        """Return the address."""
        return self.address.uri

    def check(self) -> None:
        """Refuse to go on if another drop took the place.

        Raises:
            WrongDrop: another drop is there.
            PlaceError: the server is gone.
        """
        if self._marker() != self._place_id:
            raise WrongDrop(f"{self.describe()} is no longer the drop {self._place_id}.")

    def close(self) -> None:
        """End the kept connection; a place that is asked again makes another."""
        self._web.drop()

    def nodes(self, group: str) -> list[Verifier]:
        """Return the nodes whose mailboxes may lie here: all that the reader knows, sorted."""
        return self._looked_for[group] if group in self._looked_for else sorted(set(self._known()))

    def look_for(self, group: str, nodes: Iterable[Verifier]) -> None:
        """Look under a group id for these mailboxes, and not for those of the nodes that the reader knows."""
        self._looked_for[group] = sorted(set(nodes))

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's head, or None if there is none; unchanged ones do not travel again.

        Raises:
            BadSnapshot: it is larger than the format allows.
            PlaceError: the server is gone.
        """
        name = f"{_directory(group, node)}/head.rec"
        tag, cached = self._cached(name)
        try:
            answer = self._web.get(name, tag=tag)
        except MissingFile:
            return None
        if answer is None:
            return cached
        try:
            data = answer.read(HEAD_FILE_LIMIT)
        except UnreadableFile as error:
            raise BadSnapshot(f"The head of {node.text} has more than {HEAD_FILE_LIMIT} bytes.") from error
        self._keep(name, answer.tag, data)
        return data

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return None: who asks to be let in is not known yet, and a web server lists nobody."""
        del group, node
        return None

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's beacon, or None if there is none; a trip of its own.

        Raises:
            BadSnapshot: it is larger than the format allows.
            PlaceError: the server is gone.
        """
        try:
            answer = self._web.get(f"{_directory(group, node)}/beacon.rec")
        except MissingFile:
            return None
        try:
            return answer.read(BEACON_FILE_LIMIT) if answer is not None else None
        except UnreadableFile as error:
            raise BadSnapshot(f"The beacon of {node.text} has more than {BEACON_FILE_LIMIT} bytes.") from error

    def open_file(self, group: str, node: Verifier, name: str) -> BinaryIO:
        """Open a run or bundle for reading; only the parts that are read travel, where the server knows ranges.

        Raises:
            MissingFile: there is no such file.
            UnreadableFile: the name is not that of a run or bundle, or the server sends something else.
            PlaceError: the server is gone.
        """
        if RUN_NAME.fullmatch(name) is None and BUNDLE_NAME.fullmatch(name) is None:
            raise UnreadableFile(f"{name[:60]!r} is not the name of a run or bundle.")
        return cast(BinaryIO, _WebReader(_WebFile(self._web, f"{_directory(group, node)}/{name}"), _BUFFER))

    def reveal(self, file: BinaryIO) -> BinaryIO:
        """Return the file: nothing is encrypted by a web server itself."""
        return file

    def files(self, group: str, node: Verifier) -> dict[str, int]:
        """Return nothing: a web server lists no files, and only a writer would ask."""
        del group, node
        return {}

    def free_bytes(self, group: str, node: Verifier) -> int | None:
        """Return None: nothing is written here."""
        del group, node
        return None

    def writer(self, group: str, node: Verifier) -> MailboxWriter:
        """Refuse.

        Raises:
            OnlyRead: always.
        """
        del group, node
        raise OnlyRead(
            f"{self.describe()} is behind a plain web server: it can be read, and nothing can be left there.",
            hint="Sync what is yours over another place; its owner can copy it to the server.",
        )

    def _marker(self) -> str:
        try:
            answer = self._web.get(MARKER)
        except MissingFile as error:
            raise NotADrop(f"{self.describe()} holds no drop: the server has no {MARKER}.", hint=_COPY) from error
        except UnreadableFile as error:
            raise NotADrop(error.message, hint=error.hint) from error
        try:
            text = answer.read(_MARKER_LIMIT) if answer is not None else b""
        except UnreadableFile as error:
            raise NotADrop(f"{self.describe()} holds no drop that lace can read.", hint=_COPY) from error
        drop_id = parse_marker(text)
        if drop_id is None:
            raise NotADrop(f"{self.describe()} holds no drop that lace can read.", hint=_COPY)
        return drop_id

    def _cached(self, name: str) -> tuple[str, bytes]:
        if self._home is None:
            return "", b""
        try:
            with (self._home / self._cached_name(name)).open("rb") as file:
                whole = file.read(HEAD_FILE_LIMIT + _BUFFER)
            line, _, data = whole[:-_SUM].partition(b"\n")
            tag = line.decode("ascii")
        except (OSError, UnicodeDecodeError):
            return "", b""
        # A bit that rotted would be believed for as long as the server says that nothing changed.
        is_whole = blake3(whole[:-_SUM]).digest() == whole[-_SUM:]
        return (tag, data) if is_whole and _TAG.fullmatch(tag) else ("", b"")

    def _keep(self, name: str, tag: str, data: bytes) -> None:
        if self._home is None or not _TAG.fullmatch(tag):
            return
        with suppress(OSError, EnvironmentFault):  # without it the next visit reads the head anew
            self._home.mkdir(exist_ok=True)
            with AtomicFile(self._home / self._cached_name(name)) as file:
                whole = tag.encode() + b"\n" + data
                file.write(whole + blake3(whole).digest())

    def _cached_name(self, name: str) -> str:
        return blake3(f"{self._place_id}\n{self.address.uri}\n{name}".encode()).hexdigest()[:32]


class _WebFile(PositionedFile):
    """A file on a web server, opened where it is read, and asked for in parts where the server knows them.

    What is asked for and not read was sent for nothing, so no more is asked for than will be read, as far as it was
    said (`expect`), else a part that grows while the file is read on.
    """

    def __init__(self, web: Web, name: str) -> None:
        self._web = web
        self._name = name
        self._answer: RangeAnswer | None = None
        self._here = 0  # offset of the next byte of the answer
        self._part = _FIRST
        self._extents: list[tuple[int, int]] = []
        super().__init__(self._ask(0, _FIRST).size)

    def expect(self, parts: Iterable[tuple[int, int]]) -> None:
        """Take note of what will be read: first bytes and those after the last, in order."""
        self._extents = []
        for first, after in parts:
            near = self._extents and first - self._extents[-1][1] <= _SKIP
            begin = self._extents.pop()[0] if near else first
            self._extents.append((begin, after))

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._at >= self._size:
            return 0
        answer = self._positioned()
        count = answer.readinto(memoryview(buffer))
        self._here += count
        self._at += count
        return count

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._end()

    def _positioned(self) -> RangeAnswer:
        """Return an answer whose next byte is the one wanted; a server without ranges is read over to there."""
        gap = self._at - self._here
        answer = self._answer
        is_near = answer is not None and 0 <= gap < answer.left
        if answer is None or not is_near or (gap > _SKIP and self._web.knows_ranges):
            self._part = min(self._part * _GROWTH, _MOST)
            answer = self._ask(self._at, self._until())
            if answer.size != self._size:
                raise UnreadableFile(f"The file {self._name} changed while it was read.")
        scratch = memoryview(bytearray(min(_BUFFER, self._at - self._here)))
        while self._here < self._at:
            count = answer.readinto(scratch[: self._at - self._here])
            if not count:
                raise UnreadableFile(f"The file {self._name} is shorter than its server says.")
            self._here += count
        return answer

    def _until(self) -> int:
        """Return where a part that begins here ends."""
        after = next((after for first, after in self._extents if first <= self._at < after), self._at + self._part)
        return min(after, self._size)

    def _ask(self, start: int, end: int) -> RangeAnswer:
        self._end()
        is_whole = start == 0 and not self._web.knows_ranges
        answer = self._web.get(self._name, start=start, end=None if is_whole else end)
        if answer is None:
            raise UnreadableFile(f"The server sends no {self._name}.")
        self._answer, self._here = answer, answer.start
        return answer

    def _end(self) -> None:
        if self._answer is not None:
            answer, self._answer = self._answer, None
            with suppress(PlaceError, UnreadableFile):
                if 0 < answer.left <= _REST:
                    answer.read(_REST)
                answer.close()


class _WebReader(BufferedReader):
    """What reads ahead in such a file; it satisfies `Expecting`."""

    def __init__(self, file: _WebFile, size: int) -> None:
        super().__init__(file, size)
        self._parts = file

    def expect(self, parts: Iterable[tuple[int, int]]) -> None:
        """Take note of what will be read."""
        self._parts.expect(parts)


_NOT_AS_BEFORE = (
    "Where a network wants a login first, it answers for everybody: log in with a browser, see that the clock of this"
    " machine is right, and run the same command again. Else ask whoever keeps the copy where it lies now."
)
_COPY = f"Name the directory behind which the drop lies, the one with {MARKER}."


def _directory(group: str, node: Verifier) -> str:
    return f"{group_directory(group)}/{node.key.hex()}"
