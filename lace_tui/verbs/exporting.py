"""`export` and `report`: the history as tables, and what a group asks of them (APP-8, APP-9)."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lace_tui.acts.stopping import stopped_at_once
from lace_tui.cli.context import Context
from lace_tui.cli.folder import note_inside, place_of, target_of
from lace_tui.cli.output import Answer, Paint
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lace_tui.words.left_out import LeftOut, lacking, left_line, left_out
from lazy.people import label_of
from lazy.visits.carry import FileExists
from spark_export.audits import AUDITS, Audit
from spark_export.export import Exported, export
from spark_export.inputs import Inputs, exports_in
from spark_export.reader import Scope, VaultReader
from spark_export.reports import Report, audit_called, open_exports
from spark_export.reports import run as run_audit
from vault.commands import as_option
from vault.files import write_atomic
from vault.plural import bytes_text
from vault.vault import NoVault

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from vault.records import RecordHash

__all__ = ["configure", "csv_of", "rows_text", "run"]

_ALL = "all"
_NAMES_HINT = "For example: lace report releases - the names are listed by: lace report"
_SHOWN_ROWS = 50


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb == "export":
        parser.add_argument("directory", metavar="DIR", help="where; may hold exports of others of the group")
        parser.add_argument("--unshared", action="store_true", help="also what you have not released yet")
        parser.add_argument("--dry-run", action="store_true", help="count the rows of each table; write nothing")
        parser.add_argument("--details", action="store_true", help="also what your audit entries are about")
        return
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="one of --list, or all")
    parser.add_argument("--list", action="store_true", help="list the reports")
    parser.add_argument(
        "--input", action="append", default=[], metavar="DIR", help="a directory of exports (this vault)"
    )
    parser.add_argument("--master", default="", metavar="URL", help="a Spark master (this machine)")
    parser.add_argument("--remote", default="", metavar="URL", help="a Spark Connect server, sc://HOST:PORT")
    parser.add_argument("--html", default="", metavar="FILE", help="write every report as one page")
    parser.add_argument("--csv", default="", metavar="FILE", help="write the rows of the report")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    if context.verb == "export":
        return _export(context, args)
    lists = args.list or not (args.name or args.html)
    _refuse_unused(args, lists=lists)
    return _list() if lists else _report(context, args)


def _refuse_unused(args: argparse.Namespace, *, lists: bool) -> None:
    """Refuse what would have no effect: the list asks nothing, and Spark runs in one place."""
    if args.list and args.name:
        raise BadArguments("lace report: either a NAME or --list.")
    if lists:
        given = {"--input": args.input, "--master": args.master, "--remote": args.remote}
        given |= {"--html": args.html, "--csv": args.csv}
        for option in (name for name, value in given.items() if value):
            raise BadArguments(f"lace report: {option} goes with the NAME of a report.", hint=_NAMES_HINT)
    if args.master and args.remote:
        raise BadArguments("lace report: either --master or --remote.")


# Export


def _export(context: Context, args: argparse.Namespace) -> Answer:
    scope = Scope(unshared=args.unshared, details=args.details)
    if args.dry_run:
        return _counted(context, scope)
    directory = target_of(context, args.directory)
    done = _exported(context, directory, scope)
    note_inside(context, directory)
    return Answer(
        {
            "tables": done.tables,
            "files_written": len(done.written),
            "files_kept": done.kept,
            "bytes_written": done.bytes_written,
            "problems": _problems(done.damaged),
        },
        lambda paint: _tables_text(done, args.directory, paint),
        exit_code=1 if done.damaged else 0,
    )


def _problems(damaged: Set[RecordHash]) -> list[dict[str, str]]:
    problems = [lacking(damaged)] if damaged else []
    return [{"code": one.code, "message": one.message, "hint": one.hint} for one in problems]


def _lacking_lines(damaged: Set[RecordHash]) -> list[str]:
    return [f"! {one['message']} {one['hint']}" for one in _problems(damaged)]


def _counted(context: Context, scope: Scope) -> Answer:
    with VaultReader(_folder(context), scope) as reader, context.watching() as watch, reader.snapshot():
        counts = reader.counts(watch.cancelled)
        damaged = frozenset(reader.lacking.values())
    lines = [*(f"{name:<12} {rows:>10,}" for name, rows in counts.items()), *_lacking_lines(damaged)]
    data = {"tables": counts, "planned": True, "problems": _problems(damaged)}
    return Answer(data, "\n".join([*lines, "Nothing was written."]), exit_code=1 if damaged else 0)


def _folder(context: Context) -> Path:
    folder = context.find_vault()
    if folder is None:
        raise NoVault(f"There is no vault in {context.cwd} or above.")
    return folder


def _exported(context: Context, directory: Path, scope: Scope) -> Exported:
    with VaultReader(_folder(context), scope) as reader, context.watching() as watch:
        return export(reader, directory, progress=watch.progress, cancelled=watch.cancelled)


def _tables_text(done: Exported, where: str, paint: Paint) -> str:
    lines = [f"{name:<12} {rows:>10,}" for name, rows in done.tables.items()]
    fresh = f"{len(done.written)} files written ({bytes_text(done.bytes_written)}), {done.kept} kept as they were."
    hint = paint.faint(
        f"Put the exports of all members into one directory, then: lace report all {inert(as_option('--input', where))}"
    )
    return "\n".join([*lines, fresh, *_lacking_lines(done.damaged), hint])


# Reports


def _list() -> Answer:
    lines = [f"{audit.name:<18} {audit.question}" for audit in AUDITS]
    data = [{"name": audit.name, "question": audit.question, "finds": audit.finds} for audit in AUDITS]
    return Answer({"reports": data}, "\n".join([*lines, f"{_ALL:<18} All of them."]))


def _report(context: Context, args: argparse.Namespace) -> Answer:
    everything = args.name in {"", _ALL}
    audits = list(AUDITS) if everything or args.html else [audit_called(args.name)]
    named = audits if everything else [audit_called(args.name)]
    if args.csv and len(named) != 1:
        raise BadArguments("lace report: --csv takes one report; name it.")
    html, table = (target_of(context, name) if name else None for name in (args.html, args.csv))
    _refuse_others(html, table, named[0])
    # Spark waits in calls of its own and looks at no wish to stop; nothing is written before it has answered.
    with _inputs(context, args.input) as directories, stopped_at_once():
        inputs = exports_in(directories)  # what is wrong with them is told before Spark starts
        with _session(context, args, inputs.size) as session:
            open_exports(session, inputs)
            reports = []
            for done, audit in enumerate(audits):
                with context.progress() as progress:
                    progress.report(done, len(audits), audit.name)
                    reports.append(run_audit(session, audit))
    _refuse_others(html, table, named[0])  # meanwhile somebody may have written there
    left = _left_out(context, inputs)
    if html:
        _write_html(html, inputs, reports, [*map(left_line, left), *inputs.doubts])
    shown = [report for report in reports if report.audit in named]
    if table:
        write_atomic(table, csv_of(shown[0]).encode())
    for path in (html, table):
        if path:
            note_inside(context, path)
    written = [name for name in (args.html, args.csv) if name]
    return _answer(shown, left, inputs.doubts, everything=everything, written=written)


@contextlib.contextmanager
def _inputs(context: Context, given: Sequence[str]) -> Iterator[list[Path]]:
    """Give the directories to read; without any, this vault is exported to a passing one."""
    if given:
        yield [place_of(context, name) for name in given]
        return
    with tempfile.TemporaryDirectory(prefix="lace-report-") as scratch:
        for line in _lacking_lines(_exported(context, Path(scratch), Scope()).damaged):
            context.say(line)
        yield [Path(scratch)]


def _session(context: Context, args: argparse.Namespace, size: int) -> contextlib.AbstractContextManager[SparkSession]:
    from spark_export.session import spark_session  # the list of reports needs no Spark

    context.say("Starting Spark; this takes a few seconds.")
    # Spark's launcher reads the environment of the process and no other.
    return spark_session(os.environ, master=args.master, remote=args.remote, progress=context.is_terminal, size=size)


def _refuse_others(page: Path | None, table: Path | None, audit: Audit) -> None:
    """Refuse to write over anything but a report that lace wrote: what lies there may be there only.

    Raises:
        FileExists: so it is, or what lies there is no plain file.
    """
    from spark_export.html import BEGINNING

    if page is not None and not _may_be_replaced(page, BEGINNING):
        raise FileExists(f"{page} exists already, and is no page of lace report.")
    if table is not None and (table == page or not _may_be_replaced(table, _head(audit.columns.split()))):
        raise FileExists(f"{table} exists already, and is no table of lace report {audit.name}.")


def _may_be_replaced(path: Path, beginning: str) -> bool:
    """Tell whether nothing lies there, or a plain file that begins so."""
    if not os.path.lexists(path):  # where it may not be looked at, writing it says so
        return True
    try:
        if not stat.S_ISREG(path.lstat().st_mode):  # a pipe would keep its reader waiting, a link leads elsewhere
            return False
        with path.open("rb") as file:
            return file.read(len(beginning)) == beginning.encode()
    except OSError:
        return False


def _write_html(path: Path, inputs: Inputs, reports: Sequence[Report], notes: Sequence[str]) -> None:
    from spark_export.html import page

    group, is_whole = inputs.read[0].manifest.group, not (inputs.broken or inputs.doubled)
    pieces = page(group, reports, exporters=len(inputs.read), notes=notes, is_whole=is_whole)
    write_atomic(path, "".join(pieces).encode())


def csv_of(report: Report) -> str:
    """Return the rows of a report for a spreadsheet."""
    sink = io.StringIO()
    sink.write(_head(report.columns))
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerows([[_cell(value) for value in row] for row in report.rows])
    return sink.getvalue()


def _head(columns: Sequence[str]) -> str:
    """Return the first line of a table; a column's name holds nothing that would have to be quoted."""
    return f"{','.join(columns)}\n"


def _flat(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _cell(value: Any) -> Any:
    """Return a value for a spreadsheet, which would run a text that begins like a formula; names come from others."""
    if not isinstance(value, (str, list)):
        return value
    text = _flat(value)
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


def _left_out(context: Context, inputs: Inputs) -> list[LeftOut]:
    """Return the exports that were not read; whose they are is known by name where a vault is."""
    if not (inputs.left_out or inputs.broken) or context.find_vault() is None:
        return left_out(inputs)
    with context.open_vault() as vault:
        return left_out(inputs, partial(label_of, vault))


def _answer(
    reports: Sequence[Report],
    left: Sequence[LeftOut],
    doubts: Sequence[str],
    *,
    everything: bool,
    written: Sequence[str],
) -> Answer:
    findings = sum(report.findings for report in reports)
    data: dict[str, Any] = {
        "findings": findings,
        "left_out": [one._asdict() for one in left],
        "doubts": list(doubts),
    }
    if everything:
        data["reports"] = {report.audit.name: report.as_objects() for report in reports}
    else:
        data |= {"report": reports[0].audit.name, "rows": reports[0].as_objects()}
    if written:
        data["written"] = list(written)
    heads = [*map(left_line, left), *doubts]
    return Answer(data, lambda paint: _reports_text(heads, reports, written, paint), exit_code=1 if findings else 0)


def _reports_text(heads: Sequence[str], reports: Sequence[Report], written: Sequence[str], paint: Paint) -> str:
    blocks = [*heads]
    for report in reports:
        head = paint.strong(report.audit.question)
        blocks.append("\n".join([head, *rows_text(report, paint)]))
    blocks += [f"Written: {inert(name)}" for name in written]
    return "\n\n".join(blocks)


def rows_text(report: Report, paint: Paint) -> Iterator[str]:
    """Return the rows of a report as lines."""
    audit: Audit = report.audit
    if not report.rows:
        yield paint.good("= nothing found") if audit.finds else "nothing to show"
        return
    sign = paint.bad("! ") if audit.finds else "  "
    for row in report.rows[:_SHOWN_ROWS]:
        told = dict(zip(report.columns, row, strict=True))
        proof = told.pop("proof", None)
        yield sign + "  ".join(f"{name} {inert(_flat(value))}" for name, value in told.items() if value is not None)
        if audit.finds and proof:
            yield from (paint.faint(f"    {inert(word)}") for word in str(proof).split())
    if len(report.rows) > _SHOWN_ROWS:
        yield f"  and {len(report.rows) - _SHOWN_ROWS} more; all of them with --json or --csv FILE"
