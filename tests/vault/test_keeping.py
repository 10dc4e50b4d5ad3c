"""Old releases let go of big files by a rule of the desk, say so, and get them back from a friend (CLAY-79)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.belonging.revoking import plan_revocation, revoke
from lazy.folder.update import update
from lazy.live.shelves import VaultShelf, own_shelf
from lazy.places.adding import add_place
from lazy.places.registry import remove_place
from lazy.sync import sync
from tests.shelf import Shelf
from tests.vault.films import content, film, films, gone, prune_copied, visible
from tests.vault.vaults import befriend, derived, found, write
from vault.content.keeping import BadKeep, Keep, LetGo, fetch, keeps, set_keep
from vault.content.prune import plan_prune, prune
from vault.desks.paths import BadPath
from vault.folder.checked_out import checkout_of
from vault.fsck.check import check
from vault.fsck.repair import repair
from vault.names import Version
from vault.releasing import release
from vault.revisions.reads import Care, Outcome, read_line
from vault.vault import Vault


@pytest.fixture
def pair(shelf: Shelf) -> tuple[Vault, Vault]:
    return shelf.lay(films)


def test_only_what_the_rules_say_goes_and_it_says_so(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: by path; other files, newer releases and what stands elsewhere too stay; the release stays proven.

    CLO-50: what went is answered as let go, and not as never here.
    """
    alice, _ = pair
    assert plan_prune(alice).files == 0  # without a rule everything is kept
    set_keep(alice, "main", Keep("films", 2))
    before = visible(alice)
    plan = plan_prune(alice)
    assert plan.files == 2  # the small films of 1.0.1 and 1.0.2: the large ones stand as other.bin too
    set_keep(alice, "main", Keep("other.bin", 2))
    assert plan_prune(alice).files == 4
    assert plan_prune(alice).commits == ()
    done = prune(alice)
    assert (done.files, done.records) == (4, plan_before(done.records))
    assert done.freed > 500_000
    assert [gone(alice, f"1.0.{n}", "films/large.bin") for n in range(1, 5)] == [True, True, False, False]
    assert [gone(alice, f"1.0.{n}", "films/small.bin") for n in range(1, 5)] == [True, True, False, False]
    assert [content(alice, f"1.0.{n}", "a.txt") for n in range(1, 5)] == [b"text %d\n" % n for n in range(1, 5)]
    assert content(alice, "1.0.3", "other.bin") == film(3)
    assert visible(alice) == before
    me = alice.node.text
    told = read_line(alice.store, me, "main", 2, Care.FILE, "films/large.bin")
    assert (told.outcome, told.value["size"]) == (Outcome.PRUNED, 400_000)
    assert read_line(alice.store, me, "main", 2, Care.FULL).outcome is Outcome.VALUE
    assert check(alice).bad == ()
    assert prune(alice).files == 0
    state = derived(alice)
    assert repair(alice).ok
    assert derived(alice) == state


def plan_before(records: int) -> int:
    """Chunks are counted as records; how many there are is the cutting's business."""
    assert records > 8
    return records


def test_the_only_copy_is_never_let_go(tmp_path: Path) -> None:
    """CLAY-79: nobody but alice has her releases, until a friend's vector says otherwise."""
    alice = found(tmp_path)
    set_keep(alice, "main", Keep("", 1))
    for number in range(3):
        write(alice, "a.txt", f"{number}\n")
        release(alice)
    assert plan_prune(alice).files == 0
    bob = befriend(tmp_path, alice, "bob")
    sync(alice, ["stick"])
    assert plan_prune(alice).files == 2
    with alice.store.transaction():
        alice.store.run("UPDATE commits SET desk = 'other'")
    assert repair(alice).repaired
    assert plan_prune(alice).files == 0  # what is shared has other numbers now than it had when I laid it there
    sync(alice, ["stick"])
    assert plan_prune(alice).files == 2
    sync(bob, ["stick"])
    set_keep(bob, "main", Keep("", 1))
    assert plan_prune(bob).files == 0  # what my line does not contain is not old
    update(bob)
    assert prune_copied(bob).files == 2
    alice.close()
    bob.close()


def test_what_lies_on_no_place_stays_whole_beside_what_goes(tmp_path: Path) -> None:
    """CLAY-79: two old contents have much in common, and only one of them lies where I can fetch it again."""
    alice = found(tmp_path)
    write(alice, "a.txt", "begin\n")
    release(alice)
    bob = befriend(tmp_path, alice, "bob")
    for vault in (alice, bob):
        add_place(vault, "usb", str(tmp_path / "usb"), cwd=tmp_path)
    texts = [film(8) + film(9), film(8) + film(7), b"quite another"]
    for number, text in enumerate(texts, 1):
        (alice.folder / "film.bin").write_bytes(text)
        release(alice)
        for vault in (alice, bob, alice):
            sync(vault, ["stick"] if number == 1 else ["usb"])
    remove_place(alice, "usb")
    set_keep(alice, "main", Keep("film.bin", 1))
    plan = plan_prune(alice)
    assert (plan.files, plan.unproven) == (1, 1)
    assert prune(alice).files == 1
    assert gone(alice, "1.0.1", "film.bin")
    assert content(alice, "1.0.2", "film.bin") == texts[1]
    assert check(alice).bad == ()
    for vault in (alice, bob):
        vault.close()


def test_what_only_somebody_revoked_had_is_kept(tmp_path: Path) -> None:
    """CLAY-79: whoever lost their device, or left in anger, brings nothing back: neither of mine nor of their own."""
    alice = found(tmp_path)
    for number in range(3):
        write(alice, "a.txt", f"{number}\n")
        release(alice)
    bob = befriend(tmp_path, alice, "bob")
    update(bob)
    for number in range(3):
        write(bob, "b.txt", f"bob's {number}\n")
        release(bob)
    for vault in (bob, alice):
        sync(vault, ["stick"])
    update(alice)
    set_keep(alice, "main", Keep("", 1))
    plan = plan_prune(alice)
    assert (plan.files, plan.unproven) == (2, 2)  # his lie in bundles of his alone
    revoke(alice, plan_revocation(alice, "bob"), "his device is gone")
    plan = plan_prune(alice)
    assert (plan.files, plan.unproven) == (0, 0)
    alice.close()
    bob.close()


def test_the_last_release_of_who_was_revoked_keeps_nothing_for_good(tmp_path: Path) -> None:
    """CLAY-79: no newer one of theirs ever comes, so what it held would have stayed with everybody for ever."""
    alice = found(tmp_path)
    write(alice, "a.txt", "1\n")
    release(alice)
    bob, cara = (befriend(tmp_path, alice, name) for name in ("bob", "cara"))
    for vault in (bob, cara):
        update(vault)
    (alice.folder / "film.bin").write_bytes(film(1))
    release(alice)
    sync(alice, ["stick"])
    sync(cara, ["stick"])
    update(cara)
    write(cara, "c.txt", "cara's\n")
    release(cara)
    for vault in (cara, alice, bob):
        sync(vault, ["stick"])
    update(alice)
    (alice.folder / "film.bin").unlink()
    release(alice)
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    set_keep(alice, "main", Keep("film.bin", 1))
    assert plan_prune(alice).files == 0
    revoke(alice, plan_revocation(alice, "cara"), "her laptop is gone")
    assert plan_prune(alice).files == 1
    for vault in (alice, bob, cara):
        vault.close()


def test_rules_are_kept_and_taken_back(tmp_path: Path) -> None:
    alice = found(tmp_path)
    set_keep(alice, "main", Keep("films", 3))
    set_keep(alice, "main", Keep("films/best", None))
    set_keep(alice, "main", Keep("films", 2))
    assert keeps(alice.store, "main") == (Keep("films", 2), Keep("films/best", None))
    set_keep(alice, "main", Keep("films", None))
    set_keep(alice, "main", Keep("films/best", None))
    assert keeps(alice.store, "main") == ()
    with pytest.raises(BadKeep):
        Keep("films", 0)
    with pytest.raises(BadPath):
        Keep("../films", 1)
    assert checkout_of(alice) is None
    alice.close()


def test_what_was_let_go_is_told_to_nobody(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79, INT-104: the kept summaries of what I share do not speak of what went, or no answer of mine is true."""
    alice, _ = pair
    before = own_shelf(alice, may_write=True)
    assert before is not None
    first = before.state()
    for rule in (Keep("films", 2), Keep("other.bin", 2)):
        set_keep(alice, "main", rule)
    assert prune(alice).files == 4
    for _ in range(2):  # made anew, then read from what was kept
        after = own_shelf(alice, may_write=True)
        assert after is not None
        assert after.state() == VaultShelf(alice, alice.node.text, after.top).state() != first


def test_who_builds_on_what_was_let_go_can_still_be_merged(tmp_path: Path) -> None:
    """CLAY-79, CLAY-76: a friend's work on an old release arrives after the prune; the way out is named, and works."""
    alice = found(tmp_path)
    text = "".join(f"line {number}\n" for number in range(9))
    write(alice, "a.txt", text)
    release(alice)
    bob = befriend(tmp_path, alice, "bob")
    update(bob)
    for vault in (bob, alice):
        sync(vault, ["stick"])
    write(bob, "a.txt", text.replace("line 1\n", "bob's\n"))
    release(bob, Version(9, 0, 0))
    write(alice, "a.txt", text.replace("line 7\n", "alice's\n"))
    release(alice)
    set_keep(alice, "main", Keep("", 1))
    assert prune(alice).files == 1
    for vault in (bob, alice):
        sync(vault, ["stick"])
    for is_dry in (True, False):
        with pytest.raises(LetGo) as told:
            update(alice, dry_run=is_dry)
        assert "lace fetch alice/main@1.0.0 " in told.value.hint
    assert fetch(alice, resolve(alice, "alice/main@1.0.0").tree, "") == ["a.txt"]
    sync(alice, ["stick"])
    assert update(alice).conflict is None
    merged = text.replace("line 1\n", "bob's\n").replace("line 7\n", "alice's\n")
    assert (alice.folder / "a.txt").read_text() == merged
    alice.close()
    bob.close()


@pytest.mark.parametrize("has_own_work", [False, True])
def test_who_goes_back_to_what_was_let_go_is_followed_once_it_is_here(tmp_path: Path, has_own_work: bool) -> None:
    """CLAY-79: a friend's new release holds old content; the release to ask for is named, and then it is taken in."""
    alice = found(tmp_path)
    for number in range(3):
        write(alice, "a.txt", f"text {number}\n")
        release(alice)
    bob = befriend(tmp_path, alice, "bob")
    update(bob)
    for vault in (bob, alice):
        sync(vault, ["stick"])
    set_keep(alice, "main", Keep("", 1))
    assert prune(alice).files == 2
    write(bob, "a.txt", "text 0\n")
    write(bob, "b.txt", "new\n")
    release(bob, Version(2, 0, 0))
    if has_own_work:
        write(alice, "c.txt", "mine\n")
        release(alice)
    for vault in (bob, alice):
        sync(vault, ["stick"])
    with pytest.raises(LetGo) as told:
        update(alice)
    assert "lace fetch bob/main@2.0.0 " in told.value.hint
    assert (alice.folder / "a.txt").read_text() == "text 2\n"
    assert fetch(alice, resolve(alice, "bob/main@2.0.0").tree, "") == ["a.txt"]
    sync(alice, ["stick"])
    update(alice)
    assert ((alice.folder / "a.txt").read_text(), (alice.folder / "b.txt").read_text()) == ("text 0\n", "new\n")
    alice.close()
    bob.close()


def test_content_that_lies_on_no_place_stays(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: a friend's vector is no proof: who fetched only a part confirms the whole log."""
    alice, _ = pair
    set_keep(alice, "main", Keep("", 2))
    planned = plan_prune(alice)
    assert (planned.files > 4, planned.unproven) == (True, 0)
    with alice.store.transaction():
        last = alice.store.rows("SELECT at FROM published")[0][0]
        alice.store.run("UPDATE published SET at = 9")
    some = plan_prune(alice)
    assert (some.files, some.unproven) != (planned.files, 0)
    with alice.store.transaction():
        alice.store.run("UPDATE published SET at = ?", last)
        alice.store.run("DELETE FROM place")
    kept = plan_prune(alice)
    assert (kept.files, kept.unproven) == (0, planned.files)
    assert (prune(alice).files, check(alice).bad) == (0, ())
    assert content(alice, "1.0.1", "films/large.bin") == film(1)


def test_what_lies_on_a_removed_copy_of_a_place_lies_not_on_the_place(
    pair: tuple[Vault, Vault], tmp_path: Path
) -> None:
    """CLAY-79, CYB-18: of two copies, each has what was put there."""
    alice, bob = pair
    shutil.copytree(tmp_path / "stick", tmp_path / "two")
    for number in (5, 6):
        (alice.folder / "films/small.bin").write_bytes(b"%d" % number * 600)
        release(alice)
    for vault in (alice, bob):
        add_place(vault, "two", str(tmp_path / "two"), cwd=tmp_path)
    for vault in (alice, bob, alice):
        sync(vault, ["two"])
    set_keep(alice, "main", Keep("films", 1))
    planned = plan_prune(alice)
    assert (planned.files, planned.unproven) == (5, 0)
    remove_place(alice, "two")
    assert (plan_prune(alice).files, plan_prune(alice).unproven) == (4, 1)
    sync(alice, ["stick"])
    assert plan_prune(alice).unproven == 0


def test_content_shared_with_what_stays_is_whole(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: chunks that a content which stays has in common with one that goes stay too, at every mark."""
    alice, _ = pair
    set_keep(alice, "main", Keep("", 1))
    marks = [int(row[0]) for row in alice.store.rows("SELECT at FROM exposure ORDER BY at")]
    with alice.store.transaction():
        alice.store.run("UPDATE published SET at = ?", marks[len(marks) // 2])
    done = prune(alice)
    assert done.files > 0
    assert done.unproven > 0
    assert check(alice).bad == ()
    for number in range(1, 5):
        for path in ("films/small.bin", "films/large.bin", "other.bin"):
            gone(alice, f"1.0.{number}", path)  # there whole, or let go; what is merely missing is an error
