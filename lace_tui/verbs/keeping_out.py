"""`commit --keep-out`: what was committed before `.laceignore` named it is shared no more, and stays here (CLAY-71)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lace_tui.cli.context import Context
from lace_tui.cli.folder import desk_option, notices, paths_of, say_pushed
from lace_tui.cli.output import Answer
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from vault.folder.divergence import check_apart
from vault.folder.kept_out import keep_out, leaving
from vault.plural import few
from vault.vault import Vault

__all__ = ["kept_out"]

_NOTHING = "Nothing changed: that is kept out already."


def kept_out(context: Context, args: argparse.Namespace, vault: Vault, desk: str, paths: Sequence[str]) -> Answer:
    """Commit that paths are shared no more, or say what that would be.

    Raises:
        BadArguments: no path is named, or a file of changes is.
        NotNamed, NoSuchPath, OwnWorkApart, SavedMeanwhile, NotPermitted: as `vault.folder.kept_out.keep_out`.
    """
    from lace_tui.cli.message import message_from  # a dry run needs none
    from lazy.strategy import Occasion, follow

    if args.changes or not paths:
        what = "either --keep-out or --changes" if args.changes else "say what to keep out"
        raise BadArguments(f"lace commit: {what}.", hint="For example: lace commit -m TEXT --keep-out PATH")
    leave = leaving(vault, desk, paths)  # before a message is asked for
    going = sorted(leave.keys() - {path.rpartition("/")[0] for path in leave})  # as a commit lists them
    data = {"planned": args.dry_run, "commit": None, "desk": desk, "revision": None}
    data |= {"added": [], "changed": [], "deleted": going, "notices": [], "pushed": [], "queued": []}
    if args.dry_run:
        vault.check_plan()
        check_apart(vault, desk, is_unshared=True)
        one = len(going) == 1
        would = f"{inert(few(going))} would be shared no more and would stay here; nothing was changed."
        return Answer(data, f"{would}\n{_goes(context, vault, desk, is_one=one)}" if going else _NOTHING)
    message = message_from(context, vault, args.message)
    with context.watching() as watch:
        made = keep_out(vault, message, paths, desk=desk, watch=watch)
        pushed = follow(vault, Occasion.COMMIT, watch) if made else []
    data["notices"] = notices(context, made.problems)
    if not made:
        return Answer(data, _NOTHING)
    data |= {"commit": made.commit, "revision": made.revision, **paths_of(made)}
    data["pushed"] = [result.name for result in pushed if not result.queued]
    data |= {"queued": [result.name for result in pushed if result.queued], "shared": vault.settings.shares_commits}
    gone = made.paths("deleted")
    one = len(gone) == 1
    stay = "is shared no more and stays" if one else "are shared no more and stay"
    say_pushed(context, pushed)
    first = f"Committed {desk} revision {made.revision}: {inert(few(gone))} {stay} here."
    return Answer(data, f"{first}\n{_goes(context, vault, desk, is_one=one)}")


def _goes(context: Context, vault: Vault, desk: str, *, is_one: bool) -> str:
    """Return the sentence about what friends have: a release alone tells them."""
    when = (
        ""
        if vault.settings.shares_commits
        else f" with the next release: lace release{desk_option(context, vault, desk)}"
    )
    return f"{'It goes' if is_one else 'They go'} from your friends' folders{when}"
