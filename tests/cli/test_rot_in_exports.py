"""What rotted in a vault is in no table of an export: that is said, and it comes once it is mended (REC-5, APP-8)."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.people import Person

_NEWEST = """
SELECT b.p, b.bytes FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE s.s = ? AND length(b.bytes) > 0
ORDER BY b.p DESC LIMIT 1"""


def _rot(person: Person, app: str, what: bytes) -> None:
    """Change a bit where some bytes begin in the newest record of an App."""
    with sqlite3.connect(person.folder / ".vault" / "store.db") as db:
        p, good = db.execute(_NEWEST, (app,)).fetchone()
        data = bytearray(good)
        data[data.rindex(what)] ^= 1
        db.execute("UPDATE body SET bytes = ? WHERE p = ?", (bytes(data), p))


@pytest.mark.parametrize(
    ("app", "what", "table"), [("lace/tree", b"new.md", "paths"), ("lace/audit", b"1.1.0", "audit")]
)
def test_what_rotted_is_told_and_exported_once_it_is_mended(
    pair: tuple[Person, Person], tmp_path: Path, app: str, what: bytes, table: str
) -> None:
    """An export said nothing, and kept its files as they were once all was whole again."""
    pytest.importorskip("pyarrow")
    ann, _ = pair
    ann.write("new.md", "new\n")
    ann.lace("release", "1.1.0")
    vault, kept = ann.folder / ".vault", tmp_path / "kept"
    ann.lace("status")
    shutil.copytree(vault, kept)
    whole = ann.lace("export", str(tmp_path / "whole"))["tables"]
    _rot(ann, app, what)
    told = ann.lace("export", str(tmp_path / "out"), expect=1)
    (problem,) = told["problems"]
    assert (problem["code"], told["tables"][table] < whole[table]) == ("pack-damaged", True)
    assert "lace fsck --repair" in problem["hint"]
    said = ann.run("export", str(tmp_path / "out"))
    assert (said.code, "! 1 record is damaged here" in said.text, "fsck --repair" in said.text) == (1, True, True)
    assert ann.lace("export", str(tmp_path / "none"), "--dry-run", expect=1)["problems"] == [problem]
    shutil.rmtree(vault)
    shutil.copytree(kept, vault)
    mended = ann.lace("export", str(tmp_path / "out"))
    assert (mended["tables"], mended["problems"]) == (whole, [])
