"""What programs written to do harm can take: time and peak memory of each until its clear error.

Each program runs in a process of its own, over a store of a thousand records, under the limits for rules that a peer
brings. The process prints the error's code and its own peak of memory; anything else than an error of the house fails
the run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from lazy.interlace.policy import peer_limits
from tests.bench.table import Figure
from tests.vault.rules.stores import add, make, open_store
from vault.errors import LaceError
from vault.rules import StoreFacts, check, evaluate, parse_program

__all__ = ["PROGRAMS", "figures", "harm", "peak_mb"]

_ROOT = Path(__file__).parents[2]
_SECONDS, _MEGABYTES = 2.0, 400.0
_RECORDS = 1_000
_LONG = "x" * 1_000


def _chain(count: int) -> str:
    return "".join(f"A{n}(X) :- A{n + 1}(X).\n" for n in range(count)) + f"A{count}(X) :- Have(X).\n"


def _wide(width: int) -> str:
    names = [f"X{n}" for n in range(width)]
    return f"A({','.join(names)}) :- {', '.join(f'Field({name},_,_,_)' for name in names)}.\n"


PROGRAMS: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "cross product": lambda: "A(X,Y,Z) :- Have(X), Have(Y), Have(Z).\n",
        "cross product of texts": lambda: (
            "A(X,Y,Z) :- Field(_,'Name',_,X), Field(_,'Name',_,Y), Field(_,'Name',_,Z).\n"
        ),
        "exploding recursion": lambda: (
            "R(X,Y) :- Have(X), Have(Y).\nR(X,Z) :- R(X,Y), R(Y,Z).\nS(X,Y,Z) :- R(X,Y), R(Y,Z).\n"
            "S(X,Y,Z) :- S(Y,Z,X).\n"
        ),
        "endless search": lambda: "A() :- Have(X), Have(Y), Have(Z), NumLt(X,Y), NumLt(Y,Z), NumLt(Z,X).\n",
        "endless search in bytes": lambda: (
            "A() :- Field(P,'TAI',_,X), Field(Q,'Signature',_,Y), Field(R,'Signature',_,Z),"
            " Lt(Z,X), Lt(Y,Z), Lt(X,Y).\n"
        ),
        "10,000 rules": lambda: "".join(f"A{n}(X) :- Have(X).\n" for n in range(10_000)),
        "10,000 literals": lambda: f"A(X) :- {', '.join(['Have(X)'] * 10_000)}.\n",
        "deep terms": lambda: f"A({'(' * 100_000}X).\n",
        "deep chain": lambda: _chain(300),
        "unstratified negation": lambda: "A(X) :- Have(X), not B(X).\nB(X) :- Have(X), not A(X).\n",
        "long cycle of negation": lambda: _chain(200).replace("A200(X) :- Have(X)", "A200(X) :- Have(X), not A0(X)"),
        "huge integers": lambda: f"A(X) :- Have(X), NumLt(X,'{'9' * 2_000_000}').\n",
        "huge text": lambda: f"A('{'x' * 5_000_000}') :- Have(X).\n",
        "huge name": lambda: f"{'A' * 1_000_000}(X) :- Have(X).\n",
        "wide tuples": lambda: _wide(14),
        "pages full of long texts": lambda: (
            "".join(f"L('{n:03}{_LONG}').\n" for n in range(150)) + "A(X,Y,Z) :- L(X), L(Y), L(Z).\n"
        ),
        "all entries of all trees": lambda: "A(X) :- TreeEntry(_,_,_,X).\n",
        "unsafe heads": lambda: "A(X,Y) :- Have(X).\n",
        "a string that never ends": lambda: "A(X) :- Field(X,'" + "\\'" * 100_000 + "\n",
    }
)
"""Each program by what it tries."""


def harm(name: str, store: Path) -> str:
    """Run a program as a peer's and return the code of the error it ends in."""
    try:
        program = check(parse_program(PROGRAMS[name]()))
        evaluate(program, StoreFacts(store), limits=peer_limits(_RECORDS), clock=time.monotonic)
    except LaceError as error:
        return error.code
    return ""


def peak_mb() -> float:
    """Return the most memory of this process; what a parent tells of a child includes the parent's own."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def figures(quick: bool) -> Iterator[Figure]:
    """Yield CPU seconds and peak memory of each program until its error."""
    del quick
    with tempfile.TemporaryDirectory() as text:
        with open_store(Path(text)) as store:
            add(store, [make("t/a", f"name-{n}", n) for n in range(_RECORDS)])
        for name in PROGRAMS:
            code, seconds, megabytes = _apart(name, store.path)
            what = f"{name}: {code}"
            yield Figure("hostile", what, seconds, "CPU s", "the promise", _SECONDS, 1)
            yield Figure("hostile", what, megabytes, "MB", "the promise", _MEGABYTES, 1)


def _apart(name: str, store: Path) -> tuple[str, float, float]:
    call = f"print(harm({name!r}, Path({str(store)!r})), peak_mb())"
    code = f"from tests.bench.hostile_rules import harm, peak_mb; from pathlib import Path; {call}"
    child = subprocess.Popen([sys.executable, "-c", code], cwd=_ROOT, stdout=subprocess.PIPE)
    assert child.stdout is not None
    told, _, peak = child.stdout.read().decode().strip().rpartition(" ")
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode or not told:
        raise AssertionError(f"{name} ended in no error of the house.")
    return told, used.ru_utime + used.ru_stime, float(peak)
