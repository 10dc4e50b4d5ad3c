"""What a git host lost of a mailbox is written anew by its owner once a reader said so (LAZ-63, CYB-17)."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lazy.problems import Problem
from tests.people import Person, person_in
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository, git
from tests.transports.git_places import NODE, damage, got, lose_own, make_met, noise, refs
from tests.transports.helpers import GROUP, additions, key, put, some_records
from transports.errors import PlaceNotWritable, PushRejected, UnreadableFile
from transports.git.place import GitPlace
from transports.git.remote import git_uri
from transports.git.talks import Talks
from transports.mailbox import Mailbox
from transports.reading import read_head
from vault.errors import DataError
from vault.records import Verifier


def shared(root: Path) -> dict[str, str]:
    """Let alice share two large files there that bob has not read; return objects of her mailbox by what they are."""
    make_met(root)
    alice, bare = person_in(root, "alice"), root / "remote.git"
    for number in (1, 2):
        alice.write(f"large-{number}.txt", random.Random(number).randbytes(900_000).hex())
    alice.lace("release", "1.0.1")
    alice.lace("sync", "host")
    owner = Verifier.parse(alice.lace("id")["node"]).key.hex()
    (ref,) = (name for name in refs(bare) if name.endswith(owner))
    rows = [row.split()[2:] for row in git(bare, "ls-tree", "-r", ref, "files/").splitlines()]
    pieces = {name: git(bare, "show", oid).split("\n")[2:] for oid, name in rows}
    (large,) = (oids for oids in pieces.values() if len(oids) > 1)
    (run,) = (oids[0] for name, oids in pieces.items() if name.endswith(".run"))
    return {"first": large[0], "last": large[-1], "run": run, "tip": git(bare, "rev-parse", f"{ref}:files")}


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("what", ["first", "last", "run", "tip"])
def test_what_a_host_lost_is_written_anew_once_a_reader_said_so(
    shelf: Shelf, alice: Person, bob: Person, cara: Person, bare: Path, what: str, is_gone: bool
) -> None:
    """LAZ-63, CYB-17: its owner took it for what the host has, and nobody ever got it from there again."""
    damage(bare, shelf.lay(shared)[what], is_gone=is_gone)
    told = bob.text("sync", "host", expect=1)
    assert "A sync of yours here tells alice, whose next sync here writes it anew." in told
    mended = alice.lace("sync", "host")
    assert mended["bytes_received"] < 200_000  # what is whole is not fetched to be told from the rest
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    looks = [person.lace("sync", "host") for person in (cara, alice, cara)]
    assert "1.0.1" in {new["version"] for look in looks for new in look["releases"]}
    assert [new["version"] for new in bob.lace("sync", "host")["releases"]] == ["1.0.1"]
    for person in (alice, bob, cara, alice, bob, cara):
        person.lace("sync", "host")
    stands = refs(bare)
    for person in (alice, bob, cara):
        again = person.lace("sync", "host")
        assert (again["fixed_point"], again["sent"], again["problems"]) == (True, 0, [])
    assert refs(bare) == stands


def pieces(bare: Path, person: Person) -> dict[str, list[str]]:
    """Return the objects of each file of a person's mailbox."""
    owner = Verifier.parse(person.lace("id")["node"]).key.hex()
    (ref,) = (name for name in refs(bare) if name.endswith(owner))
    rows = [row.split()[2:] for row in git(bare, "ls-tree", "-r", ref, "files/").splitlines()]
    return {name.removeprefix("files/"): git(bare, "show", oid).split("\n")[2:] for oid, name in rows}


def unread(bare: Path, alice: Person, home: Path) -> list[str]:
    """Return the files of alice's mailbox that somebody new cannot read, and leave word of them there."""
    who = alice.lace("id")
    node = Verifier.parse(who["node"])
    bad: list[str] = []
    with closing(GitPlace.open(git_uri(bare), home)) as place:
        head = read_head(Mailbox(place, who["group"], node))
        assert head is not None
        for name in {*pieces(bare, alice), *(ref.name for ref in head.head.runs)}:
            try:
                with place.open_file(who["group"], node, name) as file:
                    file.read()
            except DataError:
                bad.append(name)
        place.writer(who["group"], key(9).verifier).tell_lost()
    return bad


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("what", ["bundle of one record", "run that is not here"])
def test_what_would_be_written_as_it_was_is_written_otherwise(
    shelf: Shelf, alice: Person, bob: Person, bare: Path, tmp_path: Path, what: str, is_gone: bool
) -> None:
    """LAZ-63: git at the host takes nothing under the name of an object that it has damaged, so nobody ever got it."""
    shelf.lay(make_met)
    alice.lace("sync", "host")
    for turn in ("first", "second"):  # what is written anew is of one kind with what was written at first
        files = pieces(bare, alice)
        if what == "bundle of one record" and turn == "first":
            small = [name for name, oids in files.items() if int(git(bare, "cat-file", "-s", oids[0])) < 600]
            (lost,) = (name for name in small if name.endswith(".bnd"))
        else:
            (lost,) = (name for name in files if name.endswith(".run"))
        damage(bare, files[lost][0], is_gone=is_gone)
        for private in (alice.folder / ".vault" / "git").glob("*.git"):
            shutil.rmtree(private)
        assert unread(bare, alice, tmp_path / turn) == [lost]
        for person in (alice, bob, alice):
            person.lace("sync", "host")
        assert unread(bare, alice, tmp_path / f"{turn} again") == []
        for person in (alice, bob, alice):
            person.lace("sync", "host")
    stands = refs(bare)
    assert alice.lace("sync", "host")["bytes_received"] < 1000
    assert refs(bare) == stands


def test_a_tip_that_the_owner_fetched_is_written_anew_too(shelf: Shelf, alice: Person, bob: Person, bare: Path) -> None:
    """LAZ-63: an owner whose private repository was begun anew took what a reader said of it for somebody else's."""
    tip = shelf.lay(shared)["tip"]
    for private in (alice.folder / ".vault" / "git").glob("*.git"):
        shutil.rmtree(private)
    alice.lace("sync", "host")
    damage(bare, tip, is_gone=True)
    bob.lace("sync", "host", expect=1)
    alice.lace("sync", "host")
    assert [new["version"] for new in bob.lace("sync", "host")["releases"]] == ["1.0.1"]


def test_a_tip_over_which_git_stumbles_is_written_anew_though_nobody_can_say_so(
    shelf: Shelf, alice: Person, bob: Person, bare: Path
) -> None:
    """CYB-17, APP-14: the host took in nothing of anybody, and its owner's syncs found all well for good."""
    shelf.lay(shared)
    owner = Verifier.parse(alice.lace("id")["node"]).key.hex()
    (ref,) = (name for name in refs(bare) if name.endswith(owner))
    damage(bare, refs(bare)[ref], is_gone=True)
    told = bob.text("sync", "host", expect=28)
    assert "or one an hour later" in told
    assert "tells alice" not in told
    alice.lace("sync", "host")
    for own in (alice.folder / ".vault" / "git").glob("*.git/own"):
        os.utime(own, (0, 0))  # an hour later
    alice.lace("sync", "host")
    assert [new["version"] for new in bob.lace("sync", "host")["releases"]] == ["1.0.1"]


def test_a_number_that_the_host_has_damaged_keeps_nobody_from_pushing(
    shelf: Shelf, alice: Person, bob: Person, bare: Path
) -> None:
    """CYB-17: two mailboxes share the object that counts their commits, and the next push wrote it again each time."""
    shelf.lay(shared)
    owner = Verifier.parse(alice.lace("id")["node"]).key.hex()
    (ref,) = (name for name in refs(bare) if name.endswith(owner))
    damage(bare, git(bare, "rev-parse", f"{ref}:commits"), is_gone=False)
    for person in (bob, alice, bob, alice):
        person.run("sync", "host")
    for person in (bob, alice):
        again = person.lace("sync", "host")
        assert (again["sent"], again["problems"]) == (0, [])


def test_what_cannot_be_left_at_the_place_is_not_said_to_tell_its_owner(
    shelf: Shelf, alice: Person, bob: Person, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-14: nothing told alice where bob may not push."""
    damage(bare, shelf.lay(shared)["first"], is_gone=True)

    def refuse(_talks: Talks, *_words: object, **_how: object) -> None:
        raise PushRejected("It takes in no change.")

    with monkeypatch.context() as patch:
        patch.setattr(Talks, "push", refuse)
        told = bob.text("sync", "host", expect=1)
    assert "tells alice" not in told
    assert "Sync where it lies whole, or let alice bring it to another place" in told
    assert "A sync of yours here tells alice" in bob.text("sync", "host", expect=1)


@pytest.mark.parametrize("kind", ["git", "drop"])
def test_the_owner_of_a_damaged_mailbox_is_not_told_about_as_somebody_else(kind: str) -> None:
    """APP-14."""
    told = Problem.in_mailbox(UnreadableFile("It is damaged."), "alice", kind, is_mine=True)
    assert "alice" not in told.hint
    assert "sync where it lies whole" in told.hint


def test_a_refusal_takes_the_place_of_what_came_of_it_and_of_nothing_else() -> None:
    """LAZ-65, APP-14: a problem with other words of the same error was said twice, and one that quotes it was lost."""
    refusal = PlaceNotWritable("It is full of dust.")
    fault = UnreadableFile("A piece did not come.")
    fault.__cause__ = refusal
    outer = UnreadableFile("The mailbox did not come.")
    outer.__cause__ = fault
    came = Problem.in_mailbox(outer, "alice", "git")
    for told in (came, Problem.in_mailbox(fault, "alice", "git"), Problem.of(refusal, "host")):
        assert told.says(refusal)
    for other in (
        Problem.in_mailbox(UnreadableFile("It is full of dust."), "alice", "git"),
        Problem("forked", f"The log of alice forked. {refusal.message}", "alice"),
    ):
        assert not other.says(refusal)
    assert came.noted.keys() == {"code", "message", "peer", "hint"}


def test_a_way_out_that_tells_nobody_is_another_whole_sentence() -> None:
    """APP-14: it was cut out of the words of the first one."""
    told = Problem.in_mailbox(UnreadableFile("It is damaged."), "alice", "git")
    assert told.hint.startswith("A sync of yours here tells alice")
    other = told._replace(hint="Alice hears of it.").untold()
    assert other == told.untold()
    assert other.hint.startswith("Sync where it lies whole, or let alice bring it to another place")
    mine = Problem.in_mailbox(UnreadableFile("It is damaged."), "alice", "git", is_mine=True)
    assert mine.untold() == mine


def test_more_losses_than_can_be_said_are_said_once(at: Callable[[str], GitPlace]) -> None:
    """CYB-17: beyond a thousand every visit said them again."""
    with closing(at("a")) as reader:
        put(reader, key(1), additions(some_records(2)))
        reader.pieces.lost |= {f"{number:040x}" for number in range(1200)}
        reader.writer(GROUP, NODE).tell_lost()
        stands = reader.tip(reader.ref(GROUP, NODE))
        reader.writer(GROUP, NODE).tell_lost()
    with closing(at("b")) as again:
        again.pieces.lost |= {f"{number:040x}" for number in range(1200)}
        again.writer(GROUP, NODE).tell_lost()
        assert again.tip(again.ref(GROUP, NODE)) == stands


def test_whoever_writes_after_a_look_leaves_nothing_behind(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """CLAY-79, CYB-17: a request that was left there took the place of all that the host had lost a part of."""
    with closing(at("a")) as owner:
        put(owner, key(1), additions(noise(4)))
        tip = refs(bare)[f"refs/heads/lace/{owner.ref(GROUP, NODE)}"]
    with closing(at("b")) as reader:
        reader.pieces.lost.add(tip)
        reader.writer(GROUP, key(2).verifier).tell_lost()
    damage(bare, git(bare, "rev-parse", f"{tip}:head.rec"), is_gone=True)
    with closing(at("a")) as owner:
        with pytest.raises(UnreadableFile):
            owner.mailbox(GROUP, NODE)
        owner.writer(GROUP, NODE).put_request(b"of a look that wrote")
    with closing(at("c")) as reader:
        assert len(got(reader)) == 4


def test_a_visit_that_mends_looks_at_a_damaged_friend_as_any_other(bare: Path, tmp_path: Path) -> None:
    """CYB-17: their damage was told of once, and forgotten when their mailbox was asked for."""
    with closing(GitPlace.create(git_uri(bare), tmp_path / "1", entropy=os.urandom)) as place:
        for number in (1, 2, 3):
            put(place, key(number), additions(some_records(number)))
        names = [place.ref(GROUP, key(number).verifier) for number in (2, 3)]
    for name in names:
        damage(bare, git(bare, "rev-parse", f"refs/heads/lace/{name}:files"), is_gone=True)
    with closing(GitPlace.open(git_uri(bare), tmp_path / "2", mends=True)) as reader:
        assert len(got(reader)) == 1
        for number in (2, 3):
            with pytest.raises(UnreadableFile, match="cannot be fetched"):
                reader.read_head(GROUP, key(number).verifier)


@pytest.mark.parametrize("words", [("sync", "host", "--dry-run"), ("pull", "host")])
def test_who_only_looks_pushes_nothing_again(shelf: Shelf, alice: Person, bare: Path, words: tuple[str, ...]) -> None:
    """LAZ-63: a dry run and a pull took the owner's branch away and pushed it."""
    shelf.lay(make_met)
    lose_own(alice.folder, Verifier.parse(alice.lace("id")["node"]), bare, ":head.rec")
    before = refs(bare)
    alice.run(*words)
    assert refs(bare) == before
    alice.lace("sync", "host")
    assert refs(bare) != before


def test_a_reader_is_told_of_another_place_too(
    shelf: Shelf, alice: Person, bob: Person, bare: Path, tmp_path: Path
) -> None:
    """LAZ-63: an owner who syncs there no more tells nobody anew."""
    damage(bare, shelf.lay(shared)["first"], is_gone=True)
    assert "let alice bring it to another place: lace place add OTHER URI" in bob.text("sync", "host", expect=1)
    other = bare_repository(tmp_path / "other.git")
    for person in (alice, bob):
        person.lace("place", "add", "other", str(other))
    alice.lace("sync", "other")
    assert [new["version"] for new in bob.lace("sync", "other")["releases"]] == ["1.0.1"]


def test_a_history_that_cannot_be_begun_anew_for_what_the_host_lost_ends_no_sync(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17: what was published stands by then, and the next time the part may be written anew."""
    with closing(at("a")) as owner:
        _, seen = put(owner, key(1), additions(noise(5)))
        box = owner.mailbox(GROUP, NODE)
        assert box is not None
        large = next(filed.pieces[0] for filed in box.files.values() if len(filed.pieces) > 1)
    damage(bare, large, is_gone=True)
    monkeypatch.setattr("transports.git.writer.is_due", lambda _box: True)
    with closing(at("a")) as owner:
        put(owner, key(1), additions(some_records(3)), previous=seen)
    reader = at("b")
    assert sum(record is not None for record in got(reader).values()) >= 3


def test_what_was_let_go_is_carried_over_from_what_is_left_of_a_bundle(
    shelf: Shelf, alice: Person, bob: Person, cara: Person, bare: Path
) -> None:
    """CLAY-79, LAZ-63: a piece was lost, and what was written anew without its bundle had nothing of old releases."""
    objects = shelf.lay(shared)
    bob.lace("sync", "host")
    for number in (1, 2):
        alice.write(f"large-{number}.txt", "small\n")
        alice.lace("desk", "keep", f"large-{number}.txt", "1")
    alice.lace("release", "1.0.2", "--yes")
    for person in (alice, bob, alice):
        person.lace("sync", "host")
    assert alice.lace("prune", "--yes")["files"] == 2
    damage(bare, objects["last"], is_gone=True)
    cara.lace("accept", alice.lace("invite", "cara")["invite"], "--name", "cara")
    cara.run("sync", "host")  # says what is lost
    alice.lace("sync", "host")
    alice.lace("fetch", "main@1.0.1")
    alice.lace("sync", "host")
    kept = [alice.run("cat", "main@1.0.1", f"large-{number}.txt") for number in (1, 2)]
    assert [len(one.out) for one in kept] == [1_800_000] * 2, "she has her own pieces still"
