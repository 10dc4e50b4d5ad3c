"""One vault as tables: Arrow batches of any table, of any range of positions, with only the columns asked for.

Reading is one snapshot of the store and takes no lock, so an export runs beside everything else. Nothing private is
read unless `Scope` says so: neither unshared work nor what audit entries are about. Keys never lie in the store
(APP-11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from blake3 import blake3

from spark_export import histories
from spark_export.columns import arrow_schema, hash_texts, plain, times
from spark_export.errors import BadExport
from spark_export.extras import needed
from spark_export.queries import LOG_QUERIES, STATE_QUERIES, filled
from spark_export.schema import COMMON, SCHEMA_VERSION, TABLES, Table
from vault.notes.own import GROUP, NODE
from vault.profile import private_group
from vault.records import RecordHash, Verifier, b64a
from vault.store import Store

__all__ = ["PART_POSITIONS", "Condition", "Scope", "VaultReader"]

PART_POSITIONS: Final = 1 << 16  # positions in one part of a log table
_ROWS: Final = 1 << 15  # rows in one batch
_ID_BYTES: Final = 12
_MADE: Final = 2  # raised when the same records give other rows, so that no part of before is kept
_SHARED: Final = "shared"


class Scope(NamedTuple):
    """What is read beside what everybody in the circle may see.

    Args:
        unshared: also records that were never shared, such as commits before their release.
        details: also what audit entries are about.
    """

    unshared: bool = False
    details: bool = False


class Condition(NamedTuple):
    """One comparison that the store applies.

    Args:
        column: a column for which `Table.takes_condition` holds.
        sign: `=`, `<`, `<=`, `>`, `>=` or `IN`.
        values: one value, or for `IN` at least one.
    """

    column: str
    sign: str
    values: tuple[object, ...]

    def sql(self) -> str:
        """Return the comparison with a placeholder for each value."""
        marks = f"({', '.join('?' * len(self.values))})" if self.sign == "IN" else "?"
        return f'"{self.column}" {self.sign} {marks}'


class VaultReader:
    """The tables of one vault.

    Args:
        folder: the folder with the `.vault`.
        scope: what is read.

    Raises:
        BadExport: there is no finished vault.
        StoreDamaged: its store cannot be read.
    """

    def __init__(self, folder: Path, scope: Scope | None = None) -> None:
        path = folder / ".vault" / "store.db"
        if not path.is_file():
            raise BadExport(f"There is no vault in {folder}.", hint="Name the folder that holds a .vault.")
        self.folder = folder
        self.scope = scope or Scope()
        self.lacking: dict[int, RecordHash] = {}
        """Positions of rows that were left out so far, and a record that is damaged here and is the reason."""
        self.store = Store(path)
        try:
            self.node = self.store.note(NODE)
            self.group = self.store.note(GROUP)
        except BaseException:
            self.store.close()
            raise
        if not self.node or not self.group:
            self.store.close()
            raise BadExport(f"The vault in {folder} was never finished.", hint="Run its lace init or accept again.")
        seed = f"lace export\n{SCHEMA_VERSION}\n{self.group}\n{self.node}\n".encode()
        self.export_id = b64a.encode(blake3(seed).digest(_ID_BYTES))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def snapshot(self) -> AbstractContextManager[None]:
        """Hold one state of the store for a block."""
        return self.store.reading()

    def last_position(self) -> int:
        """Return the position of the newest record; 0 in an empty store."""
        return int(self.store.rows("SELECT coalesce(max(p), 0) FROM body")[0][0])

    def last_exposed(self) -> int:
        """Return the last number of the exposure log; 0 while nothing is shared."""
        return self.store.exposed()

    def fingerprints(self) -> list[bytes]:
        """Return, for each part of positions, a digest of which records are read; equal ones give equal rows.

        Holes count, because a tree that arrives late lets an earlier release say which paths it changed. So does what a
        release is compared with, which may be shared after it. Of the records only the index over digests is read, a
        tenth of their bytes.
        """
        last = self.last_position()
        wanted = bytearray(last + 1)
        for table in (self._scope(), "audit"):
            for (position,) in self.store.db.execute(f"SELECT p FROM {table}"):  # noqa: S608 - a name or a constant
                wanted[position] = 1
        holes = self.store.rows("SELECT want FROM hole ORDER BY 1")
        seed = repr((SCHEMA_VERSION, _MADE, tuple(self.scope), holes)).encode()
        parts = [blake3(seed) for _ in range(0, last, PART_POSITIONS)]
        for position, digest in self.store.db.execute("SELECT p, digest FROM body ORDER BY digest"):
            if wanted[position]:
                parts[(position - 1) // PART_POSITIONS].update(digest)
        scope = self._scope()
        for release in histories.compared(self.store, histories.Slice(scope, scope, details=False, first=1, last=last)):
            parts[(release.position - 1) // PART_POSITIONS].update(repr((release.position, release.before)).encode())
        return [part.digest() for part in parts]

    def counts(self, cancelled: Callable[[], None] = lambda: None) -> dict[str, int]:
        """Return how many rows each table has now, by name; reads one column of each."""
        found = {}
        for table in TABLES:
            cancelled()
            column = table.columns[0].name
            found[table.name] = sum(batch.num_rows for batch in self.batches(table, columns=(column,)))
        return found

    def batches(
        self,
        table: Table,
        *,
        first: int = 1,
        last: int | None = None,
        exposed: tuple[int, int] | None = None,
        columns: Sequence[str] = (),
        conditions: Sequence[Condition] = (),
    ) -> Iterator[Any]:
        """Yield the rows of a table as Arrow record batches.

        Args:
            table: which.
            first: lowest position, of a log table.
            last: highest position; None reads to the end.
            exposed: only what became shared with these numbers of the exposure log, both included.
            columns: only these, in the table's order; all when empty.
            conditions: rows that meet all of them.
        """
        bounds = (first, self.last_position() if last is None else last)
        scope = self._scope()
        if exposed is not None:
            scope, bounds = self._exposed(*exposed)
        schema = arrow_schema(table, columns)
        if table.name in histories.HISTORIES:
            bounded = _narrowed(bounds, conditions)
            part = histories.Slice(scope, self._scope(), self.scope.details, *bounded, self.lacking.__setitem__)
            rows: Iterator[tuple[Any, ...]] = histories.HISTORIES[table.name](self.store, part)
            names = [column.name for column in table.columns]
            yield from self._made(schema, table, names, _chunks(_among(rows, names.index("position"), conditions)))
            return
        query = filled((LOG_QUERIES if table.is_log else STATE_QUERIES)[table.name], scope)
        cursor = self.store.db.execute(f"SELECT * FROM ({query}) LIMIT 0", bounds if table.is_log else ())  # noqa: S608
        raw = _needed([item[0] for item in cursor.description], schema.names)
        chosen = ", ".join(f'"{name}"' for name in raw) or "1"
        where = f" WHERE {' AND '.join(condition.sql() for condition in conditions)}" if conditions else ""
        values = [value for condition in conditions for value in condition.values]
        cursor = self.store.db.execute(
            f"SELECT {chosen} FROM ({query}){where}",  # noqa: S608 - names of the schema
            (*(bounds if table.is_log else ()), *values),
        )
        yield from self._made(schema, table, raw, iter(lambda: cursor.fetchmany(_ROWS), []))

    def _made(
        self, schema: Any, table: Table, raw: list[str], chunks: Iterator[list[tuple[Any, ...]]]
    ) -> Iterator[Any]:
        pa = needed("pyarrow", "An export")
        needed("pyarrow.compute", "An export")
        kinds = {column.name: column.kind for column in table.all_columns}
        common = dict(zip((column.name for column in COMMON), (self.group, self.node, self.export_id), strict=True))
        for rows in chunks:
            values = dict(zip(raw, zip(*rows, strict=True), strict=True)) if raw else {}
            arrays = []
            for name in schema.names:
                if name in common:
                    arrays.append(pa.repeat(pa.scalar(common[name], pa.string()), len(rows)))
                elif f"{name}:digest" in values:
                    letters = [letter or "S" for letter in values[f"{name}:kind"]]
                    arrays.append(hash_texts(pa, letters, values[f"{name}:digest"]))
                elif name == "time":
                    arrays.append(times(pa, values["tai"]))
                else:
                    given: Sequence[Any] = values[name]
                    if kinds[name] == "boolean":
                        given = [None if value is None else bool(value) for value in given]
                    arrays.append(plain(pa, given, kinds[name]))
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _exposed(self, first: int, last: int) -> tuple[str, tuple[int, int]]:
        """Return the SQL of the positions with some numbers of the exposure log, and the bounds of these positions."""
        scope = f"(SELECT p FROM exposure WHERE at BETWEEN {first:d} AND {last:d})"  # noqa: S608 - numbers
        ((low, high),) = self.store.rows(f"SELECT ifnull(min(p), 1), ifnull(max(p), 0) FROM {scope}")  # noqa: S608
        return scope, (int(low), int(high))

    def _scope(self) -> str:
        """Return the SQL of the positions that are read: a name or a constant sub-query."""
        if not self.scope.unshared:
            return _SHARED
        private = private_group(Verifier.parse(self.node))
        found = self.store.rows("SELECT id FROM sym WHERE s = ?", private)
        own = int(found[0][0]) if found else -1
        return f"(SELECT p FROM rec WHERE grp <> {own})"  # noqa: S608 - a number


def _narrowed(bounds: tuple[int, int], conditions: Sequence[Condition]) -> tuple[int, int]:
    """Return the bounds of positions that may meet conditions on `position`, the only ones a history takes."""
    first, last = bounds
    for condition in conditions:
        numbers = [value for value in condition.values if isinstance(value, int)]
        if condition.sign in {"=", "IN", ">", ">="}:
            first = max(first, min(numbers) + (condition.sign == ">"))
        if condition.sign in {"=", "IN", "<", "<="}:
            last = min(last, max(numbers) - (condition.sign == "<"))
    return first, last


def _among(rows: Iterator[tuple[Any, ...]], at: int, conditions: Sequence[Condition]) -> Iterator[tuple[Any, ...]]:
    """Return the rows whose position, which stands at `at`, is among those of each `IN`: bounds hold more."""
    wanted = [frozenset(condition.values) for condition in conditions if condition.sign == "IN"]
    return (row for row in rows if all(row[at] in values for values in wanted))


def _needed(raw: list[str], wanted: Sequence[str]) -> list[str]:
    """Return the raw columns that the wanted ones are made of."""
    names = {*wanted, *(["tai"] if "time" in wanted else [])}
    return [name for name in raw if name.partition(":")[0] in names]


def _chunks(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    chunk: list[tuple[Any, ...]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == _ROWS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
