"""The file of an index run: every byte is checked (docs/formats.md section 4; faults.md rows 7, 14)."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import suppress

import pytest
import zstandard
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from tests.transports.helpers import bundle, location
from transports.errors import BadRun
from transports.index.runfile import decode_run, encode_run, planes
from transports.index.runs import ENTRY, RunBuilder
from transports.layout import RUN_RAW_LIMIT, bundle_name
from vault.records import b64a
from vault.records.hashes import RecordHash


def test_every_truncation_and_change_of_a_run_is_refused_or_is_another_run() -> None:
    # faults.md row 7. A changed run is caught by its digest; here only the form is asked.
    builder = RunBuilder()
    for n in range(6):
        builder.add(RecordHash("P", bytes([n]) * 32), ("lace/data", "lace/log")[n % 2], location(n))
    builder.withdraw(RecordHash("S", bytes(32)), "lace/data")
    data, _ = encode_run(builder.build())
    for position in range(len(data)):
        with pytest.raises(BadRun):
            decode_run(data[:position])
        for bit in range(8):
            changed = data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]
            try:
                run = decode_run(changed)
            except BadRun:
                continue
            assert decode_run(encode_run(run)[0]) == run
    with pytest.raises(BadRun):
        decode_run(data + b"x")
    with pytest.raises(BadRun):
        decode_run(data + zstandard.compress(b"more"))


FORMS = ("lace-run/1", "lace-run/0")  # the one that is written, and the former one, which is read only


@pytest.mark.parametrize("form", FORMS)
@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_are_refused_with_our_own_error(form: str, body: bytes, in_bundle: bool) -> None:
    """CYB-17, faults.md row 7: as a file, as tables, and as what follows an entry behind good tables."""
    start = f"{form}\n".encode()
    entries = start + b"app a\n\n" + bytes(ENTRY.size) + body
    for data in (body, zstandard.compress(body), zstandard.compress(start + body), zstandard.compress(entries)):
        with suppress(BadRun):
            decode_run(data, in_bundle=in_bundle)


BUNDLE = bundle(1)
ROW = f"bundle {BUNDLE.mailbox.key.hex()} {BUNDLE.name} {b64a.encode(BUNDLE.digest)} {BUNDLE.size}\n"
FRAME = "frame 0 8 100 1000\n"
GOOD = ENTRY.pack(ord("P"), ord("+"), 0, 0, 0, 10, bytes(32))


def tables(form: str, text: str, *entries: bytes) -> bytes:
    """Return a run of these tables and entries; in columns, unless the form is the former one."""
    rows = b"".join(entries)
    body = rows if form == FORMS[1] else b"".join(planes(rows, ENTRY.size))
    return zstandard.compress(f"{form}\n{text}\n".encode() + body)


@pytest.mark.parametrize("form", FORMS)
def test_the_smallest_run_is_accepted(form: str) -> None:
    other = ENTRY.pack(ord("S"), ord("+"), 0, 0, 10, 10, bytes(32))
    run = decode_run(tables(form, "app a\n" + ROW + FRAME, GOOD, other))
    assert run.entries == GOOD + other
    assert decode_run(encode_run(run)[0]) == run


@pytest.mark.parametrize("form", FORMS)
def test_a_bundle_of_2_gib_and_a_frame_of_33_mib_are_the_largest(form: str) -> None:
    # faults.md row 8; a byte more is refused below
    row, frame = ROW.replace(" 5000000", f" {2 << 30}"), f"frame 0 {(2 << 30) - 100} 100 {33 << 20}\n"
    assert len(decode_run(tables(form, "app a\n" + row + frame, GOOD))) == 1


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        pytest.param(ROW + "app a\n" + FRAME, GOOD, id="order of tables"),
        pytest.param("app a\napp a\n" + ROW + FRAME, GOOD, id="app twice"),
        pytest.param("app a\n" + ROW + ROW + FRAME, GOOD, id="bundle twice"),
        pytest.param("app /a\n" + ROW + FRAME, GOOD, id="bad app"),
        pytest.param("app a\x01\n" + ROW + FRAME, GOOD, id="control character"),
        pytest.param("app e\u0301\n" + ROW + FRAME, GOOD, id="not NFC"),
        pytest.param("app a\nbundle - - - 0\n" + FRAME, GOOD, id="own row in a mailbox"),
        pytest.param("app a\n" + ROW.upper() + FRAME, GOOD, id="capital letters"),
        pytest.param("app a\n" + ROW.replace(" 5000000", " 05000000") + FRAME, GOOD, id="zero"),
        pytest.param("app a\n" + ROW.replace("b-01", "b-02") + FRAME, GOOD, id="other name"),
        pytest.param("app a\n" + ROW + "frame 1 8 100 1000\n", GOOD, id="no such bundle"),
        pytest.param("app a\n" + ROW + "frame 0 7 100 1000\n", GOOD, id="frame in the magic"),
        pytest.param("app a\n" + ROW + "frame 0 4999999 2 1000\n", GOOD, id="frame past the end"),
        pytest.param("app a\n" + ROW + "frame 0 8 100 34603009\n", GOOD, id="frame too large"),
        pytest.param("app a\n" + ROW.replace(" 5000000", " 2147483649") + FRAME, GOOD, id="bundle too large"),
        pytest.param("app a\n" + ROW + FRAME + FRAME, GOOD, id="frame twice"),
        pytest.param("app a\n" + ROW + "frame 0 8 0 1000\n", GOOD, id="empty frame"),
        pytest.param("app a\n" + ROW + "frame 0 8 ١ 1000\n", GOOD, id="foreign digit"),
        pytest.param("covers head.rec\napp a\n" + ROW + FRAME, GOOD, id="covers no run"),
        pytest.param("app a\n" + ROW + FRAME + "more 1\n", GOOD, id="unknown line"),
        pytest.param("app a\n" + ROW + FRAME, GOOD[:-1], id="half an entry"),
        pytest.param("app a\n" + ROW + FRAME, GOOD[:1], id="a byte of an entry"),
        pytest.param("app a\n" + ROW + FRAME, GOOD + GOOD[:1], id="a byte too much"),
        pytest.param("app a\n" + ROW + FRAME, GOOD + GOOD, id="entry twice"),
        pytest.param("app a\n" + ROW + FRAME, ENTRY.pack(80, 43, 1, 0, 0, 10, bytes(32)), id="no such app"),
        pytest.param("app a\n" + ROW + FRAME, ENTRY.pack(80, 43, 0, 1, 0, 10, bytes(32)), id="no such frame"),
        pytest.param("app a\n" + ROW + FRAME, ENTRY.pack(80, 43, 0, 0, 995, 10, bytes(32)), id="past the frame"),
        pytest.param("app a\n" + ROW + FRAME, ENTRY.pack(80, 43, 0, 0, 0, 0, bytes(32)), id="no length"),
        pytest.param("app a\n" + ROW + FRAME, ENTRY.pack(81, 43, 0, 0, 0, 10, bytes(32)), id="no such kind"),
        pytest.param("app a\n" + ROW + FRAME, ENTRY.pack(80, 44, 0, 0, 0, 10, bytes(32)), id="no such op"),
        pytest.param(
            "app a\n" + ROW + FRAME,
            ENTRY.pack(80, 45, 0, 0, 0, 10, bytes(32)),
            id="placed withdrawal",
        ),
        pytest.param(
            "app a\n" + ROW + FRAME,
            ENTRY.pack(80, 43, 0, 0, 0, 10, b"\x01" + bytes(31)) + GOOD,
            id="not sorted",
        ),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_a_byte_out_of_place_is_refused(form: str, text: str, entries: bytes) -> None:
    """CYB-17, faults.md row 7: in the form that is written as in the former one."""
    with pytest.raises(BadRun):
        decode_run(tables(form, text, entries))


def test_a_large_run_is_in_memory_twice_at_most_while_it_is_read() -> None:
    """A first meeting reads one that lists each file (performance: peak memory)."""
    builder = RunBuilder()
    for number in range(20_000):
        builder.withdraw(RecordHash("P", blake3(b"%d" % number).digest()), "lace/data")
    run = builder.build()
    data, _ = encode_run(run)
    tracemalloc.start()
    try:
        assert decode_run(data) == run
        assert tracemalloc.get_traced_memory()[1] < 2.2 * len(run.entries)
    finally:
        tracemalloc.stop()


def test_bombs_cost_less_than_64_mib() -> None:
    # faults.md row 14: at the limit, above it, with a lying size, and nested
    at_limit = zstandard.compress(bytes(RUN_RAW_LIMIT))
    above = zstandard.compress(bytes(RUN_RAW_LIMIT + 1))
    unstated = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 20))
    rows = "".join(f"frame 0 {offset} 1 1\n" for offset in range(8, 200_000))
    many_rows = [tables(form, "app a\n" + ROW + rows) for form in FORMS]
    # as many bytes of entries as a run may have, and one byte more than whole ones
    room = RUN_RAW_LIMIT - 4096
    many_entries = [tables(form, "app a\n" + ROW + FRAME, bytes(room - room % ENTRY.size + 1)) for form in FORMS]
    nested = zstandard.compress(at_limit)
    for bomb in (at_limit, above, unstated, *many_rows, *many_entries, nested):
        tracemalloc.start()
        with suppress(BadRun) if bomb in many_rows else pytest.raises(BadRun):
            decode_run(bomb)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 64 << 20
    for form in FORMS:
        with pytest.raises(BadRun):
            decode_run(tables(form, "app a\n" + ROW + FRAME, GOOD), limit=10)


def a_bundle(number: int) -> str:
    digest = number.to_bytes(16, "big") + bytes(16)
    return f"bundle {'0' * 64} {bundle_name(digest)} {b64a.encode(digest)} 5000000"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("line", "most", "more"),
    [
        pytest.param("app {:06x}".format, 0x10000, 1_390_000, id="Apps"),
        pytest.param(a_bundle, 0x10000, 96_000, id="bundles"),
        pytest.param("covers r-{:032x}.run".format, 4096, 350_000, id="covered runs"),
    ],
)
def test_a_table_that_is_too_long_is_refused_before_it_takes_memory(
    form: str, line: Callable[[int], str], most: int, more: int
) -> None:
    """CYB-17, faults.md row 14: half a megabyte took 250 MiB, for the limit was asked once all lines were kept."""
    lines = [line(number) + "\n" for number in range(more)]
    bomb = tables(form, "".join(lines))
    tracemalloc.start()
    try:
        with pytest.raises(BadRun, match="too long"):
            decode_run(bomb)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    run = decode_run(tables(form, "".join(lines[:most])))
    assert max(len(run.apps), len(run.bundles), len(run.covers)) == most
    assert decode_run(encode_run(run)[0]) == run
