"""Who a live server is: a certificate of one run that a node's key vouches for (INT-122, CYB-15, CYB-16).

The TLS key is made anew for each run. The certificate carries, as an extension, the node's signature over that key,
the group and a lifetime. The group itself is not printed: who does not know it learns nothing of it, and a member
checks everything after the handshake and before its own first byte. No authority is asked, and no name is compared.
"""

from __future__ import annotations

import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from transports.errors import WrongServer
from vault.records.hashes import Verifier
from vault.records.tai import Tai
from vault.suite import SigningKey, verify_statement

__all__ = ["LIFETIME", "ServerIdentity", "check_server", "client_context", "make_identity"]

LIFETIME: Final = 30 * 86_400  # seconds that a certificate counts; whoever serves longer begins anew before
_SLACK = 300  # seconds by which two clocks may differ
_DOMAIN = "http-server"
_OID = x509.ObjectIdentifier("2.25.6407166241127593411")
_BODY = struct.Struct(">B32sQQ64s")  # version, node key, first and last TAI second, signature
_VERSION = 0
_CERTIFICATE_LIMIT = 4096  # bytes; ours have some 400


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """What a server needs for TLS in one run.

    Args:
        certificate: PEM.
        key: PEM of the private key of this run.
        public: the SubjectPublicKeyInfo in DER: what hellos are bound to.
    """

    certificate: bytes
    key: bytes = field(repr=False)
    public: bytes


def make_identity(node: SigningKey, group: str, now: Tai, entropy: Callable[[int], bytes]) -> ServerIdentity:
    """Make key and certificate for one run of a server.

    Args:
        node: signs for them.
        group: the group id.
        now: the beginning of the lifetime.
        entropy: gives secret random bytes.
    """
    key = Ed25519PrivateKey.from_private_bytes(entropy(32))
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    first, last = now.seconds, now.seconds + LIFETIME
    signature = node.sign_statement(_DOMAIN, _message(group, public, first, last))
    body = _BODY.pack(_VERSION, node.verifier.key, first, last, signature)
    name = x509.Name([])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(int.from_bytes(entropy(8), "big") | 1)
        .not_valid_before(datetime(2000, 1, 1, tzinfo=UTC))  # the lifetime that counts is the signed one
        .not_valid_after(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
        .add_extension(x509.UnrecognizedExtension(_OID, body), critical=False)
        .sign(key, None)
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return ServerIdentity(certificate.public_bytes(Encoding.PEM), pem, public)


def client_context() -> ssl.SSLContext:
    """Return a context for TLS 1.3 only that believes no authority; `check_server` decides after the handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


def check_server(certificate: bytes, pinned: Verifier, group: str, now: Tai) -> bytes:
    """Check the certificate of the handshake and return the server's public key of this run.

    That the server holds the private key is what the handshake proved.

    Args:
        certificate: DER, as the handshake brought it.
        pinned: the node that must stand behind it.
        group: the group id.
        now: for the lifetime.

    Raises:
        WrongServer: another node, another group, another key, or too old. Nothing may be sent.
    """
    public, body = _parts(certificate)
    version, node, first, last, signature = _BODY.unpack(body)
    if version != _VERSION or not 0 <= last - first <= LIFETIME:
        raise WrongServer("The server's certificate is of a kind that this lace does not know.")
    if node != pinned.key:
        other = WrongServer(f"The server is {Verifier(node).text}, and {pinned.text} was expected.")
        other.answered = Verifier(node)
        raise other
    if not verify_statement(pinned, _DOMAIN, _message(group, public, first, last), signature):
        raise WrongServer("The server's certificate is not signed for this connection and this group.")
    if not first - _SLACK <= now.seconds <= last + _SLACK:
        late = WrongServer(
            "The server's certificate does not count now.",
            hint="Compare the clocks of both machines, and start the server anew.",
        )
        late.can_wait = True
        raise late
    return public


def _parts(certificate: bytes) -> tuple[bytes, bytes]:
    if len(certificate) > _CERTIFICATE_LIMIT:
        raise WrongServer("The server is not a lace server of a friend.")
    try:
        parsed = x509.load_der_x509_certificate(certificate)
        public = parsed.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        extension = parsed.extensions.get_extension_for_oid(_OID).value
    except (ValueError, TypeError, x509.ExtensionNotFound, x509.DuplicateExtension) as error:
        raise WrongServer("The server is not a lace server of a friend.") from error
    except Exception as error:  # foreign bytes: whatever the library makes of them is one refusal
        raise WrongServer("The server's certificate cannot be read.") from error
    if not isinstance(extension, x509.UnrecognizedExtension) or len(extension.value) != _BODY.size:
        raise WrongServer("The server's certificate is of a kind that this lace does not know.")
    return public, extension.value


def _message(group: str, public: bytes, first: int, last: int) -> bytes:
    raw = group.encode()
    return struct.pack(">QQI", first, last, len(raw)) + raw + public
