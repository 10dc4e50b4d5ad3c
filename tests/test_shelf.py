"""What tests begin with is made once, and each has a copy of its own (tests/shelf.py)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.vault.vaults import found, write
from vault.folder.work import commit
from vault.fsck.check import check
from vault.vault import Vault

_made: list[Path] = []


def _make(root: Path) -> Person:
    _made.append(root)
    alice = person_in(root, "alice")
    alice.write("a.txt", "one\n")
    (root / "link").symlink_to("alice")
    (root / "file").write_text("one\n")
    return alice


@pytest.mark.parametrize("time", [1, 2, 3])
def test_what_is_laid_is_made_once_and_is_as_it_was(shelf: Shelf, tmp_path: Path, bob: Person, time: int) -> None:
    """In any order: each spoils all of it, beside which what is there stays."""
    bob.write("b.txt", "bob\n")
    (tmp_path / "file").write_text("of the test\n")
    alice = shelf.lay(_make)
    assert alice == person_in(tmp_path, "alice")
    assert len(_made) == 1, time
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == [
        "alice/a.txt",
        "bob/b.txt",
        "file",
    ]
    assert {path.read_text() for path in (tmp_path / "file", alice.folder / "a.txt")} == {"one\n"}
    assert (tmp_path / "link").readlink() == Path("alice")
    assert bob.home.is_dir()
    alice.environ["SPOILED"] = "1"
    alice.write("a.txt", "spoiled\n")
    alice.write("more.txt", "spoiled\n")
    again = shelf.lay(_make)
    assert (again.environ, sorted(path.name for path in again.folder.iterdir())) == ({}, ["a.txt"])


def _settled(root: Path, text: str) -> tuple[Vault]:
    vault = found(root)
    write(vault, "a.txt", text)
    commit(vault, "first")
    return (vault,)


def test_a_vault_goes_on_as_if_it_was_made_here(shelf: Shelf, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its clock and its randomness go on from where they were, each time anew."""
    (made,) = _settled(tmp_path_factory.mktemp("made"), "one\n")
    went = []
    for _ in range(2):
        (vault,) = shelf.lay(_settled, "one\n")
        went.append((vault.node, vault.around.now_ns(), vault.around.entropy(8)))
        assert check(vault).ok
        vault.close()
    assert went[0] == went[1] == (made.node, made.around.now_ns(), made.around.entropy(8))
    made.close()


def test_what_is_made_from_other_words_is_something_else(shelf: Shelf) -> None:
    for text in ("one\n", "two\n", "one\n"):
        (vault,) = shelf.lay(_settled, text)
        assert (vault.folder / "a.txt").read_text() == text
        vault.close()


def _fails(root: Path) -> None:
    (root / "half").mkdir()
    raise OSError("no")


def test_what_could_not_be_made_leaves_nothing(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine\n")
    for _ in range(2):
        with pytest.raises(OSError, match="no"):
            shelf.lay(_fails)
        assert [path.name for path in tmp_path.iterdir()] == ["mine"]


_begun: list[Path] = []


@contextmanager
def _stand(root: Path) -> Iterator[Path]:
    _begun.append(root)
    yield root
    _begun.remove(root)


@pytest.mark.parametrize("time", [1, 2])
def test_what_stands_serves_the_directory_of_each_test(shelf: Shelf, tmp_path: Path, time: int) -> None:
    (tmp_path / "mine").write_text(f"{time}\n")
    assert (shelf.stands(_stand) / "mine").read_text() == f"{time}\n"
    assert len(_begun) == 1


def test_what_stands_ends_with_the_shelf(tmp_path_factory: pytest.TempPathFactory) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("other"))
    assert shelf.stands(_stand) in _begun
    shelf.close()
    assert shelf.now not in _begun
