"""The family "Begin and belong": make or enter a vault, invite and admit friends."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from lace_tui.acts.typed import node_key
from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.cli.unanswered import answered_once, let_go_once_told
from lace_tui.cli.who import formers_data, formers_lines, given_name, login_name, who
from lace_tui.errors import FolderMissing
from lace_tui.verbs.placing import meeting, place_data
from lace_tui.words.inert import inert
from lace_tui.words.joining import left_out_places, repository_note, words_to_compare
from lace_tui.words.times import moment
from lazy.belonging import circle
from lazy.belonging.admitting import admit
from lazy.belonging.invitations import Invitation
from lazy.belonging.requests import requests
from lazy.folder.unanswered import AGAIN, note_answer, unanswered
from lazy.people import former, is_member, label_of, members
from lazy.places.registry import places
from vault.beginning import VaultExists, found_vault
from vault.desks.paths import DOT_VAULT
from vault.errors import CallerError
from vault.files import NotWritable, reason_of
from vault.identity.words import fingerprint_words
from vault.names import BadName, check_person
from vault.notes.people import INVITATION
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = [
    "NameNeeded",
    "configure",
    "run",
]

DEFAULT_GROUP = "friends"
_ELSEWHERE = (
    "Your keys lie below it: make it a directory that you may write to, or name another directory in LACE_HOME."
)
_BACK = (
    "Your key was revoked here, and an invitation is for a folder without a vault. To come back with this one:"
    " lace adopt - then sync, and a friend admits you."
)
_Noted = Callable[[Vault, Writer], None]


class NameNeeded(CallerError):
    """Nothing says what friends should call this person."""

    code = "name-needed"
    hint = "Say it with: --name N"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    for names, options in _ARGUMENTS.get(verb, ()):
        parser.add_argument(*names, **options)


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    return _VERBS[context.verb](context, args)


# Begin


def _init(context: Context, args: argparse.Namespace) -> Answer:
    name = args.name or login_name(context)
    if not name:
        if context.find_vault() == context.cwd:  # no name makes another one here
            raise VaultExists(f"There is already a vault in {context.cwd}.")
        raise NameNeeded("Nothing says what your friends should call you.", hint="Say it: lace init --name N")
    asked = [name, args.group, str(context.cwd.absolute())]  # in a copy of the folder it is another wish

    def make(noted: _Noted) -> Vault:
        return found_vault(context.cwd, context.surroundings(), name=name, group=args.group, also=noted)

    with ExitStack() as stack:
        vault, is_again = _made_once(context, asked, make, stack)
        answer = Answer(
            {**who(vault), "already": is_again},
            f"This folder is now shared as the group {inert(args.group)}, and you are {inert(vault.name)} in it.\n"
            + (f"{AGAIN}\n" if is_again else "")
            + f"Your words: {fingerprint_words(vault.node)}\n"
            "Next: lace release, then lace place add NAME DIR and lace invite NAME",
        )
        return let_go_once_told(context, vault, answer, stack)


def _made_once(
    context: Context, asked: list[str], make: Callable[[_Noted], Vault], stack: ExitStack
) -> tuple[Vault, bool]:
    """Make a vault here, or open the one that the same command made and did not tell of.

    Args:
        context: where.
        asked: what the command was asked for.
        make: makes it; what it is given notes in the same write that it was asked for.
        stack: closes it.

    Returns:
        The vault, and whether it was there already.

    Raises:
        VaultExists: it is there for any other reason.
        FolderMissing: this folder cannot be made into one.
    """
    _note_around(context)
    try:
        with _local_faults(context.cwd):
            vault = make(lambda vault, w: note_answer(w, vault, context.verb, asked, {}))
    except VaultExists:
        return stack.enter_context(_begun(context, asked)), True
    return stack.enter_context(vault), False


def _begun(context: Context, asked: list[str]) -> Vault:
    """Return the vault that the same command began, where nobody was told of it and nothing was done in it since.

    Raises:
        VaultExists: it is there for any other reason.
    """
    vault = context.open_vault()
    if unanswered(vault, context.verb, asked) is not None:
        return vault
    with vault:
        what = f"{inert(vault.name)} in the group {inert(vault.group.split('/', 1)[0])}"
        if context.verb == "accept" and vault.store.note(INVITATION) == asked[0]:
            told = f"This invitation was accepted in {context.cwd} already: you are {what}."
            raise VaultExists(told, hint=f"Go on with: {meeting(places(vault))} - see where you stand: lace status")
        is_out = context.verb == "accept" and former(vault, vault.node.text) is not None
        told = f"There is already a vault in {context.cwd}: you are {what}."
        raise VaultExists(told, hint=_BACK if is_out else "")


def _accept(context: Context, args: argparse.Namespace) -> Answer:
    invitation = Invitation.decode(args.invite)
    name = args.name or _suggested(invitation) or login_name(context)
    if not name:
        raise NameNeeded("Nothing says what your friends should call you.", hint="Say it: lace accept INVITE --name N")
    asked = [args.invite, name, str(context.cwd.absolute())]

    def make(noted: _Noted) -> Vault:
        return circle.accept(context.cwd, context.surroundings(), args.invite, name=name, noted=noted)[0]

    with ExitStack() as stack:
        vault, is_again = _made_once(context, asked, make, stack)
        if is_again:
            circle.leave_requests(vault)
        return let_go_once_told(context, vault, _accepted(context, vault, invitation, is_again=is_again), stack)


def _suggested(invitation: Invitation) -> str:
    """Return the name that an invitation suggests, which an older lace may have let through."""
    try:
        return check_person(invitation.name) if invitation.name else ""
    except BadName as error:
        error.hint = f"Say another: lace accept INVITE --name {invitation.name}-1"
        raise


def _accepted(context: Context, vault: Vault, invitation: Invitation, *, is_again: bool) -> Answer:
    doubt = invitation.doubt(vault.around.tai())
    if doubt:
        context.say(inert(doubt))
    known = places(vault)
    for told in left_out_places(vault, invitation):
        context.say(told)
    data = {
        **who(vault),
        "peer": invitation.inviter,
        "peer_words": invitation.words,
        "places": [place_data(vault, place) for place in known],
        "already": is_again,
    }
    return Answer(
        data,
        f"You are {inert(vault.name)} in the group {inert(invitation.group)}.\n"
        + (f"{AGAIN}\n" if is_again else "")
        + "".join(f"{line}\n" for line in words_to_compare(vault, invitation))
        + f"Places: {', '.join(inert(place.name) for place in known) or 'none yet'}\n"
        f"Next: {meeting(known)}, then lace update. You are a member once your friend has synced too.",
    )


def _id(context: Context, _: argparse.Namespace) -> Answer:
    with context.open_vault() as vault:
        data = who(vault)
        return Answer(
            data,
            f"{inert(vault.name)} in the group {inert(vault.group)}\n{vault.node}\nwords: {data['words']}",
        )


def _note_around(context: Context) -> None:
    outer = context.find_vault()
    if outer is not None and outer != context.cwd:
        context.say(f"{outer} has a vault too; it leaves this folder out from now on.")
    if told := repository_note(context.cwd):
        context.say(told)  # its settings and hooks would run for every friend


class _local_faults:  # noqa: N801 - used as a statement
    """Turn failures to make the folder into sentences."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        cause = error.__cause__ if isinstance(error, NotWritable) else error
        there = self._folder / DOT_VAULT
        if isinstance(cause, FileExistsError) and os.path.lexists(there) and not there.is_dir():
            way = f"Move it away, then run the same command again: lace keeps its own files in a directory {DOT_VAULT}."
            raise FolderMissing(f"{there} is there already, and is not a directory.", hint=way) from error
        if isinstance(error, NotWritable) and not _is_of_folder(cause, self._folder):
            error.hint = _ELSEWHERE  # another folder would change nothing
        elif isinstance(cause, OSError):
            raise FolderMissing(
                f"{self._folder} cannot be made into a vault: {reason_of(cause)}.",
                hint="Choose a folder that you may write to.",
            ) from error


def _is_of_folder(cause: object, folder: Path) -> bool:
    """Tell whether what could not be written is the folder, lies in it, or is on the way to it."""
    name = cause.filename if isinstance(cause, OSError) else None
    if not isinstance(name, str):
        return True
    path, folder = Path(name).absolute(), folder.absolute()
    return path.is_relative_to(folder) or folder.is_relative_to(path)


# Belong


def _invite(context: Context, args: argparse.Namespace) -> Answer:
    with context.open_vault() as vault:
        made = circle.invite(vault, args.name)
        who = inert(args.name) if args.name else "your friend"
        context.say(f"Send this one line to {who} by a way that others cannot read: whoever has it can join once.")
        context.say(f"It is good until {moment(made.expires.to_utc_iso())}.")
        if doubt := circle.doubt_of_clock(vault, made):
            context.say(f"! {doubt}")
        context.say(f"Read these words to each other: {made.words}")
        if not made.places:
            context.say("It names no place to meet yet; add one first with: lace place add NAME DIR")
        return Answer(
            {
                "invite": made.encode(),
                "words": made.words,
                "expires": made.expires.to_utc_iso(),
                "expires_tai": made.expires,
                "name": args.name or None,
                "places": [{"place": name, "uri": uri} for name, uri in made.places],
            },
            made.encode(),
        )


def _admit(context: Context, args: argparse.Namespace) -> Answer:
    key = node_key(args.key).text if args.key else None
    asked = [args.name, key]

    def note(vault: Vault, w: Writer, record: RecordHash, node: Verifier) -> None:
        note_answer(w, vault, context.verb, asked, {"record": record.text, "node": node.text})

    def act(vault: Vault) -> Answer:
        known = unanswered(vault, context.verb, asked)
        # Whoever asks by that name meanwhile is somebody else, and who was revoked since is not let in again.
        if known is None or not is_member(vault, known["node"]) or (key is None and _asks(vault, args.name)):
            known = None
            record, node = admit(vault, args.name, key, noted=partial(note, vault))
        else:
            record, node = RecordHash.parse(known["record"]), Verifier.parse(known["node"])
        words, is_again, name = fingerprint_words(node), known is not None, label_of(vault, node.text)
        lines = [f"{inert(name)} is a member now. Words: {words}", *([AGAIN] if is_again else [])]
        data = {"member": name, "node": node, "record": record, "words": words, "already": is_again}
        return Answer(data, "\n".join([*lines, "Your friends learn of it at your next sync."]))

    return answered_once(context, act)


def _asks(vault: Vault, name: str) -> bool:
    return any(name in {request.name, request.node} for request in requests(vault))


def _members(context: Context, _: argparse.Namespace) -> Answer:
    with context.open_vault() as vault:
        found = members(vault)
        rows = [
            {
                "name": member.name,
                "node": member.node,
                "machine": member.machine,
                "depth": member.depth,
                "admitted_by": member.admitted_by,
                "since": member.since,
                "older_key_of": member.older_key_of,
                "me": member.me,
                "words": fingerprint_words(Verifier.parse(member.node)),
            }
            for member in found
        ]
        lines = [
            f"{inert(member.name)}{' (you)' if member.me else ''}"
            + (f" on {inert(member.machine)}" if member.machine else "")
            + (f", admitted by {inert(member.admitted_by)}" if member.admitted_by else ", the founder")
            + (f" on {member.since[:10]}" if member.since else "")
            + (f": an older key of {inert(member.older_key_of)}" if member.older_key_of else "")
            for member in found
        ]
        lines += formers_lines(vault)
        data = {"members": rows, "revoked": formers_data(vault)}
        return Answer(data, "\n".join(lines) or "No member is known yet: sync first.")


_NAMED: dict[str, Any] = {"metavar": "N", "type": given_name}
_ARGUMENTS: dict[str, tuple[tuple[tuple[str, ...], dict[str, Any]], ...]] = {
    "init": (
        (("--name",), {**_NAMED, "help": "what friends call you (your login name)"}),
        (("--group",), {"metavar": "G", "default": DEFAULT_GROUP, "help": "name of the group (friends)"}),
    ),
    "invite": ((("name",), {"nargs": "?", "default": "", "metavar": "NAME", "help": "what you call the invited"}),),
    "accept": (
        (("invite",), {"metavar": "INVITE", "help": "the line you were given"}),
        (("--name",), {**_NAMED, "help": "what friends call you (as the invitation says, else your login name)"}),
    ),
    "admit": (
        (("name",), {"metavar": "NAME", "help": "who asked, as in lace requests"}),
        (("--key",), {"metavar": "V", "help": "the node's key"}),
    ),
}
_VERBS: dict[str, Callable[[Context, argparse.Namespace], Answer]] = {
    "init": _init,
    "id": _id,
    "invite": _invite,
    "accept": _accept,
    "admit": _admit,
    "members": _members,
}
