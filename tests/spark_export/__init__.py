"""Tests of the export, the data source and the audits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from spark_export.audits import AUDITS
from spark_export.reader import Scope, VaultReader
from spark_export.reports import Report, open_exports, run
from spark_export.schema import table_named
from spark_export.session import java_options
from tests.people import Person

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["QUICK_JAVA", "SETTINGS", "every_report", "meet", "rows_of", "sync"]

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


def rows_of(person: Person, table: str, *, unshared: bool = False) -> list[dict[str, object]]:
    """Return the rows of a table of somebody's vault."""
    wanted = table_named(table)
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
