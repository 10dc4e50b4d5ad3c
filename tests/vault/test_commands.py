"""Commands that are offered: a name of any shape goes into them and out again (APP-14)."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from lazy.noted_visits import sync_command, synced
from vault.commands import as_either, as_option, as_typed, as_word, as_words, words_of
from vault.visible import visible

_NAMES = ("bob", "-bob", "--all", "-", "b o b", "o'neil", "-o'neil s", "*", "$HOME", "a;b", "", "a$'b'", "x $' y", "$'")


_UNSEEN = (
    "a\u200db c",
    "\U0001f468\u200d\U0001f467 it's",
    "a\\\u202eb",
    "\x1b[2J",
    "\x85\xad",
    "\udcff",
    "a\nb\t",
    "\U000e0101",
)


@pytest.mark.parametrize("name", _UNSEEN)
def test_what_does_not_show_is_offered_as_a_shell_reads_it_back(name: str, tmp_path: Path) -> None:
    """LAZ-27, APP-14: an emoji that is joined of several was offered in a form that nothing could be done with."""
    word = as_word(name)
    assert visible(word) == word
    assert synced(sync_command(name)) == name
    assert words_of(as_typed("admit", name, options=as_option("--key", name))) == ["lace", "admit", name, "--key", name]
    script = tmp_path / "script"
    script.write_text(f"printf %s {word}")
    said = subprocess.run(["bash", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout
    assert said == os.fsencode(name)


@pytest.mark.parametrize("name", _NAMES)
def test_what_is_offered_is_read_as_it_was_meant(name: str) -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--key")
    parser.add_argument("-m", dest="text")
    typed = as_typed("admit", name, "DIR", options=f"{as_option('--key', name)} {as_option('-m', name or 'x')}")
    lace, verb, *rest = shlex.split(typed)
    found = parser.parse_args(rest)
    assert (lace, verb, found.names, found.key, found.text) == ("lace", "admit", [name, "DIR"], name, name or "x")
    assert synced(sync_command(name)) == name


def test_what_needs_no_guard_stands_as_people_write_it() -> None:
    assert as_typed("admit", "bob", options="--key V") == "lace admit bob --key V"
    assert as_typed("update") == "lace update"
    assert as_words("main@1", "-dash") == "-- main@1 -dash"
    assert as_either("--prefer", ["bob", "cara", "bob"]) == "--prefer bob or cara"
    assert as_either("--prefer", ["bob", "-x"]) == "--prefer bob or --prefer=-x"
    assert synced("lace resolve 12ab --prefer local") == synced("lace sync") == synced("lace sync -- -x; ls")[:0]
