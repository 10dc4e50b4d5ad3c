from __future__ import annotations

import re

from blake3 import blake3

from vault.identity.words import fingerprint_words, words
from vault.records.hashes import Verifier

WORD = re.compile(r"[bdfghjklmnprstvz][aiou][bdfghjklmnprstvz][aiou][bdfghjklmnprstvz]")


def test_known_words() -> None:
    """docs/formats.md section 5: sixteen bits a word, consonants and vowels in turn, high bits first."""
    assert words(b"\x00\x00\xff\xff") == ["babab", "zuzuz"]
    assert words(bytes([127, 0, 0, 1])) == ["lusab", "babad"]  # bits 0111 11 1100 00 0000


def test_every_word_is_its_own() -> None:
    made = words(b"".join(n.to_bytes(2, "big") for n in range(65536)))
    assert len(set(made)) == 65536
    assert all(WORD.fullmatch(word) for word in made)


def test_fingerprint_is_eight_words_of_the_domain_separated_digest() -> None:
    verifier = Verifier(bytes(range(32)))
    text = fingerprint_words(verifier)
    assert len(text.split("-")) == 8
    assert text.split("-") == words(blake3(b"lace-words/v1" + verifier.text.encode()).digest()[:16])
    assert text != fingerprint_words(Verifier(bytes(32)))
