"""Export, data source, audits and signature checks of large histories.

Peers in the same run: a bare copy of SQLite rows to Parquet; one processor against two; a plain aggregate over the same
files, which stands for what the machine can do today.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spark_export.audits import AUDITS
from spark_export.export import export
from spark_export.reader import VaultReader
from spark_export.reports import open_exports, run
from spark_export.session import spark_session
from tests.bench.table import Figure
from tests.people import ROOT, Person
from tests.spark_export.groups import make_group

__all__ = ["figures"]

_BODY = 430  # bytes of a small sealed record
_STEP = 50_000
# Seconds that plain SQL of each question took over five vaults of 200,000 records, with the aggregate below at 1.5 s.
_KNOWN = {
    "membership": 0.6,
    "conflicts": 2.2,  # contested releases 0.6, their outcomes 1.6
    "equivocation": 2.0,
    "gaps": 2.5,
    "propagation": 3.1,
    "lacking": 6.4,
}
_CHECKED = {"signatures", "chains"}  # verify every signature, which no aggregate is a measure of
_KNOWN_AGGREGATE = 1.5
_AGGREGATE = "SELECT app, exporter, count(*), sum(size), min(hash) FROM records GROUP BY app, exporter"


def figures(quick: bool) -> Iterator[Figure]:
    """Yield the promises of design's Spark page."""
    records = 50_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        person = _vault(root, records)
        yield from _export(person, root, records)
        yield from _memory(person, root, records)
        yield from _source(person, records)
    with tempfile.TemporaryDirectory() as scratch:
        group = Path(scratch) / "group"
        made = make_group(group, members=5, releases=60 if quick else 10_000)
        yield from _audits(group)
        yield from _signatures(group, made.records * 5)


def _vault(root: Path, records: int) -> Person:
    """Make a real vault and fill its store with rows of the usual shape; their bytes are random."""
    root.mkdir(exist_ok=True)
    person = Person("alice", root / "home", root / "alice")
    person.write("a.txt", "a\n")
    person.lace("init", "--name", "alice")
    person.lace("release", "1.0.0")
    db = sqlite3.connect(person.folder / ".vault" / "store.db")
    columns = [str(row[1]) for row in db.execute("PRAGMA table_info(body)")]
    (like,) = db.execute("SELECT grp, app, signer, tai FROM rec WHERE signer IS NOT NULL AND name IS NOT NULL LIMIT 1")
    last = int(db.execute("SELECT max(p) FROM body").fetchone()[0])
    db.execute("BEGIN")
    for start in range(last + 1, last + records + 1, _STEP):
        numbers = range(start, min(start + _STEP, last + records + 1))
        body = [{"p": p, "kind": "S", "digest": os.urandom(32), "bytes": os.urandom(_BODY)} for p in numbers]
        names = [name for name in columns if name in {"p", "kind", "digest", "bytes"}]
        db.executemany(
            f"INSERT INTO body({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
            [tuple(row[name] for name in names) for row in body],
        )
        db.executemany(
            "INSERT INTO rec VALUES (?, ?, ?, ?, ?, ?, 0, ?)",
            [(p, like[0], like[1], f"main/{p}", like[2], like[3], os.urandom(32)) for p in numbers],
        )
        db.executemany("INSERT INTO shared(p, content) VALUES (?, 1)", [(p,) for p in numbers])
    db.commit()
    db.close()
    return person


def _bare_copy(person: Person, target: Path) -> float:
    """Copy the same rows with nothing but sqlite3 and pyarrow; return seconds."""
    began = time.perf_counter()
    db = sqlite3.connect(person.folder / ".vault" / "store.db")
    cursor = db.execute("SELECT b.p, b.digest, r.name, r.tai, r.size, b.bytes FROM body b JOIN rec r USING (p)")
    schema = pa.schema(
        [("p", pa.int64()), ("digest", pa.binary()), ("name", pa.string()), ("tai", pa.string()), ("size", pa.int64()),
         ("bytes", pa.binary())]
    )  # fmt: skip
    with pq.ParquetWriter(target, schema, compression="zstd", compression_level=3) as writer:
        while rows := cursor.fetchmany(1 << 15):
            columns = [
                pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    db.close()
    return time.perf_counter() - began


def _export(person: Person, root: Path, records: int) -> Iterator[Figure]:
    bare = _bare_copy(person, root / "bare.parquet")
    with VaultReader(person.folder) as reader:
        began = time.perf_counter()
        export(reader, root / "out")
        took = time.perf_counter() - began
        began = time.perf_counter()
        export(reader, root / "out")
        again = time.perf_counter() - began
    rate = records / took
    yield Figure("export", f"{records} records", rate, "rows/s", "bare sqlite3 to Parquet", records / bare, 0.5, True)
    yield Figure("export", "nothing new", again, "s", "the first export", took)


def _memory(person: Person, root: Path, records: int) -> Iterator[Figure]:
    """Compare the peak of a process that exports a tenth with one that exports all."""
    script = (
        "import resource, sys; from pathlib import Path; from spark_export.reader import VaultReader;"
        "from spark_export.export import export\n"
        "export(VaultReader(Path(sys.argv[1])), Path(sys.argv[2]));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for number, one in enumerate((_vault(root / "tenth", records // 10), person)):
        command = [sys.executable, "-c", script, str(one.folder), str(root / f"memory-{number}")]
        peaks.append(int(subprocess.run(command, capture_output=True, cwd=ROOT, check=True).stdout) / 1024)
    yield Figure("export", "peak memory at 10x the records", peaks[1], "MB", "peak at 1x", peaks[0], 1.5)


def _source(person: Person, records: int) -> Iterator[Figure]:
    with spark_session(os.environ, master="local[2]") as session:
        session.range(1).count()
        folder = str(person.folder)
        load = session.read.format("lace").option("columns", "app,size,signer")
        load.load(folder).limit(10).count()
        began = time.perf_counter()
        load.option("partitions", "8").load(folder).groupBy("app").sum("size").collect()
        took = time.perf_counter() - began
        yield Figure("source", f"{records} records", records / took, "rows/s", "150,000 rows/s", 150_000, 1, True)
        taking = session.read.format("lace").option("pushdown", "true")
        pushed = taking.load(folder).where(f"position > {records - 100}")
        pushed.count()  # the first one starts the workers
        began = time.perf_counter()
        pushed.count()
        yield Figure("source", "pushed condition", time.perf_counter() - began, "s", "1 s", 1.0, 1)


def _audits(group: Path) -> Iterator[Figure]:
    with spark_session(os.environ, master="local[2]") as session:
        open_exports(session, [group])
        session.sql(_AGGREGATE).collect()
        began = time.perf_counter()
        session.sql(_AGGREGATE).collect()
        aggregate = time.perf_counter() - began
        yield Figure("audits", "plain aggregate over the records", aggregate, "s")
        for audit in AUDITS:
            if audit.name in _CHECKED:
                continue
            run(session, audit)  # as the aggregate: its second run counts
            began = time.perf_counter()
            run(session, audit)
            took = time.perf_counter() - began
            known = _KNOWN.get(audit.name)
            if known is None:
                yield Figure("audits", audit.name, took, "s")
            else:
                yield Figure("audits", audit.name, took, "s", "plain SQL", known * aggregate / _KNOWN_AGGREGATE, 2)


def _signatures(group: Path, records: int) -> Iterator[Figure]:
    """Check every signature with the whole of Spark pinned to one processor, then to two."""
    took = {}
    for processors in (1, 2):
        script = (
            "import json, os, sys, time; from pathlib import Path\n"
            "from spark_export.session import spark_session; from spark_export.reports import open_exports\n"
            f"os.sched_setaffinity(0, set(list(os.sched_getaffinity(0))[:{processors}]))\n"
            f"with spark_session(os.environ, master='local[{processors}]') as s:\n"
            "    open_exports(s, [Path(sys.argv[1])]); s.table('records').limit(1000).mapInArrow(lambda i: i,"
            " s.table('records').schema).count(); t = time.perf_counter()\n"
            "    n = s.table('signature_faults').count(); print(json.dumps([time.perf_counter() - t, n]))"
        )
        done = subprocess.run([sys.executable, "-c", script, str(group)], capture_output=True, cwd=ROOT, check=True)
        told: list[Any] = json.loads(done.stdout.splitlines()[-1])
        if told[1]:
            raise RuntimeError("the generated group has bad signatures")
        took[processors] = float(told[0])
    rate = records / took[2]
    yield Figure("audits", "signatures on two processors", rate, "records/s", "on one", records / took[1], 1.6, True)
