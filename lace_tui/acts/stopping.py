"""The wish to stop work, and the signals that ask for it: the two steps of Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, Self

from vault.errors import Cancelled

__all__ = ["CancelToken", "asks_to_end", "stopped_at_once"]

# Ctrl-C, a plain `kill`, and a terminal that was closed: what a command started, such as git, is to end with it.
_ENDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_Handler = Callable[[int, FrameType | None], Any]


class CancelToken:
    """A wish to stop, asked for by Ctrl-C and honoured by the work at its next safe point.

    As a context manager it listens to Ctrl-C: the first asks the work to stop, the second stops it at once
    with `KeyboardInterrupt`. So do a `kill` and the end of the terminal. Off the main thread it listens to nothing
    and can still be set.

    Args:
        on_request: called once where the first is a Ctrl-C, to tell the person.
    """

    __slots__ = ("_is_set", "_listening", "_on_request")

    def __init__(self, on_request: Callable[[], None] | None = None) -> None:
        self._is_set = False
        self._on_request = on_request
        self._listening: AbstractContextManager[None] | None = None

    @property
    def is_set(self) -> bool:
        """Whether the work should stop."""
        return self._is_set

    def set(self) -> None:
        """Ask the work to stop at its next safe point."""
        self._is_set = True

    def check(self) -> None:
        """Stop here if asked to; called at safe points.

        Raises:
            Cancelled: the person asked to stop.
        """
        if self._is_set:
            raise Cancelled("Stopped as you asked.")

    def __call__(self) -> None:
        """Do the same as `check`, so that the token itself can be handed down."""
        self.check()

    def __enter__(self) -> Self:
        self._listening = _heard_by(self._on_signal)
        self._listening.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listening is not None:
            self._listening.__exit__(None, None, None)
            self._listening = None

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._is_set:
            raise KeyboardInterrupt
        self._is_set = True
        if self._on_request is not None and number == signal.SIGINT:
            self._on_request()


def asks_to_end() -> list[int]:
    """Return the signals that ask this process to end, but for what its caller lets pass, as nohup does."""
    return [n for n in _ENDS if n == signal.SIGINT or signal.getsignal(n) is not signal.SIG_IGN]


def stopped_at_once() -> AbstractContextManager[None]:
    """Let the first Ctrl-C stop at once while a person or Spark is asked: there is no safe point to wait for.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    return _heard_by(signal.default_int_handler)


@contextmanager
def _heard_by(handler: _Handler) -> Iterator[None]:
    """Have a function hear whatever asks this process to end; off the main thread, which alone may listen, nothing."""
    previous: dict[int, Any] = {}
    try:
        with suppress(ValueError):
            for number in asks_to_end():
                previous[number] = signal.signal(number, handler)
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)
