"""What a command loads and looks through beside its work: every module more is there in each run of it (APP-14)."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.people import ROOT, Person

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
