"""Range answers: exactly what is new, in any order, as often as one likes (CLAY-54..57, CLAY-66, CLAY-67)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.vaults import found, write
from vault.desks.content import data_plex
from vault.desks.edit import apply_changes
from vault.desks.pages import Entry
from vault.desks.ports import Objects
from vault.folder.checked_out import checkout_of
from vault.folder.work import commit, record_commit
from vault.profile import Commit
from vault.records import RecordHash
from vault.revisions.graph import ancestors
from vault.revisions.history import line_head
from vault.revisions.ranges import BadRange, RangeAnswer, range_answer
from vault.vault import Vault

STEPS = 6


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    vault = found(tmp_path_factory.mktemp("line"))
    for number in range(STEPS):
        write(vault, "a.txt", f"{number}\n")
        write(vault, f"d{number % 2}/b.txt", f"{number // 2}\n")
        commit(vault, f"step {number}")
    write(vault, "large.bin", random.Random(1).randbytes(700_000).hex())
    commit(vault, "large")
    return vault


class Reader:
    """What somebody holds of a line who has nothing but the ranges that came, in whatever order they came.

    A range that starts after the head waits for its turn; one that brings nothing new changes nothing.
    """

    def __init__(self) -> None:
        self.numbers: dict[int, RecordHash] = {}
        self.records: set[RecordHash] = set()
        self._waiting: dict[int, RangeAnswer] = {}

    @property
    def head(self) -> int:
        """The newest number without a gap below it."""
        return len(self.numbers)

    def apply(self, answer: RangeAnswer) -> None:
        """Take a range in, and those that waited for it, in the order of their numbers."""
        if answer.start > self.head:
            self._waiting[answer.start] = answer
            return
        self.records |= set(answer.records())
        for number, (_, made) in answer.numbers.items():
            self.numbers.setdefault(number, made)
        while ready := [start for start in self._waiting if start <= self.head]:
            self.apply(self._waiting.pop(min(ready)))


def _answer(line: Vault, start: int, end: int):  # type: ignore[no-untyped-def]
    return range_answer(line.store, line.node.text, "main", start, end)


def _all_objects(line: Vault) -> set[str]:
    rows = line.store.rows(
        "SELECT b.digest FROM rec r JOIN body b USING (p) JOIN sym s ON s.id = r.app"
        " WHERE s.s IN ('lace/data', 'lace/tree')"
    )
    return {bytes(row[0]).hex() for row in rows}


def test_the_whole_history_and_nothing_else(line: Vault) -> None:
    """CLAY-54, CLAY-57: with no start, every number, commit, tree and content of the line."""
    whole = _answer(line, 0, 99)
    head = line_head(line.store, line.node.text, "main")
    assert head is not None
    assert (whole.start, whole.end, sorted(whole.numbers)) == (0, STEPS + 1, list(range(1, STEPS + 2)))
    assert {commit.text for commit in whole.commits} == ancestors(line.store, head.commit)
    assert {record.digest.hex() for record in whole.objects} == _all_objects(line)
    assert len(set(whole.records())) == len(list(whole.records()))


@given(a=st.integers(0, STEPS + 1), b=st.integers(0, STEPS + 3))
@settings(deadline=None)
def test_only_what_is_not_reachable_from_the_start(line: Vault, a: int, b: int) -> None:
    """CLAY-55, CLAY-56: two ranges meet without overlap, and give the line when applied one after the other."""
    if b < a:
        with pytest.raises(BadRange):
            _answer(line, a, b)
        return
    first, second = _answer(line, 0, a), _answer(line, a, b)
    assert not set(first.records()) & set(second.records())
    copy, direct = Reader(), Reader()
    for answer in (first, second, second, first):
        copy.apply(answer)
    direct.apply(_answer(line, 0, b))
    assert (copy.numbers, copy.records) == (direct.numbers, direct.records)
    assert second.end == min(b, STEPS + 1)


@given(st.permutations(range(STEPS + 1)))
@settings(deadline=None)
def test_updates_out_of_order_wait_for_their_turn(line: Vault, order: list[int]) -> None:
    """CLAY-66, CLAY-67: whatever the order, the copy has no gap at any time and equals the line at the end."""
    copy = Reader()
    for start in order:
        copy.apply(_answer(line, start, start + 1))
        assert sorted(copy.numbers) == list(range(1, copy.head + 1))
    whole = Reader()
    whole.apply(_answer(line, 0, STEPS + 1))
    assert (copy.numbers, copy.records) == (whole.numbers, whole.records)


def test_a_small_change_of_a_large_file_gives_a_small_range(line: Vault) -> None:
    """CLAY-55: bytes follow the difference, within files too."""
    before = (line.folder / "large.bin").read_text()
    write(line, "large.bin", before[:600_000] + "changed" + before[600_000:])
    commit(line, "a few bytes")
    answer = _answer(line, STEPS + 1, STEPS + 2)
    size = sum(len(line.store.stored(record) or b"") for record in answer.objects)
    assert 0 < size < len(before) / 4


def test_what_a_merge_brings_is_in_its_range(tmp_path: Path) -> None:
    """CLAY-54, CLAY-55: a commit of somebody else, which has no number in the line, with what it is made of."""
    vault = found(tmp_path)
    write(vault, "a.txt", "mine\n")
    commit(vault, "mine")
    base = checkout_of(vault, "main")
    assert base is not None
    with vault.writing() as w:
        content = data_plex(vault.group, b"theirs\n")
        w.add(content)
        entry = Entry("f", "-", len(b"theirs\n"), content.hash, "b.txt")
        tree = apply_changes(Objects(w, w, vault.group), base.tree, {"b.txt": entry})
        said: dict[str, Any] = {"parents": (base.commit,), "tree": tree, "message": "theirs", "tai": w.tai()}
        foreign = w.seal(Commit.to_plex(group=vault.group, desk="main", **said)).hash
        made, number = record_commit(w, vault, "main", base.tree, [base.commit, foreign], "merge")
    answer = _answer(vault, 1, number)
    assert answer.commits == (foreign, made)
    assert answer.objects == (content.hash, tree)
