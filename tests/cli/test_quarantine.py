"""`lace quarantine` lists what was refused and judges it again (LAZ-71)."""

from __future__ import annotations

from tests.cli.looking import error_of
from tests.people import Person
from vault.profile import NodeCard
from vault.records import Seal, Tai
from vault.suite import SigningKey

EVE = SigningKey.from_seed(b"\x08" * 32)


def test_a_strangers_record_waits_until_the_stranger_belongs(alice: Person) -> None:
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
    assert listed["bytes"] == len(strange.encode()) <= listed["limit"]
    assert "not a member" in alice.text("quarantine")
    error_of(alice.run("--json", "quarantine", "admit", strange.hash.text), "signer-strange", 31)
    alice.lace("admit", "eve", "--key", EVE.verifier.text)
    assert alice.lace("quarantine", "admit", strange.hash.text[:9])["stored"] is True
    assert alice.lace("quarantine")["quarantine"] == []
    error_of(alice.run("--json", "quarantine", "drop", strange.hash.text), "not-in-quarantine")
