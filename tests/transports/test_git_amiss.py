"""What whoever may push can put at a git place, and what it costs those who visit it (CYB-17, faults 34)."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic

import pytest

from tests.transports.git_hosts import git
from tests.transports.git_places import NODE, damage, got, noise
from tests.transports.helpers import GROUP, additions, key, put, some_records
from transports.errors import UnreadableFile
from transports.git import tree, upkeep
from transports.git.branches import Branches
from transports.git.pace import SentTooMuch
from transports.git.place import GitPlace
from transports.git.talks import Talks
from transports.git.tree import Filed, MailboxTree
from transports.mailbox import Mailbox
from transports.reading import read_head

_MADE = ("hash-object", "-w", "--literally", "--stdin", "-t")
_SIGNED = "lace <lace> 1000000000 +0000"


def pushed(bare: Path, name: str, tree: str) -> None:
    """Let somebody who may push bring a branch to a commit with this tree, which no git would make."""
    text = f"tree {tree}\nauthor {_SIGNED}\ncommitter {_SIGNED}\n\nlace\n"
    git(bare, "update-ref", f"refs/heads/lace/{name}", git(bare, *_MADE, "commit", stdin=text.encode()))


def names_amiss(bare: Path, name: str) -> str:
    """Return a tree that calls the tree of files of a mailbox a file."""
    files = bytes.fromhex(git(bare, "rev-parse", f"refs/heads/lace/{name}:files"))
    return git(bare, *_MADE, "tree", stdin=b"100644 commits\0" + files)


def exchanged(bare: Path, tree: str, name: str, what: str) -> str:
    """Return a tree with another row of that name."""
    rows = git(bare, "ls-tree", tree).splitlines()
    rows = [f"{what}\t{name}" if row.endswith(f"\t{name}") else row for row in rows]
    return git(bare, "mktree", stdin="".join(f"{row}\n" for row in rows).encode())


def test_a_piece_that_names_an_object_of_a_friend_amiss_lets_no_visit_begin_anew(
    bare: Path, at: Callable[[str], GitPlace]
) -> None:
    """Whoever may push it had everybody fetch everything anew at each visit, for good."""
    with closing(at("a")) as place:
        put(place, key(1), additions(some_records(3)))
        name = place.ref(GROUP, NODE)
    with closing(at("b")) as place:
        done, _ = put(place, key(2), additions(noise(3)))
        theirs = place.ref(GROUP, key(2).verifier)
        box = place.mailbox(GROUP, key(2).verifier)
    assert box is not None
    (bundle,) = (ref.name for ref in done.bundles)
    text = box.files[bundle].encode().decode().replace(box.files[bundle].pieces[0], names_amiss(bare, name))
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=text.encode())
    files = exchanged(bare, f"refs/heads/lace/{theirs}:files", bundle, f"100644 blob {blob}")
    pushed(bare, theirs, exchanged(bare, f"refs/heads/lace/{theirs}", "files", f"040000 tree {files}"))
    read: list[int] = []
    for _ in range(3):
        with closing(at("c")) as reader:
            assert len(got(reader)) == 3
            assert not any(got(reader, 2).values())
            assert not upkeep.is_torn(reader.private.here.path)
            read.append(reader.count.read)
    assert read[2] == read[1] < read[0]


def test_one_tip_that_git_refuses_costs_few_talks_and_only_once(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str]
) -> None:
    """Each of the others was asked for alone, and the bad one twice at every visit."""
    with closing(at("a")) as place:
        for number in range(1, 33):
            place.writer(GROUP, key(number).verifier).put_request(b"to belong")
        name = place.ref(GROUP, key(40).verifier)
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"rubbish")
    pushed(bare, name, git(bare, *_MADE, "tree", stdin=b"100644 .git\0" + bytes.fromhex(blob)))
    place.check()
    for most in (16, 0):
        with closing(
            GitPlace.open(place.remote.url, place.private.here.path.parent.with_name("b"), place.place_id)
        ) as reader:
            talks.clear()
            for number in range(1, 33):
                assert reader.read_request(GROUP, key(number).verifier) == b"to belong"
            with pytest.raises(UnreadableFile, match="cannot be fetched"):
                reader.read_request(GROUP, key(40).verifier)
            assert len(talks) <= most


def test_a_tip_that_is_larger_than_a_place_may_send_is_asked_for_once(
    at: Callable[[str], GitPlace], talks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every visit fetched 64 MiB of it twice and threw them away."""
    with closing(at("a")) as place:
        for number in (1, 2):
            put(place, key(number), additions(some_records(number)))
        name = place.ref(GROUP, key(2).verifier)
    fetch = Talks.fetch_refs

    def much(asking: Talks, names: list[str]) -> None:
        if name in names:
            talks.append("too much")
            raise SentTooMuch("It sends more than a place may.")
        fetch(asking, names)

    monkeypatch.setattr(Talks, "fetch_refs", much)
    for count in (2, 0):
        talks.clear()
        with closing(at("b")) as reader:
            assert len(got(reader)) == 1
            with pytest.raises(UnreadableFile, match="sends more than a place may"):
                read_head(Mailbox(reader, GROUP, key(2).verifier))
            assert not reader.losses()
        assert talks.count("too much") == count
    monkeypatch.undo()
    with closing(at("a")) as place:
        put(place, key(2), additions(some_records(5)))
    with closing(at("b")) as reader:
        assert len(got(reader, 2)) == 5


def test_a_piece_that_is_lost_has_no_other_asked_for_alone(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str]
) -> None:
    """LAZ-63: beside it each piece of the same mailbox was asked for twice, 125 talks for 60 small files."""
    seen = None
    for number in range(20):
        with closing(at("a")) as place:
            _, seen = put(place, key(1), additions(noise(1, size=20_000, seed=number)), previous=seen)
            box = place.mailbox(GROUP, NODE)
    assert box is not None
    bundles = sorted(name for name in box.files if name.endswith(".bnd"))
    damage(bare, box.files[random.Random(1).choice(bundles)].pieces[0], is_gone=True)
    with closing(at("b")) as reader:
        read_head(Mailbox(reader, GROUP, NODE))
        talks.clear()
        assert sum(record is None for record in got(reader).values()) == 1
        assert len(talks) <= 4


def test_what_strangers_list_takes_no_memory_of_a_visit(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """Faults 34: twelve branches of 200 KiB in all took a gigabyte of everybody's memory at each visit."""
    with closing(at("a")) as place:
        put(place, key(1), additions(some_records(3)))
        room = place.ref(GROUP, NODE)[:16]
    for number in range(8):
        blob = git(bare, "hash-object", "-w", "--stdin", stdin=f"{number:040x}\n".encode() * 100_000)
        lists = git(bare, "mktree", stdin=f"100644 blob {blob}\t{'0' * 40}\n".encode())
        pushed(bare, f"{room}{number:064x}", git(bare, "mktree", stdin=f"040000 tree {lists}\tdata\n".encode()))
    with closing(at("b")) as reader:
        tracemalloc.start()
        for node in reader.nodes(GROUP):
            reader.read_request(GROUP, node)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
        for node in reader.nodes(GROUP):
            reader.files(GROUP, node)
        assert tracemalloc.get_traced_memory()[1] < 120 << 20
        tracemalloc.stop()


def test_thousands_of_mailboxes_are_counted_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults 34: with each that was read all others were counted again."""
    counted: list[MailboxTree] = []
    count = tree._rows_of

    def counting(box: MailboxTree) -> int:
        counted.append(box)
        return count(box)

    monkeypatch.setattr(tree, "_rows_of", counting)
    monkeypatch.setattr(tree, "_HELD_ROWS", 1000)
    held = tree.Held()
    for number in range(2000):
        held[f"{number:040x}"] = MailboxTree(files={"one": Filed(1, ("0" * 40,))})
    assert len(counted) == 2000
    assert list(held) == [f"{number:040x}" for number in range(1500, 2000)]
    held[f"{1999:040x}"] = MailboxTree()  # read again
    held[f"{2000:040x}"] = MailboxTree(files={"one": Filed(1, ("0" * 40,))})
    assert len(held) == 501
    held.clear()
    held["a"] = MailboxTree(files={"one": Filed(1, ("0" * 40,) * 2000)})
    held["b"] = MailboxTree(files={"one": Filed(1, ("0" * 40,) * 400)})
    assert list(held) == ["b"]


def test_the_youngest_of_thousands_of_branches_is_found_at_once() -> None:
    """CYB-15: at a place of four thousand mailboxes a visit asked sixteen million times which branch is whose."""
    room = "0123456789abcdef"
    firsts = [f"{room}{number:064x}" for number in range(4000)]
    branches = Branches(dict.fromkeys(firsts, "1" * 40) | {"place": "2" * 40})
    began = monotonic()
    assert [branches.youngest(first) for first in firsts] == firsts
    assert monotonic() - began < 1.0
    assert sorted(branches.mailboxes(room)) == sorted(first[16:] for first in firsts)
    branches[f"{firsts[1]}-2"] = branches[f"{firsts[1]}-10"] = branches[f"{firsts[1]}-010"] = "3" * 40
    assert branches.youngest(firsts[1]) == f"{firsts[1]}-10"
    branches.drop(f"{firsts[1]}-10")
    assert branches.youngest(firsts[1]) == f"{firsts[1]}-2"
    branches.drop(firsts[2])
    assert (branches.youngest(firsts[2]), len(branches.mailboxes(room))) == (firsts[2], 3999)
