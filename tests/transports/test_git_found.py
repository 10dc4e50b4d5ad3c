"""Which repository of this machine git finds where it is given a path, and on which others it leans (CYB-16)."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.transports.git_hosts import bare_repository, git
from tests.transports.git_places import got, noise
from tests.transports.helpers import additions, key, put, some_records
from transports.errors import NotAGitPlace
from transports.git.place import GitPlace
from transports.git.remote import git_uri


def written_inside(bare: Path, elsewhere: Path) -> None:
    """Let a file say that the repository lies elsewhere."""
    (bare / ".git").write_text(f"gitdir: {elsewhere}\n")


def lying_inside(bare: Path, elsewhere: Path) -> None:
    """Let another repository lie in the one that is named, with a configuration of its own."""
    git(elsewhere, "config", "core.sshCommand", "false")
    elsewhere.rename(bare / ".git")
    elsewhere.symlink_to(bare / ".git")


def lying_beside(bare: Path, elsewhere: Path) -> None:
    """Let another repository lie beside one that git does not take for any."""
    (bare / "HEAD").write_text("nothing\n")
    bare.with_name(f"{bare.name}.git").symlink_to(elsewhere)


@pytest.mark.parametrize("change", [written_inside, lying_inside, lying_beside])
def test_the_repository_that_was_looked_at_is_the_one_that_git_finds(
    tmp_path: Path, change: Callable[[Path, Path], None]
) -> None:
    """Given a path, git looks in `.git` below it first, and beside it last: nobody had looked at those."""
    bare, elsewhere = bare_repository(tmp_path / "remote.git"), bare_repository(tmp_path / "elsewhere")
    change(bare, elsewhere)
    with pytest.raises(NotAGitPlace):
        put(GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom), key(1), additions(some_records(3)))
    assert git(elsewhere, "for-each-ref") == ""


def test_a_repository_with_files_is_found_though_one_of_them_is_named_as_git_names_its_own(tmp_path: Path) -> None:
    """A file HEAD beside `.git` makes nothing of the folder around it."""
    around = tmp_path / "around"
    around.mkdir()
    bare = bare_repository(around / ".git")
    (around / "HEAD").write_text("ref: refs/heads/lace/none\n")
    put(GitPlace.create(git_uri(around), tmp_path / "a", entropy=os.urandom), key(1), additions(some_records(3)))
    assert "refs/heads/lace/place" in git(bare, "for-each-ref")
    git(bare, "config", "core.sshCommand", "false")
    with pytest.raises(NotAGitPlace, match=r"core\.sshcommand"):
        GitPlace.create(git_uri(around), tmp_path / "b", entropy=os.urandom)


def test_what_a_repository_leans_on_is_not_taken_for_its_own(tmp_path: Path) -> None:
    """A medium that was cloned with --shared leaves the other repository behind when it is carried away."""
    near, bare = bare_repository(tmp_path / "near.git"), bare_repository(tmp_path / "remote.git")
    stored = noise(3)
    put(GitPlace.create(git_uri(near), tmp_path / "a", entropy=os.urandom), key(1), additions(stored))
    leans = bare / "objects" / "info" / "alternates"
    leans.write_text(f"{near / 'objects'}\n")
    put(GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom), key(1), additions(stored))
    leans.unlink()
    with closing(GitPlace.open(git_uri(bare), tmp_path / "c")) as reader:
        assert got(reader) == stored
