"""Invitations: one line of text by which a member lets somebody in (docs/formats.md sections 1 and 5).

The line carries a one-time secret. Whoever holds it can prove so in a request, and the inviter's next sync
admits them. The line holds no password of a place, and ends with its expiry, by the inviter's clock, or its first use.
"""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from blake3 import blake3

from vault.errors import CallerError
from vault.identity.words import fingerprint_words
from vault.names import BadName, check_group_name, check_name
from vault.profile import group_id
from vault.records import b64a
from vault.records.errors import B64AError
from vault.records.hashes import DIGEST_BYTES, Verifier
from vault.records.tai import MAX_SECONDS, Tai

__all__ = [
    "MAX_CHARACTERS",
    "PREFIX",
    "SECRET_BYTES",
    "Invitation",
    "InvitationContentError",
    "InvitationDamagedError",
    "check_proof",
    "invitation_id",
    "proof",
]

PREFIX: Final = "lace-invite-0:"
MAX_CHARACTERS = 4096  # of the whole line: what chat programs still take as one message
_MAX_PLACES = 255
SECRET_BYTES = 16
_ID_BYTES = 16
_CHECK_BYTES = 8
_VERSION = 0
_URI_BYTES = 0xFFFF


class InvitationDamagedError(CallerError):
    """The text is not a whole invitation."""

    code = "bad-invitation"
    hint = "Copy the whole line again, from lace-invite-0: to its end."


class InvitationContentError(CallerError):
    """An invitation cannot be made of these parts."""

    code = "invitation-content"
    hint = "Name fewer places, or shorter ones."


@dataclass(frozen=True, slots=True)
class Invitation:
    """What an invitation says. The secret shows in no repr.

    Args:
        group: name of the group.
        founding: 32 bytes, the digest of its founding Plex.
        inviter: who invites, and will admit.
        secret: 16 secret random bytes, new for each invitation.
        expires: the end of its time, in whole seconds.
        name: what the inviter would call the invited; empty if nothing is proposed.
        places: where the group meets: (name, URI), names unique, URIs without secrets.

    Raises:
        BadName: a name breaks the rules for names.
        InvitationContentError: another part does, or all are too long for one line.
    """

    group: str
    founding: bytes
    inviter: Verifier
    secret: bytes = field(repr=False)
    expires: Tai
    name: str = ""
    places: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_group_name(self.group)
        if self.name:
            check_name(self.name)
        if len(self.founding) != DIGEST_BYTES or len(self.secret) != SECRET_BYTES or self.expires.nanos:
            raise InvitationContentError(
                "An invitation needs a digest of 32 bytes, a secret of 16 and an expiry in whole seconds."
            )
        self._check_places()
        if len(self.encode()) > MAX_CHARACTERS:
            raise InvitationContentError(f"The invitation would be longer than {MAX_CHARACTERS} characters.")

    def _check_places(self) -> None:
        names = [name for name, _ in self.places]
        if len(self.places) > _MAX_PLACES or len(set(names)) != len(names):
            raise InvitationContentError(f"An invitation names at most {_MAX_PLACES} places, each once.")
        for name, uri in self.places:
            check_name(name, "place name")
            if not uri or not uri.isprintable() or len(uri.encode("utf-8", "replace")) > _URI_BYTES:
                raise InvitationContentError(f"The address of the place {name} is empty or not printable.")

    @property
    def id(self) -> str:
        """The name of this invitation in records: 22 characters that do not tell the secret."""
        return invitation_id(self.secret)

    @property
    def group_id(self) -> str:
        """The `Group` of the records of the group it leads to."""
        return group_id(self.group, self.founding)

    @property
    def words(self) -> str:
        """The inviter's fingerprint, to compare aloud before accepting."""
        return fingerprint_words(self.inviter)

    def encode(self) -> str:
        """Return the one line to hand over. Whoever reads it can join: it is a secret."""
        parts = [
            bytes([_VERSION]),
            _short(self.group),
            self.founding,
            self.inviter.key,
            self.secret,
            struct.pack("<Q", self.expires.seconds),
            _short(self.name),
            bytes([len(self.places)]),
        ]
        for name, uri in self.places:
            raw = uri.encode()
            parts += [_short(name), struct.pack("<H", len(raw)), raw]
        body = b"".join(parts)
        return PREFIX + b64a.encode(body + _checksum(body))

    @classmethod
    def decode(cls, text: str) -> Invitation:
        """Read the line that `encode` writes; white space from wrapping in a chat or mail is passed over.

        Raises:
            InvitationDamagedError: it is cut, mistyped, too long, or no invitation; the message says which.
        """
        line = "".join(text[: 4 * MAX_CHARACTERS].split())
        if not line.startswith(PREFIX):
            raise InvitationDamagedError(f"An invitation begins with {PREFIX}")
        if len(line) > MAX_CHARACTERS:
            raise InvitationDamagedError(f"An invitation has at most {MAX_CHARACTERS} characters.")
        body = _checked_body(line.removeprefix(PREFIX))
        try:
            return _read(body)
        except (_CutShort, BadName, InvitationContentError, UnicodeDecodeError, ValueError) as error:
            raise InvitationDamagedError(
                "The invitation arrived whole, but it was not made by the rules.",
                hint="Ask for a new one, made with a current lace.",
            ) from error

    def doubt(self, now: Tai) -> str:
        """Return what to tell the invited whose clock says that it is too late, in a sentence; or nothing.

        It refuses nothing: either clock may be wrong, and whoever invites judges by the clock that wrote the expiry.

        Args:
            now: by the clock of the invited.
        """
        if now < self.expires:
            return ""
        return (
            f"This device's clock says {_day(now)}, and the invitation to {self.group} was good until "
            f"{_day(self.expires)}: whoever invited you decides by their own clock, or admits you by hand."
        )


def _day(time: Tai) -> str:
    return f"{time.to_utc_iso()[:16].replace('T', ' ')} UTC"


def invitation_id(secret: bytes) -> str:
    """Return the id of the invitation with this secret, 22 B64A characters."""
    return b64a.encode(blake3(b"lace-invitation-id/v1" + secret).digest()[:_ID_BYTES])


def proof(secret: bytes, group_id: str, verifier: Verifier) -> bytes:
    """Return the 32 bytes by which a requester shows that it holds an invitation's secret.

    Args:
        secret: the invitation's.
        group_id: the group asked for.
        verifier: the requester's; the proof is of no use to another.
    """
    key = blake3(b"lace-invitation-secret/v1" + secret).digest()
    message = f"lace-invitation-proof/v1\n{group_id}\n{verifier.text}"
    return blake3(message.encode(), key=key).digest()


def check_proof(secret: bytes, group_id: str, verifier: Verifier, claimed: bytes) -> bool:
    """Return whether `claimed` is the proof; takes the same time for every wrong one of 32 bytes."""
    return hmac.compare_digest(proof(secret, group_id, verifier), claimed)


class _CutShort(Exception):
    pass


class _Bytes:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        part = self._data[self._at : self._at + count]
        if len(part) != count:
            raise _CutShort
        self._at += count
        return part

    def number(self, form: str) -> int:
        value: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return value

    def short(self) -> bytes:
        return self.take(self.number("<B"))

    @property
    def left(self) -> int:
        return len(self._data) - self._at


def _short(text: str) -> bytes:
    raw = text.encode()
    return bytes([len(raw)]) + raw


def _checksum(body: bytes) -> bytes:
    return blake3(body).digest()[:_CHECK_BYTES]


def _checked_body(text: str) -> bytes:
    try:
        data = b64a.decode(text)
    except B64AError:
        data = b""  # a cut may leave a length or a last character that no text has: both are told apart below
    body, check = data[:-_CHECK_BYTES], data[-_CHECK_BYTES:]
    if len(data) > _CHECK_BYTES and check == _checksum(body):
        return body
    odd = next((character for character in text if character not in b64a.ALPHABET), None)
    if odd is not None:
        raise InvitationDamagedError(f"The invitation holds the character {odd!r}, which none has.")
    # Whatever its last character is, the text stands for this many whole bytes.
    if _is_cut(b64a.decode(text + "0" * (-len(text) % 4))[: len(text) * 3 // 4]):
        raise InvitationDamagedError("The end of the invitation is missing.")
    raise InvitationDamagedError("The invitation was mistyped, or something was added to it.")


def _is_cut(data: bytes) -> bool:
    left = _Bytes(data)
    try:
        _Fields.taken(left)
        left.take(_CHECK_BYTES)
    except _CutShort:
        return True
    return False


class _Fields(NamedTuple):
    """The parts of an invitation as they stand in it, in their order; nothing of them is judged yet."""

    version: int
    group: bytes
    founding: bytes
    inviter: bytes
    secret: bytes
    expiry: bytes
    name: bytes
    places: tuple[tuple[bytes, bytes], ...]

    @classmethod
    def taken(cls, left: _Bytes) -> _Fields:
        """Take them off the front of some bytes.

        Raises:
            _CutShort: there are too few.
        """
        return cls(
            version=left.number("<B"),
            group=left.short(),
            founding=left.take(DIGEST_BYTES),
            inviter=left.take(DIGEST_BYTES),
            secret=left.take(SECRET_BYTES),
            expiry=left.take(8),
            name=left.short(),
            places=tuple((left.short(), left.take(left.number("<H"))) for _ in range(left.number("<B"))),
        )


def _read(body: bytes) -> Invitation:
    left = _Bytes(body)
    found = _Fields.taken(left)
    seconds = int.from_bytes(found.expiry, "little")
    if found.version != _VERSION or left.left or seconds > MAX_SECONDS:
        raise InvitationContentError("The version, the length or the expiry is not one that lace writes.")
    return Invitation(
        group=found.group.decode(),
        founding=found.founding,
        inviter=Verifier(found.inviter),
        secret=found.secret,
        expires=Tai(seconds),
        name=found.name.decode(),
        places=tuple((place.decode(), uri.decode()) for place, uri in found.places),
    )
