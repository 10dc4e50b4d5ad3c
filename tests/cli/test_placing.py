"""What `place add` says of a place, beside that it is one."""

from __future__ import annotations

import pytest

from tests.cli.looking import error_of
from tests.people import Person
from transports.errors import CAN_BE_READ, PushRejected
from transports.git.place import GitPlace


def test_a_place_in_the_folder_is_warned_of_unless_it_is_left_out_already(ann: Person) -> None:
    """APP-14: it said that the place would be committed, and to name it in the file that named it."""
    ann.write(".laceignore", "drops/\n/two words\n")
    assert "would be committed" in ann.run("place", "add", "one", "kept").err
    for name, path in (("two", "drops"), ("three", "deep/drops/usb"), ("four", "two words")):
        assert "would be committed" not in ann.run("place", "add", name, path).err, path
    ann.lace("desk", "add", "songs", "songs")
    assert "would be committed" in ann.run("place", "add", "five", "songs/drops").err, "main's rules are not its own"
    ann.write("songs/.laceignore", "usb\n")
    assert "would be committed" not in ann.run("place", "add", "six", "songs/usb").err
    assert "would be committed" in ann.run("place", "add", "seven", "usb").err


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        (f"Ask its owner. {CAN_BE_READ}", "Ask its owner."),
        ("What lies there can be read by its owner. What lies there can be read anew.", None),
    ],
)
def test_the_way_out_for_a_place_that_was_not_added_is_told_whole(
    ann: Person, monkeypatch: pytest.MonkeyPatch, hint: str, told: str | None
) -> None:
    """LAZ-24: of it nothing can be pulled; it was cut off at words that may stand in the midst of it."""

    def refuse(*_: object, **__: object) -> None:
        raise PushRejected("It takes nothing.", hint=hint)

    monkeypatch.setattr(GitPlace, "create", refuse)
    error = ann.lace("place", "add", "host", "git@h:us/v.git", expect=28)["error"]
    assert error["hint"] == (told or hint)


@pytest.mark.parametrize("name", ["alice", "self", ""])
@pytest.mark.parametrize("words", [("place", "add", "stick", "drop"), ("bundle", "create", "ann.lace")])
def test_nothing_is_made_for_oneself_alone(ann: Person, words: tuple[str, ...], name: str) -> None:
    """APP-14: a place for oneself was shown under one's key, and served nobody; a file left out nothing."""
    name = name or str(ann.lace("id")["node"])
    error = error_of(ann.run("--json", *words, "--for", name), "no-such-peer")
    assert error["message"].endswith("is this device itself, and --for names somebody else.")
    assert not (ann.folder / words[-1]).exists()
