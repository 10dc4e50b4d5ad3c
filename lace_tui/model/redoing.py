"""Doing again what was taken back last: the core takes acts back, and knows none of what it took back (APP-4).

What an undone act did is told by its entry in the audit trail, and by what it made while that is still there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lazy.address import resolve
from lazy.folder.bringing_back import bring_back
from lazy.folder.going_back import check_out
from lazy.folder.last_act import Act, NothingToUndo, last_act
from lazy.places.adding import add_place
from lazy.places.media import add_command
from lazy.places.registry import is_encrypted, note_encrypted, place_named, remove_place
from lazy.strategy import Occasion, follow
from vault.by_kind import counted
from vault.commands import as_option, as_typed
from vault.desk_folders import MAIN
from vault.desks.diff import diff_trees
from vault.errors import EnvironmentFault
from vault.folder.divergence import one_below
from vault.folder.kept_out import KEEP_OUT, keep_out
from vault.folder.meanwhile import path_as_typed
from vault.folder.work import changes, commit
from vault.plural import few
from vault.revisions.history import commit_info, line_head
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Again", "again", "redo"]


class Again(NamedTuple):
    """How an act that is about to be taken back is done again.

    Args:
        what: it does, as a sentence.
        command: the command with the same result.
        do: does it, and returns what came of it in a sentence; None where it is an update, which has its own plan.
    """

    what: str
    command: str
    do: Callable[[Vault, Watch], str] | None = None


def again(vault: Vault) -> Again | None:
    """Return how the last act is done again, asked before it is taken back; None where it would be another one."""
    act = last_act(vault)
    match act.verb if act is not None else "":
        case "lazy-join" | "lazy-encrypt" if act is not None and _is_new_place(act):
            return _place_again(vault, act.subject)
        case "lazy-leave" if act is not None and "uri" in act.parameters:
            return _no_place_again(act.subject)
        case "seal-commit" if act is not None:
            do_again = _keep_out_again if act.parameters.get("from") == KEEP_OUT else _commit_again
            return do_again(vault, act.parameters.get("desk", act.subject))
        case "lace-update":  # a merge was by a strategy of its own, and perhaps of one friend's line alone
            return Again("Friends' releases come into the folder again", "lace update")
        case "lace-checkout" if act is not None and not act.parameters.keys().isdisjoint({"commit", "over"}):
            return _checkout_again(vault, act)
        case _:
            return None


def _is_new_place(act: Act) -> bool:
    """Tell whether an act named a place, and no peer; an undo takes back with it that it is encrypted."""
    return "key" not in act.parameters if act.verb == "lazy-join" else "added" in act.parameters


def _place_again(vault: Vault, name: str) -> Again:
    place = place_named(vault, name)
    is_sealed = is_encrypted(vault, place)

    def do(vault: Vault, _: Watch) -> str:
        add_place(
            vault,
            name,
            place.uri,
            cwd=vault.folder,
            peer=place.peer,
            create=False,
            also=lambda w, new: note_encrypted(w, new.name, is_on=is_sealed),
        )
        return f"{name} is a place again"

    return Again(f"{name} would be a place again: {place.uri}", add_command(vault, place), do)


def _no_place_again(name: str) -> Again:
    def do(vault: Vault, _: Watch) -> str:
        remove_place(vault, name)
        return f"{name} is no longer a place"

    return Again(f"{name} would no longer be a place", as_typed("place remove", name), do)


def _is_all(vault: Vault, desk: str) -> bool:
    """Tell whether the folder holds nothing besides the last commit: what is more would be taken along."""
    try:
        return not changes(vault, desk, is_dry=True).items
    except EnvironmentFault:  # a folder that is gone by now: the undo itself says so
        return False


def _commit_again(vault: Vault, desk: str) -> Again | None:
    head = line_head(vault.store, vault.node.text, desk)
    if head is None or not _is_all(vault, desk):
        return None
    message = commit_info(vault.store, head.commit).message

    def do(vault: Vault, watch: Watch) -> str:
        made = commit(vault, message, desk=desk, watch=watch)
        if not made:
            return "nothing is changed in the folder, so nothing was committed"
        follow(vault, Occasion.COMMIT, watch)
        return f"{made.desk}@{made.revision}: {counted(made)}"

    where = "" if desk == MAIN else f" {as_option('--desk', desk)}"
    what = f'What the folder holds now would be committed again: "{message}"'
    return Again(what, f"lace commit {as_option('-m', message)}{where}", do)


def _keep_out_again(vault: Vault, desk: str) -> Again | None:
    head = line_head(vault.store, vault.node.text, desk)
    before = one_below(vault, head) if head is not None else None
    if head is None or before is None:
        return None
    info = commit_info(vault.store, head.commit)
    found = diff_trees(vault.store, commit_info(vault.store, before.commit).tree, info.tree)
    paths = [one.path for one in found if one.after is None]

    def do(vault: Vault, watch: Watch) -> str:
        made = keep_out(vault, info.message, paths, desk=desk, watch=watch)
        follow(vault, Occasion.COMMIT, watch)
        return f"{desk}@{made.revision}: {few(paths)} kept out again" if made else "nothing of it is shared"

    where = "" if desk == MAIN else f" {as_option('--desk', desk)}"
    named = (path_as_typed(vault, desk, path) for path in paths)
    command = as_typed(f"commit {as_option('-m', info.message)}{where} --keep-out", *named)
    return Again(f"{few(paths)} would be kept out again", command, do)


def _path_again(vault: Vault, what: str, desk: str, path: str, keeps_edits: bool) -> Again:
    def do(vault: Vault, watch: Watch) -> str:
        done = bring_back(vault, resolve(vault, what), path, watch, keeps_edits=keeps_edits)
        return f"{path} is as in {what} again" + (f": {done.desk}@{done.revision}" if done.revision else "")

    named = path_as_typed(vault, desk, path)
    command = as_typed("checkout", what, named, options="--keep-edits" if keeps_edits else "")
    return Again(f"{path} would be as in {what} again", command, do)


def _checkout_again(vault: Vault, act: Act) -> Again:
    told = act.parameters
    if "path" not in told:
        return _look_again(act.subject)
    return _path_again(vault, act.subject, told["desk"], told["path"], keeps_edits="commit" in told)


def _look_again(what: str) -> Again:
    def do(vault: Vault, watch: Watch) -> str:
        check_out(vault, resolve(vault, what), watch)
        return f"The folder is as in {what} again"

    return Again(f"The folder would be as in {what} again", as_typed("checkout", what), do)


def redo(vault: Vault, before: object, one: Again, watch: Watch) -> str:
    """Do an act again that was taken back; return what came of it.

    Args:
        vault: whose act it is.
        before: the last act as it was once this one was taken back.
        one: the act.
        watch: progress and cancel.

    Raises:
        NothingToUndo: something else was done here since.
    """
    with vault.lock.held():
        if one.do is None or last_act(vault) != before:
            raise NothingToUndo(
                "Something else was done here since it was taken back.", hint="Do it anew by its command."
            )
        return one.do(vault, watch)
