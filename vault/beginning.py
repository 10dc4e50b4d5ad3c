"""Beginning a vault: a group is founded, or one is entered that somebody else founded.

All of it is one transaction: cut off anywhere there is no vault, and the same command begins it anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault.desks.paths import DOT_VAULT
from vault.errors import CallerError, LaceError
from vault.files import make_directory, write_atomic
from vault.identity.keys import KeyStore
from vault.identity.markfile import make_marks
from vault.lock import LOCK_SECONDS
from vault.names import check_group_name, check_person
from vault.notes.note import Note
from vault.notes.own import EPOCH, FOUNDING, FOUNDING_PLEX, GROUP, INSTANCE, NAME, NODE
from vault.profile import Founding, NodeCard, group_id
from vault.records import Seal, b64a
from vault.states import Answer, Opening, answer
from vault.store import Store
from vault.suite import SigningKey
from vault.surroundings import Surroundings
from vault.vault import Vault, lock_of, standing_of, was_finished
from vault.writer import Writer

__all__ = ["Also", "VaultExists", "enter_vault", "found_vault"]

Also = Callable[[Vault, Writer], None]
"""What else must be there from the beginning; called inside the transaction that makes the vault, at its end."""


_OWN_IGNORE = ".gitignore"  # of a vault's directory


class VaultExists(CallerError):
    """The folder already has a vault."""

    code = "vault-exists"
    exit_code = 2
    hint = "See what it is with: lace status"


def found_vault(folder: Path, around: Surroundings, *, name: str, group: str, also: Also | None = None) -> Vault:
    """Begin a group: make the node's key, the vault, and the founding record in its first log entry.

    Args:
        folder: empty, new or filled.
        around: clock, randomness and machine.
        name: the person's name.
        group: the group's bare name.
        also: what else must be there from the beginning.

    Raises:
        VaultExists: the folder already has one.
        BadName: the person's or group's name cannot be carried.
    """
    check_group_name(group)
    check_person(name)
    key = _prepare(folder, around)
    founding = Founding.to_plex(group=group, founder=key.verifier, salt=around.entropy(32), tai=around.tai())
    identity = _identity(name, group_id(group, founding.hash.digest), founding.hash.digest)
    return _begin(folder, around, key, identity, founding=Seal.sign(founding, key), also=also)


def enter_vault(
    folder: Path, around: Surroundings, *, name: str, group: str, founding: bytes, also: Also | None = None
) -> Vault:
    """Make a vault for a group that somebody else founded (`accept`).

    Args:
        folder: empty, new or filled.
        around: clock, randomness and machine.
        name: the person's name.
        group: the full group id.
        founding: the founding Plex's digest; only a founding record with it is ever believed.
        also: what else must be there from the beginning.

    Raises:
        VaultExists, BadName: as `found_vault`.
    """
    check_person(name)
    key = _prepare(folder, around)
    return _begin(folder, around, key, _identity(name, group, founding), also=also)


def _identity(name: str, group: str, founding_plex: bytes) -> dict[Note[Any], object]:
    return {NAME: name, GROUP: group, FOUNDING_PLEX: b64a.encode(founding_plex)}


def _prepare(folder: Path, around: Surroundings) -> SigningKey:
    """Make the vault's directory and the node's key; where no key can lie, the folder is left as it was."""
    _refuse_begun(folder)
    dot = folder / DOT_VAULT
    made = [path for path in (dot, *dot.parents) if not os.path.exists(path)]  # noqa: PTH110 - it may not be looked into
    try:
        make_directory(dot)
        write_atomic(dot / _OWN_IGNORE, b"*\n")
        make_marks(around.data_root)  # first, for a key without a mark would lie about for nothing
        return KeyStore(around.data_root).create(around.entropy(32))
    except LaceError:
        _take_back(made)
        raise


def _take_back(made: Sequence[Path]) -> None:
    """Remove directories that were made, the innermost first; of a vault's what it begins with, if that is all."""
    for path in made:
        with suppress(OSError):
            if path.name == DOT_VAULT and [one.name for one in path.iterdir()] == [_OWN_IGNORE]:
                (path / _OWN_IGNORE).unlink()
            path.rmdir()


def _refuse_begun(folder: Path) -> None:
    """Refuse a folder whose vault is complete, or was and has lost its store; one that was cut off is begun anew.

    Raises:
        VaultExists: it is.
    """
    path = folder / DOT_VAULT / "store.db"
    if was_finished(path.parent):
        raise VaultExists(f"There is already a vault in {folder}.")
    if path.is_file():
        with Store(path) as store:
            if answer(standing_of(store), Opening.BEGIN) is Answer.EXISTS:
                raise VaultExists(f"There is already a vault in {folder}.")


def _begin(
    folder: Path,
    around: Surroundings,
    key: SigningKey,
    identity: Mapping[Note[Any], object],
    *,
    founding: Seal | None = None,
    also: Also | None = None,
) -> Vault:
    """Make the vault of a key; `founding` is the record that it founds its group by, if it does."""
    dot = folder / DOT_VAULT
    lock = lock_of(dot, around)
    with lock.held(timeout=LOCK_SECONDS):
        _refuse_begun(folder)  # again, now that nobody else can begin one
        Store(dot / "store.db", create=True).close()
        vault = Vault(folder, around, lock=lock, key=key)
        try:
            with vault.writing(
                anew={
                    INSTANCE: around.entropy(16).hex(),
                    EPOCH: around.entropy(16).hex(),
                    **identity,
                    FOUNDING: founding.hash.text if founding else "",
                    NODE: key.verifier.text,
                }
            ) as w:
                _introduce(vault, w, founding)
                if also is not None:
                    also(vault, w)
        except BaseException:
            vault.close()
            raise
        return vault


def _introduce(vault: Vault, w: Writer, founding: Seal | None) -> None:
    """Write the node's card in its first log entry, with the founding record before it when it founds."""
    entries = []
    if founding is not None:
        w.put([founding])
        entries.append(founding.hash)
    card = w.seal(
        NodeCard.to_plex(group=vault.group, node=vault.node, label=vault.name, machine=vault.around.host, tai=w.tai())
    )
    w.log([*entries, card.hash])
    w.audit("lace-init" if founding else "lace-introduce", vault.name, {"group": vault.group})
