"""A live server of a vault while the app is open, in threads of its own (APP-1, APP-3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Lock

from lace_tui.cli.errors import BadArguments
from lace_tui.verbs.serving import host_and_port, is_due, is_last_call, opened_as, reachable
from lazy.live.serving import Served, Service
from transports.address import LiveAddress
from transports.http.hello import Session
from transports.http.identity import ServerIdentity, make_identity
from transports.http.pace import Pace
from transports.http.server import LiveServer
from vault.vault import Vault

__all__ = ["Server"]


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
        folder, key, group = vault.folder, vault.key(), vault.group
        self._is_adopted = is_adopted = Event()

        def identify() -> ServerIdentity:
            return make_identity(key, group, around.tai(), around.entropy)

        def make(at: int, identity: ServerIdentity) -> LiveServer:
            return LiveServer(
                Service(opened_as(key.verifier, lambda: Vault(folder, around), is_adopted), tell),
                identity,
                Session(group, key.verifier, identity.public),
                host=host,
                port=at,
                now=around.tai,
                pace=lambda: Pace(None, monotonic, time.sleep),
                entropy=around.entropy,
            )

        self._identify, self._make, self._now = identify, make, around.tai
        self._server, self._began = make(port, identify()), around.tai().seconds
        address = LiveAddress(reachable(host), self._server.port, vault.node)
        self.where = address.shown.removeprefix("https://")
        """How friends reach it."""
        self.uri = address.uri
        """The address that friends add as a place; it names the key that answers."""
        self._stopping, self._is_stopped, self._is_cut = Lock(), False, False
        self._server.start()

    @property
    def is_over(self) -> bool:
        """Whether it answers nobody any more, or not as the node that this vault was when it began."""
        return self._is_adopted.is_set() or not self._server.is_running()

    @property
    def is_adopted(self) -> bool:
        """Whether the vault has another key since, and so another address."""
        return self._is_adopted.is_set()

    @property
    def is_due(self) -> bool:
        """Whether its certificate is to be made anew now: it ends soon, and nobody is being answered, or very soon.

        So it is, too, as long as nobody can listen where it listened before.
        """
        age = self._now().seconds - self._began
        is_near = self._is_cut or is_last_call(age) or (is_due(age) and not self.is_busy)
        return is_near and not self._is_stopped and not self._is_adopted.is_set()

    @property
    def is_busy(self) -> bool:
        """Whether it is answering somebody now."""
        return self._server.is_busy()

    def renew(self) -> None:
        """Begin anew at the same port with a new certificate; what is under way may end first, for some seconds.

        Raises:
            AddressInUse: nobody can listen there now; it is over until this is done again.
            KeyLocked, ...: there is no new certificate; the old one goes on.
        """
        with self._stopping:
            if self._is_stopped:
                return
            identity = self._identify()
            self._stop()
            self._server, self._began = self._make(self._server.port, identity), self._now().seconds
            self._server.start()
            self._is_cut = False

    def stop(self) -> None:
        """Let what is under way end, for some seconds, and answer nobody any more; said twice, it does nothing."""
        with self._stopping:
            if not self._is_stopped:
                self._stop()
            self._is_stopped = True

    def _stop(self) -> None:
        if not self._is_cut:
            self._is_cut = True
            self._server.stop()
