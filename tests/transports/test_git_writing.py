"""Writing into a git place: pushes at once, cuts, a history begun anew, hosts over a network (decision 7a)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.transports.git_hosts import bare_repository, daemon, git, web_host
from tests.transports.git_places import NODE, damage, got, noise, refs
from tests.transports.helpers import GROUP, additions, key, make_head, put, seal_head, some_records
from transports.errors import (
    CAN_BE_READ,
    AccessRefused,
    NotAGitPlace,
    PlaceCrowded,
    PlaceFull,
    PlaceNotWritable,
    PlaceUnreachable,
    PushRejected,
    WriteNotKept,
)
from transports.git import command
from transports.git.command import GitRunner
from transports.git.complaints import fault_of_git
from transports.git.place import GitPlace
from transports.git.refusals import Moved, refusal
from transports.git.remote import GitRemote, git_uri
from transports.git.talks import Talks
from transports.git.tree import PIECE
from transports.mailbox import Mailbox
from transports.publishing import publish
from vault.desks.content import data_plex

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


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.usefixtures("by_talks")
def test_a_host_that_said_what_it_keeps_is_not_asked_at_once(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    """Performance W5: each question is a connection of its own. One that names another branch, or none, is asked."""
    place = at("a")
    talk, talks = GitRunner.talk, list[str]()

    def listening(self: GitRunner, *words: str, **rest: Any) -> tuple[int, bytes, str]:
        talks.append(words[0])
        code, answer, complaints = talk(self, *words, **rest)
        is_other = words[0] == "push" and not is_named
        return code, answer.replace(NODE.key.hex().encode(), b"0" * 64) if is_other else answer, complaints

    writer = place.writer(GROUP, NODE)
    monkeypatch.setattr(GitRunner, "talk", listening)
    for number in range(2):
        writer.put_request(b"%d" % number)
        writer.verify_written()
    assert talks == (["push"] if is_named else ["push", "ls-remote"]) * 2


def test_a_host_elsewhere_is_sent_less_by_more_work(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [Path(command.__file__).read_bytes()[start : start + 3000] for start in range(0, 9000, 750)]
    stored = {plex.hash: plex.encode() for plex in (data_plex(GROUP, part) for part in words)}
    near, far = at("a"), at("b")
    here, _ = put(near, key(1), additions(stored))
    monkeypatch.setattr(GitRemote, "is_far", True)
    there, _ = put(far, key(2), additions(stored))
    assert there.bundles[0].size < here.bundles[0].size
    assert got(at("c"), 2) == got(near, 1) == stored


class Cuts:
    """Cuts pushes off: before they reach the host, or after it has them and before it answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, limit: int, *, late: bool = False) -> None:
        self.sizes: list[int] = []
        push = Talks.push

        def cut(talks: Talks, *words: Any, **rest: Any) -> None:
            size = words[2]
            self.sizes.append(size)
            if size > limit:
                if late:
                    push(talks, *words, **rest)
                raise PlaceUnreachable("The line went dead.")
            push(talks, *words, **rest)

        monkeypatch.setattr(Talks, "push", cut)


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
    writer._batch.size = 8
    pushed: list[int] = []
    push = Talks.push

    def dies(talks: Talks, *words: Any, **rest: Any) -> None:
        if len(pushed) == 2:
            raise KeyboardInterrupt
        pushed.append(words[2])
        push(talks, *words, **rest)

    with monkeypatch.context() as patch:
        patch.setattr(Talks, "push", dies)
        with pytest.raises(KeyboardInterrupt):
            publish(Mailbox(place, GROUP, NODE), writer, runs=(), listing=None, additions=additions(stored))
    assert sum(pushed) > 15 * PIECE
    again = at("a")
    assert again.files(GROUP, NODE) == {}
    put(again, key(1), additions(stored))
    assert got(at("b")) == stored
    assert again.count.written < sum(map(len, stored.values())) - 15 * PIECE


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


def test_a_history_is_begun_anew_before_it_grows_without_end(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decision 7a: publishing sees to it by itself."""
    monkeypatch.setattr("transports.git.compaction.COMMITS", 3)
    place, seen = at("a"), None
    for number in range(5):
        _, seen = put(place, key(1), additions(some_records(2, 10 * number)), previous=seen)
    tip = refs(bare)[f"refs/heads/lace/{place.ref(GROUP, NODE)}"]
    assert int(git(bare, "rev-list", "--first-parent", "--count", tip)) <= 3
    assert len(got(at("b"))) == 10


@pytest.mark.parametrize("answers", [True, False])
@pytest.mark.parametrize("road", ["file", "git"])
def test_a_history_begun_anew_from_a_new_private_repository_moves_nothing_that_the_host_has(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, road: str, answers: bool
) -> None:
    """Decision 7a: all of the mailbox came and went once more, in one push, and was counted as nothing."""
    stored = noise(20, size=1_000_000)
    with daemon(tmp_path) as address:
        uri = git_uri(bare) if road == "file" else address + bare.name
        with closing(GitPlace.create(uri, tmp_path / "a", entropy=os.urandom)) as owner:
            put(owner, key(1), additions(stored))
        shutil.rmtree(owner.private.here.path)
        if not answers:  # as an older git, which knows no such question
            monkeypatch.setattr(Talks, "_asking_first", lambda _talks: [])
        before = sum(file.stat().st_size for file in bare.rglob("*") if file.is_file())
        with closing(GitPlace.open(uri, tmp_path / "a", owner.place_id)) as owner:
            compacted(owner)
            if answers:
                assert owner.count.read < 100_000
                after = sum(file.stat().st_size for file in bare.rglob("*") if file.is_file())
                assert after - before < 100_000
        with closing(GitPlace.open(uri, tmp_path / "b", owner.place_id)) as reader:
            box = reader.mailbox(GROUP, NODE)
            assert box is not None
            assert box.commits == 1
            assert got(reader) == stored


@pytest.mark.parametrize("old", [False, True])
def test_a_history_is_begun_anew_where_a_commit_of_it_cannot_be_made_again(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    """Decision 7a: without its lost piece a commit is another one, and no history was ever begun anew."""
    monkeypatch.setattr("transports.git.compaction._MANY", 1)
    with daemon(tmp_path) as address:
        uri = address + bare.name
        with closing(GitPlace.create(uri, tmp_path / "a", entropy=os.urandom)) as owner:
            writer = owner.writer(GROUP, NODE)
            done = [
                publish(Mailbox(owner, GROUP, NODE), writer, runs=(), listing=None, additions=additions(stored))
                for stored in (noise(1, 1000), some_records(3))
            ]
            runs = [run for each in done for run in each.runs]
            writer.publish_head(seal_head(key(1), make_head(key(1), owner.place_id, 1, runs)).encode())
            box = owner.mailbox(GROUP, NODE)
        assert box is not None
        (lost,) = box.files[done[0].bundles[0].name].pieces
        if not old:  # from such a host nothing of a mailbox comes any more that lacks a part
            damage(bare, lost, is_gone=True)
        with monkeypatch.context() as patch, closing(GitPlace.open(uri, tmp_path / "a")) as owner:
            patch.setattr(GitPlace, "gone_pieces", lambda *_words: {lost})
            owner.writer(GROUP, NODE).put_request(b"of a push without what is lost")
        shutil.rmtree(owner.private.here.path)
        if old:
            monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
        with closing(GitPlace.open(uri, tmp_path / "a")) as owner:
            compacted(owner)
            box = owner.mailbox(GROUP, NODE)
            assert box is not None
            assert box.commits == 1
        with closing(GitPlace.open(uri, tmp_path / "b")) as reader:
            assert some_records(3).items() <= got(reader).items()


def test_a_host_that_refuses_every_change_is_named(bare: Path, at: Callable[[str], GitPlace]) -> None:
    place = at("a")
    git(bare, "config", "transfer.hideRefs", "refs/heads/lace")
    with pytest.raises(PushRejected, match="takes in no change"):
        put(place, key(1), additions(some_records(1)))


def test_a_lock_that_a_killed_git_left_at_the_host_is_named(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """APP-14: it was said that somebody else writes there."""
    place = at("a")
    put(place, key(1), additions(some_records(1)))
    lock = bare / f"refs/heads/lace/{place.ref(GROUP, NODE)}.lock"
    lock.touch()
    with pytest.raises(PushRejected, match="lock': File exists") as caught:
        place.writer(GROUP, NODE).put_request(b"x")
    assert "let the owner delete it" in caught.value.hint
    lock.unlink()
    place.writer(GROUP, NODE).put_request(b"x")
    fresh = bare_repository(bare.with_name("fresh.git"))
    (fresh / "refs" / "heads" / "lace").mkdir(parents=True)
    (fresh / "refs" / "heads" / "lace" / "place.lock").touch()
    with pytest.raises(PushRejected, match=r"place.lock': File exists"):
        GitPlace.create(git_uri(fresh), bare.parent / "fresh", entropy=os.urandom)


# Over a network


def test_a_host_that_takes_less_at_once_is_given_less(tmp_path: Path) -> None:
    """It said that no branch below lace/ may be pushed, at every try; so for a history that is begun anew."""
    bare = bare_repository(tmp_path / "served" / "v.git")
    git(bare, "config", "receive.maxInputSize", "1200k")
    stored = noise(4)
    with web_host(tmp_path / "served") as address:
        place = GitPlace.create(f"{address}v.git", tmp_path / "a", entropy=os.urandom)
        put(place, key(1), additions(stored))
        writer = place.writer(GROUP, NODE)
        writer._base.data.clear()
        writer.compact()
        assert got(GitPlace.create(f"{address}v.git", tmp_path / "b", entropy=os.urandom)) == stored
        git(bare, "config", "receive.maxInputSize", "100k")
        with pytest.raises(PushRejected, match="exceeds maximum allowed size") as caught:
            put(place, key(2), additions(noise(1)))
        assert caught.value.code == "push-too-large"


def test_what_the_host_says_of_a_push_that_it_refuses_is_told(tmp_path: Path) -> None:
    """APP-14: protected branches, a role that is missing: the host's own words say what to ask for."""
    bare = bare_repository(tmp_path / "served" / "v.git")
    hook = bare / "hooks" / "pre-receive"
    with daemon(tmp_path / "served") as address:
        place = GitPlace.create(f"{address}v.git", tmp_path / "a", entropy=os.urandom)
        hook.write_text("#!/bin/sh\necho\necho 'GitLab: You may not push to this project.'\nexit 1\n")
        hook.chmod(0o755)
        with pytest.raises(PushRejected, match=r"hook declined\): GitLab: You may not push to this project\.$"):
            place.writer(GROUP, NODE).put_request(b"x")


_DECLINED = "[remote rejected] (pre-receive hook declined)"
_BRANCHES = "Let the host accept pushes to branches below lace/."
_FILES = f"Let the host accept files of {PIECE >> 20} MiB: none of lace's there is larger."


@pytest.mark.parametrize(
    ("said", "reason", "way"),
    [
        ("remote: error: GH006: Protected branch update failed.\n", _DECLINED, _BRANCHES),
        ("", "[remote rejected] (deny updating a hidden ref)", _BRANCHES),
        ("remote: error: File d/ab is 3.00 MB; this exceeds GitHub's file size limit of 1.00 MB\n", _DECLINED, _FILES),
        ("remote: error: d/ab is larger than the maximum file size of 1 MB\n", _DECLINED, _FILES),
        ("remote: GitLab: You are attempting to check in blobs which exceed the 512KiB limit\n", _DECLINED, _FILES),
        ("remote: file too large: d/ab\n", _DECLINED, _FILES),
        ("remote: Commits must be signed off\n", _DECLINED, ""),
        ("", _DECLINED, ""),
    ],
)
def test_the_way_out_fits_what_a_host_says(said: str, reason: str, way: str) -> None:
    """APP-14: each refusal named branches, and a limit of files a full place."""
    error = refusal(f"!\tabc:refs/heads/lace/x\t{reason}\n".encode(), said, "host")
    assert isinstance(error, PushRejected)
    assert error.hint == f"{way} {CAN_BE_READ}".strip()


_FAILED = "error: failed to push some refs to 'host'\n"


@pytest.mark.parametrize(
    ("said", "reason", "means"),
    [
        ("", "[rejected] (fetch first)", Moved),
        ("", "[remote rejected] (unpacker error)", PushRejected),
        ("remote: error: GH006: Protected branch\n", "[remote rejected] (pre-receive hook declined)", PushRejected),
        ("remote: You may not push here.\n", "[remote rejected] (pre-receive hook declined)", PushRejected),
        ("remote: fatal: write error: Disk quota exceeded\n", "[remote rejected] (unpacker error)", PlaceFull),
        ("remote: fatal: write error: No space left on device\n", "[remote rejected] (unpacker error)", PlaceFull),
        ("remote: GitLab: Quota for this group was exceeded.\n", "[remote rejected] (hook declined)", PlaceFull),
        (
            "remote: It has exceeded its size limit of 2 GB\n",
            "[remote rejected] (pre-receive hook declined)",
            PlaceFull,
        ),
        ("", "[remote rejected] (quota exceeded)", PlaceFull),
        (
            "error: remote unpack failed: unable to create temporary object directory\n",
            "[remote rejected] (unpacker error)",
            PlaceNotWritable,
        ),
    ],
)
@pytest.mark.parametrize(
    "greeting", ["80% of your disk quota is used\n", "remote: Files over 90% of your quota: 3\r\n", ""]
)
def test_a_greeting_that_speaks_of_a_quota_makes_no_full_place(
    greeting: str, said: str, reason: str, means: type[Exception]
) -> None:
    """APP-14: what makes a place full is that the host says so of this push; a lost race is tried again."""
    answer = f"To host\n!\tabc:refs/heads/lace/x\t{reason}\nDone\n"
    assert type(refusal(answer.encode(), f"{greeting}{said}{_FAILED}", "host")) is means
    unread = f"{greeting}ERROR: Repository not found.\nfatal: Could not read from remote repository."
    assert type(fault_of_git(unread, "host")) is NotAGitPlace


def test_more_mailboxes_than_a_group_has_members_are_told_and_replace_none(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """CYB-17, CYB-18: other branches do not count, and nobody's own mailbox is taken for a damaged one."""
    monkeypatch.setattr("transports.git.view.NODES_LIMIT", 3)
    mine = at("a")
    put(mine, key(1), additions(some_records(3)))
    commit = git(bare, "commit-tree", git(bare, "mktree"), "-m", "x")
    for names in ("feature/{}", "lace/{}", f"lace/{mine.ref(GROUP, NODE)[:16]}{{:064x}}"):
        assert len(got(at(f"reader {len(names)}"))) == 3
        made = [f"create refs/heads/{names.format(number)} {commit}\n" for number in range(4)]
        git(bare, "update-ref", "--stdin", stdin="".join(made).encode())
    before = refs(bare)
    with pytest.raises(PlaceCrowded, match="holds more than 3 mailboxes of your group"):
        at("a").nodes(GROUP)
    with pytest.raises(PlaceCrowded):
        at("a").writer(GROUP, NODE).put_request(b"x")
    assert refs(bare) == before


def test_the_road_over_a_daemon(tmp_path: Path) -> None:
    # CYB-15: the same over a socket
    bare_repository(tmp_path / "served" / "v.git")
    stored = {**noise(8), **some_records(5)}
    with daemon(tmp_path / "served") as address:
        place = GitPlace.create(f"{address}v.git", tmp_path / "a", entropy=os.urandom)
        put(place, key(1), additions(stored))
        other = GitPlace.create(f"{address}v.git", tmp_path / "b", entropy=os.urandom)
        put(other, key(2), additions(some_records(2, 50)))
        assert got(other) == stored
        assert len(got(GitPlace.create(f"{address}v.git", tmp_path / "c", entropy=os.urandom), 2)) == 2
        with pytest.raises(NotAGitPlace):
            GitPlace.create(f"{address}absent.git", tmp_path / "a", entropy=os.urandom)
    with pytest.raises(PlaceUnreachable):
        place.check()


def test_a_host_that_speaks_only_the_old_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 0 gives out no object by its id, so the history is fetched with all of its pieces."""
    monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
    histories: list[Any] = []
    fetch_history = Talks.fetch_history

    def listening(talks: Talks, names: list[str], size: int) -> None:
        histories.append(names)
        fetch_history(talks, names, size)

    monkeypatch.setattr(Talks, "fetch_history", listening)
    bare_repository(tmp_path / "served" / "v.git")
    stored = noise(8)
    with daemon(tmp_path / "served") as address:
        place = GitPlace.create(f"{address}v.git", tmp_path / "a", entropy=os.urandom)
        _, seen = put(place, key(1), additions(stored))
        put(place, key(1), additions(some_records(3)), previous=seen)
        assert got(GitPlace.create(f"{address}v.git", tmp_path / "b", entropy=os.urandom)) == {
            **stored,
            **some_records(3),
        }
    assert histories == [[place.ref(GROUP, NODE)]]


def test_a_host_that_speaks_only_the_old_protocol_sends_again_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decision 7a: so does each ssh that does not let GIT_PROTOCOL in; all of a mailbox came with each change of it."""
    monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
    bare_repository(tmp_path / "served" / "v.git")
    with daemon(tmp_path / "served") as address:
        uri, stored, read = f"{address}v.git", noise(8), list[int]()
        with closing(GitPlace.create(uri, tmp_path / "a", entropy=os.urandom)) as owner:
            _, seen = put(owner, key(1), additions(stored))
        for number in range(3):
            with closing(GitPlace.open(uri, tmp_path / "b", owner.place_id)) as reader:
                assert len(got(reader)) == len(stored) + number
                read.append(reader.count.read)
            with closing(GitPlace.open(uri, tmp_path / "a", owner.place_id)) as owner:
                _, seen = put(owner, key(1), additions(some_records(1, number)), previous=seen)
    assert read[0] > 4_000_000
    assert max(read[1:]) < 10_000


def test_a_host_that_speaks_only_the_old_protocol_sends_no_mailbox_but_the_one_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decision 7a: with one all others came, and beyond 64 MiB of them no visit read anything any more."""
    monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
    bare_repository(tmp_path / "served" / "v.git")
    with daemon(tmp_path / "served") as address:
        uri, large = f"{address}v.git", noise(8)
        for number, stored in ((1, large), (2, some_records(3))):
            with closing(GitPlace.create(uri, tmp_path / f"{number}", entropy=os.urandom)) as owner:
                put(owner, key(number), additions(stored))
        with closing(GitPlace.open(uri, tmp_path / "b", owner.place_id)) as reader:
            assert len(got(reader, 2)) == 3
            assert reader.count.read < 10_000
            assert got(reader) == large


def test_the_road_over_http(tmp_path: Path) -> None:
    # CYB-15: bodies of many megabytes, in both directions
    bare_repository(tmp_path / "served" / "v.git")
    stored = {**noise(20), **some_records(5)}
    with web_host(tmp_path / "served") as address:
        put(GitPlace.create(f"{address}v.git", tmp_path / "a", entropy=os.urandom), key(1), additions(stored))
        assert got(GitPlace.create(f"{address}v.git", tmp_path / "b", entropy=os.urandom)) == stored
        with pytest.raises(NotAGitPlace):
            GitPlace.create(f"{address}absent.git", tmp_path / "a", entropy=os.urandom)


def test_a_login_comes_from_the_person_s_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare_repository(tmp_path / "served" / "v.git")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSH_ASKPASS", "/bin/echo")
    monkeypatch.delenv("GIT_ASKPASS", raising=False)
    with web_host(tmp_path / "served", "alice:geheim") as address:
        with pytest.raises(AccessRefused) as caught:
            GitPlace.create(f"{address}v.git", tmp_path / "a", entropy=os.urandom)
        assert "netrc" in caught.value.hint
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login alice password geheim\n")
        (tmp_path / ".netrc").chmod(0o600)
        place = GitPlace.create(f"{address}v.git", tmp_path / "a", entropy=os.urandom)
        put(place, key(1), additions(some_records(3)))
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login alice password falsch\n")
        with pytest.raises(AccessRefused) as caught:
            place.check()
    assert "falsch" not in caught.value.message


def test_a_daemon_that_takes_no_pushes(tmp_path: Path) -> None:
    bare = bare_repository(tmp_path / "served" / "v.git")
    git(bare, "config", "daemon.receivepack", "false")
    with daemon(tmp_path / "served") as address, pytest.raises((AccessRefused, NotAGitPlace)):
        GitPlace.create(f"{address}v.git", tmp_path / "a", entropy=os.urandom)


def test_a_branch_on_which_a_copy_wrote_meanwhile_is_not_deleted(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """LAZ-63: what was deleted is what was looked at, or nothing: the copy's work would go with the branch."""
    one, copy = at("a"), at("b")
    put(one, key(1), additions(some_records(4)))
    name = one.ref(GROUP, NODE)
    seen = one.tip(name)
    assert seen is not None
    put(copy, key(1), additions(some_records(4, 10)))
    written = refs(bare)
    with pytest.raises((Moved, PushRejected)):
        one.private.talks.delete(name, seen)
    assert refs(bare) == written


def test_nobody_brings_back_the_mailbox_of_somebody_else(
    bare: Path, tmp_path: Path, at: Callable[[str], GitPlace]
) -> None:
    """LAZ-63: its owner, or whoever keeps the repository, took it away; a reader knows no reason to undo that."""
    one, two = at("a"), at("b")
    put(one, key(1), additions(some_records(4)))
    put(two, key(2), additions(some_records(4, 10)))
    name = f"refs/heads/lace/{one.ref(GROUP, NODE)}"
    assert len(got(at("b"))) == 4
    git(bare, "update-ref", "-d", name)
    with closing(GitPlace.open(git_uri(bare), tmp_path / "b", mends=True)) as again:
        assert again.read_head(GROUP, NODE) is None
        again.writer(GROUP, key(2).verifier)
        assert len(got(again, 2)) == 4
    assert name not in refs(bare)
