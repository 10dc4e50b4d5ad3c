"""A scenario from a seed: what happens to it undisturbed, and what under faults."""

from __future__ import annotations

import random
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

from tests.simulator.media import Line, Medium, Process, Stick, Together
from tests.simulator.oracle import fixed_point
from tests.simulator.world import HIDDEN, POLICIES, Trace, Vault, known, pool
from vault.records import RecordHash

__all__ = ["Outcome", "simulate"]

_ROUNDS = 60  # sound rounds after which everybody must have everything; a few suffice unless limits are tiny
_QUIET = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a seed.

    Args:
        trace: digest of everything that happened.
        aborts: how many sides ended in an abort.
        exchanges: how many ended at all.
        vaults: how many there were.
        records: how many records they held in the end, together.
    """

    trace: str
    aborts: int
    exchanges: int
    vaults: int
    records: int


def simulate(seed: int, folder: Path | None = None) -> Outcome:
    """Run one seed, disturbed and undisturbed, and compare.

    Raises:
        AssertionError: an invariant broke, a record was lost, or the two do not end alike; with the seed in it.
    """
    trace = Trace()
    with tempfile.TemporaryDirectory(dir=folder) as text:
        try:
            return _simulate(seed, Path(text), trace)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            tail = "\n  ".join([*trace.last, f"in {where.name}: {where.line}"])
            again = f"python -m tests.simulator --first {seed} --seeds 1"
            raise AssertionError(f"Seed {seed}: {type(error).__name__}: {error}\n  {tail}\n{again}") from error


def _simulate(seed: int, folder: Path, trace: Trace) -> Outcome:
    bad = _World(seed, folder / "bad", trace)
    bad.disturb()
    aborts, exchanges = bad.settle()
    ends = [vault.held for vault in bad.vaults]
    if not bad.is_changing:
        assert ends == bad.must_end, "The vaults do not end where nothing is left to move."
        if seed % 4 == 0:
            good = _World(seed, folder / "good", Trace())
            good.settle()
            assert ends == [vault.held for vault in good.vaults], "The vaults do not end where they end undisturbed."
            good.close()
    for vault, end in zip(bad.vaults, ends, strict=True):
        trace.add("holds", vault.number, *sorted(record.text for record in end))
    bad.close()
    return Outcome(trace.digest, aborts, exchanges, len(bad.vaults), sum(map(len, ends)))


class _World:
    """The vaults and media of a seed; two of the same seed are alike until something happens."""

    def __init__(self, seed: int, folder: Path, trace: Trace) -> None:
        folder.mkdir()
        self.trace = trace
        self.draw = draw = random.Random(seed)
        count = draw.choice((2, 2, 3, 3, 4))
        names = list(POLICIES)
        self.vaults = [Vault(n, folder / f"{n}.db") for n in range(count)]
        records = draw.sample(pool()[2:], draw.randrange(4, 26))
        self.late = {record.hash: vault for vault in self.vaults for record in draw.sample(records, 1)}
        for vault in self.vaults:
            vault.policy = draw.choices(names, (6, 1, 2))[0]
            mine = [record for record in records if draw.random() < 1.4 / count and record.hash not in self.late]
            vault.keep([*[member for member in pool()[:2] if draw.random() < 0.5], *mine])
        self.by_hash = {record.hash: record for record in records}
        self.media = [self._medium(draw) for _ in range(draw.choice((1, 2, 3)))]
        self.must_end = self._must_end()
        # Where a policy changes or something is withheld on the way, other orders may end elsewhere (INT-133).
        self.is_changing = draw.random() < 0.2
        self.faults = draw.choice((0.05, 0.2, 0.4))

    def _medium(self, draw: random.Random) -> Medium:
        kind = draw.choices((Line, Process, Together, Stick), (5, 1, 1, 2))[0]
        if kind is Stick:
            return Stick(tuple(draw.sample(self.vaults, draw.randrange(2, len(self.vaults) + 1))))
        one, other = draw.sample(self.vaults, 2)
        if kind is Together:
            return Together((one, other))
        return Line((one, other)) if kind is Line else Process((one, other))

    def _must_end(self) -> list[set[RecordHash]]:
        held = [set(vault.own) for vault in self.vaults]
        for record, vault in self.late.items():
            held[vault.number].add(record)
        roads = [road for medium in self.media for road in medium.roads]
        return fixed_point(known(), held, [vault.policy for vault in self.vaults], roads, HIDDEN)

    def disturb(self) -> None:
        """Let vaults meet over bad media while they also change, restart and write."""
        draw = self.draw
        for _ in range(draw.randrange(2, 7)):
            draw.choice(self.media).visit(draw, self.faults, self.trace)
            self._check()
            vault = draw.choice(self.vaults)
            if draw.random() < 0.2:
                vault.restart()
            if self.late and draw.random() < 0.5:
                self._write(draw.choice(sorted(self.late)))
            if self.is_changing and draw.random() < 0.5:
                self._change(vault)

    def _write(self, record: RecordHash) -> None:
        vault = self.late.pop(record)
        self.trace.add("writes", vault.number, record.text)
        vault.keep([self.by_hash[record]])

    def _change(self, vault: Vault) -> None:
        if self.draw.random() < 0.5:
            vault.withhold(self.draw.choice(("lace/a", "lace/b")))
        else:
            vault.policy = self.draw.choice(list(POLICIES))
        self.trace.add("changes", vault.number, vault.policy, *sorted(vault.withheld))

    def settle(self) -> tuple[int, int]:
        """Let all meet over sound media until nobody receives anything; return aborts and exchanges.

        Two quiet rounds of all media are awaited: on a stick, the last of the first round is read in the second.
        """
        for record in sorted(self.late):
            self._write(record)
        quiet = 0
        for _ in range(_ROUNDS):
            moved = [medium.visit(self.draw, 0, self.trace) for medium in self.media]
            quiet = 0 if any(moved) else quiet + 1
            if quiet == _QUIET:
                break
        else:
            raise AssertionError("The vaults never come to rest.")
        self._check()
        return self.trace.aborts, self.trace.ends

    def _check(self) -> None:
        for vault in self.vaults:
            vault.check()

    def close(self) -> None:
        """Close the stores."""
        for vault in self.vaults:
            vault.store.close()
