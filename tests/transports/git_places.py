"""What the tests of git places begin with: contents of a mailbox, noise, refs, single objects."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from tests.people import Person, person_in
from tests.transports.git_hosts import PLAIN, bare_repository, git
from tests.transports.helpers import GROUP, key, records
from transports.git.packs import write_pack
from transports.git.upkeep import drop_pack, holds_pieces, mark_pieces, packs
from transports.mailbox import Mailbox, MailboxMedium
from transports.reading import fetch, read_head, read_listing
from vault.records import Verifier
from vault.records.hashes import RecordHash

NODE = key(1).verifier
ID = "0123456789abcdef" * 2


def got(place: MailboxMedium, number: int = 1) -> dict[RecordHash, bytes | None]:
    seen = read_head(Mailbox(place, GROUP, key(number).verifier))
    assert seen is not None
    listing = read_listing(Mailbox(place, GROUP, key(number).verifier), seen.head)
    return {item.hash: item.record for item in fetch(place, GROUP, listing, {h for h, _ in listing.items()})}


def loosen(bare: Path) -> None:
    """Turn the packs of a repository into single objects."""
    found = list((bare / "objects" / "pack").glob("*.pack"))
    moved = [pack.rename(bare / pack.name) for pack in found]
    for index in (bare / "objects" / "pack").iterdir():
        index.unlink()
    for pack in moved:
        git(bare, "unpack-objects", "-q", stdin=pack.read_bytes())
        pack.unlink()


def in_small_packs(repository: Path, least: int = 20) -> list[str]:
    """Put each object into a pack of its own, as many short visits leave them; return the names of all objects.

    Args:
        repository: a private one.
        least: packs of each kind, those of pieces and others; what lies there is made up to so many.
    """
    directory = repository / "objects" / "pack"
    old = packs(repository)
    pieces = {
        line.split()[1]
        for pack in old
        if holds_pieces(pack)
        for line in git(repository, "show-index", stdin=pack.with_suffix(".idx").read_bytes()).splitlines()
    }
    for data in (b"%d" % number for number in range(2 * least)):
        name = git(repository, "hash-object", "-w", "--stdin", stdin=data)
        if int(data) % 2:
            pieces.add(name)
    listed = git(repository, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    made = set()
    for name, kind, _ in (line.split() for line in listed):
        words = ["git", f"--git-dir={repository}", "cat-file", kind, name]
        data = subprocess.run(words, capture_output=True, env=PLAIN, check=True).stdout
        pack = write_pack(directory, [name], [(kind, data)])
        made.add(pack)
        if name in pieces:
            mark_pieces(pack)
    git(repository, "prune-packed")
    for pack in old - made:
        drop_pack(pack)
    return [line.split()[0] for line in listed]


def damage(bare: Path, oid: str, *, is_gone: bool) -> None:
    """Let a host lose an object, or keep of it what a power cut leaves."""
    loosen(bare)
    file = bare / "objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    if is_gone:
        file.unlink()
    else:
        file.write_bytes(b"")


def begun(alice: Person, bare: Path) -> None:
    """Let alice release notes.txt and know the repository."""
    alice.lace("init", "--name", "alice")
    alice.write("notes.txt", "one\n")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "host", str(bare))


def met(alice: Person, bob: Person, bare: Path) -> None:
    """Let alice release notes.txt and bob belong, over the repository alone."""
    begun(alice, bare)
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (alice, bob, alice, bob):
        person.lace("sync", "host")


def make_met(root: Path) -> None:
    """Let alice and bob meet over `remote.git`; as `met`."""
    met(person_in(root, "alice"), person_in(root, "bob"), bare_repository(root / "remote.git"))


def noise(count: int, size: int = 500_000, seed: int = 1) -> dict[RecordHash, bytes]:
    rng = random.Random(seed)
    return records(rng.randbytes(size) for _ in range(count))


def refs(bare: Path) -> dict[str, str]:
    rows = git(bare, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(row.split(" ") for row in rows)


def lose_own(folder: Path, node: Verifier, bare: Path, part: str) -> None:
    """Take an object of somebody's own mailbox away at the host, and let their next visit look for it."""
    (name,) = (name for name in refs(bare) if name.endswith(node.key.hex()))
    damage(bare, git(bare, "rev-parse", f"{name}{part}"), is_gone=True)
    make_due(folder)


def make_due(folder: Path) -> None:
    """Let it be long ago that somebody looked whether the host still has what is their own."""
    for own in (folder / ".vault" / "git").glob("*.git/own"):
        os.utime(own, (0, 0))
