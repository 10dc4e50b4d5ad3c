"""The files of `.vault/lazy` that RFC-016 names: for people to read, re-created from the store, never trusted.

Editing them by hand adds no trust and changes nothing: the next sync writes them anew (LAZ-75 to LAZ-79).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lazy.conflicts import Conflict, conflicts, detected_iso
from lazy.people import peers
from lazy.places import places
from lazy.queue import queue
from lazy.vectors import my_vector
from vault.files import make_directory, write_atomic
from vault.graph import ancestors
from vault.history import line_head
from vault.records import Verifier
from vault.sexp import Sexp, Symbol, clean_text, dumps
from vault.vault import Vault

__all__ = ["write_lazy_files"]


def write_lazy_files(vault: Vault) -> None:
    """Write `peers.sexp`, `vectors.sexp`, `conflicts/` and `queue/` as the store says now, each atomically."""
    root = vault.dot / "lazy"
    make_directory(root / "conflicts")
    make_directory(root / "queue")
    _write(root / "peers.sexp", (Symbol("peers"), *_peers(vault)))
    _write(root / "vectors.sexp", (Symbol("vectors"), *_vectors(vault)))
    _directory(root / "conflicts", {c.id: _conflict(vault, c) for c in conflicts(vault)})
    waiting: dict[str, list[Sexp]] = {}
    for entry in queue(vault):
        line: Sexp = (
            Symbol("entry"),
            (Symbol("seq"), entry.seq),
            (Symbol("hash"), entry.record.text),
            (Symbol("what"), clean_text(entry.what)),
            (Symbol("state"), Symbol(entry.state.value)),
            (Symbol("places"), *(clean_text(place) for place in entry.places)),
        )
        waiting.setdefault(_file_name(vault, entry.peer), []).append(line)
    _directory(root / "queue", {name: (Symbol("queue"), *lines) for name, lines in waiting.items()})


def _file_name(vault: Vault, peer: str) -> str:
    """Return a file name for a peer that no user text can shape: the start of its key in hex."""
    return next(Verifier.parse(person.node).key.hex()[:16] for person in peers(vault) if person.name == peer)


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
    line = ancestors(vault.store, head.commit) if head else set()
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


def _directory(directory: Path, wanted: Mapping[str, Sexp]) -> None:
    for name, value in wanted.items():
        _write(directory / f"{name}.sexp", value)
    for path in directory.glob("*.sexp"):
        if path.stem not in wanted:
            path.unlink(missing_ok=True)


def _write(path: Path, value: Sexp) -> None:
    data = f"{dumps(value)}\n".encode()
    if not path.exists() or path.read_bytes() != data:
        write_atomic(path, data)
