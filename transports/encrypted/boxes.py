"""Which encrypted mailboxes of a medium this node can open, and what was in them (decision 5)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from blake3 import blake3

from transports.encrypted.member_keys import MemberKeys, WritingTerms
from transports.encrypted.notices import open_notices
from transports.encrypted.sealing import key_of_envelope, notices_in, open_envelope, seal_envelope
from transports.errors import BadEnvelope, ClosedToYou, SealedToOthers
from transports.mailbox import MailboxMedium
from vault.errors import DataError
from vault.records.hashes import Verifier

__all__ = ["BEACON", "HEAD", "REQUEST", "Box", "Boxes"]

HEAD, REQUEST, BEACON = b"head", b"request", b"beacon"
"""What an envelope holds; it opens as nothing else."""

_TRIES = 1 << 16  # boxes and keys tried in vain in one visit: no circle leaves more, and they cost seconds
_TRY_BYTES = 80  # bytes: reading so much of an envelope once more counts as one try
_TOLD_RECORDS, _TOLD_BYTES = 512, 4 << 20  # notices read in one visit: anybody can send them
_CLOSED = "You could read this mailbox before, and what was put in it since is encrypted to others."


@dataclass(slots=True)
class Box:
    """One encrypted mailbox that this node can open; what was read is handed out once, then read anew."""

    alias: Verifier
    head: bytes | None = None
    request: bytes | None = None
    is_fresh: bool = False


class _Refused(NamedTuple):
    """An envelope that did not open.

    Args:
        digest: of its bytes.
        key: id of the key that it is under; empty where it has none.
        tried: the keys that are not the one.
        error: why it did not open.
    """

    digest: bytes
    key: bytes
    tried: frozenset[bytes]
    error: DataError


class Boxes:
    """The encrypted mailboxes of one medium, in one visit.

    Anybody who can write there can leave what costs a reader much (CYB-17). So what did not open is tried again only
    when it changed, or when a key with the id that it names was told since; and what is tried in vain has a limit.

    Args:
        inner: the drop or git place.
        me: this node.
        keys: what its vault knows.
    """

    def __init__(self, inner: MailboxMedium, me: Verifier, keys: MemberKeys) -> None:
        self._inner = inner
        self.me = me
        self.keys = keys
        self._boxes: dict[Verifier, Box] = {}
        self._is_known = False
        self._shut: set[Verifier] = set()  # what did not open, each under the id of a key too, in `_waiting`
        self._waiting: dict[bytes, set[Verifier]] = {}
        self._told: set[bytes] = set()  # ids of keys, since the last look
        self._refused: dict[tuple[Verifier, bytes], _Refused] = {}
        self._left = _TRIES
        self.closed: list[Verifier] = []
        """Names of mailboxes here that this node cannot open and has never opened."""
        self.notices: list[bytes] = []
        """Stored records that say why I cannot, sealed to me and not yet looked at."""

    def room(self, group: str) -> str:
        """Return what stands for the group where its encrypted mailboxes lie: another one on every medium."""
        return f"{group}\n{self._inner.place_id}"

    def forget(self) -> None:
        """Read again, at the next look, what did not open; it is not tried again where it is the same."""
        self._shut.clear()

    def nodes(self, group: str) -> list[Verifier]:
        """Return whose mailboxes this node can open, or could before, as they lie there now."""
        self._look(group)
        return list(self._boxes)

    def box(self, group: str, node: Verifier) -> Box | None:
        """Return a node's mailbox as it was read last."""
        if not self._is_known:
            self._look(group)
        return self._boxes.get(node)

    def reopened(self, group: str, node: Verifier, alias: Verifier) -> Box:
        """Read a node's mailbox anew.

        Raises:
            DataError: it cannot be opened.
        """
        self._open(group, alias, node)
        return self._boxes.get(node, Box(alias))

    def _look(self, group: str) -> None:
        """Open every encrypted mailbox that came since the last look, and what needs the key that another one holds."""
        self._is_known = True
        there = self._inner.nodes(self.room(group))
        self._boxes = {node: box for node, box in self._boxes.items() if box.alias in there}
        self._shut.intersection_update(there)
        known = {box.alias for box in self._boxes.values()} | self._shut
        # Those that somebody is known by come first, before anything else uses up what may be tried in vain.
        new = sorted((alias for alias in there if alias not in known), key=lambda alias: self.keys.owner(alias) is None)
        while new or self._told:
            for alias in (*new, *self._awaited()):
                self._open(group, alias, None)
            new = []
        self.closed = []
        for alias in sorted(self._shut):
            owner = self.keys.owner(alias)
            if owner is None:
                self.closed.append(alias)
            else:
                self._boxes.setdefault(owner, Box(alias))  # reading it will say what is wrong

    def _awaited(self) -> list[Verifier]:
        """Return the mailboxes under keys that were told since this was asked last."""
        told, self._told = self._told, set()
        awaited = set[Verifier]().union(*(self._waiting.pop(key, ()) for key in told))
        return sorted(awaited & self._shut)

    def _open(self, group: str, alias: Verifier, expected: Verifier | None) -> None:
        """Read and open one mailbox.

        Raises:
            DataError: it cannot be opened, and was expected to be somebody's.
        """
        room = self.room(group)
        try:
            owner, head = self.contents(self._inner.read_head(room, alias), alias, HEAD)
            asker, request = self._asked(room, alias, owner)
        except DataError as error:
            if expected is None:
                # It stops nobody else's, and whoever is known to have it is named when it is read.
                self._shut_out(alias)
                return
            if isinstance(error, SealedToOthers):
                raise ClosedToYou(_CLOSED) from error
            raise BadEnvelope(f"The mailbox of {expected.text} cannot be opened: {error.message}") from error
        self._shut.discard(alias)
        owner = owner or asker
        if owner is None:  # begun, and nothing in it yet
            if expected is not None:
                self._boxes.pop(expected, None)
            return
        self._boxes[owner] = Box(alias, head, request, is_fresh=True)

    def _shut_out(self, alias: Verifier) -> None:
        """Remember that a mailbox did not open, under the keys that may open it."""
        self._shut.add(alias)
        for what in (HEAD, REQUEST):
            if (refused := self._refused.get((alias, what))) is not None:
                self._waiting.setdefault(refused.key, set()).add(alias)

    def _asked(self, room: str, alias: Verifier, owner: Verifier | None) -> tuple[Verifier | None, bytes | None]:
        """Return who left a request in a mailbox, and the request; beside a head only its owner's is one.

        Raises:
            DataError: it cannot be opened, and there is no head that says whose mailbox it is.
        """
        try:
            asker, request = self.contents(self._inner.read_request(room, alias), alias, REQUEST)
        except DataError:
            if owner is None:
                raise
            return None, None
        return (asker, request) if owner in {None, asker} else (None, None)

    def _hear(self, told: Iterable[bytes]) -> None:
        """Keep what notices say, as far as a medium may make this node hold of them."""
        left = _TOLD_BYTES - sum(map(len, self.notices))
        for record in told:
            if record not in self.notices and len(self.notices) < _TOLD_RECORDS and len(record) <= left:
                self.notices.append(record)
                left -= len(record)

    def contents(self, data: bytes | None, alias: Verifier, what: bytes) -> tuple[Verifier | None, bytes | None]:
        """Return whose envelope it is and the record in it; nothing where there is none.

        Raises:
            BadEnvelope, SealedToOthers: it cannot be opened; what it says of why is kept.
        """
        if data is None:
            return None, None
        digest, key = blake3(data).digest(), key_of_envelope(data)
        before = self._refused.get((alias, what))
        if before is not None and before.digest != digest:
            before = None
        tried = before.tried if before is not None else frozenset()
        keys = [one for one in self.keys.find(key) if one.key not in tried][: max(1, self._left)]
        if before is not None:
            if not keys:
                raise before.error.with_traceback(None)
            self._left -= len(data) // _TRY_BYTES
        try:
            found = open_envelope(
                data, lambda _: keys, self._open_box if before is None else lambda _: None, self.context(alias, what)
            )
        except (BadEnvelope, SealedToOthers) as error:  # who tells a wrong key of a mailbox makes it look damaged
            self._left -= len(keys)
            self._refused[alias, what] = _Refused(digest, key, tried.union(one.key for one in keys), error)
            if before is None:
                with suppress(BadEnvelope):
                    self._hear(open_notices(notices_in(data), self._open_box))
            raise
        self._refused.pop((alias, what), None)
        self._told |= {one.id for one in (*found.keys, found.key)}
        self.keys.learn(alias, found)
        return found.owner, found.record

    def _open_box(self, box: bytes) -> bytes | None:
        """Open what is sealed to this node; nothing more once too much was tried in vain."""
        opened = self.keys.open_box(box) if self._left > 0 else None
        self._left -= opened is None
        return opened

    def context(self, alias: Verifier, what: bytes) -> bytes:
        """Return what binds an envelope to its medium, its mailbox and its file."""
        return b"\n".join((b"lace-envelope", self._inner.place_id.encode(), alias.key, what))

    # For the writer

    def envelope(self, record: bytes, terms: WritingTerms, what: bytes) -> bytes:
        """Return a record of mine in an envelope for my mailbox here."""
        return seal_envelope(
            record,
            terms.key,
            owner=self.me,
            recipients=terms.recipients,
            keys=terms.ring,
            sign=self.keys.sign,
            entropy=self.keys.entropy,
            context=self.context(self.keys.alias(), what),
            notices=terms.notices,
        )

    def took(self, *, head: bytes | None = None, request: bytes | None = None, drops_request: bool = False) -> None:
        """Take note of what I wrote, so that it need not be read to be known."""
        box = self._boxes.setdefault(self.me, Box(self.keys.alias()))
        box.head = head if head is not None else box.head
        box.request = None if drops_request else request if request is not None else box.request
