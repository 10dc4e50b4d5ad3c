"""What was refused, and why: looked at, judged again, or thrown away (LAZ-71)."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.model.view import ago
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lazy.receiving.quarantine import Quarantined, drop, quarantined
from lazy.receiving.readmit import readmit
from vault.commands import as_typed
from vault.plural import bytes_text
from vault.records import Tai
from vault.vault import Vault

__all__ = ["Quarantine"]

_HASH = 12  # letters of a hash that stand for it in a row


class Quarantine(Listing):
    """One row for each refused record, the newest first."""

    SCOPE = Scope.REFUSED
    TITLE = "Refused"
    EMPTY = "= Nothing was refused."
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.REFUSED)

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, Quarantined] | None = None  # until it is read

    def read(self, vault: Vault) -> list[Quarantined]:
        """Read what was refused."""
        with vault.store.reading():
            return quarantined(vault)

    def show(self, value: list[Quarantined]) -> None:
        """Show it."""
        self._found = {one.hash: one for one in value}
        self.fill([(one.hash, self._line(one)) for one in value])

    def _line(self, one: Quarantined) -> Content:
        what = f"{one.app} by {one.signer}" if one.size else one.hash[:_HASH]
        head = mark(f"! {one.code}  ", BAD) + mark(what, STRONG)
        when = ago(Tai.parse(one.tai).to_utc_iso(), self.lace.now_ns)
        # A name may be a key, and a long row is cut off at its end.
        return head + mark(f"  from {one.source}, {when}", QUIET) + mark(f"  {one.name}".rstrip(), QUIET)

    def _selected(self) -> Quarantined | None:
        return (self._found or {}).get(self.lines.key)

    def _say_none(self) -> None:
        """Say why nothing is selected; that nothing was refused only where that is known."""
        self.notify("Nothing was refused." if self._found == {} else "Select what was refused.", markup=False)

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected record."""
        one = self._selected()
        if one is None:
            return "", (), ""
        kept = (
            f"{bytes_text(one.size)} of it are kept, unread" if one.size else "only that it was refused is remembered"
        )
        lines = (
            f"{one.reason} ({one.code})",
            *((f"It says to be {one.app} {one.name} by {one.signer}",) if one.size else ()),
            f"From: {one.source}",
            f"Kept: {kept}",
            f"Record: {one.hash}",
        )
        return "A refused record", lines, as_typed("quarantine admit", one.hash)

    def action_judge_again(self) -> None:
        """Judge the selected record as if it arrived now."""
        one = self._selected()
        if one is None:
            self._say_none()
            return
        command = as_typed("quarantine admit", one.hash)
        self.lace.begin("Judge again", lambda vault, _: readmit(vault, one.hash), _judged, command)

    def action_throw_away(self) -> None:
        """Throw the selected record's bytes away, after the plan."""
        one = self._selected()
        if one is None:
            self._say_none()
            return
        if not one.size:
            self.notify("Nothing of it is kept.", markup=False)
            return
        command = as_typed("quarantine drop", one.hash)
        lines = [
            mark(f"{bytes_text(one.size)} of {one.app} {one.name} by {one.signer} go for good.", STRONG),
            mark("That it was refused stays known, so nobody fetches it again."),
            mark(command, NOTE),
        ]

        def dropped(gone: Quarantined) -> Card:
            return Card("Drop: done", (mark(f"= {bytes_text(gone.size)} are free again", GOOD),))

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                self.lace.begin("Drop", lambda vault, _: drop(vault, one.hash), dropped, command)

        self.lace.open_page(self, "throw-away", PlanPage("Drop what was refused?", lines), decided)


def _judged(told: tuple[Quarantined, bool]) -> Card:
    found, is_stored = told
    if is_stored:
        return Card("Judge again: done", (mark(f"= {found.app} {found.name} is here now", GOOD),))
    return Card("Judge again: done", (mark("= it is forgotten as refused: the next sync asks for it again", GOOD),))
