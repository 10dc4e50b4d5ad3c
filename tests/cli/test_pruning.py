"""`lace prune` as a person and a script use it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.circle.world import open_vault
from tests.cli.conftest import make_pair
from tests.people import Person
from tests.shelf import Shelf


@pytest.fixture
def alice(shelf: Shelf) -> Person:
    return shelf.lay(_alice)


def _alice(root: Path) -> Person:
    made = Person("alice", root / "home", root / "notes")
    made.lace("init", "--name", "alice")
    for number in range(3):
        made.write("song.bin", bytes([number]) * 9_000)
        made.lace("commit", "-m", f"draft {number}")
    return made


def test_a_dry_run_says_what_goes_and_changes_nothing(alice: Person) -> None:
    planned = alice.lace("prune", "--dry-run")
    assert planned["planned"] is True
    assert [found["number"] for found in planned["commits"]] == [1, 2]
    assert alice.run("cat", "main@1", "song.bin").out == bytes(9_000)


def test_a_script_must_agree_and_a_person_is_asked(alice: Person) -> None:
    """Nothing goes by accident: on a pipe only with --yes, at a terminal after a question."""
    refused = alice.run("prune")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert alice.run("prune", stdin=b"n\n", tty=True).code == 2
    assert alice.run("cat", "main@1", "song.bin").code == 0
    alice.environ["TERM"] = "xterm"
    said_no = alice.run("prune", stdin=b"n\n", tty=True)
    assert (said_no.code, said_no.text.startswith("Nothing was let go of. ")) == (1, True), "as to every question"
    agreed = alice.run("prune", stdin=b"y\n", tty=True)
    assert agreed.code == 0
    assert "2 old commits" in agreed.text
    gone = alice.run("cat", "main@1", "song.bin")
    assert gone.code == 2
    assert "went with a prune" in gone.err
    assert alice.run("cat", "main@3", "song.bin").out == b"\2" * 9_000
    assert alice.lace("fsck")["ok"] is True


def test_what_was_cut_off_needs_no_second_word(alice: Person) -> None:
    """The answer that leaves it says that the next prune frees it, and that asked about 0 commits first.

    APP-13: a commit leaves it as well as a prune, in a pack of its own or at the end of one; a check tells of both.
    """
    stray = alice.folder / ".vault" / "packs" / "00000099.pack"
    alice.lace("prune", "--yes")
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(bytes(1000))
    pack = stray.with_name("00000002.pack")
    named = pack.stat().st_size
    with pack.open("ab") as file:
        file.write(bytes(500))
    found = alice.lace("fsck")
    assert (found["ok"], [note["code"] for note in found["notes"]]) == (True, ["unnamed"])
    assert "1500 bytes in .vault/packs belong to nothing" in alice.text("fsck")
    assert "What was cut off before it ended goes: up to 1.5 KiB would be free again" in alice.text(
        "prune", "--dry-run"
    )
    assert "What was cut off before it ended goes: 1.5 KiB are free again" in alice.text("prune")
    assert (stray.exists(), pack.stat().st_size) == (False, named)
    assert alice.lace("fsck")["notes"] == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of 16 MiB."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(path)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_prune_frees_what_was_cut_off_on_a_disk_without_a_free_byte(alice: Person, small_disk: Path) -> None:
    """APP-13, fault 3: each command failed there, the one that frees it too, since none could open the store."""
    shutil.copytree(alice.folder, small_disk / "notes")
    alice.folder = small_disk / "notes"
    alice.lace("status")
    packs = alice.folder / ".vault" / "packs"
    (packs / "00000099.pack").write_bytes(bytes(1 << 20))
    with (packs / "00000002.pack").open("ab") as end:
        end.write(bytes(1 << 20))
    with (small_disk / "film").open("wb", buffering=0) as film, suppress(OSError):
        while film.write(bytes(4096)):
            pass
    assert shutil.disk_usage(small_disk).free == 0
    assert alice.lace("prune", "--dry-run")["planned"] is True
    assert alice.run("label", "film").code == 11
    assert "are free again" in alice.text("prune", "--yes")
    assert shutil.disk_usage(small_disk).free > 15 << 17
    assert alice.lace("fsck")["ok"] is True


def test_what_somebody_reads_is_not_called_free(alice: Person) -> None:
    """INT-94: the answer said that 0 B are free again, and that more was to come."""
    for number in range(3):
        alice.write("song.bin", Random(number).randbytes(300_000))
        alice.lace("commit", "-m", f"take {number}")
    with open_vault(alice) as other, other.store.reading():
        other.store.rows("SELECT 1 FROM rec")
        done = alice.text("prune", "--yes")
    assert "= The content of 5 old commits is gone.\n" in done
    assert "KiB are read by another program: once it has ended, lace prune frees them." in done


def test_the_answer_names_sizes_and_the_trail_keeps_it(alice: Person) -> None:
    done = alice.lace("prune", "--keep", "2", "--yes")
    assert [found["number"] for found in done["commits"]] == [1]
    assert done["freed"] > 0
    assert done["desks"][0]["desk"] == "main"
    assert {kind["kind"] for kind in done["kinds"]} >= {"lace/data", "lace/tree", "lace/commit"}
    (entry,) = alice.lace("audit", "list", "--verb", "lace-prune")["entries"]
    assert entry["action"]["parameters"]["commits"] == "1"
    assert alice.lace("prune", "--keep", "2", "--yes")["commits"] == []
    assert alice.run("prune", "--keep", "0").code == 2


def test_a_labelled_revision_keeps_its_content(alice: Person) -> None:
    """CLAY-9: a name that a person gave says that it is wanted."""
    alice.lace("label", "opening")
    alice.write("song.bin", "another\n")
    alice.lace("commit", "-m", "after it")
    assert [found["number"] for found in alice.lace("prune", "--yes")["commits"]] == [1, 2]
    assert alice.run("cat", "main@opening", "song.bin").out == b"\2" * 9_000
    assert alice.lace("fsck")["ok"] is True


def test_what_would_go_is_listed_below_the_sentence_that_says_so(alice: Person) -> None:
    """CLAY-79: the list stood above, with no word on what it was."""
    lines = alice.text("prune", "--dry-run").splitlines()
    (said,) = (at for at, line in enumerate(lines) if "2 old commits would go" in line)
    assert lines[said + 1 :] == ["  main@1", "  main@2"]


def test_a_rule_by_which_nothing_goes_says_why(alice: Person) -> None:
    """CLAY-79: who keeps one release and frees nothing by it was not told that a friend's newest one holds the file."""
    alice.lace("release", "1.0.0")
    (alice.folder / "song.bin").unlink()
    alice.lace("commit", "-m", "sung", str(alice.folder))
    alice.lace("release", "1.1.0")
    why = "No file goes by lace desk keep"
    assert why not in alice.text("prune", "--dry-run")
    alice.lace("desk", "keep", "song.bin", "1")
    assert why in alice.text("prune", "--dry-run")


def test_the_state_that_the_folder_looks_at_stays(alice: Person) -> None:
    """CLAY-13, CLAY-71: the way back from a look loses nothing; after a prune it refused what nobody had changed."""
    alice.lace("checkout", "main@1")
    done = alice.lace("prune", "--yes")
    assert [found["number"] for found in done["commits"]] == [2]
    assert alice.lace("checkout", "main")["written"] == ["song.bin"]
    assert (alice.folder / "song.bin").read_bytes() == b"\2" * 9_000
    assert [found["number"] for found in alice.lace("prune", "--yes")["commits"]] == [1]
    assert alice.lace("fsck")["ok"] is True


def test_what_an_undone_commit_held_goes_and_is_told_in_words_of_its_own(alice: Person) -> None:
    """CLAY-79, APP-4: a film that was committed by mistake took its room for ever, and nothing here named it."""
    alice.write("film.bin", Random(9).randbytes(500_000))
    alice.lace("commit", "-m", "by mistake")
    for verb in ("changes", "status"):  # their answers are kept
        alice.text(verb)
    alice.lace("undo")
    (alice.folder / "film.bin").unlink()
    what = "ontent that no revision here has any more (as after an undo)"
    assert f"\nC{what} would go: about 4" in alice.text("prune", "--keep", "9", "--dry-run")
    assert f"  main@2\n  and c{what}\n" in alice.text("prune", "--dry-run")
    assert alice.lace("prune", "--keep", "9", expect=2)["error"]["message"] == f"C{what} would go for good."
    assert f"= C{what} is gone: 49" in alice.text("prune", "--keep", "9", "--yes")
    assert "Nothing here is old and unneeded." in alice.text("prune", "--keep", "9", "--yes")
    assert alice.lace("fsck")["ok"] is True


def test_the_first_update_of_a_friend_leaves_nothing_to_let_go_of(pair: tuple[Person, Person]) -> None:
    """CLAY-79: consent was asked for lost content that never was: the list of the folder while it was still empty."""
    _, bob = pair
    for options in (["--dry-run"], []):
        assert "Nothing here is old and unneeded." in bob.text("prune", *options)
        assert bob.lace("prune", *options)["unreached"] == 0


def test_what_only_a_friends_bundle_has_is_asked_for_and_goes_with_the_prune_after_a_sync(tmp_path: Path) -> None:
    """CLAY-79: it said that no place has it, a sync changed nothing about that, or it went and was at nobody's."""
    alice, bob = make_pair(tmp_path)
    for number in range(3):
        bob.write("song.bin", Random(number).randbytes(40_000))
        bob.lace("release", "--yes")
    for person in (bob, alice, bob):
        person.lace("sync", "stick")
    alice.lace("update")
    alice.lace("desk", "keep", "song.bin", "1")
    assert "lace prune asks for one, lace sync with" in alice.text("prune", "--dry-run")
    alice.lace("sync", "stick")
    told = alice.text("prune")
    assert "2 old released files would go too, but no place you know has a copy of your own" in told
    assert "  lace sync with a stick or a git remote makes one, then lace prune lets go of them\n" in told
    alice.lace("sync", "stick")
    assert alice.lace("prune", "--yes")["files"] == 2
    assert alice.run("cat", "bob/main@1.0.1", "song.bin").code == 2
    for words, wanted in (
        (("cat", "bob/main@1.0.1", "song.bin"), "bob/main@1.0.1 song.bin"),
        (("checkout", "bob/main@1.0.1", "song.bin"), "bob/main@1.0.1 song.bin"),
        (("checkout", "bob/main@1.0.1"), "bob/main@1.0.1"),
    ):
        hint = alice.lace(*words, expect=2)["error"]["hint"]
        assert hint == f"Ask for it with: lace fetch {wanted} - then: lace sync", "the way out is typed as it stands"
    alice.lace(*hint.split(": ")[1].removesuffix(" - then").split()[1:])
    alice.lace("sync", "stick")
    assert len(alice.run("cat", "bob/main@1.0.1", "song.bin").out) == 40_000
