"""`conflicts`: what disagrees, with every side of it (LAZ-35 to LAZ-38)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from lace_tui.cli.context import Context
from lace_tui.cli.drafts import (
    draft_lines,
    drafted,
    fault_line,
    region_data,
    region_lines,
    regions_of_conflict,
    write_drafts,
)
from lace_tui.cli.folder import note_inside, target_of
from lace_tui.cli.keeping import keep
from lace_tui.cli.output import Answer, Paint
from lace_tui.words.folder import SHOWN
from lace_tui.words.inert import inert
from lace_tui.words.times import moment
from lazy.conflict_words import OVERTAKEN, detected_iso, side_words, update_command
from lazy.conflicts import conflicts
from lazy.contested import Conflict, Proposal, Side
from lazy.folder.heads import ending_releases, ending_with
from lazy.people import label_of
from lazy.remembered import CONFLICTS, generation
from lazy.resolving.regions import PathRegions
from vault.plural import few
from vault.records import RecordHash, Tai
from vault.releasing import release_message
from vault.revisions.history import ReleaseInfo, commit_info
from vault.revisions.versions import next_version
from vault.vault import Vault

__all__ = ["asked_lines", "configure", "conflict_line", "conflicts_data", "ending_words", "proposal_lines"]
__all__ += ["run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add how much is told."""
    del verb
    parser.add_argument("--all", action="store_true", help="list settled ones too")
    parser.add_argument("--regions", action="store_true", help="show the lines that clash, numbered for resolve")
    parser.add_argument("--drafts", metavar="DIR", default="", help="write clashing texts with markers into DIR")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    with context.open_vault() as vault:
        return _conflicts(context, vault, args)


def _conflicts(context: Context, vault: Vault, args: argparse.Namespace) -> Answer:
    directory = target_of(context, args.drafts) if args.drafts else None
    me = vault.node.text
    with vault.store.reading():
        number = generation(vault)
        found = conflicts(vault, include_settled=args.all)
        rows = conflicts_data(vault, found)
        blocks: list[list[str]] = [[] for _ in found]
        drafts: list[list[PathRegions]] = []
        if args.regions or directory is not None:
            for conflict, row, lines in zip(found, rows, blocks, strict=True):
                shown, fault = regions_of_conflict(vault, conflict)
                row["fault"] = {"code": fault.code, "message": fault.message, "hint": fault.hint} if fault else None
                row["regions"] = [region_data(conflict, path) for path in shown if path.regions or path.sided]
                lines += [line for path in shown for line in region_lines(conflict, path)]
                row["drafts"] = drafted(shown) if directory is not None else []
                if fault is not None:
                    lines.append(fault_line(fault))
                elif args.drafts:
                    lines.extend(draft_lines(vault, conflict, row["drafts"], args.drafts))
                drafts.append(shown)
    if directory is not None:
        write_drafts(directory, drafts)
        if any(path.draft is not None for shown in drafts for path in shown):
            note_inside(context, directory)

    def text(paint: Paint) -> str:
        if not found:
            return "no conflicts"
        texts = [
            "\n".join([_block(conflict, row, me, paint, is_full=context.verbose), *more])
            for conflict, row, more in zip(found, rows, blocks, strict=True)
        ]
        return "\n\n".join(texts)

    answer = Answer({"conflicts": rows}, text)
    if not (args.all or args.regions or args.drafts or context.verbose):
        keep(vault, CONFLICTS, number, answer)
    return answer


def conflicts_data(
    vault: Vault, found: Sequence[Conflict], every: Sequence[Conflict] | None = None
) -> list[dict[str, Any]]:
    """Return conflicts as `--json` shows them.

    Args:
        vault: where they are.
        found: the conflicts.
        every: all that are open, where `found` is some of them: one may end with another.
    """
    known = found if every is None else every
    ended, above = ending_releases(vault, known), ending_with(vault, known)
    return [_conflict_data(vault, one, ended.get(one.id), above.get(one.id)) for one in found]


def _conflict_data(
    vault: Vault, conflict: Conflict, ended: ReleaseInfo | None, above: Conflict | None
) -> dict[str, Any]:
    from lazy.resolving.opening import disagreeing  # mostly nothing is in conflict

    paths, others = disagreeing(vault, conflict)
    leaves_out = conflict.is_open and not (ended or conflict.is_overtaken)  # a proposal is no decision here
    by = {"release": ended.hash, "name": label_of(vault, ended.node), "version": ended.version} if ended else None
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
                "word": side.word,
                "local": side.is_local,
                "message": commit_info(vault.store, side.commit).message,
                "content_sha512": side.content_sha512 or None,
                "tai": side.tai,
                "time": Tai.parse(side.tai).to_utc_iso(),
            }
            for side in conflict.sides
        ],
        "ancestor": conflict.ancestor,
        "last_in_common": conflict.common_words,
        "detected": detected_iso(conflict) or None,
        "status": conflict.status,
        "asked_with": conflict.asked_with or None,
        "ended_by": by,
        "ends_with": {"id": above.id, "version": above.version} if above is not None and by is None else None,
        "proposals": [
            {name: getattr(p, name) for name in ("resolution", "node", "name", "word", "chosen", "release")}
            for p in conflict.proposals
        ],
        "paths": paths,
        "others": len(others),
        "other_paths": others,
        "overtaken": conflict.is_overtaken,
        "both": _both(vault, conflict) if others and leaves_out else None,
    }


def _both(vault: Vault, conflict: Conflict) -> str:
    return f"lace resolve {conflict.id} --merged {next_version(vault, conflict.desk)}"


def _others_line(row: dict[str, Any]) -> str:
    """Return what to say of files that one side alone changed, which keeping the other side of a version leaves out.

    A proposal of a side leaves them out as well, and is accepted with one command: then it is said of that, too.

    Of clashing heads a side is kept where they clash, and nowhere else.
    """
    if not row["both"]:
        return ""
    other = "other " if _clashing(row) else ""
    what = f"1 {other}file differs" if row["others"] == 1 else f"{row['others']} {other}files differ"
    what = what if other else f"Nothing clashes; {what}"
    what += f" ({few([inert(path) for path in row['other_paths']])})"
    one_side = "--prefer or --accept of a side" if any(one["chosen"] for one in row["proposals"]) else "--prefer"
    return f"{what}, and {one_side} has one side's of all; to have what each side did: {row['both']}"


def asked_lines(conflict: Conflict, row: dict[str, Any]) -> list[str]:
    """Return what whoever is asked for a decision has to know of it: which files clash, what is proposed, the rest.

    A conflict that ends as soon as something is taken in asks nobody for anything, nor does one that ends with another.
    """
    if row["ended_by"] or row["ends_with"] or not conflict.is_open:
        return []
    clashing = few([inert(path) for path in _clashing(row)])
    lines = [f"Clashing: {clashing}"] if clashing else []
    lines += [line.strip() for line in proposal_lines(conflict)]
    lines += [told] if (told := _others_line(row)) else []
    return [f"  {line}" for line in lines]


def _clashing(row: dict[str, Any]) -> list[str]:
    """Return the paths that do not merge: where all of them do, the paths of a conflict are those that differ."""
    others = set(row["other_paths"])
    return [path for path in row["paths"] if path not in others]


def conflict_line(conflict: Conflict) -> str:
    """Return a conflict in one line, without its paths."""
    names = ", ".join(dict.fromkeys(inert(side.word) for side in conflict.sides))
    return f"{conflict.id}  {inert(conflict.what)}: {names}"


def ending_words(conflict: Conflict, row: dict[str, Any]) -> str:
    """Return what ends a conflict besides a decision on it: a release, and by which command, or another conflict."""
    ended, above = row["ended_by"], row["ends_with"]
    if above:
        return f"ends with {above['version']}, whose sides are the decisions on it"
    if not ended:
        return ""
    return f"{inert(ended['name'])} {ended['version']} ends it: {inert(update_command(conflict))}"


def _block(conflict: Conflict, row: dict[str, Any], me: str, paint: Paint, *, is_full: bool) -> str:
    mark = paint.warn("! open") if conflict.is_open else paint.good(f"= {conflict.status}")
    if row["ends_with"]:
        mark = paint.faint(f"- open, with {row['ends_with']['version']}")
    if conflict.asked_with:
        mark = paint.faint(f"- asked with {conflict.asked_with}")
    lines = [f"{mark}  {conflict_line(conflict)}"]
    sides = conflict.sides
    if conflict.version is None and not conflict.is_open:  # mine is not named there, and holds all the others by now
        sides = tuple(side._replace(is_local=False) for side in sides)
    lines += [_side_line(side, shown, is_full=is_full) for side, shown in zip(sides, row["sides"], strict=True)]
    lines.append(f"    last in common: {inert(conflict.common_words)}")
    lines += [f"    {inert(path)}" for path in row["paths"][:SHOWN]]
    if (more := len(row["paths"]) - SHOWN) > 0:  # a folder of thousands would push the sides off the screen
        lines.append(f"    and {more} more: lace --json conflicts names all")
    if not row["ends_with"]:
        lines += proposal_lines(conflict)
    if ending := ending_words(conflict, row):
        lines.append(f"    {ending}")
    if conflict.is_open and not row["ends_with"]:
        words = inert(side_words(conflict, me))
        lines.append(f"    Decide: lace resolve {conflict.id} {words}, or edit and --merged VERSION")
        lines += [f"    {told}"] if (told := _others_line(row)) else []
        lines += [f"    {OVERTAKEN}"] if conflict.is_overtaken else []
    return "\n".join(lines)


def _side_line(side: Side, shown: dict[str, Any], *, is_full: bool) -> str:
    """Return one side by the word that a decision takes, and by its hashes where everything is asked for (LAZ-34)."""
    version = f" {side.version}" if side.version else ""
    told = f"    {inert(side.word)}{version}  {moment(shown['time'])}"
    told += f"  {side.release or side.commit}" if is_full else ""
    told += "  (local)" if side.is_local else ""
    is_given = not side.version or shown["message"] != release_message(side.version)
    told += f"  {inert(shown['message'])}" if is_given else ""
    return f"{told}\n      {side.content_sha512}" if is_full and side.content_sha512 else told


def proposal_lines(conflict: Conflict) -> list[str]:
    """Return what is proposed, and how it is accepted: decisions of equal content are one, whoever made them."""
    equal: dict[RecordHash, list[Proposal]] = {}
    for proposal in conflict.proposals:
        equal.setdefault(proposal.content, []).append(proposal)
    lines = []
    for of_one in equal.values():
        names = list(dict.fromkeys(inert(proposal.word) for proposal in of_one))
        what = " and ".join(dict.fromkeys(inert(conflict.proposed_words(proposal)) for proposal in of_one))
        accept = inert(f"lace resolve {conflict.id} {conflict.accept_words(of_one[0])}")
        verb = "proposes" if len(names) == 1 else "propose"
        lines.append(f"    {' and '.join(names)} {verb} {what}: {accept}")
    return lines
