"""Who belongs: one pure function over records (architecture, "Belonging").

*Admission.* Ever-members are the founder and whoever an ever-member admitted. A node's depth is the length
of the shortest chain of admissions from the founder, who has depth 0. Of several admissions that give that
depth the one with the smallest (admitting key, record hash) counts as `admitted_by`: nothing is decided by a
clock.

*Cuts.* A revocation names the last entry of a node's log that still counts. A node may cut itself and the
nodes admitted below it, that is those whose chain of `admitted_by` leads to it. Revocations apply in the
order of (the signer's depth, Lamport, signer), each skipping what an earlier one already cut: a revocation
that its signer shared after its own cut is void, and a node that is cut stays cut where it was cut first. A
revocation by somebody who is not above the node has no effect and is `pending` until a node above agrees. A
cut node is no member any more; whom it had admitted stay.

The answer depends on the set of records alone, never on their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vault.profile import Founding, Member
from vault.records import RecordHash, Verifier

__all__ = ["Admission", "Cut", "Membership", "Revocation", "members_of"]


@dataclass(frozen=True, slots=True, order=True)
class Revocation:
    """A member says that a node's log counts no further. It has no record format yet; one comes with grants.

    Args:
        target: whose log is cut.
        last_seq: the last Seq that counts; 0 when nothing does.
        digest: Plex digest of that log entry; empty when `last_seq` is 0.
        signer: who says so.
        seq: Seq of the entry of the signer's own log that shares the revocation.
        lamport: Lamport of that entry.
    """

    target: Verifier
    last_seq: int
    digest: bytes
    signer: Verifier
    seq: int
    lamport: int


class Cut(NamedTuple):
    """Where a node's log ends for its friends: the last Seq that counts and that entry's Plex digest."""

    seq: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Admission:
    """One ever-member.

    Args:
        node: the node's key.
        depth: admissions between it and the founder; 0 for the founder.
        admitted_by: who admitted it; None for the founder.
        label: the name in the admission; empty for the founder, whose name is in its node card.
        record: hash of the record that admitted it; the founding record for the founder.
    """

    node: Verifier
    depth: int
    admitted_by: Verifier | None
    label: str
    record: RecordHash


@dataclass(frozen=True, slots=True)
class Membership:
    """The answer of `members_of`.

    Args:
        all: every ever-member, sorted by depth, then key.
        cuts: the nodes that were revoked.
        pending: revocations that wait for a node above their target, sorted.
    """

    all: tuple[Admission, ...]
    cuts: Mapping[Verifier, Cut] = field(default_factory=dict)
    pending: tuple[Revocation, ...] = ()
    _by_node: Mapping[Verifier, Admission] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_node", {admission.node: admission for admission in self.all})

    @property
    def current(self) -> tuple[Admission, ...]:
        """The members of today: ever-members that nobody cut."""
        return tuple(admission for admission in self.all if admission.node not in self.cuts)

    def is_member(self, node: Verifier) -> bool:
        """Return whether the node belongs and was not cut."""
        return node in self._by_node and node not in self.cuts

    def was_member(self, node: Verifier) -> bool:
        """Return whether the node belongs or ever belonged."""
        return node in self._by_node

    def cut(self, node: Verifier) -> Cut | None:
        """Return where the node was cut, or None."""
        return self.cuts.get(node)

    def accepts(self, node: Verifier, seq: int) -> bool:
        """Return whether log entry `seq` of a node counts: it ever belonged, and was not cut before that."""
        if node not in self._by_node:
            return False
        cut = self.cuts.get(node)
        return cut is None or seq <= cut.seq

    def label(self, node: Verifier) -> str | None:
        """Return the name in the node's admission (empty for the founder), or None for a stranger."""
        admission = self._by_node.get(node)
        return None if admission is None else admission.label

    def depth(self, node: Verifier) -> int | None:
        """Return the admissions between the node and the founder, or None for a stranger."""
        admission = self._by_node.get(node)
        return None if admission is None else admission.depth

    def is_above(self, upper: Verifier, lower: Verifier) -> bool:
        """Return whether `upper` is `lower`, or `lower` was admitted below it."""
        node: Verifier | None = lower
        while node is not None:
            if node == upper:
                return upper in self._by_node
            admission = self._by_node.get(node)
            node = None if admission is None else admission.admitted_by
        return False


def members_of(founding: Founding, members: Iterable[Member], revocations: Iterable[Revocation] = ()) -> Membership:
    """Return who belongs.

    Args:
        founding: the circle's founding record.
        members: every member record that counts, in any order; those of another group are ignored.
        revocations: every revocation that counts, in any order; those by or of strangers have no effect.
    """
    admitted = Membership(_admit(founding, members))
    cuts: dict[Verifier, Cut] = {}
    pending = []
    known = [r for r in set(revocations) if admitted.was_member(r.signer) and admitted.was_member(r.target)]
    # The target, last_seq and digest at the end only make the order total.
    for revocation in sorted(known, key=lambda r: (admitted.depth(r.signer), r.lamport, r.signer, r)):
        own = cuts.get(revocation.signer)
        if own is not None and revocation.seq > own.seq:
            continue
        if not admitted.is_above(revocation.signer, revocation.target):
            pending.append(revocation)
        elif revocation.target not in cuts:
            cuts[revocation.target] = Cut(revocation.last_seq, revocation.digest)
    waiting = sorted(r for r in pending if r.target not in cuts)
    return Membership(admitted.all, cuts, tuple(waiting))


def _admit(founding: Founding, members: Iterable[Member]) -> tuple[Admission, ...]:
    """Walk the admissions from the founder outwards, one depth at a time."""
    group = founding.id
    by_signer: dict[Verifier, list[Member]] = {}
    for member in members:
        if member.group == group:
            by_signer.setdefault(member.signer, []).append(member)
    level = [Admission(founding.signer, 0, None, "", founding.hash)]
    found = {founding.signer}
    ordered = []
    while level:
        level.sort(key=lambda admission: admission.node)
        ordered += level
        following = []
        # Sorted by key above and by hash here, so the first admission seen is the one that counts.
        for upper in level:
            for member in sorted(by_signer.get(upper.node, ()), key=lambda m: m.hash):
                if member.node not in found:
                    found.add(member.node)
                    following.append(Admission(member.node, upper.depth + 1, upper.node, member.label, member.hash))
        level = following
    return tuple(ordered)
