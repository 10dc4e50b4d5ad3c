"""From an empty directory to a shared folder: the README's first page (APP-1, APP-7 in spirit, LAZ-1, LAZ-45)."""

from __future__ import annotations

from pathlib import Path

from tests.people import Person


def test_from_nothing_to_a_shared_folder(alice: Person, bob: Person, tmp_path: Path) -> None:
    """One line of text passes between two people, and no hash is typed (APP-1, LAZ-52)."""
    stick = tmp_path / "stick"
    alice.write("menu.md", "Soup\n")
    alice.write("pictures/logo.bin", bytes(range(256)))
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    assert alice.lace("release", "--yes", "-m", "first menu")["version"] == "1.0.0"
    line = alice.lace("invite", "bob")["invite"]
    sent = alice.lace("sync", "stick")
    assert sent["sent"] > 0

    joined = bob.lace("accept", line)
    assert joined["peer"] == "alice" or joined["peer"].startswith("V.")
    bob.lace("sync", "stick")
    admitted = alice.lace("sync", "stick")
    assert admitted["admitted"] == ["bob"]
    bob.lace("sync", "stick")
    done = bob.lace("update")
    assert done["conflicts"] == []
    assert (bob.folder / "menu.md").read_text() == "Soup\n"
    assert (bob.folder / "pictures/logo.bin").read_bytes() == bytes(range(256))
    assert {m["name"] for m in bob.lace("members")["members"]} == {"alice", "bob"}


def test_a_second_invitation_needs_its_own_secret(alice: Person, bob: Person, cara: Person, tmp_path: Path) -> None:
    """An invitation admits once; the second who tries is listed with the reason and admitted by hand."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    line = alice.lace("invite")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", line, "--name", "bob")
    alice.lace("sync", "stick")
    cara.lace("accept", line, "--name", "cara")
    alice.lace("sync", "stick", expect=0)
    waiting = alice.lace("requests")["requests"]
    assert [w["name"] for w in waiting] == ["cara"]
    assert "already used by bob" in waiting[0]["problem"]
    alice.lace("admit", "cara")
    assert {m["name"] for m in alice.lace("members")["members"]} == {"alice", "bob", "cara"}


def test_accept_in_a_folder_that_has_files(alice: Person, bob: Person, tmp_path: Path) -> None:
    """Files that lie there already are kept: equal ones are taken as they are, others are merged or named."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.write("same.txt", "same\n")
    alice.write("hers.txt", "hers\n")
    alice.lace("release", "1.0.0")
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.write("same.txt", "same\n")
    bob.write("mine.txt", "mine\n")
    bob.lace("accept", line)
    bob.lace("sync", "stick")
    bob.lace("update")
    names = {p.name: p.read_text() for p in bob.folder.iterdir() if p.is_file()}
    assert names == {"same.txt": "same\n", "mine.txt": "mine\n", "hers.txt": "hers\n"}
