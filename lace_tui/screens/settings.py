"""Settings: how this vault behaves, how lace looks here, and which keys it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

from textual.binding import BindingType

from lace_tui.keys.actions import ACTIONS, Scope, action_named
from lace_tui.keys.bindings import bindings_of
from lace_tui.keys.keymap import clashes, keys_of, no_keys, shown_keys
from lace_tui.keys.taste import THEME_NAMES, keep_keys
from lace_tui.screens.cards import Card
from lace_tui.screens.dialogs import Question
from lace_tui.screens.host import Refused
from lace_tui.screens.listing import Listing
from lace_tui.screens.marks import GOOD, QUIET, STRONG, mark
from vault.commands import as_typed
from vault.config import SETTINGS, Value, value_text
from vault.errors import LaceError
from vault.settings_file import save_settings
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Settings"]


# Whether the key has a passphrase, None where that cannot be told: in a word or two, and what it means.
_PASSPHRASE = {
    False: ("none", "Whoever can read your files can sign as you. lace can ask for a passphrase."),
    True: ("asked for", "Your key opens with its passphrase only, once in each sitting."),
    None: ("not known", "The file of your key cannot be read."),
}


class _View(NamedTuple):
    """Settings of the vault by key, and whether the node's key has a passphrase; None where that cannot be told."""

    values: Mapping[str, Value]
    is_protected: bool | None


class Settings(Listing):
    """One row for each setting, one for the passphrase, and one for each theme and key."""

    SCOPE = Scope.SETTINGS
    TITLE = "Settings"
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Scope.SETTINGS)

    def __init__(self) -> None:
        super().__init__()
        self._view = _View({}, None)

    @property
    def _values(self) -> Mapping[str, Value]:
        return self._view.values

    def read(self, vault: Vault) -> _View:
        """Read this vault's settings, and whether the key has a passphrase."""
        try:
            is_protected = vault.keys_here.is_protected(vault.node)
        except LaceError:  # a check says what is wrong with it; the settings are shown all the same
            return _View({key: vault.settings.get(key) for key in SETTINGS}, None)
        return _View({key: vault.settings.get(key) for key in SETTINGS}, is_protected)

    def show(self, value: _View) -> None:
        """Show settings, the key, themes and keys of the keyboard."""
        self._view = value
        rows = [("", mark("This vault", STRONG))]
        for key, setting in SETTINGS.items():
            now = mark(f"{value_text(value.values[key]):<14}", GOOD)
            rows.append((f"setting {key}", mark(f"  {key:<22}") + now + mark(setting.sentence, QUIET)))
        rows += [("", mark("")), ("", mark("You", STRONG))]
        state, what = _PASSPHRASE[value.is_protected]
        rows.append(("passphrase", mark(f"  {'passphrase':<22}") + mark(f"{state:<14}", GOOD) + mark(what, QUIET)))
        rows += [("", mark("")), ("", mark("How it looks", STRONG))]
        for name in THEME_NAMES:
            sign = "*" if name == self.lace.taste.theme else " "
            rows.append((f"theme {name}", mark(f"  {sign} {name}")))
        rows += [("", mark("")), ("", mark("Keys", STRONG))]
        for action in ACTIONS:
            keys = shown_keys(action, self.lace.taste.keys)
            rows.append(
                (
                    f"key {action.id}",
                    mark(f"  {action.id:<22}") + mark(f"{keys:<24}", GOOD) + mark(action.sentence, QUIET),
                )
            )
        self.fill(rows)

    def row(self) -> tuple[str, tuple[str, ...], str]:
        """Return the selected row."""
        kind, _, name = self.lines.key.partition(" ")
        match kind:
            case "setting":
                setting = SETTINGS[name]
                lines = (
                    name,
                    setting.sentence,
                    f"Now: {value_text(self._values[name])}",
                    f"May be: {setting.allowed_text}",
                )
                return "A setting", lines, f"lace config set {name} {value_text(self._values[name])}"
            case "passphrase":
                state, what = _PASSPHRASE[self._view.is_protected]
                act = "lace key unprotect" if self._view.is_protected else "lace key protect"
                return "Your key", ("The passphrase of your key", what, f"Now: {state}"), act
            case "theme":
                return "A theme", (name, 'In config.toml (lace config path): theme = "..."'), "lace config path"
            case "key":
                return (
                    "Keys",
                    (name, f'In config.toml (lace config path), below [keys]: {name} = "..."'),
                    "lace keys",
                )
        return "", (), ""

    def action_open_row(self) -> None:
        """Change the selected row."""
        self.action_change()

    def action_change(self) -> None:
        """Give the selected setting another value."""
        kind, _, name = self.lines.key.partition(" ")
        if kind == "passphrase":
            self.action_passphrase()
        elif kind == "theme":
            self.lace.choose_theme(name)
        elif kind == "setting":
            setting = SETTINGS[name]
            question = f"{setting.sentence} It may be: {setting.allowed_text}"
            self.lace.put(Question(name, question, value_text(self._values[name]), lacks=""), partial(self._set, name))
        elif kind == "key":
            action = action_named(name)
            question = f"{action.sentence} Keys, separated by commas; nothing brings back {action.shown}."
            keys = ",".join(keys_of(action, self.lace.taste.keys))
            self.lace.put(Question(name, question, keys, lacks=""), partial(self._choose_keys, name))

    def action_passphrase(self) -> None:
        """Give one's own key a passphrase, or take it away."""
        from lace_tui.screens.guarding import ask_protect, ask_unprotect  # hardly done twice

        if not self._values:
            self.notify("What you have is not read yet.", markup=False)
        elif self._view.is_protected is None:
            self.notify(f"{_PASSPHRASE[None][1]} {self.key_of('check')} in Audit says what is wrong.", markup=False)
        else:
            (ask_unprotect if self._view.is_protected else ask_protect)(self)

    def _choose_keys(self, name: str, text: str | None, refused: Refused) -> None:
        """Give an action other keys, unless another one within reach has them."""
        if text is None:
            return
        keys = {key: value for key, value in self.lace.taste.keys.items() if key != name}
        if text.strip():
            keys[name] = text
        # What else is wrong in the file is told as lace opens, and keeps no key from being changed.
        if wrong := [*no_keys(text), *clashes(keys, name)] if text.strip() else clashes(keys, name):
            refused(f"Not changed: {wrong[0]}")
            return
        self.lace.live_by(replace(self.lace.taste, keys=keys), lambda config: keep_keys(config, name, text.strip()))
        self.show(self._view)

    def _set(self, key: str, text: str | None, refused: Refused) -> None:
        if text is None:
            return

        def do(vault: Vault, _watch: Watch) -> str:
            with vault.lock.held():  # two settings set at once both stay
                save_settings(vault, vault.settings.set(key, text))
            return text

        act = as_typed("config set", key, text)
        self.lace.begin(f"Setting {key}", do, lambda _value: _changed(key, text), act, refused)


def _changed(key: str, text: str) -> Card:
    return Card("Settings", (mark(f"= {key} is {text} from now on", GOOD),))
