"""What is to be done with a commit by a named strategy, as `merge_analysis` says it of heads (CLAY-72 to CLAY-78).

A merge decides it here and carries it out; its plan decides it here and stops.
"""

from __future__ import annotations

from dataclasses import dataclass

from lazy.address import ResolvedCommit
from lazy.folder.merge_analysis import Analysis, is_other_question
from lazy.folder.merging import what_went_named
from lazy.folder.permitted import refused
from lazy.folder.updated import HeadConflict
from vault.commands import as_option, as_typed
from vault.desks.memory import MemoryObjects
from vault.desks.merge import MergeOutcome
from vault.desks.ports import Objects, Sink
from vault.desks.strategies import Strategy, merge_by
from vault.errors import CallerError
from vault.folder.brought_paths import base_with_brought, goes_on_from_brought
from vault.folder.checked_out import Checkout
from vault.folder.criss_cross import base_of
from vault.folder.virtual_base import as_it_came, is_all_in
from vault.folder.work import Changes
from vault.permits import NotPermitted
from vault.plural import few
from vault.records import RecordHash
from vault.revisions.graph import is_ancestor, merge_bases
from vault.revisions.history import Relation, relation
from vault.vault import Vault

__all__ = ["DeskNotEmpty", "Merging", "NoMergeBase", "NotFastForward", "analyze_by", "analyze_folder_by"]


_MAKING = frozenset({Strategy.ONLY_THIS, Strategy.ONLY_THAT, Strategy.TAKE_THIS, Strategy.TAKE_THAT})


class NoMergeBase(CallerError):
    """Two lines that have no common commit (CLAY-73)."""

    code = "no-merge-base"
    exit_code = 2
    hint = "They began on their own: take a strategy that needs no base, such as only-that or take-this."


class NotFastForward(CallerError):
    """`fine` was asked for two lines of which neither contains the other (CLAY-75)."""

    code = "not-fast-forward"
    exit_code = 2
    hint = "Both sides changed: take mate, which merges them."


class DeskNotEmpty(CallerError):
    """`init` was asked for a desk that has revisions, or whose folder holds something else (CLAY-78)."""

    code = "desk-not-empty"
    exit_code = 2
    hint = "Take only-that for its exact content as a merge, or mate to combine both."


@dataclass(frozen=True, slots=True)
class Merging:
    """A commit that is to be merged into a desk, and how.

    Args:
        that: the commit.
        strategy: how.
    """

    that: ResolvedCommit
    strategy: Strategy

    @property
    def follows(self) -> bool:
        """Whether the strategy fast-forwards where it can; the others make their commit in any case."""
        return self.strategy not in _MAKING

    def forward(self, came: RecordHash | None = None) -> Analysis:
        """Return that the folder comes to the commit as it is."""
        return Analysis(Relation.BEHIND, [self.that.commit], [self.that.commit], self.that.tree, came=came)

    def check_related(self, found: Relation) -> None:
        """Refuse a strategy that does not fit how two lines stand to each other.

        Raises:
            NotFastForward, NoMergeBase: it does not.
        """
        if self.strategy is Strategy.FINE and found is not Relation.BEHIND:
            raise NotFastForward(
                f"Your line and {self.that.what} both changed, so there is no way forward without a merge."
            )
        if found is Relation.UNRELATED and self.strategy.needs_base:
            raise NoMergeBase(f"Your line and {self.that.what} have no commit in common.")


def analyze_by(
    objects: Objects,
    vault: Vault,
    desk: str,
    base: Checkout | None,
    merging: Merging,
    *,
    tree: RecordHash | None = None,
) -> Analysis:
    """Return what is to be done with a commit.

    Args:
        objects: where trees and content are read, and merged ones go; its source sees what goes into the sink.
        vault: whose line.
        desk: the desk merged into.
        base: what its folder stands on; None where nothing was committed yet.
        merging: what is merged, and how.
        tree: of the folder, where that is my side as it is; the commit that it would be stands on `base`.

    Raises:
        NoMergeBase, NotFastForward, DeskNotEmpty: the strategy does not fit the two histories.
        NotPermitted: its signer may not write what would be taken in.
        LetGo, MissingObject, TreeError: as `merge_by`.
    """
    saves, mine = tree is not None, base.commit if base else None
    that, found = merging.that, _relation(vault, base, merging, tree)
    _check_permits(vault, desk, mine, merging)
    if found is Relation.SAME or (found is Relation.AHEAD and merging.follows):
        return Analysis(found, (), saves=saves)
    if found is Relation.BEHIND and (base is None or merging.follows):
        return merging.forward()
    ours = tree or (base.tree if base else that.tree)
    outcome = _outcome(objects, vault, mine, ours, merging)
    heads = [*([mine] if mine else []), that.commit]
    if outcome.root is None:
        conflict = HeadConflict(outcome.conflicts)
        return Analysis(Relation.CONFLICTING, [that.commit], heads, conflict=conflict, saves=saves)
    return Analysis(Relation.MERGEABLE, [that.commit], heads, outcome.root, tuple(outcome.merged), saves=saves)


def analyze_folder_by(
    objects: MemoryObjects,
    sink: Sink,
    vault: Vault,
    base: Checkout | None,
    merging: Merging,
    dirty: Changes,
    committed: Analysis | None,
) -> Analysis:
    """Return the same where the folder may hold what is not committed.

    What it holds is my side where something is taken in; where what is committed clashes, it is where it ends that or
    clashes beside it. A desk without a revision whose folder holds nothing of mine is begun.

    Args:
        objects: where the folder's trees and content are read, and merged ones go.
        sink: where the pages go of what a head changed.
        vault: whose line.
        base: what the folder stands on.
        merging: what is merged, and how.
        dirty: what the folder holds that is not committed.
        committed: what is to be done as far as the line goes; None where nothing was committed yet.

    Raises:
        NoMergeBase, NotFastForward, DeskNotEmpty, NotPermitted, LetGo, MissingObject, TreeError: as `analyze_by`.
    """
    desk = dirty.desk
    if base is None or committed is None:
        _check_permits(vault, desk, None, merging)
        begun = _beginning(Objects(objects, sink, vault.group), vault, dirty, merging)
        return begun or analyze_by(objects.of(vault.group), vault, desk, None, merging, tree=dirty.tree)
    if not dirty.items or (committed.tree is None and committed.conflict is None):
        return committed
    now = analyze_by(objects.of(vault.group), vault, desk, base, merging, tree=dirty.tree)
    if committed.conflict is None or now.conflict is None:
        return now
    return now if is_other_question(committed.conflict.paths, now.conflict.paths) else committed


def _beginning(objects: Objects, vault: Vault, dirty: Changes, merging: Merging) -> Analysis | None:
    """Return how a desk without a revision is begun from a commit; None where it is not.

    Then what its folder holds is committed first. Whoever names a side whose content it is to be has a side there,
    though nothing of it is theirs.

    Raises:
        NoMergeBase, NotFastForward, DeskNotEmpty: that commit would have none in common with it.
    """
    desk, that = dirty.desk, merging.that
    if not dirty.items:
        return merging.forward()
    if not merging.follows:
        return None
    came = as_it_came(objects, vault, desk, dirty.tree, [that.commit]) if that.desk == desk else None
    if is_all_in(objects.source, came, dirty.tree, that.tree):
        return merging.forward(came)
    if merging.strategy is Strategy.INIT:
        raise DeskNotEmpty(
            f"The folder of {desk} holds what {that.what} has otherwise or lacks, so it cannot be begun from that.",
            hint="Move those files away, or take only-that for its exact content, or take-this or take-that, which keep"
            " what one side alone has: what the folder holds is committed first.",
        )
    merging.check_related(Relation.UNRELATED)
    return None


def _relation(vault: Vault, base: Checkout | None, merging: Merging, tree: RecordHash | None) -> Relation:
    """Return how what the folder stands on stands to a commit, if the strategy fits them.

    With the `tree` of a folder that would be committed first it is how that commit would stand to it.
    """
    that, strategy, mine = merging.that, merging.strategy, base.commit if base else None
    if mine is not None and strategy is Strategy.INIT:
        raise DeskNotEmpty("This desk has revisions already, so it cannot be begun from another.")
    if mine is None and tree is None:
        return Relation.BEHIND
    if mine == that.commit:
        return Relation.SAME
    if mine is not None and is_ancestor(vault.store, that.commit, mine):
        return Relation.AHEAD
    found = relation(vault.store, mine, that.commit)
    if mine is not None and is_ancestor(vault.store, mine, that.commit):
        found = Relation.BEHIND
    if tree is not None:
        bases = merge_bases(vault.store, mine, that.commit).commits if mine is not None else ()
        found = Relation.SAME if tree == that.tree else Relation.MERGEABLE if bases else Relation.UNRELATED
    if found is Relation.SAME and (
        not merging.follows or strategy is Strategy.FINE or goes_on_from_brought(vault, that.desk, base, that.commit)
    ):
        found = Relation.MERGEABLE  # equal content is no equal history
    merging.check_related(found)
    return found


def _check_permits(vault: Vault, desk: str, mine: RecordHash | None, merging: Merging) -> None:
    """Refuse what its signer may not write here, unless nothing of it is taken (CLAY-80)."""
    if merging.strategy is Strategy.ONLY_THIS:
        return
    for out in refused(vault, desk, mine, [merging.that.commit]):
        raise NotPermitted(
            f"{out.who} changed {few(out.paths)} and may not write there.",
            hint=f"See the rules with: {as_typed('desk permits', desk)} - and change one with: "
            + as_typed("desk permit", "PATH", options=f"--write --anyone {as_option('--desk', desk)}"),
        )


def _outcome(
    objects: Objects, vault: Vault, mine: RecordHash | None, tree: RecordHash, merging: Merging
) -> MergeOutcome:
    that, strategy = merging.that, merging.strategy
    reading = MemoryObjects(fallback=objects.source)
    bases = merge_bases(vault.store, mine, that.commit).commits if mine and strategy.needs_base else ()
    with what_went_named(vault, bases):
        base = base_of(reading, vault, bases)
        if mine and strategy.needs_base:
            base = base_with_brought(reading, vault, base, tree, [mine], [that.commit])
        seeing = objects._replace(source=reading)
        return merge_by(strategy, seeing, base, tree, that.tree, ("this", that.what))
