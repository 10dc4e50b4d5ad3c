"""`lace rules`: look at a rule program, and try it on facts before anybody relies on it (FAC-8..12)."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.words.inert import inert
from lazy.people import members
from vault.files import read_bounded
from vault.rules import (
    FactSource,
    StoreFacts,
    TupleFacts,
    check,
    evaluate,
    format_facts,
    parse_facts,
    parse_program,
)
from vault.rules.check import Checked
from vault.rules.compose import compose
from vault.rules.parse import MAX_PROGRAM_BYTES

__all__ = ["configure", "run"]

_MAX_FACT_BYTES = 64 * 1024 * 1024  # a fact block of an exchange has no more


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    several = "+" if verb == "rules check" else 1
    parser.add_argument("file", nargs=several, metavar="FILE", help="the program")
    if verb == "rules eval":
        parser.add_argument("--query", required=True, metavar="PRED", help="the predicate to list")
        parser.add_argument("--facts", metavar="FILE", help="lines of facts to use instead of this vault's records")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    programs = [check(parse_program(read_bounded(context.cwd / file, MAX_PROGRAM_BYTES))) for file in args.file]
    checked = programs[0]
    if len(programs) > 1:
        checked = check(parse_program(compose(program.text for program in programs)))
        return _check(checked, shows=True)
    return _check(checked) if context.verb == "rules check" else _eval(context, checked, args.query, args.facts)


def _check(checked: Checked, *, shows: bool = False) -> Answer:
    """Name a program; one that was composed is shown too: it is what selects what all of several select (FAC-20)."""

    def text(paint: Paint) -> str:
        lines = [f"{number}  {' '.join(stratum)}" for number, stratum in enumerate(checked.strata, 1)]
        if not checked.is_monotonic:
            lines.append("It negates: what it selects in a sync may depend on the order in which records came.")
        lines += checked.text.splitlines() if shows else []
        return "\n".join([paint.strong(checked.id), *map(inert, lines)])

    data = {"id": checked.id, "monotonic": checked.is_monotonic, "strata": checked.strata, "program": checked.text}
    return Answer(data, text)


def _eval(context: Context, checked: Checked, query: str, facts: str | None) -> Answer:
    with context.cancellable() as token:
        source = _given(context.cwd / facts) if facts else _of_vault(context)
        found = evaluate(checked, source, queries=[query], clock=context.world.monotonic, check=token.check)[query]
    lines = format_facts(query, found)
    return Answer({"id": checked.id, "query": query, "tuples": sorted(found)}, "\n".join(_harmless(lines)))


def _given(path: Path) -> FactSource:
    return TupleFacts(parse_facts(read_bounded(path, _MAX_FACT_BYTES)))


def _of_vault(context: Context) -> FactSource:
    """Return the record facts of the vault here, with who this is and who belongs."""
    with context.open_vault() as vault:
        belong = [(member.node,) for member in members(vault)]
        return StoreFacts(vault.store.path, {"Here": [(vault.node.text,)], "Member": belong})


def _harmless(lines: Iterable[str]) -> list[str]:
    return [inert(line) for line in lines]
