"""Two and three people over one bare repository, by the commands they run (APP-6, APP-7, CYB-15, CYB-17)."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from lazy.places.adding import add_place
from lazy.sync import move, prepare, sync
from tests.people import Person
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository, git
from tests.transports.git_places import begun, make_met, refs
from tests.vault.vaults import befriended, write
from transports.errors import PlaceCrowded, PlaceUnreachable, PushRejected, WrongDrop
from transports.git.command import GitRunner
from transports.git.object_files import ObjectFiles
from transports.git.place import GitPlace
from transports.git.talks import Talks
from vault.lock import VaultLock
from vault.names import Version
from vault.records import Verifier
from vault.releasing import release


def test_friends_share_releases_over_a_bare_repository(alice: Person, bob: Person, cara: Person, bare: Path) -> None:
    commit = git(bare, "commit-tree", git(bare, "mktree"), "-m", "mine")
    git(bare, "update-ref", "refs/heads/main", commit)
    alice.lace("init", "--name", "alice")
    added = alice.lace("place", "add", "host", str(bare))
    assert (added["kind"], added["uri"]) == ("git", f"git+{bare.as_uri()}")
    for friend in (bob, cara):
        friend.lace("accept", alice.lace("invite", friend.name)["invite"], "--name", friend.name)
        friend.lace("sync", "host")
    for person in (alice, bob, cara, alice):
        person.lace("sync", "host")
    alice.write("notes.txt", "one\n")
    alice.write("photo.bin", bytes(range(256)) * 10_000)
    made = alice.lace("release", "1.0.0", "-m", "first")
    sent = alice.lace("sync", "host")
    assert sent["transport"] == "git"
    assert sent["sent"] > 0
    for friend in (bob, cara):
        got = friend.lace("sync", "host")
        assert got["fixed_point"]
        assert [(new["name"], new["release"]) for new in got["releases"]] == [("alice", made["release"])]
        friend.lace("update")
        assert (friend.folder / "photo.bin").read_bytes() == bytes(range(256)) * 10_000
    bob.write("notes.txt", "one\ntwo\n")
    bob.lace("release", "1.1.0", "-m", "second")
    bob.lace("sync", "host")
    alice.lace("sync", "host")
    alice.lace("update")
    assert (alice.folder / "notes.txt").read_text() == "one\ntwo\n"
    again = alice.lace("sync", "host")
    assert (again["received"], again["fixed_point"]) == (0, True)
    vectors = [person.lace("sync", "host")["vector_after"] for person in (cara, bob, alice)]
    assert vectors[0] == vectors[1] == vectors[2]
    assert git(bare, "rev-parse", "refs/heads/main") == commit


def test_a_repository_that_went_away_leaves_the_work_queued(alice: Person, bare: Path) -> None:
    # LAZ-24: what waits stays queued until the host is back
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "host", f"git+{bare.as_uri()}")
    alice.lace("sync", "host")
    alice.write("notes.txt", "one\n")
    alice.lace("release", "1.0.0")
    away = bare.with_name("away")
    shutil.move(bare, away)
    assert alice.lace("push", "host")["queued"]
    failed = alice.run("--json", "sync", "host")
    assert failed.code == 20
    shutil.move(away, bare)
    assert alice.lace("push", "host")["sent"] > 0


def test_a_place_that_cannot_be_added_is_told_with_a_way_out(
    alice: Person, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-14: by what a person can do about it, and nothing is offered that needs the place."""
    alice.lace("init", "--name", "alice")
    (tmp_path / "work" / ".git").mkdir(parents=True)
    for address, way in (
        (str(tmp_path / "gone.git"), f"git init --bare {tmp_path / 'gone.git'}"),
        (str(tmp_path / "work"), f"or its git repository: {tmp_path / 'work' / '.git'}"),
    ):
        assert way in alice.run("place", "add", "host", address).err

    def refuse(_: Talks, *words: object, **__: object) -> None:
        raise PushRejected("The git place takes in no change.")

    monkeypatch.setattr(Talks, "push", refuse)
    error = alice.run("--json", "place", "add", "host", str(bare)).json["error"]
    assert (error["code"], error["hint"]) == ("push-rejected", "Let the host accept pushes to branches below lace/.")

    exists = Path.exists

    def unseen(path: Path, **follows: bool) -> bool:
        if path == bare:
            raise PermissionError(13, "Permission denied")
        return exists(path, **follows)

    monkeypatch.setattr(Path, "exists", unseen)
    done = alice.run("place", "add", "host", f"git+{bare.as_uri()}")
    assert (done.code, f"{bare} cannot be read: permission denied" in done.err) == (20, True)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C stop this process, which whoever began it behind a shell may have switched off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("first", [False, True])
def test_a_command_that_waits_for_another_at_a_git_place_says_so(alice: Person, bare: Path, first: bool) -> None:
    """APP-13: as where another writes to the vault; the first Ctrl-C ends the waiting."""
    alice.lace("init", "--name", "alice")
    git_home = alice.folder / ".vault" / "git"
    if not first:
        alice.lace("place", "add", "host", str(bare))
    slept = 0.0

    def sleep(seconds: float) -> None:
        nonlocal slept
        slept += seconds
        if slept > 3.0 and stops:
            signal.raise_signal(signal.SIGINT)
        elif slept > 3.0:
            holding.close()

    alice.world["sleep"] = sleep
    for stops in (True, False):
        slept = 0.0
        for seen in git_home.glob("*.git/refs/lace/seen/place"):
            seen.unlink()  # what it is asked for
        (lock,) = [git_home / "lace-begin"] if first else [path / "lace-fetch" for path in git_home.glob("*.git")]
        lock.parent.mkdir(exist_ok=True)
        with ExitStack() as holding:
            holding.enter_context(VaultLock(lock).held())
            done = alice.run("--json", *(("place", "add", "host", str(bare)) if first else ("sync", "host")))
        doing = "is asking a git place for the first time" if first else f"is asking {bare}"
        assert done.err.count(f"Waiting for process {os.getpid()}, which {doing}. Ctrl-C stops that.") == 1
        assert (done.code, done.json.get("error", {}).get("code")) == ((130, "cancelled") if stops else (0, None))


def test_a_password_in_an_address_is_refused_and_not_repeated(alice: Person) -> None:
    """CYB-15, LAZ-63: whatever else is wrong with the address, and wherever one is taken for a name."""
    alice.lace("init", "--name", "alice")
    for address in (
        "https://alice:geheim@example.org/v.git",
        "https://alice:geheim@example.org:99999/d",
        "https://alice:ge/geheim@[::1/x",
        "https://geheim@example.org:x/d",
        "https://alice:geheim@h/#V.abc",
        "https://h/v.git?token=geheim",
        "https://h/d#geheim",
        "sftp://alice:geheim@h/x",
        "file://alice:geheim@h/x",
        "alice:geheim@h:v.git",
        "oauth2:geheim@example.org/v.git",
        "https//alice:geheim@example.org/d",
        "//alice:geheim@example.org/v.git",
        "https://alice:1234/5geheim@example.org/v.git",
        "https://alice:1234/5geheim@example.org/d",
        "alice:1234/5geheim@example.git",
        "alice@example.org:geheim@example.org/v.git",
    ):
        for words in (
            ("place", "add", "host", address),
            ("--json", "place", "add", "host", address),
            ("sync", address),
        ):
            done = alice.run(*words)
            assert done.code == 2, (words, done.err)
            assert "geheim" not in done.text + done.err, words
    for before, behind in (
        (["place", "add"], ["stick"]),
        (["place", "add", "my", "host"], []),
        (["place", "remove"], []),
        (["peers"], []),
        (["log"], []),
        ([], []),
    ):
        done = alice.run(*before, address, *behind)
        assert (done.code, "geheim" in done.text + done.err) == (2, False), before
    assert [path.name for path in alice.folder.iterdir()] == [".vault"]
    assert "geheim" not in alice.run("places").text + alice.run("--json", "audit", "list").text
    told = alice.run("place", "add", "host", "https://example.org:99999/dir").err
    assert told.startswith("'https://example.org:99999/dir' is not a web address")


def test_a_vault_restored_without_its_private_repository_goes_on(alice: Person, bob: Person, bare: Path) -> None:
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "host", str(bare))
    bob.lace("accept", alice.lace("invite", "bob")["invite"], "--name", "bob")
    for person in (bob, alice, bob, alice):
        person.lace("sync", "host")
    shutil.rmtree(alice.folder / ".vault" / "git")
    alice.write("notes.txt", "one\n")
    alice.lace("release", "1.0.0")
    alice.lace("sync", "host")
    assert bob.lace("sync", "host")["received"] > 0
    bob.lace("update")
    assert (bob.folder / "notes.txt").read_text() == "one\n"


def test_no_git_stays_after_a_visit(tmp_path: Path, shelf: Shelf, bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever becomes of a visit, and of whoever holds on to what it raised."""
    started: list[subprocess.Popen[bytes]] = []
    real = GitRunner.stay

    def stay(runner: GitRunner, *words: str) -> subprocess.Popen[bytes]:
        started.append(real(runner, *words))
        return started[-1]

    def ended() -> int:
        number = len(started)
        assert all(process.returncode is not None for process in started)
        started.clear()
        return number

    alice, bob = shelf.lay(befriended, "bob")
    monkeypatch.setattr(ObjectFiles, "_look", lambda _files: False)  # of what is plain no git is asked
    monkeypatch.setattr(GitRunner, "stay", stay)
    for vault in (alice, bob):
        add_place(vault, "host", f"git+{bare.as_uri()}", cwd=tmp_path)
    sync(alice, ["host"])
    ended()
    write(alice, "a.txt", "one\n")
    release(alice, Version(1, 0, 0))
    sync(alice, ["host"])
    assert ended()
    shown = prepare(bob, ["host"])
    assert ended()
    move(bob, shown)
    assert ended()
    place = GitPlace.open(f"git+{bare.as_uri()}", tmp_path / "other")
    with pytest.raises(WrongDrop) as held:
        GitPlace.open(f"git+{bare.as_uri()}", tmp_path / "other", "0" * 32)
    place.close()
    assert ended(), held
    bob.close()
    alice.close()


@pytest.mark.parametrize("kind", ["git", "drop"])
def test_what_lies_where_a_place_was_is_gone_on_with_by_the_commands_that_are_named(
    alice: Person, tmp_path: Path, kind: str
) -> None:
    """LAZ-63, CYB-15: typed as they stand they work, and what was encrypted stays so."""
    place = tmp_path / "a place.git" if kind == "git" else tmp_path / "a place"
    if kind == "git":
        bare_repository(place)
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "our place", str(place), "--encrypt")
    alice.write("a.md", "a\n")
    alice.lace("release", "1.0.0")
    alice.lace("sync")
    if kind == "git":
        shutil.rmtree(place)
        bare_repository(place)
    else:
        (place / "lace-drop.txt").write_bytes(b"lace-drop/0\nid " + b"e" * 32 + b"\n")
    error = alice.lace("sync", expect=21)["error"]
    assert error["code"] == ("place-unmarked" if kind == "git" else "wrong-drop")
    for command in error["hint"].partition("To go on with this one: ")[2].split("; "):
        alice.lace(*shlex.split(command)[1:])
    assert alice.lace("sync")["sent"] > 0
    assert [(one["place"], one["encrypted"]) for one in alice.lace("places")["places"]] == [("our place", True)]


@pytest.mark.parametrize("how", ["bad list", "lost object"])
@pytest.mark.parametrize("refuses", [False, True])
def test_a_sync_of_the_owner_puts_a_damaged_mailbox_right_and_nobody_else_is_kept_out(
    shelf: Shelf, alice: Person, bob: Person, bare: Path, how: str, refuses: bool
) -> None:
    # CYB-17, faults 8: whoever may push, or a host that loses an object, spoils one mailbox and not the place.
    shelf.lay(make_met)
    git(bare, "config", "receive.denyNonFastForwards", "true" if refuses else "false")
    key = Verifier.parse(alice.lace("id")["node"]).key.hex()
    (ref,) = (line for line in git(bare, "for-each-ref", "--format=%(refname)").split() if line.endswith(key))
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"lace-pieces/0\nsize 5\n")
    tree = git(bare, "mktree", stdin=f"100644 blob {blob}\tr-{'0' * 32}.run\n".encode())
    tree = git(bare, "mktree", stdin=f"040000 tree {tree}\tfiles\n".encode())
    git(bare, "update-ref", ref, git(bare, "commit-tree", tree, "-m", "x"))
    if how == "lost object":
        (bare / "objects" / blob[:2] / blob[2:]).unlink()
    bob.write("more.txt", "of bob\n")
    bob.lace("release", "1.1.0")
    # What it lists bob has: he reads no more of it than its head.
    got = bob.lace("sync", "host", expect=int(how == "lost object"))
    assert got["sent"] > 0
    alice.write("notes.txt", "two\n")
    alice.lace("release", "1.0.1")
    assert alice.lace("sync", "host")["sent"] > 0
    assert [new["version"] for new in bob.lace("sync", "host")["releases"]] == ["1.0.1"]
    assert alice.lace("sync", "host")["fixed_point"]


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_power_cut_after_a_push_needs_nobody_to_mend_the_private_repository(
    alice: Person, bare: Path, is_gone: bool
) -> None:
    # Faults 1: what is pushed is not flushed here; the far side has it.
    begun(alice, bare)
    alice.lace("sync", "host")
    torn = list((alice.folder / ".vault" / "git").glob("*.git/objects/??/*"))
    assert torn
    for path in torn:
        path.unlink()
        if not is_gone:
            path.touch()
    alice.write("notes.txt", "two\n")
    alice.lace("release", "1.0.1")
    assert alice.lace("sync", "host")["sent"] > 0
    assert (alice.lace("sync", "host")["sent"], alice.lace("sync", "host")["fixed_point"]) == (0, True)


@pytest.mark.parametrize("talk", ["fetch_refs", "fetch_objects"])
def test_a_line_that_is_cut_while_my_mailbox_comes_replaces_nothing(
    shelf: Shelf,
    alice: Person,
    bob: Person,
    bare: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    talk: str,
) -> None:
    # CYB-18, faults 5: what a restored vault lacks may lie in its mailbox alone.
    shelf.lay(make_met)
    for here, kept in ((alice.folder, tmp_path / "folder"), (alice.home, tmp_path / "home")):
        shutil.copytree(here, kept, symlinks=True)
    alice.write("only.txt", "nobody else has this\n")
    alice.lace("release", "1.0.1")
    alice.lace("sync", "host")
    for here, kept in ((alice.folder, tmp_path / "folder"), (alice.home, tmp_path / "home")):
        shutil.rmtree(here)
        shutil.copytree(kept, here, symlinks=True)
    refs = git(bare, "for-each-ref")
    key = Verifier.parse(alice.lace("id")["node"]).key.hex()
    fetch = getattr(Talks, talk)
    cuts: list[Sequence[str]] = []

    def cut(talks: Talks, names: Sequence[str], *size: int) -> None:
        if (size or any(key in name for name in names)) and len(cuts) < 2:
            cuts.append(names)
            raise PlaceUnreachable("The line was cut.")
        fetch(talks, names, *size)

    monkeypatch.setattr(Talks, talk, cut)
    assert alice.run("sync", "host").code == PlaceUnreachable.exit_code
    assert len(cuts) == 2
    assert git(bare, "for-each-ref") == refs
    alice.run("sync", "host")
    assert [new["version"] for new in bob.lace("sync", "host")["releases"]] == ["1.0.1"]


def test_a_crowded_place_offers_another_place_under_another_name(
    alice: Person, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-14: the way out named the crowded place itself, whose name is taken; there, all goes on."""
    begun(alice, bare)
    alice.lace("sync", "host")
    monkeypatch.setattr("transports.git.view.NODES_LIMIT", 0)
    told = alice.run("sync", "host")
    assert told.code == PlaceCrowded.exit_code
    assert "lace place add OTHER URI" in told.err
    (branch,) = (name.removeprefix("refs/heads/") for name in refs(bare) if not name.endswith("/place"))
    assert f"The members' branches there are alice: {branch[:33]}..." in " ".join(told.err.split())
    assert "place add OTHER URI" in alice.run("status").out.decode()
    monkeypatch.undo()
    alice.lace("place", "add", "OTHER", str(bare_repository(tmp_path / "other.git")))
    assert alice.lace("sync", "OTHER")["sent"] > 0
