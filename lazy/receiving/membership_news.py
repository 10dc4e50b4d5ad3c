"""Members who came or went by what was received, until a person was told of them (LAZ-52, LAZ-69, APP-13).

It is noted in the transaction that stores it: a visit that was cut off after it leaves it for my next one. So does a
friend's at my server, which was killed before it said so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from typing import Final, NamedTuple

from lazy.people import admitted_at, former, linked, members
from vault.identity.mark import VaultBehindMark
from vault.notes.note import Note
from vault.notes.own import HELD_BACK
from vault.notes.people import NEWCOMERS_UNHEARD, REVOKED_UNHEARD
from vault.persons import OWN_NODES
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Changed", "MemberNews", "forget_news", "forget_told", "news_of", "note_news", "unheard_news"]


_Nodes = tuple[str, ...]  # as verifier texts


class MemberNews(NamedTuple):
    """Somebody who belongs now and did not, or belongs no more.

    Args:
        name: what they are called here.
        by: name of who let them in, or revoked them.
        is_own: whether the owner of that key did it: let another one in, or revoked it.
        is_gone: whether they belong no more.
    """

    name: str
    by: str
    is_own: bool = False
    is_gone: bool = False

    @property
    def sentence(self) -> str:
        """Who did it, in words; nobody who ends it is said to revoke somebody."""
        if self.is_gone:
            return f"{self.name} revoked their own key" if self.is_own else f"{self.by} revoked {self.name}"
        return f"{self.by} let {self.name} in" + (", another key of theirs" if self.is_own else "")


class Changed(NamedTuple):
    """Who came and who went while something was received, as verifier texts."""

    came: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()

    def and_then(self, later: Changed) -> Changed:
        """Return both as one."""
        return Changed(self.came | later.came, self.gone | later.gone)


def note_news(w: Writer, vault: Vault, members: Set[str], fresh: Iterable[Sequence[object]]) -> Changed:
    """Note, inside a write, who came or went; what is noted stays.

    Args:
        w: the write.
        vault: that is written.
        members: who belonged before the first of what is received, as verifier texts. Who was revoked before they were
            heard of here is no news to somebody new.
        fresh: what `lazy.receiving.cuts.who_counts` says now and did not before.
    """
    stands = {str(node): seq is None for node, seq, *_ in fresh}
    gone = {node for node in members & stands.keys() if not stands[node]}
    came = _by_others(vault, members, {node for node in stands.keys() - members if stands[node]})
    _add(w, NEWCOMERS_UNHEARD, came)
    _add(w, REVOKED_UNHEARD, gone)
    return Changed(frozenset(came), frozenset(gone))


def _add(w: Writer, note: Note[_Nodes], nodes: set[str]) -> None:
    if not nodes:
        return
    known = w.store.note(note)
    if fresh := nodes - set(known):
        w.store.set_note(note, (*known, *sorted(fresh)))


def _by_others(vault: Vault, members: Set[str], came: Set[str]) -> set[str]:
    """Return whom of them others let in, and not before me by the dates of the admissions.

    What makes me a member brings all who belong, and another place may bring the rest of them. A restored vault was
    told before of whom it hears of until it has its own log again.
    """
    me, held = vault.node.text, vault.store.note(HELD_BACK) if came else None
    if not came or me not in members or (held is not None and held["code"] == VaultBehindMark.code):
        return set()
    dates = admitted_at(vault)
    mine = min(dates.get(node, "") for node in linked(vault, me) & members)
    rows = vault.store.rows("SELECT node FROM member WHERE admitted_by <> ?1 AND node <> ?1", me)
    return {str(node) for (node,) in rows if node in came and dates.get(str(node), "") >= mine}


def unheard_news(vault: Vault) -> list[MemberNews]:
    """Return who came or went and no visit told of, of each the first one first."""
    return [one for note, told_as in _TOLD_AS for one in told_as(vault, vault.store.note(note)).values()]


def news_of(vault: Vault, changed: Changed) -> tuple[MemberNews, ...]:
    """Return what is told of those who came and went."""
    return (
        *_came_as(vault, tuple(sorted(changed.came))).values(),
        *_gone_as(vault, tuple(sorted(changed.gone))).values(),
    )


def _came_as(vault: Vault, nodes: _Nodes) -> dict[str, MemberNews]:
    """Return by their nodes what is told of those who belong, and of the others nothing."""
    if not nodes:
        return {}
    by = {str(node): str(who) for node, who in vault.store.rows("SELECT node, admitted_by FROM member")}
    own = {(str(older), str(newer)) for older, newer in vault.store.rows(OWN_NODES)}
    known = {member.node: member for member in members(vault) if member.admitted_by is not None and not member.me}
    found = [known[node] for node in nodes if node in known]
    return {one.node: MemberNews(one.name, str(one.admitted_by), (by[one.node], one.node) in own) for one in found}


def _gone_as(vault: Vault, nodes: _Nodes) -> dict[str, MemberNews]:
    """Return by their nodes what is told of those who were revoked; what is said to me is said elsewhere."""
    found = [gone for node in nodes if (gone := former(vault, node)) is not None and not gone.me]
    return {gone.node: MemberNews(gone.name, gone.by, gone.by_node == gone.node, is_gone=True) for gone in found}


_TOLD_AS: Final[tuple[tuple[Note[_Nodes], Callable[[Vault, _Nodes], dict[str, MemberNews]]], ...]] = (
    (NEWCOMERS_UNHEARD, _came_as),
    (REVOKED_UNHEARD, _gone_as),
)


def forget_news(w: Writer) -> None:
    """Forget them, inside a write: a visit tells of all now."""
    for note, _ in _TOLD_AS:
        _keep_rest(w, note, ())


def forget_told(vault: Vault, told: Collection[MemberNews]) -> None:
    """Forget those of whom a server told, once a person could read it: my next visit would tell it as news again."""
    with vault.writing(receiving=True) as w:
        for note, told_as in _TOLD_AS:
            known = w.store.note(note)
            now = told_as(vault, known)
            _keep_rest(w, note, tuple(node for node in known if now.get(node) not in told))


def _keep_rest(w: Writer, note: Note[_Nodes], rest: _Nodes) -> None:
    """Leave a note with the rest of what it has, which is dropped where that is nothing."""
    if not rest:
        if w.store.has_note(note):
            w.store.drop_note(note)
    elif rest != w.store.note(note):
        w.store.set_note(note, rest)
