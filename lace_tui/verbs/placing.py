"""Places: `place add`, `place set`, `place remove`, `places`, `drops`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from lace_tui.acts.placing import as_encrypted, require_written
from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.cli.unanswered import answered_once
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert, typed
from lazy.folder.unanswered import AGAIN, note_answer, unanswered
from lazy.noted_visits import sync_command
from lazy.people import peers
from lazy.places.adding import add_place
from lazy.places.media import set_encrypted
from lazy.places.placed import is_missing, worth_knowing
from lazy.places.registry import Place, is_encrypted, place_named, places, remove_place
from transports.address import AddressKind
from vault.commands import as_typed
from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from lazy.visits.drops import Plugged

__all__ = ["URI_HELP", "configure", "meeting", "place_at", "place_data", "run", "tell_of"]

URI_HELP = "a directory, for example on a stick, a git remote, or an https address, as of a friend who serves"
_KEPT = "What you left there in plain the next sync takes away"
_STILL = "If something of it still lies there in plain, the next sync takes that away"  # only a visit sees it
_AT_HOST = "; the host may keep it until its owner runs git gc"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    if verb in {"places", "drops"}:
        return
    parser.add_argument("name", metavar="NAME", help="what you call the place" if verb == "place add" else "the place")
    if verb == "place add":
        parser.add_argument("uri", metavar="URI", help=URI_HELP)
        parser.add_argument("--for", dest="peer", metavar="PEER", help="only for this peer (for every member)")
        parser.add_argument("--encrypt", action="store_true", help="let only members read what you put there")
    if verb == "place set":
        parser.add_argument("--encrypt", action="store_true", help="let only members read what you put there")
        parser.add_argument("--rebase", action="store_true", help="encrypt all of it anew, under a new key")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    if context.verb == "place add":
        return answered_once(context, partial(_add, context, args))
    if context.verb == "place remove":
        return answered_once(context, partial(_remove, context, args))
    with context.open_vault() as vault:
        return _VERBS[context.verb](context, args, vault)


def _add(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    asked = [args.name, args.uri, args.peer, args.encrypt, str(context.cwd.absolute())]
    is_made = is_missing(args.uri, context.cwd)

    def also(w: Writer, place: Place) -> None:
        if args.encrypt:
            as_encrypted(w, place)
        note_answer(w, vault, context.verb, asked, {"uri": place.uri, "made": is_made})

    known = unanswered(vault, context.verb, asked)
    place = None if known is None else place_at(vault, args.name, known["uri"])
    is_again = place is not None
    if known is not None and is_again:
        is_made = known["made"]
    if place is None:
        place = add_place(vault, args.name, args.uri, cwd=context.cwd, peer=args.peer, also=also)
    tell_of(context, vault, place, is_made=is_made)
    return Answer(
        {**place_data(vault, place), "already": is_again},
        f"{inert(place.name)} is a place now: {inert(place.uri)}\n"
        + (f"{AGAIN}\n" if is_again else "")
        + ("What you put there only members can read.\n" if is_encrypted(vault, place) else "")
        + f"Next: {inert(sync_command(place.name))}",
    )


def place_at(vault: Vault, name: str, uri: str) -> Place | None:
    """Return the place of that name where it is at that address; else None."""
    return next((place for place in places(vault) if (place.name, place.uri) == (name, uri)), None)


def _set(_: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    place = place_named(vault, args.name)
    if not (args.encrypt or args.rebase):
        raise BadArguments("lace place set: say what to set.", hint="For example: lace place set stick --encrypt")
    is_already = is_encrypted(vault, place) and not args.rebase
    _encrypt(vault, place, rebase=args.rebase)
    how = "will be written anew under a new key" if args.rebase else "will be encrypted to the members"
    kept = f"{_KEPT}{_AT_HOST}.\n" if place.kind == AddressKind.GIT and not args.rebase else ""
    if is_already:
        how = "is set to be encrypted to the members already"
        kept = f"{_STILL}{_AT_HOST if kept else ''}.\n"
    return Answer(
        place_data(vault, place),
        f"Your mailbox on {inert(place.name)} {how}.\n{kept}Next: {inert(sync_command(place.name))}",
    )


def _encrypt(vault: Vault, place: Place, *, rebase: bool) -> None:
    require_written(place)
    if rebase and not place.place_id:
        raise BadArguments(f"{place.name} was never visited.", hint=f"Visit it first: {as_typed('pull', place.name)}")
    set_encrypted(vault, place, rebase=rebase)


def _remove(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    known = unanswered(vault, context.verb, [args.name])
    if known is None or any(place.name == args.name for place in places(vault)):
        known, found = None, place_named(vault, args.name)
        data = {**place_data(vault, found), "kind": str(found.kind)}
        remove_place(vault, args.name, noted=lambda w: note_answer(w, vault, context.verb, [args.name], data))
    else:
        data = {key: value for key, value in known.items() if key != "moves"}
    name, uri = inert(args.name), inert(str(data["uri"]))
    lines = [f"{name} is no longer a place. What lies at {uri} stays there.", *([AGAIN] if known else [])]
    return Answer({**data, "already": known is not None}, "\n".join(lines))


def _list(_: Context, __: argparse.Namespace, vault: Vault) -> Answer:
    found = places(vault)
    names = {person.node: person.name for person in peers(vault)}
    lines = [
        f"{inert(place.name)}  {place.kind}  {inert(place.uri)}"
        + (f"  for {inert(names.get(place.peer, place.peer))}" if place.peer else "")
        + ("  encrypted" if is_encrypted(vault, place) else "")
        for place in found
    ]
    return Answer(
        {"places": [place_data(vault, place) for place in found]},
        "\n".join(lines) or "There is no place yet: lace place add NAME DIR",
    )


def _drops(_: Context, __: argparse.Namespace, vault: Vault) -> Answer:
    from lazy.visits.drops import plugged_in  # no other verb here looks at a medium

    found = plugged_in(vault)
    data = [
        {
            "path": str(one.path),
            "place_id": one.drop_id,
            "place": one.place or None,
            "waiting": one.waiting,
            "safe_to_remove": one.is_safe,
            "problem": one.problem or None,
        }
        for one in found
    ]
    text = "\n".join(map(_drop_line, found)) or "Nothing is plugged in that holds a drop."
    return Answer({"drops": data}, text)


def _drop_line(one: Plugged) -> str:
    path = inert(str(one.path))
    if not one.place:
        return f"{path}  is not a place of yours: lace place add NAME {typed(str(one.path))}"
    if one.problem:
        return f"{inert(one.place)}  {path}  {inert(one.problem)}"
    state = "safe to remove" if one.is_safe else f"a write to it was cut off: {inert(sync_command(one.place))}"
    more = f"; {one.waiting} records wait for it" if one.waiting else ""
    return f"{inert(one.place)}  {path}  {state}{more}"


def tell_of(context: Context, vault: Vault, place: Place, *, is_made: bool = False) -> None:
    """Say what is to be known of a new place."""
    for sentence in worth_knowing(vault, place, is_made=is_made):
        context.say(inert(sentence))


def meeting(known: Sequence[Place]) -> str:
    """Return the command that meets friends: at the one place there is, or at each of several."""
    if not known:
        return "lace place add NAME DIR, then lace sync"
    return inert(sync_command(known[0].name)) if len(known) == 1 else "lace sync"


def place_data(vault: Vault, place: Place) -> dict[str, Any]:
    """Return a place as `--json` shows it."""
    return {
        "place": place.name,
        "kind": place.kind,
        "uri": place.uri,
        "place_id": place.place_id or None,
        "peer": place.peer,
        "encrypted": is_encrypted(vault, place),
    }


_VERBS = {"place set": _set, "places": _list, "drops": _drops}
