"""A git place: making, opening, writing, cuts, compaction (APP-7, CYB-15, CYB-18, decision 7a)."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.transports.git_hosts import bare_repository, daemon, git, web_host
from tests.transports.helpers import GROUP, additions, key, make_head, put, records, seal_head, some_records
from transports.errors import (
    AccessRefused,
    MissingFile,
    NotAGitPlace,
    PlaceUnreachable,
    PushRejected,
    RolledBack,
    UnreadableFile,
    WriteNotKept,
    WrongDrop,
)
from transports.git import command
from transports.git.command import GitRunner
from transports.git.place import GitPlace
from transports.git.private import PrivateRepository
from transports.git.remote import git_uri
from transports.git.tree import PIECE
from transports.mailbox import MailboxPlace, MailboxWriter
from transports.publishing import publish, recover_bundles
from transports.reading import SeenHead, fetch, read_head, read_mailbox
from transports.snapshot import check_number
from vault.errors import DataError, LaceError
from vault.records.hashes import RecordHash

NODE = key(1).verifier
ID = "0123456789abcdef" * 2


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return bare_repository(tmp_path / "remote.git")


@pytest.fixture
def at(bare: Path, tmp_path: Path) -> Callable[[str], GitPlace]:
    """Open the same place as somebody else, each with private repositories of their own."""
    return lambda who: GitPlace.create(git_uri(bare), tmp_path / who)


def got(place: MailboxPlace, number: int = 1) -> dict[RecordHash, bytes | None]:
    seen = read_head(place, GROUP, key(number).verifier)
    assert seen is not None
    listing = read_mailbox(place, GROUP, key(number).verifier, seen.head)
    return {item.hash: item.record for item in fetch(place, GROUP, listing, {h for h, _ in listing.items()})}


def noise(count: int, size: int = 500_000, seed: int = 1) -> dict[RecordHash, bytes]:
    rng = random.Random(seed)
    return records(rng.randbytes(size) for _ in range(count))


def refs(bare: Path) -> dict[str, str]:
    rows = git(bare, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(row.split(" ") for row in rows)


# Making and opening


def test_a_repository_becomes_a_place_once(bare: Path, tmp_path: Path) -> None:
    first = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=lambda size: bytes.fromhex(ID)[:size])
    assert first.place_id == ID
    assert GitPlace.create(git_uri(bare), tmp_path / "b").place_id == ID
    assert GitPlace.open(git_uri(bare), tmp_path / "c", ID).place_id == ID
    assert GitPlace.open(git_uri(bare), tmp_path / "c").place_id == ID
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == [ID[:16] + ".git", "config"]
    assert first.describe() == str(bare)
    assert first.nodes(GROUP) == []
    assert list(refs(bare)) == ["refs/heads/lace/place"]


def test_two_makers_at_once_agree(bare: Path, tmp_path: Path) -> None:
    late = GitPlace(git_uri(bare), tmp_path / "late")  # saw an empty repository
    first = GitPlace.create(git_uri(bare), tmp_path / "first")
    late.make(bytes)
    assert late.place_id == first.place_id != bytes(16).hex()


def test_the_typed_road_is_the_protocol(at: Callable[[str], GitPlace]) -> None:
    place: MailboxPlace = at("a")
    writer: MailboxWriter = place.writer(GROUP, NODE)
    assert place.kind == "git"
    assert writer.free_bytes() > 0


def test_another_repository_under_the_same_address_is_noticed(bare: Path, tmp_path: Path) -> None:
    # CYB-18: what was remembered of one medium is not believed of another
    place = GitPlace.create(git_uri(bare), tmp_path / "a")
    shutil.rmtree(bare)
    with pytest.raises(PlaceUnreachable, match="no git repository"):
        place.check()
    bare_repository(bare)
    with pytest.raises(WrongDrop):
        place.check()
    with pytest.raises(WrongDrop, match="holds no place"):
        GitPlace.open(git_uri(bare), tmp_path / "a", place.place_id)
    with pytest.raises(NotAGitPlace, match="holds no place yet"):
        GitPlace.open(git_uri(bare), tmp_path / "b")
    other = GitPlace.create(git_uri(bare), tmp_path / "b")
    with pytest.raises(WrongDrop, match=other.place_id):
        GitPlace.open(git_uri(bare), tmp_path / "a", place.place_id)


def test_what_is_no_repository_is_said(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotAGitPlace, match="no git repository") as caught:
        GitPlace.create(git_uri(tmp_path / "folder"), tmp_path / "a")
    assert "git init --bare" in caught.value.hint
    with pytest.raises(PlaceUnreachable):
        GitPlace.create("git://127.0.0.1:1/v", tmp_path / "a")


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
    assert read_head(again, GROUP, NODE) is not None
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
    seen = read_head(reader, GROUP, NODE)
    assert seen is not None
    listing = read_mailbox(reader, GROUP, NODE, seen.head)
    assert reader.count.read < 64 * 1024
    wanted = next(iter(stored))
    assert [item.record for item in fetch(reader, GROUP, listing, [wanted])] == [stored[wanted]]
    assert reader.count.read < 6 * PIECE
    assert got(reader) == stored
    assert 20_000_000 < reader.count.read < 21_500_000


def test_a_view_stays_whole_while_the_owner_goes_on(at: Callable[[str], GitPlace]) -> None:
    owner, reader = at("a"), at("b")
    old = some_records(5)
    _, seen = put(owner, key(1), additions(old))
    reader.check()
    assert read_head(reader, GROUP, NODE) is not None
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


def test_a_damaged_object_costs_its_records_only(bare: Path, at: Callable[[str], GitPlace]) -> None:
    # faults.md rows 7 and 34: a missing piece on the far side
    first, second = noise(40), some_records(3)
    done, seen = put(at("a"), key(1), additions(first))
    put(at("a"), key(1), additions(second), previous=seen)
    name = done.bundles[0].name
    tip = refs(bare)[f"refs/heads/lace/{at('a').ref(GROUP, NODE)}"]
    pieces = git(bare, "show", f"{tip}:files/{name}").split("\n")[2:]
    loosen(bare)
    lost = bare / "objects" / pieces[5][:2] / pieces[5][2:]
    lost.chmod(0o600)
    lost.unlink()
    found = got(at("b"))
    assert set(found) == {*first, *second}
    missing = {record for record, data in found.items() if data is None}
    assert missing <= set(first)
    assert 1 <= len(missing) <= 6  # a piece lies in two frames at most, of three records each
    assert all(found[record] == data for record, data in {**first, **second}.items() if record not in missing)


def loosen(bare: Path) -> None:
    """Turn the packs of a repository into single objects."""
    packs = list((bare / "objects" / "pack").glob("*.pack"))
    moved = [pack.rename(bare / pack.name) for pack in packs]
    for index in (bare / "objects" / "pack").iterdir():
        index.unlink()
    for pack in moved:
        git(bare, "unpack-objects", "-q", stdin=pack.read_bytes())
        pack.unlink()


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
        return read_head(place, GROUP, key(number).verifier)
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
        read_head(reader, GROUP, key(2).verifier)
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
        read_head(owner, GROUP, NODE)
    put(owner, key(1), additions(some_records(3)))
    assert owner.ref(GROUP, NODE) == (f"{name}-1" if refuses else name)
    assert len(got(at("c"))) == 3


def test_what_is_taken_away_while_it_is_written_is_noticed(bare: Path, at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    writer = place.writer(GROUP, NODE)
    publish(place, GROUP, NODE, writer, runs=(), listing=None, additions=additions(noise(40)))
    git(bare, "update-ref", "-d", f"refs/heads/lace/{place.ref(GROUP, NODE)}")
    at("b").writer(GROUP, NODE).put_request(b"another start")
    with pytest.raises(PushRejected, match="taken away"):
        writer.publish_head(seal_head(key(1), make_head(key(1), place.place_id)).encode())


# Rollback (CYB-18)


def test_a_rolled_back_ref_is_noticed_by_its_number(bare: Path, at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    _, first = put(place, key(1), additions(some_records(2)))
    ref = f"refs/heads/lace/{place.ref(GROUP, NODE)}"
    old = refs(bare)[ref]
    _, second = put(place, key(1), additions(some_records(2, 10)), previous=first)
    reader = at("b")
    seen = read_head(reader, GROUP, NODE)
    assert seen is not None
    assert seen.mark == second.mark
    git(bare, "update-ref", ref, old)
    reader.check()
    rolled = read_head(reader, GROUP, NODE)
    assert rolled is not None
    with pytest.raises(RolledBack):
        check_number(seen.mark, rolled.mark)
    # The owner puts the mailbox right again, from the state that lies there.
    own = at("a")
    put(own, key(1), additions({**some_records(2), **some_records(2, 10)}), previous=rolled)
    assert len(got(at("c"))) == 4


# Writing


def test_two_nodes_push_at_once(at: Callable[[str], GitPlace]) -> None:
    one, two = at("a"), at("b")
    put(one, key(1), additions(some_records(4)))
    put(two, key(2), additions(some_records(4, 10)))  # its view is older than the first one's push
    three = at("c")
    assert (len(got(three, 1)), len(got(three, 2))) == (4, 4)


def test_a_copy_of_the_node_that_wrote_meanwhile_is_built_upon(at: Callable[[str], GitPlace]) -> None:
    one, copy = at("a"), at("b")
    put(one, key(1), additions(some_records(4)))
    done, _ = put(copy, key(1), additions(some_records(4, 10)))
    reader = at("c")
    assert len(got(reader)) == 4
    assert {ref.name for ref in done.runs} <= set(reader.files(GROUP, NODE))
    assert len(reader.files(GROUP, NODE)) == 3  # the copy's head names its own run; both bundles are kept


def test_what_was_written_is_asked_for_again(bare: Path, at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    writer = place.writer(GROUP, NODE)
    writer.put_request(b"x")
    writer.verify_written()
    git(bare, "update-ref", "-d", f"refs/heads/lace/{place.ref(GROUP, NODE)}")
    with pytest.raises(WriteNotKept):
        writer.verify_written()


class Cuts:
    """Cuts pushes off: before they reach the host, or after it has them and before it answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, limit: int, *, late: bool = False) -> None:
        self.sizes: list[int] = []
        push = PrivateRepository.push

        def cut(private: PrivateRepository, *words: Any, **rest: Any) -> None:
            size = words[2]
            self.sizes.append(size)
            if size > limit:
                if late:
                    push(private, *words, **rest)
                raise PlaceUnreachable("The line went dead.")
            push(private, *words, **rest)

        monkeypatch.setattr(PrivateRepository, "push", cut)


@pytest.mark.parametrize("late", [False, True])
def test_a_cut_push_is_tried_with_a_quarter(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    stored = noise(30)
    place = at("a")
    cuts = Cuts(monkeypatch, 5 * PIECE, late=late)
    put(place, key(1), additions(stored))
    assert max(cuts.sizes) > 10 * PIECE
    assert got(at("b")) == stored


def test_a_killed_publishing_goes_on_where_it_ended(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = noise(60)  # 30 MB
    place = at("a")
    writer = place.writer(GROUP, NODE)
    writer._batch = 8
    pushed: list[int] = []
    push = PrivateRepository.push

    def dies(private: PrivateRepository, *words: Any, **rest: Any) -> None:
        if len(pushed) == 2:
            raise KeyboardInterrupt
        pushed.append(words[2])
        push(private, *words, **rest)

    with monkeypatch.context() as patch:
        patch.setattr(PrivateRepository, "push", dies)
        with pytest.raises(KeyboardInterrupt):
            publish(place, GROUP, NODE, writer, runs=(), listing=None, additions=additions(stored))
    assert sum(pushed) > 15 * PIECE
    again = at("a")
    assert again.files(GROUP, NODE) == {}
    put(again, key(1), additions(stored))
    assert got(at("b")) == stored
    assert again.count.written < sum(map(len, stored.values())) - 15 * PIECE


def test_a_finished_bundle_of_a_killed_publishing_is_found(at: Callable[[str], GitPlace]) -> None:
    # faults.md row 5, as on a drop
    stored = noise(40)
    place = at("a")
    publish(place, GROUP, NODE, place.writer(GROUP, NODE), runs=(), listing=None, additions=additions(stored))
    again = at("b")
    assert read_head(again, GROUP, NODE) is None
    spare = recover_bundles(again, GROUP, NODE, None)
    writer = again.writer(GROUP, NODE)
    done = publish(again, GROUP, NODE, writer, runs=(), listing=None, additions=additions(stored), spare=spare)
    assert (done.copied, done.referenced) == (0, 40)
    writer.publish_head(seal_head(key(1), make_head(key(1), again.place_id, 1, done.runs)).encode())
    assert again.count.written < PIECE
    assert got(at("c")) == stored


# Beginning the history anew


def compacted(place: GitPlace) -> None:
    place.writer(GROUP, NODE).compact()


@pytest.mark.parametrize("refuses", [False, True])
def test_a_history_begun_anew_keeps_what_is_alive(bare: Path, at: Callable[[str], GitPlace], refuses: bool) -> None:
    # decision 7a: only the own ref, with a lease, or the next generation where the host refuses
    git(bare, "config", "receive.denyNonFastForwards", "true" if refuses else "false")
    git(bare, "config", "receive.denyDeletes", "true" if refuses else "false")
    place = at("a")
    stored, dead = noise(20), noise(20, seed=2)
    done, seen = put(place, key(1), additions(dead))
    place.writer(GROUP, NODE).discard([done.bundles[0].name])
    _, seen = put(place, key(1), additions({**stored, **some_records(2)}), previous=seen)
    for number in range(3):
        _, seen = put(place, key(1), additions(some_records(2, 10 * number)), previous=seen)
    put(place, key(2), additions(some_records(1, 90)))
    others = {name: oid for name, oid in refs(bare).items() if name != f"refs/heads/lace/{place.ref(GROUP, NODE)}"}
    base = place.ref(GROUP, NODE)
    old = refs(bare)[f"refs/heads/lace/{base}"]
    before = int(git(bare, "rev-list", "--objects", "--count", old))
    compacted(at("fresh"))
    after = refs(bare)
    assert {name: after[name] for name in others} == others
    assert (f"refs/heads/lace/{base}-1" in after) == refuses
    assert f"refs/heads/lace/{base}" in after
    name = f"refs/heads/lace/{base}-1" if refuses else f"refs/heads/lace/{base}"
    assert int(git(bare, "rev-list", "--objects", "--count", after[name])) < before
    found = got(at("b"))
    assert {record for record, data in found.items() if data is None} == set(dead)
    assert all(found[record] == data for record, data in stored.items())
    # Both the writer and old readers go on from there.
    own = at("a")
    assert own.ref(GROUP, NODE) == name.removeprefix("refs/heads/lace/")
    put(own, key(1), additions(some_records(1, 95)), previous=seen)
    assert len(got(at("b"))) == len(found) + 1
    compacted(at("a"))
    assert len(got(at("b"))) == len(found) + 1


def test_a_host_that_refuses_every_change_is_named(bare: Path, at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    git(bare, "config", "transfer.hideRefs", "refs/heads/lace")
    with pytest.raises(PushRejected, match="takes in no change"):
        put(place, key(1), additions(some_records(1)))


# Over a network


def test_the_road_over_a_daemon(tmp_path: Path) -> None:
    # CYB-15: the same over a socket
    bare_repository(tmp_path / "served" / "v.git")
    stored = {**noise(8), **some_records(5)}
    with daemon(tmp_path / "served") as address:
        place = GitPlace.create(f"{address}v.git", tmp_path / "a")
        put(place, key(1), additions(stored))
        other = GitPlace.create(f"{address}v.git", tmp_path / "b")
        put(other, key(2), additions(some_records(2, 50)))
        assert got(other) == stored
        assert len(got(GitPlace.create(f"{address}v.git", tmp_path / "c"), 2)) == 2
        with pytest.raises(NotAGitPlace):
            GitPlace.create(f"{address}absent.git", tmp_path / "a")
    with pytest.raises(PlaceUnreachable):
        place.check()


def test_a_host_that_speaks_only_the_old_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 0 gives out no object by its id, so the history is fetched with all of its pieces."""
    monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
    histories: list[Any] = []
    fetch_history = PrivateRepository.fetch_history

    def listening(private: PrivateRepository, names: list[str], size: int) -> None:
        histories.append(names)
        fetch_history(private, names, size)

    monkeypatch.setattr(PrivateRepository, "fetch_history", listening)
    bare_repository(tmp_path / "served" / "v.git")
    stored = noise(8)
    with daemon(tmp_path / "served") as address:
        place = GitPlace.create(f"{address}v.git", tmp_path / "a")
        _, seen = put(place, key(1), additions(stored))
        put(place, key(1), additions(some_records(3)), previous=seen)
        assert got(GitPlace.create(f"{address}v.git", tmp_path / "b")) == {**stored, **some_records(3)}
    assert histories == [[place.ref(GROUP, NODE)]]


def test_the_road_over_http(tmp_path: Path) -> None:
    # CYB-15: bodies of many megabytes, in both directions
    bare_repository(tmp_path / "served" / "v.git")
    stored = {**noise(20), **some_records(5)}
    with web_host(tmp_path / "served") as address:
        put(GitPlace.create(f"{address}v.git", tmp_path / "a"), key(1), additions(stored))
        assert got(GitPlace.create(f"{address}v.git", tmp_path / "b")) == stored
        with pytest.raises(NotAGitPlace):
            GitPlace.create(f"{address}absent.git", tmp_path / "a")


def test_a_login_comes_from_the_person_s_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_repository(tmp_path / "served" / "v.git")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSH_ASKPASS", "/bin/echo")
    monkeypatch.delenv("GIT_ASKPASS", raising=False)
    with web_host(tmp_path / "served", "alice:geheim") as address:
        with pytest.raises(AccessRefused) as caught:
            GitPlace.create(f"{address}v.git", tmp_path / "a")
        assert "netrc" in caught.value.hint
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login alice password geheim\n")
        (tmp_path / ".netrc").chmod(0o600)
        place = GitPlace.create(f"{address}v.git", tmp_path / "a")
        put(place, key(1), additions(some_records(3)))
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login alice password falsch\n")
        with pytest.raises(AccessRefused) as caught:
            place.check()
    assert "falsch" not in caught.value.message


def test_a_daemon_that_takes_no_pushes(tmp_path: Path) -> None:
    bare = bare_repository(tmp_path / "served" / "v.git")
    git(bare, "config", "daemon.receivepack", "false")
    with daemon(tmp_path / "served") as address, pytest.raises((AccessRefused, NotAGitPlace)):
        GitPlace.create(f"{address}v.git", tmp_path / "a")
