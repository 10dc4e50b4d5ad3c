"""What policies cost over a large store, beside plain Python dictionaries that answer the same program.

The store is written row by row, as a vault's views would stand, with one sealed record of two links and two headers
each. The dictionaries hold the same facts, ready in memory; what they cost to fill is not counted.
"""

from __future__ import annotations

import random
import resource
import sqlite3
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from blake3 import blake3

from lazy.interlace.ads import Fields
from lazy.interlace.plan import GROUP_SHARED, Evaluation
from tests.bench.table import Figure
from vault.records import RecordHash
from vault.rules import ConnectionPool, Incremental, Limits, StoreFacts, check, evaluate, parse_program
from vault.rules.check import Checked
from vault.rules.headers import text_of
from vault.store import Store

__all__ = ["figures"]

_ENOUGH = Limits(tuples=4_000_000, rounds=1_000_000, seconds=120, steps=10**11, temp_pages=1 << 19)
_IN_PREFIX = 500
_REACH = "Reach(P) :- Field(P,'Tag',_,'root').\nReach(Q) :- Reach(P), RecordLink(P,_,_,'prev',Q), Have(Q).\n"
_PREFIX = "SelectHave(P) :- Field(P,'App',_,'t/rec'), Field(P,'Name',_,N), Prefix(N,'n/00000002/'), Have(P).\n"


@dataclass(slots=True)
class _Facts:
    """The same facts in dictionaries."""

    texts: list[str] = field(default_factory=list)
    have: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    prev: dict[str, str] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)


def figures(quick: bool) -> Iterator[Figure]:
    """Yield whole evaluations, ten new records and a prefix, beside dictionaries and beside the promised times."""
    count, repeats = (20_000, 3) if quick else (1_000_000, 5)
    with tempfile.TemporaryDirectory() as text:
        path = Path(text) / "store.db"
        facts = _Facts()
        with Store(path, create=True) as store:
            _fill(store.db, facts, 0, count)
            yield from _measured(store, facts, count, 1 if quick else 2, repeats)


def _measured(store: Store, facts: _Facts, count: int, wholes: int, repeats: int) -> Iterator[Figure]:
    source, size = StoreFacts(store.path), f"{count:,} records"
    default = check(parse_program(GROUP_SHARED.text)).only(["SelectHave"])
    reach, prefix = (check(parse_program(text)) for text in (_REACH, _PREFIX))

    def tuples(program: Checked, query: str) -> Callable[[], set[str]]:
        return lambda: {row[0] for row in evaluate(program, source, queries=[query], limits=_ENOUGH)[query]}

    mine, plain = _both(tuples(default, "SelectHave"), lambda: {p for p in facts.have if p in facts.shared}, wholes)
    yield from _figure(f"default policy over {size}", mine, plain, 4, "CPU s")
    mine, plain = _both(tuples(reach, "Reach"), lambda: _reach(facts), wholes)
    yield from _figure(f"reachability over {size}", mine, plain, None, "CPU s")
    advertised: dict[RecordHash, Fields] = {RecordHash.parse(text): (("App", 0, "lace/rev"),) for text in facts.texts}
    evaluation = Evaluation("peer", advertised)
    mine, plain = _both(lambda: GROUP_SHARED.select(evaluation), lambda: _select(advertised), wholes)
    yield from _figure(f"default policy over {count:,} advertisements", mine, plain, 4, "CPU s")
    yield from _prefix(prefix, source, facts, size, repeats * 4)
    by_hand: tuple[tuple[str, Checked, Callable[[], object]], ...] = (
        ("default policy", default, lambda: {p for p in facts.have if p in facts.shared}),
        ("reachability", reach, lambda: _reach(facts)),
    )
    for what, program, plainly in by_hand:
        with Incremental(program, source, limits=_ENOUGH) as kept:
            costs = []
            for _ in range(repeats):
                _fill(store.db, facts, len(facts.texts), 10)
                costs.append(_cost(kept.refresh)[0])
            whole, _ = _cost(plainly)
            yield from _figure(
                f"{what}, 10 new among {size}", 1000 * statistics.median(costs), 1000 * whole, 10, "CPU ms"
            )


def _prefix(program: Checked, source: StoreFacts, facts: _Facts, size: str, repeats: int) -> Iterator[Figure]:
    """A small scope: on a connection that is opened for it, and on one that is at hand."""
    with ConnectionPool() as pool:
        for how, given, promised in ((", store opened for it", source, None), ("", replace(source, pool=pool), 2)):

            def found(given: StoreFacts = given) -> set[str]:
                return {
                    row[0] for row in evaluate(program, given, queries=["SelectHave"], limits=_ENOUGH)["SelectHave"]
                }

            mine, plain = _both(found, lambda: _under(facts), repeats)
            what = f"prefix of {_IN_PREFIX} among {size}{how}"
            yield from _figure(what, 1000 * mine, 1000 * plain, promised, "CPU ms")


def _figure(what: str, mine: float, plain: float, promised: float | None, unit: str) -> Iterator[Figure]:
    yield Figure("policy", what, mine, unit, "the same program over Python dicts", plain)
    if promised is not None:
        yield Figure("policy", what, mine, unit, "the promise", promised, 1)


def _both(mine: Callable[[], object], plain: Callable[[], object], repeats: int) -> tuple[float, float]:
    costs: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        first, one = _cost(mine)
        second, other = _cost(plain)
        if one != other:
            raise AssertionError("Both must give the same tuples.")
        costs[0].append(first)
        costs[1].append(second)
    return statistics.median(costs[0]), statistics.median(costs[1])


def _cost(act: Callable[[], object]) -> tuple[float, object]:
    start = _cpu()
    result = act()
    return _cpu() - start, result


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# The same programs by hand


def _reach(facts: _Facts) -> set[str]:
    found = set(facts.roots)
    waiting = list(found)
    while waiting:
        target = facts.prev.get(waiting.pop())
        if target is not None and target in facts.have and target not in found:
            found.add(target)
            waiting.append(target)
    return found


def _select(advertised: Mapping[RecordHash, Fields]) -> set[RecordHash]:
    return {
        record
        for record, fields in advertised.items()
        if any(name == "App" and value.startswith("lace/") for name, _, value in fields)
    }


def _under(facts: _Facts) -> set[str]:
    return {p for p, name in facts.names.items() if name.startswith("n/00000002/")}


# The store


def _fill(db: sqlite3.Connection, facts: _Facts, first: int, count: int) -> None:
    """Append records: nine of ten are shared, each names the one before, and each hundredth is a root."""
    draw = random.Random(first)
    numbers: dict[str, int] = dict(db.execute("SELECT s, id FROM sym").fetchall())

    def number(text: str) -> int:
        if text not in numbers:
            numbers[text] = len(numbers) + 1
            db.execute("INSERT INTO sym VALUES (?, ?)", (numbers[text], text))
        return numbers[text]

    db.execute("BEGIN")
    group, app, signer = number("friends/x"), number("t/rec"), number("V.x")
    link, prev, about, tag, root = (number(text) for text in ("+Link", "prev", "about", "Tag", "root"))
    other = number("Other")
    tags = [number(f"tag-{n}") for n in range(1000)]
    rows: dict[str, list[tuple[object, ...]]] = {name: [] for name in ("body", "rec", "field", "link", "shared")}
    for n in range(first, first + count):
        digest, p = blake3(n.to_bytes(8, "big")).digest(), n + 1
        text, name = text_of("S", digest), f"n/{n // _IN_PREFIX:08}/{n:08}"
        is_root = n % 100 == 99
        rows["body"].append((p, "S", digest, b"x" * 100))
        rows["rec"].append((p, group, app, name, signer, "1700000000:000000000", 0, blake3(digest).digest()))
        rows["field"] += [(p, tag, 0, root if is_root else draw.choice(tags)), (p, other, 0, draw.choice(tags))]
        facts.texts.append(text)
        facts.have.add(text)
        facts.names[text] = name
        if n % 100:
            rows["link"].append((p, link, 0, prev, facts.texts[n - 1]))
            facts.prev[text] = facts.texts[n - 1]
        if n:
            rows["link"].append((p, link, 1, about, facts.texts[draw.randrange(n)]))
        if is_root:
            facts.roots.append(text)
        if n % 10:
            rows["shared"].append((p, 1))
            facts.shared.add(text)
        if len(rows["body"]) == 20_000:
            _write(db, rows)
    _write(db, rows)
    db.execute("INSERT OR REPLACE INTO counts SELECT ?, max(p), 0 FROM rec", (app,))
    db.execute("COMMIT")


def _write(db: sqlite3.Connection, rows: dict[str, list[tuple[object, ...]]]) -> None:
    for table, found in rows.items():
        marks = ", ".join("?" * len(found[0])) if found else ""
        if found:
            db.executemany(f"INSERT INTO {table} VALUES ({marks})", found)
    db.executemany("INSERT INTO exposure(p) VALUES (?)", [(row[0],) for row in rows["shared"]])
    for found in rows.values():
        found.clear()
