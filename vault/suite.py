"""The one place where lace touches signature mathematics (H-1).

A vault uses one suite. Today there is one: Ed25519 as libsodium implements it. The key in `V.<b64a>.H3` is
the 32-byte public key and the signature of a Seal covers the 32 raw bytes of its Plex's digest. Seals do not
interoperate with the secp256k1 scheme of Lace-009, which uses the same text forms.

A key signs two kinds of message that can never be mistaken for each other:

* a digest: exactly 32 bytes, only ever the digest of a Plex (REC-39);
* a statement: `lace-statement/v1` LF, the domain padded with spaces to at least 32 characters, LF, the
  message. Padding is unconditional, so the whole is at least 51 bytes long and never 32, and a domain holds
  no spaces, so no two pairs of domain and message give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import ClassVar, NoReturn, Protocol, Self

from vault.errors import CallerError
from vault.records.hashes import DIGEST_BYTES, SIGNATURE_BYTES, Verifier

__all__ = [
    "ED25519",
    "Ed25519",
    "SigningKey",
    "SigningMisuseError",
    "Suite",
    "seal_box",
    "statement_bytes",
    "verify_statement",
]

_SEED_BYTES = 32
KEY_BYTES = 32

_STATEMENT = b"lace-statement/v1\n"
_DOMAIN_WIDTH = 32  # characters that a domain is filled up to
_DOMAIN = r"[a-z0-9][a-z0-9./-]{0,63}"


class SigningMisuseError(CallerError):
    """A key was asked to sign what it must never sign."""

    code = "signing-misuse"
    hint = "This is a fault in the program that called lace: sign a Plex digest or a statement with a domain."


@cache
def _sodium() -> ModuleType:
    # Loading libsodium costs some 10 ms, which `lace status` need not pay.
    import nacl.bindings

    return nacl.bindings


@cache
def _opener() -> tuple[Callable[[bytes, bytes], bytes], type[Exception]]:
    """Return what opens a signed message and what it raises for a wrong one; looked up once, as it is called often."""
    from nacl.exceptions import BadSignatureError

    return _sodium().crypto_sign_open, BadSignatureError


class Suite(Protocol):
    """What lace needs of a signature scheme."""

    name: ClassVar[str]

    def verify(self, verifier_key: bytes, message: bytes, signature: bytes) -> bool:
        """Return whether `signature` is by the key over `message`; never raises on foreign bytes."""


class Ed25519:
    """Ed25519 (RFC 8032) as libsodium verifies it.

    Refused, besides wrong signatures: keys and R of small order, keys and S that are not canonical.
    """

    name: ClassVar[str] = "ed25519"

    def verify(self, verifier_key: bytes, message: bytes, signature: bytes) -> bool:
        """Return whether `signature` is by `verifier_key` over `message`; never raises on foreign bytes."""
        # libsodium reads fixed lengths without asking, so they are checked here.
        if len(verifier_key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
            return False
        open_signed, refusal = _opener()
        try:
            open_signed(signature + message, verifier_key)
        except refusal:
            return False
        return True


ED25519: Suite = Ed25519()


class SigningKey:
    """A node's private key. It cannot be pickled, and its repr shows the public half only."""

    __slots__ = ("_opens", "_secret", "_seed", "verifier")

    verifier: Verifier

    def __init__(self, seed: bytes) -> None:
        if len(seed) != _SEED_BYTES:
            raise SigningMisuseError(f"a signing key is made of a seed of {_SEED_BYTES} bytes, not {len(seed)}")
        public, self._secret = _sodium().crypto_sign_seed_keypair(seed)
        self._seed = bytes(seed)
        self._opens: tuple[bytes, bytes] | None = None  # the X25519 pair, made once it is needed
        self.verifier = Verifier(public)

    @classmethod
    def from_seed(cls, seed: bytes) -> Self:
        """Return the key of 32 secret random bytes; the caller provides the randomness.

        Raises:
            SigningMisuseError: the seed has not 32 bytes.
        """
        return cls(seed)

    @property
    def seed(self) -> bytes:
        """The 32 secret bytes, for the key file only."""
        return self._seed

    def sign_digest(self, digest: bytes) -> bytes:
        """Return the 64-byte signature over the raw digest of a Plex (REC-39).

        Raises:
            SigningMisuseError: the digest has not 32 bytes.
        """
        if len(digest) != DIGEST_BYTES:
            raise SigningMisuseError(f"only a digest of {DIGEST_BYTES} bytes is signed bare, not {len(digest)}")
        return self._sign(digest)

    def sign_statement(self, domain: str, message: bytes) -> bytes:
        """Return the 64-byte signature over anything that is not a record, under a domain.

        Args:
            domain: what the message is, such as `hello-proof`: 1 to 64 of a-z 0-9 . / - .
            message: any bytes.

        Raises:
            SigningMisuseError: the domain is malformed.
        """
        return self._sign(statement_bytes(domain, message))

    def open_box(self, box: bytes) -> bytes | None:
        """Return what was sealed to this key by `seal_box`, or None if it was sealed to another, or is damaged."""
        from nacl.exceptions import CryptoError

        sodium = _sodium()
        if self._opens is None:
            secret = sodium.crypto_sign_ed25519_sk_to_curve25519(self._secret)
            self._opens = sodium.crypto_scalarmult_base(secret), secret
        public, secret = self._opens
        try:
            opened: bytes = sodium.crypto_box_seal_open(box, public, secret)
        except (CryptoError, ValueError, TypeError):  # PyNaCl reports a box that is too short by TypeError
            return None
        return opened

    def _sign(self, message: bytes) -> bytes:
        signed: bytes = _sodium().crypto_sign(message, self._secret)
        return signed[:SIGNATURE_BYTES]

    def __repr__(self) -> str:
        return f"SigningKey({self.verifier.text})"

    def __reduce__(self) -> NoReturn:
        raise SigningMisuseError("a signing key is never pickled or copied")


def statement_bytes(domain: str, message: bytes) -> bytes:
    """Return the bytes that are signed for a statement; the module's docstring has the form.

    Raises:
        SigningMisuseError: the domain is malformed.
    """
    if re.fullmatch(_DOMAIN, domain) is None:
        raise SigningMisuseError(f"{domain!r} is not a statement domain")
    return b"%b%b\n%b" % (_STATEMENT, domain.ljust(_DOMAIN_WIDTH).encode("ascii"), message)


def verify_statement(verifier: Verifier, domain: str, message: bytes, signature: bytes) -> bool:
    """Return whether the verifier signed this message under this domain.

    Raises:
        SigningMisuseError: the domain is malformed; domains are constants of the program, never foreign text.
    """
    return ED25519.verify(verifier.key, statement_bytes(domain, message), signature)


def seal_box(verifier: Verifier, message: bytes) -> bytes | None:
    """Return the message sealed to the owner of a key: 48 bytes more, and nothing in it tells for whom.

    The Ed25519 key stands for the X25519 key that libsodium derives from it. None when the key is no point that can
    be sealed to, as of a node that never was.
    """
    sodium = _sodium()
    try:
        public = sodium.crypto_sign_ed25519_pk_to_curve25519(verifier.key)
        sealed: bytes = sodium.crypto_box_seal(message, public)
    except RuntimeError:  # nacl.exceptions.RuntimeError is one
        return None
    return sealed
