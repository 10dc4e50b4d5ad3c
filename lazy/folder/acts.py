"""What people do here, by the verbs of the audit trail: how each is told of and what answers it (APP-4, CYB-12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from vault.store import Store

__all__ = ["ACTS", "RESTORED", "ActKind", "has_acted_since", "is_silent", "last_entry"]

RESTORED: Final = "restored"
"""Parameter of a checkout's entry: only what was gone from the folder came back, so an undo meets the act before it."""


class ActKind(NamedTuple):
    """What `undo` makes of one verb of the trail.

    Args:
        words: what was done, before its object, where it is not taken back; the verb itself if empty.
        way_back: the hint that says what answers it instead; empty where nothing does.
        is_work: whether it made a revision of my line, which is taken out again.
        is_silent: whether it is no act of a person, such as a visit and what it brought.
    """

    words: str = ""
    way_back: str = ""
    is_work: bool = False
    is_silent: bool = False


_WORK = ActKind(is_work=True)
_SILENT = ActKind(is_silent=True)
ACTS: Final[Mapping[str, ActKind]] = {
    "lace-accept": ActKind("entering", "A place that the invitation named is forgotten with: lace place remove NAME."),
    "lace-admit": _SILENT,
    "lace-adopt": ActKind("going on as"),
    "lace-beacon": _SILENT,
    "lace-checkout": ActKind(
        "the checkout of", "Go back with: lace checkout DESK@CASE - lace log lists the revisions."
    ),
    "lace-conflict": _SILENT,
    "lace-desk": ActKind("the mapping of the desk", "A desk stays mapped; its folder may be moved or emptied."),
    "lace-evidence": _SILENT,
    "lace-fetch": ActKind("asking for the content of", "Ask for it no longer: lace fetch DESK@CASE PATH --cancel."),
    "lace-fork": _SILENT,
    "lace-init": ActKind("the beginning of"),
    "lace-introduce": _SILENT,
    "lace-keep": ActKind(
        "the rule about how long content is kept in",
        "Set the rule as it was, or take it back: lace desk keep PATH all.",
    ),
    "lace-label": ActKind("the label", "A label is never moved: give another name, with lace label NAME."),
    "lace-merge": _WORK,
    "lace-permit": ActKind(
        "the rule about who may write or read in",
        "Set the rule as it was, or take it back: lace desk permit PATH --write|--read --anyone.",
    ),
    "lace-prune": ActKind(
        "a prune by", "What went from releases comes back with lace fetch and a sync; drafts do not come back."
    ),
    "lace-quarantine": ActKind("about the refused record"),
    "lace-refuse": _SILENT,
    "lace-repair": ActKind("a repair by"),
    "lace-revoke": ActKind(
        "the revocation of", "A revocation is never taken back: invite them again, with lace invite."
    ),
    "lace-update": _WORK,
    "lazy-encrypt": ActKind(
        "about the encryption of", "Forget the place, if you do not want it so: lace place remove NAME."
    ),
    "lazy-invite": ActKind(
        "the invitation", "An invitation ends when it is used or expires; whoever comes by it can be revoked."
    ),
    "lazy-join": ActKind("naming the peer", "Stop syncing with them: lace leave NAME."),
    "lazy-leave": ActKind("leaving", "Sync with them again: lace peers shows the line for each friend you left."),
    "lazy-pull": _SILENT,
    "lazy-push": _SILENT,
    "lazy-resolve": ActKind(
        "the decision on",
        "A decision stays. Bring a side back with: lace checkout PEER/DESK@X.Y.Z - then: lace release",
    ),
    "lazy-serve": _SILENT,
    "lazy-sync": _SILENT,
    "seal-commit": _WORK,
    "seal-release": ActKind(
        "the release", "A release is never taken back: release what should count instead, with lace release."
    ),
}
"""Every verb that lace writes but `lace-undo`, which takes the others back."""


def is_silent(verb: str) -> bool:
    """Tell whether a verb of the trail is no act of a person; one that is not known here may be one."""
    return ACTS.get(verb, ActKind()).is_silent


def last_entry(store: Store) -> int:
    """Return the number of the newest entry of the trail; 0 where there is none."""
    return int(store.rows("SELECT ifnull(max(seq), 0) FROM audit")[0][0])


def has_acted_since(store: Store, entry: int) -> bool:
    """Tell whether a person did anything here after this entry; what visits and servers do is nothing of theirs."""
    since = {str(verb) for (verb,) in store.rows("SELECT verb FROM audit WHERE seq > ?", entry)}
    return not all(map(is_silent, since))
