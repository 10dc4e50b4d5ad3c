"""What the modules of the program import, read and offer, each looked through once for all house rules."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Module", "module_at"]


@dataclass(frozen=True, slots=True)
class Module:
    """What stands in a module, wherever in it.

    Args:
        imports: its imports, also the late ones and those for types only.
        attributes: what it takes of names by a dot, such as `("os", "environ")`.
        offered: what `__all__` names, of all statements that add to it.
        functions: its functions outside of classes and other functions.
    """

    imports: tuple[ast.Import | ast.ImportFrom, ...]
    attributes: frozenset[tuple[str, str]]
    offered: tuple[str, ...]
    functions: frozenset[str]


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
    functions = frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    return Module(tuple(imports), frozenset(attributes), tuple(_offered(tree)), functions)


def _offered(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            found += [str(one.value) for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return found
