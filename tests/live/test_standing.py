"""What a side says of itself, and of what it took, read from bytes that nobody vouches for (CYB-17, LAZ-70)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lazy.live.cursors import ExposureCursor
from lazy.live.outcome import Outcome
from lazy.live.standing import Standing, my_standing
from lazy.live.terse import in_short, taken_as
from lazy.visits.terms import vector_told
from tests.vault.vaults import found
from transports.errors import BadStream
from vault.records import Verifier, b64a

_NODE, _DIGEST = Verifier(bytes(32)).text, b64a.encode(bytes(32))
_HALF = "\ud800"  # of a surrogate pair: JSON can write it, and no store or terminal takes it


@pytest.mark.parametrize(
    "bad",
    [
        {"plan": _HALF},
        {"operand": _HALF},
        {"facet": _HALF},
        {"hello": [_HALF]},
        {"here": [_HALF, 1, ""]},
        {"here": ["", 1, _HALF]},
        {"cursor": [_HALF, 1, ""]},
        {"cursor": "a.1"},
        {"cursor": ["a", "1", ""]},
        {"cursor": ["a", 1]},
        {"as_of": [_HALF, 1, ""]},
        {"beacon": _HALF},
        {"hints": _HALF},
        {"vector": _HALF},
        {"vector": "short"},
        {"vector": None},
        {"vector": [[_NODE, 3, b64a.encode(b"xx"), 0]]},
        {"vector": [[_NODE, 3, "", 0]]},
        {"vector": [[_NODE, 0, _DIGEST, 0]]},
        {"vector": [[_NODE, 0, "", 0]]},
        {"vector": [[_NODE, 1 << 63, _DIGEST, 0]]},
    ],
)
def test_a_standing_that_is_no_text_is_refused_by_name(tmp_path: Path, bad: dict[str, Any]) -> None:
    """Nothing of it comes as far as the store, where it would be a fault of lace itself.

    DWN-12, DWN-27: a cursor is said under that name as its parts, and never as one word.
    LAZ-28, LAZ-29: an entry of a vector says a Seq from 1 on and the digest of that log entry.
    """
    with found(tmp_path) as alice:
        said = my_standing(alice, Verifier(bytes(32)), cursor=ExposureCursor("a", 1)).encode()
    assert json.loads(said)["cursor"] == ["a", 1, ""]
    assert Standing.decode(said).cursor == ExposureCursor("a", 1)
    with pytest.raises(BadStream):
        Standing.decode(json.dumps(json.loads(said) | bad).encode())


def test_places_of_two_logs_are_never_compared() -> None:
    """DWN-13: a number of one log says nothing of another, also of the same vault before it was made anew."""
    assert ExposureCursor("a", 10).reaches(ExposureCursor("a", 9))
    assert ExposureCursor("a", 9).reaches(ExposureCursor("a", 9))
    assert not ExposureCursor("a", 9).reaches(ExposureCursor("a", 10))
    for one, other in ((10, 9), (9, 10)):
        with pytest.raises(ValueError, match="two logs"):
            ExposureCursor("a", one).reaches(ExposureCursor("b", other))


def test_a_digest_stands_for_the_vector_that_both_have_and_for_no_other(tmp_path: Path) -> None:
    """LAZ-32: what somebody holds counts only when they said it; a digest of something else says nothing."""
    with found(tmp_path) as alice:
        whole = my_standing(alice, Verifier(bytes(32)), cursor=ExposureCursor("a", 1))
        mine = vector_told(alice)
    assert mine
    heard = Standing.decode(in_short(whole).encode())
    assert (heard.vector, len(heard.digest)) == (None, 32)
    assert taken_as(heard, mine).vector == whole.vector == mine
    (entry, *rest) = mine
    for other in (
        (),
        (entry._replace(seq=entry.seq + 1), *rest),
        (entry._replace(digest=bytes(32)), *rest),
        (entry._replace(is_forked=True), *rest),
        (*mine, entry._replace(node=Verifier(b"\1" * 32))),
    ):
        assert taken_as(heard, other).vector is None


@pytest.mark.parametrize("place", range(3))
def test_an_outcome_that_is_no_text_is_refused_by_name(place: int) -> None:
    words = ["P.x", "code", "reason"]
    assert Outcome.decode(json.dumps({"received": 1, "refused": [words]}).encode()).refused == (tuple(words),)
    words[place] = _HALF
    with pytest.raises(BadStream):
        Outcome.decode(json.dumps({"received": 1, "refused": [words]}).encode())
