"""`revoke` as people use it: shown first, agreed to, told to everybody."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from lace_tui.model.reading import read_home
from lace_tui.model.view import NeedKind
from tests.circle.world import open_vault
from tests.people import Person
from vault.commands import words_of
from vault.suite import SigningKey


def test_revoking_is_shown_agreed_to_and_told(pair: tuple[Person, Person]) -> None:
    """LAZ-66, LAZ-71: nothing happens without a yes; afterwards every list says so, on both sides."""
    ann, bob = pair
    bob.write("bob.txt", "mine\n")
    bob.lace("release", "1.0.1")
    for person in (bob, ann):
        person.lace("sync", "stick")
    plan = ann.lace("revoke", "bob", "--dry-run")
    assert (plan["planned"], plan["revocation"], plan["waits"], plan["above"]) == (True, None, False, ["bob", "alice"])
    told = ann.text("revoke", "bob", "--dry-run")
    assert "bob would be revoked" in told
    assert f"bob was let in on {plan['since'][:10]}, and released {plan['last_release'] or 'nothing'}" in told
    refused = ann.run("--json", "revoke", "bob")
    assert (refused.code, refused.json["error"]["code"]) == (2, "revocation-not-agreed")
    assert refused.json["error"]["hint"].endswith("lace revoke bob --yes")
    told = ann.lace("revoke", "bob", "--last", "1", expect=2)["error"]
    assert told["hint"].endswith("lace revoke bob --last 1 --yes"), "what was asked for is what is agreed to"
    told = ann.lace("revoke", "bob", "-m", "his phone", expect=2)["error"]
    assert told["hint"].endswith("lace revoke bob -m 'his phone' --yes"), "the reason that friends read is not lost"
    ann.environ["TERM"] = "xterm"
    said_no = ann.run("revoke", "bob", stdin=b"n\n", tty=True)
    assert (said_no.code, said_no.err.endswith("Revoke? [y/N] ")) == (1, True), "no is no wrong use, as elsewhere"
    assert said_no.text.startswith("Nobody was revoked. Look with: lace revoke bob --dry-run")
    ctrl_d = ann.run("revoke", "bob", tty=True)
    assert (ctrl_d.code, ctrl_d.err.endswith("Revoke? [y/N] \n"), ctrl_d.text) == (1, True, said_no.text)
    assert ann.lace("members")["revoked"] == []
    earlier = plan["last_seq"] - 1
    done = ann.lace("revoke", "bob", "--last", str(earlier), "-m", "his laptop was stolen", "--yes")
    assert (done["last_seq"], done["after"], done["releases_after"]) == (earlier, 1, ["main 1.0.1"])
    assert done["revocation"].startswith("S.")
    again = ann.run("--json", "revoke", "bob", "--yes")
    assert again.json["error"]["code"] == "already-revoked"
    assert [m["name"] for m in ann.lace("members")["members"]] == ["alice"]
    (gone,) = ann.lace("peers")["revoked"]
    assert (gone["name"], gone["by"], gone["last_seq"], gone["me"]) == ("bob", "alice", earlier, False)
    assert ann.lace("status")["revoked"][0]["name"] == "bob"
    assert "bob was revoked by alice" in ann.text("status")
    marked = [line for line in ann.text("log", "-n", "99").splitlines() if "(after the cut)" in line]
    assert any("released main 1.0.1" in line for line in marked)
    assert "his laptop was stolen" in ann.text("log")
    for person in (ann, bob):
        person.run("sync", "stick")
    assert "alice revoked this device's key" in bob.text("status")
    assert "revoked by alice" in bob.text("members")
    assert f"! revoked by alice: entries up to {earlier} count" in ann.text("peers", "bob")
    (entry,) = ann.lace("audit", "list", "--verb", "lace-revoke")["entries"]
    assert entry["action"]["object"] == "bob"
    assert ann.lace("audit", "verify")["ok"]


def test_a_revocation_from_below_waits_among_the_requests(pair: tuple[Person, Person]) -> None:
    """LAZ-69: it says who may agree, and what to type."""
    ann, bob = pair
    done = bob.lace("revoke", "alice", "-m", "no word for weeks", "--yes")
    assert (done["waits"], done["above"]) == (True, ["alice"])
    assert "not above them" in bob.text("revoke", "alice", "--dry-run")
    (waits,) = bob.lace("requests")["revocations"]
    assert (waits["name"], waits["by"], waits["mine"]) == ("alice", "bob", False)
    assert bob.lace("members")["revoked"] == []
    for person in (bob, ann):
        person.lace("sync", "stick")
    assert "1 revocation waits for somebody above" in ann.text("status")
    assert "To agree: lace revoke alice" in ann.text("requests")


def test_who_goes_on_under_a_new_key_is_told_whom_it_cannot_revoke(pair: tuple[Person, Person]) -> None:
    """LAZ-69: the new key stands below the old one, beside those whom that let in."""
    ann, _ = pair
    before = ann.lace("id")["node"]
    ann.environ["TERM"] = "xterm"
    done = ann.run("adopt", stdin=b"y\n", tty=True)
    ann.environ["TERM"] = "dumb"
    assert "! Your key let in bob, and the new one will not be above them" in done.err
    assert "! The old key had let in bob. To revoke one of them takes" in done.text
    named = {member["node"]: member["name"] for member in ann.lace("members")["members"]}
    assert named.pop(before) == f"alice-{before[2:8]}", "two members had one name"
    assert sorted(named.values()) == ["alice", "bob"]
    planned = ann.lace("revoke", "bob", "--dry-run")
    old = f"alice-{before[2:8]}"
    assert (planned["waits"], planned["above"], planned["own_older"]) == (True, ["bob", old], [old])
    told = ann.text("revoke", "bob", "--yes")
    assert "bob would be revoked" in told, "it waits, so nobody is revoked yet"
    agree = f"until one of these agrees: bob, or {old}, your own older key, where it still signs"
    assert agree in told
    assert agree in ann.text("requests")
    assert ann.lace("members")["revoked"] == []


@pytest.mark.parametrize("is_restored", [False, True])
def test_who_would_revoke_nobody_any_more_is_asked_first(pair: tuple[Person, Person], is_restored: bool) -> None:
    """LAZ-69, APP-2: a backup taken up again as the README has it was told only once it was for good."""
    ann, _ = pair
    before = ann.lace("id")["node"]
    if is_restored:
        shutil.rmtree(ann.home / "lace" / "marks")
        ann.lace("sync", expect=19)
    ann.environ["TERM"] = "xterm"
    said_no = ann.run("adopt", stdin=b"n\n", tty=True)
    assert (said_no.code, "Go on as a new node? [y/N]" in said_no.err) == (1, True)
    assert "! Your key let in bob, and the new one will not be above them" in said_no.err
    assert ("This vault may not sign that" in said_no.err) is is_restored
    ann.environ["TERM"] = "dumb"
    assert ann.lace("id")["node"] == before
    if not is_restored:
        assert ann.lace("revoke", "bob", "--yes")["waits"] is False
    assert ann.lace("adopt", "--yes")["out_of_reach"] == (["bob"] if is_restored else [])


def test_nobody_waits_for_a_key_whose_owner_went_on(pair: tuple[Person, Person]) -> None:
    """LAZ-54, LAZ-56: what the newer key has the older one waits for no more, with friends and with its owner."""
    ann, bob = pair
    old = bob.lace("id")["node"]
    bob.lace("adopt", "--name", "bobby", "--yes")
    ann.write("more.md", "more\n")
    ann.lace("release", "2.0.0")
    for person in (ann, bob, ann):
        person.lace("sync")
    assert [one for one in ann.lace("queue")["entries"] if one["peer"] != "bobby"] == []
    assert {one["state"] for one in ann.lace("status")["peers"]} == {"synced"}
    assert ann.lace("status")["ahead"] == 0
    bob.write("his.md", "his\n")
    bob.lace("update")
    bob.lace("release", "2.0.1")
    for person in (bob, ann, bob):
        person.lace("sync")
    assert bob.lace("queue")["entries"] == []
    assert {one["state"] for one in bob.lace("status")["peers"]} == {"synced"}
    assert old in {one["key"] for one in ann.lace("peers")["peers"]}, "another copy may go on under it"


def test_wrong_words_are_told(pair: tuple[Person, Person]) -> None:
    """LAZ-51: an entry that is not there, a number below zero, a name that nobody has."""
    ann, _ = pair
    cases = (
        (("bob", "--last", "99"), "no-such-entry"),
        (("bob", "--last", "-1"), "bad-arguments"),
        (("x",), "no-such-peer"),
    )
    for words, code in cases:
        assert ann.run("--json", "revoke", *words).json["error"]["code"] == code


def test_who_revoked_themselves_asks_by_name_and_is_let_in(pair: tuple[Person, Person]) -> None:
    """LAZ-50, LAZ-71: a revoked key's word lets nobody in, so the new key asks, and a friend admits it by its name."""
    ann, bob = pair
    assert "a friend admits you" in bob.text("revoke", "self", "--yes")
    bob.lace("sync")
    bob.write("late.txt", "late\n")
    late = bob.text("release", "4.0.0")
    assert "counts for nobody else" in late
    assert late.endswith("Next: lace adopt\n")
    told = bob.text("adopt", "--name", "bob0", "--yes")
    assert "Your old key was revoked" in told
    assert "a friend must admit you with lace admit bob0" in told
    told = bob.text("adopt", "--name", "bob2", "--yes")  # a key that waits itself is no way in
    assert "Nobody has admitted your old key" in told
    assert "a friend must admit you with lace admit bob2" in told
    assert "lace admit bob2" in bob.text("status")
    bob.write("early.txt", "early\n")
    assert "You are not a member yet" in bob.text("release", "--yes")
    bob.lace("sync")
    assert ann.lace("sync")["next"] == "lace requests"
    (asked,) = ann.lace("requests")["requests"]
    assert (asked["name"], asked["node"]) == ("bob2", bob.lace("id")["node"])
    ann.lace("admit", "bob2")
    for person in (ann, bob):
        person.lace("sync")
    assert bob.lace("status")["member"]
    assert "not a member" not in bob.text("status")
    bob.write("new.txt", "new\n")
    assert bob.lace("release", "5.0.0")["counts"]
    bob.lace("sync")
    assert ("bob2", "5.0.0") in {(one["name"], one["version"]) for one in ann.lace("sync")["releases"]}
    assert ann.lace("requests")["requests"] == []


def test_who_left_the_one_who_can_let_them_in_is_told_how_to_meet_again(pair: tuple[Person, Person]) -> None:
    """LAZ-53, LAZ-54: it was said to sync, to be let in and to sync again, and none of that was ever read."""
    ann, bob = pair
    bob.lace("leave", "alice")
    bob.lace("revoke", "self", "--yes")
    bob.lace("adopt", "--yes")
    bob.lace("sync")
    ann.lace("sync")
    ann.lace("admit", "bob")
    ann.lace("sync")
    bob.lace("sync")
    told, way = "  alice cannot let you in while you do not sync with them: ", "lace join alice "
    (line,) = (line for line in bob.text("status").splitlines() if line.startswith(told))
    assert line.removeprefix(told).startswith(way)
    with open_vault(bob) as vault:
        (need,) = (need for need in read_home(vault).needs if need.kind is NeedKind.MEMBERSHIP)
    assert need.command == line.removeprefix(told)
    status = bob.lace("status")
    assert (status["left"], status["waits_by_name"]) == ([{"name": "alice", "command": need.command}], True)
    bob.lace(*words_of(need.command)[1:])
    bob.lace("sync")
    assert bob.lace("status")["member"]
    assert told not in bob.text("status")
    status = bob.lace("status")
    assert (status["left"], status["waits_by_name"], status["spent_on"], status["empty"]) == ([], False, None, False)


def test_a_new_key_is_not_told_in_the_app_that_its_old_one_used_the_invitation_up(pair: tuple[Person, Person]) -> None:
    """LAZ-54: `lace status` named the way in, and the app told to ask for another invitation."""
    _, bob = pair
    bob.lace("revoke", "self", "--yes")
    bob.lace("adopt", "--yes")
    assert "run lace admit bob" in bob.text("status")
    with open_vault(bob) as vault:
        (need,) = (need for need in read_home(vault).needs if need.kind is NeedKind.MEMBERSHIP)
    assert (need.title, "runs lace admit bob" in need.facts) == ("You are not a member yet", True)


def test_requests_are_taken_off_the_list_by_name_or_all_at_once(pair: tuple[Person, Person], cara: Person) -> None:
    """CYB-17: and a sync with the stick on which they lie brings none of them back."""
    ann, bob = pair
    line = ann.lace("invite", "cara")["invite"]
    assert "Nobody is waiting" in bob.text("requests", "--drop-all")
    node = cara.lace("accept", line, "--name", "cara")["node"]
    bob.lace("sync")
    assert [each["name"] for each in bob.lace("requests")["requests"]] == ["cara"]
    bob.lace("requests", "--drop", "dan", expect=2)
    bob.lace("requests", "--drop", "cara", "--drop-all", expect=2)
    assert bob.lace("requests", "--drop", "cara") == {
        "dropped": [{"name": "cara", "node": node}],
        "already": False,
    }
    bob.lace("sync")
    assert bob.lace("requests")["requests"] == []
    ann.lace("sync")
    bob.lace("sync")
    assert "cara" in {member["name"] for member in bob.lace("members")["members"]}


def test_a_new_key_that_a_revoked_one_admitted_waits_among_the_requests(pair: tuple[Person, Person]) -> None:
    """LAZ-71, LAZ-69: its owner did not know yet, and hears of it; nobody has to type a key."""
    ann, bob = pair
    ann.lace("revoke", "bob", "--yes")
    assert bob.lace("adopt", "--name", "bob2", "--yes")["admitted"]
    ann.lace("sync")
    told = bob.run("sync")
    assert (told.code, "bob's admission of you counts no more" in told.text) == (1, True)
    assert "lace admit bob2 --key V." in told.text
    assert "lace admit bob2" in bob.text("status")
    ann.lace("sync")
    (asked,) = ann.lace("requests")["requests"]
    assert (asked["name"], asked["problem"]) == ("bob2", "the key that admitted it, of bob, was revoked")
    ann.lace("admit", "bob2")
    for person in (ann, bob):
        person.lace("sync")
    assert bob.lace("status")["member"]


def test_who_ended_it_themselves_is_told_of_so(pair: tuple[Person, Person]) -> None:
    """LAZ-69: it is no friend's doing; once is enough."""
    ann, bob = pair
    bob.lace("revoke", "self", "--yes")
    bob.lace("sync", "stick")
    assert "  bob revoked their own key\n" in ann.text("sync", "stick")
    assert "revoked" not in ann.text("sync", "stick")


def test_the_last_member_is_warned(ann: Person) -> None:
    """LAZ-66: a group without a member can let nobody in."""
    plan = ann.lace("revoke", "self", "--dry-run")
    assert plan["last_member"]
    assert "Nobody else is a member" in ann.text("revoke", "self", "--dry-run")
    ann.lace("revoke", "self", "--yes")
    assert "no member left" in ann.text("status")
    assert "this group has no member left who could" in ann.text("adopt", "--yes")
    assert "no member left" in ann.text("status")


def test_who_is_admitted_by_hand_is_told_by_the_name_they_go_by(pair: tuple[Person, Person]) -> None:
    """LAZ-51: a second bob was told as bob, whom no command knew from then on."""
    ann, _ = pair
    key = SigningKey.from_seed(b"\x0b" * 32).verifier.text
    named = ann.lace("admit", "bob", "--key", key)["member"]
    assert named == f"bob-{key[2:8]}"
    assert key in ann.text("peers", named)


def test_a_revoked_member_who_lets_somebody_in_is_told_why_not(pair: tuple[Person, Person]) -> None:
    """LAZ-71: it was told to sync with whoever had invited it, which changes nothing for it."""
    ann, bob = pair
    ann.lace("revoke", "bob", "--yes")
    for person in (ann, bob):
        person.run("sync", "stick")
    told = bob.lace("invite", "cara", expect=2)["error"]
    assert (told["code"], told["message"]) == (
        "not-member",
        "alice revoked this device's key: it lets nobody in any more.",
    )
    assert "lace adopt" in told["hint"]
    bob.lace("adopt", "--yes")
    told = bob.lace("invite", "cara", expect=2)["error"]
    assert told["message"] == "This node is not a member of the group yet."
    ann.lace("revoke", "self", "--yes")
    assert ann.lace("invite", "cara", expect=2)["error"]["message"].startswith("You revoked this device's key")


def test_who_is_a_member_already_is_not_looked_for_among_the_requests(pair: tuple[Person, Person]) -> None:
    """LAZ-27: `There is no request by bob` led to a list without him."""
    ann, _bob = pair
    told = ann.lace("admit", "bob", expect=2)["error"]
    assert (told["code"], told["message"]) == ("already-member", "bob is a member already.")
    assert told["hint"].startswith("See the members with: lace members - and if they go on under a new key, sync first")
    assert ann.lace("admit", "cara", expect=2)["error"]["code"] == "no-such-peer"


def test_who_was_revoked_and_invited_anew_is_told_the_way_in(pair: tuple[Person, Person]) -> None:
    """LAZ-71, LAZ-50: the new invitation was refused for the vault that is there, and led to no way in."""
    ann, bob = pair
    ann.lace("revoke", "bob", "--yes")
    for person in (ann, bob):
        person.run("sync", "stick")
    line = ann.lace("invite", "bob")["invite"]
    told = bob.lace("accept", line, expect=2)["error"]
    assert "There is already a vault in" in told["message"]
    assert told["hint"] == (
        "Your key was revoked here, and an invitation is for a folder without a vault. To come back with this one:"
        " lace adopt - then sync, and a friend admits you."
    )
    bob.lace("adopt", "--yes")
    bob.lace("sync", "stick")
    ann.run("sync", "stick")
    assert ann.lace("admit", "bob")["member"]
    told = ann.lace("accept", line, expect=2)["error"]
    assert told["hint"] == "See what it is with: lace status"


def test_who_holds_an_invitation_that_let_in_somebody_else_is_told(pair: tuple[Person, Person], cara: Person) -> None:
    """LAZ-50, LAZ-54: the line was passed on or used twice; the second one waited, and heard nothing of it for ever."""
    ann, _ = pair
    dora = replace(cara, name="dora", home=cara.home.with_name("dora"), folder=cara.folder.with_name("dora"))
    line = ann.lace("invite")["invite"]
    for person in (cara, dora):
        person.lace("accept", line, "--name", person.name)
        assert "! not a member yet: sync with the person who invited you" in person.text("status")
        for each in (person, ann, person):
            each.run("sync", "stick")
    assert "not a member" not in cara.text("status")
    told = dora.text("status")
    assert "! not a member: your invitation let cara in before you" in told
    assert "let a member run: lace admit dora" in told
