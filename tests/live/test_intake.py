"""What one body may cost whoever takes it: a few bytes unpack to very many records (CYB-17)."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import pytest
import zstandard
from blake3 import blake3

from lazy.live.bookmark import Bookmark
from lazy.live.intake import Intake, passed_by
from lazy.receiving.receive import Receiver
from tests.vault import vaults
from tests.vault.profiles import plex_hash
from transports.errors import BadStream
from transports.http.stream import StreamReader
from vault.desks.content import tree_plex
from vault.records import RecordHash
from vault.watch import Watch

_RAW = 1 << 20  # bytes of records in a frame


def body(record: bytes, frames: int) -> bytes:
    """Return a body that is full of one record, as somebody packs it who means harm."""
    one = struct.pack(">I", len(record)) + record
    packed = zstandard.ZstdCompressor(level=19).compress(one * (_RAW // len(one)))
    data = (struct.pack(">cI", b"r", len(packed)) + packed) * frames
    return data + struct.pack(">cI", b"e", 32) + blake3(data).digest()


def test_what_is_damaged_there_is_kept_up_to_a_limit(tmp_path: Path) -> None:
    data = body(RecordHash("P", bytes(32)).markline, 10)
    assert len(data) < 2000
    vault = vaults.found(tmp_path)
    receiver = Receiver(vault, "bob")
    intake = Intake(vault, receiver, Bookmark(vault, receiver, vault.node), "", Watch())
    with pytest.raises(BadStream, match="not what their names say"):
        intake.take_all(StreamReader(io.BytesIO(data)))
    assert 1000 < len(intake.damaged) <= 10_000, "a disk that rots much is told all the same"
    vault.close()


def test_what_nothing_reaches_waits_as_far_as_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DWN-68: whoever sent directories that nothing reaches, a body full of them, had as much memory as they liked."""
    monkeypatch.setattr("lazy.receiving.receive.STASH_BYTES", 4000)
    vault = vaults.found(tmp_path)
    receiver = Receiver(vault, "bob", keeps_content=True)
    pages = [tree_plex(vault.group, f"lace-tree/0 0\nf - 1 {plex_hash(number)} a\n".encode()) for number in range(200)]
    for page in pages:
        receiver.take([(page.hash, page.encode())])
    assert 0 < receiver._round.stash.total < 4000 + len(pages[0].encode())
    assert receiver.refusals == [], "what had no room is asked for by name once something reaches it"
    vault.close()


def test_what_comes_again_and_again_is_judged_once(tmp_path: Path) -> None:
    vault = vaults.found(tmp_path)
    receiver = Receiver(vault, "bob")
    intake = Intake(vault, receiver, Bookmark(vault, receiver, vault.node), "", Watch())
    record = tree_plex(vault.group, b"no tree")
    intake.take_all(StreamReader(io.BytesIO(body(record.encode(), 1))))
    assert intake.records > 1000
    assert [refusal.hash for refusal in receiver.refusals] == [record.hash]
    vault.close()


class Endless(io.RawIOBase):
    """A body that does not end: one frame again and again."""

    def __init__(self, frame: bytes) -> None:
        self._frame, self._at = frame, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        piece = self._frame[self._at : self._at + len(buffer)]
        self._at = (self._at + len(piece)) % len(self._frame)
        buffer[: len(piece)] = piece
        return len(piece)


def frame_of(record: bytes, copies: int) -> bytes:
    packed = zstandard.ZstdCompressor().compress((struct.pack(">I", len(record)) + record) * copies)
    return struct.pack(">cI", b"r", len(packed)) + packed


@pytest.mark.parametrize("kind", ["refused", "here", "position"])
def test_a_body_that_brings_nothing_comes_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """INT-152, faults.md row 15: a sync with a server that sent one record again and again never ended."""
    monkeypatch.setattr("lazy.live.intake._MOST_IN_VAIN", 1 << 20)
    vault = vaults.found(tmp_path)
    receiver = Receiver(vault, "bob")
    intake = Intake(vault, receiver, Bookmark(vault, receiver, vault.node), "", Watch())
    here = next(stored for _, _, stored in vault.store.bodies())
    frames = {
        "refused": frame_of(tree_plex(vault.group, b"no tree").encode(), 40),
        "here": frame_of(here, 40),
        "position": struct.pack(">cI", b"c", 16) + bytes(16),
    }
    with pytest.raises(BadStream, match="in good faith"):
        intake.take_all(StreamReader(io.BufferedReader(Endless(frames[kind]))))
    with pytest.raises(BadStream, match="in good faith"):
        passed_by(iter(StreamReader(io.BufferedReader(Endless(frames[kind])))))
    vault.close()
