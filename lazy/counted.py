"""What counts of one member about one version: of who contradicts themselves, no more than a decision can name.

It is chosen by the records alone, in the order of their maker's log, so that everybody has the same whatever came
first. What counts once goes on to count, however much its maker adds: who built on it or accepted it keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable

from vault.names import Version
from vault.revisions.history import ReleaseInfo

__all__ = ["MOST_RELEASES", "counted"]

MOST_RELEASES = 8  # of one member under one version; a resolution names 64 sides


def counted(releases: Iterable[ReleaseInfo]) -> list[ReleaseInfo]:
    """Return the releases that may be sides of a contested version, in the order given (H-17, LAZ-42).

    Of each member and version that is the first of each content, then further ones of the same, by Seq.
    """
    of_member: dict[tuple[str, str, Version], list[ReleaseInfo]] = {}
    given = list(releases)
    for release in given:
        of_member.setdefault((release.node, release.desk, release.version), []).append(release)
    chosen = {release.hash for several in of_member.values() for release in _first(several)}
    return [release for release in given if release.hash in chosen]


def _first(several: list[ReleaseInfo]) -> list[ReleaseInfo]:
    if len(several) <= MOST_RELEASES:
        return several
    contents: set[str] = set()
    order: list[tuple[bool, int, str, ReleaseInfo]] = []
    for release in sorted(several, key=lambda one: (one.seq, one.hash.text)):
        order.append((release.content_sha512 in contents, release.seq, release.hash.text, release))
        contents.add(release.content_sha512)
    return [release for *_, release in sorted(order, key=lambda one: one[:3])[:MOST_RELEASES]]
