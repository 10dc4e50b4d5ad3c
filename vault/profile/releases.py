"""What a desk's history says to friends: label, release and resolution (docs/formats.md section 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from vault.names import Version, check_desk, check_label
from vault.profile.apps import LABEL_APP, RELEASE_APP, RESOLUTION_APP
from vault.profile.errors import ProfileError
from vault.profile.fields import (
    Origin,
    Sealed,
    ascending,
    at_most_one,
    exactly_one,
    headers,
    link_pairs,
    links,
    no_body,
    required,
    text_bytes,
    text_of,
    two_part_name,
)
from vault.records import Plex, RecordHash, Tai

__all__ = ["MAX_SIDES", "LabelRecord", "Release", "Resolution"]

MAX_SIDES = 64
_SUM_PREFIX = "sha512:"
_SUM_CHARACTERS = len(_SUM_PREFIX) + 128
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRecord(Sealed):
    """A name for a number of the signer's line (CLAY-9).

    Args:
        desk: the desk's name.
        label: starts with a letter; unique on the line.
        rev: Seal of the revision that has the number.
    """

    APP: ClassVar[str] = LABEL_APP

    desk: str
    label: str
    rev: RecordHash

    @classmethod
    def to_plex(cls, *, group: str, desk: str, label: str, rev: RecordHash, tai: Tai) -> Plex:
        """Return the Plex to seal.

        Raises:
            BadName: desk or label is not allowed.
        """
        return cls._checked(
            Plex.build(group=group, app=cls.APP, name=f"{desk}/{label}", tai=tai, extras=link_pairs("rev", [rev]))
        )

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        desk, label = two_part_name(plex.name)
        (revs,) = links(plex, ("rev", "S"))
        no_body(plex)
        return cls(*origin, desk=desk, label=label, rev=exactly_one(revs, "rev"))

    def _check(self) -> None:
        check_desk(self.desk)
        check_label(self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Sealed):
    """A commit under a version, for friends.

    Args:
        desk: the desk's name.
        version: the version.
        commit: the commit's Seal.
        rev: Seal of the revision that numbers it.
        content_sha512: `sha512:` and 128 hex digits, of the root tree (H-2).
        message: what the person wrote.
    """

    APP: ClassVar[str] = RELEASE_APP

    desk: str
    version: Version
    commit: RecordHash
    rev: RecordHash
    content_sha512: str
    message: str

    @classmethod
    def to_plex(
        cls,
        *,
        group: str,
        desk: str,
        version: Version,
        commit: RecordHash,
        rev: RecordHash,
        content_sha512: str,
        message: str,
        tai: Tai,
    ) -> Plex:
        """Return the Plex to seal.

        Raises:
            BadName: the desk's name is not allowed.
            ProfileError: digest, links or message break a rule.
        """
        extras = [
            *link_pairs("commit", [commit]),
            *link_pairs("rev", [rev]),
            ("Content-SHA512", content_sha512),
        ]
        name, data = f"{desk}/{version}", text_bytes(message)
        return cls._checked(Plex.build(group=group, app=cls.APP, name=name, tai=tai, extras=extras, data=data))

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        desk, version = two_part_name(plex.name)
        commits, revs = links(plex, ("commit", "S"), ("rev", "S"))
        return cls(
            *origin,
            desk=desk,
            version=Version.parse(version),
            commit=exactly_one(commits, "commit"),
            rev=exactly_one(revs, "rev"),
            content_sha512=required(headers(plex, "Content-SHA512"), "Content-SHA512"),
            message=text_of(plex),
        )

    def _check(self) -> None:
        check_desk(self.desk)
        text = self.content_sha512
        if (
            len(text) != _SUM_CHARACTERS
            or not text.startswith(_SUM_PREFIX)
            or not _HEX.issuperset(text[len(_SUM_PREFIX) :])
        ):
            raise ProfileError("its Content-SHA512 is not sha512: and 128 lower-case hex digits")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution(Sealed):
    """A person's decision of a version conflict. Either `chosen` or, after a merge, `release` is set.

    Args:
        desk: the desk's name.
        version: the version that was released with different contents.
        sides: Seals of the releases in conflict, sorted by hash, 2 to 64.
        chosen: the side that holds from now on.
        release: the new release, which holds instead of all sides.
        result: its signer's merge commit, built on all sides; the store shows no other resolution (LAZ-42).
        reason: what the person wrote.
    """

    APP: ClassVar[str] = RESOLUTION_APP

    desk: str
    version: Version
    sides: tuple[RecordHash, ...]
    chosen: RecordHash | None
    release: RecordHash | None
    result: RecordHash
    reason: str

    @classmethod
    def to_plex(
        cls,
        *,
        group: str,
        desk: str,
        version: Version,
        sides: Sequence[RecordHash],
        result: RecordHash,
        chosen: RecordHash | None = None,
        release: RecordHash | None = None,
        reason: str = "",
        tai: Tai,
    ) -> Plex:
        """Return the Plex to seal; `sides` may come in any order and are sorted here.

        Raises:
            BadName: the desk's name is not allowed.
            ProfileError: the links or the reason break a rule.
        """
        extras = link_pairs("chosen", [chosen]) + link_pairs("release", [release])
        extras += link_pairs("result", [result]) + link_pairs("side", sorted(sides))
        name, data = f"{desk}/{version}", text_bytes(reason)
        return cls._checked(Plex.build(group=group, app=cls.APP, name=name, tai=tai, extras=extras, data=data))

    @classmethod
    def _of(cls, origin: Origin, plex: Plex) -> Self:
        desk, version = two_part_name(plex.name)
        chosen, releases, results, sides = links(
            plex, ("chosen", "S"), ("release", "S"), ("result", "S"), ("side", "S")
        )
        return cls(
            *origin,
            desk=desk,
            version=Version.parse(version),
            sides=tuple(sides),
            chosen=at_most_one(chosen, "chosen"),
            release=at_most_one(releases, "release"),
            result=exactly_one(results, "result"),
            reason=text_of(plex),
        )

    def _check(self) -> None:
        check_desk(self.desk)
        if not 2 <= len(self.sides) <= MAX_SIDES:
            raise ProfileError(f"it has {len(self.sides)} sides, and 2 to {MAX_SIDES} are allowed")
        ascending(self.sides, "side")
        if (self.chosen is None) == (self.release is None):
            raise ProfileError("it needs either a link chosen or a link release")
        if self.chosen is not None and self.chosen not in self.sides:
            raise ProfileError("its chosen release is not one of its sides")
        if self.release in self.sides:
            raise ProfileError("its new release is one of its sides")
