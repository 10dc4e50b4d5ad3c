"""What a round holds in memory: what waits for evidence, and what was refused (architecture, decision 10)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Self

from lazy.receiving.membership_news import Changed
from lazy.receiving.pile import Pile
from lazy.receiving.refusals import BY_MEMBERSHIP, Refusal
from lazy.receiving.stash import Stash
from vault.late_content import Lacking, lacking, note_late
from vault.records import RecordHash, Seal
from vault.store.store import Store

__all__ = ["Round"]


@dataclass(slots=True)
class Round:
    """What is known of a round so far, besides what it stored.

    Args:
        refusals: what was refused, and why.
        refused: the same by name.
        awaited: what of it comes again once its signer belongs.
        told_before: what of it was refused so before; known at the end.
        asks_again: whether something that was refused is to come again.
        owes: whether something was refused for who belongs, and is not remembered yet.
        strangers: evidence that waits until its signer belongs.
        weighed: what of it was taken from somebody who is no member.
        quarantined: evidence that was refused and is at hand.
        stash: unsigned records that wait for evidence.
        earlier: what rounds before refused; None until somebody asks.
        lacked: what was lacking before the first record was stored since somebody else wrote here.
        others: the store's `data_version` then.
        membership: who came and went by what came.
    """

    refusals: list[Refusal] = field(default_factory=list)
    refused: set[RecordHash] = field(default_factory=set)
    awaited: set[RecordHash] = field(default_factory=set)
    told_before: frozenset[RecordHash] = frozenset()
    asks_again: bool = False
    owes: bool = False
    strangers: Pile[Seal] = field(default_factory=Pile)
    weighed: set[RecordHash] = field(default_factory=set)
    quarantined: Pile[Seal] = field(default_factory=Pile)
    stash: Stash = field(default_factory=Stash)
    earlier: set[RecordHash] | None = None
    lacked: Lacking | None = None
    others: int = 0
    membership: Changed = field(default_factory=Changed)

    def copied(self) -> Self:
        """Return the same round, for a batch that may be undone."""
        return type(self)(**{each.name: copy(getattr(self, each.name)) for each in fields(self)})

    def was_refused(self, store: Store, record: RecordHash) -> bool:
        """Tell whether a record was refused before, in this round or another, for whatever reason."""
        if self.earlier is None:  # read once a round: it is asked for every tree of a listing
            rows = store.rows("SELECT kind, digest FROM refused")
            self.earlier = {RecordHash(str(kind), bytes(digest)) for kind, digest in rows}
        return record in self.refused or record in self.earlier

    def note_late(self, store: Store, names: Sequence[RecordHash]) -> None:
        """Note what of that which is about to be stored comes late."""
        others = store.data_version()
        if self.lacked is None or others != self.others:  # they may have told a friend what is here by now
            self.lacked, self.others = lacking(store), others
        note_late(store, self.lacked, names)

    def refuse(self, record: RecordHash, code: str, reason: str, signer: str = "") -> None:
        """Note a refusal, as `Refusal` has it."""
        self.refusals.append(Refusal(record, code, reason, signer))
        self.refused.add(record)
        self.owes |= code in BY_MEMBERSHIP

    def take_back(self, record: RecordHash) -> None:
        """Forget that a record was refused in this round, now that it came again and is judged anew."""
        self.refused.discard(record)
        self.refusals = [refusal for refusal in self.refusals if refusal.hash != record]

    def reconsider(self) -> None:
        """Let the seals of this round that were refused before somebody stood otherwise be judged anew (decision 4).

        What was kept is at hand; the rest is asked for again in the next pass.
        """
        again = {refusal.hash for refusal in self.refusals if refusal.code in BY_MEMBERSHIP}
        self.refusals = [refusal for refusal in self.refusals if refusal.code not in BY_MEMBERSHIP]
        self.refused -= again
        self.asks_again |= not again <= self.quarantined.keys()
        self.strangers.update(self.quarantined)
        self.quarantined.clear()
