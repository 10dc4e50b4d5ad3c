"""Facts that are read from stored bytes when a program asks for them, one record at a time.

The bytes were fully validated when they were stored, so this only finds what it looks for. All of it returns None
instead of raising: it runs inside SQLite, where nothing may be raised.
"""

from __future__ import annotations

import json
from typing import Final

from vault.desks.pages import PageRef, parse_page
from vault.errors import DataError
from vault.profile import CONTENT_APPS, DATA_APP
from vault.records import B64AError, Plex, b64a, parse_record
from vault.store.facts import UNINDEXED

__all__ = ["blob_hash", "digest_of", "entries", "fields", "is_unindexed", "text_of"]

_MARK: Final = "🖧: ".encode()
_BLOB_MARK: Final = b"\n" + _MARK + b"B."
_HASH_CHARACTERS: Final = 48
_CHUNK_LINK: Final = b"\nChunk+Link: "
_TREE_LINE: Final = b"\nApp: lace/tree\n"


def is_unindexed(name: str) -> bool:
    """Tell whether facts of this header are found in stored bytes only."""
    return name in UNINDEXED or name == "Signature" or name.endswith("+Link")


def text_of(kind: str, digest: bytes) -> str:
    """Return the hash text of a stored record."""
    return f"{kind}.{b64a.encode(digest)}.H3"  # not by RecordHash: the parts are good, and this runs a million times


def digest_of(text: object) -> bytes | None:
    """Return the digest a hash text names, or None if it is no hash text of a supported format."""
    if not isinstance(text, str) or len(text) != _HASH_CHARACTERS or text[1] != "." or text[45:] != ".H3":
        return None
    try:
        return b64a.decode(text[2:45])  # whoever asks compares the kind with the record's
    except B64AError:
        return None


def blob_hash(stored: bytes) -> str | None:
    """Return the hash text of the Blob embedded in a record (FAC-3)."""
    at = stored.find(_BLOB_MARK)
    if at < 0:
        return None
    start = at + 1 + len(_MARK)
    return stored[start : start + _HASH_CHARACTERS].decode("ascii", "replace")


def entries(stored: bytes) -> str | None:
    """Return what a tree record or a manifest holds as JSON: a list of [name, kind, target] (FAC-14).

    Pages of a large directory have the kind "page", the parts of a large content "chunk"; neither has a name.
    """
    if _CHUNK_LINK not in stored and _TREE_LINE not in stored:
        return None
    try:
        record = parse_record(stored, verify=False)
        if not isinstance(record, Plex) or record.app not in CONTENT_APPS:
            return None
        if record.app == DATA_APP:
            parts = (value.rpartition(" ")[2] for name, value in record.extras if name == "Chunk+Link")
            return json.dumps([("", "chunk", target) for target in parts])
        rows = [
            ("", "page", item.hash.text) if isinstance(item, PageRef) else (item.name, item.kind, item.hash.text)
            for item in parse_page(record.blob.data).items
        ]
    except DataError:
        return None
    return json.dumps(rows)


def fields(stored: bytes, name: str | None) -> str | None:
    """Return the header facts of a record as JSON: a list of [name, index, value] (FAC-4).

    Args:
        stored: the record's stored bytes.
        name: only headers of this name; all if None.
    """
    end = stored.find(_BLOB_MARK)
    if end < 0:
        return None
    sealed = stored.startswith(_MARK + b"S.")
    rows = [("Type", "S" if sealed else "P")]
    for line in stored[:end].decode("utf-8", "replace").split("\n"):
        header, _, value = line.partition(": ")
        if header != "🖧":
            rows.append((header, value))
    size_at = stored.find(b"\n", end + 1) + 1
    _, _, size = stored[size_at : stored.find(b"\n", size_at)].partition(b": ")
    rows.append(("Data-Length", size.decode("ascii", "replace")))
    if not sealed:
        app = next((value for header, value in rows if header == "App"), "")
        told = {"Type", "Group", "App", "Data-Length"} | (set() if app in CONTENT_APPS else {"Name"})
        rows = [row for row in rows if row[0] in told]
    counts: dict[str, int] = {}
    facts = []
    for header, value in rows:
        index = counts.get(header, 0)
        counts[header] = index + 1
        if name is None or header == name:
            facts.append((header, str(index), value))
    return json.dumps(facts)
