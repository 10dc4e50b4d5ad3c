"""`revoke`: say that somebody's log counts no further, after it was said what that means."""

from __future__ import annotations

import argparse
from functools import partial

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.cli.unanswered import answered_once
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lazy.belonging.revoking import Revoked, agreeing, plan_revocation, revoke, waiting
from lazy.folder.unanswered import AGAIN, note_answer, unanswered
from lazy.people import former, node_of
from vault.commands import as_option, as_typed
from vault.errors import CallerError
from vault.records import RecordHash, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["RevocationNotAgreed", "configure", "run"]


class RevocationNotAgreed(CallerError):
    """Somebody would be revoked for good, and nobody agreed to that."""

    code = "revocation-not-agreed"
    hint = "Look with: lace revoke NAME --dry-run - and agree with: lace revoke NAME --yes"


def configure(parser: argparse.ArgumentParser, _verb: str) -> None:
    """Add the verb's own arguments."""
    parser.add_argument("name", metavar="NAME", help="a member's name or key; self for this device")
    last = "the last entry of their log that counts; 0 for none (the last that is here)"
    parser.add_argument("--last", type=int, metavar="SEQ", help=last)
    parser.add_argument("-m", "--reason", metavar="WHY", default="", help="why, for the others to read")
    parser.add_argument("--dry-run", action="store_true", help="say what it would mean, and change nothing")
    parser.add_argument("-y", "--yes", action="store_true", help="agree beforehand; needed where nobody can be asked")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    if args.last is not None and args.last < 0:
        raise BadArguments("lace revoke --last: an entry's number is 0 or more.")
    if args.dry_run:
        with context.open_vault() as vault:
            plan = plan_revocation(vault, args.name, last=args.last)
            return Answer(_data(plan), "\n".join(_lines(plan)))
    return answered_once(context, partial(_revoke, context, args))


def _revoke(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    asked = [args.name, args.last, args.reason]

    def note(w: Writer, done: Revoked) -> None:
        made = {**done._asdict(), "node": done.node.text, "record": str(done.record), "digest": "", "kept": []}
        note_answer(w, vault, context.verb, asked, made)

    again = _done_before(vault, args.name, asked)
    if again is not None:
        lines = _lines(again)
        return Answer({**_data(again), "already": True}, "\n".join([lines[0], AGAIN, *lines[1:]]))
    plan = plan_revocation(vault, args.name, last=args.last)
    if not _agrees(context, plan, args):
        return Answer.declined(_data(plan), f"Nobody was revoked. {_way(plan, args)}")
    done = revoke(vault, plan, args.reason, noted=note)
    return Answer({**_data(done), "already": False}, "\n".join(_lines(done)))


def _done_before(vault: Vault, name: str, asked: list[object]) -> Revoked | None:
    """Return the revocation by the same words of which nobody was told, where it is the one that counts or waits."""
    known = unanswered(vault, "revoke", asked)
    if known is None:
        return None
    gone = former(vault, known["node"])
    counts = [gone.revocation] if gone is not None else [one.revocation for one in waiting(vault)]
    if node_of(vault, name) != known["node"] or known["record"] not in counts or known["waits"] != (gone is None):
        return None
    del known["moves"]
    lists = {key: tuple(known.get(key, ())) for key in ("releases", "admitted", "above", "kept", "older")}
    whole = {"node": Verifier.parse(known["node"]), "record": RecordHash.parse(known["record"]), "digest": b""}
    return Revoked(**{**known, **lists, **whole})


def _way(plan: Revoked, args: argparse.Namespace) -> str:
    """Return how to look at a revocation, and how to agree to it."""
    name, given = "self" if plan.me else plan.name, "" if args.last is None else f"--last {args.last} "
    why = f"{as_option('-m', args.reason)} " if args.reason else ""
    look, agree = (as_typed("revoke", name, options=f"{given}{how}") for how in ("--dry-run", f"{why}--yes"))
    return f"Look with: {look} - and agree with: {agree}"


def _agrees(context: Context, plan: Revoked, args: argparse.Namespace) -> bool:
    """Ask the person at the terminal.

    Raises:
        RevocationNotAgreed: nobody can be asked.
    """
    if args.yes:
        return True
    what = "You would revoke yourself for good." if plan.me else f"{inert(plan.name)} would be revoked for good."
    if not context.is_terminal or context.json:
        raise RevocationNotAgreed(what, hint=_way(plan, args))
    context.say("\n".join(_lines(plan)))
    return context.agrees("Revoke?")


def _data(plan: Revoked) -> dict[str, object]:
    return {
        "planned": plan.record is None,
        "revocation": plan.record,
        "node": plan.node,
        "name": plan.name,
        "last_seq": plan.last_seq,
        "after": plan.after,
        "releases_after": plan.releases,
        "admitted": plan.admitted,
        "waits": plan.waits,
        "above": plan.above,
        "own_older": plan.older,
        "last_member": plan.is_last,
        "not_here": plan.not_here or None,
        "since": plan.since,
        "last_release": plan.last_release or None,
    }


def _lines(plan: Revoked) -> list[str]:
    name, is_plan = inert(plan.name), plan.record is None
    if plan.me:
        who = "You would revoke" if is_plan else "You revoked"
        lines = [f"{who} this device's key: what it says from then on counts for nobody else. All before stays."]
        if plan.is_last:
            lines += [
                "! Nobody else is a member: then nobody can let anybody in, and nothing new counts in this group.",
                *(["For a new key that goes on, run lace adopt and do not revoke the old one."] if is_plan else []),
            ]
        else:
            lines.append("To come back under a new key: lace adopt, and a friend admits you.")
    else:
        counts = f"entry {plan.last_seq} of their log counts last" if plan.last_seq else "nothing of their log counts"
        lines = [f"{name} {'would be' if is_plan or plan.waits else 'is'} revoked: {counts}."]
        if is_plan:
            came = f"was let in on {plan.since[:10]}" if plan.since else "founded the group"
            did = f"released {inert(plan.last_release)} last" if plan.last_release else "released nothing"
            lines.append(f"{name} {came}, and {did}.")  # of two keys of one name it says which is in use
    if plan.not_here:
        named = f"The revocation that waits names entry {plan.not_here}, and what leads to it is not here"
        lines.append(f"{named}: with it nothing of their log would count.")
    if plan.waits:
        above = inert(agreeing(plan.above, plan.older))
        lines.append(f"You are not above them, so this waits under lace requests until one of these agrees: {above}.")
        return lines
    if plan.after and not plan.me:
        what = f": {', '.join(map(inert, plan.releases))}" if plan.releases else ""
        lines.append(f"{plan.after} later entries are here{what}. They stay readable, marked as after the cut.")
    if plan.admitted:
        named = ", ".join(map(inert, plan.admitted))
        lines.append(f"They admitted {named}: that stays, unless you revoke these too.")
    if not is_plan and not plan.is_last:
        lines.append("Your friends learn of it at your next sync: lace sync --all")
    return lines
