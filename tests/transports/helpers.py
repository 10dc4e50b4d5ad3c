"""Records, nodes and mailboxes to test the roads with."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import partial

from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt

from transports.bundles.bundle import BundleIndex
from transports.bundles.bundling import BundleWriter
from transports.drop.place import Drop
from transports.encrypted.member_keys import EpochKey
from transports.index.runs import BundleRef, Location, Run, RunRef
from transports.layout import bundle_name
from transports.listing import Listing
from transports.mailbox import Mailbox, MailboxMedium
from transports.publishing import Addition, Gone, Publication, publish
from transports.reading import SeenHead, fetch, read_head, read_listing
from transports.snapshot import SnapshotHead
from vault.records.hashes import RecordHash, Verifier
from vault.records.model import Plex, Seal
from vault.records.tai import Tai
from vault.suite import SigningKey

GROUP = "friends/0123456789abcdef"
APP = "lace/data"
DROP_ID = "0123456789abcdef" * 2
FOUNDING = RecordHash("S", bytes(32))
OPERAND = "R." + "0" * 43
TAI = Tai(1_640_995_200)


def key(number: int) -> SigningKey:
    return SigningKey.from_seed(bytes([number]) * 32)


def plex(data: bytes) -> Plex:
    return Plex.build(group=GROUP, app=APP, name="x", tai=Tai.ZERO, data=data)


def records(payloads: Iterable[bytes]) -> dict[RecordHash, bytes]:
    made = [plex(data) for data in payloads]
    return {record.hash: record.encode() for record in made}


def some_records(count: int, start: int = 0) -> dict[RecordHash, bytes]:
    return records(b"record %d " % number * 20 for number in range(start, start + count))


def bundle_of(stored: dict[RecordHash, bytes]) -> tuple[bytes, BundleIndex]:
    file = io.BytesIO()
    writer = BundleWriter(file)
    for record_hash, record in stored.items():
        writer.add(record_hash, APP, record)
    index = writer.finish()
    return file.getvalue(), index


def make_head(signing_key: SigningKey, place_id: str, number: int = 1, runs: Sequence[RunRef] = ()) -> SnapshotHead:
    return SnapshotHead(
        node=signing_key.verifier,
        number=number,
        tai=TAI,
        drop=place_id,
        founding=FOUNDING,
        operand=OPERAND,
        facet="SelectHave",
        hello=("HelloRecordFormat('H3')",),
        runs=tuple(runs),
    )


def seal_head(signing_key: SigningKey, head: SnapshotHead, group: str = GROUP) -> Seal:
    return Seal.sign(head.to_plex(group), signing_key)


def additions(stored: dict[RecordHash, bytes]) -> list[Addition]:
    return [Addition(record_hash, APP, load=partial(bytes, record)) for record_hash, record in stored.items()]


def put(
    drop: MailboxMedium,
    signing_key: SigningKey,
    items: Iterable[Addition],
    gone: Iterable[RecordHash] = (),
    previous: SeenHead | None = None,
    references: Sequence[Run] = (),
) -> tuple[Publication, SeenHead]:
    """Publish as a node does: bundles, runs, head, then discard; return what was done and the new head."""
    node = signing_key.verifier
    writer = drop.writer(GROUP, node)
    runs = previous.head.runs if previous else ()
    listing = read_listing(Mailbox(drop, GROUP, node), previous.head) if previous else None
    done = publish(
        Mailbox(drop, GROUP, node),
        writer,
        runs=runs,
        listing=listing,
        additions=items,
        references=references,
        gone=Gone(dict.fromkeys(gone, APP)),
    )
    number = previous.head.number + 1 if previous else 1
    head = make_head(signing_key, drop.place_id, number, done.runs)
    writer.publish_head(seal_head(signing_key, head).encode())
    writer.discard(done.obsolete)
    seen = read_head(Mailbox(drop, GROUP, node))
    assert seen is not None
    return done, seen


def sealed_as_before(data: bytes, epoch: EpochKey, salt: bytes, context: bytes = b"file") -> bytes:
    """Return an encrypted file in the former form, which is read and not written any more."""
    pieces = [data[at : at + (1 << 16)] for at in range(0, len(data), 1 << 16)] or [b""]
    chunks = (
        crypto_aead_xchacha20poly1305_ietf_encrypt(
            piece,
            context + epoch.id + bytes([number == len(pieces) - 1]),
            salt + number.to_bytes(8, "big"),
            epoch.key,
        )
        for number, piece in enumerate(pieces)
    )
    return b"".join((b"LACESEA0", epoch.id, salt, *chunks))


def everything(drop: Drop) -> tuple[Listing, dict[RecordHash, bytes | None]]:
    seen = read_head(Mailbox(drop, GROUP, key(1).verifier))
    assert seen is not None
    listing = read_listing(Mailbox(drop, GROUP, key(1).verifier), seen.head)
    wanted = {record_hash for record_hash, _ in listing.items()}
    return listing, {item.hash: item.record for item in fetch(drop, GROUP, listing, wanted)}


def bundle(number: int) -> BundleRef:
    """Return a bundle that lies nowhere."""
    digest = bytes([number]) * 32
    return BundleRef(Verifier(bytes([number + 100]) * 32), bundle_name(digest), digest, 5_000_000)


def location(number: int) -> Location:
    """Return a place in one of three such bundles."""
    return Location(bundle(number % 3), 8 + number % 5 * 1000, 1000, 40_000, number % 300 * 100, 100)
