"""How long `lace status` takes beside a bare Python that imports what every lace needs.

The vault is a large one: thousands of releases, a hundred thousand records, fifty peers. Two answers are timed: while
nothing changed, which is what a prompt or a status bar asks, and the first one after a change.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.table import Figure
from tests.faults.circle import around
from vault import work
from vault.names import Version
from vault.profile import Member, data_plex
from vault.suite import SigningKey
from vault.vault import Vault

__all__ = ["figures", "large_vault"]

_ROOT = Path(__file__).parents[2]
_LACE = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from lace_tui.__main__ import main; sys.exit(main())"
_BARE = "import sqlite3, blake3, nacl.bindings"
_PEERS = 50


def figures(quick: bool) -> Iterator[Figure]:
    """Yield status in a large vault, kept and made anew, beside the bare imports."""
    releases, records, repeats = (50, 1_000, 5) if quick else (10_000, 100_000, 21)
    with tempfile.TemporaryDirectory() as text:
        root = Path(text)
        vault = large_vault(root, releases, records)
        where = f"status of {releases} releases, {_PEERS} peers"
        environ = {**os.environ, "LACE_HOME": str(root / "alice" / "home")}
        _run(vault.folder, environ, _LACE, "status")
        kept, fresh, bare = [], [], []
        for _ in range(repeats):
            bare.append(_run(vault.folder, environ, _BARE))
            kept.append(_run(vault.folder, environ, _LACE, "status"))
        for _ in range(5):
            with vault.writing() as w:
                w.audit("lace-benchmark", "", {})
            fresh.append(_run(vault.folder, environ, _LACE, "status"))
        vault.close()
    for index, unit in ((0, "ms wall"), (1, "ms CPU")):
        mine, first, base = (1000 * statistics.median(cost[index] for cost in side) for side in (kept, fresh, bare))
        against = "bare Python with sqlite3, blake3, nacl.bindings"
        yield Figure("start", where, mine, unit, against, base, 2)
        yield Figure("start", where + ", after a change", first, unit, against, base)


def large_vault(root: Path, releases: int, records: int) -> Vault:
    """Make a vault by the acts a person does, only many in one transaction where the acts allow it."""
    vault = Vault.found(root / "alice" / "f", around(root, "alice"), name="alice", group="friends")
    members = []
    with vault.writing() as w:
        for peer in range(_PEERS):
            key = SigningKey.from_seed(peer.to_bytes(32, "big"))
            sealed = Member.to_plex(group=vault.group, node=key.verifier, label=f"peer-{peer}", tai=w.tai())
            members.append(w.seal(sealed).hash)
        w.log(members)
    for number in range(releases):
        (vault.folder / "a.txt").write_text(f"version {number}\n")
        work.release(vault, Version(1, number // 1000, number % 1000))
    have = int(vault.store.rows("SELECT sum(records) FROM counts")[0][0])
    with vault.writing() as w:
        for number in range(max(0, records - have)):
            w.add(data_plex(vault.group, number.to_bytes(8, "big")))
    return vault


def _run(folder: Path, environ: dict[str, str], code: str, *words: str) -> tuple[float, float]:
    cpu, wall = _cpu(), time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *words], cwd=folder, env=environ, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - wall, _cpu() - cpu


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
