"""`adopt`: go on as a new node after this vault was copied or restored, and say who has to admit it."""

from __future__ import annotations

import argparse
from functools import partial

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.cli.unanswered import answered_once
from lace_tui.cli.who import given_name, who
from lace_tui.verbs.placing import meeting
from lace_tui.words.inert import inert
from lazy.belonging.adopting import adopt, out_of_reach
from lazy.belonging.forks import has_forked
from lazy.folder.unanswered import AGAIN, note_answer, unanswered
from lazy.people import former, is_member, members
from lazy.places.registry import places
from vault.commands import as_typed
from vault.desk_folders import desks
from vault.errors import CallerError, LaceError
from vault.folder.divergence import away
from vault.identity.keys import KeyLocked
from vault.identity.words import fingerprint_words
from vault.notes.people import ADMISSION
from vault.records import Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["AdoptionNotAgreed", "configure", "run"]

_STAYS = "This vault stays the node it is."


class AdoptionNotAgreed(CallerError):
    """A vault would have gone on under a new key for good, and nobody agreed to that."""

    code = "adoption-not-agreed"
    hint = "Nothing was changed. To go on as a new node all the same: lace adopt --yes"


def configure(parser: argparse.ArgumentParser, _verb: str) -> None:
    """Add the verb's own arguments."""
    parser.add_argument("--name", metavar="N", type=given_name, help="what friends call you (as before)")
    parser.add_argument("-y", "--yes", action="store_true", help="agree beforehand, whatever the new key may not do")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    return answered_once(context, partial(_adopt, context, args))


def _adopt(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    asked = [args.name or "", str(vault.folder)]  # in a copy of the folder it is another wish
    is_called_for = _calls_for_it(vault)
    known = unanswered(vault, context.verb, asked)
    is_again = known is not None and known["node"] == vault.node.text and not is_called_for
    if known is not None and is_again:
        was = Verifier.parse(known["was"])
    else:
        was = vault.node
        if not args.yes and not _agrees_to_adopt(context, vault, is_called_for=is_called_for):
            return Answer.declined(who(vault), f"{_STAYS} {AdoptionNotAgreed.hint}")

        def note(w: Writer) -> None:
            note_answer(w, vault, context.verb, asked, {"was": was.text, "node": vault.node.text})

        try:
            adopt(vault, name=args.name or "", noted=note)
        except KeyLocked as error:
            error.hint = f"{error.hint} - {_forgotten(vault)}"
            raise
    admitted = is_member(vault, vault.node.text)
    lines = [f"This vault goes on as a new node, {inert(vault.name)}.", *([AGAIN] if is_again else [])]
    lines.append(f"Your words: {fingerprint_words(vault.node)}")
    asks = "" if admitted else _asks(vault, was)
    lines.append(asks or "Your old key admitted it, so nobody has to.")
    reach = out_of_reach(vault, was)
    if admitted and reach:
        above = "To revoke one of them takes the word of that key, or of somebody above it."
        lines.append(f"! The old key had let in {', '.join(map(inert, reach))}. {above}")
    if admitted:
        lines.append(f"Next: {meeting(places(vault))}. Your friends learn of the new key then.")
    data = {**who(vault), "was": was, "admitted": admitted, "out_of_reach": reach, "already": is_again}
    data["not_admitted"] = asks.splitlines()[0] if asks else None
    return Answer(data, "\n".join(lines))


def _forgotten(vault: Vault) -> str:
    """Return the way on where nobody knows the passphrase of the old key any more."""
    file = inert(str(vault.keys_here.path(vault.node)))
    return f"or, where nobody knows it any more, move {file} away and adopt: then a friend must admit you."


def _calls_for_it(vault: Vault) -> bool:
    """Tell whether something speaks for a new key: this vault may not sign or release, or its key was revoked."""
    me = vault.node.text
    if former(vault, me) is not None or has_forked(vault, me):
        return True
    return any(away(vault, desk.name) for desk in desks(vault)) or not _may_sign(vault)


def _may_sign(vault: Vault) -> bool:
    try:
        vault.check_mark()
    except LaceError:
        return False
    return True


def _agrees_to_adopt(context: Context, vault: Vault, *, is_called_for: bool) -> bool:
    """Ask the person at the terminal, since it is never taken back; where nobody can be asked, say what it means.

    Where something calls for it, that is whom the new key will not be able to revoke; of nobody, nothing is asked.

    Raises:
        AdoptionNotAgreed: nothing calls for it, and nobody can be asked.
    """
    lines = []
    if not is_called_for:
        lines.append(
            "Nothing says that this vault is a copy or was restored. A new key is for good: the old one,\n"
            f"{inert(vault.name)}, stays a member that nobody speaks for."
        )
    reach = out_of_reach(vault, vault.node) if is_member(vault, vault.node.text) else ()
    if reach:
        where = (
            "" if _may_sign(vault) else "\nThis vault may not sign that: do it where the key still may, if anywhere."
        )
        lines.append(
            f"! Your key let in {', '.join(map(inert, reach))}, and the new one will not be above them: to revoke one\n"
            "then takes the word of the old key, or of somebody above it.\n"
            f"Whom you want revoked, revoke first: lace revoke NAME{where}"
        )
    if not lines:
        return True
    context.say("\n".join(lines))
    if context.is_terminal and not context.json:
        return context.agrees("Go on as a new node?")
    if not is_called_for:
        raise AdoptionNotAgreed(_STAYS)
    return True


def _asks(vault: Vault, was: Verifier) -> str:
    """Return why the old key did not make the new node a member, and who can."""
    if former(vault, was.text) is not None:
        why = "Your old key was revoked, so its word lets nobody in"
    elif vault.store.note(ADMISSION) is not None:
        why = "Your old key admitted it, and is not a member itself, as far as is known here"
    elif not is_member(vault, was.text):
        why = "Nobody has admitted your old key, so its word lets nobody in"
    else:
        why = "The old key is not on this machine"
    if not members(vault):
        return f"{why}, and this group has no member left who could. To begin a new one: lace init in another folder"
    return (
        f"{why}: a friend must admit you with {inert(as_typed('admit', vault.name))}.\n"
        f"Next: {meeting(places(vault))}."
        " Your request is there then; your friend syncs, admits you, and both sync again."
    )
