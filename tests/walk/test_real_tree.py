"""A tree of thousands of real files: the standard library of this Python (LAZ-8, LAZ-52)."""

from __future__ import annotations

import filecmp
import shutil
import sysconfig
from pathlib import Path

from tests.people import Person


def _fill(folder: Path) -> int:
    source = Path(sysconfig.get_paths()["stdlib"])
    count = 0
    for path in sorted(source.rglob("*")):
        parts = path.relative_to(source).parts
        if (
            path.is_file()
            and not path.is_symlink()
            and path.stat().st_size <= 32 << 20
            and not {"site-packages", "dist-packages", "__pycache__"} & set(parts)
        ):
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            count += 1
    # A Python without caches or test suite has fewer files; copies under other names are real files too.
    copy = 0
    while count < 5000:
        copy += 1
        for path in sorted(p for p in folder.iterdir() if p.is_file() and p.suffix == ".py" and copy < 50):
            extra = folder / f"copy{copy}" / path.name
            extra.parent.mkdir(exist_ok=True)
            extra.write_bytes(path.read_bytes() + f"# copy {copy}\n".encode())
            count += 1
    return count


def _files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ".vault" not in path.relative_to(folder).parts
    }


def test_five_thousand_files(alice: Person, bob: Person, tmp_path: Path) -> None:
    """Pulled byte for byte; a second sync moves nothing; ten changed files move what changed (APP-12, LAZ-30)."""
    count = _fill(alice.folder)
    assert count >= 5000
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("release", "1.0.0")
    alice.lace("sync", "stick")
    bob.lace("accept", line)
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.lace("update")
    assert _files(bob.folder) == _files(alice.folder)
    assert filecmp.cmpfiles(alice.folder, bob.folder, _files(alice.folder), shallow=False)[1:] == ([], [])

    again = bob.lace("sync", "stick")
    assert again["received"] == 0
    assert again["sent"] == 0
    assert again["bytes_sent"] == 0

    changed = sorted(_files(alice.folder))[::500][:10]
    for path in changed:
        with (alice.folder / path).open("ab") as file:
            file.write(b"\n# changed\n")
    alice.lace("release", "1.0.1")
    moved = alice.lace("sync", "stick")
    assert moved["sent"] < 10 + 10 * 8 + 20  # the files, the pages on their paths, a few sealed records
    came = bob.lace("sync", "stick")
    assert came["received"] == moved["sent"]
    bob.lace("update")
    assert filecmp.cmpfiles(alice.folder, bob.folder, changed, shallow=False)[0] == changed
