"""`push`, `pull`, `sync` and `due`: which places are visited, about what, and whether it is shown or asked first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lace_tui.cli.context import Context
from lace_tui.cli.folder import desk_of, desk_path
from lace_tui.cli.output import Answer, Paint
from lace_tui.errors import BadArguments
from lace_tui.verbs.sync_report import answer
from lace_tui.words.inert import inert
from lazy.places.registry import NoSuchPlace, places
from lazy.results import PlaceResult
from lazy.strategy import due
from lazy.sync import move, prepare, sync
from lazy.visits.estimate import LINKS, Link, estimate, parse_link
from vault.desk_folders import MAIN
from vault.names import check_name
from vault.plural import bytes_text, plural
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.interlace.scope import Scope

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the names and options of a visit."""
    if verb == "due":
        return
    if verb == "sync":
        parser.add_argument("names", nargs="*", metavar="NAME", help="peers or places; none means all places")
        parser.add_argument("--all", action="store_true", help="visit every place")
        parser.add_argument("--follow", action="store_true", help="go on, whenever something is new here or there")
    else:
        parser.add_argument("names", nargs=1, metavar="NAME", help="a peer or a place")
    # A push knows them only to say why it has none.
    desk, path = (
        "fetch the content of this desk only; repeatable",
        "fetch what lies at or below this path, named from where you are; repeatable; what you share is sent whole",
    )
    hidden = argparse.SUPPRESS if verb == "push" else ""
    parser.add_argument("--desk", action="append", metavar="D", help=hidden or desk)
    parser.add_argument("--path", action="append", metavar="P", help=hidden or path)
    parser.add_argument("--dry-run", action="store_true", help="say what would move, and change nothing")
    parser.add_argument("--confirm", action="store_true", help="say what would move, ask, and move exactly that")
    parser.add_argument(
        "--estimate",
        metavar="LINK",
        help=f"as --dry-run, and how long it takes: {', '.join(LINKS)}, or RATE@LATENCY such as 10Mbit@40ms",
    )


def run(context: Context, args: argparse.Namespace) -> Answer | int:
    """Visit the places and answer with what happened.

    Raises:
        BadArguments: names and --all together.
        NoSuchPeer, NoSuchPlace: a name is neither, or there is no place at all.
        PlaceError: something was to be read and no place could be reached.
        Cancelled: the person stopped it; what was stored stays.
    """
    verb = context.verb
    asked = list(getattr(args, "names", []))
    if getattr(args, "all", False) and asked:
        raise BadArguments("lace sync: either names or --all.", hint="For example: lace sync --all")
    with context.open_vault() as vault:
        if verb == "due":
            names = [place.name for place in due(vault)]
            if not names:
                strategy = str(vault.settings.get("sync-strategy"))
                way = "; to sync now and then: lace config set sync-strategy periodic"
                why = "" if strategy == "periodic" else f" The setting sync-strategy is {strategy}{way}"
                return Answer({"places": [], "exchanges": [], "strategy": strategy}, f"Nothing is due.{why}")
        else:
            names = asked or [place.name for place in places(vault)]
        if not names:
            raise NoSuchPlace("There is no place to sync with yet.")
        asked_of = getattr(args, "estimate", None)
        link = None if asked_of is None else parse_link(asked_of)
        dry_run = getattr(args, "dry_run", False) or link is not None
        scope = _scope(context, vault, args, looks=dry_run or getattr(args, "confirm", False))
        if getattr(args, "follow", False):
            if dry_run or args.confirm:
                other = "--confirm" if args.confirm else "--dry-run"
                raise BadArguments(f"lace sync: either --follow or {other}.", hint="For example: lace sync --follow")
            from lace_tui.cli.following import follow  # the web is needed by who follows

            return follow(context, vault, names, scope, lambda found: answer(context, vault, names, found, verb, scope))
        push, pull = verb != "pull", verb != "push"
        if getattr(args, "confirm", False):
            if dry_run:
                raise BadArguments(f"lace {verb}: either --confirm or --dry-run.", hint="Give one of them.")
            return _confirmed(context, vault, asked, names, push=push, pull=pull)
        with context.watching() as watch:
            results = sync(
                vault, names, push=push, pull=pull, dry_run=dry_run, watch=watch, scope=scope, tells_held=True
            )
        said = answer(context, vault, asked, results, verb, scope)
        return said if link is None else _estimated(said, results, link)


def _scope(context: Context, vault: Vault, args: argparse.Namespace, *, looks: bool) -> Scope | None:
    """Return what a visit is about; None for everything.

    A path is typed from where the person stands, for each desk that is named, else for that whose folder they are in.

    Raises:
        BadArguments: a path is none, or a scope makes no sense here.
        OutsideFolder: a path leads out of a desk.
        BadName: a desk cannot have such a name.
    """
    desks, paths = getattr(args, "desk", None) or [], getattr(args, "path", None) or []
    if not desks and not paths:
        return None
    if context.verb == "push":
        raise BadArguments(
            "What you share is sent whole: --desk and --path say what is fetched.",
            hint="Let your friend choose: lace pull NAME --path P",
        )
    if looks:
        raise BadArguments(
            "What lies below a path is known once its directories are here: --desk and --path go without --dry-run,"
            " --confirm and --estimate.",
            hint="Leave those out, or the paths.",
        )
    from lazy.interlace.scope import Scope  # rules are read where they are used

    for desk in desks:
        check_name(desk, "name of a desk")
    named = desks or [desk_of(context, vault, None)]
    found = frozenset(desk_path(context, vault, path, desk) for path in paths for desk in named)
    within = desks or [desk for desk in named if desk != MAIN]  # from the root, a path is one of any desk
    scope = Scope(frozenset(within), frozenset() if "" in found else found)  # the whole desk holds every path
    return None if scope.is_everything else scope


def _estimated(said: Answer, results: Sequence[PlaceResult], link: Link) -> Answer:
    """Add to the answer of a plan what it costs on a link (LAZ-13)."""
    found = estimate(results, link)
    data = {
        **said.data,
        "link": {"name": link.name, "bytes_per_second": link.rate, "latency": link.latency},
        "bytes_to_receive": found.received,
        "bytes_to_send": found.sent,
        "trips": found.trips,
        "seconds": found.seconds,
        "is_whole": found.is_whole,
    }
    first = said.text

    def text(paint: Paint) -> str:
        least = "at least" if found.is_whole else "at least (how much comes is not known before)"
        line = (
            f"On {inert(link.name)}: {least} {found.seconds:.1f} s for {bytes_text(found.sent)} there, "
            f"{bytes_text(found.received)} back and {plural(found.trips, 'trip')}"
        )
        return f"{first(paint) if callable(first) else first}\n{line}"

    return Answer(data, text, exit_code=said.exit_code)


def _confirmed(
    context: Context, vault: Vault, asked: Sequence[str], names: Sequence[str], *, push: bool, pull: bool
) -> Answer:
    """Show what would move, ask, and carry out what was shown; anything but yes moves nothing."""
    with context.watching() as watch:
        prepared = prepare(vault, names, push=push, pull=pull, watch=watch)
    shown = answer(context, vault, asked, prepared.shown, context.verb)
    plan = shown.text(Paint(is_on=False)) if callable(shown.text) else shown.text
    lines = [line for line in plan.splitlines() if not line.startswith("Next: ")]
    if not context.agrees("\n".join([*lines, "Move it?"])):
        return Answer.declined(shown.data, "Nothing was moved.")
    with context.watching() as watch:
        results = move(vault, prepared, watch, tells_held=True)
    return answer(context, vault, asked, results, context.verb)
