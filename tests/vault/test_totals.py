"""What a tree comes to is found from what differs, and is the same as counted whole (what a release tells)."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.rows import put_text
from tests.vault.vaults import found, write
from vault.content import totals
from vault.content.totals import desk_totals, tree_totals
from vault.desk_folders import MAIN
from vault.desks import paths
from vault.names import Version
from vault.notes.folders import TOTALS
from vault.records import RecordHash
from vault.releasing import release
from vault.vault import Vault


def _root(vault: Vault) -> RecordHash:
    rows = vault.store.rows(
        "SELECT b.kind, b.digest FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app"
        " WHERE s.s = 'lace/tree' ORDER BY b.p DESC LIMIT 1"
    )
    return RecordHash(str(rows[0][0]), bytes(rows[0][1]))


def test_what_a_release_tells_is_what_the_folder_holds(tmp_path: Path) -> None:
    """Files come, change, move and go, directories become files and empty; the totals follow, release after release."""
    draw = Random(1)
    with found(tmp_path) as alice:
        names = [f"{a}/{b}/{c}.txt" for a in "xy" for b in "pq" for c in range(5)]
        for number in range(12):
            for path in draw.sample(names, 6):
                file = alice.folder / path
                if draw.random() < 0.3 and file.is_file():
                    file.unlink()
                else:
                    write(alice, path, "z" * draw.randrange(50))
            if number == 5:
                (alice.folder / "empty").mkdir()
            write(alice, "always.txt", str(number))
            done = release(alice, Version.parse(f"1.{number}.0"))
            files = [path for path in alice.folder.rglob("*") if path.is_file() and ".vault" not in path.parts]
            assert (done.files, done.bytes) == (len(files), sum(path.stat().st_size for path in files))


@pytest.mark.parametrize("kept", ["", "nonsense", "P.x 1 2", f"P.{'0' * 43}.H3 1 2", "1 2 3 4", "{root} one 2"])
def test_kept_totals_that_lead_nowhere_are_counted_anew(tmp_path: Path, kept: str) -> None:
    with found(tmp_path) as alice:
        write(alice, "a.txt", "12345")
        release(alice)
        root = _root(alice)
        with alice.writing() as w:
            put_text(w.store, TOTALS.key(MAIN), kept.replace("{root}", root.text))
        assert desk_totals(alice.store, "main", root) == tree_totals(alice.store, root) == (1, 5)


def test_a_release_of_a_little_looks_at_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cost follows what changed: of a hundred directories those are read that lead to what differs."""
    looked: list[str] = []

    def joined(prefix: str, name: str) -> str:
        looked.append(name)
        return paths.join(prefix, name)

    monkeypatch.setattr("vault.desks.diff.join", joined)
    with found(tmp_path) as alice:
        for number in range(100):
            write(alice, f"d{number}/a.txt", str(number))
        release(alice)
        looked.clear()
        write(alice, "d7/b.txt", "new")
        done = release(alice)
    assert done.files == 101
    assert looked == ["d7", "b.txt"]  # once: what was compared for the commit is told to who counts


def test_what_was_just_compared_with_nothing_is_not_walked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def walked(*_: object) -> None:
        raise AssertionError("the tree was walked once more")

    monkeypatch.setattr(totals, "diff_trees", walked)
    with found(tmp_path) as alice:
        write(alice, "a.txt", "12345")
        write(alice, "b/c.txt", "123")
        done = release(alice)
        assert (done.files, done.bytes) == (2, 8)
