"""Who is who: labels people see, nodes records carry, and the one place where one becomes the other.

Labels come from `lace/member` and `lace/node` records and from the names this person gave to peers. They are for
people; no decision reads them.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from vault import persons
from vault.errors import CallerError
from vault.names import SELF, SIDE_WORDS
from vault.notes.people import ADMISSION, ASKS, INVITATION, INVITER, LEFT
from vault.persons import OWN_NODES
from vault.records import Tai
from vault.records.hashes import is_verifier
from vault.typed import shown
from vault.vault import Vault

__all__ = [
    "FormerMember",
    "MemberInfo",
    "NoSuchPeer",
    "Person",
    "admitted_at",
    "fallen_by",
    "former",
    "formers",
    "has_gone_on",
    "is_member",
    "label_of",
    "left",
    "linked",
    "members",
    "node_of",
    "other_node",
    "peers",
    "waits_by_name",
]

_WENT_ON = f"SELECT o.signer FROM ({OWN_NODES}) o JOIN vector v ON v.node = o.signer WHERE v.forked"  # noqa: S608 - ours


class NoSuchPeer(CallerError):
    """A name that is neither a peer nor a member here."""

    code = "no-such-peer"
    exit_code = 2
    hint = "See who is there with: lace members, lace peers"


class MemberInfo(NamedTuple):
    """One member.

    Args:
        node: verifier text.
        name: what they are called here.
        machine: what they call their machine, if they said so.
        depth: how many admissions lie between the founder and them.
        admitted_by: name of who let them in; None for the founder.
        me: whether it is this vault's own node.
        older_key_of: the newer keys where its owner went on under some; its own name differs from theirs.
        since: when they were let in, in ISO 8601; None for the founder.
    """

    node: str
    name: str
    machine: str
    depth: int
    admitted_by: str | None
    me: bool
    older_key_of: str | None = None
    since: str | None = None


class FormerMember(NamedTuple):
    """A node that was revoked.

    Args:
        node: verifier text.
        name: its label.
        last_seq: the last entry of its log that counts.
        by: name of who revoked it.
        revocation: hash text of the record.
        me: whether it is this vault's own node.
        by_node: verifier text of who revoked it; names may be equal.
    """

    node: str
    name: str
    last_seq: int
    by: str
    revocation: str
    me: bool
    by_node: str = ""


class Person(NamedTuple):
    """A peer as this person knows it: its local name and its node."""

    name: str
    node: str


def peers(vault: Vault) -> list[Person]:
    """Return everybody I sync with, sorted by name: every other member, and peers joined by hand.

    A node whose log forked and that went on under a new key says nothing more, and is none.

    A member's name is the one I gave, else its label; labels equal to another or to mine are told apart by the
    node's first characters. Of one person's keys the newest has the name alone.
    """
    rows = vault.store.rows("SELECT name, node FROM peer")
    given = {str(node): str(name) for name, node in rows if is_verifier(str(node))}  # or it rotted (APP-13)
    away = left(vault) | {str(row[0]) for row in vault.store.rows(_WENT_ON)}
    me = vault.node.text
    found = {str(node): str(label) for node, label in vault.store.rows("SELECT node, label FROM member")}
    names: dict[str, str] = {}
    for node, label in sorted(found.items()):
        if node != me and node not in away:
            names[node] = given.get(node, label)
    gone = {str(row[0]) for row in vault.store.rows("SELECT node FROM former")}
    for node, name in given.items():
        if node not in away and node not in gone:
            names.setdefault(node, name)
    return sorted(
        (Person(name, node) for node, name in _distinct(vault, names).items()), key=lambda p: (p.name, p.node)
    )


def left(vault: Vault) -> set[str]:
    """Return the nodes that are off the sync list: their mailboxes and servers are not visited (LAZ-53)."""
    nodes = vault.store.note(LEFT)
    return set(nodes)


def has_gone_on(vault: Vault, node: str) -> bool:
    """Tell whether a node admitted a newer one as its owner's own."""
    return any(str(signer) == node for signer, _ in vault.store.rows(OWN_NODES))


def linked(vault: Vault, node: str) -> set[str]:
    """Return all nodes of a person; see `vault.persons.linked`."""
    return persons.linked(vault.store, node)


def _distinct(vault: Vault, names: dict[str, str]) -> dict[str, str]:
    nodes: dict[str, list[str]] = {}
    for node, name in names.items():
        nodes.setdefault(name, []).append(node)
    owners = {name: of_name[0] for name, of_name in nodes.items() if len(of_name) == 1}
    if len(owners) < len(nodes):
        newer = persons.newer_keys(vault.store)
        for name in nodes.keys() - owners.keys():
            last = [node for node in nodes[name] if newer.get(node, set()).isdisjoint(nodes[name])]
            if len(last) == 1 and all(node in last or last[0] in newer[node] for node in nodes[name]):
                owners[name] = last[0]
    for taken in (vault.name, SELF, *SIDE_WORDS):  # these mean me, or a side, whatever others call themselves
        owners.pop(taken, None)
    return {node: name if owners.get(name) == node else _with_key(name, node) for node, name in names.items()}


def members(vault: Vault) -> list[MemberInfo]:
    """Return the members of the group, the founder first, then by depth and name."""
    me = vault.node.text
    machines = {
        str(node): str(machine) for node, machine in vault.store.rows("SELECT node, machine FROM card ORDER BY tai, p")
    }
    rows = vault.store.rows("SELECT node, label, depth, admitted_by FROM member ORDER BY depth, label, node")
    names = {str(node): str(label) for node, label, _, _ in rows}
    names |= {person.node: person.name for person in peers(vault)}
    went_on: dict[str, list[str]] = {}
    for older, newer in vault.store.rows(OWN_NODES):
        went_on.setdefault(str(older), []).extend([names[str(newer)]] if str(newer) in names else [])
    let_in = admitted_at(vault)
    several = Counter(names.values())
    names |= {older: _with_key(names[older], older) for older in went_on if several[names.get(older, "")] > 1}
    return [
        MemberInfo(
            node=str(node),
            name=names[str(node)],
            machine=machines.get(str(node), ""),
            depth=int(depth),
            admitted_by=(names.get(str(by)) or label_of(vault, str(by))) if by else None,
            me=str(node) == me,
            older_key_of=" and ".join(sorted(went_on.get(str(node), ()))) or None,
            since=let_in.get(str(node)),
        )
        for node, _, depth, by in rows
    ]


def admitted_at(vault: Vault) -> dict[str, str]:
    """Return when each member was let in by who is told to have done it, in ISO 8601; the founder is not in it."""
    rows = vault.store.rows(
        "SELECT m.node, min(r.tai) FROM member m JOIN admission a ON a.node = m.node AND a.signer = m.admitted_by"
        " JOIN rec r ON r.p = a.p GROUP BY m.node"
    )
    return {str(node): Tai.parse(str(tai)).to_utc_iso() for node, tai in rows}


def _with_key(name: str, node: str) -> str:
    return f"{name}-{node[2:8]}"


def former(vault: Vault, node: str) -> FormerMember | None:
    """Return how a node was revoked, or None."""
    rows = vault.store.rows("SELECT label, seq, revocation FROM former WHERE node = ?", node)
    if not rows:
        return None
    label, seq, revocation = rows[0]
    signer = vault.store.rows("SELECT signer FROM revocation WHERE hash = ?", revocation)
    by_node = str(signer[0][0]) if signer else ""
    by = label_of(vault, by_node) if by_node else ""
    name = _former_name(vault, node, str(label))
    return FormerMember(node, name, int(seq), by, str(revocation), node == vault.node.text, by_node)


def _former_name(vault: Vault, node: str, label: str) -> str:
    """Return what tells somebody revoked from me, from who is there, and from others who were revoked."""
    others = vault.store.rows("SELECT 1 FROM former WHERE label = ? AND node <> ?", label, node)
    is_taken = label in {vault.name, *(person.name for person in peers(vault))}
    return _with_key(label, node) if node != vault.node.text and (others or is_taken) else label


def formers(vault: Vault) -> list[FormerMember]:
    """Return everybody who was revoked, by name."""
    rows = vault.store.rows("SELECT node FROM former ORDER BY label, node")
    return [found for (node,) in rows if (found := former(vault, str(node))) is not None]


def waits_by_name(vault: Vault) -> bool:
    """Tell whether somebody has to admit me by hand: I have no invitation, or it was of somebody revoked (LAZ-54)."""
    me, inviter = vault.node.text, vault.store.note(INVITER)
    if former(vault, me) is not None or is_member(vault, me):
        return False
    if vault.store.note(ADMISSION) is not None or vault.store.note(ASKS):
        return True  # the new node of an adopted vault
    is_lost = bool(inviter) and not vault.store.note(INVITATION)  # it rotted
    return is_lost or bool(fallen_by(vault)) or former(vault, inviter) is not None


def fallen_by(vault: Vault) -> str:
    """Return who admitted me by what counts no more, as that is after their cut or they never belonged; else nothing.

    Of an adopted vault only the former is known: its old node may belong some day.
    """
    me, admission = vault.node.text, vault.store.note(ADMISSION)
    if former(vault, me) is not None or is_member(vault, me):
        return ""
    rows = vault.store.rows(
        "SELECT a.signer FROM admission a LEFT JOIN former f ON f.node = a.signer"
        " WHERE a.node = ? AND (f.node IS NOT NULL OR ? = '') ORDER BY f.node IS NULL, a.p LIMIT 1",
        me,
        admission.text if admission is not None else "",
    )
    return label_of(vault, str(rows[0][0])) if rows else ""


def is_member(vault: Vault, node: str) -> bool:
    """Tell whether a node is a member now: admitted, and not revoked."""
    return bool(vault.store.rows("SELECT 1 FROM member WHERE node = ?", node))


def label_of(vault: Vault, node: str) -> str:
    """Return the name to show for a node: mine, the one I gave, its label, or the start of its verifier."""
    if node == vault.node.text:
        return vault.name
    for person in peers(vault):
        if person.node == node:
            return person.name
    if row := vault.store.rows("SELECT label FROM member WHERE node = ?", node):
        return str(row[0][0])
    if row := vault.store.rows("SELECT label FROM former WHERE node = ?", node):
        return _former_name(vault, node, str(row[0][0]))
    row = vault.store.rows("SELECT label FROM request WHERE node = ?", node)
    return str(row[0][0]) if row else node[:10]


def node_of(vault: Vault, name: str) -> str:
    """Return the node a person's name means; `self` is me, and who was revoked is still called as before.

    Raises:
        NoSuchPeer: nobody here has that name.
    """
    if name in {SELF, vault.name}:
        return vault.node.text
    for person in peers(vault):
        if name in {person.name, person.node}:
            return person.node
    left = [str(row[0]) for row in vault.store.rows("SELECT node FROM member WHERE ?1 IN (node, label)", name)]
    left = left or [member.node for member in members(vault) if member.older_key_of and member.name == name]
    if len(left) == 1:
        return left[0]  # a key that its owner no longer uses
    gone = [found for found in formers(vault) if name in {found.name, found.node}]
    if len(gone) == 1:
        return gone[0].node
    known = ", ".join(person.name for person in peers(vault))
    way = f"I know: {known}." if known else "I know nobody yet: let somebody in with lace invite NAME, then sync."
    raise NoSuchPeer(f"Nobody here is called {shown(name)}.", hint=way)


def other_node(vault: Vault, name: str) -> str:
    """Return the node of somebody else for whom a place or a file is meant, by the name given with `--for`.

    Raises:
        NoSuchPeer: nobody here has that name, or it is my own.
    """
    node = node_of(vault, name)
    if node == vault.node.text:
        way = "Name a friend as lace peers does, or leave --for out: it is for every member then."
        raise NoSuchPeer(f"{shown(name)} is this device itself, and --for names somebody else.", hint=way)
    return node
