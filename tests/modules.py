"""What the modules of the program import, read and offer, each looked through once for all house rules."""

from __future__ import annotations

import ast
from collections.abc import Mapping
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
        reads: names that it reads, as they are called in it.
        taken: (module, name) of what it takes of others, by an import or by a dot; a package's door takes nothing.
        passed: (module, name) of what a package's door imports for others, by what it is called there.
        defaults: (function, parameter) of each such function's parameters that need not be given, with the place at
            which it may be, "" where it is given by name alone.
        given: (function, parameter) of what its calls give, by name or by the number of its place; or `*`, or `**`.
        classes: its classes, wherever in it, each with the names of its members and bases.
        wide: (name, line) of its calls that give more than seven arguments by their place.
    """

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    attributes: frozenset[tuple[str, str]]
    offered: tuple[str, ...]
    functions: frozenset[str]
    reads: frozenset[str]
    taken: frozenset[tuple[str, str]]
    passed: Mapping[str, tuple[str, str]]
    defaults: Mapping[tuple[str, str], str]
    given: frozenset[tuple[str, str]]
    classes: Mapping[str, frozenset[str]]
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
    bound = [pair for node in imports for pair in _bound(node)]
    full = {called: f"{module}.{name}".strip(".") for called, (module, name) in bound}
    dotted = [_full(node, full).rpartition(".") for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    is_door = path.name == "__init__.py"
    taken = {(module, name) for module, _, name in dotted} | {pair for _, pair in bound if not is_door}
    return Module(
        tuple(imports),
        frozenset(attributes),
        tuple(_offered(tree)),
        frozenset(node.name for node in functions),
        frozenset(read),
        frozenset(taken),
        dict(bound) if is_door else {},
        {pair: place for node in functions for pair, place in _defaults(node).items()},
        frozenset(pair for node in ast.walk(tree) if isinstance(node, ast.Call) for pair in _given(node)),
        {node.name: _members(node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)},
        tuple(
            (node.func.id, node.lineno)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > _WIDE
        ),
    )


def _bound(node: ast.Import | ast.ImportFrom) -> list[tuple[str, tuple[str, str]]]:
    """Return what an import calls each thing, and (module, name) of it; a whole module lies in none."""
    if isinstance(node, ast.ImportFrom):
        return [(alias.asname or alias.name, (node.module or "", alias.name)) for alias in node.names]
    names = [(alias.asname, alias.name if alias.asname else alias.name.split(".")[0]) for alias in node.names]
    return [(called or name, ("", name)) for called, name in names]


def _full(named: ast.expr, full: Mapping[str, str]) -> str:
    """Return `module.name` by the module's full name; empty where it begins with nothing imported."""
    if isinstance(named, ast.Name):
        return full.get(named.id, "")
    front = _full(named.value, full) if isinstance(named, ast.Attribute) else ""
    return f"{front}.{_last(named)}" if front else ""


def _members(kind: ast.ClassDef) -> frozenset[str]:
    """Return the names of a class's methods, fields and bases, and of what its methods keep in `self`."""
    found = {_last(base.value if isinstance(base, ast.Subscript) else base) for base in kind.bases}
    for node in kind.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            found |= {_last(target) for target in (node.targets if isinstance(node, ast.Assign) else [node.target])}
    kept = (node for node in ast.walk(kind) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return frozenset(found | {node.attr for node in kept if _last(node.value) == "self"})


def _defaults(function: ast.FunctionDef) -> dict[tuple[str, str], str]:
    taken = function.args
    named = [one.arg for one, default in zip(taken.kwonlyargs, taken.kw_defaults, strict=True) if default is not None]
    placed = [*taken.posonlyargs, *taken.args]
    first = len(placed) - len(taken.defaults)
    places = {one.arg: str(first + at) for at, one in enumerate(placed[first:])}
    return {(function.name, one): place for one, place in (dict.fromkeys(named, "") | places).items()}


def _given(call: ast.Call) -> list[tuple[str, str]]:
    """Return what a call gives; `partial` gives it to its first argument."""
    function, args = _last(call.func), call.args
    if function == "partial" and args:
        function, args = _last(args[0]), args[1:]
    places = ["*" if isinstance(one, ast.Starred) else str(at) for at, one in enumerate(args)]
    return [(function, one) for one in (*places, *(keyword.arg or "**" for keyword in call.keywords))]


def _last(named: ast.expr) -> str:
    return named.id if isinstance(named, ast.Name) else named.attr if isinstance(named, ast.Attribute) else ""


def _offered(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            found += [str(one.value) for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return found
