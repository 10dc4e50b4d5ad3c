"""Revoking: where a node's log ends for the group, said by somebody above it (architecture, Belonging).

A revocation never undoes history: what was accepted before stays stored and readable, marked as after the cut. One by
somebody who is not above the node waits under `requests` until somebody above says the same. Who revoked a node, or
stands above whoever did, may cut its log lower later on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lazy.people import FormerMember, NoSuchPeer, admitted_at, former, is_member, label_of, node_of
from lazy.receiving.refusals import ask_again
from vault import profile
from vault.errors import CallerError
from vault.persons import newer_keys
from vault.profile import plain_text
from vault.records import RecordHash, Verifier
from vault.revisions.history import sealed_record
from vault.store.belonging import PENDING
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["AlreadyRevoked", "NoSuchEntry", "Revoked", "RevokerNotMember", "Waiting", "agreeing", "plan_revocation"]
__all__ += ["revoke", "waiting"]


class AlreadyRevoked(CallerError):
    """The node was revoked before, and its log is cut no lower by this."""

    code = "already-revoked"
    exit_code = 2
    hint = (
        "See where its log was cut with: lace members - and if you revoked them, or stand above who did, cut lower"
        " with: lace revoke NAME --last SEQ"
    )


class NoSuchEntry(CallerError):
    """A revocation names a log entry that is not here, or that two different entries claim to be."""

    code = "no-such-entry"
    exit_code = 2
    hint = "See how far every log is known with: lace vectors"


class RevokerNotMember(CallerError):
    """Somebody who is not a member can revoke nobody."""

    code = "revoker-not-member"
    exit_code = 2
    hint = "Only members say who belongs; see them with: lace members"


class Revoked(NamedTuple):
    """What a revocation does, or would do.

    Args:
        node: who is revoked.
        name: their name here.
        last_seq: the last entry of their log that counts.
        after: log entries here that count no more; they stay readable.
        releases: names of the releases that these share.
        admitted: names of members whom the node admitted; they stay.
        waits: whether it has no effect until somebody above the node agrees.
        above: names of the members who stand above the node.
        kept: admissions that no log entry of the node shares and that count all the same.
        record: the revocation; None for a plan.
        me: whether the node is this vault's own.
        is_last: whether it is my own, and nobody else is a member who could let anybody in.
        not_here: the entry that a waiting revocation names, and that is not proposed since it is not here; 0 for none.
        since: when the node was let in, in ISO 8601; None for the founder.
        last_release: the last release of the node that is shown; empty where there is none.
        older: those of `above` that are older keys of my own, under which nothing is signed here any more.
    """

    node: Verifier
    name: str
    last_seq: int
    digest: bytes
    after: int
    releases: tuple[str, ...]
    admitted: tuple[str, ...]
    waits: bool
    above: tuple[str, ...]
    kept: tuple[RecordHash, ...]
    record: RecordHash | None = None
    me: bool = False
    is_last: bool = False
    not_here: int = 0
    since: str | None = None
    last_release: str = ""
    older: tuple[str, ...] = ()


class Waiting(NamedTuple):
    """A revocation that has no effect until somebody above its target agrees.

    Args:
        node: verifier text of its target.
        name: the target's name here.
        by: name of who revoked.
        last_seq: the last entry that would count.
        reason: what they wrote.
        revocation: hash text of the record.
        above: names of who may agree.
        mine: whether I may.
        older: those of `above` that are older keys of my own.
    """

    node: str
    name: str
    by: str
    last_seq: int
    reason: str
    revocation: str
    above: tuple[str, ...]
    mine: bool
    older: tuple[str, ...] = ()


def agreeing(above: Sequence[str], older: Sequence[str]) -> str:
    """Return in words who may agree to a revocation that waits; an older key of one's own hardly does.

    Args:
        above: as in `Revoked` and `Waiting`.
        older: the same.
    """
    others = ", ".join(name for name in above if name not in older) or "nobody else who is a member"
    return f"{others}, or {', '.join(older)}, your own older key, where it still signs" if older else others


def waiting(vault: Vault) -> list[Waiting]:
    """Return the revocations that wait, by the name of their target and who revoked."""
    found = []
    for text, signer, node, last in vault.store.rows(
        "SELECT hash, signer, node, last_seq FROM revocation WHERE state = ? ORDER BY hash", PENDING
    ):
        upper = _above(vault, str(node))
        value = _record(vault, str(text))
        found.append(
            Waiting(
                node=str(node),
                name=label_of(vault, str(node)),
                by=label_of(vault, str(signer)),
                last_seq=int(last),
                reason=value.reason,
                revocation=str(text),
                above=tuple(label_of(vault, one) for one in upper),
                mine=vault.node.text in upper,
                older=_older(vault, upper),
            )
        )
    return sorted(found, key=lambda one: (one.name, one.by, one.revocation))


def plan_revocation(vault: Vault, name: str, *, last: int | None = None) -> Revoked:
    """Return what it means that a node's log counts no further than its last entry here, or than an earlier one.

    Where somebody else's revocation of the node waits, its entry is proposed instead of the last one here, if it is
    here: what leads to an entry that nobody has never comes, and nothing would count.

    Args:
        vault: whose word it would be.
        name: a member's name or key; `self` for this node.
        last: Seq of the last entry that counts; 0 for none.

    Raises:
        RevokerNotMember: I am no member.
        NoSuchPeer: nobody by that name belongs.
        AlreadyRevoked: it was revoked before, and `last` is no lower cut that I may say.
        NoSuchEntry: the entry `last` is not here, or there are two of that number.
        MayNotSign: as `Vault.check_plan`.
    """
    planned = _planned(vault, name, last)
    vault.check_plan()
    return planned


def _planned(vault: Vault, name: str, last: int | None) -> Revoked:
    with vault.store.reading():
        node = node_of(vault, name)
        _check(vault, node, last)
        seq, digest, not_here = _last_entry(vault, node, name, last)
        after = vault.store.rows("SELECT count(DISTINCT plex) FROM log WHERE node = ? AND seq > ?", node, seq)
        shared = vault.store.rows(
            "SELECT desk, version FROM release WHERE node = ? AND visible = 1 AND seq > ? ORDER BY seq, hash", node, seq
        )
        upper = _above(vault, node)
        return Revoked(
            node=Verifier.parse(node),
            name=label_of(vault, node),
            last_seq=seq,
            digest=digest,
            after=int(after[0][0]),
            releases=tuple(f"{desk} {version}" for desk, version in shared),
            admitted=_admitted(vault, node),
            waits=vault.node.text not in upper,
            above=tuple(label_of(vault, one) for one in upper),
            kept=_unshared_admissions(vault, node),
            me=node == vault.node.text,
            is_last=node == vault.node.text and len(vault.store.rows("SELECT 1 FROM member LIMIT 2")) == 1,
            not_here=not_here,
            since=admitted_at(vault).get(node),
            last_release=_last_release(vault, node),
            older=_older(vault, upper),
        )


def _last_release(vault: Vault, node: str) -> str:
    rows = vault.store.rows(
        "SELECT desk, version FROM release WHERE node = ? AND visible = 1 ORDER BY seq DESC, hash LIMIT 1", node
    )
    return f"{rows[0][0]} {rows[0][1]}" if rows else ""


def revoke(
    vault: Vault, plan: Revoked, reason: str = "", *, noted: Callable[[Writer, Revoked], None] = lambda _w, _done: None
) -> Revoked:
    """Seal and share the revocation that was planned.

    Args:
        vault: whose word it is.
        plan: what was shown.
        reason: for the others to read.
        noted: called at the end of the write.

    Raises:
        RevokerNotMember, NoSuchPeer, AlreadyRevoked: another process came first.
    """
    with vault.writing() as w:
        _check(vault, plan.node.text, plan.last_seq)
        sealed = w.seal(
            profile.Revocation.to_plex(
                group=vault.group,
                node=plan.node,
                last_seq=plan.last_seq,
                digest=plan.digest,
                kept=plan.kept,
                reason=plain_text(reason),
                tai=w.tai(),
            )
        )
        w.log([sealed.hash])
        ask_again(w)
        w.audit(
            "lace-revoke",
            plan.name,
            {"node": plan.node.text, "last": str(plan.last_seq), "effect": "waits" if plan.waits else "cut"},
            motivation=reason,
            relates_to=[sealed.hash.text],
        )
        done = plan._replace(record=sealed.hash)
        noted(w, done)
    return done


def _check(vault: Vault, node: str, last: int | None) -> None:
    known = former(vault, node)
    if known is not None and not (last is not None and last < known.last_seq and _may_lower(vault, known)):
        what = f"entry {known.last_seq} of their log counts last"
        if known.last_seq and not vault.store.rows("SELECT 1 FROM vector WHERE node = ?", node):
            what = f"what leads to entry {known.last_seq} of their log is not here, so nothing of it counts"
        raise AlreadyRevoked(f"{known.name} was revoked by {known.by} already; {what}.")
    if not is_member(vault, vault.node.text):
        raise RevokerNotMember("This node is not a member of the group, so its word cuts nobody.")
    if known is None and not is_member(vault, node):
        raise NoSuchPeer(f"{label_of(vault, node)} is not a member, so there is nothing to revoke.")


def _may_lower(vault: Vault, known: FormerMember) -> bool:
    """Tell whether a lower cut of mine holds: I revoked them, or stand above who did."""
    ((signer,),) = vault.store.rows("SELECT signer FROM revocation WHERE hash = ?", known.revocation)
    return vault.node.text in _above(vault, str(signer))


def _last_entry(vault: Vault, node: str, name: str, last: int | None) -> tuple[int, bytes, int]:
    """Return Seq and Plex digest of the last entry that is to count, and an entry that is not here and was named.

    Raises:
        NoSuchEntry: it is not here, or two entries have that number.
    """
    if last is None:
        said = [_record(vault, one.revocation) for one in waiting(vault) if one.node == node]
        here = [value for value in said if not value.last_seq or _is_here(vault, value)]
        if here:
            lowest = min(here, key=lambda value: (value.last_seq, value.hash.text))
            return lowest.last_seq, lowest.digest, 0
        named = min((value.last_seq for value in said), default=0)
        rows = vault.store.rows("SELECT seq, plex FROM vector WHERE node = ?", node)
        return (int(rows[0][0]), bytes(rows[0][1]), named) if rows else (0, b"", named)
    if last == 0:
        return 0, b"", 0
    if last > sys.maxsize:
        raise NoSuchEntry(f"No entry of the log of {name} has so high a number.")
    rows = vault.store.rows("SELECT DISTINCT plex FROM log WHERE node = ? AND seq = ?", node, last)
    if not rows:
        raise NoSuchEntry(f"Entry {last} of the log of {name} is not here.")
    if len(rows) > 1:
        raise NoSuchEntry(
            f"There are {len(rows)} different entries {last} in the log of {name}: it forked.",
            hint="Name an entry before the fork, or leave out --last to cut at the last one common to all.",
        )
    return last, bytes(rows[0][0]), 0


def _is_here(vault: Vault, value: profile.Revocation) -> bool:
    """Tell whether all that leads to the entry that a revocation names is here."""
    from vault.membership import Cut  # hardly anybody was ever cut

    chain = vault.store.chain(value.node.text, Cut(value.last_seq, value.digest))
    return bool(chain) and chain[0][0] == 1


def _above(vault: Vault, node: str) -> list[str]:
    """Return the members who may revoke a node: itself, and from whoever admitted it up to the founder."""
    uppers = {
        str(row[0]): row[1]
        for row in vault.store.rows(
            "SELECT node, admitted_by FROM member UNION ALL SELECT node, admitted_by FROM former"
        )
    }
    found, one = [], node
    while one in uppers and one not in found:
        found.append(one)
        one = str(uppers[one])
    return [one for one in found if is_member(vault, one)]


def _older(vault: Vault, upper: Sequence[str]) -> tuple[str, ...]:
    """Return the names of those nodes under which I signed before: whoever waits for their word may wait for ever."""
    newer = newer_keys(vault.store)
    return tuple(label_of(vault, one) for one in upper if vault.node.text in newer.get(one, ()))


def _admitted(vault: Vault, node: str) -> tuple[str, ...]:
    rows = vault.store.rows("SELECT node FROM member WHERE admitted_by = ? ORDER BY label, node", node)
    return tuple(label_of(vault, str(row[0])) for row in rows)


def _unshared_admissions(vault: Vault, node: str) -> tuple[RecordHash, ...]:
    """Return the node's admissions that count and that none of its log entries shares, as after `lace adopt`."""
    rows = vault.store.rows(
        "SELECT b.digest FROM admission a JOIN body b USING (p) JOIN member m ON m.node = a.node AND m.admitted_by = ?1"
        " WHERE a.signer = ?1 ORDER BY b.digest",
        node,
    )
    found = [RecordHash("S", bytes(digest)) for (digest,) in rows]
    sharing = "SELECT 1 FROM link k JOIN log g ON g.p = k.p WHERE k.t = ? AND g.node = ? LIMIT 1"
    return tuple(record for record in found if not vault.store.rows(sharing, record.text, node))[: profile.MAX_KEPT]


def _record(vault: Vault, text: str) -> profile.Revocation:
    return profile.Revocation.read(sealed_record(vault.store.stored(RecordHash.parse(text)) or b""))
