"""Writing one mailbox of a git place (decision 7a).

Pieces travel first, some 100 a push, each push a commit on top of the last one that leaves the mailbox's state
as it was. So a cut push loses what it carried, and a later publishing finds the pieces that arrived.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from transports.bundles.bundling import BundleWriter
from transports.errors import (
    BadSnapshot,
    PlaceDamaged,
    PlaceStalled,
    PlaceUnreachable,
    PushRejected,
    WriteNotKept,
)
from transports.git.compaction import compact, is_due, next_generation
from transports.git.draft import Draft
from transports.git.pieces import Batch, PieceSink
from transports.git.refusals import Moved, PushTooLarge
from transports.git.talks import Unfetched
from transports.git.tree import MOST_LOST, PIECE, Filed, MailboxTree, Stored, data_list, store_mailbox
from transports.git.withdrawal import taken_away, tell_readable
from transports.index.runfile import encode_run
from transports.index.runs import Run, RunRef
from transports.layout import BUNDLE_LIMIT, BUNDLE_NAME, RUN_NAME
from transports.mailbox import HEAD_FILE_LIMIT, Cover, covered
from transports.snapshot import SnapshotHead
from vault.errors import DataError, LaceError, PlaceError
from vault.records.hashes import Verifier
from vault.records.model import Seal
from vault.records.parse import parse_record

if TYPE_CHECKING:
    from transports.git.writable import WritablePlace

__all__ = ["GitWriter"]

_LARGE = 16 * PIECE  # bytes of a bundle that is worth a push of its own: an interruption then finds it again
_LEVEL, _FAR_LEVEL = 3, 6  # of zstd: where a host is far, a tenth less to send is worth twice the work
_TRIES = 4  # pushes that find the own ref moved: only a copy of this node can move it


class GitWriter:
    """Writes one mailbox; it satisfies `MailboxWriter`. `GitPlace.writer` makes it.

    Args:
        place: the place.
        group: the group id.
        node: whose mailbox it is.
    """

    def __init__(self, place: WritablePlace, group: str, node: Verifier) -> None:
        self._place = place
        self._here = place.private.here
        self._talks = place.private.talks
        self._group = group
        self._node = node
        self._batch = Batch()
        self._staged: dict[str, int] = {}
        self._draft = Draft()
        self._pushed: str | None = None
        self._replaces: str | None = None
        place.finish(group, node)
        self._name = place.ref(group, node)
        self._here.notes.note_own(self._name)
        self._base = MailboxTree()
        self._carried: set[str] = set()
        self._load()

    @contextmanager
    def add_bundle(
        self, *, limit: int = BUNDLE_LIMIT, cover: Cover | None = None, are_copies: bool = False
    ) -> Iterator[BundleWriter]:
        """Begin a bundle; leaving the context finishes it under its digest's name, an exception drops it.

        What of it was pushed by then stays with the host, for a later bundle that begins alike.
        """
        sink = PieceSink(self.stage)
        before = set(self._staged)
        try:
            over = cover(sink) if cover is not None else None
            level = _FAR_LEVEL if self._place.remote.is_far else _LEVEL
            bundle = BundleWriter(over or sink, level=level, limit=limit, stored=over.finish if over else None)
            yield bundle
            index = bundle.finish()
            sink.finish()
        except BaseException:
            self._staged = {oid: size for oid, size in self._staged.items() if oid in before}
            raise
        self._file(index.name, index.size, sink.pieces, are_copies=are_copies)
        if index.size >= _LARGE:
            self._push_pieces(keep=0)

    def add_run(self, run: Run, cover: Cover | None = None) -> RunRef:
        """Write an index run and return how a head names it."""
        data, digest = covered(encode_run(run)[0], cover)
        ref = RunRef(digest, len(run), len(data))
        sink = PieceSink(self.stage)
        sink.write(data)
        sink.finish()
        self._file(ref.name, len(data), sink.pieces)
        return ref

    def put_request(self, record: bytes) -> None:
        """Leave a request to be admitted."""
        self._draft.put_request(self._stored(record))
        self._push_all()

    def remove_request(self) -> None:
        """Take the request away; nothing happens if there is none."""
        self._draft.put_request(None)
        if self._base.request is not None:
            self._push_all()

    def put_beacon(self, record: bytes, *, with_head: bool) -> None:
        """Leave a beacon, or take it away when the record is empty; the push of a head takes it along."""
        self._draft.beacon = self._stored(record) if record else False
        if not with_head:
            self._push_all()

    def publish_head(self, record: bytes, runs: Collection[str] | None = None) -> None:
        """Make everything written so far the mailbox's state.

        Runs that the new head does not name leave the mailbox with the same push; readers of the former head
        keep their view of it.

        Raises:
            BadSnapshot: the head is larger than the format allows.
            PlaceError: the host cannot be reached, or refuses.
        """
        if len(record) > HEAD_FILE_LIMIT:
            raise BadSnapshot(f"A snapshot head of {len(record)} bytes is too large.")
        self._push_pieces(keep=self._batch.size)
        self._draft.put_head(self._stored(record), set(runs) if runs is not None else self._runs_of(record))
        self._push_all()
        if is_due(self._base):
            # Whatever keeps the history from being begun anew now may be gone at the next publishing.
            with suppress(DataError, PlaceError, Moved):
                self.compact()

    def discard(self, names: Collection[str]) -> None:
        """Take runs and bundles out of the mailbox that no head names any more; missing ones are passed over."""
        gone = {name for name in names if RUN_NAME.fullmatch(name) or BUNDLE_NAME.fullmatch(name)}
        self._draft.take_out(gone)
        if gone & set(self._base.files):
            self._push_all()
            self.verify_written()

    def withdraw(self) -> None:
        """Take the whole mailbox away: its refs, or what they show where the host deletes none, which is told (CYB-17).

        The youngest goes last, so that none before it comes back into view.
        """
        try:
            for name in self._place.generations(self._name):
                self._pushed = taken_away(self._place, name)
        except Moved as error:
            raise error.refusal from error
        tell_readable(self._place, self._name)

    def leave_plain(self) -> None:
        """Do nothing: it is the plain one."""

    def verify_written(self) -> None:
        """Ask the host whether it kept what was pushed; git checked the bytes on arrival by their names.

        What it answered to the push says so already, where it names the ref. Who asks once more asks anew.

        Raises:
            WriteNotKept: its ref stands elsewhere.
            PlaceError: the host cannot be reached.
        """
        if self._pushed is None or self._talks.was_taken(self._name, self._pushed):
            return
        self._place.check()
        if self._place.tip(self._name) != self._pushed:
            raise WriteNotKept(f"{self._place.describe()} does not hold what was pushed to it.")

    def tell_lost(self) -> None:
        """Say in the mailbox which parts of the others the host did not give, so that their owners write them anew."""
        self._draft.lost = self._place.losses()[:MOST_LOST]
        if self._draft.lost != self._base.lost:
            self._push_all()

    @property
    def is_interrupted(self) -> bool:
        """Nothing is left that could be used: what was cut is begun anew, or known to the host by its pieces."""
        return False

    def compact(self) -> None:
        """Begin the history of the mailbox anew, with what its files are made of.

        Raises:
            Moved: somebody else wrote to the ref meanwhile.
            PlaceError: the host cannot be reached, or takes neither a replaced nor a new ref.
        """
        self._name, self._pushed = compact(self._place, self._name, self._base, self._push_again)
        self._load()

    def stage(self, data: bytes) -> str:
        """Store a piece and remember to push it, unless the host holds it; push when there are many."""
        oid = self._here.store(data)
        if oid not in self._carried:
            self._staged[oid] = len(data)
            if len(self._staged) > self._batch.size:
                self._push_pieces(keep=1)
        return oid

    # Pushing

    def _push_all(self) -> None:
        self._push_pieces(keep=self._batch.size)
        while not self._goes(list(self._staged)):
            self._push_pieces(keep=self._batch.size)

    def _push_pieces(self, keep: int) -> None:
        """Push staged pieces until at most `keep` are left."""
        while len(self._staged) > keep:
            if not self._goes(list(self._staged)[: self._batch.size]):
                keep = min(keep, self._batch.size)

    def _push_again(self, pieces: list[str]) -> None:
        """Push pieces that the host has already."""
        while pieces:
            some = pieces[: self._batch.size]
            if self._goes(some, again=True):
                pieces = pieces[len(some) :]

    def _goes(self, pieces: list[str], *, again: bool = False) -> bool:
        """Push pieces; tell whether they went, or a quarter of them is to be tried after a cut.

        Raises:
            PlaceUnreachable, PushTooLarge: not even one goes, or nothing moves at all.
        """
        try:
            self._push(pieces, again=again)
        except (PlaceUnreachable, PushTooLarge) as error:
            if len(pieces) <= 1 or isinstance(error, PlaceStalled):  # where nothing moves, fewer go no sooner
                raise
            if isinstance(error, PlaceUnreachable):
                self._talks.list_remote()  # where nobody answers any more, fewer go no sooner
            self._batch.was_cut(len(pieces))
            return False
        self._batch.went(len(pieces))
        return True

    def _push(self, pieces: list[str], *, again: bool = False) -> None:
        """Push pieces and whatever of the state is complete with them; `again` for pieces the host has."""
        for turn in range(_TRIES):
            chosen = [oid for oid in pieces if again or oid in self._staged]
            box = self._next(set(chosen))
            parents = [tip] if (tip := self._place.tip(self._name)) and self._replaces is None else []
            if chosen:
                commit = self._here.store_commit(self._here.store_tree({oid: ("blob", oid) for oid in sorted(chosen)}))
                box.data[commit] = data_list(self._here, tuple(chosen))
                parents.append(commit)
            commit = self._here.store_commit(store_mailbox(self._here, box), parents)
            try:
                size = self._size(chosen, box)
                self._talks.push(commit, self._name, size, len(chosen) + 8, expected=self._replaces)
            except Moved as error:
                self._place.check()
                if turn == _TRIES - 1 and self._place.tip(self._name) == tip:
                    raise error.refusal from error
                self._load()
                continue
            except PushRejected as error:
                if isinstance(error, PlaceDamaged):
                    if not self._is_cleared():
                        self._stumble(error, turn)
                    continue
                if not self._replaces or isinstance(error, PushTooLarge):
                    raise
                self._name, self._replaces = next_generation(self._name), ""
                continue
            self._took(commit, box, chosen)
            return
        told = f"Somebody else writes to the mailbox of {self._node.text} at {self._place.describe()}."
        raise PushRejected(told, is_passing=True)

    def _stumble(self, error: PlaceDamaged, turn: int) -> None:
        """Let a push be tried once more under another number: git there takes in no number that it has damaged.

        Raises:
            PlaceDamaged: it was, in vain.
        """
        if turn == 0:
            self._base = replace(self._base, commits=self._base.commits + 1)
            return
        tip = self._place.tip(self._name)
        with suppress(PlaceError):
            if tip is not None and self._place.private.apart.is_refused(tip):
                self._here.forsake()  # it is mine that is damaged, and the next visit writes it anew
        raise error

    def _is_cleared(self) -> bool:
        """Take the damaged mailbox away that is to be replaced, over which git there may stumble; tell whether it is.

        What is pushed then does not rest on it.
        """
        if not self._replaces:
            return False
        try:
            self._talks.delete(self._name, self._replaces)
        except (PlaceError, Moved):
            return False
        self._place.gone(self._name)
        self._replaces = ""
        return True

    def _next(self, chosen: set[str]) -> MailboxTree:
        """Return the mailbox as it will be with these pieces."""
        is_last = chosen.issuperset(self._staged)
        box = self._draft.over(self._base, self._carried | chosen, with_head=is_last)
        if box is None:
            raise self._taken_away()
        return box

    def _took(self, commit: str, box: MailboxTree, pieces: list[str]) -> None:
        self._pushed, self._replaces = commit, None
        self._place.took(self._name, commit, box)
        self._base = box
        self._carried |= set(pieces)
        large = {oid for oid in pieces if self._staged.pop(oid, 0) == PIECE}
        self._here.forget_pieces(large)
        self._place.pieces.drop(large)

    def _load(self) -> None:
        """Take the mailbox as the remote holds it for the base; a damaged one is replaced.

        Raises:
            PlaceError: it did not come: nobody can say whether it is damaged, and what it holds may lie nowhere else.
        """
        self._replaces = None
        try:
            box = self._place.mailbox(self._group, self._node) or MailboxTree()
            self._name = self._place.ref(self._group, self._node)  # mending may have begun another generation
            self._base = self._whole_of(box)
        except Unfetched as error:
            raise error.__cause__ or error from None
        except DataError:
            self._name = self._place.ref(self._group, self._node)
            self._base, self._replaces = MailboxTree(), self._place.tip(self._name)
        self._carried = self._base.carried()
        self._staged = {oid: size for oid, size in self._staged.items() if oid not in self._carried}
        if not self._draft.pieces <= self._carried | set(self._staged):
            raise self._taken_away()

    def _whole_of(self, box: MailboxTree) -> MailboxTree:
        """Return a mailbox without what the host lost of it, so that this is pushed again."""
        gone = self._place.gone_pieces(self._group, box)
        if not gone:
            return box
        files = {name: filed for name, filed in box.files.items() if gone.isdisjoint(filed.pieces)}
        data = dict(box.data)
        for oid, filed in box.data.items():
            if not gone.isdisjoint(filed.pieces):
                data[oid] = data_list(self._here, tuple(piece for piece in filed.pieces if piece not in gone))
        return replace(box, files=files, data=data)

    def _taken_away(self) -> PushRejected:
        told = f"What was pushed to {self._place.describe()} was taken away while the rest was written."
        return PushRejected(told, hint="Run the same command again.", is_passing=True)

    def _file(self, name: str, size: int, pieces: list[str], *, are_copies: bool = False) -> None:
        filed = Filed(size, tuple(pieces), are_copies=are_copies)
        self._draft.lay(name, filed._replace(oid=self._here.store(filed.encode())))

    def _stored(self, record: bytes) -> Stored:
        return Stored(self._here.store(record), len(record))

    def _size(self, pieces: list[str], box: MailboxTree) -> int:
        lists = 80 * (len(box.files) + len(box.data) + len(pieces))
        small = sum(item.size for item in (box.head, box.request, box.beacon) if item is not None)
        return sum(self._staged.get(oid, 0) for oid in pieces) + lists + small

    def _runs_of(self, record: bytes) -> set[str] | None:
        """Return the runs that a head names, or None when it is none that lace reads."""
        try:
            head = parse_record(record)
            return {ref.name for ref in SnapshotHead.read(head, self._group).runs} if isinstance(head, Seal) else None
        except LaceError:
            return None
