"""What anybody puts beside the mailboxes of a medium is told once, and asks nobody for anything (CYB-17)."""

from __future__ import annotations

from pathlib import Path

from tests.people import Person
from tests.transports.git_hosts import bare_repository, git


def _is_told_once(person: Person, place: str, count: int) -> None:
    for words in (("sync", place), ("sync", place, "--dry-run"), ("sync", place)):
        (problem,) = person.lace(*words)["places"][0]["problems"]
        assert (problem["code"], problem["hint"]) == ("stranger", "")
        what = "1 mailbox there is" if count == 1 else f"{count} mailboxes there are"
        assert problem["message"] == f"{what} damaged, and of nobody known here."


def test_damaged_mailboxes_of_nobody_known_are_told_once_on_a_stick(pair: tuple[Person, Person]) -> None:
    """CYB-17: each sync ended with 1 for good, and the way out was the next sync of owners who do not exist."""
    alice, _ = pair
    group = next((alice.folder.parent / "stick").glob("*/*/head.rec")).parent.parent
    for number in range(3):
        junk = group / f"{number:02x}".rjust(64, "4")
        junk.mkdir()
        (junk / "head.rec").write_bytes(b"junk")
    _is_told_once(alice, "stick", 3)


def test_damaged_mailboxes_of_nobody_known_are_told_once_in_a_repository(
    pair: tuple[Person, Person], tmp_path: Path
) -> None:
    """CYB-17: of a ref that leads to no commit the same was told twice in one answer."""
    alice, _ = pair
    host = bare_repository(tmp_path / "host.git")
    alice.lace("place", "add", "host", str(host))
    alice.lace("sync", "host")
    (ref,) = [ref for ref in git(host, "for-each-ref", "--format=%(refname)").split() if not ref.endswith("/place")]
    (host / "junk").write_bytes(b"junk")
    blob = git(host, "hash-object", "-w", str(host / "junk")).strip()
    (host / f"{ref[:-64]}{'4' * 64}").write_text(f"{blob}\n")
    _is_told_once(alice, "host", 1)


def test_no_place_is_made_in_the_vault_of_another_folder(pair: tuple[Person, Person]) -> None:
    """CYB-15: a drop was made inside the `.vault` of a folder beside, and in that folder without a word."""
    alice, bob = pair
    told = alice.run("place", "add", "odd", str(bob.folder / ".vault" / "odd"))
    assert (told.code, "another folder" in told.err) == (2, True)
    assert not (bob.folder / ".vault" / "odd").exists()
    said = alice.run("place", "add", "within", str(bob.folder / "within"))
    assert f"inside the shared folder {bob.folder}" in said.text + said.err
