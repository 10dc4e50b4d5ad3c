from __future__ import annotations

import ast
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazy.folder.acts import ACTS
from tests.people import ROOT
from tests.vault.profiles import changed
from vault.audit.chain import Damaged, Fault, told, verify_chain
from vault.audit.entries import (
    APP,
    AuditEntry,
    AuditError,
    make_entry,
    read_audit,
)
from vault.audit.export import export_sexp, export_text
from vault.profile import private_group
from vault.records.hashes import RecordHash
from vault.records.model import Plex, Seal
from vault.records.parse import parse_record
from vault.records.tai import Tai
from vault.sexp import Symbol, loads
from vault.suite import SigningKey

ALICE = SigningKey.from_seed(bytes(range(32)))
NEW_ALICE = SigningKey.from_seed(bytes(range(1, 33)))
MALLORY = SigningKey.from_seed(bytes(32))
NOON = Tai(1_800_000_037)
# Standard verbs, and those of them that lace has no act for: a release is published by a push.
_NO_ACT = {"seal-publish", "seal-subscribe", "seal-synchronize"}
_STANDARD = {"seal-commit", "seal-release", "lazy-join", "lazy-leave", "lazy-push", "lazy-pull", "lazy-sync"}
_STANDARD |= {"lazy-resolve", *_NO_ACT}


def entry_after(previous: Seal | None, verb: str = "seal-commit", **more: object) -> AuditEntry:
    sequence = 0 if previous is None else int(previous.plex.name)
    given: dict[str, object] = {
        "tai": NOON.later(sequence * 1_000_000_000),
        "actor": ALICE.verifier,
        "name": "alice",
        "verb": verb,
        "object": "main",
        "lace": "0.1.0",
    }
    return make_entry(previous, **(given | more))  # type: ignore[arg-type]


def seal(entry: AuditEntry, key: SigningKey = ALICE) -> Seal:
    return Seal.sign(entry.to_plex(), key)


@pytest.fixture
def chain() -> list[Seal]:
    seals: list[Seal] = []
    verbs = ["seal-commit", "seal-release", "lazy-sync", "lace-refuse", "seal-commit"]
    for verb in verbs:
        seals.append(seal(entry_after(seals[-1] if seals else None, verb)))
    return seals


def test_record_has_the_form_of_the_format() -> None:
    """CYB-9; docs/formats.md sections 1 and 6."""
    first = seal(entry_after(None))
    second = entry_after(
        first,
        "seal-release",
        object="main/1.0.0",
        parameters=[("files", "3")],
        motivation='a "good" day\n',
        relates_to=["S.x", "main"],
    )
    plex = second.to_plex()
    assert (plex.group, plex.app, plex.name) == (f"local/{ALICE.verifier.text}", "lace/audit", "2")
    assert plex.extras == (("+Link", f"parent {first.hash.text}"), ("Verb", "seal-release"))
    assert plex.blob.data.decode() == (
        '(audit (sequence 2) (timestamp "2027-01-15T08:00:01.000000000Z")'
        f' (parent "{first.hash.text}")'
        f' (actor (principal "{ALICE.verifier.text}") (name "alice"))'
        ' (action (verb "seal-release") (object "main/1.0.0") (parameters ("files" "3")))'
        ' (context (motivation "a \\"good\\" day\\n") (relates-to "S.x" "main") (language "en"))'
        ' (environment (lace "0.1.0")))\n'
    )
    assert first.plex.extras == (("Verb", "seal-commit"),)
    assert "(parent none)" in first.plex.blob.data.decode()


texts = st.text(max_size=30)


@given(
    st.sampled_from(sorted({*_STANDARD, *ACTS})),
    texts,
    st.lists(st.tuples(texts, texts), max_size=4),
    texts,
    st.lists(texts, max_size=4),
)
def test_round_trip_of_anything_a_peer_may_send(
    verb: str, name: str, parameters: list[tuple[str, str]], motivation: str, relates_to: list[str]
) -> None:
    """CYB-11: there is nothing that cannot be written down."""
    entry = entry_after(
        seal(entry_after(None)),
        verb,
        name=name,
        object=name,
        parameters=parameters,
        motivation=motivation,
        relates_to=relates_to,
    )
    sealed = seal(entry)
    assert read_audit(sealed) == entry
    again = parse_record(sealed.encode())
    assert isinstance(again, Seal)
    assert read_audit(again) == entry
    for line in export_text([sealed]):
        assert line.count("\n") == 2 + len(parameters) + bool(entry.motivation) + bool(entry.relates_to)
        assert all(character.isprintable() or character == "\n" for character in line)


def test_a_trail_is_read_by_its_form_alone(chain: list[Seal], monkeypatch: pytest.MonkeyPatch) -> None:
    """CYB-10: a check reads all entries, and what parses any S-expression takes several times as long for each."""
    monkeypatch.setitem(sys.modules, "sexpdata", None)
    assert verify_chain(chain, {ALICE.verifier}).ok


def test_long_texts_are_cut() -> None:
    """CYB-11: not even a very long message keeps an action out of the trail."""
    entry = entry_after(None, motivation="e\u0301" * 10**6, name="n" * 4096)
    assert entry.motivation == "é" * 4095 + "…"
    assert entry.name == "n" * 4096
    assert read_audit(seal(entry)) == entry


def test_whole_chain_verifies(chain: list[Seal]) -> None:
    """CYB-10."""
    verdict = verify_chain(chain, {ALICE.verifier})
    assert verdict.ok
    assert (verdict.length, verdict.last) == (5, chain[-1].hash)
    empty = verify_chain([], {ALICE.verifier})
    assert (empty.ok, empty.length, empty.last) == (True, 0, None)


def break_form(chain: list[Seal]) -> None:
    plex = chain[2].plex
    chain[2] = Seal.sign(replace(plex, extras=(*plex.extras[:-1], ("Verb", "lazy-pull"))), ALICE)


def break_signature(chain: list[Seal]) -> None:
    chain[2] = replace(chain[2], signature=bytes(64))


def break_signer(chain: list[Seal]) -> None:
    chain[2] = seal(entry_after(chain[1], actor=MALLORY.verifier), MALLORY)


def break_sequence(chain: list[Seal]) -> None:
    del chain[2]


def break_by_swapping(chain: list[Seal]) -> None:
    chain[2], chain[3] = chain[3], chain[2]


def break_by_repeating(chain: list[Seal]) -> None:
    chain.insert(2, chain[1])


def break_parent(chain: list[Seal]) -> None:
    chain[2] = seal(replace(read_audit(chain[2]), parent=chain[0].hash))


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (break_form, Fault.FORM),
        (break_signature, Fault.SIGNATURE),
        (break_signer, Fault.SIGNER),
        (break_sequence, Fault.SEQUENCE),
        (break_by_swapping, Fault.SEQUENCE),
        (break_by_repeating, Fault.SEQUENCE),
        (break_parent, Fault.PARENT),
    ],
)
def test_first_break_is_reported(chain: list[Seal], step: object, fault: Fault) -> None:
    """CYB-10."""
    assert callable(step)
    step(chain)
    verdict = verify_chain(chain, {ALICE.verifier})
    assert not verdict.ok
    assert verdict.length == 2
    assert verdict.last == chain[1].hash
    assert verdict.first_break is not None
    assert (verdict.first_break.position, verdict.first_break.fault) == (3, fault)
    assert verdict.first_break.record == chain[2].hash


def test_rewritten_entry_breaks_at_the_next_one(chain: list[Seal]) -> None:
    """CYB-10: even the vault's own key cannot change the past unseen."""
    chain[2] = seal(entry_after(chain[1], "lazy-sync", motivation="never happened"))
    verdict = verify_chain(chain, {ALICE.verifier})
    assert verdict.first_break is not None
    assert (verdict.first_break.position, verdict.first_break.fault) == (4, Fault.PARENT)


def test_a_walk_goes_on_behind_what_does_not_fit(chain: list[Seal]) -> None:
    """CYB-10: a lost entry hid whatever else was wrong behind it; now all that can be checked is, and told apart."""
    for verb in ("lazy-push", "lazy-pull", "lace-label", "lazy-sync"):
        chain.append(seal(entry_after(chain[-1], verb)))
    changed_later = seal(replace(read_audit(chain[6]), motivation="never happened"))
    lost, forged = [*chain[:2], *chain[4:]], [*chain[:6], changed_later, *chain[7:]]
    gap = verify_chain(lost, {ALICE.verifier})
    assert [(one.position, one.number, one.missing, one.fault) for one in gap.breaks] == [(3, 5, 2, Fault.SEQUENCE)]
    assert gap.breaks[0].text == "Entries 3 to 4 are missing."
    assert (gap.length, gap.behind, gap.last) == (2, 5, chain[1].hash)
    both = verify_chain([entry for entry in forged if entry not in chain[2:4]], {ALICE.verifier})
    assert [(one.position, one.fault) for one in both.breaks] == [(3, Fault.SEQUENCE), (8, Fault.PARENT)]
    unread, strange = Damaged(chain[3].hash, 4), seal(replace(read_audit(chain[-1])), MALLORY)
    damaged = verify_chain([*chain[:3], unread, *chain[4:-1], strange], {ALICE.verifier})
    assert [(one.position, one.fault) for one in damaged.breaks] == [(4, Fault.FORM), (9, Fault.FORM)]
    assert (damaged.length, damaged.behind) == (3, 4)


def test_what_is_damaged_behind_a_gap_keeps_its_number(chain: list[Seal]) -> None:
    """CYB-10: it was named by the first number that is missing, and the gap was said to end one later."""
    for verb in ("lazy-push", "lazy-pull", "lace-label", "lazy-sync"):
        chain.append(seal(entry_after(chain[-1], verb)))
    strange = seal(replace(read_audit(chain[6])), MALLORY)
    for record in (Damaged(chain[6].hash, 7), strange):
        verdict = verify_chain([*chain[:3], record, *chain[7:]], {ALICE.verifier})
        found = [(one.position, one.missing, one.record) for one in verdict.breaks]
        assert found == [(4, 3, record[0] if isinstance(record, Damaged) else strange.hash), (7, 0, found[1][2])]
        assert verdict.behind == 2
    for wrong in (3, 9, 10**6):  # as the entries around it have it, that is no number of it
        lost = verify_chain([*chain[:3], Damaged(chain[6].hash, wrong), *chain[7:]], {ALICE.verifier})
        assert [(one.position, one.missing) for one in lost.breaks] == [(4, 0), (5, 3)]


def test_chain_must_begin_at_the_beginning(chain: list[Seal]) -> None:
    assert not verify_chain(chain[1:], {ALICE.verifier}).ok


def test_chain_goes_on_under_a_new_key_after_adopt(chain: list[Seal]) -> None:
    chain.append(seal(entry_after(chain[-1], "lace-adopt", actor=NEW_ALICE.verifier), NEW_ALICE))
    assert verify_chain(chain, {ALICE.verifier, NEW_ALICE.verifier}).length == 6
    assert not verify_chain(chain, {ALICE.verifier}).ok


def test_entries_before_a_lost_adoption_are_one_break_in_words(chain: list[Seal]) -> None:
    """CYB-10: each entry of the first key was told as a break of its own, and none of them said why."""
    adopted = seal(entry_after(chain[-1], "lace-adopt", actor=NEW_ALICE.verifier), NEW_ALICE)
    later = seal(entry_after(adopted, actor=NEW_ALICE.verifier), NEW_ALICE)
    verdict = verify_chain([*chain, later], {NEW_ALICE.verifier})
    assert [one.position for one in verdict.breaks] == [1, 2, 3, 4, 5, 6]
    (first, text), (_, gap) = told(verdict.breaks)
    assert (first.position, text[:29], gap) == (1, "Entries 1 to 5 do not fit: no", "Entry 6 is missing.")
    assert told(verdict.breaks[:1]) == [(first, first.text)]
    apart = [verdict.breaks[at] for at in (0, 2, 3, 5)]
    assert [text[:14] for _, text in told(apart)] == [
        "Entry 1, " + apart[0].record.text[:5],
        "Entries 3 to 4",
        "Entry 6 is mis",
    ]


def rebuilt(plex: Plex, **change: object) -> Seal:
    return Seal.sign(changed(plex, **change), ALICE)


BODY = entry_after(None).body()


@pytest.mark.parametrize(
    "change",
    [
        {"app": "lace/commit"},
        {"group": "local/x"},
        {"group": private_group(MALLORY.verifier)},
        {"name": "2"},
        {"extras": ()},
        {"extras": (("Verb", "seal-commit"), ("Verb", "seal-commit"))},
        {"data": b""},
        {"data": b"\xff"},
        {"data": BODY[:-1]},
        {"data": BODY + b"\n"},
        {"data": BODY.replace(b"(sequence 1)", b"(sequence 01)")},
        {"data": BODY.replace(b"(sequence 1)", b'(sequence "1")')},
        {"data": BODY.replace(b"(sequence 1)", b"(sequence 1 1)")},
        {"data": BODY.replace(b"(sequence 1)", b"")},
        {"data": BODY.replace(b"(sequence 1)", b"sequence")},
        {"data": BODY.replace(b"(parent none)", b'(parent "none")')},
        {"data": BODY.replace(b"(parent none)", b"(parent nothing)")},
        {"data": BODY.replace(b"(parameters)", b'(parameters ("a"))')},
        {"data": BODY.replace(b"(parameters)", b'(parameters "a")')},
        {"data": BODY.replace(b"(parameters)", b'(parameters ("a" "b" "c"))')},
        {"data": BODY.replace(b"(relates-to)", b"(relates-to ())")},
        {"data": BODY.replace(b'(motivation "")', b'(motivation "\\x")')},
        {"data": BODY.replace(b'(motivation "")', b'(motivation "\\u0041")')},
        {"data": BODY.replace(b'(motivation "")', b'(motivation "\n")')},
        {"data": BODY.replace(b'(motivation "")', b'(motivation "\x1b")')},
        {"data": BODY.replace(b'(motivation "")', b'(motivation "")"")')},
        {"data": BODY.replace(b'(motivation "")', b'(motivation "' + b"\\n" * 300_000 + b'")')},
        {"data": BODY.replace(b" (action", b"  (action")},
        {"data": BODY.replace(b"(environment", b"(surroundings")},
        {"data": BODY.replace(ALICE.verifier.text.encode(), MALLORY.verifier.text.encode())},
        {"data": BODY.replace(b'"V.', b'"P.')},
        {"data": b"(audit)\n"},
        {"data": b"none\n"},
    ],
)
def test_anything_else_is_no_audit_entry(change: dict[str, object]) -> None:
    good = entry_after(None).to_plex()
    assert read_audit(rebuilt(good)) == entry_after(None)
    bad = rebuilt(good, **change)
    assert bad.plex != good
    with pytest.raises(AuditError):
        read_audit(bad)


@pytest.mark.parametrize(
    "change",
    [
        {"sequence": 0},
        {"sequence": 2},
        {"sequence": 2**63},
        {"parent": RecordHash("S", bytes(32))},
        {"sequence": 2, "parent": RecordHash("P", bytes(32))},
        {"timestamp": "yesterday"},
        {"timestamp": "2027-01-15T08:00:00+01:00"},
        {"verb": "Seal Commit"},
        {"verb": ""},
        {"language": "e"},
        {"name": "\x1b[2J"},
        {"motivation": "x" * 300_000},
    ],
)
def test_parts_have_their_form(change: dict[str, object]) -> None:
    with pytest.raises(AuditError):
        replace(entry_after(None), **change)  # type: ignore[arg-type]


def test_standard_verbs() -> None:
    """CYB-12."""
    for verb in (*_STANDARD, *ACTS):
        assert read_audit(seal(entry_after(None, verb))).verb == verb


def test_export_as_sexp_holds_every_entry_with_its_seal(chain: list[Seal]) -> None:
    """CYB-13."""
    text = "".join(export_sexp(chain))
    trail = loads(text, len(text))
    assert isinstance(trail, tuple)
    assert trail[0] == Symbol("audit-trail")
    assert len(trail) == 1 + len(chain)
    for item, sealed in zip(trail[1:], chain, strict=True):
        assert isinstance(item, tuple)
        assert item[1] == (Symbol("id"), sealed.hash.text)
        assert item[3] == (Symbol("signature"), sealed.signature.hex())
        assert item[4] == read_audit(sealed).to_sexp()
    assert "".join(export_sexp([])) == "(audit-trail)\n"


def test_export_as_text(chain: list[Seal]) -> None:
    """CYB-13."""
    entry = entry_after(
        chain[0],
        "lazy-resolve",
        parameters=[("chosen", "S.1")],
        motivation="hers\nis better",
        relates_to=["a"],
    )
    sealed = seal(entry)
    assert "".join(export_text([sealed])) == (
        "2  2027-01-15T08:00:01.000000000Z  alice  lazy-resolve  main\n"
        "    chosen: S.1\n"
        "    because: hers is better\n"
        "    about: a\n"
        f"    {sealed.hash}\n"
    )


def test_app_is_the_one_of_the_format() -> None:
    assert APP == "lace/audit"


def test_every_verb_that_is_written_is_listed_and_undo_knows_it() -> None:
    """CYB-12, APP-4: who reads the trail, and who asks for the last act, meets no other word."""
    written = {"lace-evidence", "lazy-sync"}  # these under names
    for package in ("vault", "lazy", "lace_tui"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "audit":
                    written |= {str(one.value) for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant)}
    assert written == ACTS.keys()
    assert ACTS.keys() & _STANDARD == _STANDARD - _NO_ACT
    assert not [verb for verb, kind in ACTS.items() if kind.is_work + kind.is_silent + bool(kind.words) != 1]
