"""The talks of a private repository with its remote: what is listed, fetched and pushed there (decision 7a).

What the remote gives to somebody who has nothing is asked by `transports.git.apart`.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from transports.errors import NotAGitPlace, PlaceDamaged, PlaceUnreachable, UnreadableFile
from transports.git import upkeep
from transports.git.branches import REFS
from transports.git.command import GitRunner
from transports.git.complaints import damaged, web_page
from transports.git.copying import FETCHING, OBJECT_BYTES, Copier
from transports.git.handing import Handover
from transports.git.host import HostRepository
from transports.git.local import check_directory, far_side
from transports.git.object_files import is_oid
from transports.git.refusals import damage, refusal
from transports.git.repository import SEEN, Repository
from transports.layout import MIB
from transports.mailbox import ByteCount
from vault.files import write_atomic

__all__ = [
    "SLACK",
    "Absent",
    "HungUp",
    "Named",
    "Refuted",
    "Stumbled",
    "Talks",
    "Unadvertised",
    "Unfetched",
]

_WHOLE = "refs/lace/whole/"
# What git says of objects that the far side lacks or that are none, and never of a line that was cut.
_SPOILED = re.compile(
    r"not our ref|fsck error|did not send all necessary objects|unable to read [0-9a-f]{40}"
    r"|bad (?:object|tree|blob)|missing (?:blob|tree|commit)|over limit|corruption on the remote side"
    r"|did not receive expected object"
    r"|\(stored in \./objects/"
)
_REFUTED = re.compile(r"fsck error|over limit")
# What it says where the far side went away, and what it says beside that where the line is to blame.
_HUNG_UP = re.compile(r"hung up unexpectedly|read error: Connection reset|expected 'acknowledgments'")
_ON_THE_WAY = re.compile(r"early EOF|index-pack|sideband|RPC failed|curl|ssh:|remote host|client_loop|[Tt]imed? ?out")
_NAMED = re.compile(r"[0-9a-f]{40}|(?<=objects/)[0-9a-f]{2}/[0-9a-f]{38}")
_DISCONNECTED = re.compile(r"unexpected disconnect while reading sideband packet")
_ABSENT = re.compile(r"not our ref")
# How a host's answer names a ref that stands where it was brought, or stood there.
_TAKEN = re.compile(r"^[ +*=]\t([0-9a-f]{40}):([!-~]+)\t", re.MULTILINE)
# What it says of a question for commits where the far side lacks one of them, and where nobody can answer it.
_NOT_ALL = re.compile(r"expected 'acknowledgments', received 'packfile'")
_NO_QUESTION = re.compile(r"requires protocol v2|does not support (?:wait-for-done|--negotiate-only)|unknown option")
_WEB = frozenset({"http", "https"})
_SPOKEN = re.compile(r"packet: +git< ")  # how git traces what a server says in git's protocol, of whichever version
_NOBODYS = f"{1:040x}"  # an object that nobody has
_EVERYTHING = 1_000_000  # commits of one history; git's number for no end brings those of all other mailboxes too
SLACK = 64 * MIB  # bytes a fetch may bring beyond what it was asked for


class Unfetched(UnreadableFile):
    """A mailbox did not come, for what may be over at the next try: the line, the disk here, the host's mood."""

    code = "mailbox-not-fetched"


class Named(Exception):  # only the cause of another error
    """The host, or git here, names objects in its complaint.

    Args:
        oids: their ids.
    """

    def __init__(self, oids: Collection[str]) -> None:
        super().__init__()
        self.oids = frozenset(oids)


class Stumbled(Named):
    """The host stumbles over objects that lie here: it was told so, and needs them to say what is new."""


class Refuted(Named):
    """What came is not what git keeps, and will not be another time."""


class Absent(Named):
    """The host does not have what it is asked for."""


class Unadvertised(Exception):  # never leaves this package
    """The host gives out nothing but what its refs point at."""


class HungUp(Exception):  # never leaves this package
    """The host went away before it sent anything of what it was asked for."""


class Talks:
    """Lists, fetches and pushes for one private repository; past git's talk where its remote is on this machine.

    Args:
        here: the private repository.
        git: runs git in it.
        count: takes the bytes moved.
    """

    def __init__(self, here: Repository, git: GitRunner, count: ByteCount) -> None:
        self._here = here
        self._git = git
        self._count = count
        self._host = HostRepository(git)
        self._copier = Copier(here, git, self._host, count)
        self._handover = Handover(here, git, self._host, count)
        self._taken: dict[str, str] = {}  # by the host's own answers, until somebody asked for them

    def close(self) -> None:
        """Let the git go that reads a remote on this machine; what is asked next starts another."""
        self._host.close()

    def list_remote(self) -> dict[str, str]:
        """Return the remote's refs below lace/: name and id.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        try:
            there = self._copier.refs_there()
            return there if there is not None else self._listed()
        except BaseException:
            self._here.let_gits_go()  # a place that cannot be opened is closed by nobody
            raise

    def _listed(self) -> dict[str, str]:
        check_directory(self._git)
        self._here.hold_again()
        words = ["ls-remote", "--quiet", *self._far("upload-pack"), "--", self._git.remote.url, REFS + "*"]
        code, answer, complaints = self._git.talk(*words)
        self._count.read += len(answer)
        if code:
            raise self._git.fault(complaints)
        if not answer and self._git.remote.protocol in _WEB:
            self._check_spoken(words)
        refs = {}
        for line in answer.decode("utf-8", "replace").splitlines():
            oid, _, name = line.partition("\t")
            if name.startswith(REFS):
                if not is_oid(oid):
                    raise NotAGitPlace(f"The git place {self._git.remote.shown} uses SHA-256 names; lace needs SHA-1.")
                refs[name.removeprefix(REFS)] = oid
        return refs

    def _check_spoken(self, words: Sequence[str]) -> None:
        """Refuse a web server that lists no branch and speaks no git: git takes its page for such a list.

        Raises:
            NotAGitPlace: it is one.
            PlaceError: the remote cannot be asked.
        """
        code, _, complaints = self._git.talk(*words, traces=True)
        if code:
            raise self._git.fault(complaints)
        if not _SPOKEN.search(complaints):
            raise web_page(self._git.remote.shown)

    def commits_there(self, commits: Collection[str]) -> set[str] | None:
        """Return those of some commits without parents that the remote has, whatever refs reach them.

        None where nobody can say so: it speaks an old protocol.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        self._here.flush()
        there: set[str] = set()
        left = [sorted(commits)] if commits else []
        while left:
            some = left.pop()
            self._here.hold_again()
            words = ["fetch", "--negotiate-only", *(f"--negotiation-tip={oid}" for oid in some)]
            code, answer, complaints = self._git.talk(*words, *self._far("upload-pack"), "--", self._git.remote.url)
            self._count.read += len(answer)
            if not code:
                there.update(answer.decode("ascii", "replace").split())
            elif _NO_QUESTION.search(complaints):
                return None
            elif _NOT_ALL.search(complaints) or self._is_hung_up(complaints):
                half = len(some) // 2  # the remote lacks one of them, or one is empty there: ask for fewer
                left += [some[:half], some[half:]] if half else []
            else:
                raise self._git.fault(complaints)
        return there

    def fetch_refs(self, names: Sequence[str]) -> None:
        """Fetch the tips of refs and nothing that lies behind them.

        Raises:
            PlaceError: the remote cannot be asked, or a ref is gone.
        """
        if not self._copier.copy_refs(names, SLACK):
            self._fetch([f"+{REFS}{name}:{SEEN}{name}" for name in names], SLACK, depth=1)

    def fetch_objects(self, oids: Sequence[str], size: int) -> None:
        """Fetch objects by their ids.

        Args:
            oids: their ids.
            size: bytes they have together.

        Raises:
            Unadvertised: the host speaks an old protocol, in which objects cannot be asked for by their ids.
            UnreadableFile: it does not have one of them.
            PlaceError: the remote cannot be asked.
        """
        if not self._copier.copy_pieces(oids, size + SLACK):
            for pack in self._fetch(oids, size + SLACK):
                upkeep.mark_pieces(pack)

    def fetch_history(self, names: Sequence[str], size: int) -> None:
        """Fetch refs with everything that lies behind them; as `fetch_refs`, `size` bytes at most."""
        self._fetch([f"+{REFS}{name}:{SEEN}{name}" for name in names], size + SLACK, depth=_EVERYTHING)
        seen = self._here.seen()
        for name in names:
            # What is fetched of it next begins there: a tip that is fetched alone tells the host nothing.
            with contextlib.suppress(OSError):
                (self._here.path / _WHOLE).mkdir(parents=True, exist_ok=True)
                write_atomic(self._here.path / _WHOLE / name, f"{seen[name]}\n".encode())

    def fetch_commit(self, oid: str) -> None:
        """Fetch a commit and its tree, but nothing that lies behind it; as `fetch_objects`."""
        self._fetch([oid], 2 * SLACK, depth=1)

    def push(
        self,
        oid: str,
        name: str,
        size: int,
        objects: int,
        *,
        expected: str | None = None,
        asks_first: bool = False,
    ) -> None:
        """Bring a ref of the remote to a commit.

        Args:
            oid: the commit.
            name: the ref below lace/.
            size: bytes of the objects that are new to the remote, for the count.
            objects: how many these are.
            expected: where the ref must stand now for it to be replaced; without it only a fast-forward will do.
            asks_first: ask the remote which of the commits behind it are there, whatever refs reach them.

        Raises:
            Moved: the ref stands elsewhere.
            PushRejected: the remote does not take it; `PushTooLarge` where it may take less.
            PlaceError: the remote cannot be asked.
        """
        lease = [f"--force-with-lease={REFS}{name}:{expected}"] if expected is not None else []
        words = ["push", "--porcelain", "--progress", "--no-verify", "--no-signed", *self._far("receive-pack"), *lease]
        words += ["--", self._git.remote.url, f"{oid}:{REFS}{name}"]
        self._taken.pop(name, None)
        if expected is None and not asks_first and self._handover.bring(oid, name, size):
            self._taken[name] = oid
        else:
            answer = self._push(words, is_small=size <= 2 * MIB, settings=self._asking_first() if asks_first else ())
            if (oid, f"{REFS}{name}") in _TAKEN.findall(answer.decode("utf-8", "replace")):
                self._taken[name] = oid
        self._count.written += size + objects * OBJECT_BYTES
        self._here.note(name, oid)

    def was_taken(self, name: str, oid: str) -> bool:
        """Tell, once, whether the host's answer to the last push of a ref says that it stands at a commit.

        It says so after it proved what came and moved the ref. Where that was a while ago, ask it anew.
        """
        return self._taken.pop(name, None) == oid

    def delete(self, name: str, expected: str) -> None:
        """Take a ref of the remote away; as `push`."""
        lease = f"--force-with-lease={REFS}{name}:{expected}"
        words = ["push", "--porcelain", "--no-verify", *self._far("receive-pack"), lease]
        self._push([*words, "--", self._git.remote.url, f":{REFS}{name}"], is_small=True)
        self._git.run("update-ref", "-d", SEEN + name)
        self._here.forget_mine(name)
        self._here.forget_seen()

    def _asking_first(self) -> list[str]:
        """Return the settings with which a push asks what is there; its question goes the way of a fetch."""
        ways = [f"remote.{self._git.remote.url}.uploadpack={far_side('upload-pack')}"] if self._git.remote.path else []
        return ["push.negotiate=true", *ways]

    def _push(self, words: list[str], *, is_small: bool, settings: Sequence[str] = ()) -> bytes:
        """Push and return what the host answers, of each ref.

        Of a little that the host hangs up at twice, and answers in between, the host is to blame.
        """
        try:
            return self._push_once(words, settings)
        except PlaceUnreachable as error:
            if not is_small or not isinstance(error.__cause__, HungUp):
                raise
            self.list_remote()
            try:
                return self._push_once(words, settings)
            except PlaceUnreachable as again:
                if not isinstance(again.__cause__, HungUp):
                    raise
                told = f"The git place {self._git.remote.shown} answers, but hangs up when something is pushed."
                raise PlaceDamaged(told) from again

    def _push_once(self, words: list[str], settings: Sequence[str]) -> bytes:
        check_directory(self._git)
        self._here.hold_again()
        self._here.flush()
        code, answer, complaints = self._git.talk(*words, settings=settings)
        self._count.read += len(answer)
        if not code:
            return answer
        shown = self._git.remote.shown
        fault = refusal(answer, complaints, shown) or self._git.fault(complaints)
        if isinstance(fault, PlaceUnreachable):
            fault = damage(complaints, shown) or fault
        rest, disconnected = _DISCONNECTED.subn("", complaints)
        hung_up = disconnected and not _ON_THE_WAY.search(rest)
        raise fault from (HungUp() if hung_up else None)

    def _fetch(self, spec: Sequence[str], limit: int, *, depth: int = 0) -> set[Path]:
        """Fetch refs or objects of at most so many bytes, and return the packs that came."""
        try:
            return self._fetch_once(spec, limit, depth)
        except PlaceUnreachable as error:
            if len(spec) > 1 or not isinstance(error.__cause__, HungUp):
                raise
        # Git ends without a word at a single file that is empty or no object, which is no line that is cut.
        with contextlib.suppress(UnreadableFile, Unadvertised):
            self._fetch_once([_NOBODYS], SLACK, 0)
        try:
            return self._fetch_once(spec, limit, depth)
        except PlaceUnreachable as error:
            if not isinstance(error.__cause__, HungUp):
                raise
            told = f"The git place {self._git.remote.shown} answers, but hangs up when asked for a part of a mailbox."
            raise UnreadableFile(told) from error

    def _fetch_once(self, spec: Sequence[str], limit: int, depth: int) -> set[Path]:
        path = self._here.path
        check_directory(self._git)
        self._here.hold_again()
        words = ["fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--refmap="]
        words += [
            "--no-recurse-submodules",
            *([f"--depth={depth}"] if depth else []),
            *self._far("upload-pack"),
            "--stdin",
        ]
        with upkeep.turn(path / FETCHING, f"is asking {self._git.remote.shown}", self._git.patience):
            upkeep.clear_partial(path)  # of one that was killed: its bytes are none of what this host sends
            before, code = upkeep.packs(path), -1
            try:
                code, answer, complaints = self._git.talk(
                    *words,
                    "--",
                    self._git.remote.url,
                    stdin="".join(f"{line}\n" for line in spec).encode(),
                    arrived=self._arriving,
                    limit=limit,
                )
            finally:
                self._here.forget_seen()
                if code:
                    upkeep.clear_partial(path)
            came = upkeep.packs(path) - before
        self._count.read += len(answer) + sum(pack.stat().st_size for pack in came)
        if code and "unadvertised object" in complaints:
            raise Unadvertised
        if code and _SPOILED.search(complaints):
            if upkeep.has_torn_index(path):  # what the host left out may lie here, where git looks in vain
                raise damaged(path, "the index of a pack in it is damaged")
            told = f"The git place {self._git.remote.shown} lacks a part of a mailbox."
            named = {oid.replace("/", "") for oid in _NAMED.findall(complaints)}
            here = named.difference(self._here.missing([*named]))
            if here:
                raise UnreadableFile(told) from Stumbled(here)
            kind = Absent if _ABSENT.search(complaints) else Refuted if _REFUTED.search(complaints) else Named
            raise UnreadableFile(told) from kind(named)
        if code:
            hung_up = _HUNG_UP.search(complaints) and not _ON_THE_WAY.search(complaints)
            raise self._git.fault(complaints) from (HungUp() if hung_up else None)
        return came

    def _is_hung_up(self, complaints: str) -> bool:
        """Tell whether the remote hung up and answers still.

        Raises:
            PlaceError: it does not.
        """
        if not _HUNG_UP.search(complaints) or _ON_THE_WAY.search(complaints):
            return False
        self.list_remote()
        return True

    def _arriving(self) -> int:
        total = 0
        with contextlib.suppress(OSError), os.scandir(self._here.path / "objects" / "pack") as files:
            for file in files:
                if file.name.startswith("tmp_pack_"):
                    with contextlib.suppress(OSError):
                        total += file.stat().st_size
        return total

    def _far(self, service: str) -> list[str]:
        if self._git.remote.path is None:
            return []
        return [f"--{service}={far_side(service)}"]
