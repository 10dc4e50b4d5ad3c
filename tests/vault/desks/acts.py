"""What may happen in a folder between two scans, for tests that try many such stories."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hypothesis import strategies as st

from vault.desks.ignore import IGNORE_FILE

__all__ = ["acts", "do"]

_USUAL = ["write", "rewrite", "delete", "rename", "folder", "link", "chmod"]


def acts(names: list[str], others: list[str], *more: str) -> st.SearchStrategy[tuple[str, str, str]]:
    """Return acts, each with what it is done to and a second name.

    Args:
        names: what acts are done to.
        others: what is renamed becomes one of these.
        more: acts besides the usual ones: "touch", "rules".
    """
    return st.tuples(st.sampled_from([*_USUAL, *more]), st.sampled_from(names), st.sampled_from(others))


def do(root: Path, act: str, name: str, other: str, number: int) -> None:
    """Do one act in a folder.

    Raises:
        OSError: it cannot be done as the folder stands.
    """
    path = root / name
    match act:
        case "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"%d" % (number % 3))
        case "rewrite":  # of equal size, and with the time of the old content
            before = path.stat()
            path.write_bytes(b"%d" % (number % 3) if before.st_size == 1 else path.read_bytes()[::-1])
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        case "delete":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        case "rename":
            path.rename(root / other)
        case "folder":
            path.mkdir(parents=True)
        case "link":
            path.symlink_to("b.o" if name.endswith(".o") else "b")
        case "chmod":
            path.chmod(path.stat().st_mode ^ 0o100)
        case "rules":
            (root / IGNORE_FILE).write_bytes((b"*.o\n", b"", b"e/\n")[number % 3])
        case "touch":
            os.utime(path, ns=(10**18, 10**18))
        case _:
            raise AssertionError(act)
