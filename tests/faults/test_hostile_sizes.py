"""What a mailbox says of sizes costs no more than that mailbox (LAZ-70, CYB-17; faults.md rows 3, 13 and 14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lazy.places import adding
from lazy.sync import sync
from lazy.visits.publish import publish_mine
from tests.faults.circle import PLACE, around, befriend, records_in, release_text, visit, write
from tests.faults.hostile import Scene
from transports.index.runs import BundleRef, Location, Run, RunBuilder
from transports.layout import bundle_name
from transports.mailbox import Mailbox
from transports.reading import read_head
from vault import releasing
from vault.errors import Cancelled
from vault.records import RecordHash, Seal, Verifier, parse_record
from vault.space import NoRoom
from vault.vault import Vault
from vault.watch import Watch

_GIB = 1 << 30


def with_free(scene: Scene, free: int) -> Vault:
    """Alice's vault on a disk with so many bytes free."""
    scene.alice.close()
    world = replace(around(scene.root, "alice"), free_bytes=lambda _path: free)
    return Vault(scene.root / "alice" / "f", world)


def claim(scene: Scene, count: int, *, frames: int) -> None:
    """Let Mallory list records of 33 MiB each, in so many frames of a bundle that is nowhere."""
    hostile, digest, size = scene.hostile, b"\7" * 32, 33 << 20
    bundle = BundleRef(scene.mallory.node, bundle_name(digest), digest, 1 << 20)
    builder = RunBuilder()
    for number in range(count):
        record = RecordHash("S", number.to_bytes(4, "big") * 8)
        builder.add(record, "lace/label", Location(bundle, 8 + number % frames, 1000, size, 0, size))
    writer = hostile.drop.writer(scene.group, scene.mallory.node)
    writer.publish_head(hostile.head([*hostile.runs(), writer.add_run(builder.build())]).encode())


def test_records_that_overlap_are_counted_as_what_their_frame_holds(scene: Scene) -> None:
    """LAZ-70: a run that says 660 GB of one frame keeps nobody's records away; it names what is not there."""
    bob = befriend(scene.root, scene.alice, "bob")
    released = release_text(bob, "from bob\n")
    visit(bob)
    claim(scene, 20_000, frames=1)
    with with_free(scene, _GIB) as alice:
        result = visit(alice)
        assert [problem.code for problem in result.problems] == ["not-available"]
        assert released in records_in(alice)


def test_what_one_mailbox_claims_keeps_nobody_else_away(scene: Scene) -> None:
    """LAZ-70, fault 3: it is told of that mailbox, whose name is said; others are read, there and at other places."""
    bob = befriend(scene.root, scene.alice, "bob")
    for vault in (scene.alice, bob):
        adding.add_place(vault, "other", str(scene.root / "other"), cwd=scene.root)
    sync(scene.alice, ["other"])
    sync(bob, ["other"])
    first = release_text(bob, "at the stick\n")
    visit(bob)
    claim(scene, 2_000, frames=2_000)
    with with_free(scene, _GIB) as alice:
        result = visit(alice)
        assert [(problem.code, problem.peer) for problem in result.problems] == [("no-room", "mallory")]
        assert "from mallory needs up to" in result.problems[0].message
        assert "Free some space" in result.problems[0].hint
        assert first in records_in(alice)
        second = release_text(bob, "at the other place\n")
        sync(bob, ["other"])
        there, elsewhere = sync(alice, [PLACE, "other"])  # what lies at the first is the same lie and nothing else
        assert there.queued
        assert [problem.code for problem in there.problems] == ["no-room"]
        assert not elsewhere.problems
        assert second in records_in(alice)
        with pytest.raises(NoRoom, match="from mallory"):
            visit(alice)
        sync(alice, ["other"])


def test_a_stop_is_heard_while_what_others_list_of_mine_is_read(scene: Scene) -> None:
    """CYB-17: whoever lists what I am about to publish makes me read it, and may make that long."""
    write(scene.alice, "b.txt", "second\n")
    releasing.release(scene.alice, None, "second")
    mine = {record: parse_record(stored) for record, stored in records_in(scene.alice).items()}
    scene.put(
        *(one for record, one in mine.items() if isinstance(one, Seal) and record not in records_in(scene.mallory))
    )

    def stop() -> None:
        raise Cancelled("No more.")

    before = read_head(Mailbox(scene.hostile.drop, scene.group, scene.alice.node))
    with pytest.raises(Cancelled, match="The transfer was stopped"):
        publish_mine(scene.alice, scene.hostile.drop, Watch(cancelled=stop), name="stick")
    assert read_head(Mailbox(scene.hostile.drop, scene.group, scene.alice.node)) == before


@pytest.mark.parametrize("what", ["Apps", "bundles"])
def test_tables_of_a_strangers_runs_are_counted_as_what_they_take(scene: Scene, what: str) -> None:
    """LAZ-71, faults.md row 14: without an entry, some hundred kilobytes a run took gigabytes of memory together."""
    writer = scene.hostile.drop.writer(scene.group, scene.stranger.verifier)
    runs = [writer.add_run(run) for run in long_tables(what, 20 if what == "Apps" else 9)]
    scene.hostile.key = scene.stranger
    writer.publish_head(scene.hostile.head(runs, node=scene.stranger.verifier).encode())
    result = visit(scene.alice)
    assert [problem.code for problem in result.problems] == ["stranger"]
    read = result.traffic.bytes_read
    assert runs[0].size * 3 < read < sum(run.size for run in runs) * 0.6


def long_tables(what: str, count: int) -> Iterator[Run]:
    """Runs of nothing but one table, as long as it may be."""
    apps: tuple[str, ...] = ()
    bundles: tuple[BundleRef, ...] = ()
    if what == "Apps":
        apps = tuple(f"{at:0126x}" for at in range(0x10000))
    else:
        digests = [at.to_bytes(4, "big") * 8 for at in range(0x10000)]
        bundles = tuple(BundleRef(Verifier(bytes(32)), bundle_name(each), each, 1 << 20) for each in digests)
    yield from (Run((f"r-{number:032x}.run",), apps, bundles, b"", b"") for number in range(count))
