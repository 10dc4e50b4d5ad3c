"""Alice and a member who turns on her friends: what the tests of hostile records and media begin with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from lazy.results import PlaceResult
from tests.faults.circle import PLACE, Hostile, befriend, open_stick, records_in, visit, write
from tests.vault.vaults import trail
from vault import releasing
from vault.audit.entries import read_audit
from vault.audit.trail import verify_trail
from vault.names import Version
from vault.profile import Commit, NodeCard, Release, Revision
from vault.records import Plex, RecordHash, Seal, Tai
from vault.revisions.history import releases
from vault.suite import SigningKey
from vault.vault import Vault

__all__ = ["Scene", "sum_of"]


class Scene:
    """Alice and Mallory on one stick, and everything outside the folders as it was before Mallory turned."""

    def __init__(self, root: Path, alice: Vault, mallory: Vault) -> None:
        self.root = root
        self.alice = alice
        self.mallory = mallory
        self.hostile = Hostile(self.mallory, open_stick(root))
        self.key = self.hostile.key
        self.group = self.alice.group
        self.stranger = SigningKey.from_seed(b"\x09" * 32)
        self.seq, self.tip = self.hostile.tip()
        self._outside = self._listing()

    def card(self, label: str, key: SigningKey | None = None, group: str = "") -> Seal:
        key = key or self.key
        plex = NodeCard.to_plex(
            group=group or self.group, node=key.verifier, label=label, machine=None, tai=self.alice.around.tai()
        )
        return Seal.sign(plex, key)

    def commit(self, tree: RecordHash, key: SigningKey | None = None, message: str = "made by hand") -> Seal:
        plex = Commit.to_plex(
            group=self.group, desk="main", parents=(), tree=tree, message=message, tai=self.alice.around.tai()
        )
        return Seal.sign(plex, key or self.key)

    def share(self, entries: Iterable[RecordHash], **numbers: int) -> Seal:
        """Her next log entry; it moves her log on."""
        entry = self.hostile.log(entries, seq=self.seq + 1, prev=self.tip, **numbers)
        self.seq, self.tip = self.seq + 1, entry.hash
        return entry

    def release(
        self, tree: RecordHash, version: Version = Version(9, 0, 0), sha512: str = "", tai: Tai | None = None
    ) -> list[Seal]:
        """A release of hers over a tree, with its commit, revision and log entry."""
        commit = self.commit(tree)
        when = tai or self.alice.around.tai()
        rev = Seal.sign(
            Revision.to_plex(group=self.group, desk="main", number=1, commit=commit.hash, prev=None, tai=when), self.key
        )
        release = Seal.sign(
            Release.to_plex(
                group=self.group,
                desk="main",
                version=version,
                commit=commit.hash,
                rev=rev.hash,
                content_sha512=sha512 or "sha512:" + "0" * 128,
                message="",
                tai=when,
            ),
            self.key,
        )
        return [commit, rev, release, self.share([release.hash])]

    def put(self, *records: Seal | Plex) -> None:
        self.hostile.put_records(records)

    def refused(self, result: PlaceResult) -> dict[RecordHash, str]:
        """What a visit named as refused; each once and with a reason."""
        assert len({record for record, _, _ in result.came.rejected}) == len(result.came.rejected)
        assert all(reason for _, _, reason in result.came.rejected)
        return {record: code for record, code, _ in result.came.rejected}

    def check(self, bad: Iterable[RecordHash], good: Iterable[RecordHash]) -> dict[RecordHash, str]:
        """Let alice visit; the bad are refused, named, audited and remembered, and the good arrive (LAZ-70)."""
        bad, good = set(bad), set(good)
        result = visit(self.alice)
        refused = self.refused(result)
        assert set(refused) == bad
        here = records_in(self.alice)
        assert good <= here.keys()
        assert not bad & here.keys()
        entries = [read_audit(seal) for seal in trail(self.alice)]
        audited = [RecordHash.parse(entry.object) for entry in entries if entry.verb == "lace-refuse"]
        assert bad <= set(audited)
        assert len(audited) == len(set(audited))
        assert verify_trail(self.alice).ok
        assert self.refused(visit(self.alice)) == {}  # not asked for again
        # Alice goes on, and a friend who comes now takes what she says.
        write(self.alice, "later.txt", "later\n")
        released = releasing.release(self.alice, None, "later").release
        visit(self.alice)
        bob = befriend(self.root, self.alice, "bob")
        assert released in {release.hash for release in releases(bob.store)}
        assert not bad & records_in(bob).keys()
        self.unharmed()
        return refused

    def unharmed(self) -> None:
        """Nothing outside the people's folders, homes and the stick changed (APP-12)."""
        assert {path for path in self._listing() if path.split("/")[0] != "bob"} == self._outside
        names = {path.name for path in self.alice.folder.rglob("*") if ".vault" not in path.parts}
        assert names <= {"a.txt", "later.txt"}

    def _listing(self) -> set[str]:
        own = ("alice/f/", "mallory/f/", f"{PLACE}/")
        found = (path.relative_to(self.root).as_posix() for path in self.root.rglob("*"))
        return {path for path in found if not path.startswith(own)} - {"bob"}


def sum_of(name: str, content: bytes) -> str:
    """The sum of a directory with one file."""
    line = f"f - {len(content)} {hashlib.sha512(content).hexdigest()} {name}\n"
    return "sha512:" + hashlib.sha512(line.encode()).hexdigest()
