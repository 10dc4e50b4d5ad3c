"""Belonging, as acts of one's own: invite, accept, join, leave (architecture, Belonging).

What a member decides of somebody who asks to belong stands in `lazy/belonging/admitting.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lazy.belonging.admitting import let_in, refuse_revoked, require_member
from lazy.people import NoSuchPeer, former, is_member, left, node_of, peers
from lazy.places.media import open_medium
from lazy.places.registry import (
    NameTaken,
    Place,
    forget_place,
    is_encrypted,
    keep_place,
    note_encrypted,
    places,
    places_of,
    refuse_taken,
    way_back,
)
from lazy.places.roads import make_place
from transports.errors import UnknownPlaceKind
from transports.mailbox import MailboxMedium
from vault import profile
from vault.commands import as_option, as_typed
from vault.errors import CallerError, DataError, PlaceError
from vault.names import check_person
from vault.notes.own import FOUNDING_PLEX
from vault.notes.people import ADMISSION, ASKS, INVITATION, INVITER, LEFT
from vault.records import Seal, Tai, Verifier, b64a, parse_record
from vault.surroundings import Surroundings
from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from lazy.belonging.invitations import Invitation

__all__ = [
    "accept",
    "doubt_of_clock",
    "invite",
    "join",
    "leave",
    "leave_request",
    "leave_requests",
    "node_to_leave",
    "request_record",
    "wants_in",
]

_ENCRYPTED = "#encrypted"  # after the address of a place in an invitation
INVITATION_SECONDS = 14 * 24 * 3600


def invite(vault: Vault, label: str = "") -> Invitation:
    """Make an invitation: one line of text that admits one person once.

    Raises:
        NotMember: this node cannot admit anybody yet.
    """
    if label:
        check_person(label)
    require_member(vault)
    from lazy.belonging.invitations import Invitation  # every visit loads this module, and few invite

    expires = Tai(vault.around.tai().later(INVITATION_SECONDS * 10**9).seconds)
    made = Invitation(
        group=vault.group.split("/", 1)[0],
        founding=b64a.decode(vault.store.note(FOUNDING_PLEX)),
        inviter=vault.node,
        secret=vault.around.entropy(16),
        expires=expires,
        name=label,
        places=tuple((place.name, _told(vault, place)) for place in places(vault) if _is_for_all(place)),
    )
    with vault.writing() as w:
        w.store.run("INSERT INTO invitation VALUES (?, ?, ?, ?, NULL)", made.id, made.secret, expires.text, label)
        w.audit("lazy-invite", made.id, {"label": label} if label else {})
    return made


def doubt_of_clock(vault: Vault, made: Invitation) -> str:
    """Return what to tell whoever invites where records here are dated after the invitation's end; or nothing (LAZ-16).

    One of two clocks is wrong then. If it is the one here, the line ends as soon as that is set right.
    """
    ((newest,),) = vault.store.rows("SELECT max(tai) FROM rec WHERE name IS NOT NULL")
    if newest is None or newest <= made.expires.text:
        return ""
    now, last = (f"{tai.to_utc_iso()[:16].replace('T', ' ')} UTC" for tai in (vault.around.tai(), Tai.parse(newest)))
    return (
        f"This device's clock says {now}, and records here are dated up to {last}. If this clock is behind, the"
        " invitation is out of date once it is right: set it, and invite again."
    )


def _told(vault: Vault, place: Place) -> str:
    """Return what an invitation says of a place: also that nothing is to lie there in the clear, from the first."""
    return place.uri + (_ENCRYPTED if is_encrypted(vault, place) else "")


def accept(
    folder: Path,
    around: Surroundings,
    line: str,
    *,
    name: str = "",
    noted: Callable[[Vault, Writer], None] = lambda _vault, _w: None,
) -> tuple[Vault, Invitation]:
    """Make a vault from an invitation, in one transaction, and leave a request where it can be left.

    Its expiry stops nobody here: this clock may be the wrong one (LAZ-16), so `Invitation.doubt` is for people only.

    Args:
        folder: empty, new or filled.
        around: clock, randomness and machine.
        line: the invitation.
        name: what friends call this person; the one that the invitation suggests if empty.
        noted: called at the end of the transaction that makes the vault.

    Raises:
        VaultExists, BadName, and what `Invitation.decode` raises: the line is cut or mistyped.
    """
    from lazy.belonging.invitations import Invitation
    from vault.beginning import enter_vault  # once in the life of a vault

    invitation = Invitation.decode(line)
    name = name or invitation.name
    if not name:
        raise CallerError(
            "The invitation suggests no name for you.", hint="Say who you are: lace accept INVITE --name N"
        )

    def also(vault: Vault, w: Writer) -> None:
        w.store.set_note(INVITATION, line)
        w.store.set_note(INVITER, invitation.inviter.text)
        for place_name, told in invitation.places:
            with suppress(
                PlaceError, UnknownPlaceKind
            ):  # this version may not speak one; the vault is begun all the same
                _keep_told(w, vault, place_name, told, folder)
        # The act comes behind its parts, and an undo takes no part of it back.
        w.audit("lace-accept", invitation.group_id, {"inviter": invitation.inviter.text})
        noted(vault, w)

    vault = enter_vault(folder, around, name=name, group=invitation.group_id, founding=invitation.founding, also=also)
    leave_requests(vault)
    return vault, invitation


def _keep_told(w: Writer, vault: Vault, name: str, told: str, folder: Path) -> None:
    """Keep a place as an invitation says it, which `_told` wrote.

    Raises:
        PlaceError, UnknownPlaceKind: it can be none here.
    """
    from transports.address import WEB_KINDS, check_host  # once in the life of a vault

    uri, mark, _ = told.partition(_ENCRYPTED)
    place = make_place(vault, name, uri, cwd=folder, create=False)
    if place.kind in WEB_KINDS:
        check_host(place.uri)
    keep_place(w, place)
    note_encrypted(w, name, is_on=bool(mark))


def leave_requests(vault: Vault) -> None:
    """Leave my request at every place that is here now; the next sync leaves it at the others."""
    for place in places(vault):
        if place.kind in {"live", "vault"}:
            continue  # the first sync asks there
        try:
            with closing(open_medium(vault, place)) as medium:
                leave_request(vault, medium)
        except PlaceError:
            continue


def _is_for_all(place: Place) -> bool:
    """Tell whether an invitation names a place: not what is bound to somebody, nor a vault on this machine."""
    return place.peer is None and place.kind != "vault"


def leave_request(vault: Vault, medium: MailboxMedium) -> bool:
    """Leave my request in my mailbox at a place, unless I am a member or was never invited; tell whether it was.

    Raises:
        MayNotSign: as `Vault.check_mark`.
        PlaceError: the place takes nothing.
    """
    if not wants_in(vault):
        return False
    there = _request_there(vault, medium)
    if vault.store.note(ADMISSION) is None and there is not None and _asks_for(vault, there):
        return False
    return _leave(vault, medium, request_record(vault))


def wants_in(vault: Vault) -> bool:
    """Tell whether this vault asks to be let in: by an invitation, the admission of a new node, or its name."""
    if former(vault, vault.node.text) is not None:
        return False
    if vault.store.note(ADMISSION) is not None:
        return True
    has_words = vault.store.note(INVITATION) or vault.store.note(ASKS) or vault.store.note(INVITER)
    return bool(has_words) and not is_member(vault, vault.node.text)


def request_record(vault: Vault) -> bytes:
    """Return the request to be let in, or the admission of an adopted node, as a stored record.

    Raises:
        MayNotSign: as `Vault.check_mark`.
    """
    admission = vault.store.note(ADMISSION)
    if admission is not None:
        return vault.store.stored(admission) or b""
    from lazy.belonging.invitations import SECRET_BYTES, Invitation, invitation_id, proof

    vault.check_mark()
    asks = vault.store.note(ASKS)
    line = vault.store.note(INVITATION)
    if asks:
        secret = b64a.decode(asks)
    else:  # of one that rotted there is nothing to prove, and a member lets this node in by its name
        secret = Invitation.decode(line).secret if line else vault.around.entropy(SECRET_BYTES)
    plex = profile.Request.to_plex(
        group=vault.group,
        node=vault.node,
        invitation=invitation_id(secret),
        label=vault.name,
        proof=proof(secret, vault.group, vault.node),
        tai=vault.around.tai(),
    )
    return Seal.sign(plex, vault.key()).encode()


def _leave(vault: Vault, medium: MailboxMedium, record: bytes) -> bool:
    if _request_there(vault, medium) == record:
        return False
    medium.writer(vault.group, vault.node).put_request(record)
    return True


def _request_there(vault: Vault, medium: MailboxMedium) -> bytes | None:
    try:
        return medium.read_request(vault.group, vault.node)
    except DataError:
        return None  # damaged there: it is written again


def _asks_for(vault: Vault, stored: bytes) -> bool:
    try:
        record = parse_record(stored)
        return isinstance(record, Seal) and profile.Request.read(record).signer == vault.node
    except DataError:
        return False


def join(
    vault: Vault,
    name: str,
    uri: str,
    key: str,
    *,
    cwd: Path,
    noted: Callable[[Writer, Place], None] = lambda _w, _place: None,
) -> Place:
    """Register a peer by key, with a place of its own: admits it when it is no member yet; moves nothing (LAZ-50).

    Args:
        vault: whose peer it becomes.
        name: what it is called here.
        uri: where the two meet.
        key: its verifier.
        cwd: what a relative directory is relative to.
        noted: called at the end of the write.

    Raises:
        NameTaken: the name is a peer or place already (LAZ-51).
        BadName, RecordError: name or key cannot be one.
        AlreadyRevoked: they do not belong any more.
        UnknownPlaceKind, PlaceError, InTheVault: the address cannot be a place.
    """
    check_person(name)
    node = Verifier.parse(key)
    _refuse_known(vault, name, node)
    # The place first: when it cannot be, nobody was joined.
    place = make_place(vault, f"{name}-place", uri, cwd=cwd, node=node.text)
    with vault.writing() as w:
        refuse_revoked(vault, name, node)
        if is_member(vault, vault.node.text) and not is_member(vault, node.text):
            let_in(w, vault, node, name, None)
        w.store.run("INSERT OR REPLACE INTO peer VALUES (?, ?)", name, node.text)
        w.store.set_note(LEFT, tuple(sorted(left(vault) - {node.text})))
        w.audit("lazy-join", name, {"key": key, "uri": place.uri})
        shared = next((one for one in places(vault) if one.uri == place.uri and one.peer is None), None)
        if shared is not None:
            place = shared  # they are met there with everybody else
        else:
            keep_place(w, place)
        noted(w, place)
    return place


def _refuse_known(vault: Vault, name: str, node: Verifier) -> None:
    """Refuse who cannot be joined under a name: oneself, and where somebody or some place has it.

    Raises:
        NameTaken: as `join`.
    """
    if node == vault.node or name == vault.name:
        raise NameTaken(f"{name!r} is your own name or has your own key.", hint="Join others; you are here already.")
    is_noted = bool(vault.store.rows("SELECT 1 FROM peer WHERE name = ?", name))
    if is_noted or any(person.name == name for person in peers(vault)):
        elsewhere = as_typed("place add", "NAME", "URI", options=as_option("--for", name))
        way = f"To meet them at one place more: {elsewhere} - to give the name to somebody else, first: "
        raise NameTaken(f"There is already a peer called {name!r}.", hint=way + as_typed("leave", name))
    refuse_taken(vault.store, name)


def node_to_leave(vault: Vault, name: str) -> str:
    """Return the node that a name means to whoever wants to leave it.

    Raises:
        NoSuchPeer: nobody has that name; where a place has it, the way out forgets that.
    """
    try:
        return node_of(vault, name)
    except NoSuchPeer as error:
        if any(place.name == name for place in places(vault)):
            way = f"To forget the place: {as_typed('place remove', name)}"
            raise NoSuchPeer(f"{name!r} is a place, not a person.", hint=way) from error
        raise


def leave(vault: Vault, name: str, *, noted: Callable[[Writer], None] = lambda _w: None) -> str:
    """Drop a peer from the sync list, with the places that are for it alone; keep what came from it (LAZ-53).

    Its mailbox is read no more. It stays a member: what it shares still comes when others pass it on (LAZ-31).

    Args:
        vault: whose peer it was.
        name: of the peer.
        noted: called at the end of the write.

    Returns:
        The node left.

    Raises:
        NoSuchPeer: nobody has that name, it is one's own, or they are left already.
    """
    node = node_to_leave(vault, name)
    if node == vault.node.text:
        raise NoSuchPeer(f"{name!r} is you, and you cannot leave yourself.")
    if node in left(vault):
        hint = f"To begin again: {way_back(vault, name, node)}"
        raise NoSuchPeer(f"{name!r} is left already: nothing is synced with them.", hint=hint)
    with vault.writing() as w:
        w.store.run("DELETE FROM peer WHERE node = ?", node)
        for place in places_of(vault, node):
            forget_place(w, place.name)
        w.store.set_note(LEFT, tuple(sorted({*left(vault), node})))
        w.audit("lazy-leave", name, {"node": node})
        noted(w)
    return node
