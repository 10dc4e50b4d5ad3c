"""What a line holds of another desk that nobody has yet, and from which of its revisions it is taken out (CLAY-80)."""

from __future__ import annotations

from pathlib import Path

from tests.vault.vaults import found, write
from vault.folder.unshared import OthersPath, unshared_at, way_to_take_out
from vault.folder.work import commit
from vault.names import Version
from vault.releasing import release
from vault.revisions.history import commit_info, line_head
from vault.vault import Vault

NOTES = OthersPath("notes", "notes")


def _unshared(vault: Vault) -> list[str]:
    head = line_head(vault.store, vault.node.text, "main")
    assert head is not None
    return unshared_at(vault, "main", commit_info(vault.store, head.commit).tree, "notes")


def _statements(vault: Vault) -> int:
    """Return how often the store is asked for the way to take out what is unshared."""
    asked: list[str] = []
    fresh = _unshared(vault)
    vault.store.db.set_trace_callback(asked.append)
    try:
        way_to_take_out(vault, "main", NOTES, fresh)
    finally:
        vault.store.db.set_trace_callback(None)
    return len(asked)


def test_what_it_costs_follows_the_states_and_not_their_product(tmp_path: Path) -> None:
    """CLAY-80, APP-14: a line of 120 own revisions beside 80 releases took seconds; each state is read once."""
    with found(tmp_path) as alice:
        made = []
        for turn in range(2):
            for number in range(8):
                write(alice, "notes/n.txt", f"release {turn} {number}\n")
                release(alice, Version(2 + turn, number, 0))
            for number in range(8 * (turn + 1)):
                write(alice, "notes/n.txt", f"mine {turn} {number}\n")
                commit(alice, "mine")
            made.append(_statements(alice))
        assert made[1] < 3 * made[0]


def test_it_goes_back_to_the_newest_revision_of_which_friends_have_all(tmp_path: Path) -> None:
    """CLAY-80: whatever a file was meanwhile, and however many there are of it."""
    with found(tmp_path) as alice:
        for number in range(40):
            write(alice, f"notes/deep/{number}.txt", f"{number}\n")
        write(alice, "notes/n", "one\n")
        release(alice, Version(2, 0, 0))
        (alice.folder / "notes/n").unlink()
        write(alice, "notes/n/n", "one\n")
        commit(alice, "a folder of that name")
        assert _unshared(alice) == ["notes/n/n"]
        (alice.folder / "notes/n/n").unlink()
        (alice.folder / "notes/n").rmdir()
        for number in range(30):
            (alice.folder / f"notes/deep/{number}.txt").unlink()
        clean = commit(alice, "fewer")
        assert clean
        assert _unshared(alice) == []
        for number in range(30):
            write(alice, f"notes/deep/{number}.txt", f"{number}\n")
        write(alice, "notes/deep/1.txt", "mine\n")
        commit(alice, "back")
        fresh = _unshared(alice)
        assert fresh == ["notes/deep/1.txt"]
        assert f"main@{clean.revision} notes " in way_to_take_out(alice, "main", NOTES, fresh)
        for number in range(30):
            write(alice, f"notes/deep/{number}.txt", f"mine {number}\n")
        commit(alice, "many")
        assert _unshared(alice) == sorted(f"notes/deep/{number}.txt" for number in range(30))


def test_an_empty_folder_is_no_file(tmp_path: Path) -> None:
    """CLAY-80: it says no more than its name, which a rule about it refuses anyway."""
    with found(tmp_path) as alice:
        write(alice, "notes/n.txt", "one\n")
        release(alice, Version(2, 0, 0))
        (alice.folder / "notes/empty").mkdir()
        commit(alice, "an empty folder")
        assert _unshared(alice) == []


def test_of_what_friends_never_had_nothing_stays(tmp_path: Path) -> None:
    """CLAY-80, CLAY-4: then the empty revision is the newest without it."""
    with found(tmp_path) as alice:
        write(alice, "notes/n.txt", "mine\n")
        commit(alice, "mine")
        assert "main@0 notes " in way_to_take_out(alice, "main", NOTES, _unshared(alice))
