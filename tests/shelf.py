"""What tests begin with, made once a session and copied for each: to make it takes as long as dozens of copies."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

from vault.surroundings import Surroundings
from vault.vault import Vault

__all__ = ["Shelf"]

T = TypeVar("T")
_Made = tuple[Callable[..., object], tuple[object, ...]]


class Shelf:
    """Directories as they were when something was made in them, and the one place where they lie again.

    Vaults know the ways to their places, so what is copied lies where it was made: each test that asks for some of it
    has this place as its directory.

    Args:
        root: an empty directory of this session.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.now = root / "now"
        self._kept: dict[_Made, tuple[Path, Any]] = {}
        self._open: list[Vault] = []
        self._standing: dict[Callable[..., object], object] = {}
        self._stack = ExitStack()

    def close(self) -> None:
        """End what stands as long as the session."""
        self._stack.close()

    def stands(self, begin: Callable[[Path], AbstractContextManager[T]]) -> T:
        """Return what serves whatever lies at the one place; it is begun once, and ends with the session."""
        if begin not in self._standing:
            self._standing[begin] = self._stack.enter_context(begin(self.now))
        standing: T = self._standing[begin]  # type: ignore[assignment]
        return standing

    @contextmanager
    def instead_of(self, folder: Path) -> Iterator[Path]:
        """Have a test's directory stand at the one place until the test is over, which ends what was opened for it."""
        folder.rename(self.now)
        try:
            yield self.now
        finally:
            while self._open:
                self._open.pop().close()
            self.now.rename(folder)

    def lay(self, make: Callable[..., T], *words: object) -> T:
        """Put what a function makes in an empty directory into the test's own, in place of what is there of it.

        Return what it returns, as often as asked for: a value of its own each time, and vaults opened anew, with their
        clocks and their randomness as they were then.

        Whoever changes how lace behaves (with `monkeypatch`, say) does so afterwards: what is made is for all.

        Args:
            make: makes it below the directory that it is given, from nothing but these words.
            words: tell what to make.
        """
        kept, made = self._kept.get((make, words)) or self._keep(make, words)
        for part in _parts(kept):
            _put(part, self.now / part.relative_to(kept))
        again: T = self._opened(deepcopy(made))
        return again

    def _keep(self, make: Callable[..., object], words: tuple[object, ...]) -> tuple[Path, Any]:
        aside, kept = self._root / "aside", self._root / str(len(self._kept))
        self.now.rename(aside)
        try:
            self.now.mkdir()
            made = _closed(make(self.now, *words))
            self.now.rename(kept)
        finally:
            shutil.rmtree(self.now, ignore_errors=True)
            aside.rename(self.now)
        return self._kept.setdefault((make, words), (kept, made))

    def _opened(self, made: Any) -> Any:
        if isinstance(made, _Closed):
            self._open.append(Vault(*made))
            return self._open[-1]
        return tuple(self._opened(one) for one in made) if isinstance(made, tuple) else made


class _Closed(tuple[Path, Surroundings]):
    """A vault that can be opened."""

    __slots__ = ()


def _closed(made: object) -> object:
    if isinstance(made, Vault):
        made.close()
        return _Closed((made.folder, made.around))
    return tuple(_closed(one) for one in made) if isinstance(made, tuple) else made


def _put(part: Path, there: Path) -> None:
    """Put a copy of a file or a directory in the place of what is there."""
    if there.is_dir() and not there.is_symlink():
        shutil.rmtree(there)
    else:
        there.unlink(missing_ok=True)
    if part.is_dir() and not part.is_symlink():
        shutil.copytree(part, there, symlinks=True)
    else:
        shutil.copy2(part, there, follow_symlinks=False)


def _parts(kept: Path) -> Iterator[Path]:
    """Yield what is laid as one: each file and directory, but of homes each one of them."""
    for part in kept.iterdir():
        if part.name == "homes":
            yield from part.iterdir()
        else:
            yield part
