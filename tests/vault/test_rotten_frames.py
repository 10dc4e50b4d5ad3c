"""One cell that rotted among those that say where content rests costs no record that still proves itself (APP-13)."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vault.vaults import around, found
from vault.content.prune import prune
from vault.folder.work import commit
from vault.fsck.check import check
from vault.fsck.repair import repair
from vault.fsck.unopened import DAMAGED
from vault.records import RecordHash
from vault.releasing import release
from vault.store.database import StoreDamaged
from vault.vault import Vault

_CONTENT = "SELECT digest, stored(p, bytes) FROM body ORDER BY digest"
_CELLS = "SELECT pack, at, stored, raw, form, depth, bases, sum FROM frame ORDER BY pack, at"


def lines_of_five_chunks() -> list[bytes]:
    """Three chunks that fill a frame, and two that fill the next."""
    draw = random.Random(67)
    return [b"line %d %d\n" % (n, draw.randrange(10**9)) for n in range(20_000)]


@pytest.fixture(scope="module")
def drafts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault whose content nobody else has: compressed, as it is, and in frames that rest on each other."""
    root = tmp_path_factory.mktemp("drafts")
    with found(root) as vault:
        for name in ("v noise", "w noise"):
            (vault.folder / name).write_bytes(random.Random(name).randbytes(60_000))
        lines = lines_of_five_chunks()
        for number in range(4):
            lines[7_000 + number] = b"changed %d\n" % number
            (vault.folder / "text").write_bytes(b"".join(lines))
            commit(vault, "draft")
        assert [row[0] for row in vault.store.rows("SELECT depth FROM frame ORDER BY id")] == [0, 0, 0, 1, 2, 3]
        assert {row[0] for row in vault.store.rows("SELECT form FROM frame")} == {0, 1}
        vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return root


@pytest.fixture
def vault(tmp_path: Path, drafts: Path) -> Iterator[Vault]:
    """A copy of it, to be damaged at will."""
    shutil.copytree(drafts, tmp_path / "root")
    (folder,) = (path.parent for path in (tmp_path / "root").glob("*/.vault"))
    with Vault(folder, around(tmp_path / "root", folder.name)) as opened:
        yield opened


def _is_healed_without_loss(vault: Vault, rot: str) -> bool:
    """Let a cell rot, check and repair; tell whether all is as it was before."""
    before, cells = vault.store.rows(_CONTENT), vault.store.rows(_CELLS)
    assert vault.store.db.execute(rot).rowcount == 1
    with Vault(vault.folder, vault.around) as fresh:
        assert not check(fresh).ok
        done = repair(fresh)
        assert (done.ok, done.lost) == (True, ()), done.bad
        assert check(fresh).bad == ()
    with Vault(vault.folder, vault.around) as fresh:
        (fresh.folder / "more").write_bytes(random.Random(6).randbytes(30_000))
        commit(fresh, "more")
        now = dict(fresh.store.rows(_CONTENT))
        same = all(now.get(digest) == stored for digest, stored in before)
        return same and fresh.store.rows(_CELLS)[: len(cells)] == cells and not (fresh.dot / DAMAGED).exists()


@pytest.mark.parametrize("frame", [3, 5])
@pytest.mark.parametrize(
    "change",
    [
        "sum = zeroblob(16)",
        "sum = x''",
        "raw = raw + 4096",
        "raw = 1 << 40",
        "form = 1 - form",
        "form = 9",
        "depth = 8",
        "depth = depth | 64",
        "at = at + 1",
        "at = 1 << 61",
        "stored = stored - 1",
        "stored = 1 << 50",
        "pack = 5",
        "id = id + 4096",
    ],
)
def test_a_cell_of_a_frame_that_rotted_costs_no_record(vault: Vault, frame: int, change: str) -> None:
    """APP-13: the repair threw drafts away that were whole, mostly without keeping a copy."""
    assert _is_healed_without_loss(vault, f"UPDATE frame SET {change} WHERE id = {frame}")


def test_a_depth_below_what_a_frame_rests_on_costs_no_record(vault: Vault) -> None:
    """APP-13: depths follow from the bases."""
    assert _is_healed_without_loss(vault, "UPDATE frame SET depth = 0 WHERE id = 5")


@pytest.mark.parametrize("frame", [1, 4])
@pytest.mark.parametrize("change", ["p = p + 4096", "frame = frame + 4096", "frame = 0", "frame = -1"])
def test_a_place_that_rotted_away_from_its_record_comes_back_to_it(vault: Vault, frame: int, change: str) -> None:
    """APP-13: the record's own hash says which is whose."""
    last = f"(SELECT max(p) FROM packed WHERE frame = {frame})"
    assert _is_healed_without_loss(vault, f"UPDATE packed SET {change} WHERE p = {last}")


@pytest.mark.parametrize("p", [5, 7, 9, 11, 12, 19, 43])
@pytest.mark.parametrize(
    "change",
    [
        "at = at + 128",
        "at = at + 60253",
        "at = 1 << 61",
        "at = -1",
        "size = size - 16",
        "size = size + 16",
        "size = 0",
        "size = 1 << 62",
        "frame = frame % 6 + 1",
        "frame = (frame + 2) % 6 + 1",
        "p = 4",
    ],
)
def test_a_cell_of_the_place_of_a_record_that_rotted_costs_no_record(vault: Vault, p: int, change: str) -> None:
    """APP-13: the repair put whole drafts aside, mostly without a copy that is of use."""
    assert _is_healed_without_loss(vault, f"UPDATE packed SET {change} WHERE p = {p}")


@pytest.mark.parametrize("frame", [4, 5, 6])
@pytest.mark.parametrize("base", [0, 4, 9, 43, 71, 19 + (1 << 40), (1 << 64) - 1])
def test_a_base_of_a_frame_that_rotted_costs_no_record(vault: Vault, frame: int, base: int) -> None:
    """APP-13: nothing of the frame decoded, nor what rests on it."""
    numbers = base.to_bytes(8, "little").hex()
    assert _is_healed_without_loss(vault, f"UPDATE frame SET bases = x'{numbers}' WHERE id = {frame}")


def test_only_what_is_damaged_of_a_frame_is_put_aside(vault: Vault) -> None:
    """APP-13, REC-82: a record beside it in the same frame that still proves itself stays."""
    (path,) = (vault.dot / "packs").iterdir()
    data = bytearray(path.read_bytes())
    (at, other) = [
        row[0] for row in vault.store.rows("SELECT f.at FROM frame f JOIN packed ON frame = id WHERE form = 0")
    ]
    assert at == other, "two records rest in it"
    data[at + 20_000] ^= 1
    path.write_bytes(data)
    with Vault(vault.folder, vault.around) as fresh:
        done = repair(fresh)
        assert len(done.lost) == 1
        assert len(list((fresh.dot / DAMAGED).glob("*.rec"))) == 1


def test_of_a_frame_that_does_not_decode_the_stored_bytes_are_kept(vault: Vault) -> None:
    """APP-13: no byte of what is put aside is lost, whatever happens."""
    (path,) = (vault.dot / "packs").iterdir()
    ((at, stored),) = vault.store.rows("SELECT at, stored FROM frame WHERE id = 1")
    data = bytearray(path.read_bytes())
    data[at + 5_000 : at + 6_000] = bytes(1_000)
    path.write_bytes(data)
    with Vault(vault.folder, vault.around) as fresh:
        assert repair(fresh).lost
        assert (fresh.dot / DAMAGED / "frame-1.bin").read_bytes() == bytes(data[at : at + stored])


@pytest.mark.parametrize(("p", "base"), [(12, None), (43, 31)])
def test_of_what_cannot_be_found_again_all_that_is_needed_to_read_it_is_kept(
    vault: Vault, p: int, base: int | None
) -> None:
    """APP-13: a wrong piece of the frame was kept in the place of the record, and nothing of what it rests on."""
    packs = vault.store.packs
    below = packs.read(base) if base is not None else None
    ((frame, pack, at, stored),) = vault.store.rows(
        "SELECT f.id, f.pack, f.at, f.stored FROM packed k JOIN frame f ON f.id = frame WHERE p = ?", p
    )
    data = bytearray(packs.path(pack).read_bytes())
    data[at + stored - 20] ^= 1
    packs.path(pack).write_bytes(data)
    vault.store.db.execute("UPDATE packed SET at = at + 16, size = size - 1000 WHERE p = ?", (p,))
    with Vault(vault.folder, vault.around) as fresh:
        assert len(repair(fresh).lost) == 1
        kept = fresh.dot / DAMAGED
        assert (kept / f"frame-{frame}.bin").read_bytes() == data[at : at + stored]
        path = kept / f"frame-{frame}-base.bin"
        assert (path.read_bytes() if path.exists() else None) == below


@pytest.mark.parametrize("frame", [1, 4, 5])
def test_a_frame_that_is_named_no_more_ends_no_repair(vault: Vault, frame: int) -> None:
    """APP-13: what cannot be found again is put aside, and what does not rest there stays."""
    vault.store.db.execute(f"DELETE FROM frame WHERE id = {frame}")
    (vault.dot / "packs" / f"{'9' * 20}.pack").write_bytes(b"no number of a pack")
    with Vault(vault.folder, vault.around) as fresh:
        assert repair(fresh).lost
        assert fresh.store.rows("SELECT count(*) FROM packed WHERE frame IN (2, 3)") == [(4,)]


@pytest.fixture
def lone(tmp_path: Path) -> Iterator[Vault]:
    """A vault with one packed frame, compressed, of which nothing before or after it tells where it lies."""
    with found(tmp_path) as made:
        (made.folder / "text").write_bytes(b"".join(b"line %d\n" % n for n in range(9_000)))
        commit(made, "draft")
        assert made.store.rows("SELECT count(*), max(form) FROM frame") == [(1, 1)]
        yield made


@pytest.mark.parametrize("pack", [0, 3, 65, 1 << 40, -1])
def test_the_pack_of_the_only_frame_that_rotted_costs_no_record(lone: Vault, pack: int) -> None:
    """APP-13: it was looked for only where the frames beside it lie, and no copy was kept."""
    assert _is_healed_without_loss(lone, f"UPDATE frame SET pack = {pack}")


@pytest.mark.parametrize("stored", [0, 77, 1 << 20])
def test_the_length_of_a_frame_is_shown_by_itself_where_none_lies_behind_it(vault: Vault, stored: int) -> None:
    """APP-13: after a prune what lay behind it may be gone."""
    vault.store.db.execute("DELETE FROM body WHERE p IN (SELECT p FROM packed WHERE frame = 2)")
    vault.store.db.execute("DELETE FROM packed WHERE frame = 2")
    vault.store.db.execute("DELETE FROM frame WHERE id = 2")
    ((was,),) = vault.store.rows("SELECT stored FROM frame WHERE id = 1")
    vault.store.db.execute(f"UPDATE frame SET stored = {stored} WHERE id = 1")
    with Vault(vault.folder, vault.around) as fresh:
        repair(fresh)
        assert fresh.store.rows("SELECT stored FROM frame WHERE id = 1") == [(was,)]


def test_of_a_frame_whose_pack_cannot_be_told_what_lies_there_is_kept(lone: Vault) -> None:
    """APP-13: nothing at all was kept."""
    ((at, stored),) = lone.store.rows("SELECT at, stored FROM frame")
    path = lone.store.packs.path(1)
    data = bytearray(path.read_bytes())
    data[at + stored - 20] ^= 1
    path.write_bytes(data)
    lone.store.db.execute("UPDATE frame SET pack = 65")
    with Vault(lone.folder, lone.around) as fresh:
        assert repair(fresh).lost
        assert (fresh.dot / DAMAGED / "frame-1-pack-1.bin").read_bytes() == data[at : at + stored]


_MOST = (1 << 63) - 1  # the last number that SQLite has


@pytest.mark.parametrize("number", [_MOST, -5])
@pytest.mark.parametrize("frame", [3, 4])
def test_the_number_of_a_frame_that_rotted_to_none_costs_no_record(vault: Vault, frame: int, number: int) -> None:
    """APP-13: fsck saw nothing, and the next larger commit and prune ended as a fault of lace."""
    assert _is_healed_without_loss(vault, f"UPDATE frame SET id = {number} WHERE id = {frame}")


def test_the_number_of_a_frame_in_which_nothing_rests_is_named_and_ends_nothing(vault: Vault) -> None:
    """APP-13: the same."""
    vault.store.db.execute(f"INSERT INTO frame SELECT {_MOST}, 1, 8, 0, 0, 0, 0, x'', x''")
    (vault.folder / "more").write_bytes(random.Random(7).randbytes(30_000))
    commit(vault, "more")
    prune(vault)
    assert [(bad.kind, bad.name) for bad in check(vault).bad] == [("store", "frame")]
    assert repair(vault).ok
    assert check(vault).ok
    assert vault.store.rows("SELECT count(*) FROM frame WHERE id > 1000") == [(0,)]


@pytest.mark.parametrize("number", [_MOST, -5])
@pytest.mark.parametrize("condition", ["bytes = x''", "bytes <> x''"])
def test_the_position_of_a_record_that_rotted_to_none_costs_no_record(
    vault: Vault, condition: str, number: int
) -> None:
    """APP-13: repair, sync and commit ended as a fault of lace."""
    release(vault)
    chosen = f"(SELECT min(p) FROM body WHERE {condition} AND p IN (SELECT p FROM exposure))"
    assert _is_healed_without_loss(vault, f"UPDATE body SET p = {number} WHERE p = {chosen}")


@pytest.mark.parametrize(
    "change",
    [
        f"exposure SET at = {_MOST} WHERE p = (SELECT max(p) FROM exposure)",
        "exposure SET at = -1 WHERE at = 2",
        f"sqlite_sequence SET seq = {_MOST} WHERE name = 'exposure'",
    ],
)
def test_a_number_of_what_is_shared_that_rotted_to_none_is_named_and_given_anew(vault: Vault, change: str) -> None:
    """APP-13: fsck saw nothing, and the next release was told that the disk is full."""
    release(vault)
    ((last,),) = vault.store.rows("SELECT max(at) FROM exposure")
    vault.store.db.execute(f"UPDATE {change}")
    assert [(bad.kind, bad.name) for bad in check(vault).bad] == [("store", "exposure")]
    (vault.folder / "more").write_bytes(b"more")
    if str(_MOST) in change:
        with pytest.raises(StoreDamaged) as caught:
            release(vault)
        assert "lace fsck --repair" in caught.value.hint
    assert repair(vault).ok
    assert check(vault).ok
    release(vault)
    given = [row[0] for row in vault.store.rows("SELECT at FROM exposure ORDER BY at")]
    assert 1 <= given[0] < last < given[-1] < last + 1_000


@pytest.mark.parametrize(("frame", "kept", "is_cut"), [(1, 2, True), (1, 2, False), (3, 1, True), (4, 0, True)])
def test_records_before_the_damage_of_a_frame_are_not_lost(vault: Vault, frame: int, kept: int, is_cut: bool) -> None:
    """APP-13: the whole frame was lost that was cut off or had a rotten block, no copy was kept, and a prune let it go.

    Where it was not compressed the check found the same fault after each repair.
    """
    content = dict(vault.store.rows(_CONTENT))
    ((at, stored),) = vault.store.rows("SELECT at, stored FROM frame WHERE id = ?", frame)
    named = vault.store.rows(
        "SELECT digest, kind FROM packed JOIN body USING (p) WHERE frame = ? ORDER BY packed.at", frame
    )
    path = vault.store.packs.path(1)
    data, middle = path.read_bytes(), at + stored - min(stored // 4, 2_000)
    path.write_bytes(data[:middle] if is_cut else data[:middle] + bytes(800) + data[middle + 800 :])
    with Vault(vault.folder, vault.around) as fresh:
        done = repair(fresh)
        lost = {record.digest for record in done.lost}
        assert [digest in lost for digest, _ in named] == [number >= kept for number in range(len(named))]
        assert all(fresh.store.stored(RecordHash(kind, digest)) == content[digest] for digest, kind in named[:kept])
        left = data[at:middle] if is_cut else path.read_bytes()[at : at + stored]
        assert (fresh.dot / DAMAGED / f"frame-{frame}.bin").read_bytes() == left
        assert not [bad for bad in check(fresh).bad if bad.kind in {"pack", "record"}]


def test_what_rests_on_a_record_before_the_damage_stays_with_it(tmp_path: Path) -> None:
    """APP-13: what was compressed against a record of a rotten frame went with it."""
    with found(tmp_path) as vault:
        lines = lines_of_five_chunks()
        for number in range(2):
            lines[1_000] = b"changed %d\n" % number
            (vault.folder / "text").write_bytes(b"".join(lines))
            commit(vault, "draft")
        frames = vault.store.rows("SELECT id, at, stored, depth FROM frame ORDER BY id")
        (first, at, stored, _), *_ = frames
        deep = [frame for frame, _, _, depth in frames if depth == 1]
        assert len(deep) == 1
        above = vault.store.rows("SELECT digest FROM packed JOIN body USING (p) WHERE frame = ?", deep[0])
        path = vault.store.packs.path(1)
        data = bytearray(path.read_bytes())
        data[at + stored - 2_000 : at + stored - 1_000] = bytes(1_000)
        path.write_bytes(data)
    with Vault(vault.folder, vault.around) as fresh:
        lost = {record.digest for record in repair(fresh).lost}
        assert lost
        assert lost.isdisjoint({digest for (digest,) in above})
        assert fresh.store.rows("SELECT count(*) FROM packed WHERE frame = ?", first) == [(0,)]
        assert not [bad for bad in check(fresh).bad if bad.kind in {"pack", "record"}]


def test_a_stray_file_does_not_stand_for_the_pack_of_its_number(vault: Vault) -> None:
    """APP-13: `1.pack` hid how long `00000001.pack` is, and a frame of which the length rotted was not found again."""
    (vault.dot / "packs" / "1.pack").write_bytes(b"LACEPCK0")
    vault.store.db.execute("DELETE FROM body WHERE p IN (SELECT p FROM packed WHERE frame = 2)")
    vault.store.db.execute("DELETE FROM packed WHERE frame = 2")
    vault.store.db.execute("DELETE FROM frame WHERE id = 2")
    ((was,),) = vault.store.rows("SELECT stored FROM frame WHERE id = 1")
    vault.store.db.execute("UPDATE frame SET stored = 77 WHERE id = 1")
    with Vault(vault.folder, vault.around) as fresh:
        repair(fresh)
        assert fresh.store.rows("SELECT stored FROM frame WHERE id = 1") == [(was,)]
