"""The style sheet: each source is read once for each theme (APP-1)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from textual.css.parse import parse

from lace_tui.app.lace import LaceApp
from tests.tui.conftest import press, settle


async def test_a_place_reads_no_style_twice_and_a_theme_reads_all_anew(
    app: LaceApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[tuple[tuple[str, str], int]] = Counter()  # by source and its rank, which changes what is read

    def counted(scope: str, css: str, read_from: tuple[str, str], *, tie_breaker: int, **more: Any) -> Any:
        read[read_from, tie_breaker] += 1
        return parse(scope, css, read_from, tie_breaker=tie_breaker, **more)

    monkeypatch.setattr("textual.css.stylesheet.parse", counted)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, *"234")
        assert len(read) > 10
        assert set(read.values()) == {1}
        before = app.screen.styles.background
        app.choose_theme("light")
        await settle(pilot)
        assert app.screen.styles.background != before
        assert max(read.values()) == 2
        await press(pilot, *"56")
        assert max(read.values()) == 2
