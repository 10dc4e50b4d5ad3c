"""A vault: one folder's `.vault`, opened. The door to everything on floor 0.

A `Vault` holds the store, the settings, the lock and the mark of one node. Reading goes to `vault.store`; every change
goes through `Vault.writing`, which is one lock, one transaction, one check of the mark.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from vault.config import Settings
from vault.desks.paths import DOT_VAULT
from vault.errors import CallerError, DataError, EnvironmentFault, LaceError
from vault.files import NotWritable
from vault.identity.keys import KeyStore
from vault.identity.markfile import MarkFile, mark_path
from vault.lock import LOCK_SECONDS, Holder, VaultLock
from vault.notes.note import Note
from vault.notes.own import FOUNDING, FOUNDING_PLEX, GROUP, HELD_BACK, INSTANCE, NAME, NODE
from vault.records import Seal, Verifier, b64a
from vault.states import Answer, Opening, Standing, answer, standing, unopened
from vault.store import Store
from vault.store.database import BEYOND, StoreDamaged, faults_named
from vault.suite import SigningKey
from vault.surroundings import Surroundings
from vault.writer import Writer

__all__ = [
    "READABLE",
    "GroupUnknown",
    "NoVault",
    "Vault",
    "VaultMoved",
    "VaultUnfinished",
    "lock_of",
    "standing_of",
    "was_finished",
]

_LOST_STORE = (
    "The vault in {} has lost its store, store.db: it is gone, or has no bytes. No repair brings it back: packs hold"
    " contents without names and no log entry; the files in the folder stay as they are."
)
_LOST_NODE = "The store of the vault in {} has lost whose vault it is."
READABLE = "lazy"  # directory in it of the files that are for people to read


class NoVault(EnvironmentFault):
    """There is no vault here or above."""

    code = "no-vault"
    exit_code = 10
    hint = "Begin one with: lace init, or join friends with: lace accept INVITE"


class GroupUnknown(CallerError):
    """A vault that knows nothing of its group yet: the founding record has not arrived."""

    code = "group-unknown"
    hint = "Sync once with whoever invited you, or take in a file of theirs; to be let in takes a place of theirs."


class VaultUnfinished(EnvironmentFault):
    """A vault's set-up was cut off before it was complete."""

    code = "vault-unfinished"
    exit_code = 14
    hint = "It holds nothing yet: run the command that began it again (lace init, or lace accept INVITE)."


class VaultMoved(EnvironmentFault):
    """The vault that a command opened no longer lies where it was: it was moved, or another one stands there."""

    code = "vault-moved"
    exit_code = 13
    hint = "Run the same command again in the folder where it lies now; what was stored before stays."


def lock_of(dot: Path, around: Surroundings) -> VaultLock:
    """Return the lock of the vault with this directory; whoever waits for it is told of that by name."""
    return VaultLock(
        dot / "lock",
        now=lambda: around.tai().to_utc_iso(),
        sleep=around.sleep,
        waits=around.patience.told("which is writing to this vault"),
    )


@lru_cache(maxsize=64)
def _verifier(text: str) -> Verifier:
    return Verifier.parse(text)


def was_finished(dot: Path) -> bool:
    """Tell whether something lies in a `.vault` that is only written beside a finished store, whatever became of it."""
    return (dot / READABLE).is_dir() or any((dot / "packs").glob("*.pack"))


def _unopened(store: Path) -> Standing | None:
    is_file = store.is_file()
    has_bytes = is_file and store.stat().st_size > 0
    return unopened(is_file=is_file, has_bytes=has_bytes, was_finished=not has_bytes and was_finished(store.parent))


def standing_of(store: Store) -> Standing:
    """Return how the vault of a store stands by what that says (`vault.states`).

    Raises:
        StoreDamaged: nobody can read that.
    """
    if store.note(NODE):
        return Standing.WHOLE
    has_records = bool(store.rows("SELECT 1 FROM body LIMIT 1"))  # one whose vault was never finished has none
    return standing(names_node=False, has_records=has_records, was_finished=was_finished(store.path.parent))


def _refuse(found: Standing, opening: Opening, folder: Path) -> None:
    """Refuse a vault that is not opened as it was found.

    Raises:
        NoVault, VaultUnfinished, StoreDamaged: as the table of `vault.states` has it.
    """
    match answer(found, opening):
        case Answer.NO_VAULT:
            raise NoVault(f"There is no vault in {folder}.")
        case Answer.UNFINISHED:
            raise VaultUnfinished(f"The vault in {folder} was never finished.")
        case Answer.BEYOND if found is Standing.LOST:
            raise StoreDamaged(_LOST_STORE.format(folder), hint=BEYOND)
        case Answer.BEYOND:
            raise StoreDamaged(_LOST_NODE.format(folder), hint=BEYOND)
        case Answer.DAMAGED:
            raise StoreDamaged(_LOST_NODE.format(folder))


class Vault:
    """One opened vault. Belongs to one thread; open another for another thread.

    Args:
        folder: the shared folder; its `.vault` holds the state (APP-2).
        around: clock, randomness and machine.
        lock: given while the vault is begun: it is held, and the vault is not complete yet.
        key: of the node, where it is at hand; loaded at its first use else.
        mending: to be checked or repaired: it opens without the note whose it is, where its records are there, and in
            the form of a former version where a page that rotted keeps it from being brought to this one.

    Raises:
        NoVault: there is none in the folder.
        VaultUnfinished: its set-up was cut off.
        StoreDamaged: its records are there, and the note whose they are is not; or its store is gone.
    """

    def __init__(
        self,
        folder: Path,
        around: Surroundings,
        *,
        lock: VaultLock | None = None,
        key: SigningKey | None = None,
        mending: bool = False,
    ) -> None:
        self.folder = folder
        self.dot = folder / DOT_VAULT
        self._dot = os.fspath(self.dot)
        self._config = self.dot / "config.toml"
        self.around = around
        path = self.dot / "store.db"
        opening = Opening.MEND if mending else Opening.USE
        if (found := _unopened(path)) is not None:
            _refuse(found, opening, folder)
        self.store = Store(path, mending=mending)
        try:
            if lock is None:
                _refuse(self._standing(opening), opening, folder)
            self._home = self.dot.stat()
        except BaseException:
            self.store.close()  # it would stay open, with its locks, for as long as this process lives
            raise
        self.lock = lock or lock_of(self.dot, around)
        self.lock.first = self.require_here
        self._key = key
        self._mark: MarkFile | None = None
        self._mark_lock: VaultLock | None = None

    def _standing(self, opening: Opening) -> Standing:
        """Return how the vault stands by what its store says.

        Raises:
            StoreDamaged: nobody can read that, and a vault that stands so is not opened for this.
        """
        try:
            return standing_of(self.store)
        except StoreDamaged:
            if answer(Standing.UNREAD, opening) is Answer.DAMAGED:
                raise
            return Standing.UNREAD

    def require_here(self) -> None:
        """Refuse to write where the vault lay when it was opened, once it lies elsewhere.

        The open store goes along with its folder. Locks, packs and all else have their place by name: written there
        now, they would belong to nobody, and whoever writes where the vault lies would not wait for them.

        Raises:
            VaultMoved: it lies elsewhere, or is gone.
        """
        try:
            is_here = os.path.samestat(self._home, os.stat(self._dot))  # noqa: PTH116 - each write asks twice
        except OSError:
            is_here = False
        if not is_here:
            raise VaultMoved(f"The vault that was opened in {self.folder} is there no longer.")

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it; what SQLite says of a damaged store inside the block is named for a person, whoever asked it.

        So is what stumbled over a value that rotted into one of another type (APP-13).
        """
        is_odd = isinstance(fault, Exception) and not isinstance(fault, LaceError | OSError) and self._is_mistyped()
        self.close()
        faults_named(self.store.path).__exit__(kind, fault, trace)
        if is_odd:
            raise StoreDamaged(f"The store of the vault in {self.folder} holds a value that cannot be.") from fault

    def _is_mistyped(self) -> bool:
        from vault.store.values import mistyped  # hardly any command fails so

        with suppress(sqlite3.Error):
            return bool(mistyped(self.store.db))
        return False

    # Who and where

    @property
    def node(self) -> Verifier:
        """The node's verifier.

        Raises:
            StoreDamaged: the note of it has rotted.
        """
        try:
            return _verifier(self.store.note(NODE))
        except DataError as error:
            raise StoreDamaged(_LOST_NODE.format(self.folder)) from error

    @property
    def name(self) -> str:
        """The person's name, as friends see it."""
        return self.store.note(NAME)

    @property
    def group(self) -> str:
        """The full group id: `<name>/<tag>`."""
        return self.store.note(GROUP)

    @property
    def founding(self) -> str | None:
        """Hash text of the founding Seal, or None while it has not arrived."""
        return self.store.note(FOUNDING) or None

    def require_group(self) -> None:
        """Refuse what only a vault that knows its group can do (APP-14).

        Raises:
            GroupUnknown: it was joined, and nothing of the group has arrived.
        """
        if self.founding is None:
            raise GroupUnknown("This vault knows nothing of its group yet.")

    def is_founding(self, seal: Seal) -> bool:
        """Tell whether this is the founding record this vault was begun or invited for."""
        return seal.plex.hash.digest == b64a.decode(self.store.note(FOUNDING_PLEX))

    @property
    def settings(self) -> Settings:
        """The settings a person may edit, read anew."""
        return Settings.load(self._config)

    @property
    def mark(self) -> MarkFile:
        """The mark beside the key (architecture, decision 2)."""
        instance = self.store.note(INSTANCE)
        if self._mark is None or self._mark.vault != instance:
            self._mark = MarkFile(mark_path(self.around.data_root, instance), instance)
        return self._mark

    @property
    def mark_lock(self) -> VaultLock:
        """What keeps other copies of this vault on this machine from the mark while it is written."""
        path = self.mark.path.with_suffix(".lock")
        if self._mark_lock is None or self._mark_lock.path != path:
            self._mark_lock = VaultLock(path, now=lambda: self.around.tai().to_utc_iso(), sleep=self.around.sleep)
        return self._mark_lock

    @property
    def keys_here(self) -> KeyStore:
        """The private keys of this machine's user (architecture, decision 2)."""
        return KeyStore(self.around.data_root)

    def key(self) -> SigningKey:
        """Return the node's key, asking for its passphrase when it has one.

        Raises:
            KeyMissing, KeyLocked, KeyFileDamaged, KeyExposed: with a way out.
        """
        if self._key is None or self._key.verifier != self.node:  # another process may have adopted the vault
            self._key = self.keys_here.load(self.node, self.around.passphrase)
        return self._key

    def forget_key(self) -> None:
        """Load the key anew at the next use, after the node changed (`adopt`)."""
        self._key = None

    # Writing

    @contextmanager
    def writing(
        self,
        on_wait: Callable[[Holder | None], None] | None = None,
        *,
        receiving: bool = False,
        anew: Mapping[Note[Any], object] | None = None,
    ) -> Iterator[Writer]:
        """Hold the lock and one transaction for a person's action; views settle before it commits.

        With `receiving` only records of others are stored and nothing can be signed: the mark is not asked, so a
        restored vault can fetch its own missing entries, and visibility is left to the round's end.

        With `anew` the vault becomes another node: these notes hold from inside the transaction on, and the mark is
        begun for the instance they name. Cut off, it stays the node it was, or no vault at all.

        Nothing signed inside leaves the vault before the mark says `done`: sync reads the committed store only.

        Raises:
            Locked: another process kept the vault too long.
            MayNotSign: the vault was copied or restored, found before anything is signed.
            VaultMoved: it lies elsewhere since it was opened.
        """
        with (
            self.lock.held(timeout=LOCK_SECONDS, on_wait=on_wait),
            closing(Writer(self, may_sign=not receiving)) as writer,
        ):
            try:
                with self.store.transaction():
                    before = self._become(anew) if anew is not None else ""
                    if not receiving:
                        writer.check_mark()  # inside, where no question has to look anew for what others wrote
                        if self.store.note(HELD_BACK) is not None:
                            self.store.set_note(HELD_BACK, None)
                    yield writer
                    writer.flush()
                    me = self.store.note(NODE)
                    self.store.settle(me, self.founding, final=not receiving, parted=before)
                    self.require_here()  # content that was written by name meanwhile lies elsewhere
            except EnvironmentFault as error:
                if error is writer.refusal and anew is None:
                    self._note_refusal(error)
                raise
            writer.done()
            writer.conclude()

    def _become(self, anew: Mapping[Note[Any], object]) -> str:
        """Take on the settings of another node; return whose the vault was."""
        before = self.store.note(NODE)
        for note, value in anew.items():
            self.store.set_note(note, value)
        return before

    def check_mark(self) -> None:
        """Refuse, before anything is signed outside a write, when this vault is a copy or a restored backup.

        Raises:
            Locked: another process kept the vault too long.
            MayNotSign: as `writing`.
        """
        with self.lock.held(timeout=LOCK_SECONDS), closing(Writer(self)) as writer:
            try:
                writer.check_mark()
            except EnvironmentFault as error:
                self._note_refusal(error)
                raise

    def check_plan(self) -> None:
        """Refuse in a plan, which changes nothing, what `writing` refuses of a copy or a restored backup.

        Raises:
            Locked: another process kept the vault too long.
            MayNotSign: as `writing`.
        """
        with closing(Writer(self)) as writer:
            try:
                writer.look_at_mark()
            except EnvironmentFault as error:
                try:
                    with self.lock.held(timeout=LOCK_SECONDS):  # whoever writes just now tells the mark before it ends
                        writer.look_at_mark()
                except NotWritable:  # so nobody writes
                    raise error from None

    def _note_refusal(self, error: EnvironmentFault) -> None:
        """Note why the mark lets nothing be signed, for who asks only the store how things stand."""
        told = {"code": error.code, "message": error.message, "hint": error.hint}
        with suppress(LaceError):  # it may be a vault that cannot be written
            if self.store.note(HELD_BACK) != told:
                with self.store.transaction():
                    self.store.set_note(HELD_BACK, told)
