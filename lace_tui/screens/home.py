"""Home, the first screen: whether I am in step, and whether anything needs me."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from lace_tui.keys.actions import Action, Scope, action_named
from lace_tui.keys.bindings import bindings_of
from lace_tui.model.view import NeedKind, ago
from lace_tui.screens.dialogs import Page
from lace_tui.screens.entry import FilterLine
from lace_tui.screens.hanging_text import Hanging
from lace_tui.screens.marks import NOTE, QUIET, STRONG, mark, rows
from lace_tui.screens.panel import Panel
from lace_tui.screens.place import PlaceScreen
from lace_tui.screens.rows import calm, came_detail, came_row, meet_detail, need_row, peer_row, place_row
from lace_tui.screens.told_frame import ToldFrame
from lace_tui.words.inert import inert

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lace_tui.model.view import HomeView, Need, PlaceView, Reach
    from lace_tui.screens.cards import Card

__all__ = ["Home"]

_SMALL_NEEDS, _SMALL_CARD = 2, 3  # lines, in a window of 12 rows
_NAMED = 16  # cells of a name in the footer; a longer one would leave no room for what else there is to do


class Home(PlaceScreen):
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
    Home #meet { text-wrap: nowrap; text-overflow: ellipsis; }
    Home #meet:blur > .option-list--option-highlighted { background: $foreground 10%; }
    Home #card { height: auto; max-height: 9; }
    Home #card:focus { border: double $primary; border-title-style: bold; }
    Home #card.-bad { border: round $warning; }
    Home #card.-bad:focus { border: double $warning; }
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
        self._row = ""  # id of the row that the keys went to last
        self._new_place = ""  # which `s` is to sync
        self._told = Content("")  # by the card
        self._ended = ""  # when the work ended whose card is shown
        self._is_awaited = False  # whether the card stays in sight: since work began, until somebody goes elsewhere

    def body(self) -> ComposeResult:
        """Lay out panels and card."""
        with VerticalScroll(id="scroll", can_focus=False):
            with Container(id="panels"):
                yield Panel("Places and peers", "meet")
                with Container(id="right"):
                    yield Panel("What came", "came")
                    yield Panel("Needs you", "needs")
            with ToldFrame(id="card"):
                yield Static(id="card-text")
        yield FilterLine()

    def on_mount(self) -> None:
        """Begin with the list of places, where the first key is of use (the frame is shown as well)."""
        self.query_one("#card").border_title = "Reading ..."
        self.query_one("#meet").focus()
        self.watch(self.query_one("#scroll"), "virtual_size", self._keep_card, init=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember which panel the keys went to."""
        self._is_awaited = self._is_awaited and self.lace.job is not None
        if isinstance(event.widget, Panel):
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
        arrived = [name for name, seen in reach.items() if seen.is_here and not _is_here(self._reach.get(name))]
        self._view, self._reach = view, reach
        meet = [(f"place {p.place.name}", place_row(p, reach.get(p.place.name), view)) for p in view.places]
        meet += [(f"peer {peer.status.node}", peer_row(peer, view)) for peer in view.peers]
        begins = f"  {self.key_of('new-place')} adds a place, {self.key_of('invite-friend')} invites a friend."
        nobody = rows(mark("Nobody and nowhere yet.", QUIET), mark(begins, QUIET))
        self.query_one("#meet", Panel).fill(meet, nobody)
        if is_first_look:
            self._prefer_present()
        elif arrived:
            self._prefer_arrived(arrived[0])
        if self._new_place and self.query_one("#meet", Panel).choose(f"place {self._new_place}"):
            self._new_place = ""
        came = [(entry.id, came_row(entry, view)) for entry in view.came]
        if view.new > len(view.came):
            came.append(("", mark(f"... {view.new - len(view.came)} more", QUIET)))
        self.query_one("#came", Panel).fill(came, mark("Nothing that is not in your folder.", QUIET))
        self.query_one("#needs", Panel).fill(
            [(n.id, need_row(n, self.lace.taste.keys)) for n in view.needs], calm(view)
        )

    def _prefer_present(self) -> None:
        """Begin with a place that is here and refused nothing last time, unless the person has moved already."""
        panel = self.query_one("#meet", Panel)
        places = self._view.places if self._view else ()
        failing = {view.place.name for view in places if view.trouble_at(self._reach.get(view.place.name))}
        here = [number for number, name in enumerate(self._reach) if self._reach[name].is_here]
        here.sort(key=lambda number: list(self._reach)[number] in failing)
        if panel.highlighted == 0 and here:
            panel.highlighted = here[0]

    def _prefer_arrived(self, name: str) -> None:
        """Offer to sync a place that was just plugged in."""
        panel = self.query_one("#meet", Panel)
        if not panel.choose(f"place {name}"):  # a filter leaves it out
            return
        key = self.key_of("sync")
        where = "" if self.is_current else " on Home"  # elsewhere the key does something else, or nothing
        self.notify(f"{inert(name)} is here now: {key} syncs it{where}.", markup=False)

    def show_card(self, card: Card, now_ns: int) -> None:
        """Show what the last sync or update did, and how long ago."""
        frame = self.query_one("#card")
        frame.border_title = mark(f"{card.title}, {ago(card.ended, now_ns)}" if card.ended else card.title)
        frame.set_class(card.is_bad, "-bad")
        if not (lines := rows(*card.lines)).is_same(self._told):  # to lay it out takes longer than to look
            self._told = lines
            self.query_one("#card-text", Static).update(Hanging(lines))
        is_new = card.ended not in {"", self._ended}
        self._ended = card.ended or self._ended
        if is_new and card is self.lace.card:  # what another command did moves no row away from whoever reads it
            self.call_after_refresh(self._show_whole_card)

    def _show_whole_card(self) -> None:
        """Bring the rest of a card into sight that is in sight: what came of work may take more lines than it did."""
        frame = self.query_one("#card")
        if frame.region.overlaps(self.query_one("#scroll").region):
            frame.scroll_visible(animate=False)

    def _keep_card(self) -> None:
        """Keep in sight what came of one's own work where a list above it got longer, and with it what is next."""
        if self._is_awaited and (self.lace.job is not None or self.lace.card is not None):
            self.query_one("#scroll").scroll_end(animate=False)

    def show_working(self, is_working: bool) -> None:
        """Tell whether something runs, so that the footer names the keys that matter."""
        self.show_footer()
        if is_working:  # in one column it may lie below what is in sight
            self._is_awaited = True
            self.query_one("#card").scroll_visible(animate=False)

    def words(self) -> dict[str, str]:
        """Name what `s` would sync."""
        words = {"new-place": "add a place", "invite-friend": "invite"}
        return {**words, "sync": f"sync {inert(self.target, _NAMED)}"} if self.target else words

    def small_keys(self) -> list[Action]:
        """Return what needs no list: each names what it is about, or shows its plan first."""
        return self.hinted()

    def small_lines(self) -> list[Content]:
        """Return what needs me, and what came of the last sync or update."""
        view, card = self._view, self.lace.card
        needs = list(view.needs) if view is not None else []
        lines = [need_row(need, self.lace.taste.keys).split("\n")[0] for need in needs[:_SMALL_NEEDS]]
        lines += [mark(f"... {len(needs) - _SMALL_NEEDS} more", QUIET)] if len(needs) > _SMALL_NEEDS else []
        return [*lines, *([mark(card.title, STRONG), *card.lines[:_SMALL_CARD]] if card is not None else [])]

    def hinted(self) -> list[Action]:
        """Return what to do next: before there is a place, to name one and to invite somebody."""
        if self._view is not None and not self._view.places:
            return [action_named(name) for name in ("release", "new-place", "invite-friend")]
        shown = super().hinted()
        if self._view is not None and not self.target:  # a filter leaves out all that could be synced
            shown.remove(action_named("sync"))
        if self._view is not None and not self._view.peers:
            shown.append(action_named("invite-friend"))
        return shown

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Keep the footer's words true, and in sight the list in which somebody went to another row."""
        self.show_footer()
        panel, row = event.option_list, event.option_id or ""
        if panel is self.focused and row != self._row:  # a list that is read anew highlights its row again
            self._row = row
            self._is_awaited = False
            panel.scroll_visible(animate=False)

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

    @property
    def place_view(self) -> PlaceView | None:
        """The selected place; None where a peer is selected, or nothing."""
        key = self.query_one("#meet", Panel).highlighted_id
        return next((p for p in (self._view.places if self._view else ()) if key == f"place {p.place.name}"), None)

    def offer_new(self, name: str) -> None:
        """Select a place that was just named, once it is shown, so that `s` syncs it."""
        self._new_place = name

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the row."""
        event.stop()
        self.action_open_row()

    def action_open_row(self) -> None:
        """Show all of the focused panel's row, and its command."""
        if (need := self._need()) is not None and self._opens(need):
            return
        title, lines, command = self.row()
        if title:
            shown = [*(mark(line) for line in lines), *([mark(""), mark(command, NOTE)] if command else [])]
            self.app.push_screen(Page(title, shown, self.runnable()))

    def action_filter(self) -> None:
        """Type what the rows of the panel shall hold that has the keys."""
        panel = self.focused
        if isinstance(panel, Panel):
            self.query_one(FilterLine).open_for(panel, panel.filtered)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the footer's words true: no row may be left, of which nothing tells."""
        event.stop()
        self.show_footer()

    def show_all(self) -> None:
        """Take the filters away."""
        self.query_one(FilterLine).clear_away()
        for panel in self.query(Panel):
            panel.filter("")
        self.show_footer()

    def _need(self) -> Need | None:
        """Return what needs me, where that row is selected."""
        panel, view = self.focused, self._view
        if view is None or not isinstance(panel, Panel) or panel.id != "needs":
            return None
        return next((need for need in view.needs if need.id == panel.highlighted_id), None)

    def _opens(self, need: Need) -> bool:
        """Begin what deals with it, if there is more to it than to read about it."""
        match need.kind:
            case NeedKind.CONFLICT:
                from lace_tui.screens.resolve import open_conflict_page  # no part of the first frame

                open_conflict_page(self, need.id)
            case NeedKind.PROPOSAL:
                self.lace.action_go(str(Scope.CONFLICTS))
            case NeedKind.UNFINISHED:
                self.action_update()
            case NeedKind.HELD_BACK:
                from lace_tui.screens.belonging import ask_adopt  # no part of the first frame

                ask_adopt(self, need)
            case NeedKind.REQUEST:
                from lace_tui.screens.plans import ask_admit  # no part of the first frame

                ask_admit(self, need)
            case NeedKind.TEXT:
                from lace_tui.screens.left_text import open_left_text  # hardly any text is left

                open_left_text(self, need.id)
            case NeedKind.DESK:
                from lace_tui.screens.plans import ask_folder  # no part of the first frame

                ask_folder(self, need)
            case _:
                return False
        return True

    def runnable(self) -> str:
        """Return the selected row's command as it runs."""
        need = self._need()
        return need.runs or need.command if need is not None else super().runnable()

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return title, lines and command of the focused panel's row; empty when there is none."""
        view, panel = self._view, self.focused
        if view is None or not isinstance(panel, Panel) or not panel.highlighted_id:
            return "", (), ""
        key = panel.highlighted_id
        match panel.id:
            case "came":
                came = next(entry for entry in view.came if entry.id == key)
                return "A release", came_detail(came, view), "lace conflicts" if came.contested else came.command
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
        from lace_tui.screens.visits import sync_with  # no part of the first frame

        sync_with(self, [target] if target else [])

    def action_sync_all(self) -> None:
        """Plan a sync with every place, and ask."""
        from lace_tui.screens.visits import plan_sync_all  # no part of the first frame

        plan_sync_all(self, self._view.places if self._view else (), self._reach)

    def action_dry_run(self) -> None:
        """Say what a sync with the selected place or peer would move."""
        from lace_tui.screens.visits import say_what_would_move  # no part of the first frame

        say_what_would_move(self, self.target)

    def action_release(self) -> None:
        """Ask for a version, proposing the next, and release what the folder holds."""
        from lace_tui.screens.asks import ask_release  # no part of the first frame

        ask_release(self)

    def action_new_place(self) -> None:
        """Ask for a name and where it is, and remember a place."""
        from lace_tui.screens.asks import ask_place  # no part of the first frame

        ask_place(self, self.offer_new)

    def action_edit_place(self) -> None:
        """Ask where the selected place lies from now on."""
        from lace_tui.screens.asks import ask_address  # no part of the first frame

        known = self.place_view
        if known is None:
            self.notify("Select a place.", markup=False)
        else:
            ask_address(self, known.place)

    def action_forget_place(self) -> None:
        """Say what it means to forget the selected place, and ask."""
        from lace_tui.screens.plans import ask_forget  # no part of the first frame

        known = self.place_view
        if known is None:
            self.notify("Select a place.", markup=False)
        elif self.lace.can_start:
            ask_forget(self, known)

    def action_invite_friend(self) -> None:
        """Make an invitation and show it."""
        from lace_tui.screens.asks import ask_invitation  # no part of the first frame

        ask_invitation(self)

    def action_update(self) -> None:
        """Plan an update, and ask."""
        from lace_tui.screens.plans import ask_update  # no part of the first frame

        ask_update(self)


def _is_here(seen: Reach | None) -> bool:
    return seen is not None and bool(seen.is_here)
