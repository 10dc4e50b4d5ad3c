"""What the rules of a folder keep out of a scan (CLAY-71, APP-12)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.vault.desks.support import Desk, model_of, write
from vault.desks.causes import Cause
from vault.desks.choosing import Problem
from vault.desks.former_ignore import Former, Held
from vault.desks.ignore import Ignore
from vault.desks.scan import Scanning
from vault.desks.tree import walk
from vault.desks.worktree import Snapshot
from vault.files import Unreadable
from vault.records import RecordHash


def test_a_folder_of_nothing_but_ignored_files_is_no_new_folder(desk: Desk) -> None:
    """CLAY-71: a friend who deleted it does not get it back as an empty one; where the base has it, it stays."""
    write(desk, ".laceignore", b"*.o\n")
    (desk.root / "kept").mkdir()
    base = desk.scan().root
    write(desk, "kept/x.o")
    write(desk, "deep/build/x.o")
    assert desk.scan(base).root == desk.scan(base).root == base
    (desk.root / "empty").mkdir()
    write(desk, "deep/y")
    found = desk.scan(base).root
    assert {path for path, _ in walk(desk.objects, found)} == {".laceignore", "kept", "empty", "deep", "deep/y"}
    write(desk, "deep/build/z")
    assert "deep/build/z" in model_of(desk.objects, desk.scan(base).root)


def test_ignored_files_are_left_out_unless_they_are_versioned(desk: Desk) -> None:
    # .laceignore itself is versioned; a rule never deletes what friends have.
    write(desk, "old.log")
    base = desk.scan().root
    write(desk, ".laceignore", b"*.log\n!keep.log\nbuild/\n/top\n# note\n\n")
    for path in ["new.log", "keep.log", "build/x", "a/build/y", "top", "a/top", ".lace-checkout-3.tmp"]:
        write(desk, path)
    found = desk.scan(base)
    names = {".laceignore", "old.log", "keep.log", "a/top"}
    assert set(model_of(desk.objects, found.root)) == names
    assert found.problems == (Problem("old.log", Cause.STILL_SHARED.words, "notice", Cause.STILL_SHARED),)
    again = desk.scan(found.root)
    assert (again.root, again.read, again.problems) == (found.root, 0, ())
    write(desk, ".laceignore", b"")
    assert {"new.log", "top", "build/x"} < set(model_of(desk.objects, desk.scan(found.root).root))


def test_rules_that_cannot_be_used_are_named_and_the_rest_counts(desk: Desk) -> None:
    # Rules may come from a friend: bounded, and no rule stops the scan.
    write(desk, ".laceignore", b"!\n*a*a*a*a*a*a*a*b\n*.o\n")
    write(desk, "x.o")
    found = desk.scan()
    assert set(model_of(desk.objects, found.root)) == {".laceignore"}
    assert [p.reason for p in found.problems] == [
        "rule 1 is not a valid pattern and is not used",
        "rule 2 has too many wildcards and is not used",
    ]
    assert Ignore(b"a\n" * 40_000).faults
    assert not Ignore(b"a\n" * 40_000).matches("a", is_dir=False)


def test_a_mark_before_the_first_rule_is_no_part_of_it(desk: Desk) -> None:
    write(desk, ".laceignore", b"\xef\xbb\xbfdiary.txt\n")  # as some editors write UTF-8
    write(desk, "diary.txt")
    assert set(model_of(desk.objects, desk.scan().root)) == {".laceignore"}


@pytest.mark.parametrize("state", ["long", "link", "folder", "pipe", "wide", "latin", "closed"])
def test_nothing_is_taken_while_what_stays_mine_cannot_be_told(desk: Desk, state: str) -> None:
    """CLAY-71: files that the rules keep out never slip into a commit because the rules cannot be read."""
    write(desk, "diary.txt")
    rules = write(desk, ".laceignore", b"diary.txt\n")
    base = desk.scan().root
    rules.unlink()
    match state:
        case "long":
            rules.write_bytes(b"diary.txt\n" * 7_000)
        case "link":
            write(desk, "elsewhere", b"diary.txt\n")
            rules.symlink_to("elsewhere")
        case "folder":
            rules.mkdir()
        case "pipe":
            os.mkfifo(rules)
        case "wide":  # as PowerShell writes it
            rules.write_bytes("diary.txt\n".encode("utf-16"))
        case "latin":
            rules.write_bytes("tagebücher\n".encode("latin-1"))
        case _:
            rules.write_bytes(b"diary.txt\n")
            rules.chmod(0)
            if os.access(rules, os.R_OK):
                pytest.skip("this person may read everything")
    with pytest.raises(Unreadable, match=r"\.laceignore cannot be read") as caught:
        desk.scan(base)
    assert "stays yours" in caught.value.hint


def test_rules_of_a_stranger_cost_no_time_to_speak_of() -> None:
    """APP-12: stars side by side are one star, and few rules may have many."""
    name = "a" * 250
    rules = Ignore(b"*" * 40 + b"a" + b"*" * 40 + b"b\n[a-T]\n" + b"*a*a*b\n" * 30)
    assert not rules.matches(name, is_dir=False)
    assert len(rules.faults) == 21
    assert Ignore(b"***.o\n").matches("x.o", is_dir=False)
    assert Ignore(b"a/**/b\n").matches("a/x/y/b", is_dir=False)
    assert Ignore(b"\\**\n").matches("*x", is_dir=False)
    assert not Ignore(b"\\**\n").matches("x", is_dir=False)


def test_a_path_named_against_former_rules_costs_no_second_reading_of_the_folder(desk: Desk) -> None:
    """CLAY-71: the same folder is read once, whichever path a person names; a name that nobody names is still held."""
    for path in ("a", "sub/b", "build/x", "build/y"):
        write(desk, path)

    def scan(base: RecordHash | None, *named: str) -> Snapshot:
        return desk.scan(base, how=Scanning(held=Held((Former(b"build/\n"),), named)))

    base = scan(None).root
    assert set(model_of(desk.objects, base)) == {"a", "sub/b"}
    named = scan(base, "build/x")
    assert (named.read, set(model_of(desk.objects, named.root))) == (1, {"a", "sub/b", "build/x"})
    for stands in (named.root, base):
        found = scan(stands)
        assert (found.read, found.root) == (0, stands), "what nobody names now is as the base has it"


_RULES = (
    b"private/\n!work/\n",
    b"node_modules\n/*\n!/work\n",
    b"*.txt\n!**/keep.txt\n",
    b"report[!0-9]*\n",
    b"*[[:digit:]].log\n![[:upper:]]*.log\n",
    b"work/**\n!work/keep.txt\n",
    b"**/private/*\n!private/a\n",
    b"build\n!build/keep.txt\n",
    b"\\#note\n\\!loud\n a.c \nb\\ \n*[]x]\n",
)
_PATHS = (
    "#note", " a.c", "!loud", "Big7.log", "b ", "build/keep.txt", "deep/er/keep.txt", "deep/keep.txt", "deep/other.txt",
    "keep.txt", "node_modules/x", "private/a", "report/x", "report1", "reports", "tail]", "tiny7.log",
    "work/a/keep.txt", "work/keep.txt", "work/node_modules/x", "work/private/a", "work/private/b/c", "work/song",
)  # fmt: skip


@pytest.mark.parametrize("rules", _RULES)
def test_rules_mean_what_they_mean_to_git(desk: Desk, rules: bytes) -> None:
    """CLAY-71: what `.gitignore` would keep out stays mine, and nothing else; a scan takes what git would."""
    for path in _PATHS:
        write(desk, path)
    (desk.root / ".gitignore").write_bytes(rules)
    git = ("git", "-C", str(desk.root))
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"], check=True, capture_output=True
    )
    shutil.rmtree(desk.root / ".git")
    (desk.root / ".gitignore").rename(desk.root / ".laceignore")
    taken = set(model_of(desk.objects, desk.scan().root)) - {".laceignore"}
    assert taken == set(filter(None, listed.stdout.decode().split("\0"))) - {".gitignore"}


_SIGNS = [f"{begin}{chr(code)}" for begin in ("", "a") for code in range(1, 128) if chr(code) not in "/."]
_NAMES = [name for name in _SIGNS if name != ":"] + ["a.", "ab", "a-b", "\\]", "]^", "^-"]  # git asks of no path ":"
_CLASSES = ("alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit")
_SETS = ("[%s]", "[!%s]", "[^%s]", "a[%s-z]", "a[-%s]", "a[]%s]", "a[!]%s-]", "a[x%sy]", "[%s[:digit:]]", "a[\\\\%s]")


@pytest.mark.parametrize("name", _CLASSES)
def test_classes_of_signs_mean_what_they_mean_to_git(tmp_path: Path, name: str) -> None:
    """CLAY-71: rules with four of them were refused, and `space` meant more; each is held to each ASCII sign."""
    git = ("git", "-C", str(tmp_path))
    subprocess.run([*git, "init", "-q"], check=True)
    asked = b"".join(each.encode() + b"\0" for each in _NAMES)
    for made in _SETS:
        rule = (made % f"[:{name}:]").encode() + b"\n"
        (tmp_path / ".gitignore").write_bytes(rule)
        words = [*git, "check-ignore", "--no-index", "-z", "--stdin"]
        told = subprocess.run(words, input=asked, capture_output=True, check=False)  # 1 where it names none
        ignore = Ignore(rule)
        assert ignore.faults == []
        matched = {each for each in _NAMES if ignore.matches(each, is_dir=False)}
        assert (rule, matched) == (rule, set(told.stdout.decode().split("\0")) - {""})


_ESCAPED = (
    "key[a\\]b].txt", "[\\]a]", "[!\\]a]", "[^a\\]]", "a[a\\-z]", "a[!a\\-z]", "[\\^a]", "[\\!]", "[\\]-a]", "[+-\\-]",
    "[\\--0]", "[\\a-\\c]", "[]-a]", "[^]a\\]]", "[a-]", "[-a]", "[a-c-e]", "[--0]", "[0-\\]]", "[!--0]", "a[\\[-^]",
    "[[:]", "a\ue000[\\]]",
    "[[:digit:]\\]]", "[[:digit:]-z]", "[a\\\\]", "a[\\[:digit:]", "\\[a\\]", "a\\[[\\]]", "[*\\]]*", "a[?]",
    "[\\]\\-\\^]",
)  # fmt: skip


@pytest.mark.parametrize("made", _ESCAPED)
def test_escaped_signs_in_a_set_mean_what_they_mean_to_git(tmp_path: Path, made: str) -> None:
    """CLAY-71: a set ended at a bracket that is escaped, so its rule kept nothing out, and no fault was told."""
    git = ("git", "-C", str(tmp_path))
    subprocess.run([*git, "init", "-q"], check=True)
    names = [*_NAMES, *(f"key{sign}.txt" for sign in "ab]\\-c"), "[a]", "a[]", "a[1", "a[:", "a\ue000]"]
    (tmp_path / ".gitignore").write_text(f"{made}\n")
    words = [*git, "check-ignore", "--no-index", "-z", "--stdin"]
    asked = b"".join(name.encode() + b"\0" for name in names)
    told = subprocess.run(words, input=asked, capture_output=True, check=False)  # 1 where it names none
    ignore = Ignore(made.encode() + b"\n")
    assert ignore.faults == []
    matched = {name for name in names if ignore.matches(name, is_dir=False)}
    assert matched == set(told.stdout.decode().split("\0")) - {""}


@pytest.mark.parametrize(
    "rule",
    [b"!", b"draft[1", b"a[b\\]", b"[]", b"[!]a", b"[[:digit:]", b"[a/b]", b"[a-[:digit:]]", b"x\\", b"[[:colour:]]"],
)
def test_what_is_no_pattern_is_named(rule: bytes) -> None:
    """CLAY-71: a rule that cannot be used is said; files that it may be meant to keep out then wait."""
    assert Ignore(rule + b"\n").faults == ["rule 1 is not a valid pattern and is not used"]
