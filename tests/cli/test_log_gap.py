"""An entry of one's own log that was lost: what follows it waits, and whoever releases is told."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_look import store_of
from tests.people import Person


def test_a_release_behind_a_gap_in_ones_own_log_says_that_it_reaches_nobody(alice: Person, tmp_path: Path) -> None:
    """LAZ-28, LAZ-24, APP-14: "Released" was all it said, though no friend would see it; nor did a sync say why.

    Nor did a sync look for it in my own mailbox, once something was published after the repair.
    """
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    for number in (1, 2, 3):
        alice.write("a.txt", f"{number}\n")
        assert alice.lace("release", f"{number}.0.0")["counts"]
    alice.lace("sync", "stick")
    with store_of(alice) as db:
        db.execute("DELETE FROM body WHERE p = (SELECT p FROM log ORDER BY seq DESC LIMIT 1 OFFSET 1)")
    (tmp_path / "stick").rename(tmp_path / "away")
    alice.run("fsck", "--repair")
    alice.write("a.txt", "4\n")
    told = alice.text("release", "4.0.0")
    assert "of your own log is missing here: what you share after it reaches nobody" in told
    alice.write("a.txt", "5\n")
    assert not alice.lace("release", "5.0.0")["counts"]
    assert alice.text("status").count("of your own log is missing here") == 1
    alice.lace("place", "add", "second", str(tmp_path / "second"))
    (problem,) = alice.lace("sync", "second", expect=1)["problems"]
    assert (problem["code"], "lace adopt" in problem["hint"]) == ("log-gap", True)
    assert alice.lace("status")["missing_entry"] == 3
    assert alice.text("status").count("of your own log is missing here") == 1, "of no place is it said as well"
    (tmp_path / "away").rename(tmp_path / "stick")
    assert alice.lace("sync", "stick")["problems"] == []
    assert alice.lace("status")["missing_entry"] is None
    alice.write("a.txt", "6\n")
    assert alice.lace("release", "6.0.0")["counts"]
