"""A line on which a friend who serves says that there is news, so that nobody looks every other second (INT-127).

A question is held by the server until it stands elsewhere than the client knows, or for some seconds. The answer says
that there is something and not what: a visit as any other brings it. So nothing depends on the line. Where the server
is older, busy or gone, and where somebody lies on it, the friend is visited now and then, as other places are.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from time import monotonic

from lazy.places.registry import Place, places
from lazy.results import PlaceResult
from transports.address import AddressKind, parse_live
from transports.errors import PlaceUnreachable, RefusedThere
from transports.http.client import LiveConnection
from transports.http.paths import NEWS_PATH, STATE_BYTES
from transports.mailbox import ByteCount
from vault.errors import PeerError, PlaceError
from vault.vault import Vault

__all__ = ["NewsLine", "NewsLines"]

_MUTE = 45.0  # seconds after a question: a server holds it for 20, and a line on which nothing comes is dead after 30


class NewsLine:
    """One line; a question is under way on it from `ask` to `take`.

    Args:
        vault: who listens.
        place: a live one.
    """

    def __init__(self, vault: Vault, place: Place) -> None:
        self._vault = vault
        around = vault.around
        self._connection = LiveConnection(
            parse_live(place.uri), vault.group, ByteCount(), monotonic, around.tai, around.entropy, around.sleep
        )
        self._state = b""
        self._asked = monotonic()

    def open(self) -> None:
        """Connect, and learn where the server stands.

        Raises:
            RefusedThere: it does not answer this node, or knows no such question.
            PlaceUnreachable, WrongServer: nobody answers, or somebody else.
        """
        self._connection.__enter__()
        try:
            self.ask()
            self.take()
        except BaseException:
            self.close()
            raise

    def ask(self) -> None:
        """Ask to be told when the server stands elsewhere than it said last.

        Raises:
            PlaceUnreachable, WrongServer: the line is cut.
        """
        self._asked = monotonic()
        self._connection.ask(NEWS_PATH, self._vault.key(), [self._state] if self._state else [])

    def is_answered(self, seconds: float) -> bool:
        """Wait so long at most for the answer, or the end of the line."""
        return self._connection.is_answered(seconds)

    def is_mute(self) -> bool:
        """Tell whether the answer does not come any more, as where one of the machines was moved to another network."""
        return monotonic() - self._asked > _MUTE

    def take(self) -> bool:
        """Take the answer; tell whether there is news.

        Raises:
            RefusedThere: as `open`.
            PlaceUnreachable: the line is cut, or something else is said on it.
        """
        incoming = self._connection.answer()
        state = b""
        while len(state) <= STATE_BYTES and (piece := incoming.read(STATE_BYTES + 1 - len(state))):
            state += piece
        if len(state) != STATE_BYTES:
            raise PlaceUnreachable("What the server says of its news is nothing that lace says.")
        is_news, self._state = state != self._state, state
        return is_news

    def close(self) -> None:
        """End the line."""
        self._connection.close()


class NewsLines:
    """The lines to all friends who serve, as far as there are any.

    Args:
        vault: who listens.
    """

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._lines: dict[str, NewsLine] = {}
        self._mute: set[str] = set()

    @property
    def names(self) -> frozenset[str]:
        """The places that announce their news."""
        return frozenset(self._lines)

    def keep(self, results: Iterable[PlaceResult]) -> bool:
        """Open a line to each live place that was just reached and has none; tell whether there is a new one.

        What came there between the visit and the opening of a line is not announced on it: visit once more.
        """
        is_new = False
        for result in results:
            if result.kind != AddressKind.LIVE or result.queued or result.name in {*self._lines, *self._mute}:
                continue
            place = next((place for place in places(self._vault) if place.name == result.name), None)
            if place is None:
                continue  # it was taken away meanwhile
            try:
                line = NewsLine(self._vault, place)
                line.open()
                line.ask()
            except RefusedThere:
                self._mute.add(result.name)  # it answered the visit, so it is older; nothing else would change
            except (PlaceError, PeerError):
                continue
            else:
                self._lines[result.name] = line
                is_new = True
        return is_new

    def heard(self, seconds: float) -> bool:
        """Wait for so long at most; tell whether a friend has news, or a line was cut, so that a visit is due."""
        found = False
        for name, line in list(self._lines.items()):
            # One friend is what this is for; of several each is asked in turn.
            if not line.is_answered(seconds / len(self._lines) if self._lines else 0):
                if line.is_mute():
                    self._drop(name)
                    found = True
                continue
            try:
                found |= line.take()
                line.ask()
            except (PlaceError, PeerError):
                self._drop(name)
                found = True
        return found

    def close(self) -> None:
        """End all lines."""
        for name in list(self._lines):
            self._drop(name)

    def _drop(self, name: str) -> None:
        with suppress(OSError):
            self._lines.pop(name).close()
