"""A release of a folder that looks at another state says so: plan, question and answer (CLAY-24, LAZ-45)."""

from __future__ import annotations

from lace_tui.model.deeds import next_release
from lace_tui.model.deeds import release as release_in_app
from tests.circle.world import open_vault
from tests.cli.undoable import begin
from tests.people import Person
from vault.commands import words_of
from vault.names import Version
from vault.watch import Watch

_LOOKS = (
    "! Your folder looks at main@1: friends get that state, with what you changed in it, and nothing else of your line."
)
_LOOKED = _LOOKS.replace("looks at", "looked at")


def _look(alice: Person) -> None:
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    alice.lace("checkout", "main@1")


def test_a_release_of_an_older_state_says_so(alice: Person) -> None:
    """CLAY-24, LAZ-45: it was one change as any other, and friends got what the person had only looked at."""
    _look(alice)
    planned = alice.text("release", "--dry-run").splitlines()
    assert planned[1:] == [_LOOKS, "To go to the newest first: lace checkout main"]
    alice.environ["TERM"] = "xterm"
    asked = alice.run("release", stdin=b"n\n", tty=True)
    assert _LOOKS in asked.err
    alice.write("new.txt", "mine\n")
    told = next(line for line in alice.text("release", "1.0.0").splitlines() if line.startswith(_LOOKED))
    alice.lace(*words_of(told.partition("back: ")[2])[1:])
    assert (alice.folder / "a.txt").read_text() == "two\n"


def test_one_that_was_committed_before_is_told_too(alice: Person) -> None:
    """CLAY-24: by then the folder looks at nothing any more."""
    _look(alice)
    alice.lace("commit", "-m", "as it was")
    assert _LOOKS in alice.text("release", "--dry-run").splitlines()
    assert _LOOKED in alice.text("release", "1.0.0")
    alice.write("a.txt", "three\n")
    assert "look" not in alice.text("release", "--dry-run") + alice.text("release", "1.1.0")


def test_one_that_was_gone_on_from_is_told_until_it_is_released(alice: Person) -> None:
    """CLAY-24, LAZ-45: one commit after that of the look nothing said any more that all since it is left out."""
    _look(alice)
    alice.lace("commit", "-m", "as it was")
    alice.write("new.txt", "mine\n")
    back = "To have what was the newest back: lace checkout main@2"
    assert alice.text("release", "--dry-run").splitlines()[1:] == [_LOOKED, back]
    alice.lace("commit", "-m", "more")
    assert alice.text("release", "--dry-run").splitlines()[1:] == [_LOOKS, back]
    assert f"{_LOOKED} {back}" in alice.text("release", "1.0.0").splitlines()
    alice.write("new.txt", "again\n")
    assert "look" not in alice.text("release", "--dry-run")


def test_the_app_says_it_too(alice: Person) -> None:
    """CLAY-24, LAZ-45: in the question, and on the card."""
    _look(alice)
    with open_vault(alice) as vault:
        assert next_release(vault, str(alice.folder)).gone == _LOOKS
        made = release_in_app(vault, Version.parse("1.0.0"), "main", Watch())
        assert made.told[0].startswith(_LOOKED)


def test_what_an_undone_commit_held_is_no_other_state(alice: Person) -> None:
    """APP-4: the folder holds what it did, which is work of the person's."""
    begin(alice)
    alice.write("a.txt", "two\n")
    alice.lace("commit", "-m", "second")
    alice.write("a.txt", "three\n")
    assert alice.lace("undo")["kept_as"] == "main@kept-1"
    assert "look" not in alice.text("release", "--dry-run") + alice.text("release", "1.0.0")
