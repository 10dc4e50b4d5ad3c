"""When lace syncs by itself: never, after a release, after a commit, or when an interval has passed (LAZ-58 to LAZ-61).

A strategy acts inside a command that a person gave; there is no process in the background. It is best effort: what it
cannot do stays queued, and it never fails the commit or release that it follows.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from vault.errors import Cancelled, LaceError
from vault.vault import Vault
from vault.watch import Watch

if TYPE_CHECKING:
    from lazy.places.registry import Place
    from lazy.results import PlaceResult

__all__ = ["Occasion", "due", "follow"]


class Occasion(StrEnum):
    """What a strategy may follow."""

    COMMIT = "on-commit"
    RELEASE = "on-release"


def follow(vault: Vault, occasion: Occasion, watch: Watch = Watch()) -> list[PlaceResult]:
    """Push to every place if the strategy says so on this occasion; a release is a commit too.

    Returns:
        One result a place; what failed is a problem in it, and its records stay queued.
    """
    strategy = str(vault.settings.get("sync-strategy"))
    if strategy not in {Occasion.COMMIT, Occasion.RELEASE} or (
        strategy == Occasion.RELEASE and occasion is Occasion.COMMIT
    ):
        return []
    from lazy.places.registry import places  # most commits push nothing
    from lazy.results import PlaceResult
    from lazy.sync import sync

    results: list[PlaceResult] = []
    for place in places(vault):
        try:
            results += sync(vault, [place.name], pull=False, watch=watch)
        except Cancelled:
            break
        except LaceError as error:
            results.append(PlaceResult.undone(place.name, place.kind, error))
    return results


def due(vault: Vault) -> list[Place]:
    """Return the places whose last visit is longer ago than `sync-interval`, under the strategy `periodic`.

    A clock that went back makes a place due: a sync too many costs one small read.
    """
    if vault.settings.get("sync-strategy") != "periodic":
        return []
    from lazy.noted_times import noted_time  # asked by cron every few minutes, mostly for nothing
    from lazy.places.registry import places

    interval = int(vault.settings.get("sync-interval"))
    now = vault.around.tai().seconds
    noted = {str(name): noted_time(tai) for name, tai in vault.store.rows("SELECT place, tai FROM last_sync")}
    last = {name: time.seconds for name, time in noted.items() if time is not None}
    return [p for p in places(vault) if p.name not in last or not 0 <= now - last[p.name] < interval]
