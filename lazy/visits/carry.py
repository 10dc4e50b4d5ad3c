"""One file to mail or to carry: `bundle create` and `bundle apply` (decision 5).

A file holds what I share, or what one peer has not confirmed yet; then it says what that peer has, as its reader must
have it too. Applying a file is the same verified pull as reading a stick.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from lazy.other_group import OtherGroup
from lazy.people import former, is_member, label_of, other_node
from lazy.places.registry import Place
from lazy.places.sealing import VaultKeys
from lazy.problems import damaged_here
from lazy.results import HasAll, LiesThere, PlaceResult, Traffic
from lazy.vectors import unreleased_told
from lazy.visits.additions import exposed_sizes
from lazy.visits.errand import Errand
from lazy.visits.needs import as_needs, check_needs, left_out, note_left_out
from lazy.visits.publish import publish_once
from lazy.visits.rounds import unless_held, vector_of
from lazy.visits.terms import vector_told
from lazy.visits.visit import visit
from transports.encrypted.sealed import SealedPlace
from transports.encrypted.sealing import seal_bytes, unseal_bytes
from transports.errors import PlaceNotWritable, SealedToOthers
from transports.mailbox import Mailbox, MailboxMedium
from transports.onefile.place import OneFile
from transports.reading import read_head, read_listing
from vault.audit.entries import read_audit
from vault.audit.trail import entries_of
from vault.commands import as_option, as_typed
from vault.errors import CallerError, DataError, PeerError, PlaceError
from vault.files import FileMissing
from vault.late_content import note_from_here
from vault.outside import require_outside
from vault.records import Verifier
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["FileExists", "FriendsSteps", "MadeForRevoked", "apply_bundle", "create_bundle", "friends_steps"]


class FileExists(CallerError):
    """Something lies where a file is to be made."""

    code = "file-exists"
    exit_code = 2
    hint = "Choose another name, or move the file away."


class MadeForRevoked(CallerError):
    """A bundle file is to be made for somebody who was revoked."""

    code = "made-for-revoked"
    exit_code = 2
    hint = "They come back with a new key: lace adopt, which a friend admits. See the members with: lace members"


def create_bundle(
    vault: Vault, path: Path, *, peer: str | None = None, encrypt: bool = False, watch: Watch = Watch()
) -> PlaceResult:
    """Write what I share to one file; an interrupted run is gone on with.

    Where a peer has all of it, no file is made. But who is heard of by files alone learns by one that theirs came, so
    that their next one need not hold it again. A file that lies there already and is just what would be written, as
    one does whose command was killed before it said so, is taken for made (APP-13).

    Args:
        vault: whose records they are.
        path: the file; it appears when it is whole.
        peer: a peer whose own vector says what it has: that is left out, and named as needed.
        encrypt: let only members, or only that peer, read it.
        watch: progress and cancel.

    Raises:
        GroupUnknown: there is nothing to write yet.
        InTheVault: it would lie in the `.vault`.
        FileExists: something else lies there.
        NoSuchPeer: there is no such peer.
        MadeForRevoked: they were revoked, and are told nothing more than what anybody finds on a medium.
        PlaceError: it cannot be written.
        Cancelled: the person stopped it.
    """
    vault.require_group()
    require_outside(vault.dot, path)
    node = _reader(vault, peer) if peer else None
    after, needs = left_out(vault, node) if node else (0, [])
    has_all = node is not None and after >= vault.store.exposed() and not _is_heard_by_file(vault, node)
    wanted = _Wanted(path, after, tuple(needs), node, encrypt)
    if os.path.lexists(path):  # a name that is too long is told by who writes it
        made = None if has_all else _made_before(vault, wanted)
        if made is None:
            raise FileExists(f"{path} exists already.")
    elif node is not None and has_all:
        made = PlaceResult(path.name, OneFile.kind, unmade=HasAll(label_of(vault, node.text)))
    else:
        try:
            made = _make(vault, wanted, watch)
        except PlaceNotWritable as error:
            if not error.has_own_hint:  # no mailbox lies there that could be read meanwhile
                error.hint = "Name another file, in a directory that you may write to."
            raise
    if not isinstance(made.unmade, HasAll):
        _note_made(vault, made, peer)
    made.vector_before = made.vector_after = vector_of(vault)
    return made


def _reader(vault: Vault, peer: str) -> Verifier:
    """Return for whom a file is made.

    Raises:
        NoSuchPeer, MadeForRevoked: as `create_bundle`.
    """
    node = Verifier.parse(other_node(vault, peer))
    gone = former(vault, node.text)
    if gone is not None and not gone.me:
        raise MadeForRevoked(f"{gone.name} was revoked by {gone.by}, so no file is made for them.")
    return node


class FriendsSteps(NamedTuple):
    """What whoever gets a file is to do with it.

    Args:
        first: what its maker is to know before, as a sentence; else empty.
        commands: what is typed there, of several with `; ` between.
    """

    first: str
    commands: str


def friends_steps(vault: Vault, path: Path) -> FriendsSteps:
    """Return what whoever gets a file of mine types; who is no member yet is let in by hand, as it holds no request."""
    take = as_typed("bundle apply", path.name)
    if is_member(vault, vault.node.text) or former(vault, vault.node.text) is not None:
        return FriendsSteps("", take)
    admit = as_typed("admit", vault.name, options=f"--key {vault.node}")
    return FriendsSteps(
        "You are not a member yet: nothing in it counts before a friend lets you in, and a file asks nobody to.",
        f"{admit}; {take}",
    )


class _Wanted(NamedTuple):
    """A file that is wanted.

    Args:
        path: where.
        after: number of the exposure log after which it begins.
        needs: what its reader must have, in words.
        node: for whom; None for all.
        is_sealed: whether only they read it.
    """

    path: Path
    after: int
    needs: tuple[str, ...]
    node: Verifier | None
    is_sealed: bool

    def keys(self, vault: Vault, identifier: str) -> VaultKeys:
        """Return the keys of the file with this id."""
        return VaultKeys(vault, identifier, is_on=self.is_sealed, audience=self.node if self.is_sealed else None)


def _make(vault: Vault, wanted: _Wanted, watch: Watch) -> PlaceResult:
    """Write a file, or go on with the part that an interrupted run left."""
    file = OneFile.create(
        wanted.path,
        f"{vault.group}\n{{id}}" if wanted.is_sealed else vault.group,
        (lambda identifier: wanted.keys(vault, identifier).alias()) if wanted.is_sealed else (lambda _: vault.node),
        vault.around.entropy,
    )
    with closing(file):
        keys = wanted.keys(vault, file.place_id)
        medium: MailboxMedium = SealedPlace(file, vault.node, keys) if wanted.is_sealed else file
        if wanted.needs:
            data = as_needs(wanted.needs)
            # Whole bundles of an earlier run come first, so what is needed is said again each time.
            file.needed = seal_bytes(data, keys.terms().key, vault.around.entropy) if wanted.is_sealed else data
        done = publish_once(vault, medium, wanted.after, watch)
    if wanted.is_sealed:
        keys.forget()
    result = PlaceResult(wanted.path.name, OneFile.kind)
    result.problems += [damaged_here(done.damaged)] if done.damaged else []
    result.sent, result.traffic = done.records, Traffic(bytes_written=wanted.path.stat().st_size)
    return result


def _made_before(vault: Vault, wanted: _Wanted) -> PlaceResult | None:
    """Return what a file holds that is whole and just what would be written for the same reader; None for any other."""
    try:
        file = OneFile.open(wanted.path)
        keys = wanted.keys(vault, file.place_id)
        medium: MailboxMedium = SealedPlace(file, vault.node, keys) if wanted.is_sealed else file
        mailbox = Mailbox(medium, vault.group, vault.node)
        try:
            head = read_head(mailbox)
            says = (head.head.vector, head.head.unreleased) if head is not None else None
            is_so = says == (vector_told(vault), unreleased_told(vault))
            if head is None or not is_so or (wanted.is_sealed and not keys.is_for_all_who_may()):
                return None
            told = file.needs()
            told = unseal_bytes(told, keys.find) if told is not None and wanted.is_sealed else told
            if told != (as_needs(wanted.needs) if wanted.needs else None):
                return None
            listing = read_listing(mailbox, head.head)
        finally:
            if wanted.is_sealed:
                keys.forget()
    except (PlaceError, PeerError, DataError):
        return None
    count = 0
    for record, _ in exposed_sizes(vault, wanted.after, vault.store.exposed()):
        count += 1
        if record not in listing:
            return None
    if len(listing) != count:
        return None
    cost = Traffic(file.count.read)
    return PlaceResult(wanted.path.name, OneFile.kind, sent=count, traffic=cost, unmade=LiesThere())


def _note_made(vault: Vault, made: PlaceResult, peer: str | None) -> None:
    """Note that a file was made, unless the command that made it came to that."""
    told = {"road": OneFile.kind, "sent": str(made.sent), "for": peer or "all"}
    if made.unmade is not None:
        pushes = (read_audit(seal) for seal in entries_of(vault, "lazy-push"))
        if any(entry.object == made.name and told.items() <= dict(entry.parameters).items() for entry in pushes):
            return
    with vault.writing() as w:
        note_from_here(w.store)  # what came before goes with each file until its reader has heard of this
        w.audit("lazy-push", made.name, told)


def apply_bundle(
    vault: Vault, path: Path, *, dry_run: bool = False, watch: Watch = Watch(), tells_held: bool = False
) -> PlaceResult:
    """Take in what a file holds, verified as everything is that comes from outside.

    Args:
        vault: that takes it in.
        path: the file's.
        dry_run: say what would come, and change nothing.
        watch: progress and cancel.
        tells_held: where it turns out that this vault may sign nothing, return what came with why, and raise nothing.

    Raises:
        FileMissing: no file has that name.
        BadOneFile: it is none, or was cut off or changed on the way; nothing was taken in.
        OtherGroup: it is another group's.
        BundleNeedsMore: it continues what I do not have.
        MayNotSign: what came was stored.
        Cancelled: the person stopped it; what was stored stays.
    """
    _require_file(path)
    file = OneFile.open(path)
    keys = VaultKeys(vault, file.place_id, is_on=False)
    medium = SealedPlace(file, vault.node, keys)
    if not (medium.nodes(vault.group) or medium.is_sealed(vault.group)):
        raise OtherGroup(f"{path.name} holds what another group shares.")
    try:
        check_needs(vault, file, keys)
    except SealedToOthers as error:  # it lies nowhere, where its writer would come by once more
        again = as_typed("bundle create", "FILE", options=f"{as_option('--for', vault.name)} --encrypt")
        error.hint = f"It is for somebody else, or older than your membership. Ask for one that is for you: {again}"
        raise
    name = os.fsencode(path.name).decode("utf-8", "replace")  # of another system's letters, perhaps
    place = Place(name, OneFile.kind, path.absolute().as_uri(), file.place_id, None)
    try:
        result = visit(vault, place, medium, Errand(push=False, dry_run=dry_run, watch=watch))
        unless_held([result], tells_held=tells_held)
    finally:
        keys.forget()
    if not dry_run and file.needs() is not None:
        note_left_out(vault, result)
    return result


def _require_file(path: Path) -> None:
    """Refuse what is no file by itself, with what to name instead.

    Raises:
        FileMissing: it is none.
    """
    if not os.path.exists(path):  # noqa: PTH110 - a name that is too long is none either
        raise FileMissing(f"There is no file {path}.")
    if path.is_dir():
        hint = "Name the file that your friend made; a folder that friends write to is a place: lace place add NAME DIR"
        raise FileMissing(f"{path} is a folder.", hint=hint)
    if path.is_symlink() or not path.is_file():
        hint = "Name the file itself, where a link leads to it; what comes out of a pipe goes into a file first."
        raise FileMissing(f"{path} is a link, a pipe or a device, and no file of its own.", hint=hint)


def _is_heard_by_file(vault: Vault, node: Verifier) -> bool:
    """Tell whether the last word of a peer came in a file: at a place, or a line, they learn what I have as well."""
    met = "SELECT 1 FROM met WHERE node = ? AND place <> ? AND place NOT IN (SELECT name FROM place)"
    return bool(vault.store.rows(met, node.text, label_of(vault, node.text)))
