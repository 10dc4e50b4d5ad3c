"""Lines that two texts have in common, found with bounded work whatever a friend's text holds (CLAY-74, CLAY-70)."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.desks import matching
from vault.desks.diff import text_diff
from vault.desks.matching import LineMatcher
from vault.desks.merge_text import merge_text, take_regions
from vault.desks.patches import Lines, Replace, Skip, apply_patch, between
from vault.desks.sided import sided_regions

_LINES = [str(number % 101) for number in range(4_000)]  # none is more than one in a hundred
_MOST = 2_000_000
_TEXTS = st.lists(st.sampled_from("abcde"), max_size=60)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The work of each look for a common part, in lines and pairs of equal lines."""
    found: list[int] = []
    real = difflib.SequenceMatcher.find_longest_match

    def counted(self: Any, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Any:
        found.append(sum(1 + len(self.b2j.get(line, ())) for line in self.a[alo:ahi]))
        return real(self, alo, ahi, blo, bhi)

    monkeypatch.setattr(matching, "MOST_WORK", _MOST)
    monkeypatch.setattr(difflib.SequenceMatcher, "find_longest_match", counted)
    return found


def _text(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_lines_of_a_friend_in_another_order_are_merged_with_bounded_work(looked: list[int]) -> None:
    """CLAY-74, INT-118: some kilobytes kept the vault for minutes; what they hold is in conflict, and mine stays."""
    base, theirs = _text(_LINES), _text(_LINES[::-1])
    ours = base.replace(b"7\n", b"mine\n", 1)
    assert merge_text(base, ours, theirs) is None
    assert sum(looked) <= 2 * _MOST, "of mine and of theirs"
    assert b"mine\n" in take_regions("x", base, ours, theirs, {1: "ours"})


def test_several_sides_and_a_diff_are_compared_with_bounded_work(looked: list[int]) -> None:
    """CLAY-70, LAZ-39."""
    base, side = _text(_LINES), _text(_LINES[::-1])
    for act in (lambda: sided_regions(base, [side]), lambda: text_diff(base, side)):
        looked.clear()
        assert act()
        assert sum(looked) <= _MOST


def test_a_patch_of_prose_is_made_with_little_work_and_says_what_changed(looked: list[int]) -> None:
    """CLAY-32: each empty line between two paragraphs was laid beside every other, for a minute in a long text."""
    old = [f"paragraph {number}" if number % 2 else "" for number in range(8_000)]
    new = [*old]
    for at in range(401, 8_000, 800):
        new[at] = "edited"
    patch = between(_text(old), _text(new))
    assert isinstance(patch, Lines)
    assert [step.new for step in patch.steps if isinstance(step, Replace)] == [(b"edited\n",)] * 10
    assert apply_patch(patch, _text(old)) == _text(new)
    assert sum(looked) < 20 * len(old)


def test_a_patch_of_lines_that_all_stand_often_says_no_more_than_what_changed() -> None:
    """CLAY-32: nothing in such a text parts its lines, but its beginning and its end."""
    old = ["0", "1"] * 500
    new = [*old]
    new[500] = "2"
    assert between(_text(old), _text(new)) == Lines((Skip(500), Replace((b"0\n",), (b"2\n",))))


def test_a_diff_of_lines_that_all_stand_often_says_no_more_than_what_changed() -> None:
    """CLAY-70: of a long text with a hundred different lines all was shown as changed, for one that was."""
    old = [str(number % 100) for number in range(32_000)]
    new = [*old[:16_000], "edited", *old[16_001:]]
    told = text_diff(_text(old), _text(new), names=("x", "y"))
    assert told[2:] == [
        "@@ -15998,7 +15998,7 @@", " 97", " 98", " 99", "-0", "+edited", " 1", " 2", " 3"
    ]  # fmt: skip
    assert text_diff(_text(old), _text([*old, "more"]))[2:] == ["@@ -31998,3 +31998,4 @@", " 97", " 98", " 99", "+more"]
    assert text_diff(_text(old), _text(old[1:]))[2:] == ["@@ -1,4 +1,3 @@", "-0", " 1", " 2", " 3"]
    assert text_diff(_text(old), _text(old).replace(b"\n", b"\r\n")) == ["Only line ends differ."]


def test_a_text_that_is_large_and_ordinary_is_merged_line_by_line() -> None:
    """CLAY-74: the bound is for what no person writes."""
    base = [f"line {number}" if number % 4 else "" for number in range(19_000)]
    ours, theirs = [*base], [*base]
    for at in range(1, 18_000, 300):
        ours[at], theirs[at + 100] = "mine", "theirs"
    merged = [mine if mine != line else other for line, mine, other in zip(base, ours, theirs, strict=True)]
    assert merge_text(_text(base), _text(ours), _text(theirs)) == _text(merged)


@given(_TEXTS, _TEXTS, st.integers(0, 400))
def test_what_is_found_with_little_work_is_in_both(a: list[str], b: list[str], most: int) -> None:
    """CLAY-74: wherever the matcher stops, its answer leads from one text to the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "MOST_WORK", most)
        matcher = LineMatcher(None, a, b)
        steps = matcher.get_opcodes()
    assert matcher.work <= most
    assert [line for _, i, j, _, _ in steps for line in a[i:j]] == a
    assert [line for _, _, _, i, j in steps for line in b[i:j]] == b
    assert all(a[i:j] == b[k:m] for kind, i, j, k, m in steps if kind == "equal")


@given(_TEXTS, _TEXTS)
def test_a_diff_is_the_usual_one(a: list[str], b: list[str]) -> None:
    """CLAY-70: as other programs write and read it."""
    usual = list(difflib.unified_diff(a, b, "x", "y", lineterm=""))
    assert text_diff(_text(a), _text(b), names=("x", "y")) == usual
