"""What both sides and the result of a conflict look like, as rows, without a screen (APP-4, LAZ-35)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from blake3 import blake3
from textual.content import Content as Row

from lace_tui.screens import numbered
from lace_tui.screens.numbered import text_rows
from lace_tui.screens.sides import columns, unified
from lace_tui.screens.texts import Joined
from lazy.resolving.deciding import Pick, Worked, worked_out
from lazy.resolving.opening import Content, OpenFile

NAMES = ("yours", "bob's")
BASE = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
MINE = b"one\nTWO\n2b\nthree\nfour\nfive\nsix\nmine\neight\nnine\n"
THEIRS = b"one\ntwo\nthree\nfive\nsix\nbob\neight\nNINE\nten\n"


def _content(text: bytes) -> Content:
    return Content("f", "", len(text), blake3(text).hexdigest(), text[:16], text)


def _worked(base: bytes = BASE, mine: bytes = MINE, theirs: bytes = THEIRS) -> Worked:
    file = OpenFile("a.txt", "content", _content(base), (_content(mine), _content(theirs)))
    return worked_out(file, Pick())


def _shown(rows: Sequence[object]) -> list[str]:
    return [str(getattr(row, "plain", row)).rstrip() for row in rows]


def test_each_side_has_all_its_lines_under_their_own_numbers() -> None:
    """APP-4, LAZ-35: what the other side alone changed was left out of a pane, and all behind it had wrong numbers."""
    left, right = (_shown(rows) for rows in columns(_worked(), 1, NAMES, with_base=True, width=40).rows)
    for rows, text in ((left, MINE), (right, THEIRS)):
        numbered = {int(row[:4]): row[7:] for row in rows if row[:4].strip().isdigit()}
        lines = text.decode().splitlines()
        assert numbered == dict(enumerate(lines, 1))
    assert len(left) == len(right), "they scroll as one"
    assert "     - four" in right
    assert left[right.index("     - four")] == "   5   four", "beside what the other side has there still"
    assert "     - two" in left


@pytest.mark.parametrize("with_base", [True, False])
def test_what_a_side_took_away_is_seen(with_base: bool) -> None:
    """APP-4: a friend's deletion of a line of mine showed in no pane."""
    worked = _worked(b"a\nb\nc\nd\n", b"a\nb\nc\nD\n", b"a\nc\nd\n")
    left, right = (_shown(rows) for rows in columns(worked, 0, NAMES, with_base=with_base, width=40).rows)
    assert "   2   b" in left
    assert "     - b" in right
    (both,) = (_shown(rows) for rows in unified(worked, 0, NAMES, with_base=with_base, width=40).rows)
    assert both[both.index("     - b") + 1] == "     > (nothing)"


def test_what_both_took_away_is_seen_in_both() -> None:
    worked = _worked(b"a\nb\nc\nd\n", b"a\nc\nMINE\n", b"a\nc\nBOB\n")
    for rows in columns(worked, 1, NAMES, with_base=False, width=40).rows:
        assert "     - b" in _shown(rows)


@pytest.mark.parametrize(("only", "text"), [("", MINE), ("left", MINE), ("right", THEIRS)])
def test_in_one_column_the_numbers_are_those_of_the_side_it_is_of(only: str, text: bytes) -> None:
    """APP-4: they counted what stands in the result, and what one side changed alone stood in neither."""
    (rows,) = (_shown(rows) for rows in unified(_worked(), 1, NAMES, with_base=True, width=40, only=only).rows)
    lines = text.decode().splitlines()
    numbered = {int(row[:4]): row[7:] for row in rows if row[:4].strip().isdigit()}
    assert numbered
    assert all(lines[number - 1] == line for number, line in numbered.items())
    if only:
        assert {row[7:] for row in rows if row and row[5:6] != "-"} >= set(lines)


def test_of_a_long_text_the_rows_in_sight_are_made_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-3: all rows of 19,900 lines were made anew for a frame of seven at each key, in over a second."""
    made: list[int] = []
    line = numbered._line

    def noted(number: int, *given: Any) -> Sequence[Row]:
        made.append(number)
        return line(number, *given)

    monkeypatch.setattr(numbered, "_line", noted)
    content = b"".join(b"line %d, which is one of many\n" % number for number in range(19_900))
    rows = text_rows(content, 60)
    assert len(rows) == 19_900
    assert [row.plain for row in rows[:2]] == [
        "   1   line 0, which is one of many",
        "   2   line 1, which is one of many",
    ]
    assert rows[-1].plain.startswith("19900   line 19899")
    assert len(made) == 3
    assert text_rows(content, 60) is rows, "another key draws the same"


def test_a_line_of_any_length_is_folded_once_for_all_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-3: each row in sight folded its whole line again, at each key: one of a megabyte took eight seconds."""
    folded: list[int] = []
    fold = numbered.fold

    def noted(text: str, width: int) -> list[str]:
        folded.append(len(text))
        return fold(text, width)

    monkeypatch.setattr(numbered, "fold", noted)
    mine, theirs = ("word \u00e9 ".encode() * 9_000 + end for end in (b"mine\n", b"theirs\n"))
    for _ in range(3):  # keys
        shown = columns(_worked(b"base\n", mine, theirs), 1, NAMES, with_base=True, width=50)
        for rows in shown.rows:
            assert all(row.plain for row in rows[3:30])
    assert len(folded) == 2, "once for each side"


@pytest.mark.parametrize("width", [10, 17, 40])
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"a",
        b"one\r\ntwo\rthree",
        b"\tx\n" * 3,
        "\u65e5\u672c ".encode() * 9 + b"\n\x1b[2Jx\n",
        b"x" * 99 + b"\n\xff\n",
    ],
)
def test_rows_that_are_made_when_seen_are_those_of_the_whole(text: bytes, width: int) -> None:
    """APP-4: a text is folded and made harmless in its rows as in any other."""
    lines = text.splitlines(keepends=True)
    whole = [row for number, line in enumerate(lines, 1) for row in numbered._line(number, " ", line, width, "")]
    rows = text_rows(text, width)
    assert [row.plain for row in rows] == ([row.plain for row in whole] or ["  an empty file"])
    assert [row.plain for row in Joined(rows, [], rows)] == [row.plain for row in (*rows, *rows)]
