"""`links` and `metrics` say how far each log came, by evidence (DWN-39, DWN-90)."""

from __future__ import annotations

import re
from pathlib import Path

from tests.people import Person

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
    """LAZ-47: what lies on the stick counts as put there, and as confirmed only by the friend's own vector."""
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


def test_metrics_are_lines_a_monitor_reads(tmp_path: Path) -> None:
    """DWN-90: the names of the seed, one sample a line, labels escaped, each family announced before its samples."""
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
