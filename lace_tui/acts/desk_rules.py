"""Desks and their rules, made for whoever stands somewhere, by a command or in the app (CLAY-3, CLAY-79, CLAY-80)."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lace_tui.acts.typed import desk_from, desk_path_from, refuse_other_desk
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lace_tui.words.permits import permit_text, permit_values
from lazy.people import label_of, node_of
from vault.commands import as_option, as_typed, words_of
from vault.content.keeping import Keep, keeps, set_keep
from vault.desk_folders import Desk, add_desk, desks, mapped_folder, unmapped
from vault.desks.ignore import IGNORE_FILE
from vault.folder.unshared import OthersPath, paths_of_others, unshared_of, way_to_take_out
from vault.permits import Act, Permit, permit_options, permits, set_permit
from vault.persons import linked
from vault.plural import few, plural
from vault.readers import released_to
from vault.revisions.history import commit_info, line_head, releases, shown_version, unreleased
from vault.revisions.kept_states import kept_states
from vault.revisions.labels import labels
from vault.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "EVERY",
    "RuleWords",
    "Told",
    "desk_add",
    "desk_row",
    "keep",
    "keep_text",
    "keep_typed",
    "keep_words",
    "permit",
    "permit_typed",
    "permit_words",
    "typed_words",
]

EVERY = "all"
_LEAST = 2  # words of a command: a path, and what is said of it


class Told(NamedTuple):
    """What came of it.

    Args:
        data: as JSON has it; the command line makes text of what is none.
        text: for people, with foreign text made harmless.
    """

    data: dict[str, Any]
    text: str


class RuleWords(NamedTuple):
    """What is typed to set a rule, but for the path.

    Args:
        verb: of the command.
        options: as they are typed.
        behind: the words behind the path.
    """

    verb: str
    options: str = ""
    behind: tuple[str, ...] = ()

    @property
    def back(self) -> RuleWords:
        """What takes it back."""
        if self.behind:
            return self._replace(behind=(EVERY,))
        return self._replace(options=f"{self.options.partition(' ')[0]} --anyone")

    def command(self, path: str, desk: str = "") -> str:
        """Return the command, of a path as it is typed; in a named desk, or that of the folder."""
        options = f"{self.options} {as_option('--desk', desk) if desk else ''}"
        return as_typed(self.verb, path, *self.behind, options=options.strip())

    def typed(self, path: str) -> str:
        """Return what stands behind the verb."""
        return self.command(path).removeprefix(f"lace {self.verb} ")


def permit_words(vault: Vault, rule: Permit) -> RuleWords:
    """Return what is typed to set a rule about who may write and read."""
    nodes = rule.nodes or ((vault.node.text,) if rule.is_white else ())  # I always may
    if not rule.is_white and nodes:  # one from before that was refused may name me
        nodes = tuple(sorted({*nodes} - linked(vault.store, vault.node.text)))
    names = [label_of(vault, node) for node in nodes]
    return RuleWords("desk permit", permit_options(rule.act, names, is_white=rule.is_white))


def keep_words(rule: Keep) -> RuleWords:
    """Return what is typed to set a rule about how long files are kept."""
    return RuleWords("desk keep", behind=(EVERY if rule.newest is None else str(rule.newest),))


def typed_words(verb: str, line: str) -> list[str]:
    """Return the words of what was typed behind a verb; it may be the whole command.

    Raises:
        BadArguments: a quote is open, or there are too few.
    """
    try:
        words = words_of(line.strip().removeprefix(f"lace {verb} "))
    except ValueError as error:
        raise BadArguments("A quote is open.", hint="Close it, or leave it out.") from error
    if len(words) < _LEAST:
        raise BadArguments("Something is missing.", hint=f"See: lace help {verb}")
    return words


def desk_row(vault: Vault, desk: Desk) -> dict[str, Any]:
    """Return what is known of a desk, as JSON has it."""
    head = line_head(vault.store, vault.node.text, desk.name)
    own = max((found.version for found in releases(vault.store, desk.name, node=vault.node.text)), default=None)
    return {
        "desk": desk.name,
        "folder": mapped_folder(vault, desk.name),
        "revision": head.number if head else 0,
        "version": own,
        "unreleased": unreleased(vault, desk.name),
        "shown": shown_version(vault, desk.name),
        "labels": labels(vault.store, vault.node.text, desk.name),
        "kept": [state.label for state in kept_states(vault.store, desk.name)],
    }


def desk_add(vault: Vault, here: Path, args: argparse.Namespace) -> Told:
    """Make a sub-folder a desk for whoever stands in `here`, an absolute path.

    Args:
        vault: whose folder.
        here: where it was typed.
        args: what was typed, as `lace desk add` takes it apart.

    Raises:
        OutsideFolder, BadArguments: it is no sub-folder.
        BadName, DeskTaken, BadPermit, RulesDamaged, NotWritable: as `add_desk`.
    """
    is_known = args.name in unmapped(vault)
    made = add_desk(vault, args.name, desk_path_from(here, vault, args.folder, is_on_disk=True))
    first = f"lace release 1.0.0 {as_option('--desk', made.name)}"
    following = inert(as_typed("update", made.name) if is_known else first)
    head = line_head(vault.store, vault.node.text, made.name)
    following = f"\nNext: {following}" if head is None else ""
    since = "already" if made.already else "from now on, and main leaves it alone"
    told = "".join(f"\n{inert(desk)} was moved with it." for desk in made.along)
    if made.held_around:
        around = inert(made.held_around)
        told += f"\nWhat {IGNORE_FILE} of {around} keeps out stays out of it too, until you commit it by name."
    if made.permits:
        told += "\nRules of the desk around it hold in it, until you change them with lace desk permit:"
        for owner, rule in made.permits:
            told += f"\n  {permit_text(vault, rule)}" + (f"  in {inert(owner)}" if owner != made.name else "")
    still, sentences = _still_elsewhere(vault, made)
    told += "".join(f"\n{inert(sentence)}" for sentence in sentences)
    return Told(
        {
            "desk": made.name,
            "folder": vault.folder / made.dir,
            "revision": head.number if head else 0,
            "already": made.already,
            "unshared": still,
            "permits": [{"desk": owner, **permit_values(vault, rule)} for owner, rule in made.permits],
        },
        f"{inert(made.dir)} is the desk {inert(made.name)} {since}.{told}{following}",
    )


def _still_elsewhere(vault: Vault, made: Desk) -> tuple[list[str], list[str]]:
    """Return what other desks hold of a new or moved one and nobody has yet, and what to say of that."""
    still: list[str] = []
    said: list[str] = []
    for desk in desks(vault):
        head = line_head(vault.store, vault.node.text, desk.name)
        if head is None:
            continue
        tree = commit_info(vault.store, head.commit).tree
        for at in paths_of_others(vault, desk.name):
            if at.owner not in {made.name, *made.along}:
                continue
            found = unshared_of(vault, desk.name, tree, at)
            found = [name for name in found if name not in still]
            if found:
                still += found
                said.append(_still_said(vault, desk.name, at, found))
    return still, said


def _still_said(vault: Vault, desk: str, at: OthersPath, found: list[str]) -> str:
    goes = "which goes" if len(found) == 1 else "which go"
    out = f"Take it out of that: {way_to_take_out(vault, desk, at, found)}"
    held = f"{plural(len(found), 'file')} of it" if at.left is None else f"{few(found)}, where it lay before"
    return f"{desk} still holds {held}, {goes} with its next release. {out}"


def permit_typed(vault: Vault, here: Path, args: argparse.Namespace) -> Told:
    """Do the same as `permit` of what was typed, as `lace desk permit` takes it apart.

    Raises:
        LaceError: as `permit`.
    """
    act = Act.WRITE if args.write else Act.READ
    return permit(vault, here, args.path, act, only=args.only or (), but=args.but or (), desk=args.desk)


def permit(
    vault: Vault,
    here: Path,
    path: str,
    act: Act,
    *,
    only: Sequence[str] = (),
    but: Sequence[str] = (),
    desk: str | None = None,
) -> Told:
    """Set the rule that somebody asks for who stands in `here`, an absolute path.

    Args:
        vault: whose rule.
        here: where it was typed.
        path: as typed there.
        act: what it is about.
        only: names of who may, besides oneself; none where everybody else than `but` may.
        but: names of who may not.
        desk: its name; None for the one of the folder.

    Raises:
        NoSuchDesk, OutsideFolder, BadArguments, NoSuchPeer: it cannot be one; nor can one against oneself.
        BadPermit, RulesDamaged, Locked, StoreUnwritable: as `set_permit`.
    """
    desk = desk_from(here, vault, desk)
    names = {name: node_of(vault, name) for name in only or but}
    if not only:
        _refuse_myself(vault, names)
    nodes = tuple(sorted(set(names.values())))
    rule = Permit(desk_path_from(here, vault, path, desk), act, bool(only), nodes)
    known = {(old.path, old.act) for old in permits(vault.store, desk)}
    if names or (rule.path, act) not in known:  # one from before the folder was a desk may be taken back
        there = partial(
            _there,
            here,
            permit_options(act, [*names], is_white=bool(only)),
            vault,
            mapped_folder(vault, desk) / rule.path,
        )
        refuse_other_desk(vault, desk, rule.path, path, there)
    set_permit(vault, desk, rule)
    released = released_to(vault, desk, rule)
    return Told(
        {"desk": desk, **permit_values(vault, rule), "released": released},
        permit_text(vault, rule) + (_still_readable(vault, desk, rule, released) if released else ""),
    )


def _refuse_myself(vault: Vault, but: Mapping[str, str]) -> None:
    """Refuse a rule against myself: nothing would come of it, for I always may.

    Args:
        vault: mine.
        but: names of who may not, and their nodes.

    Raises:
        BadArguments: one of them is mine.
    """
    mine = linked(vault.store, vault.node.text) if but else set()
    if found := [name for name, node in but.items() if node in mine]:
        told = f"{inert(found[0])} is you, and you always may write and read in a desk of yours."
        raise BadArguments(told, hint="To keep it for yourself alone, say: --only self")


def _still_readable(vault: Vault, desk: str, rule: Permit, released: list[str]) -> str:
    """Return what to say of a rule against reading what is out already."""
    names = "others" if rule.is_white else ", ".join(inert(label_of(vault, node)) for node in rule.nodes)
    has = "has it" if len(released) == 1 else "have it"
    newest_first = few(released[::-1])
    return f"\n! {inert(desk)} {newest_first} {has}: what was released stays readable, for {names} too."


def _there(here: Path, said: str, vault: Vault, target: Path, desk: str, _: str) -> str:
    """Return the command that makes the rule in the desk in whose folder a path lies."""
    inside = target.relative_to(mapped_folder(vault, desk)).as_posix()
    if (desk_path_from(here, vault, inside, desk) or os.curdir) != inside:  # where the person is it is another path
        inside = os.path.relpath(target, here)
    return RuleWords("desk permit", said).command(inside, desk)


def keep_typed(vault: Vault, here: Path, args: argparse.Namespace) -> Told:
    """Do the same as `keep` of what was typed, as `lace desk keep` takes it apart; without a path, list the rules.

    Raises:
        LaceError: as `keep`.
    """
    if args.path is not None:
        return keep(vault, here, args.path, args.newest or "", desk=args.desk)
    desk = desk_from(here, vault, args.desk)
    rules = keeps(vault.store, desk)
    text = "\n".join(map(keep_text, rules)) or f"Every release of {inert(desk)} keeps its files."
    return Told({"desk": desk, "keeps": [{"path": rule.path, "newest": rule.newest} for rule in rules]}, text)


def keep(vault: Vault, here: Path, path: str, newest: str, *, desk: str | None = None) -> Told:
    """Set the rule that somebody asks for who stands in `here`, an absolute path.

    Args:
        vault: whose rule.
        here: where it was typed.
        path: as typed there.
        newest: how many releases, or `EVERY`.
        desk: its name; None for the one of the folder.

    Raises:
        NoSuchDesk, OutsideFolder, BadArguments, BadKeep: it cannot be a rule.
        Locked, StoreUnwritable: as `set_keep`.
    """
    desk = desk_from(here, vault, desk)
    if newest != EVERY and not (newest.isdecimal() and len(newest) < 10):
        raise BadArguments(
            "lace desk keep: say how many releases, or all.", hint="For example: lace desk keep videos 3"
        )
    count = None if newest == EVERY else int(newest)
    rule = Keep(desk_path_from(here, vault, path, desk), count)
    set_keep(vault, desk, rule)
    following = "" if count is None else "\nNothing goes by itself: lace prune --dry-run says what would."
    return Told({"desk": desk, "path": rule.path, "newest": rule.newest}, keep_text(rule) + following)


def keep_text(rule: Keep) -> str:
    """Return a rule as one line, without control characters."""
    count = "every release" if rule.newest is None else f"the newest {rule.newest} of each member's releases"
    return f"{inert(rule.path or '.')}  kept in {count}"
