"""A passphrase for one's own key, asked for twice, or taken away after a question (APP-11)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lace_tui.acts.guarding import DIFFER, PassphrasesDiffer, protect, unprotect
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import PlanPage, Question
from lace_tui.screens.marks import BAD, GOOD, NOTE, STRONG, mark

if TYPE_CHECKING:
    from lace_tui.screens.host import Host
    from lace_tui.screens.place import PlaceScreen
    from vault.vault import Vault

__all__ = ["ask_protect", "ask_unprotect"]


def ask_protect(asker: PlaceScreen) -> None:
    """Ask for a new passphrase twice, and let the key open with it only."""

    def once(first: str | None) -> None:
        if first is None:
            return

        def check(again: str) -> None:
            if again != first:
                raise PassphrasesDiffer(DIFFER, hint="Nothing was changed. Type the same twice.")

        def twice(again: str | None) -> None:
            if again is not None:
                asker.lace.begin(
                    "Protect the key",
                    lambda vault, _: protect(vault.keys_here, vault.node, first.encode()),
                    partial(_protected, asker.lace),
                    "lace key protect",
                )

        text = "Once more, so that no slip of a finger locks you out."
        asker.app.push_screen(Question("The same again", text, is_secret=True, check=check), twice)

    if asker.lace.can_start:
        text = "A new passphrase. From then on your key opens with it only, once in each sitting; nobody can bring it"
        text += " back for you."
        asker.app.push_screen(Question("Protect your key", text, is_secret=True), once)


def ask_unprotect(asker: PlaceScreen) -> None:
    """Say what it means to take the passphrase away, and ask; the work asks for it where it was not given yet."""

    def do(vault: Vault) -> str:
        return unprotect(vault.keys_here, vault.node, vault.around.passphrase)

    def decided(is_agreed: bool | None) -> None:
        if is_agreed:
            then = partial(_open, asker.lace)
            asker.lace.begin("The key without a passphrase", lambda vault, _: do(vault), then, "lace key unprotect")

    lines = [
        mark("Your key would open without a passphrase again.", STRONG),
        mark("! Whoever can read your files can sign as you then.", BAD),
        mark("To change it, take it away and give your key another one.", NOTE),
        mark("lace key unprotect", NOTE),
    ]
    if asker.lace.can_start:
        asker.app.push_screen(PlanPage("Take the passphrase away?", lines, "take it away", "leave it"), decided)


def _protected(lace: Host, text: str) -> Card:
    lace.forget_passphrase()
    return Card("Your key: protected", (mark(f"= {text}", GOOD), mark("next: what needs your key asks for it")))


def _open(lace: Host, text: str) -> Card:
    lace.forget_passphrase()
    return Card("Your key: open", (mark(f"= {text}", GOOD),))
