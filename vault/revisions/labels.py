"""Labels: names for numbers of a line (CLAY-9, CLAY-15, CLAY-37).

A label belongs to its signer's line, names one revision for good, and is used once. It travels like a revision: with
what is shared of the line, not before.
"""

from __future__ import annotations

from typing import NamedTuple

from vault import profile
from vault.commands import as_typed
from vault.errors import CallerError
from vault.names import check_label
from vault.notes.revisions import KEPT_STATES
from vault.records import RecordHash
from vault.revisions.history import Head, as_head, line_head, revision_of
from vault.store import Store
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["LabelTaken", "Labelled", "NothingToLabel", "labelled", "labels", "set_label", "unshared_labels"]

_FIND = """
    SELECT r.number, r.hash, r.commit_hash FROM label l
    JOIN rev r ON r.hash = l.rev AND r.node = l.node AND r.desk = l.desk
    WHERE l.node = ? AND l.desk = ? AND l.label = ? ORDER BY r.number, l.hash LIMIT 1"""


class LabelTaken(CallerError):
    """The label names another revision of the line, or a state that is kept, and labels are never moved."""

    code = "label-taken"
    hint = "Choose another label; see all with: lace read v DESK"


class NothingToLabel(CallerError):
    """The line has no revision that a label could name."""

    code = "nothing-to-label"
    hint = "Commit first: lace commit -m TEXT"


class Labelled(NamedTuple):
    """A label that was set.

    Args:
        label: the name.
        desk: the desk.
        revision: the number it names.
        record: its sealed record.
        is_shared: whether friends see it at the next sync; else it goes with the next release.
        already: whether the revision had it before.
    """

    label: str
    desk: str
    revision: int
    record: RecordHash
    is_shared: bool
    already: bool = False


def labelled(store: Store, node: str, desk: str, label: str) -> Head | None:
    """Return the revision a label names on a node's line, or None while it names none.

    Two of one name can only come from a copied key; then the lowest number counts, in every vault.
    """
    row = store.rows(_FIND, node, desk, label)
    return as_head(node, desk, row[0]) if row else None


def labels(store: Store, node: str, desk: str) -> dict[str, int]:
    """Return every label of a line with its number, by name."""
    rows = store.rows(
        "SELECT l.label, min(r.number) FROM label l"
        " JOIN rev r ON r.hash = l.rev AND r.node = l.node AND r.desk = l.desk"
        " WHERE l.node = ? AND l.desk = ? GROUP BY l.label ORDER BY l.label",
        node,
        desk,
    )
    return {str(label): int(number) for label, number in rows}


def set_label(vault: Vault, label: str, desk: str, commit: RecordHash | None = None) -> Labelled:
    """Give a revision of my line a name: the head, or the one that is a commit.

    What has the name already keeps it, and nothing is written: so a command that was killed before it answered may be
    given again (APP-13).

    Raises:
        BadName: the label cannot be one.
        LabelTaken: it is used already (CLAY-9), or lace named a state so that it kept (APP-4).
        NothingToLabel: there is no such revision.
    """
    check_label(label)
    with vault.writing() as w:
        me = vault.node.text
        head = line_head(w.store, me, desk) if commit is None else revision_of(w.store, me, desk, commit)
        if head is None:
            which = "no revision" if commit is None else f"no revision {commit}"
            raise NothingToLabel(f"Your line of {desk} has {which} yet.")
        is_shared = bool(w.store.rows("SELECT 1 FROM shared s JOIN rev r USING (p) WHERE r.hash = ?", head.rev.text))
        other = labelled(w.store, me, desk, label)
        if other is not None and (known := _record_of(w.store, head, label)) is not None:
            return Labelled(label, desk, head.number, known, is_shared, already=True)
        plex = profile.LabelRecord.to_plex(group=vault.group, desk=desk, label=label, rev=head.rev, tai=w.tai())
        if other is not None:
            way = f"Choose another label; see all with: {as_typed('read v', f'self/{desk}')}"
            raise LabelTaken(f"The label {label!r} names revision {other.number} of {desk} already.", hint=way)
        if w.store.note(KEPT_STATES, desk).was_given(label):  # it would be read in place of that state
            way = f"Choose another label. What was kept so: {as_typed('checkout', f'{desk}@{label}', 'PATH')}"
            raise LabelTaken(f"{desk}@{label} is a state that lace kept.", hint=way)
        sealed = w.seal(plex)
        if is_shared:
            w.log([sealed.hash])
        w.audit("lace-label", f"{desk}@{label}", {"revision": str(head.number)}, relates_to=[head.commit.text])
        return Labelled(label, desk, head.number, sealed.hash, is_shared)


def _record_of(store: Store, head: Head, label: str) -> RecordHash | None:
    """Return the record by which a revision has a label, if it has."""
    found = "SELECT hash FROM label WHERE node = ? AND desk = ? AND label = ? AND rev = ? ORDER BY hash LIMIT 1"
    row = store.rows(found, head.node, head.desk, label, head.rev.text)
    return RecordHash.parse(str(row[0][0])) if row else None


def unshared_labels(w: Writer, node: str, desk: str, limit: int) -> list[RecordHash]:
    """Return the label records of a line that nobody has been shown, oldest first; a release shares them with it."""
    rows = w.store.rows(
        "SELECT l.hash FROM label l LEFT JOIN shared s USING (p)"
        " WHERE l.node = ? AND l.desk = ? AND s.p IS NULL ORDER BY l.p LIMIT ?",
        node,
        desk,
        limit,
    )
    return [RecordHash.parse(str(row[0])) for row in rows]
