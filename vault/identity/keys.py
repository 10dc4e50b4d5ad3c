"""Private keys on disk, outside the vault (docs/formats.md section 5, APP-11).

One small file for each node, readable by its owner alone. With a passphrase the seed lies in a secretbox
whose key argon2id makes. No message, repr or log ever holds a seed or a passphrase.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from vault.errors import CallerError, DataError, EnvironmentFault, LaceError
from vault.files import (
    FileMissing,
    NotWritable,
    Unreadable,
    fsync_directory,
    make_directory,
    read_bounded,
    reason_of,
    remove_leftovers,
    write_atomic,
)
from vault.records import b64a
from vault.records.errors import B64AError
from vault.records.hashes import Verifier
from vault.suite import ED25519, SigningKey

__all__ = [
    "KeyExists",
    "KeyExposed",
    "KeyFileDamaged",
    "KeyLocked",
    "KeyMissing",
    "KeyStore",
    "PassphraseEmptyError",
]

_DEFAULT_OPS = 3  # argon2id passes
_DEFAULT_MEMORY = 256 * 1024 * 1024  # bytes; about a second on a laptop, dear for whoever guesses
_MAX_OPS = 16  # passes of argon2id that a key file may ask for
_MAX_MEMORY = 1024 * 1024 * 1024  # bytes; a foreign key file must not exhaust this machine
_MIN_MEMORY = 8192  # bytes; argon2 itself takes no less
_MEMORY_UNIT = 1024  # bytes; libsodium rounds down to it, so other numbers would name one key file twice
_FILE_LIMIT = 1024  # bytes
_SALT_BYTES = 16
_NONCE_BYTES = 24
_NAME = r"([0-9a-f]{64})\.key"  # this and the last are compiled where they are met: few commands do
_PLAIN = re.compile(r"seed ([0-9A-Z_a-z~]{43})")
_SEALED = r"sealed argon2id ([1-9][0-9]{0,9}) ([1-9][0-9]{0,9}) ([0-9A-Z_a-z~]{22}) ([0-9A-Z_a-z~]{96})"


class KeyMissing(EnvironmentFault):
    """The private key of this vault's node is not on this machine."""

    code = "key-missing"
    exit_code = 15
    hint = (
        "If keys lie on a disk that is not here now, or LACE_HOME names another folder, bring that back. If the vault"
        " was copied here, run: lace adopt - it goes on under a new key."
    )


class KeyLocked(EnvironmentFault):
    """The private key is protected and the passphrase is absent or wrong."""

    code = "key-locked"
    exit_code = 16
    hint = (
        "Run the command again on a terminal and enter the passphrase of your key, or give it from a file:"
        " LACE_PASSPHRASE_FD=3 lace VERB 3<file"
    )


class KeyFileDamaged(EnvironmentFault):
    """A key file does not have the form it was written in."""

    code = "key-damaged"
    exit_code = 17
    hint = "Restore the key file from a backup, or run: lace adopt - it goes on under a new key."


class KeyExposed(EnvironmentFault):
    """A key file can be read by other users of this machine."""

    code = "key-exposed"
    exit_code = 18
    hint = "Take the rights of others away, for example: chmod -R go= on the folder of the keys."


class KeyExists(EnvironmentFault):
    """A key that is to be made is already here."""

    code = "key-exists"
    exit_code = 17
    hint = "Nothing was changed. The entropy of a new key must be new."


class PassphraseEmptyError(CallerError):
    """A key cannot be protected by an empty passphrase."""

    code = "passphrase-empty"
    hint = "Choose a passphrase, or leave the key without one."


class _KeyFile(NamedTuple):
    verifier: Verifier
    seed: bytes | None = None
    ops: int = 0
    memory: int = 0
    salt: bytes = b""
    box: bytes = b""

    def __repr__(self) -> str:
        return f"_KeyFile({self.verifier.text})"  # a seed is shown nowhere


class KeyStore:
    """The private keys under `<root>/keys` (APP-11).

    Args:
        root: the data root of this person.
        ops: argon2id passes for keys made here.
        memory: bytes that argon2id takes for keys made here.
    """

    def __init__(self, root: str | os.PathLike[str], *, ops: int = _DEFAULT_OPS, memory: int = _DEFAULT_MEMORY) -> None:
        self.directory = Path(root) / "keys"
        self._ops = ops
        self._memory = memory

    def path(self, verifier: Verifier) -> Path:
        """Return where the key of this verifier lies, whether or not it is there."""
        return self.directory / f"{verifier.key.hex()}.key"

    def create(self, entropy: bytes, passphrase: bytes | None = None) -> SigningKey:
        """Make a key, store it durably, and return it.

        Args:
            entropy: 32 secret random bytes, never used before.
            passphrase: protects the file; None leaves it to its permissions.

        Raises:
            SigningMisuseError: the entropy has not 32 bytes.
            PassphraseEmptyError: the passphrase has no bytes.
            KeyExists: this very key is already here.
            DiskFull: there is no room for the file.
            NotWritable: the directory cannot be written.
        """
        key = SigningKey.from_seed(entropy)
        if passphrase is not None and not passphrase:
            raise PassphraseEmptyError("An empty passphrase protects nothing.")
        self._make_directory()
        path = self.path(key.verifier)
        if path.exists():
            raise KeyExists(f"The key file {path} exists already.")
        self._write(key, passphrase)
        return key

    def protect(self, verifier: Verifier, passphrase: bytes, before: Callable[[], bytes] | None = None) -> None:
        """Let a key be opened with a passphrase only, a new one if it had one; cut off, it is as it was.

        What held the key without one, such as a backup of the file, still does.

        Args:
            verifier: whose key.
            passphrase: the new one.
            before: asked for the one it has, if it has one.

        Raises:
            PassphraseEmptyError: the passphrase has no bytes.
            KeyMissing, KeyExposed, KeyFileDamaged, KeyLocked: as for `load`.
            DiskFull, NotWritable: the file cannot be written.
        """
        if not passphrase:
            raise PassphraseEmptyError("An empty passphrase protects nothing.")
        key = self.load(verifier, before)
        # One that was cut off before may have left it protected for whoever looks, and open after a power cut.
        fsync_directory(self.directory)
        self._write(key, passphrase)

    def unprotect(self, verifier: Verifier, before: Callable[[], bytes] | None) -> None:
        """Let a key be opened without a passphrase; then its permissions alone protect it.

        Raises:
            KeyMissing, KeyExposed, KeyFileDamaged, KeyLocked: as for `load`.
            DiskFull, NotWritable: the file cannot be written.
        """
        self._write(self.load(verifier, before), None)

    def _write(self, key: SigningKey, passphrase: bytes | None) -> None:
        lines = ["lace-key/0", f"suite {ED25519.name}", f"verifier {key.verifier.text}"]
        lines.append(f"seed {b64a.encode(key.seed)}" if passphrase is None else self._sealed(key, passphrase))
        write_atomic(self.path(key.verifier), ("\n".join(lines) + "\n").encode("ascii"), mode=0o600)
        remove_leftovers(self.directory, self.path(key.verifier).name)

    def load(self, verifier: Verifier, passphrase: Callable[[], bytes] | None = None) -> SigningKey:
        """Return the key of this verifier.

        Args:
            verifier: whose.
            passphrase: asked only when the key is protected; None where nobody can be asked.

        Raises:
            KeyMissing: it is not on this machine.
            KeyExposed: other users can read it or replace it.
            KeyFileDamaged: its file is not well-formed, or holds another key.
            KeyLocked: it is protected, and the passphrase is absent or wrong.
        """
        file = self._read(verifier)
        seed = file.seed
        if seed is None:
            with suppress(EnvironmentFault):  # an `unprotect` that was cut off may have left the seed in the open
                remove_leftovers(self.directory, self.path(verifier).name)
            if passphrase is None:
                raise KeyLocked(f"The key {verifier.text} is protected by a passphrase.")
            seed = _open_box(file, passphrase())
        if seed is None:
            raise KeyLocked(f"The passphrase does not open the key {verifier.text}.")
        key = SigningKey.from_seed(seed)
        if key.verifier != verifier:
            raise self._damaged(verifier, "its secret belongs to another key")
        return key

    def is_protected(self, verifier: Verifier) -> bool:
        """Return whether loading this key needs a passphrase.

        Raises:
            KeyMissing, KeyExposed, KeyFileDamaged: as for `load`.
        """
        return self._read(verifier).seed is None

    def is_whole(self, verifier: Verifier) -> bool:
        """Return True for a key file that is well-formed; the secret of one without a passphrase is tried too.

        Raises:
            KeyMissing, KeyExposed, KeyFileDamaged: as for `load`.
        """
        if not self.is_protected(verifier):
            self.load(verifier)
        return True

    def list(self) -> tuple[Verifier, ...]:
        """Return the verifiers of all keys here, sorted; other files are passed over.

        Raises:
            Unreadable: the directory is there and cannot be listed.
        """
        try:
            found = [re.fullmatch(_NAME, path.name) for path in self.directory.iterdir()]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise Unreadable(f"{self.directory} cannot be listed: {reason_of(error)}.") from error
        return tuple(sorted(Verifier(bytes.fromhex(match[1])) for match in found if match))

    def _make_directory(self) -> None:
        try:
            make_directory(self.directory, 0o700)
            if os.name != "nt":
                self.directory.chmod(0o700)
        except OSError as error:
            raise NotWritable(f"{self.directory} cannot be made: {reason_of(error)}.") from error

    def _sealed(self, key: SigningKey, passphrase: bytes) -> str:
        # Salt and nonce must differ between keys and need not be secret: both follow from the seed, one way.
        salt = blake3(key.seed, derive_key_context="lace 2026 key file argon2id salt").digest(_SALT_BYTES)
        nonce = blake3(key.seed, derive_key_context="lace 2026 key file secretbox nonce").digest(_NONCE_BYTES)
        from nacl.secret import SecretBox  # libsodium costs ten milliseconds of every start

        box = SecretBox(_stretch(passphrase, salt, self._ops, self._memory)).encrypt(key.seed, nonce)
        return f"sealed argon2id {self._ops} {self._memory} {b64a.encode(salt)} {b64a.encode(bytes(box))}"

    def _read(self, verifier: Verifier) -> _KeyFile:
        path = self.path(verifier)
        self._check_permissions(path)
        try:
            text = read_bounded(path, _FILE_LIMIT).decode("latin-1")
        except FileMissing as error:
            raise KeyMissing(f"The key {verifier.text} is not on this machine (no {path}).") from error
        except DataError as error:
            raise self._damaged(verifier, "it is too long") from error
        file = _parse(text)
        if file is None:
            raise self._damaged(verifier, "it is not a lace-key/0 file")
        if file.verifier != verifier:
            raise self._damaged(verifier, "it names another key")
        return file

    def _check_permissions(self, path: Path) -> None:
        if os.name == "nt":  # there the profile directory's access list protects the file
            return
        try:
            for found, forbidden in ((path, 0o077), (path.parent, 0o022)):
                mode = stat.S_IMODE(found.stat().st_mode)
                if mode & forbidden:
                    from vault.commands import as_word  # few keys were ever exposed

                    close = f"chmod go-rwx {as_word(str(found))}"
                    raise KeyExposed(
                        f"{found} is open to other users of this machine (mode {mode:04o}).",
                        hint=f"Close it with: {close} - and if others may have read it, run: lace adopt",
                    )
        except FileNotFoundError:
            return  # reading says so
        except OSError as error:
            raise Unreadable(f"{path} cannot be read: {reason_of(error)}.") from error

    def _damaged(self, verifier: Verifier, why: str) -> LaceError:
        return KeyFileDamaged(f"The key file {self.path(verifier)} is damaged: {why}.")


def _parse(content: str) -> _KeyFile | None:
    # No error leaves here: those of the decoders quote their input, which would be the secret.
    lines = content.split("\n")
    if len(lines) != 5 or lines[4] or lines[0] != "lace-key/0" or lines[1] != f"suite {ED25519.name}":
        return None
    try:
        word, _, text = lines[2].partition(" ")
        verifier = Verifier.parse(text)
        plain = _PLAIN.fullmatch(lines[3])
        if plain is not None and word == "verifier":
            return _KeyFile(verifier, seed=b64a.decode(plain[1]))
        sealed = re.fullmatch(_SEALED, lines[3])
        if sealed is None or word != "verifier":
            return None
        ops, memory = int(sealed[1]), int(sealed[2])
        if ops > _MAX_OPS or not _MIN_MEMORY <= memory <= _MAX_MEMORY or memory % _MEMORY_UNIT:
            return None
        return _KeyFile(verifier, None, ops, memory, b64a.decode(sealed[3]), b64a.decode(sealed[4]))
    except (B64AError, DataError):
        return None


def _stretch(passphrase: bytes, salt: bytes, ops: int, memory: int) -> bytes:
    from nacl import exceptions, pwhash  # libsodium costs ten milliseconds of every start

    try:
        return pwhash.argon2id.kdf(32, passphrase, salt, opslimit=ops, memlimit=memory)
    except (exceptions.CryptoError, MemoryError) as error:
        raise KeyLocked(
            f"The passphrase cannot be checked: this machine has no {memory} bytes of memory free.",
            hint="Close other programs and run the command again.",
        ) from error


def _open_box(file: _KeyFile, passphrase: bytes) -> bytes | None:
    from nacl.exceptions import CryptoError  # libsodium costs ten milliseconds of every start
    from nacl.secret import SecretBox

    box = SecretBox(_stretch(passphrase, file.salt, file.ops, file.memory))
    try:
        return box.decrypt(file.box)
    except CryptoError:
        return None
