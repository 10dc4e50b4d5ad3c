"""`lace quarantine`: what was refused, and a second judgement of it (LAZ-71)."""

from __future__ import annotations

import argparse
from functools import partial

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint, times
from lace_tui.cli.unanswered import answered_once
from lace_tui.words.inert import inert
from lazy.folder.unanswered import AGAIN, note_answer, unanswered
from lazy.receiving.quarantine import QUARANTINE_BYTES, Quarantined, drop, quarantined
from lazy.receiving.readmit import readmit
from vault.plural import bytes_text
from vault.records import RecordHash, Tai
from vault.records.errors import TaiError
from vault.vault import Vault
from vault.writer import Writer

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
    if context.verb == "quarantine admit":
        return answered_once(context, partial(_admit, context, args.hash))
    with context.open_vault() as vault:
        return _drop(vault, args.hash) if context.verb == "quarantine drop" else _list(quarantined(vault))


def _admit(context: Context, text: str, vault: Vault) -> Answer:
    known = unanswered(vault, context.verb, [text])
    if known is None or any(one.hash.startswith(text) for one in quarantined(vault)):  # refused again, or another one

        def note(w: Writer, found: Quarantined) -> None:
            note_answer(w, vault, context.verb, [text], {"hash": found.hash})

        known, found = None, readmit(vault, text, noted=note)[0].hash
    else:
        found = str(known["hash"])
    stored = vault.store.stored(RecordHash.parse(found)) is not None
    told = "is here now." if stored else "is forgotten as refused; the next sync asks for it again."
    lines = [f"{found} {told}", *([AGAIN] if known else [])]
    return Answer({"hash": found, "stored": stored, "already": known is not None}, "\n".join(lines))


def _drop(vault: Vault, text: str) -> Answer:
    found = drop(vault, text)
    told = "is dropped." if found.size else "is not kept: only that it was refused is remembered."
    return Answer({"hash": found.hash, "dropped_bytes": found.size, "already": not found.size}, f"{found.hash} {told}")


def _list(found: list[Quarantined]) -> Answer:
    size = sum(one.size for one in found)

    def text(paint: Paint) -> str:
        if not found:
            return "Nothing was refused."
        lines = []
        for one in found[:_SHOWN]:
            what = f"{one.app} {one.name}, {bytes_text(one.size)} kept" if one.size else "not kept"
            lines.append(f"{paint.strong(one.hash)}  from {inert(one.source)}: {inert(what)}")
            lines.append(f"    {inert(one.reason)} ({inert(one.code)})")
        if len(found) > _SHOWN:
            lines.append(f"{len(found) - _SHOWN} more: lace --json quarantine")
        lines.append(f"{len(found)} refused; {bytes_text(size)} of at most {bytes_text(QUARANTINE_BYTES)} kept.")
        return "\n".join(lines)

    rows = [one._asdict() | _times(one.tai) for one in found]
    return Answer({"quarantine": rows, "bytes": size, "limit": QUARANTINE_BYTES}, text)


def _times(text: str) -> dict[str, str | None]:
    try:
        return dict(times(Tai.parse(text)))
    except TaiError:  # the cell rotted; what was refused is told all the same
        return {"tai": text, "time": None}
