"""Record links as the store and the profile read them (REC-62..71)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vault.records.examples import BLOB
from tests.vault.rules.stores import KEYS, add, open_store
from vault.profile import ProfileError
from vault.profile.fields import links
from vault.records import Plex, RecordError, RecordHash, Seal, Tai, parse_record
from vault.records.links import Link, parse_link

TARGET = BLOB.hash.text
ASKED = "SELECT n.s, l.idx, d.s, l.t FROM link l JOIN sym n ON n.id = l.name JOIN sym d ON d.id = l.data ORDER BY idx"


def plex_with(*values: str, name: str = "+Link") -> Plex:
    return Plex.build(group="g", app="a", name="n", tai=Tai.ZERO, extras=[(name, value) for value in values])


def indexed(folder: Path, plex: Plex) -> list[tuple[object, ...]]:
    """Store the record, sealed, and return what the store says of its links: header, number, data and target."""
    with open_store(folder) as store:
        add(store, [Seal.sign(plex, KEYS[0])])
        return [tuple(row) for row in store.rows(ASKED)]


@pytest.mark.parametrize(
    ("name", "is_link"),
    [("+Link", True), ("Chunk+Link", True), ("Link", False), ("+link", False), ("+Links", False), ("ChunkLink", False)],
)
def test_which_headers_are_links(tmp_path: Path, name: str, is_link: bool) -> None:
    """REC-62."""
    assert bool(indexed(tmp_path, plex_with(f"evidence {TARGET}", name=name))) is is_link


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
def test_the_last_space_separates(tmp_path: Path, value: str, data: str) -> None:
    """REC-63, REC-64, REC-67."""
    assert parse_link(value) == Link(data, TARGET, BLOB.hash)
    assert indexed(tmp_path, plex_with(value)) == [("+Link", 0, data, TARGET)]
    assert links(plex_with(value), (data, BLOB.hash.kind)) == [[BLOB.hash]]


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
def test_a_malformed_link_is_an_ordinary_header(tmp_path: Path, value: str) -> None:
    """REC-68, REC-69: the record stays valid, and no link is seen; a kind of record that links so refuses it."""
    plex = plex_with(value, f"good {TARGET}")
    assert parse_record(plex.encode()) == plex
    assert plex.all("+Link") == (value, f"good {TARGET}")
    assert indexed(tmp_path, plex) == [("+Link", 0, "good", TARGET)]
    with pytest.raises((ProfileError, RecordError)):
        links(plex, ("evidence", BLOB.hash.kind), ("good", BLOB.hash.kind))


def test_a_target_of_another_format(tmp_path: Path) -> None:
    """REC-66, REC-70, REC-71: kept as a target, never a record that could be had."""
    value = "next S.what.ever-it-is.H9"
    assert parse_link(value) == Link("next", "S.what.ever-it-is.H9", None)
    assert indexed(tmp_path, plex_with(value)) == [("+Link", 0, "next", "S.what.ever-it-is.H9")]
    with pytest.raises(RecordError):
        parse_record(BLOB.encode().replace(b".H3", b".H9", 1))


def test_links_keep_the_order_of_their_headers(tmp_path: Path) -> None:
    """REC-59, REC-62."""
    other = RecordHash("P", bytes(32)).text
    found = indexed(tmp_path, plex_with(f"b {TARGET}", f"a {other}"))
    assert [data for _, _, data, _ in found] == ["b", "a"]
