"""The walk of the closure: what it reaches, in which order, and that it ends, on graphs that no honest log makes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lazy.sync import sync
from tests.vault.profiles import seal_hash
from tests.vault.vaults import found, gathered, write
from vault.records import RecordHash
from vault.releasing import release
from vault.store.closure import Closure, Found, Walked
from vault.store.sharing import Sharing
from vault.store.store import Store

ROOT = Path(__file__).parents[2]
Graph = dict[RecordHash, list[RecordHash]]

# A release's lineage of which much did not come: some of a thousand that its merge names. Prints what is told of it.
_TELLS = """
import sys
from pathlib import Path
from blake3 import blake3
from vault.records import RecordHash
from vault.store.closure import Closure
from vault.store.store import Store
names = [RecordHash("S", blake3(b"%d" % n).digest()) for n in range(2001)]
links = {0: range(1, 1001), **{n: [n + 1000] for n in range(1, 1001)}, **{n: [] for n in range(1001, 2001) if n % 7}}
here = {names[n]: (n + 1, "lace/commit", [("parent", names[m].text) for m in more]) for n, more in links.items()}
with Store(Path(sys.argv[1]), create=True) as store:
    print(Closure(store.db, here).lacking(names[0]))
"""


def at_hand(graph: Graph) -> dict[RecordHash, Found]:
    """Return commits that name each other as parents: their hashes are made up, so that they may lead in a circle."""
    return {
        record: (number, "lace/commit", [("parent", parent.text) for parent in parents])
        for number, (record, parents) in enumerate(graph.items(), 1)
    }


def reached(graph: Graph, root: RecordHash) -> set[RecordHash]:
    """Return what a root reaches, itself included, here or not."""
    found = {root}
    waiting = [root]
    while waiting:
        for parent in graph.get(waiting.pop(), ()):
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found


def some_graph(chance: random.Random, size: int) -> Graph:
    """Return records that name each other at random, in circles too, and some that are not here."""
    names = [seal_hash(number) for number in range(size)]
    lost = chance.choice([0, 0, 0.1])
    here = [name for name in names if chance.random() >= lost] or names[:1]
    return {name: chance.choices(names, k=chance.choice([0, 1, 1, 2, 3, 40])) for name in here}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.db", create=True) as store:
        yield store


@pytest.mark.parametrize("seed", range(20))
def test_a_walk_ends_and_names_what_is_not_here(store: Store, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """CLO-31, CLO-36, CLO-37, DWN-80: whatever leads back to where one was is met once; nothing missing is passed over.

    No record can name itself, as its name is a digest of what it says: only who made up its hash makes a circle.
    """
    chance = random.Random(seed)
    graph = some_graph(chance, chance.choice([3, 20, 1500]))
    root = chance.choice(list(graph))
    wanted = reached(graph, root)
    met: list[tuple[RecordHash, bool]] = []
    children = Closure.children

    def looked_into(record: RecordHash, of: Found, *, content: bool) -> list[tuple[RecordHash, bool]]:
        met.append((record, content))
        return children(record, of, content=content)

    monkeypatch.setattr(Closure, "children", staticmethod(looked_into))
    sharing = Sharing(store.db, at_hand(graph))
    lacking = sharing.lacking(root)
    assert (lacking is None) == (wanted <= graph.keys())
    assert lacking is None or lacking in wanted - graph.keys()
    assert len(met) == len(set(met)), "a record that two name was looked into twice"
    met.clear()
    sharing.extend([root], [])
    assert len(met) == len(set(met))
    assert set(sharing.holes()) == wanted - graph.keys()
    numbers = {number for number, record in enumerate(graph, 1) if record in wanted}
    assert {int(row[0]) for row in store.rows("SELECT p FROM shared")} == numbers


def test_what_is_told_first_is_the_same_in_every_process(tmp_path: Path) -> None:
    """CLO-31, CLO-35: `lace links` named another of the missing records at each call, in the order of their hashing."""
    told = {
        subprocess.run(
            [sys.executable, "-c", _TELLS, str(tmp_path / seed)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def walked(path: Path, count: int) -> int:
    """Return how many statements it takes to find that all of so many releases of one line is here."""
    path.mkdir()
    with found(path) as alice:
        for folder in range(20):
            write(alice, f"{folder}/same.txt", f"{folder}\n")
        for number in range(count):
            write(alice, "a.txt", f"{number}\n")
            release(alice, None, f"Number {number}")
        records = [RecordHash.parse(str(row[0])) for row in alice.store.rows("SELECT hash FROM release ORDER BY p")]
        closure, known = Closure(alice.store.db), Walked()
        seen: list[str] = []
        alice.store.db.set_trace_callback(seen.append)
        assert [closure.lacking(record, known) for record in records] == [None] * count
        alice.store.db.set_trace_callback(None)
    return len(seen)


def test_what_several_releases_share_is_walked_once(tmp_path: Path) -> None:
    """CLO-62, CLO-67: after one lost file, each of a long line's releases was walked to the first of all."""
    few, many = walked(tmp_path / "few", 5), walked(tmp_path / "many", 20)
    assert many < 5 * few


def test_where_nothing_is_missing_nothing_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLO-63: whoever fetches all has all that it reaches, and shows it without a look at each release."""
    monkeypatch.delattr(Closure, "lacking")
    alice, bob = gathered(tmp_path, "bob")
    for number in range(3):
        write(alice, "a.txt", f"{number}\n")
        release(alice)
    sync(alice, ["stick"])
    (result,) = sync(bob, ["stick"])
    assert len(result.came.releases) == 3
    for vault in (alice, bob):
        vault.close()
