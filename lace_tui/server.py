"""A live server of a vault while the app is open, in threads of its own (APP-1, APP-3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Lock

from lace_tui.cli.errors import BadArguments
from lace_tui.verbs.serving import host_and_port, reachable
from lazy.live.serving import Served, Service
from transports.address import LiveAddress
from transports.http.hello import Session
from transports.http.identity import LIFETIME, make_identity
from transports.http.pace import Pace
from transports.http.server import LiveServer
from vault.vault import Vault

__all__ = ["Server"]

_LAST = 86_400  # seconds before the end of its certificate at which a server is to begin anew


class Server:
    """A server of a vault, which answers until it is ended.

    Args:
        vault: whose; opened anew for each request.
        listen: HOST:PORT; port 0 is any free one.
        tell: called with every request that was answered, from any thread.
        monotonic: seconds of a clock that never goes back.

    Raises:
        BadArguments: the address is none, or the vault knows nothing of its group yet.
        AddressInUse: nobody can listen there.
        VaultBehindMark, KeyLocked, ...: this vault may not speak for its node.
    """

    def __init__(
        self, vault: Vault, listen: str, tell: Callable[[Served], None], monotonic: Callable[[], float]
    ) -> None:
        host, port = host_and_port(listen)
        if vault.founding is None:
            raise BadArguments("This vault knows nothing of its group yet.", hint="Sync once with whoever invited you.")
        vault.check_mark()
        # The work that begins it waits only until it is stopped; what is served afterwards is not that work's.
        around = replace(vault.around, sleep=time.sleep, waits=lambda _who, _doing: None)
        folder, key = vault.folder, vault.key()
        identity = make_identity(key, vault.group, around.tai(), around.entropy)
        self._server = LiveServer(
            Service(lambda: Vault(folder, around), tell),
            identity,
            Session(vault.group, key.verifier, identity.public),
            host=host,
            port=port,
            now=around.tai,
            pace=lambda: Pace(None, monotonic, time.sleep),
            entropy=around.entropy,
        )
        self._monotonic, self._began = monotonic, monotonic()
        self.where = f"{reachable(host)}:{self._server.port}"
        """How friends reach it."""
        self.uri = LiveAddress(reachable(host), self._server.port, vault.node).uri
        """The address that friends add as a place; it names the key that answers."""
        self._stopping, self._is_stopped = Lock(), False
        self._server.start()

    @property
    def is_over(self) -> bool:
        """Whether it answers nobody any more, or has a certificate that is about to end."""
        return not self._server.is_running() or self._monotonic() - self._began > LIFETIME - _LAST

    @property
    def is_busy(self) -> bool:
        """Whether it is answering somebody now."""
        return self._server.is_busy()

    def stop(self) -> None:
        """Let what is under way end, for some seconds, and answer nobody any more; said twice, it does nothing."""
        with self._stopping:
            if not self._is_stopped:
                self._server.stop()
            self._is_stopped = True
