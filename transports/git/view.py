"""One view of a git remote: its branches as they stood when it was asked, and the mailboxes that were fetched.

The first look into a group fetches those of its branches that changed: one view a visit, so that what a mailbox names
is there for as long as the visit lasts.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from weakref import WeakMethod

from transports.errors import NotAGitPlace, PlaceCrowded, PlaceNotWritable
from transports.git.branches import Branches
from transports.git.command import GitRunner
from transports.git.homes import repository_of, short_digest
from transports.git.losses import Losses
from transports.git.pieces import PieceSource
from transports.git.private import PrivateRepository
from transports.git.remote import parse_remote
from transports.git.tips import Tips
from transports.git.tree import PIECE, Filed, Front, Held, MailboxTree, load_front, load_mailbox
from transports.layout import NODES_LIMIT, group_directory
from transports.mailbox import ByteCount
from vault.errors import DataError, EnvironmentFault, LaceError
from vault.files import reason_of
from vault.lock import Patience
from vault.records.hashes import Verifier

__all__ = ["PLACE", "View"]

PLACE = "place"
"""The branch below lace/ that says which place it is."""

_HEARD = 65_536  # objects said to be lost that are listened to, of each who says so as many


class View:
    """Branches and mailboxes of one git remote, as they stood when it was asked.

    Args:
        uri: its address.
        home: the directory for private repositories.
        known_id: the id it had when it was last used.
        patience: how the person waits for a host, and for another process that asks there.
        beside: addresses of other places with that id.
    """

    def __init__(
        self, uri: str, home: Path, known_id: str | None, patience: Patience, *, beside: Collection[str] = ()
    ) -> None:
        self.remote = parse_remote(uri)
        self.count = ByteCount()
        self._home = home
        try:
            self.private = PrivateRepository(GitRunner(home, self.remote, patience), self.count)
            known = repository_of(home, known_id, uri, beside) if known_id else home / f"new-{short_digest(uri)}.git"
            self.private.here.begin(known)
        except (OSError, EnvironmentFault) as error:
            reason = reason_of(error) if isinstance(error, OSError) else error.message.rstrip(".")
            raise NotAGitPlace(
                f"Lace cannot keep its private repository in {home}: {reason}.", hint="Check the disk under the vault."
            ) from error
        self.pieces = PieceSource(self.private, self._fetch_whole)
        self._refs = Branches(self.private.talks.list_remote())
        self._ready: set[str] = set()
        self._broken: dict[str, LaceError] = {}
        self._fronts: dict[str, Front] = {}
        self._boxes = Held()
        self._losses = Losses(self.private.here, self.private.apart)
        # Weak, so that a place that nobody uses any more lets go of its private repository at once.
        renew = WeakMethod(self._is_renewed)
        self._tips = Tips(self.private, self.describe(), lambda: (begin := renew()) is not None and begin())
        self._said: dict[str, dict[str, set[str]]] = {}  # by group, what is said to be lost in this view
        self._was_renewed = False
        self.warnings: list[LaceError] = []

    def describe(self) -> str:
        """Return the address without user names."""
        return self.remote.shown

    def close(self) -> None:
        """Let the gits that stay go; a place that is asked again starts others."""
        self.private.close()

    def check(self) -> None:
        """Ask the remote where its branches stand now."""
        self._refs = Branches(self.private.talks.list_remote())
        self._ready.clear()
        self._broken.clear()
        self._said.clear()

    def nodes(self, group: str) -> list[Verifier]:
        """Return the nodes that have a mailbox for this group id, sorted by key.

        Raises:
            PlaceCrowded: they are more than anybody looks at.
        """
        found = self._refs.mailboxes(group_directory(group))
        if len(found) > NODES_LIMIT:
            raise PlaceCrowded(f"{self.describe()} holds more than {NODES_LIMIT} mailboxes of your group.")
        return sorted(Verifier(bytes.fromhex(key)) for key in found)

    def ref(self, group: str, node: Verifier) -> str:
        """Return the name below lace/ of a node's ref: of several generations the youngest."""
        return self._refs.youngest(group_directory(group) + node.key.hex())

    def youngest(self, name: str) -> str:
        """Return the youngest generation of a ref, as `ref`."""
        return self._refs.youngest(name.partition("-")[0])

    def generations(self, name: str) -> list[str]:
        """Return the branches of all generations of a mailbox, by the name of any, the oldest first."""
        return self._refs.generations(name.partition("-")[0])

    def tip(self, name: str) -> str | None:
        """Return the commit a ref stood at when the remote was last asked."""
        return self._refs.get(name)

    def took(self, name: str, commit: str, box: MailboxTree, *, is_whole: bool = True) -> None:
        """Take note of a push of this place's own; one that is not whole is to be followed by others."""
        if is_whole:
            self.private.here.note_mine(name, commit)
        self._refs[name] = commit
        self._boxes[commit], self._fronts[commit] = box, box.front()
        self._broken.pop(name, None)

    def gone(self, name: str) -> None:
        """Take note that a ref was deleted."""
        self._refs.drop(name)
        self._broken.pop(name, None)

    def warn(self, error: LaceError) -> None:
        """Let the person know of something that keeps nothing from going on."""
        if error.message not in {known.message for known in self.warnings}:
            self.warnings.append(error)

    def private_box(self, name: str) -> MailboxTree:
        """Return the mailbox behind a ref that this place has read or pushed."""
        tip = self._refs[name]
        return self._boxes[tip] if tip in self._boxes else load_mailbox(self.private.here, tip)

    # What is said to be lost

    def gone_pieces(self, group: str, box: MailboxTree) -> set[str]:
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
                    self._fronts[tip] = load_front(self.private.here, tip)
            if tip in self._fronts and self._fronts[tip].lost:
                said[tip] = self._fronts[tip].lost
        told: dict[str, set[str]] = {}
        for tip, lost in said.items():
            for oid in lost[: max(_HEARD // len(said), 1)]:
                told.setdefault(oid, set()).add(tip)
        if group in self._ready:  # before, nobody's is here
            self._said[group] = told
        return told

    # Fetching

    def _fetch_group(self, group: str) -> None:
        """Fetch the group's refs that changed, all at once; one that spoils this is left alone and named."""
        if group in self._ready:
            return
        names = {self.ref(group, node) for node in self.nodes(group)}
        seen = self.private.here.seen()
        changed = {name: self._refs[name] for name in names if seen.get(name) != self._refs[name]}
        faults = self._tips.bring(changed) if changed else {}
        if faults is None:
            self._fetch_group(group)
            return
        self._broken |= faults
        seen = self.private.here.seen()
        for name in changed.keys() - faults.keys():
            self._refs[name] = seen.get(name, self._refs.get(name, ""))
        self._ready.add(group)

    def _fetch_whole(self, pieces: list[str]) -> None:
        """Fetch the mailboxes that hold pieces, with their histories; one that is in memory is looked at first."""
        wanted = set(pieces)
        held: dict[str, int] = {}
        for name, tip in sorted(self._refs.items(), key=lambda item: (item[1] not in self._boxes, item[0])):
            if tip not in self._boxes and (held or self.private.here.seen().get(name) != tip or name == PLACE):
                continue  # one is enough, and what was not fetched is nobody's that was read
            with suppress(DataError):
                oids = self.private_box(name).carried()
                if oids & wanted:
                    held[name] = len(oids)
        if held:
            self.private.talks.fetch_history(sorted(held), sum(held.values()) * PIECE)

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
