"""Home, the first screen: whether I am in step, and whether anything needs me."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from lace_tui.actions import Scope, action_named
from lace_tui.cli.inert import inert
from lace_tui.screens.cards import Card, plan_lines, sync_card, update_card
from lace_tui.screens.dialogs import Page, PlanPage
from lace_tui.screens.marks import NOTE, QUIET, STRONG, mark, rows
from lace_tui.screens.place import Fitted, Place, bindings_of
from lace_tui.screens.resolve import Resolve
from lace_tui.screens.rows import calm, came_detail, came_row, meet_detail, need_row, peer_row, place_row
from lace_tui.view import HomeView, NeedKind, Reach, ago
from lazy.sync import sync
from lazy.update import Updated, update
from vault.history import Relation

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FirstRun", "Home", "Panel"]

_ROW, _SELECTED = Content("  "), Content.styled("> ", STRONG)


class Panel(OptionList):
    """A list in a frame, with the keys of every list."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.LIST)

    def __init__(self, title: str, panel_id: str) -> None:
        super().__init__(id=panel_id, markup=False)
        self.border_title = title
        self._texts: list[Content] = []
        self._marked: int | None = None

    def action_half_down(self) -> None:
        """Go down by half of what is in sight."""
        self._leap(1)

    def action_half_up(self) -> None:
        """Go up by half of what is in sight."""
        self._leap(-1)

    def _leap(self, way: int) -> None:
        for _ in range(max(1, self.size.height // 4)):  # a row has two lines or more
            if way > 0:
                self.action_cursor_down()
            else:
                self.action_cursor_up()

    def fill(self, entries: list[tuple[str, Content]], empty: Content) -> None:
        """Show the entries, keeping the highlighted one; an entry without an id is a remark."""
        before = self.highlighted_id
        entries = entries or [("", empty)]
        self._texts = [text for _, text in entries]
        self._marked = None
        self.set_options([Option(_ROW + text, id=key or None, disabled=not key) for key, text in entries])
        keys = [key for key, _ in entries]
        if before in keys and before:
            self.highlighted = keys.index(before)
        elif any(keys):
            self.highlighted = next(number for number, key in enumerate(keys) if key)
        self._mark_row()

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Move the sign of the selected row with it."""
        super().watch_highlighted(highlighted)
        self._mark_row()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show where the keys go; the sign stays only where another panel's keys still act on it."""
        super().watch_has_focus(has_focus)
        self._mark_row()

    def _mark_row(self) -> None:
        """Put a sign before the selected row, so that nobody needs colours to see it."""
        wanted = self.highlighted if self.has_focus or self.id == "meet" else None
        if wanted == self._marked:
            return
        for number, sign in ((self._marked, _ROW), (wanted, _SELECTED)):
            if number is not None and number < min(self.option_count, len(self._texts)):
                self.replace_option_prompt_at_index(number, sign + self._texts[number])
        self._marked = wanted

    @property
    def highlighted_id(self) -> str:
        """Id of the highlighted row, or nothing."""
        option = self.highlighted_option
        return option.id or "" if option is not None else ""


class Home(Place):
    """The first place."""

    SCOPE = Scope.HOME
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.HOME)

    DEFAULT_CSS = """
    Home #scroll { height: 1fr; }
    Home Panel, Home #card {
        border: round $foreground 40%; border-title-color: $foreground; background: $background; padding: 0 1;
        scrollbar-size-vertical: 1;
    }
    Home #scroll { scrollbar-size-vertical: 1; }
    Home Panel:focus { border: double $primary; border-title-style: bold; background: $background; }
    Home Panel > .option-list--option-highlighted { color: $foreground; background: $background; text-style: none; }
    Home Panel:focus > .option-list--option-highlighted { background: $primary 30%; }
    Home Panel:ansi:focus > .option-list--option-highlighted {
        color: ansi_default; background: ansi_default;
    }
    Home #meet:blur > .option-list--option-highlighted { background: $foreground 10%; }
    Home #card { height: auto; max-height: 9; }
    Home #card.-bad { border: round $warning; }
    Home #right { height: auto; }
    Home #panels { height: auto; }
    Home Panel { height: auto; max-height: 9; }
    Home.-wide #scroll { overflow: hidden; layout: vertical; }
    Home.-wide #panels { layout: horizontal; height: 1fr; }
    Home.-wide #meet { width: 1fr; height: 1fr; max-height: 100%; }
    Home.-wide #right { width: 1fr; height: 1fr; }
    Home.-wide #came, Home.-wide #needs { height: 1fr; max-height: 100%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._view: HomeView | None = None
        self._reach: Mapping[str, Reach] = {}
        self._panel = "meet"

    def body(self) -> ComposeResult:
        """Lay out panels and card."""
        with VerticalScroll(id="scroll", can_focus=False):
            with Container(id="panels"):
                yield Panel("Places and peers", "meet")
                with Container(id="right"):
                    yield Panel("What came", "came")
                    yield Panel("Needs you", "needs")
            with VerticalScroll(id="card", can_focus=False):
                yield Static(id="card-text")

    def on_mount(self) -> None:
        """Begin with the list of places, where the first key is of use."""
        super().on_mount()
        self.query_one("#meet").focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember where the keys went."""
        self._panel = event.widget.id or self._panel

    def on_resize(self) -> None:
        """Give the keys back to their panel after the window was too small to show it."""
        self.call_after_refresh(self._focus_again)

    def _focus_again(self) -> None:
        if self.focused is None and self.is_current:
            self.query_one(f"#{self._panel}").focus()

    # Show

    def show_home(self, view: HomeView, reach: Mapping[str, Reach]) -> None:
        """Show this reading."""
        is_first_look = bool(reach) and not self._reach
        self._view, self._reach = view, reach
        self.show_frame()
        meet = [(f"place {p.place.name}", place_row(p, reach.get(p.place.name), view)) for p in view.places]
        meet += [(f"peer {peer.status.node}", peer_row(peer, view)) for peer in view.peers]
        nobody = mark("Nobody and nowhere yet: lace place add NAME DIR, then lace invite NAME", QUIET)
        self.query_one("#meet", Panel).fill(meet, nobody)
        if is_first_look:
            self._prefer_present()
        came = [(entry.id, came_row(entry, view)) for entry in view.came]
        if view.new > len(view.came):
            came.append(("", mark(f"... {view.new - len(view.came)} more", QUIET)))
        self.query_one("#came", Panel).fill(came, mark("Nothing that is not in your folder.", QUIET))
        self.query_one("#needs", Panel).fill([(n.id, need_row(n)) for n in view.needs], calm(view))
        self.show_footer()

    def _prefer_present(self) -> None:
        """Begin with a place that is here, unless the person has moved already."""
        panel = self.query_one("#meet", Panel)
        here = [number for number, name in enumerate(self._reach) if self._reach[name].is_here]
        if panel.highlighted == 0 and here:
            panel.highlighted = here[0]

    def show_card(self, card: Card, now_ns: int) -> None:
        """Show what the last sync or update did, and how long ago."""
        frame = self.query_one("#card")
        frame.border_title = mark(f"{card.title}, {ago(card.ended, now_ns)}" if card.ended else card.title)
        frame.set_class(card.is_bad, "-bad")
        self.query_one("#card-text", Static).update(rows(*card.lines))

    def show_working(self, is_working: bool) -> None:
        """Tell whether something runs, so that the footer names the keys that matter."""
        self.show_footer()
        if is_working:  # in one column it may lie below what is in sight
            self.query_one("#card").scroll_visible(animate=False)

    def words(self) -> dict[str, str]:
        """Name what `s` would sync."""
        return {"sync": f"sync {self.target}"} if self.target else {}

    def on_option_list_option_highlighted(self) -> None:
        """Keep the footer's words true."""
        self.show_footer()

    # Rows

    @property
    def target(self) -> str:
        """Name of the place or peer that `s` would sync, or nothing."""
        kind, _, name = self.query_one("#meet", Panel).highlighted_id.partition(" ")
        if kind == "place":
            return name
        for peer in self._view.peers if self._view else ():
            if peer.status.node == name:
                return peer.status.name
        return ""

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the row."""
        event.stop()
        self.action_open_row()

    def action_open_row(self) -> None:
        """Show all of the focused panel's row, and its command."""
        panel, view = self.focused, self._view
        if isinstance(panel, Panel) and panel.id == "needs" and view is not None:
            need = next((need for need in view.needs if need.id == panel.highlighted_id), None)
            if need is not None and need.kind is NeedKind.CONFLICT:
                self.app.push_screen(Resolve(need.id))
                return
        title, lines, command = self.row()
        if title:
            shown = [*(mark(line) for line in lines), *([mark(""), mark(command, NOTE)] if command else [])]
            self.app.push_screen(Page(title, shown, "esc back"))

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return title, lines and command of the focused panel's row; empty when there is none."""
        view, panel = self._view, self.focused
        if view is None or not isinstance(panel, Panel) or not panel.highlighted_id:
            return "", (), ""
        key = panel.highlighted_id
        match panel.id:
            case "came":
                came = next(entry for entry in view.came if entry.id == key)
                return "A release", came_detail(came, view), "lace conflicts" if came.contested else "lace update"
            case "needs":
                need = next(need for need in view.needs if need.id == key)
                return "Needs you", (need.title, need.facts, *need.detail), need.command
            case _:
                return meet_detail(key, self.target, view, self._reach)

    # Actions

    def action_sync(self) -> None:
        """Sync the selected place or peer."""
        self.sync_with(self.target)

    def sync_with(self, target: str) -> None:
        """Sync one place or peer."""
        if not target:
            self.notify("There is no place to sync with yet. Add one with: lace place add NAME DIR", markup=False)
            return
        began = self.lace.monotonic()
        self.lace.begin(
            f"Sync: {inert(target)}",
            lambda vault, watch: sync(vault, [target], watch=watch),
            lambda results: sync_card(results, self.lace.monotonic() - began),
            f"lace sync {target}",
        )

    def action_update(self) -> None:
        """Plan an update, and ask."""
        self.lace.begin(
            "Update: making the plan", lambda vault, watch: update(vault, dry_run=True, watch=watch), self._planned
        )

    def _planned(self, plan: Updated) -> Card | None:
        if plan.relation in {Relation.SAME, Relation.AHEAD}:
            return Card("Update: nothing to do", tuple(plan_lines(plan)), bool(plan.waiting))
        self.app.push_screen(PlanPage("Update: the plan", plan_lines(plan)), self._decided)
        return None

    def _decided(self, is_agreed: bool | None) -> None:
        if is_agreed:
            self.lace.begin("Update", lambda vault, watch: update(vault, watch=watch), update_card, "lace update")


class FirstRun(Screen[None]):
    """What there is to do where no vault is."""

    DEFAULT_CSS = """
    FirstRun { align: center middle; }
    FirstRun #choices { width: auto; max-width: 100%; height: auto; border: round $primary; padding: 1 2; }
    FirstRun #foot { dock: bottom; height: 1; background: $panel; padding: 0 1; }
    """

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder

    def compose(self) -> ComposeResult:
        """Lay out the three choices."""
        choices = Static(
            rows(
                mark(f"There is no vault in {self._folder}, or above. In a shell:", QUIET),
                mark(""),
                mark("lace init          ", STRONG) + mark("begin: make this folder one to share"),
                mark("lace accept INVITE ", STRONG) + mark("enter a friend's group"),
                mark("lace demo          ", STRONG) + mark("look around with three made-up friends"),
            ),
            id="choices",
        )
        choices.border_title = "lace"
        yield choices
        yield Fitted("foot")

    def on_mount(self) -> None:
        """Name the keys that work here."""
        shown = [action_named("help"), action_named("read"), action_named("quit")]
        self.query_one("#foot", Fitted).show(
            [
                (number, mark(action.shown.split()[0], STRONG) + mark(f" {action.hint or action.title.lower()}"))
                for number, action in enumerate(shown)
            ]
        )
