"""Releasing: a commit of my line gets a version and is shared through the node's log (LAZ-1, CYB-5).

Nothing here knows a peer: what is in the log goes where the next sync goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vault.content.totals import Since, keep_totals
from vault.desk_folders import MAIN
from vault.desks.choosing import Problem
from vault.errors import CallerError
from vault.folder.checked_out import checkout_of
from vault.folder.divergence import check_apart, refuse_apart
from vault.folder.unfinished import finish_checkouts
from vault.folder.work import Changes, Committed, Unchanged, seal_commit
from vault.names import BadVersion, Version
from vault.profile import MAX_ENTRIES, Release, plain_text
from vault.records import RecordHash
from vault.revisions.history import Head, commit_info, is_first, line_head, unreleased
from vault.revisions.labels import unshared_labels
from vault.revisions.versions import highest_version, is_released, next_version
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

if TYPE_CHECKING:
    from vault.desks.ports import Source

__all__ = [
    "NothingToRelease",
    "Released",
    "Releasing",
    "VersionTaken",
    "check_free",
    "check_new",
    "planned_version",
    "release",
    "release_message",
    "seal_release",
]

_SHOWN = 3  # files left out that a refusal names


class VersionTaken(CallerError):
    """A released version is immutable (CYB-5)."""

    code = "version-taken"
    exit_code = 2
    hint = "Choose a higher version, or leave it out and lace proposes one."


class NothingToRelease(CallerError):
    """There is no commit to release, or nothing changed since the last release."""

    code = "nothing-to-release"
    exit_code = 2
    hint = "Change something first, or name a version to release the same content again."


class Releasing(NamedTuple):
    """What the head of my line of a desk is to be released as.

    Args:
        desk: of the line.
        version: free, as `check_free` says.
        message: what friends read of it.
    """

    desk: str
    version: Version
    message: str


class Released(NamedTuple):
    """One release that was made, with the commit made for it, or what was left out where nothing changed."""

    release: RecordHash
    version: Version
    desk: str
    commit: RecordHash
    seq: int
    content_sha512: str
    committed: Committed | Unchanged
    files: int
    bytes: int
    first: bool


def _free_version(vault: Vault, desk: str, version: Version | None) -> Version:
    """Return the version that a release gets: the one that was named, or the next.

    Raises:
        VersionTaken: as `check_free`.
        BadVersion: none was named, and none can follow the highest; or it is called merged, as a resolved one may be.
    """
    if version is not None and version.merged:
        said = f"{version} is what the release that settles a conflict may be called, and this one settles none."
        raise BadVersion(said, hint=f"Leave the word out: lace release {version._replace(merged=False)}")
    wanted = version or next_version(vault, desk)
    highest = highest_version(vault.store, desk) if version is None else None
    if highest is not None and wanted < highest:
        said = f"No version can follow {desk} {highest}, the highest that is released."
        raise BadVersion(said, hint=f"Name one that is free, for example: lace release {wanted}")
    check_free(vault, desk, wanted)
    return wanted


def check_free(vault: Vault, desk: str, version: Version) -> None:
    """Refuse a version that is released already, also by a release that is not all here (CYB-5).

    Raises:
        VersionTaken: it is.
    """
    if is_released(vault.store, desk, version):
        way = f"The next free version is {next_version(vault, desk)}."
        raise VersionTaken(f"{desk} {version} is already released.", hint=way)


def _nothing_new(vault: Vault, desk: str, problems: Iterable[Problem]) -> NothingToRelease:
    """Return why a release without a version would share nothing, with what was left out of it."""
    if line_head(vault.store, vault.node.text, desk) is None:
        return _nothing_yet(desk, problems)
    hint = NothingToRelease.hint + _left_out(problems)
    if vault.store.rows("SELECT 1 FROM release WHERE node = ? AND desk = ? LIMIT 1", vault.node.text, desk):
        return NothingToRelease(f"Nothing changed in {desk} since your last release.", hint=hint)
    return NothingToRelease(f"{desk} holds nothing new: it is as your friends released it.", hint=hint)


def check_new(vault: Vault, desk: str, version: Version | None, problems: Iterable[Problem]) -> None:
    """Refuse what a release of an unchanged folder refuses; `problems` are those of the scan.

    Raises:
        NothingToRelease: no commit yet, or nothing new and no version named.
    """
    if line_head(vault.store, vault.node.text, desk) is None:
        raise _nothing_yet(desk, problems)
    if version is None and not unreleased(vault, desk):
        raise _nothing_new(vault, desk, problems)


def planned_version(vault: Vault, desk: str, version: Version | None, found: Changes, source: Source) -> Version:
    """Return the version that a release of a folder as it is would get, refused as by `release`; nothing is written.

    Args:
        vault: whose release it would be.
        desk: the desk.
        version: that was named, if one was.
        found: what changed in the folder.
        source: has the pages of the folder's tree.

    Raises:
        MayNotSign: as `Vault.check_plan`.
        VersionTaken: as `check_free`.
        BadVersion: none was named, and none can follow the highest.
        SavedMeanwhile, RulesUnclear, FolderGone, FolderEmptied: as `seal_commit`.
        NothingToRelease, OwnWorkApart, NotPermitted: as `release`.
    """
    from vault.folder.meanwhile import check_planned  # a release finds it out as it commits
    from vault.folder.unnamed import refuse_unnamed
    from vault.readers import check_readers  # to list conflicts needs none

    vault.check_plan()
    check_apart(vault, desk)
    wanted = _free_version(vault, desk, version)
    if not found.items:
        check_new(vault, desk, version, found.problems)
    base = checkout_of(vault, desk)
    check_planned(vault, desk, Watch())
    refuse_unnamed(vault, desk, base.tree if base else None, found.items, found.problems)
    check_readers(vault, desk, found.tree, source)
    return wanted


def _nothing_yet(desk: str, problems: Iterable[Problem]) -> NothingToRelease:
    way = "Put files into its folder first, and run the same command again."
    return NothingToRelease(f"There is nothing in {desk} yet.", hint=way + _left_out(problems))


def _left_out(problems: Iterable[Problem]) -> str:
    """Return sentences about the files that a scan left out: they may be what was meant to be released."""
    left = [f" {_in_line(problem.path)} {problem.reason}." for problem in problems if problem.kind == "skipped"]
    more = f" And {len(left) - _SHOWN} more: lace changes." if len(left) > _SHOWN else ""
    return "".join(left[:_SHOWN]) + more


def release_message(version: Version) -> str:
    """Return the message of the commit of a release that was given none."""
    return f"Release {version}"


def _in_line(path: str) -> str:
    """Return a path as one line of a sentence: what is left out may have a name with a line feed."""
    return path if path.isprintable() else repr(path)


def release(
    vault: Vault,
    version: Version | None = None,
    message: str = "",
    *,
    desk: str = MAIN,
    watch: Watch = Watch(),
    noted: Callable[[Writer, Released], object] = lambda _w, _made: None,
) -> Released:
    """Commit what is changed, give the commit a version, and share it in this node's log.

    Inside its write, `noted` is given what was made.

    Raises:
        VersionTaken: somebody released the version already, also where not all of that is here.
        BadVersion: none was named, and none can follow the highest; or the name is that of a resolved one.
        NothingToRelease: no commit yet, or nothing new and no version named.
        OwnWorkApart: my line holds work that the folder does not have; it comes first.
        NotPermitted: a member would get what the desk's rules do not let them read; nothing was changed.
        SavedMeanwhile, RulesUnclear, FolderGone, FolderEmptied: as `seal_commit`; nothing was changed.
        NoRoom: what is new does not fit on the disk of the vault.
        Cancelled: the person stopped it.
    """
    finish_checkouts(vault, watch, desk)
    with vault.writing() as w:
        check_apart(vault, desk)
        wanted = _free_version(vault, desk, version)
        w.is_releasing = True
        committed = seal_commit(w, vault, message or release_message(wanted), desk=desk, watch=watch)
        if not committed and version is None and not unreleased(vault, desk):
            raise _nothing_new(vault, desk, committed.problems)
        made = seal_release(w, vault, Releasing(desk, wanted, message), committed, watch=watch)
        noted(w, made)
        return made


def seal_release(
    w: Writer,
    vault: Vault,
    to: Releasing,
    committed: Committed | Unchanged = Unchanged(),
    *,
    together: Callable[[RecordHash], Sequence[RecordHash]] = lambda _release: (),
    watch: Watch = Watch(),
) -> Released:
    """Release the head of my line inside a write, and share it in my log.

    Args:
        w: the write.
        vault: whose release it is.
        to: what it is released as.
        committed: what was committed for it, if anything was.
        together: is given the release, and returns further records to share in the same log entry: a write makes one,
            since the mark counts one intended entry at a time.
        watch: progress and cancel.

    Raises:
        NothingToRelease, OwnWorkApart, NotPermitted: as `release`.
        Cancelled: the person stopped it.
    """
    head, tree = _head_to_release(w, vault, to.desk, committed.problems)
    first = is_first(vault, to.desk, head.commit)
    content = vault.store.content_sum(tree, lambda _read: watch.cancelled())
    sealed = _seal_head(w, vault, head, to, content)
    more = [*together(sealed)]
    more += unshared_labels(w, vault.node.text, to.desk, MAX_ENTRIES - 1 - len(more))
    watch.cancelled()  # from here on it is released
    entry = w.log([sealed, *more])
    told = {"release": sealed.text, "seq": str(entry.seq)}
    w.audit("seal-release", f"{to.desk}@{to.version}", told, motivation=to.message)
    since = Since(committed.base, committed.items) if committed else None
    files, size = keep_totals(w.store, to.desk, tree, since)
    return Released(
        release=sealed,
        version=to.version,
        desk=to.desk,
        commit=head.commit,
        seq=entry.seq,
        content_sha512=content,
        committed=committed,
        files=files,
        bytes=size,
        first=first,
    )


def _head_to_release(w: Writer, vault: Vault, desk: str, problems: Iterable[Problem]) -> tuple[Head, RecordHash]:
    """Return the head of my line, and its tree, which all who get it may read.

    Raises:
        NothingToRelease, OwnWorkApart, NotPermitted: as `release`.
    """
    from vault.readers import check_readers  # to list conflicts needs none

    head = line_head(vault.store, vault.node.text, desk)
    if head is None:
        raise _nothing_yet(desk, problems)
    refuse_apart(w, vault, desk)
    tree = commit_info(vault.store, head.commit).tree
    check_readers(vault, desk, tree)
    return head, tree


def _seal_head(w: Writer, vault: Vault, head: Head, to: Releasing, content: str) -> RecordHash:
    """Seal the release of a head; nothing shares it yet."""
    plex = Release.to_plex(
        group=vault.group,
        desk=head.desk,
        version=to.version,
        commit=head.commit,
        rev=head.rev,
        content_sha512=content,
        message=plain_text(to.message),
        tai=w.tai(),
    )
    return w.seal(plex).hash
