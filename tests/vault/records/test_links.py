"""Record links (REC-62..71)."""

from __future__ import annotations

import pytest

from tests.vault.records.examples import BLOB
from vault.records import Link, Plex, RecordError, RecordHash, Tai, parse_record
from vault.records.links import parse_link

TARGET = BLOB.hash.text


def plex_with(*values: str, name: str = "+Link") -> Plex:
    return Plex.build(group="g", app="a", name="n", tai=Tai.ZERO, extras=[(name, value) for value in values])


@pytest.mark.parametrize(
    ("name", "is_link"),
    [("+Link", True), ("Chunk+Link", True), ("Link", False), ("+link", False), ("+Links", False), ("ChunkLink", False)],
)
def test_which_headers_are_links(name: str, is_link: bool) -> None:
    """REC-62."""
    assert bool(plex_with(f"evidence {TARGET}", name=name).links) is is_link
    assert (parse_link(name, f"evidence {TARGET}") is not None) is is_link


def test_a_link_header_is_an_ordinary_header() -> None:
    """REC-62: sorted and hash-significant."""
    one = Plex.build(group="g", app="a", name="n", tai=Tai.ZERO, extras=[("A", "x"), ("+Link", f"e {TARGET}")])
    assert one.extras == (("+Link", f"e {TARGET}"), ("A", "x"))
    assert one.hash != Plex.build(group="g", app="a", name="n", tai=Tai.ZERO, extras=[("A", "x")]).hash


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (f"evidence {TARGET}", "evidence"),
        (f"0..33554432 {TARGET}", "0..33554432"),
        (f"a b  c {TARGET}", "a b  c"),
        (f"a  {TARGET}", "a "),
        (f"{TARGET} {TARGET}", TARGET),
        (f"B. {TARGET}", "B."),
    ],
)
def test_the_last_space_separates(value: str, data: str) -> None:
    """REC-63, REC-64, REC-67."""
    assert plex_with(value).links == (Link("+Link", data, TARGET),)
    assert plex_with(value).links[0].record_hash == BLOB.hash


@pytest.mark.parametrize(
    "value",
    [
        TARGET,  # REC-63: no link-data
        f"evidence\u00a0{TARGET}",  # REC-64: not an ASCII space
        f"evidence {TARGET} ",
        "evidence V." + TARGET[2:],  # REC-65
        "evidence b." + TARGET[2:],
        "evidence X",
        "evidence B.x",
        "evidence B..H3",
        "evidence B.x.",
        "evidence B.EXAMPLE.H3",  # H3 rules its payload: 43 symbols of B64A
        "evidence " + TARGET.replace("Lsh.", "Lsi."),
    ],
)
def test_a_malformed_link_is_an_ordinary_header(value: str) -> None:
    """REC-68, REC-69: the record stays valid, and no link is seen."""
    plex = plex_with(value, f"good {TARGET}")
    assert parse_record(plex.encode()) == plex
    assert plex.all("+Link") == (value, f"good {TARGET}")
    assert [link.data for link in plex.links] == ["good"]
    assert parse_link("+Link", value) is None


def test_a_target_of_another_format() -> None:
    """REC-66, REC-70, REC-71: kept as a target, never a record that could be had."""
    (link,) = plex_with("next S.what.ever-it-is.H9").links
    assert link == Link("+Link", "next", "S.what.ever-it-is.H9")
    assert link.record_hash is None
    with pytest.raises(RecordError):
        parse_record(BLOB.encode().replace(b".H3", b".H9", 1))


def test_links_keep_the_order_of_their_headers() -> None:
    """REC-59, REC-62."""
    other = RecordHash("P", bytes(32)).text
    plex = plex_with(f"b {TARGET}", f"a {other}")
    assert [link.data for link in plex.links] == ["b", "a"]
    assert parse_link("Other", f"b {TARGET}") is None
