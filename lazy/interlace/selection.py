"""What both operands select of the records here and of the peer's, asked anew each time (INT-6, INT-7, INT-93).

A policy may answer otherwise each time it is asked, for time goes on and records come: nothing of an answer is kept
from one list to the next.
"""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

from lazy.interlace.ads import Fields
from lazy.interlace.ledger import Ledger
from lazy.interlace.limits import Limits
from lazy.interlace.link import LinkConfig
from lazy.interlace.messages import Responses
from lazy.interlace.negotiate import FieldSchema
from lazy.interlace.plan import Evaluation, Executable
from lazy.interlace.port import RecordPort
from vault.records import RecordHash

__all__ = ["Selection"]


class Selection(NamedTuple):
    """The plan at work on the records of one side.

    Args:
        config: this side and its link.
        port: the vault's records.
        executable: what runs the plan here.
    """

    config: LinkConfig
    port: RecordPort
    executable: Executable

    def to_announce(self, snapshot: Evaluation, schema: FieldSchema) -> dict[RecordHash, Fields]:
        """Return the send set, of each record the fields that both sides agreed to tell (INT-91, INT-96)."""
        entries = self.port.effective_send() if self.config.sends else ()
        selected = self._selected(snapshot)
        return {
            record: tuple(field for field in fields if schema.allows(field[0]))
            for record, fields in entries
            if selected is None or record in selected
        }

    def to_request(self, snapshot: Evaluation, ledger: Ledger, most: int) -> tuple[RecordHash, ...]:
        """Return what is asked for now of all that the peer advertises, sorted (INT-6, INT-107..110).

        Args:
            snapshot: what the policy may look at.
            ledger: what was asked for in this round; it learns what is here by now.
            most: hashes in one list.
        """
        wanted = set(self.executable.may_request(snapshot))
        wanted -= ledger.settled(with_deferred=not self.config.retries_deferred)
        wanted.intersection_update(snapshot.advertised)
        if wanted:
            held = self.port.have(wanted)
            ledger.held |= held
            wanted -= held
        if wanted:
            wanted -= self.port.refused(wanted)
        return tuple(sorted(wanted)[:most])

    def to_serve(
        self, snapshot: Evaluation, hashes: tuple[RecordHash, ...], ledger: Ledger, limits: Limits
    ) -> Responses:
        """Answer a request list inside the budget; MaySend and Have are checked now (INT-7, INT-113).

        Args:
            snapshot: what the policy may look at.
            hashes: what the peer asks for.
            ledger: what was sent in this round; it learns what is sent now.
            limits: those in force.
        """
        records: list[tuple[RecordHash, bytes]] = []
        missing: list[RecordHash] = []
        left = limits.max_total_transferred_bytes - ledger.bytes_sent
        budget = self.config.serve_bytes
        selected = self._selected(snapshot) if hashes else None
        for record in hashes:
            allowed = self.config.sends and (selected is None or record in selected) and self.port.may_send(record)
            data = self.port.load(record) if allowed else None
            if data is None:
                missing.append(record)
                continue
            if len(data) > left or (records and len(data) > budget):
                break
            left -= len(data)
            budget -= len(data)
            ledger.bytes_sent += len(data)
            records.append((record, data))
        ledger.has_moved |= bool(records or missing)
        return Responses(tuple(records), tuple(missing))

    def _selected(self, snapshot: Evaluation) -> Set[RecordHash] | None:
        """Return what both operands select of the records here, now; None if that is all (FAC-18, FAC-19)."""
        return self.executable.may_send(snapshot) if self.config.sends else None
