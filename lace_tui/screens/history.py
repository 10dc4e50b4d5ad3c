"""History: every commit, release and decision, newest first; what each changed; the folder at any of them (APP-4)."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from textual.binding import BindingType
from textual.content import Content

from lace_tui.actions import Scope
from lace_tui.cli.difftext import Difference, tree_differences
from lace_tui.screens.dialogs import Page
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.screens.place import bindings_of
from lace_tui.view import ago
from lazy.address import ResolvedCommit
from lazy.log import LogLine, log_lines
from lazy.people import label_of
from vault.graph import nearest_below
from vault.history import commit_info
from vault.profile import Release, read
from vault.records import RecordHash, Seal, parse_record
from vault.vault import Vault

__all__ = ["History"]

LIMIT = 20_000  # lines read at once; beyond them a filter by command is quicker


class _View(NamedTuple):
    lines: tuple[LogLine, ...]
    names: dict[str, str]


class History(Listing):
    """The log."""

    SCOPE = Scope.HISTORY
    TITLE = "History"
    EMPTY = "Nothing happened yet: commit something, or sync."
    CAN_MARK = True
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.HISTORY)

    def __init__(self) -> None:
        super().__init__()
        self._view = _View((), {})
        self._by_key: dict[str, LogLine] = {}

    def read(self, vault: Vault) -> _View:
        """Read the newest lines."""
        with vault.store.reading():
            lines = log_lines(vault, limit=LIMIT)
            return _View(tuple(lines), {node: label_of(vault, node) for node in {line.node for line in lines}})

    def show(self, value: _View) -> None:
        """Show the lines."""
        self._view = value
        self._by_key = {str(line.hash): line for line in value.lines}
        self.fill([(key, self._line(line)) for key, line in self._by_key.items()])

    def _line(self, line: LogLine) -> Content:
        kind = line.app.removeprefix("lace/")
        what = line.name if kind in {"commit", "release", "resolution"} else ""
        style = GOOD if kind == "release" else NOTE if kind == "resolution" else ""
        head = mark(f"{ago(line.tai.to_utc_iso(), self.lace.now_ns):>14}  ", QUIET)
        head += mark(f"{self._view.names[line.node][:12]:<12} ", STRONG) + mark(f"{kind} {what}".rstrip(), style)
        return head + mark(f"  {line.message.partition(chr(10))[0]}")

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected entry."""
        line = self._by_key.get(self.lines.key)
        if line is None:
            return "", (), ""
        shared = f"entry {line.seq} of their log" if line.seq else "not shared"
        lines = (
            f"{line.app.removeprefix('lace/')} {line.name}",
            f"By: {self._view.names[line.node]}, {line.node}",
            f"When: {line.tai.to_utc_iso()} (for display; nothing is decided by it)",
            f"Shared: {shared}",
            *line.message.splitlines(),
            f"Record: {line.hash}",
        )
        return "An entry", lines, f"lace record show {line.hash}"

    def action_diff(self) -> None:
        """Show what the entry changed, or what lies between two marked ones."""
        chosen = self.lines.chosen
        if not 1 <= len(chosen) <= 2:
            self.notify("Mark two entries, or none.", markup=False)
            return
        self.lace.ask(lambda vault: _differences(vault, chosen), self._show_diff, "diff")

    def _show_diff(self, found: tuple[str, list[Difference]]) -> None:
        title, differences = found
        lines = [_painted(line) for difference in differences for line in difference.lines]
        self.app.push_screen(Page(title, lines or [mark("No file differs.", QUIET)]))


def _painted(line: str) -> Content:
    text = line.expandtabs()
    if text.startswith(("--- ", "+++ ")):
        return mark(text, STRONG)
    style = GOOD if text.startswith("+") else BAD if text.startswith("-") else NOTE if text.startswith("@@") else ""
    return mark(text, style)


def _differences(vault: Vault, keys: tuple[str, ...]) -> tuple[str, list[Difference]]:
    """Return a title and what differs: from the first to the second, or from an entry's parent to it."""
    commits = [_commit_of(vault, RecordHash.parse(key)) for key in keys]
    found = [commit_info(vault.store, commit) for commit in commits if commit is not None]
    if len(found) != len(keys):
        return "An entry without files", []
    if len(found) == 2:
        before, after = found[::-1]  # the list is newest first
        base: RecordHash | None = before.tree
        title = "From the older to the newer"
    else:
        (after,) = found
        below = nearest_below(vault.store, after.hash)
        base = commit_info(vault.store, below[0]).tree if below else None
        title = after.message.partition("\n")[0] or "No message"
    old = ResolvedCommit(after.hash, base, after.signer, after.desk, "before", None) if base else None
    new = ResolvedCommit(after.hash, after.tree, after.signer, after.desk, "after", None)
    return title, tree_differences(vault, old, new) if old else _all_added(vault, new)


def _commit_of(vault: Vault, record: RecordHash) -> RecordHash | None:
    stored = vault.store.stored(record)
    seal = parse_record(stored, verify=False) if stored else None
    if not isinstance(seal, Seal):
        return None
    value: Any = read(seal)
    if isinstance(value, Release):
        return value.commit
    return record if seal.plex.app == "lace/commit" else getattr(value, "result", None)


def _all_added(vault: Vault, new: ResolvedCommit) -> list[Difference]:
    from vault.desks.tree import walk  # noqa: PLC0415 - the first commit only

    return [
        Difference(path, "added", (f"+++ {path} ({entry.size} bytes)",))
        for path, entry in walk(vault.store, new.tree)
        if not entry.is_dir
    ]
