"""What a revoked key sealed after its cut is told once, and counted from then on (LAZ-71)."""

from __future__ import annotations

from pathlib import Path

from tests.people import Person, person_in


def _refusals(person: Person) -> int:
    return len(person.lace("audit", "list", "--verb", "lace-refuse")["entries"])


def test_what_a_cut_key_sealed_is_told_once(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-71, CYB-11: whenever somebody was let in it was refused again, told again and audited again."""
    alice, bob = pair
    alice.lace("revoke", "bob", "--yes")
    bob.write("late.md", "too late\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick", expect=0)
    told = alice.lace("sync", "stick", expect=1)["rejected_hashes"]
    assert told
    assert {(one["code"], one["told_before"]) for one in told} == {("after-cut", False)}
    assert _refusals(alice) == len(told)
    dora = person_in(tmp_path, "dora")
    dora.lace("accept", alice.lace("invite", "dora")["invite"], "--name", "dora")
    dora.run("sync", "stick")
    again = alice.lace("sync", "stick")
    assert again["admitted"] == ["dora"]
    assert {one["hash"]: one["told_before"] for one in again["rejected_hashes"]} == {one["hash"]: True for one in told}
    assert _refusals(alice) == len(told)
    assert "refused" not in alice.text("sync", "stick")
    assert alice.lace("fsck")["refused"] == len(told) == len(alice.lace("quarantine")["quarantine"])
    assert f"{len(told)} records that came were refused: lace quarantine" in alice.text("fsck")
