"""Objects of a private repository: named and written as git names them, asked of gits that stay (decision 7a)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.transports.git_hosts import bare_repository
from tests.transports.git_hosts import git as said
from transports.errors import NotAGitPlace, PlaceNotWritable, UnreadableFile
from transports.git import host
from transports.git.command import GitRunner
from transports.git.object_files import ObjectFiles
from transports.git.objects import Objects, Row, rows_of, tree_of
from transports.git.place import GitPlace
from transports.git.repository import Repository

_ABSENT = "17" * 20


def _said(runner: GitRunner, *words: str) -> str:
    done = subprocess.run(
        ["git", f"--git-dir={runner.repository}", *words],
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"]},
    )
    return done.stdout.decode()


def _left_to_git(repository: Path) -> None:
    """Let objects be looked for in other repositories too, so that lace reads none from its file."""
    (repository / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (repository / "objects" / "info" / "alternates").touch()


def test_git_ends_with_who_asked_it(runner: GitRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C does not reach a git of another session, which would go on in the private repository."""
    begun: list[subprocess.Popen[bytes]] = []

    def stopped(process: subprocess.Popen[bytes], _stdin: bytes) -> tuple[bytes, bytes]:
        begun.append(process)
        raise KeyboardInterrupt

    runner.run("version")  # the import of what runs it runs it too
    monkeypatch.setattr(subprocess.Popen, "communicate", stopped)
    with pytest.raises(KeyboardInterrupt):
        runner.run("cat-file", "--batch")
    (process,) = begun
    assert process.poll() is not None


def test_what_is_added_is_what_git_calls_it(runner: GitRunner) -> None:
    """Before it is written and after; blobs of every size of a pack's header, trees and commits."""
    draw = Random(1)
    objects = Objects(runner)
    blobs = [draw.randbytes(size) for size in (0, 1, 15, 16, 2047, 2048, 65_535, 65_536, 1 << 20, 2_000_001)]
    names = [objects.add("blob", blob) for blob in blobs]
    inner = objects.add("tree", tree_of([Row("z", "blob", names[1])]))
    rows = [
        Row("a", "blob", names[0]),
        Row("a-b", "blob", names[2]),
        Row("a.b", "blob", names[3]),
        Row("b", "tree", inner),
    ]
    rows += [Row(f"{number:040x}", "blob", names[4]) for number in range(150)]
    tree = objects.add("tree", tree_of(rows))
    commit = objects.add("commit", f"tree {tree}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n".encode())
    for _ in range(2):
        assert objects.read(names) == blobs
        assert [known and known.size for known in objects.info(names)] == [len(blob) for blob in blobs]
        assert objects.info([_ABSENT, tree]) == [None, (tree, "tree", len(tree_of(rows)))]
        assert rows_of(objects.read([tree])[0], len(rows)) == sorted(rows)
        objects.flush()
    assert _said(runner, "fsck", "--strict", "--no-dangling") == ""
    assert _said(runner, "rev-parse", f"{commit}^{{tree}}").strip() == tree
    listed = [line.split("\t")[1] for line in _said(runner, "ls-tree", tree).splitlines()]
    assert listed == sorted(row.name for row in rows)
    assert objects.info([f"{commit}^{{tree}}"]) == [(tree, "tree", len(tree_of(rows)))]


def test_a_large_object_that_a_power_cut_tore_is_written_anew(runner: GitRunner) -> None:
    """Git would take the torn one for the object and never push again."""
    piece = Random(2).randbytes(1 << 20)
    objects = Objects(runner)
    name = objects.add("blob", piece)
    path = runner.repository / "objects" / name[:2] / name[2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:70_000])
    path.chmod(0o444)
    with pytest.raises(subprocess.CalledProcessError):
        _said(runner, "fsck", "--strict", "--no-dangling")
    assert Objects(runner).add("blob", piece) == name
    assert _said(runner, "fsck", "--strict", "--no-dangling") == ""
    assert Objects(runner).read([name]) == [piece]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_one_git_answers_many_questions_and_learns_of_what_comes(runner: GitRunner) -> None:
    """What another git writes meanwhile is found; hundreds are asked at once without either side waiting for ever."""
    _left_to_git(runner.repository)
    objects = Objects(runner)
    assert objects.info([_ABSENT]) == [None]
    asked = objects._running["--batch-command"].process
    blobs = [b"%d" % number * 300 for number in range(700)]
    names = [objects.add("blob", blob) for blob in blobs]
    Objects(runner).info([_ABSENT])
    objects.flush()
    assert objects.read(names) == blobs
    assert all(objects.info(names))
    assert objects._running["--batch-command"].process is asked
    objects.close()
    assert asked.returncode == 0
    assert objects.read(names[:2]) == blobs[:2]
    last = objects._running["--batch-command"].process
    del objects
    assert last.returncode == 0  # who lets go of the repository leaves no git behind


def test_a_git_that_is_gone_is_named_and_another_one_begun(runner: GitRunner) -> None:
    _left_to_git(runner.repository)
    objects = Objects(runner)
    name, other = (objects.add("blob", letter * 100) for letter in (b"x", b"y"))
    objects.flush()
    assert objects.read([other])
    objects._running["--batch-command"].process.kill()
    objects._running["--batch-command"].process.wait()
    with pytest.raises(PlaceNotWritable, match="private repository"):
        objects.read([name])
    with pytest.raises(PlaceNotWritable, match="is gone"):
        objects.read([_ABSENT, name])
    assert objects.read([name]) == [b"x" * 100]


def test_git_is_asked_once_what_an_object_is_and_anew_whether_it_lies_here(
    runner: GitRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A visit reads heads, trees and short runs again and again; each question waits for another process."""
    asked: list[tuple[str, tuple[str, ...]]] = []
    ask = Objects._asked

    def counted(objects: Objects, what: str, names: Sequence[str]) -> list[bytes]:
        if names:
            asked.append((what, tuple(names)))
        return ask(objects, what, names)

    monkeypatch.setattr(Objects, "_asked", counted)
    repository = Repository(runner)
    repository.begin(runner.home / "private.git")
    _left_to_git(repository.path)
    small, large = repository.store(b"x" * 100), repository.store(b"y" * 100_000)
    tree = repository.store_tree({"small": ("blob", small), "large": ("blob", large)})
    repository.flush()
    for _ in range(3):
        assert repository.tree(tree, 2)["large"].size == 100_000
        assert repository.read([small], 100) == [b"x" * 100]
    once = [("info", (tree,)), ("contents", (tree,)), ("contents", (small,))]
    assert [asked.count(question) for question in once] == [1, 1, 1]
    assert len(asked) == 6  # a large one goes once the far side holds it, so it is asked about each time
    repository.read([large], 100_000)
    repository.read([large], 100_000)
    assert asked[6:] == [("info", (large,)), ("contents", (large,))] * 2
    other = Repository(runner)
    other.begin(runner.home / "private.git", tidies=False)
    other.forget_pieces([small])
    assert repository.missing([small, large]) == [small]
    with pytest.raises(UnreadableFile):
        repository.read([small], 100)
    other.forget_pieces([large])
    with pytest.raises(UnreadableFile):
        repository.read([large], 100_000)
    other.close()
    repository.close()


def test_an_older_git_is_asked_by_two(runner: GitRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git answers both kinds of questions at once since 2.36; one before ends with what it says of a strange option."""
    older = tmp_path / "older" / "git"
    older.parent.mkdir()
    older.write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = --batch-command ] && exit 129; done\nexec {shutil.which("git")} "$@"\n'
    )
    older.chmod(0o755)
    monkeypatch.setenv("PATH", f"{older.parent}{os.pathsep}{os.environ['PATH']}")
    _left_to_git(runner.repository)
    objects = Objects(runner)
    blobs = [b"%d" % number for number in range(150)]
    names = [objects.add("blob", blob) for blob in blobs]
    objects.flush()
    assert [known and known.size for known in objects.info([*names, _ABSENT])] == [*map(len, blobs), None]
    assert objects.read(names) == blobs
    assert sorted(objects._running) == ["--batch", "--batch-check"]
    objects.close()


def test_few_objects_are_written_without_a_git_and_torn_ones_anew(runner: GitRunner) -> None:
    """As large ones: a power cut may have left nothing of one but its name."""
    objects = Objects(runner)
    names = [objects.add("blob", b"%d" % number * 50) for number in range(3)]
    objects.flush()
    assert objects._running == {}
    torn = runner.repository / "objects" / names[0][:2] / names[0][2:]
    torn.chmod(0o644)
    torn.write_bytes(b"")
    assert [objects.add("blob", b"%d" % number * 50) for number in range(3)] == names
    objects.flush()
    assert _said(runner, "fsck", "--strict", "--no-dangling") == ""
    assert objects.read(names) == [b"%d" % number * 50 for number in range(3)]


@pytest.mark.parametrize("bad", [b"100644 a", b"100644 a\0" + b"1" * 19, b"100644\0" + b"1" * 20, b"\0" + b"1" * 20])
def test_what_is_no_tree_is_none(bad: bytes) -> None:
    good = tree_of([Row("a", "blob", "11" * 20)])
    assert rows_of(good, 1) == [("a", "blob", "11" * 20)]
    assert rows_of(good, 0) is None
    assert rows_of(good + bad, 5) is None


@pytest.mark.parametrize("is_here", [True, False])
def test_a_look_at_what_is_known_starts_no_git_but_for_a_talk(
    at: Callable[[str], GitPlace], monkeypatch: pytest.MonkeyPatch, is_here: bool
) -> None:
    """Performance W5: to start one takes longer than to read what it would say."""
    with closing(at("a")) as place:
        if not is_here:
            monkeypatch.setattr(host, "own_directory", lambda _path: None)
        began, begin = list[str](), GitRunner._begin

        def listening(runner: GitRunner, words: list[str]) -> subprocess.Popen[bytes]:
            began.append(next(word for word in ("cat-file", "ls-remote", "other") if word in [*words, "other"]))
            return begin(runner, words)

        place.close()
        monkeypatch.setattr(GitRunner, "_begin", listening)
        place.check()
    assert began == ([] if is_here else ["ls-remote"])


def test_no_git_stays_where_a_place_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds on to what was raised."""
    started: list[subprocess.Popen[bytes]] = []
    begin = GitRunner._begin

    def listening(runner: GitRunner, words: list[str]) -> subprocess.Popen[bytes]:
        started.append(begin(runner, words))
        return started[-1]

    bare = bare_repository(tmp_path / "host.git")
    blob = said(bare, "hash-object", "-w", "--stdin", stdin=b"no place")
    tree = said(bare, "mktree", stdin=f"100644 blob {blob}\tplace\n".encode())
    said(bare, "update-ref", "refs/heads/lace/place", said(bare, "commit-tree", tree, "-m", "x"))
    monkeypatch.setattr(ObjectFiles, "_look", lambda _files: False)
    monkeypatch.setattr(GitRunner, "_begin", listening)
    with pytest.raises(NotAGitPlace) as held:
        GitPlace.open(f"git+file:{bare}", tmp_path / "home")
    assert started
    assert all(process.returncode is not None for process in started), held
