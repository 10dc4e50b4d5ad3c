"""The side that connects: one visit to a friend who serves, or to a vault beside mine (decisions 6 and 7).

One trip says who I am and where I stand, brings what is new there, and takes along what I know to be new for them. A
second one follows only when there is more to send, or to let them know what I have now. Nothing grows with history.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from lazy.arrivals import ExchangeResult
from lazy.belonging.circle import request_record, wants_in
from lazy.live.behind import Behind
from lazy.live.cursors import ExposureCursor, known, place_of
from lazy.live.intake import damaged_there
from lazy.live.outcome import DAMAGED, Outcome
from lazy.live.presumed import has_grown
from lazy.live.reaching import Reached, reached
from lazy.live.sending import amount, send_after, send_named
from lazy.live.standing import TIERS, Standing, my_standing
from lazy.live.terse import in_short
from lazy.live.trips import TripAnswer, Trips
from lazy.live.walking import Walks
from lazy.people import is_member, label_of
from lazy.places.registry import Place
from lazy.problems import Problem, damaged_here
from lazy.receiving.receive import Receiver
from lazy.results import PlaceResult, Planned, Traffic
from lazy.visits.errand import Errand
from lazy.visits.rounds import close_round, held_back, note_held, unknown_in, vector_of
from lazy.visits.visit_end import finish
from transports.address import AddressKind
from transports.errors import OnlyRead, RefusedThere
from transports.http.paths import REQUEST_PATH, TAKEN
from transports.http.stream import StreamWriter
from vault.identity.mark import MayNotSign
from vault.records import RecordHash
from vault.revisions.history import releases_shown
from vault.vault import Vault

__all__ = ["standing_there", "visit_connected"]

_MAX_TRIPS = 16
_MAX_TRIPS_IN_SCOPE = 200  # one for each level of directories
_EAGER_BYTES = 32 * 1024  # sent with the first body, on what was said last time: what a cut may cost twice
_HOLES = 10_000  # missing records that one trip asks for


def visit_connected(vault: Vault, place: Place, errand: Errand) -> PlaceResult:
    """Visit a friend's live server, or another vault's directory; as `lazy.visits.visit.visit`.

    What may not be written there stays queued.

    Args:
        vault: whose visit it is.
        place: a live one, or another vault's directory.
        errand: what it is for.

    Raises:
        PlaceError: it cannot be reached, or went away; what was stored stays.
        OnlyRead, PlaceNotWritable: the vault there is only read, and nothing is to be read.
        WrongServer: somebody else answers there; nothing was sent.
        RefusedThere: the other side does not answer this node, or it is no member there.
        BadStream: what it says breaks the format.
        Cancelled: the person stopped it.
    """
    reason = held_back(vault)
    if reason is not None and not errand.pull:
        raise reason
    with reached(vault, place, watch=errand.watch) as there:
        if not errand.pull and not there.may_write:
            raise there.refusal or OnlyRead(
                f"The vault at {place.uri} is only read: its key is not on this machine.",
                hint="Let its owner pull from yours, or meet on a stick.",
            )
        is_open = errand.push and reason is None and there.may_write
        visit = _Visit(vault, place, there, replace(errand, push=is_open))
        if errand.push and there.refusal is not None:
            visit.result.note_refusal(there.refusal)
        return visit.run()


def standing_there(vault: Vault, place: Place) -> Standing:
    """Ask a friend's server, or a vault beside mine, how it stands, and nothing else; neither side takes note.

    Raises:
        PlaceError, PeerError, BadStream: as `visit_connected`.
    """
    with reached(vault, place) as there:
        return _Visit(vault, place, there, Errand(push=False, pull=False, dry_run=True)).ask_standing()


class _Visit:
    """One visit to a friend's server or another vault, as trips over one connection (INT-125, decision 7).

    A trip says where I stand, sends what the other side is not known to have, and asks for names; its answer says the
    same of them. It goes on until neither side has anything that the other lacks, and then the round is closed.

    Args:
        vault: mine.
        place: that is visited.
        there: the open connection, and whose key answers there.
        errand: whether it pushes and pulls, in which scope, and whether all of it is only planned.
    """

    def __init__(self, vault: Vault, place: Place, there: Reached, errand: Errand) -> None:
        self._errand = errand
        self._is_listed = False  # whether a visit about a part was told what there is
        self.vault, self.place = vault, place
        self.peer, self.is_proven = there.peer, there.may_write
        self._connection, self.count = there.connection, there.count
        self.result = PlaceResult(place.name, place.kind, only_read=not there.may_write)
        self.result.vector_before = vector_of(vault)
        self.receiver = Receiver(vault, place.name, keeps_content=True)
        self._trips = Trips(vault, there, self.receiver, place.name, errand)
        self._listed: ExposureCursor | None = None  # where the other side stood when it listed what it has
        self._names: frozenset[RecordHash] = frozenset()  # listed, where what is lacking is asked for by name
        self._told: object = None  # the vector that I said last; None where the other side has another digest of it
        self._asked: set[RecordHash] = set()  # by name, in this visit
        self._lost: set[RecordHash] = set()  # damaged here
        self._sent_from: set[int] = set()  # positions of my log
        self._behind = Behind(vault, self.peer)
        self._by_names = errand.pull and errand.scope is None and self._behind.came  # the first trip asks for them
        self._is_held_there = False  # their cursor stayed before a record that is damaged here
        self._walks = Walks(vault, self.peer)

    def run(self) -> PlaceResult:
        """Do all of it, and return what it came to."""
        if self._errand.dry_run:
            return self._plan()
        if not self._is_let_in():
            finish(self.vault, self.place, self.count, "", self.result, Errand(push=False))
            return self.result
        try:
            self._exchange_all()
        except MayNotSign as error:
            note_held(self.vault, self.count, self.result, error)
        return self.result

    def ask_standing(self) -> Standing:
        """Ask how the other side stands."""
        asking = my_standing(self.vault, self.peer, cursor=None, lists=True, is_quiet=True)
        return self._trips.ask(asking, lambda _: iter(())).standing

    def _is_let_in(self) -> bool:
        """Ask to be let in, where that is still to be done; tell whether to go on."""
        if not wants_in(self.vault) or not self.is_proven:
            return True
        try:
            said = self._connection.post(REQUEST_PATH, None, [request_record(self.vault)]).read(64)
        except RefusedThere as error:
            raise RefusedThere(
                f"{label_of(self.vault, self.peer.text)} does not know your invitation, or it is used up.",
                hint="Ask for a new one, or sync over another place.",
            ) from error
        if said == TAKEN:
            return True
        text = "You are not a member yet: your request waits there for whoever invited you. Sync again later."
        self.result.problems.append(Problem("stranger", text))
        return False

    def _plan(self) -> PlaceResult:
        """Count what would move; nobody is let in by it, here or there."""
        self.result.planned = Planned()
        self.result.vector_after = self.result.vector_before
        is_outside = self.is_proven and wants_in(self.vault)
        if is_outside and not is_member(self.vault, self.vault.node.text):
            return self._unplanned()
        try:
            return self._counted()
        except RefusedThere:
            if not is_outside:
                raise
            return self._unplanned()  # the admission of a new node of mine was not seen there

    def _unplanned(self) -> PlaceResult:
        text = "You are not a member there yet: a sync asks to be let in, and what it moves is not known before."
        self.result.problems.append(Problem("stranger", text))
        return self.result

    def _counted(self) -> PlaceResult:
        memory = known(self.vault, self.peer)
        self._walks.begin(memory.mine)
        answer = self._ask_plan(memory.mine)
        if self._errand.push and self._walks.should_begin(answer.standing, set(answer.names)):
            self._walks.is_walking = True
        for _ in range(_MAX_TRIPS):
            if not self._walks.goes_on:
                break
            answer = self._ask_plan(memory.mine)
        size = missing = 0
        if self._errand.pull:
            here = self.vault.store.have(answer.names)
            missing = len(set(answer.names) - here - self.receiver.refused_before())
        self._trips.judge(has_all=self._errand.pull and not missing)
        self.result.problems += self._trips.problems
        if self._errand.push:
            self.result.sent, size = self._to_send(answer)
        self.result.planned = Planned(size, missing)
        self.result.traffic = Traffic(bytes_read=self.count.read, round_trips=self.count.trips)
        return self.result

    def _ask_plan(self, cursor: ExposureCursor | None) -> TripAnswer:
        standing = my_standing(self.vault, self.peer, cursor=cursor, lists=True, tiers=self._walks.knows_tiers * TIERS)
        answer = self._trips.ask(self._walks.said_in(standing), self._walks.asking)
        answer.names += self._walked(answer) or ()
        return answer

    def _to_send(self, answer: TripAnswer) -> tuple[int, int]:
        """Return how many records the other side lacks, as far as is known, and their bytes."""
        cursor, walk = self._cursor_of(answer.standing), self._walks.walk
        if walk is None or walk.difference is None:
            return amount(self.vault, cursor)
        return len(walk.difference.missing), walk.lacking_bytes()

    def _exchange_all(self) -> None:
        """Exchange until both sides have the same, or nothing moves any more."""
        before = releases_shown(self.vault.store)
        has_all = False
        try:
            self._exchange()
            has_all = self._errand.pull
        finally:
            self._trips.judge(has_all=has_all)
            self._report()
            if self._errand.scope is not None:
                self.result.came.left_out = self.vault.store.holes.any()
                self.result.problems += unknown_in(self.vault, self._errand.scope)
            also = self._trips.bookmark.keep
            close_round(self.vault, self.receiver, self.result, before, self._errand.watch, also=also)
        place_id = self.peer.text if self.place.kind == AddressKind.VAULT else ""
        finish(self.vault, self.place, self.count, place_id, self.result, self._errand)

    # The exchange

    def _exchange(self) -> None:
        memory = known(self.vault, self.peer)
        after = place_of(self.vault, memory.theirs) if self._errand.push and not self._behind.went else None
        if after is not None and not 0 < amount(self.vault, after)[1] <= _EAGER_BYTES:
            after = None
        wanted: list[RecordHash] = []
        self._walks.begin(memory.mine)
        for _ in range(_MAX_TRIPS if self._errand.scope is None else _MAX_TRIPS_IN_SCOPE):
            after, wanted = self._next(self._trip(after, wanted))
            self._asked.update(wanted)
            if after is None and not wanted and not self._walks.goes_on and not self._has_news():
                break
        self._note_behind()

    def _note_behind(self) -> None:
        """Remember what moved for nothing unless something damaged is mended, for the next visit (REC-5)."""
        pulls = self._errand.pull and self._errand.scope is None
        self._behind.note(
            came=self._is_lacking() if pulls else self._behind.came,
            went=self._is_held_there if self._errand.push else self._behind.went,
        )

    def _trip(self, after: int | None, wanted: list[RecordHash]) -> TripAnswer:
        """Say where I stand, send what follows a position, ask for names, and take what comes."""
        vault = self.vault
        # In a scope it asks for names alone: a cursor would bring everything that follows it.
        cursor = self._trips.bookmark.look() if not self._is_listed else None
        standing = my_standing(
            vault,
            self.peer,
            cursor=cursor,
            starts_after=after,
            lists=(self._by_names or (self._errand.pull and self._errand.scope is not None)) and not self._is_listed,
            is_quiet=not self._errand.pull or (self._is_listed and not wanted),
            tiers=self._walks.knows_tiers * TIERS,
        )
        standing = self._walks.said_in(standing)
        self._told = vector = standing.vector
        self._sent_from.update(() if after is None else (after,))
        is_plain = after is None and not wanted and not has_grown(vault, self.peer)
        if is_plain and self._trips.words.may_shorten(standing):
            standing = in_short(standing)

        def body(writer: StreamWriter) -> Iterator[int]:
            writer.names(wanted)
            yield from self._walks.asking(writer)
            if after is not None:
                first, walk = after, self._walks.walk
                if walk is not None and after < walk.here.at and walk.difference is not None:
                    yield from send_named(vault, writer, walk.lacks(), self._errand.watch, self._lost)
                    first = walk.here.at
                yield from send_after(vault, writer, first, standing.here, self._came(), self._errand.watch, self._lost)

        answer = self._trips.ask(standing, body, vector or ())
        if standing.digest and not answer.standing.digest:
            self._told = None  # theirs is another one, so they do not know mine yet
        return answer

    def _walked(self, answer: TripAnswer) -> list[RecordHash] | None:
        """Take what the other side says in tiers; return the names of what I may lack once all of them are known."""
        found = self._walks.take(answer.tier, answer.standing)
        self._trips.advertised += len(found or ())
        return found

    def _next(self, answer: TripAnswer) -> tuple[int | None, list[RecordHash]]:
        """Return what the next trip sends and asks for."""
        if answer.outcome is not None:
            self._note_refusals(answer.outcome)
        wanted: list[RecordHash] = []
        names = self._walked(answer)
        if self._walks.goes_on:
            return None, []
        if self._errand.pull:
            if answer.standing.lists or names is not None:
                listed = answer.names if names is None else names
                settled = self.vault.store.have(listed) | self.receiver.refused_before()
                wanted = [name for name in listed if name not in settled]
                if self._errand.scope is None:
                    self._listed = answer.standing.here
                if self._errand.scope is not None or self._by_names:
                    self._is_listed, self._names = True, frozenset(listed)
                    # Content comes once it is known to be reached.
                    wanted = [name for name in wanted if name.kind == "S"] or self._holes()
            else:
                wanted = self._holes(self._asked)
            if self._listed is not None and not wanted and not self._is_lacking():  # all of it is here, or was refused
                self._trips.bookmark.move(self._listed)
                self._listed = None
        if not self._errand.push:
            return None, wanted
        cursor = self._cursor_of(answer.standing)
        if self._walks.should_begin(answer.standing, self._came(), is_likely=self._behind.went):
            self._walks.is_walking = not wanted  # else after what is wanted came
            return None, wanted
        if cursor in self._sent_from and self._is_held(answer.outcome):
            self._is_held_there = True
            return None, wanted  # the next visit tries again
        top = self.vault.store.exposed()
        return (cursor if top > cursor else None), wanted

    def _is_held(self, outcome: Outcome | None) -> bool:
        """Tell whether their cursor stays where it was because something is damaged here."""
        return bool(self._lost) or (outcome is not None and any(code == DAMAGED for _, code, _ in outcome.refused))

    def _is_lacking(self) -> bool:
        """Tell whether something that is asked for by name did not come whole, or not at all as it is damaged there."""
        if not self._by_names:
            return bool(self._broken())
        asked = self._names & self._asked
        return not asked <= self.vault.store.have(asked) | self.receiver.refused_before()

    def _broken(self) -> set[RecordHash]:
        """Return what came damaged, and is not here."""
        return self._trips.damaged - self.vault.store.have(self._trips.damaged)

    def _came(self) -> set[RecordHash]:
        """Return what they have because it came from there, or was listed there, in this visit."""
        return self._trips.listed.union(self.receiver.received)

    def _has_news(self) -> bool:
        """Tell whether my vector is another one than I last said: the evidence that their queue waits for."""
        if not self._errand.push:
            return False
        return my_standing(self.vault, self.peer, cursor=None).vector != self._told

    def _cursor_of(self, theirs: Standing) -> int:
        """Return how far the peer says it has read my log."""
        return place_of(self.vault, theirs.cursor) or 0

    def _holes(self, asked: Set[RecordHash] = frozenset()) -> list[RecordHash]:
        """Return what is missing here and was not asked for yet, as much of it as one trip asks for."""
        missing = self.receiver.holes.all()
        # What nobody there has lies before the rest for good, if it is taken out of what one trip asks for.
        return sorted((missing if self._errand.scope is None else self._errand.scope.select(missing)) - asked)[:_HOLES]

    def _note_refusals(self, outcome: Outcome) -> None:
        for name, code, reason in outcome.refused:
            text = f"{name} was refused there: {reason} ({code})"
            self._trips.problems.append(Problem("refused-there", text, label_of(self.vault, self.peer.text)))

    def _report(self) -> None:
        receiver = self.receiver
        self.result.sent = self._trips.sent
        self.result.came.admitted += self._trips.admitted
        self.result.problems += self._trips.problems
        if self._lost:
            self.result.problems.append(damaged_here(self._lost))
        missing = self._broken()
        came = bool(receiver.received or receiver.refusals or missing)
        if not came and not self._trips.sent:
            return  # nothing went either way, so there was no exchange to tell of
        if missing:
            self.result.problems.append(damaged_there(missing, label_of(self.vault, self.peer.text)))
        self.result.came.exchanges.append(
            ExchangeResult(
                peer=label_of(self.vault, self.peer.text),
                peer_verifier=self.peer.text,
                link_id=self._trips.link[0] or None,
                plan_id=self._trips.link[1] or None,
                advertised=self._trips.advertised,
                received=receiver.received[:],
                rejected=tuple((r.hash, r.code, r.reason) for r in receiver.refusals),
                not_available=tuple(sorted(missing)),
                fixed_point=not self._holes(),
                rounds=self.count.trips,
                closed_by="fixed-point",
                cursor_updated=came,
                sent=self._trips.sent,
            )
        )
