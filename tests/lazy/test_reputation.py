"""What speaks against a peer is told as evidence, offline, and once (LAZ-73)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from blake3 import blake3

from lazy.belonging.reputation import EvidenceKind, counts, reputation
from lazy.people import label_of
from lazy.places.adding import add_place
from lazy.status import status
from lazy.sync import sync
from tests.faults.circle import PLACE, Hostile, befriended, open_stick, visit, write
from tests.lazy.by_hand import CONTESTED, decide_by_hand, released_by, sides_of
from tests.lazy.three import contested, cut
from tests.people import Person
from tests.shelf import Shelf
from transports.index.runs import RunRef
from transports.snapshot import APP
from vault import releasing
from vault.audit.entries import read_audit
from vault.audit.trail import entries_of, verify_trail
from vault.names import Version
from vault.profile import Release
from vault.records import Plex, RecordHash, Seal


def _person(root: Path, name: str) -> Person:
    return Person(name, root / name / "home", root / name / "f", environ={"LACE_HOME": str(root / name / "home")})


def _sealed_wrong(hostile: Hostile) -> Iterator[Seal]:
    """Yield a head of hers that breaks the format, and one that names a run of rubbish by its digest."""
    right = hostile.head((), number=8_000).plex
    body = right.blob.data + b"and more\n"
    extras = [("Number", "8000")]
    yield Seal.sign(
        Plex.build(group=right.group, app=APP, name=right.name, tai=right.tai, extras=extras, data=body), hostile.key
    )
    rubbish = b"rubbish"
    run = RunRef(blake3(rubbish).digest(), 1, len(rubbish))
    (hostile.drop.mailbox_path(hostile.vault.group, hostile.vault.node) / run.name).write_bytes(rubbish)
    yield hostile.head([run], number=8_001)


def test_a_peer_without_fault_has_no_evidence(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-73: an honest friend shows an empty list, conflicts are told and are no fault."""
    alice, bob = shelf.lay(befriended, "bob")
    for vault in (alice, bob):
        write(vault, "a.txt", vault.name)
        releasing.release(vault, Version(3, 0, 0), "mine")
        visit(vault)
    visit(alice)
    known = reputation(alice, bob.node.text)
    assert (known.noted, known.forks) == ((), ())
    assert [str(conflict.version) for conflict in known.conflicts] == ["3.0.0"]
    assert [peer.evidence for peer in status(alice).peers] == [0]
    person = _person(tmp_path, "alice")
    told = person.text("peers", "bob")
    assert "nothing speaks against" in told
    assert "3.0.0: pending" in told


def test_what_a_peer_gets_wrong_is_kept_as_evidence(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-73, CYB-11: refused records, two states of one number and a head sealed wrong, each told once with where.

    What anybody can do who holds the stick is told of the stick: an older copy, or rubbish where a head belongs.
    """
    alice, mallory = shelf.lay(befriended, "mallory")
    shutil.copytree(tmp_path / PLACE, tmp_path / "old")
    hostile = Hostile(mallory, open_stick(tmp_path))
    nowhere = RecordHash("S", bytes(32))
    bad = Seal.sign(
        Release.to_plex(
            group=f"others/{'0' * 16}",
            desk="main",
            version=Version(9, 0, 0),
            commit=nowhere,
            rev=nowhere,
            content_sha512="sha512:" + "0" * 128,
            message="",
            tai=mallory.around.tai(),
        ),
        hostile.key,
    )
    hostile.put_records([bad])
    assert [record for record, _, _ in visit(alice).came.rejected] == [bad.hash]
    for _ in range(2):
        shutil.rmtree(tmp_path / PLACE)
        shutil.copytree(tmp_path / "old", tmp_path / PLACE)
        assert {problem.code for problem in visit(alice).problems} >= {"rolled-back"}
    for unreleased in (1, 2, 3):
        writer = open_stick(tmp_path).writer(mallory.group, mallory.node)
        writer.publish_head(hostile.head((), number=7_000, unreleased=unreleased).encode())
        assert [problem.code for problem in visit(alice).problems] == ["two-states"] * (unreleased > 1)
    for rubbish in (b"rubbish", b"other rubbish"):
        (open_stick(tmp_path).mailbox_path(mallory.group, mallory.node) / "head.rec").write_bytes(rubbish)
        assert [problem.code for problem in visit(alice).problems] == ["bad-snapshot"]
    for wrong in _sealed_wrong(hostile):
        open_stick(tmp_path).writer(mallory.group, mallory.node).publish_head(wrong.encode())
        visit(alice)

    known = reputation(alice, mallory.node.text)
    kinds = [EvidenceKind.REFUSED, EvidenceKind.ROLLBACK, EvidenceKind.BROKEN, EvidenceKind.BROKEN]
    assert [item.kind for item in known.noted] == kinds
    assert [item.code for item in known.noted][1:] == ["two-states", "false-snapshot", "false-index-run"]
    told = [read_audit(seal) for seal in entries_of(alice, "lace-evidence")]
    of_the_stick = [dict(entry.parameters)["code"] for entry in told if entry.object == PLACE]
    assert of_the_stick == ["rolled-back", "bad-snapshot"], "nobody's doing, and told once"
    assert known.noted[0].record == bad.hash.text
    assert {item.place for item in known.noted} == {PLACE}
    assert dict(counts(alice)) == {mallory.node.text: 4}
    (peer,) = status(alice).peers
    assert (peer.name, peer.evidence) == ("mallory", 4)
    assert verify_trail(alice).ok
    assert label_of(alice, mallory.node.text) == "mallory"

    shutil.rmtree(tmp_path / PLACE)  # offline
    person = _person(tmp_path, "alice")
    data = person.lace("peers", "mallory")
    assert [item["kind"] for item in data["evidence"]] == ["refused", "rollback", "broken", "broken"]
    assert bad.hash.text in person.text("peers", "mallory")
    assert "4 noted against: lace peers mallory" in person.text("status")


@pytest.mark.parametrize("what", ["after-cut", "result-mismatch"])
def test_what_a_friend_passes_on_speaks_against_who_sealed_it(tmp_path: Path, shelf: Shelf, what: str) -> None:
    """LAZ-73: bob took it from cara in good faith, and alice finds it in his mailbox alone."""
    alice, bob, cara = shelf.lay(contested)
    add_place(bob, "beside", str(cara.folder), cwd=tmp_path)
    if what == "after-cut":
        cut(alice, "cara")
        write(cara, "c.txt", "late")
        releasing.release(cara, None, "late")
    else:
        decide_by_hand(cara, sides_of(cara)[0], chosen=released_by(cara, CONTESTED, "alice")[0])
    sync(bob, ["beside"])
    sync(bob, ["stick"])
    (result,) = sync(alice, ["stick"])
    assert {one.peer for one in result.came.exchanges if what in {code for _, code, _ in one.rejected}} == {"bob"}
    assert reputation(alice, bob.node.text).noted == ()
    assert {one.code for one in reputation(alice, cara.node.text).noted} == {what}
    assert counts(alice).keys() == {cara.node.text}
