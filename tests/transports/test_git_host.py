"""A repository on this machine is read where it lies, and by git's own talk where it is not plain (performance W5)."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.transports.git_hosts import git
from tests.transports.git_places import NODE, damage, got, loosen, noise, refs
from tests.transports.helpers import GROUP, additions, key, put, some_records
from transports.errors import PushRejected, UnreadableFile
from transports.git import handing
from transports.git import packs as packs_module
from transports.git import talks as talks_module
from transports.git.command import GitRunner
from transports.git.local import own_directory
from transports.git.pace import SentTooMuch
from transports.git.packs import packed
from transports.git.place import GitPlace
from transports.git.refusals import Moved
from transports.git.remote import git_uri, parse_remote
from transports.git.upkeep import cuts, packs
from transports.layout import MIB
from vault.errors import Cancelled, PlaceError

_ABOVE = "refs/heads/lace/"


def test_a_reader_of_a_repository_on_this_machine_holds_no_talk(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str]
) -> None:
    """Performance W5: a fetch from there started six processes, and a question for refs three."""
    owner = at("a")
    stored = noise(3) | some_records(5)
    _, seen = put(owner, key(1), additions(stored))
    talks.clear()
    with closing(at("b")) as reader:
        assert got(reader) == stored
        tip, path = reader.tip(reader.ref(GROUP, NODE)), reader.private.here.path
        assert reader.count.read > 3 * 500_000
        put(owner, key(1), additions(stored | some_records(2, 10)), previous=seen)
        reader.check()
        assert len(got(reader)) == 10
        assert cuts(path) == {tip, reader.tip(reader.ref(GROUP, NODE))}
    assert not talks
    git(path, "fsck", "--strict", "--connectivity-only")
    assert {name: oid for name, oid in refs(bare).items() if name.startswith(_ABOVE)} == {
        name.replace("refs/lace/seen/", _ABOVE): oid for name, oid in refs(path).items()
    }


def test_refs_that_are_packed_are_read_too(bare: Path, at: Callable[[str], GitPlace], talks: list[str]) -> None:
    for number in (1, 2):
        put(at("a"), key(number), additions(some_records(number)))
    git(bare, "pack-refs", "--all")
    put(at("a"), key(2), additions(some_records(4)))
    talks.clear()
    with closing(at("b")) as reader:
        there = {name.removeprefix(_ABOVE): oid for name, oid in refs(bare).items()}
        assert reader.private.talks.list_remote() == there
        assert (len(got(reader)), len(got(reader, 2))) == (1, 4)
    assert not talks


def linked(bare: Path) -> None:
    """Let a ref say another ref's name."""
    git(bare, "symbolic-ref", f"{_ABOVE}other", f"{_ABOVE}place")


def nested(bare: Path) -> None:
    """Let a ref lie below another name than lace writes."""
    git(bare, "update-ref", f"{_ABOVE}one/two", f"{_ABOVE}place")


def configured(bare: Path) -> None:
    """Let the configuration say what may hide refs."""
    git(bare, "config", "transfer.hideRefs", "refs/heads/lace/hidden")


def packed_amiss(bare: Path) -> None:
    """Let the file of packed refs hold another line."""
    git(bare, "pack-refs", "--all")
    with (bare / "packed-refs").open("a") as file:
        file.write("\n")


@pytest.mark.parametrize("change", [linked, nested, configured])
def test_git_is_asked_about_a_repository_that_is_not_plain(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str], change: Callable[[Path], None]
) -> None:
    put(at("a"), key(1), additions(some_records(3)))
    change(bare)
    talks.clear()
    with closing(at("b")) as reader:
        assert len(got(reader)) == 3
    assert talks[0] == "ls-remote"


def test_git_is_asked_about_refs_that_are_packed_amiss(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str]
) -> None:
    reader = at("b")
    packed_amiss(bare)
    talks.clear()
    with pytest.raises(Exception, match="packed-refs"):
        reader.check()
    assert talks == ["ls-remote"]


def test_the_repository_of_another_account_is_left_to_git(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git shows it to nobody who does not say that they trust it."""
    assert own_directory(bare) == bare
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    assert own_directory(bare) is None
    at("a").close()
    assert "ls-remote" in talks


def test_a_branch_whose_commit_is_gone_is_shown_as_git_shows_it(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """LAZ-63: its owner knows by that where it stood, and brings it back."""
    with closing(at("a")) as owner:
        put(owner, key(1), additions(some_records(3)))
        name = _ABOVE + owner.ref(GROUP, NODE)
        damage(bare, refs(bare)[name], is_gone=True)
        rows = (line.split() for line in git(bare, "ls-remote", str(bare), f"{_ABOVE}*").splitlines())
        shown = {name: oid for oid, name in rows}
        assert name in shown
        assert {_ABOVE + name: oid for name, oid in owner.private.talks.list_remote().items()} == shown


def write_object(bare: Path, oid: str, content: bytes) -> None:
    """Let an object of a repository hold something else."""
    loosen(bare)
    file = bare / "objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    file.write_bytes(zlib.compress(content))


def test_what_is_not_what_its_name_says_is_not_taken(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str]
) -> None:
    """CYB-18: whoever can write there could put any bytes under a name; git proves what it sends."""
    with closing(at("a")) as owner:
        put(owner, key(1), additions(noise(3)))
        box = owner.mailbox(GROUP, NODE)
    assert box is not None
    (piece, *_) = (oid for filed in box.files.values() if len(filed.pieces) > 1 for oid in filed.pieces)
    write_object(bare, piece, b"blob 5\0wrong")
    with closing(at("b")) as reader:
        assert reader.mailbox(GROUP, NODE) == box
        talks.clear()
        with pytest.raises(UnreadableFile):
            reader.private.talks.fetch_objects([piece], MIB)
        assert reader.private.here.missing([piece]) == [piece]
    assert talks[0] == "fetch"


def test_a_tip_that_git_finds_fault_with_is_not_taken(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str]
) -> None:
    """Faults 34: what is read past git's talk is proven by git all the same."""
    put(at("a"), key(1), additions(some_records(3)))
    with closing(at("b")) as reader:
        name = reader.ref(GROUP, key(2).verifier)
        blob = bytes.fromhex(git(bare, "hash-object", "-w", "--stdin", stdin=b"x"))
        row = b"100644 head.rec\0" + blob
        words = ("hash-object", "-w", "--stdin", "--literally", "-t")
        tree = git(bare, *words, "tree", stdin=row + row)  # twice the same name
        tip = git(bare, "commit-tree", tree, "-m", "x")
        git(bare, "update-ref", _ABOVE + name, tip)
        talks.clear()
        with pytest.raises(UnreadableFile):
            reader.private.talks.fetch_refs([name])
        assert talks == ["fetch"]
        assert name not in reader.private.here.seen()
        assert reader.private.here.missing([tip]) == [tip]


def _rows(bare: Path, reader: GitPlace) -> dict[str, bytes]:
    """Return trees that lace does not write, by what is amiss in each."""
    tip = refs(bare)[_ABOVE + reader.ref(GROUP, NODE)]
    tree, files = (bytes.fromhex(git(bare, "rev-parse", f"{tip}{part}")) for part in ("^{tree}", ":files"))
    blob, commit = bytes.fromhex(git(bare, "rev-parse", f"{tip}:head.rec")), bytes.fromhex(tip)
    return {
        "a tree named as a file": b"100644 commits\0" + files,
        "the tip's tree named as a file": b"100644 commits\0" + tree,
        "a commit named as a file": b"100644 commits\0" + commit,
        "a file named as a tree": b"40000 files\0" + blob,
        "a commit named as a tree": b"40000 files\0" + commit,
        "another repository": b"160000 files\0" + commit,
        "a file that runs": b"100755 head.rec\0" + blob,
        "a link": b"120000 head.rec\0" + blob,
        "what git takes for its own": b"40000 .git\0" + files,
        "two rows in the wrong order": b"100644 lost\0" + blob + b"100644 copies\0" + blob,
        "a name that is none": b"100644 a/b\0" + blob,
        "a mode with a zero before it": b"0100644 head.rec\0" + blob,
    }


@pytest.mark.parametrize("is_here", [True, False])
def test_what_lace_does_not_write_is_left_to_git(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str], is_here: bool
) -> None:
    """CYB-17: of what is copied past git each row is what it says, in the one form that lace gives it."""
    put(at("a"), key(1), additions(some_records(3)))
    words = ("hash-object", "-w", "--stdin", "--literally", "-t")
    signed = "lace <lace> 1000000000 +0000"
    with closing(at("b")) as reader:
        name = reader.ref(GROUP, key(2).verifier)
        for number, (what, rows) in enumerate(_rows(bare, reader).items()):
            with closing(at(f"c{number}")) as other:
                if is_here:
                    assert len(got(other)) == 3
                text = f"tree {git(bare, *words, 'tree', stdin=rows)}\nauthor {signed}\ncommitter {signed}\n\nlace\n"
                git(bare, "update-ref", _ABOVE + name, git(bare, *words, "commit", stdin=text.encode()))
                talks.clear()
                with suppress(UnreadableFile, PlaceError):
                    other.private.talks.fetch_refs([name])
                assert talks[:1] == ["fetch"], what


@pytest.mark.parametrize("said", ["other <lace> 1000000000 +0000", "lace <lace> 1000000001 +0000"])
def test_a_commit_of_somebody_else_is_fetched_by_git(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str], said: str
) -> None:
    put(at("a"), key(1), additions(some_records(3)))
    with closing(at("b")) as reader:
        name = reader.ref(GROUP, NODE)
        text = git(bare, "cat-file", "commit", refs(bare)[_ABOVE + name]) + "\n"
        assert text.count("lace <lace> 1000000000 +0000") == 2
        text = text.replace("lace <lace> 1000000000 +0000", said, 1)
        tip = git(bare, "hash-object", "-w", "--stdin", "-t", "commit", stdin=text.encode())
        git(bare, "update-ref", _ABOVE + name, tip)
        talks.clear()
        reader.private.talks.fetch_refs([name])
        assert talks == ["fetch"]
        assert reader.private.here.seen()[name] == tip


def test_more_than_a_place_may_send_is_not_copied(
    at: Callable[[str], GitPlace], talks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 34: one who may push does not fill the disk of everybody else."""
    put(at("a"), key(1), additions(some_records(3)))
    reader = at("b")
    monkeypatch.setattr(talks_module, "SLACK", 100)
    talks.clear()
    with suppress(SentTooMuch):  # git looks now and then at how much came
        reader.private.talks.fetch_refs([reader.ref(GROUP, NODE)])
    assert talks == ["fetch"]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_copy_that_is_cut_off_leaves_nothing(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch, is_first: bool
) -> None:
    """Faults 5: nothing is noted before it lies here, and no file stays of what does not."""
    put(at("a"), key(1), additions(noise(3)))
    reader = at("b")
    before = packs(reader.private.here.path)

    def cut(count: int, objects: Iterable[tuple[str, bytes]]) -> Iterable[bytes]:
        for number, part in enumerate(packed(count, objects)):
            if number == (0 if is_first else 3):
                raise Cancelled("Enough.")
            yield part

    with monkeypatch.context() as patch:
        patch.setattr(packs_module, "packed", cut)
        with pytest.raises(Cancelled):
            got(reader)
    name, path = reader.ref(GROUP, NODE), reader.private.here.path
    assert name not in reader.private.here.seen()
    assert not cuts(path)
    assert packs(path) == before
    assert {file.suffix for file in (path / "objects" / "pack").iterdir()} <= {".pack", ".idx"}
    assert len(got(reader)) == 3


def test_what_was_copied_outlives_a_visit(bare: Path, tmp_path: Path, at: Callable[[str], GitPlace]) -> None:
    with closing(at("a")) as owner:
        put(owner, key(1), additions(some_records(3)))
    with closing(at("b")) as reader:
        assert len(got(reader)) == 3
        place_id = reader.place_id
    for file in (bare / "objects").rglob("*"):
        if file.is_file():
            file.chmod(0o600)
    with closing(GitPlace.open(git_uri(bare), tmp_path / "b", place_id)) as reader:
        tip = reader.tip(reader.ref(GROUP, NODE))
        assert tip is not None
        assert reader.private.here.has(tip)
        assert not reader.private.here.is_own(tip)


# Pushing


def test_a_push_that_finds_its_branch_moved_is_left_to_git(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str]
) -> None:
    """LAZ-63: nothing is written over what somebody else left; git says so, and it is looked at anew."""
    place = at("a")
    private, name = place.private, place.ref(GROUP, NODE)
    first, other = (
        private.here.store_root(private.here.store_tree({text: ("blob", private.here.store(text.encode()))}))
        for text in "ab"
    )
    private.talks.push(first, name, 1, 3)
    assert private.talks.was_taken(name, first)
    assert not talks
    private.talks.push(private.here.store_commit(private.here.store_tree({}), [first]), name, 1, 2)
    assert not talks
    for late in (other, private.here.store_commit(private.here.store_tree({}), [other])):
        stood = refs(bare)[_ABOVE + name]
        with pytest.raises(Moved):
            private.talks.push(late, name, 1, 3)
        assert not private.talks.was_taken(name, late)
        assert refs(bare)[_ABOVE + name] == stood
    assert talks == ["push", "push"]


def test_a_push_that_is_not_taken_is_left_to_git(bare: Path, at: Callable[[str], GitPlace], talks: list[str]) -> None:
    """INT-125: what the host means by it is told as by any other host."""
    place = at("a")
    name = place.ref(GROUP, NODE)
    (bare / f"{_ABOVE}{name}.lock").touch()
    with pytest.raises(PushRejected):
        put(place, key(1), additions(some_records(3)))
    assert set(talks) == {"push"}
    assert _ABOVE + name not in refs(bare)
    (bare / f"{_ABOVE}{name}.lock").unlink()
    talks.clear()
    put(place, key(1), additions(some_records(3)))
    assert not talks
    git(bare, "fsck", "--strict")


def test_a_push_sends_what_the_host_lacks_and_nothing_else(
    bare: Path, at: Callable[[str], GitPlace], talks: list[str]
) -> None:
    """Performance W5: the bytes of a push are those that are new there."""
    place = at("a")
    stored = noise(3)
    _, seen = put(place, key(1), additions(stored))
    before = git(bare, "count-objects", "-v").splitlines()
    put(place, key(1), additions(stored | some_records(2)), previous=seen)
    after = git(bare, "count-objects", "-v").splitlines()
    grown = {
        now.split(": ")[0]: int(now.split(": ")[1]) - int(then.split(": ")[1])
        for then, now in zip(before, after, strict=True)
    }
    assert 8 <= grown["in-pack"] <= 20
    assert grown["size-pack"] < 20  # KiB
    assert not talks


@pytest.mark.parametrize("number", [0, 5])
def test_a_push_that_is_cut_off_leaves_nothing(
    bare: Path, at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Faults 5: the host has all of it or none, and the next push brings it."""
    place, stored = at("a"), noise(3)
    name = place.ref(GROUP, NODE)

    def cut(count: int, objects: Iterable[tuple[str, bytes]]) -> Iterable[bytes]:
        for at_part, part in enumerate(packed(count, objects)):
            if at_part == number:
                raise Cancelled("Enough.")
            yield part

    with monkeypatch.context() as patch:
        patch.setattr(handing, "packed", cut)
        with pytest.raises(Cancelled):
            put(place, key(1), additions(stored))
    assert _ABOVE + name not in refs(bare)
    assert not [path.name for path in (bare / "objects").iterdir() if "incoming" in path.name]
    put(place, key(1), additions(stored))
    assert got(at("b")) == stored


def test_a_host_proves_what_is_handed_over(bare: Path, at: Callable[[str], GitPlace], talks: list[str]) -> None:
    """CYB-18: it is proven there as what anybody pushes."""
    private = at("a").private
    blob = bytes.fromhex(private.here.store(b"x"))
    row = b"100644 head.rec\0" + blob
    commit = private.here.store_root(private.here.store(row + row, "tree"))
    with pytest.raises(PlaceError):
        private.talks.push(commit, "other", 1, 3)
    assert "push" in talks
    assert f"{_ABOVE}other" not in refs(bare)


def test_what_no_branch_reaches_is_not_taken_for_there(bare: Path, at: Callable[[str], GitPlace]) -> None:
    """CYB-18: it may be rotten, or go at any moment; git sends it again, and the host proves what it has of it."""
    first = at("a")
    put(first, key(1), additions(noise(2)))
    box = first.mailbox(GROUP, NODE)
    assert box is not None
    git(bare, "update-ref", "-d", _ABOVE + first.ref(GROUP, NODE))
    loosen(bare)
    (piece,) = (oid for filed in box.files.values() if filed.size > MIB // 2 for oid in filed.pieces)
    file = bare / "objects" / piece[:2] / piece[2:]
    rotten = bytearray(file.read_bytes())
    rotten[len(rotten) // 2] ^= 1
    file.chmod(0o600)
    file.write_bytes(rotten)
    with pytest.raises(PlaceError):
        put(at("b"), key(1), additions(noise(2)))


def test_git_may_complain_of_much_while_it_reads(tmp_path: Path, bare: Path) -> None:
    """Faults 34: whoever may push could push what git warns of at length, and everybody would wait for ever."""
    runner = GitRunner(tmp_path / "a", parse_remote(git_uri(bare)))
    says = "head -c 300000 /dev/zero >&2; wc -c"
    with runner.beside("-c", f"alias.says=!{says}", "says") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(bytes(300_000))
        process.stdin.close()
        assert process.stdout.read() == b"300000\n"
