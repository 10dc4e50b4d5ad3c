"""No more files can be open: a limit of the machine, and no fault of lace or of the vault (fault matrix row 3)."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest

from tests.people import ROOT, Person

resource = pytest.importorskip("resource")


def limited(person: Person, files: int, *words: str) -> tuple[int, str]:
    """Run a command that may have so many files open; return its exit code and what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "lace_tui", *words],
        capture_output=True,
        cwd=person.folder,
        env={**person.variables, "PYTHONPATH": str(ROOT)},
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_NOFILE, (files, files)),
        check=False,
    )
    return done.returncode, done.stderr.decode()


def test_a_limit_of_open_files_is_named_wherever_it_is_met(alice: Person) -> None:
    """APP-13, APP-14: in a module that is loaded late, too, where it was called a fault of lace."""
    alice.write("menu.md", "one\n" * 3_000)
    alice.lace("init", "--name", "alice")
    alice.lace("release", "1.0.0", "-m", "first")
    ends = {}
    for files in (7, 9, 11):
        for words in (("fsck",), ("diff", "main@1.0.0", "main")):
            ends[files, words] = limited(alice, files, *words)
    assert not [end for end in ends.items() if end[1][0] == 70]
    named = [said for code, said in ends.values() if code == 19]
    assert named
    assert all("too many open files" in said and "ulimit -n" in said for said in named)
    assert alice.lace("fsck")["ok"]


def test_a_check_that_cannot_open_its_own_file_names_no_damage(alice: Person) -> None:
    """APP-13: the views were said not to follow from the records, and a repair to be the way out."""
    alice.write("menu.md", "one\n")
    alice.lace("init", "--name", "alice")
    ends = [limited(alice, files, "fsck") for files in range(9, 12)]
    assert not [said for _, said in ends if "views cannot be built" in said]
    assert {code for code, _ in ends} <= {0, *range(10, 20)}, ends
