"""What the tests of git places begin with: contents of a mailbox, noise, refs, single objects."""

from __future__ import annotations

import random
from pathlib import Path

from tests.transports.git_hosts import git
from tests.transports.helpers import GROUP, key, records
from transports.mailbox import MailboxPlace
from transports.reading import fetch, read_head, read_mailbox
from vault.records.hashes import RecordHash

NODE = key(1).verifier
ID = "0123456789abcdef" * 2


def got(place: MailboxPlace, number: int = 1) -> dict[RecordHash, bytes | None]:
    seen = read_head(place, GROUP, key(number).verifier)
    assert seen is not None
    listing = read_mailbox(place, GROUP, key(number).verifier, seen.head)
    return {item.hash: item.record for item in fetch(place, GROUP, listing, {h for h, _ in listing.items()})}


def loosen(bare: Path) -> None:
    """Turn the packs of a repository into single objects."""
    packs = list((bare / "objects" / "pack").glob("*.pack"))
    moved = [pack.rename(bare / pack.name) for pack in packs]
    for index in (bare / "objects" / "pack").iterdir():
        index.unlink()
    for pack in moved:
        git(bare, "unpack-objects", "-q", stdin=pack.read_bytes())
        pack.unlink()


def noise(count: int, size: int = 500_000, seed: int = 1) -> dict[RecordHash, bytes]:
    rng = random.Random(seed)
    return records(rng.randbytes(size) for _ in range(count))


def refs(bare: Path) -> dict[str, str]:
    rows = git(bare, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(row.split(" ") for row in rows)
