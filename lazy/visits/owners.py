"""Whose a mailbox is, and whether what lies in it may count (LAZ-71, CYB-18)."""

from __future__ import annotations

from collections.abc import Sequence

from lazy.arrivals import ExchangeResult
from lazy.people import former, is_member, label_of
from lazy.problems import DAMAGE, Problem
from transports.reading import SeenHead
from vault.errors import PeerError
from vault.records import RecordHash, Verifier
from vault.vault import Vault

__all__ = ["OtherGroupHead", "StrangersMailbox", "check_owner", "gathered", "is_strange", "told_of"]


class StrangersMailbox(PeerError):
    """A mailbox of somebody who is not a member (LAZ-71): only what says who belongs was looked at.

    Attributes:
        exchange: what was stored of it all the same: what members sealed; None when nothing was.
    """

    code = "stranger"
    exit_code = 31
    hint = "See who asks to join with: lace requests; admit somebody you know with: lace admit NAME"

    def __init__(self, exchange: ExchangeResult | None = None) -> None:
        super().__init__("This mailbox is of somebody who is not a member yet; what lies there is read once they are.")
        self.exchange = exchange


class OtherGroupHead(PeerError):
    """A snapshot head that names another founding record."""

    code = "other-founding"
    exit_code = 32
    hint = "Its owner has another group of the same name; ask them which one they mean."


def check_owner(vault: Vault, node: Verifier, head: SeenHead) -> bool:
    """Check whose head it is; tell whether the owner is proven to be a member, or myself.

    Raises:
        OtherGroupHead: it is of another group.
    """
    founding = vault.founding
    if founding is None:
        return False  # invited and not settled: evidence decides, whoever carries it
    if head.head.founding.text != founding:
        raise OtherGroupHead(f"The mailbox of {label_of(vault, node.text)} belongs to another founding.")
    # Revoked: what it lists of itself within its cut, and of others, is judged record by record.
    return node == vault.node or is_member(vault, node.text)


def is_strange(vault: Vault, node: Verifier) -> bool:
    """Tell whether a node never belonged, as far as is known here."""
    if vault.founding is None or node == vault.node or is_member(vault, node.text):
        return False
    return former(vault, node.text) is None


def gathered(vault: Vault, nodes: Sequence[Verifier], problems: Sequence[Problem]) -> list[Problem]:
    """Return problems, each once; that mailboxes of nobody known here are damaged as one, which needs no person.

    Anybody may put directories beside the mailboxes of a stick, or refs into a repository, and nobody mends those. Who
    asked to be let in is known.

    Args:
        vault: who visits.
        nodes: whose mailboxes lie there.
        problems: of the visit.
    """
    damaged = {one.peer for one in problems if one.peer and one.code in DAMAGE}
    asked = {str(node) for (node,) in vault.store.rows("SELECT node FROM request")} if damaged else set()
    strange = [
        name
        for node in (nodes if damaged else ())
        if node.text not in asked and (name := label_of(vault, node.text)) in damaged and is_strange(vault, node)
    ]
    names = set(strange)
    found = [one for one in dict.fromkeys(problems) if one.peer not in names or one.code not in DAMAGE]
    if strange:
        what = "1 mailbox there is" if len(strange) == 1 else f"{len(strange)} mailboxes there are"
        found.append(Problem("stranger", f"{what} damaged, and of nobody known here."))
    return found


def told_of(vault: Vault, node: Verifier, received: Sequence[RecordHash]) -> ExchangeResult | None:
    """Return what came from a mailbox that stays a stranger's; None where nothing did."""
    from lazy.interlace.reasons import CloseReason  # a stranger is rare, and it loads the machine

    if not received:
        return None
    return ExchangeResult(
        peer=label_of(vault, node.text),
        peer_verifier=node.text,
        link_id=None,
        plan_id=None,
        advertised=len(received),
        received=received,
        rejected=(),
        not_available=(),
        fixed_point=True,
        rounds=1,
        closed_by=CloseReason.FIXED_POINT.value,
        cursor_updated=False,
    )
