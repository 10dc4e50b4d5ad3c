"""A page that lists what the one before it did: nothing of that is asked again, and whatever is lacking is noticed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from lazy.receiving.receive import Receiver
from lazy.sync import sync
from tests.vault.vaults import befriend, found, gathered, write
from vault.desks.memory import MemoryObjects
from vault.desks.page_diff import new_entries
from vault.desks.pages import Entry, TreeError, parse_page
from vault.desks.ports import Part, Source
from vault.desks.sums import content_sha512
from vault.desks.tree import build_directory, read_directory
from vault.errors import DataError
from vault.folder.work import commit
from vault.fsck.check import check
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import commit_info, line_head
from vault.store.packread import PackDamaged
from vault.store.previous_pages import PreviousPages
from vault.store.sharing import Sharing
from vault.store.sums import Sums
from vault.vault import Vault

MANY = 300
Pair = tuple[RecordHash, bytes]


def records_of(vault: Vault) -> list[Pair]:
    """Return every shared record of a vault with its bytes."""
    rows = vault.store.rows("SELECT kind, digest, stored(p, bytes) FROM body JOIN shared USING (p) ORDER BY p")
    return [(RecordHash(str(kind), bytes(digest)), bytes(stored)) for kind, digest, stored in rows]


def tree_of(vault: Vault) -> RecordHash:
    head = line_head(vault.store, vault.node.text, "main")
    assert head is not None
    return commit_info(vault.store, head.commit).tree


def entries_of_d(vault: Vault) -> dict[str, Entry]:
    """Return the entries of the directory `d` by name."""
    (below,) = [entry for entry in read_directory(vault.store, tree_of(vault)) if entry.name == "d"]
    return {entry.name: entry for entry in read_directory(vault.store, below.hash)}


def unaccounted(vault: Vault) -> set[RecordHash]:
    """Return what a shared page lists and that is neither shared nor known to be missing."""
    rows = vault.store.rows(
        "SELECT b.digest, substr(stored(b.p, b.bytes), -r.size), s.s FROM body b JOIN shared USING (p)"
        " JOIN rec r USING (p) JOIN sym s ON s.id = r.app WHERE b.kind = 'P'"
    )
    shared = {RecordHash("P", bytes(digest)) for digest, _, _ in rows}
    listed = {item.hash for _, body, app in rows if app == "lace/tree" for item in parse_page(bytes(body)).items}
    return listed - shared - {*vault.store.holes.all()}


def folder_of_many(vault: Vault) -> None:
    for number in range(MANY):
        write(vault, f"d/{number:04}.txt", f"{number}\n")


def released(folder: Path) -> tuple[Vault, RecordHash, Entry]:
    """Return a vault that released a folder of many files in one directory, its tree, and that directory in it."""
    vault = found(folder)
    folder_of_many(vault)
    release(vault)
    (below,) = read_directory(vault.store, tree_of(vault))
    return vault, tree_of(vault), below


def asked_of(vault: Vault) -> list[str]:
    """Return a list that takes what is asked of the bodies from now on."""
    asked: list[str] = []
    vault.store.db.set_trace_callback(lambda text: asked.append(text) if "FROM body" in text else None)
    return asked


def keys_in(asked: Iterable[str]) -> int:
    return sum(text.count("x'") for text in asked)


def test_of_a_large_folder_only_what_changed_is_asked_when_it_is_shared_and_summed(tmp_path: Path) -> None:
    """LAZ-1: by who releases ten new files among many, and by who receives them; earlier commits were not shared."""
    alice = found(tmp_path)
    folder_of_many(alice)
    release(alice)
    with befriend(tmp_path, alice, "bob") as bob:
        sync(alice, ["stick"])
        sync(bob, ["stick"])
        write(alice, "d/between.txt", "committed, and not released\n")
        commit(alice, "between")
        for number in range(10):
            write(alice, f"d/new-{number}.txt", f"new {number}\n")
        asked = asked_of(alice)
        release(alice)
        alice.store.db.set_trace_callback(None)
        assert keys_in(asked) < 200
        sync(alice, ["stick"])
        asked = asked_of(bob)
        sync(bob, ["stick"])
        bob.store.db.set_trace_callback(None)
        assert keys_in(asked) < 200
        assert bob.store.rows("SELECT visible FROM release") == [(1,), (1,)]
        for vault in (alice, bob):
            assert not unaccounted(vault)
            assert check(vault).ok
    alice.close()


def test_what_two_pages_list_and_is_missing_is_asked_for_until_it_comes(tmp_path: Path) -> None:
    """LAZ-63: an old file that never came and a new one; neither release shows before all of it is here."""
    alice, bob = gathered(tmp_path, "bob")
    for number in range(20):
        write(alice, f"d/{number:02}.txt", f"{number}\n")
    before = {record for record, _ in records_of(alice)}
    release(alice)
    first = [pair for pair in records_of(alice) if pair[0] not in before]
    write(alice, "d/03.txt", "another three\n")
    release(alice)
    known = {record for record, _ in first} | before
    second = [pair for pair in records_of(alice) if pair[0] not in known]
    page = entries_of_d(alice)
    old, new = page["07.txt"].hash, page["03.txt"].hash
    receiver = Receiver(bob, "stick")
    receiver.take([pair for pair in first if pair[0] != old])
    while wanted := receiver.holes.all() - {old}:
        receiver.take([pair for pair in first if pair[0] in wanted])
    receiver.take([pair for pair in second if pair[0] != new])
    assert receiver.holes.all() == {old, new}
    lacking = dict(first + second)
    for record in (new, old):
        with bob.writing() as w:
            receiver.finish(w)
        assert bob.store.rows("SELECT count(*) FROM release WHERE visible = 1") == [(1,)]
        assert not unaccounted(bob)
        receiver.take([(record, lacking[record])])
    with bob.writing() as w:
        receiver.finish(w)
    assert bob.store.rows("SELECT count(*) FROM release WHERE visible = 1") == [(3,)]
    assert check(bob).ok
    for vault in (alice, bob):
        vault.close()


@pytest.mark.parametrize("seed", range(4))
def test_whatever_comes_in_which_order_a_shared_page_lists_nothing_unnoticed(tmp_path: Path, seed: int) -> None:
    """CLO-35: of folders that change back and forth, are cut into pages, and come in parts; in the end all counts.

    Commits that are not released stand between, and the same file is in several directories.
    """
    draw = Random(seed)
    alice, bob = gathered(tmp_path, "bob")
    for _ in range(6):
        for _ in range(draw.randint(1, 30)):
            write(alice, f"{draw.choice(['a', 'b/c', 'b'])}/{draw.randrange(20)}", f"{draw.randrange(3)}\n")
        if draw.random() < 0.3:
            for number in range(draw.randint(500, 700)):
                write(alice, f"many/{number}", f"{number % 7}\n")
        for number in range(draw.randint(0, 3)):
            write(alice, f"a/between-{number}", f"{draw.randrange(3)}\n")
            commit(alice, "not released")
        write(alice, "b/last", f"{draw.randrange(2)}\n")
        if draw.random() < 0.8:
            release(alice, None, "")
        assert not unaccounted(alice)
    coming = dict(records_of(alice))
    for batch in range(40):
        receiver = Receiver(bob, "stick")  # another visit, or process: what was expected is forgotten
        for _ in range(draw.randint(1, 4)):
            likely = [*receiver.holes.all()] if batch % 3 else [*coming]
            chosen = draw.sample(likely, min(len(likely), draw.choice([1, 5, 400])))
            receiver.take([(record, coming[record]) for record in chosen])
            assert not unaccounted(bob)
        with bob.writing() as w:
            receiver.finish(w)
    receiver = Receiver(bob, "stick")
    receiver.take([pair for pair in coming.items() if pair[0].kind == "S"])
    while wanted := receiver.holes.all():
        chosen = draw.sample(sorted(wanted), draw.randint(1, len(wanted)))
        receiver.take([(record, coming[record]) for record in chosen])
        assert not unaccounted(bob)
    with bob.writing() as w:
        receiver.finish(w)
    assert {record for record, _ in records_of(bob)} == {*coming}
    for vault in (alice, bob):
        assert check(vault).ok
        vault.close()


def test_a_page_before_that_is_damaged_speaks_for_nothing(tmp_path: Path) -> None:
    """REC-5: bytes that are not the record's tell nothing of what is here; what they list is looked for."""
    alice, bob = gathered(tmp_path, "bob")
    before = tree_of(alice)
    write(alice, "b.txt", "two\n")
    release(alice)
    sync(alice, ["stick"])
    after, wrong = tree_of(alice), dict(records_of(alice))
    new = next(entry.hash for entry in read_directory(alice.store, after) if entry.name == "b.txt")
    with bob.store.transaction():
        bob.store.run("UPDATE body SET bytes = ? WHERE digest = ?", wrong[after], before.digest)
    receiver = Receiver(bob, "stick")
    receiver.take([pair for pair in wrong.items() if pair[0] != new and bob.store.position(pair[0]) is None])
    assert bob.store.position(after) is not None
    assert receiver.holes.all() == {new}
    for vault in (alice, bob):
        vault.close()


def test_a_page_that_cannot_be_read_is_not_shared_unread(tmp_path: Path) -> None:
    """REC-5: so whatever a shared page lists was looked at, and the page that follows it may go by that."""
    alice, root, below = released(tmp_path)
    shared = len(alice.store.rows("SELECT p FROM shared"))

    def share_anew() -> None:
        with alice.store.transaction():
            alice.store.run("DELETE FROM packed WHERE p = ?", alice.store.position(below.hash))
            alice.store.run("DELETE FROM shared")
            Sharing(alice.store.db).extend([root], [])

    with pytest.raises(PackDamaged, match=below.hash.text):
        share_anew()
    assert len(alice.store.rows("SELECT p FROM shared")) == shared
    alice.close()


def test_a_page_before_counts_only_while_it_is_shared(tmp_path: Path) -> None:
    """APP-13: which one came before is a hint; what was never shared, or is so no more, proves nothing."""
    alice = found(tmp_path)
    trees = []
    for name in ("a.txt", "b.txt"):
        write(alice, name, f"{name}\n")
        commit(alice, name)
        trees.append(tree_of(alice))
    before, page = trees
    a, b = (entry.hash for entry in read_directory(alice.store, page))
    body = alice.store.content(page)
    assert body is not None
    shared = "INSERT INTO shared SELECT p, 1 FROM body WHERE digest = ?"
    for statement, told in (("SELECT ?", [a, b]), (shared, [b]), ("DELETE FROM shared WHERE ? <> ''", [a, b])):
        older = PreviousPages(alice.store.db)
        older.expect([int(p) for (p,) in alice.store.rows("SELECT p FROM commits")])
        older._note(page, before)
        with alice.store.transaction():
            alice.store.run(statement, before.digest)
            assert older.listed({page: body})[page] == told
    alice.close()


def test_what_is_summed_like_a_tree_before_is_compared_where_it_differs(tmp_path: Path) -> None:
    """LAZ-1: a size or kind that is not so is refused beside entries of which it is known; one value asks for a few."""
    alice, root, below = released(tmp_path)
    entries = read_directory(alice.store, below.hash)
    first = entries[0]
    asked: list[str] = []
    for wrong in (
        [first._replace(size=first.size + 1)],
        [Entry("f", "-", len(alice.store.content(root) or b""), root, "page")],
        [first._replace(name="aaaa"), first._replace(size=first.size + 1)],
        [first._replace(name="aaaa")],
    ):
        with alice.writing() as w:
            others = [entry for entry in entries if entry.name not in {one.name for one in wrong}]
            inner, size = build_directory(alice.group, [*others, *wrong], w)
            tree, _ = build_directory(alice.group, [Entry("d", "-", size, inner, "d")], w)
            w.flush()
        asked = asked_of(alice)
        if wrong != [first._replace(name="aaaa")]:
            with pytest.raises(TreeError):
                content_sha512(alice.store, tree, Sums(alice.store.db), before=root)
            with pytest.raises(TreeError):
                content_sha512(alice.store, tree, Sums(alice.store.db))
    told = [content_sha512(alice.store, tree, Sums(alice.store.db), before=root)]
    assert keys_in(asked) < 20
    told.append(content_sha512(alice.store, tree, Sums(alice.store.db)))
    assert keys_in(asked) > MANY
    assert told[0] == told[1]
    with alice.writing() as w:  # like one of which nothing is known, as it was refused or never summed
        inner, size = build_directory(alice.group, [*others, first._replace(size=first.size + 1)], w)
        unproven, _ = build_directory(alice.group, [Entry("d", "-", size, inner, "d")], w)
        inner, size = build_directory(alice.group, [*others[1:], first._replace(size=first.size + 1)], w)
        tree, _ = build_directory(alice.group, [Entry("d", "-", size, inner, "d")], w)
        w.flush()
    with pytest.raises(TreeError):
        content_sha512(alice.store, tree, Sums(alice.store.db), before=unproven)
    alice.close()


def test_a_tree_before_that_cannot_be_read_changes_no_sum(tmp_path: Path) -> None:
    """APP-13: what is damaged there harms its own releases only."""
    alice = found(tmp_path)
    write(alice, "d/old.txt", "old\n")
    release(alice)
    before = tree_of(alice)
    write(alice, "d/new.txt", "new\n")
    commit(alice, "new")
    after = tree_of(alice)
    expected = content_sha512(alice.store, after, Sums(alice.store.db))
    (below,) = read_directory(alice.store, before)
    for damaged in (before, below.hash):
        assert content_sha512(Damaged(alice.store, damaged), after, Sums(alice.store.db), before=before) == expected
    with pytest.raises(DataError):
        content_sha512(Damaged(alice.store, after), after, Sums(alice.store.db), before=before)
    alice.close()


def test_pages_that_each_stood_before_the_other_are_looked_at_once(tmp_path: Path) -> None:
    """CLO-35: as where a folder goes back to what it was, and all of that comes at once."""
    alice = found(tmp_path)
    common, *own = (RecordHash("P", bytes([number]) * 32) for number in range(3))
    bodies = {
        page: f"lace-tree/0 0\nf - 1 {common.text} a\nf - 1 {each.text} b\n".encode()
        for page, each in zip((RecordHash("P", bytes([9]) * 32), RecordHash("P", bytes([8]) * 32)), own, strict=True)
    }
    one, other = bodies
    older = PreviousPages(alice.store.db)
    for page, before in ((one, other), (other, one)):
        older._note(page, before)
    told = older.listed(bodies)
    assert sorted([*told[one], *told[other]]) == sorted([common, *own])
    assert older.listed(bodies) == {one: [common, own[0]], other: [common, own[1]]}
    alice.close()


class Damaged(MemoryObjects):
    """A store of which one page cannot be read."""

    def __init__(self, source: Source, damaged: RecordHash) -> None:
        super().__init__(source)
        self._damaged = damaged

    def part(self, record: RecordHash, /) -> Part | None:
        if record == self._damaged:
            raise DataError("it is damaged")
        return super().part(record)


def test_what_a_page_lists_anew_is_what_two_readings_of_it_tell() -> None:
    """CLAY-28: names that moved, kinds that changed, directories cut into pages, and one that grew into several."""
    draw = Random(7)
    objects = MemoryObjects()
    known: list[tuple[Entry, ...]] = []
    roots: list[RecordHash] = []
    for size in (0, 1, 3, 500, 512, 513, 2_000, 2_000, 2_001, 40):
        entries: dict[str, Entry] = {entry.name: entry for entry in draw.choice(known or [()])}
        while len(entries) > size:
            del entries[draw.choice(sorted(entries))]
        while len(entries) < size or draw.random() < 0.9:
            kind = draw.choice("ffffd")
            name = str(draw.randrange(4_000))
            if size and (name in entries or len(entries) < size):
                entries[name] = Entry(kind, "-", draw.randrange(3), RecordHash("P", draw.randbytes(32)), name)
            elif not size:
                break
        root, _ = build_directory("friends/0123456789abcdef", entries.values(), objects)
        for before, old in zip(known, roots, strict=True):
            was = {entry.name: entry for entry in before}
            anew = new_entries(objects, root, old)
            assert anew is not None
            differing = {name: entry for name, entry in entries.items() if was.get(name) != entry}
            assert differing.keys() <= anew.keys() <= entries.keys()
            for name in differing:
                if entries[name].is_dir and name in was and was[name].is_dir and anew[name] is not None:
                    assert anew[name] == was[name].hash
        known.append(tuple(entries[name] for name in sorted(entries)))
        roots.append(root)
    assert new_entries(objects, roots[-1], RecordHash("P", bytes(32))) is None
