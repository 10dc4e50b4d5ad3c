"""The mark beside the key: how far this node's log has gone (docs/formats.md section 5, APP-13).

A vault may have been copied, restored from a backup, or cut off by a crash. After a crash it goes on; a
copy or a backup must not, or one node would say two things under one number. The mark lies outside the
vault and tells them apart:

* `intent` is written before a log entry is signed: its number, its predecessor and its digest;
* `done` is written after the store has committed it; nothing leaves the vault before.

`check` compares a mark with the vault; its table is the whole of the decision. `vault.identity.markfile` keeps the mark
on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vault.errors import DataError, EnvironmentFault
from vault.records import b64a
from vault.records.hashes import DIGEST_BYTES, Verifier

__all__ = [
    "MARK_TABLE",
    "MarkDamaged",
    "MarkMissing",
    "MarkState",
    "MarkVerdict",
    "MayNotSign",
    "OtherMachine",
    "OtherNode",
    "VaultBehindMark",
    "VaultForked",
    "VaultPosition",
    "check",
    "require_writable",
]

MAX_SEQ = 2**63 - 1
_ID_DIGITS, _HEX = 32, frozenset("0123456789abcdef")
_DIGITS = 19  # of a number
_LINES = ["lace-mark/0", "vault", "machine", "node", "intent", "done", ""]
_WORDS = [1, 2, 2, 2, 4, 3, 1]


class MayNotSign(EnvironmentFault):
    """The vault may sign nothing: it is a copy or a restored backup, or its key was moved. It reads first."""

    exit_code = 19


class VaultBehindMark(MayNotSign):
    """The vault holds less of its node's own log than this machine has seen."""

    code = "vault-behind-mark"
    hint = (
        "A copy of it wrote since, or it was restored from a backup. Run: lace sync - it fetches what is missing from"
        " your places. Only if that is lost for good, or both copies are to go on, run: lace adopt - this one goes on"
        " under a new key."
    )


class OtherMachine(MayNotSign):
    """The vault's key and mark were copied from another machine, or from another home folder of this one."""

    code = "other-machine"
    hint = (
        "Two machines never write under one key. If this one is a copy, run: lace adopt - it goes on under a "
        "new key. If the old machine is gone, or its home folder was renamed, run: lace sync first, which fetches what"
        " is missing and says this again; then lace adopt."
    )


class OtherNode(MayNotSign):
    """The mark was written for another node than the vault's."""

    code = "other-node"
    hint = (
        "The vault is older than this machine's last adopt. Run: lace sync - it fetches what is missing, and says this"
        " again at its end; then: lace adopt"
    )


class MarkMissing(MayNotSign):
    """The vault has written before, and this machine does not know how far."""

    code = "mark-missing"
    hint = (
        "If keys lie on a disk that is not here now, or LACE_HOME names another folder, bring that back. Else it is a"
        " copy, or the mark was lost. Run: lace sync - it fetches what is missing from your places, and says this again"
        " at its end; then: lace adopt - the vault goes on under a new key."
    )


class VaultForked(MayNotSign):
    """The vault and its mark name different log entries under one number."""

    code = "vault-forked"
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
    """The mark was made on another machine, or for another home folder."""
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
        MarkVerdict.OTHER_MACHINE: OtherMachine(
            "This vault and its key were made on another machine, or in another home folder."
        ),
        MarkVerdict.OTHER_NODE: OtherNode("This machine's mark belongs to another key than this vault uses."),
    }[verdict]


def _text(digest: bytes | None) -> str:
    return "-" if digest is None else b64a.encode(digest)
