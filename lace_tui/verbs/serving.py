"""`serve`: friends sync with this vault over the network, for as long as it runs."""

from __future__ import annotations

import argparse
import queue
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from lace_tui.acts.server import Server, host_and_port
from lace_tui.cli.context import Context
from lace_tui.errors import BadArguments
from lace_tui.words.inert import inert
from lazy.live.answering import Served
from transports.errors import AddressInUse
from vault.errors import Cancelled, LaceError
from vault.plural import plural

if TYPE_CHECKING:
    from lace_tui.acts.stopping import CancelToken

__all__ = ["configure", "run"]

_PORT = 7433
_STEP = 0.2  # seconds between two looks at whether to stop
_AGAIN = 1.0  # seconds until a server whose address is gone tries to listen again
_Made = TypeVar("_Made")


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add where to listen."""
    del verb
    where = f"where to listen, without a host on every address; port 0 for any free one (:{_PORT})"
    parser.add_argument("--listen", metavar="HOST:PORT", default=f":{_PORT}", help=where)
    parser.add_argument("--address", metavar="HOST:PORT", default="", help="where friends reach you, if elsewhere")
    rate = "send each friend at most this many kB a second (no limit)"
    parser.add_argument("--rate", metavar="KB", type=int, help=rate)


def run(context: Context, args: argparse.Namespace) -> int:
    """Serve until the person stops it; one line for every friend who came.

    Raises:
        BadArguments: an address is none.
        AddressInUse: nobody can listen there.
        MayNotSign, KeyLocked, ...: this vault may not speak for its node.
    """
    host_and_port(args.listen)
    if args.address and not host_and_port(args.address)[0]:
        raise BadArguments("lace serve: --address names no host.", hint="For example: --address home.example.org:7433")
    if args.rate is not None and args.rate < 1:
        raise BadArguments("lace serve: --rate is a number of kB a second, at least 1.")
    told: queue.Queue[Served] = queue.Queue()  # a SimpleQueue that a signal interrupts at its end waits for ever
    server = _begin(context, args, told, args.listen)
    with suppress(Cancelled), context.cancellable() as token:
        try:
            _say_where(context, args, server)
            while _attend(context, server, told, token):
                if not server.is_adopted:
                    _again(context, server.renew, token)
                    continue
                _tell(context, Served("lace serve", problem="this vault has another key now, and so another address"))
                server.stop()
                anew = partial(_begin, context, args, told, f"{server.host}:{server.port}")
                server = _again(context, anew, token)
                _say_where(context, args, server)
        finally:
            server.stop()
    return 0


def _begin(context: Context, args: argparse.Namespace, told: queue.Queue[Served], listen: str) -> Server:
    """Make a server of the node that this vault is now.

    Raises:
        AddressInUse, MayNotSign, KeyLocked, ...: as of `run`.
    """
    rate = args.rate * 1000 if args.rate else None
    with context.open_vault() as vault:
        return Server(vault, listen, told.put, context.world.monotonic, rate)


def _say_where(context: Context, args: argparse.Namespace, server: Server) -> None:
    """Say where friends find it: the address names its key."""
    address = server.address
    if args.address:
        host, port = host_and_port(args.address)
        address = address._replace(host=host, port=port or server.port)
    context.emit(
        {"listening": address.uri, "host": server.host, "port": server.port},
        f"Serving. Friends add this place once: lace place add NAME '{address.uri}'\nStop with Ctrl-C.",
    )


def _attend(context: Context, server: Server, told: queue.Queue[Served], token: CancelToken) -> bool:
    """Tell what a server says until it is to be begun anew, which is what is returned; False where it ended by itself.

    Raises:
        Cancelled: the person stopped it.
    """
    while not server.is_over:
        token.check()
        with suppress(queue.Empty):
            _tell(context, told.get(timeout=_STEP))
        if server.is_due:
            return True
    return server.is_adopted


def _again(context: Context, make: Callable[[], _Made], token: CancelToken) -> _Made:
    """Serve where it was done before, as soon as somebody can listen there again: a network may be gone for a while.

    Raises:
        Cancelled: the person stopped it.
    """
    is_told = False
    while True:
        try:
            return make()
        except AddressInUse as error:
            if not is_told:
                _tell(context, Served("lace serve", problem=f"{error.message} It tries again until it can"))
            is_told = True
        time.sleep(_AGAIN)
        token.check()


def _tell(context: Context, served: Served) -> None:
    from lace_tui.verbs.sync_report import membership_data, release_data  # only once somebody came

    data = {
        "peer": served.peer,
        "received": served.received,
        "sent": served.sent,
        "refused": served.refused,
        "admitted": served.admitted or None,
        "problem": served.problem or None,
        **membership_data(served.membership),
        "releases": [release_data(one) for one in served.releases],
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
    came = [*(one.sentence for one in served.membership), *(one.sentence for one in served.releases)]
    text = "\n".join([text, *(f"  {inert(sentence)}" for sentence in came)])
    context.emit(data, text)
    if served.membership:
        from lazy.receiving.membership_news import forget_told  # hardly anybody comes or goes

        with suppress(LaceError), context.open_vault() as vault:  # what cannot be noted now is told twice
            forget_told(vault, served.membership)


def _records(count: int) -> str:
    return plural(count, "record") if count else "nothing"
