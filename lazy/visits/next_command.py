"""Which command a person wants after a visit, as things stand then."""

from __future__ import annotations

from lazy.belonging.requests import requests
from lazy.belonging.revoking import waiting
from lazy.conflict_words import next_to_decide, update_command, update_desk
from lazy.conflicts import conflicts
from lazy.noted_visits import sync_command
from lazy.people import is_member
from lazy.places.registry import Place
from lazy.results import PlaceResult
from transports.address import AddressKind
from vault.commands import as_typed
from vault.desk_folders import MAIN, desks
from vault.folder.divergence import apart_here
from vault.vault import Vault

__all__ = ["next_command"]


def next_command(vault: Vault, place: Place, result: PlaceResult) -> str:
    """Name the command that a person wants after a visit, as things stand now; empty when there is none."""
    command = _next(vault, result)
    if command or result.refusal is not None:
        return command or sync_command(place.name)
    if place.kind != AddressKind.HTTP and not result.only_read:
        return ""
    from lazy.queue import next_sync  # where nothing can be left, mine goes another way

    return next_sync(vault)


def _next(vault: Vault, result: PlaceResult) -> str:
    if still_open := conflicts(vault):
        from lazy.folder.heads import ending_releases, ending_with  # of conflicts there are mostly none

        ended = ending_releases(vault, still_open)
        if all(conflict.id in ended for conflict in still_open):  # as somebody new finds them
            return update_command(still_open[0])
        above = ending_with(vault, still_open)
        asked = [conflict for conflict in still_open if conflict.id not in above]
        return "lace conflicts" if len(asked) != 1 else next_to_decide(asked[0])
    here = {desk.name for desk in desks(vault)}
    came = _brings(vault, result, here) | {desk for desk in here if apart_here(vault, desk)}
    if came:
        return _taking_in(came, here)
    if is_member(vault, vault.node.text) and (requests(vault) or any(one.mine for one in waiting(vault))):
        return "lace requests"
    return "lace status" if _brings_what_is_kept_out(vault, result, here) else ""


def _brings(vault: Vault, result: PlaceResult, here: set[str]) -> set[str]:
    """Return the desks of which releases came; of one with a folder only where an update would bring something."""
    came = {release.desk for release in result.came.releases}
    if not came & here:
        return came
    from lazy.relation import desks_with_news  # most visits bring nothing new

    return came - here | came.intersection(desks_with_news(vault))


def _brings_what_is_kept_out(vault: Vault, result: PlaceResult, here: set[str]) -> bool:
    """Tell whether my rules keep out a release that came, which status tells of; no conflict is open."""
    came = {(one.desk, one.name, one.version) for one in result.came.releases if one.desk in here}
    if not came:
        return False
    from lazy.folder.permitted import kept_out  # most visits bring nothing new
    from lazy.relation import standing_beside

    out = {desk: kept_out(vault, desk, standing_beside(vault, desk, []).refused) for desk, _, _ in came}
    return any((desk, one.who, one.version) in came for desk, some in out.items() for one in some)


def _taking_in(came: set[str], here: set[str]) -> str:
    """Name the command for the first desk of which something came; `main` and those with a folder go first."""
    desk = min(came, key=lambda name: (name != MAIN, name not in here, name))
    if desk not in here:
        return as_typed("desk add", desk, "DIR")
    return update_desk(desk)
