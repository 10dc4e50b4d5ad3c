"""The sides of a conflict: who each is, what it is called, what is common to all, and what of it is mine (LAZ-36)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from lazy.contested import Side
from lazy.people import label_of
from vault.folder.checked_out import checkout_of
from vault.names import SIDE_WORDS, Version
from vault.records import RecordHash
from vault.revisions.graph import ancestors
from vault.revisions.history import ReleaseInfo, releases_of
from vault.store import Store
from vault.vault import Vault

__all__ = ["beside_line", "last_in_common", "line_of", "release_side", "with_words"]


def release_side(vault: Vault, release: ReleaseInfo) -> Side:
    """Return the side that a release is; it has no word yet, which `with_words` gives it."""
    return Side(
        release.commit,
        release.hash,
        release.node,
        label_of(vault, release.node),
        release.content_sha512,
        release.tai,
        release.version,
    )


def with_words(vault: Vault, sides: Sequence[Side], line: set[str], *, owned: bool = True) -> tuple[Side, ...]:
    """Give each side a word of its own, and say which are local.

    Args:
        vault: whose words they are.
        sides: of one conflict, in the order they are listed.
        line: commits of my line.
        owned: whether what I released is local, wherever my line went; else only my line counts.
    """
    contents: dict[str, set[str]] = {}
    for side in sides:
        contents.setdefault(side.name, set()).add(side.content_sha512 or side.commit.text)
    local = {side.commit for side in sides if owned and side.node == vault.node.text}
    if not local:
        held = [side.commit for side in sides if side.commit.text in line]
        local = set(held if owned else held[:1])  # of heads, mine stands first
    number: dict[str, int] = {}
    found = []
    for side in sides:
        number[side.name] = number.get(side.name, 0) + 1
        is_plain = len(contents[side.name]) == 1 and side.name not in SIDE_WORDS
        word = side.name if is_plain else f"{side.name}:{number[side.name]}"
        found.append(side._replace(word=word, is_local=side.commit in local))
    return tuple(found)


def last_in_common(
    store: Store, desk: str, commits: Sequence[RecordHash]
) -> tuple[tuple[Version, tuple[int, ...]], ...]:
    """Return the highest releases that several of these commits were built upon, and which of them were (H-18).

    The highest stands first. After it stand those that others have in common, so that of three commits that have no
    release in common it is told which two of them have one.
    """
    below = [ancestors(store, commit) for commit in commits]
    # Each side is gone through once: pairs of hundreds of sides would cost the square of them.
    shared = [RecordHash.parse(text) for text, count in Counter(chain.from_iterable(below)).items() if count > 1]
    found: list[tuple[Version, tuple[int, ...]]] = []
    for release in sorted(releases_of(store, shared, desk), key=lambda release: release.version, reverse=True):
        of = tuple(at for at, texts in enumerate(below) if release.commit.text in texts)
        if len(of) > 1 and not any(set(of) <= set(higher) for _, higher in found):
            found.append((release.version, of))
    return tuple(found)


def line_of(vault: Vault, desk: str) -> set[str]:
    """Return the commits of my line on a desk, as hash texts."""
    base = checkout_of(vault, desk)
    return ancestors(vault.store, base.commit) if base else set()


def beside_line(vault: Vault, desk: str) -> set[str]:
    """Return what is in heads with my folder's content, which my next commit names beside my line."""
    base = checkout_of(vault, desk)
    return {text for head in base.also for text in ancestors(vault.store, head)} if base else set()
