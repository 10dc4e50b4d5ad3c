"""Much taken in at once is verified by a worker process, and nothing else about it is different."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.receiving.receive import Receiver
from lazy.receiving.refusals import UNREACHED, Refusal
from tests.bench.ingest import written
from tests.vault.vaults import around
from vault.desks.content import data_plex
from vault.proofs import Proofs
from vault.records import Plex, RecordHash, Seal, parse_record
from vault.vault import Vault

_Stored = tuple[RecordHash, bytes]
_Told = tuple[list[tuple[tuple[RecordHash, ...], tuple[Refusal, ...], bool]], object]
# What is told by the clock is left out: the second look takes a moment more.
_SAID = (
    "SELECT b.* FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE s.s <> 'lace/audit' ORDER BY p",
    "SELECT digest, kind, code, reason, source FROM refused",
    "SELECT * FROM vector",
    "SELECT * FROM label",
    "SELECT * FROM shared",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Sequence[_Stored]]:
    root = tmp_path_factory.mktemp("beside") / "home"
    return root, written(root, 200)


def _spoiled(pair: _Stored, change: Callable[[Seal], Seal]) -> _Stored:
    seal = parse_record(pair[1])
    assert isinstance(seal, Seal)
    other = change(seal)
    return other.hash, other.encode()


def _signed_by_nobody(seal: Seal) -> Seal:
    return Seal(seal.signer, bytes(64), seal.plex)


def _elsewhere(seal: Seal) -> Seal:
    """A record of another group, with a wrong signature too: which of both is told must not change."""
    plex = seal.plex
    other = Plex("elsewhere/0000000000000000", plex.app, plex.name, plex.tai, plex.extras, plex.blob)
    return Seal(seal.signer, bytes(64), other)


def _take(root: Path, home: Path, batches: Sequence[Sequence[_Stored]], processors: int) -> _Told:
    shutil.copytree(home, root)
    with Vault(root / "bob", replace(around(root, "bob"), processors=processors)) as bob:
        receiver = Receiver(bob, "stick")
        steps = []
        for batch in batches:
            receiver.take(batch)
            steps.append((tuple(receiver.received), tuple(receiver.refusals), receiver.waits))
        with bob.writing() as w:
            receiver.finish(w)
        return steps, [bob.store.rows(query) for query in _SAID]


@pytest.mark.parametrize("wrong", ["nothing", "a signature", "two in a row", "more than the signature", "a digest"])
def test_what_is_taken_refused_and_told_is_the_same(
    home: tuple[Path, Sequence[_Stored]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """REC-39, REC-40, LAZ-63: right or wrong, with a second processor and without."""
    begun: list[Proofs] = []
    is_ready = Proofs.is_ready

    def waits(self: Proofs) -> bool:
        if self not in begun:
            begun.append(self)
            assert self._worker is not None
            assert self._worker.wait(60)
        return is_ready(self)

    monkeypatch.setattr(Proofs, "is_ready", waits)
    monkeypatch.setattr("lazy.receiving.workers.LEAST", 50)
    folder, good = home
    records = list(good)
    if wrong != "nothing":
        change = _elsewhere if wrong == "more than the signature" else _signed_by_nobody
        records[120] = _spoiled(records[120], change)
    if wrong == "two in a row":
        records[121] = _spoiled(records[121], _elsewhere)
    if wrong == "a digest":
        records[120] = (good[120][0], good[120][1][:-1] + b"\0")
    batches = [records[:100], records[100:], good[100:]]
    alone = _take(tmp_path / "alone", folder, batches, 1)
    assert not begun
    beside = _take(tmp_path / "beside", folder, batches, 2)
    assert begun
    assert beside == alone
    refused = alone[0][1][1]
    spoiled = [name for (name, stored), (_, before) in zip(records, good, strict=True) if stored != before]
    assert sorted(refusal.hash for refusal in refused) == sorted(spoiled), "those and no others"
    told = {"record-signature-invalid"} if wrong not in {"nothing", "a digest"} else {each.code for each in refused}
    assert {refusal.code for refusal in refused} == told


def test_no_process_begins_for_content_alone(
    home: tuple[Path, Sequence[_Stored]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-63: thousands of files of a first meeting have no signature that it could verify."""

    def begun() -> Proofs:
        raise AssertionError("a process began")

    monkeypatch.setattr("lazy.receiving.workers.LEAST", 50)
    monkeypatch.setattr("lazy.receiving.workers.Proofs", begun)
    root = tmp_path / "here"
    shutil.copytree(home[0], root)
    with Vault(root / "bob", replace(around(root, "bob"), processors=2)) as bob:
        receiver = Receiver(bob, "stick")
        receiver.take([(made.hash, made.encode()) for made in (data_plex(bob.group, b"%d" % n) for n in range(60))])
        assert {refusal.code for refusal in receiver.refusals} == {UNREACHED}
        with pytest.raises(AssertionError, match="a process began"):
            receiver.take(home[1][:60])
