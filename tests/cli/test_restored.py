"""A folder that was restored from a backup, by command: what each says, and what it names to go on with."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.people import Person
from vault.apart import OwnWorkApart


def test_commands_say_how_to_go_on_while_ones_own_content_is_not_here(
    pair: tuple[Person, Person], tmp_path: Path
) -> None:
    """LAZ-65, FAC-20: after a sync about a part, work is kept, and what lacks is named with what brings it."""
    ann, bob = pair
    shutil.copytree(ann.folder, tmp_path / "backup")
    ann.write("song.txt", "la la\n")
    ann.lace("release", "2.0.0")
    ann.lace("sync", "stick")
    shutil.rmtree(ann.folder)
    shutil.copytree(tmp_path / "backup", ann.folder)
    bob.write("bob.txt", "bob\n")
    bob.lace("release", "2.1.0")
    bob.lace("push", "stick")
    ann.lace("sync", "stick", "--path", "list.md")
    assert ann.text("update") == (
        "! Not taken in, for its content is not here: main 2.0.0, which is yours: lace sync --all\n"
    )
    ann.write("list.md", "milk and honey\n")
    ann.lace("commit", "-m", "kept")
    error = ann.lace("release", "--yes", expect=2)["error"]
    assert (error["code"], "main 2.0.0" in error["message"]) == (OwnWorkApart.code, True)
    assert "lace sync --all" in error["hint"]
    assert ann.lace("sync", "--all")["next"] == "lace update"
    done = ann.lace("update")
    assert (done["written"], done["next"]) == (["song.txt"], "lace update")
    assert ann.lace("update")["written"] == ["bob.txt"]
    assert ann.lace("release", "--yes")["version"] == "2.1.1"
