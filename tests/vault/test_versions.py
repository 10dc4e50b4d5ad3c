"""The highest version is found where the rows are, in the order of `Version` (CYB-2)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.vault.vaults import found, write
from vault.names import BadVersion, Version
from vault.releasing import VersionTaken, check_free, release
from vault.revisions.versions import Span, highest_version, next_version, released_versions
from vault.store import Store

_numbers = st.integers(0, 12) | st.integers(0, 2**31 - 1)
_versions = st.builds(Version, _numbers, _numbers, _numbers, st.booleans())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(versions=st.lists(_versions, max_size=12))
def test_the_highest_version_is_the_same_in_sql(tmp_path: Path, versions: list[Version]) -> None:
    """CYB-2: numbers, not texts, and a merged one after the plain one."""
    path = tmp_path / "store.db"
    with Store(path, create=True) as store:
        with store.transaction():
            store.run("DELETE FROM release")
            for p, version in enumerate(versions):
                store.run(
                    "INSERT INTO release VALUES (?, ?, 'n', 'main', ?, 'c', 's', 't', 1, 1, 1)", p, str(p), str(version)
                )
                twin = f"{p}, {-p}", f"{p % 3}", f"{p % 2}", str(version)
                store.run("INSERT INTO release VALUES (?, ?, ?, ?, ?, 'c', 's', 't', 1, 1, 1)", 200 + p, *twin)
            store.run("INSERT INTO release VALUES (99, '99', 'n', 'main', '4000000000.0.0', 'c', 's', 't', 1, 1, 0)")
        assert highest_version(store, "main") == max(versions, default=None)
        assert highest_version(store, "other") is None
        told = {("n", "main"): versions} if versions else {}
        for p, version in enumerate(versions):
            told.setdefault((f"{p % 3}", f"{p % 2}"), []).append(version)
        spans = {(node, desk): span for node, of in released_versions(store).items() for desk, span in of.items()}
        assert spans == {where: Span(min(some), max(some)) for where, some in told.items()}


LAST = 2**31 - 1


def test_a_release_of_the_highest_number_stops_nobody(tmp_path: Path) -> None:
    """CYB-2: the next minor or major number follows; after the very last, a person names one that is free."""
    assert Version(1, 2, 3, merged=True).following() == Version(1, 2, 4)
    assert Version(1, LAST, LAST).following() == Version(2, 0, 0)
    with found(tmp_path) as vault:
        for version in (Version(1, 0, LAST), None, Version(LAST, LAST, LAST)):
            write(vault, "a.txt", f"{version}\n")
            release(vault, version)
        assert highest_version(vault.store, "main") == Version(LAST, LAST, LAST)
        assert next_version(vault) == Version(1, 1, 1)
        write(vault, "a.txt", "more\n")
        with pytest.raises(BadVersion, match="No version can follow") as refused:
            release(vault)
        assert refused.value.hint == "Name one that is free, for example: lace release 1.1.1"
        assert release(vault, Version(1, 1, 1)).version == Version(1, 1, 1)


def test_a_release_that_is_not_all_here_takes_its_version(tmp_path: Path) -> None:
    """CYB-5: it was proposed again, and refused as released where a conflict was merged."""
    with found(tmp_path) as vault:
        write(vault, "a.txt", "a\n")
        release(vault)
        with vault.store.transaction():
            vault.store.run(
                "INSERT INTO release VALUES (99, '99', 'n', 'main', '1.0.1', 'c', 's', 't', 1, 1, 0)",
            )
        assert next_version(vault) == Version(1, 0, 2)
        with pytest.raises(VersionTaken) as refused:
            check_free(vault, "main", Version(1, 0, 1))
        assert refused.value.hint == "The next free version is 1.0.2."
