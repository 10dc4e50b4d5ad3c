"""The command line: a frame that finds the verb, and what the verbs share."""

from __future__ import annotations

__all__: list[str] = []
