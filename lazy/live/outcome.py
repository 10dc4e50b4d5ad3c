"""What became of records that were sent, as the other side tells it."""

from __future__ import annotations

import json
from itertools import chain
from typing import Final, NamedTuple, Self

from transports.errors import BadStream

__all__ = ["DAMAGED", "Outcome"]

_SHOWN = 200  # refusals that are told
_TEXT = 300  # characters of each part
DAMAGED: Final = "damaged"
"""The code of what came, and is not what its name says: it is no refusal of the record, and is awaited."""


class Outcome(NamedTuple):
    """Counts, and the refusals that are told.

    Args:
        received: records that were stored.
        refused: name, code and reason of those that were not, the first of them.
    """

    received: int
    refused: tuple[tuple[str, str, str], ...]

    def encode(self) -> bytes:
        """Return the frame's data."""
        shown = [[part[:_TEXT] for part in entry] for entry in self.refused[:_SHOWN]]
        return json.dumps({"received": self.received, "refused": shown}, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read a frame's data.

        Raises:
            BadStream: it is malformed.
        """
        try:
            value = json.loads(data)
            refused = tuple((str(a)[:_TEXT], str(b)[:_TEXT], str(c)[:_TEXT]) for a, b, c in value["refused"][:_SHOWN])
            for part in chain.from_iterable(refused):
                part.encode()  # JSON can write halves of surrogate pairs, which no terminal shows
            return cls(int(value["received"]), refused)
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
            raise BadStream("What the other side says of my records cannot be read.") from error
