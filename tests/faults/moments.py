"""The moments before each command that is disturbed (`tests.faults.scenes`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random

from tests.faults.scenes import Command, Scene, Stage
from tests.people import Person
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository
from tests.transports.git_places import in_small_packs
from vault.profile import NodeCard
from vault.records import Seal, Tai
from vault.suite import SigningKey

__all__ = ["COMMANDS", "prepared"]

EVE = SigningKey.from_seed(b"\x08" * 32)
LINES = "".join(f"line {number}\n" for number in range(30))


def _begun(stage: Stage, *options: str) -> tuple[Person, Person]:
    """Alice with a release and a stick, and bob who has it."""
    if stage.shelf is None:
        _begin(stage.root, *options)
    else:
        stage.shelf.lay(_begin, *options)
    return stage.person("alice"), stage.person("bob")


def _begin(root: Path, *options: str) -> None:
    stage = Stage(root)
    alice, bob = stage.person("alice"), stage.person("bob")
    alice.write("menu.md", LINES)
    alice.write("deep/er/wine.md", LINES)
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stage.stick), *options)
    alice.lace("release", "1.0.0", "-m", "first")
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", line)
    for person in (alice, bob):
        person.lace("sync", "stick")
    bob.lace("update")


def _edited(person: Person, word: str = "new") -> None:
    person.write("menu.md", LINES.replace("line 3\n", f"line 3 {word}\n"))
    for number in range(5):
        person.write(f"notes/{number}.md", f"{word} {number}\n")
    (person.folder / "deep/er/wine.md").unlink(missing_ok=True)
    person.write("big.bin", Random(5).randbytes(700_000))  # chunks under a manifest, in frames of a pack


def _commit(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    return ["commit", "-m", "more"]


def _keep_out(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    alice.lace("commit", "-m", "more")
    alice.write(".laceignore", "notes/\nbig.bin\n")
    alice.lace("commit", "-m", "what is mine alone")
    alice.write("notes/0.md", "mine alone\n")
    return ["commit", "-m", "mine alone", "--keep-out", "notes", "big.bin"]


def _release(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    return ["release", "--yes", "-m", "more"]


def _push(stage: Stage, options: tuple[str, ...] = ()) -> list[str]:
    alice, _ = _begun(stage, *options)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    return ["push", "stick"]


def _pull(stage: Stage, options: tuple[str, ...] = ()) -> list[str]:
    alice, _ = _begun(stage, *options)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    alice.lace("push", "stick")
    return ["pull", "stick"]


def _on_road(stage: Stage, *options: str) -> Person:
    """Alice and bob who meet at a git place too, and what alice released and bob lacks."""
    alice, bob = _begun(stage)
    bare_repository(stage.road)
    for person in (alice, bob):
        person.lace("place", "add", "road", str(stage.road), *options)
    for person in (alice, bob, alice, bob):
        person.lace("sync", "road")
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    return alice


def _road_push(stage: Stage, options: tuple[str, ...] = ()) -> list[str]:
    _on_road(stage, *options)
    return ["push", "road"]


def _road_pull(stage: Stage, options: tuple[str, ...] = ()) -> list[str]:
    _on_road(stage, *options).lace("push", "road")
    return ["pull", "road"]


def _road_fold(stage: Stage) -> list[str]:
    """Bob, in whose private repository many visits left each object in a pack of its own."""
    words = _road_pull(stage)
    (repository,) = (stage.person("bob").folder / ".vault/git").glob("*.git")
    in_small_packs(repository)
    return words


def _road_first(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    bare_repository(stage.road)
    alice.lace("place", "add", "road", str(stage.road))
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    return ["sync", "road"]


def _encrypt(stage: Stage, name: str = "stick") -> list[str]:
    """Alice, who lies in plain somewhere and encrypts from now on, and bob, who reads her and wrote nothing yet.

    What he wrote would rest on files of hers, and be whole again only once he came by.
    """
    alice, bob = stage.person("alice"), stage.person("bob")
    _edited(alice)
    alice.lace("init", "--name", "alice")
    if name == "road":
        bare_repository(stage.road)
    alice.lace("place", "add", name, str(getattr(stage, name)))
    alice.lace("release", "1.0.0", "-m", "first")
    bob.lace("accept", alice.lace("invite", "bob")["invite"])
    alice.lace("sync", name)
    for person, verb in ((bob, "pull"), (alice, "sync"), (bob, "pull")):
        person.lace(verb, name)
    alice.lace("place", "set", name, "--encrypt")
    return ["sync", name]


def _update(stage: Stage) -> list[str]:
    alice, bob = _begun(stage)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    alice.lace("push", "stick")
    bob.lace("pull", "stick")
    bob.write("menu.md", LINES.replace("line 25\n", "line 25 of bob\n"))
    bob.write("bob.md", "bob\n")
    return ["update"]


def _conflict(stage: Stage) -> tuple[Person, Person]:
    alice, bob = _begun(stage)
    _edited(alice)
    alice.lace("release", "2.0.0", "-m", "more")
    bob.write("menu.md", LINES.replace("line 3\n", "line 3 of bob\n"))
    bob.lace("release", "2.0.0", "-m", "mine")
    for person in (alice, bob, alice):
        person.run("sync", "stick")
    return alice, bob


def _resolve(stage: Stage) -> list[str]:
    _conflict(stage)
    return ["resolve", "2.0.0", "--prefer", "alice"]


def _merged(stage: Stage) -> list[str]:
    _conflict(stage)
    return ["resolve", "2.0.0", "--merged", "2.0.1", "-m", "both"]


def _adopt(stage: Stage) -> list[str]:
    _begun(stage)
    return ["adopt", "--yes"]


def _init(stage: Stage) -> list[str]:
    stage.person("alice").write("menu.md", LINES)
    return ["init", "--name", "alice"]


def _accept(stage: Stage) -> list[str]:
    alice = stage.person("alice")
    alice.write("menu.md", LINES)
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(stage.stick))
    alice.lace("release", "1.0.0", "-m", "first")
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    stage.person("bob").write("own.md", "own\n")
    return ["accept", line]


def _checkout(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    return ["checkout", "main@1.0.0"]


def _prune(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    draw = Random(7)
    for number in range(4):
        alice.write("big.bin", draw.randbytes(300_000))
        alice.write("small.txt", f"{number}\n")
        alice.lace("commit", "-m", f"draft {number}")
    alice.lace("undo")  # of which nothing reaches what it held
    return ["prune", "--yes"]


def _undo(stage: Stage) -> list[str]:
    words = _update(stage)
    bob = stage.person("bob")
    (bob.folder / "bob.md").unlink()
    bob.write("menu.md", LINES)
    bob.lace(*words)
    return ["undo"]


def _create(stage: Stage) -> list[str]:
    _push(stage)
    return ["bundle", "create", str(stage.post)]


def _apply(stage: Stage) -> list[str]:
    stage.person("alice").lace(*_create(stage))
    return ["bundle", "apply", str(stage.post)]


def _repair(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    alice.lace("push", "stick")
    path = max((alice.folder / ".vault/packs").iterdir())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return ["fsck", "--repair"]


def _salvage(table: str, stage: Stage) -> list[str]:
    """Alice with drafts that nobody else has, in whose store the page above all of a table or an index rotted."""
    alice, _ = _begun(stage)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    alice.lace("push", "stick")
    alice.write("menu.md", "mine alone\n")
    alice.lace("commit", "-m", "mine alone")
    path = alice.folder / ".vault/store.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchall()
        ((size,),) = db.execute("PRAGMA page_size").fetchall()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size] ^= 1
    path.write_bytes(data)
    return ["fsck", "--repair"]


def _large(stage: Stage) -> Person:
    """Alice with more files than are flushed one by one, and contents that threads write and flush."""
    alice, _ = _begun(stage)
    for number in range(24):
        alice.write(f"album {number % 5}/{number}.md", f"song {number}\n")
    draw = Random(11)
    alice.write("film.bin", draw.randbytes(3 << 20))
    alice.write("deep/sound.bin", draw.randbytes(5 << 18))
    return alice


def _large_commit(stage: Stage) -> list[str]:
    _large(stage)
    return ["commit", "-m", "large"]


def _large_pull(stage: Stage) -> list[str]:
    alice = _large(stage)
    alice.lace("release", "--yes", "-m", "large")
    alice.lace("push", "stick")
    return ["pull", "stick"]


def _large_update(stage: Stage) -> list[str]:
    stage.person("bob").lace(*_large_pull(stage))
    return ["update"]


def _path(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    for number in range(4):
        alice.write(f"deep/{number % 2}/{number}.md", f"first {number}\n")
    alice.lace("release", "1.1.0", "-m", "deep")
    for number in range(3):
        alice.write(f"deep/{number % 2}/{number}.md", f"second {number}\n")
    (alice.folder / "deep/1/3.md").unlink()
    alice.write("deep/new/4.md", "new\n")
    alice.lace("release", "1.2.0", "-m", "deeper")
    return ["checkout", "main@1.1.0", "deep"]


def _several(stage: Stage) -> list[str]:
    alice = stage.person("alice")
    alice.lace(*_path(stage))
    alice.lace("checkout", "main@1.2.0", "deep/1")
    return ["checkout", "main"]


def _undo_path(stage: Stage) -> list[str]:
    stage.person("alice").lace(*_path(stage))
    return ["undo"]


def _over_edits(stage: Stage) -> list[str]:
    words = _path(stage)
    alice = stage.person("alice")
    alice.write("deep/1/1.md", "a wrong edit\n")
    alice.write("deep/own.md", "a file of hers\n")
    alice.write("menu.md", "edited, and not named\n")
    return [*words, "--keep-edits"]


def _newer_part(stage: Stage) -> tuple[Person, Person]:
    """Bob with a part of a release of alice's, and another release."""
    alice, bob = _begun(stage)
    for version, word in (("1.1.0", "first"), ("1.2.0", "second")):
        for number in range(4):
            alice.write(f"notes/{number}.md", f"{word if number else 'always'} {number}\n")
        alice.write("menu.md", LINES.replace("line 3\n", f"line 3 {word}\n"))
        if version == "1.2.0":
            (alice.folder / "notes/3.md").unlink()
        alice.lace("release", version, "-m", word)
        alice.lace("push", "stick")
        if version == "1.1.0":
            bob.lace("pull", "stick", "--path", "notes")
            bob.lace("checkout", "alice/main", "notes")
    return alice, bob


def _part(stage: Stage) -> list[str]:
    _newer_part(stage)[1].lace("pull", "stick", "--path", "notes")
    return ["checkout", "alice/main", "notes"]


def _completing(stage: Stage) -> list[str]:
    _newer_part(stage)[1].lace("pull", "stick")
    return ["update"]


def _gone(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    for number in range(3):
        alice.write(f"deep/{number}/song.md", f"song {number}\n")
    alice.lace("release", "1.1.0", "-m", "deep")
    for name in ("deep/0", "deep/1"):
        (alice.folder / name / "song.md").unlink()
    (alice.folder / "deep/0").rmdir()  # and the other one is empty
    return ["checkout", "main"]


def _copy(stage: Stage) -> list[str]:
    _large(stage).lace("release", "1.1.0", "-m", "large")
    return ["checkout", "main@1.1.0", "--to", str(stage.out / "new/copy")]


def _archive(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    alice.lace("release", "1.1.0", "-m", "more")
    return ["archive", "main@1.1.0", str(stage.out / "menu.tar.gz")]


def _drafts(stage: Stage) -> list[str]:
    _conflict(stage)
    return ["conflicts", "--drafts", str(stage.out / "new/drafts")]


def _export(stage: Stage) -> list[str]:
    _begun(stage)
    return ["export", str(stage.out / "new/history")]


def _merge(stage: Stage) -> list[str]:
    words = _update(stage)
    del words
    stage.person("bob").lace("commit", "-m", "mine")
    return ["merge", "main", "--from", "alice/main", "--strategy", "mate"]


def _small(words: Sequence[str], stage: Stage) -> list[str]:
    """One of alice's small commands; a word that begins with @ is a path beside the folders."""
    _begun(stage)
    return [str(stage.now / word.removeprefix("@")) if word.startswith("@") else word for word in words]


def _prune_releases(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    draw = Random(13)
    for number in range(3):
        alice.write("films/big.bin", draw.randbytes(300_000))
        alice.lace("release", "--yes", "-m", f"film {number}")
    for person in ("alice", "bob", "alice"):
        stage.person(person).lace("sync", "stick")
    alice.lace("desk", "keep", "films", "1")
    return ["prune", "--yes"]


def _fetch(stage: Stage) -> list[str]:
    stage.person("alice").lace(*_prune_releases(stage))
    return ["fetch", "main@1.0.1"]


def _fetched(stage: Stage) -> list[str]:
    stage.person("alice").lace(*_fetch(stage))
    return ["sync", "stick"]


def _carried(stage: Stage) -> list[str]:
    alice, _ = _begun(stage)
    _edited(alice)
    alice.lace("release", "--yes", "-m", "more")
    carried = stage.now / "carried.records"
    carried.write_bytes(alice.run("record", "export", "shared").out)
    return ["record", "put", str(carried)]


def _stranger(stage: Stage) -> Person:
    """Alice, who was handed a record of eve's that waits until eve belongs."""
    alice, _ = _begun(stage)
    group, tai = str(alice.lace("id")["group"]), Tai.parse("1700000000:000000000")
    plex = NodeCard.to_plex(group=group, node=EVE.verifier, label="eve", machine=None, tai=tai)
    strange = stage.now / "eve.records"
    strange.write_bytes(Seal.sign(plex, EVE).encode())
    alice.lace("record", "put", str(strange), expect=1)
    return alice


def _admit(stage: Stage) -> list[str]:
    _stranger(stage)
    return ["admit", "eve", "--key", EVE.verifier.text]


def _quarantine(stage: Stage) -> list[str]:
    alice = _stranger(stage)
    alice.lace("admit", "eve", "--key", EVE.verifier.text)
    return ["quarantine", "admit", str(alice.lace("quarantine")["quarantine"][0]["hash"])]


_BOTH = ("alice", "bob", "alice")
COMMANDS = {
    command.name: command
    for command in (
        Command("init", "alice", _init, note="unanswered init"),
        Command("commit", "alice", _commit),
        Command("keep-out", "alice", _keep_out),
        Command("release", "alice", _release, settle=_BOTH, note="unreported release"),
        Command("push", "alice", _push, settle=_BOTH),
        Command("pull", "bob", _pull, settle=_BOTH),
        Command("sealed-push", "alice", partial(_push, options=("--encrypt",)), settle=_BOTH),
        Command("sealed-pull", "bob", partial(_pull, options=("--encrypt",)), settle=_BOTH),
        Command("encrypt", "alice", _encrypt, settle=_BOTH),
        Command("road-first", "alice", _road_first, settle=("alice",), place="road"),
        Command("road-push", "alice", _road_push, settle=_BOTH, place="road"),
        Command("road-pull", "bob", _road_pull, settle=_BOTH, place="road"),
        Command("road-fold", "bob", _road_fold, settle=_BOTH, place="road"),
        Command("road-encrypt", "alice", partial(_encrypt, name="road"), settle=_BOTH, place="road"),
        Command("sealed-road-push", "alice", partial(_road_push, options=("--encrypt",)), settle=_BOTH, place="road"),
        Command("sealed-road-pull", "bob", partial(_road_pull, options=("--encrypt",)), settle=_BOTH, place="road"),
        Command("update", "bob", _update),
        Command("checkout", "alice", _checkout),
        Command("resolve", "bob", _resolve, settle=_BOTH, note="unanswered resolve"),
        Command("merged", "bob", _merged, settle=_BOTH, note="unanswered resolve"),
        Command("prune", "alice", _prune),
        Command("undo", "bob", _undo, note="unanswered undo"),
        Command("create", "alice", _create),
        Command("apply", "bob", _apply, settle=_BOTH),
        Command("repair", "alice", _repair, mends=True),
        Command("salvage", "alice", partial(_salvage, "link_target"), mends=True),
        Command("carve", "alice", partial(_salvage, "body"), mends=True),
        Command("adopt", "alice", _adopt, settle=_BOTH, repeats=False, note="unanswered adopt"),
        Command("accept", "bob", _accept, settle=(*_BOTH, "bob"), note="unanswered accept"),
        Command("large-commit", "alice", _large_commit),
        Command("large-pull", "bob", _large_pull, settle=_BOTH),
        Command("large-update", "bob", _large_update),
        Command("path", "alice", _path),
        Command("over-edits", "alice", _over_edits),
        Command("several", "alice", _several),
        Command("undo-path", "alice", _undo_path, note="unanswered undo"),
        Command("part", "bob", _part),
        Command("completing", "bob", _completing),
        Command("gone", "alice", _gone),
        Command("copy", "alice", _copy),
        Command("archive", "alice", _archive),
        Command("drafts", "bob", _drafts),
        Command("export", "alice", _export),
        Command("merge", "bob", _merge),
        Command("desk", "alice", partial(_small, ("desk", "add", "lyrics", "words/lyrics"))),
        Command("label", "alice", partial(_small, ("label", "rehearsal"))),
        Command("permit", "alice", partial(_small, ("desk", "permit", "deep", "--write", "--only", "alice"))),
        Command("revoke", "alice", partial(_small, ("revoke", "bob", "--yes")), settle=_BOTH, note="unanswered revoke"),
        Command("leave", "alice", partial(_small, ("leave", "bob")), note="unanswered leave"),
        Command("place", "alice", partial(_small, ("place", "add", "other", "@other")), note="unanswered place add"),
        Command("prune-releases", "alice", _prune_releases),
        Command("fetch", "alice", _fetch),
        Command("fetched", "alice", _fetched, settle=_BOTH),
        Command("admit", "alice", _admit, settle=_BOTH, note="unanswered admit"),
        Command("quarantine", "alice", _quarantine, note="unanswered quarantine admit"),
        Command("record-put", "bob", _carried, settle=_BOTH),
        Command(
            "join",
            "alice",
            partial(_small, ("join", "eve", "@meeting", "--key", EVE.verifier.text)),
            note="unanswered join",
        ),
        Command("config", "alice", partial(_small, ("config", "set", "share", "commits"))),
        Command("protect", "alice", partial(_small, ("key", "protect")), passphrase="four words"),
    )
}


def prepared(root: Path, name: str, shelf: Shelf | None = None) -> Scene:
    """Bring a stage to the moment before a command, and find out where the undisturbed command leads.

    Args:
        root: an empty directory.
        name: which command.
        shelf: has what most begin with, if that directory is the shelf's; else it is made anew.
    """
    stage = Stage(root, shelf)
    command = COMMANDS[name]
    scene = Scene(stage, command, command.prepare(stage))
    stage.keep()
    scene.before = scene.node()
    scene.foresee()
    return scene
