"""Waiting for revisions (CLAY-43..53, CLAY-59..61, CLAY-63..65)."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from vault.revisions.cases import Case, Date, Label, Number, parse_case
from vault.revisions.reads import Outcome, ReadAnswer
from vault.revisions.waiting import NEVER, Closed, Line, Notice, Request, Requests, Waiting, brought_up


def line(contents: list[str], labels: dict[str, int] | None = None, until: int = 0) -> Line:
    """A line with one file; revision n holds contents[n-1]. Dates are minutes after midnight, known up to `until`."""

    def resolve(case: Case) -> int | None:
        match case:
            case Number(value=value):
                return value if value <= len(contents) else None
            case Label(name=name):
                return (labels or {}).get(name)
            case Date():
                minute = int(case.text[14:16])
                return None if minute > until else min(minute, len(contents))
        return None

    def read(number: int) -> ReadAnswer:
        if number == 0:
            return ReadAnswer(Outcome.VALUE, 0, None, "-")
        if number > len(contents):
            return ReadAnswer(Outcome.NOT_YET)
        return ReadAnswer(Outcome.VALUE, number, contents[number - 1], contents[number - 1])

    return Line(len(contents), resolve, read)


def closing(waiting: Waiting) -> Closed | None:
    return waiting.closed


def numbers(notices: list[Notice]) -> list[int]:
    return [notice.number for notice in notices]


def test_a_single_read_is_answered_exactly_once() -> None:
    """CLAY-43, CLAY-49: a number, a label and a date that do not exist yet."""
    future: list[tuple[Case, Line]] = [
        (Number(2), line(["a", "b"])),
        (Label("x"), line(["a"], {"x": 1})),
        (parse_case("2026-01-01T00:01Z"), line(["a"], until=3)),
    ]
    for case, when in future:
        waiting = Waiting(Request(case))
        assert waiting.step(line(["a"])) == []
        assert closing(waiting) is None
        assert len(waiting.step(when)) == 1
        assert closing(waiting) == Closed(is_null=False)
        assert waiting.step(when) == []


def test_a_range_is_silent_where_nothing_changed() -> None:
    """CLAY-44, CLAY-45, CLAY-48: only revisions at which the data at the path differ; closed at its end."""
    waiting = Waiting(Request(Number(1), Number(5), is_range=True))
    assert numbers(waiting.step(line(["a", "a", "b"]))) == [1, 3]
    assert closing(waiting) is None
    assert numbers(waiting.step(line(["a", "a", "b", "b"]))) == []
    assert numbers(waiting.step(line(["a", "a", "b", "b", "a", "c"]))) == [5]
    assert closing(waiting) == Closed(is_null=False)


def test_a_range_not_yet_begun_waits() -> None:
    """CLAY-46: and begins when its first case is there."""
    waiting = Waiting(Request(Number(3), None, is_range=True))
    assert waiting.step(line(["a"])) == []
    assert numbers(waiting.step(line(["a", "b", "c", "d"]))) == [3, 4]
    assert closing(waiting) is None


def test_what_can_never_come_is_closed_with_null() -> None:
    """CLAY-47, CLAY-51: an end before the start; a case that never names anything."""
    waiting = Waiting(Request(Number(3), Number(2), is_range=True))
    assert waiting.step(line(["a", "b", "c"])) == []
    assert closing(waiting) == Closed(is_null=True)
    dates = [parse_case(f"2099-01-01T00:0{minute}Z") for minute in (2, 1)]
    for start, end in ((Number(9), Number(5)), (Number(9), Number(2)), (Label("later"), Number(2)), tuple(dates)):
        waiting = Waiting(Request(start, end, is_range=True))
        assert waiting.step(line(["a", "b", "c"])) == []
        assert closing(waiting) == Closed(is_null=True)
    waiting = Waiting(Request(Label("later"), Number(5), is_range=True))
    assert waiting.step(line(["a", "b", "c"])) == []
    assert closing(waiting) is None
    never = Line(0, lambda _case: NEVER, lambda _number: ReadAnswer(Outcome.NEVER))
    for request in (Request(Number(1)), Request(Number(1), Number(2), is_range=True)):
        waiting = Waiting(request)
        waiting.step(never)
        assert closing(waiting) == Closed(is_null=True)


def test_a_range_that_is_all_there_is_answered_at_once() -> None:
    """CLAY-44, CLAY-48: an end that is known from the start closes nothing before its time."""
    waiting = Waiting(Request(Number(1), Number(3), is_range=True))
    assert numbers(waiting.step(line(["a", "b", "c", "d", "e"]))) == [1, 2, 3]
    assert closing(waiting) == Closed(is_null=False)


def test_a_range_between_labels_is_judged_when_both_are_there() -> None:
    """CLAY-47, CLAY-48, CLAY-51: one that ends before its start is null; what was told before stays told."""
    waiting = Waiting(Request(Label("from"), Label("to"), is_range=True))
    assert waiting.step(line(["a", "b", "c"], {"from": 3, "to": 2})) == []
    assert closing(waiting) == Closed(is_null=True)
    waiting = Waiting(Request(Number(1), Label("to"), is_range=True))
    assert numbers(waiting.step(line(["a", "b", "c"]))) == [1, 2, 3]
    assert closing(waiting) is None
    assert waiting.step(line(["a", "b", "c"], {"to": 2})) == []
    assert closing(waiting) == Closed(is_null=False)
    never = line(["a"])._replace(resolve=lambda case: NEVER if isinstance(case, Label) else 1)
    waiting = Waiting(Request(Number(1), Label("gone"), is_range=True))
    assert waiting.step(never) == []
    assert closing(waiting) == Closed(is_null=True)


def test_a_read_waits_for_what_may_still_come_and_not_for_what_never_will() -> None:
    """CLAY-49, CLAY-51, H-22: a revision that is known, and whose content is not here yet."""
    came = line(["a", "b"])
    not_yet = came._replace(read=lambda _number: ReadAnswer(Outcome.NOT_YET))
    waiting = Waiting(Request(Number(2)))
    assert waiting.step(not_yet) == []
    assert closing(waiting) is None
    assert numbers(waiting.step(came)) == [2]
    assert closing(waiting) == Closed(is_null=False)
    waiting = Waiting(Request(Number(2)))
    assert waiting.step(came._replace(read=lambda _number: ReadAnswer(Outcome.NEVER))) == []
    assert closing(waiting) == Closed(is_null=True)

    def refuse(number: int) -> ReadAnswer:
        raise AssertionError(f"revision {number} was asked for")

    waiting = Waiting(Request(Label("gone")))
    assert waiting.step(Line(2, lambda _case: NEVER, refuse)) == []
    assert closing(waiting) == Closed(is_null=True)


def test_only_who_has_something_to_hear_is_woken() -> None:
    """CLAY-52: others wait in silence."""
    requests = Requests()
    requests.ask("me", Request(Number(1)))
    requests.ask("you", Request(Number(2)))
    requests.ask("they", Request(Number(1), Number(4), is_range=True))
    first = requests.wake(line(["a"]))
    assert [(who, numbers(notices), closed is None) for who, notices, closed in first] == [
        ("me", [1], False),
        ("they", [1], True),
    ]
    assert requests.wake(line(["a"])) == []
    assert set(requests.by_requester) == {"you", "they"}
    gone = Line(1, lambda _case: NEVER, lambda _number: ReadAnswer(Outcome.NEVER))
    assert requests.wake(gone) == [("you", [], Closed(is_null=True)), ("they", [], Closed(is_null=True))]


def test_dates_arm_a_clock() -> None:
    """CLAY-50: the earlier of two dates; none without a date; cancelling disarms it."""
    early, late = (parse_case(f"2026-01-01T00:0{minute}Z") for minute in (1, 2))
    assert isinstance(early, Date)
    assert Request(late, early, is_range=True).alarm == early.tai
    assert Request(Number(1), late, is_range=True).alarm is not None
    assert Request(Number(1)).alarm is None
    requests = Requests()
    requests.ask("me", Request(early))
    assert requests.alarm == early.tai
    requests.ask("you", Request(late))
    assert requests.alarm == early.tai
    requests.cancel("you")
    requests.cancel("me")
    assert requests.alarm is None


def test_a_second_identical_read_is_answered_from_what_is_kept() -> None:
    """CLAY-61, CLAY-64: the same answer without the line, and a null that is kept."""
    requests = Requests()
    requests.ask("me", Request(Number(1)))
    ((who, notices, closed),) = requests.wake(line(["a"]))
    assert (who, numbers(notices), closed) == ("me", [1], Closed(is_null=False))
    assert requests.ask("you", Request(Number(1))) == notices[0]
    assert requests.outstanding == {}
    requests.ask("me", Request(Label("gone")))
    requests.wake(Line(0, lambda _case: NEVER, lambda _number: ReadAnswer(Outcome.NEVER)))
    assert requests.ask("you", Request(Label("gone"))) == Closed(is_null=True)


class Manager(RuleBasedStateMachine):
    """CLAY-52, CLAY-59, CLAY-60, CLAY-63, CLAY-65: the maps mirror each other, and each read is answered once."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = Requests()
        self.contents: list[str] = []
        self.asked: dict[int, int] = {}
        self.highest = 0

    @rule(who=st.integers(0, 3), number=st.integers(1, 6))
    def ask(self, who: int, number: int) -> None:
        told = self.requests.ask(who, Request(Number(number)))
        if isinstance(told, int):
            assert told >= self.highest
            self.highest = told + 1
            self.asked[who] = number
        else:
            assert isinstance(told, Notice)
            assert told.number == number

    @rule(who=st.integers(0, 3))
    def cancel(self, who: int) -> None:
        assert self.requests.cancel(who) == (self.asked.pop(who, None) is not None)

    @rule(text=st.sampled_from("ab"))
    def commit(self, text: str) -> None:
        self.contents.append(text)
        for who, notices, closed in self.requests.wake(line(self.contents)):
            assert closed == Closed(is_null=False)
            assert numbers(notices) == [self.asked.pop(who)]  # type: ignore[call-overload]

    @invariant()
    def maps_mirror(self) -> None:
        requests = self.requests
        assert {who: index for index, (who, _) in requests.outstanding.items()} == requests.by_requester
        assert all(index < requests.next_index for index in requests.outstanding)
        assert set(requests.by_requester) == set(self.asked)


TestManager = Manager.TestCase


def test_a_read_of_a_whole_friends_desk_becomes_a_range_from_my_head() -> None:
    """CLAY-62: it is brought up to date: all that leads from what is here to the case that is asked for."""
    waiting = Waiting(brought_up(Number(4), 2))
    assert [notice.number for notice in waiting.step(line(["a", "b"]))] == [2]
    assert waiting.closed is None
    assert [notice.number for notice in waiting.step(line(["a", "b", "c"]))] == [3]
    assert [notice.number for notice in waiting.step(line(["a", "b", "c", "d", "e"]))] == [4]
    assert waiting.closed == Closed(is_null=False)
