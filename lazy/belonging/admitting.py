"""The door of a group, from inside: who asks to belong, who is let in by their invitation, and whom a member lets in.

Nobody is trusted on first use: a node becomes a member by a record that a member sealed, and for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from lazy.belonging.requests import (
    NO_MEMBER,
    UNKNOWN,
    UNPROVEN,
    RequestInfo,
    forget_request,
    has_room,
    is_news,
    keep_request,
    requests,
)
from lazy.belonging.revoking import AlreadyRevoked
from lazy.noted_times import noted_time
from lazy.other_group import OtherGroup
from lazy.people import NoSuchPeer, former, is_member, label_of, peers, waits_by_name
from lazy.receiving.refusals import ask_again
from vault import profile
from vault.commands import as_typed
from vault.errors import CallerError, DataError
from vault.names import BadName, check_person
from vault.notes.people import INVITATION
from vault.records import Record, RecordHash, Seal, Verifier, parse_record
from vault.vault import Vault
from vault.writer import Writer

__all__ = [
    "AlreadyMember",
    "ForeignRequest",
    "NotMember",
    "admit",
    "consider",
    "consider_passed_on",
    "is_for_another",
    "let_in",
    "may_ask",
    "refuse_revoked",
    "require_member",
    "spent_on",
]


_UNSEEN = "and if they go on under a new key, sync first: their request comes with that."
_ANEW = "Go on under a new key with: lace adopt - and once a friend admitted it, run the same again."


class AlreadyMember(CallerError):
    """The node is a member already."""

    code = "already-member"
    exit_code = 2
    hint = "See the members with: lace members"


class NotMember(CallerError):
    """A node that is not a member yet can admit nobody."""

    code = "not-member"
    exit_code = 2
    hint = "Sync with the person who invited you first."


class ForeignRequest(DataError):
    """A request that the owner of the mailbox did not seal."""

    code = "foreign-request"
    exit_code = 43
    hint = "It was passed over; nobody is admitted by it."


def consider(vault: Vault, place: str, sealed: Record, node: Verifier, *, keeps: bool = True) -> str | None:
    """Look at one request: admit it when it proves an unused invitation of mine, else list it.

    Args:
        vault: whose member decides.
        place: where the request lies.
        sealed: the request, or the admission of a new node.
        node: in whose mailbox it lies, or who is to be let in.
        keeps: whether one that lets nobody in is listed though it proves no invitation of mine.

    Returns:
        The name of the person admitted, as they are called here from now on, or None.

    Raises:
        ProfileError: the request breaks the profile.
        OtherGroup: it is for another group.
        ForeignRequest: it lies in the mailbox of somebody who did not seal it.
    """
    if isinstance(sealed, Seal) and sealed.plex.app == profile.Member.APP:
        return _take_admission(vault, place, sealed, node, keeps=keeps)
    if not isinstance(sealed, Seal) or sealed.signer != node:
        raise ForeignRequest(f"The request in the mailbox of {node} is not sealed by it.")
    value = profile.Request.read(sealed)
    if value.group != vault.group:
        raise OtherGroup(f"The request of {value.label!r} is for group {value.group}.")
    if is_member(vault, node.text):
        return None
    problem = _request_problem(vault, value)
    if problem and not is_news(vault, node, problem, keeps=keeps):
        return None
    with vault.writing() as w:
        # Judged again under the lock: another process may have admitted somebody since.
        if is_member(vault, node.text):
            return None
        problem = _request_problem(vault, value) or _use_up(w, vault, value)
        if problem:
            keep_request(w, vault, _asking(node, value, place, problem), sealed)
            return None
        let_in(w, vault, value.signer, value.label, value.invitation)
    return label_of(vault, node.text)


def consider_passed_on(vault: Vault, place: str, record: bytes) -> str | None:
    """Look at somebody's request that a friend passes on; mine to admit when it proves my invitation.

    Returns:
        As `consider`.

    Raises:
        RecordError: it is no record.
        ProfileError, OtherGroup, ForeignRequest: as `consider`.
    """
    sealed = parse_record(record)
    if not isinstance(sealed, Seal):
        return None
    node = profile.Member.read(sealed).node if sealed.plex.app == profile.Member.APP else sealed.signer
    return consider(vault, place, sealed, node, keeps=has_room(vault))


def may_ask(value: object, sealed: Seal, vault: Vault) -> TypeGuard[profile.Request | profile.Member]:
    """Tell whether a record deserves an answer: else a stranger could ask of any key whether it belongs."""
    if isinstance(value, profile.Member):
        return is_member(vault, sealed.signer.text) or former(vault, sealed.signer.text) is not None
    return isinstance(value, profile.Request)  # whoever asks for themselves proves their key


def is_for_another(vault: Vault, value: profile.Request | profile.Member) -> bool:
    """Tell whether a request waits for somebody to grant it: it proves no invitation of mine, used up or not."""
    if not isinstance(value, profile.Request):
        return True
    return not vault.store.rows("SELECT 1 FROM invitation WHERE id = ?", value.invitation)


def _asking(node: Verifier, value: profile.Request | profile.Member, place: str, problem: str) -> RequestInfo:
    return RequestInfo(node.text, value.label, place, value.tai.text, problem)


def _admission_problem(vault: Vault, value: profile.Member) -> str:
    """Return why an admission lets nobody in, where a person can do something about it."""
    if is_member(vault, value.node.text) or former(vault, value.node.text) is not None:
        return ""
    gone = former(vault, value.signer.text)
    return "" if gone is None else f"the key that admitted it, of {gone.name}, was revoked"


def _use_up(w: Writer, vault: Vault, value: profile.Request) -> str:
    """Mark an invitation used; return why not, or nothing."""
    used = w.store.run(
        "UPDATE invitation SET used_by = ? WHERE id = ? AND used_by IS NULL", value.signer.text, value.invitation
    )
    return "" if used.rowcount == 1 else _request_problem(vault, value)


def _take_admission(vault: Vault, place: str, sealed: Seal, node: Verifier, *, keeps: bool) -> str | None:
    """Take the admission that a node left in its own mailbox, when a member sealed it.

    So an adopted vault says who admitted it, where nobody who must read it knows it yet. Where that key was revoked the
    new one waits among the requests.
    """
    value = profile.Member.read(sealed)
    if value.group != vault.group or value.node != node:
        raise OtherGroup(f"The admission in the mailbox of {node} is for another node or group.")
    if not _counts(vault, value):
        problem = _admission_problem(vault, value)
        if problem and keeps and is_news(vault, node, problem, keeps=True):
            with vault.writing() as w:
                keep_request(w, vault, _asking(node, value, place, problem), sealed)
        return None
    with vault.writing() as w:
        if not _counts(vault, value):
            return None
        w.put([sealed])
        forget_request(w, node.text)
        ask_again(w)
        w.audit("lace-admit", value.label, {"node": node.text, "by": value.signer.text}, relates_to=[sealed.hash.text])
    return label_of(vault, node.text)


def _counts(vault: Vault, value: profile.Member) -> bool:
    """Tell whether an admission makes somebody a member who is none yet, and whose key was not revoked."""
    is_new = not is_member(vault, value.node.text) and former(vault, value.node.text) is None
    return is_new and is_member(vault, value.signer.text)


def _request_problem(vault: Vault, value: profile.Request) -> str:
    if former(vault, value.signer.text) is not None:
        return f"its key was revoked; {value.label} comes back with a new one: lace adopt, then lace admit"
    return _invitation_problem(vault, value)


def _invitation_problem(vault: Vault, value: profile.Request) -> str:
    if not is_member(vault, vault.node.text):
        return NO_MEMBER
    rows = vault.store.rows("SELECT secret, expires, used_by FROM invitation WHERE id = ?", value.invitation)
    if not rows:
        return UNKNOWN
    secret, expires, used_by = rows[0]
    from lazy.belonging.invitations import check_proof  # most visits find nobody who asks

    if not check_proof(bytes(secret), vault.group, value.signer, value.proof):
        return UNPROVEN  # before it is told more: whom an invitation let in, says its id to everybody
    if used_by := used_by or _let_in_by(vault, value.invitation):
        return f"its invitation was already used by {label_of(vault, str(used_by))}"
    # The one clock that may end it is the one that wrote its end; `lace admit` lets in by hand whatever the clock says.
    return _lateness(vault, expires)


def _lateness(vault: Vault, expires: object) -> str:
    end = noted_time(expires)
    if end is None:
        return "until when its invitation is good cannot be read any more"
    is_late = end <= vault.around.tai()
    return f"its invitation was good until {end.to_utc_iso()} by this device's clock" if is_late else ""


def _let_in_by(vault: Vault, invitation: str) -> str:
    """Return whom an invitation let in, by what members sealed: a restored backup does not know that it was used.

    The admission tells it also where whoever came was revoked since, and where I have a new key since.
    """
    rows = vault.store.rows("SELECT node FROM admission WHERE invitation = ? ORDER BY p LIMIT 1", invitation)
    return str(rows[0][0]) if rows else ""


def spent_on(vault: Vault) -> str:
    """Return who came in by the invitation that this vault was begun with, where that is somebody else; else nothing.

    Whoever invited sees it at the request; the one who holds the spent line hears of it by what members sealed.
    """
    line = vault.store.note(INVITATION)
    if not line:
        return ""
    from lazy.belonging.invitations import Invitation, invitation_id  # hardly anybody waits

    node = _let_in_by(vault, invitation_id(Invitation.decode(line).secret))
    return label_of(vault, node) if node and node != vault.node.text else ""


def admit(
    vault: Vault,
    name: str,
    key: str | None = None,
    *,
    noted: Callable[[Writer, RecordHash, Verifier], None] = lambda _w, _record, _node: None,
) -> tuple[RecordHash, Verifier]:
    """Admit a node by hand: the one a request by that name came from, or the one whose key is given.

    Args:
        vault: of the member who admits.
        name: what the node is called.
        key: its verifier; None for whoever asked by that name.
        noted: called at the end of the write.

    Raises:
        BadName: nobody may be called so.
        NotMember: this node may not admit.
        AlreadyMember: nothing to do.
        NoSuchPeer: no request by that name, and no key given.
    """
    found = [request for request in requests(vault) if name in {request.name, request.node}]
    try:
        check_person(name)
    except BadName as error:
        if len(found) == 1:  # an older lace let them call themselves so
            again = as_typed("admit", f"{name}-1", options=f"--key {found[0].node}")
            error.hint = f"Give them another, for example: {again}"
        raise
    require_member(vault)
    if key is None:
        if not found and any(person.name == name for person in peers(vault) if is_member(vault, person.node)):
            raise AlreadyMember(f"{name} is a member already.", hint=f"{AlreadyMember.hint} - {_UNSEEN}")
        if len(found) != 1:
            many = "several requests" if found else "no request"
            raise NoSuchPeer(
                f"There is {many} by {name!r}.", hint="See: lace requests, or give the key with --key V..."
            )
        key = found[0].node
    node = Verifier.parse(key)
    with vault.writing() as w:
        if is_member(vault, node.text):
            raise AlreadyMember(f"{name} is a member already.")
        refuse_revoked(vault, name, node)
        record = let_in(w, vault, node, name, None)
        noted(w, record, node)
    return record, node


def let_in(w: Writer, vault: Vault, node: Verifier, label: str, invitation: str | None) -> RecordHash:
    """Make a node a member inside a write, by a record that this node seals."""
    sealed = w.seal(
        profile.Member.to_plex(group=vault.group, node=node, label=label, invitation=invitation, tai=w.tai())
    )
    w.log([sealed.hash])
    forget_request(w, node.text)
    ask_again(w)
    w.audit("lace-admit", label, {"node": node.text}, relates_to=[sealed.hash.text])
    return sealed.hash


def refuse_revoked(vault: Vault, name: str, node: Verifier) -> None:
    """Refuse to let in a node by a key that was revoked.

    Raises:
        AlreadyRevoked: it was.
    """
    if former(vault, node.text) is not None:
        raise AlreadyRevoked(
            f"The key of {name} was revoked, and stays so.",
            hint="They come back with a new key: lace adopt on their device, then admit that one.",
        )


def require_member(vault: Vault) -> None:
    """Refuse what a member alone may do.

    Raises:
        NotMember: this node is none, or none any more.
    """
    if is_member(vault, vault.node.text):
        return
    if (me := former(vault, vault.node.text)) is None:
        way = as_typed("admit", vault.name, options=f"--key {vault.node}")
        hint = f"Let a friend run: {way} - and sync." if waits_by_name(vault) else ""
        raise NotMember("This node is not a member of the group yet.", hint=hint)
    by = "You" if me.by == vault.name else me.by
    raise NotMember(f"{by} revoked this device's key: it lets nobody in any more.", hint=_ANEW)
