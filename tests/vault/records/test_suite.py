"""The crypto seam (H-1, REC-39, REC-40)."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.examples import KEY, OTHER_KEY, PLEX
from vault.records import Verifier
from vault.suite import (
    ED25519,
    SigningKey,
    SigningMisuseError,
    Suite,
    statement_bytes,
    verify_statement,
)

DIGEST = PLEX.hash.digest
SIGNATURE = KEY.sign_digest(DIGEST)
ORDER = 2**252 + 27742317777372353535851937790883648493  # of the prime group of Ed25519

# Encodings of points of small order, and encodings that are not canonical (y >= p).
BAD_KEYS = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]


def test_rfc_8032_vectors() -> None:
    """H-1: the suite is the Ed25519 of RFC 8032 (its first and third test)."""
    for seed, public, message, signature in (
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            (
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                "d25bf5f0595bbe24655141438e7a100b"
            ),
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            (
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
                "4a7c15e9716ed28dc027beceea1ec40a"
            ),
        ),
    ):
        assert SigningKey.from_seed(bytes.fromhex(seed)).verifier.key.hex() == public
        assert ED25519.verify(bytes.fromhex(public), bytes.fromhex(message), bytes.fromhex(signature))


def test_the_vectors_of_wycheproof() -> None:
    """REC-40, fault 11: every valid signature is accepted, none of those that are not, and no key of small order."""
    counts: Counter[str] = Counter()
    for line in (Path(__file__).parent / "wycheproof_ed25519.txt").read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        number, result, *texts = line.split(" ", 5)
        key, signature, message = (bytes.fromhex(text.replace("-", "")) for text in texts[:3])
        accepted = ED25519.verify(key, message, signature)
        counts[result] += 1
        assert accepted == (result == "valid") or result == "acceptable", number
        assert not accepted or key.hex() not in BAD_KEYS, number
    assert counts == {"valid": 117, "invalid": 64, "acceptable": 29}


@pytest.mark.parametrize("key", BAD_KEYS)
def test_keys_of_small_order_and_odd_encoding_verify_nothing(key: str) -> None:
    """REC-40: with such a key and S = 0 the equation holds for many messages; libsodium refuses it."""
    raw = bytes.fromhex(key)
    for r in (raw, bytes([1]) + bytes(31), bytes(32)):
        assert not ED25519.verify(raw, DIGEST, r + bytes(32))
    assert not ED25519.verify(raw, DIGEST, SIGNATURE)


def test_a_signature_has_one_spelling() -> None:
    """REC-40: S + L is the same number modulo L and is refused; R of small order is too."""
    s = int.from_bytes(SIGNATURE[32:], "little")
    assert ED25519.verify(KEY.verifier.key, DIGEST, SIGNATURE)
    assert not ED25519.verify(KEY.verifier.key, DIGEST, SIGNATURE[:32] + (s + ORDER).to_bytes(32, "little"))
    for r in BAD_KEYS:
        assert not ED25519.verify(KEY.verifier.key, DIGEST, bytes.fromhex(r) + SIGNATURE[32:])


@pytest.mark.parametrize(("key", "signature"), [(31, 64), (33, 64), (32, 63), (32, 65), (0, 0)])
def test_wrong_lengths_never_reach_the_library(key: int, signature: int) -> None:
    """REC-40."""
    assert not ED25519.verify(bytes(key), DIGEST, bytes(signature))


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=80), st.binary(min_size=64, max_size=64))
def test_foreign_bytes_verify_nothing(key: bytes, message: bytes, signature: bytes) -> None:
    assert not ED25519.verify(key, message, signature)


def test_only_digests_are_signed_bare() -> None:
    """REC-39, H-1."""
    for size in (0, 31, 33, 64):
        with pytest.raises(SigningMisuseError):
            KEY.sign_digest(bytes(size))
    assert ED25519.verify(KEY.verifier.key, DIGEST, KEY.sign_digest(DIGEST))
    assert not ED25519.verify(OTHER_KEY.verifier.key, DIGEST, KEY.sign_digest(DIGEST))


DOMAINS = st.from_regex(r"[a-z0-9][a-z0-9./-]{0,63}", fullmatch=True)


@given(DOMAINS, st.binary(max_size=40), DOMAINS, st.binary(max_size=40))
def test_statements_are_apart_from_digests_and_from_each_other(a: str, m: bytes, b: str, n: bytes) -> None:
    """H-1: never 32 bytes long, and injective in domain and message."""
    assert len(statement_bytes(a, m)) >= 51
    assert (statement_bytes(a, m) == statement_bytes(b, n)) == ((a, m) == (b, n))


def test_statement_form() -> None:
    """H-1, byte for byte."""
    assert statement_bytes("hello-proof", b"x") == b"lace-statement/v1\nhello-proof" + b" " * 21 + b"\nx"


def test_statements_are_signed_under_their_domain() -> None:
    """H-1."""
    signature = KEY.sign_statement("hello-proof", b"message")
    assert verify_statement(KEY.verifier, "hello-proof", b"message", signature)
    assert not verify_statement(KEY.verifier, "hello-prooF".lower() + "s", b"message", signature)
    assert not verify_statement(KEY.verifier, "hello-proof", b"other", signature)
    assert not verify_statement(OTHER_KEY.verifier, "hello-proof", b"message", signature)
    assert not ED25519.verify(KEY.verifier.key, b"message", signature)


@pytest.mark.parametrize("domain", ["", "A", "a b", "a\n", "é", "a" * 65, "-a"])
def test_malformed_domains_are_refused(domain: str) -> None:
    with pytest.raises(SigningMisuseError):
        KEY.sign_statement(domain, b"")


def test_the_seed_stays_secret() -> None:
    """Not in repr, not in a pickle, not in a copy."""
    assert KEY.seed == bytes(range(32))
    assert repr(KEY) == f"SigningKey({KEY.verifier})"
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(SigningMisuseError):
            leak(KEY)
    for size in (0, 31, 33):
        with pytest.raises(SigningMisuseError):
            SigningKey.from_seed(bytes(size))


def test_the_seam_is_a_protocol() -> None:
    suite: Suite = ED25519
    assert suite.name == "ed25519"
    assert Verifier.parse(KEY.verifier.text) == KEY.verifier


@pytest.mark.parametrize("module", ["vault.suite", "vault.records", "vault.records.model", "vault.records.head"])
def test_either_half_of_the_pair_may_be_imported_first(module: str) -> None:
    """The suite needs record hashes and records need the suite; libsodium is loaded by neither."""
    code = f"import sys, {module}; sys.exit('nacl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
