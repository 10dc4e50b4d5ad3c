"""What is said to be lost at a git host is asked for before it is believed, and not for ever (LAZ-63, CYB-17)."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.transports.git_hosts import bare_repository, daemon, git
from tests.transports.git_places import NODE, damage, got, noise
from tests.transports.helpers import GROUP, additions, key, put, some_records
from transports.errors import PlaceUnreachable, UnreadableFile
from transports.git import command, repush, tree
from transports.git.place import GitPlace
from transports.git.talks import Talks
from transports.git.writable import WritablePlace


def count_asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the objects which are asked for from now on."""
    asked: list[str] = []
    fetch = Talks.fetch_objects

    def counted(talks: Talks, oids: list[str], size: int) -> None:
        asked.extend(oids)
        fetch(talks, oids, size)

    monkeypatch.setattr(Talks, "fetch_objects", counted)
    return asked


def test_what_is_said_to_be_lost_and_is_not_is_asked_for_once(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17, faults 34: whoever may push says what they like, and makes nobody write anew what lies there."""
    owner = at("a")
    done, _ = put(owner, key(1), additions(noise(4)))
    liar = at("b")
    box = liar.mailbox(GROUP, NODE)
    assert box is not None
    liar.pieces.lost |= box.alive()
    liar.writer(GROUP, key(2).verifier).tell_lost()
    owner.close()
    asked = count_asked(monkeypatch)
    assert {ref.name for ref in done.bundles} <= at("a").files(GROUP, NODE).keys()
    assert set(asked) == box.alive()
    asked.clear()
    assert {ref.name for ref in done.bundles} <= at("a").files(GROUP, NODE).keys()
    assert not asked
    assert len(got(at("a"))) == 4


def test_what_many_say_to_be_lost_is_asked_for_once_all_the_same(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17, faults 34: whoever said more than was remembered of it had everybody ask for it at every visit."""
    with closing(at("a")) as owner:
        put(owner, key(1), additions(noise(4)))
        box = owner.mailbox(GROUP, NODE)
    assert box is not None
    pieces = box.alive()
    monkeypatch.setattr("transports.git.losses._LINES", len(pieces))
    for number in (2, 3, 4):
        with closing(at("b")) as liar:
            put(liar, key(number), additions(some_records(number)))
            liar.pieces.lost |= pieces
            liar.writer(GROUP, key(number).verifier).tell_lost()
    asked = count_asked(monkeypatch)
    for expected in (pieces, set()):
        asked.clear()
        with closing(at("a")) as owner:
            assert owner.files(GROUP, NODE)
        assert set(asked) == expected


@pytest.mark.parametrize("old", [False, True])
def test_a_host_is_asked_which_commits_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool) -> None:
    """LAZ-63: git here dies where a host lacks one of those that it is asked for."""
    bare = bare_repository(tmp_path / "served" / "v.git")
    with daemon(tmp_path / "served") as address:
        uri = address + bare.name
        with closing(GitPlace.create(uri, tmp_path / "a", entropy=os.urandom)) as owner:
            put(owner, key(1), additions(some_records(3)))
        if old:
            monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
        with closing(GitPlace.create(uri, tmp_path / "b", entropy=os.urandom)) as owner:
            box, name = owner.mailbox(GROUP, NODE), owner.ref(GROUP, NODE)
            assert box is not None
            (there,) = box.data
            private = owner.private
            assert private.talks.commits_there([]) == set()
            pieces = {oid: ("blob", oid) for oid in box.data[there].pieces}
            assert private.here.store_commit(private.here.store_tree(pieces)) == there
            other = private.here.store_commit(private.here.store_tree({}))
            assert private.talks.commits_there([there, other]) == (None if old else {there})
            tip = owner.tip(name)
            assert tip is not None
            assert not private.apart.lacks_commit(tip)
            damage(bare, git(bare, "rev-parse", f"{tip}:head.rec"), is_gone=True)
            assert not private.apart.lacks_commit(tip)
            damage(bare, git(bare, "rev-parse", f"{tip}^{{tree}}"), is_gone=True)
            assert not private.apart.lacks_commit(tip)
            damage(bare, tip, is_gone=True)
            assert private.apart.lacks_commit(tip)


def test_who_says_much_anew_at_each_visit_hides_no_part_that_is_lost(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-63, faults 34: the first sixteen were asked for at every visit, and no other ever."""
    monkeypatch.setattr("transports.git.losses._WHOLE_ASKED", 2)
    with closing(at("a")) as owner:
        put(owner, key(1), additions(noise(8)))
        box = owner.mailbox(GROUP, NODE)
    assert box is not None
    last = [filed.pieces for filed in box.files.values() if len(filed.pieces) > 1][-1][-1]
    damage(bare, last, is_gone=True)
    for number in range(4):
        with closing(at("b")) as reader:
            reader.pieces.lost |= {*box.alive(), f"{number:040x}"}
            reader.writer(GROUP, key(2).verifier).tell_lost()
        with closing(at("a")) as owner:
            gone = len(box.files) - len(owner.files(GROUP, NODE))
    assert gone == 1


def test_all_that_is_lost_is_found_at_one_visit(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """LAZ-63: of more than sixteen files each sync wrote sixteen anew."""
    with closing(at("a")) as owner:
        seen = None
        for number in range(20):
            _, seen = put(owner, key(1), additions(noise(1, 100, number)), previous=seen)
        box = owner.mailbox(GROUP, NODE)
    assert box is not None
    lost = {filed.pieces[0] for filed in box.files.values()}
    assert len(lost) > 20
    for oid in lost:
        damage(bare, oid, is_gone=True)
    with closing(at("b")) as reader:
        reader.pieces.lost |= lost
        reader.writer(GROUP, key(2).verifier).tell_lost()
    with closing(at("a")) as owner:
        assert not owner.files(GROUP, NODE)


def test_what_could_not_be_asked_for_is_not_taken_for_whole(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-63: a line that was cut amid the question left a part lost for as long as its reader said nothing new."""
    with closing(at("a")) as owner:
        put(owner, key(1), additions(noise(4)))
        box = owner.mailbox(GROUP, NODE)
    assert box is not None
    with closing(at("b")) as reader:
        reader.pieces.lost |= box.alive()
        reader.writer(GROUP, key(2).verifier).tell_lost()
    damage(bare, next(filed.pieces[0] for filed in box.files.values() if len(filed.pieces) > 1), is_gone=True)
    asked: list[str] = []

    def cut(_talks: Talks, oids: list[str], _size: int) -> None:
        asked.extend(oids)
        raise PlaceUnreachable("The line is cut.")

    with monkeypatch.context() as patch, closing(at("a")) as owner:
        patch.setattr(Talks, "fetch_objects", cut)
        assert owner.files(GROUP, NODE).keys() == box.files.keys()
    assert len(asked) == 1
    with closing(at("a")) as owner:
        assert len(owner.files(GROUP, NODE)) == len(box.files) - 1


def test_a_host_of_the_old_protocol_gives_a_file_of_a_mailbox_that_others_drove_out_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17: of a mailbox that was not in memory any more nothing came, and its file was called damaged."""
    monkeypatch.setattr(tree, "_HELD_ROWS", 1)
    monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
    bare = bare_repository(tmp_path / "served" / "v.git")
    with daemon(tmp_path / "served") as address:
        uri = address + bare.name
        for number in (1, 2):
            with closing(GitPlace.create(uri, tmp_path / f"{number}", entropy=os.urandom)) as owner:
                put(owner, key(number), additions(some_records(number + 2)))
        with closing(GitPlace.open(uri, tmp_path / "c")) as reader:
            name, *_ = reader.files(GROUP, NODE)
            with reader.open_file(GROUP, NODE, name) as file:
                reader.mailbox(GROUP, key(2).verifier)
                assert file.read()


def test_pieces_are_looked_for_beyond_the_first_that_a_host_lost() -> None:
    """LAZ-63: after the first eight that did not come, what lies behind them was given up too."""
    pieces = [f"{number:040x}" for number in range(20)]
    here: set[str] = set()

    def bring(oids: list[str]) -> None:
        if pieces.index(oids[0]) < 12:
            raise UnreadableFile("lost")
        here.update(oids)

    repository = SimpleNamespace(
        missing=lambda oids: [oid for oid in oids if oid not in here],
        store=lambda *_: "list",
        store_tree=lambda _: "tree",
        store_commit=lambda _: "commit",
    )
    private = SimpleNamespace(here=repository)
    place = SimpleNamespace(private=private, pieces=SimpleNamespace(bring=bring))
    (came,) = repush._brought(cast(WritablePlace, place), pieces).values()
    assert came.pieces == tuple(pieces[12:])
