"""How long a planned visit would take on a link: bytes over its rate, and its latency for each trip (LAZ-13).

It is said of a plan alone, before anything moves, and promises nothing: a medium's own speed, other traffic and the
work at both ends come on top, and a medium at hand is read more than once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from lazy.results import PlaceResult, Planned
from transports.address import AddressKind
from vault.errors import CallerError

__all__ = ["LINKS", "BadLink", "Estimate", "Link", "estimate", "parse_link"]

_FORM = re.compile(
    r"(\d{1,9}(?:\.\d{1,3})?) ?([kK]|M|G|)(bit|b|B)(?:/s)?(?:@|, ?)(\d{1,6}(?:\.\d{1,3})?) ?(ms|s)", re.ASCII
)
_GIT_TRIPS = 2  # a fetch, and a push: what refs there are, then the objects
_SCALE = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}


class BadLink(CallerError):
    """A link that is neither named here nor written as a rate and a latency."""

    code = "bad-link"
    exit_code = 2


class Link(NamedTuple):
    """A road's speed.

    Args:
        name: as a person names it.
        rate: bytes a second, above 0.
        latency: seconds that a question takes there and back.
    """

    name: str
    rate: float
    latency: float


LINKS = {
    link.name: link
    for link in (
        Link("stick", 20e6, 0.001),
        Link("lan", 100e6, 0.001),
        Link("fibre", 25e6, 0.01),
        Link("dsl", 2e6, 0.03),
        Link("mobile", 1e6, 0.08),
        Link("satellite", 12.5e6, 0.04),
        Link("t1", 125e3, 0.05),
        Link("isdn", 16e3, 0.05),
    )
}
"""Links by name; `satellite`, `t1` and `isdn` are those of RFC-016."""


class Estimate(NamedTuple):
    """What planned visits cost on a link.

    Args:
        link: the link.
        sent: bytes to send.
        received: bytes to receive, of places that say how much it is.
        trips: questions asked and answered, one after the other.
        seconds: how long that takes at least.
        is_whole: whether every place said how many bytes would come.
    """

    link: Link
    sent: int
    received: int
    trips: int
    seconds: float
    is_whole: bool


def parse_link(text: str) -> Link:
    """Return the link that a name, or a rate and a latency such as `10Mbit@40ms`, stands for.

    Raises:
        BadLink: it is neither, or a rate of nothing.
    """
    if text in LINKS:
        return LINKS[text]
    match = _FORM.fullmatch(text)
    if match is None or not float(match[1]):
        raise BadLink(
            f"{text[:40]!r} is no link.",
            hint=f"Name one of {', '.join(sorted(LINKS))}, or a rate and a latency, such as 10Mbit@40ms or 2MB/s@80ms",
        )
    rate = float(match[1]) * _SCALE[match[2]] / (1 if match[3] == "B" else 8)
    return Link(text, rate, float(match[4]) / (1000 if match[5] == "ms" else 1))


def estimate(results: Iterable[PlaceResult], link: Link) -> Estimate:
    """Return what planned visits would cost: what was read to plan them is read again, then what is new moves."""
    sent = received = trips = 0
    is_whole = True
    for result in results:
        planned = result.planned or Planned()
        sent += planned.bytes_to_send
        received += result.traffic.bytes_read + (planned.bytes_to_receive or 0)
        is_whole = is_whole and (planned.bytes_to_receive is not None or not planned.records_to_receive)
        if result.kind == AddressKind.GIT:
            trips += _GIT_TRIPS * (1 + bool(result.sent))
        elif result.traffic.round_trips:  # a directory is no question to anybody
            trips += result.traffic.round_trips + bool(result.sent) + bool(planned.records_to_receive)
    return Estimate(link, sent, received, trips, (sent + received) / link.rate + trips * link.latency, is_whole)
