"""The registry of notes: each is one module's, says all of itself, and ends no command for good where it rotted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from lazy import remembered
from lazy.belonging.beacon import Presence
from tests.faults.cells import Cells, grown
from tests.people import ROOT
from tests.rows import put_text, text_at
from tests.shelf import Shelf
from tests.vault.vaults import found
from vault.fsck.notes import settle_notes, unreadable_notes
from vault.notes import folders, own, people, places, revisions, rules
from vault.notes.folders import FORMER, FORMER_BEFORE, LOOKED, LOOKED_UNTIL, BroughtPath, DeskAround, Totals
from vault.notes.forms import a_text
from vault.notes.note import BadNote, Note, Rotten
from vault.notes.own import Unanswered
from vault.notes.people import BEACON_STATUS
from vault.notes.places import PlaceFault, RingKey, Shown, WithoutRoom
from vault.notes.registry import NOTES, note_of
from vault.notes.revisions import KeptState, KeptStates, PathUnderWay
from vault.records import RecordHash, Verifier, b64a
from vault.store import Store
from vault.store.database import StoreDamaged

_FLOORS = ("vault", "transports", "lazy", "spark_export", "lace_tui")
_TREE, _SEAL = RecordHash("P", bytes(32)), RecordHash("S", bytes(32))
_NODE, _OTHER = Verifier(bytes(32)), Verifier(b"1" * 32)
_HEX = "ab" * 32
# What each note may hold; whoever adds a note adds what it may hold.
_HOLDS: dict[str, Any] = {
    "admission": _SEAL,
    "beacon next": "on Sunday",
    "beacon status": "busy",
    "came behind": True,
    "conflicts unheard": ("0123", "abcd"),
    "copied": True,
    "copies wanted": (_TREE,),
    "copies without room": WithoutRoom(900, 800, None, 5, "refused"),
    "crossed": True,
    "doubled": 7,
    "dropped requests": (_NODE.text, _OTHER.text),
    "evidence": ((_NODE.text, 3), ("two words", 4)),
    "former rules": (("*.txt\n", ""), ("*.bin\n", "below")),
    "former rules before the look at": (("*.txt\n", "below"), ("*.bin\n", "")),
    "forks": (_NODE.text,),
    "forks told": (_NODE.text,),
    "from around": (DeskAround("main", _SEAL, "wörds"),),
    "held back": {"code": "a", "hint": "b", "message": "c"},
    "invitation": f"lace-invite-0:{b64a.encode(b'any' + blake3(b'any').digest()[:8])}",
    "inviter": _NODE.text,
    "keeping": (("", 2), ("film", None)),
    "kept states": KeptStates(7, (KeptState(3, _TREE), KeptState(7, _TREE))),
    "late": (1, 5),
    "late-from": 0,
    "left": (_NODE.text,),
    "left as saved": _TREE,
    "left behind": (("words", "words", _TREE),),
    "looked at": _TREE,
    "looked at until": _TREE,
    "newcomers unheard": (_NODE.text,),
    "nowhere": {"none\nmain": 3},
    "orphans": ("a.bundle", "b.bundle"),
    "parted": (_NODE.text,),
    "parts": (BroughtPath("a", _SEAL, _SEAL), BroughtPath("b", None, _SEAL), BroughtPath("c", None, None)),
    "path under way": PathUnderWay(3, ("a", "b"), _TREE),
    "permits": (("", "read", False, (_NODE.text,)),),
    "place fault": PlaceFault("drop-full", "full", "wait", "1700000000:000000000"),
    "put aside": (_TREE, _SEAL),
    "revoked unheard": (_NODE.text,),
    "sealed keys": (RingKey(bytes(16), bytes(32), (_NODE, _OTHER)),),
    "sealed owners": ((_HEX, _HEX),),
    "sealed place": True,
    "sent behind": True,
    "sealed rebase": "yes",
    "sealed rebased": ("stick", "copy of it"),
    "sealed used": (_HEX[:32],),
    "seen in plain": (_NODE.text,),
    "shown at": Shown("ab", {_NODE.text: 4}),
    "told drafts": ("main@3",),
    "totals": Totals(_TREE, 2, 50),
    "unanswered": Unanswered(3, ["main"], {"what": "a"}, ["main", "", _TREE.text]),
    "unheard since": (5, (2, 3)),
    "unreported release": Unanswered(3, ["1.0.0"], {}, []),
    "words": 3,
    "written readable": (("peers.sexp", "ab"), ("log.sexp", "ab", "cd")),
}
_ROTTEN = ("~", "\0", "{", "[]x", "null", "[4]", '{"a": "b"}', "-1", "9" * 5000, "[" * 100_000, "V.x", "1 x", "\ufffd")


def _ids(note: Note[Any]) -> str:
    return note.name


def _sources() -> Iterator[tuple[str, str]]:
    for floor in _FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts), path.read_text("utf-8")


def test_no_two_notes_have_one_row() -> None:
    """APP-14: of a desk called "before the look at main" the rules were those of another note of `main`."""
    names = [note.name for note in NOTES]
    assert len(names) == len(set(names)) > 50
    rests = {
        other[len(name) + 1 :] for name in names for other in names if other.startswith(f"{name} ") and other != name
    }
    abouts = ["main", "two words", *(f"{rest} main" for rest in rests), *rests]
    keys = {note.key(about): (note, about) for note in NOTES for about in (abouts if note.of else [""])}
    assert len(keys) == sum(len(abouts) if note.of else 1 for note in NOTES)
    assert {key: note_of(key) for key in keys} == keys
    assert FORMER.key("before the look at main") != FORMER_BEFORE.key("main")
    assert LOOKED.key("main") == "looked at main"
    assert LOOKED.key("until x") != LOOKED_UNTIL.key("x")
    assert note_of("files of mine") is None


@pytest.mark.parametrize(
    ("name", "holds", "ends", "writers"),
    [
        ("a  b", "It.", "Never.", ("x",)),
        ("a", "It", "Never.", ("x",)),
        ("a", "It.", "", ("x",)),
        ("a", "It.", "No.", ()),
    ],
)
def test_a_note_that_says_too_little_is_none(name: str, holds: str, ends: str, writers: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="note"):
        Note(name, a_text(), holds, ends, writers)


def test_each_note_is_written_by_its_writers_alone() -> None:
    """APP-14: a stranger finds who writes what lies in a store, and nobody else does."""
    by_name = {
        name: note
        for home in (own, people, rules, folders, revisions, places)
        for name, note in vars(home).items()
        if note in NOTES
    }
    writes = re.compile(r"\b(?:set_note|drop_note|_set)\((?:vault, )?([A-Z][A-Z_]+)\b")
    texts = dict(_sources())
    for module, text in texts.items():
        for name in writes.findall(text):
            assert module in by_name[name].writers, f"{module} writes {name}"
    for name, note in by_name.items():
        for module in note.writers:
            says = name if module != "vault.store.schema" and not name.startswith("_") else note.name
            assert says in texts[module], f"{module} does not write {name}"


def test_rows_of_notes_are_read_and_written_through_the_registry() -> None:
    """APP-14: no module has a key of its own; the quick way has the names of its answers, and loads nothing else."""
    says = re.compile(r"(?:\bFROM|\bINTO|\bJOIN|\bUPDATE|,) meta\b")
    asking = {module for module, text in _sources() if says.search(text)}
    assert asking == {
        "lazy.remembered",
        "spark_export.queries",
        "vault.content.reached",
        "vault.fsck.notes",
        "vault.fsck.rules",
        "vault.store.cache",
        "vault.store.schema",
        "vault.store.store",
    }
    kept = {remembered.STATUS, remembered.QUEUE, remembered.CONFLICTS, remembered.VECTORS, remembered.CHANGES}
    assert kept == {note.name for note in NOTES if note.writers == ("lazy.remembered",)}
    assert f"'{own.GENERATION.name}'" in remembered.GENERATION


@pytest.mark.parametrize("note", NOTES, ids=_ids)
def test_what_a_note_holds_is_read_as_it_was_written(note: Note[Any]) -> None:
    held = _HOLDS.get(note.name, b64a.encode(bytes(16)))
    assert note.read(note.write(held)) == held
    assert note.write(note.form.none) == ""
    assert note.read("") == note.form.none
    assert note.rest("x" * (note.form.longest + 1)) == note.form.none
    with pytest.raises(BadNote):
        note.read("x" * (note.form.longest + 1))


# Each transaction writes the number of the generation anew.
@pytest.mark.parametrize("note", [note for note in NOTES if note is not own.GENERATION], ids=_ids)
def test_a_note_that_rotted_is_answered_and_a_repair_leaves_what_can_be_read(note: Note[Any], tmp_path: Path) -> None:
    """APP-13, APP-14: what cannot be read counts for nothing, or what needs it is refused; a repair ends either."""
    key = note.key("main" if note.of else "")
    with Store(tmp_path / "s.db", create=True) as store:
        for rotten in _ROTTEN:
            with store.transaction():
                put_text(store, key, rotten)
            try:
                note.read(rotten)
            except BadNote:
                pass
            else:
                continue
            if note.rotten is Rotten.REFUSED:
                with pytest.raises(StoreDamaged):
                    store.note(note, "main")
            else:
                assert store.note(note, "main") == note.rest(rotten)
            if note in {rules.PERMITS, folders.LEFT_BEHIND, own.EPOCH} or note.rotten is Rotten.TOLD_AGAIN:
                continue  # `vault.fsck.rules`, `repair` and `identity` settle these
            named = {thing.name for thing in unreadable_notes(store)}
            assert named == ({key} if note.rotten is Rotten.REFUSED else set())
            with store.transaction():
                settle_notes(store)
            assert note.read(text_at(store, key)) == note.rest(rotten)
            assert unreadable_notes(store) == []


def test_words_and_lines_that_did_not_rot_count_on(tmp_path: Path) -> None:
    """APP-13: one letter takes away what it stood in, and nothing else."""
    with Store(tmp_path / "s.db", create=True) as store:
        with store.transaction():
            put_text(store, "left", f"{_NODE.text} V.~ {_OTHER.text}")
            put_text(store, "evidence", f"{_NODE.text} x\n{_OTHER.text} 2")
        assert store.note(people.LEFT) == (_NODE.text, _OTHER.text)
        assert store.note(people.EVIDENCE) == ((_OTHER.text, 2),)


def test_half_a_character_and_a_number_past_what_sqlite_holds_have_rotted() -> None:
    """APP-13: neither is what lace wrote, so it counts for nothing; half a character was handed on as a text."""
    fault = PlaceFault("no-room", "No room on \U0001f4be.", "Free some.", "1700000000:000000000")
    text = places.PLACE_FAULT.write(fault)
    assert places.PLACE_FAULT.read(text) == fault
    with pytest.raises(BadNote):
        places.PLACE_FAULT.read(text.replace("\\udcbe", "~udcbe"))
    assert revisions.DOUBLED.read(str(2**63 - 1)) == 2**63 - 1
    with pytest.raises(BadNote):
        revisions.DOUBLED.read(str(2**63))


def test_what_an_earlier_lace_noted_is_read() -> None:
    """APP-13: vaults have it."""
    done = Unanswered(3, ["main"], {"what": "a"}, [])
    assert own.UNANSWERED.read(json.dumps([*done])) == done
    assert folders.BROUGHT_PATHS.read(json.dumps([["a", _SEAL.text]])) == (BroughtPath("a", _SEAL, _SEAL),)
    assert folders.AROUND.read(json.dumps(["main", _SEAL.text, "n"])) == (DeskAround("main", _SEAL, "n"),)


def test_a_beacon_says_what_the_note_of_it_may_hold() -> None:
    assert [BEACON_STATUS.read(one) for one in Presence] == [*Presence]
    with pytest.raises(BadNote):
        BEACON_STATUS.read("bvsy")


def test_notes_of_one_kind_are_listed(tmp_path: Path) -> None:
    with found(tmp_path) as vault:
        with vault.writing() as w:
            for desk in ("main", "until S"):
                w.store.set_note(LOOKED, _TREE, desk)
            w.store.set_note(LOOKED, None, "empty")
            w.store.set_note(LOOKED_UNTIL, _TREE, _SEAL.text)
        assert vault.store.notes(LOOKED) == [("until S", _TREE), ("main", _TREE)]


def _rot(cells: Cells, notes: list[Note[Any]], rotten: str) -> None:
    """Write rotten texts past what watches the table, one for each note, about something that is there."""
    with closing(cells._db()) as db, db:
        ((medium, node),) = db.execute("SELECT place_id, (SELECT node FROM peer) FROM place WHERE name = 'stick'")
        triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        about = {"desk": "main", "place": "stick", "medium": medium, "node": node, "commit": _SEAL.text, "verb": "undo"}
        about["medium and place"] = f"{medium} stick"
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        for note in notes:
            key = note.key(about[note.of] if note.of else "")
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, rotten))
        for _, sql in triggers:
            db.execute(sql)


@pytest.mark.parametrize("rotten", ["~", "[" * 100_000, '{"code": "~"}', f"{_NODE.text} x", "P.~"])
def test_notes_that_rotted_end_no_command(shelf: Shelf, rotten: str) -> None:
    """APP-13, APP-14: status, conflicts, update, sync, release and prune ended with 40 or 70, also after a repair."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    _rot(cells, [note for note in NOTES if note.rotten is Rotten.PASSED_OVER], rotten)
    assert cells.faults() == []


@pytest.mark.parametrize("note", [note for note in NOTES if note.rotten is Rotten.REFUSED], ids=_ids)
def test_a_note_that_is_never_taken_for_none_refuses_until_a_repair(shelf: Shelf, note: Note[Any]) -> None:
    """APP-13: the state that a folder looks at ended prune and release with 40 for good."""
    alice, _ = shelf.lay(grown)
    cells = Cells(alice)
    _rot(cells, [note], "~")
    told = [thing["name"] for thing in alice.lace("fsck", expect=1)["bad"]]
    assert note_of(next(name for name in told if name != "meta")) is not None
    assert cells.faults() == []
