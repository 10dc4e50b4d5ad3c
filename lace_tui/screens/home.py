"""Home, the first screen: whether I am in step, and whether anything needs me."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.widgets import Input, OptionList, Static

from lace_tui.actions import Action, Scope, action_named
from lace_tui.cli.inert import inert
from lace_tui.screens.cards import Card, place_card, planned_card, released_card, sync_card
from lace_tui.screens.dialogs import Page, PlanPage, Question
from lace_tui.screens.entry import FilterLine
from lace_tui.screens.marks import BAD, NOTE, QUIET, STRONG, mark, rows
from lace_tui.screens.panel import Panel
from lace_tui.screens.place import Place, bindings_of
from lace_tui.screens.rows import calm, came_detail, came_row, meet_detail, need_row, peer_row, place_row
from lace_tui.view import NeedKind, ago
from vault.commands import as_option, as_typed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.content import Content

    from lace_tui.asking import Refused
    from lace_tui.view import HomeView, Need, Reach
    from lazy.invitations import Invitation
    from lazy.places import Place as Known
    from vault.names import Version

__all__ = ["Home"]

_NO_PLACE = "There is no place to sync with yet: press a, or type lace place add NAME DIR"
_INVITATION = "An invitation, good for one friend"
_SMALL_NEEDS, _SMALL_CARD = 2, 3  # lines, in a window of 12 rows


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
    Home #meet { text-wrap: nowrap; text-overflow: ellipsis; }
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
        self._new_place = ""  # which `s` is to sync
        self._ended: str | None = None  # when the work ended whose card is shown

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
        yield FilterLine()

    def on_mount(self) -> None:
        """Begin with the list of places, where the first key is of use."""
        super().on_mount()
        self.query_one("#card").border_title = "Reading ..."
        self.query_one("#meet").focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Remember which panel the keys went to."""
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
        self.show_frame()
        meet = [(f"place {p.place.name}", place_row(p, reach.get(p.place.name), view)) for p in view.places]
        meet += [(f"peer {peer.status.node}", peer_row(peer, view)) for peer in view.peers]
        nobody = rows(mark("Nobody and nowhere yet.", QUIET), mark("  a adds a place, i invites a friend.", QUIET))
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
        self.query_one("#needs", Panel).fill([(n.id, need_row(n)) for n in view.needs], calm(view))
        self.show_footer()

    def _prefer_present(self) -> None:
        """Begin with a place that is here and refused nothing last time, unless the person has moved already."""
        panel = self.query_one("#meet", Panel)
        failing = {place.place.name for place in self._view.places if place.trouble} if self._view else set()
        here = [number for number, name in enumerate(self._reach) if self._reach[name].is_here]
        here.sort(key=lambda number: list(self._reach)[number] in failing)
        if panel.highlighted == 0 and here:
            panel.highlighted = here[0]

    def _prefer_arrived(self, name: str) -> None:
        """Offer to sync a place that was just plugged in."""
        panel = self.query_one("#meet", Panel)
        if not panel.choose(f"place {name}"):  # a filter leaves it out
            return
        self.notify(f"{inert(name)} is here now: s syncs it.", markup=False)

    def show_card(self, card: Card, now_ns: int) -> None:
        """Show what the last sync or update did, and how long ago."""
        frame = self.query_one("#card")
        frame.border_title = mark(f"{card.title}, {ago(card.ended, now_ns)}" if card.ended else card.title)
        frame.set_class(card.is_bad, "-bad")
        self.query_one("#card-text", Static).update(rows(*card.lines))
        is_first, is_new = self._ended is None, card.ended not in {"", self._ended}
        self._ended = card.ended or self._ended or ""
        if is_new and not is_first:
            self.call_after_refresh(self._show_whole_card)

    def _show_whole_card(self) -> None:
        """Bring the rest of a card into sight that is in sight: what came of work may take more lines than it did."""
        frame = self.query_one("#card")
        if frame.region.overlaps(self.query_one("#scroll").region):
            frame.scroll_visible(animate=False)

    def show_working(self, is_working: bool) -> None:
        """Tell whether something runs, so that the footer names the keys that matter."""
        self.show_footer()
        if is_working:  # in one column it may lie below what is in sight
            self.query_one("#card").scroll_visible(animate=False)

    def words(self) -> dict[str, str]:
        """Name what `s` would sync."""
        words = {"new-place": "add a place", "invite-friend": "invite"}
        return {**words, "sync": f"sync {self.target}"} if self.target else words

    def small_keys(self) -> list[Action]:
        """Return what needs no list: each names what it is about, or shows its plan first."""
        return self.hinted()

    def small_lines(self) -> list[Content]:
        """Return what needs me, and what came of the last sync or update."""
        view, card = self._view, self.lace.card
        needs = list(view.needs) if view is not None else []
        lines = [need_row(need).split("\n")[0] for need in needs[:_SMALL_NEEDS]]
        lines += [mark(f"... {len(needs) - _SMALL_NEEDS} more", QUIET)] if len(needs) > _SMALL_NEEDS else []
        return [*lines, *([mark(card.title, STRONG), *card.lines[:_SMALL_CARD]] if card is not None else [])]

    def hinted(self) -> list[Action]:
        """Return what to do next: before there is a place, to name one and to invite somebody."""
        if self._view is not None and not self._view.places:
            return [action_named(name) for name in ("release", "new-place", "invite-friend")]
        shown = super().hinted()
        if self._view is not None and not self._view.peers:
            shown.append(action_named("invite-friend"))
        return shown

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
        """Show what fits as it is typed."""
        event.stop()
        self.query_one(f"#{self._panel}", Panel).filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the panel, and keep the filter."""
        event.stop()
        self.query_one(FilterLine).go_back()

    def show_all(self) -> None:
        """Take the filters away."""
        self.query_one(FilterLine).clear_away()
        for panel in self.query(Panel):
            panel.filter("")

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
                from lace_tui.screens.resolve import Resolve  # noqa: PLC0415 - no part of the first frame

                self.app.push_screen(Resolve(need.id))
            case NeedKind.PROPOSAL:
                self.lace.action_go(str(Scope.CONFLICTS))
            case NeedKind.UNFINISHED:
                self.action_update()
            case NeedKind.REQUEST:
                from lace_tui.screens.plans import ask_admit  # noqa: PLC0415 - no part of the first frame

                ask_admit(self, need)
            case NeedKind.DESK:
                from lace_tui.screens.plans import ask_folder  # noqa: PLC0415 - no part of the first frame

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
        if not target:
            self.notify(_NO_PLACE, markup=False)
            return
        self._sync([target])

    def _sync(self, names: list[str]) -> None:
        from lace_tui import deeds  # noqa: PLC0415 - no part of the first frame

        began = self.lace.monotonic()
        self.lace.begin(
            f"Sync: {inert(', '.join(names))}",
            lambda vault, watch: deeds.sync(vault, names, watch=watch),
            lambda results: sync_card(results, self.lace.monotonic() - began),
            as_typed("sync", *names),
        )

    def action_sync_all(self) -> None:
        """Plan a sync with every place, and ask."""
        view = self._view
        if view is None or not view.places:
            self.notify(_NO_PLACE, markup=False)
            return
        here = [p for p in view.places if (seen := self._reach.get(p.place.name)) is None or seen.is_here is not False]
        if not here:
            self.notify("No place is here now.", markup=False)
            return
        names = [place.place.name for place in here]
        lines = [mark(f"Sync {len(names)} of {len(view.places)} places:")]
        lines += [mark(f"  {p.place.name}  ", STRONG) + mark(f"{p.waiting} to send", QUIET) for p in here]
        away = [p.place.name for p in view.places if p.place.name not in names]
        if away:
            lines.append(mark(f"  not here: {', '.join(away)}", QUIET))

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                self._sync(names)

        self.app.push_screen(PlanPage("Sync all", lines), decided)

    def action_dry_run(self) -> None:
        """Say what a sync with the selected place or peer would move."""
        from lace_tui import deeds  # noqa: PLC0415 - no part of the first frame

        target = self.target
        if not target:
            self.notify(_NO_PLACE, markup=False)
            return
        self.lace.begin(
            f"What would move: {inert(target)}",
            lambda vault, watch: deeds.sync(vault, [target], dry_run=True, watch=watch),
            planned_card,
            as_typed("sync", target, options="--dry-run"),
        )

    def action_release(self) -> None:
        """Ask for a version, proposing the next, and release what the folder holds."""
        from lace_tui import deeds  # noqa: PLC0415 - no part of the first frame

        here = self.lace.here
        self.lace.put_when_read(
            "Release", lambda vault: deeds.next_release(vault, here), self._ask_version, self._release, "Release"
        )

    def _ask_version(self, found: tuple[str, Version, bool]) -> Question:
        from lace_tui import deeds  # noqa: PLC0415 - no part of the first frame

        desk, proposed, is_alone = found
        text = "Your folder as it is now becomes this version; friends get it at the next sync."
        if not is_alone:
            text = f"The desk {desk} as it is now becomes this version; friends get it at the next sync. Another desk:"
            text += " open lace in its folder."
        return Question("Release" if is_alone else f"Release {desk}", text, str(proposed), check=deeds.Version.parse)

    def _release(self, found: tuple[str, Version, bool], text: str | None, refused: Refused) -> None:
        from lace_tui import deeds  # noqa: PLC0415 - no part of the first frame

        if not text:
            return
        desk, _, is_alone = found
        version = deeds.Version.parse(text)
        self.lace.begin(
            f"Release {version}" if is_alone else f"Release {inert(desk)} {version}",
            lambda vault, watch: deeds.release(vault, version, desk, watch),
            lambda done: released_card(done, has_place=bool(self._view and self._view.places)),
            f"lace release {version}" if is_alone else f"lace release {version} {as_option('--desk', desk)}",
            refused,
        )

    def action_new_place(self) -> None:
        """Ask for a name and where it is, and remember a place."""
        from lace_tui import deeds  # noqa: PLC0415 - no part of the first frame
        from lace_tui.cli.folder import expanded  # noqa: PLC0415
        from vault.typed import holds_password  # noqa: PLC0415

        def named(name: str | None) -> None:
            if not name:
                return

            def found(where: str | None, refused: Refused) -> None:
                if where:
                    where = where[1:-1] if where[:1] in "'\"" and where[:1] == where[-1:] else where  # as in a shell
                    uri = str(expanded(where)) if where.startswith("~") else where
                    self.lace.begin(
                        f"Place: {inert(name)}",
                        lambda vault, _: deeds.new_place(vault, name, uri),
                        partial(added, uri),
                        refused=None if holds_password(uri) else refused,  # such a one is shown nowhere
                    )

            def added(uri: str, made: tuple[Known, tuple[str, ...]]) -> Card:
                self.lace.note(as_typed("place add", name, uri))  # what was refused may hold a password
                self._new_place = name
                return place_card(*made)

            text = "Where is it? A directory (a stick, for example), or the address of a repository."
            self.lace.put(Question(f"Add the place {name}", text), found)

        def check(name: str) -> None:
            deeds.check_place_name(name, self._view)

        self.app.push_screen(Question("Add a place", "What do you call the place?", "stick", check=check), named)

    def action_forget_place(self) -> None:
        """Say what it means to forget the selected place, and ask."""
        from lace_tui.screens.plans import ask_forget  # noqa: PLC0415 - no part of the first frame

        key = self.query_one("#meet", Panel).highlighted_id
        known = next((p for p in (self._view.places if self._view else ()) if key == f"place {p.place.name}"), None)
        if known is None:
            self.notify("Select a place.", markup=False)
        elif self.lace.can_start:
            ask_forget(self, known)

    def action_invite_friend(self) -> None:
        """Make an invitation and show it."""
        from lace_tui import deeds  # noqa: PLC0415 - no part of the first frame

        def named(name: str | None, refused: Refused) -> None:
            if name:
                self.lace.begin("Invite", lambda v, _: deeds.invite(v, name), shown, as_typed("invite", name), refused)

        def shown(made: Invitation) -> Card | None:
            from lace_tui.cli.output import moment  # noqa: PLC0415 - no part of the first frame

            line = made.encode()
            self.app.copy_to_clipboard(line)
            lines = [
                mark("Send this one line to your friend, by a way that others cannot read:"),
                mark(""),
                mark(line),
                mark(""),
                mark("It is in your clipboard too, where your terminal allows that.", QUIET),
                mark(f"It is good until {moment(made.expires.to_utc_iso())}, and for one person."),
                mark(f"Read these words to each other: {made.words}"),
            ]
            if not made.places:
                lines.append(mark("! It names no place to meet yet: add one first with a.", BAD))
            if not self.is_active:  # it is made, and must not be lost
                return Card(_INVITATION, tuple(lines))
            self.app.push_screen(Page(_INVITATION, lines, line))
            return None

        self.lace.put(Question("Invite", "What do you call the friend?", check=deeds.check_name), named)

    def action_undo(self) -> None:
        """Say what would be taken back, and ask."""
        from lace_tui.screens.plans import ask_undo  # noqa: PLC0415 - no part of the first frame

        ask_undo(self)

    def action_update(self) -> None:
        """Plan an update, and ask."""
        from lace_tui.screens.plans import ask_update  # noqa: PLC0415 - no part of the first frame

        ask_update(self)


def _is_here(seen: Reach | None) -> bool:
    return seen is not None and bool(seen.is_here)
