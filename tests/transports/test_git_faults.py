"""A hostile git remote, and a machine with habits of its own (faults.md row 34, CYB-17, decision 7a)."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic

import pytest

from tests.live.proxies import stop_accepting
from tests.transports.git_hosts import bare_repository, git, web_host
from tests.transports.helpers import GROUP, additions, key, put, some_records
from transports.errors import (
    AccessRefused,
    GitMissing,
    NotAGitPlace,
    PlaceFull,
    PlaceNotWritable,
    PlaceUnreachable,
)
from transports.git import library
from transports.git.command import GitRunner
from transports.git.complaints import complaint, fault_of_git
from transports.git.place import GitPlace
from transports.git.remote import git_uri, parse_remote
from transports.mailbox import Mailbox
from transports.reading import read_head
from vault.errors import PlaceError
from vault.lock import Patience

NODE = key(1).verifier
HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-receive",
    "post-rewrite", "post-update", "pre-auto-gc", "pre-commit", "pre-push", "pre-receive", "proc-receive",
    "push-to-checkout", "reference-transaction", "update",
)  # fmt: skip


def trap(path: Path, canary: Path) -> None:
    """Write a program that tells that it ran."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho ran >> '{canary}'\nexit 0\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def use(uri: str, home: Path) -> None:
    """Push to a place and read from it."""
    place = GitPlace.create(uri, home, entropy=os.urandom)
    put(place, key(1), additions(some_records(3)))
    assert read_head(Mailbox(GitPlace.create(uri, home / "other", entropy=os.urandom), GROUP, NODE)) is not None


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


# Nothing of the remote's runs


def test_hooks_of_a_repository_on_this_machine_never_run(tmp_path: Path, canary: Path) -> None:
    bare = bare_repository(tmp_path / "trap 'quoted'.git")
    for hook in HOOKS:
        trap(bare / "hooks" / hook, canary)
    use(git_uri(bare), tmp_path / "a")
    assert not canary.exists()
    # The trap is a real one: git itself, as a person runs it, falls into it.
    blob = git(bare, "hash-object", "-w", "--stdin", stdin=b"x")
    commit = git(bare, "commit-tree", git(bare, "mktree", stdin=f"100644 blob {blob}\tx\n".encode()), "-m", "x")
    git(bare, "push", str(bare), f"{commit}:refs/heads/other")
    assert canary.exists()


@pytest.mark.parametrize(
    ("key_name", "value"),
    [
        ("core.alternateRefsCommand", "{trap}"),
        ("core.fsmonitor", "{trap}"),
        ("core.sshCommand", "{trap}"),
        ("core.worktree", "{folder}"),
        ("uploadpack.packObjectsHook", "{trap}"),
        ("gc.recentObjectsHook", "{trap}"),
        ("receive.procReceiveRefs", "refs/heads"),
        ("remote.x.uploadpack", "{trap}"),
        ("filter.x.smudge", "{trap}"),
        ("include.path", "{folder}/more"),
        ("credential.helper", "{trap}"),
    ],
)
def test_a_configuration_that_starts_programs_is_not_trusted(
    tmp_path: Path, canary: Path, key_name: str, value: str
) -> None:
    bare = bare_repository(tmp_path / "remote.git")
    trap(tmp_path / "trap", canary)
    git(bare, "config", key_name, value.format(trap=tmp_path / "trap", folder=tmp_path))
    with pytest.raises(NotAGitPlace, match=key_name.lower().split(".")[0]):
        use(git_uri(bare), tmp_path / "a")
    assert not canary.exists()


@pytest.mark.parametrize("name", ["objects", "refs", "refs/heads/lace", "logs", "objects/17", "commondir", ".git"])
def test_a_repository_that_leads_elsewhere_is_not_written_to(tmp_path: Path, name: str) -> None:
    """Nothing that lies on a medium makes lace write outside it."""
    bare = bare_repository(tmp_path / "remote.git")
    elsewhere = tmp_path / "elsewhere"
    uri = git_uri(bare)
    if name == "commondir":
        bare_repository(elsewhere)
        (bare / name).write_text(f"{elsewhere}\n")
    elif name == ".git":
        bare.rename(elsewhere)
        bare.mkdir()
        (bare / ".git").symlink_to(elsewhere)
    else:
        if (bare / name).exists():
            (bare / name).rename(elsewhere)
        else:
            elsewhere.mkdir()
        (bare / name).symlink_to(elsewhere)
    before = sorted(elsewhere.rglob("*"))
    with pytest.raises(NotAGitPlace, match="leads elsewhere"):
        use(uri, tmp_path / "a")
    assert sorted(elsewhere.rglob("*")) == before


@pytest.mark.parametrize("name", ["logs/HEAD", "logs/refs/heads/lace/place", "logs/refs/heads", "logs/refs"])
def test_a_log_of_refs_that_leads_elsewhere_is_not_written_to(tmp_path: Path, name: str) -> None:
    """CYB-16: git adds a line to a log that is there, whatever it was told of logs: to a shell's start file, too."""
    bare, elsewhere = bare_repository(tmp_path / "remote.git"), tmp_path / "elsewhere"
    log = "logs/HEAD" if name == "logs/HEAD" else "logs/refs/heads/lace/place"
    (bare / "HEAD").write_text("ref: refs/heads/lace/place\n")
    git(bare, "config", "user.name", "$(echo anything)")
    (bare / log).parent.mkdir(parents=True)
    (bare / log).write_text("")
    (bare / name).rename(elsewhere)
    (bare / name).symlink_to(elsewhere)
    with pytest.raises(NotAGitPlace, match="leads elsewhere"):
        use(git_uri(bare), tmp_path / "a")
    assert (bare / log).read_text() == ""


def test_a_configuration_that_turns_bad_later_is_noticed(tmp_path: Path, canary: Path) -> None:
    bare = bare_repository(tmp_path / "remote.git")
    place = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    trap(tmp_path / "trap", canary)
    git(bare, "config", "core.alternateRefsCommand", str(tmp_path / "trap"))
    with pytest.raises(NotAGitPlace):
        put(place, key(1), additions(some_records(1)))
    assert not canary.exists()


def test_hooks_on_the_person_s_side_never_run(tmp_path: Path, canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pre-push hook of the person's own templates or configuration is none of lace's."""
    hooks = tmp_path / "hooks"
    for hook in HOOKS:
        trap(hooks / hook, canary)
        trap(tmp_path / "template" / "hooks" / hook, canary)
    config = tmp_path / "gitconfig"
    config.write_text(
        f"[core]\n\thooksPath = {hooks}\n[init]\n\ttemplateDir = {tmp_path / 'template'}\n"
        "[user]\n\tname = Alice Person\n\temail = alice@example.org\n[commit]\n\tgpgSign = true\n"
        "[url \"ext::sh -c 'touch x' \"]\n\tinsteadOf = file://\n[push]\n\tgpgSign = true\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(tmp_path / "template"))
    bare = bare_repository(tmp_path / "remote.git")
    use(git_uri(bare), tmp_path / "a")
    assert not canary.exists()
    assert "Alice" not in git(bare, "log", "--all", "--format=%an %ae %cn %ce %B")


def test_variables_of_the_person_s_git_do_not_lead_astray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lace started from a git hook or alias inherits variables that point into another repository."""
    own = bare_repository(tmp_path / "own.git")
    before = sorted(path for path in own.rglob("*"))
    bare = bare_repository(tmp_path / "remote.git")
    for name, value in {
        "GIT_DIR": own,
        "GIT_WORK_TREE": tmp_path,
        "GIT_OBJECT_DIRECTORY": own / "objects",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": own / "objects",
        "GIT_INDEX_FILE": own / "index",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "false",
        "GIT_CONFIG_PARAMETERS": "'core.compression'='9'",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TRACE": str(tmp_path / "trace"),
    }.items():
        monkeypatch.setenv(name, str(value))
    use(git_uri(bare), tmp_path / "a")
    assert sorted(path for path in own.rglob("*")) == before
    assert not (tmp_path / "trace").exists()


def test_only_the_protocol_of_the_address_is_spoken(tmp_path: Path) -> None:
    bare = bare_repository(tmp_path / "remote.git")
    runner = GitRunner(tmp_path / "home", parse_remote("https://127.0.0.1:1/v.git"))
    for url in (bare.as_uri(), f"ext::cat {bare}", "git://127.0.0.1:1/v", "ssh://127.0.0.1:1/v"):
        code, _, complaints = runner.talk("ls-remote", "--", url)
        assert code
        assert "not allowed" in complaints


# Hosts that answer oddly or not at all


@contextmanager
def listener(answer: bytes) -> Iterator[int]:
    """Accept one connection after another, send the same bytes to each, and keep it open."""
    server = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            held.append(client)
            client.sendall(answer)
            if answer:
                with suppress(OSError):  # who was answered may be gone
                    client.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        stop_accepting(server, thread)
        for client in held:
            client.close()


def test_a_host_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    with listener(b"") as port, pytest.raises(PlaceUnreachable, match="said nothing"):
        GitPlace.create(f"git://127.0.0.1:{port}/v", tmp_path / "a", patience=Patience(silence=1), entropy=os.urandom)


def test_a_connection_that_ssh_keeps_for_the_next_talk_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with ControlPersist of older versions: what stays in the background holds the stream of complaints open."""
    bare, pids = bare_repository(tmp_path / "v.git"), tmp_path / "pids"
    ssh = tmp_path / "ssh"
    stays = f"sleep 60 </dev/null >/dev/null & echo $! >> '{pids}'"
    ssh.write_text(f'#!/bin/sh\n{stays}\nfor word in "$@"; do said=$word; done\nexec sh -c "$said"\n')
    ssh.chmod(0o700)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    try:
        with closing(
            GitPlace.create(
                f"ssh://friend@host{bare}", tmp_path / "a", patience=Patience(silence=5), entropy=os.urandom
            )
        ) as place:
            put(place, key(1), additions(some_records(3)))
        with closing(GitPlace.open(f"ssh://friend@host{bare}", tmp_path / "b", patience=Patience(silence=5))) as place:
            assert read_head(Mailbox(place, GROUP, NODE)) is not None
    finally:
        for pid in pids.read_text().split():
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"garbage that is no packet line", PlaceUnreachable),
        (b"0000", PlaceError),
        (b"0032ERR access denied or repository not exported: /v", NotAGitPlace),
    ],
)
def test_a_host_that_answers_nonsense(tmp_path: Path, answer: bytes, expected: type[PlaceError]) -> None:
    with listener(answer) as port:
        if answer == b"0000":
            place = GitPlace(f"git://127.0.0.1:{port}/v", tmp_path / "a")
            assert place.nodes(GROUP) == []
        else:
            with pytest.raises(expected):
                GitPlace.create(f"git://127.0.0.1:{port}/v", tmp_path / "a", entropy=os.urandom)


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    # faults.md row 34: credentials never go to a redirect, because nothing does
    with listener(b"") as port:
        answer = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{port}/v/info/refs\r\nContent-Length: 0\r\n\r\n"
        with listener(answer.encode()) as first, pytest.raises(NotAGitPlace) as caught:
            GitPlace.create(
                f"http://127.0.0.1:{first}/v", tmp_path / "a", patience=Patience(silence=5), entropy=os.urandom
            )
    assert "sends on to another address" in caught.value.hint


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("401 Unauthorized", AccessRefused),
        ("403 Forbidden", AccessRefused),
        ("404 Not Found", NotAGitPlace),
        ("500 Oops", PlaceUnreachable),
    ],
)
def test_what_a_web_server_answers(tmp_path: Path, status: str, expected: type[PlaceError]) -> None:
    answer = f"HTTP/1.1 {status}\r\nWWW-Authenticate: Basic realm=v\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with listener(answer.encode()) as port, pytest.raises(expected):
        GitPlace.create(f"http://127.0.0.1:{port}/v", tmp_path / "a", entropy=os.urandom)


@pytest.mark.parametrize("page", ["<html>Please log in</html>", "", "<html>\nPlease log in\n</html>\n"])
@pytest.mark.parametrize("expected", [None, "0123456789abcdef" * 2])
def test_a_web_page_is_no_empty_repository(tmp_path: Path, page: str, expected: str | None) -> None:
    """CYB-15, faults 34: git takes a page of one line for an empty list of branches.

    A network that wants a login first answers so, and a friend was told that somebody deleted the place.
    """
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {len(page)}\r\nConnection: close\r\n\r\n{page}".encode()
    reach = partial(GitPlace.open, expected_id=expected) if expected else partial(GitPlace.create, entropy=os.urandom)
    with listener(answer) as port, pytest.raises(NotAGitPlace) as caught:
        reach(f"http://127.0.0.1:{port}/v", tmp_path / "a")
    assert "wants no login first" in caught.value.hint


@pytest.mark.parametrize("passes_protocol", [True, False])
def test_an_empty_repository_behind_a_web_server_is_one(tmp_path: Path, passes_protocol: bool) -> None:
    """CYB-15: what tells it from a web page is that git answers there, by the old protocol too."""
    bare = bare_repository(tmp_path / "v.git")
    with web_host(tmp_path, passes_protocol=passes_protocol) as host:
        assert GitPlace(host + bare.name, tmp_path / "a").nodes(GROUP) == []


def test_the_road_over_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # CYB-16: git@host:path; the command that stands for ssh runs what it is given on this machine
    bare = bare_repository(tmp_path / "remote.git")
    said = tmp_path / "said"
    program = tmp_path / "ssh"
    program.write_text(f'#!/bin/sh\necho "$@" >> "{said}"\nfor last; do :; done\nexec sh -c "$last"\n')
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    monkeypatch.setenv("GIT_SSH_VARIANT", "ssh")
    use(f"git@example.org:{bare}", tmp_path / "a")
    lines = said.read_text().splitlines()
    assert all("git@example.org git-" in line for line in lines)
    program.write_text("#!/bin/sh\necho 'git@example.org: Permission denied (publickey).' >&2\nexit 255\n")
    with pytest.raises(AccessRefused) as caught:
        GitPlace.create(f"git@example.org:{bare}", tmp_path / "a", entropy=os.urandom)
    assert "git@" not in caught.value.message


def test_a_worn_private_repository_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = bare_repository(tmp_path / "remote.git")
    place = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    _, seen = put(place, key(1), additions(some_records(3)))
    place_id, private = place.place_id, place.private.here.path
    del place
    monkeypatch.setattr("transports.git.upkeep._PACKS", -1)
    again = GitPlace.open(git_uri(bare), tmp_path / "a", place_id)
    assert again.private.here.path == private
    put(again, key(1), additions(some_records(3, 10)), previous=seen)
    assert len(again.files(GROUP, NODE)) == 3


def test_more_than_a_place_may_send_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tip of many megabytes is given up, and the other mailboxes are read."""
    bare = bare_repository(tmp_path / "remote.git")
    place = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    put(place, key(1), additions(some_records(3)))
    name = place.ref(GROUP, key(2).verifier)
    rows = []
    for number in range(40):
        blob = git(bare, "hash-object", "-w", "--stdin", stdin=os.urandom(1 << 20))
        rows.append(f"100644 blob {blob}\tx{number:03}\n")
    tree = git(bare, "mktree", stdin="".join(rows).encode())
    git(bare, "update-ref", f"refs/heads/lace/{name}", git(bare, "commit-tree", tree, "-m", "x"))
    monkeypatch.setattr("transports.git.talks.SLACK", 4 << 20)
    reader = GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom)
    seen = read_head(Mailbox(reader, GROUP, NODE))
    assert seen is not None
    assert not list((reader.private.here.path / "objects" / "pack").glob("tmp_*"))


def test_what_was_seen_is_read_as_git_keeps_it(tmp_path: Path) -> None:
    """A file a ref, or packed by a git that somebody ran there, or torn: the same answer as git's own, or git's."""
    bare = bare_repository(tmp_path / "remote.git")
    place = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    put(place, key(1), additions(some_records(3)))
    path = place.private.here.path

    def seen() -> dict[str, str]:
        return GitPlace.open(git_uri(bare), tmp_path / "a", place.place_id).private.here.seen()

    def said() -> dict[str, str]:
        rows = git(path, "for-each-ref", "--format=%(refname) %(objectname)", "refs/lace/seen/").splitlines()
        return {name.removeprefix("refs/lace/seen/"): oid for name, _, oid in (row.partition(" ") for row in rows)}

    before = said()
    assert len(before) == 2
    assert seen() == before
    lock = path / "refs" / "lace" / "seen" / "place.lock"
    lock.touch()
    assert seen() == before
    lock.unlink(missing_ok=True)
    git(path, "pack-refs", "--all")
    assert not lock.parent.exists()
    assert seen() == before
    lock.parent.mkdir(parents=True)
    (lock.parent / "place").write_bytes(b"")
    (path / "packed-refs").unlink()
    assert seen() == said() == {"place": before["place"]}  # fetched anew, as the other will be when it is read


def test_what_a_killed_git_left_is_cleared(tmp_path: Path) -> None:
    bare = bare_repository(tmp_path / "remote.git")
    owner = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    put(owner, key(1), additions(some_records(3)))
    reader = GitPlace.create(git_uri(bare), tmp_path / "b", entropy=os.urandom)
    path = reader.private.here.path
    leftovers = [path / "shallow.lock", path / "packed-refs.lock", path / "objects" / "pack" / "tmp_pack_x"]
    for leftover in leftovers:
        leftover.touch()
    beside = GitPlace.open(git_uri(bare), tmp_path / "b", owner.place_id)  # not alone: they may be in use
    assert all(leftover.exists() for leftover in leftovers)
    leftovers.pop(0).unlink()
    os.truncate(leftovers[1], 1 << 30)  # and they are none of what the host sends
    assert read_head(Mailbox(beside, GROUP, NODE)) is not None
    assert leftovers[0].exists()
    assert not leftovers[1].exists()  # of no fetch that goes on: they go one after the other
    del reader, beside
    again = GitPlace.open(git_uri(bare), tmp_path / "b", owner.place_id)
    assert not any(leftover.exists() for leftover in leftovers)
    assert read_head(Mailbox(again, GROUP, NODE)) is not None


# What git says, said to a person


@pytest.mark.parametrize(
    ("complaints", "expected"),
    [
        ("git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.", AccessRefused),
        ("fatal: could not read Username for 'https://h': terminal prompts disabled", AccessRefused),
        ("fatal: Authentication failed for 'https://alice:secret@h/v/'", AccessRefused),
        ("fatal: unable to access 'https://h/': The requested URL returned error: 403", AccessRefused),
        ("Host key verification failed.\nfatal: Could not read from remote repository.", AccessRefused),
        ("ERROR: Repository not found.\nfatal: Could not read from remote repository.", NotAGitPlace),
        ("fatal: '/v' does not appear to be a git repository", NotAGitPlace),
        ("fatal: repository 'https://h/v/' not found", NotAGitPlace),
        ("fatal: mismatched algorithms: client sha1; server sha256", NotAGitPlace),
        ("fatal: the receiving end does not support this repository's hash algorithm", NotAGitPlace),
        ("fatal: detected dubious ownership in repository at '/v'", NotAGitPlace),
        ("remote: fatal: write error: No space left on device", PlaceFull),
        ("error: remote unpack failed: insufficient permission for adding an object", PlaceNotWritable),
        ("ssh: Could not resolve hostname h: Name or service not known", PlaceUnreachable),
        ("fatal: unable to access 'https://h/': Failed to connect to h port 443", PlaceUnreachable),
        ("fetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF", PlaceUnreachable),
        ("", PlaceUnreachable),
    ],
)
def test_complaints_become_errors_with_a_way_out(complaints: str, expected: type[PlaceError]) -> None:
    error = fault_of_git(complaints, "h:v")
    assert type(error) is expected
    assert error.message.endswith(".")
    assert error.hint
    assert "h:v" in error.message
    assert "secret" not in error.message


_NO_REASON = (
    "\r\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\n"
    "and the repository exists.\n"
)


@pytest.mark.parametrize(
    ("said", "expected", "reason", "way"),
    [
        ("Host key verification failed.", AccessRefused, "Host key verification failed", "compare the fingerprint"),
        (
            "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key verification failed.",
            AccessRefused,
            "Host key verification failed",
            "ssh-keygen -R",
        ),
        (
            (
                "Warning: Identity file /k not accessible: No such file or directory.\r\n"
                "ssh_askpass: exec(): No such file or directory\r\nalice@h: Permission denied (publickey,password)."
            ),
            AccessRefused,
            "h: Permission denied (publickey,password)",
            "ssh-add",
        ),
        (
            "Connection timed out during banner exchange\r\nConnection to 192.0.2.1 port 22 timed out",
            PlaceUnreachable,
            "Connection to 192.0.2.1 port 22 timed out",
            "network",
        ),
        ("command-line: line 0: Bad configuration option: foo", PlaceUnreachable, "option: foo", "network"),
        ("error: cannot run ssh: No such file or directory\nfatal: unable to fork", GitMissing, "run ssh", "Install"),
        (
            (
                "remote: \nremote: ====\nremote: ERROR: The project could not be found or you don't have permission to"
                " view it.\nremote: ====\nremote: "
            ),
            NotAGitPlace,
            "don't have permission to view it.",
            "bare",
        ),
        ("remote: \nremote: You may not have access to this repository.\nremote: ", NotAGitPlace, "You may", "bare"),
        ("fatal: detected dubious ownership in repository at '/v'", NotAGitPlace, "dubious ownership", "chown -R"),
        ("Forgejo: Unauthorized", AccessRefused, "Forgejo: Unauthorized.", "ssh key"),
        ("ssh -oBatchMode=yes: 1: ssh: not found", GitMissing, "ssh: not found", "Install"),
    ],
)
def test_what_ssh_says_is_the_reason(said: str, expected: type[PlaceError], reason: str, way: str) -> None:
    """As OpenSSH 9.2 says it: git's own word after it, that it could not read, helps nobody."""
    error = fault_of_git(said + _NO_REASON, "h:v")
    assert type(error) is expected
    assert reason in error.message
    assert "Could not read" not in error.message
    assert "alice" not in error.message
    assert way in error.hint


def test_an_answer_without_end_is_named_as_that() -> None:
    """faults.md row 34: git reads no more of it than lace lets it, and the address and network were to be checked."""
    error = fault_of_git("fatal: attempting to allocate 72748005 over limit 67108864\n", "h:v")
    assert (type(error), "no repository" in error.hint) == (PlaceUnreachable, True)


def test_a_complaint_is_short_and_printable() -> None:
    text = complaint(b"remote: \x1b[31mred\x1b[0m\r\n" * 3 + b"fatal: " + b"x" * 1000 + b"\x07\n")
    assert text.startswith("fatal: xxx")
    assert len(text) <= 200
    assert text.isprintable()


@pytest.mark.parametrize("word", ["(:", "(", ":", "(@", "@", "(a:b@c/"])
def test_a_complaint_takes_no_longer_than_it_is_long(word: str) -> None:
    """CYB-17: a host says what it likes, and one line of it kept a sync busy for hours."""
    began = monotonic()
    complaint(f"fatal: {word * 30_000}")
    assert monotonic() - began < 5


def test_a_complaint_does_not_end_before_its_reason() -> None:
    told = b"fatal: unable to connect to host:\nhost[0: 192.0.2.1]: errno=Connection refused\n\n"
    assert complaint(told).endswith("errno=Connection refused")
    assert complaint(b"fatal: nothing after it:\n") == "fatal: nothing after it:"


def test_a_machine_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitMissing):
        GitPlace.create("https://example.org/v.git", tmp_path / "a", entropy=os.urandom)


def test_a_machine_without_the_library_that_runs_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library._loaded.cache_clear()
    monkeypatch.setitem(sys.modules, "git.cmd", None)
    with pytest.raises(GitMissing, match="GitPython") as caught:
        GitPlace.create("https://example.org/v.git", tmp_path / "a", entropy=os.urandom)
    assert caught.value.has_own_hint


@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs", "refs", "../config", "."])
def test_a_private_repository_that_a_power_cut_tore_is_put_right(tmp_path: Path, name: str) -> None:
    """APP-13: zeros where git's own small files were, or nothing; a git that packs refs is a person's."""
    bare = bare_repository(tmp_path / "remote.git")
    place = GitPlace.create(git_uri(bare), tmp_path / "a", entropy=os.urandom)
    put(place, key(1), additions(some_records(3)))
    path = place.private.here.path / name
    place.close()
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.write_bytes(b"\xff" + bytes(60))
    again = GitPlace.open(git_uri(bare), tmp_path / "a", place.place_id)
    assert read_head(Mailbox(again, GROUP, NODE)) is not None
    put(again, key(2), additions(some_records(1)))
