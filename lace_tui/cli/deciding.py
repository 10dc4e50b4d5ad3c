"""`conflicts` and `resolve`: what disagrees, and a person's decision (LAZ-35 to LAZ-44)."""

from __future__ import annotations

import argparse
from typing import Any

from lace_tui.cli.context import Context
from lace_tui.cli.errors import BadArguments
from lace_tui.cli.inert import inert
from lace_tui.cli.output import Answer, Paint
from lazy.conflicts import Conflict, conflicts, detected_iso
from lazy.files import write_lazy_files
from lazy.merging import merge_heads
from lazy.places import places
from lazy.resolve import Resolved, accept_resolution, resolve_merged, resolve_prefer
from vault.desks.diff import diff_trees
from vault.errors import LaceError
from vault.history import commit_info
from vault.names import Version
from vault.records import Tai
from vault.vault import Vault
from vault.work import Watch, checkout_of

__all__ = ["configure", "conflict_data", "conflict_line", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add how a conflict is decided."""
    if verb == "conflicts":
        parser.add_argument("--all", action="store_true", help="settled ones too")
        return
    parser.add_argument("conflict", metavar="CONFLICT", help="an id, or [DESK@]VERSION when only one fits")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--prefer", metavar="SIDE", help="keep one side: local, remote, a person or a release")
    how.add_argument("--merged", metavar="VERSION", help="release a merge under a new version")
    how.add_argument(
        "--accept", nargs="?", const="", default=None, metavar="PROPOSER", help="take over what a friend decided"
    )
    parser.add_argument("--path", action="append", default=[], metavar="P", help="with --merged: a path ...")
    parser.add_argument("--take", action="append", default=[], metavar="SIDE", help="... and whose content it gets")
    parser.add_argument("-m", "--message", default="", metavar="REASON", help="why; friends can read it")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says.

    Raises:
        NoSuchConflict, NoSuchSide, VersionTaken, FolderInTheWay: the decision cannot be made so.
        BadArguments: --path and --take do not go together.
    """
    with context.open_vault() as vault:
        if context.verb == "conflicts":
            return _conflicts(vault, settled=args.all)
        return _resolve(context, vault, args)


# Conflicts


def _conflicts(vault: Vault, *, settled: bool) -> Answer:
    with vault.store.reading():
        found = conflicts(vault, include_settled=settled)
        rows = [conflict_data(vault, conflict) for conflict in found]

    def text(paint: Paint) -> str:
        if not found:
            return "no conflicts"
        blocks = [_block(conflict, row["paths"], paint) for conflict, row in zip(found, rows, strict=True)]
        return "\n\n".join(blocks)

    return Answer({"conflicts": rows}, text)


def conflict_data(vault: Vault, conflict: Conflict) -> dict[str, Any]:
    """Return a conflict as `--json` shows it."""
    return {
        "id": conflict.id,
        "kind": conflict.kind,
        "desk": conflict.desk,
        "version": conflict.version,
        "sides": [
            {
                "release": side.release,
                "commit": side.commit,
                "version": side.version,
                "node": side.node,
                "name": side.name,
                "content_sha512": side.content_sha512 or None,
                "tai": side.tai,
                "time": Tai.parse(side.tai).to_utc_iso(),
            }
            for side in conflict.sides
        ],
        "ancestor": conflict.ancestor,
        "detected": detected_iso(conflict) or None,
        "status": conflict.status,
        "proposals": [
            {"resolution": p.resolution, "node": p.node, "name": p.name, "chosen": p.chosen, "release": p.release}
            for p in conflict.proposals
        ],
        "paths": paths_of(vault, conflict),
    }


def paths_of(vault: Vault, conflict: Conflict) -> list[str]:
    """Return the paths that disagree: those that do not merge, else those that differ; none when content is elsewhere.

    Merging is tried in memory, so nothing is changed.
    """
    base = checkout_of(vault, conflict.desk)
    sides = [side.commit for side in conflict.sides]
    try:
        ours = base.commit if base and base.commit in sides else sides[0]
        found = {entry.path for entry in merge_heads(vault, sides, ours).conflicts}
        if not found:
            first, *others = (commit_info(vault.store, side).tree for side in sides)
            found = {change.path for tree in others for change in diff_trees(vault.store, first, tree)}
    except LaceError:
        return []
    return sorted(found)


def conflict_line(conflict: Conflict) -> str:
    """Return a conflict in one line, without its paths."""
    what = f"{inert(conflict.desk)} {conflict.version}" if conflict.version else f"{inert(conflict.desk)} (heads)"
    names = ", ".join(dict.fromkeys(inert(side.name) for side in conflict.sides))
    return f"{conflict.id}  {what}: {names}"


def _block(conflict: Conflict, paths: list[str], paint: Paint) -> str:
    mark = paint.warn("! open") if conflict.is_open else paint.good(f"= {conflict.status}")
    lines = [f"{mark}  {conflict_line(conflict)}"]
    for side in conflict.sides:
        version = f" {side.version}" if side.version else ""
        lines.append(
            f"    {inert(side.name)}{version}  {Tai.parse(side.tai).to_utc_iso()}  {side.release or side.commit}"
        )
    lines.append(f"    last in common: {conflict.ancestor or 'none'}")
    lines += [f"    {inert(path)}" for path in paths]
    for proposal in conflict.proposals:
        lines.append(f"    {inert(proposal.name)} proposes {proposal.resolution}: lace resolve {conflict.id} --accept")
    if conflict.is_open:
        lines.append(f"    Decide: lace resolve {conflict.id} --prefer local|remote, or --merged VERSION")
    return "\n".join(lines)


# Resolve


def _resolve(context: Context, vault: Vault, args: argparse.Namespace) -> Answer:
    if len(args.path) != len(args.take):
        raise BadArguments("lace resolve: each --path needs its --take.", hint="For example: --path a.txt --take local")
    if args.path and args.merged is None:
        raise BadArguments("lace resolve: --path and --take go with --merged VERSION.")
    with context.watching() as watch:
        done = _decide(vault, args, watch)
    write_lazy_files(vault)
    where = [place.name for place in places(vault)]
    command = f"lace sync {where[0]}" if where else "lace place add NAME DIR"
    data = {
        "conflict": done.conflict,
        "resolution": done.resolution,
        "status": done.status,
        "release": done.release,
        "commit": done.commit,
        "written": done.written,
        "conflicts": done.conflicts,
        "next": "lace update" if done.conflicts else command,
    }

    def text(paint: Paint) -> str:
        lines = [f"{paint.good('=')} {done.conflict} is {done.status}"]
        lines += [f"  {inert(path)}" for path in done.written]
        lines += [
            f"  {paint.warn('!')} {inert(path)}: your newer work and the decision differ" for path in done.conflicts
        ]
        lines.append(f"Next: {inert(str(data['next']))}")
        return "\n".join(lines)

    return Answer(data, text, exit_code=1 if done.conflicts else 0)


def _decide(vault: Vault, args: argparse.Namespace, watch: Watch) -> Resolved:
    if args.prefer is not None:
        return resolve_prefer(vault, args.conflict, args.prefer, args.message, watch=watch)
    if args.merged is not None:
        takes = dict(zip(args.path, args.take, strict=True))
        return resolve_merged(vault, args.conflict, Version.parse(args.merged), takes, args.message, watch=watch)
    return accept_resolution(vault, args.conflict, args.accept, watch=watch)
