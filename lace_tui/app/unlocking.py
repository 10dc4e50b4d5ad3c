"""A key that is locked: its passphrase is asked for, and what needed it is done again (APP-3, APP-11)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from lace_tui.screens.cards import KEY_LOCKED
from lace_tui.screens.passphrase import Passphrase
from vault.errors import LaceError

if TYPE_CHECKING:
    from lace_tui.app.front import Front
    from lace_tui.app.working import Working
    from lace_tui.screens.messages import DidFail
    from vault.vault import Vault

__all__ = ["Unlocking"]


class Unlocking:
    """What waits for the passphrase of the key, and the question for it.

    Args:
        front: the app.
        working: gets the passphrase, for this sitting.
    """

    def __init__(self, front: Front, working: Working) -> None:
        self._front = front
        self._working = working
        self._locked: list[DidFail] = []  # what waits
        self._is_asked = False  # whether it is being asked for

    def wait(self, message: DidFail) -> None:
        """Ask for the passphrase of the key, and do again what needed it; work waits meanwhile."""
        self._locked.append(message)
        self.ask()

    def ask(self) -> None:
        """Ask for the passphrase that something waits for, but not over a question that somebody types into."""
        if not self._locked or self._is_asked or isinstance(self._front.screen, ModalScreen):
            return
        self._is_asked = True

        def given(text: str | None) -> None:
            self._is_asked = False
            waiting, self._locked = self._locked, []
            if text is not None:
                self._working.passphrase = text.encode()
            for one in waiting:
                if text is not None and one.again is not None:
                    one.again()
                else:
                    self._front.post_message(replace(one, again=None))

        sentence = self._locked[0].trouble.message if self._working.passphrase is not None else "Your key is protected."
        text = f"{sentence} It is opened for this sitting only, and the passphrase is kept nowhere."
        self._front.push_screen(Passphrase(text, self._try), given)

    def _try(self, text: str, question: Passphrase) -> None:
        """Find out in a thread whether a passphrase opens the key: that is made to take long."""

        def why_not(vault: Vault) -> str:
            try:
                vault.keys_here.load(vault.node, text.encode)
            except LaceError as error:
                return error.message if error.code == KEY_LOCKED else ""  # all else is told by what needs the key
            return ""

        def known(why: str) -> None:
            if why:
                question.fails(why)
            else:
                question.opens(text)

        def failed(_why: str) -> bool:  # the vault is gone: so is told by what waits
            question.opens(text)
            return True

        self._working.ask(why_not, known, "passphrase", refused=failed)
