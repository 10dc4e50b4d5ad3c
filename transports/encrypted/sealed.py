"""A place whose mailboxes may be encrypted to the members (decision 5; docs/formats.md, "Encrypted mailboxes").

`SealedPlace` lies over a drop or a git place. Encrypted mailboxes stand beside plain ones, under random names in a
group directory of their own; only who can open an envelope learns whose they are. A person's own mailbox is encrypted
when they asked for it here, and also when anybody's is: what a friend hides, nobody shows by accident.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import BinaryIO, cast

from transports.bundles.bundling import BundleWriter, ByteSink
from transports.encrypted.cipher import fixed_salt
from transports.encrypted.member_keys import MemberKeys, WritingTerms
from transports.encrypted.notices import open_notices
from transports.encrypted.sealing import SealingSink, UnsealingFile, is_sealed, notices_in, open_envelope, seal_envelope
from transports.errors import BadEnvelope, ClosedToYou, MissingFile, SealedToOthers
from transports.index.runs import Run, RunRef
from transports.layout import BUNDLE_LIMIT
from transports.mailbox import ByteCount, Cover, CoveringSink, MailboxPlace, MailboxWriter
from vault.errors import DataError, LaceError
from vault.records.hashes import Verifier

__all__ = ["SealedPlace"]

_HEAD, _REQUEST, _BEACON = b"head", b"request", b"beacon"
_MAGIC_BYTES = 8
_TOLD_RECORDS, _TOLD_BYTES = 512, 4 << 20  # of notices: anybody can seal one to this node, in thousands of mailboxes
_TAKEN = "The plain mailbox it was in is gone, and mailboxes here are encrypted to others."
_CLOSED = "You could read this mailbox before, and what was put in it since is encrypted to others."


@dataclass(slots=True)
class _Box:
    """One encrypted mailbox that this node can open; what was read is handed out once, then read anew."""

    alias: Verifier
    head: bytes | None = None
    request: bytes | None = None
    is_fresh: bool = False


class SealedPlace:
    """A place with plain and encrypted mailboxes; it satisfies `MailboxPlace`.

    Args:
        inner: the drop or git place.
        me: this node.
        keys: what its vault knows.
    """

    def __init__(self, inner: MailboxPlace, me: Verifier, keys: MemberKeys) -> None:
        self._inner = inner
        self.me = me
        self.keys = keys
        self._boxes: dict[Verifier, _Box] = {}
        self._is_known = False
        self.closed: list[Verifier] = []
        """Names of mailboxes here that this node cannot open and has never opened."""
        self.notices: list[bytes] = []
        """Stored records that say why I cannot, sealed to me and not yet looked at."""

    @property
    def kind(self) -> str:
        """The kind of address it is reached by."""
        return self._inner.kind

    @property
    def is_read_only(self) -> bool:
        """Whether nobody can publish over this road."""
        return self._inner.is_read_only

    @property
    def place_id(self) -> str:
        """What tells this medium from others."""
        return self._inner.place_id

    @property
    def count(self) -> ByteCount:
        """The bytes moved since the place was opened."""
        return self._inner.count

    @property
    def warnings(self) -> Sequence[LaceError]:
        """What a person should know of the place inside, though it kept nothing from going on."""
        return self._inner.warnings

    def describe(self) -> str:
        """Return the place as a person knows it."""
        return self._inner.describe()

    def check(self) -> None:
        """Refuse to go on if the medium went away or another one took its place."""
        self._inner.check()

    def close(self) -> None:
        """Let go of what a visit keeps open."""
        self._inner.close()

    def nodes(self, group: str) -> list[Verifier]:
        """Return the nodes that have a mailbox for this group id as far as this node can know, sorted."""
        self._look(group)
        return sorted({*self._inner.nodes(group), *self._boxes})

    def is_sealed(self, group: str) -> bool:
        """Tell whether this node's mailbox is, or is to be, encrypted here."""
        return self.keys.is_on() or bool(self._inner.nodes(self._room(group)))

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's snapshot head, or None if there is none."""
        box = self._box(group, node)
        if box is None:
            return None if node == self.me and self.is_sealed(group) else self._inner.read_head(group, node)
        if not box.is_fresh:
            self._open(group, box.alias, node)
            box = self._boxes.get(node, _Box(box.alias))
        box.is_fresh = False
        return box.head

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's request, or None if there is none."""
        box = self._box(group, node)
        if box is None:
            return None if node == self.me and self.is_sealed(group) else self._inner.read_request(group, node)
        return box.request

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's beacon, or None if there is none.

        Raises:
            BadEnvelope, SealedToOthers: it cannot be opened, or is another's.
        """
        alias = self._alias(group, node)
        if alias is None:
            return self._inner.read_beacon(group, node)
        owner, record = self._contents(self._inner.read_beacon(self._room(group), alias), alias, _BEACON)
        if owner not in {None, node}:
            raise BadEnvelope(f"The beacon in the mailbox of {node.text} is not of its owner.")
        return record

    def open_file(self, group: str, node: Verifier, name: str) -> BinaryIO:
        """Open a run or bundle as it is stored; `reveal` shows what it holds.

        Raises:
            SealedToOthers: it is gone with its whole mailbox, and there are encrypted ones that this node cannot open.
        """
        alias = self._alias(group, node)
        if alias is not None:
            try:
                return self._inner.open_file(self._room(group), alias, name)
            except MissingFile:
                pass  # its owner may have begun to encrypt, and left it where it was
        try:
            return self._inner.open_file(group, node, name)
        except MissingFile as error:
            if alias is not None or not self.closed or self._inner.read_head(group, node) is not None:
                raise
            raise SealedToOthers(_TAKEN) from error

    def reveal(self, file: BinaryIO) -> BinaryIO:
        """Return what an opened file holds."""
        beginning = file.read(_MAGIC_BYTES)
        file.seek(0)
        if not is_sealed(beginning):
            return self._inner.reveal(file)
        try:
            return cast(BinaryIO, UnsealingFile(file, self.keys.find))
        except DataError:
            file.close()
            raise

    def files(self, group: str, node: Verifier) -> dict[str, int]:
        """Return name and size in bytes, as stored, of the runs and bundles in a mailbox."""
        alias = self._alias(group, node)
        return self._inner.files(group, node) if alias is None else self._inner.files(self._room(group), alias)

    def writer(self, group: str, node: Verifier) -> MailboxWriter:
        """Open this node's own mailbox for writing, making it if needed."""
        if not self.is_sealed(group):
            return self._inner.writer(group, node)
        box = self._box(group, node)  # reads the keys that friends use here
        return _SealedWriter(self, group, self._inner, b"" if box is None or box.head is None else box.head)

    # Encrypted mailboxes

    def _room(self, group: str) -> str:
        """Return what stands for the group where its encrypted mailboxes lie: another one on every medium."""
        return f"{group}\n{self.place_id}"

    def _box(self, group: str, node: Verifier) -> _Box | None:
        if not self._is_known:
            self._look(group)
        return self._boxes.get(node)

    def _alias(self, group: str, node: Verifier) -> Verifier | None:
        """Return the name of a node's encrypted mailbox: of mine also before it has a head."""
        box = self._box(group, node)
        if box is not None:
            return box.alias
        return self.keys.alias() if node == self.me and self.is_sealed(group) else None

    def _look(self, group: str) -> None:
        """Open every encrypted mailbox that came since the last look, twice over when that brings keys.

        One may hold the key of another.
        """
        self._is_known = True
        there = self._inner.nodes(self._room(group))
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
                self._boxes.setdefault(owner, _Box(alias))  # reading it will say what is wrong

    def _open(self, group: str, alias: Verifier, expected: Verifier | None) -> bool:
        """Read and open one mailbox; tell whether it was opened.

        Raises:
            DataError: it cannot be opened, and was expected to be somebody's.
        """
        room = self._room(group)
        try:
            owner, head = self._contents(self._inner.read_head(room, alias), alias, _HEAD)
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
        self._boxes[owner] = _Box(alias, head, request, is_fresh=True)
        return True

    def _asked(self, room: str, alias: Verifier, owner: Verifier | None) -> tuple[Verifier | None, bytes | None]:
        """Return who left a request in a mailbox, and the request; beside a head only its owner's is one.

        Raises:
            DataError: it cannot be opened, and there is no head that says whose mailbox it is.
        """
        try:
            asker, request = self._contents(self._inner.read_request(room, alias), alias, _REQUEST)
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

    def _contents(self, data: bytes | None, alias: Verifier, what: bytes) -> tuple[Verifier | None, bytes | None]:
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
        return b"\n".join((b"lace-envelope", self.place_id.encode(), alias.key, what))

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
        box = self._boxes.setdefault(self.me, _Box(self.keys.alias()))
        box.head = head if head is not None else box.head
        box.request = None if drops_request else request if request is not None else box.request

    def room(self, group: str) -> str:
        """Return the group under which the inner place keeps encrypted mailboxes."""
        return self._room(group)


class _SealedWriter:
    """Writes one encrypted mailbox; it satisfies `MailboxWriter`.

    Args:
        place: the place.
        group: the group id.
        inner: where the mailbox lies.
        since: the head that it writes on from; files that are tried again from there come out alike.
    """

    def __init__(self, place: SealedPlace, group: str, inner: MailboxPlace, since: bytes) -> None:
        self._since = since
        self._place = place
        self._group = group
        self.medium = inner
        self._inner = inner.writer(place.room(group), place.keys.alias())
        self._terms: WritingTerms | None = None

    def add_bundle(
        self, *, limit: int = BUNDLE_LIMIT, cover: Cover | None = None
    ) -> AbstractContextManager[BundleWriter]:
        """Begin a bundle, encrypted as it is written."""
        return self._inner.add_bundle(limit=limit, cover=cover or self._cover())

    def add_run(self, run: Run, cover: Cover | None = None) -> RunRef:
        """Write an index run, encrypted."""
        return self._inner.add_run(run, cover or self._cover())

    def put_request(self, record: bytes) -> None:
        """Leave a request that only those can open who may admit."""
        terms = self._place.keys.request_terms()
        self._inner.put_request(self._place.envelope(record, terms, _REQUEST))
        self._place.took(request=record)

    def remove_request(self) -> None:
        """Take the request away."""
        self._inner.remove_request()
        self._place.took(drops_request=True)

    def put_beacon(self, record: bytes, *, with_head: bool) -> None:
        """Leave a beacon that only members can open, or take it away when the record is empty."""
        terms = replace(self._now(), ring=(), notices=())  # the head hands the keys on
        sealed = self._place.envelope(record, terms, _BEACON) if record else b""
        self._inner.put_beacon(sealed, with_head=with_head)

    def publish_head(self, record: bytes, runs: Collection[str] | None = None) -> None:
        """Make everything written so far the mailbox's state, and take a plain mailbox of mine away."""
        self._inner.publish_head(self._place.envelope(record, self._now(), _HEAD), runs)
        self._place.took(head=record)
        if self._is_in_the_clear():
            self.medium.writer(self._group, self._place.me).withdraw()

    def discard(self, names: Collection[str]) -> None:
        """Delete runs and bundles that no head names any more."""
        self._inner.discard(names)

    def withdraw(self) -> None:
        """Take the whole mailbox away."""
        self._inner.withdraw()

    def verify_written(self) -> None:
        """Read back every file written by this writer."""
        self._inner.verify_written()

    def tell_lost(self) -> None:
        """Say which parts of the others could not be got here."""
        self._inner.tell_lost()

    @property
    def is_interrupted(self) -> bool:
        """Whether an earlier publishing left whole bundles that no head names."""
        return self._inner.is_interrupted

    def free_bytes(self) -> int:
        """Return the bytes that still fit on the medium."""
        return self._inner.free_bytes()

    def _is_in_the_clear(self) -> bool:
        """Tell whether a plain mailbox of mine lies there, whole or damaged."""
        me = self._place.me
        try:
            return self.medium.read_head(self._group, me) is not None or bool(self.medium.read_request(self._group, me))
        except DataError:
            return True

    def _now(self) -> WritingTerms:
        if self._terms is None:
            self._terms = self._place.keys.terms()
        return self._terms

    def _cover(self) -> Callable[[ByteSink], CoveringSink]:
        key = self._now().key
        salt = fixed_salt(key.key, self._place.keys.alias().key, self._since)
        return lambda sink: SealingSink(sink, key, lambda size: salt[:size])
