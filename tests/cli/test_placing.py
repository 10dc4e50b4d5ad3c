"""What `place add` says of a place, beside that it is one."""

from __future__ import annotations

from tests.people import Person


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
