"""The side that listens: a vault that is served, for as long as somebody serves it (decision 7).

Each request opens the vault anew, in its own thread.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from threading import Lock
from time import monotonic

from blake3 import blake3

from lazy.belonging.admitting import consider, is_for_another, may_ask
from lazy.belonging.reputation import note_turned_away
from lazy.belonging.requests import has_room
from lazy.live.answering import Exchange, Served
from lazy.live.own_news import what_goes
from lazy.people import former, is_member, label_of
from transports.http.hello import OtherClock
from transports.http.paths import STATE_BYTES
from transports.http.stream import Source
from vault.errors import Cancelled, EnvironmentFault, LaceError
from vault.plural import plural
from vault.profile import Request
from vault.profile.reading import read
from vault.records import Seal, Verifier, parse_record
from vault.vault import Vault
from vault.watch import Watch

__all__ = ["Service"]

_MAKES_ROOM = 60.0  # seconds between two requests for which another goes that waits: each is a write of the vault
_LISTED = "SELECT problem FROM request WHERE node = ?"
_TURNED = 200  # nodes turned away that one run takes note of
_SERVED = "serve"  # the place where requests came in, for those who list them


class Service:
    """Serves one vault; it satisfies `transports.http.server.Handler`.

    Args:
        open_vault: opens it, for the thread that calls.
        tell: called with every request that was answered; from any thread.
        watch: of whoever visits, where that is this process too.
    """

    def __init__(self, open_vault: Callable[[], Vault], tell: Callable[[Served], None], watch: Watch = Watch()) -> None:
        self._open = open_vault
        self._tell = tell
        self._watch = watch
        self._turned: set[Verifier] = set()
        self._turning = Lock()
        self._of_other_clocks: set[Verifier] = set()
        self._makes_room_from = 0.0
        self._watched: Vault | None = None
        self._version: object = None
        self._state = b""
        self._is_over = False

    def state(self) -> bytes:
        """Return some bytes that are others whenever a visit would bring something else (INT-125, INT-127).

        The vault stays open between two calls, which come from one thread: SQLite then tells by a number in memory
        that nothing was committed.

        Raises:
            LaceError: the vault cannot be read now.
        """
        if self._watched is None:
            self._watched, self._version = self._open(), None
        store = self._watched.store
        version = store.data_version()
        if version != self._version:
            with store.reading():
                said = what_goes(store)
            self._state, self._version = blake3(said.encode()).hexdigest()[:STATE_BYTES].encode(), version
        return self._state

    def rest(self) -> None:
        """Close the vault that `state` keeps open, and leave what is being proven for another time."""
        self._is_over = True
        if self._watched is not None:
            self._watched.close()
            self._watched = None

    def admits(self, node: Verifier) -> bool:
        """Whether the node is a member, and not this one."""
        with closing(self._open()) as vault:
            return node != vault.node and is_member(vault, node.text)

    def was_revoked(self, node: Verifier) -> bool:
        """Whether the node was a member once; only its own key is told so."""
        with closing(self._open()) as vault:
            return former(vault, node.text) is not None

    def turned_away(self, node: Verifier) -> None:
        """Note once a run that a node proved its key and was refused; a crowd of strangers costs no more than a few."""
        if node in self._turned or len(self._turned) >= _TURNED or not self._turning.acquire(blocking=False):
            return
        try:
            with closing(self._open()) as vault:
                if node == vault.node:
                    return  # my own key, reflected
                reason = note_turned_away(vault, node.text, _SERVED)
                self._turned.add(node)
                self._tell(Served(label_of(vault, node.text), problem=reason))
        except LaceError:
            return  # not noted this time: the vault is busy, or may not sign; the refusal stands
        finally:
            self._turning.release()

    def clock_differs(self, clock: OtherClock) -> None:
        """Tell once a run that a member was not answered for their clock; they are told to compare both, as any is."""
        if clock.who in self._of_other_clocks:
            return
        with suppress(LaceError), closing(self._open()) as vault:
            if clock.who == vault.node or not is_member(vault, clock.who.text):
                return
            self._of_other_clocks.add(clock.who)
            side = "ahead of" if clock.ahead > 0 else "behind"
            off = f"their clock is {plural(abs(clock.ahead) // 60, 'minute')} {side} the one here"
            problem = f"{off}, so no answer went: compare the clocks of both machines"
            self._tell(Served(label_of(vault, clock.who.text), problem=problem))

    def request(self, record: bytes) -> bool | None:
        """Look at the request of somebody invited, or the admission of a new node of a member.

        True says that they are a member now, False that the request waits for another member, None that it is refused.

        Raises:
            EnvironmentFault: it cannot be judged now: the key is locked, the vault busy or not to be written.
        """
        with closing(self._open()) as vault:
            try:
                sealed = parse_record(record)
                value = read(sealed) if isinstance(sealed, Seal) else None
                if not isinstance(sealed, Seal) or not may_ask(value, sealed, vault):
                    return None
                node = sealed.signer if isinstance(value, Request) else value.node
                if is_member(vault, node.text):
                    return True
                is_free, before = has_room(vault), vault.store.rows(_LISTED, node.text)
                name = consider(vault, _SERVED, sealed, node, keeps=is_free or monotonic() >= self._makes_room_from)
            except EnvironmentFault as error:
                if isinstance(value, Request) and not is_for_another(vault, value):
                    self._tell(Served(value.label, problem=f"asks to belong; not now: {error.message}"))
                raise
            except LaceError:
                return None
            if name is not None:
                self._tell(Served(name, admitted=name))
            if name is not None or is_member(vault, node.text):
                return True  # also where the same request came twice at once, as when its answer was lost
            asks = vault.store.rows(_LISTED, node.text)
            if not is_free and asks != before:  # it wrote: a crowd of strangers does not keep the vault busy
                self._makes_room_from = monotonic() + _MAKES_ROOM
            return False if asks and is_for_another(vault, value) else None

    def failed(self, what: str) -> None:
        """Tell of a fault of the server itself; no friend has a part in it."""
        self._tell(Served("lace serve", problem=what))

    def _go_on(self) -> None:
        self._watch.cancelled()
        if self._is_over:
            raise Cancelled("This lace serves no longer.")

    def exchange(self, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        """Take one body and answer it.

        Raises:
            BadStream: the body breaks the format, or ends early; what came before is kept.
        """
        with closing(self._open()) as vault:
            try:
                served = Exchange(vault, node, self._watch._replace(cancelled=self._go_on)).answer(source, write)
            except LaceError as error:
                self._tell(Served(label_of(vault, node.text), problem=error.message))
                raise
            except (TimeoutError, ConnectionError):
                self._tell(Served(label_of(vault, node.text), problem="the line was cut, or nothing moved on it"))
                raise
            except Exception as error:
                self._tell(Served(label_of(vault, node.text), problem=f"a fault in lace itself: {error!r}"))
                raise
            self._tell(served)
