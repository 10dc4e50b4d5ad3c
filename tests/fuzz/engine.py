"""A byte-level fuzzer without coverage: mutations over a corpus that grows by what leads to a new outcome.

An execution is good when the target returns, or raises an error of the house. Any other exception, more than
`SLOW` seconds, or more memory than the process may take is a finding; its input is kept as a file.
"""

from __future__ import annotations

import hashlib
import random
import re
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vault.errors import LaceError

__all__ = ["SLOW", "Finding", "Fuzzed", "Target", "execute", "fuzz", "mutate", "name_of", "watch"]

SLOW = 2.0  # seconds of one execution; inputs have at most `MAX_BYTES`
MAX_BYTES = 1 << 16
_HANGS = 10.0  # seconds
_MAX_CORPUS = 400
_NUMBERS = (0, 1, 2, 31, 32, 63, 64, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32, 2**53, 2**63, 2**64)
_TOKENS = (
    b"\n", b"\n\n", b"\r\n", b"\0", b" ", b"  ", b"\t", b": ", b"-", b"/", b"..", b"\xff", b"\xc3\x28", b"\xe2\x80\xae",
    b"\xef\xbb\xbf", b"e\xcc\x81", b"\xc3\xa9", b"(", b")", b'"', b"\\", b"'", b";", b"0", b"00", b"-1", b"1e9", b"~",
    b"S.", b"P.", b"B.", b"V.", b".H3", b"lace/", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"{", b"}", b"[", b"]", b"=",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """One parser of foreign bytes.

    Args:
        name: of the target.
        seeds: inputs to begin with.
        run: takes an input; must return, or raise a `LaceError`.
        extra: exceptions of the house that are no `LaceError` because they never reach a person.
    """

    name: str
    seeds: tuple[bytes, ...]
    run: Callable[[bytes], object]
    extra: tuple[type[BaseException], ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that a target did not take as it must."""

    target: str
    what: str
    data: bytes


@dataclass(slots=True)
class Fuzzed:
    """What a run saw.

    Args:
        executions: how many.
        seconds: how long.
        outcomes: how many different ones.
        findings: what was wrong, one of each kind.
    """

    executions: int = 0
    seconds: float = 0.0
    outcomes: set[str] = field(default_factory=set)
    findings: dict[str, Finding] = field(default_factory=dict)


class Hang(Exception):
    """An execution takes too long."""


def watch() -> None:
    """Have executions stopped that do not end; for the main thread of a process of its own."""

    def stop(_number: int, _frame: object) -> None:
        raise Hang(f"more than {_HANGS} seconds")

    signal.signal(signal.SIGALRM, stop)


def execute(target: Target, data: bytes) -> tuple[str, Finding | None]:
    """Run a target once; return the kind of outcome, and a finding if it is a bad one."""
    begun = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, _HANGS)
    try:
        target.run(data)
        outcome, bad = "ok", None
    except LaceError as error:
        outcome, bad = f"{error.code} {_where(error)}", None
    except target.extra as error:
        outcome, bad = type(error).__name__, None
    except Exception as error:
        where = _where(error)
        outcome, bad = f"{type(error).__name__} {where}", f"{type(error).__name__} at {where}: {error}"[:300]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    taken = time.perf_counter() - begun
    if bad is None and taken > SLOW:
        outcome, bad = "slow", f"took {taken:.1f} s"
    return outcome, Finding(target.name, bad, data) if bad else None


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace is not None else "nowhere"


def mutate(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Change an input in one to eight places."""
    found = bytearray(data)
    for _ in range(1 << rng.randrange(4)):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(14):
            case 0 if found:
                found[at % len(found)] ^= 1 << rng.randrange(8)
            case 1 if found:
                found[at % len(found)] = rng.randrange(256)
            case 2:
                found[at:at] = rng.choice(_TOKENS)
            case 3:
                del found[at : at + 1 + rng.randrange(8)]
            case 4:
                del found[at : at + rng.randrange(1 + len(found))]
            case 5:
                end = at + rng.randrange(64)
                found[at:at] = found[at:end] * rng.choice((1, 1, 2, 8, 64))
            case 6:
                start = rng.randrange(len(other) + 1)
                found[at:at] = other[start : start + rng.randrange(200)]
            case 7:
                start = rng.randrange(len(other) + 1)
                found[at:] = other[start:]
            case 8:
                _number(rng, found)
            case 9:
                _lines(rng, found)
            case 10:
                size = rng.choice((1, 2, 4, 8))
                value = rng.choice(_NUMBERS) % (1 << 8 * size)
                found[at : at + size] = value.to_bytes(size, rng.choice(("little", "big")))
            case 11:
                del found[at:]
            case 12:
                found[at:at] = rng.randbytes(rng.randrange(16))
            case _:
                found[at : at + 1] = rng.choice(_TOKENS)
        del found[MAX_BYTES:]
    return bytes(found)


def _number(rng: random.Random, found: bytearray) -> None:
    """Put another number in the place of one."""
    numbers = list(re.finditer(rb"[0-9]+", found))
    if numbers:
        match = rng.choice(numbers)
        value = rng.choice((*_NUMBERS, int(match[0][:18]) + 1, max(0, int(match[0][:18]) - 1)))
        found[match.start() : match.end()] = rng.choice((b"%d", b"0%d", b"-%d", b"%d0", b"+%d")) % value


def _lines(rng: random.Random, found: bytearray) -> None:
    """Repeat, drop or swap whole lines."""
    lines = found.split(b"\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            lines.insert(to, lines[at])
        case 1:
            del lines[at]
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case _:
            lines[at:at] = [lines[at]] * rng.choice((2, 30, 600))
    found[:] = b"\n".join(lines)


def fuzz(
    target: Target,
    rng: random.Random,
    *,
    seconds: float = 0.0,
    executions: int = 0,
    known: Sequence[bytes] = (),
    clock: Callable[[], float] = time.monotonic,
) -> Fuzzed:
    """Run a target for so many seconds or executions, whichever is given.

    Args:
        target: what to run.
        rng: decides everything, so a run of a number of executions can be repeated.
        seconds: how long; 0 for no end.
        executions: how many; 0 for no end.
        known: further inputs to begin with.
        clock: seconds on a clock that never goes back.
    """
    done = Fuzzed()
    corpus = [*target.seeds, *known] or [b""]
    begun = clock()
    queue = list(corpus)
    while True:
        done.seconds = clock() - begun
        if (seconds and done.seconds >= seconds) or (executions and done.executions >= executions):
            return done
        for _ in range(50):
            data = queue.pop() if queue else mutate(rng, rng.choice(corpus), rng.choice(corpus))
            outcome, finding = execute(target, data)
            done.executions += 1
            if outcome not in done.outcomes:
                done.outcomes.add(outcome)
                if finding is not None:
                    done.findings.setdefault(outcome, finding)
                elif len(corpus) < _MAX_CORPUS:
                    corpus.append(data)


def name_of(finding: Finding) -> str:
    """Return the file name under which a finding is kept."""
    return hashlib.blake2b(finding.data, digest_size=6).hexdigest() + ".bin"
