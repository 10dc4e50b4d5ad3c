"""What is chosen on a page goes to its draft, and a result that is edited by hand to the file it was edited for.

The page below an editor is read anew whenever somebody writes, so that the file in front when one comes back, or what
it holds, may be another than the one that was there when one began (APP-12, LAZ-39, LAZ-42).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lace_tui.screens.comparing import Comparing
from lace_tui.screens.dialogs import PlanPage
from lace_tui.screens.editor import Editor, Told
from lace_tui.screens.late_text import Late, LatePage
from lace_tui.screens.marks import mark
from lace_tui.words.inert import inert, is_harmless
from lazy.resolving.deciding import Pick, draft_text
from lazy.resolving.drafts import Saved
from lazy.resolving.opening import OpenFile
from vault.desks.diff import MAX_TEXT_BYTES
from vault.errors import LaceError

__all__ = ["Editing"]

_LONGEST = 50_000  # characters of a line; in a longer one each key takes more than a fifth of a second
_DECIDED = "needs no decision any more"
_UNKEPT = "has no draft"
_TOO_LONG = "Not kept: the text is over 2 MiB now. Shorten it, or take typing back with ctrl+z."


class Editing(Comparing):
    """One conflict whose choices are kept, and whose results are edited.

    Args:
        conflict_id: which.
    """

    def __init__(self, conflict_id: str) -> None:
        super().__init__(conflict_id)
        self._is_decided = False
        self._late: list[Late] = []  # what nobody has seen yet

    @property
    def is_decided(self) -> bool:
        """Whether the conflict is no more, so that the page goes once it is in front."""
        return self._is_decided

    def show(self, value: Any) -> None:
        """Show the conflict; texts that were edited for what somebody changed meanwhile are shown once more."""
        edited = self._edited()
        super().show(value)
        if not self._is_decided:
            self._lose(edited)
            self._show_lost()
            self.keep_again()

    def _edited(self) -> list[tuple[OpenFile, bytes]]:
        """Return the files whose results were edited, with these."""
        files = self.walk.opened.files if self.walk.opened else ()
        picks = [(file, self.walk.picks.get(file.path, Pick()).edited) for file in files]
        return [(file, content) for file, content in picks if content is not None]

    def _lose(self, edited: list[tuple[OpenFile, bytes]]) -> None:
        """Take note of those edited texts whose file is not there as it was, and keep each in a file of its own."""
        for file, content in edited:
            if not self._has(file):
                before = [one for one in self._late if (one.file.path, one.file.key) == (file.path, file.key)]
                self._late = [one for one in self._late if one not in before]
                self._late.append(self._late_of(file, content, before[0].kept if before else None))

    def _keep_late(self, file: OpenFile, content: bytes) -> Told:
        """Keep a text that is typed still for a file which is not there as it was, and say where it lies."""
        self._lose([(file, content)])
        late = self._late[-1]
        if late.kept is None:
            return Told(f"Not kept: {inert(file.path)} {late.why}. {inert(late.problem)}")
        folder = self.lace.folder  # the frame is too narrow for a whole path; the page that esc leads to has it
        where = late.kept.relative_to(folder) if folder and late.kept.is_relative_to(folder) else late.kept
        return Told(f"It {late.why}: what you type lies in {inert(str(where))}", is_lost=False)

    def _tell_late(self, edited: list[tuple[OpenFile, bytes]], why: str) -> None:
        """Say where texts lie whose page is not there any more; what cannot be kept is shown.

        Args:
            edited: the texts.
            why: no draft has them, to follow the path.
        """
        for file, content in edited:
            late = self._late_of(file, content, None)._replace(why=why)
            if late.kept:
                decides = "is in no draft" if why == _UNKEPT else "decides nothing any more"
                told = f"What you wrote for {inert(file.path)} {decides}"
                where = f"it lies in {inert(str(late.kept))} for a week."
                self.notify(f"{told}: {where}", severity="warning", timeout=30, markup=False)
            else:
                self.app.push_screen(LatePage(late))

    def _late_of(self, file: OpenFile, content: bytes, at: Path | None) -> Late:
        late = Late(file, content, self._why_late(file))
        try:
            return late._replace(kept=self.lace.keep_text(file.path, content, at))
        except LaceError as error:
            return late._replace(problem=f"{error.message} {error.hint}".rstrip())

    def _show_lost(self) -> bool:
        """Show what was lost, each text on a page of its own, once this one is in front; tell whether there is any."""
        if not self.is_active:
            return False
        late, self._late = self._late, []
        for one in reversed(late):
            self.app.push_screen(LatePage(one))  # nothing else leads to it any more
        return bool(late)

    def _set(self, pick: Pick, path: str = "", *, is_typed: bool = False) -> None:
        """Choose for the file in front, or for the one of that path, and keep it."""
        path = path or (self.walk.file.path if self.walk.file else "")
        if not path:
            return
        self.walk.picks[path] = pick
        self.keeping.choose(path, pick)
        self._keep(is_told=is_typed)

    def _has(self, file: OpenFile) -> bool:
        """Tell whether the conflict is open still, and has a file as it was; its contents alone count, as in drafts."""
        files = self.walk.opened.files if self.walk.opened and not self._is_decided else ()
        return any((one.path, one.key) == (file.path, file.key) for one in files)

    def _unless_edited(self, act: Callable[[], None]) -> None:
        """Do what puts another result in place of this one; where it was edited ask first: no key brings it back."""
        file = self.walk.file
        if file is None or self.walk.pick.edited is None:
            act()
            return

        def agreed(is_agreed: bool | None) -> None:
            if is_agreed and self.walk.file is not None and self.walk.file.path == file.path and self._has(file):
                act()

        lines = [
            mark(f"You edited the result of {inert(file.path)}."),
            mark("That text is gone then, and e goes on with it."),
        ]
        self.app.push_screen(PlanPage("Leave what you edited?", lines), agreed)

    def keep_again(self) -> None:
        """Keep what could not be kept before, as once the folder is back or the disk has room."""
        if self.keeping.is_behind:
            self._keep(is_told=True)

    def _keep(self, *, is_told: bool = False) -> None:
        """Keep the choices on disk, in the order in which they were made.

        Args:
            is_told: whether why they are not kept is told only where it is another reason than the last time.
        """
        opened, keeping, edited = self.walk.opened, self.keeping, self._edited()
        if opened is None:
            return

        def is_here() -> bool:
            return self.is_open and self.keeping is keeping

        def refused(why: str) -> bool:
            is_known, keeping.why = is_told and keeping.why == why, why
            if not is_here():
                self._tell_late(edited, _UNKEPT)
            return is_known

        def saved(done: Saved) -> None:
            keeping.kept()
            for text in keeping.untold():
                told = f"What you wrote for {inert(text.path)} before is in no draft any more"
                where = f"it lies in {inert(str(text.file))} for a week."
                self.notify(f"{told}: {where}", severity="warning", timeout=30, markup=False)
            if done.is_kept:
                return
            if is_here():  # it was decided elsewhere, which is not known here yet
                self.lace.read_place(self)
            else:  # they went on meanwhile
                self._tell_late(edited, _DECIDED)

        save = keeping.saving(opened)
        self.lace.ask(save, saved, keeping.group, asked="Your choices are not kept", refused=refused)

    # Editing

    def _editable(self) -> bytes | None:
        file = self.walk.file
        opened = self.walk.opened
        if file is None or opened is None:
            return None
        if file.has_lines or self.walk.pick.edited is not None:
            return draft_text(file, self.walk.pick, [origin.name for origin in opened.sides])
        text = next((side.text for side in file.sides if side is not None and side.text is not None), None)
        if text is None:
            self.notify("This is not a text of at most 2 MiB: take one side, L or R.", markup=False)
        return text

    def _take_edited(self, file: OpenFile, content: bytes) -> None:
        """Take what somebody edited as the result of the file that it was begun for; where that is gone show it."""
        if self._has(file):
            self._set(Pick(edited=content), file.path)
            self._draw()
        else:  # as it is now, and not as it was kept last
            self._lose([(file, content)])
            self._show_lost()

    def _why_late(self, file: OpenFile) -> str:
        """Return why a text for a file that is not there as it was decides nothing, to follow its path."""
        files = self.walk.opened.files if self.walk.opened and not self._is_decided else ()
        is_there = any(one.path == file.path for one in files)
        return "has other sides now" if is_there else _DECIDED

    def action_edit_here(self) -> None:
        """Edit the result in the app."""
        content, file = self._editable(), self.walk.file
        if content is None or file is None:
            return
        try:
            text = content.decode()
        except UnicodeDecodeError:  # what stood for its bytes would be written in their place
            self.notify("It is not UTF-8: edit it with E.", markup=False)
            return
        if not is_harmless(text):
            self.notify("It holds characters that could drive this terminal: edit it with E.", markup=False)
            return
        if max(map(len, text.split("\n"))) > _LONGEST:
            self.notify("It has a line that is too long to type in here: edit it with E.", markup=False)
            return

        before = self.walk.pick

        def check(new: str) -> str:
            is_too_long = new != text and len(new.encode()) > MAX_TEXT_BYTES
            return _TOO_LONG if is_too_long and self._has(file) else ""  # else it is shown, whatever its length

        def typed(new: str) -> Told:
            if not self._has(file):
                return Told() if new == text else self._keep_late(file, new.encode())
            why = check(new)
            if not why:
                self._set(before if new == text else Pick(edited=new.encode()), file.path, is_typed=True)
            return Told(why)

        def edited(new: str | None) -> None:
            if new is not None and new != text:
                self._take_edited(file, new.encode())
            elif new is not None and self.walk.picks.get(file.path, Pick()) != before:
                typed(new)  # it was another one meanwhile
                self._draw()

        self.app.push_screen(Editor(f"RESULT of {inert(file.path)}", text, typed, check), edited)

    def action_edit_outside(self) -> None:
        """Edit the result in the person's own editor."""
        content, file = self._editable(), self.walk.file
        if content is None or file is None:
            return
        try:
            new = self.lace.edit_outside(file.path, content)
        except LaceError as error:
            self.notify(f"{inert(error.message)} {inert(error.hint)}", severity="error", timeout=30, markup=False)
            return
        if new is not None and new != content:
            self._take_edited(file, new)
        self._draw()
