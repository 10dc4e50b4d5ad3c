"""A release of which its maker was not told: the command was killed after it took effect, before its answer was out.

The same command run again would say that nothing changed, or that the version is taken, and leave its maker in doubt.
So a release notes, in its own write, what it was asked; the note goes once the answer is out. Who asks the same while
the note is there, with the folder as it was released, is given that answer (APP-13).
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from vault.content.totals import desk_totals
from vault.desk_folders import MAIN
from vault.errors import LaceError
from vault.folder.work import Unchanged, changes, checkout_of
from vault.names import Version
from vault.notes.own import UNREPORTED
from vault.records import RecordHash
from vault.releasing import Released
from vault.revisions.history import line_head
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

__all__ = ["Asked", "note_unreported", "reported", "unreported"]


class Asked(NamedTuple):
    """What a release was asked: the version as it was given, empty where the next one was to be taken."""

    version: str = ""
    message: str = ""
    desk: str = MAIN


def note_unreported(asked: Asked, w: Writer, made: Released) -> None:
    """Note, inside the write of a release, that nobody was told of it yet."""
    told = [made.release.text, str(made.version), made.commit.text, made.seq, made.content_sha512, made.first]
    w.store.set_note(UNREPORTED, [*asked, *told])


def reported(vault: Vault, release: RecordHash) -> None:
    """Take note that the maker of a release was told of it; where the vault is busy, the next release does it."""
    with suppress(LaceError), vault.lock.held(timeout=0), vault.store.transaction():
        if release.text in vault.store.note(UNREPORTED):
            vault.store.drop_note(UNREPORTED)


def unreported(vault: Vault, asked: Asked, watch: Watch = Watch()) -> Released | None:
    """Return the release that was made for the same words and never told of, where nothing changed since; else None.

    Nor is there one where the note of it rotted (APP-13).
    """
    known = vault.store.note(UNREPORTED)
    if not known:
        return None
    try:
        version, message, desk, release, made, commit, seq, content, first = known
        record, number, place = RecordHash.parse(release), Version.parse(made), int(seq)
    except (ValueError, TypeError, AttributeError, RecursionError, LaceError):
        return None
    head, base = line_head(vault.store, vault.node.text, asked.desk), checkout_of(vault, asked.desk)
    if Asked(version, message, desk) != asked or head is None or base is None:
        return None
    if not head.commit.text == base.commit.text == commit or vault.store.position(record) is None:
        return None
    found = changes(vault, desk, watch)
    if found.items:
        return None
    files, size = desk_totals(vault.store, desk, base.tree)
    return Released(
        release=record,
        version=number,
        desk=desk,
        commit=head.commit,
        seq=place,
        content_sha512=str(content),
        committed=Unchanged(found.problems),
        files=files,
        bytes=size,
        first=bool(first),
    )
