"""A decision of which nobody was told, and the same command run again (APP-13, LAZ-39)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from blake3 import blake3

from lace_tui.cli.context import Context
from lace_tui.cli.picking import edited_in
from lazy.conflicts import conflict_of
from lazy.contested import Status
from lazy.folder.unanswered import moved_again, note_answer, unanswered
from lazy.resolving.draft_files import forget_drafts
from lazy.resolving.resolve import Noted, Resolved
from lazy.resolving.unedited import Unedited
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import changes
from vault.records import RecordHash
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["decided_before", "noting", "recorded"]

_VERB = "resolve"
_Edited = Callable[[str], bytes | None]


def recorded(edited: _Edited, read: dict[str, str]) -> _Edited:
    """Return what reads merged files, and takes down what was in them."""

    def reading(path: str) -> bytes | None:
        content = edited(path)
        read[path] = _digest(content)
        return content

    return reading


def _digest(content: bytes | None) -> str:
    return blake3(content).hexdigest() if content is not None else ""


def noting(
    context: Context, vault: Vault, args: argparse.Namespace, as_is: Sequence[Unedited], read: dict[str, str]
) -> Noted:
    """Return what notes a decision inside its write, for the same command run again.

    Args:
        context: where it was typed.
        vault: whose decision it is.
        args: its words.
        as_is: what nobody edited.
        read: digests of the merged files, by path, once they were read.
    """
    return partial(_note, vault, _asked(context, args), as_is, read)


def _note(
    vault: Vault, asked: list[Any], as_is: Sequence[Unedited], read: dict[str, str], w: Writer, done: Resolved
) -> None:
    made = {
        "conflict": done.conflict,
        "status": done.status.value,
        "resolution": str(done.resolution or ""),
        "release": str(done.release or ""),
        "commit": str(done.commit),
        "conflicts": done.conflicts,
        "unedited": list(as_is),
        "read": read,
    }
    desk = conflict_of(vault, done.conflict).desk
    note_answer(w, vault, _VERB, asked, made, desk if done.written or done.deleted else "")


def _asked(context: Context, args: argparse.Namespace) -> list[Any]:
    picks = [[pick.path, pick.side, sorted(map(list, pick.regions.items()))] for pick in args.picks]
    words = [args.conflict, args.prefer, args.merged, args.accept, args.message, args.files]
    return [*words, picks, str(context.cwd.absolute()) if picks or args.files else ""]


def decided_before(
    context: Context, vault: Vault, args: argparse.Namespace
) -> tuple[Resolved, tuple[Unedited, ...]] | None:
    """Return what the same words decided, where nobody was told of it and all that it was made of is as it was."""
    known = unanswered(vault, _VERB, _asked(context, args))
    if known is None:
        return None
    with context.watching() as watch:
        finish_checkouts(vault, watch, conflict_of(vault, known["conflict"]).desk)
        conflict = conflict_of(vault, known["conflict"])
        if conflict.is_open:  # another side or decision came since, and this one decides between those
            return None
        if args.merged is not None and changes(vault, conflict.desk, watch).items:
            return None
    edited = edited_in(context, args)
    if any(_digest(edited(path)) != digest for path, digest in known["read"].items()):
        return None
    done = Resolved(
        known["conflict"],
        Status(known["status"]),
        _hash(known["resolution"]),
        _hash(known["release"]),
        RecordHash.parse(known["commit"]),
        conflicts=tuple(known["conflicts"]),
        texts=forget_drafts(vault, known["conflict"], RecordHash.parse(known["commit"])),
        **moved_again(vault, known["moves"])._asdict(),
    )
    return done, tuple(
        Unedited(path, side, own, tuple(out), *more) for path, side, own, out, *more in known["unedited"]
    )


def _hash(text: str) -> RecordHash | None:
    return RecordHash.parse(text) if text else None
