"""Small sealed records taken in and validated whole, beside the bare verification of the same signatures.

What counts is everything between the bytes of a record and its place in the store: form, digests, signature, profile,
membership, facts, views, the log's contiguity and what is shared. Once with one processor, once with all.

A machine that others use swings within seconds, and one processor of it more than the other. So the bare verification
is done batch by batch in turn with the records, on the same processors, and each run is compared with its own.
"""

from __future__ import annotations

import gc
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from nacl import bindings

from lace_tui.__main__ import GARBAGE
from lazy.receiving.receive import Receiver
from tests.bench.processors import all_processors, only_on
from tests.bench.table import Figure
from tests.vault.vaults import around, befriend, found, write
from vault.desk_folders import MAIN
from vault.held_memory import hold_freed
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
    every = all_processors()
    turns = {"one processor": (set(sorted(every)[:1]), 0.5)}
    if len(every) > 1:
        turns["all of them"] = (every, 0.75)
    runs: dict[str, list[tuple[float, float]]] = {turn: [] for turn in turns}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        records = written(root / "home", count)
        signed = [_signed(stored) for _, stored in records]
        for repeat in range(repeats):
            for turn, (processors, _) in turns.items():
                home = root / f"{turn}-{repeat}"
                shutil.copytree(root / "home", home)
                world = replace(around(home, "bob"), processors=len(processors))
                with Vault(home / "bob", world) as bob, only_on(processors):
                    runs[turn].append(_rates(bob, records, signed))
                shutil.rmtree(home)
    for turn, (_, promised) in turns.items():
        # Of the run in the middle: rates from two runs are no pair.
        rate, peer = sorted(runs[turn], key=lambda run: run[0] / run[1])[repeats // 2]
        what = f"{len(records)} small sealed records, {turn}"
        yield Figure("ingest", what, rate, "/s", "Ed25519 alone, one thread", peer, promised, True)


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


def _rates(vault: Vault, records: _Stored, signed: Sequence[tuple[bytes, bytes]]) -> tuple[float, float]:
    """Take records in, in turn with the bare verification of their signatures; return both in records a second."""
    receiver = Receiver(vault, "bench")
    taken = bare = 0.0
    for start in range(0, len(records), _BATCH):
        turn = slice(start, start + _BATCH)
        bare += _seconds(partial(_verify, signed[turn]))
        taken += _seconds(partial(receiver.take, records[turn]))
    taken += _seconds(partial(_finish, vault, receiver))
    assert len(receiver.received) == len(records), receiver.refusals[:1]
    return len(records) / taken, len(records) / bare


def _finish(vault: Vault, receiver: Receiver) -> None:
    with vault.writing() as w:
        receiver.finish(w)


def _seconds(act: Callable[[], None]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun
