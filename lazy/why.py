"""`why`: what this vault decided about one record, by which rule, and the way from a log entry down to it.

Everything is answered from stored state. A sealed record is found from below, by the links that name it; content and
trees write no link rows, so they are looked for in the trees of shared commits, the newest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from lazy.interlace.plan import GROUP_SHARED
from lazy.lacking import Lacking, lacking_of
from lazy.people import label_of
from lazy.visits.parcels import NoSuchRecord
from vault.desks.pages import Entry, parse_page
from vault.profile import TREE_APP, LogEntry, Manifest, Member, NodeCard, Release, Revision, read
from vault.profile.content import MAX_DIRECT_BYTES
from vault.records import Plex, RecordHash, Seal, parse_record
from vault.store.database import select_in
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Decision", "Why", "WhyStep", "why"]

_NAMERS = """
SELECT l.t, b.kind, b.digest, s.s FROM link l JOIN body b USING (p) JOIN shared USING (p)
JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE l.t IN"""
_COMMITS = """
SELECT c.hash, c.tree FROM commits c JOIN shared s USING (p) WHERE s.content = 1 ORDER BY c.p DESC"""
_LOCAL_APPS = frozenset({"lace/audit", "lace/request", "lace/snapshot"})


class Decision(StrEnum):
    """What was decided about a record."""

    SHARED = "shared"
    KEPT = "kept"
    PRIVATE = "private"
    MISSING = "missing"
    REFUSED = "refused"


class WhyStep(NamedTuple):
    """One record on the way.

    Args:
        hash: its name.
        what: what it is, for people: `log entry 3 of alice`, `docs/a.txt`.
    """

    hash: RecordHash
    what: str


class Why(NamedTuple):
    """The answer.

    Args:
        record: what was asked about.
        decision: what became of it here.
        rule: the rule that decided; the text of a policy rule where one did.
        reason: the same as a sentence, for people; may hold words of others.
        path: from a log entry that counts down to the record; empty where nothing leads to it.
        lacks: of a release that is not shown: what it waits for, if it waits for a record.
    """

    record: RecordHash
    decision: Decision
    rule: str
    reason: str
    path: tuple[WhyStep, ...] = ()
    lacks: Lacking | None = None


def why(vault: Vault, record: RecordHash, watch: Watch = Watch()) -> Why:
    """Return what this vault decided about a record.

    Args:
        vault: whose decision.
        record: its name; a Plex may also be named that rests inside its Seal.
        watch: cancel.

    Raises:
        NoSuchRecord: it is not here, and nothing here names it.
        Cancelled: the person stopped it.
    """
    with vault.store.reading():
        record = _sealed(vault, record)
        row = vault.store.rows(
            "SELECT s.s, e.at FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app"
            " LEFT JOIN exposure e USING (p) WHERE b.digest = ? AND b.kind = ?",
            record.digest,
            record.kind,
        )
        if row:
            return _present(vault, record, str(row[0][0]), row[0][1], watch)
        return _absent(vault, record, watch)


def _sealed(vault: Vault, record: RecordHash) -> RecordHash:
    """Return the Seal around a Plex that is not here by itself."""
    if record.kind != "P" or vault.store.position(record) is not None:
        return record
    rows = vault.store.rows("SELECT b.digest FROM rec r JOIN body b USING (p) WHERE r.plex = ?", record.digest)
    return RecordHash("S", bytes(rows[0][0])) if rows else record


def _present(vault: Vault, record: RecordHash, app: str, at: object, watch: Watch) -> Why:
    if at is not None:
        rule = f"{GROUP_SHARED.id}: {GROUP_SHARED.text.splitlines()[-1]}"
        reason = f"It is number {at} of what this vault shows to every member."
        lacks = lacking_of(vault, record) if app == Release.APP else None
        if lacks is not None:
            how = f"was refused here ({lacks.refusal})" if lacks.refusal else "is missing here"
            reason += f" It is not shown: {lacks.kind} that it reaches {how}, {lacks.missing}."
        return Why(record, Decision.SHARED, rule, reason, _path(vault, record, watch), lacks)
    if app in _LOCAL_APPS:
        return Why(record, Decision.PRIVATE, f"{app} is never shared", "It belongs to this vault alone.")
    reason = "It stays here: no log entry that counts reaches it. What you released is reached: lace release"
    return Why(record, Decision.KEPT, "what no log entry reaches is not shared", reason)


def _absent(vault: Vault, record: RecordHash, watch: Watch) -> Why:
    refused = vault.store.rows(
        "SELECT code, reason, source FROM refused WHERE digest = ? AND kind = ?", record.digest, record.kind
    )
    if refused:
        code, reason, source = (str(word) for word in refused[0])
        return Why(record, Decision.REFUSED, code, f"It came from {source} and was refused: {reason}.")
    if not vault.store.holes.among({record}):
        raise NoSuchRecord(f"The record {record} is not here, and nothing here names it.")
    reason = "It is named by what is shared and has not come yet; the next sync with somebody who has it brings it."
    return Why(record, Decision.MISSING, "what is named and missing is asked for", reason, _path(vault, record, watch))


# The way


def _path(vault: Vault, record: RecordHash, watch: Watch) -> tuple[WhyStep, ...]:
    """Return a shortest way from a log entry to the record, both included."""
    above = _above(vault, record, watch)
    if above:
        return above
    for commit, tree in vault.store.rows(_COMMITS):
        watch.cancelled()
        below = _within(vault, RecordHash.parse(str(tree)), record, watch)
        if below is not None:
            return (*_above(vault, RecordHash.parse(str(commit)), watch), *below)
    return ()


def _above(vault: Vault, record: RecordHash, watch: Watch) -> tuple[WhyStep, ...]:
    """Return the way by the links that name a record, breadth first; empty when no log entry is met."""
    below: dict[str, str] = {record.text: ""}
    frontier = [record.text]
    while frontier:
        watch.cancelled()
        following: list[str] = []
        for target, kind, digest, app in select_in(vault.store.db, _NAMERS, frontier):
            name = RecordHash(str(kind), bytes(digest))
            if name.text in below:
                continue
            below[name.text] = str(target)
            if app == LogEntry.APP:
                return tuple(_down(vault, name.text, below))
            following.append(name.text)
        frontier = following
    return (WhyStep(record, _what(vault, record)),) if vault.store.rows(_IS_ENTRY, record.text) else ()


_IS_ENTRY = "SELECT 1 FROM log WHERE hash = ?"


def _down(vault: Vault, text: str, below: dict[str, str]) -> Iterator[WhyStep]:
    while text:
        record = RecordHash.parse(text)
        yield WhyStep(record, _what(vault, record))
        text = below[text]


def _within(vault: Vault, root: RecordHash, wanted: RecordHash, watch: Watch) -> tuple[WhyStep, ...] | None:
    """Return the way from a root tree to a record in it, depth first; None when it is not there."""
    seen: set[bytes] = set()
    waiting: list[tuple[RecordHash, tuple[WhyStep, ...], str]] = [(root, (), "")]
    while waiting:
        record, way, path = waiting.pop()
        if record.digest in seen:
            continue
        watch.cancelled()
        seen.add(record.digest)
        here = (*way, WhyStep(record, path or "tree"))
        if record == wanted:
            return here
        for item, name, has_parts in _items(vault, record):
            inner = f"{path}/{name}" if path and name else path or name
            if item == wanted:
                return (*here, WhyStep(item, inner or "tree page"))
            if has_parts:
                waiting.append((item, here, inner))
    return None


def _items(vault: Vault, record: RecordHash) -> Iterator[tuple[RecordHash, str, bool]]:
    """Yield what a tree page or a manifest lists: the record, its name if it has one, whether it may list others."""
    stored = vault.store.stored_or_none(record)
    found = parse_record(stored, verify=False) if stored is not None else None
    if not isinstance(found, Plex):
        return
    if found.app == TREE_APP:
        for item in parse_page(found.blob.data).items:
            if isinstance(item, Entry):
                yield item.hash, item.name, item.is_dir or item.size > MAX_DIRECT_BYTES
            else:
                yield item.hash, "", True
        return
    value = read(found)
    if isinstance(value, Manifest):
        for chunk in value.chunks:
            yield chunk.target, "", value.level > 1


def _what(vault: Vault, record: RecordHash) -> str:
    """Say what a record is."""
    stored = vault.store.stored_or_none(record)
    if stored is None:
        return "missing here"
    found = parse_record(stored, verify=False)
    app = (found.plex if isinstance(found, Seal) else found).app if isinstance(found, Seal | Plex) else ""
    named: dict[type, Callable[..., str]] = {
        LogEntry: lambda v: f"log entry {v.seq} of {label_of(vault, v.signer.text)}",
        Release: lambda v: f"release {v.desk} {v.version}",
        Revision: lambda v: f"revision {v.number} of {v.desk}",
        Member: lambda v: f"admission of {label_of(vault, v.node.text)}",
        NodeCard: lambda v: f"card of {label_of(vault, v.signer.text)}",
    }
    value = read(found)
    say = named.get(type(value))
    return say(value) if say is not None else app.removeprefix("lace/")
