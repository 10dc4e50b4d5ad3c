"""The app is one class that holds parts; no part is the heir of another (APP-3)."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

from textual.app import App

import lace_tui.app
from lace_tui.app.lace import LaceApp


def classes() -> list[type]:
    """Return the classes of the room."""
    names = [path.stem for path in Path(lace_tui.app.__file__).parent.glob("*.py") if path.stem != "__init__"]
    modules = [import_module(f"lace_tui.app.{name}") for name in names]
    return [one for module in modules for one in vars(module).values() if _is_of(one, module.__name__)]


def _is_of(value: object, module: str) -> bool:
    return inspect.isclass(value) and value.__module__ == module


def test_one_class_is_an_app() -> None:
    assert [one for one in classes() if issubclass(one, App)] == [LaceApp]
    assert LaceApp.__bases__ == (App,)


def test_no_part_is_the_heir_of_another() -> None:
    found = set(classes())
    assert len(found) > 10
    assert not {one for one in found if found & set(one.__bases__)}
