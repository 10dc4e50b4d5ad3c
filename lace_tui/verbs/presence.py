"""`beacon`: what I say of myself to friends who look, and what they last said of themselves (LAZ-18 to LAZ-22)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lazy.belonging.beacon import Beacon, Presence, SeenBeacon, known_beacons, my_beacon, publish_beacon
from lazy.clocks import CLOCK_HINT
from lazy.people import label_of, node_of
from vault.commands import as_typed
from vault.plural import plural

if TYPE_CHECKING:
    from lazy.asking import Asked
    from lazy.clocks import ClockApart
    from vault.records import Tai
    from vault.vault import Vault

__all__ = ["beacon_data", "beacon_note", "clock_data", "clock_note", "configure", "run"]

_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add whom to look at, and what to say."""
    del verb
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="a peer; without one, your own beacon")
    parser.add_argument("--ask", action="store_true", help="ask where it may lie; else what was last read is shown")
    words = [one.value for one in Presence]
    parser.add_argument("--status", choices=words, help="say this of yourself from the next sync on")
    parser.add_argument("--next", metavar="TEXT", default="", help="when you mean to sync next, in your words")
    parser.add_argument("--off", action="store_true", help="say nothing any more")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Show a beacon, ask for one, or say something of myself.

    Raises:
        BadArguments: words that do not go together.
        NoSuchPeer: nobody here has that name.
        BadWord: it is no line that a beacon can hold.
    """
    speaks = args.status is not None or args.off or args.next
    if args.name and speaks:
        raise BadArguments("lace beacon: a name, or what to say of yourself.", hint="For example: lace beacon bob")
    if args.off and (args.status is not None or args.next):
        raise BadArguments("lace beacon: either --off, or what to say.", hint="For example: lace beacon --off")
    with context.open_vault() as vault:
        if args.name and node_of(vault, args.name) != vault.node.text:
            return _theirs(context, vault, args.name, asks=args.ask)
        if args.ask:
            raise BadArguments("lace beacon: ask whom?", hint="For example: lace beacon bob --ask")
        if speaks:
            now = my_beacon(vault)
            status = None if args.off else Presence(args.status or (now.status if now else Presence.AVAILABLE))
            return _mine(publish_beacon(vault, status, args.next), vault, is_new=True)
        return _mine(my_beacon(vault), vault, is_new=False)


def beacon_data(seen: SeenBeacon | None) -> dict[str, Any] | None:
    """Return a beacon that was read, as data; None when there is none."""
    return None if seen is None else {**_said(seen.beacon), "place": seen.place, "read": seen.seen.to_utc_iso()}


def clock_data(clock: ClockApart | None) -> dict[str, Any] | None:
    """Return how far somebody's clock was from the one here, as data; None where it was not (LAZ-16)."""
    if clock is None:
        return None
    said = {"desk": clock.desk, "version": clock.version, "beside": clock.beside}
    return {**said, "seconds_ahead": clock.seconds_ahead, "message": clock.text, "hint": CLOCK_HINT}


def clock_note(clock: ClockApart | None) -> str:
    """Return the same in a few words, with what to do; nothing where it was not."""
    return "" if clock is None else f"! {clock.text}: compare the clocks of both machines"


def beacon_note(seen: SeenBeacon | None) -> str:
    """Return what a beacon says, in a few words; nothing when there is none."""
    return "" if seen is None else inert(seen.words)


def _said(beacon: Beacon) -> dict[str, Any]:
    return {
        "lamport_time": beacon.lamport,
        "last_release": beacon.last_release,
        "status": beacon.status,
        "next_expected": beacon.next_expected,
        "written": beacon.tai.to_utc_iso(),
    }


def _mine(beacon: Beacon | None, vault: Vault, *, is_new: bool) -> Answer:
    data: dict[str, Any] = {"peer": vault.name, "node": vault.node, "published": beacon is not None}
    if beacon is None:
        text = "You publish no beacon." if not is_new else "The next sync takes your beacon away."
        return Answer(data, f"{text}\nBegin with: lace beacon --status available")
    lines = [_line(vault.name, beacon), "Friends who look see it from your next sync on; nothing proves it."]
    return Answer({**data, **_said(beacon)}, "\n".join(lines))


def _theirs(context: Context, vault: Vault, name: str, *, asks: bool) -> Answer:
    node = node_of(vault, name)
    asked: Asked | None = None
    if asks:
        from lazy.asking import ask_beacon  # the roads are needed only to ask

        with context.watching() as watch:
            asked = ask_beacon(vault, name, watch)
    seen = known_beacons(vault).get(node)
    now = vault.around.tai()
    called = label_of(vault, node)
    data: dict[str, Any] = {"peer": called, "node": node, "published": seen is not None, **(beacon_data(seen) or {})}
    if seen is not None:
        data["age_seconds"] = _age(now, seen.beacon.tai)
    if asked is not None:
        data["asked"] = list(asked.places)
        data["problems"] = [{"place": p.peer, "code": p.code, "message": p.message} for p in asked.problems]

    def text(paint: Paint) -> str:
        lines = []
        if asked is not None:
            lines = [f"{paint.warn('!')} {inert(p.peer)}: {inert(p.message)}" for p in asked.problems]
            if not asked.places and not asked.problems:
                lines.append("No place that you know can have it.")
        if seen is None:
            lines.append(f"No beacon of {inert(called)} is known here.")
            lines += [] if asks else [f"Ask for it: {inert(as_typed('beacon', called, options='--ask'))}"]
            return "\n".join(lines)
        lines.append(_line(called, seen.beacon))
        written, first = _age(now, seen.beacon.tai), _age(now, seen.seen)
        lines.append(f"Written {_ago(written)} by their clock, first read {_ago(first)} at {inert(seen.place)}.")
        lines.append(paint.faint("They say so themselves: nothing proves it, and nothing depends on it."))
        return "\n".join(lines)

    return Answer(data, text)


def _line(name: str, beacon: Beacon) -> str:
    released = f"last release {beacon.last_release}" if beacon.last_release else "nothing released"
    expected = inert(beacon.next_expected)
    return f"{inert(name)}  {beacon.status}, next sync: {expected}; {released}, Lamport time {beacon.lamport}"


def _age(now: Tai, then: Tai) -> int:
    """Return whole seconds between, below 0 where a clock is ahead of this one."""
    return (now.total_ns - then.total_ns) // 10**9


def _ago(seconds: int) -> str:
    if seconds < 0:
        return "later than now"
    for size, word in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= size:
            return f"{plural(seconds // size, word)} ago"
    return "just now"
