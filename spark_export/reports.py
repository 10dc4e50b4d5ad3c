"""The thin runner of audits: exports become views, an audit's SQL runs over them, rows come back as plain values.

    with spark_session(os.environ) as session:
        open_exports(session, [Path("export")])
        rows = run(session, audit_named("releases"))

In a notebook `frame(session, audit)` gives the DataFrame itself.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from spark_export.audits import AUDITS, Audit, audit_named, sql_of
from spark_export.checks import register
from spark_export.errors import BadExport, NoSuchReport, SparkFailed
from spark_export.extras import needed
from spark_export.inputs import Inputs, exports_in
from spark_export.naming import register_names
from spark_export.schema import TABLES, Table, ddl
from vault.errors import LaceError
from vault.records.tai import LEAP_SECONDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Report", "audit_called", "frame", "open_exports", "run"]

_PATTERN: Final = re.compile(r"[][{}*?\\]")  # what Spark takes in a path for one of many
_REASON: Final = re.compile(r"\[[A-Z][A-Z0-9_]+(\.[A-Z0-9_]+)?\] ")
_UNREADABLE: Final = "[FAILED_READ_FILE"
# What an export says beside the signed text counts for nothing.
_TIME: Final = (
    f"timestamp_micros((try_cast(substr(tai, 1, 10) AS BIGINT) - {LEAP_SECONDS}) * 1000000"
    " + try_cast(substr(tai, 12, 6) AS BIGINT))"
)


class Report(NamedTuple):
    """What an audit answered.

    Args:
        audit: which.
        columns: names, in order.
        rows: plain values: text, numbers, lists; times as ISO 8601 in UTC.
    """

    audit: Audit
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def findings(self) -> int:
        """How many rows need somebody's eye."""
        return len(self.rows) if self.audit.finds else 0

    def as_objects(self) -> list[dict[str, Any]]:
        """Return each row as a mapping."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def audit_called(name: str) -> Audit:
    """Return an audit by name.

    Raises:
        NoSuchReport: there is none.
    """
    found = audit_named(name)
    if found is None:
        raise NoSuchReport(f"There is no report {name!r}; there are {', '.join(audit.name for audit in AUDITS)}.")
    return found


def open_exports(session: SparkSession, given: Sequence[Path] | Inputs) -> Inputs:
    """Make a view of each table over all exports in some directories, `names` of nodes, and the views of the checks.

    Args:
        session: where.
        given: the directories, or what `exports_in` found there.

    Returns:
        What is read: the newest export of each member, and which are left out.

    Raises:
        NoExport: a directory holds none.
        BadExport: all are damaged, or exports of two groups come together.
        SparkFailed: Spark could not open them.
    """
    inputs = given if isinstance(given, Inputs) else exports_in(given)
    files = {table.name: inputs.files(table) for table in TABLES}
    try:
        tables = {table.name: _opened(session, table, files[table.name]) for table in TABLES}
        register_names(session)
        groups = [row[0] for row in session.sql("SELECT DISTINCT `group` FROM vectors").collect()]
        register(session, tables)
    except Exception as error:  # py4j, gRPC and Spark each have their own
        raise _failure("The exports could not be opened", error) from error
    if len(groups) > 1:
        raise BadExport(
            f"The exports are of {len(groups)} groups.",
            hint="Put the exports of one group together; name them with --input.",
        )
    return inputs


def _opened(session: SparkSession, table: Table, files: Sequence[Path]) -> DataFrame:
    """Make a view of a table over some files."""
    from pyspark.sql.functions import expr  # the list of reports needs no Spark

    paths = [_PATTERN.sub(r"\\\g<0>", str(path)) for path in files]
    # A circle of one has empty tables; Parquet files of no rows still carry the schema.
    rows = session.read.schema(ddl(table)).parquet(*paths) if paths else session.createDataFrame([], ddl(table))
    if any(column.name == "time" for column in table.columns):
        rows = rows.withColumn("time", expr(_TIME))
    rows.createOrReplaceTempView(table.name)
    return rows


def frame(session: SparkSession, audit: Audit) -> DataFrame:
    """Return an audit as a DataFrame over the views that `open_exports` made."""
    return session.sql(sql_of(audit))


def run(session: SparkSession, audit: Audit) -> Report:
    """Run an audit and return its rows.

    Raises:
        BadExport: a file of an export cannot be read.
        SparkFailed: Spark could not run it.
    """
    # pyspark prints the whole JVM trace of a failing query by itself; ours is one sentence.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    try:
        answered = frame(session, audit)
        columns = [_values(column) for column in answered.toArrow().columns]
    except Exception as error:  # py4j, gRPC and Spark each have their own
        raise _failure(f"The report {audit.name} could not be run", error) from error
    return Report(audit, tuple(answered.columns), tuple(zip(*columns, strict=True)))


def _failure(what: str, error: Exception) -> LaceError:
    """Return what is told of an error of Spark, which names the file where one of an export cannot be read."""
    try:
        lines = str(error).splitlines()
    except Exception:  # py4j asks Java what to say, which may have ended
        lines = []
    # Of all lines of Java the first that has Spark's word for the reason; what stands before is who waited for it.
    told = next((line[found.start() :] for line in lines if (found := _REASON.search(line))), "")
    kind = BadExport if told.startswith(_UNREADABLE) else SparkFailed
    return kind(f"{what}: {told or ''.join(lines[:1]) or type(error).__name__}")


def _values(column: Any) -> list[Any]:
    """Return a column's values; times as text in UTC, to the microsecond."""
    pa, compute = needed("pyarrow", "A report"), needed("pyarrow.compute", "A report")
    if pa.types.is_timestamp(column.type):
        column = compute.strftime(column.cast(pa.timestamp("us", "UTC")), format="%Y-%m-%dT%H:%M:%SZ")
    values: list[Any] = column.to_pylist()
    return values
