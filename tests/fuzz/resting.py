"""The parsers of bytes that rest on a disk, where they rot, for the fuzzer (APP-13)."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from types import MappingProxyType

from blake3 import blake3

from lazy.live.shelves import _recall, own_shelf
from lazy.noted_visits import noted_problems, noted_summary
from lazy.resolving.draft_files import edited_paths
from spark_export.manifest import MANIFESTS, Manifest, read_manifests
from tests.vault.vaults import found, write
from vault import frames
from vault.desks.page_diff import differing_entries, new_items
from vault.desks.pages import count_names, has_large, is_empty, level_of, listed, parse_page
from vault.folder.work import commit
from vault.notes.note import BadNote
from vault.notes.registry import note_of
from vault.profile import TREE_APP
from vault.records import Plex, Seal, parse_record
from vault.records.trailer import from_trailer, to_trailer
from vault.releasing import release
from vault.store import Store
from vault.store.carve import carve
from vault.store.carve_places import carve_places
from vault.store.wal import find_rot, mend_log
from vault.store.wal_frames import FRAME, HEAD, ORDERS
from vault.suite import SigningKey
from vault.vault import Vault

__all__ = ["RESTING"]

_KEY = SigningKey.from_seed(bytes(range(4, 36)))
_PAGE = 4096
_PAGES = 12  # of a store, in one input
_LEAF = 13  # with which a page begins that has rows of a table
_FRAMES = 6  # of a log, in one input
_FRAME = struct.Struct("<BII")  # form, raw bytes, bytes of the prefix
_SUM = 32  # bytes at the end of summaries
_AT = 4  # bytes that say where others begin
_APART = b"\0\n"  # between the two parts of an input


@cache
def _vault() -> Vault:
    """Return a vault with content in rows, in packs and in frames that rest on others."""
    vault = found(Path(mkdtemp(prefix="fuzz-")))
    film = Random(3).randbytes(300_000)
    for number in range(3):
        write(vault, "notes.txt", "".join(f"line {number * line}\n" for line in range(900)))
        write(vault, "film.txt", film.hex() + str(number))
        write(vault, f"deep/{number}.txt", f"{number}\n")
        commit(vault, f"Step {number}")
    return vault


@cache
def _directory(name: str) -> Path:
    return Path(mkdtemp(prefix=f"fuzz-{name}-"))


def _frame(data: bytes) -> None:
    """Judge bytes as a frame whose form, size and base the first of them say."""
    head = data[: _FRAME.size].ljust(_FRAME.size, b"\0")
    form, raw, base = _FRAME.unpack(head)
    prefix, stored = data[_FRAME.size :][:base], data[_FRAME.size :][base:]
    assert len(frames.decode_beginning(form, stored, raw, prefix)) <= max(raw, 0)
    for act in (frames.shown_form, frames.shown_length):
        _quietly(act, stored)
    assert len(frames.decode(form, stored, raw, prefix)) == raw


def _frames() -> tuple[bytes, ...]:
    made = []
    for text, base in ((b"a line\n" * 900, b""), (b"a line\n" * 900 + b"more", b"a line\n" * 900), (b"short", b"")):
        form, stored = frames.encode(text, base)
        made.append(_FRAME.pack(form, len(text), len(base)) + base + stored)
    return tuple(made)


def _log(data: bytes) -> None:
    """Judge bytes as the log that a killed process left, and once more when it was mended."""
    path = _directory("log") / "store.db"
    path.write_bytes(_store()[: 2 * _PAGE])
    log = path.with_name("store.db-wal")
    log.write_bytes(data)
    if find_rot(path) is not None:
        mend_log(path, _directory("aside"))
        for kept in _directory("aside").iterdir():
            kept.unlink()
        find_rot(path)


def _logs() -> tuple[bytes, ...]:
    """Return logs whose sums are of words with either byte first, as SQLite writes the one, and one that is cut off."""
    path = _directory("made") / "store.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE one(two)")
        for number in range(3):
            db.execute("INSERT INTO one VALUES (?)", (f"{number}" * 2000,))
            db.commit()
        whole = path.with_name("store.db-wal").read_bytes()[: HEAD + _FRAMES * FRAME]
    assert {*ORDERS} == {"little", "big"}
    return whole, whole[: HEAD + 2 * FRAME], whole[:HEAD] + whole[HEAD + FRAME :]


@cache
def _store() -> bytes:
    """Return the whole file of a store."""
    vault = _vault()
    vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return vault.store.path.read_bytes()


def _leaves() -> tuple[bytes, ...]:
    """Return the pages with rows of tables, some to an input; in one of them at least records are found."""
    data = _store()
    pages = [page for at in range(0, len(data), _PAGE) if (page := data[at : at + _PAGE])[0] == _LEAF]
    path, records = _directory("leaves") / "whole.db", 0
    inputs = tuple(b"".join(pages[at : at + _PAGES]) for at in range(0, len(pages), _PAGES))
    for each in inputs:
        path.write_bytes(each)
        records += sum(1 for _ in carve(path, _digests()))
    assert records
    return inputs


@cache
def _digests() -> frozenset[bytes]:
    return frozenset(bytes(digest) for (digest,) in _vault().store.rows("SELECT digest FROM body"))


def _carved(data: bytes) -> None:
    """Look in the bytes, as pages of a store, for records and for where they rest."""
    path = _directory("carve") / "whole.db"
    path.write_bytes(data)
    for record, stored in carve(path, _digests()):
        assert stored == b"" or parse_record(stored).hash == record
    made = _made()
    made.db.execute("BEGIN")
    try:
        carve_places(made.db, made.packs, path)
    finally:
        made.db.execute("ROLLBACK")


@cache
def _made() -> Store:
    """Return a store made anew, with all bodies and nothing that says where they rest, beside the packs."""
    directory = _directory("made-anew")
    (directory / "packs").symlink_to(_vault().dot / "packs")
    store = Store(directory / "store.db", create=True)
    with store.transaction():
        store.db.executemany(
            "INSERT INTO body(p, kind, digest, bytes) VALUES (?, ?, ?, ?)",
            _vault().store.rows("SELECT p, kind, digest, bytes FROM body"),
        )
    return store


def _note(data: bytes) -> None:
    """Judge bytes as the key and the text of a note."""
    key, _, text = data.decode("utf-8", "replace").partition("\n")
    known = note_of(key)
    if known is None:
        return
    note, _ = known
    note.rest(text)
    try:
        value = note.read(text)
    except BadNote:  # which never reaches a person: who reads it says what that means
        return
    assert note.read(note.write(value)) == value, key


def _notes() -> tuple[bytes, ...]:
    rows = _vault().store.rows("SELECT key, value FROM meta")
    return tuple(f"{key}\n{value}".encode() for key, value in rows if note_of(str(key)) is not None)


def _summary(data: bytes) -> None:
    noted_problems(noted_summary(data.decode("utf-8", "replace")))


def _draft(data: bytes) -> None:
    (_directory("draft") / "drafts").mkdir(exist_ok=True)
    (_directory("draft") / "drafts" / "one.json").write_bytes(data)
    edited_paths(_directory("draft"), "one")


def _drafts() -> tuple[bytes, ...]:
    entries = {"a.txt": {"key": "k", "edited": "mine\n"}, "b.txt": {"key": "k", "regions": {"0": "both"}}}
    return (json.dumps({"format": 1, "conflict": "one", "desk": "main", "files": entries}).encode(),)


def _manifest(data: bytes) -> None:
    (_directory("export") / MANIFESTS).mkdir(exist_ok=True)
    (_directory("export") / MANIFESTS / "one.json").write_bytes(data)
    whole, broken = read_manifests(_directory("export"))
    assert len(whole) + len(broken) == 1


def _manifests() -> tuple[bytes, ...]:
    node, digest = _KEY.verifier.key.hex()[:16], blake3(b"").hexdigest()
    files = {f"records/{node}/part-000000.parquet": (3, 100, digest), f"members/{node}/state.parquet": (1, 9, digest)}
    made = Manifest("friends/0123456789abcdef", _KEY.verifier.text, digest, (digest,), files)
    return (made.text().encode(),)


def _trailer(data: bytes) -> None:
    record = from_trailer(data)
    assert from_trailer(to_trailer(record)) == record


def _trailers() -> tuple[bytes, ...]:
    vault = _vault()
    records = [parse_record(bytes(stored)) for (stored,) in vault.store.rows("SELECT stored(p, bytes) FROM body")]
    kinds = {type(record).__name__: record for record in records}
    assert {Plex.__name__, Seal.__name__} <= kinds.keys()
    return tuple(to_trailer(record) for record in kinds.values())


def _page_beside(data: bytes) -> None:
    """Judge two pages by their lines alone, once both were read strictly."""
    body, _, before = data.partition(_APART)
    page, _ = parse_page(body), parse_page(before)
    assert len(listed(body)) == len(page.items)
    assert is_empty(body) == (not page.items)
    assert level_of(body) == page.level
    assert count_names(body) == page.entries
    has_large(body)
    new_items(body, before)
    differing_entries(before, body)


def _pages_beside() -> tuple[bytes, ...]:
    rows = _vault().store.rows("SELECT stored(b.p, b.bytes) FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app"
                               " WHERE s.s = ?", TREE_APP)  # fmt: skip
    bodies = [plex.blob.data for (stored,) in rows if isinstance(plex := parse_record(bytes(stored)), Plex)]
    return tuple(one + _APART + other for one in bodies[:4] for other in bodies[:4])


@cache
def _shelf() -> bytes:
    """Return the summaries of a shelf, and let more be shared since."""
    vault = _vault()
    release(vault, None, "For the shelf")
    assert own_shelf(vault, may_write=True) is not None
    write(vault, "later.txt", "later\n")
    release(vault, None, "Later")
    assert len(_recall(vault, vault.store.exposed())) > 1
    return (vault.dot / "roots").read_bytes()


def _summaries(data: bytes) -> None:
    """Judge summaries some of whose bytes are others, with the sum that was theirs and with one that fits.

    They say never more than is shared.
    """
    vault, whole = _vault(), _shelf()
    at = int.from_bytes(data[:_AT], "big") % len(whole)
    bent = whole[:at] + data[_AT:] + whole[at + len(data) - _AT :]
    for kept in (bent, bent[:-_SUM] + blake3(bent[:-_SUM]).digest()):
        (vault.dot / "roots").write_bytes(kept)
        found = _recall(vault, vault.store.exposed())
        assert sum(row.count for name, row in found.items() if row and len(name) == 1) <= vault.store.exposed()


def _some_summaries() -> tuple[bytes, ...]:
    return tuple(at.to_bytes(_AT, "big") + _shelf()[at : at + 100] for at in (0, 13, 45, 61, 97, 2_400, 40_000))


def _quietly(act: Callable[[bytes], object], data: bytes) -> None:
    from vault.errors import LaceError

    try:
        act(data)
    except LaceError:
        return


RESTING: Mapping[str, tuple[Callable[[bytes], object], Callable[[], tuple[bytes, ...]]]] = MappingProxyType(
    {
        "frame": (_frame, _frames),
        "log": (_log, _logs),
        "carve": (_carved, _leaves),
        "note": (_note, _notes),
        "summary": (_summary, lambda: (b'{"problems": [{"code": "gone", "peer": "bob"}]}',)),
        "draft": (_draft, _drafts),
        "manifest": (_manifest, _manifests),
        "trailer": (_trailer, _trailers),
        "page-beside": (_page_beside, _pages_beside),
        "summaries": (_summaries, _some_summaries),
    }
)
"""Targets by name: what is run, and what it begins with."""
