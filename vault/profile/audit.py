"""A node's private chain: audit entries never leave the vault."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from vault.profile.apps import AUDIT_APP
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
    required,
)
from vault.profile.groups import private_group
from vault.records import Plex, RecordHash, Tai, Verifier

__all__ = ["AuditRecord"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord(Sealed):
    """The headers of one step of the private audit chain; `vault.audit.entries` reads the body (CYB-9).

    Args:
        number: from 1 on, without gaps.
        verb: what was done.
        parent: Seal of the entry before; None for number 1 only.
        body: one S-expression (docs/formats.md section 6).
    """

    APP: ClassVar[str] = AUDIT_APP

    number: int
    verb: str
    parent: RecordHash | None
    body: bytes = field(repr=False)

    @classmethod
    def to_plex(
        cls, *, node: Verifier, number: int, verb: str, parent: RecordHash | None, body: bytes, tai: Tai
    ) -> Plex:
        """Return the Plex that `node` seals; its Group is the node's private one.

        Raises:
            ProfileError: number and parent do not fit each other.
        """
        extras = [*link_pairs("parent", [parent]), ("Verb", verb)]
        plex = Plex.build(group=private_group(node), app=cls.APP, name=str(number), tai=tai, extras=extras, data=body)
        return cls._checked(plex, node)

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        (parents,) = links(plex, ("parent", "S"))
        return cls(
            *origin,
            number=decimal(plex.name, "number"),
            verb=required(headers(plex, "Verb"), "Verb"),
            parent=at_most_one(parents, "parent"),
            body=plex.blob.data,
        )

    def _check_group(self) -> None:
        if self.group != private_group(self.signer):
            raise ProfileError("its Group is not the private group of its signer")

    def _check(self) -> None:
        check_number(self.number, "number")
        if (self.parent is None) != (self.number == 1):
            raise ProfileError("only number 1 has no link parent, and every other has one")
