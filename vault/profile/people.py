"""Who belongs: founding, node card, member, request and revocation (docs/formats.md section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from vault.names import check_group_name, check_name
from vault.profile.apps import CARD_APP, FOUNDING_APP, MEMBER_APP, REQUEST_APP, REVOCATION_APP
from vault.profile.errors import ProfileError
from vault.profile.fields import (
    Origin,
    Sealed,
    ascending,
    check_number,
    decimal,
    headers,
    link_pairs,
    links,
    no_body,
    raw,
    required,
    text_bytes,
    text_of,
)
from vault.profile.groups import group_id
from vault.records import Plex, RecordHash, Tai, Verifier, b64a

__all__ = [
    "MAX_KEPT",
    "PROFILE",
    "Founding",
    "Member",
    "NodeCard",
    "Request",
    "Revocation",
]

PROFILE = "0"
_SALT_BYTES = 32
_INVITATION_BYTES = 16
_PROOF_BYTES = 32
_SAME = "same"  # the only value of a member record's `Person`
MAX_KEPT = 400
_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Founding(Sealed):
    """The record that begins a circle. Its `group` is the bare name; `id` is the Group of all others.

    Args:
        salt: 32 random bytes that make the circle unlike any other of its name.
    """

    APP: ClassVar[str] = FOUNDING_APP
    NAME: ClassVar[str] = "founding"

    salt: bytes

    @classmethod
    def to_plex(cls, *, group: str, founder: Verifier, salt: bytes, tai: Tai) -> Plex:
        """Return the Plex that the founder seals.

        Args:
            group: the bare group name.
            founder: the key that will seal it.
            salt: 32 random bytes.
            tai: the clock.

        Raises:
            BadName: the group name is not allowed.
            ProfileError: the salt has another length.
        """
        extras = [("Founder", founder.text), ("Profile", PROFILE), ("Salt", b64a.encode(salt))]
        return cls._checked(Plex.build(group=group, app=cls.APP, name=cls.NAME, tai=tai, extras=extras), founder)

    @property
    def id(self) -> str:
        """The group id: the `Group` of every other shared record of the circle."""
        return group_id(self.group, self.plex_digest)

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        found = headers(plex, "Founder", "Profile", "Salt")
        if plex.name != cls.NAME:
            raise ProfileError(f"its Name is not {cls.NAME}")
        if required(found, "Profile") != PROFILE:
            raise ProfileError(f"its Profile {found['Profile']!r} is not {PROFILE}, the one this lace knows")
        if Verifier.parse(required(found, "Founder")) != origin[2]:
            raise ProfileError("its Founder is not its signer")
        no_body(plex)
        return cls(*origin, salt=b64a.decode(required(found, "Salt")))

    def _check_group(self) -> None:
        check_group_name(self.group)

    def _check(self) -> None:
        if len(self.salt) != _SALT_BYTES:
            raise ProfileError(f"its Salt stands for {len(self.salt)} bytes and not {_SALT_BYTES}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCard(Sealed):
    """How a node calls itself.

    Args:
        label: the person's name.
        machine: the device, or None.
    """

    APP: ClassVar[str] = CARD_APP

    label: str
    machine: str | None = None

    @classmethod
    def to_plex(cls, *, group: str, node: Verifier, label: str, machine: str | None = None, tai: Tai) -> Plex:
        """Return the Plex that `node` seals.

        Raises:
            BadName: the label is not a name.
            RecordError: the machine's text cannot stand in a header.
        """
        extras = [("Label", label), *([("Machine", machine)] if machine else [])]
        return cls._checked(Plex.build(group=group, app=cls.APP, name=node.text, tai=tai, extras=extras), node)

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        found = headers(plex, "Label", "Machine")
        _named_by_signer(origin, plex)
        no_body(plex)
        return cls(*origin, label=required(found, "Label"), machine=found.get("Machine"))

    def _check(self) -> None:
        check_name(self.label, "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member(Sealed):
    """The signer admits a node.

    Args:
        node: who is admitted.
        label: the name under which the signer knows it.
        invitation: id of the invitation that was used, as 22 B64A characters, or None.
        same_person: whether the signer says that the node is its own next one or another device of its owner.
    """

    APP: ClassVar[str] = MEMBER_APP

    node: Verifier
    label: str
    invitation: str | None = None
    same_person: bool = False

    @classmethod
    def to_plex(
        cls,
        *,
        group: str,
        node: Verifier,
        label: str,
        invitation: str | None = None,
        same_person: bool = False,
        tai: Tai,
    ) -> Plex:
        """Return the Plex that the admitting member seals.

        Raises:
            BadName: the label is not a name.
            ProfileError: the invitation's id is malformed.
        """
        extras = [*([("Invitation", invitation)] if invitation else []), ("Label", label)]
        extras += [("Person", _SAME)] if same_person else []
        return cls._checked(Plex.build(group=group, app=cls.APP, name=node.text, tai=tai, extras=extras))

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        found = headers(plex, "Invitation", "Label", "Person")
        no_body(plex)
        if found.get("Person", _SAME) != _SAME:
            raise ProfileError(f"its Person is not {_SAME}")
        return cls(
            *origin,
            node=Verifier.parse(plex.name),
            label=required(found, "Label"),
            invitation=found.get("Invitation"),
            same_person="Person" in found,
        )

    def _check(self) -> None:
        check_name(self.label, "label")
        if self.invitation is not None:
            raw(self.invitation, _INVITATION_BYTES, "Invitation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Sealed):
    """A node that is no member yet asks to be admitted.

    Args:
        label: the name it asks for.
        invitation: id of the invitation, as 22 B64A characters.
        proof: 32 bytes that only who knows the invitation's secret can make.
    """

    APP: ClassVar[str] = REQUEST_APP

    label: str
    invitation: str
    proof: bytes

    @classmethod
    def to_plex(cls, *, group: str, node: Verifier, label: str, invitation: str, proof: bytes, tai: Tai) -> Plex:
        """Return the Plex that the requesting node seals.

        Raises:
            BadName: the label is not a name.
            ProfileError: the invitation's id or the proof is malformed.
        """
        extras = [("Invitation", invitation), ("Label", label), ("Proof", b64a.encode(proof))]
        return cls._checked(Plex.build(group=group, app=cls.APP, name=node.text, tai=tai, extras=extras), node)

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        found = headers(plex, "Invitation", "Label", "Proof")
        _named_by_signer(origin, plex)
        no_body(plex)
        return cls(
            *origin,
            label=required(found, "Label"),
            invitation=required(found, "Invitation"),
            proof=b64a.decode(required(found, "Proof")),
        )

    def _check(self) -> None:
        check_name(self.label, "label")
        raw(self.invitation, _INVITATION_BYTES, "Invitation")
        if len(self.proof) != _PROOF_BYTES:
            raise ProfileError(f"its Proof stands for {len(self.proof)} bytes and not {_PROOF_BYTES}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation(Sealed):
    """The signer says that a node's log counts no further (architecture, Belonging).

    Args:
        node: who is revoked.
        last_seq: Seq of the last log entry that counts; 0 when none does. Of a node that revokes itself the entry
            that shares the revocation counts too.
        digest: Plex digest of that entry, 32 bytes; empty when `last_seq` is 0.
        kept: admissions by the node that no log entry within the cut shares and that count all the same, sorted.
        reason: what the signer wrote.
    """

    APP: ClassVar[str] = REVOCATION_APP

    node: Verifier
    last_seq: int
    digest: bytes
    kept: tuple[RecordHash, ...] = ()
    reason: str = ""

    @classmethod
    def to_plex(
        cls,
        *,
        group: str,
        node: Verifier,
        last_seq: int,
        digest: bytes,
        kept: Sequence[RecordHash] = (),
        reason: str = "",
        tai: Tai,
    ) -> Plex:
        """Return the Plex that the revoking member seals.

        Raises:
            ProfileError: Seq and digest do not fit each other, or too much is kept.
        """
        extras = [
            *link_pairs("keep", sorted(kept)),
            *([("Last-Digest", b64a.encode(digest))] if digest else []),
            ("Last-Seq", str(last_seq)),
        ]
        data = text_bytes(reason)
        return cls._checked(Plex.build(group=group, app=cls.APP, name=node.text, tai=tai, extras=extras, data=data))

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        found = headers(plex, "Last-Digest", "Last-Seq")
        (kept,) = links(plex, ("keep", "S"))
        digest = found.get("Last-Digest")
        return cls(
            *origin,
            node=Verifier.parse(plex.name),
            last_seq=decimal(required(found, "Last-Seq"), "Last-Seq"),
            digest=b"" if digest is None else raw(digest, _DIGEST_BYTES, "Last-Digest"),
            kept=tuple(kept),
            reason=text_of(plex),
        )

    def _check(self) -> None:
        check_number(self.last_seq, "Last-Seq", least=0)
        if len(self.digest) != (_DIGEST_BYTES if self.last_seq else 0):
            raise ProfileError("it names a Last-Digest exactly when its Last-Seq is not 0")
        ascending(self.kept, "keep")
        if len(self.kept) > MAX_KEPT:
            raise ProfileError(f"it keeps {len(self.kept)} admissions, and at most {MAX_KEPT} are allowed")


def _named_by_signer(origin: Origin, plex: Plex) -> None:
    if Verifier.parse(plex.name) != origin[2]:
        raise ProfileError("its Name is not the verifier of its signer")
