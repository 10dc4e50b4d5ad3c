"""The notes of places, media and visits, and of commands that nobody was told of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from vault.notes.forms import a_number, a_text, flag, json_of, lines, string, verifier, words
from vault.notes.note import Form, Note
from vault.records import Tai, Verifier

__all__ = [
    "CAME_BEHIND",
    "COPIED",
    "ORPHANS",
    "OWNERS",
    "PLACE_FAULT",
    "REBASE",
    "REBASED",
    "RING",
    "SEALED",
    "SEEN_IN_PLAIN",
    "SENT_BEHIND",
    "SHOWN",
    "USED",
    "WITHOUT_ROOM",
    "WORDS",
    "PlaceFault",
    "RingKey",
    "Shown",
    "WithoutRoom",
]

_ID_DIGITS, _KEY_DIGITS = 32, 64
_SEALING = "lazy.places.sealing"


class PlaceFault(NamedTuple):
    """Why the last visit to a place could not be made, or could not write there.

    Args:
        code: of the table of errors.
        message: what happened.
        hint: the way out.
        when: TAI of that visit; display only.
    """

    code: str
    message: str
    hint: str
    when: str


def _fault(found: Any) -> PlaceFault | None:
    if found.keys() != set(PlaceFault._fields) or not all(isinstance(part, str) for part in found.values()):
        raise ValueError(found)
    Tai.parse(found["when"])
    return PlaceFault(**found)


_PLACE_FAULT: Form[PlaceFault | None] = json_of(
    "an object of `code`, `hint`, `message` and `when` (TAI)",
    None,
    _fault,
    lambda fault: fault._asdict() if fault else None,
    sort_keys=True,
)
PLACE_FAULT: Final = Note(
    "place fault",
    _PLACE_FAULT,
    "Why the last visit could not be made, or could not write there.",
    "Dropped by a visit that could.",
    ("lazy.places.registry",),
    of="place",
)


class Shown(NamedTuple):
    """Which heads a place showed.

    Args:
        medium: its id then.
        numbers: of the newest heads, by the verifiers of their nodes.
    """

    medium: str
    numbers: Mapping[str, int]


def _shown(found: Any) -> Shown | None:
    if found.keys() != set(Shown._fields) or any(type(number) is not int for number in found["numbers"].values()):
        raise ValueError(found)
    return Shown(string(found["medium"]), found["numbers"])


_SHOWN: Form[Shown | None] = json_of(
    "an object of `medium` (its id) and `numbers` (of heads, by verifier)",
    None,
    _shown,
    lambda shown: shown._asdict() if shown else None,
    sort_keys=True,
)
SHOWN: Final = Note(
    "shown at",
    _SHOWN,
    "The newest heads that a place showed.",
    "It goes with the place.",
    ("lazy.places.copies", "lazy.places.registry"),
    of="place",
)
CAME_BEHIND: Final = Note(
    "came behind",
    flag("yes"),
    "That what follows a damaged record of a node came over a line: its names are asked for before it comes again.",
    "Dropped by a visit after which all of its log was read.",
    ("lazy.live.behind",),
    of="node",
)
SENT_BEHIND: Final = Note(
    "sent behind",
    flag("yes"),
    "That what follows a damaged record went to a node over a line: what it lacks is asked before it goes again.",
    "Dropped by a visit that nothing damaged held up.",
    ("lazy.live.behind",),
    of="node",
)
SEEN_IN_PLAIN: Final = Note(
    "seen in plain",
    lines("verifiers, sorted", verifier),
    "The nodes whose plain mailboxes were read on the drop with that id or on a copy of it.",
    "Never; it stays when the places go.",
    ("lazy.places.copies",),
    of="medium",
)
COPIED: Final = Note(
    "copied",
    flag("yes"),
    "A place was forgotten while another one was a copy of its medium: a head there that is older than the newest one"
    " known was shown before by nobody but that one.",
    "Never.",
    ("lazy.places.registry",),
    of="medium",
)
SEALED: Final = Note(
    "sealed place",
    flag("yes"),
    "My mailbox at the place is to be encrypted; its medium may not have been seen yet.",
    "Emptied where a person takes it back, and with the place.",
    ("lazy.places.registry",),
    of="place",
)


class WithoutRoom(NamedTuple):
    """Copies for a prune that had no room, or that the place refused.

    Args:
        needed: bytes of all that waited.
        waited: bytes of what was to be written of it.
        free: bytes that the place told were free; None where it tells nothing.
        when: by the clock of that visit, in ns.
        why: what a place said that refused them otherwise than for room; else empty.
    """

    needed: int
    waited: int
    free: int | None
    when: int
    why: str = ""


def _without_room(found: Any) -> WithoutRoom | None:
    counts = {name: part for name, part in found.items() if name != "why"}
    if counts.keys() | {"why"} != set(WithoutRoom._fields) or not isinstance(found.get("why", ""), str):
        raise ValueError(found)
    if not all(type(part) is int or (part is None and name == "free") for name, part in counts.items()):
        raise ValueError(found)
    return WithoutRoom(**found)


def _told(noted: WithoutRoom | None) -> dict[str, object] | None:
    return {name: part for name, part in noted._asdict().items() if part != ""} if noted else None


_WITHOUT_ROOM: Form[WithoutRoom | None] = json_of(
    "an object of `needed` and `waited` (bytes), `free` (bytes, or null), `when` (ns), and perhaps `why`",
    None,
    _without_room,
    _told,
    sort_keys=True,
)
WITHOUT_ROOM: Final = Note(
    "copies without room",
    _WITHOUT_ROOM,
    "Which copies for a prune had no room there, or were refused: bytes of all that waited, bytes to write, bytes that"
    " were free, and what the place said.",
    "Dropped once they had room, and with the place.",
    ("lazy.places.no_room",),
    of="place",
)


# Keys of an encrypted medium


class RingKey(NamedTuple):
    """A key under which members write to a medium.

    Args:
        id: that names it.
        key: itself.
        holders: everybody it is known to have been sealed to.
    """

    id: bytes
    key: bytes
    holders: tuple[Verifier, ...]

    def __repr__(self) -> str:
        return f"RingKey({self.id.hex()})"


def _hex(text: str, digits: int) -> bytes:
    found = bytes.fromhex(text)
    if len(text) != digits or found.hex() != text:
        raise ValueError(digits)  # and not a part of a key
    return found


def _ring_key(line: str) -> RingKey:
    identifier, secret, *holders = line.split(" ")
    nodes = tuple(Verifier(_hex(holder, _KEY_DIGITS)) for holder in holders)
    return RingKey(_hex(identifier, _ID_DIGITS), _hex(secret, _KEY_DIGITS), nodes)


def _ring_line(key: RingKey) -> str:
    return " ".join([key.id.hex(), key.key.hex(), *(holder.key.hex() for holder in key.holders)])


def _owner(line: str) -> tuple[str, str]:
    alias, owner = (_hex(word, _KEY_DIGITS).hex() for word in line.split(" "))
    return alias, owner


def _key_id(text: str) -> str:
    return _hex(text, _ID_DIGITS).hex()


def _anew(text: str) -> str:
    return text if text == "yes" else _key_id(text)


RING: Final = Note(
    "sealed keys",
    lines("id, key and the keys of its holders in hex, sorted by id", _ring_key, _ring_line),
    "The keys of the medium that are known here.",
    "Dropped for a file that is finished, or read; the next visit tells anew what rotted.",
    (_SEALING,),
    of="medium",
)
OWNERS: Final = Note(
    "sealed owners",
    lines("alias and owner in hex, sorted", _owner, " ".join),
    "Whose mailbox each name on the medium was when it was last opened.",
    "As with the keys.",
    (_SEALING,),
    of="medium",
)
USED: Final = Note(
    "sealed used",
    words("ids in hex, the newest last", _key_id),
    "The keys that my own files there are encrypted under.",
    "As with the keys.",
    (_SEALING,),
    of="medium",
)
REBASE: Final = Note(
    "sealed rebase",
    a_text("`yes`, or the id of the new key in hex", _anew),
    "My mailbox is to be written anew under a new key, at every copy.",
    "Emptied once it was.",
    (_SEALING,),
    of="medium",
)
REBASED: Final = Note(
    "sealed rebased",
    lines("names, sorted", string),
    "The places where that was done while others wait for it.",
    "Dropped once it was done at all.",
    (_SEALING,),
    of="medium",
)


# Visits

ORPHANS: Final = Note(
    "orphans",
    words("names of files, sorted", string),
    "What of mine nothing named at the last repair: what nothing names at the next one either goes.",
    "The next repair writes it anew.",
    ("lazy.visits.rot",),
    of="medium and place",
)
WORDS: Final = Note(
    "words",
    a_number(),
    "Which version of short words a peer said that it speaks when it was last met over a line.",
    "Emptied where a body in short words got no answer.",
    ("lazy.live.terse",),
    of="node",
)
