"""The notes of who belongs, who does not, and what I say of myself."""

from __future__ import annotations

from typing import Final

from vault.notes.forms import a_count, a_hash, a_text, lines, one_of, verifier, words
from vault.notes.note import Note
from vault.records import b64a

__all__ = [
    "ADMISSION",
    "ASKS",
    "BEACON_NEXT",
    "BEACON_STATUS",
    "DROPPED_REQUESTS",
    "EVIDENCE",
    "FORKS",
    "FORKS_TOLD",
    "INVITATION",
    "INVITER",
    "LEFT",
    "MOST_DROPPED_REQUESTS",
    "MOST_NEXT",
    "NEWCOMERS_UNHEARD",
    "REVOKED_UNHEARD",
]

MOST_DROPPED_REQUESTS = 1000  # requests taken off the list that are remembered; the last ones stay
MOST_NEXT = 120  # characters
_ADOPTING = "lazy.belonging.adopting"
_CHECK_BYTES = 8  # of the sum at the end of an invitation
_WORD = 128  # characters of a verifier, a hash text or a secret


def _secret(text: str) -> str:
    b64a.decode(text)
    return text


def _invitation(text: str) -> str:
    from blake3 import blake3  # who belongs reads none

    data = b64a.decode("".join(text.split()).partition(":")[2])
    if data[-_CHECK_BYTES:] != blake3(data[:-_CHECK_BYTES]).digest()[:_CHECK_BYTES]:
        raise ValueError(len(data))  # and not the secret in it
    return text


INVITATION: Final = Note(
    "invitation",
    a_text("the line of an invitation", _invitation),
    "The invitation by which this vault was begun.",
    "Never.",
    ("lazy.belonging.circle",),
)
INVITER: Final = Note(
    "inviter",
    a_text("a verifier", verifier, _WORD),
    "Who sealed that invitation.",
    "Never.",
    ("lazy.belonging.circle",),
)
ASKS: Final = Note(
    "asks",
    a_text("16 bytes in B64A", _secret, _WORD),
    "What stands in a request for an invitation's secret, where an adopted vault has none to prove.",
    "Each adoption writes it anew, empty where the old key could speak.",
    (_ADOPTING,),
)
ADMISSION: Final = Note(
    "admission",
    a_hash("S"),
    "The admission by which the old key of an adopted vault let its new one in.",
    "Each adoption writes it anew, empty where the old key could not speak.",
    (_ADOPTING,),
)
LEFT: Final = Note(
    "left",
    words("verifiers, sorted", verifier),
    "The nodes that are off the sync list.",
    "Whoever is joined again goes off it.",
    ("lazy.belonging.circle",),
)
NEWCOMERS_UNHEARD: Final = Note(
    "newcomers unheard",
    words("verifiers, the first one first", verifier),
    "The nodes of members whom others let in by what came, and of whom neither a visit nor a server told.",
    "A visit that tells of all drops it, and a server takes out whom it told of.",
    ("lazy.receiving.membership_news",),
)
REVOKED_UNHEARD: Final = Note(
    "revoked unheard",
    words("verifiers, the first one first", verifier),
    "The nodes of members who belong no more by what came, and of whom neither a visit nor a server told.",
    "A visit that tells of all drops it, and a server takes out whom it told of.",
    ("lazy.receiving.membership_news",),
)
DROPPED_REQUESTS: Final = Note(
    "dropped requests",
    words("verifiers", verifier, most=MOST_DROPPED_REQUESTS),
    f"The nodes whose requests to belong a person took off the list, at most {MOST_DROPPED_REQUESTS}.",
    "The oldest go for newer ones.",
    ("lazy.belonging.requests",),
)
FORKS: Final = Note(
    "forks",
    words("verifiers, sorted", verifier),
    "The nodes whose fork stands in the audit trail.",
    "Never.",
    ("lazy.belonging.forks",),
)
FORKS_TOLD: Final = Note(
    "forks told",
    words("verifiers, sorted", verifier),
    "The nodes whose fork a person was told of.",
    "Never.",
    ("lazy.belonging.forks",),
)


def _noted_of(line: str) -> tuple[str, int]:
    node, number = line.rsplit(" ", 1)
    return node, a_count(number)


EVIDENCE: Final = Note(
    "evidence",
    lines("a node and a number, sorted", _noted_of, lambda pair: f"{pair[0]} {pair[1]}"),
    "How many entries of the audit trail speak against each node.",
    "Never; each such entry counts all anew.",
    ("lazy.belonging.reputation",),
)


def _next_line(text: str) -> str:
    """Return what a beacon says of the next sync.

    Raises:
        ValueError: it is not one short line.
    """
    if not (0 < len(text) <= MOST_NEXT and text.isprintable() and text == text.strip()):
        raise ValueError(text)
    return text


BEACON_STATUS: Final = Note(
    "beacon status",
    one_of("available", "busy", "away"),
    "What my beacon says of me; without it none is published.",
    "`lace beacon --off` empties it.",
    ("lazy.belonging.beacon",),
)
BEACON_NEXT: Final = Note(
    "beacon next",
    a_text(f"one line of at most {MOST_NEXT} characters", _next_line),
    "When my beacon says to expect me.",
    "`lace beacon --off` empties it.",
    ("lazy.belonging.beacon",),
)
