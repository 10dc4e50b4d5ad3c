"""Export: the history as tables, and the questions it answers (APP-4, APP-8, APP-9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from textual.binding import BindingType

from lace_tui.actions import Scope
from lace_tui.cli.inert import inert
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Page, Question
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.screens.place import bindings_of
from spark_export.audits import AUDITS
from spark_export.export import Exported, export
from spark_export.reader import VaultReader
from spark_export.schema import TABLES
from vault.vault import Vault
from vault.work import Watch

__all__ = ["Export"]


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
            self.app.push_screen(Question("Export", text, str(folder.parent / "history")), self._export)

    def _export(self, where: str | None) -> None:
        if not where:
            return
        target = Path(where).expanduser()

        def do(vault: Vault, watch: Watch) -> Exported:
            with VaultReader(vault.folder) as reader:
                return export(reader, target, progress=watch.progress, cancelled=watch.cancelled)

        self.lace.begin("Export", do, lambda done: self._exported(done, where), f"lace export {where}")

    def _exported(self, done: Exported, where: str) -> Card:
        self._counts = done.tables
        self.show({})
        lines = [mark(f"= {len(done.written)} files written, {done.kept} kept as they were", GOOD)]
        lines.append(mark(f"next: lace report all --input {where}", NOTE))
        self.app.push_screen(Page("Exported", [*lines, *_table_lines(done)]))
        return Card(f"Export: {inert(where)}", tuple(lines))


def _table_lines(done: Exported) -> list[Any]:
    return [mark(f"  {name:<14}{rows:>10,}") for name, rows in done.tables.items()]
