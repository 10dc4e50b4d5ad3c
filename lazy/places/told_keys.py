"""What owners of encrypted mailboxes tell of keys, and how much of it is kept (docs/formats.md, "Encrypted mailboxes").

Anybody can tell anything: another's id with a wrong secret, thousands of keys, holders that never were. So one
owner's word never stands in another's way: all are remembered for a visit, and a file says itself which key is its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from transports.encrypted.member_keys import KEYS_LIMIT, EpochKey
from vault.records import Verifier

__all__ = ["ToldKeys", "chosen", "held"]

_TOLD_BYTES = 1 << 20  # of one member: as much as their head can hold
_STRANGERS_BYTES = 4 << 20  # of all who are no members as far as I know: to somebody new, all are that
_STRANGERS = 256  # holders of one key that I never heard of
_RING_BYTES = 384 << 10  # a head of more than 1 MiB is refused, and it holds more than keys


class ToldKeys:
    """The keys that the owners of mailboxes tell in one visit."""

    def __init__(self) -> None:
        self._of: dict[bytes, dict[Verifier, EpochKey]] = {}  # by id: what each owner says that it stands for
        self._taken: dict[Verifier | None, int] = {}

    def take(self, owner: Verifier, keys: Iterable[EpochKey], *, is_member: bool) -> None:
        """Remember what an owner tells, as far as one may make me hold; of who is no member not the holders."""
        whose, limit = (owner, _TOLD_BYTES) if is_member else (None, _STRANGERS_BYTES)
        for key in keys:
            taken = self._taken.get(whose, 0) + _size(key)
            if owner not in self._of.get(key.id, {}) and taken <= limit:
                self._of.setdefault(key.id, {})[owner] = key if is_member else EpochKey(key.id, key.key)
                self._taken[whose] = taken

    def named(self, identifier: bytes) -> list[EpochKey]:
        """Return everything that an id is said to stand for."""
        return list(self._of.get(identifier, {}).values())

    def holders(self, key: EpochKey) -> set[Verifier]:
        """Return who tells a key, and who holds it by their word."""
        tellers = self._of.get(key.id, {})
        return {node for owner, one in tellers.items() if one.key == key.key for node in (owner, *one.holders)}


def held(key: EpochKey, nodes: Collection[Verifier], known: Collection[Verifier]) -> EpochKey:
    """Return a key with more holders; of those I never heard of only so many that it is not written under."""
    holders = key.holders.union(nodes)
    return EpochKey(key.id, key.key, holders.difference(sorted(holders.difference(known))[_STRANGERS:]))


def chosen(ring: dict[bytes, EpochKey], first: Iterable[bytes]) -> dict[bytes, EpochKey]:
    """Return as many keys as fit into a head: those first that are needed most, then the others."""
    found: dict[bytes, EpochKey] = {}
    left = _RING_BYTES
    for identifier in dict.fromkeys((*first, *ring)):
        key = ring.get(identifier)
        if key is not None and _size(key) <= left and len(found) < KEYS_LIMIT:
            found[identifier] = key
            left -= _size(key)
    return found


def _size(key: EpochKey) -> int:
    return len(key.id) + len(key.key) + 2 + 32 * len(key.holders)
