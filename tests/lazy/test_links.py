"""`links` and `metrics` say how far each log came, by evidence (DWN-39, DWN-90)."""

from __future__ import annotations

import re
from pathlib import Path

from tests.people import Person
from vault.records import RecordHash
from vault.store.store import Store

_SAMPLE = re.compile(r'([a-z_]+)(?:\{([a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*)\})? ([0-9]+)')


def _two(tmp_path: Path) -> tuple[Person, Person]:
    alice, bob = (Person(name, tmp_path / "homes" / name, tmp_path / name) for name in ("alice", "bob"))
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    (tmp_path / "stick").mkdir()
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    return alice, bob


def _link(person: Person) -> dict[str, object]:
    [link] = person.lace("links")["links"]
    return dict(link)


def test_a_link_goes_from_initial_to_live_and_waits_for_evidence(tmp_path: Path) -> None:
    """LAZ-47: what lies on the stick counts as put there, and as confirmed only by the friend's own vector.

    DWN-38, DWN-53, DWN-59, DWN-93: each way has what was seen, or put there, and what is whole without a gap.
    """
    alice, bob = _two(tmp_path)
    assert alice.lace("links")["links"] == []
    for who in (bob, alice, bob, alice):
        who.lace("sync", "stick")
    assert (_link(alice)["state"], _link(alice)["pending"]) == ("live", 0)
    alice.lace("release", "1.0.0")
    before = _link(alice)
    assert (before["state"], before["pending"], before["scope"]) == ("live", 1, "shared")
    alice.lace("sync", "stick")
    put = dict(_link(alice)["push"])  # type: ignore[call-overload]
    assert put["received"] == put["contiguous"] + 1
    assert "put there" in alice.text("links")
    bob.lace("sync", "stick")
    came = dict(_link(bob)["pull"])  # type: ignore[call-overload]
    assert came["received"] == came["contiguous"] == put["received"]
    alice.lace("sync", "stick")
    assert _link(alice)["pending"] == 0
    alice.lace("leave", "bob")
    assert _link(alice)["state"] == "paused"


def test_a_friend_who_was_left_is_not_here_in_part(tmp_path: Path) -> None:
    """CLO-2: it led to a sync, which brings nothing of who was left, and named no way back."""
    alice, bob = _two(tmp_path)
    alice.lace("release", "1.0.0")
    for who in (bob, alice, bob):
        who.run("sync", "stick", "--path", "nothing/at/all")
    bob.lace("leave", "alice")
    assert (_link(bob)["state"], _link(bob)["waiting"], _link(bob)["left_out"]) == ("paused", 1, False)
    assert "alice  paused - left; lace join begins again" in bob.text("links")


def test_a_link_repairs_until_nothing_is_missing(tmp_path: Path) -> None:
    """CLO-2, CLO-34, CLO-41, DWN-36, DWN-81: the release is not shown, and named with what is missing and its class."""
    alice, bob = _two(tmp_path)
    made = alice.lace("release", "1.0.0")["release"]
    for who in (bob, alice, bob, alice):
        who.run("sync", "stick", "--path", "nothing/at/all")
    [link] = bob.lace("links")["links"]
    assert link["pull"]["received"] == link["pull"]["contiguous"]
    assert link["state"] == "repairing"
    assert link["left_out"]
    assert "alice  in part - the last sync was about a part" in bob.text("links"), "nobody has anything to repair"
    assert made not in {entry["hash"] for entry in bob.lace("log", "-n", "99")["entries"]}
    [one] = link["missing"]
    assert link["waiting"] == bob.lace("status")["peers"][0]["waiting"] == 1
    assert "1 release not all here: lace links" in bob.text("status")
    assert "released nothing" not in bob.text("status"), "what waits was released"
    assert "with all that is here of what friends released" in bob.text("status")
    assert bob.lace("status")["desks"][0]["waiting"] == bob.lace("update")["lacking"] == 1
    assert bob.text("update").splitlines()[-2:] == [
        "Nothing new: your line has all that is here of what was released.",
        "1 release is not all here: lace links",
    ]
    assert (one["release"], one["desk"], one["version"]) == (made, "main", "1.0.0")
    assert (one["class"], one["code"]) == ("content", "content-missing")
    assert bob.lace("why", made)["lacks"] == one
    assert bob.lace("why", one["missing"])["decision"] == "missing"
    assert one["missing"] in bob.text("why", made)
    assert f"main 1.0.0 is not shown yet: lace why {made}" in bob.text("links")
    assert 'remote="alice",scope="shared"} 2' in bob.text("metrics")
    bob.lace("sync", "stick")
    assert (_link(bob)["state"], _link(bob)["waiting"], _link(bob)["missing"]) == ("live", 0, [])
    assert not _link(bob)["left_out"]
    assert (bob.lace("status")["peers"][0]["waiting"], "not all here" in bob.text("status")) == (0, False)
    assert made in {entry["hash"] for entry in bob.lace("log", "-n", "99")["entries"]}
    assert bob.lace("why", made)["lacks"] is None
    assert bob.lace("update")["lacking"] == 0
    for number in range(5):
        alice.write("a.txt", f"{number}\n")
        alice.lace("release", f"2.0.{number}")
    alice.lace("sync", "stick")
    bob.lace("sync", "stick", "--path", "nothing/at/all")
    assert "    and 2 more of its releases wait" in bob.text("links").splitlines(), "those beyond the oldest too"


def test_what_no_sync_brings_is_not_said_to_come_with_one(tmp_path: Path) -> None:
    """CLO-39: what a release reaches and was refused was called missing, with a sync as the way to get it."""
    alice, bob = _two(tmp_path)
    made = alice.lace("release", "1.0.0")["release"]
    for who in (bob, alice, bob):
        who.run("sync", "stick", "--path", "nothing/at/all")
    [one] = bob.lace("links")["links"][0]["missing"]
    missing = RecordHash.parse(one["missing"])
    with Store(bob.folder / ".vault" / "store.db") as store, store.transaction():
        store.run("INSERT INTO refused VALUES (?, 'P', 'bad-tree', 'a name', 'stick', '')", missing.digest)
    [one] = bob.lace("links")["links"][0]["missing"]
    assert (one["code"], one["missing"]) == ("content-refused", missing.text)
    said = bob.text("links")
    assert "alice  repairing - what a release of it reaches was refused here, and no sync brings it" in said
    assert f"main 1.0.0 is not shown, refused (bad-tree): lace why {made}" in said
    assert "was refused here (bad-tree)" in bob.text("why", made)
    for code in (
        "after-cut",
        "stranger",
        "unreached",
        "unproven-entry",
    ):  # it is asked for again, since something reaches it
        with Store(bob.folder / ".vault" / "store.db") as store, store.transaction():
            store.run("UPDATE refused SET code = ?", code)
        assert bob.lace("links")["links"][0]["missing"][0]["code"] == "content-missing"


def test_metrics_are_lines_a_monitor_reads(tmp_path: Path) -> None:
    """DWN-90: the names of the seed, one sample a line, labels escaped, each family announced before its samples.

    What only a process knows while a visit is under way (repairs, latency, what is in flight) is not among them.
    """
    alice, bob = _two(tmp_path)
    for who in (bob, alice, bob, alice):
        who.lace("sync", "stick")
    lines = alice.text("metrics").splitlines()
    announced, found = set(), {}
    for line in lines:
        if line.startswith("# "):
            announced.add(line.split()[2])
            continue
        sample = _SAMPLE.fullmatch(line)
        assert sample is not None, line
        assert sample[1] in announced
        found[sample[1], sample[2]] = int(sample[3])
    group = alice.lace("status")["group"]
    labels = f'tenant="{group}",remote="bob",scope="shared"'
    assert found["sync_link_state", labels] == 1
    assert found["sync_checkpoint_pull_contiguous", labels] == found["sync_checkpoint_pull_received", labels] > 0
    assert found["lace_records", 'app="lace/founding"'] == 1
    assert found["lace_conflicts_open", None] == 0
