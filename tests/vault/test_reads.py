"""Cares, nodes and cases: six questions, three outcomes, the same answer for ever (CLAY-13..28, CLAY-53)."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.address import case_number
from tests.vault.vaults import befriend, found, write
from vault.desks.content import data_plex
from vault.desks.edit import apply_changes
from vault.desks.memory import MemoryObjects
from vault.desks.pages import Entry
from vault.folder.work import commit
from vault.records import RecordHash, Tai
from vault.releasing import release
from vault.revisions.cases import Date, parse_case
from vault.revisions.history import commit_info, revision
from vault.revisions.labels import set_label
from vault.revisions.nodes import EMPTY, NodeReader, NodeTooLarge
from vault.revisions.reads import Care, Outcome, read_line, store_ids
from vault.revisions.waiting import NEVER
from vault.vault import Vault

GROUP = "friends/0123456789012345"
GREETING = {
    "greeting/hello": "hello, world",
    "greeting/goodbye": "goodbye, world",
    "greeting/nested/deep": "how are you",
    "greeting": "top",
    "other": "x",
    "other/below": "y",
}


def _tree(paths: dict[str, str], order: list[str]) -> tuple[MemoryObjects, RecordHash]:
    """Build a tree one path after the other; a path with others below it is written as its `@self`."""
    objects = MemoryObjects()
    root: RecordHash | None = None
    for path in order:
        plex = data_plex(GROUP, paths[path].encode())
        objects.add(plex)
        is_both = any(other.startswith(path + "/") for other in paths)
        target = f"{path}/@self" if is_both else path
        name = target.rpartition("/")[2]
        root = apply_changes(objects.of(GROUP), root, {target: Entry("f", "-", len(paths[path]), plex.hash, name)})
    assert root is not None
    return objects, root


def test_six_paths_in_any_order_give_one_hash() -> None:
    """CLAY-26, CLAY-27, H-19, H-20: all 720 orders; `greeting` and `other` are file and directory at once."""
    hashes = set()
    for order in itertools.permutations(GREETING):
        objects, root = _tree(GREETING, list(order))
        hashes.add(NodeReader(objects).at(root, "").hash())
    assert len(hashes) == 1
    node = NodeReader(objects).at(root, "")
    assert {path: child.size for path, child in node.paths()} == {k: len(v) for k, v in GREETING.items()}
    assert NodeReader(objects).at(root, "greeting").content is not None


@given(st.dictionaries(st.sampled_from(["a", "b/c", "b/d", "e/f/g"]), st.text(max_size=3), min_size=1))
def test_equal_hashes_mean_equal_subtrees(paths: dict[str, str]) -> None:
    """CLAY-28: the hash tells every content and name, and nothing else."""
    objects, root = _tree(paths, sorted(paths))
    again, same = _tree(paths, sorted(paths, reverse=True))
    assert NodeReader(objects).at(root, "").hash() == NodeReader(again).at(same, "").hash()
    changed = {path: text + "!" for path, text in paths.items()}
    other, root_2 = _tree(changed, sorted(changed))
    assert NodeReader(other).at(root_2, "").hash() != NodeReader(objects).at(root, "").hash()


def test_a_full_read_is_bounded() -> None:
    objects, root = _tree(GREETING, sorted(GREETING))
    with pytest.raises(NodeTooLarge):
        NodeReader(objects, limit=3).at(root, "")


@pytest.fixture
def alice(tmp_path: Path) -> Vault:
    vault = found(tmp_path)
    write(vault, "a.txt", "one\n")
    write(vault, "d/b.txt", "two\n")
    commit(vault, "first")
    set_label(vault, "draft", "main")
    write(vault, "a.txt", "three\n")
    commit(vault, "second")
    return vault


def _read(vault: Vault, care: str, number: int | None = None, path: str = "", desk: str = "main"):  # type: ignore[no-untyped-def]
    return read_line(vault.store, vault.node.text, desk, number, Care(care), path)


def test_each_care_has_its_answer(alice: Vault) -> None:
    """CLAY-5, CLAY-17..22, CLAY-25."""
    ids = _read(alice, "u").value
    assert len(ids["commits"]) == 2
    assert len(ids["contents"]) == 3
    assert ids == store_ids(alice.store)
    assert _read(alice, "u", 1).outcome is _read(alice, "u", path="a.txt").outcome is Outcome.NEVER
    set_label(alice, "final", "main")
    heads = [revision(alice.store, alice.node.text, "main", number) for number in (1, 2)]
    infos = [commit_info(alice.store, head.commit) for head in heads if head is not None]
    state = _read(alice, "v", 1).value
    assert (state["tree"], state["numbers"]) == (infos[0].tree.text, {"1": infos[0].hash.text})
    assert (state["head"], sorted(state["numbers"]), state["labels"]) == (1, ["1"], {"draft": 1})
    assert sorted(_read(alice, "v").value["numbers"]) == ["1", "2"]
    assert _read(alice, "v").value["labels"] == {"draft": 1, "final": 2}
    assert _read(alice, "v", 1, "a.txt").outcome is Outcome.NEVER
    dated = {"number": 2, "date": Tai.parse(infos[1].tai).to_utc_iso(), "tai": infos[1].tai}
    assert _read(alice, "w", 2).value == dated
    assert _read(alice, "w", 2, "a.txt").outcome is Outcome.NEVER
    assert _read(alice, "x", 1, "a.txt").value["size"] == 4
    assert _read(alice, "x", 1, "d").value is None
    assert _read(alice, "x", 1, "nowhere").value is None
    shallow = _read(alice, "y", 1).value
    assert shallow["children"] == ["a.txt", "d"]
    full = _read(alice, "z", 1).value
    assert full["children"]["d"]["children"]["b.txt"]["size"] == 4
    assert full["hash"] == shallow["hash"]
    for number, path in ((1, "nowhere"), (0, ""), (0, "nowhere")):
        nothing = {"hash": EMPTY.hash(), "content": None, "size": 0}
        assert _read(alice, "y", number, path).value == {**nothing, "children": []}
        assert _read(alice, "z", number, path).value == {**nothing, "children": {}}


def test_what_is_not_there_yet_and_what_holds_nothing(alice: Vault) -> None:
    """CLAY-4, CLAY-14, CLAY-24, CLAY-53: an unknown desk is empty at revision 0; numbers above the head wait."""
    assert _read(alice, "y", 3).outcome is Outcome.NOT_YET
    for care in "xyz":
        assert _read(alice, care, 0, "a.txt").outcome is Outcome.VALUE
    assert _read(alice, "x", 0, "a.txt").value is None
    assert _read(alice, "y", 0).value["children"] == []
    nowhere = _read(alice, "v", desk="nowhere")
    assert (nowhere.outcome, nowhere.number, nowhere.value["head"]) == (Outcome.VALUE, 0, 0)


def test_a_fixed_revision_always_answers_the_same(alice: Vault) -> None:
    """CLAY-23: later work, other readers and kept answers change nothing."""
    before = {(care, n): _read(alice, care, n) for care in "vwxyz" for n in (0, 1, 2) if care != "x"}
    reader = NodeReader(alice.store)
    write(alice, "new.txt", "later\n")
    release(alice, None, "third")
    for (care, number), answer in before.items():
        assert _read(alice, care, number) == answer
        assert read_line(alice.store, alice.node.text, "main", number, Care(care), "", reader) == answer
        assert read_line(alice.store, alice.node.text, "main", number, Care(care), "", reader) == answer


def test_cases_name_numbers(alice: Vault) -> None:
    """CLAY-13..16: number, label, date, version; before all commits is 0; beyond what is known is not yet."""
    me = alice.node.text
    number = {text: case_number(alice, me, "main", parse_case(text)) for text in ("0", "1", "2", "3", "draft", "other")}
    assert number == {"0": 0, "1": 1, "2": 2, "3": None, "draft": 1, "other": None}
    assert case_number(alice, me, "main", parse_case("1971-01-01")) == 0
    assert case_number(alice, me, "main", parse_case("2200-01-01")) is None
    assert case_number(alice, me, "main", parse_case("9.9.9")) is None
    made = release(alice, None, "out")
    assert case_number(alice, me, "main", parse_case(str(made.version))) == 2
    for nth in (1, 2):
        head = revision(alice.store, me, "main", nth)
        assert head is not None
        at = Tai.parse(commit_info(alice.store, head.commit).tai)
        before = Tai(*divmod(at.total_ns - 1, 10**9))
        assert [case_number(alice, me, "main", Date("then", tai)) for tai in (before, at)] == [nth - 1, nth]
    assert NEVER == -1


def test_a_friend_reads_what_is_shared(tmp_path: Path, alice: Vault) -> None:
    """CLAY-58, CLAY-24: the same questions of a friend's line; a state between releases is not shared."""
    release(alice, None, "out")
    bob = befriend(tmp_path, alice, "bob")
    me = alice.node.text
    assert read_line(bob.store, me, "main", 2, Care.FILE, "a.txt") == _read(alice, "x", 2, "a.txt")
    assert read_line(bob.store, me, "main", 2, Care.FULL) == _read(alice, "z", 2)
    assert read_line(bob.store, me, "main", 1, Care.NUMBER) == _read(alice, "w", 1)
    assert read_line(bob.store, me, "main", 1, Care.FULL).outcome is Outcome.NOT_SHARED
    bob.close()
