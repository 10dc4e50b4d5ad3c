"""Audit: everything that was done here, newest first, and whether the trail is whole (APP-4, CYB-9 to CYB-14)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.content import Content

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.screens.cards import Card
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, QUIET, STRONG, mark
from lace_tui.screens.quarantine import Quarantine
from vault.audit.chain import ChainVerdict, Damaged, told
from vault.audit.entries import AuditEntry, read_audit
from vault.audit.trail import as_it_lies, verify_trail
from vault.plural import plural
from vault.records import Seal
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Audit"]

_SHOWN = 20  # places where the trail breaks


class _Trail:
    """The entries as a source of rows: each is read from its record when it is seen."""

    def __init__(self, seals: list[Seal | Damaged]) -> None:
        self._seals = seals
        self.entry = lru_cache(maxsize=2048)(self._entry)

    def __len__(self) -> int:
        return len(self._seals)

    def _entry(self, number: int) -> AuditEntry | Damaged:
        seal = self._seals[number]
        return seal if isinstance(seal, Damaged) else read_audit(seal)

    def line(self, number: int) -> Content:
        """Return one row."""
        entry = self.entry(number)
        if isinstance(entry, Damaged):
            return mark(f"{entry.number:>6}  ", QUIET) + mark("! damaged, and cannot be read", BAD)
        head = mark(f"{entry.sequence:>6}  {entry.timestamp[:16].replace('T', ' ')}  ", QUIET)
        return head + mark(entry.verb, STRONG) + mark(f"  {entry.object}")

    def key(self, number: int) -> str:
        """Return the entry's hash."""
        seal = self._seals[number]
        return str(seal.record if isinstance(seal, Damaged) else seal.hash)

    def text(self, number: int) -> str:
        """Return what a filter searches."""
        entry = self.entry(number)
        if isinstance(entry, Damaged):
            return entry.text.lower()
        words = [entry.verb, entry.object, entry.name, *(value for _, value in entry.parameters)]
        return " ".join(words).lower()

    def number(self, key: str) -> int | None:
        """Return the row of a hash."""
        return next((at for at in range(len(self._seals)) if self.key(at) == key), None)


class Audit(Listing):
    """The trail."""

    SCOPE = Scope.AUDIT
    TITLE = "Audit trail"
    EMPTY = "Nothing was done here."
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.AUDIT)

    def __init__(self) -> None:
        super().__init__()
        self._trail = _Trail([])

    def read(self, vault: Vault) -> list[Any]:
        """Read the entries, newest first."""
        with vault.store.reading():
            return list(as_it_lies(vault))[::-1]

    def show(self, value: Any) -> None:
        """Show the entries."""
        self._trail = _Trail(value)
        self.fill(self._trail)

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected entry, whole."""
        number = self._trail.number(self.lines.key) if self.lines.key else None
        if number is None:
            return "", (), ""
        entry = self._trail.entry(number)
        if isinstance(entry, Damaged):
            return "A damaged entry", (entry.text,), "lace audit verify"
        lines = [
            f"{entry.sequence}. {entry.verb} {entry.object}",
            f"By: {entry.name}, {entry.actor}",
            f"When: {entry.timestamp} (for display; nothing is decided by it)",
            *(f"{key}: {value}" for key, value in entry.parameters),
        ]
        if entry.motivation:
            lines.append(f"Because: {entry.motivation}")
        lines += [f"About: {about}" for about in entry.relates_to]
        lines += [f"Before it: {entry.parent or 'nothing, it is the first'}", f"Record: {self.lines.key}"]
        return "What was done", tuple(lines), f"lace audit --verb {entry.verb}"

    def action_check(self) -> None:
        """Check everything, and repair what is wrong once that is agreed to."""
        from lace_tui.screens.checks import ask_check  # hardly anybody checks

        ask_check(self, "check")

    def action_refused(self) -> None:
        """Look at what was refused."""
        self.app.push_screen(Quarantine())

    def action_verify(self) -> None:
        """Check every entry."""

        def do(vault: Vault, _watch: Watch) -> ChainVerdict:
            with vault.store.reading():
                return verify_trail(vault)

        self.lace.begin("Audit: verify", do, self._verified, "lace audit verify")

    def _verified(self, verdict: ChainVerdict) -> Card:
        if verdict.ok:
            text = f"= {plural(verdict.length, 'entry', 'entries')}, each sealed and chained to the one before."
            return Card("Audit: verified", (mark(text, GOOD),))
        found = told(verdict.breaks)
        lines = [mark(f"! {text}", BAD) for _, text in found[:_SHOWN]]
        if len(found) > _SHOWN:
            lines.append(mark(f"! and in {len(found) - _SHOWN} more places", BAD))
        lines.append(mark(f"entries that fit: {verdict.length} before the first break, {verdict.behind} behind it"))
        return Card(
            "Audit: broken",
            (*lines, mark(f"next: {self.key_of('check')} here, or lace fsck, says what that means")),
            is_bad=True,
        )
