"""A place: one of the screens that the numbers lead to. Each has the same header and footer and a body of its own.

A place shows one immutable value that `read` takes from the vault off the screen's thread. It asks the app for
everything else: `app.ask` reads, `app.begin` works; both give back one value on the screen's own thread. So no place
knows a store, a thread or a lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.screen import Screen
from textual.style import Style
from textual.widgets import Static

from lace_tui.keys.actions import ACTIONS, PLACES, Action, Scope, action_named
from lace_tui.keys.keymap import key_of, shown_keys
from lace_tui.screens.entry import FilterLine
from lace_tui.screens.marks import BAD, QUIET, STRONG, fitted, mark, rows, together
from lace_tui.screens.rows import FOLDER, header

if TYPE_CHECKING:
    from lace_tui.model.view import HomeView
    from lace_tui.screens.host import Host
    from vault.vault import Vault

__all__ = ["MARKED", "Fitted", "PlaceScreen", "footer", "place_in"]

MARKED = "in conflicts and in history"

SMALL = "For its lists lace needs 60 columns and 20 rows: make this window larger, or use: lace status"


class Fitted(Static):
    """One line of parts, of which the least needed are left out until it fits.

    Args:
        widget_id: its id.
        yields: number of the part that is cut before it is left out.
    """

    def __init__(self, widget_id: str, yields: int = -1) -> None:
        super().__init__(id=widget_id)
        self._parts: list[tuple[int, Content]] = []
        self._yields = yields

    @property
    def parts(self) -> list[tuple[int, Content]]:
        """What is shown where there is room."""
        return self._parts

    def show(self, parts: list[tuple[int, Content]]) -> None:
        """Show these parts; a part with a higher number goes first when there is no room."""
        self._parts = parts
        self.refresh()

    def render(self) -> Content:
        """Return what fits into the width there is; of what is needed most as much as there is room for."""
        width = self.size.width
        return fitted(self._parts, width, yields=self._yields).truncate(width, ellipsis=True)


class _Ways(Fitted):
    """The line of places: with counts where these stand apart from the numbers beside them, else with signs."""

    def __init__(self, widget_id: str) -> None:
        super().__init__(widget_id)
        self._signed: list[tuple[int, Content]] = []

    def show_ways(self, counted: list[tuple[int, Content]], signed: list[tuple[int, Content]]) -> None:
        """Show one of these rows of parts."""
        self._signed = signed
        self.show(counted)

    def render(self) -> Content:
        """Return all of them, as far apart as there is room for; the last ones by number alone where there is none."""
        width = self.size.width
        whole = together(self._parts, width, least=2) or together(self._signed, width)
        return whole or self._numbered(width) or super().render()

    def _numbered(self, width: int) -> Content | None:
        """Return all of them, and no more of them as bare numbers than has to be; None where they do not fit so."""
        bare: set[int] = set()
        for last in sorted(range(len(self._parts)), key=lambda at: -self._parts[at][0]):
            bare.add(last)
            parts: list[tuple[int, Content]] = []
            for at, (order, part) in enumerate(self._parts):
                if {at - 1, at} <= bare:  # numbers that follow each other stand closer
                    parts[-1] = (order, parts[-1][1] + Content(" ") + part[:1])
                else:
                    parts.append((order, part[:1] if at in bare else part))
            if (shown := together(parts, width, least=2)) is not None:
                return shown
        return None


def footer(actions: Iterable[Action], words: Mapping[str, str], keys: Mapping[str, str]) -> list[tuple[int, Content]]:
    """Return a footer: the keys that matter now, each of which can be clicked.

    Args:
        actions: in order; the last is the first to go when there is no room.
        words: other words than the action's hint, by its id.
        keys: keys that the person changed, by action id.
    """
    parts = []
    for number, action in enumerate(actions):
        word = words.get(action.id) or action.hint or action.title.lower()
        if action.scope is Scope.LIST:
            key, click = shown_keys(action, keys), "screen.open_row"
        else:
            owner = "app" if action.scope is Scope.APP else "screen"
            key, click = shown_keys(action, keys).split()[0], f"{owner}.{action.call.removeprefix('app.')}"
        part = mark(key, STRONG) + mark(f" {word}")
        # To open a row is the first hint to go: enter needs the fewest words.
        parts.append((99 if action.scope is Scope.LIST else number, part.stylize(Style.from_meta({"@click": click}))))
    return parts


class PlaceScreen(Screen[None]):
    """The frame of every place."""

    SCOPE: ClassVar[Scope]
    _is_typing = False  # in the line of a filter

    DEFAULT_CSS = """
    PlaceScreen #head { height: 1; background: $panel; padding: 0 1; }
    PlaceScreen #nav { height: 1; padding: 0 1; }
    PlaceScreen #foot { dock: bottom; height: 1; background: $panel; padding: 0 1; }
    PlaceScreen #body { height: 1fr; scrollbar-size-vertical: 1; }
    PlaceScreen #small { display: none; height: 1fr; padding: 0 1; }
    PlaceScreen.-tiny #body, PlaceScreen.-low #body, PlaceScreen.-tiny #foot, PlaceScreen.-low #foot { display: none; }
    PlaceScreen.-tiny #head, PlaceScreen.-low #head, PlaceScreen.-tiny #nav, PlaceScreen.-low #nav { display: none; }
    PlaceScreen.-tiny #small, PlaceScreen.-low #small { display: block; }
    """

    @property
    def lace(self) -> Host:
        """The app, as far as a place knows it."""
        return self.app  # type: ignore[return-value]

    @property
    def is_open(self) -> bool:
        """Whether it is laid out, in front or not, and was not left.

        To Textual a screen is mounted for good, also while its widgets are taken away, and once it is gone.
        """
        return self.is_mounted and self.is_attached and any(page is self for _, page in self.lace.pages())

    def compose(self) -> ComposeResult:
        """Lay out header, the way to the other places, the body and the footer."""
        self._know_size()
        yield Fitted("head", FOLDER)
        yield _Ways("nav")
        yield Static(id="small")
        with Container(id="body"):
            yield from self.body()
        yield Fitted("foot")

    def _know_size(self) -> None:
        """Take the classes of the window's size before there is anything to style by them.

        Textual gives them to a screen that was laid out and drawn; then all of it is styled, laid out and drawn anew.
        """
        app = self.app
        for cells, steps in zip(app.size, (app.HORIZONTAL_BREAKPOINTS, app.VERTICAL_BREAKPOINTS), strict=True):
            reached = [name for least, name in steps or () if cells >= least]
            self.add_class(*reached[-1:], update=False)

    def body(self) -> ComposeResult:
        """Lay out what is between header and footer."""
        raise NotImplementedError

    def read(self, vault: Vault) -> Any:
        """Return what the place shows, read in a thread with a vault of its own; None when there is nothing to read."""
        return None

    def show(self, value: Any) -> None:
        """Show what `read` returned."""

    def show_unread(self, told: Sequence[Content]) -> bool:
        """Say why nothing could be read, where nothing is shown; return whether it is said here."""
        return False

    def on_mount(self) -> None:
        """Show the frame."""
        self.show_frame()

    def on_screen_resume(self) -> None:
        """Come back to it; what that means is the place's own matter (a handler of this name would only be added)."""
        if self.is_current:  # else it was left before this came to it
            self.show_frame()
            self.come_back()

    def come_back(self) -> None:
        """Read again: something else may have changed while another place was shown."""
        self.lace.read_place(self)

    def show_frame(self) -> None:
        """Show header, ways and footer as things stand now."""
        self.show_head()
        view = self.lace.view
        self.query_one("#nav", _Ways).show_ways(self._ways(view), self._ways(view, is_counting=False))
        self.show_footer()

    def show_head(self) -> None:
        """Show how things stand; while work runs, how far it is, next to the conflicts (APP-3, APP-4)."""
        view = self.lace.view
        working = self.lace.working_parts()
        parts = header(view) if view is not None else []  # a vault that cannot be read is repaired all the same
        if working:  # the counts of waiting and new change under the work: it tells them at its end
            parts = [part for part in parts if part[0] in {0, 4}]
        self.query_one("#head", Fitted).show(parts + self.lace.serving_parts() + working)
        self.show_small()

    def on_resize(self) -> None:
        """Say in a small window what there is to say, once it is known that it is one."""
        self.call_after_refresh(self.show_small)

    def show_small(self) -> None:
        """Show in a window too small for lists how things stand, the keys that work there, and how to see more."""
        if not (self.is_open and (self.has_class("-tiny") or self.has_class("-low"))):
            return
        small, view, working = self.query_one("#small", Static), self.lace.view, self.lace.working_parts()
        parts = [] if view is None else header(view)
        rows_of_parts = ([part for part in parts if part[0] in kept] for kept in ({0, FOLDER}, {1, 2}))
        lines = [fitted(one, self.size.width - 2, yields=FOLDER) for one in rows_of_parts]
        lines += [Content("   ").join(part for _, part in working)] if working else self.small_lines()
        lines += [part for _, part in self.lace.serving_parts()]
        shown = [action_named("stop")] if working else self.small_keys()
        keys = footer([*shown, action_named("help"), action_named("quit")], self.words(), self.lace.taste.keys)
        small.update(rows(*lines, Content("   ").join(part for _, part in keys), mark(SMALL, QUIET)))

    def small_keys(self) -> list[Action]:
        """Return the actions that are of use where this place's lists are not in sight."""
        return [action_named("go-home")]

    def small_lines(self) -> list[Content]:
        """Return what a window too small for its lists shows of this place."""
        return []

    @property
    def _marked_place(self) -> Scope:
        """The place that one is at: what is no place itself lies in the one that opened it."""
        return self.SCOPE if self.SCOPE in PLACES else Scope(self.app.current_mode)

    def _ways(self, view: HomeView | None, *, is_counting: bool = True) -> list[tuple[int, Content]]:
        counts = {Scope.CONFLICTS: (view.conflicts, "!"), Scope.QUEUE: (view.waiting, "^")} if view else {}
        parts, at = [], self._marked_place
        for number, place in enumerate(PLACES, 1):
            count, sign = counts.get(place, (0, ""))  # the signs of the header, which has the counts in words
            text = f"{number} {place}{'' if not count else f' {count}' if is_counting else sign}"
            style = STRONG + " reverse" if place is at else BAD if place is Scope.CONFLICTS and count else QUIET
            part = mark(f" {text} " if place is at else text, style)
            # The place one is at and the conflicts are the last to go.
            order = 0 if place is at else 1 if place is Scope.CONFLICTS else number + 1
            parts.append((order, part.stylize(Style.from_meta({"@click": f"app.go('{place}')"}))))
        return parts

    def key_of(self, action_id: str) -> str:
        """Return the first key of an action, as this person has it."""
        return key_of(action_id, self.lace.taste.keys)

    def words(self) -> dict[str, str]:
        """Return words for the footer that depend on what is selected, by action id."""
        return {}

    def hinted(self) -> list[Action]:
        """Return the actions of this place that the footer names, in order."""
        return [action for action in ACTIONS if action.hint and action.scope is self.SCOPE]

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Name in the footer what ends a filter while one types it: the keys of the place are letters there."""
        if isinstance(event.widget, FilterLine) is not self._is_typing:
            self._is_typing = not self._is_typing
            self.show_footer()

    def show_footer(self) -> None:
        """Show the keys that matter now."""
        self.show_small()
        if self._is_typing:
            ends = mark("esc", STRONG) + mark(" shows all rows")
            parts = [(0, mark("enter", STRONG) + mark(" keeps it"))]
            parts.append((1, ends.stylize(Style.from_meta({"@click": "app.stop"}))))
            self.query_one("#foot", Fitted).show(parts)
            return
        if self.lace.job is not None:
            shown = [action_named("help"), action_named("stop"), action_named("quit")]
        else:
            shown = [action_named("help"), *self.hinted(), action_named("palette"), action_named("quit")]
        self.query_one("#foot", Fitted).show(footer(shown, self.words(), self.lace.taste.keys))

    def show_all(self) -> None:
        """Show all rows again, where a filter leaves some out."""

    def go_back(self) -> None:
        """Go back from a place that was opened from another one."""
        if self.is_active and len(self.app.screen_stack) > 1:  # a key may come twice before it is gone
            self.app.pop_screen()

    def action_mark(self) -> None:
        """Say where rows can be marked."""
        self.notify(f"Rows are marked {MARKED}, where several are taken at once.", markup=False)

    def action_mark_all(self) -> None:
        """Say where rows can be marked."""
        self.action_mark()

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return title, lines and command of the selected row; empty when there is none."""
        return "", (), ""

    def runnable(self) -> str:
        """Return the selected row's command as it runs: where its own leaves a choice open, the one that tells it."""
        return self.row()[2]


def place_in(screens: Sequence[Screen[Any]]) -> PlaceScreen | None:
    """Return the place that is in sight, perhaps below a page; None where there is none.

    Args:
        screens: that are open, the one in front last.
    """
    return next((screen for screen in reversed(screens) if isinstance(screen, PlaceScreen)), None)
