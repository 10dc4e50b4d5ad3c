from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.config import (
    SETTINGS,
    ConfigDamaged,
    Settings,
    SettingUnknownError,
    SettingValueError,
    Value,
)
from vault.files import Unreadable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_defaults_without_a_file(path: Path) -> None:
    """LAZ-58: manual is the default; LAZ-59: 3600 seconds."""
    settings = Settings.load(path)
    assert {key: settings.get(key) for key in SETTINGS} == {
        "announce-unreleased": False,
        "share": "releases",
        "sync-interval": 3600,
        "sync-strategy": "manual",
    }
    assert not path.exists()


def test_table_is_sorted_and_explains_itself() -> None:
    assert list(SETTINGS) == sorted(SETTINGS)
    for key, setting in SETTINGS.items():
        assert setting.key == key
        assert setting.accepts(setting.default)
        assert setting.sentence.endswith(".")
        assert setting.allowed_text


chosen = st.fixed_dictionaries(
    {},
    optional={
        "announce-unreleased": st.booleans(),
        "share": st.sampled_from(SETTINGS["share"].allowed),
        "sync-interval": st.integers(30, 604_800),
        "sync-strategy": st.sampled_from(SETTINGS["sync-strategy"].allowed),
    },
)


@given(chosen)
def test_settings_survive_a_restart(tmp_path_factory: pytest.TempPathFactory, values: dict[str, Value]) -> None:
    """LAZ-62."""
    path = tmp_path_factory.mktemp("v") / "config.toml"
    settings = Settings(path)
    for key, value in values.items():
        settings = settings.set(key, str(value))
    settings.save()
    again = Settings.load(path)
    assert dict(again.chosen) == values
    for key, setting in SETTINGS.items():
        assert again.get(key) == values.get(key, setting.default)


def test_set_changes_a_copy_and_writes_nothing(path: Path) -> None:
    before = Settings.load(path)
    after = before.set("sync-strategy", "on-release")
    assert (before.get("sync-strategy"), after.get("sync-strategy")) == ("manual", "on-release")
    assert not path.exists()
    assert after.unset("sync-strategy") == before


def test_saved_file_explains_each_line(path: Path) -> None:
    Settings(path).set("share", "commits").set("announce-unreleased", "ON").save()
    text = path.read_text()
    assert text == (
        f"# {SETTINGS['announce-unreleased'].sentence}\n# Takes true or false.\n"
        "announce-unreleased = true\n\n"
        f'# {SETTINGS["share"].sentence}\n# Takes releases or commits.\nshare = "commits"\n'
    )


def test_unknown_key_names_the_nearest(path: Path) -> None:
    settings = Settings(path)
    with pytest.raises(SettingUnknownError, match=r"Did you mean sync-strategy\?"):
        settings.get("sync-stategy")
    with pytest.raises(SettingUnknownError, match=r"Did you mean sync-interval\?"):
        settings.set("interval", "5")
    with pytest.raises(SettingUnknownError) as caught:
        settings.unset("zzz")
    assert "mean" not in caught.value.message


@pytest.mark.parametrize(
    ("key", "text", "listed"),
    [
        ("share", "all", "releases or commits"),
        ("sync-strategy", "Manual", "manual, periodic, on-commit or on-release"),
        ("announce-unreleased", "1", "true or false"),
        ("sync-interval", "29", "from 30 to 604800"),
        ("sync-interval", "604801", "from 30 to 604800"),
        ("sync-interval", "-60", "a whole number"),
        ("sync-interval", "1h", "a whole number"),
        ("sync-interval", "٣٦٠", "a whole number"),
        ("sync-interval", "true", "a whole number"),
        ("share", "", "releases or commits"),
    ],
)
def test_bad_value_lists_what_is_taken(path: Path, key: str, text: str, listed: str) -> None:
    """LAZ-62."""
    with pytest.raises(SettingValueError) as caught:
        Settings(path).set(key, text)
    assert listed in caught.value.message
    assert key in caught.value.message


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('share = "commits"\nsync-strategy = manual\n', "line 2"),
        ('share = "commits"\nshare = "releases"\n', "line 2"),
        ("sync-stategy = 'manual'\n", "Did you mean sync-strategy?"),
        ("sync-interval = 5\n", "from 30 to 604800"),
        ("sync-interval = true\n", "a whole number"),
        ("announce-unreleased = 1\n", "true or false"),
        ("announce-unreleased = 'yes'\n", "true or false"),
        ("share = ['commits']\n", "releases or commits"),
        ("[share]\nx = 1\n", "releases or commits"),
        ("\n" * 70_000, "too long"),
        ("sync-interval = " + "9" * 5000, "not valid TOML"),
        ("share = " + "[" * 20_000, "nests too deep"),
        ("share = '" + "x" * 5000 + "'", "releases or commits"),
    ],
)
def test_damaged_file_says_where(path: Path, content: str, told: str) -> None:
    path.write_text(content)
    with pytest.raises(ConfigDamaged) as caught:
        Settings.load(path)
    assert told in caught.value.message
    assert str(path) in caught.value.message
    assert len(caught.value.message) < 400 + len(str(path))


def test_file_that_is_no_text(path: Path) -> None:
    path.write_bytes(b"\n\nshare = '\xff'\n")
    with pytest.raises(ConfigDamaged, match="Line 3"):
        Settings.load(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(Unreadable):
        Settings.load(path)
