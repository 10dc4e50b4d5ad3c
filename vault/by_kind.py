"""What changed, by kind and in words."""

from __future__ import annotations

from typing import Protocol

__all__ = ["ByKind", "counted"]


class ByKind(Protocol):
    """What changed, by kind."""

    def paths(self, kind: str) -> list[str]:
        """Return the paths of one kind of change: `added`, `changed` or `deleted`."""


def counted(found: ByKind) -> str:
    """Return how much changed, in words: `1 added, 2 changed`."""
    parts = [f"{len(paths)} {kind}" for kind in ("added", "changed", "deleted") if (paths := found.paths(kind))]
    return ", ".join(parts) or "nothing changed"
