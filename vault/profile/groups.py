"""Group ids and private groups: which circle a record belongs to (docs/formats.md section 1)."""

from __future__ import annotations

from functools import lru_cache

from vault.names import BadName, check_group_name
from vault.profile.errors import ProfileError
from vault.records import Verifier, b64a

__all__ = ["check_group_id", "group_id", "private_group"]

_TAG_CHARACTERS = 16  # of the founding Plex's digest: 96 bits, so two circles of one name never meet
_SYMBOLS = frozenset(b64a.ALPHABET)


def group_id(name: str, founding: bytes) -> str:
    """Return the `Group` of every other shared record of the circle of this name that a Plex of this digest founds."""
    return f"{name}/{b64a.encode(founding)[:_TAG_CHARACTERS]}"


@lru_cache(maxsize=256)
def check_group_id(text: str) -> str:
    """Return the text if it is a group id; a vault has one group, so answers are remembered.

    Raises:
        ProfileError: it is not `<group name>/<16 B64A characters>`.
    """
    name, _, tag = text.partition("/")
    if len(tag) != _TAG_CHARACTERS or not _SYMBOLS.issuperset(tag):
        raise ProfileError(f"its Group {text!r} is not a group name, a slash and {_TAG_CHARACTERS} symbols")
    try:
        check_group_name(name)
    except BadName as fault:
        raise ProfileError(f"its Group {text!r} does not start with a group name: {fault.message}") from fault
    return text


def private_group(node: Verifier) -> str:
    """Return the Group of records that never leave the node's vault."""
    return f"local/{node.text}"
