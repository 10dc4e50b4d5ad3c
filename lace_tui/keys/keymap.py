"""Keys as people write them: what the table says, what the person changed, and how both are spelled (APP-1).

Read by the app, by `lace keys` and by the documentation, so nothing here knows Textual.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from lace_tui.keys.actions import ACTIONS, Action, Scope, action_named

__all__ = ["clashes", "key_name", "key_of", "keys_of", "no_keys", "shown_keys"]

_OVERLAID = {Scope.PLAN, Scope.OFFER, Scope.SERVING, Scope.LEFT, Scope.FIRST}  # nothing of a place is in reach there
# Where Textual's name of a character is not the name Unicode gives it.
_NAMES = {"/": "slash", "\\": "backslash", "@": "at", "-": "minus", "+": "plus", "_": "underscore"}
_SPELLED = {"escape": "esc", "pagedown": "pgdn", "pageup": "pgup"}
_MODIFIERS = {"alt", "ctrl", "hyper", "meta", "shift", "super"}
_KEYS = {"backspace", "delete", "down", "end", "enter", "escape", "home", "insert", "left", "pagedown", "pageup",
         "return", "right", "space", "tab", "up", *(f"f{number}" for number in range(1, 25))}  # fmt: skip
_SIGNS = {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sc", "Sm", "Sk"}  # kinds of characters
_CHARACTERS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def key_name(key: str) -> str:
    """Return a key's name as Textual has it: a letter stays, `?` becomes `question_mark`."""
    key = key.strip()
    if len(key) != 1 or key.isalnum():
        return key
    return _NAMES.get(key) or unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")


_BY_NAME = {key_name(character): character for character in _CHARACTERS}


def no_keys(keys: str) -> list[str]:
    """Return, in sentences, which of some keys no keyboard has, as a terminal tells them (APP-1).

    Args:
        keys: separated by commas.
    """
    return [_unknown(key) for key in map(str.strip, keys.split(",")) if not _is_key(key)]


def _is_key(name: str) -> bool:
    *held, key = name.split("+")
    if not _MODIFIERS.issuperset(held):
        return False
    if len(key) == 1 or key in _KEYS or key in _BY_NAME:
        return key.isprintable()
    try:
        character = unicodedata.lookup(key.replace("_", " "))
    except KeyError:
        return False
    # A letter is called by itself; and Unicode knows pictures too, as a banana and an anchor.
    is_latin = character < "\u0100" and character.isprintable() and not character.isalnum()
    return is_latin or unicodedata.category(character) in _SIGNS


def _unknown(key: str) -> str:
    near = get_close_matches(key.lower(), sorted({*_KEYS, *_BY_NAME}), n=1)
    return f"no key is called {key!r}{f'; did you mean {near[0]!r}?' if near else '.'}"


def _spelled(key: str) -> str:
    if key in _BY_NAME:
        return _BY_NAME[key]
    return key.upper() if key[:1] == "f" and key[1:].isdigit() else _SPELLED.get(key, key)


def keys_of(action: Action, changed: Mapping[str, str]) -> tuple[str, ...]:
    """Return an action's keys by their names: what the person chose, else what the table says."""
    given = changed.get(action.id)
    return tuple(key_name(key) for key in given.split(",")) if given else action.keys


def shown_keys(action: Action, changed: Mapping[str, str]) -> str:
    """Return an action's keys as people read them."""
    return "  ".join(_spelled(key) for key in keys_of(action, changed)) if action.id in changed else action.shown


def key_of(action_id: str, changed: Mapping[str, str]) -> str:
    """Return the first key of an action, as a sentence names it."""
    return shown_keys(action_named(action_id), changed).split()[0]


def clashes(changed: Mapping[str, str], of: str = "") -> list[str]:
    """Return, in sentences, which actions that are within reach at once would share a key; `of` one, if it is named.

    The table's own actions may hide one another on purpose (esc leaves a decision, and stops work elsewhere); so
    between different scopes only what the person changed is told.
    """
    held: dict[str, list[Action]] = {}
    found = []
    for action in ACTIONS:
        for key in keys_of(action, changed):
            others = held.setdefault(key, [])
            found += [
                f"the key {_spelled(key)} would be both {other.id} and {action.id}."
                for other in _clashing(action, others, changed)
                if not of or of in {other.id, action.id}
            ]
            others.append(action)
    return found


def _clashing(action: Action, others: list[Action], changed: Mapping[str, str]) -> Iterator[Action]:
    for other in others:
        if other.id == action.id:
            continue
        scopes = {action.scope, other.scope}
        is_shared = bool(scopes & {Scope.APP, Scope.LIST}) and not scopes & _OVERLAID
        if len(scopes) == 1 or (is_shared and (action.id in changed or other.id in changed)):
            yield other
