"""What who belongs no more is told: by records sealed to them alone in encrypted mailboxes, and at each visit."""

from __future__ import annotations

from collections.abc import Sequence

from lazy.people import fallen_by, former, is_member
from lazy.problems import Problem
from lazy.receiving.receive import Receiver
from transports.address import AddressKind
from transports.encrypted.sealed import SealedPlace
from transports.errors import ClosedToYou, SealedToOthers
from transports.layout import ONE_FILE
from transports.mailbox import MailboxMedium
from vault import profile
from vault.commands import as_typed
from vault.errors import DataError, PeerError
from vault.profile import read
from vault.records import RecordHash, Seal, parse_record
from vault.records.errors import RecordError
from vault.vault import Vault

__all__ = ["closed_records", "hear_notices", "told_of_closed", "told_of_revoked"]

_GO_ON = "What you have stays yours to read. A new key: lace adopt; then a friend admits it."

_AT_THE_MEDIUM = (
    "A copy behind a web server shows nobody a friend's encrypted mailbox that is new to them: sync once where it is"
    " written, such as the stick itself. From then on the copy shows it too."
)


def hear_notices(vault: Vault, medium: MailboxMedium, receiver: Receiver) -> None:
    """Take what encrypted mailboxes say to this node alone: that it was revoked, and the log entry that shares it.

    Other records are passed over; these are judged as from any mailbox. What is here already is not taken again.
    """
    if not isinstance(medium, SealedPlace) or not medium.boxes.notices or vault.founding is None:
        return
    batch: dict[RecordHash, bytes] = {}
    for stored in medium.boxes.notices:
        try:
            record = parse_record(stored)
            value = read(record) if isinstance(record, Seal) and record.plex.group == vault.group else None
        except (RecordError, DataError, PeerError):
            continue
        if isinstance(value, profile.LogEntry) or (isinstance(value, profile.Revocation) and value.node == vault.node):
            batch[record.hash] = stored
    here = vault.store.have(batch)
    missing = [(name, stored) for name, stored in batch.items() if name not in here]
    if missing:
        receiver.take(missing)


def closed_records(name: str, count: int, kind: str) -> Problem:
    """Return what is said of records that a mailbox lists and that are encrypted to others on a medium of this kind.

    A copy behind a web server may have them for this node, under names that only who can list the medium itself finds.
    """
    what = "1 record that it lists is" if count == 1 else f"{count} records that it lists are"
    if kind == AddressKind.HTTP:
        text = f"{what} encrypted, in mailboxes that this copy does not show you."
        return Problem(SealedToOthers.code, text, name, _AT_THE_MEDIUM)
    return Problem(
        SealedToOthers.code,
        f"{what} encrypted to others here; they come once you belong, or a friend syncs again.",
        name,
    )


def told_of_closed(vault: Vault, medium: MailboxMedium, kind: str, problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems of a visit with what is to be said of mailboxes that are encrypted to others.

    A revoked node is told that it is revoked.

    Args:
        vault: who visits.
        medium: with those mailboxes.
        kind: of the place.
        problems: of the visit up to now.
    """
    told = list(problems)
    if not isinstance(medium, SealedPlace):
        return told
    closed = [problem for problem in told if problem.code == ClosedToYou.code]
    me = former(vault, vault.node.text) if closed else None
    count = len(medium.boxes.closed)
    if closed and me is None and not is_member(vault, vault.node.text):
        told = [problem for problem in told if problem not in closed]
        count += len(closed)  # a new key that waits to be admitted reads what the old one could once it is
    if me is not None:
        text = f"{me.by} revoked you from the group. What friends put here since is encrypted, and not to you."
        told = [problem for problem in told if problem not in closed]
        told.append(Problem(ClosedToYou.code, text, hint=_GO_ON))
    if count:
        what = "1 mailbox here is" if count == 1 else f"{count} mailboxes here are"
        if kind == ONE_FILE:
            why = "others: ask for a file that is made when you belong."
        elif is_member(vault, vault.node.text):
            why = "others: somebody new who asked another member, or a friend who must sync first."
        elif former(vault, vault.node.text) is not None:
            why = "the members, and your key is none of theirs any more."
        else:
            why = "the members, and you are none yet: once your friend has synced here, sync again."
        told.append(Problem(SealedToOthers.code, f"{what} encrypted to {why}"))
    return told


def told_of_revoked(vault: Vault, problems: Sequence[Problem]) -> list[Problem]:
    """Return what is said to a node that another revoked, unless mailboxes encrypted to others said so (LAZ-69).

    It is said as well to who belongs no more for what came of somebody else: their admission fell.

    Args:
        vault: who visits.
        problems: of the visit up to now.
    """
    told = []
    if by := fallen_by(vault):
        admit = as_typed("admit", vault.name, options=f"--key {vault.node}")
        text = f"{by}'s admission of you counts no more, so you are not a member now."
        told.append(Problem("not-member", text, hint=f"A friend lets you in with: {admit} - then sync again."))
    me = former(vault, vault.node.text)
    if me is None or me.by_node == me.node:  # whoever did it themselves was told then
        return told
    if any(problem.code == ClosedToYou.code for problem in problems):
        return told
    text = f"{me.by} revoked this device's key: what it says counts here only."
    return [*told, Problem("revoked", text, hint=_GO_ON)]
