"""A client's signed hello: what a live server must see before it says anything (CYB-17, decision 7).

It is bound to roles, group, both nodes, the server's key of this run and the request, so that it counts nowhere else
and cannot be reflected. A server takes each hello once, within a window of time.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from vault.records.hashes import Verifier
from vault.records.tai import Tai
from vault.suite import SigningKey, verify_statement

__all__ = ["HEADER", "WINDOW", "HelloGate", "OtherClock", "Session", "make_hello"]

HEADER = "Lace-Hello"
WINDOW = 300  # seconds by which two clocks may differ
_DOMAIN = "http-hello"
_BODY = struct.Struct(">B32s16sQ64s")  # version, client, nonce, TAI second, signature
_VERSION = 0
_TEXT_LIMIT = 256  # characters
_REMEMBERED = 100_000  # hellos of the window; above it the server lets nobody in until the oldest ran out


class Session(NamedTuple):
    """What a hello is bound to.

    Args:
        group: the group id.
        server: the node that serves.
        public: the server's TLS key of this run, as SubjectPublicKeyInfo in DER.
    """

    group: str
    server: Verifier
    public: bytes

    def message(self, client: bytes, path: str, nonce: bytes, seconds: int) -> bytes:
        """Return what is signed: each part behind its length, so that no two sets of parts are the same bytes."""
        parts = (b"client to server", self.group.encode(), client, self.server.key, self.public, path.encode(), nonce)
        return struct.pack(">Q", seconds) + b"".join(struct.pack(">I", len(part)) + part for part in parts)


def make_hello(key: SigningKey, session: Session, path: str, now: Tai, entropy: Callable[[int], bytes]) -> str:
    """Return the header's value for one request."""
    nonce = entropy(16)
    client = key.verifier.key
    signature = key.sign_statement(_DOMAIN, session.message(client, path, nonce, now.seconds))
    return base64.urlsafe_b64encode(_BODY.pack(_VERSION, client, nonce, now.seconds, signature)).decode()


class OtherClock(NamedTuple):
    """A clock by which no hello counts here.

    Args:
        who: whose it is; they proved their key.
        ahead: seconds by which it is ahead of the one here; negative where it is behind.
    """

    who: Verifier
    ahead: int


class _Hello(NamedTuple):
    who: Verifier
    nonce: bytes
    seconds: int


class HelloGate:
    """Checks hellos for one run of a server, and remembers those that were used.

    Args:
        session: what they must be bound to.
        now: the clock.
    """

    def __init__(self, session: Session, now: Callable[[], Tai]) -> None:
        self._session = session
        self._now = now
        self._used: OrderedDict[bytes, int] = OrderedDict()

    def check(self, text: str, path: str) -> Verifier | None:
        """Return who speaks, or None; why it is refused is nobody's business."""
        hello, now = self._proven(text, path), self._now().seconds
        if hello is None or abs(hello.seconds - now) > WINDOW:
            return None
        return hello.who if self._is_fresh(hello.nonce + hello.who.key, now) else None

    def other_clock(self, text: str, path: str) -> OtherClock | None:
        """Return who proved their key and is refused for their clock alone; for who serves, and nobody else."""
        hello = self._proven(text, path)
        ahead = hello.seconds - self._now().seconds if hello is not None else 0
        return OtherClock(hello.who, ahead) if hello is not None and abs(ahead) > WINDOW else None

    def _proven(self, text: str, path: str) -> _Hello | None:
        if len(text) > _TEXT_LIMIT:
            return None
        try:
            version, client, nonce, seconds, signature = _BODY.unpack(
                base64.b64decode(text.encode("ascii"), b"-_", validate=True)
            )
        except (binascii.Error, ValueError, struct.error):
            return None
        who = Verifier(client)
        if version != _VERSION:
            return None
        if not verify_statement(who, _DOMAIN, self._session.message(client, path, nonce, seconds), signature):
            return None
        return _Hello(who, nonce, seconds)

    def _is_fresh(self, mark: bytes, now: int) -> bool:
        while self._used:
            oldest, until = next(iter(self._used.items()))
            if until >= now:
                break
            del self._used[oldest]
        if mark in self._used or len(self._used) >= _REMEMBERED:
            return False
        self._used[mark] = now + 2 * WINDOW
        return True
