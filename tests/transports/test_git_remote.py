"""What addresses mean to git, and which repositories of this machine are used (CYB-16, decision 7a)."""

from __future__ import annotations

import os
import struct
import zlib
from hashlib import sha1
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transports.address import AddressKind, parse_address
from transports.errors import NotAGitPlace, PlaceNotWritable, UnknownPlaceKind
from transports.git import local
from transports.git.command import GitRunner
from transports.git.local import is_harmless
from transports.git.remote import git_uri, parse_remote


@pytest.mark.parametrize(
    ("uri", "url", "protocol", "shown"),
    [
        ("git@example.org:alice/vault", "git@example.org:alice/vault", "ssh", "example.org:alice/vault"),
        ("friend:us/v.git", "friend:us/v.git", "ssh", "friend:us/v.git"),
        ("https://example.org/v.git", "https://example.org/v.git", "https", "https://example.org/v.git"),
        ("git+https://example.org/v", "https://example.org/v", "https", "https://example.org/v"),
        ("ssh://git@example.org:2222/v", "ssh://git@example.org:2222/v", "ssh", "ssh://example.org:2222/v"),
        ("git+ssh://example.org/v", "ssh://example.org/v", "ssh", "ssh://example.org/v"),
        ("git://127.0.0.1:9418/v", "git://127.0.0.1:9418/v", "git", "git://127.0.0.1:9418/v"),
        ("http://localhost/v", "http://localhost/v", "http", "http://localhost/v"),
        ("https://[::1]:8443/v", "https://[::1]:8443/v", "https", "https://[::1]:8443/v"),
        ("git+file:///srv/v.git", "file:///srv/v.git", "file", "/srv/v.git"),
        ("git+file:/srv/v.git", "file:///srv/v.git", "file", "/srv/v.git"),
    ],
)
def test_addresses_and_the_one_protocol_each_may_use(uri: str, url: str, protocol: str, shown: str) -> None:
    remote = parse_remote(uri)
    assert (remote.url, remote.protocol, remote.shown) == (url, protocol, shown)
    assert remote.is_far is (protocol in {"ssh", "https"})


@pytest.mark.parametrize(
    "uri",
    [
        "https://alice:secret@example.org/v",
        "https://secret@example.org/v",
        "ssh://alice:secret@example.org/v",
        "git://example.org/v",
        "http://example.org/v",
        "ext::sh -c touch% /tmp/x",
        "git+file://server/v",
        "git+file:relative",
        "ssh://-oProxyCommand=touch/v",
        "ssh://-x@example.org/v",
        "git@-oProxyCommand=touch:v",
        "git@example.org:-v",
        "-oProxyCommand=touch:v.git",
        "friend:-v.git",
        "ext:v.git\n",
        "https://example.org",
        "https:///v",
        "https://example.org/v?x=1",
        "https://example.org/v#x",
        "https://example.org:x/v",
        "https://example.org/a b",
        "ftp://example.org/v",
    ],
)
def test_what_git_may_not_use_is_refused_and_no_password_repeated(uri: str) -> None:
    with pytest.raises(UnknownPlaceKind) as caught:
        parse_remote(uri)
    assert "secret" not in caught.value.message + caught.value.hint


def test_a_directory_may_have_any_name(tmp_path: Path) -> None:
    for name in ("a b", "ä#?%", "100%", "x;y 'z'"):
        assert parse_remote(git_uri(tmp_path / name)).path == tmp_path / name
    foreign = parse_remote(git_uri(tmp_path / os.fsdecode(b"f\xfcr.git")))  # as another system wrote it
    assert (foreign.path, foreign.shown) == (tmp_path / os.fsdecode(b"f\xfcr.git"), f"{tmp_path}/f\ufffdr.git")
    assert foreign.url.endswith("/f%FCr.git")


@pytest.mark.parametrize(
    "key",
    [
        "core.alternaterefscommand",
        "core.fsmonitor",
        "core.sshcommand",
        "core.worktree",
        "include.path",
        "includeif.gitdir:/.path",
        "extensions.partialclone",
        "extensions.worktreeconfig",
        "remote.x.uploadpack",
        "remote.x.promisor",
        "remote.x.vcs",
        "filter.x.smudge",
        "uploadpack.packobjectshook",
        "gc.recentobjectshook",
        "receive.procreceiverefs",
        "something.new",
    ],
)
def test_keys_that_may_start_programs_are_named(key: str) -> None:
    assert is_harmless(f"core.bare\n{key}\n") == key


def test_the_configuration_that_git_init_writes_is_harmless() -> None:
    keys = "core.repositoryformatversion\ncore.filemode\ncore.bare\nreceive.denynonfastforwards\nremote.origin.url\n"
    assert is_harmless(keys) == ""
    assert is_harmless("") == ""


def test_git_is_not_asked_about_a_configuration_that_it_wrote(
    runner: GitRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To start git costs more than all else of a visit that finds nothing new; another word is git's to read."""
    written = tmp_path / "remote.git" / "config"
    begun: list[str] = []

    def listed(*words: str) -> tuple[int, bytes]:
        begun.append(words[0])
        return 0, b"core.sshcommand"

    monkeypatch.setattr(runner, "run", lambda *_: b"")
    monkeypatch.setattr(runner, "try_run", listed)
    local.check_directory(runner)
    assert begun == []
    with written.open("a") as file:
        file.write("\tsharedRepository = group\n[receive]\n\tdenyNonFastforwards = true\n")
    local.check_directory(runner)
    assert begun == []
    for strange in ("\tsshCommand = touch /x\n", "# why\n", '[remote "a"]\n', "[core] bare = true\n", "\tx =\\\n", "x"):
        text = written.read_text()
        written.write_text(text + strange)
        with pytest.raises(NotAGitPlace, match=r"core\.sshcommand"):
            local.check_directory(runner)
        written.write_text(text)
    assert begun == ["config"] * 6
    written.write_text("[core]\n" + "\tbare = true\n" * 400)
    with pytest.raises(NotAGitPlace):
        local.check_directory(runner)


def _unfolding(size: int, times: int) -> bytes:
    """Return a pack of a blob of zeros and one that says so many times: that one again."""

    def header(kind: int, count: int) -> bytes:
        found = bytearray((kind << 4 | count & 15,))
        count >>= 4
        while count:
            found[-1] |= 0x80
            found.append(count & 0x7F)
            count >>= 7
        return bytes(found)

    def number(count: int) -> bytes:
        found = bytearray()
        while count > 0x7F:
            found.append(count & 0x7F | 0x80)
            count >>= 7
        return bytes((*found, count))

    zeros = bytes(size)
    name = sha1(b"blob %d\0" % size + zeros, usedforsecurity=False).digest()
    copy = b"\xf0" + size.to_bytes(3, "little")  # from its beginning, so many bytes
    delta = number(size) + number(size * times) + copy * times
    pack = b"PACK" + struct.pack(">II", 2, 2) + header(3, size) + zlib.compress(zeros)
    pack += header(7, len(delta)) + name + zlib.compress(delta)
    return pack + sha1(pack, usedforsecurity=False).digest()


def test_a_kilobyte_that_unfolds_to_a_hundred_megabytes_is_refused(runner: GitRunner) -> None:
    # CYB-17: git unfolds what a host sends, and would take any memory for it.
    pack = _unfolding(900_000, 120)
    assert len(pack) < 2_000
    assert runner.run("index-pack", "--stdin", stdin=_unfolding(900_000, 3))
    with pytest.raises(PlaceNotWritable, match="over limit"):
        runner.run("index-pack", "--stdin", stdin=pack)


_words = st.text("abBrex", min_size=1, max_size=8)
_lines = st.one_of(
    st.builds("[{}]".format, _words),
    st.builds("\t{} = {}".format, _words, st.text("abT019", min_size=1, max_size=8)),
    st.sampled_from(
        ["", "\t", "# x", '[a "b"]', "\ta", "a = b", "\ta = b c", '\ta = "b', "\ta = b\\", "\ta = b # c", "[a.b]"]
    ),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_lines, max_size=8))
def test_what_is_read_without_git_is_what_git_reads(runner: GitRunner, lines: list[str]) -> None:
    """Every text that counts as plain has just the keys that git names, and git names the same of all others."""
    config = runner.home / "tried"
    config.write_text("".join(f"{line}\n" for line in lines))
    code, said = runner.try_run("config", "--file", str(config), "--no-includes", "--list", "--name-only")
    found = local._keys(runner, config)
    assert (found.splitlines() if found is not None else None) == (None if code else said.decode().splitlines())


@pytest.mark.parametrize(
    ("uri", "way"),
    [
        ("git@[::1]:path.git", "Write ssh://git@[::1]/path.git, or ssh://git@[::1]/~/path.git where"),
        ("git@[fe80::1]:/srv/path.git", "Write ssh://git@[fe80::1]/srv/path.git"),
    ],
)
def test_an_ipv6_number_before_a_path_is_told_how_to_be_written(uri: str, way: str, tmp_path: Path) -> None:
    """CYB-16: it was said to lack a host and a path, which stand there."""
    with pytest.raises(UnknownPlaceKind, match="IPv6 number") as caught:
        parse_address(uri, tmp_path)
    assert caught.value.hint.startswith(way)
    assert parse_address(caught.value.hint.split()[1].rstrip(","), tmp_path).kind == AddressKind.GIT
