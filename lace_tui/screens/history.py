"""History: every commit, release and decision, newest first, with their lineage; any revision's files (APP-4).

Time travel is by case: a revision's number, a version, a label or a date (CLAY-13 to CLAY-16).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.binding import BindingType
from textual.content import Content

from lace_tui.keys.actions import Scope
from lace_tui.keys.bindings import bindings_of
from lace_tui.keys.keymap import key_of
from lace_tui.model.view import ago, beginning
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Question
from lace_tui.screens.files import Files, offer_checkout, show_difference
from lace_tui.screens.host import Refused
from lace_tui.screens.kept import Kept
from lace_tui.screens.letting_go import ask_prune
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import BAD, GOOD, NOTE, QUIET, STRONG, cell, column, mark
from lace_tui.screens.old_revisions import OldFiles, between, commits_of, drawings, entry_at, files_at, what_changed
from lace_tui.screens.viewer import Texts, Viewer
from lace_tui.words.folder import still_shared_lines
from lace_tui.words.inert import inert
from lace_tui.words.times import moment
from lazy.log import LogLine, log_lines
from lazy.people import label_of
from lazy.results import PlaceResult
from lazy.strategy import Occasion, follow
from lazy.visits.parcels import show as show_record
from vault.by_kind import counted
from vault.commands import as_option, as_typed, as_word
from vault.desk_folders import MAIN, desk_at
from vault.folder.work import Changes, Committed, Unchanged, changes, commit
from vault.plural import few, more_lines
from vault.profile import Release, Resolution
from vault.records import RecordHash
from vault.revisions.history import line_head, revisions_of
from vault.revisions.labels import Labelled, NothingToLabel, set_label
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["History"]

LIMIT = 20_000  # lines read at once; beyond them a filter by command is quicker
_NAME, _SHARE = 12, 4  # cells of an author's name in a row, and which part of the screen it may take beyond them
_NAMED = 8  # changed paths named before a commit
_TIMES = "main@3, bob/main@1.0.0, main@draft, main@2026-05-01; two of them show what differs."


class _View(NamedTuple):
    lines: tuple[LogLine, ...]
    names: dict[str, str]
    lineage: tuple[str, ...]
    is_cut: bool = False  # whether more came before
    mine: str = ""  # my own node


class _Rows:
    """The log as rows, made when they are seen."""

    def __init__(self, view: _View, now_ns: int, width: int) -> None:
        self._view = view
        self._now_ns = now_ns
        self._width = max((len(drawn) for drawn in view.lineage), default=0)
        self._room = max(width, 1)
        self._names_width = column(view.names.values(), 1, max(_NAME, width // _SHARE) + 1)

    def __len__(self) -> int:
        return len(self._view.lines)

    def line(self, number: int) -> Content:
        """Return one row: lineage, age, who, what."""
        line = self._view.lines[number]
        style = {Release.APP: GOOD, Resolution.APP: NOTE}.get(line.app, "")
        head = mark(f"{self._view.lineage[number]:<{self._width}} ", NOTE)
        head += mark(f"{ago(line.tai.to_utc_iso(), self._now_ns):>10}  ", QUIET)
        head += mark(cell(self._view.names[line.node], self._names_width) + " ", STRONG) + mark(line.act, style)
        return head + mark("  " + inert(line.words.partition("\n")[0], self._room))

    def key(self, number: int) -> str:
        """Return the record's hash."""
        return self._view.lines[number].hash.text

    def text(self, number: int) -> str:
        """Return what a filter searches."""
        line = self._view.lines[number]
        return f"{self._view.names[line.node]} {line.act} {line.app} {line.name} {line.message}".lower()


class History(Listing):
    """The log."""

    SCOPE = Scope.HISTORY
    TITLE = "History"
    EMPTY = "Nothing happened yet: commit something, or sync."
    CAN_MARK = True
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.HISTORY)

    def __init__(self) -> None:
        super().__init__()
        self._view = _View((), {}, ())
        self._by_key: dict[str, LogLine] = {}

    def read(self, vault: Vault) -> _View:
        """Read the newest lines and how their commits grew."""
        with vault.store.reading():
            lines = log_lines(vault, limit=LIMIT + 1)
            is_cut, lines = len(lines) > LIMIT, lines[:LIMIT]
            names = {node: label_of(vault, node) for node in {line.node for line in lines}}
            return _View(tuple(lines), names, tuple(drawings(vault, lines)), is_cut, vault.node.text)

    def show(self, value: _View) -> None:
        """Show the lines."""
        self._view = value
        self._by_key = {line.hash.text: line for line in value.lines}
        self.lines.title = (
            f"History, the newest {LIMIT:,} entries (more: lace log -n K)" if value.is_cut else self.TITLE
        )
        self.fill(_Rows(value, self.lace.now_ns, self.size.width))

    def fit_rows(self) -> None:
        """Give the authors' names the room that there is."""
        if self._by_key:
            self.fill(_Rows(self._view, self.lace.now_ns, self.size.width))

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected entry."""
        line = self._by_key.get(self.lines.key)
        if line is None:
            return "", (), ""
        shared = f"entry {line.seq}" if line.seq else "no entry of its own"
        lines = (
            f"{self._view.names[line.node]} {line.act}",
            *beginning(line.words).splitlines(),
            f"When: {moment(line.tai.to_utc_iso())} (for display; nothing is decided by it)",
            f"Their key: {line.node}",
            f"In their log: {shared}",
            f"Record: {line.hash}",
            *self._strategy_lines(line),
        )
        return "An entry", lines, f"lace record show {line.hash}"

    def _strategy_lines(self, line: LogLine) -> tuple[str, ...]:
        """Return how a friend's release is merged otherwise than an update does."""
        desk, _, version = line.name.rpartition("/")
        if line.app != Release.APP or line.node == self._view.mine or line.after_cut:
            return ()
        address = f"{self._view.names[line.node]}/{desk}@{version}"
        return (f"By a strategy: {as_typed('merge', desk, options=f'--from {as_word(address)} --strategy S')}",)

    # Look

    def action_diff(self) -> None:
        """Show what the entry changed, or what lies between two marked ones."""
        chosen = self.lines.chosen
        if not chosen and not self.selected_key():
            return
        if not 1 <= len(chosen) <= 2:
            self.notify("Mark two entries, or none.", markup=False)
            return
        self.lace.ask(
            lambda vault: what_changed(vault, chosen),
            lambda found: show_difference(self, "diff", found),
            "diff",
            asked="Diff",
        )

    def action_files(self) -> None:
        """See the files as they were at the selected entry."""
        if key := self.selected_key():
            self.lace.ask(
                lambda vault: entry_at(vault, key), lambda old: self._open("files", old), "files", asked="Files"
            )

    def _open(self, action_id: str, old: OldFiles) -> None:
        self.lace.open_page(self, action_id, Files(old))

    def action_travel(self) -> None:
        """Ask for a time, or for two."""

        def named(text: str | None, refused: Refused) -> None:
            words = (text or "").split()
            if len(words) == 1:
                self.lace.ask(
                    lambda vault: files_at(vault, words[0]),
                    lambda old: self._open("travel", old),
                    "files",
                    asked=words[0],
                    refused=refused,
                )
            elif len(words) == 2:
                self.lace.ask(
                    lambda vault: between(vault, *words),
                    lambda found: show_difference(self, "travel", found),
                    "diff",
                    asked=" to ".join(words),
                    refused=refused,
                )
            elif words:
                refused("One time shows its files, two show what differs.")

        self.lace.put(Question("Back in time", f"Which time? For example {_TIMES}", "main"), named)

    def action_record(self) -> None:
        """Show the selected entry's record."""
        if key := self.selected_key():

            def shown(stored: bytes) -> None:
                lines = stored.decode("utf-8", "backslashreplace").splitlines()
                self.lace.open_page(self, "record", Viewer(key, Texts(lines), f"lace record show {key}"))

            self.lace.ask(lambda vault: show_record(vault, key), shown, "record", asked="The record")

    # Do

    def action_check_out(self) -> None:
        """Bring the folder to the selected entry, after the plan."""
        if key := self.selected_key():
            self.lace.ask(
                lambda vault: entry_at(vault, key), lambda old: offer_checkout(self, old), "files", asked="Check out"
            )

    def action_commit(self) -> None:
        """Say what changed in the folder, and ask why."""
        here = Path(self.lace.here)
        self.lace.put_when_read(
            "Commit", lambda vault: changes(vault, desk_at(vault, here)), self._ask_why, self._commit, "Commit"
        )

    def _ask_why(self, found: Changes) -> Question | None:
        if not found.items:
            self.notify(f"Nothing changed in {found.desk} since the last commit.", markup=False)
            return None
        desk = found.desk
        shown = few([item.path for item in found.items], _NAMED)
        title = "Commit" if desk == MAIN else f"Commit {desk}"
        text = f"{counted(found)}: {shown}. What did you do, and why?"
        return Question(title, text, lacks="A commit needs a sentence.")

    def _commit(self, found: Changes, text: str | None, refused: Refused) -> None:
        desk = found.desk
        if not text:
            return

        def do(vault: Vault, watch: Watch) -> tuple[Committed | Unchanged, list[PlaceResult]]:
            made = commit(vault, text, desk=desk, watch=watch)
            return made, follow(vault, Occasion.COMMIT, watch) if made else []

        where = "" if desk == MAIN else f" {as_option('--desk', desk)}"
        self.lace.begin(
            "Commit",
            do,
            partial(_committed, self.lace.taste.keys),
            f"lace commit {as_option('-m', text)}{where}",
            refused,
        )

    def action_prune(self) -> None:
        """Ask how much old content stays, and let the rest go after the plan."""
        ask_prune(self, "prune")

    def action_kept_states(self) -> None:
        """See what was kept before it was written over."""
        self.lace.open_page(self, "kept-states", Kept())

    def action_desks(self) -> None:
        """See the desks and their rules."""
        from lace_tui.screens.desks import Desks  # most have one desk and no rule

        self.lace.open_page(self, "desks", Desks())

    def action_label(self) -> None:
        """Ask for a name of the selected revision of mine, or of the newest of the folder where nothing is selected."""
        key, here = self.lines.key, Path(self.lace.here)
        self.lace.put_when_read("Label", lambda vault: _nameless(vault, key, here), _ask_label, self._label, "Label")

    def _label(self, meant: _Nameless, name: str | None, refused: Refused) -> None:
        if name:
            command = f"lace label {as_word(name)}{meant.option}" if meant.is_newest else ""
            self.lace.begin(
                "Label", lambda vault, _: set_label(vault, name, meant.desk, meant.commit), _labelled, command, refused
            )


class _Nameless(NamedTuple):
    """A revision of mine that a label may name, whether it is the newest, and how `lace label` is told its desk."""

    desk: str
    commit: RecordHash
    number: int
    is_newest: bool
    option: str


def _ask_label(meant: _Nameless) -> Question:
    text = f"It starts with a letter, is used once, and names {meant.desk}@{meant.number} for good."
    return Question("Label", text)


def _nameless(vault: Vault, key: str, here: Path) -> _Nameless:
    """Return the revision of mine that an entry is; where it is none at all, the newest of the folder's desk.

    Raises:
        NothingToLabel: it is somebody else's, or there is none yet.
    """
    found, there = commits_of(vault, key) if key else None, desk_at(vault, here)
    mine = [head for head in revisions_of(vault.store, found) if head.node == vault.node.text] if found else []
    if found and not mine:
        raise NothingToLabel(
            "This is not a revision of your line, and a label is for good.", hint="Select a commit of yours in History."
        )
    first = min(mine, key=lambda head: head.number, default=None)
    desk = first.desk if first is not None else there
    newest = line_head(vault.store, vault.node.text, desk)
    if newest is None:
        raise NothingToLabel(f"Your line of {desk} has no revision yet.")
    meant, number = (newest.commit, newest.number) if first is None else (first.commit, first.number)
    option = "" if desk == there == MAIN else f" {as_option('--desk', desk)}"
    return _Nameless(desk, meant, number, meant == newest.commit, option)


def _committed(keys: Mapping[str, str], done: tuple[Committed | Unchanged, list[PlaceResult]]) -> Card:
    made, pushed = done
    out = [one for one in made.problems if one.kind == "skipped"]
    told = [mark(f"! {one.path} {one.reason}; it was left out.", BAD) for one in out[:_NAMED]]
    told += [mark(line, QUIET) for line in more_lines(len(out), _NAMED)]
    told += [mark(f"! {line}", BAD) for line in still_shared_lines(made.problems)]
    if not made:
        return Card("Commit: nothing to do", (mark("Nothing changed in the folder since the last commit."), *told))
    lines = [mark(f"= {made.desk}@{made.revision}: {counted(made)}", GOOD)]
    lines += [mark(f"  pushed to {result.name}") for result in pushed if not result.queued]
    lines += [mark(f"  {result.name} is not reached; it stays in the queue", BAD) for result in pushed if result.queued]
    lines.append(mark(f"next: {key_of('release', keys)} on Home releases it, so that your friends get it", QUIET))
    return Card("Commit: done", (*lines, *told))


def _labelled(made: Labelled) -> Card:
    return Card("Label: done", (mark(f"= {made.desk}@{made.revision} is {made.desk}@{made.label} now", GOOD),))
