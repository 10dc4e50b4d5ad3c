"""Letting go of old content: only what nothing needs goes, and everything that stays is whole (cost of keeping)."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from lazy.address import Pruned, resolve
from lazy.folder.desk_merge import merge_desk
from lazy.folder.undo import undo
from lazy.folder.update import update
from lazy.sync import sync
from lazy.visits import listing_parts
from tests.vault.vaults import befriend, found, write
from vault.content.keeping import Keep, set_keep
from vault.content.prune import plan_prune, prune
from vault.desk_folders import add_desk, folder_of
from vault.desks.chunks import pieces_of
from vault.desks.strategies import Strategy
from vault.desks.tree import lookup
from vault.errors import Cancelled, DataError
from vault.files import NotWritable
from vault.folder.copies import export_tree
from vault.folder.work import commit
from vault.fsck.check import check
from vault.fsck.repair import repair
from vault.names import Version
from vault.records import Plex, parse_record
from vault.releasing import release
from vault.revisions.reads import Care, Outcome, read_line
from vault.space import NoRoom, require_room
from vault.store.packio import PackIO
from vault.vault import Vault
from vault.watch import Watch


def blob(seed: int, size: int = 400_000) -> bytes:
    return random.Random(seed).randbytes(size)


def drafts(vault: Vault, count: int, *, base: bytes = b"") -> None:
    """Commit so many versions of two files: one all new each time, one that changes a little."""
    base = base or blob(0)
    for number in range(count):
        (vault.folder / "new.bin").write_bytes(blob(number + 1))
        (vault.folder / "grows.bin").write_bytes(base[: 1000 * number] + b"%d" % number + base[1000 * number :])
        write(vault, "small.txt", f"draft {number}\n")
        assert commit(vault, f"draft {number}")


def text_of(vault: Vault, address: str, path: str) -> bytes:
    entry = lookup(vault.store, resolve(vault, address).tree, path)
    assert entry is not None
    return b"".join(pieces_of(vault.store.part, entry.hash) or ())


def pack_bytes(vault: Vault) -> int:
    return sum(path.stat().st_size for path in (vault.dot / "packs").iterdir())


def whole(vault: Vault) -> None:
    report = check(vault)
    assert report.ok, report.bad


def test_old_drafts_go_and_what_is_released_or_newest_stays(tmp_path: Path) -> None:
    """CLAY-13: the lineage stays; a revision whose content went answers clearly; packs shrink on the disk."""
    with found(tmp_path) as vault:
        drafts(vault, 2)
        release(vault, Version.parse("1.0.0"), "first")
        drafts(vault, 4, base=blob(77))
        newest = (vault.folder / "grows.bin").read_bytes()
        before = pack_bytes(vault)
        commits = vault.store.rows("SELECT hash FROM commits ORDER BY hash")
        plan = plan_prune(vault)
        assert pack_bytes(vault) == before  # a plan changes nothing
        done = prune(vault)
        assert [(c.desk, c.number) for c in done.commits] == [("main", 1), ("main", 3), ("main", 4), ("main", 5)]
        assert (done.commits, done.records) == (plan.commits, plan.records)
        assert done.freed > 2 * 400_000  # two whole files that only drafts had
        assert before - pack_bytes(vault) >= done.freed * 0.95
        assert vault.store.rows("SELECT hash FROM commits ORDER BY hash") == commits
        whole(vault)
        assert text_of(vault, "main@6", "grows.bin") == newest
        assert text_of(vault, "main@1.0.0", "small.txt") == b"draft 1\n"
        with pytest.raises(Pruned, match="main@4"):
            resolve(vault, "main@4")
        found_there = read_line(vault.store, vault.node.text, "main", 4, Care.FILE, "small.txt")
        assert (found_there.outcome, found_there.number) == (Outcome.PRUNED, 4)
        again = prune(vault)
        assert (again.commits, again.records, again.freed) == ((), 0, 0)
        assert [str(r[0]) for r in vault.store.rows("SELECT verb FROM audit WHERE verb = 'lace-prune'")] == [
            "lace-prune"
        ]


def test_the_newest_so_many_revisions_keep_their_content(tmp_path: Path) -> None:
    with found(tmp_path) as vault:
        drafts(vault, 5)
        assert [c.number for c in plan_prune(vault, keep=3).commits] == [1, 2]
        with pytest.raises(ValueError, match="newest"):
            plan_prune(vault, keep=0)
        prune(vault, keep=3)
        assert text_of(vault, "main@3", "small.txt") == b"draft 2\n"
        whole(vault)


def test_what_a_later_revision_has_again_is_not_said_to_go(tmp_path: Path) -> None:
    """CLAY-13: it was listed again at every run, the store built anew for nothing, and an audit entry signed."""
    with found(tmp_path) as vault:
        write(vault, "a.txt", "one\n")
        assert commit(vault, "one file")
        (vault.folder / "big.bin").write_bytes(blob(1))
        assert commit(vault, "and a large one")
        (vault.folder / "big.bin").unlink()
        assert commit(vault, "without it again")
        assert [each.number for each in plan_prune(vault).commits] == [2]
        assert [each.number for each in prune(vault).commits] == [2]
        assert text_of(vault, "main@1", "a.txt") == b"one\n"
        entries = vault.store.rows("SELECT seq FROM audit")
        assert (plan_prune(vault).commits, prune(vault).commits) == ((), ())
        assert vault.store.rows("SELECT seq FROM audit") == entries
        whole(vault)


def test_what_nothing_here_reaches_goes(tmp_path: Path) -> None:
    """CLAY-13, APP-4: what a commit held that was taken back was in no revision, and stayed for ever."""
    with found(tmp_path) as vault:
        add_desk(vault, "other", "desks/other")
        (vault.folder / "both.bin").write_bytes(blob(1))
        assert commit(vault, "first")
        (folder_of(vault, "other") / "both.bin").write_bytes(blob(1))
        (folder_of(vault, "other") / "sub").mkdir()
        (folder_of(vault, "other") / "sub" / "theirs.bin").write_bytes(blob(2))
        assert commit(vault, "of another desk", desk="other")
        for name, seed in (("film.bin", 3), ("again.bin", 2)):
            (vault.folder / name).write_bytes(blob(seed))
        write(vault, "kept.txt", "work\n")
        assert commit(vault, "by mistake")
        assert plan_prune(vault).unreached == 0, "a revision has it"
        undo(vault)
        (vault.folder / "film.bin").unlink()
        plan, before = plan_prune(vault), pack_bytes(vault)
        assert (plan.commits, plan.unreached) == ((), plan.records)
        done = prune(vault)
        assert (done.commits, done.unreached) == ((), plan.unreached)
        assert 400_000 <= done.freed <= before - pack_bytes(vault) + 1000
        assert text_of(vault, "main", "both.bin") == blob(1)
        assert text_of(vault, "other", "sub/theirs.bin") == blob(2)
        whole(vault)
        entries = vault.store.rows("SELECT seq FROM audit")
        assert prune(vault).unreached == 0
        assert vault.store.rows("SELECT seq FROM audit") == entries
        assert commit(vault, "what the folder has still")
        assert text_of(vault, "main@2", "kept.txt") == b"work\n"
        assert text_of(vault, "main@2", "again.bin") == blob(2)
        whole(vault)


def test_lists_alone_go_with_the_next_content_that_goes(tmp_path: Path) -> None:
    """CLAY-13, APP-4: a few bytes of names are worth neither a question nor a store that is built anew."""
    with found(tmp_path) as vault:
        write(vault, "a.txt", "one\n")
        assert commit(vault, "first")
        for name in ("b.txt", "c.txt"):
            (vault.folder / "a.txt").rename(vault.folder / name)
            assert commit(vault, "renamed by mistake")
            undo(vault)
            (vault.folder / name).rename(vault.folder / "a.txt")
        for done in (plan_prune(vault), prune(vault)):
            assert (done.lets_go, done.unreached, done.records) == (False, 0, 0)
        assert not vault.store.rows("SELECT seq FROM audit WHERE verb = 'lace-prune'")
        write(vault, "film.txt", "film\n")
        assert commit(vault, "by mistake")
        undo(vault)
        (vault.folder / "film.txt").unlink()
        assert prune(vault).unreached == 3, "the film, and the lists with it but the last: its names are asked for"
        assert text_of(vault, "main", "a.txt") == b"one\n"
        whole(vault)


def test_what_a_lost_list_may_name_is_not_taken_for_unreached(tmp_path: Path) -> None:
    """APP-13: a backup may have the list; without the content it would be of no use."""
    with found(tmp_path) as vault:
        (vault.folder / "sub").mkdir()
        (vault.folder / "sub" / "big.bin").write_bytes(blob(1))
        assert commit(vault, "first")
        page = lookup(vault.store, resolve(vault, "main").tree, "sub")
        assert page is not None
        stored, position = vault.store.stored(page.hash), vault.store.position(page.hash)
        assert stored is not None
        assert position is not None
        with vault.store.transaction():
            vault.store.forget(position)
            vault.store.rebuild(vault.node.text, vault.founding)
        assert plan_prune(vault).unreached == 0
        prune(vault)
        record = parse_record(stored)
        assert isinstance(record, Plex)
        with vault.writing() as w:
            w.add(record)
        assert text_of(vault, "main", "sub/big.bin") == blob(1)
        whole(vault)


def test_sizes_say_what_a_desk_and_each_kind_take(tmp_path: Path) -> None:
    with found(tmp_path) as vault:
        (vault.folder / "one.bin").write_bytes(b"x" * 1000)
        commit(vault, "one")
        plan = plan_prune(vault)
        (desk,) = plan.desks
        assert (desk.desk, desk.commits) == ("main", 1)
        kinds = {kind.kind: (kind.records, kind.bytes) for kind in plan.kinds}
        assert kinds["lace/data"] == (1, 1000)
        assert desk.bytes == kinds["lace/data"][1] + kinds["lace/tree"][1]


def test_work_goes_on_after_a_prune_with_friends(tmp_path: Path) -> None:
    """What a friend's line or a merge needs is kept: both go on, merge, and everybody's vault is whole."""
    with found(tmp_path) as alice:
        write(alice, "song.txt", "".join(f"line {n}\n" for n in range(30)))
        release(alice, Version.parse("1.0.0"), "first")
        with befriend(tmp_path, alice, "bob") as bob:
            update(bob)
            drafts(bob, 3)
            lines = (bob.folder / "song.txt").read_text().replace("line 25\n", "line 25 of bob\n")
            write(bob, "song.txt", lines)
            commit(bob, "bob's line")
            write(alice, "song.txt", (alice.folder / "song.txt").read_text().replace("line 2\n", "line 2 of alice\n"))
            release(alice, Version.parse("2.0.0"), "second")
            assert prune(bob).commits
            for vault in (alice, bob):
                sync(vault, ["stick"])
            update(bob)
            merged = (bob.folder / "song.txt").read_text()
            assert "line 2 of alice" in merged
            assert "line 25 of bob" in merged
            release(bob, Version.parse("3.0.0"), "both")
            for vault in (bob, alice):
                sync(vault, ["stick"])
            update(alice)
            assert (alice.folder / "song.txt").read_text() == merged
            for vault in (alice, bob):
                whole(vault)


def test_a_draft_that_two_lines_have_in_common_stays_for_their_merge(tmp_path: Path) -> None:
    """CLAY-13, CLAY-76: nobody but me has it, and without its content the two could be merged no more."""
    with found(tmp_path) as vault:
        write(vault, "song.txt", "".join(f"line {n}\n" for n in range(9)))
        assert commit(vault, "the base of both")
        add_desk(vault, "other", "desks/other")
        merge_desk(vault, "other", resolve(vault, "main@1"), Strategy.INIT)
        for desk, number in (("main", 2), ("other", 7)):
            folder = folder_of(vault, desk)
            for text in ("draft", desk):
                lines = (folder / "song.txt").read_text().splitlines()
                lines[number] = f"{text} of {desk}"
                (folder / "song.txt").write_text("\n".join(lines) + "\n")
                assert commit(vault, text, desk=desk)
        done = prune(vault)
        assert [(each.desk, each.number) for each in done.commits] == [("main", 2), ("other", 2)]
        assert merge_desk(vault, "main", resolve(vault, "other"), Strategy.MATE).conflict is None
        merged = (vault.folder / "song.txt").read_text()
        assert "main of main\n" in merged
        assert "other of other\n" in merged
        whole(vault)


def test_content_that_went_comes_back_when_it_is_committed_again(tmp_path: Path) -> None:
    """The cache of the scan knows nothing that the store has no more."""
    with found(tmp_path) as vault:
        drafts(vault, 3)
        prune(vault)
        (vault.folder / "new.bin").write_bytes(blob(1))
        assert commit(vault, "the first one again")
        assert text_of(vault, "main@4", "new.bin") == blob(1)
        whole(vault)


def test_a_damaged_pack_is_never_written_anew(tmp_path: Path) -> None:
    """CYB-11: rot is not laundered into a new pack; nothing changes, and fsck still names it."""
    with found(tmp_path) as vault:
        drafts(vault, 3)
        (row,) = vault.store.rows("SELECT pack, at, stored FROM frame ORDER BY id DESC LIMIT 1")
        path = vault.store.packs.path(int(row[0]))
        data = bytearray(path.read_bytes())
        data[int(row[1]) + int(row[2]) // 2] ^= 1
        path.write_bytes(bytes(data))
        with pytest.raises(DataError):
            prune(vault)
        assert path.read_bytes() == bytes(data)
        assert not check(vault).ok


def test_a_pack_left_behind_goes_with_the_next_prune(tmp_path: Path) -> None:
    """APP-13: killed between the commit and the removal of files, only room is lost, and not for long."""

    class Stubborn(PackIO):
        def remove(self, path: Path) -> None:
            if path.exists():
                raise OSError(5, "Input/output error", str(path))

    with found(tmp_path) as vault:
        drafts(vault, 3)
        vault.store.packs._io = Stubborn()
        with pytest.raises(NotWritable):
            prune(vault)
        vault.store.packs._io = PackIO()
        assert len(list((vault.dot / "packs").iterdir())) == 2
        whole(vault)
        assert plan_prune(vault).packs == 1
        prune(vault)
        assert len(list((vault.dot / "packs").iterdir())) == 1
        whole(vault)


def without_room(vault: Vault, free: int) -> Vault:
    return Vault(vault.folder, replace(vault.around, free_bytes=lambda _path: free))


def test_nothing_large_is_begun_where_it_has_no_room(tmp_path: Path) -> None:
    """Fault 3: the message names what is needed and what is free, and nothing changed."""
    with found(tmp_path) as vault:
        (vault.folder / "large.bin").write_bytes(bytes(20 << 20))
        release(vault, Version.parse("1.0.0"), "large")
        tree = resolve(vault, "main@1.0.0").tree
        with without_room(vault, 5 << 20) as tight:
            with pytest.raises(NoRoom, match=f"{36 << 20} bytes .* {5 << 20} bytes are free"):
                export_tree(tight, tree, tmp_path / "copy")
            assert not (tmp_path / "copy").exists()
        with without_room(vault, 1 << 30) as roomy:
            export_tree(roomy, tree, tmp_path / "copy")
        assert (tmp_path / "copy" / "large.bin").stat().st_size == 20 << 20


def test_a_commit_asks_for_room_before_a_large_file_and_not_for_a_new_version_of_it(tmp_path: Path) -> None:
    """Fault 3: refused before the first byte is stored; a version that is no longer than the last may add little."""
    with found(tmp_path) as vault:
        content = random.Random(1).randbytes(17 << 20)
        (vault.folder / "large.bin").write_bytes(content)
        with without_room(vault, 5 << 20) as tight:
            with pytest.raises(NoRoom, match="Committing a large file needs up to"):
                commit(tight, "large")
            assert not (vault.dot / "packs").exists()
            whole(tight)
        assert commit(vault, "large")
        (vault.folder / "large.bin").write_bytes(b"new" + content[3:])
        with without_room(vault, 5 << 20) as tight:
            assert commit(tight, "a new version")
            whole(tight)


def test_a_commit_of_many_small_files_ends_before_the_disk_is_full_and_gives_its_room_back(tmp_path: Path) -> None:
    """Fault 3, APP-13: each alone is small; together they filled the disk, and stayed on it though the commit failed.

    What is here already under another name takes no room, however much it is.
    """
    with found(tmp_path) as vault:
        draw = random.Random(1)
        for number in range(40):
            (vault.folder / f"{number}.jpg").write_bytes(draw.randbytes(1 << 20))
        disk = 52 << 20
        asked: list[int] = []

        def free(_path: Path) -> int:
            asked.append(disk - sum(pack.stat().st_size for pack in (vault.dot / "packs").glob("*")))
            return asked[-1]

        with Vault(vault.folder, replace(vault.around, free_bytes=free)) as tight:
            with pytest.raises(NoRoom, match="bytes are free"):
                commit(tight, "photos")
            assert min(asked) > 16 << 20
            assert list((vault.dot / "packs").glob("*")) == []
            whole(tight)
            for number in range(24, 40):
                (vault.folder / f"{number}.jpg").unlink()
            assert commit(tight, "fewer photos")
            (vault.folder / "holiday").mkdir()
            for number in range(24):
                (vault.folder / f"{number}.jpg").rename(vault.folder / "holiday" / f"{number}.jpg")
            assert commit(tight, "moved")
            whole(tight)


def test_a_sync_fetches_nothing_that_has_no_room(tmp_path: Path) -> None:
    """Fault 3, LAZ-66: the round is refused before content is stored, and goes through once there is room."""
    with found(tmp_path) as alice, befriend(tmp_path, alice, "bob") as bob:
        (alice.folder / "large.bin").write_bytes(random.Random(1).randbytes(17 << 20))
        release(alice, Version.parse("1.0.0"), "large")
        sync(alice, ["stick"])
        with without_room(bob, 5 << 20) as tight:
            with pytest.raises(NoRoom, match="bytes are free"):
                sync(tight, ["stick"])
            assert tight.store.rows("SELECT visible FROM release") == [(0,)]  # known of, and nothing of its content
            data = "SELECT c.bytes FROM counts c JOIN sym s ON s.id = c.app WHERE s.s = 'lace/data'"
            assert tight.store.rows(data) == [(0,)]  # lists of chunks, and no chunk
            whole(tight)
        sync(bob, ["stick"])
        assert bob.store.rows("SELECT visible FROM release") == [(1,)]
        with without_room(bob, 5 << 20) as tight:
            with pytest.raises(NoRoom):
                update(tight)
            assert not (bob.folder / "large.bin").exists()
            whole(tight)
        update(bob)
        assert (bob.folder / "large.bin").stat().st_size == 17 << 20


def test_a_sync_in_parts_asks_for_room_as_one_of_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 3, LAZ-66: each part of a large listing was small by itself, and together they filled the disk."""
    for name in ("_PART_RECORDS", "_LOOK_RECORDS"):
        monkeypatch.setattr(listing_parts, name, 30)
    with found(tmp_path) as alice, befriend(tmp_path, alice, "bob") as bob:
        (alice.folder / "large.bin").write_bytes(random.Random(1).randbytes(18 << 20))
        release(alice, Version.parse("1.0.0"), "large")
        sync(alice, ["stick"])
        with without_room(bob, 5 << 20) as tight:
            with pytest.raises(NoRoom, match="bytes are free"):
                sync(tight, ["stick"])
            whole(tight)
        sync(bob, ["stick"])
        assert bob.store.rows("SELECT visible FROM release") == [(1,)]


def test_small_work_and_unknown_disks_are_not_asked(tmp_path: Path) -> None:
    with found(tmp_path) as vault:
        require_room(replace(vault.around, free_bytes=lambda _path: 0), tmp_path, 1000, "This")
        require_room(replace(vault.around, free_bytes=lambda _path: None), tmp_path, 1 << 40, "This")
        with pytest.raises(NoRoom):
            require_room(replace(vault.around, free_bytes=lambda _path: 0), tmp_path, 1 << 30, "This")
        require_room(replace(vault.around, free_bytes=lambda _path: 0), tmp_path, 0, "This", is_whole=True)
        require_room(replace(vault.around, free_bytes=lambda _path: 1000), tmp_path, 1000, "This", is_whole=True)
        with pytest.raises(NoRoom, match="up to 1000 bytes"):
            require_room(replace(vault.around, free_bytes=lambda _path: 999), tmp_path, 1000, "This", is_whole=True)


def test_a_pack_that_somebody_writes_is_not_counted_as_left_behind(tmp_path: Path) -> None:
    """What a plan names is what a prune would free, whatever another process does meanwhile."""
    with found(tmp_path) as vault, Vault(vault.folder, vault.around) as twin:
        drafts(vault, 1)
        stray = vault.dot / "packs" / "00000099.pack"
        stray.write_bytes(bytes(1000))
        assert (plan_prune(vault).packs, plan_prune(vault).freed) == (1, 1000)
        with twin.lock.held():
            assert (plan_prune(vault).packs, plan_prune(vault).freed) == (0, 0)
        done = prune(vault)
        assert (done.packs, done.freed) == (1, 1000)
        assert not stray.exists()


def test_who_reads_while_somebody_prunes_reads_on(tmp_path: Path) -> None:
    """INT-94: an export that had begun was told of damage that was none; its packs go with the next prune."""
    with found(tmp_path) as vault, Vault(vault.folder, vault.around) as other:
        drafts(vault, 3)
        kept = (vault.folder / "grows.bin").read_bytes()
        before = pack_bytes(vault)
        with vault.store.reading():
            assert text_of(vault, "main", "small.txt") == b"draft 2\n"
            done = prune(other)
            assert done.commits
            assert (done.freed, done.packs) == (0, 0)
            assert done.read > 400_000
            assert text_of(vault, "main", "grows.bin") == kept
        again = prune(other)
        assert (again.commits, again.freed, again.read) == ((), done.read, 0)
        assert before - pack_bytes(vault) > 400_000
        whole(vault)


def test_what_a_prune_left_to_who_reads_goes_with_a_repair_too(tmp_path: Path) -> None:
    """APP-13: nothing but another prune gave the room back. A repair of a damaged vault deletes no pack."""
    with found(tmp_path) as vault, Vault(vault.folder, vault.around) as other:
        drafts(vault, 3)
        with vault.store.reading():
            vault.store.rows("SELECT 1 FROM rec")
            left = prune(other).read
            assert left == plan_prune(other).left > 400_000
            planned = plan_prune(other)
            assert (planned.freed, planned.packs, planned.read) == (0, 0, left), "a plan said they would be free again"
            assert repair(other).ok
            assert plan_prune(other).left == left, "somebody reads it"
        with other.store.transaction():
            other.store.run("UPDATE commits SET desk = 'other'")
        assert repair(other).repaired
        assert plan_prune(other).left == left
        assert repair(other).ok
        assert plan_prune(other).left == 0
        whole(vault)


def test_what_is_written_anew_between_two_looks_is_read_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INT-94: without a snapshot, a prune may remove a file after it was named and before it is opened."""
    with found(tmp_path) as vault, Vault(vault.folder, vault.around) as other:
        drafts(vault, 3)
        kept = (vault.folder / "grows.bin").read_bytes()
        real = PackIO.open_read
        pruned: list[bool] = []

        def late(io: PackIO, path: Path) -> int:
            if not pruned:
                pruned.append(True)
                prune(other)
                assert not path.exists()
            return real(io, path)

        monkeypatch.setattr(PackIO, "open_read", late)
        with Vault(vault.folder, vault.around) as fresh:
            assert text_of(fresh, "main", "grows.bin") == kept


def test_a_pack_of_a_prune_that_was_stopped_is_read_no_more(tmp_path: Path) -> None:
    """Its number is given to another file; an open vault read what was there before."""
    with found(tmp_path) as vault:
        drafts(vault, 3)
        kept = (vault.folder / "grows.bin").read_bytes()
        seen: list[str] = []

        def stop_late(_done: int, _total: int, what: str) -> None:
            seen.append(what)
            if what == "rebuild":
                vault.store.packs.open_once(2)
                assert text_of(vault, "main", "grows.bin") == kept  # from the new pack
                raise Cancelled("Stopped.")

        with pytest.raises(Cancelled):
            prune(vault, watch=Watch(progress=stop_late))
        assert prune(vault, keep=2).commits
        vault.store.packs._cache.clear()
        assert text_of(vault, "main", "grows.bin") == kept
        whole(vault)


def test_what_was_stored_a_moment_ago_and_let_go_is_not_at_hand_any_more(tmp_path: Path) -> None:
    """APP-13, CLAY-79: sums of lists were kept that nothing here proves, and a repair in that process kept them too."""
    with found(tmp_path) as alice:
        for version in range(3):
            for number in range(100):
                write(alice, f"{number}.txt", f"{version} {number}\n")
            release(alice)
        with befriend(tmp_path, alice, "bob") as bob:
            for vault in (alice, bob, alice):
                sync(vault, ["stick"])
        set_keep(alice, "main", Keep("", 1))
        assert prune(alice).files == 200
        assert check(alice).bad == ()
        assert repair(alice).bad == ()
