"""What the other side has already is not sent over the line once more, wherever it has it from (LAZ-10)."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.folder.update import update
from lazy.live.cursors import ExposureCursor, mark_at, note_cursors
from lazy.places.adding import add_place
from lazy.results import Planned
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault import vaults
from tests.vault.vaults import around, gathered, write
from vault.notes.own import EPOCH
from vault.releasing import release
from vault.surroundings import Surroundings
from vault.vault import Vault

ROAD = "beside"
_BYTES = 1_000_000


@pytest.fixture
def pair(shelf: Shelf) -> tuple[Vault, Vault]:
    """Alice, and bob, who visits her vault beside his own, may write there, and has all of it."""
    alice, bob = shelf.lay(_at_one_machine)
    return alice, bob


def _at_one_machine(root: Path) -> tuple[Vault, ...]:
    def here(root: Path, name: str) -> Surroundings:
        return replace(around(root, name), data_root=root / "home", machine="0" * 32)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vaults, "around", here)
        alice, bob = gathered(root, "bob")
    add_place(bob, ROAD, str(alice.folder), cwd=root)
    sync(bob, [ROAD])
    return alice, bob


def much(vault: Vault, number: int = 0) -> None:
    """Release content that does not become shorter: a few records, and all of them large."""
    (vault.folder / f"much{number}.bin").write_bytes(random.Random(number).randbytes(_BYTES))
    release(vault)


def test_what_was_pulled_does_not_go_back(pair: tuple[Vault, Vault]) -> None:
    """Nor is it planned; what I released meanwhile goes, and nothing else."""
    alice, bob = pair
    much(alice)
    (pulled,) = sync(bob, [ROAD], push=False)
    assert pulled.traffic.bytes_read > _BYTES
    (planned,) = sync(bob, [ROAD], dry_run=True)
    assert (planned.sent, planned.planned) == (0, Planned())
    update(bob)
    write(bob, "b.txt", "mine\n")
    release(bob)
    (result,) = sync(bob, [ROAD])
    assert 0 < result.sent < 10
    assert result.traffic.bytes_written + result.traffic.bytes_read < _BYTES // 50
    (again,) = sync(bob, [ROAD])
    assert (again.sent, len(again.came.received), again.traffic.round_trips) == (0, 0, 1)


@pytest.mark.parametrize("is_amid", [False, True])
def test_what_was_pushed_does_not_come_back(pair: tuple[Vault, Vault], is_amid: bool) -> None:
    """Also where the place in the log there is amid what was pushed, as after a second cut."""
    alice, bob = pair
    much(bob)
    (pushed,) = sync(bob, [ROAD], pull=False)
    assert pushed.traffic.bytes_written > _BYTES
    if is_amid:
        (at,) = alice.store.rows("SELECT max(e.at) FROM exposure e JOIN log USING (p)")[0]
        with bob.writing() as w:
            note_cursors(w, alice.node, mine=ExposureCursor(alice.store.note(EPOCH), int(at), mark_at(alice, int(at))))
    (result,) = sync(bob, [ROAD])
    assert result.traffic.bytes_written + result.traffic.bytes_read < _BYTES // 50
    (again,) = sync(bob, [ROAD])
    assert (again.sent, len(again.came.received), again.traffic.round_trips) == (0, 0, 1)


def test_what_came_by_a_stick_does_not_come_again(pair: tuple[Vault, Vault]) -> None:
    """What is new on top of it comes, in one turn more."""
    alice, bob = pair
    much(alice)
    for vault in (alice, bob):
        sync(vault, ["stick"])
    write(alice, "a.txt", "two\n")
    release(alice)
    (result,) = sync(bob, [ROAD])
    assert 0 < len(result.came.received) < 10
    assert result.traffic.bytes_written + result.traffic.bytes_read < _BYTES // 50
    assert bob.store.exposed() == alice.store.exposed()


def test_what_is_new_comes_at_once(pair: tuple[Vault, Vault]) -> None:
    """Nothing is compared where no entry of a log says that some of it is there already."""
    alice, bob = pair
    much(alice)
    (result,) = sync(bob, [ROAD])
    assert result.traffic.round_trips == 2  # the second says that it came
    update(bob)
    much(bob, 1)
    (result,) = sync(bob, [ROAD])
    assert (len(result.came.received), result.traffic.round_trips) == (0, 2)


def test_a_pull_does_not_count_what_was_shared_since_the_last_push(pair: tuple[Vault, Vault]) -> None:
    """LAZ-10: whoever only pulls from a place had all records counted that became shared since, at each visit."""
    _, bob = pair
    for number in range(400):
        write(bob, f"many/{number}.txt", f"{number}\n")
    release(bob)
    sync(bob, [ROAD], push=False)
    asked = [0]

    def count() -> int:
        asked[0] += 1
        return 0

    def steps() -> int:
        asked[0] = 0
        bob.store.db.set_progress_handler(count, 100)
        sync(bob, [ROAD], push=False)
        bob.store.db.set_progress_handler(None, 0)
        return asked[0]

    before = steps()
    rows = "WITH RECURSIVE n(p) AS (SELECT max(p) + 1 FROM exposure UNION ALL SELECT p + 1 FROM n LIMIT 20000)"
    bob.store.db.execute(f"{rows} INSERT INTO exposure(p) SELECT p FROM n")
    assert steps() < before + 100, "to count them takes a thousand"
