"""From `[PEER/]DESK[@CASE]` to one commit and its tree (CLAY-13 to CLAY-16, CLAY-24).

What cannot be read has three reasons, and they are never mixed: *not yet* (it may still come), *not shared* (it is a
friend's state between two releases), *never* (it cannot come any more). No answer depends on a clock but the one to
a date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from lazy.conflicts import conflicts
from lazy.contested import Conflict
from lazy.noted_times import noted_time
from lazy.people import label_of, node_of
from vault.commands import as_option, as_typed, as_words
from vault.desk_folders import MAIN, desks
from vault.desks.chunks import MissingObject
from vault.errors import CallerError
from vault.folder.checked_out import checkout_of
from vault.names import SELF, Version
from vault.notes.revisions import MOST_KEPT
from vault.records import RecordHash, Tai
from vault.revisions.cases import Address, Case, Date, Hash, Label, Number, parse_address
from vault.revisions.history import Head, ReleaseInfo, as_head, commit_info, line_head, releases, revision_of, revisions
from vault.revisions.kept_states import kept_state, was_kept
from vault.revisions.labels import labelled
from vault.revisions.reads import was_pruned
from vault.vault import Vault

__all__ = [
    "Contested",
    "Never",
    "NotShared",
    "NotYet",
    "Pruned",
    "ResolvedCommit",
    "SeveralRevisions",
    "awaited",
    "case_number",
    "kept",
    "one_of_several",
    "resolve",
    "several_revisions",
]


_BY_DATE = (
    "SELECT r.number, r.hash, r.commit_hash FROM rev r JOIN commits c ON c.hash = r.commit_hash"
    " WHERE r.node = ? AND r.desk = ? AND c.tai <= ? ORDER BY r.number DESC, c.tai DESC LIMIT 1"
)


class NotYet(CallerError):
    """What was asked for does not exist yet, or has not arrived."""

    code = "not-yet"
    hint = "Sync, then try again; see what is there with: lace log"


class Pruned(CallerError):
    """The content of an old state of mine that I let go of."""

    code = "pruned"
    hint = "Read a later revision or any release: lace log - when it went is told by: lace audit list --verb lace-prune"


class NotShared(CallerError):
    """The content of a state that its owner has not released."""

    code = "not-shared"
    hint = "Ask its owner to release it, or name a release: PEER/main@X.Y.Z"


class Never(CallerError):
    """What was asked for holds nothing and never will."""

    code = "never"
    hint = "Revisions are counted from 1; see them with: lace log"


class Contested(CallerError):
    """A version that several people released with different content, and nobody decided."""

    code = "version-contested"
    hint = "Name one side, for example PEER/main@X.Y.Z, or decide: lace conflicts"


class SeveralRevisions(CallerError):
    """A number that two revisions of a line have: it went on from a restored backup, or on a copy."""

    code = "several-revisions"
    hint = "Name one by the hash of its commit: lace log -v"


class ResolvedCommit(NamedTuple):
    """What an address means.

    Args:
        commit: the commit.
        tree: its root tree, which is here.
        node: verifier text of whose line was asked.
        desk: the desk.
        what: the address written out for a person, such as `bob/main@1.0.0`.
        number: the revision number on that line, or None when a version led to the commit; and of a state that is kept
            (`vault.revisions.kept_states`), whose commit is the one that the folder stands on now.
    """

    commit: RecordHash
    tree: RecordHash
    node: str
    desk: str
    what: str
    number: int | None = None


def resolve(vault: Vault, text: str) -> ResolvedCommit:
    """Return the commit that a person's text names.

    Raises:
        BadCase, BadName: it is no address.
        NoSuchPeer: nobody here has the name.
        NotYet, NotShared, Never: why there is nothing to read.
        Contested: a version without an owner while people disagree about it; the message lists the sides.
        SeveralRevisions: a number that two revisions have; the hint names both.
    """
    return _resolve_address(vault, parse_address(text))


def _resolve_address(vault: Vault, address: Address) -> ResolvedCommit:
    """Return the commit that an address names.

    Raises:
        As `resolve`.
    """
    node = node_of(vault, address.peer) if address.peer else vault.node.text
    found = kept(vault, address, node) or _find(vault, address, node)
    if not vault.store.have([found.tree]):
        raise _missing_content(vault, found)
    return found


def case_number(vault: Vault, node: str, desk: str, case: Case) -> int | None:
    """Return the revision number a case names on a line: None for "not yet", -1 for "never" (CLAY-13 to CLAY-16).

    A date before all commits names 0, the empty revision; a release names the revision that it released.
    """
    match case:
        case Number(value=value):
            head = line_head(vault.store, node, desk)
            return value if value <= (head.number if head else 0) else None
        case Label():
            found = labelled(vault.store, node, desk, str(case))
            return found.number if found else None
        case Hash(commit=commit):
            found = revision_of(vault.store, node, desk, commit)
            return found.number if found else None
        case Date():
            if case.tai > _complete_until(vault, node, desk):
                return None
            row = vault.store.rows(_BY_DATE, node, desk, case.tai.text)
            return int(str(row[0][0])) if row else 0
        case Version():
            rows = vault.store.rows(
                "SELECT min(r.number) FROM release e JOIN rev r ON r.commit_hash = e.commit_hash AND r.node = e.node"
                " AND r.desk = e.desk WHERE e.visible IN (1, 2) AND e.node = ? AND e.desk = ? AND e.version = ?",
                node,
                desk,
                str(case),
            )
            return int(rows[0][0]) if rows and rows[0][0] is not None else None


def one_of_several(vault: Vault, address: Address, node: str, number: int) -> RecordHash | None:
    """Return the commit that an address means, where several revisions of a line have its number; else None.

    Raises:
        SeveralRevisions: it names the number alone.
    """
    return _find(vault, address, node).commit if len(revisions(vault.store, node, address.desk, number)) > 1 else None


def _find(vault: Vault, address: Address, node: str) -> ResolvedCommit:
    match address.case:
        case Version():
            return _release(vault, address, address.case, node)
        case Number(value=0):
            raise Never(f"{address} is the empty revision, which holds nothing.")
        case Number(value=value):
            head = _only(address, revisions(vault.store, node, address.desk, value))
            if head is None:
                raise NotYet(
                    f"{_line(vault, node, address.desk)} has no revision {value} yet.",
                    hint=_known(vault, node, address),
                )
        case Label():
            head = labelled(vault.store, node, address.desk, str(address.case))
            if head is None:
                raise NotYet(
                    f"Nothing in {_line(vault, node, address.desk)} is labelled {str(address.case)!r} yet.",
                    hint=_known(vault, node, address) if node != vault.node.text else "Label it with: lace label NAME",
                )
        case Hash(commit=commit):
            head = revision_of(vault.store, node, address.desk, commit)
            if head is None:
                raise NotYet(
                    f"{_line(vault, node, address.desk)} has no revision that is the commit {commit} yet.",
                    hint=_known(vault, node, address),
                )
        case Date():
            head = _at(vault, address, address.case, node)
        case None:
            head = line_head(vault.store, node, address.desk)
            if head is None:
                raise NotYet(
                    f"{_line(vault, node, address.desk)} has no revision yet.", hint=_known(vault, node, address)
                )
    return _of_head(vault, head)


def kept(vault: Vault, address: Address, node: str) -> ResolvedCommit | None:
    """Return the state of a folder of mine that is kept under a name; None where the address is none of one.

    Raises:
        Pruned: it was, and is no more.
    """
    name, desk, store = str(address.case), address.desk, vault.store
    if not isinstance(address.case, Label) or node != vault.node.text or labelled(store, node, desk, name) is not None:
        return None
    state = kept_state(store, desk, name)
    if state is None:
        if was_kept(store, desk, name):
            way = f"The last {MOST_KEPT} of a desk are, until a prune."
            raise Pruned(f"What was kept as {desk}@{name} is kept no more.", hint=way)
        return None
    base = checkout_of(vault, desk)
    if base is None:  # then nothing was ever kept
        return None
    return ResolvedCommit(base.commit, state.tree, node, desk, f"{SELF}/{desk}@{name}")


def _only(address: Address, found: Sequence[Head]) -> Head | None:
    """Return the revision that has a number; several have it where a restored backup was worked in.

    Raises:
        SeveralRevisions: so it is.
    """
    if len(found) > 1:
        raise several_revisions(str(address), [str(replace(address, case=Hash(one.commit))) for one in found])
    return found[0] if found else None


def several_revisions(address: str, named: Sequence[str]) -> SeveralRevisions:
    """Return the refusal of a number that several revisions have, with what to type for each."""
    return SeveralRevisions(
        f"{address} is {len(named)} revisions: the line went on from a restored backup, or on a copy.",
        hint=f"Name one: {' or '.join(map(as_words, named))} - lace log says what each is.",
    )


def _of_head(vault: Vault, head: Head) -> ResolvedCommit:
    several = len(revisions(vault.store, head.node, head.desk, head.number)) > 1
    what = f"{_owner(vault, head.node)}/{head.desk}@{head.commit if several else head.number}"
    tree = commit_info(vault.store, head.commit).tree
    return ResolvedCommit(head.commit, tree, head.node, head.desk, what, head.number)


def _at(vault: Vault, address: Address, date: Date, node: str) -> Head:
    """Return the newest revision not after a date (CLAY-16)."""
    if date.tai > _complete_until(vault, node, address.desk):
        raise NotYet(
            f"{_line(vault, node, address.desk)} is not known up to {date} yet.",
            hint=("" if node == vault.node.text else "What its owner commits is hidden until a release. ")
            + "Name an earlier date, or leave it out for the newest revision.",
        )
    row = vault.store.rows(_BY_DATE, node, address.desk, date.tai.text)
    if not row:
        at = "" if "T" in str(date) else " at 00:00 UTC"
        way = "A day means its beginning; with a time: main@2026-05-01T18:30Z. When each was made: lace log"
        raise Never(f"{_line(vault, node, address.desk)} had no revision on {date}{at}.", hint=way)
    return as_head(node, address.desk, row[0])


def _complete_until(vault: Vault, node: str, desk: str) -> Tai:
    """Return until when a line is known for certain: now for mine, else its newest commit here, or its owner's word.

    That I looked at a mailbox since says nothing of what its owner made since it was written. Nor does a word of
    theirs of what they committed before it and keep to themselves: that gets its number here with the next release.
    So their word counts where they said with it that there is none of that, as whoever shares each commit does; that
    their last commit here is no release does not say so, as they may release alone since (CLAY-16, CLAY-23).
    """
    if node == vault.node.text:
        return vault.around.tai()
    head = line_head(vault.store, node, desk)
    if head is None:
        return Tai.ZERO
    met = vault.store.rows("SELECT said, unreleased FROM met WHERE node = ?", node)
    words = [noted_time(said) for said, unreleased in met if said and unreleased == 0 and desk == MAIN]
    return max((Tai.parse(commit_info(vault.store, head.commit).tai), *(word for word in words if word is not None)))


def _release(vault: Vault, address: Address, version: Version, node: str) -> ResolvedCommit:
    """Return a release: the owner's when one was named, else the one that everybody agrees on."""
    owner = node if address.peer else None
    found = releases(vault.store, address.desk, version=version, node=owner)
    if not found:
        raise _no_release(vault, address, version, owner)
    if owner is None:
        return _agreed(vault, address, version, found)
    return _of_release(vault, found[0], found[0].commit)


def _agreed(vault: Vault, address: Address, version: Version, found: list[ReleaseInfo]) -> ResolvedCommit:
    mine = next((release for release in found if release.node == vault.node.text), found[0])
    if len({release.content_sha512 for release in found}) == 1:
        return _of_release(vault, mine, mine.commit)
    fitting = [
        conflict
        for conflict in conflicts(vault, include_settled=True)
        if conflict.desk == address.desk and conflict.version == version
    ]
    if any(conflict.is_open for conflict in fitting) or not fitting or not fitting[0].results:
        raise Contested(f"{address} was released with different content: {_sides(vault, found, fitting)}.")
    decided = fitting[0].results[0]
    return _of_release(vault, mine, decided)._replace(what=f"{address} as decided")


def _sides(vault: Vault, found: list[ReleaseInfo], fitting: list[Conflict]) -> str:
    shown = ", ".join(f"{label_of(vault, release.node)}/{release.desk}@{release.version}" for release in found)
    return shown + "".join(f" (conflict {conflict.id})" for conflict in fitting)


def _of_release(vault: Vault, release: ReleaseInfo, commit: RecordHash) -> ResolvedCommit:
    what = f"{_owner(vault, release.node)}/{release.desk}@{release.version}"
    return ResolvedCommit(commit, commit_info(vault.store, commit).tree, release.node, release.desk, what)


def _no_release(vault: Vault, address: Address, version: Version, node: str | None) -> NotYet:
    arriving = vault.store.rows(
        "SELECT 1 FROM release WHERE visible = 0 AND desk = ?1 AND version = ?2 AND (?3 IS NULL OR node = ?3)",
        address.desk,
        str(version),
        node,
    )
    if arriving:
        way = "Sync once more with a friend who has it."
        if node is not None and (number := _number_of(vault, node, address.desk, str(version))):
            part = as_typed("checkout", f"{_owner(vault, node)}/{address.desk}@{number}", "PATH")
            way = f"Sync all of it: lace sync - or bring a part that is here: {part}"
        return NotYet(f"{address} has arrived only in part.", hint=way)
    who = f"{_owner(vault, node)} has not" if node else "Nobody has"
    return NotYet(f"{who} released {address.desk} {version} yet.", hint="Sync, then see what is there: lace log")


def _number_of(vault: Vault, node: str, desk: str, version: str) -> int | None:
    """Return the revision that a release of somebody is, shown or not."""
    rows = vault.store.rows(
        "SELECT min(r.number) FROM release e JOIN rev r ON r.commit_hash = e.commit_hash AND r.node = e.node"
        " AND r.desk = e.desk WHERE e.node = ? AND e.desk = ? AND e.version = ?",
        node,
        desk,
        version,
    )
    return int(rows[0][0]) if rows[0][0] is not None else None


def awaited(vault: Vault, error: MissingObject) -> NotYet | None:
    """Return what to say of content that is missing, where it is known that it was shared and did not come yet."""
    if not _is_awaited(vault, error.record):
        return None
    way = "Sync all of it: lace sync - or name a path that is here; lace update lists some"
    return NotYet("Not all of that has arrived yet.", hint=way)


def _is_awaited(vault: Vault, record: RecordHash) -> bool:
    return bool(vault.store.holes.among({record}))


def _missing_content(vault: Vault, found: ResolvedCommit) -> CallerError:
    if _is_awaited(vault, found.tree):
        return NotYet(f"The content of {found.what} has not arrived yet.")
    if was_pruned(vault.store, found.node):
        return Pruned(f"The content of {found.what} was never released and went with a prune.")
    return NotShared(f"The content of {found.what} is not shared: it was never released.")


def _line(vault: Vault, node: str, desk: str) -> str:
    return f"{_owner(vault, node)}/{desk}"


def _known(vault: Vault, node: str, address: Address) -> str:
    if node != vault.node.text:
        return NotYet.hint
    names = [known.name for known in desks(vault)]
    if address.desk in names:
        head = line_head(vault.store, node, address.desk)
        if head is None:
            return "Commit first: lace commit -m TEXT"
        return f"The newest is {address.desk}@{head.number}; see all with: lace log {as_option('--desk', address.desk)}"
    return f"Name a desk, perhaps with a number, a version or a date: {names[0]}@1. Yours: {', '.join(names)}."


def _owner(vault: Vault, node: str) -> str:
    return SELF if node == vault.node.text else label_of(vault, node)
