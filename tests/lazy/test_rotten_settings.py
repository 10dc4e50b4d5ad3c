"""One cell that rotted of what a vault keeps of its places and friends ends no command for good (APP-13, APP-14)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lazy.belonging.admitting import spent_on
from lazy.belonging.beacon import Presence, my_beacon, publish_beacon
from lazy.belonging.circle import accept, invite, request_record, wants_in
from lazy.belonging.trust import peer_record
from lazy.conflict_words import detected_iso
from lazy.conflicts import conflicts
from lazy.interlace.scope import Scope
from lazy.links import links
from lazy.live.cursors import ExposureCursor, known, note_cursors
from lazy.mend import examine, mend
from lazy.people import peers, waits_by_name
from lazy.places.media import set_encrypted
from lazy.places.no_room import without_room
from lazy.places.registry import known_faults, place_named
from lazy.queue import next_sync, queue
from lazy.status import status
from lazy.sync import sync
from lazy.vectors import vectors
from tests.rows import put_text, text_at
from tests.vault.vaults import around, found, lived_in, write
from vault.content.keeping import Keep, keeps, set_keep
from vault.notes.own import NOWHERE
from vault.notes.places import PLACE_FAULT, SHOWN, WithoutRoom
from vault.profile import Request
from vault.records import Verifier, parse_record
from vault.releasing import release
from vault.vault import Vault


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two friends' vaults and their stick, where both encrypt what is theirs."""
    root = tmp_path_factory.mktemp("rotten")
    alice, bob = lived_in(root)
    for vault in (alice, bob):
        set_encrypted(vault, place_named(vault, "stick"), rebase=False)
    for vault in (alice, bob, alice, bob):
        sync(vault, ["stick"])
    for vault in (alice, bob):
        vault.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        vault.close()
    return root


@pytest.fixture
def alice(tmp_path: Path, grown: Path) -> Iterator[Vault]:
    """A copy of alice's, with a copy of the stick and of bob's."""
    root = tmp_path / "root"
    shutil.copytree(grown, root)
    for name in ("bob", "alice"):
        with Vault(root / name, around(root, name)) as vault, vault.store.transaction():
            vault.store.run("UPDATE place SET uri = ?", (root / "stick").as_uri())
    with Vault(root / "alice", around(root, "alice")) as vault:
        yield vault


def rot(vault: Vault, change: str, *values: object) -> None:
    """Change a cell past what watches it, as damage does."""
    db = vault.store.db
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    assert db.execute(f"UPDATE {change}", values).rowcount
    for _, sql in triggers:
        db.execute(sql)


def test_the_vault_is_well(alice: Vault) -> None:
    assert examine(alice).bad == ()


@pytest.mark.parametrize(
    "change",
    [
        "last_sync SET result = '4611'",
        "last_sync SET result = '{'",
        "last_sync SET result = '{}'",
        'last_sync SET result = \'{"problems": [4, {"pear": "bob"}]}\'',
        "peer_vector SET of_node = '0.5' WHERE of_node = node",
        "last_sync SET tai = '1'",
        "last_sync SET tai = x'00'",
        "met SET tai = '~'",
        "met SET said = '~'",
        "met SET unreleased = 'x'",
    ],
)
def test_a_note_of_a_visit_that_rotted_ends_no_command(alice: Vault, change: str) -> None:
    """APP-13, APP-14: status ended with 40, or as a fault of lace."""
    rot(alice, change)
    told = [status(alice), links(alice), queue(alice), vectors(alice), next_sync(alice)]
    told += [peer_record(alice, person.node, person.name) for person in peers(alice)]
    assert told
    (result,) = sync(alice, ["stick"])
    assert result.refusal is None


def _set(vault: Vault, key: str, value: str) -> None:
    with vault.store.transaction():
        put_text(vault.store, key, value)


_REFUSED = '{"code": "drop-full", "hint": "", "message": "", '
_ROTTEN = ["4611", "{", "[]", "{}", '{"medium": 4}', '"~"', '{"code": "~"']


@pytest.mark.parametrize(
    "value", [*_ROTTEN, '{"medium": "?"}', '{"medium": "?", "numbers": [4]}', '{"medium": "?", "numbers": {"?": "x"}}']
)
def test_what_a_place_showed_that_rotted_is_nothing_and_is_written_anew(alice: Vault, value: str) -> None:
    """APP-13, APP-14, CYB-18: each sync of that place ended as a fault of lace, for good."""
    (bob,) = (person.node for person in peers(alice))
    sync(alice, ["stick"])
    whole = text_at(alice.store, SHOWN.key("stick"))
    assert bob in whole
    medium = place_named(alice, "stick").place_id
    _set(alice, SHOWN.key("stick"), value.replace('"?": ', f'"{bob}": ').replace("?", medium))
    for _ in range(2):
        (result,) = sync(alice, ["stick"])
        assert (result.refusal, list(result.problems)) == (None, [])
    assert text_at(alice.store, SHOWN.key("stick")) == whole
    assert examine(alice).ok


@pytest.mark.parametrize(
    "value", [*_ROTTEN, '{"free": "x", "needed": 1, "waited": 1, "when": 1}', '{"free": 1, "needed": true}']
)
def test_what_had_no_room_that_rotted_is_nothing(alice: Vault, value: str) -> None:
    """APP-13, CLAY-79: then the copies are tried again."""
    _set(alice, "copies without room stick", value)
    assert without_room(alice.store, "stick") is None
    _set(alice, "copies without room stick", '{"free": null, "needed": 1, "waited": 1, "when": 1}')
    assert without_room(alice.store, "stick") == WithoutRoom(1, 1, None, 1)


@pytest.mark.parametrize("value", [*_ROTTEN, f'{_REFUSED}"when": 4}}', f'{_REFUSED}"when": "~"}}'])
@pytest.mark.parametrize("is_mended", [False, True])
def test_why_a_place_could_not_be_visited_that_rotted_ends_no_command(
    alice: Vault, value: str, is_mended: bool
) -> None:
    """APP-13, APP-14: status, queue, sync and the repair ended as a fault of lace, for good."""
    _set(alice, PLACE_FAULT.key("stick"), value)
    assert known_faults(alice) == {}
    assert [status(alice), links(alice), queue(alice), next_sync(alice)]
    if is_mended:
        assert mend(alice).ok
    else:
        (result,) = sync(alice, ["stick"], push=False)
        assert (result.refusal, list(result.problems)) == (None, [])
        # An emptied row was emptied again by each visit, which made every kept answer stale.
        assert not alice.store.has_note(PLACE_FAULT, "stick")


@pytest.mark.parametrize("setting", ["keys", "owners", "used"])
@pytest.mark.parametrize("at", [0, 3, 32])
def test_a_line_of_the_keys_of_a_place_that_rotted_is_passed_over_and_told_again(
    alice: Vault, setting: str, at: int
) -> None:
    """APP-13, APP-14: fsck, its repair and sync ended as a fault of lace, for good."""
    ((key, value),) = alice.store.rows(f"SELECT key, value FROM meta WHERE key LIKE 'sealed {setting} %'")
    text = str(value)
    at = min(at, len(text) - 1)
    rot(alice, "meta SET value = ? WHERE key = ?", text[:at] + "~" + text[at + 1 :], key)
    with Vault(alice.folder, alice.around) as fresh:
        assert ("local", "meta") in {(bad.kind, bad.name) for bad in examine(fresh).bad}
        assert mend(fresh).ok
        assert examine(fresh).ok
        assert "~" not in text_at(fresh.store, str(key))
        write(fresh, "more.txt", "more\n")
        release(fresh, None, "More")
        (result,) = sync(fresh, ["stick"])
        assert (result.refusal, list(result.problems)) == (None, [])
        assert examine(fresh).ok
    root = alice.folder.parent
    with Vault(root / "bob", around(root, "bob")) as bob:
        (result,) = sync(bob, ["stick"])
        assert (result.refusal, list(result.problems)) == (None, [])
        assert [str(new.version) for new in result.came.releases] == ["1.0.2"]


_RESTS = ["'0-x'", "'0'", "'0-1-2'", "'-'"]
_BUNDLES = ["replace(files, ' ', '0')", "replace(files, ' ', '  ')", "'z' || substr(files, 2)", "files || '~'", "'0'"]


@pytest.mark.parametrize("rotten", [f"copied = {each}" for each in _RESTS] + [f"files = {each}" for each in _BUNDLES])
def test_what_a_mailbox_rests_on_that_rotted_is_named_and_found_again(alice: Vault, rotten: str) -> None:
    """APP-13, APP-14: fsck or each sync and push ended as a fault of lace."""
    rot(alice, f"published SET {rotten}")
    assert ("local", "published") in {(bad.kind, bad.name) for bad in examine(alice).bad}
    assert mend(alice).ok
    write(alice, "more.txt", "more\n")
    release(alice, None, "More")
    (result,) = sync(alice, ["stick"])
    assert (result.refusal, list(result.problems)) == (None, [])
    assert examine(alice).ok


@pytest.mark.parametrize("rotten", ["copied = '0-x'", *(f"files = {each}" for each in _BUNDLES)])
def test_what_a_mailbox_rests_on_that_rotted_stops_no_sync(alice: Vault, rotten: str) -> None:
    """APP-13, APP-14: nor before a repair."""
    rot(alice, f"published SET {rotten}")
    write(alice, "more.txt", "more\n")
    release(alice, None, "More")
    (result,) = sync(alice, ["stick"])
    assert (result.refusal, list(result.problems)) == (None, [])


def test_the_time_of_a_conflict_that_rotted_ends_no_command(alice: Vault) -> None:
    """APP-13, LAZ-35: it outlived the repair, and each sync and lace conflicts ended with 40."""
    before = [detected_iso(conflict) for conflict in conflicts(alice)]
    assert all(before)
    rot(alice, "conflict SET detected = '4611~'")
    assert [detected_iso(conflict) for conflict in conflicts(alice)] == ["" for _ in before]
    (result,) = sync(alice, ["stick"])
    assert result.refusal is None
    mend(alice)
    assert {row[0] for row in alice.store.rows("SELECT detected FROM conflict")} == {""}
    assert examine(alice).ok


def test_a_line_of_the_keys_of_a_place_that_rotted_stops_no_sync(alice: Vault) -> None:
    """APP-14: nor before a repair."""
    rot(alice, "meta SET value = 'zz' || value WHERE key LIKE 'sealed %'")
    with Vault(alice.folder, alice.around) as fresh:
        (result,) = sync(fresh, ["stick"])
        assert (result.refusal, list(result.problems)) == (None, [])


@pytest.mark.parametrize("value", ["[[", "[1]", '[["deep", 0]]', '{"a": "b"}', '["\\ud800"]'])
def test_rules_of_keeping_that_rotted_let_nothing_go(alice: Vault, value: str) -> None:
    """APP-13, CLAY-79: prune and all that asks what is kept ended as a fault of lace."""
    set_keep(alice, "main", Keep("deep", 1))
    rot(alice, "meta SET value = ? WHERE value = ?", value, '[["deep", 1]]')
    assert keeps(alice.store, "main") == ()
    set_keep(alice, "main", Keep("deep", 2))
    assert keeps(alice.store, "main") == (Keep("deep", 2),)


@pytest.mark.parametrize("value", ["{", "[]", '{"a": "x"}'])
def test_where_a_path_was_looked_for_that_rotted_is_looked_again(alice: Vault, value: str) -> None:
    """APP-13, INT-120: each sync about a part ended as a fault of lace."""
    with alice.store.transaction():
        put_text(alice.store, NOWHERE.name, value)
    (result,) = sync(alice, ["stick"], scope=Scope(paths=frozenset({"none.txt"})))
    assert [problem.code for problem in result.problems] == ["no-such-path"]


@pytest.mark.parametrize(("key", "value"), [("status", "bvsy"), ("next", "on\x07 Sunday"), ("next", " on Sunday")])
def test_what_my_beacon_says_that_rotted_is_not_said(alice: Vault, key: str, value: str) -> None:
    """APP-13, LAZ-18: each sync and each lace beacon ended as a fault of lace, also after a repair."""
    publish_beacon(alice, Presence.BUSY, "on Sunday")
    rot(alice, "meta SET value = ? WHERE key = ?", value, f"beacon {key}")
    with Vault(alice.folder, alice.around) as fresh:
        said = my_beacon(fresh)
        assert (said.next_expected if said is not None else None) == (None if key == "status" else "when ready")
        (result,) = sync(fresh, ["stick"])
        assert (result.refusal, list(result.problems)) == (None, [])
        assert mend(fresh).ok
        assert text_at(fresh.store, f"beacon {key}") == ""
        now = publish_beacon(fresh, Presence.AWAY)
        assert now is not None
        assert now.status is Presence.AWAY


@pytest.mark.parametrize("change", ["node = node || '~'", "node = 'W' || substr(node, 2)", "node = ''"])
def test_the_key_of_a_peer_that_rotted_ends_no_sync(alice: Vault, change: str) -> None:
    """APP-13, LAZ-51: each sync ended with 40, also after a repair."""
    with alice.store.transaction():
        alice.store.run("INSERT INTO peer VALUES ('fay', ?)", Verifier(bytes(32)).text)
    assert [person.name for person in peers(alice)] == ["bob", "fay"]
    rot(alice, f"peer SET {change}")
    assert [person.name for person in peers(alice)] == ["bob"]
    (result,) = sync(alice, ["stick"])
    assert (result.refusal, list(result.problems)) == (None, [])
    assert mend(alice).ok
    assert alice.store.rows("SELECT name FROM peer") == []


def test_my_name_that_rotted_ends_no_sync_for_my_beacon(alice: Vault) -> None:
    """APP-13, LAZ-18: each sync ended with 40, for what nothing depends on."""
    publish_beacon(alice, Presence.BUSY)
    rot(alice, "meta SET key = 'namd' WHERE key = 'name'")
    with Vault(alice.folder, alice.around) as fresh:
        assert my_beacon(fresh) is None
        (result,) = sync(fresh, ["stick"])
        assert result.refusal is None
        mend(fresh)
        assert my_beacon(fresh) is not None


@pytest.mark.parametrize("column", ["at", "their_at"])
def test_a_cursor_that_rotted_to_what_no_log_has_is_none(alice: Vault, column: str) -> None:
    """APP-13, APP-14: each sync with that peer ended with 40 until a repair, which it did not name."""
    (bob,) = (Verifier.parse(person.node) for person in peers(alice))
    cursor = ExposureCursor("0" * 32, 4, "0" * 16)
    with alice.writing(receiving=True) as w:
        note_cursors(w, bob, mine=cursor, theirs=cursor)
    assert known(alice, bob) == (cursor, cursor)
    rot(alice, f"live SET {column} = -60")
    assert known(alice, bob) == ((None, cursor) if column == "at" else (cursor, None))


def test_the_invitation_that_rotted_of_who_waits_ends_no_command(tmp_path: Path) -> None:
    """APP-13, LAZ-54: status ended with 2 until they were let in, also after a repair."""
    with found(tmp_path, "alice") as alice:
        line = invite(alice, "cara").encode()
    cara, _ = accept(tmp_path / "cara", around(tmp_path, "cara"), line, name="cara")
    with cara:
        assert (waits_by_name(cara), wants_in(cara), spent_on(cara)) == (False, True, "")
        rot(cara, "meta SET value = replace(value, ?, '~~~') WHERE key = 'invitation'", line[-4:-1])
    with Vault(cara.folder, cara.around) as fresh:
        assert (waits_by_name(fresh), wants_in(fresh), spent_on(fresh)) == (True, True, "")
        assert status(fresh).name == "cara"
        assert Request.read(parse_record(request_record(fresh))).signer == fresh.node
        assert not examine(fresh).ok
        assert mend(fresh).ok
        assert status(fresh).name == "cara"
        assert Request.read(parse_record(request_record(fresh))).signer == fresh.node
