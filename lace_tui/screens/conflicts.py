"""Conflicts: what needs a decision; decide one, or several at once after seeing the plan (APP-4, LAZ-36 to LAZ-43)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

from textual.binding import BindingType
from textual.content import Content

from lace_tui.keys.actions import Action, Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.model.reading import reason
from lace_tui.model.view import CHOICES, ID_SHOWN, ago
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.host import Refused
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, mark
from lace_tui.screens.resolve import decide_each, decisions, open_conflict_page
from lace_tui.screens.written import Decided, resolved_card
from lace_tui.words.inert import inert
from lazy.conflict_words import OVERTAKEN, deciding_words, side_names, update_command
from lazy.conflicts import conflicts
from lazy.contested import Conflict, Proposal
from lazy.folder.heads import ending_releases, ending_with
from lazy.people import label_of
from lazy.resolving.draft_files import edited_paths
from lazy.resolving.picks import NoSuchSide, pick_side
from lazy.resolving.resolve import Resolved, accept_resolution, resolve_prefer
from vault.desks.paths import DOT_VAULT
from vault.plural import few, plural
from vault.records import Tai
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Conflicts"]

_NONE = "No conflict is open."
# Of two friends who clash, or of three sides, a viewer's word means none.
_NO_SIDE = {"local": "no side of it is yours", "remote": "several sides are not yours"}

_Read: TypeAlias = tuple[str, list[Conflict], dict[str, str], dict[str, str]]


class Conflicts(Listing):
    """One row for each open conflict."""

    SCOPE = Scope.CONFLICTS
    TITLE = "Needs a decision"
    EMPTY = f"= {_NONE}"
    CAN_MARK = True
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.CONFLICTS)

    def __init__(self) -> None:
        super().__init__()
        self._conflicts: dict[str, Conflict] = {}
        self._is_read = False
        self._ended: dict[str, str] = {}  # of conflicts that an update ends: whose release does
        self._above: dict[str, str] = {}  # of conflicts that end with another one: what that is called
        self._me = ""

    def read(self, vault: Vault) -> _Read:
        """Read the open conflicts, and which of them something that was released since ends, or another one does."""
        with vault.store.reading():
            found = conflicts(vault)
            ended = ending_releases(vault, found)
            by = {key: f"{label_of(vault, release.node)} {release.version}" for key, release in ended.items()}
            above = {key: other.what for key, other in ending_with(vault, found).items() if key not in ended}
            return vault.node.text, found, by, above

    def show(self, value: _Read) -> None:
        """Show the open conflicts."""
        self._is_read = True
        self._me, found, self._ended, self._above = value
        self._conflicts = {conflict.id: conflict for conflict in found}
        shown = sorted(found, key=lambda conflict: conflict.id in self.lace.aside)
        self.fill([(conflict.id, self._line(conflict)) for conflict in shown])

    def _line(self, conflict: Conflict) -> Content:
        aside = "aside " if conflict.id in self.lace.aside else ""
        text = mark("! ", BAD) + mark(aside, QUIET) + mark(f"{conflict.what}  ")
        text += mark(" <> ".join(side_names(conflict, self._me)), NOTE)
        why = reason(conflict)
        if ended := self._ended.get(conflict.id):
            update = update_command(conflict)
            way = f"{self.key_of('update')} on Home" if update == "lace update" else update
            return text + mark(f"  {ended} ends it: {way}", GOOD)
        if above := self._above.get(conflict.id):
            return text + mark(f"  ends with {above}", QUIET)
        if conflict.proposals:  # before the reason, which a narrow screen may cut
            text += mark(f"  {', '.join(dict.fromkeys(p.name for p in conflict.proposals))} decided: A accepts", GOOD)
        return text + mark(f"  {why}", QUIET)

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected conflict."""
        conflict = self._conflicts.get(self.lines.key)
        if conflict is None:
            return "", (), ""
        lines = [f"Conflict {conflict.id}", f"Common ancestor: {conflict.common_words}"]
        for side, name in zip(conflict.sides, side_names(conflict, self._me), strict=True):
            when = ago(Tai.parse(side.tai).to_utc_iso(), self.lace.now_ns)
            lines.append(f"{name}  {side.version or 'not released'}  {when}  {side.content_sha512[:23]}")
        lines += [f"{one.word} decided for {conflict.proposed_words(one)}" for one in conflict.proposals]
        if above := self._above.get(conflict.id):
            lines.append(f"The decisions on it are the sides of {above}: it ends with that.")
        if ended := self._ended.get(conflict.id):
            lines.append(f"{ended} was released since and ends it: update")
        if conflict.is_overtaken:
            lines.append(OVERTAKEN)
        lines.append("Whatever you choose, every side stays readable in history.")
        if conflict.id in self._ended:
            return "A conflict", tuple(lines), update_command(conflict)
        words = deciding_words(conflict, self._me)
        return "A conflict", tuple(lines), f"lace resolve {conflict.id[:ID_SHOWN]} {words}"

    def runnable(self) -> str:
        """Return what ends the selected conflict or accepts the one decision there is, else what names the choices."""
        conflict = self._conflicts.get(self.lines.key)
        if conflict is None:
            return ""
        is_open = conflict.id not in self._ended and (conflict.differ or not conflict.proposals)
        return CHOICES if is_open else self.row()[2]

    def hinted(self) -> list[Action]:
        """Leave out to accept where nobody has decided, to take a side that is none, and all where nothing is open."""
        if not self._conflicts:
            return []
        conflict = self._conflicts.get(self.lines.key)
        is_proposed = conflict is not None and bool(conflict.proposals)
        chosen = self._chosen()
        is_left_out = {"accept": not is_proposed}
        for side in _NO_SIDE:
            is_left_out[f"prefer-{side}"] = not any(_has_side(one, side) for one in chosen)
        return [action for action in super().hinted() if not is_left_out.get(action.id)]

    def action_open_row(self) -> None:
        """Open the selected conflict."""
        self.action_resolve()

    def action_resolve(self) -> None:
        """See both sides of the selected conflict, and choose."""
        if self.lines.key in self._conflicts:
            open_conflict_page(self, self.lines.key)

    def _chosen(self) -> list[Conflict]:
        return [self._conflicts[key] for key in self.lines.chosen if key in self._conflicts]

    def _say_none(self) -> None:
        is_none = self._is_read and not self._conflicts  # and not behind a filter, or still being read
        self.notify(_NONE if is_none else "Select a conflict.", markup=False)

    def action_prefer_local(self) -> None:
        """Take my side of the chosen ones."""
        self._prefer("local", "your side")

    def action_prefer_remote(self) -> None:
        """Take their side of the chosen ones."""
        self._prefer("remote", "their side")

    def _prefer(self, side: str, words: str) -> None:
        asked = self._chosen()
        chosen = [conflict for conflict in asked if _has_side(conflict, side)]
        if not asked:
            self._say_none()
            return
        if not chosen:
            self.notify(f"Not taken: {_NO_SIDE[side]}. {self.key_of('resolve')} shows them, to choose.", markup=False)
            return
        lines = [mark(f"Take {words} of {plural(len(chosen), 'conflict')}:")]
        lines += [mark("  ") + self._line(conflict) for conflict in chosen]
        left = [conflict for conflict in asked if conflict not in chosen]
        lines += [mark(f"! {conflict.what} stays open: {_NO_SIDE[side]}", BAD) for conflict in left]
        lines += self._edited_lines(chosen)

        def do(vault: Vault, watch: Watch) -> Decided:
            def prefer(name: str, watch: Watch) -> Resolved:
                return resolve_prefer(vault, name, side, watch=watch)

            return decide_each(vault, [conflict.id for conflict in chosen], prefer, watch)

        command = "; ".join(f"lace resolve {conflict.id[:ID_SHOWN]} --prefer {side}" for conflict in chosen)
        self._plan(f"prefer-{side}", f"Take {words}", lines, chosen, self._agreed("Resolve", do, command))

    def _plan(
        self,
        action_id: str,
        title: str,
        lines: Sequence[Content],
        for_side: Sequence[Conflict],
        decided: Callable[[bool | None], None],
    ) -> None:
        """Show a plan, with the files that one side alone changed, which are not in the other; these are read first.

        Args:
            action_id: what asks for it.
            title: of its page.
            lines: of the plan.
            for_side: those of its conflicts that are decided for a side, whole.
            decided: called with whether somebody agreed.
        """

        def shown(others: list[Content]) -> None:
            end = mark("Every other side stays readable in history.", QUIET)
            self.lace.open_page(self, action_id, PlanPage(title, [*lines, *others, end]), decided)

        self.lace.ask(lambda vault: _other_lines(vault, for_side), shown, "plan", asked=title)

    def _edited_lines(self, chosen: Sequence[Conflict]) -> list[Content]:
        """Say of which files a result was edited that would not count; each decision names the files they lie in."""
        folder = self.lace.folder
        if folder is None:
            return []
        paths = [inert(path) for one in chosen for path in edited_paths(folder / DOT_VAULT, one.id)]
        told = f"! What you wrote for {few(paths)} would not count: it goes to a file that is kept for a week."
        return [mark(told, BAD)] if paths else []

    def action_set_aside(self) -> None:
        """Put the chosen conflicts last, or back in their places; they stay open and counted."""
        chosen = {key for key in self.lines.chosen if key in self._conflicts}
        aside = self.lace.aside
        self.lace.aside = aside - chosen if chosen <= aside else aside | chosen
        self.lines.marked = frozenset()
        self.show((self._me, list(self._conflicts.values()), self._ended, self._above))
        self.lines.action_first()

    def action_accept(self) -> None:
        """Let somebody else's decision of the chosen conflicts count here."""
        chosen = self._chosen()
        if len(chosen) > 1:
            self._accept_all(chosen)
            return
        conflict = chosen[0] if chosen else None
        if conflict is None:
            self._say_none()
            return
        if not conflict.proposals:
            self.notify("Nobody has proposed a decision on this one.", markup=False)
            return
        if not conflict.differ:
            self._accept(conflict, conflict.proposals[0])
            return

        def named(name: str | None, refused: Refused) -> None:
            if name:
                found = conflict.proposed(name)
                if len({one.content for one in found}) != 1:
                    told = "made several decisions" if found else "has proposed no decision"
                    refused(f"{name} {told} of this one.")
                    return
                self._accept(conflict, found[0])

        whose = " or ".join(dict.fromkeys(proposal.word for proposal in conflict.proposals))
        self.lace.put(
            Question("Accept a decision", f"They decided differently. Whose decision counts: {whose}?"), named
        )

    def _accept_all(self, chosen: list[Conflict]) -> None:
        """Accept what was decided on each, after one plan; where nobody did, or each otherwise, nothing is done."""
        takes = [conflict for conflict in chosen if conflict.proposals and not conflict.differ]
        left = [conflict for conflict in chosen if conflict not in takes]
        if not takes:
            self.notify("Nobody has proposed a single decision on any of these.", markup=False)
            return
        lines = [mark(f"Accept what was decided on {plural(len(takes), 'conflict')}:", STRONG)]
        for conflict in takes:
            said = conflict.proposals[0]
            lines.append(mark(f"  {conflict.what}: {said.word} decided for {conflict.proposed_words(said)}"))
        for conflict in left:
            why = "they decided differently: accept it alone" if conflict.proposals else "nobody has decided"
            lines.append(mark(f"! {conflict.what} stays open: {why}", BAD))
        lines += self._edited_lines(takes)

        def do(vault: Vault, watch: Watch) -> Decided:
            proposed = {one.id: one.proposals[0].resolution.text for one in takes}

            def accept(name: str, watch: Watch) -> Resolved:
                return accept_resolution(vault, name, proposed[name], watch=watch)

            return decide_each(vault, list(proposed), accept, watch)

        command = "; ".join(f"lace resolve {one.id[:ID_SHOWN]} {one.accept_words(one.proposals[0])}" for one in takes)
        for_side = [one for one in takes if one.proposals[0].chosen]
        self._plan("accept", "Accept decisions", lines, for_side, self._agreed("Accept", do, command))

    def _accept(self, conflict: Conflict, chosen: Proposal) -> None:
        sides = " <> ".join(side_names(conflict, self._me))
        lines = [
            mark(f"{conflict.what}: {sides}"),
            mark(
                f"{chosen.word} decided for {conflict.proposed_words(chosen)}: it would count here from now on.", STRONG
            ),
            *self._edited_lines([conflict]),
        ]

        def do(vault: Vault, watch: Watch) -> Decided:
            return decisions(vault, [accept_resolution(vault, conflict.id, chosen.resolution.text, watch=watch)])

        command = f"lace resolve {conflict.id[:ID_SHOWN]} {conflict.accept_words(chosen)}"
        for_side = [conflict] if chosen.chosen else []
        self._plan("accept", "Accept a decision", lines, for_side, self._agreed("Accept", do, command))

    def _agreed(self, what: str, do: Callable[[Vault, Watch], Decided], command: str) -> Callable[[bool | None], None]:
        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                self.lace.begin(what, do, self._decided, command)

        return decided

    def _decided(self, decided: Decided) -> Card:
        """Offer to sync after the last one."""
        if len(decided.done) >= len(self._conflicts) and self.is_active and not (decided.clashes or decided.late):
            self.lace.offer_sync(decided.following)
        return resolved_card(decided, self.lace.taste.keys)


def _has_side(conflict: Conflict, word: str) -> bool:
    try:
        pick_side(conflict, word)
    except NoSuchSide:
        return False
    return True


def _other_lines(vault: Vault, for_side: Sequence[Conflict]) -> list[Content]:
    from lazy.resolving.opening import disagreeing  # no part of the list

    lines = []
    for conflict in for_side:
        if others := disagreeing(vault, conflict)[1]:
            way = "To have what each did, open it and choose there."
            differ = "differs" if len(others) == 1 else "differ"
            told = f"! {conflict.what}: {few([inert(path) for path in others])} {differ} too, and would be that side's"
            lines.append(mark(f"{told}, or gone where it has none. {way}", BAD))
    return lines
