"""`lace record verify`: judge a stream of stored records, one verdict a line (REC-82)."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from lace_tui.cli.context import Context
from lace_tui.cli.output import Paint
from lace_tui.words.inert import inert
from vault.errors import CallerError
from vault.files import FileMissing, Unreadable, reason_of
from vault.nodelog import ForkProof, proofs_in
from vault.plural import plural
from vault.records import RecordError
from vault.records.reader import Readable, Verdict, iter_records, iter_verdicts

__all__ = ["NoRecords", "configure", "run"]

_PROOF_BYTES = 1 << 20  # a file up to this size is looked through for proofs of forked logs


class NoRecords(CallerError):
    """A file or pipe that records were to be in is empty, so that nothing was verified."""

    code = "no-records"
    exit_code = 2
    hint = "See whether what should have written it came to its end, as: lace record export ADDRESS"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the file to read."""
    parser.add_argument(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="stored records, one after the other; standard input (-)",
    )


def run(context: Context, args: argparse.Namespace) -> int:
    """Print a verdict on each record and return 0, or the exit code of the first that is not valid.

    Raises:
        FileMissing, Unreadable: there is nothing to read.
        NoRecords: there is not one record.
    """
    name = "standard input" if args.file == "-" else args.file
    opener: AbstractContextManager[BinaryIO] = (
        nullcontext(context.world.stdin.buffer) if args.file == "-" else _open(context.cwd / args.file)
    )
    proofs = {} if args.file == "-" else _proofs(context.cwd / args.file)
    total = bad = code = 0
    with context.cancellable() as token, opener as file:
        for verdict in iter_verdicts(_Told(file, name)):
            token.check()
            total += 1
            if verdict.error is not None:
                bad += 1
                code = code or verdict.error.exit_code
            _print(context, verdict, proofs.get(verdict.hash))
    if not total:
        raise NoRecords(f"There is no record in {name}.")
    context.say(f"{plural(total, 'record')}, {bad} not valid.")
    return code


class _Told:
    """A file whose failures are told to a person."""

    def __init__(self, file: Readable, name: str) -> None:
        self._file = file
        self._name = name

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes."""
        try:
            return self._file.read(size)
        except OSError as error:
            raise Unreadable(f"{self._name} cannot be read: {reason_of(error)}.") from error


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise FileMissing(f"{path} does not exist.") from error
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {reason_of(error)}.") from error


def _proofs(path: Path) -> dict[str, ForkProof]:
    """Return the forks that a file proves, by the hash texts of the entries; none of what follows a bad record."""
    found: dict[str, ForkProof] = {}
    with _open(path) as file:
        if file.seek(0, 2) > _PROOF_BYTES:
            return found
        file.seek(0)
        try:
            for proof in proofs_in(iter_records(_Told(file, str(path)))):
                found[proof.first.hash.text] = found[proof.second.hash.text] = proof
        except RecordError:
            return found
    return found


def _print(context: Context, verdict: Verdict, proof: ForkProof | None) -> None:
    data: dict[str, Any] = {
        "hash": verdict.hash or None,
        "type": verdict.type or None,
        "ok": verdict.ok,
        "error": None
        if verdict.error is None
        else {"code": verdict.code, "message": verdict.message, "hint": verdict.error.hint},
        "offset": verdict.offset,
        "length": verdict.length,
    }
    if proof is not None:
        other = next(seal.hash for seal in (proof.first, proof.second) if seal.hash.text != verdict.hash)
        data["fork"] = {"node": proof.node, "seq": proof.seq, "other": other}

    def text(paint: Paint) -> str:
        name = verdict.hash or f"at byte {verdict.offset}"
        if verdict.error is None:
            told = f"{paint.good('=')} {name}"
            if proof is not None:
                told += paint.warn(f" proves with the other that {proof.node} sealed two entries {proof.seq}")
            return told
        return f"{paint.bad('! not valid')} {name}: {inert(verdict.message)} ({verdict.code})"

    context.emit(data, text)
