"""What every round begins and ends with, whatever the road: whether I may sign, judging, conflicts, what came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lazy.arrivals import ExchangeResult, NewRelease
from lazy.belonging.forks import note_forks
from lazy.belonging.reputation import note_evidence
from lazy.belonging.requests import forget_granted
from lazy.conflicts import note_version_conflicts
from lazy.endings import Held
from lazy.people import label_of
from lazy.problems import Problem
from lazy.receiving.receive import Receiver
from lazy.results import PlaceResult, Traffic
from lazy.visits.unheard import note_unheard, note_unheard_conflicts
from transports.mailbox import ByteCount
from vault.desks.paths import FolderPath
from vault.errors import Cancelled, LaceError
from vault.folder.divergence import note_doubled, note_parted
from vault.identity.mark import MayNotSign
from vault.log_gap import GAP_HINT, first_missing, missing_entry
from vault.revisions.history import ReleaseInfo, ReleasesShown, changes_of, releases_since
from vault.store.sums import PutOff
from vault.vault import Vault
from vault.watch import Watch
from vault.writer import Writer

if TYPE_CHECKING:
    from lazy.visits.scoping import ScopedSync

__all__ = ["close_round", "held_back", "new_release", "note_held", "unknown_in", "unless_held", "vector_of"]

_LITTLE = 16 << 20  # bytes: no more is proven once the person asked to stop, and no less is worth to be told


def held_back(vault: Vault) -> LaceError | None:
    """Return why this vault may sign nothing yet: it is restored or a copy, and reads before it says anything.

    What is missing may lie on the place; when it does not, the end of the visit says so again.
    """
    try:
        vault.check_mark()
    except MayNotSign as error:
        return error
    return None


def note_held(vault: Vault, count: ByteCount, result: PlaceResult, error: LaceError) -> None:
    """End a visit at whose end this vault may sign nothing still: it tells what came, and why no more is done."""
    result.ending = Held(error, result.refusal)
    result.traffic = Traffic.of(count)
    result.vector_after = vector_of(vault)


def unless_held(results: list[PlaceResult], *, tells_held: bool) -> list[PlaceResult]:
    """Return what visits came to; where this vault may sign nothing, tell that with the first or raise it.

    Raises:
        MayNotSign: it may sign nothing, and is not to tell so.
    """
    first = next((result for result in results if result.held is not None), None)
    if first is None or first.held is None:
        return results
    if not tells_held:
        raise first.held
    first.problems.append(Problem.of(first.held, first.name))
    return results


def close_round(
    vault: Vault,
    receiver: Receiver,
    result: PlaceResult,
    before: ReleasesShown,
    watch: Watch,
    *,
    also: Callable[[Writer], None] | None = None,
) -> None:
    """End the round, also when it was cut off: refusals, visible releases, conflicts, in one transaction.

    Args:
        vault: whose round it is.
        receiver: what took the records.
        result: filled in.
        before: what was visible.
        watch: progress and cancel, while what came is proven.
        also: notes what else belongs into that transaction.

    Raises:
        Cancelled: the person stopped it. The round has ended all the same, and what was not proven is not shown yet.
    """
    receiver.gather(watch)
    if held_back(vault) is not None:
        with vault.writing(receiving=True) as w:  # what came is shown once that is settled, which no visit does
            note_unheard(w, before)
    proving = _Proving(watch)
    with vault.store.proofs.by(proving.go_on), vault.writing() as w:
        if also is not None:
            also(w)
        receiver.finish(w)
        w.store.settle(vault.node.text, vault.founding)
        forget_granted(w)
        came = releases_since(vault.store, before)
        note_parted(w, came)
        if receiver.received:
            note_doubled(w, vault.node.text, before.top)
        result.came.new_conflicts = note_version_conflicts(w, vault)
        note_unheard_conflicts(w, result.came.new_conflicts)
        note_forks(w, vault)
        if came:
            note_unheard(w, before)
    _tell_round(vault, receiver, result, came)
    if proving.wish is not None:
        raise proving.wish


def _tell_round(vault: Vault, receiver: Receiver, result: PlaceResult, came: Sequence[ReleaseInfo]) -> None:
    """Fill in what a round brought that is judged now."""
    result.came.awaited = frozenset(receiver.awaited & {refusal.hash for refusal in receiver.refusals})
    result.came.told_before |= receiver.told_before
    result.came.exchanges = _with_refusals(receiver, result.came.exchanges)
    if (missing := first_missing(vault)) is not None:
        result.problems.append(Problem("log-gap", missing_entry(missing), hint=GAP_HINT))
    for release in came:
        if release.node != vault.node.text:
            result.came.releases.append(new_release(vault, release))
    note_evidence(vault, receiver, result)
    result.vector_after = vector_of(vault)


class _Proving:
    """Tells how far the proof of what came is, and puts the rest of it off once the person asked to stop."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.wish: Cancelled | None = None
        """To stop, as the person said it."""

    def go_on(self, read: int) -> None:
        """Take the bytes that are read by now.

        Raises:
            PutOff: no more is to be proven in this round.
        """
        if read <= _LITTLE:
            return
        self._watch.travelled(0, 0, read, 0, "prove")
        try:
            self._watch.cancelled()
        except Cancelled as wish:
            self.wish = self.wish or wish
            raise PutOff from wish


def unknown_in(vault: Vault, scope: ScopedSync) -> list[Problem]:
    """Return what is said of desks and paths that a sync was to be about and that nobody knows."""
    told = []
    for desk in scope.unknown_desks(vault):
        text = f"Nobody has shared anything of a desk called {desk}."
        told.append(Problem("no-such-desk", text, hint="The desks that there are: lace desks"))
    for path in scope.unknown_paths(vault):
        where = f" of {', '.join(sorted(scope.scope.desks))}" if scope.scope.desks else ""
        hint = "A friend's folder is listed by: lace read y PEER/DESK"
        told.append(Problem("no-such-path", f"Nothing shared{where} so far lies at {path}.", hint=hint))
    return told


def _with_refusals(receiver: Receiver, exchanges: Sequence[ExchangeResult]) -> list[ExchangeResult]:
    """Return exchanges with the refusals judged at the round's end that came in each, and none that was taken back."""
    lasting = {refusal.hash for refusal in receiver.refusals}
    found = [
        exchange._replace(rejected=tuple(entry for entry in exchange.rejected if entry[0] in lasting))
        for exchange in exchanges
    ]
    if not found:
        return found
    shown = {record for exchange in found for record, _, _ in exchange.rejected}
    came_in = {record: at for at, exchange in enumerate(found) for record in exchange.late}
    for refusal in receiver.refusals:
        if refusal.hash not in shown:
            at = came_in.get(refusal.hash, -1)
            entry = (refusal.hash, refusal.code, refusal.reason)
            found[at] = found[at]._replace(rejected=(*found[at].rejected, entry))
    return found


def new_release(vault: Vault, release: ReleaseInfo) -> NewRelease:
    """Return what is told of a release that came."""
    found = [kind for path, kind, *_ in changes_of(vault.store, release) if type(path) is not FolderPath]
    gone = found.count("deleted")
    name = label_of(vault, release.node)
    return NewRelease(release.hash, release.desk, release.version, release.node, name, len(found) - gone, gone)


def vector_of(vault: Vault) -> dict[str, int]:
    """Return the numbers of the vault's version vector by node."""
    return {str(node): int(seq) for node, seq in vault.store.rows("SELECT node, seq FROM vector ORDER BY node")}
