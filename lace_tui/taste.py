"""A person's taste: theme and keys, in `config.toml` of the user's configuration folder, never in a vault.

    theme = "lace-light"

    [keys]
    sync = "s,f9"

Keys are named by an action's id. An unknown name is told with the nearest known one, and the rest still counts.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lace_tui.actions import ACTIONS
from lace_tui.keymap import clashes, key_name
from vault.errors import LaceError
from vault.files import FileMissing, read_bounded, write_atomic

__all__ = ["THEME_NAMES", "Taste", "read_taste", "write_taste"]

THEME_NAMES = ("dark", "light", "contrast", "colour-blind", "ansi")
_FILE = "config.toml"
_LIMIT = 1 << 20


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


def read_taste(root: Path) -> Taste:
    """Return what `config.toml` in a folder says; a missing file is the usual taste, a broken one is told."""
    path = root / _FILE
    try:
        value = tomllib.loads(read_bounded(path, _LIMIT).decode("utf-8"))
    except FileMissing:
        return Taste()
    except (LaceError, ValueError) as error:
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
        remarks.append(f"{path}: [keys] is no table.")
        return {}
    known = [action.id for action in ACTIONS]
    found = {}
    for name, keys in value.items():
        if name not in known:
            remarks.append(_unknown(path, str(name), known))
        elif not isinstance(keys, str) or not keys.strip():
            remarks.append(f'{path}: the keys of {name} are a text, such as "s,f9".')
        else:
            found[name] = ",".join(key_name(key) for key in keys.split(",") if key.strip())
    taken = clashes(found)
    remarks += [f"{path}: {sentence}" for sentence in taken]
    return found


def _unknown(path: Path, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f"{path}: {name!r} is unknown{f'; did you mean {near[0]!r}?' if near else '.'}"


def write_taste(root: Path, taste: Taste) -> None:
    """Keep a taste.

    Raises:
        NotWritable, DiskFull: the file cannot be written.
    """
    import tomli_w  # noqa: PLC0415 - only who changes something needs it

    value: dict[str, Any] = {"theme": taste.theme}
    if taste.keys:
        value["keys"] = taste.keys
    root.mkdir(parents=True, exist_ok=True)
    write_atomic(root / _FILE, tomli_w.dumps(value).encode())
