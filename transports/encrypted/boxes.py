"""Which encrypted mailboxes of a medium this node can open, and what was in them (decision 5)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from transports.encrypted.member_keys import MemberKeys, WritingTerms
from transports.encrypted.notices import open_notices
from transports.encrypted.sealing import notices_in, open_envelope, seal_envelope
from transports.errors import BadEnvelope, ClosedToYou, SealedToOthers
from transports.mailbox import MailboxPlace
from vault.errors import DataError
from vault.records.hashes import Verifier

__all__ = ["BEACON", "HEAD", "REQUEST", "Box", "Boxes"]

HEAD, REQUEST, BEACON = b"head", b"request", b"beacon"
"""What an envelope holds; it opens as nothing else."""

_TOLD_RECORDS, _TOLD_BYTES = 512, 4 << 20  # of notices: anybody can seal one to this node, in thousands of mailboxes
_CLOSED = "You could read this mailbox before, and what was put in it since is encrypted to others."


@dataclass(slots=True)
class Box:
    """One encrypted mailbox that this node can open; what was read is handed out once, then read anew."""

    alias: Verifier
    head: bytes | None = None
    request: bytes | None = None
    is_fresh: bool = False


class Boxes:
    """The encrypted mailboxes of one medium.

    Args:
        inner: the drop or git place.
        me: this node.
        keys: what its vault knows.
    """

    def __init__(self, inner: MailboxPlace, me: Verifier, keys: MemberKeys) -> None:
        self._inner = inner
        self.me = me
        self.keys = keys
        self._boxes: dict[Verifier, Box] = {}
        self._is_known = False
        self.closed: list[Verifier] = []
        """Names of mailboxes here that this node cannot open and has never opened."""
        self.notices: list[bytes] = []
        """Stored records that say why I cannot, sealed to me and not yet looked at."""

    def room(self, group: str) -> str:
        """Return what stands for the group where its encrypted mailboxes lie: another one on every medium."""
        return f"{group}\n{self._inner.place_id}"

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
        """Open every encrypted mailbox that came since the last look, twice over when that brings keys.

        One may hold the key of another.
        """
        self._is_known = True
        there = self._inner.nodes(self.room(group))
        self._boxes = {node: box for node, box in self._boxes.items() if box.alias in there}
        known = {box.alias for box in self._boxes.values()}
        left = [alias for alias in there if alias not in known]
        while left:
            closed = [alias for alias in left if not self._open(group, alias, None)]
            if len(closed) == len(left):
                break
            left = closed
        self.closed = []
        for alias in left:
            owner = self.keys.owner(alias)
            if owner is None:
                self.closed.append(alias)
            else:
                self._boxes.setdefault(owner, Box(alias))  # reading it will say what is wrong

    def _open(self, group: str, alias: Verifier, expected: Verifier | None) -> bool:
        """Read and open one mailbox; tell whether it was opened.

        Raises:
            DataError: it cannot be opened, and was expected to be somebody's.
        """
        room = self.room(group)
        try:
            owner, head = self.contents(self._inner.read_head(room, alias), alias, HEAD)
            asker, request = self._asked(room, alias, owner)
        except DataError as error:
            if expected is None:
                return False  # it stops nobody else's, and whoever is known to have it is named when it is read
            if isinstance(error, SealedToOthers):
                raise ClosedToYou(_CLOSED) from error
            raise BadEnvelope(f"The mailbox of {expected.text} cannot be opened: {error.message}") from error
        owner = owner or asker
        if owner is None:  # begun, and nothing in it yet
            self._boxes.pop(expected or self.me, None)
            return True
        self._boxes[owner] = Box(alias, head, request, is_fresh=True)
        return True

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
        try:
            found = open_envelope(data, self.keys.find, self.keys.open_box, self.context(alias, what))
        except (BadEnvelope, SealedToOthers):  # who tells a wrong key of a mailbox makes it look damaged
            with suppress(BadEnvelope):
                self._hear(open_notices(notices_in(data), self.keys.open_box))
            raise
        self.keys.learn(alias, found)
        return found.owner, found.record

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
