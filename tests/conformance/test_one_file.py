"""One file to mail or carry: the same verified pull as on every road (decision 5, CYB-17, INT-131)."""

from __future__ import annotations

import os
import random
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.roads import Road, meet, road_in
from tests.conformance.telling import noise, records, settle, whole
from tests.conformance.test_encrypted import secrets
from tests.people import Person
from tests.shelf import Shelf
from transports.bundles.bundling import BundleWriter
from transports.drop import part
from transports.errors import BadOneFile
from transports.onefile import entries, place


@pytest.fixture
def road(tmp_path: Path, shelf: Shelf) -> Road:
    return road_in(tmp_path, "drop", shelf)


@pytest.mark.parametrize("options", [[], ["--encrypt"], ["--encrypt", "--for", "bob"]])
def test_a_file_brings_what_a_stick_would(
    road: Road, alice: Person, bob: Person, tmp_path: Path, options: list[str]
) -> None:
    meet(road, alice, bob)
    settle(road, alice, bob)
    alice.write("geheim/a.bin", noise(1, 300_000))
    made = alice.lace("release", "17.3.9", "-m", "the message nobody may read")
    file = tmp_path / "post" / "for-bob.lace"
    file.parent.mkdir()
    sent = alice.lace("bundle", "create", str(file), *options)
    assert (sent["transport"], sent["sent"] > 0, sent["bytes_sent"]) == ("file", True, file.stat().st_size)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    planned = bob.lace("bundle", "apply", str(file), "--dry-run")
    assert planned["planned"]
    got = bob.lace("bundle", "apply", str(file))
    assert set(got) == set(bob.lace("sync", "road"))
    assert [new["release"] for new in got["releases"]] == [made["release"]]
    assert (got["fixed_point"], got["next"]) == (True, "lace update")
    bob.lace("update")
    assert (bob.folder / "geheim" / "a.bin").read_bytes() == noise(1, 300_000)
    before = records(bob)
    assert bob.lace("bundle", "apply", str(file))["received"] == 0  # DEL-7, DWN-2: here already
    assert records(bob) == before
    if options:
        found = file.read_bytes()
        assert not [secret for secret in secrets(alice, bob) if secret in found]
    settle(road, alice, bob)


def _carry(giver: Person, taker: Person, file: Path, expect: int = 0) -> dict[str, Any]:
    """Let one write a file and the other apply it; return what the latter is told."""
    file.unlink(missing_ok=True)
    assert giver.run("bundle", "create", str(file)).code in {0, 1}  # an open conflict is told here too
    return taker.lace("bundle", "apply", str(file), expect=expect)


def test_a_conflict_is_told_and_settled_by_files(road: Road, alice: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-38, LAZ-42: as over every road, and nobody visits one."""
    meet(road, alice, bob)
    for person in (alice, bob):
        person.write("a.txt", f"{person.name}\n")
        person.lace("release", "1.0.0")
    file = tmp_path / "post.lace"
    told = _carry(alice, bob, file, expect=1)
    assert [(c["version"], len(c["sides"])) for c in told["conflicts"]] == [("1.0.0", 2)]
    assert len(_carry(bob, alice, file, expect=1)["conflicts"]) == 1
    bob.lace("resolve", told["conflicts"][0]["id"], "--prefer", "local")
    proposed = _carry(bob, alice, file, expect=1)
    alice.lace("resolve", proposed["conflicts"][0]["id"], "--accept")
    assert _carry(alice, bob, file)["conflicts"] == []
    assert _carry(bob, alice, file)["conflicts"] == []
    assert (alice.folder / "a.txt").read_text() == "bob\n"
    assert records(alice) == records(bob)


def test_who_knows_nothing_of_the_group_yet_is_told_so(alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-14: a fault of a program was named."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    file = tmp_path / "post.lace"
    error = bob.lace("bundle", "create", str(file), expect=2)["error"]
    assert (error["code"], error["message"]) == ("group-unknown", "This vault knows nothing of its group yet.")
    assert not list(tmp_path.glob("post.lace*"))
    assert _carry(alice, bob, file)["releases"]


def test_a_third_person_relays_by_files(road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path) -> None:
    """Cara never meets Alice: Bob's file brings her what Alice released, whole, and Alice what she did."""
    meet(road, alice, bob, cara)
    alice.write("a.txt", "one\n")
    alice.write("big.bin", noise(4, 500_000))
    made = alice.lace("release", "1.0.0")
    file = tmp_path / "post.lace"
    assert [new["release"] for new in _carry(alice, bob, file)["releases"]] == [made["release"]]
    got = _carry(bob, cara, file)
    assert [(new["name"], new["release"]) for new in got["releases"]] == [("alice", made["release"])]
    cara.lace("update")
    assert (cara.folder / "big.bin").read_bytes() == noise(4, 500_000)
    cara.write("c.txt", "cara\n")
    cara.lace("release", "1.1.0")
    _carry(cara, bob, file)
    relayed = _carry(bob, alice, file)
    assert [(new["name"], new["version"]) for new in relayed["releases"]] == [("cara", "1.1.0")]
    _carry(alice, bob, file)
    _carry(bob, cara, file)
    assert records(alice) == records(bob) == records(cara)
    file.unlink()
    assert alice.lace("bundle", "create", str(file), "--for", "bob")["sent"] == 0  # his own file said what he has


def test_a_file_of_another_group_is_named_as_such(alice: Person, cara: Person, tmp_path: Path) -> None:
    for person in (alice, cara):
        person.write("a.txt", person.name)
        person.lace("init", "--name", person.name)
        person.lace("release", "1.0.0")
    made = alice.lace("bundle", "create", str(tmp_path / "hers.lace"))
    assert (made["next"], made["friend_next"]) == ("", "lace bundle apply hers.lace")
    told = alice.text("bundle", "create", str(tmp_path / "for him.lace")).splitlines()
    assert told[-1] == "Your friend types: lace bundle apply 'for him.lace'"
    refused = cara.run("--json", "bundle", "apply", str(tmp_path / "hers.lace"))
    assert (refused.code, refused.json["error"]["code"]) == (43, "other-group")
    nowhere = cara.run("--json", "sync", "nowhere")
    assert (nowhere.code, nowhere.json["error"]["code"]) == (2, "no-such-peer")
    assert "Places: no place yet." in nowhere.json["error"]["hint"]


def test_a_file_for_somebody_leaves_out_what_they_have(
    road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    meet(road, alice, bob)
    alice.write("big.bin", noise(2, 2_000_000))
    alice.lace("release", "1.0.0")
    settle(road, alice, bob)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.1")
    small, large = tmp_path / "small.lace", tmp_path / "large.lace"
    alice.lace("bundle", "create", str(small), "--for", "bob")
    alice.lace("bundle", "create", str(large))
    assert small.stat().st_size < 64 * 1024 < 1_000_000 < large.stat().st_size
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    refused = cara.run("--json", "bundle", "apply", str(small))
    assert (refused.code, refused.json["error"]["code"]) == (33, "bundle-needs-more")
    assert bob.lace("bundle", "apply", str(small))["releases"][0]["version"] == "1.0.1"
    assert {new["version"] for new in cara.lace("bundle", "apply", str(large))["releases"]} == {"1.0.0", "1.0.1"}
    assert records(bob) == records(alice)


def test_a_file_for_somebody_holds_what_others_released_and_they_never_read(
    road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """LAZ-47: that bob has my log does not say that he has what cara released meanwhile, which mine builds upon."""
    meet(road, alice, bob, cara)
    alice.write("big.bin", noise(2, 500_000))
    alice.lace("release", "1.0.0")
    settle(road, alice, bob, cara)
    cara.lace("update")
    cara.write("c.txt", "cara\n")
    cara.lace("release", "2.0.0")
    settle(road, cara, alice)  # bob was not there
    alice.lace("update")
    alice.write("a.txt", "two\n")
    alice.lace("release", "3.0.0")
    file = tmp_path / "for-bob.lace"
    alice.lace("bundle", "create", str(file), "--for", "bob")
    assert file.stat().st_size < 64 * 1024
    assert [new["version"] for new in bob.lace("bundle", "apply", str(file))["releases"]] == ["2.0.0", "3.0.0"]
    bob.lace("update")
    assert (bob.folder / "c.txt").read_text() == "cara\n"


def _know_without_content(road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path) -> None:
    """Let alice and bob know of a release of cara's whose content lies where bob is not."""
    meet(road, alice, bob, cara)
    for person in (cara, alice):
        person.lace("place", "add", "second", str(tmp_path / "second"))
    cara.write("c.txt", "cara\n")
    cara.lace("release", "2.0.0")
    cara.lace("sync", "second")
    alice.lace("pull", "second", "--path", "nothing/at/all")
    for person in (alice, bob, alice):
        road.sync(person)


def test_a_file_for_somebody_holds_what_came_late(
    road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """LAZ-47, INT-136: bob knows the entry, and its content came after he read that, and lies where he is not."""
    _know_without_content(road, alice, bob, cara, tmp_path)
    alice.lace("sync", "second")
    road.sync(alice)  # it lies there now, and bob was there before
    file = tmp_path / "for-bob.lace"
    alice.lace("bundle", "create", str(file), "--for", "bob")
    assert [new["version"] for new in bob.lace("bundle", "apply", str(file))["releases"]] == ["2.0.0"]


def test_a_file_for_somebody_holds_what_came_late_beside_something_new(
    road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """LAZ-47: what came late counted as on time where the same visit brought a new entry, and bob never got it."""
    _know_without_content(road, alice, bob, cara, tmp_path)
    cara.write("d.txt", "more\n")
    cara.lace("release", "2.0.1")
    cara.lace("sync", "second")
    alice.lace("sync", "second")
    road.sync(alice)
    bob.lace("sync", "road", "--path", "d.txt")
    road.sync(alice)
    file = tmp_path / "for-bob.lace"
    alice.lace("bundle", "create", str(file), "--for", "bob")
    got = bob.lace("bundle", "apply", str(file))
    assert "2.0.0" in [new["version"] for new in got["releases"]]


def test_who_got_a_part_from_another_is_told_that_a_file_for_them_leaves_it_out(
    road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path
) -> None:
    """LAZ-47: cara has alice's entry without its content, and gives bob that; alice sees that bob has the entry."""
    meet(road, alice, bob, cara)
    settle(road, alice, bob, cara)
    alice.write("x/a.txt", "words\n")
    alice.lace("release", "1.0.0")
    road.sync(alice)
    cara.lace("sync", "road", "--path", "x/nothing")
    file = tmp_path / "post.lace"
    for giver, taker in ((cara, bob), (bob, alice)):
        giver.lace("bundle", "create", str(file), "--for", taker.name)
        taker.run("bundle", "apply", str(file))
        file.unlink()
    alice.write("b.txt", "more\n")
    alice.lace("release", "1.0.1")
    alice.lace("bundle", "create", str(file), "--for", "bob")
    got = bob.lace("bundle", "apply", str(file), expect=1)
    assert [(told["code"], "without --for" in told["hint"]) for told in got["problems"]] == [("content-missing", True)]
    file.unlink()
    alice.lace("bundle", "create", str(file))
    got = bob.lace("bundle", "apply", str(file))
    assert (sorted(new["version"] for new in got["releases"]), got["problems"]) == (["1.0.0", "1.0.1"], [])


def test_no_file_is_made_for_who_has_everything(road: Road, alice: Person, bob: Person, tmp_path: Path) -> None:
    """APP-14: an empty file was written, and nothing said that there was nothing to carry."""
    meet(road, alice, bob)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    settle(road, alice, bob)
    file = tmp_path / "for-bob.lace"
    made = alice.lace("bundle", "create", str(file), "--for", "bob")
    assert (made["sent"], made["file"], made["friend_next"], file.exists()) == (0, None, "", False)
    told = alice.text("bundle", "create", str(file), "--for", "bob")
    assert told.startswith("bob has all that you share already, as they said last: no file was made.\n")
    assert "without --for" in told
    alice.write("a.txt", "two\n")
    alice.lace("release", "1.0.1")
    made = alice.lace("bundle", "create", str(file), "--for", "bob")
    assert (made["file"], made["sent"] > 0) == (str(file), True)
    bob.lace("bundle", "apply", str(file))
    answer = tmp_path / "for-alice.lace"
    bob.lace("update")
    bob.write("b.txt", "bob\n")
    bob.lace("release", "1.0.2")
    bob.lace("bundle", "create", str(answer), "--for", "alice")
    alice.lace("bundle", "apply", str(answer))
    file.unlink()
    told = alice.text("bundle", "create", str(file), "--for", "bob")  # who meets by files learns of it by no other way
    assert "Nothing in it is new to bob: it says only what you have." in told
    answer.unlink()
    bob.lace("bundle", "apply", str(file))
    assert bob.lace("queue")["entries"] == []


def test_only_the_one_it_is_for_opens_it(road: Road, alice: Person, bob: Person, cara: Person, tmp_path: Path) -> None:
    meet(road, alice, bob, cara)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    file = tmp_path / "for-bob.lace"
    alice.lace("bundle", "create", str(file), "--for", "bob", "--encrypt")
    told = cara.run("--json", "bundle", "apply", str(file))
    code = told.json["error"]["code"] if "error" in told.json else told.json["problems"][0]["code"]
    assert code == "sealed-to-others"
    foreign = file.rename(tmp_path / os.fsdecode(b"f\xfcr bob.lace"))  # as a stick of another system calls it
    assert bob.lace("bundle", "apply", str(foreign))["received"] > 0
    alice.lace("revoke", "bob", "--yes")
    told = alice.lace("bundle", "create", str(file), "--for", "bob", "--encrypt", expect=2)["error"]
    assert told["message"] == "bob was revoked by alice, so no file is made for them."
    assert not file.exists()


def test_a_file_that_was_cut_or_changed_is_refused_whole(
    road: Road, alice: Person, bob: Person, tmp_path: Path
) -> None:
    # faults.md row 7
    meet(road, alice, bob)
    alice.write("a.bin", noise(3, 100_000))
    alice.lace("release", "1.0.0")
    file = tmp_path / "all.lace"
    alice.lace("bundle", "create", str(file))
    good = file.read_bytes()
    chance = random.Random(5)
    before = records(bob)
    for _ in range(12):
        at = chance.randrange(len(good))
        bad = bytearray(good)
        bad[at] ^= 1 << chance.randrange(8)
        for data in (bytes(bad), good[:at], good + b"x"):
            file.write_bytes(data)
            assert bob.run("--json", "bundle", "apply", str(file)).code == 40
    assert records(bob) == before
    assert whole(bob)
    file.write_bytes(good)
    assert bob.lace("bundle", "apply", str(file))["received"] > 0


def test_writing_goes_on_where_it_was_stopped(alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transports.onefile.place._BUNDLE_BYTES", 1_000_000)
    alice.lace("init", "--name", "alice")
    for number in range(40):
        alice.write(f"{number}.bin", noise(number, 200_000))
    alice.lace("release", "1.0.0")
    file = tmp_path / "all.lace"
    alice.lace("bundle", "create", str(tmp_path / "other.lace"))
    for options in ([], ["--encrypt"]):
        add, seen = BundleWriter.add, [0]

        def stopping(self: BundleWriter, *words: object, add: object = add, seen: list[int] = seen) -> bool:
            seen[0] += 1
            if seen[0] == 35:
                raise KeyboardInterrupt
            return bool(add(self, *words))  # type: ignore[operator]

        with monkeypatch.context() as cut:
            cut.setattr(BundleWriter, "add", stopping)
            assert alice.run("bundle", "create", str(file), *options).code == 130
        assert not file.exists()
        left = file.with_name("all.lace.part").stat().st_size
        assert left > 4_000_000
        counted = [0]

        def counting(self: BundleWriter, *words: object, add: object = add, counted: list[int] = counted) -> bool:
            counted[0] += 1
            return bool(add(self, *words))  # type: ignore[operator]

        with monkeypatch.context() as again:
            again.setattr(BundleWriter, "add", counting)
            alice.lace("bundle", "create", str(file), *options)
        assert counted[0] < 30
        file.unlink()


def test_a_file_in_the_way_is_not_written_over(alice: Person, tmp_path: Path) -> None:
    alice.lace("init", "--name", "alice")
    file = tmp_path / "mine.txt"
    file.write_text("precious")
    assert alice.run("bundle", "create", str(file)).code == 2
    assert file.read_text() == "precious"
    assert alice.run("bundle", "apply", str(file)).code == 40
    assert alice.run("bundle", "apply", str(tmp_path / "absent")).code == 13


def test_a_file_that_is_refused_before_it_holds_anything_leaves_no_part(alice: Person, tmp_path: Path) -> None:
    """INT-131: where the keys are away there is nothing to go on with, and a person's folder stays as it was."""
    alice.lace("init", "--name", "alice")
    keys, post = alice.home / "lace", tmp_path / "post"
    post.mkdir()
    keys.rename(tmp_path / "away")
    assert alice.lace("bundle", "create", str(post / "all.lace"), expect=19)["error"]["code"] == "mark-missing"
    assert not list(post.iterdir())
    (tmp_path / "away").rename(keys)
    alice.lace("bundle", "create", str(post / "all.lace"))
    assert [path.name for path in post.iterdir()] == ["all.lace"]


def test_a_file_that_comes_in_the_way_meanwhile_is_not_written_over(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.lace("init", "--name", "alice")
    file = tmp_path / "mine.txt"
    written = place._Writer.publish_head

    def late(self: place._Writer, *words: Any) -> None:
        file.write_text("precious")
        written(self, *words)

    with monkeypatch.context() as patch:
        patch.setattr(place._Writer, "publish_head", late)
        told = alice.lace("bundle", "create", str(file), expect=23)["error"]
    assert "not written over" in told["message"]
    assert told["hint"].startswith("Move it away")
    assert file.read_text() == "precious"
    file.unlink()
    alice.lace("bundle", "create", str(file))
    place.OneFile.open(file)


def test_a_file_that_shrinks_while_it_is_read_is_said_to_be_cut_off(
    road: Road, alice: Person, bob: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meet(road, alice, bob)
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    file = tmp_path / "for-bob.lace"
    alice.lace("bundle", "create", str(file), "--for", "bob")
    whole_size, scan, shrunk = file.stat().st_size, entries.scan, tmp_path / "shrunk.lace"
    for size in random.Random(5).sample(range(whole_size), 40):

        def shrink(path: Path, size: int = size) -> int:
            descriptor = os.open(path, os.O_RDWR)
            os.truncate(descriptor, size)
            return descriptor

        shrunk.write_bytes(file.read_bytes())
        with monkeypatch.context() as patch:
            patch.setattr(place, "open_plain", shrink)
            patch.setattr(place, "scan", lambda opened, _size: scan(opened, whole_size))
            with pytest.raises(BadOneFile):
                place.OneFile.open(shrunk)


@pytest.mark.parametrize("trap", ["link", "hard link", "pipe"])
def test_what_was_laid_where_a_file_is_written_is_not_written_through(alice: Person, tmp_path: Path, trap: str) -> None:
    """faults.md row 17: a link or pipe that somebody left on the stick leads to nothing."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    mine, stick = tmp_path / "mine.txt", tmp_path / "stick"
    mine.write_text("dear\n")
    stick.mkdir()
    planted = stick / "all.lace.part"
    if trap == "link":
        planted.symlink_to(mine)
    elif trap == "hard link":
        planted.hardlink_to(mine)
    else:
        os.mkfifo(planted)
    alice.lace("bundle", "create", str(stick / "all.lace"))
    assert mine.read_text() == "dear\n"
    assert [path.name for path in stick.iterdir()] == ["all.lace"]
    place.OneFile.open(stick / "all.lace")


def test_two_never_write_the_same_file(alice: Person, tmp_path: Path) -> None:
    """faults.md row 30: the second is told, and the first one's file is whole."""
    alice.write("a.txt", "one\n")
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0")
    file = tmp_path / "all.lace"
    other = part.open_part(tmp_path / "all.lace.part")
    other.write(b"of another process")
    other.flush()
    refused = alice.run("--json", "bundle", "create", str(file))
    assert refused.json["error"]["code"] == "place-not-writable"
    assert (tmp_path / "all.lace.part").read_bytes() == b"of another process"
    other.close()
    alice.lace("bundle", "create", str(file))
    place.OneFile.open(file)


def test_a_file_of_who_is_no_member_yet_says_that_a_friend_lets_them_in_first(
    alice: Person, cara: Person, tmp_path: Path
) -> None:
    """LAZ-54, INT-120: the friend was told to take it in, and neither came anything of it nor did anybody ask."""
    alice.lace("init", "--name", "alice")
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    alice.lace("bundle", "create", str(tmp_path / "a.lace"))
    cara.lace("bundle", "apply", str(tmp_path / "a.lace"))
    cara.write("b.txt", "two\n")
    made = cara.lace("release", "0.1.0")
    file = str(tmp_path / "c.lace")
    admit, take = cara.lace("bundle", "create", file)["friend_next"].split("; ")
    told = cara.text("bundle", "create", str(tmp_path / "again.lace"))
    assert "nothing in it counts before a friend lets you in" in told
    assert f"Your friend types: {admit}; lace bundle apply again.lace" in told
    assert alice.lace("bundle", "apply", file)["releases"] == []
    assert alice.lace("requests")["requests"] == []
    alice.text(*shlex.split(admit)[1:])
    assert take == "lace bundle apply c.lace"
    assert [new["release"] for new in alice.lace("bundle", "apply", file)["releases"]] == [made["release"]]
    cara.lace("bundle", "apply", _made(alice, tmp_path / "b.lace"))
    assert cara.lace("bundle", "create", str(tmp_path / "d.lace"))["friend_next"] == "lace bundle apply d.lace"


def _made(person: Person, path: Path) -> str:
    person.lace("bundle", "create", str(path))
    return str(path)
