"""What lace reads of a repository's files is what git says of it, or git is asked (performance W5, decision 36)."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from tests.transports.git_hosts import PLAIN, bare_repository, git
from transports.git.local import own_directory
from transports.git.object_files import ObjectFiles, object_id

_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_ABSENT = "17" * 20
_TAGGER = "tagger a <a> 1 +0000\n\nx\n"


def _made(path: Path) -> tuple[Path, list[str]]:
    """Make a repository by git alone, with objects of each kind; return it and their names."""
    repository = bare_repository(path)
    datas = [Random(number).randbytes(300 + number * 40_000) for number in range(6)]
    names = [git(repository, "hash-object", "-w", "--stdin", stdin=data) for data in datas]
    rows = "".join(f"100644 blob {name}\tf{number}\n" for number, name in enumerate(names))
    names.append(git(repository, "mktree", stdin=rows.encode()))
    names.append(git(repository, "commit-tree", names[-1], "-m", "x"))
    git(repository, "update-ref", "refs/heads/lace/a", names[-1])
    names.append(git(repository, "mktag", stdin=f"object {names[-1]}\ntype commit\ntag v\n{_TAGGER}".encode()))
    git(repository, "update-ref", "refs/tags/v", names[-1])
    return repository, [*names, _EMPTY_TREE, _ABSENT]


def _checked(repository: Path, names: Sequence[str]) -> int:
    """Refuse another word than git's on objects; return of how many something is said without it."""
    files = ObjectFiles(lambda: repository)
    told = files.info(names)
    asked = git(repository, "cat-file", "--batch-check", stdin="\n".join(names).encode()).splitlines()
    for name, line in zip(names, asked, strict=True):
        kind, _, size = line.partition(" ")[2].partition(" ")
        if name in told:
            known = told[name]
            assert (known and (known.kind, known.size)) == (None if kind == "missing" else (kind, int(size)))
        if (data := files.read(name)) is not None:
            assert kind != "missing"
            assert git_bytes(repository, kind, name) == data
    return len(told)


def git_bytes(repository: Path, kind: str, name: str) -> bytes:
    """Return what git reads of an object."""
    words = ["git", f"--git-dir={repository}", "cat-file", kind, name]
    return subprocess.run(words, capture_output=True, env=PLAIN, check=True).stdout


def _repacked(repository: Path) -> None:
    git(repository, "repack", "-adq")


def _with_many(repository: Path) -> None:
    _repacked(repository)
    git(repository, "multi-pack-index", "write")


def _without_index(repository: Path) -> None:
    _with_many(repository)
    for index in (repository / "objects" / "pack").glob("*.idx"):
        index.unlink()


def _promised(repository: Path) -> None:
    _repacked(repository)
    for pack in (repository / "objects" / "pack").glob("*.pack"):
        for suffix in (".promisor", ".keep"):
            pack.with_suffix(suffix).touch()


def _graphed(repository: Path) -> None:
    _repacked(repository)
    git(repository, "commit-graph", "write", "--reachable")


def _cut_off(repository: Path) -> None:
    (repository / "shallow").write_text(git(repository, "rev-parse", "lace/a") + "\n")


def _replaced(repository: Path) -> None:
    first, second = (git(repository, "rev-parse", f"lace/a:f{number}") for number in range(2))
    git(repository, "replace", first, second)
    git(repository, "replace", "-d", first)


def _leaning(repository: Path) -> None:
    other = bare_repository(repository.with_name("other.git"))
    _repacked(repository)
    pack = repository / "objects" / "pack"
    pack.rename(other / "objects" / "their")
    (other / "objects" / "pack").rmdir()
    (other / "objects" / "their").rename(other / "objects" / "pack")
    (repository / "objects" / "info" / "alternates").write_text(f"{other / 'objects'}\n")


def _of_version_1(repository: Path) -> None:
    git(repository, "-c", "pack.indexVersion=1", "repack", "-adq")


_LAYS = [_repacked, _with_many, _without_index, _promised, _graphed, _cut_off, _replaced, _leaning, _of_version_1]


@pytest.mark.parametrize("lay", [lambda _: None, *_LAYS])
def test_nothing_is_said_of_an_object_but_what_git_says(tmp_path: Path, lay: Callable[[Path], None]) -> None:
    repository, names = _made(tmp_path / "made.git")
    lay(repository)
    told = _checked(repository, names)
    assert bool(told) is (lay not in {_leaning, _of_version_1})


def test_an_object_that_comes_as_a_delta_is_not_said_to_be_missing(tmp_path: Path) -> None:
    """APP-13: a fetch, by another process too, may come between a look and the next; most hosts send deltas."""
    host, own = bare_repository(tmp_path / "host.git"), bare_repository(tmp_path / "own.git")
    data = Random(1).randbytes(3000)
    names = [git(host, "hash-object", "-w", "--stdin", stdin=data + bytes(number)) for number in range(3)]
    files = ObjectFiles(lambda: own)
    assert files.info(names) == dict.fromkeys(names)
    packed = git(host, "pack-objects", str(own / "objects" / "pack" / "pack"), stdin="\n".join(names).encode())
    assert (own / "objects" / "pack" / f"pack-{packed}.pack").stat().st_size < 2 * len(data)
    assert len(found := files.info(names)) == 1
    assert None not in found.values()


@pytest.mark.parametrize("level", range(10))
def test_an_object_is_read_however_it_is_compressed(tmp_path: Path, level: int) -> None:
    repository = bare_repository(tmp_path / "made.git")
    for data in (b"", b"level", Random(1).randbytes(1000) * 200):
        name = object_id("blob", data)
        file = repository / "objects" / name[:2] / name[2:]
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(zlib.compress(b"blob %d\0" % len(data) + data, level))
        assert _checked(repository, [name]) == 1


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-1],
        lambda data: data[:-20] + bytes(20),
        lambda data: data + b"more",
        lambda data: data[:7] + b"\x09" + data[8:],
        lambda data: data[:11] + bytes([data[11] + 1]) + data[12:],
        lambda data: b"JUNK" + data[4:],
    ],
)
def test_of_a_pack_that_git_does_not_open_nothing_is_said(
    tmp_path: Path, spoil: Callable[[bytes], bytes], is_large: bool
) -> None:
    """CYB-17: its objects may be whole, but no git here or there would find them in it."""
    repository, names = _made(tmp_path / "made.git")
    if is_large:
        large = git(repository, "hash-object", "-w", "--stdin", stdin=Random(9).randbytes(1_200_000))
        git(repository, "update-ref", "refs/tags/large", large)
    git(repository, "repack", "-adq", "--window=0")
    assert _checked(repository, names)
    (pack,) = (repository / "objects" / "pack").glob("*.pack")
    pack.chmod(0o644)
    pack.write_bytes(spoil(pack.read_bytes()))
    _checked(repository, names)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.repositoryFormatVersion", "2"),
        ("core.repositoryFormatVersion", "99"),
        ("core.bare", "perhaps"),
        ("core.fileMode", "perhaps"),
        ("core.compression", "99"),
        ("core.looseCompression", "x"),
        ("core.bigFileThreshold", "xx"),
        ("extensions.objectFormat", "sha256"),
        ("extensions.nonsense", "true"),
        ("extensions.partialClone", "origin"),
        ("extensions.worktreeConfig", "true"),
    ],
)
def test_a_repository_that_git_may_refuse_is_not_read_without_it(tmp_path: Path, key: str, value: str) -> None:
    """Git's own word on it is what a person is told."""
    repository, _ = _made(tmp_path / "made.git")
    assert own_directory(repository) == repository
    git(repository, "config", key, value)
    assert own_directory(repository) is None


@pytest.mark.parametrize("version", ["0", "1"])
def test_what_git_init_makes_is_read_without_git(tmp_path: Path, version: str) -> None:
    """W5: as git writes it, in either version, as long as nothing is extended."""
    repository = bare_repository(tmp_path / "made.git")
    git(repository, "config", "core.repositoryFormatVersion", version)
    git(repository, "config", "core.sharedRepository", "group")
    assert own_directory(repository) == repository


def test_another_object_format_is_left_to_git(tmp_path: Path) -> None:
    repository = tmp_path / "made.git"
    git(repository, "init", "--quiet", "--bare", "--object-format=sha256", str(repository))
    assert own_directory(repository) is None
