"""Paths that a person names to write to: they lie outside of every vault's own directory."""

from __future__ import annotations

import os
from pathlib import Path

from vault.errors import CallerError

__all__ = ["InTheVault", "require_outside"]

_STORE = "store.db"


class InTheVault(CallerError):
    """Something was to be written where only lace keeps files."""

    code = "in-the-vault"
    exit_code = 2
    hint = "Name a place outside of the .vault."


def require_outside(dot: Path, path: Path) -> None:
    """Refuse a path to write to that, by whatever links it leads there, is a vault's own directory or lies in it.

    Raises:
        InTheVault: it is, or does; of another folder's vault, too.
    """
    real, own = Path(os.path.realpath(path)), Path(os.path.realpath(dot))
    if real.is_relative_to(own):
        raise InTheVault(f"{path} lies in the .vault, where only lace keeps files.")
    others = (at for at in (real, *real.parents) if at.name == own.name)
    if any((at / _STORE).is_file() for at in others):
        raise InTheVault(f"{path} lies in the .vault of another folder, where only lace keeps files.")
