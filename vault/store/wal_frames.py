"""What proves a write-ahead log of SQLite, and which one bit of it rotted (SQLite's file format, section 4; APP-13).

A log is a head and frames of one page each. The sum of a frame begins with the one that is stored in the frame before,
so each frame is proven by itself. The sum is linear modulo 2^32: what one bit changes in it says which bit it was,
or which few it may have been.
Nothing here reads a file.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

__all__ = [
    "FRAME",
    "HEAD",
    "ORDERS",
    "PAGE",
    "Head",
    "begins_as_head",
    "choose",
    "likeness",
    "mend_frame",
    "mend_head",
    "read_head",
    "sums",
]

PAGE: Final = 4096  # bytes, as every store has them
HEAD: Final = 32  # bytes before the first frame
FRAME: Final = 24 + PAGE  # bytes: page, size of the store after a commit, two salts, two sums, the page
# Of the bytes of a word where sums are taken, as the machine has it that began the log.
ORDERS: Final[tuple[Literal["little", "big"], ...]] = ("little", "big")
_PROVEN: Final = 24  # bytes of the head that its sum is of
_MAGIC: Final = 0x377F0682  # with one more where the sums are of words with the highest byte first
_FORM: Final = 3007000
_M: Final = 0xFFFFFFFF
_COLUMNS: Final = FRAME // 8
_SALTS_AT, _SUM_AT, _PAGE_AT = 8, 16, 24
_WORDS: Final = (FRAME - 16) // 4  # that a frame's sum is of


class Head(NamedTuple):
    """The head of a log that proves itself.

    Args:
        order: which byte of a word is the first one where sums are taken.
        salts: 8 bytes that each frame of this log has, and none of the one before it in this file.
        sum: 8 bytes, with which the first frame's sum begins.
    """

    order: Literal["little", "big"]
    salts: bytes
    sum: bytes


def begins_as_head(data: bytes) -> bool:
    """Tell whether 12 bytes and more begin with what is the same in each head of a log of a store."""
    magic, form, page = struct.unpack(">3I", data[:12])
    return bool(magic & ~1 == _MAGIC and form == _FORM and page == PAGE)


def read_head(data: bytes) -> Head | None:
    """Return the head of a log of a store; None where it is none, as SQLite takes it."""
    if len(data) < HEAD:
        return None
    if not begins_as_head(data):
        return None
    order: Literal["little", "big"] = "big" if data[3] & 1 else "little"
    is_proven = _sum(_words(data[:_PROVEN], order), bytes(8)) == data[_PROVEN:HEAD]
    return Head(order, data[16:24], data[_PROVEN:HEAD]) if is_proven else None


def mend_head(data: bytes) -> tuple[int, int] | None:
    """Return byte and bit by which what is no head becomes one; None where none or more than one does."""
    found = [(bit // 8, 1 << bit % 8) for bit in range(HEAD * 8) if read_head(_flipped(data, bit // 8, 1 << bit % 8))]
    return found[0] if len(found) == 1 else None


def sums(frames: bytes, before: bytes, order: Literal["little", "big"]) -> bytes:
    """Return the 8 bytes of sum that each frame must have, one after the other, all of them worked out at once.

    Args:
        frames: whole ones.
        before: the sum that is stored before the first one.
        order: as the head says.
    """
    lanes = array("Q", frames)  # the bytes as they lie: two words of each frame to a column
    count = len(frames) // FRAME
    low = int.from_bytes(b"\xff\xff\xff\xff\0\0\0\0" * count, "little")

    def column(number: int) -> tuple[int, int]:
        both = int.from_bytes(lanes[number::_COLUMNS].tobytes(), order)
        one, other = both & low, both >> 32 & low
        return (one, other) if order == "little" else (other, one)

    stored = lanes[2::_COLUMNS].tobytes()
    seeds = int.from_bytes(_turned((before + stored)[: len(stored)], order), order)
    first, second = seeds >> 32 & low, seeds & low
    for number in (0, *range(3, _COLUMNS)):
        one, other = column(number)
        first = first + second + one & low
        second = second + first + other & low
    return _turned((first << 32 | second).to_bytes(8 * count, order), order)


def _turned(data: bytes, order: Literal["little", "big"]) -> bytes:
    """Turn each 8 bytes round where the lowest byte of a lane is its first: stored sums have the highest one there."""
    if order == "big":
        return data
    turned = bytearray(len(data))
    for at in range(8):
        turned[at::8] = data[7 - at :: 8]
    return bytes(turned)


def mend_frame(frame: bytes, before: bytes, head: Head, following: bytes) -> list[tuple[int, int]]:
    """Return each byte and bit by which a frame that proves nothing proves itself; none where no one bit alone does.

    There is one, or none, but for the nine highest bits of a word: the sum takes those of many words alike.

    Args:
        frame: 24 bytes and a page.
        before: the sum that is stored before it.
        head: of the log.
        following: the frame behind it, which tells a sum that rotted from what it is of; empty where there is none.
    """
    right = _sum(_words(frame[:8] + frame[_PAGE_AT:], head.order), before)
    stored = frame[_SUM_AT:_PAGE_AT]
    if frame[_SALTS_AT:_SUM_AT] != head.salts:
        salt = _one_bit(frame[_SALTS_AT:_SUM_AT], head.salts)
        return [(_SALTS_AT + salt[0], salt[1])] if salt and right == stored else []
    of_sum, of_words = _one_bit(stored, right), list(_one_word(frame, right, head.order))
    if following and of_sum and of_words:  # a bit of the last word changes one bit of the sum alone
        proves = following[_SUM_AT:_PAGE_AT]
        after = _words(following[:8] + following[_PAGE_AT:], head.order)
        if _sum(after, stored) == proves:
            of_sum = None
        elif _sum(after, right) == proves:
            of_words = []
    return [*of_words, *([(_SUM_AT + of_sum[0], of_sum[1])] if of_sum else [])]


def choose(frame: bytes, found: Sequence[tuple[int, int]], former: Iterable[bytes]) -> tuple[int, int] | None:
    """Return which of several bits rotted: the only one that another state of the same page has otherwise.

    A word that was written otherwise meanwhile differs in one bit, and in one of these, in no page that was ever seen;
    where none or several do, nothing is chosen.

    Args:
        frame: as `mend_frame` takes it.
        found: what that returned.
        former: other states of the page, the nearest first.
    """
    if len(found) == 1:
        return found[0]
    if any(at < _PAGE_AT for at, _ in found):  # what no other state of the page tells
        return None
    for page in former:
        fits = []
        for at, bit in found:
            start = at - at % 4
            word = bytearray(frame[start : start + 4])
            word[at % 4] ^= bit
            if page[start - _PAGE_AT :][:4] == word:
                fits.append((at, bit))
        if len(fits) == 1:
            return fits[0]
    return None


def likeness(page: bytes, other: bytes) -> float:
    """Return how much of what two pages hold is the same, from 0 to 1; 0 where there is no other one."""
    if len(other) != PAGE:
        return 0.0
    pairs = [pair for pair in zip(_words(page, "big"), _words(other, "big"), strict=True) if any(pair)]
    return sum(one == two for one, two in pairs) / max(1, len(pairs))


def _one_word(frame: bytes, sum_: bytes, order: Literal["little", "big"]) -> Iterator[tuple[int, int]]:
    """Yield byte and bit of what a sum is of, where that one bit makes it the one that is stored."""
    words = _words(frame[:8] + frame[_PAGE_AT:], order)
    is_one, is_two, one, two = struct.unpack(">4I", sum_ + frame[_SUM_AT:_PAGE_AT])
    one, two = one - is_one & _M, two - is_two & _M
    by_one, by_two = 0, 1  # what one more in a word makes of the two sums: numbers of Fibonacci
    for number in range(_WORDS - 1, -1, -1):
        # Of two that follow one another one is odd, and so has an inverse.
        change = (one * pow(by_one, -1, 1 << 32) if by_one & 1 else two * pow(by_two, -1, 1 << 32)) & _M
        bit = words[number] ^ words[number] + change & _M
        fits = by_one * change & _M == one and by_two * change & _M == two
        if fits and bit.bit_count() == 1:
            place = bit.bit_length() - 1
            at = number * 4 + (place // 8 if order == "little" else 3 - place // 8)
            yield at if at < 8 else at + 16, 1 << place % 8
        by_one, by_two = by_two, by_one + by_two & _M


def _one_bit(one: bytes, other: bytes) -> tuple[int, int] | None:
    """Return byte and bit in which two rows of bytes differ; None where they differ in none or more."""
    differ = int.from_bytes(one, "little") ^ int.from_bytes(other, "little")
    place = differ.bit_length() - 1
    return (place // 8, 1 << place % 8) if differ.bit_count() == 1 else None


def _words(data: bytes, order: Literal["little", "big"]) -> Sequence[int]:
    return struct.unpack(f"{'<' if order == 'little' else '>'}{len(data) // 4}I", data)


def _sum(words: Sequence[int], before: bytes) -> bytes:
    first, second = struct.unpack(">2I", before)
    for at in range(0, len(words), 2):
        first = first + second + words[at] & _M
        second = second + first + words[at + 1] & _M
    return struct.pack(">2I", first, second)


def _flipped(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
