"""What a prune says of old files that stay, by a command or in the app (CLAY-79)."""

from __future__ import annotations

from vault.plural import plural

__all__ = ["needed_text"]


def needed_text(count: int) -> str:
    """Return why so many files that rules let go of stay."""
    stay, them = ("stays", "it") if count == 1 else ("stay", "them")
    why = "a coming merge may need it, or it has a label, an open conflict is about it, or a folder stands on it"
    return f"{plural(count, 'old released file')} {stay}, since a release with {them} is needed: {why}."
