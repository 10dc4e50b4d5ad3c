"""What the address of a git place means to git (CYB-16; architecture decision 7a).

`https` and `ssh` are spoken with anybody; `git` and `http`, which hide nothing, with this machine only. A
repository in a directory of this machine is used only when the address itself names it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit

from transports.errors import UnknownPlaceKind

__all__ = ["GitRemote", "git_uri", "is_alias", "parse_remote"]

_SCP = re.compile(r"(?P<user>[A-Za-z0-9_][^/@\s:]*)@(?P<host>[A-Za-z0-9_.][^/@\s:]*):(?P<path>[^-\s:][^\0\n]*)")
_NUMBERED = re.compile(r"(?P<login>[A-Za-z0-9_][^/@\s:]*@\[[0-9A-Fa-f:.]+\]):(?P<path>[^-\s:][^\0\n]*)")
_ALIAS = re.compile(r"(?P<host>[A-Za-z0-9][A-Za-z0-9_.-]+):(?!//)(?P<path>[^-\s:][^\0\n]*\.git/?)", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9_\[.][^\s@/]*")
_SCHEMES = {
    "https": "https",
    "git+https": "https",
    "http": "http",
    "git+http": "http",
    "ssh": "ssh",
    "git+ssh": "ssh",
    "ssh+git": "ssh",
    "git": "git",
}
_OPEN = frozenset({"git", "http"})
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class GitRemote(NamedTuple):
    """A repository that lace pushes to and fetches from.

    Args:
        url: what git is given.
        protocol: the only protocol that git may use for it: `https`, `ssh`, `git`, `http` or `file`.
        shown: the address as a person may see it, without user names.
        path: the directory, for `file`.
    """

    url: str
    protocol: str
    shown: str
    path: Path | None = None

    @property
    def is_far(self) -> bool:
        """Whether it lies on another machine: `git` and `http` are spoken with this one only."""
        return self.protocol in {"https", "ssh"}


def parse_remote(uri: str) -> GitRemote:
    """Return what an address, as settings keep it, means to git.

    Raises:
        UnknownPlaceKind: git cannot or may not be used with it; the message repeats no password.
    """
    match = _SCP.fullmatch(uri)
    if match:
        return GitRemote(uri, "ssh", f"{match['host']}:{match['path']}")
    if is_alias(uri):
        return GitRemote(uri, "ssh", uri)
    if any(character.isspace() or ord(character) < 0x20 for character in uri):
        raise UnknownPlaceKind("The address of a git place holds a space or a control character.")
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as error:
        raise UnknownPlaceKind("The address of the git place cannot be read.") from error
    if parts.scheme in {"git+file", "file"}:
        return _on_this_machine(parts.netloc, os.fsdecode(unquote_to_bytes(parts.path)))
    if numbered := _NUMBERED.fullmatch(uri):
        raise UnknownPlaceKind(
            "The address of a git place has an IPv6 number where a colon ends the host.",
            hint=_as_ssh(**numbered.groupdict()),
        )
    protocol = _SCHEMES.get(parts.scheme)
    host = parts.hostname or ""
    named = f"[{host}]" if ":" in host else host
    where = f"{named}:{port}" if port else named
    if protocol is None or _HOST.fullmatch(named) is None or len(parts.path) < 2:
        raise UnknownPlaceKind("The address names no git repository: it needs a host and a path.")
    # Before an https host the part before the @ is as often a token as a name, and settings are no place for one.
    is_hidden = "%" in host and ":" not in host and protocol != "ssh"  # it was written with %40 for that @
    if is_hidden or parts.password is not None or (parts.username is not None and protocol != "ssh"):
        raise UnknownPlaceKind(
            f"The address of {'a host' if is_hidden else where} holds a password or token, and lace keeps none.",
            hint="Leave it out: ssh uses your key, and https your ~/.netrc or GIT_ASKPASS.",
        )
    if parts.query or parts.fragment or parts.path.startswith("/-"):
        raise UnknownPlaceKind(f"The address of {where} holds something that is not a path.")
    if protocol in _OPEN and host not in _LOOPBACK:
        raise UnknownPlaceKind(
            f"Everybody on the way to {where} could read along: {protocol} is spoken with this machine only.",
            hint="Use https or ssh.",
        )
    user = f"{parts.username}@" if parts.username else ""
    if user.startswith("-"):
        raise UnknownPlaceKind(f"The address of {where} holds something that is not a user name.")
    shown = f"{protocol}://{where}{parts.path}"
    return GitRemote(f"{protocol}://{user}{where}{parts.path}", protocol, shown)


def is_alias(text: str) -> bool:
    """Tell whether a text is `HOST:PATH.git`, where HOST is what this person's own ssh settings call a host."""
    match = _ALIAS.fullmatch(text)
    return match is not None and match["host"].lower() not in {*_SCHEMES, "file", "git+file"}


def git_uri(path: Path) -> str:
    """Return the address of a repository in a directory of this machine."""
    return f"git+{path.as_uri()}"


def _as_ssh(login: str, path: str) -> str:
    """Return what to write in place of `git@[NUMBER]:PATH`, where a path without a slash begins at a home."""
    if path.startswith("/"):
        return f"Write ssh://{login}{path}"
    return f"Write ssh://{login}/{path}, or ssh://{login}/~/{path} where it lies in the home of that user there."


def _on_this_machine(netloc: str, path: str) -> GitRemote:
    if netloc not in {"", "localhost"} or not path.startswith("/") or "\0" in path or "\n" in path:
        raise UnknownPlaceKind("The address is not that of a repository on this machine.")
    name = os.fsencode(path)  # whatever bytes the system takes for a name
    return GitRemote(f"file://{quote(name)}", "file", name.decode("utf-8", "replace"), Path(path))
