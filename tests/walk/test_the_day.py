"""The day that lace must serve (architecture, section 1), with three people."""

from __future__ import annotations

from pathlib import Path

from tests.people import Person
from tests.walk.meeting import let_in

MENU = "".join(f"line {n}\n" for n in range(1, 21))


def _tree(person: Person) -> dict[str, bytes]:
    return {
        str(path.relative_to(person.folder)): path.read_bytes()
        for path in sorted(person.folder.rglob("*"))
        if path.is_file() and ".vault" not in path.parts
    }


def test_the_day(alice: Person, bob: Person, cara: Person, tmp_path: Path) -> None:
    """Edit, release, sync, update, both change one file, decide, and nobody has anything left to merge."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.write("menu.md", MENU)
    alice.write("wine.md", MENU)
    alice.write("staff.md", MENU)
    alice.lace("release", "2.3.0", "-m", "start")
    let_in(alice, bob, cara)

    # Alice edits three files, releases (commit included), syncs the stick.
    alice.write("menu.md", MENU.replace("line 3\n", "line 3, alice\n").replace("line 12\n", "line 12, alice\n"))
    alice.write("wine.md", MENU.replace("line 1\n", "line 1, alice\n"))
    alice.write("staff.md", MENU.replace("line 2\n", "line 2, alice\n"))
    assert alice.lace("release", "--yes", "-m", "autumn")["version"] == "2.3.1"
    alice.lace("sync", "stick")

    # Bob changed one of the files himself; another change of his merges by itself.
    bob.write("menu.md", MENU.replace("line 3\n", "line 3, bob\n").replace("line 12\n", "line 12, bob\n"))
    bob.write("wine.md", MENU.replace("line 20\n", "line 20, bob\n"))
    told = bob.text("sync", "stick")
    assert "alice released" in told
    assert "3 files" in told
    before = _tree(bob)
    refused = bob.lace("update", expect=1)
    assert [c["path"] if isinstance(c, dict) else c for c in refused["conflicts"]] == ["menu.md"]
    assert _tree(bob) == before  # nothing changed on disk
    (conflict,) = bob.lace("conflicts")["conflicts"]
    assert conflict["version"] is None

    # He decides, in the file, and releases.
    merged = MENU.replace("line 3\n", "line 3, both\n").replace("line 12\n", "line 12, bob\n")
    bob.write("menu.md", merged)
    done = bob.lace("resolve", conflict["id"], "--merged", "2.3.2", "-m", "both soups")
    assert done["release"]
    bob.lace("sync", "stick")
    assert bob.lace("conflicts")["conflicts"] == []
    wine = (bob.folder / "wine.md").read_text()
    assert "line 1, alice" in wine
    assert "line 20, bob" in wine

    for person in (alice, cara):
        person.lace("sync", "stick")
        person.lace("update")
    bob.lace("sync", "stick")
    assert _tree(alice) == _tree(bob) == _tree(cara)
    assert (alice.folder / "menu.md").read_text() == merged
    for person in (alice, bob, cara):
        person.lace("sync", "stick")
        answer = person.lace("update")
        assert answer["relation"] == "same"
        assert answer["written"] == []
        assert person.lace("status")["conflicts"] == 0


def test_crossing_merges_die_out(alice: Person, bob: Person, tmp_path: Path) -> None:
    """Two people merge the same two heads; their next releases do not make each other merge for ever."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.write("a.txt", "a\n")
    alice.write("b.txt", "b\n")
    alice.lace("release", "1.0.0")
    let_in(alice, bob)
    alice.write("a.txt", "alice\n")
    alice.lace("release", "1.1.0")
    bob.write("b.txt", "bob\n")
    bob.lace("release", "1.2.0")
    for _ in range(2):
        for person in (alice, bob):
            person.lace("sync", "stick")
    for person in (alice, bob):
        assert person.lace("update")["relation"] == "mergeable"
    assert _tree(alice) == _tree(bob)
    alice.write("c.txt", "c\n")
    alice.lace("release", "1.3.0")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("update")
    assert _tree(alice) == _tree(bob)
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    assert alice.lace("update")["relation"] in {"same", "ahead"}
    assert bob.lace("update")["relation"] in {"same", "ahead"}
