"""`serve`: friends sync with this vault over the network, for as long as it runs."""

from __future__ import annotations

import argparse
import queue
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from lace_tui.cli.context import Context
from lace_tui.cli.errors import BadArguments
from lace_tui.cli.inert import inert
from lazy.live.serving import Served, Service
from transports.address import LiveAddress, is_host
from transports.errors import AddressInUse
from transports.http.hello import Session
from transports.http.identity import LIFETIME, make_identity
from transports.http.pace import Pace
from transports.http.server import LiveServer
from vault.errors import Cancelled
from vault.plural import plural
from vault.typed import shown
from vault.vault import Vault

if TYPE_CHECKING:
    from lace_tui.cli.progress import CancelToken
    from vault.records import Verifier
    from vault.records.tai import Tai

__all__ = ["configure", "host_and_port", "is_due", "is_last_call", "opened_as", "reachable", "run"]

_PORT = 7433
_LAST_PORT = 65535
_ANYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - names what a person asked for
_STEP = 0.2  # seconds between two looks at whether to stop
_LAST = 3600  # seconds before that end in which a server waits for no exchange
_RENEWED = LIFETIME - 86_400  # seconds after which a server gets a new certificate, a day before the old one ends
_SET_BACK = 60  # seconds; a friend's clock may differ by some more
_AGAIN = 1.0  # seconds until a server whose address is gone tries to listen again
_Made = TypeVar("_Made")


class _Begun(NamedTuple):
    """A server of one key of this vault: what makes it anew, and whether the vault was adopted since."""

    server: LiveServer
    make: Callable[[int], LiveServer]
    now: Callable[[], Tai]
    is_adopted: Event


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add where to listen."""
    del verb
    parser.add_argument(
        "--listen", metavar="HOST:PORT", default=f":{_PORT}", help="where to listen; port 0 for any free one"
    )
    parser.add_argument("--address", metavar="HOST:PORT", default="", help="where friends reach you, if elsewhere")
    parser.add_argument("--rate", metavar="KB", type=int, help="send each friend at most this many kB a second")


def run(context: Context, args: argparse.Namespace) -> int:
    """Serve until the person stops it; one line for every friend who came.

    Raises:
        BadArguments: an address is none.
        AddressInUse: nobody can listen there.
        VaultBehindMark, KeyLocked, ...: this vault may not speak for its node.
    """
    host, port = host_and_port(args.listen)
    if args.address and not host_and_port(args.address)[0]:
        raise BadArguments("lace serve: --address names no host.", hint="For example: --address home.example.org:7433")
    if args.rate is not None and args.rate < 1:
        raise BadArguments("lace serve: --rate is a number of kB a second, at least 1.")
    told: queue.Queue[Served] = queue.Queue()  # a SimpleQueue that a signal interrupts at its end waits for ever
    begun = _begin(context, args, told, host, port)
    with suppress(Cancelled), context.cancellable() as token:
        while _attend(context, begun.server, told, token, begun.now, begun.is_adopted.is_set):
            if begun.is_adopted.is_set():
                _tell(context, Served("lace serve", problem="this vault has another key now, and so another address"))
                begun = _again(context, partial(_begin, context, args, told, host), begun.server.port, token)
            else:
                begun = begun._replace(server=_again(context, begun.make, begun.server.port, token))
    return 0


def _begin(context: Context, args: argparse.Namespace, told: queue.Queue[Served], host: str, port: int) -> _Begun:
    """Make a server of the node that this vault is now, and say where friends find it: the address names its key.

    Raises:
        AddressInUse, VaultBehindMark, KeyLocked, ...: as of `run`.
    """
    with context.open_vault() as vault:
        if vault.founding is None:
            raise BadArguments("This vault knows nothing of its group yet.", hint="Sync once with whoever invited you.")
        vault.check_mark()
        is_adopted = Event()
        make, now = _maker(context, vault, told, host, args.rate, is_adopted), vault.around.tai
        server = make(port)
        shown = host_and_port(args.address) if args.address else (reachable(host), server.port)
        address = LiveAddress(shown[0], shown[1] or server.port, vault.node)
    context.emit(
        {"listening": address.uri, "host": host, "port": server.port},
        f"Serving. Friends add this place once: lace place add NAME '{address.uri}'\nStop with Ctrl-C.",
    )
    return _Begun(server, make, now, is_adopted)


def _attend(
    context: Context,
    server: LiveServer,
    told: queue.Queue[Served],
    token: CancelToken,
    now: Callable[[], Tai],
    is_adopted: Callable[[], bool] = lambda: False,
) -> bool:
    """Run a server and tell what it says, until its certificate nears its end; return whether there is to be another.

    So it is where the clock went back to before it began, and where the vault has another key. What is under way then
    may end, as long as there is time.

    Raises:
        Cancelled: the person stopped it.
    """
    server.start()
    try:
        began = now().seconds
        while server.is_running():
            token.check()
            with suppress(queue.Empty):
                _tell(context, told.get(timeout=_STEP))
            age = now().seconds - began
            if is_last_call(age) or is_adopted() or (is_due(age) and not server.is_busy()):
                return True
        return False
    finally:
        server.stop()


def is_due(age: int) -> bool:
    """Tell whether a server of that many seconds is to get a new certificate once nobody is being answered."""
    return age >= _RENEWED or age < -_SET_BACK  # friends would take what begins later for no certificate


def is_last_call(age: int) -> bool:
    """Tell whether its certificate ends so soon that no answer is waited for."""
    return age >= LIFETIME - _LAST


def _again(context: Context, make: Callable[[int], _Made], port: int, token: CancelToken) -> _Made:
    """Make a server where one was, as soon as somebody can listen there again: a network may be gone for a while.

    Raises:
        Cancelled: the person stopped it.
    """
    is_told = False
    while True:
        try:
            return make(port)
        except AddressInUse as error:
            if not is_told:
                _tell(context, Served("lace serve", problem=f"{error.message} It tries again until it can"))
            is_told = True
        time.sleep(_AGAIN)
        token.check()


def _maker(
    context: Context, vault: Vault, told: queue.Queue[Served], host: str, rate: int | None, is_adopted: Event
) -> Callable[[int], LiveServer]:
    """Return what makes a server at a port, each with a certificate of its own."""
    around, folder, key, group = vault.around, vault.folder, vault.key(), vault.group

    def make(port: int) -> LiveServer:
        identity = make_identity(key, group, around.tai(), around.entropy)
        return LiveServer(
            Service(opened_as(key.verifier, lambda: Vault(folder, around), is_adopted), told.put),
            identity,
            Session(group, key.verifier, identity.public),
            host=host,
            port=port,
            now=around.tai,
            pace=lambda: Pace(rate * 1000 if rate else None, context.world.monotonic, time.sleep),
            entropy=around.entropy,
        )

    return make


def opened_as(node: Verifier, open_vault: Callable[[], Vault], is_adopted: Event) -> Callable[[], Vault]:
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


def _tell(context: Context, served: Served) -> None:
    data = {
        "peer": served.peer,
        "received": served.received,
        "sent": served.sent,
        "refused": served.refused,
        "admitted": served.admitted or None,
        "problem": served.problem or None,
    }
    who = inert(served.peer)
    if served.admitted:
        text = f"{who} is a member now"
    elif served.problem:
        text = f"! {who}: {inert(served.problem)}"
    else:
        moved = bool(served.received or served.sent or served.refused)
        text = f"{who}: received {_records(served.received)}, sent {_records(served.sent)}"
        text += f", refused {served.refused}" if served.refused else ""
        text = text if moved else f"{who}: nothing new on either side"
    context.emit(data, text)


def _records(count: int) -> str:
    return plural(count, "record") if count else "nothing"


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


def reachable(host: str) -> str:
    """Return how this machine is called from outside: the address it would use, or its own loopback."""
    if host not in _ANYWHERE:
        return host
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent: it only asks which way it would go
        return str(probe.getsockname()[0])
    return "127.0.0.1"
