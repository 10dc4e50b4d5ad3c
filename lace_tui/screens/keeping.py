"""Choices of one conflict on their way to its draft: which of them lie on the disk by now (LAZ-39, LAZ-42)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lace_tui.screens.host import SAVING
from lazy.resolving.deciding import Pick
from lazy.resolving.draft_files import forget_drafts
from lazy.resolving.drafts import Saved, save_draft
from lazy.resolving.kept_texts import KeptText
from lazy.resolving.opening import Opened
from lazy.resolving.resolve import Resolved
from vault.names import Version
from vault.vault import Vault

__all__ = ["Keeping"]


class Keeping:
    """What was chosen on one page in one conflict, in the order in which it was."""

    def __init__(self) -> None:
        self._made = 0
        self._picks: dict[str, tuple[int, Pick]] = {}
        self._saving = threading.Lock()
        self._is_late = False
        self._texts: list[KeptText] = []
        self.version: Version | None = None
        """The version that was named for the result."""
        self.saved = 0
        """How many of the choices are in the draft, or need none any more."""
        self.why = ""
        """Why the last ones are in no draft; empty where they are, or may come to be."""
        self.is_told = False
        """Whether it was said that to go on would lose them."""

    @property
    def group(self) -> str:
        """Names what saves these choices: of two that run at once the later one saves all, and its answer counts."""
        return f"{SAVING}{id(self)}"

    @property
    def is_behind(self) -> bool:
        """Whether some choice is in no draft."""
        return self.saved < self._made

    def choose(self, path: str, pick: Pick) -> None:
        """Take note of a choice."""
        self._made += 1
        self._picks[path] = (self._made, pick)

    def name(self, version: Version) -> None:
        """Take note of the version that the result shall become."""
        self._made += 1
        self.version = version

    def since(self, number: int) -> dict[str, Pick]:
        """Return by path what was chosen after so many choices."""
        return {path: pick for path, (made, pick) in self._picks.items() if made > number}

    def saving(self, opened: Opened) -> Callable[[Vault], Saved]:
        """Return what writes the choices that are in no draft yet, however many of these run at once.

        It writes nothing else: another window may have chosen for the other files since. Where the conflict waits for
        no decision any more, nothing is kept.
        """
        upto, picks, version = self._made, self.since(self.saved), self.version

        def save(vault: Vault) -> Saved:
            with self._saving:
                done = Saved(not self._is_late and upto <= self.saved)
                if not done.is_kept:
                    done = save_draft(vault, opened, picks, version)
                    self._texts.extend(done.texts)
                self._is_late = not done.is_kept
                self.saved = max(upto, self.saved)
                return done

        return save

    def untold(self) -> list[KeptText]:
        """Return the texts that left the draft and that nobody was told of yet: the answer that names them may be late.

        Of two savings that run at once the later one's answer counts, and the earlier one may have kept them.
        """
        texts: list[KeptText] = []
        while self._texts:
            texts.append(self._texts.pop(0))
        return texts

    def end(self, vault: Vault, done: Resolved) -> Resolved:
        """Forget the draft of what was decided; one that is still on its way would bring it back.

        Returns:
            What was decided, with the texts of that draft too which are not the result.
        """
        with self._saving:
            self.saved = self._made
            texts = forget_drafts(vault, done.conflict, done.commit)
        return done._replace(texts=tuple(dict.fromkeys((*done.texts, *texts))))

    def kept(self) -> None:
        """Take note that the choices are in the draft."""
        self.why, self.is_told = "", False
