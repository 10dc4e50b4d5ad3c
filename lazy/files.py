"""The files of `.vault/lazy` that RFC-016 names: for people to read, re-created from the store, never trusted.

Editing them by hand adds no trust and changes nothing: the next sync writes them anew (LAZ-75 to LAZ-79).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lazy.conflict_words import detected_iso
from lazy.conflicts import conflicts
from lazy.contested import Conflict
from lazy.people import Person, peers
from lazy.places.registry import places
from lazy.queue import QueueEntry, queue
from lazy.vectors import my_vector
from vault.files import (
    AtomicFile,
    FileTooLarge,
    Unreadable,
    free_name,
    fsync_directory,
    make_directory,
    read_bounded,
    refuse_write,
)
from vault.readable_files import note_readable
from vault.records import Verifier
from vault.revisions.graph import covered
from vault.revisions.history import line_head
from vault.sexp import Sexp, Symbol, clean_text, dumps
from vault.vault import READABLE, Vault

__all__ = ["QUEUE_LINES", "note_lazy_files", "write_lazy_files", "write_noted"]

QUEUE_LINES = 2_000  # entries that a file of the queue names one by one; the rest is in `lace queue`


def write_lazy_files(vault: Vault) -> None:
    """Write `peers.sexp`, `vectors.sexp`, `conflicts/` and `queue/` as the store says now, each atomically."""
    write_noted(vault, note_lazy_files(vault))


def note_lazy_files(vault: Vault) -> dict[str, bytes]:
    """Note in the store what each file will hold, so that `fsck` knows one that changed afterwards; return it.

    Within a write it is noted with that; `write_noted` follows when it is committed.
    """
    wanted = {f"{name}.sexp": f"{dumps(value)}\n".encode() for name, value in _wanted(vault).items()}
    note_readable(vault, wanted)
    return wanted


def write_noted(vault: Vault, wanted: Mapping[str, bytes]) -> None:
    """Write what `note_lazy_files` noted: what differs from what lies there.

    Raises:
        DiskFull, NotWritable: a file cannot be written, or one that is out of date cannot be taken away.
    """
    root = vault.dot / READABLE
    for directory in (root / "conflicts", root / "queue"):
        if not directory.is_dir():  # what is lost of these is written anew, so no flush is paid for an empty one
            for there in (root, directory):
                _move_aside(there, for_directory=True)
            make_directory(directory)
    touched = set()
    for name, data in wanted.items():
        path = root / name
        if not _lies_there(path, data):
            _move_aside(path, for_directory=False)
            with AtomicFile(path, named_later=True) as file:
                file.write(data)
            touched.add(path.parent)
    for directory in touched:
        fsync_directory(directory)
    for path in (*(root / "conflicts").glob("*.sexp"), *(root / "queue").glob("*.sexp")):
        if path.relative_to(root).as_posix() not in wanted:
            _move_aside(path, for_directory=False)
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                refuse_write(path, error)


def _move_aside(path: Path, *, for_directory: bool) -> None:
    """Give a directory that stands where a file goes, or what stands where a directory goes, another name.

    Nothing takes its place else, and it may hold something. A link stays: somebody chose another place.

    Raises:
        NotWritable: it cannot be moved.
    """
    try:
        if path.exists() and not path.is_symlink() and path.is_dir() != for_directory:
            path.rename(free_name(path))
    except OSError as error:
        refuse_write(path, error)


def _lies_there(path: Path, data: bytes) -> bool:
    """Tell whether a file holds just this; what is no plain file, or cannot be read, does not."""
    try:
        return read_bounded(path, len(data)) == data
    except (Unreadable, FileTooLarge):
        return False


def _wanted(vault: Vault) -> dict[str, Sexp]:
    """Return what each file says, by its path without the ending."""
    found: dict[str, Sexp] = {
        "peers": (Symbol("peers"), *_peers(vault)),
        "vectors": (Symbol("vectors"), *_vectors(vault)),
        **{f"conflicts/{c.id}": _conflict(vault, c) for c in conflicts(vault)},
    }
    waiting: dict[str, list[QueueEntry]] = {}
    for entry in queue(vault, QUEUE_LINES + 1):
        waiting.setdefault(entry.peer, []).append(entry)
    files = {person.name: _file_name(person) for person in peers(vault)}
    return found | {f"queue/{files[peer]}": (Symbol("queue"), *_queue(entries)) for peer, entries in waiting.items()}


def _queue(entries: list[QueueEntry]) -> list[Sexp]:
    """Return what waits for a peer, the oldest first; of a long queue the first entries, and that there are more."""
    lines: list[Sexp] = [
        (
            Symbol("entry"),
            (Symbol("seq"), entry.seq),
            (Symbol("hash"), entry.record.text),
            (Symbol("what"), clean_text(entry.what)),
            (Symbol("state"), Symbol(entry.state.value)),
            (Symbol("places"), *(clean_text(place) for place in entry.places)),
        )
        for entry in entries[:QUEUE_LINES]
    ]
    if len(entries) > QUEUE_LINES:
        lines.append((Symbol("more"), "lace queue"))
    return lines


def _file_name(person: Person) -> str:
    """Return a file name for a peer that no user text can shape: the start of its key in hex."""
    return Verifier.parse(person.node).key.hex()[:16]


def _peers(vault: Vault) -> list[Sexp]:
    return [
        (
            Symbol("peer"),
            (Symbol("name"), clean_text(person.name)),
            (Symbol("key"), person.node),
            (Symbol("places"), *(clean_text(p.uri) for p in places(vault) if p.peer in {None, person.node})),
        )
        for person in peers(vault)
    ]


def _vectors(vault: Vault) -> list[Sexp]:
    return [
        (
            Symbol("node"),
            (Symbol("name"), clean_text(mark.name)),
            (Symbol("key"), mark.node),
            (Symbol("seq"), mark.seq),
            (Symbol("digest"), mark.digest),
        )
        for mark in my_vector(vault).values()
    ]


def _conflict(vault: Vault, conflict: Conflict) -> Sexp:
    """Return one conflict; local is the side that is mine, else the one in my line (LAZ-35)."""
    head = line_head(vault.store, vault.node.text, conflict.desk)
    line = covered(vault.store, {side.commit.text for side in conflict.sides}, {head.commit.text} if head else ())
    local, *others = sorted(
        conflict.sides, key=lambda side: (side.node != vault.node.text, side.commit.text not in line)
    )
    return (
        Symbol("conflict"),
        (Symbol("version"), str(conflict.version or "head")),
        (Symbol("local-hash"), local.content_sha512),
        *((Symbol("remote-hash"), side.content_sha512) for side in others),
        (Symbol("common-ancestor"), str(conflict.ancestor or "none")),
        (Symbol("detected"), detected_iso(conflict)),
        (Symbol("status"), Symbol(conflict.status.value)),
    )
