"""Edits of trees, and the differences between them (CLAY-37 to 41)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings

from tests.vault.desks.support import GROUP, Model, empty, file, model_of, models, tree_of
from vault.desks.content import tree_plex
from vault.desks.diff import diff_trees, text_diff
from vault.desks.edit import NoSuchPath, PathInTheWay, apply_changes, select_paths
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry, Page, TreeError, TwinNames, format_page
from vault.desks.paths import (
    BadPath,
)
from vault.desks.tree import build_directory, walk
from vault.records import RecordHash


@settings(max_examples=200)
@given(models(), models())
def test_applying_a_difference_gives_the_other_tree(one: Model, two: Model) -> None:
    # CLAY-38, CLAY-39: diff then apply is the identity, in both directions, and equal trees differ in nothing.
    objects = MemoryObjects()
    a, b = tree_of(objects, one), tree_of(objects, two)
    changes = {change.path: change for change in diff_trees(objects, a, b)}
    assert apply_changes(objects.of(GROUP), a, {p: c.after for p, c in changes.items()}) == b
    assert {p for p, c in changes.items() if c.kind == "added"} == two.keys() - one.keys()
    assert {p for p, c in changes.items() if c.kind == "deleted"} == one.keys() - two.keys()
    assert list(diff_trees(objects, a, a)) == []
    assert {c.path for c in diff_trees(objects, None, b)} == set(two)
    half = select_paths(objects.of(GROUP), a, b, list(changes))
    assert half == b


@pytest.mark.parametrize(
    ("before", "after"),
    [("x", None), (None, "x"), ("x", "d"), ("d", "x"), ("d", None), (None, "d"), ("d", "e"), ("e", "d"), ("e", "x")],
)
def test_empty_directories_survive_differences(before: str | None, after: str | None) -> None:
    # "x" a file, "d" an empty directory, "e" a directory with a file
    objects = MemoryObjects()
    nothing = Entry("d", "-", 0, empty(objects), "x")
    full, size = build_directory(GROUP, [file(objects, b"1")], objects)
    kinds = {"x": file(objects, b"1"), "d": nothing, "e": Entry("d", "-", size, full, "x"), None: None}
    a, b = (apply_changes(objects.of(GROUP), None, {"p/q": kinds[k], "z": kinds["x"]}) for k in (before, after))
    changes = {change.path: change.after for change in diff_trees(objects, a, b)}
    assert apply_changes(objects.of(GROUP), a, changes) == b
    assert select_paths(objects.of(GROUP), a, b, ["p"]) == b


def test_changes_are_all_or_nothing_and_prune_what_they_empty() -> None:
    # CLAY-41
    objects = MemoryObjects()
    root = tree_of(objects, {"a/b/c": b"1", "f": b"2"})
    with pytest.raises(PathInTheWay):
        apply_changes(objects.of(GROUP), root, {"a/b/c": None, "f/x": file(objects, b"3")})
    with pytest.raises(BadPath):
        apply_changes(objects.of(GROUP), root, {"../x": file(objects, b"3")})
    pruned = apply_changes(objects.of(GROUP), root, {"a/b/c": None})
    assert [path for path, _ in walk(objects, pruned)] == ["f"]
    assert apply_changes(objects.of(GROUP), root, {"no/such": None}) == root


def test_only_selected_paths_are_taken() -> None:
    objects = MemoryObjects()
    base = tree_of(objects, {"a/1": b"1", "a/2": b"1", "b": b"1", "was": b"file"})
    new = tree_of(objects, {"a/1": b"2", "a/3": b"2", "c/d": b"2", "was/dir": b"2"})

    def select(*paths: str) -> dict[str, bytes]:
        return model_of(objects, select_paths(objects.of(GROUP), base, new, paths))

    assert select("a/1") == {"a/1": b"2", "a/2": b"1", "b": b"1", "was": b"file"}
    assert select("a") == {"a/1": b"2", "a/3": b"2", "b": b"1", "was": b"file"}
    assert select("b", "c") == {"a/1": b"1", "a/2": b"1", "c/d": b"2", "was": b"file"}
    assert select("was/dir") == {"a/1": b"1", "a/2": b"1", "b": b"1", "was/dir": b"2"}
    assert select("") == model_of(objects, new)
    with pytest.raises(NoSuchPath):
        select("nothing/here")


def test_text_differences() -> None:
    # CLAY-70
    assert text_diff(b"a\nb\n", b"a\nc\n", names=("x", "y")) == ["--- x", "+++ y", "@@ -1,2 +1,2 @@", " a", "-b", "+c"]
    assert text_diff(b"a", b"a") == []
    assert text_diff(b"a\n", b"a\r\n") == ["Only line ends differ."]
    assert text_diff(b"a\n", b"a\r") == ["Only line ends differ."]
    for sign in ("\x0c", "\x0b", "\x1c", "\x85", "\u2028"):
        told = text_diff(f"a{sign}b\n".encode(), b"a\nb\n")
        assert told[3:] == [f"-a{sign}b", "+a", "+b"], "these end no line, and the text was said to be the same"
    assert text_diff(b"\0", b"a") == ["The content is binary or large: 1 bytes before, 1 bytes after."]
    assert "too long" in text_diff(b"\n" * 50_000, b"")[0]


def test_a_difference_is_what_two_whole_readings_tell_of_directories_of_any_size() -> None:
    """CLAY-28: of one page and of several, in both directions, with kinds, modes and sizes that changed."""
    draw = Random(11)
    objects = MemoryObjects()
    trees: list[tuple[RecordHash, dict[str, Entry]]] = []
    for size in (0, 1, 3, 400, 511, 512, 513, 1_400, 1_401, 2):
        entries = dict(draw.choice(trees)[1]) if trees else {}
        for name in draw.sample(sorted(entries), min(len(entries), draw.randrange(20))):
            del entries[name]
        while len(entries) > size:
            del entries[draw.choice(sorted(entries))]
        while len(entries) < size:
            name = f"name {draw.randrange(10_000)}"
            entries[name] = Entry("f", draw.choice("-x"), draw.randrange(3), RecordHash("P", draw.randbytes(32)), name)
        root, _ = build_directory(GROUP, entries.values(), objects)
        trees.append((root, entries))
    for before, old in trees:
        for after, new in trees:
            found = {change.path: (change.before, change.after) for change in diff_trees(objects, before, after)}
            names = old.keys() | new.keys()
            both = {name: (old.get(name), new.get(name)) for name in names}
            assert found == {name: pair for name, pair in both.items() if pair[0] != pair[1]}
            assert list(found) == sorted(found)


def test_a_later_directory_is_read_strictly_whatever_it_shares_with_the_earlier_one() -> None:
    """CLAY-27, CLAY-28: twins are refused though only one of the two is new, and a wrong sum though no line is."""
    objects = MemoryObjects()
    one = Entry("f", "-", 1, RecordHash("P", bytes(32)), "a")
    old = _page(objects, one)
    twins = _page(objects, Entry("f", "-", 1, one.hash, "A"), one)
    with pytest.raises(TwinNames):
        list(diff_trees(objects, old, twins))
    assert [change.path for change in diff_trees(objects, twins, old)] == ["A"]
    above = [_page(objects, Entry("d", "-", size, old, "d")) for size in (1, 2)]
    with pytest.raises(TreeError, match="holds 1 bytes where 2 are said"):
        list(diff_trees(objects, *above))


def _page(objects: MemoryObjects, *entries: Entry) -> RecordHash:
    """Keep a page as it is said, also one that nobody would build."""
    plex = tree_plex(GROUP, format_page(Page(0, entries)))
    objects.add(plex)
    return plex.hash
