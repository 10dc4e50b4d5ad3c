"""The records of a decision: the commit that joins the sides, and the sealed resolution (LAZ-39 to LAZ-44)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lazy.conflicts import NoSuchConflict, conflict_named
from lazy.contested import Conflict, Proposal
from lazy.decisions import decided_trees
from lazy.folder.following import with_earlier
from lazy.member_limits import MOST_TREES, first_trees
from lazy.people import label_of
from lazy.resolving.earlier import Accepting, chosen, require_used
from vault.commands import as_option, as_typed
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome
from vault.desks.ports import Sink
from vault.errors import CallerError
from vault.folder.checked_out import checkout_of
from vault.profile import Commit, Resolution, plain_text
from vault.profile.lines import MAX_PARENTS
from vault.records import RecordHash
from vault.revisions.graph import newest, only_above
from vault.revisions.history import commit_info
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["Deciding", "TooManySides", "accepted_tree", "known_heads", "merge_commit", "seal_resolution"]
__all__ += ["require_counted", "require_room", "superseding", "to_decide"]

_REVOKING = "Who contradicts themselves can be revoked, and what they released stays readable"


class TooManySides(CallerError):
    """More is beside each other under one version than one decision can join (LAZ-42)."""

    code = "too-many-sides"
    exit_code = 2
    hint = f"{_REVOKING}: lace revoke NAME"


def to_decide(vault: Vault, name: str) -> Conflict:
    """Return the open conflict that a name means, as `conflict_named`, where one decision can join what it is about.

    Raises:
        NoSuchConflict: none or several fit.
        TooManySides: it cannot.
    """
    conflict = conflict_named(vault, name)
    require_room(vault, conflict)
    return conflict


def require_room(vault: Vault, conflict: Conflict) -> None:
    """Refuse to decide a version of more sides and earlier decisions than one commit joins with my line (LAZ-42).

    Raises:
        TooManySides: it is one.
    """
    commits = {*(side.commit for side in conflict.sides), *conflict.results}
    if conflict.version is None:
        return
    if len(commits) < MAX_PARENTS:
        return
    signers = [commit_info(vault.store, commit).signer for commit in commits]
    told = f"{len(commits)} states of {conflict.what} stand beside each other, and a decision joins {MAX_PARENTS - 1}"
    (node, count), *_ = Counter(one for one in signers if one != vault.node.text).most_common(1) or [("", 0)]
    if count < 2:  # nobody contradicts themselves
        raise TooManySides(f"{told}.")
    name = label_of(vault, node)
    raise TooManySides(f"{told}: {count} of them are by {name}.", hint=f"{_REVOKING}: {as_typed('revoke', name)}")


def require_counted(vault: Vault, conflict: Conflict, tree: RecordHash, *, is_accepting: bool = False) -> None:
    """Refuse to seal a decision that counts for nobody: with a new tree, after as many of mine as are looked at.

    Args:
        vault: whose decision it would be.
        conflict: what is decided; of heads nothing is sealed.
        tree: the root tree of its result.
        is_accepting: whether it accepts a friend's, which was not built on mine.

    Raises:
        TooManySides: it would count for nobody (LAZ-42).
    """
    if _would_count(vault, conflict, tree):
        return
    if is_accepting:
        who, words = "Let that friend accept yours", as_option("--accept", label_of(vault, vault.node.text))
    else:
        who, words = "Accept a friend's decision", conflict.accept_words() if conflict.proposals else "--accept NAME"
    told = f"You decided {conflict.what} in {MOST_TREES} ways already, and no other one would count."
    raise TooManySides(told, hint=f"{who}: lace resolve {conflict.id} {words}")


def _would_count(vault: Vault, conflict: Conflict, tree: RecordHash) -> bool:
    if conflict.version is None:
        return True
    found = decided_trees(vault.store, conflict.desk, conflict.version)
    mine = first_trees(vault.store, {value: one for value, one in found.items() if value.signer == vault.node})
    return len(mine) < MOST_TREES or tree in mine


def known_heads(vault: Vault, conflict: Conflict) -> list[RecordHash]:
    """Return what a decision includes: each side, what was decided before, and what is proposed of a side alone.

    A merge that is proposed holds its maker's other work too, which nobody may lose by a decision of this conflict. Of
    proposals for one side as many as a commit has room for: whoever seals hundreds keeps nobody from deciding.
    """
    store, known = vault.store, [*(side.commit for side in conflict.sides), *conflict.results]
    here = {commit.text for commit in known}
    trees = {commit_info(store, side.commit).tree for side in conflict.sides}
    proposed = [one.result for one in conflict.proposals]
    new = {result: map(RecordHash.parse, only_above(store, {result.text}, here)) for result in proposed}
    alone = [result for result in new if all(commit_info(store, commit).tree in trees for commit in new[result])]
    return known + alone[: max(0, MAX_PARENTS - len(known) - 1)]  # one more may be the decision that is taken


def superseding(
    w: Writer, vault: Vault, conflict: Conflict, decision: Proposal, takes: Mapping[str, str]
) -> tuple[RecordHash, RecordHash]:
    """Return the result and resolution that count after accepting.

    Where another decision with different content counted here until now, or is proposed beside this one, accepting is a
    new decision that includes both: else two would count, and the conflict would never end. It has what the other one
    holds beside the sides, too; where both clash there, what `takes` says by path. Where one of mine would count no
    more, one that was built on all of these is taken as it is.

    Raises:
        As `accepted_tree`, and `require_counted`.
    """
    base = checkout_of(vault, conflict.desk)
    accepting = Accepting(vault, conflict, decision, takes, base.tree if base is not None else None)
    tree, parents = accepted_tree(accepting, MemoryObjects(fallback=w), w)
    if not parents:
        return decision.result, decision.resolution
    require_counted(vault, conflict, tree, is_accepting=True)
    w.flush()
    result = merge_commit(w, vault, conflict, tree, parents, f"Accept the decision of {decision.name}")
    deciding = Deciding(result, "", chosen=decision.chosen, release=decision.release)
    return result, seal_resolution(w, vault, conflict, deciding)


def accepted_tree(accepting: Accepting, objects: MemoryObjects, sink: Sink) -> tuple[RecordHash, list[RecordHash]]:
    """Return the tree that counts after accepting, and the parents of its commit; none where it is the decision's own.

    Args:
        accepting: the decision, and what was chosen where it clashes with an earlier one.
        objects: where trees and content are read.
        sink: where the tree goes.

    Raises:
        DecisionsClash: they clash at a path that nothing was chosen for.
        NoSuchPath: something was chosen for a path at which they do not.
        NoSuchSide: what was chosen cannot be had.
    """
    vault, conflict, decision, takes, _folder = accepting
    known, tree = known_heads(vault, conflict), commit_info(vault.store, decision.result).tree
    if all(commit_info(vault.store, result).tree == tree for result in known[len(conflict.sides) :]):
        require_used(takes, ())
        return tree, []
    decide, clashing = chosen(accepting, objects, sink), set[str]()

    def decided(outcome: MergeOutcome) -> RecordHash:
        for clash in outcome.conflicts:
            clashing.update(filter(None, (clash.path, clash.twin)))
        return decide(outcome)

    tree = with_earlier(objects, sink, vault, conflict, tree, decided, decision.result)
    require_used(takes, sorted(clashing))
    parents = newest(vault.store, [*known, decision.result])
    if parents == [decision.result] and not _would_count(vault, conflict, tree):
        return tree, []  # it includes the others by itself
    return tree, parents


def merge_commit(
    w: Writer, vault: Vault, conflict: Conflict, tree: RecordHash, parents: Sequence[RecordHash], message: str
) -> RecordHash:
    """Seal the commit that joins the sides, inside a write; its time is after that of each parent."""
    known = [commit_info(vault.store, parent).tai for parent in parents]
    return w.seal(
        Commit.to_plex(
            group=vault.group,
            desk=conflict.desk,
            parents=tuple(parents),
            tree=tree,
            message=plain_text(message),
            tai=w.tai(*known),
        )
    ).hash


class Deciding(NamedTuple):
    """A decision that is to be sealed.

    Args:
        result: the commit that joins the sides.
        reason: why; friends can read it.
        chosen: the release of a side that counts, where one does.
        release: that of a merge, where it is released.
    """

    result: RecordHash
    reason: str
    chosen: RecordHash | None = None
    release: RecordHash | None = None


def seal_resolution(
    w: Writer, vault: Vault, conflict: Conflict, deciding: Deciding, *, is_logged: bool = True
) -> RecordHash:
    """Seal a resolution, and share it unless it goes into the log entry of the release that is made with it.

    Args:
        w: the write.
        vault: whose decision it is.
        conflict: what is decided.
        deciding: how.
        is_logged: whether it gets a log entry of its own.

    Raises:
        NoSuchConflict: it is one of heads, which no resolution is about.
        TooManySides: as `require_counted`.
    """
    sides = sorted((side.release for side in conflict.sides if side.release), key=str)
    if conflict.version is None:
        raise NoSuchConflict(f"The conflict {conflict.id} has no version.")
    result, reason, chosen, release = deciding
    require_counted(vault, conflict, commit_info(vault.store, result).tree)
    sealed = w.seal(
        Resolution.to_plex(
            group=vault.group,
            desk=conflict.desk,
            version=conflict.version,
            sides=tuple(sides),
            chosen=chosen,
            release=release,
            result=result,
            reason=plain_text(reason),
            tai=w.tai(),
        )
    )
    if is_logged:
        w.log([sealed.hash])
    w.audit(
        "lazy-resolve",
        f"{conflict.desk}@{conflict.version}",
        {"conflict": conflict.id, "chosen": str(chosen or release)},
        motivation=reason,
        relates_to=[side.text for side in sides],
    )
    return sealed.hash
