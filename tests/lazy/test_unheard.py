"""What a visit stored and told nobody of, being cut off, or a friend's at my server (APP-13, LAZ-38, LAZ-65)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import lazy.visits.visit
from lazy.arrivals import Arrivals, ExchangeResult
from lazy.belonging.adopting import adopt
from lazy.conflicts import conflicts
from lazy.contested import Conflict
from lazy.endings import Refused
from lazy.folder.update import update
from lazy.places.adding import add_place
from lazy.problems import Problem
from lazy.receiving.membership_news import MemberNews
from lazy.resolving.resolve import resolve_prefer
from lazy.results import PlaceResult, Traffic
from lazy.sync import sync
from lazy.vectors import my_vector
from tests.faults.circle import around, befriend, befriended, visit, write
from tests.lazy.three import cut
from tests.shelf import Shelf
from transports.errors import PlaceNotWritable, PlaceUnreachable
from vault import releasing
from vault.identity.mark import VaultForked
from vault.names import Version
from vault.records import RecordHash
from vault.vault import Vault


@pytest.fixture
def circle(tmp_path: Path, shelf: Shelf) -> Iterator[tuple[Vault, Vault, Vault]]:
    """Alice, her device copied whole, and bob; each of the two has released something of their own."""
    alice, bob = shelf.lay(befriended, "bob")
    shutil.copytree(tmp_path / "alice", tmp_path / "twin" / "alice")
    twin = Vault(tmp_path / "twin" / "alice" / "f", around(tmp_path / "twin", "alice"))
    for vault, name, version in ((alice, "a.txt", Version(2, 0, 0)), (twin, "b.txt", Version(2, 1, 0))):
        write(vault, name, f"{name}\n")
        releasing.release(vault, version, name)
    visit(alice)
    yield alice, twin, bob
    for vault in (alice, twin, bob):
        vault.close()


def cut_off(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Visit the stick, which is pulled out when all of it was read and nothing was told yet."""

    def gone(*_: object, **__: object) -> None:
        raise PlaceUnreachable("The stick was pulled out.")

    with monkeypatch.context() as patched:
        patched.setattr(lazy.visits.visit, "told_of_closed", gone)
        with pytest.raises(PlaceUnreachable):
            visit(vault)


def go_on(twin: Vault) -> None:
    """Let the copied device meet its own fork, and go on under a new key."""
    with pytest.raises(VaultForked):
        visit(twin)
    adopt(twin, name="alice-road")
    visit(twin)


def told(result: PlaceResult) -> list[str]:
    """Return the problems of a visit."""
    return [problem.code for problem in result.problems]


def test_what_came_before_a_cut_is_told_by_the_next_visit(
    circle: tuple[Vault, Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """APP-13: the release was here and no visit ever said so, nor that an update brings it."""
    _, _, bob = circle
    cut_off(bob, monkeypatch)
    after = visit(bob)
    assert [str(release.version) for release in after.came.releases] == ["2.0.0"]
    assert after.next == "lace update"
    assert visit(bob).came.releases == []


def test_what_came_while_this_vault_might_sign_nothing_is_told_once_it_may(
    circle: tuple[Vault, Vault, Vault],
) -> None:
    """APP-13, LAZ-65: it was stored, and by the time a visit could end it was shown already and new to none."""
    _, twin, bob = circle
    write(bob, "c.txt", "of bob\n")
    releasing.release(bob, Version(3, 0, 0), "third")
    visit(bob)
    for _ in range(2):
        with pytest.raises(VaultForked):
            visit(twin)
    adopt(twin, name="alice-road")
    after = visit(twin)
    assert "3.0.0" in [str(release.version) for release in after.came.releases]
    assert after.next == "lace update"
    assert visit(twin).came.releases == []


def test_a_fork_that_a_cut_visit_brought_is_told_by_the_next(
    circle: tuple[Vault, Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-65: that a key is in two hands is no news to lose with a stick that was pulled out."""
    _, twin, bob = circle
    visit(bob)
    go_on(twin)
    cut_off(bob, monkeypatch)
    assert told(visit(bob)) == ["forked"]
    assert told(visit(bob)) == []


def test_a_fork_that_a_friend_brought_to_my_vault_is_told_by_my_next_visit(
    circle: tuple[Vault, Vault, Vault], tmp_path: Path
) -> None:
    """LAZ-65: who serves tells who came, and not what of it a person must know."""
    _, twin, bob = circle
    visit(bob)
    carol = befriend(tmp_path, bob, "carol", machine="b")
    go_on(twin)
    assert told(visit(carol)) == ["forked"]
    shutil.copytree(tmp_path / "bob" / "home", tmp_path / "carol" / "home", dirs_exist_ok=True)  # one machine
    add_place(carol, "bobs", str(bob.folder), cwd=tmp_path)
    (brought,) = sync(carol, ["bobs"])
    assert brought.sent
    assert my_vector(bob)[circle[0].node.text].forked
    assert told(visit(bob)) == ["forked"]
    carol.close()


def contest(bob: Vault) -> str:
    """Let bob release what alice released as 2.0.0 with another content, and return the id of the conflict."""
    write(bob, "a.txt", "of bob\n")
    releasing.release(bob, Version(2, 0, 0), "as well")
    visit(bob)
    return only(conflicts(bob)).id


def only(found: list[Conflict]) -> Conflict:
    (one,) = found
    return one


def test_a_conflict_that_a_cut_visit_brought_is_told_by_the_next(
    circle: tuple[Vault, Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-38, APP-13: it was noted, and so it was new to no visit that could say so."""
    alice, _, bob = circle
    contested = contest(bob)
    cut_off(alice, monkeypatch)
    assert visit(alice).came.new_conflicts == [contested]
    assert visit(alice).came.new_conflicts == []


def test_a_conflict_that_was_decided_before_a_visit_could_tell_of_it_is_no_news(
    circle: tuple[Vault, Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-38: whoever found it with `lace conflicts` is not asked for it again."""
    alice, _, bob = circle
    contested = contest(bob)
    cut_off(alice, monkeypatch)
    resolve_prefer(alice, contested, "local")
    assert visit(alice).came.new_conflicts == []


def test_a_conflict_that_a_friend_brought_to_my_vault_is_told_by_my_next_visit(
    circle: tuple[Vault, Vault, Vault], tmp_path: Path
) -> None:
    """LAZ-38: who serves tells who came, and not of what a person must decide."""
    _, _, bob = circle
    visit(bob)
    carol = befriend(tmp_path, bob, "carol", machine="b")
    for vault in (bob, carol):
        write(vault, "c.txt", f"of {vault.name}\n")
        releasing.release(vault, Version(3, 0, 0), "third")
    shutil.copytree(tmp_path / "bob" / "home", tmp_path / "carol" / "home", dirs_exist_ok=True)  # one machine
    add_place(carol, "bobs", str(bob.folder), cwd=tmp_path)
    (brought,) = sync(carol, ["bobs"])
    assert brought.sent
    contested = only(conflicts(bob)).id
    assert visit(bob).came.new_conflicts == [contested]
    assert visit(bob).came.new_conflicts == []
    carol.close()


def test_a_repeated_visit_tells_all_of_the_first() -> None:
    """APP-13, LAZ-65: what a private repository that was torn by a power cut keeps from being pushed."""
    asked = (RecordHash.of("S", b"asked"), "not-member", "asks to belong")
    refusal = PlaceNotWritable("Git cannot work with what lies here.")
    none: tuple[RecordHash, ...] = ()
    exchange = ExchangeResult("eve", "", None, None, 1, none, (asked,), none, True, 1, "", False)
    came, cost = Arrivals([exchange], awaited=frozenset({asked[0]})), Traffic(round_trips=3)
    first = PlaceResult("host", "git", ending=Refused(refusal), came=came, traffic=cost)
    first.problems += [Problem("forked", "The log of alice forked.", "alice"), Problem.of(refusal, "host")]
    again = PlaceResult("host", "git", traffic=Traffic(round_trips=2))
    again.follow(first)
    assert told(again) == ["forked"]
    assert again.came.disputed == []
    assert again.traffic.round_trips == 5


def revoke_carol(alice: Vault, bob: Vault, root: Path) -> Vault:
    """Let bob know carol, whom alice then revokes; return carol's vault."""
    carol = befriend(root, alice, "carol")
    for vault in (carol, alice, bob):
        visit(vault)
    cut(alice, "carol")
    visit(alice)
    return carol


def test_a_revocation_that_a_cut_visit_brought_is_told_by_the_next(
    circle: tuple[Vault, Vault, Vault], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-69, APP-13: it was stored, and so it was new to no visit that could say so."""
    alice, _, bob = circle
    carol = revoke_carol(alice, bob, tmp_path)
    cut_off(bob, monkeypatch)
    assert [one.sentence for one in visit(bob).came.membership] == ["alice revoked carol"]
    assert visit(bob).came.membership == []
    carol.close()


def test_a_revocation_that_a_friend_brought_to_my_vault_is_told_by_my_next_visit(
    circle: tuple[Vault, Vault, Vault], tmp_path: Path
) -> None:
    """LAZ-69: who serves tells it there, perhaps to nobody."""
    alice, _, bob = circle
    dan = befriend(tmp_path, alice, "dan", machine="b")
    carol = revoke_carol(alice, bob, tmp_path)
    visit(dan)
    shutil.copytree(tmp_path / "bob" / "home", tmp_path / "dan" / "home", dirs_exist_ok=True)  # one machine
    add_place(dan, "bobs", str(bob.folder), cwd=tmp_path)
    sync(dan, ["bobs"])
    assert [one.sentence for one in visit(bob).came.membership] == ["alice revoked carol"]
    assert visit(bob).came.membership == []
    carol.close()
    dan.close()


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_release_that_a_friend_brought_to_my_vault_is_told_by_my_next_visit(
    circle: tuple[Vault, Vault, Vault], tmp_path: Path, is_taken: bool
) -> None:
    """LAZ-65, APP-13: no visit said that it came, nor that an update brings it; once it was taken it is no news."""
    _, _, bob = circle
    visit(bob)
    update(bob)
    carol = befriend(tmp_path, bob, "carol", machine="b")
    visit(carol)
    update(carol)
    write(carol, "c.txt", "of carol\n")
    releasing.release(carol, Version(3, 0, 0), "third")
    shutil.copytree(tmp_path / "bob" / "home", tmp_path / "carol" / "home", dirs_exist_ok=True)  # one machine
    add_place(carol, "bobs", str(bob.folder), cwd=tmp_path)
    (brought,) = sync(carol, ["bobs"])
    assert brought.sent
    if is_taken:
        update(bob)
    after = visit(bob)
    assert [str(release.version) for release in after.came.releases] == ([] if is_taken else ["3.0.0"])
    assert after.next == ("" if is_taken else "lace update")
    assert visit(bob).came.releases == []
    carol.close()


def test_two_of_one_name_are_told_apart_by_their_keys() -> None:
    """LAZ-69: who revoked somebody called as they are did not revoke their own key."""
    told = [MemberNews("carol", "carol", is_own, is_gone=True).sentence for is_own in (False, True)]
    assert told == ["carol revoked carol", "carol revoked their own key"]


def test_a_refusal_is_told_also_where_this_vault_may_sign_nothing_by_then(
    circle: tuple[Vault, Vault, Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAZ-24, LAZ-47: what waits there is queued for a reason, which no answer named."""
    _, twin, _ = circle
    full = PlaceNotWritable("The stick is write-protected.")

    def refuse(*_: object, **__: object) -> None:
        raise full

    monkeypatch.setattr(lazy.visits.visit, "publish_mine", refuse)
    (result,) = sync(twin, ["stick"], tells_held=True)
    assert isinstance(result.held, VaultForked)
    assert result.refusal is full
    assert {full.code, VaultForked.code} <= set(told(result))
