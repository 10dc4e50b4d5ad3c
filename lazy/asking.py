"""Asking for somebody's beacon now, wherever they leave or answer one (LAZ-19); who is not met is known as before."""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from lazy.belonging.beacon import hear_beacon, read_beacons
from lazy.live.visiting import standing_there
from lazy.people import node_of
from lazy.places.media import open_medium
from lazy.places.registry import Place, is_mine, serving
from lazy.problems import Problem
from lazy.visits.rounds import held_back
from transports.address import AddressKind, parse_live
from vault.errors import DataError, PeerError, PlaceError
from vault.records import Verifier
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Asked", "ask_beacon"]


class Asked(NamedTuple):
    """What asking came to.

    Args:
        places: names of the places that answered, with a beacon or without.
        problems: what went wrong, where.
    """

    places: tuple[str, ...]
    problems: tuple[Problem, ...]


def ask_beacon(vault: Vault, name: str, watch: Watch = Watch()) -> Asked:
    """Ask every place where somebody's beacon may lie, and whoever answers for themselves; nothing else moves.

    Args:
        vault: who asks.
        name: a peer.
        watch: progress and cancel.

    Raises:
        NoSuchPeer, NoSuchPlace: nobody has that name, or no place serves them.
        Cancelled: the person stopped it.
    """
    node = Verifier.parse(node_of(vault, name))
    answered: list[str] = []
    problems: list[Problem] = []
    for place in serving(vault, name):
        watch.cancelled()
        if is_mine(vault, place) or not _may_have(place, node):
            continue
        try:
            problems += _ask_at(vault, place, node)
            answered.append(place.name)
        except (PlaceError, PeerError, DataError) as error:
            problems.append(Problem(error.code, error.message, place.name))
    if held_back(vault) is None:
        with vault.writing() as w:
            w.audit("lace-beacon", node.text, {"asked": ", ".join(answered) or "nobody answered"})
    return Asked(tuple(answered), tuple(problems))


def _may_have(place: Place, node: Verifier) -> bool:
    """Tell whether a place can have a node's beacon: a server or a vault answers for its own node alone."""
    if place.kind == AddressKind.LIVE:
        return parse_live(place.uri).node == node
    return place.kind != AddressKind.VAULT or place.place_id == node.text


def _ask_at(vault: Vault, place: Place, node: Verifier) -> list[Problem]:
    if place.kind in {AddressKind.LIVE, AddressKind.VAULT}:
        fault = hear_beacon(vault, place.name, node, standing_there(vault, place).beacon)
        return [fault] if fault is not None else []
    with closing(open_medium(vault, place)) as medium:
        return read_beacons(vault, place.name, medium, [node.text])
