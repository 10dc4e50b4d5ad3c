"""What a side of a live exchange says of itself first: hello, policy, vector, cursors."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple, Self

from blake3 import blake3

from lazy.interlace.errors import InterlaceAbort
from lazy.interlace.link import LinkConfig
from lazy.interlace.mailbox import MailboxExchange, PeerSnapshot
from lazy.interlace.plan import GROUP_SHARED, SELECTOR, Operand, Plan
from lazy.interlace.result import InterlaceResult
from lazy.live.cursors import ExposureCursor, mark_at
from lazy.live.port import SilentPort
from lazy.vectors import unreleased_told
from lazy.visits.terms import hello_facts, hello_lines, terms, vector_told
from transports.errors import BadStream
from transports.snapshot import LogReach
from vault.nodelog import VectorEntry
from vault.notes.own import EPOCH
from vault.records import Verifier, b64a
from vault.records.errors import RecordError
from vault.vault import Vault

__all__ = ["NAMES_LIMIT", "TIERS", "Standing", "agree", "my_standing", "plan_with", "went_back"]

_VERSION: Final = 0
_NODES_LIMIT = 10_000  # of one vector
_BEACON_CHARACTERS = 8192
_HINTS_LIMIT = 4096  # characters
TIERS: Final = 3
NAMES_LIMIT: Final = 2_000_000
"""Records that one side names in an exchange: asked for by the client, or listed by the server."""
_TOP_LIMIT = 1 << 60


class Standing(NamedTuple):
    """The first frame of a body.

    Args:
        plan: `E.` of the exchange plan as its sender derives it.
        operand: identifier of its policy module.
        facet: role of its operand.
        hello: its hello facts as lines, without the plan.
        vector: its version vector; None where all that is said of it is that it is another one than was asked about.
        unreleased: commits it keeps to itself, if it says so.
        here: epoch and top of its exposure log.
        cursor: how far it has read the log of the one it speaks to; None for never.
        starts_after: position in its own log that the records it sends follow on; None when it sends none.
        lists: whether it wants, or sends, names instead of records.
        is_quiet: whether it wants nothing in return but how the other side stands.
        beacon: of a server that publishes one: the record, for whoever asks; empty else.
        tiers: the version of reconciling in tiers and of saying things shortly that it knows; 0 for none.
        hints: what it predicts of the other side's state: hints, and the digest of all; empty when it does not.
        as_of: the place in the other side's log by which it asks for partitions.
        asks_hints: whether it would rather be told hints than list everything.
        digest: of the vector, said in place of it by who expects the other side to have the same one; empty else.
    """

    plan: str
    operand: str
    facet: str
    hello: tuple[str, ...]
    vector: tuple[LogReach, ...] | None
    unreleased: int | None
    here: ExposureCursor
    cursor: ExposureCursor | None
    starts_after: int | None = None
    lists: bool = False
    is_quiet: bool = False
    beacon: bytes = b""
    tiers: int = 0
    hints: bytes = b""
    as_of: ExposureCursor | None = None
    asks_hints: bool = False
    digest: bytes = b""

    def encode(self) -> bytes:
        """Return the frame's data."""
        value: dict[str, object] = {
            "v": _VERSION,
            "plan": self.plan,
            "operand": self.operand,
            "facet": self.facet,
            "hello": self.hello,
            "vector": b64a.encode(self.digest) if self.digest else _entries(self.vector or ()),
            "unreleased": self.unreleased,
            "here": [self.here.epoch, self.here.at, self.here.mark],
            "cursor": [self.cursor.epoch, self.cursor.at, self.cursor.mark] if self.cursor else None,
            "after": self.starts_after,
            "lists": self.lists,
            "quiet": self.is_quiet,
            "tiers": self.tiers,
        }
        if self.beacon:
            value["beacon"] = b64a.encode(self.beacon)
        if self.hints:
            value["hints"] = b64a.encode(self.hints)
        if self.as_of is not None:
            value["as_of"] = [self.as_of.epoch, self.as_of.at, self.as_of.mark]
        if self.asks_hints:
            value["asks_hints"] = True
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
            vector, digest = _vector(value["vector"])
            return cls(
                _text(value["plan"]),
                _text(value["operand"]),
                _text(value["facet"]),
                tuple(map(_text, value["hello"])),
                vector,
                None if value["unreleased"] is None else _number(value["unreleased"]),
                _cursor(*value["here"]),
                None if value["cursor"] is None else _cursor(*value["cursor"]),
                None if value["after"] is None else _number(value["after"]),
                value["lists"] is True,
                value["quiet"] is True,
                _beacon(value.get("beacon", "")),
                _number(value.get("tiers", 0)),
                b64a.decode(_text(value.get("hints", ""))[:_HINTS_LIMIT]),
                _cursor(*value["as_of"]) if "as_of" in value else None,
                value.get("asks_hints") is True,
                digest,
            )
        except (ValueError, KeyError, TypeError, RecursionError, RecordError) as error:
            raise BadStream("What the other side says of itself cannot be read.") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # JSON can write halves of surrogate pairs, which no store keeps and no terminal shows
    return value


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _TOP_LIMIT:
        raise TypeError
    return int(value)


def _beacon(value: Any) -> bytes:
    if len(_text(value)) > _BEACON_CHARACTERS:
        raise ValueError
    return b64a.decode(value)


def _entries(vector: tuple[LogReach, ...]) -> list[list[object]]:
    return [[e.node.text, e.seq, b64a.encode(e.digest), int(e.is_forked)] for e in vector]


def _vector(value: Any) -> tuple[tuple[LogReach, ...] | None, bytes]:
    """Read a vector, or the digest that stands in its place."""
    if isinstance(value, str):
        digest = b64a.decode(_text(value))
        if len(digest) != blake3.digest_size:
            raise ValueError
        return None, digest
    if len(value) > _NODES_LIMIT:
        raise BadStream(f"A version vector names more than {_NODES_LIMIT} nodes.")
    return tuple(_entry(*entry) for entry in value), b""


def _entry(node: Any, seq: Any, digest: Any, forked: Any) -> LogReach:
    found = VectorEntry(_number(seq), b64a.decode(_text(digest)), forked == 1)
    if not found.seq:
        raise ValueError  # nobody says of a log that nothing of it counts
    return LogReach(Verifier.parse(_text(node)), found.seq, found.plex_digest, found.forked)


def _cursor(epoch: Any, at: Any, mark: Any) -> ExposureCursor:
    return ExposureCursor(_text(epoch)[:64], _number(at), _text(mark)[:64])


def my_standing(
    vault: Vault,
    peer: Verifier,
    *,
    cursor: ExposureCursor | None,
    starts_after: int | None = None,
    lists: bool = False,
    is_quiet: bool = False,
    beacon: bytes = b"",
    tiers: int = TIERS,
) -> Standing:
    """Return what this vault says of itself to a peer, all of one moment; what is given stands in it as it is."""
    with vault.store.reading():
        top = vault.store.exposed()
        vector = vector_told(vault)
    return Standing(
        plan=plan_with(vault, peer).id,
        operand=GROUP_SHARED.id,
        facet=SELECTOR,
        hello=hello_lines(vault.node, vault.around.tai()),
        vector=vector,
        unreleased=unreleased_told(vault),
        here=ExposureCursor(vault.store.note(EPOCH), top, mark_at(vault, top)),
        cursor=cursor,
        starts_after=starts_after,
        lists=lists,
        is_quiet=is_quiet,
        beacon=beacon,
        tiers=tiers,
    )


def plan_with(vault: Vault, peer: Verifier) -> Plan:
    """Return the plan that both sides derive of the policies of an ordinary exchange."""
    mine, theirs = Operand(GROUP_SHARED.id, vault.node.text), Operand(GROUP_SHARED.id, peer.text)
    return Plan.of(mine, theirs, frozenset({"App"}))


def agree(vault: Vault, peer: Verifier, theirs: Standing) -> InterlaceResult:
    """Derive the plan of both policies and negotiate, as reading a mailbox does; return the link it makes.

    Raises:
        BadStream: the peer derives another plan, or its hello and mine do not go together.
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
    return exchange.result or exchange.cancel()


def went_back(vault: Vault, peer: Verifier, theirs: Standing) -> set[str]:
    """Return whose logs a peer says it has less of than it once said (CYB-18).

    It was restored, or hides something, unless a revocation cut the log since, which may still be on its way here.
    """
    vector = theirs.vector or ()
    said = {entry.node.text: entry.seq for entry in vector if not entry.is_forked}
    forked = {entry.node.text for entry in vector if entry.is_forked}
    rows = vault.store.rows("SELECT of_node, seq FROM peer_vector WHERE node = ? AND forked = 0", peer.text)
    return {str(node) for node, seq in rows if node not in forked and said.get(str(node), 0) < int(seq)}
