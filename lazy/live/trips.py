"""Trips to the other side: what one body says there, and what is made of its answer (decisions 6 and 7).

Which trips there are, and what each asks for, is a visit's: see `lazy.live.visiting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, field

from lazy.belonging.admitting import consider_passed_on
from lazy.belonging.beacon import hear_beacon
from lazy.belonging.requests import REQUESTS_KEPT
from lazy.live.bookmark import Bookmark
from lazy.live.cursors import note_cursors
from lazy.live.evidence import note_vector
from lazy.live.intake import Intake, with_hashes
from lazy.live.outcome import Outcome
from lazy.live.reaching import Reached
from lazy.live.standing import NAMES_LIMIT, Standing, agree, went_back
from lazy.live.terse import Words, taken_as, takes_short
from lazy.people import is_member, label_of
from lazy.problems import Problem
from lazy.receiving.receive import Receiver
from lazy.visits.errand import Errand
from lazy.visits.rounds import held_back
from transports.errors import BadStream
from transports.http.client import Incoming
from transports.http.paths import SYNC_PATH
from transports.http.read_ahead import read_ahead
from transports.http.stream import Frame, FrameKind, StreamReader, StreamWriter
from transports.snapshot import LogReach
from vault.errors import DataError, PeerError
from vault.records import RecordHash
from vault.vault import Vault

__all__ = ["TripAnswer", "Trips"]

_PIECE = 256 * 1024  # bytes of a body that are sent at once
_TIER_LIMIT = 64 << 20  # bytes of one answer in tiers


@dataclass(slots=True)
class TripAnswer:
    """What one answer said.

    Args:
        standing: how the other side stands.
        outcome: what became of what was sent; None where it does not say.
        names: of records that it lists.
        tier: what it says where the two sides differ.
        requests: how many requests to belong it passed on.
    """

    standing: Standing
    outcome: Outcome | None = None
    names: list[RecordHash] = field(default_factory=list)
    tier: bytearray = field(default_factory=bytearray)
    requests: int = 0


class Trips:
    """The trips of one visit, and what came of all of them.

    Args:
        vault: of the side that visits.
        there: who is visited, and by what line.
        receiver: judges the records that come.
        name: of the place.
        errand: whether what is new there is taken, and whether all of it is only planned; a plan remembers nothing.
    """

    def __init__(self, vault: Vault, there: Reached, receiver: Receiver, name: str, errand: Errand) -> None:
        self._vault, self._receiver, self._name = vault, receiver, name
        self._watch, self._is_plan = errand.watch, errand.dry_run
        self._connection, self._count = there.connection, there.count
        self._peer, self._is_proven, self._pull = there.peer, there.may_write, errand.pull
        self.words = Words(vault, there.peer)
        """How shortly the other side may be spoken to."""
        self.bookmark = Bookmark(vault, receiver, there.peer)
        """How far their log was read."""
        self.link: tuple[str, str] = ("", "")
        """Of both sides, as they agreed last: ids of the link and of its plan."""
        self.sent = 0
        """Records that were sent."""
        self.advertised = 0
        """Records that were sent here or listed there."""
        self.listed: set[RecordHash] = set()
        """What they listed, and so need not be sent."""
        self.damaged: set[RecordHash] = set()
        """What was damaged there."""
        self.admitted: list[str] = []
        """Names of people who were let in."""
        self.problems: list[Problem] = []
        """What went wrong, in the order in which it did."""
        self._shrunk: set[str] = set()  # whose logs they have less of than before

    def ask(
        self,
        standing: Standing,
        body: Callable[[StreamWriter], Iterator[int]],
        vector: tuple[LogReach, ...] = (),
    ) -> TripAnswer:
        """Send a body and take the answer.

        Args:
            standing: where I stand.
            body: writes what follows it, and yields how many records that were as it goes.
            vector: mine, where the standing says its digest.

        Raises:
            PlaceError: the line broke; what was stored stays.
            RefusedThere: the other side does not answer this node.
            BadStream: what it says breaks the format.
            Cancelled: the person stopped it.
        """
        told = standing.encode()
        pieces = self._pieces(told, body)
        with self.words.doubted(self._count):
            source = self._connection.post(SYNC_PATH, self._vault.key(), pieces)
            frames = iter(StreamReader(source, shared=self.words.answered(standing, told)))
            first = next(frames, None)
        if first is None or first.kind is not FrameKind.INFO:
            raise BadStream("The server does not say where it stands.")
        answer = TripAnswer(taken_as(Standing.decode(first.data), vector))
        if answer.standing.vector is None:
            raise BadStream("The server does not say which records it has.")
        self._agree(answer.standing)
        intake = Intake(self._vault, self._receiver, self.bookmark, answer.standing.here.epoch, self._watch)
        with (
            closing(read_ahead(frames, source, with_hashes))
            if isinstance(source, Incoming)
            else nullcontext(frames) as coming
        ):
            intake.take_all(self._sorted(coming, answer))
        self.advertised += intake.records + len(answer.names)
        self.damaged.update(intake.damaged)
        self.listed.update(answer.names)
        if not self._is_plan:
            self._remember(intake, answer.standing)
        return answer

    def _agree(self, theirs: Standing) -> None:
        link = agree(self._vault, self._peer, theirs)
        self._shrunk |= went_back(self._vault, self._peer, theirs)
        self.link = (link.link_id, link.plan_id)

    def judge(self, *, has_all: bool) -> None:
        """Say of the other side that it went back, where no revocation is the reason (CYB-18).

        Args:
            has_all: whether all that it has is here. Else a revocation may be missing, and its own log alone is looked
                at, which nobody cuts at home.
        """
        peer = self._peer.text
        if any(node == peer or (has_all and is_member(self._vault, node)) for node in self._shrunk):
            text = "The other side has less than it had when it was last met: it was restored, or it hides something."
            self._tell("rolled-back", text)

    def _remember(self, intake: Intake, theirs: Standing) -> None:
        """Judge what waited for evidence, count what was taken as taken, and keep what they said of themselves."""
        vault = self._vault
        if self._receiver.waits:
            self._receiver.gather(self._watch)
            with vault.writing(receiving=True) as w:
                self._receiver.end_waiting(w)
        intake.keep_cursor()
        if self._pull and self._is_proven and vault.founding is not None:
            hear_beacon(vault, self._name, self._peer, theirs.beacon)
        with vault.writing(receiving=True) as w:
            note_cursors(w, self._peer, theirs=theirs.cursor)
            self.words.note(w, theirs.tiers)
            if vault.founding is not None and self._is_proven:
                note_vector(w, self._peer, theirs, self._name, vault.around.tai())

    def _pieces(self, told: bytes, body: Callable[[StreamWriter], Iterator[int]]) -> Iterable[bytes]:
        parts: list[bytes] = []
        version = self.words.version
        writer = StreamWriter(
            parts.append, knows_words=version > 0, shared=self.words.spoken(), takes_short=takes_short(version)
        )
        writer.info(told)
        for sent in body(writer):
            self.sent += sent
            if sum(map(len, parts)) >= _PIECE:
                yield b"".join(parts)
                parts.clear()
        writer.end()
        yield b"".join(parts)

    def _sorted(self, frames: Iterator[Frame], answer: TripAnswer) -> Iterator[Frame]:
        """Yield frames of records, and keep the others in the answer."""
        for frame in frames:
            if frame.kind is FrameKind.OUTCOME:
                if answer.outcome is not None:
                    raise BadStream("The server says twice what became of what was sent.")
                answer.outcome = Outcome.decode(frame.data)
            elif frame.kind is FrameKind.NAMES:
                answer.names += frame.names
                if len(answer.names) > NAMES_LIMIT:
                    raise BadStream(f"The server lists more than {NAMES_LIMIT} records at once.")
            elif frame.kind is FrameKind.TIER:
                answer.tier += frame.data
                if len(answer.tier) > _TIER_LIMIT:
                    raise BadStream(f"The server tells more than {_TIER_LIMIT} bytes of its records at once.")
            elif frame.kind in {FrameKind.RECORDS, FrameKind.REACHED}:
                if self._is_plan:
                    raise BadStream("The server sends records where their names alone were asked for.")
                yield frame
            elif frame.kind is FrameKind.REQUEST:
                self._pass_on(frame.data, answer)
            else:
                raise BadStream("The server says twice where it stands.")

    def _pass_on(self, record: bytes, answer: TripAnswer) -> None:
        answer.requests += 1
        if answer.requests > REQUESTS_KEPT:
            raise BadStream(f"The server passes on more than {REQUESTS_KEPT} requests.")
        if not self._is_plan:
            self._consider(record)

    def _consider(self, record: bytes) -> None:
        """Look at somebody's request that the server passes on; mine to admit when it proves my invitation."""
        if held_back(self._vault) is not None:
            return
        try:
            name = consider_passed_on(self._vault, self._name, record)
        except (DataError, PeerError) as error:
            self._tell(error.code, error.message)
            return
        if name is not None:
            self.admitted.append(name)

    def _tell(self, code: str, text: str) -> None:
        self.problems.append(Problem(code, text, label_of(self._vault, self._peer.text)))
