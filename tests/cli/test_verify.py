"""`lace record verify` judges streams of stored records (REC-82)."""

from __future__ import annotations

from lace_tui.cli.naming import find_verb
from tests.people import Person
from vault.records import Blob

ONE, TWO = Blob(b"hello room7"), Blob(b"xxxxx")


def test_is_a_streaming_verb() -> None:
    verb, count = find_verb(["record", "verify", "x"])
    assert verb is not None
    assert (verb.json, count) == ("lines", 2)


def test_valid_records_from_a_file_and_a_pipe(alice: Person) -> None:
    stream = ONE.encode() + TWO.encode()
    alice.write("two.records", stream)
    from_file = alice.stream("record", "verify", "two.records")
    assert from_file == alice.stream("record", "verify", stdin=stream)
    assert from_file == alice.stream("record", "verify", "-", stdin=stream)
    assert [(row["hash"], row["type"], row["ok"], row["error"]) for row in from_file] == [
        (ONE.hash.text, "B", True, None),
        (TWO.hash.text, "B", True, None),
    ]
    result = alice.run("record", "verify", "two.records")
    assert (result.code, result.err) == (0, "2 records, 0 not valid.\n")


def test_an_invalid_record_is_named_and_the_rest_goes_on(alice: Person) -> None:
    stream = ONE.encode().replace(b"room7", b"room8") + TWO.encode()
    rows = alice.stream("record", "verify", expect=42, stdin=stream)
    assert [row["ok"] for row in rows] == [False, True]
    assert rows[0]["hash"] == ONE.hash.text
    assert set(rows[0]["error"]) == {"code", "message", "hint"}


def test_rubbish_has_no_hash(alice: Person) -> None:
    (row,) = alice.stream("record", "verify", expect=40, stdin=b"\x1b[2J\n\n")
    assert (row["hash"], row["type"], row["ok"]) == (None, None, False)
    assert "\x1b" not in alice.run("record", "verify", stdin=b"\x1b[2J\n\n").text


def test_what_cannot_be_read_is_told(alice: Person) -> None:
    error = alice.lace("record", "verify", "nothing", expect=13)["error"]
    assert error["code"] == "file-missing"
    assert alice.lace("record", "verify", ".", expect=13)["error"]["code"] == "unreadable"


def test_of_no_record_nothing_is_said_to_be_valid(alice: Person) -> None:
    """REC-82: an empty file, as a copy that was cut off leaves it, ended with 0 and counted as looked at."""
    alice.write("empty.records", b"")
    for words, stdin in ((("empty.records",), b""), ((), b"")):
        assert alice.lace("record", "verify", *words, expect=2, stdin=stdin)["error"]["code"] == "no-records"
