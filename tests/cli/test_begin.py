"""The verbs of "Begin and belong", through the real command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from lazy.belonging.invitations import PREFIX, Invitation
from tests.cli.looking import error_of
from tests.people import Person
from vault.identity.words import fingerprint_words
from vault.records import Tai, Verifier, b64a

WHO = {"vault", "node", "name", "group", "fingerprint", "words"}


# init, id


def test_init_makes_a_vault_and_says_who_is_in_it(alice: Person) -> None:
    """APP-2: all state lies under .vault, and the key lies outside of it."""
    made = alice.lace("init", "--name", "alice", "--group", "band")
    assert set(made) == WHO | {"already"}
    assert made["vault"] == str(alice.folder)
    assert made["name"] == "alice"
    assert made["group"].startswith("band/")
    assert [path.name for path in alice.folder.iterdir()] == [".vault"]
    assert made["words"] == fingerprint_words(Verifier.parse(made["node"]))
    assert {**alice.lace("id"), "already": False} == made


def test_init_in_words(alice: Person) -> None:
    text = alice.text("init", "--name", "alice")
    assert "you are alice" in text
    words = alice.lace("id")["words"]
    assert f"Your words: {words}" in text
    assert words in alice.text("id")


def test_init_and_accept_make_the_folder_that_is_named(alice: Person, bob: Person) -> None:
    alice.lace("-C", "new/deep", "init", "--name", "alice")
    assert (alice.folder / "new/deep/.vault/store.db").is_file()
    line = alice.lace("-C", "new/deep", "invite")["invite"]
    bob.lace("-C", "also/new", "accept", line, "--name", "bob")
    assert (bob.folder / "also/new/.vault/store.db").is_file()
    assert error_of(alice.run("--json", "-C", "nowhere", "id"), "folder-missing")


def test_where_keys_cannot_lie_is_not_said_of_the_folder(alice: Person, tmp_path: Path) -> None:
    """APP-2: `.vault` was said to be no directory, or another folder was asked for, which was refused alike."""
    file = tmp_path / "file"
    file.write_text("")
    alice.environ["LACE_HOME"] = str(file / "home")
    error = error_of(alice.run("--json", "init", "--name", "alice"), "not-writable", 12)
    assert error["message"] == f"{file} cannot be written: file exists."
    assert error["hint"].endswith("or name another directory in LACE_HOME.")
    del alice.environ["LACE_HOME"]
    assert alice.lace("init", "--name", "alice")["name"] == "alice"


@pytest.mark.parametrize("name", ["", "keys", "marks"])
def test_where_no_key_can_lie_nothing_is_left_in_the_folder(alice: Person, bob: Person, name: str) -> None:
    """APP-2, LAZ-1: a directory of a vault that never was stayed in the folder, and of another key its file."""
    alice.lace("init", "--name", "alice")
    invite = alice.lace("invite", "bob")["invite"]
    notes = bob.write("notes.md", "bob\n")
    data = bob.home / "lace"
    for words in (("init",), ("accept", invite)):
        shutil.rmtree(data, ignore_errors=True)
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text("")
        error_of(bob.run("--json", *words, "--name", "bob"), "not-writable", 12)
        error_of(bob.run("--json", "-C", "new/deep", *words, "--name", "bob"), "not-writable", 12)
        assert list(bob.folder.iterdir()) == [notes], "nor a folder that was named and is not there"
        assert not list(bob.home.rglob("*.key"))
        (data / name).unlink()
        assert bob.lace(*words, "--name", "bob")["name"] == "bob"
        shutil.rmtree(bob.folder / ".vault")


@pytest.mark.parametrize(
    ("login", "name"),
    [("ann", "ann"), ("DOM\\ann", "DOM\\ann"), ("a/n:n@x", "annx"), ("u\u0308", "\u00fc"), ("x" * 99, "x" * 64)],
)
def test_init_takes_the_login_name_as_far_as_names_allow(alice: Person, login: str, name: str) -> None:
    alice.environ["USER"] = login
    assert alice.lace("init")["name"] == name


@pytest.mark.parametrize("login", ["", "/", "..", "self", "\x1b"])
def test_init_asks_for_a_name_when_none_can_be_had(alice: Person, login: str) -> None:
    alice.environ["USER"] = login
    assert "--name" in error_of(alice.run("--json", "init"), "name-needed")["hint"]
    assert not (alice.folder / ".vault").exists()


@pytest.mark.parametrize("words", [["--name", "a/b"], ["--name", "self"], ["--name", "a", "--group", "local"]])
def test_init_refuses_names_that_records_cannot_carry(alice: Person, words: list[str]) -> None:
    error_of(alice.run("--json", "init", *words), "bad-name")
    assert not (alice.folder / ".vault").exists()


def test_init_twice_is_refused_and_changes_nothing(alice: Person) -> None:
    before = alice.lace("init", "--name", "alice")
    error_of(alice.run("--json", "init", "--name", "other"), "vault-exists")
    assert {**alice.lace("id"), "already": False} == before


def test_init_says_when_a_vault_lies_above(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    assert "has a vault too" in alice.run("-C", "below", "init", "--name", "alice").err


def test_init_in_a_folder_that_cannot_be_made(alice: Person) -> None:
    alice.write("file", "x")
    error_of(alice.run("--json", "-C", "file/below", "init", "--name", "a"), "folder-missing")


@pytest.mark.parametrize(
    "words",
    [["id"], ["adopt"], ["invite"], ["admit", "x"], ["members"], ["requests"], ["leave", "x"], ["peers"], ["places"]],
)
def test_without_a_vault_the_way_to_one_is_named(alice: Person, words: list[str]) -> None:
    """APP-14: exit code 10 and a hint that names both ways."""
    error = error_of(alice.run("--json", *words), "no-vault", 10)
    assert "lace init" in error["hint"]
    assert "lace accept" in error["hint"]


# invite, accept


def test_invite_prints_one_line_and_talks_beside_it(alice: Person, stick: Path) -> None:
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    result = alice.run("invite", "bob")
    assert result.code == 0
    line = result.text.removesuffix("\n")
    assert line.startswith(PREFIX)
    assert "\n" not in line
    invitation = Invitation.decode(line)
    assert (invitation.name, invitation.words) == ("bob", alice.lace("id")["words"])
    assert invitation.places == (("stick", stick.as_uri()),)
    assert invitation.words in result.err
    assert invitation.expires.to_utc_iso()[:16].replace("T", " ") in result.err


def test_invite_in_json(alice: Person) -> None:
    alice.lace("init", "--name", "alice")
    data = alice.lace("invite")
    invitation = Invitation.decode(data["invite"])
    assert data["words"] == alice.lace("id")["words"]
    assert Tai.parse(data["expires_tai"]) == invitation.expires
    assert data["expires"] == invitation.expires.to_utc_iso()
    assert (data["name"], data["places"]) == (None, [])
    error_of(alice.run("--json", "invite", "a@b"), "bad-name")


def test_accept_enters_the_group_and_leaves_a_request(alice: Person, bob: Person, stick: Path) -> None:
    """LAZ-1: both ends work without a network; the files that lie in the folder stay."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    line = alice.lace("invite", "bob")["invite"]
    file = bob.write("mine.txt", "already here")
    data = bob.lace("accept", line)
    assert set(data) == WHO | {"peer", "peer_words", "places", "already"}
    assert (data["name"], data["group"]) == ("bob", alice.lace("id")["group"])
    assert data["peer"] == alice.lace("id")["node"]
    assert data["peer_words"] == alice.lace("id")["words"]
    assert [(place["place"], place["uri"]) for place in data["places"]] == [("stick", stick.as_uri())]
    assert file.read_text() == "already here"
    assert list(stick.rglob("*request*"))


def test_accept_in_words(alice: Person, bob: Person) -> None:
    alice.lace("init", "--name", "alice", "--group", "band")
    line = alice.lace("invite")["invite"]
    text = bob.text("accept", line, "--name", "robert")
    assert "You are robert in the group band." in text
    assert "Next: lace place add NAME DIR, then lace sync, then lace update." in text
    assert alice.lace("id")["words"] in text
    assert bob.lace("id")["words"] in text


def test_the_next_step_is_where_friends_are_met(alice: Person, bob: Person, stick: Path, tmp_path: Path) -> None:
    """LAZ-56: not the place that comes first by name, where nobody ever was."""
    alice.lace("init", "--name", "alice")
    made = alice.run("place", "add", "attic", str(tmp_path / "attic"))
    assert "was made now" in made.err, "it may be a stick that is not here yet"
    assert "lace place remove attic" in made.err
    alice.lace("place", "add", "stick", str(stick))
    accepted = bob.text("accept", alice.lace("invite", "bob")["invite"])
    assert "Next: lace sync, then lace update." in accepted  # which of them is here he knows best
    alice.write("song.md", "la\n")
    assert alice.lace("release", "1.0.0")["next"] == "lace sync attic"
    for person in (bob, alice, bob, alice):
        person.lace("sync", "stick")
    alice.write("song.md", "la la\n")
    assert alice.lace("release", "1.0.1")["next"] == "lace sync stick"
    assert alice.lace("queue")["entries"][-1]["reason"].endswith("lace sync stick")


def test_accept_when_the_stick_is_elsewhere(alice: Person, bob: Person, stick: Path) -> None:
    """LAZ-1: the place is remembered, whether its mount point is gone or empty."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    away = stick.rename(stick.with_name("away"))
    line = alice.lace("invite", "bob")["invite"]
    bob.lace("-C", "gone", "accept", line)
    stick.mkdir()
    bob.lace("-C", "empty", "accept", line)
    for folder in ("gone", "empty"):
        (place,) = bob.lace("-C", folder, "places")["places"]
        assert (place["place"], place["place_id"]) == ("stick", None)
    assert list(stick.iterdir()) == []
    assert away.is_dir()


def test_accept_leaves_out_a_place_it_does_not_speak(alice: Person, bob: Person) -> None:
    made = alice.lace("init", "--name", "alice")
    invitation = Invitation.decode(alice.lace("invite", "bob")["invite"])
    line = Invitation(
        group=invitation.group,
        founding=invitation.founding,
        inviter=invitation.inviter,
        secret=invitation.secret,
        expires=invitation.expires,
        name="bob",
        places=(("mars", "gopher://mars/x"),),
    ).encode()
    result = bob.run("--json", "accept", line)
    assert (result.code, result.json["places"], result.json["group"]) == (0, [], made["group"])
    assert "mars" in result.err


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda line: "hello", "bad-invitation"),
        (lambda line: line[:-9], "bad-invitation"),
        (lambda line: line[:40] + ("0" if line[40] != "0" else "1") + line[41:], "bad-invitation"),
    ],
)
def test_accept_refuses_a_spoiled_line_and_makes_nothing(
    alice: Person, bob: Person, spoil: Callable[[str], str], code: str
) -> None:
    alice.lace("init", "--name", "alice")
    line = alice.lace("invite", "bob")["invite"]
    error_of(bob.run("--json", "-C", "new", "accept", spoil(line)), code)
    assert not (bob.folder / "new").exists()


def test_accept_with_a_clock_past_the_expiry_warns_and_goes_on(alice: Person, bob: Person, stick: Path) -> None:
    """LAZ-16: a friend whose clock is in 2286 enters by an invitation written in 2001, and is admitted."""
    alice.world["now_ns"] = lambda: 978_307_200 * 10**9
    bob.world["now_ns"] = lambda: 9_999_990_000 * 10**9
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    line = alice.lace("invite", "bob")["invite"]
    result = bob.run("--json", "accept", line)
    assert result.code == 0
    (warning,) = [said for said in result.err.splitlines() if "clock" in said]
    assert "2286-11-20 15:00" in warning
    assert Invitation.decode(line).expires.to_utc_iso()[:16].replace("T", " ") in warning
    alice.lace("sync", "stick")
    bob.lace("sync", "stick")
    assert [member["name"] for member in bob.lace("members")["members"]] == ["alice", "bob"]


def test_who_invites_by_a_clock_that_is_behind_is_told(alice: Person) -> None:
    """LAZ-16: the line was out of date for everybody else as it was made, and nothing said so."""
    alice.lace("init", "--name", "alice")
    assert "clock" not in alice.run("invite", "bob").err
    alice.world["now_ns"] = lambda: 1_000_000_000 * 10**9
    late = alice.run("invite", "cara")
    assert (late.code, late.text.startswith("lace-invite-0:")) == (0, True)
    (warning,) = [said for said in late.err.splitlines() if "clock" in said]
    assert "This device's clock says 2001-09-09 01:46 UTC, and records here are dated up to " in warning


def test_the_inviter_judges_by_the_clock_that_wrote_the_expiry(alice: Person, bob: Person, stick: Path) -> None:
    """LAZ-16: whoever comes too late by the inviter's clock waits for a hand, whatever their own clock says."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    line = alice.lace("invite", "bob")["invite"]
    expires = Invitation.decode(line).expires
    bob.world["now_ns"] = lambda: 978_307_200 * 10**9
    result = bob.run("--json", "accept", line)
    assert (result.code, "clock" in result.err) == (0, False)
    alice.world["now_ns"] = lambda: expires.seconds * 10**9
    alice.lace("sync", "stick")
    (request,) = alice.lace("requests")["requests"]
    assert expires.to_utc_iso() in request["problem"]
    alice.lace("admit", "bob")
    assert [member["name"] for member in alice.lace("members")["members"]] == ["alice", "bob"]


def test_accept_needs_some_name(alice: Person, bob: Person) -> None:
    alice.lace("init", "--name", "alice")
    line = alice.lace("invite")["invite"]
    error_of(bob.run("--json", "accept", line), "name-needed")
    bob.environ["USER"] = "bob"
    assert bob.lace("accept", line)["name"] == "bob"


# members, requests, admit


def test_members_name_the_founder_first(alice: Person, bob: Person) -> None:
    key = alice.lace("init", "--name", "alice")["node"]
    (member,) = alice.lace("members")["members"]
    assert (member["name"], member["node"], member["depth"], member["me"]) == ("alice", key, 0, True)
    assert (member["admitted_by"], member["since"]) == (None, None)
    assert "alice (you)" in alice.text("members")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    assert bob.lace("members") == {"members": [], "revoked": []}
    assert "sync first" in bob.text("members")


def test_admit_by_key(alice: Person, bob: Person) -> None:
    alice.lace("init", "--name", "alice")
    key = bob.lace("accept", alice.lace("invite", "bob")["invite"])["node"]
    data = alice.lace("admit", "bob", "--key", key)
    assert (data["member"], data["node"]) == ("bob", key)
    assert data["record"].startswith("S.")
    assert [m["name"] for m in alice.lace("members")["members"]] == ["alice", "bob"]
    bob_here = alice.lace("members")["members"][1]
    assert bob_here["admitted_by"] == "alice"
    assert f"bob, admitted by alice on {bob_here['since'][:10]}" in alice.text("members")
    error_of(alice.run("--json", "admit", "bob", "--key", key), "already-member")
    assert "bob is a member" not in alice.run("admit", "bob", "--key", key).text


def test_admit_says_what_is_wrong(alice: Person, bob: Person) -> None:
    alice.lace("init", "--name", "alice")
    assert alice.lace("requests") == {"requests": [], "revocations": []}
    assert alice.text("requests") == "Nobody is waiting.\n"
    error_of(alice.run("--json", "admit", "nobody"), "no-such-peer")
    assert "V." in error_of(alice.run("--json", "admit", "bob", "--key", "V.x"), "bad-arguments")["hint"]
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    error_of(bob.run("--json", "admit", "x", "--key", alice.lace("id")["node"]), "not-member")
    error_of(bob.run("--json", "invite"), "not-member")


def test_who_waits_is_listed_with_the_reason_and_admitted_by_name(
    alice: Person, bob: Person, cara: Person, stick: Path
) -> None:
    """An invitation admits one person by itself; the next one who holds the line waits for a hand."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stick))
    line = alice.lace("invite")["invite"]
    bob.lace("accept", line, "--name", "bob")
    alice.lace("sync", "stick")
    assert alice.lace("requests") == {"requests": [], "revocations": []}
    assert [m["name"] for m in alice.lace("members")["members"]] == ["alice", "bob"]
    key = cara.lace("accept", line, "--name", "cara")["node"]
    alice.lace("sync", "stick")
    (request,) = alice.lace("requests")["requests"]
    assert (request["name"], request["node"], request["place"]) == ("cara", key, "stick")
    assert "already used by bob" in request["problem"]
    assert request["words"] == cara.lace("id")["words"]
    assert Tai.parse(request["tai"]).to_utc_iso() == request["time"]
    text = alice.text("requests")
    assert request["words"] in text
    assert f"lace admit cara --key {key}" in text
    assert "cara is a member now" in alice.text("admit", "cara")
    assert alice.lace("requests") == {"requests": [], "revocations": []}


def test_the_whole_way_in_processes_of_their_own(alice: Person, bob: Person, stick: Path) -> None:
    """LAZ-45: what the in-process tests say holds for the installed command too."""
    assert alice.real("init", "--name", "alice").code == 0
    assert alice.real("place", "add", "stick", str(stick)).code == 0
    alice.write("a.txt", "a")
    assert alice.real("release", "--yes", "-m", "first").code == 0
    line = alice.real("invite", "bob").text.strip()
    done = bob.real("--json", "accept", line)
    assert (done.code, done.json["name"]) == (0, "bob")
    assert alice.real("cat", "main@1.0.0", "a.txt").out == b"a"
    assert bob.real("--json", "cat", "main", "a.txt").json["error"]["code"] == "not-yet"


# places


def test_places_are_added_listed_and_removed(alice: Person, stick: Path) -> None:
    alice.lace("init", "--name", "alice")
    assert "lace place add" in alice.text("places")
    data = alice.lace("place", "add", "stick", str(stick))
    assert (data["place"], data["kind"], data["uri"], data["peer"]) == ("stick", "drop", stick.as_uri(), None)
    (listed,) = alice.lace("places")["places"]
    assert {**listed, "already": False} == data
    assert alice.text("places") == f"stick  drop  {stick.as_uri()}\n"
    content = sorted(stick.rglob("*"))
    assert alice.lace("place", "remove", "stick") == data
    assert alice.lace("places") == {"places": []}
    assert sorted(stick.rglob("*")) == content
    error_of(alice.run("--json", "place", "remove", "stick"), "no-such-place")


def test_a_place_that_cannot_be_one(alice: Person, stick: Path) -> None:
    alice.lace("init", "--name", "alice")
    (stick / "holiday.jpg").write_bytes(b"x")
    error_of(alice.run("--json", "place", "add", "s", str(stick)), "drop-not-empty")
    error_of(alice.run("--json", "place", "add", "self", "../x"), "bad-name")
    error_of(alice.run("--json", "place", "add", "s", "gopher://example.org/x"), "unknown-place-kind")
    alice.lace("place", "add", "s", "../x")
    error_of(alice.run("--json", "place", "add", "s", "../y"), "name-taken")
    assert "inside your shared folder" in alice.run("place", "add", "in", "inner").err
    error_of(alice.run("--json", "place", "add", "own", ".vault/inner"), "in-the-vault")
    assert not (alice.folder / ".vault" / "inner").exists()


# Foreign text


def test_a_hostile_name_drives_no_terminal(alice: Person, bob: Person) -> None:
    """APP-14: bidirectional overrides in a friend's name are shown, not obeyed."""
    alice.lace("init", "--name", "alice", "--group", "a\u202eb")
    line = alice.lace("invite", "eve\u202egpj")["invite"]
    text = bob.text("accept", line)
    assert "\u202e" not in text
    assert "eve\\u202egpj" in text
    result = bob.run("--json", "id")
    assert result.out.isascii()
    assert json.loads(result.out)["name"] == "eve\u202egpj"


def test_the_fingerprint_is_the_key(alice: Person) -> None:
    data = alice.lace("init", "--name", "alice")
    assert b64a.decode(data["node"][2:-3]).hex() == data["fingerprint"]


def test_a_vault_whose_store_is_gone_is_damaged_and_not_absent(alice: Person, tmp_path: Path) -> None:
    """Whoever is told that there is no vault would begin another one on top of what is left."""
    alice.lace("init", "--name", "alice")
    alice.write("a.txt", "a")
    alice.lace("release", "1.0.0")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    alice.lace("sync", "stick")
    (alice.folder / ".vault" / "store.db").unlink()
    for words in (["status"], ["fsck", "--repair"]):
        told = alice.run("--json", *words).json["error"]
        assert (told["code"], "has lost its store" in told["message"]) == ("store-damaged", True)
        assert "join again with: lace accept INVITE" in told["hint"]
        assert told["hint"].endswith("Whoever is alone in the group begins anew: lace init.")
    (alice.folder / ".vault").rename(alice.home / "away")
    alice.lace("init", "--name", "alice")
    assert alice.lace("release", "1.0.0")["version"] == "1.0.0"
    assert (alice.folder / "a.txt").read_text() == "a"


def test_a_store_of_no_bytes_is_said_to_be_beyond_repair_and_its_way_out_works(alice: Person, bob: Person) -> None:
    """APP-13, LAZ-1: its packs were whole, and nothing said that these alone bring nothing back, or what stays."""
    alice.lace("init", "--name", "alice")
    content = alice.write("large.bin", Random(7).randbytes(100_000)).read_bytes()
    alice.lace("release", "1.0.0")
    stick = str(alice.folder.with_name("stick"))
    alice.lace("place", "add", "stick", stick)
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (bob, alice, bob):
        person.run("sync", "stick")
    (alice.folder / ".vault" / "store.db").write_bytes(b"")
    assert list((alice.folder / ".vault" / "packs").iterdir())
    for words in (["status"], ["fsck"], ["fsck", "--repair"]):
        told = error_of(alice.run("--json", *words), "store-damaged", 41)
        assert "packs hold contents without names" in told["message"]
        assert "the files in the folder stay as they are" in told["message"]
    (alice.folder / ".vault").rename(alice.home / "away")
    alice.lace("accept", bob.lace("invite", "alice")["invite"], "--name", "alice")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    assert alice.lace("update")["written"] == []
    assert (alice.folder / "large.bin").read_bytes() == content
    assert alice.lace("fsck")["ok"]


def test_a_vault_is_begun_once_whoever_it_is_that_asks(alice: Person) -> None:
    """LAZ-1, APP-14: where a vault is, a missing name is not what is wrong."""
    for name in ("USER", "LOGNAME", "USERNAME"):
        alice.environ[name] = ""
    error_of(alice.run("--json", "init"), "name-needed")
    alice.lace("init", "--name", "alice")
    error_of(alice.run("--json", "init"), "vault-exists")


def test_what_syncthing_keeps_is_named_before_it_is_shared(alice: Person) -> None:
    """CLAY-71: its older files came to every friend by the first release; what the rules name is not told of."""
    for name in (".stfolder", ".stversions"):
        (alice.folder / name).mkdir(parents=True)
    told = alice.run("init", "--name", "alice").err
    for name in (".stfolder", ".stversions"):
        assert f"{name} lies in your shared folder, so a release would share it" in told
    other = alice.folder / "other"
    (other / ".stfolder").mkdir(parents=True)
    (other / ".laceignore").write_text(".st*\n")
    assert ".stfolder" not in alice.run("-C", str(other), "init", "--name", "alice").err


def test_a_git_repository_is_named_before_it_is_shared(alice: Person) -> None:
    """CLAY-71: its settings and hooks came to every friend by the first release, without a word."""
    (alice.folder / ".git").mkdir()
    (alice.folder / ".git" / "config").write_text("")
    told = alice.run("init", "--name", "alice").err
    assert ".git lies in your shared folder, so a release would share it" in told
    other = alice.folder / "other"
    (other / ".git").mkdir(parents=True)
    (other / ".laceignore").write_text(".git/\n")
    assert ".git" not in alice.run("-C", str(other), "init", "--name", "alice").err
