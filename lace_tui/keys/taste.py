"""A person's taste: theme and keys, in `config.toml` of the user's configuration folder, never in a vault.

    theme = "lace-light"

    [keys]
    sync = "s,f9"

Keys are named by an action's id. An unknown name is told with the nearest known one, and the rest still counts.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from lace_tui.keys.actions import ACTIONS
from lace_tui.keys.keymap import clashes, key_name, no_keys
from vault.errors import LaceError
from vault.files import FileMissing, read_bounded, write_atomic

__all__ = ["THEME_NAMES", "HasTaste", "Taste", "keep_keys", "keep_theme", "read_taste"]

THEME_NAMES = ("dark", "light", "contrast", "colour-blind", "ansi")
_FILE = "config.toml"
_LIMIT = 1 << 20
_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
_KEY = re.compile(
    r"""\s*(?P<name>"[^"]+"|'[^']+'|[\w-]+)\s*=\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'#]*?)(?P<rest>\s*(?:#.*)?)\s*$"""
)


@dataclass(frozen=True, slots=True)
class Taste:
    """What a person likes.

    Args:
        theme: one of `THEME_NAMES`.
        keys: action id -> keys, separated by commas, as Textual spells them.
        remarks: what in the file does not count, in sentences.
    """

    theme: str = "dark"
    keys: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def textual_theme(self) -> str:
        """The theme's name in Textual."""
        return "ansi-dark" if self.theme == "ansi" else f"lace-{self.theme}"


class HasTaste(Protocol):
    """Who knows what a person likes."""

    taste: Taste


def read_taste(root: Path) -> Taste:
    """Return what `config.toml` in a folder says; a missing file is the usual taste, a broken one is told."""
    path = root / _FILE
    try:
        value = tomllib.loads(read_bounded(path, _LIMIT).decode("utf-8"))
    except FileMissing:
        return Taste()
    except (LaceError, ValueError, RecursionError) as error:
        return Taste(remarks=(f"{path} cannot be read: {error}",))
    sections = ["theme", "keys"]
    remarks = [_unknown(path, name, sections) for name in value if name not in sections]
    theme = value.get("theme", "dark")
    if theme not in THEME_NAMES:
        remarks.append(_unknown(path, str(theme), list(THEME_NAMES)))
        theme = "dark"
    keys = _keys(path, value.get("keys", {}), remarks)
    return Taste(theme, keys, tuple(remarks))


def _keys(path: Path, value: Any, remarks: list[str]) -> dict[str, str]:
    if not isinstance(value, dict):
        remarks.append(f"{path}: [keys] is not a table.")
        return {}
    known = [action.id for action in ACTIONS]
    found = {}
    for name, keys in value.items():
        if name not in known:
            remarks.append(_unknown(path, str(name), known))
        elif not isinstance(keys, str) or not keys.strip():
            remarks.append(f'{path}: the keys of {name} are a text, such as "s,f9".')
        else:
            wrong = {key: no_keys(key) for key in keys.split(",") if key.strip()}
            remarks += [f"{path}: {name}: {sentence}" for told in wrong.values() for sentence in told]
            if named := [key_name(key) for key, told in wrong.items() if not told]:  # else it keeps the usual ones
                found[name] = ",".join(named)
    taken = clashes(found)
    remarks += [f"{path}: {sentence}" for sentence in taken]
    return found


def _unknown(path: Path, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"{path}: {name!r} is unknown{f'; did you mean {near[0]!r}?' if near else '.'}"


def keep_theme(root: Path, theme: str) -> None:
    """Write a theme into `config.toml`, and leave all else that a person wrote there.

    Raises:
        ValueError: the file cannot be read, or not be changed line by line; it is left as it is.
        NotWritable, DiskFull: the file cannot be written.
    """
    _change(root, "", "theme", theme)


def keep_keys(root: Path, action_id: str, keys: str) -> None:
    """Write an action's keys into `config.toml`, or take them out where there are none; all else stays.

    Raises:
        ValueError, NotWritable, DiskFull: as `keep_theme`.
    """
    _change(root, "keys", action_id, keys)


def _change(root: Path, section: str, name: str, value: str) -> None:
    path = root / _FILE
    try:
        text = read_bounded(path, _LIMIT).decode("utf-8")
    except FileMissing:
        text = ""
    try:
        wanted = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read, so nothing is written over it: {error}") from error
    by_hand = f"{path} is written in a way that lace does not change; change {name} there by hand."
    table = wanted.setdefault(section, {}) if section else wanted
    if not isinstance(table, dict):
        raise ValueError(by_hand)  # noqa: TRY004 - the file is wrong, not its caller
    if value:
        table[name] = value
    else:
        table.pop(name, None)
    changed = _with(text, section, name, value)
    try:
        found = tomllib.loads(changed)
    except ValueError as error:
        raise ValueError(by_hand) from error
    if section:
        found.setdefault(section, {})
    if found != wanted:
        raise ValueError(by_hand)
    root.mkdir(parents=True, exist_ok=True)
    write_atomic(path, changed.encode())


def _with(text: str, section: str, name: str, value: str) -> str:
    """Return a configuration with one line written anew, added, or left out where the value is empty."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    heads = [(number, found[1].strip()) for number, line in enumerate(lines) if (found := _HEADER.match(line))]
    begin = next((number + 1 for number, head in heads if head == section), None) if section else 0
    new = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    if begin is None:
        return "".join([*lines, *(["\n"] if lines else []), f"[{section}]\n{new}\n"]) if value else text
    end = next((number for number, _ in heads if number >= begin), len(lines))
    for number in range(begin, end):
        found = _KEY.match(lines[number])
        if found and found["name"].strip("\"'") == name:
            lines[number : number + 1] = [f"{new}{found['rest']}\n"] if value else []
            return "".join(lines)
    if not section:
        while begin < end and lines[begin].startswith("#"):
            begin += 1
    return "".join([*lines[:begin], f"{new}\n", *lines[begin:]]) if value else text
