"""`lace drops`, and a stick that appears under another name (CYB-15, CYB-17, LAZ-25)."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.people import Person, person_in
from tests.shelf import Shelf
from transports.drop.partial import PARTIAL
from transports.layout import HEAD_NAME


@pytest.fixture
def media(shelf: Shelf, alice: Person, bob: Person) -> Path:
    folder = shelf.lay(_media)
    for person in (alice, bob):
        person.environ["LACE_MEDIA"] = str(folder)
    return folder


def _media(root: Path) -> Path:
    alice, folder = person_in(root, "alice"), root / "media"
    alice.environ["LACE_MEDIA"] = str(folder)
    (folder / "alice" / "STICK").mkdir(parents=True)
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("place", "add", "stick", str(folder / "alice" / "STICK" / "lace"))
    alice.lace("release", "1.0.0")
    alice.lace("sync", "stick")
    return folder


def test_a_drop_is_known_by_its_id_wherever_it_is_plugged_in(alice: Person, media: Path) -> None:
    (was,) = alice.lace("drops")["drops"]
    assert (was["place"], was["waiting"], was["safe_to_remove"]) == ("stick", 0, True)
    (media / "alice" / "STICK").rename(media / "OTHER")
    alice.write("a.txt", "two\n")
    alice.lace("release", "1.0.1")
    (now,) = alice.lace("drops")["drops"]
    assert (now["place"], now["place_id"]) == ("stick", was["place_id"])
    assert now["path"] == str(media / "OTHER" / "lace")
    assert now["waiting"] > 0
    assert f"; {now['waiting']} records wait for it" in alice.text("drops")
    assert alice.lace("sync", "stick")["sent"] == now["waiting"]
    assert alice.lace("drops")["drops"][0]["waiting"] == 0


def test_a_stick_that_an_invitation_named_is_found_where_it_is_mounted_here(
    alice: Person, bob: Person, media: Path
) -> None:
    """CYB-15: a stick is mounted under the name of whoever is logged in, so no friend had it at the path of another."""
    invite = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    (media / "alice").rename(media / "bob")
    bob.lace("accept", invite)
    assert bob.lace("sync")["received"] > 0
    bob.lace("update")
    assert (bob.folder / "a.txt").read_text() == "one\n"
    assert bob.lace("drops")["drops"][0]["place"] == "stick"


def test_which_of_two_sticks_an_invitation_meant_is_for_a_person_to_say(
    alice: Person, bob: Person, media: Path
) -> None:
    """CYB-15: nothing is written to a stick that may be another one; the way on can be typed."""
    (media / "TWO").mkdir()
    alice.lace("place", "add", "second", str(media / "TWO" / "lace"))
    alice.lace("sync")
    invite = alice.lace("invite", "bob")["invite"]
    (media / "alice" / "STICK").rename(media / "ONE")
    (media / "TWO").rename(media / "THREE")
    bob.lace("accept", invite)
    before = sorted(media.rglob("*"))
    refused = bob.lace("sync", "stick", expect=20)["error"]
    assert refused["hint"].endswith("elsewhere here: lace place remove stick; lace place add stick DIR")
    assert sorted(media.rglob("*")) == before
    (media / "THREE").rename(media / "TWO")
    assert bob.lace("sync", "second")["received"] > 0
    assert bob.lace("sync", "stick")["sent"] > 0, "the other one is a place by now, so one is left"


def test_another_stick_under_the_same_name_is_not_taken_for_it(alice: Person, bob: Person, media: Path) -> None:
    here = media / "alice" / "STICK"
    here.rename(media / "FIRST")
    here.mkdir()
    bob.write("b.txt", "bob\n")
    bob.lace("init", "--name", "bob", "--group", "others")
    bob.lace("place", "add", "mine", str(here / "lace"))
    found = {one["place"]: one for one in alice.lace("drops")["drops"]}
    assert found["stick"]["path"] == str(media / "FIRST" / "lace")
    assert found[None]["path"] == str(here / "lace")
    assert "lace place add NAME" in alice.text("drops")
    before = sorted(path for path in here.rglob("*"))
    alice.lace("sync", "stick")
    assert sorted(path for path in here.rglob("*")) == before


def test_a_write_that_was_cut_off_is_told(alice: Person, media: Path) -> None:
    (box,) = (path for path in (media / "alice/STICK/lace").glob("*/*") if path.is_dir())
    (box / "bundle.part").write_bytes(b"begun")
    assert alice.lace("drops")["drops"][0]["safe_to_remove"] is False
    assert "was cut off: lace sync stick" in alice.text("drops")
    alice.write("a.txt", "two\n")
    alice.lace("release", "1.0.1")
    alice.lace("sync", "stick")
    assert alice.lace("drops")["drops"][0]["safe_to_remove"] is True


def test_a_write_to_an_encrypted_stick_that_is_going_on_is_told(alice: Person, tmp_path: Path) -> None:
    """CYB-17: only where a plain mailbox would lie was looked, and the stick was said to be safe to remove."""
    alice.environ["LACE_MEDIA"] = str(tmp_path)
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"), "--encrypt")
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    alice.lace("sync", "stick")
    assert alice.lace("drops")["drops"][0]["safe_to_remove"] is True
    (head,) = (tmp_path / "stick").rglob(HEAD_NAME)
    (head.parent / PARTIAL).write_bytes(b"the beginning of a bundle")
    assert alice.lace("drops")["drops"][0]["safe_to_remove"] is False


def test_nothing_plugged_in_and_what_cannot_be_read_are_said(alice: Person, media: Path, tmp_path: Path) -> None:
    (head,) = (media / "alice/STICK/lace").glob("*/*/head.rec")
    head.write_bytes(b"rotten")
    (told,) = alice.lace("drops")["drops"]
    assert (told["safe_to_remove"], told["place"]) == (False, "stick")
    assert told["problem"]
    (media / "alice").rename(tmp_path / "away")
    (media / "link").symlink_to(tmp_path / "away")
    assert alice.lace("drops")["drops"] == []
    assert alice.text("drops") == "Nothing is plugged in that holds a drop.\n"
    assert 20 <= alice.run("sync", "stick").code < 30


def test_an_emptied_stick_says_how_to_begin_anew(alice: Person, media: Path, tmp_path: Path) -> None:
    """CYB-15: its directory is there, so nobody is told to mount it; the named commands work as they stand."""
    folder = tmp_path / "my stick"
    alice.lace("place", "remove", "stick")
    alice.lace("place", "add", "stick", str(folder), "--encrypt")
    alice.lace("sync", "stick")
    shutil.rmtree(folder)
    assert alice.lace("sync", "stick", expect=20)["error"]["code"] == "place-unreachable"
    folder.mkdir()
    told = alice.lace("sync", "stick", expect=20)["error"]
    assert (told["code"], f"{folder} is there, but holds no lace-drop.txt" in told["message"]) == ("drop-emptied", True)
    _, _, commands = told["hint"].partition("emptied: ")
    for command in commands.split("; "):
        alice.lace(*shlex.split(command.removeprefix("lace ")))
    assert alice.lace("places")["places"][0]["encrypted"]
    assert alice.lace("sync", "stick")["sent"] > 0


def test_a_drop_that_is_encrypted_already_is_said_to_be(
    alice: Person, people: Callable[[str], Person], media: Path, tmp_path: Path
) -> None:
    """Whoever adds it without the word for it is told the truth: beside encrypted mailboxes all are."""
    shared = str(tmp_path / "shared")
    assert alice.lace("place", "add", "shared", shared, "--encrypt")["encrypted"]
    alice.lace("sync", "shared")
    eve = people("eve")
    eve.lace("accept", alice.lace("invite", "eve")["invite"])
    eve.lace("place", "remove", "shared")
    added = eve.run("--json", "place", "add", "ours", shared).json
    assert added["encrypted"]
    assert [place["encrypted"] for place in eve.lace("places")["places"] if place["place"] == "ours"] == [True]
    assert "  encrypted" in eve.text("places")
    assert eve.lace("place", "remove", "ours")["encrypted"]


def test_a_medium_that_was_met_encrypted_is_said_to_be(
    alice: Person, people: Callable[[str], Person], media: Path, tmp_path: Path
) -> None:
    """A drop that was plain, or not there, when it was added: what a visit met is remembered."""
    shared = str(tmp_path / "shared")
    alice.lace("place", "add", "shared", shared)
    eve = people("eve")
    eve.lace("accept", alice.lace("invite", "eve")["invite"])
    assert not eve.lace("places")["places"][-1]["encrypted"]
    alice.lace("place", "set", "shared", "--encrypt")
    for person in (alice, eve, alice, eve):
        person.lace("sync", "shared")
    assert {place["place"]: place["encrypted"] for place in eve.lace("places")["places"]}["shared"]


def test_a_taken_name_says_whose_it_is(alice: Person, media: Path, tmp_path: Path) -> None:
    told = alice.lace("place", "add", "stick", str(tmp_path / "other"), expect=2)["error"]
    assert told["code"] == "name-taken"
    assert (media / "alice/STICK/lace").as_uri() in told["message"]
    assert told["hint"].endswith("lace place remove stick")


@pytest.mark.parametrize("options", [[], ["--encrypt"]])
def test_nothing_new_on_a_stick_costs_less_than_a_kilobyte(tmp_path: Path, options: list[str]) -> None:
    """W4, CYB-18: whatever the vault holds, with several members; and what changes then is found."""
    people = [Person(name, tmp_path / "homes" / name, tmp_path / name) for name in ("ann", "bob", "cleo", "dan")]
    ann = people[0]
    for number in range(40):
        ann.write(f"{number}.txt", f"{number}\n" * 100)
    ann.lace("init", "--name", "ann", "--group", "friends")
    ann.lace("place", "add", "stick", str(tmp_path / "stick"), *options)
    for friend in people[1:]:
        friend.lace("accept", ann.lace("invite", friend.name)["invite"], "--name", friend.name)
        for who in (friend, ann, friend):
            who.lace("sync", "stick")
    for who in people * 2:
        who.lace("sync", "stick")
    cost = {who.lace("sync", "stick")["bytes_received"] for who in people}
    assert cost == {48 + 80 * len(people)}
    ann.lace("release", "1.0.0")
    ann.lace("sync", "stick")
    assert people[1].lace("sync", "stick")["releases"]
    for who in people * 2:
        who.lace("sync", "stick")
    assert people[1].lace("sync", "stick")["bytes_received"] == cost.pop()


def test_what_rots_in_a_head_without_being_written_is_found_by_fsck(alice: Person, media: Path) -> None:
    (head,) = (media / "alice/STICK/lace").glob("*/*/head.rec")
    found = head.stat()
    data = bytearray(head.read_bytes())
    data[len(data) // 2] ^= 1
    head.write_bytes(data)
    os.utime(head, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert alice.run("fsck").code != 0
    alice.lace("fsck", "--repair")
    assert alice.run("fsck").code == 0


def test_a_mailbox_that_is_encrypted_later_rests_on_nothing_that_goes_away(
    alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """My plain mailbox goes with that visit, so what others name of it is copied and not named again."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice", "--group", "friends")
    alice.lace("place", "add", "shared", str(tmp_path / "shared"))
    alice.lace("release", "1.0.0")
    for person in (bob, cara):
        person.lace("accept", alice.lace("invite", person.name)["invite"], "--name", person.name)
    for person in (alice, bob, cara) * 2:
        person.run("sync", "shared")
    for person, version in ((bob, "1.0.1"), (alice, "1.0.2")):
        person.run("update")
        person.write(f"{person.name}.txt", version)
        person.lace("release", version)
        person.lace("sync", "shared")
    bob.lace("sync", "shared")  # his mailbox names files of hers now
    alice.lace("place", "set", "shared", "--encrypt")
    alice.lace("sync", "shared")
    came = cara.lace("sync", "shared")
    assert {release["version"] for release in came["releases"]} >= {"1.0.2"}
    assert came["problems"] == []


def test_a_copy_is_not_taken_for_the_stick_that_is_away(alice: Person, bob: Person, media: Path) -> None:
    """CYB-18: it was visited under both names, and then the other one was said to have been set back at each sync."""
    alice.lace("place", "add", "copy", str(shutil.copytree(media / "alice/STICK/lace", media / "COPY" / "lace")))
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    for person in (alice, bob, alice):
        person.lace("sync", "stick")
    (media / "alice").rename(media.parent / "away")
    alice.write("a.txt", "two\n")
    alice.lace("release", "1.1.0")
    for person in (alice, bob):
        refused = person.lace("sync", "stick", expect=20)["error"]
        assert str(media / "alice") in refused["message"]
        person.lace("sync", "copy")  # which bob, who was told of it by the invitation, meets for the first time
    (media / "COPY").rename(media.parent / "COPY")
    (media.parent / "away").rename(media / "alice")
    for _ in range(2):
        assert bob.lace("sync", "stick")["problems"] == []
