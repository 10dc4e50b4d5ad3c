from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import EnvironmentFault
from vault.files import DiskFull
from vault.identity import markfile
from vault.identity.mark import (
    MARK_TABLE,
    MarkDamaged,
    MarkMissing,
    MarkState,
    MarkVerdict,
    OtherMachine,
    OtherNode,
    VaultBehindMark,
    VaultForked,
    VaultPosition,
    check,
    require_writable,
)
from vault.identity.markfile import MarkFile, mark_path
from vault.records import b64a
from vault.records.hashes import Verifier

VAULT = "0123456789abcdef" * 2
HERE = "a" * 32
THERE = "b" * 32
NODE = Verifier(bytes(range(32)))
OTHER = Verifier(bytes(32))


def digest(seq: int, branch: int = 0) -> bytes:
    return bytes([seq, branch]) * 16


def text(value: bytes) -> str:
    return b64a.encode(value)


SETTLED = MarkState(VAULT, HERE, NODE, 5, digest(4), digest(5), 5, digest(5))
PENDING = MarkState(VAULT, HERE, NODE, 6, digest(5), digest(6), 5, digest(5))
EMPTY = MarkState(VAULT, HERE, NODE)
FIRST = MarkState(VAULT, HERE, NODE, 1, None, digest(1), 0, None)


@pytest.fixture
def file(tmp_path: Path) -> MarkFile:
    return MarkFile(mark_path(tmp_path, VAULT), VAULT)


# (mark, number and digest of the vault's newest own entry) -> verdict; APP-13 and the two-phase rule
CELLS = [
    (None, 0, None, MarkVerdict.FRESH),
    (None, 3, digest(3), MarkVerdict.MISSING),
    (EMPTY, 0, None, MarkVerdict.IN_STEP),
    (EMPTY, 2, digest(2), MarkVerdict.AHEAD),
    (FIRST, 0, None, MarkVerdict.REDO),
    (FIRST, 1, digest(1), MarkVerdict.COMPLETE),
    (FIRST, 1, digest(1, 1), MarkVerdict.AHEAD),
    (SETTLED, 0, None, MarkVerdict.BEHIND),
    (SETTLED, 4, digest(4), MarkVerdict.BEHIND),
    (SETTLED, 5, digest(5), MarkVerdict.IN_STEP),
    (SETTLED, 5, digest(5, 1), MarkVerdict.FORKED),
    (SETTLED, 6, digest(6), MarkVerdict.AHEAD),
    (SETTLED, 9, digest(9), MarkVerdict.AHEAD),
    (PENDING, 4, digest(4), MarkVerdict.BEHIND),
    (PENDING, 5, digest(5), MarkVerdict.REDO),
    (PENDING, 5, digest(5, 1), MarkVerdict.FORKED),
    (PENDING, 6, digest(6), MarkVerdict.COMPLETE),
    (PENDING, 6, digest(6, 1), MarkVerdict.AHEAD),
    (PENDING, 9, digest(9), MarkVerdict.AHEAD),
]


@pytest.mark.parametrize(("state", "seq", "newest", "verdict"), CELLS)
def test_each_cell(state: MarkState | None, seq: int, newest: bytes | None, verdict: MarkVerdict) -> None:
    assert check(state, seq, newest, HERE, node=NODE) is verdict


@pytest.mark.parametrize(("state", "seq", "newest"), [(s, n, d) for s, n, d, _ in CELLS if s is not None])
def test_other_machine_and_other_node_come_first(state: MarkState, seq: int, newest: bytes | None) -> None:
    assert check(state, seq, newest, THERE, node=NODE) is MarkVerdict.OTHER_MACHINE
    assert check(state, seq, newest, HERE, node=OTHER) is MarkVerdict.OTHER_NODE
    assert check(state, seq, newest, THERE, node=OTHER) is MarkVerdict.OTHER_NODE


def test_a_fork_further_back_is_seen_when_the_entry_is_known() -> None:
    for state in (SETTLED, PENDING):
        for seq in (6, 9):
            with_other = check(state, seq, digest(seq), HERE, node=NODE, digest_at_done=digest(5, 1))
            with_same = check(state, seq, digest(seq), HERE, node=NODE, digest_at_done=digest(5))
            assert with_other is MarkVerdict.FORKED
            assert with_same in {MarkVerdict.AHEAD, MarkVerdict.COMPLETE}


def test_table_is_complete() -> None:
    reachable = set(itertools.product(VaultPosition, (False, True))) - {(VaultPosition.AT_INTENT, False)}
    assert set(MARK_TABLE) == reachable
    assert set(MARK_TABLE.values()) | {
        MarkVerdict.FRESH,
        MarkVerdict.MISSING,
        MarkVerdict.OTHER_MACHINE,
        MarkVerdict.OTHER_NODE,
    } == set(MarkVerdict)


@pytest.mark.parametrize(
    ("verdict", "error"),
    [
        (MarkVerdict.BEHIND, VaultBehindMark),
        (MarkVerdict.FORKED, VaultForked),
        (MarkVerdict.MISSING, MarkMissing),
        (MarkVerdict.OTHER_MACHINE, OtherMachine),
        (MarkVerdict.OTHER_NODE, OtherNode),
    ],
)
def test_refusals_name_the_way_out(verdict: MarkVerdict, error: type[EnvironmentFault]) -> None:
    assert not verdict.may_write
    with pytest.raises(error) as caught:
        require_writable(verdict, 3, SETTLED)
    assert "lace adopt" in caught.value.hint
    if verdict is not MarkVerdict.FORKED:
        assert "lace sync" in caught.value.hint


def test_every_other_verdict_may_write() -> None:
    refused = {v for v in MarkVerdict if not v.may_write}
    assert len(refused) == 5
    for verdict in set(MarkVerdict) - refused:
        require_writable(verdict, 5, SETTLED)


def test_file_has_exactly_the_written_form(file: MarkFile, tmp_path: Path) -> None:
    """docs/formats.md section 5."""
    file.begin(HERE, NODE)
    path = tmp_path / "marks" / f"{VAULT}.mark"
    head = f"lace-mark/0\nvault {VAULT}\nmachine {HERE}\nnode {NODE.text}\n"
    assert path.read_text() == f"{head}intent 0 - -\ndone 0 -\n"
    file.intent(1, None, digest(1))
    assert path.read_text() == f"{head}intent 1 - {text(digest(1))}\ndone 0 -\n"
    file.done(1, digest(1))
    assert path.read_text() == f"{head}intent 1 - {text(digest(1))}\ndone 1 {text(digest(1))}\n"
    file.intent(2, digest(1), digest(2))
    assert path.read_text() == (f"{head}intent 2 {text(digest(1))} {text(digest(2))}\ndone 1 {text(digest(1))}\n")


@pytest.mark.skipif(os.name == "nt", reason="permission bits are POSIX")
def test_file_is_for_its_owner(file: MarkFile) -> None:
    file.begin(HERE, NODE)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


def test_a_crash_at_each_step_is_recovered(file: MarkFile) -> None:
    """APP-13: walk through one entry and stop after every step."""
    file.begin(HERE, NODE)
    committed: list[bytes] = []

    def verdict() -> MarkVerdict:
        newest = committed[-1] if committed else None
        return check(file.load(), len(committed), newest, HERE, node=NODE)

    for seq in (1, 2, 3):
        prev = committed[-1] if committed else None
        assert verdict() is MarkVerdict.IN_STEP
        file.intent(seq, prev, digest(seq, 1))
        assert verdict() is MarkVerdict.REDO
        file.intent(seq, prev, digest(seq))  # done again: another time, another digest
        assert verdict() is MarkVerdict.REDO
        committed.append(digest(seq))
        assert verdict() is MarkVerdict.COMPLETE
        file.done(seq, digest(seq))
        file.done(seq, digest(seq))
        assert verdict() is MarkVerdict.IN_STEP


def test_restored_backup_fetches_its_entries_and_goes_on(file: MarkFile) -> None:
    file.begin(HERE, NODE, 5, digest(5), digest(4))
    assert check(file.load(), 3, digest(3), HERE, node=NODE) is MarkVerdict.BEHIND
    assert check(file.load(), 5, digest(5), HERE, node=NODE) is MarkVerdict.IN_STEP
    assert check(file.load(), 8, digest(8), HERE, node=NODE) is MarkVerdict.AHEAD
    file.catch_up(8, digest(8), digest(7))
    assert check(file.load(), 8, digest(8), HERE, node=NODE) is MarkVerdict.IN_STEP
    file.intent(9, digest(8), digest(9))


def test_wrong_order_changes_nothing(file: MarkFile) -> None:
    with pytest.raises(RuntimeError):
        file.intent(1, None, digest(1))
    file.begin(HERE, NODE, 2, digest(2), digest(1))
    before = file.path.read_bytes()
    wrong: list[Callable[[], object]] = [
        lambda: file.intent(2, digest(1), digest(9)),
        lambda: file.intent(4, digest(3), digest(4)),
        lambda: file.intent(3, digest(9), digest(3)),
        lambda: file.done(3, digest(3)),
        lambda: file.done(2, digest(9)),
        lambda: file.catch_up(2, digest(9), digest(1)),
        lambda: file.catch_up(1, digest(1)),
    ]
    for step in wrong:
        with pytest.raises(RuntimeError):
            step()
    assert file.path.read_bytes() == before


def test_full_disk_keeps_the_mark(file: MarkFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.begin(HERE, NODE)

    def full(*_args: object, **_more: object) -> None:
        raise DiskFull("There is no room.")

    monkeypatch.setattr(markfile, "write_atomic", full)
    with pytest.raises(DiskFull):
        file.intent(1, None, digest(1))
    assert file.load() == EMPTY


def test_no_file_and_foreign_files(file: MarkFile) -> None:
    assert file.load() is None
    file.begin(HERE, NODE)
    with pytest.raises(MarkDamaged, match="another vault"):
        MarkFile(file.path, "f" * 32).load()
    file.path.write_bytes(b"x" * 2000)
    with pytest.raises(MarkDamaged, match="damaged"):
        file.load()


digests = st.binary(min_size=32, max_size=32)


@st.composite
def states(draw: st.DrawFn) -> MarkState:
    done = draw(st.integers(0, 3) | st.integers(0, 2**63 - 2))
    done_digest = draw(digests) if done else None
    if draw(st.booleans()):
        return MarkState(VAULT, HERE, NODE, done + 1, done_digest, draw(digests), done, done_digest)
    prev = draw(digests) if done > 1 else None
    return MarkState(VAULT, HERE, NODE, done, prev, done_digest, done, done_digest)


@given(states())
def test_round_trip(state: MarkState) -> None:
    assert MarkState.decode(state.encode()) == state


@given(states(), st.data())
def test_changed_bytes_are_refused_or_read_as_written(state: MarkState, data: st.DataObject) -> None:
    raw = bytearray(state.encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        read = MarkState.decode(bytes(raw))
    except MarkDamaged:
        return
    assert read.encode() == bytes(raw)


@pytest.mark.parametrize(
    "fields",
    [
        {"vault": "A" * 32},
        {"machine": "a" * 31},
        {"intent_seq": 7},
        {"intent_seq": 4},
        {"intent_digest": digest(9)},
        {"intent_prev": None},
        {"done_digest": None},
        {"done_digest": b"short"},
        {"done_seq": 0},
        {"intent_seq": 2**63, "done_seq": 2**63},
    ],
)
def test_contradictions_are_refused(fields: dict[str, object]) -> None:
    good = {name: getattr(SETTLED, name) for name in MarkState.__slots__}
    with pytest.raises(MarkDamaged):
        MarkState(**(good | fields))


def test_pending_intent_must_follow_done() -> None:
    with pytest.raises(MarkDamaged):
        MarkState(VAULT, HERE, NODE, 6, digest(9), digest(6), 5, digest(5))
