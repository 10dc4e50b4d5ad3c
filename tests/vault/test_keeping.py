"""Old releases let go of big files by a rule of the desk, say so, and get them back from a friend (CLAY-79)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.belonging.revoking import plan_revocation, revoke
from lazy.folder.update import update
from lazy.live.shelves import VaultShelf, own_shelf
from lazy.places.adding import add_place
from lazy.places.known import remove_place
from lazy.sync import sync
from tests.vault.vaults import befriend, derived, found, write
from vault.content.keeping import BadKeep, Keep, LetGo, explained, fetch, give_up, keeps, set_keep
from vault.content.prune import plan_prune, prune
from vault.desks.chunks import MissingObject, check_here, entry_pieces
from vault.desks.paths import BadPath
from vault.desks.tree import lookup
from vault.errors import Cancelled
from vault.folder.work import checkout_of
from vault.fsck.check import check, repair
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import release
from vault.revisions.history import releases
from vault.revisions.reads import Care, Outcome, read_line
from vault.vault import Vault
from vault.watch import Watch


def film(number: int) -> bytes:
    """A large file of which each version is wholly new, but for its beginning."""
    return random.Random(0).randbytes(100_000) + random.Random(number).randbytes(300_000)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Vault, Vault]]:
    """Alice with five releases of two films and a text, and bob, who has them all."""
    alice = found(tmp_path)
    write(alice, "a.txt", "begin\n")
    release(alice)
    bob = befriend(tmp_path, alice, "bob")
    (alice.folder / "films").mkdir()
    for number in range(1, 5):
        (alice.folder / "films/small.bin").write_bytes(b"%d" % number * 600)
        (alice.folder / "films/large.bin").write_bytes(film(number))
        (alice.folder / "other.bin").write_bytes(film(number))
        write(alice, "a.txt", f"text {number}\n")
        release(alice)
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    update(bob)
    yield alice, bob
    for vault in (alice, bob):
        vault.close()


def content(vault: Vault, version: str, path: str) -> bytes:
    entry = lookup(vault.store, resolve(vault, f"alice/main@{version}").tree, path)
    assert entry is not None
    check_here(vault.store, entry)
    return b"".join(entry_pieces(vault.store, entry))


def gone(vault: Vault, version: str, path: str) -> bool:
    """Tell whether a file was let go; what is merely not here is an error."""
    try:
        content(vault, version, path)
    except MissingObject as error:
        shown = explained(vault.store, error)
        if not isinstance(shown, LetGo):
            raise
        return True
    return False


def visible(vault: Vault) -> list[str]:
    return [str(each.version) for each in releases(vault.store, "main")]


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


def test_what_was_let_go_comes_back_from_a_friend(pair: tuple[Vault, Vault], tmp_path: Path) -> None:
    """CLAY-79: only what is asked for; a sync without asking brings nothing back; the stick need not be new."""
    alice, bob = pair
    for vault in pair:
        set_keep(vault, "main", Keep("", 1))
    assert prune(bob).files == 10  # of 1.0.0 to 1.0.3: four texts, three small films, three large ones
    for vault in (bob, alice, bob):
        (result,) = sync(vault, ["stick"])
        assert not result.problems
    assert gone(bob, "1.0.2", "films/large.bin")
    old = resolve(bob, "alice/main@1.0.2")
    assert fetch(bob, old.tree, "films/large.bin") == ["films/large.bin"]
    assert fetch(bob, old.tree, "nothing/there") == []
    assert check(bob).bad == ()
    (result,) = sync(bob, ["stick"])
    assert not result.problems
    assert content(bob, "1.0.2", "films/large.bin") == film(2)
    assert gone(bob, "1.0.2", "films/small.bin")
    assert sorted(fetch(bob, old.tree, "")) == ["a.txt", "films/small.bin"]
    sync(bob, ["stick"])
    assert content(bob, "1.0.2", "a.txt") == b"text 2\n"
    assert check(bob).bad == ()
    assert bob.store.rows("SELECT 1 FROM hole") == []
    write(bob, "mine.txt", "bob's\n")
    assert release(bob).files == 5
    for vault in (bob, alice):
        sync(vault, ["stick"])
    assert update(alice).conflicts == ()


def test_what_nobody_has_any_more_is_asked_for_no_longer(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: a fetch that nobody can fulfil is taken back; what has begun to come is named, and a prune takes it."""
    _, bob = pair
    for path in ("films", "other.bin"):
        set_keep(bob, "main", Keep(path, 1))
    assert prune(bob).files == 6
    old = resolve(bob, "alice/main@1.0.2").tree
    assert give_up(bob, old, "") == ([], [])
    assert sorted(fetch(bob, old, "")) == ["films/large.bin", "films/small.bin", "other.bin"]
    assert bob.store.rows("SELECT 1 FROM hole")
    assert give_up(bob, old, "films/small.bin") == (["films/small.bin"], [])
    assert give_up(bob, old, "nothing/there") == ([], [])
    assert give_up(bob, old, "films") == (["films/large.bin"], [])
    assert give_up(bob, old, "other.bin") == ([], []), "the same content"
    assert bob.store.rows("SELECT 1 FROM hole") == []
    state = derived(bob)
    assert repair(bob).ok
    assert derived(bob) == state
    (result,) = sync(bob, ["stick"])
    assert len(result.received) == 0
    assert gone(bob, "1.0.2", "films/small.bin")
    assert check(bob).bad == ()
    begin_to_fetch(bob, "1.0.2")
    assert give_up(bob, old, "films") == ([], ["films/large.bin"])
    sync(bob, ["stick"])
    assert content(bob, "1.0.2", "films/large.bin") == film(2)


def test_what_is_here_again_by_another_way_is_not_asked_for(pair: tuple[Vault, Vault]) -> None:
    """The same bytes came back in a file of its own; a fetch of the old path changes nothing."""
    _, bob = pair
    for vault in pair:
        set_keep(vault, "main", Keep("films", 1))
    assert prune(bob).files
    sync(bob, ["stick"])
    old = resolve(bob, "alice/main@1.0.2")
    assert gone(bob, "1.0.2", "films/small.bin")
    (bob.folder / "again.bin").write_bytes(b"%d" % 2 * 600)
    release(bob)
    assert not gone(bob, "1.0.2", "films/small.bin")
    assert fetch(bob, old.tree, "films/small.bin") == []
    assert check(bob).bad == ()


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
    assert plan_prune(bob).files == 2
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
    assert plan_prune(alice).files == 4
    revoke(alice, plan_revocation(alice, "bob"), "his device is gone")
    assert plan_prune(alice).files == 0
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
    assert update(alice).conflicts == ()
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


def top_of(vault: Vault, version: str) -> RecordHash:
    """Return the record of the large film of a release, which names its parts."""
    entry = lookup(vault.store, resolve(vault, f"alice/main@{version}").tree, "films/large.bin")
    assert entry is not None
    return entry.hash


def begin_to_fetch(vault: Vault, version: str) -> None:
    """Ask for a large film that was let go, and stop the sync that brings it before all of it is here."""
    top = top_of(vault, version)
    assert fetch(vault, resolve(vault, f"alice/main@{version}").tree, "films/large.bin") == ["films/large.bin"]

    def cancelled() -> None:
        if vault.store.position(top) is not None:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        sync(vault, ["stick"], watch=Watch(cancelled=cancelled))
    assert vault.store.position(top) is not None
    with pytest.raises(MissingObject):
        content(vault, version, "films/large.bin")


def test_what_came_back_in_part_is_let_go_again_or_fetched_to_its_end(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79, APP-13: a fetch was stopped; another one goes on with it, and a prune takes it back."""
    _, bob = pair
    for path in ("films", "other.bin"):
        set_keep(bob, "main", Keep(path, 1))
    assert prune(bob).files == 6
    begin_to_fetch(bob, "1.0.2")
    sync(bob, ["stick"], pull=False)  # what did come lies on the place now
    assert prune(bob).files == 1
    assert gone(bob, "1.0.2", "films/large.bin")
    assert bob.store.rows("SELECT 1 FROM hole") == []
    assert check(bob).bad == ()
    begin_to_fetch(bob, "1.0.2")
    assert fetch(bob, resolve(bob, "alice/main@1.0.2").tree, "other.bin") == ["other.bin"]  # the same content
    sync(bob, ["stick"])
    assert content(bob, "1.0.2", "films/large.bin") == film(2)
    assert bob.store.rows("SELECT wanted FROM tomb WHERE wanted > 0") == []
    assert check(bob).bad == ()


def test_a_new_release_that_holds_what_is_being_fetched_is_shown_once_all_of_it_is_here(
    pair: tuple[Vault, Vault],
) -> None:
    """CLAY-79: asked for, it is missing like anything else; what was shown before stays."""
    alice, bob = pair
    for path in ("films", "other.bin"):
        set_keep(alice, "main", Keep(path, 1))
    assert prune(alice).files == 6
    before = visible(alice)
    (bob.folder / "films/large.bin").write_bytes(film(2))
    release(bob, Version(2, 0, 0))
    sync(bob, ["stick"])
    begin_to_fetch(alice, "1.0.2")
    sync(alice, ["stick"], pull=False)  # judges what the stopped one left
    assert visible(alice) == before
    assert update(alice).conflicts == ()
    assert check(alice).bad == ()
    sync(alice, ["stick"])
    assert visible(alice) == [*before, "2.0.0"]
    update(alice)
    assert (alice.folder / "films/large.bin").read_bytes() == film(2)


def test_what_an_earlier_version_asked_for_stays_shown(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79: it kept that it asked, and not when."""
    _, bob = pair
    for path in ("films", "other.bin"):
        set_keep(bob, "main", Keep(path, 1))
    assert prune(bob).files == 6
    before = visible(bob)
    begin_to_fetch(bob, "1.0.2")
    with bob.store.transaction():
        bob.store.run("UPDATE tomb SET wanted = 1 WHERE wanted > 0")
    assert repair(bob).ok
    assert visible(bob) == before
    sync(bob, ["stick"])
    assert content(bob, "1.0.2", "films/large.bin") == film(2)


def test_a_part_of_a_new_file_is_fetched_though_a_file_of_its_bytes_was_let_go(pair: tuple[Vault, Vault]) -> None:
    """CLAY-79, CLAY-35: a large file of zeros has one of 256 KiB as a part; nobody lied, and nothing is missing."""
    alice, bob = pair
    (alice.folder / "zeros").write_bytes(bytes(256 << 10))
    release(alice)
    (alice.folder / "zeros").write_bytes(b"one\n")
    release(alice)
    for vault in (alice, bob, alice):
        sync(vault, ["stick"])
    update(bob)
    set_keep(alice, "main", Keep("zeros", 1))
    assert prune(alice).files == 1
    (bob.folder / "large").write_bytes(bytes(1 << 20))
    release(bob, Version(2, 0, 0))
    sync(bob, ["stick"])
    (result,) = sync(alice, ["stick"])
    assert result.rejected == []
    update(alice)
    assert (alice.folder / "large").read_bytes() == bytes(1 << 20)
    assert check(alice).bad == ()
