"""`spark.read.format("lace")`: a vault without an export between, batch and streaming."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from spark_export.reader import VaultReader
from spark_export.schema import TABLES
from tests.people import Person

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _rows(person: Person, table: str) -> list[dict[str, Any]]:
    found = next(item for item in TABLES if item.name == table)
    with VaultReader(person.folder) as reader:
        return [row for batch in reader.batches(found) for row in batch.to_pylist()]


def test_every_table_is_what_the_store_says(spark: SparkSession, circle: tuple[Path, list[Person]]) -> None:
    """APP-8: no registration is needed, the module is found by the format's name."""
    alice = circle[1][0]
    for table in TABLES:
        source = spark.read.format("lace").option("table", table.name).option("partitions", "3")
        read = source.load(str(alice.folder))
        assert read.count() == len(_rows(alice, table.name)), table.name
        assert read.columns == [column.name for column in table.all_columns]


def test_a_session_of_sparks_own_reads_a_vault(spark: SparkSession, circle: tuple[Path, list[Person]]) -> None:
    """APP-8: the line of the README, where nothing was set; Spark refused a source that takes filters."""
    alice = circle[1][0]
    plain = spark.newSession()
    plain.conf.set("spark.sql.python.filterPushdown.enabled", "false")  # as Spark sets it
    read = plain.read.format("lace").load(str(alice.folder))
    wanted = sum(row["app"] == "lace/release" for row in _rows(alice, "records"))
    assert read.where("app = 'lace/release'").count() == wanted > 0


def test_filters_and_columns_are_pushed_down(spark: SparkSession, circle: tuple[Path, list[Person]]) -> None:
    alice = circle[1][0]
    wanted = sorted(row["hash"] for row in _rows(alice, "records") if row["app"] == "lace/release")
    for pushdown in ("true", "false"):
        source = spark.read.format("lace").option("columns", "hash, app,position").option("pushdown", pushdown)
        read = source.load(str(alice.folder)).where("app = 'lace/release' AND position > 0")
        assert sorted(row["hash"] for row in read.collect()) == wanted
        assert read.columns == ["position", "hash", "app"]
    trail = spark.read.format("lace").option("table", "audit").option("pushdown", "true").load(str(alice.folder))
    assert trail.where("position >= 10").count() == sum(row["position"] >= 10 for row in _rows(alice, "audit"))
    last = _rows(alice, "audit")[-1]["position"]
    assert trail.where(f"position IN (1, {last}, {last + 1})").count() == sum(
        row["position"] in {1, last} for row in _rows(alice, "audit")
    )


def test_wrong_options_are_named(spark: SparkSession, circle: tuple[Path, list[Person]], tmp_path: Path) -> None:
    source = spark.read.format("lace")
    folder = str(circle[1][0].folder)
    with pytest.raises(PySparkException, match="no table 'nonsense'"):
        source.option("table", "nonsense").load(folder).count()
    with pytest.raises(PySparkException, match="no column 'nonsense'"):
        spark.read.format("lace").option("columns", "nonsense").load(folder).count()
    with pytest.raises(PySparkException, match="no vault"):
        spark.read.format("lace").load(str(tmp_path)).count()


def _arrived(spark: SparkSession, person: Person, table: str, where: Path) -> list[str]:
    """Return the hashes of the rows that a stream into a directory has given so far, in order of hash."""
    source = spark.readStream.format("lace").option("table", table).option("columns", "position,hash")
    query = (
        source.load(str(person.folder))
        .writeStream.format("parquet")
        .option("path", str(where / table))
        .option("checkpointLocation", str(where / f"{table} checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return sorted(row["hash"] for row in spark.read.parquet(str(where / table)).collect())


def test_a_stream_gives_what_becomes_shared(spark: SparkSession, alice: Person, tmp_path: Path) -> None:
    """APP-8: it goes on where it stopped; a commit that it passed while nobody had it never came."""
    alice.write("a.txt", "a\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    tables = ("commits", "audit")
    for step in (("commit", "-m", "early"), ("release", "1.1.0"), ("commit", "-m", "kept back")):
        for table in tables:
            assert _arrived(spark, alice, table, tmp_path) == sorted(row["hash"] for row in _rows(alice, table))
        alice.write("a.txt", f"{step}\n")
        alice.lace(*step)
    for table in tables:
        assert _arrived(spark, alice, table, tmp_path) == sorted(row["hash"] for row in _rows(alice, table))
