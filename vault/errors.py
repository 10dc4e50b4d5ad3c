"""The error tree of lace, split by who is to blame.

Every error a person can meet is a subclass of `LaceError` with three class fields: `code` (a stable word that
`--json` prints), `exit_code` (the range says who is to blame) and `hint` (a way out). The message is a full
sentence. The base classes themselves are never raised.

| exit code | blame |
|---|---|
| 1 | nobody: the command did its work, and a person is needed |
| 2 | the caller: wrong use |
| 10-19 | the environment: this machine, this disk, this vault's lock or key |
| 20-29 | the place: it cannot be reached or written |
| 30-39 | a peer: it broke the protocol or a promise |
| 40-49 | the data: bytes that do not validate |
| 130 | cancelled by the person |

Any other exception that leaves a public function is a bug in lace (APP-14).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

__all__ = [
    "CallerError",
    "Cancelled",
    "DataError",
    "EnvironmentFault",
    "LaceError",
    "PeerError",
    "PlaceError",
    "all_errors",
]


class LaceError(Exception):
    """Base of every error lace raises on purpose.

    Args:
        message: what happened, as a full sentence that names the thing.
        hint: a way out for this very case; the class's own hint is used when it is empty.
    """

    code: ClassVar[str] = ""
    exit_code: ClassVar[int] = 1
    hint: str = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        if hint:
            self.hint = hint

    @property
    def has_own_hint(self) -> bool:
        """Whether it has a way out of its own, and not the one that all errors of its class have."""
        return bool(self.hint) and self.hint != type(self).hint


class CallerError(LaceError):
    """The command or call was used in a way that cannot work."""

    code = "usage"
    exit_code = 2
    hint = "See: lace help"


class EnvironmentFault(LaceError):
    """The machine, the disk or the vault does not let the work be done."""

    exit_code = 10


class PlaceError(LaceError):
    """A place (stick, directory, remote) cannot be reached or written.

    `can_wait` says that nothing is to be mended: the place is away, and what waits for it goes another time or another
    way (LAZ-24).
    """

    exit_code = 20
    can_wait: ClassVar[bool] = False


class PeerError(LaceError):
    """A peer, or what lies in its mailbox, broke the protocol.

    `can_wait` says, as of a place, that it may be over another time, as where one of two clocks is wrong for a while.
    """

    exit_code = 30
    can_wait: bool = False


class DataError(LaceError):
    """Bytes do not validate."""

    exit_code = 40


class Cancelled(LaceError):
    """The person stopped the work; what was stored before stays."""

    code = "cancelled"
    exit_code = 130
    hint = "Run the same command again: it goes on from what was stored; a commit stores all or nothing."


def all_errors() -> Iterator[type[LaceError]]:
    """Yield every concrete error class that has been imported, each once, sorted by exit code and code."""

    def walk(cls: type[LaceError]) -> Iterator[type[LaceError]]:
        for sub in cls.__subclasses__():
            yield sub
            yield from walk(sub)

    concrete = {cls for cls in walk(LaceError) if cls.code}
    yield from sorted(concrete, key=lambda cls: (cls.exit_code, cls.code))
