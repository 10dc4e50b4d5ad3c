"""The optional packages, asked for in one place so that their absence has one sentence (APP-10)."""

from __future__ import annotations

import importlib
from types import ModuleType

from spark_export.errors import ExtraMissing

__all__ = ["needed"]


def needed(module: str, what: str) -> ModuleType:
    """Import a module of the extra `spark`.

    Args:
        module: its dotted name.
        what: what needs it, as the subject of a sentence ("An export").

    Raises:
        ExtraMissing: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).split(".")[0]
        raise ExtraMissing(f"{what} needs the package {missing}, which is not installed.") from error
