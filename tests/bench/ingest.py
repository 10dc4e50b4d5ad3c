"""Small sealed records taken in and validated whole, beside the bare verification of the same signatures.

What counts is everything between the bytes of a record and its place in the store: form, digests, signature, profile,
membership, facts, views, the log's contiguity and what is shared. Once with one processor, once with all.
"""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from nacl import bindings

from lace_tui.__main__ import GARBAGE, hold_freed
from lazy.receiving.receive import Receiver
from tests.bench.table import Figure
from tests.vault.vaults import around, befriend, found, write
from vault.desk_folders import MAIN
from vault.profile import LabelRecord
from vault.records import Plex, RecordHash, Seal, parse_record
from vault.releasing import release
from vault.revisions.history import line_head
from vault.vault import Vault

__all__ = ["figures", "written"]

_BATCH = 2_000  # as many as a sync hands over together
_ENTRY = 100  # records that one log entry shares
_Stored = Sequence[tuple[RecordHash, bytes]]


def figures(quick: bool) -> Iterator[Figure]:
    """Yield records a second on one processor and on all, beside Ed25519 alone on one."""
    count, repeats = (2_000, 1) if quick else (20_000, 5)
    gc.set_threshold(*GARBAGE)  # as the program does, for every run here
    hold_freed()
    rates: dict[str, list[float]] = {"one": [], "all": [], "bare": []}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        records = written(root / "home", count)
        signed = [_signed(stored) for _, stored in records]
        for repeat in range(repeats):
            rates["bare"].append(_rate(len(records), lambda: _verify(signed)))
            for turn, processors in (("one", {min(os.sched_getaffinity(0))}), ("all", os.sched_getaffinity(0))):
                home = root / f"{turn}-{repeat}"
                shutil.copytree(root / "home", home)
                world = replace(around(home, "bob"), processors=len(processors))
                with Vault(home / "bob", world) as bob, _on(processors):
                    rates[turn].append(_rate(len(records), partial(_take, bob, records)))
                shutil.rmtree(home)
    what = f"{len(records)} small sealed records"
    peer = statistics.median(rates["bare"])
    against = "Ed25519 alone, one thread"
    yield Figure("ingest", f"{what}, one processor", statistics.median(rates["one"]), "/s", against, peer, 0.5, True)
    if len(os.sched_getaffinity(0)) > 1:
        yield Figure("ingest", f"{what}, all of them", statistics.median(rates["all"]), "/s", against, peer, 0.75, True)


def written(root: Path, count: int) -> Sequence[tuple[RecordHash, bytes]]:
    """Make two friends' vaults, and records of one that the other does not have."""
    root.mkdir()
    alice = found(root)
    write(alice, "a.txt", "one\n")
    release(alice, None, "First")
    befriend(root, alice, "bob").close()
    head = line_head(alice.store, alice.node.text, MAIN)
    assert head is not None
    first = 1 + int(alice.store.rows("SELECT max(p) FROM body")[0][0])
    for start in range(0, count, _ENTRY):
        with alice.writing() as w:
            w.log([w.seal(_label(alice, number, head.rev)).hash for number in range(start, start + _ENTRY)])
    records = [(record, stored) for _, record, stored in alice.store.bodies(first)]
    alice.close()
    return records


def _label(vault: Vault, number: int, rev: RecordHash) -> Plex:
    tai = vault.around.tai()
    return LabelRecord.to_plex(group=vault.group, desk=MAIN, label=f"label-{number}", rev=rev, tai=tai)


def _verify(signed: Sequence[tuple[bytes, bytes]]) -> None:
    """Verify the signatures and do nothing else."""
    for message, key in signed:
        bindings.crypto_sign_open(message, key)


def _signed(stored: bytes) -> tuple[bytes, bytes]:
    seal = parse_record(stored, verify=False)
    assert isinstance(seal, Seal)
    return seal.signature + seal.plex.hash.digest, seal.signer.key


def _take(vault: Vault, records: _Stored) -> None:
    receiver = Receiver(vault, "bench")
    for start in range(0, len(records), _BATCH):
        receiver.take(records[start : start + _BATCH])
    with vault.writing() as w:
        receiver.finish(w)
    assert len(receiver.received) == len(records), receiver.refusals[:1]


def _rate(count: int, act: Callable[[], None]) -> float:
    begun = time.perf_counter()
    act()
    return count / (time.perf_counter() - begun)


@contextmanager
def _on(processors: set[int]) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
