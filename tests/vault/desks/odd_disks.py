"""Disks that take other names for the same one, played on the disk that there is (faults 8)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from vault.desks.paths import twin_key

__all__ = ["fold_names"]


def fold_names(monkeypatch: pytest.MonkeyPatch, spelt: Callable[[str], str] = lambda name: name) -> None:
    """Let names in open directories be found in any letter case, as on FAT and on most disks of macOS and Windows.

    Args:
        monkeypatch: takes it back.
        spelt: how the disk writes a new name.
    """
    rename = os.rename

    def stands(name: str, fd: int | None) -> str:
        if fd is None or "/" in name:
            return name
        name, names = spelt(name), os.listdir(fd)  # noqa: PTH208 - a descriptor has no path
        key = twin_key(name)
        return name if name in names else next((other for other in names if twin_key(other) == key), name)

    def one(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(name: Any, *args: Any, dir_fd: int | None = None, **named: Any) -> Any:
            return real(stands(name, dir_fd) if isinstance(name, str) else name, *args, dir_fd=dir_fd, **named)

        return call

    def two(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(
            old: str, new: str, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None, **named: Any
        ) -> Any:
            source, target = stands(old, src_dir_fd), stands(new, dst_dir_fd)
            if real is rename and source == target:  # another case of its own name
                target = spelt(new)
            return real(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, **named)

        return call

    for name in ("open", "stat", "mkdir", "rmdir", "unlink"):
        monkeypatch.setattr(os, name, one(getattr(os, name)))
    for name in ("rename", "replace", "link"):
        monkeypatch.setattr(os, name, two(getattr(os, name)))
