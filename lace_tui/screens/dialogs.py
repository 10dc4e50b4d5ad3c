"""Pages that lie over a place: the details of a row, a plan to agree to, and a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.keys.keymap import key_of
from lace_tui.screens.entry import TextLine
from lace_tui.screens.marks import BAD, QUIET, STRONG, mark, pressable, rows
from lace_tui.screens.overlay import Overlay
from lace_tui.words.inert import inert, is_harmless
from vault.errors import LaceError

if TYPE_CHECKING:
    from lace_tui.keys.taste import HasTaste

__all__ = ["Leaving", "Offer", "Page", "PlanPage", "Question", "ServingPage"]

_TOLD = 60  # characters of what was copied; an invitation would hide the page


class Page(Overlay[bool]):
    """Lines to read; any of esc, enter, q or ? leaves.

    Args:
        title: shown in the frame.
        lines: them.
        copies: what `y` takes along; nothing where there is nothing to take.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,n,question_mark", "leave", "Back", show=False),
        Binding("j", "scroll(1)", "Down", show=False),
        Binding("k", "scroll(-1)", "Up", show=False),
        Binding("y", "copy", "Copy", show=False),
    ]

    DEFAULT_CSS = """
    Page { align: center middle; }
    Page #page {
        width: 90%; max-width: 84; height: auto; max-height: 90%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    """

    def __init__(self, title: str, lines: list[Content], copies: str = "") -> None:
        super().__init__()
        self.title = title
        self._lines = lines
        self._copies = copies
        self._is_seen = False  # keys from before it was painted were typed for something else

    def compose(self) -> ComposeResult:
        """Lay out the frame and its lines."""
        with VerticalScroll(id="page") as page:
            page.border_title = Content(self.title or "")
            keys = [("esc back", "screen.leave"), *([("y copies", "screen.copy")] if self._copies else [])]
            page.border_subtitle = pressable(*keys)
            yield Static(rows(*self._lines))

    def on_mount(self) -> None:
        """Lie in front of what was told, which would hide half of it on a narrow screen."""
        self.app.clear_notifications()
        self.call_after_refresh(self._seen)

    def _seen(self) -> None:
        self._is_seen = True

    def leave_with(self, *, is_agreed: bool) -> None:
        """Go back with an answer, unless it was given before there was anything to see."""
        if self._is_seen:
            self.dismiss(is_agreed)

    def key_of(self, action_id: str) -> str:
        """Return the first key of an action, as this person has it."""
        lace: HasTaste = self.app  # type: ignore[assignment]
        return key_of(action_id, lace.taste.keys)

    def action_leave(self) -> None:
        """Go back and do nothing."""
        self.leave_with(is_agreed=False)

    def action_copy(self) -> None:
        """Take along what the page names: a command, a key, an invitation."""
        if self._copies:
            is_safe = is_harmless(self._copies)  # then tabs stay what they are
            text = self._copies if is_safe else "\n".join(map(inert, self._copies.split("\n")))
            self.app.copy_to_clipboard(text)
            told = text.partition("\n")[0][:_TOLD]
            self.notify(f"Copied: {inert(told)}{' ...' if told != text else ''}", markup=False)

    def action_scroll(self, by: int) -> None:
        """Move the lines."""
        self.query_one("#page").scroll_relative(y=by, animate=False)


class PlanPage(Page):
    """A plan; only the key that is not the one that led here agrees.

    Args:
        title: shown in the frame.
        lines: the plan.
        agrees: what the key that agrees does, in a word or two.
        leaves: what the key does that agrees to nothing.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.PLAN)

    def __init__(self, title: str, lines: list[Content], agrees: str = "do it", leaves: str = "leave it") -> None:
        super().__init__(title, lines)
        self._agrees, self._leaves = agrees, leaves

    def on_mount(self) -> None:
        """Name the keys."""
        self.name_keys()

    def name_keys(self) -> None:
        """Name them in the frame."""
        self.query_one("#page").border_subtitle = pressable(
            (f"{self.key_of('confirm')} {self._agrees}", "screen.confirm"), (f"n {self._leaves}", "screen.leave")
        )

    def action_confirm(self) -> None:
        """Agree."""
        self.leave_with(is_agreed=True)


class Leaving(PlanPage):
    """Asks whether to leave while work runs or friends are served, or choices are on no disk.

    Args:
        running: what leaving would end, in sentences.
        losing: what it would lose, in sentences.
    """

    def __init__(self, running: list[Content], losing: list[Content]) -> None:
        title, agrees = ("Leave while it runs?", "stop and leave") if running else ("Leave and lose it?", "leave")
        super().__init__(title, [*running, *losing], agrees, "stay")
        self._ending, self._losing = running, losing

    def show_running(self, running: list[Content]) -> None:
        """Ask about what still runs: it may end while somebody thinks."""
        if running == self._ending or not self._is_seen or not self.query("#page"):  # not yet there, or gone
            return
        self._ending = running
        over = mark("Nothing is running any more: it has ended meanwhile.", STRONG)
        self._lines = [*(running or [over]), *self._losing]
        if not running:
            self._agrees = "leave"
            self.query_one("#page").border_title = Content("Leave?")
            self.name_keys()
        self.query_one("#page Static", Static).update(rows(*self._lines))


class ServingPage(Page):
    """Where friends reach this device, to be copied; a key of its own ends that."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.SERVING)

    def on_mount(self) -> None:
        """Name the keys."""
        self.query_one("#page").border_subtitle = pressable(
            ("y copies", "screen.copy"), (f"{self.key_of('end-serving')} ends", "screen.end_serving"),
            ("esc back", "screen.leave"),
        )  # fmt: skip

    def action_end_serving(self) -> None:
        """Answer friends no more."""
        self.leave_with(is_agreed=True)


class Offer(Page):
    """Everything is decided: sync now, so that friends learn of it, or later."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.OFFER)

    def __init__(self, title: str, lines: list[Content]) -> None:
        super().__init__(title, lines)

    def on_mount(self) -> None:
        """Name the keys."""
        self.query_one("#page").border_subtitle = pressable(
            (f"{self.key_of('sync-now')} sync now", "screen.sync_now"), ("esc later", "screen.leave")
        )

    def action_sync_now(self) -> None:
        """Agree."""
        self.leave_with(is_agreed=True)


class _Line(TextLine):
    """One line; what is pasted in several is joined.

    Args:
        value: what stands in it first.
        is_secret: it is never shown, and taken as it is pasted.
        is_invitation: it was cut into lines, perhaps with a frame around it, and is one word.
    """

    def __init__(self, value: str, *, is_secret: bool, is_invitation: bool) -> None:
        super().__init__(value, id="answer", password=is_secret)
        self._is_invitation = is_invitation

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        lines = event.text.splitlines()
        if self._is_invitation:
            self.insert_text_at_cursor("".join(part.strip(" \u2502\t") for part in lines))
        else:
            self.insert_text_at_cursor("".join(lines) if self.password else " ".join(lines))


class Question(Overlay[str | None]):
    """One line to type; enter takes it, esc leaves things as they are. A secret is never shown or trimmed.

    Args:
        title: what it is about.
        text: the question, in lines; one that warns begins with a sign.
        value: what stands in the line first.
        is_secret: it is never shown or trimmed.
        is_invitation: it may have been cut into lines.
        check: raises for what cannot be taken; that is said under the question, and what was typed stays to be mended.
        lacks: what is said where nothing was typed; empty where that is an answer.
        refused: why what stands in the line was not taken.
        goes_on: whether one types on behind what stands in the line; else what is typed takes its place.
        is_ready: whether it is known what is asked; until then one can type, and `become` makes it ready.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False),
        Binding("pagedown", "scroll(1)", "Down", show=False),
        Binding("pageup", "scroll(-1)", "Up", show=False),
    ]

    DEFAULT_CSS = """
    Question { align: center middle; }
    Question #page {
        width: 90%; max-width: 84; height: auto; max-height: 100%; border: round $primary; background: $surface;
        padding: 0 1;
    }
    Question #words { height: auto; max-height: 75vh; scrollbar-size-vertical: 1; }
    Question.-low #words { max-height: 5; }
    Question Input { border: tall $primary; }
    """

    def __init__(
        self,
        title: str,
        text: str,
        value: str = "",
        *,
        is_secret: bool = False,
        is_invitation: bool = False,
        check: Callable[[str], object] | None = None,
        lacks: str = "Nothing is typed yet.",
        refused: str = "",
        goes_on: bool = False,
        is_ready: bool = True,
    ) -> None:
        super().__init__()
        self.title = title
        self._text = text
        self._value = value
        self._is_secret = is_secret
        self._is_invitation = is_invitation
        self._check = check
        self._lacks = lacks
        self._refused = refused
        self._goes_on = goes_on
        self._is_ready = is_ready

    def again(self, value: str, refused: str) -> Question:
        """Return the same question with an answer that was not taken, and why."""
        is_secret, is_invitation = self._is_secret, self._is_invitation
        return Question(
            self.title or "", self._text, value, is_secret=is_secret, is_invitation=is_invitation, check=self._check,
            lacks=self._lacks, refused=refused, goes_on=self._goes_on,
        )  # fmt: skip

    def become(self, other: Question) -> None:
        """Ask what another question asks; what was typed meanwhile stays, else its answer is proposed."""
        self.title, self._text, self._value, self._check = other.title, other._text, other._value, other._check
        self._lacks, self._goes_on = other._lacks, other._goes_on
        self._is_ready = True
        if self.is_mounted:
            self._show()
            self._propose()

    def _propose(self) -> None:
        line = self.query_one(Input)
        line.select_on_focus = not (self._refused or self._goes_on)  # who mends an answer begins at its end
        if not line.value and self._value:
            line.value = self._value
            (line.action_end if self._goes_on else line.action_select_all)()

    def _show(self) -> None:
        self.query_one("#page").border_title = Content(self.title or "")
        lines = [mark(line, BAD if line.startswith("! ") else QUIET) for line in self._text.split("\n")]
        lines += [mark(self._refused, BAD)] if self._refused else []
        self.query_one("#question", Static).update(rows(*lines))
        if self._refused:  # on a small screen it lies below what is in sight
            self.call_after_refresh(self.query_one("#words").scroll_end, animate=False)

    def compose(self) -> ComposeResult:
        """Lay out the question and its line."""
        with Vertical(id="page") as page:
            page.border_subtitle = pressable(("enter takes it", "screen.take"), ("esc back", "screen.leave"))
            with VerticalScroll(id="words", can_focus=False):
                yield Static(id="question")
            yield _Line(self._value, is_secret=self._is_secret, is_invitation=self._is_invitation)

    def on_mount(self) -> None:
        """Begin in the line, with nothing in front of the question."""
        self.app.clear_notifications()
        self._show()
        self._propose()
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take what was typed before the key."""
        event.stop()
        self._take(event.value)

    def action_take(self) -> None:
        """Take what is typed."""
        self._take(self.query_one(Input).value)

    def _take(self, typed: str) -> None:
        """Take an answer, once it is known what was asked; of one that cannot be taken say why, and stay."""
        if not self._is_ready:
            return
        value = typed if self._is_secret else typed.strip()
        self._refused = "" if value or not self._lacks else f"{self._lacks} esc leaves things as they are."
        if value and self._check is not None:
            try:
                self._check(value)
            except LaceError as error:
                self._refused = f"{error.message} {error.hint}"
        if self._refused:
            self._show()
        else:
            self.answer(value)

    def answer(self, value: str) -> None:
        """Leave with an answer that can be taken."""
        self.dismiss(value)

    def action_scroll(self, pages: int) -> None:
        """Move the words of the question, where they are longer than the screen."""
        words = self.query_one("#words")
        words.scroll_relative(y=pages * max(1, words.size.height - 1), animate=False)

    def action_leave(self) -> None:
        """Leave things as they are."""
        self.dismiss(None)
