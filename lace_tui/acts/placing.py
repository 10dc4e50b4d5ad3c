"""A place that is encrypted from its first visit on, and which may be (CYB-16)."""

from __future__ import annotations

from lace_tui.errors import BadArguments
from lazy.places.registry import Place, note_encrypted
from transports.address import AddressKind
from vault.writer import Writer

__all__ = ["as_encrypted", "require_written"]


def as_encrypted(w: Writer, place: Place) -> None:
    """Take note with a new place that it is encrypted: one that is not yet would be written to in plain.

    Raises:
        BadArguments: it is only read.
    """
    require_written(place)
    note_encrypted(w, place.name, is_on=True)
    w.audit("lazy-encrypt", place.name, {"added": "yes"})  # an undo takes back both


def require_written(place: Place) -> None:
    """Refuse a place that nothing can be encrypted at.

    Raises:
        BadArguments: it is only read.
    """
    if place.kind not in {AddressKind.DROP, AddressKind.GIT}:
        raise BadArguments(
            f"{place.name} is only read, so there is nothing to encrypt.",
            hint="Encrypt at a directory or a git remote.",
        )
