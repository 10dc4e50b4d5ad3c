"""Signatures checked from an export, batch by batch, wherever Spark puts the batches.

The functions run in Spark's Python workers: they take Arrow batches, need nothing but `vault.records`, and give rows
for what is wrong only. A stored record is checked whole (form, every digest, the signature), and against the columns
beside it, because a forged row must not hide behind an honest record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from vault.errors import DataError
from vault.records import RecordHash, Seal, Verifier, parse_record
from vault.suite import ED25519

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["register", "signature_faults"]

_SIGNATURE_COLUMNS: Final = "exporter string, hash string, app string, signer string, problem string"
_CHAIN_COLUMNS: Final = "exporter string, number bigint, hash string, problem string"
_SEALED: Final = ("exporter", "hash", "plex", "app", "name", "signer", "tai", "bytes")
_TRAIL: Final = ("exporter", "number", "hash", "plex", "signer", "signature")


def register(session: SparkSession) -> None:
    """Make the views `signature_faults` and `chain_faults` over the tables `records` and `audit`."""
    sealed = session.table("records").where("signer IS NOT NULL").select(*_SEALED)
    _checked(sealed, signature_faults, _SIGNATURE_COLUMNS).createOrReplaceTempView("signature_faults")
    trail = session.table("audit").select(*_TRAIL)
    _checked(trail, _chain_faults, _CHAIN_COLUMNS).createOrReplaceTempView("chain_faults")


def _checked(rows: DataFrame, check: Any, columns: str) -> DataFrame:
    return rows.mapInArrow(check, columns)


def signature_faults(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield a row for every sealed record of `records` that is not what it says."""
    for batch in batches:
        rows = zip(*(batch.column(name).to_pylist() for name in _SEALED), strict=True)
        found = []
        for exporter, hash_text, plex, app, name, signer, tai, stored in rows:
            problem = _problem(hash_text, plex, (app, name, signer, tai), stored)
            if problem:
                found.append((exporter, hash_text, app, signer, problem))
        yield from _batch(found, ("exporter", "hash", "app", "signer", "problem"), _SIGNATURE_COLUMNS)


def _problem(hash_text: str, plex: str | None, told: tuple[Any, ...], stored: bytes | None) -> str:
    if stored is None:
        return "its bytes are missing"
    try:
        seal = parse_record(bytes(stored))
    except DataError as error:
        return f"{error.code}: {error.message}"
    if not isinstance(seal, Seal):
        return "its bytes are not a Seal"
    if seal.hash.text != hash_text or seal.plex.hash.text != plex:
        return "its bytes are another record"
    if (seal.plex.app, seal.plex.name, seal.signer.text, seal.plex.tai.text) != told:
        return "the row says other things than the record"
    return ""


def _chain_faults(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield a row for every audit entry whose signature is not its vault's."""
    for batch in batches:
        rows = zip(*(batch.column(name).to_pylist() for name in _TRAIL), strict=True)
        found = []
        for exporter, number, hash_text, plex, signer, signature in rows:
            try:
                is_good = ED25519.verify(Verifier.parse(signer).key, RecordHash.parse(plex).digest, bytes(signature))
            except (DataError, TypeError, ValueError):
                is_good = False
            if not is_good:
                found.append((exporter, number, hash_text, "its signature is not its signer's"))
        yield from _batch(found, ("exporter", "number", "hash", "problem"), _CHAIN_COLUMNS)


def _batch(found: list[tuple[Any, ...]], names: tuple[str, ...], columns: str) -> Iterator[Any]:
    if not found:
        return
    import pyarrow as pa  # noqa: PLC0415 - in the worker, which has it

    types = [pa.int64() if kind.split()[1] == "bigint" else pa.string() for kind in columns.split(", ")]
    arrays = [pa.array(values, kind) for values, kind in zip(zip(*found, strict=True), types, strict=True)]
    yield pa.RecordBatch.from_arrays(arrays, names=list(names))
