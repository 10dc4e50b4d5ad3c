"""Records that were refused: remembered so that nobody fetches them again, some kept until their signer belongs.

What breaks a rule is remembered by its hash and reason, and its bytes are gone. What is valid and sealed by somebody
who is no member (LAZ-71) is kept, unread and without effect, as long as there is room: all of it together at most
`QUARANTINE_BYTES`, of one signer at most a quarter of that, so that no flood of one stranger pushes out another's.
When its signer belongs, or a record that counts is built upon it, it is judged anew like anything that arrives
(architecture, decision 10).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from lazy.people import label_of
from lazy.receiving.holes import Holes
from vault.errors import CallerError, PeerError
from vault.records import RecordError, RecordHash, Seal, parse_record
from vault.vault import Vault
from vault.writer import Writer

__all__ = [
    "MAX_REMEMBERED",
    "NAMED",
    "QUARANTINE_BYTES",
    "NotInQuarantine",
    "Quarantined",
    "SignerStillStrange",
    "drop",
    "due",
    "find",
    "forget_stored",
    "keep",
    "let_go",
    "quarantined",
    "refused_count",
    "stored_of",
    "trim",
]

QUARANTINE_BYTES: Final = 16 << 20
MAX_REMEMBERED: Final = 100_000  # refusals; the oldest are forgotten first, and at worst fetched and refused once more
NAMED: Final = "kind IN ('B', 'P', 'S') AND length(digest) = 32"  # of a row whose record can be told
_SHARE: Final = 4  # of all the room, one signer has a fourth at most


class NotInQuarantine(CallerError):
    """No refused record has this hash."""

    code = "not-in-quarantine"
    exit_code = 2
    hint = "See what is there with: lace quarantine"


class SignerStillStrange(PeerError):
    """A record cannot be let in before its signer belongs."""

    code = "signer-strange"
    exit_code = 31
    hint = "If you know them, admit the signer: lace admit NAME --key V; then the same command again."


class Quarantined(NamedTuple):
    """One refused record.

    Args:
        hash: its hash text.
        code: the rule it broke.
        reason: the same as a sentence; may hold words of others.
        source: the place it came from.
        tai: when it was refused.
        size: bytes kept; 0 if only the refusal is remembered.
        app, name, signer: what a kept record says of itself; empty if it is not kept.
    """

    hash: str
    code: str
    reason: str
    source: str
    tai: str
    size: int = 0
    app: str = ""
    name: str = ""
    signer: str = ""


def quarantined(vault: Vault) -> list[Quarantined]:
    """Return what was refused, the newest first."""
    rows = vault.store.rows(
        "SELECT r.kind, r.digest, r.code, r.reason, r.source, r.tai, q.bytes"  # noqa: S608 - our own words
        f" FROM (SELECT * FROM refused WHERE {NAMED}) r"
        " LEFT JOIN quarantine q ON q.digest = r.digest AND q.kind = r.kind ORDER BY r.tai DESC, r.digest"
    )
    return [_shown(vault, *row) for row in rows]


def refused_count(vault: Vault) -> int:
    """Return how many records were refused, as far as that is remembered."""
    return int(vault.store.rows(f"SELECT count(*) FROM refused WHERE {NAMED}")[0][0])  # noqa: S608 - our own words


def _shown(
    vault: Vault, kind: str, digest: bytes, code: str, reason: str, source: str, tai: str, stored: bytes | None
) -> Quarantined:
    record = RecordHash(kind, bytes(digest)).text
    if stored is None:
        return Quarantined(record, code, reason, source, tai)
    try:
        seal = parse_record(bytes(stored), verify=False)
    except RecordError:  # it rotted: a repair drops it, and a sync refuses it anew (APP-13)
        return Quarantined(record, code, reason, source, tai)
    assert isinstance(seal, Seal)  # noqa: S101 - `keep` takes nothing else
    plex = seal.plex
    signer = label_of(vault, seal.signer.text)
    return Quarantined(
        hash=record,
        code=code,
        reason=reason,
        source=source,
        tai=tai,
        size=len(stored),
        app=plex.app,
        name=plex.name,
        signer=signer,
    )


def keep(w: Writer, seal: Seal, stored: bytes) -> bool:
    """Keep a valid record of a stranger if there is room for it; tell whether it is kept."""
    total, same = w.store.rows(
        "SELECT ifnull(sum(size), 0), ifnull(sum(size) FILTER (WHERE signer = ?), 0) FROM quarantine", seal.signer.text
    )[0]
    size = len(stored)
    if int(total) + size > QUARANTINE_BYTES or int(same) + size > QUARANTINE_BYTES // _SHARE:
        return False
    w.store.run(
        "INSERT OR IGNORE INTO quarantine VALUES (?, ?, ?, ?, ?)",
        seal.hash.digest,
        seal.hash.kind,
        seal.signer.text,
        size,
        stored,
    )
    return True


def due(w: Writer, holes: Holes) -> list[tuple[RecordHash, bytes]]:
    """Return what is kept of those who belong by now, or did up to a cut: it can be judged again.

    Where records that count are built upon some of the rest, that is returned too, for it may stand on more of it.
    """
    names = [
        RecordHash(str(kind), bytes(digest))
        for kind, digest in w.store.rows(f"SELECT kind, digest FROM quarantine WHERE {NAMED}")  # noqa: S608
    ]
    rows = w.store.rows(
        f"SELECT kind, digest, bytes FROM quarantine WHERE {NAMED}"  # noqa: S608 - our own words
        " AND (? OR signer IN (SELECT node FROM member UNION ALL SELECT node FROM former)) ORDER BY digest",
        bool(names and holes.built_upon(names)),
    )
    return [(RecordHash(str(kind), bytes(digest)), bytes(stored)) for kind, digest, stored in rows]


def let_go(w: Writer, record: RecordHash, code: str, reason: str) -> None:
    """Keep a record no longer: it is refused for another reason now, until whoever sealed it stands otherwise."""
    name = (record.digest, record.kind)
    w.store.run("UPDATE refused SET code = ?, reason = ? WHERE digest = ? AND kind = ?", code, reason, *name)
    w.store.run("DELETE FROM quarantine WHERE digest = ? AND kind = ?", *name)


def _let_go_stored(w: Writer) -> None:
    """Keep no longer what is here by now."""
    w.store.run(
        "DELETE FROM quarantine WHERE EXISTS"
        " (SELECT 1 FROM body b WHERE b.digest = quarantine.digest AND b.kind = quarantine.kind)"
    )


def forget_stored(w: Writer, *codes: str) -> None:
    """Forget refusals of these codes whose records are here by now, and what was kept of them."""
    gone = w.store.run(
        f"DELETE FROM refused WHERE code IN ({', '.join('?' * len(codes))}) AND EXISTS"  # noqa: S608 - marks only
        " (SELECT 1 FROM body b WHERE b.digest = refused.digest AND b.kind = refused.kind)",
        *codes,
    )
    if gone.rowcount:  # in the same write: a kill before the round ends would leave the bytes here twice for good
        _let_go_stored(w)


def trim(w: Writer) -> None:
    """Let go what is here by now, and the oldest refusals where they are too many."""
    _let_go_stored(w)
    count = int(w.store.rows("SELECT count(*) FROM refused")[0][0])
    if count > MAX_REMEMBERED:
        w.store.run(
            "DELETE FROM refused WHERE digest IN (SELECT digest FROM refused ORDER BY tai, digest LIMIT ?)",
            count - MAX_REMEMBERED,
        )
        w.store.run("DELETE FROM quarantine WHERE digest NOT IN (SELECT digest FROM refused)")


def find(vault: Vault, text: str) -> Quarantined:
    """Return the refused record with this hash, or with the only hash that begins so.

    Raises:
        NotInQuarantine: there is none, or there are several.
    """
    fitting = [one for one in quarantined(vault) if one.hash.startswith(text)] if text else []
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise NotInQuarantine(f"{len(fitting)} refused records have a hash that begins with {text[:60]}.")
    raise NotInQuarantine(f"No refused record has the hash {text[:60]!r}.")


def drop(vault: Vault, text: str) -> Quarantined:
    """Throw away the bytes of a refused record; that it was refused stays known, so nobody fetches it again.

    Where none are kept there is nothing to do.

    Raises:
        NotInQuarantine: no refused record has this hash.
    """
    found = find(vault, text)
    if not found.size:
        return found
    record = RecordHash.parse(found.hash)
    with vault.writing() as w:
        w.store.run("DELETE FROM quarantine WHERE digest = ? AND kind = ?", record.digest, record.kind)
        w.audit("lace-quarantine", found.hash, {"act": "drop", "code": found.code, "source": found.source})
    return found


def stored_of(vault: Vault, found: Quarantined) -> bytes | None:
    """Return the kept bytes of a refused record; None if only the refusal is remembered."""
    try:
        record = RecordHash.parse(found.hash)
    except RecordError:
        return None
    rows = vault.store.rows("SELECT bytes FROM quarantine WHERE digest = ? AND kind = ?", record.digest, record.kind)
    return bytes(rows[0][0]) if rows else None
