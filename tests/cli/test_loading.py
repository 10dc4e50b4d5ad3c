"""What a command loads and looks through beside its work: every module more is there in each run of it (APP-14)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.people import ROOT, Person
from tests.transports.git_hosts import bare_repository

_RUN = (
    "import gc, json, sys\nfrom lace_tui.__main__ import main\nlooks = gc.get_stats()[0]['collections']\n"
    "code = main(sys.argv[1:])\n"
    "told = {'code': code, 'looks': gc.get_stats()[0]['collections'] - looks, 'modules': list(sys.modules)}\n"
    "print(json.dumps(told), file=sys.stderr)"
)


def _told(person: Person, *words: str) -> dict[str, Any]:
    """Run one command in a process of its own; return how it ended, and what that took."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *words],
        cwd=person.folder,
        env={**person.variables, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return told


def test_a_sync_ends_before_anybody_looks_for_cycles(pair: tuple[Person, Person]) -> None:
    """LAZ-23: what is loaded stays, and to look through all of it once took a tenth of a sync."""
    ann, bob = pair
    for number in range(50):
        ann.write(f"new/{number}.txt", f"{number}\n")
    ann.lace("release", "1.1.0")
    ann.lace("sync", "stick")
    assert _told(bob, "sync", "stick")["looks"] == 0
    assert bob.lace("update")["written"]


def test_a_sync_by_git_loads_what_runs_git_and_no_more_of_that_library(ann: Person, tmp_path: Path) -> None:
    """LAZ-23: the rest of it reads repositories, and runs git once more when it is loaded."""
    ann.lace("place", "add", "host", f"git+file://{bare_repository(tmp_path / 'host.git')}")
    ann.write("a.txt", "one\n")
    ann.lace("release", "1.0.0")
    told = _told(ann, "sync", "host")
    assert told["code"] == 0
    read = {name for name in told["modules"] if name.startswith(("git.", "gitdb."))}
    assert "git.cmd" in read
    assert not read & {"git.repo", "git.remote", "git.objects", "git.index", "gitdb.db", "gitdb.stream"}
    assert not {"git", "gitdb"} & set(told["modules"])  # whoever wants all of it still gets that
    done = subprocess.run(
        [sys.executable, "-c", "from transports.git.library import git_library; git_library(); import git; git.Repo"],
        env={**ann.variables, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_sync_with_nothing_new_loads_no_kinds_and_no_folder(pair: tuple[Person, Person]) -> None:
    """LAZ-23: nothing is read but the heads, so what records mean and what lies in the folder stays away."""
    ann, _ = pair
    ann.lace("sync", "stick")
    told = _told(ann, "sync", "stick")
    loaded = {name for name in told["modules"] if name.startswith(("vault.", "lazy."))}
    assert (told["code"], "lazy.visits.publish" in loaded) == (0, True)
    away = {"vault.folder.work", "vault.folder.looking", "vault.desks.scan", "vault.desks.worktree"}
    away |= {"vault.desks.ignore"}
    away |= {f"vault.profile.{kinds}" for kinds in ("contents", "lines", "log", "people", "releases")}
    away |= {"vault.membership", "vault.revisions.cases", "vault.worker_process"}
    away |= {"lazy.decisions", "lazy.decision_trees", "lazy.interlace.ads"}
    assert loaded & away == set()
    assert not {"git.cmd", "subprocess"} & set(told["modules"])


_AWAY = {
    "log": {
        "vault.folder.work",
        "vault.desks.scan",
        "vault.desks.worktree",
        "lazy.address",
        "lazy.conflicts",
        "lazy.folder.bringing_back",
    },
    "diff": {"lazy.log", "lazy.address", "lazy.folder.bringing_back", "vault.profile.lines", "vault.revisions.cases"},
    "changes": {"lazy.log", "vault.profile.lines", "vault.revisions.cases"},
}


@pytest.mark.parametrize("verb", _AWAY)
def test_what_looks_loads_what_it_looks_at(pair: tuple[Person, Person], verb: str) -> None:
    """APP-14: the log looks into no folder, what differs in it needs no address, and neither writes a trail."""
    ann, _ = pair
    ann.write("notes.md", "another\n")
    told = _told(ann, verb)
    assert told["code"] == 0
    assert set(told["modules"]) & (_AWAY[verb] | {"vault.audit.entries"}) == set()


def test_a_release_loads_nothing_of_visits_and_merges(pair: tuple[Person, Person]) -> None:
    """LAZ-45: it tells how the folder stands to what friends released, which is one line of all that status tells."""
    ann, _ = pair
    ann.write("notes.md", "another\n")
    told = _told(ann, "release", "1.1.0")
    assert told["code"] == 0
    loaded = set(told["modules"])
    assert "lazy.relation" in loaded
    assert loaded & {"lazy.status", "lazy.results", "lazy.endings", "lazy.belonging.beacon", "lazy.vectors"} == set()
    assert (
        loaded & {"vault.desks.merge", "vault.profile.people", "vault.profile.contents", "vault.audit.trail"} == set()
    )


def test_a_sync_with_a_vault_loads_nothing_of_mailboxes_that_are_visited(pair: tuple[Person, Person]) -> None:
    """INT-127: a vault answers itself, and no plan is made of what lies at a medium."""
    ann, bob = pair
    ann.lace("place", "add", "beside", str(bob.folder))
    ann.lace("sync", "beside")
    told = _told(ann, "sync", "beside")
    assert told["code"] == 0
    loaded = set(told["modules"])
    assert "lazy.live.visiting" in loaded
    assert loaded & {"lazy.visits.plans", "lazy.visits.visit", "lazy.visits.exchange", "lazy.visits.publish"} == set()
