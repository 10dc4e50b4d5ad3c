"""`lace quarantine`: what was refused, and a second judgement of it (LAZ-71)."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from lace_tui.cli.context import Context
from lace_tui.cli.inert import inert
from lace_tui.cli.output import Answer, Paint
from lazy.receiving.quarantine import QUARANTINE_BYTES, Quarantined, drop, quarantined
from lazy.receiving.readmit import readmit

__all__ = ["configure", "run"]

_SHOWN = 50


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the hash to judge again or to drop."""
    if verb != "quarantine":
        parser.add_argument("hash", metavar="HASH", help="a refused record's hash, or the beginning of it")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says.

    Raises:
        NotInQuarantine: no refused record has this hash.
        SignerStillStrange: a record's signer is no member.
    """
    with context.open_vault() as vault:
        match context.verb:
            case "quarantine admit":
                found, stored = readmit(vault, args.hash)
                told = "is here now." if stored else "is forgotten as refused; the next sync asks for it again."
                return Answer({"hash": found.hash, "stored": stored}, f"{found.hash} {told}")
            case "quarantine drop":
                found = drop(vault, args.hash)
                return Answer({"hash": found.hash, "dropped_bytes": found.size}, f"{found.hash} is dropped.")
            case _:
                return _list(quarantined(vault))


def _list(found: list[Quarantined]) -> Answer:
    size = sum(one.size for one in found)

    def text(paint: Paint) -> str:
        if not found:
            return "Nothing was refused."
        lines = []
        for one in found[:_SHOWN]:
            what = f"{one.app} {one.name}, {one.size} bytes kept" if one.size else "not kept"
            lines.append(f"{paint.strong(one.hash)}  from {inert(one.source)}: {inert(what)}")
            lines.append(f"    {inert(one.reason)} ({inert(one.code)})")
        if len(found) > _SHOWN:
            lines.append(f"{len(found) - _SHOWN} more: lace --json quarantine")
        lines.append(f"{len(found)} refused; {size} of at most {QUARANTINE_BYTES} bytes kept.")
        return "\n".join(lines)

    return Answer({"quarantine": [asdict(one) for one in found], "bytes": size, "limit": QUARANTINE_BYTES}, text)
