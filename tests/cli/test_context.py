"""What a verb learns about the world (APP-2, APP-11)."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from lace_tui.cli import context as context_module
from lace_tui.cli.context import Context, World
from lace_tui.errors import BadPassphraseSource
from tests.people import Person
from vault.beginning import found_vault
from vault.lock import VaultLock
from vault.vault import NoVault
from vault.watch import Watch


def make(person: Person, **world: Any) -> Context:
    return Context(World(environ=person.variables, cwd=person.folder, **world))


def test_machine_is_stable_and_personal(alice: Person, bob: Person) -> None:
    first = make(alice).machine()
    assert make(alice).machine() == first != make(bob).machine()
    assert len(bytes.fromhex(first)) == 16


def test_a_machine_is_no_other_where_the_environment_names_no_home(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-2: a program that runs lace with few variables is not told to go on under a new key."""
    monkeypatch.setenv("HOME", str(alice.home))
    named = make(alice)
    bare = Context(World(environ={"LACE_HOME": str(named.data_root)}, cwd=alice.folder))
    assert bare.machine() == named.machine()


def test_a_disk_that_tells_no_size_is_not_a_full_one(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: some shares answer with noughts; nothing large could be written there."""
    free = make(alice).world.free_bytes
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (0, 0, 0))
    assert free(alice.folder) is None
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: (10, 10, 0))
    assert free(alice.folder) == 0


def test_machine_without_a_system_id_makes_and_keeps_one(
    alice: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_module, "MACHINE_ID", str(tmp_path / "none"))
    first = make(alice, entropy=lambda n: b"\x01" * n).machine()
    assert make(alice, entropy=lambda n: b"\x02" * n).machine() == first
    kept = alice.home / "lace" / "machine-id"
    assert kept.read_text() == "01" * 16 + "\n"
    assert kept.stat().st_mode & 0o077 == 0


def test_a_command_that_waits_for_another_says_so(alice: Person) -> None:
    """APP-13: on standard error and once, where it took more than a second; Ctrl-C ends the waiting."""
    alice.lace("init", "--name", "alice")
    slept = 0.0

    def sleep(seconds: float) -> None:
        nonlocal slept
        slept += seconds
        if slept > enough:
            if stops:
                signal.raise_signal(signal.SIGINT)
            else:
                holding.close()

    alice.world["sleep"] = sleep
    for enough, stops, words in ((0.5, False, 0), (3.0, False, 1), (3.0, True, 1)):
        slept = 0.0
        alice.write("a.md", f"{enough} {stops}\n")
        with ExitStack() as holding:
            holding.enter_context(VaultLock(alice.folder / ".vault" / "lock").held())
            done = alice.run("--json", "commit", "-m", "while another writes")
        said = f"Waiting for process {os.getpid()}, which is writing to this vault. Ctrl-C stops that."
        assert (done.err.count(said), done.err.count("Waiting")) == (words, words)
        assert (done.code, done.json.get("error", {}).get("code")) == ((130, "cancelled") if stops else (0, None))


def test_passphrase_from_a_descriptor_is_read_once(alice: Person) -> None:
    read, write = os.pipe()
    os.write(write, b"correct horse\nrest")
    os.close(write)
    alice.environ["LACE_PASSPHRASE_FD"] = str(read)
    source = make(alice).passphrase_source()
    assert source is not None
    assert source() == source() == b"correct horse"
    os.close(read)


@pytest.mark.parametrize("text", ["nonsense", "-1", "99999"])
def test_bad_descriptor_is_told(alice: Person, text: str) -> None:
    alice.environ["LACE_PASSPHRASE_FD"] = text
    source = make(alice).passphrase_source()
    assert source is not None
    with pytest.raises(BadPassphraseSource, match="LACE_PASSPHRASE_FD"):
        source()


def test_nobody_to_ask_on_a_pipe(alice: Person) -> None:
    with open(os.devnull) as null:  # noqa: PTH123
        assert make(alice, stdin=null).passphrase_source() is None


def test_roots_follow_lace_home(alice: Person) -> None:
    assert make(alice).data_root == make(alice).config_root == alice.home / "lace"


def test_roots_without_lace_home_are_the_systems(alice: Person, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LACE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    alice.environ["LACE_HOME"] = ""
    context = make(alice)
    assert context.data_root.is_relative_to(home)
    assert context.data_root.name == context.config_root.name == "lace"
    assert not context.data_root.exists()


@pytest.mark.parametrize(("given", "columns"), [("60", 60), ("0", 80), ("wide", 80), ("²", 80)])
def test_columns(alice: Person, tmp_path: Path, given: str, columns: int) -> None:
    alice.environ["COLUMNS"] = given
    with (tmp_path / "out").open("w") as file:
        assert make(alice, stdout=file, stderr=file).columns() == columns


def test_home_and_folder_of_two_people_never_meet(alice: Person, bob: Person) -> None:
    """APP-2: nothing of one person's lies under the other's."""
    for mine, yours in ((alice, bob), (bob, alice)):
        for path in (make(mine).data_root, make(mine).cwd):
            assert not path.is_relative_to(yours.home)
            assert not path.is_relative_to(yours.folder)


def test_vault_is_found_by_walking_up(alice: Person) -> None:
    """APP-2: the vault of the folder, and none elsewhere."""
    with pytest.raises(NoVault, match="There is no vault in"):
        make(alice).open_vault()
    found_vault(alice.folder, make(alice).surroundings(), name="alice", group="friends").close()
    deep = alice.folder / "a" / "b"
    deep.mkdir(parents=True)
    context = Context(World(environ=alice.variables, cwd=deep))
    assert context.find_vault() == alice.folder
    with context.open_vault() as vault:
        assert (vault.name, vault.folder) == ("alice", alice.folder)


def test_watching_reports_and_stops(alice: Person, tmp_path: Path) -> None:
    """APP-3: long work shows progress and can be stopped."""
    with (tmp_path / "err").open("w") as err, make(alice, stderr=err).watching() as watch:
        assert isinstance(watch, Watch)
        watch.progress(1, 2, "reading")
        watch.cancelled()
    assert (tmp_path / "err").read_text() == ""
