"""Values become JSON in one agreed way (APP-14)."""

from __future__ import annotations

import enum
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lace_tui.cli.output import Output, plain, times
from vault.names import Version
from vault.records import Blob, Tai


class State(enum.StrEnum):
    AHEAD = "ahead"


HASH = Blob(b"hello room7").hash


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (HASH, "B.AKZgZFlTo1yWXWiLTVzirxFK0AP1SpEfxi~BC8ffLsh.H3"),
        (Tai(1, 2), "0000000001:000000002"),
        (Version.parse("1.2.3"), "1.2.3"),
        (State.AHEAD, "ahead"),
        (Path("a/b"), "a/b"),
        ((1, [None, True]), [1, [None, True]]),
        ({"b", "a"}, ["a", "b"]),
        ({HASH: 1}, {HASH.text: 1}),
    ],
)
def test_plain(value: object, expected: object) -> None:
    assert plain(value) == expected


@pytest.mark.parametrize("value", [b"bytes", object(), {1: 2}])
def test_plain_refuses_what_has_no_agreed_form(value: object) -> None:
    with pytest.raises(TypeError):
        plain(value)


def test_times_in_both_forms() -> None:
    assert times(Tai.from_unix_ns(1_700_000_000_000_000_001)) == {
        "tai": "1700000037:000000001",
        "time": "2023-11-14T22:13:20.000000001Z",
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_one_line_of_printable_ascii_that_reads_back(data: dict[str, Any]) -> None:
    stream = io.StringIO()
    Output(stream, io.StringIO(), json=True).emit(data)
    line = stream.getvalue()
    assert line.endswith("\n")
    assert line[:-1].isascii()
    assert line[:-1].isprintable()
    assert json.loads(line) == data
