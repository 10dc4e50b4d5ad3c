"""Signatures verified by a process beside this one."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.vault.records.examples import KEY, SEAL
from vault.proofs import Proofs
from vault.records import Plex, Seal, Tai


@pytest.fixture
def proofs() -> Iterator[Proofs]:
    made = Proofs()
    assert made._worker is not None
    assert made._worker.wait(60)
    assert made.is_ready()
    yield made
    made.close()


def _seals(count: int) -> list[Seal]:
    plexes = [Plex.build(group="g", app="a", name=str(n), tai=Tai.ZERO) for n in range(count)]
    return [Seal.sign(plex, KEY) for plex in plexes]


def _spoiled(seal: Seal) -> Seal:
    return replace(seal, signature=bytes([seal.signature[0] ^ 1]) + seal.signature[1:])


def test_right_signatures_are_told_from_wrong_ones(proofs: Proofs) -> None:
    """REC-39, REC-40: one wrong signature among hundreds is told, wherever it stands, and harms no later question."""
    seals = _seals(200)
    for at in (None, 0, 63, 64, 199, None):
        for number, seal in enumerate(seals):
            proofs.ask(_spoiled(seal) if number == at else seal)
        assert proofs.are_right() is (at is None)
        assert proofs.is_ready()
    assert proofs.are_right()


@pytest.mark.parametrize("wrong", [False, True])
def test_what_it_leaves_is_verified_here(proofs: Proofs, wrong: bool) -> None:
    """A process that ends in the middle, or never started, changes no answer."""
    for number, seal in enumerate(_seals(100)):
        if number == 70:
            assert proofs._worker is not None
            process = proofs._worker._process
            assert process is not None
            process.kill()
            process.wait()
        proofs.ask(_spoiled(seal) if wrong and number == 99 else seal)
    assert proofs.are_right() is not wrong
    assert not proofs.is_ready()
    proofs.ask(SEAL)
    assert proofs.are_right()
    proofs.ask(_spoiled(SEAL))
    assert not proofs.are_right()


@pytest.mark.parametrize("count", [100, 1_500])
def test_one_that_stands_still_is_not_waited_for(proofs: Proofs, count: int) -> None:
    """REC-39, LAZ-63: others wait for the vault meanwhile; what it did not answer is verified here, right or wrong."""
    seal, spoiled = SEAL, _spoiled(SEAL)
    assert proofs._worker is not None
    number = proofs._worker.number
    assert number is not None
    os.kill(number, signal.SIGSTOP)
    begun = time.monotonic()
    for at in range(count):
        proofs.ask(spoiled if at == 1 else seal)
    assert not proofs.are_right()
    assert time.monotonic() - begun < 20
    assert proofs.is_gone()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


@pytest.mark.parametrize("when", ["never", "after the last", "in the middle"])
def test_what_is_asked_before_it_has_started_is_shared(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """REC-39: nobody waits for it to start, and whoever verifies which, a wrong one is told."""
    seals = _seals(500)
    for wrong in (None, 0, 100, 255, 499):
        made = Proofs()
        assert made._worker is not None
        assert made._worker.wait(60)
        asked = 0
        is_ready = Proofs.is_ready

        def starts(self: Proofs) -> bool:
            return asked >= {"never": 1_000, "after the last": 500, "in the middle": 250}[when] and is_ready(self)  # noqa: B023

        with monkeypatch.context() as patched:
            patched.setattr(Proofs, "is_ready", starts)
            made.expect(len(seals))
            for asked, seal in enumerate(seals, 1):
                made.ask(_spoiled(seal) if asked - 1 == wrong else seal)
            assert made.are_right() is (wrong is None)
        assert not made.is_gone()
        made.close()


def test_what_is_waited_for_is_shared_the_next_time(proofs: Proofs) -> None:
    """The share of this process follows what it waited for, down to nothing and up to half."""
    seals = _seals(800)
    for count, wrong in ((800, None), (800, 799), (800, 0), (10, 9), (800, None), (0, None)):
        proofs.expect(count)
        for number, seal in enumerate(seals[:count]):
            proofs.ask(_spoiled(seal) if number == wrong else seal)
        assert proofs.are_right() is (wrong is None)
        assert 0 <= proofs._own <= count // 2
    proofs.expect(800)
    for seal in seals:
        proofs.ask(seal)
    while len(proofs._answers) < proofs._handed:
        proofs._collect(60)
    assert proofs.are_right()
    kept = proofs._own
    assert kept < 64, "it waited for next to nothing"


def test_more_than_a_pipe_holds_is_handed_over(proofs: Proofs) -> None:
    """Whoever asks faster than answers come waits for room, and for nothing else."""
    for last in (SEAL, _spoiled(SEAL)):
        for _ in range(2_000):
            proofs.ask(SEAL)
        proofs.ask(last)
        assert proofs.are_right() is (last is SEAL)
        assert proofs.is_ready()


@pytest.fixture
def crowded() -> Iterator[None]:
    """A process with so many open files that the next have numbers above 1,023."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2_048), hard))
    held = [os.open(os.devnull, os.O_RDONLY)]
    while held[-1] < 1_024:
        held.append(os.open(os.devnull, os.O_RDONLY))
    yield
    for descriptor in held:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("crowded")
def test_it_works_however_many_files_are_open() -> None:
    """`select` refuses what has such a number: a visit with that many files open ended as a fault of lace."""
    made = Proofs()
    try:
        assert made._worker is not None
        assert made._worker.wait(60)
        for seal in _seals(200):
            made.ask(seal)
        assert made.are_right()
        assert made.is_ready()
    finally:
        made.close()
