"""What two decisions made of one file beside the sides, where that clashes: a person says what it is (LAZ-42)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from lazy.contested import Conflict, Proposal
from lazy.resolving.picks import BOTH, NoSuchSide
from lazy.resolving.regions import texts_of
from vault.commands import as_option
from vault.desks.edit import NoSuchPath, apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.merge import Choice, MergeOutcome, resolve_with
from vault.desks.merge_text import regions_of, take_regions
from vault.desks.pages import Entry
from vault.desks.path_conflict import PathConflict
from vault.desks.ports import Objects, Sink, Source
from vault.desks.tree import lookup
from vault.errors import CallerError
from vault.names import SELF
from vault.plural import few
from vault.records import RecordHash
from vault.vault import Vault

__all__ = ["Accepting", "DecisionsClash", "Way", "chosen", "refused", "require_used"]

Way = Callable[[MergeOutcome], RecordHash]

_NAMED = 20  # paths


class DecisionsClash(CallerError):
    """Two decisions on one version changed a file beside its sides, so that they clash there (LAZ-42)."""

    code = "decisions-clash"
    exit_code = 2
    hint = "Choose for each path: --path P --take local, or both, or who decided."


def refused(conflict: Conflict) -> Way:
    """Return what refuses to keep a side where earlier decisions clash: only a merge can ask by path."""

    def refuse(outcome: MergeOutcome) -> RecordHash:
        paths = few([clash.path for clash in outcome.conflicts], _NAMED)
        way = f"Make the files as they should be, then: lace resolve {conflict.id} --merged VERSION"
        raise DecisionsClash(f"What was decided before clashes with this in {paths}; nothing was changed.", hint=way)

    return refuse


class Accepting(NamedTuple):
    """A decision that is accepted, and what a person says where it clashes with an earlier one.

    Attributes:
        vault: whose it is to accept.
        conflict: what is decided.
        decision: the one that is accepted.
        takes: path -> `local` for what the folder has there, `both`, or a word for who made the decision.
        folder: the tree of what my folder has, where it has the desk.
    """

    vault: Vault
    conflict: Conflict
    decision: Proposal
    takes: Mapping[str, str]
    folder: RecordHash | None


def chosen(accepting: Accepting, objects: MemoryObjects, sink: Sink) -> Way:
    """Return what settles the clashes of an earlier decision with one that is accepted, as a person chose by path.

    Args:
        accepting: the decision, and what was chosen.
        objects: where trees and content are read.
        sink: where the tree goes.
    """
    return partial(_taken, accepting, objects, sink)


def _taken(accepting: Accepting, objects: MemoryObjects, sink: Sink, outcome: MergeOutcome) -> RecordHash:
    vault, conflict, decision, takes, folder = accepting
    word_of = {clash.path: takes.get(clash.path) or takes.get(clash.twin or "", "") for clash in outcome.conflicts}
    if open_ := [path for path, word in word_of.items() if not word]:
        raise DecisionsClash(
            f"The decision of {decision.word} and an earlier one clash in {few(open_, _NAMED)}; nothing was changed.",
            hint=_way(conflict, decision, open_),
        )
    choices: dict[str, Choice] = {}
    of_folder: dict[str, Entry | None] = {}
    for clash in outcome.conflicts:
        word = word_of[clash.path]
        if word in {"local", SELF} and folder is not None:
            choices[clash.path] = "ours"
            if clash.has_two_names:
                names = filter(None, (clash.path, clash.twin, clash.old))
                of_folder.update((name, lookup(objects, folder, name)) for name in names)
            elif (here := clash.entry_in(objects, folder)) != clash.ours:
                of_folder[clash.path] = here
        elif word == BOTH:
            choices[clash.path] = _both(objects, clash)
        elif word in {decision.word, decision.name, decision.node, decision.resolution.text}:
            choices[clash.path] = "theirs"
        else:
            way = f"Take one of: local, both, {decision.word}."
            raise NoSuchSide(f"{word!r} is nobody who decided {clash.path}.", hint=way)
    tree = resolve_with(outcome, choices)
    if folder is None or not of_folder:
        return tree
    return apply_changes(Objects(objects, sink, vault.group), tree, of_folder)


def _both(source: Source, clash: PathConflict) -> bytes:
    if not clash.is_text:
        way = "Write the other one into the folder under another name first, and take one of them."
        raise NoSuchSide(f"{clash.path} has no lines of which both could be taken ({clash.kind}).", hint=way)
    texts = texts_of(source, clash)
    count = sum(region.kind == "conflict" for region in regions_of(*texts))
    return take_regions(clash.path, *texts, dict.fromkeys(range(1, count + 1), "both"))


def require_used(takes: Mapping[str, str], clashes: Sequence[str]) -> None:
    """Refuse a choice for a path in which no decisions clash: it would be dropped without a word.

    Raises:
        NoSuchPath: there is one.
    """
    if strange := sorted(takes.keys() - set(clashes)):
        raise NoSuchPath(
            f"{strange[0]} is not a path in which that decision clashes with an earlier one.",
            hint="Accept it without this path, or decide by path with: --merged VERSION",
        )


def _way(conflict: Conflict, decision: Proposal, paths: Sequence[str]) -> str:
    """Return the command that keeps both, path by path, and what else may be taken."""
    words = conflict.accept_words(decision)
    picks = " ".join(f"{as_option('--path', path)} --take local" for path in paths[:_NAMED])
    others = f"--take both has the lines of both, {as_option('--take', decision.word)} those of that decision"
    return f"Make each file as it should be, then: lace resolve {conflict.id} {words} {picks} - {others}"
