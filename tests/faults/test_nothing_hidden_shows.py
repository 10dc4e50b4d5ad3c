"""What a peer receives does not depend on what is hidden from it (FAC-7, FAC-16, INT-47, INT-98, INT-165).

Pairs of stores that differ only in records a peer is not shown: the bytes it receives are the same, in a live exchange
whose peer brings rules that look for the hidden, and in a mailbox. Some pairs here; two hundred with
`LACE_HIDDEN_PAIRS=200`.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from lazy.interlace.documents.engine import Engine, EngineSide
from lazy.interlace.documents.wire import encode
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import Effect, HelloMessage, Input, Received, RequestList, Responses, Send, Start
from lazy.interlace.plan import GROUP_SHARED, PolicyModule
from lazy.interlace.policy import local_module, registry
from lazy.places.adding import add_place
from lazy.places.registry import serving
from lazy.places.roads import open_place
from lazy.visits.publish import publish_mine
from tests.lazy.interlace.links import config
from tests.lazy.interlace.stores import ALICE, BOB
from tests.lazy.interlace.vaultport import StorePort
from tests.vault.rules.stores import add, make, open_store, share
from tests.vault.vaults import around, found, write
from transports.mailbox import Mailbox
from transports.reading import read_head
from transports.snapshot import SnapshotHead
from vault.folder.work import commit
from vault.records import Plex, RecordHash, Seal
from vault.releasing import release
from vault.rules import canonical_text, parse_program
from vault.vault import Vault

PAIRS = int(os.environ.get("LACE_HIDDEN_PAIRS", "12"))
APPS = ("lace/a", "lace/b", "lace/secret")
ABSENT = RecordHash("S", b"\x55" * 32)


# Live: two stores, one peer with rules that look around


def _records(draw: Random, count: int, first: int, targets: list[str]) -> list[Plex | Seal]:
    made: list[Plex | Seal] = []
    for n in range(first, first + count):
        links = tuple(("about", draw.choice(targets)) for _ in range(draw.randrange(3)) if targets)
        tags = tuple(("Tag", draw.choice("xyz")) for _ in range(draw.randrange(3)))
        made.append(make(draw.choice(APPS), f"n/{n}", n, tags, links))
        targets.append(made[-1].hash.text)
    return made


def _probe(draw: Random, hidden: list[str]) -> str:
    """A program of a peer who guesses what might be hidden: hashes, apps, targets, absence, numbers of records."""
    named = draw.choice(hidden) if hidden else ABSENT.text
    bodies = [
        "Have(P)",
        f"Have(P), Have('{named}')",
        f"Have(P), not Have('{named}')",
        f"Have(P), RecordLink(P,_,_,_,'{named}')",
        "Have(P), RecordLink(P,_,_,_,Q), not Have(Q)",
        "Have(P), RecordLink(P,_,_,_,Q), Have(Q)",
        "Have(P), Field(Q,'App',_,'lace/secret'), Ne(P,Q)",
        "Have(P), not Exists()",
        "Have(P), Shared(Q), Field(Q,'Tag',_,T), Field(P,'Tag',_,T)",
        "Have(P), BlobHash(Q,_), Lt(P,Q)",
        "Have(P), TreeEntry(P,_,_,_)",
    ]
    rules = [f"SelectHave(P) :- {body}.\n" for body in draw.sample(bodies, 2)]
    rules.append("Exists() :- Field(_,'App',_,'lace/secret').\n")
    more = draw.choice(["Have(Q), Ne(P,Q)", "not Exists()", "Advertised(_,S)"])
    rules.append(f"SelectAdvertised(P,S) :- Advertised(P,S), {more}.\n")
    return canonical_text(parse_program("".join(rules)))


class _Recorded(Engine):
    """An engine that keeps what its first side sends, as it travels."""

    def __init__(self, one: EngineSide, other: EngineSide) -> None:
        super().__init__(one, other)
        self.sent: list[object] = []

    def _queue(self, sender: int, effects: Iterable[Effect]) -> None:
        effects = tuple(effects)
        if sender == 0:
            machine = self._sides[0].machine
            self.sent += [self._parcel(machine, effect) for effect in effects if isinstance(effect, Send)]
        super()._queue(sender, effects)


def _flights(
    folder: Path, shown: list[Plex | Seal], hidden: list[Plex | Seal], mixed: Random, probe: str
) -> list[object]:
    """Everything bob receives from a store with these records, in the order in which they arrived there."""
    folder.mkdir(parents=True)
    everything = [(mixed.random() * len(shown), record) for record in hidden]
    everything += [(float(n), record) for n, record in enumerate(shown)]
    everything.sort(key=lambda pair: pair[0])
    (folder / "bob").mkdir()
    with open_store(folder) as store, open_store(folder / "bob") as other:
        add(store, [record for _, record in everything])
        share(store, [record.hash for record in shown])
        alice, bob = StorePort(store), StorePort(other)
        theirs: PolicyModule = local_module(probe, bob.facts)
        one = InterlaceMachine(config(module=GROUP_SHARED, registry=registry(alice.facts)), alice)
        two = InterlaceMachine(config(alice=False, module=theirs, registry=registry(bob.facts)), bob)
        engine = _Recorded(EngineSide(one, ALICE), EngineSide(two, BOB))
        engine.run()
        return engine.sent


@pytest.mark.parametrize("seed", range(PAIRS))
def test_a_live_peer_receives_the_same_bytes(tmp_path: Path, seed: int) -> None:
    """Invariant 6 of the exchange: whatever a peer's rules ask, the answer is one of the shown records alone."""
    draw = Random(seed)
    targets: list[str] = []
    shown = _records(draw, draw.randrange(1, 6), 0, targets)
    hidden = [_records(draw, draw.randrange(5), 100 * side, list(targets)) for side in (1, 2)]
    probe = _probe(draw, [record.hash.text for record in (*hidden[0], *hidden[1])])
    one, other = (_flights(tmp_path / str(side), shown, hidden[side], Random(seed + side), probe) for side in (0, 1))
    assert one == other
    assert one


def test_a_request_for_a_hidden_record_is_answered_as_for_an_absent_one(tmp_path: Path) -> None:
    """INT-113: no answer, byte or order tells whether a hidden record is here."""
    shown, hidden = make("lace/a", "n", 1), make("lace/a", "m", 2)
    with open_store(tmp_path) as store:
        add(store, [shown, hidden])
        share(store, [shown.hash])
        answers = {}
        for asked in (hidden.hash, ABSENT):
            alice = InterlaceMachine(config(), StorePort(store))
            (tmp_path / asked.text[2:6]).mkdir()
            with open_store(tmp_path / asked.text[2:6]) as other:
                bob = InterlaceMachine(config(alice=False), StorePort(other))
                answers[asked] = _answer(alice, bob, asked)
    blocks = {asked: [block.replace(asked.text.encode(), b"?") for block in found] for asked, found in answers.items()}
    assert blocks[hidden.hash] == blocks[ABSENT] != []


def _answer(alice: InterlaceMachine, bob: InterlaceMachine, asked: RecordHash) -> list[bytes]:
    """Return what alice answers when bob's request list is replaced by one record."""
    waiting: deque[tuple[InterlaceMachine, Effect]] = deque()

    def hand(machine: InterlaceMachine, event: Input, to: InterlaceMachine) -> None:
        waiting.extend((to, effect) for effect in machine.handle(event))

    hand(alice, Start(), bob)
    hand(bob, Start(), alice)
    while True:
        machine, effect = waiting.popleft()
        assert isinstance(effect, Send)
        message = effect.message
        if machine is alice and isinstance(message, RequestList):
            sent = machine.handle(Received(RequestList((asked,))))
            assert [e.message for e in sent if isinstance(e, Send) and isinstance(e.message, Responses)] == [
                Responses((), (asked,))
            ]
            return [
                block
                for e in sent
                if isinstance(e, Send) and isinstance(e.message, Responses)
                for block in encode(e, source=alice.config.source, limit=1 << 20)
            ]
        proven = (ALICE if machine is bob else BOB) if isinstance(message, HelloMessage) else None
        hand(machine, Received(message, proven), alice if machine is bob else bob)


# Mailboxes


def _hide(vault: Vault, draw: Random) -> None:
    """Do what is never shared: commits that are not released, looks, an invitation, a stranger's record."""
    for n in range(draw.randrange(4)):
        write(vault, f"hidden-{draw.randrange(99)}/{n}.txt", draw.randbytes(draw.randrange(200)).hex())
        commit(vault, f"hidden {draw.random()}")
    with vault.writing() as w:
        for _ in range(draw.randrange(3)):
            w.audit("lace-look", str(draw.random()), {})


@pytest.mark.parametrize("seed", range(PAIRS // 3 if PAIRS < 200 else PAIRS))
def test_a_mailbox_holds_the_same_bytes(tmp_path: Path, seed: int) -> None:
    """CLAY-65, H-11: head, index and bundles are equal; with `announce-unreleased` only that number may differ."""
    draw, announces = Random(seed), bool(seed % 2)
    base = found(tmp_path)
    base.settings.set("announce-unreleased", "true" if announces else "false").save()
    add_place(base, "stick", str(tmp_path / "stick"), cwd=tmp_path)
    for n in range(draw.randrange(1, 3)):
        write(base, f"shown-{n}.txt", draw.randbytes(draw.randrange(400)).hex())
        release(base)
    if draw.random() < 0.5 and not announces:  # a number that changed is a reason to write a new head
        publish_mine(base, open_place(serving(base, "stick")[0]), name="stick")
    base.close()
    parts = ("alice", "home-alice", "stick")
    for part in parts:
        shutil.copytree(tmp_path / part, tmp_path / "saved" / part)
    seen: list[tuple[dict[str, bytes], SnapshotHead]] = []
    for side in (0, 1):
        for part in parts:
            shutil.rmtree(tmp_path / part)
            shutil.copytree(tmp_path / "saved" / part, tmp_path / part)
        with Vault(tmp_path / "alice", around(tmp_path, "alice")) as vault:
            _hide(vault, Random(1000 * seed + side))
        with Vault(tmp_path / "alice", around(tmp_path, "alice")) as vault:
            seen.append(_published(vault))
    (one, head), (other, second) = seen
    assert one.keys() == other.keys()
    if announces:
        assert head.unreleased is not None
        assert replace(head, unreleased=0) == replace(second, unreleased=0)
        heads = {path for path in one if one[path] != other[path]}
        assert len(heads) <= 1
    else:
        assert head.unreleased is None
        assert one == other


def _published(vault: Vault) -> tuple[dict[str, bytes], SnapshotHead]:
    """Publish onto the stick and return what lies there, and the head."""
    (place,) = serving(vault, "stick")
    medium = open_place(place)
    publish_mine(vault, medium, name=place.name)
    head = read_head(Mailbox(medium, vault.group, vault.node))
    assert head is not None
    stick = vault.folder.parent / "stick"
    files = {str(path.relative_to(stick)): path.read_bytes() for path in sorted(stick.rglob("*")) if path.is_file()}
    return files, head.head
