"""Which kind of place an address means (CYB-16; command line contract, "Places")."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from transports.drop.marker import MARKER
from transports.errors import PlaceUnreachable, UnknownPlaceKind
from transports.http.schemes import PLAIN
from vault.records.errors import RecordError
from vault.records.hashes import Verifier
from vault.typed import holds_password, masked, shown

__all__ = ["WEB_KINDS", "Address", "AddressKind", "LiveAddress", "detect_kind", "file_uri"]
__all__ += ["as_read", "check_host", "is_host", "parse_address", "parse_live", "parse_stored"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):", re.ASCII)  # two letters at least: C: is a drive
_SCP_HINT = "Write git@HOST:PATH, with a colon, or ./git@... for a directory of that name."
_NO_COLON = re.compile(r"(?:https?|ssh|git)(?:\+[a-z]+)?//", re.IGNORECASE)
_KEEPS_NONE = (
    "Leave it out: ssh has your key, and git over https your ~/.netrc or GIT_ASKPASS. If it is none, write ./ before a"
    " directory, and %40 for each @ in the path of a URI; for HOST:PATH write ssh://HOST/~/PATH, which begins at your"
    " home there too, and for HOST:/PATH ssh://HOST/PATH."
)
_ANOTHER_NOW = "Put back what lay there, or forget the place: lace place remove NAME"
_SCP = re.compile(r"[^/@\s:]+@[^/@\s:]+:.+")
_GIT_SCHEMES = frozenset({"ssh", "git", "git+ssh", "git+https", "git+http", "git+file", "ssh+git"})
_HOST = re.compile(r"[0-9A-Za-z._:%-]+", re.ASCII)  # with : and % for numbers such as fe80::1%eth0
_HTTP_SCHEMES = frozenset({"http", "https", PLAIN})
_STREAMS = frozenset({"stdio", "tcp", "unix", "ws", "wss"})  # of Lace-060 (FAC-22)
_STREAM_WAY = (
    "A place is where two meet again and again: a directory, a git remote, or the whole line that lace serve prints,"
    " https://HOST:PORT/#V....H3"
)


class AddressKind(StrEnum):
    """The kinds of place."""

    DROP = "drop"
    GIT = "git"
    HTTP = "http"
    LIVE = "live"
    VAULT = "vault"


WEB_KINDS = frozenset({AddressKind.LIVE, AddressKind.HTTP})
"""The kinds whose addresses name a host that lace itself speaks to."""


class Address(NamedTuple):
    """Where a place lies.

    Args:
        kind: how it is spoken to.
        uri: the address in the form that settings keep.
        path: the directory, for kinds that have one.
    """

    kind: AddressKind
    uri: str
    path: Path | None


class LiveAddress(NamedTuple):
    """A live server, and the node that must stand behind it: `https://HOST:PORT/#V....H3`.

    Args:
        host: its name or number.
        port: its TCP port.
        node: whose key it must prove.
    """

    host: str
    port: int
    node: Verifier

    @property
    def shown(self) -> str:
        """The address as a person knows it, without the key."""
        return f"https://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def uri(self) -> str:
        """The address in the form that settings and invitations keep."""
        return f"{self.shown}/#{self.node.text}"


def parse_live(text: str) -> LiveAddress:
    """Read the address of a live server.

    Raises:
        UnknownPlaceKind: it is none, names no key, or would go over the network in the clear (CYB-15).
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise UnknownPlaceKind(f"{shown(text)} is not the address of a live server.") from error
    if parts.scheme.lower() != "https":
        raise UnknownPlaceKind(
            f"{shown(text)} is not encrypted, and a live server is spoken to over TLS only.",
            hint="Write https: instead; lace serve speaks nothing else.",
        )
    is_bare = not parts.query and parts.username is None and parts.path in {"", "/"}
    if not host or not host.isascii() or not host.isprintable() or not is_bare or not parts.fragment or port == 0:
        raise UnknownPlaceKind(
            f"{shown(text)} is not the address of a live server.",
            hint="Copy the whole line that lace serve prints: https://HOST:PORT/#V....H3",
        )
    try:
        return LiveAddress(host, port or 443, Verifier.parse(parts.fragment))
    except RecordError as error:
        way = "Copy the whole line that lace serve printed, with # and the key at its end, and put it in quotes."
        raise UnknownPlaceKind(f"{shown(text)} names a key that is none.", hint=way) from error


def parse_stored(uri: str, cwd: Path = Path("/")) -> Address:
    """Return the place that settings or an invitation name: what was taken once stays one.

    Args:
        uri: as `Address.uri` had it.
        cwd: the directory that relative paths start from, of which there are none.

    Raises:
        PlaceUnreachable: nothing that lies there now, and nothing that this version speaks, can be it.
    """
    try:
        return _parsed(uri, cwd, is_typed=False)
    except UnknownPlaceKind as error:  # nobody typed it now, and one place keeps nobody from the others
        raise PlaceUnreachable(error.message, hint=_ANOTHER_NOW) from error


def parse_address(text: str, cwd: Path) -> Address:
    """Return the place that a person's text names.

    Args:
        text: a path, absolute or relative, or a URI.
        cwd: the directory that relative paths start from.

    Raises:
        UnknownPlaceKind: the kind is not known, or known and not spoken by this version.
        PlaceUnreachable: its directory may not be looked into.
    """
    return _parsed(text, cwd, is_typed=True)


def _parsed(text: str, cwd: Path, *, is_typed: bool) -> Address:
    try:
        return _address(text, cwd, is_typed=is_typed)
    except PermissionError as error:
        raise PlaceUnreachable(
            f"{(text if text.startswith('/') else masked(text))[:200]} may not be looked into: permission denied.",
            hint="Check whose directory it is and what its permissions are, then run the same command again.",
        ) from error
    except (OSError, UnicodeError) as error:  # too long a name, or one that this system cannot carry
        reason = str(getattr(error, "strerror", None) or "it cannot be written as UTF-8").lower()
        raise UnknownPlaceKind(f"{shown(text)} names no place that can be on this machine: {reason}.") from error


def _address(text: str, cwd: Path, *, is_typed: bool) -> Address:
    kind, path = detect_kind(text, cwd, is_typed=is_typed)
    if kind is AddressKind.GIT:
        return _git_address(text, path)
    if kind in WEB_KINDS:
        uri = parse_live(text).uri if kind is AddressKind.LIVE else _web_uri(text)
        if is_typed:
            check_host(uri)
        return Address(kind, uri, None)
    assert path is not None  # noqa: S101 - the kinds that are left are directories
    if path.exists() and not path.is_dir():
        raise UnknownPlaceKind(f"{text!r} is a file, and a drop is a directory.")
    return Address(kind, file_uri(path), path)


def _web_uri(text: str) -> str:
    from transports.http.web import parse_web  # the web is needed for one kind only

    return parse_web(text).uri


def is_host(text: str) -> bool:
    """Tell whether a text can be the name or number of a machine: no part of a name is empty or too long."""
    try:
        text.encode("idna")
    except UnicodeError:
        return False
    return _HOST.fullmatch(text) is not None


def check_host(uri: str) -> None:
    """Refuse a web address whose host no machine can have: a place that is new here; what was one before stays one.

    Args:
        uri: as `Address.uri` has it.

    Raises:
        UnknownPlaceKind: no machine can be called so.
    """
    host = urlsplit(uri).hostname or ""
    if not is_host(host):
        way = f"No machine can be called {shown(host)}: see that its name is typed right."
        raise UnknownPlaceKind(f"{shown(uri)} is not a web address that lace can read.", hint=way)


def detect_kind(text: str, cwd: Path, *, is_typed: bool = True) -> tuple[AddressKind, Path | None]:
    """Return the kind of place a text means, spoken or not, and its path if it has one.

    Args:
        text: a path, absolute or relative, or a URI.
        cwd: the directory that relative paths start from.
        is_typed: whether a person has just typed it, so that it may hold a password.

    Raises:
        UnknownPlaceKind: it is of no known kind, or typed with what may be a password.
    """
    if not text or "\0" in text:
        raise UnknownPlaceKind(f"{shown(text)} names no place.")
    if is_typed and holds_password(text) and not _is_path(text, cwd):
        raise UnknownPlaceKind(f"{shown(text)} holds what may be a password, and lace keeps none.", hint=_KEEPS_NONE)
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match else ""
    if scheme in _GIT_SCHEMES or (not scheme and _SCP.fullmatch(text)):
        return AddressKind.GIT, None
    if scheme in _HTTP_SCHEMES:
        if "#V." in text:
            return AddressKind.LIVE, None
        is_git = text.rstrip("/").endswith(".git")
        return (AddressKind.GIT if is_git else AddressKind.HTTP), None
    if scheme != "file" and ":" in text and _is_alias(text) and not (cwd / text).exists():  # a number is no scheme
        return AddressKind.GIT, None
    if scheme in _STREAMS and not text[len(scheme) + 1 :].startswith("//") and not (cwd / text).exists():
        raise UnknownPlaceKind(f"{shown(text)} is the address of one exchange, and no place.", hint=_STREAM_WAY)
    if scheme and scheme != "file" and not (cwd / text).exists():
        if _SCP.fullmatch(text):
            return AddressKind.GIT, None
        way = (
            ""
            if "//" in text
            else f"If {scheme} is a host that your ssh knows: ssh://{scheme}/PATH, or end it with .git"
        )
        raise UnknownPlaceKind(f"{shown(text)} is of the unknown kind {scheme!r}, and {_spoken()}.", hint=way)
    if not scheme and text.startswith("git@") and not (cwd / text).exists():
        raise UnknownPlaceKind(f"{shown(text)} names a git host and no repository on it.", hint=_SCP_HINT)
    if _NO_COLON.match(text) and not (cwd / text).exists():
        raise UnknownPlaceKind(f"{shown(text)} lacks a colon before its //, and names no place.")
    path = _path_of_uri(text) if scheme == "file" else Path(os.path.normpath(cwd / text))
    return _kind_of_directory(path), path


def _is_path(text: str, cwd: Path) -> bool:
    """Tell whether a text says by itself that it is a directory of this machine, or is the name of one."""
    is_absolute = text.startswith("/") and not text.startswith("//")
    return is_absolute or text.startswith(("./", "../", "file:/")) or (cwd / text).exists()


def _git_address(text: str, path: Path | None) -> Address:
    from transports.git.remote import git_uri, parse_remote  # needed for one kind only

    if path is not None:
        return Address(AddressKind.GIT, git_uri(path), path)
    remote = parse_remote(text)
    return Address(AddressKind.GIT, git_uri(remote.path) if remote.path else text, remote.path)


def _is_alias(text: str) -> bool:
    from transports.git.remote import is_alias

    return is_alias(text)


def file_uri(path: Path) -> str:
    """Return the `file:` URI of an absolute path."""
    return path.as_uri()


def as_read(uri: str) -> str:
    """Return an address as a person reads it: that of a directory without `%` where it is the same address still."""
    if not uri.startswith("file:///") or "%" not in uri:
        return uri
    try:
        text = unquote(uri, errors="strict")
        is_same = text.isprintable() and text == text.strip() and file_uri(_path_of_uri(text)) == uri
    except (UnicodeDecodeError, UnknownPlaceKind):
        return uri
    return text if is_same else uri


def _kind_of_directory(path: Path) -> AddressKind:
    if (path / MARKER).is_file():
        return AddressKind.DROP
    if (path / ".vault").is_dir():
        return AddressKind.VAULT
    is_bare = (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
    if is_bare or path.name.endswith(".git"):
        return AddressKind.GIT
    return AddressKind.DROP


def _path_of_uri(uri: str) -> Path:
    try:
        parts = urlsplit(uri)
        path = os.fsdecode(unquote_to_bytes(parts.path))  # whatever bytes the system takes for a name
    except ValueError as error:
        raise UnknownPlaceKind(f"{shown(uri)} is not a file URI that lace can read.") from error
    if parts.netloc not in {"", "localhost"} or not path.startswith("/") or parts.query or parts.fragment:
        raise UnknownPlaceKind(f"{shown(uri)} is not the URI of a directory on this machine.")
    if "\0" in path:
        raise UnknownPlaceKind(f"{shown(uri)} names no place.")
    return Path(os.path.normpath(path))


def _spoken() -> str:
    return f"the kinds this version speaks are: {', '.join(sorted(AddressKind))}"
