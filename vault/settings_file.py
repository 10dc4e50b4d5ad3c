"""The settings file, and the text that lace last wrote to it: so a check can tell what changed since (APP-13, LAZ-62).

The store keeps that text. What is about to be written is noted first and counts beside what was written before, so a
crash in between leaves nothing that looks damaged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault.config import ConfigDamaged, Settings
from vault.errors import EnvironmentFault, LaceError
from vault.files import make_directory, read_bounded, write_atomic
from vault.notes.own import WRITTEN_CONFIG, WRITTEN_CONFIG_BEFORE

if TYPE_CHECKING:
    from vault.vault import Vault

__all__ = ["can_restore", "restore_settings", "save_settings", "settings_change"]

_LIMIT = 64 << 20  # bytes of the file


def save_settings(vault: Vault, settings: Settings) -> None:
    """Write the settings file and remember what was written; under the vault's lock.

    Raises:
        DiskFull, NotWritable, StoreUnwritable: it cannot be written.
    """
    text = settings.encode().decode()
    with vault.store.transaction():
        vault.store.set_note(WRITTEN_CONFIG_BEFORE, _text(vault))
        vault.store.set_note(WRITTEN_CONFIG, text)
    write_atomic(settings.path, text.encode())


def settings_change(vault: Vault) -> str:
    """Return in which line the settings file is not as lace last wrote it, as a sentence; nothing when it is.

    A person may edit the file, so this is no damage by itself. A file that lace never wrote has no such line, and a
    file that was deleted means the defaults.
    """
    written, before = vault.store.note(WRITTEN_CONFIG), vault.store.note(WRITTEN_CONFIG_BEFORE)
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
    return bool(vault.store.note(WRITTEN_CONFIG))


def restore_settings(vault: Vault, aside: str) -> bool:
    """Put back what lace last wrote where the settings file cannot be understood; its bytes are kept beside it.

    Returns:
        Whether it was put back; not when the file is understood, or lace never wrote one.

    Raises:
        Unreadable: the file cannot be read, so its bytes could not be kept.
        NotWritable, DiskFull: it cannot be written.
    """
    written = vault.store.note(WRITTEN_CONFIG)
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


def _text(vault: Vault) -> str:
    """Return the settings file as text; bytes that are no text as signs that no such file has."""
    try:
        return read_bounded(vault.dot / "config.toml", _LIMIT).decode("utf-8", "replace")
    except (EnvironmentFault, LaceError):
        return ""
