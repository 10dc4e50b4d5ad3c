from __future__ import annotations

import re
import struct
from dataclasses import replace

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lazy.belonging.invitations import (
    MAX_CHARACTERS,
    PREFIX,
    Invitation,
    InvitationContentError,
    InvitationDamagedError,
    check_proof,
    invitation_id,
    proof,
)
from vault.identity.words import fingerprint_words
from vault.names import BadName
from vault.profile import group_id
from vault.records import b64a
from vault.records.hashes import Verifier
from vault.records.tai import Tai

SAMPLE = Invitation(
    group="friends",
    founding=bytes(range(32)),
    inviter=Verifier(bytes(range(32, 64))),
    secret=bytes(range(64, 80)),
    expires=Tai(1_800_000_000),
    name="bob",
    places=(("stick", "drop:/media/stick"), ("hub", "https://example.org/ä.git")),
)

names = st.text(alphabet="abcäöü 0-9_", min_size=1, max_size=20).filter(lambda t: t == t.strip())
invitations = st.builds(
    Invitation,
    group=names.filter(lambda t: t != "local"),
    founding=st.binary(min_size=32, max_size=32),
    inviter=st.binary(min_size=32, max_size=32).map(Verifier),
    secret=st.binary(min_size=16, max_size=16),
    expires=st.integers(0, 9_999_999_999).map(Tai),
    name=st.just("") | names,
    places=st.lists(
        st.tuples(names, st.from_regex(r"[a-z]{2,5}:/[a-z0-9/.]{0,80}", fullmatch=True)),
        max_size=5,
        unique_by=lambda place: place[0],
    ).map(tuple),
)


def with_checksum(body: bytes) -> str:
    return PREFIX + b64a.encode(body + blake3(body).digest()[:8])


def body_of(invitation: Invitation) -> bytes:
    return b64a.decode(invitation.encode().removeprefix(PREFIX))[:-8]


@given(invitations)
def test_round_trip(invitation: Invitation) -> None:
    line = invitation.encode()
    assert Invitation.decode(line) == invitation
    assert "\n" not in line
    assert len(line) <= MAX_CHARACTERS


def test_bytes_stand_as_the_format_says() -> None:
    """docs/formats.md section 5."""
    uris = [uri.encode() for _, uri in SAMPLE.places]
    assert body_of(SAMPLE) == (
        b"\x00\x07friends"
        + bytes(range(80))
        + struct.pack("<Q", 1_800_000_000)
        + b"\x03bob\x02\x05stick"
        + struct.pack("<H", len(uris[0]))
        + uris[0]
        + b"\x03hub"
        + struct.pack("<H", len(uris[1]))
        + uris[1]
    )


def test_wrapping_by_a_chat_or_mail_does_no_harm() -> None:
    line = SAMPLE.encode()
    assert Invitation.decode(f"  {line[:40]}\r\n{line[40:90]}\n {line[90:]}\n") == SAMPLE


@given(st.data())
def test_every_cut_is_called_a_cut(data: st.DataObject) -> None:
    line = SAMPLE.encode()
    cut = line[: data.draw(st.integers(len(PREFIX), len(line) - 1))]
    with pytest.raises(InvitationDamagedError, match="end of the invitation is missing"):
        Invitation.decode(cut)


@given(invitations, st.data())
def test_every_mistyped_character_is_noticed(invitation: Invitation, data: st.DataObject) -> None:
    line = invitation.encode()
    at = data.draw(st.integers(0, len(line) - 1))
    letter = data.draw(st.sampled_from(b64a.ALPHABET + ":!ä").filter(lambda c: c != line[at]))
    with pytest.raises(InvitationDamagedError):
        Invitation.decode(line[:at] + letter + line[at + 1 :])


def test_messages_say_what_is_wrong() -> None:
    line = SAMPLE.encode()
    for text, told in [
        ("", "begins with lace-invite-0:"),
        ("lace-invite-1:" + line[14:], "begins with lace-invite-0:"),
        (line[:30] + "!" + line[31:], "'!'"),
        (line + "0000", "added"),
        (line[:-1] + ("0" if line[-1] != "0" else "4"), "mistyped"),
        (line + "x" * MAX_CHARACTERS, "at most 4096"),
        (line + "x" * 10**6, "at most 4096"),
    ]:
        with pytest.raises(InvitationDamagedError, match=re.escape(told)):
            Invitation.decode(text)


@pytest.mark.parametrize(
    "body",
    [
        b"\x01" + body_of(SAMPLE)[1:],
        body_of(SAMPLE) + b"\x00",
        body_of(SAMPLE)[:-1],
        body_of(SAMPLE).replace(b"friends", b"fri/nds"),
        body_of(SAMPLE).replace(b"\x07friends", b"\x05local"),
        body_of(SAMPLE).replace(b"\x03bob", b"\x03\xff\xff\xff"),
        body_of(SAMPLE).replace(struct.pack("<Q", 1_800_000_000), b"\xff" * 8),
        body_of(SAMPLE).replace(b"drop:", b"drop\n"),
        body_of(SAMPLE).replace(b"\x03hub", b"\x05stick"),
        b"\x00",
    ],
)
def test_well_summed_nonsense_is_refused(body: bytes) -> None:
    with pytest.raises(InvitationDamagedError, match="not made by the rules"):
        Invitation.decode(with_checksum(body))


@pytest.mark.parametrize(
    "change",
    [
        {"founding": b"short"},
        {"secret": bytes(15)},
        {"expires": Tai(1, 1)},
        {"places": (("a", "x:/1"), ("a", "x:/2"))},
        {"places": (("a", ""),)},
        {"places": (("a", "x:\x1b[2J"),)},
        {"places": (("a", "x:" + "y" * 5000),)},
        {"places": (("a", "x:" + "y" * 70_000),)},
        {"places": tuple((f"p{n}", "x:/") for n in range(256))},
    ],
)
def test_parts_that_cannot_travel_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvitationContentError):
        replace(SAMPLE, **change)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"group": "local"}, {"name": "a/b"}, {"places": (("self", "x:/"),)}])
def test_bad_names_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(BadName):
        replace(SAMPLE, **change)  # type: ignore[arg-type]


def test_ids_and_words() -> None:
    """docs/formats.md sections 1 and 5."""
    digest = blake3(b"lace-invitation-id/v1" + SAMPLE.secret).digest()
    assert SAMPLE.id == invitation_id(SAMPLE.secret) == b64a.encode(digest[:16])
    assert len(SAMPLE.id) == 22
    assert SAMPLE.group_id == group_id("friends", SAMPLE.founding) == f"friends/{b64a.encode(SAMPLE.founding)[:16]}"
    assert SAMPLE.words == fingerprint_words(SAMPLE.inviter)


def test_secret_is_not_shown() -> None:
    """APP-11."""
    assert repr(SAMPLE.secret) not in repr(SAMPLE)
    assert b64a.encode(SAMPLE.secret) not in repr(SAMPLE)


def test_a_clock_past_the_expiry_is_told_and_refuses_nothing() -> None:
    """LAZ-16: the sentence names both dates, for either clock may be wrong."""
    assert SAMPLE.doubt(Tai(1_799_999_999, 999_999_999)) == ""
    (sentence,) = SAMPLE.doubt(Tai(9_999_990_000)).splitlines()
    for time in (Tai(9_999_990_000), SAMPLE.expires):
        assert time.to_utc_iso()[:16].replace("T", " ") in sentence
    assert SAMPLE.doubt(SAMPLE.expires)


def test_proof_is_bound_to_secret_group_and_requester() -> None:
    """docs/formats.md section 1."""
    bob = Verifier(bytes(32))
    made = proof(SAMPLE.secret, SAMPLE.group_id, bob)
    key = blake3(b"lace-invitation-secret/v1" + SAMPLE.secret).digest()
    text = f"lace-invitation-proof/v1\n{SAMPLE.group_id}\n{bob.text}"
    assert made == blake3(text.encode(), key=key).digest()
    assert check_proof(SAMPLE.secret, SAMPLE.group_id, bob, made)
    assert not check_proof(bytes(16), SAMPLE.group_id, bob, made)
    assert not check_proof(SAMPLE.secret, "friends/0000000000000000", bob, made)
    assert not check_proof(SAMPLE.secret, SAMPLE.group_id, SAMPLE.inviter, made)
    assert not check_proof(SAMPLE.secret, SAMPLE.group_id, bob, made[:31])
    assert not check_proof(SAMPLE.secret, SAMPLE.group_id, bob, b"")
