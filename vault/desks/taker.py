"""One file or link of a folder, read once and kept (CLAY-71, APP-13).

A large file is read as a stream, so its size does not show in memory. What cannot be taken is said and left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from vault.desks.basetree import BaseDirectory
from vault.desks.choosing import Chosen
from vault.desks.content import MAX_SMALL_BYTES, data_plex
from vault.desks.cutting import MAX_FILE_BYTES, ContentWriter
from vault.desks.delta_bases import DeltaHints
from vault.desks.diff import MAX_TEXT_BYTES
from vault.desks.folder import FileTooLarge, Signature, read_file, read_link, signature, stream_file
from vault.desks.pages import Entry
from vault.desks.paths import join, link_problem
from vault.desks.ports import Sink, Source, takes_contents, takes_hints
from vault.desks.scancache import Seen
from vault.desks.sums import SUM_AT_ONCE_BYTES, Summing, SumSink, new_sum
from vault.profile import MAX_DIRECT_BYTES
from vault.records import RecordHash

__all__ = ["NotTaken", "Taker"]

_Told = Callable[[int, int, str], None]


class NotTaken(Exception):
    """Something in a folder is left out; it says why, as the end of a sentence."""


class Taker:
    """Reads files and links, and keeps what they hold.

    Args:
        group: the full group id.
        source: where older versions are read.
        sink: takes their content.
        bulk: takes the content of files above 2 MiB in place of `sink`.
        cancel: called often; raises to stop.

    Attributes:
        sums: takes the sums of what is read, if anybody keeps them.
        room: called before a large file is read, with the bytes that it may add at most; raises to stop.
    """

    def __init__(self, group: str, source: Source, sink: Sink, bulk: Sink, cancel: Callable[[], None]) -> None:
        self._group = group
        self._source = source
        self._sink = sink
        self._contents = sink if takes_contents(sink) else None
        self._bulk = bulk
        self._cancel = cancel
        self.sums: SumSink | None = None
        self.room: Callable[[int], object] = lambda _size: None

    def take(self, fd: int, chosen: Chosen, where: str, base: BaseDirectory, told: _Told) -> Seen:
        """Take one file or link.

        Args:
            fd: the open directory.
            chosen: what was listed there.
            where: the directory's path in the desk.
            base: what the base has in this directory.
            told: called for each piece of a large file with (bytes so far, of how many, path).

        Raises:
            NotTaken: it is left out.
            FileChanging, OSError: it cannot be read now.
        """
        entry, name, is_noticed = chosen
        if entry.is_symlink():
            now = signature(entry.stat(follow_symlinks=False))  # before it is read, so that a change shows
            content = read_link(fd, entry.name)
            if reason := link_problem(join(where, name), content):
                raise NotTaken(reason)
            return Seen(b"l", is_noticed, now, self._keep(content, None).digest, len(content))
        if not entry.is_file(follow_symlinks=False):
            entry.stat(follow_symlinks=False)  # it may be gone
            raise NotTaken("is neither a file, a folder nor a link")
        try:
            content, now = read_file(fd, entry.name, MAX_DIRECT_BYTES)
        except FileTooLarge:
            digest, now, size = self._take_large(fd, entry, join(where, name), base.entries().get(name), told)
        else:
            old = base.entries().get(name) if len(content) > SUM_AT_ONCE_BYTES else None
            digest, size = self._keep(content, old), len(content)
        return Seen(b"f", is_noticed, now, digest.digest, size)

    def _take_large(
        self, fd: int, entry: os.DirEntry[str], path: str, old: Entry | None, told: _Told
    ) -> tuple[RecordHash, Signature, int]:
        size = entry.stat(follow_symlinks=False).st_size
        if size > MAX_FILE_BYTES:
            raise NotTaken(f"is larger than {MAX_FILE_BYTES >> 40} TiB, which lace does not carry")
        return self._stream(fd, entry.name, size, old, lambda done: told(done, size, path))

    def _keep(self, content: bytes, old: Entry | None) -> RecordHash:
        if self._contents is not None and len(content) <= MAX_SMALL_BYTES:
            return self._contents.add_content(content)
        plex = data_plex(self._group, content)
        self._sink.add(plex)
        if self.sums is not None and old is not None:
            self.sums.add_sum(plex.hash, new_sum(content).hexdigest())
        return plex.hash

    def _stream(
        self, fd: int, disk: str, size: int, old: Entry | None, told: Callable[[int], None]
    ) -> tuple[RecordHash, Signature, int]:
        """Take a large file piece by piece; of one that changes meanwhile, chunks nothing names may be left."""
        sink = self._bulk if size > MAX_TEXT_BYTES else self._sink
        near = None
        # A new version of a large file mostly adds little: what it surely adds is what it grew by.
        self.room(size - (old.size if old is not None and old.kind == "f" else 0))
        if takes_hints(sink) and old is not None and old.kind == "f" and old.size > MAX_DIRECT_BYTES:
            sink = near = DeltaHints(sink, self._source, old.hash)
        writer = ContentWriter(self._group, sink)
        # To sum while reading pays only where a release is likely: much of a first commit is perhaps never released.
        summing = Summing() if self.sums is not None and (old is not None or self.sums.is_releasing) else None

        def take(piece: bytes) -> None:
            self._cancel()
            if summing is not None:
                summing.add(piece)
            writer.add(piece)
            told(writer.size)

        now = stream_file(fd, disk, take)
        made = writer.finish()
        if near is not None:
            near.finish()
        if self.sums is not None and summing is not None:
            self.sums.add_sum(made, summing.finish())
        return made, now, writer.size
