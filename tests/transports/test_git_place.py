"""A git place: making, opening, reading, damage, rollback (APP-7, CYB-15, CYB-18, decision 7a)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from tests.transports.git_hosts import bare_repository, daemon, git, web_host
from tests.transports.git_places import ID, NODE, got, loosen, noise, refs
from tests.transports.helpers import GROUP, additions, key, make_head, put, seal_head, some_records
from transports.errors import (
    MissingFile,
    NotAGitPlace,
    PlaceUnmarked,
    PlaceUnreachable,
    PushRejected,
    RolledBack,
    UnreadableFile,
    WrongDrop,
)
from transports.git import upkeep
from transports.git.command import GitRunner
from transports.git.place import GitPlace
from transports.git.remote import git_uri
from transports.git.talks import Talks
from transports.git.tree import PIECE
from transports.mailbox import Mailbox, MailboxMedium, MailboxWriter
from transports.publishing import publish
from transports.reading import SeenHead, fetch, read_head, read_listing
from transports.snapshot import check_number
from vault.errors import DataError, LaceError

# Making and opening


def test_a_repository_becomes_a_place_once(bare: Path, tmp_path: Path) -> None:
    first = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=lambda size: bytes.fromhex(ID)[:size])
    assert first.place_id == ID
    assert GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom).place_id == ID
    assert GitPlace.open(git_uri(bare), tmp_path / "c", ID).place_id == ID
    assert GitPlace.open(git_uri(bare), tmp_path / "c").place_id == ID
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == [ID[:16] + ".git", "config", "lace-begin"]
    assert first.describe() == str(bare)
    assert first.nodes(GROUP) == []
    assert list(refs(bare)) == ["refs/heads/lace/place"]


def test_two_makers_at_once_agree(bare: Path, tmp_path: Path) -> None:
    late = GitPlace(git_uri(bare), tmp_path / "late")  # saw an empty repository
    first = GitPlace.create(git_uri(bare), tmp_path / "first", entropy=os.urandom)
    late.make(bytes)
    assert late.place_id == first.place_id != bytes(16).hex()


def test_a_place_that_somebody_else_began_meanwhile_is_not_renewed(bare: Path, tmp_path: Path) -> None:
    """APP-13, CYB-15: a repair said that the branch is whole again, of a place by another id."""
    owner = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    git(bare, "update-ref", "-d", "refs/heads/lace/place")
    late, same = (GitPlace(git_uri(bare), tmp_path / name, owner.place_id) for name in ("a", "c"))

    def as_another() -> bool:
        GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom)
        return True

    assert not late.renew(owner.place_id, as_another)
    git(bare, "update-ref", "-d", "refs/heads/lace/place")
    late = GitPlace(git_uri(bare), tmp_path / "a", owner.place_id)
    assert late.renew(owner.place_id, lambda: same.renew(owner.place_id, lambda: True))
    assert GitPlace.open(git_uri(bare), tmp_path / "a", owner.place_id).place_id == owner.place_id


def test_the_typed_road_is_the_protocol(at: Callable[[str], GitPlace]) -> None:
    place: MailboxMedium = at("a")
    _writer: MailboxWriter = place.writer(GROUP, NODE)
    assert place.kind == "git"
    assert (place.free_bytes(GROUP, NODE) or 0) > 0


def test_another_repository_under_the_same_address_is_noticed(bare: Path, tmp_path: Path) -> None:
    # CYB-18: what was remembered of one medium is not believed of another
    place = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    shutil.rmtree(bare)
    with pytest.raises(PlaceUnreachable, match="no git repository"):
        place.check()
    bare_repository(bare)
    with pytest.raises(PlaceUnmarked):
        place.check()
    with pytest.raises(PlaceUnmarked, match="holds no place"):
        GitPlace.open(git_uri(bare), tmp_path / "a", place.place_id)
    with pytest.raises(NotAGitPlace, match="holds no place yet"):
        GitPlace.open(git_uri(bare), tmp_path / "b")
    other = GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom)
    with pytest.raises(WrongDrop, match=other.place_id) as caught:
        GitPlace.open(git_uri(bare), tmp_path / "a", place.place_id)
    assert not isinstance(caught.value, PlaceUnmarked)


def test_what_is_no_repository_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotAGitPlace, match="no git repository") as caught:
        GitPlace.create(git_uri(tmp_path / "folder"), tmp_path / "a", entropy=os.urandom)
    assert "git init --bare" in caught.value.hint
    with pytest.raises(PlaceUnreachable):
        GitPlace.create("git://127.0.0.1:1/v", tmp_path / "a", entropy=os.urandom)


@pytest.mark.parametrize("word", ["ls-remote", "fetch"])
@pytest.mark.usefixtures("by_talks")
def test_two_at_once_begin_and_fetch_one_after_the_other(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """APP-13: a look at a place waits for no visit; of two fetches into one repository git ends one."""
    owner = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    put(owner, key(1), additions(some_records(3)))
    meeting, talk = Barrier(2), GitRunner.talk

    def meets(self: GitRunner, *words: str, **rest: Any) -> tuple[int, bytes, str]:
        if words[0] == word:
            with suppress(BrokenBarrierError):
                meeting.wait(0.2)
        return talk(self, *words, **rest)

    def use(_: int) -> int:
        with closing(GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom)) as place:
            return len(got(place))

    monkeypatch.setattr(GitRunner, "talk", meets)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(use, range(2))) == [3, 3]
    assert meeting.broken


def test_a_place_that_is_closed_is_let_go_at_once(bare: Path, tmp_path: Path) -> None:
    """Whoever comes next may clear up, also where somebody keeps the closed place."""
    fcntl = pytest.importorskip("fcntl")
    place = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)

    def is_free() -> bool:
        with (place.private.here.path / "lace-hold").open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            return True

    assert not is_free()
    place.close()
    assert is_free()
    place.check()
    assert not is_free()
    place.close()
    assert is_free()


# APP-7


def test_branches_of_the_person_stay_as_they_are(bare: Path, at: Callable[[str], GitPlace]) -> None:
    # APP-7, and no name, mail, date or path of anybody in what is pushed
    tree = git(bare, "mktree")
    commit = git(bare, "commit-tree", tree, "-m", "mine")
    for ref in ("refs/heads/main", "refs/heads/lace-work", "refs/tags/v1"):
        git(bare, "update-ref", ref, commit)
    before = refs(bare)
    place = at("a")
    _, seen = put(place, key(1), additions(some_records(3)))
    put(place, key(1), additions(some_records(3, 10)), previous=seen)
    after = refs(bare)
    assert {name: oid for name, oid in after.items() if name in before} == before
    assert all(name.startswith("refs/heads/lace/") for name in set(after) - set(before))
    ours = [name for name in after if name.startswith("refs/heads/lace/")]
    commits = git(bare, "rev-list", *ours).split()
    texts = {git(bare, "cat-file", "commit", oid).partition("\nauthor ")[2] for oid in commits}
    assert texts == {"lace <lace> 1000000000 +0000\ncommitter lace <lace> 1000000000 +0000\n\nlace"}
    blobs = git(bare, "rev-list", "--objects", *ours)
    assert str(bare.parent) not in blobs
    assert git(bare, "symbolic-ref", "HEAD").startswith("refs/heads/")


# One view a visit


@pytest.mark.usefixtures("by_talks")
def test_nothing_new_costs_one_question(
    bare: Path, tmp_path: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = at("a")
    put(owner, key(1), additions(some_records(20)))
    assert len(got(at("b"))) == 20
    talks: list[str] = []
    talk = GitRunner.talk

    def listening(self: GitRunner, *words: str, **rest: Any) -> tuple[int, bytes, str]:
        talks.append(words[0])
        return talk(self, *words, **rest)

    monkeypatch.setattr(GitRunner, "talk", listening)
    again = GitPlace.open(git_uri(bare), tmp_path / "b", owner.place_id)
    assert again.nodes(GROUP) == [NODE]
    assert read_head(Mailbox(again, GROUP, NODE)) is not None
    again.writer(GROUP, key(2).verifier).verify_written()
    assert talks == ["ls-remote"]
    assert again.count.read < 500
    fresh = at("c")
    talks.clear()
    assert len(got(fresh)) == 20
    assert talks == ["fetch", "fetch"]  # all tips, then all pieces


def test_tips_are_small_and_pieces_come_when_read(at: Callable[[str], GitPlace]) -> None:
    stored = noise(40)
    put(at("a"), key(1), additions(stored))
    reader = at("b")
    seen = read_head(Mailbox(reader, GROUP, NODE))
    assert seen is not None
    listing = read_listing(Mailbox(reader, GROUP, NODE), seen.head)
    assert reader.count.read < 64 * 1024
    wanted = next(iter(stored))
    assert [item.record for item in fetch(reader, GROUP, listing, [wanted])] == [stored[wanted]]
    assert reader.count.read < 6 * PIECE
    assert got(reader) == stored
    assert 20_000_000 < reader.count.read < 21_500_000


def test_pieces_are_read_where_nothing_can_be_said_of_their_pack(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13, faults.md row 3: a disk that is full just then costs the room of one pack, and ends no visit."""
    stored = noise(3)
    put(at("a"), key(1), additions(stored))
    touch = Path.touch

    def full(path: Path, *args: Any, **named: Any) -> None:
        if path.suffix == ".pieces":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        touch(path, *args, **named)

    monkeypatch.setattr(Path, "touch", full)
    assert got(at("b")) == stored


def test_a_cut_fetch_is_tried_with_a_quarter(at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch) -> None:
    """faults.md row 15: what was asked for beside the quarter that came is asked for again, and not called damaged."""
    stored = noise(30)
    put(at("a"), key(1), additions(stored))
    bring, asked = Talks.fetch_objects, list[int]()

    def cut(talks: Talks, oids: Sequence[str], size: int) -> None:
        asked.append(len(oids))
        if len(oids) > 2:
            raise PlaceUnreachable("The line went dead.")
        bring(talks, oids, size)

    monkeypatch.setattr(Talks, "fetch_objects", cut)
    assert got(at("b")) == stored
    assert max(asked) > 2


def test_tips_of_before_are_named_to_no_host_for_ever(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decision 7a: every talk named each tip that was ever fetched, some hundred kilobytes after a hundred visits."""
    monkeypatch.setattr("transports.git.repository._CUTS", 4)
    seen = None
    for number in range(1, 10):
        with closing(at("a")) as owner:
            _, seen = put(owner, key(1), additions(some_records(1, number)), previous=seen)
        with closing(at("b")) as reader:
            assert len(got(reader)) == number
            reader.writer(GROUP, key(2).verifier).put_request(b"%d" % number)
        with closing(at("b")) as reader:
            assert len(upkeep.cuts(reader.private.here.path)) <= 5
            assert reader.read_request(GROUP, key(2).verifier) == b"%d" % number


def test_a_view_stays_whole_while_the_owner_goes_on(at: Callable[[str], GitPlace]) -> None:
    owner, reader = at("a"), at("b")
    old = some_records(5)
    _, seen = put(owner, key(1), additions(old))
    reader.check()
    assert read_head(Mailbox(reader, GROUP, NODE)) is not None
    for number in range(3):
        _, seen = put(owner, key(1), additions(some_records(2, 100 + number * 10)), previous=seen)
    assert got(reader) == old
    reader.check()
    assert len(got(reader)) == 11


# Requests


def test_a_request_lies_there_until_it_is_taken_away(bare: Path, at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    place.writer(GROUP, NODE).put_request(b"let me in")
    assert at("b").read_request(GROUP, NODE) == b"let me in"
    assert at("b").read_head(GROUP, NODE) is None
    put(place, key(1), additions(some_records(1)))
    assert at("b").read_request(GROUP, NODE) == b"let me in"
    place.writer(GROUP, NODE).remove_request()
    assert at("b").read_request(GROUP, NODE) is None
    assert len(got(at("b"))) == 1
    before = refs(bare)
    place.writer(GROUP, NODE).remove_request()
    assert refs(bare) == before


def test_a_beacon_goes_with_the_head_or_alone_and_is_taken_away(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """LAZ-18: beside a head it costs no push of its own."""
    place = at("a")
    place.writer(GROUP, NODE).put_beacon(b"here", with_head=False)
    assert (at("b").read_beacon(GROUP, NODE), at("b").read_head(GROUP, NODE)) == (b"here", None)
    before = refs(bare)
    writer = place.writer(GROUP, NODE)
    writer.put_beacon(b"away", with_head=True)
    assert refs(bare) == before
    put(place, key(1), additions(some_records(1)))
    assert at("b").read_beacon(GROUP, NODE) == b"here"  # another writer's
    writer = place.writer(GROUP, NODE)
    writer.put_beacon(b"away", with_head=True)
    writer.publish_head(b"a head")
    assert (at("b").read_beacon(GROUP, NODE), at("b").read_head(GROUP, NODE)) == (b"away", b"a head")
    place.writer(GROUP, NODE).put_beacon(b"", with_head=False)
    assert at("b").read_beacon(GROUP, NODE) is None
    assert at("b").read_head(GROUP, NODE) == b"a head"


# Names and damage


def test_only_names_of_runs_and_bundles_are_opened(at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    put(place, key(1), additions(some_records(1)))
    with pytest.raises(UnreadableFile):
        place.open_file(GROUP, NODE, "head.rec")
    with pytest.raises(MissingFile):
        place.open_file(GROUP, NODE, f"r-{'0' * 32}.run")
    with pytest.raises(MissingFile):
        place.open_file(GROUP, key(2).verifier, f"r-{'0' * 32}.run")


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_damaged_object_costs_its_records_only(bare: Path, at: Callable[[str], GitPlace], is_gone: bool) -> None:
    # faults.md rows 7 and 34: a missing or rotten piece on the far side
    first, second = noise(40), some_records(3)
    done, seen = put(at("a"), key(1), additions(first))
    put(at("a"), key(1), additions(second), previous=seen)
    name = done.bundles[0].name
    tip = refs(bare)[f"refs/heads/lace/{at('a').ref(GROUP, NODE)}"]
    pieces = git(bare, "show", f"{tip}:files/{name}").split("\n")[2:]
    loosen(bare)
    lost = bare / "objects" / pieces[5][:2] / pieces[5][2:]
    lost.chmod(0o600)
    if is_gone:
        lost.unlink()
    else:
        lost.write_bytes(lost.read_bytes()[: PIECE // 2])
    found = got(at("b"))
    assert set(found) == {*first, *second}
    missing = {record for record, data in found.items() if data is None}
    assert missing <= set(first)
    assert 1 <= len(missing) <= 6  # a piece lies in two frames at most, of three records each
    assert all(found[record] == data for record, data in {**first, **second}.items() if record not in missing)


@pytest.mark.parametrize("road", ["file", "git", "http"])
def test_a_host_that_ends_at_an_empty_object_lacks_that_one_only(bare: Path, tmp_path: Path, road: str) -> None:
    """faults.md rows 7 and 34: what a power cut left of an object ends git at the host before it says a word.

    Every visit would end there, and nobody would read anything of the place any more.
    """
    with ExitStack() as stack:
        roads = {"file": lambda: git_uri(bare), "git": lambda: stack.enter_context(daemon(tmp_path)) + bare.name}
        roads["http"] = lambda: stack.enter_context(web_host(tmp_path)) + bare.name
        first, second = noise(40), some_records(3)
        with closing(GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)) as owner:
            done, seen = put(owner, key(1), additions(first))
            put(owner, key(1), additions(second), previous=seen)
            tip = refs(bare)[f"refs/heads/lace/{owner.ref(GROUP, NODE)}"]
        pieces = git(bare, "show", f"{tip}:files/{done.bundles[0].name}").split("\n")[2:]
        loosen(bare)
        lost = bare / "objects" / pieces[5][:2] / pieces[5][2:]
        lost.chmod(0o600)
        lost.write_bytes(b"")
        with closing(GitPlace.open(roads[road](), tmp_path / "b")) as reader:
            found = got(reader)
    assert 1 <= len([data for data in found.values() if data is None]) <= 6
    assert all(found[record] == data for record, data in second.items())


@pytest.mark.usefixtures("by_talks")
def test_a_line_that_is_cut_at_one_object_is_no_damage(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-18, faults 5: what the host hangs up at once and sends then is whole; where nobody answers, nobody knows."""
    stored = noise(3)
    put(at("a"), key(1), additions(stored))
    talk, said = GitRunner.talk, list[str]()

    def cut(runner: GitRunner, *words: str, **how: Any) -> tuple[int, bytes, str]:
        if words[0] == "fetch" and b"refs/" not in how["stdin"] and said:
            return 128, b"", said.pop()
        return talk(runner, *words, **how)

    reader = at("b")
    read_head(Mailbox(reader, GROUP, NODE))
    monkeypatch.setattr(GitRunner, "talk", cut)
    reader.pieces._batch.size = 1
    said += ["fatal: the remote end hung up unexpectedly"]
    assert got(reader) == stored
    lines = [
        "fatal: the remote end hung up unexpectedly\nfatal: early EOF",
        "fatal: the remote end hung up unexpectedly",
    ]
    for number, line in enumerate(lines):
        reader = at(f"c{number}")
        reader.pieces._batch.size = 1
        said[:] = [line] * 2
        with pytest.raises(PlaceUnreachable):
            got(reader)
        said.clear()


def test_a_tip_that_is_no_mailbox_costs_that_mailbox_only(bare: Path, at: Callable[[str], GitPlace]) -> None:
    # faults.md row 34: whoever may push can push anything
    put(at("a"), key(1), additions(some_records(3)))
    good = refs(bare)[f"refs/heads/lace/{at('a').ref(GROUP, NODE)}"]
    names = [at("a").ref(GROUP, key(number).verifier) for number in (2, 3, 4, 5)]
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"x" * 100)
    broken = git(bare, "mktree", stdin=f"100644 blob {blob}\thead.rec\n120000 blob {blob}\tfiles\n".encode())
    lists = git(bare, "mktree", stdin=f"100644 blob {blob}\tr-{'0' * 32}.run\n".encode())
    lying = git(bare, "mktree", stdin=f"040000 tree {lists}\tfiles\n".encode())
    trees = [git(bare, "mktree"), broken, lying]
    for name, tree in zip(names, trees, strict=False):
        git(bare, "update-ref", f"refs/heads/lace/{name}", git(bare, "commit-tree", tree, "-m", "x"))
    (bare / "refs" / "heads" / "lace" / names[3]).write_text(f"{'12' * 20}\n")
    reader = at("b")
    for number in (2, 3, 4, 5):
        assert head_or_fault(reader, number) is None or isinstance(head_or_fault(reader, number), DataError)
    assert len(got(reader)) == 3
    assert refs(bare)[f"refs/heads/lace/{names[0]}"] != good


def head_or_fault(place: GitPlace, number: int) -> SeenHead | LaceError | None:
    try:
        return read_head(Mailbox(place, GROUP, key(number).verifier))
    except LaceError as error:
        return error


def test_a_ref_that_cannot_be_fetched_is_left_alone(bare: Path, at: Callable[[str], GitPlace]) -> None:
    put(at("a"), key(1), additions(some_records(3)))
    place = at("b")
    name = place.ref(GROUP, key(2).verifier)
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"lost")
    tree = git(bare, "mktree", stdin=f"100644 blob {blob}\thead.rec\n".encode())
    git(bare, "update-ref", f"refs/heads/lace/{name}", git(bare, "commit-tree", tree, "-m", "x"))
    (bare / "objects" / blob[:2] / blob[2:]).unlink()
    reader = at("c")
    with pytest.raises(UnreadableFile, match="cannot be fetched"):
        read_head(Mailbox(reader, GROUP, key(2).verifier))
    assert len(got(reader)) == 3


@pytest.mark.parametrize("refuses", [False, True])
def test_the_owner_puts_a_damaged_mailbox_right(bare: Path, at: Callable[[str], GitPlace], refuses: bool) -> None:
    git(bare, "config", "receive.denyNonFastForwards", "true" if refuses else "false")
    place = at("a")
    put(place, key(1), additions(some_records(3)))
    name = place.ref(GROUP, NODE)
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"lost")
    tree = git(bare, "mktree", stdin=f"100644 blob {blob}\thead.rec\n".encode())
    git(bare, "update-ref", f"refs/heads/lace/{name}", git(bare, "commit-tree", tree, "-m", "x"))
    (bare / "objects" / blob[:2] / blob[2:]).unlink()
    owner = at("b")
    with pytest.raises(UnreadableFile):
        read_head(Mailbox(owner, GROUP, NODE))
    put(owner, key(1), additions(some_records(3)))
    assert owner.ref(GROUP, NODE) == (f"{name}-1" if refuses else name)
    assert len(got(at("c"))) == 3


def test_no_mailbox_is_written_where_nobody_looks_for_it(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """Faults 34: whoever may push begins the last generation of a mailbox, at a host that replaces nothing."""
    git(bare, "config", "receive.denyNonFastForwards", "true")
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"lace-pieces/0\nsize 5\n")
    tree = git(bare, "mktree", stdin=f"100644 blob {blob}\tr-{'0' * 32}.run\n".encode())
    tree = git(bare, "mktree", stdin=f"040000 tree {tree}\tfiles\n".encode())
    last = f"refs/heads/lace/{at('a').ref(GROUP, NODE)}-9999"
    git(bare, "update-ref", last, git(bare, "commit-tree", tree, "-m", "x"))
    with pytest.raises(PushRejected, match="-9999 is damaged") as caught:
        put(at("a"), key(1), additions(some_records(3)))
    assert "delete that branch" in caught.value.hint
    git(bare, "update-ref", "-d", last)
    put(at("a"), key(1), additions(some_records(3)))
    assert len(got(at("b"))) == 3


def test_what_is_taken_away_while_it_is_written_is_noticed(bare: Path, at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    writer = place.writer(GROUP, NODE)
    publish(Mailbox(place, GROUP, NODE), writer, runs=(), listing=None, additions=additions(noise(40)))
    git(bare, "update-ref", "-d", f"refs/heads/lace/{place.ref(GROUP, NODE)}")
    at("b").writer(GROUP, NODE).put_request(b"another start")
    with pytest.raises(PushRejected, match="taken away"):
        writer.publish_head(seal_head(key(1), make_head(key(1), place.place_id)).encode())


def test_a_head_never_names_runs_that_were_taken_away(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """CYB-17: a history that was rewritten after it was read is nothing to go on from; the next visit begins anew."""
    place = at("a")
    _, seen = put(place, key(1), additions(some_records(3)))
    ref = f"refs/heads/lace/{place.ref(GROUP, NODE)}"
    writer = place.writer(GROUP, NODE)
    place.private.here.forget_mine(place.ref(GROUP, NODE))  # else it is brought back
    place.private.here.note(place.ref(GROUP, NODE), refs(bare)["refs/heads/lace/place"])
    git(bare, "update-ref", ref, git(bare, "commit-tree", git(bare, "mktree"), "-m", "x"))
    head = make_head(key(1), place.place_id, 2, seen.head.runs)
    with pytest.raises(PushRejected, match="taken away"):
        writer.publish_head(seal_head(key(1), head).encode(), [run.name for run in head.runs])
    put(at("b"), key(1), additions(some_records(3)))
    assert len(got(at("c"))) == 3


def test_a_mailbox_that_is_deleted_while_it_is_asked_for_is_named(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-14: its owner was told "it is gone." and to plug in a stick."""
    put(at("a"), key(1), additions(some_records(3)))
    fetch = Talks.fetch_refs
    owner = at("b")

    def deleting(talks: Talks, names: Sequence[str]) -> None:
        git(bare, "update-ref", "-d", f"refs/heads/lace/{owner.ref(GROUP, NODE)}")
        fetch(talks, names)

    monkeypatch.setattr(Talks, "fetch_refs", deleting)
    with pytest.raises(PlaceUnreachable, match="was deleted while") as caught:
        owner.writer(GROUP, NODE)
    assert caught.value.hint == "Run the same command again."


# Rollback (CYB-18)


def test_a_rolled_back_ref_is_noticed_by_its_number(bare: Path, at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    _, first = put(place, key(1), additions(some_records(2)))
    ref = f"refs/heads/lace/{place.ref(GROUP, NODE)}"
    old = refs(bare)[ref]
    _, second = put(place, key(1), additions(some_records(2, 10)), previous=first)
    reader = at("b")
    seen = read_head(Mailbox(reader, GROUP, NODE))
    assert seen is not None
    assert seen.mark == second.mark
    git(bare, "update-ref", ref, old)
    reader.check()
    rolled = read_head(Mailbox(reader, GROUP, NODE))
    assert rolled is not None
    with pytest.raises(RolledBack):
        check_number(seen.mark, rolled.mark)
    # The owner brings it forward again.
    with closing(GitPlace.open(git_uri(bare), place.private.here.path.parent, mends=True)) as own:
        brought = read_head(Mailbox(own, GROUP, NODE))
    assert brought is not None
    assert brought.mark == second.mark
    assert [warning.code for warning in own.warnings] == ["branch-set-back"]
    assert len(got(at("c"))) == 4


def test_where_no_private_repository_can_be_kept_it_says_why_in_words(tmp_path: Path) -> None:
    """APP-14: it repeated Python's own text, with the number of the fault and the path once more."""
    bare, home = bare_repository(tmp_path / "v.git"), tmp_path / "home"
    home.write_text("a file\n")
    with pytest.raises(NotAGitPlace) as told:
        GitPlace(git_uri(bare), home)
    assert told.value.message.startswith(f"Lace cannot keep its private repository in {home}: ")
    assert "Errno" not in told.value.message
    assert ".." not in told.value.message
