"""The simulator in its short form, that it repeats itself, and that it finds what is broken."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lazy.interlace import peerstate
from lazy.interlace.ads import summarise
from lazy.interlace.documents.stream import StreamLink
from lazy.interlace.ledger import Ledger
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.plan import Evaluation
from lazy.interlace.result import InterlaceResult
from lazy.interlace.selection import Selection
from tests.simulator import media
from tests.simulator.scenario import simulate
from tests.simulator.world import Vault
from vault.records import RecordHash

SEEDS = 40
ROOT = Path(__file__).parents[2]


def test_after_faults_all_end_where_they_end_undisturbed(tmp_path: Path) -> None:
    """INT-1, INT-10, INT-14, INT-17, INT-99, INT-120..122, INT-132, INT-133, INT-140..156: over many seeds.

    DWN-2, DWN-74, DWN-89: what is dropped, doubled, reordered or cut off changes nothing of where all end.
    """
    outcomes = [simulate(seed, tmp_path) for seed in range(1, SEEDS + 1)]
    assert sum(outcome.aborts for outcome in outcomes) > SEEDS
    assert sum(outcome.exchanges - outcome.aborts for outcome in outcomes) > 8 * SEEDS
    assert len({outcome.trace for outcome in outcomes}) == SEEDS


def test_one_seed_has_one_trace() -> None:
    """Whatever the process and the seed of its hashes."""
    lines = set()
    for salt in ("1", "2"):
        words = [sys.executable, "-m", "tests.simulator", "--first", "7", "--seeds", "4"]
        env = {**os.environ, "PYTHONHASHSEED": salt}
        done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        lines.add(done.stdout)
    (line,) = lines
    assert line.startswith("4 seeds, 0 failed")


def _trusts_listings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was listed counts as what was announced; nothing is predicted, and only listings are spoilt."""
    monkeypatch.setattr(media, "_FAULTS", ("claim",))
    monkeypatch.setattr(peerstate.PeerState, "_shelf_with", lambda *_: None)
    monkeypatch.setattr(peerstate, "summarise", lambda groups: _Equal(summarise(groups)))


class _Equal(dict[str, object]):
    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


def _sends_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything stored is offered."""
    monkeypatch.setattr(Vault, "visible_sql", "SELECT p FROM rec")
    monkeypatch.setattr(Vault, "may_send", lambda self, record: True)


def _forgets_outstanding(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked for stays outstanding after its phase."""
    monkeypatch.setattr(Ledger, "end_transfer", lambda self: None)


def _stops_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked for that begins with a capital letter."""
    all_of_it = Selection.to_request

    def half(self: Selection, snapshot: Evaluation, ledger: Ledger, most: int) -> tuple[RecordHash, ...]:
        asked = all_of_it(self, snapshot, ledger, most)
        return tuple(record for record in asked if not record.text[2].isupper())

    monkeypatch.setattr(Selection, "to_request", half)


def _loses(monkeypatch: pytest.MonkeyPatch) -> None:
    """An abort takes a record back."""
    take = StreamLink.take

    def taking(self: StreamLink, data: bytes) -> bytes:
        try:
            return take(self, data)
        except Exception:
            vault = self.machine._port
            assert isinstance(vault, Vault)
            vault.store.db.execute("DELETE FROM body WHERE p = (SELECT max(p) FROM body)")
            raise

    monkeypatch.setattr(StreamLink, "take", taking)


def _repeats_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is here already is asked for again."""
    monkeypatch.setattr(Vault, "have", lambda self, hashes: set())


def _keeps_cursor_of_abort(monkeypatch: pytest.MonkeyPatch) -> None:
    """An aborted exchange says that it reached a complete state of the peer."""
    result: Callable[[InterlaceMachine], InterlaceResult] = vars(InterlaceMachine)["result"].fget

    def claims(self: InterlaceMachine) -> InterlaceResult:
        told = result(self)
        object.__setattr__(told, "cursor_updated", True)
        return told

    monkeypatch.setattr(InterlaceMachine, "result", property(claims))


@pytest.mark.parametrize(
    "spoil",
    [
        *(_trusts_listings, _sends_hidden, _forgets_outstanding, _stops_early),
        *(_loses, _repeats_requests, _keeps_cursor_of_abort),
    ],
    ids=lambda spoil: spoil.__name__.strip("_"),
)
def test_the_simulator_finds_what_is_broken(
    spoil: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """INT-17: a machine or a vault that breaks an invariant does not get through."""
    spoil(monkeypatch)
    with pytest.raises(AssertionError, match=r"Seed [0-9]+: .*(\n.*)*python -m tests.simulator --first"):
        _many(tmp_path)


def _many(folder: Path) -> None:
    for seed in range(1, 60):
        simulate(seed, folder)
