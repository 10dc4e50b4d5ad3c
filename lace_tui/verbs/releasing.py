"""`release`: a version for what the folder holds, and what would go with it (LAZ-45, CYB-2, CYB-5)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from lace_tui.cli.context import Context
from lace_tui.cli.folder import DESK_HELP, desk_of, desk_option, notices, paths_of, say_pushed
from lace_tui.cli.output import Answer
from lace_tui.cli.unanswered import let_go_once_told
from lace_tui.words.folder import still_shared_lines
from lace_tui.words.inert import inert
from lace_tui.words.releases import (
    doubt_lines,
    gone_lines,
    left_out_lines,
    look_lines,
    looked_text,
    new_text,
    since_after,
    totals_after,
)
from vault.content.totals import Since, desk_totals
from vault.desks.memory import MemoryObjects
from vault.errors import CallerError
from vault.folder.checked_out import checkout_of
from vault.folder.work import Unchanged, changes
from vault.names import Version
from vault.notes.own import RELEASE_UNANSWERED
from vault.plural import bytes_text, plural
from vault.records import RecordHash
from vault.revisions.history import commit_info, is_first, last_shared, line_head, unreleased
from vault.since_release import SinceRelease, since_release
from vault.vault import Vault

if TYPE_CHECKING:
    from lazy.results import PlaceResult
    from vault.releasing import Released
    from vault.watch import Watch
    from vault.writer import Writer

__all__ = ["VersionNeeded", "configure", "run"]


class VersionNeeded(CallerError):
    """A release needs a version, and nobody is there to agree to the one proposed."""

    code = "version-needed"
    hint = "Name one, or take the proposed one with: lace release --yes"


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the version and what goes with it."""
    del verb
    parser.add_argument("version", metavar="VERSION", nargs="?", help="X.Y.Z; without it the next one is proposed")
    parser.add_argument("-m", dest="message", metavar="TEXT", help="what friends should know")
    parser.add_argument("--desk", metavar="D", help=DESK_HELP)
    parser.add_argument("-y", "--yes", action="store_true", help="take the proposed version")
    parser.add_argument("--dry-run", action="store_true", help="say what would be shared, and change nothing")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Release, or say what a release would share.

    Raises:
        VersionNeeded, VersionTaken, NothingToRelease, NotPermitted: nothing was released.
    """
    with ExitStack() as stack:
        vault = stack.enter_context(context.open_vault())
        answer = _release(context, args, vault)
        return answer if answer.data["release"] is None else let_go_once_told(context, vault, answer, stack)


def _release(context: Context, args: argparse.Namespace, vault: Vault) -> Answer:
    desk = desk_of(context, vault, args.desk)
    version = Version.parse(args.version) if args.version else None
    if args.dry_run:
        return _planned_release(context, vault, desk, version)
    asked = [args.version or "", args.message or "", desk]
    with context.watching() as watch:
        made = _released_before(vault, asked, watch)
    is_again = made is not None
    if made is None and version is None and not args.yes:
        version = _agreed_version(context, vault, desk)
        if version is None:
            return Answer.declined({"release": None, "version": None, "desk": desk}, "Nothing was released.")
    from lazy.strategy import Occasion, follow  # each verb loads what it needs
    from vault.releasing import release

    earlier, last = (0, None) if is_again else (unreleased(vault, desk), last_shared(vault, desk))
    with context.watching() as watch:
        if made is None:
            noted = _noting(vault, asked)
            made = release(vault, version, args.message or "", desk=desk, watch=watch, noted=noted)
        pushed = follow(vault, Occasion.RELEASE, watch)
    step = Since(made.committed.base, made.committed.items) if made.committed else None
    tree = commit_info(vault.store, made.commit).tree
    since = since_release(vault, desk, last, tree, vault.store, made.commit, step=step, files=made.files)
    return _released_answer(context, vault, made, earlier, since, pushed, is_again=is_again)


def _noting(vault: Vault, asked: list[str]) -> Callable[[Writer, Released], None]:
    """Return what notes a release inside its write, for the same command run again (APP-13)."""
    from lazy.folder.unanswered import RELEASE, note_answer  # before the write begins

    def note(w: Writer, made: Released) -> None:
        told = {"release": made.release.text, "version": str(made.version), "commit": made.commit.text}
        told |= {"seq": str(made.seq), "content_sha512": made.content_sha512, "first": "yes" if made.first else ""}
        note_answer(w, vault, RELEASE, asked, told)

    return note


def _released_before(vault: Vault, asked: list[str], watch: Watch) -> Released | None:
    """Return the release that was made for the same words and never told of, where nothing changed since; else None."""
    if not vault.store.has_note(RELEASE_UNANSWERED):
        return None
    from lazy.folder.unanswered import RELEASE, unanswered  # hardly any release was cut off
    from vault.releasing import Released

    known, desk = unanswered(vault, RELEASE, asked, outlives_acts=True), asked[-1]
    head, base = line_head(vault.store, vault.node.text, desk), checkout_of(vault, desk)
    if known is None or head is None or base is None or not head.commit.text == base.commit.text == known["commit"]:
        return None
    record = RecordHash.parse(known["release"])
    found = changes(vault, desk, watch)
    if vault.store.position(record) is None or found.items:
        return None
    files, size = desk_totals(vault.store, desk, base.tree)
    return Released(
        release=record,
        version=Version.parse(known["version"]),
        desk=desk,
        commit=head.commit,
        seq=int(known["seq"]),
        content_sha512=str(known["content_sha512"]),
        committed=Unchanged(found.problems),
        files=files,
        bytes=size,
        first=bool(known["first"]),
    )


def _released_answer(
    context: Context,
    vault: Vault,
    made: Released,
    earlier: int,
    since: SinceRelease | None,
    pushed: Sequence[PlaceResult],
    *,
    is_again: bool,
) -> Answer:
    from lazy.relation import relation_of  # each verb loads what it needs

    stands = relation_of(vault, made.desk)
    doubt, is_cut = doubt_lines(vault)
    following = _next_command(vault, pushed, is_cut=is_cut)
    say_pushed(context, pushed)
    looked = looked_text(vault, made)
    told = [*([looked] if looked else []), *gone_lines(since), *doubt, *left_out_lines(vault, made.desk, stands)]
    data = {
        **_made_data(made, earlier, since),
        "notices": notices(context, made.committed.problems),
        "pushed": [result.name for result in pushed if not result.queued],
        "queued": [result.name for result in pushed if result.queued],
        "already": is_again,
        "counts": not doubt,
        "doubt": doubt,
        "relation": stands,
        "told": told,
        "next": following or None,
    }
    lines = [
        _released_again(made) if is_again else _released(made, earlier, since),
        *told,
        *([f"Next: {inert(following)}"] if following else []),
    ]
    return Answer(data, "\n".join(lines))


def _next_command(vault: Vault, pushed: Sequence[PlaceResult], *, is_cut: bool) -> str:
    """Return what brings a release to friends; empty where it lies at every place already."""
    from lazy.noted_visits import sync_command
    from lazy.queue import takers, without_place  # each verb loads what it needs

    if is_cut:
        return "lace adopt"
    if pushed and not any(result.queued for result in pushed):
        return ""
    known = takers(vault)
    return sync_command(known[0].name) if known else without_place(vault)


def _made_data(made: Released, earlier: int, since: SinceRelease | None) -> dict[str, object]:
    """Return what a release is and what it brings, as it stands in JSON."""
    return {
        "release": made.release,
        "version": made.version,
        "desk": made.desk,
        "commit": made.commit,
        "seq": made.seq,
        "content_sha512": made.content_sha512,
        "files": made.files,
        "bytes": made.bytes,
        "first": made.first,
        "earlier_commits": earlier,
        "revision": made.committed.revision if made.committed else None,
        **(paths_of(made.committed) if made.committed else {"added": [], "changed": [], "deleted": []}),
        "since_release": paths_of(since) if since else None,
    }


def _released_again(made: Released) -> str:
    """Return what a release came to of which nobody was told."""
    what = f"{plural(made.files, 'file')}, {bytes_text(made.bytes)} in all"
    return f"{made.desk} {made.version} is released: the same command did it before, and was cut off. {what}."


def _released(made: Released, earlier: int, since: SinceRelease | None) -> str:
    what = f"{plural(made.files, 'file')}, {bytes_text(made.bytes)}"
    if made.first:
        return f"Released {made.desk} {made.version}. Your first release: all of it goes to your friends, {what}."
    new = f"{new_text(made.committed, earlier, since)}; " if made.committed or earlier else ""
    return f"Released {made.desk} {made.version}: {new}{what} in all."


def _agreed_version(context: Context, vault: Vault, desk: str) -> Version | None:
    """Return the proposed version if the person at the terminal agrees to it, else None.

    Raises:
        VersionNeeded: nobody is at a terminal; the message names the number.
        NothingToRelease, FolderEmptied and the like: as `planned_version`; nobody is asked for what is refused.
    """
    option = desk_option(context, vault, desk)
    from lazy.relation import relation_of  # each verb loads what it needs
    from vault.releasing import planned_version

    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    with context.watching() as watch:
        found = changes(vault, desk, watch, overlay=overlay)
    proposed = planned_version(vault, desk, None, found, overlay)
    if not context.is_terminal or context.json:
        raise VersionNeeded(
            f"The next version of {desk} would be {proposed}.",
            hint=f"Take it with: lace release {proposed}{option} - or: lace release --yes{option}",
        )
    files, size = totals_after(vault, desk, found)
    since = since_after(vault, desk, found, overlay)
    new = new_text(found, unreleased(vault, desk), since)
    context.say(f"{new}; {plural(files, 'file')}, {bytes_text(size)} in all.")
    stands = relation_of(vault, desk)
    for line in [
        *look_lines(vault, found),
        *gone_lines(since),
        *still_shared_lines(found.problems),
        *left_out_lines(vault, desk, stands),
    ]:
        context.say(line)
    return proposed if context.agrees(f"Release {desk} as {proposed}?") else None


def _planned_release(context: Context, vault: Vault, desk: str, version: Version | None) -> Answer:
    """Say what a release would share; nothing is written."""
    from lace_tui.words.written import UNFINISHED  # each verb loads what it needs
    from vault.folder.finishing import is_cut
    from vault.releasing import planned_version

    overlay = MemoryObjects(fallback=vault.store, trees_only=True)
    with context.watching() as watch:
        found = changes(vault, desk, watch, overlay=overlay, is_dry=True)
        is_unfinished = is_cut(vault, desk, watch)
    free = planned_version(vault, desk, version, found, overlay)
    base = checkout_of(vault, desk)
    files, size = totals_after(vault, desk, found)
    earlier, since = unreleased(vault, desk), since_after(vault, desk, found, overlay)
    first = base is None or is_first(vault, desk, base.commit)
    data = {
        "planned": True,
        "release": None,
        "version": free,
        "desk": desk,
        "files": files,
        "bytes": size,
        "first": first,
        "earlier_commits": earlier,
        **paths_of(found),
        "since_release": paths_of(since) if since else None,
        "notices": notices(context, found.problems),
        "unfinished": is_unfinished,
    }
    new = new_text(found, earlier, since)
    said = f"Would release {desk} {free}: {new}; {plural(files, 'file')}, {bytes_text(size)} in all."
    first_of_all = [UNFINISHED] if is_unfinished else []
    return Answer(data, "\n".join([*first_of_all, said, *look_lines(vault, found), *gone_lines(since)]))
