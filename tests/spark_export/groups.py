"""Synthetic groups: members, really signed records, and faults planted on purpose, written as exports.

`python -m tests.spark_export.groups DIR [--members N] [--releases N] [--seed N]` writes one for a look by hand.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from spark_export.columns import arrow_schema, times
from spark_export.manifest import Manifest
from spark_export.schema import TABLES
from tests.vault.rules.stores import links_of
from vault.names import Version
from vault.profile import Commit, Founding, LogEntry, Member, NodeCard, Release, Revision, group_id
from vault.records import Plex, RecordHash, Seal, Tai
from vault.suite import SigningKey

__all__ = ["Faults", "Group", "make_group"]

_START = 1_700_000_000
_ROADS = ("drop", "git", "http")

Row = dict[str, Any]


@dataclass
class Faults:
    """Which faults are planted, each by the index of the member that it is about; None plants none."""

    fork: int | None = None
    gap: int | None = None
    forged: int | None = None
    missing: int | None = None
    silent: int | None = None
    chain: int | None = None
    rollback: int | None = None

    @classmethod
    def every(cls) -> Faults:
        """One of each, each about another member."""
        return cls(fork=1, gap=2, forged=3, missing=4, silent=5, chain=6, rollback=7)


@dataclass
class Group:
    """A written group.

    Args:
        directory: where its exports lie.
        names: the members, by index.
        planted: report -> the proofs (or members) that it has to find, and no others.
        records: sealed records of one member.
    """

    directory: Path
    names: list[str]
    planted: dict[str, set[str]] = field(default_factory=dict)
    records: int = 0


class _Clock:
    def __init__(self) -> None:
        self._now = _START

    def tick(self) -> Tai:
        self._now += 60
        return Tai(self._now)


class _Maker:
    """Signs the records of a group and keeps them as rows, each with who holds it."""

    def __init__(self, members: int, seed: int, labels: list[str] | None = None) -> None:
        self.random = random.Random(seed)
        self.clock = _Clock()
        self.keys = [SigningKey.from_seed(self.random.randbytes(32)) for _ in range(members)]
        self.names = labels or [f"member-{number}" for number in range(members)]
        self.records: list[tuple[Seal, bytes]] = []
        self.seqs = [0] * members
        self.lamport = 0
        self.last: list[Seal | None] = [None] * members
        founding = Founding.to_plex(
            group="audit", founder=self.keys[0].verifier, salt=self.random.randbytes(32), tai=self.clock.tick()
        )
        self.group = group_id(founding.group, founding.hash.digest)
        self.founding = self.seal(0, founding)
        self.log: list[Row] = []
        self.rows: dict[str, list[Row]] = {table.name: [] for table in TABLES}
        self.log_entry(0, [self.founding.hash])
        self.admissions: dict[int, Seal] = {}
        self.shared_by: dict[str, str] = {}  # of a release, the log entry
        for number in range(1, members):
            label = self.names[number]
            admitted = self.seal(
                0, Member.to_plex(group=self.group, node=self.keys[number].verifier, label=label, tai=self.clock.tick())
            )
            self.admissions[number] = admitted
            self.log_entry(0, [admitted.hash])
        for number, label in enumerate(self.names):
            node = self.keys[number].verifier
            card = self.seal(number, NodeCard.to_plex(group=self.group, node=node, label=label, tai=self.clock.tick()))
            self.log_entry(number, [card.hash])

    def seal(self, who: int, plex: Plex) -> Seal:
        sealed = Seal.sign(plex, self.keys[who])
        self.records.append((sealed, sealed.encode()))
        return sealed

    def entry(self, who: int, seq: int, prev: Seal | None, entries: list[RecordHash], lamport: int) -> Seal:
        plex = LogEntry.to_plex(
            group=self.group,
            seq=seq,
            lamport=lamport,
            prev=prev.hash if prev else None,
            entries=entries,
            tai=self.clock.tick(),
        )
        sealed = self.seal(who, plex)
        self.log.append(
            {
                "hash": sealed.hash.text,
                "plex": sealed.plex.hash.text,
                "node": self.keys[who].verifier.text,
                "seq": seq,
                "lamport": lamport,
                "prev": prev.hash.text if prev else None,
                "tai": sealed.plex.tai.text,
            }
        )
        return sealed

    def log_entry(self, who: int, entries: list[RecordHash]) -> Seal:
        self.seqs[who] += 1
        self.lamport += 1
        self.last[who] = self.entry(who, self.seqs[who], self.last[who], entries, self.lamport)
        return self.last[who]  # type: ignore[return-value]

    def release(self, who: int, version: str, content: bytes, number: int, before: Seal | None) -> tuple[Seal, Seal]:
        tree = Plex.build(group=self.group, app="lace/tree", name="t", tai=Tai.ZERO, data=content).hash
        parents = [before.hash] if before else []
        commit = self.seal(
            who,
            Commit.to_plex(
                group=self.group, desk="main", parents=parents, tree=tree, message="work", tai=self.clock.tick()
            ),
        )
        revision = self.seal(
            who,
            Revision.to_plex(
                group=self.group,
                desk="main",
                number=number,
                commit=commit.hash,
                prev=self.revisions.get(who),
                tai=self.clock.tick(),
            ),
        )
        self.revisions[who] = revision.hash
        digest = "sha512:" + blake3(content).digest(64).hex()
        released = self.seal(
            who,
            Release.to_plex(
                group=self.group,
                desk="main",
                version=Version.parse(version),
                commit=commit.hash,
                rev=revision.hash,
                content_sha512=digest,
                message="work",
                tai=self.clock.tick(),
            ),
        )
        entry = self.log_entry(who, [commit.hash, revision.hash, released.hash])
        self.shared_by[released.hash.text] = entry.hash.text
        self.rows["commits"].append(
            {
                "hash": commit.hash.text,
                "desk": "main",
                "tree": tree.text,
                "node": self.keys[who].verifier.text,
                "tai": commit.plex.tai.text,
                "message": "work",
            }
        )
        self.rows["releases"].append(
            {
                "hash": released.hash.text,
                "node": self.keys[who].verifier.text,
                "desk": "main",
                "version": version,
                "commit": commit.hash.text,
                "content_sha512": digest,
                "tai": released.plex.tai.text,
                "seq": self.seqs[who],
                "lamport": self.lamport,
                "state": "visible",
                "message": "work",
            }
        )
        return commit, entry

    revisions: dict[int, RecordHash]


def make_group(
    directory: Path,
    *,
    members: int = 8,
    releases: int = 3,
    seed: int = 0,
    faults: Faults | None = None,
    labels: list[str] | None = None,
) -> Group:
    """Write the exports of a group in which everybody released some times and met everybody afterwards."""
    faults = faults or Faults()
    maker = _Maker(members, seed, labels)
    maker.revisions = {}
    for turn in range(releases):
        for who in range(members):
            version = f"{turn + 1}.{who}.0"
            maker.release(who, version, f"{turn} {who}".encode(), turn + 1, None)
    made = Group(directory, maker.names)
    hidden: dict[int, set[str]] = {number: set() for number in range(members)}
    node = [key.verifier.text for key in maker.keys]
    if faults.fork is not None:
        _fork(maker, made, faults.fork, hidden, members)
    if faults.gap is not None:
        _gap(maker, made, faults.gap, hidden)
    if faults.silent is not None:
        _silent(maker, made, faults.silent)
    if faults.rollback is not None:
        mine = [row for row in maker.log if row["node"] == node[faults.rollback]][-2:]
        hidden[faults.rollback] |= {row["hash"] for row in mine}
        made.planted["rollback"] = {mine[-1]["hash"]}
    made.records = len(maker.records)
    for number in range(members):
        _write(maker, made, number, hidden[number], faults)
    return made


def _fork(maker: _Maker, made: Group, who: int, hidden: dict[int, set[str]], members: int) -> None:
    node = maker.keys[who].verifier.text
    first = next(row for row in maker.log if row["node"] == node and row["seq"] == maker.seqs[who])
    card = maker.records[0][0]
    prev = next(seal for seal, _ in maker.records if seal.hash.text == first["prev"])
    other = maker.entry(who, first["seq"], prev, [card.hash], first["lamport"])
    for number in range(members):
        if number != who:
            hidden[number].add(other.hash.text if number % 2 else first["hash"])
    made.planted["equivocation"] = {f"{min(first['hash'], other.hash.text)} {max(first['hash'], other.hash.text)}"}


def _gap(maker: _Maker, made: Group, who: int, hidden: dict[int, set[str]]) -> None:
    node = maker.keys[who].verifier.text
    gone = next(row for row in maker.log if row["node"] == node and row["seq"] == 2)
    after = next(row for row in maker.log if row["node"] == node and row["seq"] == 3)
    for hide in hidden.values():
        hide.add(gone["hash"])
    made.planted["gaps"] = {after["hash"]}


def _silent(maker: _Maker, made: Group, who: int) -> None:
    first = maker.rows["releases"][0]
    maker.release((who + 1) % len(maker.keys), first["version"], b"another", 9, None)
    second = maker.rows["releases"][-1]
    proof = " ".join(sorted([first["hash"], second["hash"]]))
    made.planted["silent-conflicts"] = {proof}


def _write(maker: _Maker, made: Group, number: int, hidden: set[str], faults: Faults) -> None:
    exporter = maker.keys[number].verifier
    common = {"group": maker.group, "exporter": exporter.text, "export_id": f"synthetic{number}"}
    position: dict[str, int] = {}
    rows: dict[str, list[Row]] = {table.name: [] for table in TABLES}
    for seal, honest in maker.records:
        text, stored = seal.hash.text, honest
        if text in hidden:
            continue
        position[text] = len(position) + 1
        if faults.forged == number and seal.plex.app == Commit.APP and "signatures" not in made.planted:
            stored, text = _forged(seal)
            made.planted["signatures"] = {text}
            hidden = hidden | {seal.hash.text}  # it has no row of an honest commit
        rows["records"].append(_record_row(seal, text, stored, position[seal.hash.text]))
        for idx, (name, data, target) in enumerate(links_of(seal.plex)):
            rows["links"].append(
                {"position": position[seal.hash.text], "hash": text, "name": name, "idx": idx, "data": data,
                 "target": target}
            )  # fmt: skip
    rows["log"] = [{"position": position[row["hash"]], **row} for row in maker.log if row["hash"] not in hidden]
    rows["commits"] = [
        {"position": position[row["hash"]], **row} for row in maker.rows["commits"] if row["hash"] not in hidden
    ]
    unnumbered = {"seq": None, "lamport": None}  # while the log entry is not there
    rows["releases"] = [
        {"position": position[row["hash"]], **row, **(unnumbered if maker.shared_by[row["hash"]] in hidden else {})}
        for row in maker.rows["releases"]
        if row["hash"] not in hidden
    ]
    rows["vectors"] = _vectors(exporter.text, rows["log"])
    rows["members"] = [
        {
            "node": key.verifier.text,
            "name": maker.names[at],
            "depth": 0 if at == 0 else 1,
            "admitted_by": None if at == 0 else maker.keys[0].verifier.text,
            "hash": maker.admissions[at].hash.text if at else None,
            "tai": maker.admissions[at].plex.tai.text if at else None,
        }
        for at, key in enumerate(maker.keys)
    ]
    if faults.silent is not None and faults.silent != number:
        rows["conflicts"] = [
            {"desk": "main", "version": maker.rows["releases"][0]["version"], "releases": 2, "contents": 2,
             "state": "open"}
        ]  # fmt: skip
    if faults.missing == number:
        lost = RecordHash("P", blake3(b"lost").digest()).text
        rows["holes"] = [{"hash": lost, "content": True}]
        made.planted["missing"] = {lost}
    rows["audit"], rows["syncs"] = _trail(maker, number, len(position), broken=faults.chain == number)
    if faults.chain == number:
        made.planted["chains"] = {rows["audit"][2]["hash"]}
    _files(made.directory, exporter.key.hex()[:16], common, rows)


def _forged(seal: Seal) -> tuple[bytes, str]:
    """Return the bytes and the hash of a record that says another's name over a signature that is not theirs."""
    bad = bytearray(seal.signature)
    bad[3] ^= 1
    forged = Seal(seal.signer, bytes(bad), seal.plex)
    return forged.encode(), forged.hash.text


def _record_row(seal: Seal, text: str, stored: bytes, position: int) -> Row:
    plex = seal.plex
    return {
        "position": position,
        "hash": text,
        "plex": plex.hash.text,
        "record_group": plex.group,
        "app": plex.app,
        "name": plex.name,
        "signer": seal.signer.text,
        "tai": plex.tai.text,
        "size": len(plex.blob.data),
        "bytes": stored,
    }


def _vectors(exporter: str, log: Iterable[Row]) -> list[Row]:
    held: dict[str, dict[int, list[str]]] = {}
    for row in log:
        held.setdefault(row["node"], {}).setdefault(row["seq"], []).append(row["plex"])
    rows = []
    for node, entries in sorted(held.items()):
        seq = 0
        while seq + 1 in entries and len(entries[seq + 1]) == 1:
            seq += 1
        plex = entries[seq][0] if seq else None
        forked = seq + 1 in entries
        rows.append({"holder": exporter, "node": node, "seq": seq, "plex": plex, "forked": forked})
    return rows


def _trail(maker: _Maker, number: int, records: int, *, broken: bool) -> tuple[list[Row], list[Row]]:
    key = maker.keys[number]
    entries: list[Row] = []
    syncs: list[Row] = []
    parent = None
    for step in range(1, 6):
        digest = blake3(f"audit {number} {step}".encode()).digest()
        text = RecordHash("S", blake3(digest).digest()).text
        told = "lace-init" if step == 1 else "lazy-sync"
        tai = f"{_START + 100_000 + step:010}:000000000"
        entry = {
            "number": step,
            "position": records + step,
            "hash": text,
            "plex": RecordHash("P", digest).text,
            "parent": parent,
            "signer": key.verifier.text,
            "signature": key.sign_digest(digest),
            "verb": told,
            "tai": tai,
            "details": None,
        }
        entries.append(entry)
        if told == "lazy-sync":
            road = _ROADS[(number + step) % len(_ROADS)]
            syncs.append(
                {"number": step, "position": records + step, "verb": told, "tai": tai, "road": road, "received": 1,
                 "rejected": 0, "sent": 1, "problems": None}
            )  # fmt: skip
        parent = text
    if broken:
        del entries[2]  # the entry after it does not name the one before it any more
    return entries, syncs


def _files(directory: Path, node: str, common: Row, rows: dict[str, list[Row]]) -> None:
    files: dict[str, tuple[int, int, str]] = {}
    for table in TABLES:
        schema = arrow_schema(table)
        arrays = []
        for column in table.all_columns:
            if column.name == "time":
                arrays.append(times(pa, [row["tai"] for row in rows[table.name]]))
            else:
                values = [common.get(column.name, row.get(column.name)) for row in rows[table.name]]
                arrays.append(pa.array(values, schema.field(column.name).type))
        name = f"{table.name}/{node}/{'part-000000' if table.is_log else 'state'}.parquet"
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = pa.Table.from_arrays(arrays, schema=schema)
        pq.write_table(whole, path, compression="zstd", row_group_size=1 << 15)  # as an export has them
        stored = path.read_bytes()
        files[name] = (len(rows[table.name]), len(stored), blake3(stored).hexdigest())
    parts = (blake3(b"synthetic").hexdigest(),)
    manifest = Manifest(common["group"], common["exporter"], common["export_id"], parts, files)
    place = directory / "exports"
    place.mkdir(exist_ok=True)
    (place / f"{node}.json").write_text(manifest.text(), encoding="utf-8")


def _main(write: Callable[[str], object] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clean", action="store_true", help="plant no faults")
    args = parser.parse_args()
    faults = None if args.clean else Faults.every()
    made = make_group(args.directory, members=args.members, releases=args.releases, seed=args.seed, faults=faults)
    for name, proofs in sorted(made.planted.items()):
        write(f"{name}: {', '.join(sorted(proofs))}")


if __name__ == "__main__":
    _main()
