"""What a side of a live exchange says of itself first: hello, policy, vector, cursors; and what is kept of a peer.

A cursor is a number in the sender's exposure log, under the log's epoch: everything up to it was taken. It belongs to
the reader (decision 8); the sender keeps the last one it was told only to spare a trip.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Self

from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.link import LinkConfig
from lazy.interlace.mailbox import MailboxExchange, PeerSnapshot
from lazy.interlace.plan import GROUP_SHARED, SELECTOR, Operand, Plan
from lazy.interlace.result import InterlaceResult
from lazy.live.port import SilentPort
from lazy.terms import hello_facts, hello_lines, terms
from transports.errors import BadStream, RolledBack
from transports.snapshot import VectorEntry
from vault.records import Verifier, b64a
from vault.records.errors import RecordError
from vault.vault import Vault
from vault.work import MAIN, unreleased
from vault.writer import Writer

__all__ = ["Cursor", "Known", "Standing", "agree", "keep", "known", "my_standing"]

_VERSION: Final = 0
_NODES_LIMIT = 10_000
_TOP_LIMIT = 1 << 60


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in an exposure log.

    Args:
        epoch: of the log; another epoch is another log.
        at: the highest number that was taken.
    """

    epoch: str
    at: int


@dataclass(frozen=True, slots=True)
class Known:
    """What is remembered of a peer: my cursor on its log, and its cursor on mine as it last said."""

    mine: Cursor | None
    theirs: Cursor | None


@dataclass(frozen=True, slots=True)
class Standing:
    """The first frame of a body.

    Args:
        plan: `E.` of the exchange plan as its sender derives it.
        operand: identifier of its policy module.
        facet: role of its operand.
        hello: its hello facts as lines, without the plan.
        vector: its version vector.
        unreleased: commits it keeps to itself, if it says so.
        here: epoch and top of its exposure log.
        cursor: how far it has read the log of the one it speaks to; None for never.
        starts_after: position in its own log that the records it sends follow on; None when it sends none.
        lists: whether it wants, or sends, names instead of records.
        is_quiet: whether it wants nothing in return but how the other side stands.
    """

    plan: str
    operand: str
    facet: str
    hello: tuple[str, ...]
    vector: tuple[VectorEntry, ...]
    unreleased: int | None
    here: Cursor
    cursor: Cursor | None
    starts_after: int | None = None
    lists: bool = False
    is_quiet: bool = False

    def encode(self) -> bytes:
        """Return the frame's data."""
        value = {
            "v": _VERSION,
            "plan": self.plan,
            "operand": self.operand,
            "facet": self.facet,
            "hello": self.hello,
            "vector": [[e.node.text, e.seq, b64a.encode(e.digest), int(e.is_forked)] for e in self.vector],
            "unreleased": self.unreleased,
            "here": [self.here.epoch, self.here.at],
            "cursor": [self.cursor.epoch, self.cursor.at] if self.cursor else None,
            "after": self.starts_after,
            "lists": self.lists,
            "quiet": self.is_quiet,
        }
        return json.dumps(value, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read a frame's data.

        Raises:
            BadStream: it is malformed, or of another version.
        """
        try:
            value = json.loads(data)
            if value["v"] != _VERSION:
                raise BadStream("The other side speaks another version of the live exchange.")
            if len(value["vector"]) > _NODES_LIMIT:
                raise BadStream(f"A version vector names more than {_NODES_LIMIT} nodes.")
            return cls(
                _text(value["plan"]),
                _text(value["operand"]),
                _text(value["facet"]),
                tuple(map(_text, value["hello"])),
                tuple(_entry(*entry) for entry in value["vector"]),
                None if value["unreleased"] is None else _number(value["unreleased"]),
                _cursor(*value["here"]),
                None if value["cursor"] is None else _cursor(*value["cursor"]),
                None if value["after"] is None else _number(value["after"]),
                value["lists"] is True,
                value["quiet"] is True,
            )
        except (ValueError, KeyError, TypeError, RecursionError, RecordError) as error:
            raise BadStream("What the other side says of itself cannot be read.") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _TOP_LIMIT:
        raise TypeError
    return int(value)


def _entry(node: Any, seq: Any, digest: Any, forked: Any) -> VectorEntry:
    return VectorEntry(Verifier.parse(_text(node)), _number(seq), b64a.decode(_text(digest)), forked == 1)


def _cursor(epoch: Any, at: Any) -> Cursor:
    return Cursor(_text(epoch)[:64], _number(at))


def my_standing(
    vault: Vault,
    peer: Verifier,
    *,
    cursor: Cursor | None,
    starts_after: int | None = None,
    lists: bool = False,
    is_quiet: bool = False,
) -> Standing:
    """Return what this vault says of itself to a peer, all of one moment."""
    announce = bool(vault.settings.get("announce-unreleased"))
    mine, theirs = Operand(GROUP_SHARED.id, vault.node.text), Operand(GROUP_SHARED.id, peer.text)
    with vault.store.reading():
        top = int(vault.store.rows("SELECT ifnull(max(at), 0) FROM exposure")[0][0])
        rows = vault.store.rows("SELECT node, seq, plex, forked FROM vector WHERE seq > 0 ORDER BY node")
    return Standing(
        plan=Plan.of(mine, theirs, frozenset({"App"})).id,
        operand=GROUP_SHARED.id,
        facet=SELECTOR,
        hello=hello_lines(vault.node, vault.around.tai()),
        vector=tuple(VectorEntry(Verifier.parse(str(n)), int(s), bytes(p), bool(f)) for n, s, p, f in rows),
        unreleased=unreleased(vault, MAIN) if announce else None,
        here=Cursor(vault.store.meta("epoch"), top),
        cursor=cursor,
        starts_after=starts_after,
        lists=lists,
        is_quiet=is_quiet,
    )


def agree(vault: Vault, peer: Verifier, theirs: Standing) -> InterlaceResult:
    """Derive the plan of both policies and negotiate, as reading a mailbox does; return the link it makes.

    Raises:
        BadStream: the peer derives another plan, or its hello and mine do not go together.
        RolledBack: its own log is shorter than it was (CYB-18).
    """
    snapshot = PeerSnapshot(peer, theirs.operand, hello_facts(theirs.hello), {}, theirs.facet)
    config = LinkConfig(terms=terms(vault.around.tai()), here=vault.node, peer_label=f"live:{peer.key.hex()}")
    exchange = MailboxExchange(config, SilentPort(), snapshot)
    try:
        exchange.start()
    except InterlaceAbort as error:
        raise BadStream(f"The two sides cannot agree: {error.message}") from error
    plan = exchange.plan
    if plan is None or plan.id != theirs.plan:
        raise BadStream("The other side derives another exchange plan from the same two policies.")
    row = vault.store.rows("SELECT seq FROM peer_vector WHERE node = ?1 AND of_node = ?1", peer.text)
    own = next((entry.seq for entry in theirs.vector if entry.node == peer), 0)
    if row and own < int(row[0][0]):
        raise RolledBack("The other side has fewer entries of its own log than it had when it was last met.")
    return exchange.result or exchange.cancel()


def known(vault: Vault, peer: Verifier) -> Known:
    """Return what is remembered of a peer."""
    rows = vault.store.rows("SELECT epoch, at, their_epoch, their_at FROM live WHERE node = ?", peer.text)
    if not rows:
        return Known(None, None)
    epoch, at, their_epoch, their_at = rows[0]
    theirs = Cursor(str(their_epoch), int(their_at)) if their_epoch == vault.store.meta("epoch") else None
    return Known(Cursor(str(epoch), int(at)) if epoch else None, theirs)


def keep(w: Writer, peer: Verifier, *, mine: Cursor | None = None, theirs: Cursor | None = None) -> None:
    """Remember cursors of a peer; what is None stays."""
    w.store.run("INSERT OR IGNORE INTO live VALUES (?, '', 0, '', 0)", peer.text)
    if mine is not None:
        w.store.run("UPDATE live SET epoch = ?, at = ? WHERE node = ?", mine.epoch, mine.at, peer.text)
    if theirs is not None:
        w.store.run("UPDATE live SET their_epoch = ?, their_at = ? WHERE node = ?", theirs.epoch, theirs.at, peer.text)
