"""A private repository inside the vault: what was fetched, and what is to be pushed (decision 7a).

It is a cache. Deleting it loses nothing: what a place holds is fetched again. Commits in it carry one fixed name
and one fixed date, so that nothing about the person or the machine leaves with them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from transports.errors import NotAGitPlace, PlaceDamaged, PlaceNotWritable, PlaceUnreachable, UnreadableFile
from transports.git import upkeep
from transports.git.command import GitRunner
from transports.git.complaints import damaged, way_out
from transports.git.local import check_directory, far_side
from transports.git.notes import Notes
from transports.git.objects import Objects, Row, rows_of, tree_of
from transports.git.refusals import damage, refusal
from transports.layout import MIB
from transports.mailbox import ByteCount
from vault.errors import LaceError, PlaceError
from vault.files import read_bounded, refuse_write, write_atomic

__all__ = ["REFS", "Entry", "Named", "PrivateRepository", "Refuted", "Stumbled", "Unadvertised", "Unfetched"]

REFS = "refs/heads/lace/"
_SEEN = "refs/lace/seen/"
_WHOLE = "refs/lace/whole/"
_FETCHING = "lace-fetch"  # not named .lock, which is git's word
_ASKING = "lace-apart"
_OID_LINE = 41  # bytes of a ref in a file: 40 hex characters and the end of the line
_OID = re.compile(r"[0-9a-f]{40}", re.ASCII)
_SIGNATURE = "lace <lace> 1000000000 +0000"
_DAMAGED = re.compile(r"is corrupt|corrupt loose|index file|inflate: data stream")
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
_NOBODYS = f"{1:040x}"  # an object that nobody has
_CUTS = 256  # tips that were fetched alone; every talk names them all to the host
_BLAMED = 4  # objects that lie here and are asked for to find out over what the host stumbles
_OBJECT_BYTES = 24  # what a pack adds to one uncompressed object, about
_EVERYTHING = 1_000_000  # commits of one history; git's number for no end brings those of all other mailboxes too
_ROW_BYTES = 320  # of a row of a tree, name and all
_SLACK = 64 * MIB  # bytes a fetch may bring beyond what it was asked for


class Unfetched(UnreadableFile):
    """A mailbox did not come, for what may be over at the next try: the line, the disk here, the host's mood."""

    code = "mailbox-not-fetched"


class Named(Exception):  # noqa: N818 - only the cause of another error
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


class Unadvertised(Exception):  # noqa: N818 - never leaves this package
    """The host gives out nothing but what its refs point at."""


class _HungUp(Exception):  # noqa: N818 - never leaves this module
    """The host went away before it sent anything of what it was asked for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of a tree.

    Args:
        kind: `blob` or `tree`.
        oid: 40 hex characters.
        size: bytes of a blob, 0 for a tree.
    """

    kind: str
    oid: str
    size: int = 0


class PrivateRepository:
    """Objects and refs of one place, and the talks with its remote.

    Args:
        git: runs git.
        count: takes the bytes moved.

    Attributes:
        notes: what is remembered here.
    """

    def __init__(self, git: GitRunner, count: ByteCount) -> None:
        self._git = git
        self._count = count
        self._held: BinaryIO | None = None
        self._objects = Objects(git)
        self._seen: dict[str, str] | None = None
        self.notes = Notes(lambda: git.repository)

    @property
    def path(self) -> Path:
        """The directory."""
        return self._git.repository

    def close(self) -> None:
        """Let the gits that stay go, and the directory; what is asked next starts others and holds it again."""
        self._objects.close()
        if self._held is not None:
            self._held.close()
            self._held = None

    def _hold_again(self) -> None:
        """Hold the directory where it was let go, without clearing up: this has begun long ago."""
        if self._held is None:
            self._held = upkeep.hold(self.path, lambda: None)

    # Making and keeping

    def begin(self, path: Path) -> None:
        """Use the repository at a path, making it if needed."""
        self.close()
        self._seen = None
        self._git.repository = path
        if not (path / "HEAD").is_file():
            shutil.rmtree(path, ignore_errors=True)
            # Made by hand: `git init` stumbles over variables such as GIT_WORK_TREE, which cannot be taken back.
            path.mkdir(parents=True)
        upkeep.lay_out(path)
        self._held = upkeep.hold(path, self._tidy)

    def _tidy(self) -> None:
        upkeep.tidy(self.path)
        cuts = upkeep.cuts(self.path)
        if len(cuts) > _CUTS:
            code, reached = self._git.try_run("rev-list", "--all")
            if not code:
                upkeep.keep_cuts(self.path, sorted(cuts.intersection(reached.decode().split())))

    def move(self, path: Path) -> None:
        """Give the repository its lasting name, or let it go where there is one already."""
        old = self.path
        self._objects.flush()
        self._objects.close()
        if (path / "HEAD").is_file():
            self.begin(path)
            shutil.rmtree(old, ignore_errors=True)
        else:
            shutil.rmtree(path, ignore_errors=True)
            old.rename(path)
            self._git.repository = path

    def is_own(self, tip: str) -> bool:
        """Tell whether a commit that was seen was pushed from here, so that its objects were not flushed.

        What is fetched comes in packs, which git flushes. What is pushed lies here as single files, which nobody
        needs once the far side has them; a power cut may empty them or take them away.
        """
        try:
            return not self.has(tip) or (self.path / "objects" / tip[:2] / tip[2:]).is_file()
        except PlaceNotWritable:
            return True

    def renew(self) -> bool:
        """Begin anew, with nothing, unless somebody else uses it; tell whether it was."""
        upkeep.mark_torn(self.path)
        self.begin(self.path)
        return not upkeep.is_torn(self.path)

    @contextlib.contextmanager
    def _apart(self) -> Iterator[PrivateRepository]:
        """Lend a private repository in which nothing lies, to see what the far side gives; it goes afterwards."""
        path = self.path.with_name(f"{self.path.stem}-apart.git")
        with upkeep.turn(self.path / _ASKING, f"is asking {self._git.remote.shown}", self._git.patience):
            shutil.rmtree(path, ignore_errors=True)
            other = PrivateRepository(GitRunner(self._git.home, self._git.remote, self._git.patience), self._count)
            try:
                other.begin(path)
                yield other
            finally:
                other.close()
                shutil.rmtree(path, ignore_errors=True)

    def forsake(self) -> None:
        """Let the next visit begin anew, with nothing: what lies here is more than what the far side has."""
        upkeep.mark_torn(self.path)

    def forget_pieces(self, oids: Iterable[str]) -> None:
        """Free the room of pieces that the far side holds now."""
        for oid in oids:
            with contextlib.suppress(OSError):
                (self.path / "objects" / oid[:2] / oid[2:]).unlink(missing_ok=True)

    # Objects

    def store(self, data: bytes, kind: str = "blob") -> str:
        """Take an object and return its id; it is written at the latest before a push."""
        return self._objects.add(kind, data)

    def store_tree(self, entries: dict[str, tuple[str, str]]) -> str:
        """Take a tree of names with (kind, id) and return its id; nothing says that pieces must lie here."""
        return self._objects.add("tree", tree_of([Row(name, kind, oid) for name, (kind, oid) in entries.items()]))

    def store_commit(self, tree: str, parents: Sequence[str] = ()) -> str:
        """Store a commit that says nothing but lace and return its id."""
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {_SIGNATURE}", f"committer {_SIGNATURE}", "", "lace", ""]
        return self.store("\n".join(lines).encode(), "commit")

    def has(self, oid: str) -> bool:
        """Tell whether an object lies here."""
        return self._objects.info([oid])[0] is not None

    def missing(self, oids: Sequence[str]) -> list[str]:
        """Return those of the objects that do not lie here, in the order given."""
        return [oid for oid, info in zip(oids, self._objects.info(oids), strict=True) if info is None]

    def tree(self, name: str, limit: int) -> dict[str, Entry]:
        """Return the rows of one tree, or of a commit's.

        Raises:
            UnreadableFile: it is no tree, or has more rows than `limit`.
        """
        (info,) = self._objects.info([f"{name}^{{tree}}"])
        rows = None
        if info is not None and info.kind == "tree" and info.size <= limit * _ROW_BYTES:
            rows = rows_of(self._objects.read([info.oid])[0], limit)
        if rows is None:
            raise UnreadableFile("What lies in the mailbox's place is no mailbox.", hint=way_out(self.path))
        blobs = {row.oid for row in rows if row.kind == "blob"}
        sizes = dict(zip(blobs, self._objects.info(list(blobs)), strict=True))
        entries: dict[str, Entry] = {}
        for row in rows:
            known = sizes.get(row.oid)
            if row.oid in blobs and known is None:
                raise UnreadableFile("What lies in the mailbox's place is no mailbox.", hint=way_out(self.path))
            entries[row.name] = Entry(row.kind, row.oid, known.size if known else 0)
        return entries

    def read(self, oids: Sequence[str], limit: int) -> list[bytes]:
        """Return the bytes of blobs.

        Args:
            oids: their ids.
            limit: bytes they may have together.

        Raises:
            UnreadableFile: one is missing, no blob, or they are larger.
        """
        known = self._objects.info(oids)
        if any(info is None or info.kind != "blob" for info in known) or sum(i.size for i in known if i) > limit:
            raise UnreadableFile("A part of the mailbox is missing, or not what it should be.", hint=way_out(self.path))
        return self._objects.read(oids)

    # Refs

    def seen(self) -> dict[str, str]:
        """Return the remote's refs below lace/ as they were last fetched or pushed here: name and id."""
        if self._seen is None:
            self._seen = self._single_refs()
        if self._seen is None:
            rows = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", _SEEN).decode().splitlines()
            self._seen = {name.removeprefix(_SEEN): oid for oid, _, name in (row.partition(" ") for row in rows)}
        return self._seen

    def _single_refs(self) -> dict[str, str] | None:
        """Return the refs as git writes them, a file each; None when git has to be asked, which may pack them."""
        if (self.path / "packed-refs").exists():
            return None
        found: dict[str, str] = {}
        try:
            for name in os.listdir(self.path / _SEEN):  # noqa: PTH208 - names alone are wanted
                if name.endswith(".lock"):
                    continue
                text = read_bounded(self.path / _SEEN / name, _OID_LINE).decode("ascii", "replace")
                oid = text.removesuffix("\n")
                if _OID.fullmatch(oid) is not None:
                    found[name] = oid
                else:  # torn by a power cut: git would fetch nothing into it any more
                    (self.path / _SEEN / name).unlink(missing_ok=True)
        except FileNotFoundError:
            pass  # nothing was fetched yet
        except (OSError, LaceError):
            return None
        return found

    def note(self, name: str, oid: str) -> None:
        """Remember where a ref of the remote stands."""
        path = self.path / _SEEN / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, f"{oid}\n".encode())
        except OSError as error:
            refuse_write(path, error)
        if self._seen is not None:
            self._seen[name] = oid

    # Talks with the remote

    def list_remote(self) -> dict[str, str]:
        """Return the remote's refs below lace/: name and id.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        check_directory(self._git)
        self._hold_again()
        words = ["ls-remote", "--quiet", *self._far("upload-pack"), "--", self._git.remote.url, REFS + "*"]
        code, answer, complaints = self._git.talk(*words)
        self._count.read += len(answer)
        if code:
            raise self._fault(complaints)
        refs = {}
        for line in answer.decode("utf-8", "replace").splitlines():
            oid, _, name = line.partition("\t")
            if name.startswith(REFS):
                if _OID.fullmatch(oid) is None:
                    raise NotAGitPlace(f"The git place {self._git.remote.shown} uses SHA-256 names; lace needs SHA-1.")
                refs[name.removeprefix(REFS)] = oid
        return refs

    def fetch_refs(self, names: Sequence[str]) -> None:
        """Fetch the tips of refs and nothing that lies behind them.

        Raises:
            PlaceError: the remote cannot be asked, or a ref is gone.
        """
        self._fetch([f"+{REFS}{name}:{_SEEN}{name}" for name in names], _SLACK, depth=1)

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
        for pack in self._fetch(oids, size + _SLACK):
            upkeep.mark_pieces(pack)

    def fetch_history(self, names: Sequence[str], size: int) -> None:
        """Fetch refs with everything that lies behind them; as `fetch_refs`, `size` bytes at most."""
        self._fetch([f"+{REFS}{name}:{_SEEN}{name}" for name in names], size + _SLACK, depth=_EVERYTHING)
        seen = self.seen()
        for (
            name
        ) in names:  # what is fetched of it next begins there: a tip that is fetched alone tells the host nothing
            with contextlib.suppress(OSError):
                (self.path / _WHOLE).mkdir(parents=True, exist_ok=True)
                write_atomic(self.path / _WHOLE / name, f"{seen[name]}\n".encode())

    def fetch_commit(self, oid: str) -> None:
        """Fetch a commit and its tree, but nothing that lies behind it; as `fetch_objects`."""
        self._fetch([oid], 2 * _SLACK, depth=1)

    def is_refused(self, oid: str, *, is_piece: bool = False) -> bool:
        """Ask the far side for an object as somebody who has nothing; tell whether it does not give it.

        Args:
            oid: its id.
            is_piece: whether it is a piece; a commit or tree is nothing without what lies in it.

        Raises:
            PlaceError: the remote cannot be asked.
        """
        try:
            with self._apart() as empty:
                if is_piece:
                    empty.fetch_objects([oid], MIB)
                else:
                    empty.fetch_commit(oid)
        except UnreadableFile:
            return True
        except Unadvertised:
            return False  # nobody will ever know
        return False

    def is_to_blame(self, stumbled: Stumbled) -> bool:
        """Tell whether the host stumbles because it lost what lies here; else what was asked for names it amiss."""
        try:
            return any(self.is_refused(oid) for oid in sorted(stumbled.oids)[:_BLAMED])
        except (PlaceError, OSError):
            return True

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
        self._push(words, is_small=size <= 2 * MIB, settings=self._asking_first() if asks_first else ())
        self._count.written += size + objects * _OBJECT_BYTES
        self.note(name, oid)

    def delete(self, name: str, expected: str) -> None:
        """Take a ref of the remote away; as `push`."""
        lease = f"--force-with-lease={REFS}{name}:{expected}"
        words = ["push", "--porcelain", "--no-verify", *self._far("receive-pack"), lease]
        self._push([*words, "--", self._git.remote.url, f":{REFS}{name}"], is_small=True)
        self._git.run("update-ref", "-d", _SEEN + name)
        self._seen = None

    def _asking_first(self) -> list[str]:
        """Return the settings with which a push asks what is there; its question goes the way of a fetch."""
        ways = [f"remote.{self._git.remote.url}.uploadpack={far_side('upload-pack')}"] if self._git.remote.path else []
        return ["push.negotiate=true", *ways]

    def _push(self, words: list[str], *, is_small: bool, settings: Sequence[str] = ()) -> None:
        """Push; of a little that the host hangs up at twice, and answers in between, the host is to blame."""
        try:
            self._push_once(words, settings)
        except PlaceUnreachable as error:
            if not is_small or not isinstance(error.__cause__, _HungUp):
                raise
            self.list_remote()
            try:
                self._push_once(words, settings)
            except PlaceUnreachable as again:
                if not isinstance(again.__cause__, _HungUp):
                    raise
                told = f"The git place {self._git.remote.shown} answers, but hangs up when something is pushed."
                raise PlaceDamaged(told) from again

    def _push_once(self, words: list[str], settings: Sequence[str]) -> None:
        check_directory(self._git)
        self._hold_again()
        self._objects.flush()
        code, answer, complaints = self._git.talk(*words, settings=settings)
        self._count.read += len(answer)
        if not code:
            return
        shown = self._git.remote.shown
        fault = refusal(answer, complaints, shown) or self._fault(complaints)
        if isinstance(fault, PlaceUnreachable):
            fault = damage(complaints, shown) or fault
        rest, disconnected = _DISCONNECTED.subn("", complaints)
        hung_up = disconnected and not _ON_THE_WAY.search(rest)
        raise fault from (_HungUp() if hung_up else None)

    def _fetch(self, spec: Sequence[str], limit: int, *, depth: int = 0) -> set[Path]:
        """Fetch refs or objects of at most so many bytes, and return the packs that came."""
        try:
            return self._fetch_once(spec, limit, depth)
        except PlaceUnreachable as error:
            if len(spec) > 1 or not isinstance(error.__cause__, _HungUp):
                raise
        # Git ends without a word at a single file that is empty or no object, which is no line that is cut.
        with contextlib.suppress(UnreadableFile, Unadvertised):
            self._fetch_once([_NOBODYS], _SLACK, 0)
        try:
            return self._fetch_once(spec, limit, depth)
        except PlaceUnreachable as error:
            if not isinstance(error.__cause__, _HungUp):
                raise
            told = f"The git place {self._git.remote.shown} answers, but hangs up when asked for a part of a mailbox."
            raise UnreadableFile(told) from error

    def _fetch_once(self, spec: Sequence[str], limit: int, depth: int) -> set[Path]:
        check_directory(self._git)
        self._hold_again()
        words = ["fetch", "--progress", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--refmap="]
        words += [
            "--no-recurse-submodules",
            *([f"--depth={depth}"] if depth else []),
            *self._far("upload-pack"),
            "--stdin",
        ]
        with upkeep.turn(self.path / _FETCHING, f"is asking {self._git.remote.shown}", self._git.patience):
            upkeep.clear_partial(self.path)  # of one that was killed: its bytes are none of what this host sends
            before, code = upkeep.packs(self.path), -1
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
                self._seen = None
                if code:
                    upkeep.clear_partial(self.path)
            came = upkeep.packs(self.path) - before
        self._count.read += len(answer) + sum(pack.stat().st_size for pack in came)
        if code and "unadvertised object" in complaints:
            raise Unadvertised
        if code and _SPOILED.search(complaints):
            if upkeep.has_torn_index(self.path):  # what the host left out may lie here, where git looks in vain
                raise damaged(self.path, "the index of a pack in it is damaged")
            told = f"The git place {self._git.remote.shown} lacks a part of a mailbox."
            named = {oid.replace("/", "") for oid in _NAMED.findall(complaints)}
            here = named.difference(self.missing([*named]))
            if here:
                raise UnreadableFile(told) from Stumbled(here)
            raise UnreadableFile(told) from (Refuted if _REFUTED.search(complaints) else Named)(named)
        if code:
            hung_up = _HUNG_UP.search(complaints) and not _ON_THE_WAY.search(complaints)
            raise self._fault(complaints) from (_HungUp() if hung_up else None)
        return came

    def _fault(self, complaints: str) -> PlaceError:
        """Return the error that a failed talk means.

        Raises:
            PlaceNotWritable: the private repository is damaged: it is to blame for itself, not the one it talks to.
        """
        if self._git.remote.path is not None:
            self._git.run("rev-parse", "--git-dir")
        names_pack = f"{self.path / 'objects' / 'pack' / 'pack-'}" in complaints  # git has a dozen wordings
        if names_pack or (str(self.path) in complaints and _DAMAGED.search(complaints)):
            raise damaged(self.path, "something in it is damaged")
        return self._git.fault(complaints)

    def _arriving(self) -> int:
        total = 0
        for file in (self.path / "objects" / "pack").glob("tmp_pack_*"):
            with contextlib.suppress(OSError):
                total += file.stat().st_size
        return total

    def _far(self, service: str) -> list[str]:
        if self._git.remote.path is None:
            return []
        return [f"--{service}={far_side(service)}"]
