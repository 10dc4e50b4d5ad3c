"""Taking back the last local act, where nothing of it was shared; else saying what would answer it (APP-4).

A revision that nobody else can have is taken out of my line again: after a commit the folder stays as it is, and what
was committed is uncommitted work once more; after an update or a merge the folder goes back to what it was. What the
commit alone held, or what was edited where the folder is written over, is kept under a name
(`vault.revisions.kept_states`). What was shared is never un-shared.
"""

from __future__ import annotations

from typing import NamedTuple

from lazy.folder.acts import ACTS, ActKind
from lazy.folder.had_again import mine_of, written_over
from lazy.folder.heads import with_equal
from lazy.folder.keeping import Found, keep, keep_found
from lazy.folder.last_act import UNDO, Act, Noted, NothingToUndo, Undone, acts_back, last_act, refuse_overtaken
from lazy.folder.left_out import absent_now
from lazy.folder.moving import Moves, planned_follow
from lazy.folder.only_copy import only_copies
from lazy.folder.saving import commits_with
from lazy.folder.undo_look import undo_look
from lazy.folder.undo_path import BUT_EDITED, as_before, undo_path
from lazy.folder.written import as_written, follow
from lazy.places.registry import keep_place, note_encrypted, remove_place
from lazy.places.roads import make_place
from vault.commands import as_option, as_typed
from vault.desk_folders import MAIN
from vault.desks.diff import Change
from vault.desks.edit import select_paths
from vault.desks.memory import MemoryObjects
from vault.folder.checked_out import Checkout, set_checkout
from vault.folder.checkout_journal import is_unfinished, left_as_they_are
from vault.folder.divergence import one_below
from vault.folder.finishing import finishing, is_cut
from vault.folder.held_rules import look_again
from vault.folder.kept_out import KEEP_OUT
from vault.folder.meanwhile import keep_command
from vault.folder.unfinished import finish_checkout, finish_checkouts
from vault.folder.work import changes
from vault.records import RecordHash
from vault.revisions.graph import newest
from vault.revisions.history import (
    CommitInfo,
    Head,
    Relation,
    commit_info,
    line_head,
    releases,
    shared_before,
)
from vault.revisions.kept_states import falls_out
from vault.store import Store
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["undo"]

_NOTHING_MADE = frozenset({Relation.AHEAD, Relation.SAME, Relation.CONFLICTING})


def undo(
    vault: Vault,
    *,
    dry_run: bool = False,
    watch: Watch = Watch(),
    noted: Noted = lambda _w, _done: None,
) -> Undone:
    """Take back the last act; with `dry_run` nothing is changed, nor is an update finished that was cut off.

    Inside its write, `noted` is given what was taken back.

    Raises:
        NothingToUndo: it was shared, or is of a kind that is answered by another act, which the hint names.
        FolderGone, Unreadable: the folder cannot be compared with what was committed.
        FolderInTheWay: going back would overwrite a file that was edited since; nothing was changed.
    """
    if (finished := _finished(vault, dry_run, watch)) is not None:
        return finished
    done = _undo(vault, dry_run, watch, noted)
    if dry_run:
        vault.check_plan()
    return done


def _undo(vault: Vault, dry_run: bool, watch: Watch, noted: Noted) -> Undone:
    """Do what `undo` does where no undo was cut off."""
    act = last_act(vault)
    if act is None:
        raise NothingToUndo("Nothing was done here yet that could be taken back.")
    kind = ACTS.get(act.verb, ActKind())
    # Clashing heads, merged, and a path that was brought back over what was edited there.
    if kind.is_work or (act.verb in {"lazy-resolve", "lace-checkout"} and "commit" in act.parameters):
        return _undo_work(vault, act, dry_run, watch, noted)
    is_encrypted = act.verb == "lazy-encrypt" and "added" in act.parameters  # as it was added, so in one act
    if is_encrypted or (act.verb == "lazy-join" and "key" not in act.parameters):  # a place, and no peer
        done = Undone(f"{act.subject} {'would no longer be' if dry_run else 'is no longer'} a place")
        if not dry_run:
            with vault.writing() as w:  # both or none, or the next undo would take this one back
                refuse_overtaken(vault, act)
                remove_place(vault, act.subject)
                _note(w, act, entries=3 if is_encrypted else 2)
                noted(w, done)
        return done
    if act.verb == "lazy-leave" and "uri" in act.parameters:
        done = Undone(f"{act.subject} {'would be' if dry_run else 'is'} a place again")
        if not dry_run:
            uri, node = act.parameters["uri"], act.parameters.get("node")
            place = make_place(vault, act.subject, uri, cwd=vault.folder, node=node, create=False)
            with vault.writing() as w:
                refuse_overtaken(vault, act)
                keep_place(w, place)
                note_encrypted(w, place.name, is_on="encrypted" in act.parameters)
                _note(w, act)
                noted(w, done)
        return done
    if act.verb == "lace-checkout" and "over" in act.parameters:
        undo_checkout = undo_path if "path" in act.parameters else undo_look
        return undo_checkout(vault, act, dry_run, watch, noted)
    raise NothingToUndo(
        f"The last act was {kind.words or act.verb} {act.subject[:60]}, which is not taken back.",
        hint=_before_release(vault, act) or _other_side(vault, act) or kind.way_back or NothingToUndo.hint,
    )


def _other_side(vault: Vault, act: Act) -> str:
    """Return what brings back a side of the conflict that a decision was about; empty where that cannot be told."""
    if act.verb != "lazy-resolve":
        return ""
    from lazy.conflict_words import other_side  # mostly something else was done last
    from lazy.conflicts import conflicts

    known = conflicts(vault, include_settled=True)
    found = [one for one in known if act.subject in {one.id, f"{one.desk}@{one.version}"}]
    return f"A decision stays. {other_side(found[0])}" if len(found) == 1 else ""


def _before_release(vault: Vault, act: Act) -> str:
    """Return what brings back what my line had released before a release; empty where that was nothing else."""
    if act.verb != "seal-release":
        return ""
    desk, _, _ = act.subject.rpartition("@")
    mine = releases(vault.store, desk, node=vault.node.text)
    commit = next((one.commit for one in mine if one.hash.text == act.parameters.get("release")), None)
    number = shared_before(vault, desk, commit) if commit is not None else None
    if number is None:
        return ""
    option = "" if desk == MAIN else f" {as_option('--desk', desk)}"
    back = as_typed("checkout", f"{desk}@{number}")
    return f"A release is never taken back. Release what was before it again: {back} - then: lace release{option}"


def _finished(vault: Vault, dry_run: bool, watch: Watch) -> Undone | None:
    """Go on with an undo that was cut off while it wrote the folder; None when there is none.

    Raises:
        NothingToUndo: a file that was edited since is in its way; the act before it is not taken back instead.
    """
    act = next(acts_back(vault), None)
    desk = act.parameters.get("desk", "") if act is not None and act.verb == UNDO else ""
    if act is None or not is_unfinished(vault, desk):
        return None
    if "path" in act.parameters:
        done = Undone(as_before(act.parameters["path"], is_dry=dry_run), desk)
    else:
        number = act.parameters["revision"]
        done = Undone(_taken_back(desk, number, keeps_folder=False, is_dry=dry_run), desk, int(number))
    if "kept" in act.parameters:
        gone = act.parameters.get("pushed-out", "")
        done = done._replace(kept_as=f"{desk}@{act.parameters['kept']}", pushed_out=f"{desk}@{gone}" if gone else "")
    late = finishing(vault, desk, watch)
    if late is None:
        return None
    if dry_run:
        edited, left = {*late.merged, *late.kept}, late.kept
    else:
        edited = {problem.path for problem in finish_checkout(vault, desk, watch)}
        left = left_as_they_are(vault, desk)  # while a file that was edited since is in the way
    written, deleted = (tuple(path for path in paths if path not in edited) for paths in (late.written, late.deleted))
    done = done._replace(written=written, deleted=deleted)
    if left:
        # The commit ends the undo: to say `undo` again after it would take back that commit.
        way = f"Keep it, which ends the undo: {keep_command(vault, desk, left[:1])}"
        way += " - or bring it back as it was, then: lace undo"
        raise NothingToUndo(f"The last undo is not done yet: {left[0]} was edited since.", hint=way)
    if edited:
        done = done._replace(what=f"{done.what}{BUT_EDITED}", kept=tuple(sorted(edited)))
    return done


class _Work(NamedTuple):
    """A revision of my line that is to be taken back.

    Args:
        head: it.
        info: its commit.
        before: the commit below it, with its tree.
        what: is said of it.
        keeps_folder: whether the folder stays as it is.
        found: what was changed since of what it wrote in the folder.
        tree: of the folder as it was found, where the folder does not stay; else that of the commit.
        lone: paths of what would be lost: the folder is to be written over there, or the commit alone has it.
    """

    head: Head
    info: CommitInfo
    before: Checkout
    what: str
    keeps_folder: bool
    found: tuple[Change, ...]
    tree: RecordHash
    lone: tuple[str, ...]


def _undo_work(vault: Vault, act: Act, dry_run: bool, watch: Watch, noted: Noted) -> Undone:
    overlay = MemoryObjects(fallback=vault.store)
    work = _work(vault, act, overlay, watch, is_dry=dry_run)
    desk, head, new = work.head.desk, work.head, work.before.tree
    done = Undone(work.what, desk, head.number, lone=work.lone)
    if dry_run:
        old = work.info.tree
        if work.found:
            old = select_paths(overlay.of(vault.group), old, work.tree, [item.path for item in work.found])
        gone = falls_out(vault.store, desk, old) if work.lone else ""
        done = done._replace(pushed_out=f"{desk}@{gone}" if gone else "")
        moves = Moves((), ()) if work.keeps_folder else planned_follow(vault, desk, old, new, overlay, watch, work.lone)
        return done._replace(is_unfinished=is_cut(vault, desk, watch), **moves._asdict())
    absent = absent_now(vault)
    with vault.writing() as w:
        refuse_overtaken(vault, act, is_same=line_head(vault.store, vault.node.text, desk) == head)
        _refuse_shared(vault, head)
        old, state, gone = _kept(w, vault, work, watch)
        if state is not None:
            done = done._replace(kept_as=f"{desk}@{state.label}", pushed_out=f"{desk}@{gone}" if gone else "")
        if not work.keeps_folder:
            result = follow(w, vault, desk, old, new, watch)
            done = done._replace(written=tuple(result.written), deleted=tuple(result.deleted))
        else:  # what that commit held is in the folder still, and no rule of what comes below keeps it out
            look_again(w, desk, head.commit, old)
        also = _stood_beside(vault, act, work.info, work.before, keeps_folder=work.keeps_folder)
        set_checkout(w, desk, work.before._replace(also=also))
        _forget(vault, head, own=work.info.signer == vault.node.text)
        watch.progress(0, 0, "rebuild")
        # The numbers of names follow from all records in their order.
        w.store.rebuild(vault.node.text, vault.founding, watch.cancelled)
        told = {"verb": act.verb, "desk": desk, "revision": str(head.number)}
        told |= ({"kept": state.label} if state is not None else {}) | ({"pushed-out": gone} if gone else {})
        w.audit(UNDO, act.subject, told)
        noted(w, done)
    return as_written(vault, desk, done, absent)


def _work(vault: Vault, act: Act, overlay: MemoryObjects, watch: Watch, *, is_dry: bool) -> _Work:
    """Return the revision that an act made, and what became of it in the folder since.

    Raises:
        NothingToUndo: it was shared, it has none below it, or files of an update were changed since.
    """
    desk = act.parameters.get("desk", act.subject)
    head = line_head(vault.store, vault.node.text, desk)
    if head is None:
        raise NothingToUndo("There is no revision to take back.")
    _refuse_shared(vault, head)
    below = one_below(vault, head)
    if below is None:
        only = f"{desk} has one revision only, and none before it to go back to."
        raise NothingToUndo(only, hint="Change the files as they should be, and commit that.")
    info = commit_info(vault.store, head.commit)
    before = Checkout(below.commit, commit_info(vault.store, below.commit).tree)
    keeps_folder = info.signer == vault.node.text and not _brought(act, head)
    was_out = act.parameters.get("from") == KEEP_OUT
    what = _taken_back(desk, str(head.number), keeps_folder=keeps_folder, was_out=was_out, is_dry=is_dry)
    if not is_dry:
        finish_checkouts(vault, watch, desk)
    work = _Work(
        head=head,
        info=info,
        before=before,
        what=what,
        keeps_folder=keeps_folder,
        found=(),
        tree=info.tree,
        lone=(),
    )
    if keeps_folder:
        is_only = not _is_named(vault.store, head)
        only_ones = only_copies(vault, info, before.tree, watch, is_dry=is_dry) if is_only else ()
        return work._replace(lone=tuple(copy.path for copy in only_ones))
    dirty = changes(vault, desk, watch, overlay=overlay, is_dry=is_dry)
    found = written_over(vault, before.tree, info.tree, dirty.items)
    late = finishing(vault, desk, watch)
    if found and late is not None and late.kept:
        # To commit them and say `undo` again would take back that commit, and no more.
        back = as_typed("checkout", f"{desk}@{below.number}")
        way = f"Keep them: lace commit -m TEXT - then bring back what was before: {back}"
        raise NothingToUndo("Files were changed since, and going back would lose that.", hint=way)
    lone = tuple(item.path for item in mine_of(vault, before.tree, desk, found))
    return work._replace(found=found, tree=dirty.tree, lone=lone)


def _kept(w: Writer, vault: Vault, work: _Work, watch: Watch) -> Found:
    """Return the tree that the folder holds of a revision, with the state under which what would be lost is kept."""
    if work.found:
        paths = [item.path for item in work.found]
        found = keep_found(w, vault, work.head.desk, paths, watch, is_to_keep=bool(work.lone))
        return found if found is not None else Found(work.info.tree, None)
    return keep(w, vault, work.head.desk, work.info.tree) if work.lone else Found(work.info.tree, None)


def _taken_back(desk: str, number: str, *, keeps_folder: bool, was_out: bool = False, is_dry: bool) -> str:
    be, now = ("would be", "") if is_dry else ("is", " now")
    kept = f"what it held {be} uncommitted work{now}" if keeps_folder else f"the folder {be} as it was before"
    if was_out:
        kept = f"what it kept out {be} part of {desk} again"
    return f"{desk} revision {number} {be} taken back; {kept}"


def _stood_beside(
    vault: Vault, act: Act, info: CommitInfo, base: Checkout, *, keeps_folder: bool
) -> tuple[RecordHash, ...]:
    """Return what stands beside a line again without its last commit, for the next one to name it.

    That is what the commit named besides, and of an update not what it brought, with heads of the content there is now.
    """
    named = tuple(parent for parent in info.parents if parent != base.commit)
    if keeps_folder:
        return named
    mine = info.signer == vault.node.text
    base = base._replace(also=tuple(parent for parent in named if mine and parent.text not in act.relates_to))
    equal = [commit for commit in commits_with(vault, info.desk, base.tree) if commit != info.hash]
    found = with_equal(vault, info.desk, base, newest(vault.store, equal))
    return found.also if found is not None else ()


def _brought(act: Act, head: Head) -> bool:
    """Tell whether an act made a revision of others' work; every other one holds what was found in the folder.

    Parents do not tell: a plain commit names more than one where somebody had the same content.
    """
    made_it = act.parameters.get("commit") == head.commit.text
    return made_it and act.parameters.get("relation") not in _NOTHING_MADE


def _refuse_shared(vault: Vault, head: Head) -> None:
    shared = vault.store.rows("SELECT 1 FROM shared WHERE p = ?", vault.store.position(head.rev))
    labels = vault.store.rows("SELECT label FROM label WHERE rev = ?", head.rev.text)
    if shared:
        before = as_typed("checkout", f"{head.desk}@{head.number - 1}")
        raise NothingToUndo(
            f"{head.desk} revision {head.number} was shared, and what was shared is never taken back.",
            hint=f"Bring the one before back: {before}, then lace commit.",
        )
    if labels:
        raise NothingToUndo(f"{head.desk} revision {head.number} has the label {labels[0][0]}.")


def _is_named(store: Store, head: Head) -> bool:
    """Tell whether something else names the commit of a revision, which then stays without it."""
    named = (
        "SELECT 1 FROM rev WHERE commit_hash = ?1 AND hash <> ?2 UNION SELECT 1 FROM parent WHERE parent = ?1"
        " UNION SELECT 1 FROM release WHERE commit_hash = ?1"
    )
    return bool(store.rows(named, head.commit.text, head.rev.text))


def _forget(vault: Vault, head: Head, *, own: bool) -> None:
    """Take a revision out of the store, and its commit when it is mine and nothing else names it."""
    store = vault.store
    commit = head.commit if own and not _is_named(store, head) else None
    for record in (head.rev, commit):
        position = store.position(record) if record is not None else None
        if position is not None:
            store.forget(position)


def _note(w: Writer, act: Act, entries: int = 2) -> None:
    """Write down that an act was taken back, and the act that did so with it: as often as both have entries."""
    for _ in range(entries):
        w.audit(UNDO, act.subject, {"verb": act.verb})
