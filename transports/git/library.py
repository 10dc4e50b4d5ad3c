"""GitPython's way to run git, loaded without the rest of that library.

The whole of it reads repositories, which nothing here does, and runs git once to see whether there is one: a sixth of a
sync by git. Whether there is one is told by the first command.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git.cmd import Git

__all__ = ["git_library"]

_LOADING = threading.Lock()


def git_library() -> tuple[type[Git], type[Exception]]:
    """Return the class that runs git, and the error by which it says that there is none.

    Raises:
        ImportError: the library is not here.
    """
    with _LOADING:  # a package must not stand in for another one while somebody else loads that
        return _loaded()


@cache
def _loaded() -> tuple[type[Git], type[Exception]]:
    with _unread("gitdb"), _unread("git"):
        return import_module("git.cmd").Git, import_module("git.exc").GitCommandNotFound


@contextmanager
def _unread(package: str) -> Iterator[None]:
    """Let modules of a package be loaded for the block without the package itself.

    Whoever wants that loads it afterwards, and finds these modules by `import` alone, not as its attributes.
    """
    if package in sys.modules:
        yield
        return
    spec = find_spec(package)
    if spec is None:
        raise ImportError(f"No module named {package!r}", name=package)
    sys.modules[package] = module_from_spec(spec)
    try:
        yield
    finally:
        del sys.modules[package]
