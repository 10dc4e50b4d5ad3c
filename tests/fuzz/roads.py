"""The parsers of what strangers' media and servers hand over, with inputs as our own side writes them."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from blake3 import blake3
from cryptography.x509 import load_pem_x509_certificate

from lazy.interlace.limits import DEFAULT_LIMITS
from lazy.interlace.tiers import (
    Asks,
    MemoryShelf,
    TierReader,
    answer,
    answer_hints,
    pack_asks,
    pack_offer,
    read_asks,
    read_offer,
)
from tests.transports.helpers import sealed_as_before
from transports.drop.marker import marker_text, parse_marker
from transports.encrypted import sealing
from transports.encrypted.cipher import NEWEST
from transports.encrypted.member_keys import EpochKey, keys_bytes, read_keys
from transports.encrypted.notices import open_notices, seal_notice
from transports.encrypted.sealing import notices_in, open_envelope, seal_bytes, seal_envelope, unseal_bytes
from transports.http.hello import HelloGate, Session, make_hello
from transports.http.identity import check_server, make_identity
from transports.http.stream import StreamReader, StreamWriter
from transports.onefile.place import OneFile
from vault.desks.content import data_plex
from vault.errors import LaceError
from vault.records import RecordHash, Tai
from vault.suite import SigningKey, seal_box

__all__ = ["ROADS"]

_KEY = SigningKey.from_seed(bytes(range(1, 33)))
_EPOCH = EpochKey(bytes(16), bytes(range(32)), frozenset({_KEY.verifier}))
_CONTEXT = b"a medium and a mailbox"
_NOW = Tai(1_700_000_000, 0)
_GROUP = "friends/0123456789abcdef"
_FOOTER = 40  # bytes: digest, magic


def _entropy(size: int) -> bytes:
    return bytes(range(size))


def _find(identifier: bytes) -> Sequence[EpochKey]:
    return [_EPOCH] if identifier == _EPOCH.id else []


def _envelope(data: bytes) -> None:
    """Judge the bytes as a file, and as what a member who is no friend wrote inside of one."""
    for act in (
        lambda: unseal_bytes(data, _find),
        lambda: open_envelope(data, _find, _KEY.open_box, _CONTEXT),
        lambda: read_keys(data),
    ):
        _quietly(act)
    _quietly(lambda: open_notices(notices_in(data), _KEY.open_box))
    told = seal_box(_KEY.verifier, data)
    assert told is not None
    open_notices([told], _KEY.open_box)
    open_envelope(_made(data), _find, _KEY.open_box, _CONTEXT)


def _made(inside: bytes) -> bytes:
    """Return an envelope around any inside."""
    head = sealing._ENVELOPE + struct.pack(">H", 0)
    return head + seal_bytes(inside, _EPOCH, _entropy, _CONTEXT)


def _envelopes() -> tuple[bytes, ...]:
    told = seal_notice(_KEY.verifier, [b"a record", b"another"])
    assert told is not None
    whole, telling = (
        seal_envelope(
            b"a record",
            _EPOCH,
            owner=_KEY.verifier,
            recipients=[_KEY.verifier],
            keys=[_EPOCH],
            sign=_KEY.sign_statement,
            entropy=_entropy,
            context=_CONTEXT,
            notices=notices,
        )
        for notices in ((), (told,))
    )
    inside = unseal_bytes(whole[whole.index(NEWEST) :], _find, _CONTEXT)
    files = (seal_bytes(b"plain" * 100, _EPOCH, _entropy), sealed_as_before(b"plain" * 100, _EPOCH, _entropy(16)))
    return (inside, whole, telling, keys_bytes([_EPOCH]), *files)


@cache
def _directory() -> Path:
    return Path(mkdtemp(prefix="fuzz-"))


def _one_file(data: bytes) -> None:
    """Judge the bytes as they are, as the part that an interruption left, and with a digest that fits."""
    path = _directory() / "friend.lace"
    path.write_bytes(data)
    _quietly(lambda: _read_one(OneFile.open(path)))
    path.with_name("friend.lace.part").write_bytes(data)
    OneFile.create(path, _GROUP, lambda _identifier: _KEY.verifier, _entropy).close()
    path.write_bytes(data[:-_FOOTER] + blake3(data[:-_FOOTER]).digest() + b"LACEFEND")
    _read_one(OneFile.open(path))


def _read_one(file: OneFile) -> None:
    for node in file.nodes(_GROUP):
        _quietly(lambda node=node: file.read_head(_GROUP, node))  # type: ignore[misc]
        for name in file.files(_GROUP, node):
            with file.open_file(_GROUP, node, name) as opened:
                opened.read()
    file.needs()


def _one_files() -> tuple[bytes, ...]:
    head = struct.pack(">8s16s8s32s", b"LACEFIL0", bytes(16), bytes(8), _KEY.verifier.key)
    entry = struct.pack(">cQ16s", b"h", 4, bytes(16)) + b"head"
    end = struct.pack(">cQ16s", b"E", 0, bytes(16))
    body = head + entry + end
    return (body + blake3(body).digest() + b"LACEFEND", head + entry)


def _body(data: bytes) -> None:
    for _ in StreamReader(io.BytesIO(data)):
        pass


def _bodies() -> tuple[bytes, ...]:
    made = io.BytesIO()
    writer = StreamWriter(made.write)
    writer.info(b'{"position": 1}')
    writer.names([RecordHash("P", bytes(32)), RecordHash("S", bytes(32))])
    writer.records([b"one record", b"another"])
    writer.reached(7, bytes(32))
    writer.end()
    short = io.BytesIO()
    writer = StreamWriter(short.write, takes_short=True)
    for word in (b"one ", b"two "):
        writer.records([data_plex(_GROUP, word * count).encode() for count in (1, 9)])
    writer.end()
    return (made.getvalue(), short.getvalue())


@cache
def _session() -> Session:
    return Session(_GROUP, _KEY.verifier, b"public key")


def _hello(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    HelloGate(_session(), lambda: _NOW).check(text, "/exchange")


def _certificate(data: bytes) -> None:
    check_server(data, _KEY.verifier, _GROUP, _NOW)


def _certificates() -> tuple[bytes, ...]:
    from cryptography.hazmat.primitives.serialization import Encoding

    made = make_identity(_KEY, _GROUP, _NOW, _entropy)
    return (load_pem_x509_certificate(made.certificate).public_bytes(Encoding.DER),)


@cache
def _shelf(count: int) -> MemoryShelf:
    entries = {RecordHash("P", blake3(str(n).encode()).digest()): (("App", 0, "lace/data"),) for n in range(count)}
    return MemoryShelf(_KEY.verifier.text, entries)


def _tier(data: bytes) -> None:
    """Read an answer and asks, and let a reader take the answer as its first."""
    _quietly(lambda: answer(_shelf(90), read_asks(data), DEFAULT_LIMITS))
    offer = read_offer(data)
    reader = TierReader([_shelf(90)])
    reader.begin()
    reader.take(offer)


def _tiers() -> tuple[bytes, ...]:
    few, many = _shelf(90), _shelf(400)
    offer = answer_hints(many, few.hints(), DEFAULT_LIMITS)
    return (
        pack_offer(offer),
        pack_offer(answer(many, Asks(("00", "0_"), ("1", "2")), DEFAULT_LIMITS)),
        pack_asks(Asks(("0", "1z"), ("2",))),
    )


def _quietly(act: Callable[[], object]) -> None:
    try:
        act()
    except LaceError:
        return


ROADS: dict[str, tuple[Callable[[bytes], object], Callable[[], tuple[bytes, ...]]]] = {
    "envelope": (_envelope, _envelopes),
    "onefile": (_one_file, _one_files),
    "body": (_body, _bodies),
    "tier": (_tier, _tiers),
    "greeting": (_hello, lambda: (make_hello(_KEY, _session(), "/exchange", _NOW, _entropy).encode(),)),
    "certificate": (_certificate, _certificates),
    "marker": (parse_marker, lambda: (marker_text("0" * 32),)),
}
"""Targets by name: what runs an input, and what makes the first ones."""
