"""Places that are away, or that can be read and not written: what a visit, `status` and `queue` say of them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from random import Random

import pytest

from tests.cli.conftest import make_pair
from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository, git
from transports import address
from transports.drop.place import Drop
from transports.errors import PlaceNotWritable


@pytest.fixture
def second(shelf: Shelf, pair: tuple[Person, Person]) -> Path:
    """A second stick of both, with something of each that is on no stick yet."""
    return shelf.lay(_second)


def _second(root: Path) -> Path:
    folder = root / "second"
    ann, bob = pair = make_pair(root)
    for person in pair:
        person.lace("place", "add", "second", str(folder))
        person.lace("sync")
    ann.write("ann.md", "ann\n")
    ann.lace("release", "1.1.0")
    bob.write("bob.md", "bob\n")
    bob.lace("release", "1.2.0")
    return folder


def locked(stick: Path, person: Person) -> Path:
    """Make a person's mailbox on a stick one that lace does not write; return it."""
    (box,) = stick.glob(f"*/{person.lace('id')['fingerprint']}")
    kept = box.rename(stick.parent / "kept")
    box.symlink_to(kept)
    return box


def test_a_place_that_is_away_beside_another_is_told_by_the_code(pair: tuple[Person, Person], second: Path) -> None:
    """LAZ-24, LAZ-46, LAZ-56: a push waits and is done; what was to be read was not, and cron can tell."""
    ann, bob = pair
    bob.lace("sync", "stick")
    second.rename(second.with_name("away"))
    assert ann.lace("push", "bob")["queued"]
    done = ann.lace("sync", expect=1)
    told = {place["name"]: place for place in done["places"]}
    assert (told["stick"]["queued"], told["second"]["queued"], len(done["releases"])) == (False, True, 1)
    (problem,) = told["second"]["problems"]
    assert (problem["code"], "Plug the stick in" in problem["hint"]) == ("place-unreachable", True)
    assert "Plug the stick in" in ann.text("sync", expect=1)
    for verb in ("sync", "pull"):
        ann.lace(verb, "second", expect=20)
    places = {place["place"]: place for place in ann.lace("status")["places"]}
    assert (places["stick"]["waiting"], places["stick"]["fault"]) == (0, None)
    assert places["second"]["waiting"] > 0
    assert places["second"]["fault"]["code"] == "place-unreachable"
    waits = f"{places['second']['waiting']} records wait for"
    assert f"{waits} it: lace sync second" in ann.text("status")
    assert f"{waits} the place second (The drop" in ann.text("queue")
    assert [place["place"] for place in ann.lace("queue")["places"]] == ["second"]
    second.with_name("away").rename(second)
    assert ann.lace("sync")["places"][0]["sent"] == places["second"]["waiting"]
    assert [(place["waiting"], place["fault"]) for place in ann.lace("status")["places"]] == [(0, None), (0, None)]


def test_each_of_several_places_is_told_where_all_of_them_failed(
    pair: tuple[Person, Person], second: Path, tmp_path: Path
) -> None:
    """LAZ-24, APP-14: the last one alone was told, as if nothing had been tried with the others."""
    ann, _ = pair
    stick = tmp_path / "stick"
    for place in (stick, second):
        place.rename(place.with_name(f"{place.name}-away"))
    error = ann.lace("sync", expect=20)["error"]
    for name, place in (("second", second), ("stick", stick)):
        assert f"{name}: The drop {place} cannot be reached: no such file or directory." in error["message"]
    assert error["hint"].endswith("The others: lace status")
    assert "second" not in ann.lace("sync", "stick", expect=20)["error"]["message"]


def test_a_place_that_failed_is_not_the_one_to_sync_next(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-46: the command that is named after a release leads to a place that took what was brought last."""
    ann, bob = pair
    ann.lace("place", "remove", "stick")  # friends were met there, so that it would come first all the same
    for name in ("a-first", "second"):
        ann.lace("place", "add", name, str(tmp_path / name))
    ann.write("ann.md", "ann\n")
    assert ann.lace("release", "1.0.9")["next"] == "lace sync a-first"
    (tmp_path / "a-first").rename(tmp_path / "away")
    ann.lace("sync", expect=1)
    ann.write("ann.md", "more of ann\n")
    assert ann.lace("release", "1.1.0")["next"] == "lace sync second"
    ann.lace("place", "add", "stick", bob.lace("places")["places"][0]["uri"])
    bob.write("bob.md", "bob\n")
    bob.lace("release", "1.1.1")
    bob.lace("sync")
    assert ann.lace("sync", expect=1)["next"] == "lace update", "what came goes before what failed"
    assert [line for line in ann.text("sync", expect=1).splitlines() if "Next" in line] == ["Next: lace sync a-first"]
    assert ann.lace("release", "1.2.0")["next"] == "lace sync stick"
    told = ann.text("status")
    assert "Plug the stick in" in told
    assert "a-first  never synced" in told


def test_what_cannot_be_written_is_read_all_the_same(pair: tuple[Person, Person], second: Path) -> None:
    """LAZ-25, LAZ-47: the friend's release comes, mine stays queued, and the exit code is that of the place."""
    ann, bob = pair
    bob.lace("sync", "second")
    box = locked(second, ann)
    done = ann.lace("sync", "second", expect=23)
    assert [release["version"] for release in done["releases"]] == ["1.2.0"]
    assert (done["sent"], done["queued"], done["safe_to_remove"]) == (0, True, False)
    assert not done["fixed_point"], "what could not be written is left to do"
    assert (done["error"]["code"], done["problems"][0]["code"]) == ("place-not-writable", "place-not-writable")
    for way in (done["problems"][0]["hint"], done["error"]["hint"]):
        assert way.endswith("lace pull second"), "the way out can be typed as it stands"
    told = ann.lace("push", "second", expect=23)["error"]
    assert (told["code"], told["hint"][-16:]) == ("place-not-writable", "lace pull second")
    ann.lace("pull", "second")
    (fault,) = (place["fault"] for place in ann.lace("status")["places"] if place["place"] == "second")
    assert fault["hint"].endswith("lace pull second")
    assert fault["code"] == "place-not-writable", "that it was read says nothing about writing"
    beside = ann.lace("sync", expect=1)
    assert {place["name"]: place["sent"] > 0 for place in beside["places"]} == {"second": False, "stick": True}
    assert ann.lace("push", "bob", expect=1)["queued"]
    (entry,) = (entry for entry in ann.lace("queue")["entries"] if entry["what"] == "release main 1.1.0")
    assert entry["places"] == ["stick"]
    kept = box.readlink()
    box.unlink()
    kept.rename(box)
    assert ann.lace("sync", "second")["sent"] > 0
    assert "! " not in ann.text("status")


@pytest.mark.parametrize("options", [(), ("--encrypt",)])
def test_what_has_no_room_on_a_stick_is_refused_before_it_is_written(
    ann: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """Fault 3, LAZ-13: the stick was filled, and all of it removed again, at each visit; the plan told nothing of it.

    What fits once it is compressed is sent.
    """
    stick, real = tmp_path / "small", shutil.disk_usage
    ann.lace("place", "add", "small", str(stick), *options)
    ann.write("notes.md", "one\n")
    ann.lace("release", "1.0.0")
    ann.lace("sync", "small")

    def small(path: Path) -> tuple[int, int, int]:
        return (40 << 20, 38 << 20, 2 << 20) if Path(path).is_relative_to(stick) else real(path)

    monkeypatch.setattr(shutil, "disk_usage", small)
    ann.write("long.txt", "all work and no play\n" * 200_000)
    ann.lace("release", "1.1.0")
    ann.lace("sync", "small")
    before = {path: path.stat().st_size for path in stick.rglob("*")}
    ann.write("photo.jpg", Random(1).randbytes(3 << 20))
    ann.lace("release", "1.2.0")
    planned = ann.lace("sync", "small", "--dry-run")
    assert planned["places"][0]["bytes_free"] == 2 << 20
    assert " (3.0 MiB, but only 2.0 MiB are free there)" in ann.text("sync", "small", "--dry-run")
    refused = ann.run("sync", "small")
    assert refused.code == 22
    assert "needs about 3.0 MiB, and 2.0 MiB are free there" in refused.text + refused.err
    assert {path: path.stat().st_size for path in stick.rglob("*")} == before
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (0, 0, 0))  # a share that tells nothing
    assert ann.lace("sync", "small", "--dry-run")["places"][0]["bytes_free"] is None
    ann.lace("sync", "small")


def test_an_address_that_is_copied_badly_says_what_to_copy(ann: Person) -> None:
    """LAZ-25, APP-14: the way out fits what was wrong with the text."""
    told = ann.lace("place", "add", "alices", "https://host:7433/#V.short", expect=2)["error"]
    assert "the whole line that lace serve printed" in told["hint"]


_NO_HOSTS = ("bobs..laptop", "a" * 70, ".x", "a+b")


@pytest.mark.parametrize("host", _NO_HOSTS)
def test_a_host_that_none_can_be_is_no_place_and_no_address_to_serve_at(pair: tuple[Person, Person], host: str) -> None:
    """CYB-16, APP-5: it was taken, and each sync ended in a fault of lace."""
    ann, bob = pair
    for uri in (f"https://{host}:7433/#{bob.lace('id')['node']}", f"https://{host}/", f"http+plain://{host}:80/d"):
        told = ann.lace("place", "add", "abad", uri, expect=2)["error"]
        assert (told["code"], "not a web address" in told["message"]) == ("unknown-place-kind", True)
        assert host[:40] in told["hint"]
    ann.lace(
        "join", "carl", f"https://{host}:7433/#{bob.lace('id')['node']}", "--key", bob.lace("id")["node"], expect=2
    )
    for option in ("--listen", "--address"):
        told = ann.lace("serve", option, f"{host}:1", expect=2)["error"]
        assert (told["code"], "is not HOST:PORT" in told["message"]) == ("bad-arguments", True)
    assert [place["place"] for place in ann.lace("places")["places"]] == ["stick"]


@pytest.mark.parametrize("words", [("--listen", "*:7433"), ("--listen", "x\udcff:1"), ("--address", ":7433")])
def test_an_address_that_nobody_could_add_is_not_served_at(ann: Person, words: tuple[str, str]) -> None:
    """CYB-16: `https://*:7433/` was what friends were to type."""
    assert ann.lace("serve", *words, expect=2)["error"]["code"] == "bad-arguments"


def test_a_host_that_none_can_be_keeps_nobody_from_the_other_places(
    pair: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-46, APP-14: an earlier lace took it, and told it to whoever it invited; it waits as one that is away."""
    ann, bob = pair
    with monkeypatch.context() as earlier:
        earlier.setattr(address, "is_host", lambda _text: True)
        ann.lace("place", "add", "abad", f"https://bobs..laptop:7433/#{bob.lace('id')['node']}")
    ann.write("ann.md", "ann\n")
    ann.lace("config", "set", "sync-strategy", "on-release")
    assert ann.run("release", "1.1.0").code == 0
    assert [one["version"] for one in bob.lace("sync", "stick")["releases"]] == ["1.1.0"]
    told = {place["name"]: place for place in ann.lace("sync", expect=1)["places"]}
    assert told["stick"]["fixed_point"]
    assert (told["abad"]["queued"], told["abad"]["problems"][0]["code"]) == (True, "place-unreachable")
    assert "codec" not in told["abad"]["problems"][0]["message"]
    ann.lace("sync", "abad", expect=20)
    ann.lace("due")
    ann.lace("place", "remove", "abad")
    assert ann.lace("undo")["undone"] == "abad is a place again"
    dan = person_in(ann.folder.parent, "dan")
    joined = dan.run("--json", "accept", ann.lace("invite", "dan")["invite"])
    assert (joined.code, [place["place"] for place in joined.json["places"]]) == (0, ["stick"])
    assert "abad" in joined.err


def test_a_place_that_cannot_be_made_names_no_place_to_pull_from(
    ann: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-25: what is no place yet holds nothing that could be read."""

    def refuse(path: Path, *, entropy: object) -> None:
        raise PlaceNotWritable(f"The drop {path} cannot be written: read-only file system.")

    monkeypatch.setattr(Drop, "create", refuse)
    told = ann.lace("place", "add", "rom", str(tmp_path / "rom"), expect=23)["error"]
    assert told["hint"] == "Name a directory that you may write to."


def _plays_ssh(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "ssh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    monkeypatch.setenv("GIT_SSH_VARIANT", "ssh")


def test_a_place_on_the_network_is_not_added_unseen(
    ann: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-24: it may be encrypted there, and what is left in plain is read by all who look; the way on is named."""
    _plays_ssh(tmp_path, monkeypatch, "echo 'ssh: connect to host h port 22: Connection refused' >&2; exit 255")
    told = ann.lace("place", "add", "host", "git@h:us/v.git", expect=20)["error"]
    assert told["message"].endswith("cannot be reached: ssh: connect to host h port 22: Connection refused.")
    assert told["hint"].startswith("It was not added: lace first looks ")
    assert ann.lace("places")["places"] == []


def test_a_host_by_the_name_of_one_s_own_ssh_settings(
    ann: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-16: `HOST:PATH.git`, as git takes it; others do not know that name."""
    _plays_ssh(tmp_path, monkeypatch, 'for last; do :; done\nexec sh -c "$last"')
    bare = bare_repository(tmp_path / "v.git")
    made = ann.run("place", "add", "host", f"friend:{bare}")
    assert made.code == 0
    assert "only where ssh knows friend" in made.err
    assert ann.lace("sync", "host")["fixed_point"]
    assert "your ssh knows: ssh://friend/PATH" in ann.lace("place", "add", "b", "friend:v", expect=2)["error"]["hint"]


def test_a_folder_that_was_copied_says_so_and_names_both_ways(ann: Person, tmp_path: Path) -> None:
    """APP-13: the copy that wrote less fetches the rest, or goes on as another node."""
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    ann.write("a.md", "a\n")
    ann.lace("release", "1.0.0")
    shutil.copytree(ann.folder, tmp_path / "copy")
    ann.write("a.md", "b\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync")
    (tmp_path / "copy" / "c.md").write_text("c\n")
    told = ann.lace("release", "2.0.0", expect=19, cwd=tmp_path / "copy")["error"]
    assert told["code"] == "vault-behind-mark"
    assert told["hint"].startswith("A copy of it wrote since")
    assert "lace sync" in told["hint"]
    assert "both copies are to go on, run: lace adopt" in told["hint"]
    assert ann.lace("sync", cwd=tmp_path / "copy")["next"] == "lace update"
    ann.lace("update", cwd=tmp_path / "copy")
    ann.lace("release", "2.0.0", cwd=tmp_path / "copy")
    assert (tmp_path / "copy" / "a.md").read_text() == "b\n"


def test_what_waits_for_a_place_is_told_where_nobody_waits(ann: Person, tmp_path: Path) -> None:
    """LAZ-56: a group of one has no friend to wait, and its stick lacks the release all the same."""
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    ann.write("a.md", "a\n")
    ann.lace("release", "1.0.0")
    (place,) = ann.lace("queue")["places"]
    assert f"{place['records']} records wait for the place stick  lace sync stick" in ann.text("queue")
    assert ann.lace("sync")["sent"] == place["records"]
    assert ann.text("queue") == "Nothing waits.\n"


def test_status_says_only_what_it_knows(ann: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-55, LAZ-56: alone there are no friends to be compared with, and nobody looked at the folder."""
    ann.write("a.md", "a\n")
    ann.lace("release", "1.0.0")
    ann.write("a.md", "changed\n")
    assert "friends" not in ann.text("status").splitlines()[1]
    assert "to look at the folder too: lace status --tree" in ann.text("status")
    assert "--tree" not in ann.text("status", "--tree")
    ann.lace("place", "add", "stick", str(tmp_path / "stick"))
    bob.lace("accept", ann.lace("invite", "bob")["invite"])
    for person in (bob, ann):
        person.lace("sync")
    assert "with all that friends released" in ann.text("status").splitlines()[1]


def test_damage_on_a_place_stays_in_status_until_it_is_mended(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-63: who can mend it is named, and `fsck --repair` there is enough."""
    ann, bob = pair
    bob.write("more.md", "more\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync")
    for path in (tmp_path / "stick").glob(f"*/{bob.lace('id')['fingerprint']}/b-*.bnd"):
        path.write_bytes(bytes(byte ^ 0x10 for byte in path.read_bytes()))
    assert "bob writes it anew with lace fsck --repair" in ann.text("sync", expect=1)
    (place,) = ann.lace("status")["places"]
    assert [problem["code"] for problem in place["problems"]] == ["not-available"]
    assert "could not be read here" in ann.text("status")
    bob.lace("fsck", "--repair")
    assert [release["version"] for release in ann.lace("sync")["releases"]] == ["1.1.0"]
    assert ann.lace("status")["places"][0]["problems"] == []


@pytest.mark.parametrize("damage", ["flipped", "gone"])
def test_a_damaged_listing_names_who_writes_it_anew(pair: tuple[Person, Person], tmp_path: Path, damage: str) -> None:
    """LAZ-63: a sync of its owner that has nothing to say does not look at it, and the way out does."""
    ann, bob = pair
    bob.write("more.md", "more\n")
    bob.lace("release", "1.1.0")
    bob.lace("sync")
    (run,) = (tmp_path / "stick").glob(f"*/{bob.lace('id')['fingerprint']}/r-*.run")
    if damage == "flipped":
        run.write_bytes(bytes(byte ^ 0x10 for byte in run.read_bytes()))
    else:
        run.unlink()
    assert "bob writes it anew with lace fsck --repair" in ann.text("sync", expect=1)
    bob.lace("fsck", "--repair")
    assert [release["version"] for release in ann.lace("sync")["releases"]] == ["1.1.0"]


def test_what_is_next_is_said_once_after_all_places(
    pair: tuple[Person, Person], tmp_path: Path, second: Path, cara: Person
) -> None:
    """LAZ-27: one place brings a second side of a conflict and another one a third; there is one way to go on."""
    ann, bob = pair
    cara.lace("accept", ann.lace("invite", "cara")["invite"])
    for person in (cara, ann, cara):
        person.lace("sync")
    for place, person in (("second", ann), ("stick", bob)):
        person.write("same.md", f"{person.name}\n")
        person.lace("release", "2.0.0")
        person.lace("push", place)
    cara.write("same.md", "cara\n")
    cara.lace("release", "2.0.0")
    told = cara.text("sync", expect=1).splitlines()
    (decide,) = (line for line in told if line.startswith("  Decide: "))
    assert {"alice", "bob", "cara"} <= set(decide.split())
    assert [line for line in told if line.startswith("Next: ")] == ["Next: lace conflicts"]


def test_damage_here_stops_no_place_that_needs_nothing_of_it(pair: tuple[Person, Person], tmp_path: Path) -> None:
    """LAZ-24, LAZ-47: the friend's release comes by the other place, and the damage is told by its own code."""
    ann, bob = pair
    (ann.folder / "large.bin").write_bytes(Random(1).randbytes(1 << 20))
    ann.lace("release", "1.1.0")
    ann.lace("sync")
    bob.write("bob.md", "bob\n")
    bob.lace("release", "1.2.0")
    bob.lace("sync")
    ann.lace("place", "add", "a-first", str(tmp_path / "first"))
    (pack,) = (ann.folder / ".vault" / "packs").glob("*.pack")
    pack.chmod(0o600)
    pack.write_bytes(bytes(byte ^ 0x10 for byte in pack.read_bytes()))
    done = ann.lace("sync", expect=1)
    told = {place["name"]: place for place in done["places"]}
    assert [release["version"] for release in done["releases"]] == ["1.2.0"]
    (problem,) = told["a-first"]["problems"]
    assert (problem["code"], told["stick"]["problems"]) == ("pack-damaged", [])
    assert "lace fsck --repair" in problem["hint"]
    done = ann.lace("sync", "a-first", expect=1)  # what is whole went, as to a friend who serves
    assert [problem["code"] for problem in done["problems"]] == ["pack-damaged"]


def test_a_place_that_cannot_be_remembered_is_not_made(ann: Person, tmp_path: Path) -> None:
    """LAZ-25, APP-13: a refused vault left a new drop behind, which then was in the way of what was to be there."""
    for mark in (ann.home / "lace" / "marks").glob("*.mark"):
        mark.unlink()
    assert ann.lace("place", "add", "stick", str(tmp_path / "new"), expect=19)["error"]["code"] == "mark-missing"
    assert not (tmp_path / "new").exists()


def test_what_is_mine_waits_for_no_vault_that_is_only_read(pair: tuple[Person, Person]) -> None:
    """LAZ-46: a vault beside mine whose key is not here takes nothing, and `queue` named it as the way for ever."""
    ann, bob = pair
    bob.lace("place", "remove", "stick")
    bob.lace("place", "add", "anns", str(ann.folder))
    bob.write("bob.md", "bob\n")
    bob.lace("release", "1.2.0")
    told = bob.text("sync", "anns")
    assert "  only read, for its key is not on this machine: what is yours goes another way\n" in told
    assert re.search(r"read, \d+ B to ask for it; nothing was written there$", told, re.MULTILINE)
    assert told.endswith("Next: lace place add NAME DIR\n")
    assert "lace sync anns" not in bob.text("queue")
    assert all(not entry["places"] for entry in bob.lace("queue")["entries"])


def test_a_push_alone_tells_of_a_vault_that_is_only_read(pair: tuple[Person, Person]) -> None:
    """LAZ-46: what a sync learned, that this vault takes nothing, a push forgot, and `queue` named it for ever."""
    ann, bob = pair
    bob.lace("place", "remove", "stick")
    bob.lace("place", "add", "anns", str(ann.folder))
    bob.write("bob.md", "bob\n")
    bob.lace("release", "1.2.0")
    assert "lace sync anns" in bob.text("queue")
    bob.run("push", "anns")
    assert "lace sync anns" not in bob.text("queue")
    assert all(not entry["places"] for entry in bob.lace("queue")["entries"])
    bob.lace("pull", "anns")
    assert "lace sync anns" not in bob.text("queue")


def test_what_came_before_the_room_ended_is_not_called_unchanged(pair: tuple[Person, Person]) -> None:
    """Fault 3, APP-1: friends' records were taken in and their releases shown, and the refusal denied that."""
    ann, bob = pair
    ann.write("film.bin", Random(5).randbytes(17 << 20))
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    before = bob.lace("fsck")["records"]
    bob.world["free_bytes"] = lambda _path: 5 << 20
    refused = bob.run("sync", "stick")
    assert (refused.code, "bytes are free" in refused.err) == (11, True)
    assert bob.lace("fsck")["records"] > before
    assert "nothing was changed" not in refused.err
    assert "run the same command again: what came before stays." in refused.err
    del bob.world["free_bytes"]
    assert [found["version"] for found in bob.lace("sync", "stick")["releases"]] == ["1.1.0"]


def test_a_small_update_that_does_not_fit_is_not_begun(pair: tuple[Person, Person]) -> None:
    """Fault 3: it was, wrote nothing, and no other act was possible before there was room, not even an undo."""
    ann, bob = pair
    ann.write("photo.jpg", Random(5).randbytes(100_000))
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    bob.lace("sync", "stick")
    bob.world["free_bytes"] = lambda _path: 99_999
    refused = bob.run("update")
    assert (refused.code, "nothing was changed" in refused.err) == (11, True)
    bob.write("list.md", "bob's\n")
    bob.lace("commit", "-m", "small")
    del bob.world["free_bytes"]
    assert "photo.jpg" in bob.lace("update")["written"]


@pytest.mark.parametrize("kind", ["drop", "git"])
def test_a_mailbox_that_was_copied_from_another_place_is_told_with_what_to_delete(
    pair: tuple[Person, Person], tmp_path: Path, kind: str
) -> None:
    """CYB-17, faults.md row 20: each visit told of it for ever, and named a sync of somebody who never syncs there."""
    ann, bob = pair
    first, other = tmp_path / f"first.{kind}", tmp_path / f"other.{kind}"
    for place in (first, other):
        if kind == "git":
            bare_repository(place)
    ann.lace("place", "add", "first", str(first))
    ann.lace("sync", "first")
    bob.lace("place", "add", "other", str(other))
    bob.lace("sync", "other")
    if kind == "git":
        git(other, "fetch", "--quiet", str(first), "refs/heads/lace/*:refs/heads/lace/*", "^refs/heads/lace/place")
    else:
        (room,) = (path for path in first.iterdir() if path.is_dir())
        (mailbox,) = room.iterdir()
        shutil.copytree(mailbox, other / room.name / mailbox.name)
    (problem,) = bob.lace("sync", "other", expect=1)["problems"]
    where = re.search(r"may delete the (?:folder|branch) (\S+)\.$", problem["hint"])
    assert where is not None
    if kind == "git":
        git(other, "update-ref", "-d", f"refs/heads/{where[1]}")
    else:
        shutil.rmtree(other / where[1])
    assert bob.lace("sync", "other")["problems"] == []
