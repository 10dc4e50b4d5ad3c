"""`spark.read.format("lace").load(FOLDER)`: a vault's tables straight from its store, without an export between.

Options:

* `table` - one of `spark_export.schema.TABLES`; `records` when not given;
* `columns` - names separated by commas; Spark does not tell a Python source which columns a query needs;
* `partitions` - how many readers share the positions of a log table; 4 when not given;
* `pushdown` - `true` makes equalities and bounds on plain columns the store's own conditions; Spark filters when not
  given. It needs `spark.sql.python.filterPushdown.enabled`, which is off in a session of Spark's own, and a source
  cannot see whether it is on: Spark refuses every read of one that takes filters where it is off;
* `unshared`, `details` - as for `lace export`.

`spark.readStream` gives the rows of a log table as they become everybody's, by the exposure log: a commit may be made
long before it is shared. What is never shared, and all rows with `unshared`, come as they arrive, by position. A stream
goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)

from spark_export.errors import BadExport, NoSuchTable
from spark_export.reader import Condition, Scope, VaultReader
from spark_export.schema import OWN_TABLES, Table, ddl, table_named

__all__ = ["DefaultSource", "LaceSource"]

_PARTITIONS: Final = 4
_MOST_PARTITIONS: Final = 1024


@dataclass
class Span(InputPartition):
    """One reader's share: positions `first` to `last`, or numbers of the exposure log."""

    first: int
    last: int
    is_exposed: bool = False


@dataclass(frozen=True)
class _Wanted:
    """What a `load` asks for; travels to the workers."""

    folder: Path
    table: Table
    columns: tuple[str, ...]
    partitions: int
    pushdown: bool
    scope: Scope

    @classmethod
    def of(cls, options: Mapping[str, str]) -> _Wanted:
        """Read the options.

        Raises:
            NoSuchTable, BadExport: one is wrong.
        """
        if not options.get("path"):
            raise BadExport("No folder was named.", hint='Say it: spark.read.format("lace").load(FOLDER)')
        name = options.get("table", "records")
        table = table_named(name)
        if table is None:
            raise NoSuchTable(f"There is no table {name!r}.")
        known = [column.name for column in table.all_columns]
        columns = tuple(word.strip() for word in options.get("columns", "").split(",") if word.strip())
        if strangers := [column for column in columns if column not in known]:
            raise NoSuchTable(f"The table {name} has no column {strangers[0]!r}.")
        partitions = options.get("partitions", str(_PARTITIONS))
        if not (partitions.isascii() and partitions.isdigit() and 1 <= int(partitions) <= _MOST_PARTITIONS):
            raise BadExport(f"{partitions!r} is not a number of partitions.", hint=f"Say 1 to {_MOST_PARTITIONS}.")
        scope = Scope(unshared=_is_on(options, "unshared"), details=_is_on(options, "details"))
        return cls(Path(options["path"]), table, columns, int(partitions), _is_on(options, "pushdown"), scope)

    def read(self, span: Span, conditions: Sequence[Condition] = ()) -> Iterator[Any]:
        """Yield the Arrow batches of one share."""
        bounds = (span.first, span.last)
        with VaultReader(self.folder, self.scope) as reader, reader.snapshot():
            if span.is_exposed:
                yield from reader.batches(self.table, exposed=bounds, columns=self.columns)
            else:
                first, last = bounds
                yield from reader.batches(
                    self.table, first=first, last=last, columns=self.columns, conditions=conditions
                )

    def last_position(self) -> int:
        """Return the newest position in the vault."""
        with VaultReader(self.folder, self.scope) as reader:
            return reader.last_position()

    def last_exposed(self) -> int:
        """Return the last number of the vault's exposure log."""
        with VaultReader(self.folder, self.scope) as reader:
            return reader.last_exposed()


def _is_on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "").lower() == "true"


class LaceSource(DataSource):
    """The data source named `lace`."""

    @classmethod
    def name(cls) -> str:
        """Return the name after `format`."""
        return "lace"

    def schema(self) -> str:
        """Return the schema of the table, or of the wanted columns."""
        wanted = _Wanted.of(self.options)
        return ddl(wanted.table, wanted.columns)

    def reader(self, schema: Any) -> DataSourceReader:
        """Return a reader, one that takes filters only when told so: Spark refuses the other where it is off."""
        wanted = _Wanted.of(self.options)
        return _FilteringReader(wanted) if wanted.pushdown else _Reader(wanted)

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Return a stream over a log table.

        Raises:
            NoSuchTable: the table is a state table.
        """
        wanted = _Wanted.of(self.options)
        if not wanted.table.is_log:
            raise NoSuchTable(
                f"The table {wanted.table.name} says how things stand now and cannot be followed.",
                hint="Follow a log table, such as records, log or commits.",
            )
        return _Stream(wanted)


def _span(partition: InputPartition) -> Span:
    assert isinstance(partition, Span)  # noqa: S101 - what `partitions` gave
    return partition


class _Reader(DataSourceReader):
    def __init__(self, wanted: _Wanted) -> None:
        self._wanted = wanted
        self._conditions: list[Condition] = []

    def partitions(self) -> Sequence[InputPartition]:
        last = self._wanted.last_position()
        if not self._wanted.table.is_log:
            return [Span(1, last)]
        share = max(1, -(-last // self._wanted.partitions))
        return [Span(at, min(at + share - 1, last)) for at in range(1, last + 1, share)] or [Span(1, 0)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._wanted.read(_span(partition), self._conditions)


class _FilteringReader(_Reader):
    _SIGNS: Final = {
        EqualTo: "=",
        GreaterThan: ">",
        GreaterThanOrEqual: ">=",
        LessThan: "<",
        LessThanOrEqual: "<=",
    }

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Take the filters the store can apply, and give back the others."""
        for given in filters:
            condition = self._condition(given)
            if condition is None:
                yield given
            else:
                self._conditions.append(condition)

    def _condition(self, given: Filter) -> Condition | None:
        attribute: tuple[str, ...] = getattr(given, "attribute", ())
        if len(attribute) != 1 or not self._wanted.table.takes_condition(attribute[0]):
            return None
        if isinstance(given, In):
            values: tuple[object, ...] = tuple(given.value)
            sign = "IN"
        elif type(given) in self._SIGNS:
            values, sign = (given.value,), self._SIGNS[type(given)]  # type: ignore[attr-defined]
        else:
            return None
        if not values or not all(isinstance(value, str | int) and not isinstance(value, bool) for value in values):
            return None
        return Condition(attribute[0], sign, values)


class _Stream(DataSourceStreamReader):
    """Rows from one offset to the next: `{"exposed": N}` counts the exposure log, `{"position": N}` what arrives.

    An offset of the other kind, as of an earlier version, counts as none: rows come again, and none is lost.
    """

    def __init__(self, wanted: _Wanted) -> None:
        self._wanted = wanted
        self._is_exposed = not wanted.scope.unshared and wanted.table.name not in OWN_TABLES
        self._word = "exposed" if self._is_exposed else "position"

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Return where a new stream begins: before the first record."""
        return {self._word: 0}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Return the number of what was shared last, or the position of the newest record."""
        return {self._word: self._wanted.last_exposed() if self._is_exposed else self._wanted.last_position()}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return the share between two offsets."""
        return [Span(start.get(self._word, 0) + 1, end.get(self._word, 0), self._is_exposed)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the batches of one share."""
        return self._wanted.read(_span(partition))

    def commit(self, end: dict[str, int]) -> None:
        """Do nothing: the vault keeps its records."""


DefaultSource = LaceSource
