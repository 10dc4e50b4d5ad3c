"""A member who turns on her friends with records she sealed: the bad is named, the good arrives (LAZ-69 to LAZ-72)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from lazy.belonging.admitting import admit
from lazy.belonging.circle import accept, invite
from lazy.links import LinkState, Progress, links
from lazy.receiving.receive import Receiver
from lazy.receiving.stash import Stash
from lazy.vectors import my_vector
from lazy.why import why
from tests.faults.circle import PLACE, around, found, records_in, visit, write
from tests.faults.hostile import Scene, sum_of
from tests.shelf import Shelf
from tests.vault.vaults import trail
from vault import releasing
from vault.audit.entries import read_audit
from vault.desks.content import data_plex, tree_plex
from vault.desks.paths import is_vault_name
from vault.errors import LaceError
from vault.folder import work
from vault.folder.checked_out import checkout_of
from vault.folder.unfinished import checkout_tree
from vault.fsck.check import check
from vault.names import Version
from vault.profile import Founding, group_id
from vault.records import Plex, RecordHash, Seal, Tai, parse_record
from vault.revisions.history import releases
from vault.store.store import Store
from vault.watch import Watch

# Sealed records


def test_a_forged_signature_is_refused(scene: Scene) -> None:
    # LAZ-63, LAZ-69, DEL-6: whoever brings it, the receiver verifies
    good = scene.card("good")
    forged = Seal(scene.key.verifier, bytes(64), scene.card("forged").plex)
    blamed = Seal(scene.alice.node, good.signature, good.plex)  # a true signature under another name
    scene.put(good, forged, blamed)
    scene.check([forged.hash, blamed.hash], [good.hash])


def test_a_strangers_seal_is_refused_until_somebody_admits_the_stranger(scene: Scene) -> None:
    # LAZ-71
    good = scene.card("good")
    strange = scene.card("strange", scene.stranger)
    scene.put(good, strange)
    refused = scene.check([strange.hash], [good.hash])
    assert refused == {strange.hash: "stranger"}
    # Trust comes by a record of another member, not by an act of alice: the stranger's record is asked for again.
    admit(scene.mallory, "eve", scene.stranger.verifier.text)
    visit(scene.mallory)
    visit(scene.alice)
    assert strange.hash in records_in(scene.alice)


def test_another_groups_records_are_refused(scene: Scene) -> None:
    # CYB-17: row 23
    salt, tai = b"\x05" * 32, scene.alice.around.tai()
    founding = Founding.to_plex(group="friends", founder=scene.key.verifier, salt=salt, tai=tai)
    other = group_id(founding.group, founding.hash.digest)
    card = scene.card("elsewhere", group=other)
    page = tree_plex(other, b"lace-tree/0 0\n")
    founded = Seal.sign(founding, scene.key)
    good = scene.card("good")
    scene.put(good, card, page, founded)
    refused = scene.check([card.hash, page.hash, founded.hash], [good.hash])
    assert refused[card.hash] == "refused"


@pytest.mark.parametrize("name", ["..", ".", "/abs", "a/b", "nul\0byte", "bell\a", "", "e\u0301", "x" * 256], ids=ascii)
def test_a_tree_page_with_a_hostile_name_is_refused(scene: Scene, name: str) -> None:
    # APP-12: row 16
    # CLO-39, CLO-41: what its release waits for was refused, not missed, and the link says so, and why
    content = data_plex(scene.group, b"owned\n")
    page = tree_plex(scene.group, f"lace-tree/0 0\nf - 6 {content.hash} {name}\n".encode())
    sealed = scene.release(page.hash)
    scene.put(page, content, *sealed)
    scene.check([page.hash], [seal.hash for seal in sealed])
    assert sealed[2].hash not in {release.hash for release in releases(scene.alice.store)}
    [link] = [link for link in links(scene.alice) if link.node == scene.key.verifier.text]
    [lacks] = link.missing
    assert (link.state, link.waiting, link.left_out) == (LinkState.REPAIRING, 1, False)
    assert (lacks.release, lacks.missing, lacks.code) == (sealed[2].hash, page.hash, "content-refused")
    assert lacks.refusal in why(scene.alice, sealed[2].hash).reason
    assert why(scene.alice, page.hash).rule == lacks.refusal


@pytest.mark.parametrize("name", [".vault", ".VAULT", "vault~1", "CON", "a:b", "trail. "], ids=ascii)
def test_a_name_that_some_disks_cannot_carry_is_never_written_outside(scene: Scene, name: str) -> None:
    # APP-12: row 16; the record is as it should be, the folder takes no harm
    content = data_plex(scene.group, b"owned\n")
    page = tree_plex(scene.group, f"lace-tree/0 0\nf - 6 {content.hash} {name}\n".encode())
    sealed = scene.release(page.hash, sha512=sum_of(name, b"owned\n"))
    scene.put(page, content, *sealed)
    before = sorted(path.name for path in scene.alice.dot.iterdir())
    scene.check([], [seal.hash for seal in sealed])
    base = checkout_of(scene.alice)
    assert base is not None
    with scene.alice.writing() as w:
        done = checkout_tree(w, scene.alice, "main", base.tree, page.hash, Watch())
    assert sorted(path.name for path in scene.alice.dot.iterdir()) == before
    there = {path.name for path in scene.alice.folder.iterdir()} - {".vault"}
    if is_vault_name(name):
        assert there == set()
        assert [skip.path for skip in done.skipped] == [name]
    else:
        assert there <= {name}
        assert there or [skip.path for skip in done.skipped] == [name]


def test_a_release_that_does_not_match_its_content_is_never_shown(scene: Scene) -> None:
    # LAZ-69, LAZ-70
    content = data_plex(scene.group, b"owned\n")
    page = tree_plex(scene.group, f"lace-tree/0 0\nf - 6 {content.hash} a.txt\n".encode())
    sealed = scene.release(page.hash)
    scene.put(page, content, *sealed)
    _check_mismatch(scene, sealed[2].hash, [seal.hash for seal in sealed])


_LIES = {  # lines of a page, or, with sums for hashes, what is summed of it
    "size": "f - 7 {content} a.txt\n",
    "size of a link": "l - 7 {content} a.txt\n",
    "a second size": "f - 6 {content} a.txt\nf - 7 {content} b.txt\n",
    "directory": "d - 6 {content} a\n",
    "size of a directory": "d - 7 {below} a\n",
    "a second size of a directory": "d - 6 {below} a\nd - 7 {below} b\n",
    "cycle of kinds": "d - 5 {inner} a\n",
    "a page as a file": "f - 14 {inner} a.txt\n",
    "a file as a page": "d - 0 {like} a\n",
    "twins": "f - 6 {content} A\nf - 6 {content} a\n",
}


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("lie", _LIES)
def test_a_tree_that_contradicts_itself_harms_its_release_only(scene: Scene, lie: str, is_known: bool) -> None:
    """Also where its sum is right, and all that it names was proven in a release that says it as it is."""
    # LAZ-70
    content, like = data_plex(scene.group, b"owned\n"), data_plex(scene.group, b"lace-tree/0 0\n")
    inner = tree_plex(scene.group, b"lace-tree/0 0\n")
    below = tree_plex(scene.group, f"lace-tree/0 0\nf - 6 {content.hash} a.txt\n".encode())
    named = {"content": content.hash, "like": like.hash, "inner": inner.hash, "below": below.hash}
    sums = {name: hashlib.sha512(plex.blob.data).hexdigest() for name, plex in (("content", content), ("like", like))}
    sums["inner"] = hashlib.sha512(b"").hexdigest()
    sums["below"] = sum_of("a.txt", b"owned\n").removeprefix("sha512:")
    if is_known:
        honest = "f - 6 {content} a\nd - 6 {below} b\nd - 0 {inner} c\nf - 14 {like} d\n"
        sealed = scene.release(_page(scene, honest, named).hash, Version(8, 0, 0), _sum(honest, sums))
        scene.put(_page(scene, honest, named), content, like, inner, below, *sealed)
        assert [release.version for release in visit(scene.alice).came.releases] == [Version(8, 0, 0)]
    if lie == "a page as a file":
        sums["inner"] = sums["like"]
    elif lie == "a file as a page":
        sums["like"] = sums["inner"]
    page = _page(scene, _LIES[lie], named)
    sealed = scene.release(page.hash, sha512=_sum(_LIES[lie], sums))
    scene.put(page, content, like, inner, below, *sealed)
    _check_mismatch(scene, sealed[2].hash, [seal.hash for seal in sealed])
    assert check(scene.alice).bad == ()


def _page(scene: Scene, lines: str, named: Mapping[str, RecordHash]) -> Plex:
    return tree_plex(scene.group, f"lace-tree/0 0\n{lines.format_map(named)}".encode())


def _sum(lines: str, sums: Mapping[str, str]) -> str:
    return "sha512:" + hashlib.sha512(lines.format_map(sums).encode()).hexdigest()


def test_a_tree_nested_ten_thousand_deep_harms_its_release_only(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    # APP-12: row 13; what waits is not gone through once a level, or a few such trees would take an hour
    asked: list[int] = []
    ask = Stash.holes

    def counted(stash: Stash, store: Store) -> list[RecordHash]:
        asked.append(len(found := ask(stash, store)))
        return found

    monkeypatch.setattr(Stash, "holes", counted)
    pages = [tree_plex(scene.group, b"lace-tree/0 0\n")]
    for _ in range(10_000):
        pages.append(tree_plex(scene.group, f"lace-tree/0 0\nd - 0 {pages[-1].hash} d\n".encode()))
    sealed = scene.release(pages[-1].hash)
    scene.put(*pages, *sealed)
    _check_mismatch(scene, sealed[2].hash, [seal.hash for seal in sealed])
    assert sum(asked) > 0, "the pages came before what reaches them"
    assert len(asked) < 100


def _check_mismatch(scene: Scene, release: RecordHash, good: list[RecordHash]) -> None:
    """The release is stored as evidence, named once, audited, and shown to nobody."""
    result = visit(scene.alice)
    assert scene.refused(result) == {release: "content-mismatch"}
    assert result.came.releases == []
    scene.check([], good)
    assert release not in {shown.hash for shown in releases(scene.alice.store)}
    verbs = [(entry.verb, entry.object) for entry in map(read_audit, trail(scene.alice))]
    assert verbs.count(("lace-refuse", release.text)) == 1


def test_a_gap_and_a_huge_lamport_stop_nobody(scene: Scene) -> None:
    # LAZ-14, LAZ-64, DWN-42: row 21
    good = scene.card("good")
    first = scene.share([good.hash], lamport=2**63 - 1)
    lost = scene.card("lost")
    far = scene.hostile.log([lost.hash], seq=2**63 - 1, prev=first.hash, lamport=2**63 - 1)
    gap = scene.hostile.log([lost.hash], seq=scene.seq + 2, prev=first.hash)
    scene.put(good, first, lost, far, gap)
    scene.check([], [good.hash, first.hash, far.hash, gap.hash])
    mark = my_vector(scene.alice)[scene.mallory.node.text]
    assert (mark.seq, mark.forked) == (scene.seq, False)  # contiguous, no further
    (link,) = [each for each in links(scene.alice) if each.node == scene.mallory.node.text]
    assert (link.state, link.pull) == (LinkState.REPAIRING, Progress(2**63 - 1, scene.seq))


def test_the_highest_version_and_the_latest_time_stop_nobody(scene: Scene) -> None:
    # LAZ-16: row 21
    page = tree_plex(scene.group, b"lace-tree/0 0\n")
    top = Version(2**31 - 1, 2**31 - 1, 2**31 - 1)
    empty = "sha512:" + hashlib.sha512(b"").hexdigest()
    sealed = scene.release(page.hash, top, empty, Tai.parse("9999999999:999999999"))
    scene.put(page, *sealed)
    assert [release.version for release in visit(scene.alice).came.releases] == [top]
    write(scene.alice, "later.txt", "later\n")
    assert work.commit(scene.alice, "a commit still goes")
    releasing.release(scene.alice, Version(1, 0, 1))
    scene.unharmed()
    with pytest.raises(LaceError):  # nothing is higher: a person names the version
        releasing.release(scene.alice, None)


def test_a_resealed_copy_speaks_for_its_sealer_only(scene: Scene) -> None:
    # LAZ-69, DEL-3: row 23
    stolen: dict[str, Seal] = {}
    for stored in records_in(scene.alice).values():
        record = parse_record(stored)
        if isinstance(record, Seal) and record.signer == scene.alice.node and record.plex.group == scene.group:
            stolen[record.plex.app] = Seal.sign(record.plex, scene.key)
    assert {"lace/node", "lace/log", "lace/release", "lace/commit"} <= stolen.keys()
    scene.put(*stolen.values())
    bad = [seal.hash for app, seal in stolen.items() if app == "lace/node"]
    scene.check(bad, [stolen["lace/release"].hash])
    shown = releases(scene.alice.store)
    assert stolen["lace/release"].hash not in {release.hash for release in shown}
    told = my_vector(scene.alice)
    assert not told[scene.alice.node.text].forked
    assert not told[scene.mallory.node.text].forked


def test_a_flood_of_strangers_seals_is_not_kept_in_memory(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    # LAZ-71: row 13; what waits for a signer to be admitted is bounded
    monkeypatch.setattr("lazy.receiving.receive.STASH_BYTES", 2000)
    monkeypatch.setattr("lazy.visits.transfer._BATCH_RECORDS", 4)
    strange = [scene.card(f"s{number}", scene.stranger) for number in range(30)]
    good = [scene.card(f"g{number}") for number in range(3)]
    scene.put(*strange, *good)
    refused = scene.check([seal.hash for seal in strange], [seal.hash for seal in good])
    assert set(refused.values()) == {"stranger"}


@pytest.mark.parametrize("kept", [0, 1 << 20])
def test_what_was_refused_before_its_signer_was_admitted_comes_in_the_same_sync(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    # LAZ-71: decision 4; the first records of a newcomer come before whom they are sealed by is known
    alice = shelf.lay(found)
    monkeypatch.setattr("lazy.receiving.receive.STASH_BYTES", 1000)
    monkeypatch.setattr("lazy.receiving.ending.QUARANTINE_BYTES", kept)
    bob, _ = accept(tmp_path / "bob" / "f", around(tmp_path, "bob"), invite(alice, "bob").encode())
    rows = alice.store.rows("SELECT b.kind, b.digest, stored(p, b.bytes) FROM shared s JOIN body b USING (p)")
    seals = [(RecordHash(str(kind), bytes(digest)), bytes(stored)) for kind, digest, stored in rows if kind == "S"]
    assert alice.founding is not None
    seals.sort(key=lambda pair: pair[0].text == alice.founding)
    receiver = Receiver(bob, PLACE)
    for pair in seals[:-1]:
        receiver.take([pair])
    assert {refusal.code for refusal in receiver.refusals} == {"stranger"}
    receiver.take(seals[-1:])
    assert receiver.refusals == []
    missing = [pair for pair in seals if pair[0] not in records_in(bob)]
    assert not missing or not kept
    receiver.take(missing)
    with bob.writing() as w:
        receiver.finish(w)
    assert {record for record, _ in seals} <= records_in(bob).keys()
    assert bob.store.rows("SELECT 1 FROM refused") == []
