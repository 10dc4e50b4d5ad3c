"""`why`: what was decided about one record, and by which rule."""

from __future__ import annotations

import argparse

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.verbs.links import missing_data
from lace_tui.words.inert import inert
from lazy.visits.parcels import named
from lazy.why import Decision, Why, why

__all__ = ["configure", "run"]

_SAID = {
    Decision.SHARED: "here, and shared with the group",
    Decision.KEPT: "here, and not shared",
    Decision.PRIVATE: "here, and never shared",
    Decision.MISSING: "missing here",
    Decision.REFUSED: "refused",
}


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the record."""
    del verb
    parser.add_argument("hash", metavar="HASH", help="a record's whole hash text, or the address //GROUP//APP//NAME")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Say it.

    Raises:
        NoSuchRecord: it is not here, and nothing here names it.
        SeveralRecords, BadAddress: an address that names no one record.
    """
    with context.open_vault() as vault, context.watching() as watch:
        found = why(vault, named(vault, args.hash), watch)
    data = {
        "hash": found.record,
        "decision": found.decision,
        "reason": found.reason,
        "rule": found.rule,
        "path": [{"hash": step.hash, "what": step.what} for step in found.path],
        "lacks": missing_data(found.lacks) if found.lacks is not None else None,
    }
    return Answer(data, lambda paint: _text(found, paint))


def _text(found: Why, paint: Paint) -> str:
    lines = [f"{paint.strong(found.record.text)} is {_SAID[found.decision]}.", inert(found.reason)]
    if found.path:
        lines.append("The way to it:")
        width = max(len(step.what) for step in found.path)
        lines += [f"  {inert(step.what).ljust(width)}  {step.hash}" for step in found.path]
    lines.append(f"The rule: {inert(found.rule)}")
    return "\n".join(lines)
