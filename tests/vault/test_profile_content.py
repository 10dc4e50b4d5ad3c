"""Content records and foreign bytes of the profile, against docs/formats.md section 1."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.profiles import (
    ALICE,
    GROUP,
    SEALED,
    UNSIGNED,
    A,
    Extras,
    T,
    changed,
    known,
    plex_hash,
    plus,
    with_value,
    without,
)
from vault.desks.content import data_plex, tree_plex
from vault.profile import DATA_APP, TREE_APP, Chunk, Data, Manifest, ProfileError, Tree, read
from vault.records import RecordError, Seal, Tai, b64a, parse_record

# Content


@given(st.binary(max_size=200))
def test_one_content_is_one_record(content: bytes) -> None:
    plex = data_plex(GROUP, content)
    digest = blake3(content).digest()
    assert plex.name == b64a.encode(digest)
    value = known(parse_record(plex.encode()))
    assert isinstance(value, Data)
    assert (value.content, value.digest) == (content, digest)


@pytest.mark.parametrize("kind", ["data", "tree"])
def test_content_records_have_nothing_free(kind: str) -> None:
    plex = UNSIGNED[kind]
    with pytest.raises(ProfileError, match="digest"):
        read(changed(plex, name=b64a.encode(bytes(32))))
    with pytest.raises(ProfileError, match="digest"):
        read(changed(plex, data=plex.blob.data + b"!"))
    with pytest.raises(ProfileError, match="TAI"):
        read(changed(plex, tai=Tai(0, 1)))
    with pytest.raises(ProfileError, match="header"):
        read(changed(plex, extras=(("Note", "x"),)))
    with pytest.raises(ProfileError, match="Group"):
        read(changed(plex, group="friends"))


def test_a_tree_gives_its_body_unread() -> None:
    value = Tree.read(tree_plex(GROUP, b"any bytes"))
    assert (value.body, value.APP) == (b"any bytes", TREE_APP)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (without("Level"), "Level is missing"),
        (with_value("Level", "0"), "Level"),
        (with_value("Level", "9"), "Level"),
        (without("Content-Length"), "Content-Length is missing"),
        (with_value("Content-Length", "321"), "add up"),
        (plus(("Zebra", "x")), "must not have"),
        (plus(("Level", "1")), "stands twice"),
        (lambda extras: tuple((n, v.replace("300 P", "300 S")) for n, v in extras), "part of content"),
        (lambda extras: tuple((n, v.replace("300 P", "0300 P")) for n, v in extras), "decimal"),
        (lambda extras: (("Content-Length", "0"), ("Level", "1")), "0 chunks"),
        (lambda extras: (("Chunk+Link", f"0 {T}"), ("Content-Length", "0"), ("Level", "1")), "0 bytes"),
    ],
)
def test_a_manifest_out_of_place_names_its_rule(change: Callable[[Extras], Extras], rule: str) -> None:
    plex = UNSIGNED["manifest"]
    with pytest.raises(ProfileError, match=rule):
        read(changed(plex, extras=change(plex.extras)))
    with pytest.raises(ProfileError, match="data"):
        read(changed(plex, data=b"x"))


def test_a_manifest_holds_up_to_500_chunks() -> None:
    chunks = [Chunk(1, plex_hash(n)) for n in range(501)]
    value = Manifest.read(Manifest.to_plex(group=GROUP, digest=bytes(32), level=8, chunks=chunks[:500]))
    assert (value.size, value.chunks, value.APP) == (500, tuple(chunks[:500]), DATA_APP)
    with pytest.raises(ProfileError, match="501 chunks"):
        Manifest.to_plex(group=GROUP, digest=bytes(32), level=8, chunks=chunks)


# Foreign bytes

_words = st.sampled_from(["", "0", "1", "02", "parent", "entry", A.text, T.text, f"parent {A}", "lace", "~"])
_texts = st.one_of(_words, st.text(max_size=12))


@given(
    kind=st.sampled_from([*SEALED, *UNSIGNED]),
    coordinate=st.tuples(st.none() | _texts, st.none() | _texts),
    extras=st.lists(
        st.tuples(
            st.sampled_from(["+Link", "Chunk+Link", "Label", "Seq", "Lamport", "Level", "Salt", "Founder"]),
            _texts,
        ),
        max_size=4,
    ),
    data=st.binary(max_size=4),
    is_sealed=st.booleans(),
)
def test_every_valid_record_is_read_or_refused_by_name(
    kind: str,
    coordinate: tuple[str | None, str | None],
    extras: list[tuple[str, str]],
    data: bytes,
    is_sealed: bool,
) -> None:
    good = (SEALED | UNSIGNED)[kind]
    group, name = coordinate
    try:
        plex = changed(
            good,
            group=good.group if group is None else group,
            name=good.name if name is None else name,
            extras=extras or good.extras,
            data=data,
        )
    except RecordError:
        return
    try:
        value = read(Seal(ALICE.verifier, bytes(64), plex) if is_sealed else plex)
    except ProfileError:
        return
    assert value is not None
    assert (value.signer is not None) == is_sealed
