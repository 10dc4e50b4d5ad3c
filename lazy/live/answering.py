"""One request on a line, answered: what a client sends is taken in, and then it hears what it lacks (decision 7).

The whole body is taken before anything is answered, so a client reads and writes in turn, and a body that is cut costs
nobody a lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lazy.arrivals import NewRelease
from lazy.belonging.beacon import my_record
from lazy.belonging.requests import REQUESTS_KEPT
from lazy.interlace.tiers import pack_offer
from lazy.live.bookmark import Bookmark
from lazy.live.cursors import ExposureCursor, place_of
from lazy.live.evidence import note_vector
from lazy.live.intake import Intake, passed_by
from lazy.live.offering import HINTS_FROM, TierAnswer, tell
from lazy.live.outcome import DAMAGED, Outcome
from lazy.live.presumed import has_some, knows_much
from lazy.live.sending import list_after, send_after, send_named
from lazy.live.standing import NAMES_LIMIT, TIERS, Standing, agree, my_standing
from lazy.live.terse import in_short, shared_words, taken_as, takes_short
from lazy.people import label_of, left
from lazy.places.registry import way_back
from lazy.problems import damaged_here
from lazy.receiving.membership_news import MemberNews, news_of
from lazy.receiving.receive import Receiver
from lazy.results import PlaceResult
from lazy.visits.rounds import close_round, held_back
from lazy.visits.terms import vector_told
from transports.address import AddressKind
from transports.errors import BadStream
from transports.http.stream import Frame, FrameKind, Source, StreamReader, StreamWriter
from vault.plural import plural
from vault.records import RecordHash, Verifier
from vault.revisions.history import releases_shown
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Exchange", "Served", "speak"]

_ASKS_LIMIT = 1 << 20  # bytes of asks in one body
_BROKEN = "its bytes are not what its name says; whoever sent it looks for the damage with lace fsck --repair"


class Served(NamedTuple):
    """One request that was answered, for the person who serves.

    Args:
        peer: who came, by name.
        received: records that were new here.
        sent: records that went out.
        refused: records that were refused.
        admitted: name of somebody let in.
        problem: what went wrong, as a sentence.
        membership: members who came or went by what came.
        releases: of others, that are visible since then.
    """

    peer: str
    received: int = 0
    sent: int = 0
    refused: int = 0
    admitted: str = ""
    problem: str = ""
    membership: tuple[MemberNews, ...] = ()
    releases: tuple[NewRelease, ...] = ()


class Exchange:
    """One exchange with a client that proved its key, from its first frame to my last (INT-125, decision 7).

    The client says where it stands, what it sends, and what it asks for. What it sends is taken in batches while it
    arrives, and judged at the end; then I say where I stand, what I refused, what follows its cursor or stands in the
    tiers that it asks about, and the records that it named.

    Args:
        vault: mine; one request has it to itself.
        node: who proved that key.
        watch: progress and cancel.
        is_read_only: nothing is taken in, as for a vault beside that is only read.
    """

    def __init__(self, vault: Vault, node: Verifier, watch: Watch, *, is_read_only: bool = False) -> None:
        self.vault, self.node, self.is_read_only, self.watch = vault, node, is_read_only, watch
        self.is_left = node.text in left(vault)  # who is off the sync list may read, and is not read (LAZ-53)
        self.passed = 0  # records that came and were not looked at
        self.stop = Watch(cancelled=watch.cancelled)  # what moves is told at the other end
        self.label = label_of(vault, node.text)
        self.receiver = Receiver(vault, self.label, keeps_content=True)
        self.bookmark = Bookmark(vault, self.receiver, node)
        self.names: list[RecordHash] = []
        self.asks = bytearray()
        self.damaged: set[RecordHash] = set()  # here
        self.broken: list[RecordHash] = []  # came so that they are not what their names say
        self.releases: tuple[NewRelease, ...] = ()

    def answer(self, source: Source, write: Callable[[bytes], object]) -> Served:
        """Take one body and answer it.

        Raises:
            BadStream: the body breaks the format, or ends early; what came before is kept.
            Cancelled: the person stopped it.
        """
        frames = iter(StreamReader(source, shared=shared_words(self.vault, self.node, tiers=TIERS)))
        first = next(frames, None)
        if first is None or first.kind is not FrameKind.INFO:
            raise BadStream("The client does not say where it stands.")
        theirs = taken_as(Standing.decode(first.data), vector_told(self.vault))
        agree(self.vault, self.node, theirs)
        came = self._take(frames, theirs)
        shared = shared_words(self.vault, self.node, tiers=theirs.tiers, told=first.data)
        writer = StreamWriter(write, knows_words=theirs.tiers > 0, shared=shared, takes_short=takes_short(theirs.tiers))
        sent = 0
        for count in self._speak(writer, theirs, has_sent=came > 0 or theirs.starts_after is not None):
            sent += count
        writer.end()
        write(b"")
        received, refused = len(self.receiver.received), len(self._refused())
        lost = damaged_here(self.damaged) if self.damaged else None
        problem = f"{lost.message} {lost.hint}" if lost is not None else ""
        if self.is_left and self.passed:
            way = way_back(self.vault, self.label, self.node.text)
            brought = f"of {plural(self.passed, 'record')} that they brought none was taken"
            problem = f"you left them: {brought}. To begin again: {way}"
        return Served(
            self.label,
            received=received,
            sent=sent,
            refused=refused,
            problem=problem,
            membership=news_of(self.vault, self.receiver.membership),
            releases=self.releases,
        )

    # Taking

    def _take(self, frames: Iterator[Frame], theirs: Standing) -> int:
        """Take what the client sends; return how many records came."""
        vault = self.vault
        if self.is_read_only or self.is_left:
            self.passed = passed_by(self._sorted(frames))
            return 0
        mine = self.bookmark.look()
        is_next = theirs.starts_after is not None and _reaches(mine, theirs.here.epoch, theirs.starts_after)
        intake = Intake(vault, self.receiver, self.bookmark, theirs.here.epoch if is_next else "", self.stop)
        self.broken = intake.damaged
        before = releases_shown(vault.store)
        try:
            intake.take_all(self._sorted(frames))
        finally:
            if intake.records or self._has_unproven():
                result = PlaceResult(self.label, AddressKind.LIVE.value)
                close_round(vault, self.receiver, result, before, self.watch, also=self.bookmark.keep)
                self.releases = tuple(result.came.releases)
        if is_next:
            intake.keep_cursor()
        if intake.records or (not theirs.lists and self._says_more(theirs)):
            with vault.writing(receiving=True) as w:
                note_vector(w, self.node, theirs, self.label, vault.around.tai())
        if intake.records and held_back(vault) is None:
            self._audit(intake.records)
        return intake.records + len(self.broken)

    def _has_unproven(self) -> bool:
        """Tell whether a proof was stopped or killed: who only serves has no other sync that goes on with it."""
        hidden = self.vault.store.rows("SELECT 1 FROM release WHERE visible = 0 LIMIT 1")
        return bool(hidden) and not self.vault.store.holes.any()

    def _refused(self) -> tuple[tuple[str, str, str], ...]:
        """Return name, code and reason of what came and was not taken."""
        broken = sorted(set(self.broken) - self.vault.store.have(self.broken))
        refused = [(r.hash.text, r.code, r.reason) for r in self.receiver.refusals]
        return (*((name.text, DAMAGED, _BROKEN) for name in broken), *refused)  # the first are told

    def _says_more(self, theirs: Standing) -> bool:
        """Tell whether the client told a vector, and another than it was."""
        if theirs.vector is None:
            return False
        rows = self.vault.store.rows("SELECT of_node, seq FROM peer_vector WHERE node = ?", self.node.text)
        return {(str(node), int(seq)) for node, seq in rows} != {(e.node.text, e.seq) for e in theirs.vector}

    def _audit(self, records: int) -> None:
        stored, refused = len(self.receiver.received), len(self.receiver.refusals)
        told = {"road": AddressKind.LIVE.value, "came": str(records), "received": str(stored), "rejected": str(refused)}
        with self.vault.writing() as w:
            w.audit("lazy-serve", self.label, told)

    def _sorted(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        for frame in frames:
            if frame.kind is FrameKind.NAMES:
                self.names += frame.names
                if len(self.names) > NAMES_LIMIT:
                    raise BadStream(f"The client asks for more than {NAMES_LIMIT} records at once.")
            elif frame.kind is FrameKind.TIER:
                self.asks += frame.data
                if len(self.asks) > _ASKS_LIMIT:
                    raise BadStream("The client asks for more partitions than there are.")
            elif frame.kind in {FrameKind.RECORDS, FrameKind.REACHED}:
                yield frame
            else:
                raise BadStream("The client says twice where it stands.")

    # Answering

    def _speak(self, writer: StreamWriter, theirs: Standing, *, has_sent: bool) -> Iterator[int]:
        vault = self.vault
        after = place_of(vault, theirs.cursor)
        # A restored vault says nothing of its own before it has its own entries again.
        is_mute = not self.is_read_only and held_back(vault) is not None
        told = None if is_mute else self._told(theirs)
        is_likely = told is None and self._has_much_of(theirs, after)
        lists = told is None and (theirs.lists or (is_likely and not self.names))
        asks_hints = lists and not is_mute and self._wants_hints(theirs, after)
        cursor = self._my_cursor(theirs, told)
        standing = my_standing(vault, self.node, cursor=cursor, lists=lists and not asks_hints, beacon=my_record(vault))
        standing = standing._replace(asks_hints=asks_hints, here=told.here if told else standing.here)
        if theirs.digest and theirs.vector == standing.vector:
            standing = in_short(standing)
        writer.info(standing.encode())
        if has_sent:
            writer.outcome(Outcome(len(self.receiver.received), self._refused()).encode())
        if told is not None:
            writer.tier(pack_offer(told.offer))
        if theirs.is_quiet or is_mute:
            return
        for (record,) in vault.store.rows("SELECT record FROM request ORDER BY node LIMIT ?", REQUESTS_KEPT):
            writer.request(bytes(record))
        if told is not None or asks_hints:
            return
        if self.names:
            yield from send_named(vault, writer, self.names, self.stop, self.damaged)
        if lists:
            yield from (0 for _ in list_after(vault, writer, after or 0, standing.here.at))
        elif not self.names or (after is not None and not is_likely):
            left_out = {*self.receiver.received, *self.names}
            yield from send_after(vault, writer, after or 0, standing.here, left_out, self.stop, self.damaged)

    def _has_much_of(self, theirs: Standing, after: int | None) -> bool:
        """Tell whether a client probably has much of what would be sent, so that names come first."""
        if after is None:
            return knows_much(self.vault, self.node, theirs)
        return not theirs.is_quiet and has_some(self.vault, self.node, theirs, after, set(self.receiver.received))

    def _told(self, theirs: Standing) -> TierAnswer | None:
        """Return the answer in tiers, where that was asked and costs less than the records."""
        if theirs.as_of is None and (not theirs.hints or self.names or not knows_much(self.vault, self.node, theirs)):
            return None
        return tell(self.vault, theirs, bytes(self.asks), may_write=not self.is_read_only)

    def _wants_hints(self, theirs: Standing, after: int | None) -> bool:
        """Tell whether a client that knows tiers and predicted nothing should do so, instead of getting every name."""
        if not theirs.tiers or theirs.hints or theirs.as_of is not None or after is not None:
            return False
        return self.vault.store.exposed() >= HINTS_FROM

    def _my_cursor(self, theirs: Standing, told: TierAnswer | None) -> ExposureCursor | None:
        """Return how far I have the client's log; a client that has exactly what I have has nothing else there."""
        if self.is_left:
            return theirs.here  # so that nothing is brought again; once they are joined again, what is kept counts
        if told is not None and told.is_equal and not theirs.lists and not self.is_read_only:
            self.bookmark.move(theirs.here)
            return theirs.here
        mine = self.bookmark.look()
        return mine if mine is not None and mine.epoch == theirs.here.epoch else None


def speak(vault: Vault, node: Verifier, source: Source, write: Callable[[bytes], object], watch: Watch) -> None:
    """Answer one body without taking anything in: for a vault that is only read.

    Raises:
        BadStream: the body breaks the format.
        Cancelled: the person stopped it.
    """
    Exchange(vault, node, watch, is_read_only=True).answer(source, write)


def _reaches(cursor: ExposureCursor | None, epoch: str, after: int) -> bool:
    """Tell whether records that follow a position leave no gap behind a cursor."""
    begin = ExposureCursor(epoch, 0)
    return (cursor if cursor is not None and cursor.epoch == epoch else begin).reaches(ExposureCursor(epoch, after))
