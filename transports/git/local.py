"""A repository in a directory of this machine: git's far side runs here, by that repository's rules (decision 7a).

Hooks are switched off, and so is what else can be. But not every program that a configuration can name can be
overruled by its name, and links lead anywhere: so a repository is used only when its configuration holds nothing
but what is known to be harmless, and when what git writes lies inside it.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from transports.errors import NotAGitPlace, PlaceUnreachable
from transports.git.object_files import LEANS
from vault.commands import as_word
from vault.errors import LaceError
from vault.files import read_bounded, reason_of

if TYPE_CHECKING:
    from transports.git.command import GitRunner

__all__ = ["check_directory", "far_options", "far_side", "is_harmless", "own_directory"]

_FAR_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=true",
    "core.fsmonitor=false",
    "core.logAllRefUpdates=false",
    "receive.autogc=false",
    "receive.denyCurrentBranch=refuse",
    "receive.fsckObjects=true",
    "gc.auto=0",
    "maintenance.auto=false",
)


_HARMLESS_KEY = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|sharedrepository|logallrefupdates"
    r"|symlinks|compression|loosecompression|bigfilethreshold|hookspath|fsyncobjectfiles|fsync|fsyncmethod)"
    r"|extensions\.objectformat"
    r"|remote\.[^\n]*\.(url|fetch|mirror|pushurl|tagopt)"
    r"|branch\.[^\n]*\.(remote|merge)"
    r"|(receive|transfer|uploadpack|pack|gc|repack|user|init|advice|gitweb|http)\.[a-z]+"
)
_NEVER_KEY = re.compile(r"uploadpack\.packobjectshook|gc\.recentobjectshook|receive\.procreceiverefs")
_PLAIN = re.compile(rb"(?:\[[A-Za-z]+\]\n(?:\t[A-Za-z]+ = [A-Za-z0-9]+\n)*)*")
_PLAIN_BYTES = 4096
# What `git init` writes, by which git itself is not hindered; it refuses a later version, and what is no such value.
_INITIAL = re.compile(
    r"core\.(repositoryformatversion = [01]|sharedrepository = [0-9a-z]+"
    r"|(filemode|bare|ignorecase|precomposeunicode|symlinks|logallrefupdates) = (true|false))"
)
_UNUSED = frozenset({"hooks", "description", "branches"})  # git neither runs nor writes them for lace
_INSIDE = ".git"
# Where git makes files or adds to them; to a log of refs that is there already it does, whatever it is told of logs.
_BRANCHES = ("refs", "refs/heads", "refs/heads/lace")
_WRITTEN = ("", "objects", *_BRANCHES, "logs", *(f"logs/{name}" for name in _BRANCHES))
_HEAD = re.compile(rb"ref:[ \t\r\n]*refs/|[0-9a-fA-F]{40}")  # of a directory that git takes for a repository
_HEAD_BYTES = 255  # that git looks at


def far_side(service: str) -> str:
    """Return the command that answers `git fetch` or `git push` for a repository on this machine."""
    return f"git {shlex.join(far_options())} {service}"


def far_options() -> list[str]:
    """Return the words by which git runs nothing of a repository's own for whoever reads or writes there."""
    return [word for option in _FAR_OPTIONS for word in ("-c", option)]


def is_harmless(keys: str) -> str:
    """Return the first configuration key that could make git run a program or read elsewhere, or nothing.

    Args:
        keys: the keys of a repository's configuration, one a line, lower-case but for names.
    """
    for key in keys.splitlines():
        lowered = key.lower()
        if _NEVER_KEY.fullmatch(lowered) or not _HARMLESS_KEY.fullmatch(lowered):
            return key
    return ""


def check_directory(git: GitRunner) -> None:
    """Refuse a directory of this machine that could make git run other programs, or write elsewhere.

    Raises:
        PlaceUnreachable: nothing is there.
        NotAGitPlace: it is no repository, or one that lace does not trust.
    """
    path = git.remote.path
    if path is None:
        return
    make = f"git init --bare {as_word(str(path))}"
    try:
        if not path.exists():
            hint = f"Check the path, and plug in or mount what it lies on; a new one is made with: {make}"
            raise PlaceUnreachable(f"There is no git repository at {path}.", hint=hint)
        inner = _found_by_git(path)
        bad = _leading_away(inner) if inner is not None else ""
    except OSError as error:
        raise PlaceUnreachable(
            f"The git repository {path} cannot be read: {reason_of(error)}.",
            hint="Check whose directory it is and what its permissions are, then run the same command again.",
        ) from error
    if inner is None:
        raise NotAGitPlace(f"{path} is no git repository.", hint=f"Make one with: {make}")
    if bad:
        raise NotAGitPlace(
            f"{bad} in the repository {path} leads elsewhere, and lace does not follow it.",
            hint="Use a bare repository that git init --bare made.",
        )
    keys = _keys(git, inner / "config")
    bad = is_harmless(keys) if keys is not None else "something unreadable"
    if bad:
        raise NotAGitPlace(
            f"The configuration of the repository {path} holds {bad!r}, which lace does not trust.",
            hint="Use a bare repository that git init --bare made, or remove that setting.",
        )


def own_directory(path: Path) -> Path | None:
    """Return where a checked repository of this account lies that is configured as `git init` does it; None for others.

    Git shows another account's to nobody, and what else a configuration may say can hide refs. One that leans on
    another would seem to hold what it does not.
    """
    inner = _found_by_git(path)
    if inner is None or not hasattr(os, "geteuid") or inner.stat().st_uid != os.geteuid():
        return None
    data = read_bounded(inner / "config", _PLAIN_BYTES)
    if _PLAIN.fullmatch(data) is None or os.path.lexists(inner / LEANS):
        return None
    return inner if all(map(_INITIAL.fullmatch, _plain_settings(data.decode("ascii")))) else None


def _found_by_git(path: Path) -> Path | None:
    """Return what git takes for the repository where it is given a path, which is `.git` below that first.

    That may be a file, by which git goes anywhere. Where it is None, git would go on to the path with `.git` at its
    end, which nobody named.
    """
    inside = path / _INSIDE
    if inside.is_file():
        return inside
    return next((root for root in (inside, path) if _is_repository(root)), None)


def _is_repository(root: Path) -> bool:
    """Tell whether git takes a directory for a repository; one whose HEAD is a link is refused later."""
    head = root / "HEAD"
    if head.is_symlink():
        return True
    if not head.is_file() or not all(os.access(root / name, os.X_OK) for name in ("objects", "refs")):
        return False
    with head.open("rb") as file:
        return _HEAD.match(file.read(_HEAD_BYTES)) is not None


def _keys(git: GitRunner, config: Path) -> str | None:
    """Return the keys of a configuration, one a line; None when git cannot read it."""
    if not config.is_file():
        return ""
    try:
        data = read_bounded(config, _PLAIN_BYTES)
    except LaceError:
        data = b"?"
    if _PLAIN.fullmatch(data):  # as `git init` writes it: there is nothing to ask git about
        return _plain_keys(data.decode("ascii"))
    git.run("rev-parse", "--git-dir")  # a damaged private repository is to blame for itself
    code, keys = git.try_run("config", "--file", str(config), "--no-includes", "--list", "--name-only")
    return None if code else keys.decode("utf-8", "replace")


def _plain_keys(text: str) -> str:
    return "\n".join(setting.partition(" ")[0] for setting in _plain_settings(text))


def _plain_settings(text: str) -> list[str]:
    """Return what a configuration as `_PLAIN` says: "key = value" each, in lower case."""
    settings: list[str] = []
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line[1:-1]
        else:
            settings.append(f"{section}.{line[1:]}".lower())
    return settings


def _leading_away(inner: Path) -> str:
    """Return the name of what would make git write or read its rules outside the repository, or nothing."""
    for name in ("commondir", "config.worktree"):
        if os.path.lexists(inner / name):
            return name
    if inner.is_symlink() or not inner.is_dir():
        return inner.name
    for name in _WRITTEN:
        directory = inner / name
        if not directory.is_dir():
            continue
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_symlink() and not (directory == inner and entry.name in _UNUSED):
                    return f"{name}/{entry.name}".lstrip("/")
    return ""
