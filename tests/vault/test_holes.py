"""Holes: what is known of them in memory is what stands in the table, whoever writes and whatever is taken back."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from lazy.receiving.receive import Receiver
from tests.vault.vaults import befriend, found, write
from vault.records import RecordHash
from vault.releasing import release
from vault.store import holes
from vault.store.store import Store


def _names(count: int) -> list[RecordHash]:
    return [RecordHash("P", bytes([number] * 32)) for number in range(count)]


def _in_table(store: Store) -> list[tuple[str, int]]:
    return [(str(want), int(content)) for want, content in store.rows("SELECT want, content FROM hole ORDER BY 1, 2")]


class _Undone(Exception):
    pass


def _undo(is_wanted: bool) -> None:
    if is_wanted:
        raise _Undone


@pytest.mark.parametrize("most", [0, 6, 1000])
def test_what_is_known_is_what_stands_in_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """After any writes of this connection and of another one, some of them taken back."""
    monkeypatch.setattr(holes, "MOST_KNOWN", most)
    draw, names = Random(most), _names(12)
    with Store(tmp_path / "store.db", create=True) as one, Store(tmp_path / "store.db") as two:
        for _ in range(60):
            store = draw.choice((one, one, two))
            before, some = _in_table(store), draw.sample(names, 4)
            try:
                with store.transaction():
                    if draw.random() < 0.6:
                        store.holes.add([(name, draw.random() < 0.5) for name in some])
                    else:
                        filled = {(name.text, int(content)) for name, content in store.holes.fill(some)}
                        assert filled == {row for row in before if row[0] in {name.text for name in some}}
                    _undo(draw.random() < 0.2)
            except _Undone:
                assert _in_table(store) == before
            missing = {RecordHash.parse(want) for want, _ in _in_table(one)}
            for each in (one, two):
                assert each.holes.among(names) == missing
                assert each.holes.any() == bool(missing)
                few = each.holes.all_up_to(3)
                assert few is None if len(missing) > 3 else few is not None and {*few} == missing
            if draw.random() < 0.3:
                assert {*one.holes.all()} == missing


def test_content_of_a_first_meeting_is_asked_for_in_no_table_by_its_name(tmp_path: Path) -> None:
    """What its trees made missing a moment ago is known, and nothing was let go here."""
    alice = found(tmp_path)
    bob = befriend(tmp_path, alice, "bob")
    for number in range(40):
        write(alice, f"{number}.txt", f"{number}\n")
    release(alice, None, "All")
    rows = alice.store.rows("SELECT kind, digest, stored(p, bytes) FROM body ORDER BY p")
    records = [(RecordHash(str(kind), bytes(digest)), bytes(stored)) for kind, digest, stored in rows]
    asked: list[str] = []
    receiver = Receiver(bob, "stick")
    receiver.take([pair for pair in records if pair[0].kind == "S"])
    bob.store.db.set_trace_callback(lambda text: asked.append(text) if " IN (" in text else None)
    while wanted := receiver.holes.all():
        receiver.take([pair for pair in records if pair[0] in wanted])
    bob.store.db.set_trace_callback(None)
    assert bob.store.rows("SELECT count(*) FROM hole") == [(0,)]
    assert not [text for text in asked if "FROM hole" in text or "FROM tomb" in text]
    alice.close()
    bob.close()


@pytest.mark.parametrize("left", [0, 3], ids=["none", "few"])
def test_the_last_holes_are_filled_in_one_statement(tmp_path: Path, left: int) -> None:
    """What a first meeting made missing goes at once with the last of its content; the few that are left are written.

    Each statement for one row of a thousand costs as much as to write one.
    """
    names = _names(40)
    with Store(tmp_path / "store.db", create=True) as store:
        with store.transaction():
            assert not store.holes.any()  # known from here on
            store.holes.add([(name, True) for name in names])
        said: list[str] = []
        store.db.set_trace_callback(said.append)
        with store.transaction():
            assert len(store.holes.fill(names[left:])) == len(names) - left
        store.db.set_trace_callback(None)
        assert sum("DELETE FROM hole" in line for line in said) == 1
        assert _in_table(store) == sorted((name.text, 1) for name in names[:left])
