"""A verb's words taken apart without `argparse`, which takes longer to load than a small commit takes to make.

`PlainParser` is told of arguments as `argparse.ArgumentParser` is, and understands words that are plain: options
written out, each with its value after it, and the right number of other words. Whatever is not plainly right, wrong or
abbreviated or a call for help, it leaves to `argparse`, which has the words for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from types import SimpleNamespace
from typing import Any, Final

__all__ = ["ABSENT", "EVERYWHERE", "HelpAsked", "NotPlain", "PlainParser"]

ABSENT: Final = "==SUPPRESS=="
"""What `argparse.SUPPRESS` is: the default of an option that leaves no value unless it is given."""
_FEW: Final = {None: (1, 1), 1: (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}  # words at least and at most

EVERYWHERE: Final[tuple[tuple[tuple[str, ...], dict[str, Any]], ...]] = (
    (("-C",), {"dest": "global_directory", "metavar": "DIR", "help": "work in that folder"}),
    (("--json",), {"dest": "global_json", "action": "store_true", "help": "answer in JSON on standard output"}),
    (
        ("-q", "--quiet"),
        {"dest": "global_quiet", "action": "store_true", "help": "say nothing when all went well"},
    ),
    (("-v", "--verbose"), {"dest": "global_verbose", "action": "store_true", "help": "say more"}),
)
"""Options that every verb takes besides -h; one that was not given leaves no value."""


class HelpAsked(Exception):  # noqa: N818 - nobody did anything wrong
    """Somebody wrote -h or --help."""


class NotPlain(Exception):  # noqa: N818 - nothing is wrong: somebody else parses these words
    """These words are not plain, or what they are for is not."""


class _Argument:
    """One option, or one place for words without an option.

    Args:
        name: of the value.
        how: what `add_argument` was told besides the names.
    """

    __slots__ = ("action", "choices", "default", "name", "nargs", "needed", "type")

    def __init__(self, name: str, how: dict[str, Any]) -> None:
        self.name = name
        self.action = how.get("action", "store")
        self.nargs = how.get("nargs")
        self.type: Callable[[str], Any] | None = how.get("type")
        self.choices: Collection[Any] | None = how.get("choices")
        self.needed = bool(how.get("required"))
        self.default = how.get("default", False if self.action == "store_true" else None)
        if self.type is not None and isinstance(self.default, str):
            raise NotPlain

    def value(self, word: str) -> Any:
        """Return what a word says."""
        said: Any = word
        if self.type is not None:
            try:
                said = self.type(word)
            except Exception as fault:  # whatever it is, `argparse` meets it again and says it
                raise NotPlain from fault
        if self.choices is not None and said not in self.choices:
            raise NotPlain
        return said


class PlainParser:
    """Takes the arguments of one verb, by the same calls as `argparse.ArgumentParser`.

    Raises:
        NotPlain: by every method, where it is for `argparse`.
    """

    def __init__(self) -> None:
        self._options: dict[str, _Argument] = {}
        self._places: list[_Argument] = []
        self._apart: list[tuple[set[str], bool]] = []  # names of options that exclude each other; is one needed

    def add_argument(self, *names: str, **how: Any) -> _Argument:
        """Take an argument."""
        if not names[0].startswith("-"):
            place = _Argument(names[0], how)
            if place.action != "store" or place.nargs not in _FEW:
                raise NotPlain
            self._places.append(place)
            return place
        long = next((name for name in names if name.startswith("--")), names[0])
        option = _Argument(how.get("dest") or long.lstrip("-").replace("-", "_"), how)
        self._options |= dict.fromkeys(names, option)
        return option

    def add_argument_group(self, *_: Any, **__: Any) -> PlainParser:
        """Return what takes the arguments of a group, which is one in help only."""
        return self

    def add_mutually_exclusive_group(self, *, required: bool = False) -> _Apart:
        """Return what takes arguments of which at most one may be given."""
        names: set[str] = set()
        self._apart.append((names, required))
        return _Apart(self, names)

    def set_defaults(self, **_: Any) -> None:
        """Leave the words of a verb with such defaults to `argparse`."""
        raise NotPlain

    def parse(self, words: Sequence[str]) -> SimpleNamespace:
        """Return the values that the words give the arguments."""
        found: dict[str, Any] = {}
        others: list[str] = []
        following = iter(words)
        for word in following:
            if not word.startswith("-"):
                others.append(word)
                continue
            option = self._options.get(word)
            if option is None or option.nargs is not None:
                raise NotPlain
            if option.action == "store_true":
                found[option.name] = True
                continue
            value = next(following, "-")
            if value.startswith("-"):
                raise NotPlain
            if option.action == "store":
                found[option.name] = option.value(value)
            elif option.action == "append":
                found[option.name] = [*(found.get(option.name) or option.default or ()), option.value(value)]
            else:
                raise NotPlain
        for names, is_needed in self._apart:
            if len(names & found.keys()) > 1 or (is_needed and not names & found.keys()):
                raise NotPlain
        if any(option.needed and option.name not in found for option in self._options.values()):
            raise NotPlain
        self._put(found, others)
        given = {option.name: option.default for option in self._options.values() if option.default != ABSENT}
        return SimpleNamespace(**given | found)

    def _put(self, found: dict[str, Any], words: list[str]) -> None:
        """Give the words without an option their places: each as many as it may have, those before it first."""
        is_open = False  # one before may have fewer than it could
        for place in self._places:
            least, most = _FEW[place.nargs]
            if (least and is_open) or len(words) < least:
                raise NotPlain
            is_open = is_open or most != least
            taken = words[:most]
            del words[:most]
            values = [place.value(word) for word in taken]
            if most is None or place.nargs == 1:  # a list, whatever is in it
                found[place.name] = values or ([] if place.default is None else place.default)
            else:
                found[place.name] = values[0] if values else place.default
        if words:
            raise NotPlain


class _Apart:
    """Takes arguments that exclude each other."""

    __slots__ = ("_names", "_parser")

    def __init__(self, parser: PlainParser, names: set[str]) -> None:
        self._parser, self._names = parser, names

    def add_argument(self, *names: str, **how: Any) -> None:
        """Take one of them, which is an option."""
        if not names[0].startswith("-"):
            raise NotPlain
        name = self._parser.add_argument(*names, **how).name
        if name in self._names:
            raise NotPlain
        self._names.add(name)
