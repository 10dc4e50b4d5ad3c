"""What addresses mean to git, and which repositories of this machine are used (CYB-16, decision 7a)."""

from __future__ import annotations

from pathlib import Path

import pytest

from transports.errors import UnknownPlaceKind
from transports.git.local import is_harmless
from transports.git.remote import git_uri, parse_remote


@pytest.mark.parametrize(
    ("uri", "url", "protocol", "shown"),
    [
        ("git@example.org:alice/vault", "git@example.org:alice/vault", "ssh", "example.org:alice/vault"),
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
