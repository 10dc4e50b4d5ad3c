"""The requests that wait: who asked to belong and is not admitted, within bounds, and who was taken off the list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from lazy.people import NoSuchPeer, is_member
from vault.notes.people import DROPPED_REQUESTS, MOST_DROPPED_REQUESTS
from vault.plural import few
from vault.records import Seal, Verifier
from vault.vault import Vault
from vault.writer import Writer

__all__ = [
    "NO_MEMBER",
    "REQUESTS_KEPT",
    "UNKNOWN",
    "UNPROVEN",
    "RequestInfo",
    "drop_requests",
    "forget_granted",
    "forget_request",
    "has_room",
    "is_news",
    "keep_request",
    "requests",
]

REQUESTS_KEPT: Final = 100
"""Requests that wait here at most, by whatever road they came: keys cost nothing to make."""
NO_MEMBER: Final = "I am no member myself yet"
UNKNOWN: Final = "it proves no invitation of mine"
UNPROVEN: Final = "its proof of the invitation is wrong"
_STRANGE = frozenset({NO_MEMBER, UNKNOWN, UNPROVEN})  # reasons that any key somebody just made can run into
_LEAST_KEY = 5  # characters of a key that may stand for it, its V among them
_KEYS_TOLD = 5  # of those whom one name fits


class RequestInfo(NamedTuple):
    """Somebody who asked to belong and is not admitted.

    Args:
        node: verifier text.
        name: the label they gave themselves.
        place: where the request lies.
        tai: when they say they asked; display only.
        problem: why it was not admitted by itself.
    """

    node: str
    name: str
    place: str
    tai: str
    problem: str


def has_room(vault: Vault) -> bool:
    """Tell whether a request can wait here without another going for it.

    Else visits would write for ever where more lie than are kept: each that goes is found again, and friends are told.
    """
    return int(vault.store.rows("SELECT count(*) FROM request")[0][0]) < REQUESTS_KEPT


def is_news(vault: Vault, node: Verifier, problem: str, *, keeps: bool) -> bool:
    """Tell whether a request is to be listed: not where it is already, nor where a person took it off."""
    if (not keeps and problem in _STRANGE) or node.text in vault.store.note(DROPPED_REQUESTS):
        return False
    known = vault.store.rows("SELECT problem FROM request WHERE node = ?", node.text)
    return not known or str(known[0][0]) != problem


def keep_request(w: Writer, vault: Vault, request: RequestInfo, sealed: Seal) -> None:
    """Keep a request for somebody to grant; where too many wait one of them goes, and first one that anybody can make.

    Which one falls by lot: how long each waits only itself says, and whoever asks again is listed again.
    """
    rows = w.store.rows("SELECT node, problem FROM request WHERE node <> ? ORDER BY node", request.node)
    strange = [str(each) for each, why in rows if str(why) in _STRANGE]
    proven = [str(each) for each, why in rows if str(why) not in _STRANGE]
    while len(strange) + len(proven) >= REQUESTS_KEPT:
        waiting = strange or proven
        lot = int.from_bytes(vault.around.entropy(8), "big") % len(waiting)
        forget_request(w, waiting.pop(lot))
    values = (request.node, request.name, request.place, request.tai, request.problem, sealed.encode())
    w.store.run("INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?, ?)", *values)


def forget_request(w: Writer, node: str) -> None:
    """Take the request of a node off the list, if there is one; it may ask again."""
    w.store.run("DELETE FROM request WHERE node = ?", node)


def forget_granted(w: Writer) -> None:
    """Take the requests of all who are members now off the list."""
    w.store.run("DELETE FROM request WHERE node IN (SELECT node FROM member)")


def requests(vault: Vault) -> list[RequestInfo]:
    """Return who asked to belong and is not admitted, sorted by name."""
    rows = vault.store.rows("SELECT node, label, place, tai, problem FROM request ORDER BY label, node")
    return [RequestInfo(*(str(value) for value in row)) for row in rows if not is_member(vault, str(row[0]))]


def drop_requests(
    vault: Vault,
    name: str | None = None,
    *,
    noted: Callable[[Writer, list[RequestInfo]], None] = lambda _w, _found: None,
) -> list[RequestInfo]:
    """Take requests off the list, and list none of these nodes again; return what went.

    An invitation of mine lets them in all the same, and so does `admit` by their key.

    Args:
        vault: whose list it is.
        name: of whom, or their key or its beginning; None for everybody who waits now.
        noted: called at the end of a write that took any off.

    Raises:
        NoSuchPeer: nobody of that name waits, or several do.
    """
    with vault.writing() as w:
        found = requests(vault) if name is None else [_request_of(vault, name)]
        for request in found:
            forget_request(w, request.node)
        if found:
            dropped = *w.store.note(DROPPED_REQUESTS), *(request.node for request in found)
            w.store.set_note(DROPPED_REQUESTS, dropped[-MOST_DROPPED_REQUESTS:])
            w.audit("lace-refuse", "requests", {"dropped": str(len(found))})
            noted(w, found)
    return found


def _request_of(vault: Vault, name: str) -> RequestInfo:
    """Return the one request that a name, a key or its beginning fits: anybody may call themselves what they like."""
    waiting = requests(vault)
    found = [request for request in waiting if request.node == name] or [
        request
        for request in waiting
        if request.name == name or (len(name) >= _LEAST_KEY and request.node.startswith(name))
    ]
    if not found:
        raise NoSuchPeer(f"There is no request by {name!r}.", hint="See: lace requests")
    if len(found) > 1:
        keys = few([request.node for request in found], _KEYS_TOLD)
        raise NoSuchPeer(
            f"There are {len(found)} requests by {name!r}, with the keys {keys}.",
            hint="Name one by its key or the beginning of it: lace requests --drop V...",
        )
    return found[0]
