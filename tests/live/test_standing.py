"""What a side says of itself, and of what it took, read from bytes that nobody vouches for (CYB-17, LAZ-70)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lazy.live.outcome import Outcome
from lazy.live.standing import Cursor, Standing, my_standing
from tests.vault.vaults import found
from transports.errors import BadStream
from vault.records import Verifier

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
        {"as_of": [_HALF, 1, ""]},
        {"beacon": _HALF},
        {"hints": _HALF},
    ],
)
def test_a_standing_that_is_no_text_is_refused_by_name(tmp_path: Path, bad: dict[str, Any]) -> None:
    """Nothing of it comes as far as the store, where it would be a fault of lace itself."""
    with found(tmp_path) as alice:
        said = my_standing(alice, Verifier(bytes(32)), cursor=Cursor("a", 1)).encode()
    assert Standing.decode(said).cursor == Cursor("a", 1)
    with pytest.raises(BadStream):
        Standing.decode(json.dumps(json.loads(said) | bad).encode())


@pytest.mark.parametrize("place", range(3))
def test_an_outcome_that_is_no_text_is_refused_by_name(place: int) -> None:
    words = ["P.x", "code", "reason"]
    assert Outcome.decode(json.dumps({"received": 1, "refused": [words]}).encode()).refused == (tuple(words),)
    words[place] = _HALF
    with pytest.raises(BadStream):
        Outcome.decode(json.dumps({"received": 1, "refused": [words]}).encode())
