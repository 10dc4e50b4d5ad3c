"""A checkout that is cut off."""

from __future__ import annotations

from vault.files import NotWritable


def cut_folder_off(*_: object) -> None:
    """Stand in for a step of a checkout at which the folder can be written no more."""
    raise NotWritable("The folder cannot be written.")
