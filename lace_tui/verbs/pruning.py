"""`prune`: old content goes, by explicit choice, after it was said what goes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import suppress

from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer, Paint
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lace_tui.words.needed import needed_text
from vault.content.keeping import keeps
from vault.content.prune import plan_prune, prune
from vault.content.prune_plan import Pruning
from vault.desk_folders import desks
from vault.errors import CallerError, LaceError
from vault.plural import bytes_text, more_lines, plural
from vault.store.database import is_exclusive
from vault.vault import Vault

__all__ = ["NotAgreed", "configure", "run"]

_NAMED = 20  # commits shown; the rest is counted
_HELD = (
    "No file goes by lace desk keep: some member's newest release or a state of yours has it too, or nobody else is"
    " known to have the old one."
)

_UNREACHED = "content that no revision here has any more (as after an undo)"


class NotAgreed(CallerError):
    """Content would go for good, and nobody agreed to that."""

    code = "not-agreed"
    hint = "Look with: lace prune --dry-run - and agree with: lace prune --yes"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the verb's own arguments."""
    keep = "how many of a desk's newest revisions keep their content (1)"
    parser.add_argument("--keep", type=int, default=1, metavar="K", help=keep)
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and change nothing")
    parser.add_argument("-y", "--yes", action="store_true", help="agree beforehand; needed where nobody can be asked")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Do what the verb says."""
    if args.keep < 1:
        raise BadArguments("lace prune --keep: the number must be at least 1.")
    planned = args.dry_run
    opened, way = _opened(context, planned=planned)
    with opened as vault, context.watching() as watch:
        done = plan_prune(vault, keep=args.keep, watch=watch)
        is_needed = bool(done.lets_go or done.packs or done.unproven)
        if is_needed:
            vault.check_plan()
        if is_needed and not planned:
            # To what was cut off leaving something, nobody need agree.
            if done.lets_go and not _agrees(context, done, yes=args.yes):
                return Answer.declined(_data(done, planned=True), f"Nothing was let go of. {NotAgreed.hint}")
            done = prune(vault, keep=args.keep, watch=watch)
        if way:
            done = done._replace(freed=done.freed + way, packs=done.packs + 1)
        has_rules = any(keeps(vault.store, desk.name) for desk in desks(vault))

    def text(paint: Paint) -> str:
        lines = [*_lines(done, paint, planned=planned)]
        if has_rules and not (done.files or done.unproven or done.needed):
            lines.append(_HELD)
        return "\n".join(lines)

    return Answer(_data(done, planned=planned), text)


def _opened(context: Context, *, planned: bool) -> tuple[Vault, int]:
    """Open the vault, and return how many bytes were freed first: on a full disk a prune has no room even to begin."""
    vault = context.open_vault()
    if planned or not is_exclusive(vault.store.db):
        return vault, 0
    vault.close()
    from vault.content.full_disk import make_way  # hardly any disk is full

    way = 0
    with suppress(LaceError):  # what a prune without room comes to is told by itself
        way = make_way(vault.folder, context.surroundings())
    return context.open_vault(), way


def _agrees(context: Context, plan: Pruning, *, yes: bool) -> bool:
    """Ask the person at the terminal.

    Raises:
        NotAgreed: nobody can be asked.
    """
    if yes:
        return True
    if not context.is_terminal or context.json:
        raise NotAgreed(f"{_content(plan)} would go for good.")
    context.say("\n".join(_lines(plan, Paint(is_on=False), planned=True)))
    return context.agrees("Let go of it?")


def _content(done: Pruning) -> str:
    """Return what goes, as the beginning of a sentence."""
    if not done.commits and not done.files:
        return _UNREACHED[0].upper() + _UNREACHED[1:]
    commits = plural(len(done.commits), "old commit")
    files = plural(done.files, "old released file")
    both = f"{commits} and of {files}" if done.commits else files
    return f"The content of {both if done.files else commits}"


def _data(done: Pruning, *, planned: bool) -> dict[str, object]:
    return {
        "planned": planned,
        "commits": [{"desk": c.desk, "number": c.number, "commit": c.commit} for c in done.commits],
        "files": done.files,
        "files_unproven": done.unproven,
        "files_needed": done.needed,
        "unreached": done.unreached,
        "kept_states": list(done.kept),
        "records": done.records,
        "bytes": done.bytes,
        "freed": done.freed,
        "read_now": done.read,
        "packs": done.packs,
        "desks": [{"desk": d.desk, "commits": d.commits, "bytes": d.bytes} for d in done.desks],
        "kinds": [{"kind": k.kind, "records": k.records, "bytes": k.bytes} for k in done.kinds],
    }


def _lines(done: Pruning, paint: Paint, *, planned: bool) -> Iterator[str]:
    for size in done.desks:
        yield paint.faint(f"{inert(size.desk)}: {plural(size.commits, 'commit')}, {bytes_text(size.bytes)} of content")
    if done.unproven:
        what = plural(done.unproven, "old released file")
        yield f"{what} would go too, but no place you know has a copy of your own, beside what friends have there."
        way = "lace sync with a stick or a git remote makes one, then lace prune lets go of them"
        yield f"  {'lace prune asks for one, ' if planned else ''}{way}"
    if done.needed:
        yield needed_text(done.needed)
    if not done.lets_go and not done.packs:
        yield "Nothing here is old and unneeded."
    elif not done.lets_go:
        free = "would be free again" if planned else "are free again"
        yield f"What was cut off before it ended goes: {'up to ' if planned else ''}{bytes_text(done.freed)} {free}."
    elif planned:
        about = "up to" if done.left else "about"
        yield f"{_content(done)} would go: {about} {bytes_text(done.freed)} on the disk."
    else:
        free = f": {bytes_text(done.freed)} are free again" if done.freed else ""
        yield f"{paint.good('=')} {_content(done)} is gone{free}."
    for found in done.commits[:_NAMED]:
        yield f"  {inert(found.desk)}@{found.number}"
    yield from more_lines(len(done.commits), _NAMED)
    for name in done.kept:
        yield f"  {inert(name)}"
    if done.unreached and (done.commits or done.files):
        yield f"  and {_UNREACHED}"
    if done.read:
        more = " more" if done.freed else ""
        yield f"{bytes_text(done.read)}{more} are read by another program: once it has ended, lace prune frees them."
