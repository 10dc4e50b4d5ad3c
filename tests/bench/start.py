"""How long `lace status`, `queue`, `conflicts` and `vectors` take beside a bare Python that imports what lace needs.

The vault is a large one: thousands of releases, a hundred thousand records, fifty peers, of whom each confirmed all
but the last releases. Two answers are timed: while nothing changed, which is what a prompt or a status bar asks, and
the first one after a change.
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

from lazy.people import peers
from lazy.vectors import note_met, vector_here
from tests.bench.table import Figure
from tests.faults.circle import around
from vault import releasing
from vault.beginning import found_vault
from vault.desks.content import data_plex
from vault.names import Version
from vault.nodelog import VectorEntry
from vault.profile import Member
from vault.records import Verifier
from vault.suite import SigningKey
from vault.vault import Vault

__all__ = ["figures", "large_vault"]

_ROOT = Path(__file__).parents[2]
_LACE = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from lace_tui.__main__ import main; sys.exit(main())"
_BARE = "import sqlite3, blake3, nacl.bindings"
_PEERS = 50
_WAITING = 20  # log entries that no peer has confirmed
_VERBS = ("status", "queue", "conflicts", "vectors")


def figures(quick: bool) -> Iterator[Figure]:
    """Yield each verb in a large vault, its answer kept and made anew, beside the bare imports."""
    releases, records, repeats, anew = (50, 1_000, 5, 2) if quick else (10_000, 100_000, 21, 5)
    with tempfile.TemporaryDirectory() as text:
        root = Path(text)
        vault = large_vault(root, releases, records)
        _confirm(vault)
        held = int(vault.store.rows("SELECT sum(records) FROM counts")[0][0])
        # An installed program has its byte code beside it; the first commands write it here.
        environ = {**os.environ, "LACE_HOME": str(root / "alice" / "home"), "PYTHONPYCACHEPREFIX": str(root / "code")}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        kept: dict[str, list[tuple[float, float]]] = {verb: [] for verb in _VERBS}
        fresh: dict[str, list[tuple[float, float]]] = {verb: [] for verb in _VERBS}
        bare = []
        for verb in _VERBS:
            _run(vault.folder, environ, _LACE, verb)
        for _ in range(repeats):
            bare.append(_run(vault.folder, environ, _BARE))
            for verb in _VERBS:
                kept[verb].append(_run(vault.folder, environ, _LACE, verb))
        for _ in range(anew):
            with vault.writing() as w:
                w.audit("lace-benchmark", "", {})
            for verb in _VERBS:
                fresh[verb].append(_run(vault.folder, environ, _LACE, verb))
        vault.close()
    against = "bare Python with sqlite3, blake3, nacl.bindings"
    for verb in _VERBS:
        where = f"{verb} of {held} records, {releases} releases, {_PEERS} peers"
        for index, unit in ((0, "ms wall"), (1, "ms CPU")):
            sides = (kept[verb], fresh[verb], bare)
            mine, first, base = (1000 * statistics.median(cost[index] for cost in side) for side in sides)
            yield Figure("start", where, mine, unit, against, base, 2)
            yield Figure("start", where + ", after a change", first, unit, against, base)


def _confirm(vault: Vault) -> None:
    """Let every peer have said that it holds all of my log but the last entries, so that something waits for each."""
    me = vector_here(vault)[vault.node]
    seq = max(1, me.seq - _WAITING)
    said = {vault.node: VectorEntry(seq, me.plex_digest, False)}
    with vault.writing() as w:
        for peer in peers(vault):
            note_met(w, Verifier.parse(peer.node), said, place="stick", now=w.tai(), said_at=w.tai(), unreleased=0)


def large_vault(root: Path, releases: int, records: int) -> Vault:
    """Make a vault by the acts a person does, only many in one transaction where the acts allow it."""
    vault = found_vault(root / "alice" / "f", around(root, "alice"), name="alice", group="friends")
    members = []
    with vault.writing() as w:
        for peer in range(_PEERS):
            key = SigningKey.from_seed(peer.to_bytes(32, "big"))
            sealed = Member.to_plex(group=vault.group, node=key.verifier, label=f"peer-{peer}", tai=w.tai())
            members.append(w.seal(sealed).hash)
        w.log(members)
    for number in range(releases):
        (vault.folder / "a.txt").write_text(f"version {number}\n")
        releasing.release(vault, Version(1, number // 1000, number % 1000))
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
