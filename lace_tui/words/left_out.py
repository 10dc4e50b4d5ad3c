"""What an export lacks, and exports that a report leaves out, in words: older and broken ones (APP-8, APP-9)."""

from __future__ import annotations

from collections.abc import Callable, Set
from pathlib import Path
from typing import NamedTuple

from lace_tui.words.inert import inert
from lazy.problems import Problem, damaged_here
from spark_export.inputs import Inputs
from vault.records import RecordHash

__all__ = ["LeftOut", "lacking", "left_line", "left_out"]


def lacking(damaged: Set[RecordHash]) -> Problem:
    """Return what is to be said of records that are damaged here, so that tables lack what they say (REC-5)."""
    return damaged_here(damaged, ", and the tables lack what follows from that")


class LeftOut(NamedTuple):
    """An export that was not read, and why not.

    Args:
        exporter: whose it is; empty where its manifest is broken.
        name: what they are called here.
        directory: where it lies.
        read: where the one of theirs lies that was read; None where it is broken.
        problem: what is broken, as a sentence.
        newer_key: verifier of the key that its vault went on under, and is read under; empty where it did not.
    """

    exporter: str
    name: str
    directory: Path
    read: Path | None
    problem: str = ""
    newer_key: str = ""


def left_out(inputs: Inputs, name_of: Callable[[str], str] = lambda _: "") -> list[LeftOut]:
    """Return the exports that were not read.

    Args:
        inputs: what the report is over.
        name_of: returns what an exporter is called here; empty where that is not known.
    """
    older = [
        LeftOut(
            old.manifest.exporter,
            name_of(old.manifest.exporter),
            old.directory,
            new.directory,
            newer_key=new.manifest.exporter if new.manifest.exporter != old.manifest.exporter else "",
        )
        for old, new in inputs.left_out
    ]
    return older + [
        LeftOut(one.exporter, name_of(one.exporter) if one.exporter else "", one.directory, None, one.problem)
        for one in inputs.broken
    ]


def left_line(one: LeftOut) -> str:
    """Return why one was not read, as a sentence."""
    who, where = inert(one.name) or one.exporter, inert(str(one.directory))
    if one.read is None:
        whose = f"the export of {who}" if who else "an export"
        return f"Left out: {whose} in {where}, for it is broken. {inert(one.problem)}"
    if one.newer_key:
        there = "there too" if one.read == one.directory else f"in {inert(str(one.read))}"
        went_on = f"its vault went on as {one.newer_key}, whose export lies {there} and is read"
        return f"Left out: the export of {who} in {where}, for {went_on}."
    return f"Left out: an export in {where}, for {inert(str(one.read))} has one of {who} that is no older."
