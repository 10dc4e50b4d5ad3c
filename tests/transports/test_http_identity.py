"""A server's certificate of one run, over real handshakes (INT-122, CYB-15, CYB-16)."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st

from transports.errors import WrongServer
from transports.http.identity import LIFETIME, ServerIdentity, check_server, client_context, make_identity
from vault.records.hashes import Verifier
from vault.records.tai import Tai
from vault.suite import SigningKey

NOW = Tai(4_000_000_000)
GROUP = "friends/0123456789abcdef"
ALICE, MALLORY = SigningKey.from_seed(bytes(32)), SigningKey.from_seed(b"m" * 32)


def identity(node: SigningKey = ALICE, group: str = GROUP, filler: bytes = b"\x07") -> ServerIdentity:
    return make_identity(node, group, NOW, lambda size: filler * size)


def handshake(server: ServerIdentity, directory: Path, client: ssl.SSLContext) -> bytes:
    """Run a handshake between two memory ends and return the certificate that the client saw."""
    (directory / "c.pem").write_bytes(server.certificate + server.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "c.pem")
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(down, up), context.wrap_bio(up, down, server_side=True)]
    for _ in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert ends[0].version() == "TLSv1.3"
    seen = ends[0].getpeercert(binary_form=True)
    assert seen is not None
    return seen


def seen(server: ServerIdentity) -> bytes:
    return ssl.PEM_cert_to_DER_cert(server.certificate.decode())


def test_a_friend_is_known_by_the_handshake_alone(tmp_path: Path) -> None:
    server = identity()
    certificate = handshake(server, tmp_path, client_context())
    assert check_server(certificate, ALICE.verifier, GROUP, NOW) == server.public
    assert GROUP.encode() not in certificate
    assert b"friends" not in certificate
    assert b"PRIVATE" not in repr(server).encode()


def test_another_server_is_refused() -> None:
    with pytest.raises(WrongServer, match="was expected"):
        check_server(seen(identity(MALLORY)), ALICE.verifier, GROUP, NOW)
    with pytest.raises(WrongServer, match="this connection and this group"):
        check_server(seen(identity(group="friends/another")), ALICE.verifier, GROUP, NOW)


def test_a_vouched_extension_counts_for_its_own_key_only() -> None:
    # Mallory puts what alice signed into a certificate of a key of her own
    stolen = x509.load_der_x509_certificate(seen(identity()))
    key = Ed25519PrivateKey.generate()
    forged = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([]))
        .issuer_name(x509.Name([]))
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(stolen.not_valid_before_utc)
        .not_valid_after(stolen.not_valid_after_utc)
        .add_extension(next(iter(stolen.extensions)).value, critical=False)
        .sign(key, None)
    )
    with pytest.raises(WrongServer, match="this connection"):
        check_server(forged.public_bytes(Encoding.DER), ALICE.verifier, GROUP, NOW)


@pytest.mark.parametrize(("seconds", "counts"), [(0, True), (-300, True), (-301, False), (LIFETIME + 301, False)])
def test_it_counts_for_its_lifetime(seconds: int, counts: bool) -> None:
    later = Tai(NOW.seconds + seconds)
    if counts:
        check_server(seen(identity()), ALICE.verifier, GROUP, later)
        return
    with pytest.raises(WrongServer, match="does not count now"):
        check_server(seen(identity()), ALICE.verifier, GROUP, later)


@given(st.data())
def test_no_changed_certificate_passes_or_breaks_the_reader(data: st.DataObject) -> None:
    good = bytearray(seen(identity()))
    start = bytes(good).index(ALICE.verifier.key)  # the extension: key, times, signature
    at = data.draw(st.integers(start, start + 32 + 16 + 64 - 1))
    good[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(WrongServer):
        check_server(bytes(good), ALICE.verifier, GROUP, NOW)


@given(st.binary(max_size=600))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(WrongServer):
        check_server(data, Verifier(bytes(32)), GROUP, NOW)
