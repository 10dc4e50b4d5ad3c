"""Home, the first screen: whether I am in step, and whether anything needs me."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from lace_tui.actions import ACTIONS, Scope, action_named, actions_of
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Page
from lace_tui.screens.marks import NOTE, QUIET, STRONG, fitted, mark, rows
from lace_tui.screens.rows import calm, came_detail, came_row, header, meet_detail, need_row, peer_row, place_row
from lace_tui.view import HomeView, Reach, ago

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FirstRun", "Home", "Panel", "footer"]

_ROW, _SELECTED = Content("  "), Content.styled("> ", STRONG)
_SMALL = "lace needs 60 columns and 20 rows. Make this window larger, or use: lace status"


class Panel(OptionList):
    """A list in a frame, with the keys of every list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(action.keys), action.call, action.title, id=action.id, show=False)
        for action in actions_of(Scope.LIST)
    ]

    def __init__(self, title: str, panel_id: str) -> None:
        super().__init__(id=panel_id, markup=False)
        self.border_title = title
        self._texts: list[Content] = []
        self._marked: int | None = None

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


class Fitted(Static):
    """One line of parts, of which the least needed are left out until it fits."""

    def __init__(self, widget_id: str) -> None:
        super().__init__(id=widget_id)
        self._parts: list[tuple[int, Content]] = []

    def show(self, parts: list[tuple[int, Content]]) -> None:
        """Show these parts; a part with a higher number goes first when there is no room."""
        self._parts = parts
        self.refresh()

    def render(self) -> Content:
        """Return what fits into the width there is."""
        return fitted(self._parts, self.size.width)


def footer(target: str, *, is_working: bool) -> list[tuple[int, Content]]:
    """Return the footer: the keys that matter now, each of which can be clicked."""
    shown = [action for action in ACTIONS if action.hint]
    if is_working:
        shown = [action_named("help"), action_named("stop"), action_named("quit")]
    parts = []
    for number, action in enumerate(shown):
        word = action.hint or action.title.lower()
        if action.id == "sync" and target:
            word += f" {target}"
        if action.scope is Scope.LIST:
            key, click = action.shown, "screen.open_row"
        else:
            key, click = action.shown.split()[0], f"app.{action.call}"
        part = mark(key, STRONG) + mark(f" {word}")
        # To open a row is the first hint to go: enter needs the fewest words.
        parts.append((99 if action.scope is Scope.LIST else number, part.stylize(Style.from_meta({"@click": click}))))
    return parts


class Home(Screen[None]):
    """The first screen."""

    DEFAULT_CSS = """
    Home { layers: base; }
    Home #head { height: 1; background: $panel; padding: 0 1; }
    Home #foot { dock: bottom; height: 1; background: $panel; padding: 0 1; }
    Home #body { height: 1fr; }
    Home #small { display: none; height: 1fr; content-align: center middle; text-align: center; }
    Home Panel, Home #card {
        border: round $foreground 40%; border-title-color: $foreground; background: $background; padding: 0 1;
        scrollbar-size-vertical: 1;
    }
    Home #body { scrollbar-size-vertical: 1; }
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
    Home.-wide #body { overflow: hidden; layout: vertical; }
    Home.-wide #panels { layout: horizontal; height: 1fr; }
    Home.-wide #meet { width: 1fr; height: 1fr; max-height: 100%; }
    Home.-wide #right { width: 1fr; height: 1fr; }
    Home.-wide #came, Home.-wide #needs { height: 1fr; max-height: 100%; }
    Home.-tiny #body, Home.-low #body, Home.-tiny #foot, Home.-low #foot { display: none; }
    Home.-tiny #head, Home.-low #head { display: none; }
    Home.-tiny #small, Home.-low #small { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._view: HomeView | None = None
        self._reach: Mapping[str, Reach] = {}
        self._is_working = False
        self._panel = "meet"

    def compose(self) -> ComposeResult:
        """Lay out header, panels, card and footer."""
        yield Fitted("head")
        yield Static(_SMALL, id="small")
        with VerticalScroll(id="body", can_focus=False):
            with Container(id="panels"):
                yield Panel("Places and peers", "meet")
                with Container(id="right"):
                    yield Panel("What came", "came")
                    yield Panel("Needs you", "needs")
            with VerticalScroll(id="card", can_focus=False):
                yield Static(id="card-text")
        yield Fitted("foot")

    def on_mount(self) -> None:
        """Begin with the list of places, where the first key is of use."""
        self.query_one("#meet").focus()
        self._show_footer()

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

    def show(self, view: HomeView, reach: Mapping[str, Reach]) -> None:
        """Show this reading."""
        is_first_look = bool(reach) and not self._reach
        self._view, self._reach = view, reach
        self.query_one("#head", Fitted).show(header(view))
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
        self._show_footer()

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
        self._is_working = is_working
        self._show_footer()
        if is_working:  # in one column it may lie below what is in sight
            self.query_one("#card").scroll_visible(animate=False)

    def _show_footer(self) -> None:
        self.query_one("#foot", Fitted).show(footer(self.target, is_working=self._is_working))

    def on_option_list_option_highlighted(self) -> None:
        """Keep the footer's words true."""
        self._show_footer()

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
