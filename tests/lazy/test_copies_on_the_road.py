"""Copies for a prune cost its owner's friends next to nothing, whatever the road (CLAY-79, CYB-16)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from lazy.address import resolve
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.places.media import set_encrypted
from lazy.places.registry import place_named, remove_place
from lazy.sync import sync
from tests.lazy.test_own_copies import visited
from tests.transports.git_hosts import bare_repository, daemon, git
from tests.transports.web_hosts import plain_server
from tests.vault.vaults import befriended
from vault.content.keeping import Keep, fetch, set_keep
from vault.content.prune import prune
from vault.desks.chunks import entry_pieces
from vault.desks.tree import lookup
from vault.releasing import release
from vault.vault import Vault

_SIZE = 300_000  # bytes of a film, of which two are copied
_LITTLE = 15_000  # bytes: heads, lists and an index run
_MUCH = 100_000  # bytes: with what is new beside them, a file of 20,000


@pytest.fixture(params=["git", "git, encrypted", "drop", "drop, encrypted"])
def copied(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Vault, Vault, str]]:
    """Alice and bob, who has copied two old films of hers for a prune to the place `host`; and which kind it is."""
    alice, bob = befriended(tmp_path, "bob")
    kind = str(request.param)
    host = bare_repository(tmp_path / "host") if kind.startswith("git") else tmp_path / "host"
    for vault in (alice, bob):
        add_place(vault, "host", str(host), cwd=tmp_path)
        if kind.endswith("encrypted"):
            set_encrypted(vault, place_named(vault, "host"))
    for vault in (alice, bob, alice, bob):
        visited(vault, "host")
        sync(vault, ["stick"])
    for vault in (alice, bob):
        remove_place(vault, "stick")
    for number in range(4):
        (alice.folder / "film.bin").write_bytes(film(number))
        release(alice)
        for vault in (alice, bob):
            visited(vault, "host")
    update(bob)
    for vault in (bob, alice, bob, alice):
        visited(vault, "host")
    set_keep(bob, "main", Keep("film.bin", 2))
    assert prune(bob).unproven == 2
    yield alice, bob, kind
    for vault in (alice, bob):
        vault.close()


def film(number: int) -> bytes:
    """One version of the film."""
    return Random(number).randbytes(_SIZE)


def visit(vault: Vault, place: str = "host") -> int:
    """Sync with a place; return the bytes that were read."""
    (done,) = sync(vault, [place])
    assert not done.problems
    return done.traffic.bytes_read


def refusing(host: Path, script: str) -> Path:
    """Let a git host ask a script about each push; return the hook."""
    hook = host / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{script}")
    hook.chmod(0o755)
    return hook


def content_of(vault: Vault, version: str) -> bytes:
    """Return the film of a release of alice's."""
    entry = lookup(vault.store, resolve(vault, f"alice/main@{version}").tree, "film.bin")
    assert entry is not None
    return b"".join(entry_pieces(vault.store, entry))


def test_who_has_what_is_copied_fetches_none_of_it(copied: tuple[Vault, Vault, str], tmp_path: Path) -> None:
    """CLAY-79, CYB-16: a git host gave all of the copies to each friend at their next visit, to be read by nobody."""
    alice, bob, kind = copied
    for number in range(2):
        (bob.folder / "new.bin").write_bytes(Random(f"new {number}").randbytes(20_000))
        release(bob)
        (done,) = sync(bob, ["host"])
        assert (done.traffic.bytes_written > 2 * _SIZE) == (number == 0)
        if kind == "drop" and not number:
            with plain_server(tmp_path / "host") as (uri, _):
                add_place(alice, "web", uri, cwd=tmp_path)
                assert 20_000 < visit(alice, "web") < _MUCH
                remove_place(alice, "web")
        assert visit(alice) < _MUCH
    assert prune(bob).files == 2
    visited(bob, "host")
    assert visit(alice) < _LITTLE


@pytest.mark.parametrize("copied", ["git"], indirect=True)
def test_who_wants_what_is_copied_fetches_it(copied: tuple[Vault, Vault, str], tmp_path: Path) -> None:
    """CLAY-79: what was let go, and lies in no other mailbox, comes from bundles that are not fetched ahead."""
    alice, bob, _ = copied
    visited(bob, "host")
    assert prune(bob).files == 2
    host = tmp_path / "host"
    for branch in git(host, "for-each-ref", "--format=%(refname)", "refs/heads/lace").split():
        if alice.node.key.hex() in branch:
            git(host, "update-ref", "-d", branch)
    git(host, "gc", "--quiet", "--prune=now")
    for private in (bob.folder / ".vault" / "git").glob("*.git"):
        shutil.rmtree(private)
    for version in ("1.0.0", "1.0.1"):
        assert fetch(bob, resolve(bob, f"alice/main@{version}").tree, "film.bin") == ["film.bin"]
    visited(bob, "host")
    assert [content_of(bob, version) for version in ("1.0.0", "1.0.1")] == [film(0), film(1)]


@pytest.mark.parametrize("copied", ["git"], indirect=True)
def test_copies_that_a_host_has_no_room_for_are_not_pushed_at_each_visit(
    copied: tuple[Vault, Vault, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 3, CLAY-79: room on this machine says nothing of the host's."""
    _, bob, _ = copied
    pushes = tmp_path / "pushes"
    hook = refusing(tmp_path / "host", f"echo one >> {pushes}\necho disk quota exceeded >&2\nexit 1\n")
    remove_place(bob, "host")
    with daemon(tmp_path) as uri:  # on this machine itself no hook is run
        add_place(bob, "host", f"{uri}host", cwd=tmp_path)
        for visits in range(3):
            monkeypatch.setattr(shutil, "disk_usage", lambda _path, free=visits: (1 << 40, 0, (1 << 39) + (free << 30)))
            (done,) = sync(bob, ["host"])
            assert [problem.code for problem in done.problems] == ["copies-wait"]
            assert pushes.read_text() == "one\n"
        hook.unlink()
        now = bob.around.now_ns
        monkeypatch.setattr(bob, "around", replace(bob.around, now_ns=lambda: now() + 86_400 * 10**9))
        visited(bob, "host")
    assert prune(bob).files == 2


@pytest.mark.parametrize("copied", ["git"], indirect=True)
def test_copies_that_a_host_refuses_keep_nothing_else_back(
    copied: tuple[Vault, Vault, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-79, LAZ-47: what had gone before was not counted, and the copies were pushed again at each visit."""
    alice, bob, _ = copied
    pushes = tmp_path / "pushes"
    large = "git rev-list --objects $new --not --all | cut -d' ' -f1 | git cat-file --batch-check='%(objectsize)'"
    hook = refusing(
        tmp_path / "host",
        f"while read old new ref; do\nif [ $({large} | sort -n | tail -1) -gt 200000 ]; then\n"
        f"echo one >> {pushes}\necho a file is too large for this repository >&2\nexit 1\nfi\ndone\n",
    )
    remove_place(bob, "host")
    with daemon(tmp_path) as uri:  # on this machine itself no hook is run
        add_place(bob, "host", f"{uri}host", cwd=tmp_path)
        for number in range(3):
            (bob.folder / "new.txt").write_text(f"{number}\n")
            release(bob)
            (done,) = sync(bob, ["host"])
            assert done.refusal is None
            assert done.sent > 0
            assert [problem.code for problem in done.problems] == ["copies-wait"]
            assert "too large for this repository" in done.problems[0].message
            assert pushes.read_text() == "one\n"
            visited(alice, "host")
        hook.unlink()
        now = bob.around.now_ns
        monkeypatch.setattr(bob, "around", replace(bob.around, now_ns=lambda: now() + 86_400 * 10**9))
        visited(bob, "host")
    assert prune(bob).files == 2
