"""What a live server answers does not depend on what it hides (CLAY-65, INT-98, INT-113; architecture, section 5).

Pairs of vaults that differ only in what nobody released, what was looked at and who was invited: the same visitor gets
the same bytes, trip after trip; with `announce-unreleased` on, only that number differs. Some pairs here; two hundred
with `LACE_HIDDEN_PAIRS=200`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from lazy.belonging.circle import accept, invite
from lazy.live.serving import Service
from lazy.live.standing import TIERS, Standing
from lazy.live.terse import shared_words
from lazy.places.adding import add_place
from lazy.sync import sync
from tests.faults.test_nothing_hidden_shows import PAIRS, _hide
from tests.vault.vaults import around, found, write
from transports.http.stream import Frame, FrameKind, Source, StreamReader, StreamWriter
from vault.folder.work import commit
from vault.records import RecordHash, Verifier
from vault.releasing import release
from vault.surroundings import Surroundings
from vault.vault import Vault

PARTS = ("alice", "bob", "home-alice", "stick")
ABSENT = RecordHash("S", b"\x55" * 32)


def _bobs(root: Path) -> Surroundings:
    """Bob on alice's machine, which has the keys of both, so that the two may exchange in this process."""
    alices = around(root, "alice")
    return replace(around(root, "bob"), data_root=alices.data_root, machine=alices.machine)


def _circle(root: Path, *, announces: bool, draw: Random) -> None:
    """Alice and bob know each other; alice has released since, and serves bob her directory."""
    alice = found(root)
    alice.settings.set("announce-unreleased", "true" if announces else "false").save()
    add_place(alice, "stick", str(root / "stick"), cwd=root)
    (root / "bob").mkdir()
    bob, _ = accept(root / "bob", _bobs(root), invite(alice, "bob").encode(), name="bob")
    for vault in (alice, bob, alice, bob):
        sync(vault, ["stick"])
    for n in range(draw.randrange(1, 3)):
        write(alice, f"shown-{n}.txt", draw.randbytes(draw.randrange(400)).hex())
        release(alice)
    add_place(bob, "alices", str(root / "alice"), cwd=root)
    alice.close()
    bob.close()
    for part in PARTS:
        shutil.copytree(root / part, root / "saved" / part)


def _restored(root: Path) -> None:
    for part in PARTS:
        shutil.rmtree(root / part)
        shutil.copytree(root / "saved" / part, root / part)


def _visit(root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[bytes], list[bytes]]:
    """Let bob visit alice; return what he sent and what he got, a body each trip."""
    sent: list[bytes] = []
    got: list[bytes] = []
    exchange = Service.exchange

    def recorded(self: Service, node: Verifier, source: Source, write: Callable[[bytes], object]) -> None:
        body, answer = source.read(1 << 30), BytesIO()
        exchange(self, node, BytesIO(body), answer.write)
        sent.append(body)
        got.append(answer.getvalue())
        write(answer.getvalue())

    with monkeypatch.context() as patched:
        patched.setattr(Service, "exchange", recorded)
        with Vault(root / "bob", _bobs(root)) as bob:
            (result,) = sync(bob, ["alices"])
            assert not result.problems
    return sent, got


def _differing(root: Path, draw: Random, side: int) -> None:
    _restored(root)
    with Vault(root / "alice", around(root, "alice")) as alice:
        _hide(alice, Random(draw.random() + side))


def _frames(root: Path, body: bytes, told: bytes = b"") -> list[Frame]:
    """Read a body of bob's, or alice's answer to what bob told."""
    with Vault(root / "bob", _bobs(root)) as bob, Vault(root / "alice", around(root, "alice")) as alice:
        shared = shared_words(bob, alice.node, tiers=TIERS, told=told)
    return list(StreamReader(BytesIO(body), shared=shared))


@pytest.mark.parametrize("seed", range(PAIRS // 3 if PAIRS < 200 else PAIRS))
def test_a_visitor_gets_the_same_bytes(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLAY-65, INT-98, LAZ-57: every body of every trip; only what is announced on purpose may differ."""
    draw, announces = Random(seed), bool(seed % 2)
    _circle(tmp_path, announces=announces, draw=draw)
    bodies = []
    for side in (0, 1):
        _differing(tmp_path, Random(seed), side)
        bodies.append(_visit(tmp_path, monkeypatch))
    (asked, one), (asks, other) = bodies
    assert one
    assert asked[0] == asks[0]
    if not announces:
        assert one == other
        return
    assert len(one) == len(other)
    for request, first, second in zip(asked, one, other, strict=True):
        told = _frames(tmp_path, request)[0].data
        mine, theirs = _frames(tmp_path, first, told), _frames(tmp_path, second, told)
        standings = [Standing.decode(frames[0].data) for frames in (mine, theirs)]
        assert all(standing.unreleased is not None for standing in standings)
        assert standings[0]._replace(unreleased=0) == standings[1]._replace(unreleased=0)
        assert mine[1:] == theirs[1:]


def test_a_name_that_is_hidden_is_answered_as_one_that_is_not_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """INT-113, INT-155, DWN-72: asked for by its whole hash, by a member, over the road that answers."""
    _circle(tmp_path, announces=False, draw=Random(1))
    sent, _ = _visit(tmp_path, monkeypatch)
    _restored(tmp_path)
    with Vault(tmp_path / "alice", around(tmp_path, "alice")) as alice:
        write(alice, "secret.txt", "nobody may read this")
        made = commit(alice, "hidden")
        assert made
        shown = alice.store.rows("SELECT b.digest FROM body b JOIN shared s USING (p) WHERE b.kind = 'S'")
        tree = alice.store.rows("SELECT b.kind, b.digest FROM body b LEFT JOIN shared s USING (p) WHERE s.p IS NULL")
    hidden = {made.commit, *(RecordHash(str(kind), bytes(digest)) for kind, digest in tree)}
    assert len(hidden) > 2
    answers = {name: _asked(tmp_path, sent[0], name) for name in (ABSENT, *sorted(hidden))}
    assert set(answers.values()) == {answers[ABSENT]}
    assert _asked(tmp_path, sent[0], RecordHash("S", bytes(shown[0][0]))) != answers[ABSENT]


def _asked(root: Path, body: bytes, name: RecordHash) -> bytes:
    """Return alice's answer to bob's first body with one record asked for by name."""
    out, answer = BytesIO(), BytesIO()
    writer = StreamWriter(out.write)
    for frame in _frames(root, body):
        if frame.kind is FrameKind.INFO:
            writer.info(frame.data)
    writer.names([name])
    writer.end()
    with closing(Vault(root / "bob", _bobs(root))) as bob:
        node = bob.node
    service = Service(lambda: Vault(root / "alice", around(root, "alice")), lambda _: None)
    service.exchange(node, BytesIO(out.getvalue()), answer.write)
    return answer.getvalue()
