"""What git's complaints mean, said to a person: an error for each kind, in git's own words (APP-14)."""

from __future__ import annotations

import re
from pathlib import Path

from transports.errors import (
    AccessRefused,
    GitMissing,
    NotAGitPlace,
    PlaceFull,
    PlaceNotWritable,
    PlaceUnreachable,
)
from transports.git.upkeep import mark_torn
from vault.errors import PlaceError

__all__ = ["complaint", "damaged", "fault_of_git", "printable", "way_out", "web_page"]

# What stands before the @ of a URL's host, or of a HOST that a word begins with: a path may hold one too. Each part
# ends where the next begins, for a host says what it likes.
_USERINFO = re.compile(
    r"(?<=://)[^\s/'\"]*@|(?<![^\s'\"(])(?:[^\s/'\":]*:[^\s/'\"]*@|[^\s/'\"]+@(?=[\w.-]+(?![\w.-]|/)|\[))"
)
_LINE = 4096  # characters of a line that are looked at
_FULL = (
    r"no space left|disk (is )?full|(not enough|out of) (disk )?space|quota\b.{0,40} (exceeded|reached|full)\b"
    r"|\bexceed(s|ed)?\b.*\b(quota|limit)|\bover (its|the|their|your) [^%]*(quota|limit)"
)
# Of the lines that name an error those that say why: a host may greet with whatever it likes.
_LOUD = re.compile(
    r"^(?:remote:[ \t]*)?(?:fatal|error): (?!failed to push|could not read from|early eof|the remote end hung up).*",
    re.IGNORECASE | re.MULTILINE,
)
_ABSENT = (
    r"access denied or repository not exported|does not appear to be a git|not a git repository"
    r"|repository .*not (found|exported)|is this a git repository"
    r"|returned error: 404|no such (file or )?directory|unknown repository extension|request for unadvertised"
    r"|could not be found or you don't have permission|may not have access to this repository"
)
_REFUSED = (
    r"authentication failed|could not read (username|password)|prompts disabled|access denied"
    r"|invalid credentials|returned error: 40[13]|http basic: access"
    r"|permission to .* denied|not authorized|unauthorized|service not enabled"
)
_READ_ONLY = (
    r"insufficient permission|create temporary object directory|read-only file system|unpacker error|permission denied"
)
_NO_REASON = "fatal: Could not read from remote repository."  # what git says where ssh said why just before
_SAYS = re.compile(r"(?:remote:)?+\W*[^\W\d_]{2}")
_OTHER_KEY = (
    "The host shows another key than before. Ask its owner by another way; only if they changed it, forget the old one"
    " with ssh-keygen -R HOST, then go there once with ssh."
)
_NEW_HOST = "Go there once with ssh, compare the fingerprint it shows with what the host's owner says, and answer yes."
_BY_KEY = (
    "Lace asks for no password: let ssh in there by a key that the host knows, and if the key has a passphrase, type"
    " ssh-add first."
)
_SENT_ON = (
    "The host sends on to another address, as for a repository that was renamed, and lace follows nobody there. Ask its"
    " owner for the present one; for a place that you have: lace place remove NAME, then lace place add NAME URI"
)
_NOT_YOURS = (
    "It belongs to another account of that machine, and git goes by nobody else's settings: let its owner give it to"
    " yours with chown -R, or reach it by ssh or https."
)
_OTHER_NAMES = (
    "It names what it holds by SHA-256, and lace needs SHA-1. Make one with: git init --bare --object-format=sha1 PATH"
)
_ENDLESS = (
    "What answers there sends more than any list of branches has, as no repository does: check the address, and that"
    " this network wants no login first; then run the same command again."
)
_NO_GIT = (
    "Check the address, and that this network wants no login first: open any page in a browser. Then run the same"
    " command again."
)
_SSH_MISSING = "Install ssh, or set GIT_SSH_COMMAND to a program that is there."
# Each with its own way out, if it has one. What ssh refuses comes first: it complains of missing files on the way.
_MEANINGS: tuple[tuple[re.Pattern[str], type[PlaceError], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), error, way)
    for pattern, error, way in (
        (r"remote host identification has changed", AccessRefused, _OTHER_KEY),
        (r"host key verification failed", AccessRefused, _NEW_HOST),
        (r"permission denied \(", AccessRefused, _BY_KEY),
        (r"cannot run \S*ssh|ssh: (command )?not found", GitMissing, _SSH_MISSING),
        (r"returned error: 30[12378]", NotAGitPlace, _SENT_ON),
        (r"info/refs not valid", NotAGitPlace, _NO_GIT),
        (r"dubious ownership", NotAGitPlace, _NOT_YOURS),
        (r"mismatched algorithms|repository's hash algorithm", NotAGitPlace, _OTHER_NAMES),
        (r"attempting to allocate \d+ over limit", PlaceUnreachable, _ENDLESS),
        (_FULL, PlaceFull, ""),
        (_ABSENT, NotAGitPlace, ""),
        (_REFUSED, AccessRefused, ""),
        (_READ_ONLY, PlaceNotWritable, ""),
    )
)


def complaint(errors: bytes | str) -> str:
    """Return the line of git's complaints that says most, printable, short and without user names."""
    text = errors.decode("utf-8", "replace") if isinstance(errors, bytes) else errors
    lines = [" ".join(line.split()) for line in re.split(r"[\r\n]", text) if line.strip()]
    telling = [
        line
        for line in lines
        if line.startswith(("fatal:", "error:", "ERROR:", "remote: error", "remote: ERROR", "ssh:"))
    ]
    chosen = (telling or lines or ["git gives no reason"])[-1 if not telling else 0]
    if chosen == _NO_REASON:  # hosts frame what they say with lines that say nothing
        chosen = next(filter(_SAYS.match, reversed(lines[: lines.index(chosen)])), chosen)
    if chosen.endswith(":") and chosen != lines[-1]:  # the reason stands on the next line
        chosen += f" {lines[lines.index(chosen) + 1]}"
    return printable(chosen)


def printable(line: str, most: int = 200) -> str:
    """Return what somebody else's program said, without user names, short, printable and with no dot at its end."""
    text = _USERINFO.sub("", " ".join(line[:_LINE].split()))
    return "".join(c if c.isprintable() else "?" for c in text)[:most].rstrip(".")


def damaged(repository: Path, reason: str) -> PlaceNotWritable:
    """Return what to say where git fails in the private repository, and let it be begun anew at the next visit."""
    mark_torn(repository)
    said = f"Git cannot work in lace's private repository {repository.name}: {reason}."
    error = PlaceNotWritable(said, hint=way_out(repository))
    error.begins_anew = True
    return error


def way_out(repository: Path) -> str:
    """Return what helps where the private repository is damaged: nothing in it is the only copy, but what is kept."""
    if "-again-" in repository.name:
        return "Run the same command again: lace takes back of it what can be read."
    return f"If it happens again, delete {repository}: lace makes it anew and loses nothing."


def fault_of_git(complaints: str, shown: str) -> PlaceError:
    """Return the error for what git says about a remote, which is named as a person may see it."""
    reason = complaint(complaints)
    for pattern, error, way in _MEANINGS:
        if pattern.search(_reasons(complaints) if error is PlaceFull else complaints):
            verb = "reached" if error is PlaceUnreachable else "used"
            return error(f"The git place {shown} cannot be {verb}: {reason}.", hint=way)
    return PlaceUnreachable(
        f"The git place {shown} cannot be reached: {reason}.",
        hint="Check the address and the network, and run the same command again.",
    )


def web_page(shown: str) -> NotAGitPlace:
    """Return what to say of a web server that answers a question for branches in no words of git."""
    return NotAGitPlace(f"The git place {shown} cannot be used: a web server answers there, and not git.", hint=_NO_GIT)


def _reasons(complaints: str) -> str:
    """Return the lines that name an error, where there are any: the others may speak of room that is running out."""
    return "\n".join(_LOUD.findall(complaints.replace("\r", "\n"))) or complaints
