"""What the modules of the program import, read and offer, each looked through once for all house rules."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Module", "module_at"]

_WIDE = 7  # arguments that a reader can still count


@dataclass(frozen=True, slots=True)
class Module:
    """What stands in a module, wherever in it.

    Args:
        imports: its imports, also the late ones and those for types only.
        attributes: what it takes of names by a dot, such as `("os", "environ")`.
        offered: what `__all__` names, of all statements that add to it.
        functions: its functions outside of classes and other functions.
        used: names that it reads, takes from others or takes of them by a dot; a package's door takes nothing.
        defaults: (function, parameter) of each such function's parameters that are given by name and need not be.
        given: (function, parameter) of what its calls give by name, or `**`.
        classes: its classes, wherever in it.
        wide: (name, line) of its calls that give more than seven arguments by their place.
    """

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    attributes: frozenset[tuple[str, str]]
    offered: tuple[str, ...]
    functions: frozenset[str]
    used: frozenset[str]
    defaults: frozenset[tuple[str, str]]
    given: frozenset[tuple[str, str]]
    classes: frozenset[str]
    wide: tuple[tuple[str, int], ...]


@cache
def module_at(path: Path) -> Module:
    """Look through a module; its whole tree is not kept: those of all modules take more than a hundred megabytes."""
    tree = ast.parse(path.read_text("utf-8"))
    imports: list[ast.Import | ast.ImportFrom] = []
    attributes = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.add((node.value.id, node.attr))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    read |= {name for value, name in attributes if value not in {"self", "cls"}}
    if path.name != "__init__.py":
        read |= {alias.name for node in imports for alias in node.names}
    return Module(
        tuple(imports),
        frozenset(attributes),
        tuple(_offered(tree)),
        frozenset(node.name for node in functions),
        frozenset(read),
        frozenset(pair for node in functions for pair in _defaults(node)),
        frozenset(pair for node in ast.walk(tree) if isinstance(node, ast.Call) for pair in _given(node)),
        frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)),
        tuple(
            (node.func.id, node.lineno)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > _WIDE
        ),
    )


def _defaults(function: ast.FunctionDef) -> list[tuple[str, str]]:
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [(function.name, parameter.arg) for parameter, default in named if default is not None]


def _given(call: ast.Call) -> list[tuple[str, str]]:
    """Return what a call gives by name; `partial` gives it to its first argument."""
    function = _last(call.func)
    if function == "partial" and call.args:
        function = _last(call.args[0])
    return [(function, keyword.arg or "**") for keyword in call.keywords]


def _last(named: ast.expr) -> str:
    return named.id if isinstance(named, ast.Name) else named.attr if isinstance(named, ast.Attribute) else ""


def _offered(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            found += [str(one.value) for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return found
