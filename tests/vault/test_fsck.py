"""`fsck` finds every wrong bit, names it, and makes the views anew from the records (APP-13, CYB-10)."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lace_tui.cli.verbs import VERBS
from lazy.belonging.adopting import adopt
from lazy.mend import examine, mend
from lazy.status import status
from lazy.sync import sync
from lazy.visits import parcels
from lazy.visits.parcels import export, put
from tests.rows import put_text, text_at
from tests.shelf import Shelf
from tests.vault.vaults import around, derived, found, lived_in, trail, write
from vault.audit.entries import read_audit
from vault.audit.trail import verify_trail
from vault.config import Settings
from vault.content.prune import prune
from vault.desk_folders import FolderGone, add_desk
from vault.errors import Cancelled, LaceError
from vault.files import NotWritable
from vault.folder.work import commit
from vault.fsck import own as fsck_own
from vault.fsck.check import check
from vault.fsck.repair import repair
from vault.fsck.report import BadThing
from vault.fsck.unopened import DAMAGED
from vault.notes.own import EPOCH, INSTANCE, PUT_ASIDE
from vault.records import RecordHash, Seal
from vault.releasing import release
from vault.store.database import StoreDamaged
from vault.store.schema import DERIVED_TABLES
from vault.vault import Vault
from vault.watch import Watch


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Vault]:
    """Alice's vault after some life, and its root; tests that change it put it back."""
    root = tmp_path_factory.mktemp("grown")
    alice, bob = lived_in(root)
    bob.close()
    return root, alice


@pytest.fixture
def copy(tmp_path: Path, grown: tuple[Path, Vault]) -> Iterator[Vault]:
    """A copy of it on the same machine, to be damaged at will."""
    root, alice = grown
    alice.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(root, tmp_path / "root")
    vault = Vault(tmp_path / "root" / "alice", around(tmp_path / "root", "alice"))
    yield vault
    vault.close()


def names(bad: tuple[BadThing, ...]) -> set[tuple[str, str]]:
    return {(thing.kind, thing.name) for thing in bad}


def test_a_vault_that_is_well_says_so(grown: tuple[Path, Vault]) -> None:
    _, alice = grown
    report = check(alice)
    assert report.ok
    assert report.bad == report.repaired == ()
    assert report.records == alice.store.rows("SELECT count(*) FROM body")[0][0]
    assert not list(alice.dot.glob("fsck*"))


def test_every_member_s_vault_is_well(shelf: Shelf) -> None:
    for vault in shelf.lay(lived_in):
        assert check(vault).bad == ()
        vault.close()


@pytest.mark.parametrize("how", ["DELETE FROM {}", "DROP TABLE {}"])
def test_repair_gives_the_identical_views(copy: Vault, how: str) -> None:
    """Architecture, decision 3: views are rebuilt from the records alone, numbers of symbols included.

    DWN-21: who read the log before does not go on in it, since it has another epoch.
    """
    before = derived(copy)
    epoch = copy.store.note(EPOCH)
    assert all(before[table] for table in ("sym", "vector", "member", "shared", "release", "audit", "sums"))
    with copy.store.transaction():
        for table in DERIVED_TABLES:
            copy.store.run(how.format(table))
    report = check(copy)
    assert not report.ok
    assert {name for kind, name in names(report.bad)} >= {t for t, rows in before.items() if rows}
    repaired = repair(copy)
    assert repaired.ok
    assert names(repaired.repaired) == names(report.bad)
    assert derived(copy) == before
    assert copy.store.note(EPOCH) != epoch
    write(copy, "after.txt", "still works\n")
    assert release(copy, None, "After").first is False
    assert check(copy).ok


_EMPTY = {"hole", "resolution", "side", "former", "revocation"}


@pytest.mark.parametrize("table", [t for t in DERIVED_TABLES if t not in _EMPTY])
def test_one_changed_row_of_a_view_is_named(copy: Vault, table: str) -> None:
    with copy.store.transaction():
        copy.store.run(f"CREATE TEMP TABLE one AS SELECT * FROM {table} LIMIT 1")
        key = copy.store.rows(f"SELECT name FROM pragma_table_info('{table}') ORDER BY pk DESC, cid")[0][0]
        copy.store.run(f"DELETE FROM {table} WHERE {key} = (SELECT {key} FROM one)")
    (bad,) = (thing for thing in check(copy).bad if thing.name == table)
    assert (bad.kind, bad.code) == ("view", "differs")
    assert table in bad.message
    assert repair(copy).ok


def test_a_row_that_follows_from_nothing_is_named(copy: Vault) -> None:
    with copy.store.transaction():
        copy.store.run("INSERT INTO hole VALUES (?, 1)", RecordHash("P", bytes(32)).text)
        copy.store.run("UPDATE release SET visible = -1 WHERE p = (SELECT min(p) FROM release)")
    assert names(check(copy).bad) == {("view", "hole"), ("view", "release")}
    assert repair(copy).ok


def test_the_exposure_log_numbers_exactly_what_is_shared(copy: Vault) -> None:
    """A record that is not shared must never be counted as one that may be published."""
    secret = copy.store.rows("SELECT min(p) FROM body WHERE p NOT IN (SELECT p FROM shared)")[0][0]
    with copy.store.transaction():
        copy.store.run("INSERT INTO exposure(p) VALUES (?)", secret)
    (bad,) = check(copy).bad
    assert (bad.name, str(secret) in bad.message) == ("exposure", True)
    assert repair(copy).ok
    with copy.store.transaction():
        copy.store.run("DELETE FROM exposure WHERE at = 3")
    assert names(check(copy).bad) == {("view", "exposure")}
    assert repair(copy).ok


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_flipped_bit_of_any_record_is_found_and_named(grown: tuple[Path, Vault], data: st.DataObject) -> None:
    """REC-82: one bit, anywhere in any body, audit entries included."""
    _, alice = grown
    rows = alice.store.rows("SELECT p, kind, digest, bytes FROM body ORDER BY p")
    p, kind, digest, stored = data.draw(st.sampled_from(rows))
    assert isinstance(stored, bytes)
    at = data.draw(st.integers(0, len(stored) * 8 - 1))
    flipped = bytearray(stored)
    flipped[at // 8] ^= 1 << at % 8
    alice.store.run("UPDATE body SET bytes = ? WHERE p = ?", bytes(flipped), p)
    try:
        report = check(alice)
    finally:
        alice.store.run("UPDATE body SET bytes = ? WHERE p = ?", stored, p)
    named = RecordHash(str(kind), bytes(digest)).text
    assert ("record", named) in names(report.bad)
    if b"\nApp: lace/audit\n" in stored:
        assert any(thing.kind == "audit" for thing in report.bad)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_flipped_bit_of_a_record_s_name_is_found(grown: tuple[Path, Vault], data: st.DataObject) -> None:
    _, alice = grown
    p, digest = data.draw(st.sampled_from(alice.store.rows("SELECT p, digest FROM body ORDER BY p")))
    assert isinstance(digest, bytes)
    at = data.draw(st.integers(0, 255))
    flipped = bytearray(digest)
    flipped[at // 8] ^= 1 << at % 8
    alice.store.run("UPDATE body SET digest = ? WHERE p = ?", bytes(flipped), p)
    try:
        report = check(alice)
    finally:
        alice.store.run("UPDATE body SET digest = ? WHERE p = ?", digest, p)
    assert any(thing.code == "misnamed" for thing in report.bad)


def test_a_record_under_a_wrong_name_gets_its_own_back(copy: Vault) -> None:
    before = derived(copy)
    with copy.store.transaction():
        copy.store.run("UPDATE body SET digest = ? WHERE p = 3", bytes(32))
    report = repair(copy)
    assert report.ok
    assert [thing.code for thing in report.repaired][:1] == ["misnamed"]
    assert derived(copy) == before


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_flipped_bit_of_what_the_vault_says_of_itself_is_found(
    grown: tuple[Path, Vault], data: st.DataObject
) -> None:
    _, alice = grown
    key = data.draw(st.sampled_from(["node", "name", "group", "founding", "founding_plex", "instance"]))
    value = text_at(alice.store, key)
    at = data.draw(st.integers(0, len(value) * 7 - 1))
    flipped = value[: at // 7] + chr(ord(value[at // 7]) ^ 1 << at % 7) + value[at // 7 + 1 :]
    put_text(alice.store, key, flipped)
    try:
        report = check(alice)
    finally:
        put_text(alice.store, key, value)
    assert any(thing.kind == "setting" for thing in report.bad), (key, flipped)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10_000))
def test_a_flipped_bit_of_the_settings_file_is_found_unless_a_person_could_have_meant_it(
    grown: tuple[Path, Vault], at: int
) -> None:
    """LAZ-62: a person may edit the file, so a change to another allowed value is no damage."""
    _, alice = grown
    path = alice.dot / "config.toml"
    chosen = Settings(path, {"share": "commits", "sync-interval": 77, "sync-strategy": "periodic"})
    chosen.save()
    data = bytearray(path.read_bytes())
    at %= len(data) * 8
    data[at // 8] ^= 1 << at % 8
    path.write_bytes(data)
    try:
        report = check(alice)
        still_settings = _readable(path)
    finally:
        path.unlink()
    assert (("setting", "config.toml") in names(report.bad)) is not still_settings


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 1 << 16))
def test_a_flipped_bit_of_the_mark_beside_the_key_is_found(grown: tuple[Path, Vault], at: int) -> None:
    """APP-13: the mark is compared with the log in every field."""
    _, alice = grown
    path = alice.mark.path
    whole = path.read_bytes()
    flipped = bytearray(whole)
    at %= len(whole) * 8
    flipped[at // 8] ^= 1 << at % 8
    path.write_bytes(bytes(flipped))
    try:
        report = check(alice)
    finally:
        path.write_bytes(whole)
    assert any(thing.kind == "setting" and thing.name in {"mark", "instance"} for thing in report.bad)


def test_where_keys_are_away_the_mark_beside_them_is_not_said_to_be_another_ones(grown: tuple[Path, Vault]) -> None:
    """APP-13: keys on a disk that is not plugged in come back with it; to adopt the vault as a copy is for good."""
    _, alice = grown
    beside = [alice.mark.path, alice.keys_here.path(alice.node)]
    for path in beside:
        path.rename(path.with_name("away"))
    try:
        report = check(alice)
    finally:
        for path in beside:
            path.with_name("away").rename(path)
    assert [(thing.kind, thing.code) for thing in report.bad] == [("key", "key-missing")]


def test_a_mark_out_of_reach_is_named_as_that_and_a_repair_looks_for_no_other(copy: Vault) -> None:
    """APP-13: a disk that lets nothing be read says nothing about whose vault this is, and a repair is no way out."""
    path, instance = copy.mark.path, copy.store.note(INSTANCE)
    beside = path.with_name(f"{'0' * 32}.mark")
    path.rename(beside)
    path.mkdir()
    for report in (check(copy), repair(copy)):
        assert [(thing.kind, thing.code, thing.name) for thing in report.bad] == [("key", "unreadable", path.name)]
    assert copy.store.note(INSTANCE) == instance
    path.rmdir()
    beside.rename(path)
    assert check(copy).ok


def _readable(path: Path) -> bool:
    try:
        Settings.load(path)
    except LaceError:
        return False
    return True


def test_a_damaged_record_is_put_aside_and_comes_back_with_the_next_sync(copy: Vault) -> None:
    """Nothing is lost: the damaged bytes stay in a file, and the record is fetched again from the stick."""
    ((p, kind, digest, stored),) = copy.store.rows(
        "SELECT b.p, b.kind, b.digest, b.bytes FROM body b JOIN release r USING (p) WHERE r.node <> ?", copy.node.text
    )
    assert isinstance(stored, bytes)
    name = RecordHash(str(kind), bytes(digest)).text
    before = derived(copy)
    with copy.store.transaction():
        copy.store.run("UPDATE body SET bytes = ? WHERE p = ?", stored[:-1] + b"\xff", p)
        copy.store.run("UPDATE place SET uri = ?", str(copy.folder.parent / "stick"))
    report = repair(copy)
    assert names(report.repaired) == {("record", name)}
    assert copy.store.stored(RecordHash.parse(name)) is None
    (aside,) = (copy.dot / DAMAGED).iterdir()
    assert aside.read_bytes() == stored[:-1] + b"\xff"
    (result,) = sync(copy, ["stick"])
    assert RecordHash.parse(name) in result.came.received
    assert check(copy).ok
    visible = "SELECT hash FROM release WHERE visible = 1 ORDER BY hash"
    assert [row[0] for row in copy.store.rows(visible)] == sorted(
        str(row[1]) for row in before["release"] if row[-1] == 1
    )


@pytest.mark.parametrize("how", ["prune", "repair"])
def test_a_vault_that_is_open_meanwhile_goes_on_with_what_was_numbered_anew(tmp_path: Path, how: str) -> None:
    """APP-13: serve, follow and the app stay open while another process prunes or repairs; they wrote wrong rows."""
    with found(tmp_path) as alice:
        for number in range(3):
            write(alice, "a.txt", f"text {number}")
            commit(alice, f"Draft {number}")
        with Vault(alice.folder, alice.around) as other:
            if how == "prune":
                assert prune(other).records
            else:
                with other.store.transaction():
                    other.store.run("UPDATE body SET bytes = substr(bytes, 2) WHERE p = (SELECT min(p) FROM rev)")
                assert repair(other).lost
        write(alice, "a.txt", "after")
        commit(alice, "After")
        # The first draft's number is lost for good then, and those after it stand on it.
        assert names(check(alice).bad) == ({("line", "main@2")} if how == "repair" else set())


def test_a_vault_that_is_open_while_another_process_adopts_signs_with_the_new_key(copy: Vault) -> None:
    """Decision 2: with the key of before nothing could be written until the program was begun anew."""
    write(copy, "a.txt", "before\n")
    commit(copy, "Before")
    drawn = replace(copy.around, entropy=around(copy.folder.parent, "another draw").entropy)
    with Vault(copy.folder, drawn) as other:
        assert adopt(other)
    write(copy, "a.txt", "after\n")
    release(copy, None, "After")
    assert copy.key().verifier == copy.node
    assert copy.store.rows("SELECT count(*) FROM log WHERE node = ?", copy.node.text) == [(2,)]
    assert check(copy).bad == ()


def test_a_lost_audit_entry_shows_and_a_backup_gives_it_back(copy: Vault, grown: tuple[Path, Vault]) -> None:
    """CYB-10: each gap is named by its numbers, with what to do; nothing else of a trail is ever taken."""
    assert verify_trail(copy).ok
    ((lost,),) = copy.store.rows("SELECT count(*) FROM audit")
    with copy.store.transaction():
        copy.store.run("DELETE FROM body WHERE p IN (SELECT p FROM audit WHERE seq IN (1, 4, 5))")
    bad = [thing for thing in repair(copy).bad if thing.kind == "audit"]
    assert [(thing.name, thing.code) for thing in bad] == [("1", "sequence"), ("4", "sequence")]
    assert all("lace record put FILE" in thing.message for thing in bad)
    assert "entries 4 to 5 are missing" in bad[1].message
    verdict = verify_trail(copy)
    assert (verdict.length, verdict.behind) == (0, lost - 3)
    file = copy.folder / "trail.rec"
    file.write_bytes(b"".join(export(grown[1], "lace/audit")))
    assert len(put(copy, file).received) == 3
    assert verify_trail(copy).ok
    assert check(copy).ok
    assert verify_trail(copy).length == lost + 1
    assert put(copy, file).received == ()


def test_a_damaged_entry_behind_a_lost_one_keeps_no_other_record_out(copy: Vault, grown: tuple[Path, Vault]) -> None:
    """CYB-10: a sound file was refused as damaged, for what lies in the vault and not in the file."""
    with copy.store.transaction():
        copy.store.run("DELETE FROM body WHERE p IN (SELECT p FROM audit WHERE seq = 4)")
    repair(copy)
    with copy.store.transaction():
        copy.store.run("UPDATE body SET bytes = substr(bytes, 2) WHERE p = (SELECT p FROM audit WHERE seq = 5)")
    file = copy.folder / "trail.rec"
    file.write_bytes(b"".join(export(grown[1], "lace/audit")))
    assert put(copy, file).received == (), "what the one before was, its damaged bytes cannot tell"
    repair(copy)
    assert len(put(copy, file).received) == 2
    assert verify_trail(copy).ok


def test_a_file_with_more_entries_than_can_be_missing_is_refused(
    copy: Vault, grown: tuple[Path, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-10: all that it offered for one lost number was held in memory, however much that was."""
    with copy.store.transaction():
        copy.store.run("DELETE FROM body WHERE p IN (SELECT p FROM audit WHERE seq = 3)")
    repair(copy)
    good = [*export(grown[1], "lace/audit")]
    lost = next(read_audit(seal) for seal in trail(grown[1]) if seal.plex.name == "3")
    others = [Seal.sign(replace(lost, object=f"{n}").to_plex(), grown[1].key()).encode() for n in range(13)]
    file = copy.folder / "trail.rec"
    file.write_bytes(b"".join([*others, *good]))
    monkeypatch.setattr(parcels, "_ENTRIES_MORE", 10)
    with pytest.raises(parcels.TooManyEntries, match="more than 12 entries for the 1 missing"):
        put(copy, file)
    assert not verify_trail(copy).ok
    file.write_bytes(b"".join([*others[:5], *good]))
    put(copy, file)
    assert verify_trail(copy).ok, "the one that the next names, and no other of its number"


def test_damage_of_the_file_itself_is_named(tmp_path: Path) -> None:
    """Every page of the store overwritten in turn: the vault opens and fsck says so, or opening says so."""
    vault = found(tmp_path)
    write(vault, "a", "x" * 20_000)
    commit(vault, "Much")
    vault.close()
    path = vault.dot / "store.db"
    whole = path.read_bytes()
    told = set()
    for page in range(len(whole) // 4096):
        path.write_bytes(whole[: page * 4096] + bytes(4096) + whole[(page + 1) * 4096 :])
        try:
            with Vault(vault.folder, vault.around) as again:
                report = check(again)
                told.add("fsck" if not report.ok else f"nobody (page {page})")
        except StoreDamaged:
            told.add("opening")
    assert told == {"fsck", "opening"}


def test_a_check_can_be_stopped(grown: tuple[Path, Vault]) -> None:
    _, alice = grown

    def stop() -> None:
        raise Cancelled("Stopped as you asked.")

    with pytest.raises(Cancelled):
        check(alice, watch=Watch(cancelled=stop))
    assert check(alice).ok


def test_a_repair_knows_what_to_do_about_every_local_table(tmp_path: Path) -> None:
    """APP-13, APP-14: each is found again or looked through, and the commands that are named exist."""
    alice = found(tmp_path)
    watched = {str(row[0]) for row in alice.store.rows("SELECT name FROM guard")}
    assert watched == fsck_own._FOUND_AGAIN | fsck_own._LOOK.keys()
    assert not fsck_own._FOUND_AGAIN & fsck_own._LOOK.keys()
    named = {word for told in fsck_own._LOOK.values() for word in re.findall(r"lace ((?:config |desk )?[a-z]+)", told)}
    assert len(named) > 5
    assert named <= {verb.name for verb in VERBS}


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("checkout", "commit_hash = 's' || substr(commit_hash, 2)"),
        ("checkout", "commit_hash = substr(commit_hash, 1, 9) || '?' || substr(commit_hash, 11)"),
        ("checkout", "tree = 'p' || substr(tree, 2)"),
        ("checkout", "also = 'junk'"),
        ("unfinished", "after = 'p' || substr(after, 2)"),
        ("unfinished", "before = 'junk'"),
    ],
)
def test_a_damaged_note_of_a_folder_is_named_and_found_again(
    copy: Vault, table: str, change: str, is_told: bool
) -> None:
    """APP-13, APP-14: every command on the folder ended with 40, a repair did too, or took the note as it was."""
    with copy.store.transaction():
        copy.store.run("INSERT INTO unfinished SELECT desk, tree, tree FROM checkout")
    before = copy.store.rows("SELECT * FROM checkout")
    write(copy, "mine.txt", "not committed\n")
    if not is_told:  # as rot comes: the sums know nothing of it
        copy.store.db.create_function("mix", -1, lambda total, *_values: total)
    copy.store.db.execute(f"UPDATE {table} SET {change}")
    with Vault(copy.folder, copy.around) as fresh:
        with pytest.raises(StoreDamaged, match="noted of the folder"):
            commit(fresh, "Refused")
        assert ("local", table) in names(check(fresh).bad)
        done = repair(fresh)
        assert done.ok, done.bad
        assert fresh.store.rows("SELECT * FROM checkout") == before
        assert (fresh.folder / "mine.txt").read_text() == "not committed\n"
        commit(fresh, "Goes on")
        assert check(fresh).ok


def test_a_damaged_note_of_a_folder_of_which_nothing_can_be_told_goes(tmp_path: Path) -> None:
    """APP-13: the folder keeps what it holds, as work that is not committed."""
    with found(tmp_path) as alice:
        write(alice, "mine.txt", "mine\n")
        with alice.store.transaction():
            alice.store.run("INSERT INTO checkout VALUES ('main', 's', 'p', '')")
            alice.store.run("INSERT INTO unfinished VALUES ('main', 'p', 'p')")
        assert repair(alice).ok
        assert alice.store.rows("SELECT 1 FROM checkout UNION SELECT 1 FROM unfinished") == []
        commit(alice, "Mine")
        assert check(alice).ok


_NO_TEXT = "CAST(x'61ff62' AS TEXT)"  # which is no UTF-8


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("log", "seq = ''"),
        ("vector", "seq = x''"),
        ("link", f"t = {_NO_TEXT}"),
        ("exposure", "p = '' WHERE at = 1"),
        ("meta", "value = x'61' WHERE key = 'epoch'"),
        ("checkout", "also = x''"),
        ("checkout", f"tree = {_NO_TEXT}"),
        ("place", f"uri = {_NO_TEXT}"),
        ("seen", "head = 'text'"),
        ("guard", "sum = 'text' WHERE name = 'place'"),
    ],
)
def test_a_value_that_became_one_of_another_type_is_named_and_made_right(copy: Vault, table: str, change: str) -> None:
    """APP-13, APP-14: fsck and its repair ended as a fault of lace, or did not notice it."""
    copy.store.db.create_function("mix", -1, lambda total, *_values: total)
    copy.store.db.execute(f"UPDATE {table} SET {change}")
    with Vault(copy.folder, copy.around) as fresh:
        (bad,) = examine(fresh).bad
        assert (bad.name, bad.code) == (table, "wrong-type")
        assert "lace fsck --repair" in bad.message
        assert mend(fresh).ok
        assert examine(fresh).ok
        commit(fresh, "Goes on")


def test_whoever_stumbles_over_a_value_of_another_type_is_sent_to_the_repair(copy: Vault) -> None:
    """APP-14: status ended as a fault of lace; one that is none of the store's stays what it is."""
    with pytest.raises(ValueError, match="mine"), Vault(copy.folder, copy.around) as fresh:
        raise ValueError("mine")
    looks: list[tuple[str, Callable[[Vault], object]]] = [
        ("seq = ''", status),
        (f"hash = {_NO_TEXT}", lambda vault: vault.store.rows("SELECT hash FROM log")),
    ]
    for change, look in looks:
        copy.store.db.execute(f"UPDATE log SET {change}")
        with pytest.raises(StoreDamaged) as caught, Vault(copy.folder, copy.around) as fresh:
            look(fresh)
        assert "lace fsck --repair" in caught.value.hint
        assert repair(copy).ok


def test_a_note_of_what_was_put_aside_that_rotted_is_passed_over(copy: Vault) -> None:
    """APP-13: fsck and its repair ended with 40."""
    with copy.store.transaction():
        put_text(copy.store, PUT_ASIDE.name, "junk")
    assert examine(copy).ok
    assert mend(copy).ok
    assert text_at(copy.store, PUT_ASIDE.name) == ""


def test_a_disk_that_fails_a_check_is_named(copy: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-14: what lies beside the store cannot be taken away; it was a bug report."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    with pytest.raises(NotWritable, match="nput/output error"):
        check(copy)
    (copy.dot / "config.toml").write_text("[")
    assert {bad.kind for bad in check(copy).bad} == {"view", "setting"}, "damage is told before it"


@pytest.mark.parametrize("folder", ["../x", "/x", "songs/", "", ".vault"])
def test_the_folder_of_a_desk_that_became_no_path_is_named_with_the_way_out(tmp_path: Path, folder: str) -> None:
    """APP-13, APP-14: a repair took it as it was, and then each commit said to rename a file."""
    with found(tmp_path) as alice:
        write(alice, "songs/a.txt", "la\n")
        add_desk(alice, "songs", "songs")
        commit(alice, "Begin", desk="songs")
        write(alice, "b.txt", "mine\n")
        alice.store.db.execute("UPDATE desk SET dir = ?", (folder,))
        for report in (check(alice), repair(alice)):
            (bad,) = report.bad
            assert (bad.kind, bad.name) == ("local", "desk")
            assert "lace desk add songs DIR" in bad.message
        for desk in ("main", "songs"):  # or main would take what the other desk holds for its own
            with pytest.raises(FolderGone) as caught:
                commit(alice, "More", desk=desk)
            assert "lace desk add songs DIR" in caught.value.hint
        add_desk(alice, "songs", "songs")
        commit(alice, "More")
        assert check(alice).bad == ()
        assert alice.store.rows("SELECT dir FROM desk") == [("songs",)]
