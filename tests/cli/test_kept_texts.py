"""A text edited for a conflict that the decision leaves out is named, and lies in a file (APP-13, LAZ-39).

The app said that it is kept as a draft; the decision deleted the draft, and no file had the text any more.
"""

from __future__ import annotations

import errno
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lace_tui.cli.quick import kept_answer
from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf

TEXT = "one\nmine and yours\n"


@pytest.fixture
def clashed(shelf: Shelf) -> Person:
    """Alice, who released another line of notes.md under the same version as bob."""
    return shelf.lay(_clashed)


def _clashed(root: Path) -> Person:
    alice, bob = make_pair(root)
    for person in (alice, bob):
        person.write("notes.md", f"one\n{person.name}\n")
        person.lace("release", "2.0.0", "--yes")
    bob.lace("sync", "stick")
    alice.run("sync", "stick")
    return alice


def _conflict(person: Person) -> str:
    (conflict,) = person.lace("conflicts")["conflicts"]
    return str(conflict["id"])


def _draft(person: Person, conflict: str, files: dict[str, Any]) -> Path:
    path = person.folder / ".vault" / "drafts" / f"{conflict}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"format": 1, "conflict": conflict, "desk": "main", "files": files}))
    return path


def _kept(person: Person) -> dict[str, str]:
    files = (person.folder / ".vault").glob("edit-*/*")
    return {str(file): file.read_text() for file in files}


@pytest.mark.parametrize("side", ["local", "remote"])
def test_a_text_that_is_left_out_is_named(clashed: Person, side: str) -> None:
    """APP-13, LAZ-39: it was in no file, and nothing was said."""
    conflict = _conflict(clashed)
    draft = _draft(clashed, conflict, {"notes.md": {"key": "0", "edited": TEXT}, "list.md": {"key": "0", "side": 0}})
    done = clashed.lace("resolve", conflict, "--prefer", side)
    ((file, text),) = _kept(clashed).items()
    assert (text, Path(file).name) == (TEXT, "notes.md")
    assert done["texts"] == [{"path": "notes.md", "file": file}]
    assert not draft.exists()


def test_the_answer_for_people_names_it_too(clashed: Person) -> None:
    """APP-13, LAZ-39: who typed the command is told where the text lies."""
    conflict = _conflict(clashed)
    _draft(clashed, conflict, {"notes.md": {"key": "0", "edited": TEXT}})
    said = clashed.text("resolve", conflict, "--prefer", "local")
    (file,) = _kept(clashed)
    assert f"! What you wrote for notes.md is not the result: it lies in {file} for a week." in said


def test_a_text_that_is_the_result_is_kept_no_second_time(clashed: Person) -> None:
    """LAZ-39: the release has it."""
    conflict = _conflict(clashed)
    clashed.write("notes.md", TEXT)
    _draft(clashed, conflict, {"notes.md": {"key": "0", "edited": TEXT}})
    assert clashed.lace("resolve", conflict, "--merged", "2.1.0")["texts"] == []
    assert _kept(clashed) == {}


@pytest.mark.parametrize(
    "files",
    [
        {"..": {"edited": TEXT}, "a/../../b": {"edited": TEXT + "b"}, "\0": {"edited": TEXT + "c"}, "": {"edited": ""}},
        {"\ud800": {"edited": TEXT}, "x" * 300: {"edited": TEXT}, "notes.md": {"edited": "\ud800"}},
        {"notes.md": 7, "list.md": {"edited": 7}, "a": None, "b": [TEXT]},
    ],
    ids=["paths", "names", "entries"],
)
def test_a_rotten_draft_breaks_no_decision(clashed: Person, files: dict[str, Any]) -> None:
    """APP-12, APP-13: whatever a draft holds, the conflict is decided, and nothing is written outside of the vault."""
    conflict = _conflict(clashed)
    draft = _draft(clashed, conflict, files)
    before = sorted(path.name for path in clashed.folder.parent.iterdir())
    done = clashed.lace("resolve", conflict, "--prefer", "local")
    assert {Path(text["file"]).parent.parent for text in done["texts"]} <= {clashed.folder / ".vault"}
    assert sorted(path.name for path in clashed.folder.parent.iterdir()) == before
    assert not draft.exists()


def test_where_a_text_cannot_be_kept_its_draft_stays(clashed: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: the text is in a file before its draft goes; the decision is made all the same, and says where it is."""
    conflict = _conflict(clashed)
    draft = _draft(clashed, conflict, {"notes.md": {"key": "0", "edited": TEXT}})

    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr("lazy.resolving.kept_texts.tempfile.mkdtemp", full)
        done = clashed.lace("resolve", conflict, "--prefer", "local")
    assert done["texts"] == [{"path": "notes.md", "file": str(draft)}]
    assert TEXT in json.loads(draft.read_text())["files"]["notes.md"]["edited"]


def test_status_names_the_texts_that_are_in_no_draft(clashed: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13, LAZ-39: whom the answer did not reach, or whose app was killed, was never told of them.

    They come and go without a write of the store, so that no kept answer tells of them.
    """
    monkeypatch.chdir(clashed.folder)
    assert clashed.lace("status")["texts"] == []
    conflict = _conflict(clashed)
    _draft(clashed, conflict, {"notes.md": {"key": "0", "edited": TEXT}})
    clashed.lace("resolve", conflict, "--prefer", "local")
    (file,) = _kept(clashed)
    for _ in range(2):
        assert (
            f"! what you wrote for notes.md in a conflict is in no draft\n  it lies in {file} until "
            in clashed.text("status")
        )
        assert kept_answer(["status"], clashed.variables, io.StringIO()) is False
    shutil.rmtree(Path(file).parent)
    assert kept_answer(["status"], clashed.variables, io.StringIO()) is False
    assert clashed.lace("status")["texts"] == []
    assert kept_answer(["status"], clashed.variables, io.StringIO()) is True
