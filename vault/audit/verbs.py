"""The words that audit entries have for what was done; an entry is written without the table of them."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Verb"]


class Verb(StrEnum):
    """Every verb that lace writes, and the standard ones it has no act for (CYB-12); the `lace-` ones are our own."""

    SEAL_COMMIT = "seal-commit"
    SEAL_RELEASE = "seal-release"
    SEAL_PUBLISH = "seal-publish"  # no act of lace; a release is published by a push
    SEAL_SUBSCRIBE = "seal-subscribe"  # likewise
    SEAL_SYNCHRONIZE = "seal-synchronize"  # likewise
    LAZY_JOIN = "lazy-join"
    LAZY_LEAVE = "lazy-leave"
    LAZY_PUSH = "lazy-push"
    LAZY_PULL = "lazy-pull"
    LAZY_SYNC = "lazy-sync"
    LAZY_RESOLVE = "lazy-resolve"
    LAZY_ENCRYPT = "lazy-encrypt"
    LAZY_INVITE = "lazy-invite"
    LAZY_SERVE = "lazy-serve"
    LACE_ACCEPT = "lace-accept"
    LACE_ADMIT = "lace-admit"
    LACE_ADOPT = "lace-adopt"
    LACE_BEACON = "lace-beacon"
    LACE_CHECKOUT = "lace-checkout"
    LACE_CONFLICT = "lace-conflict"
    LACE_DESK = "lace-desk"
    LACE_EVIDENCE = "lace-evidence"
    LACE_FETCH = "lace-fetch"
    LACE_FORK = "lace-fork"
    LACE_INIT = "lace-init"
    LACE_INTRODUCE = "lace-introduce"
    LACE_KEEP = "lace-keep"
    LACE_LABEL = "lace-label"
    LACE_MERGE = "lace-merge"
    LACE_PERMIT = "lace-permit"
    LACE_PRUNE = "lace-prune"
    LACE_QUARANTINE = "lace-quarantine"
    LACE_REFUSE = "lace-refuse"
    LACE_REPAIR = "lace-repair"
    LACE_REVOKE = "lace-revoke"
    LACE_UNDO = "lace-undo"
    LACE_UPDATE = "lace-update"
