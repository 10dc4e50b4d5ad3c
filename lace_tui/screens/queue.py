"""Queue: what I shared that some peer has not confirmed, and why (APP-4, LAZ-54)."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import BindingType

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.model.view import ago
from lace_tui.screens.belonging import ask_leave
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.screens.visits import sync_with
from lazy.noted_visits import sync_command
from lazy.queue import QueueEntry, QueueState, queue
from vault.vault import Vault

__all__ = ["Queue"]

_WHOLE = (
    "One entry alone cannot be dropped: who reads your log reads all of it. What waits for somebody can, with them."
)


class Queue(Listing):
    """One row for each thing and peer."""

    SCOPE = Scope.QUEUE
    TITLE = "Waiting"
    EMPTY = "= Nothing waits: every friend has what you shared."
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.QUEUE)

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[str, QueueEntry] | None = None  # until it is read

    def read(self, vault: Vault) -> list[QueueEntry]:
        """Read what waits."""
        with vault.store.reading():
            return queue(vault)

    def show(self, value: Any) -> None:
        """Show what waits."""
        self._entries = {f"{entry.peer}/{entry.record}": entry for entry in value}
        self.fill([(key, self._line(entry)) for key, entry in self._entries.items()])

    def _line(self, entry: QueueEntry) -> Any:
        is_queued = entry.state is QueueState.QUEUED
        state = mark("^ waits ", NOTE) if is_queued else mark("* on a medium ", GOOD)
        since = mark(f"  since {ago(entry.since, self.lace.now_ns)}, {entry.reason}", QUIET)
        return state + mark(entry.peer, STRONG) + mark(f"  {entry.what}") + since

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected entry."""
        entry = self._found()
        if entry is None:
            return "", (), ""
        lines = (
            f"{entry.what}, entry {entry.seq} of your log",
            f"For: {entry.peer}",
            f"State: {entry.state}",
            f"Why: {entry.reason}",
            f"Places: {', '.join(entry.places) or 'none yet'}",
            f"Since: {entry.since}",
            f"Record: {entry.record}",
        )
        return "Waiting", lines, sync_command(entry.peer)

    def _found(self) -> QueueEntry | None:
        return (self._entries or {}).get(self.lines.key)

    def _selected(self) -> QueueEntry | None:
        """Return the selected entry; where there is none, say why."""
        entry = self._found()
        if entry is None:
            self.notify("Nothing waits." if self._entries == {} else "Select what waits.", markup=False)
        return entry

    def action_drop(self) -> None:
        """Drop all that waits for the peer of the selected entry, after the plan and their name."""
        if (entry := self._selected()) is not None:
            ask_leave(self, "drop", entry.peer, _WHOLE)

    def action_retry(self) -> None:
        """Sync with the peer of the selected entry."""
        if (entry := self._selected()) is not None:
            sync_with(self, [entry.peer])
