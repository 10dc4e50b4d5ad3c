"""The Apps of the profile by name, for whoever tells records apart without reading them.

A kind of record takes as long to load as a small query, and most commands meet few of them.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "AUDIT_APP",
    "CARD_APP",
    "COMMIT_APP",
    "CONTENT_APPS",
    "DATA_APP",
    "FOUNDING_APP",
    "LABEL_APP",
    "LOG_APP",
    "MEMBER_APP",
    "RELEASE_APP",
    "REQUEST_APP",
    "RESOLUTION_APP",
    "REVISION_APP",
    "REVOCATION_APP",
    "TREE_APP",
]

DATA_APP: Final = "lace/data"
TREE_APP: Final = "lace/tree"
CONTENT_APPS = frozenset({DATA_APP, TREE_APP})  # unsigned, and asked for by digest only

FOUNDING_APP: Final = "lace/founding"
CARD_APP: Final = "lace/node"
MEMBER_APP: Final = "lace/member"
REQUEST_APP: Final = "lace/request"
REVOCATION_APP: Final = "lace/revocation"
COMMIT_APP: Final = "lace/commit"
REVISION_APP: Final = "lace/rev"
LABEL_APP: Final = "lace/label"
RELEASE_APP: Final = "lace/release"
RESOLUTION_APP: Final = "lace/resolution"
LOG_APP: Final = "lace/log"
AUDIT_APP: Final = "lace/audit"
