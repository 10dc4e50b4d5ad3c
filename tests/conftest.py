"""What every test may ask for: homes of their own, people, a quiet Textual, steady property tests."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lace_tui.__main__ import GARBAGE
from tests.people import Person, person_in
from tests.shelf import Shelf

# Textual reads it at import; a page-down costs 850 ms with animations and 65 without.
os.environ["TEXTUAL_ANIMATIONS"] = "none"

settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=40,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("LACE_TEST_PROFILE", "here"))

gc.set_threshold(*GARBAGE)

_LONGEST_NAME = 200  # characters or bytes


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Compile the tests of a fresh checkout once: all processes at once would each do it."""
    if not (config.rootpath / "tests" / "cli" / "__pycache__").exists() and not sys.dont_write_bytecode:
        words = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider"]
        subprocess.run(words, cwd=config.rootpath, stdout=subprocess.DEVNULL, check=False)  # a fault shows in the run


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of a module that begin with something of the shelf to one process, which makes it once."""
    for item in items:
        if "shelf" in getattr(item, "fixturenames", ()) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(item.config.rootpath))))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name what is long by its length: each process makes the names of all tests and sends them to another one."""
    return f"{argname}-of-{len(val)}" if isinstance(val, bytes | str) and len(val) > _LONGEST_NAME else None


def pytest_collection_finish() -> None:
    """Leave what lives as long as the run out of every later search for garbage: that took a seventh of its time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def heard_signals() -> None:
    """Let signals come through, also to what tests start, though who runs them lets them pass: `nohup`, a script."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.fixture(scope="session")
def whole_shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """What tests of this session begin with, each made once."""
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    yield shelf
    shelf.close()


@pytest.fixture
def tmp_path(tmp_path: Path, request: pytest.FixtureRequest, whole_shelf: Shelf) -> Iterator[Path]:
    """Return a directory of this test alone; with the shelf it stands where what lies there was made."""
    if "shelf" not in request.fixturenames:
        yield tmp_path
        return
    with whole_shelf.instead_of(tmp_path) as now:
        yield now


@pytest.fixture
def shelf(whole_shelf: Shelf, tmp_path: Path) -> Shelf:
    """What tests begin with, to be laid in this test's directory."""
    assert tmp_path == whole_shelf.now
    return whole_shelf


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home folder, also in this process's environment, so that nothing of the tester's is touched."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("LACE_HOME", str(folder / "lace"))
    return folder


@pytest.fixture
def people(tmp_path: Path) -> Callable[[str], Person]:
    """Make people by name, each with a home and a folder called after the person."""

    def make(name: str) -> Person:
        return person_in(tmp_path, name)

    return make


@pytest.fixture
def alice(people: Callable[[str], Person]) -> Person:
    """The first person."""
    return people("alice")


@pytest.fixture
def bob(people: Callable[[str], Person]) -> Person:
    """The second person."""
    return people("bob")


@pytest.fixture
def cara(people: Callable[[str], Person]) -> Person:
    """The third person."""
    return people("cara")
