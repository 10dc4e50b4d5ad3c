"""Export: the history as tables, and the questions it answers (APP-4, APP-8, APP-9)."""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from textual.binding import BindingType
from textual.content import Content

from lace_tui.acts.typed import place_from
from lace_tui.keys.actions import Scope, action_named
from lace_tui.keys.bindings import bindings_of
from lace_tui.keys.keymap import shown_keys
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Page, Question
from lace_tui.screens.host import Refused
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.words.folder import sharing_note
from lace_tui.words.inert import inert
from lace_tui.words.left_out import LeftOut, lacking, left_line, left_out
from lazy.people import label_of
from spark_export.audits import AUDITS
from spark_export.export import Exported, export
from spark_export.inputs import exports_in
from spark_export.reader import VaultReader
from spark_export.reports import Report, audit_called, open_exports, run
from spark_export.schema import TABLES
from spark_export.session import spark_session
from vault.commands import as_option, as_typed
from vault.plural import plural
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Export"]

_MOST_ROWS = 500


class _Answer(NamedTuple):
    """What a report answered, the exports that it left out, and what is doubtful about others, as sentences."""

    report: Report
    left: tuple[LeftOut, ...]
    doubts: tuple[str, ...]


class Export(Listing):
    """The tables and the reports."""

    SCOPE = Scope.EXPORT
    TITLE = "Tables and reports"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.EXPORT)

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}

    def read(self, vault: Vault) -> dict[str, int]:
        """Count nothing: what there is to export is known without the vault."""
        return {}

    def show(self, value: dict[str, int]) -> None:
        """Show the tables and the reports."""
        rows = [("", mark("Tables that an export writes", STRONG))]
        for table in TABLES:
            count = f"{self._counts[table.name]:>10,}" if table.name in self._counts else f"{'':>10}"
            rows.append((f"table {table.name}", mark(f"  {table.name:<14}{count}  ") + mark(table.sentence, QUIET)))
        rows += [("", mark("")), ("", mark("Questions, over the exports of all members (they need Spark)", STRONG))]
        for audit in AUDITS:
            rows.append((f"report {audit.name}", mark(f"  {audit.name:<24}  ") + mark(audit.question, QUIET)))
        self.fill(rows)

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected table or report."""
        kind, _, name = self.lines.key.partition(" ")
        if kind == "table":
            table = next(table for table in TABLES if table.name == name)
            columns = [f"  {column.name:<16}{column.kind:<10}{column.sentence}" for column in table.all_columns]
            read = f'spark.read.format("lace").option("table", "{name}").load("{self.lace.folder}")'
            return f"Table {name}", (table.sentence, *columns, "", "In a notebook:", read), "lace export DIR"
        if kind == "report":
            audit = next(audit for audit in AUDITS if audit.name == name)
            return f"Report {name}", (audit.question,), f"lace report {name}"
        return "", (), ""

    def action_export(self) -> None:
        """Ask where, and export."""
        folder = self.lace.folder
        if folder is not None:
            text = "Where? The directory may hold exports of other members of the group."
            self.lace.put(Question("Export", text, str(folder.parent / "history")), self._export)

    def _export(self, where: str | None, refused: Refused) -> None:
        if not where:
            return
        target = place_from(self.lace.here, where)

        def do(vault: Vault, watch: Watch) -> tuple[Exported, str]:
            with VaultReader(vault.folder) as reader:
                done = export(reader, target, progress=watch.progress, cancelled=watch.cancelled)
            return done, sharing_note(vault.folder.absolute(), target.absolute())

        to = str(target)
        command = as_typed("export", to)
        self.lace.begin("Export", do, lambda told: self._exported(told[0], told[1], to), command, refused)

    def action_count(self) -> None:
        """Count the rows of each table."""

        def do(vault: Vault, watch: Watch) -> dict[str, int]:
            with VaultReader(vault.folder) as reader, reader.snapshot():
                return reader.counts(watch.cancelled)

        self.lace.begin("Export: dry run", do, self._counted, "lace export DIR --dry-run")

    def _counted(self, counts: dict[str, int]) -> None:
        self._counts = counts
        self.show({})

    def action_report(self) -> None:
        """Ask over which exports, and answer the selected question; where none is selected, lead to them."""
        kind, _, name = self.lines.key.partition(" ")
        if kind != "report":
            key = shown_keys(action_named("report"), self.lace.taste.keys).split()[0]
            is_there = self.lines.go_to("report ")
            told = f"Select a question; {key} answers it." if is_there else "No question has the text of the filter."
            self.notify(told, markup=False)
            return
        text = "Over which exports? A directory; empty takes this vault alone."
        self.lace.put(Question(f"Report {name}", text, lacks=""), partial(self._report, name))

    def _report(self, name: str, where: str | None, refused: Refused) -> None:
        if where is None:
            return
        audit = audit_called(name)
        given = place_from(self.lace.here, where) if where else None

        def do(vault: Vault, watch: Watch) -> _Answer:
            with tempfile.TemporaryDirectory(prefix="lace-report-") as scratch:
                target = given or Path(scratch)
                if given is None:
                    with VaultReader(vault.folder) as reader:
                        export(reader, target, progress=watch.progress, cancelled=watch.cancelled)
                watch.progress(0, 0, "Spark begins")
                inputs = exports_in([target])
                size = inputs.size
                with spark_session(os.environ, size=size) as session:  # its launcher reads this process's environment
                    open_exports(session, inputs)
                    watch.cancelled()
                    watch.progress(0, 0, name)
                    left = tuple(left_out(inputs, partial(label_of, vault)))
                    return _Answer(run(session, audit), left, inputs.doubts)

        command = f"lace report {name}" + (f" {as_option('--input', str(given))}" if given else "")
        told = partial(self._reported, is_alone=given is None)
        self.lace.begin(f"Report: {name}", do, told, command, refused)

    def _reported(self, answer: _Answer, *, is_alone: bool) -> Card:
        found = answer.report
        answered = _answered(found)
        told = [mark(left_line(one), BAD if one.read is None else NOTE) for one in answer.left]
        answered[1:1] = [*told, *(mark(doubt, BAD) for doubt in answer.doubts)]
        if is_alone:  # a friend's copy is not counted, so that all would be lost with this vault
            answered.insert(1, mark("Over this vault alone: what only friends know or have is not in it.", NOTE))
        if self.is_active:
            self.app.push_screen(Page(f"Report {found.audit.name}", answered))
        text = f"{found.audit.name}: {plural(len(found.rows), 'row')}"
        style = BAD if found.findings else GOOD
        sign = "!" if found.findings else "="
        more = () if self.is_active else answered
        return Card("Report", (mark(f"{sign} {text}", style), *more), is_bad=bool(found.findings))

    def _exported(self, done: Exported, note: str, where: str) -> Card:
        self._counts = done.tables
        self.show({})
        lines = [mark(f"= {len(done.written)} files written, {done.kept} kept as they were", GOOD)]
        lines += [mark(f"! {note}", BAD)] if note else []
        problem = lacking(done.damaged) if done.damaged else None
        lines += [mark(f"! {problem.message} {problem.hint}", BAD)] if problem is not None else []
        asked = f"{self.key_of('report')} answers a question over it, or: lace report all {as_option('--input', where)}"
        lines.append(mark(f"next: {asked}", NOTE))
        if self.is_active:
            self.app.push_screen(Page("Exported", [*lines, *_table_lines(done)]))
        return Card(f"Export: {inert(where)}", tuple(lines), is_bad=bool(done.damaged))


def _answered(found: Report) -> list[Content]:
    """Return a report as lines: each row with its column names, findings with a sign."""
    lines = [mark(found.audit.question, STRONG), mark("")]
    if not found.rows:
        lines.append(mark("= nothing found", GOOD) if found.audit.finds else mark("nothing to show", QUIET))
    for row in found.rows[:_MOST_ROWS]:
        told = [(name, value) for name, value in zip(found.columns, row, strict=True) if value is not None]
        sign = mark("! ", BAD) if found.audit.finds else mark("  ")
        lines.append(sign + mark("  ".join(f"{name} {_flat(value)}" for name, value in told if name != "proof")))
        lines += [mark(f"    {_flat(value)}", QUIET) for name, value in told if name == "proof" and found.audit.finds]
    if len(found.rows) > _MOST_ROWS:
        lines.append(mark(f"and {len(found.rows) - _MOST_ROWS} more: lace report {found.audit.name} --csv FILE", QUIET))
    return lines


def _flat(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _table_lines(done: Exported) -> list[Any]:
    return [mark(f"  {name:<14}{rows:>10,}") for name, rows in done.tables.items()]
