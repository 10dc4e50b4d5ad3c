"""The trailer-hash form (REC-75..81, H-6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.records.examples import BLOB, COORDINATE, PATH675, PLEX, SEAL, TAI
from tests.vault.records.strategies import data, records
from vault.records import Blob, Plex, Record, RecordError, Seal, Tai, from_trailer, to_trailer
from vault.records import errors as e
from vault.records.trailer import escape, unescape

OPEN_B = "⋯🖧: B\n".encode()
CLOSE_B = f"\n⋯🖧: {BLOB.hash}\n".encode()
GOOD = OPEN_B + BLOB.data + CLOSE_B


def trailer(raw: str) -> bytes:
    return raw.encode()


def test_the_forms_byte_for_byte() -> None:
    """REC-75, REC-76, REC-80."""
    assert to_trailer(BLOB) == GOOD
    assert to_trailer(Blob(b"")) == OPEN_B + f"\n⋯🖧: {Blob(b'').hash}\n".encode()
    headers = f"{COORDINATE}{TAI}Content-Type: text/plain\n\n"
    opened = "⋯🖧: P //eu/lab//chat//room-7/123\n"
    assert to_trailer(PLEX) == f"{opened}{headers}hello room7\n⋯🖧: {PLEX.hash}\n".encode()
    signed = SEAL.payload.partition("🖧".encode())[0].decode()
    opened = opened.replace("P", "S", 1)
    assert to_trailer(SEAL) == f"{opened}{signed}{headers}hello room7\n⋯🖧: {SEAL.hash}\n".encode()


@given(records)
def test_round_trip(record: Record) -> None:
    """REC-81: marklines and lengths are restored, and everything is verified."""
    form = to_trailer(record)
    assert from_trailer(form) == record
    assert form.count("\n⋯🖧:".encode()) == 1  # REC-77, REC-79: only the close marker


@given(data)
def test_escaping_is_injective(raw: bytes) -> None:
    """REC-78, REC-80, H-6: also where the data hold escaped markers themselves."""
    escaped = escape(raw)
    assert unescape(escaped) == raw
    assert "\n⋯🖧:".encode() not in b"\n" + escaped


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("⋯🖧: x", "⋯⋯🖧: x"),
        ("a\n⋯🖧:", "a\n⋯⋯🖧:"),
        ("⋯⋯🖧:\n⋯⋯⋯🖧:", "⋯⋯⋯🖧:\n⋯⋯⋯⋯🖧:"),
        ("a⋯🖧:\n🖧: b\n⋯ 🖧:", "a⋯🖧:\n🖧: b\n⋯ 🖧:"),
        ("\r⋯🖧:", "\r⋯🖧:"),
    ],
)
def test_which_lines_are_escaped(raw: str, escaped: str) -> None:
    """REC-78, H-6."""
    assert escape(raw.encode()) == escaped.encode()
    assert unescape(escaped.encode()) == raw.encode()


def test_the_last_line_feed_is_not_data() -> None:
    """REC-79, REC-80."""
    for raw in (b"", b"\n", b"\n\n", b"a\n"):
        assert from_trailer(to_trailer(Blob(raw))) == Blob(raw)


def test_the_coordinate_is_optional_and_must_agree() -> None:
    """REC-75."""
    form = to_trailer(SEAL)
    bare = form.replace(b" //eu/lab//chat//room-7/123", b"", 1)
    assert from_trailer(bare) == SEAL
    with pytest.raises(e.TrailerCoordinateError):
        from_trailer(form.replace(b"//eu/lab//chat", b"//eu/lab//chap", 1))
    with pytest.raises(e.TrailerCoordinateError):
        from_trailer(GOOD.replace(b"B\n", b"B //eu//a//n\n", 1))


def test_a_coordinate_too_long_for_the_line_is_left_out() -> None:
    """REC-75, REC-22."""
    plex = Plex.build(group=PATH675, app="a", name=PATH675, tai=Tai.ZERO)
    form = to_trailer(plex)
    assert form.startswith(trailer("⋯🖧: P\nGroup: "))
    assert from_trailer(form) == plex


@pytest.mark.parametrize(
    ("form", "error"),
    [
        (b"", e.TrailerMarkerError),
        (BLOB.encode(), e.TrailerMarkerError),
        (GOOD.replace(b": B\n", b":B\n"), e.TrailerMarkerError),
        (GOOD.replace(b": B\n", b": B \n"), e.TrailerMarkerError),
        (GOOD.replace(b": B\n", b": X\n"), e.TrailerTypeError),  # REC-76
        (GOOD.replace(b": B\n", b": b\n"), e.TrailerTypeError),
        (GOOD.replace(b": B\n", b": \n"), e.TrailerTypeError),
        (GOOD.replace(b": B\n", b": B\r\n"), e.CarriageReturnError),
        (OPEN_B + OPEN_B + BLOB.data + CLOSE_B, e.TrailerNestedError),  # REC-77
        (OPEN_B + b"x\n" + OPEN_B + BLOB.data + CLOSE_B, e.TrailerNestedError),
        (OPEN_B + b"x\n" + trailer("⋯🖧: P //a//b//c\n") + CLOSE_B, e.TrailerNestedError),
        (to_trailer(PLEX).replace(b"TAI", OPEN_B + b"TAI"), e.TrailerNestedError),
        (to_trailer(PLEX).replace(b"Group", OPEN_B + b"Group"), e.TrailerNestedError),
        (OPEN_B + CLOSE_B[1:], e.TrailerMarkerError),  # REC-80: no separator
        (OPEN_B + BLOB.data, e.TrailerUnclosedError),  # REC-79
        (trailer("⋯🖧: B"), e.TrailerUnclosedError),
        (trailer("⋯🖧: P\nGroup: g\n"), e.TrailerUnclosedError),
        (GOOD[:-1], e.TrailerUnclosedError),
        (OPEN_B + b"x\n" + trailer("⋯🖧: B"), e.TrailerUnclosedError),
        (OPEN_B + b"x\n" + trailer("⋯🖧:\n"), e.TrailerMarkerError),
        (OPEN_B + b"x\n" + trailer("⋯🖧: nonsense\n"), e.HashTextError),
        (GOOD + b"x", e.TrailingBytesError),
        (GOOD + GOOD, e.TrailingBytesError),
        (OPEN_B + b"other" + CLOSE_B, e.DigestMismatchError),  # REC-81
        (trailer("⋯🖧: P\nGroup: g\n\n") + BLOB.data + CLOSE_B, e.TrailerTypeError),
        (to_trailer(PLEX).replace(b"Group: eu", b"Group: /eu"), e.TrailerCoordinateError),
        (to_trailer(PLEX).replace(b"TAI: 1", b"TAI: "), e.TaiError),
        (to_trailer(Seal(SEAL.signer, bytes(64), PLEX)), e.SignatureInvalidError),  # REC-81
        (trailer("⋯🖧: B") + b"x" * 2000, e.HeaderTooLongError),
    ],
)
def test_what_is_refused(form: bytes, error: type[RecordError]) -> None:
    """REC-75..81."""
    with pytest.raises(RecordError) as caught:
        from_trailer(form)
    if error is e.TrailerCoordinateError:
        # The broken Group is found before the coordinate is compared.
        assert type(caught.value) is e.GroupSlashError
    else:
        assert type(caught.value) is error


def test_headers_cannot_smuggle_an_embedded_record() -> None:
    """REC-77, REC-81: inner marklines are restored, never taken from the form."""
    form = to_trailer(PLEX).replace(b"plain\n", b"plain\n" + BLOB.hash.markline + b"Data-Length: 11\n")
    with pytest.raises(RecordError):
        from_trailer(form)


@given(st.lists(st.sampled_from([OPEN_B, CLOSE_B, b"x", b"\n", GOOD, to_trailer(PLEX)[:60]]), max_size=6))
def test_arbitrary_forms(pieces: list[bytes]) -> None:
    """REC-81: only RecordError leaves."""
    form = b"".join(pieces)
    try:
        record = from_trailer(form)
    except RecordError:
        return
    assert to_trailer(record) == form


@given(st.binary(max_size=200))
def test_arbitrary_bytes(raw: bytes) -> None:
    """REC-81: only RecordError leaves."""
    for form in (raw, OPEN_B + raw, trailer("⋯🖧: S\n") + raw):
        with pytest.raises(RecordError):
            from_trailer(form)
