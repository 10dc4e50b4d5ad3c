"""What a visit is for: whether it sends, whether it reads, and of what (LAZ-23 to LAZ-26; decision 20)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault.watch import Watch

if TYPE_CHECKING:
    from lazy.visits.scoping import ScopedSync

__all__ = ["Errand"]


@dataclass(frozen=True, slots=True)
class Errand:
    """What a visit is for.

    Args:
        push: send what is mine to share.
        pull: read the others.
        dry_run: say what would move, and change nothing here or there.
        watch: progress and cancel.
        scope: what is fetched of content; everything when there is none.
        is_again: one of the many visits of somebody who follows.
    """

    push: bool = True
    pull: bool = True
    dry_run: bool = False
    watch: Watch = field(default_factory=Watch)
    scope: ScopedSync | None = None
    is_again: bool = False
