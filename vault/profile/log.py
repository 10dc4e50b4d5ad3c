"""A node's own log: each entry shares records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from vault.profile.apps import LOG_APP
from vault.profile.errors import ProfileError
from vault.profile.fields import (
    Origin,
    Sealed,
    at_most_one,
    check_number,
    decimal,
    headers,
    link_pairs,
    links,
    no_body,
    required,
)
from vault.records import Plex, RecordHash, Tai

__all__ = ["MAX_ENTRIES", "LogEntry"]

MAX_ENTRIES = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry(Sealed):
    """One step of a node's log: what it shares next.

    Args:
        seq: from 1 on, without gaps.
        lamport: the Lamport counter of this step (LAZ-14).
        prev: Seal of the entry before; None for Seq 1 only.
        entries: Seals shared by it, 1 to 400, in the order shared.
    """

    APP: ClassVar[str] = LOG_APP

    seq: int
    lamport: int
    prev: RecordHash | None
    entries: tuple[RecordHash, ...]

    @classmethod
    def to_plex(
        cls,
        *,
        group: str,
        seq: int,
        lamport: int,
        prev: RecordHash | None,
        entries: Sequence[RecordHash],
        tai: Tai,
    ) -> Plex:
        """Return the Plex to seal.

        Raises:
            ProfileError: a number is out of range, `prev` does not fit Seq, or the entries are too few or
                too many.
        """
        extras = link_pairs("prev", [prev]) + link_pairs("entry", entries)
        extras += [("Lamport", str(lamport)), ("Seq", str(seq))]
        return cls._checked(Plex.build(group=group, app=cls.APP, name=str(seq), tai=tai, extras=extras))

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        found = headers(plex, "Lamport", "Seq")
        if required(found, "Seq") != plex.name:
            raise ProfileError(f"its Seq {found['Seq']!r} is not its Name {plex.name!r}")
        prevs, entries = links(plex, ("prev", "S"), ("entry", "S"))
        no_body(plex)
        return cls(
            *origin,
            seq=decimal(plex.name, "Seq"),
            lamport=decimal(required(found, "Lamport"), "Lamport"),
            prev=at_most_one(prevs, "prev"),
            entries=tuple(entries),
        )

    def _check(self) -> None:
        check_number(self.seq, "Seq")
        check_number(self.lamport, "Lamport", least=0)
        if (self.prev is None) != (self.seq == 1):
            raise ProfileError("only Seq 1 has no link prev, and every other has one")
        if not 1 <= len(self.entries) <= MAX_ENTRIES:
            raise ProfileError(f"it shares {len(self.entries)} records, and 1 to {MAX_ENTRIES} are allowed")
