"""Patches and change sets: made, carried, and applied only where they fit (CLAY-31 to CLAY-33, CLAY-37 to CLAY-41)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.desks.patches import (
    Lines,
    PatchMismatch,
    PatchUnsupported,
    Pre,
    Replace,
    Skip,
    Whole,
    apply_patch,
    between,
    parse,
    values,
)

_LINE = st.sampled_from([b"one\n", b"two\n", b"three\r\n", b"\n", b"four", "fünf\n".encode(), b"six\r"])
_TEXT = st.lists(_LINE, max_size=30).map(b"".join)
_ANY = st.one_of(_TEXT, st.binary(max_size=60))


@given(_ANY, _ANY)
def test_diff_then_patch_is_the_identity(old: bytes, new: bytes) -> None:
    """CLAY-33, also over the form that is carried in files."""
    patch = between(old, new)
    assert apply_patch(patch, old) == new
    assert parse(json.loads(json.dumps(values(patch)))) == patch


@given(_TEXT, _TEXT, _TEXT)
def test_a_patch_looks_at_every_line_it_takes_away(old: bytes, new: bytes, other: bytes) -> None:
    """CLAY-32: on other content it fails, or it took nothing away that was not there."""
    patch = between(old, new)
    try:
        made = apply_patch(patch, other)
    except PatchMismatch:
        return
    if isinstance(patch, Lines):
        at, lines = 0, Pre.LF.pieces(other)
        for step in patch.steps:
            size = step.lines if isinstance(step, Skip) else len(step.old)
            assert isinstance(step, Skip) or tuple(lines[at : at + size]) == step.old
            at += size
        assert made.endswith(b"".join(lines[at:]))


def test_steps_skip_and_replace() -> None:
    """CLAY-32: nothing is said of lines after the last change."""
    old, new = b"a\nb\nc\nd\ne\n", b"a\nb\nX\nd\ne\n"
    assert between(old, new) == Lines((Skip(2), Replace((b"c\n",), (b"X\n",))))
    for wrong in (b"a\nb\nC\nd\ne\n", b"a\nb\n", b""):
        with pytest.raises(PatchMismatch):
            apply_patch(between(old, new), wrong)
    with pytest.raises(PatchMismatch):
        apply_patch(Lines((Skip(3),)), b"a\n")


def test_four_kinds_and_two_that_work() -> None:
    """CLAY-31: a replaces, c works on lines; b and d are named and not supported."""
    assert parse({"kind": "a", "content": "x"}) == Whole(b"x")
    assert between(b"\0\1", b"text\n") == Whole(b"text\n")
    assert isinstance(between(b"", b"text\n"), Lines)
    for kind in ("b", "d"):
        with pytest.raises(PatchUnsupported):
            parse({"kind": kind})


@given(_ANY)
def test_preprocessing_is_undone_by_joining(content: bytes) -> None:
    """CLAY-36: none is one piece, LF text ends after line feeds only."""
    for pre in Pre:
        assert b"".join(pre.pieces(content)) == content
    assert len(Pre.NONE.pieces(content)) == bool(content)
    lines = Pre.LF.pieces(content)
    assert all(line.endswith(b"\n") and b"\n" not in line[:-1] for line in lines[:-1])
    assert lines == [] or b"\n" not in lines[-1][:-1]


def test_a_patch_names_its_preprocessing_and_the_reserved_ones_are_not_supported() -> None:
    """CLAY-36: a carriage return ends no line; what is not said follows from the kind."""
    assert values(between(b"a\rb\n", b"a\rc\n")) == {
        "kind": "c",
        "pre": "lf",
        "steps": [{"old": ["a\rb\n"], "new": ["a\rc\n"]}],
    }
    assert values(Whole(b"x"))["pre"] == "none"
    assert parse({"kind": "c", "steps": []}) == Lines((), Pre.LF)
    whole = parse({"kind": "c", "pre": "none", "steps": [{"old": ["a\nb\n"], "new": ["c"]}]})
    assert apply_patch(whole, b"a\nb\n") == b"c"
    with pytest.raises(PatchMismatch):
        apply_patch(whole, b"a\n")
    for name in ("jam", "blocks"):
        with pytest.raises(PatchUnsupported, match=name):
            parse({"kind": "c", "pre": name, "steps": []})
    for wrong in ({"kind": "a", "pre": "lf", "content": "x"}, {"kind": "c", "pre": "crlf", "steps": []}):
        with pytest.raises(PatchMismatch):
            parse(wrong)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "steps", "skip", "old"]), inner)
    ),
    max_leaves=8,
)


@given(_JSON | st.fixed_dictionaries({"kind": st.sampled_from("abcd"), "pre": _JSON, "steps": _JSON, "content": _JSON}))
def test_a_patch_from_a_file_is_one_or_an_error(value: object) -> None:
    try:
        patch = parse(value)
    except (PatchMismatch, PatchUnsupported):
        return
    assert parse(values(patch)) == patch
