"""Desks in desks: what their folders have by each desk around them (CLAY-3, CLAY-24)."""

from __future__ import annotations

import json

import pytest

from tests.circle.world import open_vault
from tests.cli.desks import meet
from tests.people import Person
from tests.rows import put_text, text_at
from vault.notes.folders import AROUND


@pytest.mark.parametrize("order", [("outer", "inner"), ("inner", "outer")])
def test_in_desks_in_desks_it_is_one_whichever_was_made_first(
    pair: tuple[Person, Person], order: tuple[str, str]
) -> None:
    """CLAY-3, CLAY-24: where the outer one was made a moment before, all of the inner one clashed."""
    alice, bob = pair
    where = {"outer": "a", "inner": "a/b"}
    for name in ("x", "same"):
        alice.write(f"a/b/{name}", "1\n")
    alice.write("a/y", "1\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    for desk in order:
        alice.lace("desk", "add", desk, where[desk])
    alice.write("a/b/x", "2\n")
    alice.write("a/y", "2\n")
    for desk in order:
        alice.lace("release", "1.0.0", "--desk", desk)
    meet(alice, bob)
    for desk in order:
        bob.lace("desk", "add", desk, where[desk])
    for desk, path in (("outer", "y"), ("inner", "x")):
        done = bob.lace("update", desk)
        assert (done["relation"], done["written"], done["saved"]) == ("behind", [path], None)


def test_a_desk_in_a_desk_that_has_commits_asks_both(pair: tuple[Person, Person]) -> None:
    """CLAY-3: what stands in the outer desk came by it, and what that never released by main."""
    alice, bob = pair
    for name in ("x", "same"):
        alice.write(f"a/b/{name}", "1\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    bob.lace("desk", "add", "outer", "a")
    bob.lace("commit", "-m", "begin", "--desk", "outer")
    alice.lace("desk", "add", "inner", "a/b")
    alice.write("a/b/x", "2\n")
    alice.lace("release", "1.0.0", "--desk", "inner")
    meet(alice, bob)
    bob.lace("desk", "add", "inner", "a/b")
    assert bob.lace("update", "inner")["written"] == ["x"]


def test_what_an_earlier_lace_noted_is_read(pair: tuple[Person, Person]) -> None:
    """APP-13: it noted the innermost desk around alone."""
    alice, bob = pair
    for name in ("a", "same"):
        alice.write(f"n/{name}", "1\n")
    alice.lace("release", "1.5.0")
    meet(alice, bob)
    bob.lace("update")
    alice.lace("desk", "add", "n", "n")
    alice.write("n/a", "2\n")
    alice.lace("release", "1.0.0", "--desk", "n")
    meet(alice, bob)
    bob.lace("desk", "add", "n", "n")
    with open_vault(bob) as vault, vault.writing() as w:
        (noted,) = json.loads(text_at(vault.store, AROUND.key("n")))
        put_text(w.store, AROUND.key("n"), json.dumps(noted))
    assert bob.lace("update", "n")["written"] == ["a"]
