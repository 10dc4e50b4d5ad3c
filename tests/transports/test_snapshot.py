"""Snapshot heads (docs/formats.md section 4; H-11, H-12, CYB-18; faults.md rows 18, 20, 21, 23)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transports.helpers import FOUNDING, GROUP, OPERAND, TAI, key, make_head, seal_head
from transports.errors import BadSnapshot, RolledBack, TwoStates
from transports.index.runs import RunRef
from transports.snapshot import BODY_LIMIT, LogReach, SnapshotHead, check_number
from vault.records.hashes import RecordHash, Verifier
from vault.records.model import Plex, Seal
from vault.records.parse import parse_record

DROP = "ab" * 16
DIGEST = bytes(range(32))
digests = st.binary(min_size=32, max_size=32)
vectors = st.lists(
    st.builds(LogReach, digests.map(Verifier), st.integers(1, 2**63 - 1), digests, st.booleans()),
    max_size=6,
    unique_by=lambda entry: entry.node,
).map(lambda entries: tuple(sorted(entries)))
runs = st.lists(
    st.builds(RunRef, digests, st.integers(0, 1000), st.integers(1, 10**6)),
    max_size=5,
    unique_by=lambda ref: ref.digest,
).map(tuple)
heads = st.builds(
    SnapshotHead,
    node=st.just(key(1).verifier),
    number=st.integers(1, 2**63 - 1),
    tai=st.just(TAI),
    drop=st.just(DROP),
    founding=st.just(FOUNDING),
    operand=st.just(OPERAND),
    facet=st.sampled_from(["SelectHave", "SelectAdvertised"]),
    hello=st.lists(st.sampled_from(["HelloTAI('1')", "HelloLimit('a','2')", "HelloText('ä)')"])).map(tuple),
    runs=runs,
    vector=vectors,
    unreleased=st.none() | st.integers(0, 10**9),
)


@settings(deadline=None)
@given(heads)
def test_heads_round_trip(head: SnapshotHead) -> None:
    seal = seal_head(key(1), head)
    assert SnapshotHead.read(seal, GROUP) == head
    parsed = parse_record(seal.encode())
    assert isinstance(parsed, Seal)
    assert SnapshotHead.read(parsed, GROUP) == head


def full_head() -> SnapshotHead:
    return replace(
        make_head(key(1), DROP, 7, [RunRef(DIGEST, 3, 400), RunRef(bytes(32), 1, 200)]),
        unreleased=2,
        vector=(LogReach(Verifier(bytes(32)), 4, DIGEST), LogReach(key(1).verifier, 5, DIGEST, True)),
    )


def sealed(body: bytes, **changes: object) -> Seal:
    head = full_head()
    values: dict[str, object] = {
        "group": GROUP,
        "app": "lace/snapshot",
        "name": key(1).verifier.text,
        "tai": TAI,
        "extras": [("Number", str(head.number))],
        "data": body,
    }
    return Seal.sign(Plex.build(**{**values, **changes}), key(1))  # type: ignore[arg-type]


def test_every_truncation_and_change_of_a_body_is_refused_or_is_another_head() -> None:
    # A member may seal anything; whatever is accepted is written in the one way its content allows.
    body = full_head().body()
    for position in range(len(body)):
        changed = body[:position] + bytes([body[position] ^ 1]) + body[position + 1 :]
        for damaged in (body[:position], changed, body[:position] + body[position + 1 :]):
            try:
                head = SnapshotHead.read(sealed(damaged), GROUP)
            except BadSnapshot:
                continue
            assert head.body() == damaged


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_body_is_refused_with_our_own_error(body: bytes) -> None:
    for data in (body, b"lace-snapshot/0\n" + body, full_head().body() + body):
        try:
            assert SnapshotHead.read(sealed(data), GROUP).body() == data
        except BadSnapshot:
            continue


BODY = full_head().body().decode()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lace-snapshot/0", "lace-snapshot/1"),
        (f"drop {DROP}\n", ""),
        (f"drop {DROP}", f"drop {DROP.upper()}"),
        ("founding S.", "founding P."),
        ("operand R.", "operand E."),
        ("SelectHave", "Select Have"),
        ("hello HelloRecordFormat('H3')", "hello HelloExchangePlan('E.x')"),
        ("hello HelloRecordFormat('H3')", "hello Bye()"),
        ("unreleased 2\n", "unreleased 2\nunreleased 3\n"),
        ("unreleased 2", "unreleased 02"),
        ("unreleased 2", "unreleased -2"),
        (" 3 400\n", " 3\n"),
        (" 3 400\n", " 2000001 400\n"),
        (" 3 400\n", " 3 99999999\n"),
        (" forked", " forget"),
        (" 4 ", " 0 "),
        (" 4 ", f" {2**63} "),
        ("vector ", "vectors "),
    ],
)
def test_a_byte_out_of_place_is_refused(old: str, new: str) -> None:
    assert old in BODY
    with pytest.raises(BadSnapshot):
        SnapshotHead.read(sealed(BODY.replace(old, new).encode()), GROUP)


def test_lines_out_of_order_are_refused() -> None:
    lines = BODY.splitlines(keepends=True)
    for number in range(len(lines) - 1):
        swapped = [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]
        with pytest.raises(BadSnapshot):
            SnapshotHead.read(sealed("".join(swapped).encode()), GROUP)


@pytest.mark.parametrize(
    "changes",
    [
        {"group": "friends/another"},
        {"app": "lace/log"},
        {"name": key(2).verifier.text},
        {"extras": []},
        {"extras": [("Number", "7"), ("Number", "8")]},
        {"extras": [("Number", "07")]},
        {"extras": [("Number", "0")]},
        {"extras": [("Number", str(2**63))]},
        {"data": bytes(BODY_LIMIT + 1)},
    ],
)
def test_a_head_of_another_place_or_shape_is_refused(changes: dict[str, object]) -> None:
    # faults.md rows 21 and 23
    assert SnapshotHead.read(sealed(BODY.encode()), GROUP) == full_head()
    with pytest.raises(BadSnapshot):
        SnapshotHead.read(sealed(BODY.encode(), **changes), GROUP)


def test_the_size_limits_hold() -> None:
    head = full_head()
    with pytest.raises(BadSnapshot):
        replace(head, hello=tuple(f"HelloText('{number:080}')" for number in range(40)))
    with pytest.raises(BadSnapshot):
        replace(head, runs=tuple(RunRef(bytes([n]) * 32, 1, 100) for n in range(60)))
    many = [LogReach(Verifier(n.to_bytes(32, "big")), 1, DIGEST) for n in range(11_000)]
    with pytest.raises(BadSnapshot):
        replace(head, vector=tuple(many))
    assert len(replace(head, vector=tuple(many[:9000])).vector) == 9000


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 0},
        {"unreleased": -1},
        {"founding": RecordHash("P", bytes(32))},
        {"drop": "xyz"},
        {"operand": "R.x"},
        {"operand": "R." + "0" * 42 + "1"},
        {"facet": ""},
        {"hello": ("HelloTAI('1')\nrun",)},
        {"runs": (RunRef(DIGEST, 1, 1), RunRef(DIGEST, 1, 1))},
        {"vector": (LogReach(key(1).verifier, 0, DIGEST),)},
        {"vector": (LogReach(key(1).verifier, 1, b""),)},
        {"vector": (LogReach(key(1).verifier, 1, DIGEST),) * 2},
    ],
)
def test_an_invalid_head_cannot_be_made(changes: dict[str, object]) -> None:
    with pytest.raises(BadSnapshot):
        replace(full_head(), **changes)  # type: ignore[arg-type]


def test_the_number_reveals_a_rollback() -> None:
    # CYB-18; faults.md row 18
    one, two = RecordHash("S", bytes(32)), RecordHash("S", DIGEST)
    assert check_number(None, (1, one))
    assert check_number((1, one), (2, two))
    assert not check_number((2, two), (2, two))
    with pytest.raises(RolledBack, match="number 1 after 2") as caught:
        check_number((2, two), (1, one))
    assert type(caught.value) is RolledBack
    with pytest.raises(TwoStates, match="Two different snapshot heads carry the number 2"):  # row 20: no rollback
        check_number((2, two), (2, one))


@pytest.mark.parametrize("number", [1, 2, 1_000_000])
def test_an_entry_of_a_vector_reads_as_it_was_written(number: int) -> None:
    """CYB-18: the same line stands in a head and in what a file needs."""
    reach = LogReach(key(1).verifier, number, bytes(32))
    assert LogReach.parse(reach.text) == reach
    forked = reach._replace(is_forked=True)
    assert LogReach.parse(forked.text) == forked


@pytest.mark.parametrize(
    ("old", "new"),
    [(" 12 ", " 012 "), (" 12 ", " 1_2 "), (" 12 ", " "), ("V.", "V.\x1b"), (" 12 ", "  12 ")],
)
def test_a_line_that_is_no_entry_of_a_vector_is_refused(old: str, new: str) -> None:
    """CYB-18: what a file said that it needs was read with a number of any form, junk behind it, and any name."""
    text = LogReach(key(1).verifier, 12, bytes(32)).text
    assert old in text
    with pytest.raises(BadSnapshot):
        LogReach.parse(text.replace(old, new, 1))
    with pytest.raises(BadSnapshot):
        LogReach.parse(f"{text} junk")
