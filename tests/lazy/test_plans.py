"""The plan of a visit is one value: what is shown of it is what is moved by it (LAZ-13)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lazy.places.adding import add_place
from lazy.places.media import open_medium
from lazy.places.registry import Place, forget_place, keep_place, places
from lazy.sync import PlanOutdated, move, prepare, sync
from lazy.visits.drops import plugged_in
from lazy.visits.plans import VisitPlan, amount, plan_visit
from lazy.visits.visit import carry_out, show
from tests.people import Person
from tests.shelf import Shelf
from tests.transports.git_hosts import bare_repository
from tests.vault.vaults import befriend, befriended, found, write
from transports.filecache import BEGINNING, END
from transports.mailbox import Mailbox, MailboxMedium
from transports.reading import read_head, read_listing
from vault.names import Version
from vault.records import RecordHash
from vault.releasing import release
from vault.vault import Vault


@pytest.fixture
def trio(tmp_path: Path, shelf: Shelf) -> Iterator[tuple[Vault, Vault, Vault]]:
    """Three members who met on a stick."""
    alice, bob = shelf.lay(befriended, "bob")
    cara = befriend(tmp_path, alice, "cara")
    sync(bob, ["stick"])
    yield alice, bob, cara
    for vault in (alice, bob, cara):
        vault.close()


def _stick(vault: Vault, name: str = "stick") -> tuple[Place, MailboxMedium]:
    (place,) = [place for place in places(vault) if place.name == name]
    return place, open_medium(vault, place)


def _bodies(vault: Vault) -> set[RecordHash]:
    own = "SELECT b.kind, b.digest FROM body b JOIN rec r USING (p) JOIN sym s ON s.id = r.app"
    rows = vault.store.rows(f"{own} WHERE s.s <> 'lace/audit'")
    return {RecordHash(str(kind), bytes(digest)) for kind, digest in rows}


def _mailbox(vault: Vault, medium: MailboxMedium) -> set[RecordHash]:
    head = read_head(Mailbox(medium, vault.group, vault.node))
    assert head is not None
    return {record for record, _ in read_listing(Mailbox(medium, vault.group, vault.node), head.head).items()}


def _settled(vault: Vault, medium: MailboxMedium, plan: VisitPlan) -> tuple[set[RecordHash], set[RecordHash]]:
    """Return the records that a plan names, out and in, found without the code that counts or moves them."""
    assert plan.sending is not None
    rows = vault.store.rows(
        "SELECT b.kind, b.digest FROM exposure e JOIN body b USING (p) WHERE e.at <= ?", plan.sending.upto
    )
    out = {RecordHash(str(kind), bytes(digest)) for kind, digest in rows} - _mailbox(vault, medium)
    listed = {
        record
        for reading in plan.readings or ()
        for record, _ in read_listing(Mailbox(medium, vault.group, reading.node), reading.head.head).items()
    }
    return out, listed - _bodies(vault)


@pytest.mark.parametrize("road", ["stick", "host"])
def test_what_was_shown_is_exactly_what_was_moved(trio: tuple[Vault, Vault, Vault], tmp_path: Path, road: str) -> None:
    """LAZ-13: the counts that are shown, the records that move, and nothing that came to the medium meanwhile."""
    alice, bob, cara = trio
    if road == "host":
        uri = f"git+file:{bare_repository(tmp_path / 'host.git')}"
        for vault in trio:
            add_place(vault, "host", uri, cwd=tmp_path)
        for vault in (*trio, alice, bob):
            sync(vault, ["host"])
    for vault, text in ((alice, "verse\n" * 9_000), (bob, "chorus\n")):
        write(vault, f"{vault.name}.txt", text)
        release(vault, Version(1, int(vault is bob), 0), "by " + vault.name)
    sync(alice, [road])
    place, medium = _stick(bob, road)
    plan = plan_visit(bob, place.name, medium, push=True, pull=True)
    assert plan == plan_visit(bob, *(place.name, _stick(bob, road)[1]), push=True, pull=True)
    shown, said = show(bob, place, medium, plan), amount(bob, medium, plan)
    out, come = _settled(bob, medium, plan)
    assert shown.planned is not None
    assert (shown.sent, shown.planned.records_to_receive) == (len(out) + len(come), len(come))
    assert (said.sent.records, said.received, said.problems) == (len(out), len(come), ())
    assert out
    assert come
    write(cara, "late.txt", "too late\n")
    late = release(cara, Version(1, 2, 0), "after the plan")
    sync(cara, [road])
    before, there = _bodies(bob), _mailbox(bob, medium)
    done = carry_out(bob, place, medium, plan)
    assert _bodies(bob) - before == set(done.came.received) == come
    assert _mailbox(bob, _stick(bob, road)[1]) - there == out | come
    assert (done.sent, len(done.came.received)) == (shown.sent, shown.planned.records_to_receive)
    (after,) = sync(bob, [road])
    assert late.release in after.came.received
    assert not set(after.came.received) & come


@pytest.mark.parametrize("push", [True, False])
@pytest.mark.parametrize("is_met", [True, False])
def test_a_restored_vault_is_shown_what_it_said_before(tmp_path: Path, shelf: Shelf, is_met: bool, push: bool) -> None:
    """LAZ-13, LAZ-66: what its own mailbox lists comes back, and goes nowhere again though a friend lists it too."""
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(tmp_path / "alice", tmp_path / "backup")
    write(alice, "a.txt", "after the backup\n")
    release(alice, Version(2, 0, 0), "after the backup")
    sync(alice, ["stick"])
    if is_met:
        sync(bob, ["stick"])
    bob.close()
    alice.close()
    shutil.rmtree(tmp_path / "alice")
    (tmp_path / "backup").rename(tmp_path / "alice")
    with Vault(alice.folder, alice.around) as restored:
        (shown,) = sync(restored, ["stick"], push=push, dry_run=True)
        (done,) = sync(restored, ["stick"], push=push)
        assert done.came.received
        assert shown.planned is not None
        assert (shown.sent, shown.planned.records_to_receive) == (done.sent, len(done.came.received))


def test_a_plan_that_a_release_overtook_moves_nothing(trio: tuple[Vault, Vault, Vault]) -> None:
    """LAZ-13: what would move now is another thing than what was shown."""
    alice, bob, _ = trio
    write(bob, "a.txt", "one\n")
    release(bob, Version(1, 0, 0), "shown")
    prepared = prepare(bob, ["stick"])
    write(bob, "a.txt", "two\n")
    release(bob, Version(1, 1, 0), "not shown")
    with pytest.raises(PlanOutdated):
        move(bob, prepared)
    assert not sync(alice, ["stick"])[0].came.received
    (done,) = move(bob, prepare(bob, ["stick"]))
    assert done.sent > 0
    assert len(sync(alice, ["stick"])[0].came.releases) == 2


def test_a_fault_that_one_place_brings_out_keeps_nobody_from_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-24: a friend who found a fault in lace must not have found how to keep me from everybody else."""
    vault = found(tmp_path)
    for name in ("a", "b"):
        add_place(vault, name, str(tmp_path / name), cwd=tmp_path)
    write(vault, "a.txt", "one")
    release(vault, Version(1, 0, 0), "first")

    def opened(vault: Vault, place: Place, *, mends: bool) -> MailboxMedium:
        if place.name == "a":
            raise OverflowError("a number that no store keeps")
        return open_medium(vault, place, mends=mends)

    monkeypatch.setattr("lazy.sync.open_medium", opened)
    with pytest.raises(OverflowError) as fault:
        sync(vault, ["a", "b"])
    assert fault.value.__notes__ == ["It came out at the place a."]
    assert _mailbox(vault, _stick(vault, "b")[1])
    vault.close()


def test_something_else_where_a_place_was_keeps_nobody_from_the_others(tmp_path: Path) -> None:
    """LAZ-24: a file in the place of a stick, or an address that no version speaks, is told of that place alone."""
    vault = found(tmp_path)
    for name in ("a", "b", "c"):
        add_place(vault, name, str(tmp_path / name), cwd=tmp_path)
    write(vault, "a.txt", "one")
    release(vault, Version(1, 0, 0), "first")
    shutil.rmtree(tmp_path / "a")
    (tmp_path / "a").write_text("a note")
    with vault.writing() as w:
        forget_place(w, "c")
        keep_place(w, Place("c", "git", "rsync://host/v.git", "", None))
    done = {result.name: result for result in sync(vault, ["a", "b", "c"])}
    assert [done[name].problems[0].code for name in ("a", "c")] == ["place-unreachable"] * 2
    ways = "lace place remove a - if it lies elsewhere here: lace place remove a; lace place add a DIR"
    assert done["a"].problems[0].hint == f"Put back what lay there, or forget the place: {ways}"
    assert done["b"].sent > 0
    assert [one.place for one in plugged_in(vault)] == ["b"]
    vault.close()


def test_a_person_is_asked_and_gets_what_was_shown(alice: Person, bob: Person, tmp_path: Path) -> None:
    """LAZ-13: anything but yes moves nothing, here or there."""
    alice.lace("init", "--name", "alice")
    alice.lace("place", "add", "stick", str(tmp_path / "stick"))
    line = alice.lace("invite", "bob")["invite"]
    alice.lace("sync", "stick")
    bob.lace("accept", line)
    for person in (bob, alice, bob):
        person.lace("sync", "stick")
    alice.write("a.txt", "one\n")
    alice.lace("release", "1.0.0")
    files = {path: path.read_bytes() for path in (tmp_path / "stick").rglob("*") if path.is_file()}
    for reply in (b"", b"\n", b"no\n", b"yesterday\n"):
        asked = alice.run("--json", "sync", "stick", "--confirm", stdin=reply)
        assert (asked.code, asked.json["planned"]) == (1, True), "what follows && takes it for no sync"
        assert "would send 6 records" in asked.err
        assert "Move it? [y/N]" in asked.err
    assert files == {path: path.read_bytes() for path in (tmp_path / "stick").rglob("*") if path.is_file()}
    moved = alice.lace("sync", "stick", "--confirm", stdin=b"y\n")
    assert (moved["planned"], moved["sent"]) == (False, asked.json["sent"])
    assert bob.lace("pull", "stick", "--confirm", stdin=b"Yes\n")["received"] == moved["sent"]
    bob.lace("sync", "stick", "--confirm", "--dry-run", expect=2)
    bob.lace("sync", "stick", "--confirm", "--follow", expect=2)  # it went on for ever, and asked nothing


def test_a_little_is_added_to_much_without_reading_it(tmp_path: Path, shelf: Shelf) -> None:
    """Performance W5: what lies there is read neither by who adds nor by who takes; a newcomer still gets all of it."""
    alice, bob = shelf.lay(befriended, "bob")
    for number in range(3000):
        write(alice, f"d{number // 100}/{number}.txt", str(number))
    for vault in (alice, bob, alice, bob):
        if vault is alice and len(_bodies(alice)) < 3000:
            release(alice)
        sync(vault, ["stick"])
    place, medium = _stick(alice)
    runs = sum(size for name, size in medium.files(alice.group, alice.node).items() if name.endswith(".run"))
    assert runs > 100_000
    reads = {}
    for number in range(3):
        write(alice, f"new-{number}.txt", "new")
        release(alice)
        for vault in (alice, bob):
            place, medium = _stick(vault)
            result = carry_out(vault, place, medium, plan_visit(vault, "stick", medium, push=True, pull=True))
            assert not result.problems
            reads[vault.name, number] = result.traffic.bytes_read
    assert max(reads.values()) < 60_000, reads
    assert _bodies(alice) >= _mailbox(bob, _stick(bob)[1])
    assert _bodies(bob) >= _mailbox(alice, _stick(alice)[1])
    cara = befriend(tmp_path, alice, "cara")
    assert _bodies(cara) >= _mailbox(alice, _stick(alice)[1])
    for vault in (alice, bob, cara):
        vault.close()


def test_nothing_new_reads_the_ends_of_each_head(trio: tuple[Vault, Vault, Vault]) -> None:
    """Performance W4: on a medium a visit that finds nothing costs one look for each mailbox."""
    alice, bob, cara = trio
    for vault in (alice, bob, cara, alice, bob, cara):
        sync(vault, ["stick"])
    _, medium = _stick(bob)
    (result,) = sync(bob, ["stick"])
    assert result.traffic.bytes_read == medium.count.read + (BEGINNING + END) * len(medium.nodes(bob.group))
