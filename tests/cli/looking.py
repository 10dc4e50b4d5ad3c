"""What tests of verbs look at: errors in both forms, and files in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.people import Result

__all__ = ["error_of", "tree_of"]


def error_of(result: Result, code: str, exit_code: int = 2) -> dict[str, Any]:
    """Return the error a command ended with; it says the same on both streams (APP-14)."""
    assert result.code == exit_code, result.err
    error: dict[str, Any] = result.json["error"]
    assert error["code"] == code, error
    assert error["hint"]
    assert result.err.strip()
    return error


def tree_of(folder: Path) -> dict[str, bytes]:
    """Return path -> content of every file outside the vault."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".vault" not in path.parts
    }
