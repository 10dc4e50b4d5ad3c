"""What a person typed is repeated without the password or token that may stand in it (CYB-15)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault.typed import holds_password, masked, shown

SECRET = "geheim"
BEGINNINGS = st.sampled_from(
    ("", "https://", "https//", "https:/", "https:", "//", "/", " https://", "url=https://", "git+https://", "ssh://",
     "ssh//", "http+plain://", "htps://", "see https://", "https://https://", "foo/")
)  # fmt: skip
NAMES = st.sampled_from(("alice", "oauth2", "alice@example.org", "ssh", "a.b", "x-token-auth", "", "h:22"))
AROUND = st.text(st.sampled_from("/?#@:.%\\ 0123456789abcXYZ[]'\"é\n"), max_size=8)
HOSTS = st.sampled_from(
    ("h", "host.example", "host.example:99", "[::1]", "[fe80::1]:7", "127.0.0.1", "host.example:v.git")
)
PATHS = st.sampled_from(("", "/", "/v.git", "/a/b c.git", "/d?x=1", "/d#V.abc", ".git"))


@given(BEGINNINGS, NAMES, AROUND, AROUND, HOSTS, PATHS)
@example("https://", "user", "1234/5", "", "host.example", "")
@example("https//", "user", "", "", "host.example", "")
@example("", "user", "1234/5", "", "host.example", "")
def test_no_spelling_of_a_password_is_repeated_and_the_host_is(
    beginning: str, name: str, before: str, after: str, host: str, path: str
) -> None:
    """A password may hold what ends a name, a host or a path elsewhere."""
    text = f"{beginning}{name}:{before}{SECRET}{after}@{host}{path}"
    assert SECRET not in shown(text)
    assert host in masked(text)
    assert holds_password(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://host.example:8443/a/b.git", "https://host.example:8443/a/b.git"),
        ("https://host.example/@alice/v.git", "https://host.example/@alice/v.git"),
        ("https://nas:8443/1234/a@b/v.git", "https://nas:...@b/v.git"),
        ("https://[::1]:99/d", "https://[::1]:99/d"),
        ("https://token@host.example/v.git", "https://...@host.example/v.git"),
        ("https://alice:geheim%40host.example/v.git", "https://...@host.example/v.git"),
        ("https://host.example:8443/a%40b.git", "https://host.example:8443/a%40b.git"),
        ("https://host.example/d?token=geheim#x", "https://host.example/d"),
        ("https//host.example/v.git?token=geheim", "https//host.example/v.git"),
        ("https:/host.example/v.git?token=geheim", "https:/host.example/v.git"),
        ("//host.example/d?token=geheim", "//host.example/d"),
        ("photos?/main#2", "photos?/main#2"),
        ("https://host.example/#V.abc", "https://host.example/#V.abc"),
        ("git@host.example:alice/v.git", "git@host.example:alice/v.git"),
        ("alice:geheim@https://host.example", "...@https://host.example"),
        ("friend:us/vault.git", "friend:us/vault.git"),
        ("main@2026-05-01T10:00", "main@2026-05-01T10:00"),
        ("me@home", "me@home"),
        ("", ""),
    ],
)
def test_a_host_that_a_person_needs_to_see_stays(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("at", ["@", "%40"])
def test_a_password_behind_an_encoded_colon_is_one(at: str) -> None:
    """Git decodes it for ssh, and the arguments of a program are there for everybody on the machine to see."""
    assert holds_password(f"ssh://alice%3Ageheim{at}host.example/v.git")
    assert "geheim" not in shown(f"ssh://alice%3Ageheim{at}host.example/v.git")
    assert not holds_password(f"ssh://alice%2Bb{at}host.example/v.git")
