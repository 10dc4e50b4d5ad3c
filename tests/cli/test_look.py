"""`audit`, `fsck`, `config`, `record show`, `record put`, `record export`, `record verify`, as people run them."""

from __future__ import annotations

import re
import sqlite3
import tracemalloc
from io import BytesIO
from pathlib import Path

import pytest

from tests.cli.looking import error_of
from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.vault.records.examples import INVALID, VALID
from vault.config import SETTINGS
from vault.records import Blob, Plex, RecordHash, Seal, Tai, iter_records, parse_record
from vault.records.errors import RecordError
from vault.sexp import loads
from vault.store.schema import DERIVED_TABLES


@pytest.fixture
def settled(shelf: Shelf, alice: Person) -> Person:
    """Alice with a release and a later commit."""
    shelf.lay(_settled)
    return alice


def _settled(root: Path) -> None:
    alice = person_in(root, "alice")
    alice.lace("init", "--name", "alice")
    alice.write("notes.txt", "one\n")
    alice.write("deep/song.txt", "la\n")
    alice.lace("release", "1.0.0", "-m", "First")
    alice.write("notes.txt", "two\n")
    alice.lace("commit", "-m", "Second")


def store_of(person: Person) -> sqlite3.Connection:
    return sqlite3.connect(person.folder / ".vault" / "store.db", isolation_level=None)


# Audit


def test_the_trail_says_everything(settled: Person) -> None:
    """CYB-9, CYB-12: every entry has all its parts, numbered and chained."""
    entries = settled.lace("audit")["entries"]
    assert settled.lace("audit", "list")["entries"] == entries
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry["parent"] for entry in entries] == [None, *(entry["id"] for entry in entries[:-1])]
    assert {entry["action"]["verb"] for entry in entries} >= {"seal-commit", "seal-release"}
    for entry in entries:
        assert set(entry) == {
            "id", "sequence", "timestamp", "tai", "time", "parent", "actor", "action", "context", "environment", "seal",
        }  # fmt: skip
        assert set(entry["action"]) == {"verb", "object", "parameters"}
        assert set(entry["context"]) == {"motivation", "relates_to", "language"}
        assert re.fullmatch("[0-9a-f]{128}", entry["seal"])
    (release,) = settled.lace("audit", "list", "--verb", "seal-release")["entries"]
    assert (release["action"]["object"], release["context"]["motivation"]) == ("main@1.0.0", "First")
    assert settled.lace("audit", "-n", "1")["entries"] == entries[-1:]
    for number in ("0", "-5"):
        error_of(settled.run("--json", "audit", f"-n={number}"), "bad-arguments")


def test_a_filter_that_leaves_nothing_says_so(settled: Person) -> None:
    """CYB-13: an empty list is no word about what was done, and a date that is none asks for one."""
    for option, value in (
        ("--actor", "nobody"),
        ("--verb", "nope"),
        ("--until", "1999-01-01"),
        ("--since", "2099-01-01"),
    ):
        told = settled.text("audit", option, value)
        assert (f"No entry fits {option}." in told, "lace audit" in told) == (True, True)
        assert ("before 1999-01-01 begins" in told) == (option == "--until")
        assert settled.lace("audit", option, value)["entries"] == []
    for wrong in ("2026-13-01", "3", "tuesday", "-"):
        error = settled.lace("audit", f"--since={wrong}", expect=2)["error"]
        assert (error["code"], error["hint"]) == ("bad-arguments", "Dates are UTC: 2026-05-01 or 2026-05-01T12:30")


def test_the_trail_goes_out_as_text_and_as_s_expressions(settled: Person) -> None:
    """CYB-13."""
    text = settled.text("audit", "list")
    assert "seal-release  main@1.0.0" in text
    assert "because: First" in text
    trail = loads(settled.text("audit", "list", "--sexp"), 1 << 20)
    assert isinstance(trail, tuple)
    assert len(trail) == 1 + len(settled.lace("audit")["entries"])


def test_a_whole_trail_is_proven_and_a_broken_one_named(settled: Person) -> None:
    """CYB-10: the first break, by number."""
    proven = settled.lace("audit", "verify")
    assert (proven["ok"], proven["first_break"]) == (True, None)
    assert proven["length"] == len(settled.lace("audit")["entries"])
    with store_of(settled) as db:
        db.execute("UPDATE body SET bytes = substr(bytes, 1, length(bytes) - 2) || x'290b' WHERE p ="
                   " (SELECT p FROM audit WHERE seq = 2)")  # fmt: skip
    broken = settled.lace("audit", "verify", expect=1)
    assert (broken["ok"], broken["length"], broken["first_break"]["sequence"]) == (False, 1, 2)
    assert "broken" in settled.run("audit", "verify").text


def _damage_entry(person: Person, seq: int) -> None:
    with store_of(person) as db:
        db.execute("UPDATE body SET bytes = replace(bytes, x'286175646974', x'286175646975') WHERE p ="
                   " (SELECT p FROM audit WHERE seq = ?)", (seq,))  # fmt: skip


def test_a_damaged_entry_hides_no_other_and_is_named(settled: Person) -> None:
    """CYB-13, APP-14: neither the trail nor any of its verbs could be listed, and the way out was to fetch it again."""
    entries = settled.lace("audit")["entries"]
    assert settled.lace("audit")["damaged"] == []
    _damage_entry(settled, 2)
    shown = settled.lace("audit", expect=1)
    assert shown["entries"] == [entry for entry in entries if entry["sequence"] != 2]
    assert shown["damaged"] == [{"sequence": 2, "record": entries[1]["id"]}]
    for words in (["audit", "-n", "1"], ["audit", "--verb", "seal-commit"], ["audit", "--sexp"]):
        told = settled.run(*words)
        assert (told.code, "seal-commit" in told.text) == (1, True)
        assert f"Entry 2, {entries[1]['id']}, is damaged" in told.err
        assert "lace audit verify" in told.err
    assert settled.lace("undo", "--dry-run")["would_undo"], "what was done after it is known"
    error = settled.lace("undo", expect=41)["error"]
    assert error["hint"] == "Run: lace fsck --repair", "it said to fetch the record from another place"
    _damage_entry(settled, entries[-1]["sequence"])
    error = settled.lace("undo", "--dry-run", expect=2)["error"]
    assert f"entry {entries[-1]['sequence']} of the audit trail is damaged" in error["message"]
    settled.write("notes.txt", "three\n")
    settled.lace("commit", "-m", "Third")
    with store_of(settled) as db:
        db.execute("DELETE FROM body WHERE p = (SELECT p FROM audit WHERE seq = 3)")
    assert settled.lace("undo", "--dry-run")["would_undo"]
    settled.lace("bundle", "create", str(settled.folder.parent / "all.lace"))
    with store_of(settled) as db:
        db.execute("DELETE FROM body WHERE p = (SELECT p FROM audit WHERE seq = 4)")
    error = settled.lace("undo", "--dry-run", expect=2)["error"]
    assert "entry 4 of the audit trail is missing" in error["message"], "what came before it was not done last"


def test_a_repair_says_of_nothing_that_is_lost_that_it_was_repaired(settled: Person) -> None:
    """CYB-10, APP-13: nor does fsck lead to a repair again and again, where that can do nothing."""
    ids = [entry["id"] for entry in settled.lace("audit")["entries"]]
    _damage_entry(settled, 2)
    assert "Next: lace fsck --repair" in settled.run("fsck").text
    report = settled.lace("fsck", "--repair", expect=1)
    assert not [thing for thing in report["repaired"] if ids[1] in thing["message"]]
    assert report["bad"][0]["message"].startswith("In the audit trail: entry 2 is missing.")
    told = settled.run("fsck")
    assert (told.code, "entry 2 is missing" in told.text, "--repair" in told.text) == (1, True, False)


# Fsck


def test_fsck_leads_to_no_repair_of_a_key(settled: Person) -> None:
    """APP-14: its owner alone closes it or brings it back; it led to a repair that said the same again."""
    settled.lace("config", "set", "share", "commits")  # which a repair would bring back
    (key,) = (settled.home / "lace" / "keys").glob("*.key")
    key.chmod(0o644)
    told = settled.run("fsck")
    assert (told.code, "chmod go-rwx" in told.text, "--repair" in told.text) == (1, True, False)


def test_who_lacks_keys_is_first_told_that_they_may_lie_elsewhere(settled: Person) -> None:
    """APP-14: with a disk that was not mounted, a new key for good was the one way out that it named."""
    settled.write("new.txt", "new")
    settled.environ["LACE_HOME"] = str(settled.home / "nothing here")
    error = settled.lace("commit", "-m", "new", expect=19)["error"]
    assert error["code"] == "mark-missing"
    assert error["hint"].startswith("If keys lie on a disk that is not here now, or LACE_HOME names another folder, ")
    assert "or LACE_HOME names another folder, bring that back" in settled.run("fsck").text
    assert settled.lace("status")["held_back"]["code"] == "mark-missing"
    del settled.environ["LACE_HOME"]
    assert settled.lace("status")["held_back"] is None  # else it leads to `adopt` whoever brought the disk back
    assert settled.lace("commit", "-m", "new")["added"] == ["new.txt"]
    assert settled.lace("fsck")["ok"]


def test_fsck_says_that_all_is_well(settled: Person) -> None:
    report = settled.lace("fsck")
    assert (report["ok"], report["bad"], report["repaired"]) == (True, [], [])
    assert report["records"] == settled.lace("status")["records"]
    assert "are whole" in settled.text("fsck")


def test_fsck_names_what_is_wrong_and_repairs_views(settled: Person) -> None:
    """APP-13 and architecture, decision 3."""
    before = settled.lace("log")
    with store_of(settled) as db:
        for table in DERIVED_TABLES:
            db.execute(f"DROP TABLE {table}")
    assert settled.run("status").code == 41
    report = settled.lace("fsck", expect=1)
    assert {thing["name"] for thing in report["bad"]} >= set(DERIVED_TABLES)
    assert all(set(thing) == {"kind", "name", "code", "message"} for thing in report["bad"])
    assert "lace fsck --repair" in settled.run("fsck").text
    repaired = settled.lace("fsck", "--repair")
    assert (repaired["ok"], repaired["bad"], len(repaired["repaired"])) == (True, [], len(report["bad"]))
    assert settled.lace("log") == before


def test_fsck_names_a_damaged_record(settled: Person) -> None:
    with store_of(settled) as db:
        (digest,) = db.execute("SELECT digest FROM body WHERE p = 3").fetchone()
        db.execute("UPDATE body SET bytes = bytes || x'00' WHERE p = 3")
    (bad, *_) = settled.lace("fsck", expect=1)["bad"]
    assert bad["kind"] == "record"
    assert bad["name"][2:] == RecordHash("S", digest).text[2:]
    repaired = settled.run("--json", "fsck", "--repair").json
    assert len(repaired["damaged"]) == 1
    assert (settled.folder / ".vault" / "damaged" / repaired["damaged"][0]).is_file()


def test_fsck_says_what_a_repair_kept_until_it_is_deleted(settled: Person) -> None:
    """APP-13: a store that rotted lay there for good, as large as it was, and only the repair had said so."""
    settled.run("fsck", "--repair")
    assert settled.lace("fsck")["damaged"] == []
    with store_of(settled) as db:
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'place'").fetchall()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = settled.folder / ".vault" / "store.db"
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096] ^= 1
    path.write_bytes(data)
    settled.run("fsck", "--repair")
    kept = settled.folder / ".vault" / "damaged" / "store.db"
    assert kept.is_file()
    assert settled.lace("fsck")["damaged"] == ["store.db"]
    assert "Once you miss nothing, delete it" in settled.run("fsck").text
    kept.unlink()
    assert "delete it" not in settled.run("fsck").text


def test_fsck_of_a_file_that_is_no_store_does_not_point_to_itself(settled: Person) -> None:
    path = settled.folder / ".vault" / "store.db"
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    path.write_bytes(b"nothing of the kind" * 500)
    told = [settled.lace(*words, expect=41)["error"] for words in (("fsck",), ("fsck", "--repair"))]
    assert {error["code"] for error in told} == {"store-damaged"}
    assert told[0]["hint"] == "Run: lace fsck --repair"  # which brings back what a check alone leaves
    assert "fsck" not in told[1]["hint"]


@pytest.mark.parametrize("table", ["log", "seen"])
def test_a_damaged_store_is_named_and_nobody_elses_mailbox(
    settled: Person, bob: Person, tmp_path: Path, table: str
) -> None:
    """APP-14: SQLite's fault in the middle of a sync is one of this store: no bug, and nothing that alice did."""
    settled.lace("place", "add", "between", str(tmp_path / "between"))
    bob.lace("accept", settled.lace("invite", "bob")["invite"])
    for person in (settled, bob, settled):
        person.run("sync", "between")
    with store_of(bob) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with (bob.folder / ".vault" / "store.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * 64)
    answer = bob.run("sync", "between")
    assert answer.code == 41
    assert "The store of the vault in " in answer.err
    assert "lace fsck --repair" in answer.err


def test_fsck_of_a_vault_that_waits_to_be_admitted(settled: Person, bob: Person) -> None:
    """A founding record that has not arrived is no damage, whatever texts the files hold."""
    bob.lace("accept", settled.lace("invite", "bob")["invite"])
    bob.write("odd.txt", "\nApp: lace/founding\n")
    bob.lace("commit", "-m", "odd")
    assert bob.lace("fsck")["bad"] == []
    assert bob.lace("fsck", "--repair")["ok"]


def test_a_trail_goes_on_after_adopt(settled: Person) -> None:
    """CYB-10: the new node's own entry vouches for the old one; both are expected signers."""
    old = settled.lace("id")["node"]
    settled.lace("adopt", "--name", "alice2", "--yes")
    entries = settled.lace("audit")["entries"]
    assert {entry["actor"]["principal"] for entry in entries} == {old, settled.lace("id")["node"]}
    assert settled.lace("audit", "verify")["length"] == len(entries)
    assert settled.lace("fsck")["bad"] == []


@pytest.mark.parametrize(
    "options", [["--verb", "seal-commit"], ["--actor", "alice"], ["--since", "2026-01-01"], ["-n", "1"], ["--sexp"]]
)
def test_what_narrows_the_list_is_refused_where_the_trail_is_proven(settled: Person, options: list[str]) -> None:
    """CYB-10, CYB-14: the whole trail was proven whatever was asked, as if that part of it had been."""
    error = error_of(settled.run("--json", "audit", "verify", *options), "bad-arguments")
    assert error["message"] == f"lace audit verify proves the whole trail: {options[0]} goes with audit list."


# Config


def test_settings_are_listed_set_and_returned_to_their_default(settled: Person) -> None:
    """LAZ-58, LAZ-62."""
    rows = settled.lace("config", "list")["settings"]
    assert [row["key"] for row in rows] == list(SETTINGS)
    assert settled.lace("config", "get", "sync-strategy")["value"] == "manual"
    assert settled.lace("config", "set", "sync-strategy", "on-release")["value"] == "on-release"
    assert settled.text("config", "get", "sync-strategy") == "on-release\n"
    assert settled.lace("config", "set", "announce-unreleased", "yes")["value"] is True
    assert settled.text("config", "get", "announce-unreleased") == "true\n"
    assert settled.lace("config", "set", "sync-strategy")["chosen"] is False
    assert "announce-unreleased = true" in settled.text("config", "list")


def test_that_on_commit_shares_commits_is_said_where_either_setting_is_read_or_set(settled: Person) -> None:
    """LAZ-57, LAZ-60, H-29: friends got every commit while `share` said releases, and setting either said nothing."""
    told = "While sync-strategy is on-commit, friends get the content of each commit, whatever share is."
    assert settled.text("config", "set", "share", "releases") == "share is releases now.\n"
    assert settled.lace("config", "get", "share")["overruled_by"] is None
    assert settled.text("config", "set", "sync-strategy", "on-commit") == f"sync-strategy is on-commit now.\n{told}\n"
    assert settled.text("config", "set", "share", "releases") == f"share is releases now.\n{told}\n"
    asked = settled.run("config", "get", "share")
    assert (asked.out, asked.err) == (b"releases\n", f"{told}\n")
    assert settled.lace("config", "get", "share")["overruled_by"] == "sync-strategy"
    assert f"share = releases\n    {told}\n" in settled.text("config", "list")
    assert settled.text("config", "set", "share", "commits") == "share is commits now.\n"
    assert settled.text("config", "set", "sync-strategy") == "sync-strategy is manual now.\n"


def test_a_settings_file_that_no_repair_mends_is_named_with_its_way_out(settled: Person) -> None:
    """APP-14: a repair is the next step only where it helps, here where lace wrote the file that it puts back."""
    path = settled.folder / ".vault" / "config.toml"
    path.write_text("garbage")
    for words in (("fsck",), ("fsck", "--repair")):
        said = settled.run(*words)
        assert said.code == 1
        assert "or delete the file to return to the defaults" in said.text
        assert "Next:" not in said.text
    path.unlink()
    settled.lace("config", "set", "sync-interval", "60")
    path.write_text("garbage")
    assert "Next: lace fsck --repair" in settled.run("fsck").text
    assert settled.lace("fsck", "--repair")["ok"]
    assert settled.lace("config", "get", "sync-interval")["value"] == 60


def test_a_wrong_setting_is_refused_and_changes_nothing(settled: Person) -> None:
    for words, code in (
        (["get", "sync-strateg"], "unknown-setting"),
        (["set", "nope", "1"], "unknown-setting"),
        (["set", "sync-interval", "1"], "bad-setting"),
        (["set", "share", "everything"], "bad-setting"),
    ):
        assert settled.lace("config", *words, expect=2)["error"]["code"] == code
    assert not (settled.folder / ".vault" / "config.toml").exists()


# Records by hand


def test_a_record_is_shown_as_its_bytes(settled: Person) -> None:
    made = settled.lace("audit", "--verb", "seal-release")["entries"][0]["action"]["parameters"]["release"]
    shown = settled.run("record", "show", made)
    assert shown.code == 0
    sealed = parse_record(shown.out)
    assert isinstance(sealed, Seal)
    assert sealed.hash.text == made
    assert parse_record(settled.run("record", "show", sealed.plex.hash.text).out) == sealed.plex
    unknown = RecordHash("S", bytes(32)).text
    for text in ("nothing", unknown):
        assert settled.lace("record", "show", text, expect=2)["error"]["code"] == "no-such-record"


def test_a_record_is_named_by_its_address(settled: Person) -> None:
    """FAC-26, FAC-27, FAC-29: a hash address is one record; a coordinate names all versions, and chooses none."""
    made = settled.lace("audit", "--verb", "seal-release")["entries"][0]["action"]["parameters"]["release"]
    stored = settled.run("record", "show", made).out
    at = f"//{settled.lace('status')['group']}//lace/release//main/1.0.0"
    for text in (f"////{made}", at, f"{at}[0]", f"{at}[*]", f"{at}[{made}]"):
        assert settled.run("record", "show", text).out == stored
    assert settled.run("record", "export", at).out == stored
    settled.write("notes.txt", "again\n")
    settled.lace("commit", "-m", "again")
    commits = at.replace("lace/release//main/1.0.0", "lace/commit//main")
    assert settled.lace("record", "show", commits, expect=2)["error"]["code"] == "several-records"
    tip = parse_record(settled.run("record", "show", f"{commits}[0]").out)
    assert isinstance(tip, Seal)
    assert tip.plex.blob.data == b"again"
    assert records_of(settled.run("record", "export", commits).out)[0] == tip.hash
    for text, code in ((f"{at}[9]", "no-such-record"), (f"{at}[x]", "bad-address"), ("//a//b", "bad-address")):
        assert settled.lace("record", "show", text, expect=2)["error"]["code"] == code


def records_of(data: bytes) -> list[RecordHash]:
    """Return the hashes of the records of a stream."""
    return [record.hash for record in iter_records(BytesIO(data))]


def test_a_terminal_gets_a_record_harmless(settled: Person) -> None:
    settled.write("wild.txt", "\x1b[2J\x07")
    settled.lace("commit", "-m", "wild")
    data = settled.run("record", "export", "lace/data")
    wild = next(record for record in records(data.out) if b"\x1b" in record.blob.data)
    assert b"\x1b[2J" in settled.run("record", "show", wild.hash.text).out
    shown = settled.run("record", "show", wild.hash.text, tty=True)
    assert (shown.code, b"\x1b[2J" in shown.out, b"\\x1b[2J" in shown.out) == (0, False, True)


def records(data: bytes) -> list[Plex]:
    """Return the records of a stream that are Plexes."""
    return [record for record in iter_records(BytesIO(data)) if isinstance(record, Plex)]


def test_what_is_exported_verifies_and_can_be_put_in_elsewhere(settled: Person, bob: Person, tmp_path: Path) -> None:
    """A file carried by hand does what a sync does, with the same care (LAZ-63)."""
    settled.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", settled.lace("invite", "bob")["invite"])
    settled.lace("sync")
    shared = settled.run("record", "export", "shared").out
    assert all(row["ok"] for row in settled.stream("record", "verify", stdin=shared))
    assert b"App: lace/audit" not in shared
    bob.write("carried.records", shared)
    done = bob.lace("record", "put", "carried.records")
    assert (done["rejected_hashes"], done["unreached"]) == ([], 0)
    assert done["received"] + done["known"] == len(bob.stream("record", "verify", "carried.records"))
    bob.lace("update")
    assert (bob.folder / "notes.txt").read_text() == "one\n"
    assert bob.lace("fsck")["ok"]
    again = bob.lace("record", "put", "carried.records")
    assert (again["received"], again["known"]) == (0, done["received"] + done["known"])


def test_a_release_is_exported_with_what_it_reaches_and_no_more(settled: Person) -> None:
    one = settled.run("record", "export", "main@1.0.0").out
    contents = {record.blob.data for record in records(one) if record.app == "lace/data"}
    assert contents == {b"one\n", b"la\n"}
    release = settled.lace("audit", "--verb", "seal-release")["entries"][0]["action"]["parameters"]["release"]
    assert settled.run("record", "export", release).out == one
    for selector in ("main@9.9.9", "lace/nothing", "nonsense", "main@"):
        assert settled.lace("record", "export", selector, expect=2)["error"]["code"] == "selects-nothing"


def test_a_stranger_s_and_an_unreached_record_are_not_put_in(settled: Person) -> None:
    """LAZ-71, INT-118: nothing is stored that no member vouches for."""
    group = settled.lace("status")["group"]
    loose = Plex.build(group=group, app="lace/data", name="x" * 43, tai=Tai.ZERO, data=b"loose")
    unsigned = Plex.build(group=group, app="lace/release", name="main/1.0.0", tai=Tai.ZERO)
    settled.write("odd.records", Blob(b"bare").encode() + unsigned.encode() + loose.encode())
    before = settled.lace("status")["records"]
    done = settled.lace("record", "put", "odd.records", expect=1)
    assert (done["received"], done["unreached"], len(done["rejected_hashes"])) == (0, 1, 2)
    assert settled.lace("fsck")["ok"]
    assert settled.run("record", "export", "lace/data").out.count(b"loose") == 0
    assert settled.lace("status")["records"] == before + 3  # audit: one for each refusal, one for the act


def test_a_file_of_something_else_is_refused(settled: Person) -> None:
    settled.write("x.records", b"\x1b[2Jnot records")
    assert settled.lace("record", "put", "x.records", expect=40)["error"]["code"] == "record-markline"
    assert settled.lace("record", "put", "absent", expect=13)["error"]["code"] == "file-missing"


# Verify


@pytest.mark.parametrize(("what", "stored"), VALID, ids=[what for what, _ in VALID])
def test_verify_accepts_every_valid_example(alice: Person, what: str, stored: bytes) -> None:
    """REC-1 to REC-61: the valid example of every rule."""
    (row,) = alice.stream("record", "verify", stdin=stored)
    assert row["ok"], what
    assert (row["hash"], row["error"]) == (parse_record(stored).hash.text, None)


@pytest.mark.parametrize(
    ("rule", "what", "stored", "error"), INVALID, ids=[f"{rule} {what}" for rule, what, _, _ in INVALID]
)
def test_verify_refuses_every_invalid_example_and_names_the_rule(
    alice: Person, rule: str, what: str, stored: bytes, error: type[RecordError]
) -> None:
    """REC-1 to REC-61: the invalid examples, each for its rule only."""
    result = alice.run("--json", "record", "verify", stdin=stored)
    assert result.code == error.exit_code, (rule, what)
    assert next(row for row in result.lines if not row["ok"])["error"]["code"] == error.code


def test_32_mib_are_judged_in_bounded_memory(alice: Person) -> None:
    """REC-27, REC-82: the largest Blob costs no more memory than a small one."""
    path = alice.write("large.records", Blob(bytes(32 << 20)).encode())
    alice.stream("record", "verify", str(path))  # imports are not what is measured
    tracemalloc.start()
    try:
        (row,) = alice.stream("record", "verify", str(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert row["ok"]
    assert row["length"] > 32 << 20
    assert peak < 8 << 20


def test_who_is_back_on_the_machine_of_the_key_is_held_back_no_more(settled: Person) -> None:
    """APP-13, LAZ-54: one refused commit elsewhere, and each look said so until something was signed."""
    settled.write("new.txt", "new")
    elsewhere = settled.home / "elsewhere"
    elsewhere.mkdir()
    here = settled.environ.get("HOME")
    settled.environ |= {"HOME": str(elsewhere), "LACE_HOME": str(settled.home / "lace")}
    error = settled.lace("commit", "-m", "new", expect=19)["error"]
    assert settled.lace("status")["held_back"]["code"] == error["code"] == "other-machine"
    if here is None:
        del settled.environ["HOME"]
    else:
        settled.environ["HOME"] = here
    assert settled.lace("status")["held_back"] is None
