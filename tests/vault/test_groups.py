"""Group ids of the profile (docs/formats.md section 1)."""

from __future__ import annotations

import pytest

from tests.vault.profiles import ALICE, FOUNDING, GROUP, TAI
from vault.profile import Founding, ProfileError, check_group_id, group_id
from vault.records import b64a


def test_a_group_id_is_the_name_and_the_start_of_the_founding_digest() -> None:
    tag = b64a.encode(FOUNDING.hash.digest)[:16]
    assert group_id("friends", FOUNDING.hash.digest) == f"friends/{tag}" == GROUP
    assert check_group_id(GROUP) == GROUP
    other = Founding.to_plex(group="friends", founder=ALICE.verifier, salt=bytes(32), tai=TAI)
    assert group_id("friends", other.hash.digest) != GROUP


@pytest.mark.parametrize(
    "text",
    [
        "",
        "friends",
        "friends/",
        "friends/short",
        "/0123456789abcdef",
        "local/0123456789abcdef",
        GROUP + "/x",
        f"friends/{'=' * 16}",
        f"a#b/{'0' * 16}",
        f"{'x' * 65}/{'0' * 16}",
    ],
)
def test_other_texts_are_no_group_ids(text: str) -> None:
    with pytest.raises(ProfileError, match="Group"):
        check_group_id(text)
