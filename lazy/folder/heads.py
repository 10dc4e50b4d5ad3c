"""The heads that an update takes in, and how what my folder stands on is to them.

A head is not missing where my line contains it, where it has my folder's content, or where a commit contains it that
has had that content: such commits stand beside my line until the next commit names them (`Checkout.also`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lazy.conflicts import conflicts
from lazy.contested import Conflict, ConflictKind, Side
from lazy.decided_above import is_between, nearest_first
from lazy.folder.permitted import Refused, last_refused, refused
from lazy.member_limits import counted
from lazy.overtaken import last_released
from lazy.people import label_of, node_of
from vault import profile
from vault.commands import as_option, as_typed
from vault.desk_folders import MAIN
from vault.errors import CallerError
from vault.folder.brought_paths import goes_on_from_brought
from vault.folder.checked_out import Checkout, checkout_of, contained
from vault.folder.divergence import apart_here
from vault.names import Version
from vault.persons import newer_keys
from vault.records import RecordHash
from vault.revisions.graph import ancestors, is_ancestor, newest
from vault.revisions.history import Relation, ReleaseInfo, commit_info, relation, releases, releases_of
from vault.vault import Vault

__all__ = ["HeadsToTake", "NothingFrom", "ending_releases", "ending_with", "heads_to_update", "missing"]
__all__ += ["permitted_heads", "relation_to", "with_agreed", "with_equal", "with_room", "without_superseded"]

MAX_ALSO = 32  # equal heads remembered for the next commit


class NothingFrom(CallerError):
    """The peer has released nothing that is visible here."""

    code = "nothing-from-peer"
    exit_code = 2
    hint = "Sync first: lace sync PLACE"


class HeadsToTake(NamedTuple):
    """What an update would take in.

    Args:
        heads: commits, none an ancestor of another; what the folder has already may be among them.
        waiting: ids of the open conflicts that keep others out, sorted.
        refused: heads that change what their makers may not.
    """

    heads: list[RecordHash]
    waiting: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()


def heads_to_update(
    vault: Vault,
    desk: str = MAIN,
    *,
    peer: str | None = None,
    version: Version | None = None,
    without: Collection[RecordHash] = (),
) -> HeadsToTake:
    """Return the newest visible released heads to take in, and the open conflicts that keep heads out.

    A head that is a side of an open version conflict waits for that decision, unless somebody released on top; what
    was agreed before it is taken meanwhile. What a member has under such a version beyond what counts is no head. The
    result of a decision that counts here stands for its sides, unless a later state contains them without it. Commits
    in `without` count as not released. What my own line has and the folder has not, as after a backup was restored,
    comes first and alone: it waits for no decision, and for nothing that friends released.

    Raises:
        NothingFrom: `peer` or `version` names nothing that is visible here.
        NoSuchPeer: nobody has the name `peer`.
    """
    node = node_of(vault, peer) if peer else None
    own = [] if node or version else [one for one in apart_here(vault, desk) if one not in without]
    base = checkout_of(vault, desk)
    if first := missing(vault, base, own):
        return HeadsToTake(first)
    judged = [c for c in conflicts(vault, include_settled=True) if c.desk == desk and c.version is not None]
    if not (judged or without or version or node):
        return HeadsToTake(newest(vault.store, last_released(vault, desk).union(own).difference(without)))
    found = releases(vault.store, desk, version=version, node=node)
    if (peer or version) and not found:
        what = f"{desk} {version}" if version else desk
        raise NothingFrom(
            f"{peer or 'Nobody'} has released no {what} that is visible here.",
            hint=_older_key(vault, desk, version, node) if node else "",
        )
    asked = {conflict.version for conflict in judged}
    sides_of_asked = set(counted(release for release in found if release.version in asked))
    found = [release for release in found if release.version not in asked or release in sides_of_asked]
    commits = {release.commit for release in found}.union(own)
    contested: dict[RecordHash, str] = {}
    for conflict in judged:
        sides = {side.commit for side in conflict.sides}
        if conflict.is_open:
            contested.update(dict.fromkeys(sides.difference(own), conflict.id))
        elif sides <= commits and not conflict.is_overtaken:
            # Decided: the decision stands for its sides, whoever took it into their line already.
            commits = (commits - sides) | set(_standing(vault, base, conflict))
    waiting = sorted({contested[head] for head in newest(vault.store, commits) if head in contested})
    return HeadsToTake(newest(vault.store, (commits - contested.keys()).difference(without)), tuple(waiting))


def _older_key(vault: Vault, desk: str, version: Version | None, node: str) -> str:
    """Return how to take what the owner of a key released under an older one; empty where that is nothing."""
    for older, newer in sorted(newer_keys(vault.store).items()):
        if node in newer and releases(vault.store, desk, version=version, node=older):
            side = label_of(vault, older) + (f"@{version}" if version else "")
            named = () if desk == MAIN else (desk,)
            return f"Under an older key they released: {as_typed('update', *named, options=as_option('--from', side))}"
    return ""


def _standing(vault: Vault, base: Checkout | None, conflict: Conflict) -> Sequence[RecordHash]:
    """Return the results of a settled conflict that stand for its sides: those that the folder has, where it agrees.

    What agrees with them is remembered beside it (`with_agreed`) and merged by nobody: whoever seals a hundred
    decisions for one side says no more than one.
    """
    held = [result for result in conflict.results if base is not None and _is_contained(vault, base, result)]
    return held if base is not None and held and _has_agreed(vault, base, conflict) else conflict.results


def ending_releases(vault: Vault, found: Sequence[Conflict]) -> dict[str, ReleaseInfo]:
    """Return by id those of the conflicts that are open and end as soon as `update` is run, with the release it takes.

    Of clashing heads that is one with the foreign heads below it, and my side where I have one: somebody merged them.
    Of a version it is one that was built on the only decision there is.
    """
    ended: dict[str, ReleaseInfo] = {}
    still_open = [conflict for conflict in found if conflict.is_open]
    for desk in sorted({conflict.desk for conflict in still_open}):
        base = checkout_of(vault, desk)
        line = {text for one in contained(base) for text in ancestors(vault.store, one)}
        clashing = {side.commit for one in still_open if one.desk == desk and _is_of_heads(one) for side in one.sides}
        for head in permitted_heads(vault, desk, base, None, None).heads:
            by = next(iter(releases_of(vault.store, [head], desk)), None)
            if by is None or head.text in line or head in clashing:  # an update tried that one, and would ask again
                continue
            below = ancestors(vault.store, head)
            ended |= {one.id: by for one in still_open if one.desk == desk and _ends(vault, one, below)}
    above = [one for one in still_open if one.id in ended]
    while above:
        other = above.pop()
        with_it = [one for one in still_open if one.id not in ended and _ends_with(vault, one, other)]
        ended |= {one.id: ended[other.id] for one in with_it}
        above += with_it
    return ended


def _ends_with(vault: Vault, conflict: Conflict, other: Conflict) -> bool:
    """Tell whether a version ends with another one that does, since the decisions on it are the sides of that."""
    if conflict.desk != other.desk or _is_of_heads(conflict) or _is_of_heads(other):
        return False
    results = {*(one.result for one in conflict.proposals), *conflict.results}
    return len(results) > 1 and is_between(vault.store, results, [side.commit for side in other.sides])


def ending_with(vault: Vault, found: Sequence[Conflict]) -> dict[str, Conflict]:
    """Return by id those of the conflicts that are open and end with a decision on another one, and which that is.

    Both stay open until then: each is a version with two contents (LAZ-33), and who changed their mind decides the
    first anew. But what there is to decide is what the sides of the other one differ in; where that ends with a third,
    it is the third.
    """
    still_open = [conflict for conflict in found if conflict.is_open and not _is_of_heads(conflict)]
    above: dict[str, Conflict] = {}
    for one in still_open:
        if len({*(each.result for each in one.proposals), *one.results}) > 1:  # hardly any was decided twice
            others = (other for other in nearest_first(one, still_open) if _ends_with(vault, one, other))
            if (nearest := next(others, None)) is not None:
                above[one.id] = nearest
    return {name: _last(other, above) for name, other in above.items()}


def _last(conflict: Conflict, above: Mapping[str, Conflict]) -> Conflict:
    seen = {conflict.id}
    while (after := above.get(conflict.id)) is not None and after.id not in seen:
        seen.add(after.id)
        conflict = after
    return conflict


def _is_of_heads(conflict: Conflict) -> bool:
    return conflict.kind is ConflictKind.HEAD


def _ends(vault: Vault, conflict: Conflict, below: set[str]) -> bool:
    if conflict.kind is ConflictKind.VERSION:
        decided = {proposal.result.text for proposal in conflict.proposals}
        return len(decided) == 1 and not conflict.results and decided <= below
    foreign = {side.commit for side in conflict.sides if not side.is_local}
    if len(foreign) == len(conflict.sides):
        return {commit.text for commit in foreign} <= below
    released = releases(vault.store, conflict.desk, node=vault.node.text)
    mine = [*(side.commit for side in conflict.sides if side.is_local), *(release.commit for release in released[-1:])]
    theirs = {text for commit in foreign for text in ancestors(vault.store, commit)}
    return {commit.text for commit in foreign} <= below and any(
        commit.text in below and commit.text not in theirs for commit in mine
    )


def permitted_heads(
    vault: Vault, desk: str, base: Checkout | None, peer: str | None, version: Version | None
) -> HeadsToTake:
    """Return heads and open conflicts as `heads_to_update`, but for heads that change what they may not (CLAY-80).

    Raises:
        NothingFrom, NoSuchPeer: as `heads_to_update`.
    """
    out: dict[RecordHash, Refused] = {}
    while True:
        found = heads_to_update(vault, desk, peer=peer, version=version, without=out)
        more = refused(vault, desk, base.commit if base else None, missing(vault, base, found.heads))
        if not more:
            return found._replace(refused=last_refused(vault.store, out.values()))
        out.update((each.head, each) for each in more)


def without_superseded(vault: Vault, heads: Sequence[RecordHash], waiting: Sequence[str]) -> list[RecordHash]:
    """Return the heads but for those that each side of an open conflict contains: where they clash, that was merged.

    So nobody has to decide again what the sides' makers did; whichever side is taken brings it.

    Args:
        vault: where they are.
        heads: to be taken in.
        waiting: ids of open conflicts that keep heads out.
    """
    asked = [conflict.sides for conflict in conflicts(vault) if conflict.id in waiting] if waiting else []

    def is_in_all(head: RecordHash, sides: Sequence[Side]) -> bool:
        return all(is_ancestor(vault.store, head, side.commit) for side in sides)

    return [head for head in heads if not any(is_in_all(head, sides) for sides in asked)]


def missing(
    vault: Vault, base: Checkout | None, heads: Sequence[RecordHash], tree: RecordHash | None = None
) -> list[RecordHash]:
    """Return the heads that a folder neither contains nor is equal to in content.

    Args:
        vault: whose folder.
        base: what it stands on.
        heads: commits of its desk.
        tree: of a folder that stands on no commit yet; else the content is that of `base`.
    """
    if base is None:
        return [head for head in heads if tree is None or not _is_equal(vault, None, tree, head)]
    return [
        head for head in heads if not _is_equal(vault, base, base.tree, head) and not _is_contained(vault, base, head)
    ]


def with_room(vault: Vault, desk: str, base: Checkout | None, new: Sequence[RecordHash]) -> list[RecordHash]:
    """Return those of the missing heads that one commit has room for beside my line, sorted; all where it has.

    The others come with the next update.
    """
    room = profile.MAX_PARENTS - len(contained(base))
    return list(new) if len(new) <= room else sorted(_in_turn(vault, desk, new)[:room], key=str)


def _in_turn(vault: Vault, desk: str, heads: Sequence[RecordHash]) -> list[RecordHash]:
    """Return heads, released ones first, and of each signer one before the second of anybody.

    So whoever has hundreds keeps nobody else's out.
    """
    released = {release.commit for release in releases_of(vault.store, heads, desk)}
    turns: dict[tuple[bool, str], int] = {}
    order: list[tuple[bool, int, str, RecordHash]] = []
    for head in sorted(heads, key=str):
        whose = head not in released, commit_info(vault.store, head).signer
        turns[whose] = turns.get(whose, 0) + 1
        order.append((whose[0], turns[whose], head.text, head))
    return [head for *_, head in sorted(order, key=lambda one: one[:3])]


def _is_equal(vault: Vault, base: Checkout | None, tree: RecordHash, head: RecordHash) -> bool:
    info = commit_info(vault.store, head)
    return info.tree == tree and not goes_on_from_brought(vault, info.desk, base, head)


def _is_contained(vault: Vault, base: Checkout, head: RecordHash) -> bool:
    return is_ancestor(vault.store, head, *contained(base))


def relation_to(vault: Vault, base: Checkout | None, head: RecordHash) -> Relation:
    """Return how a folder stands to a head, as `relation`; it is ahead also of what stands beside its commit."""
    found = relation(vault.store, base.commit if base else None, head)
    if base is None or found in {Relation.SAME, Relation.AHEAD}:
        return found
    return Relation.AHEAD if is_ancestor(vault.store, head, *base.also) else found


def with_equal(vault: Vault, desk: str, base: Checkout | None, heads: Sequence[RecordHash]) -> Checkout | None:
    """Return what a folder stands on with heads of the same content beside it, and `with_agreed`.

    My next commit names them, so that crossing merges die out.
    """
    if base is None:
        return None
    base = with_agreed(vault, desk, base)
    equal = [head for head in heads if _is_equal(vault, base, base.tree, head) and not _is_contained(vault, base, head)]
    return _beside(vault, base, equal)


def with_agreed(vault: Vault, desk: str, base: Checkout) -> Checkout:
    """Return what a folder stands on with the decisions beside it that agree with one that it has (LAZ-40, LAZ-43).

    Whoever took the same side as I did decided the same: what they made of it since is no conflict with mine.
    """
    several = "SELECT version FROM resolution WHERE desk = ? AND visible = 1 GROUP BY version HAVING count(*) > 1"
    versions = {str(version) for (version,) in vault.store.rows(several, desk)}
    if not versions:
        return base
    agreed: list[RecordHash] = []
    for conflict in conflicts(vault, include_settled=True):
        is_decided = not conflict.is_open and conflict.desk == desk and str(conflict.version) in versions
        if is_decided and conflict.results:
            others = [result for result in conflict.results if not _is_contained(vault, base, result)]
            agreed += others if others and _has_agreed(vault, base, conflict) else []
    return _beside(vault, base, agreed)


def _has_agreed(vault: Vault, base: Checkout, conflict: Conflict) -> bool:
    """Tell whether the last decisions that a folder has came to the content that a settled conflict came to.

    One that was given up for another in between agrees with nothing any more.
    """
    tree = commit_info(vault.store, conflict.results[0]).tree
    made = "SELECT DISTINCT result FROM resolution WHERE desk = ? AND version = ? AND visible = 1"
    results = [RecordHash.parse(text) for (text,) in vault.store.rows(made, conflict.desk, str(conflict.version))]
    last = newest(vault.store, [one for one in results if _is_contained(vault, base, one)])
    return bool(last) and all(commit_info(vault.store, one).tree == tree for one in last)


def _beside(vault: Vault, base: Checkout, more: Sequence[RecordHash]) -> Checkout:
    if not more:
        return base
    # Only the newest of one line, and few: a commit has at most 64 parents.
    also = newest(vault.store, [*base.also, *more])
    if len(also) > MAX_ALSO:
        also = sorted(_in_turn(vault, commit_info(vault.store, base.commit).desk, also)[:MAX_ALSO], key=str)
    return base._replace(also=tuple(also))
