"""A passphrase for the node's key, given or taken away, as a command and the app do it and tell of it (APP-11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vault.errors import CallerError

if TYPE_CHECKING:
    from vault.identity.keys import KeyStore
    from vault.records import Verifier

__all__ = ["ALREADY", "DIFFER", "PROTECTED", "PassphrasesDiffer", "ProtectedAlready", "protect", "unprotect"]

ALREADY = "Your key opens with a passphrase already."
DIFFER = "The two passphrases differ."
PROTECTED = (
    "Your key opens with this passphrase only. Nobody can bring it back for you; a copy made of the key "
    "before, such as a backup, still opens without."
)


class PassphrasesDiffer(CallerError):
    """A new passphrase was typed in two ways."""

    code = "passphrases-differ"
    exit_code = 2
    hint = "Nothing was changed. Run the command again and type the same twice."


class ProtectedAlready(CallerError):
    """A key that has a passphrase was to be given one."""

    code = "protected-already"
    exit_code = 2
    hint = (
        "It is the one given last, also where that command was cut off. "
        "To change it, run: lace key unprotect, then: lace key protect"
    )


def protect(keys: KeyStore, node: Verifier, passphrase: bytes) -> str:
    """Give a key without a passphrase one, and return what to say of that.

    Raises:
        ProtectedAlready: it has one.
        PassphraseEmptyError, KeyMissing, KeyExposed, KeyFileDamaged, DiskFull, NotWritable: as `KeyStore.protect`.
    """
    if keys.is_protected(node):
        raise ProtectedAlready(ALREADY)
    keys.protect(node, passphrase)
    return PROTECTED


def unprotect(keys: KeyStore, node: Verifier, ask: Callable[[], bytes] | None) -> str:
    """Take the passphrase of a key away, where it has one, and return what to say of that; `ask` gives it.

    Raises:
        KeyLocked: nobody can be asked, or the passphrase is wrong.
        KeyMissing, KeyExposed, KeyFileDamaged, DiskFull, NotWritable: as `KeyStore.unprotect`.
    """
    if not keys.is_protected(node):
        return "Your key has no passphrase."
    keys.unprotect(node, ask)
    return "Your key opens without a passphrase now: whoever can read your files can sign as you."
