"""A vault that may only be read, and one that is gone: reading works, writing says so before it begins (fault 4)."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import lace_tui
import lazy
import transports
import vault
from tests.people import Person

NOBODY = 65534

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    """Load all of lace: whoever becomes nobody may not be able to read it where it is installed."""
    for package in (vault, lazy, transports, lace_tui):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def _as_nobody(person: Person, *words: str) -> tuple[int, str]:
    """Run a command in a process that may write nothing of the person's."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            done = person.run(*words)
            os.write(write, (done.err + done.text)[:4000].encode())
            code = done.code
        finally:
            os._exit(code)
    os.close(write)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(read, "rb") as file:
        return code, file.read().decode()


def _begun(tmp_path: Path) -> Person:
    """Return alice with one release, in a folder that others can reach."""
    alice = Person("alice", tmp_path / "homes" / "alice", tmp_path / "alice")
    alice.write("menu.md", "soup\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0", "-m", "first")
    for path in (tmp_path, *tmp_path.parents):
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | 0o055)
    return alice


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Alice, whose folder nobody may write any more."""
    alice = _begun(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(alice.home))  # that of whoever runs the tests may be theirs alone
    for path in [alice.folder, *alice.folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.geteuid() == 0:  # the key is read by the one who uses it
        for path in [alice.home, *alice.home.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
    return alice


def _everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("words", [("commit", "-m", "x"), ("release", "--yes"), ("update",), ("push", "stick")])
def test_writing_a_read_only_vault_is_refused_in_a_sentence(read_only: Person, words: tuple[str, ...]) -> None:
    """APP-13, APP-14: nothing changed, a code of the environment, no traceback."""
    before = {name: data for name, data in _everything(read_only.folder).items() if "store.db-" not in name}
    code, told = _as_nobody(read_only, *words)
    assert 2 <= code < 70
    assert "Traceback" not in told
    assert told.strip()
    assert {name: data for name, data in _everything(read_only.folder).items() if "store.db-" not in name} == before


@pytest.mark.parametrize("which", [".vault", ".vault/store.db"])
@pytest.mark.parametrize("words", [("commit", "-m", "x"), ("release", "--yes"), ("place", "add", "stick", "../stick")])
def test_a_store_that_alone_cannot_be_written_is_named(tmp_path: Path, which: str, words: tuple[str, ...]) -> None:
    """APP-14: the lock is taken then and the folder is written in; what comes of it is no fault of lace."""
    alice = _begun(tmp_path)
    alice.write("menu.md", "soup and bread\n")
    for path in [tmp_path, *tmp_path.rglob("*")]:
        os.chown(path, NOBODY, NOBODY) if os.geteuid() == 0 else None
    path = alice.folder / which
    path.chmod(path.stat().st_mode & ~0o222)
    code, told = _as_nobody(alice, *words)
    assert code == 13
    assert "cannot be written (attempt to write a readonly database)" in told


@pytest.mark.parametrize("folder", ["closed/below", "closed"])
def test_where_one_may_not_look_nothing_is_copied_to(tmp_path: Path, folder: str) -> None:
    """APP-14: the folder of a copy and the place of an archive are named where they are closed to whoever asks."""
    alice = _begun(tmp_path)
    alice.lace("archive", "main@1.0.0", "../open.tar")  # nobody may load what is loaded late
    (tmp_path / "closed").mkdir()
    for path in [tmp_path, *tmp_path.rglob("*")]:
        os.chown(path, NOBODY, NOBODY) if os.geteuid() == 0 else None
    (tmp_path / "closed").chmod(0)
    code, told = _as_nobody(alice, "checkout", "main@1.0.0", "--to", f"../{folder}")
    assert 10 <= code < 20, told
    code, told = _as_nobody(alice, "archive", "main@1.0.0", "../closed/menu.tar")
    assert 10 <= code < 20, told
    (tmp_path / "closed").chmod(0o755)


@pytest.fixture
def in_a_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder `d` of alice's with two states of a file in it, of which she has the newer one; nobody owns all."""
    alice = _begun(tmp_path)
    for text in ("one\n", "two\n"):
        alice.write("d/x", text)
        alice.lace("commit", "-m", text.strip())
    for path in [tmp_path, *tmp_path.rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False) if os.geteuid() == 0 else None
    yield alice.folder / "d"
    (alice.folder / "d").chmod(0o755)


def test_a_folder_that_is_closed_is_the_one_that_is_named(in_a_folder: Path, tmp_path: Path) -> None:
    """APP-14: it was said of the whole shared folder, with which nothing is wrong."""
    alice = Person("alice", tmp_path / "homes" / "alice", tmp_path / "alice")
    in_a_folder.chmod(0)
    for case, what in (("main@2", "/x cannot be changed"), ("main@3", " cannot be written")):
        code, told = _as_nobody(alice, "checkout", case)
        assert (code, f"{in_a_folder}{what}: permission denied." in told) == (12, True), told


def test_an_update_that_cannot_be_finished_is_told_as_one(in_a_folder: Path, tmp_path: Path) -> None:
    """APP-13, APP-14: `commit` said that a file cannot be written, which nobody had asked for."""
    alice = Person("alice", tmp_path / "homes" / "alice", tmp_path / "alice")
    in_a_folder.chmod(0o555)
    code, told = _as_nobody(alice, "checkout", "main@2")
    assert (code, f"{in_a_folder}/x cannot be written: permission denied." in told) == (12, True), told
    code, told = _as_nobody(alice, "changes")
    assert (code, "cannot be finished now: " in told, ".." in told) == (0, True, False), told
    for words in (("commit", "-m", "zz"), ("release", "--yes")):
        code, told = _as_nobody(alice, *words)
        begin = "The last update of this folder was cut off and cannot be finished: "
        assert (code, f"{begin}{in_a_folder}/x cannot be written: permission denied." in told) == (12, True), told
    in_a_folder.chmod(0o755)
    assert _as_nobody(alice, "commit", "-m", "zz")[0] == 0
    assert (in_a_folder / "x").read_text() == "one\n"


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("log",),
        ("changes",),
        ("cat", "main@1.0.0", "menu.md"),
        ("audit", "list"),
        ("audit", "verify"),
        ("prune", "--dry-run"),
        ("fsck",),
    ],
)
def test_a_read_only_vault_can_be_read(read_only: Person, words: tuple[str, ...]) -> None:
    """APP-13: an old disk that cannot be written still shows everything."""
    before = _everything(read_only.folder)
    code, told = _as_nobody(read_only, *words)
    assert code == 0, told
    assert told.strip()
    assert _everything(read_only.folder) == before


def test_where_nothing_is_to_be_decided_a_read_only_vault_does(read_only: Person) -> None:
    """LAZ-39: it ended with 13 over files for people that no decision had changed."""
    assert _as_nobody(read_only, "resolve", "--all", "--prefer", "local") == (0, "no conflicts\n")


def test_damage_in_a_read_only_vault_is_found_and_nothing_is_noted(read_only: Person) -> None:
    """APP-13: whoever holds an old disk learns whether it is whole; a repair says that it cannot write."""
    code, told = _as_nobody(read_only, "fsck")
    assert code == 0
    assert "can only be read: nothing was noted" in told
    store = read_only.folder / ".vault" / "store.db"
    store.chmod(0o644)
    with closing(sqlite3.connect(store)) as db:
        db.execute("UPDATE sums SET sha512 = 'wrong'")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for end in ("-wal", "-shm"):
        store.with_name(store.name + end).unlink(missing_ok=True)
    store.chmod(0o444)
    before = _everything(read_only.folder)
    code, told = _as_nobody(read_only, "fsck")
    assert code == 1
    assert "The table sums differs" in told
    code, told = _as_nobody(read_only, "fsck", "--repair")
    assert code == 12
    assert "permission denied" in told
    assert _everything(read_only.folder) == before


def test_a_check_without_room_beside_a_read_only_vault_says_so(
    read_only: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-14: what is looked at is built a second time somewhere; where that cannot be, it is said."""
    monkeypatch.setattr(tempfile, "tempdir", str(read_only.folder))
    code, told = _as_nobody(read_only, "fsck")
    assert code == 12, "it named damage, and a repair that would not help"
    assert "cannot be written: permission denied" in told
    assert "--repair" not in told


def test_a_vault_that_is_gone_is_named(read_only: Person) -> None:
    """APP-14: the folder is there and its vault is not."""
    for path in [read_only.folder, *read_only.folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.rmtree(read_only.folder / ".vault")
    done = read_only.run("commit", "-m", "x")
    assert done.code == 10
    assert "lace init" in done.err
