"""The versions of releases: the highest of a desk, what each node released, and the next."""

from __future__ import annotations

from typing import Final, NamedTuple

from vault.desk_folders import MAIN
from vault.names import Version
from vault.store import Store
from vault.store.schema import VERSION_ORDER
from vault.vault import Vault

__all__ = ["Released", "Span", "highest", "highest_version", "is_released", "next_version", "released_versions"]

# The order of `Version`, where the rows are: a desk may have thousands of releases.
_ORDER: Final = ", ".join(f"{words} DESC" for words in (*VERSION_ORDER, "version LIKE '%-merged'"))
_HIGHEST: Final = f"SELECT version FROM release WHERE desk = ? AND visible = 1 ORDER BY {_ORDER} LIMIT 1"  # noqa: S608
_FROM_HIGHEST: Final = (
    f"SELECT version, commit_hash FROM release WHERE desk = ? AND visible = 1 ORDER BY {_ORDER}, lamport, node, hash"  # noqa: S608
    " LIMIT ?"
)
# ... and as one text that sorts alike, so that its ends are found where the rows are.
_AS_TEXT: Final = f"printf('%010d.%010d.%010d.%d', {', '.join(VERSION_ORDER)}, version LIKE '%-merged')"
_SPANS: Final = (
    f"SELECT node, desk, min(k), max(k) FROM (SELECT node, desk, {_AS_TEXT} AS k FROM release WHERE visible = 1)"  # noqa: S608
    " GROUP BY node, desk"
)


class Released(NamedTuple):
    """A version as text, and the hash text of the commit that was released under it."""

    version: str
    commit: str


class Span(NamedTuple):
    """The lowest and the highest of some versions.

    Args:
        low: the lowest.
        high: the highest.
    """

    low: Version
    high: Version

    def with_also(self, other: Span) -> Span:
        """Return the span of both."""
        return Span(min(self.low, other.low), max(self.high, other.high))


def released_versions(store: Store) -> dict[str, dict[str, Span]]:
    """Return by node and desk which visible versions it released; no object is made of each of thousands."""
    found: dict[str, dict[str, Span]] = {}
    for node, desk, low, high in store.rows(_SPANS):
        found.setdefault(str(node), {})[str(desk)] = Span(_version(str(low)), _version(str(high)))
    return found


def _version(as_text: str) -> Version:
    major, minor, patch, is_merged = map(int, as_text.split("."))
    return Version(major, minor, patch, bool(is_merged))


def highest(store: Store, desk: str, most: int = -1) -> list[Released]:
    """Return the visible releases of a desk, the highest version first; as many of them as are asked for."""
    return [Released(*row) for row in store.rows(_FROM_HIGHEST, desk, most)]


def highest_version(store: Store, desk: str) -> Version | None:
    """Return the highest visible release version of a desk in the group, or None."""
    row = store.rows(_HIGHEST, desk)
    return Version.parse(str(row[0][0])) if row else None


def is_released(store: Store, desk: str, version: Version) -> bool:
    """Tell whether anybody released a version of a desk, also where that is not visible here."""
    return bool(store.rows("SELECT 1 FROM release WHERE desk = ? AND version = ? LIMIT 1", desk, str(version)))


def next_version(vault: Vault, desk: str = MAIN) -> Version:
    """Return the version proposed for the next release: the first that is free after the highest visible in the group.

    After the last version that there can be, the highest below it that is free.
    """
    store = vault.store
    highest = highest_version(store, desk)
    version = highest.following() if highest is not None else Version(1, 0, 0)
    while version is not None and is_released(store, desk, version):
        version = version.following()
    return version or _free_below(store, desk)


def _free_below(store: Store, desk: str) -> Version:
    taken = {Version.parse(str(text)) for (text,) in store.rows("SELECT version FROM release WHERE desk = ?", desk)}
    proposed = (version.following() for version in sorted(taken, reverse=True))
    return next((version for version in proposed if version and version not in taken), Version(1, 0, 0))
