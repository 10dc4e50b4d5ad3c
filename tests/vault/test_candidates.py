"""Addresses of records and the candidates of a coordinate (Lace-110)."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.rules.stores import GROUP, add, make, open_store
from vault.records import RecordError, RecordHash
from vault.records.coordinates import check_coordinate
from vault.revisions.candidates import BadAddress, Coordinate, candidates, parse_record_address

HASH = make("t/a", "x", 1).hash


def test_a_hash_address_is_tried_before_a_coordinate() -> None:
    """FAC-26: four slashes are a hash, never a coordinate with an empty group."""
    assert parse_record_address(f"////{HASH.text}") == HASH
    for text in ("////", f"////{HASH.text}[0]", "////group//app//name", f"////{HASH.text}//app//name", "//////a//b"):
        with pytest.raises(BadAddress):
            parse_record_address(text)
    at = parse_record_address("//friends/0123//lace/release//main/1.0.0")
    assert at == Coordinate("friends/0123", "lace/release", "main/1.0.0")


@pytest.mark.parametrize(
    ("text", "name", "selector"),
    [
        ("//g//a//n", "n", None),
        ("//g//a//n[*]", "n", None),
        ("//g//a//n[0]", "n", 0),
        ("//g//a//n[12]", "n", 12),
        (f"//g//a//n[{HASH.text}]", "n", HASH),
        ("//g//a//n[0][*]", "n[0]", None),
        ("//g//a//n[x", "n[x", None),
    ],
)
def test_a_selector_says_which_candidates_are_meant(text: str, name: str, selector: int | RecordHash | None) -> None:
    """FAC-27."""
    assert parse_record_address(text) == Coordinate("g", "a", name, selector)


@pytest.mark.parametrize(
    "text",
    [
        *("", "g//a//n", "//g", "//g//a", "//g//a//b//c"),
        *("//g//a//n[]", "//g//a//n[01]", "//g//a//n[-1]", "//g//a//n[x]", "//g//a//n[\u0663]", "//g//a//\udcf6"),
        *("//g#//a//n", "//g//a{}//n", "//g//a//n|", "//g//a//../n", "//g//a///n", f"//g//a//{'n' * 3000}"),
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """FAC-26, FAC-27, REC-46..57."""
    with pytest.raises(BadAddress):
        parse_record_address(text)


_TEXT = st.text(st.sampled_from("ab/[]01*.é"), min_size=1, max_size=8)


@given(_TEXT, _TEXT, _TEXT, st.one_of(st.none(), st.integers(0, 999), st.just(HASH)))
def test_every_coordinate_is_written_and_read_back(
    group: str, app: str, name: str, selector: int | RecordHash | None
) -> None:
    """FAC-27: no address has two meanings."""
    try:
        check_coordinate(group, app, name)
    except RecordError:
        return
    there = Coordinate(group, app, name, selector)
    assert parse_record_address(str(there)) == there


def test_a_coordinate_names_all_versions_whoever_signed_them_in_one_order(tmp_path: Path) -> None:
    """FAC-27, FAC-29, REC-6: TAI, then hash; the order of arrival changes nothing, and no signer is preferred."""
    versions = [make("t/a", "x", n, signer=signer, data=data) for n, signer, data in VERSIONS]
    others = [make("t/a", "y", 3), make("t/b", "x", 3)]
    found = set()
    for n, order in enumerate(list(permutations(versions))[::7]):
        (tmp_path / str(n)).mkdir()
        with open_store(tmp_path / str(n)) as store:
            add(store, [*order, *others])
            found.add(tuple(candidates(store, Coordinate(GROUP, "t/a", "x"))))
            tip = candidates(store, Coordinate(GROUP, "t/a", "x", 0))
            (one,) = found
            assert tip == [one[0]]
            assert candidates(store, Coordinate(GROUP, "t/a", "x", one[2])) == [one[2]]
            assert candidates(store, Coordinate(GROUP, "t/a", "x", 5)) == []
            assert candidates(store, Coordinate("friends/other", "t/a", "x")) == []
            with pytest.raises(BadAddress):
                candidates(store, Coordinate(GROUP, "lace/data", "x"))
    equal = sorted((version.hash for version in versions[2:4]), key=lambda record: record.text, reverse=True)
    assert one == (versions[0].hash, *equal, versions[1].hash, versions[4].hash)


VERSIONS = ((9, 1, b""), (2, 0, b""), (5, 0, b"one"), (5, 1, b"other"), (99, None, b""))
