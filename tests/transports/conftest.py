"""Fixtures of the tests of drops and of git places."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transports.git_hosts import bare_repository
from tests.transports.helpers import DROP_ID
from transports.drop.place import Drop
from transports.git import host
from transports.git.command import GitRunner
from transports.git.place import GitPlace
from transports.git.remote import git_uri, parse_remote


@pytest.fixture
def drop(tmp_path: Path) -> Drop:
    return Drop.create(tmp_path / "drop", entropy=lambda size: bytes.fromhex(DROP_ID)[:size])


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return bare_repository(tmp_path / "remote.git")


@pytest.fixture
def runner(bare: Path, tmp_path: Path) -> GitRunner:
    """Runs git in an empty private repository, whose remote lies beside it."""
    made = GitRunner(tmp_path / "home", parse_remote(git_uri(bare)))
    made.repository = bare_repository(tmp_path / "home" / "own.git")
    return made


@pytest.fixture
def at(bare: Path, tmp_path: Path) -> Callable[[str], GitPlace]:
    """Open the same place as somebody else, each with private repositories of their own."""
    return lambda who: GitPlace.create(git_uri(bare), tmp_path / who, entropy=os.urandom)


@pytest.fixture
def by_talks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git talk with a repository on this machine as with one elsewhere, and nothing be read where it lies."""
    monkeypatch.setattr(host, "own_directory", lambda _path: None)


@pytest.fixture
def talks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the talks which git holds from now on."""
    said: list[str] = []
    talk = GitRunner.talk

    def listening(runner: GitRunner, *words: str, **how: Any) -> tuple[int, bytes, str]:
        said.append(words[0])
        return talk(runner, *words, **how)

    monkeypatch.setattr(GitRunner, "talk", listening)
    return said
