"""What an export says, checked against the signed records in it, batch by batch, wherever Spark puts the batches.

The functions run in Spark's Python workers: they take Arrow batches, need nothing but `vault.records` and
`vault.profile`, and give rows for what is wrong only. A stored record is checked whole (form, every digest, the
signature), and against the columns beside it, because a forged row must not hide behind an honest record.

The rows of `log`, `releases`, `resolutions`, `members`, `commits` and `revisions` are made from records, so whoever
exports could write others. Each has a *claim*, one text of what its record has to say. `signature_faults` holds every
row without such a record; `log` and `releases` leave out what has none in `records`. An audit that accuses goes
through `told_log`, `told_releases` and `told_resolutions`, which leave out nothing and have the claims, and asks
`proves` of the few rows that it rests on: to check every signature takes minutes. `cuts` has of `members` who was
revoked, by whom and from where on, as far as records say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from vault.errors import DataError
from vault.profile import Commit, Founding, LogEntry, Member, Release, Resolution, Revision, Revocation, read
from vault.records import RecordHash, Seal, Verifier, parse_record
from vault.suite import ED25519

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["proves", "register", "signature_faults"]

_SIGNATURE_COLUMNS: Final = "exporter string, hash string, app string, signer string, problem string, digest string"
_CHAIN_COLUMNS: Final = "exporter string, number bigint, hash string, problem string"
_SEALED: Final = ("exporter", "hash", "plex", "app", "name", "signer", "tai", "bytes")
_TRAIL: Final = ("exporter", "number", "hash", "plex", "signer", "signature")

# The parts of a row's claim, in the order of `_claim`; each is said by one kind of record.
_CLAIMS: Final = {
    "log": (LogEntry.APP, "node", ("hash", "plex", "node", "seq", "lamport", "prev", "tai")),
    "releases": (
        Release.APP,
        "node",
        ("hash", "node", "desk", "version", "commit", "content_sha512", "tai", "message"),
    ),
    "resolutions": (
        Resolution.APP,
        "node",
        ("hash", "node", "desk", "version", "chosen", "release", "result", "tai", "sides"),
    ),
    "members": (Member.APP, "admitted_by", ("hash", "admitted_by", "node", "tai")),
    "commits": (Commit.APP, "node", ("hash", "node", "desk", "tree", "tai", "message")),
    "revisions": (Revision.APP, "node", ("hash", "node", "desk", "number", "commit")),
}
# What ties a row to a row of `records`, whose columns `signature_faults` checks, without a look at any bytes.
_TIES: Final = {
    "log": "r.plex = t.plex AND r.name = CAST(t.seq AS STRING) AND r.tai = t.tai",
    "releases": "r.name = concat(t.desk, '/', t.version) AND r.tai = t.tai",
}
# A release does not say under which number it was shared: that says the log entry.
_NUMBERED: Final = ("hash", "node", "seq", "lamport")
_HELD: Final = ("exporter", "hash", "plex", "name", "signer", "tai")
_TOLD: Final = ("log", "releases", "resolutions")
_CUTS: Final = """
    SELECT /*+ BROADCAST(m) */ DISTINCT m.exporter, m.node, m.last_seq, m.revoked_by
    FROM members m
    JOIN records r ON r.exporter = m.exporter AND r.app = 'lace/revocation' AND r.name = m.node
        AND r.signer = m.revoked_by
    LEFT JOIN records e ON e.exporter = m.exporter AND e.app = 'lace/log' AND e.signer = m.node
        AND e.name = CAST(m.last_seq AS STRING) AND m.node = m.revoked_by
    WHERE proves_cut(r.bytes, e.bytes, m.node, m.last_seq, m.revoked_by)"""
_UNCUT: Final = """
    SELECT m.exporter, m.hash, 'lace/revocation' AS app, m.revoked_by AS signer,
        'no revocation says what the row in members says' AS problem
    FROM members m
    LEFT ANTI JOIN cuts c ON c.exporter = m.exporter AND c.node = m.node AND c.last_seq = m.last_seq
        AND c.revoked_by = m.revoked_by
    WHERE m.last_seq IS NOT NULL OR m.revoked_by IS NOT NULL"""
_SIDES: Final = "concat_ws('\n', sort_array(collect_set(release))) AS sides"


def register(session: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    """Make the views of the checks: `signature_faults`, `chain_faults`, `cuts`, what is tied to records; and `proves`.

    Args:
        session: where.
        tables: what the exports say, by name.
    """
    session.udf.register("proves", proves, "boolean")
    session.udf.register("proves_cut", _proves_cut, "boolean")
    session.sql(_CUTS).createOrReplaceTempView("cuts")
    records = tables["records"].where("signer IS NOT NULL")
    made = {name: _with_claim(name, tables) for name in _CLAIMS}
    for name in _TOLD:
        made[name].createOrReplaceTempView(f"told_{name}")
    for name, tie in _TIES.items():
        held = records.where(f"app = '{_CLAIMS[name][0]}'").select(*_HELD)
        same = _sql(f"r.exporter = t.exporter AND r.hash = t.hash AND r.signer = t.node AND {tie}")
        tables[name].alias("t").join(held.alias("r"), same, "left_semi").createOrReplaceTempView(name)
    checked = _checked(records.select(*_SEALED), signature_faults, _SIGNATURE_COLUMNS)
    _faults(checked, made).unionByName(session.sql(_UNCUT)).createOrReplaceTempView("signature_faults")
    trail = tables["audit"].select(*_TRAIL)
    _checked(trail, _chain_faults, _CHAIN_COLUMNS).createOrReplaceTempView("chain_faults")


def _checked(rows: DataFrame, check: Any, columns: str) -> DataFrame:
    return rows.mapInArrow(check, columns)


def _sql(text: str) -> Any:
    from pyspark.sql.functions import expr  # the workers need none of it

    return expr(text)


def _with_claim(name: str, tables: Mapping[str, DataFrame]) -> DataFrame:
    rows = tables[name]
    if name == "resolutions":
        sides = tables["sides"].groupBy("exporter", "hash").agg(_sql(_SIDES))
        rows = rows.join(sides, ["exporter", "hash"], "left")
    return rows.withColumn("claim", _sql(_claim_of(_CLAIMS[name][2])))


def _claim_of(columns: Iterable[str]) -> str:
    """Return the SQL of what a row claims."""
    parts = ", ".join(f"coalesce(CAST(`{part}` AS STRING), '')" for part in columns)
    return f"concat_ws('\n', {parts})"


def _faults(checked: DataFrame, made: Mapping[str, DataFrame]) -> DataFrame:
    """Return the faults of records, and the rows of other tables that no record of their exporter proves."""
    rows = [
        made[name].selectExpr(
            "exporter", "hash", f"'{app}' AS app", f"`{who}` AS signer", "sha2(claim, 256) AS digest",
            f"'the row in {name} has no record that says the same' AS problem",
        )
        for name, (app, who, _) in _CLAIMS.items()
    ]  # fmt: skip
    rows.append(
        made["releases"].where("seq IS NOT NULL OR lamport IS NOT NULL").selectExpr(
            "exporter", "hash", f"'{LogEntry.APP}' AS app", "node AS signer",
            f"sha2({_claim_of(_NUMBERED)}, 256) AS digest",
            "'no log entry shares it as the row in releases says' AS problem",
        )
    )  # fmt: skip
    every = reduce(lambda one, other: one.unionByName(other), rows)
    same = _sql("c.exporter = m.exporter AND c.digest = m.digest")
    columns = [f"coalesce(c.{column}, m.{column}) AS {column}" for column in ("exporter", "hash", "app", "signer")]
    return (
        checked.alias("c")
        .join(every.alias("m"), same, "full_outer")
        .where("c.problem IS NOT NULL OR c.digest IS NULL")
        .selectExpr(*columns, "coalesce(c.problem, m.problem) AS problem")
    )


def proves(stored: bytes | None, claim: str | None) -> bool:
    """Tell whether a stored record is wholly what it says, signature included, and says what a row claims."""
    try:
        seal = parse_record(bytes(stored or b""))
        return isinstance(seal, Seal) and _claim(seal) == claim
    except DataError:
        return False


def _proves_cut(
    revocation: bytes | None, entry: bytes | None, node: str | None, last_seq: int | None, by: str | None
) -> bool:
    """Tell whether a revocation says that a node's log counts no further than a number.

    Args:
        revocation: the stored record.
        entry: where the node revoked itself, its log entry of that number: what shares the revocation counts last.
        node: verifier of who was revoked.
        last_seq: the number.
        by: verifier of who revoked it.
    """
    try:
        said = read(parse_record(bytes(revocation or b"")))
        if not isinstance(said, Revocation) or (said.node.text, str(said.signer)) != (node, by):
            return False
        if node != by:
            return said.last_seq == last_seq
        shares = read(parse_record(bytes(entry or b"")))
        return (
            isinstance(shares, LogEntry)
            and (str(shares.signer), shares.seq) == (node, last_seq)
            and said.hash in shares.entries
        )
    except DataError:
        return False


def _claim(seal: Seal) -> str:
    """Return what a row made from this record says, as `_CLAIMS` has it; nothing where no row is.

    Raises:
        ProfileError: it breaks a rule of its kind.
    """
    value = read(seal)
    parts: tuple[object, ...]
    match value:
        case LogEntry():
            parts = (seal.plex.hash, value.signer, value.seq, value.lamport, value.prev, value.tai)
        case Release():
            content = (value.commit, value.content_sha512)
            parts = (value.signer, value.desk, value.version, *content, value.tai, value.message)
        case Resolution():
            sides = sorted(side.text for side in value.sides)
            holds = (value.chosen, value.release, value.result)
            parts = (value.signer, value.desk, value.version, *holds, value.tai, *sides)
        case Member():
            parts = (value.signer, value.node, value.tai)
        case Commit():
            parts = (value.signer, value.desk, value.tree, value.tai, value.message)
        case Revision():
            parts = (value.signer, value.desk, value.number, value.commit)
        case Founding():  # of the founder no record says who admitted them, or when
            return _joined(None, None, value.signer, None)
        case _:
            return ""
    return _joined(value.hash, *parts)


def _joined(*parts: object) -> str:
    return "\n".join("" if part is None else str(part) for part in parts)


def _numbers(seal: Seal) -> list[str]:
    """Return what a log entry says of each record that it shares, as `_NUMBERED` has it."""
    value = read(seal)
    if not isinstance(value, LogEntry):
        return []
    return [_joined(one, value.signer, value.seq, value.lamport) for one in value.entries]


def signature_faults(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield a row for every sealed record of `records` that is not what it says, and for what the others prove."""
    for batch in batches:
        rows = zip(*(batch.column(name).to_pylist() for name in _SEALED), strict=True)
        found: list[tuple[Any, ...]] = []
        for exporter, hash_text, plex, app, name, signer, tai, stored in rows:
            problem, claims = _problem(hash_text, plex, (app, name, signer, tai), stored)
            row = (exporter, hash_text, app, signer)
            if problem:
                found.append((*row, problem, None))
            found += [(*row, None, sha256(claim.encode()).hexdigest()) for claim in claims]
        yield from _batch(found, ("exporter", "hash", "app", "signer", "problem", "digest"), _SIGNATURE_COLUMNS)


def _problem(
    hash_text: str, plex: str | None, told: tuple[Any, ...], stored: bytes | None
) -> tuple[str, tuple[str, ...]]:
    """Return what is wrong with a record, if anything is, and what it proves."""
    if stored is None:
        return "its bytes are missing", ()
    try:
        seal = parse_record(bytes(stored))
        claims = (_claim(seal), *_numbers(seal)) if isinstance(seal, Seal) else ()
    except DataError as error:
        return f"{error.code}: {error.message}", ()
    if not isinstance(seal, Seal):
        return "its bytes are not a Seal", ()
    if seal.hash.text != hash_text or seal.plex.hash.text != plex:
        return "its bytes are another record", ()
    if (seal.plex.app, seal.plex.name, seal.signer.text, seal.plex.tai.text) != told:
        return "the row says other things than the record", ()
    return "", tuple(claim for claim in claims if claim)


def _chain_faults(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield a row for every audit entry whose signature is not that of the key it names."""
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
    import pyarrow as pa  # in the worker, which has it

    types = [pa.int64() if kind.split()[1] == "bigint" else pa.string() for kind in columns.split(", ")]
    arrays = [pa.array(values, kind) for values, kind in zip(zip(*found, strict=True), types, strict=True)]
    yield pa.RecordBatch.from_arrays(arrays, names=list(names))
