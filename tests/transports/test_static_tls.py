"""A drop behind a web server that speaks HTTPS, whose certificate this machine trusts or does not (INT-122, CYB-16)."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from random import Random

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.people import Person, person_in
from tests.transports.web_hosts import Log, plain_server

_LARGE = 5_000_000  # bytes: many records of TLS


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Person, Person]:
    alice, bob = person_in(tmp_path, "alice"), person_in(tmp_path, "bob")
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "drop"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for who in (bob, alice, bob):
        who.lace("sync", "stick")
    (alice.folder / "film").write_bytes(Random(6).randbytes(_LARGE))
    alice.lace("release", "1.0.0")
    alice.lace("sync", "stick")
    return alice, bob


@contextmanager
def _serving(root: Path, address: str, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> Iterator[tuple[str, Log]]:
    """Serve the drop with a certificate for an address, which lies in `trusted.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a web server")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    shown = made.public_bytes(pem)
    (root / "trusted.pem").write_bytes(shown)
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (root / "server.pem").write_bytes(shown + secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = newest
    context.load_cert_chain(root / "server.pem")
    with plain_server(root / "drop", tls=context) as (uri, log):
        yield uri, log


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def test_a_release_comes_from_a_web_server_over_https(
    newest: ssl.TLSVersion, tmp_path: Path, pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = pair
    with _serving(tmp_path, "127.0.0.1", newest) as (uri, log):
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
        bob.lace("place", "add", "site", uri)
        bob.lace("sync", "site")
    assert log.body > _LARGE
    bob.lace("update")
    assert (bob.folder / "film").read_bytes() == (alice.folder / "film").read_bytes()


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"], ids=["untrusted", "another"])
def test_nothing_is_asked_of_a_web_server_that_does_not_prove_its_name(
    address: str, tmp_path: Path, pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, bob = pair
    with _serving(tmp_path, address) as (uri, log):
        if address != "127.0.0.1":
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "trusted.pem"))
        done = bob.run("place", "add", "site", uri)
    assert done.code != 0
    assert "its certificate is not trusted" in done.text + done.err
    assert log.asked == []
