"""Three-way merge: laws, conflicts, decisions (CLAY-73, CLAY-74, CLAY-76, CLAY-77; faults row 31)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.desks.support import GROUP, Model, empty, file, model_of, models, tree_of
from vault.desks.diff import diff_trees
from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.merge import Choice, MergeOutcome, MergeUndecided, merge_trees, resolve_with
from vault.desks.merge_text import draft_of, has_markers, merge_text, regions_of
from vault.desks.pages import Entry
from vault.desks.path_conflict import PathConflictKind
from vault.desks.ports import Objects
from vault.desks.tree import lookup, walk
from vault.records import RecordHash

texts = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\r\n"]), max_size=6).map(b"".join)


def merged(objects: MemoryObjects, base: Model | None, ours: Model, theirs: Model) -> MergeOutcome:
    root = None if base is None else tree_of(objects, base)
    return merge_trees(objects.of(GROUP), root, tree_of(objects, ours), tree_of(objects, theirs), ("alice", "bob"))


def conflicts_of(outcome: MergeOutcome) -> list[tuple[str, str]]:
    assert outcome.root is None
    return [(conflict.path, conflict.kind.value) for conflict in outcome.conflicts]


@given(models(), models())
def test_merging_with_an_unchanged_side_gives_the_other_side(base: Model, ours: Model) -> None:
    # CLAY-74 meet: a change on one side only is taken as it is, whichever side it is on.
    objects = MemoryObjects()
    b, x = tree_of(objects, base), tree_of(objects, ours)
    assert merge_trees(objects.of(GROUP), b, x, b).root == x
    other = merge_trees(objects.of(GROUP), b, b, x)
    assert other.root == x
    assert set(other.taken) == {change.path for change in diff_trees(objects, b, x)}
    assert merge_trees(objects.of(GROUP), b, x, x).root == x


@settings(max_examples=300)
@given(models(), models(), models())
def test_sides_are_symmetric_and_nothing_is_decided(base: Model, ours: Model, theirs: Model) -> None:
    # CLAY-76, faults 31: both directions give the same tree, or name the same paths and give none.
    objects = MemoryObjects()
    one = merged(objects, base, ours, theirs)
    two = merged(objects, base, theirs, ours)
    assert one.root == two.root
    assert {c.path for c in one.conflicts if not c.twin} == {c.path for c in two.conflicts if not c.twin}
    assert (one.root is None) == bool(one.conflicts)
    if one.root is not None:
        for path, content in model_of(objects, one.root).items():
            here = {base.get(path), ours.get(path), theirs.get(path)}
            # A file that one side renamed has the other side's content of the old name.
            moved = {*ours.values(), *theirs.values()} if (path in ours) != (path in theirs) else set()
            assert content in here | moved or path in one.merged


@settings(max_examples=300)
@given(models(), models(), models(), st.sampled_from(["ours", "theirs"]))
def test_choosing_one_side_everywhere_decides_every_merge(base: Model, ours: Model, theirs: Model, side: str) -> None:
    # CLAY-77: each conflict takes a choice, and paths without conflict do not depend on it.
    objects = MemoryObjects()
    outcome = merged(objects, base, ours, theirs)
    choices = {conflict.path: side for conflict in outcome.conflicts}
    found = model_of(objects, resolve_with(outcome, choices))  # type: ignore[arg-type]
    chosen = ours if side == "ours" else theirs
    for conflict in outcome.conflicts:
        if not conflict.twin:
            assert found.get(conflict.path) == chosen.get(conflict.path)


def test_every_kind_of_conflict_is_named() -> None:
    # CLAY-76, faults 31: delete/edit, add/add, content, and a folder against a file.
    objects = MemoryObjects()
    base = {"edited": b"1\n", "gone": b"1\n", "both": b"1\n2\n3\n", "bin": b"\0", "place": b"1", "keep": b"k"}
    ours = {"edited": b"1\n2\n", "both": b"A\n2\n3\n", "bin": b"\0a", "new": b"x", "place/in": b"1", "keep": b"k"}
    theirs = {"gone": b"1\n2\n", "both": b"B\n2\n3\n", "bin": b"\0b", "new": b"y", "place": b"2", "keep": b"k"}
    assert conflicts_of(merged(objects, base, ours, theirs)) == [
        ("bin", "content"),
        ("both", "content"),
        ("edited", "delete/edit"),
        ("gone", "delete/edit"),
        ("new", "add/add"),
        ("place", "directory/file"),
    ]


def test_kind_and_mode_conflicts() -> None:
    objects = MemoryObjects()
    root = empty(objects)
    ours = apply_changes(
        objects.of(GROUP),
        root,
        {"k": file(objects, b"t"), "m": file(objects, b"m"), "x": file(objects, b"m")},
    )
    theirs = apply_changes(
        objects.of(GROUP),
        root,
        {"k": file(objects, b"t", kind="l"), "m": file(objects, b"m", mode="x"), "x": file(objects, b"m")},
    )
    assert conflicts_of(merge_trees(objects.of(GROUP), root, ours, theirs)) == [
        ("k", "kind"),
        ("m", "mode"),
    ]


def test_a_mode_of_one_side_joins_the_content_of_the_other() -> None:
    objects = MemoryObjects()
    base = tree_of(objects, {"run": b"1\n"})
    ours = apply_changes(objects.of(GROUP), base, {"run": file(objects, b"1\n", mode="x")})
    theirs = tree_of(objects, {"run": b"2\n"})
    for one, two in ((ours, theirs), (theirs, ours)):
        outcome = merge_trees(objects.of(GROUP), base, one, two)
        assert outcome.root is not None
        entry = lookup(objects, outcome.root, "run")
        assert entry is not None
        assert (entry.mode, objects.content(entry.hash)) == ("x", b"2\n")


@pytest.mark.parametrize(
    ("modes", "expected"),
    [("--x", "x"), ("-x-", "x"), ("xx-", "-"), ("x-x", "-"), ("---", "-"), ("xxx", "x"), ("?-x", "-"), ("-x?", "x")],
)
def test_a_mode_of_one_side_joins_what_a_person_made_of_both(modes: str, expected: str) -> None:
    """CLAY-50, LAZ-42: whoever took lines of both sides lost the other side's executable bit without a word."""
    objects = MemoryObjects()
    base, ours, theirs = (
        apply_changes(
            objects.of(GROUP), None, {"run": file(objects, str(at).encode(), mode=mode)} if mode != "?" else {}
        )
        for at, mode in enumerate(modes)
    )
    outcome = merge_trees(objects.of(GROUP), base, ours, theirs)
    entry = lookup(objects, resolve_with(outcome, {"run": b"both"}), "run")
    assert entry is not None
    assert entry.mode == expected


def test_names_that_differ_in_case_need_a_person() -> None:
    # APP-12, faults 31: no disk decides which of two twins survives.
    objects = MemoryObjects()
    outcome = merged(objects, {}, {"d/README": b"A"}, {"d/readme": b"B"})
    assert conflicts_of(outcome) == [("d/readme", "twin")]
    assert outcome.conflicts[0].twin == "d/README"
    assert model_of(objects, resolve_with(outcome, {"d/readme": "ours"})) == {"d/README": b"A"}
    assert model_of(objects, resolve_with(outcome, {"d/readme": "theirs"})) == {"d/readme": b"B"}
    assert model_of(objects, resolve_with(outcome, {"d/readme": b"C"})) == {"d/README": b"C"}


def test_a_file_renamed_here_and_edited_there_merges_under_its_new_name() -> None:
    # CLAY-74, faults 31: the same content, only another case, both sides' lines, and the other side's mode.
    cases: list[tuple[Model, Model, Model, Model]] = [
        ({"a": b"1\n2\n"}, {"sub/b": b"1\n2\n"}, {"a": b"1\n2!\n"}, {"sub/b": b"1\n2!\n"}),
        ({"readme": b"1\n"}, {"README": b"1\n"}, {"readme": b"2\n"}, {"README": b"2\n"}),
        (
            {"a": b"1\n2\n3\n4\n5\n"},
            {"b": b"1!\n2\n3\n4\n5\n"},
            {"a": b"1\n2\n3\n4\n5?\n"},
            {"b": b"1!\n2\n3\n4\n5?\n"},
        ),
        (
            {f"old/{i}": b"%d\n" % i for i in range(9)},
            {f"new/{i}": b"%d\n" % i for i in range(9)},
            {f"old/{i}": b"%d!\n" % i for i in range(9)},
            {f"new/{i}": b"%d!\n" % i for i in range(9)},
        ),
        ({"a": b"1\n2\n"}, {"b": b"1\n2\n"}, {"b": b"1\n2\n"}, {"b": b"1\n2\n"}),
    ]
    for base, ours, theirs, expected in cases:
        for one, two in ((ours, theirs), (theirs, ours)):
            objects = MemoryObjects()
            outcome = merged(objects, base, one, two)
            assert outcome.root is not None, outcome.conflicts
            assert model_of(objects, outcome.root) == expected


def test_an_edit_follows_no_file_that_another_fits_as_well() -> None:
    # CLAY-74, CLAY-76: two files of one template; the one that was edited is gone, and the other one has a new name.
    page = b"to: us\nfor: %s\nsum: 1\nrate: 2\ntax: 3\ntotal: 4\n"
    base = {"jan": page % b"jan", "feb": page % b"feb"}
    moved = {"january": page % b"jan" + b"paid\n"}
    edited = base | {"feb": (page % b"feb").replace(b"tax: 3", b"tax: 9")}
    twins = {"a": b"1\n2\n", "b": b"1\n2\n"}
    cases: list[tuple[Model, Model, Model, str]] = [
        (base, moved, edited, "feb"),
        (twins, {"c": b"1\n2\n"}, twins | {"a": b"1\n2!\n"}, "a"),
        (twins, {"c": b"1\n2\n"}, twins | {"b": b"1\n2!\n"}, "b"),
        (twins, {"c": b"1\n2\n3\n"}, twins | {"a": b"1!\n2\n"}, "a"),
    ]
    for start, ours, theirs, asked in cases:
        for one, two in ((ours, theirs), (theirs, ours)):
            assert conflicts_of(merged(MemoryObjects(), start, one, two)) == [(asked, "delete/edit")]


def test_files_of_one_content_follow_the_names_they_keep() -> None:
    # CLAY-74: whole folders moved, with the same empty-looking file in each.
    names = ["x/init", "y/init", "y/deep/init"]
    base = dict.fromkeys(names, b"# ours\n")
    ours = {f"lib/{name}": b"# ours\n" for name in names}
    for name in names:
        for one, two in ((ours, base | {name: b"# new\n"}), (base | {name: b"# new\n"}, ours)):
            objects = MemoryObjects()
            outcome = merged(objects, base, one, two)
            assert outcome.root is not None, outcome.conflicts
            assert model_of(objects, outcome.root) == ours | {f"lib/{name}": b"# new\n"}


def test_both_renamed_it_or_one_deleted_it_is_for_a_person() -> None:
    # CLAY-76, faults 31: no name is chosen, and every choice gives what it says.
    base, ours, theirs = {"a": b"1\n2\n", "k": b"k"}, {"b": b"1\n2\n", "k": b"k"}, {"c": b"1\n2\n!\n", "k": b"k"}
    objects = MemoryObjects()
    outcome = merged(objects, base, ours, theirs)
    (clash,) = outcome.conflicts
    assert (clash.path, clash.kind, clash.twin) == ("b", PathConflictKind.RENAME, "c")
    assert clash.base is not None
    assert clash.ours is not None
    assert clash.theirs is not None
    choices: list[tuple[Choice, Model]] = [("ours", ours), ("theirs", theirs), ("base", base)]
    for choice, expected in [*choices, (b"new\n", {"b": b"new\n", "k": b"k"})]:
        assert model_of(objects, resolve_with(outcome, {"b": choice})) == expected
    gone: Model = {"k": b"k"}
    for one, two, side in ((ours, gone, "theirs"), (gone, ours, "ours")):
        outcome = merged(objects, base, one, two)
        assert conflicts_of(outcome) == [("b", "rename/delete")]
        kept = resolve_with(outcome, {"b": "ours" if side == "theirs" else "theirs"})
        assert model_of(objects, resolve_with(outcome, {"b": "theirs" if side == "theirs" else "ours"})) == gone
        assert model_of(objects, kept) == ours


def test_looking_for_renames_has_bounds() -> None:
    # CLAY-74: empty files are all alike, and hundreds of new names are not read.
    many = {f"n{i}": b"1\n2\n%d\n" % i for i in range(60)}
    for base, ours, theirs in (
        ({"a": b""}, {"b": b""}, {"a": b"x"}),
        ({"a": b"1\n2\nx\n"}, many, {"a": b"1\n2\nx\n4\n"}),
        ({"a": b"1\n"}, {"a/in": b"1\n"}, {"a": b"2\n"}),
    ):
        assert merged(MemoryObjects(), base, ours, theirs).root is None


def test_deleting_a_folder_against_adding_to_it_keeps_what_is_new() -> None:
    objects = MemoryObjects()
    outcome = merged(objects, {"d/a": b"1", "d/b": b"2"}, {"d/a": b"1", "d/b": b"2", "d/c": b"3"}, {})
    assert outcome.root is not None
    assert model_of(objects, outcome.root) == {"d/c": b"3"}


def test_a_folder_that_both_sides_empty_together_goes() -> None:
    objects = MemoryObjects()
    outcome = merged(objects, {"d/a": b"1", "d/b": b"2"}, {"d/a": b"1"}, {"d/b": b"2"})
    assert outcome.root is not None
    assert list(walk(objects, outcome.root)) == []


def test_a_decision_may_be_new_bytes_and_must_be_complete() -> None:
    # CLAY-77, LAZ-39
    objects = MemoryObjects()
    outcome = merged(objects, {"a": b"1\n", "b": b"1\n"}, {"a": b"2\n", "b": b"2\n"}, {"a": b"3\n", "b": b"3\n"})
    with pytest.raises(MergeUndecided, match="b"):
        resolve_with(outcome, {"a": b"both\n"})
    root = resolve_with(outcome, {"a": b"both\n", "b": "theirs", "not/there": "ours"})
    assert model_of(objects, root) == {"a": b"both\n", "b": b"3\n"}


def test_without_a_base_everything_that_differs_was_added() -> None:
    # CLAY-73: unrelated lines may be joined, but no common past is invented.
    outcome = merged(MemoryObjects(), None, {"a": b"1\n", "s": b"="}, {"a": b"2\n", "s": b"="})
    assert conflicts_of(outcome) == [("a", "add/add")]


def test_lines_of_both_sides_are_merged_and_line_ends_kept() -> None:
    # CLAY-74 mate
    objects = MemoryObjects()
    outcome = merged(
        objects,
        {"t": b"1\r\n2\r\n3\r\n4"},
        {"t": b"one\r\n2\r\n3\r\n4"},
        {"t": b"1\r\n2\r\n3\r\nfour\n"},
    )
    assert outcome.root is not None
    assert outcome.merged == ("t",)
    assert model_of(objects, outcome.root) == {"t": b"one\r\n2\r\n3\r\nfour\n"}


def test_a_draft_names_both_sides() -> None:
    # LAZ-39: a person sees both sides, and markers begin their own lines even where a text has no last line end.
    objects = MemoryObjects()
    outcome = merged(objects, {"t": b"1\nx"}, {"t": b"1\ny"}, {"t": b"1\nz"})
    assert outcome.draft("t") == (b"1\n<<<<<<< alice\ny\n||||||| base\nx\n=======\nz\n>>>>>>> bob\n")
    assert outcome.draft("nothing") is None
    assert merged(objects, {"t": b"\0"}, {"t": b"\0a"}, {"t": b"\0b"}).draft("t") is None


def test_large_files_are_not_merged_by_lines() -> None:
    objects = MemoryObjects()
    big = b"x" * 100 + b"\n"
    base = b"0\n" + big * 21_000 + b"0\n"
    outcome = merged(objects, {"t": base}, {"t": b"1\n" + base[2:]}, {"t": base[:-2] + b"1\n"})
    assert conflicts_of(outcome) == [("t", "content")]
    assert not outcome.conflicts[0].is_text


def test_only_directories_that_differ_are_read() -> None:
    # CLAY-28
    objects = MemoryObjects()
    base = {f"same{i}/deep/f": b"%d" % i for i in range(20)} | {"d/a": b"1"}
    roots = [tree_of(objects, base | extra) for extra in ({}, {"d/b": b"2"}, {"d/c": b"3"})]
    reads: list[RecordHash] = []

    class Counting(MemoryObjects):
        def content(self, record: RecordHash, /) -> bytes | None:
            reads.append(record)
            return super().content(record)

    assert merge_trees(Objects(Counting(objects), objects, GROUP), roots[0], roots[1], roots[2]).root is not None
    assert len(set(reads)) == 6  # three roots and three states of d


@given(texts, texts, texts)
def test_merging_lines_is_symmetric_and_regions_cover_all_lines(base: bytes, ours: bytes, theirs: bytes) -> None:
    # CLAY-74 mate
    assert merge_text(base, ours, theirs) == merge_text(base, theirs, ours)
    assert merge_text(base, ours, base) == ours
    assert merge_text(base, base, theirs) == theirs
    regions = regions_of(base, ours, theirs)
    mine = b"".join(line for r in regions for line in (r.base if r.kind == "same" else r.ours))
    if all(r.kind != "theirs" for r in regions):
        assert mine == ours
    has_conflict = any(r.kind == "conflict" for r in regions)
    assert has_conflict == (merge_text(base, ours, theirs) is None)
    assert has_conflict == (b"<<<<<<< o" in draft_of(base, ours, theirs, ("o", "t")))


def test_conflict_kinds_are_stable_words() -> None:
    assert [kind.value for kind in PathConflictKind] == [
        "content",
        "delete/edit",
        "add/add",
        "kind",
        "mode",
        "directory/file",
        "twin",
        "rename/rename",
        "rename/delete",
    ]


def test_a_folder_that_one_side_emptied_stays_when_the_other_still_has_it() -> None:
    # An empty folder is in the tree because somebody has it; both directions keep it.
    objects = MemoryObjects()
    base = tree_of(objects, {"d/a": b"1", "d/b": b"2", "k": b"1"})
    nothing = Entry("d", "-", 0, empty(objects), "d")
    emptied = apply_changes(objects.of(GROUP), base, {"d": nothing})
    other = tree_of(objects, {"d/a": b"1", "k": b"2"})
    for one, two in ((emptied, other), (other, emptied)):
        outcome = merge_trees(objects.of(GROUP), base, one, two)
        assert outcome.root is not None
        assert [path for path, _ in walk(objects, outcome.root)] == ["d", "k"]


def test_merged_text_of_some_size_is_the_record_of_its_content() -> None:
    # CLAY-74, CLAY-12: what a merge makes is cut as a scan would cut it.
    objects = MemoryObjects()
    lines = [f"line {number} of a text that is more than one record holds\n" for number in range(8_000)]
    base, ours, theirs = list(lines), list(lines), list(lines)
    ours[5], theirs[7_000] = "mine\n", "yours\n"
    roots = [tree_of(objects, {"t": "".join(side).encode()}) for side in (base, ours, theirs)]
    outcome = merge_trees(objects.of(GROUP), roots[0], roots[1], roots[2])
    assert outcome.merged == ("t",)
    both = list(ours)
    both[7_000] = "yours\n"
    merged = "".join(both).encode()
    assert len(merged) > 300_000
    assert outcome.root == tree_of(objects, {"t": merged})


def test_content_too_large_for_lines_is_decided_by_a_person_without_being_read() -> None:
    # CLAY-76: above 2 MiB nothing is merged; above 32 MiB it could not even be read in one piece.
    objects = MemoryObjects()
    sides = [bytes(33 << 20) + end for end in (b"", b"ours", b"theirs")]
    roots = [tree_of(objects, {"t": side}) for side in sides]
    outcome = merge_trees(objects.of(GROUP), roots[0], roots[1], roots[2])
    assert outcome.root is None
    (conflict,) = outcome.conflicts
    assert (conflict.path, conflict.is_text, outcome.draft("t")) == ("t", False, None)
    assert resolve_with(outcome, {"t": "theirs"}) == roots[2]
    assert resolve_with(outcome, {"t": b"short"}) == tree_of(objects, {"t": b"short"})


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_markers_are_told_from_lines_that_look_like_one(end: bytes) -> None:
    """LAZ-42: a file in which both sides are left is refused, and a heading that is underlined is not."""
    left = [b"<<<<<<< alice", b"1", b"=======", b"2", b">>>>>>> bob", b""]
    assert has_markers(end.join(left))
    assert has_markers(end.join([b"before", *left, b"after"]))
    for without in (0, 2, 4):  # edited half
        assert has_markers(end.join(left[:without] + left[without + 1 :]))
    for alone in (0, 2, 4):
        assert not has_markers(end.join([b"before", left[alone], b"after"]))
    assert has_markers(end.join([b"typed<<<<<<< alice", b"1", b"||||||| base", b"0"]))
    assert not has_markers(end.join([b"<<<<<<< alice", b"1", b"======= not alone", b"2", b""]))
    assert not has_markers(end.join([b"A heading", b"=======", b"another", b"=======", b"<<<<<<< x"]))
    assert not has_markers(end.join([b"<<<<<<<alice", b"=======", b">>>>>>>bob"]))
    assert not has_markers(end.join(reversed(left)))
    assert has_markers(draft_of(b"0" + end, b"1" + end, b"2" + end, ("alice", "bob")))
