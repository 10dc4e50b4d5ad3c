"""The answer of an update and a merge is one that can be, wherever it is made (APP-12, LAZ-39)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lazy.folder.moving import Moves
from lazy.folder.updated import HeadConflict, NotTakenIn, TakenIn, Updated
from vault.desks.path_conflict import PathConflict, PathConflictKind
from vault.names import Version
from vault.records import RecordHash
from vault.revisions.history import Relation

_CLASH = HeadConflict((PathConflict("a.txt", PathConflictKind.CONTENT, None, None, None, is_text=True),))
_ONE = Version(1, 0, 0)
_COMMIT = RecordHash.of("S", b"")


def test_a_conflict_is_named_where_heads_clash_and_nowhere_else() -> None:
    """LAZ-39: a clash of no path cannot be decided, and what merges asks nobody."""
    with pytest.raises(ValueError, match="a conflict has a path"):
        HeadConflict(())
    with pytest.raises(ValueError, match="of heads that clash"):
        Updated(Relation.CONFLICTING)
    with pytest.raises(ValueError, match="of heads that clash"):
        Updated(Relation.MERGEABLE, conflict=_CLASH)


@pytest.mark.parametrize(
    "did",
    [
        {"commit": _COMMIT, "revision": 2},
        {"merged": ("b.txt",)},
        {"moves": Moves(written=("b.txt",))},
        {"moves": Moves(deleted=("b.txt",))},
    ],
    ids=["commits", "merges", "writes", "deletes"],
)
def test_a_clash_changes_nothing(did: dict[str, object]) -> None:
    """APP-12, LAZ-39: what does not merge cleanly changes nothing on disk, and makes no revision."""
    clash = Updated(Relation.CONFLICTING, conflict=_CLASH)
    with pytest.raises(ValueError, match="writes nothing"):
        replace(clash, **did)  # type: ignore[arg-type]


@pytest.mark.parametrize("when", ["is_unfinished", "is_finished"])
def test_what_was_left_of_another_update_is_written_beside_a_clash(when: str) -> None:
    """APP-12: an update that was cut off is finished first, whatever clashes after it."""
    clash = Updated(Relation.CONFLICTING, conflict=_CLASH)
    done = replace(clash, moves=Moves(("b.txt",), ("c.txt",)), **{when: True})  # type: ignore[arg-type]
    assert (done.moves.written, [clash.path for clash in done.clashes]) == (("b.txt",), ["a.txt"])


def test_what_an_update_answers_is_of_one_piece() -> None:
    """APP-12, FAC-20: a revision has a commit, parts are of what is lacking, a decision is named beside no release."""
    with pytest.raises(ValueError, match="of a commit"):
        Updated(Relation.MERGEABLE, revision=1)
    with pytest.raises(ValueError, match="dirty"):
        Updated(Relation.AHEAD, saved=_COMMIT, saves=True)
    with pytest.raises(ValueError, match="cut off"):
        Updated(Relation.SAME, is_unfinished=True, is_finished=True)
    with pytest.raises(ValueError, match="parts"):
        NotTakenIn(parts=("lace checkout bob/main photos",))
    with pytest.raises(ValueError, match="parts"):
        NotTakenIn(lacking=1, is_lost=True)
    with pytest.raises(ValueError, match="decision"):
        TakenIn((("bob", _ONE),), (_ONE,))


def test_whose_work_it_is_follows_from_the_releases() -> None:
    """LAZ-1, LAZ-65: each friend and each version is named once, and each release in its place."""
    taken = TakenIn((("bob", _ONE), ("cara", _ONE), ("bob", Version(2, 0, 0))))
    assert (taken.sources, taken.versions) == (("bob", "cara"), (_ONE, Version(2, 0, 0)))
    assert taken.source == taken.whose == "bob 1.0.0, cara 1.0.0, bob 2.0.0"
