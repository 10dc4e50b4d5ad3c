"""The questions a group asks of its history: each a SQL text beside this file, and a line in this table."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

__all__ = ["AUDITS", "Audit", "audit_named", "sql_of"]


class Audit(NamedTuple):
    """One question.

    Args:
        name: what it is called after `lace report`.
        question: as a person would ask it.
        finds: whether each row is a finding that somebody should look at; else the rows are the answer.
        columns: what its rows hold, in order, one space between.
    """

    name: str
    question: str
    finds: bool
    columns: str


AUDITS: Final = (
    Audit(
        "releases",
        "Who released what, when, and who has it?",
        finds=False,
        columns="desk version released_by released message holders seq proof",
    ),
    Audit(
        "signatures",
        "Is every sealed record what it says, and signed by whom it says?",
        finds=True,
        columns="signed_as app problem found_in proof",
    ),
    Audit(
        "equivocation",
        "Did somebody tell different friends different things under one number?",
        finds=True,
        columns="member node seq versions proof",
    ),
    Audit(
        "gaps",
        "Which log entries does nobody have, though later ones are here?",
        finds=True,
        columns="member node first_missing last_missing proof",
    ),
    Audit(
        "missing",
        "Which records do shared records name that nobody has?",
        finds=True,
        columns="missing proof named_as members",
    ),
    Audit(
        "lacking",
        "What does a member lack that others have?",
        finds=False,
        columns="member app records bytes proof",
    ),
    Audit(
        "vectors",
        "How far does each member have every log?",
        finds=False,
        columns="member about seq forked proof",
    ),
    Audit(
        "divergence",
        "Where do members see different things?",
        finds=False,
        columns="member about has newest relation proof",
    ),
    Audit(
        "conflicts",
        "Which versions were released with different contents, and how was it settled?",
        finds=False,
        columns="desk version releases contents released_by state decided_by decided ended_by proof",
    ),
    Audit(
        "silent-conflicts",
        "Which conflicts does somebody hold both sides of without being told?",
        finds=True,
        columns="member desk version contents proof",
    ),
    Audit(
        "membership",
        "Who came and went, and who let them in?",
        finds=False,
        columns="member node depth admitted_by since last_seq revoked_by known_by proof",
    ),
    Audit(
        "propagation",
        "How long did each release take to each member, and by which road?",
        finds=False,
        columns="desk version released_by arrived_at road released arrived seconds proof",
    ),
    Audit(
        "chains",
        "Is every audit trail whole, as its vault shows it?",
        finds=True,
        columns="member node number problem proof",
    ),
    Audit(
        "rollback",
        "Whose vault is behind what others already have of it?",
        finds=True,
        columns="member node has others_have proof",
    ),
    Audit(
        "storage",
        "Who fills the space, and in which desk?",
        finds=False,
        columns="member desk contents bytes",
    ),
    Audit(
        "endangered",
        "Which records would be lost with one vault?",
        finds=False,
        columns="member app records bytes proof",
    ),
)

_BY_NAME: Final = {audit.name: audit for audit in AUDITS}


def audit_named(name: str) -> Audit | None:
    """Return an audit, or None when there is none of this name."""
    return _BY_NAME.get(name)


@cache
def sql_of(audit: Audit) -> str:
    """Return the SQL text of an audit, in Spark's dialect, over the tables of `spark_export.schema` as views."""
    return files(__name__).joinpath(f"{audit.name}.sql").read_text(encoding="utf-8")
