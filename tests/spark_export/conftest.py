"""One real Spark session for all tests of this folder: on two cores, Java from wherever it is found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_export.reports import Report
from spark_export.session import spark_session
from tests.people import Person
from tests.spark_export import QUICK_JAVA, SETTINGS, every_report
from tests.spark_export.groups import Faults, Group, make_group

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


os.environ |= QUICK_JAVA  # the processes that tests start have it too


@pytest.hookimpl(tryfirst=True)  # before the groups are read, also when this folder alone is run
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # One process, one session: starting a second JVM costs more than running beside it gains.
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with spark_session(os.environ, master="local[2]", settings=SETTINGS) as session:
        yield session


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Group:
    return make_group(tmp_path_factory.mktemp("faulty"), faults=Faults.every())


@pytest.fixture(scope="session")
def faulty_reports(spark: SparkSession, faulty: Group) -> dict[str, Report]:
    """What every audit says of the faulty group, on two cores."""
    return every_report(spark, faulty.directory)


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Group:
    return make_group(tmp_path_factory.mktemp("honest"))


@pytest.fixture(scope="session")
def circle(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Person]]:
    """Alice and bob after a real day: two releases, a conflict, its resolution; exported by both."""
    root = tmp_path_factory.mktemp("circle")
    alice = Person("alice", root / "alice-home", root / "alice")
    bob = Person("bob", root / "bob-home", root / "bob")
    alice.write("song.txt", "one\n")
    alice.write("parts/bass.txt", "low\n")
    alice.lace("init", "--name", "alice", "--group", "band")
    alice.lace("release", "1.0.0", "-m", "first")
    alice.lace("place", "add", "stick", str(root / "stick"))
    invite = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", invite, "--name", "bob")
    bob.run("sync", "--all")
    alice.lace("sync", "stick")
    bob.run("sync", "--all")
    bob.lace("update")
    alice.write("song.txt", "alice\n")
    alice.lace("release", "1.1.0")
    bob.write("song.txt", "bob\n")
    bob.lace("release", "1.1.0")
    bob.write("unfinished.txt", "nobody may see this yet\n")
    bob.lace("commit", "-m", "a secret message")
    for person in (alice, bob, alice):
        person.run("sync", "--all")
    alice.lace("resolve", "1.1.0", "--prefer", "bob")
    for person in (alice, bob, alice):
        person.run("sync", "--all")
    for person in (alice, bob):
        person.lace("export", str(root / "history"))
    return root / "history", [alice, bob]
