"""A git place: mailboxes in a git remote (CYB-15 to CYB-18, APP-7; docs/formats.md section "Git remotes").

One ref a mailbox, below `refs/heads/lace/`; nothing else in the repository is read or changed. Opening asks the
remote once for its refs, and the first look into a group fetches those that changed: one view a visit, so that
what a mailbox names is there for as long as the visit lasts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO, Self, TypeVar
from weakref import WeakMethod

from blake3 import blake3

from transports.errors import (
    WRITE_REFUSALS,
    BadSnapshot,
    MissingFile,
    NotAGitPlace,
    PlaceCrowded,
    PlaceNotWritable,
    UnreadableFile,
    WrongDrop,
)
from transports.git.again import finish, push_again
from transports.git.branches import Branches
from transports.git.command import GitRunner
from transports.git.complaints import way_out
from transports.git.kept import SetAside
from transports.git.losses import Losses
from transports.git.pace import SentTooMuch
from transports.git.pieces import PieceSource
from transports.git.private import PrivateRepository
from transports.git.refusals import Moved
from transports.git.remote import parse_remote
from transports.git.talks import Stumbled, Unfetched
from transports.git.tips import Tips
from transports.git.tree import PIECE, Filed, Front, Held, Mailbox, Stored, load_front, load_mailbox
from transports.git.upkeep import turn
from transports.git.writer import GitWriter
from transports.layout import BUNDLE_NAME, DROP_ID, RUN_NAME, group_directory
from transports.mailbox import BEACON_FILE_LIMIT, HEAD_FILE_LIMIT, REQUEST_FILE_LIMIT, ByteCount
from vault.errors import DataError, EnvironmentFault, LaceError, PlaceError
from vault.files import reason_of
from vault.lock import Patience
from vault.records.hashes import Verifier

__all__ = ["GitPlace"]

_T = TypeVar("_T")
_PLACE = "place"
_BEGIN = "lace-begin"  # whose turn it is to begin a private repository, which bears one name until it has its own
_BEGINS = "is asking a git place for the first time"
_PLACE_TEXT = re.compile(r"lace-place/0\nid ([0-9a-f]{32})\n", re.ASCII)
_PLACE_LIMIT = 256  # bytes
_HEARD = 65_536  # objects said to be lost that are listened to, of each who says so as many
_NODES_LIMIT = 4096  # mailboxes of one group, as on a drop


class GitPlace:
    """One git remote; it satisfies `MailboxPlace`. Use `create` or `open`.

    Args:
        uri: its address.
        home: the directory for private repositories.
        known_id: the id it had when it was last used.
        patience: how the person waits for a host, and for another process that asks there.
    """

    kind = "git"
    is_read_only = False

    def __init__(
        self,
        uri: str,
        home: Path,
        known_id: str | None = None,
        *,
        patience: Patience = Patience(),
        mends: bool = False,
    ) -> None:
        self._mends = mends
        self.remote = parse_remote(uri)
        self.count = ByteCount()
        self._home = home
        try:
            self.private = PrivateRepository(GitRunner(home, self.remote, patience), self.count)
            self.private.begin(home / (f"{known_id[:16]}.git" if known_id else f"new-{_digest(uri)}.git"))
        except (OSError, EnvironmentFault) as error:
            reason = reason_of(error) if isinstance(error, OSError) else error.message.rstrip(".")
            raise NotAGitPlace(
                f"Lace cannot keep its private repository in {home}: {reason}.", hint="Check the disk under the vault."
            ) from error
        self.pieces = PieceSource(self.private, self._fetch_whole)
        self._place_id = ""
        self._refs = Branches(self.private.list_remote())
        self._ready: set[str] = set()
        self._broken: dict[str, LaceError] = {}
        self._unmended: set[str] = set()  # of the broken, those of mine that the host does not take back now
        self._left: set[str] = set()  # mailboxes of mine that are damaged, and to be mended by whoever writes there
        self._pushed_again: set[str] = set()  # tips of mine that were, or were tried
        self._finished: set[str] = set()  # mailboxes of which nothing is left to bring back in this view
        self._fronts: dict[str, Front] = {}
        self._boxes = Held()
        self._losses = Losses(self.private)
        # Weak, so that a place that nobody uses any more lets go of its private repository at once.
        renew = WeakMethod(self._is_renewed)
        self._tips = Tips(self.private, self.describe(), lambda: (begin := renew()) is not None and begin())
        self._said: dict[str, dict[str, set[str]]] = {}  # by group, what is said to be lost in this view
        self._was_renewed = False
        self.warnings: list[LaceError] = []

    @classmethod
    def create(cls, uri: str, home: Path, *, entropy: Callable[[int], bytes], patience: Patience = Patience()) -> Self:
        """Make a place of a repository, or open the place that is there; of two makers the first one wins.

        Args:
            uri: its address.
            home: the directory for private repositories.
            entropy: gives the id its randomness.
            patience: how the person waits.

        Raises:
            UnknownPlaceKind: the address is none that git may use.
            PlaceError: there is no such repository, or it cannot be pushed to.
        """
        with turn(home / _BEGIN, _BEGINS, patience):
            place = cls(uri, home, patience=patience)
            with place._ended_by_errors():
                place.make(entropy)
        return place

    @classmethod
    def open(
        cls,
        uri: str,
        home: Path,
        expected_id: str | None = None,
        *,
        patience: Patience = Patience(),
        mends: bool = False,
    ) -> Self:
        """Open a place.

        Args:
            uri: its address.
            home: the directory for private repositories.
            expected_id: the id it had when it was last used.
            patience: how the person waits.
            mends: whether a mailbox of my own of which the host lost a part is pushed again; else it is only told.

        Raises:
            NotAGitPlace: the repository holds no place.
            WrongDrop: another one lies there than was expected.
            PlaceError: it cannot be reached.
        """
        is_begun = expected_id is not None and (home / f"{expected_id[:16]}.git" / "HEAD").is_file()
        with nullcontext() if is_begun else turn(home / _BEGIN, _BEGINS, patience):
            place = cls(uri, home, expected_id, patience=patience, mends=mends)
            with place._ended_by_errors():
                place.settle(expected_id)
        return place

    @contextmanager
    def _ended_by_errors(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the gits that stay go; a place that is asked again starts others."""
        self.private.close()

    def make(self, entropy: Callable[[int], bytes]) -> None:
        """Make a place of the repository unless it is one; as `create`."""
        if self._read_id() is None:
            text = f"lace-place/0\nid {entropy(16).hex()}\n".encode()
            tree = self.private.store_tree({_PLACE: ("blob", self.private.store(text))})
            refused = None
            try:
                self.private.push(self.private.store_commit(tree), _PLACE, len(text), 3)
            except Moved as error:  # somebody else was first
                refused = error.refusal
            self._refs = Branches(self.private.list_remote())
            if refused is not None and _PLACE not in self._refs:
                raise refused
        self.settle(None)

    def settle(self, expected_id: str | None) -> None:
        """Learn which place this is, and refuse another one than was expected; as `open`."""
        found = self._read_id()
        if expected_id is not None and found != expected_id:
            raise WrongDrop(
                f"{self.describe()} holds {f'the place {found}' if found else 'no place'},"
                f" and {expected_id} was expected there.",
                hint="Ask what happened to the repository, or add this one as a place of its own.",
            )
        if found is None:
            raise NotAGitPlace(f"{self.describe()} holds no place yet.")
        self._place_id = found
        path = self._home / f"{found[:16]}.git"
        if self.private.path != path:
            self.private.move(path)

    @property
    def place_id(self) -> str:
        """The place's id: 32 hex characters."""
        return self._place_id

    def describe(self) -> str:
        """Return the address without user names."""
        return self.remote.shown

    def check(self) -> None:
        """Ask the remote anew, and refuse to go on if it went away or another one took its place.

        Raises:
            WrongDrop: another place is there.
            PlaceError: it cannot be reached.
        """
        self._refs = Branches(self.private.list_remote())
        self._ready.clear()
        self._broken.clear()
        self._unmended.clear()
        self._finished.clear()
        self._said.clear()
        found = self._read_id()
        if found != self._place_id:
            raise WrongDrop(f"{self.describe()} is no longer the place {self._place_id}.")

    def nodes(self, group: str) -> list[Verifier]:
        """Return the nodes that have a mailbox for this group id, sorted by key."""
        found = self._refs.mailboxes(group_directory(group))
        if len(found) > _NODES_LIMIT:
            raise PlaceCrowded(f"{self.describe()} holds more than {_NODES_LIMIT} mailboxes of your group.")
        return sorted(Verifier(bytes.fromhex(key)) for key in found)

    def read_head(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's snapshot head, or None if there is none."""
        front = self._front(group, node)
        return self._small(front.head if front else None, HEAD_FILE_LIMIT, "head", node)

    def read_request(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's request, or None if there is none."""
        front = self._front(group, node)
        return self._small(front.request if front else None, REQUEST_FILE_LIMIT, "request", node)

    def read_beacon(self, group: str, node: Verifier) -> bytes | None:
        """Return the bytes of a node's beacon, or None if there is none."""
        front = self._front(group, node)
        return self._small(front.beacon if front else None, BEACON_FILE_LIMIT, "beacon", node)

    def open_file(self, group: str, node: Verifier, name: str) -> BinaryIO:
        """Open a run or bundle for reading; what of it is not here is fetched as it is read.

        Raises:
            MissingFile: there is no such file.
            UnreadableFile: the name is not that of a run or bundle, or the mailbox is damaged.
            PlaceError: the remote cannot be asked.
        """
        if RUN_NAME.fullmatch(name) is None and BUNDLE_NAME.fullmatch(name) is None:
            raise UnreadableFile(f"{name[:60]!r} is not the name of a run or bundle.")
        box = self.mailbox(group, node)
        if box is None or name not in box.files:
            raise MissingFile(f"The file {name} is missing.")
        return self.pieces.open(box, name)

    def reveal(self, file: BinaryIO) -> BinaryIO:
        """Return the file: nothing is encrypted by git itself."""
        return file

    def files(self, group: str, node: Verifier) -> dict[str, int]:
        """Return name and size in bytes of the runs and bundles in a mailbox, without those that the host lost."""
        box = self.mailbox(group, node)
        if box is None:
            return {}
        gone = self.gone_pieces(group, box)
        return {name: filed.size for name, filed in box.files.items() if gone.isdisjoint(filed.pieces)}

    def writer(self, group: str, node: Verifier) -> GitWriter:
        """Open this node's own mailbox for writing; its ref is made by the first push."""
        self._mends = True  # else what only the host has is written over
        for name in self._left:
            self._broken.pop(name, None)
        self._left.clear()
        return GitWriter(self, group, node)

    # For the writer

    def mailbox(self, group: str, node: Verifier) -> Mailbox | None:
        """Return a node's mailbox as the remote holds it, or None.

        Raises:
            UnreadableFile: it is damaged; `Unfetched` where it only did not come, which says nothing of it.
            PlaceError: the remote cannot be asked.
        """
        return self._loaded(group, node, self._boxes, load_mailbox)

    def _front(self, group: str, node: Verifier) -> Front | None:
        """Return what stands at the beginning of a node's mailbox; as `mailbox`."""
        return self._loaded(group, node, self._fronts, load_front)

    def _loaded(
        self,
        group: str,
        node: Verifier,
        known: MutableMapping[str, _T],
        load: Callable[[PrivateRepository, str], _T],
    ) -> _T | None:
        tip = self._arrived(group, node)
        if tip is None:
            return None
        if tip not in known:
            try:
                known[tip] = load(self.private, tip)
            except (DataError, PlaceNotWritable):
                if not (self.private.is_own(tip) and self._is_renewed()):
                    raise
                return self._loaded(group, node, known, load)
        return known[tip]

    def _arrived(self, group: str, node: Verifier) -> str | None:
        """Return the commit at which a node's mailbox stands, which is here; as `mailbox`."""
        if self._mends:
            self._finish_or_note(group, node)
        name = self.ref(group, node)
        if name not in self._refs and name not in self._unmended:
            return None
        self._fetch_group(group)
        if name in self._broken and self._is_mended(name):
            return self._arrived(group, node)
        if name in self._broken:
            error = self._broken[name]
            is_unmended = name in self._unmended
            if isinstance(error, PlaceNotWritable) and not is_unmended and self._is_renewed():  # it blames what is here
                return self._arrived(group, node)
            told = f"The mailbox of {node.text} cannot be fetched: {error.message}"
            fault = UnreadableFile if isinstance(error, DataError | SentTooMuch) else Unfetched
            raise fault(told, hint=error.hint if is_unmended else way_out(self.private.path)) from error
        tip = self._refs.get(name)
        if tip is None:
            return None
        if self.private.notes.is_own(name) and self._is_lost(group, tip):
            self._broken[name] = UnreadableFile(f"{self.describe()} lost a part of it.")
            if self._mends:
                self._mend(name, tip)
            else:
                self._left.add(name)
            return self._arrived(group, node)
        return tip

    def _is_lost(self, group: str, tip: str) -> bool:
        """Tell whether the host lost the tip of a mailbox of my own; asked where somebody says so, and now and then."""
        told_by = self._told(group).get(tip)
        if self._mends and self.private.notes.is_due():
            return self._losses.is_gone(tip, told_by or (), is_tip=True, anew=True)
        return told_by is not None and self._losses.is_gone(tip, told_by, is_tip=True)

    def finish(self, group: str, node: Verifier) -> None:
        """See to it that what is written next into a mailbox of my own leaves nothing behind; as `again.finish`."""
        name = self.ref(group, node)
        mine = name.partition("-")[0]
        if mine not in self._finished:
            try:
                with self._told_moved():
                    finish(self, name)
            except SetAside:
                self._finished.add(mine)  # it is told in this visit, and the next one writes
                raise
            self._finished.add(mine)
            if name in self._unmended and name not in self._refs:  # now there was nothing to bring back
                self._broken.pop(name, None)
                self._unmended.discard(name)

    def _finish_or_note(self, group: str, node: Verifier) -> None:
        """Finish it where the host takes something in; else the others are read all the same."""
        name = self.ref(group, node)
        if name not in self._unmended:
            try:
                self.finish(group, node)
            except WRITE_REFUSALS as error:
                self._broken[name] = error
                self._unmended.add(name)

    def _is_mended(self, name: str) -> bool:
        """Push a mailbox of my own once more that does not come, and lies here still; tell whether that was tried now.

        It stands here yet where it was beside it that git at the host stumbled over it, and all was begun anew.
        """
        tip = self._refs.get(name)
        if not self._mends or tip is None or tip in self._pushed_again or not isinstance(self._broken[name], DataError):
            return False
        is_here = self.private.mine(name) == tip and self.private.has(tip)
        if not is_here or not self._losses.is_gone(tip, (), is_tip=True):
            return False
        self._mend(name, tip)
        return True

    def _mend(self, name: str, tip: str) -> None:
        """Push the own mailbox once more as it lies here; where that is nowhere, what is here is written anew."""
        self._pushed_again.add(tip)
        try:
            with self._told_moved():
                push_again(self, name, tip, load_mailbox(self.private, tip))
        except DataError as error:
            self._broken[name] = error  # it may have gone there, and be refused still
        except PlaceError as error:
            if name not in self._refs:
                raise  # the branch is gone: nothing is to be read or written over this line now
            self._broken[name] = error  # which may be over at the next visit: nothing is written anew for it
            self._unmended.add(name)
        else:
            self._broken.pop(name, None)

    @contextmanager
    def _told_moved(self) -> Iterator[None]:
        """Tell of a push that found its branch moved as of one that was refused: the next visit looks anew."""
        try:
            yield
        except Moved as error:
            raise error.refusal from error

    def _is_renewed(self) -> bool:
        """Begin the private repository anew, once a visit, because it is damaged; tell whether it was."""
        if self._was_renewed or not self.private.renew():
            return False
        self._was_renewed = True
        self._broken.clear()
        self._said.clear()
        self._fronts.clear()
        self._boxes.clear()
        self.pieces.forget()
        self._ready.clear()
        return True

    def ref(self, group: str, node: Verifier) -> str:
        """Return the name below lace/ of a node's ref: of several generations the youngest."""
        return self._refs.youngest(group_directory(group) + node.key.hex())

    def youngest(self, name: str) -> str:
        """Return the youngest generation of a ref, as `ref`."""
        return self._refs.youngest(name.partition("-")[0])

    def tip(self, name: str) -> str | None:
        """Return the commit a ref stood at when the remote was last asked."""
        return self._refs.get(name)

    def took(self, name: str, commit: str, box: Mailbox, *, is_whole: bool = True) -> None:
        """Take note of a push of this place's own; one that is not whole is to be followed by others."""
        if is_whole:
            self.private.note_mine(name, commit)
        self._refs[name] = commit
        self._boxes[commit], self._fronts[commit] = box, box.front()
        self._broken.pop(name, None)
        self._unmended.discard(name)

    def warn(self, error: LaceError) -> None:
        """Let the person know of something that keeps nothing from going on."""
        self.warnings.append(error)

    def gone_pieces(self, group: str, box: Mailbox) -> set[str]:
        """Return pieces of a mailbox that the host does not give: one at least of each file that lacks some."""
        told = self._told(group)
        gone = self.pieces.lost & box.alive()
        files: dict[str, list[Filed]] = {}  # those that a piece is part of
        for filed in box.files.values():
            for oid in told.keys() & set(filed.pieces):
                files.setdefault(oid, []).append(filed)
        for oid in self._losses.in_turn(files):
            is_asked = any(gone.isdisjoint(filed.pieces) for filed in files[oid])
            if is_asked and self._losses.is_gone(oid, told[oid]):
                gone.add(oid)
        return gone

    def losses(self) -> tuple[str, ...]:
        """Return the pieces and tips that the host did not give in this visit."""
        tips = {self._refs[name] for name, error in self._broken.items() if isinstance(error, DataError)}
        return tuple(sorted((self.pieces.lost | tips) - {""}))

    def _told(self, group: str) -> dict[str, set[str]]:
        """Return what the mailboxes of a group say that the host lost, each with the commits that say so."""
        if group in self._said:
            return self._said[group]
        said: dict[str, tuple[str, ...]] = {}
        for name in {self.ref(group, node) for node in self.nodes(group)}:
            tip = self._refs.get(name, "")
            if tip not in self._fronts and name not in self._broken:
                with suppress(DataError, PlaceNotWritable):
                    self._fronts[tip] = load_front(self.private, tip)
            if tip in self._fronts and self._fronts[tip].lost:
                said[tip] = self._fronts[tip].lost
        told: dict[str, set[str]] = {}
        for tip, lost in said.items():
            for oid in lost[: max(_HEARD // len(said), 1)]:
                told.setdefault(oid, set()).add(tip)
        if group in self._ready:  # before, nobody's is here
            self._said[group] = told
        return told

    def private_box(self, name: str) -> Mailbox:
        """Return the mailbox behind a ref that this place has read or pushed."""
        tip = self._refs[name]
        return self._boxes[tip] if tip in self._boxes else load_mailbox(self.private, tip)

    def gone(self, name: str) -> None:
        """Take note that a ref was deleted."""
        self._refs.drop(name)
        self._broken.pop(name, None)

    # Reading refs

    def _read_id(self) -> str | None:
        tip = self._refs.get(_PLACE)
        if tip is None:
            return None
        if self.private.seen().get(_PLACE) != tip:
            try:
                self.private.fetch_refs([_PLACE])
            except DataError as error:  # or git there stumbles over what else lies here
                if isinstance(error.__cause__, Stumbled) and self._is_renewed():
                    return self._read_id()
                raise NotAGitPlace(f"What {self.describe()} says of itself cannot be read.") from error
            tip = self.private.seen()[_PLACE]
        try:
            entry = self.private.tree(tip, _PLACE_LIMIT).get(_PLACE)
            text = self.private.read([entry.oid], _PLACE_LIMIT)[0] if entry else b""
        except (DataError, PlaceNotWritable) as error:
            if self.private.is_own(tip) and self._is_renewed():
                return self._read_id()
            raise NotAGitPlace(f"What {self.describe()} says of itself cannot be read.") from error
        match = _PLACE_TEXT.fullmatch(text.decode("utf-8", "replace"))
        if match is None or DROP_ID.fullmatch(match[1]) is None:
            raise NotAGitPlace(f"What {self.describe()} says of itself is damaged, or of a newer lace.")
        return match[1]

    def _fetch_group(self, group: str) -> None:
        """Fetch the group's refs that changed, all at once; one that spoils this is left alone and named."""
        if group in self._ready:
            return
        names = {self.ref(group, node) for node in self.nodes(group)}
        seen = self.private.seen()
        changed = {name: self._refs[name] for name in names if seen.get(name) != self._refs[name]}
        faults = self._tips.bring(changed) if changed else {}
        if faults is None:
            self._fetch_group(group)
            return
        self._broken |= faults
        seen = self.private.seen()
        for name in changed.keys() - faults.keys():
            self._refs[name] = seen.get(name, self._refs.get(name, ""))
        self._ready.add(group)

    def _fetch_whole(self, pieces: list[str]) -> None:
        """Fetch the mailboxes that hold pieces, with their histories; one that is in memory is looked at first."""
        wanted = set(pieces)
        held: dict[str, int] = {}
        for name, tip in sorted(self._refs.items(), key=lambda item: (item[1] not in self._boxes, item[0])):
            if tip not in self._boxes and (held or self.private.seen().get(name) != tip or name == _PLACE):
                continue  # one is enough, and what was not fetched is nobody's that was read
            with suppress(DataError):
                oids = self.private_box(name).carried()
                if oids & wanted:
                    held[name] = len(oids)
        if held:
            self.private.fetch_history(sorted(held), sum(held.values()) * PIECE)

    def _small(self, stored: Stored | None, limit: int, what: str, node: Verifier) -> bytes | None:
        if stored is None:
            return None
        if stored.size > limit:
            raise BadSnapshot(f"The {what} of {node.text} has more than {limit} bytes.")
        return self.private.read([stored.oid], limit)[0]


def _digest(url: str) -> str:
    return blake3(url.encode()).hexdigest()[:16]
