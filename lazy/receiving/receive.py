"""Receiving: from bytes a stranger wrote to records that count (LAZ-63, LAZ-69 to LAZ-72, INT-118).

Every record is validated whole: form, digests, signature, group, profile, tree form, and the signer's membership.
Sealed records are evidence and come first; a tree waits in memory until evidence reaches it; content is asked for
only when a tree that counts reaches it. So nothing unsigned is stored that no member vouches for, and what is left
over at the end of a round is dropped (architecture, decision 10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from lazy.people import label_of
from lazy.receiving.cuts import cuts_of, leading_to, who_counts, why_late, with_reached
from lazy.receiving.ending import note_mismatches, refuse_strangers
from lazy.receiving.holes import Holes
from lazy.receiving.judging import Judge, Sorted
from lazy.receiving.membership_news import Changed, note_news
from lazy.receiving.pile import Pile
from lazy.receiving.quarantine import NAMED, due, forget_stored, keep, let_go, trim
from lazy.receiving.refusals import (
    AFTER_CUT,
    MAY_COUNT_YET,
    STRANGER,
    UNPROVEN,
    UNREACHED,
    Refusal,
    ask_again,
    remember,
    told_before,
)
from lazy.receiving.round import Round
from lazy.receiving.workers import Workers
from vault import profile
from vault.errors import LaceError
from vault.lock import Holder
from vault.notes.own import FOUNDING
from vault.profile import FOUNDING_APP, LOG_APP, MEMBER_APP, REVOCATION_APP, TREE_APP
from vault.proofs import Proofs
from vault.records import Plex, RecordHash, Seal, Verifier
from vault.records.hash_list import HashList
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

if TYPE_CHECKING:
    from vault.desks.content import Contents

__all__ = [
    "BELONGING_APPS",
    "LAST_BATCH_BYTES",
    "STASH_BYTES",
    "Receiver",
]

LAST_BATCH_BYTES = 16 << 20  # of one transaction: flushing each to the disk costs more than it has
STASH_BYTES = 64 << 20  # trees waiting for evidence; above it they are asked for again when evidence names them
BELONGING_APPS = frozenset({FOUNDING_APP, MEMBER_APP, REVOCATION_APP})
"""The kinds of records that say who belongs."""


class _Unproven(Exception):
    """A signature of the batch is wrong; whose, and what follows, tells the slow way."""


@dataclass(slots=True)
class Receiver:
    """Takes validated records of one sync into the vault.

    Args:
        vault: where they go.
        source: name of the place or peer they came from, for audit and `refused`.
        keeps_content: whether content that nothing reaches yet waits for evidence, as trees do; where records are
            asked for one by one it is only asked for once something reaches it.
        received: what was stored, in the order in which it was.
        holes: what is missing here and is asked for.
    """

    vault: Vault
    source: str
    keeps_content: bool = False
    received: HashList = field(default_factory=HashList)
    holes: Holes = field(init=False)
    _round: Round = field(default_factory=Round)
    _judge: Judge = field(init=False)
    _members: frozenset[str] = field(init=False)
    _workers: Workers = field(init=False)

    def __post_init__(self) -> None:
        self._workers = Workers(self.vault)
        self._members = frozenset(str(node) for (node,) in self.vault.store.rows("SELECT node FROM member"))
        self._judge = Judge(lambda: self.vault.group)
        self.holes = Holes(self.vault, lambda: self._round.stash)  # a batch that is undone puts another in its place

    # What became of the records so far

    @property
    def refusals(self) -> list[Refusal]:
        """What was refused in this round."""
        return self._round.refusals

    @property
    def awaited(self) -> set[RecordHash]:
        """What of it comes again once its signer belongs."""
        return self._round.awaited

    @property
    def told_before(self) -> frozenset[RecordHash]:
        """What of it was refused so before this round, once the round ended."""
        return self._round.told_before

    @property
    def membership(self) -> Changed:
        """Who came and went by what came."""
        return self._round.membership

    @property
    def asks_again(self) -> bool:
        """Whether something that was refused is to come again: what was read or sent is not done with then."""
        return self._round.asks_again

    @property
    def owes(self) -> bool:
        """Whether refusals for who belongs are still to be remembered: lost now, nobody would ask for them again."""
        return self._round.owes or len(self.strangers) > len(self.weighed)

    @property
    def strangers(self) -> Pile[Seal]:
        """Evidence that waits until its signer belongs."""
        return self._round.strangers

    @property
    def weighed(self) -> set[RecordHash]:
        """What waits here of all that was weighed."""
        return self._round.weighed & self.strangers.keys()

    @property
    def waits(self) -> bool:
        """Whether something waits here for evidence, and would be lost if the round ended now."""
        return bool(self._round.stash or self.strangers)

    # What to ask for

    def refused_before(self) -> set[RecordHash]:
        """Return records refused in earlier syncs; they are not fetched again until trust changes."""
        refused_so = f"SELECT kind, digest, code FROM refused WHERE {NAMED} AND code NOT IN (?, ?)"  # noqa: S608
        rows = self.vault.store.rows(refused_so, *MAY_COUNT_YET)
        refused = {RecordHash(str(kind), bytes(digest)): str(code) for kind, digest, code in rows}
        refused |= {each.hash: each.code for each in self.refusals if each.code not in MAY_COUNT_YET}
        late = [record for record, code in refused.items() if code == AFTER_CUT]
        strange = [record for record, code in refused.items() if code == STRANGER]
        return refused.keys() - self.holes.among(late) - self.holes.built_upon(strange)

    def wants(self, record: RecordHash, app: str) -> bool:
        """Tell whether a missing record may be asked for now: evidence and trees always, content when reached."""
        if record.kind == "S":
            return record not in self.strangers or record in self._round.weighed
        if app != TREE_APP or self._round.stash.total >= STASH_BYTES or record in self._round.stash:
            return False
        return not self._round.was_refused(self.vault.store, record)

    # Taking in

    def take(
        self,
        batch: Sequence[tuple[RecordHash, bytes]],
        on_wait: Callable[[Holder | None], None] | None = None,
        *,
        carried: bool = False,
    ) -> None:
        """Validate and store one batch of records in one transaction; where that fails nothing is left of it.

        Args:
            batch: hashes, and bytes that are said to be those records.
            on_wait: told who holds the vault, while it waits.
            carried: whether each hash was compared with its bytes by who read them (REC-5).
        """
        take = partial(self._take, batch, on_wait, carried=carried)
        proofs = self._workers.proofs(sum(record.kind == "S" for record, _ in batch))  # content has no signature
        if proofs is not None:
            try:
                self._or_undo(lambda: take(proofs))
            except Exception as fault:
                if proofs.are_right() and not isinstance(fault, _Unproven):
                    raise
            else:
                return
        self._or_undo(lambda: take(None))  # one after the other

    def _or_undo(self, act: Callable[[], None]) -> None:
        """Take in what an act brings; where its transaction is undone, undo what is left of it in memory."""
        before, count = self._round.copied(), len(self.received)
        try:
            act()
        except BaseException:
            # What is left of it here would be refused as a stranger's when the round ends.
            self._round = before
            self.received.cut(count)  # it only grows, and is long: no copy of it is made
            raise

    def _take(
        self,
        batch: Sequence[tuple[RecordHash, bytes]],
        on_wait: Callable[[Holder | None], None] | None,
        proofs: Proofs | None,
        *,
        carried: bool,
    ) -> None:
        ready: Sorted = []
        wanted = self.holes.among([record for record, _ in batch if record.kind == "P"])
        contents, batch = self._judge.small(batch, wanted if carried else ())
        for record, stored in self._judge.batch(batch, self._refuse_wrong, proofs, carried=carried):
            if isinstance(record, Seal):
                name = record.hash
                if name in self._round.refused:
                    self._round.take_back(name)
                self._round.weighed.discard(name)
                self.strangers[name] = record, stored
            elif record.hash in wanted:
                ready.append((record, stored))
            elif self._may_wait(record):
                self._round.stash.put(record, stored)
            elif record.app != TREE_APP:  # a tree is asked for again when evidence names it
                self.refuse(
                    record.hash, UNREACHED, "no record of a member reaches it, and its listing named it wrongly"
                )
        if ready or contents or self.strangers or self._round.stash:
            with self.vault.writing(on_wait, receiving=True) as w:
                self._store(w, ready, contents)
                if proofs is not None and not proofs.are_right():
                    raise _Unproven  # before anything of it is kept
            self._workers.stored()
        if proofs is not None and not proofs.are_right():
            raise _Unproven
        if self.strangers.total > STASH_BYTES:
            refuse_strangers(self.vault, self._round)

    def weigh(self, batch: Iterable[tuple[RecordHash, bytes]]) -> None:
        """Take what says who belongs from somebody who is no member: what counts is stored, as from anybody.

        The rest waits for other evidence until the round ends, and is dropped then without a word: whoever may lay a
        mailbox beside those of the members cannot fill their audit and quarantine with it.
        """
        for record_hash, stored in batch:
            try:
                record = self._judge.one(record_hash, stored)
            except LaceError:
                continue
            if not isinstance(record, Seal) or record.plex.app not in BELONGING_APPS | {LOG_APP}:
                continue
            if record.hash not in self.strangers:
                self._round.weighed.add(record.hash)
                self.strangers.put(record, stored)
        if self.strangers:
            with self.vault.writing(receiving=True) as w:
                self._store(w, ())
            if self.strangers.total > STASH_BYTES:
                refuse_strangers(self.vault, self._round)

    def _store(self, w: Writer, ready: Iterable[tuple[Seal | Plex, bytes]], contents: Contents | None = None) -> None:
        """Store what counts: what is reached already, evidence of members, then whatever that evidence reaches."""
        before = len(self.received)
        self._keep(w, ready)
        if contents:
            self._round.note_late(w.store, contents.records)
            w.store.add((), contents=contents)
            self.received.extend(contents.records)
        while True:
            while self._admit_evidence(w) or self._admit_reached(w):
                pass
            if self._settle(w):
                continue
            reached = self._round.stash.take_reached(w.store)
            if not reached:
                break
            self._keep(w, reached)
        if len(self.received) > before:
            forget_stored(w, UNREACHED, UNPROVEN, AFTER_CUT, STRANGER)

    def _may_wait(self, record: Plex) -> bool:
        """Tell whether what nothing reaches yet waits in memory; of a tree that was asked for, `wants` knew of room."""
        return self._round.stash.total < STASH_BYTES if self.keeps_content else record.app == TREE_APP

    def _keep(self, w: Writer, records: Iterable[tuple[Seal | Plex, bytes]]) -> None:
        pairs = list(records)
        if pairs:
            names = [record.hash for record, _ in pairs]
            self._round.note_late(w.store, names)
            w.store.add(pairs)
            self.received.extend(names)
            self._workers.expect([record for record, _ in pairs])

    def _admit_evidence(self, w: Writer) -> bool:
        """Move evidence of present members from waiting to stored; tell whether membership may have grown."""
        members = {Verifier.parse(str(row[0])) for row in w.store.rows("SELECT node FROM member")} | {self.vault.node}
        counted: list[RecordHash] = []
        founding, changes = FOUNDING_APP, False
        for name, (seal, _) in self.strangers.items():
            app = seal.plex.app
            if not (self._is_founding(seal) if app == founding else seal.signer in members):
                continue
            if app == founding:
                w.store.set_note(FOUNDING, name.text)
            changes = changes or app in BELONGING_APPS
            counted.append(name)
        self._keep(w, self.strangers.take(counted))
        if changes:
            self._settle(w)
        return changes

    def _settle(self, w: Writer) -> bool:
        """Bring the views up to date; where somebody stands otherwise now, judge anew what was refused till then."""
        before = who_counts(w)
        w.store.settle(self.vault.node.text, self.vault.founding, final=False)
        now = who_counts(w)
        if now == before:
            return False
        self._round.asks_again |= ask_again(w)
        self._round.reconsider()
        news = note_news(w, self.vault, self._members, now - before)
        self._round.membership = self._round.membership.and_then(news)
        return True

    def _admit_reached(self, w: Writer) -> bool:
        """Take of revoked nodes their own entries within the cut, and what records that count reach.

        Of those who never belonged it is taken too what such records are built upon: else these were never whole here.
        """
        if not self.strangers:
            return False
        if self._settle(w):
            return True  # perhaps the cuts are elsewhere now
        cuts = cuts_of(w, self.vault.node)
        waiting = {record: seal for record, (seal, _) in self.strangers.items()}
        of_cut = {record: seal for record, seal in waiting.items() if seal.signer in cuts}
        wanted = leading_to(w, cuts, of_cut)
        wanted |= self.holes.among(of_cut.keys() - wanted)
        wanted = with_reached(wanted, of_cut)
        wanted |= with_reached(self.holes.built_upon(waiting.keys() - of_cut.keys()), waiting)
        self._keep(w, self.strangers.take(wanted))
        self._settle(w)
        return bool(wanted)

    def _is_founding(self, seal: Seal) -> bool:
        return profile.Founding.read(seal).signer == seal.signer and self.vault.is_founding(seal)

    # Judging

    def _refuse_wrong(self, record_hash: RecordHash, error: LaceError) -> None:
        self.refuse(record_hash, error.code, error.message)

    def refuse(self, record_hash: RecordHash, code: str, reason: str) -> None:
        """Note a refusal; it is remembered and audited when the round ends."""
        self._round.refuse(record_hash, code, reason)

    def _judge_quarantined(self, w: Writer) -> None:
        """Judge again what was kept in quarantine and may count by now; what does not yet stays there."""
        rows = due(w, self.holes)
        for record, stored in self._judge.batch(rows, self._refuse_wrong):
            if isinstance(record, Seal):
                self.strangers.put(record, stored)
        if not rows:
            return
        self._store(w, [])
        forget_stored(w, STRANGER)
        cuts = cuts_of(w, self.vault.node)
        for name, _ in rows:
            if name not in self.strangers:
                continue
            seal, _ = self.strangers.pop(name)
            if (cut := cuts.get(seal.signer)) is not None:
                let_go(w, name, *why_late(seal, label_of(self.vault, seal.signer.text), cut))

    def gather(self, watch: Watch) -> None:
        """Take what was proven beside; before the transaction that ends the round, for it may have to be waited for.

        Args:
            watch: tells whether the person asked to stop.
        """
        self._workers.gather(watch)

    def end_waiting(self, w: Writer) -> None:
        """Refuse strangers by name, and forget what nothing reached; nothing is signed, so a restored vault may.

        What was proven beside counts if it was gathered before.
        """
        w.store.keep_sums(self._workers.proven)
        self._workers.proven = {}
        self._judge_quarantined(w)
        refuse_strangers(self.vault, self._round)
        self._round.stash.clear()
        note_mismatches(w, self.vault, self._round)

    def finish(self, w: Writer) -> None:
        """End the round: what waits comes to its end, and refusals are remembered and audited."""
        self.end_waiting(w)
        self._round.told_before = told_before(self.vault, self.refusals)
        remember(w, self.refusals, self.source, self._round.told_before)
        self._round.owes = False
        for seal, stored in self._round.quarantined.values():
            keep(w, seal, stored)
        self._round.quarantined.clear()
        trim(w)
