"""Why a machine was not reached, in words for people."""

from __future__ import annotations

__all__ = ["why_unreached"]


def why_unreached(error: Exception) -> str:
    """Return what a failed call to another machine says, without a full stop (INT-122)."""
    if isinstance(error, UnicodeError):
        return "no machine can be called so"  # Python tells of the codec that it tried
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")
