"""What Home does to a vault: the floors below under one roof, loaded behind the first frame and not before it."""

from __future__ import annotations

from lazy.circle import invite
from lazy.places import add_place
from lazy.sync import sync
from lazy.update import Updated, update
from vault.history import Relation
from vault.names import Version
from vault.work import next_version, release

__all__ = ["Relation", "Updated", "Version", "add_place", "invite", "next_version", "release", "sync", "update"]
