"""What of mine lies on each place, as this vault left it there: the table `published` (LAZ-46, APP-13, CYB-18).

Nobody else writes it. What it says holds while my mailbox there shows the head that it names. Of places that are one
medium, such as a stick and a copy of it, each has a head of its own; a number is used at one of them alone. A place
that was removed and added again under another name is the one it was.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from vault.vault import Vault
from vault.writer import Writer

if TYPE_CHECKING:
    from transports.reading import SeenHead
    from vault.store import Store

__all__ = [
    "Published",
    "Rest",
    "Span",
    "distrust",
    "forget_published",
    "keep_published",
    "last_number",
    "left_as",
    "published",
    "published_seqs",
    "wrote",
]

Span = tuple[int, int]  # of the exposure log: after a number, and up to one

_RESTS = 8  # texts of the table that were read last: a visit asks for its own a dozen times

_COLUMNS = "number, head, epoch, at, seq, files, copied"
# What no place of the medium left any more is that of one that is there under another name now.
_FREE = "name NOT IN (SELECT p.name FROM place p WHERE p.place_id = u.place_id)"
_LEFT = f"""
SELECT {_COLUMNS} FROM published u WHERE place_id = ?1 AND (name = ?2 OR {_FREE})
ORDER BY name = ?2 DESC, number DESC LIMIT 1"""  # noqa: S608 - our own columns
_SHOWN = f"SELECT {_COLUMNS} FROM published WHERE place_id = ? AND head = ?"  # noqa: S608


class Rest(NamedTuple):
    """What my mailbox on a place rests on.

    Args:
        files: all its bundles, as they are noted.
        copied: the spans of the exposure log that lie whole in mine.
    """

    files: frozenset[str] = frozenset()
    copied: tuple[Span, ...] = ()


class Published(NamedTuple):
    """How this vault left its mailbox on a place.

    Args:
        number: of its head. It stays whatever becomes of the rest: a head never goes back (architecture, decision 4).
        head: BLAKE3-256 of the head's seal; empty where the mailbox is not believed to be as it was left.
        epoch: of the exposure log that `at` counts in; a repair begins another one.
        at: the last number of the exposure log that lies there.
        seq: the last entry of my own log that the head tells of.
        rest: what it rests on.
    """

    number: int
    head: bytes
    epoch: str
    at: int
    seq: int
    rest: Rest = Rest()


def published(vault: Vault, place_id: str, name: str) -> Published | None:
    """Return what this vault left on the place of that name, or None if it never wrote there."""
    return _published(vault.store, place_id, name)


def published_seqs(vault: Vault) -> dict[str, int]:
    """Return by the name of each place the last entry of my log that lies there; 0 for none."""
    rows = vault.store.rows("SELECT place_id, name FROM place")
    found = {str(name): published(vault, str(place_id), str(name)) for place_id, name in rows}
    return {name: left.seq if left is not None else 0 for name, left in found.items()}


def last_number(vault: Vault, place_id: str) -> int:
    """Return the highest number of a head that this vault left on a medium, at whichever of its copies; 0 for none."""
    return _last_number(vault.store, place_id)


def left_as(vault: Vault, place_id: str, name: str, head: SeenHead) -> Published | None:
    """Return what this vault left where its mailbox shows a head; None where it did not, or the place went back.

    A copy may show what was left at another one: whoever copies brought it up to that.
    """
    here, digest = published(vault, place_id, name), head.seal.hash.digest
    if here is not None and here.head == digest:
        return here
    if here is not None and (not here.head or head.head.number <= here.number):
        return None
    return next((_read(row) for row in vault.store.rows(_SHOWN, place_id, digest)), None)


def wrote(vault: Vault, place_id: str, name: str, head: SeenHead) -> bool:
    """Tell whether this vault wrote a head of its own mailbox last; if not, a copy did, or it is before a restore."""
    return left_as(vault, place_id, name, head) is not None


def keep_published(w: Writer, place_id: str, name: str, left: Published) -> None:
    """Note what this vault leaves on the place of that name; its number is none below the one before."""
    if not w.store.rows("SELECT 1 FROM published WHERE place_id = ? AND name = ?", place_id, name):
        w.store.run(f"DELETE FROM published AS u WHERE place_id = ? AND {_FREE}", place_id)  # noqa: S608
    files, copied = "\n".join(sorted(left.rest.files)), " ".join(f"{after}-{upto}" for after, upto in left.rest.copied)
    row = left.number, left.head, left.epoch, left.at, left.seq, files, copied
    w.store.run("INSERT OR REPLACE INTO published VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", place_id, name, *row)


def distrust(w: Writer, place_id: str, name: str, *, is_rotten: bool = False) -> None:
    """Take note that my mailbox on a place may not be what was left: the next visit compares all that it lists.

    Args:
        w: of a transaction.
        place_id: which medium; nothing happens where this vault never wrote.
        name: of the place; its copies are believed as before.
        is_rotten: whether it lost something, so that nothing counts as lying there until it is published again.
    """
    number = _last_number(w.store, place_id)
    # A copy that was not visited yet has what was left at another one, and is believed for that.
    left = _published(w.store, place_id, name) or Published(number=number, head=b"", epoch="", at=0, seq=0)
    if number:
        keep_published(w, place_id, name, left._replace(head=b"", at=0 if is_rotten else left.at))


def forget_published(w: Writer) -> None:
    """Forget all of it: another node has other mailboxes."""
    w.store.run("DELETE FROM published")


def _published(store: Store, place_id: str, name: str) -> Published | None:
    return next((_read(row) for row in store.rows(_LEFT, place_id, name)), None)


def _last_number(store: Store, place_id: str) -> int:
    return int(store.rows("SELECT ifnull(max(number), 0) FROM published WHERE place_id = ?", place_id)[0][0])


def _read(row: tuple[Any, ...]) -> Published:
    number, head, epoch, at, seq, files, copied = row
    try:
        rest = _rest(files, copied)
    except ValueError:  # it rotted: then my mailbox there is read before anything is said to rest on it (APP-13)
        rest = Rest()
    return Published(number=number, head=head, epoch=epoch, at=at, seq=seq, rest=rest)


@lru_cache(maxsize=_RESTS)
def _rest(files: str, copied: str) -> Rest:
    """Return what two texts of a row say.

    Raises:
        ValueError: they rotted.
    """
    ends = [word.split("-") for word in copied.split()]
    bundles = frozenset(_bundle(line) for line in files.splitlines())
    return Rest(bundles, tuple((int(after), int(upto)) for after, upto in ends))


def _bundle(line: str) -> str:
    """Return a bundle as it is noted: mailbox in hex, name and size.

    Raises:
        ValueError: it is none.
    """
    mailbox, _, size = line.split(" ")
    bytes.fromhex(mailbox)
    int(size)
    return line
