"""The app is asked to end from outside: by a `kill`, or by the end of its terminal (APP-1, APP-3)."""

from __future__ import annotations

import os
import signal
import threading
from asyncio import AbstractEventLoop
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from lace_tui.app.lace import LaceApp
from tests.cli.conftest import make_pair
from vault.vault import Vault
from vault.watch import Watch

_PATIENCE = 5.0  # seconds; the work ends by itself then, and the test fails


@pytest.fixture
def heard(number: int) -> Iterator[int]:
    """Have a signal handled as in a program of its own: Spark and others leave handlers behind."""
    before = signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield number
    signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_work_is_stopped_when_the_app_is_asked_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, heard: int
) -> None:
    """APP-3: the screen was given back, and a sync that waited for a git host went on behind it."""
    alice, _bob = make_pair(tmp_path)
    alice.environ["TERM"] = "xterm"
    stopped: list[bool] = []
    is_begun, is_over = threading.Event(), threading.Event()

    def work(_vault: Vault, watch: Watch) -> None:
        is_begun.set()
        try:
            for _ in range(int(_PATIENCE / 0.01)):
                watch.cancelled()
                is_over.wait(0.01)
        except BaseException:
            stopped.append(True)
            raise

    run = LaceApp.run

    def run_headless(self: LaceApp, *, mouse: bool, loop: AbstractEventLoop | None = None) -> Any:
        async def ask(pilot: Pilot[object]) -> None:
            self.begin("Sync: host", work, lambda _: None)
            while not is_begun.is_set():
                await pilot.pause(0.01)
            os.kill(os.getpid(), heard)

        return run(self, headless=True, mouse=mouse, loop=loop, auto_pilot=ask)

    monkeypatch.setattr(LaceApp, "run", run_headless)
    before = signal.getsignal(heard)
    assert alice.run("tui", tty=True).code == 130
    assert stopped == [True]
    assert signal.getsignal(heard) is before
