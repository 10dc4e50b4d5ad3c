"""The settings a person may edit: `.vault/config.toml` (docs/formats.md section 6, LAZ-58..62).

The table below is all there is: a key that it does not name is refused, here and in the file, so that a
mistyped setting never passes for a working one. Values are texts, numbers or truth values; what is not set
has its default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from vault.errors import CallerError, EnvironmentFault
from vault.files import FileMissing, FileTooLarge, read_bounded, write_atomic
from vault.typed import shown

__all__ = [
    "SETTINGS",
    "ConfigDamaged",
    "Setting",
    "SettingUnknownError",
    "SettingValueError",
    "Settings",
    "Value",
    "value_text",
]

Value: TypeAlias = str | int | bool

_FILE_LIMIT = 65536  # bytes
_WHOLE = r"[0-9]{1,9}"
_TRUE_WORDS = MappingProxyType({"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False})


def value_text(value: Value) -> str:
    """Return a value of a setting as a person types it.

    >>> value_text(True)
    'true'
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


class SettingUnknownError(CallerError):
    """A setting that lace does not have."""

    code = "unknown-setting"
    hint = "See all settings with: lace config list"


class SettingValueError(CallerError):
    """A value that a setting does not take."""

    code = "bad-setting"
    hint = "See all settings with: lace config list"


class ConfigDamaged(EnvironmentFault):
    """The file of settings cannot be understood."""

    code = "config-damaged"
    exit_code = 19
    hint = "Correct that line in an editor, or delete the file to return to the defaults."


class Setting(NamedTuple):
    """One setting.

    Args:
        key: its name, lower-case words joined by `-`.
        default: its value when nobody set it; its type is the type of the setting.
        sentence: what it does, for the help page.
        allowed: the values a text setting takes; empty for other types.
        least: smallest value of a number.
        most: largest value of a number.
    """

    key: str
    default: Value
    sentence: str
    allowed: tuple[str, ...] = ()
    least: int = 0
    most: int = 0

    @property
    def allowed_text(self) -> str:
        """The values it takes, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int):
            return f"a whole number from {self.least} to {self.most}"
        return " or ".join(filter(None, (", ".join(self.allowed[:-1]), self.allowed[-1])))

    def accepts(self, value: object) -> bool:
        """Return whether a typed value is one that this setting takes."""
        if isinstance(self.default, bool) or isinstance(value, bool):
            return isinstance(self.default, bool) and isinstance(value, bool)
        if isinstance(self.default, int):
            return isinstance(value, int) and self.least <= value <= self.most
        return isinstance(value, str) and value in self.allowed

    def parse(self, text: str) -> Value:
        """Return the value that a person's text means.

        Raises:
            SettingValueError: none that this setting takes; the message lists those.
        """
        value: Value | None = text
        if isinstance(self.default, bool):
            value = _TRUE_WORDS.get(text.lower())
        elif isinstance(self.default, int):
            value = int(text) if re.fullmatch(_WHOLE, text) else None
        if value is None or not self.accepts(value):
            raise SettingValueError(f"{self.key} takes {self.allowed_text}, not {_shown(text)}.")
        return value


_TABLE = (
    Setting(
        "announce-unreleased",
        default=False,
        sentence="Tell friends how many commits you have not released yet; never what is in them.",
    ),
    Setting(
        "share",
        "releases",
        "What friends get: the content of releases, or also of each commit that is made while this is set to commits.",
        allowed=("releases", "commits"),
    ),
    Setting(
        "sync-interval",
        3600,
        "Seconds between two syncs when sync-strategy is periodic.",
        least=30,
        most=604_800,
    ),
    Setting(
        "sync-strategy",
        "manual",
        "When lace syncs: only when asked, now and then, after each commit (friends then get the content of each),"
        " or after each release.",
        allowed=("manual", "periodic", "on-commit", "on-release"),
    ),
)
SETTINGS: Mapping[str, Setting] = MappingProxyType({setting.key: setting for setting in _TABLE})
"""All settings by key, sorted."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one vault, valid at all times (LAZ-62).

    Args:
        path: the file they rest in.
        chosen: the values that a person set, by key.

    Raises:
        SettingUnknownError: a key that lace does not have.
        SettingValueError: a value that its setting does not take.
    """

    path: Path
    chosen: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, value in self.chosen.items():
            setting = _find(key)
            if not setting.accepts(value):
                raise SettingValueError(f"{key} takes {setting.allowed_text}, not {_shown(value)}.")
        object.__setattr__(self, "chosen", MappingProxyType(dict(self.chosen)))

    @property
    def shares_commits(self) -> bool:
        """Whether each commit is shared: by the setting `share`, or because every commit is pushed."""
        return self.get("share") == "commits" or bool(self.overruling("share"))

    def overruling(self, key: str) -> str:
        """Return the key of the setting that decides in place of this one; empty when this one decides (hole H-29)."""
        pushed = key == "share" and self.get("share") != "commits" and self.get("sync-strategy") == "on-commit"
        return "sync-strategy" if pushed else ""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Settings:
        """Read the settings of a file; without a file all have their defaults.

        Raises:
            ConfigDamaged: it is no settings file; the message names the line or the key.
            Unreadable: it cannot be read.
        """
        path = path if isinstance(path, Path) else Path(path)
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return _unchosen(path)
        except OSError:
            pass  # which reading it says, too
        import tomllib  # a vault without settings of its own needs no parser

        try:
            text = read_bounded(path, _FILE_LIMIT).decode("utf-8")
            return cls(path, tomllib.loads(text))
        except FileMissing:
            return cls(path)
        except FileTooLarge as error:
            raise ConfigDamaged(f"{path} is too long for a file of settings.") from error
        except UnicodeDecodeError as error:
            raise ConfigDamaged(f"Line {_line_of(error)} of {path} is not UTF-8 text.") from error
        except RecursionError as error:
            raise ConfigDamaged(f"{path} nests too deep for a file of settings.") from error
        except ValueError as error:  # TOMLDecodeError, and numbers that no computer takes
            raise ConfigDamaged(f"{path} is not valid TOML: {error}.") from error
        except (SettingUnknownError, SettingValueError) as error:
            raise ConfigDamaged(f"{path}: {error}") from error

    def get(self, key: str) -> Value:
        """Return the value in force.

        Raises:
            SettingUnknownError: lace has no such setting; the message names the nearest.
        """
        setting = _find(key)
        return self.chosen.get(key, setting.default)

    def set(self, key: str, text: str) -> Settings:
        """Return settings in which this one has the value that a person's text means; nothing is written.

        Raises:
            SettingUnknownError: lace has no such setting; the message names the nearest.
            SettingValueError: the setting takes no such value; the message lists those it takes.
        """
        return Settings(self.path, {**self.chosen, key: _find(key).parse(text)})

    def unset(self, key: str) -> Settings:
        """Return settings in which this one has its default again; nothing is written.

        Raises:
            SettingUnknownError: lace has no such setting; the message names the nearest.
        """
        _find(key)
        return Settings(self.path, {name: value for name, value in self.chosen.items() if name != key})

    def save(self) -> None:
        """Write the chosen settings (LAZ-62).

        Raises:
            DiskFull, NotWritable: the file cannot be written.
        """
        write_atomic(self.path, self.encode())

    def encode(self) -> bytes:
        """Return the file's bytes: the chosen settings, each under the sentence that explains it."""
        import tomli_w

        parts = [
            f"# {SETTINGS[key].sentence}\n# Takes {SETTINGS[key].allowed_text}.\n"
            + tomli_w.dumps({key: self.chosen[key]})
            for key in sorted(self.chosen)
        ]
        return "\n".join(parts).encode()


@lru_cache(maxsize=8)
def _unchosen(path: Path) -> Settings:
    """Return the settings of a vault that has no file of them, as most have none and each commit asks."""
    return Settings(path)


def _find(key: str) -> Setting:
    setting = SETTINGS.get(key)
    if setting is None:
        import difflib  # only a mistake needs it

        near = difflib.get_close_matches(key, SETTINGS, n=1, cutoff=0.5)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise SettingUnknownError(f"There is no setting {shown(key)}.{meant}")
    return setting


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _line_of(error: UnicodeDecodeError) -> int:
    return error.object.count(b"\n", 0, error.start) + 1
