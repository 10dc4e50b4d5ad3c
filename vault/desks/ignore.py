"""What in a folder is not versioned: `.laceignore` in gitignore syntax, and what systems write (CLAY-71).

What Windows, macOS and Linux write by themselves, such as `Thumbs.db` and `.DS_Store`, is left out as by rules that
stand before those of the file: `!Thumbs.db` there takes it in.

Only the file in the desk's own directory counts; it is versioned like any other. Its rules may come from a
friend, so their number, length and wildcards are bounded: each becomes a regular expression that runs on
every name. As with git, a path that is in the base tree stays versioned whatever the rules say; else adding
a rule would delete files at every friend. As with git, too, nothing below a directory that is left out is taken in
again, and a rule that takes a directory in says nothing of what lies in it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from blake3 import blake3

from vault.desks.paths import is_system_name

__all__ = ["IGNORE_FILE", "MAX_IGNORE_BYTES", "Ignore", "is_text"]

IGNORE_FILE = ".laceignore"
MAX_IGNORE_BYTES = 65_536
_MAX_RULES = 1_000
_MAX_WILDCARDS = 3  # in one name of a rule: matching time grows by the length of the name to this power
_MAX_COSTLY = 10  # rules that have so many
_MOST_KEPT = 10_000  # directories of which the answer is kept
_STARS = r"(\\.)|\*{2,}"
_LINE_END = re.compile(r"\r\n?|\n")
# In a rule: a set, what is none, or a sign that begins one and no other ends it.
_SET = re.compile(r"\\.|(\[[!^]?+\]?+(?:\[:[^\]]*:\]|\\.|[^\]\\])*+\])|\[", re.DOTALL)
_SIGN = re.compile(r"\[:([^\]]*):\]|\\?(.)", re.DOTALL)  # in a set: a class of signs, or one, escaped or not
_MARKS = range(0xE000, 0xF900)  # signs that mean nothing to anybody, of which no rule has so many
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \t-\t", "cntrl": "\x01-\x1f\x7f-\x7f", "digit": "0-9",
    "graph": "0-~!-.", "lower": "a-z", "print": "0-~ -.", "punct": ":-@[-`{-~!-.", "space": " \r\t-\n",
    "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip
_DIRECTORIES = re.compile(r"(?:/?\*\*/)+\Z")  # at the end of a rule: all that lie somewhere
_BELOW = "ps_d"  # of the library: where in a path a directory ends that a rule is about


def is_text(content: bytes) -> bool:
    """Tell whether rules can be read: UTF-8 without NUL; as UTF-16, which some editors write, no rule would match."""
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


class _Rule(NamedTuple):
    """One rule: what it says of a path, and how it is known which paths it is about."""

    leaves_out: bool
    is_of_directories: bool
    pattern: re.Pattern[str]

    def is_about(self, path: str, *, is_dir: bool) -> bool:
        """Tell whether it is about this path itself, and not only about a directory above it."""
        if self.is_of_directories and not is_dir:
            return False
        if _BELOW not in self.pattern.groupindex:  # about all that lies somewhere
            return self.pattern.search(path) is not None
        text = f"{path}/" if is_dir else path
        found = self.pattern.search(text)
        return found is not None and found.end() == len(text)


class Ignore:
    """The rules of one `.laceignore`.

    Args:
        content: the bytes of the file; empty when there is none.
        below: where what is asked about lies, relative to the folder of the file; empty for that folder. What the rules
            say of this directory itself, and of those above it, does not count: whoever asks is about what it holds.
        is_alone: whether only what the file says counts, and nothing is left out for being a system's.
    """

    def __init__(self, content: bytes = b"", below: str = "", *, is_alone: bool = False) -> None:
        self.digest = blake3(b"rules/5 " + content if content else b"").digest(8)  # of what the rules mean, too
        self.faults: list[str] = []
        if len(content) > MAX_IGNORE_BYTES:
            self.faults.append(f"it has more than {MAX_IGNORE_BYTES} bytes, so none of its rules is used")
            content = b""
        self._costly = 0
        lines = enumerate(_LINE_END.split(content.decode("utf-8-sig", "replace")), 1)
        found = (self._rule(number, line) for number, line in lines if line.strip() and not line.startswith("#"))
        rules = [rule for rule in found if rule is not None]
        if len(rules) > _MAX_RULES:
            self.faults.append(f"only its first {_MAX_RULES} rules are used")
            del rules[_MAX_RULES:]
        self._rules = rules[::-1]  # the last one that is about a path decides
        self._is_alone = is_alone
        self._above = f"{below}/" if below else ""
        self._asked = {"": False} | dict.fromkeys(accumulate(below.split("/"), "{}/{}".format), False)
        self._out = {**self._asked}  # of directories that were asked about

    @property
    def has_rules(self) -> bool:
        """Whether the file leaves anything out or takes it in."""
        return bool(self._rules)

    def matches(self, path: str, *, is_dir: bool) -> bool:
        """Tell whether the rules leave this path out: itself, or a directory in which it lies."""
        if not self._rules and (self._is_alone or not any(map(is_system_name, path.split("/")))):
            return False
        path = self._above + path
        if self._is_left_out(path.rpartition("/")[0]):
            return True
        return self._is_left_out(path) if is_dir else self._judge(path, is_dir=False)

    def _is_left_out(self, directory: str) -> bool:
        known = self._out.get(directory)
        if known is None:
            if len(self._out) >= _MOST_KEPT:
                self._out = {**self._asked}
            known = self._is_left_out(directory.rpartition("/")[0]) or self._judge(directory, is_dir=True)
            self._out[directory] = known
        return known

    def _judge(self, path: str, *, is_dir: bool) -> bool:
        found = next((rule.leaves_out for rule in self._rules if rule.is_about(path, is_dir=is_dir)), None)
        return found if found is not None else not self._is_alone and is_system_name(path.rpartition("/")[2])

    def _rule(self, number: int, line: str) -> _Rule | None:
        """Return a rule; None after saying why it is not used."""
        simple = _simple(line)
        names = simple.removeprefix("!").split("/")
        power = max(names.count("**"), *(name.count("*") for name in names if name != "**"), 0)
        self._costly += power == _MAX_WILDCARDS
        if power > _MAX_WILDCARDS or len(line) > 1024 or self._costly > _MAX_COSTLY:
            self.faults.append(f"rule {number} has too many wildcards and is not used")
            return None
        try:
            return _compiled(simple)
        except (ValueError, OverflowError, RecursionError, LookupError, re.error):
            self.faults.append(f"rule {number} is not a valid pattern and is not used")
            return None


def _simple(line: str) -> str:
    """Return a rule that means the same without stars side by side, each of which would be tried on its own."""
    rule = line.removeprefix("!")
    names = (name if name == "**" else re.sub(_STARS, lambda found: found[1] or "*", name) for name in rule.split("/"))
    return line[: len(line) - len(rule)] + _DIRECTORIES.sub("/**/*/", "/".join(names))


def _compiled(rule: str) -> _Rule:
    """Return what a rule says; what the library makes of its sets is held to what git means by them.

    Raises:
        ValueError, LookupError, re.error: it is no pattern.
    """
    from pathspec import GitIgnoreSpec, RegexPattern  # 13 ms that only a folder with rules needs

    sets: dict[str, str] = {}
    marks = (chr(code) for code in _MARKS if chr(code) not in rule)

    def marked(found: re.Match[str]) -> str:
        if found[1] is None and found[0] != "[":
            return found[0]
        mark = next(marks)
        sets[mark] = _meant(found[1] or "")
        return mark

    spoken = _SET.sub(marked, rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # a set that looks nested is what the rule says
        (made,) = GitIgnoreSpec.from_lines([spoken]).patterns
        if not isinstance(made, RegexPattern) or made.include is None or made.regex is None:
            raise ValueError(f"{rule!r} says nothing")
        return _Rule(made.include, rule.endswith("/"), re.compile(_as_git(made.regex.pattern, sets), re.DOTALL))


def _as_git(pattern: str, sets: Mapping[str, str]) -> str:
    """Return a pattern of the library with the sets where it has marks for them."""
    if pattern.startswith(f"(?P<{_BELOW}>"):
        return "."  # every directory
    return "".join(sets.get(sign, sign) for sign in pattern)


def _meant(spoken: str) -> str:
    """Return a set as git understands it, as a regular expression; the library ends one at a bracket that is escaped.

    No set holds the sign that stands between two names.

    Raises:
        ValueError, LookupError: it is none.
    """
    is_negated = spoken[1:2] in {"!", "^"}
    found = [*_SIGN.finditer(spoken, 1 + is_negated, len(spoken) - 1)] if spoken else []
    if not found or "/" in spoken:  # at which git splits the rule as well
        raise ValueError(f"{spoken!r} is no set")
    parts: list[str] = []
    at = 0
    while at < len(found):
        name, sign = found[at].groups()
        if name is not None:
            parts.append(_CLASSES[name])
        elif at + 2 < len(found) and found[at + 1][0] == "-":
            if found[at + 2][2] is None:
                raise ValueError(f"{spoken!r} has a range without an end")
            parts.append(f"{re.escape(sign)}-{re.escape(found[at + 2][2])}")
            at += 2
        else:
            parts.append(re.escape(sign))
        at += 1
    return f"(?!/)[{'^' if is_negated else ''}{''.join(parts)}]"
