"""A flipped bit in the private repository of a git place: nothing false is taken, and the next sync makes it well.

What lies there is fetched again from the remote, so nothing of it is ever the only copy (APP-13, APP-14, CYB-17).
"""

from __future__ import annotations

import random
import shutil
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.moments import prepared
from tests.faults.powercut import powercut
from tests.faults.sweep import calls_of
from tests.people import Person
from tests.transports.git_hosts import bare_repository

_FLIPS = 4  # of each class
_HEAD = 1032  # bytes at the beginning of an index which say where the rest lies: every other flip hits there
_NAME = 20  # bytes of an object's name, which follow
_CLASSES: dict[str, Callable[[tuple[str, ...], str], bool]] = {
    "loose objects": lambda way, _: way[0] == "objects" and len(way[1]) == 2,
    "indexes of packs": lambda way, end: way[:2] == ("objects", "pack") and end == ".idx",
    "packs": lambda way, end: way[:2] == ("objects", "pack") and end == ".pack",
    "refs": lambda way, _: way[0] == "refs",
    "what git says of it": lambda way, _: len(way) == 1,
}


class _Two:
    """Two friends at a git place, who can be put back to how they were."""

    def __init__(self, root: Path) -> None:
        self.alice = Person("alice", root / "now" / "homes" / "alice", root / "now" / "alice")
        self.bob = Person("bob", root / "now" / "homes" / "bob", root / "now" / "bob")
        self._now, self._ready = root / "now", root / "ready"
        medium = bare_repository(self._now / "medium.git")
        alice, bob = self.alice, self.bob
        alice.write("big.bin", random.Random(1).randbytes(300_000))
        alice.lace("init", "--name", "alice")
        alice.lace("release", "1.0.0")
        alice.lace("place", "add", "road", str(medium))
        bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
        for person in (bob, alice, bob, alice):
            person.lace("sync", "road")
        for number in range(2):
            for person in (alice, bob):
                person.lace("sync", "road")
                person.lace("update")
                person.write(f"{person.name}.txt", f"{number}\n")
                person.lace("release", "--yes")
                person.lace("sync", "road")
        alice.write("alice.txt", "what bob has to get\n")
        alice.lace("release", "9.0.0")
        shutil.copytree(self._now, self._ready, symlinks=True)

    @property
    def repository(self) -> Path:
        """Alice's private repository."""
        (found,) = (self.alice.folder / ".vault" / "git").glob("*.git")
        return found

    def files(self, is_one: Callable[[tuple[str, ...], str], bool]) -> list[Path]:
        """Return the paths below the private repository of one class of files."""
        root = self.repository
        files = (path for path in root.rglob("*") if path.is_file() and path.stat().st_size)
        ways = sorted(path.relative_to(root) for path in files)
        return [way for way in ways if is_one(way.parts, way.suffix)]

    def back(self) -> None:
        """Put everything back."""
        shutil.rmtree(self._now)
        shutil.copytree(self._ready, self._now, symlinks=True)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> _Two:
    return _Two(tmp_path_factory.mktemp("two"))


@pytest.mark.parametrize("name", _CLASSES)
def test_a_flipped_bit_in_the_private_repository_is_healed_or_explained(two: _Two, name: str) -> None:
    """APP-13, APP-14: what it says of it, it is begun anew at the next sync, and the place is used as before."""
    chance = random.Random(name)
    two.back()
    files = two.files(_CLASSES[name])
    assert files, "nothing of this class lies there"
    for way in chance.choices(files, k=_FLIPS):
        two.back()
        _flip(two.repository / way, chance)
        done = two.alice.run("--json", "sync", "road")
        if done.code:
            error = done.json.get("error") or done.json["problems"][0]
            told = error.get("hint", "") + error.get("message", "") + error.get("text", "")
            assert f"delete {two.repository}" in told, (way, done.json)
            again = two.alice.run("--json", "sync", "road")
            assert again.code == 0, (way, again.json)
        assert two.alice.lace("fsck")["ok"]
        assert "9.0.0" in {new["version"] for new in two.bob.lace("sync", "road")["releases"]}, way


def test_what_a_power_cut_left_there_is_begun_anew_at_once(tmp_path: Path) -> None:
    """APP-13: the sync after it ended with 23, and went well only when it was asked for again."""
    scene = prepared(tmp_path / "road-push", "road-push")
    last = calls_of(scene)
    done = powercut(scene, range(last - 19, last - 15), ["names"])  # what was pushed is named here, and nothing else
    assert not done.faults
    assert done.points > 1


def test_an_index_that_hides_objects_is_not_blamed_on_the_host(two: _Two) -> None:
    """APP-13, APP-14: git misses what lies here, asks for the rest only, and says that the host left something out."""
    two.back()
    for way in two.files(_CLASSES["indexes of packs"]):
        data = bytearray((two.repository / way).read_bytes())
        words = ["git", "cat-file", "--batch-check", "--batch-all-objects"]
        told = subprocess.run(words, cwd=two.repository, capture_output=True, text=True, check=True).stdout
        for line in told.splitlines():
            oid, kind, _ = line.split()
            at = data.find(bytes.fromhex(oid), _HEAD)
            if kind == "blob" and at > 0:
                data[at + _NAME - 1] ^= 1
        (two.repository / way).chmod(0o644)
        (two.repository / way).write_bytes(data)
    done = two.alice.run("--json", "sync", "road")
    assert done.code == 0, done.json


def test_a_commit_of_no_type_is_not_blamed_on_the_host(two: _Two) -> None:
    """APP-13, APP-14: git says `invalid object type` of one that lies here, and names no file."""
    two.back()
    files = {way: zlib.decompress((two.repository / way).read_bytes()) for way in two.files(_CLASSES["loose objects"])}
    for way, data in files.items():
        if data.startswith(b"commit"):
            two.back()
            (two.repository / way).chmod(0o644)
            (two.repository / way).write_bytes(zlib.compress(b"\xff\x01" + data[2:]))
            done = two.alice.run("--json", "sync", "road")
            assert done.code == 0, (way, done.json)


def _flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    within = chance.choice((len(data), min(len(data), _HEAD)))
    at = chance.randrange(within * 8)
    data[at // 8] ^= 1 << at % 8
    path.chmod(0o644)
    path.write_bytes(data)
