"""`requests`: who waits to be let in, taking them off that list, and whose revocations wait for somebody above."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from lace_tui.cli.unanswered import answered_once
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lazy.belonging.requests import RequestInfo, drop_requests, requests
from lazy.belonging.revoking import Waiting, agreeing, waiting
from lazy.folder.unanswered import AGAIN, note_answer, unanswered
from vault.commands import as_typed
from vault.errors import DataError
from vault.identity.words import fingerprint_words
from vault.records import Tai, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["configure", "run"]

_Value = TypeVar("_Value")


def configure(parser: argparse.ArgumentParser, _verb: str) -> None:
    """Add the verb's own arguments."""
    parser.add_argument(
        "--drop", metavar="NAME", help="take whoever asked by that name, key or beginning of a key off the list"
    )
    parser.add_argument("--drop-all", action="store_true", help="take off everybody who waits now")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    if args.drop is not None and args.drop_all:
        raise BadArguments("lace requests: either --drop NAME or --drop-all.")
    if args.drop is not None or args.drop_all:
        return answered_once(context, partial(_drop, context, args.drop))
    with context.open_vault() as vault:
        return _list(vault)


def _drop(context: Context, name: str | None, vault: Vault) -> Answer:
    known = unanswered(vault, context.verb, [name])
    # Whoever asks by that name meanwhile is somebody else.
    if known is None or any(name in {None, one.name} or one.node.startswith(str(name)) for one in requests(vault)):

        def note(w: Writer, found: list[RequestInfo]) -> None:
            note_answer(w, vault, context.verb, [name], {"dropped": _named(found)})

        known, dropped = None, _named(drop_requests(vault, name, noted=note))
    else:
        dropped = known["dropped"]
    count = "1 request is" if len(dropped) == 1 else f"{len(dropped)} requests are"
    lines = [f"{count} off the list. Whoever it was, lace admit NAME --key V lets them in."]
    lines += [AGAIN] if known else []
    data = {"dropped": dropped, "already": known is not None}
    return Answer(data, "\n".join(lines) if dropped else "Nobody is waiting.")


def _named(found: list[RequestInfo]) -> list[dict[str, str]]:
    return [{"name": request.name, "node": request.node} for request in found]


def _list(vault: Vault) -> Answer:
    found, waits = requests(vault), waiting(vault)
    lines = list(map(_request_text, found))
    lines += ["To take one off this list: lace requests --drop NAME, and all: --drop-all"] if found else []
    lines += map(_revocation_text, waits)
    data = {"requests": list(map(_request_data, found)), "revocations": list(map(_revocation_data, waits))}
    return Answer(data, "\n".join(lines) or "Nobody is waiting.")


def _request_data(request: RequestInfo) -> dict[str, Any]:
    return {
        "name": request.name,
        "node": request.node,
        "place": request.place,
        "tai": request.tai,
        "time": tai.to_utc_iso() if (tai := _read(Tai.parse, request.tai)) else None,
        "problem": request.problem,
        "words": fingerprint_words(node) if (node := _read(Verifier.parse, request.node)) else None,
    }


def _request_text(request: RequestInfo) -> str:
    node = _read(Verifier.parse, request.node)
    if node is None or _read(Tai.parse, request.tai) is None:
        return f"! {inert(request.name)} asks, and what is noted of that is damaged: lace fsck --repair"
    return (
        f"{inert(request.name)} asks at {inert(request.place)}, not admitted: {inert(request.problem)}\n"
        f"  words: {fingerprint_words(node)}\n"
        f"  To admit: {inert(as_typed('admit', request.name, options=f'--key {request.node}'))}"
    )


def _read(parse: Callable[[str], _Value], text: str) -> _Value | None:
    """Return what a cell of the list says; None where it rotted, which must hide nobody else who asks."""
    try:
        return parse(text)
    except DataError:
        return None


def _revocation_data(one: Waiting) -> dict[str, Any]:
    return {
        "name": one.name,
        "node": one.node,
        "by": one.by,
        "last_seq": one.last_seq,
        "reason": one.reason,
        "revocation": one.revocation,
        "above": one.above,
        "own_older": one.older,
        "mine": one.mine,
    }


def _revocation_text(one: Waiting) -> str:
    if one.mine:
        way = f"To agree: {inert(as_typed('revoke', one.name))}"
    else:
        way = f"It waits until one of these agrees: {inert(agreeing(one.above, one.older))}"
    return f"{inert(one.by)} revoked {inert(one.name)}{': ' + inert(one.reason) if one.reason else ''}\n  {way}"
