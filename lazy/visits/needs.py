"""What a file for somebody leaves out, since they have it, and what its reader must have then (LAZ-28, LAZ-47)."""

from __future__ import annotations

from collections.abc import Iterable

from lazy.lacking import waiting_releases
from lazy.people import label_of
from lazy.places.sealing import VaultKeys
from lazy.problems import Problem
from lazy.results import PlaceResult
from transports.encrypted.sealing import is_sealed, unseal_bytes
from transports.errors import BadOneFile, BadSnapshot
from transports.onefile.place import OneFile
from transports.snapshot import LogReach
from vault.errors import PeerError
from vault.late_content import before_late
from vault.records import Verifier
from vault.vault import Vault

__all__ = ["BundleNeedsMore", "as_needs", "check_needs", "left_out", "note_left_out"]

_NEEDS = "lace-needs/0"
_NEEDS_LIMIT = 4096  # lines: one a node
_END = (1 << 63) - 1  # after every entry of a log
_COUNTS = "SELECT seq FROM vector WHERE node = ?"
# Whether one goes down from an entry to where the log counts here, each time to the one that is named as before.
_DOWN_TO = """
WITH RECURSIVE counts(seq) AS (SELECT ifnull((SELECT seq FROM vector WHERE node = ?1), 0)),
chain(seq, prev) AS (
    SELECT seq, prev FROM log WHERE node = ?1 AND seq = ?2 AND plex = ?3
    UNION SELECT l.seq, l.prev FROM chain c JOIN log l ON l.node = ?1 AND l.seq = c.seq - 1 AND l.hash = c.prev
    WHERE c.seq > (SELECT seq FROM counts))
SELECT min(seq) <= max((SELECT seq FROM counts), 1) FROM chain"""


class BundleNeedsMore(PeerError):
    """A bundle file that continues what another vault has, and this one has less."""

    code = "bundle-needs-more"
    exit_code = 33
    hint = "Ask for a file without --for, or for one made for you."


def left_out(vault: Vault, node: Verifier) -> tuple[int, list[str]]:
    """Return the number in the exposure log up to which a peer has everything, and its vector in words.

    That is before the first log entry, whoever's, that its own vector does not show (LAZ-47): what an entry shares
    becomes shared after it. That the peer has my log does not say that it read what I had of others by then. A vector
    says nothing of content that came late, so what came so since my last entry that the peer has goes along as well.
    """
    store = vault.store
    rows = store.rows("SELECT of_node, seq, plex, forked FROM peer_vector WHERE node = ? ORDER BY of_node", node.text)
    has = {str(of): (int(seq), bytes(plex), bool(forked)) for of, seq, plex, forked in rows}
    seq, plex, _ = has.get(vault.node.text, (0, b"", False))
    read = "SELECT ifnull(max(at), 0) FROM log JOIN exposure USING (p) WHERE node = ? AND seq = ? AND plex = ?"
    known = int(store.rows(read, vault.node.text, seq, plex)[0][0])
    if not known:
        return 0, []
    after = vault.store.exposed()
    late = before_late(store, known)
    after = after if late is None else min(after, late)
    for text, end, forked in store.rows("SELECT node, seq, forked FROM vector"):
        seq, plex, knows_fork = has.get(str(text), (0, b"", False))
        if seq and not store.rows("SELECT 1 FROM log WHERE node = ? AND seq = ? AND plex = ?", text, seq, plex):
            seq = 0  # it has another branch of that log
        last = int(end)
        if forked and not knows_fork:  # beyond what the branches have in common it may have either of them
            seq, last = min(seq, last), _END
        first = store.rows(
            "SELECT min(x.at) FROM log l JOIN exposure x USING (p) WHERE l.node = ? AND l.seq > ? AND l.seq <= ?",
            text,
            seq,
            last,
        )[0][0]
        after = min(after, after if first is None else int(first) - 1)
    needs = [LogReach(Verifier.parse(of), seq, plex).text for of, (seq, plex, _) in has.items() if seq]
    return after, needs if after else []


def as_needs(needs: Iterable[str]) -> bytes:
    """Return what a file says that its reader must have."""
    return "".join(f"{line}\n" for line in (_NEEDS, *needs)).encode()


def check_needs(vault: Vault, file: OneFile, keys: VaultKeys) -> None:
    """Refuse a file that goes on from entries of logs which are not here (LAZ-28).

    A number alone says nothing: of a log that forked, another entry may have it here. And who knows of a fork counts
    that log up to it only, though the entries are all here.

    Raises:
        BadOneFile: what it says it needs cannot be read.
        BundleNeedsMore: it goes on from an entry that is not here.
        SealedToOthers: it is encrypted, and not for me.
    """
    data = file.needs()
    if data is None:
        return
    lines = (unseal_bytes(data, keys.find) if is_sealed(data) else data).decode("utf-8", "replace").splitlines()
    if not lines or lines[0] != _NEEDS or len(lines) > _NEEDS_LIMIT:
        raise _unreadable_needs()
    for line in lines[1:]:
        need = _need(line)
        node, seq, digest = need.node.text, need.seq, need.digest
        if _has_log(vault, node, seq, digest):
            continue
        name, who = file.path.name, label_of(vault, node)
        if vault.store.rows("SELECT 1 FROM log WHERE node = ? AND seq = ? AND plex <> ?", node, seq, digest):
            raise BundleNeedsMore(
                f"{name} goes on from entry {seq} of {who}'s log, and the one that is here is another: a copied or"
                " restored device wrote two."
            )
        counts = next((int(number) for (number,) in vault.store.rows(_COUNTS, node)), 0)
        raise BundleNeedsMore(
            f"{name} goes on from where another vault stands, and this one is behind it: it has {counts} of {seq}"
            f" entries of {who}'s log."
        )


def _need(line: str) -> LogReach:
    try:
        return LogReach.parse(line)
    except BadSnapshot as error:
        raise _unreadable_needs() from error


def _unreadable_needs() -> BadOneFile:
    return BadOneFile("What the file says it needs cannot be read.")


def _has_log(vault: Vault, node: str, seq: int, digest: bytes) -> bool:
    """Tell whether an entry of a log, and all below it, are here."""
    return bool(vault.store.rows(_DOWN_TO, node, seq, digest)[0][0])


def note_left_out(vault: Vault, result: PlaceResult) -> None:
    """Say what a file for somebody did not bring: my vector says which entries came, not whether their content did."""
    if count := sum(number for desks in waiting_releases(vault).values() for number in desks.values()):
        what = "A release is" if count == 1 else f"{count} releases are"
        text = f"{what} not all here, and this file leaves out what somebody else may have given you in part."
        result.problems.append(Problem("content-missing", text, hint="Ask for a file without --for: it holds all."))
