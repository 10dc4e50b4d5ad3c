"""A place whose mailboxes may be encrypted to the members (decision 5; docs/formats.md, "Encrypted mailboxes").

`SealedPlace` lies over a drop or a git place. Encrypted mailboxes stand beside plain ones, under random names in a
group directory of their own; only who can open an envelope learns whose they are. A person's own mailbox is encrypted
when they asked for it here, and also when anybody's is: what a friend hides, nobody shows by accident.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO, cast

from transports.bundles.bundling import BundleWriter, ByteSink
from transports.encrypted.boxes import BEACON, HEAD, REQUEST, Boxes
from transports.encrypted.cipher import fixed_salt
from transports.encrypted.member_keys import MemberKeys, WritingTerms
from transports.encrypted.sealing import SealingSink, UnsealingFile, is_sealed
from transports.errors import BadEnvelope, MissingFile, SealedToOthers
from transports.index.runs import Run, RunRef
from transports.layout import BUNDLE_LIMIT
from transports.mailbox import ByteCount, Cover, CoveringSink, KeepsHistory, MailboxMedium, MailboxWriter
from vault.errors import DataError, LaceError
from vault.records.hashes import Verifier

__all__ = ["SealedPlace"]

_MAGIC_BYTES = 8
_TAKEN = "The plain mailbox it was in is gone, and mailboxes here are encrypted to others."
_UNNAMED = "It lies in an encrypted mailbox whose name is not known here."


class SealedPlace:
    """A place with plain and encrypted mailboxes; it satisfies `MailboxMedium`.

    Args:
        inner: the drop or git place.
        me: this node.
        keys: what its vault knows.
        plain: whose plain mailboxes are asked for, where to ask tells the medium a name (CYB-17); None for everybody's.
    """

    def __init__(
        self, inner: MailboxMedium, me: Verifier, keys: MemberKeys, *, plain: Collection[Verifier] | None = None
    ) -> None:
        self._inner = inner
        self._plain = plain
        self.boxes = Boxes(inner, me, keys)
        self._has_plain: dict[str, bool] = {}  # by group, whether I had a plain mailbox when they were listed last

    @property
    def kind(self) -> str:
        """The kind of address it is reached by."""
        return self._inner.kind

    @property
    def tells_room(self) -> bool:
        """Whether `free_bytes` is what the place itself has."""
        return self._inner.tells_room

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
        self.boxes.forget()

    def nodes(self, group: str) -> list[Verifier]:
        """Return the nodes that have a mailbox for this group id as far as this node can know, sorted."""
        plain = self._inner.nodes(group)
        self._has_plain[group] = self.boxes.me in plain
        return sorted({*plain, *self.boxes.nodes(group)})

    def has_opened(self, group: str, node: Verifier) -> bool:
        """Tell whether a node's mailbox here is an encrypted one that this node can open."""
        return self.boxes.box(group, node) is not None

    def is_sealed(self, group: str) -> bool:
        """Tell whether this node's mailbox is, or is to be, encrypted here."""
        return self.boxes.keys.is_on() or bool(self._inner.nodes(self.boxes.room(group)))

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's snapshot head, or None if there is none."""
        box = self.boxes.box(group, node)
        if box is None:
            return self._inner.read_head(group, node) if self._is_asked_plainly(group, node) else None
        if not box.is_fresh:
            box = self.boxes.reopened(group, node, box.alias)
        box.is_fresh = False
        return box.head

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's request, or None if there is none."""
        box = self.boxes.box(group, node)
        if box is None:
            return self._inner.read_request(group, node) if self._is_asked_plainly(group, node) else None
        return box.request

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's beacon, or None if there is none.

        Raises:
            BadEnvelope, SealedToOthers: it cannot be opened, or is another's.
        """
        alias = self._alias(group, node)
        if alias is None:
            return self._inner.read_beacon(group, node) if self._is_asked_plainly(group, node) else None
        owner, record = self.boxes.contents(self._inner.read_beacon(self.boxes.room(group), alias), alias, BEACON)
        if owner not in {None, node}:
            raise BadEnvelope(f"The beacon in the mailbox of {node.text} is not of its owner.")
        return record

    def open_file(self, group: str, node: Verifier, name: str) -> BinaryIO:
        """Open a run or bundle as it is stored; `reveal` shows what it holds.

        Raises:
            SealedToOthers: it is gone with its whole mailbox, and there are encrypted ones that this node cannot open;
                or it is in one whose name is not known.
            MissingFile: it is not there.
        """
        alias = self._alias(group, node)
        if alias is not None:
            try:
                return self._inner.open_file(self.boxes.room(group), alias, name)
            except MissingFile:
                if not self._may_lie_plainly(node):
                    raise
                # its owner may have begun to encrypt, and left it where it was
        elif not self._may_lie_plainly(node):
            raise SealedToOthers(_UNNAMED)
        try:
            return self._inner.open_file(group, node, name)
        except MissingFile as error:
            if alias is not None or not self.boxes.closed or self._inner.read_head(group, node) is not None:
                raise
            raise SealedToOthers(_TAKEN) from error

    def reveal(self, file: BinaryIO) -> BinaryIO:
        """Return what an opened file holds."""
        beginning = file.read(_MAGIC_BYTES)
        file.seek(0)
        if not is_sealed(beginning):
            return self._inner.reveal(file)
        try:
            return cast(BinaryIO, UnsealingFile(file, self.boxes.keys.find))
        except DataError:
            file.close()
            raise

    def files(self, group: str, node: Verifier) -> dict[str, int]:
        """Return name and size in bytes, as stored, of the runs and bundles in a mailbox."""
        alias = self._alias(group, node)
        return self._inner.files(group, node) if alias is None else self._inner.files(self.boxes.room(group), alias)

    def free_bytes(self, group: str, node: Verifier) -> int | None:
        """Return how many bytes fit into a mailbox still, or None where nobody can tell."""
        alias = self._alias(group, node)
        if alias is None:
            return self._inner.free_bytes(group, node)
        return self._inner.free_bytes(self.boxes.room(group), alias)

    def writer(self, group: str, node: Verifier) -> MailboxWriter:
        """Open this node's own mailbox for writing, making it if needed."""
        if not self.is_sealed(group):
            self._has_plain[group] = True
            return self._inner.writer(group, node)
        if isinstance(self._inner, KeepsHistory):
            self._inner.tell_left(group, node)
        box = self.boxes.box(group, node)  # reads the keys that friends use here
        since = b"" if box is None or box.head is None else box.head
        return _SealedWriter(self.boxes, group, self._inner, since, may_be_plain=self._has_plain.get(group, True))

    def plain_beside(self, group: str) -> MailboxMedium | None:
        """Return the place inside where a plain mailbox of mine lies that an encrypted one takes the place of."""
        if not self._has_plain.get(group, True) or not self.is_sealed(group):
            return None
        return self._inner if _is_in_the_clear(self._inner, group, self.boxes.me) else None

    def _may_lie_plainly(self, node: Verifier) -> bool:
        return self._plain is None or node in self._plain

    def _is_asked_plainly(self, group: str, node: Verifier) -> bool:
        """Tell whether a node without an encrypted mailbox here is asked for under its own name."""
        return self._may_lie_plainly(node) and not (node == self.boxes.me and self.is_sealed(group))

    def _alias(self, group: str, node: Verifier) -> Verifier | None:
        """Return the name of a node's encrypted mailbox: of mine also before it has a head."""
        box = self.boxes.box(group, node)
        if box is not None:
            return box.alias
        return self.boxes.keys.alias() if node == self.boxes.me and self.is_sealed(group) else None


class _SealedWriter:
    """Writes one encrypted mailbox; it satisfies `MailboxWriter`.

    Args:
        boxes: what I can open there, mine among them.
        group: the group id.
        inner: where the mailbox lies.
        since: the head that it writes on from; files that are tried again from there come out alike.
        may_be_plain: whether there may be a plain mailbox too; to see that there is none costs a look at the medium.
    """

    def __init__(self, boxes: Boxes, group: str, inner: MailboxMedium, since: bytes, *, may_be_plain: bool) -> None:
        self._since = since
        self._may_be_plain = may_be_plain
        self._boxes = boxes
        self._group = group
        self.medium = inner
        self._inner = inner.writer(boxes.room(group), boxes.keys.alias())
        self._terms: WritingTerms | None = None

    def add_bundle(
        self, *, limit: int = BUNDLE_LIMIT, cover: Cover | None = None, are_copies: bool = False
    ) -> AbstractContextManager[BundleWriter]:
        """Begin a bundle, encrypted as it is written."""
        return self._inner.add_bundle(limit=limit, cover=cover or self._cover(), are_copies=are_copies)

    def add_run(self, run: Run, cover: Cover | None = None) -> RunRef:
        """Write an index run, encrypted."""
        return self._inner.add_run(run, cover or self._cover())

    def put_request(self, record: bytes) -> None:
        """Leave a request that only those can open who may admit."""
        terms = self._boxes.keys.request_terms()
        self._inner.put_request(self._boxes.envelope(record, terms, REQUEST))
        self._boxes.took(request=record)

    def remove_request(self) -> None:
        """Take the request away."""
        self._inner.remove_request()
        self._boxes.took(drops_request=True)

    def put_beacon(self, record: bytes, *, with_head: bool) -> None:
        """Leave a beacon that only members can open, or take it away when the record is empty."""
        terms = self._now()._replace(ring=(), notices=())  # the head hands the keys on
        sealed = self._boxes.envelope(record, terms, BEACON) if record else b""
        self._inner.put_beacon(sealed, with_head=with_head)

    def publish_head(self, record: bytes, runs: Collection[str] | None = None) -> None:
        """Make everything written so far the mailbox's state, and take a plain mailbox of mine away.

        That one goes once the medium kept what takes its place.
        """
        self._inner.publish_head(self._boxes.envelope(record, self._now(), HEAD), runs)
        self._boxes.took(head=record)
        if self._lies_plain():
            self._inner.verify_written()
            self.leave_plain()

    def discard(self, names: Collection[str]) -> None:
        """Delete runs and bundles that no head names any more."""
        self._inner.discard(names)

    def withdraw(self) -> None:
        """Take the whole mailbox away."""
        self._inner.withdraw()

    def leave_plain(self) -> None:
        """Take away what lies there of mine in plain, also what an interrupted run left of it (CYB-17)."""
        if self._lies_plain():
            self.medium.writer(self._group, self._boxes.me).withdraw()

    def _lies_plain(self) -> bool:
        return self._may_be_plain and _is_in_the_clear(self.medium, self._group, self._boxes.me)

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

    def _now(self) -> WritingTerms:
        if self._terms is None:
            self._terms = self._boxes.keys.terms()
        return self._terms

    def _cover(self) -> Callable[[ByteSink], CoveringSink]:
        key = self._now().key
        salt = fixed_salt(key.key, self._boxes.keys.alias().key, self._since)
        return lambda sink: SealingSink(sink, key, lambda size: salt[:size])


def _is_in_the_clear(medium: MailboxMedium, group: str, me: Verifier) -> bool:
    """Tell whether a plain mailbox of mine lies there, whole, damaged, withdrawn in part, or only begun.

    What a cut left in one that was begun has no name yet by which anybody could ask for it.
    """
    if me not in medium.nodes(group):
        return False
    try:
        return not (isinstance(medium, KeepsHistory) and medium.is_withdrawn(group, me))
    except DataError:
        return True
