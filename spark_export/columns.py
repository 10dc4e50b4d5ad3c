"""From rows of SQLite to Arrow columns, thousands at a time.

Hash texts are made by one pass of the base64 codec over a whole batch: 33 bytes (a digest and a zero) give 44
characters, of which the last is dropped. Per row it costs a tenth of `RecordHash(...).text`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_export.extras import needed
from spark_export.schema import Kind, Table
from vault.records import b64a
from vault.records.tai import LEAP_SECONDS

__all__ = ["arrow_schema", "hash_texts", "plain", "times"]

Raw = Sequence[Any]

_DIGEST = 32
_SYMBOLS = 43
_TEXT = 2 + _SYMBOLS + 3


def _arrow_type(pa: Any, kind: Kind) -> Any:
    """Return the Arrow type of a column kind."""
    return {
        "string": pa.string(),
        "long": pa.int64(),
        "int": pa.int32(),
        "boolean": pa.bool_(),
        "binary": pa.binary(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }[kind]


def arrow_schema(table: Table, columns: Sequence[str] = ()) -> Any:
    """Return the Arrow schema of a table, or of some of its columns in the table's order."""
    pa = needed("pyarrow", "An export")
    kept = [column for column in table.all_columns if not columns or column.name in columns]
    return pa.schema([(column.name, _arrow_type(pa, column.kind)) for column in kept])


def hash_texts(pa: Any, kinds: Raw | str, digests: Raw) -> Any:
    """Return an Arrow array of hash texts.

    Args:
        pa: the pyarrow module.
        kinds: the letter of each, or one letter for all.
        digests: 32 bytes each, or None for null.
    """
    np = needed("numpy", "An export")
    rows = len(digests)
    if not rows:
        return pa.array([], pa.string())
    nulls = [digest is None for digest in digests]
    has_nulls = any(nulls)
    if has_nulls:
        digests = [bytes(_DIGEST) if digest is None else digest for digest in digests]
    encoded = b64a.encode(b"\0".join(digests) + b"\0").encode("ascii")
    text = np.empty((rows, _TEXT), dtype=np.uint8)
    letters = kinds * rows if isinstance(kinds, str) else "".join(kinds)
    text[:, 0] = np.frombuffer(letters.encode("ascii"), dtype=np.uint8)
    text[:, 1] = ord(".")
    text[:, 2 : 2 + _SYMBOLS] = np.frombuffer(encoded, dtype=np.uint8).reshape(rows, _SYMBOLS + 1)[:, :_SYMBOLS]
    text[:, -3:] = np.frombuffer(b".H3", dtype=np.uint8)
    offsets = np.arange(0, (rows + 1) * _TEXT, _TEXT, dtype=np.int32)
    made = pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(text))
    return pa.compute.if_else(pa.array(nulls), pa.scalar(None, pa.string()), made) if has_nulls else made


def times(pa: Any, texts: Raw) -> Any:
    """Return timestamps (UTC, microseconds) of TAI texts; None stays null."""
    tai = pa.array(texts, pa.string())
    seconds = pa.compute.cast(pa.compute.utf8_slice_codeunits(tai, 0, 10), pa.int64())
    micros = pa.compute.cast(pa.compute.utf8_slice_codeunits(tai, 11, 17), pa.int64())
    total = pa.compute.add(
        pa.compute.multiply(pa.compute.subtract(seconds, pa.scalar(LEAP_SECONDS)), pa.scalar(1_000_000)), micros
    )
    return pa.compute.cast(total, pa.timestamp("us", tz="UTC"))


def plain(pa: Any, values: Raw, kind: Kind) -> Any:
    """Return an Arrow array of values that need no change."""
    return pa.array(values, _arrow_type(pa, kind))
