"""How a visit ends, whatever the road: what it cost, what came earlier and was not told, what is remembered of it."""

from __future__ import annotations

import json
from typing import Any

from lazy.belonging.forks import tell_forks
from lazy.clocks import clocks_apart
from lazy.conflicts import conflicts
from lazy.endings import Done
from lazy.files import note_lazy_files, write_noted
from lazy.noted_visits import noted_problems, noted_summary
from lazy.people import has_gone_on, label_of
from lazy.places.registry import Place, clear_fault, known_faults, note_fault
from lazy.problems import Problem
from lazy.receiving.closed import told_of_revoked
from lazy.receiving.membership_news import forget_news, unheard_news
from lazy.results import PlaceResult, Traffic
from lazy.visits.errand import Errand
from lazy.visits.next_command import next_command
from lazy.visits.rounds import new_release, vector_of
from lazy.visits.unheard import forget_unheard, unheard_conflicts, unheard_since
from transports.address import AddressKind
from transports.layout import ONE_FILE
from transports.mailbox import ByteCount
from vault.folder.checked_out import checkout_of, contained
from vault.records import Verifier
from vault.revisions.graph import is_ancestor
from vault.revisions.history import releases_since
from vault.vault import Vault
from vault.writer import Writer

__all__ = ["finish"]

_OF_WORDS = frozenset({"no-such-desk", "no-such-path"})  # of what was typed once, and not of the place


def finish(
    vault: Vault,
    place: Place,
    count: ByteCount,
    place_id: str,
    result: PlaceResult,
    errand: Errand,
) -> None:
    """End a visit: what it cost, what is next, what is remembered of the place, and the audit entry.

    Args:
        vault: whose visit it was.
        place: that was visited.
        count: bytes and trips.
        place_id: what was found there; kept when it was not known.
        result: filled in.
        errand: what it was for; that nothing came of one of many visits is told nobody.
    """
    result.traffic = Traffic.of(count)
    if result.refusal is None:
        result.ending = Done(safe_to_remove=errand.push and place.kind == AddressKind.DROP)
    result.vector_after = vector_of(vault)
    result.came.membership += unheard_news(vault)
    result.problems += told_of_revoked(vault, result.problems)
    result.unreleased |= _unreleased(vault, place)
    verb = "lazy-sync" if errand.push and errand.pull else "lazy-push" if errand.push else "lazy-pull"
    _tell_unheard(vault, result)
    result.problems += clocks_apart(vault, [release.release for release in result.came.releases])
    with vault.writing() as w:
        forget_unheard(w)
        forget_news(w)
        result.problems += [_forked(vault, node, seq) for node, seq in tell_forks(w, vault)]
        is_told = not errand.is_again or _is_another_end(vault, place, result)
        if not place.place_id:
            w.store.run("UPDATE place SET place_id = ? WHERE name = ?", place_id, place.name)
        if place.kind != ONE_FILE:
            _note_end(w, place, result, has_written=errand.push)
        if is_told:
            _tell_audit(w, verb, place, result)
        files = note_lazy_files(vault)
    result.next = next_command(vault, place, result)  # by what is remembered of the place now
    write_noted(vault, files)


def _tell_unheard(vault: Vault, result: PlaceResult) -> None:
    """Tell what came with earlier visits that were cut off, or with a friend's at my server, which told it there.

    What my folder contains by now is no news.
    """
    if earlier := [one for one in unheard_conflicts(vault.store) if one not in result.came.new_conflicts]:
        still_open = {conflict.id for conflict in conflicts(vault)}
        result.came.new_conflicts[:0] = [one for one in earlier if one in still_open]
    since = unheard_since(vault.store)
    if since is None:
        return
    told = {release.release for release in result.came.releases}
    came = releases_since(vault.store, since)
    others = [one for one in came if one.node != vault.node.text and one.hash not in told]
    fresh = [
        one for one in others if not is_ancestor(vault.store, one.commit, *contained(checkout_of(vault, one.desk)))
    ]
    result.came.releases[:0] = [new_release(vault, release) for release in fresh]


def _unreleased(vault: Vault, place: Place) -> dict[str, int]:
    """Return how many commits those who were met at a place keep to themselves, by their names."""
    rows = vault.store.rows(
        "SELECT node, CAST(unreleased AS INTEGER) FROM met WHERE unreleased > 0 AND place = ?", place.name
    )
    return {label_of(vault, str(node)): int(commits) for node, commits in rows}


def _note_end(w: Writer, place: Place, result: PlaceResult, *, has_written: bool) -> None:
    """Remember of a place how the last visit to it ended."""
    if result.refusal is not None:
        note_fault(w, place.name, result.refusal)
    else:
        clear_fault(w, place.name, has_written=has_written)
    summary = json.dumps(_summary(result), sort_keys=True)
    w.store.run("INSERT OR REPLACE INTO last_sync VALUES (?, ?, ?)", place.name, w.tai().text, summary)


def _tell_audit(w: Writer, verb: str, place: Place, result: PlaceResult) -> None:
    w.audit(
        verb,
        place.name,
        {
            "road": place.kind,
            "received": str(len(result.came.received)),
            "rejected": str(len(result.came.rejected)),
            "sent": str(result.sent),
            "admitted": ", ".join(result.came.admitted) or "nobody",
            **_troubles(result),
        },
    )


def _is_another_end(vault: Vault, place: Place, result: PlaceResult) -> bool:
    """Tell whether a visit moved something, or ended otherwise than the one before it (CYB-11)."""
    now = _summary(result)
    if any(now[what] for what in ("sent", "received", "rejected", "admitted", "releases", "conflicts")):
        return True
    fault = known_faults(vault).get(place.name)
    rows = vault.store.rows("SELECT result FROM last_sync WHERE place = ?", place.name)
    if not rows or (fault and fault.code) != (result.refusal and result.refusal.code):
        return True
    return noted_problems(noted_summary(rows[0][0])) != noted_problems(now)


def _troubles(result: PlaceResult) -> dict[str, str]:
    """Return what the audit trail says of mailboxes that could not be read, or not whole (CYB-11)."""
    told = sorted({f"{problem.peer}: {problem.code}" if problem.peer else problem.code for problem in result.problems})
    return {"problems": ", ".join(told)} if told else {}


def _summary(result: PlaceResult) -> dict[str, Any]:
    return {
        "sent": result.sent,
        "received": len(result.came.received),
        "rejected": len(result.came.rejected),
        "bytes_read": result.traffic.bytes_read,
        "bytes_written": result.traffic.bytes_written,
        "admitted": result.came.admitted,
        "newcomers": [one.sentence for one in result.came.membership if not one.is_gone],
        "revoked": [one.sentence for one in result.came.membership if one.is_gone],
        "releases": [f"{r.name} {r.desk} {r.version}" for r in result.came.releases],
        "conflicts": result.came.new_conflicts,
        "problems": [problem.noted for problem in result.problems if problem.code not in _OF_WORDS],
        "safe_to_remove": result.safe_to_remove,
        "left_out": result.came.left_out,
        "only_read": result.only_read,
    }


def _forked(vault: Vault, node: Verifier, seq: int) -> Problem:
    """Return what is said of a log that forked after an entry."""
    name = label_of(vault, node.text)
    after = f"after entry {seq}" if seq else "at its first entry"
    goes_on = "went on under a new key." if has_gone_on(vault, node.text) else "goes on with: lace adopt"
    text = (
        f"The log of {name} forked {after}: two different entries were sealed under one number, by a copied or "
        f"restored device or on purpose. Both are kept; {name} {goes_on}"
    )
    return Problem("forked", text, name)
