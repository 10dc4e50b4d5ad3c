"""Where a live server listens to what; the number is the version of the live exchange."""

from __future__ import annotations

from typing import Final

__all__ = ["NEWS_PATH", "REQUEST_PATH", "REVOKED", "STATE_BYTES", "SYNC_PATH", "TAKEN", "WAITS"]

SYNC_PATH: Final = "/lace/0/sync"
REQUEST_PATH: Final = "/lace/0/request"
NEWS_PATH: Final = "/lace/0/news"
STATE_BYTES: Final = 32  # of what a server says of where it stands there, at most
TAKEN: Final = b"taken\n"  # who asked is a member now
WAITS: Final = b"waits\n"  # the request is passed on to members, and somebody may admit
REVOKED: Final = b"revoked\n"  # in a refusal, to a node that proved its key: it was a member once
