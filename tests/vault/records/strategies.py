"""Hypothesis strategies for valid records of every shape."""

from __future__ import annotations

from unicodedata import normalize

from hypothesis import strategies as st

from tests.vault.records.examples import KEY
from vault.records import Blob, Plex, Record, Seal, Tai
from vault.records.model import RESERVED_NAMES
from vault.records.tai import MAX_SECONDS

__all__ = ["blobs", "data", "extras", "plexes", "records", "seals", "tais"]

# Data that look like the forms around them are where parsers go wrong, so such pieces come often.
_PIECES = [b"\n", b"\n\n", "🖧: ".encode(), "⋯🖧:".encode(), "⋯".encode(), b"Data-Length: 1", b"\r", b"\0"]
data = st.lists(st.binary(max_size=12) | st.sampled_from(_PIECES), max_size=12).map(b"".join)

_text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=20)
_values = _text.map(lambda text: normalize("NFC", text)).filter(lambda text: text[0] != " ")
_names = (
    (_text | st.sampled_from(["+Link", "Chunk+Link", "A", "B"]))
    .map(lambda text: normalize("NFC", text))
    .filter(lambda text: not set(text) & {":", " "} and text not in RESERVED_NAMES)
)
_segments = (
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="{}|#/"), min_size=1)
    .map(lambda text: normalize("NFC", text)[:20])
    .filter(lambda text: text not in {".", ".."} and normalize("NFC", text) == text and not set(text) & set("{}|"))
)
_paths = (
    st.lists(_segments, min_size=1, max_size=2)
    .map("/".join)
    .filter(lambda path: path[0] != " " and len(path.encode()) <= 128)
)

extras = st.lists(st.tuples(_names, _values), max_size=6)
tais = st.builds(Tai, st.integers(0, MAX_SECONDS), st.integers(0, 999_999_999))
blobs = st.builds(Blob, data)
plexes = st.builds(Plex.build, group=_paths, app=_paths, name=_paths, tai=tais, extras=extras, data=data)
seals = plexes.map(lambda plex: Seal.sign(plex, KEY))
records: st.SearchStrategy[Record] = st.one_of(blobs, plexes, seals)
