"""Small packs of a private repository are put together, so that the hundredth visit takes what the first took (W5)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.transports.git_hosts import bare_repository, git
from tests.transports.git_places import got
from tests.transports.helpers import GROUP, additions, key, put, some_records
from transports.git import folding
from transports.git.command import GitRunner
from transports.git.folding import fold
from transports.git.object_files import ObjectFiles, object_id
from transports.git.objects import Objects
from transports.git.packs import write_pack
from transports.git.place import GitPlace
from transports.git.remote import git_uri
from transports.git.upkeep import holds_pieces, mark_pieces, packs
from transports.mailbox import Mailbox
from transports.reading import read_head
from vault.files import DiskFull

_MANY = 40


def _datas(count: int) -> Iterator[bytes]:
    base = Random(1).randbytes(2000)
    return (base + b"%d" % number for number in range(count))


def _filled(repository: Path) -> dict[str, bytes]:
    """Write many packs of one object each, every second one of pieces."""
    stored = {object_id("blob", data): data for data in _datas(_MANY)}
    for number, (name, data) in enumerate(stored.items()):
        pack = write_pack(repository / "objects" / "pack", [name], [("blob", data)])
        if number % 2:
            mark_pieces(pack)
    return stored


def test_many_small_visits_leave_few_packs(tmp_path: Path) -> None:
    """W5: each visit opens the indexes of all packs, and they are no more after many."""
    bare = bare_repository(tmp_path / "host.git")
    with closing(GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)) as owner:
        _, seen = put(owner, key(1), additions(some_records(1)))
        place_id, count = owner.place_id, 1
    most = 0
    for _ in range(_MANY):
        with closing(GitPlace.open(git_uri(bare), tmp_path / "a", place_id)) as owner:
            _, seen = put(owner, key(1), additions(some_records(1, start=count)), previous=seen)
        count += 1
        with closing(GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom)) as reader:
            assert len(got(reader)) == count
            most = max(most, len(packs(reader.private.here.path)))
    assert most < _MANY
    git(reader.private.here.path, "fsck", "--strict", "--connectivity-only")


def test_what_is_put_together_is_read_from_two_packs(runner: GitRunner) -> None:
    """Pieces stay apart: they go where there are too many of them, and nothing else does."""
    stored = _filled(runner.repository)
    objects = Objects(runner)
    fold(runner.repository, objects)
    assert sorted(map(holds_pieces, packs(runner.repository))) == [False, True]
    assert len(list((runner.repository / "objects" / "pack").iterdir())) == 5
    assert objects.read(list(stored)) == list(stored.values())
    git(runner.repository, "fsck", "--strict")
    before = packs(runner.repository)
    fold(runner.repository, objects)
    assert packs(runner.repository) == before


def test_deltas_are_put_together_as_what_they_stand_for(runner: GitRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a host sends may be deltas, for which a git is started at each visit until then."""
    stored = {object_id("blob", data): data for data in _datas(2 * _MANY)}
    names = [git(runner.repository, "hash-object", "-w", "--stdin", stdin=data) for data in stored.values()]
    stem = str(runner.repository / "objects" / "pack" / "pack")
    for first, second in zip(names[::2], names[1::2], strict=True):
        git(runner.repository, "pack-objects", "-q", stem, stdin=f"{first}\n{second}\n".encode())
    git(runner.repository, "prune-packed")
    files = ObjectFiles(lambda: runner.repository)
    assert [files.read(name) for name in names].count(None) == _MANY
    fold(runner.repository, Objects(runner))
    assert len(packs(runner.repository)) == 1
    monkeypatch.setattr(GitRunner, "_begin", None)
    objects = Objects(runner)
    assert None not in objects.info(names)
    assert objects.read(names) == list(stored.values())


def test_a_damaged_pack_stays_where_it_is(runner: GitRunner) -> None:
    """CYB-17: nothing false is put under the name of an object, and whoever needs it is told of the damage."""
    _filled(runner.repository)
    bad = min(packs(runner.repository))
    data = bad.read_bytes()
    bad.chmod(0o644)
    bad.write_bytes(data[:500] + bytes([data[500] ^ 1]) + data[501:])
    fold(runner.repository, Objects(runner))
    assert bad in packs(runner.repository)
    assert len(packs(runner.repository)) == 3


def test_where_the_disk_is_full_all_stays(runner: GitRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults 3: what is to be put together goes last."""
    stored = _filled(runner.repository)
    before = packs(runner.repository)

    def full(*_args: object) -> Path:
        raise DiskFull("There is no room.")

    monkeypatch.setattr(folding, "write_pack", full)
    with pytest.raises(DiskFull):
        fold(runner.repository, Objects(runner))
    assert packs(runner.repository) == before
    assert Objects(runner).read(list(stored)) == list(stored.values())


@pytest.mark.parametrize("suffix", [".keep", ".promisor"])
def test_what_git_would_leave_alone_stays(runner: GitRunner, suffix: str) -> None:
    """As a repack of git does it: a fetch says so of a pack while it goes on, and a person may."""
    stored = _filled(runner.repository)
    kept = min(packs(runner.repository))
    kept.with_suffix(suffix).touch()
    fold(runner.repository, Objects(runner))
    assert kept in packs(runner.repository)
    assert len(packs(runner.repository)) == 3
    assert Objects(runner).read(list(stored)) == list(stored.values())


def test_packs_that_an_index_of_several_names_stay(runner: GitRunner) -> None:
    """What git lists there it looks for there, and is told that the repository is damaged where it is gone."""
    stored = _filled(runner.repository)
    git(runner.repository, "multi-pack-index", "write")
    fold(runner.repository, Objects(runner))
    git(runner.repository, "fsck", "--strict")
    assert len(packs(runner.repository)) == _MANY
    (runner.repository / "objects" / "pack" / "multi-pack-index").unlink()
    fold(runner.repository, Objects(runner))
    assert len(packs(runner.repository)) == 2
    assert Objects(runner).read(list(stored)) == list(stored.values())


@pytest.mark.parametrize("torn", [b"", b"0xff", b"9" * 40])
def test_what_somebody_wrote_over_branches_again_and_again_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torn: bytes
) -> None:
    """CYB-17, faults.md row 34: of whoever may push, each visit left up to 128 MiB more in the vault of everybody.

    So did it where a power cut had emptied, or a bad disk changed, the file that tells how much lay there.
    """
    monkeypatch.setattr("transports.git.upkeep._LARGE", 1_000_000)
    bare, chance = bare_repository(tmp_path / "host.git"), Random(1)
    with closing(GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)) as owner:
        put(owner, key(1), additions(some_records(1)))
        branch = f"refs/heads/{_branch(bare)}"
    sizes = []
    for number in range(12):
        blob = git(bare, "hash-object", "-w", "--stdin", stdin=chance.randbytes(400_000))
        tree = git(bare, "mktree", stdin=f"100644 blob {blob}\tbig\n".encode())
        git(bare, "update-ref", branch, git(bare, "commit-tree", tree, "-m", "x"))
        with closing(GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom)) as reader:
            assert read_head(Mailbox(reader, GROUP, key(1).verifier)) is None
            sizes.append(sum(pack.stat().st_size for pack in packs(reader.private.here.path)))
            if number == 1:
                assert (reader.private.here.path / "begun").read_bytes().isdigit()
                (reader.private.here.path / "begun").write_bytes(torn)
    assert max(sizes) > 1_000_000
    assert max(sizes) < 2_500_000


def _branch(bare: Path) -> str:
    names = git(bare, "for-each-ref", "--format=%(refname:lstrip=2)").split()
    return next(name for name in names if name != "lace/place")
