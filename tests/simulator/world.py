"""Vaults of a simulation: records, policies, ports over real stores, and machines whose every step is checked."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from blake3 import blake3

from lazy.interlace.ads import Fields
from lazy.interlace.documents.open_machine import OpenMachine
from lazy.interlace.limits import Limits
from lazy.interlace.link import LinkConfig
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import (
    Effect,
    FullListing,
    Input,
    PartitionListing,
    RequestList,
    Responses,
    Send,
)
from lazy.interlace.negotiate import FieldSchema, HelloTerms
from lazy.interlace.plan import GROUP_SHARED, PolicyModule
from lazy.interlace.policy import LocalFacts, local_module, registry
from lazy.interlace.result import Cursor
from tests.lazy.interlace.links import assert_invariants
from tests.lazy.interlace.stores import START, accepted, fields_of
from tests.vault.rules.stores import KEYS, make
from vault.records import Plex, RecordHash, Seal, Tai, Verifier
from vault.rules import StoreFacts, View, canonical_text, parse_program
from vault.store import Store

__all__ = [
    "HIDDEN",
    "NODES",
    "POLICIES",
    "Trace",
    "Vault",
    "WatchedMachine",
    "WatchedOpenMachine",
    "known",
    "pool",
    "terms_of",
]

NODES = tuple(Verifier(bytes([n + 1]) * 32) for n in range(5))
HIDDEN = "own/note"
_APPS = ("lace/a", "lace/b", "lace/c", "lace/data", HIDDEN)

POLICIES = {
    "shared": GROUP_SHARED.text,
    "one app": canonical_text(
        parse_program(
            "SelectHave(P) :- Have(P), Field(P,'App',_,'lace/a').\n"
            "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'App',_,'lace/a').\n"
        )
    ),
    "evidence": canonical_text(
        parse_program(
            "Active(V) :- Have(M), Field(M,'App',_,'lace/vouch'), Field(M,'Name',_,V).\n"
            "SelectHave(P) :- Have(P), Field(P,'App',_,'lace/vouch').\n"
            "SelectHave(P) :- Have(P), Field(P,'Signed-By',_,V), Active(V).\n"
            "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'App',_,'lace/vouch').\n"
            "SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'Signed-By',_,V), Active(V).\n"
        )
    ),
}
"""None negates, so what vaults end with depends on nobody's schedule (INT-134)."""


@cache
def pool() -> tuple[Plex | Seal, ...]:
    """Every record that any simulation knows: of two signers, unsigned, hidden, and who may count as a member."""
    draw = random.Random(4)
    made: list[Plex | Seal] = [make("lace/vouch", key.verifier.text, n) for n, key in enumerate(KEYS)]
    for n in range(60):
        app = _APPS[n % len(_APPS)]
        signer = None if app == "lace/data" else n % 2
        made.append(make(app, f"{app}/{n}", n, data=draw.randbytes(draw.choice((0, 9, 300))), signer=signer))
    return tuple(made)


@cache
def known() -> dict[RecordHash, Plex | Seal]:
    """The same by hash."""
    return {record.hash: record for record in pool()}


@cache
def _empty_store() -> bytes:
    """A store without records; making each anew would cost more than everything that happens to it."""
    with tempfile.TemporaryDirectory() as text:
        path = Path(text) / "store.db"
        Store(path, create=True).close()
        return path.read_bytes()


def app_of(record: Plex | Seal) -> str:
    """The App of a record."""
    return record.plex.app if isinstance(record, Seal) else record.app


class Trace:
    """What happened, as one digest, and the last lines of it for people."""

    def __init__(self) -> None:
        self._hasher = blake3()
        self.last: list[str] = []
        self.aborts = self.ends = 0

    def add(self, *what: object) -> None:
        """Note one thing that happened."""
        line = " ".join(part.hex() if isinstance(part, bytes | bytearray) else str(part) for part in what)
        self._hasher.update(line.encode() + b"\n")
        self.last = [*self.last[-30:], line[:160]]

    @property
    def digest(self) -> str:
        """The digest of everything so far."""
        return self._hasher.hexdigest()[:24]


@dataclass(slots=True)
class Vault:
    """One vault: a real store behind a port, its policy, and what it remembers of its peers.

    Args:
        number: which of them.
        path: the store's file.
        policy: the name of the policy it presents.
    """

    number: int
    path: Path
    policy: str = "shared"
    store: Store = field(init=False)
    withheld: frozenset[str] = frozenset()
    cursors: dict[int, Cursor] = field(default_factory=dict)
    own: set[RecordHash] = field(default_factory=set)
    ever: set[RecordHash] = field(default_factory=set)
    asked: Collection[RecordHash] | None = None
    _exposed: dict[RecordHash, Fields] | None = None

    def __post_init__(self) -> None:
        self.path.write_bytes(_empty_store())
        self.store = Store(self.path)
        self.store.db.execute("PRAGMA synchronous=OFF")  # what a power cut does is simulated elsewhere

    @property
    def node(self) -> Verifier:
        """Its verifier."""
        return NODES[self.number]

    def restart(self) -> None:
        """Close the store and open it again."""
        self.store.close()
        self.store = Store(self.path)
        self.store.db.execute("PRAGMA synchronous=OFF")
        self._exposed = None

    def keep(self, records: Iterable[Plex | Seal]) -> None:
        """Store records of its own."""
        kept = list(records)
        with self.store.transaction():
            self.store.add([(record, record.encode()) for record in kept])
        self.own.update(record.hash for record in kept)
        self.ever.update(self.own)
        self._exposed = None

    def withhold(self, app: str) -> None:
        """Show records of an app to nobody from now on."""
        self.withheld |= {app}
        self._exposed = None

    @property
    def held(self) -> set[RecordHash]:
        """What is in the store."""
        return {RecordHash(str(k), bytes(d)) for k, d in self.store.rows("SELECT kind, digest FROM body")}

    @property
    def visible_sql(self) -> str:
        """The positions of what others may see."""
        apps = ", ".join(f"'{app}'" for app in sorted({HIDDEN, *self.withheld}))
        return f"SELECT r.p FROM rec r JOIN sym s ON s.id = r.app WHERE s.s NOT IN ({apps})"

    @property
    def exposed(self) -> dict[RecordHash, Fields]:
        """What others may see, with fields, in the order of arrival."""
        if self._exposed is None:
            sql = f"SELECT b.kind, b.digest FROM body b WHERE b.p IN ({self.visible_sql}) ORDER BY b.p"
            found = (RecordHash(str(kind), bytes(digest)) for kind, digest in self.store.rows(sql))
            self._exposed = {record: fields_of(known()[record]) for record in found}
        return self._exposed

    def facts(self) -> LocalFacts:
        """What rules may look at here."""
        return LocalFacts(StoreFacts(self.path), View(self.visible_sql))

    def module(self) -> PolicyModule:
        """The policy it presents."""
        return GROUP_SHARED if self.policy == "shared" else local_module(POLICIES[self.policy], self.facts())

    def config(self, peer: Vault, terms: HelloTerms, **changes: object) -> LinkConfig:
        """Its side of a link."""
        base = LinkConfig(
            terms, here=self.node, proves=True, peer=peer.node, module=self.module(), registry=registry(self.facts())
        )
        return replace(base, **changes)  # type: ignore[arg-type]

    def check(self) -> None:
        """Check that nothing was lost, and that everything here is what its name says (invariants 1, 2, 10)."""
        rows = self.store.rows("SELECT kind, digest, stored(p, bytes) FROM body")
        found = {RecordHash(str(kind), bytes(digest)): bytes(stored) for kind, digest, stored in rows}
        assert found.keys() == self.ever, "The store holds something else than what was put in or validated."
        assert all(known()[record].encode() == stored for record, stored in found.items())
        assert not any(app_of(known()[record]) == HIDDEN for record in found.keys() - self.own)  # 6

    @property
    def secrets(self) -> list[bytes]:
        """What must never be in anything that this vault sends: the payloads of hashes that it shows to nobody."""
        return [record.text[2:45].encode() for record in self.own if app_of(known()[record]) == HIDDEN]

    # The port

    def have(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        return self.store.have(hashes)

    def refused(self, hashes: Collection[RecordHash]) -> set[RecordHash]:
        del hashes
        return set()

    def effective_send(self) -> Iterable[tuple[RecordHash, Fields]]:
        return list(self.exposed.items())

    def may_send(self, record: RecordHash) -> bool:
        return record in self.exposed

    def load(self, record: RecordHash) -> bytes | None:
        return self.store.stored(record)

    def accept_many(self, records: Sequence[tuple[RecordHash, bytes]]) -> Mapping[RecordHash, str]:
        if self.asked is not None:
            assert {name for name, _ in records} <= set(self.asked), "Something came that was not asked for."
        good: list[tuple[Plex | Seal, bytes]] = []
        refused = accepted(records, lambda record, data: good.append((record, data)))
        with self.store.transaction():
            self.store.add(good)
        self.ever.update(record.hash for record, _ in good)
        self._exposed = None
        return refused


class WatchedMachine(InterlaceMachine):
    """A machine of which every transition is checked against the invariants of Lace-050 (INT-17)."""

    def __init__(self, config: LinkConfig, vault: Vault, cursor: Cursor | None = None) -> None:
        super().__init__(config, vault, cursor)
        self.vault = vault
        self._last_tick = ""

    def handle(self, event: Input) -> tuple[Effect, ...]:
        """Do as a machine does, and check what came of it."""
        self.vault.asked = self.ledger.requests
        held = len(self.vault.ever)
        try:
            effects = super().handle(event)
        finally:
            self.vault.asked = None
            assert_invariants(self)  # 4, 5, 7, 12
            assert len(self.vault.ever) >= held  # 10
            if self.tick is not None:
                assert self.tick.text >= self._last_tick  # 9
                self._last_tick = self.tick.text
        for effect in effects:
            if isinstance(effect, Send):
                self._check_sent(effect)
        return effects

    def _check_sent(self, send: Send) -> None:
        exposed = self.vault.exposed
        match send.message:
            case FullListing(entries):
                assert entries.keys() <= exposed.keys()  # 8
            case PartitionListing(ads):
                assert {ad.hash for ad in ads} <= exposed.keys()  # 8
            case RequestList(hashes):
                self._check_asked(hashes)
            case Responses(records):
                selected = self._need_selection().executable.may_send(self._snapshot()) if self.config.sends else None
                for record, data in records:  # 3, 6
                    assert record in exposed
                    assert selected is None or record in selected
                    assert data == known()[record].encode()
            case _:
                pass

    def _check_asked(self, hashes: tuple[RecordHash, ...]) -> None:
        """4: each is advertised, selected by both operands, and not here."""
        if not hashes:
            return
        asked = set(hashes)
        assert asked <= self._peer_state.entries.keys()
        assert not self.vault.store.have(asked)
        assert asked <= set(self._need_selection().executable.may_request(self._snapshot()))


class WatchedOpenMachine(WatchedMachine, OpenMachine):
    """One that stays open, watched alike."""


def terms_of(draw: random.Random) -> HelloTerms:
    """Draw what one side brings into a negotiation: small limits make phases end early."""
    limits = Limits(
        max_fact_block_bytes=draw.choice((4096, 64 << 20)),
        max_partition_summaries=draw.choice((1, 6, 16_384, 16_384)),
        max_total_transferred_bytes=draw.choice((4_000, 1 << 30, 1 << 30)),
        max_loop_iterations=draw.choice((2, 16, 16)),
    )
    fields = FieldSchema(all_fields=True) if draw.random() < 0.5 else FieldSchema(frozenset({"App", "Signed-By"}))
    later = Tai(START.seconds + draw.randrange(100))
    return HelloTerms(later, schema=fields, limits=limits, narrows=draw.random() < 0.8)
