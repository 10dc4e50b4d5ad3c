"""The sealed records of the profile, good and broken, against docs/formats.md section 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from tests.vault.profiles import (
    ALICE,
    BOB,
    FOUNDING,
    GROUP,
    INVITATION,
    SEALED,
    SUM,
    TAI,
    UNSIGNED,
    A,
    B,
    C,
    D,
    Extras,
    T,
    changed,
    known,
    link_list,
    plex_hash,
    plus,
    seal_hash,
    sealed,
    with_value,
    without,
)
from vault import profile
from vault.names import BadName, Version
from vault.profile import (
    AuditRecord,
    Commit,
    Founding,
    LogEntry,
    Manifest,
    Member,
    NodeCard,
    ProfileError,
    Release,
    Request,
    Resolution,
    Revision,
    Tree,
    plain_text,
    private_group,
    read,
)
from vault.records import Blob, Tai, b64a, parse_record

# Good records


@pytest.mark.parametrize("kind", SEALED)
def test_sealed_kinds_come_back_from_their_bytes(kind: str) -> None:
    record = sealed(SEALED[kind])
    value = known(parse_record(record.encode()))
    assert value.hash == record.hash
    assert value.signer == ALICE.verifier
    assert value.group == SEALED[kind].group
    assert value.tai == TAI
    assert value.plex_digest == SEALED[kind].hash.digest
    with pytest.raises(FrozenInstanceError):
        value.tai = Tai.ZERO  # type: ignore[misc]


@pytest.mark.parametrize("kind", UNSIGNED)
def test_unsigned_kinds_come_back_from_their_bytes(kind: str) -> None:
    plex = UNSIGNED[kind]
    value = known(parse_record(plex.encode()))
    assert (value.hash, value.signer, value.group, value.tai) == (plex.hash, None, GROUP, Tai.ZERO)


def test_the_fields_of_people() -> None:
    founding = Founding.read(sealed(FOUNDING))
    assert (founding.group, founding.salt, founding.id) == ("friends", bytes(range(32)), GROUP)
    card = NodeCard.read(sealed(SEALED["node"]))
    assert (card.label, card.machine) == ("alice", "attic pc")
    plain = NodeCard.to_plex(group=GROUP, node=ALICE.verifier, label="alice", tai=TAI)
    assert NodeCard.read(sealed(plain)).machine is None
    member = Member.read(sealed(SEALED["member"]))
    assert (member.node, member.label, member.invitation) == (BOB.verifier, "bob", INVITATION)
    request = Request.read(sealed(SEALED["request"]))
    assert (request.label, request.invitation, request.proof) == ("al", INVITATION, b"p" * 32)


def test_the_fields_of_history() -> None:
    commit = Commit.read(sealed(SEALED["commit"]))
    assert (commit.desk, commit.parents, commit.tree, commit.message) == ("main", (A, B), T, "é\n")
    revision = Revision.read(sealed(SEALED["revision"]))
    assert (revision.desk, revision.number, revision.commit, revision.prev) == ("main", 7, A, B)
    release = Release.read(sealed(SEALED["release"]))
    assert (release.version, release.commit, release.rev) == (Version(2, 4, 1), A, B)
    assert (release.content_sha512, release.message) == (SUM, "done")
    chosen = Resolution.read(sealed(SEALED["resolution"]))
    assert (chosen.sides, chosen.chosen, chosen.release, chosen.result) == ((A, B), A, None, C)
    merged = Resolution.read(sealed(SEALED["merged"]))
    assert (merged.chosen, merged.release, merged.reason) == (None, D, "both were right")


def test_the_fields_of_chains() -> None:
    entry = LogEntry.read(sealed(SEALED["log"]))
    assert (entry.seq, entry.lamport, entry.prev, entry.entries) == (2, 9, A, (D, C, B))
    audit = AuditRecord.read(sealed(SEALED["audit"]))
    assert (audit.number, audit.verb, audit.parent, audit.body) == (2, "release", A, b"(audit)")
    assert audit.group == private_group(ALICE.verifier) == f"local/{ALICE.verifier.text}"


def test_headers_stand_as_the_formats_say() -> None:
    # the order of words, and of hashes among one word
    assert SEALED["commit"].extras == (
        ("+Link", f"parent {A}"),
        ("+Link", f"parent {B}"),
        ("+Link", f"tree {T}"),
    )
    assert SEALED["log"].extras == (
        ("+Link", f"prev {A}"),
        ("+Link", f"entry {D}"),
        ("+Link", f"entry {C}"),
        ("+Link", f"entry {B}"),
        ("Lamport", "9"),
        ("Seq", "2"),
    )
    assert [v.split()[0] for _, v in SEALED["merged"].extras] == ["release", "result", "side", "side"]
    assert SEALED["release"].name == "main/2.4.1"
    assert UNSIGNED["manifest"].extras == (
        ("Chunk+Link", f"300 {T}"),
        ("Chunk+Link", f"20 {plex_hash(1)}"),
        ("Content-Length", "320"),
        ("Level", "1"),
    )


def test_other_headers_are_kept_and_mean_nothing() -> None:
    for kind, plex in SEALED.items():
        more = changed(plex, extras=plus(("Zebra", "stripes"), ("Zebra", "more"))(plex.extras))
        assert type(known(sealed(more))) is type(known(sealed(plex))), kind


def test_what_the_profile_does_not_know_is_none() -> None:
    assert read(Blob(b"x")) is None
    assert read(changed(UNSIGNED["data"], app="chat")) is None
    assert read(sealed(changed(UNSIGNED["data"], app="lace/later"))) is None


# Broken records


@pytest.mark.parametrize("kind", SEALED)
def test_a_sealed_kind_without_its_seal_is_refused(kind: str) -> None:
    with pytest.raises(ProfileError, match="sealed"):
        read(SEALED[kind])


@pytest.mark.parametrize("kind", UNSIGNED)
def test_an_unsigned_kind_under_a_seal_is_refused(kind: str) -> None:
    with pytest.raises(ProfileError, match="bare Plex"):
        read(sealed(UNSIGNED[kind]))


@pytest.mark.parametrize("kind", ["founding", "node", "request", "audit"])
def test_what_names_its_signer_is_refused_from_another(kind: str) -> None:
    with pytest.raises(ProfileError, match="signer"):
        read(sealed(SEALED[kind], BOB))


@pytest.mark.parametrize("kind", [kind for kind in SEALED if kind not in {"founding", "audit"}])
@pytest.mark.parametrize("group", ["friends", "local/x", private_group(ALICE.verifier), GROUP + "x", "a/b/c"])
def test_a_shared_record_needs_a_group_id(kind: str, group: str) -> None:
    with pytest.raises(ProfileError, match="Group"):
        read(sealed(changed(SEALED[kind], group=group)))


@pytest.mark.parametrize("group", [GROUP, "local"])
def test_a_founding_record_stands_in_the_bare_name(group: str) -> None:
    with pytest.raises(ProfileError, match="group name"):
        read(sealed(changed(FOUNDING, group=group)))


@pytest.mark.parametrize("kind", ["founding", "node", "member", "request", "revision", "log"])
def test_a_kind_without_body_has_none(kind: str) -> None:
    with pytest.raises(ProfileError, match="bytes of data"):
        read(sealed(changed(SEALED[kind], data=b"x")))


@pytest.mark.parametrize("kind", ["commit", "release", "resolution"])
@pytest.mark.parametrize("data", [b"\xff", b"a\r\nb", "e\u0301".encode(), b"\xed\xa0\x80"])
def test_texts_are_utf8_in_nfc_with_lf(kind: str, data: bytes) -> None:
    with pytest.raises(ProfileError, match="text"):
        read(sealed(changed(SEALED[kind], data=data)))


def seals(word: str, count: int) -> list[str]:
    return [f"{word} {found}" for found in sorted(map(seal_hash, range(count)))]


BROKEN_HEADERS: list[tuple[str, Callable[[Extras], Extras], str]] = [
    ("founding", with_value("Profile", "1"), "Profile"),
    ("founding", without("Profile"), "Profile is missing"),
    ("founding", without("Founder"), "Founder is missing"),
    ("founding", with_value("Founder", "alice"), "verifier"),
    ("founding", with_value("Salt", b64a.encode(bytes(31))), "Salt"),
    ("founding", with_value("Salt", "="), "B64A"),
    ("founding", plus(("Salt", b64a.encode(bytes(32)))), "stands twice"),
    ("node", without("Label"), "Label is missing"),
    ("node", with_value("Label", "a/b"), "contains /"),
    ("node", with_value("Label", "x" * 65), "longer than 64"),
    ("node", plus(("Machine", "two")), "stands twice"),
    ("member", with_value("Label", "self"), "reserved"),
    ("member", with_value("Invitation", b64a.encode(bytes(15))), "Invitation"),
    ("request", without("Invitation"), "Invitation is missing"),
    ("request", without("Proof"), "Proof is missing"),
    ("request", with_value("Label", "a@b"), "contains @"),
    ("request", with_value("Invitation", b64a.encode(bytes(15))), "Invitation"),
    ("request", with_value("Proof", b64a.encode(bytes(33))), "Proof"),
    ("commit", link_list(f"parent {B}", f"parent {A}", f"tree {T}"), "not sorted"),
    ("commit", link_list(f"parent {A}", f"parent {A}", f"tree {T}"), "each once"),
    ("commit", link_list(f"tree {T}", f"parent {A}"), "too late"),
    ("commit", link_list(f"parent {A}"), "exactly one link tree"),
    ("commit", link_list(f"tree {T}", f"tree {plex_hash(1)}"), "exactly one link tree"),
    ("commit", link_list(f"tree {A}"), "type S"),
    ("commit", link_list(f"parent {T}", f"tree {T}"), "type P"),
    ("commit", link_list(f"tree {T}", f"uncle {A}"), "does not know"),
    ("commit", link_list("tree P.short.H3"), "record hash"),
    ("commit", link_list("tree"), "does not know"),
    ("commit", link_list(*seals("parent", 65), f"tree {T}"), "64"),
    ("revision", link_list(f"commit {A}"), "revision 1"),
    ("revision", link_list(f"prev {B}", f"commit {A}"), "too late"),
    ("revision", link_list(f"commit {A}", f"prev {B}", f"prev {C}"), "at most one link prev"),
    ("release", link_list(f"commit {A}"), "link rev"),
    ("release", without("Content-SHA512"), "missing"),
    ("release", with_value("Content-SHA512", SUM.upper()), "lower-case hex"),
    ("release", with_value("Content-SHA512", SUM[:-1]), "128"),
    ("release", with_value("Content-SHA512", "sha256:" + "0f" * 64), "sha512:"),
    ("resolution", link_list(f"chosen {A}", f"result {C}", f"side {A}"), "1 sides"),
    ("merged", link_list(f"release {D}", f"result {C}", *seals("side", 65)), "65 sides"),
    ("revocation", link_list(*seals("keep", 401)), "401 admissions"),
    ("resolution", link_list(f"chosen {A}", f"result {C}", f"side {B}", f"side {A}"), "not sorted"),
    ("resolution", link_list(f"result {C}", f"side {A}", f"side {B}"), "either"),
    (
        "resolution",
        link_list(f"chosen {A}", f"release {D}", f"result {C}", f"side {A}", f"side {B}"),
        "either",
    ),
    ("resolution", link_list(f"chosen {D}", f"result {C}", f"side {A}", f"side {B}"), "one of its sides"),
    ("resolution", link_list(f"release {A}", f"result {C}", f"side {A}", f"side {B}"), "one of its sides"),
    ("resolution", link_list(f"chosen {A}", f"side {A}", f"side {B}"), "link result"),
    ("log", with_value("Seq", "3"), "not its Name"),
    ("log", without("Seq"), "Seq is missing"),
    ("log", without("Lamport"), "Lamport is missing"),
    ("log", with_value("Lamport", str(2**63)), "Lamport"),
    ("log", with_value("Lamport", "9" * 1000), "Lamport"),
    ("log", link_list(f"entry {B}"), "Seq 1"),
    ("log", link_list(f"entry {B}", f"prev {A}"), "too late"),
    ("log", link_list(f"prev {A}"), "shares 0"),
    ("log", link_list(f"prev {A}", *[f"entry {B}"] * 401), "400"),
    ("log", link_list(f"prev {A}", f"entry {T}"), "type P"),
    ("audit", without("Verb"), "Verb is missing"),
    ("audit", link_list(), "number 1"),
]


@pytest.mark.parametrize(("kind", "change", "rule"), BROKEN_HEADERS)
def test_a_header_out_of_place_names_its_rule(kind: str, change: Callable[[Extras], Extras], rule: str) -> None:
    plex = SEALED[kind]
    record = sealed(changed(plex, extras=change(plex.extras)))
    with pytest.raises(ProfileError, match=rule) as caught:
        read(record)
    assert record.hash.text in caught.value.message
    assert plex.app in caught.value.message
    assert caught.value.exit_code == 47


AT_THE_LIMIT = [
    ("commit", link_list(*seals("parent", 64), f"tree {T}")),
    ("merged", link_list(f"release {seal_hash(64)}", f"result {C}", *seals("side", 64))),
    ("revocation", link_list(*seals("keep", 400))),
    ("log", link_list(f"prev {A}", *[f"entry {B}"] * 400)),
]


@pytest.mark.parametrize(("kind", "change"), AT_THE_LIMIT)
def test_as_many_links_as_the_formats_allow_are_read(kind: str, change: Callable[[Extras], Extras]) -> None:
    plex = SEALED[kind]
    assert read(sealed(changed(plex, extras=change(plex.extras))))


BROKEN_NAMES = [
    ("founding", "other", "founding"),
    ("node", BOB.verifier.text, "signer"),
    ("node", "alice", "verifier"),
    ("member", "bob", "verifier"),
    ("commit", "main/1", "contains /"),
    ("revision", "main", "two parts"),
    ("revision", "main/1/2", "two parts"),
    ("revision", "main/0", "revision number"),
    ("revision", "main/07", "decimal"),
    ("revision", "main/+7", "decimal"),
    ("revision", "main/7_0", "decimal"),
    ("revision", "main/\u0667", "decimal"),  # a digit to Python, not to the formats
    ("revision", f"main/{2**63}", "decimal"),
    ("revision", "self/7", "reserved"),
    ("release", "main/2.4", "not a version"),
    ("release", "self/2.4.1", "reserved"),
    ("resolution", "self/2.4.0", "reserved"),
    ("audit", "0", "number 0"),
    ("release", "main/2.4.1-rc", "not a version"),
    ("resolution", "main/02.4.1", "not a version"),
    ("log", "02", "not its Name"),
    ("audit", "two", "decimal"),
]


@pytest.mark.parametrize(("kind", "name", "rule"), BROKEN_NAMES)
def test_a_name_out_of_place_names_its_rule(kind: str, name: str, rule: str) -> None:
    with pytest.raises(ProfileError, match=rule):
        read(sealed(changed(SEALED[kind], name=name)))


def test_first_steps_have_nothing_before_them() -> None:
    LogEntry.to_plex(group=GROUP, seq=1, lamport=1, prev=None, entries=[A], tai=TAI)
    Revision.to_plex(group=GROUP, desk="main", number=1, commit=A, prev=None, tai=TAI)
    AuditRecord.to_plex(node=ALICE.verifier, number=1, verb="init", parent=None, body=b"", tai=TAI)
    with pytest.raises(ProfileError):
        LogEntry.to_plex(group=GROUP, seq=1, lamport=1, prev=A, entries=[A], tai=TAI)
    with pytest.raises(ProfileError):
        Revision.to_plex(group=GROUP, desk="main", number=1, commit=A, prev=B, tai=TAI)


def test_a_value_cannot_be_made_wrong() -> None:
    entry = LogEntry.read(sealed(SEALED["log"]))
    with pytest.raises(ProfileError, match="Seq 0"):
        replace(entry, seq=0)
    with pytest.raises(ProfileError, match="Lamport -1"):
        replace(entry, lamport=-1)
    with pytest.raises(ProfileError, match="Level 9"):
        replace(Manifest.read(UNSIGNED["manifest"]), level=9)
    with pytest.raises(ProfileError, match="Group"):
        replace(entry, group="friends")


def test_the_limits_themselves_are_allowed() -> None:
    top = 2**63 - 1
    plex = LogEntry.to_plex(group=GROUP, seq=top, lamport=top, prev=A, entries=[B] * 400, tai=TAI)
    assert LogEntry.read(sealed(plex)).lamport == top
    parents = sorted(map(seal_hash, range(64)))
    plex = Commit.to_plex(group=GROUP, desk="d" * 64, parents=parents, tree=T, message="", tai=TAI)
    assert Commit.read(sealed(plex)).parents == tuple(parents)


def test_a_bad_name_is_the_callers_error_when_writing() -> None:
    with pytest.raises(BadName):
        NodeCard.to_plex(group=GROUP, node=ALICE.verifier, label="a@b", tai=TAI)
    with pytest.raises(BadName):
        Founding.to_plex(group="local", founder=ALICE.verifier, salt=bytes(32), tai=TAI)
    with pytest.raises(ProfileError):
        Commit.to_plex(group=GROUP, desk="main", parents=[], tree=T, message="a\r\nb", tai=TAI)


def test_typed_text_becomes_plain() -> None:
    assert plain_text("e\u0301\r\nx\ry") == "é\nx\ny"


def test_reading_another_kind_is_refused() -> None:
    with pytest.raises(ProfileError, match="App is not lace/commit"):
        Commit.read(sealed(SEALED["log"]))
    with pytest.raises(ProfileError, match="Blob"):
        Commit.read(Blob(b""))
    with pytest.raises(ProfileError, match="App is not lace/tree"):
        Tree.read(UNSIGNED["data"])


def test_every_app_is_read_by_the_kind_that_has_it() -> None:
    """What says where a reader stands agrees with the kinds themselves, and every name that is offered is there."""
    offered: dict[str, Any] = {name: getattr(profile, name) for name in profile.__all__}
    kinds = {kind.APP: kind for kind in offered.values() if hasattr(kind, "APP")}
    assert set(kinds) | {profile.DATA_APP} == profile.APPS
    for plex in SEALED.values():
        value = read(sealed(plex))
        assert value is not None
        assert type(value) is kinds[value.APP]
    with pytest.raises(AttributeError, match="Nobody"):
        profile.Nobody  # noqa: B018
