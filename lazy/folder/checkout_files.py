"""The files of a checkout, foreseen and written, of the whole folder or of one path; what came of it (CLAY-24)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lazy.address import ResolvedCommit
from lazy.folder.acts import RESTORED
from lazy.folder.had_again import holds_something
from lazy.folder.keeping import begin, begun, end, keep_found
from lazy.folder.moving import Moves
from lazy.folder.undo_path import BROUGHT, FOUND
from lazy.folder.written import refuse_blocked
from vault.desk_folders import folder_of, within
from vault.desks.checkout import CheckoutResult, apply_plan
from vault.desks.diff import diff_trees
from vault.desks.memory import MemoryObjects
from vault.desks.plan import CheckoutPlan, Skip
from vault.desks.ports import Source
from vault.desks.temporary import remove_temporary
from vault.desks.tree import lookup, walk
from vault.folder.brought_paths import note_brought
from vault.folder.checked_out import checkout_of
from vault.folder.checkout_journal import left_as_they_are, plan_folder
from vault.folder.dir_cache import StoredDirCache
from vault.folder.held_rules import end_look, hold_on
from vault.records import RecordHash
from vault.revisions.history import commit_info
from vault.space import require_room
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["CheckedOut", "Foreseen", "Rewriting", "as_planned", "brought_by", "foreseen", "write_state"]


class CheckedOut(NamedTuple):
    """The folder follows another revision now.

    Args:
        desk: whose folder.
        result: which paths changed.
        saved: the number of the revision that keeps what was edited there; None where nothing was.
        revision: the number of the one that has what was brought over it; None where that is not committed.
        stays: whether new files stay there beside what came back, uncommitted.
        pushed_out: the address of the state that is kept no more for what the path held; empty where none is.
        is_finished: whether an update that was cut off was finished first.
    """

    desk: str
    result: CheckoutResult
    saved: int | None = None
    revision: int | None = None
    stays: bool = False
    pushed_out: str = ""
    is_finished: bool = False


class Foreseen(NamedTuple):
    """What a checkout would do to the folder as it was found.

    Args:
        before: the tree that the folder was found with; None where the desk's folder is gone.
        moved: kind (`added`, `changed`, `deleted`) and path of all that would be written or deleted.
        left_out: paths that would not be written, since no disk or not this one may hold them.
        saves: whether what was edited there would be committed first.
        commits: whether what comes over it would be committed too.
        stays: as of `CheckedOut`.
        is_unfinished: whether an update was cut off, which is finished first.
    """

    before: RecordHash | None
    moved: tuple[tuple[str, str], ...]
    left_out: tuple[Skip, ...] = ()
    saves: bool = False
    commits: bool = False
    stays: bool = False
    is_unfinished: bool = False


def foreseen(source: Source, before: RecordHash, after: RecordHash, moves: Moves) -> Foreseen:
    """Return what would become of a folder between two trees, by what would move in it."""
    kinds = {change.path: change.kind for change in diff_trees(source, before, after)}
    gone = dict.fromkeys(moves.deleted, "deleted")
    moved = sorted(({path: str(kinds[path]) for path in moves.written} | gone).items())
    return Foreseen(before, tuple((kind, path) for path, kind in moved), moves.left_out)


def as_planned(vault: Vault, desk: str, result: CheckoutResult) -> CheckoutResult:
    """Return what was done of a checkout as it was planned: without files that somebody saved while it wrote."""
    kept = left_as_they_are(vault, desk)
    written, deleted = (tuple(path for path in paths if path not in kept) for paths in (result.written, result.deleted))
    late = (Skip(path, "was changed here in the meantime", blocking=True) for path in kept)
    return CheckoutResult(written, deleted, (*result.skipped, *late))


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What is to be written into the folder of a desk, which goes on standing on the same commit.

    Args:
        found: the revision that it comes from.
        before: the tree that the folder was found with.
        after: the one that it is to have.
        path: at and below which it differs; all of the folder if empty.
        over: the commit that the folder stands on, where an undo is to bring back what the path held before: what that
            commit has there, else a state that is kept.
    """

    found: ResolvedCommit
    before: RecordHash
    after: RecordHash
    path: str = ""
    over: RecordHash | None = None

    def __post_init__(self) -> None:
        """Refuse what no undo could find again.

        Raises:
            ValueError: it is kept what all of the folder held; an undo of that is a checkout.
        """
        if self.over is not None and not self.path:
            raise ValueError("an undo brings back a path")

    @property
    def words(self) -> list[str]:
        """What tells the same command again."""
        return [self.over.text if self.over is not None else "", self.path, self.found.what, self.found.tree.text]


class Rewritten(NamedTuple):
    """What came of it.

    Args:
        result: which paths changed.
        pushed_out: the name of the state that is kept no more for it, as `lazy.folder.keeping.Found` has it.
    """

    result: CheckoutResult
    pushed_out: str = ""


class _Kept(NamedTuple):
    """The state that is kept of what is written over: its tree, where one is, and as of `Rewritten`."""

    tree: RecordHash | None = None
    pushed_out: str = ""


def write_state(vault: Vault, to: Rewriting, overlay: MemoryObjects, watch: Watch) -> Rewritten:
    """Write what differs between two trees into a desk's folder; `overlay` has both.

    Where only what was gone comes back, as the folder stands on it, the entry says so: it stands in no undo's way.

    Cut off, it leaves some paths as they are to be and a temporary file, and the same command again does the rest; that
    the state before was kept is noted for it. The rules that it takes away are kept before.

    Raises:
        FolderInTheWay: a file that is not known stands in the way; nothing was changed.
    """
    desk = to.found.desk
    folder, base = folder_of(vault, desk), checkout_of(vault, desk)
    restores = base is not None and _only_restores(overlay, base.tree, to)
    again = begun(vault.store, desk, to.words)
    with vault.writing() as w:
        plan = plan_folder(vault, desk, to.before, to.after, overlay, watch)
        refuse_blocked(plan.skipped)
        require_room(vault.around, folder, plan.bytes, "Writing the folder", is_whole=True)
        hold_on(vault, desk, plan, overlay, folder, within(vault, desk))
        if again is not None:
            kept = _Kept(again.found)
        else:
            kept = _keep_before(w, vault, to, overlay, watch) if base is not None and not restores else _Kept()
    with vault.writing() as w:
        result = _write(w, vault, to, plan, overlay, watch)
        end(w, desk)
        if result.written or result.deleted or again is not None:
            _tell(w, vault, to, kept.tree, restores=restores)
    return Rewritten(result, kept.pushed_out)


def _keep_before(w: Writer, vault: Vault, to: Rewriting, overlay: MemoryObjects, watch: Watch) -> _Kept:
    """Keep what an undo brings back, where the commit that the folder stands on has it not, and note that."""
    base, desk = checkout_of(vault, to.found.desk), to.found.desk
    if base is None or to.over is None or to.before == to.after:
        return _Kept()
    kept = _Kept()
    if lookup(overlay, to.before, to.path) != lookup(overlay, base.tree, to.path):
        state = keep_found(w, vault, desk, [to.path], watch)
        kept = _Kept(state.tree, state.pushed_out) if state is not None else _Kept()
    begin(w, desk, to.words, kept.tree)
    return kept


def _write(
    w: Writer, vault: Vault, to: Rewriting, plan: CheckoutPlan, overlay: MemoryObjects, watch: Watch
) -> CheckoutResult:
    """Carry out a plan, and end the look at another state where all of the folder was written."""
    folder, desk = folder_of(vault, to.found.desk), to.found.desk
    cache = StoredDirCache(vault, desk)
    # One path in each directory: what a run that was cut off brought back there is flushed with the rest.
    here = tuple({name.rpartition("/")[0]: name for name in _at_and_below(overlay, to.after, to.path)}.values())
    remove_temporary(folder, here)
    plan = plan._replace(here=here)
    result = apply_plan(folder, plan, source=overlay, cache=cache, durable=True, progress=watch.travelled)
    cache.keep()  # what this disk cannot carry would count as deleted at the next commit
    if not to.path:
        end_look(w, desk)
    return result


def _tell(w: Writer, vault: Vault, to: Rewriting, kept: RecordHash | None, *, restores: bool) -> None:
    """Tell the trail what was written, and of a path where it came from."""
    found = to.found
    told = {"desk": found.desk, "path": to.path}
    if to.path:
        note_brought(w, vault, found.desk, to.path, found.node, found.commit)
    if to.over is not None:
        told["over"] = to.over.text
    if restores:
        told[RESTORED] = "yes"
    if kept is not None:
        told[FOUND] = kept.text
    told |= brought_by(vault, found)
    w.audit("lace-checkout", found.what, told, relates_to=[found.commit.text])


def brought_by(vault: Vault, found: ResolvedCommit) -> dict[str, str]:
    """Return what an entry tells of a state that is no commit's, such as one that is kept under a name."""
    return {BROUGHT: found.tree.text} if found.tree != commit_info(vault.store, found.commit).tree else {}


def _only_restores(source: Source, base: RecordHash, to: Rewriting) -> bool:
    """Tell whether a path is as the folder stands on it again, and nothing that the folder held is written over."""
    is_as_base = lookup(source, to.after, to.path) == lookup(source, base, to.path) if to.path else to.after == base
    return is_as_base and not any(map(holds_something, diff_trees(source, to.after, to.before)))


def _at_and_below(source: Source, tree: RecordHash, path: str) -> Iterator[str]:
    """Yield a path of a tree and all that is below it."""
    top = lookup(source, tree, path) if path else None
    yield path
    if top is None or top.is_dir:
        below = walk(source, top.hash if top is not None else tree)
        yield from (f"{path}/{name}" if path else name for name, _ in below)
