"""Files beside the store, and what lace wrote in them: so a check can tell what changed since (APP-13, LAZ-62, LAZ-79).

The store keeps the text of the settings file and digests of the files that are for people to read. What is about to be
written is noted first and counts beside what was written before, so a crash in between leaves nothing that looks
damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from blake3 import blake3

from vault.config import ConfigDamaged, Settings
from vault.errors import EnvironmentFault, LaceError
from vault.files import FileMissing, make_directory, read_bounded, write_atomic
from vault.vault import READABLE

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = [
    "can_restore",
    "changed_readable",
    "note_readable",
    "restore_settings",
    "save_settings",
    "settings_change",
    "was_noted",
]

_CONFIG, _CONFIG_BEFORE = "written config", "written config before"  # settings of the store
_DIGESTS = "written readable"
_LIMIT = 64 << 20  # bytes of one file
_SUM_CHARACTERS = 32


def save_settings(vault: Vault, settings: Settings) -> None:
    """Write the settings file and remember what was written; under the vault's lock.

    Raises:
        DiskFull, NotWritable, StoreUnwritable: it cannot be written.
    """
    text = settings.encode().decode()
    with vault.store.transaction():
        vault.store.set_meta(_CONFIG_BEFORE, _text(vault))
        vault.store.set_meta(_CONFIG, text)
    write_atomic(settings.path, text.encode())


def settings_change(vault: Vault) -> str:
    """Return in which line the settings file is not as lace last wrote it, as a sentence; nothing when it is.

    A person may edit the file, so this is no damage by itself. A file that lace never wrote has no such line, and a
    file that was deleted means the defaults.
    """
    written, before = vault.store.meta(_CONFIG), vault.store.meta(_CONFIG_BEFORE)
    text = _text(vault)
    if not written or text in {"", written, before}:
        return ""
    ours, theirs = written.split("\n"), text.split("\n")
    at = next((i for i, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), len(ours))
    mine = ours[at] if at < len(ours) else ""
    now = theirs[at] if at < len(theirs) else ""
    return f"Line {at + 1} of config.toml is {now[:80]!r}, and lace wrote {mine[:80]!r} there."


def can_restore(vault: Vault) -> bool:
    """Tell whether `restore_settings` has what to put back: not where lace never wrote a settings file."""
    return bool(vault.store.meta(_CONFIG))


def restore_settings(vault: Vault, aside: str) -> bool:
    """Put back what lace last wrote where the settings file cannot be understood; its bytes are kept beside it.

    Returns:
        Whether it was put back; not when the file is understood, or lace never wrote one.

    Raises:
        Unreadable: the file cannot be read, so its bytes could not be kept.
        NotWritable, DiskFull: it cannot be written.
    """
    written = vault.store.meta(_CONFIG)
    path = vault.dot / "config.toml"
    try:
        _ = vault.settings
    except ConfigDamaged:
        if not written:
            return False
        make_directory(vault.dot / aside)
        write_atomic(vault.dot / aside / "config.toml", read_bounded(path, _LIMIT))
        write_atomic(path, written.encode())
        return True
    return False


def note_readable(vault: Vault, wanted: Mapping[str, bytes]) -> None:
    """Remember the files below `READABLE` that are about to be written.

    Args:
        vault: whose they are.
        wanted: every file that will be there, by its path below that directory.
    """
    known = _known(vault)
    lines = []
    for name, data in sorted(wanted.items()):
        there = _digest_there(vault, name)
        before = f" {there}" if there in known.get(name, ()) and there != _sum(data) else ""
        lines.append(f"{name} {_sum(data)}{before}")
    if any(_sum(data) not in known.get(name, ()) for name, data in wanted.items()):
        with vault.store.transaction():
            vault.store.set_meta(_DIGESTS, "\n".join(lines))


def was_noted(vault: Vault) -> bool:
    """Tell whether lace ever wrote files that are for people to read here."""
    return bool(vault.store.meta(_DIGESTS))


def changed_readable(vault: Vault) -> Iterator[str]:
    """Yield the files below `READABLE` that are not as lace wrote them; one that was deleted is none."""
    for name, digests in sorted(_known(vault).items()):
        there = _digest_there(vault, name)
        if there and there not in digests:
            yield name


def _known(vault: Vault) -> dict[str, tuple[str, ...]]:
    lines = (line.split(" ") for line in vault.store.meta(_DIGESTS).splitlines())
    return {name: tuple(digests) for name, *digests in lines if ".." not in name}


def _digest_there(vault: Vault, name: str) -> str:
    try:
        return _sum(read_bounded(vault.dot / READABLE / name, _LIMIT))
    except FileMissing:
        return ""
    except (LaceError, ValueError):
        return "unreadable"


def _sum(data: bytes) -> str:
    return blake3(data).hexdigest()[:_SUM_CHARACTERS]


def _text(vault: Vault) -> str:
    """Return the settings file as text; bytes that are no text as signs that no such file has."""
    try:
        return read_bounded(vault.dot / "config.toml", _LIMIT).decode("utf-8", "replace")
    except (EnvironmentFault, LaceError):
        return ""
