"""A live server of a vault in threads of its own, for the verb and for the app (APP-1, APP-3)."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from threading import Event, Lock

from lace_tui.errors import BadArguments
from lazy.live.answering import Served
from lazy.live.serving import Service
from transports.address import LiveAddress, is_host
from transports.http.hello import Session
from transports.http.identity import LIFETIME, ServerIdentity, make_identity
from transports.http.pace import Pace
from transports.http.server import LiveServer
from vault.errors import Cancelled
from vault.records import Verifier
from vault.typed import shown
from vault.vault import Vault

__all__ = ["Server", "host_and_port"]

_LAST_PORT = 65535
_ANYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - names what a person asked for
_WAYS_OUT = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))  # addresses that nobody has
_LAST = 3600  # seconds before that end in which a server waits for no exchange
_RENEWED = LIFETIME - 86_400  # seconds after which a server gets a new certificate, a day before the old one ends
_SET_BACK = 60  # seconds; a friend's clock may differ by some more


class Server:
    """A server of a vault, which answers until it is ended.

    Args:
        vault: whose; opened anew for each request.
        listen: HOST:PORT; port 0 is any free one.
        tell: called with every request that was answered, from any thread.
        monotonic: seconds of a clock that never goes back.
        rate: bytes a second that each friend is sent at most; None for as many as go.

    Raises:
        BadArguments: the address is none.
        GroupUnknown: the vault knows nothing of its group yet, so there is nothing to serve.
        AddressInUse: nobody can listen there.
        MayNotSign, KeyLocked, ...: this vault may not speak for its node.
    """

    def __init__(
        self,
        vault: Vault,
        listen: str,
        tell: Callable[[Served], None],
        monotonic: Callable[[], float],
        rate: int | None = None,
    ) -> None:
        host, port = host_and_port(listen)
        vault.require_group()
        vault.check_mark()
        self._stopping, self._stopped, self._is_cut = Lock(), Event(), False
        # The work that begins it waits only until it is stopped; what is served afterwards is not that work's.
        around = replace(vault.around, sleep=self._pause, waits=lambda _who, _doing: None)
        folder, key, group = vault.folder, vault.key(), vault.group
        self._is_adopted = is_adopted = Event()

        def identify() -> ServerIdentity:
            return make_identity(key, group, around.tai(), around.entropy)

        def make(at: int, identity: ServerIdentity) -> LiveServer:
            return LiveServer(
                Service(_opened_as(key.verifier, lambda: Vault(folder, around), is_adopted), tell),
                identity,
                Session(group, key.verifier, identity.public),
                host=host,
                port=at,
                now=around.tai,
                pace=lambda: Pace(rate, monotonic, time.sleep),
                entropy=around.entropy,
            )

        self._identify, self._make, self._now = identify, make, around.tai
        self._server, self._began = make(port, identify()), around.tai().seconds
        self.host = host
        """Where it listens, as it was asked for; empty for everywhere."""
        self.address = LiveAddress(_reachable(host), self._server.port, vault.node)
        """The address that friends add as a place; it names the key that answers."""
        self._server.start()

    @property
    def port(self) -> int:
        """The TCP port at which it listens."""
        return self._server.port

    @property
    def where(self) -> str:
        """How friends reach it: HOST:PORT."""
        return self.address.shown.removeprefix("https://")

    @property
    def uri(self) -> str:
        """Its address in the form that friends type."""
        return self.address.uri

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

        So it is where the clock went back to before it began, as friends would take what begins later for no
        certificate; and as long as nobody can listen where it listened before.
        """
        age = self._now().seconds - self._began
        is_near = age >= _RENEWED or age < -_SET_BACK
        is_time = self._is_cut or age >= LIFETIME - _LAST or (is_near and not self.is_busy)
        return is_time and not self._stopped.is_set() and not self._is_adopted.is_set()

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
            if self._stopped.is_set():
                return
            identity = self._identify()
            self._stop()
            self._server, self._began = self._make(self._server.port, identity), self._now().seconds
            self._server.start()
            self._is_cut = False

    def stop(self) -> None:
        """Let what is under way end, for some seconds, and answer nobody any more; said twice, it does nothing."""
        with self._stopping:
            try:
                if not self._stopped.is_set():
                    self._stop()
            finally:
                self._stopped.set()

    def _stop(self) -> None:
        if not self._is_cut:
            self._is_cut = True
            self._server.stop()

    def _pause(self, seconds: float) -> None:
        """Wait for another process; an answer that waits still once this is stopped would keep the program from ending.

        Raises:
            Cancelled: it is stopped.
        """
        if self._stopped.wait(seconds):
            raise Cancelled("The server was stopped.")


def _opened_as(node: Verifier, open_vault: Callable[[], Vault], is_adopted: Event) -> Callable[[], Vault]:
    """Return what opens a vault for a server, and sets an event where it is no longer this node's.

    Friends know the server by its key, so who adopted the vault meanwhile is another place to them.
    """

    def opened() -> Vault:
        vault = open_vault()
        try:
            if vault.node != node:
                is_adopted.set()
        except BaseException:  # a store that is damaged, or a stop
            vault.close()
            raise
        return vault

    return opened


def host_and_port(text: str) -> tuple[str, int]:
    """Return where to listen, as it was typed.

    Raises:
        BadArguments: it is no HOST:PORT.
    """
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    is_number = port.isascii() and port.isdecimal() and int(port) <= _LAST_PORT
    if not is_number or not (is_host(host) or not host):
        way = "For example: --listen 127.0.0.1:7433, or --listen :7433 for every address of this machine"
        raise BadArguments(f"lace serve: {shown(text)} is not HOST:PORT.", hint=way)
    return host, int(port)


def _reachable(host: str) -> str:
    """Return how this machine is called from outside: the address it would use, or its own loopback."""
    if host not in _ANYWHERE:
        return host
    for family, outside in _WAYS_OUT:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((outside, 9))  # nothing is sent: it only asks which way it would go
            return str(probe.getsockname()[0])
    return "127.0.0.1"
