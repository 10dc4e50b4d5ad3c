"""Where a live server listens to what; the number is the version of the live exchange."""

from __future__ import annotations

from typing import Final

__all__ = ["REQUEST_PATH", "SYNC_PATH"]

SYNC_PATH: Final = "/lace/0/sync"
REQUEST_PATH: Final = "/lace/0/request"
