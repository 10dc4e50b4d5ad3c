"""A release as one file for people without lace (CYB-6)."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path
from random import Random

import pytest
import zstandard

from tests.people import Person


@pytest.fixture
def release(alice: Person) -> dict[str, bytes]:
    """A release of alice: a program, a link, a long name, a large file."""
    files = {
        "run.sh": b"#!/bin/sh\n",
        "deep/er/" + "n\u00e4me " * 25 + ".txt": b"la\n",
        "large.bin": Random(3).randbytes(900_000),
    }
    for path, content in files.items():
        alice.write(path, content)
    (alice.folder / "run.sh").chmod(0o755)
    (alice.folder / "link").symlink_to("deep/er")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.2.0")
    return files


def _packed(path: Path) -> bytes:
    data = path.read_bytes()
    return zstandard.ZstdDecompressor().decompressobj().decompress(data) if path.suffix == ".zst" else data


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tgz", ".tar.zst"])
def test_any_system_unpacks_what_was_released(
    alice: Person, release: dict[str, bytes], tmp_path: Path, ending: str
) -> None:
    """CYB-6: contents, programs, links; nobody's name and no clock of the one who wrote it."""
    path = tmp_path / f"songs{ending}"
    done = alice.lace("archive", "main@1.2.0", str(path))
    data = path.read_bytes()
    assert (done["files"], done["bytes"], done["sha512"]) == (4, len(data), hashlib.sha512(data).hexdigest())
    with tarfile.open(fileobj=io.BytesIO(_packed(path))) as tar:
        assert {(one.uid, one.gid, one.uname, one.gname) for one in tar} == {(0, 0, "", "")}
        assert len({one.mtime for one in tar}) == 1
        assert all(one.name.partition("/")[0] == "main-1.2.0" for one in tar)
        tar.extraction_filter = getattr(tarfile, "data_filter", None)  # the first 3.11 have none
        tar.extractall(tmp_path / "out")
    folder = tmp_path / "out" / "main-1.2.0"
    for name, content in release.items():
        assert (folder / name).read_bytes() == content
    assert os.access(folder / "run.sh", os.X_OK)
    assert not os.access(folder / "large.bin", os.X_OK)
    assert (folder / "link").readlink() == Path("deep/er")


def test_two_people_have_the_same_file(alice: Person, bob: Person, release: dict[str, bytes], tmp_path: Path) -> None:
    """CYB-6: its SHA-512 can be compared aloud; by any tar the same comes out."""
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", line)
    for person in (bob, alice, bob):
        person.lace("sync", "stick")
    for ending in ("tar", "tar.gz", "tar.zst"):
        mine = alice.lace("archive", "main@1.2.0", f"../a.{ending}")
        his = bob.lace("archive", "alice/main@1.2.0", f"../another name.{ending}")
        assert mine["sha512"] == his["sha512"]
    listed = subprocess.run(["tar", "tzf", str(tmp_path / "a.tar.gz")], check=True, capture_output=True, text=True)
    assert "main-1.2.0/run.sh" in listed.stdout.splitlines()
    assert len(listed.stdout.splitlines()) == 1 + len(release) + 3


def test_nothing_is_written_over_or_half(alice: Person, release: dict[str, bytes], tmp_path: Path) -> None:
    """CYB-6: a file in the way, an unknown ending, a state that is not here."""
    assert release
    (tmp_path / "there.tar").write_bytes(b"mine")
    assert alice.lace("archive", "main@1.2.0", "../there.tar", expect=2)["error"]["code"] == "file-exists"
    assert (tmp_path / "there.tar").read_bytes() == b"mine"
    assert alice.lace("archive", "main@1.2.0", "../a.zip", expect=2)["error"]["code"] == "no-such-archive"
    alice.lace("archive", "main@9.9.9", "../b.tar", expect=2)
    before = sorted(tmp_path.iterdir())
    packs = next((alice.folder / ".vault" / "packs").iterdir())
    data = bytearray(packs.read_bytes())
    data[len(data) // 2] ^= 1
    packs.write_bytes(data)
    assert alice.run("archive", "main@1.2.0", "../c.tar").code in range(40, 50)
    assert sorted(tmp_path.iterdir()) == before
