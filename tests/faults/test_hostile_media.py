"""Bytes that are not what they are called, and bytes that rot: named, and the good arrives (LAZ-69 to LAZ-72)."""

from __future__ import annotations

import random
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from lazy.belonging import circle
from lazy.people import members
from tests.faults.circle import (
    PLACE,
    Hostile,
    around,
    befriend,
    befriended,
    open_stick,
    records_in,
    visit,
    write,
)
from tests.faults.hostile import Scene, sum_of
from tests.shelf import Shelf
from tests.vault.vaults import trail
from transports.index.runs import RunRef
from vault import releasing
from vault.audit.entries import read_audit
from vault.desks.content import data_plex, tree_plex
from vault.errors import LaceError
from vault.profile import AuditRecord, Request
from vault.records import Blob, Plex, RecordHash, Seal, Tai, parse_record
from vault.revisions.history import releases
from vault.suite import SigningKey
from vault.vault import Vault

# Records that have no business in a mailbox


def test_requests_audit_entries_heads_and_blobs_are_refused(scene: Scene) -> None:
    # LAZ-69, CYB-9
    request = Seal.sign(
        Request.to_plex(
            group=scene.group,
            node=scene.stranger.verifier,
            invitation="0" * 22,
            label="eve",
            proof=bytes(32),
            tai=scene.alice.around.tai(),
        ),
        scene.stranger,
    )
    audit = Seal.sign(
        AuditRecord.to_plex(
            node=scene.key.verifier, number=1, verb="x", parent=None, body=b"(audit)", tai=scene.alice.around.tai()
        ),
        scene.key,
    )
    head = scene.hostile.head(())
    unsigned = scene.commit(tree_plex(scene.group, b"lace-tree/0 0\n").hash).plex
    blob = Blob(b"bare")
    good = scene.card("good")
    scene.put(request, audit, head, unsigned, good)
    scene.hostile.put([(blob.hash, "-", blob.encode())])
    bad = [request.hash, audit.hash, head.hash]
    # What is unsigned and not reached is not even asked for, so there is nothing to name.
    scene.check(bad, [good.hash])
    assert not {unsigned.hash, blob.hash} & records_in(scene.alice).keys()


def test_unsigned_claims_under_the_app_of_a_tree_are_refused(scene: Scene) -> None:
    # Nothing unsigned is stored that no member vouches for, whatever the listing calls it
    unsigned = scene.commit(tree_plex(scene.group, b"lace-tree/0 0\n").hash).plex
    blob = Blob(b"bare")
    junk = data_plex(scene.group, b"junk nobody asked for")
    good = scene.card("good")
    scene.put(good)
    scene.hostile.put((record.hash, "lace/tree", record.encode()) for record in (unsigned, blob, junk))
    result = visit(scene.alice)
    assert set(scene.refused(result)) <= {unsigned.hash, blob.hash, junk.hash}
    assert unsigned.hash in scene.refused(result)
    assert not {unsigned.hash, blob.hash, junk.hash} & records_in(scene.alice).keys()
    assert good.hash in records_in(scene.alice)
    assert scene.refused(visit(scene.alice)) == {}
    # When evidence reaches it later, it is content like any other.
    page = tree_plex(scene.group, f"lace-tree/0 0\nf - 21 {junk.hash} junk\n".encode())
    scene.put(page, *scene.release(page.hash, sha512=sum_of("junk", b"junk nobody asked for")))
    assert [release.name for release in visit(scene.alice).came.releases] == ["good"]  # as her last card calls her
    assert junk.hash in records_in(scene.alice)


def test_a_request_sealed_by_another_key_admits_nobody(scene: Scene) -> None:
    # LAZ-71
    line = circle.invite(scene.alice, "eve")
    forged = Request.to_plex(
        group=scene.group,
        node=scene.stranger.verifier,
        invitation=line.id,
        label="eve",
        proof=bytes(32),
        tai=scene.alice.around.tai(),
    )
    writer = scene.hostile.drop.writer(scene.group, SigningKey.from_seed(b"\x0a" * 32).verifier)
    for stored in (Seal.sign(forged, scene.stranger).encode(), scene.card("x").encode(), b"\xff" * 100, b""):
        writer.put_request(stored)
        result = visit(scene.alice)
        assert result.came.admitted == []
        assert len(result.problems) == 1
    admission = next(
        record
        for record in map(parse_record, records_in(scene.alice).values())
        if isinstance(record, Seal) and record.plex.app == "lace/member"
    )
    writer.put_request(admission.encode())  # of somebody else
    assert [problem.code for problem in visit(scene.alice).problems] == ["other-group"]
    assert len(members(scene.alice)) == 2


# Bytes that are not what they are called


def test_wrong_bytes_under_a_hash_are_named_and_not_held_against_the_record(scene: Scene) -> None:
    # LAZ-69: row 12
    true, good = scene.card("true"), scene.card("good")
    wrong = true.hash.markline + good.encode()[len(good.hash.markline) :]
    scene.hostile.put([(true.hash, "lace/node", wrong), (good.hash, "lace/node", good.encode())])
    result = visit(scene.alice)
    assert [record for exchange in result.came.exchanges for record in exchange.not_available] == [true.hash]
    assert [problem.code for problem in result.problems] == ["not-available"]
    assert true.hash.text in result.problems[0].message
    assert "good: not-available" in dict(read_audit(list(trail(scene.alice))[-1]).parameters).get("problems", "")
    assert good.hash in records_in(scene.alice)
    assert true.hash not in records_in(scene.alice)
    # Another mailbox has the record itself: the lie did not burn its hash.
    bob = befriend(scene.root, scene.alice, "bob")
    Hostile(bob, open_stick(scene.root)).put_records([true])
    visit(scene.alice)
    assert true.hash in records_in(scene.alice)


def test_a_mailbox_that_names_false_places_keeps_nothing_from_others(scene: Scene) -> None:
    # LAZ-70: what alice publishes is where she says, whatever mallory lists
    write(scene.alice, "b.txt", "second\n")
    released = releasing.release(scene.alice, None, "second").release
    lies = []
    for record_hash, stored in records_in(scene.alice).items():
        record = parse_record(stored)
        if isinstance(record, Seal | Plex) and record_hash not in records_in(scene.mallory):
            app = record.plex.app if isinstance(record, Seal) else record.app
            lies.append((record_hash, app, record_hash.markline + b"garbage"))
    assert len(lies) > 4
    scene.hostile.put(lies)
    visit(scene.alice)
    shutil.rmtree(scene.hostile.drop.mailbox_path(scene.group, scene.mallory.node))
    bob = befriend(scene.root, scene.alice, "bob")
    assert released in {release.hash for release in releases(bob.store)}


@pytest.mark.parametrize("kind", ["claims too much", "claims too little", "a real bomb"])
def test_a_compression_bomb_costs_no_memory(scene: Scene, kind: str) -> None:
    # Row 14
    size = 32 << 20 if kind == "a real bomb" else 256 << 20
    compressor = zstandard.ZstdCompressor(write_content_size=kind != "claims too little")
    frame = compressor.compress(bytes(size))
    assert len(frame) * 1000 < size
    if kind == "claims too little":
        # A frame that states 1 MiB and goes on for 256: the size field of the frame header is forged.
        small = zstandard.ZstdCompressor(write_content_size=True).compress(bytes(1 << 20))
        frame = small[:10] + frame[6:]
    target = RecordHash("S", b"\x01" * 32)
    scene.hostile.put_frame(target, "lace/node", frame, raw=min(size, 1 << 20), length=1 << 20)
    good = scene.card("good")
    scene.put(good)
    tracemalloc.start()
    result = visit(scene.alice)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20  # bytes over what was there before
    assert [record for exchange in result.came.exchanges for record in exchange.not_available] == [target]
    assert good.hash in records_in(scene.alice)
    scene.unharmed()


def test_strange_heads_are_named_and_others_still_read(scene: Scene) -> None:
    # CYB-17: everything a member may sign into a head, true or not
    bob = befriend(scene.root, scene.alice, "bob")
    writer = scene.hostile.drop.writer(scene.group, scene.mallory.node)
    heads: list[Callable[[], Seal]] = [
        lambda: scene.hostile.head((), hello=("HelloRecordFormat('H9')",)),
        lambda: scene.hostile.head((), hello=("HelloNothing(1,2,3)",)),
        lambda: scene.hostile.head((), hello=("HelloRecordFormat(",)),
        lambda: scene.hostile.head((), hello=("HelloTAI('x')", "HelloTAI('y')")),
        lambda: scene.hostile.head((), operand="R." + "z" * 42 + "0"),
        lambda: scene.hostile.head((), facet="Nonsense"),
        lambda: scene.hostile.head((), founding=RecordHash("S", bytes(32))),
        lambda: scene.hostile.head([RunRef(b"\x03" * 32, 5, 500)]),
        lambda: scene.hostile.head((), drop="0" * 32),
        lambda: scene.hostile.head((), tai=Tai.parse("9999999999:999999999")),
    ]
    for number, make in enumerate(heads):
        try:
            writer.publish_head(make().encode())
        except LaceError:
            continue  # it cannot even be written
        write(bob, "bob.txt", f"{number}\n")
        released = releasing.release(bob, None, f"{number}").release
        visit(bob)
        result = visit(scene.alice)
        assert {problem.peer for problem in result.problems} <= {"mallory"}
        assert released in {release.hash for release in releases(scene.alice.store)}


@pytest.mark.parametrize("what", ["mailbox", "head.rec", "request.rec", "*.run", "*.bnd", "group"])
def test_links_on_the_medium_lead_nowhere(scene: Scene, what: str) -> None:
    # APP-12: row 17; a link may neither show what lies outside nor be written through
    bob = befriend(scene.root, scene.alice, "bob")
    outside = scene.root / "bob" / "outside"
    mailbox = scene.hostile.drop.mailbox_path(scene.group, scene.mallory.node)
    if what in {"mailbox", "group"}:
        target = mailbox if what == "mailbox" else mailbox.parent
        shutil.move(target, outside)
        target.symlink_to(outside, target_is_directory=True)
    else:
        outside.mkdir()
        (mailbox / "request.rec").write_bytes(b"x")
        for file in list(mailbox.glob(what)):
            shutil.move(file, outside / file.name)
            file.symlink_to(outside / file.name)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    write(bob, "bob.txt", "bob\n")
    released = releasing.release(bob, None, "bob").release
    for vault in (bob, scene.alice, scene.mallory):
        is_hit = what == "group" or (what == "mailbox" and vault is scene.mallory)
        refusal = visit(vault).refusal  # what cannot be written is read all the same
        assert isinstance(refusal, LaceError) == is_hit, refusal
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before
    if what != "group":
        assert released in {release.hash for release in releases(scene.alice.store)}


# Damage at random places


@pytest.mark.parametrize("kind", ["head.rec", "*.run", "*.bnd", "request.rec", "lace-drop.txt"])
def test_damage_anywhere_is_named_and_never_believed(tmp_path: Path, shelf: Shelf, kind: str) -> None:
    # LAZ-69, CYB-17: row 7
    alice, bob = shelf.lay(befriended, "bob")
    line = circle.invite(alice, "eve").encode()
    befriend(tmp_path, alice, "carol").close()
    visit(bob)
    write(bob, "bob.txt", "bob\n" * 500)
    released = releasing.release(bob, None, "bob").release
    visit(bob)
    for number in range(3):
        write(alice, f"{number}.txt", "x" * 2000 + str(number))
        releasing.release(alice, None, str(number))
    visit(alice)
    circle.accept(tmp_path / "eve" / "f", around(tmp_path, "eve"), line)
    good = {**records_in(alice), **records_in(bob)}
    mailbox = open_stick(tmp_path).mailbox_path(alice.group, alice.node)
    shutil.copytree(tmp_path / PLACE, tmp_path / "whole")
    dice = random.Random(kind)
    for number in range(24):
        shutil.rmtree(tmp_path / PLACE)
        shutil.copytree(tmp_path / "whole", tmp_path / PLACE)
        where = {"request.rec": tmp_path / PLACE, "lace-drop.txt": tmp_path / PLACE}.get(kind, mailbox)
        for file in where.rglob(kind):
            file.write_bytes(_damaged(file.read_bytes(), dice, number))
        name = f"carol{number}"
        shutil.copytree(tmp_path / "carol", tmp_path / name)
        with Vault(tmp_path / name / "f", around(tmp_path, name)) as carol:
            before = records_in(carol).items()
            try:
                result = visit(carol)
            except LaceError:
                assert kind == "lace-drop.txt"  # without its marker the stick is no drop
                continue
            assert kind != "head.rec" or [p.peer for p in result.problems] != []
            stored = records_in(carol)
            assert before <= stored.items()
            others = {item for item in stored.items() if carol.node.text.encode() not in item[1]}
            assert others <= good.items()
            # Bob's mailbox, which references what lay in alice's, still gives what he made himself; but a marker
            # that became another drop's makes every head there one from another place.
            assert released in stored or (kind == "lace-drop.txt" and len(result.problems) == 2)


def _damaged(data: bytes, dice: random.Random, number: int) -> bytes:
    """Cut, zero or flip, by turns."""
    at = dice.randrange(len(data))
    match number % 3:
        case 0:
            return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]
        case 1:
            return data[:at]
        case _:
            end = min(len(data), at + 1 + dice.randrange(64))
            return data[:at] + bytes(255 - byte for byte in data[at:end]) + data[end:]
