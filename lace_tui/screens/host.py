"""What a screen may ask of the app that shows it (APP-3).

The screens know this and nothing of the app itself; the app knows them. So what they can ask for stands here, whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    import argparse

    from textual.content import Content
    from textual.screen import Screen

    from lace_tui.acts.server import Server
    from lace_tui.keys.actions import Scope
    from lace_tui.keys.taste import Taste
    from lace_tui.model.deeds import TakenBack
    from lace_tui.model.job import Job
    from lace_tui.model.view import HomeView, Reach
    from lace_tui.screens.cards import Card
    from lace_tui.screens.dialogs import Question
    from lazy.live.answering import Served
    from vault.surroundings import Surroundings
    from vault.vault import Vault
    from vault.watch import Watch

__all__ = ["SAVING", "Answered", "Choosing", "Host", "Losing", "Readable", "Refused"]

SAVING = "draft "
"""What the groups of readings begin with that keep choices; whoever leaves waits for them."""

Refused = Callable[[str], bool]
"""Takes why the work refused an answer, asks again with it, and returns whether it could."""

Answered = Callable[[str | None, Refused], None]
"""Takes an answer, or None where there is none, and what asks again."""


class Readable(Protocol):
    """A place, as far as it has to be known to be read."""

    SCOPE: ClassVar[Scope]

    @property
    def is_open(self) -> bool:
        """Whether it is laid out, in front or not, and was not left."""

    def read(self, vault: Vault) -> Any:
        """Return what the place shows, read in a thread with a vault of its own."""

    def show(self, value: Any) -> None:
        """Show what `read` returned."""


@runtime_checkable
class Losing(Protocol):
    """A screen that holds what is on no disk."""

    @property
    def losing(self) -> str:
        """What leaving the app would lose, in a sentence; empty where it loses nothing."""


@runtime_checkable
class Choosing(Protocol):
    """A screen whose choices are kept as they are made."""

    def keep_again(self) -> None:
        """Keep what could not be kept before."""


class Host(Protocol):
    """The app, as its screens know it."""

    taste: Taste
    view: HomeView | None
    """What was read of the vault last."""
    reach: dict[str, Reach]
    """Which places are there, by name."""
    card: Card | None
    """What Home shows of the work that ended last."""
    server: Server | None
    """What serves friends."""
    aside: set[str]
    """Ids of conflicts that were set aside in this sitting."""
    taken_back: TakenBack | None
    """What was taken back last in this sitting, and can be done again."""
    wants_demo: bool
    monotonic: Callable[[], float]

    @property
    def folder(self) -> Path | None:
        """The shared folder, or None while there is no vault."""

    @property
    def job(self) -> Job | None:
        """The work under way."""

    @property
    def here(self) -> str:
        """The folder it was opened in, which says which desk is meant."""

    @property
    def now_ns(self) -> int:
        """The wall clock, nanoseconds since 1970 UTC, for display; 0 while there is no vault."""

    @property
    def can_start(self) -> bool:
        """Whether work may begin; says why not."""

    # Reading and working

    def ask(
        self,
        do: Callable[[Vault], Any],
        then: Callable[[Any], None],
        group: str = "ask",
        *,
        asked: str = "",
        refused: Refused | None = None,
    ) -> None:
        """Read something in a thread, and give it back on the screen's thread."""

    def begin(
        self,
        what: str,
        do: Callable[[Vault, Watch], Any],
        then: Callable[[Any], Card | None],
        command: str = "",
        refused: Refused | None = None,
    ) -> bool:
        """Begin work that may write, one at a time; return whether it was begun."""

    def begin_unopened(
        self,
        what: str,
        do: Callable[[Path, Surroundings, Watch], Any],
        then: Callable[[Any], Card | None],
        command: str = "",
    ) -> bool:
        """Begin work that opens the vault by itself, as a check does, which a damaged one is to pass."""

    def forget_passphrase(self) -> None:
        """Ask for the passphrase of the key anew: the one that was given is not its any more."""

    def keep(self, card: Card) -> None:
        """Show a card on Home until the next one."""

    def read_place(self, place: Readable) -> None:
        """Read what a place shows."""

    def working_parts(self) -> list[tuple[int, Content]]:
        """Return work under way for a header; nothing while there is none."""

    def action_stop(self) -> None:
        """Stop what is running, at its next safe point."""

    def note(self, command: str) -> None:
        """Write a command down on the activity page."""

    def make_vault(
        self, do: Callable[[Path, Surroundings], tuple[Vault, list[Content]]], command: str, title: str
    ) -> None:
        """Make a vault in the folder it was started in, and go Home, where what is to be read first lies in front."""

    # Serving friends

    def serve_by(self, server: Server | None) -> None:
        """Show that friends are served, or no longer."""

    def tell_served(self, served: Served) -> None:
        """Tell of a request that was answered; called from any thread."""

    def serving_parts(self) -> list[tuple[int, Content]]:
        """Return for a header where friends reach this device; nothing while nobody is served."""

    # Asking a person

    def put(self, question: Question, then: Answered) -> None:
        """Ask a question, and again with what was typed where the work refuses the answer."""

    def put_when_read(
        self,
        title: str,
        do: Callable[[Vault], Any],
        made: Callable[[Any], Question | None],
        then: Callable[[Any, str | None, Refused], None],
        asked: str,
    ) -> None:
        """Ask a question that has to be read first; it is in front at once, and takes what is typed meanwhile."""

    def open_page(
        self, asker: Screen[Any], action_id: str, page: Screen[Any], then: Callable[[Any], None] | None = None
    ) -> None:
        """Show a page that was made ready meanwhile; where its asker is not in front any more, say that it is ready."""

    def pages(self) -> list[tuple[str, Screen[Any]]]:
        """Return every screen that is open, in front or not, with the mode that it is in."""

    def taken_apart(self, verb: str, words: Sequence[str]) -> argparse.Namespace:
        """Return the words that a person typed behind a verb as its command takes them apart."""

    def offer_sync(self, following: str) -> None:
        """Offer a sync once everything is decided."""

    def edit_outside(self, path: str, content: bytes) -> bytes | None:
        """Let the person edit a text in their own editor; None when nothing came of it."""

    def keep_text(self, path: str, content: bytes, at: Path | None = None) -> Path:
        """Keep a text that is in no draft for a week, and return its file; `at` is the one that had it before."""

    # Going and looking

    def action_go(self, place: str) -> None:
        """Go to a place."""

    def choose_theme(self, name: str) -> None:
        """Take other colours from now on."""

    def live_by(self, taste: Taste, keep: Callable[[Path], None]) -> None:
        """Live by another taste from now on, and keep what changed for the next time."""
