"""Running git (architecture decision 7a): nothing of the person's own configuration, no prompt, no hook.

Git reads three sources that lace does not own: the system's configuration, the person's, and the environment.
The first is switched off, the second replaced by a file of lace's, the third overruled name by name. What a
person sets to reach a host stays: `GIT_SSH_COMMAND`, `GIT_ASKPASS`, the ssh agent and `~/.netrc`.
"""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from time import monotonic
from typing import IO, cast

from transports.errors import GitMissing
from transports.git.complaints import complaint, damaged, fault_of_git
from transports.git.library import git_library
from transports.git.pace import Pace
from transports.git.remote import GitRemote
from transports.git.upkeep import has_torn_object, keep_file
from transports.git.watchdog import Watchdog
from vault.errors import PlaceError
from vault.lock import Patience

__all__ = ["GitRunner", "drain"]

_TICK = 0.5  # seconds between two looks at how a talk gets on
_PATIENCE = 5.0  # seconds that git gets to tidy up when it is ended
_CONFIG_NAME = "config"
_CONFIG = """\
# Written by lace; git reads this file instead of your own configuration when lace runs it.
[core]
\tcompression = 0
\tbigFileThreshold = 1m
\tpackedGitWindowSize = 1m
\tpackedGitLimit = 16m
\thooksPath = /dev/null
\taskPass =
\tsshCommand = ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=30
\tfsmonitor = false
\tlogAllRefUpdates = false
[pack]
\twindow = 0
\twriteReverseIndex = false
[fetch]
\tunpackLimit = 1
\tfsckObjects = true
\twriteCommitGraph = false
\trecurseSubmodules = false
[transfer]
\tfsckObjects = true
\tunpackLimit = 1
[push]
\trecurseSubmodules = no
\tgpgSign = false
\tfollowTags = false
[submodule]
\trecurse = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[http]
\tfollowRedirects = false
\tlowSpeedLimit = 1
\tlowSpeedTime = 60
[protocol]
\tallow = never
\tversion = 2
[init]
\tdefaultBranch = lace/none
\ttemplateDir =
[advice]
\tfetchShowForcedUpdates = false
"""
_DAMAGED = re.compile(r"is corrupt|corrupt loose|index file|inflate: data stream")
_TYPELESS = re.compile(r"invalid object type")  # git names no file then, nor on which side it lies
_FITS = 4096  # bytes that any pipe takes before somebody reads them
_ALLOC_LIMIT = "64m"  # what git may take in one piece of memory; a kilobyte of deltas can ask for gigabytes
_COMPLAINT_LIMIT = 64 * 1024  # bytes of standard error kept


class GitRunner:
    """Runs git for one private repository and one remote.

    Args:
        home: lace's own directory of private repositories; it holds the configuration too.
        remote: the only repository that git may talk to.
        patience: how the person waits for a host, and for another process that asks there.

    Raises:
        GitMissing: there is no git here.
    """

    def __init__(self, home: Path, remote: GitRemote, patience: Patience = Patience()) -> None:
        self.home = home
        self.remote = remote
        self.patience = patience
        self.repository = home / "new.git"
        home.mkdir(parents=True, exist_ok=True)
        config = home / _CONFIG_NAME
        keep_file(config, _CONFIG.encode())

    def at(self, repository: Path) -> GitRunner:
        """Return one that runs git in another repository, with the same remote."""
        other = GitRunner(self.home, self.remote, self.patience)
        other.repository = repository
        return other

    def run(self, *words: str, stdin: bytes = b"") -> bytes:
        """Run plumbing on the private repository and return its output.

        Raises:
            PlaceNotWritable: git fails; the disk under the vault is full, or the private repository damaged.
        """
        code, output, errors = self._answered(words, stdin)
        if code:
            raise damaged(self.repository, complaint(errors))
        return output

    def try_run(self, *words: str) -> tuple[int, bytes]:
        """Run plumbing whose failure is an answer; return its exit code and output."""
        code, output, _ = self._answered(words, b"")
        return code, output

    @contextmanager
    def beside(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """Lend plumbing for the block, whose complaints nobody hears; if it did not end by then, it is ended."""
        process = self._begin(self._words(words))
        threading.Thread(target=drain, args=(process.stderr,), daemon=True).start()
        try:
            yield process
        finally:
            if process.poll() is None:
                _end(process)
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    cast("IO[bytes]", stream).close()

    def stay(self, *words: str) -> subprocess.Popen[bytes]:
        """Start plumbing that answers on its output for as long as its input is open; its starter ends it."""
        return self._begin(self._words(words))

    def talk(
        self,
        *words: str,
        stdin: bytes = b"",
        arrived: Callable[[], int] | None = None,
        limit: int = 0,
        settings: Sequence[str] = (),
        traces: bool = False,
    ) -> tuple[int, bytes, str]:
        """Run a command that talks with the remote; return its exit code, output and complaints.

        Args:
            words: the command without `git`.
            stdin: what it reads.
            arrived: for a fetch, returns the bytes that are here.
            limit: how many there may be.
            settings: `name=value`, for this talk alone.
            traces: whether each line of git's protocol stands among the complaints too.

        Raises:
            PlaceUnreachable: the host fell silent, or the talk hardly gets on.
            SentTooMuch: it sent more than it may.
            Cancelled: the person would not wait any longer.
        """
        # What git hands over to be sent moves nothing for it any more: on a slow line it waits for longer than a fetch.
        slow = [f"http.lowSpeedTime={self.patience.window:.0f}"] if words[0] == "push" else []
        options = [word for setting in (*slow, *settings) for word in ("-c", setting)]
        more = {"GIT_TRACE_PACKET": "1"} if traces else {}
        with Watchdog() as watchdog:
            process = self._begin(self._words([*options, *words]), **more)
            watchdog.watch(process.pid)
            try:
                return self._listen(process, stdin, Pace(self.remote.shown, self.patience, arrived, limit))
            finally:
                if process.poll() is None:
                    _end(process)

    def fault(self, complaints: str) -> PlaceError:
        """Return the error that a failed talk with the remote means.

        Raises:
            PlaceNotWritable: the private repository is damaged: it is to blame for itself, not the one it talks to.
        """
        path = self.repository
        if self.remote.path is not None:
            self.run("rev-parse", "--git-dir")
        if _TYPELESS.search(complaints) and has_torn_object(path):
            raise damaged(path, "an object in it is damaged")
        names_pack = f"{path / 'objects' / 'pack' / 'pack-'}" in complaints  # git has a dozen wordings
        if names_pack or (str(path) in complaints and _DAMAGED.search(complaints)):
            raise damaged(path, "something in it is damaged")
        return fault_of_git(complaints, self.remote.shown)

    def _answered(self, words: Sequence[str], stdin: bytes) -> tuple[int, bytes, bytes]:
        process = self._begin(self._words(words))
        try:
            output, errors = process.communicate(stdin)
        finally:
            if process.poll() is None:
                _end(process)  # Ctrl-C does not reach it: it has a session of its own
        return process.returncode, output, errors

    def _listen(self, process: subprocess.Popen[bytes], stdin: bytes, pace: Pace) -> tuple[int, bytes, str]:
        heard: queue.Queue[tuple[str, bytes]] = queue.Queue()  # a SimpleQueue may wait for ever after a signal
        streams = {"out": cast("BufferedReader", process.stdout), "err": cast("BufferedReader", process.stderr)}
        for name, stream in streams.items():
            threading.Thread(target=_pump, args=(name, stream, heard), daemon=True).start()
        if len(stdin) <= _FITS:
            _feed(process.stdin, stdin)
        else:
            threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True).start()
        parts: dict[str, list[bytes]] = {"out": [], "err": []}
        still_open = set(streams)
        while still_open:
            self.patience.sleep(0)
            began = monotonic()
            try:
                name, data = heard.get(timeout=_TICK)
            except queue.Empty:
                if still_open == {"err"} and process.poll() is not None:
                    break  # what git started stays and holds it: an ssh that keeps its connection for the next talk
            else:
                pace.heard(name, data)
                if not data:
                    still_open.remove(name)
                parts[name].append(data)
                if name == "err" and sum(map(len, parts[name])) > _COMPLAINT_LIMIT:
                    parts[name] = [b"".join(parts[name])[-_COMPLAINT_LIMIT // 2 :]]
            pace.passed(min(monotonic() - began, 2 * _TICK))  # that this machine stood still is no fault of the host
        return process.wait(), b"".join(parts["out"]), b"".join(parts["err"]).decode("utf-8", "replace")

    def _words(self, words: Sequence[str]) -> list[str]:
        return ["git", f"--git-dir={self.repository}", "--no-replace-objects", *words]

    def _begin(self, words: list[str], **more: str) -> subprocess.Popen[bytes]:
        try:
            git, not_found = git_library()
        except ImportError as error:
            told = (
                f"{self.remote.shown} is a git place, and GitPython, by which lace runs git, cannot be loaded: {error}."
            )
            raise GitMissing(told, hint="Install lace anew, with all that it needs.") from error
        try:
            running = git(str(self.home)).execute(
                words,
                istream=subprocess.PIPE,
                as_process=True,
                env={**self._environment(), **more},
                start_new_session=True,
            )
        except not_found as error:
            raise GitMissing(f"{self.remote.shown} is a git place, and git cannot be run here.") from error
        process = running.proc
        running.proc = None  # its own finaliser would end the process when this handle goes away
        return cast("subprocess.Popen[bytes]", process)

    def _environment(self) -> dict[str, str]:
        objects = str(self.repository / "objects")
        return {
            "GIT_ALLOC_LIMIT": _ALLOC_LIMIT,
            "GIT_ALLOW_PROTOCOL": self.remote.protocol,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
            "GIT_CONFIG_COUNT": "0",
            "GIT_CONFIG_GLOBAL": str(self.home / _CONFIG_NAME),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_PARAMETERS": "",
            "GIT_COMMON_DIR": str(self.repository),
            "GIT_DIR": str(self.repository),
            "GIT_INDEX_FILE": str(self.repository / "index"),
            "GIT_NAMESPACE": "",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OBJECT_DIRECTORY": objects,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_TEMPLATE_DIR": "",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_TRACE": "0",
            "GIT_TRACE2": "0",
            "GIT_TRACE2_EVENT": "0",
            "GIT_TRACE2_PERF": "0",
            "GIT_TRACE_CURL": "0",
            "GIT_TRACE_PACKET": "0",
            "GIT_WORK_TREE": str(self.repository),
            "SSH_ASKPASS": "",
            "SSH_ASKPASS_REQUIRE": "never",
        }


def drain(stream: IO[bytes] | None) -> None:
    """Take what nobody hears: who writes into a full pipe waits for ever."""
    with suppress(OSError, ValueError):
        while stream is not None and stream.read(4096):
            pass


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git and what it started, such as ssh; first so that it takes its lock files with it."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            else:
                process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
            return


def _pump(name: str, stream: BufferedReader | None, heard: queue.Queue[tuple[str, bytes]]) -> None:
    try:
        while stream is not None and (data := stream.read1(1 << 16)):
            heard.put((name, data))
    except (OSError, ValueError):
        pass  # the process was ended
    heard.put((name, b""))


def _feed(stream: IO[bytes] | None, data: bytes) -> None:
    if stream is None:
        return
    try:
        with stream:
            stream.write(data)
    except OSError:
        pass  # the process ended before it read everything, and says itself why
