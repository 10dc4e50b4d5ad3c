"""The mark beside the key: how far this node's log has gone (docs/formats.md section 5, APP-13).

A vault may have been copied, restored from a backup, or cut off by a crash. After a crash it goes on; a
copy or a backup must not, or one node would say two things under one number. The mark lies outside the
vault and tells them apart:

* `intent` is written before a log entry is signed: its number, its predecessor and its digest;
* `done` is written after the store has committed it; nothing leaves the vault before.

`check` compares a mark with the vault; its table is the whole of the decision. Every write is flushed to the
disk. Callers hold the vault's lock.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from vault.errors import DataError, EnvironmentFault
from vault.files import FileMissing, make_directory, read_bounded, write_atomic
from vault.records import b64a
from vault.records.hashes import DIGEST_BYTES, Verifier

__all__ = [
    "MARK_TABLE",
    "MarkDamaged",
    "MarkFile",
    "MarkMissing",
    "MarkState",
    "MarkVerdict",
    "OtherMachine",
    "OtherNode",
    "VaultBehindMark",
    "VaultForked",
    "VaultPosition",
    "check",
    "mark_path",
    "require_writable",
]

MAX_SEQ = 2**63 - 1
_ID_DIGITS, _HEX = 32, frozenset("0123456789abcdef")
_FILE_LIMIT = 1024  # bytes
_DIGITS = 19  # of a number
_LINES = ["lace-mark/0", "vault", "machine", "node", "intent", "done", ""]
_WORDS = [1, 2, 2, 2, 4, 3, 1]


class VaultBehindMark(EnvironmentFault):
    """The vault holds less of its node's own log than this machine has seen."""

    code = "vault-behind-mark"
    exit_code = 19
    hint = (
        "A copy of it wrote since, or it was restored from a backup. Run: lace sync - it fetches what is missing from"
        " your places. Only if that is lost for good, or both copies are to go on, run: lace adopt - this one goes on"
        " under a new key."
    )


class OtherMachine(EnvironmentFault):
    """The vault's key and mark were copied from another machine."""

    code = "other-machine"
    exit_code = 19
    hint = (
        "Two machines never write under one key. If this one is a copy, run: lace adopt - it goes on under a "
        "new key. If the old machine is gone, run: lace sync first, then lace adopt."
    )


class OtherNode(EnvironmentFault):
    """The mark was written for another node than the vault's."""

    code = "other-node"
    exit_code = 19
    hint = "The vault is older than this machine's last adopt. Run: lace sync, and then: lace adopt"


class MarkMissing(EnvironmentFault):
    """The vault has written before, and this machine does not know how far."""

    code = "mark-missing"
    exit_code = 19
    hint = (
        "It is a copy, or the mark was lost. Run: lace sync - it fetches what is missing from your places; "
        "then: lace adopt - the vault goes on under a new key."
    )


class VaultForked(EnvironmentFault):
    """The vault and its mark name different log entries under one number."""

    code = "vault-forked"
    exit_code = 19
    hint = "A copy of this vault has written. Run: lace adopt - this one goes on under a new key."


class MarkDamaged(EnvironmentFault):
    """A mark file does not have the form it was written in."""

    code = "mark-damaged"
    exit_code = 19
    hint = "Restore the file from a backup, or delete it and run: lace sync, and then: lace adopt"


@dataclass(frozen=True, slots=True)
class MarkState:
    """What a mark file says. Digests are those of log-entry Plexes; None stands for "no entry yet".

    Args:
        vault: the vault instance, 32 hex digits.
        machine: the machine it was written on, 32 hex digits.
        node: whose log it counts.
        intent_seq: number of the newest entry about to be signed; 0 before the first.
        intent_prev: digest of the entry before it; None for the first.
        intent_digest: its own digest.
        done_seq: number of the newest entry that the store has committed; equal to `intent_seq` or one less.
        done_digest: its digest.

    Raises:
        MarkDamaged: the fields contradict each other.
    """

    vault: str
    machine: str
    node: Verifier
    intent_seq: int = 0
    intent_prev: bytes | None = None
    intent_digest: bytes | None = None
    done_seq: int = 0
    done_digest: bytes | None = None

    def __post_init__(self) -> None:
        digests = (self.intent_prev, self.intent_digest, self.done_digest)
        sound = (
            all(len(text) == _ID_DIGITS and _HEX.issuperset(text) for text in (self.vault, self.machine))
            and all(digest is None or len(digest) == DIGEST_BYTES for digest in digests)
            and 0 <= self.intent_seq <= MAX_SEQ
            and (self.intent_digest is None) == (self.intent_seq == 0)
            and (self.intent_prev is None) == (self.intent_seq <= 1)
            and (self.done_digest is None) == (self.done_seq == 0)
        )
        if self.is_pending:
            sound = sound and self.intent_prev == self.done_digest
        else:
            sound = sound and (self.intent_seq, self.intent_digest) == (self.done_seq, self.done_digest)
        if not sound:
            raise MarkDamaged("The mark of this vault contradicts itself.")

    @property
    def is_pending(self) -> bool:
        """Whether an entry was about to be signed and is not known to be committed."""
        return self.intent_seq == self.done_seq + 1

    def encode(self) -> bytes:
        """Return the bytes of the mark file."""
        return (
            f"lace-mark/0\nvault {self.vault}\nmachine {self.machine}\nnode {self.node.text}\n"
            f"intent {self.intent_seq} {_text(self.intent_prev)} {_text(self.intent_digest)}\n"
            f"done {self.done_seq} {_text(self.done_digest)}\n"
        ).encode("ascii")

    @classmethod
    def decode(cls, data: bytes) -> MarkState:
        """Return what the bytes of a mark file say.

        Raises:
            MarkDamaged: they are no mark.
        """
        words = [line.split(" ") for line in data.decode("latin-1").split("\n")]
        # What is written again as it was read has the form; no pattern has to be made for it.
        if [line[0] for line in words] != _LINES or [len(line) for line in words] != _WORDS:
            raise MarkDamaged("The mark of this vault is not a lace-mark/0 file.")
        _, (_, vault), (_, machine), (_, node), (_, seq, prev, digest), (_, done, done_digest), _ = words
        if not all(len(text) <= _DIGITS and text.isascii() and text.isdigit() for text in (seq, done)):
            raise MarkDamaged("The mark of this vault is not a lace-mark/0 file.")
        try:
            verifier = Verifier.parse(node)
            digests = [None if text == "-" else b64a.decode(text) for text in (prev, digest, done_digest)]
        except DataError as error:
            raise MarkDamaged("The mark of this vault holds a malformed key or digest.") from error
        found = cls(vault, machine, verifier, int(seq), digests[0], digests[1], int(done), digests[2])
        if found.encode() != data:
            raise MarkDamaged("The mark of this vault is not a lace-mark/0 file.")
        return found


class MarkVerdict(StrEnum):
    """What a mark says about a vault."""

    FRESH = "fresh"
    """Nothing was ever written: begin a mark."""
    IN_STEP = "in-step"
    """Both agree: go on."""
    REDO = "redo"
    """A crash before the store committed: the intended entry never was; write it again."""
    COMPLETE = "complete"
    """A crash after the store committed: write `done`."""
    AHEAD = "ahead"
    """The vault has fetched its own later entries: raise the mark to them."""
    BEHIND = "behind"
    """The vault is an old copy or a restored backup: fetch its own entries first."""
    FORKED = "forked"
    """Vault and mark name different entries under one number: a copy has written."""
    MISSING = "missing"
    """The vault has entries and there is no mark."""
    OTHER_MACHINE = "other-machine"
    """The mark was made on another machine."""
    OTHER_NODE = "other-node"
    """The mark was made for another node."""

    @property
    def may_write(self) -> bool:
        """Whether the vault may sign log entries, after the step named above."""
        return self in _WRITABLE


_WRITABLE = frozenset(
    {MarkVerdict.FRESH, MarkVerdict.IN_STEP, MarkVerdict.REDO, MarkVerdict.COMPLETE, MarkVerdict.AHEAD}
)


class VaultPosition(StrEnum):
    """Where a vault's own log ends, seen from its mark."""

    BEFORE = "before"
    """Before `done`."""
    AT_DONE = "at-done"
    """At `done`, with its digest."""
    BESIDE_DONE = "beside-done"
    """At or after the number of `done`, with another digest under that number."""
    AT_INTENT = "at-intent"
    """At `intent`, one after `done`, with its digest."""
    AFTER = "after"
    """After `done`, and not at `intent`."""


# (where the vault is, whether an intent is pending) -> verdict. AFTER with a pending intent is no fork:
# what was intended never left the vault, while the entry that the vault holds did, or it could not have
# been fetched.
MARK_TABLE: dict[tuple[VaultPosition, bool], MarkVerdict] = {
    (VaultPosition.BEFORE, False): MarkVerdict.BEHIND,
    (VaultPosition.BEFORE, True): MarkVerdict.BEHIND,
    (VaultPosition.AT_DONE, False): MarkVerdict.IN_STEP,
    (VaultPosition.AT_DONE, True): MarkVerdict.REDO,
    (VaultPosition.BESIDE_DONE, False): MarkVerdict.FORKED,
    (VaultPosition.BESIDE_DONE, True): MarkVerdict.FORKED,
    (VaultPosition.AT_INTENT, True): MarkVerdict.COMPLETE,
    (VaultPosition.AFTER, False): MarkVerdict.AHEAD,
    (VaultPosition.AFTER, True): MarkVerdict.AHEAD,
}


def check(
    state: MarkState | None,
    vault_seq: int,
    vault_digest: bytes | None,
    machine: str,
    *,
    node: Verifier,
    digest_at_done: bytes | None = None,
) -> MarkVerdict:
    """Compare a mark with the vault it belongs to.

    Args:
        state: the mark; None if there is none.
        vault_seq: number of the vault's newest own log entry; 0 for none.
        vault_digest: its Plex digest; None for none.
        machine: id of this machine, 32 hex digits.
        node: the vault's node.
        digest_at_done: Plex digest of the vault's own entry numbered `state.done_seq`, if the caller knows
            it; it shows a fork that lies further back.
    """
    if state is None:
        return MarkVerdict.MISSING if vault_seq else MarkVerdict.FRESH
    if state.node != node:
        return MarkVerdict.OTHER_NODE
    if state.machine != machine:
        return MarkVerdict.OTHER_MACHINE
    return MARK_TABLE[_position(state, vault_seq, vault_digest, digest_at_done), state.is_pending]


def _position(state: MarkState, seq: int, digest: bytes | None, at_done: bytes | None) -> VaultPosition:
    if seq < state.done_seq:
        return VaultPosition.BEFORE
    if seq == state.done_seq:
        return VaultPosition.AT_DONE if digest == state.done_digest else VaultPosition.BESIDE_DONE
    if state.done_seq and at_done is not None and at_done != state.done_digest:
        return VaultPosition.BESIDE_DONE
    if state.is_pending and (seq, digest) == (state.intent_seq, state.intent_digest):
        return VaultPosition.AT_INTENT
    return VaultPosition.AFTER


def require_writable(verdict: MarkVerdict, vault_seq: int, state: MarkState | None) -> None:
    """Refuse a vault that may not sign, with the way out; do nothing for one that may.

    Raises:
        VaultBehindMark, VaultForked, MarkMissing, OtherMachine, OtherNode: by the verdict.
    """
    if verdict.may_write:
        return
    done = state.done_seq if state is not None else 0
    raise {
        MarkVerdict.BEHIND: VaultBehindMark(
            f"This vault has {vault_seq} of its own log entries, but {done} were written on this machine."
        ),
        MarkVerdict.FORKED: VaultForked(
            f"This vault's log entry {done} is not the one that was written on this machine."
        ),
        MarkVerdict.MISSING: MarkMissing(
            f"This vault has {vault_seq} of its own log entries, but this machine has no mark for it."
        ),
        MarkVerdict.OTHER_MACHINE: OtherMachine("This vault and its key were made on another machine."),
        MarkVerdict.OTHER_NODE: OtherNode("This machine's mark belongs to another key than this vault uses."),
    }[verdict]


@lru_cache(maxsize=4)
def _decoded(data: bytes) -> MarkState:
    """Return what the bytes of a mark say; they are read at each action, and mostly say what they said before."""
    return MarkState.decode(data)


def mark_path(root: str | os.PathLike[str], vault: str) -> Path:
    """Return where the mark of a vault instance lies under a data root."""
    return Path(root) / "marks" / f"{vault}.mark"


class MarkFile:
    """The mark on disk, owner-only, replaced atomically and flushed at each step.

    The order is `begin`, then `intent` and `done` in turn; another order is a fault of the program and raises
    RuntimeError.

    Args:
        path: see `mark_path`.
        vault: the vault instance, 32 hex digits.
    """

    def __init__(self, path: str | os.PathLike[str], vault: str) -> None:
        self.path = Path(path)
        self.vault = vault

    def load(self) -> MarkState | None:
        """Return what the file says, or None when there is none.

        Raises:
            MarkDamaged: it is not well-formed, or belongs to another vault.
            Unreadable: it cannot be read.
        """
        try:
            state = _decoded(read_bounded(self.path, _FILE_LIMIT))
        except FileMissing:
            return None
        except (DataError, MarkDamaged) as error:
            raise MarkDamaged(f"The mark {self.path} is damaged: {error}") from error
        if state.vault != self.vault:
            raise MarkDamaged(f"The mark {self.path} belongs to another vault.")
        return state

    def begin(
        self,
        machine: str,
        node: Verifier,
        seq: int = 0,
        digest: bytes | None = None,
        prev: bytes | None = None,
    ) -> MarkState:
        """Write a new mark in place of any old one: for a fresh vault, and for a node after `lace adopt`.

        Args:
            machine: id of this machine, 32 hex digits.
            node: the vault's node.
            seq: its newest committed log entry, 0 for none.
            digest: that entry's Plex digest; None for none.
            prev: Plex digest of the entry before it; None for the first.

        Raises:
            DiskFull, NotWritable: the mark cannot be written.
        """
        return self._write(MarkState(self.vault, machine, node, seq, prev, digest, seq, digest))

    def intent(self, seq: int, prev: bytes | None, digest: bytes) -> MarkState:
        """Say that an entry is about to be signed; a pending intent of the same number is replaced.

        Raises:
            DiskFull, NotWritable: the mark cannot be written; the entry must not be signed.
        """
        state = self._required()
        if seq != state.done_seq + 1 or prev != state.done_digest:
            raise RuntimeError(f"log entry {seq} does not follow the mark's entry {state.done_seq}")
        return self._write(replace(state, intent_seq=seq, intent_prev=prev, intent_digest=digest))

    def done(self, seq: int, digest: bytes) -> MarkState:
        """Say that the store has committed the intended entry; said twice, it does nothing.

        Raises:
            DiskFull, NotWritable: the mark cannot be written; the entry must not leave the vault yet.
        """
        state = self._required()
        if (seq, digest) != (state.intent_seq, state.intent_digest):
            raise RuntimeError(f"log entry {seq} was not intended")
        if not state.is_pending:
            return state
        return self._write(replace(state, done_seq=seq, done_digest=digest))

    def catch_up(self, seq: int, digest: bytes, prev: bytes | None = None) -> MarkState:
        """Raise the mark to the vault's newest own entry, for the verdict AHEAD.

        Args:
            seq: number of that entry, above `done`.
            digest: its Plex digest.
            prev: Plex digest of the entry before it; None for the first.

        Raises:
            DiskFull, NotWritable: the mark cannot be written.
        """
        state = self._required()
        if seq <= state.done_seq:
            raise RuntimeError(f"a mark at entry {state.done_seq} never goes back to {seq}")
        return self.begin(state.machine, state.node, seq, digest, prev)

    def _required(self) -> MarkState:
        state = self.load()
        if state is None:
            raise RuntimeError("a mark is begun before it is used")
        return state

    def _write(self, state: MarkState) -> MarkState:
        make_directory(self.path.parent, 0o700)
        write_atomic(self.path, state.encode(), mode=0o600)
        return state


def _text(digest: bytes | None) -> str:
    return "-" if digest is None else b64a.encode(digest)
