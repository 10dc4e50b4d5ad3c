"""Former states of `.laceignore`: each that keeps something out holds on, however many there are (CLAY-71)."""

from __future__ import annotations

import pytest

from tests.people import Person
from vault.folder import former_rules
from vault.folder.former_rules import FormerRulesFull


def _bring(pair: tuple[Person, Person], at: int, rules: str, expect: int = 0) -> Person:
    """Let alice release another `.laceignore`, and bob update."""
    alice, bob = pair
    alice.write(".laceignore", rules)
    alice.lace("release", f"1.{at}.0")
    for person in pair:
        person.lace("sync", "stick")
    bob.lace("update", expect=expect)
    return bob


def test_the_ninth_change_of_the_rules_gives_no_private_file_away(pair: tuple[Person, Person]) -> None:
    """CLAY-71: the first one was forgotten, and the next release gave to everybody what it kept out."""
    bob = _bring(pair, 1, "private.key\n")
    bob.write("private.key", "secret\n")
    for at in range(2, 13):
        _bring(pair, at, f"*.{at}\n")
    assert bob.lace("changes")["added"] == []
    assert bob.lace("release", "2.0.0", expect=0)["added"] == []
    assert "private.key" not in bob.text("read", "y", "main@2.0.0")


def test_all_stay_that_keep_something_out(pair: tuple[Person, Person]) -> None:
    """CLAY-71: there may be more of them than are kept unasked; what one has of another is kept once."""
    for at in range(1, 13):
        bob = _bring(pair, at, f"# {at}\nprivate{at}/\n")
        bob.write(f"private{at}/key", "secret\n")
    _bring(pair, 13, "none\n")
    assert bob.lace("changes")["added"] == []
    found = [told["path"] for told in bob.lace("changes")["notices"] if told["kind"] == "skipped"]
    assert sorted(found) == sorted(f"private{at}" for at in range(1, 13))


def test_what_does_not_fit_is_refused_before_anything_changes(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLAY-71: nothing is forgotten silently, and the way out that is named leads on."""
    monkeypatch.setattr(former_rules, "_MAX_BYTES", 40)
    for at in (1, 2):
        bob = _bring(pair, at, f"private-{at}-key\n")
        bob.write(f"private-{at}-key", "secret\n")
    _bring(pair, 3, "private-3-key\n")
    bob.write("private-3-key", "secret\n")
    alice = pair[0]
    alice.write(".laceignore", "none\n")
    alice.lace("release", "1.4.0")
    for person in pair:
        person.lace("sync", "stick")
    told = bob.lace("update", expect=FormerRulesFull.exit_code)["error"]
    assert told["code"] == FormerRulesFull.code
    assert (bob.folder / ".laceignore").read_text() == "private-3-key\n"
    bob.write(".laceignore", "private-*\n")
    bob.lace("commit", "-m", "keep out", ".laceignore")
    assert bob.lace("update", expect=1)["conflicts"]
    bob.lace("resolve", bob.lace("conflicts")["conflicts"][0]["id"], "--prefer", "local")
    assert bob.lace("changes")["added"] == []


def test_what_a_new_desk_was_promised_to_keep_out_stays_out(pair: tuple[Person, Person]) -> None:
    """CLAY-71: of eight former rules those from the desk around were dropped as long as they kept nothing out."""
    for at in range(1, 11):
        bob = _bring(pair, at, f"*.k{at}\n")
        bob.write(f"my.k{at}", "secret\n")
    bob.folder.joinpath("tapes").mkdir()
    bob.lace("desk", "add", "tapes", "tapes")
    for name in ("my.k10", "my.k1", "t.md"):
        bob.write(f"tapes/{name}", "secret\n")
    assert bob.lace("changes", "tapes")["added"] == ["t.md"]
    assert bob.lace("release", "1.0.0", "--desk", "tapes")["added"] == ["t.md"]
