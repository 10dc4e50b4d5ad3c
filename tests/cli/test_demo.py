"""The demo as a newcomer meets it: what it tells at its end is good for looking and for working there (APP-2)."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tests.people import Person


@pytest.mark.slow
def test_the_way_into_the_demo_is_good_for_work_too(ann: Person, tmp_path: Path) -> None:
    told = ann.text("--quiet", "demo", str(tmp_path / "demo"), "--no-tui")
    change, command = told.splitlines()[-1].split(" && ")
    folder = Path(shlex.split(change)[1])
    *given, program, _verb = shlex.split(command)
    assert shutil.which(program), "it can be typed as it stands, wherever lace was installed"
    newcomer = Person("newcomer", ann.home, folder, dict(word.split("=", 1) for word in given))
    assert "by way of git" in newcomer.text("log")
    newcomer.write("mine.md", "one more\n")
    newcomer.text("commit", "-m", "One more")
