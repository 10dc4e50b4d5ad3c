"""What the app says of an update, without a screen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual.content import Content

from lace_tui.model.view import HomeView, LastSync
from lace_tui.screens.cards import stored_card, sync_card
from lace_tui.screens.carrying import Written, written_card
from lace_tui.screens.files import checked_out_card
from lace_tui.screens.old_revisions import foreseen_lines
from lace_tui.screens.written import Decided, plan_lines, resolved_card, undo_lines, undone_card, update_card
from lace_tui.screenshots import Story
from lace_tui.words.written import clash_lines
from lazy.address import resolve
from lazy.arrivals import Arrivals, ExchangeResult
from lazy.contested import Status
from lazy.endings import Done
from lazy.folder.checkout_files import Foreseen
from lazy.folder.ended import EndedConflict
from lazy.folder.going_back import check_out, plan_check_out
from lazy.folder.last_act import Undone
from lazy.folder.moving import Moves
from lazy.folder.permitted import Refused
from lazy.folder.updated import HeadConflict, NotTakenIn, TakenIn, Updated
from lazy.problems import Problem
from lazy.receiving.membership_news import MemberNews
from lazy.resolving.resolve import Resolved
from lazy.results import LiesThere, PlaceResult
from lazy.visits.carry import FriendsSteps
from vault.desks.path_conflict import PathConflict, PathConflictKind
from vault.desks.plan import Skip
from vault.folder.work import Committed, commit
from vault.names import Version
from vault.records import RecordHash
from vault.revisions.history import Relation

_OF_BOB = TakenIn((("bob", Version(1, 0, 0)),))


def _clash(path: str) -> PathConflict:
    return PathConflict(path, PathConflictKind.CONTENT, None, None, None, is_text=True)


def test_the_plan_of_an_update_says_whose_work_it_is() -> None:
    """LAZ-65: of friends, a decision or my own, and what of mine stays out; never of nobody."""
    for plan, said in (
        (Updated(Relation.BEHIND, taken=_OF_BOB), "Your folder follows bob 1.0.0."),
        (
            Updated(Relation.BEHIND, taken=TakenIn(decided=(Version(1, 0, 0),))),
            "Your folder follows the decision on 1.0.0.",
        ),
        (Updated(Relation.BEHIND), "Your folder follows another line of yours."),
        (Updated(Relation.MERGEABLE), "Your work and that of another line of yours are merged into one commit."),
    ):
        assert [line.plain for line in plan_lines(plan, {})] == [said]
    nothing = plan_lines(Updated(Relation.SAME, not_taken=NotTakenIn(away="main 2.0.0")), {})
    assert "main 2.0.0" in nothing[-1].plain


@pytest.mark.parametrize(("count", "said"), [(1, "! 1 open conflict keeps "), (2, "! 2 open conflicts keep ")])
def test_what_keeps_releases_out_is_counted_in_its_words(count: int, said: str) -> None:
    update = Updated(Relation.MERGEABLE, taken=_OF_BOB, not_taken=NotTakenIn(waiting=("c",) * count))
    assert plan_lines(update, {})[-1].plain.startswith(said)
    assert update_card(update, (), {}).lines[-1].plain.startswith(said)


def test_what_keeps_releases_out_is_named() -> None:
    """APP-4, LAZ-39: with 100 conflicts open `1 open conflict` read like a wrong count, and no one knew which it is."""
    for waiting, named in ((("0123456789ab",), "01234567"), (tuple("abcdefgh"), "a, b, c, d, e and 3 more")):
        update = Updated(Relation.MERGEABLE, taken=_OF_BOB, not_taken=NotTakenIn(waiting=waiting))
        for lines in (plan_lines(update, {}), update_card(update, (), {}).lines):
            assert lines[-1].plain.endswith(f" what is newest out: {named} (2 lists all that are open)")


def test_conflicts_that_an_update_ends_are_told() -> None:
    """LAZ-36, APP-4: whoever saw one among what is open sees it go, in the plan and on the card."""
    update = Updated(Relation.BEHIND, taken=_OF_BOB, ended=(EndedConflict("0123456789ab", "main 1.1.0"),))
    for lines, has in ((plan_lines(update, {}), "would end"), (update_card(update, (), {}).lines, "has ended")):
        assert f"Conflict 0123456789ab {has}: main 1.1.0." in [line.plain for line in lines]


def test_what_a_merge_had_no_room_for_is_told() -> None:
    """LAZ-1, CLAY-10: a plan and its card say that an update has more to take in after this one."""
    update = Updated(Relation.MERGEABLE, taken=_OF_BOB, not_taken=NotTakenIn(more=7))
    for lines in (plan_lines(update, {}), update_card(update, (), {}).lines):
        assert any(line.plain.startswith("! 7 more releases come with the next update") for line in lines)


def test_what_waits_for_a_decision_or_for_content_is_told_with_the_way() -> None:
    """FAC-20, LAZ-39: of 500 files one clashed, and nothing said that the others come with any decision."""
    one, many = (
        Updated(Relation.CONFLICTING, conflict=HeadConflict((_clash("a.txt"),), held_back=count)) for count in (1, 499)
    )
    for update, said in ((one, "1 other file comes with whatever"), (many, "499 other files come with whatever")):
        for lines in (plan_lines(update, {}), update_card(update, (), {}).lines):
            assert any(line.plain.startswith(said) for line in lines)
    part = Updated(Relation.SAME, not_taken=NotTakenIn(lacking=1, parts=("lace checkout bob/main photos",)))
    told = [line.plain for line in plan_lines(part, {})]
    assert told[-2:] == [
        "  what is here of it comes with: lace checkout bob/main photos",
        "  the rest comes with: lace sync - then lace update takes in all of it",
    ]


def test_a_plan_that_names_not_all_says_how_many_go() -> None:
    """A checkout that deletes thousands said `and 9993 more` of what it writes and deletes alike."""
    moved = (("changed", "a.txt"), *(("deleted", f"many/{number}.txt") for number in range(9_999)))
    assert foreseen_lines(Foreseen(None, moved))[0] == "  1 file would be written, 9999 deleted:"
    assert foreseen_lines(Foreseen(None, moved[:2])) == ["  ~ a.txt", "  - many/0.txt"]


_COMMIT = RecordHash.parse("S.BGirKFeLnGe5wjtrC1S4Ms29J87~TVNMcZbfZbFVZ~d.H3")
_LINK: dict[str, Any] = {
    "deleted": ("list.md",),
    "left_out": (Skip("list.md", "is a link that points elsewhere", blocking=False),),
}


@pytest.mark.parametrize(
    "lines",
    [
        plan_lines(Updated(Relation.BEHIND, moves=Moves(**_LINK)), {}),
        update_card(Updated(Relation.BEHIND, moves=Moves(**_LINK)), (), {}).lines,
        undo_lines(Undone("main revision 2 is taken back", "main", 2, **_LINK)),
        undone_card((Undone("main revision 2 is taken back", "main", 2, **_LINK), ())).lines,
        resolved_card(Decided((Resolved("c1", Status.MERGED, None, None, _COMMIT, **_LINK),), ""), {}).lines,
    ],
    ids=["update's plan", "update", "undo's plan", "undo", "resolve"],
)
def test_what_is_not_written_is_said_with_the_reason(lines: Sequence[Content]) -> None:
    """APP-12: the former file goes for a link that leads out of the folder, and nothing said why."""
    assert "! Not written to your folder: list.md is a link that points elsewhere." in [line.plain for line in lines]


def test_a_checkout_and_its_plan_say_what_is_not_written(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-12: the plan that the app shows said that the link is written."""
    link = story.folder("alice") / "way.md"
    with story.open("alice") as vault:
        story.write("alice", "way.md", "before\n")
        commit(vault, "a file", desk="main")
        with monkeypatch.context() as patch:
            patch.setattr("vault.desks.taker.link_problem", lambda *_: "")
            link.unlink()
            link.symlink_to("/etc/passwd")
            made = commit(vault, "a link", desk="main")
            assert isinstance(made, Committed)
        link.unlink()
        story.write("alice", "way.md", "a file again\n")
        commit(vault, "a file again", desk="main")
        there = resolve(vault, f"main@{made.revision}")
        plan = plan_check_out(vault, there)
        assert plan.moved == (("deleted", "way.md"),)
        assert [skip.path for skip in plan.left_out] == ["way.md"]
        done = check_out(vault, there)
    assert (done.result.written, done.result.deleted) == ((), ("way.md",))
    said = [line.plain for line in checked_out_card(done, "main@3", {}).lines]
    assert "! Not written to your folder: way.md is a link that points to an absolute path." in said


def test_what_is_not_named_is_counted() -> None:
    """APP-5: twelve of fifteen clashes were named, five of nine, and not a word of the others; commands named all."""
    paths = [f"f{number:02}.txt" for number in range(25)]
    conflict = HeadConflict(tuple(map(_clash, paths)))
    plan = Updated(Relation.CONFLICTING, conflict=conflict)
    assert "  and 13 more" in [line.plain for line in plan_lines(plan, {})]
    assert clash_lines(conflict, "bob")[-1] == "  and 5 more"
    done = Resolved("c1", Status.MERGED, None, None, _COMMIT, conflicts=tuple(paths[:9]))
    assert "f03.txt, f04.txt and 4 more" in resolved_card(Decided((done,), ""), {}).lines[1].plain


def test_what_a_rule_of_the_desk_keeps_out_is_told() -> None:
    """APP-1: `lace update` names who changed it and where; the app said that there was nothing to bring in."""
    refused = (Refused(RecordHash.of("S", b""), "bob", ("docs/plan.txt",), "", ()),)
    plan = Updated(Relation.SAME, not_taken=NotTakenIn(refused=refused))
    said = [line.plain for line in plan_lines(plan, {})]
    assert (
        "! Not taken in: bob changed what your desk's rules keep (w in History shows them, or: lace desk permits)"
        in said
    )
    assert "  docs/plan.txt" in said
    assert "There is nothing to bring in." not in said
    card = update_card(Updated(Relation.BEHIND, not_taken=NotTakenIn(refused=refused)), (), {})
    assert card.is_bad
    assert "  docs/plan.txt" in [line.plain for line in card.lines]


def test_a_file_that_lay_there_already_is_told_so() -> None:
    """APP-1: `lace bundle create` says that none was made; the app spoke of a file of no bytes."""
    result = PlaceResult("for-bob.lace", "bundle", sent=3, unmade=LiesThere())
    card = written_card(Written(result, Path("/tmp/for-bob.lace"), "", FriendsSteps("", "lace bundle apply x")))
    assert card.lines[0].plain == "= /tmp/for-bob.lace lies there already, with the 3 records that are to go"


def test_a_file_of_who_is_no_member_yet_says_what_a_friend_does_first() -> None:
    """LAZ-54, APP-1: the app said what to type, and nothing came of it."""
    steps = FriendsSteps("You are not a member yet.", "lace admit cara --key V; lace bundle apply c.lace")
    card = written_card(Written(PlaceResult("c.lace", "bundle", sent=3), Path("/tmp/c.lace"), "", steps))
    assert [line.plain for line in card.lines][1:] == [
        "! You are not a member yet.",
        "your friend types: lace admit cara --key V; lace bundle apply c.lace",
    ]
    assert card.is_bad


def test_a_sync_says_how_much_more_it_refused_and_what_cannot_be_read() -> None:
    """APP-5: `lace sync` counts what it does not name; the app named three of fifty and stopped there."""
    refused = tuple((RecordHash.of("S", bytes([number])), "bad-seal", f"no {number}") for number in range(50))
    gone = tuple(RecordHash.of("B", bytes([number])) for number in range(2))
    exchange = ExchangeResult("bob", "V", None, None, 52, (), refused, gone, False, 1, "not-available", False)
    problems = [Problem("bad-listing", f"a fault {number}") for number in range(5)]
    result = PlaceResult("stick", "drop", came=Arrivals([exchange]), problems=problems, unreleased={"bob": 2})
    card = sync_card([result], 1.0, {})
    said = [line.plain for line in card.lines]
    assert "  and 47 more: r in Audit" in said
    assert "  and 2 more" in said
    assert "! damaged: 2 records in bob's mailbox cannot be read there" in said
    assert "  bob has 2 unreleased commits (not shared, none of our concern)" in said
    assert card.is_bad


def test_a_sync_of_several_places_says_what_came_after_one_was_visited() -> None:
    """LAZ-24, APP-5: the card called a stick safe to remove, and what its reader waits for did not lie on it."""
    one = PlaceResult("stick", "drop", ending=Done(safe_to_remove=True), waiting=3, next="lace sync stick")
    said = [line.plain for line in sync_card([one, PlaceResult("other", "drop", waiting=1)], 1.0, {}).lines]
    assert "^ 3 records wait for it, for they came elsewhere since: sync it again" in said
    assert "^ 1 record waits for it, for it came elsewhere since: sync it again" in said
    assert sum("came elsewhere" in line for line in said) == 2


def test_a_visit_names_who_was_let_in_and_who_was_revoked() -> None:
    """LAZ-69, APP-5: as the command line does."""
    gone = [MemberNews("cara", "alice", is_gone=True), MemberNews("dan", "dan", is_own=True, is_gone=True)]
    came = [MemberNews("eve", "bob"), MemberNews("bob", "bob-ab12cd", is_own=True)]
    result = PlaceResult("stick", "drop", came=Arrivals(membership=[*came, *gone]))
    said = [line.plain for line in sync_card([result], 1.0, {}).lines]
    assert {"- alice revoked cara", "- dan revoked their own key"} <= set(said)
    assert {"+ bob let eve in", "+ bob-ab12cd let bob in, another key of theirs"} <= set(said)


def test_the_newest_visit_counts_what_it_does_not_name() -> None:
    """APP-5: of fourteen releases three stood there, as if that was all."""
    summary = {"releases": [f"ada 2.{number}.0" for number in range(14)], "problems": [{"message": "no"}] * 4}
    view = cast("HomeView", SimpleNamespace(last=LastSync("stick", "2026-01-01T00:00:00Z", summary)))
    said = [line.plain for line in stored_card(view, {}).lines]
    assert "  and 11 more" in said
    assert "  and 1 more" in said


def test_a_plan_says_that_what_is_dirty_is_committed_first() -> None:
    """APP-12: but where the app does nothing, nothing is committed."""
    said = "Your own changes are committed first."
    assert plan_lines(Updated(Relation.MERGEABLE, saves=True), {})[0].plain == said
    assert said not in [line.plain for line in plan_lines(Updated(Relation.AHEAD, saves=True), {})]
