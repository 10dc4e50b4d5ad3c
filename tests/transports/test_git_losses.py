"""What a git host lost of a mailbox is written anew by its owner once a reader said so (LAZ-63, CYB-17)."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from lazy.address import resolve
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.places.known import places, remove_place
from lazy.results import Problem
from lazy.sync import sync
from tests.people import Person
from tests.transports.git_hosts import bare_repository, daemon, git
from tests.transports.git_places import NODE, damage, got, met, noise, refs
from tests.transports.helpers import GROUP, additions, key, make_head, put, seal_head, some_records
from tests.vault.vaults import befriend, found
from transports.errors import PlaceDamaged, PlaceUnreachable, PushRejected, UnreadableFile
from transports.git import command, upkeep
from transports.git.place import GitPlace
from transports.git.private import PrivateRepository
from transports.git.remote import git_uri
from transports.reading import read_head
from vault.content.keeping import Keep, fetch, set_keep
from vault.content.prune import prune
from vault.desks.chunks import entry_pieces
from vault.desks.tree import lookup
from vault.errors import DataError
from vault.records import Verifier
from vault.releasing import release
from vault.vault import Vault


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return bare_repository(tmp_path / "remote.git")


def shared(alice: Person, bob: Person, bare: Path) -> dict[str, str]:
    """Let alice share two large files there that bob has not read; return objects of her mailbox by what they are."""
    met(alice, bob, bare)
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
    alice: Person, bob: Person, cara: Person, bare: Path, what: str, is_gone: bool
) -> None:
    """LAZ-63, CYB-17: its owner took it for what the host has, and nobody ever got it from there again."""
    damage(bare, shared(alice, bob, bare)[what], is_gone=is_gone)
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
        head = read_head(place, who["group"], node)
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
    alice: Person, bob: Person, bare: Path, tmp_path: Path, what: str, is_gone: bool
) -> None:
    """LAZ-63: git at the host takes nothing under the name of an object that it has damaged, so nobody ever got it."""
    met(alice, bob, bare)
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


def test_a_tip_that_the_owner_fetched_is_written_anew_too(alice: Person, bob: Person, bare: Path) -> None:
    """LAZ-63: an owner whose private repository was begun anew took what a reader said of it for somebody else's."""
    tip = shared(alice, bob, bare)["tip"]
    for private in (alice.folder / ".vault" / "git").glob("*.git"):
        shutil.rmtree(private)
    alice.lace("sync", "host")
    damage(bare, tip, is_gone=True)
    bob.lace("sync", "host", expect=1)
    alice.lace("sync", "host")
    assert [new["version"] for new in bob.lace("sync", "host")["releases"]] == ["1.0.1"]


def test_a_tip_over_which_git_stumbles_is_written_anew_though_nobody_can_say_so(
    alice: Person, bob: Person, bare: Path
) -> None:
    """CYB-17, APP-14: the host took in nothing of anybody, and its owner's syncs found all well for good."""
    shared(alice, bob, bare)
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


def test_a_number_that_the_host_has_damaged_keeps_nobody_from_pushing(alice: Person, bob: Person, bare: Path) -> None:
    """CYB-17: two mailboxes share the object that counts their commits, and the next push wrote it again each time."""
    shared(alice, bob, bare)
    owner = Verifier.parse(alice.lace("id")["node"]).key.hex()
    (ref,) = (name for name in refs(bare) if name.endswith(owner))
    damage(bare, git(bare, "rev-parse", f"{ref}:commits"), is_gone=False)
    for person in (bob, alice, bob, alice):
        person.run("sync", "host")
    for person in (bob, alice):
        again = person.lace("sync", "host")
        assert (again["sent"], again["problems"]) == (0, [])


def test_what_cannot_be_left_at_the_place_is_not_said_to_tell_its_owner(
    alice: Person, bob: Person, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-14: nothing told alice where bob may not push."""
    damage(bare, shared(alice, bob, bare)["first"], is_gone=True)

    def refuse(_private: PrivateRepository, *_words: object, **_how: object) -> None:
        raise PushRejected("It takes in no change.")

    with monkeypatch.context() as patch:
        patch.setattr(PrivateRepository, "push", refuse)
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


@pytest.mark.parametrize("is_fetched", [False, True])
@pytest.mark.parametrize("part", ["", "^{tree}", ":head.rec", ":files", ":commits"])
def test_what_lies_at_the_host_alone_outlives_the_loss_of_a_tip(
    tmp_path: Path, bare: Path, part: str, is_fetched: bool
) -> None:
    """CLAY-79, LAZ-63: the owner wrote anew what was here, and what was let go here was gone for everybody."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        if is_fetched:
            begin_private_anew(alice)
        lose_own(alice.folder, alice.node, bare, part)
        for vault in (alice, bob, alice, bob):
            sync(vault, ["host"])
        assert content_let_go(alice, bare) == films[0]


def begin_private_anew(vault: Vault) -> None:
    """Let somebody know their own mailbox from the host, by its tip alone, without the commits behind it."""
    for private in (vault.folder / ".vault" / "git").glob("*.git"):
        shutil.rmtree(private)
    sync(vault, ["host"])


def lose_own(folder: Path, node: Verifier, bare: Path, part: str) -> None:
    """Take an object of somebody's own mailbox away at the host, and let their next visit look for it."""
    (name,) = (name for name in refs(bare) if name.endswith(node.key.hex()))
    damage(bare, git(bare, "rev-parse", f"{name}{part}"), is_gone=True)
    make_due(folder)


def make_due(folder: Path) -> None:
    """Let it be long ago that somebody looked whether the host still has what is their own."""
    for own in (folder / ".vault" / "git").glob("*.git/own"):
        os.utime(own, (0, 0))


def released_and_let_go(root: Path, alice: Vault, bob: Vault, bare: Path) -> list[bytes]:
    """Share a film in four releases over a git host; return them all, of which both keep the last two."""
    films = [random.Random(number).randbytes(300_000) for number in range(4)]
    for vault in (alice, bob, alice, bob):
        if not any(place.name == "host" for place in places(vault)):
            add_place(vault, "host", str(bare), cwd=root)
        sync(vault, ["host"])
    for film in films:
        (alice.folder / "film.bin").write_bytes(film)
        release(alice)
        sync(alice, ["host"])
        sync(bob, ["host"])
    update(bob)
    for vault in (bob, alice):
        sync(vault, ["host"])
        remove_place(vault, "stick")
        set_keep(vault, "main", Keep("film.bin", 2))
    assert [prune(vault).files for vault in (alice, bob)] == [2, 2]
    return films


def content_let_go(alice: Vault, bare: Path) -> bytes:
    """Fetch the film of the first release back from the host, whose mailbox somebody new can read."""
    with closing(GitPlace.open(git_uri(bare), alice.folder.parent / "somebody new")) as place:
        assert read_head(place, alice.group, alice.node) is not None
    old = resolve(alice, "alice/main@1.0.0")
    assert fetch(alice, old.tree, "film.bin") == ["film.bin"]
    (again,) = sync(alice, ["host"])
    entry = lookup(alice.store, old.tree, "film.bin")
    assert entry is not None
    assert again.problems == []
    return b"".join(entry_pieces(alice.store, entry))


@pytest.mark.parametrize(("cut", "part"), [("delete", ""), ("push", ""), ("push", ":head.rec")])
def test_a_cut_while_what_is_lost_is_pushed_again_loses_nothing(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch, cut: str, part: str
) -> None:
    """CLAY-79, LAZ-63: a line that is cut there says nothing of what the host has; all was written anew for it."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        lose_own(alice.folder, alice.node, bare, part)
        act = getattr(PrivateRepository, cut)
        cuts: list[object] = []

        def once(private: PrivateRepository, *words: object, **how: object) -> None:
            if not cuts and (cut == "delete" or part or how.get("asks_first")):
                cuts.append(words)
                raise PlaceUnreachable("cut")
            act(private, *words, **how)

        monkeypatch.setattr(PrivateRepository, cut, once)
        for vault in (alice, bob, alice, bob, alice):
            with suppress(PlaceUnreachable):  # the visit that is cut ends so
                sync(vault, ["host"])
            make_due(alice.folder)
        assert cuts
        assert content_let_go(alice, bare) == films[0]


class Killed(BaseException):
    """As a power cut, or kill -9: nothing in lace takes note of it."""


def own_branch(vault: Vault, bare: Path) -> str:
    """Return the name of the branch with somebody's mailbox."""
    (name,) = (name for name in refs(bare) if vault.node.key.hex() in name)
    return name


@pytest.mark.parametrize("refused", [("receive.denyDeletes",), ("receive.denyDeletes", "receive.denyNonFastForwards")])
@pytest.mark.parametrize("part", ["^{tree}", ":head.rec", ":files", ":commits"])
def test_a_host_that_lets_no_branch_go_keeps_what_it_alone_has(
    tmp_path: Path, bare: Path, part: str, refused: tuple[str, ...]
) -> None:
    """CLAY-79, LAZ-63: where the branch could not be taken away, all was written anew, without what was let go here."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        for key_ in refused:
            git(bare, "config", key_, "true")
        lose_own(alice.folder, alice.node, bare, part)
        for vault in (alice, bob, alice, bob):
            assert not sync(vault, ["host"])[0].problems
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("when", ["delete", "push"])
@pytest.mark.parametrize("part", ["", "^{tree}", ":head.rec"])
def test_a_kill_while_what_is_lost_is_pushed_again_loses_nothing(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch, part: str, when: str
) -> None:
    """CLAY-79, LAZ-63: the branch was taken away by then, and the next visit wrote anew what was here."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        lose_own(alice.folder, alice.node, bare, part)
        act = getattr(PrivateRepository, when)

        def dies(private: PrivateRepository, *words: object, **how: object) -> None:
            is_before = when == "push" and not part and how["expected"]  # the branch stands still
            if when == "delete" or is_before:
                act(private, *words, **how)
            raise Killed

        with monkeypatch.context() as patch, suppress(Killed):
            patch.setattr(PrivateRepository, when, dies)
            sync(alice, ["host"])
        if not part:  # nor is the cache needed for it
            (private,) = (alice.folder / ".vault" / "git").glob("[0-9a-f]*[0-9a-f].git/own")
            shutil.rmtree(private.parent)
        make_due(alice.folder)
        for vault in (bob, alice, bob, alice):
            sync(vault, ["host"])
        assert content_let_go(alice, bare) == films[0]


def test_what_is_kept_has_a_name_after_a_power_cut_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAZ-63: where a file system is not flushed at once, the directory that it lies in was not."""
    kept = tmp_path / "kept.git"
    (kept / "objects").mkdir(parents=True)
    (kept / "objects/one").write_bytes(b"one")
    flushed: list[Path] = []
    monkeypatch.setattr(upkeep, "can_flush_everything", lambda: False)
    monkeypatch.setattr(upkeep, "fsync_directory", flushed.append)
    upkeep.make_lasting(kept)
    assert set(flushed) == {tmp_path, kept, kept / "objects"}


@pytest.mark.parametrize("part", ["", ":head.rec"])
def test_a_second_part_that_a_host_lost_takes_nothing_with_it(tmp_path: Path, bare: Path, part: str) -> None:
    """CLAY-79, LAZ-63: what was pushed again needed it too and was not taken, and all was written anew for it."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        files = git(bare, "ls-tree", "-r", own_branch(alice, bare), "files/").splitlines()
        runs = [row.split()[2] for row in files if row.endswith(".run")]
        damage(bare, git(bare, "show", runs[-1]).split("\n")[2], is_gone=True)
        lose_own(alice.folder, alice.node, bare, part)
        for vault in (alice, bob, alice, bob, alice):
            sync(vault, ["host"])
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("part", ["", "^{tree}", ":head.rec"])
def test_a_host_of_the_old_protocol_keeps_what_it_alone_has(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """CLAY-79, LAZ-63: it cannot be asked what it has beside its branches, so all was written anew."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
        tip = refs(bare)[own_branch(alice, bare)]
        kept = git(bare, "cat-file", "commit", tip)
        lose_own(alice.folder, alice.node, bare, part)
        for vault in (alice, bob, alice, bob):
            with suppress(PlaceDamaged):
                sync(vault, ["host"])
        if not part:  # nobody but the host's keeper can put that right, and then all of it is there
            assert refs(bare)[own_branch(alice, bare)] == tip
            git(bare, "hash-object", "-w", "-t", "commit", "--stdin", stdin=f"{kept}\n".encode())
            sync(alice, ["host"])
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("part", ["^{tree}", ":head.rec", ":files", ":data", ":commits"])
def test_what_lies_at_the_host_alone_outlives_a_part_that_a_power_cut_emptied(
    tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch, part: str, old: bool
) -> None:
    """CLAY-79, LAZ-63: git there takes nothing under that name any more, and all was written anew."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        if old:
            monkeypatch.setattr(command, "_CONFIG", command._CONFIG.replace("version = 2", "version = 0"))
        damage(bare, git(bare, "rev-parse", f"{own_branch(alice, bare)}{part}"), is_gone=False)
        make_due(alice.folder)
        for vault in (alice, bob, alice, bob):
            sync(vault, ["host"])
        assert not [problem for vault in (alice, bob) for problem in sync(vault, ["host"])[0].problems]
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("is_fetched", [False, True])
@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_branch_that_somebody_deleted_is_brought_back(
    tmp_path: Path, bare: Path, is_cleared: bool, is_fetched: bool
) -> None:
    """CLAY-79, CYB-17: what the host still had was written anew without what was let go here."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        if is_fetched:
            begin_private_anew(alice)
        for _ in range(2):
            git(bare, "update-ref", "-d", own_branch(alice, bare))
            if is_cleared:
                git(bare, "gc", "--prune=now", "--quiet")
            for vault in (bob, alice, bob, alice):
                assert not sync(vault, ["host"])[0].problems
            if is_fetched:
                begin_private_anew(alice)
        if not is_cleared:
            assert content_let_go(alice, bare) == films[0]
        again = sync(alice, ["host"])[0]
        assert (again.problems, again.sent) == ([], 0)


def test_a_host_that_takes_back_no_branch_is_read_all_the_same(tmp_path: Path, bare: Path) -> None:
    """CLAY-79, CYB-17: what a friend shares comes, and nothing is written over what is to be brought back."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        git(bare, "update-ref", "-d", own_branch(alice, bare))
        (bob.folder / "new.txt").write_text("new")
        release(bob)
        sync(bob, ["host"])
        git(bare, "config", "receive.maxInputSize", "1")
        (again,) = sync(alice, ["host"])
        assert again.refusal is not None
        assert again.received
        git(bare, "config", "--unset", "receive.maxInputSize")
        sync(alice, ["host"])
        assert content_let_go(alice, bare) == films[0]


def test_a_tip_that_a_host_lost_and_does_not_let_go_loses_nothing(tmp_path: Path, bare: Path) -> None:
    """APP-14, CLAY-79: its keeper was told to delete the branch, and then all was written anew."""
    with closing(found(tmp_path)) as alice, closing(befriend(tmp_path, alice, "bob")) as bob:
        films = released_and_let_go(tmp_path, alice, bob, bare)
        git(bare, "config", "receive.denyDeletes", "true")
        lose_own(alice.folder, alice.node, bare, "")
        (again,) = sync(alice, ["host"])
        assert any("which the host refuses" in problem.message for problem in again.problems)
        assert any("allow you to delete branches" in problem.hint for problem in again.problems)
        git(bare, "update-ref", "-d", own_branch(alice, bare))  # as its keeper may
        for vault in (alice, bob):
            assert not sync(vault, ["host"])[0].problems
        assert content_let_go(alice, bare) == films[0]


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("part", ["^{tree}", ":head.rec", ":files", ":data"])
def test_a_host_that_hangs_up_at_what_is_empty_is_given_it_otherwise(tmp_path: Path, part: str, is_gone: bool) -> None:
    """LAZ-63, APP-14: over a line that says nothing of it each visit of the owner ended as over a cut one."""
    bare = bare_repository(tmp_path / "served" / "v.git")
    with daemon(tmp_path / "served") as address:
        uri, stored = address + bare.name, noise(4)
        with closing(GitPlace.create(uri, tmp_path / "a", entropy=os.urandom)) as owner:
            _, seen = put(owner, key(1), additions(stored))
            ref = f"refs/heads/lace/{owner.ref(GROUP, NODE)}"
            os.utime(owner.private.path / "own", (0, 0))
        tip = refs(bare)[ref]
        damage(bare, git(bare, "rev-parse", f"{tip}{part}"), is_gone=False)
        if is_gone:
            damage(bare, tip, is_gone=True)
        with closing(GitPlace.open(uri, tmp_path / "a", mends=True)) as owner:
            box = owner.mailbox(GROUP, NODE)
            assert box is not None
            assert box.files
            if box.head is None:
                writer = owner.writer(GROUP, NODE)
                writer.publish_head(seal_head(key(1), make_head(key(1), owner.place_id, 2, seen.head.runs)).encode())
        with closing(GitPlace.open(uri, tmp_path / "b")) as reader:
            assert got(reader) == stored


def test_a_host_that_stumbles_over_what_lies_here_says_which_place_it_is(tmp_path: Path) -> None:
    """CYB-17: after the private repository was begun anew, every visit ended before anything was read."""
    bare = bare_repository(tmp_path / "served" / "v.git")
    with daemon(tmp_path / "served") as address:
        uri = address + bare.name
        with closing(GitPlace.create(uri, tmp_path / "a", entropy=os.urandom)) as owner:
            put(owner, key(1), additions(some_records(3)))
            name = owner.ref(GROUP, NODE)
        with closing(GitPlace.open(uri, tmp_path / "b", owner.place_id)) as reader:
            assert len(got(reader)) == 3
            (reader.private.path / "refs" / "lace" / "seen" / "place").unlink()
        damage(bare, git(bare, "rev-parse", f"refs/heads/lace/{name}^{{tree}}"), is_gone=False)
        with closing(GitPlace.open(uri, tmp_path / "b", owner.place_id)) as reader:
            assert len(reader.nodes(GROUP)) == 1


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
def test_who_only_looks_pushes_nothing_again(alice: Person, bob: Person, bare: Path, words: tuple[str, ...]) -> None:
    """APP-19, LAZ-63: a dry run and a pull took the owner's branch away and pushed it."""
    met(alice, bob, bare)
    lose_own(alice.folder, Verifier.parse(alice.lace("id")["node"]), bare, ":head.rec")
    before = refs(bare)
    alice.run(*words)
    assert refs(bare) == before
    alice.lace("sync", "host")
    assert refs(bare) != before


def test_a_reader_is_told_of_another_place_too(alice: Person, bob: Person, bare: Path, tmp_path: Path) -> None:
    """LAZ-63: an owner who syncs there no more tells nobody anew."""
    damage(bare, shared(alice, bob, bare)["first"], is_gone=True)
    assert "let alice bring it to another place: lace place add OTHER URI" in bob.text("sync", "host", expect=1)
    other = bare_repository(tmp_path / "other.git")
    for person in (alice, bob):
        person.lace("place", "add", "other", str(other))
    alice.lace("sync", "other")
    assert [new["version"] for new in bob.lace("sync", "other")["releases"]] == ["1.0.1"]


def count_asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the objects which are asked for from now on."""
    asked: list[str] = []
    fetch = PrivateRepository.fetch_objects

    def counted(private: PrivateRepository, oids: list[str], size: int) -> None:
        asked.extend(oids)
        fetch(private, oids, size)

    monkeypatch.setattr(PrivateRepository, "fetch_objects", counted)
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
            assert private.commits_there([]) == set()
            pieces = {oid: ("blob", oid) for oid in box.data[there].pieces}
            assert private.store_commit(private.store_tree(pieces)) == there
            other = private.store_commit(private.store_tree({}))
            assert private.commits_there([there, other]) == (None if old else {there})
            tip = owner.tip(name)
            assert tip is not None
            assert not private.lacks_commit(tip)
            damage(bare, git(bare, "rev-parse", f"{tip}:head.rec"), is_gone=True)
            assert not private.lacks_commit(tip)
            damage(bare, git(bare, "rev-parse", f"{tip}^{{tree}}"), is_gone=True)
            assert not private.lacks_commit(tip)
            damage(bare, tip, is_gone=True)
            assert private.lacks_commit(tip)


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

    def cut(_private: PrivateRepository, oids: list[str], _size: int) -> None:
        asked.extend(oids)
        raise PlaceUnreachable("The line is cut.")

    with monkeypatch.context() as patch, closing(at("a")) as owner:
        patch.setattr(PrivateRepository, "fetch_objects", cut)
        assert owner.files(GROUP, NODE).keys() == box.files.keys()
    assert len(asked) == 1
    with closing(at("a")) as owner:
        assert len(owner.files(GROUP, NODE)) == len(box.files) - 1


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
