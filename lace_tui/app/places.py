"""Which screen each place is: the one list of them."""

from __future__ import annotations

from lace_tui.keys.actions import Scope
from lace_tui.screens.audit import Audit
from lace_tui.screens.conflicts import Conflicts
from lace_tui.screens.export import Export
from lace_tui.screens.history import History
from lace_tui.screens.home import Home
from lace_tui.screens.peers import Peers
from lace_tui.screens.place import PlaceScreen
from lace_tui.screens.queue import Queue
from lace_tui.screens.settings import Settings

__all__ = ["SCREENS"]

SCREENS: dict[Scope, type[PlaceScreen]] = {
    Scope.HOME: Home,
    Scope.CONFLICTS: Conflicts,
    Scope.QUEUE: Queue,
    Scope.PEERS: Peers,
    Scope.HISTORY: History,
    Scope.AUDIT: Audit,
    Scope.EXPORT: Export,
    Scope.SETTINGS: Settings,
}
