"""Lace-010 records: pure, strict, frozen.

A record is a Blob (bytes), a Plex (a version at a coordinate, with headers and a Blob) or a Seal (a signature
over a Plex). Its identity is the BLAKE3-256 of its canonical payload, written in the markline that starts its
stored form. `parse_record` reads one, `iter_records` many; what they return encodes to the same bytes again.

| module | holds |
|---|---|
| `model`, `hashes`, `coordinates`, `links`, `tai`, `b64a` | the three records as values, and what they are made of |
| `parse`, `reader`, `head`, `headers`, `plain` | from bytes to a record, or to many |
| `trailer`, `thin` | the other forms in which a record travels |
| `hash_list` | many names, packed |
| `errors`, `quoting` | one class for each rule that can be broken, and foreign text in its message |

    >>> from vault.records import Blob, parse_record
    >>> blob = Blob(b"hello room7")
    >>> print(blob.hash)
    B.AKZgZFlTo1yWXWiLTVzirxFK0AP1SpEfxi~BC8ffLsh.H3
    >>> parse_record(blob.encode()) == blob
    True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from vault.records.errors import B64AError, RecordError
from vault.records.hashes import RecordHash, Verifier, payload_digest
from vault.records.model import MAX_BLOB_BYTES, MAX_EXTRAS, Blob, Plex, Record, Seal
from vault.records.tai import Tai

if TYPE_CHECKING:
    from vault.records.parse import parse_record, verify_seal
    from vault.records.reader import Verdict, iter_records, iter_verdicts
    from vault.records.trailer import from_trailer, to_trailer

__all__ = [
    "MAX_BLOB_BYTES",
    "MAX_EXTRAS",
    "B64AError",
    "Blob",
    "Plex",
    "Record",
    "RecordError",
    "RecordHash",
    "Seal",
    "Tai",
    "Verdict",
    "Verifier",
    "from_trailer",
    "iter_records",
    "iter_verdicts",
    "parse_record",
    "payload_digest",
    "to_trailer",
    "verify_seal",
]

# Who only writes reads no record back, and few read streams and the other forms: each is loaded when first asked for.
_LATER = {
    "Verdict": "reader",
    "iter_records": "reader",
    "iter_verdicts": "reader",
    "from_trailer": "trailer",
    "parse_record": "parse",
    "to_trailer": "trailer",
    "verify_seal": "parse",
}


def __getattr__(name: str) -> object:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
