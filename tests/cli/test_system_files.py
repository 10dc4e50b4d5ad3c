"""What Windows, macOS and Linux write into a folder by themselves is nobody's work (CLAY-71)."""

from __future__ import annotations

import pytest

from tests.cli.looking import error_of
from tests.people import Person
from vault.desks.ignore import Ignore
from vault.desks.paths import is_plain, is_system_name

_WRITTEN = ["Thumbs.db", "deep/Desktop.ini", ".DS_Store", "._list.md", "$RECYCLE.BIN/S-1-5/a.md", ".Trash-1000/info/a"]
_NOTHING: dict[str, list[str]] = {"added": [], "changed": [], "deleted": []}


def _let_systems_write(ann: Person) -> None:
    for name in _WRITTEN:
        ann.write(name, "by itself\n")


def _changed(ann: Person) -> dict[str, list[str]]:
    found = ann.lace("changes")
    return {kind: found[kind] for kind in _NOTHING}


def test_it_is_no_change_and_goes_with_no_commit(ann: Person) -> None:
    """CLAY-71: a look into the folder with a file manager was an uncommitted change, and friends got what it wrote."""
    ann.write("deep/list.md", "milk\n")
    _let_systems_write(ann)
    assert _changed(ann) == {**_NOTHING, "added": ["deep/list.md"]}
    ann.write("thumbs.db.md", "about it\n")
    assert ann.lace("commit", "-m", "first")["added"] == ["deep/list.md", "thumbs.db.md"]
    for name in _WRITTEN:
        ann.write(name, "by itself again\n")
    assert _changed(ann) == _NOTHING
    assert ann.lace("commit", "-m", "nothing")["commit"] is None
    ann.lace("undo", expect=2)
    assert all((ann.folder / name).exists() for name in _WRITTEN)


@pytest.mark.parametrize("name", _WRITTEN)
def test_a_folder_that_holds_nothing_else_is_emptied(ann: Person, name: str) -> None:
    """APP-12: a `Thumbs.db` was taken for work, so a release deleted all files at every friend."""
    ann.write("list.md", "milk\n")
    ann.lace("commit", "-m", "first")
    (ann.folder / "list.md").unlink()
    ann.write(name, "by itself\n")
    error_of(ann.run("--json", "release", "--yes"), "folder-emptied")
    ann.lace("checkout", "main")
    assert (ann.folder / "list.md").read_text() == "milk\n"


def test_a_rule_takes_it_in_and_what_is_shared_stays_so(ann: Person) -> None:
    """CLAY-71: it is left out as by rules before those of the file, and what is in the tree is not deleted."""
    ann.write("Thumbs.db", "mine\n")
    ann.write("desktop.ini", "by itself\n")
    ann.write(".laceignore", "!Thumbs.db\n")
    assert ann.lace("commit", "-m", "first")["added"] == [".laceignore", "Thumbs.db"]
    (ann.folder / ".laceignore").unlink()
    ann.lace("commit", "-m", "no rules")
    assert _changed(ann) == _NOTHING
    ann.write("Thumbs.db", "edited\n")
    assert ann.lace("commit", "-m", "edited")["changed"] == ["Thumbs.db"]
    out = ann.lace("commit", "-m", "out", "--keep-out", "Thumbs.db")
    assert out["deleted"] == ["Thumbs.db"]
    assert (_changed(ann), (ann.folder / "Thumbs.db").read_text()) == (_NOTHING, "edited\n")
    ann.lace("undo")
    assert _changed(ann) == _NOTHING, "it is shared again, and as it was"
    (ann.folder / "Thumbs.db").unlink()
    assert _changed(ann) == {**_NOTHING, "deleted": ["Thumbs.db"]}


def test_a_former_rule_takes_in_what_is_named_now(ann: Person) -> None:
    """CLAY-71: rules that hold on keep out what they named, and nothing for being a system's."""
    ann.write(".laceignore", "secret.md\n")
    ann.write("secret.md", "mine\n")
    ann.lace("commit", "-m", "first")
    ann.write(".laceignore", "!Thumbs.db\n")
    ann.lace("commit", "-m", "second")
    ann.write("Thumbs.db", "mine\n")
    assert ann.lace("changes")["added"] == ["Thumbs.db"]


def test_which_names_they_are() -> None:
    """CLAY-71: whatever their letters' case, and nothing that only begins or ends so."""
    for name in ("Thumbs.db", "THUMBS.DB", "ehthumbs_vista.db", "._a", ".nfs0000a1", "System Volume Information"):
        assert (is_system_name(name), is_plain(name)) == (True, False)
    for name in ("Thumbs.db.md", "my Thumbs.db", "._", ".nfs", "_a", "desktop.ini.txt", ".directory"):
        assert not is_system_name(name)
    assert Ignore().matches(".Trashes/a/b.md", is_dir=False)
    assert not Ignore(is_alone=True).matches(".Trashes/a/b.md", is_dir=False)
    assert not Ignore(b"!._*\n").matches("deep/._a", is_dir=False)
