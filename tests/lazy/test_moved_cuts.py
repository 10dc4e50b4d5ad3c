"""A cut that moves, falls, or comes in parts: what was refused is judged anew (architecture, Belonging)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lazy.belonging.admitting import NotMember, admit
from lazy.belonging.circle import accept, invite
from lazy.folder.update import update
from lazy.people import label_of, members
from lazy.places.adding import add_place
from lazy.receiving.quarantine import quarantined
from lazy.receiving.receive import Receiver
from lazy.receiving.refusals import UNPROVEN
from lazy.status import status
from lazy.sync import sync
from lazy.vectors import my_vector
from tests.lazy.three import cut, meet, released, sound, three
from tests.shelf import Shelf
from tests.vault import vaults
from vault.names import Version
from vault.records import RecordHash, Seal, Verifier, parse_record
from vault.releasing import release
from vault.revisions.history import releases
from vault.vault import Vault


def apart(root: Path) -> tuple[Vault, Vault, Vault, Vault]:
    """Alice, bob, carol and dave; what carol released last lies on a second stick, and only alice may read it."""
    alice, bob, carol = three(root)
    dave = vaults.befriend(root, alice, "dave")
    meet(dave, bob, carol, alice)
    for vault in (alice, carol, dave):
        add_place(vault, "usb", str(root / "usb"), cwd=root)
    vaults.write(carol, "carol.txt", "two\n")
    release(carol, None, "on the other stick")
    sync(carol, ["usb"], pull=False)
    return alice, bob, carol, dave


def refuses_late(dave: Vault) -> None:
    """Dave hears on one stick that carol was cut, and refuses what lies on the other for it."""
    meet(dave)
    (met,) = sync(dave, ["usb"], push=False)
    assert "after-cut" in {code for _, code, _ in met.came.rejected}


def test_what_was_refused_after_a_cut_comes_once_the_cut_is_later(tmp_path: Path) -> None:
    """LAZ-65, LAZ-71: two cut the same node at two entries; in whichever order one hears of it."""
    alice, bob, carol, dave = apart(tmp_path)
    sync(alice, ["usb"], push=False)  # she knows what carol released last, bob does not
    cut(bob, "carol")
    sync(bob, ["stick"], pull=False)
    refuses_late(dave)
    cut(alice, "carol")  # of two the one by who stands higher counts
    meet(alice, bob, dave)
    assert released(alice) == released(bob) == released(dave)
    assert quarantined(dave) == []
    assert my_vector(dave)[carol.node.text].seq == my_vector(alice)[carol.node.text].seq
    sound(alice, bob, dave)


def test_what_was_refused_after_a_cut_comes_once_the_cut_falls(tmp_path: Path) -> None:
    """LAZ-65, LAZ-71: who cut was cut themselves, before they said so; in whichever order one hears of it."""
    alice, bob, carol, dave = apart(tmp_path)
    before = my_vector(alice)[bob.node.text].seq
    cut(bob, "carol")
    sync(bob, ["stick"], pull=False)
    refuses_late(dave)
    cut(alice, "bob", before)
    for place in ("usb", "stick", "usb", "stick"):
        for vault in (alice, carol, dave):
            sync(vault, [place])
    assert {member.name for member in members(dave)} == {"alice", "carol", "dave"}
    assert released(alice) == released(carol) == released(dave)
    assert quarantined(dave) == []
    sound(alice, carol, dave)


def test_who_moves_a_cut_asks_again_for_what_they_refused(tmp_path: Path) -> None:
    """LAZ-65, LAZ-71: my own word changes what counts as one that comes in does."""
    alice, bob, carol, _ = apart(tmp_path)
    before = my_vector(alice)[bob.node.text].seq
    cut(bob, "carol")
    sync(bob, ["stick"], pull=False)
    refuses_late(alice)
    cut(alice, "bob", before)
    sync(alice, ["usb"], push=False)
    assert released(alice) == released(carol)
    assert quarantined(alice) == []


def test_what_leads_to_a_cut_is_taken_in_whatever_parts_it_comes(tmp_path: Path, shelf: Shelf) -> None:
    """LAZ-70: without the entry that the cut names those below it count not yet; with it, in whatever batch."""
    alice, _, carol = shelf.lay(three)
    cut(alice, "carol")
    dave, _ = accept(tmp_path / "dave", vaults.around(tmp_path, "dave"), invite(alice, "dave").encode())
    shared = {int(p) for (p,) in alice.store.rows("SELECT p FROM shared")}
    sealed = {record: stored for p, record, stored in alice.store.bodies() if p in shared and record.kind == "S"}
    rows = alice.store.rows("SELECT hash FROM log WHERE node = ? ORDER BY seq DESC", carol.node.text)
    last, *below = [RecordHash.parse(str(text)) for (text,) in rows]
    assert below
    early = Receiver(dave, "stick")
    early.take([pair for pair in sealed.items() if pair[0] != last])
    with dave.writing() as w:
        early.finish(w)
    unproven = {refusal.hash for refusal in early.refusals if refusal.code == UNPROVEN}
    assert unproven == set(below)
    receiver = Receiver(dave, "stick")
    assert not unproven & receiver.refused_before(), "nobody knows yet what leads there"
    receiver.take([pair for pair in sealed.items() if pair[0] not in below])
    for entry in below:
        receiver.take([(entry, sealed[entry])])
    with dave.writing() as w:
        receiver.finish(w)
    assert receiver.refusals == []
    assert my_vector(dave)[carol.node.text] == my_vector(alice)[carol.node.text]


def let_in_by_bob(root: Path) -> tuple[Vault, Vault, Vault, Vault]:
    """Alice, bob, cara and dave: bob let cara in on a second stick, and dave built on what she released there."""
    alice, bob, dave = vaults.befriended(root, "bob", "dave")
    vaults.write(alice, "a.txt", "one\n")
    release(alice, Version(1, 0, 0), "first")
    for vault in (alice, bob, dave):
        sync(vault, ["stick"])
        add_place(vault, "usb", str(root / "usb"), cwd=root)
    (root / "cara").mkdir()
    line = invite(bob, "cara").encode()
    cara, _ = accept(root / "cara", vaults.around(root, "cara"), line, name="cara")
    on_usb(cara, bob, cara)
    update(cara)
    vaults.write(cara, "c.txt", "cara's\n")
    release(cara, Version(1, 1, 0), "hers")
    on_usb(cara, dave)
    update(dave)
    vaults.write(dave, "d.txt", "dave's\n")
    release(dave, Version(1, 2, 0), "on top of hers")
    return alice, bob, cara, dave


def on_usb(*people: Vault) -> None:
    """Everybody syncs over the second stick alone."""
    for vault in people:
        sync(vault, ["usb"])


def test_what_is_built_upon_somebody_whose_admission_fell_comes_all_the_same(tmp_path: Path) -> None:
    """LAZ-31, LAZ-71: dave's work on cara's was hidden for good from all who had not met her before bob was revoked."""
    alice, _, cara, dave = let_in_by_bob(tmp_path)
    cut(alice, "bob", 1)
    for _ in range(2):
        for vault in (dave, alice, cara):
            sync(vault, ["stick", "usb"])
    erin = vaults.befriend(tmp_path, alice, "erin")
    assert {member.name for member in members(alice)} == {"alice", "dave", "erin"}
    for vault in (alice, dave, erin):
        assert seen_by(vault) == {"alice 1.0.0", "dave 1.2.0"}
        assert not Receiver(vault, "stick").holes.any()
        update(vault)
        assert (vault.folder / "c.txt").read_text() == "cara's\n"
    sound(alice, dave, erin)


def seen_by(vault: Vault) -> set[str]:
    """Return whose releases a vault shows, by names."""
    return {f"{label_of(vault, found.node)} {found.version}" for found in releases(vault.store)}


def test_who_belongs_no_more_as_their_admission_fell_is_told_with_the_way(tmp_path: Path) -> None:
    """LAZ-54, LAZ-69: cara's sync said nothing, and status sent her to bob, who was revoked himself."""
    alice, bob, cara, dave = let_in_by_bob(tmp_path)
    (tmp_path / "erin").mkdir()
    line = invite(bob, "erin").encode()
    erin, _ = accept(tmp_path / "erin", vaults.around(tmp_path, "erin"), line, name="erin")
    cut(alice, "bob", 1)
    assert not status(erin).waits_by_name
    on_usb(alice, dave)
    (told,) = sync(cara, ["usb"])[0].problems
    assert (told.code, told.message) == (
        "not-member",
        "bob's admission of you counts no more, so you are not a member now.",
    )
    assert f"lace admit cara --key {cara.node}" in told.hint
    with pytest.raises(NotMember) as refused:
        invite(cara, "dora")
    assert f"lace admit cara --key {cara.node}" in refused.value.hint
    on_usb(erin)  # nobody let her in before
    assert [status(vault).waits_by_name for vault in (cara, erin, dave)] == [True, True, False]
    on_usb(cara, alice)
    for vault in (cara, erin):
        admit(alice, vault.name)  # both ask by their name by now
    on_usb(alice)
    for vault in (cara, erin):
        assert sync(vault, ["usb"])[0].problems == []
        assert (status(vault).member, status(vault).waits_by_name) == (True, False)
    sync(alice, ["usb"])
    assert seen_by(alice) == {"alice 1.0.0", "cara 1.1.0", "dave 1.2.0"}
    sound(alice, cara, dave, erin)


def test_what_was_kept_of_a_stranger_counts_once_something_that_counts_reaches_it(tmp_path: Path) -> None:
    """LAZ-31, LAZ-71: it comes out of quarantine without another visit, and nothing else of the stranger does."""
    alice, _, cara, dave = let_in_by_bob(tmp_path)
    cut(alice, "bob", 1)
    shared = {int(p) for (p,) in dave.store.rows("SELECT p FROM shared")}
    sent = {record: stored for p, record, stored in dave.store.bodies() if p in shared}
    hers = {record for record in sent if record.kind == "S" and signer_of(sent[record]) == cara.node}
    early = Receiver(alice, "stick")
    early.take([(record, sent[record]) for record in hers])
    with alice.writing() as w:
        early.finish(w)
    assert {one.hash for one in quarantined(alice)} == {record.text for record in hers}
    assert hers <= early.refused_before(), "nobody knows yet what reaches it"
    receiver = Receiver(alice, "stick", keeps_content=True)
    receiver.take([pair for pair in sent.items() if pair[0] not in hers])
    assert hers - receiver.refused_before(), "asked for again"
    with alice.writing() as w:
        receiver.finish(w)
        w.store.settle(alice.node.text, alice.founding)
    kept = {one.app for one in quarantined(alice) if one.size}
    assert kept == {"lace/log", "lace/node", "lace/release", "lace/rev"}
    assert not hers & {refusal.hash for refusal in receiver.refusals}, "told once"
    receiver.take([pair for pair in sent.items() if pair[0].kind == "P"])
    with alice.writing() as w:
        receiver.finish(w)
        w.store.settle(alice.node.text, alice.founding)
    assert "dave 1.2.0" in seen_by(alice)
    sound(alice)


def signer_of(stored: bytes) -> Verifier | None:
    record = parse_record(stored)
    return record.signer if isinstance(record, Seal) else None
