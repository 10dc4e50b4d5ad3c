"""What in a folder is not versioned: `.laceignore` in gitignore syntax (CLAY-71).

Only the file in the desk's own directory counts; it is versioned like any other. Its rules may come from a
friend, so their number, length and wildcards are bounded: each becomes a regular expression that runs on
every name. As with git, a path that is in the base tree stays versioned whatever the rules say; else adding
a rule would delete files at every friend.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from blake3 import blake3

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["IGNORE_FILE", "MAX_IGNORE_BYTES", "Ignore", "is_text"]

IGNORE_FILE = ".laceignore"
MAX_IGNORE_BYTES = 65_536
_MAX_RULES = 1_000
_MAX_WILDCARDS = 3  # in one name of a rule: matching time grows by the length of the name to this power
_MAX_COSTLY = 10  # rules that have so many
_STARS = r"(\\.)|\*{2,}"


def is_text(content: bytes) -> bool:
    """Tell whether rules can be read: UTF-8 without NUL; as UTF-16, which some editors write, no rule would match."""
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


class Ignore:
    """The rules of one `.laceignore`.

    Args:
        content: the bytes of the file; empty when there is none.
    """

    def __init__(self, content: bytes = b"") -> None:
        self.digest = blake3(content).digest(8)
        self.faults: list[str] = []
        if len(content) > MAX_IGNORE_BYTES:
            self.faults.append(f"it has more than {MAX_IGNORE_BYTES} bytes, so none of its rules is used")
            content = b""
        self._costly = 0
        rules = [
            line
            for number, line in enumerate(map(_simple, content.decode("utf-8-sig", "replace").splitlines()), 1)
            if line.strip() and not line.startswith("#") and self._is_usable(number, line)
        ]
        if len(rules) > _MAX_RULES:
            self.faults.append(f"only its first {_MAX_RULES} rules are used")
            del rules[_MAX_RULES:]
        self._spec = _compiled(rules) if rules else None

    @property
    def has_rules(self) -> bool:
        """Whether anything can be left out."""
        return self._spec is not None

    def _is_usable(self, number: int, line: str) -> bool:
        names = line.split("/")
        power = max(names.count("**"), *(name.count("*") for name in names if name != "**"), 0)
        self._costly += power == _MAX_WILDCARDS
        if power > _MAX_WILDCARDS or len(line) > 1024 or self._costly > _MAX_COSTLY:
            self.faults.append(f"rule {number} has too many wildcards and is not used")
            return False
        try:
            _compiled([line])
        except (ValueError, OverflowError, RecursionError, re.error):
            self.faults.append(f"rule {number} is not a valid pattern and is not used")
            return False
        return True

    def matches(self, path: str, *, is_dir: bool) -> bool:
        """Tell whether the rules leave this path out."""
        return self._spec is not None and self._spec.match_file(path + "/" if is_dir else path)


def _simple(line: str) -> str:
    """Return a rule that means the same without stars side by side, each of which would be tried on its own."""
    names = (name if name == "**" else re.sub(_STARS, lambda found: found[1] or "*", name) for name in line.split("/"))
    return "/".join(names)


def _compiled(rules: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - 13 ms that only a folder with rules needs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # a set that looks nested is what the rule says
        return GitIgnoreSpec.from_lines(rules)
