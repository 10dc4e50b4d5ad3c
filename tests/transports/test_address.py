"""Kinds of place from the text a person writes (CYB-16)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from transports.address import Address, AddressKind, as_read, detect_kind, file_uri, parse_address, parse_stored
from transports.drop.place import Drop
from transports.errors import PlaceUnreachable, UnknownPlaceKind
from transports.git.place import GitPlace
from transports.git.remote import parse_remote
from vault.errors import PlaceError


def test_a_directory_is_a_drop(tmp_path: Path) -> None:
    (tmp_path / "stick").mkdir()
    expected = Address(AddressKind.DROP, file_uri(tmp_path / "stick"), tmp_path / "stick")
    for text in ("stick", "./stick", "stick/", f"{tmp_path}/stick", f"file://{tmp_path}/stick", "x/../stick"):
        assert parse_address(text, tmp_path) == expected
    assert parse_address(f"file://localhost{tmp_path}/stick", tmp_path) == expected
    assert parse_address("not there yet", tmp_path).path == tmp_path / "not there yet"
    assert parse_address("a:b", tmp_path).kind == AddressKind.DROP
    (tmp_path / "a:b@c").mkdir()
    for text in ("a:b@c", "./x:y@z", f"{tmp_path}/x:y@z"):
        assert parse_address(text, tmp_path).kind == AddressKind.DROP


def test_file_uris_round_trip(tmp_path: Path) -> None:
    for name in ("a b", "ä#?%", "100%", "x;y", os.fsdecode(b"\xff")):
        path = tmp_path / name
        assert parse_address(file_uri(path), Path("/")).path == path


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("git@example.org:alice/vault", AddressKind.GIT),
        ("alice@host:vault", AddressKind.GIT),
        ("friend:us/vault.git", AddressKind.GIT),
        ("friend:/srv/vault.git/", AddressKind.GIT),
        ("192.0.2.5:vault.git", AddressKind.GIT),
        ("my_hub:vault.git", AddressKind.GIT),
        ("ssh://example.org/vault", AddressKind.GIT),
        ("git+https://example.org/vault", AddressKind.GIT),
        ("git+file:/srv/vault", AddressKind.GIT),
        ("https://example.org/vault.git", AddressKind.GIT),
        ("vault.git", AddressKind.GIT),
        ("https://example.org/vault", AddressKind.HTTP),
        ("http://localhost:8000", AddressKind.HTTP),
    ],
)
def test_other_kinds_are_recognised(text: str, kind: AddressKind, tmp_path: Path) -> None:
    found, path = detect_kind(text, tmp_path)
    assert found == kind
    assert path is None or ":" not in text, "no directory of that name is meant"
    assert parse_address(text, tmp_path).kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\0b",
        "ftp://example.org/vault",
        "rsync://x",
        "rsync://x/vault.git",
        "friend:vault",
        "friend:-v.git",
        "https//example.org/vault",
        "git+ssh//example.org/vault.git",
        "srv/alice:geheim@host",
        "file://server/share",
        "file:relative",
        "file:///a?b",
        "file:///%00",
        "file://[",
    ],
)
def test_what_names_no_place_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownPlaceKind):
        parse_address(text, tmp_path)


@pytest.mark.parametrize(
    "text",
    ["stdio:", "unix:/run/lace", "tcp:example.org", "tcp:example.org:4790", "ws:example.org", "wss:[::1]:443/lace"],
)
def test_the_address_of_a_stream_is_named_as_one(text: str, tmp_path: Path) -> None:
    """FAC-22: Lace-060 has addresses of one exchange; a place is where two meet again, and none of these is one.

    It was taken for an alias of one's ssh settings, and the way out led to a host of that name.
    """
    with pytest.raises(UnknownPlaceKind, match="is the address of one exchange") as caught:
        parse_address(text, tmp_path)
    assert "lace serve" in caught.value.hint
    assert "ssh" not in caught.value.hint
    (tmp_path / "tcp:x").mkdir()
    assert parse_address("tcp:x", tmp_path).kind == AddressKind.DROP


@pytest.mark.parametrize(
    "uri",
    [
        "git@example.org:a@b/vault.git",
        "friend:vaults@2/v.git",
        "friend:us@b.example/v.git",
        "ssh://git@example.org:2222/a@b.git",
        "ssh://git@[::1]/a@b.git",
        "https://example.org:8443/@alice/vault.git",
    ],
)
def test_a_place_that_was_taken_once_stays_one(uri: str, tmp_path: Path) -> None:
    """An @ in its path could as well end a password in what somebody types now."""
    assert parse_stored(uri) == Address(AddressKind.GIT, uri, None)
    assert parse_remote(uri).protocol in {"ssh", "https"}
    with pytest.raises(UnknownPlaceKind, match="may be a password"):
        parse_address(uri, tmp_path)


@pytest.mark.parametrize("path", ["v.git", "d"])
@pytest.mark.parametrize("login", ["geheim", "alice%3Ageheim"])
def test_a_token_before_an_encoded_at_is_refused_and_not_repeated(path: str, login: str, tmp_path: Path) -> None:
    """CYB-15: it went for the name of a host, and each error that this one cannot be reached told it."""
    with pytest.raises(UnknownPlaceKind, match="password") as caught:
        parse_address(f"https://{login}%40host.example/{path}", tmp_path)
    assert "geheim" not in caught.value.message + caught.value.hint
    for kept in ("https://[fe80::1%25eth0]/v.git", "https://[fe80::1%25eth0]/d"):
        assert "fe80" in parse_stored(kept).uri


@pytest.mark.parametrize(
    ("text", "uri", "asked"),
    [
        ("git@host:vaults/2026@home.git", "ssh://git@host/~/vaults/2026%40home.git", "~/vaults/2026@home.git"),
        ("git@host:/srv/2026@home.git", "ssh://git@host/srv/2026%40home.git", "/srv/2026@home.git"),
        ("host:vaults/2026@home.git", "ssh://host/~/vaults/2026%40home.git", "~/vaults/2026@home.git"),
        ("git@host:~us/2026@home.git", "ssh://git@host/~us/2026%40home.git", "~us/2026@home.git"),
    ],
)
def test_the_way_out_for_a_path_with_an_at_leads_to_the_same_repository(
    text: str, uri: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-16: a URI begins at the root of the host, and what stands behind a colon at one's home there."""
    with pytest.raises(UnknownPlaceKind) as caught:
        parse_address(text, tmp_path)
    assert "for HOST:PATH write ssh://HOST/~/PATH" in caught.value.hint
    assert "for HOST:/PATH ssh://HOST/PATH" in caught.value.hint
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\nfor said; do :; done\necho "$said" >> {tmp_path}/said\nexit 1\n')
    ssh.chmod(0o700)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    with pytest.raises(PlaceError):
        GitPlace(parse_address(uri, tmp_path).uri, tmp_path / "home")
    assert (tmp_path / "said").read_text().splitlines()[-1] == f"git-upload-pack '{asked}'"


def test_a_file_uri_with_one_slash_holds_no_password(tmp_path: Path) -> None:
    assert parse_address("file:/media/a:b@c", tmp_path).path == Path("/media/a:b@c")


def test_bare_repositories_and_vaults_are_taken_and_files_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / ".vault").mkdir(parents=True)
    assert parse_address("folder", tmp_path) == Address(AddressKind.VAULT, folder.as_uri(), folder)
    bare = tmp_path / "bare"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    assert parse_address("bare", tmp_path) == Address(AddressKind.GIT, f"git+{bare.as_uri()}", bare)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnknownPlaceKind, match="is a file"):
        parse_address("file", tmp_path)


def test_a_drop_stays_one_whatever_its_name(tmp_path: Path) -> None:
    Drop.create(tmp_path / "odd.git", entropy=os.urandom)
    assert parse_address("odd.git", tmp_path).kind == AddressKind.DROP


def test_a_directory_that_may_not_be_looked_into_is_out_of_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stick with wrong permissions is a place all the same: its push waits, and its address is not at fault."""

    def refuse(*_: object, **__: object) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", refuse)
    with pytest.raises(PlaceUnreachable, match=r"stick may not be looked into: permission denied\.$"):
        parse_address(str(tmp_path / "stick"), tmp_path)
    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(PlaceUnreachable) as caught:
        parse_address("alice:geheim@host.example/v.git", tmp_path)
    assert "geheim" not in caught.value.message


def test_a_git_host_without_a_repository_is_no_directory(tmp_path: Path) -> None:
    """CYB-16: a forgotten colon made a drop of that name in the folder."""
    for text in ("git@example.org", "git@example.org/alice/vault"):
        with pytest.raises(UnknownPlaceKind, match="no repository on it"):
            parse_address(text, tmp_path)
    assert parse_address("./git@example.org", tmp_path).kind == AddressKind.DROP


@pytest.mark.parametrize(
    ("uri", "read"),
    [
        ("file:///media/my%20stick/%E6%B1%A4", "file:///media/my stick/汤"),
        ("file:///media/stick", "file:///media/stick"),
        ("file:///media/100%2525", "file:///media/100%2525"),
        ("file:///media/what%3F", "file:///media/what%3F"),
        ("file:///media/a%23b", "file:///media/a%23b"),
        ("file:///media/%FF", "file:///media/%FF"),
        ("file:///media/a%0Ab", "file:///media/a%0Ab"),
        ("file:///media/end%20", "file:///media/end%20"),
        ("https://host/a%20b/", "https://host/a%20b/"),
    ],
)
def test_an_address_is_read_without_percent_signs_where_it_is_the_same_still(uri: str, read: str) -> None:
    """CYB-16: what a person reads may be typed again, and names the same place."""
    assert as_read(uri) == read
    assert parse_address(read, Path("/")).uri == uri
