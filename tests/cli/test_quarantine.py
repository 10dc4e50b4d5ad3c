"""`lace quarantine` lists what was refused and judges it again (LAZ-71)."""

from __future__ import annotations

import sqlite3

import pytest

from tests.cli.looking import error_of
from tests.people import Person
from vault.profile import NodeCard
from vault.records import Seal, Tai
from vault.store import guard
from vault.suite import SigningKey

EVE = SigningKey.from_seed(b"\x08" * 32)


def test_a_strangers_record_waits_until_the_stranger_belongs(alice: Person) -> None:
    """LAZ-71, APP-14."""
    alice.lace("init", "--name", "alice", "--group", "band")
    assert alice.text("quarantine") == "Nothing was refused.\n"
    group = str(alice.lace("id")["group"])
    plex = NodeCard.to_plex(
        group=group, node=EVE.verifier, label="eve", machine=None, tai=Tai.parse("1700000000:000000000")
    )
    strange = Seal.sign(plex, EVE)
    alice.write("eve.records", strange.encode())
    assert alice.lace("record", "put", "eve.records", expect=1)["rejected_hashes"][0]["code"] == "stranger"
    listed = alice.lace("quarantine")
    assert [(one["hash"], one["code"], one["app"]) for one in listed["quarantine"]] == [
        (strange.hash.text, "stranger", "lace/node")
    ]
    refused = listed["quarantine"][0]
    assert refused["time"] == Tai.parse(refused["tai"]).to_utc_iso()  # of each time both forms
    assert listed["bytes"] == len(strange.encode()) <= listed["limit"]
    told = alice.text("quarantine")
    assert "not a member" in told
    assert told.endswith(f"1 refused; {len(strange.encode())} B of at most 16.0 MiB kept.\n")
    error_of(alice.run("--json", "quarantine", "admit", strange.hash.text), "signer-strange", 31)
    alice.lace("admit", "eve", "--key", EVE.verifier.text)
    assert alice.lace("quarantine", "admit", strange.hash.text[:9])["stored"] is True
    assert alice.lace("quarantine")["quarantine"] == []
    error_of(alice.run("--json", "quarantine", "drop", strange.hash.text), "not-in-quarantine")


@pytest.mark.parametrize(
    "change",
    [
        "quarantine SET kind = '~'",
        "refused SET kind = 'Q'",
        "refused SET digest = x'00'",
        "quarantine SET digest = x'00'",
        "quarantine SET bytes = x'00'",
        "refused SET tai = '~'",
    ],
)
def test_a_refusal_that_rotted_ends_no_command(alice: Person, change: str) -> None:
    """APP-13, LAZ-71: each sync, or lace quarantine, ended with 40 until a repair."""
    alice.lace("init", "--name", "alice", "--group", "band")
    alice.lace("place", "add", "stick", str(alice.folder.parent / "stick"))
    group, tai = str(alice.lace("id")["group"]), Tai.parse("1700000000:000000000")
    plex = NodeCard.to_plex(group=group, node=EVE.verifier, label="eve", machine=None, tai=tai)
    alice.write("eve.records", Seal.sign(plex, EVE).encode())
    alice.run("record", "put", "eve.records")
    with sqlite3.connect(alice.folder / ".vault" / "store.db") as db:
        guard.install(db)
        assert db.execute(f"UPDATE {change}").rowcount == 1
    db.close()
    for words in (["quarantine"], ["sync", "stick"], ["fsck", "--repair"], ["quarantine"], ["sync", "stick"]):
        assert alice.run(*words).code == 0, words
