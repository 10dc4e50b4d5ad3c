"""The command line: a frame that finds the verb, and one module for each family of verbs."""

from __future__ import annotations

__all__: list[str] = []
