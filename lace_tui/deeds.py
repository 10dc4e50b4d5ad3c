"""What Home does to a vault: the floors below under one roof, loaded behind the first frame and not before it."""

from __future__ import annotations

from lazy.circle import invite
from lazy.places import add_place
from lazy.sync import sync
from lazy.update import Updated, update
from vault.history import Relation
from vault.names import Version, check_name
from vault.work import next_version, release

__all__ = ["Relation", "Updated", "Version"]
__all__ += ["add_place", "check_name", "invite", "next_version", "release", "sync", "update"]
