"""The parsers of what a friend says in a line or file of text, and of what lies beside the store, for the fuzzer."""

from __future__ import annotations

import io
import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType
from typing import cast

from blake3 import blake3

from lace_tui.cli.changesets import read_changes
from lace_tui.cli.context import Context
from lace_tui.keys.taste import read_taste
from lazy.live.cursors import ExposureCursor
from lazy.live.outcome import Outcome
from lazy.live.standing import Standing
from tests.lazy.interlace.links import hello_facts
from transports.filecache import FileCache, _read
from transports.snapshot import LogReach
from vault.desks import changeset
from vault.desks.changeset import ChangeSet, Delete, Insert, Mutate
from vault.desks.patches import between
from vault.identity import keys
from vault.records import RecordHash
from vault.rules.facts import format_facts, parse_facts
from vault.suite import SigningKey

__all__ = ["WORDS"]

_KEY = SigningKey.from_seed(bytes(range(2, 34)))
_HASH = RecordHash("P", bytes(32))
_SUM = 32


@cache
def _directory() -> Path:
    return Path(mkdtemp(prefix="fuzz-"))


def _outcome(data: bytes) -> None:
    found = Outcome.decode(data)
    assert Outcome.decode(found.encode()).refused == found.refused


def _standing(data: bytes) -> None:
    found = Standing.decode(data)
    assert Standing.decode(found.encode()) == found


def _standings() -> tuple[bytes, ...]:
    here = ExposureCursor("0123456789abcdef" * 2, 7, "ab" * 8)
    vector = (LogReach(_KEY.verifier, 3, bytes(32), is_forked=False),)
    hello = tuple(map(str, hello_facts()))
    full = Standing(
        "E.x", "M.y", "selector", hello, vector, 2, here, here, 7, True, False, b"beacon", 1, b"hints", here
    )
    short = Standing("E.x", "M.y", "selector", (), None, None, here, None, digest=bytes(32))
    return (full.encode(), short.encode())


def _changes(data: bytes) -> None:
    context = cast("Context", Namespace(world=Namespace(stdin=Namespace(buffer=io.BytesIO(data)))))
    found = read_changes(context, "-")
    assert changeset.parse(json.loads(json.dumps(changeset.values(found)))) == found


def _sets() -> tuple[bytes, ...]:
    old, new = b"one\ntwo\nthree\n", b"one\n2\nthree\nfour\n"
    patch = between(old, new)
    changes: dict[str, Insert | Delete | Mutate] = {
        "a.txt": Mutate(_HASH, patch, "-"),
        "b.bin": Insert(b"\0\xff", "f", "x"),
        "c": Insert(None, "d", "-"),
    }
    return (json.dumps(changeset.values(ChangeSet(_HASH, _HASH, changes))).encode(),)


def _facts(data: bytes) -> None:
    found = parse_facts(data)
    lines = [line for predicate, rows in found.items() for line in format_facts(predicate, rows)]
    again = parse_facts("".join(f"{line}\n" for line in lines).encode())  # sorted as lines, and not as tuples
    assert {k: sorted(v) for k, v in again.items()} == {k: sorted(v) for k, v in found.items()}


def _kept(data: bytes) -> None:
    """Judge the bytes as they are, and with a digest that fits."""
    _read(data)
    _read(data[:-_SUM] + blake3(data[:-_SUM]).digest())
    (_directory() / "medium").write_bytes(data)
    FileCache(_directory(), "medium")._all()


def _kepts() -> tuple[bytes, ...]:
    body = b"lace-kept/0\n" + b"".join(
        bytes(32) + number.to_bytes(8, "big") + len(data).to_bytes(4, "big") + data
        for number, data in enumerate((b"a head", b"a beacon"))
    )
    return (body + blake3(body).digest(),)


def _key(data: bytes) -> None:
    keys._parse(data.decode("latin-1"))


def _key_files() -> tuple[bytes, ...]:
    store = keys.KeyStore(_directory(), ops=1, memory=keys._MIN_MEMORY)
    made = store.create(bytes(range(3, 35)))
    plain = store.path(made.verifier).read_bytes()
    store.protect(made.verifier, b"words")
    return (plain, store.path(made.verifier).read_bytes())


def _taste(data: bytes) -> None:
    (_directory() / "config.toml").write_bytes(data)
    read_taste(_directory())


WORDS: Mapping[str, tuple[Callable[[bytes], object], Callable[[], tuple[bytes, ...]]]] = MappingProxyType(
    {
        "outcome": (_outcome, lambda: (Outcome(3, (("S.x", "code", "a reason"),)).encode(),)),
        "standing": (_standing, _standings),
        "changes": (_changes, _sets),
        "facts": (_facts, lambda: (b"Member('V.x')\n", b"")),
        "kept": (_kept, _kepts),
        "key": (_key, _key_files),
        "taste": (_taste, lambda: (b'theme = "dark"\n',)),
    }
)
"""Targets by name: what is run, and what it begins with."""
