"""`record show`, `record put` and `record export`: records as the bytes they are."""

from __future__ import annotations

import argparse

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.words.inert import inert, inert_lines
from lazy.visits.parcels import PutResult, export, put, show
from vault.records.errors import RecordError
from vault.vault import Vault

__all__ = ["configure", "run"]

_SHOWN_REFUSALS = 20


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what to show, put in or take out."""
    match verb:
        case "record show":
            parser.add_argument(
                "hash", metavar="HASH", help="a record's whole hash text, or the address //GROUP//APP//NAME"
            )
        case "record put":
            parser.add_argument("file", metavar="FILE", help="stored records, one after the other")
        case _:
            parser.add_argument(
                "selector",
                metavar="SELECTOR",
                help="shared, forks, an App, DESK@VERSION, DESK@A..B, //GROUP//APP//NAME or a hash",
            )


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Do what the verb says.

    Raises:
        NoSuchRecord, SelectsNothing: nothing here answers to the words.
        RecordError: a file to put in holds something else than records.
    """
    with context.open_vault() as vault:
        match context.verb:
            case "record show":
                _out(context, show(vault, args.hash))
                return 0
            case "record put":
                return _put_in(context, vault, args.file)
            case _:
                with context.cancellable() as token, vault.store.reading():
                    for stored in export(vault, args.selector):
                        token.check()
                        _out(context, stored)
                return 0


def _put_in(context: Context, vault: Vault, name: str) -> Answer:
    try:
        with context.watching() as watch:
            return _put(put(vault, context.cwd / name, watch))
    except RecordError as error:
        raise type(error)(f"{name} cannot be put in: {error.message}.", hint=error.hint) from error


def _out(context: Context, stored: bytes) -> None:
    """Write bytes as they are; a terminal gets them harmless, since somebody else may have written them."""
    if context.world.stdout.isatty():
        lines = inert_lines(stored.decode("utf-8", "backslashreplace").removesuffix("\n"))
        stored = "\n".join([*lines, ""]).encode()
    context.write_bytes(stored)


def _put(result: PutResult) -> Answer:
    def text(paint: Paint) -> str:
        lines = [f"{len(result.received)} records put in, {result.known} were here before."]
        if result.unreached:
            lines.append(f"{result.unreached} left out: nothing that counts here reaches them.")
        lines += [
            f"{paint.bad('! refused')} {refusal.hash}: {inert(refusal.reason)} ({inert(refusal.code)})"
            for refusal in result.refused[:_SHOWN_REFUSALS]
        ]
        if len(result.refused) > _SHOWN_REFUSALS:
            lines.append(f"{paint.bad('! refused')} {len(result.refused) - _SHOWN_REFUSALS} more: lace audit list")
        return "\n".join(lines)

    return Answer(
        {
            "received": len(result.received),
            "received_hashes": result.received,
            "known": result.known,
            "unreached": result.unreached,
            "rejected_hashes": [{"hash": r.hash, "code": r.code, "reason": r.reason} for r in result.refused],
        },
        text,
        exit_code=1 if result.refused else 0,
    )
