"""Stores of made-up records, and their facts worked out from the records alone."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from vault.records import Plex, RecordError, RecordHash, Seal, Tai
from vault.store import Store
from vault.suite import SigningKey

__all__ = ["GROUP", "KEYS", "Facts", "add", "facts_of", "links_of", "make", "open_store", "share"]

Facts = dict[str, set[tuple[str, ...]]]

GROUP = "friends/0123456789ABCDEF"
KEYS = tuple(SigningKey(bytes([n]) * 32) for n in (1, 2))
UNSIGNED = frozenset({"lace/data", "lace/tree"})


def make(
    app: str,
    name: str,
    n: int,
    extras: tuple[tuple[str, str], ...] = (),
    links: tuple[tuple[str, str], ...] = (),
    data: bytes = b"",
    signer: int | None = 0,
) -> Plex | Seal:
    """Return a record; `links` are pairs of data and target text."""
    headers = (*extras, *((f"{said}+Link", f"{said} {target}") for said, target in links))
    plex = Plex.build(
        group=GROUP, app=app, name=name, tai=Tai.parse(f"{1_700_000_000 + n}:000000000"), extras=headers, data=data
    )
    return plex if signer is None else Seal.sign(plex, KEYS[signer])


def add(store: Store, records: list[Plex | Seal]) -> None:
    """Store records as a vault does."""
    with store.transaction():
        store.add([(record, record.encode()) for record in records])


def share(store: Store, records: list[RecordHash]) -> None:
    """Mark records as shared, as the closure of a log entry does."""
    with store.transaction():
        for record in records:
            p = store.position(record)
            store.db.execute("INSERT OR IGNORE INTO shared VALUES (?, 1)", (p,))
            store.db.execute("INSERT OR IGNORE INTO exposure(p) VALUES (?)", (p,))


def facts_of(records: list[Plex | Seal], shared: Collection[RecordHash] = ()) -> Facts:
    """Return the record facts of these records (FAC-3, FAC-4)."""
    facts: Facts = {name: set() for name in ("Have", "Field", "RecordLink", "BlobHash", "PlexHash", "Shared")}
    for record in records:
        p = record.hash.text
        plex = record.plex if isinstance(record, Seal) else record
        facts["Have"].add((p,))
        facts["BlobHash"].add((p, plex.blob.hash.text))
        if record.hash in shared:
            facts["Shared"].add((p,))
        pseudo = {
            "Type": record.hash.kind,
            "Group": plex.group,
            "App": plex.app,
            "Data-Length": str(len(plex.blob.data)),
        }
        if plex.app not in UNSIGNED:
            pseudo["Name"] = plex.name
        if isinstance(record, Seal):
            pseudo |= {"TAI": plex.tai.text, "Signed-By": record.signer.text}
            pseudo["Signature"] = record.encode().split(b"Signature: ")[1].split(b"\n")[0].decode()
            facts["PlexHash"].add((p, plex.hash.text))
            counts: dict[str, int] = {}
            for name, value in plex.extras:
                facts["Field"].add((p, name, str(counts.get(name, 0)), value))
                counts[name] = counts.get(name, 0) + 1
            for n, link in enumerate(links_of(plex)):
                facts["RecordLink"].add((p, link[0], str(n), *link[1:]))
        facts["Field"] |= {(p, name, "0", value) for name, value in pseudo.items()}
    return facts


def links_of(plex: Plex) -> list[tuple[str, str, str]]:
    """Return header name, data and target of each well-formed link, in order, by the words of REC-62 to REC-69."""
    found = []
    for name, value in plex.extras:
        data, _, target = value.rpartition(" ")
        kind, _, rest = target.partition(".")
        payload, _, suffix = rest.rpartition(".")
        if name.endswith("+Link") and data and kind in {"B", "P", "S"} and payload and suffix:
            with suppress(RecordError):
                if suffix == "H3":
                    RecordHash.parse(target)
                found.append((name, data, target))
    return found


def open_store(folder: Path) -> Store:
    """Return a new store in a folder."""
    return Store(folder / "store.db", create=True)
