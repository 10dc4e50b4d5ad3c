"""What an answer in words says, `--json` says too (architecture, Command line)."""

from __future__ import annotations

from tests.people import Person


def test_an_update_names_what_clashes_in_what_keeps_a_release_out(pair: tuple[Person, Person]) -> None:
    """LAZ-34, APP-1: the text named the clashing paths and the way to have both sides, and data only an id."""
    alice, _ = pair
    for person in pair:
        person.write("list.md", f"{person.name}\n")
        person.write(f"{person.name}.md", "own\n")
        person.lace("release", "1.1.0")
        person.lace("sync", "stick", expect=0 if person is alice else 1)
    alice.lace("sync", "stick", expect=1)
    done = alice.lace("update", expect=1)
    told = alice.text("update", expect=1)
    (asked,) = done["asked"]
    assert asked["id"] == done["waiting"][0]
    assert "list.md" in asked["paths"]
    assert "Clashing: list.md" in told
    assert sorted(asked["other_paths"]) == ["alice.md", "bob.md"]
    assert asked["both"] in told


def test_changes_say_in_what_else_a_file_differs(pair: tuple[Person, Person]) -> None:
    """APP-1: that a file can be run now, or a folder is empty, stood in the text alone."""
    alice, _ = pair
    alice.write("run.sh", "true\n")
    alice.lace("commit", "-m", "a script")
    (alice.folder / "run.sh").chmod(0o755)
    (alice.folder / "empty").mkdir()
    assert alice.lace("changes")["remarks"] == {"run.sh": "can be run as a program now", "empty": "an empty folder"}
    told = alice.text("changes")
    assert "run.sh (can be run as a program now)" in told
    assert "empty/ (an empty folder)" in told


def test_a_release_says_why_it_counts_for_nobody_and_what_it_does_not_hold(pair: tuple[Person, Person]) -> None:
    """LAZ-54, APP-1: data said that it does not count, and not why."""
    alice, bob = pair
    bob.write("list.md", "bread\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync", "stick")
    alice.lace("sync", "stick")
    alice.write("own.md", "own\n")
    made = alice.lace("release", "1.2.0")
    assert made["told"] == ["! It does not hold what friends released since: lace update"]
    assert (made["counts"], made["doubt"], made["queued"]) == (True, [], [])
    alice.lace("revoke", "bob", "--yes")
    alice.lace("sync", "stick")
    bob.run("sync", "stick")
    bob.write("late.md", "late\n")
    made = bob.lace("release", "1.3.0")
    assert made["counts"] is False
    assert made["doubt"] == ["! This device's key was revoked: it counts for nobody else, now or later."]


def test_a_commit_and_a_label_say_whether_friends_get_them(pair: tuple[Person, Person]) -> None:
    """LAZ-54, CLAY-9: the text said so, and data did not."""
    alice, _ = pair
    alice.write("a.md", "a\n")
    made = alice.lace("commit", "-m", "a")
    assert (made["shared"], made["queued"]) == (False, [])
    assert alice.lace("label", "draft")["shared"] is False
    alice.lace("release", "1.1.0")
    assert alice.lace("label", "done")["shared"] is True


def test_a_checkout_says_what_it_commits(pair: tuple[Person, Person]) -> None:
    """CLAY-17, APP-1: a dry run said in words alone that what was edited would be committed first."""
    alice, _ = pair
    alice.write("list.md", "edited\n")
    alice.lace("commit", "-m", "edited")
    alice.write("list.md", "edited again\n")
    plan = alice.lace("checkout", "main@1.0.0", "list.md", "--keep-edits", "--dry-run")
    assert (plan["saves"], plan["commits"], plan["stays"]) == (True, True, False)
    assert "would be committed first" in alice.text("checkout", "main@1.0.0", "list.md", "--keep-edits", "--dry-run")
    done = alice.lace("checkout", "main@1.0.0", "list.md", "--keep-edits")
    assert (done["saves"], done["commits"], done["stays"]) == (True, True, False)


def test_a_conflict_says_which_side_is_local(pair: tuple[Person, Person]) -> None:
    """LAZ-36, LAZ-39: whoever reads data could not tell which side `local` means."""
    alice, bob = pair
    for person in pair:
        person.write("list.md", f"{person.name}\n")
        person.lace("release", "1.1.0")
    bob.run("sync", "stick")
    alice.run("sync", "stick")
    (conflict,) = alice.lace("conflicts")["conflicts"]
    assert {side["name"]: side["local"] for side in conflict["sides"]} == {"alice": True, "bob": False}
    assert f"last in common: {conflict['last_in_common']}" in alice.text("conflicts")
