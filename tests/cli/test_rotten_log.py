"""A write-ahead log that a killed process left and that rotted: nothing acknowledged is dropped unsaid (APP-13)."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lace_tui.app.looking import StoreWatch
from lazy.remembered import opened
from tests.faults.iolayer import kill_at
from tests.people import Person
from vault.store.wal import find_rot
from vault.store.wal_frames import FRAME, HEAD

_DRAFTS = 6
_WRITES = 18  # of a repair, at which it is killed


def _log(person: Person) -> Path:
    return person.folder / ".vault" / "store.db-wal"


@pytest.fixture
def killed(ann: Person) -> Person:
    """Somebody whose last lace was killed: drafts that were acknowledged lie in the log alone."""
    dot = ann.folder / ".vault"
    with closing(sqlite3.connect(dot / "store.db")) as held:
        held.execute("SELECT count(*) FROM meta").fetchone()  # so that nobody is the last to close it
        for number in range(_DRAFTS):
            ann.write("a.txt", f"draft {number}\n")
            ann.lace("commit", "-m", f"draft {number}")
        shutil.copytree(dot, ann.folder.parent / "left", ignore=shutil.ignore_patterns("*-shm"))
    shutil.rmtree(dot)
    (ann.folder.parent / "left").rename(dot)
    assert find_rot(dot / "store.db") is None
    return ann


def _rot(person: Person, *places: tuple[int, int]) -> bytes:
    data = bytearray(_log(person).read_bytes())
    for at, bit in places:
        data[at] ^= bit
    _log(person).write_bytes(data)
    return bytes(data)


def _commits(person: Person) -> list[int]:
    """Return the numbers of frames that end a transaction."""
    data = _log(person).read_bytes()
    frames = range((len(data) - HEAD) // FRAME)
    return [number for number in frames if any(data[HEAD + number * FRAME + 4 :][:4])]


def _drafts(person: Person) -> int:
    return person.text("log").count("draft ")


_PLACES = {
    "head": 17 - HEAD,
    "page number": 3,
    "size": 6,
    "salt": 10,
    "sum": 19,
    "page": 24 + 100,
    "last word": FRAME - 4,
}


@pytest.mark.parametrize("place", _PLACES)
def test_a_bit_of_the_log_that_rotted_is_told_before_anything_is_lost_and_mended(killed: Person, place: str) -> None:
    """APP-13, APP-14: SQLite dropped all behind it without a word, and fsck said that all was well."""
    frame = 0 if place == "head" else _commits(killed)[1]
    rotten = _rot(killed, (HEAD + frame * FRAME + _PLACES[place], 4))
    before = (killed.folder / ".vault" / "store.db").read_bytes()
    for words in (["log"], ["status"], ["commit", "-m", "more"], ["fsck"]):
        told = killed.run(*words)
        assert told.code == 41, words
        assert "store.db-wal" in told.err
        assert "lace fsck --repair" in told.err
    assert _log(killed).read_bytes() == rotten
    assert (killed.folder / ".vault" / "store.db").read_bytes() == before
    report = killed.lace("fsck", "--repair")
    assert [thing["code"] for thing in report["repaired"]] == ["log"]
    assert (killed.folder / ".vault" / "damaged" / "store.db-wal").read_bytes() == rotten
    assert _drafts(killed) == _DRAFTS
    assert killed.lace("fsck")["ok"]
    assert killed.lace("audit", "verify")["ok"]


def test_of_a_log_that_cannot_be_mended_it_is_said_how_much_is_lost(killed: Person) -> None:
    """APP-13, APP-14: two bits of a frame are wrong; what stands before it stays."""
    commits = _commits(killed)
    at = HEAD + (commits[len(commits) // 2] + 1) * FRAME
    rotten = _rot(killed, (at + 30, 1), (at + 90, 1))
    behind = len(commits) - len(commits) // 2 - 1
    assert killed.run("status").code == 41
    told = killed.run("fsck", "--repair")
    assert f"{behind} steps" in told.text
    assert (killed.folder / ".vault" / "damaged" / "store.db-wal").read_bytes() == rotten
    assert 0 < _drafts(killed) < _DRAFTS
    assert killed.run("status").code == 0


def test_where_nothing_tells_which_bit_it_was_no_commit_is_lost_for_it(killed: Person) -> None:
    """APP-13: the sum takes the highest bits of many words alike; the one that rotted is found where it lies."""
    data = _log(killed).read_bytes()
    at = HEAD + _commits(killed)[0] * FRAME
    for word in range(at + 24, at + FRAME, 4):  # the first one that no other state of the page tells
        _log(killed).write_bytes(data)
        _rot(killed, (word + 3, 128))
        rot = find_rot(killed.folder / ".vault" / "store.db")
        assert rot is not None
        if rot.unsure:
            break
    assert killed.run("log").code == 41
    assert "log" in [thing["code"] for thing in killed.lace("fsck", "--repair")["repaired"]]
    assert _drafts(killed) == _DRAFTS


@pytest.mark.parametrize("seed", range(8))
def test_what_a_power_cut_left_of_the_last_commit_is_no_rot(killed: Person, seed: int) -> None:
    """APP-13: whichever parts of it were written, nobody was told of it; all before it stays."""
    draw, data, commits = random.Random(seed), _log(killed).read_bytes(), _commits(killed)
    at = HEAD + (commits[-2] + 1) * FRAME
    for piece in (512, 4096):
        torn = bytearray(data)
        for start in range(at - at % piece, len(data), piece):
            part = slice(max(start, at), min(start + piece, len(data)))
            if draw.random() < 0.5:
                size = part.stop - part.start
                torn[part] = bytes(size) if draw.random() < 0.5 else draw.randbytes(size)
        _log(killed).write_bytes(torn[: draw.choice([len(torn), draw.randrange(at, len(torn))])])
        assert find_rot(killed.folder / ".vault" / "store.db") is None
    assert killed.lace("fsck")["ok"]


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who holds a lock")
def test_a_log_in_use_is_not_looked_at(killed: Person) -> None:
    """LAZ-56: who has the store open has proven it, and a quick answer waits for no proof."""
    path = killed.folder / ".vault" / "store.db"
    with closing(sqlite3.connect(path)) as held:
        held.execute("SELECT count(*) FROM meta").fetchone()
        _rot(killed, (HEAD + _commits(killed)[1] * FRAME + 100, 1))
        assert find_rot(path) is None
        _rot(killed, (HEAD + _commits(killed)[1] * FRAME + 100, 1))


def test_a_repair_that_cannot_keep_the_log_changes_nothing(killed: Person) -> None:
    """APP-13: what lies at the place of its copies is a file."""
    rotten = _rot(killed, (HEAD + _commits(killed)[1] * FRAME + 100, 1))
    (killed.folder / ".vault" / "damaged").write_text("in the way")
    assert killed.run("fsck", "--repair").code == 12
    assert _log(killed).read_bytes() == rotten


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("bits", [1, 2])
def test_a_repair_of_the_log_that_is_killed_goes_on(killed: Person, bits: int) -> None:
    """APP-13: at each of its first writes; by then the log is mended, or what cannot be is cut off."""
    commits = _commits(killed)
    at = HEAD + (commits[len(commits) // 2] + 1) * FRAME
    rotten = _rot(killed, *[(at + 30 + 60 * number, 1) for number in range(bits)])
    shutil.copytree(killed.folder / ".vault", killed.folder.parent / "rotten")
    drafts = set()
    for number in range(1, _WRITES):
        shutil.rmtree(killed.folder / ".vault")
        shutil.copytree(killed.folder.parent / "rotten", killed.folder / ".vault")
        child = os.fork()
        if child == 0:
            try:
                kill_at(number).install()
                killed.run("fsck", "--repair")
            finally:
                os._exit(70)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert killed.run("fsck", "--repair").code == 0
        kept = [path.read_bytes() for path in (killed.folder / ".vault" / "damaged").iterdir()]
        assert rotten in kept
        drafts.add(_drafts(killed))
    assert len(drafts) == 1
    assert (drafts == {_DRAFTS}) == (bits == 1)


def test_the_app_reads_anew_beside_a_log_that_was_left_and_takes_none_away(killed: Person) -> None:
    """APP-13: its look at the store closed it as the last one, and so took a rotten log away."""
    path = killed.folder / ".vault" / "store.db"
    rotten = _rot(killed, (HEAD + _commits(killed)[1] * FRAME + 100, 1))
    watch = StoreWatch(path)
    assert watch.generation() == "left"
    assert _log(killed).read_bytes() == rotten
    killed.lace("fsck", "--repair")
    assert watch.generation().isdigit()


def test_a_quick_answer_takes_no_rotten_log_away(killed: Person) -> None:
    """APP-13, LAZ-56: it opens a store past the program."""
    rotten = _rot(killed, (HEAD + _commits(killed)[1] * FRAME + 100, 1))
    with pytest.raises(sqlite3.OperationalError):
        opened(str(killed.folder / ".vault" / "store.db"))
    assert killed.real("status").code == 41
    assert _log(killed).read_bytes() == rotten
