"""`archive`: a state of a desk as one file that any system unpacks (CYB-6)."""

from __future__ import annotations

import argparse
import os

from lace_tui.cli.context import Context
from lace_tui.cli.folder import CASE_HELP, note_inside, target_of
from lace_tui.cli.output import Answer
from lace_tui.words.inert import inert
from lazy.address import resolve
from lazy.visits.carry import FileExists
from vault.content.archive import ENDINGS, archived_before, check_ending, write_archive
from vault.content.totals import tree_totals
from vault.plural import bytes_text, plural
from vault.records import Tai
from vault.records.tai import LEAP_SECONDS
from vault.revisions.history import commit_info
from vault.space import require_room

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add what to archive, and where."""
    del verb
    parser.add_argument("address", metavar="[PEER/]DESK[@CASE]", help=CASE_HELP)
    parser.add_argument("file", metavar="FILE", help=f"ends with one of {', '.join(ENDINGS)}")


def run(context: Context, args: argparse.Namespace) -> Answer:
    """Write the archive, and say its SHA-512.

    Raises:
        InTheVault: the file would lie in the `.vault`.
        NoSuchArchive: its ending says no kind.
        FileExists: something else lies there.
        MissingObject: a content is not here.
    """
    path = target_of(context, args.file)
    check_ending(path)
    is_there = os.path.lexists(path)  # where it may not be looked at, writing it says so
    with context.open_vault() as vault:
        found = resolve(vault, args.address)
        made = commit_info(vault.store, found.commit)
        case = args.address.partition("@")[2] or str(found.number)
        folder = f"{found.desk}-{case}".replace(":", "-")  # whoever archives it, the bytes are the same
        with context.watching() as watch:

            def told(done: int, total: int) -> None:
                watch.cancelled()
                watch.progress(done, total, "archive")

            seconds = max(0, Tai.parse(made.tai).seconds - LEAP_SECONDS)
            if is_there:
                same = archived_before(vault.store, found.tree, path, folder=folder, seconds=seconds, progress=told)
                if same is None:
                    raise FileExists(f"{path} exists already, and is not what would be written there.")
                done = same
            else:
                require_room(vault.around, path.parent, tree_totals(vault.store, found.tree)[1], "This archive")
                done = write_archive(vault.store, found.tree, path, folder=folder, seconds=seconds, progress=told)
    note_inside(context, path)
    return Answer(
        {
            "archive": path,
            "what": found.what,
            "commit": found.commit,
            "files": done.files,
            "bytes": done.bytes,
            "sha512": done.sha512,
            "already": is_there,
        },
        f"{plural(done.files, 'file')} of {inert(found.what)} in {inert(str(path))}, {bytes_text(done.bytes)}"
        f"{': it lies there already' if is_there else ''}.\n"
        f"SHA-512 {done.sha512}",
    )
