"""`links` and `metrics`: how far each peer's log came here and mine there, for people and for a monitor."""

from __future__ import annotations

import argparse

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.words.inert import inert
from lazy.lacking import Lacking
from lazy.links import SCOPE, Link, LinkState, Progress, links, metrics

__all__ = ["configure", "missing_data", "run"]

_SAID = {
    LinkState.INITIAL: "not met yet: lace sync",
    LinkState.LIVE: "",
    LinkState.REPAIRING: "something is missing here: lace sync",
    LinkState.PAUSED: "left; lace join begins again",
}

_REFUSED = "what a release of it reaches was refused here, and no sync brings it"
_IN_PART = ("in part", "the last sync was about a part, and left out the rest: lace sync")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add nothing: both verbs say all there is."""


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Say it."""
    del args
    with context.open_vault() as vault:
        if context.verb == "metrics":
            context.write_bytes("".join(f"{line}\n" for line in metrics(vault)).encode())
            return 0
        found = links(vault)
    return Answer({"links": [_data(link) for link in found]}, lambda paint: _text(found, paint))


def _data(link: Link) -> dict[str, object]:
    def progress(one: Progress) -> dict[str, int]:
        return {"received": one.received, "contiguous": one.contiguous}

    return {
        "peer": link.peer,
        "node": link.node,
        "scope": SCOPE,
        "state": link.state,
        "pull": progress(link.pull),
        "push": progress(link.push),
        "pending": link.pending,
        "last_sync": link.last_sync,
        "places": link.places,
        "waiting": link.waiting,
        "missing": [missing_data(one) for one in link.missing],
        "left_out": link.left_out,
    }


def missing_data(one: Lacking) -> dict[str, object]:
    """Return what `--json` says of a release that waits: itself, what for, of which class, and the failure's code."""
    return {
        "release": one.release,
        "desk": one.desk,
        "version": one.version,
        "missing": one.missing,
        "class": one.kind,
        "code": one.code,
        "refusal": one.refusal or None,
    }


def _text(found: list[Link], paint: Paint) -> str:
    if not found:
        return "Nobody to sync with yet: lace invite"
    lines = []
    for link in found:
        state = paint.bad(link.state) if link.state is LinkState.REPAIRING else link.state
        said = _SAID[link.state]
        if _is_refused(link):
            said = _REFUSED
        if link.left_out:
            state, said = _IN_PART
        lines.append(f"{paint.strong(inert(link.peer))}  {state}{f' - {said}' if said else ''}")
        lines.append(f"    pull: entry {_progress(link.pull, 'seen')}; push: entry {_progress(link.push, 'put there')}")
        if link.pending:
            lines.append(f"    {link.pending} of yours not confirmed: lace queue")
        waits = "    {} {} is not shown{}: lace why {}"
        for one in link.missing:
            yet = f", refused ({inert(one.refusal)})" if one.refusal else " yet"
            lines.append(waits.format(inert(one.desk), one.version, yet, one.release))
        if link.waiting > len(link.missing):
            more = f"and {link.waiting - len(link.missing)} more" if link.missing else str(link.waiting)
            lines.append(f"    {more} of its releases {'wait' if link.waiting > 1 else 'waits'}")
    return "\n".join(lines)


def _is_refused(link: Link) -> bool:
    """Tell whether all that is missing was refused, as far as is known: then it is not for a sync to bring."""
    refused = [one for one in link.missing if one.refusal]
    return link.pull.contiguous == link.pull.received and 0 < link.waiting == len(refused)


def _progress(one: Progress, beyond: str) -> str:
    more = f", {one.received} {beyond}" if one.received > one.contiguous else ""
    return f"{one.contiguous}{more}"
