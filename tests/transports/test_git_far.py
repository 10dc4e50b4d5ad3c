"""Git hosts as they stand elsewhere, an sshd and a web server with TLS: what they lose and refuse (decision 7a)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from lazy.results import PlaceResult
from lazy.sync import sync
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository, certified, git, has_sshd, ssh_host, web_host
from tests.transports.git_places import damage, make_due
from tests.transports.test_git_alone import content_let_go, own_branch, released_and_let_go
from tests.vault.vaults import befriended
from vault.releasing import release
from vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Host:
    """A repository at a host: its address, and where it lies."""

    uri: str
    bare: Path


@pytest.fixture(params=["ssh", "ssh of the old protocol", "https", "https of the old protocol"])
def host(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A repository behind a real host, which takes git at its word for which protocol it speaks, or does not."""
    kind, passes = request.param.split()[0], "old" not in request.param
    bare = bare_repository(tmp_path / "served" / "v.git")
    if kind == "ssh":
        if not has_sshd():
            pytest.skip("there is no sshd here")
        with ssh_host(tmp_path / "sshd", passes_protocol=passes, keeps_line=True) as (address, command):
            monkeypatch.setenv("GIT_SSH_COMMAND", command)
            yield Host(f"{address}{bare}", bare)
        return
    certificate = certified(tmp_path / "tls")
    # Else git's TLS also reads every certificate of this machine, for each connection: 60 ms, most of a talk.
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate))
    monkeypatch.setenv("GIT_SSL_CAPATH", str(certificate.parent))
    with web_host(bare.parent, certificate=certificate, passes_protocol=passes) as address:
        yield Host(address + bare.name, bare)


def test_a_host_elsewhere_takes_a_small_change_for_little_and_back_what_it_lost(
    tmp_path: Path, shelf: Shelf, host: Host
) -> None:
    """CYB-17, CLAY-79, LAZ-63: what a host lost, refuses or set back costs nothing that lies there alone."""
    alice, bob = shelf.lay(befriended, "bob")
    with closing(alice), closing(bob):
        films = released_and_let_go(tmp_path, alice, bob, host.uri)
        for result in small_change(alice, bob):
            assert not result.problems
            assert result.traffic.bytes_read + result.traffic.bytes_written < 40_000
        name = own_branch(alice, host.bare)
        damage(host.bare, git(host.bare, "rev-parse", f"{name}^{{tree}}"), is_gone=True)
        synced(alice, bob)
        for refused in ("receive.denyDeletes", "receive.denyNonFastForwards"):
            git(host.bare, "config", refused, "true")
        damage(host.bare, git(host.bare, "rev-parse", f"{own_branch(alice, host.bare)}:head.rec"), is_gone=False)
        synced(alice, bob)
        small_change(alice, bob)
        name = own_branch(alice, host.bare)
        git(host.bare, "update-ref", name, f"{name}~1")
        assert [problem.code for problem in sync(alice, ["host"])[0].problems] == ["branch-set-back"]
        synced(bob, alice)
        assert content_let_go(alice, host.bare) == films[0]


def small_change(alice: Vault, bob: Vault) -> list[PlaceResult]:
    """Let one friend release a few bytes, and both sync; return what that cost."""
    (alice.folder / "small.txt").write_text(os.urandom(8).hex())
    release(alice)
    return [sync(vault, ["host"])[0] for vault in (alice, bob)]


def synced(*vaults: Vault) -> None:
    """Let friends sync twice, who look whether the host has what is their own."""
    for vault in vaults * 2:
        make_due(vault.folder)
        assert not sync(vault, ["host"])[0].problems
