"""Where vaults must end, worked out by plain set arithmetic: no machine, no rules, no store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vault.records import Plex, RecordHash, Seal

__all__ = ["fixed_point"]

Known = Mapping[RecordHash, Plex | Seal]


def fixed_point(
    known: Known,
    held: Sequence[set[RecordHash]],
    policies: Sequence[str],
    roads: Iterable[tuple[int, int, bool]],
    hidden: str,
) -> list[set[RecordHash]]:
    """Return what each vault holds when nothing is left to move.

    Args:
        known: every record there is.
        held: what each vault has of its own.
        policies: what each vault presents.
        roads: who can get records from whom, and whether both their policies narrow what is sent, or, as on a passive
            medium, the sender's alone.
        hidden: the App that nobody shows.
    """
    ends, ways = [set(own) for own in held], list(roads)
    moved = True
    while moved:
        moved = False
        for receiver, sender, is_live in ways:
            mine, theirs = policies[receiver], policies[sender]
            narrows = {mine, theirs} if is_live else {theirs}
            new = {
                name
                for name in ends[sender] - ends[receiver]
                if _app(known[name]) != hidden
                and all(_selects(policy, known, ends[sender], name) for policy in narrows)
                and all(_wants(policy, known, ends[receiver], name) for policy in (mine, theirs))
            }
            ends[receiver] |= new
            moved |= bool(new)
    return ends


def _app(record: Plex | Seal) -> str:
    return record.plex.app if isinstance(record, Seal) else record.app


def _selects(policy: str, known: Known, held: set[RecordHash], name: RecordHash) -> bool:
    return policy == "shared" or _wants(policy, known, held, name)


def _wants(policy: str, known: Known, held: set[RecordHash], name: RecordHash) -> bool:
    record = known[name]
    match policy:
        case "shared":
            return _app(record).startswith("lace/")
        case "one app":
            return _app(record) == "lace/a"
        case _:
            vouched = {r.plex.name for n in held if isinstance(r := known[n], Seal) and r.plex.app == "lace/vouch"}
            return _app(record) == "lace/vouch" or (isinstance(record, Seal) and record.signer.text in vouched)
