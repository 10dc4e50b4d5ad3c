"""Presence beacons: what somebody says of themselves beside their mailbox, for friends who look (LAZ-18 to LAZ-22).

A beacon is unsigned and advisory. It is left where others pull, or answered to who asks; nobody is sent one, and nobody
passes on another's. What was read is kept per person and place, and shown with its age however old it is. No vector,
queue, membership, Lamport clock or decision reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from lazy.people import label_of, peers
from lazy.problems import Problem
from vault.desk_folders import MAIN
from vault.errors import CallerError, DataError
from vault.names import BadVersion, Version, check_name
from vault.notes.people import BEACON_NEXT, BEACON_STATUS, MOST_NEXT
from vault.records import Plex, Tai, Verifier, parse_record
from vault.sexp import Sexp, Symbol, dumps, loads
from vault.vault import Vault

if TYPE_CHECKING:
    from transports.mailbox import MailboxMedium
    from vault.store.store import Store

__all__ = [
    "APP",
    "BadBeacon",
    "BadWord",
    "Beacon",
    "Presence",
    "SeenBeacon",
    "beacon_words",
    "due_on",
    "hear_beacon",
    "known_beacons",
    "my_beacon",
    "my_record",
    "publish_beacon",
    "read_beacons",
]

APP: Final = "lace/beacon"
_DEFAULT_NEXT: Final = "when ready"
_LIMIT = 4096  # bytes of the record: five short fields and its headers
_NUMBER_LIMIT = 2**63
_FIELDS = ("peer", "lamport-time", "last-release", "status", "next-expected")
_NONE = Symbol("none")


class Presence(StrEnum):
    """What somebody may say of themselves."""

    AVAILABLE = "available"
    BUSY = "busy"
    AWAY = "away"


class BadBeacon(DataError):
    """A beacon that breaks the format."""

    code = "bad-beacon"
    exit_code = 40
    hint = "It was passed over; a beacon says nothing that anything depends on."


class BadWord(CallerError):
    """Something that a beacon cannot say."""

    code = "bad-beacon-word"
    exit_code = 2
    hint = f"One line of at most {MOST_NEXT} characters, such as: lace beacon --status away --next 'on Sunday'"


@dataclass(frozen=True, slots=True)
class Beacon:
    """What somebody says of themselves; nothing proves it.

    Args:
        node: in whose name it speaks.
        tai: when, by their clock.
        peer: how they call themselves.
        lamport: their Lamport time.
        last_release: their last release, if they have one.
        status: how they are.
        next_expected: when they mean to sync next, in their words.

    Raises:
        BadBeacon: a field breaks the format.
    """

    node: Verifier
    tai: Tai
    peer: str
    lamport: int
    last_release: Version | None
    status: Presence
    next_expected: str

    def __post_init__(self) -> None:
        try:
            check_name(self.peer)
        except CallerError as error:
            raise BadBeacon("A beacon does not say who speaks.") from error
        if not 0 <= self.lamport < _NUMBER_LIMIT:
            raise BadBeacon("The Lamport time of a beacon is out of range.")
        if not _is_line(self.next_expected):
            raise BadBeacon("What a beacon says of the next sync is not one short line.")

    def body(self) -> bytes:
        """Return the S-expression of RFC-016 on one line."""
        released: Sexp = str(self.last_release) if self.last_release else _NONE
        values: tuple[Sexp, ...] = (self.peer, self.lamport, released, Symbol(self.status.value), self.next_expected)
        fields = tuple((Symbol(name), value) for name, value in zip(_FIELDS, values, strict=True))
        return dumps((Symbol("cluster-beacon"), *fields), pretty=False).encode() + b"\n"

    def encode(self, group: str) -> bytes:
        """Return the stored record: an unsigned Plex."""
        plex = Plex.build(group=group, app=APP, name=self.node.text, tai=self.tai, data=self.body())
        return plex.encode()

    @staticmethod
    def decode(stored: bytes, group: str, node: Verifier) -> Beacon:
        """Read what lies in a mailbox, or was answered, as the beacon of its owner.

        Raises:
            BadBeacon: it is none, or another node's or group's.
            RecordError: it is no record.
        """
        if len(stored) > _LIMIT:
            raise BadBeacon(f"A beacon has more than {_LIMIT} bytes.")
        record = parse_record(stored)
        if not isinstance(record, Plex) or record.app != APP or record.extras:
            raise BadBeacon(f"{record.hash} is not a beacon.")
        if record.group != group or record.name != node.text:
            raise BadBeacon(f"{record.hash} is the beacon of somebody else.")
        found = _read(record, node)
        if found.body() != record.blob.data:
            raise BadBeacon(f"{record.hash} is not written as a beacon is.")
        return found


class SeenBeacon(NamedTuple):
    """A beacon that was read.

    Args:
        beacon: what it says.
        place: name of the place that had it.
        seen: when it was first read there, by the clock here; for display.
    """

    beacon: Beacon
    place: str
    seen: Tai

    @property
    def words(self) -> str:
        """What it says in a few words, with its date and no age: lines that say so are kept for later."""
        said = self.beacon
        return f"says {said.status}, next sync {said.next_expected!r} (beacon of {said.tai.to_utc_iso()[:10]})"


def _read(record: Plex, node: Verifier) -> Beacon:
    try:
        value = loads(record.blob.data.decode("utf-8", "strict"), _LIMIT)
    except UnicodeDecodeError as error:
        raise BadBeacon("A beacon is not text.") from error
    if not isinstance(value, tuple) or len(value) != 1 + len(_FIELDS) or value[0] != Symbol("cluster-beacon"):
        raise BadBeacon(f"{record.hash} is not written as a beacon is.")
    said = []
    for name, field in zip(_FIELDS, value[1:], strict=True):
        if not isinstance(field, tuple) or len(field) != 2 or field[0] != Symbol(name):
            raise BadBeacon(f"A beacon has no {name} where it belongs.")
        said.append(field[1])
    peer, lamport, released, status, expected = said
    if not isinstance(peer, str) or not isinstance(lamport, int) or not isinstance(expected, str):
        raise BadBeacon("A field of a beacon is of another kind.")
    if not isinstance(status, Symbol) or status.name not in set(Presence):
        raise BadBeacon("A beacon says of its owner what lace does not know.")
    try:
        version = None if released == _NONE else Version.parse(released if isinstance(released, str) else "")
    except BadVersion as error:
        raise BadBeacon("The last release of a beacon is not a version.") from error
    return Beacon(node, record.tai, peer, lamport, version, Presence(status.name), expected)


def _is_line(text: str) -> bool:
    return 0 < len(text) <= MOST_NEXT and text.isprintable() and text == text.strip()


# Mine


def my_beacon(vault: Vault) -> Beacon | None:
    """Return what my beacon says now, or None while I publish none, or cannot since its status or my name rotted."""
    status, expected = beacon_words(vault.store)
    if not status:
        return None
    rows = vault.store.rows(
        "SELECT version FROM release WHERE node = ? AND desk = ? AND visible = 1 ORDER BY p DESC LIMIT 1",
        vault.node.text,
        MAIN,
    )
    try:
        check_name(vault.name)
    except CallerError:  # a repair finds it again (APP-13)
        return None
    return Beacon(
        vault.node,
        vault.around.tai(),
        vault.name,
        int(vault.store.rows("SELECT ifnull(max(lamport), 0) FROM log")[0][0]),
        Version.parse(str(rows[0][0])) if rows else None,
        Presence(status),
        expected or _DEFAULT_NEXT,
    )


def beacon_words(store: Store) -> tuple[str, str]:
    """Return what my beacon says by my own choice."""
    return store.note(BEACON_STATUS), store.note(BEACON_NEXT)


def my_record(vault: Vault) -> bytes:
    """Return my beacon of now as a record; nothing while I publish none."""
    mine = my_beacon(vault)
    return mine.encode(vault.group) if mine is not None else b""


def publish_beacon(vault: Vault, status: Presence | None, next_expected: str = "") -> Beacon | None:
    """Say something of myself from the next sync on, or nothing any more; return what is said now.

    Args:
        vault: mine.
        status: how I am; None takes the beacon away.
        next_expected: when I mean to sync next, in one line; empty keeps what was said before.

    Raises:
        BadWord: it is no line that a beacon can hold.
    """
    if next_expected and not _is_line(next_expected):
        raise BadWord("A beacon says when to expect you in one short line.")
    with vault.writing() as w:
        w.store.set_note(BEACON_STATUS, status.value if status else "")
        if next_expected or status is None:
            w.store.set_note(BEACON_NEXT, next_expected)
        w.audit("lace-beacon", vault.node.text, {"status": status.value if status else "none"})
    return my_beacon(vault)


def due_on(vault: Vault, medium: MailboxMedium) -> bytes | None:
    """Return what is to lie beside my mailbox: a record, nothing (`b""`), or None when what lies there is right."""
    mine = my_beacon(vault)
    there: Beacon | None = None
    is_there = False
    try:
        stored = medium.read_beacon(vault.group, vault.node)
        is_there = stored is not None
        there = Beacon.decode(stored, vault.group, vault.node) if stored is not None else None
    except DataError:
        is_there = True  # damaged there: it is written again, or taken away
    if mine is None:
        return b"" if is_there else None
    return None if there is not None and mine.body() == there.body() else mine.encode(vault.group)


# Of others


def read_beacons(vault: Vault, place: str, medium: MailboxMedium, nodes: Iterable[str] = ()) -> list[Problem]:
    """Read the beacons of friends at a medium into the cache, and return what could not be read.

    Args:
        vault: the reader's.
        place: name of the place.
        medium: opened.
        nodes: whose to look for; all peers' if none are given.

    Raises:
        PlaceError: the medium is gone.
    """
    wanted = {Verifier.parse(node) for node in nodes or (person.node for person in peers(vault))}
    faults: list[Problem] = []
    for node in medium.nodes(vault.group):
        if node == vault.node or node not in wanted:
            continue
        try:
            stored = medium.read_beacon(vault.group, node)
            beacon = Beacon.decode(stored, vault.group, node) if stored is not None else None
        except DataError as error:
            faults.append(Problem(error.code, error.message, label_of(vault, node.text)))
            beacon = None
        _keep_beacon(vault, place, node, beacon)
    return faults


def _keep_beacon(vault: Vault, place: str, node: Verifier, beacon: Beacon | None) -> None:
    """Keep what a place says of a node, or that it says nothing; unchanged, nothing is written."""
    rows = vault.store.rows("SELECT tai, body FROM beacon WHERE node = ? AND place = ?", node.text, place)
    told = None if beacon is None else (beacon.tai.text, beacon.body())
    if told == ((str(rows[0][0]), bytes(rows[0][1])) if rows else None):
        return
    with vault.writing(receiving=True) as w:
        if told is None or beacon is None:
            w.store.run("DELETE FROM beacon WHERE node = ? AND place = ?", node.text, place)
            return
        w.store.run(
            "INSERT OR REPLACE INTO beacon VALUES (?, ?, ?, ?, ?)", node.text, place, *told, vault.around.tai().text
        )


def hear_beacon(vault: Vault, place: str, node: Verifier, stored: bytes) -> Problem | None:
    """Keep what a node itself answered at a place; return what is wrong with it."""
    try:
        _keep_beacon(vault, place, node, Beacon.decode(stored, vault.group, node) if stored else None)
    except DataError as error:
        return Problem(error.code, error.message, label_of(vault, node.text))
    return None


def known_beacons(vault: Vault) -> dict[str, SeenBeacon]:
    """Return, of each node whose beacon is in the cache, the one that says the most recent Lamport time.

    However old; a person judges. A beacon that only one place has goes when that place has another.
    """
    found: dict[str, SeenBeacon] = {}
    for node, place, tai, body, seen in vault.store.rows("SELECT node, place, tai, body, seen FROM beacon"):
        with suppress(DataError):
            owner, written = Verifier.parse(str(node)), Tai.parse(str(tai))
            plex = Plex.build(group=vault.group, app=APP, name=owner.text, tai=written, data=bytes(body))
            read = SeenBeacon(_read(plex, owner), str(place), Tai.parse(str(seen)))
            if node not in found or _order(found[str(node)]) < _order(read):
                found[str(node)] = read
    return found


def _order(one: SeenBeacon) -> tuple[int, Tai, str]:
    return one.beacon.lamport, one.beacon.tai, one.place
