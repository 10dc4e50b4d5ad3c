"""The one way records are made: sealed, added, logged and audited inside `Vault.writing`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

from vault.desks.chunks import pieces_of, whole_of
from vault.desks.content import Contents
from vault.desks.ports import Part
from vault.errors import EnvironmentFault
from vault.files import make_directory
from vault.identity.mark import MarkVerdict, VaultForked, check, require_writable
from vault.late_content import lacking, note_late
from vault.records import Plex, RecordHash, Seal, Tai

if TYPE_CHECKING:
    from vault.identity.markfile import MarkFile
    from vault.lock import VaultLock
    from vault.profile import LogEntry
    from vault.records import Verifier
    from vault.store import Store
    from vault.suite import SigningKey
    from vault.surroundings import Surroundings

__all__ = ["Writer"]

_BATCH_RECORDS = 512
_BATCH_BYTES = 8 << 20
_MARK_SECONDS = 60.0  # longer than the storing of a release takes on a slow disk
_MOVES_MARK = frozenset({MarkVerdict.FRESH, MarkVerdict.COMPLETE, MarkVerdict.AHEAD})
# By an order of two columns, one of them downwards, SQLite would sort.
_TIP = """SELECT seq, hash, plex FROM log WHERE node = ?1 AND seq = (SELECT max(seq) FROM log WHERE node = ?1)
    ORDER BY hash LIMIT 1"""


class Owner(Protocol):
    """What a write needs of the vault that it is in."""

    store: Store
    around: Surroundings

    @property
    def node(self) -> Verifier:
        """Whose vault it is."""

    @property
    def name(self) -> str:
        """The person's own name."""

    @property
    def group(self) -> str:
        """The id of the group."""

    @property
    def mark(self) -> MarkFile:
        """The mark beside the key."""

    @property
    def mark_lock(self) -> VaultLock:
        """Its lock."""

    def key(self) -> SigningKey:
        """Return the key that signs."""


class Writer:
    """What an action may do while it holds the vault; made by `Vault.writing`.

    It is also a `Sink` for the content and tree records that a snapshot of the folder makes: they are stored in
    batches.
    """

    def __init__(self, vault: Owner, *, may_sign: bool = True) -> None:
        self._may_sign = may_sign
        self._vault = vault
        self.store = vault.store
        self._key: SigningKey | None = None  # once something is signed; a vault becomes another node before that
        self._contents: Contents | None = None
        self._pending: list[Plex] = []
        self._sealed: list[tuple[Seal, bytes]] = []
        self._near: dict[RecordHash, Sequence[RecordHash]] = {}
        self._sums: dict[RecordHash, str] = {}
        self._pending_bytes = 0
        self._audited: tuple[int, RecordHash] | None = None  # the audit chain's end, once it was asked for
        self._logged: tuple[int, bytes] | None = None
        self.is_releasing = False  # whether what a snapshot brings is released in this very write
        self.refusal: EnvironmentFault | None = None  # why the mark let nothing be signed
        self._afterwards: list[Callable[[], object]] = []
        self._held = ExitStack()  # the lock of the mark
        self._is_holding = False

    def close(self) -> None:
        """Give the mark free, however the write ended."""
        self._held.close()

    # Records

    def put(
        self, records: Iterable[Seal | Plex], near: Mapping[RecordHash, Sequence[RecordHash]] | None = None
    ) -> None:
        """Store validated records; see `Store.add`."""
        self.flush()
        self._keep([(record, record.encode()) for record in records], near)

    def add(self, plex: Plex) -> None:
        """Queue one content or tree record for storing; this makes the writer a `Sink`."""
        self._pending.append(plex)
        self._pending_bytes += len(plex.blob.data)
        if len(self._pending) >= _BATCH_RECORDS or self._pending_bytes >= _BATCH_BYTES:
            self.flush()

    def add_content(self, content: bytes) -> RecordHash:
        """Queue the data record of a small content and return its hash; this makes the writer a `ContentSink`."""
        if self._contents is None:
            self._contents = Contents(self._vault.group)
        record = self._contents.add(content)
        if len(self._contents) >= _BATCH_RECORDS:
            self.flush()
        return record

    def add_near(self, plex: Plex, bases: Sequence[RecordHash]) -> None:
        """Queue one record whose bytes are like those of `bases`, which are stored."""
        if bases:
            self._near[plex.hash] = bases
        self.add(plex)

    def add_sum(self, record: RecordHash, sha512: str) -> None:
        """Keep the SHA-512 of a content that is queued or stored, so that a release need not read it again."""
        self._sums[record] = sha512

    def content(self, record: RecordHash) -> bytes | None:
        """Return a whole content or page, what is queued included; this makes the writer a `Source`."""
        return whole_of(self.part, record)

    def pieces(self, record: RecordHash) -> Iterator[bytes] | None:
        """Return a content in pieces, what is queued included."""
        return pieces_of(self.part, record)

    def part(self, record: RecordHash) -> Part | None:
        """Return what one record holds itself, what is queued included."""
        self.flush()
        return self.store.part(record)

    def length(self, record: RecordHash) -> int | None:
        """Return the bytes of a record's Blob, what is queued included; 0 for a manifest."""
        self.flush()
        return self.store.length(record)

    def flush(self) -> None:
        """Store what is queued."""
        if not (self._pending or self._contents or self._sums or self._sealed):
            return
        contents, self._contents = self._contents, None
        pending, self._pending, self._pending_bytes = self._pending, [], 0
        sealed, self._sealed = self._sealed, []
        near, self._near = self._near, {}
        sums, self._sums = self._sums, {}
        self._keep([*((plex, plex.encode()) for plex in pending), *sealed], near, contents)
        if sums:
            self.store.keep_sums(sums)

    def _keep(
        self,
        pairs: Sequence[tuple[Seal | Plex, bytes]],
        near: Mapping[RecordHash, Sequence[RecordHash]] | None,
        contents: Contents | None = None,
    ) -> None:
        if self.store.holes.any():  # a file of mine may have the bytes of a missing one
            came = [*(contents.records if contents else ()), *(record.hash for record, _ in pairs)]
            note_late(self.store, lacking(self.store, came), came)
        self.store.add(pairs, near, contents)

    def seal(self, plex: Plex) -> Seal:
        """Seal a Plex with this node's key and store it."""
        sealed = self.seal_later(plex)
        self.flush()
        return sealed

    def seal_later(self, plex: Plex) -> Seal:
        """Seal a Plex with this node's key and queue it; before anything asks the store for it, `flush` stores it."""
        if not self._may_sign:
            raise RuntimeError("a receiving write signs nothing")
        if self._key is None:
            self._key = self._vault.key()
        sealed, stored = Seal.sign_stored(plex, self._key)
        self._sealed.append((sealed, stored))
        return sealed

    def tai(self, *after: str) -> Tai:
        """Return the clock as TAI, moved past every TAI text in `after` (H-26)."""
        now = self._vault.around.tai()
        return max(now, *(Tai.parse(text).later(1) for text in after)) if after else now

    # Log

    def log(self, entries: Sequence[RecordHash]) -> LogEntry:
        """Share records: append one entry to this node's log.

        The mark's `intent` is durable before the signature exists (architecture, decision 2). Lamport is one more
        than the largest seen (LAZ-14).

        Raises:
            Locked: another copy of this vault kept the mark too long.
            VaultBehindMark: another copy wrote meanwhile.
            ValueError: these are none, or too many for one entry; a fault of the program.
        """
        from vault.nodelog import tick  # a commit that stays here is not logged
        from vault.profile import MAX_ENTRIES, LogEntry

        if not 1 <= len(entries) <= MAX_ENTRIES:
            raise ValueError(f"a log entry shares 1 to {MAX_ENTRIES} records, not {len(entries)}")
        self._hold_mark()
        seq, prev_hash, prev_plex = self._tip(self._vault.node.text)
        lamport = tick(int(self.store.db.execute("SELECT ifnull(max(lamport), 0) FROM log").fetchone()[0]))
        plex = LogEntry.to_plex(
            group=self._vault.group,
            seq=seq + 1,
            lamport=lamport,
            prev=RecordHash.parse(prev_hash) if prev_hash else None,
            entries=tuple(entries),
            tai=self.tai(),
        )
        try:
            self._vault.mark.intent(seq + 1, prev_plex or None, plex.hash.digest)
        except RuntimeError:
            if self._logged is None:
                self.check_mark()  # another copy wrote since it was asked: this one is behind
            raise
        sealed = self.seal(plex)
        self._logged = (seq + 1, plex.hash.digest)
        return LogEntry.read(sealed)

    def audit(
        self,
        verb: str,
        subject: str,
        parameters: Mapping[str, str] | None = None,
        *,
        motivation: str = "",
        relates_to: Sequence[str] = (),
    ) -> None:
        """Append one sealed entry to the private audit chain (CYB-9, CYB-11)."""
        from vault.audit.entries import make_entry  # what only reads writes no trail

        if self._audited is None:
            row = self.store.db.execute(
                "SELECT a.seq, b.kind, b.digest FROM audit a JOIN body b USING (p) ORDER BY a.seq DESC LIMIT 1"
            ).fetchone()
            self._audited = (int(row[0]), RecordHash(str(row[1]), bytes(row[2]))) if row else None
        entry = make_entry(
            self._audited,
            tai=self.tai(),
            actor=self._vault.node,
            name=self._vault.name,
            verb=verb,
            object=subject,
            parameters=sorted((parameters or {}).items()),
            motivation=motivation,
            relates_to=tuple(relates_to),
            lace=self._vault.around.program,
        )
        self._audited = (entry.sequence, self.seal_later(entry.to_plex()).hash)

    # Mark

    def _tip(self, me: str) -> tuple[int, str, bytes]:
        rows = self.store.rows(_TIP, me)
        return next(((int(seq), str(digest), bytes(plex)) for seq, digest, plex in rows), (0, "", b""))

    def _hold_mark(self) -> None:
        """Keep other copies of this vault from the mark until this write ends: they have locks of their own."""
        if not self._is_holding:
            lock = self._vault.mark_lock
            make_directory(lock.path.parent, 0o700)
            self._held.enter_context(lock.held(timeout=_MARK_SECONDS))
            self._is_holding = True

    def check_mark(self) -> None:
        """Compare the vault with the mark beside the key before anything is signed.

        Raises:
            MayNotSign: it is a copy or a restored backup, or its key was moved.
        """
        try:
            self._ask_mark()
        except EnvironmentFault as error:
            self.refusal = error
            raise

    def look_at_mark(self) -> tuple[MarkVerdict, int, bytes]:
        """Refuse as `check_mark`, and change nothing; return what the mark says, and my last entry as it was compared.

        Raises:
            MayNotSign: as `check_mark`.
        """
        vault, mark = self._vault, self._vault.mark
        node = vault.node
        me = node.text
        state = mark.load()
        seq, _, plex = self._tip(me)
        at_done = (
            None if state is None else (plex or None) if state.done_seq == seq else self._plex_of(me, state.done_seq)
        )
        verdict = check(state, seq, plex or None, vault.around.machine, node=node, digest_at_done=at_done)
        self._refuse_fork(me)
        require_writable(verdict, seq, state)
        return verdict, seq, plex

    def _ask_mark(self) -> None:
        vault, mark = self._vault, self._vault.mark
        verdict, seq, plex = self.look_at_mark()
        if verdict in _MOVES_MARK and not self._is_holding:
            self._hold_mark()
            self._ask_mark()  # what another copy wrote meanwhile counts
        elif verdict is MarkVerdict.FRESH:
            mark.begin(vault.around.machine, vault.node)
        elif verdict is MarkVerdict.COMPLETE:
            mark.done(seq, plex)
        elif verdict is MarkVerdict.AHEAD:
            mark.catch_up(seq, plex, self._plex_of(vault.node.text, seq - 1))

    def _refuse_fork(self, me: str) -> None:
        """Refuse to lengthen a log of which friends have two: nothing after the fork would count for them."""
        row = self.store.db.execute("SELECT seq FROM vector WHERE node = ? AND forked", (me,)).fetchone()
        if row is not None:
            raise VaultForked(
                f"Two devices, or a restored copy, wrote entry {int(row[0]) + 1} of your log under one key.",
                hint="Nothing is lost: both are kept, here and with your friends. To go on under a new key that your "
                "friends know as yours, run: lace adopt - and do the same on the other device, if there is one.",
            )

    def _plex_of(self, me: str, seq: int) -> bytes | None:
        row = self.store.db.execute(
            "SELECT plex FROM log WHERE node = ? AND seq = ? ORDER BY hash LIMIT 1", (me, seq)
        ).fetchone()
        return bytes(row[0]) if row else None

    def done(self) -> None:
        """Tell the mark that what was logged is durable; called after the transaction committed."""
        if self._logged:
            self._vault.mark.done(*self._logged)
        self.close()

    def afterwards(self, act: Callable[[], object]) -> None:
        """Have something done once the transaction committed, under the same lock; it must be able to be cut off."""
        self._afterwards.append(act)

    def conclude(self) -> None:
        """Do what was put off until the transaction committed."""
        for act in self._afterwards:
            act()
