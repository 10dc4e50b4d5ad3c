"""What an act decides of a path it takes from a value, whatever the words about it say (CLAY-71, APP-12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.folder.written import FolderInTheWay, refuse_blocked
from tests.faults.circle import found, write
from tests.vault.desks.support import Desk, started, tree_of
from vault.desk_folders import MAIN
from vault.desks.causes import Cause
from vault.desks.choosing import Problem
from vault.desks.plan import plan_checkout
from vault.folder.held_rules import RulesUnclear, forget_idle, held_by, refuse_unclear
from vault.folder.work import changes
from vault.notes.folders import FORMER
from vault.watch import Watch


def test_former_rules_hold_on_by_the_cause_of_a_problem_and_not_by_its_words(tmp_path: Path) -> None:
    """CLAY-71: a better sentence about a private file does not end the rule that keeps it here."""
    with found(tmp_path) as vault:
        write(vault, ".laceignore", "secret.txt\n")
        write(vault, "secret.txt", "1234\n")
        with vault.writing() as w:
            w.store.set_note(FORMER, (("secret.txt\n", ""),), MAIN)
        (vault.folder / ".laceignore").unlink()
        problems = changes(vault, MAIN, Watch()).problems
        assert [(one.path, one.cause) for one in problems] == [("secret.txt", Cause.HELD)]
        assert problems[0].reason == Cause.HELD.words

        held = held_by(vault, MAIN)
        for told, rules in (
            ([problem._replace(reason="stays here") for problem in problems], held.rules),
            ([problem._replace(cause=Cause.OTHER) for problem in problems], ()),
        ):
            with vault.writing() as w:
                forget_idle(w, MAIN, held, told, is_clean=False, folder=vault.folder)
            assert held_by(vault, MAIN).rules == rules


def test_rules_are_unclear_by_what_the_scan_says_of_them_alone(tmp_path: Path) -> None:
    """CLAY-71: another notice about `.laceignore`, as that an update merged it, keeps no new file from being taken."""
    with found(tmp_path) as vault:
        write(vault, ".laceignore", "!\n")
        write(vault, "new.txt", "1234\n")
        seen = changes(vault, MAIN, Watch())
        assert [(one.path, one.cause) for one in seen.problems] == [(".laceignore", Cause.RULES)]
        with pytest.raises(RulesUnclear, match="rule 1 is not a valid pattern"):
            refuse_unclear(seen.items, seen.problems)
        merged = Problem(".laceignore", "was changed here: what came is merged into it", "notice")
        refuse_unclear(seen.items, [merged])


def test_what_stands_in_the_way_is_told_by_its_cause_and_not_by_its_words(tmp_path: Path) -> None:
    """APP-12, CLAY-3: a better sentence about a folder that holds a desk leaves the way out of it as it is."""
    desk = Desk(tmp_path)
    before = started(desk, {"mine": b"1"})
    (desk.root / "mine").write_bytes(b"2")
    (desk.root / "held/songs").mkdir(parents=True)
    after = tree_of(desk.objects, {"held": b"1", "apart/a": b"1"})
    plan = plan_checkout(
        desk.root, before=before, after=after, source=desk.objects, without=frozenset({"held/songs", "apart"})
    )
    causes = {skip.path: skip.cause for skip in plan.skipped}
    assert causes == {"apart/a": Cause.OTHER_DESK, "held": Cause.HOLDS_DESK, "mine": Cause.CHANGED}
    assert {skip.path: skip.reason for skip in plan.skipped} == {path: cause.words for path, cause in causes.items()}
    with pytest.raises(FolderInTheWay) as told:
        refuse_blocked([skip._replace(reason="is in use") for skip in plan.skipped])
    assert "lace desk add DESK DIR" in told.value.hint
    with pytest.raises(FolderInTheWay) as told:
        refuse_blocked([skip for skip in plan.skipped if skip.cause is not Cause.HOLDS_DESK])
    assert told.value.hint == FolderInTheWay.hint


def test_each_cause_that_is_decided_on_has_words_of_its_own() -> None:
    """APP-12: what a person is told of a path is made from its cause, once."""
    words = [cause.words for cause in Cause if cause not in {Cause.OTHER, Cause.RULES}]
    assert all(words)
    assert len({*words}) == len(words)
