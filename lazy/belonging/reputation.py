"""What speaks against a peer, as evidence that a person can read: no score, and no decision reads it (LAZ-73).

Refused records, broken mailboxes and states that went back are noted in the sealed audit trail when they are met;
forks and conflicts follow from the records. Each names what can be looked at. Whoever has a medium in their hands can
put an older copy of it back, or write rubbish over a mailbox, and no signature tells who did: that is noted of the
place, and speaks against nobody. Against an owner speaks what their key sealed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from lazy.belonging.forks import forks
from lazy.conflicts import conflicts
from lazy.contested import Conflict
from lazy.people import NoSuchPeer, former, linked, node_of
from vault.nodelog import ForkProof
from vault.notes.people import EVIDENCE
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.receiving.receive import Receiver
    from lazy.results import PlaceResult

__all__ = ["Evidence", "EvidenceKind", "Reputation", "counts", "note_evidence", "note_turned_away", "reputation"]

_VERB = "lace-evidence"
_OF_THE_MEDIUM = frozenset(
    {"stranger", "sealed-to-others", "closed-to-you", "not-available", "forked", "refused-there"}
)
_KNOCKED = "knocked"
_ROLLED_BACK, _TWO_STATES = "rolled-back", "two-states"
_SET_BACK = "what lies there is older than what lay there before: the medium was set back"
# What is wrong with a mailbox as its owner sealed it; the machine looks at nothing but what a sealed head says.
_SEALED = frozenset({_TWO_STATES, "other-founding", "false-snapshot", "false-index-run"})
_OF_THE_MACHINE = "interlace-"
_LIMIT = 200  # told of one visit; a hostile mailbox may hold a million bad records


class EvidenceKind(StrEnum):
    """What was met."""

    REFUSED = "refused"
    ROLLBACK = "rollback"
    BROKEN = "broken"


class Evidence(NamedTuple):
    """One thing that was met.

    Args:
        kind: what it is.
        place: where it was met.
        code: of the rule that was broken.
        record: hash text of the refused record; empty where it is not about one record.
        reason: a sentence.
        when: ISO 8601 UTC, for display.
    """

    kind: EvidenceKind
    place: str
    code: str
    record: str
    reason: str
    when: str


class _Met(NamedTuple):
    """What a visit met, before it is noted: of a node or a place (`subject`); the rest as of `Evidence`."""

    subject: str
    kind: EvidenceKind
    place: str
    code: str
    record: str
    reason: str

    @property
    def about(self) -> tuple[str, ...]:
        """What tells one from another: all but the sentence."""
        return self[:-1]


class Reputation(NamedTuple):
    """What speaks against one peer, under any of its keys; what it carried for others need not be its own doing.

    Args:
        node: verifier text.
        nodes: all nodes of that person that are known, sorted.
        noted: refusals, broken mailboxes and rollbacks, oldest first.
        forks: proofs that its log forked.
        conflicts: version conflicts of which it has a side, settled ones included: no fault in itself.
    """

    node: str
    nodes: tuple[str, ...]
    noted: tuple[Evidence, ...]
    forks: tuple[ForkProof, ...]
    conflicts: tuple[Conflict, ...]


def reputation(vault: Vault, node: str) -> Reputation:
    """Return what is known of a node, from stored state only.

    Raises:
        RecordError: a stored record is damaged.
    """
    with vault.store.reading():
        nodes = linked(vault, node)
        return Reputation(
            node,
            tuple(sorted(nodes)),
            tuple(item for who, item in _noted(vault) if who in nodes),
            tuple(proof for one in sorted(nodes) for proof in forks(vault, one)),
            tuple(
                conflict
                for conflict in conflicts(vault, include_settled=True)
                if conflict.version is not None and any(side.node in nodes for side in conflict.sides)
            ),
        )


def counts(vault: Vault) -> Counter[str]:
    """Return how much was noted of each node, forks included; asked at every status, and so counted when noted."""
    found = Counter[str]()
    for node, number in vault.store.note(EVIDENCE):
        found[node] += number
    found.update(str(row[0]) for row in vault.store.rows("SELECT node FROM vector WHERE forked"))
    return found


def note_evidence(vault: Vault, receiver: Receiver, result: PlaceResult) -> None:
    """Note what a visit met; what was noted before of the same thing is not noted again."""
    met = {entry.about: entry for entry in _met(vault, receiver, result)}
    if not met:
        return
    known = {(who, item.kind, item.place, item.code, item.record) for who, item in _noted(vault)}
    fresh = [entry for about, entry in met.items() if about not in known][:_LIMIT]
    if not fresh:
        return
    _note(vault, fresh)


def note_turned_away(vault: Vault, node: str, place: str) -> str:
    """Note that a node which proved its key was not answered, once for each node; return what is noted.

    Strangers cost nothing to make: after so many of them no new one is noted.

    Raises:
        Locked, MayNotSign, ...: as `Vault.writing`.
    """
    gone = former(vault, node)
    code = "revoked" if gone is not None else _KNOCKED
    reason = (
        f"{gone.name} was revoked and came to be answered all the same"
        if gone is not None
        else "a stranger who knows this address and the group's name came to be answered"
    )
    known = [(who, item.code) for who, item in _noted(vault)]
    is_crowd = code == _KNOCKED and sum(told == _KNOCKED for _, told in known) >= _LIMIT
    if (node, code) not in known and not is_crowd:
        _note(vault, [_Met(node, EvidenceKind.REFUSED, place, code, "", reason)])
    return reason


def _note(vault: Vault, fresh: Iterable[_Met]) -> None:
    with vault.writing() as w:
        for one in fresh:
            parameters = {"kind": one.kind.value, "place": one.place, "code": one.code}
            related = (one.record,) if one.record else ()
            w.audit(_VERB, one.subject, parameters, motivation=one.reason, relates_to=related)
        w.flush()  # the entries are among those counted
        numbers = Counter(who for who, item in _noted(vault) if who != item.place)
        w.store.set_note(EVIDENCE, tuple(sorted(numbers.items())))


def _is_medium(kind: str) -> bool:
    from transports.address import AddressKind  # a status counts what is noted, and visits nobody

    return kind in {AddressKind.DROP, AddressKind.GIT, AddressKind.HTTP}


def _is_sealed(code: str) -> bool:
    return code in _SEALED or code.startswith(_OF_THE_MACHINE)


def _met(vault: Vault, receiver: Receiver, result: PlaceResult) -> Iterator[_Met]:
    # Who sealed it said it; friends only pass it on. What has no seal that is right is whoever's who listed it.
    signers = {refusal.hash: refusal.signer for refusal in receiver.refusals if refusal.signer}
    for exchange in result.came.exchanges:
        for record, code, reason in exchange.rejected:
            if code != "stranger":  # nobody's fault: trust may still come
                who = signers.get(record, exchange.peer_verifier)
                yield _Met(who, EvidenceKind.REFUSED, result.name, code, record.text, reason)
    if not result.came.exchanges and (node := _node(vault, result.name)):  # a peer that came to us
        for refusal in receiver.refusals:
            if refusal.code != "stranger":
                who = refusal.signer or node
                yield _Met(who, EvidenceKind.REFUSED, result.name, refusal.code, refusal.hash.text, refusal.reason)
    for problem in result.problems:
        if not problem.peer or problem.code in _OF_THE_MEDIUM:
            continue
        kind = EvidenceKind.ROLLBACK if problem.code in {_ROLLED_BACK, _TWO_STATES} else EvidenceKind.BROKEN
        if _is_medium(result.kind) and not _is_sealed(problem.code):
            reason = _SET_BACK if problem.code == _ROLLED_BACK else problem.message
            yield _Met(result.name, kind, result.name, problem.code, "", reason)
        elif node := _node(vault, problem.peer):
            yield _Met(node, kind, result.name, problem.code, "", problem.message)


def _node(vault: Vault, name: str) -> str:
    try:
        return node_of(vault, name)
    except NoSuchPeer:
        return ""


def _noted(vault: Vault) -> Iterator[tuple[str, Evidence]]:
    from vault.audit.entries import read_audit  # most visits meet nothing that is noted
    from vault.audit.trail import entries_of

    for seal in entries_of(vault, _VERB):
        entry = read_audit(seal)
        told = dict(entry.parameters)
        record = entry.relates_to[0] if entry.relates_to else ""
        yield (
            entry.object,
            Evidence(
                EvidenceKind(told["kind"]), told["place"], told["code"], record, entry.motivation, entry.timestamp
            ),
        )
