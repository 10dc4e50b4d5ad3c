"""The predicates a program may read: base facts, and the built-in comparisons (FAC-3, FAC-8, FAC-14).

Base facts are supplied for one snapshot; a program can never define them. What a fact means is said by whoever
supplies it: the store for records (Lace-020), interlace for advertisements and run-time facts, the lace profile for
membership and the files of commits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

__all__ = ["BASE", "BUILTINS", "RECORD_FACTS", "Base", "catalog"]


class Base(NamedTuple):
    """A base predicate.

    Args:
        name: as programs write it.
        arity: how many terms it takes.
        meaning: one line for people.
        keyed: whether it is only ever answered for a first term that something else gives.
    """

    name: str
    arity: int
    meaning: str = ""
    keyed: bool = False


def _table(*rows: Base) -> Mapping[str, Base]:
    return MappingProxyType({row.name: row for row in rows})


BASE: Final = _table(
    Base("Have", 1, "P is a record stored here, not one embedded in another"),
    Base("Field", 4, "P, header name, how many of that name stand before it, value"),
    Base("RecordLink", 5, "P, header name, number of the link, data, target"),
    Base("BlobHash", 2, "P, hash of its embedded Blob"),
    Base("PlexHash", 2, "P, hash of its embedded Plex"),
    Base("Shared", 1, "P is reached by what its author shared"),
    Base("Advertised", 2, "P, source label of the peer that advertises it"),
    Base("AdvertisedField", 5, "P, source label, header name, index, value"),
    Base("Here", 1, "this node's verifier"),
    Base("Peer", 1, "the proven verifier of the peer"),
    Base("Transport", 1, "how the bytes travel"),
    Base("TransportEncrypted", 0, "the bytes travel encrypted"),
    Base("StartTAI", 1, "the agreed start of the exchange"),
    Base("TickTAI", 1, "the current tick of the exchange"),
    Base("ClockSkewSeconds", 1, "how far the two clocks are apart"),
    Base("Member", 1, "verifier of somebody who belongs to the group"),
    Base("TreeEntry", 4, "P, name, kind (f, l, d; page or chunk without a name), target", keyed=True),
)
"""Every base predicate that is always declared; `catalog` adds a profile's own."""

RECORD_FACTS: Final = frozenset({"Have", "Field", "RecordLink", "BlobHash", "PlexHash", "Shared", "TreeEntry"})
"""What a store answers by itself."""

BUILTINS: Final[Mapping[str, int]] = MappingProxyType(
    {"Prefix": 2, "Suffix": 2, "Eq": 2, "Ne": 2, "Lt": 2, "Le": 2, "NumLt": 2, "NumLe": 2}
)
"""Comparisons and how many terms they take. None makes a new value, so every recursion ends."""


def catalog(profile: Iterable[Base] = ()) -> Mapping[str, Base]:
    """Return the base predicates by name, with those that a profile declares (FAC-14).

    Raises:
        ValueError: a declared predicate is already there with another arity, or has the name of a comparison.
    """
    known = dict(BASE)
    for base in profile:
        if base.name in BUILTINS or (base.name in known and known[base.name].arity != base.arity):
            raise ValueError(f"The predicate {base.name} is already there.")
        known[base.name] = base
    return MappingProxyType(known)
