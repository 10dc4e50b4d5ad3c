"""Tests of the export, the data source and the audits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow.parquet as pq

from spark_export.audits import AUDITS
from spark_export.reader import Scope, VaultReader
from spark_export.reports import Report, open_exports, run
from spark_export.schema import table_named
from spark_export.session import java_options
from tests.people import Person

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["QUICK_JAVA", "SETTINGS", "begin", "bytes_below", "every_report", "meet", "release_text", "rows_of", "sync"]
__all__ += ["table"]

# A test asks its question once, so code that Java compiles well is never run long enough to pay for it: it took half of
# all processor time.
QUICK_JAVA: Final = {"JDK_JAVA_OPTIONS": f"{java_options(0)} -XX:+UseSerialGC"}

# Spark writes a Java program for each query, which is compiled for a few rows, and plans anew after each step: a fourth
# of all processor time. Here it walks through its first plan; that both give the same is what `test_masters` proves.
SETTINGS: Final = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def every_report(spark: SparkSession, directory: Path) -> dict[str, Report]:
    """Run every audit over the exports in a directory."""
    open_exports(spark, [directory])
    return {audit.name: run(spark, audit) for audit in AUDITS}


def rows_of(person: Person, name: str, *, unshared: bool = False) -> list[dict[str, object]]:
    """Return the rows of a table of somebody's vault."""
    wanted = table_named(name)
    assert wanted is not None
    with VaultReader(person.folder, Scope(unshared=unshared)) as reader:
        return [row for batch in reader.batches(wanted) for row in batch.to_pylist()]


def meet(alice: Person, bob: Person, stick: Path) -> None:
    """Let somebody join who meets the other on a stick."""
    alice.lace("place", "add", "stick", str(stick))
    invite = alice.lace("invite", bob.name)["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", invite, "--name", bob.name)
    sync(alice, bob)


def sync(*people: Person) -> None:
    """Let each know what all others know."""
    for person in (*people[::-1], *people[::-1]):
        person.run("sync", "--all")


def table(directory: Path, name: str) -> list[dict[str, object]]:
    """Return the rows of one file of an export."""
    rows: list[dict[str, object]] = pq.read_table(directory / name).to_pylist()
    return rows


def bytes_below(directory: Path) -> dict[str, bytes]:
    """Return the bytes of all files below a directory, by path."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def release_text(person: Person, version: str, text: str) -> None:
    """Write a text and release it."""
    person.write("a.txt", text)
    person.lace("release", version)


def begin(person: Person) -> None:
    """Let somebody begin a group with one release."""
    person.write("a.txt", "0\n")
    person.lace("init", "--name", person.name)
    person.lace("release", "1.0.0")
