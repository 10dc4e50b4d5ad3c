"""A circle of friends in one directory, with real vaults and a real stick, and the means to write a hostile mailbox."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from blake3 import blake3

from lazy.belonging import circle
from lazy.interlace.plan import GROUP_SHARED, SELECTOR
from lazy.places import adding
from lazy.results import PlaceResult
from lazy.sync import sync
from lazy.visits.publish import publish_mine
from lazy.visits.terms import hello_lines
from transports.drop.place import Drop
from transports.index.runs import BundleRef, Location, RunBuilder, RunRef
from transports.layout import bundle_name
from transports.listing import Listing
from transports.mailbox import Mailbox
from transports.publishing import Addition, publish
from transports.reading import read_head, read_listing
from transports.snapshot import LogReach, SnapshotHead
from vault import releasing
from vault.beginning import found_vault
from vault.profile import LogEntry
from vault.records import Plex, RecordHash, Seal, parse_record
from vault.suite import SigningKey
from vault.surroundings import Surroundings
from vault.vault import Vault

__all__ = [
    "PLACE",
    "Hostile",
    "around",
    "befriend",
    "befriended",
    "found",
    "listing_of",
    "open_stick",
    "records_in",
    "release_text",
    "replace_tree",
    "visit",
    "write",
]

PLACE = "stick"


def around(root: Path, name: str, machine: str = "") -> Surroundings:
    """The world as one person's lace sees it; `machine` is another machine's letter."""
    letters = (machine or name[:1]).encode().hex() * 16
    return Surroundings(root / name / "home", letters[:32], f"{name}-desk", time.time_ns, os.urandom, time.sleep)


def found(root: Path, name: str = "alice") -> Vault:
    """Begin a group with one release and a stick."""
    vault = found_vault(root / name / "f", around(root, name), name=name, group="friends")
    adding.add_place(vault, PLACE, str(root / PLACE), cwd=root)
    write(vault, "a.txt", f"hello from {name}\n")
    releasing.release(vault, None, "first")
    visit(vault)
    return vault


def befriend(root: Path, host: Vault, name: str, machine: str = "") -> Vault:
    """Invite somebody, and sync until both know each other; `machine` as in `around`."""
    line = circle.invite(host, name).encode()
    vault, _ = circle.accept(root / name / "f", around(root, name, machine), line)
    visit(vault)
    visit(host)
    visit(vault)
    visit(host)
    return vault


def befriended(root: Path, *names: str) -> tuple[Vault, ...]:
    """Return alice with a group, a release and a stick, and these friends of hers."""
    alice = found(root)
    return alice, *(befriend(root, alice, name) for name in names)


def visit(vault: Vault, *, push: bool = True, pull: bool = True) -> PlaceResult:
    """Sync with the stick."""
    (result,) = sync(vault, [PLACE], push=push, pull=pull)
    return result


def write(vault: Vault, path: str, text: str) -> None:
    """Write a file of the folder."""
    file = vault.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def open_stick(root: Path) -> Drop:
    return Drop.open(root / PLACE)


def listing_of(drop: Drop, vault: Vault) -> Listing:
    """What a vault's own mailbox lists."""
    head = read_head(Mailbox(drop, vault.group, vault.node))
    assert head is not None
    return read_listing(Mailbox(drop, vault.group, vault.node), head.head)


def records_in(vault: Vault) -> dict[RecordHash, bytes]:
    """Every stored record; each is read and verified whole."""
    stored = {}
    for _, record_hash, data in vault.store.bodies():
        assert parse_record(data).hash == record_hash
        stored[record_hash] = data
    return stored


class Hostile:
    """A member who writes her own mailbox by hand: head, runs and bundles are valid, the records need not be.

    Args:
        vault: hers, already a member.
        drop: where her mailbox lies.
    """

    def __init__(self, vault: Vault, drop: Drop) -> None:
        self.vault = vault
        self.drop = drop
        self.key: SigningKey = vault.key()
        publish_mine(vault, drop, name="stick")
        self._numbers = itertools.count(1000)

    def tip(self) -> tuple[int, RecordHash]:
        """Number and hash of her newest log entry."""
        seq, text = self.vault.store.rows(
            "SELECT seq, hash FROM log WHERE node = ? ORDER BY seq DESC LIMIT 1", self.vault.node.text
        )[0]
        return int(seq), RecordHash.parse(str(text))

    def log(self, entries: Iterable[RecordHash], *, seq: int, prev: RecordHash | None, lamport: int = 50) -> Seal:
        """A log entry of hers with whatever numbers are asked for."""
        plex = LogEntry.to_plex(
            group=self.vault.group,
            seq=seq,
            lamport=lamport,
            prev=prev,
            entries=tuple(entries),
            tai=self.vault.around.tai(),
        )
        return Seal.sign(plex, self.key)

    def put(self, stored: Iterable[tuple[RecordHash, str, bytes]]) -> None:
        """Add stored records to her mailbox under the hashes and Apps given, and seal a new head.

        Only the marklines must fit: her writer of bundles takes whatever bytes she says are a record's.
        """
        node, group = self.vault.node, self.vault.group
        before = read_head(Mailbox(self.drop, group, node))
        assert before is not None
        writer = self.drop.writer(group, node)
        additions = [Addition(record, app, load=partial(bytes, data)) for record, app, data in stored]
        with pytest.MonkeyPatch.context() as hers:
            hers.setattr("transports.bundles.bundling.is_record", lambda _record, _bytes: True)
            done = publish(
                Mailbox(self.drop, group, node),
                writer,
                runs=before.head.runs,
                listing=read_listing(Mailbox(self.drop, group, node), before.head),
                additions=additions,
            )
        writer.publish_head(self.head(done.runs).encode())

    def put_records(self, records: Iterable[Seal | Plex]) -> None:
        """Add well-formed records to her mailbox."""
        self.put((record.hash, _app(record), record.encode()) for record in records)

    def put_frame(self, record: RecordHash, app: str, frame: bytes, *, raw: int, length: int) -> None:
        """Add one entry that points into a frame made by hand, in a bundle that is nothing but that frame."""
        node, group = self.vault.node, self.vault.group
        before = read_head(Mailbox(self.drop, group, node))
        assert before is not None
        data = b"LACEBND0" + frame
        digest = blake3(data).digest()
        bundle = BundleRef(node, bundle_name(digest), digest, len(data))
        (self.drop.mailbox_path(group, node) / bundle.name).write_bytes(data)
        builder = RunBuilder()
        builder.add(record, app, Location(bundle, 8, len(frame), raw, 0, length))
        writer = self.drop.writer(group, node)
        writer.publish_head(self.head([*before.head.runs, writer.add_run(builder.build())]).encode())

    def runs(self) -> tuple[RunRef, ...]:
        """The runs that her head names now."""
        before = read_head(Mailbox(self.drop, self.vault.group, self.vault.node))
        assert before is not None
        return before.head.runs

    def somewhere(self) -> Location:
        """Where the first record of her mailbox lies."""
        listing = listing_of(self.drop, self.vault)
        entry = listing.entry(next(listing.items())[0])
        assert entry is not None
        assert entry.location is not None
        return entry.location

    def head(self, runs: Iterable[RunRef], vector: tuple[LogReach, ...] = (), **changes: object) -> Seal:
        """A sealed head over the runs given."""
        fields: dict[str, object] = {
            "node": self.vault.node,
            "number": next(self._numbers),
            "tai": self.vault.around.tai(),
            "drop": self.drop.place_id,
            "founding": RecordHash.parse(self.vault.founding or ""),
            "operand": GROUP_SHARED.id,
            "facet": SELECTOR,
            "hello": hello_lines(self.vault.node, self.vault.around.tai()),
            "runs": tuple(runs),
            "vector": vector,
            **changes,
        }
        return Seal.sign(SnapshotHead(**fields).to_plex(self.vault.group), self.key)  # type: ignore[arg-type]


def _app(record: Seal | Plex) -> str:
    return record.plex.app if isinstance(record, Seal) else record.app


def replace_tree(source: Path, target: Path) -> None:
    """Put a folder in place of another, as whoever restores a backup does."""
    shutil.rmtree(target)
    shutil.copytree(source, target)


def release_text(vault: Vault, text: str) -> RecordHash:
    """Release another text of the one file that is called after its owner."""
    write(vault, f"{vault.name}.txt", text)
    return releasing.release(vault, None, text).release
