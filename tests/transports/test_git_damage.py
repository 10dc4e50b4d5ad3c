"""Git hosts that lost a part of what lies there, or go away in the middle (CYB-17, faults 5, 7, 8, 34)."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.transports.git_hosts import daemon, git
from tests.transports.git_places import NODE, damage, got, noise
from tests.transports.helpers import GROUP, additions, key, put, some_records
from transports.errors import PlaceDamaged, PlaceUnreachable
from transports.git import upkeep
from transports.git.command import GitRunner
from transports.git.complaints import complaint
from transports.git.pieces import Batch
from transports.git.place import GitPlace
from transports.git.private import PrivateRepository
from transports.mailbox import Mailbox
from transports.reading import read_head
from vault.errors import DataError


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("part", ["", "^{tree}", ":files"])
def test_a_damaged_branch_keeps_nobody_from_what_the_others_hold(
    bare: Path, at: Callable[[str], GitPlace], part: str, is_gone: bool
) -> None:
    """CYB-17, faults 8: git at a host stumbles over what a reader says to have, also where something else is asked."""
    first, second = noise(2), noise(2, seed=2)
    put(at("a"), key(1), additions(first))
    _, seen = put(at("b"), key(2), additions(second))
    reader = at("c")
    assert got(reader) == first
    reader.close()
    put(at("b"), key(2), additions(some_records(3)), previous=seen)
    damage(bare, git(bare, "rev-parse", f"refs/heads/lace/{at('a').ref(GROUP, NODE)}{part}"), is_gone=is_gone)
    for who in ("b", "c", "new"):
        assert len(got(at(who), 2)) == 5
    with pytest.raises(DataError):
        read_head(Mailbox(at("new"), GROUP, NODE))


def test_a_tree_that_names_an_object_of_a_friend_amiss_lets_no_visit_begin_anew_twice(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17: whoever may push it had everybody fetch everything anew, at each visit or for each new one."""
    for who, number in (("a", 1), ("b", 2)):
        with closing(at(who)) as place:
            put(place, key(number), additions(some_records(number + 2)))
            name = place.ref(GROUP, NODE)
            amiss = place.ref(GROUP, key(3).verifier)
    files = bytes.fromhex(git(bare, "rev-parse", f"refs/heads/lace/{name}:files"))
    made = ("hash-object", "-w", "--literally", "--stdin", "-t")
    tree = git(bare, *made, "tree", stdin=b"100644 commits\0" + files)
    signed = "lace <lace> 1000000000 +0000"
    text = f"tree {tree}\nauthor {signed}\ncommitter {signed}\n\nlace\n"
    git(bare, "update-ref", f"refs/heads/lace/{amiss}", git(bare, *made, "commit", stdin=text.encode()))
    begun: list[Path] = []
    renew = PrivateRepository.renew

    def counted(private: PrivateRepository) -> bool:
        begun.append(private.here.path)
        return renew(private)

    monkeypatch.setattr(PrivateRepository, "renew", counted)
    read: list[int] = []
    for _ in range(3):
        with closing(at("c")) as reader:
            assert (len(got(reader)), len(got(reader, 2))) == (3, 4)
            assert not upkeep.is_torn(reader.private.here.path)
            with pytest.raises(DataError):
                read_head(Mailbox(reader, GROUP, key(3).verifier))
            read.append(reader.count.read)
    assert not begun
    assert read[2] == read[1] < read[0]


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("part", ["", "^{tree}", ":files"])
def test_the_owner_of_a_damaged_branch_writes_it_anew_and_is_told_where_only_the_host_can(
    bare: Path, at: Callable[[str], GitPlace], part: str, is_gone: bool
) -> None:
    """APP-14: the host was said to refuse branches below lace/, or not to be reached."""
    stored = noise(2)
    for who, number, held in (("a", 1, stored), ("b", 2, some_records(3))):
        with closing(at(who)) as place:
            put(place, key(number), additions(held))
    tip = git(bare, "rev-parse", f"refs/heads/lace/{at('a').ref(GROUP, NODE)}")
    damage(bare, git(bare, "rev-parse", f"{tip}{part}"), is_gone=is_gone)
    if not part:
        reason = "needs an object that is not there" if is_gone else "is empty"
        with closing(at("b")) as friend, pytest.raises(PlaceDamaged, match=reason) as told:
            put(friend, key(2), additions(some_records(4)))
        assert ("The next sync of the one whose branch it is" if is_gone else "git fsck") in told.value.hint
        if not is_gone:
            (bare / "objects" / tip[:2] / tip[2:]).unlink()  # as the hint says
    stored |= some_records(5)
    for _ in range(2):
        with closing(at("a")) as owner, suppress(PlaceDamaged):
            put(owner, key(1), additions(stored))
    put(at("b"), key(2), additions(some_records(4)))
    assert got(at("new")) == stored
    assert len(got(at("new"), 2)) == 4


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_host_that_hangs_up_at_a_push_without_a_word_is_told_from_the_network(
    bare: Path, tmp_path: Path, is_gone: bool
) -> None:
    """APP-14: over git: hardly a word comes of what git at the host stumbles over; its owner frees the branch."""
    with daemon(tmp_path) as address:
        uri, stored = address + bare.name, noise(2)
        for number, held in ((1, stored), (2, some_records(3))):
            with closing(GitPlace.create(uri, tmp_path / f"{number}", entropy=os.urandom)) as place:
                put(place, key(number), additions(held))
                name = place.ref(GROUP, NODE)
        damage(bare, git(bare, "rev-parse", f"refs/heads/lace/{name}"), is_gone=is_gone)
        stored |= some_records(5)
        reason = "answers, but hangs up when something is pushed" + "|is empty" * (not is_gone)
        with closing(GitPlace.open(uri, tmp_path / "1")) as owner, pytest.raises(PlaceDamaged, match=reason):
            put(owner, key(1), additions(stored))
        with closing(GitPlace.open(uri, tmp_path / "1")) as owner:
            assert len(got(owner, 2)) == 3
            with nullcontext() if is_gone else pytest.raises(PlaceDamaged, match=reason):
                put(owner, key(1), additions(stored))
        if is_gone:
            with closing(GitPlace.open(uri, tmp_path / "new")) as reader:
                assert got(reader) == stored


@pytest.mark.usefixtures("by_talks")
def test_a_host_that_dies_in_the_middle_is_asked_once_more_and_not_for_ever_less(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 15: each try at a quarter waits for as long as the one before, before anybody is told."""
    put(at("a"), key(1), additions(noise(6)))
    reader, writer = at("b"), at("c").writer(GROUP, key(2).verifier)
    read_head(Mailbox(reader, GROUP, NODE))
    words: list[str] = []

    def dead(_runner: GitRunner, *asked: str, **_how: Any) -> tuple[int, bytes, str]:
        words.append(asked[0])
        raise PlaceUnreachable("It sends fewer than 256 bytes a second.")

    monkeypatch.setattr(GitRunner, "talk", dead)
    with pytest.raises(PlaceUnreachable):
        got(reader)
    assert words == ["fetch", "ls-remote"]
    words.clear()
    for number in range(40):
        writer.stage(bytes([number]) * 100)
    with pytest.raises(PlaceUnreachable):
        writer.put_request(b"to belong")
    assert words == ["push", "ls-remote"]


@pytest.mark.usefixtures("by_talks")
def test_more_is_tried_again_after_a_cut_where_less_came_through(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 5: one cut made every fetch and push of the visit small."""
    stored = noise(120, size=1_000_000)
    put(at("a"), key(1), additions(stored))
    talk, cut, asked = GitRunner.talk, [True], list[int]()

    def once(runner: GitRunner, *words: str, **how: Any) -> tuple[int, bytes, str]:
        if words[0] == "fetch" and b"refs/" not in how["stdin"]:
            asked.append(how["stdin"].count(b"\n"))
            if asked[-1] > 4 and cut and cut.pop():
                return 128, b"", "fatal: early EOF"
        return talk(runner, *words, **how)

    monkeypatch.setattr(GitRunner, "talk", once)
    assert got(at("b")) == stored
    least = asked.index(min(asked[asked.index(max(asked[:4])) :]))
    assert max(asked[least:]) > 4 * asked[least]


def test_what_was_cut_again_is_tried_more_rarely() -> None:
    batch = Batch()
    tries, sizes = 0, list[int]()
    for _ in range(1000):
        sizes.append(batch.size)
        if batch.size > 10:
            tries += 1
            batch.was_cut(batch.size)
        else:
            batch.went(batch.size)
    assert tries < 20
    assert max(sizes[1:]) <= 25


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("fatal: '/srv/da@ta/re@po.git' does not appear to be", "fatal: '/srv/da@ta/re@po.git' does not appear to be"),
        ("fatal: unable to access 'https://host/x@y/z/': no", "fatal: unable to access 'https://host/x@y/z/': no"),
        ("fatal: unable to access 'https://me:p@ss@host:80/x@y/'", "fatal: unable to access 'https://host:80/x@y/'"),
        ("fatal: could not read from 'https://token@host/x'", "fatal: could not read from 'https://host/x'"),
        ("me@host: Permission denied (publickey)", "host: Permission denied (publickey)"),
        ("fatal: no 'me@host:path/a@b.git'", "fatal: no 'host:path/a@b.git'"),
        ("fatal: me:secret@host/x", "fatal: host/x"),
        ("fatal: /srv/my data@home/x.git is", "fatal: /srv/my data@home/x.git is"),
    ],
)
def test_a_complaint_loses_who_asks_and_no_part_of_a_path(said: str, kept: str) -> None:
    """CYB-16, APP-14: a path that is cut short leads nowhere."""
    assert complaint(said) == kept
