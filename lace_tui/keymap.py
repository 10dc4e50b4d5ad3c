"""Keys as people write them: what the table says, what the person changed, and how both are spelled (APP-1).

Read by the app, by `lace keys` and by the documentation, so nothing here knows Textual.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

from lace_tui.actions import ACTIONS, Action, Scope

__all__ = ["clashes", "key_name", "keys_of", "shown_keys"]

_OVERLAID = {Scope.PLAN, Scope.OFFER, Scope.SERVING, Scope.FIRST}  # where nothing of a place is within reach
# Where Textual's name of a character is not the name Unicode gives it.
_NAMES = {"/": "slash", "\\": "backslash", "@": "at", "-": "minus", "+": "plus", "_": "underscore"}
_SPELLED = {"escape": "esc", "pagedown": "pgdn", "pageup": "pgup"}
_CHARACTERS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def key_name(key: str) -> str:
    """Return a key's name as Textual has it: a letter stays, `?` becomes `question_mark`."""
    key = key.strip()
    if len(key) != 1 or key.isalnum():
        return key
    return _NAMES.get(key) or unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")


_BY_NAME = {key_name(character): character for character in _CHARACTERS}


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


def clashes(changed: Mapping[str, str]) -> list[str]:
    """Return, in sentences, which actions that are within reach at once would share a key.

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
