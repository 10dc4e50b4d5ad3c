"""The highest version is found where the rows are, in the order of `Version` (CYB-2)."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault.history import highest_version
from vault.names import Version
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
            store.run("INSERT INTO release VALUES (99, '99', 'n', 'main', '4000000000.0.0', 'c', 's', 't', 1, 1, 0)")
        assert highest_version(store, "main") == max(versions, default=None)
        assert highest_version(store, "other") is None
