"""Loading modules of Python without what they load in turn for a case that hardly any command has."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # `typing` is not loaded yet
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

__all__ = ["load_less", "load_without"]


def load_less() -> None:
    """Load what every command needs, first of all and without the rest."""
    load_without("dataclasses", "copy", "inspect")  # a value taken apart to its leaves, a class without a docstring
    load_without("pathlib", "ntpath", "urllib.parse")  # a path of another system, a path as an address
    _load_untranslated()


def load_without(module: str, *seldom: str) -> None:
    """Load a module without others that it hardly ever needs; each is loaded when something of it is asked for.

    Whoever else wants one of those loads it as ever.
    """
    if module not in sys.modules:
        _load_beside(module, {name: _asked_later(name) for name in seldom if name not in sys.modules})


def _asked_later(seldom: str) -> ModuleType:
    """Return a module in place of another one, which it loads when it is asked for a name, or a function is called."""

    def named(name: str) -> object:
        def called(*values: object) -> object:
            return getattr(import_module(seldom), name)(*values)

        return called if sys.modules.get(seldom) is stand_in else getattr(import_module(seldom), name)

    stand_in = type(sys)(seldom)
    stand_in.__getattr__ = named  # type: ignore[method-assign]
    return stand_in


def _load_untranslated() -> None:
    """Load `argparse` without what would look for each of its words in the person's language: lace speaks English.

    Python brings no translation of them, and to look for one takes a fortieth of a commit.
    """
    if not {"argparse", "gettext"} & sys.modules.keys():
        words = type(sys)("gettext")
        vars(words).update(gettext=str, ngettext=lambda one, several, count: one if count == 1 else several)
        _load_beside("argparse", {"gettext": words})


def _load_beside(module: str, stand_ins: Mapping[str, ModuleType]) -> None:
    """Load a module that gets others in place of those it wants."""
    sys.modules.update(stand_ins)
    try:
        import_module(module)
    finally:
        for name in stand_ins:
            del sys.modules[name]
