"""Who belongs: one pure function over records (architecture, "Belonging").

*Admission.* Ever-members are the founder and whoever an ever-member admitted. A node's depth is the length
of the shortest chain of admissions from the founder, who has depth 0. Of several admissions that give that
depth the one with the smallest (admitting key, record hash) counts as `admitted_by`: nothing is decided by a
clock.

*Cuts.* A revocation names the last entry of a node's log that still counts. A node may cut itself and the
nodes admitted below it, that is those whose chain of `admitted_by` leads to it. Revocations apply in the
order of the signer's depth, each skipping what an earlier one already cut: a revocation that its signer shared
after its own cut is void, and of several by one signer the lowest cut holds, so that who named an entry that
nobody has, or one that a thief sealed already, can say a lower one. Of a node that cuts itself the entry that
says so is the last that counts, else nobody could learn of it from others.
A revocation by somebody who is not above the node has no effect and is `pending` until a node above agrees.

A cut node is no member any more; whom it had admitted stay. Whom it admits after its cut never belonged: such an
admission counts only if a log entry within the cut shares it, or the revocation keeps it.

Who is above a node has a smaller depth, so the cuts of one depth are known before its admissions are followed. The
answer depends on the set of records alone, never on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from vault.records import RecordHash, Verifier

if TYPE_CHECKING:
    from vault.profile import Founding, Member

__all__ = ["Admission", "Cut", "Membership", "Revocation", "Shares", "members_of"]


@dataclass(frozen=True, slots=True, order=True)
class Revocation:
    """A member says that a node's log counts no further: a revocation record and the entry that shares it.

    Args:
        target: whose log is cut.
        last_seq: the last Seq that counts; 0 when nothing does.
        digest: Plex digest of that log entry; empty when `last_seq` is 0.
        signer: who says so.
        seq: Seq of the entry of the signer's own log that shares the revocation.
        lamport: Lamport of that entry.
        entry: Plex digest of that entry.
        record: hash of the revocation record.
        kept: admissions by the target that count though no entry within the cut shares them.
    """

    target: Verifier
    last_seq: int
    digest: bytes
    signer: Verifier
    seq: int
    lamport: int
    entry: bytes = b""
    record: RecordHash | None = field(default=None, compare=False)
    kept: tuple[RecordHash, ...] = ()


class Cut(NamedTuple):
    """Where a node's log ends for its friends: the last Seq that counts and that entry's Plex digest."""

    seq: int
    digest: bytes


Shares = Callable[[Verifier, RecordHash, Cut], bool]
"""Tells whether an entry of a node's log within a cut shares a record."""


class Admission(NamedTuple):
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
        all: every ever-member, sorted by depth, then key; those without a cut are the members of today.
        cuts: the nodes that were revoked.
        applied: the revocation that cut each of them.
        pending: revocations that wait for a node above their target, sorted.
    """

    all: tuple[Admission, ...]
    cuts: Mapping[Verifier, Cut] = field(default_factory=dict)
    pending: tuple[Revocation, ...] = ()
    applied: Mapping[Verifier, Revocation] = field(default_factory=dict)
    _by_node: Mapping[Verifier, Admission] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_node", {admission.node: admission for admission in self.all})

    def is_above(self, upper: Verifier, lower: Verifier) -> bool:
        """Return whether `upper` is `lower`, or `lower` was admitted below it."""
        node: Verifier | None = lower
        while node is not None:
            if node == upper:
                return upper in self._by_node
            admission = self._by_node.get(node)
            node = None if admission is None else admission.admitted_by
        return False


def members_of(
    founding: Founding,
    members: Iterable[Member],
    revocations: Iterable[Revocation] = (),
    shares: Shares | None = None,
) -> Membership:
    """Return who belongs.

    Args:
        founding: the circle's founding record.
        members: every member record that is known, in any order; those of another group are ignored.
        revocations: every revocation that is shared, in any order; those by or of strangers have no effect.
        shares: asked of nodes that were cut; without it, of them no admission counts but those that are kept.
    """
    walk = _Walk(founding, members, revocations, shares)
    walk.run()
    nodes = {admission.node for admission in walk.ordered}
    found = Membership(tuple(walk.ordered), walk.cuts, (), walk.applied)
    waiting = sorted(
        r
        for r in walk.revocations
        if r.signer in nodes
        and r.target in nodes - walk.cuts.keys()
        and not walk.is_void(r)
        and not found.is_above(r.signer, r.target)
    )
    return Membership(found.all, found.cuts, tuple(waiting), found.applied)


class _Walk:
    """One walk from the founder outwards, a depth at a time: first the cuts of a depth, then whom it admits."""

    def __init__(
        self,
        founding: Founding,
        members: Iterable[Member],
        revocations: Iterable[Revocation],
        shares: Shares | None,
    ) -> None:
        self._shares = shares
        self._by_signer: dict[Verifier, list[Member]] = {}
        for member in members:
            if member.group == founding.id:
                self._by_signer.setdefault(member.signer, []).append(member)
        self.revocations = set(revocations)
        self._by_target: dict[Verifier, list[Revocation]] = {}
        for revocation in self.revocations:
            self._by_target.setdefault(revocation.target, []).append(revocation)
        self._founder = Admission(founding.signer, 0, None, "", founding.hash)
        self._found: dict[Verifier, Admission] = {founding.signer: self._founder}
        self.ordered: list[Admission] = []
        self.cuts: dict[Verifier, Cut] = {}
        self.applied: dict[Verifier, Revocation] = {}

    def run(self) -> None:
        level = [self._founder]
        while level:
            level.sort(key=lambda admission: admission.node)
            self.ordered += level
            for admission in level:
                self._cut(admission.node)
            level = self._next(level)

    def _cut(self, node: Verifier) -> None:
        above = self._above(node)
        mine = [r for r in self._by_target.get(node, ()) if r.signer in above]
        valid = [r for r in mine if not self.is_void(r)]
        if valid:  # of those above a node each stands in another depth; Lamport and the rest make the order total
            first = min(valid, key=lambda r: (self._found[r.signer].depth, _cut_by(r).seq, r.lamport, r))
            self.cuts[node] = _cut_by(first)
            self.applied[node] = first

    def _above(self, node: Verifier) -> set[Verifier]:
        chain: set[Verifier] = set()
        upper: Verifier | None = node
        while upper is not None:
            chain.add(upper)
            upper = self._found[upper].admitted_by
        return chain

    def is_void(self, revocation: Revocation) -> bool:
        """Tell whether its signer shared it after its own cut."""
        own = self.cuts.get(revocation.signer)
        if own is None or self.applied[revocation.signer] == revocation:
            return False
        if revocation.seq > own.seq:
            return True
        if self._shares is None or revocation.record is None:
            return False
        return not self._shares(revocation.signer, revocation.record, own)

    def _next(self, level: Iterable[Admission]) -> list[Admission]:
        following = []
        # Sorted by key before and by hash here, so the first admission seen is the one that counts.
        for upper in level:
            for member in sorted(self._by_signer.get(upper.node, ()), key=lambda m: m.hash):
                if member.node not in self._found and self._counts(member):
                    admission = Admission(member.node, upper.depth + 1, upper.node, member.label, member.hash)
                    self._found[member.node] = admission
                    following.append(admission)
        return following

    def _counts(self, member: Member) -> bool:
        cut = self.cuts.get(member.signer)
        if cut is None or member.hash in self.applied[member.signer].kept:
            return True
        return self._shares is not None and self._shares(member.signer, member.hash, cut)


def _cut_by(revocation: Revocation) -> Cut:
    """Return where a revocation cuts."""
    if revocation.signer == revocation.target:
        return Cut(revocation.seq, revocation.entry)
    return Cut(revocation.last_seq, revocation.digest)
